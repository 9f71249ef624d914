/* Rays and nearest points against triangle meshes, spheres and instances. The only file that knows Embree.
 *
 * A tl_rays is a scene: add geometry, commit, then ask. Embree works in float, so a scene has a centre that is
 * subtracted (in double) from everything added to it; choose the middle of the geometry. Rays are float and
 * relative to that centre. Nearest points are compared in double on the caller's own
 * arrays and do not depend on how Embree's tree came out. Of several hits at exactly the same float t a ray
 * reports one, which the tree decides.
 *
 * Making, adding and committing: one thread at a time, outside parallel regions (Embree starts threads
 * of its own). After a commit, queries are pure: any number of threads. Embree's memory is its own, not
 * tl_alloc's. */
#ifndef TL_GEOM_RAYS_H
#define TL_GEOM_RAYS_H

#include <stdint.h>

#include "base/status.h"
#include "math/vec.h"

typedef struct tl_rays tl_rays;

typedef struct tl_rays_options {
    tl_vec3 center;
    int threads;         /* for commits of this device; 0: tl_threads() */
    const tl_rays *like; /* share this scene's device, as instances of each other must; NULL: a new device */
} tl_rays_options;

talus_status tl_rays_create(tl_rays **out, const tl_rays_options *options, talus_error *err); /* options NULL: {0} */
void tl_rays_free(tl_rays *r); /* NULL is fine; scenes that have this one as an instance keep what they need */

/* ---- geometry: ids count 0, 1, 2, ... in the order of adding ---- */

/* Refuses vertices that are not finite (also as float, relative to the centre) and indices out of range. `vertex`
 * and `triangle` are copied for rays; tl_rays_nearest reads the originals, so keep them while it is in use. */
talus_status tl_rays_add_mesh(tl_rays *r, int32_t vertices, const tl_vec3 *vertex, int32_t triangles,
                              const int32_t (*triangle)[3], int32_t *id, talus_error *err);
/* Seen by rays only, not by tl_rays_nearest. */
talus_status tl_rays_add_spheres(tl_rays *r, int32_t count, const tl_vec3 *center, double radius, int32_t *id,
                                 talus_error *err);
/* x -> linear x + at, from child's world to ours. The child is committed, of the same device, and holds no
 * instances itself. */
talus_status tl_rays_add_instance(tl_rays *r, const tl_rays *child, tl_mat3 linear, tl_vec3 at, int32_t *id,
                                  talus_error *err);
talus_status tl_rays_commit(tl_rays *r, talus_error *err);

/* ---- rays ---- */

#define TL_RAY_NONE UINT32_MAX

/* Laid out as Embree wants it, so that arrays pass through uncopied. 16-byte aligned (tl_alloc is). */
typedef struct tl_ray {
    _Alignas(16) float origin[3]; /* relative to the scene's centre */
    float tnear;
    float direction[3];                     /* any length; t counts in it */
    float time;                             /* 0 */
    float tfar;                             /* in: far end; out: t of the hit, or -infinity from tl_rays_occluded */
    uint32_t mask, number, flags;           /* number: for the caller; flags: 0 */
    float normal[3];                        /* out: unit; triangles: by their winding, spheres: outwards */
    float u, v;                             /* out: point = (1-u-v) a + u b + v c */
    uint32_t primitive, geometry, instance; /* out: geometry is TL_RAY_NONE without a hit, instance outside instances */
} tl_ray;

/* Closest hit of each ray, on the calling thread; near each other in origin and direction they share work. */
void tl_rays_intersect(const tl_rays *r, int32_t count, tl_ray *ray);
/* Is anything between tnear and tfar: tfar becomes -infinity. The out fields stay as they are. */
void tl_rays_occluded(const tl_rays *r, int32_t count, tl_ray *ray);

/* ---- nearest point of the scene's meshes ---- */

/* Where on triangle abc. */
typedef enum tl_feature { TL_ON_FACE, TL_ON_A, TL_ON_B, TL_ON_C, TL_ON_AB, TL_ON_BC, TL_ON_CA } tl_feature;

typedef struct tl_near {
    int32_t geometry, triangle; /* -1: nothing within the radius */
    tl_feature feature;
    tl_vec3 point;
    double distance2;
} tl_near;

/* In double, within rounding of the true nearest; equal distances go to the smaller (geometry, triangle). radius may be
 * INFINITY. Instances are skipped. */
tl_near tl_rays_nearest(const tl_rays *r, tl_vec3 p, double radius);

/* Nearest point of one triangle; degenerate triangles are their edges. */
tl_vec3 tl_triangle_nearest(tl_vec3 p, tl_vec3 a, tl_vec3 b, tl_vec3 c, tl_feature *feature);

#endif
