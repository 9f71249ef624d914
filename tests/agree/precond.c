/* Linear methods with every preconditioner: the same answer, and the iteration counts that each promises. */
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/random.h"
#include "check.h"
#include "lab/bench/gen_boxqp.h"
#include "matrices.h"
#include "solve/linear/method.h"
#include "split.h"

static talus_error err;

/* 7-point Laplacian on an n^3 grid. */
static void laplacian(tl_csr *A, int n)
{
    int rows = n * n * n;
    int64_t at = 0;
    CHECK_OK(tl_csr_create(A, rows, rows, 7 * (int64_t)rows, &err));
    for (int i = 0; i < rows; i++) {
        int z = i % n, y = i / n % n, x = i / n / n;
        const int step[7] = {-n * n, -n, -1, 0, 1, n, n * n};
        const int inside[7] = {x > 0, y > 0, z > 0, 1, z < n - 1, y < n - 1, x < n - 1};
        for (int k = 0; k < 7; k++)
            if (inside[k]) A->col[at] = i + step[k], A->val[at++] = k == 3 ? 6 : -1;
        A->start[i + 1] = at;
    }
}

static tl_linear_report solve(const tl_csr *A, const double *b, const char *method, const char *precond, double *x)
{
    tl_space s = tl_space_local(A->rows);
    tl_linear p = {&s, tl_linop_csr(A), b};
    tl_options o = tl_options_default();
    tl_linear_report r;
    tl_arena a = {0};
    CHECK_OK(tl_precond_create(&o.precond, tl_precond_find(precond), A, &err));
    memset(x, 0, sizeof *x * (size_t)A->rows);
    CHECK_OK(tl_linear_solve(tl_linear_method_find(method), &p, &o, &(tl_stop){1e-10, 2000, 0}, x, &a, &r, &err));
    tl_precond_free(o.precond);
    tl_arena_free(&a);
    return r;
}

static void all_agree(void **state)
{
    (void)state;
    tl_boxqp_case c;
    CHECK_OK(tl_gen_wall_separation(&c, 24, 2, &err));
    int32_t n = c.A.rows;
    double *x = TL_NEW(double, n), *first = TL_NEW(double, n);
    for (int k = 0; k < tl_linear_method_count(); k++)
        for (int pre = 0; pre < tl_precond_count(); pre++) {
            tl_linear_report r = solve(&c.A, c.b, tl_linear_method_at(k)->name, tl_precond_at(pre)->name, x);
            assert_int_equal(r.outcome.result, TL_CONVERGED);
            CHECK_LE(r.certificate.residual, 1e-10);
            if (k == 0 && pre == 0) memcpy(first, x, sizeof *x * (size_t)n);
            double max = 0;
            for (int i = 0; i < n; i++) max = fmax(max, fabs(first[i]));
            for (int i = 0; i < n; i++) CHECK_NEAR(x[i], first[i], 1e-6 * max); /* condition about 1e4 */
        }
    tl_free(x);
    tl_free(first);
    tl_boxqp_case_free(&c);
}

/* On a Laplacian: incomplete factors beat the diagonal by far, MIC beats IC, and cutting the rows in two
 * halves (from 40 000 rows on) costs nothing: 36^3 rows are cut, 34^3 are not. */
static void iteration_counts(void **state)
{
    (void)state;
    int its[2][5];
    for (int big = 0; big < 2; big++) {
        tl_csr A;
        laplacian(&A, big ? 36 : 34);
        double *b = TL_NEW(double, A.rows), *x = TL_NEW(double, A.rows);
        for (int i = 0; i < A.rows; i++) b[i] = tl_random(3, (uint64_t)i, 0) - 0.5;
        static const char *const names[5] = {"none", "jacobi", "ssor", "ic", "mic"};
        for (int k = 0; k < 5; k++) its[big][k] = solve(&A, b, "cg", names[k], x).outcome.iterations;
        print_message("%d^3: none %d jacobi %d ssor %d ic %d mic %d\n", big ? 36 : 34, its[big][0], its[big][1],
                      its[big][2], its[big][3], its[big][4]);
        tl_free(b);
        tl_free(x);
        tl_csr_free(&A);
    }
    for (int big = 0; big < 2; big++) {
        assert_int_equal(its[big][0], its[big][1]); /* constant diagonal */
        assert_true(3 * its[big][3] < 2 * its[big][0] && its[big][4] < its[big][3] && its[big][3] <= its[big][2]);
    }
    assert_true(its[1][4] <= its[0][4] + 4 && its[1][3] <= its[0][3] + 4); /* growth with size alone is about 3 */
}

/* One exact case: on a tridiagonal matrix IC(0) is the Cholesky factor, so CG needs one iteration. */
static void exact_on_a_chain(void **state)
{
    (void)state;
    int n = 1000;
    tl_csr A;
    CHECK_OK(tl_csr_create(&A, n, n, 3 * n, &err));
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < n) A.col[at] = j, A.val[at++] = i == j ? 2.01 + 0.1 * (i % 3) : -1;
        A.start[i + 1] = at;
    }
    double *b = TL_NEW(double, n), *x = TL_NEW(double, n);
    for (int i = 0; i < n; i++) b[i] = tl_random(4, (uint64_t)i, 0);
    assert_int_equal(solve(&A, b, "cg", "ic", x).outcome.iterations, 1);
    assert_true(solve(&A, b, "cg", "jacobi", x).outcome.iterations > 20);
    tl_free(b);
    tl_free(x);
    tl_csr_free(&A);
}

