#include "solve/dual/joint.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "base/timer.h"
#include "solve/flex/inside.h"
#include "solve/pressure/key.h"

#define SIGMA 0.9                       /* of M in Z1, as its authors have it */
#define PLACE (((uint64_t)1 << 60) - 1) /* of a key, without its colour */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a matrix of liquid and solids");
}

/* ---- rows ---- */

/* Cells in lexicographic order, which incomplete factors want, then normal forces. */
talus_status tl_dual_joint_begin(tl_dual_solver *s, talus_error *err)
{
    tl_dual_work *w = s->work;
    const tl_pressure *p = &s->p->pressure;
    tl_arena *a = s->arena;
    const int32_t all = p->n + w->contacts;
    w->row = TL_TAKE(a, int32_t, (int64_t)all + 1);
    w->of_rigid = TL_TAKE(a, double, (int64_t)all + 1);
    if (!w->row || !w->of_rigid) return no_memory(err);
    size_t mark = tl_arena_mark(a);
    uint64_t *key = TL_TAKE(a, uint64_t, 2 * (int64_t)p->n + 1);
    int32_t *order = TL_TAKE(a, int32_t, 2 * (int64_t)p->n + 1);
    if (!key || !order) return no_memory(err);
    for (int32_t i = 0; i < p->n; i++) {
        key[i] = tl_cell_key(p->ijk[i][0], p->ijk[i][1], p->ijk[i][2]) & PLACE;
        order[i] = i;
    }
    tl_radix_sort(p->n, key, order, key + p->n, order + p->n);
    for (int32_t r = 0; r < p->n; r++) w->row[order[r]] = r;
    for (int32_t i = p->n; i < all; i++) w->row[i] = i;
    tl_arena_release(a, mark);
    return TALUS_OK;
}

/* A row's entries by column. */
static void put(tl_csr *A, int64_t begin, int64_t *end, int32_t col, double val)
{
    int64_t at = (*end)++;
    for (; at > begin && A->col[at - 1] > col; at--) {
        A->col[at] = A->col[at - 1];
        A->val[at] = A->val[at - 1];
    }
    A->col[at] = col;
    A->val[at] = val;
}

/* R and what stands for the solids, by rows of their velocities: [R, -rest]. */
static talus_status couple(tl_dual_solver *s, int32_t normals, bool rest, tl_csr *V, talus_error *err)
{
    const tl_dual *p = s->p;
    tl_dual_work *w = s->work;
    const tl_flex *f = p->flex;
    const tl_flex_data *kept = s->contact->kept;
    const double root = sqrt(p->per_u);
    int64_t count = p->Z->start[f->n] + (normals ? f->Jt->start[f->n] : 0), end = 0;
    for (int32_t b = 0; b < f->parts && rest; b++) count += kept->roots[b].Q.start[kept->roots[b].Q.rows];
    TL_TRY(tl_csr_create(V, (int32_t)f->n, (int32_t)w->joint, count, err));
    for (int32_t b = 0; b < f->parts; b++)
        for (int32_t r = 0; r < f->part[b].H->rows; r++) {
            const int64_t i = f->part[b].first + r, begin = end;
            for (int64_t k = p->Z->start[i]; k < p->Z->start[i + 1]; k++)
                put(V, begin, &end, w->row[p->Z->col[k]], root * p->impulse * p->Z->val[k]);
            for (int64_t k = normals ? f->Jt->start[i] : 0; normals && k < f->Jt->start[i + 1]; k++) {
                const int32_t j = f->Jt->col[k] / 3;
                if (f->Jt->col[k] % 3 == 0) put(V, begin, &end, w->cells + j, root * w->scale[j] * f->Jt->val[k]);
            }
            const tl_flex_roots *own = rest ? &kept->roots[b] : NULL;
            for (int64_t k = own ? own->Q.start[r] : 0; own && k < own->Q.start[r + 1]; k++, end++) {
                V->col[end] = (int32_t)(w->cells + normals + own->first + own->Q.col[k]);
                V->val[end] = -own->Q.val[k];
            }
            V->start[i + 1] = end;
        }
    return TALUS_OK;
}

/* What rigid bodies add to diagonals. */
static void find_rigid_diagonal(tl_dual_solver *s, int32_t normals)
{
    const tl_dual *p = s->p;
    tl_dual_work *w = s->work;
    const tl_flex *f = p->flex;
    memset(w->of_rigid, 0, sizeof *w->of_rigid * ((size_t)w->cells + (size_t)w->contacts));
    for (int64_t i = f->n; i < w->n; i++) {
        for (int64_t k = p->Z->start[i]; k < p->Z->start[i + 1]; k++)
            w->of_rigid[w->row[p->Z->col[k]]] += p->per_g * p->impulse * p->Z->val[k] * p->Z->val[k] / w->D[i];
        for (int64_t k = normals ? f->Jt->start[i] : 0; normals && k < f->Jt->start[i + 1]; k++) {
            const int32_t j = f->Jt->col[k] / 3;
            const double v = w->scale[j] * f->Jt->val[k];
            if (f->Jt->col[k] % 3 == 0) w->of_rigid[w->cells + j] += p->per_u * v * v / w->D[i];
        }
    }
}

