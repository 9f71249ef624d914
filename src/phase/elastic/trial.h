/* One try of a step of elastic bodies: what its phases hand to each other. The algorithm is step/elastic.c, or
 * step/grid.c in a liquid; nodes.c predicts and moves nodes, contacts.c finds and keeps contacts, newton.c finds
 * velocities, joints.c those that joints ask for, accounts/elastic.c says where momentum and energy went. */
#ifndef TL_PHASE_ELASTIC_TRIAL_H
#define TL_PHASE_ELASTIC_TRIAL_H

#include "model/elastic/rows.h"
#include "phase/bodies/bodies.h"
#include "phase/elastic/elastic.h"
#include "solve/flex/route.h"

#define TL_ELASTIC_LOOKS 3        /* second looks that may add contacts */
#define TL_ELASTIC_EARLY_LOOK 1e3 /* of the tolerance: corrections below which the first looks are taken */

typedef enum tl_elastic_phase {
    TL_ELASTIC_PREDICT,
    TL_ELASTIC_DETECT,
    TL_ELASTIC_BALANCE,
    TL_ELASTIC_FACTOR,
    TL_ELASTIC_COMPLIANCE,
    TL_ELASTIC_TOUCH,
    TL_ELASTIC_SEARCH,
    TL_ELASTIC_MOVE,
    TL_ELASTIC_PHASES
} tl_elastic_phase;

typedef struct tl_elastic_trial {
    tl_sim *sim;
    tl_lg_state *now; /* of the nodes, at the start of the step */
    const tl_scene *scene;
    const tl_lg *lg;
    tl_elastic_data *data;
    const tl_fem *fem;
    tl_arena *arena;
    double h, tolerance;
    double pull;       /* m/s: what forces change of a velocity in this step, at most: g dt */
    tl_bodies *bodies; /* rigid ones, their contacts with each other */
    /* predict */
    double *v_star;  /* [3 nodes] of Euler's step */
    tl_vec3 *target; /* [anchors] at the end of the step */
    tl_vec3 *source; /* [anchors] at its start */
    tl_vec3 *spring; /* [anchors] what springs are drawn to at x: halfway with the midpoint rule */
    tl_vec3 *asked;  /* [anchors] N s of the scene's and of code's forces on the nodes that it leads */
    double *x_star;  /* [3 nodes] where nodes would go without contacts and stresses */
    /* detect */
    tl_lg_contacts contacts;
    tl_lg_view view;
    tl_fem_rows rows;
    double *he; /* [bodies] h, or h/2 of the midpoint rule */
    tl_fem_rate rate;
    double *lam, *u; /* [3 blocks] impulses, N s; velocities */
    int32_t *pick;   /* [flex.contacts] blocks something of which can move: the others push nothing */
    bool *movable;   /* [blocks] that */
    /* one correction as a problem of its own, over unknown nodes and contacts that move */
    tl_flex flex;
    tl_flex_part *part; /* [bodies] */
    tl_flex_solver solver;
    tl_csr J, Jt;
    double *flex_g, *flex_c, *flex_now, *flex_lam, *flex_dv, *flex_mu;
    /* Newton */
    double *v, *x;   /* [3 nodes] velocities (of the middle, midpoint rule) and positions that they stand for */
    double *v_rigid; /* [6 rigid] */
    double *force, *g, *dv, *trial, *x_trial, *scratch;
    tl_stable_modes *modes; /* [elements] */
    double energy;          /* J, elastic, at x */
    double decrease;        /* J, of the penalty along dv, to first order */
    tl_flex_report solved;
    tl_work work;
    int iterations, factors, halvings, looks, contact_iterations;
    double correction; /* m/s, the last one */
    double contact;    /* m/s, what the last contact solve left */
    double stopped;    /* m/s, what impacts of the start left that missed their target */
    bool converged;
    bool factored;            /* factors stand, of a matrix that is near enough */
    bool posed;               /* contacts are new: the route has not seen them */
    double last, left;        /* m/s: the last correction; what the contact solve of it left */
    bool indefinite;          /* true Hessians of elements made no definite matrix in this step */
    bool projected;           /* Hessians of elements: the true ones make no definite matrix */
    double slack;             /* m/s: what the contact solve may leave now */
    struct tl_wet *wet;       /* liquid around the bodies: solved with them (phase/grid/wet.h); NULL: none */
    bool sandy;               /* there is sand in it */
    double *load;             /* [3 nodes] N s of its pressure, held nodes too; [6 rigid] behind. NULL: none */
    double *follow;           /* [3 nodes] N s: what the turn of the surface within the step adds to load. NULL: none */
    double *offset;           /* [3 nodes] N s, part of v_star: hydrostatic, inside of cells. NULL: none */
    struct tl_riders *riders; /* sand on surfaces that no pressure holds (model/grid/grains.h). NULL: none */
    double *grains;           /* [3 nodes] N s, part of v_star but of held nodes: of single particles. NULL: none */
    /* measure */
    tl_vec3 *reaction;     /* [anchors] N s of it on its node; of an anchor that another one overrules none */
    int32_t *hold_nodes;   /* [holds of the state] */
    double *x_end, *v_end; /* [3 nodes] */
    double depth;          /* m */
    tl_lg_memory *memory;
    double seconds[TL_ELASTIC_PHASES], mark;
} tl_elastic_trial;

