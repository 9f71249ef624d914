/* Contact points of spheres, boxes and half-spaces: closed forms, random pairs against brute force, and what
 * structures need: points that stay the same from step to step. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "boxes.h"

#define PI 3.14159265358979323846

static tl_vec3 vec(double x, double y, double z) { return (tl_vec3){x, y, z}; }

static void check_vec(tl_vec3 a, tl_vec3 b, double tol)
{
    CHECK_NEAR(a.x, b.x, tol);
    CHECK_NEAR(a.y, b.y, tol);
    CHECK_NEAR(a.z, b.z, tol);
}

/* ---- colliders ---- */

typedef struct kit {
    tl_shape_tree *t;
    tl_collider *c;
} kit;

typedef enum what { BALL, BRICK, GROUND } what;

/* A primitive of this size, placed in its own frame. */
static kit make(what w, tl_vec3 size, tl_vec3 at, tl_quat q, double scale)
{
    talus_error err;
    kit k = {tl_shape_tree_create(), NULL};
    assert_non_null(k.t);
    int n = w == BALL    ? tl_shape_sphere(k.t, size.x, &err)
            : w == BRICK ? tl_shape_box(k.t, size, 0, &err)
                         : tl_shape_half_space(k.t, vec(0, 1, 0), size.x, &err);
    assert_true(n >= 0);
    n = tl_shape_place(k.t, n, at, (double[4]){q.w, q.x, q.y, q.z}, scale, &err);
    assert_true(n >= 0);
    CHECK_OK(tl_collider_create(&k.c, k.t, n, 0, &err));
    return k;
}

static kit plain(what w, tl_vec3 size) { return make(w, size, vec(0, 0, 0), tl_quat_identity(), 1); }

static void drop(kit k)
{
    tl_collider_free(k.c);
    tl_shape_tree_free(k.t);
}

static tl_pose pose(tl_vec3 at, tl_quat q) { return (tl_pose){at, q}; }
static tl_pose here(double x, double y, double z) { return pose(vec(x, y, z), tl_quat_identity()); }

static int touches(kit a, tl_pose pa, kit b, tl_pose pb, double margin, tl_touch *out)
{
    int32_t axis = 0;
    return tl_collide(a.c, &pa, b.c, &pb, margin, &axis, out);
}

static void test_sphere_pairs(void **state)
{
    (void)state;
    kit a = plain(BALL, vec(0.3, 0, 0)), b = plain(BALL, vec(0.2, 0, 0));
    tl_touch t[TL_TOUCHES_MAX];
    /* 3-4-5: centres 0.6 apart */
    assert_int_equal(touches(a, here(0.36, 0.48, 0), b, here(0, 0, 0), 0.2, t), 1);
    CHECK_NEAR(t[0].gap, 0.1, 1e-15);
    check_vec(t[0].normal, vec(0.6, 0.8, 0), 1e-15);
    check_vec(t[0].at, vec(0.15, 0.2, 0), 1e-15);
    assert_int_equal(touches(a, here(0.36, 0.48, 0), b, here(0, 0, 0), 0.099, t), 0);
    assert_int_equal(touches(a, here(0, 0, 0), b, here(0, 0, 0), 0, t), 1); /* same centre */
    CHECK_NEAR(t[0].gap, -0.5, 1e-15);
    CHECK_NEAR(tl_vec3_norm(t[0].normal), 1, 1e-15);
    drop(a);
    drop(b);
}

static void test_sphere_box(void **state)
{
    (void)state;
    kit s = plain(BALL, vec(0.1, 0, 0)), b = plain(BRICK, vec(2, 1, 1));
    tl_touch t[TL_TOUCHES_MAX];
    assert_int_equal(touches(s, here(0.3, 0.65, 0.2), b, here(0, 0, 0), 0.06, t), 1); /* face */
    CHECK_NEAR(t[0].gap, 0.05, 1e-15);
    check_vec(t[0].normal, vec(0, 1, 0), 0);
    check_vec(t[0].at, vec(0.3, 0.525, 0.2), 1e-15);
    assert_int_equal(touches(s, here(0.3, 0.53, 0.54), b, here(0, 0, 0), 0, t), 1); /* edge */
    CHECK_NEAR(t[0].gap, -0.05, 1e-15);
    check_vec(t[0].normal, vec(0, 0.6, 0.8), 1e-14);
    assert_int_equal(touches(s, here(1.2, 0.7, 0.6), b, here(0, 0, 0), 0.3, t), 1); /* corner: 0.2, 0.2, 0.1 away */
    CHECK_NEAR(t[0].gap, 0.2, 1e-15);
    check_vec(t[0].normal, vec(2. / 3, 2. / 3, 1. / 3), 1e-14);
    assert_int_equal(touches(s, here(0.95, 0.2, 0.1), b, here(0, 0, 0), 0, t), 1); /* centre inside, nearest face x */
    CHECK_NEAR(t[0].gap, -0.15, 1e-15);
    check_vec(t[0].normal, vec(1, 0, 0), 0);
    check_vec(t[0].at, vec(0.925, 0.2, 0.1), 1e-15); /* between the faces at 1 and 0.85 */
    assert_int_equal(touches(s, here(0, 0, 0), b, here(0, 0, 0), 0, t), 1);
    CHECK_NEAR(t[0].gap, -0.6, 1e-15);
    CHECK_NEAR(tl_vec3_norm(t[0].normal), 1, 0);
    /* exchanged: only the normal turns */
    tl_touch u[TL_TOUCHES_MAX];
    assert_int_equal(touches(s, here(0.3, 0.53, 0.54), b, here(0, 0, 0), 0, t), 1);
    assert_int_equal(touches(b, here(0, 0, 0), s, here(0.3, 0.53, 0.54), 0, u), 1);
    check_vec(u[0].at, t[0].at, 0);
    check_vec(u[0].normal, tl_vec3_neg(t[0].normal), 0);
    CHECK_NEAR(u[0].gap, t[0].gap, 0);
    drop(s);
    drop(b);
}

