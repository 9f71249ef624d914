#include "model/grid/skins.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "model/lg/detect.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for surfaces of elastic bodies on the grid");
}

static tl_vec3 place_of(const tl_skin *s, int32_t node) { return tl_vec3_load(s->x + 3 * (int64_t)node); }

static tl_box3 empty_box(void) { return (tl_box3){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}}; }

static tl_box3 join(tl_box3 a, tl_box3 b) { return (tl_box3){tl_vec3_min(a.lo, b.lo), tl_vec3_max(a.hi, b.hi)}; }

/* Triangle k of the body in the order of its tree. */
static const int32_t *triangle_at(const tl_skin *s, int32_t k, int32_t *number)
{
    *number = s->lg->skin.order[s->lg->body[s->body].triangle + k];
    return s->lg->surface[*number];
}

static void fit_boxes(tl_skin *s)
{
    const tl_lg_skin_body *b = &s->lg->skin.body[s->body];
    const int32_t triangles = s->lg->body[s->body].triangles;
    for (int32_t i = 0; i < b->leaves; i++) {
        tl_box3 box = empty_box();
        for (int32_t k = i * TL_SKIN_LEAF; k < (i + 1) * TL_SKIN_LEAF && k < triangles; k++) {
            int32_t number;
            const int32_t *t = triangle_at(s, k, &number);
            for (int c = 0; c < 3; c++) box = join(box, (tl_box3){place_of(s, t[c]), place_of(s, t[c])});
        }
        s->box[b->leaves + i] = box;
    }
    for (int32_t i = b->leaves - 1; i > 0; i--) s->box[i] = join(s->box[2 * i], s->box[2 * i + 1]);
}

static double angle_at(tl_vec3 a, tl_vec3 b, tl_vec3 c)
{
    tl_vec3 u = tl_vec3_sub(b, a), v = tl_vec3_sub(c, a);
    return atan2(tl_vec3_norm(tl_vec3_cross(u, v)), tl_vec3_dot(u, v));
}

static void find_normals(tl_skin *s)
{
    const tl_lg_body *b = &s->lg->body[s->body];
    memset(s->corner + b->node, 0, sizeof *s->corner * (size_t)b->nodes);
    for (int32_t k = 0; k < b->triangles; k++) {
        const int32_t *t = s->lg->surface[b->triangle + k];
        tl_vec3 x[3] = {place_of(s, t[0]), place_of(s, t[1]), place_of(s, t[2])};
        s->face[k] = tl_vec3_normalize(tl_vec3_cross(tl_vec3_sub(x[1], x[0]), tl_vec3_sub(x[2], x[0])));
        for (int c = 0; c < 3; c++) {
            tl_vec3 *n = &s->corner[t[c]];
            *n = tl_vec3_add_scaled(*n, angle_at(x[c], x[(c + 1) % 3], x[(c + 2) % 3]), s->face[k]);
        }
    }
}

talus_status tl_skins_make(tl_skins *out, const tl_lg *lg, int32_t bodies, const double *x, const double *v,
                           tl_arena *a, talus_error *err)
{
    *out = (tl_skins){bodies, TL_TAKE_ZERO(a, tl_skin, bodies + 1)};
    tl_vec3 *corner = TL_TAKE(a, tl_vec3, lg->nodes + 1);
    if (!out->skin || !corner) return no_memory(err);
    for (int32_t b = 0; b < lg->bodies; b++) {
        if (lg->body[b].body < 0 || lg->body[b].body >= bodies || lg->body[b].triangles == 0) continue;
        tl_skin *s = &out->skin[lg->body[b].body];
        *s = (tl_skin){.lg = lg, .body = b, .x = x, .v = v, .corner = corner};
        s->box = TL_TAKE(a, tl_box3, 2 * (int64_t)lg->skin.body[b].leaves);
        s->face = TL_TAKE(a, tl_vec3, lg->body[b].triangles);
        if (!s->box || !s->face) return no_memory(err);
        fit_boxes(s);
        find_normals(s);
    }
    return TALUS_OK;
}

talus_status tl_skins_move(tl_skins *out, const tl_skins *from, const double *v, tl_arena *a, talus_error *err)
{
    *out = (tl_skins){from->count, TL_TAKE(a, tl_skin, from->count + 1)};
    if (!out->skin) return no_memory(err);
    memcpy(out->skin, from->skin, sizeof *out->skin * (size_t)from->count);
    for (int32_t k = 0; k < out->count; k++) out->skin[k].v = v;
    return TALUS_OK;
}

talus_status tl_skins_clip(tl_skins *s, tl_vec3 origin, double dx, tl_arena *a, talus_error *err)
{
    for (int32_t k = 0; k < s->count; k++) {
        tl_skin *one = &s->skin[k];
        if (!one->lg) continue;
        const tl_lg_body *b = &one->lg->body[one->body];
        tl_clip *clip = TL_TAKE(a, tl_clip, 1);
        if (!clip) return no_memory(err);
        TL_TRY(tl_clip_surface(clip, origin, dx, b->triangles, (const int32_t(*)[3])one->lg->surface + b->triangle,
                               one->x, a, err));
        one->clip = clip;
    }
    return TALUS_OK;
}

