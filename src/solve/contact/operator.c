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

/* Entry of J M^-1 J^T for two rows: columns rise in both. */
static double couple(const tl_contact_bodies *bodies, int64_t row, int64_t other)
{
    const tl_csr *J = bodies->J;
    double sum = 0;
    int64_t first = J->start[other];
    for (int64_t i = J->start[row]; i < J->start[row + 1]; i++) {
        int32_t body = J->col[i] / 6, r = J->col[i] % 6;
        const double *I = bodies->inv_inertia + 9 * (int64_t)body;
        while (first < J->start[other + 1] && J->col[first] / 6 < body) first++;
        for (int64_t j = first; j < J->start[other + 1] && J->col[j] / 6 == body; j++) {
            int32_t c = J->col[j] % 6;
            double inverse = r > 2 && c > 2 ? I[3 * (r - 3) + c - 3] : r == c ? bodies->inv_mass[body] : 0;
            sum += J->val[i] * inverse * J->val[j];
        }
    }
    return sum;
}

void tl_contact_diagonal(const tl_contact_bodies *bodies, double *blocks)
{
    for (int64_t c = 0; c < bodies->J->rows / 3; c++)
        for (int r = 0; r < 3; r++)
            for (int k = r; k < 3; k++)
                blocks[9 * c + 3 * r + k] = blocks[9 * c + 3 * k + r] = couple(bodies, 3 * c + r, 3 * c + k);
}

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
