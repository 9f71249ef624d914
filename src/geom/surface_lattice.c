/* Marching tetrahedra on a body-centred cubic lattice: cube corners and cube centres, four tetrahedra around every
 * face between two centres. A tetrahedron has one patch of surface or none, patches meet along whole edges, so the
 * result is closed and manifold for any signs whatever. Where the normals of a patch disagree also close to the edge
 * they point to, a vertex is put on that edge [Kobbelt2001].
 *
 * The lattice is kept in blocks of 8^3 cubes, and only blocks near the surface are kept. Vertices are numbered by
 * block and lattice edge: no search, no tolerance, same numbers for any thread count. */
#include <float.h>
#include <string.h>

#include "base/alloc.h"
#include "geom/surface_parts.h"
#include "math/eig3.h"

#define SIDE 8
#define CUBES (SIDE * SIDE * SIDE)
#define EDGES 14 /* per cube: 3 from its corner, 3 from its centre to other centres, 8 from its centre to its corners */
#define WORDS (CUBES * EDGES / 64)

typedef struct block {
    int32_t at[3]; /* in blocks */
    int32_t first_vertex, first_patch, first_triangle, first_sharp;
    float value[2][CUBES];  /* corners, centres; infinite: only the sign is known */
    uint64_t cut[WORDS];    /* lattice edges with a vertex */
    uint16_t before[WORDS]; /* bits in earlier words */
} block;

typedef struct lattice {
    const tl_march_source *s;
    int32_t n[3];   /* blocks along each axis */
    int32_t *index; /* [n0 n1 n2]: place in `block`, or -1 inside, -2 outside */
    block **block;
    int32_t count, room;
} lattice;

static int64_t block_number(const lattice *l, int i, int j, int k) { return ((int64_t)k * l->n[1] + j) * l->n[0] + i; }

static int cube_number(int i, int j, int k) { return ((k & 7) * SIDE + (j & 7)) * SIDE + (i & 7); }

static bool in_lattice(const lattice *l, int i, int j, int k)
{
    return i >= 0 && j >= 0 && k >= 0 && i < SIDE * l->n[0] && j < SIDE * l->n[1] && k < SIDE * l->n[2];
}

static float value_of(const lattice *l, int i, int j, int k, int centre)
{
    if (!in_lattice(l, i, j, k)) return INFINITY;
    int32_t b = l->index[block_number(l, i >> 3, j >> 3, k >> 3)];
    return b >= 0 ? l->block[b]->value[centre][cube_number(i, j, k)] : b == -1 ? -INFINITY : INFINITY;
}

static tl_vec3 place_of(const tl_march_source *s, int i, int j, int k, int centre)
{
    double h = centre ? 0.5 : 0;
    return (tl_vec3){s->origin.x + s->cell * (i + h), s->origin.y + s->cell * (j + h), s->origin.z + s->cell * (k + h)};
}

/* ---- values ---- */

/* The outermost layer and beyond is outside, whatever the function says: no surface leaves the lattice. */
static bool at_border(const tl_march_source *s, int i, int j, int k)
{
    return i <= 0 || j <= 0 || k <= 0 || i >= s->cells[0] - 1 || j >= s->cells[1] - 1 || k >= s->cells[2] - 1;
}

static float sample(const tl_march_source *s, int i, int j, int k, int centre)
{
    if (at_border(s, i, j, k)) return INFINITY;
    double d = s->value(s, i, j, k, centre);
    float f = isnan(d) ? INFINITY : (float)d;
    return f != 0 ? f : d < 0 ? -FLT_MIN : FLT_MIN;
}

/* Values of a piece of `size`^3 cubes; halved until its sign is known or single cubes are left. */
static void fill(const tl_march_source *s, block *b, int i, int j, int k, int size)
{
    double half = 0.5 * (size - 0.5) * s->cell; /* corners from 0, last centre at size - 1/2 */
    tl_vec3 low = place_of(s, i, j, k, 0), middle = {low.x + half, low.y + half, low.z + half};
    int sign = size > 1 ? s->sign(s, middle, half) : 0;
    if (size > 2 && !sign) {
        for (int c = 0; c < 8; c++)
            fill(s, b, i + (c & 1) * size / 2, j + (c >> 1 & 1) * size / 2, k + (c >> 2) * size / 2, size / 2);
        return;
    }
    for (int z = k; z < k + size; z++)
        for (int y = j; y < j + size; y++)
            for (int x = i; x < i + size; x++)
                for (int c = 0; c < 2; c++)
                    b->value[c][cube_number(x, y, z)] =
                        sign && !at_border(s, x, y, z) ? (sign < 0 ? -INFINITY : INFINITY) : sample(s, x, y, z, c);
}

