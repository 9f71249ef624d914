/* Cables and joins of a scene as rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "model/lg/bilateral.h"
#include "model/lg/holds.h"
#include "model/lg/place.h"

#define OUTSIDE 2.0   /* sizes of an element: a cable's point farther than this from its body is a mistake */
#define SHORTEST 1e-9 /* m: a segment without a direction pulls nothing */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for cables and joins");
}

static int body_named(const tl_lg *lg, const tl_scene *s, const char *name)
{
    int b = 0;
    while (b < lg->bodies && strcmp(s->bodies[lg->body[b].body].name, name)) b++;
    return b < lg->bodies ? b : -1;
}

static talus_status refuse(tl_where where, const char *list, int i, const char *why, talus_error *err)
{
    if (!where.file) return TL_FAIL(err, TALUS_BAD_INPUT, "%s[%d]: %s", list, i + 1, why);
    return TL_FAIL(err, TALUS_BAD_INPUT, "%.200s:%d: %s[%d]: %s", where.file, where.line, list, i + 1, why);
}

/* ---- at the start ---- */

static double path_length(const tl_lg_point *p, int count, const double *q)
{
    double length = 0;
    for (int k = 1; k < count; k++)
        length += tl_vec3_norm(tl_vec3_sub(tl_lg_point_at(&p[k], q), tl_lg_point_at(&p[k - 1], q)));
    return length;
}

static talus_status lay_cable(const tl_lg *lg, const tl_scene *s, int i, tl_lg_cable *c, talus_error *err)
{
    const tl_cable *ask = &s->cables[i];
    tl_lg_finder *finder;
    int body = body_named(lg, s, ask->body);
    if (body < 0) return refuse(ask->where, "cables", i, "its body is not there", err);
    c->points = ask->path.count;
    c->point = TL_NEW(tl_lg_point, c->points);
    c->node = TL_NEW(int32_t, 4 * c->points);
    if (!c->point || !c->node) return no_memory(err);
    TL_TRY(tl_lg_finder_create(&finder, lg, body, err));
    double worst = 0;
    for (int k = 0; k < c->points; k++) worst = fmax(worst, tl_lg_find(finder, ask->path.at[k], &c->point[k]));
    tl_lg_finder_free(finder);
    if (worst > OUTSIDE) return refuse(ask->where, "cables", i, "a point lies outside of its body", err);
    for (int k = 0; k < c->points; k++)
        for (int j = 0; j < 4 && c->point[k].node[j] >= 0; j++) {
            int32_t at = 0;
            while (at < c->nodes && c->node[at] != c->point[k].node[j]) at++;
            if (at == c->nodes) c->node[c->nodes++] = c->point[k].node[j];
        }
    c->length = path_length(c->point, c->points, lg->rest);
    return TALUS_OK;
}

/* Where the shape of a rigid body of the scene is at the start. */
static talus_status rigid_pose(const tl_scene *s, int body, tl_pose *out, talus_error *err)
{
    const tl_body *b = &s->bodies[body];
    double x[7];
    *out = (tl_pose){b->at, tl_quat_normalize(b->rotation)};
    if (b->kind != TL_BODY_KINEMATIC || b->motion == TL_NO_FUNCTION) return TALUS_OK;
    TL_TRY(tl_scene_evaluate(s, b->motion, 0, x, 7, err));
    *out = (tl_pose){{x[0], x[1], x[2]}, tl_quat_normalize((tl_quat){x[3], x[4], x[5], x[6]})};
    return TALUS_OK;
}

static int scene_body(const tl_scene *s, const char *name)
{
    int b = 0;
    while (b < s->body_count && strcmp(s->bodies[b].name, name)) b++;
    return b < s->body_count ? b : -1;
}

