/* From signed distance to triangles and points: marching, surface samples, volume samples. Reproducible by seed, same for any thread count. */
#ifndef TL_GEOM_SURFACE_H
#define TL_GEOM_SURFACE_H

#include "geom/trimesh.h"

/* Closed, manifold, oriented triangle surface of a bounded shape, edge length about `edge`. Vertices lie on the surface (bisection). */
talus_status tl_surface_march(const tl_shape_tree *t, int node, double edge, tl_trimesh *out, talus_error *err);
/* Surface of a plain field of samples (for liquid surfaces later): value [nx][ny][nz] (z fastest) at origin + cell*(i,j,k). */
talus_status tl_surface_march_field(int nx, int ny, int nz, const float *value, tl_vec3 origin, double cell, tl_trimesh *out, talus_error *err);

typedef struct tl_points {
    int32_t count;
    tl_vec3 *at;
    tl_vec3 *normal; /* surface samples only, else NULL */
} tl_points;
void tl_points_free(tl_points *p);

typedef enum tl_sampling { TL_SAMPLE_LATTICE, TL_SAMPLE_POISSON } tl_sampling;
/* Points on the surface about `spacing` apart, at distance `inset` inside of it. */
talus_status tl_sample_surface(const tl_shape_tree *t, int node, double spacing, double inset, tl_sampling how, uint64_t seed, tl_points *out, talus_error *err);
typedef enum tl_filling { TL_FILL_LATTICE, TL_FILL_JITTER, TL_FILL_BLUE_NOISE } tl_filling;
/* Points inside the shape at least `inset` below its surface; lattice aligned to multiples of `spacing` so that neighbouring fills match. */
talus_status tl_sample_volume(const tl_shape_tree *t, int node, double spacing, double inset, tl_filling how, uint64_t seed, tl_points *out, talus_error *err);

#endif
