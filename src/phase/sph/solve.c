#include <math.h>

#include "base/sum.h"
#include "model/sph/balance.h"
#include "model/sph/yield.h"
#include "phase/sph/trial.h"

#define LEAST_TOUCHING 20 /* iterations; also [Probst2023] for fragile structures */
#define LEAST_FLUID 2
#define KEEP_FLUID 1.0 /* of the last step's pressures in liquid */
/* How many times as fast as any other body or liquid a body may become: after a failed solve, as much as a blow can
 * spin it; after any, as fast as two plates shoot out what is between them, down to an angle of 11 degrees. */
#define BLOW 1.5
#define WEDGE 10.0
#define CORNER 3.0 /* times push_out: an overlap at a corner turns a body as well */

/* One factor for all pressures of liquid that a solve starts from, so that they leave the least energy: how heavy a
 * pool is shows in them together, and iterations between neighbours are slow to find it. Residuals are straight in
 * the pressures. */
static talus_status balance_liquid(tl_sph_trial *s, tl_fixedpoint *p, talus_error *err)
{
    int64_t n = p->space->n, liquid = s->f.fluid;
    double *with = TL_TAKE(s->arena, double, n + 1), *without = s->f.Verr; /* where nothing else pushes */
    size_t mark = tl_arena_mark(s->arena);
    if (!with) return tl_sph_no_memory(err);
    p->evaluate(p->ctx, s->x, with);
    if (n > liquid) {
        double *x = TL_TAKE(s->arena, double, n + 1);
        without = TL_TAKE(s->arena, double, n + 1);
        if (!x || !without) return tl_sph_no_memory(err);
        for (int64_t i = 0; i < n; i++) x[i] = i < liquid ? 0 : s->x[i];
        p->evaluate(p->ctx, x, without);
    }
    double work = tl_dot(liquid, s->x, without), curve = tl_dot(liquid, s->x, with) - work;
    double factor = curve > 0 ? fmin(2, fmax(0, -work / curve)) : 1;
    for (int64_t i = 0; i < liquid; i++) s->x[i] *= factor;
    for (int64_t i = 0; i < n && n == liquid; i++) with[i] = without[i] + factor * (with[i] - without[i]);
    if (n == liquid) p->at_start = with;
    tl_arena_release(s->arena, mark);
    return TALUS_OK;
}

/* Contacts start from the forces that they remember, from half of them, or from none: whichever leaves the smallest
 * error. After an impact the remembered ones are far off, and a solve that stops early would throw bodies about. */
static talus_status choose_start(tl_sph_trial *s, tl_fixedpoint *p, talus_error *err)
{
    static const double parts[] = {1, 0.5, 0};
    int64_t n = p->space->n, first = s->f.fluid;
    s->start = TL_TAKE(s->arena, double, n + 1);
    size_t mark = tl_arena_mark(s->arena);
    double *x = TL_TAKE(s->arena, double, n + 1), *r = TL_TAKE(s->arena, double, n + 1), least = INFINITY, best = 1;
    if (!s->start || !x || !r) return tl_sph_no_memory(err);
    tl_sph_warm_start(&s->f, tl_sph_state_of(&s->sim->state), KEEP_FLUID, s->start);
    for (int k = 0; k < 3 && first < n; k++) {
        for (int64_t i = 0; i < n; i++) x[i] = i < first ? s->start[i] : parts[k] * s->start[i];
        p->evaluate(p->ctx, x, r);
        double error = p->measure(p->ctx, x, r);
        if (error < least) least = error, best = parts[k];
    }
    for (int64_t i = 0; i < n; i++) s->x[i] = i < first ? s->start[i] : best * s->start[i];
    tl_arena_release(s->arena, mark);
    if (s->f.fluid) TL_TRY(balance_liquid(s, p, err));
    return first < n ? tl_sph_balance(&s->f, p, s->x, s->arena, err) : TALUS_OK;
}

static talus_status check_solved(const tl_sph_trial *s, bool *again, talus_error *err)
{
    const tl_fixedpoint_report *r = &s->solved;
    if (!isfinite(r->certificate.residual) || r->outcome.result == TL_BROKE_DOWN) {
        *again = true;
        return TL_FAIL(err, TALUS_NOT_DEFINITE, "pressure method \"%s\" became NaN or infinite", s->data->method->name);
    }
    return TALUS_OK;
}

/* Without them, contacts that start from the last step's forces stop within the tolerance, which is 3 mm/s at 1 ms
 * and 1e-4: bodies at rest would tremble and creep. Twenty bring them to rounding (validate V6, V7). */
static int least_iterations(const tl_sph_trial *s)
{
    int asked = s->scene->sph.iterations_least;
    return asked >= 0 ? asked : s->f.contacts && s->f.only != TL_SPH_LIQUID ? LEAST_TOUCHING : LEAST_FLUID;
}

