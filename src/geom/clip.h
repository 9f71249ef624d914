/* A closed triangle surface cut along a lattice of cubes: which piece of which triangle lies in which cube, and how
 * much of every cube and of every face between them is inside.
 *
 * The lattice has cubes of half a grid cell, so that one cut serves cells, faces and edges of a staggered grid. What is
 * inside follows from the pieces alone, by running sums of their area vectors a along lattice lines: no flood fill and
 * no distance. On a face of a cube with its centre f, edge h,
 *
 *     S(+) = S(-) - sum a_axis / h^2                       covered part
 *     M(+) = M(-) - sum a_axis (c - f) / h^2               its first moment, c: centroid of a piece
 *     V    = S(+) + sum a_x (c_x - x_left) / h^3           of the cube
 *
 * and the sums of all pieces of a cell close exactly against the parts of its faces, which is what keeps momentum. A
 * piece that lies in a lattice plane belongs to the cube that its normal points to. Surfaces that overlap or are turned
 * inside out give parts outside of [0, 1]; who uses them decides what that means. */
#ifndef TL_GEOM_CLIP_H
#define TL_GEOM_CLIP_H

#include "base/arena.h"
#include "math/vec.h"

typedef struct tl_clip_piece {
    int32_t cube[3]; /* of the lattice */
    int32_t triangle;
    tl_vec3 area, centre; /* m^2, outward; m */
    double weight[3];     /* of the triangle's corners at the centre */
} tl_clip_piece;

typedef struct tl_clip {
    tl_vec3 origin; /* corner of cube (0, 0, 0); cell (i, j, k) of the grid has the cubes 2i, 2i + 1, ... */
    double h;       /* edge of a cube, m */
    int64_t pieces;
    tl_clip_piece *piece; /* by triangle */
    /* cells of the grid around the surface, first and count; their cubes are 2 lo .. 2 (lo + n) */
    int32_t lo[3], n[3];
    double *volume;     /* [8 n0 n1 n2] inside part of cubes, x slowest */
    double *area[3];    /* [n0 n1 n2] inside part of the lower face of cells */
    tl_vec3 *moment[3]; /* [n0 n1 n2] its first moment about the face's centre, over the face: part times metres */
    uint8_t *sealed[3]; /* [n0 n1 n2] lower faces of cells that a thin part stands between; NULL: not looked for */
} tl_clip;

/* origin and dx of the grid. x: places of vertices, three numbers each. In the arena. */
talus_status tl_clip_surface(tl_clip *out, tl_vec3 origin, double dx, int32_t triangles, const int32_t (*triangle)[3],
                             const double *x, tl_arena *a, talus_error *err);

/* Faces across which a thin part lies: the line between the two cell centres passes through it from one side to the
 * other, or one centre is inside of it. Thin is less than TL_CLIP_THIN cells along the line, between two sides that
 * look away from each other: a corner, or a line that grazes a round body, is none. Returns in *least how thin the
 * thinnest one is, cells; INFINITY: none. */
#define TL_CLIP_THIN 2.0
talus_status tl_clip_seal(tl_clip *c, int32_t triangles, const int32_t (*triangle)[3], const double *x, double *least,
                          tl_arena *a, talus_error *err);

/* Inside part of a cube, 0 outside of the box. */
static inline double tl_clip_cube(const tl_clip *c, int32_t x, int32_t y, int32_t z)
{
    int32_t i = x - 2 * c->lo[0], j = y - 2 * c->lo[1], k = z - 2 * c->lo[2];
    if (i < 0 || j < 0 || k < 0 || i >= 2 * c->n[0] || j >= 2 * c->n[1] || k >= 2 * c->n[2]) return 0;
    return c->volume[((int64_t)i * 2 * c->n[1] + j) * 2 * c->n[2] + k];
}

/* Number of a cell in area and moment; -1 outside of the box, where nothing is. */
static inline int64_t tl_clip_cell(const tl_clip *c, const int32_t cell[3])
{
    int32_t at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = cell[k] - c->lo[k];
        if (at[k] < 0 || at[k] >= c->n[k]) return -1;
    }
    return ((int64_t)at[0] * c->n[1] + at[1]) * c->n[2] + at[2];
}

#endif