talus_status tl_elastic_no_memory(talus_error *err);
/* bodies: begun, and theirs to predict */
talus_status tl_elastic_begin_trial(tl_elastic_trial *s, tl_sim *sim, tl_elastic_data *data, tl_bodies *bodies,
                                    double dt, talus_error *err);
talus_status tl_elastic_predict(tl_elastic_trial *s, talus_error *err); /* after tl_bodies_predict */
void tl_elastic_end_nodes(tl_elastic_trial *s);                         /* x_end, v_end, energy */
void tl_elastic_report_contacts(const tl_elastic_trial *s, tl_report *r);
void tl_elastic_place_bodies(const tl_elastic_trial *s); /* tables show centres of mass */
void tl_elastic_commit(tl_elastic_trial *s);             /* nodes and their contacts; after that of the bodies */
void tl_elastic_lap(tl_elastic_trial *s, tl_elastic_phase phase); /* time since the last lap */

/* Anchor k holds its node and no other one after it does: it leads the node. */
static inline bool tl_elastic_leads(const tl_elastic_trial *s, int32_t k)
{
    const tl_lg_anchor *a = s->lg->anchor;
    if (!s->fem->is_held[k]) return false;
    for (int32_t i = k + 1; i < s->lg->anchors && a[i].vertex == a[k].vertex; i++)
        if (s->fem->is_held[i]) return false;
    return true;
}
/* Velocities of held nodes lead to where they have to be. */
void tl_elastic_lead_held(const tl_elastic_trial *s, double *v);

talus_status tl_elastic_detect(tl_elastic_trial *s, talus_error *err);
/* Where contact and stress lead nodes is not where they were predicted to be: `more` when something stands between
 * them now. */
talus_status tl_elastic_look_again(tl_elastic_trial *s, bool *more, talus_error *err);
/* Second order where mechanisms touch nothing elastic: impulses half-way (bodies/halfway.c). What touches has those of
 * the start of the step. For the contacts there are; rows are to be made anew. */
talus_status tl_elastic_halfway(tl_elastic_trial *s, talus_error *err);
/* Rows of contacts and joints as the bodies have them now, with the impulses of these. */
talus_status tl_elastic_make_rows(tl_elastic_trial *s, talus_error *err);
/* Velocities and impulses to the bodies, for their phases. */
void tl_elastic_hand_over(tl_elastic_trial *s);
/* Adds to given [rigid], J, what contacts with nodes gave to rigid bodies. */
void tl_elastic_give(tl_elastic_trial *s, double *given);
/* Solves once more, by `solve`, until joints are where they should be at the end; bodies are there then. */
typedef talus_status tl_elastic_solve(tl_elastic_trial *s, bool *again, talus_error *err);
talus_status tl_elastic_place_joints(tl_elastic_trial *s, tl_elastic_solve *solve, bool *again, talus_error *err);
talus_status tl_elastic_remember(tl_elastic_trial *s, talus_error *err); /* contacts for the next step */

/* Velocities in balance with stresses and contacts. */
/* Corrections until they are below `goal`, m/s, from where the last call ended. */
talus_status tl_elastic_newton(tl_elastic_trial *s, double goal, bool *again, talus_error *err);
/* Its first correction as a problem, not solved: matrices, factors where the route needs them, s->flex. */
talus_status tl_elastic_first_correction(tl_elastic_trial *s, bool *again, talus_error *err);
void tl_elastic_positions(const tl_elastic_trial *s, const double *v, double *x);
/* v* of a body that takes h_e: the scene's forces act for that long. i: of 3 nodes. */
double tl_elastic_star(const tl_elastic_trial *s, int b, int64_t i);
/* Energy of springs between nodes at x and target, J; their forces are added to force (NULL: not wanted). */
double tl_elastic_springs(const tl_elastic_trial *s, const double *x, const tl_vec3 *target, double *force);

/* That of a step of dt from the present state, for comparisons and tests. s lives until the next step, in the
 * simulation's arena. */
talus_status tl_elastic_first(tl_sim *sim, double dt, tl_elastic_trial *s, talus_error *err);

/* Grains that ride (riders.c), at velocities v: what they add to the energy that velocities minimise, to its gradient
 * and to the matrices of bodies; what presses them, for friction; and in the end where they go, and their load [3 nodes]
 * N s on nodes. */
double tl_elastic_riders_energy(const tl_elastic_trial *s, const double *v);
void tl_elastic_riders_press(const tl_elastic_trial *s, const double *v);
void tl_elastic_riders_balance(const tl_elastic_trial *s, const double *v, double *g);
void tl_elastic_riders_matrix(const tl_elastic_trial *s, const double *v);
void tl_elastic_riders_end(const tl_elastic_trial *s, double *load);

void tl_elastic_account(tl_elastic_trial *s); /* where momentum and energy of nodes and of rigid bodies went */

#endif
