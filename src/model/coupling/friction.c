#include "model/coupling/friction.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"

#define NO_PRESSURE 1e-6 /* of the largest: cones of less are points [grid-granular spec 6.10] */
#define COLUMN_MAX                                                                                                     \
    24 /* entries of a column of D before equal faces are added up: 6 of diagonal components or 16 of a shear */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for frictional stress");
}

/* ---- in parts: columns of D, and what cells see ---- */

typedef struct column {
    int count;
    int32_t face[COLUMN_MAX];
    double val[COLUMN_MAX];
} column;

static void add_entry(column *c, int32_t face, double val)
{
    for (int i = 0; i < c->count; i++)
        if (c->face[i] == face) {
            c->val[i] += val;
            return;
        }
    c->face[c->count] = face;
    c->val[c->count++] = val;
}

static void add_edge(column *to, const tl_stress *t, int32_t edge, double scale)
{
    const tl_stress_edge e = tl_stress_edge_at(t, edge);
    for (int k = 0; k < 4; k++)
        if (e.face[k] < t->faces) add_entry(to, e.face[k], (k & 1 ? -scale : scale) * e.weight);
}

static void add_cell(column *to, const tl_stress *t, const tl_coupling *c, int64_t cell, int component)
{
    const int32_t *f = c->face + 6 * cell;
    const double per_dx = 1 / c->dx, w = t->cell[cell] * per_dx;
    double x = component == TL_S_XX && t->only[0] ? w : 0, z = component == TL_S_ZZ && t->only[2] ? w : 0;
    const double on[6] = {-x, x, x + z, -x - z, -z, z};
    for (int k = 0; k < 6; k++)
        if (on[k] != 0) add_entry(to, f[k], on[k]);
    for (int e = 0; e < 12 && !t->staggered; e++) {
        double share = tl_stress_shear(e / 4) == component ? 0.25 * t->shear[cell] : 0;
        if (share != 0 && t->cell_edge[e][cell] < t->edges) add_edge(to, t, t->cell_edge[e][cell], share * per_dx);
    }
}

static void column_of(const tl_stress *t, const tl_coupling *c, int64_t i, column *out)
{
    const int64_t diagonal = 2 * (int64_t)t->cells;
    out->count = 0;
    if (!t->staggered)
        add_cell(out, t, c, i / TL_STRESS_GROUP, (int)(i % TL_STRESS_GROUP));
    else if (i < diagonal)
        add_cell(out, t, c, i / 2, i % 2 ? TL_S_ZZ : TL_S_XX);
    else
        add_edge(out, t, (int32_t)(i - diagonal), 1 / c->dx);
}

static talus_status find_columns(const tl_friction *f, tl_cone_parts *to, tl_arena *a, talus_error *err)
{
    const int64_t n = f->stress->n;
    column now;
    if (!(to->start = TL_TAKE(a, int64_t, n + 1))) return no_memory(err);
    to->start[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        column_of(f->stress, f->c, i, &now);
        to->start[i + 1] = to->start[i] + now.count;
    }
    to->row = TL_TAKE(a, int32_t, to->start[n]);
    to->val = TL_TAKE(a, double, to->start[n]);
    if (!to->row || !to->val) return no_memory(err);
    for (int64_t i = 0; i < n; i++) {
        column_of(f->stress, f->c, i, &now);
        memcpy(to->row + to->start[i], now.face, sizeof *now.face * (size_t)now.count);
        memcpy(to->val + to->start[i], now.val, sizeof *now.val * (size_t)now.count);
    }
    return TALUS_OK;
}

static tl_csr take_csr(tl_arena *a, int64_t rows, int64_t cols, int64_t nonzeros)
{
    return (tl_csr){(int32_t)rows, (int32_t)cols, TL_TAKE_ZERO(a, int64_t, rows + 2), TL_TAKE(a, int32_t, nonzeros),
                    TL_TAKE(a, double, nonzeros)};
}

