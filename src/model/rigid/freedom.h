/* What mechanisms can do: bodies that joints hold together, how many ways they can move, and which joints hold what
 * others hold already. From the scene alone, at its start; limits, springs and motors do not count. */
#ifndef TL_MODEL_RIGID_FREEDOM_H
#define TL_MODEL_RIGID_FREEDOM_H

#include "base/arena.h"
#include "scene/scene.h"

#define TL_MECHANISM_MAX 300 /* bodies: a second of counting */

typedef struct tl_mechanism {
    int32_t joint;  /* the first one */
    int32_t bodies; /* free ones */
    int32_t joints;
    int32_t rows; /* that hold */
    int32_t free; /* ways to move: 6 bodies - rank; -1: of more than TL_MECHANISM_MAX bodies, not counted */
    int32_t over; /* rows that hold what others hold already, */
    int32_t by;   /* and the first joint with such a row; -1: none */
} tl_mechanism;

/* Mechanisms by their first joint, in the arena. */
talus_status tl_mechanisms_find(const tl_scene *s, tl_mechanism **out, int32_t *count, tl_arena *a, talus_error *err);

#endif
