/* Driving: forces, velocities, poses, handles, cables; what a scene gives as constants; what comes and goes. */
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
    if (position) m->goal.at = vec3(position);
    m->goal.rotation = q;
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
    if (status == TALUS_OK) status = tl_sim_replace(s, scene, &next, NULL, err);
    tl_free(next.setting);
    return status;
}

/* ---- bodies that come and go ---- */

/* What is driven when bodies are those of `from`; friction goes along with them. */
static talus_status driven_for(const talus_sim *s, int bodies, const int32_t *from, int like, tl_driven *out,
                               talus_error *err)
{
    const tl_driven *d = tl_driven_of(&s->sim->state);
    *out = (tl_driven){.bodies = bodies, .origin = TL_NEW(int32_t, bodies + 1)};
    if (!out->origin) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for other bodies");
    for (int i = 0; i < bodies; i++) out->origin[i] = d->origin[from[i] >= 0 ? from[i] : like];
    for (int64_t k = 0; k < d->settings; k++) {
        const tl_setting *x = &d->setting[k];
        if (x->kind != TL_SET_FRICTION) {
            TL_TRY(tl_driven_set(out, (tl_setting_kind)x->kind, x->index, x->key, x->value, err));
            continue;
        }
        for (int i = 0; i < bodies; i++)
            if ((from[i] >= 0 ? from[i] : like) == x->index)
                TL_TRY(tl_driven_set(out, TL_SET_FRICTION, i, 0, x->value, err));
    }
    return TALUS_OK;
}

/* place: of a body that begins, the last one; NULL: none does. */
static talus_status change_bodies(talus_sim *s, int bodies, const int32_t *from, int like, const tl_body *place,
                                  talus_error *err)
{
    tl_driven next;
    tl_scene *scene;
    talus_status status = driven_for(s, bodies, from, like, &next, err);
    if (status == TALUS_OK) status = tl_sim_scene_for(s, &next, &scene, err);
    if (status == TALUS_OK && place) {
        tl_body *b = &scene->bodies[bodies - 1];
        b->at = place->at, b->rotation = place->rotation, b->velocity = place->velocity, b->spin = place->spin;
    }
    if (status == TALUS_OK) status = tl_sim_replace(s, scene, &next, from, err);
    tl_driven_kind.free(&next);
    return status;
}

static talus_status need_rigid(const talus_sim *s, int body, const char *what, talus_error *err)
{
    if (s->scene->joint_count)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "bodies cannot be %s in a scene with joints, which go by their numbers",
                       what);
    TL_TRY(tl_need_index("body", body, s->scene->body_count, err));
    if (!s->sim->rigid.body[body].elastic) return TALUS_OK;
    return TL_FAIL(err, TALUS_UNSUPPORTED, "body %d (%.60s) is elastic: only rigid bodies can be %s", body,
                   s->scene->bodies[body].name, what);
}

talus_status talus_sim_add_body(talus_sim *s, int like, const double position[3], const double rotation[4],
                                const double velocity[3], const double spin[3], int *body, talus_error *err)
{
    TL_NEED_SIM(s);
    TL_TRY(tl_need_outside(s, __func__, err));
    TL_NEED(position);
    TL_TRY(need_rigid(s, like, "added", err));
    tl_body place = s->scene->bodies[like];
    place.rotation = (tl_quat){1, 0, 0, 0};
    place.velocity = place.spin = (tl_vec3){0, 0, 0};
    TL_TRY(tl_need_finite("the position of a copy of body", like, 3, position, err));
    if (rotation) TL_NEED_ROTATION("a copy of body", like, rotation, &place.rotation);
    if (velocity) TL_TRY(tl_need_finite("the velocity of a copy of body", like, 3, velocity, err));
    if (spin) TL_TRY(tl_need_finite("the spin of a copy of body", like, 3, spin, err));
    if (place.motion != TL_NO_FUNCTION)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "body %d (%.60s) moves by the scene's function of time, a copy would be "
                       "in the same place",
                       like, place.name);
    place.at = vec3(position);
    if (velocity) place.velocity = vec3(velocity);
    if (spin) place.spin = vec3(spin);
    const int count = s->scene->body_count;
    int32_t *from = TL_NEW(int32_t, count + 1);
    if (!from) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for another body");
    for (int i = 0; i <= count; i++) from[i] = i < count ? i : -1;
    talus_status status = change_bodies(s, count + 1, from, like, &place, err);
    tl_free(from);
    if (status == TALUS_OK && body) *body = count;
    return status;
}

