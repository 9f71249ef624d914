#include "model/lg/rows.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "model/rigid/motion.h"

#define EXPLICIT_LEAST 400.0 /* nodes: so few are always worth a matrix */
/* Of the numbers that a solve moves. A product reads as many in a quarter of the time, but columns are solved for: 3
 * gains nothing. */
#define EXPLICIT_SHARE 1.0
#define PARALLEL_LINKS 500 /* contacts whose gather is worth a second thread */
#define PARALLEL_DENSE 100 /* rows of B */
#define PARALLEL_NEW 8     /* rows that join B */
#define PUSH_SHARE 0.2     /* of an overlap of two rigid bodies that one step takes away, as in the rigid step */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the contacts of elastic bodies");
}

/* ---- links ---- */

static tl_vec3 add_point(tl_lg_link *l, const tl_lg_point *p, double sign, const double *q)
{
    tl_vec3 at = {0, 0, 0};
    for (int k = 0; k < 4 && p->node[k] >= 0; k++) {
        l->node[l->nodes] = p->node[k]; /* of lg; numbered later */
        l->weight[l->nodes++] = sign * p->weight[k];
        at = tl_vec3_add_scaled(at, sign * p->weight[k], tl_vec3_load(q + 3 * (int64_t)p->node[k]));
    }
    return at;
}

static tl_lg_link soft_link(const tl_lg_rows_of *from, const tl_lg_contact *c)
{
    tl_lg_link l = {.body = {-1, c->rigid}, .mu = c->mu, .axis = {c->normal}};
    tl_vec3_tangents(c->normal, &l.axis[1], &l.axis[2]);
    tl_vec3 start = add_point(&l, &c->a, 1, from->from);
    if (c->b.node[0] >= 0) start = tl_vec3_add(start, add_point(&l, &c->b, -1, from->from));
    if (c->rigid >= 0) l.lever[1] = tl_vec3_sub(c->at, from->body[c->rigid].x);
    start = tl_vec3_add_scaled(start, from->h, c->drag);
    l.zero[0] = c->offset;
    for (int k = 1; k < 3; k++) l.zero[k] = tl_vec3_dot(l.axis[k], start);
    return l;
}

static tl_lg_link hard_link(const tl_lg_rows_of *from, const tl_rigid_point *p)
{
    tl_lg_link l = {.body = {p->a, p->b}, .mu = p->friction, .axis = {p->normal, p->t1, p->t2}};
    double gap = p->gap;
    if (gap < 0) gap = PUSH_SHARE * fmin(0, gap + from->slop);
    const int32_t side[2] = {p->a, p->b};
    tl_vec3 given = {0, 0, 0};
    for (int k = 0; k < 2; k++) {
        const tl_motion *m = &from->body[side[k]];
        l.lever[k] = tl_vec3_sub(p->at, m->x);
        if (from->rigid->body[side[k]].kind == TL_BODY_FREE) continue;
        l.body[k] = -1;
        if (from->rigid->body[side[k]].kind == TL_BODY_KINEMATIC)
            given =
                tl_vec3_add_scaled(given, k ? -from->h : from->h, tl_vec3_add(m->v, tl_vec3_cross(m->w, l.lever[k])));
    }
    for (int k = 0; k < 3; k++) l.zero[k] = -tl_vec3_dot(l.axis[k], given);
    l.zero[0] -= gap;
    return l;
}

/* ---- what they hang on ---- */

/* Items with a mark become a rising list; mark: their place in it. */
static int32_t number_marked(int32_t n, int32_t *mark, int32_t *list)
{
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!mark[i]) continue;
        list[count] = i;
        mark[i] = count++;
    }
    return count;
}

