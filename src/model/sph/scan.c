#include "model/sph/scan.h"

#include <math.h>

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

/* One block of what was found: gradients, and sums by lane. Always 16 and no rest: every pair goes through the same instructions,
 * whichever side it is seen from. */
typedef struct block {
    float w[LANES], gx[LANES], gy[LANES], gz[LANES], g2[LANES]; /* sums */
    float x[LANES], y[LANES], z[LANES];
} block;

static inline void gradients(const tl_sph_candidates *c, const float x[3], const int32_t *found, int32_t count,
                             float unit, block *b)
{
    const float length = 0x1p-21f, s = (float)(1 / (4 * TL_SPH_PI)); /* in h; of W, in 1/h^3 */
    for (int l = 0; l < LANES; l++) {
        int32_t f = found[l];
        float dx = length * (x[0] - c->at[0][f]), dy = length * (x[1] - c->at[1][f]),
              dz = length * (x[2] - c->at[2][f]);
        float q = sqrtf(dx * dx + dy * dy + dz * dz), outer = 2 - q, inner = 1 - q, on = l < count ? 1.0f : 0.0f;
        outer = outer > 0 ? outer : 0;
        inner = inner > 0 ? inner : 0;
        float slope = -3 * s * (outer * outer - 4 * (inner * inner)) / (q > 0 ? q : 1) * on;
        b->w[l] += s * (outer * outer * outer - 4 * (inner * inner * inner)) * on;
        b->x[l] = slope * dx;
        b->y[l] = slope * dy;
        b->z[l] = slope * dz;
        if (unit > 0) {
            b->x[l] = rintf(b->x[l] / unit);
            b->y[l] = rintf(b->y[l] / unit);
            b->z[l] = rintf(b->z[l] / unit);
        }
        b->gx[l] += b->x[l];
        b->gy[l] += b->y[l];
        b->gz[l] += b->z[l];
        b->g2[l] += b->x[l] * b->x[l] + b->y[l] * b->y[l] + b->z[l] * b->z[l];
    }
}

static void add_sums(const block *b, double unit, tl_sph_sums *sums)
{
    double g[4] = {0, 0, 0, 0};
    for (int l = 0; l < LANES; l++) {
        sums->w += (double)b->w[l];
        g[0] += (double)b->gx[l];
        g[1] += (double)b->gy[l];
        g[2] += (double)b->gz[l];
        g[3] += (double)b->g2[l];
    }
    for (int d = 0; d < 3; d++) sums->g[d] += unit * g[d];
    sums->g2 += unit * unit * g[3];
}

static void fill_up(int32_t n, int32_t *found)
{
    for (int32_t k = n; k % LANES; k++) found[k] = found[0];
}

void tl_sph_scan_pairs(const tl_sph_candidates *c, const float x[3], int32_t n, int32_t *found, tl_sph_pair *pair,
                       tl_sph_sums *sums)
{
    block b = {0};
    fill_up(n, found);
    for (int32_t k = 0; k < n; k += LANES) {
        gradients(c, x, found + k, n - k, 0, &b);
        for (int l = 0; l < LANES && k + l < n; l++)
            pair[k + l] = (tl_sph_pair){{b.x[l], b.y[l], b.z[l]}, c->j[found[k + l]]};
    }
    add_sums(&b, 1, sums);
}

void tl_sph_scan_links(const tl_sph_candidates *c, const float x[3], int32_t n, int32_t *found, int32_t self,
                       tl_sph_link *link, int32_t *neighbour, tl_sph_sums *sums)
{
    block b = {0};
    fill_up(n, found);
    for (int32_t k = 0; k < n; k += LANES) {
        gradients(c, x, found + k, n - k, (float)TL_SPH_G_UNIT, &b);
        for (int l = 0; l < LANES && k + l < n; l++) {
            int32_t f = found[k + l];
            if (f == self) continue;
            *link++ = (tl_sph_link){{(int16_t)b.x[l], (int16_t)b.y[l], (int16_t)b.z[l]}, (uint16_t)f};
            *neighbour++ = c->j[f];
        }
    }
    add_sums(&b, TL_SPH_G_UNIT, sums);
}
