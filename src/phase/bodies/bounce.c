/* Restitution: bodies have landed, what remains are velocities.
 *
 * Bodies that touch form islands. In each that an impact has reached, two contact problems are solved where the bodies
 * have landed: one that only stops them (e = 0) and one in which points part at e times the speed of impact. The answer
 * lies on the line between both, where the island's energy is
 *     E = E_stopped + e^2 (E_before + work of forces and scripted bodies - E_stopped),
 * what the landing took times e^2: not more, whatever several contacts, friction and the levers of a step do together.
 * Impulses on that line stay in their cones and points on it do not approach, for both ends are such. Where all points
 * of an island bounce alike the line may be followed beyond its second end, at most twice as far; else it ends there.
 *
 * With impacts = "sequence" the second end is what single impacts lead to, the fastest approach first: Newton's
 * cradle. */
#include <math.h>
#include <string.h>

#include "model/rigid/motion.h"
#include "phase/bodies/bodies.h"

#define BEYOND 2.0
#define STRIKES 200 /* single impacts per point; a chain of n takes about n, a ball that rattles more */

static talus_status no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a bounce"); }

typedef struct island {
    double e;            /* largest restitution of its impacts; 0: none */
    bool alike;          /* all points that push bounce with e */
    double before;       /* energy of the start and work done on it since, J */
    double stopped;      /* with velocities that only stop, places of the end */
    double slope, curve; /* along the line: energy less work of scripted bodies = stopped + s slope + s^2 curve */
    double longest;      /* how far the line may be followed */
    double share;
} island;

typedef struct bounce {
    tl_bodies *s;
    int32_t *root;       /* [count] island of a free body */
    island *part;        /* [count] by root */
    double *e;           /* [contacts] restitution of points in impact, else 0 */
    double *speed;       /* [contacts] of their impacts, negative */
    double *gap;         /* [contacts] at the end */
    int32_t *from;       /* [points] numbers in s->contacts */
    double *v;           /* [6 count] landed */
    double *stop, *back; /* [3 points] impulses of the two problems */
    double *v_stop, *v_back;
    tl_rigid_problem p;
    int64_t points;
} bounce;

static bool is_free(const tl_bodies *s, int32_t i) { return s->rigid->body[i].kind == TL_BODY_FREE; }

static int32_t root_of(int32_t *root, int32_t i)
{
    for (; root[i] != i; i = root[i]) root[i] = root[root[i]];
    return i;
}

static bool touches(const bounce *b, int64_t k) { return b->s->lam[3 * k] > 0 || b->gap[k] <= 0; }
static int32_t island_of(const bounce *b, const tl_rigid_point *p)
{
    return root_of(b->root, is_free(b->s, p->a) ? p->a : p->b);
}

/* Islands of what touches, and which of them an impact has reached. */
static bool find_impacts(bounce *b, const double *v_before)
{
    tl_bodies *s = b->s;
    bool any = false;
    const double slow = tl_bodies_resting_speed(s);
    for (int32_t i = 0; i < s->rigid->count; i++) {
        b->root[i] = i;
        b->part[i] = (island){.alike = true};
    }
    for (int64_t k = 0; k < s->contacts.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        if (!touches(b, k) || !is_free(s, p->a) || !is_free(s, p->b)) continue;
        int32_t i = root_of(b->root, p->a), j = root_of(b->root, p->b);
        b->root[i < j ? j : i] = i < j ? i : j;
    }
    for (int64_t k = 0; k < s->contacts.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        b->e[k] = 0;
        if (p->half || !(p->restitution > 0 && s->lam[3 * k] > 0)) continue;
        b->speed[k] = tl_bodies_impact_speed(s, p, v_before);
        if (!(b->speed[k] < -slow)) continue;
        island *part = &b->part[island_of(b, p)];
        b->e[k] = p->restitution;
        part->e = fmax(part->e, b->e[k]);
        any = true;
    }
    for (int64_t k = 0; k < s->contacts.count; k++) {
        island *part = &b->part[island_of(b, &s->contacts.point[k])];
        if (s->lam[3 * k] > 0 && b->e[k] != part->e) part->alike = false;
    }
    return any;
}

