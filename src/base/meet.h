/* Where the threads of a parallel region wait for each other in loops that are a few microseconds long. OpenMP's own
 * barrier spins for milliseconds before it gives its core away, which on a machine with other work costs twenty
 * times the time of the loop; this one offers it after some microseconds. */
#ifndef TL_BASE_MEET_H
#define TL_BASE_MEET_H

#include <sched.h>
#include <stdatomic.h>

#define TL_MEET_SPINS 4000 /* some 10 us */

typedef struct tl_meet {
    atomic_int arrived, turn;
} tl_meet;

static inline void tl_meet_wait(tl_meet *m, int threads)
{
    const int turn = atomic_load_explicit(&m->turn, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&m->arrived, 1, memory_order_acq_rel) == threads - 1) {
        atomic_store_explicit(&m->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&m->turn, turn + 1, memory_order_release);
        return;
    }
    for (int spins = 0; atomic_load_explicit(&m->turn, memory_order_acquire) == turn;)
        if (spins < TL_MEET_SPINS)
            spins++;
        else
            sched_yield();
}

#endif
