/* The local-global step of elastic solids and cloth, with contact and free rigid bodies.
 *
 *     predict             qtil: where nodes go without forces (lg_time.h); where anchors pull to; q = qtil; rigid bodies likewise
 *     detect              what may touch between q_t and qtil; cables; forces of the last step
 *     repeat              `iterations` times
 *         project         local step: every element on its own
 *         balance         r: what forces and inertia leave over, contact forces included
 *         solve           global step: q += A^-1 r
 *         touch           contact forces for these positions, and the displacement that follows
 *         look again      in the first rounds: contacts that these positions show and the prediction did not
 *         mix             not after the last: the combination of rounds that leaves least to be done (math/anderson.h)
 *     measure             velocities, energies, certificates of the gradient and of the contact laws
 *     move                free rigid bodies fly with the velocities that contacts leave them
 *     land, spin          velocities of what touches; angular momentum (lg_time.h)
 *     commit */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/sum.h"
#include "base/timer.h"
#include "math/anderson.h"
#include "model/lg/holds.h"
#include "model/lg/solver.h"
#include "model/rigid/motion.h"
#include "solve/outcome.h"
#include "step/accounts.h"
#include "step/accounts_lg.h"
#include "step/bodies.h"
#include "step/engines.h"
#include "step/lg_apart.h"
#include "step/lg_contact.h"
#include "step/lg_damp.h"
#include "step/lg_exact.h"
#include "step/lg_held.h"
#include "step/lg_time.h"

#define JACOBI_DAMPING 0.9     /* of Jacobi steps [Wang15] */
#define CONTACT_TOLERANCE 1e-6 /* m/s, of gaps over the step's length and of slips */
#define PI 3.14159265358979323846
#define LOOKS 3         /* after this many rounds, the first ones: later ones would have too few left to act. Chosen */
#define CREEP_TOLD 1e-4 /* m/s */
#define STOP 1e-6       /* of what the first round found: bodies that nothing touches are done then */
#define AT_REST 1e-9    /* m/s, over a step: less than this to be done is rest */
#define JUDGED 5        /* steps in a row after which it is told that rounds do not suffice. Chosen */
#define CURVED 1e-4     /* share of A that the energy's curvature has at least */
#define LEFT_TOLD 0.06  /* of the forces of a step is missing: what swings is slower by half of that, see judge */
#define MOVES 1e-3 /* of its speed is what the missing forces do to a body within a step: less is not told. Chosen */
#define STEPS_PER_SWING 20     /* of BDF2, for 3 % */
#define NEARBY 1e-3            /* of a step: how far along its motion forces are looked at for their change. Chosen */
#define LED 0.1                /* of its speed: anchors of a body that swings by itself are slower. Chosen */
#define STRETCH_TOLD 1.03      /* of a period: swings that come out longer are told */
#define SWINGS 1e-5            /* of a body's size: a swing by less is not told. Chosen */
#define FREE_ROUNDS 2          /* before Newton's method takes over where nothing touches: they take out what is fast */
#define NEWTON_STEPS 3         /* each with a solve to SOLVED: the third has little left */
#define ITERATIONS_EACH 4      /* conjugate gradients per round that is allowed. Chosen */
#define CORRECTIONS 3          /* where laws of contact have no say: the third has little left */
#define BALANCED 1e-8          /* of the forces that act: left over by a static step */
#define BALANCE_MOST 500       /* corrections of a static step */
#define BALANCE_ITERATIONS 400 /* each */
#define REACH 1e4     /* times that sound takes to cross a body: he of static steps. Changes the way, not the end */
#define EXACT_MOST 20 /* corrections by the true curvature: most steps take 3 to 8, what buckles under contact 15 */
#define DENSE_MOST                                                                                                     \
    400 /* contacts that push: of more, or of more than coordinates, corrections do not write W out. Chosen */
#define EXACT_LOOKS 6   /* for more that touches, each followed by corrections */
#define EXACT_SLACK 0.1 /* of the target of contact laws: what their solves may leave */
#define SHORTEST 0.05   /* of a whole step: what guards do not hold apart then passes, told. Chosen */
#define SLOP 1e-4       /* m: overlap of rigid bodies that is left alone */

enum phase { PREDICT, DETECT, ASSEMBLE, PROJECT, BALANCE, SOLVE, TOUCH, MEASURE, PHASES };
static const char *const phase_names[PHASES] = {"predict", "detect",       "assemble",      "project",
                                                "balance", "solve global", "solve contact", "measure"};

/* sim->own */
typedef struct lg_kept {
    tl_lg_solver *solver;
    tl_lg_columns *columns;
    tl_lg_hessian *hessian;
    tl_flex_kept *flex;
    tl_lg_precision precision;
    bool searches; /* quasi-Newton */
    double reach;  /* s, of static steps */
    tl_rigid_kept rigid;
    bool told;         /* of creep */
    bool told_left;    /* of rounds that do not suffice */
    bool told_fast;    /* of swings that steps are too long for */
    bool told_through; /* of surfaces that were not */
    bool told_apart;   /* of surfaces that were held apart */
    int *missed;       /* [bodies] steps in a row that missed */
    int *hurried;      /* [bodies] steps in a row that were too long for its swing */
} lg_kept;

typedef struct lg_step {
    tl_sim *sim;
    const tl_scene *scene;
    const tl_lg *lg;
    lg_kept *kept;
    tl_arena *arena;
    double h, he;     /* he^2: of A */
    tl_bodies bodies; /* rigid ones, their contacts with each other */
    tl_lg_time time;
    tl_anderson mixer;
    tl_lg_newton newton;
    /* predict */
    double *qtil;     /* [3 nodes] */
    double *q;        /* [3 nodes] the positions that are to be */
    double *u;        /* [8 dual_rows] the duals that are to be; behind q */
    double *from;     /* q and u at the start of a round */
    double *accel;    /* [3 nodes] gravity and forces on bodies, m/s^2 */
    bool *pushed;     /* [bodies] by a force or a torque */
    tl_vec3 *target;  /* [anchors] */
    double *pressure; /* [bodies] Pa, at the end of the step; NULL: none */
    /* detect */
    tl_lg_contacts contacts;
    tl_lg_view view;
    tl_lg_bilaterals bilateral;
    int32_t *hold_nodes; /* [tl_lg_hold_count] */
    tl_lg_rows_of rows;
    tl_lg_touch touch;
    /* project, balance, solve */
    double *force;      /* [force_count] of element corners */
    double *r;          /* [3 nodes] */
    double *step;       /* [3 nodes] A^-1 r */
    double *trial;      /* [3 nodes] quasi-Newton and Chebyshev: other positions */
    double omega;       /* Chebyshev's weight */
    int rounds;         /* made */
    double found, left; /* r A^-1 r of the first round and of the last */
    /* measure */
    double *v; /* [3 nodes] */
    double elastic;
    bool *touched;   /* [bodies] by contacts or rows */
    double *missing; /* [bodies] share of the forces of this step that rounds have not found */
    double *off2;    /* [bodies] kg m^2: how far a body is from where these would lead it */
    double *after;   /* [3 nodes] r a step on */
    tl_lg_laws laws;
    double landed;  /* J, that landing took */
    double viscous; /* J, that inner friction gave: never positive */
    tl_lg_damped damped;
    tl_lg_apart apart;
    double depth;         /* m, of surfaces in shapes */
    tl_lg_memory *memory; /* [memories] contacts that the next step starts from */
    int64_t memories;
    double seconds[PHASES], mark, began;
} lg_step;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of elastic bodies");
}

static void lap(lg_step *s, enum phase phase)
{
    double now = tl_seconds();
    s->seconds[phase] += now - s->mark;
    s->mark = now;
}

/* ---- phases ---- */

/* Real time: whether the scene's time for a step is over. */
static bool is_late(const lg_step *s)
{
    return s->scene->lg.budget > 0 && tl_seconds() - s->began > 1e-3 * s->scene->lg.budget;
}

