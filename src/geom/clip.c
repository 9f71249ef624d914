#include "geom/clip.h"

#include <math.h>
#include <string.h>

#define CORNERS_MAX 10      /* a triangle between six planes has nine at most */
#define CELLS_MAX (1 << 24) /* cells of a box: a surface beyond that has left all bounds */
#define FAR 1e8             /* cubes from the origin */
#define SNAP 1e-9           /* cubes: a corner within this of a lattice plane lies in it */

/* A corner: place in cubes, weights of the triangle's corners. */
typedef struct corner {
    double x[3], w[3];
} corner;

typedef struct polygon {
    int count;
    corner at[CORNERS_MAX];
} polygon;

typedef struct cutter {
    const tl_clip *lattice;
    int32_t triangle;
    double normal[3];
    int64_t room, count;
    tl_clip_piece *piece; /* NULL: counted alone */
} cutter;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to cut the surface of an elastic body");
}

/* Where the edge from a to b meets a plane; from the lower end, so that both triangles of an edge agree. */
static corner meet(const corner *a, const corner *b, int axis, double plane)
{
    const corner *low = a->x[axis] < b->x[axis] ? a : b, *high = low == a ? b : a;
    double t = (plane - low->x[axis]) / (high->x[axis] - low->x[axis]);
    corner out;
    for (int k = 0; k < 3; k++) {
        out.x[k] = low->x[k] + t * (high->x[k] - low->x[k]);
        out.w[k] = low->w[k] + t * (high->w[k] - low->w[k]);
    }
    out.x[axis] = plane;
    return out;
}

static void put(polygon *p, const corner *c)
{
    if (p->count < CORNERS_MAX) p->at[p->count++] = *c;
}

/* Below the plane, and above. */
static void split(const polygon *p, int axis, double plane, polygon *below, polygon *above)
{
    below->count = above->count = 0;
    for (int i = 0; i < p->count; i++) {
        const corner *a = &p->at[i], *b = &p->at[(i + 1) % p->count];
        double da = a->x[axis] - plane, db = b->x[axis] - plane;
        if (da <= 0) put(below, a);
        if (da >= 0) put(above, a);
        if ((da < 0 && db > 0) || (da > 0 && db < 0)) {
            corner m = meet(a, b, axis, plane);
            put(below, &m);
            put(above, &m);
        }
    }
}

/* Area vector and its centroid, by triangles from the first corner. */
static void emit(cutter *c, const polygon *p, const int32_t cube[3])
{
    const double h = c->lattice->h;
    double area[3] = {0, 0, 0}, x[3] = {0, 0, 0}, w[3] = {0, 0, 0}, sum = 0;
    for (int i = 1; i + 1 < p->count; i++) {
        const corner *o = &p->at[0], *a = &p->at[i], *b = &p->at[i + 1];
        double u[3], v[3], n[3], size = 0;
        for (int k = 0; k < 3; k++) u[k] = a->x[k] - o->x[k], v[k] = b->x[k] - o->x[k];
        for (int k = 0; k < 3; k++) {
            n[k] = 0.5 * (u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]);
            area[k] += n[k];
            size += n[k] * c->normal[k];
        }
        for (int k = 0; k < 3; k++) {
            x[k] += size * (o->x[k] + a->x[k] + b->x[k]) / 3;
            w[k] += size * (o->w[k] + a->w[k] + b->w[k]) / 3;
        }
        sum += size;
    }
    if (!(sum > 0)) return;
    if (c->piece) {
        TL_ASSERT(c->count < c->room);
        tl_clip_piece *q = &c->piece[c->count];
        const tl_vec3 o = c->lattice->origin;
        *q = (tl_clip_piece){.triangle = c->triangle,
                             .area = {h * h * area[0], h * h * area[1], h * h * area[2]},
                             .centre = {o.x + h * x[0] / sum, o.y + h * x[1] / sum, o.z + h * x[2] / sum}};
        for (int k = 0; k < 3; k++) q->weight[k] = w[k] / sum;
        memcpy(q->cube, cube, sizeof q->cube);
    }
    c->count++;
}

