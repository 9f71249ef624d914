#include "geom/trimesh.h"

#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "base/random.h"
#include "check.h"
#include "meshes.h"

#define PI 3.141592653589793
static talus_error err;

static tl_trimesh make(int32_t vertices, const tl_vec3 *v, int32_t triangles, const int32_t (*f)[3])
{
    tl_trimesh m;
    CHECK_OK(tl_trimesh_create(&m, vertices, triangles, &err));
    memcpy(m.vertex, v, sizeof *v * (size_t)vertices);
    memcpy(m.triangle, f, sizeof *f * (size_t)triangles);
    return m;
}

static const tl_vec3 tet_v[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const int32_t tet_f[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

static tl_trimesh tetrahedron(void) { return make(4, tet_v, 4, tet_f); }

static tl_trimesh_report check(const tl_trimesh *m)
{
    tl_trimesh_report r;
    CHECK_OK(tl_trimesh_check(m, &r, &err));
    return r;
}

/* The sentences, joined by " | ". */
static const char *explained(const tl_trimesh_report *r)
{
    static char text[2000];
    char line[16][160];
    int lines = tl_trimesh_explain(r, 16, line);
    text[0] = '\0';
    for (int i = 0; i < lines; i++) {
        if (i > 0) strcat(text, " | ");
        strcat(text, line[i]);
    }
    return text;
}

static void closed_meshes_have_nothing_to_report(void **state)
{
    (void)state;
    tl_trimesh m[5];
    m[0] = tetrahedron();
    CHECK_OK(tl_trimesh_icosphere(&m[1], 1, 3, &err));
    CHECK_OK(tl_trimesh_box(&m[2], tl_vec3_make(1, 2, 3), 4, &err));
    CHECK_OK(tl_test_mesh_torus(&m[3], 2, 0.5, 24, 12, &err));
    CHECK_OK(tl_trimesh_box(&m[4], tl_vec3_make(1, 1, 1), 1, &err));
    const int32_t vertices[5] = {4, 642, 98, 288, 8}, triangles[5] = {4, 1280, 192, 576, 12};
    for (int i = 0; i < 5; i++) {
        tl_trimesh_report r = check(&m[i]);
        assert_string_equal(explained(&r), "");
        assert_true(r.closed && r.volume > 0);
        assert_int_equal(r.components, 1);
        assert_int_equal(m[i].vertices, vertices[i]);
        assert_int_equal(m[i].triangles, triangles[i]);
        tl_trimesh_free(&m[i]);
    }
}

static void open_and_flipped(void **state)
{
    (void)state;
    tl_trimesh m;
    CHECK_OK(tl_test_mesh_sheet(&m, 1, 1, 3, 2, &err));
    tl_trimesh_report r = check(&m);
    assert_false(r.closed);
    assert_string_equal(explained(&r), "10 open edges: the surface has holes");
    CHECK_NEAR(r.area, 1, 1e-15);
    tl_trimesh_free(&m);

    m = tetrahedron();
    m.triangles = 3;
    r = check(&m);
    assert_string_equal(explained(&r), "3 open edges: the surface has holes");
    m.triangles = 4;
    m.triangle[1][0] = 1;
    m.triangle[1][1] = 0; /* the other way around */
    r = check(&m);
    assert_int_equal(r.flipped_edges, 3);
    assert_true(!r.closed && !r.inverted);
    assert_string_equal(explained(&r),
                        "3 edges between triangles of opposite orientation: some triangles face the wrong way");
    tl_trimesh_free(&m);
}

static void inverted(void **state)
{
    (void)state;
    tl_trimesh m = tetrahedron();
    tl_test_mesh_flip(&m);
    tl_trimesh_report r = check(&m);
    assert_true(r.closed && r.inverted);
    CHECK_NEAR(r.volume, -1.0 / 6, 1e-16);
    assert_string_equal(explained(&r), "the volume is negative: the triangles face inwards, the mesh is inside out");
    tl_trimesh_free(&m);
}

static void not_manifold(void **state)
{
    (void)state;
    /* Three leaves on one edge. */
    const tl_vec3 v[5] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, -1, 0}};
    const int32_t book[3][3] = {{0, 1, 2}, {0, 1, 3}, {0, 1, 4}};
    tl_trimesh m = make(5, v, 3, book);
    tl_trimesh_report r = check(&m);
    assert_int_equal(r.nonmanifold_edges, 1);
    assert_int_equal(r.open_edges, 6);
    assert_int_equal(r.components, 1);
    tl_trimesh_free(&m);

    /* Two tetrahedra that share one vertex. */
    m = tetrahedron();
    tl_trimesh other = tetrahedron();
    tl_test_mesh_transform(&other, tl_mat3_diagonal(-1, -1, -1), tl_vec3_make(0, 0, 0));
    CHECK_OK(tl_test_mesh_append(&m, &other, &err));
    r = check(&m);
    assert_string_equal(explained(&r), ""); /* two vertices at the same place */
    assert_int_equal(r.components, 2);
    CHECK_OK(tl_trimesh_weld(&m, 0, &err));
    assert_int_equal(m.vertices, 7);
    r = check(&m);
    assert_string_equal(explained(&r), "1 vertex where surfaces touch in a point: the surface is pinched");
    assert_true(r.closed && r.components == 2);
    CHECK_NEAR(r.volume, 1.0 / 3, 1e-15);
    tl_trimesh_free(&m);
    tl_trimesh_free(&other);
}

