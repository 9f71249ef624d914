/* Thin parts of elastic bodies: a cell beside a sheet, or with its centre in it, has a kernel that reaches both sides.
 * What is there belongs to the liquid of each side alone: taken together, the room below a dry sheet would count as
 * room of the pool above, which would then seem to be hollow (by 3.7 % on a sheet of half a cell). */
#ifndef TL_MODEL_GRID_SIDES_H
#define TL_MODEL_GRID_SIDES_H

#include "model/grid/levelset.h"

/* The part of one cell's kernel that lies beyond a sheet. */
typedef struct tl_side {
    int32_t cell;
    tl_vec3 normal, image; /* towards the cell's own side; of the centre in the surface beyond, m */
    double middle;         /* m along the normal, from the cell's centre to the middle of the sheet */
    double fill, clear;    /* of a cell's volume, beyond */
} tl_side;

typedef struct tl_sides {
    int32_t count;
    tl_side *side;
} tl_sides;

/* Of elastic bodies; none without particles. clear [cells]: part of kernels outside of solids. */
talus_status tl_sides_find(const tl_filled *from, const double *clear, tl_arena *a, tl_sides *out, talus_error *err);

static inline bool tl_side_is_beyond(const tl_side *s, tl_vec3 from_centre)
{
    return tl_vec3_dot(s->normal, from_centre) < s->middle;
}

#endif