static void test_half_space(void **state)
{
    (void)state;
    kit g = plain(GROUND, vec(0.5, 0, 0)), s = plain(BALL, vec(0.2, 0, 0)), b = plain(BRICK, vec(0.4, 0.2, 0.6));
    tl_touch t[TL_TOUCHES_MAX];
    assert_int_equal(touches(s, here(3, 0.69, 1), g, here(0, 0, 0), 0, t), 1);
    CHECK_NEAR(t[0].gap, -0.01, 1e-15);
    check_vec(t[0].at, vec(3, 0.495, 1), 1e-15);
    check_vec(t[0].normal, vec(0, 1, 0), 0);
    assert_int_equal(touches(b, here(0, 0.6, 0), g, here(0, 0, 0), 1e-3, t), 4);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(t[i].gap, 0, 1e-15);
        CHECK_NEAR(fabs(t[i].at.x), 0.2, 1e-15);
        CHECK_NEAR(fabs(t[i].at.z), 0.3, 1e-15);
    }
    tl_pose edge = pose(vec(0, 0.5 + 0.15 * sqrt(2), 0), tl_quat_exp(vec(0, 0, PI / 4))); /* (0.4 + 0.2) / 2 / sqrt 2 */
    assert_int_equal(touches(b, edge, g, here(0, 0, 0), 1e-3, t), 2);
    CHECK_NEAR(t[0].gap, 0, 1e-15);
    assert_int_equal(touches(b, here(0, 0.6, 0), g, here(0, 0, 0), 1, t), 8); /* every corner within reach */
    assert_int_equal(touches(g, here(0, 0, 0), g, here(0, 0, 0), 1, t), 0);
    drop(g);
    drop(s);
    drop(b);
}

/* A primitive placed inside its shape is the primitive at the product of both placements. */
static void test_placed(void **state)
{
    (void)state;
    tl_quat q = tl_quat_exp(vec(0.3, -0.7, 0.5)), turn = tl_quat_exp(vec(-0.2, 0.4, 1.1));
    kit a = make(BRICK, vec(0.2, 0.3, 0.4), vec(0.1, 0.2, -0.3), q, 2), b = plain(BRICK, vec(0.4, 0.6, 0.8));
    kit g = make(GROUND, vec(0.25, 0, 0), vec(1, 2, 3), q, 2), s = make(BALL, vec(0.1, 0, 0), vec(0.5, 0, 0), q, 3);
    assert_int_equal(tl_collider_kind_of(a.c), TL_COLLIDER_BOX);
    CHECK_NEAR(tl_collider_extent(a.c), 0.4, 1e-15);
    CHECK_NEAR(tl_collider_extent(s.c), 0.6, 1e-15);
    tl_pose x = pose(vec(0.5, 0.1, 0.2), turn);
    tl_pose y = pose(tl_pose_apply(&x, vec(0.1, 0.2, -0.3)), tl_quat_mul(turn, q));
    tl_box3 ba = tl_collider_bounds(a.c, &x), bb = tl_collider_bounds(b.c, &y);
    check_vec(ba.lo, bb.lo, 1e-14);
    check_vec(ba.hi, bb.hi, 1e-14);
    CHECK_NEAR(tl_collider_reach(a.c, vec(0.1, 0.2, -0.3)), 0.5 * sqrt(0.16 + 0.36 + 0.64), 1e-14);
    CHECK_NEAR(tl_collider_reach(b.c, vec(1, 0, 0)), sqrt(1.44 + 0.09 + 0.16), 1e-14);
    CHECK_NEAR(tl_collider_reach(s.c, vec(0, 0, 0)), 0.8, 1e-14);
    assert_true(isinf(tl_collider_reach(g.c, vec(0, 0, 0))));

    tl_touch ta[TL_TOUCHES_MAX], tb[TL_TOUCHES_MAX];
    kit other = plain(BRICK, vec(0.5, 0.5, 0.5));
    int na = touches(a, x, other, here(0.9, 0.4, 0.1), 0.5, ta),
        nb = touches(b, y, other, here(0.9, 0.4, 0.1), 0.5, tb);
    assert_int_equal(na, nb);
    assert_true(na > 0);
    for (int i = 0; i < na; i++) check_vec(ta[i].at, tb[i].at, 1e-13);
    /* the plane's points are those at distance zero of the shape */
    tl_pose still = here(0, 0, 0);
    tl_touch t[TL_TOUCHES_MAX];
    assert_int_equal(touches(s, here(4, 1, 2), g, still, 100, t), 1);
    tl_vec3 up = tl_quat_rotate(q, vec(0, 1, 0));
    check_vec(t[0].normal, up, 1e-14);
    CHECK_NEAR(t[0].gap, tl_vec3_dot(up, tl_vec3_sub(vec(4.5, 1, 2), vec(1, 2, 3))) - 0.5 - 0.3, 1e-14);
    drop(a);
    drop(b);
    drop(g);
    drop(s);
    drop(other);
}

