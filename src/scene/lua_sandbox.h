/* A Lua state for text that nobody has looked at.
 *
 * The script gets a few functions of the Lua library (see docs/scene-reference.md) and what the caller defines. It has
 * no way to files, the system, bytecode, metatables or caught errors. Work is counted in units: one per Lua
 * instruction, one per eight bytes taken from the heap, and what C functions charge for their loops. Whoever runs out
 * of units, memory, call depth or text length is stopped, and the message says of what. No single operation costs much
 * more than its units, because texts, argument lists and call depth are short; should one be found that does, a limit
 * on processor time far above any honest use ends it.
 *
 * Nothing depends on addresses, hash seeds or the clock: pairs() goes through keys in order, tostring() of a table
 * is "table", sorting is stable, math.random() counts from a seed.
 *
 * After tl_sandbox_seal the script's functions can be called, but no longer write globals or draw random numbers. */
#ifndef TL_SCENE_LUA_SANDBOX_H
#define TL_SCENE_LUA_SANDBOX_H

#include <stdbool.h>

#include <lauxlib.h>
#include <lua.h>

#include "base/status.h"

#define TL_SANDBOX_MEMORY ((size_t)64 << 20) /* bytes; a scene of 600 bodies takes about 2 MB */
#define TL_SANDBOX_TEXT ((size_t)4 << 10) /* longest text a script can make, bytes; comparing two costs about 0.1 us */
#define TL_SANDBOX_DEPTH 150              /* nested calls; Lua's own parser and C calls stop at 200 */
#define TL_SANDBOX_VALUES 64              /* values that table.unpack and string.byte give at once */
#define TL_SANDBOX_CPU_SECONDS 20.0       /* the net below all limits */

typedef struct tl_sandbox {
    lua_State *L;
    size_t used;                          /* bytes */
    int64_t budget;                       /* units left */
    int64_t given;                        /* units at the last tl_sandbox_allow */
    bool loading;                         /* until tl_sandbox_seal */
    bool spent, full, long_text, starved; /* why an allocation was refused: units, cap, length, the heap itself */
    double cpu_start;
    int ticks;
    uint64_t random_seed, random_count;
    int chunk, line;    /* where the script was last seen; chunk is the number in its name "#3", -1: outside */
    void *user;         /* of the functions that the caller defines */
    talus_log_fn print; /* where print() goes; may be NULL */
    void *print_user;
    int printed;
} tl_sandbox;

talus_status tl_sandbox_create(tl_sandbox **out, talus_error *err);
void tl_sandbox_free(tl_sandbox *s);
tl_sandbox *tl_sandbox_of(lua_State *L);

/* A global of the script that it cannot change. The value is popped. */
void tl_sandbox_define(tl_sandbox *s, const char *name);
/* Compile text (never bytecode) as chunk "#number" with the script's globals, and push the function. */
int tl_sandbox_load(tl_sandbox *s, const char *text, size_t bytes, int number);
/* lua_pcall with the sandbox's error handler. On failure one message is left on the stack and s->chunk,
 * s->line say where; on success the results. */
int tl_sandbox_call(tl_sandbox *s, int arguments, int results);
/* The reason of a failed load or call, without its position. Reads the message on top of the stack. */
const char *tl_sandbox_reason(tl_sandbox *s, char *text, size_t room);

void tl_sandbox_allow(tl_sandbox *s, int64_t units); /* a new budget */
void tl_sandbox_charge(lua_State *L, int64_t units); /* raises when spent */
void tl_sandbox_seal(tl_sandbox *s);

#endif
