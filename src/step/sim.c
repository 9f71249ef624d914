#include "phase/sim.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/parallel.h"
#include "model/driven.h"
#include "phase/accounts/accounts.h"

#define SHORTEST 1024       /* dt_min when the scene names none: this part of the longest step */
#define ON_TIME 1e-9        /* of a step: what is closer to `until` ends there */
#define REGROW 1.5          /* of dt per step, after a retry */
#define REGROW_FIRST 1.0625 /* right after one: the length that failed is not tried at once again */

#define TL_ENGINE(NAME, name) extern const tl_engine_entry tl_engine_##name;
#include "scene/engines.def"
#undef TL_ENGINE
#define TL_ENGINE(NAME, name) &tl_engine_##name,
static const tl_engine_entry *const engines[] = {
#include "scene/engines.def"
};
#undef TL_ENGINE

const tl_engine_entry *tl_engine_at(int i) { return i >= 0 && i < TL_ENGINES ? engines[i] : NULL; }

static double longest_step(const tl_scene *s) { return s->dt_max > 0 ? s->dt_max : 1 / s->fps; }
static double shortest_step(const tl_scene *s) { return s->dt_min > 0 ? s->dt_min : longest_step(s) / SHORTEST; }

/* Length of the next try: equal parts of what is left, so that no sliver remains. */
static double first_length(const tl_sim *sim, double dt, double left)
{
    double max = fmin(longest_step(sim->scene), sim->engine->dt_wanted(sim));
    if (dt > 0) max = fmin(max, dt);
    if (sim->state.dt_next > 0) max = fmin(max, sim->state.dt_next);
    if (left == INFINITY) return max;
    double parts = ceil(left / max * (1 - ON_TIME));
    return parts > 1 ? left / parts : left;
}

talus_status tl_sim_refuse_parts(const tl_scene *s, int parts, talus_error *err)
{
    const tl_engine_entry *engine = engines[s->engine];
    if (engine->parts) return engine->parts->refuse(s, parts, err);
    return TL_FAIL(err, TALUS_UNSUPPORTED, "%.200s: engine \"%s\" runs in one process so far, not in %d",
                   s->file ? s->file : "scene", tl_engine_name(s->engine), parts);
}

static talus_status create(tl_sim *sim, talus_error *err)
{
    const tl_scene *s = sim->scene;
    sim->engine = engines[s->engine];
    if (sim->comm) TL_TRY(tl_sim_refuse_parts(s, sim->comm->parts, err));
    tl_driven *driven = tl_state_add(&sim->state, &tl_driven_kind);
    if (!driven) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a simulation");
    TL_TRY(tl_driven_begin(driven, s->body_count, err));
    return sim->engine->begin(sim, err);
}

static talus_status check_length(const tl_sim *sim, talus_error *err)
{
    const tl_scene *s = sim->scene;
    double wanted = first_length(sim, 0, INFINITY);
    if (s->duration / wanted <= TL_STEPS_MAX) return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT,
                   "%.200s: accuracy asks for steps of %.3g s at the start, more than %g of them for %.10g s; "
                   "something is too small or too fast",
                   s->file ? s->file : "scene", wanted, TL_STEPS_MAX, s->duration);
}

static talus_status make(tl_sim **out, const tl_scene *scene, const tl_comm *comm, bool empty, const tl_log *log,
                         talus_error *err)
{
    *out = NULL;
    tl_threads_watch_forks();
    tl_sim *sim = TL_NEW_ZERO(tl_sim, 1);
    talus_status status = sim ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a simulation");
    status = tl_comm_agree(comm, status, err);
    if (status != TALUS_OK) {
        tl_free(sim);
        return status;
    }
    sim->scene = scene;
    sim->empty = empty;
    sim->comm = tl_comm_alone(comm) ? NULL : comm;
    sim->comm_mark = tl_comm_mark(sim->comm);
    if (log && (!sim->comm || sim->comm->part == 0)) sim->log = *log;
    status = tl_comm_agree(sim->comm, create(sim, err), err);
    if (status == TALUS_OK && sim->comm) status = sim->engine->parts->begin(sim, err);
    if (status == TALUS_OK) status = check_length(sim, err);
    if (status == TALUS_OK)
        *out = sim;
    else
        tl_sim_free(sim);
    return status;
}