/* Points of those islands, with the levers of where they are now. */
static talus_status assemble(bounce *b, talus_error *err)
{
    tl_bodies *s = b->s;
    int64_t n = s->rigid->count, m = s->contacts.count;
    tl_rigid_contacts landed = {.point = TL_TAKE(s->arena, tl_rigid_point, m)};
    double *inv_inertia = TL_TAKE_ZERO(s->arena, double, 9 * n);
    if (!landed.point || !inv_inertia) return no_memory(err);
    for (int32_t i = 0; i < n; i++) {
        tl_vec3_store(s->body[i].v, b->v + 6 * (int64_t)i);
        tl_vec3_store(s->body[i].w, b->v + 6 * (int64_t)i + 3);
        if (!is_free(s, i)) continue;
        tl_mat3 inverse = tl_rigid_inverse_inertia(&s->rigid->body[i], s->body[i].q);
        memcpy(inv_inertia + 9 * (int64_t)i, inverse.m, sizeof inverse.m);
    }
    for (int32_t k = 0; k < m; k++) {
        if (!touches(b, k) || !(b->part[island_of(b, &s->contacts.point[k])].e > 0)) continue;
        tl_rigid_point *p = &landed.point[landed.count];
        *p = s->contacts.point[k];
        tl_pose at_a = tl_rigid_pose(&s->rigid->body[p->a], &s->body[p->a]),
                at_b = tl_rigid_pose(&s->rigid->body[p->b], &s->body[p->b]);
        p->at = tl_vec3_scale(0.5, tl_vec3_add(tl_pose_apply(&at_a, p->at_a), tl_pose_apply(&at_b, p->at_b)));
        p->arm_a = tl_vec3_sub(p->at, s->body[p->a].x);
        p->arm_b = tl_vec3_sub(p->at, s->body[p->b].x);
        p->gap = p->bend = 0;
        b->from[landed.count++] = k;
    }
    b->points = landed.count;
    return tl_rigid_problem_build(&b->p, s->rigid, &landed, NULL, NULL, s->inv_mass, inv_inertia, b->v, s->dt, s->arena,
                                  err);
}

static talus_status solve(bounce *b, bool back, double *lam, double *v, tl_contact_report *solved, talus_error *err)
{
    tl_bodies *s = b->s;
    for (int64_t k = 0; k < b->points; k++)
        b->p.bias[3 * k] = back && b->e[b->from[k]] > 0 ? b->e[b->from[k]] * b->speed[b->from[k]] : 0;
    tl_contact_free_velocity(&b->p.bodies, b->p.bias, b->p.q);
    tl_stop stop = {.tolerance = s->tolerance, .max_iterations = s->data->iterations};
    tl_options options = tl_options_default();
    options.history = s->sim->history;
    options.aim = s->aim;
    options.slow = s->pull;
    TL_TRY(tl_contact_solve(s->data->method, &b->p.problem, &options, &stop, lam, s->arena, solved, err));
    const double certificate = solved->certificate.residual;
    TL_TRY(tl_sim_show(s->sim, (tl_shown){TL_SHOWN_CONTACT, &b->p.problem, lam, certificate, stop.tolerance}, err));
    tl_contact_velocities(&b->p.bodies, lam, v);
    return TALUS_OK;
}

/* ---- one after the other ---- */

/* A single impact of a point whose normal velocity is u[0]: it parts at e times that, friction stops the slip or
 * slides. */
static void strike(const tl_pair *c, double e, double *l, double *dv)
{
    double u[3], d[3];
    tl_pair_velocity(c, dv, u);
    d[0] = -(1 + e) * c->w_n * u[0];
    double t[2] = {-c->w_t * (u[1] + c->W[3] * d[0]), -c->w_t * (u[2] + c->W[6] * d[0])};
    tl_project_disc(c->mu * d[0], t);
    d[1] = t[0], d[2] = t[1];
    for (int k = 0; k < 3; k++) l[k] += d[k];
    tl_pair_push(c, d, dv);
}

/* The fastest approach first, until none is left, from the velocities without any contact. lam: what is added to the
 * impulses of the landing. Slow approaches do not bounce. Returns false when that takes too long: then they part
 * together. */
