#include "model/coupling/statics.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "math/small_chol.h"

#define V_LEAST 0.25 /* of a cell: shears of slivers would dominate the largest eigenvalue */
/* The next start goes over to the stress at rest in FADE sqrt(dx / g), 0.05 s in cells of 1 cm. With none at all
 * forces are the same, slower ones leave the impact for longer. */
#define FADE 1.5
/* Strain rate above which a cell flows, and keeps the stress of the flow: more than a thousandth, the strain that
 * mobilises friction (MOBILISED), in the time in which the rule would take it away, and more than the solver's
 * noise, velocities of 10 tolerances of the impulse of gravity, here three times that, over a cell (NOISE). At most
 * RATE sqrt(g / dx). With RATE alone a wall that gives way with 0.01 m/s has 1.3 times Rankine's pressure, because
 * the rule takes the sand back to that at rest in every step. */
#define MOBILISED 1e-3
#define NOISE 30.0
#define RATE 0.1
#define SKIP 0.1    /* part of the cells that flow from which the flow decides the stress */
#define BEGIN 0.005 /* distance from which the rule is at work: stress 7 % off */
#define LEAST                                                                                                          \
    0.0005 /* and below which it is not: 2 %. With 0.02 and 0.005 the floor of a silo differs by 2 %; piles rest as soon */
#define ENOUGH 0.05 /* |r| / |f| up to which the stress found may be used */
#define FED 0.015   /* of it that is fed into the next step at most, before FADE */
#define STOP 0.005  /* and at which it is good; 0.002 changes floors by 0.5 % */
#define COARSE 0.1  /* of the root of the distance: what is left to balance beside what is to change */
/* Evaluations per step: in one go 128 cells of height take 700. More than PATIENCE, and than what crosses the sand
 * so many times (CROSSINGS, a cell per evaluation), only while it gets on: a slope near its limit does not. */
#define ITERATIONS 1000
#define PATIENCE 100
#define CROSSINGS 4
#define FIT_LEAST                                                                                                      \
    1e-9 /* of the squares of a body's columns: bodies too small to cover a whole face start from nothing */
#define SINE_LEAST 1e-3 /* of the angle: liquids have no shear stiffness, and no shear */

/* Rows: the faces, then six for each body. What a free body has to keep is its force and torque alone: of faces
 * inside of it only the sum counts, and their multipliers are those of a rigid displacement. */
typedef struct tl_balance {
    const tl_statics *q;
    const tl_stress *t;
    const tl_coupling *c;
    double *wp;            /* [cells] W_L^p p */
    int32_t twists;        /* six for each body; 0: none is free */
    double *scale;         /* [twists] that makes their columns as long as those of faces; 0: no row */
    double *twist, *moved; /* [twists], [faces] scratch */
} balance;

static double fade_of(const tl_statics *q) { return FADE * sqrt(q->system->c.dx / q->gravity); } /* s */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the stress of sand at rest");
}

static void product(const void *ctx, const double *p, const double *s, double *y)
{
    const balance *b = ctx;
    for (int32_t i = 0; i < b->t->cells; i++) b->wp[i] = b->t->cell[i] * p[i];
    tl_coupling_gradient(b->c, b->wp, y);
    tl_stress_add_force(b->t, b->c, s, y);
    if (!b->twists) return;
    b->c->solid.gather(&b->c->solid, y, b->twist);
    for (int32_t i = 0; i < b->twists; i++) y[b->t->faces + i] = b->scale[i] * b->twist[i];
}

/* Displacements of faces [faces], those of bodies included; t [faces + twists]. */
static const double *move_all(const balance *b, const double *t)
{
    if (!b->twists) return t;
    for (int32_t i = 0; i < b->twists; i++) b->twist[i] = b->scale[i] * t[b->t->faces + i];
    memcpy(b->moved, t, sizeof *t * (size_t)b->t->faces);
    b->c->solid.sample(&b->c->solid, b->twist, b->moved);
    return b->moved;
}

static void adjoint(const void *ctx, const double *t, double *p, double *s)
{
    const balance *b = ctx;
    const double *moved = move_all(b, t);
    tl_coupling_adjoint(b->c, moved, p);
    for (int32_t i = 0; i < b->t->cells; i++) p[i] *= b->t->cell[i];
    tl_stress_adjoint(b->t, b->c, moved, s);
}

