/* Samples on surfaces and in volumes: where they should be, as many as they should be, as far apart as promised. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "check.h"
#include "geom/surface.h"
#include "shapes.h"

static talus_error err;
static const double pi = 3.14159265358979323846;

static const tl_points *sorted; /* qsort has no context */

static int by_x(const void *a, const void *b)
{
    double p = sorted->at[*(const int32_t *)a].x, q = sorted->at[*(const int32_t *)b].x;
    return p < q ? -1 : p > q;
}

/* Least distance between two points, by a sweep along x. */
static double closest_pair(const tl_points *p)
{
    int32_t *order = TL_NEW(int32_t, p->count + 1);
    assert_non_null(order);
    for (int32_t i = 0; i < p->count; i++) order[i] = i;
    sorted = p;
    qsort(order, (size_t)p->count, sizeof *order, by_x);
    double best = INFINITY;
    for (int32_t i = 0; i < p->count; i++)
        for (int32_t j = i + 1; j < p->count && p->at[order[j]].x - p->at[order[i]].x < best; j++)
            best = fmin(best, tl_vec3_norm(tl_vec3_sub(p->at[order[i]], p->at[order[j]])));
    tl_free(order);
    return best;
}

static double nearest_to(const tl_points *p, tl_vec3 q)
{
    double best = INFINITY;
    for (int32_t i = 0; i < p->count; i++) best = fmin(best, tl_vec3_norm2(tl_vec3_sub(p->at[i], q)));
    return sqrt(best);
}

static void surface_points_lie_at_their_depth(void **state)
{
    (void)state;
    tl_test_shapes s = tl_test_shapes_make();
    for (int k = 0; k < s.count; k += 2)
        for (int how = 0; how < 2; how++)
            for (int deep = 0; deep < 2; deep++) {
                tl_points p;
                double inset = deep ? 0.02 : 0;
                CHECK_OK(tl_sample_surface(s.tree, s.shape[k].node, 0.12, inset,
                                           how ? TL_SAMPLE_POISSON : TL_SAMPLE_LATTICE, 5, &p, &err));
                assert_true(p.count > 100);
                for (int32_t i = 0; i < p.count; i++) {
                    double d = tl_shape_distance(s.tree, s.shape[k].node, p.at[i]);
                    if (!(fabs(d + inset) < 1e-6)) fail_msg("%s: %g instead of %g", s.shape[k].name, d, -inset);
                    CHECK_NEAR(tl_vec3_norm(p.normal[i]), 1, 1e-12);
                }
                tl_points_free(&p);
            }
    tl_shape_tree_free(s.tree);
}

