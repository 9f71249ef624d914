/* Sums over the fluid neighbours of one particle: gradient times a number, or times a vector entry by entry.
 * Whole-number gradients, so results are to be multiplied by TL_SPH_G_UNIT; the fourth entry means nothing. Plain C;
 * link_sums_avx512.h does the same for four pairs at a time. */
#ifndef TL_MODEL_SPH_LINK_SUMS_H
#define TL_MODEL_SPH_LINK_SUMS_H

#include <string.h>

#include "model/sph/sph.h"

typedef float tl_f4 __attribute__((vector_size(16)));

#if defined(__AVX512F__) && defined(__AVX512VL__)
#include "model/sph/link_sums_avx512.h"
#else
typedef float tl_f8 __attribute__((vector_size(32)));
typedef int32_t tl_i8 __attribute__((vector_size(32)));
typedef int16_t tl_s8 __attribute__((vector_size(16)));

static inline tl_f8 tl_two_links(const tl_sph_link *l)
{
    tl_s8 v;
    memcpy(&v, l, sizeof v);
    return __builtin_convertvector(__builtin_convertvector(v, tl_i8), tl_f8);
}
static inline tl_f8 tl_two_numbers(float a, float b) { return (tl_f8){a, a, a, a, b, b, b, b}; }
static inline tl_f8 tl_two_vectors(tl_f4 a, tl_f4 b) { return (tl_f8){a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]}; }
static inline tl_f4 tl_halves(tl_f8 v) { return (tl_f4){v[0] + v[4], v[1] + v[5], v[2] + v[6], v[3] + v[7]}; }

/* near [places] of the particle's cell. */
static inline tl_f4 tl_sph_sum_numbers(const tl_sph_link *l, const tl_sph_link *end, const float *near)
{
    tl_f8 sum = {0};
    for (; l + 2 <= end; l += 2) sum += tl_two_numbers(near[l[0].place], near[l[1].place]) * tl_two_links(l);
    tl_f4 all = tl_halves(sum);
    if (l < end) all += near[l->place] * (tl_f4){l->g[0], l->g[1], l->g[2], 0};
    return all;
}

static inline tl_f4 tl_sph_sum_vectors(const tl_sph_link *l, const tl_sph_link *end, const tl_f4 *near)
{
    tl_f8 sum = {0};
    for (; l + 2 <= end; l += 2) sum += tl_two_vectors(near[l[0].place], near[l[1].place]) * tl_two_links(l);
    tl_f4 all = tl_halves(sum);
    if (l < end) all += near[l->place] * (tl_f4){l->g[0], l->g[1], l->g[2], 0};
    return all;
}
#endif

#endif
