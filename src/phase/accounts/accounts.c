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
    for (int32_t k = 0; state && k < sim->joints.count; k++) {
        const tl_joint *j = &sim->joints.joint[k];
        if (state->joint[k].broken > 0) continue;
        /* frames of elastic bodies are known within steps alone */
        const bool known = (j->soft[0] || j->soft[1]) && body == sim->state.rigid.body;
        sum += known ? state->joint[k].strain : tl_joint_energy(j, body, &state->joint[k]);
    }
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

/* ---- the end ---- */

void tl_accounts_settle(tl_accounts *a, tl_energy source)
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

double tl_accounts_judge_held(tl_accounts *a)
{
    const double made = fmin(a->held, a->energy[TL_ENERGY_TIME_STEP]);
    a->held = 0;
    if (!(made > 0)) return 0;
    a->energy[TL_ENERGY_TIME_STEP] -= made;
    return made;
}

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
    tl_accounts_settle(a, TL_ENERGY_TIME_STEP); /* what falls and is stopped again within a step: matter at rest */
    a->energy_unexplained += tl_accounts_judge_held(a);
    keep_laws(a);
    if (sim->scene->engine == TL_ENGINE_GRID && !isnan(a->energy[TL_ENERGY_TRANSFER]))
        tl_accounts_settle(a, TL_ENERGY_CORRECTIONS); /* matter that flows is lifted by what it lost in the same step */
    r->smallest = smallest_extent(sim);
    r->accounts = *a;
    return guard(sim, dt, body, again, err);
}
