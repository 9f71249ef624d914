/* Liquid and contacts in turn leave a part of the error in every sweep that is near one where liquid carries much of
 * what presses: the next sweep begins with what the last ones point at. What contacts do to solids decides, over the
 * root of H's diagonal, because it is unique where their impulses are not; these go with it. */
#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "solve/contact/problem.h"
#include "solve/dual/work.h"
#include "solve/flex/law.h"

static int64_t rows(const tl_dual_work *w) { return 3 * (int64_t)w->contacts; }

talus_status tl_dual_mix_begin(tl_dual_solver *s, talus_error *err)
{
    tl_dual_work *w = s->work;
    if (!w->contacts || s->scheme->sweeps == 1 || s->plain_sweeps) return TALUS_OK;
    w->began = TL_TAKE(s->arena, double, w->n + rows(w));
    w->ended = TL_TAKE(s->arena, double, w->n + rows(w));
    if (!w->began || !w->ended) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a solve of liquid and solids");
    return TALUS_OK;
}

static void state_of(tl_dual_solver *s, double *out)
{
    tl_dual_work *w = s->work;
    tl_csr_mul(s->p->flex->Jt, w->lam, out);
    for (int64_t i = 0; i < w->n; i++) out[i] /= sqrt(w->D[i]);
    memcpy(out + w->n, w->lam, sizeof *out * (size_t)rows(w));
}

talus_status tl_dual_mix_start(tl_dual_solver *s, talus_error *err)
{
    tl_dual_work *w = s->work;
    if (!w->began) return TALUS_OK;
    state_of(s, w->began);
    return tl_anderson_begin_carrying(&w->mixing, w->n, rows(w), s->arena, err);
}

void tl_dual_mix_end(tl_dual_solver *s)
{
    if (s->work->began) state_of(s, s->work->ended);
}

void tl_dual_mix(tl_dual_solver *s)
{
    tl_dual_work *w = s->work;
    const tl_flex *f = s->p->flex;
    if (!w->began) return;
    tl_anderson_next(&w->mixing, w->began, w->ended, w->began);
    for (int32_t j = 0; j < w->contacts; j++) {
        const double *to = w->began + w->n + 3 * (int64_t)j;
        const tl_contact_box *box = tl_flex_box(f, j);
        double *l = w->lam + 3 * (int64_t)j, t[2] = {to[1], to[2]};
        for (int k = 0; k < 3 && box; k++) l[k] = fmin(box->hi[k], fmax(box->lo[k], to[k]));
        if (box) continue;
        l[0] = f->law == TL_FLEX_STICKY ? to[0] : fmax(to[0], 0);
        if (f->law == TL_FLEX_CONE) tl_project_disc(f->mu[j] * l[0], t);
        l[1] = t[0];
        l[2] = t[1];
    }
    state_of(s, w->began);
}