static talus_status find_nodes(tl_lg_rows *r, tl_arena *a, talus_error *err)
{
    int32_t *mark = TL_TAKE_ZERO(a, int32_t, r->lg->nodes), max = 0;
    if (!mark) return no_memory(err);
    for (int32_t c = 0; c < r->contacts; c++)
        for (int32_t k = 0; k < r->link[c].nodes; k++) mark[r->link[c].node[k]] = 1;
    for (int32_t k = 0; k < r->bilateral.terms; k++) mark[r->bilateral.term[k].node] = 1;
    for (int32_t i = 0; i < r->lg->nodes; i++) max += mark[i];
    r->node = TL_TAKE(a, int32_t, max);
    r->pull_start = TL_TAKE_ZERO(a, int32_t, max + 1);
    r->term_start = TL_TAKE_ZERO(a, int32_t, max + 1);
    r->term = TL_TAKE(a, int32_t, r->bilateral.terms);
    r->term_row = TL_TAKE(a, int32_t, r->bilateral.terms);
    if (!r->node || !r->pull_start || !r->term_start || !r->term || !r->term_row) return no_memory(err);
    r->nodes = number_marked(r->lg->nodes, mark, r->node);
    /* count, add up, fill: rows of a node come in their order */
    int32_t pulls = 0;
    for (int32_t c = 0; c < r->contacts; c++)
        for (int32_t k = 0; k < r->link[c].nodes; k++) {
            r->link[c].node[k] = mark[r->link[c].node[k]];
            r->pull_start[r->link[c].node[k] + 1]++;
            pulls++;
        }
    for (int32_t k = 0; k < r->bilateral.terms; k++) r->term_start[mark[r->bilateral.term[k].node] + 1]++;
    for (int32_t i = 0; i < r->nodes; i++) {
        r->pull_start[i + 1] += r->pull_start[i];
        r->term_start[i + 1] += r->term_start[i];
    }
    r->pull = TL_TAKE(a, tl_lg_pull, pulls);
    int32_t *next = TL_TAKE(a, int32_t, 2 * (int64_t)max), *next_term = next ? next + max : NULL;
    if (!r->pull || !next) return no_memory(err);
    memcpy(next, r->pull_start, sizeof *next * (size_t)max);
    memcpy(next_term, r->term_start, sizeof *next * (size_t)max);
    for (int32_t c = 0; c < r->contacts; c++)
        for (int32_t k = 0; k < r->link[c].nodes; k++)
            r->pull[next[r->link[c].node[k]]++] = (tl_lg_pull){3 * c, r->link[c].weight[k]};
    for (int32_t b = 0; b < r->bilateral.count; b++)
        for (int32_t k = 0; k < r->bilateral.row[b].count; k++) {
            int32_t t = r->bilateral.row[b].first + k;
            r->term_row[t] = b;
            r->term[next_term[mark[r->bilateral.term[t].node]]++] = t;
        }
    return TALUS_OK;
}

