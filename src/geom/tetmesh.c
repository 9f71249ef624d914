#include "geom/tetmesh.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "geom/tetmesh_repair.h"

/* Face opposite of each vertex, counter-clockwise from outside. */
const int tl_tet_face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

talus_status tl_tetmesh_create(tl_tetmesh *m, int32_t vertices, int32_t tets, talus_error *err)
{
    *m = (tl_tetmesh){0};
    if (vertices < 0 || tets < 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "a mesh cannot have %d vertices and %d tetrahedra", vertices, tets);
    m->vertex = TL_NEW(tl_vec3, vertices);
    m->tet = tl_alloc(sizeof *m->tet * (size_t)tets);
    if (!m->vertex || !m->tet) {
        tl_tetmesh_free(m);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a mesh of %d vertices and %d tetrahedra", vertices, tets);
    }
    m->vertices = vertices;
    m->tets = tets;
    return TALUS_OK;
}

void tl_tetmesh_free(tl_tetmesh *m)
{
    tl_free(m->vertex);
    tl_free(m->tet);
    tl_free(m->region);
    *m = (tl_tetmesh){0};
}

/* ---- neighbours ---- */

void tl_sort_by_key(int64_t count, const int32_t *order, int32_t *out, const int32_t *key, int stride, int32_t keys,
                    int64_t *start)
{
    memset(start, 0, sizeof(int64_t) * ((size_t)keys + 1));
    for (int64_t i = 0; i < count; i++) start[key[(int64_t)order[i] * stride] + 1]++;
    for (int32_t k = 0; k < keys; k++) start[k + 1] += start[k];
    for (int64_t i = 0; i < count; i++) out[start[key[(int64_t)order[i] * stride]]++] = order[i];
}

typedef struct face_table {
    int32_t (*corner)[3]; /* [4 tets] ascending */
    int32_t *order, *spare;
    int64_t *start;
} face_table;

static void free_faces(face_table *f)
{
    tl_free(f->corner);
    tl_free(f->order);
    tl_free(f->spare);
    tl_free(f->start);
}

static void ascending(int32_t v[3])
{
    for (int pass = 0; pass < 3; pass++) {
        int i = pass % 2;
        if (v[i] > v[i + 1]) {
            int32_t swap = v[i];
            v[i] = v[i + 1], v[i + 1] = swap;
        }
    }
}

static talus_status pair_faces(const tl_tetmesh *m, const face_table *f, int32_t (*neighbour)[4], talus_error *err)
{
    int64_t faces = 4 * (int64_t)m->tets;
    for (int64_t i = 0; i < faces; i++) neighbour[i / 4][i % 4] = -1;
    for (int64_t i = 0; i + 1 < faces; i++) {
        int32_t p = f->order[i], q = f->order[i + 1];
        const int32_t *c = f->corner[p];
        if (memcmp(c, f->corner[q], sizeof f->corner[p])) continue;
        if (neighbour[p / 4][p % 4] >= 0)
            return TL_FAIL(
                err, TALUS_BAD_INPUT,
                "the face of vertices %d, %d, %d belongs to three tetrahedra (%d, %d, %d): at most two can share one",
                c[0], c[1], c[2], neighbour[p / 4][p % 4], p / 4, q / 4);
        neighbour[p / 4][p % 4] = q / 4;
        neighbour[q / 4][q % 4] = p / 4;
    }
    return TALUS_OK;
}

talus_status tl_tetmesh_neighbours(const tl_tetmesh *m, int32_t (*neighbour)[4], talus_error *err)
{
    if (m->tets > INT32_MAX / 4)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "%d tetrahedra are more than the %d that can be sorted", m->tets,
                       INT32_MAX / 4);
    int32_t faces = 4 * m->tets;
    face_table f = {tl_alloc(sizeof *f.corner * (size_t)faces), TL_NEW(int32_t, faces), TL_NEW(int32_t, faces),
                    TL_NEW(int64_t, m->vertices + 1)};
    talus_status status = TALUS_OK;
    if (!f.corner || !f.order || !f.spare || !f.start) {
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the neighbours of %d tetrahedra", m->tets);
    } else {
        for (int32_t i = 0; i < faces; i++) {
            for (int k = 0; k < 3; k++) f.corner[i][k] = m->tet[i / 4][tl_tet_face[i % 4][k]];
            ascending(f.corner[i]);
            f.order[i] = i;
        }
        for (int k = 2; k >= 0; k--) {
            tl_sort_by_key(faces, f.order, f.spare, &f.corner[0][k], 3, m->vertices, f.start);
            int32_t *swap = f.order;
            f.order = f.spare, f.spare = swap;
        }
        status = pair_faces(m, &f, neighbour, err);
    }
    free_faces(&f);
    return status;
}

