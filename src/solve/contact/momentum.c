#include "solve/contact/momentum.h"

#include <omp.h>
#include <string.h>

#include "base/meet.h"
#include "base/parallel.h"
#include "base/timer.h"

#define LOOK_EVERY 20    /* sweeps between residuals */
#define AGE_KEPT 0.25    /* of an age when momentum turned, */
#define OLDEST_KEPT 0.5  /* and of how old the contact may grow, */
#define OLDEST_GROWS 0.5 /* which comes back by so much per sweep */
#define RUNS_AWAY 4.0    /* times the first residual: near a solution, momentum raises it at first */
#define MAX_FIRST 40.0   /* age, where sweeps ran away for the first time; */
#define MAX_KEPT 0.25    /* of it afterwards, each time */
#define BUSY_AFTER 3     /* sweeps */
#define HALVES_FROM 1000 /* contacts, some 50 us per sweep: smaller islands stay whole */

/* ---- halves ---- */

/* Neighbours of bodies, both ways: first [bodies + 1], next [2 contacts]. */
typedef struct graph {
    int32_t *first, *next;
} graph;

static void link_bodies(const tl_pairs *t, graph *g)
{
    memset(g->first, 0, sizeof *g->first * ((size_t)t->moving + 1));
    for (int32_t c = 0; c < t->contacts; c++)
        for (int s = 0; s < 2; s++)
            if (t->pair[c].body[0] >= 0 && t->pair[c].body[1] >= 0) g->first[t->pair[c].body[s] + 1]++;
    for (int32_t i = 0; i < t->moving; i++) g->first[i + 1] += g->first[i];
    for (int32_t c = 0; c < t->contacts; c++)
        for (int s = 0; s < 2; s++)
            if (t->pair[c].body[0] >= 0 && t->pair[c].body[1] >= 0)
                g->next[g->first[t->pair[c].body[s]]++] = t->pair[c].body[1 - s];
    for (int32_t i = t->moving; i > 0; i--) g->first[i] = g->first[i - 1];
    g->first[0] = 0;
}

/* Bodies by their distance from `from`: order [bodies]; seen [bodies] comes back set. Those that no contact leads to
 * follow. */
static void walk(const graph *g, int32_t bodies, int32_t from, int32_t *order, bool *seen)
{
    int32_t count = 0, next = 0;
    memset(seen, 0, sizeof *seen * (size_t)bodies);
    for (int32_t start = -1; count < bodies; start++) {
        int32_t i = start < 0 ? from : start;
        if (seen[i]) continue;
        seen[i] = true;
        order[count++] = i;
        for (; next < count; next++)
            for (int32_t k = g->first[order[next]]; k < g->first[order[next] + 1]; k++) {
                int32_t j = g->next[k];
                if (seen[j]) continue;
                seen[j] = true;
                order[count++] = j;
            }
    }
}

/* place [bodies]: where velocities are. Half of the bodies, those nearest to one end of the island, then a place
 * that stays 0, then the rest and another such place. */
static int32_t cut(const tl_pairs *t, const graph *g, int32_t *order, bool *seen, int32_t *place)
{
    const int32_t half = t->contacts < HALVES_FROM ? t->moving : t->moving / 2;
    for (int32_t i = 0; i < t->moving; i++) order[i] = i;
    if (half < t->moving) {
        walk(g, t->moving, 0, order, seen);
        walk(g, t->moving, order[t->moving - 1], order, seen);
    }
    for (int32_t k = 0; k < t->moving; k++) place[order[k]] = k < half ? k : k + 1;
    return half;
}

/* ---- rows ---- */

