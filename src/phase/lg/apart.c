#include "phase/lg/apart.h"

#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "math/quat.h"

#define ROUNDS 40    /* of impacts that join; what has not ended then moves as one piece */
#define SWEEPS 200   /* over all impacts */
#define HELD 0.5     /* of the distance that contact keeps, or that of the beginning: where impacts are held */
#define CLOSED 1e-3  /* of that: what sweeps may leave */
#define TURN_MAX 0.8 /* rad: pieces that would turn by more do not turn; ways come nearer by cos(TURN_MAX / 2) */

typedef struct held {
    const tl_lg *lg;
    tl_lg_contacts all;
    double *lam;     /* [all.count] m kg: impulses times the length of the step */
    double *inverse; /* [nodes] 1/kg */
} held;

/* Nodes that move as one: as a rigid body does with their momentum and angular momentum. */
typedef struct piece {
    double mass;
    tl_vec3 from, way, spin; /* centre, displacement, angular momentum, then turn */
    tl_mat3 inertia;
    int32_t nodes;
} piece;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to hold elastic bodies apart");
}

/* m */
static double held_at(const tl_lg *lg, const tl_lg_contact *c)
{
    const tl_lg_body *a = &lg->body[lg->owner[c->a.node[0]]], *b = &lg->body[lg->owner[c->b.node[0]]];
    return fmin(c->offset, 0.5 * HELD * (a->thickness + b->thickness));
}

