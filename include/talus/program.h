/* For programs that use talus: version, threads, and a good start. */
#ifndef TALUS_PROGRAM_H
#define TALUS_PROGRAM_H

#include <talus/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The binary interface: goes up when a program that was built with these headers must be built again to run with the
 * library. talus_abi() is that of the library; compare the two where it is loaded at run time. */
#define TALUS_ABI 1
TALUS_API int talus_abi(void);

TALUS_API const char *talus_version(void);   /* "0.1.0" */
TALUS_API const char *talus_compiler(void);  /* "GNU 12.2.0" */
TALUS_API const char *talus_blas_core(void); /* kernels that OpenBLAS chose: "SkylakeX", ... */

/* Call first in main. Two libraries read their settings when they load, before main, and their
 * defaults can cost a factor of four and more: OpenBLAS falls back to old kernels on a CPU that it does
 * not know (OPENBLAS_CORETYPE), and waiting OpenMP threads spin while other programs need the core
 * (GOMP_SPINCOUNT). If one of the two is set badly and not by the user, this sets it and starts the
 * program anew, once, with the same arguments; else it returns. A library inside another program
 * cannot do that: set the two variables before the program starts (see the README). */
TALUS_API void talus_program_start(char **argv);

/* Threads of parallel loops started from this thread; results do not depend on it. */
TALUS_API int talus_threads(void);
TALUS_API void talus_threads_set(int count);

/* For bindings of languages whose signal handlers wait until a call has returned: between the two, SIGINT (Ctrl-C) makes
 * the call end soon with TALUS_INTERRUPTED, as talus_cancel does. `end` puts the program's own handler back and tells
 * whether a SIGINT came, which the binding then handles as its own. May be nested; one thread only. A SIGINT that the
 * program ignores, or that ends it, does so here too. */
TALUS_API void talus_signals_begin(void);
TALUS_API int talus_signals_end(void);

/* A copy that is safe on a terminal: control characters become \n, \x1b, ..., as in every message of talus. For
 * names and titles that come from files. */
TALUS_API void talus_plain_text(const char *text, char *out, int room);

/* The entry of `names` (ended by NULL) closest to `word`, or NULL when none is close: for messages. */
TALUS_API const char *talus_nearest_name(const char *word, const char *const *names);

#ifdef __cplusplus
}
#endif
#endif