static void test_not_primitive(void **state)
{
    (void)state;
    talus_error err;
    tl_collider *c = (tl_collider *)&err;
    tl_shape_tree *t = tl_shape_tree_create();
    int round = tl_shape_box(t, vec(1, 1, 1), 0.1, &err);
    assert_int_equal(tl_collider_create(&c, t, round + 1, 0, &err), TALUS_BAD_INPUT);
    assert_null(c);
    assert_int_equal(tl_collider_create(&c, t, round, NAN, &err), TALUS_BAD_INPUT);
    /* a rounded box is none of the exact ones */
    if (tl_collider_create(&c, t, round, 0, &err) == TALUS_OK)
        assert_int_equal(tl_collider_kind_of(c), TL_COLLIDER_GENERAL);
    tl_collider_free(c);
    tl_shape_tree_free(t);
}

/* ---- boxes ---- */

static int collide(const tl_obox *a, const tl_obox *b, double margin, int32_t *axis, tl_touch *out)
{
    tl_box_rules rules = tl_box_rules_default();
    return tl_box_box(a, b, margin, &rules, axis, out);
}

static int once(const tl_obox *a, const tl_obox *b, double margin, tl_touch *out)
{
    int32_t axis = 0;
    return collide(a, b, margin, &axis, out);
}

static void test_box_on_box(void **state)
{
    (void)state;
    tl_touch t[TL_BOX_POINTS];
    tl_obox b = box_at(vec(0.4, 0.2, 0.2), vec(0, 0, 0), tl_quat_identity());
    /* half a brick aside, 0.1 mm above */
    tl_obox a = box_at(vec(0.4, 0.2, 0.2), vec(0.2, 0.2001, 0), tl_quat_identity());
    assert_int_equal(once(&a, &b, 1e-3, t), 4);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(t[i].gap, 1e-4, 1e-15);
        check_vec(t[i].normal, vec(0, 1, 0), 1e-15);
        CHECK_NEAR(t[i].at.y, 0.10005, 1e-15);
        CHECK_NEAR(fabs(t[i].at.x - 0.1), 0.1, 2.1e-6); /* outlines grow by 1e-5 of the edge */
        CHECK_NEAR(fabs(t[i].at.z), 0.1, 2.1e-6);
    }
    assert_int_equal(once(&a, &b, 0.9e-4, t), 0);
    /* square on square, turned by 45 degrees: of the octagon four points stay that hold half its area */
    tl_obox c = box_at(vec(0.2, 0.2, 0.2), vec(0, 0, 0), tl_quat_identity());
    a = box_at(vec(0.2, 0.2, 0.2), vec(0, 0.2, 0), tl_quat_exp(vec(0, PI / 4, 0)));
    assert_int_equal(once(&a, &c, 1e-3, t), 4);
    double area = 0,
           octagon = 0.04 * 8 / pow(1 + sqrt(2), 2) * (1 + sqrt(2)) / 4; /* 2 (1 + sqrt 2) s^2, s = 0.2/(1+sqrt 2) */
    for (int i = 0; i < 4; i++) {                                        /* in polygon order */
        tl_vec3 p = t[i].at, q = t[(i + 1) % 4].at;
        area += 0.5 * (p.x * q.z - p.z * q.x);
        CHECK_NEAR(t[i].gap, 0, 1e-15);
        CHECK_NEAR(hypot(p.x, p.z), 0.1 * hypot(1, tan(PI / 8)), 1e-5);
    }
    assert_true(fabs(area) > 0.5 * octagon);
}

