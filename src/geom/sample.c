#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "geom/shape_node.h"
#include "geom/surface_parts.h"

void tl_points_free(tl_points *p)
{
    tl_free(p->at);
    tl_free(p->normal);
    *p = (tl_points){0};
}

static talus_status points_create(tl_points *p, int64_t count, bool normals, talus_error *err)
{
    *p = (tl_points){0};
    if (count > INT32_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "samples: %lld points are more than fit; take a larger spacing",
                       (long long)count);
    p->count = (int32_t)count;
    p->at = TL_NEW(tl_vec3, count + 1);
    p->normal = normals ? TL_NEW(tl_vec3, count + 1) : NULL;
    if (p->at && (p->normal || !normals)) return TALUS_OK;
    tl_points_free(p);
    return TL_FAIL(err, TALUS_NO_MEMORY, "samples: no memory for %lld points", (long long)count);
}

static talus_status check(const tl_shape_tree *t, int node, double spacing, double inset, talus_error *err)
{
    if (!tl_shape_bounded(t, node)) return TL_FAIL(err, TALUS_BAD_INPUT, "samples: the shape must be bounded");
    if (!(spacing > 0 && spacing < INFINITY))
        return TL_FAIL(err, TALUS_BAD_INPUT, "samples: spacing must be > 0, got %g", spacing);
    if (!(inset >= 0 && inset < INFINITY))
        return TL_FAIL(err, TALUS_BAD_INPUT, "samples: inset must be >= 0, got %g", inset);
    return TALUS_OK;
}

/* ---- surface ---- */

/* Vertices of a marched surface are a lattice as good as a curved surface has. */
static talus_status surface_lattice(const tl_shape_tree *t, int node, double spacing, double inset, tl_points *out,
                                    talus_error *err)
{
    tl_march_mesh m;
    TL_TRY(tl_march_shape(t, node, spacing, inset, &m, err));
    talus_status status = points_create(out, m.vertices, true, err);
    if (status == TALUS_OK && m.vertices > 0) {
        memcpy(out->at, m.vertex, sizeof *m.vertex * (size_t)m.vertices);
        memcpy(out->normal, m.normal, sizeof *m.normal * (size_t)m.vertices);
    }
    tl_march_mesh_free(&m);
    return status;
}

/* Accepted points by the cube of edge `spacing` they lie in, hashed; chains by number. */
typedef struct near_list {
    double spacing;
    int32_t count, room;
    uint32_t mask;
    int32_t *head, *next; /* [mask + 1], [room] */
    tl_vec3 *at, *normal; /* [room] */
} near_list;

static uint32_t cube_hash(const near_list *l, int64_t i, int64_t j, int64_t k)
{
    return (uint32_t)tl_mix64((uint64_t)i * 0x9e3779b97f4a7c15u ^ (uint64_t)j * 0xc2b2ae3d27d4eb4fu ^
                              (uint64_t)k * 0x165667b19e3779f9u) &
           l->mask;
}

static bool crowded(const near_list *l, tl_vec3 p)
{
    double s = 1 / l->spacing;
    int64_t i = (int64_t)floor(s * p.x), j = (int64_t)floor(s * p.y), k = (int64_t)floor(s * p.z);
    for (int d = 0; d < 27; d++)
        for (int32_t q = l->head[cube_hash(l, i + d % 3 - 1, j + d / 3 % 3 - 1, k + d / 9 - 1)]; q >= 0; q = l->next[q])
            if (tl_vec3_norm2(tl_vec3_sub(p, l->at[q])) < l->spacing * l->spacing) return true;
    return false;
}

