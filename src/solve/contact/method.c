#include "solve/contact/method.h"

#include <string.h>

#include "base/timer.h"
#include "solve/contact/methods.h"

static const tl_contact_method *const methods[] = {
    &tl_contact_newton_shift, &tl_contact_newton_convex,
    &tl_contact_apgd_shift,   &tl_contact_apgd_convex,
    &tl_contact_admm,         &tl_contact_pgs,
    &tl_contact_pgs_momentum, &tl_contact_pgs_pyramid,
    &tl_contact_staggered,    NULL, /* end */
};

int tl_contact_method_count(void) { return (int)(sizeof methods / sizeof *methods) - 1; }

const tl_contact_method *tl_contact_method_at(int i)
{
    return i >= 0 && i < tl_contact_method_count() ? methods[i] : NULL;
}

const tl_contact_method *tl_contact_method_find(const char *name)
{
    for (int i = 0; methods[i]; i++)
        if (strcmp(methods[i]->name, name) == 0) return methods[i];
    return NULL;
}

talus_status tl_contact_solve(const tl_contact_method *m, const tl_contact *p, const tl_options *o, const tl_stop *stop,
                              double *lam, tl_arena *a, tl_contact_report *report, talus_error *err)
{
    TL_TRY(tl_contact_check(p, err));
    if (p->bodies) TL_VALIDATE(tl_csr_check(p->bodies->J, err));
    /* room for the certificate as well: nothing can fail once the method has changed lam */
    size_t need = m->bytes(p, o) + (m->on_bodies ? tl_pairs_bytes(p) : 0), certify = tl_contact_certify_bytes(p);
    TL_TRY(tl_space_reserve(p->space, a, need > certify ? need : certify, err));

    *report = (tl_contact_report){.work.history = o->history};
    double began = tl_seconds();
    size_t mark = tl_arena_mark(a);
    tl_pairs t;
    if (m->on_bodies && !tl_pairs_build(p, &t, a))
        report->outcome = (tl_outcome){.result = TL_NOT_APPLICABLE, .residual = NAN};
    else
        report->outcome = m->run(p, m->on_bodies ? &t : NULL, o, stop, lam, a, &report->work);
    tl_arena_release(a, mark);
    report->seconds = tl_seconds() - began;

    TL_TRY(tl_contact_certify(p, lam, &report->certificate, a, err));
    if (report->outcome.result == TL_CONVERGED && !(report->certificate.residual <= 10 * stop->tolerance))
        report->outcome.result = TL_STALLED;
    return TALUS_OK;
}
