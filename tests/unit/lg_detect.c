/* Contacts of elastic surfaces: gaps, normals and motions against closed forms. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "lg_view.h"
#include "model/lg/cells.h"
#include "model/lg/detect.h"

#define SOFT                                                                                                           \
    "function soft() return elastic { density = 1000, young = 1e6, poisson = 0.3, model = 'arap', friction = 0.5 } "   \
    "end\n"
/* A cube of 0.2 m around the origin, 2 cells along each edge: 26 nodes on its surface, edges of 0.1 m. */
#define CUBE "{ name = 'cube', shape = box { size = 0.2 }, cells = {2, 2, 2}, material = soft() }"

static int32_t nodes_of(const lg_look *l) /* contacts of nodes, not of places between them */
{
    int32_t count = 0;
    for (int32_t k = 0; k < l->found.count; k++) count += l->found.contact[k].a.node[1] < 0;
    return count;
}

static void a_plane_sees_the_nodes_above_it(void **state)
{
    (void)state;
    lg_look l =
        lg_look_open(SOFT, "engine = 'lg', bodies = { " CUBE
                           ", { name = 'floor', kind = 'static', shape = plane { height = -0.11 }, friction = 0.2 } }");
    lg_look_move(&l, (tl_vec3){0.01, -0.03, 0});
    lg_look_at(&l);
    assert_int_equal(l.found.count, 9); /* the lowest layer */
    for (int32_t k = 0; k < 9; k++) {
        const tl_lg_contact *c = &l.found.contact[k];
        CHECK_NEAR(c->normal.y, 1, 1e-15);
        CHECK_NEAR(lg_look_gap(c, l.view.from), 0.01, 1e-15);
        CHECK_NEAR(lg_look_gap(c, l.to), -0.02, 1e-15);
        CHECK_NEAR(c->at.y, -0.11, 1e-15);
        CHECK_NEAR(c->mu, sqrt(0.5 * 0.2), 1e-15); /* the pair's geometric mean */
        assert_int_equal(c->rigid, -1);
        assert_int_equal(c->body_a, 0);
        assert_int_equal(c->body_b, 1);
        assert_int_equal(c->point, c->a.node[0]);
        assert_int_equal(c->b.node[0], -1);
        assert_true(k == 0 || c->point > c[-1].point); /* in order */
    }
    lg_look_move(&l, (tl_vec3){0, 1, 0}); /* away, but the margin is that of the motion: still seen */
    lg_look_at(&l);
    assert_true(l.found.count >= 9);
    lg_look_close(&l);
}

static void walls_come_after_bodies(void **state)
{
    (void)state;
    lg_look l = lg_look_open(SOFT, "engine = 'lg', bodies = { " CUBE
                                   " }, domain = { min = {-0.12, -1, -1}, max = {1, 1, 1}, friction = 0.8 }");
    lg_look_at(&l);
    assert_int_equal(l.found.count, 9); /* x = -0.1 */
    for (int32_t k = 0; k < 9; k++) {
        CHECK_NEAR(lg_look_gap(&l.found.contact[k], l.to), 0.02, 1e-15);
        assert_int_equal(l.found.contact[k].body_b, 1);
    }
    lg_look_close(&l);
}

/* The frozen normal is that of the later place: a node that slides along a ball has the ball's distance there. */
static void curved_obstacles_are_met_where_nodes_arrive(void **state)
{
    (void)state;
    lg_look l =
        lg_look_open(SOFT, "engine = 'lg', bodies = { " CUBE ", { name = 'ball', kind = 'static', shape = sphere "
                           "{ radius = 0.5 }, at = {0, -0.605, 0} } }");
    lg_look_move(&l, (tl_vec3){0.05, -0.01, 0});
    lg_look_at(&l);
    assert_true(nodes_of(&l) >= 5);
    double worst = 0;
    for (int32_t k = 0; k < l.found.count; k++) {
        const tl_lg_contact *c = &l.found.contact[k];
        if (c->a.node[1] >= 0) continue;
        tl_vec3 x = tl_vec3_sub(lg_look_place(&c->a, l.to), (tl_vec3){0, -0.605, 0});
        CHECK_NEAR(lg_look_gap(c, l.to), tl_vec3_norm(x) - 0.5, 1e-14);
        CHECK_NEAR(tl_vec3_dot(c->normal, tl_vec3_normalize(x)), 1, 1e-14);
        worst = fmin(worst, lg_look_gap(c, l.to));
    }
    assert_true(worst < -1e-3);
    lg_look_close(&l);
}