static talus_status begin_step(lg_step *s, tl_sim *sim, double dt, talus_error *err)
{
    const tl_lg *lg = &sim->lg;
    tl_arena *a = &sim->arena;
    int64_t n = 3 * (int64_t)lg->nodes;
    *s = (lg_step){.sim = sim,
                   .scene = sim->scene,
                   .lg = lg,
                   .kept = sim->own,
                   .arena = a,
                   .h = tl_lg_round_step(dt),
                   .mark = tl_seconds()};
    s->began = s->mark;
    int64_t duals = TL_LG_LANES * lg->dual_rows;
    s->qtil = TL_TAKE(a, double, n);
    s->q = TL_TAKE(a, double, n + duals);
    s->from = TL_TAKE(a, double, n + duals);
    s->accel = TL_TAKE(a, double, n);
    s->pushed = TL_TAKE_ZERO(a, bool, lg->bodies + 1);
    s->v = TL_TAKE(a, double, n);
    s->r = TL_TAKE(a, double, n);
    s->step = TL_TAKE(a, double, n);
    s->trial = TL_TAKE(a, double, n);
    s->target = TL_TAKE(a, tl_vec3, lg->anchors);
    s->force = TL_TAKE(a, double, lg->force_count);
    s->after = TL_TAKE(a, double, n);
    s->missing = TL_TAKE(a, double, lg->bodies + 1);
    s->off2 = TL_TAKE(a, double, lg->bodies + 1);
    s->touched = TL_TAKE_ZERO(a, bool, lg->bodies + 1);
    if (!s->after || !s->missing || !s->off2 || !s->touched) return no_memory(err);
    if (!s->qtil || !s->q || !s->v || !s->r || !s->step || !s->trial || !s->target || !s->force || !s->from ||
        !s->accel)
        return no_memory(err);
    s->u = s->q + n;
    TL_TRY(tl_anderson_begin_carrying(&s->mixer, n, duals, a, err));
    TL_TRY(
        tl_lg_time_begin(&s->time, lg, &sim->state.lg, (tl_lg_times)sim->scene->lg.time, s->kept->reach, s->h, a, err));
    s->he = s->time.he;
    TL_TRY(tl_bodies_begin(&s->bodies, sim, &s->kept->rigid, s->h, err));
    s->newton = (tl_lg_newton){.lg = lg,
                               .solver = s->kept->solver,
                               .precision = s->kept->precision,
                               .he = s->he,
                               .qtil = s->qtil,
                               .target = s->target,
                               .rows = &s->touch.rows,
                               .q = s->q,
                               .r = s->r,
                               .step = s->step,
                               .trial = s->trial,
                               .force = s->force};
    return tl_lg_solver_update(s->kept->solver, s->he, err);
}

/* A force and a torque on an elastic body accelerate it as if it were rigid: no part of it is pulled more than others. */
static talus_status push_body(lg_step *s, int b, talus_error *err)
{
    const tl_lg_body *body = &s->lg->body[b];
    const tl_motion *m = &s->sim->state.rigid.body[body->body];
    const tl_body *asked = &s->scene->bodies[body->body];
    double f[3], t[3];
    TL_TRY(tl_scene_timed(s->scene, &asked->force, s->sim->state.t, f, 3, err));
    TL_TRY(tl_scene_timed(s->scene, &asked->torque, s->sim->state.t, t, 3, err));
    tl_vec3 force = tl_vec3_add(m->force, tl_vec3_load(f)), torque = tl_vec3_add(m->torque, tl_vec3_load(t));
    if (tl_vec3_norm2(force) == 0 && tl_vec3_norm2(torque) == 0) return TALUS_OK;
    tl_lg_whole now = tl_lg_whole_of(s->lg, body, s->sim->state.lg.q, s->sim->state.lg.v);
    if (!(now.mass > 0)) return TALUS_OK;
    tl_vec3 turn = tl_mat3_mul_vec(now.inverse, torque);
    for (int64_t i = body->node; i < body->node + body->nodes; i++) {
        tl_vec3 r = tl_vec3_sub(tl_vec3_load(s->sim->state.lg.q + 3 * i), now.centre),
                a = tl_vec3_add_scaled(tl_vec3_cross(turn, r), 1 / now.mass, force);
        tl_vec3_store(tl_vec3_add(tl_vec3_load(s->accel + 3 * i), a), s->accel + 3 * i);
    }
    s->pushed[b] = true;
    return TALUS_OK;
}

/* Forces on single nodes, from code. */
static void push_nodes(lg_step *s)
{
    const double *push = s->sim->state.lg.push;
    for (int32_t i = 0; i < s->lg->nodes; i++)
        for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++) {
            if (push[k] == 0) continue;
            s->accel[k] += push[k] / s->lg->mass[i];
            s->pushed[s->lg->owner[i]] = true;
        }
}

/* Forces of pressure are those of the end of the step, where its surfaces are to be. */
static talus_status find_pressure(lg_step *s, talus_error *err)
{
    const tl_lg *lg = s->lg;
    double *p = TL_TAKE_ZERO(s->arena, double, lg->bodies + 1);
    if (!p) return no_memory(err);
    for (int b = 0; b < lg->bodies; b++) {
        TL_TRY(tl_scene_timed(s->scene, &s->scene->bodies[lg->body[b].body].pressure, s->sim->state.t + s->h, &p[b], 1,
                              err));
        p[b] += s->sim->state.lg.pressure[b];
        if (p[b] == 0) continue;
        s->pressure = p;
        s->pushed[b] |= !lg->body[b].sealed;
    }
    s->newton.pressure = s->pressure;
    return TALUS_OK;
}

/* Functions of time are read here and nowhere else. */
static talus_status predict(lg_step *s, talus_error *err)
{
    const tl_lg *lg = s->lg;
    const tl_lg_state *now = &s->sim->state.lg;
    const double g[3] = {s->scene->gravity.x, s->scene->gravity.y, s->scene->gravity.z};
    tl_pose *handle = TL_TAKE(s->arena, tl_pose, lg->handles + 1);
    if (!handle) return no_memory(err);
    TL_TRY(tl_lg_handle_poses(lg, s->scene, s->sim->state.t + s->h, handle, err));
    tl_lg_lead(now, true, handle);
    tl_lg_targets(lg, handle, s->target);
    TL_TRY(tl_accounts_lg_begin(s->sim, s->target, s->arena, err));
    for (int64_t i = 0; i < 3 * (int64_t)lg->nodes; i++) s->accel[i] = g[i % 3];
    for (int b = 0; b < lg->bodies; b++) TL_TRY(push_body(s, b, err));
    push_nodes(s);
    TL_TRY(find_pressure(s, err));
    tl_lg_time_predict(&s->time, lg, now, s->accel, s->qtil);
    memcpy(s->q, s->qtil, sizeof *s->q * 3 * (size_t)lg->nodes);
    if (lg->dual_rows) memcpy(s->u, now->u, sizeof *s->u * TL_LG_LANES * (size_t)lg->dual_rows);
    TL_TRY(tl_bodies_predict(&s->bodies, err));
    lap(s, PREDICT);
    return TALUS_OK;
}

/* Frames of all shapes at the end of the step, free bodies as if nothing touched them. */
static void predict_poses(const lg_step *s, tl_pose *after)
{
    for (int32_t i = 0; i < s->sim->rigid.count; i++) {
        tl_motion m = s->bodies.body[i];
        const tl_rigid_body *b = &s->sim->rigid.body[i];
        if (b->kind == TL_BODY_FREE && !b->elastic)
            tl_rigid_fly(b, s->h, &m);
        else if (b->kind == TL_BODY_KINEMATIC)
            m.x = m.goal.at, m.q = m.goal.rotation;
        after[i] = tl_rigid_pose(b, &m);
    }
}