static talus_status find_bodies(tl_lg_rows *r, const tl_lg_rows_of *from, tl_arena *a, talus_error *err)
{
    int32_t *mark = TL_TAKE_ZERO(a, int32_t, from->rigid->count), ends = 0;
    r->body = TL_TAKE(a, int32_t, from->rigid->count);
    if (!mark || !r->body) return no_memory(err);
    for (int32_t c = 0; c < r->contacts; c++)
        for (int k = 0; k < 2; k++)
            if (r->link[c].body[k] >= 0) mark[r->link[c].body[k]] = 1, ends++;
    for (int32_t b = 0; b < r->bilateral.count; b++)
        if (r->bilateral.row[b].body >= 0) mark[r->bilateral.row[b].body] = 1, ends++;
    for (int32_t i = 0; i < from->rigid->count && from->joined; i++)
        if (from->joined[i]) mark[i] = 1;
    r->bodies = number_marked(from->rigid->count, mark, r->body);
    r->inverse_mass = TL_TAKE(a, double, r->bodies);
    r->inverse_inertia = TL_TAKE(a, tl_mat3, r->bodies);
    r->body_start = TL_TAKE_ZERO(a, int32_t, r->bodies + 2);
    r->body_pull = TL_TAKE(a, int32_t, ends);
    r->body_push = TL_TAKE_ZERO(a, double, 6 * (int64_t)r->bodies);
    r->body_shift = TL_TAKE_ZERO(a, double, 6 * (int64_t)r->bodies);
    if (!r->inverse_mass || !r->inverse_inertia || !r->body_start || !r->body_pull || !r->body_push || !r->body_shift)
        return no_memory(err);
    const double share = from->h * from->h / (from->he * from->he);
    for (int32_t i = 0; i < r->bodies; i++) {
        r->inverse_mass[i] = share / from->rigid->body[r->body[i]].mass;
        r->inverse_inertia[i] =
            tl_mat3_scale(share, tl_rigid_inverse_inertia(&from->rigid->body[r->body[i]], from->body[r->body[i]].q));
    }
    /* body_start is one ahead while ends are filled in */
    for (int32_t c = 0; c < r->contacts; c++)
        for (int k = 0; k < 2; k++) {
            if (r->link[c].body[k] < 0) continue;
            r->link[c].body[k] = mark[r->link[c].body[k]];
            r->body_start[r->link[c].body[k] + 2]++;
        }
    for (int32_t b = 0; b < r->bilateral.count; b++) {
        tl_lg_bilateral *row = &r->bilateral.row[b];
        row->place = row->body >= 0 ? mark[row->body] : -1;
        if (row->place >= 0) r->body_start[row->place + 2]++;
    }
    for (int32_t i = 0; i < r->bodies; i++) r->body_start[i + 2] += r->body_start[i + 1];
    for (int32_t c = 0; c < r->contacts; c++)
        for (int k = 0; k < 2; k++)
            if (r->link[c].body[k] >= 0) r->body_pull[r->body_start[r->link[c].body[k] + 1]++] = 2 * c + k;
    for (int32_t b = 0; b < r->bilateral.count; b++)
        if (r->bilateral.row[b].place >= 0)
            r->body_pull[r->body_start[r->bilateral.row[b].place + 1]++] = 2 * r->contacts + b;
    return TALUS_OK;
}

/* ---- compliance ---- */

/* Room for B of the nodes in play, as far as it moves less than a solve does. Decided by sizes alone: a resumed run
 * decides the same. */
static talus_status take_focus(tl_lg_rows *r, const tl_lg_rows_of *from, tl_arena *a, talus_error *err)
{
    tl_lg_focus *f = &r->focus;
    int64_t n = r->nodes, max = n;
    if (from->compliance == TL_LG_COMPLIANCE_FREE) return TALUS_OK;
    if (from->compliance == TL_LG_COMPLIANCE_AUTO) {
        double moved = EXPLICIT_SHARE * 2 * (double)tl_lg_solver_about(from->solver).stored_L;
        max = (int64_t)fmin((double)n, fmax(EXPLICIT_LEAST, sqrt(moved)));
    }
    f->max = (int32_t)max;
    f->node = TL_TAKE(a, int32_t, max);
    f->lg_node = TL_TAKE(a, int32_t, max);
    f->place = TL_TAKE(a, int32_t, n);
    if (!f->node || !f->lg_node || !f->place) return no_memory(err);
    for (int64_t i = 0; i < n; i++) f->place[i] = -1;
    if (r->precision == TL_LG_FLOAT) {
        f->B = TL_TAKE(a, float, max *max);
        f->push = TL_TAKE(a, float, 3 * max);
        f->shift = TL_TAKE(a, float, 3 * max);
        return f->B && f->push && f->shift ? TALUS_OK : no_memory(err);
    }
    f->B_double = TL_TAKE(a, double, max *max);
    f->push_double = TL_TAKE(a, double, 3 * max);
    f->shift_double = TL_TAKE(a, double, 3 * max);
    return f->B_double && f->push_double && f->shift_double ? TALUS_OK : no_memory(err);
}

static double between_nodes(const tl_lg_rows *r, int32_t i, int32_t j)
{
    bool same = r->lg->owner[r->node[i]] == r->lg->owner[r->node[j]];
    return same ? tl_lg_columns_at(r->columns, r->node[i], r->node[j]) : 0;
}

