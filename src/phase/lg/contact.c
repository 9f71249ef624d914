#include "phase/lg/contact.h"

#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "model/lg/ncp.h"
#include "solve/linear/method.h"

#define SLOPE_LEAST 1e-9   /* of a law in its gap: rows are divided by it */
#define CR_TOLERANCE 1e-13 /* of the right-hand side: below is rounding */
#define STICKS 1e-6        /* of mu N: friction this far below is below the cone */
#define PARALLEL 500       /* contacts */

extern const tl_linear_method tl_linear_cr;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the contact forces of elastic bodies");
}

/* ---- forces of the last step ---- */

static void match(tl_lg_touch *t, const tl_lg_contacts *soft, const tl_lg_state *past, const double *hard_lam)
{
    const tl_lg_rows *r = &t->rows;
    for (int32_t c = 0; c < r->soft; c++) {
        const tl_lg_contact *k = &soft->contact[c];
        const tl_lg_memory *m = tl_lg_memory_find(past, k->point, k->obstacle, k->feature);
        if (!m) continue;
        tl_vec3 f = tl_vec3_load(m->force);
        double n = tl_vec3_dot(f, r->link[c].axis[0]);
        if (!(n > 0)) continue;
        t->lam[3 * (int64_t)c] = n;
        for (int a = 1; a < 3 && r->link[c].mu > 0; a++)
            t->lam[3 * (int64_t)c + a] = tl_vec3_dot(f, r->link[c].axis[a]);
    }
    for (int64_t k = 3 * (int64_t)r->soft; k < 3 * (int64_t)r->contacts; k++)
        t->lam[k] = hard_lam[k - 3 * (int64_t)r->soft] / t->h;
    for (int32_t b = 0; b < r->bilateral.count; b++) {
        const tl_lg_memory *m = tl_lg_memory_find(past, r->bilateral.row[b].id, TL_LG_MEMORY_ROW, 0);
        if (m) t->lam[3 * (int64_t)r->contacts + b] = m->force[0];
    }
}

/* Rows and vectors; all forces are zero. */
static talus_status make(tl_lg_touch *t, const tl_lg_spec *spec, const tl_lg_rows_of *from, tl_lg_joined *joined,
                         tl_arena *a, talus_error *err)
{
    *t = (tl_lg_touch){.spec = spec, .joined = joined, .h = from->h, .he = from->he};
    TL_TRY(tl_lg_rows_make(&t->rows, from, a, err));
    const int64_t n = t->rows.rows, b = t->rows.bodies;
    if (!n && !joined) return TALUS_OK;
    if (joined) tl_lg_join_number(joined, &t->rows);
    double **const vectors[] = {&t->lam, &t->force, &t->value, &t->law_value, &t->slope,   &t->add,
                                &t->rhs, &t->scale, &t->x,     &t->t,         &t->product, &t->before};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        if (!(*vectors[k] = TL_TAKE_ZERO(a, double, n))) return no_memory(err);
    t->landed = TL_TAKE_ZERO(a, double, t->rows.soft + 1);
    t->body_moved = TL_TAKE(a, double, 6 * b);
    t->body_free = TL_TAKE(a, double, 6 * b);
    if (!t->body_moved || !t->body_free || !t->landed) return no_memory(err);
    tl_space space = tl_space_local(n);
    tl_options options = tl_options_default();
    tl_linear none = {.space = &space};
    return tl_arena_reserve(a, tl_linear_cr.bytes(&none, &options), err);
}

static void fly_free(tl_lg_touch *t, const double *v_free)
{
    for (int64_t i = 0; i < t->rows.bodies; i++)
        for (int k = 0; k < 6; k++) t->body_free[6 * i + k] = t->h * v_free[6 * (int64_t)t->rows.body[i] + k];
}

talus_status tl_lg_touch_begin(tl_lg_touch *t, const tl_lg_spec *spec, const tl_lg_rows_of *from, tl_lg_joined *joined,
                               const tl_lg_state *past, const tl_bodies *b, tl_arena *a, talus_error *err)
{
    TL_TRY(make(t, spec, from, joined, a, err));
    if (!t->rows.rows && !joined) return TALUS_OK;
    fly_free(t, b->v_free);
    if (!t->rows.rows) return TALUS_OK;
    match(t, from->soft, past, b->lam);
    memcpy(t->force, t->lam, sizeof *t->lam * (size_t)t->rows.rows);
    return TALUS_OK;
}

/* Rows of a contact whose axes have turned. */
static void turn(const tl_lg_link *from, const tl_lg_link *to, const double *x, double *out)
{
    tl_vec3 f = tl_lg_link_force(from, x);
    for (int k = 0; k < 3; k++) out[k] = tl_vec3_dot(to->axis[k], f);
    out[0] = fmax(0, out[0]);
}

