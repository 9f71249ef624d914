/* A physics case: runs something whole and compares numbers with a law, a closed form or a table of a spec.
 *
 * Each group is one file with a table of cases; a case calls the tl_case_* functions for every number it has an
 * expectation of. Quick ones also run in the tests (tests/physics/validate.c), so a law is written down once. */
#ifndef TL_VALIDATE_CASE_H
#define TL_VALIDATE_CASE_H

#include "lab/validate.h"
#include <stdbool.h>

#include "base/status.h"

typedef struct tl_case_log {
    const char *group, *name;
    talus_check_fn row;
    void *user;
    int failed, rows;
    bool stopped;
} tl_case_log;

typedef struct tl_case {
    const char *name;  /* "V7" */
    const char *about; /* one line, with the source of the expectation */
    bool quick;        /* a few seconds at most */
    talus_status (*run)(tl_case_log *log, talus_error *err);
} tl_case;

typedef struct tl_case_group {
    const char *name;
    const tl_case *cases; /* ends with a NULL name */
} tl_case_group;

/* NaN never passes. */
void tl_case_near(tl_case_log *log, const char *quantity, double measured, double expected, double tolerance);
void tl_case_relative(tl_case_log *log, const char *quantity, double measured, double expected, double relative);
void tl_case_below(tl_case_log *log, const char *quantity, double measured, double limit);
void tl_case_above(tl_case_log *log, const char *quantity, double measured, double limit);

#endif
