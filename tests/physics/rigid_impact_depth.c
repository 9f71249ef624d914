/* Impacts at dt = 10 ms: what is inside of what afterwards. */
#include "check.h"

#include <stdlib.h>

#include "base/random.h"
#include "boxes.h"
#include "rigid.h"

static double draw(uint64_t c, uint64_t k) { return tl_random(7, c, k); }

static tl_vec3 direction(uint64_t c, uint64_t k)
{
    return tl_vec3_normalize(
        (tl_vec3){tl_random_normal(7, c, k), tl_random_normal(7, c, k + 1), tl_random_normal(7, c, k + 2)});
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Two boxes with edges of 0.12 to 0.2 m fly at each other with up to 0.2 m between the lines of flight, tumbling at
 * up to 10 rad/s. Returns the deepest overlap over the smallest edge; hit: whether they met. */
static double impact(uint64_t c, double slowest, double fastest, bool *hit)
{
    tl_vec3 size[2];
    for (uint64_t i = 0; i < 2; i++)
        size[i] = (tl_vec3){0.12 + 0.08 * draw(c, 10 * i + 2), 0.12 + 0.08 * draw(c, 10 * i + 3),
                            0.12 + 0.08 * draw(c, 10 * i + 4)};
    rigid_case k = rigid_open(
        NULL,
        "gravity = {0, 0, 0}, bodies = { { name = 'a', shape = box { size = {%.17g, %.17g, %.17g} }, at = {1, 0, 0}, "
        "density = 500, friction = 0.3 }, { name = 'b', shape = box { size = {%.17g, %.17g, %.17g} }, "
        "density = 500, friction = 0.3 } }",
        size[0].x, size[0].y, size[0].z, size[1].x, size[1].y, size[1].z);
    double speed = slowest + (fastest - slowest) * draw(c, 1), least = INFINITY, worst = 0;
    tl_vec3 along = direction(c, 200), off = direction(c, 210);
    off = tl_vec3_normalize(tl_vec3_add_scaled(off, -tl_vec3_dot(off, along), along));
    tl_motion *body = k.sim->state.rigid.body;
    for (uint64_t i = 0; i < 2; i++) {
        body[i].q = tl_quat_exp(tl_vec3_scale(3.14 * draw(c, 10 * i + 5), direction(c, 100 + 20 * i)));
        body[i].w = tl_vec3_scale(10 * draw(c, 10 * i + 6), direction(c, 110 + 20 * i));
        body[i].v = tl_vec3_scale(i ? 0.5 * speed : -0.5 * speed, along);
        least = fmin(least, fmin(size[i].x, fmin(size[i].y, size[i].z)));
    }
    body[0].x = tl_vec3_add_scaled(tl_vec3_scale(0.45, along), 0.2 * draw(c, 30), off);
    body[1].x = (tl_vec3){0, 0, 0};
    *hit = false;
    for (int step = 0; step < (int)(60 / fmin(slowest, 1)); step++) {
        tl_vec3 before = body[0].v;
        rigid_step(&k, 0.01);
        body = k.sim->state.rigid.body;
        *hit |= tl_vec3_norm(tl_vec3_sub(body[0].v, before)) > 1e-9;
        tl_obox a = box_at(size[0], body[0].x, body[0].q), b = box_at(size[1], body[1].x, body[1].q);
        worst = fmax(worst, -box_separation(&a, &b));
    }
    rigid_close(&k);
    return worst / least;
}

/* Below 1 % of the size, everywhere: what issue and architecture promise. */
static void rotating_boxes_stay_outside(void **state)
{
    (void)state;
    enum { WANTED = 200 };
    static double depth[WANTED];
    int hits = 0;
    for (uint64_t c = 0; hits < WANTED; c++) {
        bool hit;
        double d = impact(c, 1, 3, &hit);
        if (hit) depth[hits++] = d;
    }
    qsort(depth, WANTED, sizeof *depth, by_size);
    print_message("depth over size: median %.4f %%, 95 %% below %.4f %%, deepest %.4f %%\n", 100 * depth[WANTED / 2],
                  100 * depth[WANTED * 95 / 100], 100 * depth[WANTED - 1]);
    CHECK_LE(depth[WANTED - 1], 0.01);
}

/* A rod slides and spins along a hollow of 1.5 m at 3 m/s: the wall rises by 0.4 mm per step in front of it. It
 * stays as deep as it was; followed along its tangent alone, it sank by 0.2 mm per step, to 1 %. */
static void sliding_in_a_hollow(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        rigid_case c = rigid_open(
            NULL,
            "bodies = { { kind = 'static', shape = subtract { box { size = {4, 2, 4} }, sphere { radius = 1.5, center "
            "= "
            "{0, 1, 0} } }, friction = 0.1 }, { name = 'rod', shape = capsule { from = {0, -0.1, 0}, to = {0, 0.1, 0}, "
            "radius = 0.05 }, at = {-1.2, 0.6, 0.1}, rotation_deg = {%g, 0, %g}, velocity = {1, -1.5, 1}, "
            "spin_rad_per_s = {0, 5, 5}, density = 500, friction = 0.1 } }",
            20.0 * k, 40 + 30.0 * k);
        double deep = 0;
        for (int step = 0; step < 60; step++) {
            rigid_step(&c, 0.01);
            const tl_rigid_state *r = &c.sim->state.rigid;
            for (int64_t i = 0; i < r->contacts; i++) deep = fmax(deep, -r->contact[i].gap);
        }
        CHECK_LE(deep, 0.005 * 0.1);
        rigid_close(&c);
    }
}

