/* The three ways things go wrong (docs: STYLE section 4): TL_FAIL/TL_TRY for wrong input and
 * missing memory, outcomes with certificates for solvers (solve/outcome.h), TL_ASSERT for us. */
#ifndef TL_BASE_STATUS_H
#define TL_BASE_STATUS_H

#include <stdint.h>
#include <talus/status.h>

#if defined(__GNUC__)
#define TL_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define TL_PRINTF(a, b)
#endif

/* Write the message into err (may be NULL) and return status. */
talus_status tl_fail(talus_error *err, talus_status status, const char *format, ...) TL_PRINTF(3, 4);

#define TL_FAIL(err, status, ...) tl_fail((err), (status), __VA_ARGS__)

/* Return from the calling function when expr is not TALUS_OK. */
#define TL_TRY(expr)                                                                                                   \
    do {                                                                                                               \
        talus_status tl_try_status_ = (expr);                                                                          \
        if (tl_try_status_ != TALUS_OK) return tl_try_status_;                                                         \
    } while (0)

/* An invariant of ours. Checked builds stop with file and line; release builds drop it. TL_VALIDATE is the same for
 * validators that look at whole arrays where one phase hands them to the next, and say in their message what is
 * wrong. */
#ifdef TL_CHECKED
void tl_assert_failed(const char *condition, const char *file, int line);
#define TL_ASSERT(condition) ((condition) ? (void)0 : tl_assert_failed(#condition, __FILE__, __LINE__))
#define TL_VALIDATE(expr) TL_TRY(expr)
#else
#define TL_ASSERT(condition) ((void)0)
#define TL_VALIDATE(expr) ((void)0)
#endif

#endif