static talus_status detect(lg_step *s, talus_error *err)
{
    tl_bodies *b = &s->bodies;
    tl_pose *after = TL_TAKE(s->arena, tl_pose, s->sim->rigid.count);
    if (!after) return no_memory(err);
    predict_poses(s, after);
    s->view = (tl_lg_view){.lg = s->lg,
                           .rigid = &s->sim->rigid,
                           .scene = s->scene,
                           .from = s->sim->state.lg.q,
                           .to = s->qtil,
                           .body = b->body,
                           .before = b->pose,
                           .after = after,
                           .friction = b->friction,
                           .length = s->sim->state.lg.length,
                           .h = s->h};
    if (!s->time.rests) {
        TL_TRY(tl_lg_detect(&s->view, s->arena, &s->contacts, err));
        tl_lg_mend_planes(&s->view, &s->contacts);
        TL_TRY(tl_lg_detect_rigid(&s->view, &s->sim->state.rigid, s->arena, &b->contacts, err));
    }
    TL_TRY(tl_bodies_match(b, err));
    lap(s, DETECT);
    if (s->scene->lg.global == TL_LG_JACOBI && s->contacts.count)
        return TL_FAIL(
            err, TALUS_UNSUPPORTED,
            "global_step \"jacobi\" has no factor, so there is no compliance of contacts: take \"factor\" or "
            "\"inverse\"");
    s->hold_nodes = TL_TAKE(s->arena, int32_t, tl_lg_hold_count(s->lg, s->scene) + 1);
    if (!s->hold_nodes) return no_memory(err);
    TL_TRY(tl_lg_bilateral_rows(&s->view, s->sim->state.t + s->h, s->arena, &s->bilateral, err));
    s->rows = (tl_lg_rows_of){.lg = s->lg,
                              .solver = s->kept->solver,
                              .columns = s->kept->columns,
                              .precision = s->kept->precision,
                              .h = s->h,
                              .he = s->he,
                              .from = s->sim->state.lg.q,
                              .soft = &s->contacts,
                              .rigid = &s->sim->rigid,
                              .body = b->body,
                              .hard = &b->contacts,
                              .slop = s->kept->rigid.slop,
                              .bilateral = &s->bilateral,
                              .compliance = (tl_lg_compliance_kind)s->scene->lg.compliance};
    TL_TRY(tl_lg_touch_begin(&s->touch, &s->scene->lg, &s->rows, &s->sim->state.lg, b->lam, b->v_free, s->arena, err));
    lap(s, ASSEMBLE);
    return TALUS_OK;
}

static void project(lg_step *s)
{
    if (s->kept->searches)
        (void)tl_lg_stress(s->lg, s->q, s->force);
    else
        tl_lg_local(s->lg, s->q, s->u, s->force);
    lap(s, PROJECT);
}

static void balance(lg_step *s)
{
    tl_lg_residual(s->lg, s->he, s->q, s->qtil, s->target, s->force, s->r);
    tl_lg_press(s->lg, s->pressure, s->he * s->he, s->q, s->r);
    tl_lg_touch_push(&s->touch, s->r);
    lap(s, BALANCE);
}

/* Chebyshev weights over damped Jacobi steps; trial holds the positions before the last ones. */
static void accelerate(lg_step *s, int round)
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

static void solve_global(lg_step *s, int round)
{
    int64_t n = 3 * (int64_t)s->lg->nodes;
    tl_lg_solve(s->kept->solver, s->kept->precision, s->r, s->step);
    s->left = tl_dot(n, s->r, s->step);
    if (round == 0) s->found = s->left;
    if (s->kept->searches)
        (void)tl_lg_newton_search(&s->newton);
    else if (s->scene->lg.global == TL_LG_JACOBI)
        accelerate(s, round);
    else
        for (int64_t i = 0; i < n; i++) s->q[i] += s->step[i];
    lap(s, SOLVE);
}

static talus_status touch(lg_step *s, talus_error *err)
{
    TL_TRY(tl_lg_touch_solve(&s->touch, s->q, s->arena, err));
    lap(s, TOUCH);
    return TALUS_OK;
}

/* Where contact and tension lead nodes is not where they were predicted to be: something sharp may stand between them now. */
static talus_status look_again(lg_step *s, bool *changed, talus_error *err)
{
    int32_t *origin;
    tl_lg_contacts more;
    s->view.to = s->q;
    TL_TRY(tl_lg_detect_again(&s->view, &s->contacts, s->arena, &more, &origin, changed, err));
    lap(s, DETECT);
    if (!*changed) return TALUS_OK;
    s->contacts = more;
    tl_lg_mend_planes(&s->view, &s->contacts);
    TL_TRY(tl_lg_touch_again(&s->touch, &s->rows, origin, s->bodies.v_free, s->arena, err));
    lap(s, ASSEMBLE);
    return TALUS_OK;
}

/* ---- bodies that nothing touches ---- */

/* Newton's method for what no contact, cable or join holds: rounds of other bodies do not change it. Duals follow, for the step in which something touches. */
static talus_status solve_free(lg_step *s, talus_error *err)
{
    tl_lg_newton *w = &s->newton;
    int budget = ITERATIONS_EACH * s->scene->lg.iterations;
    TL_TRY(tl_lg_newton_begin(w, s->arena, err));
    for (int step = 0; step < NEWTON_STEPS && budget > 0; step++) {
        TL_TRY(tl_cancel_check(err));
        int made = tl_lg_newton_correct(w, budget);
        if (made < 0) return TALUS_OK;
        budget -= made;
        s->rounds++;
    }
    if (s->lg->dual_rows) tl_lg_set_duals(s->lg, s->q, w->of, s->u);
    lap(s, SOLVE);
    return TALUS_OK;
}

static bool newton_serves(const lg_step *s)
{
    return !s->kept->searches && s->scene->lg.global != TL_LG_JACOBI && s->scene->lg.local != TL_LG_LOCAL_PROX;
}

/* Those of the forces that q has: where rounds without duals end, and the next step may go on with duals. */
static talus_status renew_duals(lg_step *s, talus_error *err)
{
    bool *all = TL_TAKE(s->arena, bool, s->lg->bodies + 1);
    if (!all) return no_memory(err);
    for (int b = 0; b < s->lg->bodies; b++) all[b] = true;
    tl_lg_set_duals(s->lg, s->q, all, s->u);
    return TALUS_OK;
}

/* ---- how far it came ---- */

static double contact_target(const lg_step *s)
{
    const double asked = s->scene->solver.contact.tolerance;
    return asked > 0 ? asked : CONTACT_TOLERANCE;
}

/* r at q with the forces of contacts, cables and joins, A^-1 r, and how well their laws hold. */
static void find_residual(lg_step *s)
{
    s->elastic = tl_lg_stress(s->lg, s->q, s->force) + tl_lg_linear_energy(s->lg, s->q, s->target);
    tl_lg_residual(s->lg, s->he, s->q, s->qtil, s->target, s->force, s->r);
    tl_lg_press(s->lg, s->pressure, s->he * s->he, s->q, s->r);
    tl_lg_touch_push(&s->touch, s->r);
    s->laws = tl_lg_touch_laws(&s->touch, s->contacts.shapes, s->q);
    tl_lg_solve(s->kept->solver, s->kept->precision, s->r, s->step);
}

/* How far rounds came. Where they end, the step A^-1 r goes down, and the energy's curvature along it is a share k of A's: the minimum lies 1/k steps
 * away. That over the way from q~, by masses, is the share c of forces that the step lacks. A mode that feels (1 - c) of its force swings slower by
 * 1 / sqrt(1 - c), and c / 2 is what users see of it. With slow modes k is 1e-2 and less, so |r| alone says nothing. s->r and s->step are those of q. */
static void find_missing(lg_step *s)
{
    const tl_lg *lg = s->lg;
    for (int64_t i = 0; i < 3 * (int64_t)lg->nodes; i++) s->trial[i] = s->q[i] + s->step[i];
    tl_lg_newton_residual(&s->newton, s->trial, s->after);
    tl_lg_touch_push(&s->touch, s->after);
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        double curved = 0, full = 0, step2 = 0, way2 = 0;
        for (int64_t k = 3 * (int64_t)body->node, end = k + 3 * (int64_t)body->nodes; k < end; k++) {
            double m = lg->mass[k / 3], way = s->q[k] - s->qtil[k];
            curved += s->step[k] * (s->r[k] - s->after[k]);
            full += s->step[k] * s->r[k];
            step2 += m * s->step[k] * s->step[k];
            way2 += m * way * way;
        }
        double k = full > 0 ? fmin(1, fmax(CURVED, curved / full)) : 1, rest = AT_REST * s->he;
        s->off2[b] = step2 / (k * k);
        s->missing[b] = sqrt(s->off2[b] / (way2 + s->off2[b] + rest * rest * body->mass));
    }
}

