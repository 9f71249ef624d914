/* Things that cannot go well in the SPH engine: told in words or survived, the state unchanged by what failed, never
 * a NaN. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "model/sph/state.h"
#include "rigid.h"

static talus_error err;

typedef struct heard {
    int count;
    char last[512];
} heard;

static void hear(void *user, int level, const char *text)
{
    heard *h = user;
    (void)level;
    h->count++;
    snprintf(h->last, sizeof h->last, "%s", text);
}

static bool finite3(tl_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static void all_finite(const tl_sim *sim)
{
    for (int i = 0; i < sim->rigid.scene_count; i++) {
        const tl_motion *m = &sim->state.rigid.body[i];
        assert_true(finite3(m->x) && finite3(m->v) && finite3(m->w) && isfinite(tl_quat_norm2(m->q)));
        assert_true(finite3(m->contact_force) && finite3(m->fluid_force));
    }
    for (int64_t i = 0; i < tl_sph_state_of(&sim->state)->count; i++) {
        const tl_sph_particle *p = &tl_sph_state_of(&sim->state)->particle[i];
        assert_true(finite3(p->x) && finite3(p->v) && isfinite(p->p));
    }
    assert_true(isfinite(sim->report.kinetic) && isfinite(sim->report.solve[0].certificate));
}

/* A card between plates that close to less than it needs has no solution: what pushes it gives way, the log says
 * why, and every impulse has a taker (a rule that slowed the card down took 0.3 to 3 times the momentum that it
 * had). */
static void squeezed_card(void **state)
{
    (void)state;
    heard said = {0};
    tl_log log = {hear, &said, 0};
    rigid_case c;
    CHECK_OK(rigid_try(&c, &log,
                       "function up(t) return { at = {0, -0.05 - 0.018 + math.min(0.1 * t, 0.014), 0} } end\n"
                       "function down(t) return { at = {0, 0.05 + 0.018 - math.min(0.1 * t, 0.014), 0} } end",
                       "engine = 'sph', dt_max = 1e-3, sph = { spacing = 0.02, inset = 0 }, bodies = {\n"
                       "{ shape = box { size = {0.3, 0.1, 0.3} }, motion = up },\n"
                       "{ shape = box { size = {0.3, 0.1, 0.3} }, motion = down },\n"
                       "{ name = 'card', shape = box { size = {0.12, 0.001, 0.12} }, density = 1000 } }",
                       &err));
    double fastest = 0, off = 0;
    for (int i = 0; i < 250; i++) {
        CHECK_OK(tl_sim_step(c.sim, 1e-3, INFINITY, &err));
        all_finite(c.sim);
        off = fmax(off, tl_vec3_norm(c.sim->report.accounts.momentum_unexplained));
        off = fmax(off, tl_vec3_norm(c.sim->report.accounts.angular_unexplained) / 0.12);
        fastest = fmax(fastest, tl_vec3_norm(rigid_body(&c, "card")->v));
    }
    assert_true(said.count >= 1);
    assert_non_null(strstr(said.last, "card"));
    assert_non_null(strstr(said.last, "too narrow"));
    CHECK_LE(fastest, 2.0); /* 8 to 180 m/s, or NaN, when nothing gives way */
    CHECK_LE(off, 1e-12);   /* of 0.0144 kg that moves at up to 0.6 m/s */
    rigid_close(&c);
}

/* Two boxes half inside of each other are pushed apart at push_out and end at rest near each other. */
static void overlap_at_the_start(void **state)
{
    (void)state;
    rigid_case c =
        rigid_open(NULL, "engine = 'sph', dt_max = 1e-3, gravity = {0, 0, 0}, sph = { spacing = 0.02 }, bodies = {\n"
                         "{ name = 'a', shape = box { size = 0.12 }, density = 1000 },\n"
                         "{ name = 'b', shape = box { size = 0.12 }, at = {0.107, 0, 0}, density = 1000 } }");
    double max = 0;
    for (int i = 0; i < 200; i++) {
        rigid_step(&c, 1e-3);
        all_finite(c.sim);
        max = fmax(max, tl_vec3_norm(rigid_body(&c, "a")->v));
    }
    double apart = rigid_body(&c, "b")->x.x - rigid_body(&c, "a")->x.x;
    assert_true(apart > 0.115);
    CHECK_LE(max, 0.2); /* push_out, of which each takes a share */
    rigid_close(&c);
}

static void too_much_relaxation(void **state)
{
    (void)state;
    rigid_case c;
    assert_int_equal(rigid_try(&c, NULL, NULL, "engine = 'sph', sph = { spacing = 0.02, relaxation = 0.9 }", &err),
                     TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "relaxation"));
    assert_non_null(strstr(err.message, "0.7"));
}

