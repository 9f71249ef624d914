#include "model/grid/state.h"

#include "base/alloc.h"

void tl_particles_free(tl_particles *p)
{
    tl_free(p->particle);
    *p = (tl_particles){0};
}

void tl_grid_state_free(tl_grid_state *s)
{
    tl_particles_free(&s->particles);
    tl_free(s->memory);
    tl_free(s->emitter);
    tl_free(s->totals);
    *s = (tl_grid_state){0};
}

talus_status tl_particles_reserve(tl_particles *p, int64_t count, talus_error *err)
{
    if (count <= p->room && p->particle) return TALUS_OK;
    int64_t room = p->room + p->room / 4; /* emitters add a few per step */
    if (room < count) room = count;
    tl_particle *block = tl_realloc(p->particle, sizeof *block * (size_t)(room ? room : 1));
    if (!block) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld particles", (long long)count);
    p->particle = block;
    p->room = room;
    return TALUS_OK;
}

talus_status tl_grid_state_reserve_memory(tl_grid_state *s, int64_t count, talus_error *err)
{
    if (count <= s->memory_room && s->memory) return TALUS_OK;
    int64_t room = s->memory_room + s->memory_room / 4;
    if (room < count) room = count;
    tl_cell_memory *block = tl_realloc(s->memory, sizeof *block * (size_t)(room ? room : 1));
    if (!block) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for pressures of %lld cells", (long long)count);
    s->memory = block;
    s->memory_room = room;
    return TALUS_OK;
}
