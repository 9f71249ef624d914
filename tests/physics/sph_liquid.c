/* Liquid: as much of it as its volume, wherever it is; flows that do not depend on the step's length. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "model/rigid/motion.h"
#include "model/sph/state.h"
#include "rigid.h"

static int64_t count_of(const char *shape, const char *how, double x, double y, double z)
{
    char text[600];
    snprintf(text, sizeof text,
             "engine = 'sph', sph = { spacing = 0.02 }, fill = { { sampling = '%s', material = liquid { density = 1000 "
             "}, shape = %s, center = {%g, %g, %g} } } }",
             how, shape, x, y, z);
    rigid_case c = rigid_open(NULL, text);
    int64_t count = tl_sph_state_of(&c.sim->state)->count;
    rigid_close(&c);
    return count;
}

/* Counts are those of the volume, at any place and with any sampling. On multiples of the spacing a box of 5 had
 * 216, blue noise 32 % too many. */
static void counts_of_fills(void **state)
{
    (void)state;
    static const char *const how[] = {"lattice", "jitter", "blue_noise"};
    static const double at[][3] = {{0, 0, 0}, {0.013, 0.003, 0.0071}, {1.01, 2.007, -0.3}};
    for (int k = 0; k < 3; k++)
        for (int p = 0; p < 3; p++) {
            const double *x = at[p];
            assert_int_equal(count_of("box { size = 0.1", how[k], x[0], x[1], x[2]), 125);
            assert_int_equal(count_of("box { size = 0.11", how[k], x[0], x[1], x[2]), 166);
            CHECK_REL((double)count_of("sphere { radius = 0.06", how[k], x[0], x[1], x[2]), 113.1, 0.01);
            CHECK_REL((double)count_of("cylinder { radius = 0.1, height = 0.25", how[k], x[0], x[1], x[2]), 981.7,
                      0.01);
        }
}

/* Particles of a fill around solids, and the volume that it should have, over h^3. */
typedef struct between {
    const char *name, *bodies, *fill;
    double count;
} between;

/* A fill has the volume that solids leave of it, whatever their shape and place, and none of it is inside of them or
 * pressed together; as it was, what is 0.4 h from their surfaces was not there. */
static void fills_fit_between_solids(void **state)
{
    (void)state;
    static const char *const how[] = {"lattice", "jitter", "blue_noise"};
    static const between cases[] = {
        {"ball in a cavity",
         "{ kind = 'static', shape = subtract { box { size = 0.4 }, sphere { radius = 0.14 } } }, { shape = sphere { "
         "radius = 0.05 }, at = {0.013, 0.004, 0}, density = 1000 }",
         "sphere { radius = 0.14 }", 1371},
        {"oblique box in a pool",
         "{ kind = 'static', shape = box { size = 0.12 }, rotation_deg = {35, 45, 10}, at = {0, 0.13, 0} }",
         "box { size = {0.28, 0.26, 0.28}, center = {0, 0.13, 0} }", 2332},
    };
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < 3; j++)
            for (int fit = 0; fit < 2; fit++) {
                char text[1000];
                snprintf(text, sizeof text,
                         "engine = 'sph', sph = { spacing = 0.02, fit = %s }, domain = { min = {-0.2, -0.2, -0.2}, max "
                         "= {0.2, 0.4, 0.2} }, bodies = { %s }, fill = { { sampling = '%s', material = liquid { "
                         "density = 1000 }, shape = %s } }",
                         fit ? "true" : "false", cases[k].bodies, how[j], cases[k].fill);
                rigid_case c = rigid_open(NULL, text);
                const tl_sph_state *f = tl_sph_state_of(&c.sim->state);
                if (!fit && j < 2)
                    CHECK_LE((double)f->count, 0.97 * cases[k].count); /* blue noise begins 0.42 h below */
                if (fit) CHECK_REL((double)f->count, cases[k].count, 0.015);
                for (int64_t i = 0; i < f->count && fit; i++)
                    for (int b = 0; b < c.scene->body_count; b++) {
                        tl_pose pose = tl_rigid_pose(&c.sim->rigid.body[b], &c.sim->state.rigid.body[b]);
                        tl_vec3 at = tl_pose_to_local(&pose, f->particle[i].x);
                        CHECK_LE(-tl_shape_distance(c.scene->shapes, c.scene->bodies[b].shape, at), 0.1 * 0.02);
                    }
                rigid_step(&c, 1e-4);
                if (fit) CHECK_LE(c.sim->report.compression, 2e-3);
                rigid_close(&c);
            }
}

