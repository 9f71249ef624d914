/* Cases of the grid engine with granular material, for its table in grid.c. */
#ifndef TL_VALIDATE_GRID_SAND_H
#define TL_VALIDATE_GRID_SAND_H

#include "lab/validate/case.h"

talus_status sand_operators(tl_case_log *log, talus_error *err); /* V1, V4 of stress */
talus_status sand_cone(tl_case_log *log, talus_error *err);      /* V7 */
talus_status sand_layer(tl_case_log *log, talus_error *err);     /* V9 */
talus_status sand_pyramid_layer(tl_case_log *log, talus_error *err);
talus_status sand_staggered_layer(tl_case_log *log, talus_error *err);
talus_status sand_axes(tl_case_log *log, talus_error *err);        /* V15 */
talus_status sand_rest(tl_case_log *log, talus_error *err);        /* V16 */
talus_status sand_collapse(tl_case_log *log, talus_error *err);    /* V17 */
talus_status sand_silo(tl_case_log *log, talus_error *err);        /* S1 */
talus_status sand_shaft(tl_case_log *log, talus_error *err);       /* S2 */
talus_status sand_janssen(tl_case_log *log, talus_error *err);     /* S3 */
talus_status sand_silo_angles(tl_case_log *log, talus_error *err); /* S10 */
talus_status sand_columns(tl_case_log *log, talus_error *err);     /* S8 */
talus_status sand_ball(tl_case_log *log, talus_error *err);        /* S9 */
talus_status sand_craters(tl_case_log *log, talus_error *err);     /* S11 */
talus_status sand_discharge(tl_case_log *cases, talus_error *err); /* S12 */
talus_status sand_bagnold(tl_case_log *log, talus_error *err);     /* V21 */
talus_status sand_slip(tl_case_log *log, talus_error *err);        /* V20 */
talus_status sand_wall(tl_case_log *log, talus_error *err);        /* S4 */
talus_status sand_piles(tl_case_log *log, talus_error *err);       /* S7 */

#endif
