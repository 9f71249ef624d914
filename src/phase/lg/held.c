#include "phase/lg/held.h"

#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "base/sum.h"
#include "math/dense.h"

#define ROWS_MAX 1500 /* held: the dense factor takes n^3 / 3 */
#define SOFT 1e-9     /* of the diagonal of J A^-1 J^T: rows may say the same thing twice */
#define SOLVED 1e-3   /* of the residual of a correction, in the norm of A^-1 */
#define NOTHING 1e-8  /* of the energy of the first correction */
#define PROBE 1e-5    /* mean edges: how far forces are looked at for their change */

typedef struct held {
    tl_lg_newton *w;
    tl_lg_touch *t;
    tl_lg_rows *rows;
    int64_t n, b; /* numbers of nodes, of bodies */
    int32_t count;
    int64_t *row;                      /* [count] held rows */
    double *L;                         /* [count][count] */
    double *pull;                      /* [rows] by all rows */
    double *some;                      /* [count] */
    double *d, *res, *z, *p, *product; /* [n + b] */
    double probe;                      /* m */
} held;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of elastic bodies");
}

/* ---- who is held ---- */

static bool touches(const tl_lg_touch *t, int64_t k)
{
    return t->force[k] > 0 && t->he * t->he * t->rows.diagonal[k] * t->force[k] > t->value[k];
}

/* As the law of friction has it: force less slip is inside of the disc. */
static bool sticks(const tl_lg_touch *t, int32_t c)
{
    const int64_t k = 3 * (int64_t)c;
    const double *f = t->force + k, *v = t->value + k, *d = t->rows.diagonal + k;
    double max = t->rows.link[c].mu * f[0], r = 0.5 * t->he * t->he / t->h * (d[1] + d[2]);
    return max > 0 && hypot(f[1] - v[1] / (t->h * r), f[2] - v[2] / (t->h * r)) <= max;
}

static void find_held(held *s)
{
    const tl_lg_touch *t = s->t;
    s->count = 0;
    for (int32_t c = 0; c < s->rows->contacts; c++) {
        if (!touches(t, 3 * (int64_t)c)) continue;
        s->row[s->count++] = 3 * (int64_t)c;
        if (!sticks(t, c)) continue;
        s->row[s->count++] = 3 * (int64_t)c + 1;
        s->row[s->count++] = 3 * (int64_t)c + 2;
    }
    for (int32_t b = 0; b < s->rows->bilateral.count; b++) {
        int64_t k = 3 * (int64_t)s->rows->contacts + b;
        if (!s->rows->bilateral.row[b].one_sided || touches(t, k)) s->row[s->count++] = k;
    }
}

/* ---- J A^-1 J^T ---- */

/* One row as what it hangs on. */
typedef struct strand {
    int32_t nodes, node[8]; /* of lg */
    tl_vec3 along[8];
    int32_t body[2];
    tl_vec3 axis[2], lever[2]; /* of its force on the body */
    const tl_lg_bilateral *bound;
} strand;

static strand strand_of(const held *s, int64_t row)
{
    const tl_lg_rows *r = s->rows;
    strand out = {.body = {-1, -1}};
    if (row >= 3 * (int64_t)r->contacts) {
        out.bound = &r->bilateral.row[row - 3 * (int64_t)r->contacts];
        out.body[0] = out.bound->place;
        out.axis[0] = tl_vec3_neg(out.bound->axis);
        out.lever[0] = out.bound->lever;
        return out;
    }
    const tl_lg_link *l = &r->link[row / 3];
    out.nodes = l->nodes;
    for (int32_t k = 0; k < l->nodes; k++) {
        out.node[k] = r->node[l->node[k]];
        out.along[k] = tl_vec3_scale(l->weight[k], l->axis[row % 3]);
    }
    for (int e = 0; e < 2; e++) {
        out.body[e] = l->body[e];
        out.axis[e] = e ? tl_vec3_neg(l->axis[row % 3]) : l->axis[row % 3];
        out.lever[e] = l->lever[e];
    }
    return out;
}

/* Node k of a row and its direction. */
static int32_t part_of(const held *s, const strand *a, int32_t k, tl_vec3 *along)
{
    if (!a->bound) {
        *along = a->along[k];
        return a->node[k];
    }
    const tl_lg_term *t = &s->rows->bilateral.term[a->bound->first + k];
    *along = t->along;
    return t->node;
}