static talus_status accept(near_list *l, tl_vec3 p, tl_vec3 normal, talus_error *err)
{
    if (l->count == l->room) {
        if (l->room > INT32_MAX / 2)
            return TL_FAIL(err, TALUS_BAD_INPUT, "samples: too many points; take a larger spacing");
        size_t room = (size_t)l->room * 2;
        void *next = tl_realloc(l->next, sizeof *l->next * room);
        if (next) l->next = next;
        void *at = tl_realloc(l->at, sizeof *l->at * room);
        if (at) l->at = at;
        void *n = tl_realloc(l->normal, sizeof *l->normal * room);
        if (n) l->normal = n;
        if (!next || !at || !n) return TL_FAIL(err, TALUS_NO_MEMORY, "samples: no memory for %zu points", room);
        l->room = (int32_t)room;
    }
    double s = 1 / l->spacing;
    uint32_t h = cube_hash(l, (int64_t)floor(s * p.x), (int64_t)floor(s * p.y), (int64_t)floor(s * p.z));
    l->at[l->count] = p;
    l->normal[l->count] = normal;
    l->next[l->count] = l->head[h];
    l->head[h] = l->count++;
    return TALUS_OK;
}

static talus_status near_create(near_list *l, double spacing, double expected, talus_error *err)
{
    *l = (near_list){.spacing = spacing, .room = (int32_t)tl_min(1.2 * expected + 64, 1e8), .mask = 255};
    while (l->mask < (uint32_t)l->room) l->mask = 2 * l->mask + 1;
    l->head = TL_NEW(int32_t, (int64_t)l->mask + 1);
    l->next = TL_NEW(int32_t, l->room);
    l->at = TL_NEW(tl_vec3, l->room);
    l->normal = TL_NEW(tl_vec3, l->room);
    if (!l->head || !l->next || !l->at || !l->normal)
        return TL_FAIL(err, TALUS_NO_MEMORY, "samples: no memory for %d points", l->room);
    for (int64_t i = 0; i <= (int64_t)l->mask; i++) l->head[i] = -1;
    return TALUS_OK;
}

/* Darts: random points on the triangles of a finer surface, moved to the true one, in batches; within a batch they are
 * made in parallel and accepted in order. 25 per disk leave few gaps; after them every vertex of the finer surface
 * gets its chance, so no gap is wider than the spacing and one fine edge. */
#define DARTS 25
#define BATCH 16384

static talus_status throw_darts(const tl_march_source *s, const tl_march_mesh *m, const double *below, uint64_t seed,
                                near_list *l, tl_vec3 *dart, talus_error *err)
{
    double area = below[m->triangles];
    int64_t darts = (int64_t)(DARTS * area / (l->spacing * l->spacing)) + DARTS;
    for (int64_t first = 0; first < darts; first += BATCH) {
        int64_t count = darts - first < BATCH ? darts - first : BATCH;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < count; i++) {
            uint64_t id = (uint64_t)(first + i);
            double at = tl_random(seed, id, 0) * area, u = sqrt(tl_random(seed, id, 1)), v = tl_random(seed, id, 2);
            int32_t lo = 0, hi = m->triangles - 1;
            while (lo < hi) {
                int32_t middle = lo + (hi - lo) / 2;
                if (below[middle + 1] > at)
                    hi = middle;
                else
                    lo = middle + 1;
            }
            const tl_vec3 *p = m->vertex;
            const int32_t *c = m->triangle[lo];
            tl_vec3 q = tl_vec3_add_scaled(tl_vec3_scale(1 - u, p[c[0]]), u * (1 - v), p[c[1]]);
            dart[i] = s->project(s, tl_vec3_add_scaled(q, u * v, p[c[2]]));
        }
        for (int64_t i = 0; i < count; i++) {
            if (crowded(l, dart[i])) continue;
            tl_vec3 q = s->project(s, dart[i]);
            if (tl_vec3_norm(tl_vec3_sub(q, dart[i])) > 1e-6 * s->cell)
                continue; /* Newton has not arrived: a knife's edge */
            TL_TRY(accept(l, dart[i], s->normal(s, dart[i]), err));
        }
    }
    for (int32_t v = 0; v < m->vertices; v++)
        if (!crowded(l, m->vertex[v])) TL_TRY(accept(l, m->vertex[v], m->normal[v], err));
    return TALUS_OK;
}

