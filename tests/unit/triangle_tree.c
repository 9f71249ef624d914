#include "geom/triangle_tree.h"

#include "base/random.h"
#include "check.h"
#include "meshes.h"

static talus_error err;

static tl_vec3 random_point(uint64_t seed, uint64_t k)
{
    return tl_vec3_make(tl_random(seed, k, 0), tl_random(seed, k, 1), tl_random(seed, k, 2));
}

/* Length of the piece that two triangles have in common: s in the plane of t is a segment; cut it at t's three
 * edges. */
static double common_length(const tl_vec3 s[3], const tl_vec3 t[3])
{
    tl_vec3 n = tl_vec3_cross(tl_vec3_sub(t[1], t[0]), tl_vec3_sub(t[2], t[0])), end[2];
    int ends = 0;
    for (int k = 0; k < 3; k++) {
        double a = tl_vec3_dot(n, tl_vec3_sub(s[k], t[0])), b = tl_vec3_dot(n, tl_vec3_sub(s[(k + 1) % 3], t[0]));
        if ((a > 0) == (b > 0)) continue;
        if (ends < 2) end[ends++] = tl_vec3_add_scaled(s[k], a / (a - b), tl_vec3_sub(s[(k + 1) % 3], s[k]));
    }
    if (ends < 2) return 0;
    double lo = 0, hi = 1;
    for (int k = 0; k < 3; k++) {
        tl_vec3 inwards = tl_vec3_cross(n, tl_vec3_sub(t[(k + 1) % 3], t[k]));
        double a = tl_vec3_dot(inwards, tl_vec3_sub(end[0], t[k])), b = tl_vec3_dot(inwards, tl_vec3_sub(end[1], t[k]));
        if (a < 0 && b < 0) return 0;
        if (a < 0) lo = fmax(lo, a / (a - b));
        if (b < 0) hi = fmin(hi, a / (a - b));
    }
    return hi > lo ? (hi - lo) * tl_vec3_norm(tl_vec3_sub(end[1], end[0])) : 0;
}

/* shared: how many vertices the two have in common */
static void compare_cuts(int shared, int least)
{
    int cut = 0;
    for (uint64_t k = 0; k < 20000; k++) {
        tl_vec3 s[3], t[3];
        for (uint64_t i = 0; i < 3; i++) {
            s[i] = random_point(2, 6 * k + i);
            t[i] = random_point(2, 6 * k + 3 + i);
        }
        if (shared) t[k % 3] = s[k / 3 % 3];
        double length = common_length(s, t);
        if (length > 0 && length < 1e-9) continue; /* the reference cannot tell */
        bool found = tl_triangles_cut(s, t);
        if (found != (length > 0)) fail_msg("pair %d: cut %d, common length %g", (int)k, found, length);
        assert_true(tl_triangles_cut(t, s) == found);
        cut += found;
    }
    assert_true(cut > least && cut < 20000 - least);
}

static void cuts_agree_with_clipping(void **state)
{
    (void)state;
    compare_cuts(0, 1000);
    compare_cuts(1, 1000);
}

static void touching_is_not_cutting(void **state)
{
    (void)state;
    const tl_vec3 s[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const tl_vec3 same[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const tl_vec3 in_plane[3] = {{0.1, 0.1, 0}, {2, 0.1, 0}, {0.1, 2, 0}};
    const tl_vec3 edge[3] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}};
    const tl_vec3 tip_on_face[3] = {{0.2, 0.2, 0}, {0, 0, 1}, {1, 0, 1}};
    const tl_vec3 edge_on_face[3] = {{0.2, 0.2, 0}, {0.3, 0.2, 0}, {1, 0, 1}};
    const tl_vec3 through[3] = {{0.2, 0.2, -1}, {0.3, 0.2, 1}, {0.2, 0.3, 1}};
    const tl_vec3 crossed_edges[3] = {{0.5, -1, 1}, {0.5, -1, -1}, {0.5, 0, 0}}; /* meets the edge y = 0 in one point */
    assert_false(tl_triangles_cut(s, same));
    assert_false(tl_triangles_cut(s, in_plane));
    assert_false(tl_triangles_cut(s, edge));
    assert_false(tl_triangles_cut(s, tip_on_face));
    assert_false(tl_triangles_cut(s, edge_on_face));
    assert_false(tl_triangles_cut(s, crossed_edges));
    assert_true(tl_triangles_cut(s, through));
}

