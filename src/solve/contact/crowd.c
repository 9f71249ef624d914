/* Newton's two methods: islands side by side, and in large ones sweeps with momentum and the few places that these
 * leave.
 *
 * Sweeps solve most of a large island in a hundred or two and then circle for ever at some contacts that no sweep
 * gets right, one to thirty of some thousand. Newton on the whole island would mend them at the price of all; so it
 * mends them alone: bodies of contacts that miss the target, and bodies around them, are solved as islands of their
 * own while the rest keeps its velocities, and sweeps carry on what that changed. */
#include <omp.h>
#include <string.h>

#include "base/parallel.h"
#include "solve/contact/body_matrix.h"
#include "solve/contact/islands.h"
#include "solve/contact/methods.h"
#include "solve/contact/momentum.h"
#include "solve/contact/newton.h"

#define SWEEP_ABOVE 1e-3    /* of g dt (`slow`): residual of the start above which sweeps come first, then places */
#define SWEEPS_MORE 40      /* between two looks */
#define SWEEPS_MAX 1000     /* in all, */
#define SWEEPS_EARLY 200    /* or where an answer that shows where bodies go will do */
#define FEW 0.02            /* of the contacts: as many may miss for places to be looked for */
#define PLACES_MAX 12       /* times that they are */
#define PLACE_STEPS 60      /* Newton steps in one */
#define PLACE_TOLERANCE 0.2 /* of the target: what a place is solved to, as its surroundings will move a little */
#define WHOLE_STEP 50     /* sweeps: where a Newton step on all of the island costs more, it gains less than it costs */
#define SIDE_BODIES 64    /* islands up to here are solved side by side, each on one thread, */
#define SIDE_CONTACTS 200 /* when they have so many contacts in all */
#define PLACE_FROM 0.5    /* of the target: residuals from which on a contact is part of a place */

static void project_start(const tl_pairs *t, double *lam)
{
    for (int32_t c = 0; c < t->contacts; c++) {
        double *l = lam + 3 * (int64_t)c, x[3] = {l[0], l[1], l[2]};
        if (t->pair[c].box)
            tl_project_box(t->pair[c].box, x, l);
        else
            tl_project_cone(t->pair[c].mu, x, l);
    }
}

/* ---- islands side by side ---- */

/* One of many: what it needs and how it went. */
typedef struct task {
    const tl_pairs *t;
    const int32_t *contact; /* [t->contacts] of the whole */
    tl_outcome out;
    tl_work work;
} task;

typedef tl_outcome solver(const tl_pairs *t, const tl_newton_ask *ask, double *lam, tl_arena *a, tl_work *w);

/* From lam to lam, both of the whole; what got worse is left. */
static void solve_task(task *k, solver *solve, const tl_newton_ask *ask, double *lam, tl_arena *a, tl_work *w)
{
    const tl_pairs *t = k->t;
    size_t mark = tl_arena_mark(a);
    double *own = TL_TAKE(a, double, 3 * (int64_t)t->contacts);
    k->out = (tl_outcome){.result = TL_BROKE_DOWN, .residual = INFINITY};
    if (own) {
        for (int32_t c = 0; c < t->contacts; c++)
            memcpy(own + 3 * (int64_t)c, lam + 3 * (int64_t)k->contact[c], 3 * sizeof *own);
        k->out = solve(t, ask, own, a, w);
        for (int32_t c = 0; c < t->contacts; c++)
            memcpy(lam + 3 * (int64_t)k->contact[c], own + 3 * (int64_t)c, 3 * sizeof *own);
    }
    tl_arena_release(a, mark);
}

static size_t task_bytes(const tl_pairs *t)
{
    return TL_ARENA_ROOM(double, 3 * (int64_t)t->contacts) + tl_newton_bytes(t->contacts, t->moving);
}

static bool is_small(const tl_pairs *t) { return t->moving <= SIDE_BODIES; }

/* Small islands at the same time, one thread each. False when that is not worth it, or memory is refused: then none
 * was solved. */
static bool solve_small(task *list, int32_t count, const tl_newton_ask *ask, double *lam, tl_arena *a)
{
    int threads = tl_threads();
    int64_t contacts = 0;
    int32_t small = 0;
    size_t max = 0;
    for (int32_t i = 0; i < count; i++) {
        if (!is_small(list[i].t)) continue;
        small++;
        contacts += list[i].t->contacts;
        if (task_bytes(list[i].t) > max) max = task_bytes(list[i].t);
    }
    if (threads > small) threads = small;
    if (threads < 2 || contacts < SIDE_CONTACTS) return false;
    tl_arena *own = TL_TAKE(a, tl_arena, threads);
    for (int i = 0; i < threads && own; i++)
        if (!tl_arena_part(a, max, &own[i])) return false;
    if (!own) return false;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int32_t i = 0; i < count; i++)
        if (is_small(list[i].t))
            solve_task(&list[i], tl_newton_island, ask, lam, &own[omp_get_thread_num()], &list[i].work);
    return true;
}

