/* A viscous liquid around elastic bodies: what solids are on faces, and the block of the solids with what viscosity
 * adds to it, factored. */
#include <string.h>

#include "base/alloc.h"
#include "phase/grid/wet.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for elastic bodies in a viscous liquid");
}

/* Rows of faces over unknown nodes and free rigid bodies. */
static talus_status join_rows(tl_wet *w, talus_error *err)
{
    const tl_elastic_trial *s = w->trial;
    const tl_rigid_solid *r = &w->flow->system.rigid;
    const tl_csr *A = &w->blend;
    tl_arena *a = w->flow->arena;
    const int64_t n = s->data->first[s->fem->bodies], max = A->start[A->rows] + 6 * (int64_t)r->rows;
    tl_csr *S = &w->S;
    *S = (tl_csr){A->rows, (int32_t)(n + 6 * (int64_t)w->flow->rigid->count),
                  TL_TAKE_ZERO(a, int64_t, (int64_t)A->rows + 1), TL_TAKE(a, int32_t, max + 1),
                  TL_TAKE(a, double, max + 1)};
    if (!S->start || !S->col || !S->val) return no_memory(err);
    int64_t at = 0;
    for (int32_t f = 0; f < A->rows; f++) {
        for (int64_t k = A->start[f]; k < A->start[f + 1]; k++) {
            int64_t to = tl_wet_unknown(s, A->col[k] / 3, A->col[k] % 3);
            if (to < 0 || A->val[k] == 0) continue;
            S->col[at] = (int32_t)to;
            S->val[at++] = A->val[k];
        }
        for (int32_t i = r->first[f]; i < r->first[f + 1]; i++) {
            const tl_solid_row *row = &r->row[r->by_face[i]];
            const double turn[3] = {row->turn.x, row->turn.y, row->turn.z};
            const int64_t first = n + 6 * (int64_t)row->body;
            if (!(r->inv_mass[row->body] > 0)) continue;
            S->col[at] = (int32_t)(first + row->axis);
            S->val[at++] = row->weight;
            for (int k = 0; k < 3; k++) {
                S->col[at] = (int32_t)(first + 3 + k);
                S->val[at++] = turn[k];
            }
        }
        S->start[f + 1] = at;
    }
    return tl_soft_transpose(&w->St, S, a, err);
}

static void inertia(const void *ctx, const double *x, double *y)
{
    const tl_wet *w = ctx;
    tl_flex_product(&w->trial->flex, x, y);
}

static talus_status inverse(const void *ctx, const double *r, double *z, talus_error *err)
{
    const tl_elastic_trial *s = ((const tl_wet *)ctx)->trial;
    for (int b = 0; b < s->fem->bodies; b++) {
        const int64_t first = s->data->first[b];
        if (s->data->first[b + 1] > first) TL_TRY(tl_factor_solve(s->data->drag[b], 1, r + first, z + first, err));
    }
    return TALUS_OK;
}

static talus_status make_factors(tl_elastic_data *k, talus_error *err)
{
    if (k->drag) return TALUS_OK;
    if (!(k->drag = TL_NEW_ZERO(tl_factor *, k->fem.bodies + 1))) return no_memory(err);
    for (int b = 0; b < k->fem.bodies; b++) {
        const tl_factor_options options = tl_factor_options_default();
        TL_TRY(tl_factor_create(&k->drag[b], &options, err));
        TL_TRY(tl_factor_analyse(k->drag[b], &k->fem.body[b].A, err));
    }
    return TALUS_OK;
}

talus_status tl_wet_viscous_make(tl_wet *w, const tl_soft_domain *d, talus_error *err)
{
    tl_flow *f = w->flow;
    const int64_t n = w->trial->data->first[w->trial->fem->bodies], rigid = 6 * (int64_t)f->rigid->count;
    TL_TRY(tl_soft_faces(&w->blend, d, f->arena, err));
    TL_TRY(join_rows(w, err));
    TL_TRY(make_factors(w->trial->data, err));
    double *gyration = TL_TAKE(f->arena, double, f->rigid->count + 1);
    if (!(w->fixed = TL_TAKE(f->arena, double, f->system.c.faces + 1)) || !gyration) return no_memory(err);
    for (int32_t b = 0; b < f->rigid->count; b++) gyration[b] = tl_flex_gyration(&w->trial->flex, b);
    w->with_solids = (tl_viscous_soft){.stress = &f->system.viscous,
                                       .n = n + rigid,
                                       .rigid = rigid,
                                       .gyration = gyration,
                                       .S = &w->S,
                                       .St = &w->St,
                                       .Z = &w->Z,
                                       .Zt = &w->Zt,
                                       .fixed = w->fixed,
                                       .outflow = w->outflow,
                                       .inertia = inertia,
                                       .inverse = inverse,
                                       .ctx = w};
    return tl_viscous_soft_make(&w->viscous, &w->with_solids, f->p, f->arena, err);
}

void tl_wet_viscous_blend(tl_wet *w)
{
    const tl_elastic_trial *s = w->trial;
    const tl_coupling *c = &w->flow->system.c;
    memset(w->fixed, 0, sizeof *w->fixed * (size_t)c->faces);
    if (c->solid.n) c->solid.sample(&c->solid, s->bodies->v_free, w->fixed);
    tl_csr_mul_add(&w->blend, 1, s->v, w->fixed);
}

talus_status tl_wet_viscous_fit(tl_wet *w, talus_error *err)
{
    const tl_elastic_trial *s = w->trial;
    tl_arena *a = w->flow->arena;
    for (int b = 0; b < s->fem->bodies; b++) {
        tl_csr A = s->fem->body[b].A;
        const int64_t nonzeros = A.start[A.rows];
        const double *drag = w->viscous.drag + s->data->first[b];
        size_t mark = tl_arena_mark(a);
        double *val = TL_TAKE(a, double, nonzeros + 1);
        if (!val) return no_memory(err);
        memcpy(val, A.val, sizeof *val * (size_t)nonzeros);
        for (int32_t i = 0; i < A.rows; i++)
            for (int64_t k = A.start[i]; k < A.start[i + 1]; k++)
                if (A.col[k] == i) val[k] += drag[i];
        A.val = val;
        TL_TRY(tl_factor_compute(s->data->drag[b], &A, err));
        tl_arena_release(a, mark);
    }
    return TALUS_OK;
}

void tl_wet_viscous_load(const tl_wet *w, double *load)
{
    const tl_system *y = &w->flow->system;
    const tl_csr *A = &w->blend;
    const double impulse = w->dual.impulse;
    tl_stress_force(&y->stress, &y->c, y->viscous.s, y->viscous.force);
    for (int32_t k = 0; k < y->viscous.holds; k++) y->viscous.force[y->viscous.held[k]] -= y->viscous.hold[k];
    for (int32_t f = 0; f < A->rows; f++)
        for (int64_t k = A->start[f]; k < A->start[f + 1]; k++)
            load[A->col[k]] -= impulse * A->val[k] * y->viscous.force[f];
}
