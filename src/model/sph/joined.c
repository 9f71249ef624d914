#include "model/sph/sph.h"

talus_status tl_sph_part_joined(tl_sph *s, const tl_joints *joints, talus_error *err)
{
    int32_t pairs = 0;
    for (int32_t k = 0; k < joints->count; k++) pairs += joints->joint[k].b >= 0 && !joints->joint[k].spec->collide;
    if (!pairs) return TALUS_OK;
    s->part_start = TL_TAKE_ZERO(&s->memory, int32_t, s->bodies + 1);
    s->part = TL_TAKE(&s->memory, int32_t, 2 * (int64_t)pairs);
    if (!s->part_start || !s->part) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for joints in SPH");
    for (int32_t b = 0, at = 0; b < s->bodies; b++) {
        for (int32_t k = 0; k < joints->count; k++) {
            const tl_joint *j = &joints->joint[k];
            if (j->spec->collide || j->b < 0 || (j->a != b && j->b != b)) continue;
            s->part[at++] = j->a == b ? j->b : j->a;
        }
        s->part_start[b + 1] = at;
    }
    return TALUS_OK;
}