static void poisson_disks_keep_their_distance_and_cover(void **state)
{
    (void)state;
    tl_test_shapes s = tl_test_shapes_make();
    const char *names[] = {"sphere", "box", "torus", "animal", "bowl"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (int k = 0; k < s.count; k++) {
            if (strcmp(names[n], s.shape[k].name)) continue;
            const double spacing = 0.1;
            tl_points p, fine;
            CHECK_OK(tl_sample_surface(s.tree, s.shape[k].node, spacing, 0, TL_SAMPLE_POISSON, 9, &p, &err));
            CHECK_LE(spacing, closest_pair(&p));
            CHECK_OK(tl_sample_surface(s.tree, s.shape[k].node, 0.06, 0, TL_SAMPLE_LATTICE, 0, &fine, &err));
            for (int32_t i = 0; i < fine.count; i += 3) CHECK_LE(nearest_to(&p, fine.at[i]), 1.3 * spacing);
            tl_points_free(&p);
            tl_points_free(&fine);
        }
    tl_shape_tree_free(s.tree);
}

/* Equal areas of a sphere must get equal shares: no bias from the triangles below. */
static void poisson_disks_are_fair(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int ball = tl_shape_sphere(t, 1, &err);
    tl_points p;
    CHECK_OK(tl_sample_surface(t, ball, 0.06, 0, TL_SAMPLE_POISSON, 1, &p, &err));
    double expected = p.count / 8.0;
    int octant[8] = {0};
    for (int32_t i = 0; i < p.count; i++) octant[(p.at[i].x > 0) + 2 * (p.at[i].y > 0) + 4 * (p.at[i].z > 0)]++;
    for (int o = 0; o < 8; o++) CHECK_REL((double)octant[o], expected, 0.06);
    CHECK_LE(0.6 * 4 * pi / (0.06 * 0.06), p.count); /* random disks that fill up: 0.70 per spacing^2 */
    CHECK_LE(p.count, 0.8 * 4 * pi / (0.06 * 0.06));
    tl_points_free(&p);
    tl_shape_tree_free(t);
}

static void volumes_are_filled(void **state)
{
    (void)state;
    tl_test_shapes s = tl_test_shapes_make();
    const double spacing = 0.05;
    for (int k = 0; k < s.count; k++)
        for (int how = 0; how < 3; how++) {
            if (how == TL_FILL_BLUE_NOISE && k % 5) continue; /* some ten times the work */
            tl_points p;
            tl_mass m;
            CHECK_OK(tl_shape_mass(s.tree, s.shape[k].node, 64, &m, &err));
            CHECK_OK(tl_sample_volume(s.tree, s.shape[k].node, spacing, 0, (tl_filling)how, 4, &p, &err));
            assert_null(p.normal);
            double share = p.count * spacing * spacing * spacing / m.volume;
            /* surfaces matter: a blue-noise point near one has no neighbours beyond, which makes room for more */
            if (!(share > 0.93 && share < (how == TL_FILL_BLUE_NOISE ? 1.25 : 1.07)))
                fail_msg("%s, filling %d: %g", s.shape[k].name, how, share);
            for (int32_t i = 0; i < p.count; i++) CHECK_LE(tl_shape_distance(s.tree, s.shape[k].node, p.at[i]), 0);
            tl_points_free(&p);
        }
    tl_shape_tree_free(s.tree);
}

static void blue_noise_keeps_its_distance(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int box = tl_shape_box(t, (tl_vec3){2, 2, 2}, 0, &err);
    const double spacing = 0.07;
    tl_points p;
    CHECK_OK(tl_sample_volume(t, box, spacing, 0, TL_FILL_BLUE_NOISE, 11, &p, &err));
    CHECK_LE(0.85 * spacing * (1 - 1e-5), closest_pair(&p)); /* offsets are floats */
    int64_t inner = 0; /* away from faces the density must be that of the lattice */
    for (int32_t i = 0; i < p.count; i++) inner += tl_vec3_max_abs(p.at[i]) < 0.8;
    CHECK_REL((double)inner, 1.6 * 1.6 * 1.6 / (spacing * spacing * spacing), 0.03);
    for (uint64_t i = 0; i < 300; i++) { /* and nowhere a hole */
        tl_vec3 q = {1.6 * tl_random(1, i, 0) - 0.8, 1.6 * tl_random(1, i, 1) - 0.8, 1.6 * tl_random(1, i, 2) - 0.8};
        CHECK_LE(nearest_to(&p, q), 1.15 * spacing);
    }
    tl_points_free(&p);
    tl_shape_tree_free(t);
}

static void lattices_match_across_shapes(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    const double still[4] = {1, 0, 0, 0};
    int unit = tl_shape_box(t, (tl_vec3){1, 1, 1}, 0, &err);
    int left = tl_shape_place(t, unit, (tl_vec3){-0.5, 0.5, 0.5}, still, 1, &err),
        right = tl_shape_place(t, unit, (tl_vec3){0.5, 0.5, 0.5}, still, 1, &err);
    int both = tl_shape_union(t, 2, (int[]){left, right}, &err);
    for (int how = 0; how < 2; how++) {
        tl_points a, b, c;
        CHECK_OK(tl_sample_volume(t, left, 0.1, 0, (tl_filling)how, 8, &a, &err));
        CHECK_OK(tl_sample_volume(t, right, 0.1, 0, (tl_filling)how, 8, &b, &err));
        CHECK_OK(tl_sample_volume(t, both, 0.1, 0, (tl_filling)how, 8, &c, &err));
        assert_int_equal(a.count, 1000);
        assert_int_equal(b.count, 1000);
        assert_int_equal(c.count, 2000);
        for (int32_t i = 0; i < a.count; i++) CHECK_LE(nearest_to(&c, a.at[i]), 0);
        tl_points_free(&a);
        tl_points_free(&b);
        tl_points_free(&c);
    }
    tl_points p;
    CHECK_OK(tl_sample_volume(t, unit, 0.1, 0.1, TL_FILL_LATTICE, 0, &p, &err));
    assert_int_equal(p.count, 512); /* one layer less on every side */
    tl_points_free(&p);
    CHECK_OK(tl_sample_volume(t, unit, 0.1, 0.6, TL_FILL_BLUE_NOISE, 0, &p, &err));
    assert_int_equal(p.count, 0);
    tl_points_free(&p);
    tl_shape_tree_free(t);
}

static void seeds_matter(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int ball = tl_shape_sphere(t, 1, &err);
    for (int how = 1; how < 3; how++) {
        tl_points a, b, c;
        CHECK_OK(tl_sample_volume(t, ball, 0.1, 0, (tl_filling)how, 1, &a, &err));
        CHECK_OK(tl_sample_volume(t, ball, 0.1, 0, (tl_filling)how, 2, &b, &err));
        CHECK_OK(tl_sample_volume(t, ball, 0.1, 0, (tl_filling)how, 1, &c, &err));
        assert_int_equal(a.count, c.count);
        assert_memory_equal(a.at, c.at, sizeof *a.at * (size_t)a.count);
        int same = 0;
        for (int32_t i = 0; i < a.count && i < b.count; i++) same += a.at[i].x == b.at[i].x;
        assert_true(same < 3);
        tl_points_free(&a);
        tl_points_free(&b);
        tl_points_free(&c);
    }
    tl_shape_tree_free(t);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    tl_points p;
    int ball = tl_shape_sphere(t, 1, &err), ground = tl_shape_half_space(t, (tl_vec3){0, 1, 0}, 0, &err);
    assert_int_equal(tl_sample_volume(t, ground, 0.1, 0, TL_FILL_LATTICE, 0, &p, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_sample_volume(t, ball, -1, 0, TL_FILL_LATTICE, 0, &p, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_sample_volume(t, ball, 0.1, NAN, TL_FILL_LATTICE, 0, &p, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_sample_volume(t, ball, 1e-7, 0, TL_FILL_LATTICE, 0, &p, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_sample_surface(t, ball, 0, 0, TL_SAMPLE_POISSON, 0, &p, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_sample_surface(t, ball, 0.1, 1.5, TL_SAMPLE_POISSON, 0, &p, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "1.5 below its surface"));
    assert_null(p.at);
    tl_shape_tree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surface_points_lie_at_their_depth),
        cmocka_unit_test(poisson_disks_keep_their_distance_and_cover),
        cmocka_unit_test(poisson_disks_are_fair),
        cmocka_unit_test(volumes_are_filled),
        cmocka_unit_test(blue_noise_keeps_its_distance),
        cmocka_unit_test(lattices_match_across_shapes),
        cmocka_unit_test(seeds_matter),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
