/* The same picture gives the same bits: on one and two threads, and again. */
#include "render/render.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/random.h"
#include "check.h"

static void fill(tl_picture *p)
{
    talus_error err;
    enum { COUNT = 5000 };
    static tl_vec3 at[COUNT];
    tl_picture_begin(p);
    for (int i = 0; i < COUNT; i++)
        at[i] = (tl_vec3){tl_random(7, (uint64_t)i, 0), tl_random(7, (uint64_t)i, 1), tl_random(7, (uint64_t)i, 2)};
    CHECK_OK(tl_picture_add_spheres(
        p,
        &(tl_picture_spheres){
            .count = COUNT, .at = at, .radius = 0.02, .hi = 1, .look = tl_look_glossy(tl_colour_palette(1), 0.3f)},
        &err));
    CHECK_OK(tl_picture_add_tank(p, (tl_box3){{0, 0, 0}, {1, 1, 1}}, true, &err));
    p->ground.cell = 0.2;
}

static uint64_t render(const tl_picture *p, int threads)
{
    talus_error err;
    tl_image m;
    tl_render_options o = tl_render_options_default();
    o.width = 200, o.height = 113, o.samples = 4;
    tl_threads_set(threads);
    CHECK_OK(tl_render(p, &o, &m, &err));
    uint64_t h = tl_hash(TL_HASH_START, m.rgb, 3 * (size_t)m.width * (size_t)m.height);
    tl_image_free(&m);
    return h;
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    tl_picture p;
    fill(&p);
    uint64_t one = render(&p, 1);
    assert_true(render(&p, 2) == one);
    assert_true(render(&p, 3) == one);
    assert_true(render(&p, 2) == one);
    tl_picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_change_no_bit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
