/* Meshes, their distances and trees: the same bits for one and two threads, and no heap use in queries. */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/random.h"
#include "check.h"
#include "geom/mesh_distance.h"
#include "geom/triangle_tree.h"
#include "meshes.h"

enum { POINTS = 8000 };
static talus_error err;
static double answer[POINTS][5];

static uint64_t hash_of_run(const tl_trimesh *m, int threads)
{
    tl_threads_set(threads);
    tl_mesh_distance *d;
    tl_trimesh_report r;
    tl_triangle_tree tree;
    CHECK_OK(tl_mesh_distance_create(&d, m, &err));
    CHECK_OK(tl_trimesh_check(m, &r, &err));
    CHECK_OK(tl_triangle_tree_create(&tree, m, &err));
    int64_t calls = tl_alloc_read().calls;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < POINTS; i++) {
        uint64_t id = (uint64_t)i;
        tl_vec3 p = {3 * tl_random(1, id, 0) - 1.5, 1.2 * tl_random(1, id, 1) - 0.6, 3 * tl_random(1, id, 2) - 1.5};
        if (i % 4 == 0) p.y = 0; /* the plane of symmetry: ties */
        int32_t triangle;
        tl_vec3 q = tl_mesh_distance_nearest(d, p, &triangle);
        double row[5] = {tl_mesh_distance_at(d, p), q.x, q.y, q.z, triangle};
        for (int k = 0; k < 5; k++) answer[i][k] = row[k];
    }
    assert_int_equal(tl_alloc_read().calls, calls);
    uint64_t h = tl_hash(TL_HASH_START, answer, sizeof answer);
    const double numbers[] = {r.area, r.volume, r.components, r.self_intersections};
    h = tl_hash(h, numbers, sizeof numbers);
    h = tl_hash(h, tree.box + 1, sizeof *tree.box * (2 * (size_t)tree.leaves - 1)); /* node 1 is the root */
    h = tl_hash(h, tree.order, sizeof *tree.order * (size_t)m->triangles);
    tl_triangle_tree_free(&tree);
    tl_mesh_distance_free(d);
    return h;
}

static void same_bits(void **state)
{
    (void)state;
    tl_trimesh m;
    CHECK_OK(tl_test_mesh_torus(&m, 1, 0.3, 160, 80, &err)); /* 25600 triangles: threads join in the tree */
    uint64_t one = hash_of_run(&m, 1);
    assert_true(hash_of_run(&m, 2) == one);
    assert_true(hash_of_run(&m, 1) == one);
    tl_trimesh_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