/* A node over a face near its edge that falls by more than its distance from the side is still pushed up, and one
 * beside it outwards. */
static void box_faces_keep_what_came_over_them(void **state)
{
    (void)state;
    lg_look l =
        lg_look_open(SOFT, "engine = 'lg', bodies = { " CUBE ", { name = 'box', kind = 'static', shape = box { size = "
                           "{0.204, 1, 1} }, at = {0, -0.601, 0} } }");
    lg_look_move(&l, (tl_vec3){0, -0.006, 0}); /* nodes at x = -+0.1: 2 mm from the side, 5 mm deep */
    lg_look_at(&l);
    assert_int_equal(l.found.count, 9);
    for (int32_t k = 0; k < 9; k++) {
        CHECK_NEAR(l.found.contact[k].normal.y, 1, 1e-12);
        CHECK_NEAR(lg_look_gap(&l.found.contact[k], l.to), -0.005, 1e-12);
    }
    lg_look_close(&l);
}

/* Through a thin plate within one step: held on the side it came from. */
static void thin_plates_are_not_passed(void **state)
{
    (void)state;
    lg_look l = lg_look_open(SOFT, "engine = 'lg', bodies = { " CUBE
                                   ", { name = 'plate', kind = 'static', shape = box { size = "
                                   "{1, 0.001, 1} }, at = {0, -0.15, 0} } }");
    lg_look_move(&l, (tl_vec3){0, -0.1, 0});
    lg_look_at(&l);
    int32_t low = 0;
    for (int32_t k = 0; k < l.found.count; k++) {
        const tl_lg_contact *c = &l.found.contact[k];
        if (c->a.node[1] >= 0 || lg_look_place(&c->a, l.view.from).y > -0.09) continue;
        CHECK_NEAR(c->normal.y, 1, 1e-12);
        CHECK_NEAR(lg_look_gap(c, l.to), -0.2 + 0.1495, 1e-12);
        low++;
    }
    assert_int_equal(low, 9);
    lg_look_close(&l);
}

/* The obstacle's place at the end of the step, and its velocity on the way. */
static void moving_obstacles_are_met_where_they_will_be(void **state)
{
    (void)state;
    lg_look l = lg_look_open(SOFT, "engine = 'lg', bodies = { " CUBE
                                   ", { name = 'belt', kind = 'kinematic', shape = box { size = "
                                   "{2, 0.1, 2} }, at = {0, -0.16, 0}, motion = function(t) return { at = {0, -0.16, "
                                   "0} } end }, { name = 'free', shape = box { size = {2, 0.1, 2} }, at = "
                                   "{0, 0.16, 0}, density = 100 } }");
    l.after[1].at = (tl_vec3){0.02, -0.155, 0.01};
    l.after[2].at = (tl_vec3){0, 0.15, 0};
    lg_look_at(&l);
    assert_int_equal(l.found.count, 18);
    for (int32_t k = 0; k < 18; k++) {
        const tl_lg_contact *c = &l.found.contact[k];
        bool belt = c->body_b == 1;
        CHECK_NEAR(c->normal.y, belt ? 1 : -1, 1e-14);
        CHECK_NEAR(lg_look_gap(c, l.to), belt ? 0.005 : 0.01,
                   1e-14); /* free bodies as they are: their motion is solved for */
        CHECK_NEAR(c->drag.x, belt ? 2 : 0, 1e-12);
        CHECK_NEAR(c->drag.y, belt ? 0.5 : 0, 1e-12);
        CHECK_NEAR(c->drag.z, belt ? 1 : 0, 1e-12);
        CHECK_NEAR(c->at.y, belt ? -0.11 : 0.11, 1e-14);
        assert_int_equal(c->rigid, belt ? -1 : 2);
    }
    lg_look_close(&l);
}

