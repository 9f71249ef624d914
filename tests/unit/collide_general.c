/* Contact of general shapes against closed forms: planes, spheres, boxes, hollows; both directions; order and frame
 * do not matter. */
#include "base/random.h"
#include "check.h"
#include "geom/collide/general.h"
#include "geom/mesh_distance.h"
#include "geom/surface.h"

static talus_error err;
static tl_shape_tree *tree;
static const tl_pose origin = {{0, 0, 0}, {1, 0, 0, 0}};

static int setup(void **state)
{
    (void)state;
    tree = tl_shape_tree_create();
    return tree ? 0 : -1;
}
static int teardown(void **state)
{
    (void)state;
    tl_shape_tree_free(tree);
    return 0;
}

static tl_collider *collider(int node, double cell)
{
    tl_collider *c;
    if (node < 0) fail_msg("%s", err.message);
    CHECK_OK(tl_collider_create(&c, tree, node, cell, &err));
    return c;
}
static tl_collider *floor_collider(void) { return collider(tl_shape_half_space(tree, (tl_vec3){0, 1, 0}, 0, &err), 0); }

static int collide(const tl_collider *a, tl_pose x, const tl_collider *b, tl_pose y, double margin, tl_touch *out)
{
    int32_t axis = 0;
    int count = tl_collide(a, &x, b, &y, margin, &axis, out);
    assert_in_range(count, 0, TL_TOUCHES_MAX);
    for (int i = 0; i < count; i++) {
        CHECK_NEAR(tl_vec3_norm(out[i].normal), 1, 1e-12);
        assert_false(isnan(out[i].gap) || isnan(tl_vec3_norm(out[i].at)));
    }
    return count;
}
static int deepest(int count, const tl_touch *t)
{
    int best = 0;
    assert_true(count > 0);
    for (int i = 1; i < count; i++)
        if (t[i].gap < t[best].gap) best = i;
    return best;
}
static tl_pose at(double x, double y, double z) { return (tl_pose){{x, y, z}, {1, 0, 0, 0}}; }
static tl_quat random_turn(uint64_t id)
{
    return tl_quat_normalize((tl_quat){tl_random(9, id, 0) - 0.5, tl_random(9, id, 1) - 0.5, tl_random(9, id, 2) - 0.5,
                                       tl_random(9, id, 3) - 0.5});
}
static int placed(int node, double x, double y, double z)
{
    return tl_shape_place(tree, node, (tl_vec3){x, y, z}, (double[]){1, 0, 0, 0}, 1, &err);
}

/* ---- one body on a plane ---- */

/* Whole from halves that no primitive test sees; the lattice field (many parts) and the shape itself (few). */
static int ball_of_parts(double radius, int parts)
{
    int half = tl_shape_sphere(tree, radius, &err), part[20];
    for (int k = 0; k < parts; k++) part[k] = half;
    return tl_shape_union(tree, parts, part, &err);
}

/* Turned at random, the lowest point is found between the samples: without the search the gap would be off by up to
 * spacing^2 / (6 radius), 2e-3 here. */
static void ball_on_a_plane(void **state)
{
    (void)state;
    const double radius = 0.5, cell = 0.08;
    tl_collider *flat = floor_collider();
    for (int parts = 2; parts <= 16; parts += 14) {
        tl_collider *ball = collider(ball_of_parts(radius, parts), cell);
        assert_int_equal(ball->field->field.exact, parts == 2);
        double worst_gap = 0, worst_at = 0, worst_normal = 0;
        for (uint64_t i = 0; i < 200; i++) {
            double gap = 0.02 * tl_random(9, i, 7) - 0.01;
            tl_touch t[TL_TOUCHES_MAX];
            int n = collide(ball, (tl_pose){{3, radius + gap, -2}, random_turn(i)}, flat, origin, 0.02, t),
                k = deepest(n, t);
            worst_gap = fmax(worst_gap, fabs(t[k].gap - gap));
            worst_at = fmax(worst_at, hypot(t[k].at.x - 3, t[k].at.z + 2));
            worst_normal = fmax(worst_normal, 1 - t[k].normal.y);
            CHECK_NEAR(t[k].at.y, 0.5 * gap, 1e-3);
        }
        CHECK_LE(worst_gap, 2e-4); /* place^2 / (2 radius) and the tie */
        CHECK_LE(worst_at, 1e-2);
        CHECK_LE(worst_normal, 1e-12);
        tl_collider_free(ball);
    }
    tl_collider_free(flat);
}

