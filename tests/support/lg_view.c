#include "lg_view.h"

#include <string.h>

#include "base/alloc.h"
#include "check.h"

static talus_error err;

lg_look lg_look_open(const char *lua, const char *text)
{
    lg_look l = {.c = rigid_open(lua, "%s", text)};
    const tl_sim *sim = l.c.sim;
    int32_t n = sim->rigid.count;
    l.to = TL_NEW(double, 3 * (int64_t)sim->lg.nodes);
    l.before = TL_NEW(tl_pose, n + 1);
    l.after = TL_NEW(tl_pose, n + 1);
    l.body = TL_NEW_ZERO(tl_motion, n + 1);
    l.friction = TL_NEW_ZERO(double, n + 1);
    assert_true(l.to && l.before && l.after && l.body && l.friction);
    memcpy(l.to, tl_lg_state_of(&sim->state)->q, sizeof *l.to * 3 * (size_t)sim->lg.nodes);
    for (int32_t i = 0; i < n; i++) {
        bool wall = i >= sim->rigid.scene_count;
        l.before[i] = wall ? (tl_pose){{0, 0, 0}, tl_quat_identity()}
                           : tl_rigid_pose(&sim->rigid.body[i], &sim->state.rigid.body[i]);
        l.after[i] = l.before[i];
        if (!wall) l.body[i] = sim->state.rigid.body[i];
        l.friction[i] = wall ? sim->scene->domain.friction : sim->scene->bodies[i].friction.value[0];
    }
    return l;
}

void lg_look_move(lg_look *l, tl_vec3 by)
{
    const tl_sim *sim = l->c.sim;
    for (int32_t i = 0; i < sim->lg.nodes; i++)
        tl_vec3_store(tl_vec3_add(tl_vec3_load(tl_lg_state_of(&sim->state)->q + 3 * (int64_t)i), by),
                      l->to + 3 * (int64_t)i);
}

void lg_look_at(lg_look *l)
{
    const tl_sim *sim = l->c.sim;
    l->view = (tl_lg_view){.lg = &sim->lg,
                           .rigid = &sim->rigid,
                           .scene = sim->scene,
                           .from = tl_lg_state_of(&sim->state)->q,
                           .to = l->to,
                           .body = l->body,
                           .before = l->before,
                           .after = l->after,
                           .friction = l->friction,
                           .h = 0.01};
    tl_arena_reset(&l->arena);
    CHECK_OK(tl_lg_detect(&l->view, &l->arena, &l->found, &err));
}

void lg_look_close(lg_look *l)
{
    rigid_close(&l->c);
    tl_arena_free(&l->arena);
    tl_free(l->to);
    tl_free(l->before);
    tl_free(l->after);
    tl_free(l->body);
    tl_free(l->friction);
}

tl_vec3 lg_look_place(const tl_lg_point *p, const double *q)
{
    tl_vec3 x = {0, 0, 0};
    for (int k = 0; k < 4 && p->node[k] >= 0; k++)
        x = tl_vec3_add_scaled(x, p->weight[k], tl_vec3_load(q + 3 * (int64_t)p->node[k]));
    return x;
}

double lg_look_gap(const tl_lg_contact *c, const double *q)
{
    tl_vec3 a = lg_look_place(&c->a, q), b = c->b.node[0] >= 0 ? lg_look_place(&c->b, q) : (tl_vec3){0, 0, 0};
    return tl_vec3_dot(c->normal, tl_vec3_sub(a, b)) - c->offset;
}
