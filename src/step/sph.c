/* The step of the SPH engine: liquid, rigid contact and friction as one particle system [Probst2023].
 *
 *     place bodies            motions, masses, friction; scripted bodies get the velocity that leads to their pose
 *     find neighbours         pairs, volumes, normals
 *     predict velocities      v* = v + dt (gravity, forces), surface tension, stress of arrangement, viscosity
 *     join                    v* that joints allow; from here on pushes do what joints make of them
 *     solve                   pressures >= 0 and friction in its cones, together
 *     move                    bodies fly with their angular momentum kept, to where joints are right; liquid x += dt v,
 *                             walls and bodies stop it
 *     emit                    what emitters add
 *     commit
 *
 * The gyroscopic term is not predicted: flight turns a body with its angular momentum kept (tl_rigid_fly), which
 * holds it for fast thin bodies, where the explicit term of the paper blows up. */
#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "base/parallel.h"
#include "base/sum.h"
#include "base/timer.h"
#include "model/sph/arrangement.h"
#include "model/sph/forces.h"
#include "model/sph/stop.h"
#include "model/sph/yield.h"
#include "phase/sph/trial.h"

#define MEMORY 0.05     /* share of a step in what contacts remember: a mean over some 20 steps */
#define UNRESOLVED 10.0 /* tolerances: compression of single particles that a mean error of one leaves; chosen */
#define NOISE_FALL                                                                                                     \
    0.25 /* sqrt(g/h) per second: how fast noise of single particles falls, that of the default numerical viscosity */
#define FLOWING                                                                                                        \
    10.0 /* `quiet` of moving liquid, over its speed: 1 %; chosen: small waves scatter less than with 3 %, a breaking dam takes 5 % longer */
#define EXACT 2e-6 /* liquid is evaluated in single precision, to 1e-6 */
#define VISCOUS_ITERATIONS 1000

static bool finite3(tl_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

/* ---- place bodies ---- */

static talus_status place_bodies(tl_sph_trial *s, tl_sim *sim, double dt, talus_error *err)
{
    int32_t n = sim->rigid.count;
    *s = (tl_sph_trial){.sim = sim,
                        .scene = sim->scene,
                        .rigid = &sim->rigid,
                        .data = sim->engine_data,
                        .arena = &sim->arena,
                        .dt = dt,
                        .mark = tl_seconds()};
    s->speed = TL_TAKE_ZERO(s->arena, double, n);
    s->whole = TL_TAKE_ZERO(s->arena, double, n);
    if (!s->speed || !s->whole) return tl_sph_no_memory(err);
    TL_TRY(tl_bodies_begin(&s->b, sim, &s->data->rigid, dt, err));
    s->b.straight = true;
    TL_TRY(tl_bodies_predict(&s->b, err));
    for (int32_t i = 0; i < n; i++) {
        if (s->rigid->body[i].kind != TL_BODY_KINEMATIC) continue;
        s->b.before[i] = s->b.body[i]; /* samples move with the velocity that leads to the goal */
    }
    tl_sph_lap(s, TL_SPH_PLACE);
    return TALUS_OK;
}

/* ---- neighbours ---- */

/* How many times more exactly than its tolerance says liquid is solved. A mean error e moves particles by e h in a
 * step, as it happens: speeds of u = e h / dt, which numerical viscosity takes away again at the rate r, so that a
 * noise of u / sqrt(2 r dt) stays: 8 mm/s at 1e-4 and 2 ms in water of 2 cm spacing. It may be `quiet` of sqrt(g h),
 * or FLOWING times that part of the liquid's own speed. */
static double strictness(const tl_sph_trial *s)
{
    const tl_sph_spec *o = &s->scene->sph;
    double h = tl_sph_of(s->sim)->h, g = tl_vec3_norm(s->scene->gravity), rate = NOISE_FALL * sqrt(g / h), speed = 0;
    if (!(o->quiet > 0) || !(g > 0) || !s->f.fluid) return 1;
    for (int32_t i = 0; i < s->f.fluid; i++) speed += tl_vec3_norm2(s->f.v[i]);
    speed = sqrt(speed / s->f.fluid);
    double noise = o->quiet * fmax(sqrt(g * h), FLOWING * speed), error = noise * s->dt / h * sqrt(2 * rate * s->dt);
    return fmax(1, s->data->stop.tolerance / fmax(error, EXACT));
}

static talus_status find_neighbours(tl_sph_trial *s, talus_error *err)
{
    tl_sph_bodies bodies = {s->rigid, s->b.before, s->b.inv_mass, (const tl_mat3 *)s->b.inv_inertia, s->b.friction};
    TL_TRY(tl_sph_begin(&s->f, tl_sph_of(s->sim), s->scene, tl_sph_state_of(&s->sim->state), &bodies, s->dt, s->arena,
                        err));
    s->f.relax = s->scene->sph.relaxation;
    s->f.push_out = tl_sph_push_out(s->scene);
    s->f.unresolved = UNRESOLVED * s->data->stop.tolerance;
    s->f.strict = strictness(s);
    TL_TRY(tl_sph_neighbours(&s->f, err));
    TL_TRY(tl_sph_contacts(&s->f, err));
    tl_sph_lap(s, TL_SPH_NEIGHBOURS);
    return TALUS_OK;
}

/* ---- predict velocities ---- */

/* Of any point of a body, m/s. */
static double speed_of(const tl_sph_trial *s, int32_t i)
{
    const tl_rigid_body *b = &s->rigid->body[i];
    if (b->kind == TL_BODY_STATIC) return 0;
    double spin = b->reach < INFINITY ? b->reach * tl_vec3_norm(s->f.body_w[i]) : 0;
    return tl_vec3_norm(s->f.body_v[i]) + spin;
}

static void push_bodies(tl_sph_trial *s)
{
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        if (s->rigid->body[i].kind != TL_BODY_FREE) continue;
        s->f.body_v[i] = tl_vec3_load(s->b.v_free + 6 * (int64_t)i);
        s->f.body_w[i] = tl_vec3_load(s->b.v_free + 6 * (int64_t)i + 3);
    }
}

