/* Marched surfaces: closed, manifold and oriented whatever is marched; on the surface, near in volume and area, with
 * good triangles. */
#include "geom/surface.h"

#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "check.h"
#include "shapes.h"
#include "surfaces.h"

static talus_error err;
static const double pi = 3.14159265358979323846;

static void check_closed(const char *name, const tl_test_surface *s)
{
    if (!tl_test_surface_closed(s))
        fail_msg("%s: %d open, %d crowded, %d flipped edges, %d pinched, %d unused vertices, %d repeated", name,
                 (int)s->open, (int)s->crowded, (int)s->flipped, (int)s->pinched, (int)s->unused, (int)s->repeated);
}

static double volume_of(const tl_shape_tree *t, int node)
{
    tl_mass m;
    CHECK_OK(tl_shape_mass(t, node, 80, &m, &err));
    return m.volume;
}

static void every_shape_is_closed_and_near(void **state)
{
    (void)state;
    tl_test_shapes s = tl_test_shapes_make();
    const double edges[] = {0.31, 0.06}; /* coarse: about two edges across the features; fine */
    for (int k = 0; k < s.count; k++)
        for (int e = 0; e < 2; e++) {
            tl_trimesh m;
            const char *name = s.shape[k].name;
            int node = s.shape[k].node;
            CHECK_OK(tl_surface_march(s.tree, node, edges[e], &m, &err));
            tl_test_surface q = tl_test_surface_read(&m);
            check_closed(name, &q);
            for (int32_t v = 0; v < m.vertices; v++) {
                double d = tl_shape_distance(s.tree, node, m.vertex[v]);
                if (!(fabs(d) < 1e-9)) fail_msg("%s: vertex %g off", name, d);
            }
            if (e == 1) {
                tl_trimesh_report r;
                CHECK_OK(tl_trimesh_check(&m, &r, &err));
                assert_true(r.closed && !r.inverted && r.nonmanifold_vertices == 0 && r.degenerate == 0 &&
                            r.duplicate == 0);
                /* tips and notches of the star are narrower than an edge */
                CHECK_LE(r.self_intersections, strcmp(name, "star") ? 0 : 5);
                double v = volume_of(s.tree, node), rel = q.volume / v - 1;
                if (!(fabs(rel) < 0.02)) fail_msg("%s: volume off by %g", name, rel);
                if (!(q.edge_mean > 0.85 * edges[e] && q.edge_mean < 1.15 * edges[e]))
                    fail_msg("%s: mean edge %g", name, q.edge_mean / edges[e]);
                if (!(q.edge_max < 2.2 * edges[e])) fail_msg("%s: longest edge %g", name, q.edge_max / edges[e]);
                if (s.shape[k].smooth && strcmp(name, "animal") && q.angle_min_deg < 20)
                    fail_msg("%s: angle %g", name, q.angle_min_deg);
                if (!(q.thin < 0.01)) fail_msg("%s: %g of the triangles are thin", name, q.thin);
            }
            tl_trimesh_free(&m);
        }
    tl_shape_tree_free(s.tree);
}

static void volume_and_area_converge(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int ball = tl_shape_sphere(t, 1, &err), ring = tl_shape_torus(t, 1, 0.4, &err);
    double off[2][3][2];
    for (int e = 0; e < 3; e++)
        for (int k = 0; k < 2; k++) {
            tl_trimesh m;
            CHECK_OK(tl_surface_march(t, k ? ring : ball, 0.2 / (1 << e), &m, &err));
            tl_test_surface q = tl_test_surface_read(&m);
            off[k][e][0] = fabs(q.volume / (k ? 2 * pi * pi * 0.16 : 4 * pi / 3) - 1);
            off[k][e][1] = fabs(q.area / (k ? 4 * pi * pi * 0.4 : 4 * pi) - 1);
            tl_trimesh_free(&m);
        }
    for (int k = 0; k < 2; k++)
        for (int w = 0; w < 2; w++) { /* second order: a quarter per halving, give or take */
            CHECK_LE(off[k][1][w], 0.35 * off[k][0][w]);
            CHECK_LE(off[k][2][w], 0.35 * off[k][1][w]);
            CHECK_LE(off[k][2][w], 3e-3);
        }
    tl_shape_tree_free(t);
}

/* Flat faces meet in straight edges: the polyhedron itself must come out. */
static void sharp_edges_are_kept(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    const double turn[4] = {0.8, 0.36, 0.48, 0};
    int box = tl_shape_box(t, (tl_vec3){1, 0.6, 0.8}, 0, &err),
        turned = tl_shape_place(t, box, (tl_vec3){3, 1, -2}, turn, 1.5, &err);
    const double wedge[][2] = {{0, 0}, {1, 0}, {0, 1}};
    int prism = tl_shape_extrude(t, 3, wedge, 0.7, &err);
    const struct {
        int node;
        double volume, area;
    } cases[] = {{box, 0.48, 2 * (0.6 + 0.8 + 0.48)},
                 {turned, 0.48 * 3.375, 2.25 * 2 * (0.6 + 0.8 + 0.48)},
                 {prism, 0.35, 1 + 0.7 * (2 + sqrt(2))}};
    for (int k = 0; k < 3; k++) {
        tl_trimesh m;
        CHECK_OK(tl_surface_march(t, cases[k].node, 0.11, &m, &err));
        tl_test_surface q = tl_test_surface_read(&m);
        check_closed("polyhedron", &q);
        CHECK_REL(q.volume, cases[k].volume, 1e-6);
        CHECK_REL(q.area, cases[k].area, 1e-6);
        tl_trimesh_free(&m);
    }
    tl_shape_tree_free(t);
}