/* A turning cylinder drags with w x r and keeps its surface. */
static void rollers_drag(void **state)
{
    (void)state;
    lg_look l = lg_look_open(SOFT, "engine = 'lg', bodies = { " CUBE
                                   ", { name = 'roller', kind = 'kinematic', shape = cylinder "
                                   "{ radius = 0.12, height = 1 }, motion = function(t) return { at = {0, -0.221, 0}, "
                                   "rotation_deg = {90, 0, 0} } end } }");
    tl_quat turn = {cos(0.03), 0, 0, sin(0.03)}; /* 6 rad/s about z */
    l.after[1].rotation = tl_quat_mul(turn, l.before[1].rotation);
    lg_look_at(&l);
    int32_t below = 0;
    for (int32_t k = 0; k < l.found.count; k++) {
        const tl_lg_contact *c = &l.found.contact[k];
        if (c->a.node[1] >= 0 || fabs(lg_look_place(&c->a, l.to).x) > 1e-9) continue;
        CHECK_NEAR(lg_look_gap(c, l.to), 0.001, 1e-12);
        CHECK_NEAR(c->normal.y, 1, 1e-12);
        CHECK_NEAR(c->drag.x, -0.12 * sin(0.06) / 0.01, 1e-12); /* the way of the point that ends up below */
        below++;
    }
    assert_int_equal(below, 3);
    lg_look_close(&l);
}

/* ---- between nodes ---- */

/* A knife between two rows of nodes: points on the edges that cross it, square to both, with half the cloth's
 * thickness. */
static void knives_are_met_between_nodes(void **state)
{
    (void)state;
    lg_look l = lg_look_open(
        SOFT, "engine = 'lg', bodies = { { name = 'cloth', shape = box { size = {1, 0.002, 1} }, cells = "
              "{10, 1, 10}, thickness = 0.002, material = soft() }, { name = 'knife', kind = 'static', shape = "
              "box { size = {0.004, 0.3, 2} }, at = {0.023, -0.155, 0} } }");
    lg_look_move(&l, (tl_vec3){0, -0.01, 0});
    lg_look_at(&l);
    int32_t edges = 0;
    for (int32_t k = 0; k < l.found.count; k++) {
        const tl_lg_contact *c = &l.found.contact[k];
        tl_vec3 x = lg_look_place(&c->a, l.view.from);
        if (c->a.node[1] < 0) continue;
        CHECK_LE(fabs(x.x - 0.023), 0.002 + 3e-4); /* the depth is known to 1e-4 of the edge, 5 mm above */
        CHECK_NEAR(c->normal.y, 1, 1e-9);
        CHECK_NEAR(lg_look_gap(c, l.view.from), 0.005 - 0.001, 1e-5); /* depth to 1e-4 of the edge */
        CHECK_NEAR(lg_look_gap(c, l.to), -0.005 - 0.001, 1e-5);
        edges += c->a.node[2] < 0;
    }
    assert_true(edges >= 20); /* two of each square, and the lines between squares */
    lg_look_close(&l);
}

/* A corner below the middle of a triangle. */
static void corners_are_met_within_triangles(void **state)
{
    (void)state;
    /* a cube that stands on its corner: rotated by 45 degrees about x, then by atan(1/sqrt 2) about z; half diagonal
     * 0.1 sqrt 3 */
    lg_look l = lg_look_open(
        SOFT, "engine = 'lg', bodies = { { name = 'cloth', shape = box { size = {1, 0.002, 1} }, cells = {4, 1, 4}, "
              "thickness = "
              "0.002, material = soft() }, { name = 'corner', kind = 'static', shape = box { size = 0.2 }, "
              "rotation_deg = {45, 0, 35.264389682754654}, at = {0.125, -0.175205080756888, "
              "0.05} } }");
    lg_look_move(&l, (tl_vec3){0, -0.004, 0});
    lg_look_at(&l);
    int32_t inside = 0;
    for (int32_t k = 0; k < l.found.count; k++) {
        const tl_lg_contact *c = &l.found.contact[k];
        if (c->a.node[2] < 0) continue;
        tl_vec3 x = lg_look_place(&c->a, l.view.from);
        CHECK_NEAR(x.x, 0.125, 1e-3);
        CHECK_NEAR(x.z, 0.05, 1e-3);
        CHECK_NEAR(c->normal.y, 1, 1e-3);
        CHECK_NEAR(lg_look_gap(c, l.view.from), 0.002 - 0.001, 3e-5);
        inside++;
    }
    assert_int_equal(inside, 1);
    lg_look_close(&l);
}

