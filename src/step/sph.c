/* The step of the SPH engine: liquid, rigid contact and friction as one particle system [Probst2023].
 *
 *     place bodies            motions, masses, friction; scripted bodies get the velocity that leads to their pose
 *     find neighbours         pairs, volumes, normals
 *     predict velocities      v* = v + dt (gravity, forces), viscosity, surface tension
 *     solve                   pressures >= 0 and friction in its cones, together
 *     move                    liquid x += dt v; bodies fly with their angular momentum kept; walls and bodies stop liquid
 *     emit                    what emitters add
 *     commit
 *
 * The gyroscopic term is not predicted: flight turns a body with its angular momentum kept (tl_rigid_fly), which holds it for
 * fast thin bodies, where the explicit term of the paper blows up. */
#include "step/sph.h"
#include "base/cancel.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "base/timer.h"
#include "model/rigid/motion.h"
#include "model/sph/balance.h"
#include "model/sph/contact_list.h"
#include "model/sph/forces.h"
#include "model/sph/stop.h"
#include "model/sph/yield.h"
#include "solve/linear/method.h"
#include "step/accounts_sph.h"
#include "step/bodies.h"
#include "step/engines.h"
#include "step/rigid.h"

#define LEAST_TOUCHING 20 /* iterations; also [Probst2023] for fragile structures */
#define LEAST_FLUID 2
#define MEMORY 0.05     /* share of a step in what contacts remember: a mean over some 20 steps */
#define KEEP_FLUID 1.0  /* of the last step's pressures in liquid */
#define UNRESOLVED 10.0 /* tolerances: compression of single particles that a mean error of one leaves; chosen */
#define NOISE_FALL                                                                                                     \
    0.25 /* sqrt(g/h) per second: how fast noise of single particles falls, that of the default numerical viscosity */
#define FLOWING                                                                                                        \
    10.0 /* `quiet` of moving liquid, over its speed: 1 %; chosen: small waves scatter less than with 3 %, a breaking dam takes 5 % longer */
#define EXACT 2e-6 /* liquid is evaluated in single precision, to 1e-6 */
/* How many times as fast as any other body or liquid a body may become: after a failed solve, as much as a blow can spin it; after any, as fast
 * as two plates shoot out what is between them, down to an angle of 11 degrees. */
#define BLOW 1.5
#define WEDGE 10.0
#define CORNER 3.0 /* times push_out: an overlap at a corner turns a body as well */
#define VISCOUS_TOLERANCE 1e-8
#define VISCOUS_ITERATIONS 1000
#define BEYOND 4.0 /* spacings: liquid that is so far outside of the domain is gone */

enum phase { PLACE, NEIGHBOURS, PREDICT, SYSTEM, SOLVE, MOVE, EMIT, PHASES };
static const char *const phase_names[PHASES] = {"place", "neighbours", "predict", "system", "solve", "move", "emit"};

typedef struct sph_step {
    tl_sim *sim;
    const tl_scene *scene;
    const tl_rigid *rigid;
    const tl_sph_kept *kept;
    tl_arena *arena;
    double dt;
    /* place */
    tl_motion
        *before;     /* [count] start of the step, walls included; velocities of scripted bodies lead to their goals */
    tl_motion *body; /* [count] the state that is to be */
    double *friction, *inv_mass;
    tl_mat3 *inv_inertia;
    /* neighbours .. system */
    tl_sph_step f;
    double compression; /* mean of max(0, V0/V - 1) over liquid, as the state is: what the last solve left */
    double *speed;      /* [scene_count] predicted, m/s, of any point of a body */
    double *whole;      /* [scene_count] predicted, m/s: with which it would have its energy if it did not turn */
    double liquid;      /* of the fastest particle */
    tl_linear_report viscous;
    const tl_sph_force *drag; /* of viscosity on bodies; NULL: none */
    /* solve */
    double *x;
    double *start; /* what the last steps left; NULL: cold start */
    tl_fixedpoint_report solved;
    /* move, emit */
    int32_t stay; /* particles that are left */
    tl_sph_births births;
    tl_sph_contact_list shown;
    tl_sph_account account;
    double seconds[PHASES], mark;
} sph_step;

static talus_status no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of SPH"); }

