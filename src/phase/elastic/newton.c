#include "phase/elastic/trial.h"

#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "base/sum.h"
#include "model/rigid/motion.h"
#include "phase/grid/wet.h"

#define CONTACT_SHARE 0.1  /* of the tolerance: what contact solves may leave in the end, */
#define CONTACT_EARLY 0.01 /* of the last correction: and before */
#define EARLY_MAX 0.1      /* of what forces do in a step, g dt: of a correction that counts for that */
#define ITERATIONS_MAX 40  /* Newton corrections of a step, unless the scene names another cap */
#define CONTRACTION 0.7    /* of corrections: above it the matrix is made anew. A factor costs ten corrections */
#define CONTACT_LEFT 2    /* times what a contact solve left: the next correction says nothing of the matrix below it */
#define SEARCH_MAX 12     /* halvings */
#define SEARCH_SHARE 1e-4 /* of the predicted decrease */
#define SEARCH_SLACK 1e-10 /* of the penalty: a rise by less is rounding */
#define PENALTY 1.1        /* over the largest normal impulse */

/* ---- Newton ---- */

void tl_elastic_positions(const tl_elastic_trial *s, const double *v, double *x)
{
    const double *from = s->now->q;
    for (int b = 0; b < s->fem->bodies; b++) {
        const tl_fem_body *body = &s->fem->body[b];
        for (int64_t i = 3 * (int64_t)body->node; i < 3 * (int64_t)(body->node + body->nodes); i++)
            x[i] = from[i] + s->he[b] * v[i];
    }
}

/* v* of a body that takes h_e: the scene's forces act for that long. */
double tl_elastic_star(const tl_elastic_trial *s, int b, int64_t i)
{
    double v = s->now->v[i];
    return v + s->he[b] / s->h * (s->v_star[i] - v);
}

double tl_elastic_springs(const tl_elastic_trial *s, const double *x, const tl_vec3 *target, double *force)
{
    double sum = 0;
    for (int32_t k = 0; k < s->lg->anchors; k++) {
        const tl_lg_anchor *a = &s->lg->anchor[k];
        if (s->fem->is_held[k] || s->fem->place[a->vertex] < 0) continue;
        tl_vec3 off = tl_vec3_sub(target[k], tl_vec3_load(x + 3 * (int64_t)a->vertex));
        sum += 0.5 * a->weight * tl_vec3_norm2(off);
        if (!force) continue;
        double *f = force + 3 * (int64_t)a->vertex;
        tl_vec3_store(tl_vec3_add_scaled(tl_vec3_load(f), a->weight, off), f);
    }
    return sum;
}

/* g = M (v - v*) - h f - what follows; zero at held nodes. */
static void balance(tl_elastic_trial *s)
{
    tl_elastic_positions(s, s->v, s->x);
    s->energy = tl_fem_forces(s->fem, s->x, &s->rate, s->force, s->scratch);
    s->energy += tl_elastic_springs(s, s->x, s->spring, s->force);
    if (s->wet) tl_wet_follow(s->wet, s->x);
    for (int b = 0; b < s->fem->bodies; b++) {
        const tl_fem_body *body = &s->fem->body[b];
        for (int32_t i = body->node; i < body->node + body->nodes; i++)
            for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++)
                s->g[k] = s->fem->place[i] < 0 ? 0
                                               : s->lg->mass[i] * (s->v[k] - tl_elastic_star(s, b, k)) -
                                                     s->he[b] * s->force[k] - (s->follow ? s->follow[k] : 0);
    }
    tl_elastic_riders_press(s, s->v);
    tl_elastic_riders_balance(s, s->v, s->g);
    tl_elastic_lap(s, TL_ELASTIC_BALANCE);
}

/* Route "schur-last": nodes that contacts hang on come last in the factor. Analysed anew when they are others: the
 * order follows from the contacts alone. */
