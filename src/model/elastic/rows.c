#include "model/elastic/rows.h"

#include <string.h>

#define OVERLAP_SHARE 0.2 /* of an overlap that one step takes away. All of it at once throws bodies off */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the contacts of elastic bodies");
}

/* ---- rows ---- */

static tl_vec3 add_point(tl_fem_link *l, const tl_lg_point *p, double sign, const double *x)
{
    tl_vec3 at = {0, 0, 0};
    for (int k = 0; k < 4 && p->node[k] >= 0; k++) {
        l->node[l->nodes] = p->node[k];
        l->weight[l->nodes++] = sign * p->weight[k];
        at = tl_vec3_add_scaled(at, sign * p->weight[k], tl_vec3_load(x + 3 * (int64_t)p->node[k]));
    }
    return at;
}

static tl_fem_link soft_link(const tl_fem_rows_of *from, const tl_lg_contact *c)
{
    tl_fem_link l = {.body = {-1, c->rigid}, .axis = {c->normal}};
    tl_vec3_tangents(c->normal, &l.axis[1], &l.axis[2]);
    tl_vec3 start = add_point(&l, &c->a, 1, from->from);
    if (c->b.node[0] >= 0) start = tl_vec3_add(start, add_point(&l, &c->b, -1, from->from));
    if (c->rigid >= 0) l.lever[1] = tl_vec3_sub(c->at, from->body[c->rigid].x);
    /* offset is that of the end of the step: at its start the obstacle has not moved yet */
    double moved = from->h * tl_vec3_dot(c->normal, c->drag);
    double gap = tl_vec3_dot(c->normal, start) - c->offset + moved;
    if (gap < 0) gap *= OVERLAP_SHARE;
    l.bias[0] = (gap - moved) / from->h;
    for (int k = 1; k < 3; k++) l.bias[k] = -tl_vec3_dot(l.axis[k], c->drag);
    return l;
}

static tl_fem_link hard_link(const tl_fem_rows_of *from, const tl_rigid_point *p)
{
    tl_fem_link l = {.body = {p->a, p->b}, .axis = {p->normal, p->t1, p->t2}};
    l.lever[0] = tl_vec3_sub(p->at, from->body[p->a].x);
    l.lever[1] = tl_vec3_sub(p->at, from->body[p->b].x);
    l.bias[0] = tl_rigid_point_room(p) / from->h;
    return l;
}

talus_status tl_fem_rows_make(tl_fem_rows *out, const tl_fem_rows_of *from, tl_arena *a, talus_error *err)
{
    *out = (tl_fem_rows){.fem = from->fem,
                         .soft = from->soft->count,
                         .contacts = from->soft->count + from->hard->count,
                         .rigid = from->rigid,
                         .inv_mass = from->inv_mass,
                         .inv_inertia = from->inv_inertia};
    out->link = TL_TAKE(a, tl_fem_link, out->contacts);
    out->mu = TL_TAKE(a, double, out->contacts);
    if (!out->link || !out->mu) return no_memory(err);
    for (int32_t c = 0; c < out->soft; c++) {
        out->link[c] = soft_link(from, &from->soft->contact[c]);
        out->mu[c] = from->soft->contact[c].mu;
    }
    for (int32_t c = 0; c < from->hard->count; c++) {
        out->link[out->soft + c] = hard_link(from, &from->hard->point[c]);
        out->mu[out->soft + c] = from->hard->point[c].friction;
    }
    return TALUS_OK;
}

static tl_vec3 body_velocity(const double *v, int32_t b, tl_vec3 lever)
{
    const double *m = v + 6 * (int64_t)b;
    return tl_vec3_add(tl_vec3_load(m), tl_vec3_cross(tl_vec3_load(m + 3), lever));
}

void tl_fem_rows_velocity(const tl_fem_rows *r, const double *v, const double *v_rigid, double *u)
{
    for (int32_t c = 0; c < r->contacts; c++) {
        const tl_fem_link *l = &r->link[c];
        tl_vec3 U = {0, 0, 0};
        for (int k = 0; k < l->nodes; k++)
            U = tl_vec3_add_scaled(U, l->weight[k], tl_vec3_load(v + 3 * (int64_t)l->node[k]));
        if (l->body[0] >= 0) U = tl_vec3_add(U, body_velocity(v_rigid, l->body[0], l->lever[0]));
        if (l->body[1] >= 0) U = tl_vec3_sub(U, body_velocity(v_rigid, l->body[1], l->lever[1]));
        for (int k = 0; k < 3; k++) u[3 * (int64_t)c + k] = tl_vec3_dot(l->axis[k], U) + l->bias[k];
    }
}

