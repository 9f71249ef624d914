/* Sample points for one pixel: the first two Sobol dimensions, scrambled by hashing in Owen's sense, with fresh
 * scrambles for every pair of dimensions that a path asks for [Burley2020]. Pure: (pixel, sample, pair) in, point
 * out. */
#ifndef TL_RENDER_SAMPLER_H
#define TL_RENDER_SAMPLER_H

#include <stdint.h>

#include "base/random.h"

typedef struct tl_sampler {
    uint64_t seed;  /* of the pixel */
    uint32_t index; /* of the sample */
    uint32_t pair;  /* next pair of dimensions */
} tl_sampler;

static inline uint32_t tl_bits_reverse(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

/* Scrambles bit i by the bits below it: a nested permutation when read from the lowest bit up [Laine2011]. */
static inline uint32_t tl_nested_scramble(uint32_t x, uint32_t seed)
{
    x += seed;
    x ^= x * 0x6c50b47cu;
    x ^= x * 0xb82f1e52u;
    x ^= x * 0xc7afe638u;
    x ^= x * 0x8d22f6e6u;
    return x;
}

/* Second Sobol dimension, bits in reverse: the index times Pascal's triangle mod 2, one factor per bit of a
 * position. */
static inline uint32_t tl_sobol_second(uint32_t i)
{
    i ^= (i & 0xaaaaaaaau) >> 1;
    i ^= (i & 0xccccccccu) >> 2;
    i ^= (i & 0xf0f0f0f0u) >> 4;
    i ^= (i & 0xff00ff00u) >> 8;
    i ^= i >> 16;
    return i;
}

/* Two numbers in [0, 1). */
static inline void tl_sampler_next(tl_sampler *s, float out[2])
{
    uint64_t h = tl_random_bits(s->seed, s->pair++, 0), k = tl_mix64(h);
    uint32_t i =
        tl_bits_reverse(tl_nested_scramble(tl_bits_reverse(s->index), (uint32_t)k)); /* order within the pixel */
    uint32_t a = tl_bits_reverse(tl_nested_scramble(i, (uint32_t)h));
    uint32_t b = tl_bits_reverse(tl_nested_scramble(tl_sobol_second(i), (uint32_t)(h >> 32)));
    out[0] = (float)(a >> 8) * 0x1p-24f;
    out[1] = (float)(b >> 8) * 0x1p-24f;
}

#endif
