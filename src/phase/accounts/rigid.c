/* What rigid bodies, their contacts and joints bring to the accounts of a step. */
#include <math.h>
#include <string.h>

#include "model/rigid/motion.h"
#include "phase/accounts/accounts.h"

static const tl_vec3 nothing = {0, 0, 0};

static double kinetic(const tl_bodies *b, const double *v)
{
    double sum = 0;
    for (int32_t i = 0; i < b->rigid->scene_count; i++) {
        const tl_rigid_body *body = &b->rigid->body[i];
        if (body->kind != TL_BODY_FREE || body->elastic) continue;
        tl_vec3 u = tl_vec3_load(v + 6 * (int64_t)i), w = tl_vec3_load(v + 6 * (int64_t)i + 3);
        sum += 0.5 * (body->mass * tl_vec3_norm2(u) + tl_vec3_dot(w, tl_rigid_angular_momentum(body, b->act[i].q, w)));
    }
    return sum;
}

static bool is_half(const tl_bodies *b, int32_t i) { return b->half.any && b->half.on[i]; }

/* Velocities before, with gravity and forces: their impulses, and the work of both. Gravity's work on velocities is
 * returned. Impulses that act half-way, together with those of contacts, work with the mean of before and after all;
 * `half`: what they did. */
static double account_forces(tl_bodies *b, double *half)
{
    tl_vec3 impulse = nothing, angular = nothing;
    double work = 0, gravity = 0;
    *half = 0;
    for (int32_t i = 0; i < b->rigid->scene_count; i++) {
        const tl_rigid_body *body = &b->rigid->body[i];
        const tl_motion *m = &b->act[i];
        if (body->kind != TL_BODY_FREE || body->elastic) continue;
        const double *v = (b->v_asked ? b->v_asked : b->v_free) + 6 * (int64_t)i,
                     *last = is_half(b, i) ? b->v + 6 * (int64_t)i : v;
        tl_vec3 fall = tl_vec3_scale(b->dt, b->scene->gravity),
                mean = tl_vec3_scale(0.5, tl_vec3_add(m->v, tl_vec3_load(last)));
        tl_vec3 p = tl_vec3_scale(body->mass, tl_vec3_sub(tl_vec3_sub(tl_vec3_load(v), m->v), fall));
        if (b->resting && b->resting[i]) { /* what it stands on carries its weight */
            tl_accounts_fixed(b->sim, p, tl_vec3_cross(m->x, p));
            continue;
        }
        tl_vec3 dw = tl_vec3_sub(tl_vec3_load(v + 3), m->w), L = tl_rigid_angular_momentum(body, m->q, dw);
        impulse = tl_vec3_add(impulse, p);
        angular = tl_vec3_add(angular, tl_vec3_add(L, tl_vec3_cross(m->x, p)));
        /* gravity's is that of the start, unless it acts half-way */
        angular = tl_vec3_add_scaled(angular, body->mass, tl_vec3_cross(tl_vec3_sub(m->x, b->before[i].x), fall));
        if (tl_bodies_flies(b, i)) /* on a parabola all acts half-way */
            angular = tl_vec3_add_scaled(angular, 0.5 * b->dt * body->mass,
                                         tl_vec3_cross(m->v, tl_vec3_sub(tl_vec3_load(v), m->v)));
        double fell = body->mass * tl_vec3_dot(fall, mean),
               did = tl_vec3_dot(p, mean) + 0.5 * tl_vec3_dot(L, tl_vec3_add(m->w, tl_vec3_load(last + 3)));
        gravity += fell;
        work += did;
        if (is_half(b, i)) *half += fell + did;
    }
    tl_accounts_forces(b->sim, impulse, angular);
    tl_accounts_energy(b->sim, TL_ENERGY_FORCES, work);
    return gravity;
}

static bool is_free(const tl_bodies *b, int32_t i)
{
    if (i >= b->rigid->count) return true; /* a frame: nodes have what is done to it */
    return b->rigid->body[i].kind == TL_BODY_FREE && !b->rigid->body[i].elastic;
}