#define TIP                                                                                                            \
    "engine = 'lg', bodies = { { name = 'cloth', shape = box { size = {1, 0.002, 1} }, cells = {4, 1, 4}, thickness "  \
    "= 0.002, material = soft() }, { name = 'corner', kind = 'static', shape = box { size = 0.2 }, rotation_deg = "    \
    "{45, 0, 35.264389682754654}, at = {0.125, -0.175205080756888, 0.05} } }"

/* The tip is 2 mm below the middle of a cloth whose surface is 1 mm off: 1 mm free, and 3 mm deep once the cloth is
 * 4 mm lower. All nodes are far. */
static void depth_is_seen_between_nodes(void **state)
{
    (void)state;
    lg_look l = lg_look_open(SOFT, TIP);
    talus_error err;
    double depth;
    lg_look_at(&l);
    CHECK_OK(tl_lg_depth(&l.view, &l.arena, &depth, &err));
    CHECK_NEAR(depth, 0, 0);
    lg_look_move(&l, (tl_vec3){0, -0.004, 0});
    CHECK_OK(tl_lg_depth(&l.view, &l.arena, &depth, &err));
    CHECK_NEAR(depth, 0.003, 1e-9);
    lg_look_close(&l);
}

/* What was not there is added, once; what was there stays. */
static void a_second_look_adds_what_is_new(void **state)
{
    (void)state;
    lg_look l = lg_look_open(SOFT, TIP);
    talus_error err;
    tl_lg_contacts none = {0}, more, same;
    int32_t *origin;
    bool changed;
    lg_look_move(&l, (tl_vec3){0, -0.004, 0});
    lg_look_at(&l);
    CHECK_OK(tl_lg_detect_again(&l.view, &none, &l.arena, &more, &origin, &changed, &err));
    assert_true(changed);
    assert_true(more.count > 0);
    for (int32_t k = 0; k < more.count; k++) assert_int_equal(origin[k], -1);
    CHECK_OK(tl_lg_detect_again(&l.view, &more, &l.arena, &same, &origin, &changed, &err));
    assert_false(changed);
    assert_int_equal(same.count, more.count);
    for (int32_t k = 0; k < same.count; k++) assert_int_equal(origin[k], k);
    lg_look_close(&l);
}

/* ---- elastic against elastic ---- */

/* Cubes that stand flush on each other: nodes of both faces against the other's triangles, all square to the face,
 * and nothing at the sides. */
static void blocks_meet_face_to_face(void **state)
{
    (void)state;
    lg_look l =
        lg_look_open(SOFT, "engine = 'lg', bodies = { " CUBE ", { name = 'upper', shape = box { size = 0.2 }, at = "
                           "{0.0001, 0.203, 0}, cells = {2, 2, 2}, material = soft() } }, contacts = { { between = "
                           "{'cube', 'upper'}, friction = 0.25 } }");
    lg_look_move(&l, (tl_vec3){0, -0.001, 0});
    lg_look_at(&l);
    int32_t from[2] = {0, 0};
    for (int32_t k = 0; k < l.found.count; k++) {
        const tl_lg_contact *c = &l.found.contact[k];
        assert_true(c->b.node[0] >= 0 && c->rigid == -1 && c->body_a != c->body_b);
        CHECK_NEAR(c->normal.y, c->body_a == 1 ? 1 : -1, 1e-12);
        CHECK_NEAR(lg_look_gap(c, l.view.from), 0.003, 1e-12);
        CHECK_NEAR(c->a.weight[0], 1, 0);
        CHECK_NEAR(c->b.weight[0] + c->b.weight[1] + c->b.weight[2], 1, 1e-15);
        CHECK_NEAR(c->mu, 0.25, 0);
        from[c->body_a]++;
        tl_vec3 apart = tl_vec3_sub(lg_look_place(&c->a, l.view.from), lg_look_place(&c->b, l.view.from));
        CHECK_LE(hypot(apart.x, apart.z), 2e-4);
    }
    assert_int_equal(from[0], 9);
    assert_int_equal(from[1], 9);
    lg_look_close(&l);
}

