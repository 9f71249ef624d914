/* A strip of cloth that falls upright folds onto itself: with self contact nothing cuts through, and it comes to
 * rest. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "geom/triangle_tree.h"
#include "phase/lg/apart.h"
#include "rigid.h"

static talus_error err;

static const char strip[] = "engine = 'lg', lg = { iterations = 8, inner = 5 }, bodies = { { name = 'strip', shape = "
                            "box { size = {0.1, 0.5, 0.006} }, at = {0, 0.27, 0}, "
                            "rotation_deg = {2, 0, 0}, cells = {2, 10, 1}, thickness = 0.006, bending_stiffness = "
                            "0.0033, self_contact = %s, material = elastic { density = "
                            "500, young = 1e5, poisson = 0.3, model = 'arap', friction = 0.3 } }, { name = 'ground', "
                            "kind = 'static', shape = plane {}, friction = 0.5 } }";

static int64_t cuts(const tl_sim *sim)
{
    tl_trimesh m = {.vertices = sim->lg.nodes,
                    .triangles = sim->lg.surface_triangles,
                    .vertex = (tl_vec3 *)(void *)tl_lg_state_of(&sim->state)->q,
                    .triangle = sim->lg.surface};
    tl_triangle_tree t;
    CHECK_OK(tl_triangle_tree_create(&t, &m, &err));
    int64_t count = tl_triangle_tree_cuts(&t);
    tl_triangle_tree_free(&t);
    return count;
}

static void a_falling_strip_folds(void **state)
{
    (void)state;
    for (int self = 0; self < 2; self++) {
        rigid_case c = rigid_open(NULL, strip, self ? "true" : "false");
        int64_t max = 0;
        for (int k = 0; k < 150; k++) {
            rigid_step(&c, 0.01);
            if (k % 4 == 3) max = cuts(c.sim) > max ? cuts(c.sim) : max;
        }
        if (self) {
            assert_int_equal(max, 0);
            CHECK_LE(c.sim->report.fastest, 0.05);
        } else
            assert_true(max > 10); /* what it is for */
        rigid_close(&c);
    }
}

static const char towel[] =
    "local function led(sign) return { body = 'towel', shape = box { size = {0.002, 9, 9}, center = {sign * 0.3, 0, 0} "
    "}, at = {sign * 0.3, 0, 0}, motion = function(t) return { rotation_rad = {sign * 4 * math.pi * t, 0, 0}, at = "
    "{sign * (0.3 - 0.06 * t), 0, 0} } end } end";
static const char wrung[] =
    "engine = 'lg', gravity = {0, 0, 0}, lg = { %s }, bodies = { { name = 'towel', shape = box "
    "{ size = {0.6, 0.002, 0.24} }, cells = {15, 1, 6}, thickness = 0.002, self_contact = true, "
    "material = elastic { density = 300, young = 1e5, poisson = 0.3, model = 'neo_hookean', "
    "friction = 0.3 } } }, handles = { led(-1), led(1) }";

/* Two turns at each end in a second. By default solves end, and nothing has to be held apart; rounds alone end far
 * from the answer, and the guard holds. */
static void a_wrung_towel_does_not_tangle(void **state)
{
    (void)state;
    static const char *const ways[] = {"", "corrections = 0", "corrections = 0, guard = false"};
    for (int way = 0; way < 3; way++) {
        rigid_case c = rigid_open(towel, wrung, ways[way]);
        int64_t max = 0;
        int missed = 0;
        for (int k = 0; k < 40; k++) {
            rigid_step(&c, 0.01);
            max = cuts(c.sim) > max ? cuts(c.sim) : max;
            missed += c.sim->report.solve[0].certificate > 1e-3;
        }
        if (way < 2)
            assert_int_equal(max, 0);
        else
            assert_true(max > 10); /* what it is for */
        if (way == 0) {
            CHECK_LE(missed, 2);
            CHECK_LE(c.sim->report.penetration, 1e-4);
        }
        rigid_close(&c);
    }
}

static const char wring[] =
    "local function led(sign) return { body = 'towel', shape = box { size = {0.002, 9, 9}, center = {sign * 0.3, 0, 0} "
    "}, at = {sign * 0.3, 0, 0}, motion = function(t) local turned = math.min(4 * t, 2.5) return { rotation_rad = "
    "{sign * 2 * math.pi * turned, 0, 0}, at = {sign * (0.3 - 0.03 * turned), 0, 0} } end } end";
static const char room[] = "engine = 'lg', lg = { %s }, dt_max = 0.01, gravity = {0, 0, 0}, bodies = { { name = "
                           "'towel', shape = box { size = {0.6, 0.002, 0.24} }, cells = {10, 1, 4}, thickness = 0.002, "
                           "self_contact = true, material = elastic { density = 300, young = 1e5, poisson = 0.3, model "
                           "= 'neo_hookean', friction = 0.3 } } } %s";

