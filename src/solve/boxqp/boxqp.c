#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "base/timer.h"
#include "solve/boxqp/box.h"
#include "solve/boxqp/method.h"
#include "solve/vecops.h"

extern const tl_boxqp_method tl_boxqp_mprgp, tl_boxqp_mprgp_original, tl_boxqp_pip, tl_boxqp_auglag, tl_boxqp_admm,
    tl_boxqp_cg;

static const tl_boxqp_method *const methods[] = {
    &tl_boxqp_mprgp, &tl_boxqp_mprgp_original, &tl_boxqp_pip, &tl_boxqp_auglag, &tl_boxqp_admm, &tl_boxqp_cg,
};

int tl_boxqp_method_count(void) { return (int)(sizeof methods / sizeof methods[0]); }
const tl_boxqp_method *tl_boxqp_method_at(int i) { return methods[i]; }

const tl_boxqp_method *tl_boxqp_method_find(const char *name)
{
    for (int i = 0; i < tl_boxqp_method_count(); i++)
        if (!strcmp(methods[i]->name, name)) return methods[i];
    return NULL;
}

/* max|e_i| of the certificate for x with gradient g, over all parts; not divided by max|b|. */
static double natural(const tl_boxqp *p, const double *x, const double *g)
{
    int64_t n = p->space->n;
    tl_blocks blocks = tl_blocks_of(n);
    double max[TL_BLOCKS_MAX], all = 0;
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        double m = 0;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            double d = p->diag && p->diag[i] > 0 ? p->diag[i] : 1;
            double e = fabs(d * (x[i] - tl_boxqp_clamp(p, i, x[i] - g[i] / d)));
            m = e > m || isnan(e) ? (isnan(e) ? INFINITY : e) : m;
        }
        max[b] = m;
    }
    for (int b = 0; b < blocks.count; b++) all = max[b] > all ? max[b] : all;
    return tl_space_max(p->space, all);
}

double tl_boxqp_gradient(const tl_boxqp *p, double *x, double *g, tl_work *w)
{
    tl_linop_apply(&p->A, p->space, x, g, w);
    tl_vec_sub(p->space->n, g, p->b, g);
    return natural(p, x, g);
}

double tl_boxqp_scale(const tl_boxqp *p)
{
    double b_max = tl_space_max_abs(p->space, p->b);
    return b_max > 0 ? b_max : 1;
}

double tl_boxqp_mean_diagonal(const tl_boxqp *p)
{
    if (!p->diag) return 1;
    double total[2] = {tl_sum(p->space->n, p->diag), (double)p->space->n};
    if (p->space->reduce) p->space->reduce(p->space, TL_REDUCE_SUM, 2, total);
    return total[0] > 0 ? total[0] / total[1] : 1;
}

void tl_boxqp_project(const tl_boxqp *p, double *x)
{
#pragma omp parallel for schedule(static) if (p->space->n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < p->space->n; i++) x[i] = tl_boxqp_clamp(p, i, x[i]);
}

talus_status tl_boxqp_certify(const tl_boxqp *p, double *x, tl_boxqp_certificate *out, tl_arena *a, talus_error *err)
{
    const tl_space *s = p->space;
    TL_TRY(tl_space_reserve(s, a, tl_space_room(s), err));
    size_t mark = tl_arena_mark(a);
    double *g = tl_space_take(s, a);
    double natural = tl_boxqp_gradient(p, x, g, NULL), scale = tl_boxqp_scale(p);
    out->optimality = isfinite(scale) ? natural / scale : INFINITY; /* an infinite b would excuse everything */

    /* 1/2 x'Ax - b'x = (x'g - x'b)/2 */
    out->energy = 0.5 * (tl_space_dot(s, x, g) - tl_space_dot(s, x, p->b));
    double outside = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double d = fabs(x[i] - tl_boxqp_clamp(p, i, x[i]));
        outside = isnan(d) ? INFINITY : d > outside ? d : outside;
    }
    out->violation = tl_space_max(s, outside);
    tl_arena_release(a, mark);
    return TALUS_OK;
}

talus_status tl_boxqp_solve(const tl_boxqp_method *m, const tl_boxqp *p, const tl_options *o, const tl_stop *stop,
                            double *x, tl_arena *a, tl_boxqp_report *report, talus_error *err)
{
    size_t need = m->bytes(p, o), certify = tl_space_room(p->space);
    TL_TRY(tl_space_reserve(p->space, a, need > certify ? need : certify, err));
    *report = (tl_boxqp_report){.work.history = o->history};
    double began = tl_seconds();
    report->outcome = m->run(p, o, stop, x, a, &report->work);
    report->seconds = tl_seconds() - began;
    TL_TRY(tl_boxqp_certify(p, x, &report->certificate, a, err));
    bool confirmed = report->certificate.optimality <= 10 * stop->tolerance;
    if (m->handles_bounds && report->outcome.result == TL_CONVERGED && !confirmed) report->outcome.result = TL_STALLED;
    return TALUS_OK;
}
