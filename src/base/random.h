/* Counter-based random numbers: (seed, id, step) in, value out. No state, so any thread may ask
 * for any number and a resumed run sees the same ones. */
#ifndef TL_BASE_RANDOM_H
#define TL_BASE_RANDOM_H

#include <math.h>
#include <stdint.h>

/* Finaliser of the splitmix64 generator [Steele2014]: a bijection that mixes all 64 bits. */
static inline uint64_t tl_mix64(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t tl_random_bits(uint64_t seed, uint64_t id, uint64_t step)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u; /* 2^64 over the golden ratio */
    return tl_mix64(tl_mix64(tl_mix64(seed + odd) + id * odd + odd) + step * odd + odd);
}

/* Uniform in [0, 1), 53 bits. */
static inline double tl_random(uint64_t seed, uint64_t id, uint64_t step)
{
    return (double)(tl_random_bits(seed, id, step) >> 11) * 0x1p-53;
}

/* Standard normal (Box-Muller on two draws of the same id). */
static inline double tl_random_normal(uint64_t seed, uint64_t id, uint64_t step)
{
    double u = 1.0 - tl_random(seed, id, 2 * step), v = tl_random(seed, id, 2 * step + 1);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

#endif