static talus_status add_block(lattice *l, int i, int j, int k, talus_error *err)
{
    if (l->count == l->room) {
        int32_t room = l->room ? 2 * l->room : 64;
        block **more = tl_realloc(l->block, sizeof *more * (size_t)room);
        if (!more) return TL_FAIL(err, TALUS_NO_MEMORY, "surface: no memory for a list of %d blocks", room);
        l->block = more;
        l->room = room;
    }
    block *b = TL_NEW(block, 1);
    if (!b) return TL_FAIL(err, TALUS_NO_MEMORY, "surface: no memory for another block of cells");
    b->at[0] = i;
    b->at[1] = j;
    b->at[2] = k;
    l->index[block_number(l, i, j, k)] = l->count;
    l->block[l->count++] = b;
    return TALUS_OK;
}

static void fill_new(lattice *l, int32_t from)
{
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t b = from; b < l->count; b++)
        fill(l->s, l->block[b], SIDE * l->block[b]->at[0], SIDE * l->block[b]->at[1], SIDE * l->block[b]->at[2], SIDE);
}

static bool layer_has(const block *b, const int step[3], bool negative)
{
    int lo[3], hi[3];
    for (int a = 0; a < 3; a++) {
        lo[a] = step[a] > 0 ? SIDE - 1 : 0;
        hi[a] = step[a] < 0 ? 0 : SIDE - 1;
    }
    for (int k = lo[2]; k <= hi[2]; k++)
        for (int j = lo[1]; j <= hi[1]; j++)
            for (int i = lo[0]; i <= hi[0]; i++)
                if ((b->value[0][cube_number(i, j, k)] < 0) == negative ||
                    (b->value[1][cube_number(i, j, k)] < 0) == negative)
                    return true;
    return false;
}

/* A function with a jump (a distance that is no distance) may change sign between a kept block and one that was
 * skipped: keep that one as well, until signs change inside kept blocks only. */
static talus_status close_gaps(lattice *l, talus_error *err)
{
    for (int32_t from = 0, checked = 0; checked < l->count; checked = from) {
        from = l->count;
        for (int32_t b = checked; b < from; b++) {
            const block *own = l->block[b];
            for (int d = 0; d < 27; d++) {
                int step[3] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1}, at[3];
                bool inside = true;
                for (int a = 0; a < 3; a++) {
                    at[a] = own->at[a] + step[a];
                    inside &= at[a] >= 0 && at[a] < l->n[a];
                }
                if (!inside) continue;
                int32_t other = l->index[block_number(l, at[0], at[1], at[2])];
                if (other >= 0 || !layer_has(own, step, other == -2)) continue;
                TL_TRY(add_block(l, at[0], at[1], at[2], err));
            }
        }
        fill_new(l, from);
    }
    return TALUS_OK;
}

