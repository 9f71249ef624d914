#include "model/lg/whole.h"

#include "base/alloc.h"
#include "math/svd3.h"

#define FLAT 1e-9 /* of the largest moment of inertia, cubed: a line of nodes has no spin about itself */

tl_lg_whole tl_lg_whole_of(const tl_lg *lg, const tl_lg_body *b, const double *q, const double *v)
{
    tl_lg_whole w = {0};
    double xx[6] = {0};
    for (int64_t i = b->node; i < b->node + b->nodes; i++) {
        w.mass += lg->mass[i];
        w.centre = tl_vec3_add_scaled(w.centre, lg->mass[i], tl_vec3_load(q + 3 * i));
        w.v = tl_vec3_add_scaled(w.v, lg->mass[i], tl_vec3_load(v + 3 * i));
    }
    if (!(w.mass > 0)) return w;
    w.centre = tl_vec3_scale(1 / w.mass, w.centre);
    w.v = tl_vec3_scale(1 / w.mass, w.v);
    for (int64_t i = b->node; i < b->node + b->nodes; i++) {
        tl_vec3 r = tl_vec3_sub(tl_vec3_load(q + 3 * i), w.centre), u = tl_vec3_sub(tl_vec3_load(v + 3 * i), w.v);
        const double m = lg->mass[i];
        w.L = tl_vec3_add_scaled(w.L, m, tl_vec3_cross(r, u));
        xx[0] += m * r.x * r.x, xx[1] += m * r.y * r.y, xx[2] += m * r.z * r.z;
        xx[3] += m * r.x * r.y, xx[4] += m * r.y * r.z, xx[5] += m * r.z * r.x;
    }
    tl_mat3 I = {{{xx[1] + xx[2], -xx[3], -xx[5]}, {-xx[3], xx[2] + xx[0], -xx[4]}, {-xx[5], -xx[4], xx[0] + xx[1]}}};
    double size = I.m[0][0] + I.m[1][1] + I.m[2][2];
    if (!(tl_mat3_det(I) > FLAT * size * size * size) || !tl_mat3_inverse(I, &w.inverse)) w.inverse = tl_mat3_zero();
    w.spin = tl_mat3_mul_vec(w.inverse, w.L);
    return w;
}

tl_quat tl_lg_rotation_of(const tl_lg *lg, const tl_lg_body *b, const double *q, tl_vec3 *centre)
{
    double mass = 0;
    tl_vec3 now = {0, 0, 0};
    tl_mat3 A = tl_mat3_zero(), R;
    *centre = now;
    for (int64_t i = b->node; i < b->node + b->nodes; i++) {
        mass += lg->mass[i];
        now = tl_vec3_add_scaled(now, lg->mass[i], tl_vec3_load(q + 3 * i));
        *centre = tl_vec3_add_scaled(*centre, lg->mass[i], tl_vec3_load(lg->rest + 3 * i));
    }
    if (!(mass > 0)) return tl_quat_identity();
    now = tl_vec3_scale(1 / mass, now);
    *centre = tl_vec3_scale(1 / mass, *centre);
    for (int64_t i = b->node; i < b->node + b->nodes; i++) {
        tl_vec3 x = tl_vec3_sub(tl_vec3_load(q + 3 * i), now), r = tl_vec3_sub(tl_vec3_load(lg->rest + 3 * i), *centre);
        const double xs[3] = {x.x, x.y, x.z}, rs[3] = {r.x, r.y, r.z};
        for (int k = 0; k < 9; k++) A.m[k / 3][k % 3] += lg->mass[i] * xs[k / 3] * rs[k % 3];
    }
    tl_polar3(A, &R, NULL);
    return tl_quat_normalize(tl_quat_from_mat3(R));
}

talus_status tl_lg_give_centres(const tl_lg *lg, const tl_scene *s, tl_rigid *rigid, tl_rigid_state *start,
                                talus_error *err)
{
    tl_pose *pose = TL_NEW(tl_pose, lg->bodies + s->handle_count + 1);
    if (!pose) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the poses of elastic bodies");
    talus_status status = tl_lg_handle_poses(lg, s, 0, pose, err);
    for (int b = 0; b < lg->bodies && status == TALUS_OK; b++) {
        int32_t i = lg->body[b].body;
        tl_vec3 centre;
        if (i < 0 || !(lg->body[b].mass > 0)) continue;
        (void)tl_lg_rotation_of(lg, &lg->body[b], lg->rest, &centre);
        rigid->body[i].centre = tl_quat_rotate(tl_quat_conjugate(pose[b].rotation), tl_vec3_sub(centre, pose[b].at));
        start->body[i].x = centre;
    }
    tl_free(pose);
    return status;
}

void tl_lg_set_velocity(const tl_lg *lg, tl_lg_state *s, const tl_lg_body *b, const tl_vec3 *velocity,
                        const tl_vec3 *spin)
{
    tl_lg_whole now = tl_lg_whole_of(lg, b, s->q, s->v);
    tl_vec3 dv = velocity ? tl_vec3_sub(*velocity, now.v) : (tl_vec3){0, 0, 0},
            dw = spin ? tl_vec3_sub(*spin, now.spin) : (tl_vec3){0, 0, 0};
    const double h = s->step_before[0];
    for (int64_t i = b->node; i < b->node + b->nodes; i++) {
        tl_vec3 r = tl_vec3_sub(tl_vec3_load(s->q + 3 * i), now.centre), add = tl_vec3_add(dv, tl_vec3_cross(dw, r));
        tl_vec3_store(tl_vec3_add(tl_vec3_load(s->v + 3 * i), add), s->v + 3 * i);
        tl_vec3_store(tl_vec3_add(tl_vec3_load(s->v_before + 3 * i), add), s->v_before + 3 * i);
        tl_vec3_store(tl_vec3_add_scaled(tl_vec3_load(s->q_before + 3 * i), -h, add), s->q_before + 3 * i);
    }
}