static void tree_finds_every_pair(void **state)
{
    (void)state;
    tl_trimesh m, other;
    CHECK_OK(tl_trimesh_icosphere(&m, 1, 2, &err));
    CHECK_OK(tl_test_mesh_torus(&other, 1, 0.3, 40, 20, &err));
    CHECK_OK(tl_test_mesh_append(&m, &other, &err));
    int64_t brute = 0;
    for (int32_t i = 0; i < m.triangles; i++)
        for (int32_t j = i + 1; j < m.triangles; j++) {
            tl_vec3 s[3], t[3];
            for (int k = 0; k < 3; k++) {
                s[k] = m.vertex[m.triangle[i][k]];
                t[k] = m.vertex[m.triangle[j][k]];
            }
            brute += tl_triangles_cut(s, t);
        }
    tl_triangle_tree tree;
    CHECK_OK(tl_triangle_tree_create(&tree, &m, &err));
    assert_true(brute > 100);
    assert_int_equal(tl_triangle_tree_cuts(&tree), brute);
    tl_triangle_tree_free(&tree);
    tl_trimesh_free(&other);
    tl_trimesh_free(&m);
}

static void winding_is_near_the_exact_sum(void **state)
{
    (void)state;
    tl_trimesh m;
    CHECK_OK(tl_test_mesh_torus(&m, 1, 0.4, 60, 30, &err));
    for (int open = 0; open < 2; open++) { /* an open mesh too: its winding is any number */
        tl_triangle_tree tree;
        CHECK_OK(tl_triangle_tree_create(&tree, &m, &err));
        double worst = 0;
        for (uint64_t k = 0; k < 600; k++) {
            tl_vec3 p = tl_vec3_scale(3.2, tl_vec3_sub(random_point(3, k), tl_vec3_make(0.5, 0.5, 0.5)));
            if (k % 2) p.y *= 0.25;
            double exact = 0;
            for (int32_t t = 0; t < m.triangles; t++) {
                const int32_t *f = m.triangle[t];
                exact += tl_triangle_winding(p, m.vertex[f[0]], m.vertex[f[1]], m.vertex[f[2]]);
            }
            if (!open) CHECK_NEAR(exact, round(exact), 1e-12);
            worst = fmax(worst, fabs(tl_triangle_tree_winding(&tree, p) - exact));
        }
        CHECK_LE(worst, 0.02);     /* as the header says */
        assert_true(worst > 1e-6); /* the far field is in use */
        tl_triangle_tree_free(&tree);
        m.triangles -= 700;
    }
    tl_trimesh_free(&m);
}

static void empty_mesh(void **state)
{
    (void)state;
    tl_trimesh m;
    tl_triangle_tree tree;
    CHECK_OK(tl_trimesh_create(&m, 0, 0, &err));
    CHECK_OK(tl_triangle_tree_create(&tree, &m, &err));
    assert_int_equal(tl_triangle_tree_cuts(&tree), 0);
    assert_true(tl_triangle_tree_winding(&tree, tl_vec3_make(0, 0, 0)) == 0);
    tl_triangle_tree_free(&tree);
    tl_trimesh_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_agree_with_clipping),
        cmocka_unit_test(touching_is_not_cutting),
        cmocka_unit_test(tree_finds_every_pair),
        cmocka_unit_test(winding_is_near_the_exact_sum),
        cmocka_unit_test(empty_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
