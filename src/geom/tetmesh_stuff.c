/* The lattice. Cell (i, j, k) owns two vertices: its low corner (kind 0) and its centre (kind 1), and 14 edges:
 * three to the next corners, three to the next centres (long, one lattice edge), eight from its corner to the
 * centres around (short, 0.866). Each square between two cells holds four tets: the two centres and one side of the
 * square. Cells are stored in blocks of 8^3, only where the shape may be. */
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "geom/tetmesh.h"
#include "geom/tetmesh_repair.h"

enum { SIDE = 8, CELLS = SIDE * SIDE * SIDE, VERTICES = 2 * CELLS, HALO = SIDE + 2, SLOTS = 14 };

/* A crossing closer to a lattice vertex than this share of the edge pulls the vertex onto the surface. Differs from
 * [Labelle2007]: its thresholds of about 0.25 and 0.412 gave a smallest dihedral angle of 9.97 degrees here, where
 * these give 10.8 (22e6 tets of random noise at the lattice's scale, as in tests/unit/tetmesh_stuff.c; 0.22 and 0.29
 * for the first are worse too). */
#define WARP_LONG 0.27
#define WARP_SHORT 0.41

#define BLOCKS_LIMIT (1 << 20)    /* keeps vertex numbers in 32 bits; 5e8 cells */
#define BLOCK_MAP_LIMIT (1 << 24) /* 64 MiB of block numbers */

typedef struct block {
    int32_t at[3]; /* in cubes of its level; in blocks at the last */
    int8_t side;   /* -1: inside the shape with all its neighbours, 1: outside, 0: not known */
} block;

typedef struct lattice {
    tl_field f;
    tl_vec3 origin;
    double edge;
    int32_t size[3]; /* in blocks */
    int32_t blocks, cuts;
    block *block;
    int32_t *map;   /* [size0 size1 size2] block number, or -1: outside of the shape with all its neighbours */
    double *value;  /* [blocks VERTICES] distance; only its sign is right further than an edge from the surface */
    int8_t *sign;   /* [blocks VERTICES] -1 inside, 0 on the surface, 1 outside */
    int32_t *warp;  /* [blocks VERTICES] the cut that the vertex was moved to, or -1 */
    uint16_t *mask; /* [blocks CELLS] slots of edges that cross the surface */
    int32_t *first; /* [blocks CELLS] number of the cell's first cut */
    tl_vec3 *cut;   /* [cuts] where */
    int32_t *tets;  /* [blocks + 1] number of each block's first tet */
} lattice;

/* ---- where things are ---- */

static int32_t block_at(const lattice *l, int32_t i, int32_t j, int32_t k)
{
    if (i < 0 || j < 0 || k < 0 || i >= l->size[0] || j >= l->size[1] || k >= l->size[2]) return -1;
    return l->map[((int64_t)i * l->size[1] + j) * l->size[2] + k];
}

static int kind_of(int32_t vertex) { return vertex % VERTICES / CELLS; }
static int64_t slot_base(int32_t vertex) { return (int64_t)(vertex / VERTICES) * CELLS + vertex % CELLS; }

/* Cell of a vertex, counted over the whole lattice. */
static void cell_of(const lattice *l, int32_t vertex, int32_t cell[3])
{
    const block *b = &l->block[vertex / VERTICES];
    int local = vertex % CELLS;
    cell[0] = b->at[0] * SIDE + local / (SIDE * SIDE);
    cell[1] = b->at[1] * SIDE + local / SIDE % SIDE;
    cell[2] = b->at[2] * SIDE + local % SIDE;
}

/* Vertex of a kind at a cell, or -1 where no block is kept. */
static int32_t vertex_at(const lattice *l, int kind, int32_t i, int32_t j, int32_t k)
{
    int32_t b = block_at(l, i >> 3, j >> 3, k >> 3);
    return b < 0 ? -1 : b * VERTICES + kind * CELLS + ((i & 7) * SIDE + (j & 7)) * SIDE + (k & 7);
}