/* Tanks that are bodies, with walls of 1.5 spacings, at odd places: five boxes upright and tilted, a hollowed box, a
 * cylinder, a bowl. All of a fill is there, nothing is compressed, and water does not spring up. (The hollowed box began
 * compressed by 3.4 % and gained 7 % of its energy; tanks of boxes lost 2 % of their water.) */
static const char tank_parts[] =
    "h = 0.02; L = 8 * h; w = 1.5 * h; T = 13 * h; a = 0.37 * h\n"
    "local function wall(tilt, x, y, z, size)\n"
    "  local c, s = math.cos(math.rad(tilt)), math.sin(math.rad(tilt))\n"
    "  return { kind = 'static', shape = box { size = size }, rotation_deg = {0, 0, tilt}, at = {c * x - s * y + a, s "
    "* "
    "x + c * y + a, z + a} }\n"
    "end\n"
    "function boxes(tilt) return { wall(tilt, 0, -w / 2, 0, {L + 2 * w, w, L + 2 * w}), wall(tilt, -(L + w) / 2, T / "
    "2, "
    "0, {w, T, L + 2 * w}), wall(tilt, (L + w) / 2, T / 2, 0, {w, T, L + 2 * w}), wall(tilt, 0, T / 2, -(L + w) / 2, "
    "{L, T, w}), wall(tilt, 0, T / 2, (L + w) / 2, {L, T, w}) } end\n"
    "function hollow(outer, inner) return { { kind = 'static', shape = subtract { outer, inner }, at = {a, a, a} } } "
    "end\n";

static void tanks_that_are_bodies(void **state)
{
    (void)state;
    static const char *const tanks[][2] = {
        {"boxes(0)", "box { size = L, center = {0, L / 2, 0} }"},
        {"boxes(20)", "intersect { box { size = {L, T, L}, center = {0, T / 2, 0} }:rotate {0, 0, 20}, half_space { "
                      "point = {0, L, 0} } }"},
        {"hollow(box { size = {L + 2 * w, T + w, L + 2 * w}, center = {0, (T - w) / 2, 0} }, box { size = {L, T + h, "
         "L}, center = {0, (T + h) / 2, 0} })",
         "box { size = L, center = {0, L / 2, 0} }"},
        {"hollow(cylinder { radius = L / 2 + w, height = T + w, center = {0, (T - w) / 2, 0} }, cylinder { radius = L "
         "/ 2, height = T + h, center = {0, (T + h) / 2, 0} })",
         "cylinder { radius = L / 2, height = L, center = {0, L / 2, 0} }"},
        {"hollow(sphere { radius = L / 2 + w }, union { sphere { radius = L / 2 }, box { size = {2 * L, L, 2 * L}, "
         "center = {0, 0.8 * L, 0} } })",
         "intersect { sphere { radius = L / 2 }, half_space { point = {0, 0.2 * L, 0} } }"},
    };
    static const double count[] = {512, 541, 512, 402.1, 210.0};
    for (int k = 0; k < 5; k++) {
        rigid_case c =
            rigid_open(tank_parts,
                       "engine = 'sph', sph = { spacing = h }, bodies = %s, fill = { { sampling = 'lattice', "
                       "material = liquid { density = 1000 }, shape = (%s):move {a, a, a} } }",
                       tanks[k][0], tanks[k][1]);
        const tl_report *r = &c.sim->report;
        CHECK_REL((double)tl_sph_state_of(&c.sim->state)->count, count[k], 0.015);
        rigid_step(&c, 1e-6);
        CHECK_LE(r->compression, 1e-3);
        double start = r->kinetic + r->potential, high = start, scale = 1000 * r->particle_volume * 9.81 * 0.16;
        for (int i = 0; i < 20; i++) {
            rigid_step(&c, 2e-3);
            high = fmax(high, r->kinetic + r->potential);
        }
        CHECK_LE(high - start, 2e-3 * scale);
        rigid_close(&c);
    }
}