/* K / (2 G) of an angle with this sine: of the plane's tensor, or in three dimensions. */
static double stiffness(double sine, bool flat)
{
    sine = fmax(sine, SINE_LEAST);
    return flat ? (2 - sine) / (2 * sine) : (3 - 2 * sine) / (3 * sine);
}

/* Cells whose strain rate is more than the solver's noise. Returns their part. */
static double find_flow(tl_statics *q, uint8_t *flows, double *gp, double *gs)
{
    const tl_coupling *c = q->motion;
    const double noise = NOISE * q->tolerance * q->gravity * c->dt / c->dx;
    const double max = RATE * sqrt(q->gravity / c->dx), rate = fmin(max, fmax(MOBILISED / fade_of(q), noise));
    double Q[TL_STRESS_GROUP * TL_STRESS_GROUP];
    int32_t count = 0, fast = 0;
    tl_stress_form(q->friction->stress, Q);
    tl_coupling_pressure_gradient(c, gp);
    tl_stress_gradient(q->friction->stress, c, gs);
    for (int32_t i = 0; i < c->cells; i++) {
        const double *g = gs + TL_STRESS_GROUP * (int64_t)i;
        /* shears count twice in the tensor, and so half in its inverse form; the two diagonal ones are at most their
         * sum of squares */
        double square = gp[i] * gp[i] + g[TL_S_XX] * g[TL_S_XX] + g[TL_S_ZZ] * g[TL_S_ZZ] +
                        0.5 * (g[TL_S_XY] * g[TL_S_XY] + g[TL_S_XZ] * g[TL_S_XZ] + g[TL_S_YZ] * g[TL_S_YZ]);
        flows[i] = square > rate * rate;
        count += flows[i];
        fast += square > max * max;
    }
    q->fast = c->cells ? (double)fast / c->cells : 0;
    return c->cells ? (double)count / c->cells : 0;
}

/* Rows without an equation: what cannot move, and what moves with a rigid body. */
static void find_held(const balance *b, uint8_t *held)
{
    const tl_coupling *c = b->c;
    const double *bends = b->q->bends;
    for (int32_t f = 0; f < c->faces; f++)
        held[f] = (!(c->mobility[f] > 0) || !(c->fluid[f] > 0)) && !(bends && bends[f] > 0);
    for (int32_t i = 0; i < b->twists; i++) held[c->faces + i] = (uint8_t) !(b->scale[i] > 0);
}

/* What is left to balance is judged by the energy of its impulses: the same force moves a light face further. */
static void find_worth(const balance *b, double *worth)
{
    const tl_coupling *c = b->c;
    const tl_rigid_solid *r = &b->q->system->rigid;
    const double volume = c->dx * c->dx * c->dx;
    for (int32_t f = 0; f < c->faces; f++)
        worth[f] = c->fluid[f] > 0 ? c->fluid[f] * c->mobility[f] : 1 / b->q->system->density;
    for (int32_t i = 0; i < b->twists; i++) {
        int32_t body = i / 6, k = i % 6;
        double inverse = k < 3 ? r->inv_mass[body] : r->inv_inertia[9 * (int64_t)body + 4 * (k - 3)];
        worth[c->faces + i] = b->scale[i] > 0 ? volume * inverse / (b->scale[i] * b->scale[i]) : 0;
    }
}

static void columns_of(const tl_solid_row *row, double out[6])
{
    for (int k = 0; k < 3; k++) out[k] = k == row->axis ? row->weight : 0;
    tl_vec3_store(row->turn, out + 3);
}