static tl_vec3 lattice_point(const lattice *l, double i, double j, double k)
{
    return (tl_vec3){l->origin.x + l->edge * i, l->origin.y + l->edge * j, l->origin.z + l->edge * k};
}

/* Place of a vertex before it is moved. */
static tl_vec3 start_of(const lattice *l, int32_t vertex)
{
    int32_t c[3];
    cell_of(l, vertex, c);
    double shift = 0.5 * kind_of(vertex);
    return lattice_point(l, c[0] + shift, c[1] + shift, c[2] + shift);
}

/* Both ends of edge `slot` of a cell; -1 where no block is kept. */
static void ends_of(const lattice *l, const int32_t c[3], int slot, int32_t end[2])
{
    int s = slot - 6;
    if (slot < 6) {
        int kind = slot / 3, axis = slot % 3;
        end[0] = vertex_at(l, kind, c[0], c[1], c[2]);
        end[1] = vertex_at(l, kind, c[0] + (axis == 0), c[1] + (axis == 1), c[2] + (axis == 2));
    } else {
        end[0] = vertex_at(l, 0, c[0], c[1], c[2]);
        end[1] = vertex_at(l, 1, c[0] - 1 + (s & 1), c[1] - 1 + (s >> 1 & 1), c[2] - 1 + (s >> 2));
    }
}

/* Number of the cut on the edge between two lattice vertices, one of which was inside and one outside. */
static int32_t cut_between(const lattice *l, int32_t p, int32_t q)
{
    int32_t a[3], b[3];
    cell_of(l, p, a);
    cell_of(l, q, b);
    bool p_owns = kind_of(p) != kind_of(q) ? kind_of(p) == 0 : a[0] + a[1] + a[2] < b[0] + b[1] + b[2];
    if (!p_owns) return cut_between(l, q, p);
    int slot = kind_of(p) != kind_of(q) ? 6 + (b[0] - a[0] + 1) + 2 * (b[1] - a[1] + 1) + 4 * (b[2] - a[2] + 1)
                                        : 3 * kind_of(p) + (b[0] > a[0]   ? 0
                                                            : b[1] > a[1] ? 1
                                                                          : 2);
    int64_t cell = slot_base(p);
    return l->first[cell] + __builtin_popcount(l->mask[cell] & ((1u << slot) - 1));
}

/* ---- blocks near the shape ---- */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the tetrahedral lattice");
}

/* Each cube of a level becomes eight of half the size, or none. `width` is the cubes' size in cells. */
static talus_status refine(lattice *l, block **cubes, int32_t *count, int32_t width, talus_error *err)
{
    block *cube = *cubes;
    double half = 0.5 * width,
           reach = l->edge * (sqrt(3) * (half + 1.5) + 1); /* with the cells around, and one edge from them */
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t b = 0; b < *count; b++) {
        if (cube[b].side) continue;
        double d = l->f.at(l->f.ctx, lattice_point(l, width * cube[b].at[0] + half, width * cube[b].at[1] + half,
                                                   width * cube[b].at[2] + half));
        cube[b].side = (int8_t)(d > reach ? 1 : d < -reach ? -1 : 0);
    }
    int parts = width > SIDE ? 8 : 1, grow = parts == 8 ? 2 : 1;
    int64_t kept = 0;
    for (int32_t b = 0; b < *count; b++) kept += cube[b].side <= 0 ? parts : 0;
    if (kept > (int64_t)BLOCKS_LIMIT * 8)
        return TL_FAIL(err, TALUS_BAD_INPUT, "edge %g m is too small: the lattice would have more than %d cells",
                       l->edge, BLOCKS_LIMIT * CELLS);
    block *next = TL_NEW(block, kept + 1);
    if (!next) return no_memory(err);
    int32_t n = 0;
    for (int32_t b = 0; b < *count; b++)
        for (int part = 0; part < parts && cube[b].side <= 0; part++) {
            block c = {{grow * cube[b].at[0] + (part >> 2), grow * cube[b].at[1] + (part >> 1 & 1),
                        grow * cube[b].at[2] + (part & 1)},
                       cube[b].side};
            int32_t at = width / SIDE / grow; /* blocks in the child */
            if (c.at[0] * at < l->size[0] && c.at[1] * at < l->size[1] && c.at[2] * at < l->size[2]) next[n++] = c;
        }
    tl_free(cube);
    *cubes = next;
    *count = n;
    return TALUS_OK;
}

