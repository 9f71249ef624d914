#include "geom/sdf_grid.h"

#include "base/alloc.h"
#include "geom/shape_node.h"

#define SIDE 8
#define SAMPLES (SIDE + 1) /* along a block: neighbours share their face, so that no cell reads two blocks */
#define BLOCK (SAMPLES * SAMPLES * SAMPLES)
#define BLOCKS_MAX (1 << 28)

struct tl_sdf_grid {
    tl_vec3 origin;
    double cell, band;
    int n[3]; /* blocks along each axis */
    int32_t kept;
    int32_t *index; /* [n0 n1 n2] place in `value`, -1 not kept */
    float *coarse;  /* [(n0+1)(n1+1)(n2+1)] distances at block corners */
    float *value;   /* [kept][BLOCK] */
    tl_box3 box;    /* of the shape */
};

static int64_t block_at(const tl_sdf_grid *g, int i, int j, int k) { return ((int64_t)k * g->n[1] + j) * g->n[0] + i; }
static int64_t corner_at(const tl_sdf_grid *g, int i, int j, int k)
{
    return ((int64_t)k * (g->n[1] + 1) + j) * (g->n[0] + 1) + i;
}

static tl_vec3 place(const tl_sdf_grid *g, double i, double j, double k)
{
    return (tl_vec3){g->origin.x + g->cell * i, g->origin.y + g->cell * j, g->origin.z + g->cell * k};
}

/* Half the diagonal of a block: a distance at its middle says this much less about its corners. */
static double block_reach(const tl_sdf_grid *g) { return 0.5 * SIDE * 1.7320508075688773 * g->cell; }

static void fill_block(const tl_sdf_grid *g, const tl_shape_tree *t, int node, int i, int j, int k, float *value)
{
    for (int z = 0; z < SAMPLES; z++)
        for (int y = 0; y < SAMPLES; y++)
            for (int x = 0; x < SAMPLES; x++)
                *value++ = (float)tl_shape_distance(t, node, place(g, SIDE * i + x, SIDE * j + y, SIDE * k + z));
}

static talus_status fill(tl_sdf_grid *g, const tl_shape_tree *t, int node, talus_error *err)
{
    int64_t blocks = (int64_t)g->n[0] * g->n[1] * g->n[2],
            corners = (int64_t)(g->n[0] + 1) * (g->n[1] + 1) * (g->n[2] + 1);
    g->index = TL_NEW(int32_t, blocks);
    g->coarse = TL_NEW(float, corners);
    if (!g->index || !g->coarse)
        return TL_FAIL(err, TALUS_NO_MEMORY, "distance grid: no memory for %lld blocks", (long long)blocks);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t c = 0; c < corners; c++) {
        int i = (int)(c % (g->n[0] + 1)), j = (int)(c / (g->n[0] + 1) % (g->n[1] + 1)),
            k = (int)(c / (g->n[0] + 1) / (g->n[1] + 1));
        g->coarse[c] = (float)tl_shape_distance(t, node, place(g, SIDE * i, SIDE * j, SIDE * k));
    }
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t b = 0; b < blocks; b++) {
        int i = (int)(b % g->n[0]), j = (int)(b / g->n[0] % g->n[1]), k = (int)(b / g->n[0] / g->n[1]);
        double d = tl_shape_distance(t, node, place(g, SIDE * (i + 0.5), SIDE * (j + 0.5), SIDE * (k + 0.5)));
        g->index[b] = fabs(d) <= g->band + block_reach(g) ? 0 : -1;
    }
    for (int64_t b = 0; b < blocks; b++)
        if (g->index[b] == 0) g->index[b] = g->kept++;
    g->value = TL_NEW(float, (int64_t)g->kept *BLOCK + 1);
    if (!g->value)
        return TL_FAIL(err, TALUS_NO_MEMORY, "distance grid: no memory for %d blocks near the surface", g->kept);
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t b = 0; b < blocks; b++) {
        int i = (int)(b % g->n[0]), j = (int)(b / g->n[0] % g->n[1]), k = (int)(b / g->n[0] / g->n[1]);
        if (g->index[b] >= 0) fill_block(g, t, node, i, j, k, g->value + (int64_t)g->index[b] * BLOCK);
    }
    return TALUS_OK;
}

talus_status tl_sdf_grid_create(tl_sdf_grid **out, const tl_shape_tree *t, int node, double cell, double band,
                                talus_error *err)
{
    *out = NULL;
    if (!tl_shape_bounded(t, node)) return TL_FAIL(err, TALUS_BAD_INPUT, "distance grid: the shape must be bounded");
    if (!(cell > 0 && cell < INFINITY))
        return TL_FAIL(err, TALUS_BAD_INPUT, "distance grid: cell must be > 0, got %g", cell);
    if (!(band >= 0 && band < INFINITY))
        return TL_FAIL(err, TALUS_BAD_INPUT, "distance grid: band must be >= 0, got %g", band);
    tl_box3 box = tl_shape_bounds(t, node);
    double pad = band + cell, lo[3] = {box.lo.x - pad, box.lo.y - pad, box.lo.z - pad},
           hi[3] = {box.hi.x + pad, box.hi.y + pad, box.hi.z + pad}, blocks = 1;
    for (int a = 0; a < 3; a++) blocks *= ceil((hi[a] - lo[a]) / (SIDE * cell));
    if (!(blocks < BLOCKS_MAX))
        return TL_FAIL(err, TALUS_BAD_INPUT, "distance grid: cell = %g would need %g blocks of 8^3 cells, allowed %d",
                       cell, blocks, BLOCKS_MAX);

    tl_sdf_grid *g = TL_NEW_ZERO(tl_sdf_grid, 1);
    if (!g) return TL_FAIL(err, TALUS_NO_MEMORY, "distance grid: no memory");
    g->cell = cell;
    g->band = band;
    g->box = box;
    g->origin = (tl_vec3){lo[0], lo[1], lo[2]};
    for (int a = 0; a < 3; a++) g->n[a] = (int)ceil((hi[a] - lo[a]) / (SIDE * cell));
    talus_status status = fill(g, t, node, err);
    if (status != TALUS_OK) {
        tl_sdf_grid_free(g);
        return status;
    }
    *out = g;
    return TALUS_OK;
}

