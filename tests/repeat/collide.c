/* Contact points: the same bits for one, two and three threads at creation and again when asked again; no memory
 * asked for. */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/random.h"
#include "check.h"
#include "geom/collide/general.h"
#include "shapes.h"

static talus_error err;

static uint64_t hash_contacts(const tl_collider *a, const tl_collider *b)
{
    uint64_t h = TL_HASH_START;
    int met = 0;
    int64_t calls = tl_alloc_read().calls;
    for (uint64_t i = 0; i < 200; i++) {
        tl_quat q = {tl_random(1, i, 0) - 0.5, tl_random(1, i, 1) - 0.5, tl_random(1, i, 2) - 0.5,
                     tl_random(1, i, 3) - 0.5};
        tl_pose x = {{2 * tl_random(1, i, 4) - 1, 1, 2 * tl_random(1, i, 5) - 1}, tl_quat_normalize(q)},
                y = {{0, 0, 0}, {1, 0, 0, 0}};
        tl_touch t[TL_TOUCHES_MAX];
        int32_t axis = 0;
        int n = tl_collide(a, &x, b, &y, 0.01, &axis, t);
        met += n > 0;
        for (int k = 0; k < n; k++) { /* the last field has padding behind it */
            h = tl_hash(h, &t[k], offsetof(tl_touch, carried));
            h = tl_hash(h, &t[k].carried, sizeof t[k].carried);
        }
    }
    assert_true(met > 50);
    assert_int_equal(tl_alloc_read().calls, calls);
    return h;
}

static void same_bits_for_any_thread_count(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int animal = tl_test_shapes_animal(t), ring = tl_shape_torus(t, 0.7, 0.3, &err);
    uint64_t one = 0;
    for (int threads = 1; threads <= 3; threads++) {
        tl_collider *a, *b;
        tl_threads_set(threads);
        CHECK_OK(tl_collider_create(&a, t, animal, 0.06, &err));
        CHECK_OK(tl_collider_create(&b, t, ring, 0.06, &err));
        uint64_t h = hash_contacts(a, b);
        assert_true(h == hash_contacts(a, b));
        if (threads == 1) one = h;
        assert_true(h == one);
        tl_collider_free(a);
        tl_collider_free(b);
    }
    tl_shape_tree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_for_any_thread_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
