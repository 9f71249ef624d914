/* Same mesh for one and two threads, and on a second run. */
#include "geom/tetmesh.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "check.h"

static talus_error err;

static uint64_t hash_of(const tl_shape_tree *t, int node, double edge, int threads)
{
    tl_tetmesh m;
    tl_lattice_report r = {0};
    tl_tet_quality q;
    tl_threads_set(threads);
    CHECK_OK(tl_tetmesh_from_shape_reported(t, node, edge, &m, &r, &err));
    CHECK_OK(tl_tetmesh_quality(&m, &q, &err));
    uint64_t h = tl_hash(TL_HASH_START, m.vertex, sizeof *m.vertex * (size_t)m.vertices);
    h = tl_hash(h, m.tet, sizeof *m.tet * (size_t)m.tets);
    h = tl_hash(h, &r.off_surface, sizeof r.off_surface);
    const double figures[] = {q.volume, q.smallest_volume, q.edge_mean, q.dihedral_min_deg, q.dihedral_max_deg};
    h = tl_hash(h, figures, sizeof figures);
    tl_tetmesh_free(&m);
    return h;
}

static void same_bits(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    const double turn[4] = {0.8, 0.36, 0.48, 0};
    int torus = tl_shape_place(t, tl_shape_torus(t, 0.35, 0.12, &err), (tl_vec3){0.3, 0.1, -2}, turn, 1, &err);
    int thin = tl_shape_shell(t, tl_shape_sphere(t, 0.4, &err), 0.02, &err); /* splits and removals */
    const struct {
        int node;
        double edge;
    } cases[] = {{torus, 0.03}, {torus, 0.011}, {thin, 0.03}};
    for (int i = 0; i < 3; i++) {
        uint64_t one = hash_of(t, cases[i].node, cases[i].edge, 1);
        assert_true(hash_of(t, cases[i].node, cases[i].edge, 2) == one);
        assert_true(hash_of(t, cases[i].node, cases[i].edge, 2) == one);
        assert_true(hash_of(t, cases[i].node, cases[i].edge, 3) == one);
        assert_false(hash_of(t, cases[i].node, cases[i].edge * 1.001, 2) == one); /* the hash sees the mesh */
    }
    tl_shape_tree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