static talus_status lay_join(const tl_lg *lg, const tl_scene *s, int i, tl_lg_holds *h, int32_t *room, talus_error *err)
{
    const tl_join *ask = &s->joins[i];
    int b = body_named(lg, s, ask->body), other = *ask->to ? body_named(lg, s, ask->to) : -1;
    int rigid = *ask->to && other < 0 ? scene_body(s, ask->to) : -1;
    if (b < 0 || (*ask->to && other < 0 && rigid < 0))
        return refuse(ask->where, "joins", i, "a body of it is not there", err);
    const tl_lg_body *body = &lg->body[b];
    tl_pose frame = {ask->at, tl_quat_identity()};
    if (rigid >= 0) TL_TRY(rigid_pose(s, rigid, &frame, err));
    tl_lg_finder *finder = NULL;
    if (other >= 0) TL_TRY(tl_lg_finder_create(&finder, lg, other, err));
    tl_box3 box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t n = body->node; n < body->node + body->nodes; n++) {
        box.lo = tl_vec3_min(box.lo, tl_vec3_load(lg->rest + 3 * (int64_t)n));
        box.hi = tl_vec3_max(box.hi, tl_vec3_load(lg->rest + 3 * (int64_t)n));
    }
    double reach = 1e-9 * tl_vec3_norm(tl_vec3_sub(box.hi, box.lo)); /* nodes on the surface of the shape count */
    int32_t before = h->bonds;
    talus_status status = TALUS_OK;
    for (int32_t n = body->node; n < body->node + body->nodes && status == TALUS_OK; n++) {
        tl_vec3 at = tl_vec3_load(lg->rest + 3 * (int64_t)n);
        if (tl_shape_distance(s->shapes, ask->shape, at) > reach) continue;
        if (h->bonds == *room) {
            *room = 2 * *room + 64;
            tl_lg_bond *larger = tl_realloc(h->bond, sizeof *larger * (size_t)*room);
            if (!larger) {
                status = no_memory(err);
                break;
            }
            h->bond = larger;
        }
        tl_lg_bond *bond = &h->bond[h->bonds++];
        *bond = (tl_lg_bond){.node = n, .join = i, .to = {{-1, -1, -1, -1}, {0}}, .rigid = rigid};
        bond->local = tl_quat_rotate(tl_quat_conjugate(frame.rotation), tl_vec3_sub(at, frame.at));
        if (finder) tl_lg_find(finder, at, &bond->to);
    }
    tl_lg_finder_free(finder);
    if (status == TALUS_OK && h->bonds == before)
        return refuse(ask->where, "joins", i, "no node of the body is inside of the shape", err);
    return status;
}

/* What each node is bound to. */
static talus_status list_bound(const tl_lg *lg, tl_lg_holds *h, talus_error *err)
{
    if (!h->bonds) return TALUS_OK;
    h->rigid_of = TL_NEW(int32_t, lg->nodes);
    h->soft_of = TL_NEW(int32_t, lg->nodes);
    if (!h->rigid_of || !h->soft_of) return no_memory(err);
    for (int32_t i = 0; i < lg->nodes; i++) h->rigid_of[i] = h->soft_of[i] = -1;
    for (int32_t k = 0; k < h->bonds; k++) {
        const tl_lg_bond *b = &h->bond[k];
        if (b->rigid >= 0) h->rigid_of[b->node] = b->rigid;
        if (b->to.node[0] >= 0) h->soft_of[b->node] = lg->owner[b->to.node[0]];
    }
    return TALUS_OK;
}

talus_status tl_lg_holds_create(tl_lg_holds **out, const tl_lg *lg, const tl_scene *s, talus_error *err)
{
    tl_lg_holds *h = TL_NEW_ZERO(tl_lg_holds, 1);
    int32_t room = 0;
    *out = h;
    if (!h) return no_memory(err);
    h->cable = TL_NEW_ZERO(tl_lg_cable, s->cable_count + 1);
    if (!h->cable) return no_memory(err);
    for (; h->cables < s->cable_count; h->cables++) TL_TRY(lay_cable(lg, s, h->cables, &h->cable[h->cables], err));
    for (int i = 0; i < s->join_count; i++) TL_TRY(lay_join(lg, s, i, h, &room, err));
    return list_bound(lg, h, err);
}

