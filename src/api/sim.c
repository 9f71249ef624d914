#include "api/sim.h"
#include "model/lg/holds.h"
#include "model/lg/whole.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "api/need.h"
#include "api/scene.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/text.h"
#include "io/checkpoint.h"
#include "step/sim.h"

struct talus_sim {
    tl_sim *sim;
    uint64_t generation;
    uint64_t positions_of, points_of; /* generations that the arrays below belong to; 0: none */
    tl_vec3 *position;                /* [bodies] */
    tl_vec3 *point;                   /* [contacts] */
    int64_t point_room;
};

/* ---- life ---- */

talus_status talus_sim_create(const talus_scene *scene, const talus_sim_options *options, talus_sim **out,
                              talus_error *err)
{
    TL_NEED(scene);
    TL_NEED(out);
    *out = NULL;
    tl_log log = {0};
    if (options) log = (tl_log){options->log, options->log_user, 2};
    talus_sim *s = TL_NEW_ZERO(talus_sim, 1);
    if (!s) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a simulation");
    talus_status status = tl_sim_create(&s->sim, scene->scene, &log, err);
    if (status == TALUS_OK) {
        s->generation = 1;
        s->position = TL_NEW(tl_vec3, s->sim->state.rigid.count + 1);
        if (!s->position) status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a simulation");
    }
    if (status != TALUS_OK) {
        talus_sim_free(s);
        return status;
    }
    *out = s;
    return TALUS_OK;
}

void talus_sim_free(talus_sim *s)
{
    if (!s) return;
    tl_sim_free(s->sim);
    tl_free(s->position);
    tl_free(s->point);
    tl_free(s);
}

/* ---- time ---- */

talus_status talus_sim_step(talus_sim *s, double dt, talus_error *err)
{
    TL_NEED(s);
    if (isnan(dt)) return TL_FAIL(err, TALUS_BAD_INPUT, "dt must be a number of seconds, got nan");
    TL_TRY(tl_sim_step(s->sim, dt, INFINITY, err));
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_advance(talus_sim *s, double t, talus_error *err)
{
    TL_NEED(s);
    double now = s->sim->state.t;
    if (!isfinite(t) || t < now)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the time to go to must be finite and at least %.10g s, got %.10g s", now,
                       t);
    while (s->sim->state.t < t) {
        TL_TRY(tl_sim_step(s->sim, 0, t, err));
        s->generation++;
    }
    return TALUS_OK;
}

void talus_cancel(int wanted) { tl_cancel_set(wanted != 0); }

double talus_sim_time(const talus_sim *s)
{
    if (!s) return 0;
    return s->sim->state.t;
}
int64_t talus_sim_steps(const talus_sim *s)
{
    if (!s) return 0;
    return s->sim->state.step;
}
uint64_t talus_sim_hash(const talus_sim *s)
{
    if (!s) return 0;
    return tl_state_hash(&s->sim->state);
}
uint64_t talus_sim_generation(const talus_sim *s)
{
    if (!s) return 0;
    return s->generation;
}

/* ---- views ---- */

typedef enum view_of {
    OF_MOTION,
    OF_BODY,
    OF_CONTACT,
    OF_POSITION,
    OF_POINT,
    OF_PARTICLE,
    OF_NODE_Q,
    OF_NODE_V,
    OF_NODE_MASS,
    OF_NODE_PUSH,
    OF_NODE_BODY,
    OF_HOLD
} view_of;

