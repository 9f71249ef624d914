#include "phase/accounts/accounts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/parallel.h"
#include "model/rigid/motion.h"
#include "model/sph/sph.h"

/* What nobody would see, in parts of the size (radius of gyration) of all that moves: lifted so far, or moved so far
 * within a frame. Chosen: the guard is for explosions, and a body that starts inside of another may be pushed out. */
#define GUARD_UNSEEN 0.01
#define GUARD_CORNER 3.0 /* times sph.push_out: how fast overlaps of SPH bodies part at the most, as in step/sph.c */
#define GUARD_NAMES 3    /* bodies in its message */

static const tl_vec3 nothing = {0, 0, 0};

/* ---- totals ---- */

static void add_point(tl_totals *t, double m, tl_vec3 x)
{
    t->mass += m;
    t->first = tl_vec3_add_scaled(t->first, m, x);
    t->second += m * tl_vec3_norm2(x);
}

void tl_totals_add(tl_totals *t, double sign, const tl_totals *o)
{
    t->mass += sign * o->mass;
    t->first = tl_vec3_add_scaled(t->first, sign, o->first);
    t->second += sign * o->second;
    t->kinetic += sign * o->kinetic;
    t->potential += sign * o->potential;
    t->momentum = tl_vec3_add_scaled(t->momentum, sign, o->momentum);
    t->angular = tl_vec3_add_scaled(t->angular, sign, o->angular);
}

/* Of all that were whole at the start of the step, J. */
static double joint_energy(const tl_sim *sim, const tl_motion *body)
{
    const tl_joint_state *state = sim->joints.count ? tl_state_find(&sim->state, &tl_joints_kind) : NULL;
    double sum = 0;
    for (int32_t k = 0; state && k < sim->joints.count; k++)
        if (!(state->joint[k].broken > 0)) sum += tl_joint_energy(&sim->joints.joint[k], body, &state->joint[k]);
    return sum;
}

void tl_totals_add_bodies(tl_totals *t, const tl_sim *sim, const tl_motion *body)
{
    tl_rigid_measures m = tl_rigid_measure(&sim->rigid, body, sim->scene->gravity);
    t->elastic += joint_energy(sim, body);
    t->kinetic += m.kinetic;
    t->potential += m.potential;
    t->momentum = tl_vec3_add(t->momentum, m.momentum);
    t->angular = tl_vec3_add(t->angular, m.angular_momentum);
    for (int32_t i = 0; i < sim->rigid.scene_count; i++) {
        const tl_rigid_body *b = &sim->rigid.body[i];
        if (b->kind != TL_BODY_FREE || b->elastic) continue;
        add_point(t, b->mass, body[i].x);
        t->second += 0.5 * tl_mat3_trace(b->inertia); /* of its own matter: a single body has a size too */
    }
}

void tl_totals_add_point(tl_totals *t, double m, tl_vec3 x, tl_vec3 v, tl_vec3 gravity)
{
    add_point(t, m, x);
    t->kinetic += 0.5 * m * tl_vec3_norm2(v);
    t->potential -= m * tl_vec3_dot(gravity, x);
    t->momentum = tl_vec3_add_scaled(t->momentum, m, v);
    t->angular = tl_vec3_add_scaled(t->angular, m, tl_vec3_cross(x, v));
}

static void add_nodes(tl_totals *t, const tl_sim *sim)
{
    const tl_lg_state *s = tl_lg_state_of(&sim->state);
    for (int32_t i = 0; i < sim->lg.nodes; i++) {
        const int64_t k = 3 * (int64_t)i;
        const double m = sim->lg.mass[i];
        tl_vec3 x = tl_vec3_load(s->q + k), v = tl_vec3_load(s->v + k);
        tl_vec3 p = {tl_lg_state_momentum(s, k), tl_lg_state_momentum(s, k + 1), tl_lg_state_momentum(s, k + 2)};
        tl_totals_add_point(t, m, x, v, sim->scene->gravity);
        tl_vec3 more = tl_vec3_scale(m, tl_vec3_sub(p, v));
        t->momentum = tl_vec3_add(t->momentum, more);
        t->angular = tl_vec3_add(t->angular, tl_vec3_cross(x, more));
    }
}

