/* The law of one contact: projections, their slopes, and the natural map. */
#ifndef TL_SOLVE_FLEX_LAW_H
#define TL_SOLVE_FLEX_LAW_H

#include <string.h>

#include "solve/contact/pairs.h"
#include "solve/flex/problem.h"

static inline double tl_flex_clamp(double x, double max) { return x > max ? max : x < -max ? -max : x; }

/* x onto what the law allows. radius: of friction, for the pyramid alone. */
static inline void tl_flex_project(tl_flex_law law, double mu, double radius, const double x[3], double out[3])
{
    if (law == TL_FLEX_STICKY) {
        memcpy(out, x, 3 * sizeof *out);
    } else if (law == TL_FLEX_PYRAMID) {
        out[0] = fmax(0, x[0]);
        out[1] = tl_flex_clamp(x[1], radius);
        out[2] = tl_flex_clamp(x[2], radius);
    } else {
        tl_project_cone(mu, x, out);
    }
}

/* Columns of B with B B^T = r times the slope of that projection, in rows of three. Returns how many. */
int tl_flex_slope(tl_flex_law law, double mu, double radius, double r, const double x[3], double B[9]);

/* Natural map of a contact with masses w_n, w_t: m/s. */
static inline double tl_flex_residual(tl_flex_law law, double mu, double w_n, double w_t, const double u[3],
                                      const double *l)
{
    if (law == TL_FLEX_STICKY) return fmax(fabs(u[0]), hypot(u[1], u[2]));
    double e_n = fabs(l[0] - fmax(0, l[0] - w_n * u[0])) / w_n, radius = mu * fmax(l[0], 0);
    double t[2] = {l[1] - w_t * u[1], l[2] - w_t * u[2]};
    if (law == TL_FLEX_PYRAMID)
        t[0] = tl_flex_clamp(t[0], radius), t[1] = tl_flex_clamp(t[1], radius);
    else
        tl_project_disc(radius, t);
    return fmax(e_n, hypot(l[1] - t[0], l[2] - t[1]) / w_t);
}

/* De Saxce's shift, none where friction stays clear of the mantle, as tl_pair_shift; only cones have one. */
static inline double tl_flex_shift(tl_flex_law law, double mu, const double u[3], const double *l)
{
    double full = mu * hypot(u[1], u[2]), max = mu * l[0];
    if (law != TL_FLEX_CONE) return 0;
    if (!(max > 0)) return full;
    return full * fmin(1, fmax(0, 10 * hypot(l[1], l[2]) / max - 9));
}

/* Rows of joints: x + d of a change d of their velocities goes to x - r d / (1 + r give). */
static inline double tl_flex_box_root(const tl_contact_box *box, int k, double r, double x)
{
    return x > box->lo[k] && x < box->hi[k] ? sqrt(r / (1 + r * box->give[k])) : 0;
}

#endif
