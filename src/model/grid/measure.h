/* Sums over particles, for the files that visit them anyway. */
#ifndef TL_MODEL_GRID_MEASURE_H
#define TL_MODEL_GRID_MEASURE_H

#include "model/grid/particles.h"

/* What the affine velocity of a particle adds to its kinetic energy, over half its mass, m^2/s^2: it depends on the
 * place between faces. arm [3][3] out, m^2/s: means of (face - x)_b (C (face - x))_a over the faces of axis a. On
 * the grid's terms: of each axis' faces, the second moment of the hat weights is t (1 - t) dx^2 along each
 * direction. */
static inline double tl_particle_affine(const tl_grid_frame *f, const tl_particle *p, double arm[3][3])
{
    const double x[3] = {p->x.x, p->x.y, p->x.z};
    double spin = 0;
    for (int b = 0; b < 3; b++) {
        double s = tl_grid_scaled(f, x[b], b), t = s - floor(s), half = t + 0.5 - (t >= 0.5);
        double own = t * (1 - t) * f->dx * f->dx, other = half * (1 - half) * f->dx * f->dx;
        for (int axis = 0; axis < 3; axis++) {
            arm[axis][b] = (axis == b ? own : other) * p->C.m[axis][b];
            spin += arm[axis][b] * p->C.m[axis][b];
        }
    }
    return spin;
}

typedef struct tl_particle_sums {
    double mass, volume, kinetic, second, first[3], p[3], L[3];
    double fastest2; /* m^2/s^2 */
} tl_particle_sums;

static inline void tl_particle_sums_add(const tl_grid_frame *f, const tl_particle *p, double rho, tl_particle_sums *sum)
{
    const double x[3] = {p->x.x, p->x.y, p->x.z}, v[3] = {p->v.x, p->v.y, p->v.z};
    double m = rho * p->volume, arm[3][3], spin = tl_particle_affine(f, p, arm), v2 = tl_vec3_norm2(p->v);
    sum->mass += m;
    sum->volume += p->volume;
    sum->kinetic += 0.5 * m * (v2 + spin);
    sum->second += m * tl_vec3_norm2(p->x);
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        sum->first[k] += m * x[k];
        sum->p[k] += m * v[k];
        sum->L[k] += m * (x[i] * v[j] - x[j] * v[i] + arm[j][i] - arm[i][j]);
    }
    if (!(v2 <= sum->fastest2)) sum->fastest2 = v2;
}

/* Parts [count], added in their order. */
tl_particles_measure tl_particle_sums_total(int64_t count, const tl_particle_sums *part, size_t stride,
                                            tl_vec3 gravity);

#endif
