/* cmocka with what it lacks: comparisons of doubles, and statuses that print their message. */
#ifndef TL_TESTS_CHECK_H
#define TL_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after the four above */
#include <cmocka.h>
#include <math.h>

#include "base/status.h"

/* |actual - expected| <= tol; NaN fails. */
#define CHECK_NEAR(actual, expected, tol)                                                                              \
    do {                                                                                                               \
        double a_ = (actual), e_ = (expected), t_ = (tol);                                                             \
        if (!(fabs(a_ - e_) <= t_))                                                                                    \
            fail_msg("%s = %.17g, expected %.17g +- %.3g (off by %.3g)", #actual, a_, e_, t_, fabs(a_ - e_));          \
    } while (0)

/* |actual - expected| <= rel |expected|; NaN fails. */
#define CHECK_REL(actual, expected, rel) CHECK_NEAR(actual, expected, (rel)*fabs(expected))

/* actual <= limit; NaN fails. */
#define CHECK_LE(actual, limit)                                                                                        \
    do {                                                                                                               \
        double a_ = (actual), l_ = (limit);                                                                            \
        if (!(a_ <= l_)) fail_msg("%s = %.6g, allowed at most %.6g", #actual, a_, l_);                                 \
    } while (0)

/* expr is a talus_status call that was given `&err`. */
#define CHECK_OK(expr)                                                                                                 \
    do {                                                                                                               \
        talus_status s_ = (expr);                                                                                      \
        if (s_ != TALUS_OK) fail_msg("%s: %s: %s", #expr, talus_status_name(s_), err.message);                         \
    } while (0)

#endif
