/* The cycle in precision REAL: included once per precision, by a file that defines REAL and KIND. */
#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "solve/pressure/blocks.h"
#include "solve/pressure/cycle.h"

#define SWEEPS 2          /* before and after the coarse correction; one needs half as many iterations more */
#define COARSEST_SWEEPS 8 /* each way */
#define ONCE_FROM 2       /* level from which a visit in parts goes down once; from 0 or 1 it would cost iterations */
#define FACE_SHARE 0.5    /* area over distance doubles where 4 faces become one; 0.5 to 0.6 are equally good */

/* State of a coarse cell: to be made again; without coupling to anything; with more couplings that its matrix left out,
 * to cells that are no neighbours, than it has. */
enum { STALE = 1, INERT = 2, LOOSE = 4 };

struct tl_cycle {
    const tl_levels *levels;
    int base;
    bool loose[TL_LEVELS_MAX]; /* with such cells */
    int whole;                 /* levels up to this one hold their coefficients for all cells free */
    bool rebuild;
    tl_pressure_free mask; /* of the fine cells, when the hierarchy is kept */
    tl_coarse coarse[TL_LEVELS_MAX];
    REAL *x[TL_LEVELS_MAX];    /* [length], x[none] = 0 stands for missing neighbours and parents */
    REAL *r[TL_LEVELS_MAX];    /* [n] */
    REAL *invd[TL_LEVELS_MAX]; /* [length] 1/d, 0 where nothing is free */
    REAL *t;                   /* [most red] residuals on their way up; or copies of invd as they were */
    double back;               /* z = back x */
};

static void *take(tl_arena *a, size_t bytes, bool *good)
{
    void *block = tl_arena_take(a, bytes);
    *good = *good && block;
    return block;
}

static tl_cycle *cycle_take(const tl_levels *l, tl_arena *a)
{
    bool good = true;
    tl_cycle *c = tl_arena_take_zero(a, sizeof *c);
    if (!c) return NULL;
    c->levels = l;
    size_t longest = 0;
    for (int k = 0; k < l->count; k++) {
        size_t n = (size_t)l->level[k].n, length = (size_t)tl_level_length(&l->level[k]);
        size_t copies = (size_t)tl_pressure_copies(l->level[k].space), red = (size_t)l->level[k].red;
        longest = longest > red ? longest : red;
        longest = longest > copies ? longest : copies;
        c->x[k] = take(a, sizeof(REAL) * length, &good);
        c->r[k] = take(a, sizeof(REAL) * n, &good);
        c->invd[k] = take(a, sizeof(REAL) * (copies ? length : n), &good);
        if (k == 0) continue;
        tl_coarse *v = &c->coarse[k];
        for (int s = 0; s < TL_PRESSURE_SIDES; s++) v->c[s] = v->made_c[s] = take(a, sizeof(float) * n, &good);
        v->dir = v->made_dir = take(a, sizeof(float) * n, &good);
        v->ar = v->made_ar = take(a, sizeof(float) * n, &good);
        v->own = v->made_own = take(a, sizeof(float) * n, &good);
        v->d = v->made_d = take(a, sizeof(double) * n, &good);
        v->state = take(a, n, &good);
    }
    c->t = take(a, sizeof(REAL) * longest, &good);
    return good ? c : NULL;
}

static void cycle_attach(tl_cycle *c, const tl_pressure *p)
{
    tl_coarse *v = &c->coarse[0];
    for (int s = 0; s < TL_PRESSURE_SIDES; s++) v->c[s] = p->c[s];
    v->dir = p->dir;
    v->ar = p->ar;
    v->own = p->own;
    v->d = p->d;
    c->whole = 0;
}

static const tl_coarse *cycle_coarse(const tl_cycle *c, int level) { return &c->coarse[level]; }

/* ---- coefficients ---- */

typedef struct row {
    double face[TL_PRESSURE_SIDES], dir, ar, own, lost;
} row;

/* Child i's share of coarse cell I. */
static void add_child(const tl_cycle *c, int fine, int32_t i, int32_t I, row *to)
{
    const tl_level *f = &c->levels->level[fine], *up = f + 1;
    const tl_coarse *v = &c->coarse[fine];
    const REAL *invd = c->invd[fine];
    double own = v->own ? v->own[i] : 0, D = fmax(0, v->dir[i] - own), A = v->ar[i], h = (double)(1 << fine);
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        int32_t j = f->nb[k][i];
        double w = v->c[k][i];
        if (j == f->none || w == 0) continue;
        if (invd[j] == 0) {
            D += w; /* at its bound: p = 0, one cell away */
            A += w * h;
        } else if (f->parent[j] == up->nb[k][I] && up->nb[k][I] != up->none) {
            to->face[k] += FACE_SHARE * w;
        } else if (f->parent[j] != I) {
            to->lost += w;
        }
    }
    if (D > 0) to->dir += A > 0 ? 1 / (1 / D + h / (2 * A)) : D;
    to->ar += A;
    to->own += own;
}