static void push_liquid(tl_sph_trial *s)
{
    tl_sph_step *f = &s->f;
    /* Multiplied here: in the loop it would be fused with the sum or not, by where a thread's part ends. */
    tl_vec3 fall = tl_vec3_scale(s->dt, s->scene->gravity);
#pragma omp parallel for schedule(static) if (f->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < f->fluid; i++) f->v[i] = tl_vec3_add(f->v[i], fall);
}

static talus_status take_stress(tl_sph_trial *s, talus_error *err)
{
    tl_sph_force *on;
    TL_TRY(tl_sph_take_stress(&s->f, tl_sph_state_of(&s->sim->state)->counter->dt, &on, err));
    tl_accounts_sph_stirred(s->sim, &s->account, &s->f, on);
    tl_accounts_sph_phase(s->sim, &s->account, &s->f, s->b.before, TL_ENERGY_CONTACT);
    s->drag = on;
    return TALUS_OK;
}

/* Backward Euler; momentum is kept to rounding whatever the solver reached. */
static talus_status let_viscosity_act(tl_sph_trial *s, talus_error *err)
{
    tl_sph_viscosity v;
    tl_linear problem;
    TL_TRY(tl_sph_viscosity_begin(&v, &s->f, &problem, err));
    tl_stop stop = {.tolerance = TL_SPH_VISCOUS_TOLERANCE, .max_iterations = VISCOUS_ITERATIONS};
    tl_options options = tl_options_default();
    options.history = s->sim->history ? s->sim->history + 1 : NULL;
    TL_TRY(tl_linear_solve(tl_linear_method_find("cg"), &problem, &options, &stop, v.x, s->arena, &s->viscous, err));
    tl_sph_viscosity_apply(&v, &s->f);
    tl_accounts_sph_stirred(s->sim, &s->account, &s->f, v.drag);
    for (int32_t i = 0; s->drag && i < s->rigid->count; i++) {
        v.drag[i].force = tl_vec3_add(v.drag[i].force, s->drag[i].force);
        v.drag[i].torque = tl_vec3_add(v.drag[i].torque, s->drag[i].torque);
    }
    s->drag = v.drag;
    return TALUS_OK;
}

static void find_speeds(tl_sph_trial *s)
{
    double max = 0;
    for (int32_t i = 0; i < s->f.fluid; i++) max = fmax(max, tl_vec3_norm2(s->f.v[i]));
    s->liquid = sqrt(max);
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        s->speed[i] = speed_of(s, i);
        s->whole[i] = tl_sph_whole_speed(&s->f, i, s->f.body_v[i], s->f.body_w[i]);
    }
}

