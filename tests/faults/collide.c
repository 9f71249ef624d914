/* Colliders with the heap refusing at every point: a clean status, nothing left behind. */
#include "geom/collide/collide.h"
#include "base/alloc.h"
#include "check.h"

static talus_error err;

static void creation_cleans_up(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int ball = tl_shape_sphere(t, 0.3, &err), box = tl_shape_box(t, (tl_vec3){0.4, 0.5, 0.6}, 0, &err), part[12];
    for (int k = 0; k < 12; k++) part[k] = k % 2 ? ball : box;
    const int shape[] = {ball, box, tl_shape_cone(t, 0.2, 0, 0.4, &err), tl_shape_union(t, 12, part, &err)};
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++) {
        int failures = 0;
        for (int64_t k = 1;; k++) {
            int64_t live = tl_alloc_read().live_blocks;
            tl_collider *c;
            tl_alloc_fail_at(k);
            err.message[0] = '\0';
            talus_status status = tl_collider_create(&c, t, shape[s], 0.1, &err);
            int failed = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            assert_int_equal(status, failed ? TALUS_NO_MEMORY : TALUS_OK);
            if (failed) {
                assert_null(c);
                assert_true(err.message[0] != '\0');
            }
            tl_collider_free(c);
            assert_int_equal(tl_alloc_read().live_blocks, live);
            if (!failed) break;
            failures++;
        }
        assert_true(failures >= 1);
    }
    tl_shape_tree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(creation_cleans_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
