/* Fractions of solids and liquid: exact where they must be, close where they can be, and they sum to one. */
#include "check.h"

#include "base/random.h"
#include "grid.h"

static talus_error err;

/* Against a count of 60^3 sample points. */
static void plane_in_cube(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 60; i++) {
        double g[3], c = (2 * tl_random(1, i, 9) - 1) * 0.9;
        for (int k = 0; k < 3; k++) g[k] = 2 * tl_random(1, i, (uint64_t)k) - 1;
        if (i % 4 == 1) g[i % 3] = 0;
        if (i % 4 == 2) g[i % 3] = 1e-13;
        int n = 60, inside = 0;
        for (int m = 0; m < n * n * n; m++) {
            double x = (m / n / n + 0.5) / n - 0.5, y = (m / n % n + 0.5) / n - 0.5, z = (m % n + 0.5) / n - 0.5;
            inside += c + g[0] * x + g[1] * y + g[2] * z < 0;
        }
        CHECK_NEAR(tl_plane_in_cube(c, g), inside / (double)(n * n * n), 6e-3); /* one layer of 60 is cut by chance */
        const double away[3] = {-g[0], -g[1], -g[2]};
        CHECK_NEAR(tl_plane_in_cube(c, g) + tl_plane_in_cube(-c, away), 1.0, 1e-14);
    }
    /* a plane along an axis, and a corner cut off: by hand */
    CHECK_NEAR(tl_plane_in_cube(0.2, (double[3]){0, 1, 0}), 0.3, 1e-15);
    CHECK_NEAR(tl_plane_in_cube(1.5 - 0.3, (double[3]){1, 1, 1}), 0.3 * 0.3 * 0.3 / 6, 1e-15);
    CHECK_NEAR(tl_plane_in_square(1 - 0.3, (double[2]){1, -1}), 0.3 * 0.3 / 2, 1e-15);
    CHECK_NEAR(tl_plane_in_cube(0.1, (double[3]){0, 0, 0}), 0.0, 0);
    CHECK_NEAR(tl_plane_in_cube(-0.1, (double[3]){0, 0, 0}), 1.0, 0);
}

#define POOL "{ material = water, shape = box { center = {0.8, 0.4, 0.8}, size = {1.6, 0.8, 1.6} } }"

/* Walls and a static box with faces between grid planes: 1D overlaps, to rounding. */
static void planes_are_exact(void **state)
{
    (void)state;
    grid_case c = grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { " POOL
                            " }, bodies = { { kind = 'static', shape = box { size = {0.53, 0.41, 0.62} }, at = {0.8, "
                            "0.43, 0.77} } }");
    for (int family = 0; family < 2; family++) {
        grid_derive(&c, (tl_weight_family)family);
        double worst = 0;
        int cut = 0;
        for (int32_t i = 0; i < c.g.blocks * c.f.size; i++) {
            /* faces of x, away from edges of the box, where a cell sees one plane only */
            tl_vec3 x = tl_grid_face_centre(&c.g, 0, i);
            double half = 0.05, in = 0;
            if (fabs(x.y - 0.43) > 0.2 - half || fabs(x.z - 0.77) > 0.3 - half) continue;
            double lo = x.x - half, hi = x.x + half, a = 0.8 - 0.265, b = 0.8 + 0.265;
            in += fmax(0, fmin(hi, b) - fmax(lo, a)) + fmax(0, fmin(hi, 0.0) - lo) + fmax(0, hi - fmax(lo, 1.6));
            in = family ? (x.x > a && x.x < b) || x.x < 1e-9 || x.x > 1.6 - 1e-9 : fmin(1, in / 0.1);
            worst = fmax(worst, fabs(c.fractions.open[0][i] - (1 - in)));
            CHECK_NEAR(c.fractions.open[0][i] + c.fractions.fixed[0][i], 1.0, 1e-15);
            cut += in > 0.01 && in < 0.99;
        }
        CHECK_LE(worst, 1e-12);
        assert_true(family ? 1 : cut > 20);
    }
    grid_close(&c);
}

