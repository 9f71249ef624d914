#include "base/timer.h"

#include <time.h>

static double read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double tl_seconds(void) { return read_clock(CLOCK_MONOTONIC); }
double tl_cpu_seconds(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }
double tl_thread_seconds(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