static double gap_of(const tl_lg *lg, const tl_lg_contact *c, const double *q)
{
    double gap = -held_at(lg, c);
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
            const double gap = gap_of(h->lg, i, q), gives = mobility(h, i);
            if (!(gives > 0)) continue;
            const double next = fmax(0, h->lam[c] - gap / gives), by = next - h->lam[c];
            if (by == 0) continue;
            open |= fabs(by) * gives > CLOSED * held_at(h->lg, i);
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

/* ---- pieces ---- */

static int32_t root_of(int32_t *up, int32_t i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

/* The smaller number is the root. */
static void unite(int32_t *up, int32_t i, int32_t k)
{
    i = root_of(up, i), k = root_of(up, k);
    if (i < k) up[k] = i;
    if (k < i) up[i] = k;
}

/* Every piece from how its nodes would have moved, to `to`. */
static void move_pieces(const held *h, const double *from, const double *would, int32_t *up, piece *all, double *to)
{
    const int32_t n = h->lg->nodes;
    memset(all, 0, sizeof *all * (size_t)n);
    for (int pass = 0; pass < 3; pass++)
        for (int32_t i = 0; i < n; i++) {
            piece *p = &all[root_of(up, i)];
            const double m = h->inverse[i] > 0 ? 1 / h->inverse[i] : 0;
            const tl_vec3 x = tl_vec3_load(from + 3 * (int64_t)i),
                          d = tl_vec3_sub(tl_vec3_load(would + 3 * (int64_t)i), x);
            if (pass == 0) {
                p->nodes++;
                p->mass += m;
                p->from = tl_vec3_add_scaled(p->from, m, x);
                p->way = tl_vec3_add_scaled(p->way, m, d);
                continue;
            }
            if (p->nodes < 2 || !(p->mass > 0)) continue;
            const tl_vec3 r = tl_vec3_sub(x, tl_vec3_scale(1 / p->mass, p->from)),
                          way = tl_vec3_scale(1 / p->mass, p->way);
            if (pass == 1) {
                p->spin = tl_vec3_add_scaled(p->spin, m, tl_vec3_cross(r, tl_vec3_sub(d, way)));
                const double c[3] = {r.x, r.y, r.z}, r2 = tl_vec3_norm2(r);
                for (int k = 0; k < 9; k++)
                    p->inertia.m[k / 3][k % 3] += m * ((k % 4 == 0 ? r2 : 0) - c[k / 3] * c[k % 3]);
                continue;
            }
            tl_mat3 inverse;
            tl_vec3 turn = {0, 0, 0};
            if (tl_mat3_inverse(p->inertia, &inverse)) turn = tl_mat3_mul_vec(inverse, p->spin);
            if (!(tl_vec3_norm(turn) <= TURN_MAX)) turn = (tl_vec3){0, 0, 0};
            const tl_vec3 turned = tl_quat_rotate(tl_quat_exp(turn), r);
            tl_vec3_store(tl_vec3_add(x, tl_vec3_add(way, tl_vec3_sub(turned, r))), to + 3 * (int64_t)i);
        }
}

/* What impulses do not hold apart moves as one piece, with all that it would meet then. Straight ways of a piece that
 * turns are an affine map at any time, so nothing in it meets; the last piece is everything, so this ends. */
static talus_status move_as_pieces(const held *h, tl_lg_view *now, double *q, tl_arena *a, tl_lg_apart *out,
                                   talus_error *err)
{
    const int32_t n = h->lg->nodes;
    int32_t *up = TL_TAKE(a, int32_t, n + 1);
    piece *all = TL_TAKE(a, piece, n + 1);
    double *would = TL_TAKE(a, double, 3 * (int64_t)n + 1);
    if (!up || !all || !would) return no_memory(err);
    for (int32_t i = 0; i < n; i++) up[i] = i;
    memcpy(would, q, sizeof *q * 3 * (size_t)n);
    for (int32_t round = 0; round <= n && !out->free; round++) {
        tl_lg_contacts more;
        size_t mark = tl_arena_mark(a);
        TL_TRY(tl_cancel_check(err));
        TL_TRY(tl_lg_impacts(now, false, a, &more, err));
        out->free = more.count == 0;
        for (int32_t c = 0; c < more.count; c++) {
            const tl_lg_contact *i = &more.contact[c];
            for (int k = 1; k < 4 && i->a.node[k] >= 0; k++) unite(up, i->a.node[0], i->a.node[k]);
            for (int k = 0; k < 4 && i->b.node[k] >= 0; k++) unite(up, i->a.node[0], i->b.node[k]);
        }
        tl_arena_release(a, mark);
        if (!out->free) move_pieces(h, now->from, would, up, all, q);
    }
    for (int32_t i = 0; i < n; i++) out->stiff += all[root_of(up, i)].nodes > 1;
    return TALUS_OK;
}

talus_status tl_lg_hold_apart(const tl_lg_view *v, double he, double *q, tl_arena *a, tl_lg_apart *out,
                              talus_error *err)
{
    const int64_t n = 3 * (int64_t)v->lg->nodes;
    tl_lg_view now = *v;
    held h = {.lg = v->lg};
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
    if (!out->free) TL_TRY(move_as_pieces(&h, &now, q, a, out, err));
    for (int64_t i = 0; before && i < v->lg->nodes; i++)
        out->moved = fmax(out->moved, tl_vec3_norm(tl_vec3_sub(tl_vec3_load(q + 3 * i), tl_vec3_load(before + 3 * i))));
    return TALUS_OK;
}

void tl_lg_apart_tell(const tl_lg_apart *p, const tl_lg *lg, const tl_log *log, double t, tl_lg_apart_told *told)
{
    if (p->stiff && !told->pieces) {
        told->pieces = true;
        tl_log_write(
            log, 0,
            "t = %.6g s: elastic surfaces have no room to move past each other: %d of %d nodes move as rigid "
            "pieces in this step, held back by up to %.3g m. What drives them asks for more than there is room "
            "for, or steps are too long (dt_max)",
            t, (int)p->stiff, (int)lg->nodes, p->moved);
    } else if (p->impacts && !told->impulses) {
        told->impulses = true;
        tl_log_write(
            log, 0,
            "t = %.6g s: contact was not solved to the end, and surfaces would have passed through each other at "
            "%lld places: impulses beside its laws hold them apart, by up to %.3g m; shorter steps (dt_max) "
            "help, or lg.corrections if it is 0",
            t, (long long)p->impacts, p->moved);
    }
}