static talus_status surface_poisson(const tl_shape_tree *t, int node, double spacing, double inset, uint64_t seed,
                                    tl_points *out, talus_error *err)
{
    tl_march_mesh m;
    TL_TRY(tl_march_shape(t, node, 0.75 * spacing, inset, &m, err));
    tl_march_shape_context context;
    tl_march_source s = tl_march_shape_source(t, node, 0.75 * spacing, inset, &context);
    near_list l = {0};
    double *below = TL_NEW(double, m.triangles + 1); /* area of all earlier triangles */
    tl_vec3 *dart = TL_NEW(tl_vec3, BATCH);
    talus_status status =
        below && dart ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "samples: no memory for %d triangles", m.triangles);
    if (status == TALUS_OK) {
        below[0] = 0;
        for (int32_t i = 0; i < m.triangles; i++) {
            tl_vec3 a = m.vertex[m.triangle[i][0]], b = m.vertex[m.triangle[i][1]], c = m.vertex[m.triangle[i][2]];
            below[i + 1] = below[i] + 0.5 * tl_vec3_norm(tl_vec3_cross(tl_vec3_sub(b, a), tl_vec3_sub(c, a)));
        }
        status = near_create(&l, spacing, below[m.triangles] / (spacing * spacing), err);
    }
    if (status == TALUS_OK) status = throw_darts(&s, &m, below, seed, &l, dart, err);
    if (status == TALUS_OK) status = points_create(out, l.count, true, err);
    if (status == TALUS_OK) {
        memcpy(out->at, l.at, sizeof *l.at * (size_t)l.count);
        memcpy(out->normal, l.normal, sizeof *l.normal * (size_t)l.count);
    }
    tl_free(l.head);
    tl_free(l.next);
    tl_free(l.at);
    tl_free(l.normal);
    tl_free(below);
    tl_free(dart);
    tl_march_mesh_free(&m);
    return status;
}

talus_status tl_sample_surface(const tl_shape_tree *t, int node, double spacing, double inset, tl_sampling how,
                               uint64_t seed, tl_points *out, talus_error *err)
{
    *out = (tl_points){0};
    TL_TRY(check(t, node, spacing, inset, err));
    return how == TL_SAMPLE_LATTICE ? surface_lattice(t, node, spacing, inset, out, err)
                                    : surface_poisson(t, node, spacing, inset, seed, out, err);
}

/* ---- volume ---- */

/* Cubes of edge `edge` between multiples of it, in blocks of 8^3; only blocks that reach into the shape are kept. */
#define SIDE 8
#define CUBES (SIDE * SIDE * SIDE)
#define BLOCKS_MAX (1 << 28)

typedef struct fill_block {
    int32_t at[3]; /* in blocks */
    int32_t whole; /* 1: all of it is inside */
    int64_t count; /* points; then points in earlier blocks */
} fill_block;

typedef struct filling {
    const tl_shape_tree *t;
    int node;
    double edge, inset;
    uint64_t seed;
    bool jitter;
    int32_t low[3], n[3]; /* in blocks */
    int32_t *index;       /* [n0 n1 n2], -1 not kept */
    int32_t count;
    fill_block *block;
} filling;

static uint64_t cube_id(const fill_block *b, int c)
{
    uint64_t i = (uint64_t)(SIDE * b->at[0] + (c & 7)), j = (uint64_t)(SIDE * b->at[1] + (c >> 3 & 7)),
             k = (uint64_t)(SIDE * b->at[2] + (c >> 6));
    return (i & 0x1fffff) | (j & 0x1fffff) << 21 | k << 42; /* 2^20 cubes to each side of 0 along an axis */
}

static tl_vec3 cube_corner(const filling *f, const fill_block *b, int c)
{
    return (tl_vec3){f->edge * (SIDE * b->at[0] + (c & 7)), f->edge * (SIDE * b->at[1] + (c >> 3 & 7)),
                     f->edge * (SIDE * b->at[2] + (c >> 6))};
}

static bool is_inside(const filling *f, const fill_block *b, tl_vec3 p)
{
    return b->whole || tl_shape_distance(f->t, f->node, p) <= -f->inset;
}