static void put_node(lg_look *l, int32_t i, tl_vec3 x)
{
    tl_vec3_store(x, tl_lg_state_of(&l->c.sim->state)->q + 3 * (int64_t)i);
    tl_vec3_store(x, l->to + 3 * (int64_t)i);
}

/* How far overlaps of a body's nodes leave in a step of 10 ms: as fast as what rises by a fifth of its mean edge. */
static double leaves(const lg_look *l, int body)
{
    return 0.01 * sqrt(2 * 9.81 * 0.2 * l->c.sim->lg.skin.body[body].mean);
}

/* A node pressed into a face is pushed out of that face. */
static void nodes_inside_are_pushed_out(void **state)
{
    (void)state;
    lg_look l =
        lg_look_open(SOFT, "engine = 'lg', bodies = { " CUBE ", { name = 'small', shape = box { size = 0.05 }, at = "
                           "{0.03, 0.12, 0.02}, cells = {1, 1, 1}, material = soft() } }");
    lg_look_at(&l); /* its lowest nodes are 5 mm inside */
    int32_t pushed = 0;
    for (int32_t k = 0; k < l.found.count; k++) {
        const tl_lg_contact *c = &l.found.contact[k];
        if (c->body_a != 1) continue;
        CHECK_NEAR(c->normal.y, 1, 1e-12);
        CHECK_LE(leaves(&l, 1), 0.0049); /* not at once */
        CHECK_NEAR(lg_look_gap(c, l.view.from), -leaves(&l, 1), 1e-12);
        CHECK_NEAR(c->offset, -0.005 + leaves(&l, 1), 1e-12);
        pushed++;
    }
    assert_int_equal(pushed, 4);
    lg_look_close(&l);
}

/* Two roofs that cross: one contact, between the two ridges. */
static void sharp_edges_meet(void **state)
{
    (void)state;
    lg_look l = lg_look_open(
        SOFT, "engine = 'lg', bodies = { { name = 'a', shape = box { size = {1, 0.1, 0.1} }, rotation_deg = "
              "{45, 0, 0}, cells = {1, 1, 1}, material = soft() }, { name = 'b', shape = box { size = {0.1, 0.1, "
              "1} }, rotation_deg = {0, 0, 45}, at = {0.02, 0.145, 0.03}, cells = {1, 1, 1}, material = soft() } }");
    lg_look_at(&l);
    int32_t ridges = 0;
    for (int32_t k = 0; k < l.found.count; k++) {
        const tl_lg_contact *c = &l.found.contact[k];
        if (c->a.node[1] < 0) continue;
        CHECK_NEAR(fabs(c->normal.y), 1, 1e-9);
        CHECK_NEAR(lg_look_gap(c, l.view.from), 0.145 - 0.1 * sqrt(2), 1e-9);
        tl_vec3 x = lg_look_place(&c->a, l.view.from);
        CHECK_NEAR(x.x, 0.02, 1e-9);
        CHECK_NEAR(x.z, 0, 1e-9);
        ridges++;
    }
    assert_int_equal(ridges, 1);
    lg_look_close(&l);
}

/* Folded in the middle by half a circle of radius 0.05: the arms are 0.1 apart at first, then 6 mm. */
static void fold(lg_look *l, double apart)
{
    const tl_lg *lg = &l->c.sim->lg;
    double r = 0.5 * apart, bend = 3.14159265358979 * 0.05, straight = 0.5 - 0.5 * bend;
    for (int32_t i = 0; i < lg->nodes; i++) {
        double s = lg->rest[3 * i] + 0.5, z = lg->rest[3 * i + 2], turn = (s - straight) / 0.05;
        if (s < straight)
            put_node(l, i, (tl_vec3){s, 0, z});
        else if (s > straight + bend)
            put_node(l, i, (tl_vec3){1 - s, 2 * r, z});
        else
            put_node(l, i, (tl_vec3){straight + 0.05 * sin(turn), r * (1 - cos(turn)), z});
    }
}

