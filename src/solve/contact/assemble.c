#include <string.h>

#include "base/alloc.h"
#include "solve/contact/problem.h"

/* J by blocks: each contact's bodies in rising order, a dense 3x6 per (contact, body), and for each
 * moving body the contacts that touch it. Fixed bodies are left out: they add nothing to W. */
typedef struct blocked {
    int64_t *start;      /* [m + 1] into body, block */
    int32_t *body;       /* [pairs] */
    double *block;       /* [pairs][18] J_cb, row by row */
    int64_t *user_start; /* [bodies + 1] into user */
    int64_t *user;       /* [pairs] indices of pairs, rising contact */
    int32_t *contact;    /* [pairs] contact of a pair */
} blocked;

static void blocked_free(blocked *b)
{
    tl_free(b->start);
    tl_free(b->body);
    tl_free(b->block);
    tl_free(b->user_start);
    tl_free(b->user);
    tl_free(b->contact);
}

static int is_fixed(const tl_contact_bodies *bodies, int32_t i)
{
    if (bodies->inv_mass[i] > 0) return 0;
    for (int k = 0; k < 9; k++)
        if (bodies->inv_inertia[9 * (int64_t)i + k] != 0) return 0;
    return 1;
}

/* Visits the three rows of contact c in column order; returns its next moving body, or -1. */
static int32_t next_body(const tl_contact_bodies *bodies, int32_t c, int64_t at[3])
{
    const tl_csr *J = bodies->J;
    for (;;) {
        int32_t body = INT32_MAX;
        for (int r = 0; r < 3; r++)
            if (at[r] < J->start[3 * (int64_t)c + r + 1] && J->col[at[r]] / 6 < body) body = J->col[at[r]] / 6;
        if (body == INT32_MAX) return -1;
        if (!is_fixed(bodies, body)) return body;
        for (int r = 0; r < 3; r++)
            while (at[r] < J->start[3 * (int64_t)c + r + 1] && J->col[at[r]] / 6 == body) at[r]++;
    }
}

static int64_t gather_pairs(const tl_contact_bodies *bodies, int32_t m, blocked *out)
{
    const tl_csr *J = bodies->J;
    int64_t pairs = 0;
    for (int32_t c = 0; c < m; c++) {
        int64_t at[3] = {J->start[3 * (int64_t)c], J->start[3 * (int64_t)c + 1], J->start[3 * (int64_t)c + 2]};
        int32_t body;
        while ((body = next_body(bodies, c, at)) >= 0) {
            double block[18] = {0};
            for (int r = 0; r < 3; r++)
                for (; at[r] < J->start[3 * (int64_t)c + r + 1] && J->col[at[r]] / 6 == body; at[r]++)
                    block[6 * r + J->col[at[r]] % 6] = J->val[at[r]];
            if (out->body) {
                out->body[pairs] = body;
                out->contact[pairs] = c;
                memcpy(out->block + 18 * pairs, block, sizeof block);
            }
            pairs++;
        }
        if (out->body) out->start[c + 1] = pairs;
    }
    return pairs;
}

static talus_status block_rows(blocked *b, const tl_contact_bodies *bodies, int32_t m, talus_error *err)
{
    int64_t pairs = gather_pairs(bodies, m, b);
    b->start = TL_NEW_ZERO(int64_t, m + 1);
    b->body = TL_NEW(int32_t, pairs);
    b->block = TL_NEW(double, 18 * pairs);
    b->contact = TL_NEW(int32_t, pairs);
    b->user_start = TL_NEW_ZERO(int64_t, bodies->count + 1);
    b->user = TL_NEW(int64_t, pairs);
    if (!b->start || !b->body || !b->block || !b->contact || !b->user_start || !b->user)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d contacts of %d bodies", (int)m, (int)bodies->count);
    gather_pairs(bodies, m, b);

    /* pairs by body; filling backwards through the counts keeps contacts rising */
    for (int64_t k = 0; k < pairs; k++) b->user_start[b->body[k] + 1]++;
    for (int32_t i = 0; i < bodies->count; i++) b->user_start[i + 1] += b->user_start[i];
    for (int64_t k = pairs - 1; k >= 0; k--) {
        int64_t *end = &b->user_start[b->body[k] + 1];
        b->user[--*end] = k;
    }
    /* the fill left each body's begin one place too far on */
    for (int32_t i = 0; i < bodies->count; i++) b->user_start[i] = b->user_start[i + 1];
    b->user_start[bodies->count] = pairs;
    return TALUS_OK;
}

/* K[3][3] += J_c M^-1 J_d^T of one body. */
static void add_product(const tl_contact_bodies *bodies, int32_t body, const double *Jc, const double *Jd, double *K)
{
    double im = bodies->inv_mass[body];
    const double *I = bodies->inv_inertia + 9 * (int64_t)body;
    for (int j = 0; j < 3; j++) {
        const double *d = Jd + 6 * j;
        double y[6] = {im * d[0], im * d[1], im * d[2]};
        for (int k = 0; k < 3; k++) y[3 + k] = I[3 * k] * d[3] + I[3 * k + 1] * d[4] + I[3 * k + 2] * d[5];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 6; k++) K[3 * i + j] += Jc[6 * i + k] * y[k];
    }
}