/* `volume_error` is of the space that liquid takes up, `compression` how much too dense its particles are: none in a
 * drop that falls, whose surface the kernel does not fill; half the space and twice the density where two fills are in
 * one place; next to nothing in a pool, where a count in a box away from surface and walls says the same. */
static void volume_is_what_liquid_takes_up(void **state)
{
    (void)state;
    static const char one[] =
        "{ sampling = 'lattice', material = liquid { density = 1000 }, shape = box { size = 0.16, "
        "center = {0.08, %g, 0.08} } }";
    const double h = 0.02;
    for (int k = 0; k < 3; k++) {
        char fill[400], text[1000];
        int used = snprintf(fill, sizeof fill, one, k == 2 ? 0.08 : 0.3);
        if (k == 1) snprintf(fill + used, sizeof fill - (size_t)used, ", %s", strcpy(text, fill));
        snprintf(
            text, sizeof text,
            "engine = 'sph', sph = { spacing = 0.02, fit = %s }, domain = { min = {%g, 0, 0}, max = {%g, 1, 0.16} }, "
            "fill = { %s }",
            k == 1 ? "false" : "true", k == 2 ? 0. : -1, k == 2 ? 0.16 : 1, fill);
        rigid_case c = rigid_open(NULL, "%s", text);
        for (int i = 0; i < (k == 2 ? 100 : 1); i++) rigid_step(&c, k == 2 ? 4e-3 : 1e-6);
        const tl_report *r = &c.sim->report;
        CHECK_REL(r->liquid_volume, (1 + r->volume_error) * r->particle_volume, 1e-12);
        if (k == 0) CHECK_LE(fabs(r->volume_error) + r->compression, 1e-3);
        if (k == 1) CHECK_NEAR(r->volume_error, -0.5, 0.1);
        if (k == 1) CHECK_NEAR(r->compression, 1, 0.35); /* less at the surface */
        if (k == 2) {
            const tl_sph_state *f = tl_sph_state_of(&c.sim->state);
            double count = 0, tries = 20; /* boxes of 4^3 spacings */
            for (int64_t i = 0; i < f->count; i++)
                for (int j = 0; j < 20; j++) {
                    tl_vec3 at = f->particle[i].x;
                    double low = 2 * h + j * h / tries, high = low + 4 * h - 1e-12;
                    count += at.x >= low && at.x < high && at.y >= low && at.y < high && at.z >= low && at.z < high;
                }
            CHECK_NEAR(64 * tries / count - 1, r->volume_error, 0.03);
            CHECK_LE(fabs(r->volume_error), 5e-3);
        }
        rigid_close(&c);
    }
}

/* Liquid of 5 x 5 spacings with shear flow sin(k y), no walls: by what factor its kinetic energy falls in 0.02 s. */
static double shear_left(const char *material, double gravity, double dt)
{
    char text[700];
    snprintf(
        text, sizeof text,
        "engine = 'sph', gravity = {0, %g, 0}, dt_max = %g, sph = { spacing = 0.02 }, fill = { { sampling = "
        "'lattice', material = %s, velocity = {0.1, 0, 0}, shape = box { size = {0.2, 0.1, 0.2}, center = {0, 0.05, "
        "0} } }, { sampling = 'lattice', material = %s, velocity = {-0.1, 0, 0}, shape = box { size = {0.2, 0.1, "
        "0.2}, center = {0, -0.05, 0} } } }",
        gravity, dt, material, material);
    rigid_case c = rigid_open(NULL, text);
    double left = 0;
    for (int i = 0; i < (int)(0.02 / dt + 0.5); i++) rigid_step(&c, dt);
    const tl_sph_state *f = tl_sph_state_of(&c.sim->state);
    for (int64_t i = 0; i < f->count; i++) left += f->particle[i].v.x * f->particle[i].v.x / (0.01 * (double)f->count);
    rigid_close(&c);
    return left;
}