static talus_status find_blocks(filling *f, talus_error *err)
{
    tl_box3 box = tl_shape_bounds(f->t, f->node);
    double size = SIDE * f->edge, lo[3] = {box.lo.x, box.lo.y, box.lo.z}, hi[3] = {box.hi.x, box.hi.y, box.hi.z},
           all = 1;
    for (int a = 0; a < 3; a++) {
        if (!(tl_max(fabs(lo[a]), fabs(hi[a])) < 0x1p20 * f->edge))
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "samples: spacing is too small for a shape that reaches to %g from the origin",
                           tl_max(fabs(lo[a]), fabs(hi[a])));
        f->low[a] = (int32_t)floor(lo[a] / size);
        f->n[a] = (int32_t)floor(hi[a] / size) - f->low[a] + 1;
        all *= f->n[a];
    }
    if (!(all < BLOCKS_MAX))
        return TL_FAIL(err, TALUS_BAD_INPUT, "samples: spacing would need %g blocks of 8^3 cells, allowed %d", all,
                       BLOCKS_MAX);
    int64_t total = (int64_t)all;
    f->index = TL_NEW(int32_t, total);
    if (!f->index) return TL_FAIL(err, TALUS_NO_MEMORY, "samples: no memory for %lld blocks", (long long)total);
    double reach = 0.8660254037844386 * size;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t b = 0; b < total; b++) {
        int i = (int)(b % f->n[0]), j = (int)(b / f->n[0] % f->n[1]), k = (int)(b / f->n[0] / f->n[1]);
        tl_vec3 middle = {size * (f->low[0] + i + 0.5), size * (f->low[1] + j + 0.5), size * (f->low[2] + k + 0.5)};
        double d = tl_shape_distance(f->t, f->node, middle) + f->inset;
        f->index[b] = d > reach ? -1 : d < -reach ? 1 : 0;
    }
    for (int64_t b = 0; b < total; b++) f->count += f->index[b] >= 0;
    f->block = TL_NEW_ZERO(fill_block, f->count + 1);
    if (!f->block) return TL_FAIL(err, TALUS_NO_MEMORY, "samples: no memory for %d blocks", f->count);
    int32_t next = 0;
    for (int64_t b = 0; b < total; b++) {
        if (f->index[b] < 0) continue;
        int i = (int)(b % f->n[0]), j = (int)(b / f->n[0] % f->n[1]), k = (int)(b / f->n[0] / f->n[1]);
        f->block[next] = (fill_block){.at = {f->low[0] + i, f->low[1] + j, f->low[2] + k}, .whole = f->index[b]};
        f->index[b] = next++;
    }
    return TALUS_OK;
}

/* The point of a cube: its middle, or anywhere in it. */
static tl_vec3 cube_point(const filling *f, const fill_block *b, int c)
{
    tl_vec3 p = cube_corner(f, b, c);
    uint64_t id = cube_id(b, c);
    if (!f->jitter) return (tl_vec3){p.x + 0.5 * f->edge, p.y + 0.5 * f->edge, p.z + 0.5 * f->edge};
    return (tl_vec3){p.x + f->edge * tl_random(f->seed, id, 0), p.y + f->edge * tl_random(f->seed, id, 1),
                     p.z + f->edge * tl_random(f->seed, id, 2)};
}

/* Counts become places; returns their sum. */
static int64_t place_counts(filling *f)
{
    int64_t total = 0;
    for (int32_t b = 0; b < f->count; b++) {
        int64_t own = f->block[b].count;
        f->block[b].count = total;
        total += own;
    }
    return total;
}

/* One point per cube; inside is asked twice, once to count. */
static talus_status fill_cubes(filling *f, tl_points *out, talus_error *err)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t b = 0; b < f->count; b++)
        for (int c = 0; c < CUBES; c++) f->block[b].count += is_inside(f, &f->block[b], cube_point(f, &f->block[b], c));
    TL_TRY(points_create(out, place_counts(f), false, err));
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t b = 0; b < f->count; b++) {
        int64_t at = f->block[b].count;
        for (int c = 0; c < CUBES; c++) {
            tl_vec3 p = cube_point(f, &f->block[b], c);
            if (is_inside(f, &f->block[b], p)) out->at[at++] = p;
        }
    }
    return TALUS_OK;
}