static void mark_parent(const tl_cycle *c, int level, int32_t i)
{
    const tl_level *l = &c->levels->level[level];
    if (!l->parent || l->parent[i] == l[1].none) return;
    uint8_t *up = &c->coarse[level + 1].state[l->parent[i]];
#pragma omp atomic write
    *up = STALE;
}

/* The rest of a cell, from its couplings. */
static void end_cell(const tl_cycle *c, int level, int32_t I, double lost)
{
    const tl_coarse *v = &c->coarse[level];
    double d = v->dir[I];
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) d += v->c[k][I];
    v->made_d[I] = d > 0 ? d : 1; /* nothing to hold on to: a closed cavity in one cell, or nothing free */
    c->invd[level][I] = d > 0 ? (REAL)(1 / d) : 0;
    v->state[I] = !(d > 0) ? INERT : lost > d ? LOOSE : 0;
    mark_parent(c, level, I);
}

static void make_cells(const tl_cycle *c, int level, int32_t from, int32_t to)
{
    const tl_level *l = &c->levels->level[level];
    const tl_coarse *v = &c->coarse[level];
    for (int32_t m = from; m < to; m++) {
        const int32_t I = tl_level_cell(l, m);
        if (!(v->state[I] & STALE)) continue;
        row sum = {.dir = 0};
        for (int32_t s = l->start[m]; s < l->start[m + 1]; s++)
            if (c->invd[level - 1][l->child[s]] > 0) add_child(c, level - 1, l->child[s], I, &sum);
        v->made_own[I] = (float)sum.own;
        v->made_dir[I] = (float)sum.dir + v->made_own[I];
        v->made_ar[I] = (float)sum.ar;
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) v->made_c[k][I] = (float)sum.face[k];
        end_cell(c, level, I, sum.lost);
    }
}

/* A cell as it goes from part to part. */
typedef struct coefficients {
    float c[TL_PRESSURE_SIDES], dir, ar, own, loose;
} coefficients;

static coefficients read_cell(const tl_coarse *v, int32_t I)
{
    coefficients out = {.dir = v->dir[I], .ar = v->ar[I], .own = v->own[I], .loose = v->state[I] & LOOSE ? 1 : 0};
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) out.c[k] = v->c[k][I];
    return out;
}

/* Cells that other parts made. */
static void gather_cells(const tl_cycle *c, int level)
{
    const tl_level *l = &c->levels->level[level];
    const tl_gathered *g = l->gathered;
    const tl_coarse *v = &c->coarse[level];
    coefficients *mine = g->mine;
    const coefficients *all = g->all;
    for (int32_t m = 0; m < l->own; m++) mine[m] = read_cell(v, l->at[m]);
    tl_gathered_bring(g, sizeof *mine);
    for (int64_t r = 0; r < g->total; r++) {
        const int32_t I = g->place[r];
        const coefficients now = read_cell(v, I);
        if (!(v->state[I] & STALE) && !memcmp(&now, &all[r], sizeof now)) continue;
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) v->made_c[k][I] = all[r].c[k];
        v->made_dir[I] = all[r].dir;
        v->made_ar[I] = all[r].ar;
        v->made_own[I] = all[r].own;
        end_cell(c, level, I, all[r].loose > 0 ? INFINITY : 0);
    }
}

static void get_free(const tl_cycle *c, int level)
{
    const tl_level *l = &c->levels->level[level];
    tl_pressure_get_both(l->space, sizeof(REAL), c->invd[level], l->none);
}

static bool any_loose(const tl_cycle *c, int level, int32_t from, int32_t to)
{
    bool any = false;
    for (int32_t I = from; I < to; I++) any |= (c->coarse[level].state[I] & LOOSE) > 0;
    return any;
}

/* Levels with loose cells, on any part. */
static void find_loose(tl_cycle *c)
{
    double found[TL_LEVELS_MAX] = {0};
    for (int level = c->base + 1; level < c->levels->count; level++) {
        bool any[TL_BLOCKS_MAX] = {false};
        TL_FOR_BLOCKS(0, c->levels->level[level].n, any[block] = any_loose(c, level, from, to));
        for (int b = 0; b < TL_BLOCKS_MAX; b++) found[level] = any[b] ? 1 : found[level];
    }
    const tl_comm *comm = tl_pressure_comm(c->levels->level[c->base].space);
    if (!tl_comm_alone(comm)) tl_comm_reduce(comm, TL_REDUCE_MAX, TL_LEVELS_MAX, found);
    for (int level = 0; level < TL_LEVELS_MAX; level++) c->loose[level] = found[level] > 0;
}

