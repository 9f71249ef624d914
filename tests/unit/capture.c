/* Problems to a file and back: the same bits for every kind, clean refusals for what cannot be captured. */
#include "io/capture.h"

#include <fcntl.h>
#include <float.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/random.h"
#include "check.h"
#include "io/hdf5_file.h"
#include "io/matrix_market.h"
#include "lab/bench/gen_chain.h"
#include "lab/bench/gen_contact.h"
#include "tempdir.h"

static talus_error err;
static char dir[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 64];

static int make_dir(void **state)
{
    (void)state;
    tl_tempdir_create(dir);
    snprintf(path, sizeof path, "%s/problem.h5", dir);
    return 0;
}
static int remove_dir(void **state)
{
    (void)state;
    tl_tempdir_remove(dir);
    return 0;
}

/* Every test leaves `path` or nothing: no temporary file stays behind. */
static void check_files(int expected) { assert_int_equal(tl_tempdir_files(dir), expected); }

static void same_bits(const double *a, const double *b, int64_t n)
{
    if (!a || !b) {
        assert_true(!a && !b);
        return;
    }
    if (n) assert_memory_equal(a, b, sizeof(double) * (size_t)n);
}

static void same_matrix(const tl_csr *a, const tl_csr *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->cols, b->cols);
    assert_memory_equal(a->start, b->start, sizeof(int64_t) * ((size_t)a->rows + 1));
    int64_t nonzeros = a->start[a->rows];
    if (nonzeros) assert_memory_equal(a->col, b->col, sizeof(int32_t) * (size_t)nonzeros);
    same_bits(a->val, b->val, nonzeros);
}

/* Symmetric pentadiagonal with random values of all magnitudes. */
static void random_band(tl_csr *A, int32_t n)
{
    CHECK_OK(tl_csr_create(A, n, n, 5 * (int64_t)n, &err));
    int64_t at = 0;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = i - 2; j <= i + 2; j++) {
            if (j < 0 || j >= n) continue;
            uint64_t lo = (uint64_t)(i < j ? i : j), gap = (uint64_t)(i < j ? j - i : i - j);
            A->col[at] = j;
            A->val[at++] = i == j ? 4 : tl_random_normal(11, lo, gap) * exp(20 * tl_random(12, lo, gap) - 10);
        }
        A->start[i + 1] = at;
    }
}

static double *random_vector(int64_t n, uint64_t seed)
{
    double *x = TL_NEW(double, n);
    for (int64_t i = 0; i < n; i++) x[i] = tl_random_normal(seed, (uint64_t)i, 0);
    return x;
}

static tl_captured *load(void)
{
    tl_captured *c = NULL;
    CHECK_OK(tl_capture_load(path, &c, &err));
    return c;
}

