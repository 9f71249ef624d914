/* Surfaces, samples and masses: the same bits for one, two and three threads. */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "check.h"
#include "geom/surface.h"
#include "shapes.h"

static talus_error err;

static uint64_t hash_points(uint64_t h, tl_points *p)
{
    h = tl_hash(h, p->at, sizeof *p->at * (size_t)p->count);
    if (p->normal) h = tl_hash(h, p->normal, sizeof *p->normal * (size_t)p->count);
    tl_points_free(p);
    return h;
}

static uint64_t hash_all(const tl_test_shapes *s, int k)
{
    uint64_t h = TL_HASH_START;
    int node = s->shape[k].node;
    tl_trimesh m;
    tl_points p;
    tl_mass mass;
    CHECK_OK(tl_surface_march(s->tree, node, 0.1, &m, &err));
    h = tl_hash(h, m.vertex, sizeof *m.vertex * (size_t)m.vertices);
    h = tl_hash(h, m.triangle, sizeof *m.triangle * (size_t)m.triangles);
    tl_trimesh_free(&m);
    for (int how = 0; how < 2; how++) {
        CHECK_OK(tl_sample_surface(s->tree, node, 0.15, 0.01, (tl_sampling)how, 3, &p, &err));
        h = hash_points(h, &p);
    }
    for (int how = 0; how < 3; how++) {
        CHECK_OK(tl_sample_volume(s->tree, node, 0.1, 0.01, (tl_filling)how, 3, &p, &err));
        h = hash_points(h, &p);
    }
    CHECK_OK(tl_shape_mass(s->tree, node, 40, &mass, &err));
    h = tl_hash(h, &mass, sizeof mass);
    return h;
}

static void same_bits_for_any_thread_count(void **state)
{
    (void)state;
    tl_test_shapes s = tl_test_shapes_make();
    for (int k = 0; k < s.count; k += 3) {
        tl_threads_set(1);
        uint64_t one = hash_all(&s, k);
        for (int threads = 2; threads <= 3; threads++) {
            tl_threads_set(threads);
            if (hash_all(&s, k) != one) fail_msg("%s: other bits with %d threads", s.shape[k].name, threads);
        }
    }
    tl_shape_tree_free(s.tree);
}

/* Distances ask the heap for nothing. */
static void queries_do_not_allocate(void **state)
{
    (void)state;
    tl_test_shapes s = tl_test_shapes_make();
    int64_t calls = tl_alloc_read().calls;
    double sum = 0;
    for (int k = 0; k < s.count; k++)
        for (int i = 0; i < 100; i++) {
            tl_vec3 p = {0.02 * i - 1, 0.3, 0.01 * i};
            sum += tl_shape_distance(s.tree, s.shape[k].node, p) + tl_shape_gradient(s.tree, s.shape[k].node, p).x;
        }
    assert_true(sum == sum);
    assert_int_equal(tl_alloc_read().calls, calls);
    tl_shape_tree_free(s.tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_for_any_thread_count),
                                       cmocka_unit_test(queries_do_not_allocate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
