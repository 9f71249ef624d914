/* Pairs of overlapping boxes against a plain double loop, for sizes and places that break grids. */
#include "geom/collide/broad.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/random.h"
#include "base/timer.h"
#include "check.h"

#define MOST 3000

static talus_error err;
static tl_box3 box[MOST];
static bool moves[MOST];

static bool overlap(const tl_box3 *a, const tl_box3 *b)
{
    return a->lo.x <= b->hi.x && b->lo.x <= a->hi.x && a->lo.y <= b->hi.y && b->lo.y <= a->hi.y && a->lo.z <= b->hi.z &&
           b->lo.z <= a->hi.z;
}
static bool empty(const tl_box3 *b) { return !(b->lo.x <= b->hi.x && b->lo.y <= b->hi.y && b->lo.z <= b->hi.z); }

/* Number of pairs; stops the test when the list is not the one of the double loop, in order. */
static int64_t compare(const char *what, int32_t count)
{
    tl_arena a = {0};
    tl_near_pair *pair;
    int64_t pairs, k = 0;
    CHECK_OK(tl_broad_pairs(count, box, moves, &a, &pair, &pairs, &err));
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = i + 1; j < count; j++) {
            if (!(moves[i] || moves[j]) || empty(&box[i]) || empty(&box[j]) || !overlap(&box[i], &box[j])) continue;
            if (k >= pairs || pair[k].a != i || pair[k].b != j)
                fail_msg("%s: pair (%d, %d) is not at its place", what, i, j);
            k++;
        }
    if (k != pairs) fail_msg("%s: %lld pairs too many", what, (long long)(pairs - k));
    tl_arena_free(&a);
    return pairs;
}

static void put(int32_t i, tl_vec3 at, tl_vec3 half)
{
    box[i] = (tl_box3){tl_vec3_sub(at, half), tl_vec3_add(at, half)};
    moves[i] = i % 7 != 3;
}
static tl_vec3 random3(uint64_t id, double edge)
{
    return (tl_vec3){edge * tl_random(5, id, 0), edge * tl_random(5, id, 1), edge * tl_random(5, id, 2)};
}

/* One box per unit of volume, edges 0.6 to 1.8, in a cube from -edge. */
static void pour(int32_t count)
{
    double edge = cbrt(count);
    for (int32_t i = 0; i < count; i++)
        put(i, tl_vec3_add((tl_vec3){-edge, 0, 3 * edge}, random3((uint64_t)i, edge)),
            tl_vec3_add((tl_vec3){0.3, 0.3, 0.3}, random3((uint64_t)i + MOST, 0.6)));
}

static void random_boxes(void **state)
{
    (void)state;
    const int32_t counts[] = {0, 1, 2, 9, 60, 1000};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        pour(counts[k]);
        int64_t pairs = compare("pour", counts[k]);
        if (counts[k] == 1000) assert_true(pairs > 3000);
    }
}

static void sizes_of_every_order(void **state)
{
    (void)state;
    for (int32_t i = 0; i < 600; i++) {
        double r = pow(10, -14 * tl_random(6, (uint64_t)i, 3)); /* more than the levels tell apart */
        put(i, tl_vec3_scale(cbrt(r), random3((uint64_t)i, 2)), (tl_vec3){r, 0.3 * r, 2 * r});
    }
    assert_true(compare("sizes", 600) > 100);
}

/* A small box in the lowest corner of all, then others: places before the corner are not places at the end. */
static void lowest_corner_is_small(void **state)
{
    (void)state;
    put(0, (tl_vec3){0.3, 0.3, 0.3}, (tl_vec3){0.3, 0.3, 0.3});
    for (int32_t i = 1; i < 60; i++)
        put(i, tl_vec3_add((tl_vec3){0.6, 0.6, 0.6}, random3((uint64_t)i, 4)),
            i % 2 ? (tl_vec3){0.55, 0.55, 0.55} : (tl_vec3){0.3, 0.3, 0.3});
    assert_true(compare("small corner", 60) > 20);
}

