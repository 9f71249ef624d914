#include "step/stress_parts.h"

#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "solve/boxqp/method.h"

#define PARTS_MAX 5
#define TOLERANCE 1e-5 /* of a part's box QP */
#define SEARCHES 10    /* halvings of a line search */

static const tl_parts_rule rules[] = {
    {"jcsp", "each component alone, damped; cone by penalty and multipliers", TL_PARTS_JACOBI, true},
    {"jcsp-pyramid", "each component alone, damped; boxes", TL_PARTS_JACOBI, false},
    {"narain", "one part after the other: yy, xx against zz, shears; boxes", TL_PARTS_SEQUENCE, false},
    {"box", "all components at once; boxes", TL_PARTS_TOGETHER, false},
};

int tl_parts_rule_count(void) { return (int)(sizeof rules / sizeof *rules); }
const tl_parts_rule *tl_parts_rule_at(int i) { return i >= 0 && i < tl_parts_rule_count() ? &rules[i] : NULL; }

const tl_parts_rule *tl_parts_rule_find(const char *name)
{
    for (int i = 0; i < tl_parts_rule_count(); i++)
        if (!strcmp(rules[i].name, name)) return &rules[i];
    return NULL;
}

/* [grid-granular spec 5, 10]; the damping of the cone is below 0.4, which the penalty's curvature needs in 3D. */
tl_parts_options tl_parts_default(void)
{
    return (tl_parts_options){
        .pyramid = sqrt(0.5), .loose = 3, .damping = 0.3, .penalty = 100, .newton = 1, .iterations = 50};
}

/* ---- parts ---- */

/* Cells: s_c += d[c] t of each cell. Edges: s += t of edges first .. first + count. All: every entry on its own. */
typedef struct part {
    enum { CELLS, EDGES, ALL } kind;
    int64_t first, count;
    double d[TL_STRESS_GROUP];
} part;

typedef struct step {
    const tl_parts *split;
    const tl_stress *t;
    const double *radius;
    double *edge_radius;     /* [edges] */
    double *s, *g;           /* [n] in force; gradient of the energy at s */
    double *ds;              /* [n] change of this step */
    double *wide, *wide_out; /* [n] scratch of products */
    double *stiff;           /* [n] diagonal that is added to A, of the part at hand */
    double *unit;            /* [n] Pa per unknown of its box QP: penalties differ by orders between cells */
    double *scaled;          /* [n] scratch: x in Pa */
    double Q[TL_STRESS_GROUP * TL_STRESS_GROUP];
    part part;
    tl_space space;
    tl_arena *arena;
    tl_work *work;
} step;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for frictional stress by parts");
}

static int64_t cell_entry(const tl_stress *t, int64_t cell, int component)
{
    if (!t->staggered) return TL_STRESS_GROUP * cell + component;
    return 2 * cell + (component == TL_S_ZZ);
}

static int find_parts(const tl_parts *split, part *out)
{
    const tl_stress *t = split->stress;
    int n = 0;
    if (split->rule->order == TL_PARTS_TOGETHER) {
        out[n++] = (part){ALL, 0, t->n, {0}};
        return n;
    }
    if (split->rule->order == TL_PARTS_SEQUENCE) {
        out[n++] = (part){CELLS, 0, t->cells, {[TL_S_XX] = -0.5, [TL_S_ZZ] = -0.5}}; /* yy */
        out[n++] = (part){CELLS, 0, t->cells, {[TL_S_XX] = 1, [TL_S_ZZ] = -1}};
    } else {
        out[n++] = (part){CELLS, 0, t->cells, {[TL_S_XX] = 1}};
        out[n++] = (part){CELLS, 0, t->cells, {[TL_S_ZZ] = 1}};
    }
    const int shears[3] = {2, 0, 1}; /* axes of the edges of xy, yz, xz */
    for (int k = 0; k < 3; k++) {
        if (!t->staggered) {
            part p = {CELLS, 0, t->cells, {0}};
            p.d[tl_stress_shear(shears[k])] = 1;
            out[n++] = p;
            continue;
        }
        int64_t first = 0, end;
        while (first < t->edges && t->edge[first].axis < shears[k]) first++;
        for (end = first; end < t->edges && t->edge[end].axis == shears[k];) end++;
        out[n++] = (part){EDGES, first, end - first, {0}};
    }
    return n;
}

