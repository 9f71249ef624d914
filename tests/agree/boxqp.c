/* All box-QP methods on the same problems: random ones against a certificate, small ones against every
 * active set there is, all on a space in two parts, and the wall-separation problem of [FM21 fig. 4]. */
#include <lapacke.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/random.h"
#include "check.h"
#include "lab/bench/gen_boxqp.h"
#include "solve/boxqp/box.h"
#include "solve/boxqp/method.h"
#include "solve/linear/method.h"
#include "split.h"

static talus_error err;

#define PROBLEMS 40
#define TARGET 1e-8

/* n 60 to 400, condition 1e2 to 1e6; every fourth one has a quarter of its eigenvalues at zero. */
static void make(tl_boxqp_case *c, int i)
{
    double u = tl_random(7, (uint64_t)i, 0);
    int n = 60 + (int)(340 * u * u * u * u); /* most are small: full matrices make large ones slow */
    double condition = pow(10, 2 + 4 * tl_random(7, (uint64_t)i, 1));
    CHECK_OK(tl_gen_random_boxqp(c, n, condition, i % 4 == 3 ? 3 * n / 4 : n, (uint64_t)i + 1, &err));
}

static tl_options options(const tl_boxqp_case *c)
{
    tl_options o = tl_options_default();
    CHECK_OK(tl_precond_create(&o.precond, tl_precond_find("jacobi"), &c->A, &err));
    o.line_searches = 10; /* full matrices make the full Newton step of the augmented Lagrangian cycle */
    return o;
}

static void forty_random(void **state)
{
    (void)state;
    tl_threads_set(1); /* too small for two; leaves a core to the next test */
    tl_arena a = {0};
    static const struct {
        const char *name;
        int at_least;
    } goal[] = {{"mprgp", 40}, {"mprgp-original", 40}, {"auglag", 36}, {"admm", 36}, {"pip", 30}};
    for (size_t k = 0; k < sizeof goal / sizeof goal[0]; k++) {
        const tl_boxqp_method *m = tl_boxqp_method_find(goal[k].name);
        int reached = 0;
        int64_t max = 0;
        for (int i = 0; i < PROBLEMS; i++) {
            tl_boxqp_case c;
            make(&c, i);
            tl_options o = options(&c);
            tl_boxqp_report r;
            CHECK_OK(tl_boxqp_solve(m, &c.qp, &o, &(tl_stop){TARGET, 0, 100000}, c.x0, &a, &r, &err));
            bool good = r.certificate.optimality <= TARGET;
            reached += good;
            max = r.work.products > max ? r.work.products : max;
            if (good != (r.outcome.result == TL_CONVERGED))
                fail_msg("%s on %d: certificate %g but outcome '%s'", m->name, i, r.certificate.optimality,
                         tl_result_name(r.outcome.result));
            if (!good)
                print_message("%s misses problem %d: %s at %.1e\n", m->name, i, tl_result_name(r.outcome.result),
                              r.certificate.optimality);
            tl_precond_free(o.precond);
            tl_boxqp_case_free(&c);
        }
        print_message("%-15s %d of %d, at most %lld products\n", m->name, reached, PROBLEMS, (long long)max);
        assert_true(reached >= goal[k].at_least);
    }
    tl_threads_set(2);
    tl_arena_free(&a);
}