static talus_status find_compliance(tl_lg_rows *r, const tl_lg_rows_of *from, tl_arena *a, talus_error *err)
{
    const int64_t n = r->nodes;
    TL_TRY(take_focus(r, from, a, err));
    r->room = TL_TAKE_ZERO(a, double, 6 * (int64_t)r->lg->nodes);
    r->part = TL_TAKE(a, uint8_t, r->lg->nodes);
    if (!r->room || !r->part) return no_memory(err);
    bool whole = from->compliance == TL_LG_COMPLIANCE_EXPLICIT ||
                 (from->compliance == TL_LG_COMPLIANCE_AUTO && (double)n <= EXPLICIT_LEAST);
    if (!whole) return TALUS_OK;
    r->push = TL_TAKE(a, double, 3 * n);
    r->shift = TL_TAKE(a, double, 3 * n);
    double *B = TL_TAKE(a, double, n *n);
    if (!r->push || !r->shift || !B) return no_memory(err);
    TL_TRY(tl_lg_columns_ready(r->columns, r->solver, r->precision, r->he, r->nodes, r->node, r->room, err));
#pragma omp parallel for schedule(static, 16) if (n > PARALLEL_DENSE)
    for (int32_t i = 0; i < (int32_t)n; i++)
        for (int32_t j = 0; j < (int32_t)n; j++) B[i * n + j] = between_nodes(r, i, j);
    r->B = B;
    return TALUS_OK;
}

/* Of a body's end of a contact, along an axis. */
static double body_compliance(const tl_lg_rows *r, int32_t b, tl_vec3 lever, tl_vec3 axis)
{
    tl_vec3 turn = tl_vec3_cross(lever, axis);
    return r->inverse_mass[b] + tl_vec3_dot(turn, tl_mat3_mul_vec(r->inverse_inertia[b], turn));
}

/* A^-1 between two nodes. Matrix-free: at most this, from the diagonal. */
static double between(const tl_lg_rows *r, const double *diagonal, int32_t i, int32_t j)
{
    if (r->B) return r->B[(int64_t)i * r->nodes + j];
    if (i == j) return diagonal[r->node[i]];
    if (r->lg->owner[r->node[i]] != r->lg->owner[r->node[j]]) return 0;
    return sqrt(diagonal[r->node[i]] * diagonal[r->node[j]]);
}

static void link_diagonal(tl_lg_rows *r, const double *diagonal, int32_t c)
{
    const tl_lg_link *l = &r->link[c];
    double elastic = 0, light = 0;
    for (int32_t i = 0; i < l->nodes; i++) {
        double mass = r->lg->mass[r->node[l->node[i]]];
        light += l->weight[i] * l->weight[i] / (mass > 0 ? mass : INFINITY);
        for (int32_t j = 0; j < l->nodes; j++)
            if (r->B || l->weight[i] * l->weight[j] > 0)
                elastic += l->weight[i] * l->weight[j] * between(r, diagonal, l->node[i], l->node[j]);
    }
    for (int k = 0; k < 3; k++) {
        double bodies = 0;
        for (int end = 0; end < 2; end++)
            if (l->body[end] >= 0) bodies += body_compliance(r, l->body[end], l->lever[end], l->axis[k]);
        r->diagonal[3 * (int64_t)c + k] = elastic + bodies;
        r->mass[3 * (int64_t)c + k] = light + bodies;
    }
}

static void bilateral_diagonal(tl_lg_rows *r, const double *diagonal, int32_t b)
{
    const tl_lg_bilateral *row = &r->bilateral.row[b];
    const tl_lg_term *t = r->bilateral.term + row->first;
    double sum = 0, light = 0;
    for (int32_t k = 0; k < row->count; k++) {
        double mass = r->lg->mass[t[k].node];
        sum += tl_vec3_norm2(t[k].along) * diagonal[t[k].node];
        light += tl_vec3_norm2(t[k].along) / (mass > 0 ? mass : INFINITY);
    }
    if (row->place >= 0) {
        double body = body_compliance(r, row->place, row->lever, row->axis);
        sum += body, light += body;
    }
    double soft = row->compliance / (r->he * r->he);
    r->diagonal[3 * (int64_t)r->contacts + b] = sum + soft;
    r->mass[3 * (int64_t)r->contacts + b] = light + soft;
}

