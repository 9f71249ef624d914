/* Leaving a computation early because the user asks for it: Ctrl-C, SIGTERM, a program's own button.
 *
 * One flag for the process, since a signal is for the process, and one that a thread watches beside it while it works on
 * a simulation that can be stopped alone. Loops that may take long ask tl_cancelled() once per
 * round and end as if they were out of iterations; whoever could take such an answer for a good one, above all a
 * step before its commit, calls tl_cancel_check. The flag is never taken back while a step runs, so a loop that saw
 * it cannot be overlooked. */
#ifndef TL_BASE_CANCEL_H
#define TL_BASE_CANCEL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/status.h"

bool tl_cancelled(void);         /* from any thread */
void tl_cancel_set(bool wanted); /* from any thread, and from a signal handler */

/* A flag that this thread watches too; NULL: none. Returns the one before. */
const atomic_bool *tl_cancel_watch(const atomic_bool *flag);

/* While held, this thread sees no flag: parts of a run stop together, between two steps. Returns whether it was held. */
bool tl_cancel_hold(bool held);

/* TALUS_INTERRUPTED when asked for. */
talus_status tl_cancel_check(talus_error *err);

#endif