static talus_status strike_all(bounce *b, double *lam, bool *done, talus_error *err)
{
    tl_bodies *s = b->s;
    tl_pairs t;
    const double slow = tl_bodies_resting_speed(s);
    *done = false;
    for (int64_t k = 0; k < b->points; k++) b->p.bias[3 * k] = 0;
    tl_contact_free_velocity(&b->p.bodies, b->p.bias, b->p.q);
    TL_TRY(tl_arena_reserve(s->arena, tl_pairs_bytes(&b->p.problem) + tl_pairs_room(&b->p.problem), err));
    size_t mark = tl_arena_mark(s->arena);
    if (tl_pairs_build(&b->p.problem, &t, s->arena)) {
        double *dv = TL_TAKE(s->arena, double, tl_pairs_lanes(&t));
        for (int64_t k = 0; k < 3 * b->points; k++) lam[k] = -s->lam[3 * (int64_t)b->from[k / 3] + k % 3];
        tl_pairs_push(&t, lam, dv);
        for (int64_t blow = 0; blow < STRIKES * b->points && !*done; blow++) {
            int32_t next = -1;
            double fastest = -s->tolerance;
            for (int32_t c = 0; c < t.contacts; c++) {
                double u[3];
                tl_pair_velocity(&t.pair[c], dv, u);
                if (u[0] < fastest) fastest = u[0], next = c;
            }
            *done = next < 0;
            if (!*done)
                strike(&t.pair[next], fastest < -slow ? s->contacts.point[b->from[next]].restitution : 0,
                       lam + 3 * (int64_t)next, dv);
        }
    }
    tl_arena_release(s->arena, mark);
    return TALUS_OK;
}

/* ---- energy ---- */

/* u . M v of one body, with the inertia of its pose q. */
static double product(const tl_rigid_body *body, tl_quat q, const double *u, const double *v)
{
    return body->mass * tl_vec3_dot(tl_vec3_load(u), tl_vec3_load(v)) +
           tl_vec3_dot(tl_vec3_load(u + 3), tl_rigid_angular_momentum(body, q, tl_vec3_load(v + 3)));
}

/* Work of scripted bodies through impulses l of a point. */
static double scripted_work(const tl_bodies *s, const tl_rigid_point *p, const double *l)
{
    if (is_free(s, p->a) == is_free(s, p->b)) return 0;
    int32_t i = is_free(s, p->a) ? p->b : p->a;
    if (s->rigid->body[i].kind != TL_BODY_KINEMATIC) return 0;
    const double *v = s->v_free + 6 * (int64_t)i;
    tl_vec3 at = tl_vec3_cross(tl_vec3_load(v + 3), tl_vec3_sub(p->at, s->before[i].x));
    tl_vec3 push = tl_rigid_point_force(p, l, i == p->b ? 1 : -1);
    return tl_vec3_dot(push, tl_vec3_add(tl_vec3_load(v), at));
}

/* What an island had, and what was done to its bodies on their way. */
static void add_bodies(bounce *b, const double *v_before)
{
    const tl_bodies *s = b->s;
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        const tl_rigid_body *body = &s->rigid->body[i];
        island *part = &b->part[root_of(b->root, i)];
        if (!is_free(s, i) || !(part->e > 0)) continue;
        const double *was = v_before + 6 * (int64_t)i, *fell = s->v_free + 6 * (int64_t)i,
                     *stop = b->v_stop + 6 * (int64_t)i, *back = b->v_back + 6 * (int64_t)i;
        tl_vec3 moved = tl_vec3_sub(s->body[i].x, s->before[i].x);
        double d[6], turned[6] = {0}, torque[6] = {0};
        for (int k = 0; k < 6; k++) d[k] = back[k] - stop[k];
        for (int k = 3; k < 6; k++) torque[k] = fell[k] - was[k], turned[k] = b->v[6 * (int64_t)i + k];
        /* gravity and forces, whose impulses are the change of velocities without contacts */
        double work = body->mass / s->dt * tl_vec3_dot(moved, tl_vec3_sub(tl_vec3_load(fell), tl_vec3_load(was)));
        part->before +=
            0.5 * product(body, s->before[i].q, was, was) + work + product(body, s->before[i].q, torque, turned);
        part->stopped += 0.5 * product(body, s->body[i].q, stop, stop);
        part->slope += product(body, s->body[i].q, stop, d);
        part->curve += 0.5 * product(body, s->body[i].q, d, d);
    }
}

/* Work of scripted bodies, and how far cones let the line go on. */
static void add_points(bounce *b)
{
    const tl_bodies *s = b->s;
    for (int64_t k = 0; k < b->points; k++) {
        const tl_rigid_point *p = &s->contacts.point[b->from[k]];
        island *part = &b->part[island_of(b, p)];
        const double *stop = b->stop + 3 * k, *back = b->back + 3 * k, *landed = s->lam + 3 * (int64_t)b->from[k];
        double d[3], far[3];
        for (int i = 0; i < 3; i++) d[i] = back[i] - stop[i], far[i] = stop[i] + BEYOND * d[i];
        part->before += scripted_work(s, p, landed) + scripted_work(s, p, stop);
        part->slope -= scripted_work(s, p, d);
        bool inside = far[0] >= 0 && hypot(far[1], far[2]) <= p->friction * far[0] * (1 + 1e-12);
        part->longest = part->alike && inside && part->longest > 1 ? BEYOND : 1;
    }
}

