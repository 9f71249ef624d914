#include "math/blas.h"

#include <cblas.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

/* Other flavours than OpenMP's have threads of their own, which OpenMP settings do not reach. */
static void stop_own_threads(void)
{
    if (openblas_get_parallel() != OPENBLAS_OPENMP) openblas_set_num_threads(1);
}

tl_blas_scope tl_blas_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, stop_own_threads);
    tl_blas_scope scope = {omp_get_max_threads(), omp_get_max_active_levels()};
    omp_set_num_threads(1);
    omp_set_max_active_levels(0); /* also where a loop asks for more by name */
    return scope;
}

void tl_blas_end(tl_blas_scope scope)
{
    omp_set_num_threads(scope.threads);
    omp_set_max_active_levels(scope.levels);
}

const char *tl_blas_core(void) { return openblas_get_corename(); }

const char *tl_blas_better_core(void)
{
    /* what OpenBLAS takes for a CPU it does not know */
    static const char *const fallbacks[] = {"Prescott", "Unknown", "Generic"};
    int fell_back = 0;
    for (int i = 0; i < 3; i++) fell_back |= strcasecmp(tl_blas_core(), fallbacks[i]) == 0;
    if (!fell_back || getenv("OPENBLAS_CORETYPE")) return NULL;

#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
    if (__builtin_cpu_supports("avx")) return "Sandybridge";
#endif
    return NULL;
}