/* Holes stay holes, parts stay parts. */
static void topology_is_right(void **state)
{
    (void)state;
    tl_test_shapes s = tl_test_shapes_make();
    const struct {
        const char *name;
        int euler;
    } cases[] = {{"sphere", 2}, {"torus", 0},           {"shell", 4},          {"bowl", 2},
                 {"star", 2},   {"stretched torus", 0}, {"rows of boxes", 54}, {"animal", 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int k = 0; k < s.count; k++) {
            if (strcmp(s.shape[k].name, cases[c].name)) continue;
            tl_trimesh m;
            CHECK_OK(tl_surface_march(s.tree, s.shape[k].node, 0.05, &m, &err));
            if (m.vertices - m.triangles / 2 != cases[c].euler)
                fail_msg("%s: Euler number %d", cases[c].name, m.vertices - m.triangles / 2);
            tl_trimesh_free(&m);
        }
    tl_shape_tree_free(s.tree);
}

/* ---- fields ---- */

enum { N = 24 };
static float field[N * N * N];

static void sphere_field(void **state)
{
    (void)state;
    for (int i = 0; i < N * N * N; i++) {
        tl_vec3 p = {i / (N * N) - 11.3, i / N % N - 11.6, i % N - 11.1};
        field[i] = (float)(tl_vec3_norm(p) - 8);
    }
    tl_trimesh m;
    CHECK_OK(tl_surface_march_field(N, N, N, field, (tl_vec3){1, 2, 3}, 0.5, &m, &err));
    tl_test_surface q = tl_test_surface_read(&m);
    check_closed("sphere field", &q);
    CHECK_REL(q.volume, 4 * pi / 3 * 64, 0.02); /* radius 4 */
    CHECK_REL(q.area, 4 * pi * 16, 0.02);
    tl_vec3 c = {1 + 0.5 * 11.3, 2 + 0.5 * 11.6, 3 + 0.5 * 11.1};
    for (int32_t v = 0; v < m.vertices; v++) CHECK_NEAR(tl_vec3_norm(tl_vec3_sub(m.vertex[v], c)), 4, 0.04);
    tl_trimesh_free(&m);
}

/* Any signs whatever, up to the border, and NaN: still closed and manifold. */
static void noise_is_closed_too(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        for (int i = 0; i < N * N * N; i++) field[i] = (float)(tl_random(seed, (uint64_t)i, 0) - 0.5);
        if (seed % 2) field[777] = NAN;
        if (seed == 2)
            for (int i = 0; i < N * N * N; i++)
                field[i] = copysignf(1, field[i]) * (i % 3 ? 1 : 0); /* zeros of both signs */
        tl_trimesh m;
        CHECK_OK(tl_surface_march_field(N, N - 3, N - 5, field, (tl_vec3){0, 0, 0}, 1, &m, &err));
        assert_true(m.triangles > 10000);
        tl_test_surface q = tl_test_surface_read(&m);
        check_closed("noise", &q);
        for (int32_t v = 0; v < m.vertices; v++) assert_true(tl_vec3_max_abs(m.vertex[v]) < N);
        assert_true(q.volume > 0);
        tl_trimesh_free(&m);
    }
    for (int i = 0; i < N * N * N; i++) field[i] = -1;
    tl_trimesh m;
    CHECK_OK(tl_surface_march_field(N, N, N, field, (tl_vec3){0, 0, 0}, 1, &m, &err));
    tl_test_surface q = tl_test_surface_read(&m);
    check_closed("full box", &q);
    assert_int_equal(m.vertices - m.triangles / 2, 2);
    assert_true(q.volume > (N - 1) * (N - 1) * (N - 1) && q.volume < N * N * N);
    tl_trimesh_free(&m);
    for (int i = 0; i < N * N * N; i++) field[i] = 1;
    CHECK_OK(tl_surface_march_field(N, N, N, field, (tl_vec3){0, 0, 0}, 1, &m, &err));
    assert_int_equal(m.triangles, 0);
    tl_trimesh_free(&m);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    tl_trimesh m;
    int ball = tl_shape_sphere(t, 1, &err), ground = tl_shape_half_space(t, (tl_vec3){0, 1, 0}, 0, &err);
    assert_int_equal(tl_surface_march(t, ground, 0.1, &m, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_surface_march(t, ball, 0, &m, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_surface_march(t, ball, NAN, &m, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_surface_march(t, ball, 1e-5, &m, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "4000 cells"));
    assert_int_equal(tl_surface_march(t, ball, 100, &m, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "smallest feature is 2"));
    assert_int_equal(tl_surface_march_field(0, 1, 1, field, (tl_vec3){0, 0, 0}, 1, &m, &err), TALUS_BAD_INPUT);
    tl_shape_tree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_is_closed_and_near),
        cmocka_unit_test(volume_and_area_converge),
        cmocka_unit_test(sharp_edges_are_kept),
        cmocka_unit_test(topology_is_right),
        cmocka_unit_test(sphere_field),
        cmocka_unit_test(noise_is_closed_too),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
