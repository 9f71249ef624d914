/* Signed distances: exact where the header says so, Lipschitz everywhere, right zero sets, right masses. */
#include "geom/shape.h"

#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "check.h"
#include "geom/mesh_distance.h"
#include "geom/trimesh_make.h"
#include "math/quat.h"
#include "shapes.h"

static talus_error err;
static tl_test_shapes s;
static const double still[4] = {1, 0, 0, 0};
static const double pi = 3.14159265358979323846;

static int make(void **state)
{
    (void)state;
    s = tl_test_shapes_make();
    return 0;
}
static int drop(void **state)
{
    (void)state;
    tl_shape_tree_free(s.tree);
    return 0;
}

static tl_vec3 random_point(uint64_t id, double edge)
{
    return (tl_vec3){edge * (tl_random(7, id, 0) - 0.5), edge * (tl_random(7, id, 1) - 0.5),
                     edge * (tl_random(7, id, 2) - 0.5)};
}

static void lipschitz(void **state)
{
    (void)state;
    for (int k = 0; k < s.count; k++)
        for (uint64_t i = 0; i < 4000; i++) {
            tl_vec3 p = random_point(i, i % 2 ? 4 : 12), q = tl_vec3_add(p, random_point(i + 90000, i % 3 ? 0.1 : 2));
            double a = tl_shape_distance(s.tree, s.shape[k].node, p), b = tl_shape_distance(s.tree, s.shape[k].node, q);
            double step = tl_vec3_norm(tl_vec3_sub(p, q));
            if (!(fabs(a - b) <= step + 1e-12)) fail_msg("%s: %g to %g over %g", s.shape[k].name, a, b, step);
        }
}

/* A Lipschitz function that vanishes at p - d g, at distance |d|, is the exact distance at p. */
static void nearest_points_are_on_the_surface(void **state)
{
    (void)state;
    for (int k = 0; k < s.count; k++) {
        int inside = 0;
        for (uint64_t i = 0; i < 4000; i++) {
            tl_vec3 p = random_point(i, i % 4 ? 2.6 : 9);
            double d = tl_shape_distance(s.tree, s.shape[k].node, p);
            inside += d < 0;
            if (d > 0 ? !s.shape[k].outside_exact : !s.shape[k].inside_exact) continue;
            tl_vec3 q = tl_vec3_add_scaled(p, -d, tl_shape_gradient(s.tree, s.shape[k].node, p));
            double rest = tl_shape_distance(s.tree, s.shape[k].node, q);
            if (!(fabs(rest) <= 1e-11)) fail_msg("%s: %g left of %g", s.shape[k].name, rest, d);
        }
        if (inside < 30) fail_msg("%s: only %d points inside", s.shape[k].name, inside);
    }
}

/* Lower bounds too must lead to the surface: sphere tracing along the gradient arrives. */
static void bounds_lead_to_the_surface(void **state)
{
    (void)state;
    for (int k = 0; k < s.count; k++)
        for (uint64_t i = 0; i < 200; i++) {
            tl_vec3 p = random_point(i, 6);
            for (int step = 0; step < 400; step++)
                p = tl_vec3_add_scaled(p, -tl_shape_distance(s.tree, s.shape[k].node, p),
                                       tl_shape_gradient(s.tree, s.shape[k].node, p));
            double d = tl_shape_distance(s.tree, s.shape[k].node, p);
            if (!(fabs(d) < 1e-3)) fail_msg("%s: stuck at %g", s.shape[k].name, d);
        }
}

static void gradients_match_differences(void **state)
{
    (void)state;
    const double h = 1e-5;
    for (int k = 0; k < s.count; k++) {
        int compared = 0;
        for (uint64_t i = 0; i < 1000; i++) {
            tl_vec3 p = random_point(i + 500, 3), g = tl_shape_gradient(s.tree, s.shape[k].node, p), n;
            CHECK_NEAR(tl_vec3_norm(g), 1, 1e-12);
            double *out[3] = {&n.x, &n.y, &n.z};
            bool kink = false;
            double here = tl_shape_distance(s.tree, s.shape[k].node, p);
            for (int a = 0; a < 3; a++) {
                tl_vec3 e = {h * (a == 0), h * (a == 1), h * (a == 2)};
                double up = tl_shape_distance(s.tree, s.shape[k].node, tl_vec3_add(p, e));
                double down = tl_shape_distance(s.tree, s.shape[k].node, tl_vec3_sub(p, e));
                *out[a] = (up - down) / (2 * h);
                kink |= fabs(up + down - 2 * here) > 1e-2 * h; /* an edge passes between: no gradient to compare */
            }
            if (kink || tl_vec3_norm(n) < 0.1) continue;
            double off = tl_vec3_norm(tl_vec3_sub(tl_vec3_normalize(n), g));
            if (!(off < 1e-2)) fail_msg("%s at %g %g %g: off by %g", s.shape[k].name, p.x, p.y, p.z, off);
            compared++;
        }
        if (compared < 800) fail_msg("%s: only %d compared", s.shape[k].name, compared);
    }
}

