#include "math/blas.h"

#include <cblas.h>
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/mman.h>

#define BUFFER ((size_t)129 << 20) /* bytes that OpenBLAS maps per call at once, of Debian's build, and its alignment */
#define BUFFERS_MAX 64

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

/* OpenBLAS' own, exported; another BLAS has none, and needs no buffers from us. */
extern void *blas_memory_alloc(int where) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

static bool can_map(int buffers)
{
    size_t bytes = (size_t)buffers * BUFFER;
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) return false;
    munmap(block, bytes);
    return true;
}

/* How many calls each thread that is there may have open at once, and all of them together: simulations in threads
 * of the caller's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static int total, ready;

static void thread_ends(void *asked)
{
    pthread_mutex_lock(&lock);
    total -= (int)(intptr_t)asked;
    pthread_mutex_unlock(&lock);
}
static void make_key(void) { pthread_key_create(&key, thread_ends); }

talus_status tl_blas_reserve_for(int threads, talus_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!blas_memory_alloc || !blas_memory_free) return TALUS_OK;
    pthread_once(&once, make_key);
    int asked = (int)(intptr_t)pthread_getspecific(key);
    if (threads <= asked) return TALUS_OK;
    pthread_mutex_lock(&lock);
    int others = total - asked, wanted = others + threads;
    if (wanted > BUFFERS_MAX) wanted = BUFFERS_MAX;
    /* while we take them, others may use as many as they asked for */
    if (wanted > ready && can_map(others + wanted - ready + 1)) {
        void *buffer[BUFFERS_MAX];
        for (int i = 0; i < wanted; i++) buffer[i] = blas_memory_alloc(0);
        for (int i = 0; i < wanted; i++) blas_memory_free(buffer[i]);
        ready = wanted;
    }
    bool good = wanted <= ready && pthread_setspecific(key, (void *)(intptr_t)threads) == 0;
    if (good) total = others + threads;
    pthread_mutex_unlock(&lock);
    return good ? TALUS_OK
                : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the %d MB that OpenBLAS works in, per thread",
                          (int)(BUFFER >> 20));
}

talus_status tl_blas_reserve(talus_error *err) { return tl_blas_reserve_for(1, err); }

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