static void test_corner_on_face(void **state)
{
    (void)state;
    tl_touch t[TL_BOX_POINTS];
    tl_obox b = box_at(vec(1, 0.2, 1), vec(0, -0.1, 0), tl_quat_identity());
    /* a cube on its corner: the diagonal upright */
    tl_quat q = tl_quat_mul(tl_quat_exp(vec(0, 0, atan(sqrt(2)))), tl_quat_exp(vec(0, PI / 4, 0)));
    q = tl_quat_mul(tl_quat_exp(vec(0, 0.3, 0)),
                    tl_quat_mul(tl_quat_exp(vec(0, 0, PI / 2 - atan(1 / sqrt(2)))), tl_quat_exp(vec(0, PI / 4, 0))));
    tl_obox a = box_at(vec(0.2, 0.2, 0.2), vec(0.1, 0, 0.2), q);
    double low = 0; /* how far its lowest corner is below its centre */
    for (int k = 0; k < 3; k++) low += 0.1 * fabs(a.axis[k].y);
    a.centre.y = low - 0.002;
    assert_int_equal(once(&a, &b, 1e-3, t), 1);
    CHECK_NEAR(t[0].gap, -0.002, 1e-15);
    check_vec(t[0].normal, vec(0, 1, 0), 1e-15);
    CHECK_NEAR(t[0].at.y, -0.001, 1e-15);
    /* the same corner from the other box's side: its lower face on the corner of a cube below */
    tl_obox lid = box_at(vec(1, 0.2, 1), vec(0, 2 * a.centre.y + 0.1, 0), tl_quat_identity());
    assert_int_equal(once(&lid, &a, 1e-3, t), 1);
    check_vec(t[0].normal, vec(0, 1, 0), 1e-15);
}

static void test_crossed_edges(void **state)
{
    (void)state;
    tl_touch t[TL_BOX_POINTS];
    /* two roof beams: one with its edge up along x, the other with its edge down along z */
    tl_obox b = box_at(vec(1, 0.1, 0.1), vec(0, 0, 0), tl_quat_exp(vec(PI / 4, 0, 0)));
    double reach = 0.05 * sqrt(2);
    tl_obox a = box_at(vec(0.1, 0.1, 1), vec(0.2, 2 * reach - 1e-3, 0.1), tl_quat_exp(vec(0, 0, PI / 4)));
    assert_int_equal(once(&a, &b, 1e-3, t), 1);
    CHECK_NEAR(t[0].gap, -1e-3, 1e-14);
    check_vec(t[0].normal, vec(0, 1, 0), 1e-14);
    check_vec(t[0].at, vec(0.2, reach - 0.5e-3, 0), 1e-14);
}

/* Cards 1 x 0.6 x 0.02 m, 25 degrees from upright: a face normal would need friction 0.47 to hold them, the bisector
 * 0.22. */
static void test_leaning_cards(void **state)
{
    (void)state;
    tl_touch t[TL_BOX_POINTS];
    double angle = 25 * PI / 180, reach = 0.01 * cos(angle) + 0.5 * sin(angle);
    for (int k = 0; k < 3; k++) {
        double gap = (double[]){0, 5e-5, -5e-5}[k]; /* 2.5e-3 of the thickness */
        tl_obox left = box_at(vec(0.02, 1, 0.6), vec(-reach - gap, 0, 0), tl_quat_exp(vec(0, 0, -angle)));
        tl_obox right = box_at(vec(0.02, 1, 0.6), vec(reach, 0, 0.1), tl_quat_exp(vec(0, 0, angle)));
        int32_t axis = 0;
        assert_int_equal(collide(&right, &left, 1e-3, &axis, t), 2);
        for (int i = 0; i < 2; i++) {
            check_vec(t[i].normal, vec(1, 0, 0), 1e-14);
            CHECK_NEAR(t[i].gap, gap, 1e-14);
            CHECK_NEAR(t[i].at.x, -0.5 * gap, 1e-14);
            CHECK_NEAR(t[i].at.y, 0.5 * cos(angle) - 0.01 * sin(angle), 1e-14);
        }
        CHECK_NEAR(fmin(t[0].at.z, t[1].at.z), -0.2, 1e-14);
        CHECK_NEAR(fmax(t[0].at.z, t[1].at.z), 0.3, 1e-14);
        /* remembered: it stays although slightly worse than before */
        int32_t known = axis;
        left.centre.y += 1.2e-4;
        assert_int_equal(collide(&right, &left, 1e-3, &axis, t), 2);
        assert_int_equal(axis, known);
    }
    /* the foot on a plank: its lower edge, two points with the plank's normal */
    double foot = 0.5 * cos(angle) + 0.01 * sin(angle);
    tl_obox card = box_at(vec(0.02, 1, 0.6), vec(0, foot, 0), tl_quat_exp(vec(0, 0, -angle)));
    tl_obox plank = box_at(vec(2, 0.02, 0.6), vec(0, -0.01, 0), tl_quat_identity());
    assert_int_equal(once(&card, &plank, 1e-3, t), 2);
    for (int i = 0; i < 2; i++) {
        check_vec(t[i].normal, vec(0, 1, 0), 1e-14);
        CHECK_NEAR(t[i].gap, 0, 1e-14);
        CHECK_NEAR(fabs(t[i].at.z), 0.3, 1e-5);
    }
}

