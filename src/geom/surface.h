/* From signed distance to triangles and points: marching, surface samples, volume samples.
 *
 * Only what lies near the surface is visited, so costs grow with area (fillings: with volume). Reproducible by seed,
 * same for any thread count; what a point becomes depends on its place, not on the rest of the shape, except for
 * Poisson disks. */
#ifndef TL_GEOM_SURFACE_H
#define TL_GEOM_SURFACE_H

#include "geom/trimesh.h"

/* Closed, manifold, oriented triangle surface of a bounded shape, edge length about `edge` (0.3 to 1.7 of it, 1.0 in
 * the mean). Vertices lie on the surface; sharp edges and corners are found and kept. Parts thinner than `edge`
 * (tl_shape_feature_size) may be lost. */
talus_status tl_surface_march(const tl_shape_tree *t, int node, double edge, tl_trimesh *out, talus_error *err);
/* Surface of a plain field of samples (for liquid surfaces later): value [nx][ny][nz] (z fastest) at origin +
 * cell*(i,j,k), negative inside. What reaches the border is closed there, half a cell further out; NaN is outside. No
 * triangles when nothing is negative. */
talus_status tl_surface_march_field(int nx, int ny, int nz, const float *value, tl_vec3 origin, double cell,
                                    tl_trimesh *out, talus_error *err);

typedef struct tl_points {
    int32_t count;
    tl_vec3 *at;
    tl_vec3 *normal; /* surface samples only, else NULL */
} tl_points;
void tl_points_free(tl_points *p);

/* LATTICE: vertices of a marched surface, in the mean one spacing apart. POISSON: no two closer than `spacing`, no
 * place of the surface much farther than that from a point, else random. */
typedef enum tl_sampling { TL_SAMPLE_LATTICE, TL_SAMPLE_POISSON } tl_sampling;
/* Points on the surface about `spacing` apart, at distance `inset` inside of it. */
talus_status tl_sample_surface(const tl_shape_tree *t, int node, double spacing, double inset, tl_sampling how,
                               uint64_t seed, tl_points *out, talus_error *err);

/* One point per spacing^3, in the mean. LATTICE: centres of the cubes between multiples of `spacing`, so that
 * neighbouring fills match. JITTER: one anywhere in each of these cubes. BLUE_NOISE: no two closer than 0.85 spacing,
 * else random. */
typedef enum tl_filling { TL_FILL_LATTICE, TL_FILL_JITTER, TL_FILL_BLUE_NOISE } tl_filling;
/* Points inside the shape at least `inset` below its surface; none is not an error. */
talus_status tl_sample_volume(const tl_shape_tree *t, int node, double spacing, double inset, tl_filling how,
                              uint64_t seed, tl_points *out, talus_error *err);

#endif
