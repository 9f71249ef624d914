/* The lattice mesher: what tetmesh.h promises, on smooth shapes, sharp ones, thin ones and noise. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "check.h"
#include "geom/tetmesh.h"

static talus_error err;

/* Everything that holds for any shape. Returns the quality. */
static tl_tet_quality check_mesh(const tl_tetmesh *m, const char *what, double edge)
{
    tl_tet_quality q;
    CHECK_OK(tl_tetmesh_quality(m, &q, &err));
    if (q.inverted || q.unused_vertices)
        fail_msg("%s at %g: %d inverted, %d unused vertices", what, edge, q.inverted, q.unused_vertices);
    tl_trimesh surface;
    tl_trimesh_report r;
    int32_t *vertex_of = TL_NEW(int32_t, m->vertices);
    CHECK_OK(tl_tetmesh_boundary(m, &surface, vertex_of, &err));
    CHECK_OK(tl_trimesh_check(&surface, &r, &err));
    assert_int_equal(surface.triangles, q.boundary_triangles);
    if (!r.closed || r.nonmanifold_vertices || r.inverted || r.degenerate || r.duplicate)
        fail_msg("%s at %g: boundary with %d open, %d non-manifold, %d flipped edges, %d non-manifold vertices%s", what,
                 edge, r.open_edges, r.nonmanifold_edges, r.flipped_edges, r.nonmanifold_vertices,
                 r.inverted ? ", inverted" : "");
    CHECK_REL(r.volume, q.volume, 1e-11); /* the same volume by two sums */
    for (int32_t v = 0; v < surface.vertices; v++)
        assert_memory_equal(&surface.vertex[v], &m->vertex[vertex_of[v]], sizeof(tl_vec3));
    tl_trimesh_free(&surface);
    tl_free(vertex_of);
    return q;
}

static void print_row(const char *what, double edge, const tl_tetmesh *m, const tl_tet_quality *q,
                      const tl_lattice_report *r, double volume)
{
    print_message(
        "%-14s edge %-8.4g %7d tets  volume %+6.2f %%  dihedral %4.1f .. %5.1f  off surface %.2f edges  %d parts\n",
        what, edge, m->tets, 100 * (q->volume / volume - 1), q->dihedral_min_deg, q->dihedral_max_deg,
        r->off_surface / edge, q->components);
}

typedef struct shape {
    const char *name;
    int node;
    bool smooth;
} shape;

#define SHAPES 12
static int make_shapes(tl_shape_tree *t, shape out[SHAPES])
{
    int n = 0;
    const double turn[4] = {0.8, 0.36, 0.48, 0}, still[4] = {1, 0, 0, 0};
    out[n++] = (shape){"sphere", tl_shape_sphere(t, 0.5, &err), true};
    out[n++] = (shape){"ellipsoid", tl_shape_ellipsoid(t, (tl_vec3){0.5, 0.3, 0.2}, &err), true};
    out[n++] = (shape){"torus", tl_shape_torus(t, 0.35, 0.12, &err), true};
    out[n++] = (shape){"torus, turned", tl_shape_place(t, out[2].node, (tl_vec3){0.3, 0.1, -2}, turn, 1.7, &err), true};
    out[n++] =
        (shape){"capsule", tl_shape_capsule(t, (tl_vec3){0, -0.3, 0}, (tl_vec3){0.1, 0.3, 0.2}, 0.2, 0.12, &err), true};
    int left = tl_shape_place(t, out[0].node, (tl_vec3){-0.4, 0, 0}, still, 0.7, &err),
        right = tl_shape_place(t, out[0].node, (tl_vec3){0.3, 0.2, 0.1}, still, 0.8, &err);
    out[n++] = (shape){"blobs", tl_shape_smooth_union(t, 2, (int[2]){left, right}, 0.25, &err), true};
    out[n++] = (shape){"rounded box", tl_shape_box(t, (tl_vec3){1, 0.7, 0.5}, 0.15, &err), true};
    out[n++] = (shape){"shell", tl_shape_shell(t, out[0].node, 0.1, &err), true};
    out[n++] = (shape){"box", tl_shape_box(t, (tl_vec3){1, 0.7, 0.43}, 0, &err), false};
    out[n++] = (shape){"cylinder", tl_shape_cylinder(t, 0.3, 0.5, 0, &err), false};
    out[n++] = (shape){"cone", tl_shape_cone(t, 0.4, 0.05, 0.6, &err), false};
    out[n++] = (shape){"hemisphere", tl_shape_hemisphere(t, 0.4, &err), false};
    assert_int_equal(n, SHAPES);
    for (int i = 0; i < n; i++)
        if (out[i].node < 0) fail_msg("%s: %s", out[i].name, err.message);
    return n;
}

