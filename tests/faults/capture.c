/* Damaged, hostile and half-written capture files, and memory that runs out: a clean status, nothing
 * left behind, never a wrong problem that looks right. */
#include "io/capture.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "check.h"
#include "io/hdf5_file.h"
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

/* ---- damage ---- */

static unsigned char *read_bytes(size_t *size)
{
    FILE *f = fopen(path, "rb");
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *bytes = TL_NEW(unsigned char, *size);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

static void write_bytes(const unsigned char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static bool same(const tl_captured *c, const tl_gen_contact *g)
{
    size_t n = (size_t)g->space.n, nonzeros = (size_t)g->data.W.start[n];
    return c->kind == TL_KIND_CONTACT && c->space.n == g->space.n && c->contact.bodies &&
           c->bodies.count == g->bodies.count && !memcmp(c->A.start, g->data.W.start, sizeof(int64_t) * (n + 1)) &&
           !memcmp(c->A.col, g->data.W.col, sizeof(int32_t) * nonzeros) &&
           !memcmp(c->A.val, g->data.W.val, sizeof(double) * nonzeros) &&
           !memcmp(c->contact.q, g->data.q, sizeof(double) * n) &&
           !memcmp(c->contact.mu, g->mu, sizeof(double) * n / 3) &&
           !memcmp(c->contact.blocks, g->data.blocks, sizeof(double) * 3 * n) &&
           !memcmp(c->bodies.v_free, g->v_free, sizeof(double) * 6 * (size_t)g->bodies.count) &&
           !strcmp(c->note, "a note that is long enough to be hit") && c->tolerance == 1e-8;
}

/* Load what is in `path`: refused with a message, or all of it right. Returns whether it was refused. */
static int refused_or_right(const tl_gen_contact *g, const char *what, size_t where)
{
    tl_captured *c = NULL;
    int64_t live = tl_alloc_read().live_blocks;
    err.message[0] = '\0';
    talus_status status = tl_capture_load(path, &c, &err);
    if (status == TALUS_OK) {
        if (!same(c, g)) fail_msg("%s at %zu: accepted, but it is another problem", what, where);
        tl_captured_free(c);
    } else {
        if (c || !err.message[0]) fail_msg("%s at %zu: status %d without a message", what, where, (int)status);
        if (status == TALUS_NO_MEMORY) fail_msg("%s at %zu: asked for too much: %s", what, where, err.message);
    }
    if (tl_alloc_read().live_blocks != live) fail_msg("%s at %zu: memory was lost", what, where);
    return status != TALUS_OK;
}

static void damaged_files(void **state)
{
    (void)state;
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_wall(&g, 2, 1, 1, 0.6, &err));
    tl_capture_info info = {.note = "a note that is long enough to be hit", .tolerance = 1e-8};
    CHECK_OK(tl_capture_contact(path, &g.problem, &info, &err));
    size_t size;
    unsigned char *good = read_bytes(&size), *bad = TL_NEW(unsigned char, size + 1000);
    assert_int_equal(refused_or_right(&g, "undamaged", 0), 0);

    /* cut short anywhere */
    int refused = 0, tried = 0;
    for (size_t cut = 0; cut < size; cut += cut < 1200 ? 7 : 97, tried++) {
        write_bytes(good, cut);
        refused += refused_or_right(&g, "cut", cut);
    }
    assert_int_equal(refused, tried);

    /* one bit flipped */
    refused = tried = 0;
    for (size_t at = 0; at < size; at += at < 3000 ? 3 : 31, tried++) {
        memcpy(bad, good, size);
        bad[at] ^= (unsigned char)(1u << (tl_random_bits(1, at, 0) % 8));
        write_bytes(bad, size);
        refused += refused_or_right(&g, "flip", at);
    }
    assert_int_equal(refused, tried);

    /* a stretch zeroed, overwritten or moved; junk behind the end */
    for (uint64_t k = 0; k < 400; k++) {
        size_t at = tl_random_bits(2, k, 0) % size, length = 1 + tl_random_bits(2, k, 1) % 200;
        if (at + length > size) length = size - at;
        memcpy(bad, good, size);
        for (size_t i = 0; i < length; i++)
            bad[at + i] = k % 3 == 0   ? 0
                          : k % 3 == 1 ? (unsigned char)tl_random_bits(3, k, i)
                                       : good[(at + i + 8) % size];
        write_bytes(bad, size);
        refused_or_right(&g, "stretch", at);
    }
    memset(bad, 0x5a, size + 1000);
    memcpy(bad, good, size);
    write_bytes(bad, size + 1000);
    assert_int_equal(refused_or_right(&g, "longer", size), 1);

    /* without its seal it is a plain HDF5 file: accepted, and damage to numbers is still noticed. (Damage
     * to HDF5's own structures is noticed too, but makes HDF5 1.10.8 print when the program ends.) */
    const size_t seal = 512;
    write_bytes(good + seal, size - seal);
    assert_int_equal(refused_or_right(&g, "unsealed", 0), 0);
    unsigned char mu[64]; /* eight times 0.6, shuffled: the lowest bytes first */
    memset(mu, 0x33, 48), memset(mu + 48, 0xe3, 8), memset(mu + 56, 0x3f, 8);
    size_t at = seal;
    while (at + 64 <= size && memcmp(good + at, mu, 64) != 0) at++;
    assert_true(at + 64 <= size);
    for (size_t k = 0; k < 64; k += 7) {
        memcpy(bad, good, size);
        bad[at + k] ^= 1;
        write_bytes(bad + seal, size - seal);
        assert_int_equal(refused_or_right(&g, "unsealed flip", at + k), 1);
        assert_non_null(strstr(err.message, "array mu"));
    }

    tl_free(good);
    tl_free(bad);
    tl_gen_contact_free(&g);
}

/* ---- well-formed HDF5 that says something impossible ---- */

typedef struct content {
    const char *format, *kind;
    int64_t version;
    int64_t start[4], starts;
    int32_t col[4];
    int64_t cols;
    double val[4];
    int64_t vals;
    double b[4];
    int64_t bs;
    tl_h5_type start_type;
    const char *without; /* an array that is left out */
} content;

static const content sound = {.format = "talus problem",
                              .kind = "linear",
                              .version = 1,
                              .start = {0, 1, 3, 4},
                              .starts = 4,
                              .col = {0, 0, 2, 1},
                              .cols = 4,
                              .val = {1, 2, 3, 4},
                              .vals = 4,
                              .b = {1, 2, 3},
                              .bs = 3,
                              .start_type = TL_H5_INT64,
                              .without = ""};

static void write_content(const content *c)
{
    tl_h5 *f;
    CHECK_OK(tl_h5_create(&f, path, &err));
    CHECK_OK(tl_h5_put_text(f, "format", c->format, &err));
    CHECK_OK(tl_h5_put_int(f, "version", c->version, &err));
    CHECK_OK(tl_h5_put_text(f, "kind", c->kind, &err));
    if (strcmp(c->without, "A/start"))
        CHECK_OK(tl_h5_put_array(f, "A/start", c->start_type, c->starts, c->start, &err));
    if (strcmp(c->without, "A/col")) CHECK_OK(tl_h5_put_array(f, "A/col", TL_H5_INT32, c->cols, c->col, &err));
    if (strcmp(c->without, "A/val")) CHECK_OK(tl_h5_put_array(f, "A/val", TL_H5_DOUBLE, c->vals, c->val, &err));
    if (strcmp(c->without, "b")) CHECK_OK(tl_h5_put_array(f, "b", TL_H5_DOUBLE, c->bs, c->b, &err));
    CHECK_OK(tl_h5_commit(f, &err));
}

static void expect(const content *c, talus_status status, const char *words)
{
    tl_captured *got = NULL;
    write_content(c);
    talus_status s = tl_capture_load(path, &got, &err);
    if (s != status || (s && (!strstr(err.message, words) || !strstr(err.message, path))))
        fail_msg("expected status %d and \"%s\", got %d and \"%s\"", (int)status, words, (int)s, err.message);
    tl_captured_free(got);
}

static void impossible_contents(void **state)
{
    (void)state;
    content c;
#define CASE(change, status, words) c = sound, change, expect(&c, status, words)
    CASE(c.b[0] = 1, TALUS_OK, "");
    CASE(c.format = "talus checkpoint", TALUS_BAD_INPUT, "talus checkpoint");
    CASE(c.format = "a format name that is longer than any of ours", TALUS_BAD_INPUT, "format");
    CASE(c.version = 2, TALUS_UNSUPPORTED, "version 2");
    CASE(c.kind = "flux", TALUS_UNSUPPORTED, "flux");
    CASE(c.kind = "flex", TALUS_BAD_INPUT, "mu is missing");
    CASE(c.kind = "fixedpoint", TALUS_IO, "contacts");
    CASE(c.kind = "pressure", TALUS_IO, "red");
    CASE(c.without = "A/start", TALUS_BAD_INPUT, "A/start is missing");
    CASE(c.without = "A/col", TALUS_BAD_INPUT, "A/col is missing");
    CASE(c.without = "A/val", TALUS_BAD_INPUT, "A/val is missing");
    CASE(c.without = "b", TALUS_BAD_INPUT, "b is missing");
    CASE(c.start[0] = 1, TALUS_BAD_INPUT, "begins at offset 1");
    CASE(c.start[0] = -1, TALUS_BAD_INPUT, "offset 0 is -1");
    CASE(c.start[1] = INT64_MAX, TALUS_BAD_INPUT, "offset 1 is");
    CASE(c.start[1] = INT64_MIN, TALUS_BAD_INPUT, "offset 1 is");
    CASE(c.start[2] = 0, TALUS_BAD_INPUT, "row 1");
    CASE(c.start[3] = 3, TALUS_BAD_INPUT, "offset 3 is 3");
    CASE(c.starts = 0, TALUS_BAD_INPUT, "0 row offsets");
    CASE(c.starts = 3, TALUS_BAD_INPUT, "offset 2 is 3");
    CASE(c.start_type = TL_H5_DOUBLE, TALUS_BAD_INPUT, "64-bit integers");
    CASE(c.col[2] = 3, TALUS_BAD_INPUT, "column 3");
    CASE(c.col[2] = -1, TALUS_BAD_INPUT, "column -1");
    CASE(c.col[2] = 0, TALUS_BAD_INPUT, "column 0 after column 0");
    CASE(c.cols = 3, TALUS_BAD_INPUT, "3 columns for 4 values");
    CASE(c.val[1] = NAN, TALUS_BAD_INPUT, "nan");
    CASE(c.b[2] = INFINITY, TALUS_BAD_INPUT, "b[2]");
    CASE(c.bs = 2, TALUS_BAD_INPUT, "2 entries, expected 3");
    CASE(c.bs = 4, TALUS_BAD_INPUT, "4 entries, expected 3");
    CASE(c.kind = "cone", TALUS_IO, "group_size");
    CASE(c.kind = "contact", TALUS_BAD_INPUT, "blocks is missing");
#undef CASE
}

static void impossible_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *array;
        int64_t count;
        double value; /* of every entry of that array */
        int64_t group_size;
        const char *words;
    } cases[] = {
        {"boxqp", "lo", 3, INFINITY, 0, "bounds"},   {"boxqp", "lo", 3, NAN, 0, "bounds"},
        {"boxqp", "hi", 3, -INFINITY, 0, "bounds"},  {"boxqp", "hi", 2, 1, 0, "array hi has 2"},
        {"boxqp", "diag", 3, 0, 0, "diag[0]"},       {"boxqp", "diag", 3, NAN, 0, "diag[0]"},
        {"boxqp", "x0", 3, NAN, 0, "x0[0]"},         {"boxqp", "solution", 4, 1, 0, "array solution has 4"},
        {"cone", "radius", 3, 1, 0, "group_size 0"}, {"cone", "radius", 3, 1, 6, "group_size 6"},
        {"cone", "radius", 3, 1, -1, "group_size"},  {"cone", "radius", 3, 1, 2, "group_size 2"},
        {"cone", "radius", 1, -1, 3, "Q"},           {"cone", "radius", 2, 1, 1, "array radius has 2"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double data[4] = {cases[k].value, cases[k].value, cases[k].value, cases[k].value};
        tl_h5 *f;
        CHECK_OK(tl_h5_create(&f, path, &err));
        CHECK_OK(tl_h5_put_text(f, "format", "talus problem", &err));
        CHECK_OK(tl_h5_put_int(f, "version", 1, &err));
        CHECK_OK(tl_h5_put_text(f, "kind", cases[k].kind, &err));
        CHECK_OK(tl_h5_put_int(f, "group_size", cases[k].group_size, &err));
        CHECK_OK(tl_h5_put_array(f, "A/start", TL_H5_INT64, 4, sound.start, &err));
        CHECK_OK(tl_h5_put_array(f, "A/col", TL_H5_INT32, 4, sound.col, &err));
        CHECK_OK(tl_h5_put_array(f, "A/val", TL_H5_DOUBLE, 4, sound.val, &err));
        CHECK_OK(tl_h5_put_array(f, "b", TL_H5_DOUBLE, 3, sound.b, &err));
        CHECK_OK(tl_h5_put_array(f, cases[k].array, TL_H5_DOUBLE, cases[k].count, data, &err));
        CHECK_OK(tl_h5_commit(f, &err));
        tl_captured *c = NULL;
        talus_status s = tl_capture_load(path, &c, &err);
        if (s != TALUS_BAD_INPUT || c || !strstr(err.message, cases[k].words))
            fail_msg("case %zu: status %d, \"%s\"", k, (int)s, err.message);
    }
}