talus_status tl_lg_touch_again(tl_lg_touch *t, const tl_lg_rows_of *from, const int32_t *origin, const double *v_free,
                               tl_arena *a, talus_error *err)
{
    const tl_lg_touch old = *t;
    TL_TRY(make(t, old.spec, from, old.joined, a, err));
    fly_free(t, v_free);
    t->work = old.work;
    t->steps = old.steps;
    for (int32_t c = 0; c < t->rows.soft; c++) {
        if (origin[c] < 0) continue;
        const tl_lg_link *was = &old.rows.link[origin[c]], *is = &t->rows.link[c];
        turn(was, is, old.lam + 3 * (int64_t)origin[c], t->lam + 3 * (int64_t)c);
        turn(was, is, old.force + 3 * (int64_t)origin[c], t->force + 3 * (int64_t)c);
    }
    const int64_t behind = old.rows.rows - 3 * (int64_t)old.rows.soft, now = t->rows.rows - behind;
    if (!behind) return TALUS_OK;
    memcpy(t->lam + now, old.lam + 3 * (int64_t)old.rows.soft, sizeof *t->lam * (size_t)behind);
    memcpy(t->force + now, old.force + 3 * (int64_t)old.rows.soft, sizeof *t->force * (size_t)behind);
    return TALUS_OK;
}

/* ---- between rounds ---- */

/* Where bodies are with these forces. */
static void place_bodies(tl_lg_touch *t)
{
    const tl_lg_rows *r = &t->rows;
    for (int32_t b = 0; b < r->bodies; b++) {
        const double *push = r->body_push + 6 * (int64_t)b;
        double *moved = t->body_moved + 6 * (int64_t)b;
        tl_vec3 d = tl_vec3_scale(r->inverse_mass[b], tl_vec3_load(push)),
                w = tl_mat3_mul_vec(r->inverse_inertia[b], tl_vec3_load(push + 3));
        tl_vec3_store(d, moved);
        tl_vec3_store(w, moved + 3);
        for (int k = 0; k < 6; k++) moved[k] = t->body_free[6 * (int64_t)b + k] + t->he * t->he * moved[k];
    }
}

void tl_lg_touch_push(tl_lg_touch *t, double *r)
{
    const tl_lg_rows *rows = &t->rows;
    if (!rows->rows && !t->joined) return;
    tl_lg_rows_scatter(rows, t->force);
    if (t->joined) tl_lg_join_push(t->joined, t->he * t->he, r, rows->body_push);
    for (int32_t i = 0; i < rows->nodes; i++)
        for (int c = 0; c < 3; c++) {
            int64_t k = 3 * (int64_t)rows->node[i] + c;
            r[k] += t->he * t->he * rows->force[k];
        }
    place_bodies(t);
}

static void evaluate(tl_lg_touch *t, const double *q)
{
    const tl_lg_rows *r = &t->rows;
    tl_lg_rows_values(r, q, t->body_moved, t->value);
    for (int32_t b = 0; b < r->bilateral.count; b++) {
        int64_t k = 3 * (int64_t)r->contacts + b;
        t->value[k] += r->bilateral.row[b].compliance * t->lam[k];
    }
}

/* ---- one contact step ---- */

static void put_row(tl_lg_touch *t, int64_t k, double value, double slope, double resistance)
{
    if (t->spec->form) {
        t->slope[k] = slope;
        t->add[k] = resistance;
        t->rhs[k] = -value;
    } else {
        double w = fmax(slope, SLOPE_LEAST);
        t->slope[k] = 1;
        t->add[k] = resistance / w;
        t->rhs[k] = -value / w;
    }
}

static void put_idle(tl_lg_touch *t, int64_t k)
{
    t->slope[k] = t->rhs[k] = t->lam[k] = 0;
    t->add[k] = 1;
}

static void put_contact(tl_lg_touch *t, int32_t c, const double *r)
{
    const double h = t->h, he2 = t->he * t->he, mu = t->rows.link[c].mu;
    const int64_t k = 3 * (int64_t)c;
    tl_ncp_kind kind = (tl_ncp_kind)t->spec->ncp;
    tl_ncp n = tl_ncp_normal(kind, t->value[k], t->lam[k], he2 * r[k]);
    if (n.slope_gap < SLOPE_LEAST &&
        !t->spec->form) { /* far off: what force is left goes, and rows of others need not know before */
        for (int a = 0; a < 3; a++) put_idle(t, k + a);
        return;
    }
    put_row(t, k, n.value, n.slope_gap, n.slope_force / he2);
    const double *f = t->lam + k, *slip = t->value + k, rf = 0.5 * he2 / h * (r[k + 1] + r[k + 2]);
    if (mu > 0 && f[0] > 0) {
        double size = hypot(f[1], f[2]);
        if (t->spec->project) size = fmin(size, mu * f[0]);
        double drag = tl_ncp_drag(kind, hypot(slip[1], slip[2]) / h, size, mu * f[0], rf);
        for (int a = 1; a < 3; a++) put_row(t, k + a, slip[a] + h * drag * f[a], 1, h * drag / he2);
    } else {
        for (int a = 1; a < 3; a++) {
            if (f[a] == 0)
                put_idle(t, k + a);
            else
                put_row(t, k + a, h * rf * f[a], 0, h * rf / he2);
        }
    }
}

