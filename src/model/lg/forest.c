#include "model/lg/forest.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define SHARE 8 /* subtrees are cut until none has more than this part of the work */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the factor of elastic bodies");
}

/* ---- blocks of the factors, in the order of nodes ---- */

typedef struct raw {
    int32_t first, width, rows, parent, body; /* global nodes */
    int64_t work, subtree;                    /* numbers stored, of it and of all below */
    int32_t bin;                              /* -1: above */
} raw;

typedef struct making {
    tl_csr *Lt; /* [bodies] columns of L */
    raw *block; /* [n] at most */
    int32_t count;
    int32_t *of;    /* [n] node -> block */
    int32_t *order; /* [count] new -> raw */
} making;

static bool same_tail(const tl_csr *Lt, int32_t j)
{
    int64_t a = Lt->start[j], b = Lt->start[j + 1], count = b - a, next = Lt->start[j + 2] - b;
    return count == next + 1 && !memcmp(Lt->col + a + 1, Lt->col + b, sizeof(int32_t) * (size_t)next);
}

static void find_blocks(making *m, const tl_lg *lg)
{
    for (int b = 0; b < lg->bodies; b++) {
        const tl_csr *Lt = &m->Lt[b];
        int32_t first = lg->body[b].node;
        for (int32_t j = 0; j < Lt->rows;) {
            int32_t end = j + 1;
            while (end < Lt->rows && same_tail(Lt, end - 1)) end++;
            int32_t width = end - j, parts = (width + WIDTH - 1) / WIDTH;
            for (int32_t p = 0; p < parts; p++) { /* even parts */
                int32_t from = j + (int32_t)((int64_t)width * p / parts),
                        to = j + (int32_t)((int64_t)width * (p + 1) / parts);
                int32_t rows = (int32_t)(Lt->start[to] - Lt->start[to - 1]) - 1;
                raw *r = &m->block[m->count];
                *r = (raw){first + from, to - from, rows, -1, b, 0, 0, -1};
                r->work = (int64_t)r->width * r->width / 2 + (int64_t)r->width * ((rows + 7) / 8 * 8) + 64;
                for (int32_t k = from; k < to; k++) m->of[first + k] = m->count;
                m->count++;
            }
            j = end;
        }
    }
    for (int32_t k = 0; k < m->count; k++) {
        raw *r = &m->block[k];
        const tl_csr *Lt = &m->Lt[r->body];
        int32_t last = r->first - lg->body[r->body].node + r->width - 1;
        if (r->rows) r->parent = m->of[lg->body[r->body].node + Lt->col[Lt->start[last] + 1]];
    }
    for (int32_t k = 0; k < m->count; k++) {
        raw *r = &m->block[k];
        r->subtree += r->work;
        if (r->parent >= 0) m->block[r->parent].subtree += r->subtree;
    }
}

/* Largest subtrees of at most a share of the work get bins, the rest is above. Parents come after children, so one
 * pass from the end decides from the roots down. */
static talus_status share_out(making *m, talus_error *err)
{
    int64_t total = 0, load[BINS] = {0};
    for (int32_t k = 0; k < m->count; k++) total += m->block[k].work;
    int32_t *root = TL_NEW(int32_t, m->count + 1), roots = 0;
    if (!root) return no_memory(err);
    for (int32_t k = m->count; k-- > 0;) {
        raw *r = &m->block[k];
        bool below_top = r->parent < 0 || m->block[r->parent].bin == -1;
        if (!below_top)
            r->bin = -2; /* inside of a subtree: its root's */
        else if (r->subtree <= total / SHARE)
            r->bin = -3, root[roots++] = k;
    }
    /* largest first into the emptiest bin */
    for (int32_t i = 1; i < roots; i++) {
        int32_t k = root[i], j = i;
        for (; j > 0 && m->block[root[j - 1]].subtree < m->block[k].subtree; j--) root[j] = root[j - 1];
        root[j] = k;
    }
    for (int32_t i = 0; i < roots; i++) {
        int best = 0;
        for (int b = 1; b < BINS; b++)
            if (load[b] < load[best]) best = b;
        m->block[root[i]].bin = best;
        load[best] += m->block[root[i]].subtree;
    }
    for (int32_t k = m->count; k-- > 0;)
        if (m->block[k].bin == -2) m->block[k].bin = m->block[m->block[k].parent].bin;
    tl_free(root);
    return TALUS_OK;
}