static void gradients_are_unit_everywhere(void **state)
{
    (void)state;
    const double special[] = {0, 0.05, -0.1, 0.3, 0.35, 0.6, 0.75, 0.8, 0.9, -0.6, -0.8, 1e-200, -0.0};
    enum { N = sizeof special / sizeof *special };
    for (int k = 0; k < s.count; k++)
        for (int i = 0; i < N * N * N; i++) {
            tl_vec3 p = {special[i % N], special[i / N % N], special[i / N / N]};
            CHECK_NEAR(tl_vec3_norm(tl_shape_gradient(s.tree, s.shape[k].node, p)), 1, 1e-12);
            CHECK_LE(fabs(tl_shape_distance(s.tree, s.shape[k].node, p)), 5);
        }
}

/* ---- zero sets, against formulas of their own ---- */

static bool in_convex_sum(tl_vec3 p, const double e[3])
{
    return p.x * p.x / (e[0] * e[0]) + p.y * p.y / (e[1] * e[1]) + p.z * p.z / (e[2] * e[2]) < 1;
}

static int find(const char *name)
{
    for (int k = 0; k < s.count; k++)
        if (!strcmp(s.shape[k].name, name)) return s.shape[k].node;
    fail_msg("no shape named %s", name);
    return -1;
}

static bool inside(const char *name, tl_vec3 p) { return tl_shape_distance(s.tree, find(name), p) < 0; }

static void zero_sets(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        tl_vec3 p = random_point(i, 2.6);
        double r = sqrt(p.x * p.x + p.z * p.z), y = p.y;
        bool box = fabs(p.x) < 0.6 && fabs(y) < 0.35 && fabs(p.z) < 1.05, ball = tl_vec3_norm(p) < 0.8;
        assert_int_equal(inside("box", p), box);
        assert_int_equal(inside("sphere", p), ball);
        assert_int_equal(inside("ellipsoid", p), in_convex_sum(p, (double[]){1.1, 0.5, 0.8}));
        assert_int_equal(inside("oblate ellipsoid", p), in_convex_sum(p, (double[]){1.1, 0.3, 1.1}));
        assert_int_equal(inside("prolate ellipsoid", p), in_convex_sum(p, (double[]){0.3, 1.2, 0.3}));
        assert_int_equal(inside("hemisphere", p), y > 0 && tl_vec3_norm(p) < 0.9);
        assert_int_equal(inside("cylinder", p), r < 0.6 && fabs(y) < 0.75);
        assert_int_equal(inside("cone", p), fabs(y) < 0.6 && r < 0.9 * (0.5 - y / 1.2));
        assert_int_equal(inside("hanging cone", p), fabs(y) < 0.6 && r < 0.9 * (0.5 + y / 1.2));
        assert_int_equal(inside("frustum", p), fabs(y) < 0.6 && r < 0.65 - 0.5 * y / 1.2);
        assert_int_equal(inside("torus", p), hypot(r - 0.8, y) < 0.3);
        assert_int_equal(inside("union", p), box || ball);
        assert_int_equal(inside("intersection", p), box && ball);
        assert_int_equal(inside("shell", p), ball && tl_vec3_norm(p) > 0.6);
        bool cut = hypot(p.x + 0.2, p.z) < 0.3;
        cut |= fabs(p.x - 0.95) < 0.6 && fabs(y) < 0.35 && fabs(p.z) < 1.05;
        assert_int_equal(inside("difference", p), ball && !cut);
        double qx = p.x / 1.2, qy = y / 1.6, qz = p.z / 0.7;
        assert_int_equal(inside("stretched torus", p), hypot(hypot(qx, qz) - 0.8, qy) < 0.3);
    }
}

/* Union of balls along the axis: what a round cone is. */
static void round_cone_is_the_hull_of_balls(void **state)
{
    (void)state;
    int node = find("round cone");
    tl_vec3 a = {-0.5, 0.2, 0.1}, b = {0.6, -0.4, 0.3};
    for (uint64_t i = 0; i < 300; i++) {
        tl_vec3 p = random_point(i, 4);
        double best = INFINITY;
        for (int k = 0; k <= 20000; k++) {
            double w = k / 20000.0;
            tl_vec3 c = tl_vec3_add(tl_vec3_scale(1 - w, a), tl_vec3_scale(w, b));
            best = fmin(best, tl_vec3_norm(tl_vec3_sub(p, c)) - (0.6 * (1 - w) + 0.25 * w));
        }
        CHECK_NEAR(tl_shape_distance(s.tree, node, p), best, 1e-7); /* samples 6e-5 apart; error is quadratic in that */
    }
}

