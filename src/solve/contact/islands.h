/* Moving bodies that touch, directly or through others, form an island: its contacts are a problem of their own. */
#ifndef TL_SOLVE_CONTACT_ISLANDS_H
#define TL_SOLVE_CONTACT_ISLANDS_H

#include "solve/contact/pairs.h"

typedef struct tl_islands {
    int32_t count;
    tl_pairs *island; /* [count] by first contact; bodies and contacts in the order of the whole */
    int32_t *first;   /* [count + 1] into contact */
    int32_t *contact; /* [contacts] of the whole */
} tl_islands;

size_t tl_islands_bytes(const tl_contact *p);

/* From an arena with room for tl_islands_bytes. A single island is the whole itself, not a copy. Bodies without
 * contacts are in none. */
void tl_islands_build(const tl_pairs *whole, tl_islands *out, tl_arena *a);

/* Islands of the contacts with some [contacts] set. The others keep their impulses: dv [lanes] are the velocities
 * that these cause. False when memory is refused. */
bool tl_islands_some(const tl_pairs *whole, const bool *some, const double *dv, tl_islands *out, tl_arena *a);

#endif