/* ---- bodies that touch ---- */

static void plain_round(lg_step *s)
{
    project(s);
    balance(s);
    solve_global(s, s->rounds);
}

/* After the rounds: corrections with what touches held, each with a round after it that lets go, takes hold and slides as the laws have it. What leaves no less than
 * before is taken back: the curvature of a step may change faster than a correction knows. */
static talus_status solve_held(lg_step *s, int most, talus_error *err)
{
    const int64_t n = 3 * (int64_t)s->lg->nodes, duals = TL_LG_LANES * s->lg->dual_rows, rows = s->touch.rows.rows;
    double left = INFINITY, *force = TL_TAKE(s->arena, double, rows);
    bool done = false, *of = TL_TAKE_ZERO(s->arena, bool, s->lg->bodies + 1);
    if (!of || !force) return no_memory(err);
    for (int32_t k = 0; k < s->touch.rows.nodes; k++) of[s->lg->owner[s->touch.rows.node[k]]] = true;
    for (int k = 0; !done; k++) {
        const double before = left;
        const int iterations = k < most ? ITERATIONS_EACH * s->scene->lg.iterations : 0;
        TL_TRY(tl_lg_held_correct(&s->newton, &s->touch, iterations, &left, &done, s->from, force, s->arena, err));
        if (!done) {
            memcpy(s->from + n, s->u, sizeof *s->u * (size_t)duals);
            if (duals) tl_lg_set_duals(s->lg, s->q, of, s->u);
            plain_round(s);
            TL_TRY(touch(s, err));
            s->rounds++;
        } else if (!(left < before) && k > 0) {
            memcpy(s->q, s->from, sizeof *s->q * (size_t)(n + duals));
            memcpy(s->touch.force, force, sizeof *force * (size_t)rows);
            memcpy(s->touch.lam, force, sizeof *force * (size_t)rows);
        }
    }
    return TALUS_OK;
}

/* The largest share of forces that a body lacks, and the largest error of contact laws over their target. */
typedef struct quality {
    double missing, laws;
} quality;

static quality how_good(lg_step *s)
{
    const double target = contact_target(s);
    quality out = {0, fmax(s->laws.normal / s->h, s->laws.friction) / target};
    for (int b = 0; b < s->lg->bodies; b++) out.missing = fmax(out.missing, s->missing[b]);
    return out;
}

/* Corrections by the true curvature with all laws of contact, also of bodies that nothing touches where Newton's method with A did not end. What they move may come to touch something
 * else. Where laws contradict each other, as between folds of cloth that are thicker than the room they have, corrections may end worse than rounds: then the rounds'
 * answer stands. */
static talus_status solve_exact(lg_step *s, int most, talus_error *err)
{
    const int64_t n = 3 * (int64_t)s->lg->nodes, duals = TL_LG_LANES * s->lg->dual_rows;
    find_residual(s);
    find_missing(s);
    const quality rounds = how_good(s);
    if (rounds.missing <= s->scene->solver.tolerance && rounds.laws <= 1) return TALUS_OK;
    bool *of = TL_TAKE_ZERO(s->arena, bool, s->lg->bodies + 1), changed = true;
    if (!of) return no_memory(err);
    int64_t coordinates = 0;
    for (int b = 0; b < s->lg->bodies; b++) of[b] = s->missing[b] > s->scene->solver.tolerance;
    for (int32_t k = 0; k < s->touch.rows.nodes; k++) of[s->lg->owner[s->touch.rows.node[k]]] = true;
    for (int b = 0; b < s->lg->bodies; b++) coordinates += of[b] ? 3 * (int64_t)s->lg->body[b].nodes : 0;
    const bool many = s->laws.touching > DENSE_MOST || 3 * s->laws.touching > coordinates;
    const tl_lg_touch touch_before = s->touch;
    const tl_lg_contacts contacts_before = s->contacts;
    double *force = TL_TAKE(s->arena, double, s->touch.rows.rows);
    if (!force) return no_memory(err);
    if (s->touch.rows.rows) memcpy(force, s->touch.force, sizeof *force * (size_t)s->touch.rows.rows);
    memcpy(s->from, s->q, sizeof *s->q * (size_t)(n + duals));
    tl_lg_exact x = {.w = &s->newton,
                     .t = &s->touch,
                     .hessian = s->kept->hessian,
                     .kept = s->kept->flex,
                     .of = of,
                     .route = many ? "sum" : "schur",
                     .target = s->scene->solver.tolerance,
                     .slack = EXACT_SLACK * contact_target(s),
                     .most = most,
                     .until = s->scene->lg.budget > 0 ? s->began + 1e-3 * s->scene->lg.budget : INFINITY};
    s->view.solids_again = true;
    for (int look = 0; look < EXACT_LOOKS && changed && !is_late(s); look++) {
        talus_error why = {0};
        talus_status status = tl_lg_exact_solve(&x, s->arena, &why);
        if (status == TALUS_UNSUPPORTED) break; /* more contacts push than a matrix has room for */
        if (status != TALUS_OK) {
            if (err) *err = why;
            return status;
        }
        s->rounds += x.made;
        lap(s, TOUCH);
        changed = false;
        if (x.converged) TL_TRY(look_again(s, &changed, err));
    }
    find_residual(s);
    find_missing(s);
    const quality now = how_good(s);
    if ((changed || !x.converged) && !(now.missing < rounds.missing && now.laws <= fmax(1, rounds.laws))) {
        memcpy(s->q, s->from, sizeof *s->q * (size_t)(n + duals));
        s->contacts = contacts_before;
        s->touch = touch_before;
        if (s->touch.rows.rows) {
            memcpy(s->touch.force, force, sizeof *force * (size_t)s->touch.rows.rows);
            memcpy(s->touch.lam, force, sizeof *force * (size_t)s->touch.rows.rows);
        }
        tl_lg_touch_push(&s->touch, s->r);
        return TALUS_OK;
    }
    if (duals) tl_lg_set_duals(s->lg, s->q, of, s->u);
    return TALUS_OK;
}

/* After the rounds, where they did not suffice. */
static talus_status solve_touching(lg_step *s, talus_error *err)
{
    int most = s->scene->lg.corrections;
    const bool holds = s->touch.rows.bilateral.count > 0;
    if (s->scene->lg.form || most == 0) return TALUS_OK;
    if (holds && !s->touch.rows.contacts) return solve_held(s, most < 0 ? CORRECTIONS : most, err);
    return solve_exact(s, most < 0 ? EXACT_MOST : most, err);
}

/* ---- static steps ---- */

/* Forces that do not balance, of each body, over those that act on it: gravity, what scenes ask for, pressure, anchors. Returns the worst. */
static double unbalanced(lg_step *s, double *share)
{
    const tl_lg *lg = s->lg;
    const double he2 = s->he * s->he;
    double worst = 0, *acts = s->trial;
    for (int64_t i = 0; i < lg->nodes; i++)
        for (int64_t k = 3 * i; k < 3 * i + 3; k++) {
            s->qtil[k] = s->q[k] + he2 * s->accel[k];
            acts[k] = lg->mass[i] * s->accel[k];
        }
    tl_lg_newton_residual(&s->newton, s->q, s->r);
    tl_lg_press(lg, s->pressure, 1, s->q, acts);
    double *pull2 = share;
    memset(pull2, 0, sizeof *pull2 * (size_t)lg->bodies);
    for (int32_t k = 0; k < lg->anchors; k++) {
        const tl_lg_anchor *a = &lg->anchor[k];
        tl_vec3 off = tl_vec3_sub(s->target[k], tl_vec3_load(s->q + 3 * (int64_t)a->vertex));
        pull2[lg->owner[a->vertex]] += a->weight * a->weight * tl_vec3_norm2(off);
    }
    for (int b = 0; b < lg->bodies; b++) {
        const int64_t from = 3 * (int64_t)lg->body[b].node, n = 3 * (int64_t)lg->body[b].nodes;
        double load2 = pull2[b] + tl_dot(n, acts + from, acts + from), left2 = tl_dot(n, s->r + from, s->r + from);
        share[b] = left2 > 0 ? fmin(1, sqrt(left2 / load2) / he2) : 0;
        worst = fmax(worst, share[b]);
    }
    return worst;
}

