#include "phase/lg/exact_problem.h"

#include <math.h>
#include <string.h>

#include "model/lg/holds.h"

/* Shares of negative curvature that are tried one after the other until there is a factor. */
static const double convex[TL_LG_EXACT_LEVELS] = {0, 0.1, 0.25, 0.5, 1};

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for contact of elastic bodies");
}

static talus_status find_parts(tl_lg_exact_problem *s, tl_arena *a, talus_error *err)
{
    const tl_lg *lg = s->lg;
    s->body = TL_TAKE(a, int32_t, lg->bodies + 1);
    s->part_of = TL_TAKE(a, int32_t, lg->bodies + 1);
    s->part = TL_TAKE_ZERO(a, tl_flex_part, lg->bodies + 1);
    if (!s->body || !s->part_of || !s->part) return no_memory(err);
    for (int32_t k = 0; k < s->rows->nodes; k++) s->x->of[lg->owner[s->rows->node[k]]] = true;
    for (int b = 0; b < lg->bodies; b++) {
        s->part_of[b] = -1;
        if (!s->x->of[b]) continue;
        s->part_of[b] = s->parts;
        s->part[s->parts].first = s->p.n;
        s->body[s->parts++] = b;
        s->p.n += 3 * (int64_t)lg->body[b].nodes;
    }
    return TALUS_OK;
}

/* First column of a node. */
static int64_t column(const tl_lg_exact_problem *s, int32_t node)
{
    const int b = s->lg->owner[node];
    return s->part[s->part_of[b]].first + 3 * (int64_t)(node - s->lg->body[b].node);
}

/* Entries of a row, not in order: node weights times the axis, then bodies. */
static int row_entries(const tl_lg_exact_problem *s, const tl_lg_link *l, int axis, int64_t *col, double *val)
{
    const tl_vec3 n = l->axis[axis];
    int count = 0;
    for (int32_t k = 0; k < l->nodes; k++) {
        const int64_t at = column(s, s->rows->node[l->node[k]]);
        const double along[3] = {n.x, n.y, n.z};
        for (int d = 0; d < 3; d++) col[count] = at + d, val[count++] = l->weight[k] * along[d];
    }
    for (int end = 0; end < 2; end++) {
        if (l->body[end] < 0) continue;
        tl_vec3 turn = tl_vec3_cross(l->lever[end], n);
        const double along[6] = {n.x, n.y, n.z, turn.x, turn.y, turn.z};
        for (int d = 0; d < 6; d++)
            col[count] = s->p.n + 6 * (int64_t)l->body[end] + d, val[count++] = (end ? -1 : 1) * along[d];
    }
    return count;
}

static int bond_entries(const tl_lg_exact_problem *s, int32_t b, int axis, int64_t *col, double *val)
{
    const tl_lg_exact_bond *d = &s->bond[b];
    const int64_t own = s->p.n + 6 * (int64_t)(s->rows->bodies + b);
    col[0] = own + axis, val[0] = sqrt(TL_LG_COMPLIANCE_LEAST);
    if (axis >= d->count) return 1;
    const tl_lg_bilateral *row = &s->rows->bilateral.row[d->row[axis]];
    int count = 1;
    val[0] = sqrt(fmax(row->compliance, TL_LG_COMPLIANCE_LEAST));
    for (int32_t k = row->first; k < row->first + row->count; k++) {
        const tl_lg_term *e = &s->rows->bilateral.term[k];
        const int64_t at = column(s, e->node);
        const double along[3] = {e->along.x, e->along.y, e->along.z};
        for (int i = 0; i < 3; i++) col[count] = at + i, val[count++] = along[i];
    }
    if (row->place < 0) return count;
    tl_vec3 turn = tl_vec3_cross(row->lever, row->axis);
    const double along[6] = {row->axis.x, row->axis.y, row->axis.z, turn.x, turn.y, turn.z};
    for (int i = 0; i < 6; i++) col[count] = s->p.n + 6 * (int64_t)row->place + i, val[count++] = -along[i];
    return count;
}

/* Contacts and bonds, then joints. */
static int32_t problem_contacts(const tl_lg_exact_problem *s) { return s->rows->contacts + s->bonds + s->blocks; }