static void lap(sph_step *s, enum phase phase)
{
    double now = tl_seconds();
    s->seconds[phase] += now - s->mark;
    s->mark = now;
}

static bool finite3(tl_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

/* ---- place bodies ---- */

static talus_status place_bodies(sph_step *s, tl_sim *sim, double dt, talus_error *err)
{
    int32_t n = sim->rigid.count, scene_count = sim->rigid.scene_count;
    tl_arena *a = &sim->arena;
    *s = (sph_step){.sim = sim,
                    .scene = sim->scene,
                    .rigid = &sim->rigid,
                    .kept = sim->own,
                    .arena = a,
                    .dt = dt,
                    .mark = tl_seconds()};
    s->before = TL_TAKE(a, tl_motion, n);
    s->body = TL_TAKE(a, tl_motion, n);
    s->friction = TL_TAKE(a, double, n);
    s->inv_mass = TL_TAKE_ZERO(a, double, n);
    s->inv_inertia = TL_TAKE_ZERO(a, tl_mat3, n);
    s->speed = TL_TAKE_ZERO(a, double, n);
    s->whole = TL_TAKE_ZERO(a, double, n);
    if (!s->speed || !s->whole || !s->before || !s->body || !s->friction || !s->inv_mass || !s->inv_inertia)
        return no_memory(err);
    memcpy(s->before, sim->state.rigid.body, sizeof *s->before * (size_t)scene_count);
    for (int32_t i = scene_count; i < n; i++) s->before[i] = (tl_motion){.q = tl_quat_identity()};
    for (int32_t i = 0; i < n; i++) {
        const tl_rigid_body *b = &s->rigid->body[i];
        s->friction[i] = s->scene->domain.friction;
        if (i < scene_count)
            TL_TRY(tl_scene_timed(s->scene, &s->scene->bodies[i].friction, sim->state.t, &s->friction[i], 1, err));
        if (b->kind == TL_BODY_KINEMATIC) TL_TRY(tl_bodies_follow(sim, i, dt, &s->before[i], err));
        if (b->kind != TL_BODY_FREE) continue;
        s->inv_mass[i] = 1 / b->mass;
        s->inv_inertia[i] = tl_rigid_inverse_inertia(b, s->before[i].q);
    }
    memcpy(s->body, s->before, sizeof *s->body * (size_t)n);
    lap(s, PLACE);
    return TALUS_OK;
}

/* ---- neighbours ---- */

/* What the last solve left, from places alone. */
static double mean_compression(const sph_step *s)
{
    const tl_sph_step *f = &s->f;
    tl_blocks blocks = tl_blocks_of(f->fluid);
    double part[TL_BLOCKS_MAX];
    if (!f->fluid) return 0;
#pragma omp parallel for schedule(static) if (f->fluid >= TL_PARALLEL_MIN / 8)
    for (int b = 0; b < blocks.count; b++) {
        part[b] = 0;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++)
            part[b] += fmax(0, (double)f->density[i] - 1);
    }
    return tl_sum_ordered(blocks.count, part) / f->fluid;
}

/* How many times more exactly than its tolerance says liquid is solved. A mean error e moves particles by e h in a step, as it happens: speeds of u = e h / dt, which numerical viscosity takes away again at
 * the rate r, so that a noise of u / sqrt(2 r dt) stays: 8 mm/s at 1e-4 and 2 ms in water of 2 cm spacing. It may be `quiet` of sqrt(g h), or FLOWING
 * times that part of the liquid's own speed. */
static double strictness(const sph_step *s)
{
    const tl_sph_spec *o = &s->scene->sph;
    double h = s->sim->sph.h, g = tl_vec3_norm(s->scene->gravity), rate = NOISE_FALL * sqrt(g / h), speed = 0;
    if (!(o->quiet > 0) || !(g > 0) || !s->f.fluid) return 1;
    for (int32_t i = 0; i < s->f.fluid; i++) speed += tl_vec3_norm2(s->f.v[i]);
    speed = sqrt(speed / s->f.fluid);
    double noise = o->quiet * fmax(sqrt(g * h), FLOWING * speed), error = noise * s->dt / h * sqrt(2 * rate * s->dt);
    return fmax(1, s->kept->stop.tolerance / fmax(error, EXACT));
}