/* Negative control: without the margin in favour of faces, an edge axis that is a face normal to rounding wins, and
 * four points become fewer. Guards what keeps card houses up. */
static void test_edges_that_win(void **state)
{
    (void)state;
    tl_touch t[TL_BOX_POINTS];
    tl_box_rules edges_win = tl_box_rules_default();
    edges_win.face_margin = -1e-4;
    int poorer = 0, flat = 0;
    for (uint64_t c = 0; c < 100; c++) {
        tl_vec3 noise =
            vec(1e-9 * tl_random_normal(3, c, 0), 1e-9 * tl_random_normal(3, c, 1), 1e-9 * tl_random_normal(3, c, 2));
        tl_obox a = box_at(vec(0.2, 0.2, 0.2), vec(0.05, 0.2, 0.03), tl_quat_exp(tl_vec3_add(noise, vec(0, 0.2, 0))));
        tl_obox b = box_at(vec(0.2, 0.2, 0.2), vec(0, 0, 0), tl_quat_identity());
        int32_t axis = 0;
        poorer += tl_box_box(&a, &b, 1e-3, &edges_win, &axis, t) < 4;
        flat += once(&a, &b, 1e-3, t) == 4;
    }
    assert_int_equal(flat, 100);
    assert_true(poorer > 50);
}

/* A stack with round-off in every number: always the same four points, in the same order. */
static void test_no_flicker(void **state)
{
    (void)state;
    static const double shift[][2] = {{0, 0}, {0.1, 0}, {0.05, 0.05}, {0.1, 0.2}};
    for (int k = 0; k < 3; k++) {
        tl_touch first[TL_BOX_POINTS], t[TL_BOX_POINTS];
        int32_t axis = 0;
        for (uint64_t c = 0; c < 200; c++) {
            double e[12];
            for (uint64_t i = 0; i < 12; i++) e[i] = c ? 1e-12 * tl_random_normal(5, c, i) : 0;
            tl_obox a = box_at(vec(0.2, 0.2, 0.2), vec(shift[k][0] + e[0], 0.2 + e[1], shift[k][1] + e[2]),
                               tl_quat_exp(vec(e[3], e[4], e[5])));
            tl_obox b = box_at(vec(0.2, 0.2, 0.2), vec(e[6], e[7], e[8]), tl_quat_exp(vec(e[9], e[10], e[11])));
            int32_t fresh = 0;
            assert_int_equal(collide(&a, &b, 1e-3, c % 2 ? &axis : &fresh, t), 4);
            if (!c) memcpy(first, t, sizeof first);
            for (int i = 0; i < 4; i++) {
                check_vec(t[i].at, first[i].at, 1e-10);
                check_vec(t[i].normal, first[i].normal, 1e-10);
            }
        }
    }
}

/* A box that slides over a floor of flush tiles has no contact with the side of the next one, however near. */
static void test_flush_tiles(void **state)
{
    (void)state;
    tl_touch t[TL_BOX_POINTS];
    tl_obox tile = box_at(vec(0.3, 0.1, 0.3), vec(0.15, -0.05, 0), tl_quat_identity());
    for (uint64_t c = 0; c < 200; c++) {
        double before = c % 2 ? 1e-2 * tl_random(9, c, 0) : 1e-4 * tl_random(9, c, 0),
               height = 1e-9 * tl_random_normal(9, c, 1);
        tl_obox a = box_at(vec(0.1, 0.1, 0.1), vec(-0.05 - before, 0.05 + height, 0.02),
                           tl_quat_exp(vec(0, 0, 1e-9 * tl_random_normal(9, c, 2))));
        assert_int_equal(once(&a, &tile, 0.02, t), 0);
        /* and some of its width over the tile: carried, not stopped */
        a.centre.x += before + 1e-3;
        int count = once(&a, &tile, 0.02, t);
        assert_int_equal(count, 4);
        for (int i = 0; i < count; i++) check_vec(t[i].normal, vec(0, 1, 0), 1e-8);
    }
    /* 1 mm too low it is stopped */
    tl_obox low = box_at(vec(0.1, 0.1, 0.1), vec(-0.055, 0.049, 0), tl_quat_identity());
    assert_true(once(&low, &tile, 0.02, t) >= 2);
    check_vec(t[0].normal, vec(-1, 0, 0), 1e-14);
    CHECK_NEAR(t[0].gap, 5e-3, 1e-14);
}

/* ---- random pairs against brute force ---- */