/* Everything that can be looked at: whose array, where in its struct. */
static const struct {
    const char *name;
    view_of of;
    size_t offset;
    int components;
    talus_type type;
} views[] = {
    {"bodies.position", OF_POSITION, 0, 3, TALUS_FLOAT64},
    {"bodies.rotation", OF_MOTION, offsetof(tl_motion, q), 4, TALUS_FLOAT64},
    {"bodies.center", OF_MOTION, offsetof(tl_motion, x), 3, TALUS_FLOAT64},
    {"bodies.velocity", OF_MOTION, offsetof(tl_motion, v), 3, TALUS_FLOAT64},
    {"bodies.spin", OF_MOTION, offsetof(tl_motion, w), 3, TALUS_FLOAT64},
    {"bodies.mass", OF_BODY, offsetof(tl_rigid_body, mass), 1, TALUS_FLOAT64},
    {"bodies.force", OF_MOTION, offsetof(tl_motion, contact_force), 3, TALUS_FLOAT64},
    {"bodies.torque", OF_MOTION, offsetof(tl_motion, contact_torque), 3, TALUS_FLOAT64},
    {"bodies.fluid_force", OF_MOTION, offsetof(tl_motion, fluid_force), 3, TALUS_FLOAT64},
    {"bodies.fluid_torque", OF_MOTION, offsetof(tl_motion, fluid_torque), 3, TALUS_FLOAT64},
    {"bodies.mean_force", OF_MOTION, offsetof(tl_motion, mean_contact_force), 3, TALUS_FLOAT64},
    {"bodies.mean_torque", OF_MOTION, offsetof(tl_motion, mean_contact_torque), 3, TALUS_FLOAT64},
    {"bodies.mean_fluid_force", OF_MOTION, offsetof(tl_motion, mean_fluid_force), 3, TALUS_FLOAT64},
    {"bodies.mean_fluid_torque", OF_MOTION, offsetof(tl_motion, mean_fluid_torque), 3, TALUS_FLOAT64},
    {"bodies.push", OF_MOTION, offsetof(tl_motion, force), 3, TALUS_FLOAT64},
    {"bodies.push_torque", OF_MOTION, offsetof(tl_motion, torque), 3, TALUS_FLOAT64},
    {"contacts.bodies", OF_CONTACT, offsetof(tl_rigid_memory, a), 2, TALUS_INT32},
    {"contacts.position", OF_POINT, 0, 3, TALUS_FLOAT64},
    {"contacts.normal", OF_CONTACT, offsetof(tl_rigid_memory, normal), 3, TALUS_FLOAT64},
    {"contacts.force", OF_CONTACT, offsetof(tl_rigid_memory, force), 3, TALUS_FLOAT64},
    {"contacts.gap", OF_CONTACT, offsetof(tl_rigid_memory, gap), 1, TALUS_FLOAT64},
    {"nodes.position", OF_NODE_Q, 0, 3, TALUS_FLOAT64},
    {"nodes.velocity", OF_NODE_V, 0, 3, TALUS_FLOAT64},
    {"nodes.mass", OF_NODE_MASS, 0, 1, TALUS_FLOAT64},
    {"nodes.push", OF_NODE_PUSH, 0, 3, TALUS_FLOAT64},
    {"nodes.body", OF_NODE_BODY, 0, 1, TALUS_INT32},
    {"holds.kind", OF_HOLD, offsetof(tl_lg_hold, kind), 1, TALUS_INT32},
    {"holds.number", OF_HOLD, offsetof(tl_lg_hold, number), 1, TALUS_INT32},
    {"holds.position", OF_HOLD, offsetof(tl_lg_hold, at), 3, TALUS_FLOAT64},
    {"holds.force", OF_HOLD, offsetof(tl_lg_hold, force), 3, TALUS_FLOAT64},
    {"holds.torque", OF_HOLD, offsetof(tl_lg_hold, torque), 3, TALUS_FLOAT64},
    {"holds.tension", OF_HOLD, offsetof(tl_lg_hold, tension), 1, TALUS_FLOAT64},
    {"particles.position", OF_PARTICLE, offsetof(tl_sph_particle, x), 3, TALUS_FLOAT64},
    {"particles.velocity", OF_PARTICLE, offsetof(tl_sph_particle, v), 3, TALUS_FLOAT64},
    {"particles.pressure", OF_PARTICLE, offsetof(tl_sph_particle, p), 1, TALUS_FLOAT64},
    {"particles.id", OF_PARTICLE, offsetof(tl_sph_particle, id), 1, TALUS_INT32},
    {"particles.material", OF_PARTICLE, offsetof(tl_sph_particle, material), 1, TALUS_INT32},
};
#define VIEWS ((int)(sizeof views / sizeof views[0]))

const char *talus_sim_view_name(int i) { return i >= 0 && i < VIEWS ? views[i].name : NULL; }

static const tl_vec3 *positions(talus_sim *s)
{
    const tl_rigid_state *r = &s->sim->state.rigid;
    for (int64_t i = 0; i < r->count && s->positions_of != s->generation; i++)
        s->position[i] = tl_rigid_pose(&s->sim->rigid.body[i], &r->body[i]).at;
    s->positions_of = s->generation;
    return s->position;
}

