#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "base/timer.h"
#include "solve/cone/group.h"
#include "solve/cone/method.h"
#include "solve/cone/methods.h"

static const tl_cone_method *const methods[] = {
    &tl_cone_apgd,
    &tl_cone_pgs,
    &tl_cone_auglag_ipn,
};

int tl_cone_method_count(void) { return (int)(sizeof methods / sizeof *methods); }
const tl_cone_method *tl_cone_method_at(int i) { return methods[i]; }

const tl_cone_method *tl_cone_method_find(const char *name)
{
    for (int i = 0; i < tl_cone_method_count(); i++)
        if (!strcmp(methods[i]->name, name)) return methods[i];
    for (const tl_cone_method *m = tl_cone_by_parts; m->name; m++)
        if (!strcmp(m->name, name)) return m;
    return NULL;
}

/* Largest |b| on groups that can move: when it is 0, x = 0 is a minimiser. */
static double largest_pull(const tl_cone *p)
{
    double max = 0;
    for (int64_t g = 0; g < p->space->n / p->size; g++)
        if (p->radius[g] > 0)
            for (int i = 0; i < p->size; i++) max = fmax(max, fabs(p->b[g * p->size + i]));
    return tl_space_max(p->space, max);
}

static bool confirmed(const tl_cone_method *m, const tl_cone_certificate *c, double tolerance)
{
    if (!(fabs(c->relative_gap) <= 10 * tolerance)) return false;
    return m->feasible || c->relative_violation <= 10 * tolerance;
}

talus_status tl_cone_solve(const tl_cone_method *m, const tl_cone *p, const tl_options *o, const tl_stop *stop,
                           double *x, tl_arena *a, tl_cone_report *report, talus_error *err)
{
    const tl_space *s = p->space;
    *report = (tl_cone_report){.work.history = o->history};
    if (!o->trusted) TL_TRY(tl_cone_check(p, err));
    TL_VALIDATE(tl_cone_check(p, err));
    if (!o->trusted && !isfinite(tl_space_max_abs(s, x)))
        return TL_FAIL(err, TALUS_BAD_INPUT, "cone problem: the start is not finite");

    size_t mark = tl_arena_mark(a);
    size_t bytes = m->bytes(p, o), certify = TL_ARENA_ROOM(double, s->n); /* one after the other */
    TL_TRY(tl_space_reserve(s, a, bytes > certify ? bytes : certify, err));

    double begin = tl_seconds();
    if (!o->trusted && largest_pull(p) == 0) {
        memset(x, 0, sizeof *x * (size_t)s->n);
        report->outcome = (tl_outcome){.result = TL_CONVERGED};
    } else {
        size_t own = tl_arena_mark(a);
        report->outcome = m->run(p, o, stop, x, a, &report->work);
        tl_arena_release(a, own);
    }
    report->seconds = tl_seconds() - begin;

    talus_status status = o->trusted ? TALUS_OK : tl_cone_certify(p, x, &report->certificate, a, err);
    tl_arena_release(a, mark);
    if (o->trusted) return status;
    if (report->outcome.result == TL_CONVERGED && !confirmed(m, &report->certificate, stop->tolerance))
        report->outcome.result = TL_STALLED;
    return status;
}
