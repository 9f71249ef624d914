/* What flows in a step of the grid engine: from particles on the grid to the coupled problem, and from its answer back
 * to all faces.
 *
 * tl_flow_setup is decided once, when a simulation begins. tl_flow holds what one step derives, grouped by the phase
 * that writes it; all of it lives in the step's arena. Who solves the coupled problem, what bodies do and what is
 * accounted for is the step's (step/grid.c). Rules that are not in the equations have a file of their own (rules.h). */
#ifndef TL_MODEL_GRID_FLOW_H
#define TL_MODEL_GRID_FLOW_H

#include "base/log.h"
#include "model/coupling/statics.h"
#include "model/grid/grains.h"
#include "model/grid/levelset.h"
#include "model/grid/sums.h"
#include "model/report.h"
#include "model/rigid/contacts.h"

/* Rules of liquids with a number that is chosen: what each is for, and how it was chosen, is beside its default in
 * flow_setup.c. Tests change one and see what goes wrong (tests/physics/liquid_rules.c). */
typedef struct tl_liquid_rules {
    double strains;      /* that density is put right in; INFINITY: however slow the flow is */
    double closed;       /* open part of a face up to which it goes with its neighbours */
    double kernel_reach; /* cells above the surface where matter is alone */
    int surround_layers; /* that liquid at a surface takes along */
    bool pay;            /* crowds are parted only as far as the flow lost energy otherwise */
    bool mix;            /* sweeps of pressure and contacts */
    bool ride;           /* single grains on elastic bodies are points of the elastic problem (grains.h) */
    double gravity_step; /* longest step, of sqrt(dx / g) */
    double drop_way;     /* of a drop in a step, over that of the liquid */
    tl_surface_rules surface;
} tl_liquid_rules;

typedef struct tl_flow_setup {
    tl_grid_frame frame;
    tl_weight_family family;
    double spacing;  /* m, the widest of all fills and emitters */
    double *density; /* [materials] kg/m^3 */
    double *alpha;   /* [materials] sqrt 2 sin(angle), 0 for liquids; NULL: nothing is granular */
    /* [materials], NULL: none has it. alpha of fast flow less alpha; grain_size sqrt(grain density) / I0; sqrt 2
     * cohesion cos(angle), Pa */
    double *rise, *inertia, *cohesion;
    double *viscosity; /* [materials] Pa s; NULL: none has any */
    bool staggered;    /* stress of sand */
    tl_edge_rule edge_rule;
    tl_density_rule density_rule;
    bool liquid_too;     /* there is liquid besides sand */
    bool refuse_mixture; /* of sand and liquid, where they meet */
    double sand_least;   /* least alpha of a sand */
    bool statics;        /* the stress of sand at rest is selected */
    tl_liquid_rules rules;
} tl_flow_setup;

/* From the scene; `exact`: stress of sand is solved with exact cones, not by parts. Fails where the scene asks for
 * what is not there. */
talus_status tl_flow_setup_make(tl_flow_setup *k, const tl_scene *s, bool exact, talus_error *err);
void tl_flow_setup_free(tl_flow_setup *k);
bool tl_scene_has_sand(const tl_scene *s);
bool tl_scene_is_viscous(const tl_scene *s); /* a liquid of it is */
/* Gravity along a periodic axis: what leaves at one end comes in at the other, higher or lower. */
bool tl_grid_falls_around(const tl_scene *s);

/* Elastic bodies as what flows sees them; the step's. */
typedef struct tl_flow_soft {
    const tl_skins *start;  /* cut along the grid, at the start of the step */
    const tl_skins *moving; /* the same with the velocities of its end */
    const tl_skins *end;    /* where they end up */
    double travel;          /* m, farthest that a node goes */
    const uint8_t *held;    /* [bodies of the scene] some of its nodes are */
    int32_t pairs;
    const int32_t *pair; /* [pairs][2] bodies that press against each other, one of them elastic */
} tl_flow_soft;

typedef struct tl_flow {
    const tl_scene *scene;
    const tl_flow_setup *set;
    tl_arena *arena;
    double dt;
    /* bodies at the start of the step, [rigid->count]; v_free, v [6 count]: without forces of the coupled problem,
     * and with them */
    const tl_rigid *rigid;
    const tl_motion *before;
    const double *inv_mass, *inv_inertia, *friction;
    double *v_free;
    const double *v;
    const tl_flow_soft *soft; /* NULL: nothing bends */
    /* particles to grid */
    tl_particles particles; /* the state that is to be */
    tl_grid grid;
    tl_faces faces;
    uint8_t *known[3]; /* [cells] */
    /* classify */
    tl_solids solids;
    float *solid_phi; /* [cells] m */
    tl_fractions fractions;
    double *phi;      /* [cells] m */
    tl_fillings full; /* of cells */
    tl_liquid liquid; /* sand */
    double *excess;   /* [cells] over full */
    tl_pieces pieces; /* of NULL: sand that weighs on faces what is there */
    /* assemble */
    tl_viscosity viscosity; /* eta NULL: none */
    tl_slip slip;           /* friction of solids against sand */
    bool slips;             /* any has its own */
    tl_system system;
    tl_coupling *motion; /* system.c with elastic bodies among the solids, before the rigid ones; NULL: nothing bends */
    const double *bends; /* [faces] part that elastic bodies cover; NULL likewise */
    tl_riders riders;    /* sand on elastic bodies */
    double *p;           /* [tl_coupling_length of the system] Pa */
    double *stress;      /* [system.stress.n] Pa; NULL: nothing is granular */
    double *five;        /* [cells of the system][5] the same for memory */
    double *cone;        /* [cells] sqrt 2 sin(angle) of what is there */
    /* extend: of a liquid, [3][cells] */
    uint8_t *pressed;  /* [cells] those with a pressure */
    double *due[3];    /* N s that faces are to have */
    double *own[3];    /* m/s that faces with matter of free pieces have of their own */
    double *moving[3]; /* m/s: what carries particles, and is not what they carry */
} tl_flow;

