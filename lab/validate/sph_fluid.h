/* SPH cases with liquid; listed in sph.c. */
#ifndef TL_VALIDATE_SPH_FLUID_H
#define TL_VALIDATE_SPH_FLUID_H

#include "lab/validate/case.h"

talus_status sph_pillar(tl_case_log *log, talus_error *err);   /* V9 */
talus_status sph_ratios(tl_case_log *log, talus_error *err);   /* V10 */
talus_status sph_floating(tl_case_log *log, talus_error *err); /* V11 */
talus_status sph_draught(tl_case_log *log, talus_error *err);  /* 15 h per edge, defaults */
talus_status sph_thrust(tl_case_log *log, talus_error *err);   /* V15 */
talus_status sph_sloshing(tl_case_log *log, talus_error *err);
talus_status sph_standing_wave(tl_case_log *log, talus_error *err);
talus_status sph_held_box(tl_case_log *log, talus_error *err);
talus_status sph_still(tl_case_log *log, talus_error *err);
talus_status sph_drag(tl_case_log *log, talus_error *err);
talus_status sph_order(tl_case_log *log, talus_error *err);
talus_status sph_poiseuille(tl_case_log *log, talus_error *err);
talus_status sph_drop(tl_case_log *log, talus_error *err);

#endif