/* ---- quality ---- */

/* Cosines of the smallest and largest angle between two faces. */
static void cosine_range(const tl_vec3 p[4], double *max, double *least)
{
    tl_vec3 n[4];
    for (int i = 0; i < 4; i++) {
        const int *f = tl_tet_face[i];
        n[i] = tl_vec3_normalize(tl_vec3_cross(tl_vec3_sub(p[f[1]], p[f[0]]), tl_vec3_sub(p[f[2]], p[f[0]])));
    }
    *max = -1, *least = 1;
    for (int i = 0; i < 4; i++)
        for (int k = i + 1; k < 4; k++) {
            double c = -tl_vec3_dot(n[i], n[k]);
            *max = fmax(*max, c), *least = fmin(*least, c);
        }
    if (!(tl_tet_volume(p) > 0)) *max = 1, *least = -1;
}

static double angle_deg(double cosine) { return acos(fmin(1, fmax(-1, cosine))) * (180 / M_PI); }

typedef struct partial {
    double volume, smallest, edges, edge_min, edge_max, cosine_most, cosine_least;
    int32_t inverted;
} partial;

static partial measure(const tl_tetmesh *m, int64_t begin, int64_t end)
{
    partial s = {.smallest = INFINITY, .edge_min = INFINITY, .cosine_most = -1, .cosine_least = 1};
    for (int64_t t = begin; t < end; t++) {
        tl_vec3 p[4];
        for (int i = 0; i < 4; i++) p[i] = m->vertex[m->tet[t][i]];
        double volume = tl_tet_volume(p), max, least;
        s.volume += volume;
        s.smallest = fmin(s.smallest, volume);
        s.inverted += !(volume > 0);
        for (int i = 0; i < 4; i++)
            for (int k = i + 1; k < 4; k++) {
                double length = tl_vec3_norm(tl_vec3_sub(p[k], p[i]));
                s.edges += length;
                s.edge_min = fmin(s.edge_min, length), s.edge_max = fmax(s.edge_max, length);
            }
        cosine_range(p, &max, &least);
        s.cosine_most = fmax(s.cosine_most, max), s.cosine_least = fmin(s.cosine_least, least);
    }
    return s;
}

/* Components by their faces, and boundary triangles. */
static void count_parts(const tl_tetmesh *m, const int32_t (*neighbour)[4], int32_t *stack, uint8_t *seen,
                        tl_tet_quality *q)
{
    for (int32_t seed = 0; seed < m->tets; seed++) {
        if (seen[seed]) continue;
        int32_t open = 0;
        q->components++;
        seen[seed] = 1;
        for (stack[open++] = seed; open > 0;) {
            int32_t t = stack[--open];
            for (int i = 0; i < 4; i++) {
                int32_t n = neighbour[t][i];
                if (n < 0) q->boundary_triangles++;
                if (n < 0 || seen[n]) continue;
                seen[n] = 1;
                stack[open++] = n;
            }
        }
    }
}

static talus_status count_topology(const tl_tetmesh *m, tl_tet_quality *q, talus_error *err)
{
    int32_t(*neighbour)[4] = tl_alloc(sizeof *neighbour * (size_t)m->tets), *stack = TL_NEW(int32_t, m->tets);
    uint8_t *seen = TL_NEW_ZERO(uint8_t, m->tets), *used = TL_NEW_ZERO(uint8_t, m->vertices);
    talus_status status = TALUS_OK;
    if (!neighbour || !stack || !seen || !used)
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory to check %d tetrahedra", m->tets);
    else
        status = tl_tetmesh_neighbours(m, neighbour, err);
    if (status == TALUS_OK) {
        count_parts(m, (const int32_t(*)[4])neighbour, stack, seen, q);
        for (int32_t t = 0; t < m->tets; t++)
            for (int i = 0; i < 4; i++) used[m->tet[t][i]] = 1;
        for (int32_t v = 0; v < m->vertices; v++) q->unused_vertices += !used[v];
    }
    tl_free(neighbour);
    tl_free(stack);
    tl_free(seen);
    tl_free(used);
    return status;
}

