#include "model/coupling/soft_solid.h"

#include <math.h>
#include <string.h>

static void sample(const tl_coupled_solid *solid, const double *v, double *y)
{
    const tl_soft_solid *s = solid->ctx;
    const tl_coupled_solid rigid = tl_rigid_solid_view(s->rigid);
    rigid.sample(&rigid, v + 3 * (int64_t)s->nodes, y);
    tl_csr_mul_add(&s->J, 1, v, y);
}

static void gather(const tl_coupled_solid *solid, const double *y, double *r)
{
    const tl_soft_solid *s = solid->ctx;
    const tl_coupled_solid rigid = tl_rigid_solid_view(s->rigid);
    tl_csr_mul(&s->Jt, y, r);
    rigid.gather(&rigid, y, r + 3 * (int64_t)s->nodes);
}

static void inverse_mass(const tl_coupled_solid *solid, const double *r, double *v)
{
    const tl_soft_solid *s = solid->ctx;
    s->solve(s->ctx, r, v);
}

static double sum_of_sizes(const tl_csr *A, int64_t row, const double *x)
{
    double sum = 0;
    for (int64_t k = A->start[row]; k < A->start[row + 1]; k++) sum += fabs(A->val[k]) * x[A->col[k]];
    return sum;
}

static void spread(const tl_coupled_solid *solid, const double *y, double *out)
{
    const tl_soft_solid *s = solid->ctx;
    const tl_coupled_solid rigid = tl_rigid_solid_view(s->rigid);
    rigid.spread(&rigid, y, out);
    for (int64_t i = 0; i < 3 * (int64_t)s->nodes; i++) s->scratch[i] = s->inv_mass[i / 3] * sum_of_sizes(&s->Jt, i, y);
    for (int32_t f = 0; f < s->J.rows; f++) out[f] += sum_of_sizes(&s->J, f, s->scratch);
}

static void gather_cells(const tl_coupled_solid *solid, const double *d, double *r)
{
    const tl_soft_solid *s = solid->ctx;
    for (int32_t i = 0; i < s->C.rows; i++) s->cells[i] = d[6 * (int64_t)(i / 3) + i % 3];
    tl_csr_mul_add(&s->Ct, 1, s->cells, r);
}

static void sample_cells(const tl_coupled_solid *solid, const double *v, double *e)
{
    const tl_soft_solid *s = solid->ctx;
    tl_csr_mul(&s->C, v, e);
}

talus_status tl_soft_solid_build(tl_soft_solid *s, const tl_soft_domain *d, tl_arena *a, talus_error *err)
{
    TL_TRY(tl_soft_faces(&s->J, d, a, err));
    TL_TRY(tl_soft_transpose(&s->Jt, &s->J, a, err));
    TL_TRY(tl_soft_surface(&s->C, d, a, err));
    TL_TRY(tl_soft_transpose(&s->Ct, &s->C, a, err));
    s->nodes = s->J.cols / 3;
    s->cells = TL_TAKE(a, double, s->C.rows + 1);
    s->e = TL_TAKE(a, double, s->C.rows + 1);
    s->scratch = TL_TAKE(a, double, 3 * (int64_t)s->nodes + 1);
    if (!s->scratch || !s->cells || !s->e) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for elastic bodies in sand");
    return TALUS_OK;
}

tl_coupled_solid tl_soft_solid_view(const tl_soft_solid *s)
{
    return (tl_coupled_solid){.n = 3 * (int64_t)s->nodes + 6 * (int64_t)s->rigid->bodies,
                              .sample = sample,
                              .gather = gather,
                              .inverse_mass = inverse_mass,
                              .spread = spread,
                              .gather_cells = gather_cells,
                              .sample_cells = sample_cells,
                              .e = s->e,
                              .ctx = s};
}
