#include "solve/contact/sweeps.h"

#include <string.h>

#define REFRESH 10 /* sweeps between recomputations of dv from lam */

static double clamp(double x, double max) { return x > max ? max : x < -max ? -max : x; }

/* Mass of a normal step, kg. While a contact slides its friction follows the normal force and adds mu W_nt . e to
 * the normal velocity that a push makes. Where that is more, 1 / W_nn overshoots, and from twice on two states take
 * turns for ever. It slides where friction would leave its disc. */
static inline double normal_mass(const tl_pair *p, const double *l, const double u[3])
{
    double x = l[1] - p->w_t * u[1], y = l[2] - p->w_t * u[2], length = sqrt(x * x + y * y);
    if (!(p->mu > 0 && length > 0 && length >= 0.999 * p->mu * l[0])) return p->w_n;
    double follows = p->mu * (p->W[1] * x + p->W[2] * y) / length;
    return follows > 0 ? 1 / (p->W[0] + follows) : p->w_n;
}

/* Rows of a joint, one after the other. */
static inline void sweep_box(const tl_pair *p, double *l, double *dv)
{
    double u[3], d[3];
    tl_pair_velocity(p, dv, u);
    for (int k = 0; k < 3; k++) {
        const double give = p->box->give[k], x = l[k] - (u[k] + give * l[k]) / (p->W[4 * k] + give);
        d[k] = tl_contact_clamp(x, p->box->lo[k], p->box->hi[k]) - l[k];
        l[k] += d[k];
        for (int i = k + 1; i < 3; i++) u[i] += p->W[3 * i + k] * d[k];
    }
    tl_pair_push(p, d, dv);
}

/* One contact: the normal, then friction at the velocity that the new normal leaves, both from the contact's own
 * block. */
static inline void sweep_contact(const tl_pair *p, tl_sweep_shape shape, double *l, double *dv)
{
    double u[3], d[3];
    tl_pair_velocity(p, dv, u);
    double n = p->mu < 0 ? 0 : fmax(0, l[0] - normal_mass(p, l, u) * u[0]), max = p->mu < 0 ? -p->mu : p->mu * n;
    d[0] = n - l[0];
    double t[2] = {l[1] - p->w_t * (u[1] + p->W[3] * d[0]), l[2] - p->w_t * (u[2] + p->W[6] * d[0])};
    if (shape == TL_SWEEP_DISC)
        tl_project_disc(max, t);
    else
        t[0] = clamp(t[0], max), t[1] = clamp(t[1], max);
    d[1] = t[0] - l[1];
    d[2] = t[1] - l[2];
    l[0] = n, l[1] = t[0], l[2] = t[1];
    tl_pair_push(p, d, dv);
}

void tl_contact_sweep(const tl_pairs *t, int count, tl_sweep_shape shape, double *lam, double *dv, tl_work *w)
{
    for (int sweep = 1; sweep <= count; sweep++) {
        for (int32_t c = 0; c < t->contacts; c++)
            if (t->pair[c].box)
                sweep_box(&t->pair[c], lam + 3 * (int64_t)c, dv);
            else
                sweep_contact(&t->pair[c], shape, lam + 3 * (int64_t)c, dv);
        if (sweep % REFRESH == 0) tl_pairs_push(t, lam, dv);
        if (w) w->products++, w->projections++;
    }
}