static talus_status find_neighbours(sph_step *s, talus_error *err)
{
    tl_sph_bodies bodies = {s->before, s->inv_mass, s->inv_inertia, s->friction};
    TL_TRY(tl_sph_begin(&s->f, &s->sim->sph, s->scene, s->rigid, &s->sim->state.sph, &bodies, s->dt, s->arena, err));
    s->f.relax = s->scene->sph.relaxation;
    s->f.push_out = s->scene->sph.push_out;
    s->f.unresolved = UNRESOLVED * s->kept->stop.tolerance;
    s->f.strict = strictness(s);
    TL_TRY(tl_sph_neighbours(&s->f, err));
    TL_TRY(tl_sph_contacts(&s->f, err));
    s->compression = mean_compression(s);
    lap(s, NEIGHBOURS);
    return TALUS_OK;
}

/* ---- predict velocities ---- */

/* Of any point of a body, m/s. */
static double speed_of(const sph_step *s, int32_t i)
{
    const tl_rigid_body *b = &s->rigid->body[i];
    if (b->kind == TL_BODY_STATIC) return 0;
    double spin = b->reach < INFINITY ? b->reach * tl_vec3_norm(s->f.body_w[i]) : 0;
    return tl_vec3_norm(s->f.body_v[i]) + spin;
}

static talus_status push_bodies(sph_step *s, talus_error *err)
{
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        if (s->rigid->body[i].kind != TL_BODY_FREE) continue;
        const tl_motion *m = &s->before[i];
        const tl_body *asked = &s->scene->bodies[i];
        double force[3], torque[3];
        TL_TRY(tl_scene_timed(s->scene, &asked->force, s->sim->state.t, force, 3, err));
        TL_TRY(tl_scene_timed(s->scene, &asked->torque, s->sim->state.t, torque, 3, err));
        tl_vec3 a = tl_vec3_add_scaled(s->scene->gravity, s->inv_mass[i], tl_vec3_add(m->force, tl_vec3_load(force)));
        tl_vec3 b = tl_mat3_mul_vec(s->inv_inertia[i], tl_vec3_add(m->torque, tl_vec3_load(torque)));
        s->f.body_v[i] = tl_vec3_add_scaled(m->v, s->dt, a);
        s->f.body_w[i] = tl_vec3_add_scaled(m->w, s->dt, b);
    }
    return TALUS_OK;
}

static void push_liquid(sph_step *s)
{
    tl_sph_step *f = &s->f;
    /* Multiplied here: in the loop it would be fused with the sum or not, by where a thread's part ends. */
    tl_vec3 fall = tl_vec3_scale(s->dt, s->scene->gravity);
#pragma omp parallel for schedule(static) if (f->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < f->fluid; i++) f->v[i] = tl_vec3_add(f->v[i], fall);
}

/* Backward Euler; momentum is kept to rounding whatever the solver reached. */
static talus_status let_viscosity_act(sph_step *s, talus_error *err)
{
    tl_sph_viscosity v;
    tl_linear problem;
    TL_TRY(tl_sph_viscosity_begin(&v, &s->f, &problem, err));
    tl_stop stop = {.tolerance = VISCOUS_TOLERANCE, .max_iterations = VISCOUS_ITERATIONS};
    tl_options options = tl_options_default();
    TL_TRY(tl_linear_solve(tl_linear_method_find("cg"), &problem, &options, &stop, v.x, s->arena,
                           s->sim->history ? s->sim->history + 1 : NULL, &s->viscous, err));
    tl_sph_viscosity_apply(&v, &s->f);
    s->drag = v.drag;
    return TALUS_OK;
}

static void find_speeds(sph_step *s)
{
    double most = 0;
    for (int32_t i = 0; i < s->f.fluid; i++) most = fmax(most, tl_vec3_norm2(s->f.v[i]));
    s->liquid = sqrt(most);
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        s->speed[i] = speed_of(s, i);
        s->whole[i] = tl_sph_whole_speed(&s->f, i, s->f.body_v[i], s->f.body_w[i]);
    }
}

