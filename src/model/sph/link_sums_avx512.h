/* Four pairs at a time. The last ones of a list are read together with links that follow it, and masked:
 * TL_SPH_LINKS_BEYOND of them must be readable after the last list, and `near` up to the candidates of any cell. */
#ifndef TL_MODEL_SPH_LINK_SUMS_AVX512_H
#define TL_MODEL_SPH_LINK_SUMS_AVX512_H

#include <immintrin.h>

static inline __m512 tl_four_links(const tl_sph_link *l)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)l)));
}
static inline __m512 tl_four_numbers(const tl_sph_link *l, const float *near)
{
    __m512 v = _mm512_broadcastss_ps(_mm_load_ss(near + l[0].place));
    v = _mm512_mask_broadcastss_ps(v, 0x00f0, _mm_load_ss(near + l[1].place));
    v = _mm512_mask_broadcastss_ps(v, 0x0f00, _mm_load_ss(near + l[2].place));
    return _mm512_mask_broadcastss_ps(v, 0xf000, _mm_load_ss(near + l[3].place));
}
static inline __m512 tl_four_vectors(const tl_sph_link *l, const tl_f4 *near)
{
    __m512 v = _mm512_broadcast_f32x4(_mm_load_ps((const float *)(near + l[0].place)));
    v = _mm512_mask_broadcast_f32x4(v, 0x00f0, _mm_load_ps((const float *)(near + l[1].place)));
    v = _mm512_mask_broadcast_f32x4(v, 0x0f00, _mm_load_ps((const float *)(near + l[2].place)));
    return _mm512_mask_broadcast_f32x4(v, 0xf000, _mm_load_ps((const float *)(near + l[3].place)));
}
static inline tl_f4 tl_quarters(__m512 v)
{
    __m256 half =
        _mm256_add_ps(_mm512_castps512_ps256(v), _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(v), 1)));
    return (tl_f4)_mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

#define TL_SUM_LINKS(four)                                                                                             \
    __m512 a = _mm512_setzero_ps(), b = _mm512_setzero_ps();                                                           \
    for (; l + 8 <= end; l += 8) {                                                                                     \
        a = _mm512_fmadd_ps(tl_four_links(l), four(l, near), a);                                                       \
        b = _mm512_fmadd_ps(tl_four_links(l + 4), four(l + 4, near), b);                                               \
    }                                                                                                                  \
    if (l + 4 <= end) {                                                                                                \
        a = _mm512_fmadd_ps(tl_four_links(l), four(l, near), a);                                                       \
        l += 4;                                                                                                        \
    }                                                                                                                  \
    if (l < end) {                                                                                                     \
        __mmask16 rest = (__mmask16)((1u << (4 * (end - l))) - 1);                                                     \
        b = _mm512_mask3_fmadd_ps(tl_four_links(l), four(l, near), b, rest);                                           \
    }                                                                                                                  \
    return tl_quarters(_mm512_add_ps(a, b))

static inline tl_f4 tl_sph_sum_numbers(const tl_sph_link *l, const tl_sph_link *end, const float *near)
{
    TL_SUM_LINKS(tl_four_numbers);
}

static inline tl_f4 tl_sph_sum_vectors(const tl_sph_link *l, const tl_sph_link *end, const tl_f4 *near)
{
    TL_SUM_LINKS(tl_four_vectors);
}

#endif