/* Laws at the values and forces of now. */
static talus_status linearise(tl_lg_touch *t, talus_error *err)
{
    const tl_lg_rows *r = &t->rows;
    const double *scale = t->spec->scale ? r->mass : r->diagonal;
#pragma omp parallel for schedule(static) if (r->contacts > PARALLEL)
    for (int32_t c = 0; c < r->contacts; c++) put_contact(t, c, scale);
    for (int32_t b = 0; b < r->bilateral.count; b++) {
        int64_t k = 3 * (int64_t)r->contacts + b;
        if (r->bilateral.row[b].one_sided) {
            tl_ncp n = tl_ncp_normal((tl_ncp_kind)t->spec->ncp, t->value[k], t->lam[k], t->he * t->he * scale[k]);
            put_row(t, k, n.value, n.slope_gap, n.slope_force / (t->he * t->he));
        } else {
            put_row(t, k, t->value[k], 1, 0);
        }
    }
    for (int64_t k = 0; k < r->rows; k++) {
        double d = t->slope[k] * t->slope[k] * r->diagonal[k] + t->add[k];
        t->scale[k] = d > 0 ? 1 / sqrt(d) : 0;
    }
    return tl_lg_rows_focus(&t->rows, t->slope, err);
}

/* y = s (w W w + E) s x */
static void apply(const tl_linop *A, const double *x, double *y)
{
    const tl_lg_touch *t = A->ctx;
    for (int64_t k = 0; k < t->rows.rows; k++) t->t[k] = t->slope[k] * t->scale[k] * x[k];
    tl_lg_rows_multiply_part(&t->rows, t->t, y);
    for (int64_t k = 0; k < t->rows.rows; k++)
        y[k] = t->scale[k] * (t->slope[k] * y[k] + t->add[k] * t->scale[k] * x[k]);
}

/* Forces become `next` [rows]: values follow, bodies and, matrix-free, nodes as well. False: nothing has changed. */
static bool change_forces(tl_lg_touch *t, const double *next, double *q)
{
    const tl_lg_rows *r = &t->rows;
    double max = 0;
    for (int64_t k = 0; k < r->rows; k++) {
        t->t[k] = t->he * t->he * (next[k] - t->force[k]);
        t->force[k] = next[k];
        max = fmax(max, fabs(t->t[k]));
    }
    if (max == 0) return false;
    tl_lg_rows_multiply(r, t->t, t->product);
    t->work.products++;
    for (int64_t k = 0; k < r->rows; k++) t->value[k] += t->product[k];
    for (int64_t k = 0; k < 6 * (int64_t)r->bodies; k++) t->body_moved[k] += r->body_shift[k];
    for (int64_t i = 0; i < 3 * (int64_t)r->lg->nodes && !r->B; i++) q[i] += r->moved[i];
    return true;
}

static void weigh(const tl_lg_touch *t, double *out)
{
    for (int64_t k = 0; k < t->rows.rows; k++) out[k] = t->slope[k] * t->lam[k];
}

static talus_status contact_step(tl_lg_touch *t, double *q, tl_arena *a, bool *changed, talus_error *err)
{
    const int64_t n = t->rows.rows;
    TL_TRY(linearise(t, err));
    if (t->spec->form) { /* forces of the new weights, and rows that are told of it */
        memcpy(t->law_value, t->value, sizeof *t->value * (size_t)n);
        weigh(t, t->x);
        (void)change_forces(t, t->x, q);
        for (int64_t k = 0; k < n; k++) t->rhs[k] += t->slope[k] * (t->law_value[k] - t->value[k]);
    }
    for (int64_t k = 0; k < n; k++) t->rhs[k] *= t->scale[k];
    tl_space space = tl_space_local(n);
    tl_linear system = {&space, {.apply = apply, .ctx = t}, t->rhs};
    tl_options options = tl_options_default();
    tl_stop stop = {.tolerance = CR_TOLERANCE, .max_iterations = t->spec->cr};
    memset(t->x, 0, sizeof *t->x * (size_t)n);
    tl_linear_cr.run(&system, &options, &stop, t->x, a, &t->work);
    for (int64_t k = 0; k < n; k++) t->lam[k] += t->scale[k] * t->x[k] / (t->he * t->he);
    if (t->spec->form)
        weigh(t, t->x);
    else
        memcpy(t->x, t->lam, sizeof *t->x * (size_t)n);
    t->steps++;
    *changed = change_forces(t, t->x, q);
    return TALUS_OK;
}

