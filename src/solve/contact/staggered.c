/* Staggered projections [FM21 sec. 4.3.1, Kaufman2008]: friction at frozen normal impulses by disc sweeps, normal
 * impulses at frozen friction as a box QP by MPRGP, in turns until neither moves. The box QP is
 * scaled to unit diagonal by sqrt(w_n). Needs no factorisation and carries mass ratios well; slow where normal
 * and friction lean on each other (card houses, arches). */
#include <string.h>

#include "solve/boxqp/method.h"
#include "solve/contact/methods.h"
#include "solve/contact/sweeps.h"

#define TANGENT_SWEEPS 10
#define OUTER_DEFAULT 20
#define INNER_SHARE 1e-3 /* residual of the box QP relative to the outer one */
#define INNER_MAX 2000

typedef struct normals {
    const tl_pairs *t;
    double *lam, *dv;    /* scratch: normal parts only, and their velocities */
    const double *scale; /* [m] sqrt(w_n) */
} normals;

/* y = S W_nn S x */
static void apply_normals(const tl_linop *A, const double *x, double *y)
{
    const normals *s = A->ctx;
    memset(s->lam, 0, 3 * sizeof(double) * (size_t)s->t->contacts);
    for (int32_t c = 0; c < s->t->contacts; c++) s->lam[3 * (int64_t)c] = s->scale[c] * x[c];
    tl_pairs_push(s->t, s->lam, s->dv);
    for (int32_t c = 0; c < s->t->contacts; c++) {
        y[c] = s->scale[c] * tl_pair_change(&s->t->pair[c], s->dv)[0];
    }
}

/* Friction only: discs of fixed radius, dv kept current. */
static void sweep_tangents(const tl_pairs *t, double *lam, double *dv)
{
    for (int32_t c = 0; c < t->contacts; c++) {
        const tl_pair *p = &t->pair[c];
        double *l = lam + 3 * (int64_t)c, u[3], s[2];
        tl_pair_velocity(p, dv, u);
        for (int k = 0; k < 2; k++) s[k] = l[1 + k] - p->w_t * u[1 + k];
        tl_project_disc(p->mu * l[0], s);
        double d[3] = {0, s[0] - l[1], s[1] - l[2]};
        l[1] = s[0];
        l[2] = s[1];
        tl_pair_push(p, d, dv);
    }
}

static size_t bytes(const tl_contact *p, const tl_options *o)
{
    int64_t m = p->space->n / 3;
    tl_space s = tl_space_local(m);
    tl_boxqp qp = {.space = &s};
    tl_options plain = *o;
    plain.precond = NULL;
    return 5 * TL_ARENA_ROOM(double, m) + TL_ARENA_ROOM(double, 3 * m) + 2 * tl_pairs_room(p) +
           tl_boxqp_method_find("mprgp")->bytes(&qp, &plain);
}

static tl_outcome run(const tl_contact *p, const tl_pairs *t, const tl_options *o, const tl_stop *stop, double *lam,
                      tl_arena *a, tl_work *w)
{
    (void)p;
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS, .residual = NAN};
    int64_t m = t->contacts;
    double *scale = TL_TAKE(a, double, m), *b = TL_TAKE(a, double, m), *lo = TL_TAKE(a, double, m);
    double *x = TL_TAKE(a, double, m), *one = TL_TAKE(a, double, m);
    double *dv = TL_TAKE(a, double, tl_pairs_lanes(t));
    normals ctx = {t, TL_TAKE(a, double, 3 * m), TL_TAKE(a, double, tl_pairs_lanes(t)), scale};
    tl_space space = tl_space_local(m);
    tl_boxqp qp = {.space = &space, .A = {.apply = apply_normals, .ctx = &ctx}, .b = b, .lo = lo, .diag = one};
    const tl_boxqp_method *mprgp = tl_boxqp_method_find("mprgp");
    tl_options plain = *o;
    plain.precond = NULL;
    for (int64_t c = 0; c < m; c++) scale[c] = sqrt(t->pair[c].w_n), lo[c] = 0, one[c] = 1;

    int cap = stop->max_iterations ? stop->max_iterations : OUTER_DEFAULT;
    for (;; out.iterations++, w->outer++) {
        out.residual = tl_pairs_residual(t, lam, dv);
        tl_work_record(w, out.residual);
        if (!isfinite(out.residual)) out.result = TL_BROKE_DOWN;
        if (out.residual <= stop->tolerance) out.result = TL_CONVERGED;
        if (out.result != TL_OUT_OF_ITERATIONS || out.iterations >= cap || tl_stop_spent(stop, w)) break;

        for (int k = 0; k < TANGENT_SWEEPS; k++, w->products++) sweep_tangents(t, lam, dv);

        /* normals: minimise over lam_n >= 0 with the friction as it is */
        double b_max = 0;
        tl_pairs_push(t, lam, dv);
        for (int64_t c = 0; c < m; c++) x[c] = lam[3 * c] / scale[c];
        apply_normals(&qp.A, x, b);
        for (int64_t c = 0; c < m; c++) {
            double u[3];
            tl_pair_velocity(&t->pair[c], dv, u);
            b[c] -= scale[c] * u[0];
            b_max = fmax(b_max, fabs(b[c]));
        }
        double least_scale = INFINITY;
        for (int64_t c = 0; c < m; c++) least_scale = fmin(least_scale, scale[c]);
        double target = fmax(INNER_SHARE * out.residual, 0.1 * stop->tolerance) * least_scale;
        mprgp->run(&qp, &plain, &(tl_stop){b_max > 0 ? target / b_max : 1, INNER_MAX, 0}, x, a, w);
        for (int64_t c = 0; c < m; c++) lam[3 * c] = scale[c] * x[c];
    }
    return out;
}

const tl_contact_method tl_contact_staggered = {
    "staggered", "staggered projections: friction sweeps and MPRGP on the normals in turns", true, true, bytes, run};