/* Distance of a point to a box; `outside`: coordinates beyond the half edges, -1 where one is within `rim` of them. */
static double to_box(const tl_obox *b, tl_vec3 p, double rim, int *outside)
{
    double sum = 0;
    *outside = 0;
    bool close = false;
    for (int i = 0; i < 3; i++) {
        double over = fabs(tl_vec3_dot(b->axis[i], tl_vec3_sub(p, b->centre))) - box_half(b, i);
        close |= fabs(over) < rim;
        *outside += over > 0;
        if (over > 0) sum += over * over;
    }
    if (close) *outside = -1;
    return sqrt(sum);
}

/* Distance of two segments about m +- h d, by minimising the quadratic over the square: corner cases by clamping in
 * turn. */
static double segments(tl_vec3 m, tl_vec3 d, double h, tl_vec3 n, tl_vec3 e, double g, bool *inner)
{
    tl_vec3 w = tl_vec3_sub(n, m);
    double c = tl_vec3_dot(d, e), wd = tl_vec3_dot(w, d), we = tl_vec3_dot(w, e), det = 1 - c * c, s = 0, t = 0;
    if (det > 1e-12) s = fmin(fmax((wd - c * we) / det, -h), h);
    for (int k = 0; k < 3; k++) { /* exact after the second: both clamps are then settled */
        t = fmin(fmax(c * s - we, -g), g);
        s = fmin(fmax(c * t + wd, -h), h);
    }
    *inner = det > 1e-4 && fabs(s) < h - 1e-3 && fabs(t) < g - 1e-3;
    return tl_vec3_norm(tl_vec3_sub(tl_vec3_add_scaled(w, t, e), tl_vec3_scale(s, d)));
}

/* True distance of separated boxes: corners to boxes, edges to edges. `facing`: the nearest features lie well over
 * each other (corner over a face, or edges that cross), not beside an end. */
static double distance(const tl_obox *a, const tl_obox *b, bool *facing)
{
    double best = INFINITY;
    for (int c = 0; c < 16; c++) {
        const tl_obox *of = c < 8 ? a : b, *to = c < 8 ? b : a;
        int outside;
        double d = to_box(to, box_corner(of, c & 7), 1e-3, &outside);
        if (d < best) {
            best = d;
            *facing = outside == 1;
        }
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int c = 0; c < 16; c++) {
                int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
                tl_vec3 m = tl_vec3_add_scaled(a->centre, (c & 1 ? 1 : -1) * box_half(a, i1), a->axis[i1]);
                m = tl_vec3_add_scaled(m, (c & 2 ? 1 : -1) * box_half(a, i2), a->axis[i2]);
                tl_vec3 n = tl_vec3_add_scaled(b->centre, (c & 4 ? 1 : -1) * box_half(b, j1), b->axis[j1]);
                n = tl_vec3_add_scaled(n, (c & 8 ? 1 : -1) * box_half(b, j2), b->axis[j2]);
                bool inner;
                double d = segments(m, a->axis[i], box_half(a, i), n, b->axis[j], box_half(b, j), &inner);
                if (d < best - 1e-12) {
                    best = d;
                    *facing = inner;
                }
            }
    return best;
}

static tl_quat any_turn(uint64_t c, uint64_t k)
{
    return tl_quat_normalize((tl_quat){tl_random_normal(21, c, k), tl_random_normal(21, c, k + 1),
                                       tl_random_normal(21, c, k + 2), tl_random_normal(21, c, k + 3)});
}

static void random_pair(uint64_t c, tl_obox *a, tl_obox *b)
{
    tl_vec3 size[2];
    for (uint64_t k = 0; k < 2; k++)
        size[k] = vec(0.05 + 0.3 * tl_random(20, c, 3 * k), 0.05 + 0.3 * tl_random(20, c, 3 * k + 1),
                      0.05 + 0.3 * tl_random(20, c, 3 * k + 2));
    tl_vec3 at = vec(0.8 * tl_random(20, c, 6) - 0.4, 0.8 * tl_random(20, c, 7) - 0.4, 0.8 * tl_random(20, c, 8) - 0.4);
    *b = box_at(size[1], vec(0.1, -0.2, 0.3), any_turn(c, 0));
    *a = box_at(size[0], tl_vec3_add(b->centre, at), any_turn(c, 10));
}

static const tl_touch *deepest_of(int count, const tl_touch *t)
{
    const tl_touch *best = t;
    for (int i = 1; i < count; i++)
        if (t[i].gap < best->gap) best = &t[i];
    return best;
}

/* faces are preferred by 0.1 mm, or a thousandth of the smallest edge */
#define FACES_PREFERRED 2.2e-3 /* of the smallest edge */
static double smallest_edge(const tl_obox *a, const tl_obox *b)
{
    double least = INFINITY;
    for (int i = 0; i < 3; i++) least = fmin(least, 2 * fmin(box_half(a, i), box_half(b, i)));
    return least;
}

