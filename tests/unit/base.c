/* Arenas, counted allocation, fixed-order sums, random numbers, nearest names, logging. */
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/radix.h"
#include "base/random.h"
#include "base/sum.h"
#include "base/text.h"
#include "check.h"

static talus_error err;

static void arena_gives_back_and_settles(void **state)
{
    (void)state;
    tl_arena a = {0};
    int64_t live = tl_alloc_read().live_blocks;
    size_t start = tl_arena_mark(&a);
    char *first = tl_arena_take(&a, 1000);
    assert_true(first && (uintptr_t)first % 64 == 0);
    memset(first, 7, 1000);
    size_t mark = tl_arena_mark(&a);
    double *big = TL_TAKE(&a, double, 1 << 20); /* needs another chunk */
    big[0] = big[(1 << 20) - 1] = 1;
    for (int i = 0; i < 100; i++) memset(TL_TAKE(&a, char, 12345), i, 12345);
    tl_arena_release(&a, mark);
    assert_int_equal(tl_arena_mark(&a), mark);
    for (int i = 0; i < 1000; i++) assert_int_equal(first[i], 7); /* what lies before the mark is kept */
    assert_ptr_equal(tl_arena_take(&a, 64), first + 1024);        /* and what lies behind it is reused */
    tl_arena_release(&a, start);

    tl_arena_reset(&a); /* chunks become one */
    int64_t calls = tl_alloc_read().calls;
    for (int round = 0; round < 3; round++) {
        assert_non_null(TL_TAKE(&a, double, 1 << 20));
        for (int i = 0; i < 100; i++) assert_non_null(TL_TAKE(&a, char, 12345));
        tl_arena_reset(&a);
    }
    assert_int_equal(tl_alloc_read().calls, calls);
    tl_arena_free(&a);
    assert_int_equal(tl_alloc_read().live_blocks, live);
}

/* A part has its own room, does not grow, and goes with the arena it came from. */
static void parts_do_not_grow(void **state)
{
    (void)state;
    tl_arena a = {0}, part;
    tl_arena_take(&a, 100);
    size_t mark = tl_arena_mark(&a);
    assert_true(tl_arena_part(&a, 1000, &part));
    size_t inner = tl_arena_mark(&part);
    assert_non_null(tl_arena_take(&part, 960));
    assert_null(tl_arena_take(&part, 128));
    tl_arena_release(&part, inner);
    assert_non_null(tl_arena_take(&part, 1000));
    tl_arena_release(&a, mark);
    assert_int_equal(tl_arena_mark(&a), mark);
    tl_arena_free(&a);
}

static void reservation_holds(void **state)
{
    (void)state;
    tl_arena a = {0};
    tl_arena_take(&a, 60000); /* most of the first chunk */
    CHECK_OK(tl_arena_reserve(&a, 3 * TL_ARENA_ROOM(double, 1001), &err));
    int64_t calls = tl_alloc_read().calls;
    for (int i = 0; i < 3; i++) assert_non_null(TL_TAKE(&a, double, 1001));
    assert_int_equal(tl_alloc_read().calls, calls);
    assert_int_equal(tl_arena_reserve(&a, SIZE_MAX / 2, &err), TALUS_NO_MEMORY);
    assert_null(tl_arena_take(&a, SIZE_MAX - 100));
    tl_arena_free(&a);
}

/* What is reserved but not used counts as needed, else every round would outgrow the merged chunk again. */
static void reservations_settle_too(void **state)
{
    (void)state;
    tl_arena a = {0};
    int64_t calls = 0;
    for (int round = 0; round < 5; round++) {
        tl_arena_take(&a, 60000);
        CHECK_OK(tl_arena_reserve(&a, 1 << 20, &err));
        tl_arena_take(&a, 1 << 19);
        tl_arena_reset(&a);
        if (round == 0) calls = tl_alloc_read().calls;
    }
    assert_int_equal(tl_alloc_read().calls, calls);
    tl_arena_free(&a);
}

static void allocation_is_counted_and_fails_on_request(void **state)
{
    (void)state;
    tl_alloc_stats before = tl_alloc_read();
    void *p = tl_alloc(1 << 23); /* large enough for huge pages */
    assert_true((uintptr_t)p % 64 == 0);
    assert_int_equal(tl_alloc_read().live_bytes - before.live_bytes, 1 << 23);
    assert_true(tl_alloc_read().peak_bytes >= 1 << 23);
    tl_alloc_fail_at(2);
    void *q = tl_alloc(8);
    assert_non_null(q);
    assert_null(tl_realloc(q, 800)); /* the old block stays valid */
    assert_true(tl_alloc_fail_happened());
    assert_false(tl_alloc_fail_happened());
    q = tl_realloc(q, 800);
    assert_non_null(q);
    tl_free(q);
    tl_free(p);
    tl_free(NULL);
    assert_int_equal(tl_alloc_read().live_blocks, before.live_blocks);
}

