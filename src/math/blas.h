/* The two traps of OpenBLAS, in one place.
 *
 * Threads: with two threads its results have other bits, so BLAS runs on one, always; threads
 * come from our own loops. Core type: a version older than the CPU falls back to SSE3 kernels (4 times
 * slower here); the choice is made when the library loads, so the program must set OPENBLAS_CORETYPE and start itself again. */
#ifndef TL_MATH_BLAS_H
#define TL_MATH_BLAS_H

/* One BLAS thread from now on. Call it before any BLAS; any number of times, from any thread. */
void tl_blas_setup(void);

/* Name of the kernels in force, as OpenBLAS spells it: "SkylakeX", "Haswell", "Prescott", ... */
const char *tl_blas_core(void);

/* NULL when the kernels in force are fine or the user has chosen (OPENBLAS_CORETYPE is set); else the
 * value of OPENBLAS_CORETYPE that this CPU can run and should. */
const char *tl_blas_better_core(void);

#endif
