/* One try of a local-global step: what its phases hand to each other. The algorithm is step/lg.c; begin.c begins and
 * ends a simulation, loads.c says what pushes nodes, round.c makes a round, solve.c is what comes after rounds, judge.c
 * tells how far they came, report.c what users see. */
#ifndef TL_PHASE_LG_STEP_H
#define TL_PHASE_LG_STEP_H

#include "math/anderson.h"
#include "phase/bodies/bodies.h"
#include "phase/lg/apart.h"
#include "phase/lg/damp.h"
#include "phase/lg/exact.h"
#include "phase/lg/time.h"

typedef enum tl_lg_phase {
    TL_LG_PREDICT,
    TL_LG_DETECT,
    TL_LG_ASSEMBLE,
    TL_LG_PROJECT,
    TL_LG_BALANCE,
    TL_LG_SOLVE,
    TL_LG_TOUCH,
    TL_LG_MEASURE,
    TL_LG_PHASES
} tl_lg_phase;

/* What the engine keeps between steps, sim->engine_data: caches and what was told already. Nothing here changes a
 * result. */
typedef struct tl_lg_data {
    tl_lg_solver *solver;
    tl_lg_columns *columns;
    tl_lg_hessian *hessian;
    tl_flex_data *flex;
    tl_lg_grips grips; /* of joints; constant */
    tl_lg_times time;  /* the scene's, but Euler's where joints hold elastic bodies */
    tl_lg_precision precision;
    bool searches; /* quasi-Newton */
    double reach;  /* s, of static steps */
    tl_rigid_data rigid;
    bool told;      /* of creep */
    bool told_left; /* of rounds that do not suffice */
    bool told_fast; /* of swings that steps are too long for */
    tl_lg_apart_told told_apart;
    int *missed;  /* [bodies] steps in a row that missed */
    int *hurried; /* [bodies] steps in a row that were too long for its swing */
} tl_lg_data;

typedef struct tl_lg_step {
    tl_sim *sim;
    const tl_scene *scene;
    const tl_lg *lg;
    tl_lg_state *now; /* of the nodes, at the start of the step */
    tl_lg_data *data;
    tl_arena *arena;
    double h, he;     /* he^2: of A */
    double slow;      /* m/s: errors of contact laws that nobody sees, 1e-6 with edges of 1 cm and steps of 10 ms */
    tl_bodies bodies; /* rigid ones, their contacts with each other */
    tl_lg_time time;
    tl_anderson mixer;
    tl_lg_newton newton;
    /* predict */
    double *qtil;     /* [3 nodes] */
    double *q;        /* [3 nodes] the positions that are to be */
    double *u;        /* [8 dual_rows] the duals that are to be; behind q */
    double *from;     /* q and u at the start of a round */
    double *accel;    /* [3 nodes] gravity and forces on bodies, m/s^2 */
    bool *pushed;     /* [bodies] by a force or a torque */
    tl_vec3 *target;  /* [anchors] */
    double *pressure; /* [bodies] Pa, at the end of the step; NULL: none */
    double elastic0;  /* J, of nodes at the start */
    /* detect */
    tl_lg_contacts contacts;
    tl_lg_view view;
    tl_lg_bilaterals bilateral;
    int32_t *hold_nodes; /* [tl_lg_hold_count] */
    tl_lg_rows_of rows;
    tl_lg_joined *joined; /* NULL: there are no joints */
    tl_lg_touch touch;
    /* project, balance, solve */
    double *force;      /* [force_count] of element corners */
    double *r;          /* [3 nodes] */
    double *step;       /* [3 nodes] A^-1 r */
    double *trial;      /* [3 nodes] quasi-Newton and Chebyshev: other positions */
    double omega;       /* Chebyshev's weight */
    int rounds;         /* made */
    bool unsolved;      /* corrections have not ended */
    double found, left; /* r A^-1 r of the first round and of the last */
    /* hold apart */
    tl_lg_apart apart;
    /* measure */
    double *v; /* [3 nodes] */
    double elastic;
    bool *touched;   /* [bodies] by contacts or rows */
    double *missing; /* [bodies] share of the forces of this step that rounds have not found */
    double *off2;    /* [bodies] kg m^2: how far a body is from where these would lead it */
    double *after;   /* [3 nodes] r a step on */
    tl_lg_laws laws;
    tl_lg_memory *memory; /* [memories] contacts that the next step starts from */
    int64_t memories;
    double depth; /* m, of surfaces in shapes */
    /* settle */
    double landed;  /* J, that landing took */
    double viscous; /* J, that inner friction gave: never positive */
    double *damped; /* [3 nodes] N s, of anchors against it */
    double seconds[TL_LG_PHASES], mark, began;
} tl_lg_step;

talus_status tl_lg_begin(tl_sim *sim, talus_error *err); /* see tl_engine_entry */
void tl_lg_end(tl_sim *sim);

talus_status tl_lg_no_memory(talus_error *err);
void tl_lg_lap(tl_lg_step *s, tl_lg_phase phase); /* time since the last lap */
bool tl_lg_is_late(const tl_lg_step *s);          /* real time: the scene's time for a step is over */

/* accel, pushed, pressure. */
talus_status tl_lg_load(tl_lg_step *s, talus_error *err);

/* A round, in this order. */
void tl_lg_project(tl_lg_step *s);
void tl_lg_balance(tl_lg_step *s);
void tl_lg_solve_global(tl_lg_step *s, int round);
talus_status tl_lg_touch_nodes(tl_lg_step *s, talus_error *err);
/* Where contact and tension lead nodes is not where they were predicted to be: something sharp may stand between them
 * now. */
talus_status tl_lg_look_again(tl_lg_step *s, bool *changed, talus_error *err);

/* After the rounds: Newton's method for what no contact, cable or join holds, which rounds of other bodies do not
 * change. Duals follow, for the step in which something touches. */
talus_status tl_lg_solve_free(tl_lg_step *s, talus_error *err);
/* Then for what touches, where rounds did not suffice. */
talus_status tl_lg_solve_touching(tl_lg_step *s, talus_error *err);
/* Duals of the forces that q has: where rounds without duals end, and the next step may go on with duals. */
talus_status tl_lg_renew_duals(tl_lg_step *s, talus_error *err);
/* In place of rounds, static steps: Newton's method for the positions in which forces balance. */
talus_status tl_lg_find_balance(tl_lg_step *s, talus_error *err);
double tl_lg_static_target(const tl_lg_step *s);  /* share of the forces that it may leave */
double tl_lg_contact_target(const tl_lg_step *s); /* m/s, of gaps over the step's length and of slips */

/* r at q with the forces of contacts, cables and joins, A^-1 r, and how well their laws hold. */
void tl_lg_find_residual(tl_lg_step *s);
/* missing and off2, from these. */
void tl_lg_find_missing(tl_lg_step *s);
/* Bodies that miss by what users would see are counted, and told by tl_lg_tell. */
void tl_lg_judge(tl_lg_step *s);
/* Bodies that swing too fast for steps are counted, then told. */
talus_status tl_lg_watch_swings(tl_lg_step *s, talus_error *err);
void tl_lg_tell(const tl_lg_step *s); /* once each: rounds that do not suffice, friction that has not ended */

void tl_lg_fill_report(const tl_lg_step *s);
/* Within commit: forces between elastic and other bodies, added to those that rigid ones exert on each other; what held
 * elastic bodies. */
void tl_lg_sum_forces(const tl_lg_step *s);

#endif