talus_status tl_tetmesh_quality(const tl_tetmesh *m, tl_tet_quality *out, talus_error *err)
{
    *out = (tl_tet_quality){0};
    if (m->tets == 0) return TL_FAIL(err, TALUS_BAD_INPUT, "a mesh without tetrahedra has no quality");
    tl_blocks blocks = tl_blocks_of(m->tets);
    partial part[TL_BLOCKS_MAX],
        all = {.smallest = INFINITY, .edge_min = INFINITY, .cosine_most = -1, .cosine_least = 1};
#pragma omp parallel for schedule(static)
    for (int b = 0; b < blocks.count; b++) part[b] = measure(m, tl_block_begin(blocks, b), tl_block_end(blocks, b));
    for (int b = 0; b < blocks.count; b++) {
        all.volume += part[b].volume;
        all.edges += part[b].edges;
        all.inverted += part[b].inverted;
        all.smallest = fmin(all.smallest, part[b].smallest);
        all.edge_min = fmin(all.edge_min, part[b].edge_min), all.edge_max = fmax(all.edge_max, part[b].edge_max);
        all.cosine_most = fmax(all.cosine_most, part[b].cosine_most),
        all.cosine_least = fmin(all.cosine_least, part[b].cosine_least);
    }
    *out = (tl_tet_quality){.volume = all.volume,
                            .smallest_volume = all.smallest,
                            .inverted = all.inverted,
                            .dihedral_min_deg = angle_deg(all.cosine_most),
                            .dihedral_max_deg = angle_deg(all.cosine_least),
                            .edge_mean = all.edges / (6.0 * m->tets),
                            .edge_min = all.edge_min,
                            .edge_max = all.edge_max};
    return count_topology(m, out, err);
}

/* ---- boundary ---- */

static talus_status cut_out(const tl_tetmesh *m, const int32_t (*neighbour)[4], int32_t *number, tl_trimesh *out,
                            int32_t *vertex_of, talus_error *err)
{
    int32_t triangles = 0, vertices = 0;
    memset(number, 0, sizeof(int32_t) * (size_t)m->vertices);
    for (int32_t t = 0; t < m->tets; t++)
        for (int i = 0; i < 4; i++)
            if (neighbour[t][i] < 0) {
                triangles++;
                for (int k = 0; k < 3; k++) number[m->tet[t][tl_tet_face[i][k]]] = 1;
            }
    for (int32_t v = 0; v < m->vertices; v++)
        if (number[v]) {
            if (vertex_of) vertex_of[vertices] = v;
            number[v] = ++vertices;
        }
    TL_TRY(tl_trimesh_create(out, vertices, triangles, err));
    for (int32_t v = 0; v < m->vertices; v++)
        if (number[v]) out->vertex[number[v] - 1] = m->vertex[v];
    triangles = 0;
    for (int32_t t = 0; t < m->tets; t++)
        for (int i = 0; i < 4; i++)
            if (neighbour[t][i] < 0) {
                for (int k = 0; k < 3; k++) out->triangle[triangles][k] = number[m->tet[t][tl_tet_face[i][k]]] - 1;
                triangles++;
            }
    return TALUS_OK;
}

talus_status tl_tetmesh_boundary(const tl_tetmesh *m, tl_trimesh *out, int32_t *vertex_of, talus_error *err)
{
    *out = (tl_trimesh){0};
    int32_t(*neighbour)[4] = tl_alloc(sizeof *neighbour * (size_t)m->tets), *number = TL_NEW(int32_t, m->vertices);
    talus_status status = TALUS_OK;
    if (!neighbour || !number)
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the boundary of %d tetrahedra", m->tets);
    if (status == TALUS_OK) status = tl_tetmesh_neighbours(m, neighbour, err);
    if (status == TALUS_OK) status = cut_out(m, (const int32_t(*)[4])neighbour, number, out, vertex_of, err);
    tl_free(neighbour);
    tl_free(number);
    return status;
}