/* Stress that acts beside the pressure, of sand or of a viscous liquid: [system.stress.n], NULL without either. */
static inline const double *tl_flow_stress(const tl_flow *f) { return f->stress ? f->stress : f->system.viscous.s; }

/* Lists on which sand's stress acts, on all solids. */
static inline tl_coupling *tl_flow_motion(tl_flow *f) { return f->motion ? f->motion : &f->system.c; }

/* What emitters add within the step, behind the particles of g, whose count stays: all. next [emitters]: their state
 * that is to be. */
talus_status tl_flow_emit(const tl_flow *f, tl_grid_state *g, double t, tl_emitter_state *next, double *next_id,
                          tl_particles *all, talus_error *err);
/* Several parts: what others sent comes behind them too. */
talus_status tl_flow_migrate(const tl_flow *f, tl_grid_state *g, tl_particles *all, talus_error *err);
/* Sorted by cell into f->particles, which has room; grid around them, mass and velocities of faces. lost: what left
 * the domain. */
talus_status tl_flow_to_grid(tl_flow *f, const tl_particles *all, tl_lost *lost, talus_error *err);
/* u* = u + dt gravity, continued into faces without matter. */
talus_status tl_flow_fall(tl_flow *f, talus_error *err);
/* Solids, open parts of faces, distance to the surface, what is more than full. */
talus_status tl_flow_classify(tl_flow *f, talus_error *err);
/* Pieces of liquid, and which of them something fixed holds. lam [3 contacts] N s of the last step. */
talus_status tl_flow_find_pieces(tl_flow *f, const tl_rigid_contacts *c, const double *lam,
                                 const tl_joint_blocks *joints, talus_error *err);
/* Lists of cells and faces, operators, and what the last step left: p and stress of `past`. recalled: cells that had
 * a pressure, of all parts. */
talus_status tl_flow_assemble(tl_flow *f, const tl_grid_state *past, int64_t *recalled, talus_error *err);
/* Sand: frictional stress with the cones of today's material on the lists of the system, and how solids change them
 * (slip.h). parts: NULL: whole. */
talus_status tl_flow_friction(tl_flow *f, const tl_parts_options *parts, tl_friction *out, talus_error *err);
/* Sand: the rule that selects its stress at rest, ready for tl_statics_pose. on: it was at work in the last step. */
talus_status tl_flow_statics(const tl_flow *f, const tl_friction *friction, const tl_grid_state *past, bool on,
                             tl_statics *out, talus_error *err);
/* Sand that liquid covers, unless it is to be mud: cells with a pressure beside each other, one of sand and one of
 * liquid. t: s, for the message. */
talus_status tl_flow_refuse_mixture(const tl_flow *f, double t, talus_error *err);

/* After the solve. Cells with a pressure: they are kept full, and liquid there does not leave the solids beside it. */
talus_status tl_flow_find_pressed(tl_flow *f, double *liquid_volume, talus_error *err);
double tl_flow_fastest_cell(const tl_flow *f); /* m/s */
/* Velocities of the solve to the faces that it is about. */
talus_status tl_flow_store(tl_flow *f, talus_error *err);
/* And to all others: beyond matter, and not into solids. held: momentum that sand on faces inside of solids loses
 * there. */
talus_status tl_flow_extend(tl_flow *f, tl_impulse *held, talus_error *err);
/* Liquid: faces with matter of free pieces keep what is theirs, and the mass on faces gets what pressure gave them.
 * `r`: what is on account of fixed solids. */
talus_status tl_flow_keep_momentum(tl_flow *f, tl_repay *r, talus_error *err);
/* Particles moved: what solids did to them, what they have, and what parting crowds needs of it. */
typedef struct tl_flow_carried {
    tl_impulse taken;
    tl_particles_measure measured;
    tl_solids end;
    tl_carried *block;   /* [blocks] */
    uint8_t *free_block; /* [blocks] with matter of pieces that nothing holds */
} tl_flow_carried;
/* Velocities and gradients from faces.u, places by `moving`, out of solids at their end. Affine velocities weigh
 * more between faces than on them. That evens out in a flow, and not where something hits a body: in pieces that
 * nothing holds they gain nothing. end [bodies]. */
talus_status tl_flow_carry(tl_flow *f, const tl_motion *end, tl_flow_carried *out, talus_error *err);
/* Particles that crowd part: once per frame [FM21 sec. 4.1.2], crowds of whole cells part in every step. */
talus_status tl_flow_spread(tl_flow *f, tl_flow_carried *c, talus_error *err);

/* Adds what particles have to a report. emitter [emitters]: their state that is to be. */
void tl_flow_report(const tl_flow *f, const tl_particles_measure *m, const tl_grid_totals *totals,
                    const tl_emitter_state *emitter, double liquid_volume, tl_report *r);

/* Says, the first time, that an emitter finds no place for what is due, and that particles left. before: the state
 * so far; t: s. */
void tl_flow_tell(const tl_flow *f, const tl_grid_state *before, const tl_grid_totals *totals,
                  const tl_emitter_state *emitter, double t, const tl_log *log);

/* What the next step starts from: pressure, stress, and the search for that at rest (q->t NULL: none). Room first. */
talus_status tl_flow_reserve(const tl_flow *f, const tl_statics *q, tl_grid_state *to, talus_error *err);
void tl_flow_remember(const tl_flow *f, const tl_statics *q, tl_grid_state *to);

#endif