/* ---- queries ---- */

static double box_distance2(const tl_box3 *b, tl_vec3 p)
{
    double x = fmax(0, fmax(b->lo.x - p.x, p.x - b->hi.x)), y = fmax(0, fmax(b->lo.y - p.y, p.y - b->hi.y)),
           z = fmax(0, fmax(b->lo.z - p.z, p.z - b->hi.z));
    return x * x + y * y + z * z;
}

typedef struct nearest {
    double distance2, weight[3];
    int32_t triangle; /* of lg->surface */
    tl_vec3 at;
} nearest;

static void look_at_leaf(const tl_skin *s, int32_t leaf, tl_vec3 p, nearest *best)
{
    const int32_t triangles = s->lg->body[s->body].triangles;
    for (int32_t k = leaf * TL_SKIN_LEAF; k < (leaf + 1) * TL_SKIN_LEAF && k < triangles; k++) {
        int32_t number;
        const int32_t *t = triangle_at(s, k, &number);
        const tl_vec3 x[3] = {place_of(s, t[0]), place_of(s, t[1]), place_of(s, t[2])};
        double w[3];
        tl_lg_nearest_place(p, x, w);
        tl_vec3 at = tl_vec3_add_scaled(tl_vec3_add_scaled(tl_vec3_scale(w[0], x[0]), w[1], x[1]), w[2], x[2]);
        double d2 = tl_vec3_norm2(tl_vec3_sub(p, at));
        if (d2 > best->distance2 || (d2 == best->distance2 && number > best->triangle)) continue;
        *best = (nearest){d2, {w[0], w[1], w[2]}, number, at};
    }
}

/* The nearer child first. */
static void look(const tl_skin *s, tl_vec3 p, nearest *best)
{
    const int32_t leaves = s->lg->skin.body[s->body].leaves;
    struct {
        int32_t node;
        double d2;
    } stack[64];
    int top = 0;
    stack[top].node = 1;
    stack[top++].d2 = 0;
    while (top > 0) {
        top--;
        int32_t node = stack[top].node;
        if (stack[top].d2 > best->distance2) continue;
        if (node >= leaves) {
            look_at_leaf(s, node - leaves, p, best);
            continue;
        }
        double d[2] = {box_distance2(&s->box[2 * node], p), box_distance2(&s->box[2 * node + 1], p)};
        int near = d[1] < d[0];
        for (int k = 0; k < 2; k++) {
            int child = k ? near : !near; /* the nearer one on top */
            if (!(d[child] <= best->distance2)) continue;
            stack[top].node = 2 * node + child;
            stack[top++].d2 = d[child];
        }
    }
}

/* Mean normal of the face, edge or corner that is nearest. */
static tl_vec3 mean_normal(const tl_skin *s, const nearest *n)
{
    const tl_lg *lg = s->lg;
    const int32_t first = lg->body[s->body].triangle, *t = lg->surface[n->triangle];
    const double *w = n->weight;
    for (int c = 0; c < 3; c++)
        if (w[c] == 1) return s->corner[t[c]];
    for (int c = 0; c < 3; c++) {
        if (w[c] != 0) continue;
        const int32_t *sides = lg->skin.sides[lg->skin.corner_edge[n->triangle][c]];
        tl_vec3 sum = s->face[sides[0] - first];
        return sides[1] >= 0 ? tl_vec3_add(sum, s->face[sides[1] - first]) : sum;
    }
    return s->face[n->triangle - first];
}

tl_skin_place tl_skin_nearest(const tl_skin *s, tl_vec3 p)
{
    nearest best = {.distance2 = INFINITY, .triangle = INT32_MAX};
    look(s, p, &best);
    if (best.triangle == INT32_MAX) return (tl_skin_place){.distance = NAN, .normal = {0, 1, 0}};
    tl_vec3 normal = mean_normal(s, &best), off = tl_vec3_sub(p, best.at);
    double d = sqrt(best.distance2);
    bool inside = tl_vec3_dot(off, normal) < 0;
    tl_skin_place out = {.at = best.at, .distance = inside ? -d : d};
    memcpy(out.node, s->lg->surface[best.triangle], sizeof out.node);
    memcpy(out.weight, best.weight, sizeof out.weight);
    tl_vec3 along = d > 0 ? tl_vec3_scale((inside ? -1 : 1) / d, off) : normal;
    out.normal = tl_vec3_normalize_or(d > 0 ? along : normal, (tl_vec3){0, 1, 0});
    return out;
}

tl_vec3 tl_skin_velocity(const tl_skin *s, tl_vec3 p)
{
    tl_vec3 v = {0, 0, 0};
    if (!s->v) return v;
    tl_skin_place q = tl_skin_nearest(s, p);
    if (isnan(q.distance)) return v;
    for (int c = 0; c < 3; c++) v = tl_vec3_add_scaled(v, q.weight[c], tl_vec3_load(s->v + 3 * (int64_t)q.node[c]));
    return v;
}
