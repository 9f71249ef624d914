/* Levels of several parts: what they exchange while they are built. All of it is collective. */
#ifndef TL_SOLVE_PRESSURE_LEVELS_PARTS_H
#define TL_SOLVE_PRESSURE_LEVELS_PARTS_H

#include "solve/pressure/levels.h"

#define TL_NO_PARENT INT32_MAX

/* Least and largest coordinates of all parts. */
void tl_level_bounds(const tl_level *l, int32_t lo[3], int32_t hi[3]);

/* The space of level `c` above `fine`: copies of the cells that copies of `fine` belong to, which are the ones that
 * neighbours can be. parent [length]: of own cells in, TL_NO_PARENT where there is none; of copies out. scratch
 * [fine->n]. */
talus_status tl_level_share(const tl_level *fine, int32_t *parent, tl_level *c, int32_t *scratch, tl_arena *a,
                            talus_error *err);

/* choice [copies][sides]: the neighbours that owners of copies found for them, as numbers of those who own these; own
 * ones of theirs are negative. */
talus_status tl_level_choices(const tl_level *c, const int32_t (**choice)[TL_PRESSURE_SIDES], tl_arena *a,
                              talus_error *err);

/* l->border, from its neighbours; not collective. */
talus_status tl_level_borders(tl_level *l, tl_arena *a, talus_error *err);

/* Level k, whose cells are in parts, with all cells on every part: in the order that one part alone would have, since
 * cells of a part are in that order and blocks have one owner. */
talus_status tl_level_make_whole(tl_levels *l, int k, tl_arena *a, talus_error *err);

#endif
