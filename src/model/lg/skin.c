#include "model/lg/skin.h"

#include <math.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "model/lg/lg.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the surface of elastic bodies");
}

/* Scratch of both sorts. */
typedef struct sorting {
    uint64_t *key, *spare_key;
    int32_t *value, *spare_value;
} sorting;

static void list_nodes(tl_lg_skin *s, const tl_lg *lg)
{
    for (int32_t i = 0; i < lg->nodes; i++) s->place[i] = -1;
    for (int32_t t = 0; t < lg->surface_triangles; t++)
        for (int k = 0; k < 3; k++) s->place[lg->surface[t][k]] = 0;
    for (int b = 0; b < lg->bodies; b++) {
        s->body[b].node = s->nodes;
        for (int32_t i = lg->body[b].node; i < lg->body[b].node + lg->body[b].nodes; i++) {
            if (s->place[i] < 0) continue;
            s->place[i] = s->nodes;
            s->node[s->nodes++] = i;
        }
        s->body[b].nodes = s->nodes - s->body[b].node;
    }
}

static double rest_length(const tl_lg *lg, const int32_t edge[2])
{
    return tl_vec3_norm(
        tl_vec3_sub(tl_vec3_load(lg->rest + 3 * (int64_t)edge[0]), tl_vec3_load(lg->rest + 3 * (int64_t)edge[1])));
}

static void list_edges(tl_lg_skin *s, const tl_lg *lg, sorting *w)
{
    int64_t corners = 3 * (int64_t)lg->surface_triangles;
    for (int64_t c = 0; c < corners; c++) {
        const int32_t *t = lg->surface[c / 3];
        uint64_t a = (uint64_t)t[(c + 1) % 3], b = (uint64_t)t[(c + 2) % 3];
        w->key[c] = a < b ? a << 32 | b : b << 32 | a;
        w->value[c] = (int32_t)c;
    }
    tl_radix_sort(corners, w->key, w->value, w->spare_key, w->spare_value);
    for (int64_t c = 0; c < corners; c++) {
        int32_t triangle = w->value[c] / 3;
        if (c == 0 || w->key[c] != w->key[c - 1]) {
            s->edge[s->edges][0] = (int32_t)(w->key[c] >> 32);
            s->edge[s->edges][1] = (int32_t)(w->key[c] & 0xffffffff);
            s->sides[s->edges][0] = triangle;
            s->sides[s->edges++][1] = -1;
        } else if (s->sides[s->edges - 1][1] < 0)
            s->sides[s->edges - 1][1] = triangle;
        s->corner_edge[triangle][w->value[c] % 3] = s->edges - 1;
    }
    int32_t e = 0;
    for (int b = 0; b < lg->bodies; b++) { /* nodes of a body are a range, so are its edges */
        tl_lg_skin_body *body = &s->body[b];
        body->edge = e;
        body->shortest = INFINITY;
        for (; e < s->edges && s->edge[e][0] < lg->body[b].node + lg->body[b].nodes; e++) {
            double length = rest_length(lg, s->edge[e]);
            body->mean += length;
            body->longest = fmax(body->longest, length);
            body->shortest = fmin(body->shortest, length);
        }
        body->edges = e - body->edge;
        if (body->edges > 0) body->mean /= body->edges;
    }
}

static uint64_t spread(uint64_t x) /* 21 bits, two zeros after each */
{
    x = (x | x << 32) & 0x1f00000000ffff;
    x = (x | x << 16) & 0x1f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}

static tl_vec3 middle(const tl_lg *lg, int32_t t)
{
    tl_vec3 sum = {0, 0, 0};
    for (int k = 0; k < 3; k++) sum = tl_vec3_add(sum, tl_vec3_load(lg->rest + 3 * (int64_t)lg->surface[t][k]));
    return tl_vec3_scale(1.0 / 3, sum);
}

/* Along Morton's curve, so that neighbours share leaves. */
static void order_triangles(tl_lg_skin *s, const tl_lg *lg, int b, sorting *w)
{
    int32_t first = lg->body[b].triangle, count = lg->body[b].triangles;
    tl_vec3 lo = {INFINITY, INFINITY, INFINITY}, hi = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t t = first; t < first + count; t++) {
        lo = tl_vec3_min(lo, middle(lg, t));
        hi = tl_vec3_max(hi, middle(lg, t));
    }
    double size = fmax(hi.x - lo.x, fmax(hi.y - lo.y, hi.z - lo.z)), scale = size > 0 ? 0x1fffff / size : 0;
    for (int32_t t = 0; t < count; t++) {
        tl_vec3 x = tl_vec3_scale(scale, tl_vec3_sub(middle(lg, first + t), lo));
        w->key[t] = spread((uint64_t)x.x) << 2 | spread((uint64_t)x.y) << 1 | spread((uint64_t)x.z);
        s->order[first + t] = first + t;
    }
    tl_radix_sort(count, w->key, s->order + first, w->spare_key, w->spare_value);
    tl_lg_skin_body *body = &s->body[b];
    for (body->leaves = 1; body->leaves * TL_SKIN_LEAF < count;) body->leaves *= 2;
    body->tree = s->boxes;
    s->boxes += 2 * body->leaves;
}

static talus_status make(tl_lg_skin *s, const tl_lg *lg, sorting *w, talus_error *err)
{
    int64_t corners = 3 * (int64_t)lg->surface_triangles;
    s->body = TL_NEW_ZERO(tl_lg_skin_body, lg->bodies + 1);
    s->node = TL_NEW(int32_t, lg->nodes + 1);
    s->place = TL_NEW(int32_t, lg->nodes + 1);
    s->edge = tl_alloc(sizeof *s->edge * (size_t)(corners + 1));
    s->sides = tl_alloc(sizeof *s->sides * (size_t)(corners + 1));
    s->corner_edge = tl_alloc(sizeof *s->corner_edge * (size_t)(lg->surface_triangles + 1));
    s->order = TL_NEW(int32_t, lg->surface_triangles + 1);
    *w = (sorting){TL_NEW(uint64_t, corners + 1), TL_NEW(uint64_t, corners + 1), TL_NEW(int32_t, corners + 1),
                   TL_NEW(int32_t, corners + 1)};
    if (!s->body || !s->node || !s->place || !s->edge || !s->sides || !s->corner_edge || !s->order || !w->key ||
        !w->spare_key || !w->value || !w->spare_value)
        return no_memory(err);
    list_nodes(s, lg);
    list_edges(s, lg, w);
    for (int b = 0; b < lg->bodies; b++) order_triangles(s, lg, b, w);
    return TALUS_OK;
}

talus_status tl_lg_skin_make(tl_lg_skin *out, const tl_lg *lg, talus_error *err)
{
    sorting w = {0};
    *out = (tl_lg_skin){0};
    talus_status status = make(out, lg, &w, err);
    tl_free(w.key);
    tl_free(w.spare_key);
    tl_free(w.value);
    tl_free(w.spare_value);
    if (status != TALUS_OK) tl_lg_skin_free(out);
    return status;
}

void tl_lg_skin_free(tl_lg_skin *s)
{
    tl_free(s->body);
    tl_free(s->node);
    tl_free(s->place);
    tl_free(s->edge);
    tl_free(s->sides);
    tl_free(s->corner_edge);
    tl_free(s->order);
    *s = (tl_lg_skin){0};
}
