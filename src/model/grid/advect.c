#include "model/grid/transfer.h"

#include "base/parallel.h"

#define PUSHES 4 /* a corner of three surfaces takes three */

bool tl_particle_put_outside(const tl_solids *s, int32_t block, double gap, tl_particle *p, double *deepest)
{
    bool was = false;
    for (int k = 0; k < PUSHES; k++) {
        int32_t which;
        tl_vec3 n;
        double d = tl_solids_distance(s, block, p->x, &which, &n);
        if (!(d < gap) || which == TL_SOLID_NONE) break;
        *deepest = fmax(*deepest, gap - d);
        was = true;
        p->x = tl_vec3_add_scaled(p->x, (gap - d) * (1 + 1e-12), n);
        double into = tl_vec3_dot(tl_vec3_sub(p->v, tl_solids_velocity(s, which, p->x)), n);
        if (into < 0) p->v = tl_vec3_add_scaled(p->v, -into, n);
    }
    return was;
}

/* A straight way that starts outside of all solids ends at the first surface it meets; what is left of it slides along. */
static tl_vec3 walk(const tl_solids *s, int32_t block, double gap, tl_vec3 from, tl_vec3 way)
{
    double length = tl_vec3_norm(way), done = 0;
    tl_vec3 along = tl_vec3_scale(1 / length, way), n = {0, 0, 0};
    int32_t which;
    double d = tl_solids_distance(s, block, from, &which, &n);
    if (d < 0) return tl_vec3_add(from, way);
    /* a distance cannot fall faster than the way goes: steps of its size miss nothing */
    while (done < length) {
        if (d < gap && tl_vec3_dot(along, n) < 0) {
            double left = length - done, into = tl_vec3_dot(along, n);
            tl_vec3 slide = tl_vec3_scale(left, tl_vec3_add_scaled(along, -into, n));
            return tl_vec3_add(tl_vec3_add_scaled(from, done, along), slide);
        }
        done = fmin(length, done + fmax(d, 0.5 * gap));
        d = tl_solids_distance(s, block, tl_vec3_add_scaled(from, done, along), &which, &n);
    }
    return tl_vec3_add(from, way);
}

tl_advected tl_particles_advect(const tl_grid *g, double *const u[3], uint8_t *const known[3], const tl_solids *end,
                                const float *solid_phi, double travel, double gap, double dt, tl_particles *p)
{
    double deepest = 0, half = 0.87 * g->f.dx; /* half a cell's diagonal */
    int64_t clipped = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : deepest) reduction(+ : clipped) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++)
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++) {
            tl_particle *q = &p->particle[i];
            tl_vec3 v = q->v, from = q->x;
            tl_grid_velocity(g, b, u, known, tl_vec3_add_scaled(from, 0.5 * dt, v), &v);
            tl_vec3 way = tl_vec3_scale(dt, v);
            if (end && tl_solids_near(end, g, b, from, tl_vec3_norm(way) + travel + gap + half, solid_phi)) {
                q->x = tl_vec3_norm2(way) > 0 ? walk(end, b, gap, from, way) : from;
                clipped += tl_particle_put_outside(end, b, gap, q, &deepest);
            } else
                q->x = tl_vec3_add(from, way);
        }
    return (tl_advected){clipped, deepest};
}