/* y [n] = what x [count] of the part is in components. */
static void expand(const step *k, const double *x, double *y)
{
    const part *p = &k->part;
    memset(y, 0, sizeof *y * (size_t)k->t->n);
    if (p->kind == ALL) memcpy(y, x, sizeof *y * (size_t)p->count);
    if (p->kind == EDGES) memcpy(y + 2 * (int64_t)k->t->cells + p->first, x, sizeof *y * (size_t)p->count);
    for (int64_t j = 0; p->kind == CELLS && j < p->count; j++)
        for (int c = 0; c < TL_STRESS_GROUP; c++)
            if (p->d[c] != 0) y[cell_entry(k->t, j, c)] = p->d[c] * x[j];
}

/* The adjoint. */
static void contract(const step *k, const double *y, double *x)
{
    const part *p = &k->part;
    if (p->kind == ALL) memcpy(x, y, sizeof *y * (size_t)p->count);
    if (p->kind == EDGES) memcpy(x, y + 2 * (int64_t)k->t->cells + p->first, sizeof *y * (size_t)p->count);
    for (int64_t j = 0; p->kind == CELLS && j < p->count; j++) {
        x[j] = 0;
        for (int c = 0; c < TL_STRESS_GROUP; c++)
            if (p->d[c] != 0) x[j] += p->d[c] * y[cell_entry(k->t, j, c)];
    }
}

/* ---- boxes ---- */

/* Half-width of the box of entry i. */
static double box_of(const step *k, int64_t i)
{
    const tl_parts_options *o = &k->split->o;
    double share = k->split->rule->cone ? (o->loose > 0 ? o->loose * sqrt(0.5) : INFINITY) : o->pyramid;
    double r = !k->t->staggered               ? k->radius[i / TL_STRESS_GROUP]
               : i < 2 * (int64_t)k->t->cells ? k->radius[i / 2]
                                              : k->edge_radius[i - 2 * (int64_t)k->t->cells];
    return r > 0 ? share * r : 0;
}

static void narrow(double s, double d, double box, double *lo, double *hi)
{
    double a = (-box - s) / d, b = (box - s) / d;
    *lo = fmax(*lo, fmin(a, b));
    *hi = fmin(*hi, fmax(a, b));
}

/* A part of two diagonal components obeys the boxes of both; that of yy obeys its own. */
static void bounds_of(const step *k, double *lo, double *hi)
{
    const part *p = &k->part;
    for (int64_t j = 0; j < p->count; j++) {
        lo[j] = -INFINITY, hi[j] = INFINITY;
        if (p->kind != CELLS) {
            int64_t i = p->kind == ALL ? j : 2 * (int64_t)k->t->cells + p->first + j;
            narrow(k->s[i], 1, box_of(k, i), &lo[j], &hi[j]);
        } else if (p->d[TL_S_XX] == p->d[TL_S_ZZ] && p->d[TL_S_XX] != 0) {
            int64_t x = cell_entry(k->t, j, TL_S_XX), z = cell_entry(k->t, j, TL_S_ZZ);
            narrow(-k->s[x] - k->s[z], 1, box_of(k, x), &lo[j], &hi[j]);
        } else
            for (int c = 0; c < TL_STRESS_GROUP; c++)
                if (p->d[c] != 0) {
                    int64_t i = cell_entry(k->t, j, c);
                    narrow(k->s[i], p->d[c], box_of(k, i), &lo[j], &hi[j]);
                }
        if (lo[j] > hi[j]) lo[j] = hi[j] = 0.5 * (lo[j] + hi[j]); /* boxes that do not meet: the cone shrank */
    }
}

/* ---- the cone by a penalty: c = (1 - |s|^2 / r^2) / 2 >= 0 ---- */

