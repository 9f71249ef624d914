#include "base/cancel.h"

#include <stdatomic.h>

static atomic_bool cancelled; /* lock-free where talus runs: a handler may write it */

bool tl_cancelled(void) { return atomic_load_explicit(&cancelled, memory_order_relaxed); }
void tl_cancel_set(bool wanted) { atomic_store_explicit(&cancelled, wanted, memory_order_relaxed); }

talus_status tl_cancel_check(talus_error *err)
{
    return tl_cancelled() ? TL_FAIL(err, TALUS_INTERRUPTED, "stopped as asked") : TALUS_OK;
}
