/* The neighbour search against all pairs, on crowds, sprays and strays; and what it does with places that cannot be. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "sph.h"

#include "base/random.h"

static talus_error err;

/* Places as the search rounds them: 2h / 2^22. */
static tl_vec3 rounded(tl_vec3 x, double h)
{
    double u = 2 * h / 4194304.0;
    return (tl_vec3){u * rint(x.x / u), u * rint(x.y / u), u * rint(x.z / u)};
}

static double distance(tl_vec3 a, tl_vec3 b, double h)
{
    return tl_vec3_norm(tl_vec3_sub(rounded(a, h), rounded(b, h)));
}

/* Within a rounding of 2h either answer is right. */
static bool unsure(double r, double h) { return fabs(r - 2 * h) < 1e-6 * h; }

static void compare_gradient(tl_vec3 g, const sph_case *c, tl_vec3 xi, tl_vec3 xj, double tolerance)
{
    double h = c->sph.h;
    tl_vec3 d = tl_vec3_sub(rounded(xi, h), rounded(xj, h));
    double slope = tl_sph_slope(c->sph.kernel, tl_vec3_norm(d)) * h * h * h * h;
    CHECK_NEAR(g.x, slope * d.x, tolerance);
    CHECK_NEAR(g.y, slope * d.y, tolerance);
    CHECK_NEAR(g.z, slope * d.z, tolerance);
}

/* Sum of W h^3 over the samples of body b that liquid meets, at fluid i. */
static double sum_over(const sph_case *c, int32_t i, int32_t b)
{
    const tl_sph_step *s = &c->step;
    int32_t solids = c->sph.free_count + c->sph.kinematic_count + c->sph.static_count;
    double h = c->sph.h, sum = 0;
    for (int32_t j = 0; j < solids; j++)
        if (c->sph.body_of[j] == b && (c->sph.meets[j] & TL_SPH_MEETS_LIQUID))
            sum += h * h * h * tl_sph_w(c->sph.kernel, distance(s->particle[i].x, tl_sph_solid(s, j), h));
    return sum;
}

/* h^3 W of pair k of i is that of the kernel to single precision, and its other side has the same bits: what the
 * numerical viscosity gives and takes is the same. */
static void check_weight(const sph_case *c, int32_t i, int64_t k)
{
    const tl_sph_step *s = &c->step;
    double h = c->sph.h,
           exact = h * h * h * tl_sph_w(c->sph.kernel, distance(s->particle[i].x, s->particle[s->neighbour[k]].x, h));
    CHECK_NEAR((double)s->weight[k], exact, 1e-6); /* of at most 1/pi */
    for (int64_t other = s->start[s->neighbour[k]]; other < s->start[s->neighbour[k] + 1]; other++)
        if (s->neighbour[other] == i) assert_true(s->weight[other] == s->weight[k]);
}

/* Fluid i among fluid: each neighbour once, no others; density from all neighbours. */
static void check_fluid(const sph_case *c, int32_t i, char *seen)
{
    const tl_sph_step *s = &c->step;
    double h = c->sph.h, density = 0;
    memset(seen, 0, (size_t)s->fluid);
    for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) {
        int32_t j = s->neighbour[k];
        assert_true(j >= 0 && j < s->fluid && j != i && !seen[j]);
        seen[j] = 1;
        compare_gradient(tl_sph_link_g(s, k), c, s->particle[i].x, s->particle[j].x, 1.1 * TL_SPH_G_UNIT);
        check_weight(c, i, k);
    }
    for (int32_t j = 0; j < s->fluid; j++) {
        double r = distance(s->particle[i].x, s->particle[j].x, h);
        density += tl_sph_w(c->sph.kernel, r);
        if (j != i && !unsure(r, h) && seen[j] != (r < 2 * h)) fail_msg("fluid %d and %d at %g h", i, j, r / h);
    }
    density *= h * h * h;
    for (int32_t b = 0; b < c->sph.bodies; b++) {
        double sum = sum_over(c, i, b);
        density += c->sph.body[b].firm ? sum * sum / c->sph.sheet : sum;
    }
    CHECK_NEAR((double)s->density[i], density, 2e-6);
}