static double between(const held *s, const strand *a, const strand *b)
{
    const tl_lg_rows *r = s->rows;
    const int32_t na = a->bound ? a->bound->count : a->nodes, nb = b->bound ? b->bound->count : b->nodes;
    double sum = 0;
    for (int32_t i = 0; i < na; i++) {
        tl_vec3 u, v;
        int32_t p = part_of(s, a, i, &u);
        for (int32_t j = 0; j < nb; j++) {
            int32_t q = part_of(s, b, j, &v);
            if (r->lg->owner[p] == r->lg->owner[q]) sum += tl_vec3_dot(u, v) * tl_lg_columns_at(r->columns, p, q);
        }
    }
    for (int e = 0; e < 4; e++) {
        int x = e / 2, y = e % 2;
        if (a->body[x] < 0 || a->body[x] != b->body[y]) continue;
        tl_vec3 turn = tl_vec3_cross(a->lever[x], a->axis[x]), other = tl_vec3_cross(b->lever[y], b->axis[y]);
        sum += r->inverse_mass[a->body[x]] * tl_vec3_dot(a->axis[x], b->axis[y]) +
               tl_vec3_dot(turn, tl_mat3_mul_vec(r->inverse_inertia[a->body[x]], other));
    }
    return sum;
}

/* False: not positive definite. */
static talus_status factor(held *s, bool *good, tl_arena *a, talus_error *err)
{
    tl_lg_rows *r = s->rows;
    const int64_t n = s->count;
    strand *all = TL_TAKE(a, strand, n + 1);
    s->L = TL_TAKE(a, double, n *n + 1);
    if (!all || !s->L) return no_memory(err);
    if (r->nodes)
        TL_TRY(tl_lg_columns_ready(r->columns, r->solver, r->precision, r->he, r->nodes, r->node, r->room, err));
    for (int64_t i = 0; i < n; i++) all[i] = strand_of(s, s->row[i]);
#pragma omp parallel for schedule(static, 8) if (n > 100)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) s->L[i * n + j] = (i == j ? 1 + SOFT : 1) * between(s, &all[i], &all[j]);
    *good = n == 0 || tl_dense_chol(n, s->L, n);
    return TALUS_OK;
}

/* ---- conjugate gradients in the space that is left ---- */

static double dot(const held *s, const double *x, const double *y)
{
    return tl_dot(s->n, x, y) + tl_dot(s->b, x + s->n, y + s->n);
}

/* A^-1 x, bodies by their masses; over h as rows have it. */
static void soften(const held *s, const double *x, double *out)
{
    tl_lg_solve(s->w->solver, s->w->precision, x, out);
    for (int32_t k = 0; k < s->rows->bodies; k++) {
        const double *push = x + s->n + 6 * (int64_t)k;
        double *shift = out + s->n + 6 * (int64_t)k;
        tl_vec3_store(tl_vec3_scale(s->rows->inverse_mass[k], tl_vec3_load(push)), shift);
        tl_vec3_store(tl_mat3_mul_vec(s->rows->inverse_inertia[k], tl_vec3_load(push + 3)), shift + 3);
    }
}

/* What the held rows take: x -= J^T lambda with J A^-1 x = 0 afterwards, lambda in s->some; z = A^-1 x. */
static void hold(held *s, double *x, double *z)
{
    const tl_lg_rows *r = s->rows;
    soften(s, x, z);
    if (!s->count) return;
    tl_lg_rows_slopes(r, z, z + s->n, s->pull);
    for (int32_t i = 0; i < s->count; i++) s->some[i] = s->pull[s->row[i]];
    tl_dense_chol_solve(s->count, s->L, s->count, s->some);
    memset(s->pull, 0, sizeof *s->pull * (size_t)r->rows);
    for (int32_t i = 0; i < s->count; i++) s->pull[s->row[i]] = s->some[i];
    tl_lg_rows_scatter(r, s->pull);
    for (int32_t i = 0; i < r->nodes; i++)
        for (int64_t k = 3 * (int64_t)r->node[i], end = k + 3; k < end; k++) x[k] -= r->force[k];
    for (int64_t k = 0; k < s->b; k++) x[s->n + k] -= r->body_push[k];
    soften(s, x, z);
}

/* H p: forces a small way on, less those of now; of bodies their masses. */
static void curve(held *s)
{
    tl_lg_newton *w = s->w;
    double max = 0;
    for (int64_t k = 0; k < s->n; k++) max = fmax(max, fabs(s->p[k]));
    double by = max > 0 ? s->probe / max : 0;
    for (int64_t k = 0; k < s->n; k++) w->trial[k] = w->q[k] + by * s->p[k];
    tl_lg_newton_residual(w, w->trial, s->product);
    for (int64_t k = 0; k < s->n; k++) s->product[k] = by > 0 ? (w->d[k] - s->product[k]) / by : 0;
    for (int32_t k = 0; k < s->rows->bodies; k++) {
        const double *p = s->p + s->n + 6 * (int64_t)k;
        double *out = s->product + s->n + 6 * (int64_t)k;
        tl_mat3 inertia;
        (void)tl_mat3_inverse(s->rows->inverse_inertia[k], &inertia);
        tl_vec3_store(tl_vec3_scale(1 / s->rows->inverse_mass[k], tl_vec3_load(p)), out);
        tl_vec3_store(tl_mat3_mul_vec(inertia, tl_vec3_load(p + 3)), out + 3);
    }
}

