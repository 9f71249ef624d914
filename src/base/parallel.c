#include "base/parallel.h"

#include <omp.h>
#include <pthread.h>
#include <stdbool.h>

static bool
    forked; /* this process is a copy whose threads were left behind: the runtime would wait for them for ever */

static void after_fork(void)
{
    forked = true;
    omp_set_num_threads(1);
}
static void watch(void) { (void)pthread_atfork(NULL, NULL, after_fork); }

void tl_threads_watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, watch);
}

int tl_threads(void) { return omp_get_max_threads(); }
void tl_threads_set(int count) { omp_set_num_threads(count < 1 || forked ? 1 : count); }