static double static_target(const lg_step *s) { return fmin(s->scene->solver.tolerance, BALANCED); }

/* Newton's method for the positions in which forces balance. Each correction starts from where the last one ended, held by a mass over he^2 that
 * is small beside the stiffness: it ends at a minimum, wherever it began, and what it holds is nothing there. */
static talus_status find_balance(lg_step *s, talus_error *err)
{
    memcpy(s->q, s->sim->state.lg.q, sizeof *s->q * 3 * (size_t)s->lg->nodes);
    TL_TRY(tl_lg_newton_begin(&s->newton, s->arena, err));
    double left = unbalanced(s, s->missing);
    while (left > static_target(s) && s->rounds < BALANCE_MOST) {
        TL_TRY(tl_cancel_check(err));
        (void)tl_lg_newton_correct(&s->newton, BALANCE_ITERATIONS);
        left = unbalanced(s, s->missing);
        s->rounds++;
    }
    if (s->lg->dual_rows) TL_TRY(renew_duals(s, err));
    lap(s, SOLVE);
    return TALUS_OK;
}

/* Rounds of a step, as long as they find anything to do. */
static talus_status iterate(lg_step *s, talus_error *err)
{
    const int64_t n = 3 * (int64_t)s->lg->nodes, all = n + TL_LG_LANES * s->lg->dual_rows;
    const bool by_newton = s->scene->lg.mixing == 0 && newton_serves(s);
    const bool mixes = s->scene->lg.mixing == 0 && !s->kept->searches && s->scene->lg.global != TL_LG_JACOBI;
    bool changed;
    if (s->time.rests) return find_balance(s, err);
    for (int k = 0; k < s->scene->lg.iterations; k++) {
        TL_TRY(tl_cancel_check(err));
        memcpy(s->from, s->q, sizeof *s->q * (size_t)all);
        project(s);
        balance(s);
        solve_global(s, k);
        TL_TRY(touch(s, err));
        if (k < LOOKS) TL_TRY(look_again(s, &changed, err));
        s->rounds = k + 1;
        if (by_newton && !s->touch.rows.rows && s->rounds == FREE_ROUNDS)
            break; /* unless something has come to touch */
        if (is_late(s) || s->rounds == s->scene->lg.iterations ||
            (!s->touch.rows.rows && s->left <= STOP * STOP * s->found))
            break;
        if (mixes) tl_anderson_next(&s->mixer, s->from, s->q, s->q);
        lap(s, SOLVE);
    }
    if (s->kept->searches && s->lg->dual_rows) TL_TRY(renew_duals(s, err));
    if (!by_newton || is_late(s)) return TALUS_OK;
    TL_TRY(solve_free(s, err));
    return s->kept->searches || is_late(s) ? TALUS_OK : solve_touching(s, err);
}

/* Nothing passes through anything on the way from where the step began. */
static talus_status hold_apart(lg_step *s, bool *again, talus_error *err)
{
    if (s->time.rests || !s->scene->lg.guard) return TALUS_OK;
    s->view.from = s->sim->state.lg.q;
    TL_TRY(tl_lg_hold_apart(&s->view, s->he, s->q, s->arena, &s->apart, err));
    lap(s, DETECT);
    if (s->apart.free && s->apart.impacts && !s->kept->told_apart) {
        s->kept->told_apart = true;
        tl_log_write(
            &s->sim->log, 0,
            "t = %.6g s: contact was not solved to the end, and surfaces would have passed through each other at "
            "%lld places: impulses beside its laws hold them apart, by up to %.3g m; shorter steps (dt_max) "
            "help, or lg.corrections if it is 0",
            s->sim->state.t + s->h, (long long)s->apart.impacts, s->apart.moved);
    }
    if (s->apart.free) return TALUS_OK;
    if (s->h < SHORTEST * fmin(s->scene->dt_max > 0 ? s->scene->dt_max : INFINITY, 1 / s->scene->fps)) {
        if (!s->kept->told_through)
            tl_log_write(&s->sim->log, 0,
                         "t = %.6g s: surfaces pass through a cloth, and neither impulses at %lld places nor shorter "
                         "steps hold them apart; penetration_m of steps.csv says how deep",
                         s->sim->state.t + s->h, (long long)s->apart.impacts);
        s->kept->told_through = true;
        return TALUS_OK;
    }
    *again = true;
    return TL_FAIL(
        err, TALUS_BAD_INPUT,
        "elastic surfaces would pass through each other at %lld places, and nothing holds them apart within a "
        "step of %.3g s",
        (long long)s->apart.impacts, s->h);
}

/* Bodies that miss by what users would see are counted, see tell_left. */
static void judge(lg_step *s)
{
    const tl_lg *lg = s->lg;
    find_missing(s);
    for (int32_t k = 0; k < s->touch.rows.nodes; k++) s->touched[lg->owner[s->touch.rows.node[k]]] = true;
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        double speed2 = 0;
        for (int64_t k = 3 * (int64_t)body->node, end = k + 3 * (int64_t)body->nodes; k < end; k++)
            speed2 += lg->mass[k / 3] * s->v[k] * s->v[k];
        bool misses = !s->touched[b] && s->missing[b] > LEFT_TOLD && sqrt(s->off2[b]) > MOVES * s->h * sqrt(speed2);
        s->kept->missed[b] = misses ? s->kept->missed[b] + 1 : 0;
    }
}

/* How bodies deform that nothing touches, m/s, others 0: velocities, those of anchored bodies as they are and of free ones without their rigid motion. Where handles lead
 * a body, how it swings by itself cannot be told from that. */
static bool deforming(const lg_step *s, double *p, bool *held)
{
    const tl_lg *lg = s->lg;
    bool any = false;
    memset(p, 0, sizeof *p * 3 * (size_t)lg->nodes);
    for (int32_t k = 0; k < lg->anchors; k++) held[lg->owner[lg->anchor[k].vertex]] = true;
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        if (s->touched[b]) continue;
        tl_lg_whole now = tl_lg_whole_of(lg, body, s->q, s->v);
        if (held[b]) now.v = now.spin = (tl_vec3){0, 0, 0};
        for (int64_t i = body->node; i < body->node + body->nodes; i++) {
            tl_vec3 r = tl_vec3_sub(tl_vec3_load(s->q + 3 * i), now.centre),
                    turns = tl_vec3_add(now.v, tl_vec3_cross(now.spin, r));
            tl_vec3_store(tl_vec3_sub(tl_vec3_load(s->v + 3 * i), turns), p + 3 * i);
        }
        any = true;
    }
    return any;
}

/* How fast a body swings: Rayleigh's quotient of its motion, curvature over mass. Steps that are too long for it are counted, then told. */
static talus_status watch_swings(lg_step *s, talus_error *err)
{
    const tl_lg *lg = s->lg;
    double *p = TL_TAKE(s->arena, double, 3 * (int64_t)lg->nodes),
           *after = TL_TAKE(s->arena, double, 3 * (int64_t)lg->nodes);
    bool *held = TL_TAKE_ZERO(s->arena, bool, lg->bodies + 1);
    double *led = TL_TAKE_ZERO(s->arena, double, lg->bodies + 1);
    if (!p || !after || !held || !led) return no_memory(err);
    if (!deforming(s, p, held)) return TALUS_OK;
    for (int32_t k = 0; k < lg->anchors; k++) {
        const int64_t i = lg->anchor[k].vertex;
        led[lg->owner[i]] = fmax(led[lg->owner[i]], tl_vec3_norm(tl_vec3_load(p + 3 * i)));
    }
    for (int64_t k = 0; k < 3 * (int64_t)lg->nodes; k++) s->trial[k] = s->q[k] + NEARBY * s->he * p[k];
    tl_lg_newton_residual(&s->newton, s->trial, after);
    tl_lg_touch_push(&s->touch, after);
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        double mass = 0, bend = 0, kept;
        for (int64_t k = 3 * (int64_t)body->node, end = k + 3 * (int64_t)body->nodes; k < end; k++) {
            mass += lg->mass[k / 3] * p[k] * p[k];
            bend += p[k] * (s->r[k] - after[k]) / (NEARBY * s->he);
        }
        double rate = bend > mass && mass > 0 ? sqrt((bend - mass) / mass) / s->he : 0, size = cbrt(body->volume);
        double speed = sqrt(mass / body->mass);
        bool visible = speed > SWINGS * size * rate && led[b] < LED * speed;
        double stretch = tl_lg_time_stretch(&s->time, rate * s->h, &kept);
        s->kept->hurried[b] = rate > 0 && visible && stretch > STRETCH_TOLD ? s->kept->hurried[b] + 1 : 0;
        if (s->kept->hurried[b] < JUDGED || s->kept->told_fast) continue;
        s->kept->told_fast = true;
        tl_log_write(&s->sim->log, 0,
                     "t = %.6g s: \"%s\" swings with a period of %.3g s, which is %.1f steps: it comes out %.0f %% too "
                     "long and keeps %.0f %% of its swing per period; with dt_max = %.2g s it would be 3 %%",
                     s->sim->state.t + s->h, body->name, 2 * PI / rate, 2 * PI / (rate * s->h), 100 * (stretch - 1),
                     100 * kept, 2 * PI / rate / STEPS_PER_SWING);
    }
    return TALUS_OK;
}

