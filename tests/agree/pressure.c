/* All pressure methods on the same problems, against each other and against the box-QP methods, and the iteration
 * counts that the multigrid method promises (larger sizes: `talus bench pressure`). */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/sum.h"
#include "check.h"
#include "lattice.h"
#include "solve/boxqp/method.h"
#include "solve/pressure/method.h"

static talus_error err;
static tl_arena arena;

static tl_pressure_options cold(void)
{
    tl_pressure_options o = tl_pressure_options_default();
    o.mic_below = 0;
    o.retry = false;
    return o;
}

static tl_pressure_report solve(const char *method, const tl_pressure *p, const tl_pressure_options *o,
                                double tolerance, double *x)
{
    tl_pressure_report r;
    CHECK_OK(
        tl_pressure_solve(tl_pressure_method_find(method), p, o, &(tl_stop){tolerance, 2000, 0}, x, &arena, &r, &err));
    if (r.outcome.result != TL_CONVERGED) fail_msg("%s: %s", method, tl_result_name(r.outcome.result));
    return r;
}

/* ---- the same answer ---- */

static void compare(const char *what, int32_t n, const double *x, const double *y)
{
    double max = tl_max_abs(n, x);
    for (int32_t i = 0; i < n; i++) {
        if ((x[i] > 0) != (y[i] > 0) && fabs(x[i] - y[i]) > 1e-9 * max)
            fail_msg("%s: cell %d at %g and %g", what, i, x[i], y[i]);
        CHECK_NEAR(y[i], x[i], 1e-6 * max);
    }
}

/* P3: every bounded method and mode gives the same pressure and bound set. */
static void one_answer(void **state)
{
    (void)state;
    for (int s = 0; s < TL_SCENES; s++) {
        if (s == TL_SCENE_CAVITY) continue; /* its answer is known up to a constant */
        tl_pressure_case c;
        CHECK_OK(tl_gen_pressure(&c, (tl_pressure_scene)s, 28, 4, 0, &err));
        CHECK_OK(tl_pressure_check(&c.p, &err));
        double *x = TL_NEW_ZERO(double, c.p.n), *y = TL_NEW_ZERO(double, c.p.n);
        tl_pressure_options o = cold();
        solve("mic", &c.p, &o, 1e-9, x);
        for (int mode = 0; mode < 5; mode++) {
            o = cold();
            if (mode == 1) o.split = false;
            if (mode == 2) o.rebuild = false;
            if (mode == 3) o.start = TL_PRESSURE_WARM;
            for (int32_t i = 0; i < c.p.n; i++) y[i] = mode == 3 ? x[i] * tl_random(1, (uint64_t)i, 0) : 0;
            solve(mode == 4 ? "multigrid-double" : "multigrid", &c.p, &o, 1e-9, y);
            compare(tl_pressure_scene_name((tl_pressure_scene)s), c.p.n, x, y);
        }
        o = cold();
        o.rebuild = false;
        solve("mic", &c.p, &o, 1e-9, y);
        compare("mic, masked", c.p.n, x, y);

        /* without bounds: the two conjugate gradients, and the bounded methods on a problem that has none */
        o = cold();
        solve("cg-mic", &c.p, &o, 1e-10, x);
        solve("cg-multigrid", &c.p, &o, 1e-10, y);
        compare("cg", c.p.n, x, y);
        c.p.unilateral = false;
        solve("multigrid", &c.p, &o, 1e-10, y);
        compare("bilateral", c.p.n, x, y);
        tl_free(x);
        tl_free(y);
        tl_pressure_case_free(&c);
    }
}

/* ---- against box QPs, with bodies and contact rows ---- */

#define LAMBDAS 5
#define FREEDOMS 7

/* E = U'U: velocities of a few bodies, pushed by cells and by contact forces. */
typedef struct pushes {
    int32_t all;
    double *u; /* [FREEDOMS][all] */
} pushes;

static void gather_pushes(const void *ctx, const double *x, double *r)
{
    const pushes *e = ctx;
    for (int f = 0; f < FREEDOMS; f++) {
        r[f] = 0;
        for (int32_t i = 0; i < e->all; i++) r[f] += e->u[(size_t)f * (size_t)e->all + (size_t)i] * x[i];
    }
}

static void scatter_pushes(const void *ctx, const double *r, double *y)
{
    const pushes *e = ctx;
    for (int f = 0; f < FREEDOMS; f++)
        for (int32_t i = 0; i < e->all; i++) y[i] += e->u[(size_t)f * (size_t)e->all + (size_t)i] * r[f];
}

