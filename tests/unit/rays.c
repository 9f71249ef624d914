#include "geom/rays.h"

#include "base/random.h"
#include "check.h"

static talus_error err;

/* A unit square at z = 0 seen from +z, in two triangles; far from the origin, so that the centre matters. */
static const tl_vec3 far_away = {1e6, -2e6, 3e6};
static tl_vec3 square[4];
static const int32_t faces[2][3] = {{0, 1, 2}, {0, 2, 3}};

static tl_vec3 there(double x, double y, double z) { return tl_vec3_add(far_away, tl_vec3_make(x, y, z)); }

static tl_vec3 square_center(void) { return there(0.5, 0.5, 0); }

static tl_rays *square_scene(void)
{
    tl_rays *r;
    square[0] = there(0, 0, 0);
    square[1] = there(1, 0, 0);
    square[2] = there(1, 1, 0);
    square[3] = there(0, 1, 0);
    CHECK_OK(tl_rays_create(&r, &(tl_rays_options){.center = square_center()}, &err));
    CHECK_OK(tl_rays_add_mesh(r, 4, square, 2, faces, NULL, &err));
    CHECK_OK(tl_rays_commit(r, &err));
    return r;
}

/* From 2 m above, in a scene around `center`. */
static tl_ray down(tl_vec3 center, double x, double y)
{
    tl_vec3 o = tl_vec3_sub(there(x, y, 2), center);
    return (tl_ray){
        .origin = {(float)o.x, (float)o.y, (float)o.z}, .direction = {0, 0, -1}, .tfar = INFINITY, .mask = UINT32_MAX};
}

static void rays_hit_triangles(void **state)
{
    (void)state;
    tl_rays *r = square_scene();
    tl_ray a[3] = {down(square_center(), 0.75, 0.25), down(square_center(), 0.25, 0.5),
                   down(square_center(), 1.5, 0.5)},
           b[3];
    for (int i = 0; i < 3; i++) b[i] = a[i];
    tl_rays_intersect(r, 3, a);
    for (int i = 0; i < 3; i++) tl_rays_intersect(r, 1, &b[i]);
    for (int i = 0; i < 3; i++) assert_true(a[i].tfar == b[i].tfar && a[i].primitive == b[i].primitive);
    assert_int_equal(a[0].primitive, 0);
    assert_int_equal(a[1].primitive, 1);
    assert_int_equal(a[0].instance, TL_RAY_NONE);
    assert_int_equal(a[2].geometry, TL_RAY_NONE);
    CHECK_NEAR(a[0].tfar, 2, 1e-6);
    CHECK_NEAR(a[0].normal[2], 1, 1e-6);
    CHECK_NEAR(a[0].u, 0.5, 1e-6); /* (1-u-v) (0,0) + u (1,0) + v (1,1) = (0.75, 0.25) */
    CHECK_NEAR(a[0].v, 0.25, 1e-6);

    for (int i = 0; i < 3; i++) b[i] = down(square_center(), 0.75 + 0.5 * i, 0.25);
    tl_rays_occluded(r, 3, b);
    assert_true(b[0].tfar == -INFINITY && b[1].tfar == INFINITY && b[2].tfar == INFINITY);
    tl_rays_free(r);
}

static void instances_and_spheres(void **state)
{
    (void)state;
    tl_rays *child = square_scene(), *top;
    CHECK_OK(tl_rays_create(&top, &(tl_rays_options){.center = far_away, .like = child}, &err));
    int32_t sphere, stretched, mirrored;
    tl_vec3 at[2] = {there(5, 5, 0), there(8, 5, 0)};
    CHECK_OK(tl_rays_add_spheres(top, 2, at, 0.5, &sphere, &err));
    /* x -> L x + at maps the square's corner (far away) to (10, 0, 0) there: at = there(10,0,0) - L far */
    tl_mat3 L = tl_mat3_diagonal(2, 2, 1);
    L.m[2][0] = 1; /* sheared: slope 1/2 along x, in the world */
    CHECK_OK(tl_rays_add_instance(top, child, L, tl_vec3_sub(there(10, 0, 0), tl_mat3_mul_vec(L, far_away)), &stretched,
                                  &err));
    tl_mat3 M = tl_mat3_diagonal(1, 1, -1);
    CHECK_OK(tl_rays_add_instance(top, child, M, tl_vec3_sub(there(20, 0, 0), tl_mat3_mul_vec(M, far_away)), &mirrored,
                                  &err));
    CHECK_OK(tl_rays_commit(top, &err));
    assert_true(sphere == 0 && stretched == 1 && mirrored == 2);
    tl_rays_free(child); /* the instances keep it */

    tl_ray ray[4] = {down(far_away, 5, 5), down(far_away, 8.3, 5), down(far_away, 11, 1), down(far_away, 20.5, 0.25)};
    tl_rays_intersect(top, 4, ray);
    assert_true(ray[0].geometry == 0 && ray[0].primitive == 0 && ray[1].primitive == 1);
    CHECK_NEAR(ray[0].tfar, 1.5, 1e-5);
    CHECK_NEAR(ray[1].tfar, 2 - 0.4, 1e-5); /* 3-4-5 */
    CHECK_NEAR(ray[1].normal[0], 0.6, 1e-5);
    CHECK_NEAR(ray[1].normal[2], 0.8, 1e-5);
    assert_true(ray[2].instance == 1 && ray[2].geometry == 0);
    CHECK_NEAR(ray[2].tfar, 1.5, 1e-5);
    CHECK_NEAR(ray[2].normal[0], -1 / sqrt(5), 1e-5);
    CHECK_NEAR(ray[2].normal[2], 2 / sqrt(5), 1e-5);
    CHECK_NEAR(ray[3].normal[2], -1, 1e-5); /* what was outside stays outside under a mirror */

    tl_near n = tl_rays_nearest(top, there(0.5, 0.25, 0), INFINITY);
    assert_int_equal(n.triangle, -1); /* spheres and instances are not asked */
    tl_rays_free(top);
}

