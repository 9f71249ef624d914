/* Certificate of methods by parts, from the problem and, for cones, the duals that a method leaves: any of them is
 * good for a bound. */
#include <math.h>

#include "solve/cone/parts_inside.h"

/* Over the largest radius. */
static double outside(const tl_parts_solve *k)
{
    double max = 0, largest = 0, at[TL_CONE_MAX];
    for (int32_t i = 0; i < k->t->groups; i++) {
        double r = fmax(k->p->radius[i], 0);
        tl_parts_see(k, k->x, i, at);
        max = fmax(max, sqrt(tl_parts_form(k, at)) - r);
        largest = fmax(largest, r);
    }
    return largest > 0 ? max / largest : 0;
}

/* With duals w (of the method, or the pull of its penalty), g's is at most what cones leave of w's, and what w does
 * not balance of g times the room that there is: g (x - v) for any v inside of all cones, with that room taken as
 * the boxes of the pyramid. Destroys g. */
static double gap_of_cones(const tl_parts_solve *k)
{
    double gap = 0, at[TL_CONE_MAX], w[TL_CONE_MAX], q[TL_CONE_MAX];
    for (int32_t i = 0; i < k->t->groups; i++) {
        const double r = k->p->radius[i], *dual_of = k->plan->dual ? k->plan->dual + k->m * (int64_t)i : NULL;
        tl_parts_see(k, k->x, i, at);
        for (int c = 0; c < k->m; c++)
            w[c] = dual_of ? dual_of[c] : r > 0 ? k->plan->multiplier[i] / (r * r) * at[c] : 0;
        tl_cone_mul(k->m, k->p->Q, w, q);
        gap += fmax(r, 0) * sqrt(tl_parts_form(k, w)) - tl_cone_dot(k->m, q, at);
        tl_parts_spread(k, i, q, k->g);
    }
    for (int64_t i = 0; i < k->n; i++) gap += fabs(k->g[i]) * (fabs(k->x[i]) + sqrt(0.5) * fmax(k->reach[i], 0));
    return gap;
}

talus_status tl_cone_parts_gap(const tl_cone *p, double *x, tl_arena *a, double *out, talus_error *err)
{
    size_t mark = tl_arena_mark(a);
    tl_parts_solve k;
    tl_work unused = {0};
    TL_TRY(tl_parts_solve_begin(&k, p, x, a, &unused, err));
    tl_linop_apply(&p->A, p->space, x, k.wide, NULL);
    double gap = 0, energy = 0;
    for (int64_t i = 0; i < k.n; i++) {
        k.g[i] = k.wide[i] - p->b[i];
        if (!k.plan->rule->cone) gap += k.g[i] * x[i] + tl_parts_box(&k, i) * fabs(k.g[i]);
        energy += x[i] * (0.5 * k.wide[i] - p->b[i]);
    }
    if (k.plan->rule->cone) gap = gap_of_cones(&k);
    *out = gap > 0 ? gap / fmax(fabs(energy), 1e-300) : 0;
    if (k.plan->rule->cone) *out = fmax(*out, outside(&k));
    tl_arena_release(a, mark);
    return TALUS_OK;
}
