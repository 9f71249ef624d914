/* Shapes, surfaces and samples with the heap refusing at every point: a clean status, nothing left behind,
 * nothing half made. */
#include "geom/shape.h"
#include "base/alloc.h"
#include "check.h"
#include "geom/surface.h"

static talus_error err;
static const double still[4] = {1, 0, 0, 0};

/* A tree with one of everything that allocates; -1 where a maker failed. */
static int make(tl_shape_tree *t)
{
    const double profile[][2] = {{0, 0}, {0.5, 0}, {0.3, 0.4}, {0, 0.5}};
    int part[12];
    int top = tl_shape_revolve(t, 4, profile, &err);
    if (top < 0) return -1;
    for (int k = 0; k < 10; k++) {
        int ball = tl_shape_sphere(t, 0.3, &err);
        if (ball < 0) return -1;
        part[k] = tl_shape_place(t, ball, (tl_vec3){0.2 * k - 1, 0.1 * k, 0}, still, 1, &err);
        if (part[k] < 0) return -1;
    }
    part[10] = tl_shape_extrude(t, 4, profile, 0.4, &err);
    if (part[10] < 0) return -1;
    int soft = tl_shape_smooth_union(t, 11, part, 0.1, &err), all[2] = {soft, top};
    if (soft < 0) return -1;
    int both = tl_shape_union(t, 2, all, &err);
    return both < 0 ? -1 : tl_shape_subtract(t, both, 2, part, &err);
}

static void makers_clean_up(void **state)
{
    (void)state;
    int failures = 0;
    for (int64_t k = 1;; k++) {
        int64_t live = tl_alloc_read().live_blocks;
        tl_alloc_fail_at(k);
        tl_shape_tree *t = tl_shape_tree_create();
        int node = t ? make(t) : -1;
        int failed = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        if (failed && t) { /* the tree is still good: what failed can be tried again */
            assert_int_equal(err.status, TALUS_NO_MEMORY);
            node = make(t);
        }
        if (t) {
            assert_true(node >= 0);
            assert_true(tl_shape_distance(t, node, (tl_vec3){5, 5, 5}) > 4);
        }
        tl_shape_tree_free(t);
        assert_int_equal(tl_alloc_read().live_blocks, live);
        if (!failed) break;
        failures++;
    }
    assert_true(failures >= 5);
}

typedef talus_status (*work)(const tl_shape_tree *t, int node);

static float field[12 * 12 * 12];

static talus_status march(const tl_shape_tree *t, int node)
{
    tl_trimesh m;
    talus_status s = tl_surface_march(t, node, 0.2, &m, &err);
    if (s != TALUS_OK) assert_true(!m.vertex && !m.triangle);
    tl_trimesh_free(&m);
    return s;
}
static talus_status march_field(const tl_shape_tree *t, int node)
{
    (void)t;
    (void)node;
    tl_trimesh m;
    talus_status s = tl_surface_march_field(12, 12, 12, field, (tl_vec3){0, 0, 0}, 1, &m, &err);
    tl_trimesh_free(&m);
    return s;
}
static talus_status mass(const tl_shape_tree *t, int node)
{
    tl_mass m;
    return tl_shape_mass(t, node, 20, &m, &err);
}
static talus_status on_surface(const tl_shape_tree *t, int node, tl_sampling how)
{
    tl_points p;
    talus_status s = tl_sample_surface(t, node, 0.2, 0.02, how, 1, &p, &err);
    if (s != TALUS_OK) assert_true(!p.at && !p.normal && !p.count);
    tl_points_free(&p);
    return s;
}
static talus_status surface_lattice(const tl_shape_tree *t, int node) { return on_surface(t, node, TL_SAMPLE_LATTICE); }
static talus_status surface_poisson(const tl_shape_tree *t, int node) { return on_surface(t, node, TL_SAMPLE_POISSON); }
static talus_status in_volume(const tl_shape_tree *t, int node, tl_filling how)
{
    tl_points p;
    talus_status s = tl_sample_volume(t, node, 0.2, 0, how, 1, &p, &err);
    if (s != TALUS_OK) assert_true(!p.at && !p.count);
    tl_points_free(&p);
    return s;
}
static talus_status lattice(const tl_shape_tree *t, int node) { return in_volume(t, node, TL_FILL_LATTICE); }
static talus_status blue_noise(const tl_shape_tree *t, int node) { return in_volume(t, node, TL_FILL_BLUE_NOISE); }

static void work_cleans_up(void **state)
{
    (void)state;
    for (int i = 0; i < 12 * 12 * 12; i++) field[i] = i % 7 ? 1.0f : -1.0f;
    tl_shape_tree *t = tl_shape_tree_create();
    int node = make(t);
    assert_true(node >= 0);
    const work all[] = {march, march_field, mass, surface_lattice, surface_poisson, lattice, blue_noise};
    for (size_t w = 0; w < sizeof all / sizeof *all; w++) {
        int failures = 0;
        for (int64_t k = 1;; k++) {
            int64_t live = tl_alloc_read().live_blocks;
            tl_alloc_fail_at(k);
            err.message[0] = '\0';
            talus_status status = all[w](t, node);
            int failed = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            assert_int_equal(tl_alloc_read().live_blocks, live);
            assert_int_equal(status, failed ? TALUS_NO_MEMORY : TALUS_OK);
            if (!failed) break;
            assert_true(err.message[0] != '\0');
            failures++;
        }
        assert_true(failures >= 1);
    }
    tl_shape_tree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(makers_clean_up), cmocka_unit_test(work_cleans_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
