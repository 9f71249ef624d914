/* Frictional stress on the lists of a coupled problem: the operator D of [FM21 eq. 15], minus the divergence of a
 * symmetric tensor without trace.
 *
 *     diagonal   s_xx, s_zz at cells; s_yy = -s_xx - s_zz is eliminated here and nowhere else
 *                face of axis a: -(W_L^p s_aa) difference / dx
 *     shear      s_ij on the edges that are parallel to the third axis, times W_L^e
 *                face of axis i: -(difference along j) / dx, face of axis j: -(difference along i) / dx
 *
 * Two arrangements. Colocated: all five components at cells, an edge takes a quarter of each cell around it (T; cells
 * without an unknown count as zero). Staggered: shears are unknowns of edges themselves. Unknowns are Pa, in groups of
 * five per cell (xx, xy, xz, yz, zz), or two per cell (xx, zz) and then one per edge.
 *
 * G and D share faces: the list holds the faces of active cells and those that end at an active edge, so that solids
 * feel every force that sand does and momentum is kept to rounding. The adjoint is the same lists read from the other
 * side.
 *
 * Edges next to cells without an unknown [grid-granular spec 3.6]:
 *     load            on wherever a cell with an unknown is; T is the mean of W_L^p s over the cells that have one, so that an edge carries up to alpha times the mean load of these cells, W_L^p p. Of its
 *                     faces those count that have a velocity of their own: an open face without a pressure goes with the one across the edge (carry.h), and the two do not slide past each other. So
 *                     nothing drags a flat surface, and the outer faces of steep steps, two cells high and more, have the friction of what lies below them. Default
 *     wall            off, unless solids hold a tenth of what is around: floors keep their friction, free surfaces do not creep; on also where a single
 *                     one of the four is without: the inner corners of a slope's steps, whose upright faces nothing else would hold
 *     strict          off everywhere
 *     inactive-zero   on: as printed in the paper */
#ifndef TL_MODEL_COUPLING_STRESS_H
#define TL_MODEL_COUPLING_STRESS_H

#include <stdbool.h>

#include "model/coupling/coupling.h"

#define TL_STRESS_GROUP 5
enum { TL_S_XX, TL_S_XY, TL_S_XZ, TL_S_YZ, TL_S_ZZ };

typedef enum tl_edge_rule { TL_EDGE_LOAD, TL_EDGE_WALL, TL_EDGE_STRICT, TL_EDGE_INACTIVE_ZERO } tl_edge_rule;

/* Edge of an axis: its shear has the two other ones. */
typedef struct tl_stress_edge {
    int32_t cell[4]; /* around it; `cells`: no unknown there */
    int32_t face
        /* of axis i = axis + 1: above and below along j; of axis j = axis + 2: above and below along i; `faces`:
         * closed, not in the list */
        [4];
    double weight; /* W_L^e */
    int32_t axis;
} tl_stress_edge;

typedef struct tl_stress {
    bool staggered;
    bool only[3]; /* axes along which there is more than one cell; components of others are zero */
    int32_t cells, edges, faces;
    int64_t n;          /* unknowns */
    const double *cell; /* [cells] W_L^p */
    double *
        /* [cells] of s_xx, s_yy, s_zz: W_L^p; 0 in cells of a solid that has a friction of its own (slip.h) */
        diagonal;
    const double *shear;     /* [cells] of shears in T: W_L^p with edges "load", else 1 */
    const int8_t *axis;      /* [faces] */
    const int8_t *edge_axis; /* [edges] rising */
    /* One list per place, so that loops run in vectors. Scratches end with zeros, which is what lists point at where
     * there is nothing. */
    double *weight;         /* [edges] W_L^e; with edges "load" 4 over the cells with an unknown: T takes their mean */
    int32_t *edge_cell[4];  /* [edges] entries of d around an edge */
    int32_t *edge_face[4];  /* [edges] entries of y */
    int32_t *cell_edge[12]; /* [cells] entries of e: four edges of x, of y, of z */
    int32_t *cell_face[6];  /* [cells] entries of y */
    int32_t *face_cell[2];  /* [faces] entries of d: low, high */
    int32_t *face_edge[4];  /* [faces] entries of e: (high, low) along the next axis, (high, low) along the one after */
    /* of viscous liquids, on faces that solids hold (viscous.h): what solids get there besides */
    int32_t holds;
    const int32_t *held;
    const double *hold;
    double *d; /* [6 (cells + 1)] W_L^p (s_xx, s_yy, s_zz), s_yz, s_xz, s_xy */
    double *e; /* [edges + 1] W_L^e s, or what edges do */
    double *y; /* [faces + 1] */
} tl_stress;

static inline tl_stress_edge tl_stress_edge_at(const tl_stress *t, int32_t k)
{
    tl_stress_edge e = {.weight = t->weight[k], .axis = t->edge_axis[k]};
    for (int j = 0; j < 4; j++) {
        e.cell[j] = t->edge_cell[j][k] / 6;
        e.face[j] = t->edge_face[j][k];
    }
    return e;
}

/* Component of the shear on edges of an axis. */
static inline int tl_stress_shear(int axis) { return axis == 2 ? TL_S_XY : axis == 1 ? TL_S_XZ : TL_S_YZ; }

/* Q [5][5] with |s|_F^2 = s'Qs. On a flat grid the tensor is of the plane, yy = -xx (or -zz): the component of the
 * axis of one cell must not buy room in the cone, as it would through the product xx zz of three dimensions. */
void tl_stress_form(const tl_stress *t, double *Q);

void tl_stress_add_force(const tl_stress *t, const tl_coupling *c, const double *s, double *y); /* y += D s */
void tl_stress_force(const tl_stress *t, const tl_coupling *c, const double *s, double *y);     /* y [faces] = D s */
void tl_stress_adjoint(const tl_stress *t, const tl_coupling *c, const double *y, double *out); /* out [n] = D^T y */

/* Between unknowns and groups of five per cell, for memories: a staggered shear goes with the cell at whose lower
 * end its edge lies (edges of cells without an unknown are forgotten). */
void tl_stress_pack(const tl_stress *t, const double *s, double *five);
void tl_stress_unpack(const tl_stress *t, const double *five, double *s);

/* g [n] = -D^T (W_F u + J v), 1/s. Uses c->y. */
void tl_stress_gradient(const tl_stress *t, const tl_coupling *c, double *g);
/* Velocities after a change ds [n]. Uses c->y. */
void tl_stress_push(const tl_stress *t, tl_coupling *c, const double *ds);
/* y = A x with A = dt D^T (H D + dx^3 J M^-1 J^T D): Hessian of the energy / dt. Uses c->y, r, dv. */
void tl_stress_product(const tl_stress *t, const tl_coupling *c, const double *x, double *y);
/* Force density K x of pressure and stress on solids, N/m^3: y [faces]. s NULL: pressure alone. */
void tl_stress_face_forces(const tl_stress *t, const tl_coupling *c, const double *p, const double *s, double *y);
/* Forces and torques (about the centres of mass) of pressure and stress on all bodies, N and N m: f [6 bodies].
 * Leaves the force density in c->y. */
void tl_stress_solid_forces(const tl_stress *t, const tl_coupling *c, const double *p, const double *s, double *f);
/* L [cells] of a colocated stress with A <= L_i Q, group by group: row sums of |A|, bodies included. scratch
 * [faces]. Uses c->y. */
void tl_stress_bounds(const tl_stress *t, const tl_coupling *c, double *scratch, double *L);

#endif