talus_status tl_accounts_begin(tl_sim *sim, talus_error *err)
{
    tl_totals *t = &sim->start;
    tl_accounts *a = &sim->accounts;
    *t = sim->came = sim->flowing = (tl_totals){0};
    tl_totals_add_bodies(t, sim, sim->state.rigid.body);
    if (sim->engine->measure) TL_TRY(sim->engine->measure(sim, t, err));
    if (sim->lg.nodes) add_nodes(t, sim), t->elastic = NAN; /* until the step has measured it */
    *a = (tl_accounts){.fixed = {NAN, NAN, NAN}};
    for (int k = 0; k < TL_ENERGIES; k++) a->energy[k] = NAN;
    return TALUS_OK;
}

void tl_accounts_start_elastic(tl_sim *sim, double nodes)
{
    sim->start.elastic = nodes + joint_energy(sim, sim->state.rigid.body);
}

/* ---- what phases add ---- */

void tl_accounts_energy(tl_sim *sim, tl_energy source, double joules)
{
    double *e = &sim->accounts.energy[source];
    *e = isnan(*e) ? joules : *e + joules;
}

void tl_accounts_fixed(tl_sim *sim, tl_vec3 impulse, tl_vec3 angular)
{
    tl_accounts *a = &sim->accounts;
    a->fixed = isnan(a->fixed.x) ? impulse : tl_vec3_add(a->fixed, impulse);
    a->angular = tl_vec3_add(a->angular, angular);
}

void tl_accounts_forces(tl_sim *sim, tl_vec3 impulse, tl_vec3 angular)
{
    tl_accounts *a = &sim->accounts;
    a->forces = tl_vec3_add(a->forces, impulse);
    a->angular = tl_vec3_add(a->angular, angular);
}

void tl_accounts_matter(tl_sim *sim, const tl_totals *now)
{
    tl_totals came = *now;
    tl_totals_add(&came, -1, &sim->flowing);
    tl_accounts *a = &sim->accounts;
    a->matter = tl_vec3_add(a->matter, came.momentum);
    a->angular = tl_vec3_add(a->angular, came.angular);
    tl_accounts_energy(sim, TL_ENERGY_MATTER, came.kinetic + came.potential);
    sim->came = came;
    sim->start.mass += came.mass;
    sim->start.first = tl_vec3_add(sim->start.first, came.first);
    sim->start.second += came.second;
}

/* ---- rigid bodies ---- */

static double kinetic(const tl_bodies *b, const double *v)
{
    double sum = 0;
    for (int32_t i = 0; i < b->rigid->scene_count; i++) {
        const tl_rigid_body *body = &b->rigid->body[i];
        if (body->kind != TL_BODY_FREE || body->elastic) continue;
        tl_vec3 u = tl_vec3_load(v + 6 * (int64_t)i), w = tl_vec3_load(v + 6 * (int64_t)i + 3);
        sum += 0.5 * (body->mass * tl_vec3_norm2(u) + tl_vec3_dot(w, tl_rigid_angular_momentum(body, b->act[i].q, w)));
    }
    return sum;
}

static bool is_half(const tl_bodies *b, int32_t i) { return b->half.any && b->half.on[i]; }

/* Velocities before, with gravity and forces: their impulses, and the work of both. Gravity's work on velocities is
 * returned. Impulses that act half-way, together with those of contacts, work with the mean of before and after all;
 * `half`: what they did. */
