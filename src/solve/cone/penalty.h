/* The penalty that stands for the cones in the paper's friction solvers [FM21 sec. 4.3.4, app. B].
 *
 * Per group, with c = 1/2 (1 - x'Qx / r^2) >= 0 inside, multiplier h and penalty mu,
 *     c~  = min(c - h/mu, 0),    P = 1/2 (mu c~^2 - h^2/mu).
 * Both are kept without units: eta = h/mu, and mu = k r^2 with k in units of A, so that P is
 * k r^2 / 2 (c~^2 - eta^2). c is concave and c~ <= 0, so P is convex: its Hessian needs no projection. */
#ifndef TL_SOLVE_CONE_PENALTY_H
#define TL_SOLVE_CONE_PENALTY_H

#include "solve/cone/group.h"

/* c~ of one group; 0 where the penalty does not act. r > 0. */
TL_CONE_INLINE double tl_cone_penalty_active(int m, const double *Q, double r, double eta, const double *x)
{
    return fmin(0.5 * (1 - tl_cone_form(m, Q, x) / (r * r)) - eta, 0.0);
}

TL_CONE_INLINE double tl_cone_penalty_energy(int m, const double *Q, double r, double k, double eta, const double *x)
{
    double active = tl_cone_penalty_active(m, Q, r, eta, x);
    return 0.5 * k * r * r * (active * active - eta * eta);
}

/* grad [m] = mu c~ dc = -k c~ Qx */
TL_CONE_INLINE void tl_cone_penalty_gradient(int m, const double *Q, double r, double k, double eta, const double *x,
                                             double *grad)
{
    double active = tl_cone_penalty_active(m, Q, r, eta, x);
    tl_cone_mul(m, Q, x, grad);
    for (int i = 0; i < m; i++) grad[i] *= -k * active;
}

/* H [m x m] = mu (dc dc' + c~ ddc) = k ( Qx (Qx)' / r^2 - c~ Q ) where c~ < 0, else 0 */
TL_CONE_INLINE void tl_cone_penalty_hessian(int m, const double *Q, double r, double k, double eta, const double *x,
                                            double *H)
{
    double active = tl_cone_penalty_active(m, Q, r, eta, x), u[TL_CONE_MAX];
    TL_ASSERT(!(active > 0)); /* both terms are then positive semidefinite */
    tl_cone_mul(m, Q, x, u);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            H[i * m + j] = active < 0 ? k * ((u[i] / r) * (u[j] / r) - active * Q[i * m + j]) : 0;
}

#endif