static void boxqp_round_trip(void **state)
{
    (void)state;
    const int32_t n = 100000; /* several chunks */
    tl_csr A;
    random_band(&A, n);
    tl_space s = tl_space_local(n);
    double *b = random_vector(n, 1), *lo = random_vector(n, 2), *hi = random_vector(n, 3), *diag = random_vector(n, 4);
    double *x0 = random_vector(n, 5), *solution = random_vector(n, 6);
    for (int32_t i = 0; i < n; i++) {
        lo[i] = i % 3 ? -fabs(lo[i]) : -INFINITY;
        hi[i] = i % 5 ? fabs(hi[i]) : INFINITY;
        diag[i] = fabs(diag[i]) + DBL_MIN;
    }
    b[0] = -0.0;
    b[1] = 4.9e-324; /* the smallest there is */
    b[2] = -DBL_MAX;
    tl_boxqp p = {.space = &s, .A = tl_linop_csr(&A), .b = b, .lo = lo, .hi = hi, .diag = diag};
    tl_capture_info info = {.note = "Stra\xc3\x9f"
                                    "e 7, step 12\nsecond line",
                            .tolerance = 1e-9,
                            .x0 = x0,
                            .solution = solution};
    CHECK_OK(tl_capture_boxqp(path, &p, &info, &err));
    check_files(1);

    tl_captured *c = load();
    assert_int_equal(c->kind, TL_KIND_BOXQP);
    assert_string_equal(tl_kind_name(c->kind), "boxqp");
    assert_int_equal(c->boxqp.space->n, n);
    assert_int_equal(c->boxqp.space->parts, 1);
    same_matrix(c->boxqp.A.csr, &A);
    same_bits(c->boxqp.b, b, n);
    same_bits(c->boxqp.lo, lo, n);
    same_bits(c->boxqp.hi, hi, n);
    same_bits(c->boxqp.diag, diag, n);
    same_bits(c->x0, x0, n);
    same_bits(c->solution, solution, n);
    CHECK_NEAR(c->tolerance, 1e-9, 0);
    assert_string_equal(c->note, info.note);
    assert_true(strlen(c->version) > 0);

    /* usable as it is */
    double *y = TL_NEW(double, n), *z = TL_NEW(double, n);
    tl_linop_apply(&p.A, &s, x0, y, NULL);
    tl_linop_apply(&c->boxqp.A, c->boxqp.space, x0, z, NULL);
    same_bits(y, z, n);
    tl_free(y);
    tl_free(z);
    tl_captured_free(c);

    /* without what is optional, over the old file */
    p.lo = p.hi = p.diag = NULL;
    CHECK_OK(tl_capture_boxqp(path, &p, NULL, &err));
    check_files(1);
    c = load();
    assert_null(c->boxqp.lo);
    assert_null(c->boxqp.hi);
    assert_null(c->boxqp.diag);
    assert_null(c->x0);
    assert_null(c->solution);
    assert_true(isnan(c->tolerance));
    assert_string_equal(c->note, "");
    tl_captured_free(c);

    tl_csr_free(&A);
    tl_free(b), tl_free(lo), tl_free(hi), tl_free(diag), tl_free(x0), tl_free(solution);
}

static void same_problem_same_file(void **state)
{
    (void)state;
    tl_csr A;
    random_band(&A, 50);
    tl_space s = tl_space_local(50);
    double *b = random_vector(50, 1), bytes[2][4096] = {{0}};
    tl_linear p = {&s, tl_linop_csr(&A), b};
    size_t size[2];
    for (int k = 0; k < 2; k++) {
        CHECK_OK(tl_capture_linear(path, &p, NULL, &err));
        FILE *f = fopen(path, "rb");
        size[k] = fread(bytes[k], 1, sizeof bytes[k], f);
        fclose(f);
        sleep(k == 0); /* no time stamp inside */
    }
    assert_true(size[0] > 1000 && size[0] == size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    tl_csr_free(&A);
    tl_free(b);
}

/* y = (2 on the diagonal, -1 beside it, and the corners) x, without rows */
static void ring(const tl_linop *A, const double *x, double *y)
{
    int64_t n = *(const int64_t *)A->ctx;
    for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i] - x[(i + 1) % n] - 0.5 * x[(i + n - 1) % n];
}

static void operators_without_rows(void **state)
{
    (void)state;
    int64_t n = 40;
    tl_space s = tl_space_local(n);
    double *b = random_vector(n, 1);
    tl_linear p = {&s, {.apply = ring, .ctx = &n}, b};
    CHECK_OK(tl_capture_linear(path, &p, NULL, &err));
    tl_captured *c = load();
    assert_int_equal(c->A.start[n], 3 * n);
    double *x = random_vector(n, 2), *y = TL_NEW(double, n), *z = TL_NEW(double, n);
    tl_linop_apply(&p.A, &s, x, y, NULL);
    tl_linop_apply(&c->linear.A, &c->space, x, z, NULL);
    for (int64_t i = 0; i < n; i++) CHECK_NEAR(z[i], y[i], 1e-15);
    tl_captured_free(c);
    tl_free(x), tl_free(y), tl_free(z), tl_free(b);

    n = TL_CAPTURE_PROBE_MAX + 1;
    s = tl_space_local(n);
    p.b = b = random_vector(n, 1);
    assert_int_equal(tl_capture_linear(path, &p, NULL, &err), TALUS_UNSUPPORTED);
    assert_non_null(strstr(err.message, "20001"));
    tl_free(b);
}

