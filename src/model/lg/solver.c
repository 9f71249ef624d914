#include "model/lg/solver.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "model/lg/forest.h"

#define REAL double
#include "model/lg/panels.h"
#undef REAL
#define REAL float
#include "model/lg/panels.h"
#undef REAL

double tl_lg_round_step(double h)
{
    int exponent;
    double m = frexp(h, &exponent);
    return ldexp(nearbyint(ldexp(m, 36)), exponent - 36);
}

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the solver of elastic bodies");
}

/* ---- begin and end ---- */

static talus_status create(tl_lg_solver *s, talus_error *err)
{
    const tl_lg *lg = s->lg;
    s->A = TL_NEW_ZERO(tl_csr, lg->bodies + 1);
    s->factor = TL_NEW_ZERO(tl_factor *, lg->bodies + 1);
    if (!s->A || !s->factor) return no_memory(err);
    if (s->method == TL_LG_JACOBI) {
        s->inverse_diagonal = TL_NEW(double, lg->nodes + 1);
        return s->inverse_diagonal ? TALUS_OK : no_memory(err);
    }
    tl_factor_options o = tl_factor_options_default();
    o.order = TL_ORDER_NATURAL; /* nodes are numbered in the order of elimination */
    for (int b = 0; b < lg->bodies; b++) {
        const tl_csr *P = &lg->pattern[b];
        TL_TRY(tl_csr_create(&s->A[b], P->rows, P->cols, P->start[P->rows], err));
        memcpy(s->A[b].start, P->start, sizeof *P->start * (size_t)(P->rows + 1));
        memcpy(s->A[b].col, P->col, sizeof *P->col * (size_t)P->start[P->rows]);
        TL_TRY(tl_factor_create(&s->factor[b], &o, err));
        TL_TRY(tl_factor_analyse(s->factor[b], &s->A[b], err));
        s->nonzeros_L += tl_factor_info_of(s->factor[b])->nonzeros;
    }
    return TALUS_OK;
}

talus_status tl_lg_solver_create(tl_lg_solver **out, const tl_lg *lg, tl_lg_method method, int precisions,
                                 talus_error *err)
{
    *out = NULL;
    tl_lg_solver *s = TL_NEW_ZERO(tl_lg_solver, 1);
    if (!s) return no_memory(err);
    *s = (tl_lg_solver){.lg = lg, .method = method, .precisions = precisions};
    talus_status status = create(s, err);
    if (status == TALUS_OK)
        *out = s;
    else
        tl_lg_solver_free(s);
    return status;
}

void tl_lg_solver_free(tl_lg_solver *s)
{
    if (!s) return;
    for (int b = 0; b < s->lg->bodies; b++) {
        if (s->factor) tl_factor_free(s->factor[b]);
        if (s->A) tl_csr_free(&s->A[b]);
    }
    tl_forest_free(s);
    tl_free(s->factor);
    tl_free(s->A);
    tl_free(s->inverse_diagonal);
    tl_free(s->diagonal);
    tl_free(s);
}

/* ---- another step length ---- */

static talus_status factorise(tl_lg_solver *s, double h, talus_error *err)
{
    const tl_lg *lg = s->lg;
    for (int b = 0; b < lg->bodies; b++) {
        tl_csr *A = &s->A[b];
        const double *mass = lg->mass + lg->body[b].node;
        for (int32_t i = 0; i < A->rows; i++)
            for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
                A->val[k] = h * h * lg->pattern[b].val[k] + (A->col[k] == i ? mass[i] : 0);
        talus_error why = {0};
        talus_status status = tl_factor_compute(s->factor[b], A, &why);
        if (status != TALUS_OK)
            return TL_FAIL(err, status, "elastic body \"%.60s\" cannot be solved at a step of %g s: %.300s",
                           lg->body[b].name, h, why.message);
    }
    if (!s->L.block) TL_TRY(tl_forest_make(s, err));
    TL_TRY(tl_forest_fill(s, err));
    return s->method == TL_LG_INVERSE ? tl_forest_invert(s, err) : TALUS_OK;
}

