#include "step/lg_exact.h"

#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "base/sum.h"
#include "base/timer.h"
#include "model/lg/holds.h"

#define SEARCH_MOST 12     /* halvings */
#define SEARCH_SHARE 1e-4  /* of the decrease that a correction promises */
#define SEARCH_SLACK 1e-12 /* of the energies: a rise by less is rounding */
#define PENALTY 1.1        /* over the largest normal force */
#define CONTRACTION 0.7    /* of corrections: slower is slow */
#define TRUE_FROM 0.1      /* of a step: below, corrections may know where the energy bends down. Chosen */
#define LEVELS 5
#define STUCK 2    /* corrections in a row in which contact laws come no nearer, or of which little is taken. Chosen */
#define LITTLE 0.1 /* of a correction. Chosen */
#define LAWS_MOST 60    /* iterations of a contact solve: those that end take 5 to 40 */
#define EARLY 0.01      /* of the last correction: what contact solves before the end may leave */
#define EARLY_MOST 0.01 /* m/s: of a correction that counts for that */
#define REST 1e-9       /* m/s: a correction by less is rest */
#define BOND_FIRM 10    /* times all forces that do not balance: preload, see bond. Changes no answer */
#define BOND_SAFE 0.5   /* of its preload: a bond that bears more gets a larger one */

/* Shares of negative curvature that are tried one after the other until there is a factor. */
static const double convex[LEVELS] = {0, 0.1, 0.25, 0.5, 1};

/* Cables and joins as contacts. A cable pulls only: Signorini's law, without friction. Rows that hold both ways, three
 * together, are one contact that sticks: a preload far above their forces keeps it inside of its cone, and what the
 * preload does is taken away from g and c, so that it changes no answer. Their compliance is that of a body of their own,
 * of mass he^2, that each row hangs on by sqrt(compliance); rows that such a contact lacks hang on that body alone. */
typedef struct bond {
    int32_t count, row[3]; /* of bilaterals */
    double preload;        /* N */
} bond;

/* One solve. Bodies that take part are parts of the problem, in their order. */
typedef struct solve {
    tl_lg_exact *x;
    const tl_lg *lg;
    const tl_lg_rows *rows;
    double h, he;
    int32_t parts, *body, *part_of; /* [parts] bodies; [bodies] part, < 0: none */
    tl_flex_part *part;
    tl_flex p;
    tl_flex_solver solver;
    tl_csr J, Jt;
    double *mu, *g, *c, *lam, *dv; /* of the problem, see pose */
    double *now;                   /* [rows] m/s: gaps and slips at q over h, bodies where forces lead them */
    double *inv_inertia;
    double *shift, *shift_next, *shift_trial; /* [6 rigid] m: displacement of free bodies by forces */
    double *value, *moved;                    /* [rows] m; [6 rigid] m */
    int level;                                /* of convex: share of negative curvature that is left out */
    int32_t bonds;
    bond *bond;
    double firm;  /* preloads over the forces that there are, see BOND_FIRM */
    int64_t *col; /* [most] entries of a row */
    double *val;
    double *unload; /* [rows] N: the opposite of preloads */
} solve;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for contact of elastic bodies");
}

/* ---- the problem ---- */

static talus_status find_parts(solve *s, tl_arena *a, talus_error *err)
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
static int64_t column(const solve *s, int32_t node)
{
    const int b = s->lg->owner[node];
    return s->part[s->part_of[b]].first + 3 * (int64_t)(node - s->lg->body[b].node);
}

/* Entries of a row, not in order: node weights times the axis, then bodies. */
static int row_entries(const solve *s, const tl_lg_link *l, int axis, int64_t *col, double *val)
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

/* Contacts and bonds. */
static int32_t problem_contacts(const solve *s) { return s->rows->contacts + s->bonds; }