static talus_status find_blocks(lattice *l, talus_error *err)
{
    int32_t max = l->size[0] > l->size[1] ? l->size[0] : l->size[1], width = SIDE;
    if (l->size[2] > max) max = l->size[2];
    while (width < max * SIDE) width *= 2;
    l->block = TL_NEW_ZERO(block, 1);
    l->blocks = 1;
    if (!l->block) return no_memory(err);
    for (; width >= SIDE; width /= 2) TL_TRY(refine(l, &l->block, &l->blocks, width, err));
    if (l->blocks > BLOCKS_LIMIT)
        return TL_FAIL(err, TALUS_BAD_INPUT, "edge %g m is too small: the lattice would have more than %d cells",
                       l->edge, BLOCKS_LIMIT * CELLS);
    int64_t room = (int64_t)l->size[0] * l->size[1] * l->size[2];
    l->map = TL_NEW(int32_t, room);
    if (!l->map) return no_memory(err);
    memset(l->map, -1, sizeof(int32_t) * (size_t)room);
    for (int32_t b = 0; b < l->blocks; b++) {
        const int32_t *at = l->block[b].at;
        l->map[((int64_t)at[0] * l->size[1] + at[1]) * l->size[2] + at[2]] = b;
    }
    return TALUS_OK;
}

/* ---- distances ---- */

static void fill_cube(const lattice *l, const block *b, double *value, int i0, int j0, int k0, int width, double all)
{
    for (int i = i0; i < i0 + width; i++)
        for (int j = j0; j < j0 + width; j++)
            for (int k = k0; k < k0 + width; k++)
                for (int kind = 0; kind < 2; kind++) {
                    double shift = 0.5 * kind, *v = &value[kind * CELLS + (i * SIDE + j) * SIDE + k];
                    *v = all != 0 ? all
                                  : l->f.at(l->f.ctx,
                                            lattice_point(l, b->at[0] * SIDE + i + shift, b->at[1] * SIDE + j + shift,
                                                          b->at[2] * SIDE + k + shift));
                }
}

/* A cube with its edges on one side of the surface needs one distance; else its eighths are asked, down to two
 * cells. */
static void sample_cube(const lattice *l, const block *b, double *value, int i, int j, int k, int width)
{
    double half = 0.5 * width, reach = l->edge * (sqrt(3) * half + 1);
    double d = l->f.at(
        l->f.ctx, lattice_point(l, b->at[0] * SIDE + i + half, b->at[1] * SIDE + j + half, b->at[2] * SIDE + k + half));
    if (fabs(d) > reach)
        fill_cube(l, b, value, i, j, k, width, d);
    else if (width == 2)
        fill_cube(l, b, value, i, j, k, width, 0);
    else
        for (int part = 0; part < 8; part++)
            sample_cube(l, b, value, i + width / 2 * (part >> 2), j + width / 2 * (part >> 1 & 1),
                        k + width / 2 * (part & 1), width / 2);
}

static talus_status sample_distances(lattice *l, talus_error *err)
{
    size_t n = (size_t)l->blocks * VERTICES;
    l->value = TL_NEW(double, n);
    l->sign = TL_NEW(int8_t, n);
    l->warp = TL_NEW(int32_t, n);
    if (!l->value || !l->sign || !l->warp) return no_memory(err);
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t b = 0; b < l->blocks; b++) {
        double *value = &l->value[(size_t)b * VERTICES];
        if (l->block[b].side < 0)
            fill_cube(l, &l->block[b], value, 0, 0, 0, SIDE, -1);
        else
            sample_cube(l, &l->block[b], value, 0, 0, 0, SIDE);
        for (size_t v = (size_t)b * VERTICES; v < ((size_t)b + 1) * VERTICES; v++) {
            l->sign[v] = (int8_t)(l->value[v] < 0 ? -1 : l->value[v] == 0 ? 0 : 1);
            l->warp[v] = -1;
        }
    }
    return TALUS_OK;
}

