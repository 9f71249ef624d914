#include "base/cancel.h"

static atomic_bool cancelled; /* lock-free where talus runs: a handler may write it */
static _Thread_local const atomic_bool *watched;
static _Thread_local bool holding;

bool tl_cancelled(void)
{
    if (holding) return false;
    return atomic_load_explicit(&cancelled, memory_order_relaxed) ||
           (watched && atomic_load_explicit(watched, memory_order_relaxed));
}
void tl_cancel_set(bool wanted) { atomic_store_explicit(&cancelled, wanted, memory_order_relaxed); }

const atomic_bool *tl_cancel_watch(const atomic_bool *flag)
{
    const atomic_bool *before = watched;
    watched = flag;
    return before;
}

bool tl_cancel_hold(bool held)
{
    const bool before = holding;
    holding = held;
    return before;
}

talus_status tl_cancel_check(talus_error *err)
{
    return tl_cancelled() ? TL_FAIL(err, TALUS_INTERRUPTED, "stopped as asked") : TALUS_OK;
}