size_t tl_momentum_bytes(int64_t contacts, int64_t bodies)
{
    return TL_ARENA_ROOM(tl_momentum_row, contacts) + 3 * TL_ARENA_ROOM(double, 3 * contacts) +
           2 * TL_ARENA_ROOM(double, contacts) + TL_ARENA_ROOM(double, TL_BODY_LANES *(bodies + 2)) +
           TL_ARENA_ROOM(double, 9 * bodies) + 3 * TL_ARENA_ROOM(int32_t, bodies + 1) +
           TL_ARENA_ROOM(int32_t, 2 * contacts) + TL_ARENA_ROOM(bool, bodies) +
           3 * TL_ARENA_ROOM(int32_t, contacts + 1);
}

/* L with I^-1 = L L^T, lower. */
static void root_of_inverse(const double *I, double L[9])
{
    memset(L, 0, 9 * sizeof *L);
    for (int c = 0; c < 3; c++)
        for (int r = c; r < 3; r++) {
            double sum = I[3 * r + c];
            for (int k = 0; k < c; k++) sum -= L[3 * r + k] * L[3 * c + k];
            L[3 * r + c] = r == c ? sqrt(fmax(sum, 0)) : L[3 * c + c] > 0 ? sum / L[3 * c + c] : 0;
        }
}

static void fill_row(const tl_pairs *t, int32_t c, const double *roots, const int32_t *place, int32_t nowhere,
                     tl_momentum_row *row)
{
    const tl_pair *p = &t->pair[c];
    *row = (tl_momentum_row){.q = {p->q[0], p->q[1], p->q[2]},
                             .W = {p->W[0], p->W[1], p->W[2], p->W[3], p->W[6]},
                             .w_n = p->w_n,
                             .w_t = p->w_t,
                             .mu = p->mu,
                             .contact = c};
    for (int s = 0; s < 2; s++) {
        row->place[s] = p->body[s] < 0 ? nowhere : place[p->body[s]];
        if (p->body[s] < 0) continue;
        const double *L = roots + 9 * (int64_t)p->body[s], root = 1 / sqrt(t->mass[p->body[s]]);
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) {
                row->J[s][r][k] = root * p->J[s][k][r];
                double turn = 0;
                for (int j = k; j < 3; j++) turn += p->J[s][3 + j][r] * L[3 * j + k];
                row->J[s][r][3 + k] = turn;
            }
    }
}

/* Which part a contact belongs to: 0, 1: a half, 2: between. */
static int part_of(const tl_pair *p, const int32_t *place, int32_t half)
{
    int part[2];
    for (int s = 0; s < 2; s++) part[s] = p->body[s] < 0 ? -1 : place[p->body[s]] > half;
    return part[0] < 0 ? part[1] : part[1] < 0 || part[0] == part[1] ? part[0] : 2;
}

/* Contacts in the order of their rounds, in which no two share a body: a processor works on several at a time then,
 * where a body's contacts one after the other would each wait for the last. next [places] and count [contacts + 1]
 * are scratch; list [contacts] comes back. */
static void order_rounds(const tl_pairs *t, int32_t *next, int32_t *round, int32_t *count, int32_t *list)
{
    memset(next, 0, sizeof *next * (size_t)t->moving);
    memset(count, 0, sizeof *count * ((size_t)t->contacts + 1));
    for (int32_t c = 0; c < t->contacts; c++) {
        const int32_t *body = t->pair[c].body;
        int32_t now = 0;
        for (int s = 0; s < 2; s++)
            if (body[s] >= 0 && next[body[s]] > now) now = next[body[s]];
        for (int s = 0; s < 2; s++)
            if (body[s] >= 0) next[body[s]] = now + 1;
        round[c] = now;
        count[now + 1]++;
    }
    for (int32_t k = 0; k < t->contacts; k++) count[k + 1] += count[k];
    for (int32_t c = 0; c < t->contacts; c++) list[count[round[c]]++] = c;
}