static talus_status predict_velocities(sph_step *s, talus_error *err)
{
    TL_TRY(push_bodies(s, err));
    push_liquid(s);
    tl_accounts_sph_pushed(s->sim, &s->account, &s->f, s->before);
    if (s->kept->tense) TL_TRY(tl_sph_tension(&s->f, err));
    if (s->kept->tense) tl_accounts_sph_tension(&s->account, &s->f, s->before);
    if (s->kept->viscous) TL_TRY(let_viscosity_act(s, err));
    if (s->drag) tl_accounts_sph_stirred(s->sim, &s->account, &s->f, s->drag);
    double rate = s->scene->sph.viscosity * sqrt(tl_vec3_norm(s->scene->gravity) / s->f.sph->h);
    if (rate > 0) TL_TRY(tl_sph_smooth(&s->f, rate, err));
    tl_accounts_sph_phase(s->sim, &s->account, &s->f, s->before, TL_ENERGY_VISCOSITY);
    find_speeds(s);
    lap(s, PREDICT);
    return TALUS_OK;
}

/* ---- solve ---- */

/* Contacts start from the forces that they remember, from half of them, or from none: whichever leaves the smallest error. After an impact the
 * remembered ones are far off, and a solve that stops early would throw bodies about. */
/* One factor for all pressures of liquid that a solve starts from, so that they leave the least energy: how heavy a pool is shows in them together, and iterations
 * between neighbours are slow to find it. Residuals are straight in the pressures. */
static talus_status balance_liquid(sph_step *s, const tl_fixedpoint *p, talus_error *err)
{
    int64_t n = p->space->n, liquid = s->f.fluid;
    size_t mark = tl_arena_mark(s->arena);
    double *x = TL_TAKE(s->arena, double, n + 1), *with = TL_TAKE(s->arena, double, n + 1),
           *without = TL_TAKE(s->arena, double, n + 1);
    if (!x || !with || !without) return no_memory(err);
    p->evaluate(p->ctx, s->x, with);
    if (n == liquid) {
        without = s->f.Verr; /* nothing else pushes */
    } else {
        for (int64_t i = 0; i < n; i++) x[i] = i < liquid ? 0 : s->x[i];
        p->evaluate(p->ctx, x, without);
    }
    double work = tl_dot(liquid, s->x, without), curve = tl_dot(liquid, s->x, with) - work;
    double factor = curve > 0 ? fmin(2, fmax(0, -work / curve)) : 1;
    for (int64_t i = 0; i < liquid; i++) s->x[i] *= factor;
    tl_arena_release(s->arena, mark);
    return TALUS_OK;
}

static talus_status choose_start(sph_step *s, const tl_fixedpoint *p, talus_error *err)
{
    static const double parts[] = {1, 0.5, 0};
    int64_t n = p->space->n, first = s->f.fluid;
    s->start = TL_TAKE(s->arena, double, n + 1);
    size_t mark = tl_arena_mark(s->arena);
    double *x = TL_TAKE(s->arena, double, n + 1), *r = TL_TAKE(s->arena, double, n + 1), least = INFINITY, best = 1;
    if (!s->start || !x || !r) return no_memory(err);
    tl_sph_warm_start(&s->f, &s->sim->state.sph, KEEP_FLUID, s->start);
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

static talus_status judge(const sph_step *s, bool *again, talus_error *err)
{
    const tl_fixedpoint_report *r = &s->solved;
    tl_unconverged policy = s->scene->solver.on_unconverged;
    if (!isfinite(r->certificate.residual) || r->outcome.result == TL_BROKE_DOWN) {
        *again = true;
        return TL_FAIL(err, TALUS_NOT_DEFINITE, "pressure method \"%s\" left the numbers", s->kept->method->name);
    }
    if (r->outcome.result == TL_CONVERGED || policy == TL_UNCONVERGED_ACCEPT) return TALUS_OK;
    *again = policy == TL_UNCONVERGED_SHRINK_DT;
    return TL_FAIL(err, TALUS_NOT_DEFINITE, "pressure method \"%s\": %s, error %.3g, wanted %.3g",
                   s->kept->method->name, tl_result_name(r->outcome.result), r->certificate.residual,
                   s->kept->stop.tolerance);
}

/* Without them, contacts that start from the last step's forces stop within the tolerance, which is 3 mm/s at 1 ms and 1e-4: bodies at rest
 * would tremble and creep. Twenty bring them to rounding (validate V6, V7). */
static int least_iterations(const sph_step *s)
{
    int asked = s->scene->sph.iterations_least;
    return asked >= 0 ? asked : s->f.contacts && s->f.only != TL_SPH_LIQUID ? LEAST_TOUCHING : LEAST_FLUID;
}

static talus_status run_method(sph_step *s, const tl_fixedpoint *p, talus_error *err)
{
    tl_options options = tl_options_default();
    options.least_iterations = least_iterations(s);
    do
        TL_TRY(tl_fixedpoint_solve(s->kept->method, p, &options, &s->kept->stop, s->x, s->arena, s->sim->history,
                                   &s->solved, err));
    while (tl_sph_call_back(&s->f, s->kept->stop.tolerance));
    return TALUS_OK;
}

/* Where liquid meets no free body, it and the contacts are two problems: solved one after the other, so that neither changes the bits of the other. The
 * report has the worse one, and the iterations of the longer. */
static talus_status run_both(sph_step *s, const tl_fixedpoint *p, talus_error *err)
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

/* Contacts make nothing faster than what it meets: what a body may reach in this step (model/sph/yield.h). Contacts that rest take energy, but they may turn speed into spin. */
static void find_limits(const sph_step *s, double *limit)
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
        limit[i] = fmax(fmax(s->whole[i], factor * (i == fastest ? second : first)), CORNER * s->scene->sph.push_out);
}

