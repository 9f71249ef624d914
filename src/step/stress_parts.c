#include "step/stress_parts.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "solve/boxqp/method.h"

#define PARTS_MAX 5
#define TOLERANCE 1e-5 /* of a part's box QP */
#define SEARCHES 10    /* halvings of a line search */
#define OMEGA 1.3      /* of overrelaxation; 1 to 1.6 differ by 10 % of the products. Chosen */
/* Of the largest row of a cell's entries: step of its dual. 0.03 to 0.3 differ by 3 % of the energy after 100 iterations. */
#define DUAL_SHARE 0.1
#define COLUMN_MAX                                                                                                     \
    24 /* entries of a column of D before equal faces are added up: 6 of diagonal components or 16 of a shear */

static const tl_parts_rule rules[] = {
    {"jcsp", "each component alone, damped; cone by penalty and multipliers", TL_PARTS_JACOBI, true, false},
    {"jcsp-pyramid", "each component alone, damped; boxes", TL_PARTS_JACOBI, false, false},
    {"narain", "one part after the other: yy, xx with zz, shears; boxes", TL_PARTS_SEQUENCE, false, false},
    {"narain-printed", "the same; yy in a box, then xx against zz at their sum", TL_PARTS_SEQUENCE, false, true},
    {"box", "all components at once; boxes", TL_PARTS_TOGETHER, false, false},
    {"primal-dual", "all components at once; cone by a dual tensor per cell", TL_PARTS_DUAL, true, false},
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

/* Cells: s_c += d[c] t of each cell. Pairs: xx and zz of each cell, two unknowns. Edges: s += t of edges first .. first + count. All: every entry on its own.
 * Columns of D: unknown j acts on face[e] with val[e], e = start[j] .. start[j + 1]. */
typedef struct tl_part {
    enum { CELLS, PAIRS, EDGES, ALL } kind;
    int64_t first, count;
    double d[TL_STRESS_GROUP];
    int64_t *start;
    int32_t *face;
    double *val;
} part;

typedef struct step {
    const tl_parts *split;
    const tl_stress *t;
    const double *radius;
    double *edge_radius;     /* [edges] */
    double *s, *g;           /* [n] in force; gradient of the energy at s */
    double *ds;              /* [n] change of this step */
    double *wide, *wide_out; /* [n] scratch */
    double *stiff;           /* [n] diagonal that is added to A, of the part at hand */
    double
        *unit; /* [n] Pa per unknown of its box QP: its diagonal is 1 then; penalties differ by orders between cells */
    double *spread;    /* [faces] scratch */
    const double *pin; /* [n] of ssor: > 0 where a bound acts; NULL: nowhere */
    double Q[TL_STRESS_GROUP * TL_STRESS_GROUP];
    const part *part;
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

/* Unknown j of pairs: xx, zz of the first cell, of the second, ... */
static int64_t pair_entry(const tl_stress *t, int64_t j) { return cell_entry(t, j / 2, j % 2 ? TL_S_ZZ : TL_S_XX); }

static int find_parts(const tl_parts *split, part *out)
{
    const tl_stress *t = split->stress;
    int n = 0;
    if (split->rule->order == TL_PARTS_TOGETHER || split->rule->order == TL_PARTS_DUAL) {
        out[n++] = (part){.kind = ALL, .count = t->n};
        return n;
    }
    if (split->rule->order == TL_PARTS_SEQUENCE) {
        out[n++] = (part){CELLS, 0, t->cells, {[TL_S_XX] = -0.5, [TL_S_ZZ] = -0.5}, 0, 0, 0}; /* yy */
        if (split->rule->held)
            out[n++] = (part){CELLS, 0, t->cells, {[TL_S_XX] = 1, [TL_S_ZZ] = -1}, 0, 0, 0};
        else
            out[n++] = (part){.kind = PAIRS, .count = 2 * (int64_t)t->cells};
    } else {
        out[n++] = (part){CELLS, 0, t->cells, {[TL_S_XX] = 1}, 0, 0, 0};
        out[n++] = (part){CELLS, 0, t->cells, {[TL_S_ZZ] = 1}, 0, 0, 0};
    }
    const int shears[3] = {2, 0, 1}; /* axes of the edges of xy, yz, xz */
    for (int k = 0; k < 3; k++) {
        if (!t->staggered) {
            part p = {.kind = CELLS, .count = t->cells};
            p.d[tl_stress_shear(shears[k])] = 1;
            out[n++] = p;
            continue;
        }
        int64_t first = 0, end;
        while (first < t->edges && t->edge_axis[first] < shears[k]) first++;
        for (end = first; end < t->edges && t->edge_axis[end] == shears[k];) end++;
        out[n++] = (part){.kind = EDGES, .first = first, .count = end - first};
    }
    return n;
}

/* ---- columns of D ---- */

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

static void add_cell(column *to, const tl_stress *t, const tl_coupling *c, int64_t cell, const double *d)
{
    const int32_t *f = c->face + 6 * cell;
    const double per_dx = 1 / c->dx, w = t->cell[cell] * per_dx;
    double x = t->only[0] ? w * d[TL_S_XX] : 0, z = t->only[2] ? w * d[TL_S_ZZ] : 0;
    const double on[6] = {-x, x, x + z, -x - z, -z, z};
    for (int k = 0; k < 6; k++)
        if (on[k] != 0) add_entry(to, f[k], on[k]);
    for (int e = 0; e < 12 && !t->staggered; e++) {
        double share = 0.25 * t->shear[cell] * d[tl_stress_shear(e / 4)];
        if (share != 0 && t->cell_edge[e][cell] < t->edges) add_edge(to, t, t->cell_edge[e][cell], share * per_dx);
    }
}

/* Column of entry i of s, alone. */
static void add_single(column *to, const tl_stress *t, const tl_coupling *c, int64_t i)
{
    double d[TL_STRESS_GROUP] = {0};
    int64_t diagonal = 2 * (int64_t)t->cells;
    if (t->staggered && i >= diagonal) {
        add_edge(to, t, (int32_t)(i - diagonal), 1 / c->dx);
        return;
    }
    d[!t->staggered ? i % TL_STRESS_GROUP : i % 2 ? TL_S_ZZ : TL_S_XX] = 1;
    add_cell(to, t, c, i / (t->staggered ? 2 : TL_STRESS_GROUP), d);
}

static void column_of(const tl_parts *s, const part *p, int64_t j, column *out)
{
    out->count = 0;
    if (p->kind == CELLS) add_cell(out, s->stress, s->c, j, p->d);
    if (p->kind == EDGES) add_edge(out, s->stress, (int32_t)(p->first + j), 1 / s->c->dx);
    if (p->kind == PAIRS) add_single(out, s->stress, s->c, pair_entry(s->stress, j));
    if (p->kind == ALL) add_single(out, s->stress, s->c, j);
}

static talus_status find_columns(const tl_parts *s, part *p, tl_arena *a, talus_error *err)
{
    column now;
    p->start = TL_TAKE(a, int64_t, p->count + 1);
    if (!p->start) return no_memory(err);
    p->start[0] = 0;
    for (int64_t j = 0; j < p->count; j++) {
        column_of(s, p, j, &now);
        p->start[j + 1] = p->start[j] + now.count;
    }
    p->face = TL_TAKE(a, int32_t, p->start[p->count]);
    p->val = TL_TAKE(a, double, p->start[p->count]);
    if (!p->face || !p->val) return no_memory(err);
    for (int64_t j = 0; j < p->count; j++) {
        column_of(s, p, j, &now);
        memcpy(p->face + p->start[j], now.face, sizeof *now.face * (size_t)now.count);
        memcpy(p->val + p->start[j], now.val, sizeof *now.val * (size_t)now.count);
    }
    return TALUS_OK;
}

/* y [n] = what x [count] of the part is in components. */
static void expand(const step *k, const double *x, double *y)
{
    const part *p = k->part;
    memset(y, 0, sizeof *y * (size_t)k->t->n);
    if (p->kind == ALL) memcpy(y, x, sizeof *y * (size_t)p->count);
    if (p->kind == EDGES) memcpy(y + 2 * (int64_t)k->t->cells + p->first, x, sizeof *y * (size_t)p->count);
    for (int64_t j = 0; p->kind == PAIRS && j < p->count; j++) y[pair_entry(k->t, j)] = x[j];
    for (int64_t j = 0; p->kind == CELLS && j < p->count; j++)
        for (int c = 0; c < TL_STRESS_GROUP; c++)
            if (p->d[c] != 0) y[cell_entry(k->t, j, c)] = p->d[c] * x[j];
}

/* The adjoint. */
static void contract(const step *k, const double *y, double *x)
{
    const part *p = k->part;
    if (p->kind == ALL) memcpy(x, y, sizeof *y * (size_t)p->count);
    if (p->kind == EDGES) memcpy(x, y + 2 * (int64_t)k->t->cells + p->first, sizeof *y * (size_t)p->count);
    for (int64_t j = 0; p->kind == PAIRS && j < p->count; j++) x[j] = y[pair_entry(k->t, j)];
    for (int64_t j = 0; p->kind == CELLS && j < p->count; j++) {
        x[j] = 0;
        for (int c = 0; c < TL_STRESS_GROUP; c++)
            if (p->d[c] != 0) x[j] += p->d[c] * y[cell_entry(k->t, j, c)];
    }
}

/* ---- boxes ---- */

/* alpha p where entry i is. */
static double radius_of(const step *k, int64_t i)
{
    const int64_t diagonal = 2 * (int64_t)k->t->cells;
    if (!k->t->staggered) return k->radius[i / TL_STRESS_GROUP];
    return i < diagonal ? k->radius[i / 2] : k->edge_radius[i - diagonal];
}

/* Half-width of the box of entry i. */
static double box_of(const step *k, int64_t i)
{
    const tl_parts_options *o = &k->split->o;
    double share = k->split->rule->cone ? (o->loose > 0 ? o->loose * sqrt(0.5) : INFINITY) : o->pyramid;
    double r = radius_of(k, i);
    return r > 0 ? share * r : 0;
}

static void narrow(double s, double d, double box, double *lo, double *hi)
{
    double a = (-box - s) / d, b = (box - s) / d;
    *lo = fmax(*lo, fmin(a, b));
    *hi = fmin(*hi, fmax(a, b));
}

/* Of unknown j alone: every component that it changes stays in its box, yy as well where that has one. */
static void bounds_at(const step *k, int64_t j, double *lo, double *hi)
{
    const part *p = k->part;
    *lo = -INFINITY, *hi = INFINITY;
    if (p->kind != CELLS) {
        int64_t i = p->kind == ALL     ? j
                    : p->kind == PAIRS ? pair_entry(k->t, j)
                                       : 2 * (int64_t)k->t->cells + p->first + j;
        narrow(k->s[i], 1, box_of(k, i), lo, hi);
        return;
    }
    for (int c = 0; c < TL_STRESS_GROUP; c++) {
        int64_t i = cell_entry(k->t, j, c);
        if (p->d[c] != 0) narrow(k->s[i], p->d[c], box_of(k, i), lo, hi);
    }
    double yy = -p->d[TL_S_XX] - p->d[TL_S_ZZ];
    int64_t x = cell_entry(k->t, j, TL_S_XX), z = cell_entry(k->t, j, TL_S_ZZ);
    if (k->split->rule->held && yy != 0) narrow(-k->s[x] - k->s[z], yy, box_of(k, x), lo, hi);
}

static void bounds_of(const step *k, double *lo, double *hi)
{
    for (int64_t j = 0; j < k->part->count; j++) {
        bounds_at(k, j, &lo[j], &hi[j]);
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
        int32_t edge = t->cell_edge[e][cell];
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

static void multiply_form(const step *k, const double x[TL_STRESS_GROUP], double y[TL_STRESS_GROUP])
{
    for (int i = 0; i < TL_STRESS_GROUP; i++) {
        y[i] = 0;
        for (int j = 0; j < TL_STRESS_GROUP; j++) y[i] += k->Q[TL_STRESS_GROUP * i + j] * x[j];
    }
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
    const part *p = k->part;
    if (p->kind == CELLS) {
        add_penalty(k, (int32_t)j, p->d, 1, slope, curvature);
        return;
    }
    const tl_stress_edge e = tl_stress_edge_at(k->t, (int32_t)(p->first + j));
    double d[TL_STRESS_GROUP] = {0};
    d[tl_stress_shear(e.axis)] = 1;
    for (int c = 0; c < 4; c++)
        if (e.cell[c] < k->t->cells) add_penalty(k, e.cell[c], d, 0.25, slope, curvature);
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

/* Force of x [count], in units, on faces. */
static void act(const step *k, const double *x, double *y)
{
    const part *p = k->part;
    memset(y, 0, sizeof *y * (size_t)k->t->faces);
    for (int64_t j = 0; j < p->count; j++) {
        double v = k->unit[j] * x[j];
        for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) y[p->face[e]] += p->val[e] * v;
    }
}

static void product(const tl_linop *A, const double *x, double *y)
{
    const step *k = A->ctx;
    const part *p = k->part;
    const tl_coupling *c = k->split->c;
    act(k, x, c->y);
    if (c->solid.n) {
        c->solid.gather(&c->solid, c->y, c->r);
        c->solid.inverse_mass(&c->solid, c->r, c->dv);
        for (int64_t i = 0; i < c->solid.n; i++) c->dv[i] *= c->dx * c->dx * c->dx * c->dt;
    }
    for (int32_t f = 0; f < k->t->faces; f++) c->y[f] *= k->split->weight[f];
    if (c->solid.n) c->solid.sample(&c->solid, c->dv, c->y);
#pragma omp parallel for schedule(static) if (p->count >= TL_PARALLEL_MIN)
    for (int64_t j = 0; j < p->count; j++) {
        double sum = k->stiff[j] * k->unit[j] * x[j];
        for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) sum += p->val[e] * c->y[p->face[e]];
        y[j] = k->unit[j] * sum;
    }
}

/* Units that make the diagonal 1, bodies aside. */
static void find_units(step *k)
{
    const part *p = k->part;
    for (int64_t j = 0; j < p->count; j++) {
        double d = k->stiff[j];
        for (int64_t e = p->start[j]; e < p->start[j + 1]; e++)
            d += p->val[e] * p->val[e] * k->split->weight[p->face[e]];
        k->unit[j] = 1 / sqrt(d > 0 ? d : k->split->most);
    }
}

/* Row sums of |A|, bodies included: rows [count]. Returns the largest. */
static double rows_of(const step *k, double *rows)
{
    const part *p = k->part;
    const tl_coupling *c = k->split->c;
    double *y = c->y, most = 0;
    memset(y, 0, sizeof *y * (size_t)k->t->faces);
    memset(k->spread, 0, sizeof *y * (size_t)k->t->faces);
    for (int64_t j = 0; j < p->count; j++)
        for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) y[p->face[e]] += fabs(p->val[e]) * k->unit[j];
    if (c->solid.n) c->solid.spread(&c->solid, y, k->spread);
    for (int32_t f = 0; f < k->t->faces; f++)
        y[f] = k->split->weight[f] * y[f] + c->dt * c->dx * c->dx * c->dx * k->spread[f];
    for (int64_t j = 0; j < p->count; j++) {
        double row = k->stiff[j] * k->unit[j];
        for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) row += fabs(p->val[e]) * y[p->face[e]];
        rows[j] = row * k->unit[j];
        most = fmax(most, rows[j]);
    }
    return most;
}

/* ---- symmetric overrelaxation, bodies aside: the matrix is not there, what its rows did so far is known on faces ---- */

static void ssor_update(tl_precond *P, const double *add)
{
    step *k = P->data;
    k->pin = add;
}

/* One unknown: what is left of its row, over its diagonal 1. */
static void relax(const step *k, int64_t j, const double *r, double *z)
{
    const part *p = k->part;
    const double *weight = k->split->weight, u = k->unit[j];
    double *y = k->split->c->y, sum = k->stiff[j] * u * z[j];
    for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) sum += p->val[e] * y[p->face[e]];
    double dz = OMEGA * (r[j] - u * sum);
    z[j] += dz;
    for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) y[p->face[e]] += weight[p->face[e]] * p->val[e] * u * dz;
}

