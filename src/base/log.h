/* Talk goes to a callback of the caller; without one it goes nowhere. */
#ifndef TL_BASE_LOG_H
#define TL_BASE_LOG_H

#include "base/status.h"

typedef struct tl_log {
    talus_log_fn write; /* may be NULL */
    void *user;
    int level; /* messages above this level are dropped: 0 warnings, 1 notes, 2 details */
} tl_log;

void tl_log_write(const tl_log *log, int level, const char *format, ...) TL_PRINTF(3, 4);

#endif
