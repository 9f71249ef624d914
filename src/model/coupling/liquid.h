/* The coupled problem of a liquid on the grid: which cells carry a pressure, and the compact lists that operators and
 * solvers work on.
 *
 * Liquid mode: constant density, weights of faces are areas (cut cells) [Ng2009], the free surface is where the
 * distance between cell centres says (ghost fluid [Gibou2002]): a face between liquid and air is liquid on the part
 * theta of the way, at least 0.01. Binary weights, theta = 1 everywhere, are what figure 2 of [FM21] compares with. A
 * cell is active when it is liquid, inside of solids by extension too, and one of its faces is open.
 *
 * Granular mode: weights of faces are volumes, a face carries the mass of its particles (P W_L^u), a cell is active by
 * its filling [grid-granular spec 3], and the faces that end at an edge with a shear stress are in the lists too. The
 * pressure unknown is W_L^p p in both.
 *
 * Cells are in the order of kind "pressure": red first. c.mobility is exact; the solver's matrix is its rounding to
 * float, which increments make harmless. */
#ifndef TL_MODEL_COUPLING_LIQUID_H
#define TL_MODEL_COUPLING_LIQUID_H

#include "model/coupling/carry.h"
#include "model/coupling/edges.h"
#include "model/coupling/rigid_solid.h"
#include "model/coupling/viscous.h"
#include "model/grid/active.h"
#include "model/grid/pieces.h"
#include "model/grid/transfer.h"
#include "solve/pressure/problem.h"

#define TL_THETA_LEAST                                                                                                 \
    0.01 /* costs at most theta rho g dx of pressure; a tenth would cost a tenth [grid-granular spec 3.3] */

/* Cells: less deep a cell carries no pressure, and the face below it carries its level. The size of THETA_LEAST:
 * nothing is clamped. */
#define TL_SHALLOW 0.01
#define TL_THETA_MAX 1.5 /* where a shallow cell is the one outside */

typedef struct tl_system {
    tl_coupling c;
    tl_active active;         /* cells of the grid in the solver's order; of several parts copies at cells + 1 and on */
    int32_t *of[3];           /* [grid cells] number of a face in the lists, -1: none */
    int32_t *id;              /* [faces] cell at whose lower end the face lies */
    int8_t *axis;             /* [faces] */
    double density;           /* kg/m^3 that scales the solver's units */
    double *fluid, *mobility; /* as in c */
    tl_rigid_solid rigid;
    tl_body_cells wet;         /* G^T J of free bodies */
    tl_stress stress;          /* n = 0: nothing granular or viscous */
    tl_edges edges;            /* of it */
    tl_viscous_stress viscous; /* s NULL: nothing is viscous */
    tl_carry carry;            /* of sand, and of liquid that nothing holds; known NULL: none */
    /* the solver's matrix */
    int64_t all;             /* cells of all parts */
    tl_pressure_space space; /* comm NULL: one part */
    int32_t red;
    int32_t (*ijk)[3];
    int32_t *nb[6];
    float *coef[6], *dir, *ar;
    double *d;
} tl_system;

/* Density P of a granular face. m: mass of particles on the face. [grid-granular spec 3.4] */
typedef enum tl_density_rule {
    /* P W_L^u = M / (W_F dx^3), M with what goes with the face (carry.h): momentum is kept. Default with bodies */
    TL_DENSITY_CARRIED,
    /* kept within 0.4 and 1.5 of the material's own */
    TL_DENSITY_KERNEL, /* m over the part of the kernel's volume that could hold any. Default without */
    TL_DENSITY_SHARE,  /* m / (dx^3 W_F W_L^u) */
    TL_DENSITY_CONST,  /* the material's */
    TL_DENSITY_MASS    /* m / dx^3: counts what is missing twice */
} tl_density_rule;

/* What the step knows. phi [cells] m, negative in liquid; open, covers of family "area". Face velocities are not
 * read here. */
typedef struct tl_liquid_domain {
    const tl_grid *grid;
    const tl_faces *faces;   /* density */
    tl_fractions *fractions; /* faces that belong to solids alone are closed here, see tl_liquid_system */
    const double *phi;
    const tl_pieces
        *loose; /* of sand: those that nothing holds have its mass on their faces by any density_rule; NULL: none */
    const tl_pieces *pieces; /* of liquid: free ones are solved with the particles' mass; NULL: all are held */
    bool binary;
    const tl_liquid *granular;     /* fractions, edges included, where anything is granular; NULL: liquids alone */
    const tl_viscosity *viscosity; /* of liquids; NULL: none has any */
    bool staggered;                /* of stress */
    tl_edge_rule edge_rule;
    tl_density_rule density_rule;
    bool open_slivers, open_fringe; /* of sand: faces that solids would take over are left open, see tl_liquid_system */
    /* bodies [rigid count], walls included */
    int32_t bodies;
    const tl_vec3 *centre;
    const double *inv_mass, *inv_inertia;
} tl_liquid_domain;

/* Granular: a face that a solid covers by more than three quarters is the solid's, and so is a face beside a solid
 * that stress reaches and no pressure holds, as at the foot of a pile: the solid takes the open part over, and with
 * it the force. Such faces would carry velocities that nothing balances: slivers beside a plate that is pressed into
 * sand shoot off at 4 m/s, and the foot of a pile creeps sideways at half the speed of their fall. */
talus_status tl_liquid_system(tl_system *out, const tl_liquid_domain *d, double dt, tl_arena *a, talus_error *err);

/* Face velocities from the grid's arrays to the lists, and back (only faces of the lists are written). */
void tl_system_load(const tl_system *s, double *const u[3]);
void tl_system_store(const tl_system *s, double *const u[3]);

/* One number per face of the lists, from and to the memory of the state. Returns how many cells have such a face. */
void tl_system_recall(const tl_system *s, const tl_grid *g, const tl_grid_state *past, double *t);
int64_t tl_system_rest_cells(const tl_system *s, const tl_grid *g);
void tl_system_remember(const tl_system *s, const tl_grid *g, const double *t, tl_grid_state *to);

/* The problem without b, bounds and extra part. */
tl_pressure tl_system_pressure(const tl_system *s);

#endif
