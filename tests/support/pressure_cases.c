#include "pressure_cases.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/random.h"
#include "lattice.h"
#include "pressure_part.h"
#include "solve/pressure/cycle.h"
#include "solve/pressure/method.h"

#define TOLERANCE 1e-8

int tl_pressure_parts_cells = 64;

static _Thread_local char why[200];

#define WRONG(...) (snprintf(why, sizeof why, __VA_ARGS__), why)

/* ---- problems, and what one part makes of them: once per process ---- */

typedef struct known {
    tl_pressure_scene scene;
    int cells;
    bool bodies, there;
    tl_pressure_case c;
    double *x;
    tl_pressure_report r;
} known;

#define KNOWN_MAX 16
static known kept[KNOWN_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static tl_pressure_options cold(void)
{
    tl_pressure_options o = tl_pressure_options_default();
    o.mic_below = 0;
    o.retry = false;
    return o;
}

static void solve_alone(const char *method, const tl_pressure *p, const tl_pressure_options *o, double *x,
                        tl_pressure_report *r)
{
    tl_arena a = {0};
    talus_error err;
    if (tl_pressure_solve(tl_pressure_method_find(method), p, o, &(tl_stop){TOLERANCE, 500, 0}, x, &a, r, &err))
        abort();
    tl_arena_free(&a);
}

static const known *find(tl_pressure_scene scene, int cells, bool bodies)
{
    pthread_mutex_lock(&lock);
    known *k = kept;
    while (k->there && (k->scene != scene || k->cells != cells || k->bodies != bodies)) k++;
    if (!k->there) {
        const tl_pressure_options o = cold();
        talus_error err;
        *k = (known){.scene = scene, .cells = cells, .bodies = bodies, .there = true};
        if (tl_gen_pressure(&k->c, scene, cells, 0, bodies ? 1 : 0, &err)) abort();
        k->x = TL_NEW_ZERO(double, k->c.p.n + 1);
        solve_alone("multigrid", &k->c.p, &o, k->x, &k->r);
    }
    pthread_mutex_unlock(&lock);
    return k;
}

void tl_pressure_parts_free(void)
{
    for (int k = 0; k < KNOWN_MAX && kept[k].there; k++) {
        tl_pressure_case_free(&kept[k].c);
        tl_free(kept[k].x);
        kept[k].there = false;
    }
}

/* ---- solves in parts ---- */

typedef struct solved {
    tl_pressure_part q;
    double *x; /* [n + extras] */
    tl_pressure_report r;
    tl_comm_traffic before, after;
} solved;

static void solved_free(solved *s)
{
    tl_pressure_part_free(&s->q);
    tl_free(s->x);
}

static const char *solve(solved *s, const char *method, const tl_pressure_case *whole, tl_pressure_cut cut,
                         const tl_pressure_options *o, const double *start, const tl_comm *c)
{
    tl_arena a = {0};
    talus_error err = {TALUS_OK, ""};
    const char *wrong = tl_pressure_part_make(&s->q, whole, cut, c);
    if (wrong) return wrong;
    if (tl_pressure_check(&s->q.p, &err)) return WRONG("%s", err.message);
    s->x = TL_NEW_ZERO(double, s->q.p.n + s->q.p.extras + 1);
    if (start) tl_pressure_part_scatter(&s->q, start, s->x);
    s->before = c->traffic ? *c->traffic : (tl_comm_traffic){0};
    talus_status status = tl_pressure_solve(tl_pressure_method_find(method), &s->q.p, o, &(tl_stop){TOLERANCE, 500, 0},
                                            s->x, &a, &s->r, &err);
    s->after = c->traffic ? *c->traffic : (tl_comm_traffic){0};
    tl_arena_free(&a);
    return status ? WRONG("%s", err.message) : NULL;
}

/* x is y but for their accuracy, and as many cells are at their bound but for those next to it. */
static const char *compare(const tl_pressure *p, const double *x, const double *y)
{
    double max = 0;
    for (int32_t i = 0; i < p->n; i++) max = fmax(max, fabs(y[i]));
    for (int32_t i = 0; i < p->n; i++) {
        if (!(fabs(x[i] - y[i]) <= 1e-7 * max)) return WRONG("cell %d: p %.9g, with one part %.9g", i, x[i], y[i]);
        if ((x[i] > 0) != (y[i] > 0) && fmax(x[i], y[i]) > 1e-7 * max) return WRONG("cell %d is bound otherwise", i);
    }
    return NULL;
}

static const char *compare_counts(const tl_pressure_report *r, const tl_pressure_report *one, int more)
{
    if (r->outcome.result != TL_CONVERGED) return WRONG("a solve is %s", tl_result_name(r->outcome.result));
    if (abs(r->outcome.iterations - one->outcome.iterations) > more || abs(r->releases - one->releases) > more ||
        abs(r->expansions - one->expansions) > more)
        return WRONG("iterations, releases, expansions %d %d %d, with one part %d %d %d", r->outcome.iterations,
                     r->releases, r->expansions, one->outcome.iterations, one->releases, one->expansions);
    return NULL;
}

/* Solve in parts as `one` was solved alone, and compare. */
static const char *as_alone(const known *k, tl_pressure_cut cut, const tl_pressure_options *o, const tl_comm *c)
{
    solved s = {0};
    const int mark = tl_comm_mark(c);
    const char *wrong = solve(&s, "multigrid", &k->c, cut, o, NULL, c);
    double *all = TL_NEW(double, k->c.p.n + 1);
    if (!wrong) {
        tl_pressure_part_gather(&s.q, s.x, all);
        wrong = compare(&k->c.p, all, k->x);
    }
    if (!wrong) wrong = compare_counts(&s.r, &k->r, 1);
    if (!wrong && c->part == 0 && getenv("TALUS_PARTS_TELL"))
        printf("# %s %d, cubes of 2^%d, whole %d, parts %d: %d %d %d (%d %d %d), gets %lld, reduces %lld, gathers "
               "%lld, %.2f MB\n",
               tl_pressure_scene_name(k->scene), k->cells, cut.together, o->whole, c->parts, s.r.outcome.iterations,
               s.r.releases, s.r.expansions, k->r.outcome.iterations, k->r.releases, k->r.expansions,
               (long long)(s.after.gets - s.before.gets), (long long)(s.after.reduces - s.before.reduces),
               (long long)(s.after.gathers - s.before.gathers), 1e-6 * (double)(s.after.bytes - s.before.bytes));
    solved_free(&s);
    tl_free(all);
    tl_comm_release(c, mark);
    return wrong;
}

/* C3 */
static const char *counts(const tl_comm *c)
{
    static const tl_pressure_scene scenes[] = {TL_SCENE_SPHERE, TL_SCENE_DAM, TL_SCENE_TANK, TL_SCENE_PLATES};
    const char *wrong = NULL;
    for (int s = 0; s < 4 && !wrong; s++)
        for (int together = 3; together < 6 && !wrong; together++) {
            tl_pressure_options o = cold();
            o.whole = together;
            wrong = as_alone(find(scenes[s], tl_pressure_parts_cells, false), (tl_pressure_cut){.together = together},
                             &o, c);
        }
    return wrong;
}

/* Owners at random: every cube has borders on all sides, parts touch all others, some may own little or nothing. */
static const char *scattered(const tl_comm *c)
{
    const char *wrong = NULL;
    for (int s = 0; s < TL_SCENES && !wrong; s++) {
        if (s == TL_SCENE_CAVITY) continue; /* its answer is known up to a constant */
        const tl_pressure_options o = cold();
        wrong = as_alone(find((tl_pressure_scene)s, 32, false), (tl_pressure_cut){.together = 3, .seed = 5, .gap = s},
                         &o, c);
    }
    if (wrong) return wrong;
    tl_pressure_options o = cold(); /* few cells: level 1 or 0 is the last */
    for (int cells = 8; cells <= 16 && !wrong; cells += 4)
        wrong = as_alone(find(TL_SCENE_DAM, cells, false), (tl_pressure_cut){.together = 3, .seed = 5}, &o, c);
    return wrong;
}

/* ---- coefficients ---- */

typedef struct hierarchy {
    tl_arena arena;
    tl_levels levels;
    tl_cycle *cycle;
} hierarchy;

static bool build(hierarchy *h, const tl_pressure *p, int whole)
{
    talus_error err;
    double *scratch = TL_TAKE(&h->arena, double, 3 * (int64_t)p->n + 1);
    if (tl_levels_build(&h->levels, p, (tl_levels_how){true, whole}, scratch, &h->arena, &err)) return false;
    h->cycle = tl_cycle_float.take(&h->levels, &h->arena);
    tl_cycle_float.attach(h->cycle, p);
    return true;
}

/* of [cells of each level of h]: their numbers in the hierarchy of one part, through children; -1: not of this part. */
static void match(const hierarchy *h, const hierarchy *one, const tl_pressure_part *q, int32_t *of[TL_LEVELS_MAX])
{
    for (int k = 0; k < h->levels.count; k++) {
        const tl_level *l = &h->levels.level[k];
        of[k] = TL_NEW(int32_t, l->n + 1);
        for (int32_t I = 0; I < l->n; I++) of[k][I] = k == 0 ? q->global[I] : l->space || l->gathered ? -1 : I;
        if (k == 0 || (!l->space && !l->gathered)) continue;
        for (int32_t i = 0; i < l[-1].n; i++)
            if (l[-1].parent[i] != l->none) of[k][l[-1].parent[i]] = one->levels.level[k - 1].parent[of[k - 1][i]];
        for (int32_t I = 0; I < l->n && l->gathered; I++) of[k][I] = I;
    }
}

static const char *compare_level(const hierarchy *h, const hierarchy *one, const int32_t *of, int k)
{
    const tl_coarse *v = tl_cycle_float.coarse(h->cycle, k), *w = tl_cycle_float.coarse(one->cycle, k);
    const tl_level *l = &h->levels.level[k], *m = &one->levels.level[k];
    if (l->total != m->n) return WRONG("level %d has %lld cells in place of %d", k, (long long)l->total, m->n);
    for (int32_t I = 0; I < l->n; I++) {
        const int32_t J = of[I];
        bool same = v->d[I] == w->d[J] && v->dir[I] == w->dir[J] && v->ar[I] == w->ar[J];
        for (int side = 0; side < TL_PRESSURE_SIDES; side++) {
            same &= v->c[side][I] == w->c[side][J];
            same &= (l->nb[side][I] == l->none) == (m->nb[side][J] == m->none);
            if (l->nb[side][I] < l->n) same &= of[l->nb[side][I]] == m->nb[side][J];
        }
        same &= !memcmp(l->ijk[I], m->ijk[J], sizeof *l->ijk);
        if (!same)
            return WRONG("level %d, cell (%d, %d, %d) is another one", k, m->ijk[J][0], m->ijk[J][1], m->ijk[J][2]);
    }
    return NULL;
}

/* Free sets that come and go: x of the whole problem and its share. */
static void draw(const tl_pressure_part *q, uint64_t round, double share, double *all, double *x)
{
    for (int32_t i = 0; i < q->of->p.n; i++) all[i] = tl_random(5, (uint64_t)i, round) < share ? 1 : 0;
    tl_pressure_part_scatter(q, all, x);
}

/* Trap of borders: cells of other parts that join or leave the free set change coarse cells on this side too. Bit for
 * bit those of one part, at every level, after changes that are followed and after new starts. */
static const char *follow(const tl_pressure_case *whole, tl_pressure_cut cut, const tl_comm *c)
{
    tl_pressure_part q = {0};
    const char *wrong = tl_pressure_part_make(&q, whole, cut, c);
    if (wrong) return wrong;
    hierarchy h = {0}, one = {0};
    if (!build(&h, &q.p, 3) || !build(&one, &whole->p, 0)) return "no levels";
    if (h.levels.count != one.levels.count) return WRONG("%d levels in place of %d", h.levels.count, one.levels.count);
    int32_t *of[TL_LEVELS_MAX];
    match(&h, &one, &q, of);
    double *all = TL_NEW(double, whole->p.n + 1), *x = TL_NEW(double, q.p.n + 1);
    const tl_pressure_free f = {x, x, 0, -INFINITY}, g = {all, all, 0, -INFINITY};
    tl_pressure_precond P = tl_cycle_float.precond(h.cycle), R = tl_cycle_float.precond(one.cycle);
    tl_cycle_float.reset(h.cycle, 0, NULL, true);
    tl_cycle_float.reset(one.cycle, 0, NULL, true);
    for (uint64_t round = 0; round < 8 && !wrong; round++) {
        draw(&q, round / 2, 0.5 + 0.06 * (double)round, all, x); /* large changes, then small ones */
        if (round == 4) tl_cycle_float.reset(h.cycle, 0, NULL, true), tl_cycle_float.reset(one.cycle, 0, NULL, true);
        if (round == 4) tl_cycle_float.reset(h.cycle, 0, &f, true), tl_cycle_float.reset(one.cycle, 0, &g, true);
        if (P.fit(P.ctx, &f) != R.fit(R.ctx, &g)) wrong = "a free set that changed, or not, on some parts alone";
        if (P.fit(P.ctx, &f)) wrong = "the same free set is not the same";
        for (int k = 1; k < h.levels.count && !wrong; k++) wrong = compare_level(&h, &one, of[k], k);
    }
    for (int k = 0; k < h.levels.count; k++) tl_free(of[k]);
    tl_free(all);
    tl_free(x);
    tl_arena_free(&h.arena);
    tl_arena_free(&one.arena);
    tl_pressure_part_free(&q);
    return wrong;
}

static bool thin_walls(const int32_t a[3], const int32_t b[3])
{
    const int32_t low = a[0] < b[0] ? a[0] : b[0];
    return a[0] == b[0] || (low != 5 && low != 7 && low != 15) || a[1] >= 12;
}

static const char *coefficients(const tl_comm *c)
{
    const int mark = tl_comm_mark(c);
    const char *wrong = follow(&find(TL_SCENE_DAM, 32, false)->c, (tl_pressure_cut){.together = 3, .seed = 3}, c);
    if (!wrong) wrong = follow(&find(TL_SCENE_PLATES, 40, false)->c, (tl_pressure_cut){.together = 3}, c);
    /* walls without thickness on borders of cubes and within, around a periodic axis: cells of one place in two pieces */
    static const int32_t period[3] = {24, 0, 24};
    tl_pressure_case walls;
    tl_lattice_make(&walls, &(tl_lattice){.size = {24, 16, 24}, .period = period, .surface = true, .open = thin_walls});
    if (!wrong) wrong = follow(&walls, (tl_pressure_cut){.together = 3, .seed = 9}, c);
    tl_pressure_case_free(&walls);
    tl_comm_release(c, mark);
    return wrong;
}

/* ---- C4 ---- */

static const char *same_bits(const tl_comm *c)
{
    const known *k = find(TL_SCENE_DAM, 48, false);
    const tl_pressure_options o = cold();
    const char *wrong = NULL;
    uint64_t first = 0;
    for (int run = 0; run < 3 && !wrong; run++) {
        solved s = {0};
        const int mark = tl_comm_mark(c);
        tl_threads_set(run == 1 ? 2 : 1);
        wrong = solve(&s, "multigrid", &k->c, (tl_pressure_cut){.together = 3}, &o, NULL, c);
        uint64_t h = wrong ? 0 : tl_hash(TL_HASH_START, s.x, sizeof *s.x * (size_t)s.q.p.n);
        if (!wrong) h = tl_hash(h, &s.r.certificate, sizeof s.r.certificate);
        if (!wrong && run && h != first) wrong = WRONG("other bits in run %d", run);
        first = run ? first : h;
        solved_free(&s);
        tl_comm_release(c, mark);
    }
    tl_threads_set(1);
    return wrong;
}

/* ---- C6 ---- */

static const char *certificates(const tl_comm *c)
{
    const known *k = find(TL_SCENE_TANK, 32, true);
    tl_pressure_part q = {0};
    tl_arena a = {0};
    talus_error err;
    const char *wrong = tl_pressure_part_make(&q, &k->c, (tl_pressure_cut){.together = 3, .gap = 2}, c);
    if (wrong) return wrong;
    double *all = TL_NEW(double, k->c.p.n + 1), *x = TL_NEW(double, q.p.n + 1);
    for (uint64_t round = 0; round < 3 && !wrong; round++) {
        for (int32_t i = 0; i < k->c.p.n; i++)
            all[i] = round ? k->x[i] + ((double)round - 1) * tl_random_normal(8, (uint64_t)i, round) : k->x[i];
        tl_pressure_part_scatter(&q, all, x);
        tl_pressure_certificate here, one;
        if (tl_pressure_certify(&q.p, x, &here, &a, &err) || tl_pressure_certify(&k->c.p, all, &one, &a, &err))
            return "no certificate";
        if (!(fabs(here.optimality - one.optimality) <= 1e-12 * fmax(one.optimality, 1)) ||
            here.violation != one.violation || !(fabs(here.energy - one.energy) <= 1e-12 * fabs(one.energy)))
            wrong = WRONG("certificate %.17g %.17g %.17g, of all cells %.17g %.17g %.17g", here.optimality,
                          here.violation, here.energy, one.optimality, one.violation, one.energy);
    }
    tl_free(all);
    tl_free(x);
    tl_arena_free(&a);
    tl_pressure_part_free(&q);
    return wrong;
}

/* u.Mv = v.Mu and u.Mu > 0 with a random free set; nothing outside of it. */
static const char *check_symmetry(const tl_pressure_part *q, hierarchy *h, double *u, double *v, double *z)
{
    const tl_comm *c = q->space.comm;
    double *all = TL_NEW(double, q->of->p.n + 1), dot[4] = {0};
    tl_pressure_precond P = tl_cycle_float.precond(h->cycle);
    draw(q, 3, 0.8, all, z);
    const tl_pressure_free f = {z, z, 0, -INFINITY};
    tl_cycle_float.reset(h->cycle, 0, &f, true);
    for (int32_t i = 0; i < q->p.n; i++) {
        const uint64_t g = (uint64_t)q->global[i];
        u[i] = tl_random_normal(1, g, 0) * (z[i] > 0), v[i] = tl_random_normal(2, g, 0) * (z[i] > 0);
    }
    P.apply(P.ctx, v, 1);
    P.direction(P.ctx, 0, z);
    for (int32_t i = 0; i < q->p.n; i++) dot[0] += u[i] * z[i], dot[2] += z[i] * z[i], dot[3] += u[i] * u[i];
    const double said = P.apply(P.ctx, u, 1);
    P.direction(P.ctx, 0, z);
    bool outside = false;
    for (int32_t i = 0; i < q->p.n; i++) dot[1] += v[i] * z[i], outside |= z[i] != 0 && all[q->global[i]] == 0;
    tl_comm_reduce(c, TL_REDUCE_SUM, 4, dot);
    tl_free(all);
    if (outside) return "a cycle changes cells that are not free";
    if (!(said > 0)) return WRONG("u.Mu = %g", said);
    if (!(fabs(dot[0] - dot[1]) <= 1e-7 * sqrt(dot[2] * dot[3])))
        return WRONG("u.Mv %.9g, v.Mu %.9g of %.3g", dot[0], dot[1], sqrt(dot[2] * dot[3]));
    return NULL;
}

static const char *symmetry(const tl_comm *c)
{
    const char *wrong = NULL;
    for (int together = 3; together < 6 && !wrong; together++) {
        tl_pressure_part q = {0};
        hierarchy h = {0};
        const int mark = tl_comm_mark(c);
        wrong = tl_pressure_part_make(&q, &find(TL_SCENE_DAM, 48, false)->c,
                                      (tl_pressure_cut){.together = together, .seed = 2}, c);
        if (wrong || !build(&h, &q.p, together)) return "no levels";
        double *u = TL_NEW(double, q.p.n + 1), *v = TL_NEW(double, q.p.n + 1), *z = TL_NEW(double, q.p.n + 1);
        wrong = check_symmetry(&q, &h, u, v, z);
        tl_free(u);
        tl_free(v);
        tl_free(z);
        tl_arena_free(&h.arena);
        tl_pressure_part_free(&q);
        tl_comm_release(c, mark);
    }
    return wrong;
}

/* ---- C7 ---- */

static const char *budget(const tl_comm *c)
{
    if (tl_comm_alone(c)) return NULL;
    const known *k = find(TL_SCENE_DAM, 64, false);
    const tl_pressure_options o = cold();
    tl_pressure_part q = {0};
    tl_arena a = {0};
    tl_pressure_plan *plan;
    tl_pressure_report r;
    talus_error err;
    const char *wrong = tl_pressure_part_make(&q, &k->c, (tl_pressure_cut){.together = 3}, c);
    if (wrong) return wrong;
    const int mark = tl_comm_mark(c);
    const tl_comm_traffic first = *c->traffic;
    if (tl_pressure_plan_make(&plan, tl_pressure_method_find("multigrid"), &q.p, &o, &a, &err)) return "no plan";
    double *x = TL_NEW_ZERO(double, q.p.n + 1);
    const tl_comm_traffic t = *c->traffic;
    if (tl_pressure_run(plan, &q.p, &(tl_stop){TOLERANCE, 100, 0}, x, &a, NULL, &r, &err)) return "no solve";
    const long long gets = c->traffic->gets - t.gets, reduces = c->traffic->reduces - t.reduces,
                    gathers = c->traffic->gathers - t.gathers;
    if (gets > 900 || reduces > 90 || gathers > 75)
        wrong = WRONG("a solve needs %lld gets, %lld sums, %lld gathers", gets, reduces, gathers);
    if (t.gets - first.gets > 20 || t.reduces - first.reduces > 40)
        wrong = WRONG("a plan needs %lld gets and %lld sums", (long long)(t.gets - first.gets),
                      (long long)(t.reduces - first.reduces));
    if (getenv("TALUS_PARTS_TELL") && c->part == 0)
        printf("# solve: %lld gets, %lld sums, %lld gathers; plan: %lld gets, %lld sums\n", gets, reduces, gathers,
               (long long)(t.gets - first.gets), (long long)(t.reduces - first.reduces));
    tl_free(x);
    tl_comm_release(c, mark);
    tl_arena_free(&a);
    tl_pressure_part_free(&q);
    return wrong;
}

/* ---- bodies and contacts ---- */

static const char *bodies(const tl_comm *c)
{
    const tl_pressure_options o = cold();
    return as_alone(find(TL_SCENE_TANK, 32, true), (tl_pressure_cut){.together = 3}, &o, c);
}

#define FREEDOMS 9
#define LAMBDAS 5

typedef struct pushes {
    int32_t all;
    double *u; /* [FREEDOMS][all] */
} pushes;

static void gather_pushes(const void *ctx, const double *x, double *r)
{
    const pushes *e = ctx;
    for (int f = 0; f < FREEDOMS; f++) {
        r[f] = 0;
        for (int32_t i = 0; i < e->all; i++) r[f] += e->u[f * e->all + i] * x[i];
    }
}

static void scatter_pushes(const void *ctx, const double *r, double *y)
{
    const pushes *e = ctx;
    for (int f = 0; f < FREEDOMS; f++)
        for (int32_t i = 0; i < e->all; i++) y[i] += e->u[f * e->all + i] * r[f];
}

static void add_pushes(const void *ctx, const double *x, double *y)
{
    double r[FREEDOMS];
    gather_pushes(ctx, x, r);
    scatter_pushes(ctx, r, y);
}

/* Cells pushed by what a few appended unknowns push too, E known as U U^T to the preconditioner or not. */
static const char *with_contacts(const tl_comm *c)
{
    tl_pressure_case whole;
    tl_lattice_make(&whole, &(tl_lattice){.size = {20, 17, 18}, .surface = true});
    const int32_t n = whole.p.n, all = n + LAMBDAS;
    pushes e = {all, TL_NEW_ZERO(double, FREEDOMS *(int64_t)all)};
    double *b = TL_NEW(double, all), *x = TL_NEW(double, all), *y = TL_NEW(double, all), diag[LAMBDAS] = {0};
    for (int f = 0; f < FREEDOMS; f++)
        for (int32_t i = 0; i < all; i++) {
            double *u = &e.u[(int64_t)f * all + i];
            if (i >= n || (i % 37 == f && i % 3 == 0)) *u = 0.3 * tl_random_normal(41, (uint64_t)i, (uint64_t)f);
            if (i >= n) diag[i - n] += *u * *u;
        }
    for (int32_t i = 0; i < all; i++) b[i] = tl_random_normal(141, (uint64_t)i, 0);
    whole.p.b = b;
    whole.p.extras = LAMBDAS;
    whole.p.extra = (tl_pressure_extra){.add = add_pushes, .ctx = &e, .diag = diag};
    const char *wrong = NULL;
    for (int as_product = 0; as_product < 2 && !wrong; as_product++) {
        tl_pressure_options o = cold();
        tl_pressure_report one;
        solved s = {.q = {.u = e.u, .columns = FREEDOMS}};
        const int mark = tl_comm_mark(c);
        if (as_product) whole.p.extra.columns = FREEDOMS;
        whole.p.extra.gather = gather_pushes, whole.p.extra.scatter = scatter_pushes;
        memset(x, 0, sizeof *x * (size_t)all);
        solve_alone("multigrid", &whole.p, &o, x, &one);
        wrong = solve(&s, "multigrid", &whole, (tl_pressure_cut){.together = 3, .seed = 4, .gap = 3}, &o, NULL, c);
        if (!wrong) {
            tl_pressure_part_gather(&s.q, s.x, y);
            wrong = compare(&whole.p, y, x);
        }
        for (int32_t j = n; j < all && !wrong; j++)
            if (!(fabs(x[j] - y[j]) <= 1e-6 * (1 + fabs(x[j]))))
                wrong = WRONG("contact force %g, alone %g", y[j], x[j]);
        if (!wrong) wrong = compare_counts(&s.r, &one, 1);
        solved_free(&s);
        tl_comm_release(c, mark);
    }
    tl_free(e.u);
    tl_free(b);
    tl_free(x);
    tl_free(y);
    tl_pressure_case_free(&whole);
    return wrong;
}

/* ---- options, refusals, failures ---- */

static const char *one_option(const known *k, const char *method, const tl_pressure_options *o, const double *start,
                              const tl_comm *c)
{
    solved s = {0};
    tl_pressure_report one;
    double *x = TL_NEW_ZERO(double, k->c.p.n + 1), *y = TL_NEW(double, k->c.p.n + 1);
    const int mark = tl_comm_mark(c);
    if (start) memcpy(x, start, sizeof *x * (size_t)k->c.p.n);
    const char *wrong = solve(&s, method, &k->c, (tl_pressure_cut){.together = 3, .seed = 7}, o, start, c);
    solve_alone(method, &k->c.p, o, x, &one);
    if (!wrong) {
        tl_pressure_part_gather(&s.q, s.x, y);
        wrong = compare(&k->c.p, y, x);
    }
    if (!wrong) wrong = compare_counts(&s.r, &one, 1);
    solved_free(&s);
    tl_comm_release(c, mark);
    tl_free(x);
    tl_free(y);
    return wrong;
}

static const char *options(const tl_comm *c)
{
    const known *k = find(TL_SCENE_DAM, 32, false);
    tl_pressure_options o = cold();
    const char *wrong = one_option(k, "multigrid-double", &o, NULL, c);
    if (!wrong) wrong = one_option(k, "cg-multigrid", &o, NULL, c);
    o.start = TL_PRESSURE_WARM;
    if (!wrong) wrong = one_option(k, "multigrid", &o, k->x, c);
    o = cold();
    o.split = false;
    if (!wrong) wrong = one_option(find(TL_SCENE_PLATES, 32, false), "multigrid", &o, NULL, c);
    o = cold();
    o.rebuild = false;
    if (!wrong) wrong = one_option(find(TL_SCENE_SPHERE, 32, false), "multigrid", &o, NULL, c);
    return wrong;
}

/* Layers that hardly touch: the cycle in single precision stalls, the next one goes on; both say so on all parts alike. */
static const char *retries(const tl_comm *c)
{
    tl_pressure_case whole;
    tl_lattice_make(&whole, &(tl_lattice){.size = {24, 8, 24}, .surface = true});
    for (int32_t i = 0; i < whole.p.n; i++) {
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
            if (k / 2 != 0) whole.c[k][i] *= 1e-3f;
            whole.d[i] = k ? whole.d[i] + whole.c[k][i] : whole.c[k][i];
        }
        whole.dir[i] *= 1e-3f;
        whole.ar[i] *= 1e-3f;
        whole.d[i] += whole.dir[i];
        whole.b[i] = tl_random_normal(8, (uint64_t)i, 0);
    }
    tl_pressure_options o = cold();
    o.retry = true;
    solved s = {0};
    const int mark = tl_comm_mark(c);
    const char *wrong = solve(&s, "multigrid", &whole, (tl_pressure_cut){.together = 3}, &o, NULL, c);
    if (!wrong && !tl_comm_alone(c) && strcmp(s.r.method, "multigrid-double")) wrong = WRONG("%s ended it", s.r.method);
    double seen[3] = {s.r.outcome.iterations, s.r.outcome.result, s.r.certificate.optimality}, most[3];
    memcpy(most, seen, sizeof most);
    tl_comm_reduce(c, TL_REDUCE_MAX, 3, most);
    if (!wrong && memcmp(seen, most, sizeof most)) wrong = "parts end with different outcomes";
    solved_free(&s);
    tl_comm_release(c, mark);
    tl_pressure_case_free(&whole);
    return wrong;
}