/* ---- kind "flex" ---- */

/* A part of two unknowns and one of one, with roots; a free body and one that is fixed; a contact and rows of a joint. */
typedef struct soft {
    tl_csr H[2], R[2], J, Jt;
    double mass[3], g[3], c[6], mu[2], inv_mass[2], inv_inertia[18], lam[6], dv[15];
    tl_contact_box box;
    tl_flex_part part[2];
    tl_flex problem;
} soft;

static void soft_make(soft *s)
{
    static const int32_t row[] = {0, 0, 1, 1}, col[] = {0, 1, 0, 1};
    static const double upper[] = {4, -1, -1, 3}, one[] = {5};
    static const int32_t at[] = {0, 1, 2, 3, 4, 5, 1, 4}, to[] = {0, 1, 2, 2, 3, 8, 3, 2};
    static const double entry[] = {1, -1, 2, 1, 1, 0.5, 1, 0.25};
    *s = (soft){.mass = {1, 2, 3}, .g = {0.1, -0.2, 0.3}, .c = {-1, 0.5, 0, 0.1, 0.2, 0.3}, .mu = {0.4, -1}};
    s->inv_mass[0] = 0.5;
    for (int k = 0; k < 3; k++) s->inv_inertia[4 * k] = 2 + k;
    for (int k = 0; k < 6; k++) s->lam[k] = 0.25 * k;
    for (int k = 0; k < 15; k++) s->dv[k] = 1.0 / (k + 1);
    CHECK_OK(tl_csr_from_triplets(&s->H[0], 2, 2, 4, row, col, upper, &err));
    CHECK_OK(tl_csr_from_triplets(&s->H[1], 1, 1, 1, row, col, one, &err));
    CHECK_OK(tl_csr_from_triplets(&s->R[0], 2, 2, 2, row, col, upper, &err));
    CHECK_OK(tl_csr_from_triplets(&s->R[1], 1, 1, 1, row, col, one, &err));
    CHECK_OK(tl_csr_from_triplets(&s->J, 6, 15, 8, at, to, entry, &err));
    CHECK_OK(tl_csr_transpose(&s->Jt, &s->J, &err));
    s->box = (tl_contact_box){.lo = {-1, -INFINITY, 0}, .hi = {1, INFINITY, 0}, .give = {0, 1e-3, 0}};
    s->part[0] = (tl_flex_part){.first = 0, .H = &s->H[0], .mass = s->mass, .roots = &s->R[0]};
    s->part[1] = (tl_flex_part){.first = 2, .H = &s->H[1], .mass = s->mass + 2, .roots = &s->R[1]};
    s->problem = (tl_flex){.parts = 2,
                           .part = s->part,
                           .n = 3,
                           .rigid = 2,
                           .inv_mass = s->inv_mass,
                           .inv_inertia = s->inv_inertia,
                           .contacts = 2,
                           .J = &s->J,
                           .Jt = &s->Jt,
                           .mu = s->mu,
                           .boxes = 1,
                           .box = &s->box,
                           .g = s->g,
                           .c = s->c,
                           .law = TL_FLEX_PYRAMID};
}