static talus_status predict_velocities(tl_sph_trial *s, talus_error *err)
{
    push_bodies(s);
    push_liquid(s);
    tl_accounts_sph_pushed(s->sim, &s->account, &s->f, s->b.before);
    if (s->data->tense) TL_TRY(tl_sph_tension(&s->f, err));
    if (s->data->tense) tl_accounts_sph_tension(&s->account, &s->f, s->b.before);
    if (s->scene->sph.arrangement > 0 && s->f.fluid) TL_TRY(take_stress(s, err));
    if (s->data->viscous) TL_TRY(let_viscosity_act(s, err));
    const tl_sph_spec *o = &s->scene->sph;
    double unit = sqrt(tl_vec3_norm(s->scene->gravity) / s->f.sph->h);
    if (unit * (o->viscosity + o->grain_viscosity) > 0)
        TL_TRY(tl_sph_smooth(&s->f, o->viscosity * unit, o->grain_viscosity * unit, err));
    tl_accounts_sph_phase(s->sim, &s->account, &s->f, s->b.before, TL_ENERGY_VISCOSITY);
    find_speeds(s);
    tl_sph_lap(s, TL_SPH_PREDICT);
    return TALUS_OK;
}

static talus_status join(tl_sph_trial *s, bool *again, talus_error *err)
{
    TL_TRY(tl_sph_join(s, again, err));
    if (s->joined) find_speeds(s); /* motors and falling mechanisms bring more to bear than bodies alone */
    tl_sph_lap(s, TL_SPH_PREDICT);
    return TALUS_OK;
}

/* ---- move ---- */

static talus_status move_bodies(tl_sph_trial *s, bool *again, talus_error *err)
{
    const double absurd = tl_sph_absurd(s->sim);
    for (int32_t i = 0; i < s->rigid->count; i++) {
        tl_vec3_store(s->f.body_v[i], s->b.v + 6 * (int64_t)i);
        tl_vec3_store(s->f.body_w[i], s->b.v + 6 * (int64_t)i + 3);
    }
    TL_TRY(tl_bodies_move(&s->b, again, err));
    TL_TRY(tl_sph_settle_joints(s, again, err));
    tl_accounts_sph_joined(&s->b, &s->account);
    tl_accounts_sph_solved(s->sim, &s->account, &s->f, s->b.before, s->x);
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        const tl_rigid_body *b = &s->rigid->body[i];
        tl_motion *m = &s->b.body[i];
        m->contact_force = s->f.contact_force[i].force;
        m->contact_torque = s->f.contact_force[i].torque;
        m->fluid_force = s->f.fluid_force[i].force;
        m->fluid_torque = s->f.fluid_force[i].torque;
        if (s->drag) {
            m->fluid_force = tl_vec3_add(m->fluid_force, s->drag[i].force);
            m->fluid_torque = tl_vec3_add(m->fluid_torque, s->drag[i].torque);
        }
        double spin = b->kind == TL_BODY_FREE ? b->reach * tl_vec3_norm(m->w) : 0, max = tl_vec3_norm(m->v) + spin;
        if (max < absurd) continue;
        *again = true;
        return TL_FAIL(err, TALUS_BAD_INPUT, "body \"%.60s\" would move at %.3g m/s, at most %g is allowed",
                       s->scene->bodies[i].name, max, absurd);
    }
    return TALUS_OK;
}

static talus_status move_liquid(tl_sph_trial *s, bool *again, talus_error *err)
{
    tl_sph_step *f = &s->f;
    const double absurd = tl_sph_absurd(s->sim);
    for (int32_t i = 0; i < f->fluid; i++) {
        tl_sph_particle *p = &f->particle[i];
        p->v = f->v[i];
        p->x = tl_vec3_add_scaled(p->x, s->dt, p->v);
        p->p = s->x[i];
        if (!(tl_vec3_max_abs(p->v) < absurd) || !finite3(p->x)) {
            *again = true;
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "liquid particle %d became NaN, infinite or absurdly fast: place (%g, %g, %g) m, velocity "
                           "(%g, %g, %g) m/s",
                           (int)p->id, p->x.x, p->x.y, p->x.z, p->v.x, p->v.y, p->v.z);
        }
    }
    tl_accounts_sph_moved(s->sim, &s->account, f, s->b.body);
    TL_TRY(tl_sph_stop(f, s->b.body, err));
    tl_accounts_sph_stopped(s->sim, &s->account, f, s->b.body, s->drag, false);
    for (int32_t i = 0; i < f->fluid; i++) tl_sph_stop_at_walls(f, &f->particle[i]);
    tl_accounts_sph_stopped(s->sim, &s->account, f, s->b.body, s->drag, true);
    for (int32_t i = 0; i < f->fluid; i++) {
        const tl_sph_particle *p = &f->particle[i];
        if (tl_sph_gone(f, p->x))
            tl_accounts_sph_gone(s->sim, f, p);
        else
            f->particle[s->stay++] = *p;
    }
    tl_sph_lap(s, TL_SPH_MOVE);
    return TALUS_OK;
}