/* Staggered: a cell sees its two diagonal components, and a quarter of each edge around it. */
static talus_status find_seen(const tl_stress *t, tl_cone_parts *to, tl_arena *a, talus_error *err)
{
    const int64_t rows = TL_STRESS_GROUP * (int64_t)t->cells, max = 14 * (int64_t)t->cells;
    tl_csr *L = &to->seen, *S = &to->seers;
    *L = take_csr(a, rows, t->n, max);
    *S = take_csr(a, t->n, rows, max);
    if (!L->start || !L->col || !L->val || !S->start || !S->col || !S->val) return no_memory(err);
    int64_t at = 0;
    for (int32_t i = 0; i < t->cells; i++)
        for (int c = 0; c < TL_STRESS_GROUP; c++) {
            if (c == TL_S_XX || c == TL_S_ZZ) {
                L->col[at] = 2 * i + (c == TL_S_ZZ);
                L->val[at++] = 1;
            }
            for (int e = 0; e < 12; e++)
                if (tl_stress_shear(e / 4) == c && t->cell_edge[e][i] < t->edges) {
                    L->col[at] = 2 * t->cells + t->cell_edge[e][i];
                    L->val[at++] = 0.25;
                }
            L->start[TL_STRESS_GROUP * (int64_t)i + c + 1] = at;
        }
    /* the transpose, by counting: starts are one place further until rows are full */
    for (int64_t k = 0; k < at; k++) S->start[L->col[k] + 2]++;
    for (int64_t r = 0; r < t->n; r++) S->start[r + 2] += S->start[r + 1];
    for (int32_t r = 0; r < L->rows; r++)
        for (int64_t k = L->start[r]; k < L->start[r + 1]; k++) {
            int64_t to_at = S->start[L->col[k] + 1]++;
            S->col[to_at] = r;
            S->val[to_at] = L->val[k];
        }
    return TALUS_OK;
}

/* xx, zz, xy, yz, xz: minus the sum of the first two is yy. */
static void find_components(const tl_stress *t, tl_cone_component *out)
{
    static const int shears[3] = {2, 0, 1}; /* axes of the edges of xy, yz, xz */
    const int64_t n = t->cells;
    out[0] = t->staggered ? (tl_cone_component){0, 2, n} : (tl_cone_component){TL_S_XX, TL_STRESS_GROUP, n};
    out[1] = t->staggered ? (tl_cone_component){1, 2, n} : (tl_cone_component){TL_S_ZZ, TL_STRESS_GROUP, n};
    for (int k = 0; k < 3; k++) {
        int64_t first = 0, end;
        while (t->staggered && first < t->edges && t->edge_axis[first] < shears[k]) first++;
        for (end = first; t->staggered && end < t->edges && t->edge_axis[end] == shears[k];) end++;
        out[2 + k] = t->staggered ? (tl_cone_component){2 * n + first, 1, end - first}
                                  : (tl_cone_component){tl_stress_shear(shears[k]), TL_STRESS_GROUP, n};
    }
}

static void weigh(const void *ctx, double *y)
{
    const tl_friction *f = ctx;
    const tl_coupling *c = f->c;
    if (c->solid.n) {
        c->solid.gather(&c->solid, y, c->r);
        c->solid.inverse_mass(&c->solid, c->r, c->dv);
        for (int64_t i = 0; i < c->solid.n; i++) c->dv[i] *= c->dx * c->dx * c->dx * c->dt;
    }
    for (int32_t k = 0; k < c->faces; k++) y[k] *= f->weight[k];
    if (c->solid.n) c->solid.sample(&c->solid, c->dv, y);
}

static void weigh_absolute(const void *ctx, double *y)
{
    const tl_friction *f = ctx;
    const tl_coupling *c = f->c;
    memset(f->moved, 0, sizeof *y * (size_t)c->faces);
    if (c->solid.n) c->solid.spread(&c->solid, y, f->moved);
    for (int32_t k = 0; k < c->faces; k++) y[k] = f->weight[k] * y[k] + c->dt * c->dx * c->dx * c->dx * f->moved[k];
}