static double account_forces(tl_bodies *b, double *half)
{
    tl_vec3 impulse = nothing, angular = nothing;
    double work = 0, gravity = 0;
    *half = 0;
    for (int32_t i = 0; i < b->rigid->scene_count; i++) {
        const tl_rigid_body *body = &b->rigid->body[i];
        const tl_motion *m = &b->act[i];
        if (body->kind != TL_BODY_FREE || body->elastic) continue;
        const double *v = (b->v_asked ? b->v_asked : b->v_free) + 6 * (int64_t)i,
                     *last = is_half(b, i) ? b->v + 6 * (int64_t)i : v;
        tl_vec3 fall = tl_vec3_scale(b->dt, b->scene->gravity),
                mean = tl_vec3_scale(0.5, tl_vec3_add(m->v, tl_vec3_load(last)));
        tl_vec3 p = tl_vec3_scale(body->mass, tl_vec3_sub(tl_vec3_sub(tl_vec3_load(v), m->v), fall));
        if (b->resting && b->resting[i]) { /* what it stands on carries its weight */
            tl_accounts_fixed(b->sim, p, tl_vec3_cross(m->x, p));
            continue;
        }
        tl_vec3 dw = tl_vec3_sub(tl_vec3_load(v + 3), m->w), L = tl_rigid_angular_momentum(body, m->q, dw);
        impulse = tl_vec3_add(impulse, p);
        angular = tl_vec3_add(angular, tl_vec3_add(L, tl_vec3_cross(m->x, p)));
        /* gravity's is that of the start, unless it acts half-way */
        angular = tl_vec3_add_scaled(angular, body->mass, tl_vec3_cross(tl_vec3_sub(m->x, b->before[i].x), fall));
        if (tl_bodies_flies(b, i)) /* on a parabola all acts half-way */
            angular = tl_vec3_add_scaled(angular, 0.5 * b->dt * body->mass,
                                         tl_vec3_cross(m->v, tl_vec3_sub(tl_vec3_load(v), m->v)));
        double fell = body->mass * tl_vec3_dot(fall, mean),
               did = tl_vec3_dot(p, mean) + 0.5 * tl_vec3_dot(L, tl_vec3_add(m->w, tl_vec3_load(last + 3)));
        gravity += fell;
        work += did;
        if (is_half(b, i)) *half += fell + did;
    }
    tl_accounts_forces(b->sim, impulse, angular);
    tl_accounts_energy(b->sim, TL_ENERGY_FORCES, work);
    return gravity;
}

static bool is_free(const tl_bodies *b, int32_t i)
{
    return b->rigid->body[i].kind == TL_BODY_FREE && !b->rigid->body[i].elastic;
}

/* What walls, static and scripted bodies did through impulses lam of contacts: impulse, and work of scripted ones. */
static double account_fixed(const tl_bodies *b, const tl_rigid_contacts *contacts, const double *lam)
{
    double work = 0;
    tl_vec3 impulse = nothing, angular = nothing;
    for (int32_t k = 0; k < contacts->count; k++) {
        const tl_rigid_point *c = &contacts->point[k];
        bool a = is_free(b, c->a), other = is_free(b, c->b);
        if (a == other) continue;
        int32_t fixed = a ? c->b : c->a;
        tl_vec3 p = tl_vec3_scale(a ? b->dt : -b->dt, tl_rigid_point_force(c, lam + 3 * (int64_t)k, b->dt));
        impulse = tl_vec3_add(impulse, p);
        angular = tl_vec3_add(angular, tl_vec3_cross(c->at, p));
        if (b->rigid->body[fixed].kind == TL_BODY_KINEMATIC) {
            const double *v = b->v_free + 6 * (int64_t)fixed;
            tl_vec3 arm = a ? c->arm_b : c->arm_a;
            work += tl_vec3_dot(p, tl_vec3_add(tl_vec3_load(v), tl_vec3_cross(tl_vec3_load(v + 3), arm)));
        }
    }
    tl_accounts_fixed(b->sim, impulse, angular);
    return work;
}

double tl_accounts_resist(const tl_bodies *b, double *scripted)
{
    const tl_csr *J = &b->p.J;
    const double *v_before = b->half.any ? b->half.early : b->v_free;
    double lost = 0, work = 0;
    tl_vec3 angular = nothing;
    for (int32_t k = 0; k < b->resist.count; k++) {
        const tl_rigid_point *c = &b->contacts.point[b->resist.point[k]];
        const double *lam = b->resist_lam + 3 * (int64_t)k;
        for (int i = 1; i < 3; i++) {
            int64_t row = 3 * ((int64_t)b->contacts.count + k) + i;
            for (int64_t e = J->start[row]; e < J->start[row + 1]; e++)
                lost += 0.5 * lam[i] * J->val[e] * (v_before[J->col[e]] + b->v[J->col[e]]);
        }
        bool a = is_free(b, c->a);
        if (a == is_free(b, c->b)) continue;
        int32_t fixed = a ? c->b : c->a;
        tl_vec3 turn = tl_vec3_scale(a ? 1 : -1, tl_rigid_resist_torque(&b->resist, &b->contacts, k, lam));
        angular = tl_vec3_add(angular, turn);
        work += tl_vec3_dot(turn, tl_vec3_load(b->v_free + 6 * (int64_t)fixed + 3));
    }
    tl_accounts_fixed(b->sim, nothing, angular);
    *scripted += work;
    return lost;
}

