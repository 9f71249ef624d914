/* Scenes of rigid bodies from Lua text, stepped through tl_sim. */
#ifndef TL_TESTS_RIGID_H
#define TL_TESTS_RIGID_H

#include "lab/world.h"

typedef tl_world rigid_case;

/* `text` (printf-like) is what stands between the braces of scene { ... }; lines before it may be given in `lua`.
 * Adds talus = 1, the engine, duration 100, fps 100 and dt_max = 0.01, unless the text has them. Fails the test on
 * any error. */
rigid_case rigid_open(const char *lua, const char *text, ...) __attribute__((format(printf, 2, 3)));
talus_status rigid_try(rigid_case *c, const tl_log *log, const char *lua, const char *text, talus_error *err);
void rigid_close(rigid_case *c);

void rigid_run(rigid_case *c, double seconds); /* in steps of 10 ms */
void rigid_step(rigid_case *c, double dt);
const tl_motion *rigid_body(const rigid_case *c, const char *name);
int32_t rigid_number(const rigid_case *c, const char *name); /* of that body */
double rigid_normal_sum(const rigid_case *c);                /* N, of all contacts in the last step */

const tl_joint_memory *rigid_joint(const rigid_case *c, int k);
/* m: what places of joints are off by, of rows that hold and of limits. */
double rigid_joints_off(const rigid_case *c);

/* Same bits with one and two threads, after a copy and after a checkpoint. `open` brings the scene to where it
 * matters; `more` steps after the saving. */
void rigid_threads_and_saves(rigid_case (*open)(void), int more);

#endif
