#include "model/grid/state.h"

#include "base/alloc.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

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

/* ---- its section of the state ---- */

#define DOUBLES(type) ((int)(sizeof(type) / sizeof(double)))
#define ROUNDED 1e-12 /* of a speed */

static bool is_granular(const tl_scene *s)
{
    bool any = false;
    for (int i = 0; i < s->fill_count; i++) any |= s->materials[s->fills[i].material].kind == TL_MATERIAL_GRANULAR;
    for (int i = 0; i < s->emitter_count; i++)
        any |= s->materials[s->emitters[i].material].kind == TL_MATERIAL_GRANULAR;
    return any;
}

static int parts(void *section, tl_state_part *out)
{
    tl_grid_state *g = section;
    int n = 0;
    tl_particles *p = &g->particles;
    const size_t tags = offsetof(tl_particle, id), value = offsetof(tl_cell_memory, pressure);
    out[n++] = (tl_state_part){
        "particles/motion",    TL_NUMBER_F64, (int)(tags / sizeof(double)), sizeof(tl_particle), 0, &p->count,
        (void **)&p->particle, &p->room};
    out[n++] = (tl_state_part){"particles/tags", TL_NUMBER_I32,         2,       sizeof(tl_particle), tags,
                               &p->count,        (void **)&p->particle, &p->room};
    out[n++] = (tl_state_part){"cells/key",         TL_NUMBER_I64,  1, sizeof(tl_cell_memory), 0, &g->memories,
                               (void **)&g->memory, &g->memory_room};
    out[n++] = (tl_state_part){"cells/pressure",    TL_NUMBER_F64,  1, sizeof(tl_cell_memory), value, &g->memories,
                               (void **)&g->memory, &g->memory_room};
    out[n++] = (tl_state_part){"cells/stress",      TL_NUMBER_F64,  5, 5 * sizeof(double), 0, &g->stresses,
                               (void **)&g->stress, &g->stress_room};
    out[n++] = (tl_state_part){"rest/key",        TL_NUMBER_I64, 1, sizeof(tl_rest_memory), 0, &g->rests,
                               (void **)&g->rest, &g->rest_room};
    out[n++] = (tl_state_part){
        "rest/displacement", TL_NUMBER_F64, 3, sizeof(tl_rest_memory), offsetof(tl_rest_memory, t), &g->rests,
        (void **)&g->rest,   &g->rest_room};
    out[n++] = (tl_state_part){"emitters", TL_NUMBER_F64, DOUBLES(tl_emitter_state), sizeof(tl_emitter_state),
                               0,          &g->emitters,  (void **)&g->emitter,      NULL};
    out[n++] = (tl_state_part){"totals", TL_NUMBER_F64,    DOUBLES(tl_grid_totals), sizeof(tl_grid_totals),
                               0,        &g->totals_count, (void **)&g->totals,     NULL};
    return n;
}

static void free_section(void *section) { tl_grid_state_free(section); }

static talus_status check_section(const void *section, const tl_scene *scene, int32_t bodies, const char *path,
                                  talus_error *err)
{
    (void)bodies;
    const tl_grid_state *g = section;
    const tl_particle *p = g->particles.particle;
    TL_TRY(
        tl_state_check_tags(path, "particle", scene, &p->id, sizeof *p, g->particles.count, g->totals->next_id, err));
    for (int64_t i = 0; i < g->particles.count; i++)
        if (!(p[i].volume > 0))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: particle %" PRId64 " has a volume of %g m^3, must be > 0", path,
                           i, p[i].volume);
    /* the length of the next step follows from this */
    double fastest2 = 0, told = g->totals->particles.fastest;
    for (int64_t i = 0; i < g->particles.count; i++) fastest2 = fmax(fastest2, tl_vec3_norm2(p[i].v));
    if (!isfinite(fastest2) || (g->totals->measured > 0 && !(fabs(told - sqrt(fastest2)) <= ROUNDED * sqrt(fastest2))))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the fastest particle moves at %g m/s, the totals say %g", path,
                       sqrt(fastest2), told);
    if (g->stresses != (is_granular(scene) ? g->memories : 0))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: stress in %" PRId64 " of %" PRId64 " cells", path, g->stresses,
                       g->memories);
    for (int64_t i = 0; i < g->memories; i++)
        if (g->memory[i].key < 0 || (i > 0 && g->memory[i].key <= g->memory[i - 1].key))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: cells/key[%" PRId64 "] is out of order", path, i);
    for (int64_t i = 0; i < g->emitters; i++) {
        const tl_emitter_state *e = &g->emitter[i];
        double rounding = 1e-9 * e->due; /* owed = due - emitted - refused, up to that */
        if (!(e->owed >= -rounding && e->emitted >= 0 && e->due >= 0 && e->refused >= 0 &&
              e->owed <= e->due + rounding))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: emitter %" PRId64 " owes %g of %g m^3", path, i, e->owed, e->due);
    }
    return TALUS_OK;
}

/* What is in places goes with the owners of these. */
static bool is_dealt(const char *name)
{
    static const char *const begin[] = {"particles/", "cells/", "rest/"};
    for (size_t k = 0; k < sizeof begin / sizeof *begin; k++)
        if (!strncmp(name, begin[k], strlen(begin[k]))) return true;
    return false;
}

const tl_state_kind tl_grid_state_kind = {"grid", sizeof(tl_grid_state), parts, free_section, check_section, is_dealt};
