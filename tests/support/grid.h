/* Scenes of particles from Lua text, and what a step derives from their first state: for tests of model/grid alone. */
#ifndef TL_TESTS_GRID_H
#define TL_TESTS_GRID_H

#include "model/grid/active.h"
#include "model/grid/levelset.h"
#include "model/grid/transfer.h"
#include "model/state.h"

typedef struct grid_case {
    tl_scene *scene;
    tl_rigid rigid;
    tl_state state;
    tl_arena arena; /* all below */
    tl_grid_frame f;
    double *rho;
    tl_particles sorted;
    uint64_t *key;
    tl_lost lost;
    tl_grid g;
    tl_faces faces;
    tl_solids solids;
    float *solid_phi;
    tl_fractions fractions;
    double *phi;
    tl_fillings full;
    tl_liquid liquid;
    tl_active active;
} grid_case;

/* text: what stands between the braces of scene { ... }; engine and the like are added. `water` is a material of
 * 1000 kg/m^3. */
grid_case grid_open(const char *text, ...) __attribute__((format(printf, 1, 2)));
/* The same without cmocka, which works in the main thread alone. owners: of a run of several parts, which deals out
 * the particles; NULL: one. */
talus_status grid_try_open(grid_case *c, struct tl_owners *owners, const char *text, talus_error *err);
void grid_close(grid_case *c);
talus_status grid_try_sort(grid_case *c, talus_error *err);                            /* up to the grid */
talus_status grid_try_derive(grid_case *c, tl_weight_family family, talus_error *err); /* all of it */
void grid_sort(grid_case *c);
void grid_derive(grid_case *c, tl_weight_family family);
uint64_t grid_hash(const grid_case *c); /* of all that grid_derive made */

#endif