static void degenerate_duplicate_unused(void **state)
{
    (void)state;
    const tl_vec3 v[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.5, 0.5, 0}, {9, 9, 9}};
    const int32_t f[5][3] = {{0, 1, 2}, {1, 2, 0}, {2, 1, 0}, {1, 3, 2}, {1, 1, 3}};
    tl_trimesh m = make(5, v, 5, f);
    tl_trimesh_report r = check(&m);
    assert_int_equal(r.degenerate, 2); /* collinear, and a vertex named twice */
    assert_int_equal(r.duplicate, 2);
    assert_int_equal(r.unused_vertices, 1);
    assert_int_equal(r.self_intersections, 0);
    tl_trimesh_free(&m);

    CHECK_OK(tl_trimesh_create(&m, 0, 0, &err));
    r = check(&m);
    assert_string_equal(explained(&r), "no triangles: there is no surface");
    assert_false(r.closed);
    tl_trimesh_free(&m);
}

static void self_intersecting(void **state)
{
    (void)state;
    /* Two cubes, shifted along the space diagonal: edges cross faces exactly on their diagonals. */
    tl_trimesh m, other;
    CHECK_OK(tl_trimesh_box(&m, tl_vec3_make(1, 1, 1), 1, &err));
    CHECK_OK(tl_trimesh_box(&other, tl_vec3_make(1, 1, 1), 1, &err));
    tl_test_mesh_transform(&other, tl_mat3_identity(), tl_vec3_make(0.5, 0.5, 0.5));
    CHECK_OK(tl_test_mesh_append(&m, &other, &err));
    tl_trimesh_report r = check(&m);
    assert_true(r.self_intersections >= 6 && r.closed); /* six edges of each enter the other */
    /* Side by side with a common face: touching, not cutting. */
    tl_trimesh_free(&m);
    CHECK_OK(tl_trimesh_box(&m, tl_vec3_make(1, 1, 1), 1, &err));
    tl_test_mesh_transform(&other, tl_mat3_identity(), tl_vec3_make(0.5, -0.25, -0.5));
    CHECK_OK(tl_test_mesh_append(&m, &other, &err));
    r = check(&m);
    assert_string_equal(explained(&r), "");
    tl_trimesh_free(&other);
    tl_trimesh_free(&m);

    /* A sphere with one vertex pushed out through the far side. */
    CHECK_OK(tl_trimesh_icosphere(&m, 1, 2, &err));
    m.vertex[0] = tl_vec3_scale(-1.5, m.vertex[0]);
    r = check(&m);
    assert_true(r.self_intersections > 0 && r.closed);
    tl_trimesh_free(&m);
}