static talus_status find_blocks(lattice *l, talus_error *err)
{
    const tl_march_source *s = l->s;
    int64_t all = 1;
    for (int a = 0; a < 3; a++) {
        l->n[a] = (s->cells[a] + SIDE - 1) / SIDE;
        all *= l->n[a];
    }
    l->index = TL_NEW(int32_t, all);
    if (!l->index) return TL_FAIL(err, TALUS_NO_MEMORY, "surface: no memory for %lld blocks of cells", (long long)all);
    double half = (0.5 * SIDE + 1) * s->cell; /* one cube beyond: what the block's tetrahedra reach */
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t b = 0; b < all; b++) {
        int i = (int)(b % l->n[0]), j = (int)(b / l->n[0] % l->n[1]), k = (int)(b / l->n[0] / l->n[1]);
        tl_vec3 middle = place_of(s, SIDE * i + SIDE / 2, SIDE * j + SIDE / 2, SIDE * k + SIDE / 2, 0);
        int sign = s->sign(s, middle, half);
        l->index[b] = sign > 0 ? -2 : sign < 0 ? -1 : 0;
    }
    for (int64_t b = 0; b < all; b++) {
        int i = (int)(b % l->n[0]), j = (int)(b / l->n[0] % l->n[1]), k = (int)(b / l->n[0] / l->n[1]);
        bool edge = i == 0 || j == 0 || k == 0 || i == l->n[0] - 1 || j == l->n[1] - 1 || k == l->n[2] - 1;
        bool keep = l->index[b] == 0 || (l->index[b] == -1 && edge);
        for (int d = 0; d < 3 && !keep; d++) { /* skipped neighbours of other sign */
            int at[3] = {i, j, k};
            if (--at[d] < 0) continue;
            int32_t other = l->index[block_number(l, at[0], at[1], at[2])];
            keep = other < 0 && other != l->index[b];
        }
        if (keep) TL_TRY(add_block(l, i, j, k, err));
    }
    fill_new(l, 0);
    return close_gaps(l, err);
}

/* ---- vertices ---- */

/* The other end of lattice edge e of cube (i, j, k). */
static void other_end(int e, int i, int j, int k, int *to, int *from_centre, int *to_centre)
{
    to[0] = i;
    to[1] = j;
    to[2] = k;
    *from_centre = e >= 3;
    *to_centre = e < 6 && e >= 3;
    if (e < 6) {
        to[e % 3]++;
    } else {
        to[0] += (e - 6) & 1;
        to[1] += (e - 6) >> 1 & 1;
        to[2] += (e - 6) >> 2;
    }
}

static int32_t mark_edges(const lattice *l, block *b)
{
    memset(b->cut, 0, sizeof b->cut);
    for (int c = 0; c < CUBES; c++) {
        int i = SIDE * b->at[0] + (c & 7), j = SIDE * b->at[1] + (c >> 3 & 7), k = SIDE * b->at[2] + (c >> 6);
        for (int e = 0; e < EDGES; e++) {
            int to[3], fc, tc;
            other_end(e, i, j, k, to, &fc, &tc);
            bool in = b->value[fc][c] < 0, there = value_of(l, to[0], to[1], to[2], tc) < 0;
            if (in != there) b->cut[(c * EDGES + e) >> 6] |= 1ull << ((c * EDGES + e) & 63);
        }
    }
    int32_t count = 0;
    for (int w = 0; w < WORDS; w++) {
        b->before[w] = (uint16_t)count;
        count += __builtin_popcountll(b->cut[w]);
    }
    return count;
}

static int32_t vertex_on(const lattice *l, int i, int j, int k, int e)
{
    const block *b = l->block[l->index[block_number(l, i >> 3, j >> 3, k >> 3)]];
    int bit = cube_number(i, j, k) * EDGES + e;
    return b->first_vertex + b->before[bit >> 6] + __builtin_popcountll(b->cut[bit >> 6] & ((1ull << (bit & 63)) - 1));
}

/* A value where only the sign was kept; of the outside that is forced at the border: one cell. */
static double known(const tl_march_source *s, float v, int i, int j, int k, int centre)
{
    if (!isinf(v)) return v;
    double d = at_border(s, i, j, k) ? s->cell : s->value(s, i, j, k, centre);
    return isnan(d) || isinf(d) ? copysign(s->cell, v) : d;
}

static void place_vertices(const lattice *l, const block *b, tl_march_mesh *m)
{
    const tl_march_source *s = l->s;
    int32_t v = b->first_vertex;
    for (int w = 0; w < WORDS; w++)
        for (uint64_t bits = b->cut[w]; bits; bits &= bits - 1) {
            int bit = 64 * w + __builtin_ctzll(bits), c = bit / EDGES, to[3], fc, tc;
            int i = SIDE * b->at[0] + (c & 7), j = SIDE * b->at[1] + (c >> 3 & 7), k = SIDE * b->at[2] + (c >> 6);
            other_end(bit % EDGES, i, j, k, to, &fc, &tc);
            tl_vec3 p = place_of(s, i, j, k, fc), q = place_of(s, to[0], to[1], to[2], tc);
            double a = known(s, b->value[fc][c], i, j, k, fc),
                   d = known(s, value_of(l, to[0], to[1], to[2], tc), to[0], to[1], to[2], tc);
            m->vertex[v] = b->value[fc][c] < 0 ? s->crossing(s, p, a, q, d) : s->crossing(s, q, d, p, a);
            if (s->normal) m->normal[v] = s->normal(s, m->vertex[v]);
            v++;
        }
}

