/* The life of a simulation: made, stepped, saved, gone back to, told about. */
#include "api/sim.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/need.h"
#include "api/scene.h"
#include "api/sim_own.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "io/checkpoint.h"
#include "io/snapshot.h"
#include "scene/own.h"

/* ---- life ---- */

/* A number of this thread, never 0. */
static uintptr_t this_thread(void)
{
    static _Thread_local char mark;
    return (uintptr_t)&mark;
}

static bool is_elsewhere(const talus_sim *s)
{
    const uintptr_t user = atomic_load(&s->user_thread);
    return user && user != this_thread();
}

static void free_sim(talus_sim *s);

talus_status tl_sim_use(tl_use *out, const talus_sim *s, const char *function, talus_error *err)
{
    talus_sim *own = (talus_sim *)(uintptr_t)s; /* whoever only looks uses it too */
    uintptr_t user = 0;
    if (s->process != getpid())
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "%s: this simulation belongs to process %ld; a process that fork made of it has none of its "
                       "threads and cannot use it. Make simulations in the new process, or start it by spawn",
                       function, (long)s->process);
    if (atomic_compare_exchange_strong(&own->user_thread, &user, this_thread())) {
        out->sim = own;
        return TALUS_OK;
    }
    if (user == this_thread()) return TALUS_OK;
    return TL_FAIL(err, TALUS_UNSUPPORTED,
                   "%s: another thread is using this simulation, making a step perhaps; one thread at a time may "
                   "(talus_sim_cancel asks a step to end)",
                   function);
}

void tl_sim_unuse(tl_use *u)
{
    talus_sim *s = u->sim;
    if (!s) return;
    const bool dying = s->dying;
    atomic_store(&s->user_thread, 0); /* who waits to free it may do so from here on */
    if (dying) free_sim(s);
}

/* Of `source` with what is driven in it, for a state of elsewhere; NULL: nothing is, and the state is the scene's. */
static talus_status create(const tl_scene *source, const tl_driven *driven, const tl_log *log, talus_sim **out,
                           talus_error *err)
{
    *out = NULL;
    talus_sim *s = TL_NEW_ZERO(talus_sim, 1);
    if (!s) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a simulation");
    s->source = source;
    s->process = getpid();
    s->generation = 1;
    atomic_init(&s->stop, false);
    atomic_init(&s->user_thread, 0);
    talus_status status =
        driven ? tl_sim_scene_for(s, driven, &s->scene, err) : tl_scene_own_create(&s->scene, source, 0, NULL, err);
    if (status == TALUS_OK)
        status = driven ? tl_sim_create_empty(&s->sim, s->scene, log, err) : tl_sim_create(&s->sim, s->scene, log, err);
    if (status == TALUS_OK) status = tl_looked_create(&s->looked, err);
    if (status == TALUS_OK)
        *out = s;
    else
        talus_sim_free(s);
    return status;
}

talus_status talus_sim_create(const talus_scene *scene, const talus_sim_options *options, talus_sim **out,
                              talus_error *err)
{
    TL_NEED(scene);
    TL_NEED(out);
    tl_log log = {0};
    if (options) log = (tl_log){options->log, options->log_user, 2};
    return create(scene->scene, NULL, &log, out, err);
}

talus_status talus_sim_clone(const talus_sim *s, talus_sim **out, talus_error *err)
{
    static const tl_log quiet = {0}; /* what there is to say was said of the original */
    TL_NEED_SIM(s);
    TL_NEED(out);
    TL_TRY(create(s->source, tl_driven_of(&s->sim->state), &quiet, out, err));
    (*out)->sim->log = s->sim->log;
    talus_status status = tl_state_copy(&(*out)->sim->state, &s->sim->state, err);
    if (status == TALUS_OK) {
        (*out)->sim->report = s->sim->report;
        return TALUS_OK;
    }
    talus_sim_free(*out);
    *out = NULL;
    return status;
}

static void free_sim(talus_sim *s)
{
    if (s->process == getpid()) tl_sim_free(s->sim); /* else it is left: its threads are not here */
    if (s->process == getpid()) tl_scene_own_free(s->scene);
    tl_looked_free(s->looked);
    tl_free(s);
}

/* A step that another thread makes is asked to end, and waited for; one of this thread, in whose callback this is, ends
 * first. In a forked process nobody is left to wait for. */