/* Of relative velocities, mean of before and after: with what scripted bodies did, all that contacts change. */
static double account_losses(const tl_bodies *b)
{
    double normal = 0, tangent = 0;
    const tl_csr *J = &b->p.J;
    const double *v_before = b->half.any ? b->half.early : b->v_free;
    for (int64_t row = 0; row < 3 * (int64_t)b->contacts.count; row++) {
        if (b->lam[row] == 0) continue;
        double u = 0;
        for (int64_t k = J->start[row]; k < J->start[row + 1]; k++)
            u += J->val[k] * (v_before[J->col[k]] + b->v[J->col[k]]);
        *(row % 3 ? &tangent : &normal) += 0.5 * u * b->lam[row];
    }
    tl_accounts_energy(b->sim, TL_ENERGY_FRICTION, tangent);
    tl_accounts_energy(b->sim, TL_ENERGY_CONTACT, normal);
    return tangent + normal;
}

double tl_accounts_row(const tl_bodies *b, const tl_joint_blocks *j, int64_t at, double lam, const tl_motion *x,
                       const double *v, tl_vec3 *impulse, tl_vec3 *angular)
{
    const tl_joint_row *row = &j->row[at];
    double work = 0;
    for (int side = 0; side < 2; side++) {
        const int32_t i = j->body[at / 3][side];
        if (i < 0) continue;
        const tl_vec3 push = tl_vec3_scale(lam, side ? row->push_b : row->push_a),
                      turn = tl_vec3_scale(lam, side ? row->turn_b : row->turn_a);
        if (is_free(b, i)) {
            *impulse = tl_vec3_add(*impulse, push);
            *angular = tl_vec3_add(*angular, tl_vec3_add(turn, tl_vec3_cross(x[i].x, push)));
        } else
            work += tl_vec3_dot(push, tl_vec3_load(v + 6 * (int64_t)i)) +
                    tl_vec3_dot(turn, tl_vec3_load(v + 6 * (int64_t)i + 3));
    }
    return work;
}

/* What joints did where impulses act. Returns all of it but what scripted bodies did, which is added to `scripted`.
 * Alone with contacts, they work with the mean of before and after. In one solve with what flows, motors, friction,
 * limits and springs do so with the velocities of the end. What holds then does no work: bodies end up where it holds
 * them, and what the step's other forces pull and it does not let happen is between those, and the solve's. Among
 * elastic bodies, whose work is known by itself, it has what its straight rows do, of the step's first order. */
static double account_joints(tl_bodies *b, double *scripted)
{
    static const tl_energy source[] = {[TL_ROW_HOLD] = TL_ENERGY_TIME_STEP,
                                       [TL_ROW_LIMIT] = TL_ENERGY_CONTACT,
                                       [TL_ROW_DRY] = TL_ENERGY_FRICTION,
                                       [TL_ROW_MOTOR] = TL_ENERGY_FORCES,
                                       [TL_ROW_SPRING] = TL_ENERGY_TIME_STEP};
    tl_vec3 impulse = nothing, angular = nothing;
    double all = 0, damped = 0;
    b->account.held = 0;
    for (int32_t k = 0; k < b->sim->joints.count; k++) {
        const tl_joint *j = &b->sim->joints.joint[k];
        const bool flows = b->flows && !is_half(b, is_free(b, j->a) ? j->a : j->b);
        const double *v = flows ? b->v : b->half.any ? b->half.early : b->v_free;
        for (int r = 0; r < j->rows && b->joint.first[k] < b->joint.first[k + 1]; r++) {
            const int64_t at = 3 * (int64_t)b->joint.first[k] + r;
            const double lam = b->joint.lam[at];
            const tl_joint_row *row = &b->joint.blocks.row[at];
            double work = 0.5 * lam * (tl_joint_row_speed(j, row, v) + tl_joint_row_speed(j, row, b->v));
            if (flows && tl_bodies_joint_holds(b, k, r) && !b->sim->lg.nodes) work = 0;
            *scripted -= tl_accounts_row(b, &b->joint.blocks, at, lam, b->act, b->v_free, &impulse, &angular);
            const tl_energy from =
                tl_bodies_joint_holds(b, k, r) ? TL_ENERGY_TIME_STEP : source[j->law[r]]; /* a rope that is taut */
            tl_accounts_energy(b->sim, from, work);
            all += work;
            if (from == TL_ENERGY_TIME_STEP && !flows) b->account.held += work;
        }
        if (b->joint.first[k] < b->joint.first[k + 1]) damped += tl_bodies_joint_damped(b, k);
    }
    tl_accounts_energy(b->sim, TL_ENERGY_VISCOSITY, -damped);
    tl_accounts_energy(b->sim, TL_ENERGY_TIME_STEP, damped);
    b->account.held += damped;
    tl_accounts_fixed(b->sim, impulse, angular);
    return all;
}

