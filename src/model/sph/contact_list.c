#include "model/sph/contact_list.h"

#include <math.h>
#include <stdlib.h>

/* Sums over the samples of one body that a contact meets. */
typedef struct met {
    tl_vec3 force;  /* on the contact's body, N */
    tl_vec3 g, off; /* of gradients; of W times the way from the contact to them */
    double w;
    double gap; /* m, the smallest of those that push; INFINITY: none does */
} met;

static const met nothing = {.gap = INFINITY};

static void add_touch(const tl_sph_step *s, const double *x, int32_t k, const tl_sph_touch *j, met *m)
{
    const tl_sph_contact *r = &s->contact[k];
    const double *p = x + s->fluid, *lam = p + s->contacts;
    double push = r->V0 * r->V0 * p[k];
    tl_vec3 rub = tl_vec3_scale(r->Vt, tl_vec3_load(lam + 3 * (int64_t)k));
    if (p[k] > 0) m->gap = fmin(m->gap, tl_sph_gap(s, r));
    if (j->other >= 0) {
        const tl_sph_contact *o = &s->contact[j->other];
        if (p[j->other] > 0) m->gap = fmin(m->gap, tl_sph_gap(s, o));
        push += o->V0 * o->V0 * p[j->other];
        rub = tl_vec3_add_scaled(rub, -o->Vt, tl_vec3_load(lam + 3 * (int64_t)j->other));
    }
    m->force = tl_vec3_add(m->force, tl_vec3_add_scaled(tl_vec3_scale(-push, j->g), j->w, rub));
    m->g = tl_vec3_add(m->g, j->g);
    m->w += j->w;
    tl_vec3 here = tl_vec3_add(s->bodies.motion[r->body].x, s->near[r->near].arm);
    tl_vec3 there = tl_vec3_add(s->bodies.motion[j->body].x, j->arm);
    m->off = tl_vec3_add_scaled(m->off, j->w, tl_vec3_sub(there, here));
}

static tl_rigid_memory memory_of(const tl_sph_step *s, int32_t k, int32_t other, const met *m)
{
    const tl_sph_contact *r = &s->contact[k];
    bool first = r->body < other;
    int32_t a = first ? r->body : other, b = first ? other : r->body;
    tl_vec3 here = tl_vec3_add(s->bodies.motion[r->body].x, s->near[r->near].arm);
    tl_vec3 at = m->w > 0 ? tl_vec3_add_scaled(here, 0.5 / m->w, m->off) : here;
    tl_pose pose_a = tl_rigid_pose(&s->rigid->body[a], &s->bodies.motion[a]);
    tl_pose pose_b = tl_rigid_pose(&s->rigid->body[b], &s->bodies.motion[b]);
    tl_vec3 normal = tl_vec3_normalize(tl_vec3_neg(m->g)); /* into the contact's body */
    return (tl_rigid_memory){.a = a,
                             .b = b,
                             .point = k,
                             .at_a = tl_pose_to_local(&pose_a, at),
                             .at_b = tl_pose_to_local(&pose_b, at),
                             .force = first ? m->force : tl_vec3_neg(m->force),
                             .normal = first ? normal : tl_vec3_neg(normal),
                             .gap = m->gap};
}

static int compare(const void *p, const void *q)
{
    const tl_rigid_memory *m = p, *n = q;
    if (m->a != n->a) return m->a < n->a ? -1 : 1;
    if (m->b != n->b) return m->b < n->b ? -1 : 1;
    return m->point < n->point ? -1 : m->point > n->point;
}

talus_status tl_sph_list_contacts(const tl_sph_step *s, const double *x, tl_sph_contact_list *out, talus_error *err)
{
    int64_t runs = 0, n = 0;
    for (int32_t k = 0; k < s->contacts; k++)
        for (int64_t t = s->touch_start[k]; t < s->touch_start[k + 1]; t++)
            runs += t + 1 == s->touch_start[k + 1] || s->touch[t + 1].body != s->touch[t].body;
    *out = (tl_sph_contact_list){.contact = TL_TAKE(s->arena, tl_rigid_memory, runs + 1)};
    if (!out->contact) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a list of contacts");
    for (int32_t k = 0; k < s->contacts; k++) {
        met m = nothing;
        for (int64_t t = s->touch_start[k]; t < s->touch_start[k + 1]; t++) {
            const tl_sph_touch *j = &s->touch[t];
            add_touch(s, x, k, j, &m);
            if (t + 1 < s->touch_start[k + 1] && j[1].body == j->body) continue;
            bool free_pair = s->rigid->body[j->body].kind == TL_BODY_FREE;
            if (m.gap < INFINITY && (!free_pair || s->contact[k].body < j->body))
                out->contact[n++] = memory_of(s, k, j->body, &m);
            m = nothing;
        }
    }
    if (n > 1) qsort(out->contact, (size_t)n, sizeof *out->contact, compare);
    for (int64_t i = 0, point = 0; i < n; i++) {
        bool same = i > 0 && out->contact[i - 1].a == out->contact[i].a && out->contact[i - 1].b == out->contact[i].b;
        point = same ? point + 1 : 0;
        out->contact[i].point = (int32_t)point;
    }
    out->count = n;
    return TALUS_OK;
}
