#include "model/lg/contact.h"
#include <math.h>

talus_status tl_lg_detect(const tl_lg_view *v, tl_arena *a, tl_lg_contacts *out, talus_error *err)
{
    *out = (tl_lg_contacts){.margin = 0.05};
    int32_t most = 0;
    for (int32_t i = 0; i < v->rigid->scene_count; i++)
        if (!v->rigid->body[i].elastic) most += v->lg->nodes;
    out->contact = TL_TAKE(a, tl_lg_contact, most);
    if (!out->contact) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory");
    for (int32_t b = 0; b < v->rigid->scene_count; b++) {
        if (v->rigid->body[b].elastic) continue;
        const tl_body *sb = &v->scene->bodies[b];
        bool free_body = v->rigid->body[b].kind == TL_BODY_FREE;
        for (int32_t i = 0; i < v->lg->nodes; i++) {
            tl_vec3 to = tl_vec3_load(v->to + 3 * (int64_t)i), from = tl_vec3_load(v->from + 3 * (int64_t)i);
            const tl_pose *pose = free_body ? &v->before[b] : &v->after[b];
            tl_vec3 x = tl_pose_to_local(pose, from);
            double d = tl_shape_distance(v->scene->shapes, sb->shape, x);
            double margin = 0.01 + 2 * tl_vec3_norm(tl_vec3_sub(to, from));
            if (d > margin) continue;
            tl_vec3 n = tl_shape_gradient(v->scene->shapes, sb->shape, x);
            n = tl_vec3_normalize(tl_quat_rotate(pose->rotation, n));
            int32_t owner = v->lg->body[v->lg->owner[i]].body;
            double own[2] = {v->friction[owner], v->friction[b]}, mu, e;
            tl_scene_pair(v->scene, owner, b, own, &mu, &e);
            tl_vec3 at = tl_vec3_add_scaled(from, -d, n);
            tl_vec3 local = tl_pose_to_local(&v->after[b], at);
            tl_vec3 drag = {0, 0, 0};
            if (!free_body) drag = tl_vec3_scale(1 / v->h, tl_vec3_sub(at, tl_pose_apply(&v->before[b], local)));
            out->contact[out->count++] = (tl_lg_contact){.a = {{i, -1, -1, -1}, {1, 0, 0, 0}},
                                                         .b = {{-1, -1, -1, -1}, {0}},
                                                         .rigid = free_body ? b : -1,
                                                         .body_a = owner,
                                                         .body_b = b,
                                                         .point = i,
                                                         .obstacle = b,
                                                         .feature = 0,
                                                         .at = at,
                                                         .normal = n,
                                                         .drag = drag,
                                                         .offset = tl_vec3_dot(n, at),
                                                         .mu = mu};
        }
    }
    return TALUS_OK;
}