static talus_status order_last(tl_elastic_trial *s, talus_error *err)
{
    tl_elastic_data *data = s->data;
    for (int b = 0; b < s->fem->bodies; b++) {
        const int64_t first = data->first[b], n = data->first[b + 1] - first;
        int32_t *perm = TL_TAKE(s->arena, int32_t, n + 1), count = 0;
        if (!perm) return tl_elastic_no_memory(err);
        for (int last = 0; last < 2; last++)
            for (int64_t i = 0; i < n; i++) {
                int64_t at = first + data->order[first + i];
                bool touched = s->flex.contacts > 0 && s->Jt.start[at + 1] > s->Jt.start[at];
                if (touched == (last == 1)) perm[count++] = data->order[first + i];
            }
        if (memcmp(perm, data->perm + first, sizeof *perm * (size_t)n) == 0) continue;
        memcpy(data->perm + first, perm, sizeof *perm * (size_t)n);
        talus_status status = tl_factor_analyse(data->factor[b], &s->fem->body[b].A, err);
        if (status == TALUS_OK) continue;
        data->perm[first] = -1; /* no order: the next try analyses again */
        return status;
    }
    return TALUS_OK;
}

static talus_status compute_factors(tl_elastic_trial *s, talus_error *err)
{
    const int bodies = s->fem->bodies;
    talus_status status = TALUS_OK;
    if (s->data->route->needs & TL_FLEX_LAST) TL_TRY(order_last(s, err));
#pragma omp parallel for schedule(dynamic, 1) if (bodies > 1)
    for (int b = 0; b < bodies; b++) {
        talus_error why = {0};
        talus_status one = tl_factor_compute(s->data->factor[b], &s->fem->body[b].A, &why);
        if (one == TALUS_OK) continue;
#pragma omp critical
        if (status == TALUS_OK) {
            status = one;
            if (err) *err = why;
        }
    }
    return status;
}

/* Matrices of all bodies, and their factors where the route needs any. */
static talus_status factor(tl_elastic_trial *s, bool *again, talus_error *err)
{
    const unsigned needs = s->data->route->needs;
    talus_status status = TALUS_OK;
    s->projected |= (needs & TL_FLEX_SEMIDEFINITE) != 0 || (s->wet && tl_dual_scheme_projected(s->wet->solver.scheme));
    tl_fem_modes(s->fem, s->x, s->projected, s->modes);
    for (int b = 0; b < s->fem->bodies; b++) tl_fem_matrix(s->fem, b, s->he[b], s->modes, &s->fem->body[b].A);
    tl_elastic_riders_matrix(s, s->v);
    for (int b = 0; b < s->fem->bodies && (needs & TL_FLEX_ROOTS); b++) {
        tl_csr_free(&s->data->roots[b]);
        TL_TRY(tl_fem_roots(s->fem, b, s->he[b], s->modes, &s->data->roots[b], err));
    }
    if (needs & TL_FLEX_FACTOR) status = compute_factors(s, err);
    s->factors++;
    tl_elastic_lap(s, TL_ELASTIC_FACTOR);
    if (status == TALUS_NOT_DEFINITE && !s->projected) {
        s->projected = s->indefinite = true;
        return factor(s, again, err);
    }
    *again = status != TALUS_OK && status != TALUS_NO_MEMORY;
    return status;
}

/* ---- contacts ---- */

/* [flex.contacts] velocities of contacts that move, from all. */
static void take_velocities(tl_elastic_trial *s, const double *v_rigid, double *out)
{
    tl_fem_rows_velocity(&s->rows, s->v, v_rigid, s->u);
    for (int32_t k = 0; k < s->flex.contacts; k++)
        memcpy(out + 3 * (int64_t)k, s->u + 3 * (int64_t)s->pick[k], 3 * sizeof *out);
}

/* What of the problem changes from correction to correction. */
static void pose_correction(tl_elastic_trial *s, bool fresh)
{
    const int32_t *place = s->fem->place;
    for (int32_t i = 0; i < s->lg->nodes; i++)
        if (place[i] >= 0)
            memcpy(s->flex_g + s->data->first[s->lg->owner[i]] + 3 * (int64_t)place[i], s->g + 3 * (int64_t)i,
                   3 * sizeof *s->g);
    for (int32_t k = 0; k < s->flex.contacts; k++)
        memcpy(s->flex_lam + 3 * (int64_t)k, s->lam + 3 * (int64_t)s->pick[k], 3 * sizeof *s->lam);
    take_velocities(s, s->bodies->v_free, s->flex_c);
    if (fresh) take_velocities(s, s->v_rigid, s->flex_now);
}