static void brute_force(const char *name, tl_vec3 (*point)(double u, double v), double gap)
{
    enum { N = 400, POINTS = 60 };
    tl_vec3 *sample = TL_NEW(tl_vec3, N * N);
    assert_non_null(sample);
    for (int i = 0; i < N * N; i++) sample[i] = point((i % N + 0.5) / N, (i / N + 0.5) / N);
    for (uint64_t k = 0; k < POINTS; k++) {
        tl_vec3 p = random_point(k + 40, 4);
        double best = INFINITY;
        for (int i = 0; i < N * N; i++) best = fmin(best, tl_vec3_norm2(tl_vec3_sub(p, sample[i])));
        double d = fabs(tl_shape_distance(s.tree, find(name), p));
        best = sqrt(best);
        if (!(d <= best + 1e-12 && d >= best - gap)) fail_msg("%s: %g, nearest sample at %g", name, d, best);
    }
    tl_free(sample);
}

static tl_vec3 on_ellipsoid(double u, double v)
{
    double t = acos(1 - 2 * u), f = 2 * pi * v;
    return (tl_vec3){1.1 * sin(t) * cos(f), 0.5 * cos(t), 0.8 * sin(t) * sin(f)};
}
static tl_vec3 on_torus(double u, double v)
{
    double r = 0.8 + 0.3 * cos(2 * pi * u);
    return (tl_vec3){r * cos(2 * pi * v), 0.3 * sin(2 * pi * u), r * sin(2 * pi * v)};
}

static void distances_match_brute_force(void **state)
{
    (void)state;
    brute_force("ellipsoid", on_ellipsoid, 0.03); /* samples at most 0.06 apart near the poles */
    brute_force("torus", on_torus, 0.01);
}

static void ellipsoid_extremes(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int flat = tl_shape_ellipsoid(t, (tl_vec3){1, 1e-3, 1}, &err),
        needle = tl_shape_ellipsoid(t, (tl_vec3){1e-3, 10, 1e-3}, &err);
    CHECK_NEAR(tl_shape_distance(t, flat, (tl_vec3){0, 0, 0}), -1e-3, 1e-15);
    CHECK_NEAR(tl_shape_distance(t, flat, (tl_vec3){0.5, 0, 0}), -1e-3 * sqrt(0.75),
               1e-9); /* nearest point leans by 1e-6 */
    CHECK_NEAR(tl_shape_distance(t, flat, (tl_vec3){0, 1e5, 0}), 1e5 - 1e-3, 1e-9);
    CHECK_NEAR(tl_shape_distance(t, flat, (tl_vec3){3, 0, 4}), 4, 1e-12);
    CHECK_NEAR(tl_shape_distance(t, needle, (tl_vec3){0, 0, 0}), -1e-3, 1e-15);
    CHECK_NEAR(tl_shape_distance(t, needle, (tl_vec3){0, 12, 0}), 2, 1e-12);
    CHECK_NEAR(tl_shape_distance(t, needle, (tl_vec3){2, 0, 0}), 2 - 1e-3, 1e-12);
    for (uint64_t i = 0; i < 3000; i++) { /* Newton must not stop early anywhere */
        tl_vec3 p = random_point(i, 3);
        if (i % 3 == 0) p.y *= 1e-9;
        if (i % 5 == 0) p.x *= 1e-12;
        int node = i % 2 ? flat : needle;
        double d = tl_shape_distance(t, node, p);
        tl_vec3 q = tl_vec3_add_scaled(p, -d, tl_shape_gradient(t, node, p));
        CHECK_NEAR(tl_shape_distance(t, node, q), 0, 1e-9);
    }
    tl_shape_tree_free(t);
}

/* ---- operations ---- */