void talus_sim_free(talus_sim *s)
{
    if (!s) return;
    const bool here = s->process == getpid();
    if (here && atomic_load(&s->user_thread) == this_thread()) {
        s->dying = true;
        return;
    }
    while (here && is_elsewhere(s)) {
        atomic_store(&s->stop, true);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    free_sim(s);
}

/* ---- time ---- */

static talus_status call(talus_sim *s, talus_step_fn fn, const char *when, talus_error *err)
{
    if (!fn) return TALUS_OK;
    s->inside = true;
    const int answer = fn(s->user, s);
    s->inside = false;
    if (!answer && !s->dying) return TALUS_OK;
    return TL_FAIL(err, TALUS_INTERRUPTED, "stopped by the function that is called %s a step, at t = %.10g s", when,
                   s->sim->state.t);
}

static talus_status step_once(talus_sim *s, double dt, double until, talus_error *err)
{
    TL_TRY(call(s, s->before, "before", err));
    const atomic_bool *before = tl_cancel_watch(&s->stop);
    talus_status status = tl_sim_step(s->sim, dt, until, err);
    tl_cancel_watch(before);
    TL_TRY(status);
    s->generation++;
    return call(s, s->after, "after", err);
}

talus_status tl_need_outside(const talus_sim *s, const char *function, talus_error *err)
{
    if (!s->inside) return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT, "%s cannot be called from inside of a step's own callback", function);
}

talus_status talus_sim_step(talus_sim *s, double dt, talus_error *err)
{
    TL_NEED_SIM(s);
    TL_TRY(tl_need_outside(s, __func__, err));
    if (isnan(dt)) return TL_FAIL(err, TALUS_BAD_INPUT, "dt must be a number of seconds, got nan");
    return step_once(s, dt, INFINITY, err);
}

talus_status talus_sim_advance(talus_sim *s, double t, talus_error *err)
{
    TL_NEED_SIM(s);
    TL_TRY(tl_need_outside(s, __func__, err));
    double now = s->sim->state.t;
    if (!isfinite(t) || t < now)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the time to go to must be finite and at least %.10g s, got %.10g s", now,
                       t);
    while (s->sim->state.t < t) TL_TRY(step_once(s, 0, t, err));
    return TALUS_OK;
}

talus_status talus_sim_on_step(talus_sim *s, talus_step_fn before, talus_step_fn after, void *user, talus_error *err)
{
    TL_NEED_SIM(s);
    s->before = before;
    s->after = after;
    s->user = user;
    return TALUS_OK;
}

void talus_cancel(int wanted) { tl_cancel_set(wanted != 0); }
void talus_sim_cancel(talus_sim *s, int wanted)
{
    if (s) atomic_store_explicit(&s->stop, wanted != 0, memory_order_relaxed);
}

double talus_sim_time(const talus_sim *s) { return s ? s->sim->state.t : 0; }
int64_t talus_sim_steps(const talus_sim *s) { return s ? s->sim->state.step : 0; }
uint64_t talus_sim_hash(const talus_sim *s) { return s && !is_elsewhere(s) ? tl_state_hash(&s->sim->state) : 0; }
uint64_t talus_sim_generation(const talus_sim *s) { return s ? s->generation : 0; }

/* ---- saving ---- */

talus_status talus_sim_save(const talus_sim *s, const char *path, talus_error *err)
{
    TL_NEED_SIM(s);
    TL_NEED(path);
    return tl_checkpoint_save(path, &s->sim->state, s->scene, NULL, err);
}

size_t talus_sim_bytes(const talus_sim *s) { return s ? tl_snapshot_bytes(&s->sim->state) : 0; }

talus_status talus_sim_save_bytes(const talus_sim *s, void *out, size_t room, talus_error *err)
{
    TL_NEED_SIM(s);
    TL_NEED(out);
    const size_t bytes = tl_snapshot_bytes(&s->sim->state);
    if (room < bytes)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the state has %zu bytes, there is room for %zu (talus_sim_bytes)", bytes,
                       room);
    tl_snapshot_write(&s->sim->state, s->scene, out);
    return TALUS_OK;
}

/* Where a state to be restored is read from. */
typedef struct source {
    const char *path; /* NULL: bytes */
    const void *data;
    size_t bytes;
} source;

