/* The tables of a run: steps.csv, bodies.csv, joints.csv, holds.csv, history.csv. One row function each; the line of names goes
 * before the first row, or is compared with the one that is there. Units are in the names; docs/running.md says what
 * each column means.
 *
 * On a rerun and after a resume all columns are the same, but `peak_bytes` and those that begin with `seconds_`. */
#ifndef TL_IO_CSV_RUN_H
#define TL_IO_CSV_RUN_H

#include "io/csv.h"
#include "model/lg/holds.h"
#include "model/report.h"
#include "model/state.h"

/* The header is made from the first report; later ones must list the same phases and solves. */
talus_status tl_csv_steps_header(tl_csv *c, const tl_report *r, talus_error *err);
talus_status tl_csv_steps_row(tl_csv *c, const tl_report *r, talus_error *err);

/* A row per body of the scene, of the frame that the state has reached. */
talus_status tl_csv_bodies_header(tl_csv *c, talus_error *err);
talus_status tl_csv_bodies_rows(tl_csv *c, const tl_scene *scene, const tl_rigid *rigid, const tl_state *s,
                                talus_error *err);

/* A row per joint. */
talus_status tl_csv_joints_header(tl_csv *c, talus_error *err);
talus_status tl_csv_joints_rows(tl_csv *c, const tl_scene *scene, const tl_state *s, talus_error *err);

/* A row per anchor, handle, cable and join. hold [tl_lg_hold_count] */
talus_status tl_csv_holds_header(tl_csv *c, talus_error *err);
talus_status tl_csv_holds_rows(tl_csv *c, const tl_scene *scene, const tl_lg *lg, const tl_lg_hold *hold,
                               const tl_state *s, talus_error *err);

/* A row per iteration of every solve of the step. history [r->solves] */
talus_status tl_csv_history_header(tl_csv *c, talus_error *err);
talus_status tl_csv_history_rows(tl_csv *c, const tl_report *r, const tl_history *history, talus_error *err);

#endif