/* Bodies alone, by the route that the scene names. */
static talus_status solve_bodies(tl_elastic_trial *s, bool fresh, talus_error *err)
{
    const tl_flex *p = &s->flex;
    s->solver.now = s->flex_now;
    s->solver.near = s->correction;
    bool own = s->data->route->needs & TL_FLEX_OTHER_H, plain = s->data->schur;
    const tl_stop stop = {.tolerance = s->slack, .max_iterations = s->scene->solver.contact.iterations};
    TL_TRY(tl_flex_solve(&s->solver, fresh, !own && !plain, &stop, s->flex_lam, s->flex_dv, &s->solved, err));
    s->contact = p->contacts == 0 && plain ? 0
                 : own || plain            ? s->solved.outcome.residual
                                           : s->solved.certificate.residual;
    const tl_shown_flex shown = {p, s->flex_lam, s->flex_dv};
    TL_TRY(tl_sim_show(s->sim, (tl_shown){TL_SHOWN_FLEX, &shown, NULL, own ? NAN : s->contact, s->slack}, err));
    s->work.products += s->solved.work.products;
    s->work.factorizations += s->solved.work.factorizations;
    s->work.projections += s->solved.work.projections;
    s->work.outer += s->solved.work.outer;
    s->contact_iterations += s->solved.outcome.iterations;
    return TALUS_OK;
}

/* Contacts at the pressure that was found, which is a load on them: rigid bodies move by it beside the problem. */
static talus_status show_wet(tl_elastic_trial *s, talus_error *err)
{
    const tl_flex *p = &s->wet->problem;
    const size_t mark = tl_arena_mark(s->arena);
    double *dv = TL_TAKE(s->arena, double, tl_flex_size(p) + 1),
           *pushed = TL_TAKE(s->arena, double, tl_flex_size(p) + 1);
    if (!dv || !pushed) return tl_elastic_no_memory(err);
    memcpy(dv, s->flex_dv, sizeof *dv * (size_t)tl_flex_size(p));
    memcpy(pushed, tl_wet_load(s->wet), sizeof *pushed * (size_t)tl_flex_size(p));
    tl_flex_rigid_inverse(p, pushed);
    for (int64_t i = p->n; i < tl_flex_size(p); i++) dv[i] -= pushed[i];
    const tl_shown_flex shown = {p, s->flex_lam, dv};
    const double certificate = s->wet->solved.certificate.solids.residual;
    TL_TRY(tl_sim_show(s->sim, (tl_shown){TL_SHOWN_FLEX, &shown, NULL, certificate, s->slack}, err));
    tl_arena_release(s->arena, mark);
    return TALUS_OK;
}

/* (J^T lam + load - g) dv of rigid bodies and of what contacts and the liquid push. */
static void predict_decrease(tl_elastic_trial *s)
{
    const tl_flex *p = &s->flex;
    s->decrease = -tl_dot(p->n, s->flex_g, s->flex_dv);
    if (p->contacts > 0) {
        tl_csr_mul(p->J, s->flex_dv, s->flex_c);
        s->decrease += tl_dot(3 * (int64_t)p->contacts, s->flex_lam, s->flex_c);
    }
    if (s->wet) s->decrease += tl_dot(tl_flex_size(p), tl_wet_load(s->wet), s->flex_dv);
    if (!p->contacts && !s->wet) return;
    for (int64_t i = 0; i < s->sim->rigid.count; i++) {
        double *w = s->flex_dv + p->n + 6 * i;
        const tl_rigid_body *b = &s->sim->rigid.body[i];
        if (!(s->bodies->inv_mass[i] > 0)) continue;
        tl_vec3 turn = tl_vec3_load(w + 3);
        s->decrease -= b->mass * tl_vec3_norm2(tl_vec3_load(w)) +
                       tl_vec3_dot(turn, tl_rigid_angular_momentum(b, s->bodies->act[i].q, turn));
    }
}

/* The correction dv and the impulses that go with it; in a liquid with its pressure. */
static talus_status touch(tl_elastic_trial *s, bool fresh, double *v_rigid, talus_error *err)
{
    const tl_flex *p = &s->flex;
    const int32_t *place = s->fem->place;
    pose_correction(s, fresh);
    TL_TRY(s->wet ? tl_wet_solve(s->wet, fresh, err) : solve_bodies(s, fresh, err));
    if (s->wet && s->sim->look) TL_TRY(show_wet(s, err));
    for (int32_t k = 0; k < p->contacts; k++)
        memcpy(s->lam + 3 * (int64_t)s->pick[k], s->flex_lam + 3 * (int64_t)k, 3 * sizeof *s->lam);
    for (int32_t i = 0; i < s->lg->nodes; i++) {
        double *out = s->dv + 3 * (int64_t)i;
        if (place[i] < 0)
            memset(out, 0, 3 * sizeof *out);
        else
            memcpy(out, s->flex_dv + s->data->first[s->lg->owner[i]] + 3 * (int64_t)place[i], 3 * sizeof *out);
    }
    for (int64_t i = 0; i < 6 * (int64_t)s->sim->rigid.count; i++)
        v_rigid[i] = s->bodies->v_free[i] + s->flex_dv[p->n + i];
    predict_decrease(s);
    s->seconds[TL_ELASTIC_COMPLIANCE] += s->solved.prepare;
    s->seconds[TL_ELASTIC_TOUCH] -= s->solved.prepare;
    tl_elastic_lap(s, TL_ELASTIC_TOUCH);
    return TALUS_OK;
}