static void set_identities(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int a = tl_shape_sphere(t, 1, &err), b = tl_shape_box(t, (tl_vec3){1.5, 1, 1}, 0.1, &err);
    b = tl_shape_place(t, b, (tl_vec3){0.6, 0.1, 0}, still, 1, &err);
    int c = tl_shape_torus(t, 1, 0.2, &err);
    int ab = tl_shape_union(t, 2, (int[]){a, b}, &err), ba = tl_shape_union(t, 2, (int[]){b, a}, &err);
    int abc = tl_shape_union(t, 3, (int[]){a, b, c}, &err), nested = tl_shape_union(t, 2, (int[]){ab, c}, &err);
    int cut = tl_shape_subtract(t, abc, 2, (int[]){a, b}, &err), cut2 = tl_shape_subtract(t, abc, 1, &ab, &err);
    int soft = tl_shape_smooth_union(t, 3, (int[]){a, b, c}, 0.4, &err),
        soft2 = tl_shape_smooth_union(t, 3, (int[]){c, a, b}, 0.4, &err);
    int tiny = tl_shape_smooth_union(t, 3, (int[]){a, b, c}, 1e-9, &err), one = tl_shape_union(t, 1, &a, &err);
    int grown = tl_shape_offset(t, a, 0.5, &err), back = tl_shape_offset(t, grown, -0.5, &err);
    int two = tl_shape_smooth_union(t, 2, (int[]){a, b}, 0.4, &err);
    for (uint64_t i = 0; i < 5000; i++) {
        tl_vec3 p = random_point(i, 5);
        double da = tl_shape_distance(t, a, p), db = tl_shape_distance(t, b, p);
        CHECK_NEAR(tl_shape_distance(t, ab, p), fmin(da, db), 0);
        CHECK_NEAR(tl_shape_distance(t, ab, p), tl_shape_distance(t, ba, p), 0);
        CHECK_NEAR(tl_shape_distance(t, abc, p), tl_shape_distance(t, nested, p), 0);
        CHECK_NEAR(tl_shape_distance(t, cut, p), tl_shape_distance(t, cut2, p), 0);
        CHECK_NEAR(tl_shape_distance(t, soft, p), tl_shape_distance(t, soft2, p), 0);
        CHECK_NEAR(tl_shape_distance(t, tiny, p), tl_shape_distance(t, abc, p), 1e-9);
        CHECK_LE(tl_shape_distance(t, soft, p), tl_shape_distance(t, abc, p) + 1e-15);
        CHECK_NEAR(tl_shape_distance(t, one, p), da, 0);
        CHECK_NEAR(tl_shape_distance(t, back, p), da, 1e-15);
        double h = fmax(0.4 - fabs(da - db), 0);
        CHECK_NEAR(tl_shape_distance(t, two, p), fmin(da, db) - h * h / 1.6,
                   1e-14); /* the two-part blend in closed form */
    }
    tl_shape_tree_free(t);
}

/* Boxes over boxes must not change a union, also for children whose distance is only a lower bound. */
static void culling_changes_nothing(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    enum { N = 300 };
    int part[N], pair[2];
    int bead = tl_shape_sphere(t, 0.05, &err), long_bead = tl_shape_stretch(t, bead, (tl_vec3){1, 3, 1}, &err);
    for (int i = 0; i < N; i++) {
        tl_vec3 at = random_point((uint64_t)i + 777, 2);
        tl_quat q = tl_quat_exp(random_point((uint64_t)i + 999, 3));
        part[i] = tl_shape_place(t, i % 3 ? bead : long_bead, at, (double[]){q.w, q.x, q.y, q.z}, 1, &err);
        assert_true(part[i] >= 0);
    }
    int all = tl_shape_union(t, N, part, &err), soft = tl_shape_smooth_union(t, N, part, 0.03, &err);
    int chain = part[0];
    for (int i = 1; i < 150; i++) {
        pair[0] = chain;
        pair[1] = part[i];
        chain = tl_shape_union(t, 2, pair, &err);
        assert_true(chain >= 0);
    }
    for (int i = 150; i < N; i += 6) {
        int some[7] = {chain, part[i], part[i + 1], part[i + 2], part[i + 3], part[i + 4], part[i + 5]};
        chain = tl_shape_union(t, i + 5 < N ? 7 : 6, some, &err);
        assert_true(chain >= 0);
    }
    for (uint64_t i = 0; i < 3000; i++) {
        tl_vec3 p = random_point(i, 3);
        double best = tl_shape_distance(t, all, p);
        CHECK_NEAR(best, tl_shape_distance(t, chain, p), 1e-15);
        CHECK_LE(tl_shape_distance(t, soft, p), best);
        CHECK_LE(best, tl_shape_distance(t, soft, p) + 0.015); /* half the blend at most */
    }
    tl_shape_tree_free(t);
}

static void bounds_hold_and_are_tight(void **state)
{
    (void)state;
    for (int k = 0; k < s.count; k++) {
        int node = s.shape[k].node;
        tl_box3 b = tl_shape_bounds(s.tree, node),
                seen = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
        assert_true(tl_shape_bounded(s.tree, node));
        for (uint64_t i = 0; i < 200000; i++) {
            tl_vec3 p = random_point(i, 3.2);
            if (!(tl_shape_distance(s.tree, node, p) < 0)) continue;
            seen.lo = tl_vec3_min(seen.lo, p);
            seen.hi = tl_vec3_max(seen.hi, p);
        }
        double out = fmax(tl_vec3_max_abs(tl_vec3_max(tl_vec3_sub(b.lo, seen.lo), (tl_vec3){0, 0, 0})),
                          tl_vec3_max_abs(tl_vec3_max(tl_vec3_sub(seen.hi, b.hi), (tl_vec3){0, 0, 0})));
        double loose = fmax(tl_vec3_max_abs(tl_vec3_sub(seen.lo, b.lo)), tl_vec3_max_abs(tl_vec3_sub(b.hi, seen.hi)));
        if (out > 0) fail_msg("%s: reaches %g out of its bounds", s.shape[k].name, out);
        /* 0.1: a corner seldom hit. Cuts may leave less than the box of what is cut. */
        double allowed = strstr(s.shape[k].name, "difference") || strstr(s.shape[k].name, "intersection") ? 0.4 : 0.15;
        if (loose > allowed) fail_msg("%s: bounds loose by %g", s.shape[k].name, loose);
    }
}

