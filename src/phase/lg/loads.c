#include "phase/lg/step.h"

/* A force and a torque on an elastic body accelerate it as if it were rigid: no part of it is pulled more than
 * others. */
static talus_status push_body(tl_lg_step *s, int b, talus_error *err)
{
    const tl_lg_body *body = &s->lg->body[b];
    const tl_motion *m = &s->sim->state.rigid.body[body->body];
    const tl_body *asked = &s->scene->bodies[body->body];
    double f[3], t[3];
    TL_TRY(tl_scene_timed(s->scene, &asked->force, s->sim->state.t, f, 3, err));
    TL_TRY(tl_scene_timed(s->scene, &asked->torque, s->sim->state.t, t, 3, err));
    tl_vec3 force = tl_vec3_add(m->force, tl_vec3_load(f)), torque = tl_vec3_add(m->torque, tl_vec3_load(t));
    if (tl_vec3_norm2(force) == 0 && tl_vec3_norm2(torque) == 0) return TALUS_OK;
    const tl_lg_state *nodes = s->now;
    tl_lg_whole now = tl_lg_whole_of(s->lg, body, nodes->q, nodes->v);
    if (!(now.mass > 0)) return TALUS_OK;
    tl_vec3 turn = tl_mat3_mul_vec(now.inverse, torque);
    for (int64_t i = body->node; i < body->node + body->nodes; i++) {
        tl_vec3 r = tl_vec3_sub(tl_vec3_load(nodes->q + 3 * i), now.centre),
                a = tl_vec3_add_scaled(tl_vec3_cross(turn, r), 1 / now.mass, force);
        tl_vec3_store(tl_vec3_add(tl_vec3_load(s->accel + 3 * i), a), s->accel + 3 * i);
    }
    s->pushed[b] = true;
    return TALUS_OK;
}

/* Forces on single nodes, from code. */
static void push_nodes(tl_lg_step *s)
{
    const double *push = s->now->push;
    for (int32_t i = 0; i < s->lg->nodes; i++)
        for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++) {
            if (push[k] == 0) continue;
            s->accel[k] += push[k] / s->lg->mass[i];
            s->pushed[s->lg->owner[i]] = true;
        }
}

/* Forces of pressure are those of the end of the step, where its surfaces are to be. */
static talus_status find_pressure(tl_lg_step *s, talus_error *err)
{
    const tl_lg *lg = s->lg;
    double *p = TL_TAKE_ZERO(s->arena, double, lg->bodies + 1);
    if (!p) return tl_lg_no_memory(err);
    for (int b = 0; b < lg->bodies; b++) {
        TL_TRY(tl_scene_timed(s->scene, &s->scene->bodies[lg->body[b].body].pressure, s->sim->state.t + s->h, &p[b], 1,
                              err));
        p[b] += s->now->pressure[b];
        if (p[b] == 0) continue;
        s->pressure = p;
        s->pushed[b] |= !lg->body[b].sealed;
    }
    s->newton.pressure = s->pressure;
    return TALUS_OK;
}

talus_status tl_lg_load(tl_lg_step *s, talus_error *err)
{
    const double g[3] = {s->scene->gravity.x, s->scene->gravity.y, s->scene->gravity.z};
    for (int64_t i = 0; i < 3 * (int64_t)s->lg->nodes; i++) s->accel[i] = g[i % 3];
    for (int b = 0; b < s->lg->bodies; b++) TL_TRY(push_body(s, b, err));
    push_nodes(s);
    return find_pressure(s, err);
}