static talus_status find_parts(tl_friction *f, tl_arena *a, talus_error *err)
{
    const tl_stress *t = f->stress;
    f->weight = TL_TAKE(a, double, t->faces);
    f->moved = TL_TAKE(a, double, t->faces);
    if (!f->weight || !f->moved) return no_memory(err);
    for (int32_t k = 0; k < t->faces; k++) f->weight[k] = f->c->dt * f->c->fluid[k] * f->c->mobility[k];
    f->split = (tl_cone_parts){.groups = t->cells,
                               .rows = t->faces,
                               .weight = f->weight,
                               .weigh = weigh,
                               .weigh_absolute = weigh_absolute,
                               .ctx = f,
                               .form_rows = {3, 2, 2, 2, 3},
                               .largest = tl_max_abs(t->cells, f->bound),
                               .o = *f->parts};
    find_components(t, f->split.component);
    if (t->staggered) TL_TRY(find_seen(t, &f->split, a, err));
    return find_columns(f, &f->split, a, err);
}

/* ---- the problem ---- */

talus_status tl_friction_begin(tl_friction *f, tl_arena *a, talus_error *err)
{
    const int64_t n = f->stress->n;
    const int32_t cells = f->stress->cells;
    f->radius = TL_TAKE(a, double, cells);
    f->bound = TL_TAKE(a, double, cells);
    f->b = TL_TAKE(a, double, n);
    f->g = TL_TAKE(a, double, n);
    if (!f->radius || !f->bound || !f->b || !f->g) return no_memory(err);
    f->space = tl_space_local(n);
    size_t mark = tl_arena_mark(a);
    double *scratch = TL_TAKE(a, double, f->stress->faces);
    if (!scratch) return no_memory(err);
    tl_stress_bounds(f->stress, f->c, scratch, f->bound);
    tl_arena_release(a, mark);
    return f->parts ? find_parts(f, a, err) : TALUS_OK;
}

static void find_radii(const tl_friction *f, const double *p)
{
    double max = tl_max_abs(f->stress->cells, p);
#pragma omp parallel for schedule(static) if (f->stress->cells >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < f->stress->cells; i++) {
        double load = p[i] / f->stress->cell[i];
        if (f->slip.beside) {
            int32_t k = f->slip.beside[i];
            load = tl_slip_load(&f->slip, i, load, p[k] / f->stress->cell[k], f->s);
        }
        f->radius[i] = p[i] > NO_PRESSURE * max ? f->alpha[i] * load : 0;
        if (f->cohesion) f->radius[i] += f->cohesion[i];
    }
}

static void product(const tl_linop *A, const double *x, double *y)
{
    const tl_friction *f = A->ctx;
    tl_stress_product(f->stress, f->c, x, y);
}

/* b = A s - g, g the gradient with s in force. */
tl_cone tl_friction_problem(const tl_friction *f, const double *p)
{
    find_radii(f, p);
    tl_cone out = {.space = &f->space,
                   .A = {product, NULL, f},
                   .b = f->b,
                   .radius = f->radius,
                   .size = TL_STRESS_GROUP,
                   .bound = f->bound,
                   .parts = f->parts ? &f->split : NULL};
    tl_stress_form(f->stress, out.Q);
    tl_stress_product(f->stress, f->c, f->s, f->b);
    tl_stress_gradient(f->stress, f->c, f->g);
    for (int64_t i = 0; i < f->stress->n; i++) f->b[i] -= f->g[i];
    return out;
}

static tl_cone problem_of(const void *ctx, const double *p) { return tl_friction_problem(ctx, p); }

static void push(const void *ctx, const double *ds)
{
    const tl_friction *f = ctx;
    tl_stress_push(f->stress, f->c, ds);
}

tl_cones tl_friction_cones(tl_friction *f)
{
    return (tl_cones){.n = f->stress->n,
                      .groups = f->stress->cells,
                      .s = f->s,
                      .problem = problem_of,
                      .push = push,
                      .ctx = f,
                      .parts = f->parts ? &f->split : NULL};
}