talus_status tl_sim_create(tl_sim **out, const tl_scene *scene, const tl_log *log, talus_error *err)
{
    return make(out, scene, NULL, false, log, err);
}

talus_status tl_sim_create_part(tl_sim **out, const tl_scene *scene, const tl_comm *comm, const tl_log *log,
                                talus_error *err)
{
    return make(out, scene, comm, false, log, err);
}

talus_status tl_sim_create_empty(tl_sim **out, const tl_scene *scene, const tl_log *log, talus_error *err)
{
    return make(out, scene, NULL, true, log, err);
}

void tl_sim_free(tl_sim *sim)
{
    if (!sim) return;
    if (sim->engine) sim->engine->end(sim);
    tl_state_free(&sim->state);
    tl_rigid_free(&sim->rigid);
    tl_joints_free(&sim->joints);
    tl_lg_free(&sim->lg);
    tl_arena_free(&sim->arena);
    tl_free(sim);
}

talus_status tl_sim_judge(const tl_sim *sim, bool *again, talus_error *err)
{
    const tl_unconverged policy = sim->scene->solver.on_unconverged;
    if (policy == TL_UNCONVERGED_ACCEPT) return TALUS_OK;
    for (int k = 0; k < sim->report.solves; k++) {
        const tl_report_solve *s = &sim->report.solve[k];
        if (!strcmp(s->outcome, tl_result_name(TL_CONVERGED))) continue;
        *again = policy == TL_UNCONVERGED_SHRINK_DT;
        return TL_FAIL(err, TALUS_NOT_DEFINITE, "%s by \"%s\": %s, error %.3g, wanted %.3g", s->name, s->method,
                       s->outcome, s->certificate, s->target);
    }
    return TALUS_OK;
}

static void blend(tl_vec3 *mean, tl_vec3 now, double share)
{
    *mean = tl_vec3_add_scaled(*mean, share, tl_vec3_sub(now, *mean));
}

/* Forces of the step that has just been made go into the means of the frame, which begins with the first step after
 * its start. */
static void blend_forces(tl_sim *sim, double begin, double length)
{
    double frame = (double)sim->state.frame / sim->scene->fps, before = fmax(0, begin - frame);
    double share = before > ON_TIME * length ? length / (before + length) : 1;
    for (int64_t i = 0; i < sim->state.rigid.count; i++) {
        tl_motion *m = &sim->state.rigid.body[i];
        blend(&m->mean_contact_force, m->contact_force, share);
        blend(&m->mean_contact_torque, m->contact_torque, share);
        blend(&m->mean_fluid_force, m->fluid_force, share);
        blend(&m->mean_fluid_torque, m->fluid_torque, share);
    }
}

/* Several parts try together, and see stops between tries. */
static talus_status try_step(tl_sim *sim, double length, bool *again, talus_error *err)
{
    const bool held = tl_cancel_hold(sim->comm != NULL);
    talus_status status = tl_accounts_begin(sim, err);
    if (status == TALUS_OK) status = sim->engine->step(sim, length, again, err);
    tl_cancel_hold(held);
    status = tl_comm_agree(sim->comm, status, err);
    *again = tl_comm_max(sim->comm, *again) > 0;
    return status;
}

/* What is in every part has the same bits in all. After steps in checked builds, at frames otherwise: what drifts apart
 * is an error of ours, and no run that goes on. */
