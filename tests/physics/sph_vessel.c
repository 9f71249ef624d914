/* Vessels that are bodies hold water: at rest, moved and tilted, free, sharp-edged; what stops a particle takes its
 * momentum. */
#include "check.h"

#include <stdio.h>

#include "base/parallel.h"
#include "model/sph/state.h"
#include "rigid.h"

#define H 0.02

/* Place of a particle in the frame of body 0. */
static tl_vec3 seen(const rigid_case *c, int64_t particle)
{
    tl_pose pose = tl_rigid_pose(&c->sim->rigid.body[0], &c->sim->state.rigid.body[0]);
    return tl_pose_to_local(&pose, tl_sph_state_of(&c->sim->state)->particle[particle].x);
}

/* Particles that are not inside of shape `hollow` of the scene, seen from body 0. */
static int count_outside(const rigid_case *c, int hollow)
{
    int outside = 0;
    for (int64_t i = 0; i < tl_sph_state_of(&c->sim->state)->count; i++)
        outside += tl_shape_distance(c->scene->shapes, hollow, seen(c, i)) > 0;
    return outside;
}

/* The nearest that any particle is to the surface of body 0, in H. */
static double nearest(const rigid_case *c)
{
    double least = INFINITY;
    for (int64_t i = 0; i < tl_sph_state_of(&c->sim->state)->count; i++)
        least = fmin(least, tl_shape_distance(c->scene->shapes, c->scene->bodies[0].shape, seen(c, i)) / H);
    return least;
}

/* Mean compression of liquid: stops that had to hold it alone would crush it. At rest it is 5e-5. */
#define PACKED 3e-3

/* Samples are half a spacing below the surface, liquid stops a quarter before them; the rest is what bodies move
 * back by. */
#define STOP (-0.25 - 1e-3)

/* A cup of walls two spacings thick, open above, rocked and carried about; 864 particles. The last body is a marker:
 * its shape is the room inside of the cup and well above it. */
static const char cup[] =
    "function rock(t) local s = 0.5 * (1 - math.cos(5 * t)); return { at = {0.2 * s, 0.03 * math.sin(8 * t) ^ 2, 0}, "
    "rotation_rad = {0.1 * s, 0.6 * s, 0.35 * s} } end\n"
    "hollow = box { size = {0.24, 0.6, 0.24}, center = {0, 0.16, 0} }\n"
    "room = box { size = {0.28, 0.64, 0.28}, center = {0, 0.16, 0} }\n"
    "cup = box { size = {0.32, 0.36, 0.32} } - hollow\n";
#define WATER                                                                                                          \
    "fill = { { material = liquid { density = 1000 }, sampling = 'lattice', shape = box { size = {0.24, 0.12, 0.24}, " \
    "center = {0, -0.08, 0} } } },\n"

static void a_rocked_cup(void **state)
{
    (void)state;
    static const char *const motions[] = {"motion = rock", "kind = 'static'"};
    for (int k = 0; k < 2; k++) {
        rigid_case c = rigid_open(cup,
                                  "engine = 'sph', dt_max = 2e-3, sph = { spacing = 0.02 },\n" WATER
                                  "bodies = { { name = 'cup', shape = cup, %s },\n"
                                  "  { name = 'marker', kind = 'static', shape = room, at = {9, 0, 0} } }",
                                  motions[k]);
        int64_t all = tl_sph_state_of(&c.sim->state)->count;
        assert_true(all > 800);
        double least = 0;
        while (c.sim->state.t < (k ? 0.15 : 0.5)) {
            rigid_step(&c, 0);
            least = fmin(least, nearest(&c));
        }
        assert_int_equal(count_outside(&c, c.scene->bodies[1].shape), 0);
        assert_int_equal(tl_sph_state_of(&c.sim->state)->count, all);
        CHECK_LE(c.sim->report.compression, PACKED);
        CHECK_LE(STOP, least);
        rigid_close(&c);
    }
}

/* A closed hollow letter of irregular samples, half full, tumbles freely: nothing leaves it, and liquid and letter
 * keep their momentum together. */
static const char letter[] =
    "function prism(points) local profile = {} for i, q in ipairs(points) do profile[i] = {(q[1] - 1) * 0.2, (q[2] - "
    "1.5) * 0.2} end return extrude { profile = profile, height = 0.2, rotation_deg = {-90, 0, 0} } end\n"
    "block = prism { {0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 3}, {0, 3} }\n"
    "hollow = shell { block, thickness = 0.04 }\n";

typedef struct balance {
    tl_vec3 P, L, centre; /* of everything */
} balance;

static balance weigh(const rigid_case *c)
{
    const tl_report *r = &c->sim->report;
    balance b = {r->momentum, r->angular_momentum, {0, 0, 0}};
    double mass = 0;
    for (int64_t i = 0; i < tl_sph_state_of(&c->sim->state)->count; i++) {
        double m = 1000 * H * H * H;
        b.centre = tl_vec3_add_scaled(b.centre, m, tl_sph_state_of(&c->sim->state)->particle[i].x);
        mass += m;
    }
    for (int i = 0; i < c->sim->rigid.scene_count; i++) {
        double m = c->sim->rigid.body[i].mass;
        b.centre = tl_vec3_add_scaled(b.centre, m, c->sim->state.rigid.body[i].x);
        mass += m;
    }
    b.centre = tl_vec3_scale(1 / mass, b.centre);
    return b;
}

