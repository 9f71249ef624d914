/* One part's share of a made-up pressure problem that all parts know whole: cubes of cells along a Morton curve, cut into
 * equal numbers of cells, or dealt out at random. */
#ifndef TL_TESTS_PRESSURE_PART_H
#define TL_TESTS_PRESSURE_PART_H

#include "lab/bench/gen_pressure.h"

typedef struct tl_pressure_part {
    tl_pressure p;
    tl_pressure_space space;
    const tl_pressure_case *of;
    int32_t *global; /* [n] number of each cell in the whole problem */
    int32_t *nb[TL_PRESSURE_SIDES], *part, *index, (*ijk)[3];
    float *c[TL_PRESSURE_SIDES], *dir, *ar;
    double *d, *b;
    /* of E, where the whole problem has one */
    const double *u; /* [columns][n + extras of the whole problem]; NULL: bodies of the case */
    int32_t columns;
    double *diag;
} tl_pressure_part;

typedef struct tl_pressure_cut {
    int together;  /* cubes of 2^together cells per edge, 3 or more */
    uint64_t seed; /* of owners dealt out at random; 0: along the curve */
    int32_t gap;   /* entries that nobody uses between unknowns and the zero */
} tl_pressure_cut;

/* Collective; why not, or NULL. Released with the comm's mark, and by tl_pressure_part_free. */
const char *tl_pressure_part_make(tl_pressure_part *out, const tl_pressure_case *whole, tl_pressure_cut cut,
                                  const tl_comm *c);
void tl_pressure_part_free(tl_pressure_part *q);

/* x [n + extras] of this part from one of the whole problem, and back: all [n + extras of the whole problem] on every
 * part. */
void tl_pressure_part_scatter(const tl_pressure_part *q, const double *all, double *x);
void tl_pressure_part_gather(const tl_pressure_part *q, const double *x, double *all);

#endif
