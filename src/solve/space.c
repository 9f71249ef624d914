#include "solve/space.h"

#include <math.h>

#include "base/sum.h"

tl_space tl_space_local(int64_t n) { return (tl_space){.n = n, .parts = 1}; }

double tl_space_dot(const tl_space *s, const double *x, const double *y) { return tl_space_sum(s, tl_dot(s->n, x, y)); }
double tl_space_norm(const tl_space *s, const double *x) { return sqrt(tl_space_dot(s, x, x)); }
double tl_space_max_abs(const tl_space *s, const double *x) { return tl_space_max(s, tl_max_abs(s->n, x)); }

talus_status tl_space_reserve(const tl_space *s, tl_arena *a, size_t bytes, talus_error *err)
{
    talus_status status = tl_arena_reserve(a, bytes, err);
    if (tl_space_max(s, (double)status) > 0 && status == TALUS_OK)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a work space in another part of the space");
    return status;
}
