#include "solve/pressure/bounded.h"

#include <math.h>

#include "base/sum.h"
#include "solve/pressure/blocks.h"
#include "solve/pressure/space.h"

#define STEP 0.95 /* of 1/d_i: the scaled matrix has norm <= 2, so a gradient step this long cannot raise the energy */
#define WEAK                                                                                                           \
    0.01 /* of the residual: a bound that pushes less than this hardly holds; 1e-6 to 1e-2 are equal, 0.1 is worse */
/* Of a free cell's x, what survives a release at least. Without it a release may bind cells by the thousand that
 * come back one layer per iteration: 13 iterations instead of 10 in the worst of 6 spheres at 128^3. */
#define KEEP 0.1
#define MAX_CONFIRMS 8
#define MAX_HALVINGS 60

typedef struct split {
    double beta2;    /* |chopped gradient|^2, in the metric 1/d */
    double reduced;  /* free gradient, limited to what a step STEP/d leaves inside, times itself, in the same metric */
    double residual; /* max|projected gradient| */
} split;

typedef struct parts {
    split split;
    double first, second; /* a sum and a minimum, or another sum */
} parts;

typedef struct loop {
    const tl_pressure_system *s;
    tl_pressure_vectors *v;
    tl_work *w;
} loop;

/* ---- passes over a block ---- */

static void product_rows(const tl_pressure_system *s, const double *x, double *y, int32_t from, int32_t to)
{
    const int32_t *restrict j0 = s->nb[0], *restrict j1 = s->nb[1], *restrict j2 = s->nb[2], *restrict j3 = s->nb[3],
                            *restrict j4 = s->nb[4], *restrict j5 = s->nb[5];
    const float *restrict c0 = s->c[0], *restrict c1 = s->c[1], *restrict c2 = s->c[2], *restrict c3 = s->c[3],
                          *restrict c4 = s->c[4], *restrict c5 = s->c[5];
    const double *restrict d = s->d;
#pragma omp simd
    for (int32_t i = from; i < to; i++)
        y[i] = d[i] * x[i] - ((c0[i] * x[j0[i]] + c1[i] * x[j1[i]]) + (c2[i] * x[j2[i]] + c3[i] * x[j3[i]]) +
                              (c4[i] * x[j4[i]] + c5[i] * x[j5[i]]));
}

static void split_rows(const double *restrict x, const double *restrict g, const double *restrict d, double lo,
                       int32_t from, int32_t to, split *out)
{
    double beta2[8] = {0}, reduced[8] = {0}, max[8] = {0};
    int32_t i = from;
    for (; i < to; i += 8) {
        int count = to - i < 8 ? (int)(to - i) : 8;
        for (int k = 0; k < count; k++) {
            double gi = g[i + k], room = (x[i + k] - lo) * d[i + k] * (1 / STEP), over = 1 / d[i + k];
            bool is_free = x[i + k] > lo;
            double phi = is_free ? gi : 0, beta = is_free || gi > 0 ? 0 : gi;
            double limited = phi < room ? phi : room;
            beta2[k] += beta * beta * over;
            reduced[k] += limited * phi * over;
            double e = fabs(phi + beta);
            max[k] = e > max[k] ? e : max[k];
        }
    }
    for (int k = 1; k < 8; k++) {
        beta2[0] += beta2[k];
        reduced[0] += reduced[k];
        max[0] = max[k] > max[0] ? max[k] : max[0];
    }
    *out = (split){beta2[0], reduced[0], max[0]};
}

static double dot_rows(const double *restrict x, const double *restrict y, int32_t from, int32_t to)
{
    double lane[TL_LANES] = {0}, tail = 0;
    int32_t i = from;
    for (; i + TL_LANES <= to; i += TL_LANES)
        for (int k = 0; k < TL_LANES; k++) lane[k] += x[i + k] * y[i + k];
    for (; i < to; i++) tail += x[i] * y[i];
    return tl_lanes_total(lane) + tail;
}