/* What walls, static and scripted bodies did through impulses lam of contacts: impulse, and work of scripted ones. */
static double account_fixed(const tl_bodies *b, const tl_rigid_contacts *contacts, const double *lam)
{
    double work = 0;
    tl_vec3 impulse = nothing, angular = nothing;
    for (int32_t k = 0; k < contacts->count; k++) {
        const tl_rigid_point *c = &contacts->point[k];
        bool a = is_free(b, c->a), other = is_free(b, c->b);
        if (a == other) continue;
        int32_t fixed = a ? c->b : c->a;
        tl_vec3 p = tl_vec3_scale(a ? b->dt : -b->dt, tl_rigid_point_force(c, lam + 3 * (int64_t)k, b->dt));
        impulse = tl_vec3_add(impulse, p);
        angular = tl_vec3_add(angular, tl_vec3_cross(c->at, p));
        if (b->rigid->body[fixed].kind == TL_BODY_KINEMATIC) {
            const double *v = b->v_free + 6 * (int64_t)fixed;
            tl_vec3 arm = a ? c->arm_b : c->arm_a;
            work += tl_vec3_dot(p, tl_vec3_add(tl_vec3_load(v), tl_vec3_cross(tl_vec3_load(v + 3), arm)));
        }
    }
    tl_accounts_fixed(b->sim, impulse, angular);
    return work;
}

double tl_accounts_resist(const tl_bodies *b, double *scripted)
{
    const tl_csr *J = &b->p.J;
    const double *v_before = b->half.any ? b->half.early : b->v_free;
    double lost = 0, work = 0;
    tl_vec3 angular = nothing;
    for (int32_t k = 0; k < b->resist.count; k++) {
        const tl_rigid_point *c = &b->contacts.point[b->resist.point[k]];
        const double *lam = b->resist_lam + 3 * (int64_t)k;
        for (int i = 1; i < 3; i++) {
            int64_t row = 3 * ((int64_t)b->contacts.count + k) + i;
            for (int64_t e = J->start[row]; e < J->start[row + 1]; e++)
                lost += 0.5 * lam[i] * J->val[e] * (v_before[J->col[e]] + b->v[J->col[e]]);
        }
        bool a = is_free(b, c->a);
        if (a == is_free(b, c->b)) continue;
        int32_t fixed = a ? c->b : c->a;
        tl_vec3 turn = tl_vec3_scale(a ? 1 : -1, tl_rigid_resist_torque(&b->resist, &b->contacts, k, lam));
        angular = tl_vec3_add(angular, turn);
        work += tl_vec3_dot(turn, tl_vec3_load(b->v_free + 6 * (int64_t)fixed + 3));
    }
    tl_accounts_fixed(b->sim, nothing, angular);
    *scripted += work;
    return lost;
}

/* Of relative velocities, mean of before and after: with what scripted bodies did, all that contacts change. */
static double account_losses(const tl_bodies *b)
{
    double normal = 0, tangent = 0;
    const tl_csr *J = &b->p.J;
    const double *v_before = b->half.any ? b->half.early : b->v_free;
    for (int64_t row = 0; row < 3 * (int64_t)b->contacts.count; row++) {
        if (b->lam[row] == 0) continue;
        double u = 0;
        for (int64_t k = J->start[row]; k < J->start[row + 1]; k++)
            u += J->val[k] * (v_before[J->col[k]] + b->v[J->col[k]]);
        *(row % 3 ? &tangent : &normal) += 0.5 * u * b->lam[row];
    }
    tl_accounts_energy(b->sim, TL_ENERGY_FRICTION, tangent);
    tl_accounts_energy(b->sim, TL_ENERGY_CONTACT, normal);
    return tangent + normal;
}

double tl_accounts_row(const tl_bodies *b, const tl_joint_blocks *j, int64_t at, double lam, const tl_motion *x,
                       const double *v, tl_vec3 *impulse, tl_vec3 *angular)
{
    const tl_joint_row *row = &j->row[at];
    double work = 0;
    for (int side = 0; side < 2; side++) {
        const int32_t i = j->body[at / 3][side];
        if (i < 0) continue;
        const tl_vec3 push = tl_vec3_scale(lam, side ? row->push_b : row->push_a),
                      turn = tl_vec3_scale(lam, side ? row->turn_b : row->turn_a);
        if (is_free(b, i)) {
            *impulse = tl_vec3_add(*impulse, push);
            *angular = tl_vec3_add(*angular, tl_vec3_add(turn, tl_vec3_cross(x[i].x, push)));
        } else
            work += tl_vec3_dot(push, tl_vec3_load(v + 6 * (int64_t)i)) +
                    tl_vec3_dot(turn, tl_vec3_load(v + 6 * (int64_t)i + 3));
    }
    return work;
}

