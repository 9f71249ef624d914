/* Smaller and larger of two numbers as one instruction: fmin and fmax are calls, for their care about NaN. With a NaN
 * the second is returned. */
#ifndef TL_GEOM_MINMAX_H
#define TL_GEOM_MINMAX_H

static inline double tl_min(double a, double b) { return a < b ? a : b; }
static inline double tl_max(double a, double b) { return a > b ? a : b; }

#endif