/* World places of contacts, as the first body has carried them. NULL: no memory. The first is never a wall: those come last. */
static const tl_vec3 *points(talus_sim *s)
{
    const tl_rigid_state *r = &s->sim->state.rigid;
    if (s->points_of == s->generation) return s->point;
    if (!s->point || r->contacts > s->point_room) {
        int64_t room = 2 * r->contacts + 64;
        tl_vec3 *larger = tl_realloc(s->point, sizeof *larger * (size_t)room);
        if (!larger) return NULL;
        s->point = larger;
        s->point_room = room;
    }
    for (int64_t i = 0; i < r->contacts; i++) {
        const tl_rigid_memory *c = &r->contact[i];
        tl_pose pose = tl_rigid_pose(&s->sim->rigid.body[c->a], &r->body[c->a]);
        s->point[i] = tl_pose_apply(&pose, c->at_a);
    }
    s->points_of = s->generation;
    return s->point;
}

talus_status talus_sim_view(talus_sim *s, const char *name, talus_view *out, talus_error *err)
{
    TL_NEED(s);
    TL_NEED(name);
    TL_NEED(out);
    const char *names[VIEWS + 1] = {0};
    int k = 0;
    for (; k < VIEWS && strcmp(views[k].name, name); k++) names[k] = views[k].name;
    if (k == VIEWS) {
        const char *near = tl_text_nearest(name, names);
        return TL_FAIL(err, TALUS_BAD_INPUT, "no view '%.60s'%s%s%s", name, near ? "; did you mean '" : "",
                       near ? near : "", near ? "'?" : "");
    }
    const tl_rigid_state *r = &s->sim->state.rigid;
    const tl_sph_state *f = &s->sim->state.sph;
    talus_view v = {NULL, r->count, views[k].components, views[k].type, 0};
    switch (views[k].of) {
    case OF_MOTION: v.data = r->body, v.stride = sizeof *r->body; break;
    case OF_BODY: v.data = s->sim->rigid.body, v.stride = sizeof *s->sim->rigid.body; break;
    case OF_CONTACT: v.data = r->contact, v.stride = sizeof *r->contact, v.count = r->contacts; break;
    case OF_POSITION: v.data = positions(s), v.stride = sizeof(tl_vec3); break;
    case OF_PARTICLE: v.data = f->particle, v.stride = sizeof *f->particle, v.count = f->count; break;
    case OF_POINT: v.data = points(s), v.stride = sizeof(tl_vec3), v.count = r->contacts; break;
    case OF_NODE_Q: v.data = s->sim->state.lg.q, v.stride = sizeof(tl_vec3), v.count = s->sim->state.lg.nodes; break;
    case OF_NODE_V: v.data = s->sim->state.lg.v, v.stride = sizeof(tl_vec3), v.count = s->sim->state.lg.nodes; break;
    case OF_NODE_MASS: v.data = s->sim->lg.mass, v.stride = sizeof(double), v.count = s->sim->state.lg.nodes; break;
    case OF_NODE_PUSH:
        v.data = s->sim->state.lg.push, v.stride = sizeof(tl_vec3), v.count = s->sim->state.lg.nodes;
        break;
    case OF_HOLD:
        v.data = s->sim->hold, v.stride = sizeof *s->sim->hold;
        v.count = s->sim->hold ? tl_lg_hold_count(&s->sim->lg, s->sim->scene) : 0;
        break;
    case OF_NODE_BODY: v.data = s->sim->lg.owner, v.stride = sizeof(int32_t), v.count = s->sim->state.lg.nodes; break;
    }
    if (views[k].of == OF_POINT && !v.data)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the places of %lld contacts", (long long)r->contacts);
    if (v.data) v.data = (const char *)v.data + views[k].offset;
    *out = v;
    return TALUS_OK;
}

int talus_sim_body(const talus_sim *s, const char *name)
{
    if (!s || !name) return -1;
    const tl_scene *scene = s->sim->scene;
    for (int i = 0; i < scene->body_count; i++)
        if (!strcmp(scene->bodies[i].name, name)) return i;
    return -1;
}

/* ---- pushing ---- */

static talus_status find_body(talus_sim *s, int body, tl_body_kind kind, const char *what, tl_motion **out,
                              talus_error *err)
{
    static const char *const kinds[] = {"free", "kinematic", "static"};
    const tl_scene *scene = s->sim->scene;
    if (body < 0 || body >= scene->body_count)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: there is no body %d, the scene has %d (the first is 0)", what, body,
                       scene->body_count);
    const tl_body *b = &scene->bodies[body];
    if (b->kind != kind)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s is for %s bodies, body %d (%.60s) is %s", what, kinds[kind], body,
                       b->name, kinds[b->kind]);
    *out = &s->sim->state.rigid.body[body];
    return TALUS_OK;
}

