#include "model/sph/scan.h"

#include <math.h>
#include <string.h>

#include "model/sph/lanes.h"

#define LANES TL_SPH_LANES
#define REACH2 0x1p44f /* (2h)^2 */

#if !defined(__AVX512F__)
/* One function for both callers: they must agree on pairs at exactly 2h, whatever the compiler makes of the sum. */
__attribute__((noinline)) static void nearer(const tl_sph_candidates *c, int32_t k, const float x[3], int32_t *near)
{
    for (int l = 0; l < LANES; l++) {
        float dx = c->at[0][k + l] - x[0], dy = c->at[1][k + l] - x[1], dz = c->at[2][k + l] - x[2];
        near[l] = dx * dx + dy * dy + dz * dz < REACH2;
    }
}

int32_t tl_sph_scan_count(const tl_sph_candidates *c, const float x[3])
{
    int32_t n = 0, near[LANES];
    for (int32_t k = 0; k < c->count; k += LANES) {
        nearer(c, k, x, near);
        for (int l = 0; l < LANES; l++) n += near[l];
    }
    return n;
}

/* Two stages: distances of a block side by side, then places without a branch. */
int32_t tl_sph_scan(const tl_sph_candidates *c, const float x[3], int32_t *found)
{
    int32_t n = 0, near[LANES];
    for (int32_t k = 0; k < c->count; k += LANES) {
        nearer(c, k, x, near);
        for (int l = 0; l < LANES; l++) {
            found[n] = k + l;
            n += near[l];
        }
    }
    return n;
}
#endif

/* Of a block, one per lane. */
typedef struct lane_gradients {
    float x[LANES], y[LANES], z[LANES], w[LANES];
} lane_gradients;

/* Sums by lane. */
typedef struct lane_sums {
    float w[LANES], x[LANES], y[LANES], z[LANES], g2[LANES];
} lane_sums;

/* Gradients of one block of what was found, in units of `unit` and rounded to whole numbers when it is not 0; lanes
 * from `skip` to `count` are summed. Always 16 and no rest: every pair goes through the same instructions, whichever
 * side it is seen from. */
static inline void gradients(const tl_sph_candidates *c, const float at[3], const int32_t *restrict found, int32_t skip,
                             int32_t count, float unit, lane_gradients *restrict g, lane_sums *restrict sum)
{
    const float length = 0x1p-21f, s = (float)(1 / (4 * TL_SPH_PI)); /* in h; of W, in 1/h^3 */
    const float per = unit > 0 ? 1 / unit : 1;
    tl_f16 x = length * (at[0] - tl_f16_pick(c->at[0], found)), y = length * (at[1] - tl_f16_pick(c->at[1], found)),
           z = length * (at[2] - tl_f16_pick(c->at[2], found));
    for (int l = 0; l < LANES; l++) {
        float dx = x[l], dy = y[l], dz = z[l], on = l >= skip && l < count ? 1.0f : 0.0f;
        float q = sqrtf(dx * dx + dy * dy + dz * dz), outer = 2 - q, inner = 1 - q;
        outer = outer > 0 ? outer : 0;
        inner = inner > 0 ? inner : 0;
        float slope = per * (-3 * s * (outer * outer - 4 * (inner * inner)) / (q > 0 ? q : 1));
        float ex = slope * dx, ey = slope * dy, ez = slope * dz;
        if (unit > 0) {
            ex = rintf(ex);
            ey = rintf(ey);
            ez = rintf(ez);
        }
        g->x[l] = ex;
        g->y[l] = ey;
        g->z[l] = ez;
        g->w[l] = s * (outer * outer * outer - 4 * (inner * inner * inner));
        sum->w[l] += g->w[l] * on;
        sum->x[l] += ex * on;
        sum->y[l] += ey * on;
        sum->z[l] += ez * on;
        sum->g2[l] += (ex * ex + ey * ey + ez * ez) * on;
    }
}

static inline double lanes_total(const float *v)
{
    float a[8], b[4];
    for (int l = 0; l < 8; l++) a[l] = v[l] + v[l + 8];
    for (int l = 0; l < 4; l++) b[l] = a[l] + a[l + 4];
    return (double)((b[0] + b[2]) + (b[1] + b[3]));
}

static inline void add_sums(const lane_sums *b, double unit, tl_sph_sums *sums)
{
    sums->w += lanes_total(b->w);
    sums->g[0] += unit * lanes_total(b->x);
    sums->g[1] += unit * lanes_total(b->y);
    sums->g[2] += unit * lanes_total(b->z);
    sums->g2 += unit * unit * lanes_total(b->g2);
}

static inline void fill_up(int32_t n, int32_t *found)
{
    for (int32_t k = n; k % LANES; k++) found[k] = found[0];
}

void tl_sph_scan_pairs(const tl_sph_candidates *c, const float x[3], int32_t n, int32_t *found, tl_sph_pair *pair,
                       tl_sph_sums *sums)
{
    lane_sums b = {0};
    lane_gradients g;
    fill_up(n, found);
    for (int32_t k = 0; k < n; k += LANES) {
        gradients(c, x, found + k, 0, n - k, 0, &g, &b);
        for (int l = 0; l < LANES && k + l < n; l++)
            pair[k + l] = (tl_sph_pair){{g.x[l], g.y[l], g.z[l]}, c->j[found[k + l]]};
    }
    add_sums(&b, 1, sums);
}

/* A link as one number of 64 bits: g in the lower three quarters, the place in the upper one. */
static inline void pack(const lane_gradients *restrict g, const int32_t *restrict place, uint64_t *restrict out)
{
    for (int l = 0; l < LANES; l++) {
        uint32_t low = ((uint32_t)(int32_t)g->x[l] & 0xffffu) | (uint32_t)(int32_t)g->y[l] << 16;
        uint32_t high = ((uint32_t)(int32_t)g->z[l] & 0xffffu) | (uint32_t)place[l] << 16;
        out[l] = low | (uint64_t)high << 32;
    }
}

void tl_sph_scan_links(const tl_sph_candidates *c, const float x[3], int32_t n, int32_t *found, tl_sph_links out,
                       tl_sph_sums *sums)
{
    lane_sums b = {0};
    lane_gradients g;
    uint64_t packed[LANES];
    if (n < LANES) fill_up(n, found);
    for (int32_t k = 0; k < n; k += LANES) {
        /* the last block reaches back into the one before it, so that it is a whole one */
        int32_t at = k + LANES <= n || n < LANES ? k : n - LANES;
        gradients(c, x, found + at, k - at, n - at, (float)TL_SPH_G_UNIT, &g, &b);
        pack(&g, found + at, packed);
        tl_i16 who = tl_i16_pick(c->j, found + at);
        if (n >= LANES) {
            memcpy(out.link + at, packed, sizeof packed);
            memcpy(out.weight + at, g.w, sizeof g.w);
            tl_i16_store(out.neighbour + at, who);
        } else {
            memcpy(out.link, packed, sizeof *out.link * (size_t)n);
            memcpy(out.weight, g.w, sizeof *out.weight * (size_t)n);
            for (int32_t l = 0; l < n; l++) out.neighbour[l] = who[l];
        }
    }
    add_sums(&b, TL_SPH_G_UNIT, sums);
}
