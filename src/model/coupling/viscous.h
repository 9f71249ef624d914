/* Viscous stress on the lists of a coupled problem: symmetric, without trace, proportional to the rate of strain of what
 * is not solid.
 *
 *     e = D^T (W_F u + J v)      strain of the blend, rows xx - yy and zz - yy at cells, 2 e_ij on edges
 *     s = 2 N e                  N = eta H^-1 / W_F^s, |s|^2 = s^T H s
 *     u1 = u* - dt (P W_L^u)^-1 (G p + D s)
 *
 * Solids are rigid: all strain of a sample's cube is in the part W_F^s that is open, whence the division. A wall half way
 * through the cubes of its edges, as those on faces of the grid are, then holds the liquid without slip to second order.
 * Solids that let liquid slip leave the samples that they cut without stress.
 *
 * A face whose centre lies in such a solid is held by it: one sample more, u less the solid's velocity there, as stiff as
 * a stress in the least open cube. Edges and cells around it see other parts of what is open, so that beside curved and
 * slanted solids the liquid would slip through a band half a cell thick: a ball of 6 to 12 cells across sinks 16 to 6 %
 * too fast. Weights stay those of volume, and with them what still liquid weighs on a solid; the force on the face is
 * taken from the solids that cover it, at the face's centre, so that momentum and angular momentum are kept.
 *
 * Free surface: pressure and stress end together. Cells with a pressure have a stress, with the weight one, as the ghost
 * fluid gives the pressure; an edge has one where each of its faces touches such a cell or is a solid's, by the part of
 * the open cells around it that have one. [elasto-monolith spec 3.4, 17.1 row V11] */
#ifndef TL_MODEL_COUPLING_VISCOUS_H
#define TL_MODEL_COUPLING_VISCOUS_H

#include "model/coupling/edges.h"
#include "model/coupling/rigid_solid.h"
#include "model/grid/fractions.h"
#include "solve/coupled/problem.h"

/* What the step knows. */
typedef struct tl_viscosity {
    const double *eta;  /* [grid cells] Pa s, mean of the particles; 0: none */
    const double *fill; /* [grid cells] */
    const tl_solids *solids;
    double *solid_edge[3]; /* [grid cells] part of the cube around an edge that is solid */
    const bool *slips;     /* [solids] liquid slips along this body */
    bool walls_slip;
    bool open_slivers; /* faces inside of solids are not held */
} tl_viscosity;

/* On the lists. */
typedef struct tl_viscous_stress {
    double *cell, *edge; /* [cells], [edges] eta / W, Pa s; 0: no stress */
    double *eta;  /* [cells] the same of all cells with a pressure, also those that solids leave without a stress */
    double *bulk; /* [cells] dt times a bulk viscosity, Pa s^2: no part of the answer */
    double *q;    /* [cells] scratch */
    double form[2][2];    /* H^-1 of xx and zz */
    double *s;            /* [stress.n] Pa */
    double *base;         /* [faces] velocities before any force of pressure and stress */
    const double *p;      /* [cells] in force */
    double *diagonal;     /* [faces] of K, kg/m^3 */
    double *e;            /* [stress.n] scratch */
    int32_t holds, *held; /* faces that solids hold */
    int32_t *hold_of;     /* [faces] which, -1: none */
    double *grip;         /* [holds] Pa s / m^2, over the square of what solids cover of the face */
    double *hold, *h;     /* [holds] N/m^3 on the liquid over that part, in force; scratch */
    double *force, *left; /* [faces] scratch */
    double *root;         /* [bodies][9] of inverse inertia, lower triangles */
    double *z, *solid;    /* scratch [solid.n]; [bodies][36] */
    int32_t (*ijk)[3];    /* [faces] */
    int32_t period[3];
    const struct tl_system *system;
} tl_viscous_stress;

/* Edges that carry a stress; active->number: of cells with an unknown. */
talus_status tl_viscous_edges(tl_edges *out, const tl_viscosity *v, const tl_grid *g, const tl_active *active,
                              const tl_fractions *f, tl_arena *a, talus_error *err);

/* After the lists of faces, stress and solids are made. s = 0. */
struct tl_system;
talus_status tl_viscous_stress_make(tl_viscous_stress *out, const tl_viscosity *v, const tl_grid *g,
                                    const tl_fractions *f, const struct tl_system *system, tl_arena *a,
                                    talus_error *err);

/* The problem as data; p [cells]: the pressures that are solved for. */
talus_status tl_viscous_coupled(tl_coupled_viscous *out, tl_viscous_stress *v, const double *p, tl_arena *a,
                                talus_error *err);

/* What that problem shares with one in which solids are solved otherwise (viscous_soft.h). */
/* Without product and others; solid: inverses of the blocks of rigid bodies, for z of below. */
talus_status tl_viscous_problem(tl_viscous *out, tl_viscous_stress *v, tl_arena *a, talus_error *err);
void tl_viscous_begin(const void *v); /* the velocities as they are have no force of this block in them yet */
/* What viscosity does at velocities of faces u (NULL: 0) and their blend with solids y: v->e, v->h. */
void tl_viscous_forces(const tl_viscous_stress *v, const double *u, const double *y);
void tl_viscous_renew(const tl_viscous_stress *v); /* v->e and v->h are in force */
/* Force density of v->e and v->h as solids feel it: v->force. Of held faces the liquid feels v->h more. */
void tl_viscous_on_solids(const tl_viscous_stress *v);
/* What is left of the balance of faces, M (u - base) + dt W_F (G p + D s) + dt h: out. Of v->e, v->h. */
void tl_viscous_balance(const tl_viscous_stress *v, double *out);
/* m/s: how far velocities are from their balance, face by face with the others held, and the largest that viscous forces
 * do to them. Of v->e, v->h. */
void tl_viscous_judge(const tl_viscous_stress *v, double *largest, double *error);
/* v = R z, or z = R^T v of rigid bodies: R R^T is the inverse mass, so that z has the mass one. */
void tl_viscous_through_root(const tl_viscous_stress *v, bool transposed, const double *in, double *out);

#endif
