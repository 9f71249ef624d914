/* Cables and joins: where they lie in a mesh, rows against differences, refusals; files of nodes. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "io/vtk_lg.h"
#include "model/lg/bilateral.h"
#include "model/lg/holds.h"
#include "model/lg/place.h"
#include "rigid.h"
#include "scene/load.h"
#include "tempdir.h"

static talus_error err;

static const char world[] =
    "local m = elastic { density = 1000, young = 1e6, poisson = 0.3, model = 'arap' }\n"
    "bodies = { { name = 'bar', shape = box { size = {1, 0.2, 0.2} }, cells = {10, 2, 2}, material = m },\n"
    "  { name = 'lid', shape = box { size = {0.4, 0.1, 0.2} }, at = {0, 0.15, 0}, cells = {3, 1, 2}, material = m },\n"
    "  { name = 'cloth', shape = box { size = {1, 0.001, 1} }, at = {0, 1, 0}, cells = {4, 1, 4}, thickness = 0.001, "
    "material = m } }\n";
#define CABLE                                                                                                          \
    "{ body = 'bar', points = { {-0.43, 0.07, 0.01}, {-0.1, 0.08, 0.02}, {0.02, 0.05, 0}, {0.46, 0.06, 0} }%s }"

static rigid_case open_scene(const char *more)
{
    return rigid_open(world, "engine = 'lg', gravity = {0, 0, 0}, bodies = bodies, %s", more);
}

/* ---- places ---- */

static void places_are_found(void **state)
{
    (void)state;
    rigid_case c = open_scene("lg = { iterations = 1 }");
    const tl_lg *lg = &c.sim->lg;
    for (int b = 0; b < 3; b++) {
        tl_lg_finder *f;
        CHECK_OK(tl_lg_finder_create(&f, lg, b, &err));
        for (uint64_t k = 0; k < 200; k++) {
            const double half[3][3] = {{0.5, 0.1, 0.1}, {0.2, 0.05, 0.1}, {0.5, 0, 0.5}}, y[3] = {0, 0.15, 1};
            tl_vec3 at = {half[b][0] * (2 * tl_random(1, k, 0) - 1), y[b] + half[b][1] * (2 * tl_random(1, k, 1) - 1),
                          half[b][2] * (2 * tl_random(1, k, 2) - 1)};
            tl_lg_point p;
            CHECK_LE(tl_lg_find(f, at, &p), 1e-12);
            tl_vec3 back = tl_lg_point_at(&p, lg->rest);
            CHECK_LE(tl_vec3_norm(tl_vec3_sub(back, at)), 1e-14);
            for (int i = 0; i < 4 && p.node[i] >= 0; i++) assert_int_equal(lg->owner[p.node[i]], b);
        }
        tl_lg_point p;
        tl_vec3 off = {0.52, 0.13, 0}; /* beside the bar: the nearest element goes on */
        assert_true(tl_lg_find(f, off, &p) > 0.1);
        if (b < 2) CHECK_LE(tl_vec3_norm(tl_vec3_sub(tl_lg_point_at(&p, lg->rest), off)), 1e-14);
        tl_lg_finder_free(f);
    }
    rigid_close(&c);
}

/* ---- rows ---- */

/* Value minus target is how much longer the cable may get, and `along` is minus the derivative of its length. */
static void a_cable_is_its_derivative(void **state)
{
    (void)state;
    char more[400];
    snprintf(more, sizeof more, "cables = { " CABLE " }",
             ", length = function(t) return 0.8 - 0.1 * math.min(1, 10 * t) end, compliance = 1e-4");
    rigid_case c = open_scene(more);
    const tl_lg *lg = &c.sim->lg;
    int64_t n = 3 * (int64_t)lg->nodes;
    double *q = TL_NEW(double, n);
    tl_lg_bilaterals b;
    for (int64_t i = 0; i < n; i++) q[i] = lg->rest[i] + 0.02 * tl_random_normal(2, (uint64_t)i, 0);
    CHECK_OK(tl_lg_bilateral_rows(&(tl_lg_view){.lg = lg, .scene = c.scene, .rigid = &c.sim->rigid, .to = q}, 0.1,
                                  &c.sim->arena, &b, &err));
    assert_int_equal(b.count, 1);
    assert_true(b.row[0].one_sided && b.renew);
    CHECK_NEAR(b.row[0].compliance, 1e-4, 0);

    const tl_lg_cable *cable = &lg->holds->cable[0];
    double rest = 0, length = 0;
    for (int k = 1; k < 4; k++) {
        length +=
            tl_vec3_norm(tl_vec3_sub(tl_lg_point_at(&cable->point[k], q), tl_lg_point_at(&cable->point[k - 1], q)));
        rest += tl_vec3_norm(tl_vec3_sub(c.scene->cables[0].path.at[k], c.scene->cables[0].path.at[k - 1]));
    }
    CHECK_NEAR(cable->length, rest, 1e-14);
    double value = 0;
    for (int32_t k = 0; k < b.row[0].count; k++)
        value += tl_vec3_dot(b.term[k].along, tl_vec3_load(q + 3 * (int64_t)b.term[k].node));
    CHECK_NEAR(value - b.row[0].target, 0.7 - length, 1e-13);

    for (int32_t k = 0; k < b.row[0].count; k++) {
        double *x = q + 3 * (int64_t)b.term[k].node, at = x[1], far[2];
        for (int side = 0; side < 2; side++) { /* target moves with minus the length */
            x[1] = at + (side ? 1e-6 : -1e-6);
            far[side] = 0;
            for (int j = 1; j < 4; j++)
                far[side] += tl_vec3_norm(
                    tl_vec3_sub(tl_lg_point_at(&cable->point[j], q), tl_lg_point_at(&cable->point[j - 1], q)));
        }
        x[1] = at;
        CHECK_NEAR(b.term[k].along.y, -(far[1] - far[0]) / 2e-6, 1e-8); /* difference of second order, rounding 1e-10 */
    }
    tl_free(q);
    rigid_close(&c);
}