/* (x - x_old).(g + g_old): twice the energy gained, exact for a quadratic. */
static double rise_rows(const double *restrict x, const double *restrict x_old, const double *restrict g,
                        const double *restrict g_old, int32_t from, int32_t to)
{
    double lane[TL_LANES] = {0}, tail = 0;
    int32_t i = from;
    for (; i + TL_LANES <= to; i += TL_LANES)
        for (int k = 0; k < TL_LANES; k++) lane[k] += (x[i + k] - x_old[i + k]) * (g[i + k] + g_old[i + k]);
    for (; i < to; i++) tail += (x[i] - x_old[i]) * (g[i] + g_old[i]);
    return tl_lanes_total(lane) + tail;
}

/* Largest a for which x - a p stays above lo. */
static double room_rows(const double *restrict x, const double *restrict p, double lo, int32_t from, int32_t to)
{
    double least = INFINITY;
#pragma omp simd reduction(min : least)
    for (int32_t i = from; i < to; i++) {
        double a = p[i] > 0 ? (x[i] - lo) / p[i] : INFINITY;
        least = a < least ? a : least;
    }
    return least;
}

static void walk_rows(double a, const double *restrict p, const double *restrict q, double lo, double *restrict x,
                      double *restrict g, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++) {
        double v = x[i] - a * p[i];
        x[i] = v > lo ? v : lo;
        g[i] -= a * q[i];
    }
}

static void project_rows(double a, const double *restrict x, const double *restrict p, double lo, double keep,
                         double *restrict out, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++) {
        double v = x[i] - a * p[i], low = keep > 0 ? keep * x[i] : lo;
        out[i] = v > low ? v : low;
    }
}

/* ---- passes over all unknowns: cells in blocks, what is appended as one more ---- */

/* Over all parts of the run. */
static void add_up(const tl_comm *c, parts *all)
{
    static const tl_reduce op[] = {TL_REDUCE_SUM, TL_REDUCE_SUM, TL_REDUCE_MAX, TL_REDUCE_SUM, TL_REDUCE_MIN};
    double value[] = {all->split.beta2, all->split.reduced, all->split.residual, all->first, all->second};
    tl_comm_reduce_each(c, 5, op, value);
    *all = (parts){{value[0], value[1], value[2]}, value[3], value[4]};
}

static parts gather(const tl_pressure_system *s, int blocks, const parts *part)
{
    parts all = {.second = INFINITY};
    const bool counted = s->extras && (!s->space || s->space->comm->part == 0); /* appended unknowns are on all parts */
    for (int b = 0; b <= blocks; b++) {
        if (b == blocks && !counted) break;
        all.split.beta2 += part[b].split.beta2;
        all.split.reduced += part[b].split.reduced;
        double e = part[b].split.residual;
        all.split.residual = e > all.split.residual ? e : all.split.residual;
        all.first += part[b].first;
        all.second = part[b].second < all.second ? part[b].second : all.second;
    }
    if (s->space) add_up(s->space->comm, &all);
    return all;
}

#define APPENDED(s) (s)->n, (s)->n + (s)->extras
#define EXTRA_D(s) ((s)->extra.diag - (s)->n)

/* y = A x */
static void product(const loop *l, double *x, double *y)
{
    const tl_pressure_system *s = l->s;
    l->w->products++;
    tl_pressure_get_both(s->space, sizeof *x, x, s->none);
    TL_FOR_BLOCKS(0, s->n, product_rows(s, x, y, from, to));
    for (int32_t i = s->n; i < s->n + s->extras; i++) y[i] = 0;
    if (s->extra.add) s->extra.add(s->extra.ctx, x, y);
}

static void curvature_rows(const loop *l, double lo, int32_t from, int32_t to, parts *out)
{
    const tl_pressure_vectors *v = l->v;
    out->split = (split){0};
    out->first = dot_rows(v->p, v->q, from, to);
    out->second = room_rows(v->x, v->p, lo, from, to);
}

/* q = A p, with p.q and the room along -p. */
static parts curvature(const loop *l)
{
    const tl_pressure_system *s = l->s;
    parts part[TL_BLOCKS_MAX + 1];
    if (s->extra.add) {
        product(l, l->v->p, l->v->q);
        TL_FOR_BLOCKS(0, s->n, curvature_rows(l, s->lo, from, to, &part[block]));
    } else {
        l->w->products++;
        tl_pressure_get_both(s->space, sizeof *l->v->p, l->v->p, s->none);
        TL_FOR_BLOCKS(0, s->n, {
            product_rows(s, l->v->p, l->v->q, from, to);
            curvature_rows(l, s->lo, from, to, &part[block]);
        });
    }
    int blocks = tl_blocks_of(s->n).count;
    curvature_rows(l, s->lo_extra, APPENDED(s), &part[blocks]);
    return gather(s, blocks, part);
}

