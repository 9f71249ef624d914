/* Sixteen numbers side by side, through the compiler's vector types: one register of AVX-512, two or four of less.
 * Loops over plain arrays would do, but are not always turned into vectors. */
#ifndef TL_MODEL_SPH_LANES_H
#define TL_MODEL_SPH_LANES_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

typedef float tl_f16 __attribute__((vector_size(64)));
typedef int32_t tl_i16 __attribute__((vector_size(64)));
typedef float tl_f8 __attribute__((vector_size(32)));
typedef double tl_d4 __attribute__((vector_size(32))); /* three coordinates and one number more: half a cache line */

static inline tl_f16 tl_f16_load(const float *p)
{
    tl_f16 v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline tl_i16 tl_i16_load(const int32_t *p)
{
    tl_i16 v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void tl_f16_store(float *p, tl_f16 v) { memcpy(p, &v, sizeof v); }
static inline void tl_i16_store(int32_t *p, tl_i16 v) { memcpy(p, &v, sizeof v); }

/* from[place[l]] */
static inline tl_f16 tl_f16_pick(const float *from, const int32_t *place)
{
#if defined(__AVX512F__)
    return (tl_f16)_mm512_i32gather_ps((__m512i)tl_i16_load(place), from, 4);
#else
    tl_f16 v;
    for (int l = 0; l < 16; l++) v[l] = from[place[l]];
    return v;
#endif
}
static inline tl_i16 tl_i16_pick(const int32_t *from, const int32_t *place)
{
#if defined(__AVX512F__)
    return (tl_i16)_mm512_i32gather_epi32((__m512i)tl_i16_load(place), from, 4);
#else
    tl_i16 v;
    for (int l = 0; l < 16; l++) v[l] = from[place[l]];
    return v;
#endif
}

#endif