static void cone_round_trip(void **state)
{
    (void)state;
    const int32_t groups = 12;
    for (int32_t size = 1; size <= TL_CONE_MAX; size++) {
        int32_t n = groups * size;
        tl_csr A;
        random_band(&A, n);
        tl_space s = tl_space_local(n);
        double *b = random_vector(n, 1), *radius = random_vector(groups, 2), *bound = random_vector(groups, 3);
        for (int32_t g = 0; g < groups; g++) {
            radius[g] = g == 3 ? 0 : fabs(radius[g]);
            bound[g] = 100 + fabs(bound[g]);
        }
        tl_cone p = {.space = &s, .A = tl_linop_csr(&A), .b = b, .radius = radius, .size = size};
        if (size == 5)
            tl_cone_stress_form(p.Q);
        else
            tl_cone_identity(size, p.Q);
        if (size % 2) p.bound = bound;
        CHECK_OK(tl_capture_cone(path, &p, NULL, &err));
        tl_captured *c = load();
        assert_int_equal(c->kind, TL_KIND_CONE);
        assert_int_equal(c->cone.size, size);
        same_matrix(c->cone.A.csr, &A);
        same_bits(c->cone.b, b, n);
        same_bits(c->cone.radius, radius, groups);
        same_bits(c->cone.bound, p.bound, groups);
        same_bits(c->cone.Q, p.Q, (int64_t)size * size);
        tl_captured_free(c);
        tl_csr_free(&A);
        tl_free(b), tl_free(radius), tl_free(bound);
    }
}

static void contact_round_trip(void **state)
{
    (void)state;
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_wall(&g, 3, 4, 10, 0.6, &err));
    int64_t n = g.space.n;
    double *lam = random_vector(n, 1);
    tl_arena arena = {0};
    tl_contact_certificate before, after;
    CHECK_OK(tl_contact_certify(&g.problem, lam, &before, &arena, &err));
    for (int with_bodies = 0; with_bodies < 2; with_bodies++) {
        tl_contact p = g.problem;
        if (!with_bodies) p.bodies = NULL;
        CHECK_OK(tl_capture_contact(path, &p, &(tl_capture_info){.tolerance = 1e-8, .solution = lam}, &err));
        tl_captured *c = load();
        assert_int_equal(c->kind, TL_KIND_CONTACT);
        same_matrix(c->contact.W.csr, &g.data.W);
        same_bits(c->contact.blocks, g.data.blocks, 3 * n);
        same_bits(c->contact.q, g.data.q, n);
        same_bits(c->contact.mu, g.mu, n / 3);
        same_bits(c->solution, lam, n);
        assert_true((c->contact.bodies != NULL) == with_bodies);
        CHECK_OK(tl_contact_certify(&c->contact, lam, &after, &arena, &err));
        CHECK_NEAR(after.residual, before.residual, 0);
        if (with_bodies) {
            same_matrix(c->contact.bodies->J, &g.J);
            CHECK_NEAR(after.balance, before.balance, 0);
        }
        tl_captured_free(c);
    }
    tl_arena_free(&arena);
    tl_free(lam);
    tl_gen_contact_free(&g);
}

static void empty_problem(void **state)
{
    (void)state;
    int64_t start[1] = {0};
    tl_csr A = {0, 0, start, NULL, NULL};
    tl_space s = tl_space_local(0);
    double none[1] = {0};
    tl_linear p = {&s, tl_linop_csr(&A), none};
    CHECK_OK(tl_capture_linear(path, &p, NULL, &err));
    tl_captured *c = load();
    assert_int_equal(c->space.n, 0);
    tl_captured_free(c);
}

