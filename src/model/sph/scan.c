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

/* Blocks of 16 and no rest: every pair goes through the same instructions, whichever side it is seen from. */
int32_t tl_sph_scan_pairs(const tl_sph_candidates *c, const float x[3], int32_t n, int32_t *found, int32_t self,
                          tl_sph_pair *pair, tl_sph_sums *sums)
{
    const float unit = 0x1p-21f, s = (float)(1 / (4 * TL_SPH_PI)); /* of length, in h; of W, in 1/h^3 */
    float w[LANES] = {0}, gx[LANES] = {0}, gy[LANES] = {0}, gz[LANES] = {0}, g2[LANES] = {0};
    int32_t m = 0, last = n > 0 ? found[0] : 0;
    for (int32_t k = n; k % LANES; k++) found[k] = last;
    for (int32_t k = 0; k < n; k += LANES) {
        float ex[LANES], ey[LANES], ez[LANES];
        for (int l = 0; l < LANES; l++) {
            int32_t f = found[k + l];
            float dx = unit * (x[0] - c->at[0][f]), dy = unit * (x[1] - c->at[1][f]), dz = unit * (x[2] - c->at[2][f]);
            float q = sqrtf(dx * dx + dy * dy + dz * dz), a = 2 - q, b = 1 - q, on = k + l < n ? 1.0f : 0.0f;
            a = a > 0 ? a : 0;
            b = b > 0 ? b : 0;
            float slope = -3 * s * (a * a - 4 * (b * b)) / (q > 0 ? q : 1) * on;
            w[l] += s * (a * a * a - 4 * (b * b * b)) * on;
            ex[l] = slope * dx;
            ey[l] = slope * dy;
            ez[l] = slope * dz;
            gx[l] += ex[l];
            gy[l] += ey[l];
            gz[l] += ez[l];
            g2[l] += slope * slope * (q * q);
        }
        int here = n - k < LANES ? n - k : LANES;
        for (int l = 0; l < here; l++) {
            int32_t f = found[k + l];
            if (f == self) continue;
            pair[m++] = (tl_sph_pair){{ex[l], ey[l], ez[l]}, c->j[f]};
        }
    }
    for (int l = 0; l < LANES; l++) {
        sums->w += (double)w[l];
        sums->g[0] += (double)gx[l];
        sums->g[1] += (double)gy[l];
        sums->g[2] += (double)gz[l];
        sums->g2 += (double)g2[l];
    }
    return m;
}