/* The gradient of g itself, contact forces included. */
static talus_status measure(lg_step *s, bool *again, talus_error *err)
{
    const tl_lg *lg = s->lg;
    int64_t n = 3 * (int64_t)lg->nodes;
    double bad = 0;
    tl_lg_time_velocities(&s->time, lg, s->q, s->v);
    for (int64_t i = 0; i < n; i++) bad += 0 * s->v[i];
    if (!(bad == 0)) {
        *again = true;
        return TL_FAIL(err, TALUS_BAD_INPUT, "elastic nodes left the numbers");
    }
    find_residual(s);
    if (!s->time.rests) {
        judge(s);
        if (!s->kept->told_fast) TL_TRY(watch_swings(s, err));
    }
    TL_TRY(tl_lg_touch_remember(&s->touch, &s->contacts, s->arena, &s->memory, &s->memories, err));
    lap(s, MEASURE);
    return TALUS_OK;
}

/* Velocities of free bodies, impulses between them. */
static talus_status move(lg_step *s, bool *again, talus_error *err)
{
    tl_bodies *b = &s->bodies;
    const tl_lg_rows *r = &s->touch.rows;
    memcpy(b->v, b->v_free, sizeof *b->v * 6 * (size_t)s->sim->rigid.count);
    for (int32_t i = 0; i < r->bodies; i++)
        for (int k = 0; k < 6; k++) b->v[6 * (int64_t)r->body[i] + k] = s->touch.body_moved[6 * (int64_t)i + k] / s->h;
    for (int64_t k = 0; k < 3 * (int64_t)b->contacts.count; k++)
        b->lam[k] = s->h * s->touch.force[3 * (int64_t)r->soft + k];
    TL_TRY(tl_bodies_move(b, again, err));
    TL_TRY(tl_bodies_make_room(b, err));
    tl_lg_state *now = &s->sim->state.lg;
    if (now->contact_room < s->memories) {
        int64_t room = s->memories + s->memories / 2 + 16;
        tl_lg_memory *fresh = tl_realloc(now->contact, sizeof *fresh * (size_t)room);
        if (!fresh) return no_memory(err);
        now->contact = fresh;
        now->contact_room = room;
    }
    return TALUS_OK;
}

/* The surface, between nodes as well, against shapes where they end up. */
static talus_status measure_depth(lg_step *s, talus_error *err)
{
    tl_pose *end = TL_TAKE(s->arena, tl_pose, s->sim->rigid.count);
    if (!end) return no_memory(err);
    for (int32_t i = 0; i < s->sim->rigid.count; i++)
        end[i] = tl_rigid_pose(&s->sim->rigid.body[i], &s->bodies.body[i]);
    s->view.from = s->view.to = s->q;
    s->view.before = s->view.after = end;
    TL_TRY(tl_lg_depth(&s->view, s->arena, &s->depth, err));
    if (s->time.rests && s->depth > SLOP)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "elastic bodies at rest are %.3g m deep in others: lg.time = \"static\" knows no contact; take "
                       "\"euler\", which comes to rest soon",
                       s->depth);
    lap(s, MEASURE);
    return TALUS_OK;
}

static double kinetic(const lg_step *s)
{
    double sum = 2 * tl_rigid_measure(&s->sim->rigid, s->bodies.body, s->scene->gravity).kinetic;
    for (int64_t k = 0; k < 3 * (int64_t)s->lg->nodes; k++) sum += s->lg->mass[k / 3] * s->v[k] * s->v[k];
    return 0.5 * sum;
}

static talus_status damp(lg_step *s, talus_error *err)
{
    s->viscous = -kinetic(s);
    for (int b = 0; b < s->lg->bodies && !s->time.rests; b++) {
        const int32_t body = s->lg->body[b].body;
        const double damping = body < 0 ? 0 : s->scene->materials[s->scene->bodies[body].material].damping;
        if (damping > 0)
            TL_TRY(tl_lg_damp(s->lg, s->kept->hessian, b, damping, s->h, s->q, s->v,
                              s->time.second ? s->time.v_was : NULL, &s->damped, s->arena, err));
    }
    s->viscous += kinetic(s);
    return TALUS_OK;
}

/* Velocities that positions alone do not give. */
static talus_status settle(lg_step *s, talus_error *err)
{
    const tl_lg *lg = s->lg;
    bool *held = TL_TAKE_ZERO(s->arena, bool, lg->bodies + 1);
    if (!held) return no_memory(err);
    s->landed = kinetic(s);
    tl_lg_time_land(&s->time, &s->touch, &s->contacts, s->q, s->bodies.before, s->bodies.body, s->v);
    s->landed -= kinetic(s);
    TL_TRY(damp(s, err));
    for (int32_t k = 0; k < lg->anchors; k++) held[lg->owner[lg->anchor[k].vertex]] = true;
    for (int b = 0; b < lg->bodies; b++) s->touched[b] = s->touched[b] || s->pushed[b];
    tl_lg_time_spin(&s->time, lg, &s->sim->state.lg, held, s->touched, s->q, s->v);
    lap(s, MEASURE);
    return TALUS_OK;
}

static talus_status account(lg_step *s, talus_error *err)
{
    const tl_lg_state *now = &s->sim->state.lg;
    const tl_accounts_lg x = {.h = s->h,
                              .he = s->he,
                              .p0 = s->time.p,
                              .accel = s->accel,
                              .landed = s->landed,
                              .viscous = s->viscous,
                              .lg = s->lg,
                              .q0 = now->q,
                              .v0 = now->v,
                              .q1 = s->q,
                              .v1 = s->v,
                              .qtil = s->qtil,
                              .r = s->r,
                              .target = s->target,
                              .pressure = s->pressure,
                              .elastic = s->elastic,
                              .touch = &s->touch,
                              .contacts = &s->contacts,
                              .b = &s->bodies};
    tl_accounts_fixed(s->sim, s->damped.impulse, s->damped.angular);
    return tl_accounts_lg_end(s->sim, &x, s->arena, err);
}

/* ---- commit ---- */

/* One node's part: about the origin until all are in. */
static void add_pull(tl_lg_hold *h, tl_vec3 x, tl_vec3 force)
{
    h->force = tl_vec3_add(h->force, force);
    h->torque = tl_vec3_add(h->torque, tl_vec3_cross(x, force));
}

