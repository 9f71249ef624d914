/* What the files of methods by parts share: one solve, its parts, and what groups see. Not meant for others. */
#ifndef TL_SOLVE_CONE_PARTS_INSIDE_H
#define TL_SOLVE_CONE_PARTS_INSIDE_H

#include "solve/cone/group.h"
#include "solve/cone/parts.h"

/* Unknown j changes tl_parts_tl_parts_entry_of(.., k) by d[k], k < entries. Components: one or two of them, place by
 * place. Pairs: the first two components, as unknowns of their own. All: every entry on its own. Columns of D:
 * unknown j acts on row[e] with val[e], e = start[j] .. start[j + 1]. */
typedef struct tl_part {
    enum { TL_PART_COMPONENTS, TL_PART_PAIRS, TL_PART_ALL } kind;
    int entries, component[2];
    double d[2];
    int64_t count, *start;
    int32_t *row;
    double *val;
} tl_part;

typedef struct tl_parts_plan {
    const tl_parts_rule *rule;
    int parts;
    tl_part part[TL_CONE_MAX];
    double *multiplier;  /* [groups] g >= 0 */
    double *dual;        /* [groups][size] of primal-dual; goes on from solve to solve */
    double *tau, *sigma; /* [n], [groups] its steps */
} tl_parts_plan;

/* One solve. */
typedef struct tl_parts_solve {
    const tl_cone *p;
    const tl_cone_parts *t;
    tl_parts_plan *plan;
    int64_t n;
    int m;         /* size of groups */
    double *x, *g; /* [n] in force; gradient of the energy at x */
    double *dx;    /* [n] change of this step */
    double *wide;  /* [n] scratch */
    double *reach; /* [n] radius where an entry is */
    double *stiff; /* [n] diagonal that is added to A, of the part at hand */
    double *unit; /* [n] per unknown of its box QP: its diagonal is 1 then; penalties differ by orders between groups */
    double *y;    /* [rows] scratch */
    const double *pin; /* [n] of ssor: > 0 where a bound acts; NULL: nowhere */
    const tl_part *part;
    tl_space space;
    tl_arena *arena;
    tl_work *work;
} tl_parts_solve;

static inline int64_t tl_parts_entry_of(const tl_cone_parts *t, const tl_part *p, int64_t j, int k)
{
    if (p->kind == TL_PART_ALL) return j;
    const tl_cone_component *c = &t->component[p->kind == TL_PART_PAIRS ? j % 2 : p->component[k]];
    return c->first + c->stride * (p->kind == TL_PART_PAIRS ? j / 2 : j);
}

/* What a group sees of x: out [size]. */
static inline void tl_parts_see(const tl_parts_solve *k, const double *x, int32_t group, double *out)
{
    const tl_csr *L = &k->t->seen;
    for (int c = 0; c < k->m; c++) {
        int64_t r = (int64_t)k->m * group + c;
        out[c] = L->rows ? 0 : x[r];
        for (int64_t e = L->rows ? L->start[r] : 0; L->rows && e < L->start[r + 1]; e++)
            out[c] += L->val[e] * x[L->col[e]];
    }
}

/* y [n] += L^T z for one group's z. */
static inline void tl_parts_spread(const tl_parts_solve *k, int32_t group, const double *z, double *y)
{
    const tl_csr *L = &k->t->seen;
    for (int c = 0; c < k->m; c++) {
        int64_t r = (int64_t)k->m * group + c;
        if (!L->rows) y[r] += z[c];
        for (int64_t e = L->rows ? L->start[r] : 0; L->rows && e < L->start[r + 1]; e++)
            y[L->col[e]] += L->val[e] * z[c];
    }
}

/* Who sees entry i: group, component and part, one after the other; false at the end. */
static inline bool tl_parts_seer(const tl_parts_solve *k, int64_t i, int which, int32_t *group, int *component,
                                 double *share)
{
    const tl_csr *S = &k->t->seers;
    int64_t at = i;
    *share = 1;
    if (S->rows) {
        if (S->start[i] + which >= S->start[i + 1]) return false;
        at = S->col[S->start[i] + which];
        *share = S->val[S->start[i] + which];
    } else if (which) {
        return false;
    }
    *group = (int32_t)(at / k->m);
    *component = (int)(at % k->m);
    return true;
}

static inline double tl_parts_form(const tl_parts_solve *k, const double *x) { return tl_cone_form(k->m, k->p->Q, x); }

/* Half-width of the box of entry i. */
static inline double tl_parts_box(const tl_parts_solve *k, int64_t i)
{
    const tl_parts_options *o = &k->t->o;
    double share = k->plan->rule->cone ? (o->loose > 0 ? o->loose * sqrt(0.5) : INFINITY) : o->pyramid;
    return k->reach[i] > 0 ? share * k->reach[i] : 0;
}

/* parts_plan.c */
talus_status tl_parts_solve_begin(tl_parts_solve *k, const tl_cone *p, double *x, tl_arena *a, tl_work *work,
                                  talus_error *err);
void tl_parts_gradient(const tl_parts_solve *k);      /* g = A x - b */
void tl_parts_apply(tl_parts_solve *k, double share); /* x += share dx, and dx = 0 */
double tl_parts_rows(
    const tl_parts_solve *k,
    double *rows); /* sums of |A| of the part at hand, in its units: rows [count]. Returns the largest */

/* parts_dual.c: steps into the plan of p's parts; all iterations of a solve */
talus_status tl_parts_dual_steps(const tl_cone *p, tl_arena *a, talus_error *err);
void tl_parts_solve_dual(tl_parts_solve *k);

#endif
