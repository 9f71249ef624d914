/* The step of the grid engine where something flows, in two files: grid_begin.c makes a simulation and says how long a step may be,
 * grid.c is the step. Scenes of rigid bodies alone run the rigid step. */
#ifndef TL_STEP_GRID_H
#define TL_STEP_GRID_H

#include "model/grid/grid.h"
#include "model/grid/levelset.h"
#include "step/elastic.h"
#include "step/rigid.h"
#include "step/scheme.h"

/* Rules of liquids with a number that is chosen: what each is for, and how it was chosen, is beside its default in grid_begin.c. Tests change one and see what goes wrong (tests/physics/liquid_rules.c). */
typedef struct tl_liquid_rules {
    double strains;      /* that density is put right in; INFINITY: however slow the flow is */
    double closed;       /* open part of a face up to which it goes with its neighbours */
    double kernel_reach; /* cells above the surface where matter is alone */
    int surround_layers; /* that liquid at a surface takes along */
    bool pay;            /* crowds are parted only as far as the flow lost energy otherwise */
    bool mix;            /* sweeps of pressure and contacts (step/scheme.h) */
    double gravity_step; /* longest step, of sqrt(dx / g) */
    double drop_way;     /* of a drop in a step, over that of the liquid */
    tl_surface_rules surface;
} tl_liquid_rules;
tl_liquid_rules tl_liquid_rules_default(void);

/* sim->own: decided once. */
typedef struct tl_grid_kept {
    tl_rigid_kept rigid;      /* first: the rigid step's own */
    bool flows;               /* false: nothing but bodies, the rest is not there */
    tl_elastic_kept *elastic; /* NULL: nothing bends */
    tl_grid_frame frame;
    const tl_scheme *scheme; /* NULL: by masses */
    const tl_pressure_method *method;
    const tl_cone_method *friction; /* of stress; NULL: by parts */
    const tl_parts_rule *rule;
    tl_parts_options parts;
    bool staggered;
    tl_weight_family family;
    double *density; /* [materials] kg/m^3 */
    double *alpha;   /* [materials] sqrt 2 sin(angle), 0 for liquids; NULL: nothing is granular */
    tl_edge_rule edge_rule;
    tl_density_rule density_rule;
    /* [materials], NULL: none has it. alpha of fast flow less alpha; grain_size sqrt(grain density) / I0; sqrt 2 cohesion cos(angle), Pa */
    double *rise, *inertia, *cohesion;
    bool refuse_mixture; /* of sand and liquid, where they meet */
    double sand_least;   /* least alpha of a sand */
    bool statics;        /* the stress of sand at rest is selected */
    double spacing;      /* m, the widest of all fills and emitters */
    tl_liquid_rules rules;
    tl_particles spare; /* the next state's; nothing in it between steps */
} tl_grid_kept;

/* The coupled problem of a step, solved, before anything moves. Valid during the call. */
typedef struct tl_grid_view {
    double t; /* s, at the start of the step */
    const tl_grid *grid;
    const tl_fractions *fractions;
    const double *phi, *fill;  /* [cells] m; particle volume per cell volume */
    double *const *u_star;     /* [3][cells] m/s: without pressure; coupled->b->v_free: bodies' */
    const tl_coupled *coupled; /* u in system->c.u, v in b->v */
    const tl_scheme_report *solved;
} tl_grid_view;

talus_status tl_grid_begin(tl_sim *sim, talus_error *err);
void tl_grid_end(tl_sim *sim);
double tl_grid_dt_wanted(const tl_sim *sim);

#endif