/* S, what rigid bodies add to its diagonal, and C^-1 or Z2. */
static talus_status plain_blocks(tl_dual_solver *s, tl_dual_form form, int32_t normals, tl_csr *B, talus_error *err)
{
    const tl_pressure *p = &s->p->pressure;
    tl_dual_work *w = s->work;
    const tl_flex *f = s->p->flex;
    const tl_flex_data *kept = s->contact->kept;
    const bool z2 = form == TL_DUAL_Z1Z2;
    int64_t count = (TL_PRESSURE_SIDES + 1) * (int64_t)p->n + w->joint - p->n, end = 0;
    for (int32_t b = 0; b < f->parts && z2; b++) count += kept->roots[b].Q.start[kept->roots[b].Q.rows];
    int32_t *cell = TL_NEW(int32_t, p->n + 1);
    if (!cell) return no_memory(err);
    for (int32_t i = 0; i < p->n; i++) cell[w->row[i]] = i;
    talus_status status = tl_csr_create(B, (int32_t)w->joint, (int32_t)w->joint, count, err);
    for (int32_t r = 0; r < p->n + normals && status == TALUS_OK; r++) {
        const int64_t begin = end;
        put(B, begin, &end, r, (r < p->n ? p->d[cell[r]] : 0) + w->of_rigid[r]);
        for (int k = 0; k < TL_PRESSURE_SIDES && r < p->n; k++)
            if (p->c[k][cell[r]] > 0) put(B, begin, &end, w->row[p->nb[k][cell[r]]], -(double)p->c[k][cell[r]]);
        B->start[r + 1] = end;
    }
    for (int32_t b = 0; b < f->parts && status == TALUS_OK && form != TL_DUAL_MASS; b++) {
        const tl_flex_roots *own = &kept->roots[b];
        const int64_t first = p->n + normals + own->first;
        for (int64_t i = 0; i < own->count; i++) {
            for (int64_t k = z2 ? own->Q.start[i] : 0; z2 && k < own->Q.start[i + 1]; k++, end++) {
                B->col[end] = (int32_t)(first + own->Q.col[k]);
                B->val[end] = own->Q.val[k];
            }
            if (!z2) {
                B->col[end] = (int32_t)(first + i);
                B->val[end++] = own->sigma[i];
            }
            B->start[first + i + 1] = end;
        }
    }
    tl_free(cell);
    return status;
}

/* C = A + B */
static talus_status add(tl_csr *C, const tl_csr *A, const tl_csr *B, talus_error *err)
{
    TL_TRY(tl_csr_create(C, A->rows, A->cols, A->start[A->rows] + B->start[B->rows], err));
    int64_t end = 0;
    for (int32_t i = 0; i < A->rows; i++) {
        int64_t a = A->start[i], b = B->start[i];
        while (a < A->start[i + 1] || b < B->start[i + 1]) {
            const int32_t x = a < A->start[i + 1] ? A->col[a] : INT32_MAX,
                          y = b < B->start[i + 1] ? B->col[b] : INT32_MAX;
            C->col[end] = x < y ? x : y;
            C->val[end++] = (x <= y ? A->val[a] : 0) + (y <= x ? B->val[b] : 0);
            a += x <= y;
            b += y <= x;
        }
        C->start[i + 1] = end;
    }
    return TALUS_OK;
}

/* Factors of the stiffness, or Z2 in their place; weight: what stands between. */
static talus_status find_roots(tl_dual_solver *s, tl_dual_form form, double *weight, talus_error *err)
{
    const tl_flex *f = s->p->flex;
    tl_flex_data *kept = s->contact->kept;
    const double share = form == TL_DUAL_Z1Z2 ? SIGMA : tl_flex_roots_mass(form == TL_DUAL_G_SCALED);
    int64_t first = 0;
    TL_TRY(tl_flex_data_fit(kept, f->parts, err));
    for (int32_t b = 0; b < f->parts; b++) {
        tl_flex_roots *r = &kept->roots[b];
        const tl_flex_part *part = &f->part[b];
        tl_flex_roots_empty(r);
        if (form == TL_DUAL_Z1Z2) {
            TL_TRY(tl_flex_whole(&r->N, part->H, part->mass, share, err));
            TL_TRY(tl_csr_transpose(&r->Q, &r->N, err)); /* symmetric: a copy */
            r->count = part->H->rows;
        } else if (form != TL_DUAL_MASS) {
            TL_TRY(tl_flex_roots_factor(r, part, form == TL_DUAL_G_SCALED, err));
        }
        r->first = first;
        first += form == TL_DUAL_MASS ? 0 : r->count;
        for (int32_t i = 0; i < part->H->rows; i++) weight[part->first + i] = 1 / (share * part->mass[i]);
    }
    s->work->joint += first;
    return TALUS_OK;
}

