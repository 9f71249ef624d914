/* Thin parts of a surface, line by line through the centres of cells. */
#include <math.h>
#include <string.h>

#include "geom/clip.h"

#define OPPOSITE (-0.5) /* product of the two unit normals of a thin part: they look away from each other */
/* Lines pass beside the centres by this many cells: through no edge of what was made on the grid. */
#define ASIDE_U 1.3e-7
#define ASIDE_V 0.7e-7

typedef struct crossing {
    double x; /* along the line, cells from the box */
    tl_vec3 normal;
} crossing;

typedef struct lines {
    const tl_clip *c;
    int axis, u, v;
    int32_t *start; /* [n_u n_v + 1] */
    crossing *at;   /* NULL: counted alone */
} lines;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to look for thin parts of an elastic body");
}

static double get(tl_vec3 p, int k) { return k == 0 ? p.x : k == 1 ? p.y : p.z; }

/* Twice the area of (a, b, p) in the plane of the lines. */
static double turn(const double a[3], const double b[3], const double p[2], int u, int v)
{
    return (b[u] - a[u]) * (p[1] - a[v]) - (b[v] - a[v]) * (p[0] - a[u]);
}

/* Counts or writes the lines that a triangle crosses. x: corners in cells from the box. */
static void cross_triangle(const lines *l, const double x[3][3], tl_vec3 normal, int32_t *count)
{
    const int u = l->u, v = l->v, axis = l->axis;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        low[0] = fmin(low[0], x[i][u]), high[0] = fmax(high[0], x[i][u]);
        low[1] = fmin(low[1], x[i][v]), high[1] = fmax(high[1], x[i][v]);
    }
    for (int32_t i = (int32_t)floor(low[0] - 0.5); i <= (int32_t)ceil(high[0] - 0.5); i++)
        for (int32_t j = (int32_t)floor(low[1] - 0.5); j <= (int32_t)ceil(high[1] - 0.5); j++) {
            if (i < 0 || j < 0 || i >= l->c->n[u] || j >= l->c->n[v]) continue;
            const double p[2] = {i + 0.5 + ASIDE_U, j + 0.5 + ASIDE_V};
            double w[3] = {turn(x[1], x[2], p, u, v), turn(x[2], x[0], p, u, v), turn(x[0], x[1], p, u, v)};
            bool left = w[0] >= 0 && w[1] >= 0 && w[2] >= 0, right = w[0] <= 0 && w[1] <= 0 && w[2] <= 0;
            double sum = w[0] + w[1] + w[2];
            if (!(left || right) || sum == 0) continue;
            int64_t line = (int64_t)i * l->c->n[v] + j;
            if (l->at) {
                double at = (w[0] * x[0][axis] + w[1] * x[1][axis] + w[2] * x[2][axis]) / sum;
                l->at[l->start[line] + count[line]] = (crossing){at, normal};
            }
            count[line]++;
        }
}

static void cross_all(const lines *l, int32_t triangles, const int32_t (*triangle)[3], const double *place,
                      int32_t *count)
{
    const double dx = 2 * l->c->h;
    for (int32_t t = 0; t < triangles; t++) {
        double x[3][3];
        tl_vec3 corner[3];
        for (int i = 0; i < 3; i++) {
            corner[i] = tl_vec3_load(place + 3 * (int64_t)triangle[t][i]);
            for (int k = 0; k < 3; k++) x[i][k] = (get(corner[i], k) - get(l->c->origin, k)) / dx - l->c->lo[k];
        }
        tl_vec3 n =
            tl_vec3_normalize(tl_vec3_cross(tl_vec3_sub(corner[1], corner[0]), tl_vec3_sub(corner[2], corner[0])));
        cross_triangle(l, x, n, count);
    }
}

static void sort(crossing *at, int32_t n)
{
    for (int32_t i = 1; i < n; i++)
        for (int32_t k = i; k > 0 && at[k].x < at[k - 1].x; k--) {
            crossing swap = at[k];
            at[k] = at[k - 1];
            at[k - 1] = swap;
        }
}

/* Faces of the cells that a thin part from..to has on its line. */
static void seal(const lines *l, const int32_t at[2], double from, double to)
{
    const tl_clip *c = l->c;
    int32_t cell[3], first = (int32_t)ceil(from - 0.5), last = (int32_t)floor(to - 0.5);
    cell[l->u] = at[0];
    cell[l->v] = at[1];
    /* centres inside: the faces on either side of them; none: the face between the two around it */
    const int32_t face[2] = {first, last >= first ? last + 1 : first};
    for (int k = 0; k < 2; k++) {
        cell[l->axis] = face[k];
        if (face[k] < 0 || face[k] >= c->n[l->axis]) continue;
        c->sealed[l->axis][((int64_t)cell[0] * c->n[1] + cell[1]) * c->n[2] + cell[2]] = 1;
    }
}

static void seal_line(const lines *l, const int32_t at[2], crossing *of, int32_t n, double *least)
{
    int depth = 0;
    sort(of, n);
    for (int32_t i = 0, from = 0; i < n; i++) {
        bool enters = get(of[i].normal, l->axis) < 0;
        if (enters && depth == 0) from = i;
        depth += enters ? 1 : -1;
        if (depth != 0) continue;
        double thick = of[i].x - of[from].x;
        if (!(thick < TL_CLIP_THIN) || tl_vec3_dot(of[from].normal, of[i].normal) > OPPOSITE) continue;
        seal(l, at, of[from].x, of[i].x);
        *least = fmin(*least, thick * fabs(get(of[i].normal, l->axis)));
    }
}

talus_status tl_clip_seal(tl_clip *c, int32_t triangles, const int32_t (*triangle)[3], const double *x, double *least,
                          tl_arena *a, talus_error *err)
{
    const int64_t cells = (int64_t)c->n[0] * c->n[1] * c->n[2];
    *least = INFINITY;
    for (int axis = 0; axis < 3; axis++)
        if (!(c->sealed[axis] = TL_TAKE_ZERO(a, uint8_t, cells))) return no_memory(err);
    for (int axis = 0; axis < 3; axis++) {
        size_t mark = tl_arena_mark(a);
        lines l = {.c = c, .axis = axis, .u = (axis + 1) % 3, .v = (axis + 2) % 3};
        const int64_t count = (int64_t)c->n[l.u] * c->n[l.v];
        int32_t *n = TL_TAKE_ZERO(a, int32_t, count + 1);
        l.start = TL_TAKE_ZERO(a, int32_t, count + 1);
        if (!n || !l.start) return no_memory(err);
        cross_all(&l, triangles, triangle, x, n);
        for (int64_t i = 0; i < count; i++) l.start[i + 1] = l.start[i] + n[i];
        if (!(l.at = TL_TAKE(a, crossing, l.start[count] + 1))) return no_memory(err);
        memset(n, 0, sizeof *n * (size_t)count);
        cross_all(&l, triangles, triangle, x, n);
        for (int64_t i = 0; i < count; i++) {
            const int32_t at[2] = {(int32_t)(i / c->n[l.v]), (int32_t)(i % c->n[l.v])};
            seal_line(&l, at, l.at + l.start[i], n[i], least);
        }
        tl_arena_release(a, mark);
    }
    return TALUS_OK;
}
