#include "model/driven.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "scene/schema.h"

static int parts(void *section, tl_state_part *out)
{
    tl_driven *d = section;
    const size_t value = offsetof(tl_setting, value);
    out[0] =
        (tl_state_part){"driven/bodies", TL_NUMBER_I32, 1, sizeof *d->origin, 0, &d->bodies, (void **)&d->origin, NULL};
    out[1] = (tl_state_part){"driven/settings", TL_NUMBER_I32,        4,       sizeof *d->setting, 0,
                             &d->settings,      (void **)&d->setting, &d->room};
    out[2] = (tl_state_part){"driven/values", TL_NUMBER_F64,        3,       sizeof *d->setting, value,
                             &d->settings,    (void **)&d->setting, &d->room};
    return 3;
}

static void free_section(void *section)
{
    tl_driven *d = section;
    tl_free(d->origin);
    tl_free(d->setting);
    *d = (tl_driven){0};
}

static int compare(const tl_setting *a, int32_t kind, int32_t index, int32_t key)
{
    if (a->kind != kind) return a->kind < kind ? -1 : 1;
    if (a->index != index) return a->index < index ? -1 : 1;
    return (a->key > key) - (a->key < key);
}

/* A number that the scene itself could have: of a material, what its schema allows. */
static bool can_be(const tl_setting *s, const tl_scene *scene)
{
    if (s->kind == TL_SET_GRAVITY) return s->key == 0;
    if (s->kind != TL_SET_MATERIAL) return s->key == 0 && s->value[0] >= 0;
    const tl_context *c = tl_schema_material(scene->materials[s->index].kind);
    if (s->key >= c->key_count) return false;
    const tl_key *key = &c->keys[s->key];
    return (key->type == TL_NUMBER || key->type == TL_TIMED1) && tl_schema_in_range(key, s->value[0]);
}

static talus_status check(const void *section, const tl_scene *scene, int32_t bodies, const char *path,
                          talus_error *err)
{
    (void)bodies;
    const tl_driven *d = section;
    const int32_t counts[] = {[TL_SET_GRAVITY] = 1,
                              [TL_SET_FRICTION] = (int32_t)d->bodies,
                              [TL_SET_RATE] = scene->emitter_count,
                              [TL_SET_MATERIAL] = scene->material_count};
    for (int64_t i = 0; i < d->bodies; i++)
        if (d->origin[i] < 0)
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: body %" PRId64 " is a copy of body %d", path, i, d->origin[i]);
    for (int64_t i = 0; i < d->settings; i++) {
        const tl_setting *s = &d->setting[i];
        if (s->kind < 0 || s->kind >= TL_SETTING_KINDS || s->index < 0 || s->index >= counts[s->kind] || s->key < 0 ||
            s->zero != 0 || !can_be(s, scene) || (i > 0 && compare(&d->setting[i - 1], s->kind, s->index, s->key) >= 0))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: setting %" PRId64 " (%d, %d, %d) cannot be", path, i,
                           (int)s->kind, (int)s->index, (int)s->key);
    }
    return TALUS_OK;
}

const tl_state_kind tl_driven_kind = {"driven", sizeof(tl_driven), parts, free_section, check, NULL};

talus_status tl_driven_begin(tl_driven *out, int32_t bodies, talus_error *err)
{
    *out = (tl_driven){.bodies = bodies, .origin = TL_NEW(int32_t, bodies + 1)};
    if (!out->origin) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a simulation of %d bodies", (int)bodies);
    for (int32_t i = 0; i < bodies; i++) out->origin[i] = i;
    return TALUS_OK;
}

talus_status tl_driven_set(tl_driven *d, tl_setting_kind kind, int32_t index, int32_t key, const double value[3],
                           talus_error *err)
{
    int64_t at = 0;
    while (at < d->settings && compare(&d->setting[at], (int32_t)kind, index, key) < 0) at++;
    const bool there = at < d->settings && compare(&d->setting[at], (int32_t)kind, index, key) == 0;
    if (!value) {
        if (there) memmove(d->setting + at, d->setting + at + 1, sizeof *d->setting * (size_t)(d->settings - at - 1));
        d->settings -= there;
        return TALUS_OK;
    }
    if (!there && d->settings == d->room) {
        const int64_t room = 2 * d->room + 8;
        tl_setting *larger = tl_realloc(d->setting, sizeof *larger * (size_t)room);
        if (!larger) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a setting");
        d->setting = larger;
        d->room = room;
    }
    if (!there) {
        memmove(d->setting + at + 1, d->setting + at, sizeof *d->setting * (size_t)(d->settings - at));
        d->settings++;
    }
    d->setting[at] = (tl_setting){(int32_t)kind, index, key, 0, {value[0], value[1], value[2]}};
    return TALUS_OK;
}