static void joins_hold_at_the_start(void **state)
{
    (void)state;
    rigid_case c = open_scene(
        "joins = { { body = 'lid', shape = box { size = {9, 0.001, 9}, center = {0, 0.1, 0} }, to = 'bar' },\n"
        "{ body = 'bar', shape = box { size = {0.001, 9, 9}, center = {-0.5, 0, 0} }, at = {-0.5, 0, 0}, motion = "
        "function(t) return { at = {-0.5 + t, 0, 0} } end, compliance = 1e-6 } }");
    const tl_lg *lg = &c.sim->lg;
    tl_lg_bilaterals b;
    CHECK_OK(tl_lg_bilateral_rows(&(tl_lg_view){.lg = lg, .scene = c.scene, .rigid = &c.sim->rigid, .to = lg->rest},
                                  0.25, &c.sim->arena, &b, &err));
    assert_int_equal(b.count, 3 * (4 * 3 + 3 * 3));
    for (int32_t r = 0; r < b.count; r++) {
        double value = 0;
        bool to_bar = r < 36;
        assert_int_equal(b.row[r].id, r);
        assert_false(b.row[r].one_sided);
        for (int32_t k = b.row[r].first; k < b.row[r].first + b.row[r].count; k++)
            value += tl_vec3_dot(b.term[k].along, tl_vec3_load(lg->rest + 3 * (int64_t)b.term[k].node));
        CHECK_NEAR(value - b.row[r].target, !to_bar && r % 3 == 0 ? -0.25 : 0, 1e-14);
        CHECK_NEAR(b.row[r].compliance, to_bar ? 1e-8 : 1e-6, 1e-20);
    }
    rigid_close(&c);
}

static void refused(const char *more, const char *why)
{
    talus_error e = {0};
    char text[2000];
    tl_scene *s;
    tl_lg lg;
    int n = snprintf(text, sizeof text,
                     "%s return scene { talus = 1, duration = 1, engine = 'lg', bodies = bodies, %s }", world, more);
    CHECK_OK(tl_scene_load_text(&s, "hold", text, (size_t)n, &(tl_load_options){.no_files = true}, &err));
    assert_int_equal(tl_lg_from_scene(&lg, s, NULL, &e), TALUS_BAD_INPUT);
    if (!strstr(e.message, why)) fail_msg("'%s' does not say '%s'", e.message, why);
    tl_scene_free(s);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    refused("cables = { { body = 'bar', points = { {0, 0, 0}, {3, 0, 0} } } }",
            "cables[1]: a point lies outside of its body");
    refused("joins = { { body = 'bar', shape = sphere { radius = 0.01, center = {3, 0, 0} } } }",
            "joins[1]: no node of the body is inside of the shape");
}

/* ---- in a step ---- */

static double cable_length(const rigid_case *c, int i)
{
    const tl_lg_cable *cable = &c->sim->lg.holds->cable[i];
    double l = 0;
    for (int k = 1; k < cable->points; k++)
        l += tl_vec3_norm(tl_vec3_sub(tl_lg_point_at(&cable->point[k], tl_lg_state_of(&c->sim->state)->q),
                                      tl_lg_point_at(&cable->point[k - 1], tl_lg_state_of(&c->sim->state)->q)));
    return l;
}