/* ---- in the forest's order ---- */

static talus_status number_blocks(tl_lg_solver *s, making *m, talus_error *err)
{
    layer *f = &s->L;
    int32_t *rank = TL_NEW(int32_t, m->count + 1);
    f->n = s->lg->nodes;
    f->blocks = m->count;
    f->block = TL_NEW_ZERO(block, m->count + 1);
    f->bin = TL_NEW_ZERO(int32_t, BINS + 1);
    f->crown = TL_NEW_ZERO(int32_t, s->lg->bodies + 1);
    f->place = TL_NEW(int32_t, f->n + 1);
    s->block_of = TL_NEW(int32_t, f->n + 1);
    if (!rank || !f->block || !f->bin || !f->crown || !f->place || !s->block_of) {
        tl_free(rank);
        return no_memory(err);
    }
    int32_t done = 0, row = 0;
    f->bins = BINS;
    for (int bin = 0; bin <= BINS; bin++) {
        int want = bin == BINS ? -1 : bin, body = -1;
        if (bin == BINS) f->first_top = row;
        for (int32_t k = 0; k < m->count; k++) {
            const raw *r = &m->block[k];
            if (r->bin != want) continue;
            if (bin == BINS && r->body != body) {
                body = r->body;
                f->crown[f->crowns++] = done;
            }
            m->order[done] = k;
            rank[k] = done;
            f->block[done] = (block){.first = row, .width = r->width, .rows = r->rows, .body = r->body};
            f->block[done].column = r->first - s->lg->body[r->body].node;
            for (int32_t j = 0; j < r->width; j++) {
                f->place[r->first + j] = row + j;
                s->block_of[row + j] = done;
            }
            row += r->width;
            done++;
        }
        if (bin < BINS) f->bin[bin + 1] = done;
    }
    f->crown[f->crowns] = done;
    for (int32_t k = 0; k < done; k++) {
        int32_t parent = m->block[m->order[k]].parent;
        f->block[k].parent = parent < 0 ? -1 : rank[parent];
    }
    tl_free(rank);
    return TALUS_OK;
}

static int64_t tri_numbers(int32_t w)
{
    int64_t count = 0;
    for (int32_t p = 0; 8 * p < w; p++) count += 8 * (8 * p + 8 < w ? 8 * p + 8 : w);
    return count;
}

static void place_values(layer *f, block *b)
{
    int64_t panels = (b->rows + 7) / 8;
    b->tri = f->tri;
    b->panel = f->panel;
    f->tri += tri_numbers(b->width);
    f->panel += 8 * panels * b->width;
    size_t buffer = ROUND(24 * panels + 24);
    f->buffer = buffer > f->buffer ? buffer : f->buffer;
}

static talus_status add_run(layer *f, int64_t *room, block *b, int32_t first, int32_t count, talus_error *err)
{
    run *last = b->runs ? &f->run[f->runs - 1] : NULL;
    if (last && last->first + last->count == first && first != f->first_top) {
        last->count += count;
        return TALUS_OK;
    }
    if (f->runs == *room) {
        *room = 2 * *room + 64;
        run *fresh = tl_realloc(f->run, sizeof *fresh * (size_t)*room);
        if (!fresh) return no_memory(err);
        f->run = fresh;
    }
    if (!b->runs) b->run = (int32_t)f->runs;
    f->run[f->runs++] = (run){first, count};
    b->runs++;
    return TALUS_OK;
}

static talus_status make_rows(tl_lg_solver *s, const making *m, talus_error *err)
{
    layer *f = &s->L;
    int64_t room = 0;
    for (int32_t k = 0; k < f->blocks; k++) {
        block *b = &f->block[k];
        const tl_csr *Lt = &m->Lt[b->body];
        const int32_t *row = Lt->col + Lt->start[b->column + b->width - 1] + 1;
        for (int32_t i = 0; i < b->rows; i++)
            TL_TRY(add_run(f, &room, b, f->place[s->lg->body[b->body].node + row[i]], 1, err));
        place_values(f, b);
    }
    return TALUS_OK;
}

