/* Small pressure problems on hand-made sets of cells: every face between two cells is full (c = 1). */
#ifndef TL_TESTS_LATTICE_H
#define TL_TESTS_LATTICE_H

#include "lab/bench/gen_pressure.h"

/* Cells of [0, nx) x [0, ny) x [0, nz) for which keep says yes (NULL: all), in the solver's order; period as in
 * tl_pressure_neighbours (NULL: none). open(a, b) closes faces (NULL: none). Free surface above the topmost y of the
 * box, half a cell away, when `surface`. b = 0. Free with tl_pressure_case_free; stops the program when memory is
 * refused. */
typedef struct tl_lattice {
    int32_t size[3];
    const int32_t *period;
    bool surface;
    bool (*keep)(const int32_t at[3]);
    bool (*open)(const int32_t a[3], const int32_t b[3]);
} tl_lattice;

void tl_lattice_make(tl_pressure_case *c, const tl_lattice *l);

#endif
