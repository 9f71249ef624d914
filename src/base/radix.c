#include "base/radix.h"

#include <string.h>

#define BITS 11
#define DIGITS (1 << BITS)
#define PASSES 6 /* 6 x 11 bits cover 64 */

void tl_radix_sort(int64_t n, uint64_t *key, int32_t *value, uint64_t *spare_key, int32_t *spare_value)
{
    int64_t place[DIGITS];
    uint64_t *from = key, *to = spare_key;
    int32_t *from_value = value, *to_value = spare_value;
    uint64_t used = 0; /* bits that some key has */
    for (int64_t i = 0; i < n; i++) used |= key[i];
    for (int pass = 0; pass < PASSES && used >> pass * BITS; pass++) {
        int shift = pass * BITS;
        memset(place, 0, sizeof place);
        for (int64_t i = 0; i < n; i++) place[from[i] >> shift & (DIGITS - 1)]++;
        if (n == 0 || place[from[0] >> shift & (DIGITS - 1)] == n) continue; /* nothing to do on this digit */
        int64_t sum = 0;
        for (int d = 0; d < DIGITS; d++) {
            int64_t here = place[d];
            place[d] = sum;
            sum += here;
        }
        for (int64_t i = 0; i < n; i++) {
            int64_t at = place[from[i] >> shift & (DIGITS - 1)]++;
            to[at] = from[i];
            to_value[at] = from_value[i];
        }
        uint64_t *k = from;
        from = to;
        to = k;
        int32_t *v = from_value;
        from_value = to_value;
        to_value = v;
    }
    if (from == key) return;
    memcpy(key, from, sizeof *key * (size_t)n);
    memcpy(value, from_value, sizeof *value * (size_t)n);
}