/* Suggested size: volume within 1 %, angles of at least 8 degrees, one piece. Finer: the same. Coarser, where walls
 * may break: angles. */
static void library_shapes(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    shape shapes[SHAPES];
    make_shapes(t, shapes);
    for (int i = 0; i < SHAPES; i++) {
        double suggested = tl_tetmesh_suggested_edge(t, shapes[i].node);
        const double edges[3] = {suggested, 1.9 * suggested, 0.83 * suggested};
        tl_mass mass;
        CHECK_OK(tl_shape_mass(t, shapes[i].node, 100, &mass, &err));
        for (int k = 0; k < 3; k++) {
            tl_tetmesh m;
            tl_lattice_report r;
            CHECK_OK(tl_tetmesh_from_shape_reported(t, shapes[i].node, edges[k], &m, &r, &err));
            tl_tet_quality q = check_mesh(&m, shapes[i].name, edges[k]);
            print_row(shapes[i].name, edges[k], &m, &q, &r, mass.volume);
            if (k != 1) assert_int_equal(q.components, 1);
            if (k != 1) assert_int_equal(r.removed_tets + r.split_vertices, 0);
            CHECK_LE(8, q.dihedral_min_deg);
            CHECK_LE(q.dihedral_max_deg, 165);
            if (k != 1) CHECK_REL(q.volume, mass.volume, 0.01);
            if (shapes[i].smooth && q.components == 1)
                CHECK_LE(r.off_surface,
                         0.12 * edges[k]); /* sagitta of a triangle of one edge at the curvatures above */
            CHECK_LE(r.off_surface, 0.5 * edges[k]);
            tl_tetmesh_free(&m);
        }
    }
    tl_shape_tree_free(t);
}

/* Trilinear noise at a lattice's scale: every case of the stencils, many crossings where no smooth surface has any. */
typedef struct noise {
    uint64_t seed;
    double cell;
} noise;
static double noise_at(const void *ctx, tl_vec3 p)
{
    const noise *n = ctx;
    double x[3] = {p.x / n->cell, p.y / n->cell, p.z / n->cell}, low[3], sum = 0;
    for (int a = 0; a < 3; a++) low[a] = floor(x[a]);
    for (int c = 0; c < 8; c++) {
        double weight = 1;
        uint64_t at[3];
        for (int a = 0; a < 3; a++) {
            bool high = c >> a & 1;
            weight *= high ? x[a] - low[a] : 1 - x[a] + low[a];
            at[a] = (uint64_t)((int64_t)low[a] + high + 1000);
        }
        sum += weight * ((double)(tl_random_bits(n->seed, at[0] * 4096 + at[1], at[2]) >> 11) * 0x1p-52 - 1);
    }
    return 0.25 * n->cell * sum;
}

static void noise_keeps_the_bounds(void **state)
{
    (void)state;
    double least = 180, max = 0;
    int64_t tets = 0, copies = 0, removed = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        noise n = {seed, 0.1 * (0.4 + 0.25 * (double)seed)};
        tl_tetmesh m;
        tl_lattice_report r;
        tl_box3 box = {{-0.8, -0.8, -0.8}, {0.8, 0.8, 0.8}};
        CHECK_OK(tl_tetmesh_from_field((tl_field){noise_at, &n}, box, 0.1, &m, &r, &err));
        tl_tet_quality q = check_mesh(&m, "noise", 0.1);
        least = fmin(least, q.dihedral_min_deg), max = fmax(max, q.dihedral_max_deg);
        tets += m.tets, copies += r.split_vertices, removed += r.removed_tets;
        tl_tetmesh_free(&m);
    }
    print_message("%lld tets of noise: dihedral %.2f .. %.2f, %lld vertices copied, %lld tets removed\n",
                  (long long)tets, least, max, (long long)copies, (long long)removed);
    CHECK_LE(10.5, least); /* 10.82 .. 164.6 in 22e6 tets of other seeds */
    CHECK_LE(max, 165);
    assert_true(copies > 0 && removed > 0); /* the repairs were needed, and the boundary is a manifold all the same */
}