static int64_t column_of(const void *ctx, int32_t node) { return column(ctx, node); }

static int joint_entries(const tl_lg_exact_problem *s, int64_t k, int64_t *col, double *val)
{
    return tl_lg_join_entries(s->x->t->joined, k, column_of, s, s->p.n, col, val);
}

static int entries_of(const tl_lg_exact_problem *s, int64_t r, int64_t *col, double *val)
{
    const int32_t c = (int32_t)(r / 3), held = s->rows->contacts + s->bonds;
    if (c < s->rows->contacts) return row_entries(s, &s->rows->link[c], (int)(r % 3), col, val);
    if (c < held) return bond_entries(s, c - s->rows->contacts, (int)(r % 3), col, val);
    return joint_entries(s, r - 3 * (int64_t)held, col, val);
}

static talus_status find_bonds(tl_lg_exact_problem *s, tl_arena *a, talus_error *err)
{
    const tl_lg_bilaterals *all = &s->rows->bilateral;
    s->bond = TL_TAKE_ZERO(a, tl_lg_exact_bond, all->count + 1);
    s->unload = TL_TAKE_ZERO(a, double, s->rows->rows + 1);
    if (!s->bond || !s->unload) return no_memory(err);
    for (int32_t b = 0; b < all->count; b++) {
        tl_lg_exact_bond *last = s->bonds ? &s->bond[s->bonds - 1] : NULL;
        const bool joins = last && last->count < 3 && !all->row[b].one_sided && !all->row[last->row[0]].one_sided;
        if (!joins) last = &s->bond[s->bonds++];
        last->row[last->count++] = b;
    }
    return TALUS_OK;
}

void tl_lg_exact_rows(tl_lg_exact_problem *s)
{
    const int64_t rows = s->J.rows, cols = s->J.cols;
    memset(s->Jt.start, 0, sizeof *s->Jt.start * (size_t)(cols + 2));
    for (int64_t r = 0; r < rows; r++) {
        const int count = entries_of(s, r, s->col, s->val);
        const int64_t first = s->J.start[r];
        for (int k = 0; k < count; k++) { /* rising, by insertion */
            int64_t at = first + k;
            for (; at > first && s->J.col[at - 1] > s->col[k]; at--)
                s->J.col[at] = s->J.col[at - 1], s->J.val[at] = s->J.val[at - 1];
            s->J.col[at] = (int32_t)s->col[k], s->J.val[at] = s->val[k];
            s->Jt.start[s->col[k] + 2]++;
        }
        s->J.start[r + 1] = first + count;
    }
    for (int64_t i = 0; i < cols; i++) s->Jt.start[i + 2] += s->Jt.start[i + 1];
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = s->J.start[r]; k < s->J.start[r + 1]; k++) {
            const int64_t at = s->Jt.start[s->J.col[k] + 1]++;
            s->Jt.col[at] = (int32_t)r, s->Jt.val[at] = s->J.val[k];
        }
}

static talus_status make_rows(tl_lg_exact_problem *s, tl_arena *a, talus_error *err)
{
    TL_TRY(find_bonds(s, a, err));
    s->blocks = s->x->t->joined ? s->x->t->joined->b->joint.blocks.count : 0;
    const int64_t rows = 3 * (int64_t)problem_contacts(s), cols = s->p.n + 6 * (int64_t)(s->rows->bodies + s->bonds);
    int64_t entries = 0, max = 36;
    for (int32_t c = 0; c < s->rows->contacts; c++) {
        const tl_lg_link *l = &s->rows->link[c];
        entries += 9 * (int64_t)l->nodes + 18 * (int64_t)((l->body[0] >= 0) + (l->body[1] >= 0));
    }
    for (int32_t b = 0; b < s->rows->bilateral.count; b++) {
        const int64_t count = 3 * (int64_t)s->rows->bilateral.row[b].count + 7;
        entries += count + 2;
        max = count > max ? count : max;
    }
    for (int32_t b = 0; b < s->blocks; b++) {
        const int64_t count = tl_lg_join_entries_most(s->x->t->joined, b);
        entries += 3 * count;
        max = count > max ? count : max;
    }
    s->col = TL_TAKE(a, int64_t, max);
    s->val = TL_TAKE(a, double, max);
    if (!s->col || !s->val) return no_memory(err);
    for (int t = 0; t < 2; t++) {
        tl_csr *M = t ? &s->Jt : &s->J;
        *M = (tl_csr){.rows = (int32_t)(t ? cols : rows), .cols = (int32_t)(t ? rows : cols)};
        M->start = TL_TAKE_ZERO(a, int64_t, M->rows + 2);
        M->col = TL_TAKE(a, int32_t, entries + 1);
        M->val = TL_TAKE(a, double, entries + 1);
        if (!M->start || !M->col || !M->val) return no_memory(err);
    }
    tl_lg_exact_rows(s);
    return TALUS_OK;
}