static void unbounded_shapes(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int ground = tl_shape_half_space(t, (tl_vec3){0, 2, 0}, -1, &err),
        slope = tl_shape_half_space(t, (tl_vec3){1, 1, 0}, 0, &err);
    CHECK_NEAR(tl_shape_bounds(t, ground).hi.y, -1, 1e-15);
    assert_true(isinf(tl_shape_bounds(t, ground).lo.y) && isinf(tl_shape_bounds(t, slope).hi.y));
    assert_false(tl_shape_bounded(t, ground));
    CHECK_NEAR(tl_shape_distance(t, ground, (tl_vec3){5, 3, 1}), 4, 1e-15);
    int ball = tl_shape_sphere(t, 2, &err), dome = tl_shape_intersect(t, 2, (int[]){ball, ground}, &err);
    assert_true(tl_shape_bounded(t, dome));
    CHECK_NEAR(tl_shape_bounds(t, dome).hi.y, -1, 1e-15);
    int many[9] = {ground, slope};
    for (int i = 2; i < 9; i++) many[i] = tl_shape_place(t, ball, (tl_vec3){5.0 * i, 5, 0}, still, 1, &err);
    int world = tl_shape_union(t, 9, many, &err); /* boxes over boxes with infinite ones */
    CHECK_NEAR(tl_shape_distance(t, world, (tl_vec3){40, 9, 0}), 2, 1e-12);
    CHECK_NEAR(tl_shape_distance(t, world, (tl_vec3){40, 0.5, 0}), 1.5, 1e-12);
    tl_mass m;
    assert_int_equal(tl_shape_mass(t, ground, 32, &m, &err), TALUS_BAD_INPUT);
    tl_shape_tree_free(t);
}

static void kinds_and_features(void **state)
{
    (void)state;
    assert_int_equal(tl_shape_kind_of(s.tree, find("torus")), TL_SHAPE_TORUS);
    assert_int_equal(tl_shape_kind_of(s.tree, find("turned bowl")), TL_SHAPE_REVOLVE);
    assert_int_equal(tl_shape_kind_of(s.tree, find("union")), TL_SHAPE_OPERATION);
    CHECK_NEAR(tl_shape_feature_size(s.tree, find("box")), 0.7, 1e-15);
    CHECK_NEAR(tl_shape_feature_size(s.tree, find("torus")), 0.6, 1e-15);
    CHECK_NEAR(tl_shape_feature_size(s.tree, find("shell")), 0.2, 1e-15);
    double wall = tl_shape_feature_size(s.tree, find("bowl"));
    assert_true(wall > 0.12 && wall < 0.25);
    for (int k = 0; k < s.count; k++) assert_true(tl_shape_feature_size(s.tree, s.shape[k].node) > 0.01);
}

/* ---- mass ---- */

static void check_mass(int node, int cells, double volume, tl_vec3 center, tl_vec3 inertia, double rel)
{
    tl_mass m;
    CHECK_OK(tl_shape_mass(s.tree, node, cells, &m, &err));
    CHECK_REL(m.volume, volume, rel);
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(m.center, center)), fmax(rel, 1e-15));
    double size = tl_vec3_max_abs(inertia);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double expected = i == j ? (i == 0 ? inertia.x : i == 1 ? inertia.y : inertia.z) : 0;
            CHECK_NEAR(m.inertia.m[i][j], expected, rel * size);
        }
}

/* Both through the closed form (rel 1e-13) and through quadrature: stretched by 1, which has none (rel 1e-3). */
static void check_both(int node, double volume, tl_vec3 center, tl_vec3 inertia)
{
    check_mass(node, 1, volume, center, inertia, 1e-13);
    int same = tl_shape_stretch(s.tree, node, (tl_vec3){1, 1, 1}, &err);
    assert_true(same >= 0);
    check_mass(same, 96, volume, center, inertia, 1e-3);
}