/* ---- crossings ---- */

/* A zero on the segment between p (value fp) and q, of other sign: false position with halving of a value that
 * stays (Illinois), and bisection where that leaves the bracket (NaN). */
static tl_vec3 find_zero(const lattice *l, tl_vec3 p, double fp, tl_vec3 q, double fq)
{
    double lo = 0, hi = 1, flo = fp, fhi = fq, t = 0.5;
    tl_vec3 d = tl_vec3_sub(q, p), at = p;
    int stayed = 0;
    for (int iteration = 0; iteration < 60 && hi - lo > 1e-11; iteration++) {
        t = lo + (hi - lo) * (flo / (flo - fhi));
        if (!(t > lo && t < hi)) t = 0.5 * (lo + hi);
        at = tl_vec3_add_scaled(p, t, d);
        double f = l->f.at(l->f.ctx, at);
        if (fabs(f) <= 1e-11 * l->edge) return at;
        if ((f < 0) == (fp < 0)) {
            lo = t, flo = f;
            if (stayed == 1) fhi *= 0.5;
            stayed = 1;
        } else {
            hi = t, fhi = f;
            if (stayed == -1) flo *= 0.5;
            stayed = -1;
        }
    }
    return at;
}

/* Slots of the cell's edges that run from inside to outside. */
static unsigned crossing_slots(const lattice *l, const int32_t c[3])
{
    unsigned mask = 0;
    for (int slot = 0; slot < SLOTS; slot++) {
        int32_t end[2];
        ends_of(l, c, slot, end);
        if (end[1] >= 0 && l->sign[end[0]] * l->sign[end[1]] < 0) mask |= 1u << slot;
    }
    return mask;
}

static talus_status find_cuts(lattice *l, talus_error *err)
{
    size_t cells = (size_t)l->blocks * CELLS;
    l->mask = TL_NEW(uint16_t, cells);
    l->first = TL_NEW(int32_t, cells);
    if (!l->mask || !l->first) return no_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t b = 0; b < l->blocks; b++)
        for (int local = 0; local < CELLS; local++) {
            int32_t c[3];
            cell_of(l, b * VERTICES + local, c);
            l->mask[(size_t)b * CELLS + (size_t)local] = (uint16_t)(l->block[b].side < 0 ? 0 : crossing_slots(l, c));
        }
    int64_t cuts = 0;
    for (size_t cell = 0; cell < cells; cell++) {
        l->first[cell] = (int32_t)cuts;
        cuts += __builtin_popcount(l->mask[cell]);
        if (cuts + (int64_t)l->blocks * VERTICES > INT32_MAX)
            return TL_FAIL(err, TALUS_BAD_INPUT, "edge %g m is too small: the mesh would have more than %d vertices",
                           l->edge, INT32_MAX);
    }
    l->cuts = (int32_t)cuts;
    l->cut = TL_NEW(tl_vec3, cuts + 1);
    if (!l->cut) return no_memory(err);
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t b = 0; b < l->blocks; b++)
        for (int local = 0; local < CELLS; local++) {
            size_t cell = (size_t)b * CELLS + (size_t)local;
            tl_vec3 *cut = &l->cut[l->first[cell]];
            for (unsigned mask = l->mask[cell]; mask; mask &= mask - 1) {
                int32_t c[3], end[2];
                cell_of(l, b * VERTICES + local, c);
                ends_of(l, c, __builtin_ctz(mask), end);
                *cut++ = find_zero(l, start_of(l, end[0]), l->value[end[0]], start_of(l, end[1]), l->value[end[1]]);
            }
        }
    return TALUS_OK;
}

/* ---- warp ---- */

