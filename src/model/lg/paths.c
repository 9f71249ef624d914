/* From single nodes up to the roots: columns of L^-1 have entries on the path only [Zeng2025 theorem 1]. */
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "model/lg/forest.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the inverse factor of elastic bodies");
}

/* Work of one thread. */
typedef struct path {
    double *Y;       /* [rows of the path][WIDTH]: columns of L^-1 of one block */
    int64_t *offset; /* [blocks] first row of a block on the path */
} path;

static int32_t path_rows(const layer *f, int32_t k)
{
    int32_t rows = 0;
    for (int32_t p = k; p >= 0; p = f->block[p].parent) rows += f->block[p].width;
    return rows;
}

static int32_t longest_path(const layer *f)
{
    int32_t max = 0;
    for (int32_t k = 0; k < f->blocks; k++) {
        int32_t rows = path_rows(f, k);
        max = rows > max ? rows : max;
    }
    return max;
}

/* y[i] -= sum_j P[i][j] Y[j] for the rows of block b; w columns, in eights: those beyond are zero. */
static void take_away(const tl_lg_solver *s, const block *b, const path *t, const double *Y, int32_t w)
{
    const layer *f = &s->L;
    int32_t k = 0;
    for (const run *at = f->run + b->run, *end = at + b->runs; at < end; at++)
        for (int32_t i = 0; i < at->count; i++, k++) {
            int32_t row = at->first + i, owner = s->block_of[row];
            double *y = t->Y + (t->offset[owner] + row - f->block[owner].first) * WIDTH;
            const double *P = f->panel_double + b->panel + (size_t)8 * (size_t)b->width * (size_t)(k / 8) + k % 8;
            for (int32_t c = 0; c < w; c += 8) {
                double sum[8] = {0};
                for (int32_t j = 0; j < b->width; j++)
                    for (int l = 0; l < 8; l++) sum[l] += P[8 * j] * Y[j * WIDTH + c + l];
                for (int l = 0; l < 8; l++) y[c + l] -= sum[l];
            }
        }
}

/* Rows of a block: Y = T Y, from the last row up, as T is lower triangular. */
static void times_inverse(const layer *f, const block *b, double *Y, int32_t w)
{
    const double *T = f->tri_double + b->tri;
    const double *panel[WIDTH / 8];
    for (int32_t p = 0; 8 * p < b->width; p++) {
        panel[p] = T;
        T += 8 * (8 * p + 8 < b->width ? 8 * p + 8 : b->width);
    }
    for (int32_t i = b->width; i-- > 0;) {
        for (int32_t c = 0; c < w; c += 8) {
            double sum[8] = {0};
            for (int32_t j = 0; j <= i; j++)
                for (int l = 0; l < 8; l++) sum[l] += panel[i / 8][8 * j + i % 8] * Y[j * WIDTH + c + l];
            memcpy(Y + i * WIDTH + c, sum, sizeof sum);
        }
    }
}

/* Columns of L^-1 that begin in block k, [path rows][WIDTH]. */
static void climb(const tl_lg_solver *s, int32_t k, const path *t)
{
    const layer *f = &s->L;
    int32_t w = f->block[k].width;
    int64_t rows = 0;
    for (int32_t p = k; p >= 0; p = f->block[p].parent) {
        t->offset[p] = rows;
        rows += f->block[p].width;
    }
    memset(t->Y, 0, sizeof(double) * WIDTH * (size_t)rows);
    for (int32_t j = 0; j < w; j++) t->Y[j * WIDTH + j] = 1;
    for (int32_t p = k; p >= 0; p = f->block[p].parent) {
        double *Y = t->Y + t->offset[p] * WIDTH;
        times_inverse(f, &f->block[p], Y, w);
        take_away(s, &f->block[p], t, Y, w);
    }
}

/* ---- for every block ---- */