static void refusals(void **state)
{
    (void)state;
    tl_csr A;
    random_band(&A, 20);
    tl_space s = tl_space_local(20);
    double *b = random_vector(20, 1), *lo = random_vector(20, 2), *hi = random_vector(20, 3);
    tl_boxqp p = {.space = &s, .A = tl_linop_csr(&A), .b = b};
    CHECK_OK(tl_capture_boxqp(path, &p, NULL, &err)); /* an old file that must survive what follows */

    b[7] = NAN;
    assert_int_equal(tl_capture_boxqp(path, &p, NULL, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "b[7] is"));
    b[7] = 1;
    for (int i = 0; i < 20; i++) {
        lo[i] = 0;
        hi[i] = i == 4 ? -1 : 1;
    }
    p.lo = lo, p.hi = hi;
    assert_int_equal(tl_capture_boxqp(path, &p, NULL, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "unknown 4"));
    p.lo = p.hi = NULL;

    double kept = A.val[10];
    A.val[10] = INFINITY;
    assert_int_equal(tl_capture_boxqp(path, &p, NULL, &err), TALUS_BAD_INPUT);
    A.val[10] = kept;

    s.parts = 2;
    assert_int_equal(tl_capture_boxqp(path, &p, NULL, &err), TALUS_UNSUPPORTED);
    s.parts = 1;

    char note[TL_CAPTURE_NOTE_MAX + 2];
    memset(note, 'x', sizeof note - 1);
    note[sizeof note - 1] = '\0';
    assert_int_equal(tl_capture_boxqp(path, &p, &(tl_capture_info){.note = note, .tolerance = NAN}, &err),
                     TALUS_BAD_INPUT);
    note[TL_CAPTURE_NOTE_MAX] = '\0';

    s.n = 19;
    assert_int_equal(tl_capture_boxqp(path, &p, NULL, &err), TALUS_BAD_INPUT);
    s.n = 20;
    check_files(1);
    tl_captured *c = load();
    assert_string_equal(c->note, "");
    tl_captured_free(c);

    CHECK_OK(tl_capture_boxqp(path, &p, &(tl_capture_info){.note = note, .tolerance = NAN}, &err));
    c = load();
    assert_string_equal(c->note, note);
    tl_captured_free(c);

    char nowhere[TL_TEMPDIR_MAX + 64];
    snprintf(nowhere, sizeof nowhere, "%s/no/such/folder.h5", dir);
    assert_int_equal(tl_capture_boxqp(nowhere, &p, NULL, &err), TALUS_IO);
    assert_non_null(strstr(err.message, "No such file"));
    assert_int_equal(tl_capture_load(nowhere, &c, &err), TALUS_IO);
    assert_null(c);
    assert_int_equal(tl_capture_load(dir, &c, &err), TALUS_IO);

    check_files(1);
    tl_csr_free(&A);
    tl_free(b), tl_free(lo), tl_free(hi);
}

/* HDF5 prints its error stack by default; a library must not. */
static void failures_print_nothing(void **state)
{
    (void)state;
    char log[TL_TEMPDIR_MAX + 64];
    snprintf(log, sizeof log, "%s/stderr.txt", dir);
    FILE *f = fopen(path, "w");
    fputs("this is not HDF5", f);
    fclose(f);

    fflush(stderr);
    int before = dup(2), to = open(log, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    dup2(to, 2);
    tl_captured *c;
    talus_status status = tl_capture_load(path, &c, &err);
    fflush(stderr);
    int64_t printed = lseek(to, 0, SEEK_END);
    dup2(before, 2);
    close(before);
    close(to);
    unlink(log);
    assert_int_equal(status, TALUS_IO);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(printed, 0);
}

/* ---- Matrix Market ---- */

/* Past the banner and the comments; the banner is in `line`. */
static FILE *open_text(const char *name, char line[128])
{
    FILE *f = fopen(name, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, 128, f));
    for (int c; (c = getc(f)) == '%' || (ungetc(c, f), 0);)
        while (getc(f) != '\n') {
        }
    return f;
}
static tl_csr read_matrix(const char *name)
{
    char line[128];
    FILE *f = open_text(name, line);
    bool symmetric = strstr(line, "symmetric");
    int rows, cols, stored, count = 0;
    assert_int_equal(fscanf(f, "%d %d %d", &rows, &cols, &stored), 3);
    int32_t *at = TL_NEW(int32_t, 4 * stored), *row = at, *col = at + 2 * stored;
    double *val = TL_NEW(double, 2 * stored);
    for (int k = 0; k < stored; k++, count++) {
        assert_int_equal(fscanf(f, "%d %d %lf", &row[count], &col[count], &val[count]), 3);
        row[count]--, col[count]--;
        if (!symmetric || row[count] == col[count]) continue;
        row[count + 1] = col[count], col[count + 1] = row[count], val[count + 1] = val[count];
        count++;
    }
    fclose(f);
    tl_csr A;
    CHECK_OK(tl_csr_from_triplets(&A, rows, cols, count, row, col, val, &err));
    tl_free(at);
    tl_free(val);
    return A;
}
static double *read_vector(const char *name, int64_t *n)
{
    char line[128];
    FILE *f = open_text(name, line);
    int rows;
    assert_int_equal(fscanf(f, "%d 1", &rows), 1);
    double *x = TL_NEW(double, rows);
    for (int i = 0; i < rows; i++) assert_int_equal(fscanf(f, "%lf", &x[i]), 1);
    fclose(f);
    *n = rows;
    return x;
}