/* ---- blue noise ----
 *
 * Cubes with a diagonal of one radius hold one point at most. In each of ROUNDS rounds every empty cube draws a point
 * and keeps it when no kept point is nearer than the radius [Wei2008]. Blocks run in parallel in eight groups, by even
 * and odd place along each axis: blocks of a group are too far apart to see each other, so the answer does not depend
 * on threads. Within a block, cubes come in a stirred order. */
#define ROUNDS 16
#define RADIUS 0.856 /* of the spacing: one point per spacing^3 (measured in tests/unit/sample.c) */

typedef float place_in_cube[3]; /* in cubes, from 0 to 1; x = EMPTY: no point; x = FULL: none and no room for one */
#define EMPTY (-1.0f)
#define FULL (-2.0f)

/* A block with the two layers of cubes around it that its points can see. */
#define WIDE (SIDE + 4)
typedef struct neighbourhood {
    int32_t offset[124]; /* to the cubes within sight, nearest first */
    int8_t step[124][3];
    int count;
} neighbourhood;

static void find_neighbours(neighbourhood *n)
{
    n->count = 0;
    for (int far2 = 1; far2 <= 12; far2++)
        for (int d = 0; d < 125; d++) {
            int x = d % 5 - 2, y = d / 5 % 5 - 2, z = d / 25 - 2, gap = (abs(x) == 2) + (abs(y) == 2) + (abs(z) == 2);
            if (x * x + y * y + z * z != far2 || gap == 3)
                continue; /* cubes two apart in all axes only touch the sphere */
            n->offset[n->count] = (z * WIDE + y) * WIDE + x;
            n->step[n->count][0] = (int8_t)x;
            n->step[n->count][1] = (int8_t)y;
            n->step[n->count++][2] = (int8_t)z;
        }
}

static void read_wide(const filling *f, const place_in_cube *kept, const fill_block *b, place_in_cube *wide)
{
    for (int k = 0; k < WIDE; k++)
        for (int j = 0; j < WIDE; j++)
            for (int i = 0; i < WIDE; i++) {
                int q[3] = {SIDE * (b->at[0] - f->low[0]) + i - 2, SIDE * (b->at[1] - f->low[1]) + j - 2,
                            SIDE * (b->at[2] - f->low[2]) + k - 2};
                float *to = *wide++;
                to[0] = EMPTY;
                if (q[0] < 0 || q[1] < 0 || q[2] < 0 || q[0] >= SIDE * f->n[0] || q[1] >= SIDE * f->n[1] ||
                    q[2] >= SIDE * f->n[2])
                    continue;
                int32_t other = f->index[((int64_t)(q[2] >> 3) * f->n[1] + (q[1] >> 3)) * f->n[0] + (q[0] >> 3)];
                if (other >= 0)
                    memcpy(to, kept[(int64_t)other * CUBES + ((q[2] & 7) * SIDE + (q[1] & 7)) * SIDE + (q[0] & 7)],
                           sizeof *kept);
            }
}

static float larger(float a, float b) { return a > b ? a : b; }

/* EMPTY: u is free; FULL: a point covers the whole cube; else the distance of the point that is too near, squared. */
static float disturbed(const neighbourhood *n, const place_in_cube *mine, const float u[3])
{
    for (int d = 0; d < n->count; d++) {
        const float *v = mine[n->offset[d]];
        if (v[0] < 0) continue;
        float x = v[0] + (float)n->step[d][0], y = v[1] + (float)n->step[d][1], z = v[2] + (float)n->step[d][2];
        float dx = u[0] - x, dy = u[1] - y, dz = u[2] - z, near2 = dx * dx + dy * dy + dz * dz;
        if (near2 >= 3.0f) continue;
        float fx = larger(fabsf(x), fabsf(1 - x)), fy = larger(fabsf(y), fabsf(1 - y)),
              fz = larger(fabsf(z), fabsf(1 - z));
        return fx * fx + fy * fy + fz * fz < 2.99f ? FULL : near2;
    }
    return EMPTY;
}