/* A bar held at one end: a cable below its middle plane bends it down, a slack one does nothing. */
static void a_short_cable_bends(void **state)
{
    (void)state;
    double sag[2], length[2];
    for (int way = 0; way < 2; way++) {
        rigid_case c =
            open_scene(way ? "lg = { iterations = 20 }, joins = { { body = 'bar', shape = box { size = "
                             "{0.001, 9, 9}, center = {-0.5, "
                             "0, 0} } } }, cables = { { body = 'bar', points = { {-0.45, -0.08, 0}, {0, "
                             "-0.08, 0}, {0.45, -0.08, 0} }, "
                             "length = 0.95, compliance = 1e-9 } }"
                           : "lg = { iterations = 20 }, joins = { { body = 'bar', shape = box { size = "
                             "{0.001, 9, 9}, center = {-0.5, "
                             "0, 0} } } }, cables = { { body = 'bar', points = { {-0.45, -0.08, 0}, {0, "
                             "-0.08, 0}, {0.45, -0.08, 0} }, "
                             "length = function(t) return 0.9 - math.min(0.02, 0.2 * t) end, compliance = 1e-9 } }");
        for (int k = 0; k < 60; k++) {
            rigid_step(&c, 0.01);
            for (int64_t i = 0; i < 3 * tl_lg_state_of(&c.sim->state)->nodes; i++)
                tl_lg_state_of(&c.sim->state)->v[i] *= 0.8; /* to rest */
        }
        tl_lg_finder *f;
        tl_lg_point tip;
        CHECK_OK(tl_lg_finder_create(&f, &c.sim->lg, 0, &err));
        tl_lg_find(f, (tl_vec3){0.5, 0, 0}, &tip);
        tl_lg_finder_free(f);
        sag[way] = tl_lg_point_at(&tip, tl_lg_state_of(&c.sim->state)->q).y;
        length[way] = cable_length(&c, 0);
        rigid_close(&c);
    }
    CHECK_NEAR(length[0], 0.88, 1e-6); /* 1e-9 m/N times some 300 N, and what 20 rounds leave */
    CHECK_LE(sag[0], -0.02);           /* chosen: clearly bent */
    CHECK_NEAR(length[1], 0.9, 1e-9);
    CHECK_NEAR(sag[1], 0, 1e-9);
}

/* A bar with a block joined to its lower end, 5 mm into it: hangs as long as Hooke has it, and what is bound does
 * not touch. */
static void a_block_hangs_on_a_bar(void **state)
{
    (void)state;
    const double E = 2e7, side = 0.02, length = 0.2, g = 10, block = 2000 * 0.06 * 0.06 * 0.06;
    rigid_case c = rigid_open(
        "bodies = { { name = 'bar', shape = box { size = {0.02, 0.2, 0.02} }, cells = {2, 12, 2}, at = {0, -0.1, 0},\n"
        "anchor = box { size = {1, 0.001, 1}, center = {0, 0.1, 0} }, anchor_weight = 1e9,\n"
        "material = elastic { density = 1000, young = 2e7, poisson = 0.3 } },\n"
        "{ name = 'block', shape = box { size = 0.06 }, at = {0, -0.225, 0}, density = 2000 } }",
        "engine = 'lg', gravity = {0, -10, 0}, bodies = bodies, joins = { { body = 'bar', to = 'block', compliance = "
        "1e-9, shape = box { size = {1, 0.001, 1}, center = {0, -0.2, 0} } } }%s",
        "");
    for (int k = 0; k < 100; k++) {
        rigid_step(&c, 0.005);
        assert_int_equal(c.sim->report.contacts, 0);
    }
    double stretch = (block + 0.5 * 1000 * side * side * length) * g * length / (E * side * side);
    CHECK_NEAR(-0.225 - c.sim->state.rigid.body[1].x.y, stretch, 0.015 * stretch); /* both ends cannot narrow */
    const tl_lg_hold *hold = tl_lg_state_of(&c.sim->state)->hold;                  /* the bar's anchor, then the join */
    double bar = 1000 * side * side * length;
    assert_int_equal(hold[1].kind, TL_LG_JOINED);
    CHECK_NEAR(hold[0].force.y, (block + bar) * g, 1e-4 * block * g);
    CHECK_NEAR(hold[1].force.y, -block * g, 1e-4 * block * g);
    CHECK_NEAR(hold[1].at.y, -0.2 - stretch, 0.02 * stretch);
    CHECK_NEAR(tl_vec3_norm(hold[1].torque), 0, 1e-6);
    rigid_close(&c);
}

/* Bar between two free bodies, one of which spins and flies: the three keep their momentum, and the ends stay
 * together. */