/* ---- search ---- */

/* sum + 1/2 |v - v*|_M^2 */
static double add_inertia(const tl_elastic_trial *s, const double *v, double sum)
{
    for (int b = 0; b < s->fem->bodies; b++) {
        const tl_fem_body *body = &s->fem->body[b];
        for (int32_t i = body->node; i < body->node + body->nodes; i++)
            for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3 && s->fem->place[i] >= 0; k++)
                sum += 0.5 * s->lg->mass[i] * (v[k] - tl_elastic_star(s, b, k)) * (v[k] - tl_elastic_star(s, b, k));
    }
    return sum + tl_elastic_riders_energy(s, v);
}

/* The exact penalty at velocities v and v_rigid. */
static double penalty(tl_elastic_trial *s, const double *v, const double *v_rigid, double energy, double nu)
{
    double sum = add_inertia(s, v, energy);
    if (s->load) sum -= tl_dot(3 * (int64_t)s->lg->nodes, s->load, v);
    if (s->follow) sum -= tl_dot(3 * (int64_t)s->lg->nodes, s->follow, v);
    if (s->load) sum -= tl_dot(6 * (int64_t)s->sim->rigid.count, s->load + 3 * (int64_t)s->lg->nodes, v_rigid);
    if (s->rows.blocks == 0 && !s->load) return sum;
    for (int32_t i = 0; i < s->sim->rigid.count; i++) {
        const tl_rigid_body *b = &s->sim->rigid.body[i];
        if (!(s->bodies->inv_mass[i] > 0)) continue;
        double d[6];
        for (int k = 0; k < 6; k++) d[k] = v_rigid[6 * (int64_t)i + k] - s->bodies->v_free[6 * (int64_t)i + k];
        tl_vec3 w = tl_vec3_load(d + 3);
        sum += 0.5 * b->mass * tl_vec3_norm2(tl_vec3_load(d)) +
               0.5 * tl_vec3_dot(w, tl_rigid_angular_momentum(b, s->bodies->act[i].q, w));
    }
    if (s->rows.blocks > 0) tl_fem_rows_velocity(&s->rows, v, v_rigid, s->u);
    for (int64_t c = 0; c < s->rows.contacts; c++) {
        sum -= s->lam[3 * c + 1] * s->u[3 * c + 1] + s->lam[3 * c + 2] * s->u[3 * c + 2];
        if (s->movable[c]) sum += nu * fmax(0, -s->u[3 * c]);
    }
    /* joints enter as friction does: as a load */
    for (int64_t k = 3 * (int64_t)s->rows.contacts; k < 3 * (int64_t)s->rows.blocks; k++) sum -= s->lam[k] * s->u[k];
    return sum;
}

/* The penalty `length` of the way along dv; trial velocities are left in s->trial and behind v_next. */
static double penalty_along(tl_elastic_trial *s, double length, double *v_next_rigid, double nu)
{
    const int64_t n = 3 * (int64_t)s->lg->nodes, r = 6 * (int64_t)s->sim->rigid.count;
    double *rigid = v_next_rigid + r;
    for (int64_t i = 0; i < n; i++) s->trial[i] = s->v[i] + length * s->dv[i];
    for (int64_t i = 0; i < r; i++) rigid[i] = s->v_rigid[i] + length * (v_next_rigid[i] - s->v_rigid[i]);
    tl_elastic_positions(s, s->trial, s->x_trial);
    double energy = tl_fem_forces(s->fem, s->x_trial, &s->rate, NULL, s->scratch) +
                    tl_elastic_springs(s, s->x_trial, s->spring, NULL);
    return penalty(s, s->trial, rigid, energy, nu);
}

