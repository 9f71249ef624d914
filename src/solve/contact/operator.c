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

/* K [3][3] += J M^-1 J^T of the three rows of a contact with one body; at: where that body's columns begin in each
 * row, moved on to the next body's. */
static void add_body(const tl_contact_bodies *bodies, int32_t body, int64_t row, int64_t at[3], double *K)
{
    const tl_csr *J = bodies->J;
    const double *I = bodies->inv_inertia + 9 * (int64_t)body;
    double im = bodies->inv_mass[body], j[3][6] = {{0}};
    for (int r = 0; r < 3; r++)
        for (; at[r] < J->start[row + r + 1] && J->col[at[r]] < 6 * (int64_t)body + 6; at[r]++)
            j[r][J->col[at[r]] - 6 * body] = J->val[at[r]];
    for (int r = 0; r < 3; r++) {
        const double *x = j[r];
        double y[6] = {im * x[0], im * x[1], im * x[2]};
        for (int k = 0; k < 3; k++) y[3 + k] = I[3 * k] * x[3] + I[3 * k + 1] * x[4] + I[3 * k + 2] * x[5];
        for (int c = 0; c <= r; c++)
            for (int k = 0; k < 6; k++) K[3 * r + c] += y[k] * j[c][k];
    }
}

void tl_contact_diagonal(const tl_contact_bodies *bodies, double *blocks)
{
    const tl_csr *J = bodies->J;
    for (int64_t c = 0; c < J->rows / 3; c++) {
        int64_t row = 3 * c, at[3] = {J->start[row], J->start[row + 1], J->start[row + 2]};
        double *K = blocks + 9 * c;
        memset(K, 0, 9 * sizeof *K);
        for (;;) { /* bodies rise in each row */
            int32_t next = INT32_MAX;
            for (int r = 0; r < 3; r++)
                if (at[r] < J->start[row + r + 1] && J->col[at[r]] / 6 < next) next = J->col[at[r]] / 6;
            if (next == INT32_MAX) break;
            add_body(bodies, next, row, at, K);
        }
        K[1] = K[3], K[2] = K[6], K[5] = K[7];
    }
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
