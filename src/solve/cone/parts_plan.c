/* Parts of a cone problem: which there are, their columns, and what one solve with them needs. */
#include <math.h>
#include <string.h>

#include "solve/cone/parts_inside.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a cone problem by parts");
}

static void find_parts(tl_parts_plan *q, const tl_cone_parts *t, int64_t n, int size)
{
    const int64_t first = t->component[0].count;
    if (q->rule->order == TL_PARTS_TOGETHER || q->rule->order == TL_PARTS_DUAL) {
        q->part[q->parts++] = (tl_part){.kind = TL_PART_ALL, .entries = 1, .d = {1}, .count = n};
        return;
    }
    if (q->rule->order == TL_PARTS_SEQUENCE) {
        const double apart = q->rule->held ? -1 : 0;
        q->part[q->parts++] =
            (tl_part){TL_PART_COMPONENTS, 2, {0, 1}, {-0.5, -0.5}, first, 0, 0, 0}; /* the eliminated one */
        q->part[q->parts++] = q->rule->held
                                  ? (tl_part){TL_PART_COMPONENTS, 2, {0, 1}, {1, apart}, first, 0, 0, 0}
                                  : (tl_part){.kind = TL_PART_PAIRS, .entries = 1, .d = {1}, .count = 2 * first};
    }
    for (int c = q->rule->order == TL_PARTS_SEQUENCE ? 2 : 0; c < size; c++)
        q->part[q->parts++] = (tl_part){TL_PART_COMPONENTS, 1, {c, 0}, {1, 0}, t->component[c].count, 0, 0, 0};
}

/* Entries of a column, of equal rows added up: row, val NULL counts. */
static int64_t column_of(const tl_cone_parts *t, const tl_part *p, int64_t j, int32_t *row, double *val)
{
    int64_t count = 0;
    for (int k = 0; k < p->entries; k++) {
        int64_t i = tl_parts_entry_of(t, p, j, k);
        for (int64_t e = t->start[i]; e < t->start[i + 1]; e++) {
            int64_t at = 0;
            while (at < count && row[at] != t->row[e]) at++;
            if (at == count) row[count] = t->row[e], val[count++] = 0;
            val[at] += p->d[k] * t->val[e];
        }
    }
    return count;
}

static talus_status find_columns(const tl_cone_parts *t, tl_part *p, tl_arena *a, talus_error *err)
{
    int64_t max = 0;
    for (int64_t j = 0; j < p->count; j++)
        for (int k = 0; k < p->entries; k++) {
            int64_t i = tl_parts_entry_of(t, p, j, k);
            max += t->start[i + 1] - t->start[i];
        }
    p->start = TL_TAKE(a, int64_t, p->count + 1);
    p->row = TL_TAKE(a, int32_t, max);
    p->val = TL_TAKE(a, double, max);
    if (!p->start || !p->row || !p->val) return no_memory(err);
    p->start[0] = 0;
    for (int64_t j = 0; j < p->count; j++)
        p->start[j + 1] = p->start[j] + column_of(t, p, j, p->row + p->start[j], p->val + p->start[j]);
    return TALUS_OK;
}

talus_status tl_cone_parts_begin(tl_cone_parts *parts, const tl_cone_method *m, const tl_cone *p, tl_arena *a,
                                 talus_error *err)
{
    tl_parts_plan *q = parts->plan = TL_TAKE_ZERO(a, tl_parts_plan, 1);
    if (!q || !(q->multiplier = TL_TAKE_ZERO(a, double, parts->groups))) return no_memory(err);
    q->rule = m->rule;
    find_parts(q, parts, p->space->n, p->size);
    for (int i = 0; i < q->parts; i++) TL_TRY(find_columns(parts, &q->part[i], a, err));
    return q->rule->order == TL_PARTS_DUAL ? tl_parts_dual_steps(p, a, err) : TALUS_OK;
}

static void find_reach(const tl_parts_solve *k)
{
    int32_t group;
    int component;
    double share;
    for (int64_t i = 0; i < k->n; i++) {
        k->reach[i] = 0;
        for (int w = 0; tl_parts_seer(k, i, w, &group, &component, &share); w++)
            k->reach[i] += share * k->p->radius[group];
    }
}

talus_status tl_parts_solve_begin(tl_parts_solve *k, const tl_cone *p, double *x, tl_arena *a, tl_work *work,
                                  talus_error *err)
{
    const tl_cone_parts *t = p->parts;
    *k = (tl_parts_solve){
        .p = p, .t = t, .plan = t->plan, .n = p->space->n, .m = p->size, .x = x, .arena = a, .work = work};
    double **vectors[] = {&k->g, &k->wide, &k->reach, &k->stiff, &k->unit};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = TL_TAKE(a, double, k->n))) return no_memory(err);
    k->dx = TL_TAKE_ZERO(a, double, k->n);
    k->y = TL_TAKE(a, double, t->rows);
    if (!k->dx || !k->y) return no_memory(err);
    if (p->radius) find_reach(k);
    return TALUS_OK;
}

void tl_parts_gradient(const tl_parts_solve *k)
{
    tl_linop_apply(&k->p->A, k->p->space, k->x, k->g, NULL);
    for (int64_t i = 0; i < k->n; i++) k->g[i] -= k->p->b[i];
}

void tl_parts_apply(tl_parts_solve *k, double share)
{
    for (int64_t i = 0; i < k->n; i++) k->x[i] += share * k->dx[i];
    memset(k->dx, 0, sizeof *k->dx * (size_t)k->n);
}

double tl_parts_rows(const tl_parts_solve *k, double *rows)
{
    const tl_part *p = k->part;
    double max = 0;
    memset(k->y, 0, sizeof *k->y * (size_t)k->t->rows);
    for (int64_t j = 0; j < p->count; j++)
        for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) k->y[p->row[e]] += fabs(p->val[e]) * k->unit[j];
    k->t->weigh_absolute(k->t->ctx, k->y);
    for (int64_t j = 0; j < p->count; j++) {
        double row = k->stiff[j] * k->unit[j];
        for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) row += fabs(p->val[e]) * k->y[p->row[e]];
        rows[j] = row * k->unit[j];
        max = fmax(max, rows[j]);
    }
    return max;
}
