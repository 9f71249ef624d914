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
    tl_free(s->stress);
    tl_free(s->rest);
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

static talus_status reserve_cells(int64_t count, int64_t *room, void **block, size_t size, talus_error *err)
{
    if (count <= *room && *block) return TALUS_OK;
    int64_t wanted = *room + *room / 4;
    if (wanted < count) wanted = count;
    void *larger = tl_realloc(*block, size * (size_t)(wanted ? wanted : 1));
    if (!larger) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for pressures of %lld cells", (long long)count);
    *block = larger;
    *room = wanted;
    return TALUS_OK;
}

talus_status tl_grid_state_reserve_rest(tl_grid_state *s, int64_t count, talus_error *err)
{
    return reserve_cells(count, &s->rest_room, (void **)&s->rest, sizeof *s->rest, err);
}

talus_status tl_grid_state_reserve_memory(tl_grid_state *s, int64_t count, bool stress, talus_error *err)
{
    TL_TRY(reserve_cells(count, &s->memory_room, (void **)&s->memory, sizeof *s->memory, err));
    if (stress) TL_TRY(reserve_cells(count, &s->stress_room, (void **)&s->stress, 5 * sizeof *s->stress, err));
    return TALUS_OK;
}