/* The largest relaxation that is let in, on a deep pillar: nothing leaves the numbers. */
static void largest_relaxation(void **state)
{
    (void)state;
    rigid_case c =
        rigid_open(NULL, "engine = 'sph', dt_max = 1e-3, sph = { spacing = 0.02, relaxation = 0.7 },\n"
                         "domain = { min = {0, 0, 0}, max = {0.12, 1, 0.12} }, fill = { { sampling = "
                         "'lattice', material = liquid { density = "
                         "1000 }, shape = box { size = {0.12, 0.5, 0.12}, center = {0.06, 0.25, 0.06} } } }");
    for (int i = 0; i < 150; i++) rigid_step(&c, 1e-3);
    all_finite(c.sim);
    assert_true(c.sim->report.fastest < 1);
    rigid_close(&c);
}

/* Nothing pulls, nothing touches: bodies and drops fly on as they were. */
static void zero_gravity_and_no_neighbours(void **state)
{
    (void)state;
    rigid_case c =
        rigid_open(NULL, "engine = 'sph', dt_max = 1e-3, gravity = {0, 0, 0}, sph = { spacing = 0.02 },\n"
                         "fill = { { material = liquid { density = 1000 }, shape = box { size = {0.02, 0.02, 0.02}, "
                         "center = {1, 0, 0} }, velocity = {0, 1, 0} } },\n"
                         "bodies = { { name = 'a', shape = box { size = 0.1 }, density = 1000, velocity = {1, 2, "
                         "3} }, { name = 'b', shape = sphere { radius = 0.05 }, at = {-5, 0, 0}, density = 1000 } }");
    assert_int_equal(tl_sph_state_of(&c.sim->state)->count, 1);
    for (int i = 0; i < 20; i++) rigid_step(&c, 1e-3);
    all_finite(c.sim);
    const tl_motion *a = rigid_body(&c, "a"), *b = rigid_body(&c, "b");
    assert_true(a->v.x == 1 && a->v.y == 2 && a->v.z == 3);
    CHECK_NEAR(a->x.y, 2 * c.sim->state.t, 1e-12);
    assert_true(b->v.x == 0 && b->x.x == -5);
    assert_true(tl_sph_state_of(&c.sim->state)->particle[0].v.y == 1);
    assert_int_equal(c.sim->report.contacts, 0);
    rigid_close(&c);
}

/* An empty scene, and one whose liquid all left, go on. */
static void nothing_at_all(void **state)
{
    (void)state;
    rigid_case c =
        rigid_open(NULL, "engine = 'sph', sph = { spacing = 0.02 }, domain = { min = {0, 0, 0}, max = {1, 1, 1}, "
                         "y_min = 'open' }, fill = { { material = liquid { density = 1000 }, shape = box { size = "
                         "0.04, center = {0.5, 0.04, 0.5} } } }");
    for (int i = 0; i < 200; i++) rigid_step(&c, 2e-3);
    assert_int_equal(tl_sph_state_of(&c.sim->state)->count, 0);
    assert_int_equal(c.sim->report.escaped, 8);
    assert_true(isfinite(c.sim->report.kinetic));
    rigid_close(&c);
}

/* Numbers that are not numbers stop a step with the culprit's name; the state stays as it was, and a repaired one
 * goes on. */
static void not_a_number(void **state)
{
    (void)state;
    rigid_case c =
        rigid_open(NULL, "engine = 'sph', dt_max = 1e-3, sph = { spacing = 0.02 },\n"
                         "domain = { min = {0, 0, 0}, max = {0.2, 0.4, 0.2} }, fill = { { material = liquid { "
                         "density = 1000 }, shape = box { size = {0.16, 0.1, 0.16}, center = {0.1, 0.07, 0.1} } } },\n"
                         "bodies = { { name = 'brick', shape = box { size = 0.08 }, at = {0.1, 0.2, 0.1}, density "
                         "= 1000 } }");
    rigid_step(&c, 1e-3);
    tl_motion *brick = &c.sim->state.rigid.body[0];
    tl_sph_particle *drop = &tl_sph_state_of(&c.sim->state)->particle[5];
    double *spots[] = {&brick->v.x, &brick->w.y, &brick->x.z, &drop->v.x, &drop->x.y, &drop->p};
    for (int k = 0; k < 6; k++)
        for (int big = 0; big < 3; big++) {
            double was = *spots[k], bad = big == 2 ? 1e300 : big ? INFINITY : NAN;
            *spots[k] = bad;
            uint64_t before = tl_state_hash(&c.sim->state);
            talus_status status = tl_sim_step(c.sim, 1e-3, INFINITY, &err);
            if (status == TALUS_OK && k != 5) fail_msg("spot %d, %g: a step went on", k, bad);
            if (status == TALUS_OK) { /* a pressure is only where a solve starts */
                assert_true(k == 5);
                all_finite(c.sim);
                brick = &c.sim->state.rigid.body[0];
                drop = &tl_sph_state_of(&c.sim->state)->particle[5];
                continue;
            }
            assert_true(err.message[0]);
            if (k < 3) assert_non_null(strstr(err.message, "brick"));
            assert_true(tl_state_hash(&c.sim->state) == before);
            *spots[k] = was;
            CHECK_OK(tl_sim_step(c.sim, 1e-3, INFINITY, &err));
            all_finite(c.sim);
        }
    rigid_close(&c);
}