static talus_status read_state(const source *from, tl_sim *to, const tl_scene *scene, const tl_log *log,
                               talus_error *err)
{
    if (from->path) return tl_checkpoint_load(from->path, &to->state, scene, to->rigid.count, log, err);
    return tl_snapshot_read(from->data, from->bytes, &to->state, scene, to->rigid.count, err);
}

/* Bodies and materials first, as they were; then the state goes in. */
static talus_status restore_driven(talus_sim *s, const source *from, const tl_driven *driven, talus_error *err)
{
    tl_sim *fresh;
    tl_scene *scene;
    TL_TRY(tl_sim_match(s, driven, &fresh, &scene, err));
    talus_status status = read_state(from, fresh ? fresh : s->sim, fresh ? scene : s->scene, &s->sim->log, err);
    if (status != TALUS_OK) {
        tl_sim_free(fresh);
        tl_scene_own_free(scene);
        return status;
    }
    if (fresh) tl_sim_take_over(s, fresh, scene);
    tl_sim_apply(s);
    s->sim->report = (tl_report){.step = s->sim->state.step, .t = s->sim->state.t};
    s->generation++;
    return TALUS_OK;
}

static talus_status restore(talus_sim *s, const source *from, talus_error *err)
{
    tl_driven driven;
    talus_status status = from->path ? tl_checkpoint_driven(from->path, s->source, &driven, err)
                                     : tl_snapshot_driven(from->data, from->bytes, s->source, &driven, err);
    if (status == TALUS_OK) status = restore_driven(s, from, &driven, err);
    tl_driven_kind.free(&driven);
    return status;
}

talus_status talus_sim_restore(talus_sim *s, const char *path, talus_error *err)
{
    TL_NEED_SIM(s);
    TL_NEED(path);
    TL_TRY(tl_need_outside(s, __func__, err));
    return restore(s, &(source){.path = path}, err);
}

talus_status talus_sim_restore_bytes(talus_sim *s, const void *data, size_t bytes, talus_error *err)
{
    TL_NEED_SIM(s);
    TL_NEED(data);
    TL_TRY(tl_need_outside(s, __func__, err));
    return restore(s, &(source){.data = data, .bytes = bytes}, err);
}

/* ---- report ---- */

_Static_assert(TALUS_REPORT_PHASES >= TL_REPORT_PHASES && TALUS_REPORT_SOLVES >= TL_REPORT_SOLVES, "room");

void tl_report_to_public(const tl_report *r, talus_report *out)
{
    *out = (talus_report){
        .step = r->step,
        .time = r->t,
        .dt = r->dt,
        .retries = r->retries,
        .phases = r->phases,
        .solves = r->solves,
        .kinetic = r->kinetic,
        .potential = r->potential,
        .elastic = r->elastic,
        .momentum = {r->momentum.x, r->momentum.y, r->momentum.z},
        .angular_momentum = {r->angular_momentum.x, r->angular_momentum.y, r->angular_momentum.z},
        .contacts = r->contacts,
        .touching = r->touching,
        .penetration = r->penetration,
        .force_balance = r->force_balance,
        .liquid_volume = r->liquid_volume,
        .particle_volume = r->particle_volume,
        .volume_error = r->volume_error,
        .compression = r->compression,
        .particles = r->particles,
        .escaped = r->escaped,
        .fastest = r->fastest,
        .peak_bytes = r->peak_bytes,
        .energy_unexplained = r->accounts.energy_unexplained,
    };
    tl_vec3_store(r->accounts.momentum_unexplained, out->momentum_unexplained);
    tl_vec3_store(r->accounts.angular_unexplained, out->angular_unexplained);
    for (int i = 0; i < r->phases; i++) {
        out->phase[i].name = r->phase[i].name;
        out->phase[i].seconds = r->phase[i].seconds;
    }
    for (int i = 0; i < r->solves; i++) {
        const tl_report_solve *s = &r->solve[i];
        out->solve[i].name = s->name;
        out->solve[i].method = s->method;
        out->solve[i].outcome = s->outcome;
        out->solve[i].iterations = s->iterations;
        out->solve[i].certificate = s->certificate;
        out->solve[i].target = s->target;
        out->solve[i].products = s->work.products;
        out->solve[i].factorizations = s->work.factorizations;
    }
}

void talus_sim_report(const talus_sim *s, talus_report *out)
{
    if (!out) return;
    if (!s) {
        *out = (talus_report){0};
        return;
    }
    tl_report_to_public(&s->sim->report, out);
}
