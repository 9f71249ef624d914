/* The search of kind "least": accelerated ascent of the dual, one product with K and one with its adjoint per
 * evaluation. */
#ifndef TL_SOLVE_LEAST_METHOD_H
#define TL_SOLVE_LEAST_METHOD_H

#include "solve/least/problem.h"

/* t [rows]: start in, where the next search goes on out. a [groups], b [groups][size] out: of the best t that was
 * met. */
talus_status tl_least_ascend(const tl_least *p, const tl_least_stop *stop, double *t, double *a, double *b,
                             tl_arena *arena, tl_least_report *out, talus_error *err);

#endif