/* Whether any body is free, and how long its six columns are. */
static talus_status find_twists(balance *b, tl_arena *a, talus_error *err)
{
    const tl_rigid_solid *r = &b->q->system->rigid;
    bool any = false;
    for (int32_t i = 0; i < r->bodies; i++) any |= r->inv_mass[i] > 0 && r->body_first[i + 1] > r->body_first[i];
    if (!any) return TALUS_OK;
    b->twists = 6 * r->bodies;
    b->scale = TL_TAKE_ZERO(a, double, b->twists);
    b->twist = TL_TAKE(a, double, b->twists);
    b->moved = TL_TAKE(a, double, b->t->faces);
    if (!b->scale || !b->twist || !b->moved) return no_memory(err);
    for (int32_t i = 0; i < r->rows; i++) {
        double column[6];
        if (!(r->inv_mass[r->row[i].body] > 0)) continue;
        columns_of(&r->row[i], column);
        for (int k = 0; k < 6; k++) b->scale[6 * (int64_t)r->row[i].body + k] += column[k] * column[k];
    }
    for (int32_t i = 0; i < b->twists; i++) b->scale[i] = b->scale[i] > 0 ? 1 / sqrt(b->scale[i]) : 0;
    return TALUS_OK;
}

/* The memory has displacements of faces; a body's own is the one that fits those of the faces inside of it. */
static void recall_twists(const balance *b, const uint8_t *held, double *t)
{
    const tl_rigid_solid *r = &b->q->system->rigid;
    const int32_t faces = b->t->faces;
    for (int32_t body = 0; 6 * body < b->twists; body++) {
        double A[36] = {0}, w[6] = {0}, column[6];
        const double *scale = b->scale + 6 * (int64_t)body;
        for (int32_t i = r->body_first[body]; i < r->body_first[body + 1] && r->inv_mass[body] > 0; i++) {
            if (!held[r->row[i].face]) continue;
            columns_of(&r->row[i], column);
            for (int k = 0; k < 6; k++) {
                w[k] += scale[k] * column[k] * t[r->row[i].face];
                for (int m = 0; m < 6; m++) A[6 * k + m] += scale[k] * column[k] * scale[m] * column[m];
            }
        }
        for (int k = 0; k < 6; k++) A[7 * k] += scale[k] > 0 ? FIT_LEAST : 1; /* columns have length one */
        if (tl_small_chol(6, A)) tl_small_chol_solve(6, A, w);
        memcpy(t + faces + 6 * (int64_t)body, w, sizeof w);
    }
    for (int32_t i = 0; i < b->twists; i++) b->twist[i] = b->scale[i] * t[faces + i];
    memset(b->moved, 0, sizeof *t * (size_t)faces);
    b->c->solid.sample(&b->c->solid, b->twist, b->moved);
    for (int32_t f = 0; f < faces; f++) t[f] = held[f] ? 0 : t[f] - b->moved[f];
}

/* Cells along the longest side of what has a pressure. */
static int extent_of(const tl_system *s)
{
    int32_t lo[3] = {INT32_MAX, INT32_MAX, INT32_MAX}, hi[3] = {INT32_MIN, INT32_MIN, INT32_MIN}, max = 0;
    for (int32_t i = 0; i < s->c.cells; i++)
        for (int k = 0; k < 3; k++) {
            if (s->ijk[i][k] < lo[k]) lo[k] = s->ijk[i][k];
            if (s->ijk[i][k] > hi[k]) hi[k] = s->ijk[i][k];
        }
    for (int k = 0; k < 3 && s->c.cells; k++)
        if (hi[k] - lo[k] + 1 > max) max = hi[k] - lo[k] + 1;
    return max;
}