static void ssor_apply(const tl_precond *P, const double *r, double *z)
{
    const step *k = P->data;
    const int64_t n = k->part->count;
    memset(k->split->c->y, 0, sizeof *z * (size_t)k->t->faces);
    memset(z, 0, sizeof *z * (size_t)n);
    for (int64_t j = 0; j < n; j++)
        if (!k->pin || !(k->pin[j] > 0)) relax(k, j, r, z);
    for (int64_t j = n - 1; j >= 0; j--)
        if (!k->pin || !(k->pin[j] > 0)) relax(k, j, r, z);
}

static const tl_precond_kind ssor = {.name = "ssor", .update = ssor_update, .apply = ssor_apply};

/* Change of the part that minimises its quadratic model inside of its box, added to ds. */
static talus_status solve_part(step *k, talus_error *err)
{
    int64_t n = k->part->count;
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
    find_units(k);
    for (int64_t j = 0; j < n; j++) {
        b[j] *= k->unit[j];
        lo[j] /= k->unit[j], hi[j] /= k->unit[j];
        x[j] = fmin(hi[j], fmax(lo[j], 0));
    }
    k->space = tl_space_local(n);
    tl_boxqp problem = {
        .space = &k->space, .A = {product, NULL, k}, .b = b, .lo = lo, .hi = hi, .norm = rows_of(k, k->wide)};
    tl_stop stop = {.tolerance = TOLERANCE, .max_iterations = o->iterations};
    tl_options options = tl_options_default();
    tl_precond precond = {.kind = &ssor, .data = k};
    if (o->ssor) options.precond = &precond;
    tl_boxqp_report report;
    TL_TRY(tl_boxqp_solve(tl_boxqp_method_find("mprgp"), &problem, &options, &stop, x, k->arena, NULL, &report, err));
    k->work->products += report.work.products;
    k->work->preconds += report.work.preconds;
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
    k->spread = TL_TAKE(a, double, t->faces);
    if (!k->edge_radius || !k->g || !k->ds || !k->wide || !k->wide_out || !k->stiff || !k->unit || !k->spread)
        return no_memory(err);
    for (int32_t i = 0; i < t->edges && radius; i++) {
        const tl_stress_edge e = tl_stress_edge_at(t, i);
        for (int j = 0; j < 4; j++)
            if (e.cell[j] < t->cells) k->edge_radius[i] += 0.25 * radius[e.cell[j]];
    }
    return TALUS_OK;
}