static void add_pushes(const void *ctx, const double *x, double *y)
{
    const pushes *e = ctx;
    for (int f = 0; f < FREEDOMS; f++) {
        const double *u = e->u + (size_t)f * (size_t)e->all;
        double r = 0;
        for (int32_t i = 0; i < e->all; i++) r += u[i] * x[i];
        for (int32_t i = 0; i < e->all; i++) y[i] += u[i] * r;
    }
}

/* The same problem with every entry written out, by products with unit vectors. */
static void write_out(const tl_pressure *p, tl_csr *A, double *lo, double *hi)
{
    int32_t all = p->n + p->extras;
    double *e = TL_NEW_ZERO(double, all), *column = TL_NEW(double, all);
    CHECK_OK(tl_csr_create(A, all, all, (int64_t)all * all, &err));
    for (int32_t i = 0; i < all; i++) {
        e[i] = 1;
        tl_pressure_product(p, e, column);
        e[i] = 0;
        for (int32_t j = 0; j < all; j++) {
            A->col[(int64_t)i * all + j] = j;
            A->val[(int64_t)i * all + j] = column[j]; /* symmetric: checked below */
        }
        A->start[i + 1] = (int64_t)(i + 1) * all;
        lo[i] = p->unilateral || i >= p->n ? 0 : -INFINITY;
        hi[i] = INFINITY;
    }
    for (int32_t i = 0; i < all; i++)
        for (int32_t j = 0; j < i; j++) CHECK_NEAR(A->val[(int64_t)i * all + j], A->val[(int64_t)j * all + i], 1e-14);
    tl_free(e);
    tl_free(column);
}

static void with_contacts(void **state)
{
    (void)state;
    int held = 0, opened = 0, plain = 0, woodbury = 0;
    for (int trial = 0; trial < 12; trial++) {
        bool known = trial >= 6; /* the same six again, E as U U^T for the preconditioner */
        uint64_t seed = 40 + (uint64_t)(trial % 6);
        tl_pressure_case c;
        tl_lattice_make(&c, &(tl_lattice){.size = {6, 7, 8}, .surface = true});
        int32_t n = c.p.n, all = n + LAMBDAS;
        pushes e = {all, TL_NEW_ZERO(double, FREEDOMS *(int64_t)all)};
        double *b = TL_NEW(double, all), *x = TL_NEW_ZERO(double, all), *y = TL_NEW_ZERO(double, all),
               diag[LAMBDAS] = {0};
        double *lo = TL_NEW(double, all), *hi = TL_NEW(double, all);
        for (int f = 0; f < FREEDOMS; f++)
            for (int32_t i = 0; i < all; i++) {
                double *u = &e.u[(size_t)f * (size_t)all + (size_t)i];
                if (i >= n || (i % 11 == f && i % 3 == 0)) *u = tl_random_normal(seed, (uint64_t)i, (uint64_t)f);
                if (i >= n) diag[i - n] += *u * *u;
            }
        for (int32_t i = 0; i < all; i++) b[i] = tl_random_normal(seed + 100, (uint64_t)i, 0);
        c.p.b = b;
        c.p.extras = LAMBDAS;
        c.p.extra = (tl_pressure_extra){.add = add_pushes, .ctx = &e, .diag = diag};
        if (known) {
            c.p.extra.columns = FREEDOMS;
            c.p.extra.gather = gather_pushes;
            c.p.extra.scatter = scatter_pushes;
        }
        c.p.unilateral = trial % 2 == 0;
        CHECK_OK(tl_pressure_check(&c.p, &err));

        tl_csr A;
        write_out(&c.p, &A, lo, hi);
        tl_space space = tl_space_local(all);
        tl_boxqp qp = {.space = &space, .A = tl_linop_csr(&A), .b = b, .lo = lo, .hi = hi};
        tl_options qo = tl_options_default();
        tl_boxqp_report qr;
        CHECK_OK(
            tl_boxqp_solve(tl_boxqp_method_find("mprgp"), &qp, &qo, &(tl_stop){1e-10, 5000, 0}, x, &arena, &qr, &err));
        assert_int_equal(qr.outcome.result, TL_CONVERGED);

        for (int k = 0; k < tl_pressure_method_count(); k++) {
            const tl_pressure_method *m = tl_pressure_method_at(k);
            if (!tl_pressure_method_bounded(m)) continue;
            for (int warm = 0; warm < 2; warm++) {
                tl_pressure_options o = cold();
                o.start = warm ? TL_PRESSURE_WARM : TL_PRESSURE_NESTED;
                if (!warm) memset(y, 0, sizeof *y * (size_t)all);
                tl_pressure_report r = solve(tl_pressure_method_name(m), &c.p, &o, 1e-10, y);
                if (warm) CHECK_LE(r.outcome.iterations, 0); /* the answer is where it starts */
                if (k == 0 && !c.p.unilateral) *(known ? &woodbury : &plain) += r.outcome.iterations;
                CHECK_REL(r.certificate.energy, qr.certificate.energy, 1e-8);
                CHECK_LE(r.certificate.violation, 0);
                for (int32_t i = 0; i < n; i++) CHECK_NEAR(y[i], x[i], 1e-6);
            }
        }
        for (int32_t i = n; i < all; i++) *(y[i] > 0 ? &held : &opened) += 1;
        tl_csr_free(&A);
        tl_free(e.u);
        tl_free(b);
        tl_free(x);
        tl_free(y);
        tl_free(lo);
        tl_free(hi);
        tl_pressure_case_free(&c);
    }
    assert_true(held > 2 && opened > 2);
    CHECK_LE(2 * woodbury, plain); /* seven columns at most that the plain one must find one by one */
}