static talus_status run_method(tl_sph_trial *s, const tl_fixedpoint *p, talus_error *err)
{
    tl_options options = tl_options_default();
    options.history = s->sim->history;
    options.least_iterations = least_iterations(s);
    do TL_TRY(tl_fixedpoint_solve(s->data->method, p, &options, &s->data->stop, s->x, s->arena, &s->solved, err));
    while (tl_sph_call_back(&s->f, s->data->stop.tolerance));
    return TALUS_OK;
}

/* Where liquid meets no free body, it and the contacts are two problems: solved one after the other, so that neither
 * changes the bits of the other. The report has the worse one, and the iterations of the longer. */
static talus_status run_both(tl_sph_trial *s, const tl_fixedpoint *p, talus_error *err)
{
    TL_TRY(run_method(s, p, err));
    tl_fixedpoint_report first = s->solved;
    s->f.only = TL_SPH_LIQUID;
    TL_TRY(run_method(s, p, err));
    int iterations = s->solved.outcome.iterations;
    if (!(first.certificate.residual <= s->solved.certificate.residual)) s->solved = first;
    s->solved.outcome.iterations = iterations > first.outcome.iterations ? iterations : first.outcome.iterations;
    return TALUS_OK;
}

/* Contacts make nothing faster than what it meets: what a body may reach in this step (model/sph/yield.h). Contacts
 * that rest take energy, but they may turn speed into spin. */
static void find_limits(const tl_sph_trial *s, double *limit)
{
    double first = s->liquid, second = s->liquid; /* speeds of the two fastest */
    int32_t fastest = -1;
    double factor = s->solved.outcome.result == TL_CONVERGED ? WEDGE : BLOW;
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        if (s->speed[i] > first)
            second = first, first = s->speed[i], fastest = i;
        else
            second = fmax(second, s->speed[i]);
    }
    for (int32_t i = 0; i < s->rigid->scene_count; i++)
        limit[i] =
            fmax(fmax(s->whole[i], factor * (i == fastest ? second : first)), CORNER * tl_sph_push_out(s->scene));
}

/* Whoever watches is told once of each body. */
static talus_status give_way(tl_sph_trial *s, talus_error *err)
{
    double *limit = TL_TAKE_ZERO(s->arena, double, s->rigid->count + 1),
           *part = TL_TAKE(s->arena, double, s->rigid->count + 1);
    if (!limit || !part) return tl_sph_no_memory(err);
    find_limits(s, limit);
    if (!tl_sph_yield(&s->f, limit, s->x, part)) return TALUS_OK;
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        if (part[i] == 1 || s->data->squeezed[i]) continue;
        s->data->squeezed[i] = true;
        tl_log_write(&s->sim->log, 0,
                     "t = %.6g s: body \"%s\" is squeezed into a place too narrow for it (error of contacts %.2g after "
                     "%d iterations): what drives it gives way to %.3g of its force, so that it has no more than %.3g "
                     "m/s",
                     s->sim->state.t, s->scene->bodies[i].name, s->f.error[1], s->solved.outcome.iterations, part[i],
                     limit[i]);
    }
    return TALUS_OK;
}

talus_status tl_sph_solve(tl_sph_trial *s, bool *again, talus_error *err)
{
    tl_fixedpoint problem;
    TL_TRY(tl_sph_system(&s->f, err));
    tl_sph_leave_far(&s->f);
    TL_TRY(tl_sph_problem(&s->f, &problem, err));
    s->x = TL_TAKE_ZERO(s->arena, double, problem.space->n + problem.space->halo + 1);
    if (!s->x) return tl_sph_no_memory(err);
    bool two = s->f.fluid && s->f.contacts && s->f.near_start[s->f.nears] == 0;
    if (two) s->f.only = TL_SPH_CONTACTS;
    if (s->scene->sph.friction) TL_TRY(tl_sph_give_friction(&s->f, tl_sph_state_of(&s->sim->state), err));
    if (s->scene->sph.warm_start) TL_TRY(choose_start(s, &problem, err));
    tl_sph_lap(s, TL_SPH_SYSTEM);
    TL_TRY(two ? run_both(s, &problem, err) : run_method(s, &problem, err));
    TL_TRY(check_solved(s, again, err));
    const double certificate = s->solved.certificate.residual;
    TL_TRY(
        tl_sim_show(s->sim, (tl_shown){TL_SHOWN_FIXEDPOINT, &s->f, s->x, certificate, s->data->stop.tolerance}, err));
    TL_TRY(give_way(s, err));
    tl_sph_finish(&s->f, s->x);
    tl_sph_lap(s, TL_SPH_SOLVE);
    return TALUS_OK;
}