/* Exact values by long double; the bound is n eps sum|x y| of the worst order, far above what blocks give. */
static void sums_are_right_at_all_lengths(void **state)
{
    (void)state;
    int64_t lengths[] = {0, 1, 31, 32, 33, 2047, 2048, 2049, 70001, 3000017};
    double *x = TL_NEW(double, 3000017), *y = TL_NEW(double, 3000017);
    for (int64_t i = 0; i < 3000017; i++)
        x[i] = tl_random_normal(1, (uint64_t)i, 0), y[i] = tl_random(2, (uint64_t)i, 0);
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        int64_t n = lengths[k];
        long double sum = 0, dot = 0, size = 0;
        double max = 0;
        for (int64_t i = 0; i < n; i++) {
            sum += x[i];
            dot += (long double)x[i] * y[i];
            size += fabs(x[i]);
            max = fmax(max, fabs(x[i]));
        }
        double allowed = 1e-13 * (double)size + 1e-300;
        CHECK_NEAR(tl_sum(n, x), (double)sum, allowed);
        CHECK_NEAR(tl_dot(n, x, y), (double)dot, allowed);
        CHECK_NEAR(tl_max_abs(n, x), max, 0);
    }
    x[1234567] = NAN;
    assert_true(isnan(tl_max_abs(3000017, x)));
    x[1234567] = -INFINITY;
    assert_true(isinf(tl_max_abs(3000017, x)));
    tl_free(x);
    tl_free(y);
}

static void blocks_cover_the_range_once(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 40000000; n = n * 3 + 1) {
        tl_blocks b = tl_blocks_of(n);
        assert_true(b.count <= TL_BLOCKS_MAX);
        int64_t at = 0;
        for (int i = 0; i < b.count; i++) {
            assert_int_equal(tl_block_begin(b, i), at);
            at = tl_block_end(b, i);
        }
        assert_int_equal(at, n);
    }
}

static void random_numbers_look_random_and_repeat(void **state)
{
    (void)state;
    double mean = 0, square = 0, normal = 0, normal2 = 0, lag = 0;
    int n = 200000;
    for (int i = 0; i < n; i++) {
        double u = tl_random(42, (uint64_t)i, 7), v = tl_random_normal(42, (uint64_t)i, 8);
        assert_true(u >= 0 && u < 1);
        mean += u / n;
        square += u * u / n;
        normal += v / n;
        normal2 += v * v / n;
        lag += (u - 0.5) * (tl_random(42, (uint64_t)i + 1, 7) - 0.5) / n;
    }
    /* five standard deviations of each mean */
    CHECK_NEAR(mean, 0.5, 5 * 0.289 / sqrt(n));
    CHECK_NEAR(square, 1.0 / 3, 5 * 0.298 / sqrt(n));
    CHECK_NEAR(normal, 0, 5 / sqrt(n));
    CHECK_NEAR(normal2, 1, 5 * sqrt(2) / sqrt(n));
    CHECK_NEAR(lag, 0, 5 * 0.0834 / sqrt(n));
    assert_true(tl_random_bits(1, 2, 3) == tl_random_bits(1, 2, 3));
    assert_true(tl_random_bits(1, 2, 3) != tl_random_bits(1, 3, 2));
}

static void nearest_names(void **state)
{
    (void)state;
    const char *const names[] = {"density", "friction", "bodies", "shape", NULL};
    assert_string_equal(tl_text_nearest("densty", names), "density");
    assert_string_equal(tl_text_nearest("bodys", names), "bodies");
    assert_null(tl_text_nearest("gravity", names));
    char monster[5000];
    memset(monster, 'x', sizeof monster - 1);
    monster[sizeof monster - 1] = 0;
    tl_text_nearest(monster, names); /* long words must not overrun */
}

static void keep(void *user, int level, const char *message)
{
    (void)level;
    strncat(user, message, 60);
}

static void log_goes_to_the_callback(void **state)
{
    (void)state;
    char text[200] = "";
    tl_log log = {keep, text, 1};
    tl_log_write(&log, 1, "n = %d;", 3);
    tl_log_write(&log, 2, "hidden");
    tl_log_write(NULL, 0, "nowhere");
    assert_string_equal(text, "n = 3;");
    assert_true(tl_hash(TL_HASH_START, "a", 1) == 0xaf63dc4c8601ec8cu); /* published FNV-1a value */
}

/* Keys of one to six digits: sorted, stable, and each with its companion. */
static void radix_sorts_pairs(void **state)
{
    (void)state;
    enum { N = 1000 };
    for (int bits = 4; bits <= 64; bits += 12) {
        uint64_t key[N], first[N], spare[N];
        int32_t value[N], spare_value[N];
        for (int i = 0; i < N; i++) {
            key[i] = first[i] = tl_random_bits(3, (uint64_t)bits, (uint64_t)i) >> (64 - bits);
            value[i] = i;
        }
        tl_radix_sort(N, key, value, spare, spare_value);
        for (int i = 0; i < N; i++) {
            assert_true(key[i] == first[value[i]]);
            assert_true(i == 0 || key[i - 1] < key[i] || (key[i - 1] == key[i] && value[i - 1] < value[i]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_gives_back_and_settles),
        cmocka_unit_test(parts_do_not_grow),
        cmocka_unit_test(reservation_holds),
        cmocka_unit_test(reservations_settle_too),
        cmocka_unit_test(allocation_is_counted_and_fails_on_request),
        cmocka_unit_test(sums_are_right_at_all_lengths),
        cmocka_unit_test(blocks_cover_the_range_once),
        cmocka_unit_test(random_numbers_look_random_and_repeat),
        cmocka_unit_test(nearest_names),
        cmocka_unit_test(radix_sorts_pairs),
        cmocka_unit_test(log_goes_to_the_callback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