static void check_all(const sph_case *c)
{
    const tl_sph_step *s = &c->step;
    double h = c->sph.h;
    int32_t solids = c->sph.free_count + c->sph.kinematic_count + c->sph.static_count, edge = 0;
    char *seen = malloc((size_t)s->fluid + (size_t)solids + 1);
    for (int32_t i = 0; i < s->fluid; i++) check_fluid(c, i, seen);
    /* fluid among solids, and the same pairs from the other side */
    int64_t from_fluid = 0, from_bodies = s->near_start[s->nears];
    for (int32_t i = 0; i < s->fluid; i++) {
        memset(seen, 0, (size_t)solids);
        if (edge < s->edges && s->edge[edge] == i) {
            for (int64_t k = s->edge_start[2 * edge]; k < s->edge_start[2 * edge + 2]; k++) {
                bool body = k < s->edge_start[2 * edge + 1];
                int32_t j = body ? s->near[s->edge_pair[k].j].particle : s->edge_pair[k].j;
                assert_true(body == (j < c->sph.free_count) && !seen[j]);
                seen[j] = 1;
                from_fluid += body;
                int32_t b = c->sph.body_of[j];
                double slope = c->sph.body[b].firm ? 2 * sum_over(c, i, b) / c->sph.sheet : 1;
                if (slope < 1e-3) continue; /* the sum is rounded */
                compare_gradient(tl_vec3_scale(1 / slope, tl_sph_pair_g(&s->edge_pair[k])), c, s->particle[i].x,
                                 tl_sph_solid(s, j), 1e-6 + 1e-7 / slope);
            }
            edge++;
        }
        for (int32_t j = 0; j < solids; j++) {
            double r = distance(s->particle[i].x, tl_sph_solid(s, j), h);
            bool wet = c->sph.meets[j] & TL_SPH_MEETS_LIQUID;
            if (!unsure(r, h) && seen[j] != (wet && r < 2 * h))
                fail_msg("fluid %d and surface %d at %g h", i, j, r / h);
        }
    }
    assert_int_equal(edge, s->edges);
    assert_int_equal(from_fluid, from_bodies);
    /* bodies among each other */
    for (int32_t i = 0; i < c->sph.free_count; i++) {
        int32_t n = s->near_of[i], contact = n >= 0 ? s->near[n].contact : -1;
        int64_t touches = contact >= 0 ? s->touch_start[contact + 1] - s->touch_start[contact] : 0, want = 0, open = 0;
        for (int32_t j = 0; j < solids; j++) {
            if (c->sph.body_of[j] == c->sph.body_of[i]) continue;
            if (!(c->sph.meets[i] & c->sph.meets[j] & TL_SPH_MEETS_SOLIDS)) continue;
            double r = distance(tl_sph_solid(s, i), tl_sph_solid(s, j), h);
            want += r < 2 * h;
            open += unsure(r, h);
        }
        if (llabs(want - touches) > open)
            fail_msg("surface %d has %lld of %lld", i, (long long)touches, (long long)want);
    }
    free(seen);
}

static const char crowd[] =
    "sph = { spacing = 0.02 }, domain = { min = {-0.15, 0, -0.15}, max = {0.25, 0.3, 0.2}, y_max = 'open' },"
    "fill = { { material = preset 'water', shape = box { size = {0.3, 0.1, 0.2}, center = {0.02, 0.06, 0.01} } } },"
    "bodies = { { shape = box { size = 0.1 }, at = {0.05, 0.15, 0}, density = 700, friction = 0.4 },"
    " { shape = sphere { radius = 0.05 }, at = {-0.06, 0.15, 0}, density = 1500, friction = 0.3 },"
    " { kind = 'kinematic', shape = box { size = 0.05 }, motion = function(t) return { at = {0.13, 0.15, 0} } end, "
    "friction = 0.3 },"
    " { kind = 'static', shape = cylinder { radius = 0.04, height = 0.1 }, at = {0.05, 0.05, 0.1}, friction = 0.5 } }";