/* What the numerical viscosity takes in a time does not depend on the steps. As a share per step, it took eight
 * times as much in steps of 0.5 ms as in steps of 4 ms. Nothing where a liquid has a viscosity of its own: a
 * thousandth of a Pa s takes next to nothing in that time. */
static void steps_do_not_matter(void **state)
{
    (void)state;
    double coarse = 1 - shear_left("liquid { density = 1000 }", -9.81, 4e-3),
           fine = 1 - shear_left("liquid { density = 1000 }", -9.81, 5e-4);
    assert_true(coarse > 0.005);
    CHECK_REL(coarse, fine, 0.1);
    CHECK_LE(1 - shear_left("viscous { density = 1000, viscosity = 0.001 }", -9.81, 1e-3), 0.1 * fine);
}

/* Kinetic energy of two layers that slide on each other, beside a drop of something else or not; 1 is the start. */
static double beside(const char *drop)
{
    char text[800];
    snprintf(text, sizeof text,
             "engine = 'sph', dt_max = 2e-3, sph = { spacing = 0.02 }, fill = { { sampling = 'lattice', material = "
             "liquid { density = 1000 "
             "}, velocity = {0.1, 0, 0}, shape = box { size = {0.2, 0.1, 0.2}, center = {0, 0.05, 0} } }, { sampling = "
             "'lattice', material = "
             "liquid { density = 1000 }, velocity = {-0.1, 0, 0}, shape = box { size = {0.2, 0.1, 0.2}, center = {0, "
             "-0.05, 0} } }%s }",
             drop);
    rigid_case c = rigid_open(NULL, text);
    double left = 0;
    for (int i = 0; i < 10; i++) rigid_step(&c, 2e-3);
    const tl_sph_state *f = tl_sph_state_of(&c.sim->state);
    for (int64_t i = 0; i < f->count; i++)
        if (f->particle[i].x.z < 1) left += f->particle[i].v.x * f->particle[i].v.x / (0.01 * 1000);
    rigid_close(&c);
    return left;
}

/* Numerical viscosity has a short way where all liquid is alike: the same as the long one, which a drop far away
 * asks for, and no more. */
static void far_drops_change_nothing(void **state)
{
    (void)state;
    double alone = beside(""),
           viscous = beside(", { material = viscous { density = 1000, viscosity = 1 }, shape = sphere { radius = "
                            "0.04, center = {0, 0, 5} } }"),
           heavy = beside(", { material = liquid { density = 2000 }, shape = sphere { radius = 0.04, center = {0, 0, "
                          "5} } }");
    CHECK_LE(alone, 0.99);
    CHECK_REL(viscous, alone, 1e-6); /* 2e-8: solves are judged by the mean of all */
    CHECK_REL(heavy, alone, 1e-6);
}

/* A slot too narrow for two layers of a fill's lattice: what has no room is left out, and nothing is thrown about
 * (at 10 m/s, while all of it was kept). */
static void narrow_slots(void **state)
{
    (void)state;
    for (double wide = 0.5; wide < 3; wide += 0.35) {
        char text[700];
        snprintf(text, sizeof text,
                 "engine = 'sph', dt_max = 2e-3, sph = { spacing = 0.02 }, bodies = { { kind = 'static', shape = box { "
                 "size = {0.2, 0.4, 0.4} }, at = {%.17g, 0, 0} }, { kind = 'static', shape = box { size = {0.2, 0.4, "
                 "0.4} }, at = {%.17g, 0, 0} }, { kind = 'static', shape = box { size = {0.6, 0.1, 0.6} }, at = {0, "
                 "-0.15, 0} } }, fill = { { sampling = 'lattice', material = liquid { density = 1000 }, shape = sphere "
                 "{ radius = 0.1 } } }",
                 -0.1 - 0.01 * wide, 0.1 + 0.01 * wide);
        rigid_case c = rigid_open(NULL, text);
        double fastest = 0;
        rigid_step(&c, 2e-3);
        CHECK_LE(c.sim->report.compression, 0.05);
        for (int k = 0; k < 60; k++) {
            rigid_step(&c, 2e-3);
            fastest = fmax(fastest, c.sim->report.fastest);
        }
        CHECK_LE(fastest, 3.0); /* falls freely at 1.2 m/s by then */
        rigid_close(&c);
    }
}

