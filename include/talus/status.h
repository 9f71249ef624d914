/* Status and error: how every talus function that can fail says so.
 *
 * A function returns a talus_status and, when the caller passes a talus_error, leaves one
 * sentence there that names the thing, its value and what is allowed. The library never
 * prints, exits or aborts on bad input. */
#ifndef TALUS_STATUS_H
#define TALUS_STATUS_H

#include <talus/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum talus_status {
    TALUS_OK = 0,
    TALUS_BAD_INPUT,    /* an argument or a file says something that cannot be */
    TALUS_NO_MEMORY,    /* the heap refused */
    TALUS_IO,           /* a file could not be read or written */
    TALUS_NOT_DEFINITE, /* a factorisation met a pivot that is not positive */
    TALUS_UNSUPPORTED,  /* valid, but this build or method cannot do it */
    TALUS_INTERRUPTED   /* stopped by the caller's request */
} talus_status;

typedef struct talus_error {
    talus_status status;
    char message[512]; /* one sentence, no newline, always terminated */
} talus_error;

/* A fixed word for each status: "ok", "bad input", ... Never NULL. */
TALUS_API const char *talus_status_name(talus_status status);

/* Where talk goes: the library calls this, never stdio. level 0 = warning, 1 = note, 2 = detail. */
typedef void (*talus_log_fn)(void *user, int level, const char *message);

#ifdef __cplusplus
}
#endif
#endif