static double snap(double x)
{
    double whole = round(x);
    return fabs(x - whole) < SNAP ? whole : x;
}

/* Slab by slab along an axis, then along the next. */
static void cut(cutter *c, polygon p, int axis, int32_t cube[3])
{
    double low = INFINITY, high = -INFINITY;
    if (p.count < 3) return;
    if (axis == 3) {
        emit(c, &p, cube);
        return;
    }
    for (int i = 0; i < p.count; i++) {
        low = fmin(low, p.at[i].x[axis]);
        high = fmax(high, p.at[i].x[axis]);
    }
    int32_t first = (int32_t)floor(low), last = (int32_t)ceil(high) - 1;
    if (last < first) first = last = c->normal[axis] > 0 ? first : first - 1; /* in a lattice plane */
    for (int32_t k = first; k <= last; k++) {
        polygon here = p, rest = {.count = 0};
        if (k < last) split(&p, axis, k + 1, &here, &rest);
        cube[axis] = k;
        cut(c, here, axis + 1, cube);
        p = rest;
    }
}

static void cut_triangle(cutter *c, const double *x, const int32_t t[3])
{
    const tl_clip *l = c->lattice;
    const double origin[3] = {l->origin.x, l->origin.y, l->origin.z};
    polygon p = {.count = 3};
    int32_t cube[3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            p.at[i].x[k] = snap((x[3 * (int64_t)t[i] + k] - origin[k]) / l->h);
            p.at[i].w[k] = i == k;
        }
    for (int k = 0; k < 3; k++) {
        int m = (k + 1) % 3, n = (k + 2) % 3;
        c->normal[k] = (p.at[1].x[m] - p.at[0].x[m]) * (p.at[2].x[n] - p.at[0].x[n]) -
                       (p.at[1].x[n] - p.at[0].x[n]) * (p.at[2].x[m] - p.at[0].x[m]);
    }
    cut(c, p, 0, cube);
}

/* Cells around all vertices, one more at each end: the sums begin with nothing. */
static talus_status find_box(tl_clip *c, int32_t triangles, const int32_t (*triangle)[3], const double *x,
                             talus_error *err)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, cells = 1;
    const double origin[3] = {c->origin.x, c->origin.y, c->origin.z};
    for (int32_t t = 0; t < triangles; t++)
        for (int i = 0; i < 9; i++) {
            double at = (x[3 * (int64_t)triangle[t][i / 3] + i % 3] - origin[i % 3]) / c->h;
            if (!(fabs(at) < FAR))
                return TL_FAIL(err, TALUS_NOT_DEFINITE, "the surface of an elastic body has left all bounds");
            low[i % 3] = fmin(low[i % 3], at);
            high[i % 3] = fmax(high[i % 3], at);
        }
    for (int k = 0; k < 3; k++) {
        c->lo[k] = triangles ? (int32_t)floor(0.5 * low[k]) - 1 : 0;
        c->n[k] = triangles ? (int32_t)floor(0.5 * high[k]) + 2 - c->lo[k] : 0;
        cells *= c->n[k];
    }
    if (cells > CELLS_MAX)
        return TL_FAIL(err, TALUS_NOT_DEFINITE, "the surface of an elastic body reaches over %.3g cells", cells);
    return TALUS_OK;
}

/* ---- sums along lines ---- */

/* Of the pieces in a cube: a_axis, and a_axis times the way from the cube's centre. */
typedef struct line_sum {
    double a, m[3];
} line_sum;

static void gather(const tl_clip *c, int axis, line_sum *sum)
{
    const double origin[3] = {c->origin.x, c->origin.y, c->origin.z};
    for (int64_t i = 0; i < c->pieces; i++) {
        const tl_clip_piece *p = &c->piece[i];
        const double area[3] = {p->area.x, p->area.y, p->area.z}, at[3] = {p->centre.x, p->centre.y, p->centre.z};
        int64_t cube = 0;
        for (int k = 0; k < 3; k++) cube = cube * 2 * c->n[k] + p->cube[k] - 2 * c->lo[k];
        sum[cube].a += area[axis];
        for (int k = 0; k < 3; k++) sum[cube].m[k] += area[axis] * (at[k] - origin[k] - (p->cube[k] + 0.5) * c->h);
    }
}