static talus_status check_alike(const tl_sim *sim, talus_error *err)
{
    if (!sim->comm) return TALUS_OK;
    uint64_t hash = tl_state_hash_alike(&sim->state), all[TL_COMM_PARTS_MAX];
    tl_comm_share(sim->comm, sizeof hash, &hash, all);
    for (int32_t p = 1; p < sim->comm->parts; p++)
        if (all[p] != all[0])
            return TL_FAIL(err, TALUS_UNSUPPORTED, "processes disagree about bodies or totals after step %lld",
                           (long long)sim->state.step);
    return TALUS_OK;
}

talus_status tl_sim_step(tl_sim *sim, double dt, double until, talus_error *err)
{
    tl_state *s = &sim->state;
    double begin = s->t, left = until - begin, shortest = shortest_step(sim->scene);
    if (!(left > 0))
        return TL_FAIL(err, TALUS_BAD_INPUT, "a step must end after %.17g s, where the simulation is, got %.17g s",
                       begin, until);
    double length = first_length(sim, dt, left);
    talus_error why = {0};
    if (!(begin + length > begin))
        return TL_FAIL(err, TALUS_BAD_INPUT, "a step of %.3g s does not move the time on from %.17g s", length, begin);
    for (int retries = 0;; retries++) {
        bool again = false, last = length >= left;
        tl_arena_reset(&sim->arena);
        tl_comm_release(sim->comm, sim->comm_mark);
        sim->tries++;
        if (sim->comm && retries == 0) TL_TRY(sim->engine->parts->rebalance(sim, err));
        TL_TRY_ALL(sim, tl_cancel_check(err));
        talus_status status = try_step(sim, length, &again, &why);
        if (status == TALUS_OK) {
            s->t = last ? until : begin + length;
            s->step++;
            blend_forces(sim, begin, length);
            if (retries > 0)
                s->dt_next = REGROW_FIRST * length;
            else if (s->dt_next > 0)
                s->dt_next = REGROW * s->dt_next < longest_step(sim->scene) ? REGROW * s->dt_next : 0;
            sim->report.step = s->step;
            sim->report.t = s->t;
            sim->report.dt = length;
            sim->report.retries = retries;
            sim->report.peak_bytes = sim->arena.high_water;
            TL_VALIDATE(check_alike(sim, err));
            return TALUS_OK;
        }
        TL_TRY_ALL(sim, tl_cancel_check(err)); /* not a step to be judged: it was cut short */
        if (!again || 0.5 * length < shortest)
            return TL_FAIL(err, status, "%.400s (t = %.10g s, dt = %.3g s%s)", why.message, begin, length,
                           again ? ", shorter steps are not allowed" : "");
        tl_log_write(&sim->log, 1, "t = %.10g s: step of %.3g s again with half of it: %s", begin, length, why.message);
        length *= 0.5;
    }
}

#ifdef TL_CHECKED
/* What a checkpoint is asked for when it is read: every index within its bounds. Takes memory, so once per frame. */
static talus_status check_state(const tl_sim *sim, talus_error *err)
{
    for (int i = 0; i < sim->state.sections; i++) {
        const struct tl_state_section *s = &sim->state.section[i];
        if (sim->comm && s->kind->is_dealt) continue; /* sums of all against what is here */
        if (s->kind->check) TL_TRY(s->kind->check(s->data, sim->scene, sim->rigid.count, "the state at a frame", err));
    }
    return TALUS_OK;
}
#endif

talus_status tl_sim_frame(tl_sim *sim, bool (*stop)(void *user, const tl_sim *sim), void *user, talus_error *err)
{
    tl_state *s = &sim->state;
    double until = (double)(s->frame + 1) / sim->scene->fps;
    while (s->t < until) {
        TL_TRY(tl_sim_step(sim, 0, until, err));
        bool stopped = stop && stop(user, sim);
        if (stopped && s->t < until) return TL_FAIL(err, TALUS_INTERRUPTED, "stopped at t = %.10g s", s->t);
    }
    s->frame++;
    TL_VALIDATE(check_state(sim, err));
    return check_alike(sim, err);
}