/* Five turns within 0.63 s: cells of 60 mm wind up until there is no room left. What is pressed into its thickness must
 * not come nearer step by step, to rounding, and then through; steps that do not find their answer are made again. */
static void a_towel_wrung_by_five_turns_does_not_tangle(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        rigid_case c = rigid_open(wring, room, way ? "corrections = 0" : "", ", handles = { led(-1), led(1) }");
        while (c.sim->state.t < (way ? 0.63 : 0.5)) { /* by default four of the turns: the fifth takes 20 s more */
            rigid_step(&c, 0.01);
            assert_int_equal(cuts(c.sim), 0);
            if (way == 0) CHECK_LE(c.sim->report.penetration, 1e-3);
        }
        rigid_close(&c);
    }
}

static tl_vec3 momentum_of(const tl_lg *lg, const double *from, const double *to)
{
    tl_vec3 sum = {0, 0, 0};
    for (int32_t i = 0; i < lg->nodes; i++) {
        tl_vec3 x = tl_vec3_load(from + 3 * (int64_t)i), d = tl_vec3_sub(tl_vec3_load(to + 3 * (int64_t)i), x);
        sum = tl_vec3_add_scaled(sum, lg->mass[i], d);
    }
    return sum;
}

/* Nodes that would fly anywhere at random: they end free of crossings, with the momentum that they had. Impulses do
 * that for little ways, beyond these they move as pieces. */
static void nodes_at_random_do_not_tangle(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        rigid_case c = rigid_open(NULL, room, "", "");
        const tl_lg *lg = &c.sim->lg;
        const int64_t n = 3 * (int64_t)lg->nodes;
        double *from = tl_lg_state_of(&c.sim->state)->q, *to = calloc((size_t)n, sizeof *to),
               *would = calloc((size_t)n, sizeof *to);
        const double far = way ? 100 : 0.12;
        uint32_t seed = 7;
        tl_arena arena = {0};
        tl_lg_apart out;
        for (int64_t i = 0; i < n; i++) {
            seed = 1664525 * seed + 1013904223;
            would[i] = to[i] = from[i] + far * ((double)(seed >> 8) / (1 << 24) - 0.5);
        }
        const double friction[8] = {0};
        tl_lg_view v = {.lg = lg,
                        .rigid = &c.sim->rigid,
                        .scene = c.sim->scene,
                        .friction = friction,
                        .from = from,
                        .to = to,
                        .h = 0.01};
        CHECK_OK(tl_lg_hold_apart(&v, 0.01, to, &arena, &out, &err));
        assert_true(out.free && out.impacts > 0);
        assert_true((out.stiff > 0) == way);
        tl_vec3 had = momentum_of(lg, from, would), has = momentum_of(lg, from, to);
        CHECK_LE(tl_vec3_norm(tl_vec3_sub(had, has)), 1e-13 * far);
        memcpy(from, to, sizeof *to * (size_t)n);
        assert_int_equal(cuts(c.sim), 0);
        tl_arena_free(&arena);
        free(to);
        free(would);
        rigid_close(&c);
    }
}

static const char heap[] =
    "local list = { { name = 'floor', kind = 'static', shape = half_space {}, friction = 0.5 } } for i = 1, 5 do "
    "list[i + "
    "1] = { name = 's' .. i, shape = i % 2 == 0 and sphere { radius = 0.08 } or box { size = {0.2, 0.1, 0.15} }, at = "
    "{0.03 * (i % 3), 0.12 + 0.2 * i, 0.02 * i}, rotation_deg = {10 * i, 20, 5}, edge = 0.05, material = elastic { "
    "density = 900, young = 10 ^ (4 + i * 0.5), poisson = 0.3 + 0.03 * i, friction = 0.4 } } end list[7] = { name = "
    "'brick', shape = box { size = {0.1, 0.06, 0.12} }, at = {0, 1.5, 0}, density = 2500, friction = 0.3 }";

/* Steps that are far too long leave solids inside of each other: the guard must not keep them there, nor end the
 * run. */
static void solids_that_overlap_come_apart(void **state)
{
    (void)state;
    rigid_case c = rigid_open(heap, "engine = 'lg', fps = 25, dt_max = 0.04, bodies = list");
    double deepest = 0;
    for (int k = 0; k < 40; k++) {
        rigid_step(&c, 0.04);
        deepest = fmax(deepest, c.sim->report.penetration);
        CHECK_LE(c.sim->report.retries, 1);
    }
    CHECK_LE(5e-3, deepest);                            /* they were */
    CHECK_LE(c.sim->report.penetration, 0.5 * deepest); /* and are not */
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_falling_strip_folds), cmocka_unit_test(a_wrung_towel_does_not_tangle),
        cmocka_unit_test(a_towel_wrung_by_five_turns_does_not_tangle), cmocka_unit_test(nodes_at_random_do_not_tangle),
        cmocka_unit_test(solids_that_overlap_come_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
