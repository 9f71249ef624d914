/* What a test asks of a triangle surface, counted edge by edge, on its own. */
#ifndef TL_TESTS_SURFACES_H
#define TL_TESTS_SURFACES_H

#include "geom/trimesh.h"

typedef struct tl_test_surface {
    int64_t open, crowded, flipped; /* edges used once, more than twice, twice the same way */
    int64_t pinched;                /* vertices whose triangles are not one fan */
    int64_t unused, repeated;       /* vertices without a triangle; triangles that name one twice */
    double area, volume;            /* volume is signed */
    double edge_mean, edge_min, edge_max;
    double angle_min_deg, thin; /* smallest angle; part of the triangles with an angle below 15 degrees */
} tl_test_surface;

tl_test_surface tl_test_surface_read(const tl_trimesh *m); /* stops the program when memory is refused */
static inline bool tl_test_surface_closed(const tl_test_surface *s)
{
    return !s->open && !s->crowded && !s->flipped && !s->pinched && !s->unused && !s->repeated;
}

#endif
