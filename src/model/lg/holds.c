#include "model/lg/holds.h"

#include "base/alloc.h"

talus_status tl_lg_holds_begin(tl_lg_state *out, const tl_lg *lg, const tl_scene *s, talus_error *err)
{
    const int32_t handle = lg->bodies, cable = handle + s->handle_count, join = cable + s->cable_count;
    out->holds = tl_lg_hold_count(lg, s);
    out->hold = TL_NEW_ZERO(tl_lg_hold, out->holds + 1);
    if (!out->hold) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for what holds elastic bodies");
    for (int32_t i = 0; i < out->holds; i++) {
        tl_lg_hold *h = &out->hold[i];
        h->kind = i < handle ? TL_LG_ANCHORED : i < cable ? TL_LG_LED : i < join ? TL_LG_PULLED : TL_LG_JOINED;
        h->number = i < handle ? lg->body[i].body : i < cable ? i - handle : i < join ? i - cable : i - join;
    }
    return TALUS_OK;
}

void tl_lg_holds_open(tl_lg_state *s, int32_t *nodes)
{
    for (int64_t i = 0; i < s->holds; i++) {
        s->hold[i] = (tl_lg_hold){.kind = s->hold[i].kind, .number = s->hold[i].number};
        nodes[i] = 0;
    }
}

void tl_lg_holds_close(tl_lg_state *s, const int32_t *nodes)
{
    for (int64_t i = 0; i < s->holds; i++) {
        tl_lg_hold *h = &s->hold[i];
        if (!nodes[i]) continue;
        h->at = tl_vec3_scale(1.0 / nodes[i], h->at);
        h->torque = tl_vec3_sub(h->torque, tl_vec3_cross(h->at, h->force));
    }
}
