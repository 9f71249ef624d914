#include <string.h>

#include "solve/contact/problem.h"

/* v [6 count] = M^-1 J^T lam */
static void push(const tl_contact_bodies *bodies, const double *lam, double *v)
{
    const tl_csr *J = bodies->J;
    memset(v, 0, 6 * sizeof *v * (size_t)bodies->count);
    for (int32_t i = 0; i < J->rows; i++)
        for (int64_t k = J->start[i]; k < J->start[i + 1]; k++) v[J->col[k]] += J->val[k] * lam[i];
    for (int32_t i = 0; i < bodies->count; i++) {
        const double *I = bodies->inv_inertia + 9 * (int64_t)i;
        double *o = v + 6 * (int64_t)i, L[3] = {o[3], o[4], o[5]};
        for (int k = 0; k < 3; k++) {
            o[k] *= bodies->inv_mass[i];
            o[3 + k] = I[3 * k] * L[0] + I[3 * k + 1] * L[1] + I[3 * k + 2] * L[2];
        }
    }
}

static void apply(const tl_linop *A, const double *x, double *y)
{
    const tl_contact_operator *op = A->ctx;
    push(op->bodies, x, op->v);
    tl_csr_mul(op->bodies->J, op->v, y);
}

tl_linop tl_contact_operator_linop(const tl_contact_operator *op) { return (tl_linop){.apply = apply, .ctx = op}; }

void tl_contact_free_velocity(const tl_contact_bodies *bodies, const double *bias, double *q)
{
    tl_csr_mul(bodies->J, bodies->v_free, q);
    for (int64_t i = 0; bias && i < bodies->J->rows; i++) q[i] += bias[i];
}

void tl_contact_velocities(const tl_contact_bodies *bodies, const double *lam, double *v)
{
    push(bodies, lam, v);
    for (int64_t k = 0; k < 6 * (int64_t)bodies->count; k++) v[k] += bodies->v_free[k];
}