/* An SPD matrix whose IC(0) breaks down must still be usable, and say that it was shifted. */
static void shift_on_breakdown(void **state)
{
    (void)state;
    /* Kershaw's matrix: the zero pattern of the corners makes the fourth pivot negative [Kershaw1978] */
    const double dense[16] = {3, -2, 0, 2, -2, 3, -2, 0, 0, -2, 3, -2, 2, 0, -2, 3};
    int32_t row[16], col[16];
    double val[16];
    int count = 0;
    for (int i = 0; i < 16; i++)
        if (dense[i] != 0) row[count] = i / 4, col[count] = i % 4, val[count++] = dense[i];
    tl_csr A;
    CHECK_OK(tl_csr_from_triplets(&A, 4, 4, count, row, col, val, &err));
    tl_precond *P;
    CHECK_OK(tl_precond_create(&P, tl_precond_find("ic"), &A, &err));
    assert_true(P->shift > 0);
    tl_precond_free(P);
    double b[4] = {1, 2, 3, 4}, x[4];
    tl_linear_report r = solve(&A, b, "cg", "ic", x);
    assert_int_equal(r.outcome.result, TL_CONVERGED);
    assert_true(r.outcome.iterations <= 5);
    tl_csr_free(&A);
}

/* A factor of what is not symmetric or not a number: refused, or made and of no use; never an endless search for a
 * shift. */
static void one_sided_and_not_a_number(void **state)
{
    (void)state;
    int32_t row[4] = {0, 1, 2, 0}, col[4] = {0, 1, 2, 2};
    double val[4] = {1, 1, 1, 0.5};
    tl_csr A;
    for (int lower = 0; lower < 2; lower++) {
        CHECK_OK(lower ? tl_csr_from_triplets(&A, 3, 3, 4, col, row, val, &err)
                       : tl_csr_from_triplets(&A, 3, 3, 4, row, col, val, &err));
        for (int k = 2; k < tl_precond_count(); k++) {
            tl_precond *P;
            assert_int_equal(tl_precond_create(&P, tl_precond_at(k), &A, &err), TALUS_BAD_INPUT);
            assert_null(P);
        }
        tl_csr_free(&A);
    }
    laplacian(&A, 4);
    A.val[1] = NAN; /* right of the diagonal: the side that factors read */
    assert_int_equal(A.col[1], 1);
    double b[64], x[64];
    for (int i = 0; i < 64; i++) b[i] = 1;
    for (int k = 0; k < tl_precond_count(); k++)
        assert_int_equal(solve(&A, b, "cg", tl_precond_at(k)->name, x).outcome.result, TL_BROKE_DOWN);
    tl_csr_free(&A);
}

/* M must be symmetric and positive, else CG is not CG: u.M^-1 v = v.M^-1 u. */
static void symmetric_and_positive(void **state)
{
    (void)state;
    tl_boxqp_case c;
    CHECK_OK(tl_gen_wall_separation(&c, 76, 2, &err)); /* above the size where rows are cut */
    int32_t n = c.A.rows;
    assert_true(n >= 2 * TL_PARALLEL_MIN);
    double *u = TL_NEW(double, n), *v = TL_NEW(double, n), *Mu = TL_NEW(double, n), *Mv = TL_NEW(double, n),
           *add = TL_NEW(double, n);
    for (int i = 0; i < n; i++) {
        u[i] = tl_random(5, (uint64_t)i, 0) - 0.5;
        v[i] = tl_random(5, (uint64_t)i, 1) - 0.5;
        add[i] = c.diag[i] * tl_random(5, (uint64_t)i, 2);
    }
    for (int k = 0; k < tl_precond_count(); k++) {
        tl_precond *P;
        CHECK_OK(tl_precond_create(&P, tl_precond_at(k), &c.A, &err));
        for (int shifted = 0; shifted < 2; shifted++) {
            tl_precond_update(P, shifted ? add : NULL, NULL);
            tl_precond_apply(P, n, u, Mu, NULL);
            tl_precond_apply(P, n, v, Mv, NULL);
            double vMu = 0, uMv = 0, uMu = 0;
            for (int i = 0; i < n; i++) vMu += v[i] * Mu[i], uMv += u[i] * Mv[i], uMu += u[i] * Mu[i];
            CHECK_NEAR(vMu, uMv, 1e-12 * uMu);
            assert_true(uMu > 0);
        }
        tl_precond_free(P);
    }
    tl_free(u), tl_free(v), tl_free(Mu), tl_free(Mv), tl_free(add);
    tl_boxqp_case_free(&c);
}