static void explain_stops_at_max(void **state)
{
    (void)state;
    tl_trimesh_report r = {.components = 1, .open_edges = 1, .duplicate = 2, .degenerate = 1};
    char line[2][160];
    assert_int_equal(tl_trimesh_explain(&r, 2, line), 2);
    assert_string_equal(line[0], "1 open edge: the surface has holes");
    assert_string_equal(line[1], "1 triangle without area: they have no normal");
    assert_int_equal(tl_trimesh_explain(&r, 0, line), 0);
}

static void weld_within_a_distance(void **state)
{
    (void)state;
    tl_trimesh m;
    CHECK_OK(tl_trimesh_icosphere(&m, 1, 3, &err));
    int32_t vertices = m.vertices, triangles = m.triangles;
    tl_trimesh soup;
    CHECK_OK(tl_trimesh_create(&soup, 3 * triangles, triangles, &err));
    for (int32_t t = 0; t < triangles; t++)
        for (int k = 0; k < 3; k++) {
            uint64_t id = (uint64_t)(3 * t + k);
            tl_vec3 shake = {tl_random(5, id, 0) - 0.5, tl_random(5, id, 1) - 0.5, tl_random(5, id, 2) - 0.5};
            soup.vertex[3 * t + k] = tl_vec3_add_scaled(m.vertex[m.triangle[t][k]], 1e-6, shake);
            soup.triangle[t][k] = 3 * t + k;
        }
    CHECK_OK(tl_trimesh_weld(&soup, 0, &err)); /* nothing is exactly equal */
    assert_int_equal(soup.vertices, 3 * triangles);
    CHECK_OK(tl_trimesh_weld(&soup, 2e-6, &err));
    assert_int_equal(soup.vertices, vertices);
    assert_int_equal(soup.triangles, triangles);
    assert_true(check(&soup).closed);
    CHECK_OK(tl_trimesh_weld(&soup, 10, &err)); /* all of it */
    assert_int_equal(soup.vertices, 1);
    assert_int_equal(soup.triangles, 0);
    assert_int_equal(tl_trimesh_weld(&soup, -1, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_trimesh_weld(&soup, NAN, &err), TALUS_BAD_INPUT);
    tl_trimesh_free(&soup);
    tl_trimesh_free(&m);

    const tl_vec3 zero[3] = {{0.0, 1, 2}, {-0.0, 1, 2}, {0, 1, -2}};
    const int32_t f[1][3] = {{0, 1, 2}};
    m = make(3, zero, 1, f);
    CHECK_OK(tl_trimesh_weld(&m, 0, &err));
    assert_int_equal(m.vertices, 2); /* 0 and -0 are the same place */
    tl_trimesh_free(&m);
}

static void check_mass(tl_mass mass, double volume, tl_vec3 center, tl_mat3 inertia, double rel)
{
    CHECK_REL(mass.volume, volume, rel);
    CHECK_NEAR(tl_vec3_norm(tl_vec3_sub(mass.center, center)), 0, rel * fmax(1, tl_vec3_norm(center)));
    CHECK_LE(tl_mat3_norm(tl_mat3_sub(mass.inertia, inertia)), rel * tl_mat3_norm(inertia));
}

static void mass_of_polyhedra_is_exact(void **state)
{
    (void)state;
    tl_trimesh m;
    tl_vec3 e = {1, 2, 3}, at = {5, -7, 2};
    CHECK_OK(tl_trimesh_box(&m, e, 3, &err));
    tl_test_mesh_transform(&m, tl_mat3_identity(), at);
    double v = 6;
    tl_mat3 box = tl_mat3_diagonal(v * (4 + 9) / 12, v * (1 + 9) / 12, v * (1 + 4) / 12);
    check_mass(tl_trimesh_mass(&m), v, at, box, 1e-14);
    /* a mirror image has the same mass, not the negative */
    tl_test_mesh_transform(&m, tl_mat3_diagonal(-1, 1, 1), tl_vec3_make(0, 0, 0));
    check_mass(tl_trimesh_mass(&m), v, tl_vec3_make(-5, -7, 2), box, 1e-14);
    tl_trimesh_free(&m);

    /* Unit corner tetrahedron: second moments about the origin are xx = 1/60, xy = 1/120; centre (1,1,1)/4,
     * volume 1/6. */
    m = tetrahedron();
    double xx = 1.0 / 60 - 1.0 / 96, xy = 1.0 / 120 - 1.0 / 96;
    tl_mat3 tet = {{{2 * xx, -xy, -xy}, {-xy, 2 * xx, -xy}, {-xy, -xy, 2 * xx}}};
    check_mass(tl_trimesh_mass(&m), 1.0 / 6, tl_vec3_make(0.25, 0.25, 0.25), tet, 1e-14);
    tl_trimesh_free(&m);
}

static void mass_of_round_meshes_converges(void **state)
{
    (void)state;
    tl_trimesh m;
    double last = INFINITY;
    for (int level = 3; level <= 5; level++) {
        CHECK_OK(tl_trimesh_icosphere(&m, 2, level, &err));
        double v = 4.0 / 3 * PI * 8, off = fabs(tl_trimesh_mass(&m).volume / v - 1);
        CHECK_LE(off, last / 3.5); /* second order: 4 */
        last = off;
        if (level == 5) {
            double i = 0.4 * v * 4;
            check_mass(tl_trimesh_mass(&m), v, tl_vec3_make(0, 0, 0), tl_mat3_diagonal(i, i, i), 1e-3);
            CHECK_REL(check(&m).area, 16 * PI, 1e-3);
        }
        tl_trimesh_free(&m);
    }
    CHECK_LE(last, 1e-3);

    double R = 2, r = 0.5, v = 2 * PI * PI * R * r * r;
    CHECK_OK(tl_test_mesh_torus(&m, R, r, 200, 160, &err));
    double axis = v * (R * R + 0.75 * r * r), across = v * (0.5 * R * R + 0.625 * r * r);
    check_mass(tl_trimesh_mass(&m), v, tl_vec3_make(0, 0, 0), tl_mat3_diagonal(across, axis, across), 1e-3);
    tl_trimesh_free(&m);
}

static void makers_refuse_nonsense(void **state)
{
    (void)state;
    tl_trimesh m;
    assert_int_equal(tl_trimesh_icosphere(&m, 0, 1, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_trimesh_icosphere(&m, 1, 10, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_trimesh_box(&m, tl_vec3_make(1, 0, 1), 1, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_test_mesh_torus(&m, 1, 1, 8, 8, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_test_mesh_torus(&m, 2, 1, 2, 8, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_test_mesh_sheet(&m, 1, NAN, 8, 8, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_trimesh_create(&m, -1, 0, &err), TALUS_BAD_INPUT);
    assert_null(m.vertex);
}

static void radix_sort_is_stable(void **state)
{
    (void)state;
    enum { N = 5000 };
    static uint64_t key[N], spare[N];
    static int32_t value[N], spare_value[N];
    for (int shift = 0; shift < 64; shift += 9) {
        for (int32_t i = 0; i < N; i++) {
            key[i] = (tl_random_bits(1, (uint64_t)i, 0) % 700) << shift | (uint64_t)(shift == 63);
            value[i] = i;
        }
        tl_radix_sort(N, key, value, spare, spare_value);
        for (int32_t i = 1; i < N; i++)
            assert_true(key[i - 1] < key[i] || (key[i - 1] == key[i] && value[i - 1] < value[i]));
        for (int32_t i = 0; i < N; i++)
            assert_true(key[i] ==
                        ((tl_random_bits(1, (uint64_t)value[i], 0) % 700) << shift | (uint64_t)(shift == 63)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_meshes_have_nothing_to_report),
        cmocka_unit_test(open_and_flipped),
        cmocka_unit_test(inverted),
        cmocka_unit_test(not_manifold),
        cmocka_unit_test(degenerate_duplicate_unused),
        cmocka_unit_test(self_intersecting),
        cmocka_unit_test(explain_stops_at_max),
        cmocka_unit_test(weld_within_a_distance),
        cmocka_unit_test(mass_of_polyhedra_is_exact),
        cmocka_unit_test(mass_of_round_meshes_converges),
        cmocka_unit_test(makers_refuse_nonsense),
        cmocka_unit_test(radix_sort_is_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