/* Minimum over all 3^n active sets: the free part solves its linear system, and must be feasible. */
static double enumerate(const tl_boxqp_case *c, int n, double *best_x)
{
    double best = INFINITY;
    int sets = 1;
    for (int i = 0; i < n; i++) sets *= 3;
    for (int set = 0; set < sets; set++) {
        double x[8], A[64], rhs[8], energy = 0;
        int free_at[8], count = 0, code = set;
        for (int i = 0; i < n; i++, code /= 3) {
            x[i] = code % 3 == 1 ? c->lo[i] : c->hi[i];
            if (code % 3 == 0) free_at[count++] = i;
        }
        for (int i = 0; i < count; i++) {
            rhs[i] = c->b[free_at[i]];
            for (int j = 0; j < n; j++) {
                bool is_free = false;
                for (int k = 0; k < count; k++) is_free |= free_at[k] == j;
                if (!is_free) rhs[i] -= c->A.val[free_at[i] * n + j] * x[j];
            }
            for (int j = 0; j < count; j++) A[i * count + j] = c->A.val[free_at[i] * n + free_at[j]];
        }
        if (count && LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', count, 1, A, count, rhs, 1)) continue;
        bool inside = true;
        for (int i = 0; i < count; i++) {
            x[free_at[i]] = rhs[i];
            inside &= rhs[i] >= c->lo[free_at[i]] - 1e-12 && rhs[i] <= c->hi[free_at[i]] + 1e-12;
        }
        if (!inside) continue;
        for (int i = 0; i < n; i++) {
            double Ax = 0;
            for (int j = 0; j < n; j++) Ax += c->A.val[i * n + j] * x[j];
            energy += x[i] * (0.5 * Ax - c->b[i]);
        }
        if (energy < best) {
            best = energy;
            memcpy(best_x, x, sizeof(double) * (size_t)n);
        }
    }
    return best;
}

static void every_active_set_of_small_ones(void **state)
{
    (void)state;
    tl_arena a = {0};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        double x[8], exact[8];
        tl_boxqp_case c;
        CHECK_OK(tl_gen_random_boxqp(&c, 6, 100, 6, seed, &err));
        double best = enumerate(&c, 6, exact);
        tl_options o = options(&c);
        for (int k = 0; k < tl_boxqp_method_count(); k++) {
            const tl_boxqp_method *m = tl_boxqp_method_at(k);
            if (!m->handles_bounds) continue;
            tl_boxqp_report r;
            memcpy(x, c.x0, sizeof(double) * 6);
            CHECK_OK(tl_boxqp_solve(m, &c.qp, &o, &(tl_stop){1e-10, 0, 100000}, x, &a, &r, &err));
            CHECK_NEAR(r.certificate.energy, best, 1e-9 * fabs(best));
            for (int i = 0; i < 6; i++)
                CHECK_NEAR(x[i], exact[i], 1e-6); /* residual 1e-10 times condition 1e2, with room */
        }
        tl_precond_free(o.precond);
        tl_boxqp_case_free(&c);
    }
    tl_arena_free(&a);
}

static void wall_separation(void **state)
{
    (void)state;
    tl_boxqp_case c;
    tl_arena a = {0};
    CHECK_OK(tl_gen_wall_separation(&c, 24, 1, &err));
    CHECK_OK(tl_csr_check(&c.A, &err));
    double *x = TL_NEW(double, c.space.n), energy = 0;
    for (int k = 0; k < tl_boxqp_method_count(); k++) {
        const tl_boxqp_method *m = tl_boxqp_method_at(k);
        for (int pre = 0; pre < tl_precond_count(); pre++) {
            if (!strcmp(tl_precond_at(pre)->name, "none")) continue; /* too stiff for most methods without one */
            tl_options o = tl_options_default();
            CHECK_OK(tl_precond_create(&o.precond, tl_precond_at(pre), &c.A, &err));
            tl_boxqp_report r;
            memcpy(x, c.x0, sizeof(double) * (size_t)c.space.n);
            CHECK_OK(tl_boxqp_solve(m, &c.qp, &o, &(tl_stop){1e-7, 0, 20000}, x, &a, &r, &err));
            assert_int_equal(r.outcome.result, TL_CONVERGED);
            if (m->handles_bounds) {
                CHECK_LE(r.certificate.optimality, 1e-7);
                if (energy == 0) energy = r.certificate.energy;
                CHECK_REL(r.certificate.energy, energy, 1e-7);
            } else { /* without bounds: lower energy, pulling walls */
                assert_true(r.certificate.energy < energy && r.certificate.violation > 1);
            }
            tl_precond_free(o.precond);
        }
    }
    tl_free(x);
    tl_boxqp_case_free(&c);
    tl_arena_free(&a);
}

/* ---- the same on two parts ---- */