static void soft_free(soft *s)
{
    for (int k = 0; k < 2; k++) tl_csr_free(&s->H[k]), tl_csr_free(&s->R[k]);
    tl_csr_free(&s->J);
    tl_csr_free(&s->Jt);
}

static void same_csr(const tl_csr *a, const tl_csr *b)
{
    assert_true(a->rows == b->rows && a->cols == b->cols);
    assert_memory_equal(a->start, b->start, sizeof *a->start * ((size_t)a->rows + 1));
    assert_memory_equal(a->col, b->col, sizeof *a->col * (size_t)a->start[a->rows]);
    assert_memory_equal(a->val, b->val, sizeof *a->val * (size_t)a->start[a->rows]);
}

static void soft_round_trip(void **state)
{
    (void)state;
    soft s;
    soft_make(&s);
    double x[21];
    memcpy(x, s.lam, sizeof s.lam);
    memcpy(x + 6, s.dv, sizeof s.dv);
    s.H[0].val[1] = 99; /* beyond the diagonal: nobody reads it */
    CHECK_OK(tl_capture_flex(path, &s.problem, &(tl_capture_info){.tolerance = 1e-8, .solution = x}, &err));
    s.H[0].val[1] = -1;
    tl_captured *c;
    CHECK_OK(tl_capture_load(path, &c, &err));
    const tl_flex *p = &c->flex;
    assert_true(c->kind == TL_KIND_FLEX && p->parts == 2 && p->n == 3 && p->rigid == 2 && p->contacts == 2 &&
                p->boxes == 1);
    assert_true(p->law == TL_FLEX_PYRAMID && p->part[1].first == 2 && c->space.n == 21);
    for (int k = 0; k < 2; k++) {
        same_csr(p->part[k].H, &s.H[k]);
        same_csr(p->part[k].roots, &s.R[k]);
    }
    same_csr(p->J, &s.J);
    same_csr(p->Jt, &s.Jt);
    assert_memory_equal(p->part[0].mass, s.mass, sizeof s.mass);
    assert_memory_equal(p->g, s.g, sizeof s.g);
    assert_memory_equal(p->c, s.c, sizeof s.c);
    assert_memory_equal(p->mu, s.mu, sizeof s.mu);
    assert_memory_equal(p->inv_mass, s.inv_mass, sizeof s.inv_mass);
    assert_memory_equal(p->inv_inertia, s.inv_inertia, sizeof s.inv_inertia);
    assert_memory_equal(p->box, &s.box, sizeof s.box);
    assert_memory_equal(c->solution, x, sizeof x);
    tl_captured_free(c);
    soft_free(&s);
}