bool tl_momentum_build(tl_momentum *m, const tl_pairs *t, tl_arena *a)
{
    const int64_t n = t->contacts, bodies = t->moving;
    *m = (tl_momentum){.contacts = t->contacts,
                       .max = INFINITY,
                       .row = TL_TAKE(a, tl_momentum_row, n),
                       .x = TL_TAKE(a, double, 3 * n),
                       .y = TL_TAKE(a, double, 3 * n),
                       .before = TL_TAKE(a, double, 3 * n),
                       .age = TL_TAKE(a, double, n),
                       .oldest = TL_TAKE(a, double, n),
                       .v = TL_TAKE(a, double, TL_BODY_LANES *(bodies + 2))};
    double *roots = TL_TAKE(a, double, 9 * bodies);
    graph g = {TL_TAKE(a, int32_t, bodies + 1), TL_TAKE(a, int32_t, 2 * n)};
    int32_t *order = TL_TAKE(a, int32_t, bodies), *place = TL_TAKE(a, int32_t, bodies);
    int32_t *list = TL_TAKE(a, int32_t, n), *round = TL_TAKE(a, int32_t, n), *count = TL_TAKE(a, int32_t, n + 1);
    bool *seen = TL_TAKE(a, bool, bodies);
    if (!list || !round || !count || !m->row || !m->x || !m->y || !m->before || !m->age || !m->oldest || !m->v ||
        !roots || !g.first || !g.next || !order || !place || !seen)
        return false;
    link_bodies(t, &g);
    const int32_t half = cut(t, &g, order, seen, place);
    for (int32_t i = 0; i < bodies; i++) root_of_inverse(t->inv_inertia + 9 * (int64_t)i, roots + 9 * (int64_t)i);
    m->lanes[0] = 0;
    m->lanes[1] = TL_BODY_LANES * ((int64_t)half + 1);
    m->lanes[2] = TL_BODY_LANES * (bodies + 2);
    order_rounds(t, order, round, count, list);
    int32_t at = 0;
    for (int part = 0; part < 3; part++) {
        for (int32_t k = 0; k < t->contacts; k++)
            if (part_of(&t->pair[list[k]], place, half) == part)
                fill_row(t, list[k], roots, place, part ? (int32_t)bodies + 1 : half, &m->row[at++]);
        m->end[part] = at;
    }
    return true;
}

/* ---- sweeps ---- */

static inline tl_lanes4 three_sums(tl_lanes8 a, tl_lanes8 b, tl_lanes8 c)
{
    tl_lanes4 x = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7),
              y = __builtin_shufflevector(b, b, 0, 1, 2, 3) + __builtin_shufflevector(b, b, 4, 5, 6, 7),
              z = __builtin_shufflevector(c, c, 0, 1, 2, 3) + __builtin_shufflevector(c, c, 4, 5, 6, 7);
    tl_lanes4 xy = __builtin_shufflevector(x, y, 0, 4, 2, 6) + __builtin_shufflevector(x, y, 1, 5, 3, 7),
              zz = __builtin_shufflevector(z, z, 0, 0, 2, 2) + __builtin_shufflevector(z, z, 1, 1, 3, 3);
    return __builtin_shufflevector(xy, zz, 0, 1, 4, 5) + __builtin_shufflevector(xy, zz, 2, 3, 6, 7);
}

/* Mass of a normal step, kg. While a contact slides its friction follows the normal force and adds mu W_nt . e to
 * the normal velocity that a push makes. Where that is more, 1 / W_nn overshoots, and from twice on two states take
 * turns for ever. It slides where friction would leave its disc. */
static inline double normal_mass(const tl_momentum_row *p, const double *l, tl_lanes4 u)
{
    double x = l[1] - p->w_t * u[1], y = l[2] - p->w_t * u[2], length = sqrt(x * x + y * y);
    if (!(p->mu > 0 && length > 0 && length >= 0.999 * p->mu * l[0])) return p->w_n;
    double follows = p->mu * (p->W[1] * x + p->W[2] * y) / length;
    return follows > 0 ? 1 / (p->W[0] + follows) : p->w_n;
}

