/* The step of the grid engine where something flows, in two files: grid_begin.c makes a simulation and says how long a step may be,
 * grid.c is the step. Scenes of rigid bodies alone run the rigid step. */
#ifndef TL_STEP_GRID_H
#define TL_STEP_GRID_H

#include "model/grid/grid.h"
#include "step/rigid.h"
#include "step/scheme.h"

/* sim->own: decided once; nothing here changes a result. */
typedef struct tl_grid_kept {
    tl_rigid_kept rigid; /* first: the rigid step's own */
    bool flows;          /* false: nothing but rigid bodies, the rest is not there */
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
    double spacing; /* m, the widest of all fills and emitters */
    tl_particles spare; /* the next state's; nothing in it between steps */
} tl_grid_kept;

talus_status tl_grid_begin(tl_sim *sim, talus_error *err);
void tl_grid_end(tl_sim *sim);
double tl_grid_dt_wanted(const tl_sim *sim);

#endif
