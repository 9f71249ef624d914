#include "model/sph/state.h"

#include <string.h>

#include "base/alloc.h"

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