static void make_levels(tl_cycle *c)
{
    for (int level = c->base + 1; level < c->levels->count; level++) {
        const tl_level *l = &c->levels->level[level];
        TL_FOR_BLOCKS(0, l->own, make_cells(c, level, from, to));
        if (l->gathered) gather_cells(c, level);
        get_free(c, level);
    }
    find_loose(c);
}

static void mark(const tl_cycle *c, int32_t i)
{
    const tl_level *l = &c->levels->level[c->base];
    for (int k = -1; k < TL_PRESSURE_SIDES; k++) {
        int32_t j = k < 0 ? i : l->nb[k][i];
        if (j < l->n) mark_parent(c, c->base, j);
    }
}

/* Cells beside copies that joined or left the free set; `before` [copies] of invd, NULL: that are not in it. */
static void mark_borders(const tl_cycle *c, const REAL *before)
{
    const tl_level *l = &c->levels->level[c->base];
    const REAL *now = c->invd[c->base] + l->none + 1;
    for (int32_t m = 0; m < l->borders; m++) {
        const int32_t i = l->border[m];
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
            const int32_t h = l->nb[k][i] - l->none - 1;
            if (h >= 0 && (now[h] > 0) != (before ? before[h] > 0 : true)) mark_parent(c, c->base, i);
        }
    }
}

static bool free_cells(const tl_cycle *c, const tl_pressure_free *f, int32_t from, int32_t to)
{
    REAL *invd = c->invd[c->base];
    const double *d = c->coarse[c->base].d;
    bool changed = false;
    for (int32_t i = from; i < to; i++) {
        bool is = tl_pressure_is_free(f, i);
        if (is == (invd[i] > 0)) continue;
        invd[i] = is ? (REAL)(1 / d[i]) : 0;
        mark(c, i);
        changed = true;
    }
    return changed;
}

static bool cycle_fit(void *ctx, const tl_pressure_free *f)
{
    tl_cycle *c = ctx;
    if (!c->rebuild) {
        c->mask = *f;
        return false;
    }
    bool any[TL_BLOCKS_MAX] = {false}, changed = false;
    int32_t n = c->levels->level[c->base].n;
    const tl_level *l = &c->levels->level[c->base];
    TL_FOR_BLOCKS(0, n, any[block] = free_cells(c, f, from, to));
    for (int b = 0; b < TL_BLOCKS_MAX; b++) changed = changed || any[b];
    if (l->space) {
        const size_t bytes = sizeof(REAL) * (size_t)tl_pressure_copies(l->space);
        changed = tl_comm_max(l->space->comm, changed) > 0;
        if (!changed) return false;
        memcpy(c->t, c->invd[c->base] + l->none + 1, bytes);
        get_free(c, c->base);
        mark_borders(c, c->t);
    }
    if (changed) make_levels(c);
    return changed;
}

static void all_free(const tl_cycle *c, int level, int32_t from, int32_t to)
{
    const double *restrict d = c->coarse[level].d;
    const uint8_t *restrict state = level > c->base ? c->coarse[level].state : NULL;
    REAL *restrict invd = c->invd[level];
    for (int32_t i = from; i < to; i++) invd[i] = state && state[i] & INERT ? 0 : (REAL)(1 / d[i]);
}

static void cycle_reset(tl_cycle *c, int base, const tl_pressure_free *f, bool rebuild)
{
    const tl_levels *l = c->levels;
    bool start_whole = c->whole > base;
    int first_stale = base + 1 + start_whole;
    c->base = base;
    c->rebuild = true;
    for (int k = 0; k < l->count; k++) c->x[k][l->level[k].none] = 0;

    /* all free, as the coefficients of level base + 1 may already be */
    for (int k = base; k < first_stale && k < l->count; k++) TL_FOR_BLOCKS(0, l->level[k].n, all_free(c, k, from, to));
    /* cells that other parts make have no child here that marks them: memory of a step before may hold what they get */
    for (int k = first_stale; k < l->count; k++) memset(c->coarse[k].state, STALE, (size_t)l->level[k].n);
    if (f) TL_FOR_BLOCKS(0, l->level[base].n, free_cells(c, f, from, to));
    get_free(c, base);
    if (f) mark_borders(c, NULL);
    make_levels(c);
    c->whole = f ? base : l->count;
    c->rebuild = rebuild;
}