/* Stress at a cell, in groups. */
static void stress_at(const step *k, const double *s, int32_t cell, double out[TL_STRESS_GROUP])
{
    const tl_stress *t = k->t;
    for (int c = 0; c < TL_STRESS_GROUP; c++) out[c] = t->staggered ? 0 : s[TL_STRESS_GROUP * (int64_t)cell + c];
    if (!t->staggered) return;
    out[TL_S_XX] = s[2 * (int64_t)cell];
    out[TL_S_ZZ] = s[2 * (int64_t)cell + 1];
    for (int e = 0; e < 12; e++) {
        int32_t edge = t->of_cell[cell][e];
        if (edge < t->edges) out[tl_stress_shear(e / 4)] += 0.25 * s[2 * (int64_t)t->cells + edge];
    }
}

static double form(const step *k, const double x[TL_STRESS_GROUP], const double y[TL_STRESS_GROUP])
{
    const double *Q = k->Q;
    double sum = 0;
    for (int i = 0; i < TL_STRESS_GROUP; i++)
        for (int j = 0; j < TL_STRESS_GROUP; j++) sum += Q[TL_STRESS_GROUP * i + j] * x[i] * y[j];
    return sum;
}

static double penalty_of(const step *k, int32_t cell)
{
    double r = k->radius[cell];
    return k->split->o.penalty * k->split->most * r * r / 2;
}

/* min(c - g / mu, 0) */
static double excess_of(const step *k, int32_t cell, const double at[TL_STRESS_GROUP])
{
    double r2 = k->radius[cell] * k->radius[cell];
    return fmin(0, 0.5 * (1 - form(k, at, at) / r2) - k->split->multiplier[cell] / penalty_of(k, cell));
}

/* Slope and curvature of the penalty along direction d at a cell, added. Never negative: c is concave and the excess too.
 * share: of the part's unknown in the cell's stress. Four edges of an axis share a cell, and the penalty couples them: the diagonal takes the sum of
 * their row, 4 share^2, or all four would go the whole way at once. */
static void add_penalty(const step *k, int32_t cell, const double d[TL_STRESS_GROUP], double share, double *slope,
                        double *curvature)
{
    double at[TL_STRESS_GROUP], r2 = k->radius[cell] * k->radius[cell];
    if (!(r2 > 0)) return;
    stress_at(k, k->s, cell, at);
    double mu = penalty_of(k, cell), e = excess_of(k, cell, at), c1 = -form(k, at, d) / r2, c2 = -form(k, d, d) / r2;
    *slope += share * mu * e * c1;
    if (e < 0) *curvature += share * mu * (c1 * c1 + e * c2); /* share = 1 or 1/4 */
}

static void penalty_of_part(const step *k, int64_t j, double *slope, double *curvature)
{
    const part *p = &k->part;
    if (p->kind == CELLS) {
        add_penalty(k, (int32_t)j, p->d, 1, slope, curvature);
        return;
    }
    const tl_stress_edge *e = &k->t->edge[p->first + j];
    double d[TL_STRESS_GROUP] = {0};
    d[tl_stress_shear(e->axis)] = 1;
    for (int c = 0; c < 4; c++)
        if (e->cell[c] < k->t->cells) add_penalty(k, e->cell[c], d, 0.25, slope, curvature);
}

static void update_multipliers(step *k)
{
    double at[TL_STRESS_GROUP];
    for (int32_t i = 0; i < k->t->cells; i++) {
        if (!(k->radius[i] > 0)) {
            k->split->multiplier[i] = 0;
            continue;
        }
        stress_at(k, k->s, i, at);
        k->split->multiplier[i] = -penalty_of(k, i) * excess_of(k, i, at);
    }
}

static double penalty_energy(const step *k, const double *s)
{
    double sum = 0, at[TL_STRESS_GROUP];
    for (int32_t i = 0; i < k->t->cells; i++) {
        if (!(k->radius[i] > 0)) continue;
        stress_at(k, s, i, at);
        double e = excess_of(k, i, at);
        sum += 0.5 * penalty_of(k, i) * e * e;
    }
    return sum;
}

/* ---- one part ---- */

