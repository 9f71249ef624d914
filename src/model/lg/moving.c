#include "model/lg/moving.h"

#include <string.h>

#include "base/alloc.h"
#include "model/lg/whole.h"

/* ---- numbers ---- */

/* The body of `to` that goes on from body b of `was`; -1: it is gone. */
static int32_t body_after(const tl_lg_side *to, const tl_lg_side *was, int32_t b, const int32_t *became)
{
    const int32_t body = became[was->lg->body[b].body];
    for (int32_t i = 0; body >= 0 && i < to->lg->bodies; i++)
        if (to->lg->body[i].body == body) return i;
    return -1;
}

/* Ranges that bodies have in lists: `at` of `was` becomes a place of `to`. */
typedef struct range {
    int32_t first, count, then;
} range;

static int32_t shifted(const range *r, int32_t bodies, int32_t at)
{
    for (int32_t b = 0; b < bodies; b++)
        if (at >= r[b].first && at < r[b].first + r[b].count) return r[b].then < 0 ? -1 : r[b].then + at - r[b].first;
    return -1;
}

/* What a contact may be at, by body of `was`. */
typedef struct numbers {
    int32_t bodies;
    range *node, *edge, *triangle; /* [bodies] */
} numbers;

static talus_status find_numbers(numbers *n, const tl_lg_side *to, const tl_lg_side *was, const int32_t *became,
                                 talus_error *err)
{
    n->bodies = was->lg->bodies;
    n->node = TL_NEW(range, 3 * (int64_t)n->bodies + 1);
    if (!n->node) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for other elastic bodies");
    n->edge = n->node + n->bodies;
    n->triangle = n->edge + n->bodies;
    for (int32_t b = 0; b < n->bodies; b++) {
        const int32_t k = body_after(to, was, b, became);
        const tl_lg_body *x = &was->lg->body[b], *y = k < 0 ? NULL : &to->lg->body[k];
        const tl_lg_skin_body *s = &was->lg->skin.body[b], *t = k < 0 ? NULL : &to->lg->skin.body[k];
        n->node[b] = (range){x->node, x->nodes, y ? y->node : -1};
        n->edge[b] = (range){s->edge, s->edges, t ? t->edge : -1};
        n->triangle[b] = (range){x->triangle, x->triangles, y ? y->triangle : -1};
        TL_ASSERT(!y || (y->nodes == x->nodes && t->edges == s->edges && y->triangles == x->triangles));
    }
    return TALUS_OK;
}

/* ---- contacts ---- */

/* As detection numbers them: nodes, edges, triangles. */
static int32_t point_after(const numbers *n, const tl_lg *to, const tl_lg *was, int32_t point)
{
    const int32_t edge = point - was->nodes, triangle = edge - was->skin.edges;
    int32_t next = -1;
    if (edge < 0) return shifted(n->node, n->bodies, point);
    if (triangle < 0)
        next = shifted(n->edge, n->bodies, edge);
    else
        next = shifted(n->triangle, n->bodies, triangle);
    return next < 0 ? -1 : next + to->nodes + (triangle < 0 ? 0 : to->skin.edges);
}

/* Bodies and walls, triangles, edges. */
static int32_t obstacle_after(const numbers *n, const tl_lg_side *to, const tl_lg_side *was, const int32_t *became,
                              int32_t obstacle)
{
    const int32_t triangle = obstacle - was->rigid->count, edge = triangle - was->lg->surface_triangles;
    if (triangle < 0) return became[obstacle];
    const int32_t next = edge < 0 ? shifted(n->triangle, n->bodies, triangle) : shifted(n->edge, n->bodies, edge);
    return next < 0 ? -1 : next + to->rigid->count + (edge < 0 ? 0 : to->lg->surface_triangles);
}

static void move_contacts(const numbers *n, const tl_lg_side *to, const tl_lg_side *was, const int32_t *became)
{
    tl_lg_state *s = to->state;
    s->contacts = 0;
    for (int64_t i = 0; i < was->state->contacts; i++) {
        tl_lg_memory c = was->state->contact[i];
        if (c.obstacle != TL_LG_MEMORY_ROW) { /* rows of cables and joins keep their numbers: what they hold stays */
            c.point = point_after(n, to->lg, was->lg, c.point);
            c.obstacle = obstacle_after(n, to, was, became, c.obstacle);
            c.body = became[c.body];
            c.other = became[c.other];
            if (c.point < 0 || c.obstacle < 0 || c.body < 0 || c.other < 0) continue;
        }
        s->contact[s->contacts++] = c;
    }
    tl_lg_memory_sort(s->contact, s->contacts);
}

/* ---- the whole ---- */

static void move_nodes(tl_lg_state *to, const tl_lg_state *was, const range *r)
{
    double *const out[] = {to->q, to->v, to->push, to->q_before, to->v_before};
    const double *const in[] = {was->q, was->v, was->push, was->q_before, was->v_before};
    for (size_t k = 0; k < sizeof out / sizeof *out; k++)
        memcpy(out[k] + 3 * (int64_t)r->then, in[k] + 3 * (int64_t)r->first, 3 * sizeof(double) * (size_t)r->count);
}

