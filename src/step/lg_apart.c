#include "step/lg_apart.h"

#include <math.h>
#include <string.h>

#include "base/cancel.h"

#define ROUNDS 40   /* of impacts that join; what has not ended then is made again with a shorter step */
#define SWEEPS 200  /* over all impacts */
#define HELD 0.5    /* of the distance that contact keeps: where impacts are held. They are found at a tenth of it */
#define CLOSED 1e-3 /* of that: what sweeps may leave */

typedef struct held {
    tl_lg_contacts all;
    double *lam;     /* [all.count] m kg: impulses times the length of the step */
    double *inverse; /* [nodes] 1/kg */
} held;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to hold elastic bodies apart");
}

static double gap_of(const tl_lg_contact *c, const double *q)
{
    double gap = -HELD * c->offset;
    for (int k = 0; k < 4 && c->a.node[k] >= 0; k++)
        gap += c->a.weight[k] * tl_vec3_dot(c->normal, tl_vec3_load(q + 3 * (int64_t)c->a.node[k]));
    for (int k = 0; k < 4 && c->b.node[k] >= 0; k++)
        gap -= c->b.weight[k] * tl_vec3_dot(c->normal, tl_vec3_load(q + 3 * (int64_t)c->b.node[k]));
    return gap;
}

static double mobility(const held *h, const tl_lg_contact *c)
{
    double sum = 0;
    for (int k = 0; k < 4 && c->a.node[k] >= 0; k++) sum += c->a.weight[k] * c->a.weight[k] * h->inverse[c->a.node[k]];
    for (int k = 0; k < 4 && c->b.node[k] >= 0; k++) sum += c->b.weight[k] * c->b.weight[k] * h->inverse[c->b.node[k]];
    return sum;
}

static void push(const held *h, const tl_lg_point *p, tl_vec3 by, double *q)
{
    for (int k = 0; k < 4 && p->node[k] >= 0; k++) {
        double *x = q + 3 * (int64_t)p->node[k];
        tl_vec3_store(tl_vec3_add_scaled(tl_vec3_load(x), p->weight[k] * h->inverse[p->node[k]], by), x);
    }
}

static void sweep(const held *h, double *q)
{
    bool open = true;
    for (int k = 0; k < SWEEPS && open; k++) {
        open = false;
        for (int32_t c = 0; c < h->all.count; c++) {
            const tl_lg_contact *i = &h->all.contact[c];
            const double gap = gap_of(i, q), gives = mobility(h, i);
            if (!(gives > 0)) continue;
            const double next = fmax(0, h->lam[c] - gap / gives), by = next - h->lam[c];
            if (by == 0) continue;
            open |= fabs(by) * gives > CLOSED * HELD * i->offset;
            h->lam[c] = next;
            push(h, &i->a, tl_vec3_scale(by, i->normal), q);
            push(h, &i->b, tl_vec3_scale(-by, i->normal), q);
        }
    }
}

/* Impacts behind those that are there. */
static talus_status join(held *h, const tl_lg_contacts *more, tl_arena *a, talus_error *err)
{
    const int32_t was = h->all.count, count = was + more->count;
    tl_lg_contact *contact = TL_TAKE(a, tl_lg_contact, count);
    double *lam = TL_TAKE_ZERO(a, double, count);
    if (!contact || !lam) return no_memory(err);
    if (was) {
        memcpy(contact, h->all.contact, sizeof *contact * (size_t)was);
        memcpy(lam, h->lam, sizeof *lam * (size_t)was);
    }
    memcpy(contact + was, more->contact, sizeof *contact * (size_t)more->count);
    h->all = (tl_lg_contacts){count, contact, 0, 0};
    h->lam = lam;
    return TALUS_OK;
}

static talus_status begin(held *h, const tl_lg *lg, double he, tl_arena *a, talus_error *err)
{
    h->inverse = TL_TAKE(a, double, lg->nodes + 1);
    if (!h->inverse) return no_memory(err);
    memcpy(h->inverse, lg->mass, sizeof *h->inverse * (size_t)lg->nodes);
    for (int32_t k = 0; k < lg->anchors; k++) h->inverse[lg->anchor[k].vertex] += he * he * lg->anchor[k].weight;
    for (int32_t i = 0; i < lg->nodes; i++) h->inverse[i] = h->inverse[i] > 0 ? 1 / h->inverse[i] : 0;
    return TALUS_OK;
}

talus_status tl_lg_hold_apart(const tl_lg_view *v, double he, double *q, tl_arena *a, tl_lg_apart *out,
                              talus_error *err)
{
    const int64_t n = 3 * (int64_t)v->lg->nodes;
    tl_lg_view now = *v;
    held h = {0};
    double *before = NULL;
    *out = (tl_lg_apart){0};
    now.to = q;
    for (int round = 0; round < ROUNDS; round++) {
        tl_lg_contacts more;
        TL_TRY(tl_cancel_check(err));
        TL_TRY(tl_lg_impacts(&now, false, a, &more, err));
        out->free = more.count == 0;
        if (out->free) break;
        if (round == 0) {
            TL_TRY(begin(&h, v->lg, he, a, err));
            if (!(before = TL_TAKE(a, double, n))) return no_memory(err);
            memcpy(before, q, sizeof *q * (size_t)n);
        }
        TL_TRY(join(&h, &more, a, err));
        sweep(&h, q);
    }
    out->impacts = h.all.count;
    for (int64_t i = 0; before && i < v->lg->nodes; i++)
        out->moved = fmax(out->moved, tl_vec3_norm(tl_vec3_sub(tl_vec3_load(q + 3 * i), tl_vec3_load(before + 3 * i))));
    return TALUS_OK;
}