talus_status tl_lg_touch_solve(tl_lg_touch *t, double *q, tl_arena *a, talus_error *err)
{
    const tl_lg_rows *r = &t->rows;
    if (!r->rows) return TALUS_OK;
    tl_lg_rows_renew(&t->rows, q);
    evaluate(t, q);
    memcpy(t->before, t->force, sizeof *t->force * (size_t)r->rows);
    bool changed = true;
    for (int k = 0; k < t->spec->inner && changed; k++) {
        TL_TRY(tl_cancel_check(err));
        TL_TRY(contact_step(t, q, a, &changed, err));
    }
    double max = 0;
    for (int64_t k = 0; k < r->rows; k++) {
        t->t[k] = t->he * t->he * (t->force[k] - t->before[k]);
        max = fmax(max, fabs(t->t[k]));
    }
    if (!r->B || max == 0) return TALUS_OK;
    tl_lg_rows_scatter(r, t->t);
    tl_lg_solve(r->solver, r->precision, r->force, r->moved);
    t->work.products++;
    for (int64_t i = 0; i < 3 * (int64_t)r->lg->nodes; i++) q[i] += r->moved[i];
    return TALUS_OK;
}

/* ---- how it went ---- */

static void law_of_contact(const tl_lg_touch *t, int32_t c, double slow, tl_lg_laws *out)
{
    const double *f = t->force + 3 * (int64_t)c, *v = t->value + 3 * (int64_t)c, *w = t->rows.diagonal + 3 * (int64_t)c,
                 h = t->h, he2 = t->he * t->he;
    double max = t->rows.link[c].mu * fmax(0, f[0]), size = hypot(f[1], f[2]), u = hypot(v[1], v[2]) / h;
    out->normal = fmax(out->normal, fabs(fmin(v[0], he2 * w[0] * f[0])));
    out->excess = fmax(out->excess, size - max);
    out->normal_sum += f[0];
    out->touching += f[0] > 0;
    if (!(max > 0)) return;
    double r = 0.5 * he2 / h * (w[1] + w[2]), goal[2] = {f[1] - v[1] / (h * r), f[2] - v[2] / (h * r)},
           far = hypot(goal[0], goal[1]), cut = far > max ? max / far : 1;
    out->friction = fmax(out->friction, r * hypot(f[1] - cut * goal[0], f[2] - cut * goal[1]));
    if (u > slow && size < (1 - STICKS) * max) {
        out->creeping++;
        out->creep = fmax(out->creep, u);
    }
}

tl_lg_laws tl_lg_touch_laws(tl_lg_touch *t, int32_t shapes, double slow, const double *q)
{
    const tl_lg_rows *r = &t->rows;
    tl_lg_laws out = {0};
    if (!r->rows) return out;
    evaluate(t, q);
    for (int32_t c = 0; c < r->contacts; c++) law_of_contact(t, c, slow, &out);
    for (int32_t c = shapes; c < r->soft; c++) out.penetration = fmax(out.penetration, -t->value[3 * (int64_t)c]);
    for (int32_t b = 0; b < r->bilateral.count; b++) {
        int64_t k = 3 * (int64_t)r->contacts + b;
        double off =
            r->bilateral.row[b].one_sided ? fmin(t->value[k], t->he * t->he * r->diagonal[k] * t->lam[k]) : t->value[k];
        out.normal = fmax(out.normal, fabs(off));
    }
    return out;
}

talus_status tl_lg_touch_remember(const tl_lg_touch *t, const tl_lg_contacts *soft, tl_arena *a, tl_lg_memory **out,
                                  int64_t *count, talus_error *err)
{
    const tl_lg_rows *r = &t->rows;
    *count = r->soft + r->bilateral.count;
    *out = TL_TAKE_ZERO(a, tl_lg_memory, *count);
    if (!*out) return no_memory(err);
    for (int32_t c = 0; c < r->soft; c++) {
        const tl_lg_contact *k = &soft->contact[c];
        (*out)[c] =
            tl_lg_memory_of(k, tl_lg_link_force(&r->link[c], t->force + 3 * (int64_t)c), t->value[3 * (int64_t)c]);
        tl_vec3_store(tl_vec3_scale(t->landed[c] / t->h, r->link[c].axis[0]), (*out)[c].landed);
    }
    for (int32_t b = 0; b < r->bilateral.count; b++)
        (*out)[r->soft + b] = (tl_lg_memory){.point = r->bilateral.row[b].id,
                                             .obstacle = TL_LG_MEMORY_ROW,
                                             .force = {t->lam[3 * (int64_t)r->contacts + b], 0, 0}};
    tl_lg_memory_sort(*out, *count);
    return TALUS_OK;
}
