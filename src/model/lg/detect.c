#include "model/lg/detect.h"

#include <math.h>
#include <string.h>

#define SLACK 0.25 /* of the mean edge: what a node may be pushed beyond its own motion. Chosen */

talus_status tl_lg_found_add(tl_lg_found *f, const tl_lg_contact *c, talus_error *err)
{
    if (f->count == f->room) {
        int64_t room = 2 * (int64_t)f->room + 256;
        tl_lg_contact *more = room < INT32_MAX ? TL_TAKE(f->a, tl_lg_contact, room) : NULL;
        if (!more) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld elastic contacts", (long long)room);
        if (f->count > 0) memcpy(more, f->contact, sizeof *more * (size_t)f->count);
        f->contact = more;
        f->room = (int32_t)room;
    }
    f->contact[f->count++] = *c;
    return TALUS_OK;
}

double tl_lg_slack(const tl_lg_view *v, int body) { return SLACK * v->lg->skin.body[body].mean; }

double tl_lg_half(const tl_lg *lg, int body)
{
    return lg->body[body].kind == TL_LG_CLOTH ? 0.5 * lg->body[body].thickness : 0;
}

double tl_lg_pair_friction(const tl_lg_view *v, int elastic, int32_t other)
{
    int32_t own = v->lg->body[elastic].body;
    double friction[2] = {own >= 0 ? v->friction[own] : 0, v->friction[other]}, mu, restitution;
    tl_scene_pair(v->scene, own, other < v->rigid->scene_count ? other : -1, friction, &mu, &restitution);
    return mu;
}

tl_box3 tl_lg_swept(const tl_lg_view *v, int body)
{
    const tl_lg_skin *s = &v->lg->skin;
    tl_box3 box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t k = s->body[body].node; k < s->body[body].node + s->body[body].nodes; k++) {
        tl_vec3 a = tl_lg_at(v->from, s->node[k]), b = tl_lg_at(v->to, s->node[k]);
        box.lo = tl_vec3_min(box.lo, tl_vec3_min(a, b));
        box.hi = tl_vec3_max(box.hi, tl_vec3_max(a, b));
    }
    return box;
}

static bool is_elastic(const tl_lg *lg, int32_t obstacle)
{
    for (int b = 0; b < lg->bodies; b++)
        if (lg->body[b].body == obstacle) return true;
    return false;
}

talus_status tl_lg_detect(const tl_lg_view *v, tl_arena *a, tl_lg_contacts *out, talus_error *err)
{
    tl_lg_found f = {.a = a};
    tl_lg_scratch scratch;
    double margin = 0;
    tl_box3 *box = TL_TAKE(a, tl_box3, v->lg->bodies);
    if (!box) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d elastic bodies", v->lg->bodies);
    TL_TRY(tl_lg_scratch_take(&scratch, v->lg, a, err));
    for (int b = 0; b < v->lg->bodies; b++) {
        margin = fmax(margin, tl_lg_slack(v, b));
        box[b] = tl_lg_grown(tl_lg_swept(v, b), tl_lg_slack(v, b) + tl_lg_half(v->lg, b));
    }
    for (int32_t o = 0; o < v->rigid->count; o++) {
        if (is_elastic(v->lg, o)) continue;
        const tl_collider *shape = v->rigid->body[o].collider;
        tl_box3 first = tl_collider_bounds(shape, &v->before[o]), last = tl_collider_bounds(shape, &v->after[o]);
        tl_box3 swept = {tl_vec3_min(first.lo, last.lo), tl_vec3_max(first.hi, last.hi)};
        for (int b = 0; b < v->lg->bodies; b++)
            if (!tl_lg_apart(&box[b], &swept)) TL_TRY(tl_lg_detect_shape(v, &scratch, b, o, &swept, &f, err));
    }
    TL_TRY(tl_lg_detect_skins(v, box, &f, err));
    *out = (tl_lg_contacts){f.count, f.contact, margin};
    return TALUS_OK;
}

talus_status tl_lg_detect_rigid(const tl_lg_view *v, const tl_rigid_state *past, tl_arena *a, tl_rigid_contacts *out,
                                talus_error *err)
{
    bool *absent = TL_TAKE_ZERO(a, bool, v->rigid->count);
    if (!absent) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d bodies", v->rigid->count);
    for (int b = 0; b < v->lg->bodies; b++)
        if (v->lg->body[b].body >= 0) absent[v->lg->body[b].body] = true;
    tl_rigid_view view = {v->rigid, v->scene, v->body, v->before, v->friction, absent};
    return tl_rigid_detect(&view, v->h, past, a, out, err);
}
