/* Numbers for many runs: random samples and Latin hypercubes.
 *
 * Counter-based: seed, dimension and sample in, a value out. There is no state, so any process may ask for any sample
 * and the same question always has the same answer. */
#ifndef TALUS_SAMPLE_H
#define TALUS_SAMPLE_H

#include <stdint.h>
#include <talus/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Uniform in [0, 1), independent of all others. */
TALUS_API double talus_sample_random(uint64_t seed, int dimension, int64_t sample);
/* Sample 0 to count - 1 of a Latin hypercube: in each dimension, each of `count` equal slices of [0, 1) holds exactly
 * one of the samples, at a random place of it. Takes time proportional to count. 0 when sample is not one of them. */
TALUS_API double talus_sample_latin(uint64_t seed, int dimension, int64_t sample, int64_t count);

#ifdef __cplusplus
}
#endif
#endif
