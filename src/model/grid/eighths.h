/* Eighths of cells of one block: parts of cubes of dx/2, from which cells, faces and edges take the mean of eight.
 *
 * Index 0 along an axis is the upper half of the cell before the block, 1 and 2 are the halves of its first cell,
 * and so on up to the lower half of the cell behind it: 2 edge + 2. For the files that compute fractions. */
#ifndef TL_MODEL_GRID_EIGHTHS_H
#define TL_MODEL_GRID_EIGHTHS_H

#include "model/grid/fractions.h"

#define TL_EIGHTHS_MAX (18 * 18 * 18)

typedef struct tl_eighths {
    int32_t n[3];
    double part[TL_EIGHTHS_MAX];
} tl_eighths;

static inline void tl_eighths_begin(const tl_grid *g, tl_eighths *out)
{
    for (int k = 0; k < 3; k++) out->n[k] = 2 * g->f.edge[k] + 2;
}

static inline double tl_eighths_mean(const tl_eighths *s, int32_t x, int32_t y, int32_t z)
{
    const double *p = &s->part[(x * s->n[1] + y) * s->n[2] + z], *q = p + s->n[1] * s->n[2];
    int32_t n = s->n[2];
    return 0.125 * (((p[0] + p[1]) + (p[n] + p[n + 1])) + ((q[0] + q[1]) + (q[n] + q[n + 1])));
}

/* at: place of the cell in its block */
static inline double tl_eighths_cell(const tl_eighths *s, const uint8_t at[3])
{
    return tl_eighths_mean(s, 2 * at[0] + 1, 2 * at[1] + 1, 2 * at[2] + 1);
}
static inline double tl_eighths_face(const tl_eighths *s, const uint8_t at[3], int axis)
{
    return tl_eighths_mean(s, 2 * at[0] + (axis != 0), 2 * at[1] + (axis != 1), 2 * at[2] + (axis != 2));
}
static inline double tl_eighths_edge(const tl_eighths *s, const uint8_t at[3], int axis)
{
    return tl_eighths_mean(s, 2 * at[0] + (axis == 0), 2 * at[1] + (axis == 1), 2 * at[2] + (axis == 2));
}
/* With the hat kernel around the cell's centre: linear inside of an eighth, so that full and empty ones are exact. */
static inline double tl_eighths_kernel(const tl_eighths *s, const uint8_t at[3])
{
    static const double w[4] = {0.125, 0.375, 0.375, 0.125};
    double sum = 0;
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < 4; y++) {
            const double *p = &s->part[((2 * at[0] + x) * s->n[1] + 2 * at[1] + y) * s->n[2] + 2 * at[2]];
            sum += w[x] * w[y] * (w[0] * (p[0] + p[3]) + w[1] * (p[1] + p[2]));
        }
    return sum;
}

#endif