void tl_lg_rows_renew(tl_lg_rows *r, const double *q)
{
    if (!r->bilateral.count || !r->bilateral.renew) return;
    r->bilateral.renew(&r->bilateral, q);
    for (int32_t b = 0; b < r->bilateral.count; b++) bilateral_diagonal(r, r->node_diagonal, b);
}

talus_status tl_lg_rows_make(tl_lg_rows *r, const tl_lg_rows_of *from, tl_arena *a, talus_error *err)
{
    *r = (tl_lg_rows){.lg = from->lg,
                      .solver = from->solver,
                      .columns = from->columns,
                      .precision = from->precision,
                      .he = from->he,
                      .soft = from->soft->count,
                      .contacts = from->soft->count + from->hard->count,
                      .bilateral = *from->bilateral};
    r->rows = 3 * (int64_t)r->contacts + r->bilateral.count;
    if (r->rows == 0 && !from->joined) return TALUS_OK;
    r->link = TL_TAKE(a, tl_lg_link, r->contacts);
    r->diagonal = TL_TAKE(a, double, r->rows);
    r->mass = TL_TAKE(a, double, r->rows);
    if (!r->link || !r->diagonal || !r->mass) return no_memory(err);
    for (int32_t c = 0; c < r->soft; c++) r->link[c] = soft_link(from, &from->soft->contact[c]);
    for (int32_t c = 0; c < from->hard->count; c++) r->link[r->soft + c] = hard_link(from, &from->hard->point[c]);
    TL_TRY(find_nodes(r, a, err));
    TL_TRY(find_bodies(r, from, a, err));
    if (r->nodes) {
        TL_TRY(find_compliance(r, from, a, err));
        if (!r->B || r->bilateral.count) TL_TRY(tl_lg_solver_diagonal(from->solver, &r->node_diagonal, err));
    }
    r->force = TL_TAKE_ZERO(a, double, 3 * (int64_t)r->lg->nodes);
    r->moved = TL_TAKE_ZERO(a, double, 3 * (int64_t)r->lg->nodes);
    if (!r->force || !r->moved) return no_memory(err);
    for (int32_t c = 0; c < r->contacts; c++) link_diagonal(r, r->node_diagonal, c);
    for (int32_t b = 0; b < r->bilateral.count; b++) bilateral_diagonal(r, r->node_diagonal, b);
    return TALUS_OK;
}

/* ---- values and products ---- */

static tl_vec3 body_point(const double *moved, int32_t b, tl_vec3 lever)
{
    const double *m = moved + 6 * (int64_t)b;
    return tl_vec3_add(tl_vec3_load(m), tl_vec3_cross(tl_vec3_load(m + 3), lever));
}

static void put_axes(const tl_lg_link *l, const double *bodies, tl_vec3 U, double out[3])
{
    if (l->body[0] >= 0) U = tl_vec3_add(U, body_point(bodies, l->body[0], l->lever[0]));
    if (l->body[1] >= 0) U = tl_vec3_sub(U, body_point(bodies, l->body[1], l->lever[1]));
    for (int k = 0; k < 3; k++) out[k] = tl_vec3_dot(l->axis[k], U);
}

static tl_vec3 node_sum(const tl_lg_rows *r, const tl_lg_link *l, const double *q)
{
    tl_vec3 U = {0, 0, 0};
    for (int32_t k = 0; k < l->nodes; k++)
        U = tl_vec3_add_scaled(U, l->weight[k], tl_vec3_load(q + 3 * (int64_t)r->node[l->node[k]]));
    return U;
}

