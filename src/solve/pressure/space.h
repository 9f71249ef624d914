/* Copies of other parts' cells in vectors of any item. Without a space nothing happens. */
#ifndef TL_SOLVE_PRESSURE_SPACE_H
#define TL_SOLVE_PRESSURE_SPACE_H

#include "solve/pressure/problem.h"

enum { TL_RED, TL_BLACK };

static inline int32_t tl_pressure_copies(const tl_pressure_space *s) { return s ? s->copies[0] + s->copies[1] : 0; }
static inline const tl_comm *tl_pressure_comm(const tl_pressure_space *s) { return s ? s->comm : NULL; }

/* x [none + 1 + copies] of `item` bytes: the copies of one colour, as their owners have them. */
static inline void tl_pressure_get(const tl_pressure_space *s, int colour, size_t item, void *x, int32_t none)
{
    if (!s) return;
    const size_t at = (size_t)none + 1 + (colour == TL_BLACK ? (size_t)s->copies[TL_RED] : 0);
    tl_comm_get(s->comm, s->plan[colour], item, x, (char *)x + item * at);
}

static inline void tl_pressure_get_both(const tl_pressure_space *s, size_t item, void *x, int32_t none)
{
    tl_pressure_get(s, TL_RED, item, x, none);
    tl_pressure_get(s, TL_BLACK, item, x, none);
}

/* Own rows and those of the owners of copies see each other alike; collective. */
talus_status tl_pressure_check_borders(const tl_pressure *p, talus_error *err);

#endif
