#include "model/lg/grips.h"

#include <math.h>

#include "base/alloc.h"
#include "geom/shape.h"
#include "math/svd3.h"

#define DEFAULT_GRIP 0.25 /* of the smallest extent of the body's box. Chosen: deeper than skin, less than half of it */
#define EDGES 1.5         /* of a mesh: a grip is no smaller unless it is asked for. Chosen */
#define NODES_LEAST 4     /* that a region has: of fewer, weights say where a frame is and little else */
#define ON_LINE 1e-3      /* second extent of a region over its first: less says nothing about turning. Chosen */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for joints of elastic bodies");
}

static int32_t body_of(const tl_lg *lg, int32_t scene_body)
{
    for (int32_t b = 0; b < lg->bodies; b++)
        if (lg->body[b].body == scene_body) return b;
    return -1;
}

static double reach_of(const tl_lg *lg, int32_t b, const double *q, double asked)
{
    if (asked > 0) return asked;
    const tl_lg_body *body = &lg->body[b];
    tl_vec3 low = {INFINITY, INFINITY, INFINITY}, high = tl_vec3_neg(low);
    for (int64_t i = body->node; i < body->node + body->nodes; i++) {
        low = tl_vec3_min(low, tl_vec3_load(q + 3 * i));
        high = tl_vec3_max(high, tl_vec3_load(q + 3 * i));
    }
    const tl_vec3 d = tl_vec3_sub(high, low);
    double least = fmin(d.x, fmin(d.y, d.z));
    if (body->kind == TL_LG_CLOTH)
        least = fmax(fmin(d.x, d.y), fmax(fmin(d.y, d.z), fmin(d.z, d.x))); /* the middle one */
    return fmax(DEFAULT_GRIP * least, EDGES * lg->skin.body[b].mean);
}

static talus_status fill(tl_lg_grip *g, const tl_lg *lg, const double *q, tl_vec3 at, double reach, talus_error *err)
{
    const tl_lg_body *body = &lg->body[g->body];
    double sum = 0;
    for (int pass = 0; pass < 2; pass++) {
        g->count = 0;
        for (int32_t i = body->node; i < body->node + body->nodes; i++) {
            const double d2 = tl_vec3_norm2(tl_vec3_sub(tl_vec3_load(q + 3 * (int64_t)i), at)),
                         w = lg->mass[i] * (1 - d2 / (reach * reach));
            if (!(w > 0)) continue;
            if (pass) g->node[g->count] = i, g->weight[g->count] = w, sum += w;
            g->count++;
        }
        if (pass) break;
        g->node = TL_NEW(int32_t, g->count + 1);
        g->weight = TL_NEW(double, g->count + 1);
        g->rest = TL_NEW(tl_vec3, g->count + 1);
        if (!g->node || !g->weight || !g->rest) return no_memory(err);
    }
    tl_vec3 centre = {0, 0, 0};
    for (int32_t k = 0; k < g->count; k++) {
        g->weight[k] /= sum;
        centre = tl_vec3_add_scaled(centre, g->weight[k], tl_vec3_load(q + 3 * (int64_t)g->node[k]));
    }
    for (int32_t k = 0; k < g->count; k++) g->rest[k] = tl_vec3_sub(tl_vec3_load(q + 3 * (int64_t)g->node[k]), centre);
    return TALUS_OK;
}

/* What a region is worth: its gyration, and whether it knows how it turns. */
static bool knows_turning(const tl_lg_grip *g, double *gyration)
{
    tl_mat3 A = tl_mat3_zero(), U, V;
    double s[3];
    for (int32_t k = 0; k < g->count; k++)
        A = tl_mat3_add_scaled(A, g->weight[k], tl_mat3_outer(g->rest[k], g->rest[k]));
    tl_svd3(A, &U, s, &V);
    *gyration = sqrt(2.0 / 3 * tl_mat3_trace(A));
    return g->count >= NODES_LEAST && s[1] > ON_LINE * ON_LINE * s[0];
}

