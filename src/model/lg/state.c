#include "model/lg/state.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"

static void free_section(void *section)
{
    tl_lg_state *s = section;
    tl_free(s->q);
    tl_free(s->v);
    tl_free(s->push);
    tl_free(s->led);
    tl_free(s->length);
    tl_free(s->pressure);
    tl_free(s->u);
    tl_free(s->q_before);
    tl_free(s->v_before);
    tl_free(s->step_before);
    tl_free(s->contact);
    tl_free(s->hold);
    *s = (tl_lg_state){0};
}

static int compare(const void *a, const void *b)
{
    const tl_lg_memory *p = a, *q = b;
    if (p->obstacle != q->obstacle) return p->obstacle < q->obstacle ? -1 : 1;
    if (p->point != q->point) return p->point < q->point ? -1 : 1;
    return p->feature < q->feature ? -1 : p->feature > q->feature;
}

void tl_lg_memory_sort(tl_lg_memory *m, int64_t count)
{
    if (count) qsort(m, (size_t)count, sizeof *m, compare); /* of none there may be no array */
}

const tl_lg_memory *tl_lg_memory_find(const tl_lg_state *past, int32_t point, int32_t obstacle, int32_t feature)
{
    tl_lg_memory key = {.point = point, .obstacle = obstacle, .feature = feature};
    return past->contacts ? bsearch(&key, past->contact, (size_t)past->contacts, sizeof key, compare) : NULL;
}

talus_status tl_lg_contacts_reserve(tl_lg_state *s, int64_t count, talus_error *err)
{
    if (s->contact_room >= count) return TALUS_OK;
    int64_t room = count + count / 2 + 16;
    tl_lg_memory *fresh = tl_realloc(s->contact, sizeof *fresh * (size_t)room);
    if (!fresh) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %" PRId64 " contacts of elastic bodies", count);
    s->contact = fresh;
    s->contact_room = room;
    return TALUS_OK;
}

/* ---- its section of the state ---- */

static int parts(void *section, tl_state_part *out)
{
    tl_lg_state *l = section;
    int n = 0;
    if (l->nodes == 0) return 0;
    const size_t point = 3 * sizeof(double), row = 8 * sizeof(double), doubles = offsetof(tl_lg_memory, force);
    out[n++] = (tl_state_part){"nodes/position", TL_NUMBER_F64, 3, point, 0, &l->nodes, (void **)&l->q, NULL};
    out[n++] = (tl_state_part){"nodes/velocity", TL_NUMBER_F64, 3, point, 0, &l->nodes, (void **)&l->v, NULL};
    out[n++] = (tl_state_part){"nodes/push", TL_NUMBER_F64, 3, point, 0, &l->nodes, (void **)&l->push, NULL};
    out[n++] =
        (tl_state_part){"nodes/position_before", TL_NUMBER_F64, 3, point, 0, &l->nodes, (void **)&l->q_before, NULL};
    out[n++] =
        (tl_state_part){"nodes/velocity_before", TL_NUMBER_F64, 3, point, 0, &l->nodes, (void **)&l->v_before, NULL};
    out[n++] = (tl_state_part){"nodes/step_before",      TL_NUMBER_F64, 2, 2 * sizeof(double), 0, &l->steps_kept,
                               (void **)&l->step_before, NULL};
    out[n++] =
        (tl_state_part){"nodes/led", TL_NUMBER_F64, 14, 14 * sizeof(double), 0, &l->handles, (void **)&l->led, NULL};
    out[n++] = (tl_state_part){"nodes/cable_length", TL_NUMBER_F64,       1,   sizeof(double), 0,
                               &l->cables,           (void **)&l->length, NULL};
    out[n++] =
        (tl_state_part){"nodes/pressure", TL_NUMBER_F64, 1, sizeof(double), 0, &l->bodies, (void **)&l->pressure, NULL};
    out[n++] = (tl_state_part){"nodes/dual", TL_NUMBER_F64, 8, row, 0, &l->dual_rows, (void **)&l->u, NULL};
    out[n++] = (tl_state_part){"nodes/contact_ids",  TL_NUMBER_I32,   6, sizeof(tl_lg_memory), 0, &l->contacts,
                               (void **)&l->contact, &l->contact_room};
    out[n++] = (tl_state_part){
        "nodes/contact_points", TL_NUMBER_F64,   (int)((sizeof(tl_lg_memory) - doubles) / sizeof(double)),
        sizeof(tl_lg_memory),   doubles,         &l->contacts,
        (void **)&l->contact,   &l->contact_room};
    const size_t vectors = offsetof(tl_lg_hold, at);
    out[n++] =
        (tl_state_part){"nodes/hold_ids", TL_NUMBER_I32, 2, sizeof(tl_lg_hold), 0, &l->holds, (void **)&l->hold, NULL};
    out[n++] =
        (tl_state_part){"nodes/hold_forces", TL_NUMBER_F64, (int)((sizeof(tl_lg_hold) - vectors) / sizeof(double)),
                        sizeof(tl_lg_hold),  vectors,       &l->holds,
                        (void **)&l->hold,   NULL};
    return n;
}

static talus_status check_section(const void *section, const tl_scene *scene, int32_t bodies, const char *path,
                                  talus_error *err)
{
    (void)scene;
    const tl_lg_state *g = section;
    for (int64_t i = 0; i < g->contacts; i++) {
        const tl_lg_memory *c = &g->contact[i];
        bool row = c->obstacle == TL_LG_MEMORY_ROW;
        if (c->point < 0 || (!row && (c->body < 0 || c->body >= bodies || c->other < 0 || c->other >= bodies)))
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "%s: elastic contact %" PRId64 " of point %d is between bodies %d and %d of %d", path, i,
                           (int)c->point, (int)c->body, (int)c->other, (int)bodies);
    }
    return TALUS_OK;
}

const tl_state_kind tl_lg_state_kind = {"nodes", sizeof(tl_lg_state), parts, free_section, check_section, NULL};