/* Whoever watches is told once of each body. */
static talus_status give_way(sph_step *s, talus_error *err)
{
    double *limit = TL_TAKE_ZERO(s->arena, double, s->rigid->count + 1),
           *part = TL_TAKE(s->arena, double, s->rigid->count + 1);
    if (!limit || !part) return no_memory(err);
    find_limits(s, limit);
    if (!tl_sph_yield(&s->f, limit, s->x, part)) return TALUS_OK;
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        if (part[i] == 1 || s->kept->squeezed[i]) continue;
        s->kept->squeezed[i] = true;
        tl_log_write(&s->sim->log, 0,
                     "t = %.6g s: body \"%s\" is squeezed into a place too narrow for it (error of contacts %.2g after "
                     "%d iterations): what drives it gives way to %.3g of its force, so that it has no more than %.3g "
                     "m/s",
                     s->sim->state.t, s->scene->bodies[i].name, s->f.error[1], s->solved.outcome.iterations, part[i],
                     limit[i]);
    }
    return TALUS_OK;
}

static talus_status solve(sph_step *s, bool *again, talus_error *err)
{
    tl_fixedpoint problem;
    TL_TRY(tl_sph_system(&s->f, err));
    tl_sph_leave_far(&s->f);
    TL_TRY(tl_sph_problem(&s->f, &problem, err));
    s->x = TL_TAKE_ZERO(s->arena, double, problem.space->n + problem.space->halo + 1);
    if (!s->x) return no_memory(err);
    bool two = s->f.fluid && s->f.contacts && s->f.near_start[s->f.nears] == 0;
    if (two) s->f.only = TL_SPH_CONTACTS;
    if (s->scene->sph.friction) TL_TRY(tl_sph_give_friction(&s->f, &s->sim->state.sph, err));
    if (s->scene->sph.warm_start) TL_TRY(choose_start(s, &problem, err));
    lap(s, SYSTEM);
    TL_TRY(two ? run_both(s, &problem, err) : run_method(s, &problem, err));
    TL_TRY(judge(s, again, err));
    TL_TRY(give_way(s, err));
    tl_sph_finish(&s->f, s->x);
    tl_accounts_sph_solved(s->sim, &s->account, &s->f, s->before, s->x);
    lap(s, SOLVE);
    return TALUS_OK;
}

/* ---- move ---- */