static talus_status take_values(layer *f, int precisions, talus_error *err)
{
    if (precisions & TL_LG_DOUBLE) {
        f->tri_double = TL_NEW_ZERO(double, f->tri + 8);
        f->panel_double = TL_NEW_ZERO(double, f->panel + 8);
        if (!f->tri_double || !f->panel_double) return no_memory(err);
    }
    if (precisions & TL_LG_FLOAT) {
        f->tri_float = TL_NEW_ZERO(float, f->tri + 8);
        f->panel_float = TL_NEW_ZERO(float, f->panel + 8);
        if (!f->tri_float || !f->panel_float) return no_memory(err);
    }
    return TALUS_OK;
}

/* Nonzeros of L^-1: depths of all nodes in the elimination tree, which follows from the pattern of A [Liu86]. */
static talus_status count_inverse(tl_lg_solver *s, talus_error *err)
{
    int32_t *parent = TL_NEW(int32_t, 3 * (int64_t)s->lg->nodes + 1), *root = parent + s->lg->nodes,
            *depth = root + s->lg->nodes;
    if (!parent) return no_memory(err);
    s->nonzeros_S = 0;
    for (int b = 0; b < s->lg->bodies; b++) {
        const tl_csr *A = &s->lg->pattern[b];
        for (int32_t i = 0; i < A->rows; i++) {
            parent[i] = root[i] = -1;
            for (int64_t k = A->start[i]; k < A->start[i + 1] && A->col[k] < i; k++)
                for (int32_t j = A->col[k], next; j >= 0 && j < i;
                     j = next) { /* up to the top, which becomes i's child */
                    next = root[j];
                    root[j] = i;
                    if (next < 0) parent[j] = i;
                }
        }
        for (int32_t i = A->rows; i-- > 0;) {
            depth[i] = parent[i] < 0 ? 1 : depth[parent[i]] + 1;
            s->nonzeros_S += depth[i];
        }
    }
    tl_free(parent);
    return TALUS_OK;
}

static talus_status make(tl_lg_solver *s, making *m, talus_error *err)
{
    const tl_lg *lg = s->lg;
    m->Lt = TL_NEW_ZERO(tl_csr, lg->bodies + 1);
    m->block = TL_NEW(raw, lg->nodes + 1);
    m->of = TL_NEW(int32_t, lg->nodes + 1);
    m->order = TL_NEW(int32_t, lg->nodes + 1);
    if (!m->Lt || !m->block || !m->of || !m->order) return no_memory(err);
    for (int b = 0; b < lg->bodies; b++) TL_TRY(tl_factor_lower(s->factor[b], &m->Lt[b], NULL, err));
    find_blocks(m, lg);
    TL_TRY(share_out(m, err));
    TL_TRY(number_blocks(s, m, err));
    TL_TRY(make_rows(s, m, err));
    return take_values(&s->L, s->precisions | TL_LG_DOUBLE, err);
}

static talus_status take_work(tl_lg_solver *s, talus_error *err)
{
    const layer *f = s->method == TL_LG_INVERSE ? &s->S : &s->L;
    size_t larger = s->L.buffer > f->buffer ? s->L.buffer : f->buffer;
    size_t room =
        6 * ROUND(f->n) + 3 * ROUND(f->n - f->first_top) * BINS + larger * (size_t)(BINS + f->crowns + 1) + 64;
    s->work_double = TL_NEW(double, room);
    if (!s->work_double) return no_memory(err);
    if (!(s->precisions & TL_LG_FLOAT)) return TALUS_OK;
    s->work_float = TL_NEW(float, room);
    return s->work_float ? TALUS_OK : no_memory(err);
}

talus_status tl_forest_make(tl_lg_solver *s, talus_error *err)
{
    making m = {0};
    talus_status status = make(s, &m, err);
    for (int b = 0; b < s->lg->bodies && m.Lt; b++) tl_csr_free(&m.Lt[b]);
    tl_free(m.Lt);
    tl_free(m.block);
    tl_free(m.of);
    tl_free(m.order);
    if (status == TALUS_OK && s->method == TL_LG_INVERSE) status = tl_forest_invert_make(s, err);
    if (status == TALUS_OK) status = take_work(s, err);
    if (status == TALUS_OK) status = count_inverse(s, err);
    if (status != TALUS_OK) tl_forest_free(s);
    return status;
}

/* ---- the inverse's blocks: rows are the whole path to the root ---- */

