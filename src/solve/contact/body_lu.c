#include "solve/contact/body_lu.h"

#include <string.h>

#include "solve/contact/block6.h"

bool tl_body_lu_build(tl_body_lu *f, tl_body_matrix *H, tl_arena *a)
{
    *f = (tl_body_lu){H, TL_TAKE(a, tl_block6, H->start[H->bodies]), TL_TAKE(a, tl_block6, H->bodies)};
    return f->upper && f->inverse;
}

size_t tl_body_lu_bytes(int64_t bodies)
{
    return TL_ARENA_ROOM(tl_block6, bodies * (bodies + 1) / 2) + TL_ARENA_ROOM(tl_block6, bodies);
}

void tl_body_lu_start(tl_body_lu *f, const tl_pairs *t)
{
    tl_body_matrix_start(f->H, t);
    memset(f->upper, 0, sizeof *f->upper * (size_t)f->H->start[f->H->bodies]);
}

void tl_body_lu_add(tl_body_lu *f, const tl_pairs *t, int32_t c, const double D[9])
{
    const tl_pair *p = &t->pair[c];
    const int64_t *slot = f->H->slot + 3 * (int64_t)c;
    const double Dt[9] = {D[0], D[3], D[6], D[1], D[4], D[7], D[2], D[5], D[8]};
    tl_body_matrix_add(f->H, t, c, D);
    if (slot[2] < 0) return;
    tl_lanes8 rows[3];
    int later = f->H->place[p->body[0]] > f->H->place[p->body[1]] ? 0 : 1;
    tl_block6_rows(p->J[later], rows);
    tl_block6_add(&f->upper[slot[2]], rows, Dt, p->J[1 - later]);
}

/* By Gauss and Jordan with row pivots: rows of torques are compared with those of forces by the length that the
 * block has itself. */
static bool invert(const tl_block6 *B, tl_block6 *out)
{
    const double turns = fabs(B->col[3][3]) + fabs(B->col[4][4]) + fabs(B->col[5][5]);
    const double length = sqrt(turns / (fabs(B->col[0][0]) + fabs(B->col[1][1]) + fabs(B->col[2][2])));
    double a[6][12], unit[6] = {1, 1, 1};
    for (int i = 3; i < 6; i++) unit[i] = length > 0 && length < INFINITY ? length : 1;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            a[i][j] = B->col[j][i];
            a[i][6 + j] = i == j;
        }
    for (int c = 0; c < 6; c++) {
        int pivot = c;
        for (int i = c + 1; i < 6; i++)
            if (unit[pivot] * fabs(a[i][c]) > unit[i] * fabs(a[pivot][c])) pivot = i;
        if (!(fabs(a[pivot][c]) > 0 && fabs(a[pivot][c]) < INFINITY)) return false;
        for (int j = 0; j < 12 && pivot != c; j++) {
            double keep = a[c][j];
            a[c][j] = a[pivot][j];
            a[pivot][j] = keep;
        }
        const double swapped = unit[c];
        unit[c] = unit[pivot];
        unit[pivot] = swapped;
        double scale = 1 / a[c][c];
        for (int j = 0; j < 12; j++) a[c][j] *= scale;
        for (int i = 0; i < 6; i++) {
            double by = a[i][c];
            for (int j = 0; j < 12 && i != c; j++) a[i][j] -= by * a[c][j];
        }
    }
    for (int j = 0; j < 6; j++)
        out->col[j] = (tl_lanes8){a[0][6 + j], a[1][6 + j], a[2][6 + j], a[3][6 + j], a[4][6 + j], a[5][6 + j], 0, 0};
    return true;
}

/* A = A B */
static void times(tl_block6 *A, const tl_block6 *B)
{
    tl_block6 out;
    for (int j = 0; j < 6; j++) {
        const tl_lanes8 b = B->col[j];
        out.col[j] = (A->col[0] * b[0] + A->col[1] * b[1] + A->col[2] * b[2]) +
                     (A->col[3] * b[3] + A->col[4] * b[4] + A->col[5] * b[5]);
    }
    *A = out;
}

static tl_lanes8 product(const tl_block6 *A, tl_lanes8 v)
{
    return (A->col[0] * v[0] + A->col[1] * v[1] + A->col[2] * v[2]) +
           (A->col[3] * v[3] + A->col[4] * v[4] + A->col[5] * v[5]);
}

/* What blocks from .. to left of column c take from it, below and beside the diagonal. */
static void subtract_left(const tl_body_lu *f, int32_t c, const int64_t *rows, int64_t from, int64_t to)
{
    const tl_body_matrix *H = f->H;
    for (int64_t l = from; l < to; l++) {
        const int64_t at = H->left_at[l];
        tl_block6_subtract(&H->block[H->start[c]], &H->block[at], &f->upper[at]);
        for (int64_t k = at + 1; k < H->left_end[l]; k++) {
            int64_t put = rows[H->row[k]];
            tl_block6_subtract(&H->block[put], &H->block[k], &f->upper[at]);
            tl_block6_subtract(&f->upper[put], &f->upper[k], &H->block[at]);
        }
    }
}

bool tl_body_lu_factor(tl_body_lu *f)
{
    tl_body_matrix *H = f->H;
    for (int32_t panel = 0; panel < H->bodies; panel += TL_PANEL) {
        const int32_t end = panel + TL_PANEL < H->bodies ? panel + TL_PANEL : H->bodies;
        const bool share = tl_body_matrix_panel(H, panel);
#pragma omp parallel for schedule(dynamic, 1) if (share)
        for (int32_t c = panel; c < end; c++)
            subtract_left(f, c, tl_body_matrix_rows(H, panel, c), H->left[c], tl_body_matrix_inside(H, panel, c));
        for (int32_t c = panel; c < end; c++) {
            subtract_left(f, c, tl_body_matrix_rows(H, panel, c), tl_body_matrix_inside(H, panel, c), H->left[c + 1]);
            if (!invert(&H->block[H->start[c]], &f->inverse[c])) return false;
            for (int64_t k = H->start[c] + 1; k < H->start[c + 1]; k++) times(&H->block[k], &f->inverse[c]);
        }
    }
    return true;
}

void tl_body_lu_solve(const tl_body_lu *f, const double *b, double *x)
{
    const tl_body_matrix *H = f->H;
    tl_lanes8 *y = (tl_lanes8 *)H->scratch;
    for (int32_t i = 0; i < H->bodies; i++) y[H->place[i]] = ((const tl_lanes8 *)b)[i];
    for (int32_t c = 0; c < H->bodies; c++)
        for (int64_t k = H->start[c] + 1; k < H->start[c + 1]; k++) y[H->row[k]] -= product(&H->block[k], y[c]);
    for (int32_t c = H->bodies - 1; c >= 0; c--) {
        double rest[8];
        memcpy(rest, &y[c], sizeof rest);
        for (int64_t k = H->start[c] + 1; k < H->start[c + 1]; k++)
            for (int j = 0; j < 6; j++) {
                tl_lanes8 s = f->upper[k].col[j] * y[H->row[k]];
                rest[j] -= ((s[0] + s[1]) + (s[2] + s[3])) + (s[4] + s[5]);
            }
        y[c] = product(&f->inverse[c], (tl_lanes8){rest[0], rest[1], rest[2], rest[3], rest[4], rest[5], 0, 0});
    }
    for (int32_t i = 0; i < H->bodies; i++) ((tl_lanes8 *)x)[i] = y[H->place[i]];
}
