#include "scene/own.h"

#include <string.h>

#include "base/alloc.h"

talus_status tl_scene_own_create(tl_scene **out, const tl_scene *s, int bodies, const int32_t *origin, talus_error *err)
{
    *out = NULL;
    for (int i = 0; origin && i < bodies; i++)
        if (origin[i] < 0 || origin[i] >= s->body_count)
            return TL_FAIL(err, TALUS_BAD_INPUT, "body %d would be a copy of body %d of a scene with %d", i, origin[i],
                           s->body_count);
    tl_scene *own = TL_NEW(tl_scene, 1);
    if (!own) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a scene");
    *own = *s;
    own->body_count = origin ? bodies : s->body_count;
    own->bodies = TL_NEW(tl_body, own->body_count + 1);
    own->materials = TL_NEW(tl_material, s->material_count + 1);
    own->emitters = TL_NEW(tl_emitter, s->emitter_count + 1);
    if (!own->bodies || !own->materials || !own->emitters) {
        tl_scene_own_free(own);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a scene");
    }
    for (int i = 0; i < own->body_count; i++) own->bodies[i] = s->bodies[origin ? origin[i] : i];
    if (s->material_count) memcpy(own->materials, s->materials, sizeof *s->materials * (size_t)s->material_count);
    if (s->emitter_count) memcpy(own->emitters, s->emitters, sizeof *s->emitters * (size_t)s->emitter_count);
    *out = own;
    return TALUS_OK;
}

void tl_scene_own_free(tl_scene *own)
{
    if (!own) return;
    tl_free(own->bodies);
    tl_free(own->materials);
    tl_free(own->emitters);
    tl_free(own);
}
