/* Points of a state as clouds: what flows, for frames and pictures, whichever engine it is of. One cloud per material that has points. */
#ifndef TL_RUN_CLOUDS_H
#define TL_RUN_CLOUDS_H

#include "render/scene_picture.h"
#include "step/sim.h"

typedef struct tl_clouds {
    int64_t points;
    int count;
    tl_scene_cloud *cloud; /* [count] into the arrays below */
    tl_vec3 *at;           /* [points] by material, then in the order of the state */
    float (*velocity)[3];  /* m/s */
    float *value;          /* of the field that render.colour_by names; NULL: none */
    int32_t *id, *material;
} tl_clouds;

talus_status tl_clouds_of(tl_clouds *out, const tl_sim *sim, talus_error *err);
void tl_clouds_free(tl_clouds *c); /* leaves {0} */

/* "particles": `velocity`, `id`, `material` of every point. */
talus_status tl_clouds_write_vtk(const char *path, const tl_sim *sim, talus_error *err);
bool tl_clouds_present(const tl_scene *s); /* whether states of this scene have points */

#endif
