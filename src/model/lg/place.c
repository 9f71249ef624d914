#include "model/lg/place.h"

#include <math.h>

#include "base/alloc.h"
#include "model/lg/cells.h"

#define CELL_EDGES 1.5 /* mean edges: about 30 tetrahedra look into a cell */
#define CELLS_MAX 4000000.0

struct tl_lg_finder {
    const tl_lg *lg;
    const tl_lg_body *body;
    int32_t elements;
    int32_t (*node)[4]; /* [elements] a cloth's fourth is -1 */
    tl_vec3 lo;
    double cell, edge;
    int n[3];
    int32_t *start; /* [cells + 1] */
    int32_t *inside;
};

tl_vec3 tl_lg_point_at(const tl_lg_point *p, const double *q)
{
    tl_vec3 x = {0, 0, 0};
    for (int k = 0; k < 4 && p->node[k] >= 0; k++)
        x = tl_vec3_add_scaled(x, p->weight[k], tl_vec3_load(q + 3 * (int64_t)p->node[k]));
    return x;
}

/* ---- elements ---- */

static void list_elements(tl_lg_finder *f)
{
    const tl_lg *lg = f->lg;
    for (int32_t b = f->body->batch; b < f->body->batch + f->body->batches; b++)
        for (int l = 0; l < TL_LG_LANES; l++) {
            if (f->body->kind == TL_LG_HEXES) { /* places within a cell: of one of six tetrahedra */
                int32_t corner[8];
                if (!(lg->hexes[b].V[l] > 0)) continue;
                for (int k = 0; k < 8; k++) corner[k] = lg->hexes[b].node[k][l];
                tl_lg_split_cell(corner, f->node + f->elements);
                f->elements += 6;
                continue;
            }
            bool tets = f->body->kind == TL_LG_TETS;
            if (!((tets ? lg->tets[b].V[l] : lg->triangles[b].V[l]) > 0)) continue;
            int32_t *e = f->node[f->elements++];
            for (int k = 0; k < 4; k++) e[k] = tets ? lg->tets[b].node[k][l] : k < 3 ? lg->triangles[b].node[k][l] : -1;
        }
}

static tl_vec3 rest_of(const tl_lg_finder *f, int32_t node) { return tl_vec3_load(f->lg->rest + 3 * (int64_t)node); }

static tl_box3 box_of(const tl_lg_finder *f, int32_t e)
{
    tl_vec3 first = rest_of(f, f->node[e][0]);
    tl_box3 b = {first, first};
    for (int k = 1; k < 4 && f->node[e][k] >= 0; k++) {
        tl_vec3 x = rest_of(f, f->node[e][k]);
        b.lo = tl_vec3_min(b.lo, x);
        b.hi = tl_vec3_max(b.hi, x);
    }
    return b;
}

/* Weights of a place in an element; returns how far outside. */
static double weigh(const tl_lg_finder *f, int32_t e, tl_vec3 place, double w[4])
{
    const int32_t *n = f->node[e];
    tl_vec3 x0 = rest_of(f, n[0]), a = tl_vec3_sub(rest_of(f, n[1]), x0), b = tl_vec3_sub(rest_of(f, n[2]), x0),
            p = tl_vec3_sub(place, x0), normal = tl_vec3_cross(a, b);
    double height = 0;
    if (n[3] >= 0) {
        tl_vec3 c = tl_vec3_sub(rest_of(f, n[3]), x0);
        double volume = tl_vec3_dot(normal, c);
        w[1] = tl_vec3_dot(tl_vec3_cross(b, c), p) / volume;
        w[2] = tl_vec3_dot(tl_vec3_cross(c, a), p) / volume;
        w[3] = tl_vec3_dot(normal, p) / volume;
    } else {
        double area2 = tl_vec3_norm2(normal);
        w[1] = tl_vec3_dot(normal, tl_vec3_cross(p, b)) / area2;
        w[2] = tl_vec3_dot(normal, tl_vec3_cross(a, p)) / area2;
        w[3] = 0;
        height = fabs(tl_vec3_dot(normal, p)) / (sqrt(area2) * f->edge);
    }
    w[0] = 1 - w[1] - w[2] - w[3];
    double least = fmin(fmin(w[0], w[1]), w[2]);
    if (n[3] >= 0) least = fmin(least, w[3]);
    return fmax(fmax(-least, 0), height);
}

/* ---- cells ---- */

static int clamp_cell(double x, int n) { return x < 0 ? 0 : x >= n ? n - 1 : (int)x; }

static void cell_of(const tl_lg_finder *f, tl_vec3 x, int c[3])
{
    const double at[3] = {x.x - f->lo.x, x.y - f->lo.y, x.z - f->lo.z};
    for (int k = 0; k < 3; k++) c[k] = clamp_cell(at[k] / f->cell, f->n[k]);
}