void tl_lg_holds_free(tl_lg_holds *h)
{
    if (!h) return;
    for (int i = 0; i <= h->cables && h->cable; i++) { /* one more: the one that failed */
        tl_free(h->cable[i].point);
        tl_free(h->cable[i].node);
    }
    tl_free(h->cable);
    tl_free(h->bond);
    tl_free(h->rigid_of);
    tl_free(h->soft_of);
    tl_free(h);
}

/* ---- rows of a step ---- */

typedef struct pulled {
    const tl_lg_holds *holds;
    double *max; /* [cables] m, at the end of the step */
} pulled;

/* Along -dl/dq, so that lambda is the tension: value - target = most - l, to first order. */
static void aim_cable(const tl_lg_cable *c, double max, const double *q, tl_lg_bilateral *row, tl_lg_term *term)
{
    double length = 0, value = 0;
    for (int32_t n = 0; n < c->nodes; n++) term[n] = (tl_lg_term){c->node[n], {0, 0, 0}};
    for (int k = 1; k < c->points; k++) {
        tl_vec3 d = tl_vec3_sub(tl_lg_point_at(&c->point[k], q), tl_lg_point_at(&c->point[k - 1], q));
        double l = tl_vec3_norm(d);
        length += l;
        if (!(l > SHORTEST)) continue;
        for (int end = 0; end < 2; end++)
            for (int j = 0; j < 4 && c->point[k - end].node[j] >= 0; j++) {
                int32_t at = 0;
                while (c->node[at] != c->point[k - end].node[j]) at++;
                term[at].along =
                    tl_vec3_add_scaled(term[at].along, (end ? 1 : -1) * c->point[k - end].weight[j] / l, d);
            }
    }
    for (int32_t n = 0; n < c->nodes; n++)
        value += tl_vec3_dot(term[n].along, tl_vec3_load(q + 3 * (int64_t)c->node[n]));
    row->target = value - (max - length);
}

static void renew(tl_lg_bilaterals *b, const double *q)
{
    const pulled *p = b->ctx;
    for (int i = 0; i < p->holds->cables; i++)
        aim_cable(&p->holds->cable[i], p->max[i], q, &b->row[i], b->term + b->row[i].first);
}

static talus_status cable_lengths(const tl_lg_holds *h, const tl_scene *s, double t, const double *asked, double *max,
                                  talus_error *err)
{
    for (int i = 0; i < h->cables; i++) {
        TL_TRY(tl_scene_timed(s, &s->cables[i].length, t, &max[i], 1, err));
        if (asked && asked[i] >= 0) max[i] = asked[i];
        if (max[i] < 0) max[i] = h->cable[i].length;
    }
    return TALUS_OK;
}

static talus_status join_poses(const tl_scene *s, double t, tl_pose *pose, talus_error *err)
{
    for (int i = 0; i < s->join_count; i++) {
        double x[7];
        pose[i] = (tl_pose){s->joins[i].at, tl_quat_identity()};
        if (s->joins[i].motion == TL_NO_FUNCTION) continue;
        TL_TRY(tl_scene_evaluate(s, s->joins[i].motion, t, x, 7, err));
        pose[i] = (tl_pose){{x[0], x[1], x[2]}, tl_quat_normalize((tl_quat){x[3], x[4], x[5], x[6]})};
    }
    return TALUS_OK;
}