/* ---- primal and dual: minimise f(s) + sum of indicators of |L s| <= r, L the stress at centres ---- */

/* y [n] += L^T z for one cell's z. */
static void spread_cell(const tl_stress *t, int32_t cell, const double z[TL_STRESS_GROUP], double *y)
{
    for (int c = 0; c < TL_STRESS_GROUP && !t->staggered; c++) y[TL_STRESS_GROUP * (int64_t)cell + c] += z[c];
    if (!t->staggered) return;
    y[2 * (int64_t)cell] += z[TL_S_XX];
    y[2 * (int64_t)cell + 1] += z[TL_S_ZZ];
    for (int e = 0; e < 12; e++) {
        int32_t edge = t->cell_edge[e][cell];
        if (edge < t->edges) y[2 * (int64_t)t->cells + edge] += 0.25 * z[tl_stress_shear(e / 4)];
    }
}

/* Largest entry of L^T at unknowns of a cell. */
static double largest_at(const tl_stress *t, int32_t cell, const double *x)
{
    double most = 0;
    for (int c = 0; c < TL_STRESS_GROUP; c++)
        if (!t->staggered || c == TL_S_XX || c == TL_S_ZZ) most = fmax(most, x[cell_entry(t, cell, c)]);
    for (int e = 0; e < 12 && t->staggered; e++)
        if (t->cell_edge[e][cell] < t->edges) most = fmax(most, x[2 * (int64_t)t->cells + t->cell_edge[e][cell]]);
    return most;
}