/* Move a vertex to the nearest crossing on its edges, if that is too near for a good tet. */
static bool warp_vertex(lattice *l, int32_t vertex)
{
    int32_t c[3], best = -1;
    int kind = kind_of(vertex);
    cell_of(l, vertex, c);
    double nearest = INFINITY;
    tl_vec3 from = start_of(l, vertex);
    for (int e = 0; e < SLOTS; e++) {
        int s = e - 6, step = e % 2 ? 1 : -1, low = kind - 1;
        int32_t other =
            e < 6 ? vertex_at(l, kind, c[0] + (e / 2 == 0 ? step : 0), c[1] + (e / 2 == 1 ? step : 0),
                              c[2] + (e / 2 == 2 ? step : 0))
                  : vertex_at(l, 1 - kind, c[0] + low + (s & 1), c[1] + low + (s >> 1 & 1), c[2] + low + (s >> 2));
        if (other < 0 || l->sign[other] * l->sign[vertex] >= 0) continue;
        int32_t cut = cut_between(l, vertex, other);
        double d = tl_vec3_norm(tl_vec3_sub(l->cut[cut], from));
        double limit = l->edge * (e < 6 ? WARP_LONG : WARP_SHORT * sqrt(0.75));
        if (d < limit && d < nearest) nearest = d, best = cut;
    }
    l->warp[vertex] = best;
    return best >= 0;
}

/* In order, because a vertex on the surface no longer asks its neighbours to move. */
static int32_t warp_vertices(lattice *l)
{
    int32_t warped = 0;
    for (int32_t b = 0; b < l->blocks; b++)
        for (int32_t v = b * VERTICES; v < (b + 1) * VERTICES && l->block[b].side == 0; v++)
            if (l->sign[v] != 0 && warp_vertex(l, v)) {
                l->sign[v] = 0;
                warped++;
            }
    return warped;
}

/* ---- tets ---- */

/* Where a block's tets go; NULL: only count. */
typedef struct sink {
    const lattice *l;
    int32_t (*tet)[4];
    int32_t count;
} sink;

static void put(sink *s, bool flip, int32_t a, int32_t b, int32_t c, int32_t d)
{
    if (s->tet) {
        int32_t *t = s->tet[s->count];
        t[0] = a, t[1] = b, t[2] = flip ? d : c, t[3] = flip ? c : d;
    }
    s->count++;
}

/* Numbers of mesh vertices: those of the lattice, then the cuts. */
static int32_t cut_vertex(const lattice *l, int32_t p, int32_t q)
{
    return l->blocks * VERTICES + cut_between(l, p, q);
}

static tl_vec3 place_of(const lattice *l, int32_t vertex)
{
    int32_t lattice_vertices = l->blocks * VERTICES;
    if (vertex >= lattice_vertices) return l->cut[vertex - lattice_vertices];
    return l->warp[vertex] >= 0 ? l->cut[l->warp[vertex]] : start_of(l, vertex);
}

static double distance2(const lattice *l, int32_t p, int32_t q)
{
    return tl_vec3_norm2(tl_vec3_sub(place_of(l, p), place_of(l, q)));
}

/* A face with p, q inside and o outside keeps a quadrilateral; true: its diagonal runs from p to the cut on (q, o),
 * else from q. Both tets of the face ask this, so the answer depends on the face alone: the long edge's cut has the
 * diagonal, and between two short edges the inside vertex of even parity. [Labelle2007] */
static bool diagonal_from(const lattice *l, int32_t p, int32_t q, int32_t o)
{
    if (kind_of(p) != kind_of(q)) return kind_of(q) == kind_of(o);
    int32_t c[3];
    cell_of(l, p, c);
    return (c[0] + c[1] + c[2]) % 2 == 0;
}

/* A prism with triangles b and t, positive when (b0, b1, b2, t0) is. d01, d12, d02: whether the diagonal of that
 * side runs from the first's b to the second's t. Not all around in a circle. */