static void add_vec(double *to, double scale, tl_vec3 x)
{
    tl_vec3_store(tl_vec3_add_scaled(tl_vec3_load(to), scale, x), to);
}

void tl_fem_rows_push(const tl_fem_rows *r, const double *lam, double *nodes, double *bodies)
{
    for (int32_t c = 0; c < r->contacts; c++) {
        const tl_fem_link *l = &r->link[c];
        tl_vec3 f = tl_fem_link_force(l, lam + 3 * (int64_t)c);
        for (int k = 0; k < l->nodes; k++) add_vec(nodes + 3 * (int64_t)l->node[k], l->weight[k], f);
        for (int e = 0; e < 2 && bodies; e++) {
            if (l->body[e] < 0) continue;
            add_vec(bodies + 6 * (int64_t)l->body[e], e ? -1 : 1, f);
            add_vec(bodies + 6 * (int64_t)l->body[e] + 3, e ? -1 : 1, tl_vec3_cross(l->lever[e], f));
        }
    }
}

/* ---- compliance ---- */

/* Nodes of one body that contacts hang on, and H^-1 between them. */
typedef struct corner {
    int32_t nodes, *node; /* of tl_lg */
    double *C;            /* [3 nodes][3 nodes] */
} corner;

static talus_status find_compliance(const tl_fem *fem, tl_factor *factor, corner *k, tl_arena *a, talus_error *err)
{
    const int64_t m = 3 * (int64_t)k->nodes;
    size_t mark = tl_arena_mark(a);
    int32_t *index = TL_TAKE(a, int32_t, m);
    if (!index) return no_memory(err);
    for (int64_t i = 0; i < m; i++) index[i] = 3 * fem->place[k->node[i / 3]] + (int32_t)(i % 3);
    TL_TRY(tl_factor_inverse_part(factor, m, index, k->C, err));
    tl_arena_release(a, mark);
    return TALUS_OK;
}

static talus_status find_corner(const tl_fem_rows *r, int body, int32_t *number, corner *k, tl_arena *a,
                                talus_error *err)
{
    const tl_fem_body *b = &r->fem->body[body];
    k->nodes = 0;
    for (int32_t i = b->node; i < b->node + b->nodes; i++) number[i] = -1;
    for (int32_t c = 0; c < r->soft; c++)
        for (int j = 0; j < r->link[c].nodes; j++) {
            int32_t i = r->link[c].node[j];
            if (i >= b->node && i < b->node + b->nodes && r->fem->place[i] >= 0) number[i] = 0;
        }
    for (int32_t i = b->node; i < b->node + b->nodes; i++)
        if (number[i] == 0) k->nodes++;
    k->node = TL_TAKE(a, int32_t, k->nodes);
    k->C = TL_TAKE(a, double, 9 * (int64_t)k->nodes * k->nodes);
    if (!k->node || !k->C) return no_memory(err);
    int32_t count = 0;
    for (int32_t i = b->node; i < b->node + b->nodes; i++) {
        if (number[i] < 0) continue;
        k->node[count] = i;
        number[i] = count++;
    }
    return TALUS_OK;
}