static tl_vec3 kept_point(const filling *f, const fill_block *b, int c, const float u[3])
{
    tl_vec3 p = cube_corner(f, b, c);
    return (tl_vec3){p.x + f->edge * (double)u[0], p.y + f->edge * (double)u[1], p.z + f->edge * (double)u[2]};
}

/* One round of a block's cubes. */
static void try_block(const filling *f, const neighbourhood *n, place_in_cube *kept, int32_t block, int round)
{
    const fill_block *b = &f->block[block];
    place_in_cube wide[WIDE * WIDE * WIDE];
    read_wide(f, (const place_in_cube *)kept, b, wide);
    uint64_t start = tl_random_bits(f->seed, cube_id(b, 0), 3 * ROUNDS + (uint64_t)round);
    for (uint64_t s = 0; s < CUBES; s++) {
        int c = (int)((start + 197 * s) % CUBES);
        float *mine = wide[((c >> 6) + 2) * WIDE * WIDE + ((c >> 3 & 7) + 2) * WIDE + (c & 7) + 2], u[3];
        if (mine[0] != EMPTY) continue;
        uint64_t id = cube_id(b, c);
        for (int a = 0; a < 3; a++)
            u[a] = (float)(tl_random_bits(f->seed, id, 3 * (uint64_t)round + (uint64_t)a) >> 40) * 0x1p-24f;
        float found = disturbed(n, (const place_in_cube *)mine, u);
        if (found == FULL) mine[0] = FULL;
        if (found == EMPTY && is_inside(f, b, kept_point(f, b, c, u))) memcpy(mine, u, sizeof u);
        if (mine[0] != EMPTY) memcpy(kept[(int64_t)block * CUBES + c], mine, sizeof u);
    }
}

static talus_status fill_blue(filling *f, tl_points *out, talus_error *err)
{
    place_in_cube *kept = tl_alloc(sizeof *kept * CUBES * (size_t)(f->count + 1));
    if (!kept) return TL_FAIL(err, TALUS_NO_MEMORY, "samples: no memory for %d blocks", f->count);
    for (int64_t i = 0; i < (int64_t)f->count * CUBES; i++) kept[i][0] = kept[i][1] = kept[i][2] = EMPTY;
    neighbourhood n;
    find_neighbours(&n);
    for (int round = 0; round < ROUNDS; round++)
        for (int g = 0; g < 8; g++) {
            int group = (g + round) & 7; /* no group is always first */
#pragma omp parallel for schedule(dynamic, 4)
            for (int32_t b = 0; b < f->count; b++) {
                const int32_t *at = f->block[b].at;
                if (((at[0] & 1) | (at[1] & 1) << 1 | (at[2] & 1) << 2) != group) continue;
                try_block(f, &n, kept, b, round);
            }
        }
    for (int32_t b = 0; b < f->count; b++)
        for (int c = 0; c < CUBES; c++) f->block[b].count += kept[(int64_t)b * CUBES + c][0] >= 0;
    talus_status status = points_create(out, place_counts(f), false, err);
    for (int32_t b = 0; status == TALUS_OK && b < f->count; b++) {
        int64_t at = f->block[b].count;
        for (int c = 0; c < CUBES; c++) {
            const float *u = kept[(int64_t)b * CUBES + c];
            if (u[0] >= 0) out->at[at++] = kept_point(f, &f->block[b], c, u);
        }
    }
    tl_free(kept);
    return status;
}

talus_status tl_sample_volume(const tl_shape_tree *t, int node, double spacing, double inset, tl_filling how,
                              uint64_t seed, tl_points *out, talus_error *err)
{
    *out = (tl_points){0};
    TL_TRY(check(t, node, spacing, inset, err));
    double edge = how == TL_FILL_BLUE_NOISE ? RADIUS * spacing / 1.7320508075688773 : spacing;
    filling f = {.t = t, .node = node, .edge = edge, .inset = inset, .seed = seed, .jitter = how == TL_FILL_JITTER};
    talus_status status = find_blocks(&f, err);
    if (status == TALUS_OK) status = how == TL_FILL_BLUE_NOISE ? fill_blue(&f, out, err) : fill_cubes(&f, out, err);
    tl_free(f.index);
    tl_free(f.block);
    return status;
}