/* Velocity U cos(pi y / W) along plates at y = -+W/2, `rows` spacings apart: how much more of it is left than should
 * be, after a time in which it falls by e. */
static double shear_too_much(int rows)
{
    char text[700];
    const double pi = 3.14159265358979, W = 0.12, h = W / rows, fall = 0.1, nu = W * W / (pi * pi * fall), dt = 4e-3;
    snprintf(text, sizeof text,
             "engine = 'sph', gravity = {0, 0, 0}, dt_max = %.17g, sph = { spacing = %.17g }, bodies = { { kind = "
             "'static', shape = box { size = {0.4, 0.06, 0.4} }, at = {0, -0.09, 0} }, { kind = 'static', shape = box "
             "{ size = {0.4, 0.06, 0.4} }, at = {0, 0.09, 0} } }, fill = { { sampling = 'lattice', material = viscous "
             "{ density = 1000, viscosity = %.17g }, shape = box { size = {0.24, 0.12, 0.24} } } }",
             dt, h, 1000 * nu);
    rigid_case c = rigid_open(NULL, text);
    tl_sph_state *f = tl_sph_state_of(&c.sim->state);
    double sum = 0, law = 0;
    for (int64_t i = 0; i < f->count; i++) f->particle[i].v.x = 0.005 * cos(pi * f->particle[i].x.y / W);
    for (int k = 0; k < 10; k++) rigid_step(&c, dt);
    for (int64_t i = 0; i < f->count; i++) {
        tl_vec3 x = f->particle[i].x;
        if (fabs(x.x) > 0.03 || fabs(x.z) > 0.03) continue;
        double shape = cos(pi * x.y / W);
        sum += shape * f->particle[i].v.x;
        law += shape * shape * 0.005 * pow(1 + dt / fall, -10);
    }
    rigid_close(&c);
    return sum / law - 1;
}

/* Walls are of second order: half the spacing, a quarter of the error. With integrals over solids instead of layers,
 * which particles are, liquid next to them was 4 to 7 % too viscous, which is an error of first order of the other
 * sign: -0.27 instead of 0.26. */
static void walls_are_of_second_order(void **state)
{
    (void)state;
    double coarse = shear_too_much(6), fine = shear_too_much(12);
    assert_true(coarse > 0 && coarse < 0.015);
    CHECK_NEAR(fine / coarse, 0.25, 0.05);
}

/* Between plates 13 spacings apart, after the flow has settled: mean velocity across the gap over the law. Held at
 * the samples, half a spacing behind the plates, it was 1.22. */
static void between_plates(void **state)
{
    (void)state;
    static const double steps[] = {4e-3, 1e-3};
    const double h = 0.01, W = 13 * h, nu = 0.05;
    for (int k = 0; k < 2; k++) {
        char text[700];
        snprintf(
            text, sizeof text,
            "engine = 'sph', gravity = {1, 0, 0}, dt_max = %g, sph = { spacing = 0.01 }, bodies = { { kind = "
            "'static', shape = box { size = {0.4, 0.04, 0.16} }, at = {0, -0.085, 0} }, { kind = 'static', shape = "
            "box { size = {0.6, 0.04, 0.2} }, at = {0, 0.085, 0} } }, fill = { { sampling = 'lattice', material = "
            "viscous { density = 1000, viscosity = %g }, shape = box { size = {0.2, 0.13, 0.08} } } }",
            steps[k], 1000 * nu);
        rigid_case c = rigid_open(NULL, text);
        while (c.sim->state.t < 0.12) rigid_step(&c, steps[k]);
        const tl_sph_state *f = tl_sph_state_of(&c.sim->state);
        double flow = 0, law = 0, middle = 0;
        for (int64_t i = 0; i < f->count; i++) middle += f->particle[i].x.x / (double)f->count;
        for (int64_t i = 0; i < f->count; i++) {
            tl_vec3 x = f->particle[i].x;
            if (fabs(x.x - middle) > 4 * h || fabs(x.z) > 2.5 * h) continue;
            flow += f->particle[i].v.x;
            law += (0.25 * W * W - x.y * x.y) / (2 * nu);
        }
        CHECK_REL(flow / law, 0.97, 0.02); /* at 3.5 times W^2 / (pi^2 nu) it is not quite settled */
        rigid_close(&c);
    }
}