/* Cables are the first of the rows. */
void tl_lg_exact_load(const tl_lg_exact_problem *s, bool with)
{
    const double *pressure = s->x->w->pressure;
    for (int b = 0; b < s->lg->bodies; b++) tl_lg_hessian_press(s->x->hessian, b, with && pressure ? pressure[b] : 0);
    const double *tension = s->x->t->force + 3 * (int64_t)s->rows->contacts;
    for (int32_t b = 0; s->lg->holds && b < s->lg->holds->cables; b++)
        tl_lg_hessian_pull(s->x->hessian, b, with && s->bonds ? tension[b] : 0);
}

static talus_status factor_all(tl_lg_exact_problem *s, talus_error *err)
{
    talus_status status = TALUS_OK;
    tl_lg_exact_load(s, true);
#pragma omp parallel for schedule(dynamic, 1) if (s->parts > 1)
    for (int32_t k = 0; k < s->parts; k++) {
        talus_error why = {0};
        talus_status one = tl_lg_hessian_update(s->x->hessian, s->body[k], s->he, s->x->w->q, convex[s->level], &why);
        if (one == TALUS_OK) continue;
#pragma omp critical
        if (status == TALUS_OK) {
            status = one;
            if (err) *err = why;
        }
    }
    for (int32_t k = 0; k < s->parts; k++) {
        s->part[k].H = tl_lg_hessian_matrix(s->x->hessian, s->body[k]);
        s->part[k].mass = tl_lg_hessian_mass(s->x->hessian, s->body[k]);
        s->part[k].factor = tl_lg_hessian_factor(s->x->hessian, s->body[k]);
    }
    return status;
}

talus_status tl_lg_exact_factor(tl_lg_exact_problem *s, talus_error *err)
{
    talus_status status = factor_all(s, err);
    while (status == TALUS_NOT_DEFINITE && s->level + 1 < TL_LG_EXACT_LEVELS) {
        s->level++;
        status = factor_all(s, err);
    }
    return status;
}