/* What one source gave and others took in the same step is nothing. */
static void settle(tl_accounts *a, tl_energy source)
{
    static const tl_energy stops[] = {TL_ENERGY_CONTACT, TL_ENERGY_FRICTION, TL_ENERGY_VISCOSITY, TL_ENERGY_TRANSFER};
    double *step = &a->energy[source];
    for (int k = 0; k < 4; k++) {
        double *stop = &a->energy[stops[k]];
        if (!(*step > 0 && *stop < 0)) continue;
        double both = fmin(*step, -*stop);
        *step -= both;
        *stop += both;
    }
}

/* A bounce gives back of all that the landing took, the error of rows that held in it included. */
static void return_landing(tl_accounts *a)
{
    double *step = &a->energy[TL_ENERGY_TIME_STEP], *contact = &a->energy[TL_ENERGY_CONTACT];
    if (!(*contact > 0 && *step < 0)) return;
    const double both = fmin(*contact, -*step);
    *contact -= both;
    *step += both;
}

/* What springs had that broke in this step is gone with them, as in an impact. */
void tl_accounts_broken(tl_bodies *b)
{
    if (!b->joint.now) return;
    const tl_joint_state *state = tl_state_find(&b->sim->state, &tl_joints_kind);
    double lost = 0;
    for (int32_t k = 0; k < b->sim->joints.count; k++)
        if (b->joint.now[k].broken > 0 && !(state->joint[k].broken > 0))
            lost += tl_joint_energy(&b->sim->joints.joint[k], b->body, &b->joint.now[k]);
    b->sim->came.elastic -= lost;
    tl_accounts_energy(b->sim, TL_ENERGY_CONTACT, -lost);
}

/* What holds makes no energy: what it adds in a step, and nothing takes, is explained by nothing. Returns that. */
static double judge_held(tl_accounts *a)
{
    const double made = fmin(a->held, a->energy[TL_ENERGY_TIME_STEP]);
    a->held = 0;
    if (!(made > 0)) return 0;
    a->energy[TL_ENERGY_TIME_STEP] -= made;
    return made;
}

void tl_accounts_fit(tl_bodies *b)
{
    if (!b->joint.late) return;
    tl_vec3 impulse = nothing, angular = nothing;
    double scripted = 0;
    for (int64_t at = 0; at < 3 * (int64_t)b->joint.end.count; at++)
        scripted -= tl_accounts_row(b, &b->joint.end, at, b->joint.late[at], b->body, b->v_free, &impulse, &angular);
    tl_accounts_fixed(b->sim, impulse, angular);
    tl_totals after = {0};
    tl_totals_add_bodies(&after, b->sim, b->body);
    tl_accounts_energy(b->sim, TL_ENERGY_SCRIPTED, scripted);
    tl_accounts_energy(b->sim, TL_ENERGY_CONTACT, b->joint.late_limits);
    tl_accounts_energy(b->sim, TL_ENERGY_FORCES, b->joint.late_motors);
    const double gave = after.kinetic - b->account.kinetic - scripted - b->joint.late_limits - b->joint.late_motors;
    tl_accounts_energy(b->sim, TL_ENERGY_TIME_STEP, gave);
    if (b->joint.impact.count) return_landing(&b->sim->accounts);
    b->sim->accounts.held = b->account.held + gave;
    if (!b->flows) { /* nothing else comes to the step's accounts */
        settle(&b->sim->accounts, TL_ENERGY_TIME_STEP);
        (void)judge_held(&b->sim->accounts);
    }
    tl_accounts_broken(b);
}