static void box_on_the_lattice_is_exact(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int node = tl_shape_box(t, (tl_vec3){1, 0.75, 0.5}, 0, &err);
    tl_tetmesh m;
    tl_lattice_report r;
    CHECK_OK(tl_tetmesh_from_shape_reported(t, node, 0.125, &m, &r, &err));
    tl_tet_quality q = check_mesh(&m, "box", 0.125);
    CHECK_REL(q.volume, 0.375, 1e-12);
    CHECK_NEAR(r.off_surface, 0, 1e-12);
    tl_tetmesh_free(&m);
    tl_shape_tree_free(t);
}

static void thin_shapes_are_reported(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int sphere = tl_shape_sphere(t, 0.5, &err), shell = tl_shape_shell(t, sphere, 0.01, &err),
        dot = tl_shape_sphere(t, 1e-3, &err);
    const double still[4] = {1, 0, 0, 0};
    int pair = tl_shape_union(
        t, 2, (int[2]){sphere, tl_shape_place(t, dot, (tl_vec3){0.61, 0.03, 0.02}, still, 1, &err)}, &err);
    tl_tetmesh m;
    tl_lattice_report r;
    /* a wall of a tenth of the lattice's edge: whatever comes out is a good mesh, or a message */
    for (int i = 0; i < 12; i++) {
        double edge = 0.03 * pow(1.25, i);
        talus_status status = tl_tetmesh_from_shape_reported(t, shell, edge, &m, &r, &err);
        if (status == TALUS_OK) {
            tl_tet_quality q = check_mesh(&m, "thin shell", edge);
            CHECK_LE(10.5, q.dihedral_min_deg);
        } else {
            assert_int_equal(status, TALUS_BAD_INPUT);
            assert_non_null(strstr(err.message, "smaller edge"));
        }
        tl_tetmesh_free(&m);
    }
    /* a dot beside a ball is missed */
    CHECK_OK(tl_tetmesh_from_shape(t, pair, 0.1, &m, &err));
    assert_int_equal(check_mesh(&m, "ball and dot", 0.1).components, 1);
    assert_true(tl_shape_feature_size(t, pair) < 0.1); /* which is how a caller knows */
    tl_tetmesh_free(&m);
    /* nothing fits */
    const double off[4] = {1, 0, 0, 0};
    int away = tl_shape_union(t, 2,
                              (int[2]){tl_shape_place(t, dot, (tl_vec3){0.13, 0.11, 0.17}, off, 1, &err),
                                       tl_shape_place(t, dot, (tl_vec3){-0.36, 0, 0}, off, 1, &err)},
                              &err);
    assert_int_equal(tl_tetmesh_from_shape(t, away, 0.5, &m, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "thinner than the lattice"));
    tl_shape_tree_free(t);
}

static void bad_requests(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int sphere = tl_shape_sphere(t, 0.5, &err), half = tl_shape_half_space(t, (tl_vec3){0, 1, 0}, 0, &err);
    tl_tetmesh m;
    static const struct {
        double edge;
        const char *says;
    } bad[] = {{0, "edge must be positive, got 0"}, {-1, "got -1"},      {NAN, "edge must be positive"},
               {INFINITY, "edge must be positive"}, {1e-5, "too small"}, {1e-300, "too small"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(tl_tetmesh_from_shape(t, sphere, bad[i].edge, &m, &err), TALUS_BAD_INPUT);
        if (!strstr(err.message, bad[i].says)) fail_msg("edge %g: %s", bad[i].edge, err.message);
        assert_null(m.vertex);
    }
    assert_int_equal(tl_tetmesh_from_shape(t, half, 0.1, &m, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "unbounded"));
    tl_shape_tree_free(t);
}

static double nan_at(const void *ctx, tl_vec3 p)
{
    (void)ctx;
    return p.x > 0.2 ? NAN : tl_vec3_norm(p) - 0.5;
}

static void nan_is_outside(void **state)
{
    (void)state;
    tl_tetmesh m;
    tl_box3 box = {{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}};
    CHECK_OK(tl_tetmesh_from_field((tl_field){nan_at, NULL}, box, 0.1, &m, NULL, &err));
    check_mesh(&m, "half NaN", 0.1);
    for (int32_t v = 0; v < m.vertices; v++) CHECK_LE(m.vertex[v].x, 0.2 + 1e-9);
    tl_tetmesh_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_shapes),
        cmocka_unit_test(noise_keeps_the_bounds),
        cmocka_unit_test(box_on_the_lattice_is_exact),
        cmocka_unit_test(thin_shapes_are_reported),
        cmocka_unit_test(bad_requests),
        cmocka_unit_test(nan_is_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