static void test_separated(void **state)
{
    (void)state;
    int facing_pairs = 0, beside = 0;
    for (uint64_t c = 0; c < 8000; c++) {
        tl_obox a, b;
        random_pair(c, &a, &b);
        tl_touch t[TL_BOX_POINTS];
        if (box_separation(&a, &b) < 1e-4) continue;
        bool facing = false;
        double d = distance(&a, &b, &facing), margin = 0.05;
        int count = once(&a, &b, margin, t);
        if (d > margin) assert_int_equal(count, 0);
        for (int i = 0; i < count; i++) {
            CHECK_NEAR(tl_vec3_norm(t[i].normal), 1, 1e-12);
            CHECK_LE(t[i].gap, margin);
            CHECK_LE(d - 2e-6, t[i].gap); /* no nearer than the boxes are; outlines grow by 1 um */
        }
        if (d > margin || !facing) {
            beside += d <= margin;
            continue;
        }
        facing_pairs++;
        assert_true(count > 0);
        const tl_touch *near = deepest_of(count, t);
        CHECK_NEAR(near->gap, d, FACES_PREFERRED * smallest_edge(&a, &b));
        /* closing the gap along the normal makes them touch */
        a.centre = tl_vec3_add_scaled(a.centre, -near->gap, near->normal);
        CHECK_NEAR(box_separation(&a, &b), 0, FACES_PREFERRED * smallest_edge(&a, &b));
    }
    assert_true(facing_pairs > 500);
    assert_true(beside > 100);
}

static void test_overlapping(void **state)
{
    (void)state;
    int checked = 0;
    for (uint64_t c = 0; c < 20000; c++) {
        tl_obox a, b;
        random_pair(c, &a, &b);
        tl_touch t[TL_BOX_POINTS];
        double s = box_separation(&a, &b);
        if (s > 0) continue;
        int count = once(&a, &b, 1e-3, t);
        assert_true(count > 0);
        const tl_touch *deep = deepest_of(count, t);
        CHECK_LE(s - FACES_PREFERRED * smallest_edge(&a, &b), deep->gap);
        /* out along the normal by the depth: just apart */
        tl_obox moved = a;
        moved.centre = tl_vec3_add_scaled(a.centre, -s, deep->normal);
        CHECK_NEAR(box_separation(&moved, &b), 0, FACES_PREFERRED * smallest_edge(&a, &b));
        checked++;
    }
    assert_true(checked > 1000);
}

static bool same_points(int n, const tl_touch *a, const tl_touch *b, double sign, double tol)
{
    for (int i = 0; i < n; i++)
        if (tl_vec3_norm(tl_vec3_sub(a[i].at, b[i].at)) > tol || fabs(a[i].gap - b[i].gap) > tol ||
            tl_vec3_norm(tl_vec3_sub(a[i].normal, tl_vec3_scale(sign, b[i].normal))) > tol)
            return false;
    return true;
}

/* Exchanging the boxes only turns the normals, also with a remembered axis. */
static void test_order(void **state)
{
    (void)state;
    int found = 0;
    for (uint64_t c = 0; c < 20000; c++) {
        tl_obox a, b;
        random_pair(c, &a, &b);
        if (c % 7 == 0) a.half = b.half; /* equal boxes */
        if (c % 11 == 0) memcpy(a.axis, b.axis, sizeof a.axis);
        tl_touch t[TL_BOX_POINTS], u[TL_BOX_POINTS];
        int32_t ab = 0, ba = 0;
        for (int k = 0; k < 3; k++) {
            int n = collide(&a, &b, 0.02, &ab, t);
            assert_int_equal(collide(&b, &a, 0.02, &ba, u), n);
            assert_true(same_points(n, t, u, -1, 0));
            assert_true(ab >= 0 && ba >= 0 && ab <= 24 && ba <= 24);
            assert_int_equal(ab == 0, ba == 0);
            found += n > 0;
            a.centre.x += 1e-4;
        }
    }
    assert_true(found > 3000);
}

/* The same pair elsewhere: the same points there. Pairs in which two features tie to rounding may differ, and are as
 * good. */
static void test_moved(void **state)
{
    (void)state;
    int found = 0, differ = 0;
    for (uint64_t c = 0; c < 20000; c++) {
        tl_obox a, b;
        random_pair(c, &a, &b);
        tl_touch t[TL_BOX_POINTS], u[TL_BOX_POINTS];
        int n = once(&a, &b, 0.02, t);
        if (!n) continue;
        tl_pose x = pose(vec(3, -2, 1), any_turn(c, 20));
        for (int k = 0; k < 3; k++) {
            a.axis[k] = tl_quat_rotate(x.rotation, a.axis[k]);
            b.axis[k] = tl_quat_rotate(x.rotation, b.axis[k]);
        }
        a.centre = tl_pose_apply(&x, a.centre);
        b.centre = tl_pose_apply(&x, b.centre);
        found++;
        int m = once(&a, &b, 0.02, u);
        bool same = m == n;
        for (int i = 0; same && i < n; i++) { /* the order may differ: which box comes first depends on the place */
            tl_vec3 at = tl_pose_apply(&x, t[i].at), normal = tl_quat_rotate(x.rotation, t[i].normal);
            int hits = 0;
            for (int j = 0; j < n; j++)
                hits += tl_vec3_norm(tl_vec3_sub(u[j].at, at)) < 1e-9 &&
                        tl_vec3_norm(tl_vec3_sub(u[j].normal, normal)) < 1e-9;
            same = hits > 0;
        }
        differ += !same;
    }
    assert_true(found > 1000);
    CHECK_LE(differ, 0.01 * found);
}