static talus_status move_bodies(sph_step *s, bool *again, talus_error *err)
{
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        const tl_rigid_body *b = &s->rigid->body[i];
        tl_motion *m = &s->body[i];
        if (b->kind == TL_BODY_FREE) {
            m->v = s->f.body_v[i];
            m->w = s->f.body_w[i];
            if (finite3(m->v) && finite3(m->w)) tl_rigid_fly(b, s->dt, m);
        } else if (b->kind == TL_BODY_KINEMATIC) {
            m->x = m->goal.at;
            m->q = m->goal.rotation;
        }
        m->contact_force = s->f.contact_force[i].force;
        m->contact_torque = s->f.contact_force[i].torque;
        m->fluid_force = s->f.fluid_force[i].force;
        m->fluid_torque = s->f.fluid_force[i].torque;
        if (s->drag) {
            m->fluid_force = tl_vec3_add(m->fluid_force, s->drag[i].force);
            m->fluid_torque = tl_vec3_add(m->fluid_torque, s->drag[i].torque);
        }
        if (finite3(m->x) && finite3(m->v) && finite3(m->w) && isfinite(tl_quat_norm2(m->q)) &&
            tl_vec3_norm(m->v) < TL_SPH_ABSURD &&
            (b->kind != TL_BODY_FREE || b->reach * tl_vec3_norm(m->w) < TL_SPH_ABSURD))
            continue;
        *again = true;
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "body \"%.60s\" left the numbers: place (%g, %g, %g) m, velocity (%g, %g, %g) m/s, spin (%g, "
                       "%g, %g) rad/s",
                       s->scene->bodies[i].name, m->x.x, m->x.y, m->x.z, m->v.x, m->v.y, m->v.z, m->w.x, m->w.y,
                       m->w.z);
    }
    return TALUS_OK;
}

/* Far outside of the domain, or through an open wall: gone. */
static bool gone(const sph_step *s, tl_vec3 x)
{
    const tl_domain_spec *d = &s->scene->domain;
    if (!d->bounded) return false;
    double beyond = BEYOND * s->f.sph->h, p[3] = {x.x, x.y, x.z};
    const double lo[3] = {d->box.lo.x, d->box.lo.y, d->box.lo.z}, hi[3] = {d->box.hi.x, d->box.hi.y, d->box.hi.z};
    for (int k = 0; k < 3; k++) {
        if (p[k] < lo[k] - (d->wall[2 * k] == TL_WALL_OPEN ? 0 : beyond)) return true;
        if (p[k] > hi[k] + (d->wall[2 * k + 1] == TL_WALL_OPEN ? 0 : beyond)) return true;
    }
    return false;
}

/* The wall's blow takes what is left of the velocity towards it. */
static void stop_at(double *x, double *v, double sign, double wall)
{
    if (sign * (*x - wall) >= 0) return;
    *x = wall;
    *v = sign * fmax(0, sign * *v);
}

/* As bodies stop liquid (model/sph/stop.h): a fifth of what falls in growing-pillar would leave it. */
static void stop_at_walls(const sph_step *s, tl_sph_particle *p)
{
    const tl_domain_spec *d = &s->scene->domain;
    if (!d->bounded) return;
    double off = (TL_SPH_NEAREST - s->f.sph->wet_inset) * s->f.sph->h;
    double *x[3] = {&p->x.x, &p->x.y, &p->x.z}, *v[3] = {&p->v.x, &p->v.y, &p->v.z};
    const double lo[3] = {d->box.lo.x, d->box.lo.y, d->box.lo.z}, hi[3] = {d->box.hi.x, d->box.hi.y, d->box.hi.z};
    for (int k = 0; k < 3; k++) {
        if (d->wall[2 * k] == TL_WALL_CLOSED) stop_at(x[k], v[k], 1, lo[k] + off);
        if (d->wall[2 * k + 1] == TL_WALL_CLOSED) stop_at(x[k], v[k], -1, hi[k] - off);
    }
}