/* Three rows per bond: node minus the place that it keeps to. */
static void bond_rows(const tl_lg_bond *b, const tl_lg_view *v, const tl_pose *pose, int32_t first, int32_t *id,
                      tl_lg_bilateral *row, tl_lg_term *term)
{
    bool elastic = b->to.node[0] >= 0, free = b->rigid >= 0 && v->rigid->body[b->rigid].kind == TL_BODY_FREE;
    tl_vec3 place = tl_pose_apply(b->rigid < 0 ? &pose[b->join] : &v->after[b->rigid], b->local), lever = {0, 0, 0};
    if (free) { /* around the predicted end of the step, so that pull and counter-pull act at one place */
        const tl_motion *m = &v->body[b->rigid];
        lever = tl_vec3_sub(place, tl_vec3_add_scaled(m->x, v->h, m->v));
        place = tl_vec3_add_scaled(place, -v->h, tl_vec3_add(m->v, tl_vec3_cross(m->w, lever)));
    }
    const double at[3] = {place.x, place.y, place.z};
    for (int axis = 0, used = 0; axis < 3; axis++) {
        tl_vec3 along = {axis == 0, axis == 1, axis == 2};
        row[axis] = (tl_lg_bilateral){.first = first + used,
                                      .count = 1,
                                      .id = (*id)++,
                                      .body = free ? b->rigid : -1,
                                      .axis = along,
                                      .lever = lever,
                                      .target = elastic ? 0 : at[axis],
                                      .compliance = v->scene->joins[b->join].compliance};
        term[used++] = (tl_lg_term){b->node, along};
        for (int k = 0; k < 4 && b->to.node[k] >= 0; k++, row[axis].count++)
            term[used++] = (tl_lg_term){b->to.node[k], tl_vec3_scale(-b->to.weight[k], along)};
    }
}

static int32_t terms_of(const tl_lg_bond *b)
{
    int32_t n = 1;
    for (int k = 0; k < 4 && b->to.node[k] >= 0; k++) n++;
    return 3 * n;
}

talus_status tl_lg_bilateral_rows(const tl_lg_view *v, double t, tl_arena *a, tl_lg_bilaterals *out, talus_error *err)
{
    const tl_lg_holds *h = v->lg->holds;
    const tl_scene *s = v->scene;
    *out = (tl_lg_bilaterals){0};
    if (!h || (h->cables == 0 && h->bonds == 0)) return TALUS_OK;
    int32_t terms = 0;
    for (int i = 0; i < h->cables; i++) terms += h->cable[i].nodes;
    for (int32_t i = 0; i < h->bonds; i++) terms += terms_of(&h->bond[i]);
    pulled *p = TL_TAKE(a, pulled, 1);
    double *max = TL_TAKE(a, double, h->cables + 1);
    tl_pose *pose = TL_TAKE(a, tl_pose, s->join_count + 1);
    out->row = TL_TAKE(a, tl_lg_bilateral, h->cables + 3 * (int64_t)h->bonds + 1);
    out->term = TL_TAKE(a, tl_lg_term, terms + 1);
    if (!p || !max || !pose || !out->row || !out->term) return no_memory(err);
    TL_TRY(cable_lengths(h, s, t, v->length, max, err));
    TL_TRY(join_poses(s, t, pose, err));
    *p = (pulled){h, max};
    int32_t id = 0;
    for (int i = 0; i < h->cables; i++) {
        out->row[out->count++] = (tl_lg_bilateral){.first = out->terms,
                                                   .count = h->cable[i].nodes,
                                                   .id = id++,
                                                   .body = -1,
                                                   .one_sided = !s->cables[i].two_sided,
                                                   .compliance = fmax(s->cables[i].compliance, TL_LG_COMPLIANCE_LEAST)};
        out->terms += h->cable[i].nodes;
    }
    for (int32_t i = 0; i < h->bonds; i++) {
        bond_rows(&h->bond[i], v, pose, out->terms, &id, out->row + out->count, out->term + out->terms);
        out->count += 3;
        out->terms += terms_of(&h->bond[i]);
    }
    out->ctx = p;
    out->renew = h->cables ? renew : NULL;
    if (h->cables) renew(out, v->to);
    return TALUS_OK;
}
