#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "base/timer.h"
#include "solve/fixedpoint/method.h"
#include "solve/vecops.h"

extern const tl_fixedpoint_method tl_fixedpoint_jacobi, tl_fixedpoint_nncg, tl_fixedpoint_interlinked;

static const tl_fixedpoint_method *const methods[] = {
    &tl_fixedpoint_jacobi,
    &tl_fixedpoint_nncg,
    &tl_fixedpoint_interlinked,
};

int tl_fixedpoint_method_count(void) { return (int)(sizeof methods / sizeof methods[0]); }

const tl_fixedpoint_method *tl_fixedpoint_method_at(int i)
{
    return i >= 0 && i < tl_fixedpoint_method_count() ? methods[i] : NULL;
}

const tl_fixedpoint_method *tl_fixedpoint_method_find(const char *name)
{
    for (int i = 0; i < tl_fixedpoint_method_count(); i++)
        if (!strcmp(methods[i]->name, name)) return methods[i];
    return NULL;
}

/* max_i weight_i |d_i| over all parts; NaN counts as infinity. */
static double weighted_max(const tl_fixedpoint *p, const double *d)
{
    const tl_space *s = p->space;
    if (!p->weight) return tl_space_max(s, tl_vec_max_abs(s->n, d));
    tl_blocks blocks = tl_blocks_of(s->n);
    double part[TL_BLOCKS_MAX], max = 0;
#pragma omp parallel for schedule(static) if (s->n >= TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        part[b] = 0;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            double e = fabs(p->weight[i] * d[i]);
            if (!(e <= part[b])) part[b] = e == e ? e : INFINITY;
        }
    }
    for (int b = 0; b < blocks.count; b++) max = part[b] > max ? part[b] : max;
    return tl_space_max(s, max);
}

/* r = evaluate(x), which may be `known`, y = project(x, r), and the problem's measure (NAN without one). */
static double step_from(const tl_fixedpoint *p, double *x, const double *known, double *r, double *y, tl_work *w)
{
    if (p->space->exchange) p->space->exchange(p->space, x);
    if (known)
        tl_vec_copy(p->space->n, known, r);
    else
        p->evaluate(p->ctx, x, r);
    double measure = p->measure ? p->measure(p->ctx, x, r) : NAN;
    p->project(p->ctx, x, r, y);
    if (w) {
        w->products += !known;
        w->projections++;
    }
    return measure;
}

double tl_fixedpoint_square(const tl_fixedpoint *p, int64_t first, const double *d)
{
    const int64_t n = p->space->n - p->forces, apart = first > p->apart ? first : p->apart;
    double sum = tl_dot(apart - first, d + first, d + first) + tl_dot(n - apart, d + apart, d + apart);
    return tl_space_sum(p->space, sum + p->unit * p->unit * tl_dot(p->forces, d + n, d + n));
}

static void look(const tl_fixedpoint *p, double *x, const double *known, tl_fixedpoint_step *s, tl_work *w)
{
    double measure = step_from(p, x, known, s->r, s->y, w);
    tl_vec_sub(p->space->n, s->y, x, s->r);
    s->square = tl_fixedpoint_square(p, 0, s->r);
    s->residual = p->measure ? measure : weighted_max(p, s->r);
}

void tl_fixedpoint_look(const tl_fixedpoint *p, double *x, tl_fixedpoint_step *s, tl_work *w)
{
    look(p, x, NULL, s, w);
}

void tl_fixedpoint_look_first(const tl_fixedpoint *p, double *x, tl_fixedpoint_step *s, tl_work *w)
{
    look(p, x, p->at_start, s, w);
}

bool tl_fixedpoint_ends(const tl_fixedpoint *p, const tl_options *o, const tl_stop *stop, double *x,
                        tl_fixedpoint_step *s, tl_work *w, tl_outcome *out)
{
    tl_fixedpoint_look(p, x, s, w);
    out->residual = s->residual;
    tl_work_record(w, out->residual);
    if (!isfinite(s->residual) || !isfinite(s->square))
        out->result = TL_BROKE_DOWN;
    else if (s->residual <= stop->tolerance && (out->iterations >= o->least_iterations || s->square == 0))
        out->result = TL_CONVERGED;
    else if (s->square == 0)
        out->result = TL_STALLED; /* a step that moves nothing, yet not good enough */
    if (out->result != TL_OUT_OF_ITERATIONS) return true;
    return (stop->max_iterations && out->iterations >= stop->max_iterations) || tl_stop_spent(stop, w);
}

talus_status tl_fixedpoint_certify(const tl_fixedpoint *p, double *x, tl_fixedpoint_certificate *out, tl_arena *a,
                                   talus_error *err)
{
    const tl_space *s = p->space;
    TL_TRY(tl_space_reserve(s, a, 2 * (tl_space_room(s) + 64), err));
    size_t mark = tl_arena_mark(a);
    double *r = tl_space_take(s, a), *y = tl_space_take(s, a);

    out->measure = step_from(p, x, NULL, r, y, NULL);
    tl_vec_sub(s->n, y, x, y);
    out->change = weighted_max(p, y);
    out->residual = p->measure ? out->measure : out->change;

    tl_vec_copy(s->n + s->halo, x, y);
    p->clamp(p->ctx, y);
    tl_vec_sub(s->n, y, x, y);
    out->violation = weighted_max(p, y);
    tl_arena_release(a, mark);
    return TALUS_OK;
}

talus_status tl_fixedpoint_solve(const tl_fixedpoint_method *m, const tl_fixedpoint *p, const tl_options *o,
                                 const tl_stop *stop, double *x, tl_arena *a, tl_fixedpoint_report *report,
                                 talus_error *err)
{
    size_t need = m->bytes(p, o), certify = 2 * (tl_space_room(p->space) + 64);
    TL_TRY(tl_space_reserve(p->space, a, need > certify ? need : certify, err));
    *report = (tl_fixedpoint_report){.work.history = o->history};
    double began = tl_seconds();
    report->outcome = m->run(p, o, stop, x, a, &report->work);
    report->seconds = tl_seconds() - began;

    TL_TRY(tl_fixedpoint_certify(p, x, &report->certificate, a, err));
    if (report->outcome.result == TL_CONVERGED && !(report->certificate.residual <= 10 * stop->tolerance))
        report->outcome.result = TL_STALLED;
    return TALUS_OK;
}