/* 1 / tau >= A / 2 + L^T Q sigma L, by row sums: Q has rows of 3 and 2. */
static talus_status find_dual_steps(tl_parts *split, tl_arena *a, talus_error *err)
{
    step k;
    tl_work unused = {0};
    const tl_stress *t = split->stress;
    split->dual = TL_TAKE_ZERO(a, double, TL_STRESS_GROUP *(int64_t)t->cells);
    split->tau = TL_TAKE(a, double, t->n);
    split->sigma = TL_TAKE(a, double, t->cells);
    if (!split->dual || !split->tau || !split->sigma) return no_memory(err);
    size_t mark = tl_arena_mark(a);
    TL_TRY(make_step(&k, split, NULL, NULL, a, &unused, err));
    k.part = &split->part[0];
    for (int64_t i = 0; i < t->n; i++) k.unit[i] = 1, k.stiff[i] = 0;
    rows_of(&k, split->tau);
    for (int32_t i = 0; i < t->cells; i++) split->sigma[i] = DUAL_SHARE * largest_at(t, i, split->tau);
    for (int64_t i = 0; i < t->n; i++) split->tau[i] *= 0.5;
    for (int32_t i = 0; i < t->cells; i++) {
        double s = split->sigma[i];
        const double z[TL_STRESS_GROUP] = {3 * s, 2 * s, 2 * s, 2 * s, 3 * s};
        spread_cell(t, i, z, split->tau);
    }
    for (int64_t i = 0; i < t->n; i++) split->tau[i] = split->tau[i] > 0 ? 1 / split->tau[i] : 0;
    tl_arena_release(a, mark);
    return TALUS_OK;
}