static uint64_t tumble(int threads, double until)
{
    int before = tl_threads();
    tl_threads_set(threads);
    rigid_case c = rigid_open(
        letter, "engine = 'sph', dt_max = 2e-3, gravity = {0, 0, 0}, sph = { spacing = 0.02 },\n"
                "fill = { { material = liquid { density = 1000 }, sampling = 'lattice', shape = box { size = {0.3, "
                "0.12, 0.12}, center = {0, -0.2, 0} }, velocity = {2, 3, -2} } },\n"
                "bodies = { { name = 'l', shape = hollow, density = 1000, spin_rad_per_s = {4, 3, -6} },\n"
                "  { name = 'marker', kind = 'static', shape = block, at = {9, 0, 0} } }");
    int64_t all = tl_sph_state_of(&c.sim->state)->count;
    assert_true(all > 400);
    rigid_step(&c, 1e-3);
    balance start = weigh(&c);
    double t0 = c.sim->state.t, mass = (double)all * 1000 * H * H * H + c.sim->rigid.body[0].mass, least = 0,
           max = INFINITY;
    while (c.sim->state.t < until) {
        rigid_step(&c, 0);
        least = fmin(least, nearest(&c));
        CHECK_LE(c.sim->report.kinetic, max * (1 + 1e-3)); /* overlaps that are taken apart give a little */
        max = fmin(max, c.sim->report.kinetic);
    }
    balance end = weigh(&c);
    assert_int_equal(count_outside(&c, c.scene->bodies[1].shape), 0);
    CHECK_LE(STOP, least);
    CHECK_LE(c.sim->report.compression, PACKED);
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(end.P, start.P)), 1e-12 * tl_vec3_norm(start.P));
    /* blows move particles aside: second order, as flight in steps is */
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(end.L, start.L)), 5e-3 * tl_vec3_norm(start.L));
    tl_vec3 flown = tl_vec3_scale((c.sim->state.t - t0) / mass, start.P);
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(tl_vec3_sub(end.centre, start.centre), flown)), 1e-12);
    uint64_t hash = tl_state_hash(&c.sim->state);
    rigid_close(&c);
    tl_threads_set(before);
    return hash;
}

static void a_tumbling_letter(void **state)
{
    (void)state;
    tumble(1, 0.2);
    assert_true(tumble(1, 0.05) == tumble(2, 0.05));
}

/* Eight lone particles thrown into the corner of a sharp box, of a sphere's hollow, and of a free body: too few to
 * feel its samples. */
static void lone_particles(void **state)
{
    (void)state;
    static const char *const vessels[] = {
        "shape = shell { box { size = 0.4 }, thickness = 0.03 }, kind = 'static'",
        "shape = shell { sphere { radius = 0.2 }, thickness = 0.03 }, kind = 'static'",
        "shape = shell { box { size = 0.4 }, thickness = 0.03 }, density = 500",
    };
    for (int k = 0; k < 3; k++) {
        rigid_case c =
            rigid_open("",
                       "engine = 'sph', dt_max = 2e-3, sph = { spacing = 0.02 }, gravity = {0, 0, 0},\n"
                       "fill = { { material = liquid { density = 1000 }, sampling = 'lattice', velocity = {-4, -5, "
                       "-4}, shape = box { size = 0.04 } } }, bodies = { { name = 'v', %s } }",
                       vessels[k]);
        assert_int_equal(tl_sph_state_of(&c.sim->state)->count, 8);
        double least = 0;
        for (int i = 0; i < 200; i++) {
            rigid_step(&c, 0);
            least = fmin(least, nearest(&c));
        }
        CHECK_LE(STOP, least);
        for (int64_t i = 0; i < 8; i++) CHECK_LE(tl_vec3_norm(seen(&c, i)), 0.2 * 1.7321); /* not beyond the corners */
        rigid_close(&c);
    }
}

/* One particle hits a free box off its middle: it has no neighbours that would tell, and gives what it must. */
static void a_blow(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        "",
        "engine = 'sph', dt_max = 1e-3, sph = { spacing = 0.02 }, gravity = {0, 0, 0},\n"
        "fill = { { material = liquid { density = 1000 }, sampling = 'lattice', velocity = {0, -5, 0}, shape = box { "
        "size = 0.02, center = {0.03, 0.09, 0.01} } } },\n"
        "bodies = { { name = 'box', shape = box { size = {0.1, 0.1, 0.1} }, density = 100 } }");
    assert_int_equal(tl_sph_state_of(&c.sim->state)->count, 1);
    rigid_step(&c, 0);
    balance start = weigh(&c);
    double energy = c.sim->report.kinetic;
    double least = INFINITY;
    for (int i = 0; i < 100; i++) {
        rigid_step(&c, 0);
        least = fmin(least, nearest(&c));
    }
    CHECK_LE(STOP, least);
    balance end = weigh(&c);
    const tl_motion *m = rigid_body(&c, "box");
    assert_true(m->v.y < -0.1 && m->w.z < -1); /* 8 g at 5 m/s, 3 cm beside the middle of 100 g */
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(end.P, start.P)), 1e-15);
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(end.L, start.L)), 1e-3 * tl_vec3_norm(start.L));
    CHECK_LE(c.sim->report.kinetic, energy);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_blow),
        cmocka_unit_test(lone_particles),
        cmocka_unit_test(a_tumbling_letter),
        cmocka_unit_test(a_rocked_cup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
