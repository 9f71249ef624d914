#include "phase/lg/step.h"

#include "base/sum.h"
#include "base/timer.h"

#define JACOBI_DAMPING 0.9 /* of Jacobi steps [Wang15] */

talus_status tl_lg_no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of elastic bodies");
}

void tl_lg_lap(tl_lg_step *s, tl_lg_phase phase)
{
    double now = tl_seconds();
    s->seconds[phase] += now - s->mark;
    s->mark = now;
}

bool tl_lg_is_late(const tl_lg_step *s)
{
    return s->scene->lg.budget > 0 && tl_seconds() - s->began > 1e-3 * s->scene->lg.budget;
}

void tl_lg_project(tl_lg_step *s)
{
    if (s->data->searches)
        (void)tl_lg_stress(s->lg, s->q, s->force);
    else
        tl_lg_local(s->lg, s->q, s->u, s->force);
    tl_lg_lap(s, TL_LG_PROJECT);
}

void tl_lg_balance(tl_lg_step *s)
{
    tl_lg_residual(s->lg, s->he, s->q, s->qtil, s->target, s->force, s->r);
    tl_lg_press(s->lg, s->pressure, s->he * s->he, s->q, s->r);
    tl_lg_touch_push(&s->touch, s->r);
    tl_lg_lap(s, TL_LG_BALANCE);
}

/* Chebyshev weights over damped Jacobi steps; trial holds the positions before the last ones. */
static void accelerate(tl_lg_step *s, int round)
{
    int64_t n = 3 * (int64_t)s->lg->nodes;
    double rho = s->scene->lg.chebyshev;
    s->omega = round == 0 ? 1 : round == 1 ? 2 / (2 - rho * rho) : 4 / (4 - rho * rho * s->omega);
    for (int64_t i = 0; i < n; i++) {
        double before = round ? s->trial[i] : s->q[i], now = s->q[i];
        s->q[i] = s->omega * (JACOBI_DAMPING * s->step[i] + now - before) + before;
        s->trial[i] = now;
    }
}

void tl_lg_solve_global(tl_lg_step *s, int round)
{
    int64_t n = 3 * (int64_t)s->lg->nodes;
    tl_lg_solve(s->data->solver, s->data->precision, s->r, s->step);
    s->left = tl_dot(n, s->r, s->step);
    if (round == 0) s->found = s->left;
    if (s->data->searches)
        (void)tl_lg_newton_search(&s->newton);
    else if (s->scene->lg.global == TL_LG_JACOBI)
        accelerate(s, round);
    else
        for (int64_t i = 0; i < n; i++) s->q[i] += s->step[i];
    tl_lg_lap(s, TL_LG_SOLVE);
}

talus_status tl_lg_touch_nodes(tl_lg_step *s, talus_error *err)
{
    TL_TRY(tl_lg_touch_solve(&s->touch, s->q, s->arena, err));
    tl_lg_lap(s, TL_LG_TOUCH);
    return TALUS_OK;
}

talus_status tl_lg_look_again(tl_lg_step *s, bool *changed, talus_error *err)
{
    int32_t *origin;
    tl_lg_contacts more;
    s->view.to = s->q;
    TL_TRY(tl_lg_detect_again(&s->view, &s->contacts, s->arena, &more, &origin, changed, err));
    tl_lg_lap(s, TL_LG_DETECT);
    if (!*changed) return TALUS_OK;
    s->contacts = more;
    tl_lg_mend_planes(&s->view, &s->contacts);
    TL_TRY(tl_lg_touch_again(&s->touch, &s->rows, origin, s->bodies.v_free, s->arena, err));
    tl_lg_lap(s, TL_LG_ASSEMBLE);
    return TALUS_OK;
}
