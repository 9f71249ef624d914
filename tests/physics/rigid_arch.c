/* A masonry arch of wedges: general shapes that must stand on their faces, and a thin one that cannot. */
#include "check.h"

#include "rigid.h"

/* Largest fall of any body since `begin` heights were taken. */
static double heights[256];
static void keep_heights(const rigid_case *c)
{
    assert_true(c->scene->body_count <= 256);
    for (int i = 0; i < c->scene->body_count; i++) heights[i] = c->sim->state.rigid.body[i].x.y;
}
static double drop(const rigid_case *c)
{
    double max = 0;
    for (int i = 0; i < c->scene->body_count; i++) max = fmax(max, heights[i] - c->sim->state.rigid.body[i].x.y);
    return max;
}

/* Half a ring of wedges, thickness 0.3 of the inner radius, nothing but friction and weight. */
static const char arch_lua[] = "function arch(n, thick, mu)\n"
                               "  local a, r, R = math.pi / n / 2, 1, 1 + thick\n"
                               "  local s, c = math.sin(a), math.cos(a)\n"
                               "  local wedge = extrude { profile = { {-r * s, r * c}, {r * s, r * c}, {R * s, R * c}, "
                               "{-R * s, R * c} }, height = 0.4 }:rotate {-90, 0, 0}\n"
                               "  local b = { { kind = 'static', shape = plane {}, friction = mu } }\n"
                               "  for i = 1, n do b[#b + 1] = { shape = wedge, rotation_deg = {0, 0, 90 - 180 * (i - "
                               "0.5) / n}, density = 2000, friction = mu } end\n"
                               "  return b\n"
                               "end\n";

static void masonry_arch_stands(void **state)
{
    (void)state;
    rigid_case c = rigid_open(arch_lua, "bodies = arch(13, 0.3, 0.6)");
    keep_heights(&c);
    rigid_run(&c, 5);
    CHECK_LE(drop(&c), 1e-3);
    CHECK_LE(c.sim->report.fastest, 1e-4);
    rigid_close(&c);
}

/* A ring thinner than 0.107 of its mean radius holds no line of thrust and must fall. */
static void thin_arch_falls(void **state)
{
    (void)state;
    rigid_case c = rigid_open(arch_lua, "bodies = arch(13, 0.08, 0.6)");
    keep_heights(&c);
    rigid_run(&c, 1);
    assert_true(drop(&c) > 0.1);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masonry_arch_stands),
        cmocka_unit_test(thin_arch_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