/* Away from walls of a domain of twice `half`. */
static bool inner(tl_vec3 x, double half) { return fabs(x.x - half) < half - 0.07 && fabs(x.y - half) < half - 0.07; }

static double covered(const grid_case *c, int axis, double half)
{
    double sum = 0;
    for (int32_t i = 0; i < c->g.blocks * c->f.size; i++) {
        tl_vec3 x = tl_grid_face_centre(&c->g, axis, i);
        if (inner(x, half) && (c->f.flat_axis == 2 || fabs(x.z - half) < half - 0.07))
            sum += 1 - c->fractions.open[axis][i];
    }
    return sum;
}

/* Sum of W_S over cells and over faces of each axis, times dx^3, against the volume. The spec's sub-samples leave
 * 9e-4 for this sphere and 8e-4 for this disc; planes fitted to eighths do better. */
static void volumes(void **state)
{
    (void)state;
    const double r = 0.36, disc = 0.6;
    grid_case c = grid_open(
        "grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { { material = water, shape = box { center = {0.8, 0.8, "
        "0.8}, size = 1.6 } } }, bodies = { { name = 'ball', shape = sphere { radius = %g }, at = {0.813, 0.786, "
        "0.771}, density = 500 } }",
        r);
    grid_derive(&c, TL_WEIGHT_VOLUME);
    double cells = 0, want = 4.0 / 3 * 3.14159265358979 * r * r * r;
    for (int32_t i = 0; i < c.g.blocks * c.f.size; i++)
        if (inner(tl_grid_centre(&c.g, i), 0.8) && fabs(tl_grid_centre(&c.g, i).z - 0.8) < 0.73)
            cells += c.fractions.solid_cell[i] * 1e-3;
    CHECK_REL(cells, want, 1e-4);
    for (int k = 0; k < 3; k++)
        CHECK_REL(covered(&c, k, 0.8) * 1e-3, cells, 1e-7); /* the same eighths; openings below 1e-6 closed */
    const tl_covers *v = &c.fractions.covers;
    double listed = 0;
    for (int64_t i = v->start[0]; i < v->start[1]; i++) listed += v->weight[i] * 1e-3;
    CHECK_REL(listed, cells, 0.01); /* all but a few faces deep inside */
    grid_close(&c);

    c = grid_open(
        "grid = { cells = {20, 20, 1}, cell = 0.1, periodic = {false, false, true} }, fill = { { material = "
        "water, shape = box { center = {1, 1, 0.05}, size = {2, 2, 0.1} } } }, bodies = { { shape = cylinder { "
        "radius = %g, height = 1 }, rotation_deg = {90, 0, 0}, at = {1.013, 0.986, 0.05}, density = 500 } }",
        disc);
    grid_derive(&c, TL_WEIGHT_VOLUME);
    for (int k = 0; k < 2; k++) CHECK_REL(covered(&c, k, 1) * 1e-2, 3.14159265358979 * disc * disc, 1e-4);
    grid_close(&c);
}

