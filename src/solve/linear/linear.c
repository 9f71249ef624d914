#include <string.h>

#include "base/timer.h"
#include "solve/linear/method.h"
#include "solve/vecops.h"

extern const tl_linear_method tl_linear_cg, tl_linear_cr;

static const tl_linear_method *const methods[] = {
    &tl_linear_cg,
    &tl_linear_cr,
};

int tl_linear_method_count(void) { return (int)(sizeof methods / sizeof methods[0]); }
const tl_linear_method *tl_linear_method_at(int i) { return methods[i]; }

const tl_linear_method *tl_linear_method_find(const char *name)
{
    for (int i = 0; i < tl_linear_method_count(); i++)
        if (!strcmp(methods[i]->name, name)) return methods[i];
    return NULL;
}

static talus_status measure(const tl_linear *p, double *x, tl_linear_certificate *out, tl_arena *a, talus_error *err)
{
    const tl_space *s = p->space;
    TL_TRY(tl_space_reserve(s, a, tl_space_room(s), err));
    size_t mark = tl_arena_mark(a);
    double *r = tl_space_take(s, a);
    tl_linop_apply(&p->A, s, x, r, NULL);
    tl_vec_sub(s->n, p->b, r, r);
    double b_max = tl_space_max_abs(s, p->b);
    out->residual = tl_space_max(s, tl_vec_max_abs(s->n, r)) / (b_max > 0 ? b_max : 1);
    tl_arena_release(a, mark);
    return TALUS_OK;
}

talus_status tl_linear_solve(const tl_linear_method *m, const tl_linear *p, const tl_options *o, const tl_stop *stop,
                             double *x, tl_arena *a, tl_linear_report *report, talus_error *err)
{
    size_t need = m->bytes(p, o), certify = tl_space_room(p->space);
    TL_TRY(tl_space_reserve(p->space, a, need > certify ? need : certify, err));
    *report = (tl_linear_report){.work.history = o->history};
    double began = tl_seconds();
    report->outcome = m->run(p, o, stop, x, a, &report->work);
    report->seconds = tl_seconds() - began;
    return measure(p, x, &report->certificate, a, err);
}