static double row_sum(const tl_lg_rows *r, const tl_lg_bilateral *b, const double *q, const double *bodies)
{
    double sum = b->place >= 0 ? -tl_vec3_dot(b->axis, body_point(bodies, b->place, b->lever)) : 0;
    for (int32_t k = b->first; k < b->first + b->count; k++)
        sum += tl_vec3_dot(r->bilateral.term[k].along, tl_vec3_load(q + 3 * (int64_t)r->bilateral.term[k].node));
    return sum;
}

void tl_lg_rows_values(const tl_lg_rows *r, const double *q, const double *body_moved, double *out)
{
#pragma omp parallel for schedule(static) if (r->contacts > PARALLEL_LINKS)
    for (int32_t c = 0; c < r->contacts; c++) {
        double *value = out + 3 * (int64_t)c;
        put_axes(&r->link[c], body_moved, node_sum(r, &r->link[c], q), value);
        for (int k = 0; k < 3; k++) value[k] -= r->link[c].zero[k];
    }
    for (int32_t b = 0; b < r->bilateral.count; b++)
        out[3 * (int64_t)r->contacts + b] =
            row_sum(r, &r->bilateral.row[b], q, body_moved) - r->bilateral.row[b].target;
}

void tl_lg_rows_slopes(const tl_lg_rows *r, const double *dq, const double *shift, double *out)
{
#pragma omp parallel for schedule(static) if (r->contacts > PARALLEL_LINKS)
    for (int32_t c = 0; c < r->contacts; c++)
        put_axes(&r->link[c], shift, node_sum(r, &r->link[c], dq), out + 3 * (int64_t)c);
    for (int32_t b = 0; b < r->bilateral.count; b++)
        out[3 * (int64_t)r->contacts + b] = row_sum(r, &r->bilateral.row[b], dq, shift);
}

static tl_vec3 node_force(const tl_lg_rows *r, int32_t i, const double *x)
{
    tl_vec3 f = {0, 0, 0};
    for (int32_t k = r->pull_start[i]; k < r->pull_start[i + 1]; k++)
        f = tl_vec3_add_scaled(f, r->pull[k].weight,
                               tl_lg_link_force(&r->link[r->pull[k].row / 3], x + r->pull[k].row));
    for (int32_t k = r->term_start[i]; k < r->term_start[i + 1]; k++)
        f = tl_vec3_add_scaled(f, x[3 * (int64_t)r->contacts + r->term_row[r->term[k]]],
                               r->bilateral.term[r->term[k]].along);
    return f;
}

static void push_bodies(const tl_lg_rows *r, const double *x)
{
    for (int32_t b = 0; b < r->bodies; b++) {
        tl_vec3 force = {0, 0, 0}, torque = {0, 0, 0};
        for (int32_t k = r->body_start[b]; k < r->body_start[b + 1]; k++) {
            int32_t c = r->body_pull[k] / 2, end = r->body_pull[k] % 2, row = r->body_pull[k] - 2 * r->contacts;
            const tl_lg_bilateral *held = row >= 0 ? &r->bilateral.row[row] : NULL;
            tl_vec3 f = held ? tl_vec3_scale(x[3 * (int64_t)r->contacts + row], held->axis)
                             : tl_lg_link_force(&r->link[c], x + 3 * (int64_t)c);
            if (held || end) f = tl_vec3_scale(-1, f);
            force = tl_vec3_add(force, f);
            torque = tl_vec3_add(torque, tl_vec3_cross(held ? held->lever : r->link[c].lever[end], f));
        }
        tl_vec3_store(force, r->body_push + 6 * (int64_t)b);
        tl_vec3_store(torque, r->body_push + 6 * (int64_t)b + 3);
    }
}

void tl_lg_rows_scatter(const tl_lg_rows *r, const double *x)
{
#pragma omp parallel for schedule(static) if (r->nodes > PARALLEL_LINKS)
    for (int32_t i = 0; i < r->nodes; i++) tl_vec3_store(node_force(r, i, x), r->force + 3 * (int64_t)r->node[i]);
    push_bodies(r, x);
}

