#include "phase/lg/newton.h"

#include <math.h>
#include <string.h>

#include "base/sum.h"

#define SEARCH_MAX 30      /* halvings of a step */
#define SEARCH_SHARE 1e-4  /* of the decrease that the slope promises */
#define SEARCH_SLACK 1e-13 /* of the energy: a rise by less is rounding */
#define SOLVED 1e-3        /* of the residual of a correction, in the norm of A^-1 */
#define PROBE 1e-5         /* mean edges: how far forces are looked at for their change */

/* ---- search ---- */

static double merit(const tl_lg_newton *w, const double *q)
{
    const tl_lg *lg = w->lg;
    double inertia = 0, work = 0;
    for (int64_t i = 0; i < 3 * (int64_t)lg->nodes; i++)
        inertia += 0.5 * lg->mass[i / 3] * (q[i] - w->qtil[i]) * (q[i] - w->qtil[i]);
    for (int32_t i = 0; w->rows && i < w->rows->nodes; i++)
        for (int64_t k = 3 * (int64_t)w->rows->node[i], end = k + 3; k < end; k++) work += w->rows->force[k] * q[k];
    return inertia + w->he * w->he *
                         (tl_lg_stress(lg, q, NULL) + tl_lg_linear_energy(lg, q, w->target) - work -
                          tl_lg_press_work(lg, w->pressure, w->q, q));
}

double tl_lg_newton_search(tl_lg_newton *w)
{
    int64_t n = 3 * (int64_t)w->lg->nodes;
    double now = merit(w, w->q), slope = -tl_dot(n, w->r, w->step), length = 1;
    for (int k = 0; k < SEARCH_MAX; k++, length *= 0.5) {
        for (int64_t i = 0; i < n; i++) w->trial[i] = w->q[i] + length * w->step[i];
        if (merit(w, w->trial) <= now + SEARCH_SHARE * length * slope + SEARCH_SLACK * fabs(now)) break;
    }
    memcpy(w->q, w->trial, sizeof *w->q * (size_t)n);
    return length;
}

/* ---- a correction ---- */

talus_status tl_lg_newton_begin(tl_lg_newton *w, tl_arena *arena, talus_error *err)
{
    const int64_t n = 3 * (int64_t)w->lg->nodes, bodies = w->lg->bodies + 1;
    double **const nodes[] = {&w->d, &w->p, &w->left, &w->product},
                   **const by_body[] = {&w->size, &w->rz, &w->first, &w->bend};
    bool ok = (w->of = TL_TAKE(arena, bool, bodies)) && (w->open = TL_TAKE(arena, bool, bodies));
    for (int k = 0; k < 4 && ok; k++)
        ok = (*nodes[k] = TL_TAKE(arena, double, n)) && (*by_body[k] = TL_TAKE_ZERO(arena, double, bodies));
    if (!ok) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of elastic bodies");
    for (int b = 0; b < w->lg->bodies; b++) w->of[b] = w->lg->body[b].material.scheme != TL_LG_PROX;
    for (int32_t k = 0; w->rows && k < w->rows->nodes; k++) w->of[w->lg->owner[w->rows->node[k]]] = false;
    for (int b = 0; b < w->lg->bodies && w->held; b++) w->of[b] = w->of[b] && !w->held[b];
    return TALUS_OK;
}

void tl_lg_newton_residual(tl_lg_newton *w, const double *x, double *r)
{
    (void)tl_lg_stress(w->lg, x, w->force);
    tl_lg_residual(w->lg, w->he, x, w->qtil, w->target, w->force, r);
    tl_lg_press(w->lg, w->pressure, w->he * w->he, x, r);
}

/* Products a . b of bodies. */
static void by_body(const tl_lg_newton *w, const double *a, const double *b, double *out)
{
    for (int k = 0; k < w->lg->bodies; k++) {
        const int64_t from = 3 * (int64_t)w->lg->body[k].node, n = 3 * (int64_t)w->lg->body[k].nodes;
        out[k] = tl_dot(n, a + from, b + from);
    }
}

/* x += part[body] y for open bodies. */
static void add_scaled(const tl_lg_newton *w, const double *part, double sign, const double *y, double *x)
{
    for (int64_t i = 0; i < w->lg->nodes; i++) {
        const int b = w->lg->owner[i];
        for (int64_t k = 3 * i; k < 3 * i + 3 && w->open[b]; k++) x[k] += sign * part[b] * y[k];
    }
}