static void joined_bodies_fly_on(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        "bodies = { { name = 'bar', shape = box { size = {0.02, 0.2, 0.02} }, cells = {2, 8, 2}, at = {0, -0.1, 0},\n"
        "material = elastic { density = 1000, young = 2e6, poisson = 0.3 } },\n"
        "{ name = 'block', shape = box { size = 0.06 }, at = {0, -0.23, 0}, density = 2000, spin_rad_per_s = {0, 3, "
        "5},\n"
        "  velocity = {1, 0, 0} },\n"
        "{ name = 'ball', shape = sphere { radius = 0.03 }, at = {0, 0.03, 0}, density = 1000 } }",
        "engine = 'lg', gravity = {0, 0, 0}, bodies = bodies, lg = { iterations = 40 }, joins = {\n"
        "{ body = 'bar', shape = box { size = {1, 0.001, 1}, center = {0, -0.2, 0} }, to = 'block' },\n"
        "{ body = 'bar', shape = box { size = {1, 0.001, 1} }, to = 'ball' } }%s",
        "");
    double mass = 2000 * 0.06 * 0.06 * 0.06, apart = 0;
    for (int k = 0; k < 100; k++) {
        rigid_step(&c, 0.005);
        CHECK_NEAR(c.sim->report.momentum.x, mass, 1e-9 * mass);
        CHECK_NEAR(c.sim->report.momentum.y, 0, 1e-9 * mass);
    }
    for (int32_t k = 0; k < c.sim->lg.holds->bonds; k++) {
        const tl_lg_bond *b = &c.sim->lg.holds->bond[k];
        tl_pose pose = tl_rigid_pose(&c.sim->rigid.body[b->rigid], &c.sim->state.rigid.body[b->rigid]);
        tl_vec3 at = tl_vec3_load(tl_lg_state_of(&c.sim->state)->q + 3 * (int64_t)b->node);
        apart = fmax(apart, tl_vec3_norm(tl_vec3_sub(at, tl_pose_apply(&pose, b->local))));
    }
    CHECK_LE(apart,
             2e-5); /* a thousandth of the bar's side: what the turn of a step bends away, 0.03 m (0.03 rad)^2 / 2 */
    rigid_close(&c);
}

/* ---- files ---- */

static void nodes_come_back(void **state)
{
    (void)state;
    char folder[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 20];
    rigid_case c = open_scene("lg = { iterations = 2 }");
    int64_t n = 3 * (int64_t)c.sim->lg.nodes;
    double *q = TL_NEW(double, n), *v = TL_NEW(double, n);
    for (int64_t i = 0; i < n; i++) tl_lg_state_of(&c.sim->state)->v[i] = tl_random_normal(3, (uint64_t)i, 0);
    tl_tempdir_create(folder);
    snprintf(path, sizeof path, "%s/nodes.vtp", folder);
    CHECK_OK(tl_vtk_nodes(path, c.scene, &c.sim->lg, tl_lg_state_of(&c.sim->state)->hold, c.sim->state.t,
                          tl_lg_state_of(&c.sim->state)->q, tl_lg_state_of(&c.sim->state)->v, &err));
    CHECK_OK(tl_vtk_nodes_read(path, c.sim->lg.nodes, q, v, &err));
    assert_memory_equal(q, tl_lg_state_of(&c.sim->state)->q, sizeof(double) * (size_t)n);
    assert_memory_equal(v, tl_lg_state_of(&c.sim->state)->v, sizeof(double) * (size_t)n);
    assert_int_equal(tl_vtk_nodes_read(path, c.sim->lg.nodes - 1, q, v, &err), TALUS_BAD_INPUT);
    char text[2001] = "", wanted[120]; /* what holds them is in the field data */
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    snprintf(wanted, sizeof wanted, "Name=\"holds_force\" NumberOfComponents=\"3\" NumberOfTuples=\"%d\"",
             tl_lg_hold_count(&c.sim->lg, c.scene));
    assert_non_null(strstr(text, wanted));
    snprintf(path, sizeof path, "%s/none.vtp", folder);
    assert_int_equal(tl_vtk_nodes_read(path, c.sim->lg.nodes, q, v, &err), TALUS_IO);
    tl_tempdir_remove(folder);
    tl_free(q);
    tl_free(v);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_found),        cmocka_unit_test(a_cable_is_its_derivative),
        cmocka_unit_test(joins_hold_at_the_start), cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(a_short_cable_bends),     cmocka_unit_test(nodes_come_back),
        cmocka_unit_test(a_block_hangs_on_a_bar),  cmocka_unit_test(joined_bodies_fly_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
