/* Grips of elastic bodies: how frames follow nodes against differences, forces and torques that they hand on. */
#include "check.h"

#include "model/lg/grips.h"

#include "base/random.h"

enum { NODES = 9 };

typedef struct sample {
    int32_t node[NODES];
    double weight[NODES], q[3 * NODES], v[3 * NODES];
    tl_vec3 rest[NODES];
    tl_lg_grip grip;
} sample;

static double any(uint64_t *at) { return 2 * tl_random(7, (*at)++, 1) - 1; }

/* Nodes about a middle, turned and deformed by up to `strain`. flat: in one plane, as those of cloth. */
static void make(sample *s, double strain, bool flat, uint64_t seed)
{
    uint64_t at = 1000 * seed;
    double sum = 0;
    tl_vec3 middle = {0, 0, 0};
    const tl_quat turn = tl_quat_exp((tl_vec3){2 * any(&at), 2 * any(&at), 2 * any(&at)});
    for (int k = 0; k < NODES; k++) {
        s->node[k] = k;
        sum += s->weight[k] = 1.5 + any(&at);
        s->rest[k] = (tl_vec3){any(&at), any(&at), flat ? 0 : any(&at)};
    }
    for (int k = 0; k < NODES; k++) middle = tl_vec3_add_scaled(middle, s->weight[k] /= sum, s->rest[k]);
    for (int k = 0; k < NODES; k++) {
        s->rest[k] = tl_vec3_sub(s->rest[k], middle);
        const tl_vec3 off = {strain * any(&at), strain * any(&at), strain * any(&at)};
        tl_vec3_store(tl_vec3_add((tl_vec3){3, -2, 5}, tl_quat_rotate(turn, tl_vec3_add(s->rest[k], off))),
                      s->q + 3 * k);
        for (int i = 0; i < 3; i++) s->v[3 * k + i] = any(&at);
    }
    s->grip = (tl_lg_grip){.count = NODES, .node = s->node, .weight = s->weight, .rest = s->rest};
}

static void frames_turn_as_their_derivative_says(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        sample s;
        const double e = 1e-6;
        double there[2][3 * NODES];
        tl_vec3 v, w;
        make(&s, 0.3, seed % 2, seed);
        const tl_lg_grasp now = tl_lg_grip_at(&s.grip, s.q);
        tl_lg_grip_speed(&s.grip, &now, s.v, &v, &w);
        for (int k = 0; k < 3 * NODES; k++) there[0][k] = s.q[k] - e * s.v[k], there[1][k] = s.q[k] + e * s.v[k];
        const tl_lg_grasp a = tl_lg_grip_at(&s.grip, there[0]), b = tl_lg_grip_at(&s.grip, there[1]);
        const tl_vec3 dx = tl_vec3_scale(0.5 / e, tl_vec3_sub(b.x, a.x)),
                      dw = tl_vec3_scale(0.5 / e, tl_quat_difference(a.q, b.q));
        /* central differences: e^2 of the third derivative, and rounding over e */
        CHECK_LE(tl_vec3_norm(tl_vec3_sub(dx, v)), 1e-8);
        CHECK_LE(tl_vec3_norm(tl_vec3_sub(dw, w)), 1e-8 * (1 + tl_vec3_norm(w)));
    }
}

/* Whatever the deformation, nodes get the force and the torque, and no more; and their work is that of the frame. */
static void forces_are_handed_on_whole(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        sample s;
        make(&s, 0.5, seed % 2, 100 + seed);
        const tl_lg_grasp now = tl_lg_grip_at(&s.grip, s.q);
        const tl_vec3 force = {1, -2, 3}, torque = {-0.5, 4, 2};
        tl_vec3 sum = {0, 0, 0}, turn = sum, v, w;
        double work = 0;
        for (int k = 0; k < NODES; k++) {
            const tl_vec3 f = tl_lg_grip_share(&s.grip, &now, k, force, torque), x = tl_vec3_load(s.q + 3 * k);
            sum = tl_vec3_add(sum, f);
            turn = tl_vec3_add(turn, tl_vec3_cross(tl_vec3_sub(x, now.x), f));
            work += tl_vec3_dot(f, tl_vec3_load(s.v + 3 * k));
        }
        tl_lg_grip_speed(&s.grip, &now, s.v, &v, &w);
        CHECK_LE(tl_vec3_norm(tl_vec3_sub(sum, force)), 1e-13 * 4);
        CHECK_LE(tl_vec3_norm(tl_vec3_sub(turn, torque)), 1e-12 * 5);
        CHECK_LE(fabs(work - tl_vec3_dot(force, v) - tl_vec3_dot(torque, w)), 1e-12 * 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_turn_as_their_derivative_says),
        cmocka_unit_test(forces_are_handed_on_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
