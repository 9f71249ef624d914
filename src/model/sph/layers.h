/* Solids as liquid sees them: layers of particles at depths of 1/2, 3/2, ... spacings behind a flat surface, which is
 * how particles stand for what is between them. */
#ifndef TL_MODEL_SPH_LAYERS_H
#define TL_MODEL_SPH_LAYERS_H

#include <math.h>

#include "geom/collide/collider_data.h"
#include "math/vec.h"
#include "model/sph/sph.h"

#define TL_SPH_LAYERS 2 /* what is deeper is out of reach */
#define TL_SPH_LAYER(q, k) ((q) + 0.5 + (k))
#define TL_SPH_CLOSEST 0.05 /* spacings from a surface: nearer particles count as if they were there */

/* A plane at z spacings from a particle, with one particle per h^2 spread evenly over it, has these sums of |W'|/r, and
 * of |W'|/r times distances across and along it. */
static inline double tl_sph_plane_weight(double z)
{
    double a = fmax(0, 2 - z), b = fmax(0, 1 - z);
    return 0.5 * (a * a * a - 4 * b * b * b);
}
static inline double tl_sph_plane_along(double z)
{
    double a = fmax(0, 2 - z), b = fmax(0, 1 - z), a4 = a * a * a * a, b4 = b * b * b * b;
    return 0.5 * (0.5 * a4 - 0.2 * a4 * a - (b4 - 0.8 * b4 * b));
}

/* What a half-space q spacings away, outward normal n, has of a particle's moments, sums of V0 |W'|/r d d^T: all
 * around they are 1. */
static inline tl_mat3 tl_sph_moments_beyond(double q, tl_vec3 n)
{
    double across = 0, along = 0;
    for (int k = 0; k < TL_SPH_LAYERS; k++) {
        double z = TL_SPH_LAYER(q, k);
        across += tl_sph_plane_weight(z) * z * z;
        along += tl_sph_plane_along(z);
    }
    return tl_mat3_add(tl_mat3_scale(along, tl_mat3_identity()), tl_mat3_scale(across - along, tl_mat3_outer(n, n)));
}

/* The same of h times the sum of V0 |W'|, towards the half-space. */
static inline double tl_sph_pull_beyond(double q)
{
    double sum = 0;
    for (int k = 0; k < TL_SPH_LAYERS; k++) sum += tl_sph_plane_weight(TL_SPH_LAYER(q, k)) * TL_SPH_LAYER(q, k);
    return sum;
}

/* Of p from the surface of body b, positive outside. */
static inline double tl_sph_surface_distance(const tl_sph_step *s, int32_t b, tl_vec3 p)
{
    const tl_collider *c = s->rigid->body[b].collider;
    tl_pose pose = tl_rigid_pose(&s->rigid->body[b], &s->bodies.motion[b]);
    tl_vec3 q = tl_pose_to_local(&pose, p);
    if (c->kind == TL_COLLIDER_HALF_SPACE) return tl_vec3_dot(tl_vec3_sub(q, c->centre), tl_mat3_column(c->axes, 0));
    return tl_shape_distance(s->scene->shapes, s->scene->bodies[b].shape, q);
}

/* Body and place of neighbour k among edge_pair, of edge e. */
static inline int32_t tl_sph_edge_body(const tl_sph_step *s, int32_t e, int64_t k)
{
    int32_t j = s->edge_pair[k].j;
    return k < s->edge_start[2 * e + 1] ? s->near[j].body : s->sph->body_of[j];
}
static inline tl_vec3 tl_sph_edge_place(const tl_sph_step *s, int32_t e, int64_t k)
{
    int32_t j = s->edge_pair[k].j;
    return tl_sph_solid(s, k < s->edge_start[2 * e + 1] ? s->near[j].particle : j);
}
static inline double tl_sph_edge_weight(const tl_sph_step *s, int32_t e, int64_t k)
{
    return tl_sph_w(s->sph->kernel, tl_vec3_norm(tl_vec3_sub(s->particle[s->edge[e]].x, tl_sph_edge_place(s, e, k))));
}

#endif