/* ---- the cycle ---- */

#define ROW_NAMES                                                                                                      \
    const int32_t *restrict j0 = l->nb[0], *restrict j1 = l->nb[1], *restrict j2 = l->nb[2], *restrict j3 = l->nb[3],  \
                            *restrict j4 = l->nb[4], *restrict j5 = l->nb[5];                                          \
    const float *restrict c0 = v->c[0], *restrict c1 = v->c[1], *restrict c2 = v->c[2], *restrict c3 = v->c[3],        \
                          *restrict c4 = v->c[4], *restrict c5 = v->c[5]
#define ROW_SUM(i)                                                                                                     \
    ((c0[i] * x[j0[i]] + c1[i] * x[j1[i]]) + (c2[i] * x[j2[i]] + c3[i] * x[j3[i]]) +                                   \
     (c4[i] * x[j4[i]] + c5[i] * x[j5[i]]))

static void smooth_rows(const tl_level *l, const tl_coarse *v, const REAL *r, const REAL *invd, REAL *x, int32_t from,
                        int32_t to)
{
    ROW_NAMES;
#pragma omp simd
    for (int32_t i = from; i < to; i++) x[i] = invd[i] * (r[i] + ROW_SUM(i));
}

static void scale_rows(const REAL *restrict r, const REAL *restrict invd, REAL *restrict x, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++) x[i] = invd[i] * r[i];
}

static void residual_rows(const tl_level *l, const tl_coarse *v, const REAL *r, const REAL *invd, const REAL *x,
                          REAL *t, int32_t from, int32_t to)
{
    ROW_NAMES;
    const double *restrict d = v->d;
#pragma omp simd
    for (int32_t i = from; i < to; i++) {
        REAL s = r[i] + ROW_SUM(i) - (REAL)d[i] * x[i];
        t[i] = invd[i] > 0 ? s : 0;
    }
}

/* Residuals of red children; those of black ones are 0 after a black half sweep. */
static void sum_children(const tl_level *l, int32_t fine_red, const REAL *restrict t, REAL *restrict r, int32_t from,
                         int32_t to)
{
    for (int32_t m = from; m < to; m++) {
        REAL sum = 0;
        for (int32_t s = l->start[m]; s < l->start[m + 1] && l->child[s] < fine_red; s++) sum += t[l->child[s]];
        r[tl_level_cell(l, m)] = sum;
    }
}

/* Right-hand sides that other parts made. */
static void gather_sums(const tl_level *l, REAL *r)
{
    const tl_gathered *g = l->gathered;
    REAL *mine = g->mine;
    const REAL *all = g->all;
    for (int32_t m = 0; m < l->own; m++) mine[m] = r[l->at[m]];
    tl_gathered_bring(g, sizeof *r);
    for (int64_t m = 0; m < g->total; m++) r[g->place[m]] = all[m];
}

/* Red cells only: the black half sweep that follows does not read black ones. */
static void add_parent(const int32_t *restrict parent, const REAL *restrict up, const REAL *restrict invd,
                       REAL *restrict x, int32_t from, int32_t to)
{
#pragma omp simd
    for (int32_t i = from; i < to; i++) x[i] += invd[i] > 0 ? up[parent[i]] : 0;
}

static void half_sweep(const tl_cycle *c, int k, bool black)
{
    const tl_level *l = &c->levels->level[k];
    TL_FOR_BLOCKS(black ? l->red : 0, black ? l->n : l->red,
                  smooth_rows(l, &c->coarse[k], c->r[k], c->invd[k], c->x[k], from, to));
}

static void get_colour(const tl_cycle *c, int k, bool black)
{
    const tl_level *l = &c->levels->level[k];
    tl_pressure_get(l->space, black ? TL_BLACK : TL_RED, sizeof(REAL), c->x[k], l->none);
}

/* Two visits of the next level from here. With many parts a visit of a level that is in parts waits for 8 messages:
 * between the two finest levels and those that are whole one visit is enough. */
static bool goes_twice(const tl_cycle *c, int k)
{
    const tl_levels *l = c->levels;
    const bool between = k >= ONCE_FROM && k < l->whole - 1;
    return k + 2 < l->count && !between && !c->loose[k + 2];
}

static void go_down(const tl_cycle *c, int k)
{
    const tl_level *l = &c->levels->level[k];
    TL_FOR_BLOCKS(0, l->red, residual_rows(l, &c->coarse[k], c->r[k], c->invd[k], c->x[k], c->t, from, to));
    TL_FOR_BLOCKS(0, l[1].own, sum_children(l + 1, l->red, c->t, c->r[k + 1], from, to));
    if (l[1].gathered) gather_sums(l + 1, c->r[k + 1]);
}