/* A drop that starts as an ellipsoid is first round after about a quarter of the period of small swings, 2 pi /
 * sqrt(8 tension / (density R^3)); measured: 1.19 to 1.28 of that with steps of 1 to 4 % of it, since a drop of 11
 * spacings is all surface. Half of the tension is 1.8 of it. */
static void drops_swing(void **state)
{
    (void)state;
    static const double tensions[] = {7, 1.75};
    for (int k = 0; k < 2; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "engine = 'sph', gravity = {0, 0, 0}, sph = { spacing = 0.01 }, fill = { { sampling = 'lattice', "
                 "material = liquid { density = 1000, surface_tension = %g }, shape = scale(sphere { radius = 0.055 }, "
                 "{1.25, 0.8944, 0.8944}) } }",
                 tensions[k]);
        rigid_case c = rigid_open(NULL, text);
        const tl_sph_state *f = tl_sph_state_of(&c.sim->state);
        double n = (double)f->count, R = 0.01 * cbrt(3 * n / (4 * 3.14159265358979)),
               quarter = 0.5 * 3.14159265358979 / sqrt(8 * tensions[k] / (1000 * R * R * R)), along, across;
        do {
            rigid_step(&c, 0.02 * quarter);
            tl_vec3 middle = {0, 0, 0};
            along = across = 0;
            for (int64_t i = 0; i < f->count; i++) middle = tl_vec3_add_scaled(middle, 1 / n, f->particle[i].x);
            for (int64_t i = 0; i < f->count; i++) {
                tl_vec3 d = tl_vec3_sub(f->particle[i].x, middle);
                along += d.x * d.x;
                across += 0.5 * (d.y * d.y + d.z * d.z);
            }
        } while (along > across && c.sim->state.t < 2 * quarter);
        CHECK_REL(c.sim->state.t / quarter, 1.25, 0.15);
        rigid_close(&c);
    }
}

/* A pool at five times the usual spacing, with a log: steps of 10 to 20 ms. How fast compression goes away has to
 * grow with the spacing. */
static void large_pool_keeps_its_volume(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL,
        "engine = 'sph', dt_max = 0.05, sph = { spacing = 0.1 }, domain = { min = {-1.2, 0, -0.8}, max = {1.2, 3, "
        "0.8} }, fill = { { material = liquid { density = 1025 }, shape = box { size = {2.4, 1, 1.6}, center = {0, "
        "0.5, 0} } } }, bodies = { { shape = cylinder { radius = 0.3, height = 1.0 }, at = {0, 1.1, 0}, "
        "rotation_deg = {90, 0, 0}, density = 600 } }");
    double worst = 0;
    while (c.sim->state.t < 1.2) {
        rigid_step(&c, 0.05);
        if (c.sim->state.t > 0.5) worst = fmax(worst, c.sim->report.compression);
    }
    CHECK_LE(worst, 0.02); /* 0.14 by then with 0.2 m/s at any spacing, and half of it at 2 s */
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_pool_keeps_its_volume),
        cmocka_unit_test(counts_of_fills),
        cmocka_unit_test(fills_fit_between_solids),
        cmocka_unit_test(tanks_that_are_bodies),
        cmocka_unit_test(volume_is_what_liquid_takes_up),
        cmocka_unit_test(narrow_slots),
        cmocka_unit_test(steps_do_not_matter),
        cmocka_unit_test(far_drops_change_nothing),
        cmocka_unit_test(walls_are_of_second_order),
        cmocka_unit_test(between_plates),
        cmocka_unit_test(drops_swing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
