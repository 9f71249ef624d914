/* Same bits for any number of threads, after a copy of the state, and no heap use once settled. */
#include "check.h"

#include "base/alloc.h"
#include "base/parallel.h"
#include "rigid.h"
#include "saved.h"

static const char bin_lua[] =
    "local s = 11\n"
    "local function r() s = (s * 1103515245 + 12345) % 2147483648 return s / 2147483648 end\n"
    "bodies = { { kind = 'static', shape = plane {}, friction = 0.5 } }\n"
    "for k, n in ipairs { {1, 0, 0}, {-1, 0, 0}, {0, 0, 1}, {0, 0, -1} } do bodies[#bodies + 1] = { kind = 'static', "
    "friction = 0.5,\n"
    "  shape = half_space { normal = n, point = {-0.6 * n[1], 0, -0.6 * n[3]} } } end\n"
    "for i = 0, 47 do bodies[#bodies + 1] = { shape = i % 3 == 0 and sphere { radius = 0.08 } or box { size = {0.1 + "
    "0.1 * r(), 0.1 + 0.1 * r(), 0.1 + 0.1 * r()} },\n"
    "  density = 500, friction = 0.5, restitution = i % 5 == 0 and 0.4 or 0, at = {(i % 4 - 1.5) * 0.28, 0.3 + 0.3 * "
    "math.floor(i / 16), (math.floor(i / 4) % 4 - 1.5) * 0.28},\n"
    "  rotation_deg = {360 * r(), 360 * r(), 360 * r()}, spin_rad_per_s = {9 * r(), 9 * r(), 9 * r()} } end\n";

/* 0.8 s of boxes and balls falling into a bin, mixed with each other: hash after every 20 steps. */
static void run(int threads, uint64_t hash[4])
{
    tl_threads_set(threads);
    rigid_case c = rigid_open(bin_lua, "bodies = bodies");
    for (int i = 0; i < 80; i++) {
        rigid_step(&c, 0.01);
        if (i % 20 == 19) hash[i / 20] = tl_state_hash(&c.sim->state);
    }
    assert_true(c.sim->report.contacts > 100);
    rigid_close(&c);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    int before = tl_threads();
    uint64_t one[4], two[4], again[4];
    run(1, one);
    run(2, two);
    run(2, again);
    tl_threads_set(before);
    for (int k = 0; k < 4; k++) {
        assert_true(one[k] == two[k]);
        assert_true(one[k] == again[k]);
    }
}

/* Nothing that matters is kept elsewhere than in the state. */
static void a_saved_state_goes_on_the_same(void **state)
{
    (void)state;
    rigid_case c = rigid_open(bin_lua, "bodies = bodies");
    for (int part = 0; part < 3; part++) {
        for (int i = 0; i < 25; i++) rigid_step(&c, 0.01);
        check_saved_goes_on(c.sim, c.scene, 15, 0.01);
    }
    rigid_close(&c);
}

static void every_number_is_in_the_hash(void **state)
{
    (void)state;
    rigid_case c = rigid_open(bin_lua, "bodies = bodies");
    for (int i = 0; i < 40; i++) rigid_step(&c, 0.01);
    tl_state *s = &c.sim->state;
    uint64_t whole = tl_state_hash(s);
    assert_true(s->rigid.contacts > 0);
    double *motion = (double *)&s->rigid.body[7];
    for (size_t k = 0; k < sizeof(tl_motion) / sizeof(double); k++) {
        double was = motion[k];
        motion[k] = was + 1;
        assert_true(tl_state_hash(s) != whole);
        motion[k] = was;
    }
    unsigned char *bytes = (unsigned char *)s->rigid.contact;
    for (size_t k = 0; k < sizeof(tl_rigid_memory); k++) {
        bytes[k] ^= 1;
        assert_true(tl_state_hash(s) != whole);
        bytes[k] ^= 1;
    }
    s->frame++;
    assert_true(tl_state_hash(s) != whole);
    s->frame--;
    assert_true(tl_state_hash(s) == whole);
    rigid_close(&c);
}

/* A stack that rests and a box that slides ask for no memory at all. */
static void settled_scenes_stay_off_the_heap(void **state)
{
    (void)state;
    for (int slides = 0; slides < 2; slides++) {
        rigid_case c = rigid_open("function stack(n) local b = { { kind = 'static', shape = plane {}, friction = 0.5 } "
                                  "} for i = 1, n do b[#b + 1] = { shape = box { size = 0.2 }, at = {0, "
                                  "0.2 * i - 0.1, 0}, mass = 8, friction = 0.5 } end return b end",
                                  "gravity = {%g, -9.81, 0}, bodies = stack(%d)", slides ? 6.0 : 0.0, slides ? 1 : 6);
        for (int i = 0; i < 30; i++) rigid_step(&c, 0.01);
        int64_t calls = tl_alloc_read().calls;
        for (int i = 0; i < 50; i++) rigid_step(&c, 0.01);
        assert_int_equal(tl_alloc_read().calls, calls);
        rigid_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_saved_state_goes_on_the_same),
        cmocka_unit_test(every_number_is_in_the_hash),
        cmocka_unit_test(settled_scenes_stay_off_the_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