/* ---- how many iterations ---- */

static int iterations(tl_pressure_scene scene, int cells, uint64_t seed, const char *method,
                      const tl_pressure_options *o, double tolerance, double density, int *releases)
{
    tl_pressure_case c;
    CHECK_OK(tl_gen_pressure(&c, scene, cells, seed, density, &err));
    double *x = TL_NEW_ZERO(double, c.p.n);
    if (o->start == TL_PRESSURE_WARM) /* a small constant: what a start without levels would be */
        for (int32_t i = 0; i < c.p.n; i++) x[i] = 1e-3;
    tl_pressure_report r = solve(method, &c.p, o, tolerance, x);
    if (releases) *releases = r.releases;
    if (scene == TL_SCENE_CAVITY)
        for (int32_t i = 0; i < c.p.n; i++)
            if (!(x[i] >= 0)) fail_msg("p = %g in a closed cavity", x[i]);
    tl_free(x);
    tl_pressure_case_free(&c);
    return r.outcome.iterations;
}

/* P4, P5: no more than the limits of the specification at 64^3. */
static void counts(void **state)
{
    (void)state;
    const tl_pressure_options o = cold();
    for (int s = TL_SCENE_SPHERE; s <= TL_SCENE_TANK; s++)
        for (uint64_t seed = 0; seed < (s == TL_SCENE_TANK ? 1 : 2); seed++) {
            int cells = s == TL_SCENE_TANK ? 48 : 64, releases;
            CHECK_LE(iterations((tl_pressure_scene)s, cells, seed, "cg-multigrid", &o, 1e-8, 0, NULL), 12);
            CHECK_LE(iterations((tl_pressure_scene)s, cells, seed, "multigrid", &o, 1e-8, 0, &releases), 14);
            CHECK_LE(releases, 6); /* P8 */
        }
}

/* P11, P12, P13: a full cavity, free fall, thin plates, free bodies. */
static void hard_cases(void **state)
{
    (void)state;
    tl_pressure_options o = cold();
    CHECK_LE(iterations(TL_SCENE_CAVITY, 64, 0, "multigrid", &o, 1e-8, 0, NULL), 12);
    CHECK_LE(iterations(TL_SCENE_FALL, 64, 0, "multigrid", &o, 1e-8, 0, NULL), 12);
    CHECK_LE(iterations(TL_SCENE_PLATES, 64, 0, "multigrid", &o, 1e-8, 0, NULL), 15);
    CHECK_LE(iterations(TL_SCENE_TANK, 48, 0, "multigrid", &o, 1e-8, 1, NULL), 40);

    /* joined across the plates it takes longer, so the split is at work */
    int apart = iterations(TL_SCENE_PLATES, 96, 0, "multigrid", &o, 1e-8, 0, NULL);
    o.split = false;
    int joined = iterations(TL_SCENE_PLATES, 96, 0, "multigrid", &o, 1e-8, 0, NULL);
    assert_true(joined > apart + 2);
}

/* P7: a preconditioner that does not follow the free set is far worse. P8: so is a start without coarse levels, but
 * less so. */
static void negative_controls(void **state)
{
    (void)state;
    tl_pressure_options o = cold();
    int with, without, good = iterations(TL_SCENE_SPHERE, 64, 0, "multigrid", &o, 1e-8, 0, NULL);
    o.rebuild = false;
    int masked = iterations(TL_SCENE_SPHERE, 64, 0, "multigrid", &o, 1e-8, 0, NULL);
    assert_true(masked >= 4 * good);
    o = cold();
    iterations(TL_SCENE_DAM, 64, 0, "multigrid", &o, 1e-8, 0, &with);
    o.start = TL_PRESSURE_WARM;
    iterations(TL_SCENE_DAM, 64, 0, "multigrid", &o, 1e-8, 0, &without);
    assert_true(without >= 2 * with && without > 6);
}