static void product(const tl_linop *A, const double *x, double *y)
{
    const step *k = A->ctx;
    for (int64_t j = 0; j < k->part.count; j++) k->scaled[j] = k->unit[j] * x[j];
    expand(k, k->scaled, k->wide);
    tl_stress_product(k->t, k->split->c, k->wide, k->wide_out);
    contract(k, k->wide_out, y);
    for (int64_t j = 0; j < k->part.count; j++) y[j] = k->unit[j] * (y[j] + k->stiff[j] * k->scaled[j]);
}

/* Change of the part that minimises its quadratic model inside of its box, added to ds. */
static talus_status solve_part(step *k, talus_error *err)
{
    int64_t n = k->part.count;
    const tl_parts_options *o = &k->split->o;
    if (n == 0) return TALUS_OK;
    size_t mark = tl_arena_mark(k->arena);
    double *b = TL_TAKE(k->arena, double, n), *lo = TL_TAKE(k->arena, double, n), *hi = TL_TAKE(k->arena, double, n);
    double *x = TL_TAKE_ZERO(k->arena, double, n);
    if (!b || !lo || !hi || !x) return no_memory(err);
    contract(k, k->g, b);
    for (int64_t j = 0; j < n; j++) {
        double slope = 0, curvature = 0;
        if (k->split->rule->cone) penalty_of_part(k, j, &slope, &curvature);
        k->stiff[j] = curvature + o->stiffen * k->split->most;
        b[j] = -b[j] - slope;
    }
    if (o->as_energy && o->stiffen > 0) {
        contract(k, k->s, x);
        for (int64_t j = 0; j < n; j++) b[j] -= o->stiffen * k->split->most * x[j], x[j] = 0;
    }
    bounds_of(k, lo, hi);
    for (int64_t j = 0; j < n; j++) {
        double unit = k->unit[j] = 1 / sqrt(k->split->most + k->stiff[j]);
        b[j] *= unit;
        lo[j] /= unit, hi[j] /= unit;
        x[j] = fmin(hi[j], fmax(lo[j], 0));
    }
    k->space = tl_space_local(n);
    tl_boxqp problem = {.space = &k->space, .A = {product, NULL, k}, .b = b, .lo = lo, .hi = hi};
    tl_stop stop = {.tolerance = TOLERANCE, .max_iterations = o->iterations};
    tl_options options = tl_options_default();
    tl_boxqp_report report;
    TL_TRY(tl_boxqp_solve(tl_boxqp_method_find("mprgp"), &problem, &options, &stop, x, k->arena, NULL, &report, err));
    k->work->products += report.work.products;
    k->work->projections++;
    for (int64_t j = 0; j < n; j++) x[j] *= k->unit[j];
    expand(k, x, k->wide);
    for (int64_t i = 0; i < k->t->n; i++) k->ds[i] += k->wide[i];
    tl_arena_release(k->arena, mark);
    return TALUS_OK;
}

/* ---- one solve ---- */

static void apply_change(step *k, double share)
{
    for (int64_t i = 0; i < k->t->n; i++) {
        k->ds[i] *= share;
        k->s[i] += k->ds[i];
    }
    tl_stress_push(k->t, k->split->c, k->ds);
    memset(k->ds, 0, sizeof *k->ds * (size_t)k->t->n);
}

/* Largest of 1, 1/2, 1/4, ... that lowers energy and penalty; 0 when none does. */
static double search(step *k)
{
    const tl_stress *t = k->t;
    double slope = tl_dot(t->n, k->g, k->ds), now = penalty_energy(k, k->s), length = 1;
    tl_stress_product(t, k->split->c, k->ds, k->wide_out);
    double bend = tl_dot(t->n, k->ds, k->wide_out);
    k->work->products++;
    for (int i = 0; i < SEARCHES; i++, length *= 0.5) {
        for (int64_t j = 0; j < t->n; j++) k->wide[j] = k->s[j] + length * k->ds[j];
        if (length * slope + 0.5 * length * length * bend + penalty_energy(k, k->wide) <= now) return length;
    }
    return 0;
}