talus_status talus_sim_remove_body(talus_sim *s, int body, talus_error *err)
{
    TL_NEED_SIM(s);
    TL_TRY(tl_need_outside(s, __func__, err));
    TL_TRY(need_rigid(s, body, "removed", err));
    const int count = s->scene->body_count - 1;
    int32_t *from = TL_NEW(int32_t, count + 1);
    if (!from) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for other bodies");
    for (int i = 0; i < count; i++) from[i] = i < body ? i : i + 1;
    talus_status status = change_bodies(s, count, from, -1, NULL, err);
    tl_free(from);
    return status;
}

/* ---- particles that come and go ---- */

typedef struct newcomers {
    int material;
    int64_t count;
    const double *position, *velocity, *volume;
} newcomers;

static talus_status check_newcomers(const talus_sim *s, const newcomers *n, talus_error *err)
{
    const tl_scene *scene = s->scene;
    bool flows = false;
    TL_TRY(tl_need_index("material", n->material, scene->material_count, err));
    for (int i = 0; i < scene->fill_count; i++) flows |= scene->fills[i].material == n->material;
    for (int i = 0; i < scene->emitter_count; i++) flows |= scene->emitters[i].material == n->material;
    if (!flows)
        return TL_FAIL(err, TALUS_BAD_INPUT, "particles of material %d: the scene neither fills nor emits it",
                       n->material);
    for (int64_t i = 0; i < n->count; i++) {
        TL_TRY(tl_need_finite("the position of particle", i, 3, n->position + 3 * i, err));
        if (n->velocity) TL_TRY(tl_need_finite("the velocity of particle", i, 3, n->velocity + 3 * i, err));
        if (n->volume && !(n->volume[i] > 0 && isfinite(n->volume[i])))
            return TL_FAIL(err, TALUS_BAD_INPUT, "the volume of particle %lld must be > 0, got %g", (long long)i,
                           n->volume[i]);
        const double *x = n->position + 3 * i;
        const tl_box3 *box = &scene->domain.box;
        if (scene->domain.bounded && !(x[0] >= box->lo.x && x[0] <= box->hi.x && x[1] >= box->lo.y &&
                                       x[1] <= box->hi.y && x[2] >= box->lo.z && x[2] <= box->hi.z))
            return TL_FAIL(err, TALUS_BAD_INPUT, "particle %lld at (%g, %g, %g) is outside of the domain", (long long)i,
                           x[0], x[1], x[2]);
    }
    return TALUS_OK;
}

static double spacing_of(const tl_scene *s, int material)
{
    for (int i = 0; i < s->fill_count; i++)
        if (s->fills[i].material == material) return tl_spacing_of(s, s->fills[i].spacing);
    for (int i = 0; i < s->emitter_count; i++)
        if (s->emitters[i].material == material) return tl_spacing_of(s, s->emitters[i].spacing);
    return 0;
}

static talus_status no_room(talus_error *err)
{
    return TL_FAIL(err, TALUS_UNSUPPORTED, "ids of particles would pass %d", INT32_MAX);
}

static talus_status add_to_grid(talus_sim *s, tl_grid_state *g, const newcomers *n, int64_t *first, talus_error *err)
{
    const tl_grid_frame *f = &((const tl_grid_data *)s->sim->engine_data)->flow.frame;
    const double own = tl_particle_volume(f, spacing_of(s->scene, n->material));
    if (g->totals->next_id + (double)n->count > INT32_MAX) return no_room(err);
    TL_TRY(tl_particles_reserve(&g->particles, g->particles.count + n->count, err));
    *first = (int64_t)g->totals->next_id;
    for (int64_t i = 0; i < n->count; i++) {
        tl_particle p = {.x = tl_vec3_load(n->position + 3 * i),
                         .volume = n->volume ? n->volume[i] : own,
                         .id = (int32_t)(*first + i),
                         .material = n->material};
        if (n->velocity) p.v = tl_vec3_load(n->velocity + 3 * i);
        g->particles.particle[g->particles.count++] = p;
        g->totals->initial_volume += p.volume;
    }
    g->totals->next_id += (double)n->count;
    g->totals->measured = 0;
    return TALUS_OK;
}