/* Largest s with stopped + s slope + s^2 curve at the goal, within [0, longest]. */
static void choose(island *p)
{
    double room = p->e * p->e * fmax(0, p->before - p->stopped);
    p->share = 0;
    if (p->curve > 0) {
        double half = 0.5 * p->slope / p->curve, root = half * half + room / p->curve;
        p->share = fmin(fmax(0, -half + sqrt(fmax(0, root))), p->longest);
    }
}

talus_status tl_bodies_bounce(tl_bodies *s, tl_contact_report *solved, bool *any, talus_error *err)
{
    const int64_t m = s->contacts.count, n = s->rigid->count;
    *any = false;
    for (int64_t k = 0; k < m && !*any; k++) *any = s->contacts.point[k].restitution > 0 && s->lam[3 * k] > 0;
    if (!*any) return TALUS_OK;
    tl_arena *a = s->arena;
    bounce b = {.s = s,
                .root = TL_TAKE(a, int32_t, n),
                .part = TL_TAKE(a, island, n),
                .e = TL_TAKE(a, double, m),
                .speed = TL_TAKE(a, double, m),
                .gap = TL_TAKE(a, double, m),
                .from = TL_TAKE(a, int32_t, m),
                .v = TL_TAKE(a, double, 6 * n)};
    double *v_before = TL_TAKE_ZERO(a, double, 6 * n);
    b.stop = TL_TAKE_ZERO(a, double, 3 * m);
    b.back = TL_TAKE_ZERO(a, double, 3 * m);
    b.v_stop = TL_TAKE(a, double, 6 * n);
    b.v_back = TL_TAKE(a, double, 6 * n);
    if (!b.root || !b.part || !b.e || !b.speed || !b.gap || !b.from || !b.v || !v_before || !b.stop || !b.back ||
        !b.v_stop || !b.v_back)
        return no_memory(err);
    for (int32_t i = 0; i < n; i++) {
        const tl_motion *from = s->rigid->body[i].kind == TL_BODY_KINEMATIC ? &s->body[i] : &s->before[i];
        tl_vec3_store(from->v, v_before + 6 * (int64_t)i);
        tl_vec3_store(from->w, v_before + 6 * (int64_t)i + 3);
    }
    tl_bodies_end_gaps(s, b.gap);
    *any = find_impacts(&b, v_before);
    if (!*any) return TALUS_OK;

    TL_TRY(assemble(&b, err));
    tl_contact_report first;
    TL_TRY(solve(&b, false, b.stop, b.v_stop, &first, err));
    bool in_turn = s->scene->solver.contact.impacts == TL_IMPACTS_SEQUENCE;
    if (in_turn) TL_TRY(strike_all(&b, b.back, &in_turn, err));
    if (in_turn) {
        tl_contact_velocities(&b.p.bodies, b.back, b.v_back);
        *solved = first;
    } else {
        memcpy(b.back, b.stop, 3 * sizeof *b.back * (size_t)m);
        TL_TRY(solve(&b, true, b.back, b.v_back, solved, err));
    }
    if (first.certificate.residual > solved->certificate.residual) solved->certificate = first.certificate;
    if (solved->outcome.result == TL_CONVERGED) solved->outcome.result = first.outcome.result;

    for (int32_t i = 0; i < n; i++) b.part[i].longest = BEYOND;
    add_bodies(&b, v_before);
    add_points(&b);
    for (int32_t i = 0; i < n && in_turn; i++) b.part[i].longest = 1;
    for (int32_t i = 0; i < n; i++) choose(&b.part[i]);
    for (int64_t k = 0; k < 3 * b.points; k++) {
        int64_t to = 3 * (int64_t)b.from[k / 3] + k % 3;
        s->lam[to] +=
            b.stop[k] + b.part[island_of(&b, &s->contacts.point[b.from[k / 3]])].share * (b.back[k] - b.stop[k]);
    }
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        const island *part = &b.part[root_of(b.root, i)];
        if (!is_free(s, i) || !(part->e > 0)) continue;
        double *v = s->v + 6 * (int64_t)i;
        for (int k = 0; k < 6; k++)
            v[k] = b.v_stop[6 * (int64_t)i + k] +
                   part->share * (b.v_back[6 * (int64_t)i + k] - b.v_stop[6 * (int64_t)i + k]);
        s->body[i].v = tl_vec3_load(v);
        s->body[i].w = tl_vec3_load(v + 3);
    }
    tl_bodies_lap(s, TL_BODIES_BOUNCE);
    return TALUS_OK;
}