/* What joints did where impulses act. Returns all of it but what scripted bodies did, which is added to `scripted`.
 * Alone with contacts, they work with the mean of before and after. In one solve with what flows, motors, friction,
 * limits and springs do so with the velocities of the end. What holds then does no work: bodies end up where it holds
 * them, and what the step's other forces pull and it does not let happen is between those, and the solve's. Among
 * elastic bodies, whose work is known by itself, it has what its straight rows do, of the step's first order. */
static double account_joints(tl_bodies *b, double *scripted)
{
    static const tl_energy source[] = {[TL_ROW_HOLD] = TL_ENERGY_TIME_STEP,
                                       [TL_ROW_LIMIT] = TL_ENERGY_CONTACT,
                                       [TL_ROW_DRY] = TL_ENERGY_FRICTION,
                                       [TL_ROW_MOTOR] = TL_ENERGY_FORCES,
                                       [TL_ROW_SPRING] = TL_ENERGY_TIME_STEP};
    tl_vec3 impulse = nothing, angular = nothing;
    double all = 0, damped = 0;
    b->account.held = 0;
    for (int32_t k = 0; k < b->sim->joints.count; k++) {
        const tl_joint *j = &b->sim->joints.joint[k];
        const bool flows = b->flows && !is_half(b, is_free(b, j->a) ? j->a : j->b);
        const double *v = flows ? b->v : b->half.any ? b->half.early : b->v_free;
        for (int r = 0; r < j->rows && b->joint.first[k] < b->joint.first[k + 1]; r++) {
            const int64_t at = 3 * (int64_t)b->joint.first[k] + r;
            const double lam = b->joint.lam[at];
            const tl_joint_row *row = &b->joint.blocks.row[at];
            double work = 0.5 * lam * (tl_joint_row_speed(j, row, v) + tl_joint_row_speed(j, row, b->v));
            if (flows && tl_bodies_joint_holds(b, k, r) && !b->sim->lg.nodes) work = 0;
            *scripted -= tl_accounts_row(b, &b->joint.blocks, at, lam, b->act, b->v_free, &impulse, &angular);
            const tl_energy from =
                tl_bodies_joint_holds(b, k, r) ? TL_ENERGY_TIME_STEP : source[j->law[r]]; /* a rope that is taut */
            /* where velocities are chords, what drives does so with that of the end, and a limit gives nothing: the
             * rest is how straight rows bend */
            const double end = lam * tl_joint_row_speed(j, row, b->v), own = !b->straight || from == TL_ENERGY_TIME_STEP
                                                                                 ? work
                                                                             : from == TL_ENERGY_CONTACT ? fmin(0, work)
                                                                                                         : end;
            tl_accounts_energy(b->sim, from, own);
            tl_accounts_energy(b->sim, TL_ENERGY_TIME_STEP, work - own);
            all += work;
            if (from == TL_ENERGY_TIME_STEP && !flows) b->account.held += work;
        }
        if (b->joint.first[k] < b->joint.first[k + 1]) damped += tl_bodies_joint_damped(b, k);
    }
    tl_accounts_energy(b->sim, TL_ENERGY_VISCOSITY, -damped);
    tl_accounts_energy(b->sim, TL_ENERGY_TIME_STEP, damped);
    b->account.held += damped;
    tl_accounts_fixed(b->sim, impulse, angular);
    return all;
}

/* A bounce gives back of all that the landing took, the error of rows that held in it included. */
static void return_landing(tl_accounts *a)
{
    double *step = &a->energy[TL_ENERGY_TIME_STEP], *contact = &a->energy[TL_ENERGY_CONTACT];
    if (!(*contact > 0 && *step < 0)) return;
    const double both = fmin(*contact, -*step);
    *contact -= both;
    *step += both;
}

