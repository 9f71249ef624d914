/* tl_sph_scan with compress-stores; scan.c has the plain version. */
#include "model/sph/scan.h"

#if defined(__AVX512F__)
#include <immintrin.h>

static inline __mmask16 nearer(const tl_sph_candidates *c, int32_t k, __m512 x, __m512 y, __m512 z)
{
    __m512 dx = _mm512_sub_ps(_mm512_loadu_ps(c->at[0] + k), x), dy = _mm512_sub_ps(_mm512_loadu_ps(c->at[1] + k), y),
           dz = _mm512_sub_ps(_mm512_loadu_ps(c->at[2] + k), z);
    __m512 d2 = _mm512_fmadd_ps(dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_mul_ps(dz, dz)));
    return _mm512_cmp_ps_mask(d2, _mm512_set1_ps(0x1p44f), _CMP_LT_OQ);
}

int32_t tl_sph_scan_count(const tl_sph_candidates *c, const float x[3])
{
    __m512 vx = _mm512_set1_ps(x[0]), vy = _mm512_set1_ps(x[1]), vz = _mm512_set1_ps(x[2]);
    int32_t n = 0;
    for (int32_t k = 0; k < c->count; k += 16) n += __builtin_popcount(nearer(c, k, vx, vy, vz));
    return n;
}

int32_t tl_sph_scan(const tl_sph_candidates *c, const float x[3], int32_t *found)
{
    __m512 vx = _mm512_set1_ps(x[0]), vy = _mm512_set1_ps(x[1]), vz = _mm512_set1_ps(x[2]);
    __m512i place = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    int32_t n = 0;
    for (int32_t k = 0; k < c->count; k += 16) {
        __mmask16 near = nearer(c, k, vx, vy, vz);
        _mm512_storeu_si512(found + n, _mm512_maskz_compress_epi32(near, place));
        n += __builtin_popcount(near);
        place = _mm512_add_epi32(place, _mm512_set1_epi32(16));
    }
    return n;
}

#else
typedef int tl_sph_scan_avx512_not_built; /* C wants something in every file */
#endif