static void keep_columns(tl_lg_solver *s, int32_t k, const path *t)
{
    layer *f = &s->S;
    const block *b = &f->block[k], *own = &s->L.block[k];
    int64_t numbers = (k + 1 < f->blocks ? f->block[k + 1].tri : f->tri) - b->tri;
    for (int64_t i = 0; i < numbers; i++) {
        if (f->tri_double) f->tri_double[b->tri + i] = s->L.tri_double[own->tri + i];
        if (f->tri_float) f->tri_float[b->tri + i] = (float)s->L.tri_double[own->tri + i];
    }
    const double *Y = t->Y + (size_t)b->width * WIDTH;
    for (int32_t i = 0; i < b->rows; i++)
        for (int32_t j = 0; j < b->width; j++) {
            int64_t at = b->panel + 8 * (int64_t)b->width * (i / 8) + 8 * j + i % 8;
            if (f->panel_double) f->panel_double[at] = Y[i * WIDTH + j];
            if (f->panel_float) f->panel_float[at] = (float)Y[i * WIDTH + j];
        }
}

static void square_columns(tl_lg_solver *s, int32_t k, const path *t)
{
    const block *b = &s->L.block[k];
    int32_t rows = path_rows(&s->L, k);
    double *out = s->diagonal + s->lg->body[b->body].node + b->column;
    for (int32_t j = 0; j < b->width; j++) {
        double sum = 0;
        for (int32_t i = rows; i-- > 0;) sum += t->Y[(int64_t)i * WIDTH + j] * t->Y[(int64_t)i * WIDTH + j];
        out[j] = sum;
    }
}

static talus_status for_every_block(tl_lg_solver *s, void (*use)(tl_lg_solver *, int32_t, const path *),
                                    talus_error *err)
{
    int threads = tl_threads();
    int64_t rows = longest_path(&s->L), blocks = s->L.blocks;
    double *Y = TL_NEW(double, rows *WIDTH *threads);
    int64_t *offset = TL_NEW(int64_t, blocks * threads);
    if (Y && offset) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; t++)
            for (int32_t k = t; k < blocks; k += threads) {
                path mine = {Y + rows * WIDTH * t, offset + blocks * t};
                climb(s, k, &mine);
                use(s, k, &mine);
            }
    }
    bool done = Y && offset;
    tl_free(Y);
    tl_free(offset);
    return done ? TALUS_OK : no_memory(err);
}

talus_status tl_forest_invert(tl_lg_solver *s, talus_error *err) { return for_every_block(s, keep_columns, err); }

talus_status tl_lg_solver_diagonal(tl_lg_solver *s, const double **diagonal, talus_error *err)
{
    if (s->method == TL_LG_JACOBI)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "method \"jacobi\" has no factor: the diagonal of the inverse is not known");
    if (!s->diagonal) s->diagonal = TL_NEW(double, s->lg->nodes + 1);
    if (!s->diagonal) return no_memory(err);
    if (!s->diagonal_known) TL_TRY(for_every_block(s, square_columns, err));
    s->diagonal_known = true;
    *diagonal = s->diagonal;
    return TALUS_OK;
}

/* ---- compliance of points ---- */

/* L^-1 of one point: blocks it reaches, in rising order, and their values one after the other. */
typedef struct column {
    int32_t blocks, *block;
    double *value;
} column;

static int32_t reach(const tl_lg_solver *s, const tl_lg_point *p, int32_t *mark, int32_t stamp, int32_t *out)
{
    const layer *f = &s->L;
    int32_t count = 0;
    for (int k = 0; k < 4 && p->node[k] >= 0; k++)
        for (int32_t b = s->block_of[f->place[p->node[k]]]; b >= 0 && mark[b] != stamp; b = f->block[b].parent) {
            mark[b] = stamp;
            if (out) out[count] = b;
            count++;
        }
    if (out) /* up to four rising chains: insertion is quick */
        for (int32_t i = 1; i < count; i++) {
            int32_t b = out[i], j = i;
            for (; j > 0 && out[j - 1] > b; j--) out[j] = out[j - 1];
            out[j] = b;
        }
    return count;
}