/* Curvature along p: forces a small way on, less those of now. */
static void curve(tl_lg_newton *w)
{
    for (int b = 0; b < w->lg->bodies; b++) {
        double max = 0;
        for (int64_t k = 3 * (int64_t)w->lg->body[b].node, end = k + 3 * (int64_t)w->lg->body[b].nodes; k < end; k++)
            max = fmax(max, fabs(w->p[k]));
        w->size[b] = max > 0 && w->open[b] ? PROBE * w->lg->skin.body[b].mean / max : 0;
    }
    memcpy(w->trial, w->q, sizeof *w->q * 3 * (size_t)w->lg->nodes);
    add_scaled(w, w->size, 1, w->p, w->trial);
    tl_lg_newton_residual(w, w->trial, w->product);
    for (int64_t i = 0; i < w->lg->nodes; i++) {
        double by = w->size[w->lg->owner[i]];
        for (int64_t k = 3 * i; k < 3 * i + 3; k++) w->product[k] = by > 0 ? (w->r[k] - w->product[k]) / by : 0;
    }
    by_body(w, w->p, w->product, w->bend);
}

/* d: conjugate gradients on the energy's curvature, A as preconditioner; every body by itself. Returns the
 * iterations made. */
static int descend(tl_lg_newton *w, int max)
{
    const int64_t n = 3 * (int64_t)w->lg->nodes;
    int k = 0;
    memset(w->d, 0, sizeof *w->d * (size_t)n);
    memcpy(w->left, w->r, sizeof *w->r * (size_t)n);
    tl_lg_solve(w->solver, w->precision, w->left, w->step);
    by_body(w, w->left, w->step, w->first);
    memcpy(w->rz, w->first, sizeof *w->rz * (size_t)w->lg->bodies);
    memcpy(w->p, w->step, sizeof *w->p * (size_t)n);
    for (; k < max; k++) {
        bool any = false;
        curve(w);
        for (int b = 0; b < w->lg->bodies; b++) {
            if (w->open[b] && !(w->bend[b] > 0)) { /* the energy bends down: as far as A says, or where it had got to */
                for (int64_t i = 3 * (int64_t)w->lg->body[b].node, end = i + 3 * (int64_t)w->lg->body[b].nodes;
                     i < end && k == 0; i++)
                    w->d[i] = w->p[i];
                w->open[b] = false;
            }
            w->size[b] = w->open[b] ? w->rz[b] / w->bend[b] : 0;
            any = any || w->open[b];
        }
        if (!any) break;
        add_scaled(w, w->size, 1, w->p, w->d);
        add_scaled(w, w->size, -1, w->product, w->left);
        tl_lg_solve(w->solver, w->precision, w->left, w->step);
        by_body(w, w->left, w->step, w->bend);
        for (int64_t i = 0; i < w->lg->nodes; i++) {
            const int b = w->lg->owner[i];
            for (int64_t j = 3 * i; j < 3 * i + 3 && w->open[b]; j++)
                w->p[j] = w->step[j] + w->bend[b] / w->rz[b] * w->p[j];
        }
        for (int b = 0; b < w->lg->bodies; b++) {
            w->rz[b] = w->bend[b];
            if (!(w->rz[b] > SOLVED * SOLVED * w->first[b])) w->open[b] = false;
        }
    }
    return k;
}

int tl_lg_newton_correct(tl_lg_newton *w, int max)
{
    bool any = false;
    for (int b = 0; b < w->lg->bodies; b++) {
        w->open[b] = w->of[b];
        any = any || w->of[b];
    }
    if (!any) return -1;
    tl_lg_newton_residual(w, w->q, w->r);
    for (int64_t i = 0; i < w->lg->nodes; i++)
        for (int64_t k = 3 * i; k < 3 * i + 3 && !w->of[w->lg->owner[i]]; k++) w->r[k] = 0;
    int made = descend(w, max);
    memcpy(w->step, w->d, sizeof *w->d * 3 * (size_t)w->lg->nodes);
    (void)tl_lg_newton_search(w);
    return made;
}