static talus_status pose(tl_statics *q, const balance *b, const uint8_t *flows, tl_arena *a, talus_error *err)
{
    const tl_stress *t = b->t;
    const int32_t n = t->cells, rows = t->faces + b->twists;
    double *weight = TL_TAKE(a, double, n), *soft = TL_TAKE(a, double, n), *p0 = TL_TAKE(a, double, n);
    double *f = TL_TAKE(a, double, rows), *worth = TL_TAKE(a, double, rows);
    uint8_t *held = TL_TAKE(a, uint8_t, rows);
    q->moves = TL_TAKE(a, double, rows);
    q->a = TL_TAKE(a, double, n);
    q->b = TL_TAKE(a, double, t->n);
    if (!weight || !soft || !worth || !f || !p0 || !held || !q->moves || !q->a || !q->b) return no_memory(err);
    const bool flat = !(t->only[0] && t->only[1] && t->only[2]);
    for (int32_t i = 0; i < n; i++) {
        weight[i] = fmax(t->cell[i] * (1 - q->solid[q->system->active.cell[i]]), V_LEAST);
        soft[i] = stiffness(q->friction->own[i] / sqrt(2), flat);
        p0[i] = q->p[i] / t->cell[i];
    }
    find_held(b, held);
    find_worth(b, worth);
    memcpy(q->moves, q->t, sizeof *q->moves * (size_t)t->faces);
    if (b->twists) recall_twists(b, held, q->moves);
    product(b, p0, q->friction->s, f);
    q->least = (tl_least){.rows = rows,
                          .groups = n,
                          .size = TL_STRESS_GROUP,
                          .f = f,
                          .held = held,
                          .worth = worth,
                          .weight = weight,
                          .stiffness = soft,
                          .alpha = q->friction->alpha,
                          .extra = q->friction->cohesion,
                          .beside = q->friction->slip.beside,
                          .part = q->friction->slip.part,
                          .normal = q->friction->slip.normal,
                          .frozen = flows,
                          .a0 = p0,
                          .b0 = q->friction->s,
                          .product = product,
                          .adjoint = adjoint,
                          .ctx = b};
    tl_stress_form(t, q->least.Q);
    const int crossing = CROSSINGS * extent_of(q->system);
    /* while it is not at work, all that counts is whether it should be */
    q->stop = (tl_least_stop){.iterations = ITERATIONS,
                              .patience = crossing > PATIENCE ? crossing : PATIENCE,
                              .residual = STOP,
                              .coarse = COARSE,
                              .coarsest = FED,
                              .loose = q->on ? 0 : FED,
                              .near = BEGIN};
    q->wanted = true;
    return TALUS_OK;
}

void tl_statics_take(tl_statics *q, const tl_least_report *found)
{
    const balance *b = q->balance;
    const tl_stress *t = b->t;
    memcpy(q->t, move_all(b, q->moves), sizeof *q->moves * (size_t)t->faces);
    q->evaluations = found->evaluations;
    q->distance = found->distance;
    q->on = found->distance >= (q->on ? LEAST : BEGIN);
    if (!q->on || found->residual >= ENOUGH) return;
    /* what is not balanced yet pushes in the next step: never by more than FED of it. Without the bound a layer one
     * degree below its slope is stirred up to 4 mm/s */
    const double share = (1 - exp(-b->c->dt / fade_of(q))) * (found->residual > FED ? FED / found->residual : 1);
    for (int32_t i = 0; i < t->cells; i++) q->p_next[i] += share * (t->cell[i] * q->a[i] - q->p[i]);
    for (int64_t i = 0; i < t->n; i++) q->s_next[i] += share * (q->b[i] - q->friction->s[i]);
}

talus_status tl_statics_pose(tl_statics *q, tl_arena *a, talus_error *err)
{
    const tl_stress *t = q->friction->stress;
    memcpy(q->p_next, q->p, sizeof *q->p * (size_t)t->cells);
    memcpy(q->s_next, q->friction->s, sizeof *q->s_next * (size_t)t->n);
    q->wanted = false;
    if (!(q->gravity > 0) || !(tl_max_abs(t->cells, q->p) > 0)) {
        q->on = false;
        return TALUS_OK;
    }
    balance *b = q->balance = TL_TAKE(a, balance, 1);
    uint8_t *flows = TL_TAKE(a, uint8_t, t->cells);
    double *gp = TL_TAKE(a, double, t->cells), *gs = TL_TAKE(a, double, t->n);
    if (!b || !flows || !gp || !gs) return no_memory(err);
    *b = (balance){.q = q, .t = t, .c = &q->system->c, .wp = TL_TAKE(a, double, t->cells)};
    if (!b->wp) return no_memory(err);
    TL_TRY(find_twists(b, a, err));
    q->flows = find_flow(q, flows, gp, gs);
    if (q->flows <= SKIP) return pose(q, b, flows, a, err);
    if (q->fast > SKIP) /* gravity is switched on once more when it has come to rest */
        memset(q->t, 0, sizeof *q->t * (size_t)t->faces);
    return TALUS_OK;
}
