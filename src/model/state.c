#include "model/state.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/comm.h"
#include "base/hash.h"

#define DOUBLES(type) ((int)(sizeof(type) / sizeof(double)))

void *tl_state_add(tl_state *s, const tl_state_kind *kind)
{
    TL_ASSERT(s->sections < TL_STATE_SECTIONS_MAX);
    void *data = tl_alloc_zero(kind->bytes);
    if (data) s->section[s->sections++] = (struct tl_state_section){kind, data};
    return data;
}

void *tl_state_find(const tl_state *s, const tl_state_kind *kind)
{
    for (int k = 0; k < s->sections; k++)
        if (s->section[k].kind == kind) return s->section[k].data;
    return NULL;
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
    out[n++] = (tl_state_part){"contacts/impact_bodies", TL_NUMBER_I32,  4, sizeof(tl_rigid_memory), 0, &r->impacts,
                               (void **)&r->impact,      &r->impact_room};
    out[n++] = (tl_state_part){
        "contacts/impacts",      TL_NUMBER_F64,  (int)((sizeof(tl_rigid_memory) - doubles) / sizeof(double)),
        sizeof(tl_rigid_memory), doubles,        &r->impacts,
        (void **)&r->impact,     &r->impact_room};
    for (int k = 0; k < s->sections; k++) n += s->section[k].kind->parts(s->section[k].data, out + n);
    TL_ASSERT(n <= TL_STATE_PARTS_MAX);
    return n;
}

void tl_state_free(tl_state *s)
{
    tl_rigid_state_free(&s->rigid);
    for (int k = 0; k < s->sections; k++) {
        s->section[k].kind->free(s->section[k].data);
        tl_free(s->section[k].data);
    }
    *s = (tl_state){0};
}

bool tl_state_part_is_first(const tl_state_part *part, int k)
{
    for (int j = 0; j < k; j++)
        if (part[j].data == part[k].data) return false;
    return true;
}

talus_status tl_state_like(tl_state *out, const tl_state *s, talus_error *err)
{
    tl_state_part part[TL_STATE_PARTS_MAX];
    *out = *s;
    for (out->sections = 0; out->sections < s->sections; out->sections++) {
        struct tl_state_section *to = &out->section[out->sections];
        to->data = tl_alloc(to->kind->bytes);
        if (!to->data) {
            while (out->sections-- > 0) tl_free(out->section[out->sections].data);
            *out = (tl_state){0};
            return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a copy of a state");
        }
        memcpy(to->data, s->section[out->sections].data, to->kind->bytes);
    }
    int parts = tl_state_parts(out, part);
    for (int k = 0; k < parts; k++) {
        *part[k].data = NULL;
        if (part[k].room) *part[k].room = 0;
    }
    return TALUS_OK;
}

talus_status tl_state_copy(tl_state *to, const tl_state *from, talus_error *err)
{
    tl_state view = *from, made;
    tl_state_part source[TL_STATE_PARTS_MAX], target[TL_STATE_PARTS_MAX];
    TL_TRY(tl_state_like(&made, from, err));
    tl_state_parts(&view, source);
    int parts = tl_state_parts(&made, target);
    for (int k = 0; k < parts; k++) {
        if (!tl_state_part_is_first(source, k)) continue;
        size_t bytes = source[k].stride * (size_t)*source[k].count;
        *target[k].data = tl_alloc(bytes + 1);
        if (!*target[k].data) {
            tl_state_free(&made);
            return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a copy of a state");
        }
        if (bytes) memcpy(*target[k].data, *source[k].data, bytes);
        if (target[k].room) *target[k].room = *source[k].count;
    }
    tl_state_free(to);
    *to = made;
    return TALUS_OK;
}

static size_t bytes_of(tl_number type) { return type == TL_NUMBER_F64 || type == TL_NUMBER_I64 ? 8 : 4; }

/* See tl_state_kind. */
static bool is_dealt(const tl_state *s, const char *name)
{
    for (int i = 0; i < s->sections; i++)
        if (s->section[i].kind->is_dealt && s->section[i].kind->is_dealt(name)) return true;
    return false;
}

