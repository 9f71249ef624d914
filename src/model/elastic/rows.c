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

static tl_fem_link hard_link(const tl_rigid_point *p, const double bias[3])
{
    tl_fem_link l = {.body = {p->a, p->b}, .lever = {p->arm_a, p->arm_b}, .axis = {p->normal, p->t1, p->t2}};
    memcpy(l.bias, bias, sizeof l.bias);
    return l;
}

talus_status tl_fem_rows_make(tl_fem_rows *out, const tl_fem_rows_of *from, tl_arena *a, talus_error *err)
{
    *out = (tl_fem_rows){.fem = from->fem,
                         .soft = from->soft->count,
                         .contacts = from->soft->count + from->hard->count,
                         .joint = from->joint,
                         .rigid = from->rigid,
                         .inv_mass = from->inv_mass,
                         .inv_inertia = from->inv_inertia};
    out->blocks = out->contacts + from->joint->count;
    out->link = TL_TAKE(a, tl_fem_link, out->contacts);
    out->mu = TL_TAKE_ZERO(a, double, out->blocks);
    if (!out->link || !out->mu) return no_memory(err);
    for (int32_t c = 0; c < out->soft; c++) {
        out->link[c] = soft_link(from, &from->soft->contact[c]);
        out->mu[c] = from->soft->contact[c].mu;
    }
    for (int32_t c = 0; c < from->hard->count; c++) {
        out->link[out->soft + c] = hard_link(&from->hard->point[c], from->bias + 3 * (int64_t)c);
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
    for (int64_t k = 0; k < 3 * (int64_t)(r->blocks - r->contacts); k++)
        u[3 * (int64_t)r->contacts + k] = tl_joint_block_speed(r->joint, k, v_rigid) + r->joint->bias[k];
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
    for (int64_t k = 0; k < 3 * (int64_t)(r->blocks - r->contacts) && bodies; k++)
        for (int e = 0; e < 2; e++) {
            const tl_joint_row *row = &r->joint->row[k];
            const int32_t body = r->joint->body[k / 3][e];
            const double x = lam[3 * (int64_t)r->contacts + k];
            if (body < 0) continue;
            add_vec(bodies + 6 * (int64_t)body, x, e ? row->push_b : row->push_a);
            add_vec(bodies + 6 * (int64_t)body + 3, x, e ? row->turn_b : row->turn_a);
        }
}

/* ---- as a matrix ---- */

static bool moves(const tl_fem_rows *r, int32_t body) { return body >= 0 && r->inv_mass[body] > 0; }

/* Columns of one contact's rows: of unknown nodes, then of bodies that move; rising, none twice. Returns their
 * number; weight [count] of nodes, 0 for bodies. */
static int columns(const tl_fem_rows *r, const tl_fem_link *l, const int64_t *first, int64_t n, int64_t *at,
                   double *weight, int *side)
{
    int count = 0;
    for (int k = 0; k < l->nodes; k++) {
        int32_t place = r->fem->place[l->node[k]];
        if (place < 0) continue;
        int64_t column = first[r->fem->lg->owner[l->node[k]]] + 3 * (int64_t)place;
        int to = 0;
        while (to < count && at[to] < column) to++;
        if (to < count && at[to] == column) {
            weight[to] += l->weight[k];
            continue;
        }
        for (int e = count++; e > to; e--) at[e] = at[e - 1], weight[e] = weight[e - 1];
        at[to] = column;
        weight[to] = l->weight[k];
    }
    for (int e = 0; e < count; e++) side[e] = -1;
    int low = moves(r, l->body[0]) && moves(r, l->body[1]) && l->body[1] < l->body[0];
    for (int e = 0; e < 2; e++) {
        int end = e ^ low;
        if (!moves(r, l->body[end])) continue;
        at[count] = n + 6 * (int64_t)l->body[end];
        weight[count] = 0;
        side[count++] = end;
    }
    return count;
}

static void fill_row(const tl_fem_link *l, int axis, int count, const int64_t *at, const double *weight,
                     const int *side, int32_t *col, double *val)
{
    const double d[3] = {l->axis[axis].x, l->axis[axis].y, l->axis[axis].z};
    for (int k = 0; k < count; k++) {
        double turn[3], sign = side[k] == 1 ? -1 : 1;
        if (side[k] >= 0) tl_vec3_store(tl_vec3_cross(l->lever[side[k]], l->axis[axis]), turn);
        for (int e = 0; e < (side[k] < 0 ? 3 : 6); e++) {
            *col++ = (int32_t)(at[k] + e);
            *val++ = side[k] < 0 ? weight[k] * d[e] : sign * (e < 3 ? d[e] : turn[e - 3]);
        }
    }
}

/* Bodies of a block of joint rows that move, rising; returns how many. */
static int joint_sides(const tl_fem_rows *r, int32_t joint, int *side)
{
    const int32_t *body = r->joint->body[joint];
    const bool low = moves(r, body[0]) && moves(r, body[1]) && body[1] < body[0];
    int count = 0;
    for (int e = 0; e < 2; e++)
        if (moves(r, body[e ^ low])) side[count++] = e ^ low;
    return count;
}

/* The three rows of a block of joints become those of block k of J. */
static void fill_joint(const tl_fem_rows *r, int32_t joint, int64_t k, int64_t n, tl_csr *J)
{
    int side[2], sides = joint_sides(r, joint, side);
    for (int64_t i = 0; i < 3; i++) {
        const tl_joint_row *row = &r->joint->row[3 * (int64_t)joint + i];
        int64_t at = J->start[3 * k + i];
        for (int s = 0; s < sides; s++) {
            const tl_vec3 push = side[s] ? row->push_b : row->push_a, turn = side[s] ? row->turn_b : row->turn_a;
            const double all[6] = {push.x, push.y, push.z, turn.x, turn.y, turn.z};
            for (int e = 0; e < 6; e++) {
                J->col[at] = (int32_t)(n + 6 * (int64_t)r->joint->body[joint][side[s]] + e);
                J->val[at++] = all[e];
            }
        }
        J->start[3 * k + i + 1] = at;
    }
}

/* Entries keep the order of rows within a row of the transpose. */
static talus_status transpose(const tl_csr *J, tl_csr *T, tl_arena *a, talus_error *err)
{
    *T = (tl_csr){.rows = J->cols, .cols = J->rows};
    T->start = TL_TAKE_ZERO(a, int64_t, (int64_t)J->cols + 2);
    T->col = TL_TAKE(a, int32_t, J->start[J->rows] + 1);
    T->val = TL_TAKE(a, double, J->start[J->rows] + 1);
    if (!T->start || !T->col || !T->val) return no_memory(err);
    int64_t *next = T->start + 1; /* becomes the end of each row */
    for (int64_t k = 0; k < J->start[J->rows]; k++) T->start[J->col[k] + 2]++;
    for (int64_t i = 2; i <= T->rows + 1; i++) T->start[i] += T->start[i - 1];
    for (int32_t i = 0; i < J->rows; i++)
        for (int64_t k = J->start[i]; k < J->start[i + 1]; k++) {
            int64_t to = next[J->col[k]]++;
            T->col[to] = i;
            T->val[to] = J->val[k];
        }
    return TALUS_OK;
}

talus_status tl_fem_rows_matrix(const tl_fem_rows *r, int32_t count, const int32_t *pick, const int64_t *first,
                                tl_csr *J, tl_csr *Jt, tl_arena *a, talus_error *err)
{
    const int64_t n = first[r->fem->bodies];
    int64_t at[10], entries = 0;
    double weight[10];
    int side[10];
    *J = (tl_csr){.rows = 3 * count, .cols = (int32_t)(n + 6 * (int64_t)r->rigid)};
    for (int32_t k = 0; k < count; k++) {
        if (pick[k] >= r->contacts) {
            entries += 18 * (int64_t)joint_sides(r, pick[k] - r->contacts, side);
            continue;
        }
        int columns_of = columns(r, &r->link[pick[k]], first, n, at, weight, side);
        for (int e = 0; e < columns_of; e++) entries += side[e] < 0 ? 9 : 18;
    }
    J->start = TL_TAKE(a, int64_t, 3 * (int64_t)count + 1);
    J->col = TL_TAKE(a, int32_t, entries + 1);
    J->val = TL_TAKE(a, double, entries + 1);
    if (!J->start || !J->col || !J->val) return no_memory(err);
    J->start[0] = 0;
    for (int32_t k = 0; k < count; k++) {
        if (pick[k] >= r->contacts) {
            fill_joint(r, pick[k] - r->contacts, k, n, J);
            continue;
        }
        const tl_fem_link *l = &r->link[pick[k]];
        int columns_of = columns(r, l, first, n, at, weight, side);
        for (int axis = 0; axis < 3; axis++) {
            int64_t row = 3 * (int64_t)k + axis, end = J->start[row];
            fill_row(l, axis, columns_of, at, weight, side, J->col + end, J->val + end);
            for (int e = 0; e < columns_of; e++) end += side[e] < 0 ? 3 : 6;
            J->start[row + 1] = end;
        }
    }
    return transpose(J, Jt, a, err);
}