/* Approaches that were stopped at the start of the step. */
static void account_stopped(tl_bodies *b)
{
    tl_totals before = {0}, after = {0};
    tl_vec3 impulse = nothing, angular = nothing;
    double work = account_fixed(b, &b->half.stopped, b->half.lam);
    const double *lam = b->half.lam + 3 * (int64_t)b->half.stopped.count;
    for (int64_t at = 0; at < 3 * (int64_t)b->joint.stop.count; at++)
        work -= tl_accounts_row(b, &b->joint.stop, at, lam[at], b->before, b->v_free, &impulse, &angular);
    tl_accounts_fixed(b->sim, impulse, angular);
    tl_totals_add_bodies(&before, b->sim, b->before);
    tl_totals_add_bodies(&after, b->sim, b->act); /* half-way: as fast as at the start */
    tl_accounts_energy(b->sim, TL_ENERGY_SCRIPTED, work);
    tl_accounts_energy(b->sim, TL_ENERGY_CONTACT, after.kinetic - before.kinetic - work);
}

void tl_accounts_bodies(tl_bodies *b)
{
    tl_totals before = {0}, after = {0};
    if (b->half.stops) account_stopped(b);
    double half, gravity = account_forces(b, &half);
    double lost = account_losses(b);
    double scripted = account_fixed(b, &b->contacts, b->lam);
    double joined = 0, resisted = b->resist.count ? tl_accounts_resist(b, &scripted) : 0;
    tl_accounts_energy(b->sim, TL_ENERGY_SCRIPTED, scripted);
    tl_accounts_energy(b->sim, TL_ENERGY_FRICTION, resisted);
    lost += resisted;
    if (b->joint.now) lost += account_joints(b, &joined);
    scripted += joined;
    tl_accounts_energy(b->sim, TL_ENERGY_SCRIPTED, joined);
    b->account.others = kinetic(b, b->v) - kinetic(b, b->half.any ? b->half.early : b->v_free) - half - lost - scripted;
    tl_totals_add_bodies(&before, b->sim, b->before);
    tl_totals_add_bodies(&after, b->sim, b->body);
    /* velocities fell by one rule, places by another; and flight turns bodies */
    const double strained = after.elastic - before.elastic; /* what springs took up */
    tl_accounts_energy(b->sim, TL_ENERGY_TIME_STEP,
                       gravity + after.potential - before.potential + after.kinetic - kinetic(b, b->v) + strained);
    b->account.held += strained;
    b->account.potential = after.potential + after.elastic;
    b->account.kinetic = after.kinetic;
    tl_accounts_energy(b->sim, TL_ENERGY_CORRECTIONS, 0);
}

double tl_accounts_rigid_in_lg(tl_bodies *b, double *scripted)
{
    tl_totals before = {0}, after = {0};
    if (b->half.stops) account_stopped(b);
    double half, gravity = account_forces(b, &half), joined = 0, led = 0;
    *scripted += account_fixed(b, &b->contacts, b->lam);
    if (b->joint.now) joined = account_joints(b, &led);
    tl_accounts_energy(b->sim, TL_ENERGY_SCRIPTED, led);
    tl_totals_add_bodies(&before, b->sim, b->before);
    tl_totals_add_bodies(&after, b->sim, b->body);
    const double strained = after.elastic - before.elastic;
    b->account.held += strained;
    tl_accounts_energy(b->sim, TL_ENERGY_TIME_STEP,
                       gravity + after.potential - before.potential + after.kinetic - kinetic(b, b->v) + strained);
    return kinetic(b, b->v) - kinetic(b, b->half.any ? b->half.early : b->v_free) - half - joined - led;
}

void tl_accounts_push(tl_bodies *b)
{
    tl_totals after = {0};
    tl_totals_add_bodies(&after, b->sim, b->body);
    tl_accounts_energy(b->sim, TL_ENERGY_CORRECTIONS,
                       after.potential + after.elastic - b->account.potential + after.kinetic - b->account.kinetic);
    b->account.potential = after.potential + after.elastic;
    b->account.kinetic = after.kinetic;
}

void tl_accounts_before_bounce(tl_bodies *b)
{
    tl_totals now = {0};
    tl_totals_add_bodies(&now, b->sim, b->body);
    b->account.kinetic = now.kinetic;
}