static inline void push(const tl_momentum_row *p, int side, const double d[3], double *v)
{
    *(tl_lanes8 *)(v + TL_BODY_LANES * (int64_t)p->place[side]) +=
        p->J[side][0] * d[0] + p->J[side][1] * d[1] + p->J[side][2] * d[2];
}

/* One contact from x to y: the normal, then friction at the velocity that the new normal leaves. */
static inline void sweep_row(const tl_momentum_row *p, const double *x, double *y, double *v)
{
    const tl_lanes8 a = *(const tl_lanes8 *)(v + TL_BODY_LANES * (int64_t)p->place[0]),
                    b = *(const tl_lanes8 *)(v + TL_BODY_LANES * (int64_t)p->place[1]);
    tl_lanes4 u =
        three_sums(p->J[0][0] * a + p->J[1][0] * b, p->J[0][1] * a + p->J[1][1] * b, p->J[0][2] * a + p->J[1][2] * b);
    u += (tl_lanes4){p->q[0], p->q[1], p->q[2], 0};
    double n = p->mu < 0 ? 0 : fmax(0, x[0] - normal_mass(p, x, u) * u[0]), max = p->mu < 0 ? -p->mu : p->mu * n, d[3];
    d[0] = n - x[0];
    double t[2] = {x[1] - p->w_t * (u[1] + p->W[3] * d[0]), x[2] - p->w_t * (u[2] + p->W[4] * d[0])};
    tl_project_disc(max, t);
    d[1] = t[0] - x[1];
    d[2] = t[1] - x[2];
    y[0] = n, y[1] = t[0], y[2] = t[1];
    push(p, 0, d, v);
    push(p, 1, d, v);
}

/* x of one contact goes on from the swept y. */
static inline void carry_on(const tl_momentum *m, int32_t k)
{
    double *x = m->x + 3 * (int64_t)k, *before = m->before + 3 * (int64_t)k, along = 0;
    const double *y = m->y + 3 * (int64_t)k;
    for (int i = 0; i < 3; i++) along += (y[i] - x[i]) * (y[i] - before[i]);
    if (along < 0) {
        m->oldest[k] = OLDEST_KEPT * fmin(m->age[k], m->oldest[k]);
        m->age[k] *= AGE_KEPT;
    } else {
        m->age[k] += 1;
    }
    m->oldest[k] += OLDEST_GROWS;
    double age = fmin(fmin(m->age[k], m->oldest[k]), m->max), beta = age / (age + 3);
    for (int i = 0; i < 3; i++) {
        x[i] = y[i] + beta * (y[i] - before[i]);
        before[i] = y[i];
    }
}

static void sweep_rows(const tl_momentum *m, int32_t from, int32_t to)
{
    for (int32_t k = from; k < to; k++) sweep_row(&m->row[k], m->x + 3 * (int64_t)k, m->y + 3 * (int64_t)k, m->v);
}

/* Velocities of a half, from x of its rows and of those between. */
static void gather_half(const tl_momentum *m, int half)
{
    memset(m->v + m->lanes[half], 0, sizeof *m->v * (size_t)(m->lanes[half + 1] - m->lanes[half]));
    for (int32_t k = half ? m->end[0] : 0; k < m->end[half]; k++)
        for (int s = 0; s < 2; s++) push(&m->row[k], s, m->x + 3 * (int64_t)k, m->v);
    for (int32_t k = m->end[1]; k < m->end[2]; k++)
        for (int s = 0; s < 2; s++)
            if ((TL_BODY_LANES * (int64_t)m->row[k].place[s] >= m->lanes[1]) == half)
                push(&m->row[k], s, m->x + 3 * (int64_t)k, m->v);
}

static void sweep_half(const tl_momentum *m, int half) { sweep_rows(m, half ? m->end[0] : 0, m->end[half]); }

static void carry_half(const tl_momentum *m, int half)
{
    for (int32_t k = half ? m->end[0] : 0; k < m->end[half]; k++) carry_on(m, k);
    gather_half(m, half);
}

