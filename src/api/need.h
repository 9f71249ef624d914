/* Arguments of public functions: a wrong call is a message, not a crash. The one place that decides what every
 * function asks of its arguments. */
#ifndef TL_API_NEED_H
#define TL_API_NEED_H

#include <math.h>

#include "base/status.h"

/* Must not be NULL. */
#define TL_NEED(argument)                                                                                              \
    do {                                                                                                               \
        if (!(argument)) return TL_FAIL(err, TALUS_BAD_INPUT, "%s: " #argument " must not be NULL", __func__);         \
    } while (0)

/* An index below `count`: "there is no handle 3, the scene has 2 (the first is 0)". */
static inline talus_status tl_need_index(const char *what, int64_t index, int64_t count, talus_error *err)
{
    if (index >= 0 && index < count) return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT, "there is no %s %lld, the scene has %lld (the first is 0)", what,
                   (long long)index, (long long)count);
}

/* Numbers that are finite: "the force of body 3 must be finite, got nan at [1]". */
static inline talus_status tl_need_finite(const char *what, int64_t of, int64_t count, const double *v,
                                          talus_error *err)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(v[i]))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s %lld must be finite, got %g at [%lld]", what, (long long)of, v[i],
                           (long long)i);
    return TALUS_OK;
}

/* A rotation w x y z of any length but none: *out is of unit length. */
#define TL_NEED_ROTATION(what, of, v, out)                                                                             \
    do {                                                                                                               \
        TL_TRY(tl_need_finite("the rotation of " what, of, 4, v, err));                                                \
        const tl_quat q_ = {(v)[0], (v)[1], (v)[2], (v)[3]};                                                           \
        if (!(tl_quat_norm2(q_) > 0 && tl_quat_norm2(q_) < INFINITY))                                                  \
            return TL_FAIL(err, TALUS_BAD_INPUT, "the rotation of " what " %d must not be zero", (int)(of));           \
        *(out) = tl_quat_normalize(q_);                                                                                \
    } while (0)

#endif