static uint64_t hash_of(const tl_state *s, bool dealt)
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
        if (!dealt && is_dealt(s, p->name)) continue;
        h = tl_hash(h, p->count, sizeof *p->count);
        for (int64_t i = 0; i < *p->count; i++)
            h = tl_hash(h, (const char *)*p->data + (size_t)i * p->stride + p->offset,
                        (size_t)p->width * bytes_of(p->type));
    }
    return h;
}

uint64_t tl_state_hash(const tl_state *s) { return hash_of(s, true); }
uint64_t tl_state_hash_alike(const tl_state *s) { return hash_of(s, false); }

static talus_status make_room(const tl_state_part *p, int64_t count, talus_error *err)
{
    if (p->room && (count > *p->room || !*p->data)) {
        void *larger = tl_realloc(*p->data, p->stride * (size_t)count + 1);
        if (!larger) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %s, %" PRId64 " items", p->name, count);
        *p->data = larger;
        *p->room = count;
    }
    if (!p->room && count != *p->count)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s has %" PRId64 " items in the first process, %" PRId64 " in another",
                       p->name, count, *p->count);
    *p->count = count;
    return TALUS_OK;
}

talus_status tl_state_tell(tl_state *s, const tl_comm *c, talus_error *err)
{
    struct {
        double t, dt_next;
        int64_t step, frame;
    } times = {s->t, s->dt_next, s->step, s->frame};
    if (tl_comm_alone(c)) return TALUS_OK;
    tl_comm_tell(c, sizeof times, &times);
    s->t = times.t, s->dt_next = times.dt_next, s->step = times.step, s->frame = times.frame;
    tl_state_part part[TL_STATE_PARTS_MAX];
    const int parts = tl_state_parts(s, part);
    int64_t count[TL_STATE_PARTS_MAX];
    talus_status status = TALUS_OK;
    for (int k = 0; k < parts; k++) count[k] = *part[k].count;
    tl_comm_tell(c, sizeof count, count);
    for (int k = 0; k < parts && status == TALUS_OK; k++)
        if (tl_state_part_is_first(part, k) && !is_dealt(s, part[k].name)) status = make_room(&part[k], count[k], err);
    TL_TRY(tl_comm_agree(c, status, err));
    for (int k = 0; k < parts; k++)
        if (tl_state_part_is_first(part, k) && !is_dealt(s, part[k].name))
            tl_comm_tell(c, (int64_t)part[k].stride * count[k], *part[k].data);
    return TALUS_OK;
}

talus_status tl_state_check_tags(const char *path, const char *what, const tl_scene *scene, const int32_t *tag,
                                 size_t stride, int64_t count, double end, talus_error *err)
{
    if (count > INT32_MAX || !(end >= 0 && end <= (double)INT32_MAX + 1) || end != floor(end))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: %" PRId64 " %s, the next of which has id %g, cannot be", path, count,
                       what, end);
    size_t words = (size_t)end / 64 + 1;
    uint64_t *seen = TL_NEW_ZERO(uint64_t, words);
    if (!seen) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to check %s", path);
    talus_status status = TALUS_OK;
    for (int64_t i = 0; i < count && status == TALUS_OK; i++) {
        const int32_t *t = (const int32_t *)((const char *)tag + (size_t)i * stride), id = t[0], material = t[1];
        uint64_t bit = id >= 0 && id < end ? (uint64_t)1 << (id % 64) : 0;
        if (!bit || (seen[id / 64] & bit))
            status = TL_FAIL(err, TALUS_BAD_INPUT, "%s: %s %" PRId64 " has id %d, must be below %g and its own", path,
                             what, i, (int)id, end);
        else if (material < 0 || material >= scene->material_count ||
                 scene->materials[material].kind > TL_MATERIAL_VISCOUS)
            status = TL_FAIL(err, TALUS_BAD_INPUT, "%s: %s %" PRId64 " has material %d, which is none that flows", path,
                             what, i, (int)material);
        else
            seen[id / 64] |= bit;
    }
    tl_free(seen);
    return status;
}