static void move_body(const tl_lg_side *to, int32_t k, const tl_lg_side *was, int32_t b)
{
    const tl_lg_body *y = &to->lg->body[k], *x = &was->lg->body[b];
    tl_lg_state *s = to->state;
    const int64_t rows = (int64_t)x->batches * (x->kind == TL_LG_CLOTH ? 6 : 9);
    if (x->dual_row >= 0 && y->dual_row >= 0)
        memcpy(s->u + TL_LG_LANES * y->dual_row, was->state->u + TL_LG_LANES * x->dual_row,
               TL_LG_LANES * sizeof *s->u * (size_t)rows);
    s->pressure[k] = was->state->pressure[b];
    memcpy(s->led + 14 * (int64_t)k, was->state->led + 14 * (int64_t)b, 14 * sizeof *s->led);
    const int32_t number = s->hold[k].number; /* of the scene as it is now */
    s->hold[k] = was->state->hold[b];
    s->hold[k].number = number;
}

talus_status tl_lg_state_move(const tl_lg_side *to, const tl_lg_side *was, const int32_t *became, talus_error *err)
{
    tl_lg_state *s = to->state;
    const tl_lg_state *old = was->state;
    numbers n = {0};
    TL_TRY(find_numbers(&n, to, was, became, err));
    talus_status status = tl_lg_contacts_reserve(s, old->contacts, err);
    if (status != TALUS_OK) {
        tl_free(n.node);
        return status;
    }
    for (int32_t b = 0; b < n.bodies; b++) {
        const int32_t k = body_after(to, was, b, became);
        if (k < 0) continue;
        move_nodes(s, old, &n.node[b]);
        move_body(to, k, was, b);
    }
    move_contacts(&n, to, was, became);
    memcpy(s->step_before, old->step_before, 2 * sizeof *s->step_before);
    /* the scene's own handles, cables and joins: their numbers stay */
    const int64_t handles = s->handles - s->bodies, after = s->holds - s->bodies;
    memcpy(s->led + 14 * s->bodies, old->led + 14 * old->bodies, 14 * sizeof *s->led * (size_t)handles);
    memcpy(s->length, old->length, sizeof *s->length * (size_t)s->cables);
    memcpy(s->hold + s->bodies, old->hold + old->bodies, sizeof *s->hold * (size_t)after);
    tl_free(n.node);
    return TALUS_OK;
}

void tl_lg_lead_body(tl_lg_state *s, int b, const tl_pose *at, const tl_pose *to)
{
    const tl_pose *const both[2] = {at, to};
    const double *was = s->led + 14 * (int64_t)b;
    const bool led = was[3] != 0 || was[4] != 0 || was[5] != 0 || was[6] != 0;
    for (int k = led; k < 2; k++) {
        const tl_pose *p = both[k];
        const double x[7] = {p->at.x, p->at.y, p->at.z, p->rotation.w, p->rotation.x, p->rotation.y, p->rotation.z};
        memcpy(s->led + 14 * (int64_t)b + 7 * (int64_t)k, x, sizeof x);
    }
}

void tl_lg_arrive(const tl_lg *lg, tl_lg_state *s, int b, const tl_lg_arrival *a, tl_motion *m)
{
    const tl_lg_body *body = &lg->body[b];
    const double h = s->step_before[0];
    tl_vec3 centre = {0, 0, 0};
    for (int64_t i = body->node; i < body->node + body->nodes; i++) {
        const tl_vec3 at = tl_pose_apply(&a->to, tl_pose_to_local(&a->from, tl_vec3_load(lg->rest + 3 * i)));
        tl_vec3_store(at, s->q + 3 * i);
        centre = tl_vec3_add_scaled(centre, lg->mass[i] / (body->mass > 0 ? body->mass : 1), at);
    }
    const tl_quat back = tl_quat_exp(tl_vec3_scale(-h, a->w));
    for (int64_t i = body->node; i < body->node + body->nodes; i++) {
        const tl_vec3 r = tl_vec3_sub(tl_vec3_load(s->q + 3 * i), centre), was = tl_quat_rotate(back, r);
        const tl_vec3 q = tl_vec3_add(tl_vec3_add_scaled(centre, -h, a->v), was);
        tl_vec3_store(tl_vec3_add(a->v, tl_vec3_cross(a->w, r)), s->v + 3 * i);
        tl_vec3_store(tl_vec3_add_scaled(q, 0.5 * h * h, a->gravity), s->q_before + 3 * i);
        tl_vec3_store(tl_vec3_add_scaled(tl_vec3_add(a->v, tl_vec3_cross(a->w, was)), -h, a->gravity),
                      s->v_before + 3 * i);
    }
    if (a->anchored) tl_lg_lead_body(s, b, &a->to, &a->to);
    m->x = centre;
    m->q = a->to.rotation;
    m->v = a->v;
    m->w = a->w;
    m->goal = a->to;
}