static talus_status make_step(step *k, const tl_parts *split, const double *radius, double *s, tl_arena *a,
                              tl_work *work, talus_error *err)
{
    const tl_stress *t = split->stress;
    *k = (step){.split = split, .t = t, .radius = radius, .s = s, .arena = a, .work = work};
    tl_stress_form(t, k->Q);
    k->edge_radius = TL_TAKE_ZERO(a, double, t->edges);
    k->g = TL_TAKE(a, double, t->n);
    k->ds = TL_TAKE_ZERO(a, double, t->n);
    k->wide = TL_TAKE(a, double, t->n);
    k->wide_out = TL_TAKE(a, double, t->n);
    k->stiff = TL_TAKE(a, double, t->n);
    k->unit = TL_TAKE(a, double, t->n);
    k->scaled = TL_TAKE(a, double, t->n);
    if (!k->edge_radius || !k->g || !k->ds || !k->wide || !k->wide_out || !k->stiff || !k->unit || !k->scaled)
        return no_memory(err);
    for (int32_t e = 0; e < t->edges; e++)
        for (int j = 0; j < 4; j++)
            if (t->edge[e].cell[j] < t->cells) k->edge_radius[e] += 0.25 * radius[t->edge[e].cell[j]];
    return TALUS_OK;
}

talus_status tl_parts_begin(tl_parts *s, const tl_parts_rule *rule, const tl_parts_options *o, const tl_stress *stress,
                            tl_coupling *c, const double *bound, tl_arena *a, talus_error *err)
{
    *s = (tl_parts){.rule = rule, .o = *o, .stress = stress, .c = c, .most = tl_max_abs(stress->cells, bound)};
    s->multiplier = TL_TAKE_ZERO(a, double, stress->cells);
    return s->multiplier ? TALUS_OK : no_memory(err);
}

talus_status tl_parts_solve(tl_parts *split, const double *radius, double *s, tl_arena *a, tl_outcome *out,
                            tl_work *work, talus_error *err)
{
    step k;
    part parts[PARTS_MAX];
    int count = find_parts(split, parts);
    *out = (tl_outcome){.result = TL_OUT_OF_ITERATIONS};
    if (!(split->most > 0)) return TALUS_OK;
    TL_TRY(make_step(&k, split, radius, s, a, work, err));
    if (!split->o.keep) memset(split->multiplier, 0, sizeof *split->multiplier * (size_t)split->stress->cells);
    for (int newton = 0; newton < split->o.newton; newton++) {
        tl_stress_gradient(k.t, split->c, k.g);
        for (int i = 0; i < count; i++) {
            k.part = parts[i];
            TL_TRY(solve_part(&k, err));
            if (split->rule->order != TL_PARTS_SEQUENCE) continue;
            apply_change(&k, 1);
            tl_stress_gradient(k.t, split->c, k.g);
        }
        if (split->rule->order == TL_PARTS_TOGETHER) apply_change(&k, 1);
        if (split->rule->order == TL_PARTS_JACOBI)
            apply_change(&k, split->o.line_search ? search(&k) : split->o.damping);
        if (split->rule->cone) update_multipliers(&k);
        out->iterations++;
    }
    return TALUS_OK;
}

talus_status tl_parts_gap(const tl_parts *split, const double *radius, const double *s, tl_arena *a, double *out,
                          talus_error *err)
{
    size_t mark = tl_arena_mark(a);
    step k;
    tl_work unused = {0};
    TL_TRY(make_step(&k, split, radius, (double *)s, a, &unused, err));
    tl_stress_gradient(k.t, split->c, k.g);
    tl_stress_product(k.t, split->c, s, k.wide_out);
    double gap = 0, energy = 0;
    for (int64_t i = 0; i < k.t->n; i++) {
        double box = box_of(&k, i);
        if (isfinite(box)) gap += k.g[i] * s[i] + box * fabs(k.g[i]);
        energy += s[i] * (k.g[i] - 0.5 * k.wide_out[i]); /* 1/2 s'As - b's with b = As - g */
    }
    *out = gap > 0 ? gap / fmax(fabs(energy), 1e-300) : 0;
    tl_arena_release(a, mark);
    return TALUS_OK;
}