/* A r = x on level k, about; `again`: improve the x that is there. scaled: the first red half sweep is done. The red
 * copies are old in the end: nobody reads them. */
static void visit(const tl_cycle *c, int k, bool again, bool scaled)
{
    const tl_level *l = &c->levels->level[k];
    bool coarsest = k + 1 == c->levels->count;
    int sweeps = coarsest ? COARSEST_SWEEPS : SWEEPS;
    for (int s = 0; s < sweeps; s++) {
        if (s > 0 || again)
            half_sweep(c, k, false);
        else if (!scaled)
            TL_FOR_BLOCKS(0, l->red, scale_rows(c->r[k], c->invd[k], c->x[k], from, to));
        get_colour(c, k, false);
        half_sweep(c, k, true);
        get_colour(c, k, true);
    }
    if (!coarsest) {
        go_down(c, k);
        visit(c, k + 1, false, false);
        if (goes_twice(c, k)) visit(c, k + 1, true, false);
        TL_FOR_BLOCKS(0, l->red, add_parent(l->parent, c->x[k + 1], c->invd[k], c->x[k], from, to));
        get_colour(c, k, false);
    }
    for (int s = 0; s < sweeps; s++) {
        half_sweep(c, k, true);
        get_colour(c, k, true);
        half_sweep(c, k, false);
        if (s + 1 < sweeps) get_colour(c, k, false);
    }
}

/* r = g as REAL, scaled; x = invd r on red cells. */
static void load(const tl_cycle *c, const double *g, double factor, int32_t from, int32_t to)
{
    int32_t red = c->levels->level[c->base].red;
    REAL *restrict r = c->r[c->base], *restrict x = c->x[c->base];
    const REAL *restrict invd = c->invd[c->base];
    if (!c->rebuild)
        for (int32_t i = from; i < to; i++) r[i] = tl_pressure_is_free(&c->mask, i) ? (REAL)(g[i] * factor) : 0;
    else
        for (int32_t i = from; i < to; i++) r[i] = (REAL)(g[i] * factor);
    for (int32_t i = from; i < to && i < red; i++) x[i] = invd[i] * r[i];
}

static double dot_rows(const tl_cycle *c, const double *restrict g, int32_t from, int32_t to)
{
    REAL *restrict x = c->x[c->base];
    if (!c->rebuild)
        for (int32_t i = from; i < to; i++)
            if (!tl_pressure_is_free(&c->mask, i)) x[i] = 0;
    double lane[TL_LANES] = {0}, tail = 0;
    int32_t i = from;
    for (; i + TL_LANES <= to; i += TL_LANES)
        for (int k = 0; k < TL_LANES; k++) lane[k] += x[i + k] * g[i + k];
    for (; i < to; i++) tail += x[i] * g[i];
    return tl_lanes_total(lane) + tail;
}

static double cycle_apply(void *ctx, const double *g, double size)
{
    tl_cycle *c = ctx;
    int32_t n = c->levels->level[c->base].n;
    int exponent = 0;
    if (size > 0 && isfinite(size)) frexp(size, &exponent);
    double factor = ldexp(1, -exponent), part[TL_BLOCKS_MAX];
    c->back = ldexp(1, exponent);
    TL_FOR_BLOCKS(0, n, load(c, g, factor, from, to));
    visit(c, c->base, false, true);
    TL_FOR_BLOCKS(0, n, part[block] = dot_rows(c, g, from, to));
    const double sum = tl_sum_ordered(tl_blocks_of(n).count, part);
    return c->back * tl_comm_sum(tl_pressure_comm(c->levels->level[c->base].space), sum);
}

static void combine(const REAL *restrict z, double back, double beta, double *restrict p, int32_t from, int32_t to)
{
    if (beta == 0)
        for (int32_t i = from; i < to; i++) p[i] = back * z[i];
    else
        for (int32_t i = from; i < to; i++) p[i] = back * z[i] + beta * p[i];
}

static void cycle_direction(void *ctx, double beta, double *p)
{
    const tl_cycle *c = ctx;
    TL_FOR_BLOCKS(0, c->levels->level[c->base].n, combine(c->x[c->base], c->back, beta, p, from, to));
}

static tl_pressure_precond cycle_precond(tl_cycle *c)
{
    return (tl_pressure_precond){.ctx = c, .fit = cycle_fit, .apply = cycle_apply, .direction = cycle_direction};
}

const tl_cycle_kind KIND = {cycle_take, cycle_attach, cycle_reset, cycle_coarse, cycle_precond};