static void masses_of_primitives(void **state)
{
    (void)state;
    double v = 1.2 * 0.7 * 2.1, r = 0.8, h;
    tl_vec3 o = {0, 0, 0};
    check_both(find("box"), v, o, tl_vec3_scale(v / 12, (tl_vec3){0.49 + 4.41, 1.44 + 4.41, 1.44 + 0.49}));
    v = 4.0 / 3 * pi * r * r * r;
    check_both(find("sphere"), v, o, tl_vec3_scale(0.4 * v * r * r, (tl_vec3){1, 1, 1}));
    v = 4.0 / 3 * pi * 1.1 * 0.5 * 0.8;
    check_both(find("ellipsoid"), v, o, tl_vec3_scale(v / 5, (tl_vec3){0.25 + 0.64, 1.21 + 0.64, 1.21 + 0.25}));
    r = 0.9;
    v = 2.0 / 3 * pi * r * r * r;
    check_both(find("hemisphere"), v, (tl_vec3){0, 0.375 * r, 0},
               tl_vec3_scale(v * r * r, (tl_vec3){83.0 / 320, 0.4, 83.0 / 320}));
    r = 0.6, h = 1.5;
    v = pi * r * r * h;
    double side = v * (r * r / 4 + h * h / 12);
    check_both(find("cylinder"), v, o, (tl_vec3){side, v * r * r / 2, side});
    r = 0.9, h = 1.2;
    v = pi * r * r * h / 3;
    side = v * (3 * r * r / 20 + 3 * h * h / 80);
    check_both(find("cone"), v, (tl_vec3){0, -h / 4, 0}, (tl_vec3){side, 0.3 * v * r * r, side});
    double R = 0.8;
    r = 0.3;
    v = 2 * pi * pi * R * r * r;
    side = v * (0.5 * R * R + 0.625 * r * r);
    check_both(find("torus"), v, o, (tl_vec3){side, v * (R * R + 0.75 * r * r), side});
}

/* Closed forms against the quadrature of the same distance. */
static void masses_agree_with_quadrature(void **state)
{
    (void)state;
    const char *names[] = {"capsule", "round cone",  "frustum",       "bowl",        "triangular ring",
                           "star",    "turned bowl", "rows of boxes", "hanging cone"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        tl_mass a, b;
        int node = find(names[k]), same = tl_shape_stretch(s.tree, node, (tl_vec3){1, 1, 1}, &err);
        CHECK_OK(tl_shape_mass(s.tree, node, 1, &a, &err));
        CHECK_OK(tl_shape_mass(s.tree, same, 96, &b, &err));
        if (!(fabs(a.volume - b.volume) < 1e-3 * a.volume)) fail_msg("%s: %g, %g", names[k], a.volume, b.volume);
        CHECK_LE(tl_vec3_norm(tl_vec3_sub(a.center, b.center)), 1e-3);
        CHECK_LE(tl_mat3_norm(tl_mat3_sub(a.inertia, b.inertia)), 2e-3 * tl_mat3_norm(a.inertia));
    }
}

static void mass_of_a_mirrored_pair(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int ball = tl_shape_sphere(t, 0.5, &err);
    ball = tl_shape_place(t, ball, (tl_vec3){2, 1, 0}, still, 1, &err);
    int pair = tl_shape_mirror(t, ball, 0, &err);
    tl_mass m;
    CHECK_OK(tl_shape_mass(t, pair, 1, &m, &err));
    double v = 4.0 / 3 * pi * 0.125;
    CHECK_REL(m.volume, 2 * v, 1e-14);
    CHECK_NEAR(m.center.y, 1, 1e-14);
    CHECK_REL(m.inertia.m[1][1], 2 * v * (0.4 * 0.25 + 4), 1e-13);
    tl_shape_tree_free(t);
}

/* ---- meshes ---- */

static int mesh_shape(tl_shape_tree *t, const tl_trimesh *m)
{
    tl_mesh_distance *d;
    CHECK_OK(tl_mesh_distance_create(&d, m, &err));
    int node = tl_shape_mesh(t, d, &err);
    assert_true(node >= 0);
    return node;
}

/* A mesh of a box is the box: distance, gradient, bounds and mass, alone and in operations. */
static void meshes_are_shapes(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    tl_trimesh m;
    CHECK_OK(tl_trimesh_box(&m, (tl_vec3){1.2, 0.7, 2.1}, 3, &err));
    int mesh = mesh_shape(t, &m), box = tl_shape_box(t, (tl_vec3){1.2, 0.7, 2.1}, 0, &err);
    const double turn[4] = {0.8, 0.36, 0.48, 0};
    int ball = tl_shape_sphere(t, 0.5, &err);
    int pair[2] = {tl_shape_place(t, mesh, (tl_vec3){1, 2, 3}, turn, 2, &err),
                   tl_shape_place(t, box, (tl_vec3){1, 2, 3}, turn, 2, &err)};
    int cut[2] = {tl_shape_subtract(t, mesh, 1, &ball, &err), tl_shape_subtract(t, box, 1, &ball, &err)};
    assert_int_equal(tl_shape_kind_of(t, pair[0]), TL_SHAPE_MESH);
    for (uint64_t i = 0; i < 2000; i++) {
        tl_vec3 p = random_point(i, 4);
        CHECK_NEAR(tl_shape_distance(t, mesh, p), tl_shape_distance(t, box, p), 1e-12);
        CHECK_NEAR(tl_shape_distance(t, pair[0], p), tl_shape_distance(t, pair[1], p), 1e-12);
        CHECK_NEAR(tl_shape_distance(t, cut[0], p), tl_shape_distance(t, cut[1], p), 1e-12);
        double d = tl_shape_distance(t, mesh, p);
        tl_vec3 q = tl_vec3_add_scaled(p, -d, tl_shape_gradient(t, mesh, p));
        CHECK_NEAR(tl_shape_distance(t, mesh, q), 0, 1e-12);
    }
    tl_box3 a = tl_shape_bounds(t, pair[0]), b = tl_shape_bounds(t, pair[1]);
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(a.lo, b.lo)) + tl_vec3_norm(tl_vec3_sub(a.hi, b.hi)), 1e-13);
    tl_vec3 g = tl_shape_gradient(t, mesh, (tl_vec3){0.6, 0.1, 0.2}); /* on the surface */
    CHECK_NEAR(g.x, 1, 1e-12);
    tl_mass x, y;
    CHECK_OK(tl_shape_mass(t, pair[0], 1, &x, &err));
    CHECK_OK(tl_shape_mass(t, pair[1], 1, &y, &err));
    CHECK_REL(x.volume, y.volume, 1e-13);
    CHECK_LE(tl_mat3_norm(tl_mat3_sub(x.inertia, y.inertia)), 1e-12 * tl_mat3_norm(y.inertia));
    tl_trimesh_free(&m);
    tl_shape_tree_free(t);
}

