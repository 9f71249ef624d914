/* Hat-kernel stencils inside of one block's neighbourhood: for the files that move values between particles and
 * faces. */
#ifndef TL_MODEL_GRID_STENCIL_H
#define TL_MODEL_GRID_STENCIL_H

#include "model/grid/grid.h"
#include "model/grid/state.h"

/* Eight places around a particle on one of the lattices of a block's neighbourhood: of the lowest, and the weights'
 * fractions. */
typedef struct tl_corners {
    int32_t at;  /* in the halo */
    double t[3]; /* place between the lower and the upper ones, [0, 1] */
} tl_corners;

/* Strides of the halo's lattice. */
typedef struct tl_halo_shape {
    int32_t sx, sy, hi[3];
} tl_halo_shape;

static inline tl_halo_shape tl_halo_shape_of(const tl_grid *g)
{
    const int32_t *e = g->f.edge;
    return (tl_halo_shape){(e[1] + 2) * (e[2] + 2), e[2] + 2, {e[0], e[1], e[2]}};
}

/* s: place in cells from the block's corner. axis 0..2: faces of that axis; 3: cell centres. A place beyond the
 * neighbourhood (a particle that rounding put on its border) counts as on its border. */
static inline tl_corners tl_corners_of(const tl_halo_shape *h, const double s[3], int axis)
{
    tl_corners out;
    int32_t i[3];
    for (int k = 0; k < 3; k++) {
        double low = k == axis ? s[k] : s[k] - 0.5, down = floor(low);
        down = down < -1 ? -1 : down > h->hi[k] - 1 ? h->hi[k] - 1 : down;
        i[k] = (int32_t)down + 1;
        out.t[k] = low - down;
    }
    out.at = i[0] * h->sx + i[1] * h->sy + i[2];
    return out;
}

static inline void tl_place_in_block(const tl_grid *g, int32_t block, tl_vec3 x, double s[3])
{
    s[0] = tl_grid_scaled(&g->f, x.x, 0) - g->corner[block][0];
    s[1] = tl_grid_scaled(&g->f, x.y, 1) - g->corner[block][1];
    s[2] = tl_grid_scaled(&g->f, x.z, 2) - g->corner[block][2];
}

/* Velocities around a block; faces that are not known are 0. `full`: all eight corners from here on are known. */
typedef struct tl_face_halo {
    double u[3][TL_GRID_HALO_MAX];
    uint8_t known[3][TL_GRID_HALO_MAX], full[3][TL_GRID_HALO_MAX];
} tl_face_halo;

/* Values of one row of the neighbourhood: `length` cells of a block, and one at each end. `there`: 0 or 1. */
static inline void tl_halo_row_read(const double *restrict u, const int32_t *id, int32_t length,
                                    const uint8_t *restrict there, double *restrict to)
{
    const double *from = u + id[1];
    to[0] = there[0] ? u[id[0]] : 0;
    for (int32_t z = 0; z < length; z++) to[1 + z] = there[1 + z] ? from[z] : 0;
    to[length + 1] = there[length + 1] ? u[id[length + 1]] : 0;
}

/* The same faces with other velocities: those that are known have been found. */
static inline void tl_face_halo_values(const tl_grid *g, const int32_t id[TL_GRID_HALO_MAX], double *const u[3],
                                       tl_face_halo *b)
{
    const tl_halo_shape h = tl_halo_shape_of(g);
    const int32_t n = (h.hi[0] + 2) * h.sx;
    for (int k = 0; k < 3; k++)
        for (int32_t i = 0; i < n; i += h.sy) {
            if (h.sy == TL_GRID_EDGE + 2)
                tl_halo_row_read(u[k], id + i, TL_GRID_EDGE, b->known[k] + i, b->u[k] + i);
            else
                tl_halo_row_read(u[k], id + i, h.sy - 2, b->known[k] + i, b->u[k] + i);
        }
}

