/* Modified incomplete Cholesky factor of the free cells, without fill: the reference, and better than multigrid for
 * a few thousand cells. Cells in lexicographic order, one thread, single precision inside. Couplings around periodic
 * axes are left out. */
#ifndef TL_SOLVE_PRESSURE_MIC_H
#define TL_SOLVE_PRESSURE_MIC_H

#include "solve/pressure/precond.h"
#include "solve/pressure/problem.h"

typedef struct tl_mic {
    const tl_pressure *p; /* whose coefficients are factored; set before each solve */
    bool rebuild;         /* false: factor of all cells, masked */
    int32_t n;
    int32_t *cell;     /* [n] in lexicographic order */
    int32_t *lower[3]; /* [n] places of the neighbours at -x, -y, -z; none = n */
    float *w[3];       /* [n] couplings to these, between unit diagonals */
    float *root;       /* [n] 1/sqrt(pivot), 0 where not free */
    float *s;          /* [n + 1] the vector that is swept */
    float *z;          /* [n] the answer, by cell */
    uint8_t *is_free;  /* [n] by cell */
    bool fitted;
    tl_pressure_free mask;
    double back;
} tl_mic;

/* scratch: 3 n doubles, free again afterwards. */
talus_status tl_mic_take(tl_mic *m, const tl_pressure *p, double *scratch, tl_arena *a, talus_error *err);
void tl_mic_attach(tl_mic *m, const tl_pressure *p, bool rebuild);
tl_pressure_precond tl_mic_precond(tl_mic *m);

#endif
