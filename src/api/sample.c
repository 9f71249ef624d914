#include <talus/sample.h>

#include "base/random.h"

/* A stream of its own for slices, beside that of places in them. */
#define SLICES 0x736c69636573u

double talus_sample_random(uint64_t seed, int dimension, int64_t sample)
{
    return tl_random(seed, (uint64_t)dimension, (uint64_t)sample);
}

/* The slice of a sample is its rank among random numbers, one per sample: a random permutation without any memory. */
static int64_t slice_of(uint64_t seed, int dimension, int64_t sample, int64_t count)
{
    uint64_t own = tl_random_bits(seed ^ SLICES, (uint64_t)dimension, (uint64_t)sample);
    int64_t rank = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = tl_random_bits(seed ^ SLICES, (uint64_t)dimension, (uint64_t)i);
        rank += bits < own || (bits == own && i < sample);
    }
    return rank;
}

double talus_sample_latin(uint64_t seed, int dimension, int64_t sample, int64_t count)
{
    if (sample < 0 || sample >= count) return 0;
    double slice = (double)slice_of(seed, dimension, sample, count);
    double value = (slice + talus_sample_random(seed, dimension, sample)) / (double)count;
    return value < 1 ? value : 1 - 0x1p-53; /* rounding may reach 1 */
}
