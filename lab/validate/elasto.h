/* Cases of the group "elasto" that are in files of their own. */
#ifndef TL_VALIDATE_ELASTO_H
#define TL_VALIDATE_ELASTO_H

#include "lab/validate/case.h"

/* elasto_beam.c */
talus_status tl_elasto_cantilever(tl_case_log *log, talus_error *err);
talus_status tl_elasto_frequency(tl_case_log *log, talus_error *err);
talus_status tl_elasto_elastica(tl_case_log *log, talus_error *err);
talus_status tl_elasto_damping(tl_case_log *log, talus_error *err);
talus_status tl_elasto_spin(tl_case_log *log, talus_error *err);

/* elasto_contact.c */
talus_status tl_elasto_weights(tl_case_log *log, talus_error *err);
talus_status tl_elasto_ratios(tl_case_log *log, talus_error *err);
talus_status tl_elasto_collisions(tl_case_log *log, talus_error *err);
talus_status tl_elasto_hertz(tl_case_log *log, talus_error *err);
talus_status tl_elasto_self(tl_case_log *log, talus_error *err);
talus_status tl_elasto_range(tl_case_log *log, talus_error *err);

/* elasto_liquid.c */
talus_status tl_elasto_v13(tl_case_log *log, talus_error *err);
talus_status tl_elasto_v14(tl_case_log *log, talus_error *err);
talus_status tl_elasto_v20(tl_case_log *log, talus_error *err);
talus_status tl_elasto_gate(tl_case_log *log, talus_error *err);

/* elasto_sand.c */
talus_status tl_elasto_sand_sheet(tl_case_log *log, talus_error *err);
talus_status tl_elasto_sand_wheel(tl_case_log *log, talus_error *err);

/* elasto_routes.c */
talus_status tl_elasto_v12(tl_case_log *log, talus_error *err);
talus_status tl_elasto_v18(tl_case_log *log, talus_error *err);

#endif
