/* What the pressure loop asks of a preconditioner: one that follows the free set.
 *
 * The free set is {x > lo or g < limit}, of the cells of one level. z = M^-1 (g on it) stays with the
 * preconditioner, which may hold it in single precision and in an order of its own; the loop only needs z.g and z
 * added to its direction. */
#ifndef TL_SOLVE_PRESSURE_PRECOND_H
#define TL_SOLVE_PRESSURE_PRECOND_H

#include <stdbool.h>

typedef struct tl_pressure_free {
    const double *x, *g;
    double lo, limit; /* lo = -INFINITY: all cells; limit = -INFINITY: what is off its bound, nothing more */
} tl_pressure_free;

static inline bool tl_pressure_is_free(const tl_pressure_free *f, int i)
{
    return f->x[i] > f->lo || f->g[i] < f->limit;
}

typedef struct tl_pressure_precond {
    void *ctx;
    bool (*fit)(void *ctx, const tl_pressure_free *f); /* true when the free set is another one than last time */
    double (*apply)(void *ctx, const double *g,
                    double size);                         /* returns z.g; size: about max|g|, keeps floats in range */
    void (*direction)(void *ctx, double beta, double *p); /* p = z + beta p; beta = 0 does not read p */
} tl_pressure_precond;

#endif