/* Normal and gap of an ellipsoid pressed on a plane, closed form: the support point. */
static void error_falls_with_the_cell(void **state)
{
    (void)state;
    const tl_vec3 e = {0.5, 0.3, 0.4};
    int shape = tl_shape_ellipsoid(tree, e, &err), part[16];
    for (int k = 0; k < 16; k++) part[k] = shape;
    int node = tl_shape_union(tree, 16, part, &err); /* read from the lattice */
    tl_collider *flat = floor_collider();
    double worst[2] = {0, 0}, off[2] = {0, 0};
    for (int f = 0; f < 2; f++) {
        tl_collider *c = collider(node, f ? 0.03 : 0.06);
        for (uint64_t i = 0; i < 100; i++) {
            tl_quat q = random_turn(i);
            tl_vec3 down = tl_quat_rotate(tl_quat_conjugate(q), (tl_vec3){0, -1, 0}), s = tl_vec3_mul(e, down),
                    low = tl_vec3_scale(1 / tl_vec3_norm(s), tl_vec3_mul(e, s)); /* lowest point */
            double height = -tl_quat_rotate(q, low).y - 1e-3;
            tl_touch t[TL_TOUCHES_MAX];
            int n = collide(c, (tl_pose){{0, height, 0}, q}, flat, origin, 2e-3, t), k = deepest(n, t);
            tl_vec3 place = tl_quat_rotate(q, low);
            worst[f] = fmax(worst[f], fabs(t[k].gap + 1e-3));
            off[f] = fmax(off[f], hypot(t[k].at.x - place.x, t[k].at.z - place.z));
        }
        tl_collider_free(c);
    }
    CHECK_LE(worst[0], 1e-3); /* a spacing^2 curvature / 8 of samples alone is 1e-3 to 4e-3 */
    CHECK_LE(worst[1], 0.4 * worst[0]);
    CHECK_LE(off[1], 0.03);
    tl_collider_free(flat);
}

/* Largest distance between two of the points. */
static double spread(int n, const tl_touch *t)
{
    double max = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) max = fmax(max, tl_vec3_norm(tl_vec3_sub(t[i].at, t[j].at)));
    return max;
}

static void cylinder_on_a_plane(void **state)
{
    (void)state;
    const double r = 0.1, height = 0.5;
    tl_collider *c = collider(tl_shape_cylinder(tree, r, height, 0, &err), 0), *flat = floor_collider();
    tl_touch t[TL_TOUCHES_MAX];
    /* lying, turned about its axis by any angle: both ends of the line, gap zero */
    for (int k = 0; k < 40; k++) {
        tl_quat q = tl_quat_mul(tl_quat_from_axis_angle((tl_vec3){0, 0, 1}, 1.5707963267948966),
                                tl_quat_from_axis_angle((tl_vec3){0, 1, 0}, 0.1 * k));
        int n = collide(c, (tl_pose){{0, r, 0}, q}, flat, origin, 1e-3, t), closed = 0;
        for (int i = 0; i < n; i++) {
            if (fabs(t[i].gap) > 1e-9) continue;
            closed++;
            CHECK_NEAR(t[i].normal.y, 1, 1e-12);
            CHECK_NEAR(t[i].at.z, 0, 1e-4);
        }
        assert_true(closed >= 2);
        CHECK_NEAR(spread(n, t), height, 2e-3);
    }
    /* a coin standing flat: at least three on the rim, around the middle */
    int n = collide(c, at(0, 0.5 * height, 0), flat, origin, 1e-3, t);
    assert_in_range(n, 3, 4);
    tl_vec3 sum = {0, 0, 0};
    for (int i = 0; i < n; i++) {
        CHECK_NEAR(hypot(t[i].at.x, t[i].at.z), r, 1e-9);
        CHECK_NEAR(t[i].gap, 0, 1e-12);
        sum = tl_vec3_add_scaled(sum, 1.0 / n, t[i].at);
    }
    CHECK_LE(tl_vec3_norm(sum), 0.35 * r);
    /* tilted a little: the lowest point of the rim */
    tl_quat tilt = tl_quat_from_axis_angle((tl_vec3){0.6, 0, 0.8}, 0.05);
    double low = -0.5 * height * cos(0.05) - r * sin(0.05);
    n = collide(c, (tl_pose){{0, -low, 0}, tilt}, flat, origin, 1e-3, t);
    CHECK_NEAR(t[deepest(n, t)].gap, 0, 1e-9);
    tl_collider_free(c);
    tl_collider_free(flat);
}