static talus_status take_side(tl_lg_grips *out, const tl_lg *lg, const tl_scene *s, const double *q, int32_t joint,
                              int side, talus_error *err)
{
    const tl_joint_spec *spec = &s->joints[joint];
    const int32_t b = spec->body[side] >= 0 ? body_of(lg, spec->body[side]) : -1;
    if (b < 0) return TALUS_OK;
    const tl_body *body = &s->bodies[spec->body[side]];
    const tl_vec3 local = side ? spec->at_b : spec->at_a,
                  at = tl_vec3_add(body->at, tl_quat_rotate(tl_quat_normalize(body->rotation), local));
    const double reach = reach_of(lg, b, q, spec->grip);
    tl_lg_grip *g = &out->grip[out->count++];
    tl_joint_frame *frame = &out->frame[2 * (int64_t)joint + side];
    *g = (tl_lg_grip){.joint = joint, .side = side, .body = b};
    TL_TRY(fill(g, lg, q, at, reach, err));
    if (!knows_turning(g, &frame->gyration))
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "joint \"%.60s\" finds %d nodes of \"%.60s\" within %.3g m of its anchor, which do not make a "
                       "frame: move the anchor into the body, or give a larger `grip`",
                       spec->name, (int)g->count, body->name, reach);
    const tl_lg_grasp now = tl_lg_grip_at(g, q);
    frame->soft = true;
    frame->at = (tl_motion){.x = now.x, .q = now.q};
    return TALUS_OK;
}

talus_status tl_lg_grips_create(tl_lg_grips *out, const tl_lg *lg, const tl_scene *s, const double *q, talus_error *err)
{
    *out = (tl_lg_grips){0};
    int32_t sides = 0;
    for (int k = 0; k < s->joint_count; k++)
        for (int side = 0; side < 2; side++)
            sides += s->joints[k].body[side] >= 0 && body_of(lg, s->joints[k].body[side]) >= 0;
    if (!sides) return TALUS_OK;
    out->grip = TL_NEW_ZERO(tl_lg_grip, sides);
    out->frame = TL_NEW_ZERO(tl_joint_frame, 2 * (int64_t)s->joint_count);
    talus_status status = out->grip && out->frame ? TALUS_OK : no_memory(err);
    for (int k = 0; k < s->joint_count && status == TALUS_OK; k++)
        for (int side = 0; side < 2 && status == TALUS_OK; side++) status = take_side(out, lg, s, q, k, side, err);
    if (status != TALUS_OK) tl_lg_grips_free(out);
    return status;
}

void tl_lg_grips_free(tl_lg_grips *g)
{
    for (int32_t i = 0; i < g->count; i++) {
        tl_free(g->grip[i].node);
        tl_free(g->grip[i].weight);
        tl_free(g->grip[i].rest);
    }
    tl_free(g->grip);
    tl_free(g->frame);
    *g = (tl_lg_grips){0};
}

tl_lg_grasp tl_lg_grip_at(const tl_lg_grip *g, const double *q)
{
    tl_lg_grasp now = {.x = {0, 0, 0}};
    tl_mat3 A = tl_mat3_zero(), S, inverse;
    for (int32_t k = 0; k < g->count; k++)
        now.x = tl_vec3_add_scaled(now.x, g->weight[k], tl_vec3_load(q + 3 * (int64_t)g->node[k]));
    for (int32_t k = 0; k < g->count; k++)
        A = tl_mat3_add_scaled(
            A, g->weight[k], tl_mat3_outer(tl_vec3_sub(tl_vec3_load(q + 3 * (int64_t)g->node[k]), now.x), g->rest[k]));
    tl_polar3(A, &now.R, &S);
    now.q = tl_quat_normalize(tl_quat_from_mat3(now.R));
    const double trace = tl_mat3_trace(S);
    (void)tl_mat3_inverse(tl_mat3_sub(tl_mat3_diagonal(trace, trace, trace), S), &inverse);
    now.G = tl_mat3_mul(now.R, tl_mat3_mul_t(inverse, now.R));
    return now;
}

void tl_lg_grip_speed(const tl_lg_grip *g, const tl_lg_grasp *now, const double *v, tl_vec3 *linear, tl_vec3 *spin)
{
    tl_vec3 sum = {0, 0, 0};
    *linear = sum;
    for (int32_t k = 0; k < g->count; k++) {
        const tl_vec3 u = tl_vec3_load(v + 3 * (int64_t)g->node[k]);
        *linear = tl_vec3_add_scaled(*linear, g->weight[k], u);
        sum = tl_vec3_add_scaled(sum, g->weight[k], tl_vec3_cross(tl_mat3_mul_vec(now->R, g->rest[k]), u));
    }
    *spin = tl_mat3_mul_vec(now->G, sum);
}