static talus_status move_liquid(sph_step *s, bool *again, talus_error *err)
{
    tl_sph_step *f = &s->f;
    for (int32_t i = 0; i < f->fluid; i++) {
        tl_sph_particle *p = &f->particle[i];
        p->v = f->v[i];
        p->x = tl_vec3_add_scaled(p->x, s->dt, p->v);
        p->p = s->x[i];
        if (!(tl_vec3_max_abs(p->v) < TL_SPH_ABSURD) || !finite3(p->x)) {
            *again = true;
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "liquid particle %d left the numbers: place (%g, %g, %g) m, velocity (%g, %g, %g) m/s",
                           (int)p->id, p->x.x, p->x.y, p->x.z, p->v.x, p->v.y, p->v.z);
        }
    }
    tl_accounts_sph_moved(s->sim, &s->account, f, s->body);
    TL_TRY(tl_sph_stop(f, s->body, err));
    tl_accounts_sph_stopped(s->sim, &s->account, f, s->body, s->drag, false);
    for (int32_t i = 0; i < f->fluid; i++) stop_at_walls(s, &f->particle[i]);
    tl_accounts_sph_stopped(s->sim, &s->account, f, s->body, s->drag, true);
    for (int32_t i = 0; i < f->fluid; i++) {
        const tl_sph_particle *p = &f->particle[i];
        if (gone(s, p->x))
            tl_accounts_sph_gone(s->sim, f, p);
        else
            f->particle[s->stay++] = *p;
    }
    lap(s, MOVE);
    return TALUS_OK;
}

static talus_status emit(sph_step *s, talus_error *err)
{
    TL_TRY(tl_sph_emit(s->sim, s->dt, s->stay, s->f.particle, s->arena, &s->births, err));
    lap(s, EMIT);
    return TALUS_OK;
}

/* ---- commit ---- */

static void fill_solves(const sph_step *s, tl_report *r)
{
    const tl_fixedpoint_report *c = &s->solved;
    r->solve[0] = (tl_report_solve){"pressure",
                                    s->kept->method->name,
                                    tl_result_name(c->outcome.result),
                                    c->outcome.iterations,
                                    c->certificate.residual,
                                    s->kept->stop.tolerance,
                                    c->work};
    r->solves = 1;
    if (s->kept->viscous)
        r->solve[r->solves++] = (tl_report_solve){"viscosity",
                                                  "cg",
                                                  tl_result_name(s->viscous.outcome.result),
                                                  s->viscous.outcome.iterations,
                                                  s->viscous.certificate.residual,
                                                  VISCOUS_TOLERANCE,
                                                  s->viscous.work};
    for (int k = 0; k < r->solves; k++) r->solve[k].work.history = NULL;
}

/* Liquid's share of energy and momentum. Sums in fixed blocks. */
static void measure_liquid(const sph_step *s, tl_report *r)
{
    enum { KINETIC, POTENTIAL, PX, PY, PZ, LX, LY, LZ, SUMS };
    const tl_sph_step *f = &s->f;
    tl_blocks blocks = tl_blocks_of(s->stay);
    double part[TL_BLOCKS_MAX][SUMS], fastest[TL_BLOCKS_MAX], total[SUMS] = {0};
    double V0 = f->sph->V0;
#pragma omp parallel for schedule(static) if (f->fluid >= TL_PARALLEL_MIN / 8)
    for (int b = 0; b < blocks.count; b++) {
        memset(part[b], 0, sizeof part[b]);
        fastest[b] = 0;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            const tl_sph_particle *p = &f->particle[i];
            double m = V0 * s->scene->materials[p->material].density;
            tl_vec3 mv = tl_vec3_scale(m, p->v), L = tl_vec3_cross(p->x, mv);
            part[b][KINETIC] += 0.5 * tl_vec3_dot(mv, p->v);
            part[b][POTENTIAL] -= m * tl_vec3_dot(s->scene->gravity, p->x);
            part[b][PX] += mv.x, part[b][PY] += mv.y, part[b][PZ] += mv.z;
            part[b][LX] += L.x, part[b][LY] += L.y, part[b][LZ] += L.z;
            fastest[b] = fmax(fastest[b], tl_vec3_norm2(p->v));
        }
    }
    for (int b = 0; b < blocks.count; b++) {
        for (int k = 0; k < SUMS; k++) total[k] += part[b][k];
        r->fastest = fmax(r->fastest, sqrt(fastest[b]));
    }
    r->kinetic += total[KINETIC];
    r->potential += total[POTENTIAL];
    r->momentum = tl_vec3_add(r->momentum, (tl_vec3){total[PX], total[PY], total[PZ]});
    r->angular_momentum = tl_vec3_add(r->angular_momentum, (tl_vec3){total[LX], total[LY], total[LZ]});
}