static talus_status make(tl_dual_solver *s, tl_dual_form form, int32_t normals, talus_error *err)
{
    tl_dual_work *w = s->work;
    tl_flex_data *kept = s->contact->kept;
    tl_csr V = {0}, gram = {0}, plain = {0};
    double *weight = TL_TAKE(s->arena, double, s->p->flex->n + 1);
    if (!weight) return no_memory(err);
    w->joint = w->cells + normals;
    TL_TRY(find_roots(s, form, weight, err));
    find_rigid_diagonal(s, normals);
    tl_precond_free(kept->of_joint);
    kept->of_joint = NULL;
    tl_csr_free(&kept->joint);
    talus_status status = couple(s, normals, form != TL_DUAL_MASS, &V, err);
    if (status == TALUS_OK) status = tl_csr_gram(&gram, &V, weight, err);
    if (status == TALUS_OK) status = plain_blocks(s, form, normals, &plain, err);
    if (status == TALUS_OK) status = add(&kept->joint, &gram, &plain, err);
    tl_csr_free(&V);
    tl_csr_free(&gram);
    tl_csr_free(&plain);
    return status;
}

talus_status tl_dual_join(tl_dual_solver *s, tl_dual_form form, int32_t normals, tl_dual_report *out, talus_error *err)
{
    tl_dual_work *w = s->work;
    tl_flex_data *kept = s->contact->kept;
    if (!w->joined) {
        const double began = tl_seconds();
        size_t mark = tl_arena_mark(s->arena);
        TL_TRY(make(s, form, normals, err));
        tl_arena_release(s->arena, mark);
        const char *precond = s->precond && *s->precond ? s->precond : "ic";
        TL_TRY(tl_precond_create(&kept->of_joint, tl_precond_find(precond), &kept->joint, err));
        out->pressure_work.factorizations++;
        out->prepare += tl_seconds() - began;
        w->joined = true;
    }
    out->unknowns = w->joint;
    out->nonzeros = kept->joint.start[kept->joint.rows];
    return TALUS_OK;
}

/* Of rigid bodies, less the diagonal that the matrix has of it. */
static void add_rigid(tl_dual_solver *s, const double *x, double *y)
{
    const tl_dual *p = s->p;
    tl_dual_work *w = s->work;
    const tl_flex *f = p->flex;
    const int32_t normals = w->contacts;
    if (w->n == f->n) return;
    memset(w->r, 0, sizeof *w->r * (size_t)f->n);
    for (int64_t i = f->n; i < w->n; i++) {
        double sum = 0;
        for (int64_t k = p->Z->start[i]; k < p->Z->start[i + 1]; k++)
            sum += p->impulse * p->Z->val[k] * x[w->row[p->Z->col[k]]];
        for (int64_t k = normals ? f->Jt->start[i] : 0; normals && k < f->Jt->start[i + 1]; k++) {
            const int32_t j = f->Jt->col[k] / 3;
            if (f->Jt->col[k] % 3 == 0) sum += w->scale[j] * f->Jt->val[k] * x[w->cells + j];
        }
        w->r[i] = sum;
    }
    tl_flex_rigid_inverse(f, w->r);
    for (int32_t i = 0; i < w->cells + normals; i++) y[i] -= w->of_rigid[i] * x[i];
    for (int64_t i = f->n; i < w->n; i++) {
        for (int64_t k = p->Z->start[i]; k < p->Z->start[i + 1]; k++)
            y[w->row[p->Z->col[k]]] += p->per_g * p->Z->val[k] * w->r[i];
        for (int64_t k = normals ? f->Jt->start[i] : 0; normals && k < f->Jt->start[i + 1]; k++) {
            const int32_t j = f->Jt->col[k] / 3;
            if (f->Jt->col[k] % 3 == 0) y[w->cells + j] += p->per_u * w->scale[j] * f->Jt->val[k] * w->r[i];
        }
    }
}

void tl_dual_joint_product(const tl_linop *A, const double *x, double *y)
{
    tl_dual_solver *s = (tl_dual_solver *)A->ctx;
    tl_csr_mul(&s->contact->kept->joint, x, y);
    add_rigid(s, x, y);
}
