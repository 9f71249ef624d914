/* Eight particles at once: for the files that move values between particles and faces. */
#ifndef TL_MODEL_GRID_EIGHT_H
#define TL_MODEL_GRID_EIGHT_H

#include <stddef.h>

#include "model/grid/state.h"

#define TL_EIGHT 8
typedef double tl_eight __attribute__((vector_size(8 * TL_EIGHT)));
typedef int64_t tl_eight_whole __attribute__((vector_size(8 * TL_EIGHT)));

_Static_assert(offsetof(tl_particle, volume) == 15 * sizeof(double), "x, v, C, volume are sixteen numbers in a row");

/* Asks for the particles after the next eight: particles come from memory, and the arithmetic on eight of them takes
 * about as long. */
static inline void tl_eight_ahead(const tl_particle *p)
{
    const char *at = (const char *)(p + 2 * TL_EIGHT);
    for (size_t k = 0; k < TL_EIGHT * sizeof *p; k += 64) __builtin_prefetch(at + k);
}

/* Rows become columns. */
static inline void tl_eight_turn(tl_eight row[TL_EIGHT])
{
    tl_eight a[TL_EIGHT], b[TL_EIGHT];
    for (int k = 0; k < TL_EIGHT; k += 2) {
        a[k] = __builtin_shufflevector(row[k], row[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        a[k + 1] = __builtin_shufflevector(row[k], row[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int k = 0; k < TL_EIGHT; k += 4)
        for (int i = 0; i < 2; i++) {
            b[k + i] = __builtin_shufflevector(a[k + i], a[k + i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            b[k + i + 2] = __builtin_shufflevector(a[k + i], a[k + i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int k = 0; k < 4; k++) {
        row[k] = __builtin_shufflevector(b[k], b[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        row[k + 4] = __builtin_shufflevector(b[k], b[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

#endif