void tl_accounts_bounce(tl_bodies *b)
{
    tl_totals after = {0};
    double work = b->contacts.count ? account_fixed(b, &b->bounce.points, b->bounce.lam) : 0;
    tl_vec3 impulse = nothing, angular = nothing;
    for (int64_t at = 0; at < 3 * (int64_t)b->joint.impact.count; at++)
        work -=
            tl_accounts_row(b, &b->joint.impact, at, b->joint.impact_lam[at], b->body, b->v_free, &impulse, &angular);
    if (b->joint.impact.count) tl_accounts_fixed(b->sim, impulse, angular);
    tl_totals_add_bodies(&after, b->sim, b->body);
    const double motors = b->joint.impact_motors;
    tl_accounts_energy(b->sim, TL_ENERGY_SCRIPTED, work);
    if (motors != 0) tl_accounts_energy(b->sim, TL_ENERGY_FORCES, motors);
    tl_accounts_energy(b->sim, TL_ENERGY_CONTACT, after.kinetic - b->account.kinetic - work - motors);
    b->account.kinetic = after.kinetic;
}

/* ---- the end ---- */

static double smallest_extent(const tl_sim *sim)
{
    double least = INFINITY;
    for (int32_t i = 0; i < sim->rigid.scene_count; i++) {
        const tl_rigid_body *b = &sim->rigid.body[i];
        if (b->kind == TL_BODY_FREE && b->extent > 0) least = fmin(least, b->extent);
    }
    return least < INFINITY ? least : NAN;
}

/* What rubs, hits, flows or is interpolated takes energy. Where there is a transfer, energies between phases are
 * those of masses on faces, and only the sum counts. */
static void keep_laws(tl_accounts *a)
{
    static const tl_energy losses[] = {TL_ENERGY_FRICTION, TL_ENERGY_CONTACT, TL_ENERGY_VISCOSITY, TL_ENERGY_TRANSFER};
    for (size_t k = 0; k < sizeof losses / sizeof losses[0]; k++) {
        double *e = &a->energy[losses[k]];
        if (!(*e > 0)) continue;
        double *transfer = &a->energy[TL_ENERGY_TRANSFER], part = *transfer < 0 ? fmin(*e, -*transfer) : 0;
        if (part > 0) *transfer += part;
        a->energy_unexplained += *e - part;
        *e = 0;
    }
}

/* Places along a periodic axis jump by its length: so do the two components of the angular momentum that they are
 * in. */
static void leave_periodic(const tl_scene *s, tl_vec3 *angular)
{
    if (s->engine != TL_ENGINE_GRID) return;
    const bool *p = s->grid.periodic;
    if (p[1] || p[2]) angular->x = NAN;
    if (p[0] || p[2]) angular->y = NAN;
    if (p[0] || p[1]) angular->z = NAN;
}

/* All energy that could have become motion in this step: what was there, what came in, a step's fall, overlaps that
 * part, and what nobody would see. */
static double in_play(const tl_sim *sim, double dt)
{
    const tl_totals *t = &sim->start;
    const tl_accounts *a = &sim->accounts;
    const double *e = a->energy, g = tl_vec3_norm(sim->scene->gravity), unseen = GUARD_UNSEEN * a->gyration;
    double sum = t->kinetic + fabs(t->elastic) + fmax(0, e[TL_ENERGY_GRAVITY]);
    static const tl_energy given[] = {TL_ENERGY_FORCES, TL_ENERGY_SCRIPTED, TL_ENERGY_MATTER};
    for (size_t k = 0; k < sizeof given / sizeof given[0]; k++) sum += isnan(e[given[k]]) ? 0 : fabs(e[given[k]]);
    double fall = g * dt, way = unseen * sim->scene->fps,
           apart = sim->scene->engine == TL_ENGINE_SPH ? GUARD_CORNER * tl_sph_push_out(sim->scene) : 0;
    return sum + a->mass * (0.5 * (fall * fall + way * way + apart * apart) + g * unseen);
}

static double body_energy(const tl_rigid_body *b, const tl_motion *m)
{
    return 0.5 * (b->mass * tl_vec3_norm2(m->v) + tl_vec3_dot(m->w, tl_rigid_angular_momentum(b, m->q, m->w)));
}