/* Dual of a cell: what is left of it beyond the cone. Cells without one lose their stress. */
static void pull(const step *k, int32_t cell)
{
    double at[TL_STRESS_GROUP], *w = k->split->dual + TL_STRESS_GROUP * (int64_t)cell, sigma = k->split->sigma[cell];
    if (!(sigma > 0)) return;
    stress_at(k, k->wide, cell, at);
    for (int c = 0; c < TL_STRESS_GROUP; c++) at[c] += w[c] / sigma;
    double length = sqrt(form(k, at, at)), r = fmax(k->radius[cell], 0), keep = length > r ? 1 - r / length : 0;
    for (int c = 0; c < TL_STRESS_GROUP; c++) w[c] = sigma * keep * at[c];
}

static void solve_dual(step *k)
{
    const tl_stress *t = k->t;
    for (int i = 0; i < k->split->o.iterations; i++) {
        tl_stress_gradient(t, k->split->c, k->g);
        for (int32_t cell = 0; cell < t->cells; cell++) {
            const double *w = k->split->dual + TL_STRESS_GROUP * (int64_t)cell;
            double q[TL_STRESS_GROUP];
            multiply_form(k, w, q);
            spread_cell(t, cell, q, k->g);
        }
        for (int64_t j = 0; j < t->n; j++) {
            k->ds[j] = -k->split->tau[j] * k->g[j];
            k->wide[j] = k->s[j] + 2 * k->ds[j];
        }
        apply_change(k, 1);
        for (int32_t cell = 0; cell < t->cells; cell++) pull(k, cell);
        k->work->products++;
        k->work->projections++;
    }
}

