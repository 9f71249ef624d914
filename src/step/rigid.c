/* The step of rigid bodies: the grid engine where nothing flows. */
#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "model/rigid/motion.h"
#include "step/engines.h"

typedef struct rigid_step {
    tl_sim *sim;
    const tl_scene *scene;
    const tl_rigid *rigid;
    double dt;
    tl_motion *body; /* [scene_count] the state that is to be */
} rigid_step;

/* ---- begin and end ---- */

static talus_status begin(tl_sim *sim, talus_error *err)
{
    const tl_scene *s = sim->scene;
    if (s->fill_count || s->emitter_count)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "%.200s: fills and emitters cannot be run yet: engine \"grid\" has rigid bodies only so far",
                       s->file ? s->file : "scene");
    for (int i = 0; i < s->body_count; i++)
        if (s->bodies[i].material >= 0 && s->materials[s->bodies[i].material].kind == TL_MATERIAL_ELASTIC)
            return TL_FAIL(
                err, TALUS_UNSUPPORTED,
                "%.200s: body \"%.60s\" is elastic and cannot be run yet: engine \"grid\" has rigid bodies only so far",
                s->file ? s->file : "scene", s->bodies[i].name);
    TL_TRY(tl_rigid_create(&sim->rigid, s, err));
    return tl_rigid_state_begin(&sim->state.rigid, &sim->rigid, s, err);
}

static void end(tl_sim *sim) { (void)sim; }

static double dt_wanted(const tl_sim *sim)
{
    (void)sim;
    return INFINITY;
}

/* ---- phases ---- */

static talus_status begin_step(rigid_step *s, tl_sim *sim, double dt, talus_error *err)
{
    *s = (rigid_step){.sim = sim, .scene = sim->scene, .rigid = &sim->rigid, .dt = dt};
    s->body = TL_TAKE(&sim->arena, tl_motion, sim->rigid.scene_count);
    if (!s->body) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of %d bodies", sim->rigid.scene_count);
    memcpy(s->body, sim->state.rigid.body, sizeof *s->body * (size_t)sim->rigid.scene_count);
    return TALUS_OK;
}

/* Velocity that leads exactly to the scripted pose at the end of the step. */
static talus_status follow_script(const rigid_step *s, int32_t i, tl_motion *m, talus_error *err)
{
    const tl_body *b = &s->scene->bodies[i];
    tl_pose to = m->goal;
    if (b->motion != TL_NO_FUNCTION) {
        double p[7];
        TL_TRY(tl_scene_evaluate(s->scene, b->motion, s->sim->state.t + s->dt, p, 7, err));
        to = (tl_pose){{p[0], p[1], p[2]}, tl_quat_normalize((tl_quat){p[3], p[4], p[5], p[6]})};
    }
    m->goal = to;
    m->v = tl_vec3_scale(1 / s->dt, tl_vec3_sub(to.at, m->x));
    m->w = tl_vec3_scale(1 / s->dt, tl_quat_difference(m->q, to.rotation));
    return TALUS_OK;
}

/* v + dt (gravity, forces), without contacts. Functions of time are read here and nowhere else. */
static talus_status predict_velocities(rigid_step *s, talus_error *err)
{
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        const tl_rigid_body *b = &s->rigid->body[i];
        const tl_body *asked = &s->scene->bodies[i];
        tl_motion *m = &s->body[i];
        if (b->kind == TL_BODY_KINEMATIC) TL_TRY(follow_script(s, i, m, err));
        if (b->kind != TL_BODY_FREE) continue;
        double f[3], torque[3];
        TL_TRY(tl_scene_timed(s->scene, &asked->force, s->sim->state.t, f, 3, err));
        TL_TRY(tl_scene_timed(s->scene, &asked->torque, s->sim->state.t, torque, 3, err));
        tl_vec3 force = tl_vec3_add(m->force, tl_vec3_load(f)), turn = tl_vec3_add(m->torque, tl_vec3_load(torque));
        m->v = tl_vec3_add_scaled(tl_vec3_add_scaled(m->v, s->dt, s->scene->gravity), s->dt / b->mass, force);
        m->w = tl_vec3_add_scaled(m->w, s->dt, tl_mat3_mul_vec(tl_rigid_inverse_inertia(b, m->q), turn));
    }
    return TALUS_OK;
}

static bool finite3(tl_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static talus_status move_bodies(rigid_step *s, talus_error *err)
{
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        const tl_rigid_body *b = &s->rigid->body[i];
        tl_motion *m = &s->body[i];
        if (b->kind == TL_BODY_FREE) {
            tl_rigid_fly(b, s->dt, m);
        } else {
            m->x = m->goal.at;
            m->q = m->goal.rotation;
        }
        if (!finite3(m->x) || !finite3(m->v) || !finite3(m->w) || !isfinite(tl_quat_norm2(m->q)))
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "body \"%.60s\" left the numbers: place (%g, %g, %g) m, velocity (%g, %g, %g) m/s, spin "
                           "(%g, %g, %g) rad/s",
                           s->scene->bodies[i].name, m->x.x, m->x.y, m->x.z, m->v.x, m->v.y, m->v.z, m->w.x, m->w.y,
                           m->w.z);
    }
    return TALUS_OK;
}

static void fill_report(const rigid_step *s)
{
    tl_report *r = &s->sim->report;
    *r = (tl_report){.force_balance = NAN};
    tl_rigid_measures now = tl_rigid_measure(s->rigid, s->body, s->scene->gravity);
    r->kinetic = now.kinetic;
    r->potential = now.potential;
    r->momentum = now.momentum;
    r->angular_momentum = now.angular_momentum;
    r->fastest = now.fastest;
}

static void commit(const rigid_step *s)
{
    fill_report(s);
    memcpy(s->sim->state.rigid.body, s->body, sizeof *s->body * (size_t)s->rigid->scene_count);
}

static talus_status step(tl_sim *sim, double dt, bool *again, talus_error *err)
{
    rigid_step s;
    *again = false;
    TL_TRY(begin_step(&s, sim, dt, err));
    TL_TRY(predict_velocities(&s, err));
    TL_TRY(move_bodies(&s, err));
    commit(&s);
    return TALUS_OK;
}

const tl_engine_entry tl_engine_grid = {"grid", begin, end, dt_wanted, step};