/* ---- patches ---- */

/* Even orders of a tetrahedron's corners that put the inside ones first, by mask of inside corners; three inside are
 * one outside, turned. */
static const uint8_t order[16][4] = {{0},          {0, 1, 2, 3}, {1, 0, 3, 2}, {0, 1, 2, 3}, {2, 0, 1, 3}, {0, 2, 3, 1},
                                     {1, 2, 0, 3}, {3, 0, 2, 1}, {3, 0, 2, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}, {2, 0, 1, 3},
                                     {2, 3, 0, 1}, {1, 0, 3, 2}, {0, 1, 2, 3}, {0}};
static const uint8_t inside_count[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

typedef struct corner {
    int at[3], centre;
} corner;

/* Inside or not, for all corners and centres that a block's tetrahedra touch. */
#define REACH (SIDE + 1)
typedef uint8_t block_signs[2][REACH][REACH][REACH];

static void read_signs(const lattice *l, const block *b, block_signs in)
{
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < REACH; k++)
            for (int j = 0; j < REACH; j++)
                for (int i = 0; i < REACH; i++)
                    in[c][k][j][i] = value_of(l, SIDE * b->at[0] + i, SIDE * b->at[1] + j, SIDE * b->at[2] + k, c) < 0;
}

/* Whether the surface passes through any of the cube's tetrahedra. */
static bool is_cut(const block_signs in, int c)
{
    int i = c & 7, j = c >> 3 & 7, k = c >> 6;
    int inside = in[1][k][j][i] + in[1][k][j][i + 1] + in[1][k][j + 1][i] + in[1][k + 1][j][i];
    for (int b = 0; b < 8; b++) inside += in[0][k + (b >> 2)][j + (b >> 1 & 1)][i + (b & 1)];
    return inside != 0 && inside != 12;
}

/* Tetrahedron m of 4 around the face of a block's cube `c` across `axis`: positively oriented. Returns the mask of
 * inside corners. */
static int tetrahedron(const block *b, const block_signs in, int c, int axis, int m, corner t[4])
{
    static const int turn[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
    int u = (axis + 1) % 3, v = (axis + 2) % 3, mask = 0;
    for (int i = 0; i < 4; i++) {
        int at[3] = {c & 7, c >> 3 & 7, c >> 6};
        if (i >= 1) at[axis]++;
        if (i >= 2) {
            at[u] += turn[m + i - 2][0];
            at[v] += turn[m + i - 2][1];
        }
        mask |= in[i < 2][at[2]][at[1]][at[0]] << i;
        for (int a = 0; a < 3; a++) t[i].at[a] = at[a] + SIDE * b->at[a];
        t[i].centre = i < 2;
    }
    return mask;
}

/* The vertex on the lattice edge between two corners. */
static int32_t between(const lattice *l, const corner *a, const corner *b)
{
    if (a->centre != b->centre) {
        const corner *c = a->centre ? a : b, *q = a->centre ? b : a;
        int e = 6 + (q->at[0] - c->at[0]) + 2 * (q->at[1] - c->at[1]) + 4 * (q->at[2] - c->at[2]);
        return vertex_on(l, c->at[0], c->at[1], c->at[2], e);
    }
    int axis = a->at[0] != b->at[0] ? 0 : a->at[1] != b->at[1] ? 1 : 2;
    const corner *low = a->at[axis] < b->at[axis] ? a : b;
    return vertex_on(l, low->at[0], low->at[1], low->at[2], (a->centre ? 3 : 0) + axis);
}

/* The patch's three or four vertices, counter-clockwise from outside; returns how many. */
static int patch(const lattice *l, const corner t[4], int mask, int32_t v[4])
{
    const uint8_t *o = order[mask];
    int in = inside_count[mask];
    if (in == 2) {
        v[0] = between(l, &t[o[0]], &t[o[2]]);
        v[1] = between(l, &t[o[0]], &t[o[3]]);
        v[2] = between(l, &t[o[1]], &t[o[3]]);
        v[3] = between(l, &t[o[1]], &t[o[2]]);
        return 4;
    }
    for (int k = 0; k < 3; k++) v[in == 1 ? k : 2 - k] = between(l, &t[o[0]], &t[o[k + 1]]);
    return 3;
}

/* ---- sharp edges ---- */

#define SHARP 0.9 /* cosine: normals that turn by 26 degrees, as in [Kobbelt2001] */

static bool disagree(int n, const tl_vec3 *normal)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (tl_vec3_dot(normal[i], normal[j]) < SHARP) return true;
    return false;
}

