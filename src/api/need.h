/* Arguments that must not be NULL: a wrong call is a message, not a crash. */
#ifndef TL_API_NEED_H
#define TL_API_NEED_H

#include "base/status.h"

#define TL_NEED(argument)                                                                                              \
    do {                                                                                                               \
        if (!(argument)) return TL_FAIL(err, TALUS_BAD_INPUT, "%s: " #argument " must not be NULL", __func__);         \
    } while (0)

#endif