/* Numbers come out whatever goes in. */
static void test_degenerate(void **state)
{
    (void)state;
    static const double sizes[] = {1e-6, 1e-3, 0.2, 50, 1e4};
    for (uint64_t c = 0; c < 20000; c++) {
        double s[6];
        for (uint64_t k = 0; k < 6; k++) s[k] = sizes[(int)(5 * tl_random(30, c, k))];
        tl_quat q = c % 3 ? any_turn(c, 0) : tl_quat_identity(), r = c % 2 ? any_turn(c, 10) : q;
        tl_vec3 at = c % 5 ? vec(tl_random_normal(31, c, 0), tl_random_normal(31, c, 1), tl_random_normal(31, c, 2))
                           : vec(0, 0, 0);
        tl_obox a = box_at(vec(s[0], s[1], s[2]), tl_vec3_scale(c % 4 ? 0.1 : 1e-5, at), q),
                b = box_at(vec(s[3], s[4], s[5]), vec(0, 0, 0), r);
        tl_touch t[TL_BOX_POINTS];
        int32_t axis = (int32_t)(25 * tl_random(32, c, 0));
        int n = collide(&a, &b, 0.01, &axis, t);
        assert_true(n >= 0 && n <= TL_BOX_POINTS);
        for (int i = 0; i < n; i++) {
            CHECK_NEAR(tl_vec3_norm(t[i].normal), 1, 1e-9);
            assert_true(isfinite(t[i].gap) && isfinite(tl_vec3_norm(t[i].at)));
            CHECK_LE(t[i].gap, 0.01);
        }
    }
}

/* ---- fewer points ---- */

static void test_reduce(void **state)
{
    (void)state;
    /* 11 x 11 points of a square patch, one of them deepest: it stays, and so do the four corners */
    tl_touch t[121];
    for (int pass = 0; pass < 20; pass++) {
        int count = 0;
        for (int i = 0; i < 11; i++)
            for (int j = 0; j < 11; j++, count++)
                t[count] = (tl_touch){vec(0.1 * i, 0, 0.1 * j), vec(0, 1, 0),
                                      1e-12 * tl_random_normal(40, (uint64_t)pass, (uint64_t)count), false};
        t[38].gap = -0.01;
        assert_int_equal(tl_touches_reduce(count, t, 5), 5);
        static const tl_vec3 expected[5] = {{0, 0, 0}, {0, 0, 1}, {0.3, 0, 0.5}, {1, 0, 0}, {1, 0, 1}};
        for (int k = 0; k < 5; k++) check_vec(t[k].at, expected[k], 1e-15);
    }
    /* a pin in a hole: one side is deeper everywhere, the other stays in the set */
    for (int i = 0; i < 40; i++)
        t[i] =
            (tl_touch){vec(0.01 * i, i < 30 ? 0 : 0.05, 0), vec(0, i < 30 ? 1 : -1, 0), i < 30 ? -1e-3 : -1e-5, false};
    int kept = tl_touches_reduce(40, t, 3), up = 0;
    assert_int_equal(kept, 3);
    for (int i = 0; i < kept; i++) up += t[i].normal.y > 0;
    assert_true(up == 1 || up == 2);
    /* copies are dropped, few are left alone */
    for (int i = 0; i < 10; i++) t[i] = (tl_touch){vec(1, 2, 3), vec(1, 0, 0), 0, false};
    assert_int_equal(tl_touches_reduce(10, t, 4), 1);
    assert_int_equal(tl_touches_reduce(3, t, 4), 3);
    assert_int_equal(tl_touches_reduce(3, t, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sphere_pairs),   cmocka_unit_test(test_sphere_box),
        cmocka_unit_test(test_half_space),     cmocka_unit_test(test_placed),
        cmocka_unit_test(test_not_primitive),  cmocka_unit_test(test_box_on_box),
        cmocka_unit_test(test_corner_on_face), cmocka_unit_test(test_crossed_edges),
        cmocka_unit_test(test_leaning_cards),  cmocka_unit_test(test_edges_that_win),
        cmocka_unit_test(test_no_flicker),     cmocka_unit_test(test_flush_tiles),
        cmocka_unit_test(test_separated),      cmocka_unit_test(test_overlapping),
        cmocka_unit_test(test_order),          cmocka_unit_test(test_moved),
        cmocka_unit_test(test_degenerate),     cmocka_unit_test(test_reduce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
