/* What flows and what is solid in one step, on compact lists: the operators of the coupled solve.
 *
 *     (G p)  on the face between cells low and high: (p_high - p_low) / dx; cells without an unknown count as 0
 *     G^T    its adjoint, by the same two lists read from the cells' side; there is no other divergence
 *     u1 = u* - dt (P W_L^u)^-1 K x          what flows,   K = G now, [G D] with frictional stress
 *     v1 = v* - dt dx^3 M^-1 J^T K x         solids (tl_coupled_solid)
 *     g  = -K^T (W_F u1 + J v1)              gradient of the energy / dt at the velocities as they are
 *
 * Every block of unknowns works in increments: it reads the gradient at the current velocities and pushes a change,
 * so that nothing drifts and an inexact Hessian does no harm. Unknowns are forces (Pa), not impulses. [FM21 sec. 3]
 * In several parts (base/comm.h) vectors over cells have own cells, a zero, and copies of neighbours that others own, as
 * kind "pressure" has them; lists hold the faces of own cells and those that belong to own cells of the grid.
 * The pressure unknown is W_L^p p: at a ghost-fluid surface W_L^p is 1, and W_L^u is the part theta of the distance
 * between cell centres that is liquid. Weights are arrays of one family per step, areas (liquid) or volumes
 * (granular); the operators do not know which. */
#ifndef TL_MODEL_COUPLING_H
#define TL_MODEL_COUPLING_H

#include "base/arena.h"
#include "math/csr.h"
#include "model/coupling/solid.h"
#include "solve/coupled/problem.h"

typedef struct tl_coupling {
    double dx, dt;
    int32_t cells, faces;
    int32_t copies;            /* of cells of other parts */
    const uint8_t *owned;      /* [faces] sums go over these; NULL: all */
    const int32_t *low, *high; /* [faces] cell on either side, or a copy; `cells`: no unknown there */
    const int32_t *face;       /* [cells][6] low and high face of x, y, z; each once per side */
    const double *fluid;       /* [faces] W_F */
    const double *mobility;    /* [faces] 1 / (P W_L^u), m^3/kg; 0 where W_F = 0 */
    tl_coupled_solid solid;
    double *u;      /* [faces] as of now */
    double *v;      /* [solid.n] as of now */
    double *y;      /* [faces] scratch */
    double *r, *dv; /* [solid.n] scratch */
} tl_coupling;

/* Entries of a vector over cells whose neighbours are read. */
static inline int64_t tl_coupling_length(const tl_coupling *c) { return (int64_t)c->cells + 1 + c->copies; }

/* Faces of a problem where they are in the grid. */
typedef struct tl_face_lists {
    const tl_coupling *c; /* cells, faces */
    int32_t *const *of;   /* [3][grid cells] number of a face in the lists, -1: none */
    const int32_t *id;    /* [faces] cell at whose lower end the face lies */
    const int8_t *axis;   /* [faces] */
} tl_face_lists;

/* Takes the scratch; u and v too. */
talus_status tl_coupling_make_room(tl_coupling *c, tl_arena *a, talus_error *err);

/* y [faces] = G p, copies of p being fresh */
void tl_coupling_gradient(const tl_coupling *c, const double *p, double *y);
void tl_coupling_adjoint(const tl_coupling *c, const double *y, double *out); /* out [cells] = G^T y */

/* y [faces] = W_F u + J v: the velocity that must not be compressed. */
void tl_coupling_blend(const tl_coupling *c, double *y);
/* Velocities after a force density f [faces] = K dx acts for dt. Uses r and dv. */
void tl_coupling_push(tl_coupling *c, const double *f);

/* g [cells] = -G^T (W_F u + J v), 1/s: net outflow. Uses y. */
void tl_coupling_pressure_gradient(const tl_coupling *c, double *g);
/* Velocities after a change dp [cells] of the pressure. Uses y. */
void tl_coupling_push_pressure(tl_coupling *c, const double *dp);

/* G^T J of the solver's problem, in 1/m. */
struct tl_rigid_solid;
/* Only bodies with inv_mass > 0: what the Hessian of the pressure needs. */
talus_status tl_body_cells_build(tl_body_cells *out, const tl_coupling *c, const struct tl_rigid_solid *s, tl_arena *a,
                                 talus_error *err);
/* Rows of dt G^T H G, H = W_F mobility, in compressed form; 0 diagonals (cells without a way out) get the value 1.
 * From the arena. */
talus_status tl_coupling_rows(const tl_coupling *c, tl_csr *out, tl_arena *a, talus_error *err);

#endif