static const char *refusals(const tl_comm *c)
{
    const known *k = find(TL_SCENE_DAM, 16, false);
    const tl_pressure_options o = cold();
    const int mark = tl_comm_mark(c);
    solved s = {0};
    const char *wrong = solve(&s, "mic", &k->c, (tl_pressure_cut){.together = 3}, &o, NULL, c);
    const bool said = wrong && strstr(wrong, "works on one process");
    wrong = said == !tl_comm_alone(c) ? NULL : "mic in parts";
    solved_free(&s);
    tl_comm_release(c, mark);
    return wrong;
}

/* The last part has less and less memory: all fail alike, and nobody waits. */
static const char *no_memory(const tl_comm *c)
{
    const known *k = find(TL_SCENE_DAM, 24, false);
    const tl_pressure_options o = cold();
    tl_pressure_part q = {0};
    const int mark = tl_comm_mark(c);
    const char *wrong = tl_pressure_part_make(&q, &k->c, (tl_pressure_cut){.together = 3}, c);
    if (wrong) return wrong;
    double *x = TL_NEW_ZERO(double, q.p.n + 1);
    int failed = 0, good = 0;
    for (size_t bytes = 256; bytes < 4000000 && !wrong && good < 2; bytes += bytes / 4) {
        tl_arena outer = {0}, a = {0};
        tl_pressure_report r;
        talus_error err = {TALUS_OK, ""};
        if (c->part == c->parts - 1) tl_arena_part(&outer, bytes, &a);
        talus_status status = tl_pressure_solve(tl_pressure_method_find("multigrid"), &q.p, &o,
                                                &(tl_stop){1e-5, 100, 0}, x, &a, &r, &err);
        double low = status, high = status;
        tl_comm_reduce(c, TL_REDUCE_MIN, 1, &low);
        tl_comm_reduce(c, TL_REDUCE_MAX, 1, &high);
        if (low != high) wrong = "a failure on some parts alone";
        if (status && (status != TALUS_NO_MEMORY || !strstr(err.message, "no memory")))
            wrong = WRONG("%s", err.message);
        *(status ? &failed : &good) += 1;
        if (c->part != c->parts - 1) tl_arena_free(&a);
        tl_arena_free(&outer);
    }
    if (!wrong && (failed < 5 || !good)) wrong = WRONG("%d failed, %d did not", failed, good);
    tl_free(x);
    tl_pressure_part_free(&q);
    tl_comm_release(c, mark);
    return wrong;
}

const tl_pressure_parts_case tl_pressure_parts_cases[] = {
    {"as with one part: counts, pressures, bound sets", counts},
    {"owners dealt out at random, few cells", scattered},
    {"coefficients that follow the free set across borders", coefficients},
    {"same bits in reruns, for any threads", same_bits},
    {"certificates are those of all cells", certificates},
    {"the cycle is symmetric, and stays on the free set", symmetry},
    {"a solve's messages", budget},
    {"bodies", bodies},
    {"contacts", with_contacts},
    {"precision, no bounds, warm start, joined cells, a masked hierarchy", options},
    {"retries", retries},
    {"methods for one process are refused", refusals},
    {"no memory on one part", no_memory},
};
const int tl_pressure_parts_case_count = sizeof tl_pressure_parts_cases / sizeof tl_pressure_parts_cases[0];