/* A quarter of a cell's lower face gets its part. place: of the cube among all. */
static void add_quarter(const tl_clip *c, int axis, const int32_t cube[3], double S, const double M[3])
{
    int64_t cell = 0;
    double moment[3];
    for (int k = 0; k < 3; k++) {
        double off = k == axis ? 0 : (cube[k] & 1 ? 0.5 : -0.5) * c->h;
        cell = cell * c->n[k] + cube[k] / 2;
        moment[k] = 0.25 * (k == axis ? 0 : M[k] + S * off);
    }
    c->area[axis][cell] += 0.25 * S;
    c->moment[axis][cell] = tl_vec3_add(c->moment[axis][cell], tl_vec3_load(moment));
}

static void run_line(const tl_clip *c, int axis, int32_t cube[3], const line_sum *sum)
{
    const double per = 1 / (c->h * c->h);
    double S = 0, M[3] = {0, 0, 0};
    for (cube[axis] = 0; cube[axis] < 2 * c->n[axis]; cube[axis]++) {
        int64_t i = ((int64_t)cube[0] * 2 * c->n[1] + cube[1]) * 2 * c->n[2] + cube[2];
        if (!(cube[axis] & 1) && (S != 0 || M[0] != 0 || M[1] != 0 || M[2] != 0)) add_quarter(c, axis, cube, S, M);
        if (sum[i].a != 0 || sum[i].m[0] != 0 || sum[i].m[1] != 0 || sum[i].m[2] != 0) {
            S -= per * sum[i].a;
            for (int k = 0; k < 3; k++) M[k] -= per * sum[i].m[k];
        }
        if (axis == 0) c->volume[i] = S + per * (sum[i].m[0] / c->h + 0.5 * sum[i].a);
    }
}

static talus_status run_lines(tl_clip *c, tl_arena *a, talus_error *err)
{
    const int64_t cells = (int64_t)c->n[0] * c->n[1] * c->n[2];
    c->volume = TL_TAKE(a, double, 8 * cells);
    for (int k = 0; k < 3; k++) {
        c->area[k] = TL_TAKE_ZERO(a, double, cells);
        c->moment[k] = TL_TAKE_ZERO(a, tl_vec3, cells);
        if (!c->area[k] || !c->moment[k]) return no_memory(err);
    }
    size_t mark = tl_arena_mark(a);
    line_sum *sum = TL_TAKE(a, line_sum, 8 * cells);
    if (!c->volume || !sum) return no_memory(err);
    for (int axis = 0; axis < 3; axis++) {
        const int u = (axis + 1) % 3, v = (axis + 2) % 3;
        memset(sum, 0, sizeof *sum * (size_t)(8 * cells));
        gather(c, axis, sum);
        for (int32_t i = 0; i < 2 * c->n[u]; i++)
            for (int32_t j = 0; j < 2 * c->n[v]; j++) {
                int32_t cube[3];
                cube[u] = i;
                cube[v] = j;
                run_line(c, axis, cube, sum);
            }
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}

talus_status tl_clip_surface(tl_clip *out, tl_vec3 origin, double dx, int32_t triangles, const int32_t (*triangle)[3],
                             const double *x, tl_arena *a, talus_error *err)
{
    *out = (tl_clip){.origin = origin, .h = 0.5 * dx};
    TL_TRY(find_box(out, triangles, triangle, x, err));
    cutter c = {.lattice = out};
    for (c.triangle = 0; c.triangle < triangles; c.triangle++) cut_triangle(&c, x, triangle[c.triangle]);
    c.room = c.count;
    c.count = 0;
    out->piece = c.piece = TL_TAKE(a, tl_clip_piece, c.room + 1);
    if (!c.piece) return no_memory(err);
    for (c.triangle = 0; c.triangle < triangles; c.triangle++) cut_triangle(&c, x, triangle[c.triangle]);
    out->pieces = c.count;
    return run_lines(out, a, err);
}