static void gradient_rows(const loop *l, const double *x, double *g, const double *d, double lo, int32_t from,
                          int32_t to, parts *out)
{
    const double *restrict b = l->s->b;
    for (int32_t i = from; i < to; i++) g[i] -= b[i];
    split_rows(x, g, d, lo, from, to, &out->split);
    out->first = x == l->v->x ? 0 : rise_rows(x, l->v->x, g, l->v->g, from, to);
    out->second = 0;
}

/* g = A x - b with its split, and in `first` twice the energy gained since v->x with v->g. */
static parts gradient(const loop *l, double *x, double *g)
{
    const tl_pressure_system *s = l->s;
    parts part[TL_BLOCKS_MAX + 1];
    if (s->extra.add) {
        product(l, x, g);
        TL_FOR_BLOCKS(0, s->n, gradient_rows(l, x, g, s->d, s->lo, from, to, &part[block]));
    } else {
        l->w->products++;
        tl_pressure_get_both(s->space, sizeof *x, x, s->none);
        TL_FOR_BLOCKS(0, s->n, {
            product_rows(s, x, g, from, to);
            gradient_rows(l, x, g, s->d, s->lo, from, to, &part[block]);
        });
    }
    int blocks = tl_blocks_of(s->n).count;
    if (s->extras) gradient_rows(l, x, g, EXTRA_D(s), s->lo_extra, APPENDED(s), &part[blocks]);
    return gather(s, blocks, part);
}

/* x -= a p, g -= a q, and the split there. */
static split walk(const loop *l, double a)
{
    const tl_pressure_system *s = l->s;
    tl_pressure_vectors *v = l->v;
    parts part[TL_BLOCKS_MAX + 1];
    TL_FOR_BLOCKS(0, s->n, {
        walk_rows(a, v->p, v->q, s->lo, v->x, v->g, from, to);
        split_rows(v->x, v->g, s->d, s->lo, from, to, &part[block].split);
        part[block].first = part[block].second = 0;
    });
    int blocks = tl_blocks_of(s->n).count;
    if (s->extras) {
        walk_rows(a, v->p, v->q, s->lo_extra, v->x, v->g, APPENDED(s));
        split_rows(v->x, v->g, EXTRA_D(s), s->lo_extra, APPENDED(s), &part[blocks].split);
        part[blocks].first = part[blocks].second = 0;
    }
    return gather(s, blocks, part).split;
}

/* trial = x - a p, not below keep x and lo; moves there unless the energy rises. */
static bool try_projected(const loop *l, double a, double keep, split *now)
{
    const tl_pressure_system *s = l->s;
    tl_pressure_vectors *v = l->v;
    TL_FOR_BLOCKS(0, s->n, project_rows(a, v->x, v->p, s->lo, s->lo < 0 ? 0 : keep, v->trial, from, to));
    project_rows(a, v->x, v->p, s->lo_extra, s->lo_extra < 0 ? 0 : keep, v->trial, APPENDED(s));
    l->w->projections++;
    parts there = gradient(l, v->trial, v->q); /* A p is not needed after this */
    if (!(there.first <= 0)) return false;
    double *x = v->x, *g = v->g;
    v->x = v->trial;
    v->trial = x;
    v->g = v->q;
    v->q = g;
    *now = there.split;
    return true;
}

/* ---- steps ---- */

static tl_pressure_free free_set(const loop *l, double limit)
{
    return (tl_pressure_free){.x = l->v->x, .g = l->v->g, .lo = l->s->lo, .limit = limit};
}

static bool appended_free(const loop *l, int32_t i, double limit)
{
    return l->v->x[i] > l->s->lo_extra || l->v->g[i] < limit;
}