talus_status tl_forest_invert_make(tl_lg_solver *s, talus_error *err)
{
    const layer *from = &s->L;
    layer *f = &s->S;
    *f = *from;
    f->inverse = true;
    f->tri = f->panel = f->runs = 0;
    f->buffer = 0;
    f->run = NULL;
    f->tri_double = f->panel_double = NULL;
    f->tri_float = f->panel_float = NULL;
    f->block = TL_NEW(block, from->blocks + 1);
    if (!f->block) return no_memory(err);
    int64_t room = 0;
    for (int32_t k = 0; k < f->blocks; k++) {
        block *b = &f->block[k];
        *b = from->block[k];
        b->rows = b->run = b->runs = 0;
        for (int32_t p = b->parent; p >= 0; p = from->block[p].parent) {
            TL_TRY(add_run(f, &room, b, from->block[p].first, from->block[p].width, err));
            b->rows += from->block[p].width;
        }
        place_values(f, b);
    }
    return take_values(f, s->precisions, err);
}

/* ---- values ---- */

/* T = inverse of the lower triangle D [w][WIDTH], in panels. */
static void put_inverse(int32_t w, double D[WIDTH][WIDTH], double *T)
{
    double X[WIDTH][WIDTH] = {{0}};
    for (int32_t j = 0; j < w; j++) {
        X[j][j] = 1 / D[j][j];
        for (int32_t i = j + 1; i < w; i++) {
            double sum = 0;
            for (int32_t k = j; k < i; k++) sum += D[i][k] * X[k][j];
            X[i][j] = -sum / D[i][i];
        }
    }
    for (int32_t p = 0; 8 * p < w; p++) {
        int32_t columns = 8 * p + 8 < w ? 8 * p + 8 : w;
        for (int32_t j = 0; j < columns; j++)
            for (int32_t l = 0; l < 8; l++) T[8 * j + l] = 8 * p + l < w ? X[8 * p + l][j] : 0;
        T += 8 * columns;
    }
}

static void fill_block(const layer *f, const block *b, const tl_csr *Lt)
{
    double D[WIDTH][WIDTH];
    double *panel = f->panel_double + b->panel;
    for (int32_t j = 0; j < b->width; j++) {
        const double *column = Lt->val + Lt->start[b->column + j];
        for (int32_t i = j; i < b->width; i++) D[i][j] = column[i - j];
        column += b->width - j;
        for (int32_t i = 0; i < b->rows; i++)
            panel[(size_t)8 * (size_t)b->width * (size_t)(i / 8) + (size_t)(8 * j + i % 8)] = column[i];
    }
    put_inverse(b->width, D, f->tri_double + b->tri);
}

static void to_float(int64_t n, const double *from, float *to)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) to[i] = (float)from[i];
}

talus_status tl_forest_fill(tl_lg_solver *s, talus_error *err)
{
    layer *f = &s->L;
    int32_t bodies = s->lg->bodies;
    tl_csr *Lt = TL_NEW_ZERO(tl_csr, bodies + 1);
    talus_status status = Lt ? TALUS_OK : no_memory(err);
    for (int b = 0; b < bodies && status == TALUS_OK; b++) status = tl_factor_lower(s->factor[b], &Lt[b], NULL, err);
    if (status == TALUS_OK) {
#pragma omp parallel for schedule(static)
        for (int32_t k = 0; k < f->blocks; k++) fill_block(f, &f->block[k], &Lt[f->block[k].body]);
        if (f->tri_float) {
            to_float(f->tri, f->tri_double, f->tri_float);
            to_float(f->panel, f->panel_double, f->panel_float);
        }
    }
    for (int b = 0; b < bodies && Lt; b++) tl_csr_free(&Lt[b]);
    tl_free(Lt);
    return status;
}

void tl_forest_free(tl_lg_solver *s)
{
    layer *const both[2] = {&s->L, &s->S};
    for (int k = 0; k < 2; k++) {
        tl_free(both[k]->block);
        tl_free(both[k]->run);
        tl_free(both[k]->tri_double);
        tl_free(both[k]->panel_double);
        tl_free(both[k]->tri_float);
        tl_free(both[k]->panel_float);
    }
    tl_free(s->L.bin);
    tl_free(s->L.crown);
    tl_free(s->L.place);
    tl_free(s->block_of);
    tl_free(s->work_double);
    tl_free(s->work_float);
    s->L = s->S = (layer){0};
    s->block_of = NULL;
    s->work_double = NULL;
    s->work_float = NULL;
}
