/* The split space gives the global answers: products, dots, maxima, halos, and the same bits on a rerun. */
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/random.h"
#include "check.h"
#include "solve/linop.h"
#include "split.h"

/* Random sparse square matrix: `per_row` draws a row anywhere, diagonal always, columns rising. */
static void random_matrix(tl_csr *A, int32_t n, int per_row)
{
    A->rows = A->cols = n;
    A->start = TL_NEW(int64_t, n + 1);
    A->col = TL_NEW(int32_t, (int64_t)n * (per_row + 1));
    A->val = TL_NEW(double, (int64_t)n *(per_row + 1));
    int64_t at = 0;
    A->start[0] = 0;
    char *used = TL_NEW_ZERO(char, n);
    for (int32_t i = 0; i < n; i++) {
        used[i] = 1;
        for (int k = 0; k < per_row; k++) used[tl_random_bits(7, (uint64_t)i, (uint64_t)k) % (uint64_t)n] = 1;
        for (int32_t j = 0; j < n; j++)
            if (used[j]) {
                A->col[at] = j;
                A->val[at++] = tl_random_normal(8, (uint64_t)i, (uint64_t)j);
                used[j] = 0;
            }
        A->start[i + 1] = at;
    }
    tl_free(used);
}

static void free_matrix(tl_csr *A)
{
    tl_free(A->start);
    tl_free(A->col);
    tl_free(A->val);
}

typedef struct job {
    tl_split *split;
    const double *x, *y; /* global */
    double *Ax;          /* global, gathered */
    double dot, max;     /* as part 0 saw them */
    double several[3];
    int threads_seen;
} job;

static int use_space(int part, void *user)
{
    job *j = user;
    const tl_space *s = tl_split_space(j->split, part);
    tl_linop A = tl_linop_csr(tl_split_csr(j->split, part));
    int64_t size = s->n + s->halo;
    double *x = TL_NEW(double, size), *y = TL_NEW(double, size), *Ax = TL_NEW(double, size),
           *halo = TL_NEW(double, size);
    int wrong = 0;

    tl_split_scatter(j->split, j->x, part, x);
    tl_split_scatter(j->split, j->y, part, y);

    /* exchange fills a spoiled halo with what scatter would put there */
    memcpy(halo, x, sizeof(double) * (size_t)size);
    for (int64_t k = s->n; k < size; k++) halo[k] = NAN;
    if (s->exchange) s->exchange(s, halo);
    if (size && memcmp(halo, x, sizeof(double) * (size_t)size) != 0) wrong = 1;

    for (int64_t k = s->n; k < size; k++) x[k] = NAN;
    tl_linop_apply(&A, s, x, Ax, NULL);
    tl_split_gather(j->split, Ax, part, j->Ax);

    double dot = tl_space_dot(s, x, y), max = tl_space_max_abs(s, y);
    double several[3] = {1.0, part, (double)s->n};
    if (s->reduce) s->reduce(s, TL_REDUCE_SUM, 3, several);
    double nan = tl_space_max(s, part == 0 ? NAN : 1.0);
    if (nan == nan) wrong = 2;
    if (part == 0) {
        j->dot = dot;
        j->max = max;
        memcpy(j->several, several, sizeof several);
        j->threads_seen = tl_threads();
    }
    tl_free(x);
    tl_free(y);
    tl_free(Ax);
    tl_free(halo);
    return wrong;
}

static void check_split(int32_t n, int parts, int group)
{
    tl_csr A;
    random_matrix(&A, n, 5);
    double *x = TL_NEW(double, n), *y = TL_NEW(double, n), *Ax = TL_NEW(double, n), *got = TL_NEW(double, n);
    for (int32_t i = 0; i < n; i++) {
        x[i] = tl_random_normal(1, (uint64_t)i, 0);
        y[i] = tl_random_normal(2, (uint64_t)i, 0);
    }
    double dot = 0, max = 0, scale = 0;
    for (int32_t i = 0; i < n; i++) {
        Ax[i] = 0;
        for (int64_t k = A.start[i]; k < A.start[i + 1]; k++) Ax[i] += A.val[k] * x[A.col[k]];
        dot += x[i] * y[i];
        scale += fabs(x[i] * y[i]);
        max = fmax(max, fabs(y[i]));
    }

    tl_split *s = tl_split_create(&A, parts, group);
    assert_non_null(s);
    assert_int_equal(tl_split_parts(s), parts);
    int64_t owned = 0;
    for (int p = 0; p < parts; p++) {
        assert_int_equal(tl_split_begin(s, p), owned);
        assert_int_equal(owned % group, 0);
        owned += tl_split_space(s, p)->n;
        const tl_csr *L = tl_split_csr(s, p);
        for (int32_t i = 0; i < L->rows; i++)
            for (int64_t k = L->start[i] + 1; k < L->start[i + 1]; k++) assert_true(L->col[k] > L->col[k - 1]);
    }
    assert_int_equal(owned, n);

    uint64_t first = 0;
    for (int rerun = 0; rerun < 20; rerun++) {
        job j = {.split = s, .x = x, .y = y, .Ax = got};
        memset(got, 0, sizeof(double) * (size_t)n);
        assert_int_equal(tl_split_run(s, use_space, &j), 0);
        /* a row of 6 terms or a sum of n in another order: rounding only */
        for (int32_t i = 0; i < n; i++) CHECK_NEAR(got[i], Ax[i], 1e-14);
        CHECK_NEAR(j.dot, dot, 1e-15 * scale);
        CHECK_NEAR(j.max, max, 0);
        CHECK_NEAR(j.several[0], parts, 0);
        CHECK_NEAR(j.several[1], parts * (parts - 1) / 2, 0);
        CHECK_NEAR(j.several[2], n, 0);
        assert_int_equal(j.threads_seen, 1);
        uint64_t hash = tl_hash(tl_hash(TL_HASH_START, got, sizeof(double) * (size_t)n), &j.dot, sizeof j.dot);
        if (rerun == 0) first = hash;
        assert_true(hash == first);
    }
    tl_split_free(s);
    free_matrix(&A);
    tl_free(x);
    tl_free(y);
    tl_free(Ax);
    tl_free(got);
}

static void two_parts(void **state) { (void)state, check_split(601, 2, 1); }
static void three_parts_in_groups(void **state) { (void)state, check_split(200 * 5, 3, 5); }
static void more_parts_than_groups(void **state) { (void)state, check_split(2 * 3, 3, 3); }

static void one_part(void **state)
{
    (void)state;
    tl_csr A;
    random_matrix(&A, 50, 3);
    tl_split *s = tl_split_create(&A, 1, 1);
    assert_non_null(s);
    assert_int_equal(tl_split_space(s, 0)->n, 50);
    assert_int_equal(tl_split_space(s, 0)->halo, 0);
    assert_null(tl_split_space(s, 0)->reduce);
    tl_split_free(s);
    assert_null(tl_split_create(&A, 2, 3)); /* 3 does not divide 50 */
    free_matrix(&A);
}

static int answer_part(int part, void *user) { return part == 0 ? 0 : *(int *)user + part; }

static void answers_come_back(void **state)
{
    (void)state;
    tl_csr A;
    random_matrix(&A, 30, 3);
    tl_split *s = tl_split_create(&A, 3, 1);
    int base = 40;
    assert_int_equal(tl_split_run(s, answer_part, &base), 41);
    tl_split_free(s);
    free_matrix(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_parts), cmocka_unit_test(three_parts_in_groups), cmocka_unit_test(more_parts_than_groups),
        cmocka_unit_test(one_part),  cmocka_unit_test(answers_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