/* One number that is wrong: refused with its name. */
static void impossible_soft(void **state)
{
    (void)state;
    soft s;
#define WRONG(change, words)                                                                                           \
    do {                                                                                                               \
        soft_make(&s);                                                                                                 \
        change;                                                                                                        \
        talus_status status = tl_capture_flex(path, &s.problem, NULL, &err);                                           \
        tl_captured *c = NULL;                                                                                         \
        if (status == TALUS_OK) status = tl_capture_load(path, &c, &err);                                              \
        if (status != TALUS_BAD_INPUT || c || !strstr(err.message, words))                                             \
            fail_msg("expected \"%s\", got %d and \"%s\"", words, (int)status, err.message);                           \
        soft_free(&s);                                                                                                 \
    } while (0)
    WRONG(s.H[0].val[0] = 0, "no positive diagonal in row 0");
    WRONG(s.H[0].val[2] = NAN, "nan");
    WRONG(s.mass[2] = 0, "mass[2] is 0");
    WRONG(s.part[1].first = 1, "not symmetric");
    WRONG(s.mu[0] = -0.1, "mu[0] is -0.1");
    WRONG(s.inv_mass[0] = -1, "inv_mass[0]");
    WRONG(s.inv_mass[0] = 0, "J has entries of body 0, which is fixed");
    WRONG(s.inv_inertia[3] = INFINITY, "inv_inertia[3]");
    WRONG(s.c[5] = NAN, "c[5]");
    WRONG(s.g[0] = NAN, "g[0]");
    WRONG(s.box.lo[0] = 2, "row 0 of joints has bounds [2, 1]");
    WRONG(s.box.give[1] = -1, "gives -1");
    WRONG(s.problem.law = (tl_flex_law)3, "law 3");
#undef WRONG
}

