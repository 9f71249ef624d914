#include "solve/space.h"

#include <math.h>

#include "base/sum.h"

tl_space tl_space_local(int64_t n) { return (tl_space){.n = n, .parts = 1}; }

double tl_space_dot(const tl_space *s, const double *x, const double *y) { return tl_space_sum(s, tl_dot(s->n, x, y)); }
double tl_space_norm(const tl_space *s, const double *x) { return sqrt(tl_space_dot(s, x, x)); }
double tl_space_max_abs(const tl_space *s, const double *x) { return tl_space_max(s, tl_max_abs(s->n, x)); }