static void put_prism(sink *s, bool flip, const int32_t b[3], const int32_t t[3], bool d01, bool d12, bool d02)
{
    /* Columns in order, so that every diagonal runs from the b of an earlier to the t of a later one. */
    int u = d01 && d02 ? 0 : !d01 && d12 ? 1 : 2, w = !d01 && !d02 ? 0 : d01 && !d12 ? 1 : 2, v = 3 - u - w;
    if ((v - u + 3) % 3 != 1) flip = !flip;
    put(s, flip, b[u], b[v], b[w], t[w]);
    put(s, flip, b[u], b[v], t[w], t[v]);
    put(s, flip, b[u], t[v], t[w], t[u]);
}

static void put_two_inside(sink *s, bool flip, const int32_t p[4])
{
    const lattice *l = s->l;
    int32_t c02 = cut_vertex(l, p[0], p[2]), c03 = cut_vertex(l, p[0], p[3]), c12 = cut_vertex(l, p[1], p[2]),
            c13 = cut_vertex(l, p[1], p[3]);
    bool d01 = diagonal_from(l, p[0], p[1], p[2]), d02 = diagonal_from(l, p[0], p[1], p[3]);
    bool d12 = d01 != d02 ? !d01 : distance2(l, c02, c13) < distance2(l, c03, c12);
    put_prism(s, flip, (int32_t[3]){p[0], c02, c03}, (int32_t[3]){p[1], c12, c13}, d01, d12, d02);
}

static void put_three_inside(sink *s, bool flip, const int32_t p[4])
{
    const lattice *l = s->l;
    int32_t c[3] = {cut_vertex(l, p[0], p[3]), cut_vertex(l, p[1], p[3]), cut_vertex(l, p[2], p[3])};
    put_prism(s, flip, p, c, diagonal_from(l, p[0], p[1], p[3]), diagonal_from(l, p[1], p[2], p[3]),
              diagonal_from(l, p[0], p[2], p[3]));
}

/* p[2] on the surface, p[3] outside. */
static void put_pyramid(sink *s, bool flip, const int32_t p[4])
{
    const lattice *l = s->l;
    bool from_first = diagonal_from(l, p[0], p[1], p[3]);
    int32_t a = from_first ? p[0] : p[1], b = from_first ? p[1] : p[0];
    int32_t ca = cut_vertex(l, a, p[3]), cb = cut_vertex(l, b, p[3]);
    if (!from_first) flip = !flip;
    put(s, flip, a, b, p[2], cb);
    put(s, flip, a, cb, p[2], ca);
}

/* The part of a lattice tet that lies inside. */
static void put_tet(sink *s, const int32_t vertex[4])
{
    int32_t p[4] = {vertex[0], vertex[1], vertex[2], vertex[3]};
    const int8_t *sign = s->l->sign;
    int inside = 0, outside = 0;
    for (int i = 0; i < 4; i++) {
        if (p[i] < 0) return; /* no block is kept there: all of the tet is outside */
        inside += sign[p[i]] < 0;
        outside += sign[p[i]] > 0;
    }
    if (inside == 0) return; /* four vertices on the surface: thinner than the lattice, if inside at all */
    if (outside == 0) {
        put(s, false, p[0], p[1], p[2], p[3]);
        return;
    }
    /* Inside first, outside last. */
    bool flip = false;
    for (int last = 3; last > 0; last--)
        for (int i = 0; i < last; i++)
            if (sign[p[i]] > sign[p[i + 1]]) {
                int32_t swap = p[i];
                p[i] = p[i + 1], p[i + 1] = swap, flip = !flip;
            }
    if (inside == 1) {
        for (int i = 1; i < 4; i++)
            if (sign[p[i]] > 0) p[i] = cut_vertex(s->l, p[0], p[i]);
        put(s, flip, p[0], p[1], p[2], p[3]);
    } else if (inside == 3) {
        put_three_inside(s, flip, p);
    } else if (outside == 1) {
        put_pyramid(s, flip, p);
    } else {
        put_two_inside(s, flip, p);
    }
}

