/* What the parts of joints in a step share: their rows as blocks of the contact problem (joints.c, joint_end.c). */
#ifndef TL_PHASE_BODIES_JOINT_ROWS_H
#define TL_PHASE_BODIES_JOINT_ROWS_H

#include <math.h>

#include "phase/bodies/bodies.h"

#define TL_JOINT_TAUT 1e-6 /* of a joint's length: nearer limits that pushed in the last step still hold */

static const tl_row_law_out tl_row_held = {-INFINITY, INFINITY, 0, 0}, tl_row_pushes = {0, INFINITY, 0, 0};

static inline const tl_joint *tl_bodies_joint_at(const tl_bodies *s, int32_t k) { return &s->sim->joints.joint[k]; }

/* Impulses of a joint act half-way. */
static inline bool tl_bodies_joint_is_half(const tl_bodies *s, const tl_joint *j)
{
    return s->half.any && s->half.on[tl_bodies_is_free(s, j->a) ? j->a : j->b];
}

/* Row r holds at the start: nothing gives. */
static inline bool tl_joint_holds_start(const tl_joint *j, int r)
{
    return j->law[r] == TL_ROW_HOLD && !(j->spec->compliance > 0);
}

/* Room in the arena; false without memory. */
bool tl_joint_blocks_take(tl_bodies *s, int32_t blocks, tl_joint_blocks *out);
/* Adds a joint's rows; all that is not said stays unused. */
void tl_joint_blocks_add(tl_joint_blocks *b, const tl_joint *j, const tl_joint_row *row);
void tl_joint_blocks_set(tl_joint_blocks *b, int64_t at, tl_row_law_out law);

#endif
