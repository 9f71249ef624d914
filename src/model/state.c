#include "model/state.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

#define DOUBLES(type) ((int)(sizeof(type) / sizeof(double)))

static int list_rigid(tl_rigid_state *r, tl_state_part *out)
{
    size_t memory = sizeof(tl_rigid_memory), doubles = offsetof(tl_rigid_memory, at_a);
    void **contact = (void **)&r->contact;
    out[0] = (tl_state_part){"bodies/motion",   TL_NUMBER_F64, DOUBLES(tl_motion), sizeof(tl_motion), 0, &r->count,
                             (void **)&r->body, NULL};
    out[1] = (tl_state_part){"contacts/bodies", TL_NUMBER_I32, 4, memory, 0, &r->contacts, contact, &r->contact_room};
    out[2] = (tl_state_part){
        "contacts/points", TL_NUMBER_F64,   (int)((memory - doubles) / sizeof(double)), memory, doubles, &r->contacts,
        contact,           &r->contact_room};
    return 3;
}

static int list_grid(tl_grid_state *g, tl_state_part *out)
{
    size_t particle = sizeof(tl_particle), ids = offsetof(tl_particle, id), cell = sizeof(tl_cell_memory);
    int64_t *count = &g->particles.count, *room = &g->particles.room;
    void **of_particles = (void **)&g->particles.particle, **of_cells = (void **)&g->memory;
    out[0] = (tl_state_part){"particles/motion", TL_NUMBER_F64, (int)(ids / sizeof(double)), particle, 0, count,
                             of_particles,       room};
    out[1] = (tl_state_part){"particles/id", TL_NUMBER_I32, 2, particle, ids, count, of_particles, room};
    out[2] = (tl_state_part){"grid/cells", TL_NUMBER_I64, 1, cell, 0, &g->memories, of_cells, &g->memory_room};
    out[3] = (tl_state_part){"grid/pressure", TL_NUMBER_F64,  1, cell, offsetof(tl_cell_memory, pressure), &g->memories,
                             of_cells,        &g->memory_room};
    out[4] = (tl_state_part){
        "emitters/volumes",   TL_NUMBER_F64, DOUBLES(tl_emitter_state), sizeof(tl_emitter_state), 0, &g->emitters,
        (void **)&g->emitter, NULL};
    out[5] = (tl_state_part){
        "grid/totals",       TL_NUMBER_F64, DOUBLES(tl_grid_totals), sizeof(tl_grid_totals), 0, &g->totals_count,
        (void **)&g->totals, NULL};
    return 6;
}

int tl_state_parts(tl_state *s, tl_state_part out[TL_STATE_PARTS_MAX])
{
    int n = list_rigid(&s->rigid, out);
    if (s->grid.totals_count) n += list_grid(&s->grid, out + n);
    return n;
}

/* Of all engines, whichever this state is of. */
static int all_parts(tl_state *s, tl_state_part out[TL_STATE_PARTS_MAX])
{
    int n = list_rigid(&s->rigid, out);
    return n + list_grid(&s->grid, out + n);
}

void tl_state_free(tl_state *s)
{
    tl_rigid_state_free(&s->rigid);
    tl_grid_state_free(&s->grid);
    *s = (tl_state){0};
}

/* Room in `to` for what `from` has; contents stay. */
static talus_status make_room(const tl_state_part *to, const tl_state_part *from, talus_error *err)
{
    size_t bytes = (size_t)*from->count * from->stride;
    int64_t room = to->room ? *to->room : *to->data ? *to->count : -1;
    if (room >= *from->count) return TALUS_OK;
    void *block = tl_realloc(*to->data, bytes ? bytes : 1);
    if (!block) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a copy of a state, %zu bytes", bytes);
    *to->data = block;
    if (to->room) *to->room = *from->count;
    return TALUS_OK;
}

talus_status tl_state_copy(tl_state *to, const tl_state *from, talus_error *err)
{
    tl_state view = *from; /* the list wants places that may be written */
    tl_state_part t[TL_STATE_PARTS_MAX], f[TL_STATE_PARTS_MAX];
    int parts = all_parts(to, t);
    all_parts(&view, f);
    for (int k = 0; k < parts; k++) TL_TRY(make_room(&t[k], &f[k], err));
    for (int k = 0; k < parts; k++) {
        *t[k].count = *f[k].count;
        if (*f[k].count) memcpy(*t[k].data, *f[k].data, (size_t)*f[k].count * f[k].stride);
    }
    to->t = from->t;
    to->step = from->step;
    to->frame = from->frame;
    to->dt_next = from->dt_next;
    return TALUS_OK;
}

static size_t bytes_of(tl_number type) { return type == TL_NUMBER_F64 || type == TL_NUMBER_I64 ? 8 : 4; }

uint64_t tl_state_hash(const tl_state *s)
{
    tl_state view = *s; /* the list wants places that may be written */
    tl_state_part part[TL_STATE_PARTS_MAX];
    int parts = tl_state_parts(&view, part);
    uint64_t h = tl_hash(TL_HASH_START, &s->t, sizeof s->t);
    h = tl_hash(h, &s->step, sizeof s->step);
    h = tl_hash(h, &s->frame, sizeof s->frame);
    h = tl_hash(h, &s->dt_next, sizeof s->dt_next);
    for (int k = 0; k < parts; k++) {
        const tl_state_part *p = &part[k];
        h = tl_hash(h, p->count, sizeof *p->count);
        for (int64_t i = 0; i < *p->count; i++)
            h = tl_hash(h, (const char *)*p->data + (size_t)i * p->stride + p->offset,
                        (size_t)p->width * bytes_of(p->type));
    }
    return h;
}