typedef struct job {
    tl_split *split;
    const tl_boxqp_case *c;
    const tl_boxqp_method *m;
    const char *precond;
    tl_boxqp_report report[2];
    double *x; /* global */
} job;

static int solve_part(int part, void *user)
{
    job *j = user;
    const tl_space *s = tl_split_space(j->split, part);
    const tl_csr *A = tl_split_csr(j->split, part);
    int64_t n = s->n + s->halo;
    double *v[5];
    const double *global[5] = {j->c->b, j->c->lo, j->c->hi, j->c->diag, j->c->x0};
    for (int k = 0; k < 5; k++) {
        v[k] = TL_NEW(double, n);
        tl_split_scatter(j->split, global[k], part, v[k]);
    }
    tl_boxqp qp = {.space = s, .A = tl_linop_csr(A), .b = v[0], .lo = v[1], .hi = v[2], .diag = v[3]};
    tl_options o = tl_options_default();
    o.line_searches = 5;
    tl_arena a = {0};
    talus_error e;
    int bad = tl_precond_create(&o.precond, tl_precond_find(j->precond), A, &e) ||
              tl_boxqp_solve(j->m, &qp, &o, &(tl_stop){1e-7, 0, 20000}, v[4], &a, &j->report[part], &e);
    tl_split_gather(j->split, v[4], part, j->x);
    tl_precond_free(o.precond);
    tl_arena_free(&a);
    for (int k = 0; k < 5; k++) tl_free(v[k]);
    return bad;
}

static void two_parts(void **state)
{
    (void)state;
    tl_boxqp_case c;
    tl_arena a = {0};
    CHECK_OK(tl_gen_wall_separation(&c, 16, 3, &err));
    job j = {.split = tl_split_create(&c.A, 2, 1), .c = &c, .x = TL_NEW(double, c.space.n)};
    static const char *const preconds[] = {"jacobi", "mic"};
    for (int k = 0; k < tl_boxqp_method_count(); k++)
        for (int pre = 0; pre < 2; pre++) {
            j.m = tl_boxqp_method_at(k);
            j.precond = preconds[pre];
            assert_int_equal(tl_split_run(j.split, solve_part, &j), 0);
            for (int part = 0; part < 2; part++) assert_int_equal(j.report[part].outcome.result, TL_CONVERGED);
            CHECK_NEAR(j.report[0].certificate.optimality, j.report[1].certificate.optimality, 0);
            /* and the certificate that one part would compute */
            tl_boxqp_certificate whole;
            CHECK_OK(tl_boxqp_certify(&c.qp, j.x, &whole, &a, &err));
            if (j.m->handles_bounds) CHECK_LE(whole.optimality, 1.001e-7);
            CHECK_REL(whole.energy, j.report[0].certificate.energy, 1e-12);
        }
    tl_split_free(j.split);
    tl_free(j.x);
    tl_boxqp_case_free(&c);
    tl_arena_free(&a);
}

/* Rows per part; enough for work spaces beyond the arena's first chunk, which it would ask for twice. */
#define SHORT_ROWS 3000

/* One of the parts gets no memory: all of them say so, none waits for it. The split space stops the test if one
 * does. */
static int short_of_memory(int part, void *user)
{
    job *j = user;
    const tl_space *s = tl_split_space(j->split, part);
    double x[SHORT_ROWS + 1] = {0}, b[SHORT_ROWS] = {1};
    tl_linear p = {s, tl_linop_csr(tl_split_csr(j->split, part)), b};
    tl_boxqp qp = {.space = s, .A = p.A, .b = b};
    tl_options o = tl_options_default();
    tl_stop stop = {1e-6, 0, 100};
    tl_arena a = {0};
    talus_error e;
    tl_linear_report linear;
    talus_status got = j->m ? tl_boxqp_solve(j->m, &qp, &o, &stop, x, &a, &j->report[part], &e)
                            : tl_linear_solve(tl_linear_method_find("cg"), &p, &o, &stop, x, &a, &linear, &e);
    tl_arena_free(&a);
    return got != TALUS_NO_MEMORY || x[0] != 0;
}