/* ---- the k-th allocation fails ---- */

typedef struct task {
    const tl_gen_contact *g;
    const soft *s;
    char text[TL_TEMPDIR_MAX + 64];
} task;

static talus_status generate(task *t)
{
    (void)t;
    tl_gen_contact g;
    talus_status s = tl_gen_contact_wall(&g, 2, 2, 1, 0.6, &err);
    tl_gen_contact_free(&g);
    return s;
}
static talus_status save_soft(task *t) { return tl_capture_flex(path, &t->s->problem, NULL, &err); }
static talus_status save(task *t) { return tl_capture_contact(path, &t->g->problem, NULL, &err); }

static void slow_product(const tl_linop *A, const double *x, double *y) { tl_csr_mul(A->ctx, x, y); }
static talus_status save_probed(task *t)
{
    tl_contact p = t->g->problem;
    p.W = (tl_linop){.apply = slow_product, .ctx = &t->g->data.W};
    return tl_capture_contact(path, &p, NULL, &err);
}
static talus_status load(task *t)
{
    (void)t;
    tl_captured *c;
    talus_status s = tl_capture_load(path, &c, &err);
    tl_captured_free(c);
    return s;
}
static talus_status export_text(task *t)
{
    tl_captured *c;
    talus_status s = tl_capture_load(path, &c, &err);
    if (s == TALUS_OK) s = tl_captured_export(c, t->text, &err);
    tl_captured_free(c);
    return s;
}