/* The point nearest to all tangent planes, from their middle; in a corner three directions count, on an edge two. */
static tl_vec3 meet(int n, const tl_vec3 *point, const tl_vec3 *normal, tl_march_class *sharp)
{
    tl_vec3 middle = {0, 0, 0};
    tl_mat3 A = tl_mat3_zero(), V;
    for (int i = 0; i < n; i++) middle = tl_vec3_add_scaled(middle, 1.0 / n, point[i]);
    tl_vec3 b = {0, 0, 0};
    for (int i = 0; i < n; i++) {
        A = tl_mat3_add(A, tl_mat3_outer(normal[i], normal[i]));
        b = tl_vec3_add_scaled(b, tl_vec3_dot(normal[i], tl_vec3_sub(point[i], middle)), normal[i]);
    }
    double w[3];
    tl_eig3(A, w, &V);
    *sharp = w[0] > 0.1 * w[2] ? TL_MARCH_CORNER
                               : TL_MARCH_EDGE; /* three planes at right angles: 1; of one edge: 0 up to curvature */
    tl_vec3 x = middle;
    for (int i = *sharp == TL_MARCH_CORNER ? 0 : 1; i < 3; i++) {
        tl_vec3 e = tl_mat3_column(V, i);
        if (w[i] > 0.01 * w[2]) x = tl_vec3_add_scaled(x, tl_vec3_dot(e, b) / w[i], e);
    }
    return x;
}

/* A point on the sharp edge or corner under a patch, if there is one: closer to it the normals must still disagree. */
static tl_march_class feature(const tl_march_source *s, int n, const tl_vec3 *at, const tl_vec3 *towards, tl_vec3 *x,
                              tl_vec3 *mean)
{
    tl_vec3 point[4], normal[4], middle = {0, 0, 0};
    for (int i = 0; i < n; i++) {
        point[i] = at[i];
        normal[i] = towards[i];
        middle = tl_vec3_add_scaled(middle, 1.0 / n, at[i]);
    }
    if (!disagree(n, normal)) return TL_MARCH_SMOOTH;
    tl_march_class sharp = TL_MARCH_SMOOTH;
    for (int round = 0; round < 3; round++) {
        *x = meet(n, point, normal, &sharp);
        if (tl_vec3_norm(tl_vec3_sub(*x, middle)) > 0.9 * s->cell)
            return TL_MARCH_SMOOTH; /* belongs to another patch */
        if (round == 2) break;
        for (int i = 0; i < n; i++) {
            point[i] = s->project(s, tl_vec3_add_scaled(*x, 0.2, tl_vec3_sub(point[i], *x)));
            normal[i] = s->normal(s, point[i]);
        }
        if (!disagree(n, normal)) return TL_MARCH_SMOOTH;
    }
    *x = s->project(s, *x);
    if (!(tl_vec3_norm(tl_vec3_sub(*x, s->project(s, *x))) < 1e-9 * s->cell))
        return TL_MARCH_SMOOTH; /* no surface where the planes meet */
    *mean = (tl_vec3){0, 0, 0};
    for (int i = 0; i < n; i++) *mean = tl_vec3_add(*mean, normal[i]);
    *mean = tl_vec3_normalize_or(*mean, normal[0]);
    return sharp;
}