talus_status tl_parts_begin(tl_parts *s, const tl_parts_rule *rule, const tl_parts_options *o, const tl_stress *stress,
                            tl_coupling *c, const double *bound, tl_arena *a, talus_error *err)
{
    *s = (tl_parts){.rule = rule, .o = *o, .stress = stress, .c = c, .most = tl_max_abs(stress->cells, bound)};
    s->multiplier = TL_TAKE_ZERO(a, double, stress->cells);
    s->weight = TL_TAKE(a, double, stress->faces);
    s->part = TL_TAKE(a, part, PARTS_MAX);
    if (!s->multiplier || !s->weight || !s->part) return no_memory(err);
    for (int32_t f = 0; f < stress->faces; f++) s->weight[f] = c->dt * c->fluid[f] * c->mobility[f];
    s->parts = find_parts(s, s->part);
    for (int i = 0; i < s->parts; i++) TL_TRY(find_columns(s, &s->part[i], a, err));
    return rule->order == TL_PARTS_DUAL ? find_dual_steps(s, a, err) : TALUS_OK;
}

talus_status tl_parts_solve(tl_parts *split, const double *radius, double *s, tl_arena *a, tl_outcome *out,
                            tl_work *work, talus_error *err)
{
    step k;
    *out = (tl_outcome){.result = TL_OUT_OF_ITERATIONS};
    if (!(split->most > 0)) return TALUS_OK;
    TL_TRY(make_step(&k, split, radius, s, a, work, err));
    if (split->rule->order == TL_PARTS_DUAL) {
        solve_dual(&k);
        out->iterations = split->o.iterations;
        return TALUS_OK;
    }
    if (!split->o.keep) memset(split->multiplier, 0, sizeof *split->multiplier * (size_t)split->stress->cells);
    for (int newton = 0; newton < split->o.newton; newton++) {
        tl_stress_gradient(k.t, split->c, k.g);
        for (int i = 0; i < split->parts; i++) {
            k.part = &split->part[i];
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

/* Over the largest radius. */
static double outside(const step *k, const double *s)
{
    double most = 0, largest = 0, at[TL_STRESS_GROUP];
    for (int32_t i = 0; i < k->t->cells; i++) {
        double r = fmax(k->radius[i], 0);
        stress_at(k, s, i, at);
        most = fmax(most, sqrt(form(k, at, at)) - r);
        largest = fmax(largest, r);
    }
    return largest > 0 ? most / largest : 0;
}

/* Dual tensor of a cell: of the method, or the pull of its penalty. */
static void dual_at(const step *k, int32_t cell, const double at[TL_STRESS_GROUP], double w[TL_STRESS_GROUP])
{
    const tl_parts *p = k->split;
    double r = k->radius[cell];
    for (int c = 0; c < TL_STRESS_GROUP; c++)
        w[c] = p->dual ? p->dual[TL_STRESS_GROUP * (int64_t)cell + c]
               : r > 0 ? p->multiplier[cell] / (r * r) * at[c]
                       : 0;
}

/* With duals w, g's is at most what cones leave of w's, and what w does not balance of g times the room that there is: g (s - v) for any v
 * inside of all cones, with that room taken as the boxes of the pyramid. Destroys g. */
static double gap_of_cones(step *k, const double *s)
{
    double gap = 0, at[TL_STRESS_GROUP], w[TL_STRESS_GROUP], q[TL_STRESS_GROUP];
    for (int32_t i = 0; i < k->t->cells; i++) {
        stress_at(k, s, i, at);
        dual_at(k, i, at, w);
        multiply_form(k, w, q);
        gap += fmax(k->radius[i], 0) * sqrt(form(k, w, w)) - form(k, w, at);
        spread_cell(k->t, i, q, k->g);
    }
    for (int64_t i = 0; i < k->t->n; i++) gap += fabs(k->g[i]) * (fabs(s[i]) + sqrt(0.5) * fmax(radius_of(k, i), 0));
    return gap;
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
        if (!split->rule->cone) gap += k.g[i] * s[i] + box_of(&k, i) * fabs(k.g[i]);
        energy += s[i] * (k.g[i] - 0.5 * k.wide_out[i]); /* 1/2 s'As - b's with b = As - g */
    }
    if (split->rule->cone) gap = gap_of_cones(&k, s);
    *out = gap > 0 ? gap / fmax(fabs(energy), 1e-300) : 0;
    if (split->rule->cone) *out = fmax(*out, outside(&k, s));
    tl_arena_release(a, mark);
    return TALUS_OK;
}