/* Bodies that overlap each other, a wall and a static one: every face still has one share for each, summing to one. */
static void sums_to_one(void **state)
{
    (void)state;
    grid_case c = grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { " POOL
                            " }, bodies = { { shape = sphere { radius = 0.3 }, at = {0.5, 0.2, 0.5}, density = 500 }, "
                            "{ shape = box { size = "
                            "0.4 }, at = {0.8, 0.35, 0.6}, rotation_deg = {20, 30, 40}, density = 500 }, { kind = "
                            "'static', shape = torus { "
                            "radius = 0.4, tube = 0.15 }, at = {0.8, 0.3, 0.8} }, { kind = 'kinematic', "
                            "shape = cylinder { radius = 0.2, height = 0.5 }, at = "
                            "{1.2, 0.3, 1.1}, motion = function(t) return { at = {1.2, 0.3, 1.1} } end } }");
    for (int family = 0; family < 2; family++) {
        grid_derive(&c, (tl_weight_family)family);
        const tl_covers *v = &c.fractions.covers;
        double *sum = TL_TAKE_ZERO(&c.arena, double, c.g.cells);
        uint8_t *many = TL_TAKE_ZERO(&c.arena, uint8_t, c.g.cells);
        int shared = 0;
        assert_int_equal(v->bodies, 4);
        assert_int_equal(v->start[6], v->start[9]); /* static: none */
        for (int axis = 0; axis < 3; axis++) {
            for (int32_t i = 0; i < c.g.cells; i++) {
                sum[i] = c.fractions.open[axis][i] + c.fractions.fixed[axis][i];
                many[i] = c.fractions.fixed[axis][i] > 0;
            }
            for (int b = 0; b < 4; b++)
                for (int64_t i = v->start[3 * b + axis]; i < v->start[3 * b + axis + 1]; i++) {
                    assert_true(i == v->start[3 * b + axis] || v->face[i] > v->face[i - 1]);
                    assert_true(v->weight[i] > 0 && v->weight[i] <= 1 + 1e-15);
                    sum[v->face[i]] += v->weight[i];
                    shared += many[v->face[i]]++ > 0 && c.fractions.open[axis][v->face[i]] == 0;
                }
            for (int32_t i = 0; i < c.g.blocks * c.f.size; i++) {
                assert_true(c.fractions.open[axis][i] == 0 || c.fractions.open[axis][i] >= TL_OPEN_FLOOR);
                /* faces deep inside are not listed; the rest sums up */
                if (!(c.fractions.open[axis][i] == 0 && c.solid_phi[i] < -2 * c.f.dx)) CHECK_NEAR(sum[i], 1.0, 4e-16);
            }
        }
        assert_true(shared > 50);
    }
    grid_close(&c);
}

/* A plane of liquid at any tilt gives exact fractions at cells, faces and edges. */
static void liquid_planes(void **state)
{
    (void)state;
    grid_case c = grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { " POOL " }");
    grid_derive(&c, TL_WEIGHT_VOLUME);
    const double g[3] = {0.31, 0.9, -0.27};
    for (int tilted = 0; tilted < 2; tilted++) {
        const double n[3] = {tilted ? g[0] : 0, tilted ? g[1] : 1, tilted ? g[2] : 0};
        double at = tilted ? 0.71 : 0.5737;
        for (int32_t i = 0; i < c.g.blocks * c.f.size; i++) {
            tl_vec3 x = tl_grid_centre(&c.g, i);
            c.phi[i] = n[0] * x.x + n[1] * x.y + n[2] * x.z - at;
        }
        CHECK_OK(tl_liquid_fractions(&c.g, c.phi, false, true, true, &c.arena, &c.liquid, &err));
        double worst = 0;
        int cut = 0;
        for (int32_t i = 0; i < c.g.blocks * c.f.size; i++) {
            int32_t p[3];
            tl_grid_at(&c.g, i, p);
            if (p[0] < 2 || p[0] > 13 || p[1] < 2 || p[1] > 9 || p[2] < 2 || p[2] > 13) continue;
            const double slope[3] = {0.1 * n[0], 0.1 * n[1], 0.1 * n[2]};
            double v = c.phi[i];
            double cell = tl_plane_in_cube(v, slope), face = tl_plane_in_cube(v - 0.5 * slope[1], slope);
            double edge = tl_plane_in_cube(v - 0.5 * (slope[0] + slope[1]), slope);
            worst = fmax(worst, fabs(c.liquid.cell[i] - cell));
            worst = fmax(worst, fabs(c.liquid.face[1][i] - face));
            worst = fmax(worst, fabs(c.liquid.edge[2][i] - edge));
            cut += cell > 0.01 && cell < 0.99;
        }
        CHECK_LE(worst, 1e-12);
        assert_true(cut > 100);
    }
    grid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plane_in_cube), cmocka_unit_test(planes_are_exact), cmocka_unit_test(volumes),
        cmocka_unit_test(sums_to_one),   cmocka_unit_test(liquid_planes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