/* ---- triangles ---- */

typedef struct patch_record {
    int32_t v[4];
    int32_t count, sharp; /* vertices; tl_march_class */
    tl_vec3 x, normal;    /* of the sharp vertex */
} patch_record;

static int32_t count_patches(const lattice *l, const block *b)
{
    int32_t patches = 0;
    corner t[4];
    block_signs in;
    read_signs(l, b, in);
    for (int c = 0; c < CUBES; c++)
        for (int k = 0, end = is_cut(in, c) ? 12 : 0; k < end; k++) {
            int mask = tetrahedron(b, in, c, k / 4, k % 4, t);
            patches += mask != 0 && mask != 15;
        }
    return patches;
}

static void find_patches(const lattice *l, const block *b, const tl_march_mesh *m, patch_record *out)
{
    corner t[4];
    block_signs in;
    read_signs(l, b, in);
    for (int c = 0; c < CUBES; c++)
        for (int k = 0, end = is_cut(in, c) ? 12 : 0; k < end; k++) {
            int mask = tetrahedron(b, in, c, k / 4, k % 4, t);
            if (mask == 0 || mask == 15) continue;
            patch_record *p = out++;
            p->count = patch(l, t, mask, p->v);
            p->sharp = TL_MARCH_SMOOTH;
            if (!l->s->normal) continue;
            tl_vec3 at[4], normal[4];
            for (int i = 0; i < p->count; i++) {
                at[i] = m->vertex[p->v[i]];
                normal[i] = m->normal[p->v[i]];
            }
            p->sharp = (int32_t)feature(l->s, p->count, at, normal, &p->x, &p->normal);
        }
}

static double length2(const tl_march_mesh *m, int32_t a, int32_t b)
{
    return tl_vec3_norm2(tl_vec3_sub(m->vertex[a], m->vertex[b]));
}

static void set(int32_t *triangle, int32_t a, int32_t b, int32_t c)
{
    triangle[0] = a;
    triangle[1] = b;
    triangle[2] = c;
}

/* A sharp patch is a fan around its new vertex; a flat one with four vertices is cut along the shorter diagonal. */
static void write_patch(const patch_record *p, tl_march_mesh *m, int32_t (*out)[3], int32_t fresh)
{
    const int32_t *v = p->v;
    if (p->sharp != TL_MARCH_SMOOTH) {
        m->vertex[fresh] = p->x;
        m->normal[fresh] = p->normal;
        m->sharp[fresh] = (uint8_t)p->sharp;
        for (int i = 0; i < p->count; i++) set(out[i], v[i], v[(i + 1) % p->count], fresh);
    } else if (p->count == 3) {
        set(out[0], v[0], v[1], v[2]);
    } else {
        int turn = length2(m, v[1], v[3]) < length2(m, v[0], v[2]);
        set(out[0], v[turn], v[turn + 1], v[turn + 2]);
        set(out[1], v[turn], v[turn + 2], v[(turn + 3) % 4]);
    }
}

static int32_t triangles_of(const patch_record *p) { return p->sharp != TL_MARCH_SMOOTH ? p->count : p->count - 2; }

static talus_status too_many(talus_error *err)
{
    return TL_FAIL(err, TALUS_BAD_INPUT, "surface: more than 2^31 triangles; take a larger edge");
}

static talus_status place_all(lattice *l, tl_march_mesh *m, talus_error *err)
{
    int32_t *count = TL_NEW(int32_t, l->count + 1);
    if (!count) return TL_FAIL(err, TALUS_NO_MEMORY, "surface: no memory for %d counts", l->count);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t b = 0; b < l->count; b++) count[b] = mark_edges(l, l->block[b]);
    int64_t total = 0;
    for (int32_t b = 0; b < l->count; b++) {
        l->block[b]->first_vertex = (int32_t)total;
        total += count[b];
    }
    tl_free(count);
    if (total > INT32_MAX / 8) return too_many(err);
    m->vertices = (int32_t)total;
    m->vertex = TL_NEW(tl_vec3, total + 1);
    m->normal = TL_NEW_ZERO(tl_vec3, total + 1);
    if (!m->vertex || !m->normal)
        return TL_FAIL(err, TALUS_NO_MEMORY, "surface: no memory for %lld vertices", (long long)total);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t b = 0; b < l->count; b++) place_vertices(l, l->block[b], m);
    return TALUS_OK;
}

