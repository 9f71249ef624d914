/* Distances to meshes against a search over all triangles in long double, signs against exact winding numbers. */
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "check.h"
#include "geom/mesh_distance.h"
#include "geom/triangle_tree.h"
#include "meshes.h"

static talus_error err;

typedef struct real3 {
    long double x, y, z;
} real3;

static real3 less(tl_vec3 a, tl_vec3 b)
{
    return (real3){(long double)a.x - b.x, (long double)a.y - b.y, (long double)a.z - b.z};
}
static long double dot(real3 a, real3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static real3 along(real3 a, long double t, real3 b) { return (real3){a.x + t * b.x, a.y + t * b.y, a.z + t * b.z}; }

/* Squared distance to segment, from ap and ab. */
static long double to_edge(real3 ap, real3 ab)
{
    long double t = dot(ap, ab) / dot(ab, ab);
    t = t > 0 ? t < 1 ? t : 1 : 0;
    real3 r = along(ap, -t, ab);
    return dot(r, r);
}

/* Solves for the foot's barycentric coordinates; inside, the distance to the plane, else to the nearest edge. */
static long double to_triangle(tl_vec3 p, tl_vec3 a, tl_vec3 b, tl_vec3 c)
{
    real3 ab = less(b, a), ac = less(c, a), bc = less(c, b), ap = less(p, a), bp = less(p, b);
    long double best = to_edge(ap, ab), d = to_edge(ap, ac), e = to_edge(bp, bc);
    best = d < best ? d : best;
    best = e < best ? e : best;
    long double g11 = dot(ab, ab), g12 = dot(ab, ac), g22 = dot(ac, ac), det = g11 * g22 - g12 * g12;
    long double u = (g22 * dot(ap, ab) - g12 * dot(ap, ac)) / det, v = (g11 * dot(ap, ac) - g12 * dot(ap, ab)) / det;
    if (u > 0 && v > 0 && u + v < 1) {
        real3 r = along(along(ap, -u, ab), -v, ac);
        d = dot(r, r);
        best = d < best ? d : best;
    }
    return best;
}

static double exact_winding(const tl_trimesh *m, tl_vec3 p)
{
    double sum = 0;
    for (int32_t t = 0; t < m->triangles; t++) {
        const int32_t *f = m->triangle[t];
        sum += tl_triangle_winding(p, m->vertex[f[0]], m->vertex[f[1]], m->vertex[f[2]]);
    }
    return sum;
}

/* A third of the points anywhere around the mesh, a third close to the surface, a third right beyond vertices
 * and edges, where the nearest feature and its normal are most in doubt. */
static tl_vec3 test_point(const tl_trimesh *m, tl_box3 box, uint64_t k)
{
    uint64_t seed = 11;
    tl_vec3 r = {tl_random(seed, k, 0), tl_random(seed, k, 1), tl_random(seed, k, 2)};
    tl_vec3 edge = tl_vec3_sub(box.hi, box.lo), off = tl_vec3_sub(r, tl_vec3_make(0.5, 0.5, 0.5));
    double size = tl_vec3_max_abs(edge);
    if (k % 3 == 0) return tl_vec3_add(tl_vec3_scale(0.5, tl_vec3_add(box.lo, box.hi)), tl_vec3_scale(1.6 * size, off));
    int32_t t = (int32_t)(tl_random(seed, k, 3) * m->triangles);
    const int32_t *f = m->triangle[t];
    double u = k % 3 == 1 ? tl_random(seed, k, 4) : 0, v = k % 2 ? (1 - u) * tl_random(seed, k, 5) : 0;
    tl_vec3 q = tl_vec3_add(tl_vec3_scale(1 - u - v, m->vertex[f[0]]),
                            tl_vec3_add(tl_vec3_scale(u, m->vertex[f[1]]), tl_vec3_scale(v, m->vertex[f[2]])));
    double reach = size * pow(10, -1 - 6 * tl_random(seed, k, 6));
    return tl_vec3_add_scaled(q, reach, off);
}

static void compare(const char *name, tl_trimesh *m, int points)
{
    tl_mesh_distance *d;
    CHECK_OK(tl_mesh_distance_create(&d, m, &err));
    tl_box3 box = tl_trimesh_bounds(m);
    double size = tl_vec3_max_abs(tl_vec3_sub(box.hi, box.lo)), worst = 0;
    int wrong = 0, inside = 0;
#pragma omp parallel for schedule(static) reduction(max : worst) reduction(+ : wrong, inside)
    for (int k = 0; k < points; k++) {
        tl_vec3 p = test_point(m, box, (uint64_t)k);
        long double best = INFINITY;
        for (int32_t t = 0; t < m->triangles; t++) {
            const int32_t *f = m->triangle[t];
            long double d2 = to_triangle(p, m->vertex[f[0]], m->vertex[f[1]], m->vertex[f[2]]);
            best = d2 < best ? d2 : best;
        }
        double distance = tl_mesh_distance_at(d, p);
        worst = fmax(worst, (double)fabsl(fabsl((long double)distance) - sqrtl(best)));
        wrong += (distance < 0) != (exact_winding(m, p) > 0.5);
        inside += distance < 0;
        int32_t triangle;
        tl_vec3 q = tl_mesh_distance_nearest(d, p, &triangle);
        worst = fmax(worst, fabs(tl_vec3_norm(tl_vec3_sub(p, q)) - fabs(distance)));
    }
    print_message("%s: %d points, %d inside, %d wrong signs, distance error / size %.2g\n", name, points, inside, wrong,
                  worst / size);
    assert_true(inside > points / 50 && inside < points - points / 50);
    assert_int_equal(wrong, 0);
    CHECK_LE(worst, 1e-12 * size);
    tl_mesh_distance_free(d);
    tl_trimesh_free(m);
}

static void sphere(void **state)
{
    (void)state;
    tl_trimesh m;
    CHECK_OK(tl_trimesh_icosphere(&m, 0.7, 2, &err));
    tl_test_mesh_transform(&m, tl_mat3_identity(), tl_vec3_make(100, -50, 20)); /* off the origin */
    compare("icosphere", &m, 10000);
}

static void torus(void **state)
{
    (void)state;
    tl_trimesh m;
    CHECK_OK(tl_test_mesh_torus(&m, 1, 0.35, 16, 8, &err));
    compare("torus", &m, 10000);
}

static void box(void **state)
{
    (void)state;
    tl_trimesh m;
    CHECK_OK(tl_trimesh_box(&m, tl_vec3_make(1, 0.5, 2), 2, &err));
    compare("box", &m, 30000);
}

static void plate(void **state)
{
    (void)state;
    tl_trimesh m;
    CHECK_OK(tl_trimesh_box(&m, tl_vec3_make(1, 1e-3, 1), 2, &err));
    compare("plate", &m, 20000);
}

/* An L, extruded: one concave edge. A spike on one corner makes a vertex whose normal is far from its faces'. */
static void concave(void **state)
{
    (void)state;
    static const double l[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    static const int32_t cap[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
    tl_trimesh m;
    CHECK_OK(tl_trimesh_create(&m, 12, 20, &err));
    for (int i = 0; i < 6; i++) {
        m.vertex[i] = tl_vec3_make(l[i][0], l[i][1], 0);
        m.vertex[i + 6] = tl_vec3_make(l[i][0], l[i][1], 1);
        int j = (i + 1) % 6;
        const int32_t wall[2][3] = {{i, j, j + 6}, {i, j + 6, i + 6}};
        memcpy(m.triangle[2 * i], wall, sizeof wall);
    }
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < 3; k++) {
            m.triangle[12 + t][k] = cap[t][2 - k];
            m.triangle[16 + t][k] = cap[t][k] + 6;
        }
    m.vertex[6] = tl_vec3_make(-1.5, -1.2, 1.3);
    compare("L with a spike", &m, 30000);
}

/* Shallow ridges next to needles: long thin triangles of all directions. */
static void needles(void **state)
{
    (void)state;
    tl_trimesh m;
    CHECK_OK(tl_test_mesh_torus(&m, 1, 0.5, 6, 40, &err));
    tl_test_mesh_transform(&m, tl_mat3_diagonal(1, 1, 0.01), tl_vec3_make(0, 0, 0));
    compare("flat torus of needles", &m, 5000);
}

/* Points exactly on edges' and vertices' planes of symmetry, and surfaces that touch in a point. */
static void pinched(void **state)
{
    (void)state;
    tl_trimesh m, other;
    CHECK_OK(tl_trimesh_box(&m, tl_vec3_make(1, 1, 1), 1, &err));
    CHECK_OK(tl_trimesh_box(&other, tl_vec3_make(1, 1, 1), 1, &err));
    tl_test_mesh_transform(&other, tl_mat3_identity(), tl_vec3_make(1, 1, 1));
    CHECK_OK(tl_test_mesh_append(&m, &other, &err));
    CHECK_OK(tl_trimesh_weld(&m, 0, &err));
    tl_trimesh_free(&other);
    compare("two boxes that share a corner", &m, 10000);
}

/* Where the surface cuts itself the winding number says what is inside: the union. */
static void cut(void **state)
{
    (void)state;
    tl_trimesh m, other;
    CHECK_OK(tl_trimesh_icosphere(&m, 1, 2, &err));
    CHECK_OK(tl_trimesh_icosphere(&other, 1, 2, &err));
    tl_test_mesh_transform(&other, tl_mat3_identity(), tl_vec3_make(0.9, 0.1, 0.05));
    CHECK_OK(tl_test_mesh_append(&m, &other, &err));
    tl_trimesh_free(&other);
    compare("two spheres that overlap", &m, 2000);
}

static void a_triangle_without_area_does_no_harm(void **state)
{
    (void)state;
    tl_trimesh m;
    CHECK_OK(tl_trimesh_box(&m, tl_vec3_make(1, 1, 1), 1, &err));
    /* Split the edge (u, v) of one triangle at its middle w; the other side keeps the whole edge, so a
     * triangle (u, w, v) without area closes the gap. */
    tl_trimesh n;
    CHECK_OK(tl_trimesh_create(&n, 9, 14, &err));
    memcpy(n.vertex, m.vertex, 8 * sizeof *m.vertex);
    memcpy(n.triangle, m.triangle, 12 * sizeof *m.triangle);
    int32_t a = m.triangle[0][0], b = m.triangle[0][1], c = m.triangle[0][2];
    n.vertex[8] = tl_vec3_scale(0.5, tl_vec3_add(m.vertex[a], m.vertex[b]));
    const int32_t fresh[3][3] = {{a, 8, c}, {8, b, c}, {a, b, 8}};
    memcpy(n.triangle[0], fresh[0], sizeof fresh[0]);
    memcpy(n.triangle[12], fresh[1], 2 * sizeof fresh[1]);
    tl_trimesh_free(&m);
    tl_trimesh_report r;
    CHECK_OK(tl_trimesh_check(&n, &r, &err));
    assert_true(r.closed && r.degenerate == 1);
    compare("box with a flat triangle", &n, 10000);
}

static void refused_with_the_reason(void **state)
{
    (void)state;
    tl_trimesh m;
    tl_mesh_distance *d;
    CHECK_OK(tl_trimesh_box(&m, tl_vec3_make(1, 1, 1), 1, &err));
    m.triangles--;
    assert_int_equal(tl_mesh_distance_create(&d, &m, &err), TALUS_BAD_INPUT);
    assert_string_equal(err.message, "a mesh must be closed to have a distance: 3 open edges: the surface has holes");
    assert_null(d);
    m.triangles++;
    tl_test_mesh_flip(&m);
    assert_int_equal(tl_mesh_distance_create(&d, &m, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "inside out"));
    tl_test_mesh_flip(&m);
    m.triangle[3][1] = 8;
    assert_int_equal(tl_mesh_distance_create(&d, &m, &err), TALUS_BAD_INPUT);
    tl_trimesh_free(&m);
    CHECK_OK(tl_trimesh_box(&m, tl_vec3_make(1, 1, 1), 1, &err));
    tl_test_mesh_transform(&m, tl_mat3_diagonal(1e-13, 1e-13, 1e-13), tl_vec3_make(0, 0, 0));
    assert_int_equal(tl_mesh_distance_create(&d, &m, &err), TALUS_BAD_INPUT);
    m.triangles = 0;
    assert_int_equal(tl_mesh_distance_create(&d, &m, &err), TALUS_BAD_INPUT);
    tl_trimesh_free(&m);
}

static void odd_points(void **state)
{
    (void)state;
    tl_trimesh m;
    tl_mesh_distance *d;
    CHECK_OK(tl_trimesh_box(&m, tl_vec3_make(1, 1, 1), 1, &err));
    CHECK_OK(tl_mesh_distance_create(&d, &m, &err));
    assert_true(isnan(tl_mesh_distance_at(d, tl_vec3_make(NAN, 0, 0))));
    assert_true(tl_mesh_distance_at(d, tl_vec3_make(INFINITY, 0, 0)) == INFINITY);
    CHECK_REL(tl_mesh_distance_at(d, tl_vec3_make(1e30, 0, 0)), 1e30, 1e-15);
    CHECK_REL(tl_mesh_distance_at(d, tl_vec3_make(0, 1e17, 0)), 1e17, 1e-15);
    assert_true(tl_mesh_distance_at(d, tl_vec3_make(0, 0, 0)) == -0.5);
    assert_true(tl_mesh_distance_at(d, tl_vec3_make(0.5, 0.5, 0.5)) == 0);
    assert_true(tl_mesh_distance_at(d, tl_vec3_make(0.5, 0.25, 0.1)) == 0);
    CHECK_NEAR(tl_mesh_distance_at(d, tl_vec3_make(1.5, 0, 0)), 1, 0);
    int32_t t = -5;
    tl_mesh_distance_nearest(d, tl_vec3_make(NAN, 0, 0), &t);
    assert_true(t >= 0 && t < 12);
    assert_int_equal(tl_mesh_distance_mesh(d)->triangles, 12);
    tl_mesh_distance_free(d);
    tl_mesh_distance_free(NULL);
    tl_trimesh_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sphere),
        cmocka_unit_test(torus),
        cmocka_unit_test(box),
        cmocka_unit_test(plate),
        cmocka_unit_test(concave),
        cmocka_unit_test(needles),
        cmocka_unit_test(pinched),
        cmocka_unit_test(cut),
        cmocka_unit_test(a_triangle_without_area_does_no_harm),
        cmocka_unit_test(refused_with_the_reason),
        cmocka_unit_test(odd_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