/* What anchors, handles, cables and joins did to elastic bodies in this step, for tables. */
static void sum_hold_forces(const lg_step *s)
{
    const tl_lg *lg = s->lg;
    const tl_scene *scene = s->scene;
    const tl_lg_rows *r = &s->touch.rows;
    tl_lg_hold *hold = s->sim->hold, *cable = hold + lg->bodies + scene->handle_count;
    int32_t count = tl_lg_hold_count(lg, scene), *nodes = s->hold_nodes;
    for (int32_t i = 0; i < count; i++) {
        tl_lg_hold *h = &hold[i];
        *h = (tl_lg_hold){.kind = TL_LG_ANCHORED, .number = i};
        if (i < lg->bodies)
            h->number = lg->body[i].body;
        else if (h < cable)
            h->kind = TL_LG_LED, h->number = i - lg->bodies;
        else if (h < cable + scene->cable_count)
            h->kind = TL_LG_PULLED, h->number = (int32_t)(h - cable);
        else
            h->kind = TL_LG_JOINED, h->number = (int32_t)(h - cable) - scene->cable_count;
        nodes[i] = 0;
    }
    for (int32_t k = 0; k < lg->anchors; k++) {
        const tl_lg_anchor *a = &lg->anchor[k];
        tl_vec3 x = tl_vec3_load(s->q + 3 * (int64_t)a->vertex);
        add_pull(&hold[a->handle], x, tl_vec3_scale(a->weight, tl_vec3_sub(s->target[k], x)));
        hold[a->handle].at = tl_vec3_add(hold[a->handle].at, x);
        nodes[a->handle]++;
    }
    for (int32_t b = 0; b < r->bilateral.count; b++) { /* cables first, then three rows per bond */
        const tl_lg_bilateral *row = &r->bilateral.row[b];
        bool pulls = b < scene->cable_count;
        double pull = s->touch.force[3 * (int64_t)r->contacts + b];
        int32_t i = (int32_t)(cable - hold) +
                    (pulls ? b : scene->cable_count + lg->holds->bond[(b - scene->cable_count) / 3].join);
        if (pulls) hold[i].tension = pull;
        for (int32_t k = row->first; k < row->first + (pulls ? row->count : 1); k++) {
            const tl_lg_term *t = &r->bilateral.term[k];
            tl_vec3 x = tl_vec3_load(s->q + 3 * (int64_t)t->node);
            add_pull(&hold[i], x, tl_vec3_scale(pull, t->along));
            hold[i].at = tl_vec3_add(hold[i].at, x);
            nodes[i]++;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        if (!nodes[i]) continue;
        hold[i].at = tl_vec3_scale(1.0 / nodes[i], hold[i].at);
        hold[i].torque = tl_vec3_sub(hold[i].torque, tl_vec3_cross(hold[i].at, hold[i].force));
    }
}

/* Contact, and friction where there is any: how well the laws hold, whatever the solver thinks. */
static void report_contacts(const lg_step *s, tl_report *r)
{
    static const char *const laws[] = {"fischer-burmeister", "minimum", "minimum-printed"};
    const tl_lg_laws *l = &s->laws;
    const double target = contact_target(s);
    r->contacts = s->touch.rows.contacts;
    r->touching = l->touching;
    r->penetration = fmax(s->depth, l->penetration);
    r->solve[r->solves] =
        (tl_report_solve){.name = "contact",
                          .method = laws[s->scene->lg.ncp],
                          .outcome = tl_result_name(l->normal <= target * s->h ? TL_CONVERGED : TL_BUDGET_SPENT),
                          .iterations = (int)s->touch.steps,
                          .certificate = l->normal / s->h,
                          .target = target,
                          .work = s->touch.work};
    r->solve[r->solves++].work.history = NULL;
    r->solve[r->solves++] =
        (tl_report_solve){.name = "friction",
                          .method = laws[s->scene->lg.ncp],
                          .outcome = tl_result_name(l->friction <= target ? TL_CONVERGED : TL_BUDGET_SPENT),
                          .iterations = (int)s->touch.steps,
                          .certificate = l->friction,
                          .target = target};
}

/* Slip below the cone is a friction solve that has not ended: told once, with the way out. */
static void tell_creep(const lg_step *s)
{
    const tl_lg_laws *l = &s->laws;
    if (s->kept->told || !(l->creep > CREEP_TOLD)) return;
    s->kept->told = true;
    tl_log_write(
        &s->sim->log, 0,
        "t = %.6g s: %lld of %lld contacts creep, at up to %.3g m/s: friction holds them but the solve has not ended; "
        "more lg.iterations, lg.inner or lg.cr_iterations help",
        s->sim->state.t + s->h, (long long)l->creeping, (long long)l->touching, l->creep);
}

/* Told once, when that lasts. */
static void tell_left(const lg_step *s)
{
    lg_kept *k = s->kept;
    for (int b = 0; b < s->lg->bodies && !k->told_left; b++) {
        double c = s->missing[b];
        if (k->missed[b] < JUDGED) continue;
        k->told_left = true;
        tl_log_write(
            &s->sim->log, 0,
            "t = %.6g s: %d rounds per step find %.0f %% of the forces inside of \"%s\": it swings about %.0f %% too "
            "slowly; shorter steps (dt_max) or more lg.iterations help",
            s->sim->state.t + s->h, s->rounds, 100 * (1 - c), s->lg->body[b].name,
            100 * (1 / sqrt(fmax(1 - c, 1e-4)) - 1));
    }
}

static void fill_report(const lg_step *s)
{
    static const char *const methods[] = {"factor", "inverse", "jacobi"};
    const tl_lg *lg = s->lg;
    tl_report *r = &s->sim->report;
    tl_rigid_measures rigid = tl_rigid_measure(&s->sim->rigid, s->bodies.body, s->scene->gravity);
    *r = (tl_report){.phases = PHASES,
                     .solves = 1,
                     .force_balance = NAN,
                     .elastic = s->elastic,
                     .kinetic = rigid.kinetic,
                     .potential = rigid.potential,
                     .momentum = rigid.momentum,
                     .angular_momentum = rigid.angular_momentum};
    for (int k = 0; k < PHASES; k++) r->phase[k] = (tl_report_phase){.name = phase_names[k], .seconds = s->seconds[k]};
    double fastest2 = 0;
    for (int32_t i = 0; i < lg->nodes; i++) {
        tl_vec3 x = tl_vec3_load(s->q + 3 * (int64_t)i), v = tl_vec3_load(s->v + 3 * (int64_t)i);
        double m = lg->mass[i];
        r->kinetic += 0.5 * m * tl_vec3_norm2(v);
        r->potential -= m * tl_vec3_dot(s->scene->gravity, x);
        tl_vec3 p = {tl_lg_time_momentum(&s->time, s->v, 3 * (int64_t)i),
                     tl_lg_time_momentum(&s->time, s->v, 3 * (int64_t)i + 1),
                     tl_lg_time_momentum(&s->time, s->v, 3 * (int64_t)i + 2)};
        r->momentum = tl_vec3_add_scaled(r->momentum, m, p);
        r->angular_momentum = tl_vec3_add_scaled(r->angular_momentum, m, tl_vec3_cross(x, p));
        fastest2 = fmax(fastest2, tl_vec3_norm2(v));
    }
    r->fastest = fmax(sqrt(fastest2), rigid.fastest);
    double missing = 0, target = s->time.rests ? static_target(s) : s->scene->solver.tolerance;
    for (int b = 0; b < lg->bodies; b++) missing = fmax(missing, s->missing[b]);
    tell_left(s);
    r->solve[0] = (tl_report_solve){.name = "elastic",
                                    .method = methods[s->scene->lg.global],
                                    .outcome = tl_result_name(missing <= target ? TL_CONVERGED : TL_BUDGET_SPENT),
                                    .iterations = s->rounds,
                                    .certificate = missing,
                                    .target = target};
    r->solve[0].work.products = r->solve[0].work.projections = s->rounds;
    report_contacts(s, r);
    tl_rigid_report_lost(s->sim, s->bodies.body, s->kept->rigid.lost, r);
    tell_creep(s);
}

/* Forces between elastic and other bodies, added to those that rigid ones exert on each other. */
static void sum_contact_forces(const lg_step *s)
{
    tl_motion *body = s->sim->state.rigid.body;
    const int32_t scene = s->sim->rigid.scene_count;
    for (int32_t c = 0; c < s->touch.rows.soft; c++) {
        const tl_lg_contact *k = &s->contacts.contact[c];
        const tl_lg_link *link = &s->touch.rows.link[c];
        tl_vec3 f = tl_vec3_add_scaled(tl_lg_link_force(link, s->touch.force + 3 * (int64_t)c),
                                       s->touch.landed[c] / s->h, link->axis[0]);
        const int32_t side[2] = {k->body_a, k->body_b};
        for (int e = 0; e < 2; e++) {
            if (side[e] < 0 || side[e] >= scene) continue;
            tl_motion *m = &body[side[e]];
            tl_vec3 lever = tl_vec3_sub(k->at, s->bodies.before[side[e]].x);
            m->contact_force = tl_vec3_add_scaled(m->contact_force, e ? -1 : 1, f);
            m->contact_torque = tl_vec3_add_scaled(m->contact_torque, e ? -1 : 1, tl_vec3_cross(lever, f));
        }
    }
}

/* Bodies' tables show the rigid motion nearest to that of the nodes. */
static void move_bodies(const lg_step *s)
{
    const tl_lg *lg = s->lg;
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        tl_motion *m = &s->bodies.body[body->body];
        tl_lg_whole now = tl_lg_whole_of(lg, body, s->q, s->v);
        if (!(now.mass > 0)) continue;
        tl_vec3 rest;
        tl_quat turned = tl_lg_rotation_of(lg, body, s->q, &rest);
        m->x = now.centre;
        m->v = now.v;
        m->w = now.spin;
        m->q = tl_quat_normalize(tl_quat_mul(turned, lg->body[b].start));
    }
}

