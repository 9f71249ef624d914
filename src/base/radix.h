/* Stable sort of 64-bit keys with a 32-bit companion each, in time linear in n: edges, cells, Morton codes. */
#ifndef TL_BASE_RADIX_H
#define TL_BASE_RADIX_H

#include <stdint.h>

/* key, value [n]: sorted by key, ascending; equal keys keep their order. The spare arrays [n] are scratch.
 * Digits that all keys share cost one look. */
void tl_radix_sort(int64_t n, uint64_t *key, int32_t *value, uint64_t *spare_key, int32_t *spare_value);

#endif
