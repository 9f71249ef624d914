/* Driving: forces, velocities, poses, handles, cables; what a scene gives as constants. come_and_go.c has the rest. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/need.h"
#include "api/sim_own.h"
#include "base/alloc.h"
#include "model/driven.h"
#include "model/grid/emit.h"
#include "model/lg/holds.h"
#include "model/lg/moving.h"
#include "model/lg/whole.h"
#include "model/sph/state.h"
#include "phase/grid/grid.h"
#include "phase/sph/sph.h"
#include "scene/own.h"
#include "scene/schema.h"

/* ---- by name ---- */

int talus_sim_body(const talus_sim *s, const char *name)
{
    if (!s || !name) return -1;
    for (int i = 0; i < s->scene->body_count; i++)
        if (!strcmp(s->scene->bodies[i].name, name)) return i;
    return -1;
}

int talus_sim_material(const talus_sim *s, const char *name)
{
    if (!s || !name) return -1;
    for (int i = 0; i < s->scene->material_count; i++)
        if (!strcmp(s->scene->materials[i].name, name)) return i;
    return -1;
}

int talus_sim_joint(const talus_sim *s, const char *name)
{
    if (!s || !name) return -1;
    for (int i = 0; i < s->scene->joint_count; i++)
        if (!strcmp(s->scene->joints[i].name, name)) return i;
    return -1;
}

/* ---- bodies and what holds elastic ones ---- */

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

static tl_vec3 vec3(const double v[3]) { return (tl_vec3){v[0], v[1], v[2]}; }