/* All islands; work is added up, and the outcomes are as one: of the first that missed, the most iterations, the
 * largest residual. */
static tl_outcome solve_islands(const tl_islands *islands, solver *large, const tl_newton_ask *ask, double *lam,
                                tl_arena *a, tl_work *w)
{
    tl_outcome out = {.result = TL_CONVERGED};
    size_t mark = tl_arena_mark(a);
    task *list = TL_TAKE_ZERO(a, task, islands->count);
    if (!list) return (tl_outcome){.result = TL_BROKE_DOWN, .residual = INFINITY};
    for (int32_t i = 0; i < islands->count; i++)
        list[i] = (task){.t = &islands->island[i], .contact = islands->contact + islands->first[i]};
    const bool aside = !w->history && solve_small(list, islands->count, ask, lam, a); /* a history has one order */
    for (int32_t i = 0; i < islands->count; i++) {
        const bool small = is_small(list[i].t);
        if (!small || !aside) solve_task(&list[i], small ? tl_newton_island : large, ask, lam, a, w);
        const tl_outcome *one = &list[i].out;
        w->products += list[i].work.products;
        w->projections += list[i].work.projections;
        w->factorizations += list[i].work.factorizations;
        w->outer += list[i].work.outer;
        if (out.result == TL_CONVERGED || one->result == TL_BROKE_DOWN) out.result = one->result;
        if (one->iterations > out.iterations) out.iterations = one->iterations;
        if (!(one->residual <= out.residual)) out.residual = one->residual;
    }
    tl_arena_release(a, mark);
    return out;
}

/* ---- places ---- */

typedef struct crowd {
    const tl_pairs *t;
    const tl_newton_ask *ask;
    double *lam;  /* [3 contacts] */
    double *dv;   /* [lanes] */
    double *miss; /* [contacts] residuals */
    bool *in;     /* [bodies] of contacts that miss */
    bool *some;   /* [contacts] of places */
    tl_momentum sweeps;
    double least; /* residual of the best impulses so far, */
    double *best; /* [3 contacts] which are these */
    int32_t many; /* contacts above the target */
    double now;   /* residual of lam */
} crowd;

/* Residuals of lam; keeps the best. */
static void look(crowd *s, tl_work *w)
{
    const tl_pairs *t = s->t;
    s->now = 0;
    s->many = 0;
    tl_pairs_push(t, s->lam, s->dv);
    for (int32_t c = 0; c < t->contacts; c++) {
        double u[3];
        tl_pair_velocity(&t->pair[c], s->dv, u);
        double e = s->miss[c] = tl_pair_residual(&t->pair[c], u, s->lam + 3 * (int64_t)c);
        s->many += e > s->ask->stop.tolerance;
        if (!(e <= s->now)) s->now = isfinite(e) ? e : INFINITY;
    }
    tl_work_record(w, s->now);
    if (!(s->now < s->least)) return;
    s->least = s->now;
    memcpy(s->best, s->lam, 3 * sizeof *s->lam * (size_t)t->contacts);
}

/* All contacts of bodies with one that misses; dv: what the others cause. */
static void find_places(crowd *s)
{
    const tl_pairs *t = s->t;
    memset(s->in, 0, sizeof *s->in * (size_t)t->moving);
    for (int32_t c = 0; c < t->contacts; c++)
        for (int side = 0; side < 2 && s->miss[c] > PLACE_FROM * s->ask->stop.tolerance; side++)
            if (t->pair[c].body[side] >= 0) s->in[t->pair[c].body[side]] = true;
    memset(s->dv, 0, sizeof *s->dv * (size_t)tl_pairs_lanes(t));
    for (int32_t c = 0; c < t->contacts; c++) {
        const int32_t i = t->pair[c].body[0], j = t->pair[c].body[1];
        s->some[c] = (i >= 0 && s->in[i]) || (j >= 0 && s->in[j]);
        if (!s->some[c]) tl_pair_push(&t->pair[c], s->lam + 3 * (int64_t)c, s->dv);
    }
}

static void solve_places(crowd *s, tl_outcome *out, tl_arena *a, tl_work *w)
{
    size_t mark = tl_arena_mark(a);
    tl_islands places;
    tl_newton_ask ask = *s->ask;
    ask.aim = ask.stop.tolerance *= PLACE_TOLERANCE;
    ask.stop.max_iterations = PLACE_STEPS;
    find_places(s);
    if (tl_islands_some(s->t, s->some, s->dv, &places, a)) {
        tl_outcome all = solve_islands(&places, tl_newton_island, &ask, s->lam, a, w);
        if (all.iterations > out->iterations) out->iterations = all.iterations;
    }
    tl_arena_release(a, mark);
}