static void matrix_market_round_trip(void **state)
{
    (void)state;
    tl_csr A, B;
    random_band(&A, 200);
    for (int symmetric = 1; symmetric >= 0; symmetric--) {
        if (!symmetric) A.val[3] += 1;
        CHECK_OK(tl_mm_write_csr(path, &A, "first\nsecond", &err));
        FILE *f = fopen(path, "r");
        char line[128];
        assert_non_null(fgets(line, sizeof line, f));
        assert_non_null(strstr(line, symmetric ? "symmetric" : "general"));
        assert_non_null(fgets(line, sizeof line, f));
        assert_string_equal(line, "% first\n");
        fclose(f);
        B = read_matrix(path);
        same_matrix(&A, &B);
        tl_csr_free(&B);
    }
    tl_csr_free(&A);

    double x[5] = {-0.0, INFINITY, -INFINITY, 0.1, 4.9e-324}, *y;
    int64_t n;
    CHECK_OK(tl_mm_write_vector(path, 5, x, NULL, &err));
    y = read_vector(path, &n);
    assert_int_equal(n, 5);
    same_bits(x, y, 5);
    tl_free(y);
}

static void export_of_a_capture(void **state)
{
    (void)state;
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_wall(&g, 2, 2, 1, 0.6, &err));
    CHECK_OK(tl_capture_contact(path, &g.problem, NULL, &err));
    tl_captured *c = load();
    char prefix[TL_TEMPDIR_MAX + 8], name[TL_TEMPDIR_MAX + 32];
    snprintf(prefix, sizeof prefix, "%s/wall", dir);
    CHECK_OK(tl_captured_export(c, prefix, &err));
    check_files(1 + 2 + 6); /* A, J; blocks, q, mu, inv_mass, inv_inertia, v_free */

    tl_csr W;
    snprintf(name, sizeof name, "%s-A.mtx", prefix);
    W = read_matrix(name);
    same_matrix(&W, &g.data.W);
    tl_csr_free(&W);
    double *q;
    int64_t n;
    snprintf(name, sizeof name, "%s-q.mtx", prefix);
    q = read_vector(name, &n);
    assert_int_equal(n, g.space.n);
    same_bits(q, g.data.q, n);
    tl_free(q);
    tl_captured_free(c);
    tl_gen_contact_free(&g);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)
    const struct CMUnitTest tests[] = {
        EACH(boxqp_round_trip),
        EACH(same_problem_same_file),
        EACH(operators_without_rows),
        EACH(cone_round_trip),
        EACH(contact_round_trip),
        EACH(empty_problem),
        EACH(refusals),
        EACH(failures_print_nothing),
        EACH(matrix_market_round_trip),
        EACH(export_of_a_capture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