/* Names of the rigid bodies that gained most; without one, of elastic bodies, or "what flows". */
static void name_gainers(const tl_sim *sim, const tl_motion *body, char *out, size_t room)
{
    double max = INFINITY;
    size_t used = 0;
    out[0] = '\0';
    for (int told = 0; told < GUARD_NAMES && used < room; told++) {
        int32_t best = -1;
        double gain = 0;
        for (int32_t i = 0; i < sim->rigid.scene_count; i++) {
            const tl_rigid_body *b = &sim->rigid.body[i];
            if (b->kind != TL_BODY_FREE || b->elastic) continue;
            double more = body_energy(b, &body[i]) - body_energy(b, &sim->state.rigid.body[i]);
            if (more > gain && more < max) gain = more, best = i;
        }
        if (best < 0) break;
        max = gain;
        used += (size_t)snprintf(out + used, room - used, "%s\"%.40s\" (%.3g m/s)", told ? ", " : "",
                                 sim->scene->bodies[best].name, tl_vec3_norm(body[best].v));
    }
    if (used) return;
    int told = 0;
    for (int32_t i = 0; i < sim->rigid.scene_count && told < GUARD_NAMES && used < room; i++)
        if (sim->rigid.body[i].elastic)
            used += (size_t)snprintf(out + used, room - used, "%s\"%.40s\"", told++ ? ", " : "elastic ",
                                     sim->scene->bodies[i].name);
    if (!used) snprintf(out, room, "what flows");
}

/* More energy than there is, from nothing: not accepted, whatever the solver thinks of its answer. */
static talus_status guard(const tl_sim *sim, double dt, const tl_motion *body, bool *again, talus_error *err)
{
    double gained = sim->accounts.energy_unexplained, there = in_play(sim, dt);
    char names[200];
    if (!sim->scene->solver.guard || !(gained > there)) return TALUS_OK;
    if (sim->state.step == 0 && sim->lg.nodes)
        return TALUS_OK; /* elastic bodies that start inside of others part at once: the verdict tells */
    *again = true;
    name_gainers(sim, body, names, sizeof names);
    return TL_FAIL(
        err, TALUS_NOT_DEFINITE,
        "energy rises by %.3g J that nothing explains, with %.3g J in play; fastest %.3g m/s; what gained most: %s",
        gained, there, sim->report.fastest, names);
}

talus_status tl_accounts_end(tl_sim *sim, double dt, const tl_motion *body, bool *again, talus_error *err)
{
    const tl_totals *t = &sim->start;
    tl_accounts *a = &sim->accounts;
    tl_report *r = &sim->report;
    tl_vec3 fall = tl_vec3_scale(dt, sim->scene->gravity);
    a->mass = t->mass;
    tl_vec3 centre = t->mass > 0 ? tl_vec3_scale(1 / t->mass, t->first) : nothing;
    a->gyration = t->mass > 0 ? sqrt(fmax(0, t->second / t->mass - tl_vec3_norm2(centre))) : 0;
    a->gravity = tl_vec3_scale(t->mass, fall);
    a->angular = tl_vec3_add(a->angular, tl_vec3_cross(t->first, fall));
    tl_vec3 p = tl_vec3_sub(r->momentum, t->momentum), L = tl_vec3_sub(r->angular_momentum, t->angular);
    tl_vec3 known = tl_vec3_add(tl_vec3_add(a->gravity, a->forces), tl_vec3_add(a->fixed, a->matter));
    a->momentum_unexplained = tl_vec3_sub(p, known);
    /* about the centre of mass: momentum that is off is told above, and has no lever that the origin decides */
    a->angular_unexplained =
        isnan(a->fixed.x) ? (tl_vec3){NAN, NAN, NAN}
                          : tl_vec3_sub(tl_vec3_sub(L, a->angular), tl_vec3_cross(centre, a->momentum_unexplained));
    leave_periodic(sim->scene, &a->angular_unexplained);
    if (sim->joints.count) r->elastic += joint_energy(sim, body) + sim->came.elastic;
    double change = r->kinetic + r->potential + r->elastic - t->kinetic - t->potential - t->elastic;
    for (int k = TL_ENERGY_GRAVITY + 1; k < TL_ENERGIES; k++) change -= isnan(a->energy[k]) ? 0 : a->energy[k];
    a->energy_unexplained = change;
    a->energy[TL_ENERGY_GRAVITY] = t->potential + sim->came.potential - r->potential;
    settle(a, TL_ENERGY_TIME_STEP); /* what falls and is stopped again within a step: matter at rest */
    a->energy_unexplained += judge_held(a);
    keep_laws(a);
    if (sim->scene->engine == TL_ENGINE_GRID && !isnan(a->energy[TL_ENERGY_TRANSFER]))
        settle(a, TL_ENERGY_CORRECTIONS); /* matter that flows is lifted by what it lost in the same step */
    r->smallest = smallest_extent(sim);
    r->accounts = *a;
    return guard(sim, dt, body, again, err);
}
