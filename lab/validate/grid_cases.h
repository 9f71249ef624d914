/* Cases of the grid engine that live in files of their own; the table is in grid.c. */
#ifndef TL_VALIDATE_GRID_CASES_H
#define TL_VALIDATE_GRID_CASES_H

#include "lab/validate/case.h"

/* grid_solve.c: what the pressure is solved with */
talus_status tl_case_grid_v6(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_v11(tl_case_log *log, talus_error *err);

/* grid_runs.c: whole runs */
talus_status tl_case_grid_tap(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_rest(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_dam(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_float(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_hollow(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_pinched(tl_case_log *log, talus_error *err);

/* grid_viscous.c: viscous liquids */
talus_status tl_case_grid_poiseuille(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_decay(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_together(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_free_blob(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_stokes(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_drop(tl_case_log *log, talus_error *err);

/* grid_water.c: water at rest, waves, bodies of a slab */
talus_status tl_case_grid_still(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_bowls(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_slosh(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_neutral(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_space(tl_case_log *log, talus_error *err);
talus_status tl_case_grid_paddle(tl_case_log *log, talus_error *err);

#endif
