#include "model/sph/state.h"

#include <string.h>

#include "base/alloc.h"
#include <inttypes.h>

void tl_sph_state_free(tl_sph_state *s)
{
    tl_free(s->particle);
    tl_free(s->memory);
    tl_free(s->emitter);
    tl_free(s->counter);
    *s = (tl_sph_state){0};
}

/* At least `want` items; `room` NULL: exactly so many, at the first time only. */
static talus_status make_room(void **block, int64_t *room, int64_t want, size_t size, talus_error *err)
{
    if (*block && (!room || *room >= want)) return TALUS_OK;
    void *larger = tl_realloc(*block, size * (size_t)want + 1);
    if (!larger) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld particles", (long long)want);
    *block = larger;
    if (room) *room = want;
    return TALUS_OK;
}

talus_status tl_sph_state_reserve(tl_sph_state *s, int64_t particles, int64_t memories, talus_error *err)
{
    TL_TRY(make_room((void **)&s->particle, &s->room, particles, sizeof *s->particle, err));
    return make_room((void **)&s->memory, &s->memory_room, memories, sizeof *s->memory, err);
}

/* ---- its section of the state ---- */

static int parts(void *section, tl_state_part *out)
{
    tl_sph_state *s = section;
    int n = 0;
    size_t particle = sizeof(tl_sph_particle), memory = sizeof(tl_sph_memory), emitter = sizeof(tl_sph_emitter);
    out[n++] = (tl_state_part){"sph/motion", TL_NUMBER_F64, 7, particle, 0, &s->count, (void **)&s->particle, &s->room};
    out[n++] = (tl_state_part){"sph/ids", TL_NUMBER_I32,         2,       particle, offsetof(tl_sph_particle, id),
                               &s->count, (void **)&s->particle, &s->room};
    out[n++] =
        (tl_state_part){"sph/memory", TL_NUMBER_F64, 4, memory, 0, &s->memories, (void **)&s->memory, &s->memory_room};
    out[n++] =
        (tl_state_part){"sph/memory_of",     TL_NUMBER_I32,  2, memory, offsetof(tl_sph_memory, particle), &s->memories,
                        (void **)&s->memory, &s->memory_room};
    out[n++] = (tl_state_part){"sph/due", TL_NUMBER_F64, 1, emitter, 0, &s->emitters, (void **)&s->emitter, NULL};
    out[n++] = (tl_state_part){"sph/emitted", TL_NUMBER_I64,        2,   emitter, offsetof(tl_sph_emitter, layers),
                               &s->emitters,  (void **)&s->emitter, NULL};
    out[n++] = (tl_state_part){"sph/counters", TL_NUMBER_I64,        2,   sizeof(tl_sph_counters), 0,
                               &s->counters,   (void **)&s->counter, NULL};
    out[n++] =
        (tl_state_part){"sph/step",   TL_NUMBER_F64,        1,   sizeof(tl_sph_counters), offsetof(tl_sph_counters, dt),
                        &s->counters, (void **)&s->counter, NULL};
    return n;
}

static void free_section(void *section) { tl_sph_state_free(section); }

static talus_status check_section(const void *section, const tl_scene *scene, int32_t bodies, const char *path,
                                  talus_error *err)
{
    (void)bodies;
    const tl_sph_state *s = section;
    TL_TRY(tl_state_check_tags(path, "sph/ids", scene, s->particle ? &s->particle->id : NULL, sizeof *s->particle,
                               s->count, (double)s->counter->next_id, err));
    if (!(s->counter->dt >= 0)) return TL_FAIL(err, TALUS_BAD_INPUT, "%s: sph/step is %g s", path, s->counter->dt);
    if (s->counter->lost < 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: %" PRId64 " particles lost", path, s->counter->lost);
    for (int64_t i = 0; i < s->memories; i++)
        if (s->memory[i].particle < 0 || (i > 0 && s->memory[i].particle <= s->memory[i - 1].particle))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: sph/memory_of[%" PRId64 "] is out of order", path, i);
    for (int64_t i = 0; i < s->emitters; i++)
        if (!(s->emitter[i].due >= 0) || s->emitter[i].layers < 0 || s->emitter[i].skipped < 0)
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: emitter %" PRId64 " is below zero", path, i);
    return TALUS_OK;
}

const tl_state_kind tl_sph_state_kind = {"sph", sizeof(tl_sph_state), parts, free_section, check_section, NULL};