static void capsule_lies_on_two_points(void **state)
{
    (void)state;
    tl_collider *c = collider(tl_shape_capsule(tree, (tl_vec3){-0.2, 0, 0}, (tl_vec3){0.2, 0, 0}, 0.1, 0.1, &err), 0);
    tl_collider *flat = floor_collider();
    tl_touch t[TL_TOUCHES_MAX];
    for (int k = 0; k < 20; k++) {
        tl_quat q = tl_quat_from_axis_angle((tl_vec3){1, 0, 0}, 0.17 * k);
        int n = collide(c, (tl_pose){{0, 0.1, 0}, q}, flat, origin, 1e-3, t), closed = 0;
        for (int i = 0; i < n; i++) closed += t[i].gap < 2e-3 * c->field->spacing; /* a tie */
        assert_true(closed >= 2);
        assert_true(spread(n, t) > 0.3);
    }
    tl_collider_free(c);
    tl_collider_free(flat);
}

/* ---- pairs ---- */

static int box_mesh(tl_vec3 size)
{
    const int32_t face[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                 {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    tl_trimesh m;
    tl_mesh_distance *d;
    CHECK_OK(tl_trimesh_create(&m, 8, 12, &err));
    for (int k = 0; k < 8; k++)
        m.vertex[k] = tl_vec3_mul(size, (tl_vec3){k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.5 : -0.5});
    for (int k = 0; k < 36; k++) m.triangle[k / 3][k % 3] = face[k / 3][k % 3];
    CHECK_OK(tl_mesh_distance_create(&d, &m, &err));
    tl_trimesh_free(&m);
    return tl_shape_mesh(tree, d, &err);
}

/* A box as a mesh stands on a box, on a plane and on another mesh as the exact pair does: four corners of the common
 * area, vertical normals, one gap. */
static void mesh_box_like_the_box(void **state)
{
    (void)state;
    const tl_vec3 size = {0.4, 0.2, 0.3};
    tl_collider *mesh = collider(box_mesh(size), 0), *box = collider(tl_shape_box(tree, size, 0, &err), 0),
                *flat = floor_collider();
    assert_int_equal(tl_collider_kind_of(mesh), TL_COLLIDER_GENERAL);
    const tl_collider *below[3] = {flat, box, mesh}, *upper[2] = {mesh, box};
    for (int b = 0; b < 3; b++)
        for (int u = 0; u < 2; u++) {
            if (u == 1 && b < 2) continue; /* exact pairs */
            for (int shift = 0; shift < 3; shift++) {
                double gap = 2e-4 * (shift - 1), x = b ? 0.07 * shift : 0, z = b ? -0.05 * shift : 0;
                tl_touch t[TL_TOUCHES_MAX];
                int n = collide(upper[u], at(x, b ? 0.2 + gap : 0.1 + gap, z), below[b], origin, 1e-3, t), near = 0;
                double lo_x = 1, hi_x = -1, lo_z = 1, hi_z = -1;
                for (int i = 0; i < n; i++) {
                    CHECK_NEAR(t[i].normal.y, 1, 1e-9);
                    if (fabs(t[i].gap - gap) > 1e-7) continue;
                    near++;
                    lo_x = fmin(lo_x, t[i].at.x), hi_x = fmax(hi_x, t[i].at.x);
                    lo_z = fmin(lo_z, t[i].at.z), hi_z = fmax(hi_z, t[i].at.z);
                }
                assert_in_range(near, 3, 4);
                /* the common area to a marched edge: where edges cross there is no sample */
                double h = 1.7 * mesh->field->spacing;
                CHECK_NEAR(lo_x, b ? x - 0.2 : -0.2, h);
                CHECK_NEAR(hi_x, 0.2, h);
                CHECK_NEAR(lo_z, -0.15, h);
                CHECK_NEAR(hi_z, b ? z + 0.15 : 0.15, h);
                if (shift == 1 && !b) CHECK_NEAR(hi_x - lo_x, 0.4, 1e-9);
            }
        }
    tl_collider_free(mesh);
    tl_collider_free(box);
    tl_collider_free(flat);
}

/* Stones of an arch: equal faces lie on each other, corner on corner. The four corners carry, whatever hair's
 * breadth the stones slip past each other or into each other. */
static void flush_faces_keep_their_corners(void **state)
{
    (void)state;
    const double half = 0.1, inner = 1, outer = 1.3, depth = 0.5, s = sin(half), c = cos(half);
    const double profile[4][2] = {
        {-inner * s, inner * c}, {inner * s, inner * c}, {outer * s, outer * c}, {-outer * s, outer * c}};
    tl_collider *stone = collider(tl_shape_extrude(tree, 4, profile, depth, &err), 0);
    const tl_vec3 normal = {c, 0, -s}; /* of the common face, into the first */
    for (uint64_t i = 0; i < 60; i++) {
        double slip = i ? 1e-5 * (double)(i % 7) : 0;
        tl_pose x = {
            {slip * (tl_random(4, i, 0) - 0.5), slip * (tl_random(4, i, 1) - 0.5), slip * (tl_random(4, i, 2) - 0.5)},
            tl_quat_from_axis_angle((tl_vec3){0, 1, 0}, 2 * half)};
        tl_touch t[TL_TOUCHES_MAX];
        int n = collide(stone, x, stone, origin, 1e-3, t), met = 0;
        assert_int_equal(n, 4);
        for (int k = 0; k < 4; k++) {
            double r = k & 1 ? inner : outer;
            tl_vec3 corner = {r * s, k & 2 ? 0.5 * depth : -0.5 * depth, r * c};
            for (int j = 0; j < n; j++) met += tl_vec3_norm(tl_vec3_sub(t[j].at, corner)) < 1e-4;
        }
        assert_int_equal(met, 4);
        for (int j = 0; j < n; j++) {
            CHECK_LE(tl_vec3_norm(tl_vec3_sub(t[j].normal, normal)), 1e-9);
            CHECK_NEAR(t[j].gap, tl_vec3_dot(x.at, normal), 1e-9);
        }
    }
    tl_collider_free(stone);
}

/* A wide thin plate on a spike: the plate's samples are far from the tip, the tip is the cone's. */
static void plate_on_a_spike(void **state)
{
    (void)state;
    const double thick = 0.02;
    tl_collider *plate = collider(tl_shape_cylinder(tree, 1, thick, 0, &err), 0.08);
    tl_collider *spike = collider(tl_shape_cone(tree, 0.05, 0, 0.3, &err), 0);
    for (int k = 0; k < 30; k++) {
        tl_touch t[TL_TOUCHES_MAX];
        double x = 0.03 * k, gap = 1e-4 * (k % 3 - 1);
        int n = collide(plate, at(x, 0.15 + 0.5 * thick + gap, 0.01 * k), spike, origin, 1e-3, t), i = deepest(n, t);
        CHECK_NEAR(t[i].gap, gap, 1e-9);
        CHECK_NEAR(t[i].normal.y, 1, 1e-9);
        CHECK_LE(hypot(t[i].at.x, t[i].at.z), 1e-6);
    }
    tl_collider_free(plate);
    tl_collider_free(spike);
}

static void torus_around_a_post(void **state)
{
    (void)state;
    tl_collider *ring = collider(tl_shape_torus(tree, 0.3, 0.1, &err), 0),
                *post = collider(tl_shape_cylinder(tree, 0.19, 2, 0, &err), 0), *thick = post;
    tl_touch t[TL_TOUCHES_MAX];
    /* pushed aside until it touches: one place, the normal points from the post to the ring */
    int n = collide(ring, at(0.01, 0.3, 0), thick, origin, 1e-3, t), k = deepest(n, t);
    CHECK_NEAR(t[k].gap, 0, 2e-5);
    CHECK_NEAR(t[k].at.x, -0.19, 1e-3);
    CHECK_NEAR(t[k].at.y, 0.3, 5e-3);
    CHECK_NEAR(t[k].normal.x, -1, 1e-3);
    tl_collider_free(post);
    /* a post that fits to a hair: touches all around, pushes in every direction */
    post = collider(tl_shape_cylinder(tree, 0.1999, 2, 0, &err), 0);
    n = collide(ring, at(0, 0.3, 0), post, origin, 1e-3, t);
    tl_vec3 sum = {0, 0, 0};
    bool quarter[4] = {false};
    for (int i = 0; i < n; i++) {
        sum = tl_vec3_add_scaled(sum, 1.0 / n, t[i].normal);
        CHECK_LE(fabs(t[i].normal.y), 0.2);
        quarter[(t[i].normal.x > 0) + 2 * (t[i].normal.z > 0)] = true;
    }
    assert_true(quarter[0] && quarter[1] && quarter[2] && quarter[3]);
    CHECK_LE(tl_vec3_norm(sum), 0.3);
    tl_collider_free(ring);
    tl_collider_free(post);
}

static void bowl_holds_a_ball(void **state)
{
    (void)state;
    double profile[42][2];
    for (int k = 0; k <= 20; k++) { /* a half sphere of radius 1 in one of 1.1 */
        double angle = 1.5707963267948966 * k / 20;
        profile[k][0] = 1.1 * sin(angle), profile[k][1] = -1.1 * cos(angle);
        profile[41 - k][0] = sin(angle), profile[41 - k][1] = -cos(angle);
    }
    tl_collider *bowl = collider(tl_shape_revolve(tree, 42, (const double(*)[2])profile, &err), 0);
    tl_collider *ball = collider(tl_shape_sphere(tree, 0.3, &err), 0), *egg = collider(ball_of_parts(0.3, 2), 0);
    for (int k = 0; k < 12; k++) {
        double lean = 0.1 * k;
        tl_vec3 out = {sin(lean) * cos(0.4 * k), -cos(lean), sin(lean) * sin(0.4 * k)};
        const tl_collider *both[2] = {ball, egg};
        for (int e = 0; e < 2; e++) {
            tl_touch t[TL_TOUCHES_MAX];
            tl_vec3 centre = tl_vec3_scale(0.7, out);
            int n = collide(both[e], (tl_pose){centre, {1, 0, 0, 0}}, bowl, origin, 5e-3, t), i = deepest(n, t);
            CHECK_NEAR(
                t[i].gap, 0,
                4e-3); /* the profile's chords: 1 - cos(2.25 degrees) = 8e-4; the lattice's rounding of its bends */
            CHECK_LE(tl_vec3_norm(tl_vec3_sub(t[i].at, out)), 0.06);
            CHECK_LE(tl_vec3_norm(tl_vec3_add(t[i].normal, out)), 0.08);
        }
    }
    tl_collider_free(bowl);
    tl_collider_free(ball);
    tl_collider_free(egg);
}

/* Thin rods across each other, samples 1.6 radii apart: between them the slope is so steep that a step down it of
 * plain length ends on the far side, where the rods no longer face each other. Closed form: distance of the axes. A
 * place missed here comes and goes as bodies move, and a pile of such bodies never rests. */
static void rods_across(void **state)
{
    (void)state;
    const double radius = 0.01, cell = 0.016;
    tl_collider *rod =
        collider(tl_shape_capsule(tree, (tl_vec3){0, -0.1, 0}, (tl_vec3){0, 0.1, 0}, radius, radius, &err), cell);
    for (uint64_t k = 0; k < 200; k++) {
        /* common normal x of both axes, angle between them at least 30 degrees, each crossed within its straight
         * part */
        double angle = 0.5236 + 2.094 * tl_random(11, k, 0), gap = cell * (tl_random(11, k, 1) - 0.5) * 0.2;
        tl_quat turn = random_turn(k), spin = tl_quat_exp((tl_vec3){0, 6.2832 * tl_random(11, k, 2), 0}),
                other = tl_quat_exp((tl_vec3){angle, 0, 0});
        double along = 0.1 * (tl_random(11, k, 3) - 0.5), across = 0.1 * (tl_random(11, k, 4) - 0.5);
        tl_vec3 axis = tl_quat_rotate(other, (tl_vec3){0, 1, 0}),
                off = tl_vec3_add_scaled((tl_vec3){2 * radius + gap, along, 0}, across, axis);
        tl_pose a = {{0, 0, 0}, tl_quat_mul(turn, spin)}, b = {tl_quat_rotate(turn, off), tl_quat_mul(turn, other)};
        tl_touch t[TL_TOUCHES_MAX];
        int count = collide(rod, a, rod, b, cell, t), low = deepest(count, t);
        CHECK_NEAR(t[low].gap, gap, 1e-5 * cell);
        CHECK_NEAR(fabs(tl_vec3_dot(t[low].normal, tl_quat_rotate(turn, (tl_vec3){1, 0, 0}))), 1, 1e-5);
    }
    tl_collider_free(rod);
}

/* ---- what must not matter ---- */

/* The distance outside of a cut is a lower bound: 0.03 for a ball of 0.05 above the mouth of a pipe, where nothing
 * is for 0.45. */
static void mouth_of_a_pipe(void **state)
{
    (void)state;
    tl_touch out[TL_TOUCHES_MAX];
    int hole = tl_shape_cylinder(tree, 0.5, 0.6, 0, &err);
    int cut = tl_shape_subtract(tree, tl_shape_cylinder(tree, 0.6, 0.5, 0, &err), 1, &hole, &err);
    tl_collider *pipe = collider(cut, 0), *ball = collider(tl_shape_sphere(tree, 0.05, &err), 0),
                *drum = collider(tl_shape_cylinder(tree, 0.05, 0.1, 0, &err), 0),
                *box = collider(tl_shape_box(tree, (tl_vec3){0.1, 0.1, 0.1}, 0, &err), 0);
    const tl_collider *all[3] = {ball, drum, box};
    for (int k = 0; k < 3; k++)
        for (double y = 0.2; y < 0.4; y += 0.01)
            assert_int_equal(collide(pipe, origin, all[k], at(0.1, y, 0), 0.02, out), 0);
    /* on the rim it stands, and inside it touches the wall */
    for (int k = 0; k < 3; k++) {
        int n = collide(pipe, origin, all[k], at(0.55, 0.305, 0), 0.02, out);
        CHECK_NEAR(out[deepest(n, out)].gap, 0.005, 1e-6);
        CHECK_NEAR(out[deepest(n, out)].normal.y, -1, 1e-6); /* out of the body into the pipe */
    }
    int n = collide(pipe, origin, ball, at(0.445, 0, 0), 0.02, out);
    CHECK_NEAR(out[deepest(n, out)].gap, 0.005, 1e-6);
    CHECK_NEAR(out[deepest(n, out)].normal.x, 1, 1e-6);
    tl_collider_free(pipe);
    tl_collider_free(ball);
    tl_collider_free(drum);
    tl_collider_free(box);
}

/* A ball beside the tip of a stretched hemisphere: 0.06 from its box, about 0.17 from it. */
static void stretched(void **state)
{
    (void)state;
    tl_touch out[TL_TOUCHES_MAX];
    int node = tl_shape_stretch(tree, tl_shape_hemisphere(tree, 0.2, &err), (tl_vec3){1, 4, 1}, &err);
    tl_collider *tall = collider(node, 0), *ball = collider(tl_shape_sphere(tree, 0.05, &err), 0);
    assert_int_equal(collide(tall, origin, ball, at(0.19, 0.86, 0), 0.05, out), 0);
    int n = collide(tall, origin, ball, at(0, 0.86, 0), 0.05, out);
    CHECK_NEAR(out[deepest(n, out)].gap, 0.01, 1e-4);
    CHECK_NEAR(out[deepest(n, out)].normal.y, -1, 1e-3);
    tl_collider_free(tall);
    tl_collider_free(ball);
}

static void order_and_frame(void **state)
{
    (void)state;
    int egg = tl_shape_ellipsoid(tree, (tl_vec3){0.3, 0.2, 0.25}, &err),
        drop = tl_shape_cone(tree, 0.2, 0.1, 0.3, &err);
    int both = tl_shape_smooth_union(tree, 2, (int[]){placed(egg, 0.1, 0.2, 0), drop}, 0.05, &err);
    tl_collider *c[5] = {collider(both, 0.02), collider(drop, 0.02),
                         collider(tl_shape_box(tree, (tl_vec3){0.3, 0.4, 0.5}, 0, &err), 0),
                         collider(tl_shape_sphere(tree, 0.2, &err), 0), floor_collider()};
    int met = 0, changed = 0, compared = 0;
    for (uint64_t i = 0; i < 1500; i++) {
        const tl_collider *a = c[i % 2], *b = c[i % 5];
        tl_pose x = {{0.4 * (tl_random(2, i, 0) - 0.5), 0.5 * tl_random(2, i, 1), 0.4 * (tl_random(2, i, 2) - 0.5)},
                     random_turn(i)},
                y = {{0, 0, 0}, random_turn(i + 1000)};
        tl_touch t[TL_TOUCHES_MAX], u[TL_TOUCHES_MAX];
        int n = collide(a, x, b, y, 5e-3, t), m = collide(b, y, a, x, 5e-3, u);
        assert_int_equal(n, m);
        met += n > 0;
        for (int k = 0; k < n; k++) {
            assert_memory_equal(&t[k].at, &u[k].at, sizeof t[k].at);
            CHECK_LE(tl_vec3_norm(tl_vec3_add(t[k].normal, u[k].normal)), 0);
            assert_true(t[k].gap == u[k].gap);
        }
        /* both moved by one motion: the points move along */
        tl_pose g = {{5, -3, 2}, random_turn(i + 2000)};
        tl_pose gx = {tl_pose_apply(&g, x.at), tl_quat_mul(g.rotation, x.rotation)},
                gy = {tl_pose_apply(&g, y.at), tl_quat_mul(g.rotation, y.rotation)};
        m = collide(a, gx, b, gy, 5e-3, u);
        assert_int_equal(n > 0, m > 0);
        if (n == 0 || t[deepest(n, t)].gap < -0.02) continue; /* deep inside, the way out is not unique */
        compared++;
        changed += n != m;
        /* which of equal points the search starts from may change by rounding: half a percent of the spacing */
        CHECK_NEAR(t[deepest(n, t)].gap, u[deepest(m, u)].gap, 1e-4);
    }
    assert_true(met > 500);
    assert_true(compared > 40);
    CHECK_LE(changed, 0.05 * compared);
    for (int k = 0; k < 5; k++) tl_collider_free(c[k]);
}

/* A body that turns by little keeps its points, and gaps change by no more than its points move. */
static void small_motions_change_little(void **state)
{
    (void)state;
    const double h = 1e-5;
    int egg = tl_shape_ellipsoid(tree, (tl_vec3){0.3, 0.2, 0.25}, &err);
    tl_collider *c = collider(tl_shape_smooth_union(tree, 2, (int[]){egg, placed(egg, 0.2, 0.2, 0)}, 0.1, &err), 0);
    int jumps = 0, met = 0;
    for (uint64_t i = 0; i < 200; i++) {
        tl_pose x = {{0.6 * (tl_random(2, i, 0) - 0.5), 0.45 + 0.1 * tl_random(2, i, 1), 0}, random_turn(i)}, y = x;
        y.at.y += h;
        tl_touch t[TL_TOUCHES_MAX], u[TL_TOUCHES_MAX];
        int n = collide(c, x, c, origin, 1e-2, t), m = collide(c, y, c, origin, 1e-2, u);
        if (n == 0 || m == 0) continue;
        met++;
        CHECK_NEAR(t[deepest(n, t)].gap, u[deepest(m, u)].gap, 2.5 * h);
        jumps += n != m || tl_vec3_norm(tl_vec3_sub(t[deepest(n, t)].at, u[deepest(m, u)].at)) > 100 * h;
    }
    assert_true(met > 30);
    CHECK_LE(jumps, 0.05 * met);
    tl_collider_free(c);
}

static void refused(void **state)
{
    (void)state;
    tl_collider *c;
    int ground = tl_shape_half_space(tree, (tl_vec3){0, 1, 0}, 0, &err), ball = tl_shape_sphere(tree, 1, &err);
    int both = tl_shape_union(tree, 2, (int[]){ground, ball}, &err),
        nothing = tl_shape_intersect(tree, 2, (int[]){ball, placed(ball, 5, 0, 0)}, &err);
    assert_int_equal(tl_collider_create(&c, tree, both, 0, &err), TALUS_BAD_INPUT);
    assert_null(c);
    assert_int_equal(tl_collider_create(&c, tree, nothing, 0.1, &err), TALUS_BAD_INPUT);
    assert_null(c);
    assert_int_equal(tl_collider_create(&c, tree, ball, NAN, &err), TALUS_BAD_INPUT);
    tl_collider_free(NULL);
}

/* ---- cylinders and capsules by their rims and sides ---- */

/* The same solid, which detection does not recognise. */
static int disguised(int node) { return tl_shape_union(tree, 2, (const int[]){node, node}, &err); }

/* Against each other, boxes, balls and planes they need no samples: the least gap is that of the search with
 * samples, or below it, and what is said to be apart has no overlap. */
static void features_find_what_samples_find(void **state)
{
    (void)state;
    const int node[] = {
        tl_shape_cylinder(tree, 0.04, 0.1, 0, &err), tl_shape_cylinder(tree, 0.05, 0.03, 0.008, &err),
        tl_shape_capsule(tree, (tl_vec3){0.01, -0.03, 0}, (tl_vec3){0.01, 0.03, 0.02}, 0.025, 0.025, &err),
        tl_shape_box(tree, (tl_vec3){0.06, 0.08, 0.05}, 0, &err), tl_shape_sphere(tree, 0.04, &err)};
    enum { KINDS = 5, ROUND = 3 };
    tl_collider *c[KINDS], *plain[ROUND];
    for (int k = 0; k < KINDS; k++) c[k] = collider(node[k], 0);
    for (int k = 0; k < ROUND; k++) plain[k] = collider(disguised(node[k]), 0);
    int compared = 0, deep = 0;
    for (uint64_t id = 0; id < 600; id++) {
        const int i = (int)(id % ROUND), j = (int)(id / ROUND % KINDS);
        const double slow = 0.06 + 0.05 * tl_random(9, id, 9), margin = 0.01, depth = 1e-3;
        tl_pose x = {{0, 0, 0}, random_turn(2 * id)},
                y = {tl_quat_rotate(random_turn(3000 + id), (tl_vec3){slow, 0, 0}), random_turn(2 * id + 1)};
        tl_touch by_features[TL_TOUCHES_MAX], by_samples[TL_TOUCHES_MAX];
        int some = collide(c[i], x, c[j], y, margin, by_features),
            others = collide(plain[i], x, j < ROUND ? plain[j] : c[j], y, margin, by_samples);
        double gap = some ? by_features[deepest(some, by_features)].gap : margin,
               expected = others ? by_samples[deepest(others, by_samples)].gap : margin;
        deep += gap < -depth;
        if (!tl_collide_may_overlap(c[i], &x, c[j], &y, depth)) CHECK_LE(-depth, gap);
        if (expected < -0.01) continue; /* deep inside there is more than one way out */
        compared += others > 0;
        CHECK_NEAR(gap, expected, 2e-5);
    }
    assert_true(compared > 100 && deep > 50);
    for (int k = 0; k < KINDS; k++) tl_collider_free(c[k]);
    for (int k = 0; k < ROUND; k++) tl_collider_free(plain[k]);
}

static void axes_that_change_nothing(void **state)
{
    (void)state;
    tl_vec3 axis, middle = {0, 0, 0};
    int ball = tl_shape_sphere(tree, 0.1, &err), tin = tl_shape_cylinder(tree, 0.1, 0.2, 0, &err),
        bore = tl_shape_cylinder(tree, 0.05, 0.3, 0, &err), box = tl_shape_box(tree, (tl_vec3){0.1, 0.1, 0.1}, 0, &err);
    const double turn[4] = {sqrt(0.5), 0, 0, sqrt(0.5)}; /* y to -x */
    const int wheel = tl_shape_subtract(tree, tin, 1, &bore, &err),
              dumbbell =
                  tl_shape_union(tree, 2, (const int[]){placed(ball, 0, 0.2, 0), placed(ball, 0, -0.2, 0)}, &err),
              aside = tl_shape_subtract(tree, tin, 1, (const int[]){placed(bore, 0.02, 0, 0)}, &err);
    const struct {
        int node;
        tl_vec3 centre;
        tl_collider_round round;
        tl_vec3 axis;
    } expected[] = {{ball, middle, TL_ROUND_BALL, {0, 0, 0}},
                    {placed(ball, 0.3, 0, 0), middle, TL_ROUND_AXIS, {1, 0, 0}},
                    {tin, middle, TL_ROUND_AXIS, {0, 1, 0}},
                    {tin, {0.01, 0, 0}, TL_NOT_ROUND, {0, 0, 0}},
                    {tl_shape_place(tree, tin, middle, turn, 1, &err), middle, TL_ROUND_AXIS, {1, 0, 0}},
                    {wheel, {0, 0.03, 0}, TL_ROUND_AXIS, {0, 1, 0}},
                    {dumbbell, middle, TL_ROUND_AXIS, {0, 1, 0}},
                    {aside, middle, TL_NOT_ROUND, {0, 0, 0}},
                    {box, middle, TL_NOT_ROUND, {0, 0, 0}}};
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        tl_collider *c = collider(expected[k].node, 0);
        assert_int_equal(tl_collider_round_about(c, expected[k].centre, &axis), expected[k].round);
        if (expected[k].round == TL_ROUND_AXIS) CHECK_NEAR(fabs(tl_vec3_dot(axis, expected[k].axis)), 1, 1e-9);
        tl_collider_free(c);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ball_on_a_plane),
        TEST(error_falls_with_the_cell),
        TEST(cylinder_on_a_plane),
        TEST(capsule_lies_on_two_points),
        TEST(mesh_box_like_the_box),
        TEST(flush_faces_keep_their_corners),
        TEST(plate_on_a_spike),
        TEST(torus_around_a_post),
        TEST(bowl_holds_a_ball),
        TEST(rods_across),
        TEST(mouth_of_a_pipe),
        TEST(stretched),
        TEST(order_and_frame),
        TEST(small_motions_change_little),
        TEST(features_find_what_samples_find),
        TEST(axes_that_change_nothing),
        TEST(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