static void sweep_between(const tl_momentum *m)
{
    sweep_rows(m, m->end[1], m->end[2]);
    for (int32_t k = m->end[1]; k < m->end[2]; k++) carry_on(m, k);
}

void tl_momentum_start(tl_momentum *m, const double *lam)
{
    for (int32_t k = 0; k < m->contacts; k++) {
        memcpy(m->x + 3 * (int64_t)k, lam + 3 * (int64_t)m->row[k].contact, 3 * sizeof *lam);
        m->age[k] = 0, m->oldest[k] = INFINITY;
    }
    memcpy(m->before, m->x, 3 * sizeof *m->x * (size_t)m->contacts);
    for (int half = 0; half < 2; half++) gather_half(m, half);
}

bool tl_momentum_back(tl_momentum *m, double residual, double first, const double *best)
{
    if (residual <= RUNS_AWAY * first) return false;
    m->max = MAX_KEPT * fmin(m->max, MAX_FIRST);
    tl_momentum_start(m, best);
    return true;
}

/* Two threads at `count` sweeps. The first looks at its clock: where it waits for the other for longer than both
 * work, the machine is busy with something else, and it goes on alone; results are the same. made: sweeps that were
 * made together. */
static void sweep_together(tl_momentum *m, int count, int me, tl_meet *meet, int *made)
{
    double works = 0, waits = 0;
    for (int sweep = 0; sweep < count && !m->alone; sweep++) {
        const double begin = tl_seconds();
        sweep_half(m, me);
        const double half = tl_seconds();
        tl_meet_wait(meet, 2);
        if (me == 0) {
            const double met = tl_seconds();
            sweep_between(m);
            works += (half - begin) + (tl_seconds() - met);
            waits += met - half;
            m->alone = sweep >= BUSY_AFTER && waits > works;
            *made = sweep + 1;
        }
        tl_meet_wait(meet, 2);
        carry_half(m, me);
        if (m->alone) tl_meet_wait(meet, 2);
    }
}

void tl_momentum_sweep(tl_momentum *m, int count, tl_work *w)
{
    const int halves = m->end[1] > m->end[0] ? 2 : 1;
    int made = 0;
    if (halves == 2 && tl_threads() > 1 && !m->alone) {
        tl_meet meet = {0};
#pragma omp parallel num_threads(2)
        if (omp_get_num_threads() == 2) sweep_together(m, count, omp_get_thread_num(), &meet, &made);
    }
    for (; made < count; made++) {
        for (int half = 0; half < halves; half++) sweep_half(m, half);
        sweep_between(m);
        for (int half = 0; half < halves; half++) carry_half(m, half);
    }
    w->products += count, w->projections += count;
}

void tl_momentum_answer(const tl_momentum *m, double *lam)
{
    for (int32_t k = 0; k < m->contacts; k++)
        memcpy(lam + 3 * (int64_t)m->row[k].contact, m->y + 3 * (int64_t)k, 3 * sizeof *lam);
}

double tl_contact_momentum(tl_momentum *m, const tl_pairs *t, double tolerance, int cap, double *lam, double *look,
                           double *out, tl_work *w)
{
    const double first = tl_pairs_residual(t, lam, out);
    double least = first;
    tl_momentum_start(m, lam);
    for (int sweep = 0; sweep < cap && least > tolerance;) {
        const int count = cap - sweep < LOOK_EVERY ? cap - sweep : LOOK_EVERY;
        tl_momentum_sweep(m, count, w);
        tl_momentum_answer(m, look);
        double residual = tl_pairs_residual(t, look, out);
        tl_work_record(w, residual);
        if (residual < least) {
            least = residual;
            memcpy(lam, look, 3 * sizeof *lam * (size_t)t->contacts);
        }
        tl_momentum_back(m, residual, first, lam);
        sweep += count;
    }
    return least;
}