/* Memory refused at any moment of a beginning and of a step. */
static const char crowd[] =
    "engine = 'sph', sph = { spacing = 0.03 }, domain = { min = {0, 0, 0}, max = {0.3, 0.4, 0.3} },"
    "fill = { { material = viscous { density = 1000, viscosity = 1, surface_tension = 1 }, shape = box { size = {0.26, "
    "0.1, "
    "0.26}, center = {0.15, 0.07, 0.15} } } },"
    "emitters = { { material = liquid { density = 1000 }, shape = box { size = 0.06, center = {0.05, 0.3, 0.05} }, "
    "rate = 1 } },"
    "bodies = { { shape = box { size = 0.12 }, at = {0.12, 0.18, 0.15}, density = 700, friction = 0.4 },"
    " { shape = sphere { radius = 0.05 }, at = {0.15, 0.3, 0.15}, density = 1500, friction = 0.3 } }";

static void no_memory(void **state)
{
    (void)state;
    rigid_case c = rigid_open(NULL, "%s", crowd);
    int64_t live = tl_alloc_read().live_blocks;
    int failures = 0;
    for (int64_t k = 1;; k++) {
        tl_sim *sim;
        tl_alloc_fail_at(k);
        talus_status status = tl_sim_create(&sim, c.scene, NULL, &err);
        uint64_t before = 0;
        bool made = status == TALUS_OK;
        if (made) {
            before = tl_state_hash(&sim->state);
            status = tl_sim_step(sim, 1e-3, INFINITY, &err);
        }
        int delivered = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        if (status != TALUS_OK) {
            assert_int_equal(status, TALUS_NO_MEMORY);
            failures++;
            if (made) {
                assert_true(tl_state_hash(&sim->state) == before);
                CHECK_OK(tl_sim_step(sim, 1e-3, INFINITY, &err)); /* and it can go on */
            }
        }
        if (made) tl_sim_free(sim);
        assert_int_equal(tl_alloc_read().live_blocks, live);
        if (!delivered) break;
    }
    assert_true(failures > 30);
    rigid_close(&c);
}

/* A drop of a few particles that is thrown into a corner of the domain has too few neighbours to feel one layer of
 * samples: it must stay inside all the same. */
static void thrown_into_a_corner(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        "", "engine = 'sph', dt_max = 2e-3, sph = { spacing = 0.02 },\n"
            "domain = { min = {0, 0, 0}, max = {0.4, 0.4, 0.4} },\n"
            "fill = { { material = liquid { density = 1000 }, sampling = 'lattice', velocity = {-4, -5, -4},\n"
            "  shape = box { size = 0.06, center = {0.1, 0.1, 0.1} } } }");
    assert_int_equal(tl_sph_state_of(&c.sim->state)->count, 27);
    for (int i = 0; i < 200; i++) {
        rigid_step(&c, 0);
        all_finite(c.sim);
        assert_int_equal(c.sim->report.escaped, 0);
        for (int64_t k = 0; k < tl_sph_state_of(&c.sim->state)->count; k++) {
            tl_vec3 x = tl_sph_state_of(&c.sim->state)->particle[k].x;
            /* samples are half a spacing behind the wall, particles stop a quarter before the samples */
            assert_true(fmin(x.x, fmin(x.y, x.z)) >= -0.25 * 0.02 - 1e-12);
        }
    }
    rigid_close(&c);
}

/* A wire much thinner than the spacing is carried like anything else: samples that crowd each other would fall
 * through the floor. */
static void thin_wire(void **state)
{
    (void)state;
    rigid_case c;
    CHECK_OK(
        rigid_try(&c, NULL, "",
                  "engine = 'sph', sph = { spacing = 0.02 }, bodies = { { shape = box { size = {0.4, 0.1, 0.2} }, at "
                  "= {0, -0.05, 0}, kind = 'static' }, { name = 'wire', density = 1000, at = {0, 0.025, 0}, shape = "
                  "capsule { from = {-0.1, 0, 0}, to = {0.1, 0, 0}, radius = 0.007 } } }",
                  &err));
    for (int i = 0; i < 400; i++) rigid_step(&c, 1e-3);
    const tl_motion *m = rigid_body(&c, "wire");
    CHECK_NEAR(m->x.y, 0.007, 0.01); /* the wire's samples lie on one side of it or the other */
    CHECK_LE(tl_vec3_norm(m->v), 1e-3);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thrown_into_a_corner),
        cmocka_unit_test(thin_wire),
        cmocka_unit_test(squeezed_card),
        cmocka_unit_test(overlap_at_the_start),
        cmocka_unit_test(too_much_relaxation),
        cmocka_unit_test(largest_relaxation),
        cmocka_unit_test(zero_gravity_and_no_neighbours),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(not_a_number),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