static inline void tl_face_halo_read(const tl_grid *g, const int32_t id[TL_GRID_HALO_MAX], double *const u[3],
                                     uint8_t *const known[3], tl_face_halo *b)
{
    const tl_halo_shape h = tl_halo_shape_of(g);
    const int32_t n = (h.hi[0] + 2) * h.sx, exist = g->blocks * g->f.size;
    const int32_t last = h.sx + h.sy + 1; /* from a corner to the one across */
    for (int k = 0; k < 3; k++) {
        uint8_t *restrict there = b->known[k], *restrict full = b->full[k], both[TL_GRID_HALO_MAX];
        for (int32_t i = 0; i < n; i++) there[i] = id[i] < exist && (!known || known[k][id[i]]);
        for (int32_t i = 0; i < n - h.sy - 1; i++)
            both[i] = there[i] & there[i + 1] & there[i + h.sy] & there[i + h.sy + 1];
        for (int32_t i = 0; i < n - last; i++) full[i] = both[i] & both[i + h.sx];
    }
    tl_face_halo_values(g, id, u, b);
}

/* Values at the eight corners of faces of one axis, z fastest; unknown ones become the mean of the known, by weight.
 * False: none is known. */
static inline bool tl_corner_values(const tl_halo_shape *h, const tl_corners *q, const tl_face_halo *b, int axis,
                                    double out[8])
{
    const double *u = b->u[axis] + q->at;
    out[0] = u[0], out[1] = u[1], out[2] = u[h->sy], out[3] = u[h->sy + 1];
    out[4] = u[h->sx], out[5] = u[h->sx + 1], out[6] = u[h->sx + h->sy], out[7] = u[h->sx + h->sy + 1];
    if (b->full[axis][q->at]) return true;
    const uint8_t *known = b->known[axis];
    double sum = 0, weight = 0;
    for (int k = 0; k < 8; k++) {
        int32_t at = q->at + (k >> 2) * h->sx + (k >> 1 & 1) * h->sy + (k & 1);
        double w = (k & 4 ? q->t[0] : 1 - q->t[0]) * (k & 2 ? q->t[1] : 1 - q->t[1]) * (k & 1 ? q->t[2] : 1 - q->t[2]);
        if (!known[at]) continue;
        sum += w * out[k];
        weight += w;
    }
    if (!(weight > 1e-9)) return false;
    for (int k = 0; k < 8; k++) {
        int32_t at = q->at + (k >> 2) * h->sx + (k >> 1 & 1) * h->sy + (k & 1);
        if (!known[at]) out[k] = sum / weight;
    }
    return true;
}

/* Value and, if wanted, gradient per cell of the trilinear interpolant. */
static inline double tl_trilinear(const double u[8], const double t[3], double *gradient)
{
    double z[4], dz[4];
    for (int k = 0; k < 4; k++) {
        dz[k] = u[2 * k + 1] - u[2 * k];
        z[k] = u[2 * k] + t[2] * dz[k];
    }
    double d0 = z[1] - z[0], d1 = z[3] - z[2];
    double y0 = z[0] + t[1] * d0, y1 = z[2] + t[1] * d1;
    if (gradient) {
        double e0 = dz[0] + t[1] * (dz[1] - dz[0]), e1 = dz[2] + t[1] * (dz[3] - dz[2]);
        gradient[0] = y1 - y0;
        gradient[1] = d0 + t[0] * (d1 - d0);
        gradient[2] = e0 + t[0] * (e1 - e0);
    }
    return y0 + t[0] * (y1 - y0);
}

/* Velocity and gradient of the interpolant at a particle. */
static inline void tl_to_particle(const tl_grid *g, int32_t block, const tl_halo_shape *h, const tl_face_halo *b,
                                  tl_particle *p)
{
    double s[3], u[8], v[3] = {p->v.x, p->v.y, p->v.z}, per_m = g->f.per_dx;
    tl_place_in_block(g, block, p->x, s);
    for (int k = 0; k < 3; k++) {
        tl_corners q = tl_corners_of(h, s, k);
        double gradient[3] = {0, 0, 0};
        if (tl_corner_values(h, &q, b, k, u)) v[k] = tl_trilinear(u, q.t, gradient);
        for (int j = 0; j < 3; j++) p->C.m[k][j] = j == g->f.flat_axis ? 0 : gradient[j] * per_m;
    }
    p->v = (tl_vec3){v[0], v[1], v[2]};
}

#endif