static void commit(lg_step *s)
{
    tl_lg_state *to = &s->sim->state.lg;
    tl_bodies_commit(&s->bodies);
    sum_contact_forces(s);
    sum_hold_forces(s);
    memcpy(to->q, s->q, sizeof *s->q * 3 * (size_t)s->lg->nodes);
    memcpy(to->v, s->v, sizeof *s->v * 3 * (size_t)s->lg->nodes);
    memcpy(to->q_before, s->time.q_was, sizeof *s->v * 3 * (size_t)s->lg->nodes);
    memcpy(to->v_before, s->time.v_was, sizeof *s->v * 3 * (size_t)s->lg->nodes);
    to->step_before[0] = s->h;
    to->step_before[1] = s->time.second ? s->time.ratio : 0;
    if (s->lg->dual_rows) memcpy(to->u, s->u, sizeof *s->u * TL_LG_LANES * (size_t)s->lg->dual_rows);
    if (s->memories) memcpy(to->contact, s->memory, sizeof *s->memory * (size_t)s->memories);
    to->contacts = s->memories;
    tl_lg_led(to);
}

/* All of a step but its commit. */
static talus_status attempt(lg_step *s, tl_sim *sim, double dt, bool *again, talus_error *err)
{
    TL_TRY(begin_step(s, sim, dt, err));
    TL_TRY(predict(s, err));
    TL_TRY(detect(s, err));
    TL_TRY(iterate(s, err));
    TL_TRY(hold_apart(s, again, err));
    TL_TRY(measure(s, again, err));
    TL_TRY(move(s, again, err));
    TL_TRY(settle(s, err));
    TL_TRY(measure_depth(s, err));
    TL_TRY(account(s, err));
    TL_TRY(tl_cancel_check(err));
    move_bodies(s);
    fill_report(s);
    return tl_accounts_end(sim, s->h, s->bodies.body, again, err);
}

static talus_status step(tl_sim *sim, double dt, bool *again, talus_error *err)
{
    lg_step s;
    *again = false;
    TL_TRY(attempt(&s, sim, dt, again, err));
    commit(&s);
    return TALUS_OK;
}

/* ---- begin and end of a simulation ---- */

/* What has no place of rest, and what only rounds know. */
static talus_status refuse_static(const tl_sim *sim, talus_error *err)
{
    const tl_scene *s = sim->scene;
    const tl_lg *lg = &sim->lg;
    if (s->join_count || s->cable_count)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "lg.time = \"static\" has no cables and joins: use anchors or handles");
    if (s->lg.global == TL_LG_JACOBI || s->lg.local == TL_LG_LOCAL_PROX)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "lg.time = \"static\" is solved by Newton's method, not with global_step = \"jacobi\" or "
                       "local_step = \"prox\"");
    for (int32_t i = 0; i < sim->rigid.scene_count; i++)
        if (sim->rigid.body[i].kind == TL_BODY_FREE && !sim->rigid.body[i].elastic)
            return TL_FAIL(err, TALUS_UNSUPPORTED, "lg.time = \"static\" has no free rigid bodies, got \"%.100s\"",
                           s->bodies[i].name);
    for (int b = 0; b < lg->bodies; b++) {
        bool held = false;
        for (int32_t k = 0; k < lg->anchors && !held; k++) held = lg->owner[lg->anchor[k].vertex] == b;
        if (!held)
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "lg.time = \"static\": \"%s\" is held by no anchor and no handle, it has no place of rest",
                           lg->body[b].name);
    }
    return TALUS_OK;
}

/* s, see REACH */
static double static_reach(const tl_lg *lg)
{
    double longest = 0;
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        tl_vec3 low = tl_vec3_load(lg->rest + 3 * (int64_t)body->node), high = low;
        for (int64_t i = body->node; i < body->node + body->nodes; i++) {
            tl_vec3 x = tl_vec3_load(lg->rest + 3 * i);
            low = tl_vec3_min(low, x);
            high = tl_vec3_max(high, x);
        }
        longest = fmax(longest, tl_vec3_norm(tl_vec3_sub(high, low)) * sqrt(body->density / body->material.k));
    }
    return REACH * longest;
}

static talus_status begin(tl_sim *sim, talus_error *err)
{
    const tl_scene *s = sim->scene;
    lg_kept *kept = TL_NEW_ZERO(lg_kept, 1);
    if (!kept) return no_memory(err);
    sim->own = kept;
    TL_TRY(tl_rigid_create(&sim->rigid, s, err));
    TL_TRY(tl_rigid_state_begin(&sim->state.rigid, &sim->rigid, s, err));
    TL_TRY(tl_lg_from_scene(&sim->lg, s, &sim->log, err));
    if (sim->lg.nodes == 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%.200s: engine \"lg\" needs an elastic body",
                       s->file ? s->file : "scene");
    TL_TRY(tl_lg_state_begin(&sim->state.lg, &sim->lg, err));
    TL_TRY(tl_lg_give_centres(&sim->lg, s, &sim->rigid, &sim->state.rigid, err));
    kept->rigid.slop = SLOP;
    kept->missed = TL_NEW_ZERO(int, sim->lg.bodies + 1);
    kept->hurried = TL_NEW_ZERO(int, sim->lg.bodies + 1);
    kept->rigid.lost = TL_NEW_ZERO(bool, sim->rigid.scene_count + 1);
    sim->hold = TL_NEW_ZERO(tl_lg_hold, tl_lg_hold_count(&sim->lg, s) + 1);
    if (!kept->missed || !kept->hurried || !kept->rigid.lost || !sim->hold) return no_memory(err);
    TL_TRY(tl_lg_columns_create(&kept->columns, &sim->lg, err));
    TL_TRY(tl_lg_hessian_create(&kept->hessian, &sim->lg, err));
    TL_TRY(tl_flex_kept_create(&kept->flex, err));
    kept->precision = s->lg.precision == 0 ? TL_LG_FLOAT : TL_LG_DOUBLE;
    kept->searches = s->lg.local == TL_LG_LOCAL_NEWTON;
    if (s->lg.time == TL_LG_STATIC) {
        TL_TRY(refuse_static(sim, err));
        kept->reach = static_reach(&sim->lg);
        kept->precision = TL_LG_DOUBLE;
    }
    return tl_lg_solver_create(&kept->solver, &sim->lg, (tl_lg_method)s->lg.global, (int)kept->precision, err);
}

static void end(tl_sim *sim)
{
    lg_kept *kept = sim->own;
    if (kept) {
        tl_free(kept->missed);
        tl_free(kept->hurried);
        tl_free(kept->rigid.lost);
        tl_lg_hessian_free(kept->hessian);
        tl_flex_kept_free(kept->flex);
        tl_lg_columns_free(kept->columns);
        tl_lg_solver_free(kept->solver);
    }
    tl_free(kept);
}

static double dt_wanted(const tl_sim *sim)
{
    (void)sim;
    return INFINITY;
}

const tl_engine_entry tl_engine_lg = {"lg", begin, end, dt_wanted, step};
