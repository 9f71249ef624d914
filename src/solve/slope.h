/* How far along a direction a piecewise quadratic, convex function is walked: until its slope has fallen to a third.
 * Secants between where it falls and where it rises, kept a tenth away from both. */
#ifndef TL_SOLVE_SLOPE_H
#define TL_SOLVE_SLOPE_H

#include <math.h>

#define TL_SLOPE_ENOUGH 0.3
#define TL_SLOPE_TRIES 12

/* slope(line, a): the function's at step a; falls at 0. Steps are in (0, 1]. */
static inline double tl_slope_search(double (*slope)(const void *line, double a), const void *line)
{
    double begin = 0, end = 1, a = 1, at_begin = slope(line, 0), enough = TL_SLOPE_ENOUGH * fabs(at_begin), at_end = 0;
    for (int tries = 0; tries < TL_SLOPE_TRIES; tries++) {
        double now = slope(line, a);
        if (fabs(now) <= enough || (a == 1 && now < 0)) break;
        if (now > 0)
            end = a, at_end = now;
        else
            begin = a, at_begin = now;
        double share = at_end > 0 ? -at_begin / (at_end - at_begin) : 0.5;
        a = begin + fmin(0.9, fmax(0.1, share)) * (end - begin);
    }
    return a;
}

#endif