talus_status tl_lg_exact_pose(tl_lg_exact_problem *s, tl_arena *a, talus_error *err)
{
    const tl_lg_rows *r = s->rows;
    TL_TRY(find_parts(s, a, err));
    TL_TRY(make_rows(s, a, err));
    TL_TRY(tl_lg_exact_factor(s, err));
    const int32_t bodies = r->bodies + s->bonds, contacts = problem_contacts(s);
    const int64_t m = 3 * (int64_t)contacts, rigid = 6 * (int64_t)bodies;
    double *inv_mass = TL_TAKE(a, double, bodies + 1);
    s->mu = TL_TAKE(a, double, contacts + 1);
    s->g = TL_TAKE(a, double, s->p.n + 1);
    s->dv = TL_TAKE(a, double, s->p.n + rigid + 1);
    s->box = TL_TAKE(a, tl_contact_box, s->blocks + 1);
    s->inv_inertia = TL_TAKE_ZERO(a, double, 9 * (int64_t)bodies + 1);
    double **const by_row[] = {&s->c, &s->lam, &s->value, &s->now}; /* value: of all rows, which are no more */
    for (int k = 0; k < 4; k++)
        if (!(*by_row[k] = TL_TAKE_ZERO(a, double, m + 1))) return no_memory(err);
    double **const by_body[] = {&s->shift, &s->shift_next, &s->shift_trial, &s->moved};
    for (int k = 0; k < 4; k++)
        if (!(*by_body[k] = TL_TAKE_ZERO(a, double, rigid + 1))) return no_memory(err);
    if (!s->mu || !s->g || !s->dv || !s->box || !s->inv_inertia || !inv_mass) return no_memory(err);
    for (int32_t c = 0; c < r->contacts; c++) s->mu[c] = r->link[c].mu;
    for (int32_t b = 0; b < r->bodies; b++) {
        inv_mass[b] = r->inverse_mass[b];
        memcpy(s->inv_inertia + 9 * b, r->inverse_inertia[b].m, 9 * sizeof(double));
    }
    for (int32_t b = 0; b < s->bonds; b++) {
        s->mu[r->contacts + b] = r->bilateral.row[s->bond[b].row[0]].one_sided ? 0 : 1;
        inv_mass[r->bodies + b] = 1 / (s->he * s->he);
        for (int k = 0; k < 9; k += 4) s->inv_inertia[9 * (int64_t)(r->bodies + b) + k] = 1; /* which does not turn */
    }
    for (int32_t b = 0; b < s->blocks; b++) s->mu[r->contacts + s->bonds + b] = 0;
    s->p.boxes = s->blocks;
    s->p.box = s->box;
    s->p.parts = s->parts;
    s->p.part = s->part;
    s->p.rigid = bodies;
    s->p.inv_mass = inv_mass;
    s->p.inv_inertia = s->inv_inertia;
    s->p.contacts = contacts;
    s->p.J = &s->J;
    s->p.Jt = &s->Jt;
    s->p.mu = s->mu;
    s->p.g = s->g;
    s->p.c = s->c;
    s->p.law = TL_FLEX_CONE;
    return tl_flex_begin(&s->solver, tl_flex_route_find(s->x->route), s->x->data, &s->p, a, err);
}

void tl_lg_exact_shift(const tl_lg_exact_problem *s, const double *force, bool joints, double *shift)
{
    const tl_lg_rows *r = s->rows;
    tl_lg_rows_scatter(r, force);
    if (joints && s->x->t->joined) tl_lg_join_push(s->x->t->joined, 0, s->x->w->trial, r->body_push);
    for (int64_t b = 0; b < r->bodies; b++) {
        const double *push = r->body_push + 6 * b, he2 = s->he * s->he;
        tl_vec3_store(tl_vec3_scale(he2 * r->inverse_mass[b], tl_vec3_load(push)), shift + 6 * b);
        tl_vec3_store(tl_vec3_scale(he2, tl_mat3_mul_vec(r->inverse_inertia[b], tl_vec3_load(push + 3))),
                      shift + 6 * b + 3);
    }
}

void tl_lg_exact_values(tl_lg_exact_problem *s, const double *q, const double *shift)
{
    for (int64_t k = 0; k < 6 * (int64_t)s->rows->bodies; k++)
        s->moved[k] = s->x->t->body_free[k] + (shift ? shift[k] : 0);
    tl_lg_rows_values(s->rows, q, s->moved, s->value);
}

static void move_bodies(tl_lg_exact_problem *s, const double *shift)
{
    for (int64_t k = 0; k < 6 * (int64_t)s->rows->bodies; k++) s->moved[k] = s->x->t->body_free[k] + shift[k];
}

talus_status tl_lg_exact_look(tl_lg_exact_problem *s, bool renew, talus_error *err)
{
    tl_lg_joined *j = s->x->t->joined;
    const double impulse = s->he * s->he / (s->h * s->h);
    move_bodies(s, s->shift);
    TL_TRY(tl_lg_join_look(j, s->rows, s->x->w->q, s->moved, renew, err));
    for (int32_t b = 0; b < s->blocks; b++) {
        s->box[b] = j->b->joint.blocks.box[b];
        for (int k = 0; k < 3; k++) {
            s->box[b].lo[k] *= impulse;
            s->box[b].hi[k] *= impulse;
            s->box[b].give[k] /= impulse;
        }
    }
    return TALUS_OK;
}

void tl_lg_exact_join(tl_lg_exact_problem *s, const double *shift, double *to)
{
    move_bodies(s, shift);
    tl_lg_join_velocities(s->x->t->joined, s->rows, s->moved, to + 3 * (int64_t)(s->rows->contacts + s->bonds));
}