static void crowds(void **state)
{
    (void)state;
    tl_sph_options o = {0.7, 0.1, TL_SPH_LATTICE};
    sph_case c = sph_open(NULL, crowd, &o);
    sph_step(&c, 1e-3); /* a lattice: many pairs at exactly 2h */
    check_all(&c);
    sph_shake(&c, 5, 0.01, 0.1);
    sph_step(&c, 1e-3);
    check_all(&c);
    sph_close(&c);
}

/* Particles so far apart that no table holds all cells between them. */
static void strays(void **state)
{
    (void)state;
    sph_case c = sph_open(NULL, crowd, NULL);
    for (int64_t i = 0; i < c.state.count; i += 7) {
        double far = i % 14 ? 3e3 : -1e4;
        tl_vec3 *x = &c.state.particle[i].x;
        *x = tl_vec3_add(*x, (tl_vec3){far, i % 3 ? 2e3 : 0, i % 5 ? -far : 0});
    }
    sph_step(&c, 1e-3);
    check_all(&c);
    sph_close(&c);
}

/* One cell, one place: gradients have no direction there, and nothing is lost. */
static void coincident(void **state)
{
    (void)state;
    sph_case c = sph_open(NULL, crowd, NULL);
    for (int64_t i = 0; i < 40; i++) c.state.particle[i].x = (tl_vec3){0.1, 0.25, 0.1};
    sph_step(&c, 1e-3);
    check_all(&c);
    for (int32_t i = 0; i < c.step.fluid; i++) assert_true(isfinite(c.step.D[i]) && c.step.D[i] > 0);
    sph_close(&c);
}

static void bad_places(void **state)
{
    (void)state;
    sph_case c = sph_open(NULL, crowd, NULL);
    const double bad[] = {NAN, INFINITY, -1e300, 1e9};
    for (int k = 0; k < 4; k++) {
        tl_vec3 kept = c.state.particle[11].x;
        c.state.particle[11].x.y = bad[k];
        assert_int_equal(sph_try_step(&c, 1e-3, &err), TALUS_BAD_INPUT);
        assert_non_null(strstr(err.message, "fluid particle 11 is at"));
        c.state.particle[11].x = kept;
        kept = c.body[1].x;
        c.body[1].x.z = bad[k];
        assert_int_equal(sph_try_step(&c, 1e-3, &err), TALUS_BAD_INPUT);
        assert_non_null(strstr(err.message, c.scene->bodies[1].name));
        c.body[1].x = kept;
    }
    CHECK_OK(sph_try_step(&c, 1e-3, &err));
    for (int64_t i = 0; i < c.state.count; i++) c.state.particle[i].x = (tl_vec3){0.1, 0.25, 0.1};
    talus_status status = sph_try_step(&c, 1e-3, &err); /* a thousand in one place still have their pairs */
    assert_true(status == TALUS_OK || strstr(err.message, "collapsed"));
    sph_close(&c);
}

/* Nothing there at all, a body alone, fluid alone. */
static void empty(void **state)
{
    (void)state;
    const char *const texts[] = {
        "sph = { spacing = 0.02 }, bodies = { { shape = box { size = 0.1 }, density = 700 } }",
        "sph = { spacing = 0.02 }, bodies = { { kind = 'static', shape = box { size = 0.1 } } }",
        "sph = { spacing = 0.02 }, fill = { { material = preset 'water', shape = box { size = 0.03 } } }",
    };
    for (int k = 0; k < 3; k++) {
        sph_case c = sph_open(NULL, texts[k], NULL);
        sph_step(&c, 1e-3);
        check_all(&c);
        assert_int_equal(c.step.contacts, 0);
        c.problem.evaluate(c.problem.ctx, c.x, c.r);
        assert_true(isfinite(c.problem.measure(c.problem.ctx, c.x, c.r)));
        tl_sph_finish(&c.step, c.x);
        sph_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowds),     cmocka_unit_test(strays), cmocka_unit_test(coincident),
        cmocka_unit_test(bad_places), cmocka_unit_test(empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