void tl_sdf_grid_free(tl_sdf_grid *g)
{
    if (!g) return;
    tl_free(g->index);
    tl_free(g->coarse);
    tl_free(g->value);
    tl_free(g);
}

size_t tl_sdf_grid_bytes(const tl_sdf_grid *g)
{
    size_t blocks = (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
    size_t corners = (size_t)(g->n[0] + 1) * (size_t)(g->n[1] + 1) * (size_t)(g->n[2] + 1);
    return sizeof *g + blocks * sizeof(int32_t) + corners * sizeof(float) + (size_t)g->kept * BLOCK * sizeof(float);
}

/* ---- reading ---- */

/* v: the cell's 8 corners, x fastest; u in [0,1]^3. */
static double trilinear(const float v[8], tl_vec3 u, tl_vec3 *g)
{
    double x00 = v[0] + u.x * (v[1] - v[0]), x10 = v[2] + u.x * (v[3] - v[2]);
    double x01 = v[4] + u.x * (v[5] - v[4]), x11 = v[6] + u.x * (v[7] - v[6]);
    double y0 = x00 + u.y * (x10 - x00), y1 = x01 + u.y * (x11 - x01);
    if (g) {
        double d00 = v[1] - v[0], d10 = v[3] - v[2], d01 = v[5] - v[4], d11 = v[7] - v[6];
        double e0 = d00 + u.y * (d10 - d00), e1 = d01 + u.y * (d11 - d01);
        *g = (tl_vec3){e0 + u.z * (e1 - e0), (x10 - x00) + u.z * ((x11 - x01) - (x10 - x00)), y1 - y0};
    }
    return y0 + u.z * (y1 - y0);
}

/* Cell of `n` along an axis, and the place in it. */
static int split(double x, int n, double *u)
{
    int i = (int)x;
    i = i < 0 ? 0 : i > n - 1 ? n - 1 : i;
    *u = x - i;
    return i;
}

static double eval(const tl_sdf_grid *g, tl_vec3 p, tl_vec3 *slope)
{
    tl_vec3 x = tl_vec3_scale(1 / (SIDE * g->cell), tl_vec3_sub(p, g->origin)), u; /* in blocks */
    if (!(x.x >= 0 && x.y >= 0 && x.z >= 0 && x.x <= g->n[0] && x.y <= g->n[1] && x.z <= g->n[2])) {
        tl_vec3 nearest = tl_vec3_min(tl_vec3_max(p, g->box.lo), g->box.hi);
        if (slope) *slope = tl_vec3_normalize_or(tl_vec3_sub(p, nearest), (tl_vec3){0, 1, 0});
        return tl_box3_distance(&g->box, p);
    }
    int i = split(x.x, g->n[0], &u.x), j = split(x.y, g->n[1], &u.y), k = split(x.z, g->n[2], &u.z);
    int32_t b = g->index[block_at(g, i, j, k)];
    float v[8];
    if (b >= 0) {
        int ci = split(SIDE * u.x, SIDE, &u.x), cj = split(SIDE * u.y, SIDE, &u.y), ck = split(SIDE * u.z, SIDE, &u.z);
        const float *at = g->value + (int64_t)b * BLOCK + (ck * SAMPLES + cj) * SAMPLES + ci;
        for (int c = 0; c < 8; c++) v[c] = at[((c >> 2) * SAMPLES + (c >> 1 & 1)) * SAMPLES + (c & 1)];
        double d = trilinear(v, u, slope);
        if (slope) *slope = tl_vec3_scale(1 / g->cell, *slope);
        return d;
    }
    for (int c = 0; c < 8; c++) v[c] = g->coarse[corner_at(g, i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))];
    double d = trilinear(v, u, slope);
    if (slope) *slope = tl_vec3_scale(1 / (SIDE * g->cell), *slope);
    return copysign(tl_max(fabs(d) - block_reach(g), g->band),
                    d); /* an interpolant is off by half a diagonal at most */
}

double tl_sdf_grid_distance(const tl_sdf_grid *g, tl_vec3 p) { return eval(g, p, NULL); }

tl_vec3 tl_sdf_grid_gradient(const tl_sdf_grid *g, tl_vec3 p)
{
    tl_vec3 slope;
    eval(g, p, &slope);
    return slope;
}
