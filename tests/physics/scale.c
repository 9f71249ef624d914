/* Nothing knows metres: a scene of s times the size, with times and speeds of sqrt(s), gravity and densities kept,
 * moves in the same way.
 *
 * What has another unit follows: Young's modulus and pressure grow with s, viscosity with s^1.5, surface tension
 * with s^2. Factors of 4^k change exponents of numbers only, so that such scenes have to agree to the last bit:
 * whatever is compared with a length or a speed of its own shows at once, in the step in which it acts. A factor of
 * 100 rounds otherwise, and agrees to 1e-6 as long as the motion is not chaotic. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "model/grid/state.h"
#include "model/lg/state.h"
#include "model/sph/state.h"
#include "rigid.h"

#define STEPS_MAX 200
#define NUMBERS 4096 /* of places that are compared: the first ones */

typedef struct motion {
    int count;
    double x[NUMBERS]; /* of one step, over s */
} motion;

static void keep(motion *m, double x)
{
    if (m->count < NUMBERS) m->x[m->count++] = x;
}

static int by_id(const void *a, const void *b)
{
    const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* Places of all that there is, in an order that does not depend on how it is stored. */
static void look(const rigid_case *c, double s, motion *m)
{
    const tl_state *now = &c->sim->state;
    m->count = 0;
    for (int i = 0; i < c->scene->body_count; i++) {
        const tl_motion *b = &now->rigid.body[i];
        const double x[7] = {b->x.x / s, b->x.y / s, b->x.z / s, b->q.w, b->q.x, b->q.y, b->q.z};
        for (int k = 0; k < 7; k++) keep(m, x[k]);
    }
    const tl_lg_state *soft = tl_lg_state_of(now);
    const tl_grid_state *grid = tl_grid_state_of(now);
    const tl_sph_state *fluid = tl_sph_state_of(now);
    for (int64_t i = 0; soft && i < 3 * soft->nodes; i++) keep(m, soft->q[i] / s);
    const int64_t count = (grid ? grid->particles.count : 0) + (fluid ? fluid->count : 0);
    struct {
        int32_t id;
        tl_vec3 x;
    } *all = calloc((size_t)count + 1, sizeof *all);
    int64_t n = 0;
    for (int64_t i = 0; grid && i < grid->particles.count; i++, n++)
        all[n].id = grid->particles.particle[i].id, all[n].x = grid->particles.particle[i].x;
    for (int64_t i = 0; fluid && i < fluid->count; i++, n++)
        all[n].id = fluid->particle[i].id, all[n].x = fluid->particle[i].x;
    qsort(all, (size_t)n, sizeof *all, by_id);
    int64_t stride = n / 1000 + 1;
    for (int64_t i = 0; i < n; i += stride) {
        keep(m, all[i].x.x / s);
        keep(m, all[i].x.y / s);
        keep(m, all[i].x.z / s);
    }
    free(all);
}

/* All steps of a scene at scale s = root^2; motion of each. Returns how many steps were made. */
static int run(const char *text, double root, double dt, double until, motion *m)
{
    char lua[256];
    talus_error err;
    rigid_case c;
    snprintf(lua, sizeof lua, "local q = %.17g\nlocal s = q * q\n", root);
    CHECK_OK(rigid_try(&c, NULL, lua, text, &err));
    int steps = 0;
    for (; c.sim->state.t < until * root * (1 - 1e-9) && steps < STEPS_MAX; steps++) {
        CHECK_OK(tl_sim_step(c.sim, dt * root, until * root, &err));
        look(&c, root * root, &m[steps]);
    }
    rigid_close(&c);
    return steps;
}

static double apart(const motion *a, const motion *b)
{
    double max = a->count == b->count ? 0 : INFINITY;
    for (int i = 0; i < a->count && i < b->count; i++) max = fmax(max, fabs(a->x[i] - b->x[i]));
    return max;
}

/* Until `until` where numbers differ in their exponents alone, until `calm` where rounding differs; 0: not compared. `size`: of what
 * moves, m, in the scene as it is written. */
static void compare(const char *name, const char *text, double dt, double until, double calm, double size)
{
    static const double root[] = {16, 1. / 16, 10, 0.1};
    motion *one = calloc(STEPS_MAX, sizeof *one), *other = calloc(STEPS_MAX, sizeof *other);
    int steps = run(text, 1, dt, until, one);
    for (int k = 0; k < (calm > 0 ? 4 : 2); k++) {
        int got = run(text, root[k], dt, until, other), judged = k < 2 ? steps : (int)(calm / dt + 0.5);
        double max = 0, last = 0;
        int first = -1;
        for (int i = 0; i < steps && i < got && i < judged; i++) {
            last = apart(&one[i], &other[i]) / size;
            max = fmax(max, last);
            if (last > 0 && first < 0) first = i;
        }
        if (got != steps || max > (k < 2 ? 0 : 1e-6))
            fail_msg("%s, %g times as large: %d steps for %d, places differ by %.3g of the size, first in step %d",
                     name, root[k] * root[k], got, steps, max, first);
    }
    free(one);
    free(other);
}

static void rigid_bodies(void **state)
{
    (void)state;
    compare("boxes",
            "fps = 100 / q, dt_max = 0.01 * q, bodies = {"
            "{ kind = 'static', shape = plane {}, friction = 0.5 },"
            "{ name = 'a', shape = box { size = {0.1 * s, 0.1 * s, 0.1 * s} }, at = {0, 0.05 * s, 0}, density = 1000 },"
            "{ name = 'b', shape = box { size = {0.1 * s, 0.05 * s, 0.1 * s} }, at = {0.02 * s, 0.126 * s, 0}, density "
            "= 500, rotation_deg = {0, 20, 0} },"
            "{ name = 'd', shape = box { size = 0.8 * s }, at = {-1 * s, 0.4 * s, 0}, density = 800, velocity = {0.3 * "
            "q, 0, 0} } }",
            0.01, 1, 0.3, 0.1);
    compare("tumbling",
            "fps = 100 / q, dt_max = 0.01 * q, bodies = {"
            "{ kind = 'static', shape = plane {}, friction = 0.5 },"
            "{ name = 'a', shape = box { size = {0.1 * s, 0.1 * s, 0.1 * s} }, at = {0, 0.05 * s, 0}, density = 1000 },"
            "{ name = 'c', shape = box { size = {0.06 * s, 0.06 * s, 0.2 * s} }, at = {0, 0.25 * s, 0.01 * s}, density "
            "= 800, rotation_deg = {10, 20, 30}, velocity = {0.3 * q, 0, 0} } }",
            0.01, 1, 0.1, 0.1);
    compare("round",
            "fps = 100 / q, dt_max = 0.01 * q, bodies = {"
            "{ kind = 'static', shape = plane {}, friction = 0.5 },"
            "{ shape = sphere { radius = 0.02 * s }, at = {0, 0.1 * s, 0}, density = 1000, restitution = 0.6 },"
            "{ shape = sphere { radius = 0.3 * s }, at = {0.9 * s, 0.3 * s, 0}, density = 1000, velocity = {-0.5 * q, "
            "0, 0}, rolling_friction = 1e-3 * s },"
            "{ shape = cylinder { radius = 0.05 * s, height = 0.1 * s }, at = {0.25 * s, 0.051 * s, 0}, density = 500, "
            "rotation_deg = {5, 0, 0}, spin_rad_per_s = {0, 3 / q, 0} },"
            "{ shape = torus { radius = 0.06 * s, tube = 0.02 * s }, at = {-0.25 * s, 0.08 * s, 0}, density = 500, "
            "rotation_deg = {20, 0, 30} },"
            "{ shape = cone { radius = 0.05 * s, height = 0.1 * s }, at = {-0.5 * s, 0.08 * s, 0}, density = 500, "
            "rotation_deg = {70, 0, 30} } }",
            0.01, 1, 0.3, 0.1);
    compare("rest",
            "fps = 100 / q, dt_max = 0.01 * q, solver = { contact = { rest = true } }, bodies = {"
            "{ kind = 'static', shape = plane {}, friction = 0.5 },"
            "{ name = 'a', shape = box { size = {0.1 * s, 0.1 * s, 0.1 * s} }, at = {0, 0.05 * s, 0}, density = 1000 },"
            "{ name = 'b', shape = box { size = {0.1 * s, 0.05 * s, 0.1 * s} }, at = {0.02 * s, 0.13 * s, 0}, density "
            "= 500, rotation_deg = {0, 20, 0} } }",
            0.01, 1, 0.3, 0.1);
}

static void liquid(void **state)
{
    (void)state;
    compare("liquid",
            "fps = 50 / q, dt_max = 0.02 * q, grid = { cells = {12, 12, 8}, cell = 0.05 * s },"
            "fill = { { material = liquid { density = 1000 }, shape = sphere { radius = 0.13 * s, "
            "center = {0.31 * s, 0.37 * s, 0.19 * s} } } },"
            "bodies = { { shape = box { size = 0.12 * s }, at = {0.45 * s, 0.07 * s, 0.2 * s}, density = 500 },"
            "{ shape = box { size = 0.1 * s }, at = {0.45 * s, 0.2 * s, 0.2 * s}, density = 700 } }",
            0.01, 0.3, 0.06, 0.1);
}

static void sand(void **state)
{
    (void)state;
    compare("sand",
            "fps = 50 / q, dt_max = 0.01 * q, grid = { cells = {16, 10, 1}, cell = 0.02 * s, periodic = {false, false, "
            "true} },"
            "fill = { { material = granular { density = 1600, friction_angle_deg = 30 }, shape = box { size = {0.107 * "
            "s, 0.127 * s, s}, center = {0.05 * s, 0.06 * s, 0} } } }",
            0.01, 0.3, 0.1, 0.1);
}

#define FLOOR "{ kind = 'static', shape = plane {}, friction = 0.5 },"
#define SOFT(x, y, z, turn)                                                                                            \
    "{ material = elastic { density = 1000, young = 2e4 * s, poisson = 0.4 }, cells = {2, 2, 2}, friction = 0.5, "     \
    "shape "                                                                                                           \
    "= box { size = 0.1 * s }, at = {" x " * s, " y " * s, " z " * s}, rotation_deg = {" turn "} },"
#define BALL "{ shape = sphere { radius = 0.03 * s }, at = {0.2 * s, 0.05 * s, 0}, density = 800 },"

static void elastic_bodies(void **state)
{
    (void)state;
    compare("elastic",
            "fps = 100 / q, dt_max = 0.01 * q, bodies = {" FLOOR SOFT("0", "0.06", "0", "0, 20, 5")
                SOFT("0.03", "0.17", "0.01", "5, 0, 0") BALL "}",
            0.01, 0.1, 0.05, 0.1);
}

static void local_global(void **state)
{
    (void)state;
    compare("lg",
            "engine = 'lg', fps = 100 / q, dt_max = 0.01 * q, bodies = {" FLOOR SOFT("0", "0.06", "0", "0, 20, 5")
                SOFT("0.03", "0.17", "0.01", "5, 0, 0") BALL "}",
            0.01, 0.1, 0.05, 0.1);
    compare("lg, one in another",
            "engine = 'lg', fps = 100 / q, dt_max = 0.01 * q, bodies = {" SOFT("0", "0.06", "0", "0, 20, 5")
                SOFT("0.03", "0.14", "0.01", "5, 0, 0") "}",
            0.01, 0.03, 0.03, 0.1);
    compare("cloth",
            "engine = 'lg', fps = 100 / q, dt_max = 0.01 * q, bodies = {" BALL
            "{ kind = 'static', shape = sphere { radius = 0.05 * s }, friction = 0.3 }, { material = elastic { density "
            "= 300, young = 1e4 * s, poisson = 0.3 }, thickness = 0.002 * s, cells = {4, 1, 4}, friction = 0.3, shape "
            "= box { size = {0.2 * s, 0.002 * s, 0.2 * s} }, at = {0.01 * s, 0.055 * s, 0} } }",
            0.01, 0.1, 0.05, 0.1);
}

static void particles(void **state)
{
    (void)state;
    compare("sph",
            "engine = 'sph', fps = 50 / q, dt_max = 0.005 * q, sph = { spacing = 0.02 * s }, domain = { min = {0, 0, "
            "0}, max = {0.2 * s, 0.4 * s, 0.1 * s} }, fill = { { material = viscous { density = 1000, viscosity = 0.01 "
            "* s * q, surface_tension = 1e-3 * s * s }, shape = box { size = {0.1 * s, 0.12 * s, 0.1 * s}, center = "
            "{0.05 * s, 0.06 * s, 0.05 * s} } } }, bodies = { { shape = box { size = 0.06 * s }, at = {0.16 * s, 0.05 "
            "* s, 0.05 * s}, density = 500, friction = 0.5, rotation_deg = {0, 20, 10} } }",
            0.005, 0.15, 0.03, 0.1);
}

/* What is solved together has several units in one vector: speeds and spins, forces and torques, pressures. Solved to
 * a tolerance of 1e-4, so where rounding differs places do in the fourth digit: exponents alone are compared. */
#define TANK "fps = 50 / q, dt_max = 0.01 * q, grid = { cells = {8, 8, 8}, cell = 0.06 * s }, "
#define FILL(material)                                                                                                 \
    "fill = { { material = " material ", shape = box { size = {0.48 * s, 0.14 * s, 0.48 * s}, center = {0.24 * s, "    \
    "0.07 * s, 0.24 * s} } } }, "
#define SOLIDS                                                                                                         \
    "bodies = { { shape = box { size = 0.14 * s }, at = {0.2 * s, 0.09 * s, 0.22 * s}, cells = {2, 2, 2}, material = " \
    "elastic { density = 1100, young = 2e4 * s, poisson = 0.3 } }, { name = 'stick', shape = box { size = {0.25 * s, " \
    "0.05 * s, 0.06 * s} }, at = {0.22 * s, 0.19 * s, 0.25 * s}, density = 800, rotation_deg = {0, 15, 8}, "           \
    "spin_rad_per_s = {0, 2 / q, 1 / q} } }"

static void together(void **state)
{
    (void)state;
    compare("water, elastic and rigid bodies", TANK FILL("liquid { density = 1000 }") SOLIDS, 0.01, 0.08, 0, 0.1);
    compare("honey, elastic and rigid bodies", TANK FILL("viscous { density = 1300, viscosity = 20 * s * q }") SOLIDS,
            0.01, 0.08, 0, 0.1);
    compare("sand, elastic and rigid bodies", TANK FILL("granular { density = 1600, friction_angle_deg = 30 }") SOLIDS,
            0.01, 0.08, 0, 0.1);
    compare(
        "honey and a joint",
        TANK FILL(
            "viscous { density = 1300, viscosity = 20 * s * q }") "bodies = { { name = 'a', shape = box { size = 0.12 "
                                                                  "* s }, at = {0.2 * s, 0.13 * s, 0.22 * s}, density "
                                                                  "= "
                                                                  "700, spin_rad_per_s = {0, 0, 3 / q} } }, joints = { "
                                                                  "{ kind = 'hinge', a = 'a', at = {0.2 * s, 0.25 * s, "
                                                                  "0.22 * s}, axis = {0, 0, 1}, friction = 0.01 * s ^ "
                                                                  "4 } }",
        0.01, 0.08, 0, 0.1);
    compare("particles and joints",
            "engine = 'sph', fps = 50 / q, dt_max = 0.005 * q, sph = { spacing = 0.02 * s }, domain = { min = {0, 0, "
            "0}, max = {0.2 * s, 0.4 * s, 0.1 * s} }, fill = { { material = liquid { density = 1000 }, shape = box { "
            "size = {0.1 * s, 0.12 * s, 0.1 * s}, center = {0.05 * s, 0.06 * s, 0.05 * s} } } }, bodies = { { name = "
            "'a', shape = box { size = 0.06 * s }, at = {0.16 * s, 0.12 * s, 0.05 * s}, density = 500, "
            "spin_rad_per_s = {0, 0, 2 / q} }, { name = 'b', shape = box { size = 0.04 * s }, at = {0.16 * s, 0.03 * "
            "s, 0.05 * s}, density = 2000 } }, joints = { { kind = 'hinge', a = 'a', at = {0.16 * s, 0.16 * s, 0.05 * "
            "s}, axis = {0, 0, 1} }, { kind = 'ball', a = 'a', b = 'b', at = {0.16 * s, 0.07 * s, 0.05 * s} } }",
            0.005, 0.1, 0, 0.1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rigid_bodies), cmocka_unit_test(liquid),
                                       cmocka_unit_test(sand),         cmocka_unit_test(elastic_bodies),
                                       cmocka_unit_test(local_global), cmocka_unit_test(particles),
                                       cmocka_unit_test(together)};
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
