/* The numbered physics cases: what was measured, what is expected, how far apart they may be.
 *
 * Cases are grouped by engine ("rigid", "grid", "sph", "lg"); each states where its expectation comes from. */
#ifndef TALUS_VALIDATE_H
#define TALUS_VALIDATE_H

#include <talus/export.h>
#include <talus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* i = 0, 1, ... until NULL. */
TALUS_API const char *talus_validate_group(int i);
TALUS_API const char *talus_validate_name(int i); /* "R5": unique within its group */
TALUS_API const char *talus_validate_about(int i);
TALUS_API int talus_validate_quick(int i); /* 1: takes a few seconds at most */

/* One measured quantity. tolerance: |measured - expected| at most this; a limit from above has expected = -infinity,
 * one from below +infinity, and `tolerance` is then the limit. passed 0 or 1. */
typedef struct talus_check_row {
    const char *group, *name, *quantity;
    double measured, expected, tolerance;
    int passed;
} talus_check_row;

/* Return 0 to go on, anything else to stop (TALUS_INTERRUPTED). */
typedef int (*talus_check_fn)(void *user, const talus_check_row *row);

/* Run case i. *failed counts quantities that miss; a case that cannot be run at all is an error. */
TALUS_API talus_status talus_validate_run(int i, talus_check_fn row, void *user, int *failed, talus_error *err);

#ifdef __cplusplus
}
#endif
#endif