static void nearest_is_exact_and_ties_go_to_the_first(void **state)
{
    (void)state;
    tl_rays *r = square_scene();
    tl_near n = tl_rays_nearest(r, there(0.75, 0.25, 1.5), INFINITY);
    assert_true(n.geometry == 0 && n.triangle == 0 && n.feature == TL_ON_FACE && n.distance2 == 2.25);
    n = tl_rays_nearest(r, there(0.5, 0.5, -1), INFINITY); /* on the diagonal: both triangles, the first wins */
    assert_true(n.triangle == 0 && n.distance2 == 1);
    n = tl_rays_nearest(r, there(0.5, 2, 0), INFINITY);
    assert_true(n.triangle == 1 && n.feature == TL_ON_BC && n.distance2 == 1);
    n = tl_rays_nearest(r, there(-3, -4, 0), INFINITY);
    assert_true(n.triangle == 0 && n.feature == TL_ON_A && n.distance2 == 25);
    assert_int_equal(tl_rays_nearest(r, there(0.5, 0.5, 2), 1.9).triangle, -1);
    assert_int_equal(tl_rays_nearest(r, there(0.5, 0.5, 2), 2.1).triangle, 0);
    assert_int_equal(tl_rays_nearest(r, tl_vec3_make(NAN, 0, 0), INFINITY).triangle, -1);
    tl_rays_free(r);
}

static void wrong_geometry_is_refused(void **state)
{
    (void)state;
    tl_rays *r = square_scene(), *other = square_scene();
    int32_t beyond[1][3] = {{0, 1, 4}}, negative[1][3] = {{0, -1, 2}};
    assert_int_equal(tl_rays_add_mesh(r, 4, square, 1, beyond, NULL, &err), TALUS_BAD_INPUT);
    assert_string_equal(err.message, "triangle 0 names vertex 4 of 4");
    assert_int_equal(tl_rays_add_mesh(r, 4, square, 1, negative, NULL, &err), TALUS_BAD_INPUT);
    tl_vec3 nan = tl_vec3_make(0, NAN, 0);
    assert_int_equal(tl_rays_add_mesh(r, 1, &nan, 0, NULL, NULL, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_rays_add_spheres(r, 1, &nan, 1, NULL, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_rays_add_spheres(r, 1, square, -1, NULL, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_rays_add_instance(r, other, tl_mat3_identity(), far_away, NULL, &err), TALUS_BAD_INPUT);
    tl_rays *child;
    CHECK_OK(tl_rays_create(&child, &(tl_rays_options){.like = r}, &err));
    assert_int_equal(tl_rays_add_instance(r, child, tl_mat3_identity(), far_away, NULL, &err), TALUS_BAD_INPUT);
    CHECK_OK(tl_rays_commit(child, &err));
    assert_int_equal(tl_rays_add_instance(r, child, tl_mat3_zero(), far_away, NULL, &err), TALUS_BAD_INPUT);
    CHECK_OK(tl_rays_add_instance(child, r, tl_mat3_identity(), far_away, NULL, &err));
    CHECK_OK(tl_rays_commit(child, &err));
    assert_int_equal(tl_rays_add_instance(r, child, tl_mat3_identity(), far_away, NULL, &err), TALUS_UNSUPPORTED);
    CHECK_OK(tl_rays_add_mesh(r, 0, NULL, 0, NULL, NULL, &err)); /* empty is fine */
    CHECK_OK(tl_rays_commit(r, &err));
    tl_rays_free(child);
    tl_rays_free(other);
    tl_rays_free(r);
}

/* Against the minimum over a fine sampling of the triangle: never farther, and nearer by at most the sampling. */
static void triangle_nearest_agrees_with_sampling(void **state)
{
    (void)state;
    int seen[7] = {0};
    for (uint64_t k = 0; k < 3000; k++) {
        tl_vec3 v[4];
        for (uint64_t i = 0; i < 4; i++)
            v[i] = tl_vec3_make(tl_random(1, k, 3 * i), tl_random(1, k, 3 * i + 1), tl_random(1, k, 3 * i + 2));
        if (k % 4 == 0) v[2] = tl_vec3_add(tl_vec3_scale(0.3, v[0]), tl_vec3_scale(0.7, v[1])); /* thin */
        if (k % 64 == 0) v[1] = v[0];
        tl_feature feature;
        double d = tl_vec3_norm(tl_vec3_sub(v[3], tl_triangle_nearest(v[3], v[0], v[1], v[2], &feature)));
        double best = INFINITY;
        enum { N = 40 };
        for (int i = 0; i <= N; i++)
            for (int j = 0; i + j <= N; j++) {
                tl_vec3 q = tl_vec3_add(tl_vec3_scale(i / (double)N, v[0]), tl_vec3_scale(j / (double)N, v[1]));
                best =
                    fmin(best, tl_vec3_norm(tl_vec3_sub(tl_vec3_add_scaled(q, (N - i - j) / (double)N, v[2]), v[3])));
            }
        CHECK_LE(d, best + 1e-15);
        CHECK_LE(best, d + 1.8 / N); /* edges are at most sqrt 3 long */
        seen[feature]++;
    }
    for (int f = 0; f < 7; f++) assert_true(seen[f] > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_hit_triangles),
        cmocka_unit_test(instances_and_spheres),
        cmocka_unit_test(nearest_is_exact_and_ties_go_to_the_first),
        cmocka_unit_test(wrong_geometry_is_refused),
        cmocka_unit_test(triangle_nearest_agrees_with_sampling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
