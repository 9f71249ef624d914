#include "model/state.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

#define DOUBLES(type) ((int)(sizeof(type) / sizeof(double)))

static int list_sph(tl_sph_state *s, int n, tl_state_part *out)
{
    size_t particle = sizeof(tl_sph_particle), memory = sizeof(tl_sph_memory), emitter = sizeof(tl_sph_emitter);
    if (!s->counters) return n; /* another engine's state */
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
    return n;
}

int tl_state_parts(tl_state *s, tl_state_part out[TL_STATE_PARTS_MAX])
{
    tl_rigid_state *r = &s->rigid;
    int n = 0;
    out[n++] = (tl_state_part){"bodies/motion",   TL_NUMBER_F64, DOUBLES(tl_motion), sizeof(tl_motion), 0, &r->count,
                               (void **)&r->body, NULL};
    size_t doubles = offsetof(tl_rigid_memory, at_a);
    out[n++] = (tl_state_part){"contacts/bodies",    TL_NUMBER_I32,   4, sizeof(tl_rigid_memory), 0, &r->contacts,
                               (void **)&r->contact, &r->contact_room};
    out[n++] = (tl_state_part){
        "contacts/points",       TL_NUMBER_F64,   (int)((sizeof(tl_rigid_memory) - doubles) / sizeof(double)),
        sizeof(tl_rigid_memory), doubles,         &r->contacts,
        (void **)&r->contact,    &r->contact_room};
    return list_sph(&s->sph, n, out);
}

void tl_state_free(tl_state *s)
{
    tl_rigid_state_free(&s->rigid);
    tl_sph_state_free(&s->sph);
    *s = (tl_state){0};
}

static talus_status make_room(void *block, size_t bytes, void **out, talus_error *err)
{
    *out = tl_realloc(block, bytes ? bytes : 1);
    return *out ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a copy of a state, %zu bytes", bytes);
}

talus_status tl_state_copy(tl_state *to, const tl_state *from, talus_error *err)
{
    const tl_rigid_state *r = &from->rigid;
    tl_rigid_state *t = &to->rigid;
    void *block;
    if (t->count < r->count || !t->body) {
        TL_TRY(make_room(t->body, sizeof *t->body * (size_t)r->count, &block, err));
        t->body = block;
    }
    if (t->contact_room < r->contacts) {
        TL_TRY(make_room(t->contact, sizeof *t->contact * (size_t)r->contacts, &block, err));
        t->contact = block;
        t->contact_room = r->contacts;
    }
    TL_TRY(tl_sph_state_copy_room(&to->sph, &from->sph, err));
    tl_rigid_state kept = *t;
    tl_sph_state sph = to->sph;
    *to = *from;
    to->sph = sph;
    tl_sph_state_copy(&to->sph, &from->sph);
    t->body = kept.body;
    t->contact = kept.contact;
    t->contact_room = kept.contact_room;
    memcpy(t->body, r->body, sizeof *t->body * (size_t)r->count);
    if (r->contacts) memcpy(t->contact, r->contact, sizeof *t->contact * (size_t)r->contacts);
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
