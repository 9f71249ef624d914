#include "geom/trimesh.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "geom/triangle_tree.h"
#include "geom/trimesh_edges.h"

/* ---- edges ---- */

static bool repeats(const int32_t f[3]) { return f[0] == f[1] || f[1] == f[2] || f[2] == f[0]; }

talus_status tl_trimesh_edges_create(tl_trimesh_edges *e, const tl_trimesh *m, talus_error *err)
{
    *e = (tl_trimesh_edges){0};
    if (m->triangles > INT32_MAX / 3)
        return TL_FAIL(err, TALUS_BAD_INPUT, "a mesh of %d triangles is too large to check", m->triangles);
    size_t n = 3 * (size_t)m->triangles;
    e->key = TL_NEW(uint64_t, n);
    e->side = TL_NEW(int32_t, n);
    uint64_t *spare_key = TL_NEW(uint64_t, n);
    int32_t *spare_side = TL_NEW(int32_t, n);
    talus_status status = TALUS_OK;
    if (!e->key || !e->side || !spare_key || !spare_side) {
        tl_trimesh_edges_free(e);
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the edges of %d triangles", m->triangles);
    } else {
        for (int32_t t = 0; t < m->triangles; t++) {
            const int32_t *f = m->triangle[t];
            for (int k = 0; k < 3 && !repeats(f); k++) {
                uint32_t a = (uint32_t)f[k], b = (uint32_t)f[(k + 1) % 3];
                e->key[e->sides] = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
                e->side[e->sides++] = 3 * t + k;
            }
        }
        tl_radix_sort(e->sides, e->key, e->side, spare_key, spare_side);
    }
    tl_free(spare_key);
    tl_free(spare_side);
    return status;
}

void tl_trimesh_edges_free(tl_trimesh_edges *e)
{
    tl_free(e->key);
    tl_free(e->side);
    *e = (tl_trimesh_edges){0};
}

/* Sets of items by their smallest member. */
static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}
static void join(int32_t *parent, int32_t i, int32_t j)
{
    i = root_of(parent, i);
    j = root_of(parent, j);
    if (i < j)
        parent[j] = i;
    else
        parent[i] = j;
}

/* The corner of triangle t at this vertex. */
static int32_t corner_at(const tl_trimesh *m, int32_t t, uint32_t vertex)
{
    const int32_t *f = m->triangle[t];
    return 3 * t + ((uint32_t)f[0] == vertex ? 0 : (uint32_t)f[1] == vertex ? 1 : 2);
}

void tl_trimesh_fans(const tl_trimesh_edges *e, const tl_trimesh *m, int32_t *fan)
{
    for (int32_t i = 0; i < 3 * m->triangles; i++) fan[i] = i;
    for (int64_t i = 0; i < e->sides; i++) {
        bool again = i > 0 && e->key[i] == e->key[i - 1];
        if (!again) continue;
        int32_t s = e->side[i - 1] / 3, t = e->side[i] / 3;
        uint32_t a = (uint32_t)(e->key[i] >> 32), b = (uint32_t)e->key[i];
        join(fan, corner_at(m, s, a), corner_at(m, t, a));
        join(fan, corner_at(m, s, b), corner_at(m, t, b));
    }
    for (int32_t i = 0; i < 3 * m->triangles; i++) fan[i] = repeats(m->triangle[i / 3]) ? -1 : root_of(fan, i);
}

/* ---- the report ---- */

static void count_edges(const tl_trimesh_edges *e, const tl_trimesh *m, tl_trimesh_report *r)
{
    for (int64_t i = 0, end; i < e->sides; i = end) {
        end = tl_trimesh_edge_end(e, i);
        if (end - i == 1) r->open_edges++;
        if (end - i > 2) r->nonmanifold_edges++;
        if (end - i != 2) continue;
        int32_t s = e->side[i], t = e->side[i + 1];
        r->flipped_edges += m->triangle[s / 3][s % 3] == m->triangle[t / 3][t % 3];
    }
}

