/* A contact point as users see it, in frames and views: the same for every engine. */
#ifndef TL_MODEL_CONTACT_ROW_H
#define TL_MODEL_CONTACT_ROW_H

#include "math/vec.h"

typedef struct tl_contact_row {
    tl_vec3 at, normal; /* m; out of the second body into the first */
    tl_vec3 force;      /* on the first body, N */
    double gap;         /* m */
    int32_t body[2];    /* of the scene; from the number of bodies on they are walls */
} tl_contact_row;

#endif