static talus_status check_numbers(const char *what, int body, int count, const double *v, talus_error *err)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(v[i]))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s of body %d must be finite, got %g at [%d]", what, body, v[i], i);
    return TALUS_OK;
}

static tl_vec3 vec3(const double v[3]) { return (tl_vec3){v[0], v[1], v[2]}; }

talus_status talus_sim_set_force(talus_sim *s, int body, const double force[3], const double torque[3],
                                 talus_error *err)
{
    TL_NEED(s);
    static const double none[3] = {0, 0, 0};
    tl_motion *m = NULL;
    if (!force) force = none;
    if (!torque) torque = none;
    TL_TRY(find_body(s, body, TL_BODY_FREE, "a force", &m, err));
    TL_TRY(check_numbers("the force", body, 3, force, err));
    TL_TRY(check_numbers("the torque", body, 3, torque, err));
    m->force = vec3(force);
    m->torque = vec3(torque);
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_set_node_forces(talus_sim *s, int64_t first, int64_t count, const double *force,
                                       talus_error *err)
{
    TL_NEED(s);
    tl_lg_state *lg = &s->sim->state.lg;
    if (lg->nodes == 0) return TL_FAIL(err, TALUS_BAD_INPUT, "forces on nodes: the scene has no elastic bodies");
    if (first < 0 || count < 0 || first > lg->nodes || count > lg->nodes - first)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "forces on %" PRId64 " nodes from node %" PRId64 " on: there are %" PRId64 " (the first is 0)",
                       count, first, lg->nodes);
    for (int64_t i = 0; force && i < 3 * count; i++)
        if (!isfinite(force[i]))
            return TL_FAIL(err, TALUS_BAD_INPUT, "the force on node %" PRId64 " must be finite, got %g at [%d]",
                           first + i / 3, force[i], (int)(i % 3));
    if (count > 0 && force)
        memcpy(lg->push + 3 * first, force, 3 * sizeof *force * (size_t)count);
    else if (count > 0)
        memset(lg->push + 3 * first, 0, 3 * sizeof *force * (size_t)count);
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_set_pressure(talus_sim *s, int body, double pressure, talus_error *err)
{
    TL_NEED(s);
    const tl_lg *lg = &s->sim->lg;
    int b = 0;
    if (body < 0 || body >= s->sim->scene->body_count)
        return TL_FAIL(err, TALUS_BAD_INPUT, "there is no body %d, the scene has %d (the first is 0)", body,
                       s->sim->scene->body_count);
    while (b < lg->bodies && lg->body[b].body != body) b++;
    if (b == lg->bodies || s->sim->scene->engine != TL_ENGINE_LG)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "a pressure is for elastic bodies of engine \"lg\", not for body %d (%.60s)", body,
                       s->sim->scene->bodies[body].name);
    TL_TRY(check_numbers("the pressure", body, 1, &pressure, err));
    s->sim->state.lg.pressure[b] = pressure;
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_set_velocity(talus_sim *s, int body, const double velocity[3], const double spin[3],
                                    talus_error *err)
{
    TL_NEED(s);
    tl_motion *m = NULL;
    TL_TRY(find_body(s, body, TL_BODY_FREE, "a velocity", &m, err));
    if (velocity) TL_TRY(check_numbers("the velocity", body, 3, velocity, err));
    if (spin) TL_TRY(check_numbers("the spin", body, 3, spin, err));
    for (int b = 0; b < s->sim->lg.bodies; b++) { /* an elastic body: of all its nodes */
        tl_vec3 v = velocity ? vec3(velocity) : m->v, w = spin ? vec3(spin) : m->w;
        if (s->sim->lg.body[b].body != body) continue;
        tl_lg_set_velocity(&s->sim->lg, &s->sim->state.lg, &s->sim->lg.body[b], velocity ? &v : NULL, spin ? &w : NULL);
    }
    if (velocity) m->v = vec3(velocity);
    if (spin) m->w = vec3(spin);
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_set_pose(talus_sim *s, int body, const double position[3], const double rotation[4],
                                talus_error *err)
{
    TL_NEED(s);
    tl_motion *m = NULL;
    TL_TRY(find_body(s, body, TL_BODY_KINEMATIC, "a pose", &m, err));
    if (s->sim->scene->bodies[body].motion != TL_NO_FUNCTION)
        return TL_FAIL(err, TALUS_BAD_INPUT, "body %d (%.60s) moves by the scene's function of time, not by poses",
                       body, s->sim->scene->bodies[body].name);
    if (position) TL_TRY(check_numbers("the position", body, 3, position, err));
    tl_quat q = m->goal.rotation;
    if (rotation) {
        TL_TRY(check_numbers("the rotation", body, 4, rotation, err));
        q = (tl_quat){rotation[0], rotation[1], rotation[2], rotation[3]};
        if (!(tl_quat_norm2(q) > 0 && tl_quat_norm2(q) < INFINITY))
            return TL_FAIL(err, TALUS_BAD_INPUT, "the rotation of body %d must not be zero", body);
    }
    if (position) m->goal.at = vec3(position);
    m->goal.rotation = tl_quat_normalize(q);
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_set_handle(talus_sim *s, int handle, const double position[3], const double rotation[4],
                                  talus_error *err)
{
    TL_NEED(s);
    const tl_scene *scene = s->sim->scene;
    tl_lg_state *lg = &s->sim->state.lg;
    if (handle < 0 || handle >= scene->handle_count || lg->handles != s->sim->lg.bodies + scene->handle_count)
        return TL_FAIL(err, TALUS_BAD_INPUT, "there is no handle %d, the scene has %d (the first is 0)", handle,
                       lg->handles ? scene->handle_count : 0);
    const tl_handle *asked = &scene->handles[handle];
    if (asked->motion != TL_NO_FUNCTION)
        return TL_FAIL(err, TALUS_BAD_INPUT, "handle %d moves by the scene's function of time, not by poses", handle);
    double *was = lg->led + 14 * (int64_t)(s->sim->lg.bodies + handle), *next = was + 7, to[7];
    const double start[7] = {asked->at.x, asked->at.y, asked->at.z, 1, 0, 0, 0};
    const bool led = next[3] != 0 || next[4] != 0 || next[5] != 0 || next[6] != 0;
    memcpy(to, led ? next : start, sizeof to);
    if (position) memcpy(to, position, 3 * sizeof *to);
    if (rotation) memcpy(to + 3, rotation, 4 * sizeof *to);
    for (int i = 0; i < 7; i++)
        if (!isfinite(to[i]))
            return TL_FAIL(err, TALUS_BAD_INPUT, "the pose of handle %d must be finite, got %g at [%d]", handle, to[i],
                           i);
    tl_quat q = {to[3], to[4], to[5], to[6]};
    if (!(tl_quat_norm2(q) > 0 && tl_quat_norm2(q) < INFINITY))
        return TL_FAIL(err, TALUS_BAD_INPUT, "the rotation of handle %d must not be zero", handle);
    q = tl_quat_normalize(q);
    if (!led) memcpy(was, start, sizeof start);
    memcpy(next, (const double[7]){to[0], to[1], to[2], q.w, q.x, q.y, q.z}, 7 * sizeof *next);
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_set_cable(talus_sim *s, int cable, double length, talus_error *err)
{
    TL_NEED(s);
    tl_lg_state *lg = &s->sim->state.lg;
    if (cable < 0 || cable >= lg->cables)
        return TL_FAIL(err, TALUS_BAD_INPUT, "there is no cable %d, the scene has %" PRId64 " (the first is 0)", cable,
                       lg->cables);
    if (s->sim->scene->cables[cable].length.function != TL_NO_FUNCTION)
        return TL_FAIL(err, TALUS_BAD_INPUT, "cable %d has the length of the scene's function of time", cable);
    if (!(length >= 0 && isfinite(length)))
        return TL_FAIL(err, TALUS_BAD_INPUT, "the length of cable %d must be finite and not negative, got %g", cable,
                       length);
    lg->length[cable] = length;
    s->generation++;
    return TALUS_OK;
}

/* ---- saving ---- */

talus_status talus_sim_save(const talus_sim *s, const char *path, talus_error *err)
{
    TL_NEED(s);
    TL_NEED(path);
    return tl_checkpoint_save(path, &s->sim->state, s->sim->scene, NULL, err);
}

talus_status talus_sim_restore(talus_sim *s, const char *path, talus_error *err)
{
    TL_NEED(s);
    TL_NEED(path);
    TL_TRY(tl_checkpoint_load(path, &s->sim->state, s->sim->scene, s->sim->rigid.count, &s->sim->log, err));
    s->sim->report = (tl_report){.step = s->sim->state.step, .t = s->sim->state.t};
    s->generation++;
    return TALUS_OK;
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