/* shift = B push, three columns: [3][n] */
#define MULTIPLY(NAME, REAL, LANES)                                                                                    \
    static void NAME(int64_t n, int64_t stride, const REAL *restrict B, const REAL *restrict f, REAL *restrict out)    \
    {                                                                                                                  \
        _Pragma("omp parallel for schedule(static) if (n > PARALLEL_DENSE)") for (int64_t i = 0; i < n; i++)           \
        {                                                                                                              \
            const REAL *restrict row = B + i * stride;                                                                 \
            REAL lane[3][LANES] = {{0}}, sum[3] = {0};                                                                 \
            int64_t j = 0;                                                                                             \
            for (; j + LANES <= n; j += LANES)                                                                         \
                for (int c = 0; c < 3; c++)                                                                            \
                    for (int k = 0; k < LANES; k++) lane[c][k] += row[j + k] * f[c * n + j + k];                       \
            for (; j < n; j++)                                                                                         \
                for (int c = 0; c < 3; c++) sum[c] += row[j] * f[c * n + j];                                           \
            for (int c = 0; c < 3; c++) {                                                                              \
                for (int k = 0; k < LANES; k++) sum[c] += lane[c][k];                                                  \
                out[c * n + i] = sum[c];                                                                               \
            }                                                                                                          \
        }                                                                                                              \
    }
MULTIPLY(multiply_double, double, 8)
MULTIPLY(multiply_float, float, 16)

static void multiply_dense(const tl_lg_rows *r)
{
    const int64_t n = r->nodes;
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) r->push[c * n + i] = r->force[3 * (int64_t)r->node[i] + c];
    multiply_double(n, n, r->B, r->push, r->shift);
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) r->moved[3 * (int64_t)r->node[i] + c] = r->shift[c * n + i];
}

static void move_bodies(const tl_lg_rows *r)
{
    for (int32_t b = 0; b < r->bodies; b++) {
        const double *push = r->body_push + 6 * (int64_t)b;
        double *shift = r->body_shift + 6 * (int64_t)b;
        tl_vec3_store(tl_vec3_scale(r->inverse_mass[b], tl_vec3_load(push)), shift);
        tl_vec3_store(tl_mat3_mul_vec(r->inverse_inertia[b], tl_vec3_load(push + 3)), shift + 3);
    }
}

static void gather(const tl_lg_rows *r, const double *x, double *out)
{
#pragma omp parallel for schedule(static) if (r->contacts > PARALLEL_LINKS)
    for (int32_t c = 0; c < r->contacts; c++)
        put_axes(&r->link[c], r->body_shift, node_sum(r, &r->link[c], r->moved), out + 3 * (int64_t)c);
    for (int32_t b = 0; b < r->bilateral.count; b++) {
        int64_t k = 3 * (int64_t)r->contacts + b;
        out[k] = row_sum(r, &r->bilateral.row[b], r->moved, r->body_shift) +
                 r->bilateral.row[b].compliance / (r->he * r->he) * x[k];
    }
}

static void multiply(const tl_lg_rows *r, const uint8_t *part, const double *x, double *out)
{
    tl_lg_rows_scatter(r, x);
    move_bodies(r);
    if (r->B)
        multiply_dense(r);
    else if (r->nodes)
        tl_lg_solve_part(r->solver, r->precision, part, part, r->force, r->moved);
    gather(r, x, out);
}

void tl_lg_rows_multiply(const tl_lg_rows *r, const double *x, double *out) { multiply(r, NULL, x, out); }

/* ---- products of some rows ---- */

/* New nodes in play join the list; false: no room for them all. */
static bool list_nodes(tl_lg_rows *r, const double *part)
{
    tl_lg_focus *f = &r->focus;
    for (int32_t c = 0; c < r->contacts; c++) {
        const double *p = part + 3 * (int64_t)c;
        if (p[0] == 0 && p[1] == 0 && p[2] == 0) continue;
        for (int32_t k = 0; k < r->link[c].nodes; k++) {
            int32_t i = r->link[c].node[k];
            if (f->place[i] >= 0) continue;
            if (f->nodes == f->max) return false;
            f->place[i] = f->nodes;
            f->node[f->nodes++] = i;
        }
    }
    for (int32_t i = 0; i < r->nodes && r->bilateral.terms; i++) {
        if (r->term_start[i + 1] == r->term_start[i] || f->place[i] >= 0) continue;
        if (f->nodes == f->max) return false;
        f->place[i] = f->nodes;
        f->node[f->nodes++] = i;
    }
    return true;
}