static void fill_report(const sph_step *s)
{
    tl_report *r = &s->sim->report;
    const tl_sph_step *f = &s->f;
    *r = (tl_report){.phases = PHASES, .force_balance = NAN};
    for (int k = 0; k < PHASES; k++) r->phase[k] = (tl_report_phase){.name = phase_names[k], .seconds = s->seconds[k]};
    fill_solves(s, r);
    tl_rigid_measures now = tl_rigid_measure(s->rigid, s->body, s->scene->gravity);
    r->kinetic = now.kinetic;
    r->potential = now.potential;
    r->momentum = now.momentum;
    r->angular_momentum = now.angular_momentum;
    r->fastest = now.fastest;
    measure_liquid(s, r);
    r->contacts = f->contacts;
    for (int32_t k = 0; k < f->contacts; k++) {
        r->touching += s->x[f->fluid + k] > 0;
        r->penetration = fmax(r->penetration, -tl_sph_gap(f, &f->contact[k]));
    }
    r->particles = (int64_t)s->stay + s->births.count;
    r->liquid_volume = r->particle_volume = (double)r->particles * f->sph->V0;
    r->volume_error = s->compression;
    r->escaped = s->sim->state.sph.counter->lost + (f->fluid - s->stay);
    tl_rigid_report_lost(s->sim, s->body, s->kept->lost, r);
}

static talus_status make_room(sph_step *s, talus_error *err)
{
    TL_TRY(tl_sph_list_contacts(&s->f, s->x, &s->shown, err));
    TL_TRY(tl_rigid_contacts_reserve(&s->sim->state.rigid, s->shown.count, err));
    return tl_sph_state_reserve(&s->sim->state.sph, (int64_t)s->stay + s->births.count, s->f.contacts, err);
}

/* Contacts remember a running mean. What one solve leaves undone the next one must make good, so each answer is off to the other side of
 * the last: started from that, a stack would tremble (validate V13). */
static void blend_memories(sph_step *s)
{
    int64_t first = s->f.fluid, n = first + 4 * (int64_t)s->f.contacts;
    for (int64_t i = first; i < n && s->start && !s->f.given; i++)
        s->x[i] = s->start[i] + MEMORY * (s->x[i] - s->start[i]);
}

static void commit(sph_step *s)
{
    tl_sph_state *state = &s->sim->state.sph;
    blend_memories(s);
    state->memories = tl_sph_remember(&s->f, s->x, state->memory);
    tl_rigid_state *rigid = &s->sim->state.rigid;
    memcpy(rigid->body, s->body, sizeof *s->body * (size_t)s->rigid->scene_count);
    rigid->contacts = s->shown.count;
    if (s->shown.count) memcpy(rigid->contact, s->shown.contact, sizeof *rigid->contact * (size_t)s->shown.count);
    if (s->stay) memcpy(state->particle, s->f.particle, sizeof *state->particle * (size_t)s->stay);
    for (int32_t i = 0; i < s->births.count; i++) {
        state->particle[s->stay + i] = s->births.particle[i];
        state->particle[s->stay + i].id = (int32_t)state->counter->next_id++;
    }
    state->count = (int64_t)s->stay + s->births.count;
    state->counter->lost += s->f.fluid - s->stay;
    if (s->births.emitter)
        memcpy(state->emitter, s->births.emitter, sizeof *state->emitter * (size_t)s->scene->emitter_count);
}

static talus_status step(tl_sim *sim, double dt, bool *again, talus_error *err)
{
    sph_step s;
    *again = false;
    TL_TRY(place_bodies(&s, sim, dt, err));
    TL_TRY(find_neighbours(&s, err));
    TL_TRY(tl_cancel_check(err));
    TL_TRY(predict_velocities(&s, err));
    TL_TRY(solve(&s, again, err));
    TL_TRY(move_bodies(&s, again, err));
    TL_TRY(move_liquid(&s, again, err));
    TL_TRY(emit(&s, err));
    TL_TRY(make_room(&s, err));
    TL_TRY(tl_cancel_check(err));
    fill_report(&s);
    TL_TRY(tl_accounts_end(sim, dt, s.body, again, err));
    commit(&s);
    return TALUS_OK;
}

const tl_engine_entry tl_engine_sph = {"sph", tl_sph_engine_begin, tl_sph_engine_end, tl_sph_dt_wanted, step};
