/* Surfaces of elastic bodies where their nodes are now: distance, nearest place and velocity, as the grid asks them of
 * every solid (solids.h), and how the grid cuts them (geom/clip.h).
 *
 * The sign of a distance is that of the mean normal of the nearest face, edge or corner [Baerentzen2005]. Boxes over
 * triangles are those of tl_lg_skin, fitted to the places given. Lives in an arena. */
#ifndef TL_MODEL_GRID_SKINS_H
#define TL_MODEL_GRID_SKINS_H

#include "geom/clip.h"
#include "model/lg/lg.h"

typedef struct tl_skin {
    const tl_lg *lg; /* NULL: this body is rigid */
    int32_t body;    /* of tl_lg */
    const double *x; /* [nodes][3] m */
    const double *v; /* [nodes][3] m/s; NULL: at rest */
    tl_box3 *box;    /* [2 leaves] */
    tl_vec3 *face;   /* [triangles of the body] unit normals; 0 without an area */
    tl_vec3 *corner; /* [nodes of tl_lg] sums of normals by angle */
    const tl_clip *clip;
} tl_skin;

typedef struct tl_skins {
    int32_t count; /* bodies of the scene */
    tl_skin *skin; /* [count] */
} tl_skins;

/* A place of a surface. */
typedef struct tl_skin_place {
    int32_t node[3]; /* of tl_lg */
    double weight[3];
    tl_vec3 at, normal; /* normal: outward, of the distance */
    double distance;    /* m, negative inside */
} tl_skin_place;

/* x, v [nodes][3] are kept. */
talus_status tl_skins_make(tl_skins *out, const tl_lg *lg, int32_t bodies, const double *x, const double *v,
                           tl_arena *a, talus_error *err);
/* The same surfaces with other velocities. */
talus_status tl_skins_move(tl_skins *out, const tl_skins *from, const double *v, tl_arena *a, talus_error *err);
/* And cut along the cells of a grid: for fractions and coupling. */
talus_status tl_skins_clip(tl_skins *s, tl_vec3 origin, double dx, tl_arena *a, talus_error *err);

tl_skin_place tl_skin_nearest(const tl_skin *s, tl_vec3 p);
tl_vec3 tl_skin_velocity(const tl_skin *s, tl_vec3 p); /* of the nearest place */
static inline tl_box3 tl_skin_bounds(const tl_skin *s) { return s->box[1]; }

#endif
