/* Scenes of the local-global cases: short Lua texts with numbers put in, run step by step; and the cases of contact
 * and motion, for the group's table. */
#ifndef TL_VALIDATE_LG_WORLD_H
#define TL_VALIDATE_LG_WORLD_H

#include "lab/validate/case.h"
#include "lab/world.h"

typedef tl_world tl_lg_world;

/* `format` is what stands between the braces of scene { ... } after engine, duration, fps. */
talus_status tl_lg_world_open(tl_lg_world *w, talus_error *err, const char *format, ...) TL_PRINTF(3, 4);
/* at_rest: velocities are taken away after each step. */
talus_status tl_lg_world_steps(tl_lg_world *w, int count, double dt, bool at_rest, talus_error *err);
double tl_lg_world_mean(const tl_lg_world *w, int axis); /* centre of mass of all nodes, m */

talus_status tl_lg_case_slides(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_slides_more(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_slides_published(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_rests(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_rows(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_matrix_free(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_ball(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_printed(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_cloth(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_rigid(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_soft(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_static(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_beam(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_elastica(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_strip(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_plate(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_rings(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_capstan(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_hertz(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_damped(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_joined(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_spins(tl_case_log *log, talus_error *err);
talus_status tl_lg_case_bounces(tl_case_log *log, talus_error *err);

#endif