static void a_folded_strip_touches_itself(void **state)
{
    (void)state;
    lg_look off =
        lg_look_open(SOFT, "engine = 'lg', bodies = { { name = 'strip', shape = box { size = {1, 0.004, 0.1} }, "
                           "cells = {20, 1, 2}, thickness = 0.004, material = soft() } }");
    fold(&off, 0.006);
    lg_look_at(&off);
    assert_int_equal(off.found.count, 0);
    lg_look_close(&off);

    lg_look l = lg_look_open(
        SOFT, "engine = 'lg', bodies = { { name = 'strip', shape = box { size = {1, 0.004, 0.1} }, cells = "
              "{20, 1, 2}, thickness = 0.004, self_contact = true, material = soft() } }");
    lg_look_at(&l); /* flat: nothing */
    assert_int_equal(l.found.count, 0);
    fold(&l, 0.1); /* open */
    lg_look_at(&l);
    assert_int_equal(l.found.count, 0);
    fold(&l, 0.006);
    lg_look_at(&l);
    int32_t arms = 0;
    for (int32_t k = 0; k < l.found.count; k++) {
        const tl_lg_contact *c = &l.found.contact[k];
        tl_vec3 x = lg_look_place(&c->a, l.to), y = lg_look_place(&c->b, l.to);
        if (x.x > 0.35) continue; /* the bend */
        CHECK_NEAR(fabs(c->normal.y), 1, 1e-9);
        CHECK_NEAR(lg_look_gap(c, l.to), 0.006 - 0.004, 1e-9); /* both halves of the thickness */
        CHECK_NEAR(x.x, y.x, 1e-9);
        arms++;
    }
    assert_true(arms >= 2 * 3 * 7); /* both arms' nodes over 0.35 m of 50 mm squares, three across */
    lg_look_close(&l);
}

/* What is near a cloth stays on the side where it is, and its thickness pushes it away slowly. */
static void cloth_has_two_sides(void **state)
{
    (void)state;
    for (int below = 0; below < 2; below++) {
        char more[600];
        snprintf(more, sizeof more,
                 "engine = 'lg', bodies = { { name = 'low', shape = box { size = {1, 0.004, 1} }, "
                 "cells = {2, 1, 2}, thickness = 0.004, "
                 "material = soft() }, { name = 'high', shape = box { size = {0.3, 0.004, 0.3} }, at "
                 "= {0.03, %g, 0.02}, cells = {1, 1, 1}, thickness = 0.004, material = soft() } }",
                 below ? -0.001 : 0.003);
        lg_look l = lg_look_open(SOFT, more);
        lg_look_at(&l);
        int32_t seen = 0;
        for (int32_t k = 0; k < l.found.count; k++) {
            const tl_lg_contact *c = &l.found.contact[k];
            if (c->body_a != 1 || c->a.node[1] >= 0) continue;
            CHECK_NEAR(c->normal.y, below ? -1 : 1, 1e-12);
            CHECK_NEAR(lg_look_gap(c, l.to), below ? -fmin(0.003, leaves(&l, 1)) : -0.001, 1e-12);
            seen++;
        }
        assert_int_equal(seen, 5);
        lg_look_close(&l);
    }
}