static void fit(const loop *l, const tl_pressure_precond *P, double limit)
{
    tl_pressure_free f = free_set(l, limit);
    tl_lowrank *r = l->s->lowrank;
    bool changed = P->fit(P->ctx, &f);
    if (changed) l->w->factorizations++;
    if (!r) return;
    if (changed) tl_lowrank_age(r);
    for (int32_t j = 0; j < l->s->extras; j++) r->is_free[j] = appended_free(l, l->s->n + j, limit);
    l->w->preconds += tl_lowrank_fit(r, P);
}

/* Columns of the free set as it is; false when they are. */
static bool renew(const loop *l, const tl_pressure_precond *P)
{
    tl_lowrank *r = l->s->lowrank;
    if (!r || !r->aged) return false;
    l->w->preconds += tl_lowrank_renew(r, P);
    return true;
}

/* z.g with z = M^-1 g on the free set; z stays in the preconditioner, appended parts are found again by direction(). */
static double apply(const loop *l, const tl_pressure_precond *P, double size, double limit)
{
    const tl_pressure_system *s = l->s;
    l->w->preconds++;
    if (s->lowrank && s->lowrank->ready) {
        l->w->preconds++;
        return tl_lowrank_apply(s->lowrank, P, l->v->g, size);
    }
    double zg = P->apply(P->ctx, l->v->g, size);
    for (int32_t i = s->n; i < s->n + s->extras; i++)
        if (appended_free(l, i, limit)) zg += l->v->g[i] * l->v->g[i] / EXTRA_D(s)[i];
    return zg;
}

static void direction(const loop *l, const tl_pressure_precond *P, double beta, double limit)
{
    const tl_pressure_system *s = l->s;
    double *p = l->v->p;
    if (s->lowrank && s->lowrank->ready) {
        const double *z = s->lowrank->z;
        for (int32_t i = 0; i < s->n + s->extras; i++) p[i] = beta == 0 ? z[i] : z[i] + beta * p[i];
        return;
    }
    P->direction(P->ctx, beta, p);
    for (int32_t i = s->n; i < s->n + s->extras; i++) {
        double z = appended_free(l, i, limit) ? l->v->g[i] / EXTRA_D(s)[i] : 0;
        p[i] = beta == 0 ? z : z + beta * p[i];
    }
}

/* Let go of what the gradient pulls off its bound, and of what its bound hardly holds, by one preconditioned step. */
static bool release(const loop *l, const tl_pressure_precond *P, split *now)
{
    double limit = WEAK * now->residual;
    fit(l, P, limit);
    double zg = apply(l, P, now->residual, limit);
    direction(l, P, 0, limit);
    double curved = curvature(l).first, a = zg / curved;
    return curved > 0 && zg > 0 && isfinite(a) && try_projected(l, a, KEEP, now);
}

static void steepest_rows(const loop *l, const double *d, double lo, bool chopped, int32_t from, int32_t to)
{
    const tl_pressure_vectors *v = l->v;
    for (int32_t i = from; i < to; i++) {
        bool at_bound = !(v->x[i] > lo);
        double g = v->g[i];
        v->p[i] = (chopped ? at_bound && g < 0 : !at_bound) ? g / d[i] : 0;
    }
}

/* p = chopped or free gradient, over d. */
static void steepest(const loop *l, bool chopped)
{
    const tl_pressure_system *s = l->s;
    TL_FOR_BLOCKS(0, s->n, steepest_rows(l, s->d, s->lo, chopped, from, to));
    if (s->extras) steepest_rows(l, EXTRA_D(s), s->lo_extra, chopped, APPENDED(s));
}

/* The plain proportioning step, for when release() does not help. False: unbounded below. */
static bool proportion(const loop *l, split *now)
{
    steepest(l, true);
    parts there = curvature(l);
    double a = now->beta2 / there.first;
    if (a > there.second) a = there.second;
    if (!(there.first > 0) || !isfinite(a)) return false;
    *now = walk(l, a);
    return true;
}

/* To the boundary, then one projected gradient step; only for when the projected CG step raises the energy. What
 * bodies add is not in d, so the step is halved until the energy does not rise. */