/* What springs had that broke in this step is gone with them, as in an impact. */
void tl_accounts_broken(tl_bodies *b)
{
    if (!b->joint.now) return;
    const tl_joint_state *state = tl_state_find(&b->sim->state, &tl_joints_kind);
    double lost = 0;
    for (int32_t k = 0; k < b->sim->joints.count; k++)
        if (b->joint.now[k].broken > 0 && !(state->joint[k].broken > 0))
            lost += tl_joint_energy(&b->sim->joints.joint[k], b->body, &b->joint.now[k]);
    b->sim->came.elastic -= lost;
    tl_accounts_energy(b->sim, TL_ENERGY_CONTACT, -lost);
}

void tl_accounts_fit(tl_bodies *b)
{
    if (!b->joint.late) return;
    tl_vec3 impulse = nothing, angular = nothing;
    double scripted = 0;
    for (int64_t at = 0; at < 3 * (int64_t)b->joint.end.count; at++)
        scripted -= tl_accounts_row(b, &b->joint.end, at, b->joint.late[at], b->body, b->v_free, &impulse, &angular);
    tl_accounts_fixed(b->sim, impulse, angular);
    tl_totals after = {0};
    tl_totals_add_bodies(&after, b->sim, b->body);
    tl_accounts_energy(b->sim, TL_ENERGY_SCRIPTED, scripted);
    tl_accounts_energy(b->sim, TL_ENERGY_CONTACT, b->joint.late_limits);
    tl_accounts_energy(b->sim, TL_ENERGY_FORCES, b->joint.late_motors);
    const double gave = after.kinetic - b->account.kinetic - scripted - b->joint.late_limits - b->joint.late_motors;
    tl_accounts_energy(b->sim, TL_ENERGY_TIME_STEP, gave);
    if (b->joint.impact.count) return_landing(&b->sim->accounts);
    b->sim->accounts.held = b->account.held + gave;
    if (!b->flows) { /* nothing else comes to the step's accounts */
        tl_accounts_settle(&b->sim->accounts, TL_ENERGY_TIME_STEP);
        (void)tl_accounts_judge_held(&b->sim->accounts);
    }
    tl_accounts_broken(b);
}

/* Approaches that were stopped at the start of the step. */
static void account_stopped(tl_bodies *b)
{
    tl_totals before = {0}, after = {0};
    tl_vec3 impulse = nothing, angular = nothing;
    double work = account_fixed(b, &b->half.stopped, b->half.lam);
    const double *lam = b->half.lam + 3 * (int64_t)b->half.stopped.count;
    for (int64_t at = 0; at < 3 * (int64_t)b->joint.stop.count; at++)
        work -= tl_accounts_row(b, &b->joint.stop, at, lam[at], b->before, b->v_free, &impulse, &angular);
    tl_accounts_fixed(b->sim, impulse, angular);
    tl_totals_add_bodies(&before, b->sim, b->before);
    tl_totals_add_bodies(&after, b->sim, b->act); /* half-way: as fast as at the start */
    tl_accounts_energy(b->sim, TL_ENERGY_SCRIPTED, work);
    tl_accounts_energy(b->sim, TL_ENERGY_CONTACT, after.kinetic - before.kinetic - work);
}

void tl_accounts_bodies(tl_bodies *b)
{
    tl_totals before = {0}, after = {0};
    if (b->half.stops) account_stopped(b);
    double half, gravity = account_forces(b, &half);
    double lost = account_losses(b);
    double scripted = account_fixed(b, &b->contacts, b->lam);
    double joined = 0, resisted = b->resist.count ? tl_accounts_resist(b, &scripted) : 0;
    tl_accounts_energy(b->sim, TL_ENERGY_SCRIPTED, scripted);
    tl_accounts_energy(b->sim, TL_ENERGY_FRICTION, resisted);
    lost += resisted;
    if (b->joint.now) lost += account_joints(b, &joined);
    scripted += joined;
    tl_accounts_energy(b->sim, TL_ENERGY_SCRIPTED, joined);
    b->account.others = kinetic(b, b->v) - kinetic(b, b->half.any ? b->half.early : b->v_free) - half - lost - scripted;
    tl_totals_add_bodies(&before, b->sim, b->before);
    tl_totals_add_bodies(&after, b->sim, b->body);
    /* velocities fell by one rule, places by another; and flight turns bodies */
    const double strained = after.elastic - before.elastic; /* what springs took up */
    tl_accounts_energy(b->sim, TL_ENERGY_TIME_STEP,
                       gravity + after.potential - before.potential + after.kinetic - kinetic(b, b->v) + strained);
    b->account.held += strained;
    b->account.potential = after.potential + after.elastic;
    b->account.kinetic = after.kinetic;
    tl_accounts_energy(b->sim, TL_ENERGY_CORRECTIONS, 0);
}