/* Sweeps, places, sweeps, places ... until the target is met or sweeps are spent. */
static void solve_crowd(crowd *s, tl_outcome *out, tl_arena *a, tl_work *w)
{
    const double tolerance = s->ask->stop.tolerance;
    const int max = s->ask->early ? SWEEPS_EARLY : SWEEPS_MAX;
    look(s, w);
    const double first = s->now;
    int next = s->least > SWEEP_ABOVE * s->ask->slow ? SWEEPS_MORE : 0;
    tl_momentum_start(&s->sweeps, s->lam);
    for (int sweeps = 0, places = 0; s->least > tolerance && sweeps < max && !tl_cancelled();) {
        if (next) {
            tl_momentum_sweep(&s->sweeps, next, w);
            tl_momentum_answer(&s->sweeps, s->lam);
            look(s, w);
        }
        sweeps += next;
        next = SWEEPS_MORE;
        if (tl_momentum_back(&s->sweeps, s->now, first, s->best)) continue;
        if (s->least <= tolerance || s->many > FEW * s->t->contacts || places == PLACES_MAX) continue;
        places++;
        solve_places(s, out, a, w);
        look(s, w);
        tl_momentum_start(&s->sweeps, s->lam);
    }
}

static bool take_crowd(crowd *s, tl_arena *a)
{
    const int64_t m = s->t->contacts, lanes = tl_pairs_lanes(s->t);
    s->lam = TL_TAKE(a, double, 3 * m);
    s->dv = TL_TAKE(a, double, lanes);
    s->miss = TL_TAKE(a, double, m);
    s->in = TL_TAKE(a, bool, s->t->moving);
    s->some = TL_TAKE(a, bool, m);
    return s->lam && s->dv && s->miss && s->in && s->some && tl_momentum_build(&s->sweeps, s->t, a);
}

/* Newton on all of the island is too dear. */
static bool is_crowd(const tl_pairs *t, tl_arena *a)
{
    size_t mark = tl_arena_mark(a);
    tl_body_matrix H;
    bool dear = tl_body_matrix_build(&H, t, a) && tl_newton_step_cost(&H, t->contacts) > WHOLE_STEP;
    tl_arena_release(a, mark);
    return dear;
}

/* An island of many bodies. A cap on iterations asks for Newton on all of it where the rest misses. */
static tl_outcome solve_large(const tl_pairs *t, const tl_newton_ask *ask, double *lam, tl_arena *a, tl_work *w)
{
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS, .residual = INFINITY};
    if (ask->shift && !t->joined && t->contacts > TL_NEWTON_AIM_MAX && is_crowd(t, a)) {
        size_t mark = tl_arena_mark(a);
        crowd s = {.t = t, .ask = ask, .least = INFINITY, .best = lam};
        if (take_crowd(&s, a)) {
            memcpy(s.lam, lam, 3 * sizeof *lam * (size_t)t->contacts);
            solve_crowd(&s, &out, a, w);
            out.residual = s.least;
        }
        tl_arena_release(a, mark);
        if (out.residual <= ask->stop.tolerance) out.result = TL_CONVERGED;
        if (out.result != TL_CONVERGED && ask->early) *ask->early = true;
        if (out.result == TL_CONVERGED || !ask->stop.max_iterations) return out;
    }
    tl_outcome whole = tl_newton_island(t, ask, lam, a, w);
    whole.iterations += out.iterations;
    return whole;
}

/* ---- the methods ---- */

static size_t bytes(const tl_contact *p, const tl_options *o)
{
    (void)o;
    return tl_islands_bytes(p) + tl_pairs_room(p);
}

static tl_outcome run(const tl_pairs *t, const tl_options *o, const tl_stop *stop, double *lam, tl_arena *a, tl_work *w,
                      bool shift)
{
    const tl_newton_ask ask = {shift, o->aim > 0 ? fmin(o->aim, stop->tolerance) : stop->tolerance, *stop,
                               stop->max_iterations ? NULL : o->early, o->slow > 0 ? o->slow : tl_pairs_speed(t)};
    double *v = TL_TAKE(a, double, tl_pairs_lanes(t));
    project_start(t, lam);

    /* a scene at rest costs one product */
    tl_outcome out = {.result = TL_CONVERGED, .residual = tl_newton_residual(t, shift, lam, v)};
    if (out.residual <= ask.aim) return out;

    tl_islands islands;
    tl_islands_build(t, &islands, a);
    return solve_islands(&islands, solve_large, &ask, lam, a, w);
}

static tl_outcome run_shift(const tl_contact *p, const tl_pairs *t, const tl_options *o, const tl_stop *stop,
                            double *lam, tl_arena *a, tl_work *w)
{
    (void)p;
    return run(t, o, stop, lam, a, w, true);
}

static tl_outcome run_convex(const tl_contact *p, const tl_pairs *t, const tl_options *o, const tl_stop *stop,
                             double *lam, tl_arena *a, tl_work *w)
{
    (void)p;
    return run(t, o, stop, lam, a, w, false);
}

const tl_contact_method tl_contact_newton_shift = {
    "newton-shift",
    "augmented Lagrangian on the cone, Newton on body velocities, shifted to true Coulomb (the default)",
    true,
    true,
    bytes,
    run_shift};
const tl_contact_method tl_contact_newton_convex = {
    "newton-convex", "the same without the shift: the convex relaxation, lifts sliding bodies", false, true, bytes,
    run_convex};