static bool expand_carefully(const loop *l, double room, split *now)
{
    product(l, l->v->p, l->v->q); /* the failed trial overwrote A p */
    *now = walk(l, room);
    double a = STEP;
    for (int k = 0; k < MAX_HALVINGS; k++, a *= 0.5) {
        steepest(l, false);
        if (try_projected(l, a, 0, now)) return true;
    }
    return false;
}

/* ---- the loop ---- */

static double scale_of(const tl_pressure_system *s)
{
    double max = tl_comm_max(tl_pressure_comm(s->space), tl_max_abs((int64_t)s->n + s->extras, s->b));
    return max > 0 ? max : 1;
}

typedef struct pace {
    int patience, since;
    double mark;
} pace;

/* True when the residual did not fall tenfold within the patience. */
static bool too_slow(pace *p, int iterations, double residual)
{
    if (!p->patience || iterations - p->since < p->patience) return false;
    bool slow = !(residual <= 0.1 * p->mark);
    *p = (pace){p->patience, iterations, residual};
    return slow;
}

tl_outcome tl_pressure_bounded(const tl_pressure_system *s, const tl_pressure_precond *P, tl_pressure_vectors *v,
                               const tl_stop *stop, int patience, tl_pressure_counts *counts, tl_work *w)
{
    const loop l = {s, v, w};
    const int32_t all = s->n + s->extras, zero = s->none > all ? s->none : all;
    v->x[zero] = v->p[zero] = v->trial[zero] = 0;
    double scale = scale_of(s), target = stop->tolerance * scale;
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS};

    bool restart = true, fresh = true, moved = true; /* fresh: g from its definition; moved: another free set, maybe */
    int confirms = 0, stayed = 0;                    /* CG steps since the free set changed */
    double zg_old = 0;
    split now = gradient(&l, v->x, v->g).split;
    pace pace_now = {patience, 0, now.residual};
    for (;;) {
        out.residual = now.residual / scale;
        if (!isfinite(now.beta2 + now.reduced + now.residual)) {
            out.residual = INFINITY; /* a maximum passes over what is not a number */
            out.result = TL_BROKE_DOWN;
            break;
        }
        if (now.residual <= target) {
            if (fresh) {
                out.result = TL_CONVERGED;
                break;
            }
            now = gradient(&l, v->x, v->g).split;
            fresh = restart = true;
            if (++confirms > MAX_CONFIRMS) {
                out.result = TL_STALLED;
                break;
            }
            continue;
        }
        if ((stop->max_iterations && out.iterations >= stop->max_iterations) || tl_stop_spent(stop, w)) break;
        if (too_slow(&pace_now, out.iterations, now.residual)) {
            out.result = TL_STALLED;
            break;
        }
        out.iterations++;
        tl_work_record(w, out.residual);

        if (now.beta2 > now.reduced) {
            counts->releases++;
            fresh = release(&l, P, &now);
            restart = moved = true;
            stayed = 0;
            if (fresh || proportion(&l, &now)) continue;
            out.result = TL_BROKE_DOWN;
            break;
        }

        /* conjugate gradients on the free set */
        if (moved) fit(&l, P, -INFINITY);
        moved = false;
        if (stayed >= TL_LOWRANK_STAYED && renew(&l, P)) restart = true;
        double zg = apply(&l, P, now.residual, -INFINITY);
        if (!(zg > 0) && renew(&l, P)) { /* columns so old that P is not positive */
            restart = true;
            zg = apply(&l, P, now.residual, -INFINITY);
        }
        direction(&l, P, restart ? 0 : zg / zg_old, -INFINITY);
        restart = false;
        zg_old = zg;
        parts there = curvature(&l);
        double a = zg / there.first;
        if (there.first > 0 && a < there.second) {
            now = walk(&l, a);
            fresh = false;
            stayed++;
            continue;
        }
        if (!isfinite(there.second)) {
            out.result = TL_BROKE_DOWN; /* unbounded below, or zg not finite */
            break;
        }
        counts->expansions++;
        bool bold = there.first > 0 && isfinite(a) && try_projected(&l, a, 0, &now);
        if (!bold && !expand_carefully(&l, there.second, &now)) {
            out.result = TL_STALLED;
            break;
        }
        fresh = restart = moved = true;
        stayed = 0;
    }
    return out;
}