/* ---- refusals ---- */

#define REFUSED(expr, text)                                                                                            \
    do {                                                                                                               \
        err.message[0] = '\0';                                                                                         \
        int nodes_ = tl_shape_node_count(t);                                                                           \
        assert_int_equal((expr), -1);                                                                                  \
        assert_int_equal(tl_shape_node_count(t), nodes_);                                                              \
        assert_int_equal(err.status, TALUS_BAD_INPUT);                                                                 \
        if (!strstr(err.message, text)) fail_msg("%s: '%s' lacks '%s'", #expr, err.message, text);                     \
    } while (0)

static void bad_parameters_are_named(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int ball = tl_shape_sphere(t, 1, &err), far_ball = tl_shape_place(t, ball, (tl_vec3){9, 0, 0}, still, 1, &err);
    const double bow[][2] = {{0, 0}, {1, 1}, {1, 0}, {0, 1}}, left[][2] = {{0, 0}, {1, 0}, {-1, 1}},
                 twice[][2] = {{0, 0}, {0, 0}, {1, 1}}, line[][2] = {{0, 0}, {1, 1}, {2, 2}},
                 spike[][2] = {{0, 0}, {1, 0}, {1, 2}, {1, 1}, {0, 1}}, nan[][2] = {{0, 0}, {1, NAN}, {1, 1}};
    REFUSED(tl_shape_box(t, (tl_vec3){1, -2, 1}, 0, &err), "size.y must be > 0 and at most 1e+09 m, got -2");
    REFUSED(tl_shape_box(t, (tl_vec3){1, 2, 1}, 0.6, &err), "round must be from 0 to 0.5, got 0.6");
    REFUSED(tl_shape_sphere(t, NAN, &err), "radius");
    REFUSED(tl_shape_sphere(t, INFINITY, &err), "radius");
    REFUSED(tl_shape_ellipsoid(t, (tl_vec3){1, 0, 1}, &err), "radii.y");
    REFUSED(tl_shape_ellipsoid(t, (tl_vec3){1e5, 1, 1}, &err), "1e4 times");
    REFUSED(tl_shape_hemisphere(t, 0, &err), "radius");
    REFUSED(tl_shape_cylinder(t, 1, 1, -0.1, &err), "round");
    REFUSED(tl_shape_capsule(t, (tl_vec3){NAN, 0, 0}, (tl_vec3){1, 0, 0}, 1, 1, &err), "capsule: a must");
    REFUSED(tl_shape_capsule(t, (tl_vec3){0, 0, 0}, (tl_vec3){1, 0, 0}, 1, 0, &err), "radius_b");
    REFUSED(tl_shape_cone(t, 0, 0, 1, &err), "both are 0");
    REFUSED(tl_shape_torus(t, 1, 1, &err), "less than ring_radius = 1");
    REFUSED(tl_shape_half_space(t, (tl_vec3){0, 0, 0}, 0, &err), "normal");
    REFUSED(tl_shape_extrude(t, 4, bow, 1, &err), "cross or touch");
    REFUSED(tl_shape_extrude(t, 5, spike, 1, &err), "cross or touch");
    REFUSED(tl_shape_extrude(t, 3, line, 1, &err), "cross or touch");
    REFUSED(tl_shape_extrude(t, 3, nan, 1, &err), "profile[2]");
    REFUSED(tl_shape_extrude(t, 2, line, 1, &err), "3 to 2000 points, got 2");
    REFUSED(tl_shape_revolve(t, 3, left, &err), "profile[3] must have a radius >= 0, got -1");
    REFUSED(tl_shape_revolve(t, 3, twice, &err), "must differ");
    REFUSED(tl_shape_union(t, 0, NULL, &err), "got 0");
    REFUSED(tl_shape_union(t, 2, (int[]){0, 17}, &err), "shape 1 is number 17, but the tree has 2");
    REFUSED(tl_shape_subtract(t, -1, 1, (int[]){0}, &err), "number -1");
    REFUSED(tl_shape_intersect(t, 2, (int[]){ball, far_ball}, &err), "nothing is left");
    REFUSED(tl_shape_smooth_union(t, 1, (int[]){0}, 0, &err), "blend");
    REFUSED(tl_shape_shell(t, ball, 1, &err), "thickness must be > 0 and less than 1");
    REFUSED(tl_shape_offset(t, ball, -1, &err), "nothing is left");
    REFUSED(tl_shape_place(t, ball, (tl_vec3){0, 0, 0}, (double[]){2, 0, 0, 0}, 1, &err), "length 2");
    REFUSED(tl_shape_place(t, ball, (tl_vec3){0, 0, 0}, still, 0, &err), "scale");
    REFUSED(tl_shape_stretch(t, ball, (tl_vec3){1, 0, 1}, &err), "factors.y");
    REFUSED(tl_shape_mirror(t, ball, 3, &err), "axis");

    int deep = ball;
    for (int k = 0; k < 199; k++) deep = tl_shape_offset(t, deep, 0.001, &err);
    assert_true(deep >= 0);
    CHECK_NEAR(tl_shape_distance(t, deep, (tl_vec3){5, 0, 0}), 4 - 0.199, 1e-12);
    REFUSED(tl_shape_offset(t, deep, 0.001, &err), "200 deep");
    int twins = ball;
    for (int k = 0; k < 19; k++) twins = tl_shape_union(t, 2, (int[]){twins, twins}, &err);
    assert_true(twins >= 0);
    REFUSED(tl_shape_union(t, 2, (int[]){twins, twins}, &err), "1e+06 primitives");
    tl_shape_tree_free(t);
}

static void clockwise_profiles_are_turned(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    const double ccw[][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}}, cw[][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    int a = tl_shape_extrude(t, 4, ccw, 1, &err), b = tl_shape_extrude(t, 4, cw, 1, &err);
    for (uint64_t i = 0; i < 500; i++) {
        tl_vec3 p = random_point(i, 3);
        CHECK_NEAR(tl_shape_distance(t, a, p), tl_shape_distance(t, b, p), 1e-15);
    }
    tl_vec3 g = tl_shape_gradient(t, b, (tl_vec3){1, 0, 0.5});
    CHECK_NEAR(g.x, 1, 1e-15);
    tl_shape_tree_free(t);
}

/* A leaning parallelogram has a product of inertia, with its sign: by sums over small prisms. */
static void extrusions_lean(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    const double leaning[][2] = {{0, 0}, {1, 0}, {1.6, 0.8}, {0.6, 0.8}};
    tl_mass m;
    CHECK_OK(tl_shape_mass(t, tl_shape_extrude(t, 4, leaning, 0.5, &err), 1, &m, &err));
    enum { N = 200 };
    double xz = 0, xx = 0, zz = 0;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            double z = 0.8 * (k + 0.5) / N - m.center.z, x = 0.75 * (z + m.center.z) + (i + 0.5) / N - m.center.x;
            xz += x * z, xx += x * x, zz += z * z;
        }
    double each = m.volume / (N * N);
    CHECK_REL(m.volume, 0.8 * 0.5, 1e-12);
    CHECK_REL(m.inertia.m[0][2], -each * xz, 1e-3);
    CHECK_REL(m.inertia.m[2][0], -each * xz, 1e-3);
    CHECK_REL(m.inertia.m[1][1], each * (xx + zz), 1e-3);
    assert_true(xz > 0);
    tl_shape_tree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lipschitz),
        cmocka_unit_test(nearest_points_are_on_the_surface),
        cmocka_unit_test(bounds_lead_to_the_surface),
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(gradients_are_unit_everywhere),
        cmocka_unit_test(zero_sets),
        cmocka_unit_test(round_cone_is_the_hull_of_balls),
        cmocka_unit_test(distances_match_brute_force),
        cmocka_unit_test(ellipsoid_extremes),
        cmocka_unit_test(set_identities),
        cmocka_unit_test(culling_changes_nothing),
        cmocka_unit_test(bounds_hold_and_are_tight),
        cmocka_unit_test(unbounded_shapes),
        cmocka_unit_test(kinds_and_features),
        cmocka_unit_test(masses_of_primitives),
        cmocka_unit_test(masses_agree_with_quadrature),
        cmocka_unit_test(mass_of_a_mirrored_pair),
        cmocka_unit_test(meshes_are_shapes),
        cmocka_unit_test(bad_parameters_are_named),
        cmocka_unit_test(clockwise_profiles_are_turned),
        cmocka_unit_test(extrusions_lean),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
