/* Detection of elastic contacts when memory is refused, and on surfaces that have collapsed. */
#include "check.h"

#include <string.h>

#include "base/alloc.h"
#include "lg_view.h"

static talus_error err;

#define SOFT                                                                                                           \
    "function soft() return elastic { density = 1000, young = 1e6, poisson = 0.3, model = 'arap', friction = 0.5 } "   \
    "end\n"
static const char world[] =
    "engine = 'lg', domain = { min = {-1, -1, -1}, max = {1, 1, 1} }, bodies = {\n"
    "  { name = 'cloth', shape = box { size = {1, 0.004, 1} }, cells = {40, 1, 40}, thickness = 0.004, self_contact = "
    "true, material = soft() },\n"
    "  { name = 'block', shape = box { size = 0.3 }, at = {0, 0.155, 0}, cells = {3, 3, 3}, material = soft() },\n"
    "  { name = 'box', kind = 'static', shape = box { size = 0.31 }, at = {0.2, -0.16, 0.2}, rotation_deg = {10, 20, "
    "30} },\n"
    "  { name = 'free', shape = torus { radius = 0.1, tube = 0.03 }, at = {-0.3, -0.03, -0.3}, density = "
    "500 } }";

static void memory_is_refused(void **state)
{
    (void)state;
    lg_look l = lg_look_open(SOFT, world);
    lg_look_at(&l);
    int32_t all = l.found.count;
    assert_true(all > 20);
    int failures = 0;
    for (int64_t k = 1;; k++) {
        tl_arena_free(&l.arena);
        tl_alloc_fail_at(k);
        talus_status status = tl_lg_detect(&l.view, &l.arena, &l.found, &err);
        int delivered = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        if (!delivered) break;
        if (status == TALUS_OK) continue; /* the arena made do with less */
        assert_int_equal(status, TALUS_NO_MEMORY);
        assert_non_null(strstr(err.message, "no memory"));
        failures++;
    }
    assert_true(failures > 0);
    assert_int_equal(l.found.count, all);
    lg_look_close(&l);
}

/* Everything in one point, on a line, or far away: finite numbers, unit normals, weights that add up. */
static void collapsed_surfaces(void **state)
{
    (void)state;
    lg_look l = lg_look_open(SOFT, world);
    tl_lg_state *s = tl_lg_state_of(&l.c.sim->state);
    for (int kind = 0; kind < 4; kind++) {
        for (int32_t i = 0; i < l.c.sim->lg.nodes; i++) {
            tl_vec3 x = tl_vec3_load(l.c.sim->lg.rest + 3 * (int64_t)i);
            if (kind == 0) x = (tl_vec3){0, 0, 0};
            if (kind == 1) x = (tl_vec3){x.x, 0, 0};
            if (kind == 2) x = (tl_vec3){1e9 * x.x, 1e9 * x.y, 1e9 * x.z};
            if (kind == 3) x = (tl_vec3){-x.x, x.y, x.z}; /* inside out */
            tl_vec3_store(x, s->q + 3 * (int64_t)i);
            tl_vec3_store(kind == 3 ? (tl_vec3){x.x, x.y - 100, x.z} : x, l.to + 3 * (int64_t)i);
        }
        lg_look_at(&l);
        for (int32_t k = 0; k < l.found.count; k++) {
            const tl_lg_contact *c = &l.found.contact[k];
            double sum = 0;
            for (int i = 0; i < 4 && c->a.node[i] >= 0; i++) sum += c->a.weight[i];
            CHECK_NEAR(sum, 1, 1e-9);
            CHECK_NEAR(tl_vec3_norm(c->normal), 1, 1e-9);
            assert_true(isfinite(c->offset) && isfinite(tl_vec3_norm(c->drag)));
        }
    }
    lg_look_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_refused), cmocka_unit_test(collapsed_surfaces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
