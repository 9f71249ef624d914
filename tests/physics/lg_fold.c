/* A strip of cloth that falls upright folds onto itself: with self contact nothing cuts through, and it comes to rest. */
#include "check.h"

#include "geom/triangle_tree.h"
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
                    .vertex = (tl_vec3 *)(void *)sim->state.lg.q,
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
        int64_t most = 0;
        for (int k = 0; k < 150; k++) {
            rigid_step(&c, 0.01);
            if (k % 4 == 3) most = cuts(c.sim) > most ? cuts(c.sim) : most;
        }
        if (self) {
            assert_int_equal(most, 0);
            CHECK_LE(c.sim->report.fastest, 0.05);
        } else
            assert_true(most > 10); /* what it is for */
        rigid_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_falling_strip_folds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