/* A sheet that stands across another: each of its edges that comes through is counted, contacts or not. */
static void crossings_are_counted(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        char more[600];
        /* nodes of the standing sheet at -0.013, 0.087, 0.187 along y where it goes through, 0.01 and more where it
         * does not */
        snprintf(more, sizeof more,
                 "engine = 'lg', bodies = { { name = 'floor', shape = box { size = {1, 0.001, 1} }, cells = {4, 1, 4}, "
                 "thickness = 0.001, material = soft() }, { name = 'wall', shape = box { size = {0.2, 0.2, 0.001} }, "
                 "at = {0.03, %g, 0.02}, cells = {2, 2, 1}, thickness = 0.001, material = soft() } }",
                 way ? 0.087 : 0.11);
        lg_look l = lg_look_open(SOFT, more);
        int64_t count;
        double depth, all;
        talus_error err;
        if (way == 2) lg_look_move(&l, (tl_vec3){0, 0.02, 0}); /* floor and wall together: nothing changes */
        lg_look_at(&l);
        tl_lg_view v = l.view;
        v.from = v.to;
        CHECK_OK(tl_lg_crossings(&v, &l.arena, &count, &depth, &err));
        CHECK_OK(tl_lg_depth(&v, &l.arena, &all, &err));
        if (way == 0) {
            assert_int_equal(count, 0);
            CHECK_NEAR(depth, 0, 0);
        } else {
            assert_int_equal(count, 10);    /* of the wall three upright edges and four diagonals, of the floor three */
            CHECK_NEAR(depth, 0.02, 1e-12); /* those of the floor: the wall stands 0.02 beside a line of nodes */
        }
        CHECK_NEAR(all, depth, 1e-12);
        lg_look_close(&l);
    }
}

/* Two ridges across each other that have just passed: as deep as they overlap, whatever the length of the edges; a
 * contact is made for them. */
static void ridges_are_as_deep_as_they_overlap(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        const double overlap = way == 0 ? -0.001 : way == 1 ? 0.001 : 0.01;
        char more[600];
        snprintf(
            more, sizeof more,
            "engine = 'lg', bodies = { { name = 'low', shape = box { size = {1, 0.4, 0.4} }, rotation_deg = {45, "
            "0, 0}, cells = {1, 1, 1}, material = soft() }, { name = 'high', shape = box { size = {0.4, 0.4, 1} }, "
            "at = {0.013, %.17g, 0.017}, rotation_deg = {0, 0, 45}, cells = {1, 1, 1}, material = soft() } }",
            0.4 * sqrt(2) - overlap);
        lg_look l = lg_look_open(SOFT, more);
        int64_t count;
        double depth;
        talus_error err;
        lg_look_at(&l);
        tl_lg_view v = l.view;
        v.from = v.to;
        CHECK_OK(tl_lg_crossings(&v, &l.arena, &count, &depth, &err));
        tl_lg_found found = {.a = &l.arena};
        CHECK_OK(tl_lg_pierced(&v, 1e-6, &found, &err));
        assert_true((count > 0) == (overlap > 0));
        assert_true((found.count > 0) == (overlap > 0));
        CHECK_NEAR(depth, fmax(0, overlap),
                   0.31 * fabs(overlap)); /* to the faces beside the ridge it is 0.71 of that */
        for (int32_t k = 0; k < found.count; k++) {
            assert_true(fabs(found.contact[k].normal.y) > 0.7); /* out of a face of the other */
            assert_true(found.contact[k].a.node[1] >= 0);       /* between nodes */
        }
        lg_look_close(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plane_sees_the_nodes_above_it),
        cmocka_unit_test(walls_come_after_bodies),
        cmocka_unit_test(curved_obstacles_are_met_where_nodes_arrive),
        cmocka_unit_test(box_faces_keep_what_came_over_them),
        cmocka_unit_test(thin_plates_are_not_passed),
        cmocka_unit_test(moving_obstacles_are_met_where_they_will_be),
        cmocka_unit_test(rollers_drag),
        cmocka_unit_test(knives_are_met_between_nodes),
        cmocka_unit_test(corners_are_met_within_triangles),
        cmocka_unit_test(depth_is_seen_between_nodes),
        cmocka_unit_test(a_second_look_adds_what_is_new),
        cmocka_unit_test(blocks_meet_face_to_face),
        cmocka_unit_test(nodes_inside_are_pushed_out),
        cmocka_unit_test(sharp_edges_meet),
        cmocka_unit_test(a_folded_strip_touches_itself),
        cmocka_unit_test(cloth_has_two_sides),
        cmocka_unit_test(crossings_are_counted),
        cmocka_unit_test(ridges_are_as_deep_as_they_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