/* d, from what hold left. */
static void descend(held *s, int max)
{
    const int64_t all = s->n + s->b;
    double rz = dot(s, s->res, s->z), first = rz;
    memset(s->d, 0, sizeof *s->d * (size_t)all);
    memcpy(s->p, s->z, sizeof *s->p * (size_t)all);
    for (int k = 0; k < max && rz > SOLVED * SOLVED * first; k++) {
        curve(s);
        double bend = dot(s, s->p, s->product);
        if (!(bend > 0)) {
            if (k == 0) memcpy(s->d, s->p, sizeof *s->d * (size_t)all);
            break;
        }
        double length = rz / bend;
        for (int64_t i = 0; i < all; i++) {
            s->d[i] += length * s->p[i];
            s->res[i] -= length * s->product[i];
        }
        hold(s, s->res, s->z);
        double next = dot(s, s->res, s->z), beta = next / rz;
        for (int64_t i = 0; i < all; i++) s->p[i] = s->z[i] + beta * s->p[i];
        rz = next;
    }
}

/* Forces of held rows that balance what is left at q, bodies having moved by `length` d. */
static void balance_forces(held *s, double length)
{
    tl_lg_touch *t = s->t;
    tl_lg_newton_residual(s->w, s->w->q, s->res);
    memset(s->res + s->n, 0, sizeof *s->res * (size_t)s->b);
    tl_lg_touch_push(t, s->res);
    for (int32_t k = 0; k < s->rows->bodies; k++) {
        const double *p = s->d + s->n + 6 * (int64_t)k;
        double *out = s->res + s->n + 6 * (int64_t)k;
        tl_mat3 inertia;
        (void)tl_mat3_inverse(s->rows->inverse_inertia[k], &inertia);
        tl_vec3_store(tl_vec3_scale(-length / s->rows->inverse_mass[k], tl_vec3_load(p)), out);
        tl_vec3_store(tl_vec3_scale(-length, tl_mat3_mul_vec(inertia, tl_vec3_load(p + 3))), out + 3);
    }
    if (!s->count) return;
    hold(s, s->res, s->z);
    for (int32_t i = 0; i < s->count; i++) t->lam[s->row[i]] -= s->some[i] / (t->he * t->he);
    for (int32_t c = 0; c < s->rows->contacts; c++) {
        double *f = t->lam + 3 * (int64_t)c;
        f[0] = fmax(0, f[0]);
        double size = hypot(f[1], f[2]), largest = s->rows->link[c].mu * f[0];
        for (int k = 1; k < 3 && size > largest; k++) f[k] *= largest / size;
    }
    memcpy(t->force, t->lam, sizeof *t->lam * (size_t)s->rows->rows);
}

talus_status tl_lg_held_correct(tl_lg_newton *w, tl_lg_touch *t, int max, tl_lg_corrections *c, tl_arena *a,
                                talus_error *err)
{
    held s = {.w = w, .t = t, .rows = &t->rows, .n = 3 * (int64_t)w->lg->nodes, .b = 6 * (int64_t)t->rows.bodies};
    const int64_t all = s.n + s.b + 1;
    size_t mark = tl_arena_mark(a);
    bool good = false;
    double **const vectors[] = {&s.d, &s.res, &s.z, &s.p, &s.product}, before = c->left;
    c->done = true;
    s.row = TL_TAKE(a, int64_t, t->rows.rows + 1);
    s.pull = TL_TAKE_ZERO(a, double, t->rows.rows + 1);
    if (!s.row || !s.pull) return no_memory(err);
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        if (!(*vectors[k] = TL_TAKE_ZERO(a, double, all))) return no_memory(err);
    find_held(&s);
    if (s.count <= ROWS_MAX) {
        if (!(s.some = TL_TAKE(a, double, s.count + 1))) return no_memory(err);
        TL_TRY(factor(&s, &good, a, err));
    }
    c->left = INFINITY;
    if (good) {
        TL_TRY(tl_cancel_check(err));
        s.probe = INFINITY;
        for (int b = 0; b < w->lg->bodies; b++) s.probe = fmin(s.probe, PROBE * w->lg->skin.body[b].mean);
        tl_lg_newton_residual(w, w->q, w->d);
        memcpy(s.res, w->d, sizeof *s.res * (size_t)s.n);
        tl_lg_touch_push(t, s.res);
        memcpy(w->r, s.res, sizeof *w->r * (size_t)s.n);
        hold(&s, s.res, s.z);
        c->left = dot(&s, s.res, s.z);
        c->done = max == 0 || !(c->left < before);
    }
    if (!c->done) {
        memcpy(c->q, w->q, sizeof *c->q * (size_t)s.n);
        memcpy(c->force, t->force, sizeof *c->force * (size_t)t->rows.rows);
        descend(&s, max);
        memcpy(w->step, s.d, sizeof *w->step * (size_t)s.n);
        tl_lg_rows_scatter(s.rows, t->force); /* what the search knows as work */
        balance_forces(&s, tl_lg_newton_search(w));
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}