static talus_status add_to_sph(talus_sim *s, tl_sph_state *f, const newcomers *n, int64_t *first, talus_error *err)
{
    (void)s;
    if (n->volume)
        return TL_FAIL(err, TALUS_BAD_INPUT, "particles of engine \"sph\" have one volume, none can be given");
    if (f->counter->next_id + n->count > INT32_MAX) return no_room(err);
    TL_TRY(tl_sph_state_reserve(f, f->count + n->count, f->memories, err));
    *first = f->counter->next_id;
    for (int64_t i = 0; i < n->count; i++) {
        tl_sph_particle p = {
            .x = tl_vec3_load(n->position + 3 * i), .id = (int32_t)(*first + i), .material = n->material};
        if (n->velocity) p.v = tl_vec3_load(n->velocity + 3 * i);
        f->particle[f->count++] = p;
    }
    f->counter->next_id += n->count;
    return TALUS_OK;
}

static talus_status nothing_flows(talus_error *err)
{
    return TL_FAIL(err, TALUS_BAD_INPUT, "nothing flows in this simulation: it has no particles");
}

talus_status talus_sim_add_particles(talus_sim *s, int material, int64_t count, const double *position,
                                     const double *velocity, const double *volume, int64_t *first, talus_error *err)
{
    TL_NEED_SIM(s);
    if (count < 0) return TL_FAIL(err, TALUS_BAD_INPUT, "%lld particles cannot be added", (long long)count);
    if (count > 0) TL_NEED(position);
    const newcomers n = {material, count, position, velocity, volume};
    tl_grid_state *g = tl_grid_state_of(&s->sim->state);
    tl_sph_state *f = tl_sph_state_of(&s->sim->state);
    int64_t begin = 0;
    if (!g && !f) return nothing_flows(err);
    TL_TRY(check_newcomers(s, &n, err));
    TL_TRY(g ? add_to_grid(s, g, &n, &begin, err) : add_to_sph(s, f, &n, &begin, err));
    if (first) *first = begin;
    s->generation++;
    return TALUS_OK;
}

static int by_id(const void *a, const void *b)
{
    const int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    return (i > j) - (i < j);
}

static bool is_listed(const int32_t *sorted, int64_t count, int32_t id)
{
    return bsearch(&id, sorted, (size_t)count, sizeof id, by_id) != NULL;
}

/* Ids in order, each of which is there and named once. */
static talus_status sort_ids(talus_sim *s, int64_t count, const int32_t *id, int32_t *sorted, talus_error *err)
{
    const tl_rows rows = tl_sim_rows(s->sim, "particles.id");
    int64_t there = 0;
    memcpy(sorted, id, sizeof *id * (size_t)count);
    qsort(sorted, (size_t)count, sizeof *sorted, by_id);
    for (int64_t i = 1; i < count; i++)
        if (sorted[i] == sorted[i - 1])
            return TL_FAIL(err, TALUS_BAD_INPUT, "particle %d is named twice", (int)sorted[i]);
    for (int64_t i = 0; i < rows.count; i++)
        there += is_listed(sorted, count, *(const int32_t *)((const char *)rows.data + rows.stride * (size_t)i));
    if (there < count)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%lld of the %lld particles to be removed are not there",
                       (long long)(count - there), (long long)count);
    return TALUS_OK;
}

static void remove_listed(talus_sim *s, int64_t count, const int32_t *sorted)
{
    tl_grid_state *g = tl_grid_state_of(&s->sim->state);
    tl_sph_state *f = tl_sph_state_of(&s->sim->state);
    int64_t kept = 0;
    for (int64_t i = 0; g && i < g->particles.count; i++) {
        const tl_particle p = g->particles.particle[i];
        if (is_listed(sorted, count, p.id))
            g->totals->initial_volume -= p.volume;
        else
            g->particles.particle[kept++] = p;
    }
    for (int64_t i = 0; f && i < f->count; i++)
        if (!is_listed(sorted, count, f->particle[i].id)) f->particle[kept++] = f->particle[i];
    if (g) g->particles.count = kept, g->totals->measured = 0;
    if (f) f->count = kept;
}

talus_status talus_sim_remove_particles(talus_sim *s, int64_t count, const int32_t *id, talus_error *err)
{
    TL_NEED_SIM(s);
    if (count < 0) return TL_FAIL(err, TALUS_BAD_INPUT, "%lld particles cannot be removed", (long long)count);
    if (count > 0) TL_NEED(id);
    if (!tl_grid_state_of(&s->sim->state) && !tl_sph_state_of(&s->sim->state)) return nothing_flows(err);
    if (count == 0) return TALUS_OK;
    int32_t *sorted = TL_NEW(int32_t, count);
    if (!sorted) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld ids", (long long)count);
    talus_status status = sort_ids(s, count, id, sorted, err);
    if (status == TALUS_OK) {
        remove_listed(s, count, sorted);
        s->generation++;
    }
    tl_free(sorted);
    return status;
}