/* Bodies of a millimetre go as deep into each other as those of a decimetre, of their size: 12 % before what a body
 * may move without a second look was a part of its extent. */
static void size_does_not_matter(void **state)
{
    (void)state;
    static const double size[] = {1, 0.01};
    for (int n = 0; n < 2; n++) {
        const double k = size[n], time = sqrt(k);
        rigid_case c =
            rigid_open("function heap(k) local s = 3 local function r(a, b) s = (s * 1103515245 + 12345) % 2147483648 "
                       "return a + (b - a) * s / "
                       "2147483648 end local list = {} for i = 0, 19 do local kind = i % 4 list[i + 1] = { shape = "
                       "kind == 0 and box { size = {k "
                       "* r(.05, .12), k * r(.03, .09), k * r(.05, .09)} } or kind == 1 and cone { radius = k * r(.04, "
                       ".06), height = k * r(.06, "
                       ".1) } or kind == 2 and torus { radius = k * .05, tube = k * .015 } or cylinder { radius = k * "
                       "r(.02, .05), height = k * "
                       "r(.03, .1) }, density = 1000, friction = 0.4, at = {k * (i % 4 - 1.5) * .16, k * (.15 + .17 * "
                       "(i // 16)), k * (i // 4 % 4 - "
                       "1.5) * .16}, rotation_deg = {r(0, 360), r(0, 360), r(0, 360)} } end return list end\n",
                       "fps = %.17g, dt_max = %.17g, domain = { min = {-%g, 0, -%g}, max = {%g, %g, %g}, friction = "
                       "0.4, y_max = 'open' }, bodies = "
                       "heap(%g)",
                       100 / time, 0.01 * time, .36 * k, .36 * k, .36 * k, 5 * k, .36 * k, k);
        talus_error err;
        double deepest = 0;
        for (int frame = 0; frame < 40; frame++) {
            CHECK_OK(tl_sim_frame(c.sim, NULL, NULL, &err));
            deepest = fmax(deepest, c.sim->report.penetration / c.sim->report.smallest);
        }
        CHECK_LE(deepest, 0.02);
        rigid_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(size_does_not_matter),
                                       cmocka_unit_test(rotating_boxes_stay_outside),
                                       cmocka_unit_test(sliding_in_a_hollow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
