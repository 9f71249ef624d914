/* Elastic bodies in a liquid: where the step of the liquid (step/grid.c) and the Newton iteration of elastic bodies
 * (phase/elastic) meet. Around the velocities at hand pressure, contacts, elastic and rigid solids are one problem of
 * kind "dual"; the nodes' correction comes from its answer.
 *
 * Surfaces are cut where the step begins, like the shapes of rigid bodies: constraints are then linear in velocities,
 * and what changes from one correction to the next is the elastic stiffness alone. Differs from [Takahashi2022], who
 * cut them anew at every iterate: the solid would be a step ahead of the particles of the liquid. */
#ifndef TL_PHASE_GRID_WET_H
#define TL_PHASE_GRID_WET_H

#include "model/coupling/soft.h"
#include "model/coupling/viscous_soft.h"
#include "model/grid/flow.h"
#include "phase/elastic/trial.h"
#include "phase/grid/sandy.h"
#include "solve/dual/method.h"

typedef struct tl_wet {
    tl_elastic_trial *trial;
    tl_flow *flow;
    tl_flow_soft soft; /* what flow knows of the bodies */
    tl_skins start, moving, end;
    double thin; /* cells: the thinnest sealed part; INFINITY: none */
    /* assembled */
    tl_soft ops;
    tl_csr Z, Zt;    /* over unknowns and rigid bodies */
    double *modes;   /* [unknowns][6] */
    double *outflow; /* [cells] */
    bool follows;    /* trial->follow is kept */
    tl_sandy sandy;  /* where there is sand */
    /* of a viscous liquid; viscous.ctx NULL: it is not */
    tl_csr blend;  /* [faces][3 nodes] */
    tl_csr S, St;  /* [faces][unknowns and rigid bodies] */
    double *fixed; /* [faces] solids' part at the velocities at hand */
    tl_viscous_soft with_solids;
    tl_dual_viscous viscous;
    /* solved */
    tl_dual_cones sand;
    tl_dual dual;
    tl_dual_solver solver;
    tl_flex problem; /* of contacts, with the pressure's load */
    tl_flex_solver contact;
    tl_dual_report solved; /* sums over corrections; the last certificate */
    double gain;           /* J that elastic bodies have more than at the start */
} tl_wet;

/* How pressure and contacts are to be solved. */
typedef struct tl_wet_options {
    const tl_dual_scheme *scheme;
    const tl_pressure_method *method;
    bool unilateral, warm;       /* warm: flow->p is worth starting from */
    const tl_friction *friction; /* sand: with its block of cones; NULL: none */
    const tl_cones *cones;
} tl_wet_options;

/* The trial has begun and is predicted. Surfaces of the start; flow->soft is set. */
talus_status tl_wet_begin(tl_wet *w, tl_elastic_trial *trial, tl_flow *flow, talus_error *err);
/* After contacts are found: which bodies press against each other. */
talus_status tl_wet_link(tl_wet *w, talus_error *err);
/* After tl_flow_assemble: operators, and the offset as part of v_star. */
talus_status tl_wet_assemble(tl_wet *w, talus_error *err);
/* What single particles, which no pressure holds, gave to elastic bodies: the change of flow->v_free from `before`
 * [6 bodies] goes to their nodes. */
talus_status tl_wet_take_grains(tl_wet *w, const double *before, talus_error *err);
talus_status tl_wet_pose(tl_wet *w, const tl_wet_options *o, talus_error *err);
/* One correction: trial->flex_lam, flex_dv, contact and load; flow's p and u. */
talus_status tl_wet_solve(tl_wet *w, bool fresh, talus_error *err);
const double *tl_wet_load(const tl_wet *w); /* [unknowns + 6 rigid] N s */
/* trial->follow at positions x: pressure follows the surface as it turns and stretches from where the step began. */
void tl_wet_follow(tl_wet *w, const double *x);
/* wet_viscous.c. After the operators are there; solids' part of faces at the velocities at hand; H is new. */
talus_status tl_wet_viscous_make(tl_wet *w, const tl_soft_domain *d, talus_error *err);
void tl_wet_viscous_blend(tl_wet *w);
talus_status tl_wet_viscous_fit(tl_wet *w, talus_error *err);
/* load [3 nodes], held ones too: += impulses of the stress in force, N s */
void tl_wet_viscous_load(const tl_wet *w, double *load);
/* Unknown of component c of a node; -1: held. */
int64_t tl_wet_unknown(const tl_elastic_trial *s, int32_t node, int c);
/* After the trial's nodes have their end. fluid [6 bodies]: force and torque on elastic ones are added. */
talus_status tl_wet_end(tl_wet *w, double *fluid, talus_error *err);
/* Of it, what sand does: its stress, its grains and the pressure p [cells], of cells with sand alone. */
talus_status tl_wet_sand(tl_wet *w, const double *p, double *sand, talus_error *err);

#endif