/* scratch [3 triangles] */
static void count_components(const tl_trimesh_edges *e, const tl_trimesh *m, int32_t *scratch, tl_trimesh_report *r)
{
    for (int32_t t = 0; t < m->triangles; t++) scratch[t] = t;
    for (int64_t i = 1; i < e->sides; i++)
        if (e->key[i] == e->key[i - 1]) join(scratch, e->side[i] / 3, e->side[i - 1] / 3);
    for (int32_t t = 0; t < m->triangles; t++) r->components += scratch[t] == t && !repeats(m->triangle[t]);
}

/* uses [vertices]: fans at a vertex */
static void count_vertices(const tl_trimesh *m, const int32_t *fan, int32_t *uses, tl_trimesh_report *r)
{
    memset(uses, 0, sizeof *uses * (size_t)m->vertices);
    for (int32_t i = 0; i < 3 * m->triangles; i++) {
        int32_t *u = &uses[m->triangle[i / 3][i % 3]];
        if (*u == 0) *u = -1; /* seen, if only by triangles that repeat a vertex */
        if (fan[i] == i) *u = *u < 0 ? 1 : *u + 1;
    }
    for (int32_t i = 0; i < m->vertices; i++) {
        r->unused_vertices += uses[i] == 0;
        r->nonmanifold_vertices += uses[i] > 1;
    }
}

bool tl_triangle_is_thin(tl_vec3 a, tl_vec3 b, tl_vec3 c)
{
    tl_vec3 ab = tl_vec3_sub(b, a), bc = tl_vec3_sub(c, b), ca = tl_vec3_sub(a, c);
    double longest2 = fmax(tl_vec3_norm2(ab), fmax(tl_vec3_norm2(bc), tl_vec3_norm2(ca)));
    return !(tl_vec3_norm2(tl_vec3_cross(bc, ca)) > 1e-28 * longest2 * longest2);
}

static void measure(const tl_trimesh *m, tl_trimesh_report *r)
{
    r->bounds = tl_trimesh_bounds(m);
    r->volume = tl_trimesh_mass(m).volume;
    for (int32_t t = 0; t < m->triangles; t++) {
        const int32_t *f = m->triangle[t];
        tl_vec3 a = m->vertex[f[0]], b = m->vertex[f[1]], c = m->vertex[f[2]];
        r->area += 0.5 * tl_vec3_norm(tl_vec3_cross(tl_vec3_sub(b, a), tl_vec3_sub(c, a)));
        r->degenerate += repeats(f) || tl_triangle_is_thin(a, b, c);
    }
}

/* The three vertices in ascending order. */
static void ordered(const int32_t f[3], int32_t out[3])
{
    int32_t lo = f[0] < f[1] ? f[0] : f[1], hi = f[0] < f[1] ? f[1] : f[0];
    out[0] = lo < f[2] ? lo : f[2];
    out[2] = hi > f[2] ? hi : f[2];
    out[1] = f[0] ^ f[1] ^ f[2] ^ out[0] ^ out[2];
}

/* Sorts by largest vertex, then by the two others. Takes the place of the edges, which are done with. */
static void count_duplicates(const tl_trimesh *m, tl_trimesh_edges *e, tl_trimesh_report *r)
{
    uint64_t *key = e->key;
    int32_t *order = e->side, n = 0, v[3], w[3];
    for (int32_t t = 0; t < m->triangles; t++) {
        if (repeats(m->triangle[t])) continue;
        ordered(m->triangle[t], v);
        key[n] = (uint64_t)v[2];
        order[n++] = t;
    }
    tl_radix_sort(n, key, order, key + n, order + n);
    for (int32_t i = 0; i < n; i++) {
        ordered(m->triangle[order[i]], v);
        key[i] = (uint64_t)v[0] << 32 | (uint64_t)v[1];
    }
    tl_radix_sort(n, key, order, key + n, order + n);
    for (int32_t i = 1; i < n; i++) {
        ordered(m->triangle[order[i - 1]], v);
        ordered(m->triangle[order[i]], w);
        r->duplicate += memcmp(v, w, sizeof v) == 0;
    }
}

