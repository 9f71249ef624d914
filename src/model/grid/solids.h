/* Solids as the grid sees them: signed distances of bodies at given poses, and the domain's closed walls.
 *
 * Made anew for every set of poses (start of the step, end of the step); cheap. Bodies are those of the scene, by the same numbers.
 * Static bodies and walls together are "fixed". Distances of bodies are those of contact (tl_collider_distance): exact for boxes,
 * spheres and shapes of few primitives, a smooth field otherwise. Periodic axes: the nearest image counts. */
#ifndef TL_MODEL_GRID_SOLIDS_H
#define TL_MODEL_GRID_SOLIDS_H

#include "model/grid/grid.h"
#include "model/rigid/rigid.h"

#define TL_SOLID_NONE (-2)
#define TL_SOLID_WALL (-1)

typedef struct tl_solid {
    tl_body_kind kind;
    const tl_collider *collider;
    tl_pose pose;    /* of the shape's frame */
    tl_vec3 x, v, w; /* centre, velocity there, spin */
    tl_box3 bounds;  /* world; infinite on the axes of an unbounded shape */
    double extent;   /* smallest, m */
} tl_solid;

typedef struct tl_solids {
    const tl_grid_frame *f;
    int32_t count;
    tl_solid *solid; /* [count] */
    bool wall[6];    /* closed: x_min, x_max, y_min, ... */
    tl_box3 box;     /* of the walls */
    /* which solids reach each block of a grid, grown by `reach` metres; walls not listed */
    double reach;
    int32_t *start; /* [blocks + 1] into `of` */
    int32_t *of;
} tl_solids;

/* motion [rigid->scene_count] at the poses wanted; velocities are used by tl_solids_velocity only. */
talus_status tl_solids_make(tl_solids *out, const tl_grid *g, const tl_rigid *r, const tl_domain_spec *domain,
                            const tl_motion *motion, tl_arena *a, talus_error *err);

/* Distance to one body (by number), outward unit normal if wanted. */
double tl_solid_distance(const tl_solids *s, int32_t body, tl_vec3 p, tl_vec3 *normal);
/* Nearest solid at p: its distance, number (TL_SOLID_WALL, TL_SOLID_NONE) and outward unit normal. Looks at the solids listed for
 * `block` (the ghost: at all of them); without any within `reach`: TL_SOLID_NONE, and a distance of at least `reach`. */
double tl_solids_distance(const tl_solids *s, int32_t block, tl_vec3 p, int32_t *which, tl_vec3 *normal);
/* Velocity of a solid's material at p; walls: 0. */
tl_vec3 tl_solids_velocity(const tl_solids *s, int32_t which, tl_vec3 p);

/* phi [cells]: distance of cell centres to the nearest solid, clamped to +- reach; ghost: +reach. Only blocks near a surface are evaluated. */
void tl_solids_field(const tl_solids *s, const tl_grid *g, float *phi);

#endif
