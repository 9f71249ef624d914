/* The two traps of OpenBLAS, in one place.
 *
 * Threads: with two threads its results have other bits, so BLAS runs on one, always; threads come from our
 * own loops. The OpenMP flavour takes omp_get_max_threads() at each call whatever it was told before, and
 * openblas_set_num_threads(1) would put our own loops on one thread. So every call that reaches BLAS or LAPACK (CHOLMOD's too)
 * stands between tl_blas_begin and tl_blas_end.
 *
 * Core type: a version older than the CPU falls back to SSE3 kernels (4 times slower here); the choice is
 * made when the library loads, so the program must set OPENBLAS_CORETYPE and start itself again. */
#ifndef TL_MATH_BLAS_H
#define TL_MATH_BLAS_H

/* BLAS called from this thread uses one thread until tl_blas_end, which takes what begin returned.
 * Our own parallel loops are on one thread in between. From any thread; pairs may nest. */
int tl_blas_begin(void);
void tl_blas_end(int before);

/* Name of the kernels in force, as OpenBLAS spells it: "SkylakeX", "Haswell", "Prescott", ... */
const char *tl_blas_core(void);

/* NULL when the kernels in force are fine or the user has chosen (OPENBLAS_CORETYPE is set); else the
 * value of OPENBLAS_CORETYPE that this CPU can run and should. */
const char *tl_blas_better_core(void);

#endif