static int bond_entries(const solve *s, int32_t b, int axis, int64_t *col, double *val)
{
    const bond *d = &s->bond[b];
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

static talus_status find_bonds(solve *s, tl_arena *a, talus_error *err)
{
    const tl_lg_bilaterals *all = &s->rows->bilateral;
    s->bond = TL_TAKE_ZERO(a, bond, all->count + 1);
    s->unload = TL_TAKE_ZERO(a, double, s->rows->rows + 1);
    if (!s->bond || !s->unload) return no_memory(err);
    for (int32_t b = 0; b < all->count; b++) {
        bond *last = s->bonds ? &s->bond[s->bonds - 1] : NULL;
        const bool joins = last && last->count < 3 && !all->row[b].one_sided && !all->row[last->row[0]].one_sided;
        if (!joins) last = &s->bond[s->bonds++];
        last->row[last->count++] = b;
    }
    return TALUS_OK;
}

/* Values of J and of its transpose, whose pattern stays. */
static void fill_rows(solve *s)
{
    const int64_t rows = s->J.rows, cols = s->J.cols;
    memset(s->Jt.start, 0, sizeof *s->Jt.start * (size_t)(cols + 2));
    for (int64_t r = 0; r < rows; r++) {
        const int32_t c = (int32_t)(r / 3);
        const int count = c < s->rows->contacts ? row_entries(s, &s->rows->link[c], (int)(r % 3), s->col, s->val)
                                                : bond_entries(s, c - s->rows->contacts, (int)(r % 3), s->col, s->val);
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

static talus_status make_rows(solve *s, tl_arena *a, talus_error *err)
{
    TL_TRY(find_bonds(s, a, err));
    const int64_t rows = 3 * (int64_t)problem_contacts(s), cols = s->p.n + 6 * (int64_t)(s->rows->bodies + s->bonds);
    int64_t entries = 0, most = 36;
    for (int32_t c = 0; c < s->rows->contacts; c++) {
        const tl_lg_link *l = &s->rows->link[c];
        entries += 9 * (int64_t)l->nodes + 18 * (int64_t)((l->body[0] >= 0) + (l->body[1] >= 0));
    }
    for (int32_t b = 0; b < s->rows->bilateral.count; b++) {
        const int64_t count = 3 * (int64_t)s->rows->bilateral.row[b].count + 7;
        entries += count + 2;
        most = count > most ? count : most;
    }
    s->col = TL_TAKE(a, int64_t, most);
    s->val = TL_TAKE(a, double, most);
    if (!s->col || !s->val) return no_memory(err);
    for (int t = 0; t < 2; t++) {
        tl_csr *M = t ? &s->Jt : &s->J;
        *M = (tl_csr){.rows = (int32_t)(t ? cols : rows), .cols = (int32_t)(t ? rows : cols)};
        M->start = TL_TAKE_ZERO(a, int64_t, M->rows + 2);
        M->col = TL_TAKE(a, int32_t, entries + 1);
        M->val = TL_TAKE(a, double, entries + 1);
        if (!M->start || !M->col || !M->val) return no_memory(err);
    }
    fill_rows(s);
    return TALUS_OK;
}

/* Tension and pressure bend forces as well. Cables are the first of the rows. Without: other users of the matrix ask for the material alone. */
static void load_matrix(const solve *s, bool with)
{
    const double *pressure = s->x->w->pressure;
    for (int b = 0; b < s->lg->bodies; b++) tl_lg_hessian_press(s->x->hessian, b, with && pressure ? pressure[b] : 0);
    const double *tension = s->x->t->force + 3 * (int64_t)s->rows->contacts;
    for (int32_t b = 0; s->lg->holds && b < s->lg->holds->cables; b++)
        tl_lg_hessian_pull(s->x->hessian, b, with && s->bonds ? tension[b] : 0);
}

static talus_status factor_all(solve *s, talus_error *err)
{
    talus_status status = TALUS_OK;
    load_matrix(s, true);
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

/* What bends down too much has no factor: then with less of its negative part. */
static talus_status factor(solve *s, talus_error *err)
{
    talus_status status = factor_all(s, err);
    while (status == TALUS_NOT_DEFINITE && s->level + 1 < LEVELS) {
        s->level++;
        status = factor_all(s, err);
    }
    return status;
}

/* Unknown are displacements over h, m/s; forces times he^2 / h. */
static talus_status pose(solve *s, tl_arena *a, talus_error *err)
{
    const tl_lg_rows *r = s->rows;
    TL_TRY(find_parts(s, a, err));
    TL_TRY(make_rows(s, a, err));
    TL_TRY(factor(s, err));
    const int32_t bodies = r->bodies + s->bonds, contacts = problem_contacts(s);
    const int64_t m = 3 * (int64_t)contacts, rigid = 6 * (int64_t)bodies;
    double *inv_mass = TL_TAKE(a, double, bodies + 1);
    s->mu = TL_TAKE(a, double, contacts + 1);
    s->g = TL_TAKE(a, double, s->p.n + 1);
    s->dv = TL_TAKE(a, double, s->p.n + rigid + 1);
    s->inv_inertia = TL_TAKE_ZERO(a, double, 9 * (int64_t)bodies + 1);
    double **const by_row[] = {&s->c, &s->lam, &s->value, &s->now}; /* value: of all rows, which are no more */
    for (int k = 0; k < 4; k++)
        if (!(*by_row[k] = TL_TAKE_ZERO(a, double, m + 1))) return no_memory(err);
    double **const by_body[] = {&s->shift, &s->shift_next, &s->shift_trial, &s->moved};
    for (int k = 0; k < 4; k++)
        if (!(*by_body[k] = TL_TAKE_ZERO(a, double, rigid + 1))) return no_memory(err);
    if (!s->mu || !s->g || !s->dv || !s->inv_inertia || !inv_mass) return no_memory(err);
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
    return tl_flex_begin(&s->solver, tl_flex_route_find(s->x->route), s->x->kept, &s->p, a, err);
}

/* Displacements of free bodies that these forces make. */
static void shift_of_forces(const solve *s, const double *force, double *shift)
{
    const tl_lg_rows *r = s->rows;
    tl_lg_rows_scatter(r, force);
    for (int64_t b = 0; b < r->bodies; b++) {
        const double *push = r->body_push + 6 * b, he2 = s->he * s->he;
        tl_vec3_store(tl_vec3_scale(he2 * r->inverse_mass[b], tl_vec3_load(push)), shift + 6 * b);
        tl_vec3_store(tl_vec3_scale(he2, tl_mat3_mul_vec(r->inverse_inertia[b], tl_vec3_load(push + 3))),
                      shift + 6 * b + 3);
    }
}

/* Gaps and slips with free bodies moved by `shift` beyond their flight; NULL: not moved. */
static void values(solve *s, const double *q, const double *shift)
{
    for (int64_t k = 0; k < 6 * (int64_t)s->rows->bodies; k++)
        s->moved[k] = s->x->t->body_free[k] + (shift ? shift[k] : 0);
    tl_lg_rows_values(s->rows, q, s->moved, s->value);
}

/* ---- a correction ---- */

/* Preloads for the forces of now, and what they do to g. */
static void load_bonds(solve *s)
{
    const tl_lg_newton *w = s->x->w;
    const int64_t first = 3 * (int64_t)s->rows->contacts;
    const double scale = s->he * s->he / s->h;
    double open = 0;
    for (int64_t i = 0; i < 3 * (int64_t)s->lg->nodes; i++) open += fabs(w->r[i]);
    for (int32_t b = 0; b < s->bonds; b++) {
        bond *d = &s->bond[b];
        const int64_t n = first + d->row[0];
        double bears = open / (s->he * s->he);
        for (int k = 0; k < d->count; k++) bears += fabs(s->x->t->force[first + d->row[k]]);
        d->preload = s->rows->bilateral.row[d->row[0]].one_sided ? 0 : s->firm * bears;
        s->unload[n] = -d->preload;
        const int64_t row = first + 3 * (int64_t)b;
        for (int64_t k = s->J.start[row]; k < s->J.start[row + 1]; k++)
            if (s->J.col[k] < s->p.n) s->g[s->J.col[k]] += scale * d->preload * s->J.val[k];
    }
}

/* Rows of bonds in the problem's order, m/s, with what they give way under `force`. */
static void value_bonds(solve *s, const double *force, double *to)
{
    const int64_t first = 3 * (int64_t)s->rows->contacts;
    for (int32_t b = 0; b < s->bonds; b++)
        for (int k = 0; k < 3; k++) {
            const bond *d = &s->bond[b];
            const int64_t row = first + 3 * (int64_t)b + k;
            to[row] = 0;
            if (k >= d->count) continue;
            const double soft = fmax(s->rows->bilateral.row[d->row[k]].compliance, TL_LG_COMPLIANCE_LEAST);
            to[row] = (s->value[first + d->row[k]] + soft * force[first + d->row[k]]) / s->h;
        }
}

/* w->step: displacement of nodes; s->lam, s->shift_next: forces and bodies that go with it. */
static talus_status correct(solve *s, double slack, tl_flex_report *report, talus_error *err)
{
    tl_lg_newton *w = s->x->w;
    const int64_t n = 3 * (int64_t)s->lg->nodes, m = 3 * (int64_t)s->rows->contacts;
    const double scale = s->he * s->he / s->h;
    if (s->x->made) TL_TRY(factor(s, err));
    if (s->bonds) {
        tl_lg_rows_renew(&s->x->t->rows, w->q);
        fill_rows(s);
    }
    tl_lg_newton_residual(w, w->q, w->r);
    for (int32_t k = 0; k < s->parts; k++) {
        const tl_lg_body *b = &s->lg->body[s->body[k]];
        for (int64_t i = 0; i < 3 * (int64_t)b->nodes; i++)
            s->g[s->part[k].first + i] = -w->r[3 * (int64_t)b->node + i] / s->h;
    }
    load_bonds(s);
    values(s, w->q, s->shift);
    for (int64_t k = 0; k < m; k++) s->now[k] = s->value[k] / s->h;
    value_bonds(s, s->x->t->force, s->now);
    s->solver.now = s->now;
    s->solver.near = 0;
    s->solver.warm = true; /* rounds have been there */
    shift_of_forces(s, s->unload, s->shift_trial);
    values(s, w->q, s->shift_trial);
    for (int64_t k = 0; k < m; k++) {
        s->c[k] = s->value[k] / s->h;
        s->lam[k] = scale * s->x->t->force[k];
    }
    value_bonds(s, s->unload, s->c);
    for (int32_t b = 0; b < s->bonds; b++)
        for (int k = 0; k < 3; k++) {
            const bond *d = &s->bond[b];
            s->lam[m + 3 * (int64_t)b + k] =
                k < d->count ? scale * (s->x->t->force[m + d->row[k]] - s->unload[m + d->row[k]]) : 0;
        }
    TL_TRY(tl_flex_solve(&s->solver, true, false, slack, LAWS_MOST, s->lam, s->dv, report, err));
    memset(w->step, 0, sizeof *w->step * (size_t)n);
    for (int32_t k = 0; k < s->parts; k++) {
        const tl_lg_body *b = &s->lg->body[s->body[k]];
        for (int64_t i = 0; i < 3 * (int64_t)b->nodes; i++)
            w->step[3 * (int64_t)b->node + i] = s->h * s->dv[s->part[k].first + i];
    }
    for (int64_t k = 0; k < 6 * (int64_t)s->rows->bodies; k++)
        s->shift_next[k] = s->shift_trial[k] + s->h * s->dv[s->p.n + k];
    return TALUS_OK;
}

/* ---- search ---- */

/* Energy of the step, he^2 J, with free bodies and rows that hold, the work of friction s->lam, and nu per metre of overlap. */
static double penalty(solve *s, const double *q, const double *shift, double nu)
{
    const tl_lg_newton *w = s->x->w;
    const tl_lg_rows *r = s->rows;
    double sum = 0;
    for (int64_t i = 0; i < 3 * (int64_t)s->lg->nodes; i++)
        sum += 0.5 * s->lg->mass[i / 3] * (q[i] - w->qtil[i]) * (q[i] - w->qtil[i]);
    sum += s->he * s->he *
           (tl_lg_stress(s->lg, q, NULL) + tl_lg_linear_energy(s->lg, q, w->target) -
            tl_lg_press_work(s->lg, w->pressure, w->q, q));
    for (int64_t b = 0; b < r->bodies; b++) {
        tl_vec3 d = tl_vec3_load(shift + 6 * b), turn = tl_vec3_load(shift + 6 * b + 3);
        tl_mat3 I;
        sum += 0.5 * tl_vec3_norm2(d) / r->inverse_mass[b];
        if (tl_mat3_inverse(r->inverse_inertia[b], &I)) sum += 0.5 * tl_vec3_dot(turn, tl_mat3_mul_vec(I, turn));
    }
    if (s->bonds) tl_lg_rows_renew(&s->x->t->rows, q);
    values(s, q, shift);
    for (int32_t b = 0; b < r->bilateral.count; b++) {
        const tl_lg_bilateral *row = &r->bilateral.row[b];
        const double v = s->value[3 * (int64_t)r->contacts + b], off = row->one_sided ? fmin(0, v) : v;
        sum += 0.5 * s->he * s->he * off * off / fmax(row->compliance, TL_LG_COMPLIANCE_LEAST);
    }
    for (int64_t c = 0; c < r->contacts; c++) {
        const double *u = s->value + 3 * c, *l = s->lam + 3 * c;
        sum += nu * fmax(0, -u[0]) - s->h * (l[1] * u[1] + l[2] * u[2]);
    }
    return sum;
}

static double penalty_along(solve *s, double length, double nu)
{
    const tl_lg_newton *w = s->x->w;
    for (int64_t i = 0; i < 3 * (int64_t)s->lg->nodes; i++) w->trial[i] = w->q[i] + length * w->step[i];
    for (int64_t k = 0; k < 6 * (int64_t)s->rows->bodies; k++)
        s->shift_trial[k] = s->shift[k] + length * (s->shift_next[k] - s->shift[k]);
    return penalty(s, w->trial, s->shift_trial, nu);
}

static double take_all(solve *s)
{
    const tl_lg_newton *w = s->x->w;
    for (int64_t i = 0; i < 3 * (int64_t)s->lg->nodes; i++) w->q[i] += w->step[i];
    memcpy(s->shift, s->shift_next, sizeof *s->shift * 6 * (size_t)s->rows->bodies);
    return 1;
}

/* As far along the correction as the penalty falls. Returns the share that it went. `slow`: corrections hardly shrink, as where something buckles and the projected matrix
 * is much stiffer than the body; then further than the correction, doubling as long as it pays. */
static double search(solve *s, bool slow)
{
    const tl_lg_newton *w = s->x->w;
    const int64_t n = 3 * (int64_t)s->lg->nodes, rigid = 6 * (int64_t)s->rows->bodies;
    double nu = 0, length = 1, promise = 0, at = INFINITY;
    for (int64_t c = 0; c < s->rows->contacts; c++) nu = fmax(nu, PENALTY * s->h * s->lam[3 * c]);
    /* d H d = d (J^T f - g) of nodes; what bodies have is not a change but all that forces do to them */
    memset(s->dv + s->p.n, 0, sizeof *s->dv * 6 * (size_t)s->p.rigid);
    tl_csr_mul(&s->J, s->dv, s->c);
    for (int64_t k = 0; k < 3 * (int64_t)s->p.contacts; k++) promise += s->lam[k] * s->c[k];
    promise = s->h * s->h * (promise - tl_dot(s->p.n, s->g, s->dv));
    double now = penalty(s, w->q, s->shift, nu), load = 0;
    for (int64_t c = 0; c < s->rows->contacts; c++) load += s->h * hypot(s->lam[3 * c + 1], s->lam[3 * c + 2]);
    /* rounding, and what the contact solve leaves */
    double slack = SEARCH_SLACK * fabs(now) + (nu * s->rows->contacts + load) * s->h * s->x->slack;
    for (int k = 0; k < SEARCH_MOST; k++, length *= 0.5) {
        at = penalty_along(s, length, nu);
        if (at <= now - SEARCH_SHARE * length * fmax(0, promise) + slack) break;
    }
    for (int k = 0; k < SEARCH_MOST && slow && length >= 1; k++) {
        double further = penalty_along(s, 2 * length, nu);
        if (!(further < at - slack)) {
            (void)penalty_along(s, length, nu);
            break;
        }
        length *= 2;
        at = further;
    }
    memcpy(w->q, w->trial, sizeof *w->q * (size_t)n);
    memcpy(s->shift, s->shift_trial, sizeof *s->shift * (size_t)rigid);
    return length;
}

/* Forces of rows from those of the problem. False: a bond bears so much that it wants a larger preload. */
static bool take_forces(solve *s)
{
    const int64_t m = 3 * (int64_t)s->rows->contacts;
    const double scale = s->h / (s->he * s->he);
    tl_lg_touch *t = s->x->t;
    bool safe = true;
    for (int64_t k = 0; k < m; k++) t->force[k] = t->lam[k] = s->lam[k] * scale;
    for (int32_t b = 0; b < s->bonds; b++)
        for (int k = 0; k < s->bond[b].count; k++) {
            const int64_t to = m + s->bond[b].row[k];
            t->force[to] = t->lam[to] = s->lam[m + 3 * (int64_t)b + k] * scale + s->unload[to];
            safe = safe && (!(s->bond[b].preload > 0) || fabs(t->force[to]) < BOND_SAFE * s->bond[b].preload);
        }
    if (!safe) s->firm *= BOND_FIRM;
    return safe;
}

/* Largest share that this correction has of what forces did to a body in the step. */
static double share_of_step(const solve *s)
{
    const tl_lg_newton *w = s->x->w;
    double worst = 0;
    for (int32_t k = 0; k < s->parts; k++) {
        const tl_lg_body *b = &s->lg->body[s->body[k]];
        double step2 = 0, way2 = 0;
        for (int64_t i = 3 * (int64_t)b->node, end = i + 3 * (int64_t)b->nodes; i < end; i++) {
            double m = s->lg->mass[i / 3], way = w->q[i] - w->qtil[i];
            step2 += m * w->step[i] * w->step[i];
            way2 += m * way * way;
        }
        worst = fmax(worst, sqrt(step2 / (way2 + REST * REST * s->h * s->h * b->mass)));
    }
    return worst;
}

talus_status tl_lg_exact_solve(tl_lg_exact *x, tl_arena *a, talus_error *err)
{
    solve s = {.x = x,
               .lg = x->w->lg,
               .rows = &x->t->rows,
               .h = x->t->h,
               .he = x->t->he,
               .level = LEVELS - 1,
               .firm = BOND_FIRM};
    double last = INFINITY, open = INFINITY, fastest = INFINITY;
    int stuck = 0, known = 0;
    x->made = 0;
    x->converged = false;
    TL_TRY(pose(&s, a, err));
    shift_of_forces(&s, x->t->force, s.shift);
    while (x->made < x->most && !x->converged && stuck < STUCK && (!x->made || tl_seconds() < x->until)) {
        tl_flex_report report = {0};
        TL_TRY(tl_cancel_check(err));
        /* rows that hold are linear and stiff: what an early end leaves of them is large as a force */
        const double slack = s.bonds ? x->slack : fmax(x->slack, EARLY * fmin(fastest, EARLY_MOST));
        TL_TRY(correct(&s, slack, &report, err));
        fastest = 0;
        for (int64_t i = 0; i < s.p.n; i++) fastest = fmax(fastest, fabs(s.dv[i]));
        const double share = share_of_step(&s);
        const bool slow = s.level > 0 && share > CONTRACTION * last;
        if (s.level < LEVELS - 1) known = s.level;
        /* the last one is taken whole: then nodes have the momentum that forces give them, to rounding */
        const double length = share <= x->target ? take_all(&s) : search(&s, slow), left = report.outcome.residual;
        x->made++;
        x->t->steps += report.outcome.iterations;
        x->t->work.products += report.work.products;
        x->converged = take_forces(&s) && share <= x->target && left <= x->slack;
        stuck = (left > slack && left > CONTRACTION * open) || length < LITTLE ? stuck + 1 : 0;
        s.level = length < 1 || share > last || share > TRUE_FROM ? LEVELS - 1 : known;
        last = share;
        open = left;
    }
    load_matrix(&s, false);
    return TALUS_OK;
}