/* Room for the sharp vertices behind the others, and for the triangles. */
static talus_status make_room(tl_march_mesh *m, int32_t sharp, int32_t triangles, talus_error *err)
{
    size_t n = (size_t)m->vertices + (size_t)sharp + 1;
    tl_vec3 *vertex = tl_realloc(m->vertex, n * sizeof *vertex);
    if (vertex) m->vertex = vertex;
    tl_vec3 *normal = tl_realloc(m->normal, n * sizeof *normal);
    if (normal) m->normal = normal;
    m->sharp = TL_NEW_ZERO(uint8_t, n);
    m->triangle = tl_alloc(sizeof *m->triangle * (size_t)(triangles + 1));
    if (!vertex || !normal || !m->sharp || !m->triangle)
        return TL_FAIL(err, TALUS_NO_MEMORY, "surface: no memory for %d vertices and %d triangles", m->vertices + sharp,
                       triangles);
    m->triangles = triangles;
    return TALUS_OK;
}

static talus_status connect(lattice *l, tl_march_mesh *m, patch_record **records, talus_error *err)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t b = 0; b < l->count; b++) l->block[b]->first_patch = count_patches(l, l->block[b]);
    int64_t patches = 0;
    for (int32_t b = 0; b < l->count; b++) {
        int32_t own = l->block[b]->first_patch;
        l->block[b]->first_patch = (int32_t)patches;
        patches += own;
    }
    if (patches > INT32_MAX / 8) return too_many(err);
    patch_record *record = *records = TL_NEW(patch_record, patches + 1);
    if (!record) return TL_FAIL(err, TALUS_NO_MEMORY, "surface: no memory for %lld patches", (long long)patches);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t b = 0; b < l->count; b++) find_patches(l, l->block[b], m, record + l->block[b]->first_patch);

    int32_t sharp = 0, triangles = 0;
    for (int32_t b = 0; b < l->count; b++) {
        int64_t end = b + 1 < l->count ? l->block[b + 1]->first_patch : patches;
        l->block[b]->first_sharp = sharp;
        l->block[b]->first_triangle = triangles;
        for (int64_t p = l->block[b]->first_patch; p < end; p++) {
            sharp += record[p].sharp != TL_MARCH_SMOOTH;
            triangles += triangles_of(&record[p]);
        }
    }
    TL_TRY(make_room(m, sharp, triangles, err));
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t b = 0; b < l->count; b++) {
        int64_t end = b + 1 < l->count ? l->block[b + 1]->first_patch : patches;
        int32_t fresh = m->vertices + l->block[b]->first_sharp, at = l->block[b]->first_triangle;
        for (int64_t p = l->block[b]->first_patch; p < end; p++) {
            write_patch(&record[p], m, m->triangle + at, fresh);
            fresh += record[p].sharp != TL_MARCH_SMOOTH;
            at += triangles_of(&record[p]);
        }
    }
    m->vertices += sharp;
    return TALUS_OK;
}

void tl_march_mesh_free(tl_march_mesh *m)
{
    tl_free(m->vertex);
    tl_free(m->normal);
    tl_free(m->sharp);
    tl_free(m->triangle);
    *m = (tl_march_mesh){0};
}

talus_status tl_march_lattice(const tl_march_source *s, tl_march_mesh *out, talus_error *err)
{
    lattice l = {.s = s};
    patch_record *records = NULL;
    *out = (tl_march_mesh){0};
    talus_status status = find_blocks(&l, err);
    if (status == TALUS_OK) status = place_all(&l, out, err);
    if (status == TALUS_OK) status = connect(&l, out, &records, err);
    tl_free(records);
    for (int32_t b = 0; b < l.count; b++) tl_free(l.block[b]);
    tl_free(l.block);
    tl_free(l.index);
    if (status != TALUS_OK) tl_march_mesh_free(out);
    return status;
}