static talus_status emit(tl_sph_trial *s, talus_error *err)
{
    TL_TRY(tl_sph_emit(s->sim, s->dt, s->stay, s->f.particle, s->arena, &s->births, err));
    tl_sph_lap(s, TL_SPH_EMIT);
    return TALUS_OK;
}

/* ---- commit ---- */

static talus_status make_room(tl_sph_trial *s, talus_error *err)
{
    TL_TRY(tl_sph_list_contacts(&s->f, s->x, &s->shown, err));
    TL_TRY(tl_rigid_contacts_reserve(&s->sim->state.rigid, s->shown.count, 0, err));
    return tl_sph_state_reserve(tl_sph_state_of(&s->sim->state), (int64_t)s->stay + s->births.count, s->f.contacts,
                                err);
}

/* Contacts remember a running mean. What one solve leaves undone the next one must make good, so each answer is off
 * to the other side of the last: started from that, a stack would tremble (validate V13). */
static void blend_memories(tl_sph_trial *s)
{
    int64_t first = s->f.fluid, n = first + 4 * (int64_t)s->f.contacts;
    for (int64_t i = first; i < n && s->start && !s->f.given; i++)
        s->x[i] = s->start[i] + MEMORY * (s->x[i] - s->start[i]);
}

static void commit(tl_sph_trial *s)
{
    tl_sph_state *state = tl_sph_state_of(&s->sim->state);
    blend_memories(s);
    state->memories = tl_sph_remember(&s->f, s->x, state->memory);
    tl_bodies_commit_shown(&s->b, s->shown.count, s->shown.contact);
    if (s->stay) memcpy(state->particle, s->f.particle, sizeof *state->particle * (size_t)s->stay);
    for (int32_t i = 0; i < s->births.count; i++) {
        state->particle[s->stay + i] = s->births.particle[i];
        state->particle[s->stay + i].id = (int32_t)state->counter->next_id++;
    }
    state->count = (int64_t)s->stay + s->births.count;
    state->counter->lost += s->f.fluid - s->stay;
    state->counter->dt = s->dt;
    if (s->births.emitter)
        memcpy(state->emitter, s->births.emitter, sizeof *state->emitter * (size_t)s->scene->emitter_count);
}

static talus_status step(tl_sim *sim, double dt, bool *again, talus_error *err)
{
    tl_sph_trial s;
    *again = false;
    TL_TRY(place_bodies(&s, sim, dt, err));
    TL_TRY(find_neighbours(&s, err));
    TL_TRY(tl_cancel_check(err));
    TL_TRY(predict_velocities(&s, err));
    TL_TRY(join(&s, again, err));
    TL_TRY(tl_sph_solve(&s, again, err));
    TL_TRY(move_bodies(&s, again, err));
    TL_TRY(move_liquid(&s, again, err));
    TL_TRY(emit(&s, err));
    TL_TRY(tl_bodies_joints_end(&s.b, err));
    tl_accounts_broken(&s.b);
    TL_TRY(tl_bodies_find_depth(&s.b, err));
    TL_TRY(make_room(&s, err));
    TL_TRY(tl_cancel_check(err));
    tl_sph_fill_report(&s);
    TL_TRY(tl_sim_judge(sim, again, err));
    TL_TRY(tl_accounts_end(sim, dt, s.b.body, again, err));
    commit(&s);
    return TALUS_OK;
}

extern const tl_engine_entry tl_engine_sph; /* in scene/engines.def */
const tl_engine_entry tl_engine_sph = {tl_sph_engine_begin, tl_sph_engine_end, tl_sph_dt_wanted, step, tl_sph_measure,
                                       tl_sph_samples,      tl_sph_views,      TL_SPH_VIEWS,     NULL};
