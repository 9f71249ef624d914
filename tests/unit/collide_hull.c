/* Convex meshes by their faces: a cube made of twelve triangles touches as the box does. */
#include "check.h"

#include "geom/collide/collide.h"
#include "geom/collide/hull.h"
#include "geom/mesh_distance.h"
#include "math/quat.h"

static tl_trimesh cube_mesh(double x, double y, double z)
{
    static const int32_t triangle[12][3] = {{0, 1, 3}, {0, 3, 2}, {4, 6, 7}, {4, 7, 5}, {0, 4, 5}, {0, 5, 1},
                                            {2, 3, 7}, {2, 7, 6}, {0, 2, 6}, {0, 6, 4}, {1, 5, 7}, {1, 7, 3}};
    tl_trimesh m;
    talus_error err;
    CHECK_OK(tl_trimesh_create(&m, 8, 12, &err));
    for (int k = 0; k < 8; k++)
        m.vertex[k] = (tl_vec3){k & 4 ? 0.5 * x : -0.5 * x, k & 2 ? 0.5 * y : -0.5 * y, k & 1 ? 0.5 * z : -0.5 * z};
    for (int k = 0; k < 12; k++)
        for (int i = 0; i < 3; i++) m.triangle[k][i] = triangle[k][i];
    return m;
}

static void a_cube_has_six_faces(void **state)
{
    (void)state;
    tl_trimesh m = cube_mesh(0.2, 0.1, 0.3);
    tl_hull h;
    assert_true(tl_hull_of_mesh(&m, &h));
    assert_int_equal(h.vertices, 8);
    assert_int_equal(h.faces, 6);
    assert_int_equal(h.edges, 12);
    for (int f = 0; f < 6; f++) assert_int_equal(h.corners[f], 4);
    m.vertex[7] = (tl_vec3){0.01, 0.005, 0.01}; /* pushed in: no longer convex */
    assert_false(tl_hull_of_mesh(&m, &h));
    tl_trimesh_free(&m);
}

static double random_in(uint64_t *s, double lo, double hi)
{
    *s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * (double)(*s >> 11) / 9007199254740992.0;
}

/* Random poses near each other, and stacked flat: as the exact boxes where a face is what touches; order of
 * arguments only turns normals. */
static void touches_as_boxes_do(void **state)
{
    (void)state;
    talus_error err;
    tl_shape_tree *t = tl_shape_tree_create();
    tl_trimesh m = cube_mesh(0.2, 0.1, 0.3);
    tl_mesh_distance *d;
    CHECK_OK(tl_mesh_distance_create(&d, &m, &err));
    tl_trimesh_free(&m);
    int mesh = tl_shape_mesh(t, d, &err), box = tl_shape_box(t, (tl_vec3){0.2, 0.1, 0.3}, 0, &err);
    tl_collider *M, *B;
    CHECK_OK(tl_collider_create(&M, t, mesh, 0, &err));
    CHECK_OK(tl_collider_create(&B, t, box, 0, &err));
    uint64_t seed = 5;
    int flat = 0;
    for (int k = 0; k < 400; k++) {
        tl_pose a = {{0, 0, 0}, tl_quat_identity()}, b = a;
        double lean = k % 4 ? random_in(&seed, -0.05, 0.05) : 0;
        b.at = (tl_vec3){random_in(&seed, -0.1, 0.1), 0.1 + random_in(&seed, -1e-4, 2e-3), random_in(&seed, -0.1, 0.1)};
        b.rotation = tl_quat_from_axis_angle((tl_vec3){1, 0, 0}, lean);
        tl_touch x[TL_TOUCHES_MAX], y[TL_TOUCHES_MAX], z[TL_TOUCHES_MAX];
        int32_t ax = 0, ay = 0, az = 0;
        int nx = tl_collide(B, &b, B, &a, 5e-3, &ax, x), ny = tl_collide(M, &b, M, &a, 5e-3, &ay, y),
            nz = tl_collide(M, &b, B, &a, 5e-3, &az, z);
        double gx = INFINITY, gy = INFINITY, gz = INFINITY;
        for (int i = 0; i < nx; i++) gx = fmin(gx, x[i].gap);
        for (int i = 0; i < ny; i++) gy = fmin(gy, y[i].gap);
        for (int i = 0; i < nz; i++) gz = fmin(gz, z[i].gap);
        assert_true((nx > 0) == (ny > 0) && (nx > 0) == (nz > 0));
        if (!nx) continue;
        CHECK_NEAR(gy, gx, 4.4e-4); /* either face may be the one: 4e-3 of the smallest edge, 0.1 m, in favour of one */
        CHECK_NEAR(gz, gx, 4.4e-4);
        for (int i = 0; i < ny; i++) CHECK_NEAR(y[i].normal.y, 1, 2e-3);
        flat += ny >= 4;
    }
    assert_true(flat > 100);
    tl_collider_free(M);
    tl_collider_free(B);
    tl_shape_tree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_has_six_faces),
        cmocka_unit_test(touches_as_boxes_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