/* Singular but consistent: both methods converge; indefinite: CR does. */
static void singular_and_indefinite(void **state)
{
    (void)state;
    int n = 200;
    tl_csr A;
    CHECK_OK(tl_csr_create(&A, n, n, 3 * n, &err));
    double *b = TL_NEW(double, n), *x = TL_NEW(double, n);
    for (int indefinite = 0; indefinite < 2; indefinite++) {
        int64_t at = 0;
        for (int i = 0; i < n; i++) { /* a ring of springs: constants are in the null space */
            int left = (i + n - 1) % n, right = (i + 1) % n;
            int c[3] = {left < i ? left : i, 0, 0};
            c[0] = left < right ? left : right;
            c[2] = left < right ? right : left;
            int row[3] = {c[0], i, c[2]};
            if (i == 0) row[0] = 0, row[1] = 1, row[2] = n - 1;
            if (i == n - 1) row[0] = 0, row[1] = n - 2, row[2] = n - 1;
            for (int k = 0; k < 3; k++) {
                A.col[at] = row[k];
                A.val[at++] = row[k] == i ? (indefinite ? 0.7 : 2) : -1;
            }
            A.start[i + 1] = at;
            b[i] = sin(0.1 + i * 6.283185307179586 / n * 3);
        }
        CHECK_OK(tl_csr_check(&A, &err));
        tl_linear_report r = solve(&A, b, "cr", "none", x);
        assert_int_equal(r.outcome.result, TL_CONVERGED);
        if (!indefinite) assert_int_equal(solve(&A, b, "cg", "none", x).outcome.result, TL_CONVERGED);
    }
    tl_free(b);
    tl_free(x);
    tl_csr_free(&A);
}

/* ---- two parts ---- */

typedef struct job {
    tl_split *split;
    const double *b;
    const char *method, *precond;
    tl_linear_report report[2];
} job;

static int solve_part(int part, void *user)
{
    job *j = user;
    const tl_space *s = tl_split_space(j->split, part);
    double *b = TL_NEW(double, s->n + s->halo), *x = TL_NEW_ZERO(double, s->n + s->halo);
    tl_split_scatter(j->split, j->b, part, b);
    tl_linear p = {s, tl_linop_csr(tl_split_csr(j->split, part)), b};
    tl_options o = tl_options_default();
    tl_arena a = {0};
    talus_error e;
    int bad = tl_precond_create(&o.precond, tl_precond_find(j->precond), p.A.csr, &e) ||
              tl_linear_solve(tl_linear_method_find(j->method), &p, &o, &(tl_stop){1e-9, 2000, 0}, x, &a,
                              &j->report[part], &e);
    tl_precond_free(o.precond);
    tl_arena_free(&a);
    tl_free(b);
    tl_free(x);
    return bad;
}

static void two_parts(void **state)
{
    (void)state;
    tl_boxqp_case c;
    CHECK_OK(tl_gen_wall_separation(&c, 16, 2, &err));
    job j = {.split = tl_split_create(&c.A, 2, 1), .b = c.b};
    for (int k = 0; k < tl_linear_method_count(); k++)
        for (int pre = 0; pre < tl_precond_count(); pre++) {
            j.method = tl_linear_method_at(k)->name;
            j.precond = tl_precond_at(pre)->name;
            assert_int_equal(tl_split_run(j.split, solve_part, &j), 0);
            for (int part = 0; part < 2; part++) {
                assert_int_equal(j.report[part].outcome.result, TL_CONVERGED);
                CHECK_LE(j.report[part].certificate.residual, 1e-9);
            }
        }
    tl_split_free(j.split);
    tl_boxqp_case_free(&c);
}

/* What is added to the diagonal afterwards is in the preconditioner as well. */
static void a_shift_counts(void **state)
{
    (void)state;
    enum { N = 4 };
    tl_csr A;
    laplacian(&A, N);
    double add[N * N * N], r[N * N * N], z[N * N * N];
    tl_precond *P;
    for (int i = 0; i < N * N * N; i++) add[i] = 0.5 * i, r[i] = 1 + i;
    CHECK_OK(tl_precond_create(&P, tl_precond_find("jacobi"), &A, &err));
    tl_precond_update(P, add, NULL);
    tl_precond_apply(P, A.rows, r, z, NULL);
    for (int i = 0; i < N * N * N; i++) CHECK_REL(z[i], (1 + i) / (6 + 0.5 * i), 1e-14);
    tl_precond_update(P, NULL, NULL);
    tl_precond_apply(P, A.rows, r, z, NULL);
    for (int i = 0; i < N * N * N; i++) CHECK_REL(z[i], (1 + i) / 6.0, 1e-14);
    tl_precond_free(P);
    tl_csr_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_agree),
        cmocka_unit_test(iteration_counts),
        cmocka_unit_test(exact_on_a_chain),
        cmocka_unit_test(shift_on_breakdown),
        cmocka_unit_test(symmetric_and_positive),
        cmocka_unit_test(singular_and_indefinite),
        cmocka_unit_test(one_sided_and_not_a_number),
        cmocka_unit_test(a_shift_counts),
        cmocka_unit_test(two_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