/* The block (c, d), always computed with the smaller contact first so that W is exactly symmetric. */
static void couple(const tl_contact_bodies *bodies, const blocked *b, int32_t c, int32_t d, double *K)
{
    int32_t lo = c < d ? c : d, hi = c < d ? d : c;
    double U[9] = {0};
    for (int64_t i = b->start[lo]; i < b->start[lo + 1]; i++)
        for (int64_t j = b->start[hi]; j < b->start[hi + 1]; j++)
            if (b->body[i] == b->body[j]) add_product(bodies, b->body[i], b->block + 18 * i, b->block + 18 * j, U);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            if (c == d)
                K[3 * i + j] = i <= j ? U[3 * i + j] : U[3 * j + i];
            else
                K[3 * i + j] = c < d ? U[3 * i + j] : U[3 * j + i];
        }
}

/* Contacts that share a moving body with c, rising, itself included even when all its bodies are fixed. */
static int64_t neighbours(const blocked *b, int32_t c, int32_t *list, int32_t *mark)
{
    int64_t count = 0;
    list[count++] = c;
    mark[c] = c + 1;
    for (int64_t i = b->start[c]; i < b->start[c + 1]; i++)
        for (int64_t k = b->user_start[b->body[i]]; k < b->user_start[b->body[i] + 1]; k++) {
            int32_t d = b->contact[b->user[k]];
            if (mark[d] == c + 1) continue;
            mark[d] = c + 1;
            int64_t at = count++;
            for (; at > 0 && list[at - 1] > d; at--) list[at] = list[at - 1];
            list[at] = d;
        }
    return count;
}

static talus_status fill(tl_contact_assembled *out, const tl_contact_bodies *bodies, const blocked *b, int32_t m,
                         int32_t *list, int32_t *mark, talus_error *err)
{
    int64_t blocks = 0;
    for (int32_t c = 0; c < m; c++) blocks += neighbours(b, c, list, mark);
    TL_TRY(tl_csr_create(&out->W, 3 * m, 3 * m, 9 * blocks, err));
    memset(mark, 0, sizeof *mark * (size_t)m);

    int64_t *start = out->W.start;
    for (int32_t c = 0; c < m; c++) {
        int64_t count = neighbours(b, c, list, mark), at = start[3 * (int64_t)c];
        for (int r = 0; r < 3; r++) start[3 * (int64_t)c + r + 1] = at + 3 * count * (r + 1);
        for (int64_t k = 0; k < count; k++) {
            double K[9];
            couple(bodies, b, c, list[k], K);
            for (int r = 0; r < 3; r++)
                for (int j = 0; j < 3; j++) {
                    int64_t to = start[3 * (int64_t)c + r] + 3 * k + j;
                    out->W.col[to] = 3 * list[k] + j;
                    out->W.val[to] = K[3 * r + j];
                }
            if (list[k] == c) memcpy(out->blocks + 9 * (int64_t)c, K, sizeof K);
        }
    }
    return TALUS_OK;
}

static talus_status assemble(tl_contact_assembled *out, blocked *b, int32_t **scratch, const tl_contact_bodies *bodies,
                             const double *bias, talus_error *err)
{
    const tl_csr *J = bodies->J;
    int32_t m = J->rows / 3;
    TL_TRY(block_rows(b, bodies, m, err));
    out->blocks = TL_NEW(double, 9 * (int64_t)m);
    out->q = TL_NEW(double, 3 * (int64_t)m);
    *scratch = TL_NEW_ZERO(int32_t, 2 * (int64_t)m);
    if (!out->blocks || !out->q || !*scratch) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d contacts", (int)m);
    TL_TRY(fill(out, bodies, b, m, *scratch, *scratch + m, err));
    tl_contact_free_velocity(bodies, bias, out->q);
    return TALUS_OK;
}

talus_status tl_contact_assemble(tl_contact_assembled *out, const tl_contact_bodies *bodies, const double *bias,
                                 talus_error *err)
{
    const tl_csr *J = bodies->J;
    *out = (tl_contact_assembled){0};
    if (J->rows % 3 != 0 || J->cols != 6 * (int64_t)bodies->count)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "J must have 3 rows per contact and 6 columns per body, got %d x %d for %d bodies", (int)J->rows,
                       (int)J->cols, (int)bodies->count);
    blocked b = {0};
    int32_t *scratch = NULL;
    talus_status status = assemble(out, &b, &scratch, bodies, bias, err);
    blocked_free(&b);
    tl_free(scratch);
    if (status != TALUS_OK) tl_contact_assembled_free(out);
    return status;
}

void tl_contact_assembled_free(tl_contact_assembled *c)
{
    tl_csr_free(&c->W);
    tl_free(c->blocks);
    tl_free(c->q);
    *c = (tl_contact_assembled){0};
}
