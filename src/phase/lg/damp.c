#include "phase/lg/damp.h"

#include <math.h>

#include "model/lg/whole.h"

/* v without the rigid motion nearest to it; v [nodes of the body][3] of nodes at q. */
static void take_rigid(const tl_lg *lg, const tl_lg_body *b, const double *q, const double *v, double *out)
{
    const tl_lg_whole w = tl_lg_whole_of(lg, b, q, v);
    for (int64_t i = b->node; i < b->node + b->nodes; i++) {
        tl_vec3 r = tl_vec3_sub(tl_vec3_load(q + 3 * i), w.centre), turns = tl_vec3_add(w.v, tl_vec3_cross(w.spin, r));
        tl_vec3_store(tl_vec3_sub(tl_vec3_load(v + 3 * i), turns), out + 3 * i);
    }
}

talus_status tl_lg_damp(const tl_lg_moved *m, int body, double damping, double *held, tl_arena *a, talus_error *err)
{
    const tl_lg *lg = m->lg;
    const double h = m->h, *q = m->q;
    const tl_lg_body *b = &lg->body[body];
    const int64_t n = 3 * (int64_t)lg->nodes, first = 3 * (int64_t)b->node, end = first + 3 * (int64_t)b->nodes;
    size_t mark = tl_arena_mark(a);
    double *rate = TL_TAKE(a, double, n), *x = TL_TAKE(a, double, n);
    bool any = false;
    if (!rate || !x) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for damping of elastic bodies");
    TL_TRY(tl_lg_hessian_update(m->hessian, body, sqrt(h * damping), q, 1, err));
    take_rigid(lg, b, q, m->v, rate);
    for (int64_t k = first; k < end; k++) { /* anchors are springs, not of the material: they do not damp */
        x[k] = (lg->mass[k / 3] + h * damping * lg->anchor_weight[k / 3]) * rate[k];
        any |= lg->anchor_weight[k / 3] > 0;
    }
    TL_TRY(tl_factor_solve(tl_lg_hessian_factor(m->hessian, body), 1, x + first, x + first, err));
    if (!any) take_rigid(lg, b, q, x, x); /* what rounding and a bent body's own forces turn */
    for (int64_t i = b->node; i < b->node + b->nodes; i++) {
        tl_vec3 change = tl_vec3_sub(tl_vec3_load(x + 3 * i), tl_vec3_load(rate + 3 * i));
        tl_vec3_store(tl_vec3_scale(-h * damping * lg->anchor_weight[i], change), held + 3 * i);
    }
    for (int64_t k = first; k < end; k++) {
        m->v[k] += x[k] - rate[k];
        if (m->before) m->before[k] += x[k] - rate[k];
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}