/* Goes along dv as far as the penalty falls. Returns the share that it went. `slow`: corrections hardly shrink, as
 * where something buckles and the projected matrix is much stiffer than the body; then further than dv, doubling as
 * long as it pays. */
static double search(tl_elastic_trial *s, double *v_next_rigid, bool slow)
{
    const int64_t n = 3 * (int64_t)s->lg->nodes, r = 6 * (int64_t)s->sim->rigid.count;
    double nu = 0, length = 1, load = 0;
    for (int64_t c = 0; c < s->rows.contacts; c++) {
        nu = fmax(nu, PENALTY * s->lam[3 * c]);
        load += hypot(s->lam[3 * c + 1], s->lam[3 * c + 2]);
    }
    for (int64_t k = 3 * (int64_t)s->rows.contacts; k < 3 * (int64_t)s->rows.blocks; k++) load += fabs(s->lam[k]);
    double now = penalty(s, s->v, s->v_rigid, s->energy, nu), decrease = s->decrease;
    /* what rounding and the contact solve leave */
    double slack = SEARCH_SLACK * fabs(now) + s->data->noise + (nu * (double)s->rows.contacts + load) * s->slack;
    double at = penalty_along(s, length, v_next_rigid, nu);
    for (int k = 0; k < SEARCH_MAX && !(at <= now - SEARCH_SHARE * length * decrease + slack); k++) {
        length *= 0.5;
        at = penalty_along(s, length, v_next_rigid, nu);
        s->halvings++;
    }
    if (slow && length == 1) {
        for (int k = 0; k < SEARCH_MAX; k++) {
            double further = penalty_along(s, 2 * length, v_next_rigid, nu);
            if (!(further < at - s->data->noise)) break;
            length *= 2;
            at = further;
        }
        penalty_along(s, length, v_next_rigid, nu);
    }
    memcpy(s->v, s->trial, sizeof *s->v * (size_t)n);
    memcpy(s->v_rigid, v_next_rigid + r, sizeof *v_next_rigid * (size_t)r);
    tl_elastic_lap(s, TL_ELASTIC_SEARCH);
    return length;
}

/* Inertia and elastic energy at velocities v, J. */
static double energy_at(tl_elastic_trial *s, const double *v)
{
    tl_elastic_positions(s, v, s->x_trial);
    return add_inertia(s, v, 0) + tl_fem_forces(s->fem, s->x_trial, &s->rate, NULL, s->scratch) +
           tl_elastic_springs(s, s->x_trial, s->spring, NULL);
}

/* Velocities that lead a body where it would go if it were rigid, with the momenta of v*; those of v where nodes are
 * held. */
static void fly_rigid(const tl_elastic_trial *s, int b, double *v)
{
    const tl_fem_body *body = &s->fem->body[b];
    const double *from = s->now->q;
    tl_vec3 c = {0, 0, 0}, mean = {0, 0, 0}, L = {0, 0, 0};
    tl_mat3 I = tl_mat3_zero(), inverse;
    double mass = 0, he = s->he[b];
    if (body->unknown < body->nodes) return;
    for (int32_t i = body->node; i < body->node + body->nodes; i++) {
        int64_t k = 3 * (int64_t)i;
        tl_vec3 w = {tl_elastic_star(s, b, k), tl_elastic_star(s, b, k + 1), tl_elastic_star(s, b, k + 2)};
        mass += s->lg->mass[i];
        c = tl_vec3_add_scaled(c, s->lg->mass[i], tl_vec3_load(from + k));
        mean = tl_vec3_add_scaled(mean, s->lg->mass[i], w);
    }
    c = tl_vec3_scale(1 / mass, c);
    mean = tl_vec3_scale(1 / mass, mean);
    for (int32_t i = body->node; i < body->node + body->nodes; i++) {
        int64_t k = 3 * (int64_t)i;
        tl_vec3 r = tl_vec3_sub(tl_vec3_load(from + k), c),
                w = {tl_elastic_star(s, b, k), tl_elastic_star(s, b, k + 1), tl_elastic_star(s, b, k + 2)};
        L = tl_vec3_add_scaled(L, s->lg->mass[i], tl_vec3_cross(r, w));
        tl_mat3 square = tl_mat3_sub(tl_mat3_scale(tl_vec3_norm2(r), tl_mat3_identity()), tl_mat3_outer(r, r));
        I = tl_mat3_add_scaled(I, s->lg->mass[i], square);
    }
    if (!tl_mat3_inverse(I, &inverse)) return;
    tl_quat turn = tl_quat_exp(tl_vec3_scale(he, tl_mat3_mul_vec(inverse, L)));
    for (int32_t i = body->node; i < body->node + body->nodes; i++) {
        tl_vec3 r = tl_vec3_sub(tl_vec3_load(from + 3 * (int64_t)i), c), d = tl_vec3_sub(tl_quat_rotate(turn, r), r);
        tl_vec3_store(tl_vec3_add_scaled(mean, 1 / he, d), v + 3 * (int64_t)i);
    }
}

