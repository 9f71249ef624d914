/* Inside of marching: surface_lattice.c cuts a lattice of tetrahedra, surface_improve.c makes the triangles better. */
#ifndef TL_GEOM_SURFACE_PARTS_H
#define TL_GEOM_SURFACE_PARTS_H

#include "geom/surface.h"

/* What is marched: a function on space, negative inside. */
typedef struct tl_march_source {
    tl_vec3 origin;
    double cell;
    int cells[3]; /* cubes of the lattice; the outermost layer is taken as outside */
    const void *ctx;
    /* Value at corner (i, j, k), or at the centre of cube (i, j, k). */
    double (*value)(const struct tl_march_source *s, int i, int j, int k, bool centre);
    /* -1, 1: the function has this sign in the whole cube of half edge `half` around `middle`; 0: unknown. */
    int (*sign)(const struct tl_march_source *s, tl_vec3 middle, double half);
    /* Zero between `in` (value a <= 0) and `out` (value b >= 0). */
    tl_vec3 (*crossing)(const struct tl_march_source *s, tl_vec3 in, double a, tl_vec3 out, double b);
    /* Unit normal at a zero; NULL: sharp edges are not looked for, and normals are means of the triangles'. */
    tl_vec3 (*normal)(const struct tl_march_source *s, tl_vec3 p);
    /* A zero near p: a few Newton steps. With `normal` only. */
    tl_vec3 (*project)(const struct tl_march_source *s, tl_vec3 p);
} tl_march_source;

/* Triangles in the making: vertices with normals, and how they may move. */
typedef enum tl_march_class { TL_MARCH_SMOOTH, TL_MARCH_EDGE, TL_MARCH_CORNER } tl_march_class;
typedef struct tl_march_mesh {
    int32_t vertices, triangles;
    tl_vec3 *vertex, *normal; /* normals of sharp vertices are means */
    uint8_t *sharp;           /* [vertices] tl_march_class */
    int32_t (*triangle)[3];
} tl_march_mesh;
void tl_march_mesh_free(tl_march_mesh *m);

/* Closed, manifold, oriented. Long and thin triangles are still in it. */
talus_status tl_march_lattice(const tl_march_source *s, tl_march_mesh *out, talus_error *err);

/* Removes edges shorter than `shortest` where the topology allows, flips edges and, where the source has normals,
 * slides vertices along the surface, all towards larger angles. */
talus_status tl_march_improve(tl_march_mesh *m, const tl_march_source *s, double shortest, double longest,
                              talus_error *err);

/* The level set at depth `inset` of a bounded shape, with normals. Fails when the shape is thinner than that
 * everywhere. */
talus_status tl_march_shape(const tl_shape_tree *t, int node, double edge, double inset, tl_march_mesh *out,
                            talus_error *err);

/* The source behind it, for projections: `cell` is only the scale of its tolerances. */
typedef struct tl_march_shape_context {
    const tl_shape_tree *t;
    int node;
    double inset;
} tl_march_shape_context;
tl_march_source tl_march_shape_source(const tl_shape_tree *t, int node, double cell, double inset,
                                      tl_march_shape_context *context);

#endif
