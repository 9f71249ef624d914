/* The step of the grid engine where something flows, in four files: begin.c makes a simulation and says
 * how long a step may be, views.c shows what there is, parts.c is for runs of several parts, step/grid.c is the step. Scenes of rigid bodies alone run the rigid step. */
#ifndef TL_PHASE_GRID_GRID_H
#define TL_PHASE_GRID_GRID_H

#include "model/coupling/coupled.h"
#include "model/coupling/friction.h"
#include "model/grid/flow.h"
#include "model/grid/owners.h"
#include "phase/bodies/bodies.h"
#include "phase/elastic/elastic.h"
#include "phase/rigid/rigid.h"
#include "solve/cone/parts.h"
#include "solve/coupled/method.h"
#include "solve/dual/method.h"

/* sim->engine_data: decided once. */
typedef struct tl_grid_data {
    tl_rigid_data rigid;      /* first: the rigid step's own */
    bool flows;               /* false: nothing but bodies, the rest is not there */
    tl_elastic_data *elastic; /* NULL: nothing bends */
    tl_flow_setup flow;
    const tl_scheme *scheme;    /* NULL: by masses */
    const tl_dual_scheme *dual; /* with elastic bodies */
    const tl_pressure_method *method;
    const tl_cone_method *friction; /* of stress */
    tl_parts_options parts;
    tl_particles spare; /* the next state's; nothing in it between steps */
    tl_owners *owners;  /* of blocks; NULL: there is one part */
    tl_cut cut;         /* as it was looked at last */
    /* what was sent in each phase so far, and in all when the last of them ended; in the order of the report */
    tl_comm_traffic sent[TL_REPORT_PHASES], sent_before;
} tl_grid_data;

/* The coupled problem of a step, solved, before anything moves. Valid during the call. */
typedef struct tl_grid_view {
    double t;              /* s, at the start of the step */
    tl_flow *flow;         /* u without pressure in faces.u, with it in system.c.u */
    const tl_bodies *b;    /* v_free and v */
    tl_friction *friction; /* NULL: nothing granular */
    tl_cones *cones;       /* of it */
    double tolerance;
    bool unilateral;     /* pressures are not negative */
    tl_coupled *coupled; /* the same without words of physics */
    const tl_scheme_report *solved;
} tl_grid_view;

talus_status tl_grid_begin(tl_sim *sim, talus_error *err);
void tl_grid_end(tl_sim *sim);
double tl_grid_dt_wanted(const tl_sim *sim);
talus_status tl_grid_measure(tl_sim *sim, tl_totals *t, talus_error *err);
/* What particles have, alone. */
talus_status tl_grid_totals_of(const tl_sim *sim, const tl_particles *p, const tl_grid_frame *f, tl_arena *a,
                               tl_totals *out, talus_error *err);
talus_status tl_grid_begin_parts(tl_sim *sim, talus_error *err);
extern const tl_parts_entry tl_grid_parts;
void tl_grid_count_messages(tl_sim *sim, int phase);
extern const char *const tl_grid_phase_names[];
extern const tl_view tl_grid_views[];
#define TL_GRID_VIEWS 11

#endif
