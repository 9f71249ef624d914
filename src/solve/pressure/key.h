/* Grid coordinates as sortable keys: colour first, then x, y, z with 20 bits each. */
#ifndef TL_SOLVE_PRESSURE_KEY_H
#define TL_SOLVE_PRESSURE_KEY_H

#include <stdint.h>

#define TL_KEY_REACH (1 << 19) /* coordinates lie in [-TL_KEY_REACH, TL_KEY_REACH) */

static inline int tl_cell_colour(int32_t i, int32_t j, int32_t k) { return (i + j + k) & 1; }

static inline uint64_t tl_cell_key(int32_t i, int32_t j, int32_t k)
{
    uint64_t place =
        (uint64_t)(i + TL_KEY_REACH) << 40 | (uint64_t)(j + TL_KEY_REACH) << 20 | (uint64_t)(k + TL_KEY_REACH);
    return place | (uint64_t)tl_cell_colour(i, j, k) << 60;
}

static inline int32_t tl_half(int32_t i) { return i >= 0 ? i / 2 : -((1 - i) / 2); } /* rounds down */

#endif
