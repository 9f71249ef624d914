/* Single particles that hit elastic bodies, among what flows (wet.c). */
#include "base/sum.h"
#include "phase/accounts/accounts.h"
#include "phase/grid/wet.h"
#include <math.h>
#include <string.h>

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for elastic bodies in a liquid");
}

/* Mass, centre and inertia of a body's nodes. */
static double weigh_nodes(const tl_elastic_trial *s, const tl_fem_body *b, tl_vec3 *centre, tl_mat3 *inertia)
{
    double mass = 0;
    *centre = (tl_vec3){0, 0, 0};
    *inertia = tl_mat3_zero();
    for (int32_t i = b->node; i < b->node + b->nodes; i++) {
        mass += s->lg->mass[i];
        *centre = tl_vec3_add_scaled(*centre, s->lg->mass[i], tl_vec3_load(s->now->q + 3 * (int64_t)i));
    }
    *centre = tl_vec3_scale(1 / mass, *centre);
    for (int32_t i = b->node; i < b->node + b->nodes; i++) {
        tl_vec3 r = tl_vec3_sub(tl_vec3_load(s->now->q + 3 * (int64_t)i), *centre);
        tl_mat3 square = tl_mat3_sub(tl_mat3_scale(tl_vec3_norm2(r), tl_mat3_identity()), tl_mat3_outer(r, r));
        *inertia = tl_mat3_add_scaled(*inertia, s->lg->mass[i], square);
    }
    return mass;
}

/* An impulse and a moment about the centre, as one motion of all nodes; what held ones get is taken by
 * what holds them. */
static void push_nodes(tl_wet *w, const tl_fem_body *b, tl_vec3 impulse, tl_vec3 moment, tl_vec3 about)
{
    tl_elastic_trial *s = w->trial;
    tl_vec3 centre, spin = {0, 0, 0};
    tl_mat3 inertia, inverse;
    const double mass = weigh_nodes(s, b, &centre, &inertia);
    moment = tl_vec3_add(moment, tl_vec3_cross(tl_vec3_sub(about, centre), impulse));
    if (tl_mat3_inverse(inertia, &inverse)) spin = tl_mat3_mul_vec(inverse, moment);
    for (int32_t i = b->node; i < b->node + b->nodes; i++) {
        const int64_t k = 3 * (int64_t)i;
        tl_vec3 x = tl_vec3_load(s->now->q + k), r = tl_vec3_sub(x, centre),
                dv = tl_vec3_add_scaled(tl_vec3_cross(spin, r), 1 / mass, impulse),
                got = tl_vec3_scale(s->lg->mass[i], dv);
        tl_vec3_store(tl_vec3_add(tl_vec3_load(s->grains + k), got), s->grains + k);
        if (s->fem->place[i] >= 0) tl_vec3_store(tl_vec3_add(tl_vec3_load(s->v_star + k), dv), s->v_star + k);
    }
}

talus_status tl_wet_take_grains(tl_wet *w, const double *before, talus_error *err)
{
    tl_elastic_trial *s = w->trial;
    const tl_flow *f = w->flow;
    s->grains = TL_TAKE_ZERO(f->arena, double, 3 * (int64_t)s->lg->nodes + 1);
    if (!s->grains) return no_memory(err);
    for (int b = 0; b < s->fem->bodies; b++) {
        const int32_t body = s->lg->body[b].body;
        double *now = f->v_free + 6 * (int64_t)body, d[6];
        bool any = false;
        for (int k = 0; k < 6; k++) {
            d[k] = now[k] - before[6 * (int64_t)body + k];
            any |= d[k] != 0;
            now[k] = before[6 * (int64_t)body + k];
        }
        if (!any || !(f->inv_mass[body] > 0)) continue;
        tl_mat3 inverse, inertia;
        memcpy(inverse.m, f->inv_inertia + 9 * (int64_t)body, sizeof inverse.m);
        tl_vec3 moment = {0, 0, 0};
        if (tl_mat3_inverse(inverse, &inertia)) moment = tl_mat3_mul_vec(inertia, tl_vec3_load(d + 3));
        push_nodes(w, &s->fem->body[b], tl_vec3_scale(1 / f->inv_mass[body], tl_vec3_load(d)), moment,
                   f->before[body].x);
    }
    return TALUS_OK;
}
