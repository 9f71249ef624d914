/* Contacts of a solved step as views and frames show them: points with a force, between two bodies. Nothing here
 * changes a step. */
#ifndef TL_MODEL_SPH_CONTACT_LIST_H
#define TL_MODEL_SPH_CONTACT_LIST_H

#include "model/sph/sph.h"

typedef struct tl_sph_contact_list {
    int64_t count;
    tl_rigid_memory *contact; /* [count] sorted by (a, b, point); in the step's arena */
} tl_sph_contact_list;

/* One point per sample that pushes and body that it pushes; of two free bodies the samples of the one with the lower
 * number stand for both, because every pair of samples pushes both ways. The forces on a body add up to its
 * contact_force. Places are midway between the sample and those that it meets, gaps what the contact's volume lacks,
 * as in the report's penetration. x: the solve's answer. */
talus_status tl_sph_list_contacts(const tl_sph_step *s, const double *x, tl_sph_contact_list *out, talus_error *err);

#endif
