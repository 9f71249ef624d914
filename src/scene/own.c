#include "scene/own.h"

#include <string.h>

#include "base/alloc.h"

/* Joints hold the bodies that they were read with: copies of one come after it. */
static int number_of(const int32_t *origin, int bodies, int body)
{
    int i = 0;
    while (body >= 0 && i < bodies && origin[i] != body) i++;
    return body < 0 ? body : i < bodies ? i : -2;
}

static talus_status number_joints(tl_scene *own, const int32_t *origin, talus_error *err)
{
    for (int k = 0; origin && k < own->joint_count; k++)
        for (int side = 0; side < 2; side++) {
            int *body = &own->joints[k].body[side];
            *body = number_of(origin, own->body_count, *body);
            if (*body < -1)
                return TL_FAIL(err, TALUS_BAD_INPUT, "joint %d (\"%.60s\") would hold a body that is not there", k,
                               own->joints[k].name);
        }
    return TALUS_OK;
}

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
    own->joints = TL_NEW(tl_joint_spec, s->joint_count + 1);
    if (!own->bodies || !own->materials || !own->emitters || !own->joints) {
        tl_scene_own_free(own);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a scene");
    }
    for (int i = 0; i < own->body_count; i++) own->bodies[i] = s->bodies[origin ? origin[i] : i];
    if (s->material_count) memcpy(own->materials, s->materials, sizeof *s->materials * (size_t)s->material_count);
    if (s->emitter_count) memcpy(own->emitters, s->emitters, sizeof *s->emitters * (size_t)s->emitter_count);
    if (s->joint_count) memcpy(own->joints, s->joints, sizeof *s->joints * (size_t)s->joint_count);
    const talus_status status = number_joints(own, origin, err);
    if (status == TALUS_OK)
        *out = own;
    else
        tl_scene_own_free(own);
    return status;
}

void tl_scene_own_free(tl_scene *own)
{
    if (!own) return;
    tl_free(own->bodies);
    tl_free(own->materials);
    tl_free(own->emitters);
    tl_free(own->joints);
    tl_free(own);
}