/* Rows and columns of nodes from `known` on. */
static void fill_focus(tl_lg_rows *r, int32_t known)
{
    const tl_lg_focus *f = &r->focus;
    const int64_t max = f->max, all = r->nodes;
#pragma omp parallel for schedule(static, 16) if (f->nodes - known > PARALLEL_NEW)
    for (int32_t i = known; i < f->nodes; i++)
        for (int32_t j = 0; j <= i; j++) {
            double B = r->B ? r->B[f->node[i] * all + f->node[j]] : between_nodes(r, f->node[i], f->node[j]);
            if (f->B)
                f->B[i * max + j] = f->B[j * max + i] = (float)B;
            else
                f->B_double[i * max + j] = f->B_double[j * max + i] = B;
        }
}

/* Blocks of the factor over nodes in play. */
static void mark_part(tl_lg_rows *r, const double *part)
{
    if (r->B || !r->nodes) return;
    memset(r->part, 0, (size_t)r->lg->nodes);
    for (int32_t c = 0; c < r->contacts; c++) {
        const double *p = part + 3 * (int64_t)c;
        if (p[0] == 0 && p[1] == 0 && p[2] == 0) continue;
        for (int32_t k = 0; k < r->link[c].nodes; k++)
            tl_lg_solver_mark(r->solver, r->node[r->link[c].node[k]], r->part);
    }
    for (int32_t k = 0; k < r->bilateral.terms; k++) tl_lg_solver_mark(r->solver, r->bilateral.term[k].node, r->part);
}

talus_status tl_lg_rows_focus(tl_lg_rows *r, const double *part, talus_error *err)
{
    tl_lg_focus *f = &r->focus;
    f->dense = false;
    if (!f->max) {
        mark_part(r, part);
        return TALUS_OK;
    }
    const int32_t known = f->nodes;
    if (!list_nodes(r, part)) { /* as it was: the next look may find fewer */
        while (f->nodes > known) f->place[f->node[--f->nodes]] = -1;
        mark_part(r, part);
        return TALUS_OK;
    }
    f->dense = true;
    if (f->nodes == known) return TALUS_OK;
    for (int32_t i = known; i < f->nodes; i++) f->lg_node[i] = r->node[f->node[i]];
    if (!r->B)
        TL_TRY(tl_lg_columns_ready(r->columns, r->solver, r->precision, r->he, f->nodes, f->lg_node, r->room, err));
    fill_focus(r, known);
    return TALUS_OK;
}

void tl_lg_rows_multiply_part(const tl_lg_rows *r, const double *x, double *out)
{
    const tl_lg_focus *f = &r->focus;
    if (!f->dense) {
        multiply(r, r->part, x, out);
        return;
    }
    const int64_t n = f->nodes;
    push_bodies(r, x);
    move_bodies(r);
#pragma omp parallel for schedule(static) if (n > PARALLEL_LINKS)
    for (int32_t i = 0; i < (int32_t)n; i++) {
        tl_vec3 at = node_force(r, f->node[i], x);
        const double push[3] = {at.x, at.y, at.z};
        for (int c = 0; c < 3; c++)
            if (f->B)
                f->push[c * n + i] = (float)push[c];
            else
                f->push_double[c * n + i] = push[c];
    }
    if (f->B)
        multiply_float(n, f->max, f->B, f->push, f->shift);
    else
        multiply_double(n, f->max, f->B_double, f->push_double, f->shift_double);
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            r->moved[3 * (int64_t)r->node[f->node[i]] + c] =
                f->B ? (double)f->shift[c * n + i] : f->shift_double[c * n + i];
    gather(r, x, out);
}
