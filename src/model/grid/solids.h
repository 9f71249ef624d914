/* Solids as the grid sees them: signed distances of bodies at given poses, and the domain's closed walls.
 *
 * Made anew for every set of poses (start of the step, end of the step); cheap. Bodies are those of the scene, by
 * the same numbers. Static bodies and walls together are "fixed". Distances of bodies are those of contact
 * (tl_collider_distance): exact for boxes, spheres and shapes of few primitives, a smooth field otherwise. Periodic
 * axes: the nearest image counts. Elastic bodies answer by their surfaces where these are given (skins.h). */
#ifndef TL_MODEL_GRID_SOLIDS_H
#define TL_MODEL_GRID_SOLIDS_H

#include "model/grid/grid.h"
#include "model/grid/skins.h"
#include "model/rigid/rigid.h"

#define TL_SOLID_NONE (-2)
#define TL_SOLID_WALL (-1)

typedef struct tl_solid {
    tl_body_kind kind;
    const tl_collider *collider;
    const tl_skin *skin; /* of an elastic body: in place of collider, pose and velocities; NULL: rigid */
    tl_pose pose;        /* of the shape's frame */
    tl_vec3 x, v, w;     /* centre, velocity there, spin */
    tl_box3 bounds;      /* world; infinite on the axes of an unbounded shape */
    double extent;       /* smallest, m */
} tl_solid;

typedef struct tl_solids {
    const tl_grid *g; /* must stay where it is */
    const tl_grid_frame *f;
    int32_t count;
    tl_solid *solid; /* [count] */
    bool wall[6];    /* closed: x_min, x_max, y_min, ... */
    tl_box3 box;     /* of the walls */
    int32_t blocks;  /* of the grid */
    /* which solids reach each block of a grid, grown by `reach` metres; walls not listed */
    double reach;
    int32_t *start; /* [blocks + 1] into `of` */
    int32_t *of;
    /* Free bodies give way: what runs into one keeps its velocity, and only its place is corrected. Taking it away
     * would be momentum that the body does not get; the next solve, or the contact of a single grain, exchanges it. */
    bool free_gives;
    const tl_skins
        *before; /* surfaces of elastic bodies at the start of the step, where these are those of its end; or NULL */
} tl_solids;

static inline bool tl_solids_gives(const tl_solids *s, int32_t which)
{
    return s->free_gives && which >= 0 && s->solid[which].kind == TL_BODY_FREE;
}

/* motion [rigid->scene_count] at the poses wanted; velocities are used by tl_solids_velocity only. */
talus_status tl_solids_make(tl_solids *out, const tl_grid *g, const tl_rigid *r, const tl_domain_spec *domain,
                            const tl_motion *motion, tl_arena *a, talus_error *err);
/* The same with surfaces of elastic bodies; skins NULL: by their shapes. */
talus_status tl_solids_with_skins(tl_solids *out, const tl_grid *g, const tl_rigid *r, const tl_domain_spec *domain,
                                  const tl_motion *motion, const tl_skins *skins, tl_arena *a, talus_error *err);

/* Distance to one body (by number), outward unit normal if wanted. */
double tl_solid_distance(const tl_solids *s, int32_t body, tl_vec3 p, tl_vec3 *normal);
/* Nearest solid at p: its distance, number (TL_SOLID_WALL, TL_SOLID_NONE) and outward unit normal. Looks at the
 * solids listed for `block` (the ghost: at all of them); without any within `reach`: TL_SOLID_NONE, and a distance
 * of at least `reach`. */
double tl_solids_distance(const tl_solids *s, int32_t block, tl_vec3 p, int32_t *which, tl_vec3 *normal);
/* Every solid within `far` of p (at most TL_SOLID_PLANES, walls first), as a plane through its nearest place.
 * Returns how many. */
#define TL_SOLID_PLANES 8
typedef struct tl_solid_plane {
    double distance; /* m, negative inside */
    tl_vec3 normal;  /* outward */
} tl_solid_plane;
int tl_solids_planes(const tl_solids *s, int32_t block, tl_vec3 p, double far, tl_solid_plane out[TL_SOLID_PLANES]);
/* Nearest of the static bodies listed for an existing block, and of walls: TL_SOLID_WALL, TL_SOLID_NONE without any
 * within `reach`. */
int32_t tl_solids_nearest_fixed(const tl_solids *s, int32_t block, tl_vec3 p);
/* From a body's centre to p, the nearest image of it. */
tl_vec3 tl_solids_arm(const tl_solids *s, int32_t which, tl_vec3 p);
/* Velocity of a solid's material at p; walls: 0. */
tl_vec3 tl_solids_velocity(const tl_solids *s, int32_t which, tl_vec3 p);

/* Whether a solid may be within `far` of a place in an existing block. phi: tl_solids_field of these or earlier
 * poses (`far` then includes how far they moved), NULL: not known. */
static inline bool tl_solids_near(const tl_solids *s, const tl_grid *g, int32_t block, tl_vec3 p, double far,
                                  const float *phi)
{
    int32_t place = 0;
    const double at[3] = {p.x, p.y, p.z};
    if (!phi || far >= s->reach) return true;
    for (int k = 0; k < 3; k++) {
        int32_t c = (int32_t)floor(tl_grid_scaled(&g->f, at[k], k)) - g->corner[block][k];
        c = c < 0 ? 0 : c >= g->f.edge[k] ? g->f.edge[k] - 1 : c;
        place += c * g->f.stride[k];
    }
    return phi[block * g->f.size + place] < far;
}

/* Whether a place of an existing block has nothing but walls within reach, and these further than `far`: exact,
 * where tl_solids_near knows a cell. */
bool tl_solids_walls_beyond(const tl_solids *s, int32_t block, tl_vec3 p, double far);

/* Whether any solid may be within the reach of a block's places. */
bool tl_solids_touch(const tl_solids *s, const tl_grid *g, int32_t block);

/* phi [cells]: distance of cell centres to the nearest solid, clamped to +- reach; ghost: +reach. Only blocks near a
 * surface are evaluated. */
void tl_solids_field(const tl_solids *s, const tl_grid *g, float *phi);

#endif