static void memory_of_one_part(void **state)
{
    (void)state;
    int n = 2 * SHORT_ROWS;
    int64_t at = 0;
    tl_csr A;
    CHECK_OK(tl_csr_create(&A, n, n, 3 * n, &err));
    for (int i = 0; i < n; i++) { /* a chain */
        for (int k = i > 0 ? i - 1 : 0; k <= i + 1 && k < n; k++) A.col[at] = k, A.val[at++] = k == i ? 3 : -1;
        A.start[i + 1] = at;
    }
    job j = {.split = tl_split_create(&A, 2, 1)};
    for (int k = -1; k < tl_boxqp_method_count(); k++) {
        j.m = k < 0 ? NULL : tl_boxqp_method_at(k);
        for (int64_t fails = 2; fails <= 3; fails++) { /* the first is that of tl_split_run */
            tl_alloc_fail_at(fails);
            assert_int_equal(tl_split_run(j.split, short_of_memory, &j), 0);
            assert_true(tl_alloc_fail_happened());
        }
    }
    tl_split_free(j.split);
    tl_csr_free(&A);
}

/* Without rows: the norm comes from a power iteration and there is no diagonal. */
static void apply_hidden(const tl_linop *A, const double *x, double *y) { tl_csr_mul(A->ctx, x, y); }

static void matrix_free(void **state)
{
    (void)state;
    tl_boxqp_case c;
    tl_arena a = {0};
    CHECK_OK(tl_gen_random_boxqp(&c, 100, 100, 100, 5, &err));
    tl_boxqp qp = {.space = &c.space, .A = {.apply = apply_hidden, .ctx = &c.A}, .b = c.b, .lo = c.lo, .hi = c.hi};
    tl_options o = tl_options_default();
    o.line_searches = 10;
    double energy = 0, x[100];
    for (int k = 0; k < tl_boxqp_method_count(); k++) {
        const tl_boxqp_method *m = tl_boxqp_method_at(k);
        if (!m->handles_bounds) continue;
        tl_boxqp_report r;
        memcpy(x, c.x0, sizeof x);
        CHECK_OK(tl_boxqp_solve(m, &qp, &o, &(tl_stop){1e-6, 0, 100000}, x, &a, &r, &err));
        assert_int_equal(r.outcome.result == TL_CONVERGED, r.certificate.optimality <= 1e-6);
        if (!strcmp(m->name, "pip")) continue; /* its barrier needs a preconditioner, and that needs rows */
        CHECK_LE(r.certificate.optimality, 1e-6);
        if (energy == 0) energy = r.certificate.energy;
        CHECK_REL(r.certificate.energy, energy, 1e-7); /* the augmented Lagrangian ends 1e-6 outside of the box */
    }
    tl_boxqp_case_free(&c);
    tl_arena_free(&a);
}

/* Into the box and no further, with and without bounds. */
static void projection_clamps(void **state)
{
    (void)state;
    enum { N = 5 };
    const double lo[N] = {0, 0, 0, -INFINITY, -1}, hi[N] = {1, 1, 1, 2, INFINITY};
    double x[N] = {-3, 0.25, 7, 9, -2}, free[N] = {-3, 0.25, 7, 9, -2};
    static const double in[N] = {0, 0.25, 1, 2, -1}, out[N] = {-3, 0.25, 7, 9, -2};
    tl_space s = tl_space_local(N);
    tl_boxqp p = {.space = &s, .lo = lo, .hi = hi}, open = {.space = &s};
    tl_boxqp_project(&p, x);
    tl_boxqp_project(&open, free);
    for (int i = 0; i < N; i++) assert_true(x[i] == in[i] && free[i] == out[i]);
}

int main(void)
{
    tl_threads_set(1); /* problems are small here: on a busy machine a second thread makes them many times slower */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_active_set_of_small_ones),
        cmocka_unit_test(forty_random),
        cmocka_unit_test(wall_separation),
        cmocka_unit_test(two_parts),
        cmocka_unit_test(memory_of_one_part),
        cmocka_unit_test(projection_clamps),
        cmocka_unit_test(matrix_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