static talus_status check_edges(const tl_trimesh *m, tl_trimesh_edges *e, tl_trimesh_report *r, talus_error *err)
{
    int32_t *fan = TL_NEW(int32_t, 3 * (int64_t)m->triangles), *uses = TL_NEW(int32_t, m->vertices);
    talus_status status = TALUS_OK;
    if (!fan || !uses) {
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory to check a mesh of %d triangles", m->triangles);
    } else {
        count_edges(e, m, r);
        count_components(e, m, fan, r);
        tl_trimesh_fans(e, m, fan);
        count_vertices(m, fan, uses, r);
        count_duplicates(m, e, r);
    }
    tl_free(fan);
    tl_free(uses);
    return status;
}

talus_status tl_trimesh_check_surface(const tl_trimesh *m, tl_trimesh_report *out, talus_error *err)
{
    *out = (tl_trimesh_report){0};
    tl_trimesh_edges e;
    TL_TRY(tl_trimesh_edges_create(&e, m, err));
    talus_status status = check_edges(m, &e, out, err);
    tl_trimesh_edges_free(&e);
    TL_TRY(status);
    measure(m, out);
    out->closed =
        m->triangles > 0 && out->components > 0 && out->open_edges + out->nonmanifold_edges + out->flipped_edges == 0;
    out->inverted = out->closed && out->volume < 0;
    return TALUS_OK;
}

talus_status tl_trimesh_check(const tl_trimesh *m, tl_trimesh_report *out, talus_error *err)
{
    TL_TRY(tl_trimesh_check_surface(m, out, err));
    tl_triangle_tree tree;
    TL_TRY(tl_triangle_tree_create(&tree, m, err));
    int64_t cuts = tl_triangle_tree_cuts(&tree);
    out->self_intersections = cuts < INT32_MAX ? (int32_t)cuts : INT32_MAX;
    tl_triangle_tree_free(&tree);
    return TALUS_OK;
}

int tl_trimesh_explain(const tl_trimesh_report *r, int max, char (*line)[160])
{
    const struct {
        int32_t count;
        const char *one, *many, *meaning;
    } problems[] = {
        {r->components == 0, NULL, NULL, "no triangles: there is no surface"},
        {r->open_edges, "open edge", "open edges", "the surface has holes"},
        {r->nonmanifold_edges, "edge with three or more triangles", "edges with three or more triangles",
         "inside and outside are not defined there"},
        {r->flipped_edges, "edge between triangles of opposite orientation",
         "edges between triangles of opposite orientation", "some triangles face the wrong way"},
        {r->inverted, NULL, NULL, "the volume is negative: the triangles face inwards, the mesh is inside out"},
        {r->nonmanifold_vertices, "vertex where surfaces touch in a point", "vertices where surfaces touch in a point",
         "the surface is pinched"},
        {r->degenerate, "triangle without area", "triangles without area", "they have no normal"},
        {r->duplicate, "triangle that repeats another", "triangles that repeat another", "the surface is doubled"},
        {r->self_intersections, "pair of triangles that cut each other", "pairs of triangles that cut each other",
         "the surface intersects itself"},
        {r->unused_vertices, "vertex that no triangle uses", "vertices that no triangle uses",
         "harmless, but they may be left over from an edit"},
    };
    int lines = 0;
    for (size_t i = 0; i < sizeof problems / sizeof problems[0] && lines < max; i++) {
        if (problems[i].count == 0) continue;
        if (!problems[i].one)
            snprintf(line[lines++], sizeof line[0], "%s", problems[i].meaning);
        else
            snprintf(line[lines++], sizeof line[0], "%d %s: %s", problems[i].count,
                     problems[i].count == 1 ? problems[i].one : problems[i].many, problems[i].meaning);
    }
    return lines;
}