/* Counts (fill NULL) or enters elements into the cells that their boxes, grown by half a cell, meet. */
static void enter(tl_lg_finder *f, int32_t *fill)
{
    tl_vec3 half = {0.5 * f->cell, 0.5 * f->cell, 0.5 * f->cell};
    for (int32_t e = 0; e < f->elements; e++) {
        tl_box3 b = box_of(f, e);
        int lo[3], hi[3];
        cell_of(f, tl_vec3_sub(b.lo, half), lo);
        cell_of(f, tl_vec3_add(b.hi, half), hi);
        for (int k = lo[2]; k <= hi[2]; k++)
            for (int j = lo[1]; j <= hi[1]; j++)
                for (int i = lo[0]; i <= hi[0]; i++) {
                    int32_t c = i + f->n[0] * (j + f->n[1] * k);
                    if (fill)
                        f->inside[fill[c]++] = e;
                    else
                        f->start[c + 1]++;
                }
    }
}

static talus_status sort_elements(tl_lg_finder *f, talus_error *err)
{
    tl_box3 all = box_of(f, 0);
    double sum = 0;
    for (int32_t e = 0; e < f->elements; e++) {
        tl_box3 b = box_of(f, e);
        all.lo = tl_vec3_min(all.lo, b.lo);
        all.hi = tl_vec3_max(all.hi, b.hi);
        sum += tl_vec3_max_abs(tl_vec3_sub(b.hi, b.lo));
    }
    tl_vec3 size = tl_vec3_sub(all.hi, all.lo);
    f->edge = sum / f->elements;
    f->lo = all.lo;
    f->cell = CELL_EDGES * f->edge;
    while ((size.x / f->cell + 1) * (size.y / f->cell + 1) * (size.z / f->cell + 1) > CELLS_MAX) f->cell *= 2;
    f->n[0] = (int)(size.x / f->cell) + 1;
    f->n[1] = (int)(size.y / f->cell) + 1;
    f->n[2] = (int)(size.z / f->cell) + 1;
    int32_t cells = f->n[0] * f->n[1] * f->n[2];
    f->start = TL_NEW_ZERO(int32_t, (int64_t)cells + 1);
    int32_t *fill = TL_NEW(int32_t, (int64_t)cells + 1);
    if (f->start && fill) {
        enter(f, NULL);
        for (int32_t c = 0; c < cells; c++) f->start[c + 1] += f->start[c];
        for (int32_t c = 0; c < cells; c++) fill[c] = f->start[c];
        f->inside = TL_NEW(int32_t, (int64_t)f->start[cells] + 1);
        if (f->inside) enter(f, fill);
    }
    tl_free(fill);
    return f->inside ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to look for places in elastic bodies");
}

talus_status tl_lg_finder_create(tl_lg_finder **out, const tl_lg *lg, int body, talus_error *err)
{
    tl_lg_finder *f = TL_NEW_ZERO(tl_lg_finder, 1);
    *out = f;
    if (!f) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to look for places in elastic bodies");
    f->lg = lg;
    f->body = &lg->body[body];
    f->node = tl_alloc(sizeof *f->node * (size_t)(6 * f->body->batches * TL_LG_LANES + 1));
    talus_status status = TALUS_OK;
    if (!f->node) status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory to look for places in elastic bodies");
    if (status == TALUS_OK) {
        list_elements(f);
        status = sort_elements(f, err);
    }
    if (status == TALUS_OK) return TALUS_OK;
    tl_lg_finder_free(f);
    *out = NULL;
    return status;
}

void tl_lg_finder_free(tl_lg_finder *f)
{
    if (!f) return;
    tl_free(f->node);
    tl_free(f->start);
    tl_free(f->inside);
    tl_free(f);
}

double tl_lg_find(const tl_lg_finder *f, tl_vec3 place, tl_lg_point *out)
{
    int c[3];
    cell_of(f, place, c);
    int32_t cell = c[0] + f->n[0] * (c[1] + f->n[1] * c[2]), best = -1;
    int32_t from = f->start[cell], to = f->start[cell + 1];
    bool any = to > from; /* else all elements are asked */
    double least = INFINITY, w[4];
    for (int32_t k = any ? from : 0; k < (any ? to : f->elements) && least > 0; k++) {
        int32_t e = any ? f->inside[k] : k;
        double off = weigh(f, e, place, w);
        if (off < least) least = off, best = e;
    }
    weigh(f, best, place, w);
    for (int k = 0; k < 4; k++) {
        out->node[k] = f->node[best][k];
        out->weight[k] = w[k];
    }
    return least;
}
