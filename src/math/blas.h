/* The two traps of OpenBLAS, in one place.
 *
 * Threads: with two threads its results have other bits, so BLAS runs on one, always; threads come from our
 * own loops. The OpenMP flavour takes omp_get_max_threads() at each call whatever it was told before, and
 * openblas_set_num_threads(1) would put our own loops on one thread. CHOLMOD adds a trap of its own: its supernodal
 * loops ask for 4 threads by name, and waking them makes a factorisation 2 to 3 times slower here. So every call
 * that reaches BLAS, LAPACK or CHOLMOD's numerics stands between tl_blas_begin and tl_blas_end.
 *
 * Core type: a version older than the CPU falls back to SSE3 kernels (4 times slower here); the choice is
 * made when the library loads, so the program must set OPENBLAS_CORETYPE and start itself again. */
#ifndef TL_MATH_BLAS_H
#define TL_MATH_BLAS_H

#include "base/status.h"

typedef struct tl_blas_scope {
    int threads, levels; /* OpenMP settings of this thread, to be put back */
} tl_blas_scope;

/* Nothing called from this thread uses a second one until tl_blas_end, our own loops included. From any
 * thread; pairs may nest. */
tl_blas_scope tl_blas_begin(void);
void tl_blas_end(tl_blas_scope scope);

/* Gets the buffer that OpenBLAS works in, for calls from this thread, beside those that other threads have asked
 * for: when the system refuses one, OpenBLAS asks again for ever. No memory is a status here. Cheap after a thread's
 * first call. */
talus_status tl_blas_reserve(talus_error *err);
/* As many at once: before a parallel loop whose threads call it. */
talus_status tl_blas_reserve_for(int threads, talus_error *err);

/* Name of the kernels in force, as OpenBLAS spells it: "SkylakeX", "Haswell", "Prescott", ... */
const char *tl_blas_core(void);

/* NULL when the kernels in force are fine or the user has chosen (OPENBLAS_CORETYPE is set); else the
 * value of OPENBLAS_CORETYPE that this CPU can run and should. */
const char *tl_blas_better_core(void);

#endif
