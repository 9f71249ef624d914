#include "model/lg/detect.h"

#include <math.h>
#include <string.h>

#define SLACK 0.25       /* of the mean edge: what a node may be pushed beyond its own motion. Chosen */
#define PLANE_TRUST 1e-5 /* of the mean edge: overlaps at the start that are rounding and what solves leave */
#define AGAIN_NEAR 0.4   /* of the slack. Chosen: a tenth of the edge */
#define AGAIN_DEEP 0.04 /* of the slack: overlaps of elastic bodies that a second look minds, a hundredth of the edge */
#define AGAIN_APART 0.02 /* of a mesh edge: places that are one */
#define AGAIN_ALIKE 0.98 /* cosine between their normals */

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

bool tl_lg_is_jointed(const tl_lg_view *v, int body, int32_t other)
{
    return v->joints && v->joints->frames && tl_joints_part(v->joints, v->lg->body[body].body, other);
}

double tl_lg_half(const tl_lg *lg, int body)
{
    return lg->body[body].kind == TL_LG_CLOTH ? 0.5 * lg->body[body].thickness : 0;
}

double tl_lg_pair_friction(const tl_lg_view *v, int elastic, int32_t other, double *restitution)
{
    int32_t own = v->lg->body[elastic].body;
    double friction[2] = {own >= 0 ? v->friction[own] : 0, v->friction[other]}, mu;
    tl_scene_pair(v->scene, own, other < v->rigid->scene_count ? other : -1, friction, &mu, restitution);
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

/* Boxes of elastic bodies and shapes over the step, pair by pair. */
typedef struct pairs {
    tl_box3 *box; /* [elastic bodies] with margins */
    tl_lg_scratch scratch;
    int32_t obstacle; /* of now */
    int body;
    tl_box3 swept;
} pairs;

static talus_status pairs_begin(pairs *p, const tl_lg_view *v, tl_arena *a, talus_error *err)
{
    *p = (pairs){.box = TL_TAKE(a, tl_box3, v->lg->bodies), .obstacle = -1};
    if (!p->box) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d elastic bodies", v->lg->bodies);
    for (int b = 0; b < v->lg->bodies; b++)
        p->box[b] = tl_lg_grown(tl_lg_swept(v, b), tl_lg_slack(v, b) + tl_lg_half(v->lg, b));
    p->body = v->lg->bodies;
    return tl_lg_scratch_take(&p->scratch, v->lg, a, err);
}

/* False: that was the last one. */
static bool pairs_next(pairs *p, const tl_lg_view *v)
{
    for (;;) {
        for (p->body++; p->body < v->lg->bodies; p->body++)
            if (!tl_lg_apart(&p->box[p->body], &p->swept) && !tl_lg_is_jointed(v, p->body, p->obstacle)) return true;
        do p->obstacle++;
        while (p->obstacle < v->rigid->count && is_elastic(v->lg, p->obstacle));
        if (p->obstacle >= v->rigid->count) return false;
        const tl_collider *shape = v->rigid->body[p->obstacle].collider;
        tl_box3 first = tl_collider_bounds(shape, &v->before[p->obstacle]),
                last = tl_collider_bounds(shape, &v->after[p->obstacle]);
        p->swept = (tl_box3){tl_vec3_min(first.lo, last.lo), tl_vec3_max(first.hi, last.hi)};
        p->body = -1;
    }
}

static talus_status detect_shapes(const tl_lg_view *v, pairs *p, tl_lg_found *f, talus_error *err)
{
    while (pairs_next(p, v)) TL_TRY(tl_lg_detect_shape(v, &p->scratch, p->body, p->obstacle, &p->swept, f, err));
    return TALUS_OK;
}

talus_status tl_lg_detect(const tl_lg_view *v, tl_arena *a, tl_lg_contacts *out, talus_error *err)
{
    tl_lg_found f = {.a = a};
    pairs p;
    double margin = 0;
    TL_TRY(pairs_begin(&p, v, a, err));
    for (int b = 0; b < v->lg->bodies; b++) margin = fmax(margin, tl_lg_slack(v, b));
    TL_TRY(detect_shapes(v, &p, &f, err));
    int32_t shapes = f.count;
    TL_TRY(tl_lg_detect_skins(v, p.box, &f, err));
    *out = (tl_lg_contacts){f.count, f.contact, shapes, margin};
    return TALUS_OK;
}

/* A point that starts outside of the shape but behind its plane gets the plane that separates them at the start. */
static void mend_plane(const tl_lg_view *v, tl_lg_contact *c)
{
    const double *from = v->start ? v->start : v->from;
    tl_vec3 x = {0, 0, 0}, n;
    for (int i = 0; i < 4 && c->a.node[i] >= 0; i++)
        x = tl_vec3_add_scaled(x, c->a.weight[i], tl_lg_at(from, c->a.node[i]));
    double moved = v->h * tl_vec3_dot(c->normal, c->drag), gap = tl_vec3_dot(c->normal, x) - c->offset + moved;
    if (!(gap < -PLANE_TRUST * v->lg->skin.body[v->lg->owner[c->a.node[0]]].mean)) return;
    const tl_pose *pose = &v->before[c->body_b];
    double d = tl_collider_distance(v->rigid->body[c->body_b].collider, tl_pose_to_local(pose, x), &n);
    double half = tl_lg_half(v->lg, v->lg->owner[c->a.node[0]]);
    if (!(d - half > 0.5 * gap)) return; /* it does overlap */
    c->normal = tl_quat_rotate(pose->rotation, n);
    c->at = tl_vec3_add_scaled(x, -d, c->normal);
    c->offset = tl_vec3_dot(c->normal, c->at) + half + v->h * tl_vec3_dot(c->normal, c->drag);
}

void tl_lg_mend_planes(const tl_lg_view *v, tl_lg_contacts *contacts)
{
    for (int32_t k = 0; k < contacts->shapes; k++) mend_plane(v, &contacts->contact[k]);
}

/* In which order contacts with shapes are found. */
static int order(const tl_lg *lg, const tl_lg_contact *a, const tl_lg_contact *b)
{
    if (a->obstacle != b->obstacle) return a->obstacle < b->obstacle ? -1 : 1;
    int32_t p = lg->owner[a->a.node[0]], q = lg->owner[b->a.node[0]];
    if (p != q) return p < q ? -1 : 1;
    return a->point < b->point ? -1 : a->point > b->point;
}

/* Near enough for the rounds to come. Free bodies move as well, and how far is not known here. */
static bool may_touch(const tl_lg_view *v, const tl_lg_contact *c)
{
    if (c->rigid >= 0) return true;
    tl_vec3 x = {0, 0, 0};
    for (int k = 0; k < 4 && c->a.node[k] >= 0; k++)
        x = tl_vec3_add_scaled(x, c->a.weight[k], tl_lg_at(v->to, c->a.node[k]));
    return tl_vec3_dot(c->normal, x) - c->offset < AGAIN_NEAR * tl_lg_slack(v, v->lg->owner[c->a.node[0]]);
}

/* Nodes keep the plane that they have. */
static bool same_place(const tl_lg_contact *a, const tl_lg_contact *b)
{
    double apart = 0;
    for (int k = 0; k < 4; k++) apart = fmax(apart, fabs(a->a.weight[k] - b->a.weight[k]));
    return b->a.node[1] < 0 || (apart < AGAIN_APART && tl_vec3_dot(a->normal, b->normal) > AGAIN_ALIKE);
}

/* Elastic surfaces against each other where they ended up: how far they are apart there. */
static double gap_at_end(const tl_lg_view *v, const tl_lg_contact *c)
{
    double gap = -c->offset;
    for (int k = 0; k < 4 && c->a.node[k] >= 0; k++)
        gap += c->a.weight[k] * tl_vec3_dot(c->normal, tl_lg_at(v->to, c->a.node[k]));
    for (int k = 0; k < 4 && c->b.node[k] >= 0; k++)
        gap -= c->b.weight[k] * tl_vec3_dot(c->normal, tl_lg_at(v->to, c->b.node[k]));
    return gap;
}

/* Cloth has no inside: what has passed through it is seen from the other side there, and has to go back to the one
 * where it began. */
static bool has_passed(const tl_lg_view *v, const tl_lg_contact *c)
{
    const tl_lg *lg = v->lg;
    if (lg->body[lg->owner[c->a.node[0]]].kind != TL_LG_CLOTH && lg->body[lg->owner[c->b.node[0]]].kind != TL_LG_CLOTH)
        return false;
    tl_lg_view start = *v;
    start.to = v->from;
    return gap_at_end(&start, c) + c->offset < 0;
}

/* Surfaces that meet on the way and are not among the contacts [first, count) of `all`. */
static talus_status add_impacts(const tl_lg_view *v, tl_arena *a, tl_lg_found *all, int32_t first, bool *changed,
                                talus_error *err)
{
    tl_lg_contacts met;
    const int32_t known = all->count;
    TL_TRY(tl_lg_impacts(v, true, a, &met, err));
    for (int32_t k = 0; k < met.count; k++) {
        const tl_lg_contact *c = &met.contact[k];
        bool is = false;
        for (int32_t i = first; i < known && !is; i++) {
            const tl_lg_contact *o = &all->contact[i];
            is = o->point == c->point && o->obstacle == c->obstacle &&
                 tl_vec3_dot(o->normal, c->normal) > AGAIN_ALIKE &&
                 gap_at_end(v, o) > -AGAIN_DEEP * tl_lg_slack(v, v->lg->owner[c->a.node[0]]);
        }
        if (is) continue;
        *changed = true;
        TL_TRY(tl_lg_found_add(all, c, err));
    }
    return TALUS_OK;
}

/* What overlaps there and is not among the contacts [first, count) that the step has; with something new, also what
 * nearly does. Appends to `all`. */
static talus_status skins_again(const tl_lg_view *v, const tl_box3 *box, tl_arena *a, tl_lg_found *all, int32_t first,
                                bool *changed, talus_error *err)
{
    tl_lg_found now = {.a = a};
    tl_lg_view end = *v;
    end.start = v->from;
    end.from = v->to;
    TL_TRY(tl_lg_detect_skins(&end, box, &now, err));
    bool any = false;
    if (v->scene->lg.guard) TL_TRY(add_impacts(v, a, all, first, &any, err));
    *changed |= any;
    const int32_t known = all->count;
    for (int near = 0; near < 2; near++) {
        for (int32_t k = 0; k < now.count; k++) {
            tl_lg_contact c = now.contact[k];
            double slack = tl_lg_slack(v, v->lg->owner[c.a.node[0]]), gap = gap_at_end(v, &c);
            bool is = false;
            if (has_passed(v, &c)) continue;
            if (near ? gap < -AGAIN_DEEP * slack || gap > AGAIN_NEAR * slack : gap >= -AGAIN_DEEP * slack) continue;
            for (int32_t i = first; i < known && !is; i++) {
                const tl_lg_contact *o = &all->contact[i];
                if (o->point != c.point || o->obstacle != c.obstacle) continue;
                is = tl_vec3_dot(o->normal, c.normal) > AGAIN_ALIKE;
                c.feature = o->feature + 1;
            }
            if (is) continue;
            any = *changed = true;
            TL_TRY(tl_lg_found_add(all, &c, err));
        }
        if (!any) break;
    }
    if (any) return TALUS_OK;
    /* nothing that the rules of contact know, and yet bodies may be inside of each other: below a corner between two
     * valleys, or where many edges meet */
    double slack = INFINITY;
    for (int b = 0; b < v->lg->bodies; b++) slack = fmin(slack, tl_lg_slack(v, b));
    now.count = 0;
    TL_TRY(tl_lg_pierced(&end, AGAIN_DEEP * slack, &now, err));
    for (int32_t k = 0; k < now.count; k++) {
        bool is = false;
        for (int32_t i = first; i < known && !is; i++)
            is = all->contact[i].point == now.contact[k].point && all->contact[i].obstacle == now.contact[k].obstacle &&
                 tl_vec3_dot(all->contact[i].normal, now.contact[k].normal) > AGAIN_ALIKE;
        if (is) continue;
        *changed = true;
        TL_TRY(tl_lg_found_add(all, &now.contact[k], err));
    }
    return TALUS_OK;
}

talus_status tl_lg_detect_again(const tl_lg_view *v, const tl_lg_contacts *have, tl_arena *a, tl_lg_contacts *more,
                                int32_t **origin, bool *changed, talus_error *err)
{
    tl_lg_found now = {.a = a};
    pairs p;
    TL_TRY(pairs_begin(&p, v, a, err));
    TL_TRY(detect_shapes(v, &p, &now, err));
    int32_t max = have->count + now.count, count = 0, old = 0;
    tl_lg_contact *all = TL_TAKE(a, tl_lg_contact, max);
    int32_t *from = *origin = TL_TAKE(a, int32_t, max);
    if (!all || !from) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d elastic contacts", max);
    *changed = false;
    for (int32_t k = 0; k < now.count; k++) {
        const tl_lg_contact *c = &now.contact[k];
        bool known = false;
        int32_t feature = 0;
        for (int way; old < have->shapes && (way = order(v->lg, &have->contact[old], c)) <= 0; old++) {
            if (way == 0) known |= same_place(&have->contact[old], c), feature = have->contact[old].feature + 1;
            from[count] = old;
            all[count++] = have->contact[old];
        }
        if (known || !may_touch(v, c)) continue;
        *changed = true;
        from[count] = -1;
        all[count] = *c;
        all[count++].feature = feature;
    }
    for (; old < have->shapes; old++) from[count] = old, all[count++] = have->contact[old];
    *more = (tl_lg_contacts){count + have->count - have->shapes, all, count, have->margin};
    for (; old < have->count; old++) from[count] = old, all[count++] = have->contact[old];
    if (!v->solids_again) return TALUS_OK;
    tl_lg_found list = {.a = a, .count = count, .room = max, .contact = all};
    TL_TRY(skins_again(v, p.box, a, &list, more->shapes, changed, err));
    int32_t *of = TL_TAKE(a, int32_t, list.count + 1);
    if (!of) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d elastic contacts", list.count);
    for (int32_t k = 0; k < list.count; k++) of[k] = k < count ? from[k] : -1;
    *origin = of;
    more->count = list.count;
    more->contact = list.contact;
    return TALUS_OK;
}

talus_status tl_lg_depth(const tl_lg_view *v, tl_arena *a, double *depth, talus_error *err)
{
    pairs p;
    TL_TRY(pairs_begin(&p, v, a, err));
    *depth = 0;
    while (pairs_next(&p, v)) *depth = fmax(*depth, tl_lg_depth_in_shape(v, &p.scratch, p.body, p.obstacle, &p.swept));
    int64_t count;
    double through;
    TL_TRY(tl_lg_crossings(v, a, &count, &through, err));
    *depth = fmax(*depth, through);
    return TALUS_OK;
}

talus_status tl_lg_detect_rigid(const tl_lg_view *v, const tl_rigid_state *past, tl_arena *a, tl_rigid_view *view,
                                tl_rigid_contacts *out, talus_error *err)
{
    bool *absent = TL_TAKE_ZERO(a, bool, v->rigid->count);
    if (!absent) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d bodies", v->rigid->count);
    for (int b = 0; b < v->lg->bodies; b++)
        if (v->lg->body[b].body >= 0) absent[v->lg->body[b].body] = true;
    *view = (tl_rigid_view){v->rigid, v->scene, v->body, v->before, v->friction, absent, 0, v->joints};
    return tl_rigid_detect(view, v->h, past, a, out, err);
}