/* What joints did to frames of elastic bodies. */
static double frames_work(const tl_bodies *b)
{
    double sum = 0;
    for (int64_t at = 0; at < 3 * (int64_t)b->joint.blocks.count; at++)
        for (int side = 0; side < 2; side++) {
            const int32_t i = b->joint.blocks.body[at / 3][side];
            const tl_joint_row *row = &b->joint.blocks.row[at];
            if (i < b->rigid->count) continue;
            const double *v = b->v + 6 * (int64_t)i;
            sum += b->joint.lam[at] * (tl_vec3_dot(side ? row->push_b : row->push_a, tl_vec3_load(v)) +
                                       tl_vec3_dot(side ? row->turn_b : row->turn_a, tl_vec3_load(v + 3)));
        }
    return sum;
}

double tl_accounts_rigid_in_lg(tl_bodies *b, double *scripted, double *frames)
{
    tl_totals before = {0}, after = {0};
    if (b->half.stops) account_stopped(b);
    double half, gravity = account_forces(b, &half), joined = 0, led = 0;
    *scripted += account_fixed(b, &b->contacts, b->lam);
    if (b->joint.now) joined = account_joints(b, &led);
    tl_accounts_energy(b->sim, TL_ENERGY_SCRIPTED, led);
    tl_totals_add_bodies(&before, b->sim, b->before);
    tl_totals_add_bodies(&after, b->sim, b->body);
    const double strained = after.elastic - before.elastic;
    b->account.held += strained;
    tl_accounts_energy(b->sim, TL_ENERGY_TIME_STEP,
                       gravity + after.potential - before.potential + after.kinetic - kinetic(b, b->v) + strained);
    *frames = b->joint.now ? frames_work(b) : 0;
    return kinetic(b, b->v) - kinetic(b, b->half.any ? b->half.early : b->v_free) - half - joined - led + *frames;
}

void tl_accounts_push(tl_bodies *b)
{
    tl_totals after = {0};
    tl_totals_add_bodies(&after, b->sim, b->body);
    tl_accounts_energy(b->sim, TL_ENERGY_CORRECTIONS,
                       after.potential + after.elastic - b->account.potential + after.kinetic - b->account.kinetic);
    b->account.potential = after.potential + after.elastic;
    b->account.kinetic = after.kinetic;
}

void tl_accounts_before_bounce(tl_bodies *b)
{
    tl_totals now = {0};
    tl_totals_add_bodies(&now, b->sim, b->body);
    b->account.kinetic = now.kinetic;
}

void tl_accounts_bounce(tl_bodies *b)
{
    tl_totals after = {0};
    double work = b->contacts.count ? account_fixed(b, &b->bounce.points, b->bounce.lam) : 0;
    tl_vec3 impulse = nothing, angular = nothing;
    for (int64_t at = 0; at < 3 * (int64_t)b->joint.impact.count; at++)
        work -=
            tl_accounts_row(b, &b->joint.impact, at, b->joint.impact_lam[at], b->body, b->v_free, &impulse, &angular);
    if (b->joint.impact.count) tl_accounts_fixed(b->sim, impulse, angular);
    tl_totals_add_bodies(&after, b->sim, b->body);
    const double motors = b->joint.impact_motors;
    tl_accounts_energy(b->sim, TL_ENERGY_SCRIPTED, work);
    if (motors != 0) tl_accounts_energy(b->sim, TL_ENERGY_FORCES, motors);
    tl_accounts_energy(b->sim, TL_ENERGY_CONTACT, after.kinetic - b->account.kinetic - work - motors);
    b->account.kinetic = after.kinetic;
}