talus_status tl_lg_solver_update(tl_lg_solver *s, double h, talus_error *err)
{
    if (s->h == h) return TALUS_OK;
    s->h = 0;
    s->diagonal_known = false;
    if (s->method == TL_LG_JACOBI) {
        for (int b = 0; b < s->lg->bodies; b++) {
            const tl_csr *P = &s->lg->pattern[b];
            int32_t first = s->lg->body[b].node;
            tl_csr_diagonal(P, s->inverse_diagonal + first);
            for (int32_t i = first; i < first + P->rows; i++)
                s->inverse_diagonal[i] = 1 / (s->lg->mass[i] + h * h * s->inverse_diagonal[i]);
        }
    } else {
        TL_TRY(factorise(s, h, err));
    }
    s->h = h;
    return TALUS_OK;
}

talus_status tl_lg_round_matrix(const tl_lg_round *p, tl_csr *out, talus_error *err)
{
    const tl_lg *lg = p->lg;
    int64_t entries = 0, at = 0;
    for (int b = 0; b < lg->bodies; b++) entries += 3 * lg->pattern[b].start[lg->pattern[b].rows];
    TL_TRY(tl_csr_create(out, 3 * lg->nodes, 3 * lg->nodes, entries, err));
    out->start[0] = 0;
    for (int b = 0; b < lg->bodies; b++) {
        const tl_csr *P = &lg->pattern[b];
        const int32_t first = lg->body[b].node;
        for (int32_t i = 0; i < P->rows; i++)
            for (int c = 0; c < 3; c++) {
                for (int64_t k = P->start[i]; k < P->start[i + 1]; k++, at++) {
                    out->col[at] = 3 * (first + P->col[k]) + c;
                    out->val[at] = p->h * p->h * P->val[k] + (P->col[k] == i ? lg->mass[first + i] : 0);
                }
                out->start[3 * (int64_t)(first + i) + c + 1] = at;
            }
    }
    return TALUS_OK;
}

/* ---- solving ---- */

void tl_lg_solve(const tl_lg_solver *s, tl_lg_precision p, const double *r, double *x)
{
    tl_lg_solve_part(s, p, NULL, NULL, r, x);
}

static void mark(const tl_lg_solver *s, int32_t node, uint8_t *part, uint8_t to)
{
    if (s->method == TL_LG_JACOBI) return;
    for (int32_t k = s->block_of[s->L.place[node]]; k >= 0 && part[k] != to; k = s->L.block[k].parent) part[k] = to;
}

void tl_lg_solver_mark(const tl_lg_solver *s, int32_t node, uint8_t *part) { mark(s, node, part, 1); }

void tl_lg_solver_unmark(const tl_lg_solver *s, int32_t node, uint8_t *part) { mark(s, node, part, 0); }

void tl_lg_solve_part(const tl_lg_solver *s, tl_lg_precision p, const uint8_t *from, const uint8_t *to, const double *r,
                      double *x)
{
    if (s->method == TL_LG_JACOBI) {
        for (int32_t i = 0; i < s->lg->nodes; i++)
            for (int c = 0; c < 3; c++) x[3 * (int64_t)i + c] = s->inverse_diagonal[i] * r[3 * (int64_t)i + c];
        return;
    }
    const layer *f = s->method == TL_LG_INVERSE ? &s->S : &s->L;
    if (p == TL_LG_FLOAT && f->tri_float)
        solve_float(f, &(values_float){f->tri_float, f->panel_float}, s->work_float, from, to, r, x);
    else if (f->tri_double)
        solve_double(f, &(values_double){f->tri_double, f->panel_double}, s->work_double, from, to, r, x);
    else /* the inverse is kept in float only: the factor is there */
        solve_double(&s->L, &(values_double){s->L.tri_double, s->L.panel_double}, s->work_double, from, to, r, x);
}

tl_lg_solver_info tl_lg_solver_about(const tl_lg_solver *s)
{
    const layer *f = s->method == TL_LG_INVERSE ? &s->S : &s->L;
    int64_t values = f->tri + f->panel;
    size_t each =
        (s->precisions & TL_LG_DOUBLE ? sizeof(double) : 0) + (s->precisions & TL_LG_FLOAT ? sizeof(float) : 0);
    return (tl_lg_solver_info){.nonzeros_L = s->nonzeros_L,
                               .nonzeros_S = s->nonzeros_S,
                               .stored_L = s->L.tri + s->L.panel,
                               .stored_S = s->S.tri + s->S.panel,
                               .bytes = each * (size_t)values + sizeof(run) * (size_t)f->runs +
                                        sizeof(block) * (size_t)f->blocks + sizeof(int32_t) * (size_t)f->n,
                               .supernodes = f->blocks,
                               .subtrees = f->bins};
}