static void huge_and_unbounded(void **state)
{
    (void)state;
    pour(500);
    put(17, (tl_vec3){0, 0, 20}, (tl_vec3){50, 50, 50});
    put(400, (tl_vec3){0, 0, 20}, (tl_vec3){1e9, 1, 1e9});
    box[0] = (tl_box3){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    box[230] = (tl_box3){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, 2, INFINITY}}; /* a wall's */
    assert_true(compare("huge", 500) > 1500);
    put(3, (tl_vec3){1e300, 0, 0}, (tl_vec3){1, 1, 1}); /* all others share a corner of the lattice */
    box[3].lo.x = -1e300;
    compare("far", 500);
    put(6, (tl_vec3){1.7e308, 0, 0}, (tl_vec3){1, 1, 1}); /* edge and offset overflow */
    box[6].lo.x = -1.7e308;
    compare("overflow", 500);
}

static void degenerate(void **state)
{
    (void)state;
    for (int32_t i = 0; i < 100; i++) put(i, (tl_vec3){1, 2, 3}, (tl_vec3){0.5, 0.5, 0.5});
    assert_int_equal(compare("identical", 100), 100 * 99 / 2 - 14 * 13 / 2); /* 14 do not move */
    for (int32_t i = 0; i < 100; i++) put(i, (tl_vec3){1, 2, 3}, (tl_vec3){0, 0, 0});
    assert_int_equal(compare("points", 100), 100 * 99 / 2 - 14 * 13 / 2);
    pour(100);
    box[5].lo.y = NAN;
    box[6].hi.z = NAN;
    box[8] = (tl_box3){{NAN, NAN, NAN}, {NAN, NAN, NAN}};
    box[9] = (tl_box3){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    compare("nan and empty", 100);
    for (int32_t i = 0; i < 100; i++) moves[i] = false;
    assert_int_equal(compare("still", 100), 0);
    for (int32_t i = 0; i < 100; i++) put(i, (tl_vec3){i, 0, 0}, (tl_vec3){0.5, 0.5, 0.5}); /* faces touch: a pair */
    assert_int_equal(compare("row", 100), 99);
}

static void settled_work_stays_off_the_heap(void **state)
{
    (void)state;
    tl_arena a = {0};
    tl_near_pair *pair;
    int64_t pairs;
    pour(1000);
    double best = INFINITY;
    for (int k = 0; k < 20; k++) {
        tl_arena_reset(&a);
        int64_t calls = tl_alloc_read().calls;
        double t = tl_seconds();
        CHECK_OK(tl_broad_pairs(1000, box, moves, &a, &pair, &pairs, &err));
        best = fmin(best, tl_seconds() - t);
        if (k > 1) assert_int_equal(tl_alloc_read().calls, calls);
    }
    print_message("1000 boxes, %lld pairs: %.3f ms\n", (long long)pairs, 1e3 * best);
    tl_arena_free(&a);
}

/* Work per box, counted by the clock with a wide allowance: a double loop would give 9. */
static void near_linear(void **state)
{
    (void)state;
    double seconds[2];
    for (int e = 0; e < 2; e++) {
        int32_t count = e ? 2700 : 300;
        tl_arena a = {0};
        tl_near_pair *pair;
        int64_t pairs;
        pour(count);
        seconds[e] = INFINITY;
        for (int k = 0; k < 30; k++) {
            tl_arena_reset(&a);
            double t = tl_seconds();
            CHECK_OK(tl_broad_pairs(count, box, moves, &a, &pair, &pairs, &err));
            seconds[e] = fmin(seconds[e], tl_seconds() - t);
        }
        tl_arena_free(&a);
    }
    CHECK_LE(seconds[1] / seconds[0] / 9, 4);
}

static void memory_refused(void **state)
{
    (void)state;
    pour(300);
    for (int64_t k = 1;; k++) {
        tl_arena a = {0};
        tl_near_pair *pair;
        int64_t pairs;
        tl_alloc_fail_at(k);
        talus_status status = tl_broad_pairs(300, box, moves, &a, &pair, &pairs, &err);
        int failed = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        tl_arena_free(&a);
        if (!failed) break;
        if (status == TALUS_OK) continue; /* the arena was content with a smaller chunk */
        assert_int_equal(status, TALUS_NO_MEMORY);
        assert_true(!pair && pairs == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_boxes),
        cmocka_unit_test(sizes_of_every_order),
        cmocka_unit_test(lowest_corner_is_small),
        cmocka_unit_test(huge_and_unbounded),
        cmocka_unit_test(degenerate),
        cmocka_unit_test(settled_work_stays_off_the_heap),
        cmocka_unit_test(near_linear),
        cmocka_unit_test(memory_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
