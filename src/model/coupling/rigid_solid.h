/* Rigid bodies as a tl_coupled_solid: J_k = W_S,k o R_k, a row per face and body, (e_a, r x e_a) times the fraction.
 * Twists are about the centre of mass, (v, w) per body, six numbers, for all bodies of the scene and the walls in the
 * order of tl_rigid.
 *
 * No face is written by two threads, and sums have a fixed order. */
#ifndef TL_MODEL_COUPLING_RIGID_SOLID_H
#define TL_MODEL_COUPLING_RIGID_SOLID_H

#include "base/arena.h"
#include "base/comm.h"
#include "math/vec.h"
#include "model/coupling/solid.h"

/* One body on one face. */
typedef struct tl_solid_row {
    int32_t face, body, axis;
    double weight; /* W_S, in (0, 1] */
    tl_vec3 turn;  /* weight (r x e_axis), m; r from the centre of mass to the face's centre */
} tl_solid_row;

static inline tl_vec3 tl_solid_turn(double weight, int axis, tl_vec3 r)
{
    const tl_vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    return tl_vec3_scale(weight, tl_vec3_cross(r, unit[axis]));
}

typedef struct tl_rigid_solid {
    const tl_comm *comm; /* several parts: forces on bodies are the sum of all; NULL: one */
    int32_t bodies, faces, rows;
    tl_solid_row *row;         /* [rows] by body, then face; those on faces of other parts come last */
    const int32_t *body_own;   /* [bodies] rows that sums go over */
    int32_t *body_first;       /* [bodies + 1] into row */
    int32_t *by_face;          /* [rows] rows by face, then body */
    int32_t *first;            /* [faces + 1] into by_face */
    int32_t touched, *touch;   /* [touched] faces that have rows */
    const double *inv_mass;    /* [bodies] 1/kg; 0: does not move freely */
    const double *inv_inertia; /* [bodies][9] world frame */
    double *blocks;            /* scratch of gathers */
    /* several parts: bodies that any of them has rows of, and their forces */
    int32_t shared, *shared_of;
    double *sums; /* [6 shared] */
} tl_rigid_solid;

/* The lists of s, from the arena; counts, rows, inv_mass and inv_inertia are there, the rest is 0. Collective. */
talus_status tl_rigid_solid_build(tl_rigid_solid *s, tl_arena *a, talus_error *err);

tl_coupled_solid tl_rigid_solid_view(const tl_rigid_solid *s); /* keeps the pointer; one gather at a time */

#endif