static void memory_runs_out(void **state)
{
    (void)state;
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_wall(&g, 2, 2, 1, 0.6, &err));
    soft body;
    soft_make(&body);
    task t = {.g = &g, .s = &body};
    snprintf(t.text, sizeof t.text, "%s/text", dir);
    CHECK_OK(save(&t));
    talus_status (*const work[])(task *) = {generate,    save,      save_probed, load,
                                            export_text, save_soft, load,        export_text};
    for (size_t w = 0; w < sizeof work / sizeof work[0]; w++) {
        CHECK_OK(work[w](&t));
        int files = tl_tempdir_files(dir), failures = 0;
        int64_t live = tl_alloc_read().live_blocks;
        for (int64_t k = 1;; k++) {
            tl_alloc_fail_at(k);
            talus_status s = work[w](&t);
            int delivered = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            assert_int_equal(tl_alloc_read().live_blocks, live);
            assert_int_equal(tl_tempdir_files(dir), files);
            if (!delivered) {
                assert_int_equal(s, TALUS_OK);
                break;
            }
            failures++;
            if (s != TALUS_NO_MEMORY)
                fail_msg("task %zu, allocation %d: status %d, %s", w, (int)k, (int)s, err.message);
        }
        assert_true(failures >= 2);
        CHECK_OK(load(&t)); /* the file is still whole */
    }
    soft_free(&body);
    tl_gen_contact_free(&g);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)
    const struct CMUnitTest tests[] = {
        EACH(damaged_files),   EACH(impossible_contents), EACH(impossible_kinds),
        EACH(soft_round_trip), EACH(impossible_soft),     EACH(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