/* P9: single precision in the cycle costs no iterations. */
static void precision(void **state)
{
    (void)state;
    const tl_pressure_options o = cold();
    for (int s = TL_SCENE_SPHERE; s <= TL_SCENE_TANK; s++)
        for (int tight = 0; tight < 2; tight++) {
            double tolerance = tight ? 1e-12 : 1e-8;
            int single = iterations((tl_pressure_scene)s, 40, 1, "multigrid", &o, tolerance, 0, NULL);
            int twice = iterations((tl_pressure_scene)s, 40, 1, "multigrid-double", &o, tolerance, 0, NULL);
            CHECK_LE(abs(single - twice), 1);
        }
}

/* ---- choices ---- */

/* Few cells go to mic; many do not. */
static void small_ones(void **state)
{
    (void)state;
    tl_pressure_options o = tl_pressure_options_default();
    for (int big = 0; big < 2; big++) {
        tl_pressure_case c;
        CHECK_OK(tl_gen_pressure(&c, TL_SCENE_SPHERE, big ? 32 : 16, 0, 0, &err));
        double *x = TL_NEW_ZERO(double, c.p.n);
        tl_pressure_report r = solve("multigrid", &c.p, &o, 1e-8, x);
        assert_string_equal(r.method, big ? "multigrid" : "mic");
        tl_free(x);
        tl_pressure_case_free(&c);
    }
}

/* Layers that hardly touch each other: smoothing point by point fails, mic takes over and ends the solve. */
static void retries(void **state)
{
    (void)state;
    tl_pressure_case c;
    tl_lattice_make(&c, &(tl_lattice){.size = {48, 8, 48}, .surface = true});
    for (int32_t i = 0; i < c.p.n; i++) {
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
            if (k / 2 != 0) c.c[k][i] *= 1e-3f;
            c.d[i] = k ? c.d[i] + c.c[k][i] : c.c[k][i];
        }
        c.dir[i] *= 1e-3f;
        c.ar[i] *= 1e-3f;
        c.d[i] += c.dir[i];
        c.b[i] = tl_random_normal(8, (uint64_t)i, 0);
    }
    CHECK_OK(tl_pressure_check(&c.p, &err));
    double *x = TL_NEW_ZERO(double, c.p.n);
    tl_pressure_options o = tl_pressure_options_default();
    tl_pressure_report r = solve("multigrid", &c.p, &o, 1e-8, x);
    assert_string_equal(r.method, "mic");
    assert_true(r.outcome.iterations > 30);
    CHECK_LE(r.certificate.optimality, 1e-8);
    tl_free(x);
    tl_pressure_case_free(&c);
}

/* A plan serves several right-hand sides, and the last answer is a good start for the next. */
static void plans(void **state)
{
    (void)state;
    tl_pressure_case c;
    CHECK_OK(tl_gen_pressure(&c, TL_SCENE_DAM, 40, 2, 0, &err));
    double *x = TL_NEW_ZERO(double, c.p.n), *y = TL_NEW_ZERO(double, c.p.n);
    tl_pressure_options o = cold();
    tl_stop stop = {1e-9, 100, 0};
    tl_pressure_plan *plan;
    tl_pressure_report r;
    CHECK_OK(tl_pressure_plan_make(&plan, tl_pressure_method_find("multigrid"), &c.p, &o, &arena, &err));
    CHECK_OK(tl_pressure_run(plan, &c.p, &stop, x, &arena, NULL, &r, &err));
    int first = r.outcome.iterations;
    for (int32_t i = 0; i < c.p.n; i++) c.b[i] *= 1 + 0.02 * tl_random(6, (uint64_t)i, 0);
    tl_pressure_plan_start(plan, TL_PRESSURE_WARM);
    CHECK_OK(tl_pressure_run(plan, &c.p, &stop, x, &arena, NULL, &r, &err));
    assert_int_equal(r.outcome.result, TL_CONVERGED);
    CHECK_LE(r.outcome.iterations, first + 2);
    solve("mic", &c.p, &o, 1e-9, y);
    compare("a second run of a plan", c.p.n, y, x);
    tl_pressure other = c.p;
    other.n--;
    assert_int_equal(tl_pressure_run(plan, &other, &stop, x, &arena, NULL, &r, &err), TALUS_BAD_INPUT);
    tl_free(x);
    tl_free(y);
    tl_pressure_case_free(&c);
}

static int tear_down(void **state)
{
    (void)state;
    tl_arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_answer),        cmocka_unit_test(with_contacts), cmocka_unit_test(counts),
        cmocka_unit_test(hard_cases),        cmocka_unit_test(precision),     cmocka_unit_test(small_ones),
        cmocka_unit_test(negative_controls), cmocka_unit_test(retries),       cmocka_unit_test(plans),
    };
    return cmocka_run_group_tests_name("pressure methods", tests, NULL, tear_down);
}