/* Newton starts from the velocities of the last step, from rest, or from the flight of a rigid body, whichever is
 * nearest to balance: what is badly deformed may fly apart with the first, and a stiff body that turns is stretched
 * by all but the last. */
static void choose_start(tl_elastic_trial *s)
{
    const size_t bytes = sizeof *s->v * 3 * (size_t)s->lg->nodes;
    double best = energy_at(s, s->v);
    memset(s->trial, 0, bytes);
    tl_elastic_lead_held(s, s->trial);
    double still = energy_at(s, s->trial);
    memcpy(s->dv, s->v, bytes);
    for (int b = 0; b < s->fem->bodies; b++) fly_rigid(s, b, s->dv);
    double flight = energy_at(s, s->dv);
    if (flight < best && flight <= still)
        memcpy(s->v, s->dv, bytes);
    else if (still < best)
        memcpy(s->v, s->trial, bytes);
}

static void start(tl_elastic_trial *s)
{
    for (int32_t k = 0; k < s->lg->anchors; k++) {
        bool middle = s->he[s->lg->owner[s->lg->anchor[k].vertex]] < s->h;
        s->spring[k] = middle ? tl_vec3_scale(0.5, tl_vec3_add(s->source[k], s->target[k])) : s->target[k];
    }
    if (s->iterations == 0) choose_start(s);
}

talus_status tl_elastic_first_correction(tl_elastic_trial *s, bool *again, talus_error *err)
{
    start(s);
    balance(s);
    s->projected = true;
    TL_TRY(factor(s, again, err));
    pose_correction(s, true);
    return TALUS_OK;
}

talus_status tl_elastic_newton(tl_elastic_trial *s, double goal, bool *again, talus_error *err)
{
    const int64_t n = 3 * (int64_t)s->lg->nodes;
    int cap = s->scene->fem.iterations > 0 ? s->scene->fem.iterations : ITERATIONS_MAX;
    double *rigid = TL_TAKE_ZERO(s->arena, double, 12 * (int64_t)s->sim->rigid.count + 1);
    if (!rigid) return tl_elastic_no_memory(err);
    start(s);
    if (!s->factored) s->projected = true;
    if (s->posed) s->last = INFINITY, s->left = 0;
    s->converged = false;
    for (int k = 0; k < cap && !s->converged; k++) {
        TL_TRY(tl_cancel_check(err));
        balance(s);
        bool fresh = !s->factored;
        if (fresh) TL_TRY(factor(s, again, err));
        s->slack = fmax(CONTACT_SHARE * goal, CONTACT_EARLY * fmin(s->last, EARLY_MAX * s->pull));
        TL_TRY(touch(s, fresh || s->posed, rigid, err));
        s->posed = false;
        double max = 0;
        for (int64_t i = 0; i < n; i++) max = fmax(max, fabs(s->dv[i]));
        for (int64_t i = 0; i < n; i++)
            if (!isfinite(s->dv[i])) max = INFINITY;
        if (!(max < INFINITY)) {
            for (int64_t i = 0; i < n; i++) s->trial[i] = s->v[i] + s->dv[i];
            return tl_bodies_check_nodes(s->lg, "search", s->x, s->trial, again, err);
        }
        bool told = max > CONTACT_LEFT * s->left, slow = told && max > CONTRACTION * s->last;
        double length = search(s, rigid, slow);
        s->iterations++;
        s->correction = max;
        s->converged = max <= goal && length == 1 && s->slack <= goal && s->contact <= goal;
        s->factored = length == 1 && !slow;
        /* true Hessians are for the end, where they make Newton quadratic; before, their steps may be wild */
        s->projected = s->indefinite || length != 1 || (told && max > s->last);
        s->last = max;
        s->left = s->contact;
    }
    return TALUS_OK;
}