static void put_block(sink *s, int32_t b)
{
    const lattice *l = s->l;
    int32_t near[2][HALO][HALO][HALO]; /* vertices from one cell before the block to one behind */
    const int32_t *at = l->block[b].at;
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < HALO; i++)
            for (int j = 0; j < HALO; j++)
                for (int k = 0; k < HALO; k++)
                    near[kind][i][j][k] =
                        vertex_at(l, kind, at[0] * SIDE + i - 1, at[1] * SIDE + j - 1, at[2] * SIDE + k - 1);
    static const int around[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
    for (int i = 1; i <= SIDE; i++)
        for (int j = 1; j <= SIDE; j++)
            for (int k = 1; k <= SIDE; k++)
                for (int axis = 0; axis < 3; axis++) {
                    int32_t before = near[1][i - (axis == 0)][j - (axis == 1)][k - (axis == 2)],
                            behind = near[1][i][j][k], corner[5];
                    for (int n = 0; n < 5; n++) {
                        int step[3] = {0, 0, 0};
                        step[(axis + 1) % 3] = around[n][0], step[(axis + 2) % 3] = around[n][1];
                        corner[n] = near[0][i + step[0]][j + step[1]][k + step[2]];
                    }
                    for (int n = 0; n < 4; n++) put_tet(s, (int32_t[4]){before, behind, corner[n], corner[n + 1]});
                }
}

static talus_status put_tets(lattice *l, int32_t (**tet)[4], int32_t *count, talus_error *err)
{
    l->tets = TL_NEW(int32_t, l->blocks + 1);
    if (!l->tets) return no_memory(err);
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t b = 0; b < l->blocks; b++) {
        sink s = {.l = l};
        put_block(&s, b);
        l->tets[b] = s.count;
    }
    int64_t total = 0;
    for (int32_t b = 0; b <= l->blocks; b++) {
        int32_t here = b < l->blocks ? l->tets[b] : 0;
        l->tets[b] = (int32_t)total;
        total += here;
        if (total > INT32_MAX)
            return TL_FAIL(err, TALUS_BAD_INPUT, "edge %g m is too small: the mesh would have more than %d tetrahedra",
                           l->edge, INT32_MAX);
    }
    if (total == 0)
        return TL_FAIL(
            err, TALUS_BAD_INPUT,
            "the shape is thinner than the lattice: no tetrahedron of edge %g m fits inside; use a smaller edge",
            l->edge);
    *tet = tl_alloc(sizeof **tet * (size_t)total);
    if (!*tet) return no_memory(err);
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t b = 0; b < l->blocks; b++) {
        sink s = {.l = l, .tet = *tet + l->tets[b]};
        put_block(&s, b);
    }
    *count = (int32_t)total;
    return TALUS_OK;
}

/* Keep the vertices that tets use, in lattice order, cuts behind. */
static talus_status number_vertices(const lattice *l, tl_tetmesh *m, tl_lattice_report *report, talus_error *err)
{
    size_t room = (size_t)l->blocks * VERTICES + (size_t)l->cuts;
    int32_t *number = TL_NEW_ZERO(int32_t, room), vertices = 0;
    if (!number) return no_memory(err);
    for (int32_t t = 0; t < m->tets; t++)
        for (int i = 0; i < 4; i++) number[m->tet[t][i]] = 1;
    for (size_t v = 0; v < room; v++)
        if (number[v]) {
            report->warped += v < (size_t)l->blocks * VERTICES && l->warp[v] >= 0;
            report->cuts += v >= (size_t)l->blocks * VERTICES;
            number[v] = ++vertices;
        }
    m->vertex = TL_NEW(tl_vec3, vertices);
    if (!m->vertex) {
        tl_free(number);
        return no_memory(err);
    }
    m->vertices = vertices;
    for (size_t v = 0; v < room; v++)
        if (number[v]) m->vertex[number[v] - 1] = place_of(l, (int32_t)v);
    for (int32_t t = 0; t < m->tets; t++)
        for (int i = 0; i < 4; i++) m->tet[t][i] = number[m->tet[t][i]] - 1;
    tl_free(number);
    return TALUS_OK;
}

/* ---- the whole ---- */