talus_status talus_sim_set_force(talus_sim *s, int body, const double force[3], const double torque[3],
                                 talus_error *err)
{
    TL_NEED_SIM(s);
    static const double none[3] = {0, 0, 0};
    tl_motion *m = NULL;
    if (!force) force = none;
    if (!torque) torque = none;
    TL_TRY(find_body(s, body, TL_BODY_FREE, "a force", &m, err));
    TL_TRY(tl_need_finite("the force of body", body, 3, force, err));
    TL_TRY(tl_need_finite("the torque of body", body, 3, torque, err));
    m->force = vec3(force);
    m->torque = vec3(torque);
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_set_node_forces(talus_sim *s, int64_t first, int64_t count, const double *force,
                                       talus_error *err)
{
    TL_NEED_SIM(s);
    tl_lg_state *lg = tl_lg_state_of(&s->sim->state);
    if (!lg || lg->nodes == 0) return TL_FAIL(err, TALUS_BAD_INPUT, "forces on nodes: the scene has no elastic bodies");
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
    TL_NEED_SIM(s);
    const tl_lg *lg = &s->sim->lg;
    int b = 0;
    TL_TRY(tl_need_index("body", body, s->scene->body_count, err));
    while (b < lg->bodies && lg->body[b].body != body) b++;
    if (b == lg->bodies || s->sim->scene->engine != TL_ENGINE_LG)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "a pressure is for elastic bodies of engine \"lg\", not for body %d (%.60s)", body,
                       s->sim->scene->bodies[body].name);
    TL_TRY(tl_need_finite("the pressure of body", body, 1, &pressure, err));
    tl_lg_state_of(&s->sim->state)->pressure[b] = pressure;
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_set_velocity(talus_sim *s, int body, const double velocity[3], const double spin[3],
                                    talus_error *err)
{
    TL_NEED_SIM(s);
    tl_motion *m = NULL;
    TL_TRY(find_body(s, body, TL_BODY_FREE, "a velocity", &m, err));
    if (velocity) TL_TRY(tl_need_finite("the velocity of body", body, 3, velocity, err));
    if (spin) TL_TRY(tl_need_finite("the spin of body", body, 3, spin, err));
    for (int b = 0; b < s->sim->lg.bodies; b++) { /* an elastic body: of all its nodes */
        tl_vec3 v = velocity ? vec3(velocity) : m->v, w = spin ? vec3(spin) : m->w;
        if (s->sim->lg.body[b].body != body) continue;
        tl_lg_set_velocity(&s->sim->lg, tl_lg_state_of(&s->sim->state), &s->sim->lg.body[b], velocity ? &v : NULL,
                           spin ? &w : NULL);
    }
    if (velocity) m->v = vec3(velocity);
    if (spin) m->w = vec3(spin);
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_set_pose(talus_sim *s, int body, const double position[3], const double rotation[4],
                                talus_error *err)
{
    TL_NEED_SIM(s);
    tl_motion *m = NULL;
    TL_TRY(find_body(s, body, TL_BODY_KINEMATIC, "a pose", &m, err));
    if (s->sim->scene->bodies[body].motion != TL_NO_FUNCTION)
        return TL_FAIL(err, TALUS_BAD_INPUT, "body %d (%.60s) moves by the scene's function of time, not by poses",
                       body, s->sim->scene->bodies[body].name);
    if (position) TL_TRY(tl_need_finite("the position of body", body, 3, position, err));
    tl_quat q = m->goal.rotation;
    if (rotation) TL_NEED_ROTATION("body", body, rotation, &q);
    const tl_pose was = m->goal;
    if (position) m->goal.at = vec3(position);
    m->goal.rotation = q;
    for (int b = 0; b < s->sim->lg.bodies; b++) /* an elastic body: its anchor is led there */
        if (s->sim->lg.body[b].body == body) tl_lg_lead_body(tl_lg_state_of(&s->sim->state), b, &was, &m->goal);
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_set_handle(talus_sim *s, int handle, const double position[3], const double rotation[4],
                                  talus_error *err)
{
    TL_NEED_SIM(s);
    const tl_scene *scene = s->sim->scene;
    tl_lg_state *lg = tl_lg_state_of(&s->sim->state);
    const bool there = lg && lg->handles == s->sim->lg.bodies + scene->handle_count;
    TL_TRY(tl_need_index("handle", handle, there ? scene->handle_count : 0, err));
    const tl_handle *asked = &scene->handles[handle];
    if (asked->motion != TL_NO_FUNCTION)
        return TL_FAIL(err, TALUS_BAD_INPUT, "handle %d moves by the scene's function of time, not by poses", handle);
    double *was = lg->led + 14 * (int64_t)(s->sim->lg.bodies + handle), *next = was + 7, to[7];
    const double start[7] = {asked->at.x, asked->at.y, asked->at.z, 1, 0, 0, 0};
    const bool led = next[3] != 0 || next[4] != 0 || next[5] != 0 || next[6] != 0;
    memcpy(to, led ? next : start, sizeof to);
    if (position) memcpy(to, position, 3 * sizeof *to);
    if (rotation) memcpy(to + 3, rotation, 4 * sizeof *to);
    tl_quat q;
    TL_TRY(tl_need_finite("the position of handle", handle, 3, to, err));
    TL_NEED_ROTATION("handle", handle, to + 3, &q);
    if (!led) memcpy(was, start, sizeof start);
    memcpy(next, (const double[7]){to[0], to[1], to[2], q.w, q.x, q.y, q.z}, 7 * sizeof *next);
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_set_cable(talus_sim *s, int cable, double length, talus_error *err)
{
    TL_NEED_SIM(s);
    tl_lg_state *lg = tl_lg_state_of(&s->sim->state);
    const int64_t cables = lg ? lg->cables : 0;
    TL_TRY(tl_need_index("cable", cable, cables, err));
    if (s->sim->scene->cables[cable].length.function != TL_NO_FUNCTION)
        return TL_FAIL(err, TALUS_BAD_INPUT, "cable %d has the length of the scene's function of time", cable);
    if (!(length >= 0 && isfinite(length)))
        return TL_FAIL(err, TALUS_BAD_INPUT, "the length of cable %d must be finite and not negative, got %g", cable,
                       length);
    lg->length[cable] = length;
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_set_motor(talus_sim *s, int joint, double target, talus_error *err)
{
    TL_NEED_SIM(s);
    tl_joint_state *state = tl_state_find(&s->sim->state, &tl_joints_kind);
    TL_TRY(tl_need_index("joint", joint, state ? state->count : 0, err));
    if (s->sim->scene->joints[joint].motor.kind == TL_MOTOR_NONE)
        return TL_FAIL(err, TALUS_BAD_INPUT, "joint %d (\"%.60s\") has no motor", joint,
                       s->sim->scene->joints[joint].name);
    if (isinf(target))
        return TL_FAIL(err, TALUS_BAD_INPUT, "the target of the motor of joint %d must be finite, got %g", joint,
                       target);
    state->joint[joint].driven = isnan(target) ? 0 : 1;
    state->joint[joint].target = isnan(target) ? 0 : target;
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_place(talus_sim *s, int body, const double position[3], const double rotation[4],
                             talus_error *err)
{
    TL_NEED_SIM(s);
    tl_motion *m = NULL;
    TL_TRY(find_body(s, body, TL_BODY_FREE, "a place", &m, err));
    const tl_rigid_body *b = &s->sim->rigid.body[body];
    if (b->elastic) return TL_FAIL(err, TALUS_BAD_INPUT, "body %d is elastic: its nodes have places", body);
    tl_pose pose = tl_rigid_pose(b, m);
    if (position) TL_TRY(tl_need_finite("the position of body", body, 3, position, err));
    if (rotation) TL_NEED_ROTATION("body", body, rotation, &pose.rotation);
    if (position) pose.at = vec3(position);
    m->q = pose.rotation;
    m->x = tl_vec3_add(pose.at, tl_quat_rotate(m->q, b->centre));
    s->generation++;
    return TALUS_OK;
}

/* ---- what a scene gives as constants ---- */

static talus_status set(talus_sim *s, tl_setting_kind kind, int index, int key, const double *value, talus_error *err)
{
    TL_TRY(tl_driven_set(tl_driven_of(&s->sim->state), kind, index, key, value, err));
    tl_sim_apply(s);
    tl_grid_state *g = tl_grid_state_of(&s->sim->state);
    if (g && g->totals) g->totals->measured = 0; /* energies were those of the gravity of before */
    s->generation++;
    return TALUS_OK;
}

talus_status talus_sim_set_gravity(talus_sim *s, const double gravity[3], talus_error *err)
{
    TL_NEED_SIM(s);
    TL_NEED(gravity);
    TL_TRY(tl_need_finite("gravity", 0, 3, gravity, err));
    return set(s, TL_SET_GRAVITY, 0, 0, gravity, err);
}

talus_status talus_sim_set_friction(talus_sim *s, int body, double friction, talus_error *err)
{
    TL_NEED_SIM(s);
    TL_TRY(tl_need_index("body", body, s->scene->body_count, err));
    TL_TRY(tl_need_finite("the friction of body", body, 1, &friction, err));
    return set(s, TL_SET_FRICTION, body, 0, friction < 0 ? NULL : (const double[3]){friction, 0, 0}, err);
}

talus_status talus_sim_set_rate(talus_sim *s, int emitter, double rate, talus_error *err)
{
    TL_NEED_SIM(s);
    TL_TRY(tl_need_index("emitter", emitter, s->scene->emitter_count, err));
    TL_TRY(tl_need_finite("the rate of emitter", emitter, 1, &rate, err));
    return set(s, TL_SET_RATE, emitter, 0, rate < 0 ? NULL : (const double[3]){rate, 0, 0}, err);
}

static talus_status find_number(const tl_material *m, const char *name, double value, int *key, talus_error *err)
{
    const tl_context *c = tl_schema_material(m->kind);
    for (*key = 0; *key < c->key_count && strcmp(c->keys[*key].name, name); ++*key)
        ;
    const tl_key *k = *key < c->key_count ? &c->keys[*key] : NULL;
    if (!k || (k->type != TL_NUMBER && k->type != TL_TIMED1))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s has no number \"%.40s\"", c->article, name);
    if (!tl_schema_in_range(k, value))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s of %s must be %s %g and at most %g, got %g", name, c->article,
                       k->range.above ? ">" : ">=", k->range.low, k->range.high, value);
    return TALUS_OK;
}

talus_status talus_sim_set_material(talus_sim *s, int material, const char *name, double value, talus_error *err)
{
    int key;
    tl_scene *scene;
    TL_NEED_SIM(s);
    TL_TRY(tl_need_outside(s, __func__, err));
    TL_NEED(name);
    TL_TRY(tl_need_index("material", material, s->scene->material_count, err));
    TL_TRY(tl_need_finite("the number of material", material, 1, &value, err));
    TL_TRY(find_number(&s->scene->materials[material], name, value, &key, err));
    tl_driven *d = tl_driven_of(&s->sim->state), next = *d;
    next.setting = TL_NEW(tl_setting, d->settings + 1);
    if (!next.setting) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a setting");
    if (d->settings) memcpy(next.setting, d->setting, sizeof *d->setting * (size_t)d->settings);
    next.room = d->settings + 1; /* so that nothing is allocated below */
    talus_status status = tl_driven_set(&next, TL_SET_MATERIAL, material, key, (const double[3]){value, 0, 0}, err);
    if (status == TALUS_OK) status = tl_sim_scene_for(s, &next, &scene, err);
    if (status == TALUS_OK) status = tl_sim_replace(s, scene, &next, NULL, NULL, err);
    tl_free(next.setting);
    return status;
}
