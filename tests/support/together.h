/* Cases that every part runs: what is wrong on one ends the case on all, or the others would wait for it. */
#ifndef TL_TESTS_TOGETHER_H
#define TL_TESTS_TOGETHER_H

#include <stdio.h>

#include "base/comm.h"

static _Thread_local char wrong[400];

static inline const char *together(const tl_comm *c, const char *w)
{
    talus_error err = {TALUS_OK, ""};
    const talus_status mine = w ? TL_FAIL(&err, TALUS_BAD_INPUT, "part %d: %.200s", c->part, w) : TALUS_OK;
    if (tl_comm_agree(c, mine, &err) == TALUS_OK) return NULL;
    snprintf(wrong, sizeof wrong, "%s", err.message);
    return wrong;
}

/* A status that all parts have alike. */
#define GOOD(expr)                                                                                                     \
    do {                                                                                                               \
        talus_error err = {TALUS_OK, ""};                                                                              \
        if ((expr) != TALUS_OK) {                                                                                      \
            snprintf(wrong, sizeof wrong, "%.80s: %.200s", #expr, err.message);                                        \
            return wrong;                                                                                              \
        }                                                                                                              \
    } while (0)
#define SAY(...)                                                                                                       \
    do {                                                                                                               \
        snprintf(wrong, sizeof wrong, __VA_ARGS__);                                                                    \
        return wrong;                                                                                                  \
    } while (0)
#define TRY(c, expr)                                                                                                   \
    do {                                                                                                               \
        const char *w_ = together(c, expr);                                                                            \
        if (w_) return w_;                                                                                             \
    } while (0)

#endif