static void free_lattice(lattice *l)
{
    void *all[] = {l->block, l->map, l->value, l->sign, l->warp, l->mask, l->first, l->cut, l->tets};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tl_free(all[i]);
}

static talus_status place_lattice(lattice *l, tl_box3 box, talus_error *err)
{
    double lo[3] = {box.lo.x, box.lo.y, box.lo.z}, hi[3] = {box.hi.x, box.hi.y, box.hi.z}, origin[3], cells = 1;
    for (int a = 0; a < 3; a++) {
        if (!(lo[a] <= hi[a]))
            return TL_FAIL(err, TALUS_BAD_INPUT, "the shape is empty: there is nothing to fill with tetrahedra");
        if (!isfinite(lo[a]) || !isfinite(hi[a]))
            return TL_FAIL(err, TALUS_BAD_INPUT, "the shape is unbounded: tetrahedra need a bounded one");
        double blocks = ceil(((hi[a] - lo[a]) / l->edge + 3) / SIDE); /* more than one cell to spare on each side */
        cells *= blocks;
        if (!(cells <= BLOCK_MAP_LIMIT))
            return TL_FAIL(err, TALUS_BAD_INPUT, "edge %g m is too small for a shape of %g x %g x %g m", l->edge,
                           hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]);
        l->size[a] = (int32_t)blocks;
        origin[a] = 0.5 * (lo[a] + hi[a]) -
                    l->edge * SIDE / 2 * blocks; /* a corner of the lattice at the middle of the shape */
    }
    l->origin = tl_vec3_load(origin);
    return TALUS_OK;
}

static double off_surface(tl_field f, const tl_tetmesh *m, const int32_t (*neighbour)[4])
{
    double worst = 0;
#pragma omp parallel for schedule(static) reduction(max : worst)
    for (int32_t t = 0; t < m->tets; t++)
        for (int i = 0; i < 4; i++) {
            if (neighbour[t][i] >= 0) continue;
            tl_vec3 sum = {0, 0, 0};
            for (int k = 0; k < 4; k++)
                if (k != i) sum = tl_vec3_add(sum, m->vertex[m->tet[t][k]]);
            worst = fmax(worst, fabs(f.at(f.ctx, tl_vec3_scale(1.0 / 3, sum))));
        }
    return worst;
}

static talus_status build(lattice *l, tl_box3 bounds, tl_tetmesh *m, tl_lattice_report *report, talus_error *err)
{
    TL_TRY(place_lattice(l, bounds, err));
    TL_TRY(find_blocks(l, err));
    TL_TRY(sample_distances(l, err));
    TL_TRY(find_cuts(l, err));
    warp_vertices(l);
    TL_TRY(put_tets(l, &m->tet, &m->tets, err));
    TL_TRY(number_vertices(l, m, report, err));
    return tl_tetmesh_make_manifold(m, &report->split_vertices, &report->removed_tets, err);
}

talus_status tl_tetmesh_from_field(tl_field f, tl_box3 bounds, double edge, tl_tetmesh *out, tl_lattice_report *report,
                                   talus_error *err)
{
    tl_lattice_report unread;
    if (!report) report = &unread;
    *report = (tl_lattice_report){0};
    *out = (tl_tetmesh){0};
    if (!(edge > 0 && edge < INFINITY)) return TL_FAIL(err, TALUS_BAD_INPUT, "edge must be positive, got %g", edge);
    lattice l = {.f = f, .edge = edge};
    talus_status status = build(&l, bounds, out, report, err);
    free_lattice(&l);
    int32_t(*neighbour)[4] = NULL;
    if (status == TALUS_OK) {
        neighbour = tl_alloc(sizeof *neighbour * (size_t)out->tets);
        status = neighbour ? tl_tetmesh_neighbours(out, neighbour, err) : no_memory(err);
    }
    if (status == TALUS_OK)
        report->off_surface = off_surface(f, out, (const int32_t(*)[4])neighbour);
    else
        tl_tetmesh_free(out);
    tl_free(neighbour);
    return status;
}