/* x: zero on entry and on return, [n]. */
static void solve_point(const tl_lg_solver *s, const tl_lg_point *p, const column *y, double *x)
{
    const layer *f = &s->L;
    for (int k = 0; k < 4 && p->node[k] >= 0; k++) x[f->place[p->node[k]]] += p->weight[k];
    double *value = y->value;
    for (int32_t i = 0; i < y->blocks; i++) {
        const block *b = &f->block[y->block[i]];
        const double *T = f->tri_double + b->tri;
        double *mine = value;
        for (int32_t q = 0; 8 * q < b->width; q++) {
            int32_t columns = 8 * q + 8 < b->width ? 8 * q + 8 : b->width;
            double sum[8] = {0};
            for (int32_t j = 0; j < columns; j++)
                for (int l = 0; l < 8; l++) sum[l] += T[8 * j + l] * x[b->first + j];
            for (int32_t l = 0; l < 8 && 8 * q + l < b->width; l++) *value++ = sum[l];
            T += 8 * columns;
        }
        memset(x + b->first, 0, sizeof(double) * (size_t)b->width);
        const double *P = f->panel_double + b->panel;
        const run *at = f->run + b->run;
        int32_t in_run = 0;
        for (int32_t q = 0; 8 * q < b->rows; q++, P += 8 * b->width) {
            double sum[8] = {0};
            for (int32_t j = 0; j < b->width; j++)
                for (int l = 0; l < 8; l++) sum[l] += P[8 * j + l] * mine[j];
            for (int32_t l = 0; l < 8 && 8 * q + l < b->rows; l++) {
                x[at->first + in_run] -= sum[l];
                if (++in_run == at->count) at++, in_run = 0;
            }
        }
    }
}

static void dot_points(const tl_lg_solver *s, int32_t p, const column *y, int32_t count, const tl_lg_point *point,
                       double *x, double *B)
{
    const layer *f = &s->L;
    const double *value = y[p].value;
    for (int32_t i = 0; i < y[p].blocks; i++) {
        const block *b = &f->block[y[p].block[i]];
        memcpy(x + b->first, value, sizeof(double) * (size_t)b->width);
        value += b->width;
    }
    for (int32_t q = 0; q <= p; q++) {
        double lane[8] = {0}, sum = 0;
        bool same = s->lg->owner[point[q].node[0]] == s->lg->owner[point[p].node[0]];
        value = y[q].value;
        for (int32_t i = 0; i < y[q].blocks && same; i++) {
            const block *b = &f->block[y[q].block[i]];
            int32_t j = 0;
            for (; j + 8 <= b->width; j += 8)
                for (int l = 0; l < 8; l++) lane[l] += value[j + l] * x[b->first + j + l];
            for (; j < b->width; j++) sum += value[j] * x[b->first + j];
            value += b->width;
        }
        sum += ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
        B[(int64_t)p * count + q] = B[(int64_t)q * count + p] = sum;
    }
    for (int32_t i = 0; i < y[p].blocks; i++)
        memset(x + f->block[y[p].block[i]].first, 0, sizeof(double) * (size_t)f->block[y[p].block[i]].width);
}

talus_status tl_lg_compliance(const tl_lg_solver *s, int32_t count, const tl_lg_point *point, double *B, tl_arena *a,
                              talus_error *err)
{
    if (s->method == TL_LG_JACOBI)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "method \"jacobi\" has no factor: there is no compliance of contacts");
    const layer *f = &s->L;
    size_t mark = tl_arena_mark(a);
    int threads = tl_threads();
    column *y = TL_TAKE(a, column, count);
    int32_t *seen = TL_TAKE_ZERO(a, int32_t, f->blocks);
    double *x = TL_TAKE_ZERO(a, double, ROUND(f->n) * (size_t)threads);
    if (!y || !seen || !x) return no_memory(err);
    for (int32_t p = 0; p < count; p++) {
        int32_t blocks = reach(s, &point[p], seen, 2 * p + 1, NULL);
        y[p].block = TL_TAKE(a, int32_t, blocks);
        if (!y[p].block) return no_memory(err);
        y[p].blocks = reach(s, &point[p], seen, 2 * p + 2, y[p].block);
        int64_t rows = 0;
        for (int32_t i = 0; i < blocks; i++) rows += f->block[y[p].block[i]].width;
        y[p].value = TL_TAKE(a, double, rows);
        if (!y[p].value) return no_memory(err);
    }
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++)
        for (int32_t p = t; p < count; p += threads) solve_point(s, &point[p], &y[p], x + ROUND(f->n) * (size_t)t);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++)
        for (int32_t p = t; p < count; p += threads) dot_points(s, p, y, count, point, x + ROUND(f->n) * (size_t)t, B);
    tl_arena_release(a, mark);
    return TALUS_OK;
}