/* W += J C J^T over contacts of one body: lower triangle. D [3 nodes][3 contacts of the body]: C J^T. */
static talus_status add_body(const tl_fem_rows *r, int body, const int32_t *number, const corner *k, double *W,
                             tl_arena *a, talus_error *err)
{
    const tl_fem_body *b = &r->fem->body[body];
    const int64_t m = 3 * (int64_t)k->nodes, n = 3 * (int64_t)r->contacts;
    size_t mark = tl_arena_mark(a);
    int32_t *contact = TL_TAKE(a, int32_t, r->soft), count = 0;
    if (!contact) return no_memory(err);
    for (int32_t c = 0; c < r->soft; c++) {
        bool any = false;
        for (int j = 0; j < r->link[c].nodes; j++) {
            int32_t i = r->link[c].node[j];
            any |= i >= b->node && i < b->node + b->nodes && number[i] >= 0;
        }
        if (any) contact[count++] = c;
    }
    double *D = TL_TAKE(a, double, 3 * (int64_t)count * m);
    if (!D) return no_memory(err);
#pragma omp parallel for schedule(static) if (count > 50)
    for (int32_t q = 0; q < count; q++) {
        const tl_fem_link *l = &r->link[contact[q]];
        for (int axis = 0; axis < 3; axis++) {
            double *out = D + (3 * (int64_t)q + axis) * m;
            const double d[3] = {l->axis[axis].x, l->axis[axis].y, l->axis[axis].z};
            memset(out, 0, sizeof *out * (size_t)m);
            for (int j = 0; j < l->nodes; j++) {
                int32_t i = l->node[j];
                if (i < b->node || i >= b->node + b->nodes || number[i] < 0) continue;
                for (int e = 0; e < 3; e++) {
                    const double *column = k->C + (3 * (int64_t)number[i] + e) * m, w = l->weight[j] * d[e];
                    for (int64_t t = 0; t < m; t++) out[t] += w * column[t];
                }
            }
        }
    }
#pragma omp parallel for schedule(static) if (count > 50)
    for (int32_t p = 0; p < count; p++) {
        const tl_fem_link *l = &r->link[contact[p]];
        for (int j = 0; j < l->nodes; j++) {
            int32_t i = l->node[j];
            if (i < b->node || i >= b->node + b->nodes || number[i] < 0) continue;
            for (int32_t q = 0; q <= p; q++)
                for (int e = 0; e < 3; e++) {
                    tl_vec3 d = tl_vec3_load(D + (3 * (int64_t)q + e) * m + 3 * (int64_t)number[i]);
                    for (int axis = 0; axis < 3; axis++)
                        W[(3 * (int64_t)contact[p] + axis) * n + 3 * (int64_t)contact[q] + e] +=
                            l->weight[j] * tl_vec3_dot(l->axis[axis], d);
                }
        }
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}

/* Through a rigid body, between two ends of contacts: lower triangle. */
static void add_rigid(const tl_fem_rows *r, double *W)
{
    const int64_t n = 3 * (int64_t)r->contacts;
    for (int32_t p = 0; p < r->contacts; p++)
        for (int e = 0; e < 2; e++) {
            const tl_fem_link *l = &r->link[p];
            int32_t b = l->body[e];
            if (b < 0 || !(r->inv_mass[b] > 0)) continue;
            tl_mat3 I;
            memcpy(I.m, r->inv_inertia + 9 * (int64_t)b, sizeof I.m);
            for (int axis = 0; axis < 3; axis++) {
                tl_vec3 push = tl_vec3_scale(r->inv_mass[b], l->axis[axis]);
                tl_vec3 turn = tl_mat3_mul_vec(I, tl_vec3_cross(l->lever[e], l->axis[axis]));
                for (int32_t q = 0; q <= p; q++)
                    for (int f = 0; f < 2; f++) {
                        if (r->link[q].body[f] != b) continue;
                        tl_vec3 u = tl_vec3_add(push, tl_vec3_cross(turn, r->link[q].lever[f]));
                        double sign = e == f ? 1 : -1;
                        for (int k = 0; k < 3; k++)
                            W[(3 * (int64_t)p + axis) * n + 3 * (int64_t)q + k] +=
                                sign * tl_vec3_dot(r->link[q].axis[k], u);
                    }
            }
        }
}

talus_status tl_fem_rows_compliance(const tl_fem_rows *r, tl_factor *const *factor, double *W, tl_arena *a,
                                    talus_error *err)
{
    const int64_t n = 3 * (int64_t)r->contacts;
    size_t mark = tl_arena_mark(a);
    memset(W, 0, sizeof *W * (size_t)(n * n));
    int32_t *number = TL_TAKE(a, int32_t, r->fem->lg->nodes);
    if (!number) return no_memory(err);
    for (int b = 0; b < r->fem->bodies; b++) {
        corner k;
        size_t own = tl_arena_mark(a);
        TL_TRY(find_corner(r, b, number, &k, a, err));
        if (k.nodes > 0) {
            TL_TRY(find_compliance(r->fem, factor[b], &k, a, err));
            TL_TRY(add_body(r, b, number, &k, W, a, err));
        }
        tl_arena_release(a, own);
    }
    add_rigid(r, W);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) W[i * n + j] = W[j * n + i];
    /* diagonal blocks: both of their triangles were added up, not quite alike */
    for (int64_t i = 0; i < n; i += 3)
        for (int p = 0; p < 3; p++)
            for (int q = p + 1; q < 3; q++) W[(i + p) * n + i + q] = W[(i + q) * n + i + p];
    tl_arena_release(a, mark);
    return TALUS_OK;
}
