#include "refused.h"

#include "base/alloc.h"
#include "check.h"

int check_create_refused(tl_scene *scene)
{
    talus_error err;
    int64_t live = tl_alloc_read().live_blocks;
    int failures = 0;
    for (int64_t k = 1;; k++) {
        tl_sim *sim;
        tl_alloc_fail_at(k);
        talus_status status = tl_sim_create(&sim, scene, NULL, &err);
        int delivered = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        if (status == TALUS_OK) {
            tl_sim_free(sim);
            if (!delivered) break;
            continue;
        }
        assert_int_equal(status, TALUS_NO_MEMORY);
        assert_null(sim);
        failures++;
        assert_int_equal(tl_alloc_read().live_blocks, live);
    }
    assert_int_equal(tl_alloc_read().live_blocks, live);
    return failures;
}
