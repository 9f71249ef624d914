/* Joints at the end of a step: places, velocities that fit them, impacts, what is told and kept (joints.c). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "model/rigid/motion.h"
#include "phase/accounts/accounts.h"
#include "phase/bodies/joint_rows.h"

#define PLACE 1e-10 /* of a joint's length (gyration of its lighter body): what places may be off by, */
#define ROUNDS 8    /* and so many tries; each gains about the angle that bodies turn by, */
#define GAINS 0.5   /* at least this: else contacts are in the way, and the best try so far is the answer */
#define AIM 1e-3    /* of the least tolerance: what velocities at the end may be off by */

static talus_status no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for joints"); }

/* ---- places ---- */

/* What a row says of x at the end, and what x is there; returns what counts as off. Where velocities are chords, what
 * the solve left of the row is told as its residual, and not here. */
static double place_row(tl_bodies *s, int32_t k, int r, double x)
{
    const tl_joint *j = tl_bodies_joint_at(s, k);
    const int64_t at = 3 * (int64_t)s->joint.first[k] + r;
    const tl_joint_row *row = &s->joint.blocks.row[at];
    const tl_contact_box *box = &s->joint.blocks.box[at / 3];
    const double lam = s->joint.lam[at], u = tl_joint_row_speed(j, row, s->v);
    const double moves = tl_bodies_joint_is_half(s, j) ? 0.5 * (s->joint.speed[at] + u) : u;
    double *start = &s->joint.start[TL_JOINT_ROWS * (int64_t)k + r], says = *start + s->dt * moves;
    if (tl_joint_leads(j, r)) {
        const bool strained = !(lam > box->lo[at % 3] && lam < box->hi[at % 3]);
        *start += x - says;
        return strained ? 0 : fabs(x - (s->straight ? says : s->joint.ask[k].value * j->unit));
    }
    if (j->law[r] == TL_ROW_HOLD && !s->joint.mean[TL_JOINT_ROWS * (int64_t)k + r]) {
        *start += x - says;
        return fabs(x - says);
    }
    if (j->law[r] != TL_ROW_LIMIT) return 0;
    *start += x - says;
    return lam > 0 ? fabs(x - (s->straight ? says : 0)) : fmax(0, -x);
}

/* One more round, or the best one again where this is no better. */
static bool go_on(tl_bodies *s, int round, bool right)
{
    const size_t size = sizeof *s->joint.start * TL_JOINT_ROWS * (size_t)s->sim->joints.count;
    const bool better = round == 0 || s->joint.off < GAINS * s->joint.best_off;
    if (round == 0) s->joint.last = false;
    if (right || s->joint.last) return false;
    if (better) {
        s->joint.best_off = s->joint.off;
        memcpy(s->joint.best, s->joint.used, size);
        return round + 1 < ROUNDS;
    }
    memcpy(s->joint.start, s->joint.best, size);
    s->joint.last = true;
    return true;
}

bool tl_bodies_joints_look(tl_bodies *s)
{
    const int32_t n = s->joint.now ? s->sim->joints.count : 0;
    bool right = true;
    s->joint.off = s->joint.missed = 0;
    for (int32_t k = 0; k < n; k++) {
        const tl_joint *j = tl_bodies_joint_at(s, k);
        tl_joint_row row[TL_JOINT_ROWS];
        double turn[2], off = 0;
        if (s->joint.now[k].broken > 0) continue;
        tl_joint_measure(j, s->body, &s->joint.now[k], row, turn);
        for (int r = 0; r < j->rows; r++) off = fmax(off, place_row(s, k, r, row[r].x));
        s->joint.off = fmax(s->joint.off, off);
        if (!(off <= PLACE * j->length)) right = false, s->joint.missed = fmax(s->joint.missed, off / s->dt);
    }
    return right;
}

void tl_bodies_joints_place(tl_bodies *s, int round, bool *again)
{
    const int32_t n = s->joint.now ? s->sim->joints.count : 0;
    *again = false;
    s->joint.off = s->joint.missed = 0;
    if (!n) return;
    memcpy(s->joint.used, s->joint.start, sizeof *s->joint.start * TL_JOINT_ROWS * (size_t)n);
    const bool right = tl_bodies_joints_look(s);
    *again = go_on(s, round, right);
}

/* ---- places, where something flows ---- */

/* The problem of joints alone, velocities without them as in `base`. */
static talus_status solve_alone(tl_bodies *s, const double *base, talus_error *err)
{
    tl_rigid_contacts none = {0};
    tl_rigid_problem p;
    TL_TRY(tl_bodies_joints_assemble(s, err));
    const tl_contact_bodies bodies = {s->rigid->count, s->inv_mass, s->inv_inertia, NULL, base};
    TL_TRY(tl_rigid_problem_build(&p, &bodies, &none, NULL, &s->joint.blocks, s->dt, s->arena, err));
    tl_stop stop = {.tolerance = s->tolerance, .max_iterations = s->data->iterations};
    tl_options options = tl_options_default();
    options.aim = s->aim;
    options.slow = s->pull;
    tl_contact_report report;
    TL_TRY(tl_contact_solve(s->data->method, &p.problem, &options, &stop, s->joint.lam, s->arena, &report, err));
    tl_contact_velocities(&p.bodies, s->joint.lam, s->v);
    return TALUS_OK;
}

/* Velocities without what joints did. */
static talus_status without_joints(tl_bodies *s, double **base, talus_error *err)
{
    const int64_t n = 6 * (int64_t)s->rigid->count, rows = 3 * (int64_t)s->joint.blocks.count;
    double *v = TL_TAKE(s->arena, double, n), *less = TL_TAKE(s->arena, double, rows);
    tl_rigid_contacts none = {0};
    tl_rigid_problem p;
    if (!(*base = TL_TAKE(s->arena, double, n)) || !v || !less) return no_memory(err);
    memcpy(v, s->v, sizeof *v * (size_t)n);
    for (int64_t k = 0; k < rows; k++) less[k] = -s->joint.lam[k];
    const tl_contact_bodies bodies = {s->rigid->count, s->inv_mass, s->inv_inertia, NULL, v};
    TL_TRY(tl_rigid_problem_build(&p, &bodies, &none, NULL, &s->joint.blocks, s->dt, s->arena, err));
    tl_contact_velocities(&p.bodies, less, *base);
    return TALUS_OK;
}

talus_status tl_bodies_joints_settle(tl_bodies *s, bool *again, talus_error *err)
{
    bool place;
    double *base = NULL;
    for (int round = 0;; round++) {
        tl_bodies_joints_place(s, round, &place);
        if (!place) return TALUS_OK;
        if (!base) TL_TRY(without_joints(s, &base, err));
        TL_TRY(solve_alone(s, base, err));
        TL_TRY(tl_bodies_move(s, again, err));
    }
}

/* ---- velocities of the end ---- */

/* Rows that are held at the end: limits that push, too. */
static bool is_held(const tl_bodies *s, int32_t k, int r)
{
    const tl_joint *j = tl_bodies_joint_at(s, k);
    const int64_t at = 3 * (int64_t)s->joint.first[k] + r;
    const double lam = s->joint.lam[at];
    if (j->law[r] == TL_ROW_HOLD) return !(j->spec->compliance > 0);
    if (j->law[r] == TL_ROW_LIMIT) return lam > 0;
    const tl_contact_box *box = &s->joint.blocks.box[at / 3];
    return tl_joint_leads(j, r) && lam > box->lo[at % 3] && lam < box->hi[at % 3];
}

static void end_velocities(const tl_bodies *s, double *v, double *inv_inertia)
{
    for (int32_t i = 0; i < s->rigid->count; i++) {
        tl_vec3_store(s->body[i].v, v + 6 * (int64_t)i);
        tl_vec3_store(s->body[i].w, v + 6 * (int64_t)i + 3);
        if (!tl_bodies_is_free(s, i)) continue;
        tl_mat3 inverse = tl_rigid_inverse_inertia(&s->rigid->body[i], s->body[i].q);
        memcpy(inv_inertia + 9 * (int64_t)i, inverse.m, sizeof inverse.m);
    }
}

/* ---- impacts at the end ---- */

/* What a row may do in an impact, beyond what it did in the step: what holds, holds; limits that touch push; friction
 * and motors have what is left of their bounds; springs and gains have no time. */
static tl_row_law_out impact_law(const tl_bodies *s, int32_t k, int r, double x)
{
    const tl_joint *j = tl_bodies_joint_at(s, k);
    const int64_t at = 3 * (int64_t)s->joint.first[k] + r;
    const tl_contact_box *box = &s->joint.blocks.box[at / 3];
    const double lam = s->joint.lam[at];
    const tl_row_law_out left = {box->lo[at % 3] - lam, box->hi[at % 3] - lam, 0, 0}, none = {0, 0, 0, 0};
    if (tl_joint_holds_start(j, r)) return tl_row_held;
    if (j->law[r] == TL_ROW_LIMIT) return lam > 0 || x <= TL_JOINT_TAUT * j->length ? tl_row_pushes : none;
    if (j->law[r] == TL_ROW_DRY) return left;
    if (j->law[r] != TL_ROW_MOTOR) return none;
    if (tl_joint_leads(j, r)) return (tl_row_law_out){left.lo, left.hi, 0, -s->joint.ask[k].rate * j->unit};
    if (j->spec->motor.kind != TL_MOTOR_SPEED) return none;
    return (tl_row_law_out){left.lo, left.hi, 0, -s->joint.ask[k].value * j->unit};
}

talus_status tl_bodies_joints_land(tl_bodies *s, tl_joint_blocks *out, talus_error *err)
{
    const int32_t n = s->joint.now ? s->sim->joints.count : 0;
    *out = (tl_joint_blocks){0};
    if (!n) return TALUS_OK;
    if (!tl_joint_blocks_take(s, s->joint.first[n], out)) return no_memory(err);
    for (int32_t k = 0; k < n; k++) {
        tl_joint_row row[TL_JOINT_ROWS];
        double turn[2];
        if (s->joint.first[k] == s->joint.first[k + 1]) continue;
        tl_joint_measure(tl_bodies_joint_at(s, k), s->body, &s->joint.now[k], row, turn);
        const int64_t first = 3 * (int64_t)out->count;
        tl_joint_blocks_add(out, tl_bodies_joint_at(s, k), row);
        for (int r = 0; r < tl_bodies_joint_at(s, k)->rows; r++)
            tl_joint_blocks_set(out, first + r, impact_law(s, k, r, row[r].x));
    }
    return TALUS_OK;
}

/* Impulses of the end that took what leads away. */
static talus_status fit_velocities(tl_bodies *s, tl_joint_blocks *end, double *lam, talus_error *err)
{
    const int64_t n = s->rigid->count;
    double *v = TL_TAKE(s->arena, double, 6 * n), *inv_inertia = TL_TAKE_ZERO(s->arena, double, 9 * n);
    if (!v || !inv_inertia) return no_memory(err);
    end_velocities(s, v, inv_inertia);
    tl_rigid_contacts none = {0};
    tl_rigid_problem p;
    const tl_contact_bodies bodies = {s->rigid->count, s->inv_mass, inv_inertia, NULL, v};
    TL_TRY(tl_rigid_problem_build(&p, &bodies, &none, NULL, end, s->dt, s->arena, err));
    tl_stop stop = {.tolerance = s->tolerance};
    tl_options options = tl_options_default();
    options.aim = AIM * s->least;
    options.slow = s->pull;
    tl_contact_report report;
    TL_TRY(tl_contact_solve(s->data->method, &p.problem, &options, &stop, lam, s->arena, &report, err));
    tl_contact_velocities(&p.bodies, lam, s->v);
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        if (!tl_bodies_is_free(s, i) || (s->resting && s->resting[i])) continue;
        s->body[i].v = tl_vec3_load(s->v + 6 * (int64_t)i);
        s->body[i].w = tl_vec3_load(s->v + 6 * (int64_t)i + 3);
    }
    return TALUS_OK;
}

bool tl_bodies_joint_holds(const tl_bodies *s, int32_t k, int r)
{
    const tl_joint *j = tl_bodies_joint_at(s, k);
    if (j->law[r] == TL_ROW_HOLD) return !(j->spec->compliance > 0);
    return j->law[r] == TL_ROW_LIMIT && s->joint.taut[TL_JOINT_ROWS * (int64_t)k + r];
}

double tl_bodies_joint_damped(const tl_bodies *s, int32_t k)
{
    const tl_joint *j = tl_bodies_joint_at(s, k);
    double sum = 0;
    for (int r = 0; r < j->rows; r++) {
        if (j->law[r] != TL_ROW_SPRING) continue;
        const int64_t at = 3 * (int64_t)s->joint.first[k] + r;
        const double u = tl_joint_row_speed(j, &s->joint.blocks.row[at], s->v),
                     m = tl_bodies_joint_is_half(s, j) || s->joint.mean[TL_JOINT_ROWS * (int64_t)k + r]
                             ? 0.5 * (s->joint.speed[at] + u)
                             : u;
        sum += s->dt * j->spec->damping * m * m;
    }
    return sum;
}

/* Gives and takes energy half-way without a loss: a spring, or what gives slowly. */
static bool is_elastic(const tl_bodies *s, int32_t k, int r)
{
    const tl_joint *j = tl_bodies_joint_at(s, k);
    return (j->law[r] == TL_ROW_SPRING && tl_bodies_joint_is_half(s, j)) ||
           s->joint.mean[TL_JOINT_ROWS * (int64_t)k + r];
}

/* What the others gave to bodies where impulses act, J. Half-way, springs give what they have less and dampers did not
 * take: what the row's straight line is off by is the time step's error. */
static double work_of(const tl_bodies *s, int32_t k)
{
    const tl_joint *j = tl_bodies_joint_at(s, k);
    const double *v = s->half.any ? s->half.early : s->v_free;
    tl_joint_row first[TL_JOINT_ROWS], last[TL_JOINT_ROWS];
    double turn[2], sum = 0;
    if (s->joint.first[k] == s->joint.first[k + 1]) return 0;
    tl_joint_measure(j, s->before, &s->joint.now[k], first, turn);
    tl_joint_measure(j, s->body, &s->joint.now[k], last, turn);
    for (int r = 0; r < j->rows; r++) {
        const int64_t at = 3 * (int64_t)s->joint.first[k] + r;
        const tl_joint_row *row = &s->joint.blocks.row[at];
        if (tl_bodies_joint_holds(s, k, r)) continue;
        if (is_elastic(s, k, r))
            sum += tl_joint_row_energy(j, r, first[r].x) - tl_joint_row_energy(j, r, last[r].x);
        else
            sum += 0.5 * s->joint.lam[at] * (tl_joint_row_speed(j, row, v) + tl_joint_row_speed(j, row, s->v));
    }
    return tl_bodies_joint_is_half(s, j) ? sum - tl_bodies_joint_damped(s, k) : sum;
}

talus_status tl_bodies_joints_work(tl_bodies *s, talus_error *err)
{
    const int32_t n = s->joint.now ? s->sim->joints.count : 0;
    s->joint.did = TL_TAKE_ZERO(s->arena, double, n);
    if (n && !s->joint.did) return no_memory(err);
    for (int32_t k = 0; k < n; k++) s->joint.did[k] = work_of(s, k);
    return TALUS_OK;
}

/* The same at the end; v [6 count] before. What limits took there, and motors gave, is remembered for the accounts. */
static double late_work_of(tl_bodies *s, int32_t k, const double *v)
{
    const tl_joint *j = tl_bodies_joint_at(s, k);
    double sum = 0;
    for (int r = 0; r < j->rows; r++) {
        const int64_t at = 3 * (int64_t)s->joint.first[k] + r;
        const tl_joint_row *row = &s->joint.end.row[at];
        if (tl_bodies_joint_holds(s, k, r) || s->joint.late[at] == 0) continue;
        const double work =
            0.5 * s->joint.late[at] * (tl_joint_row_speed(j, row, v) + tl_joint_row_speed(j, row, s->v));
        *(j->law[r] == TL_ROW_LIMIT ? &s->joint.late_limits : &s->joint.late_motors) += work;
        sum += work;
    }
    return sum;
}

/* What joints tell of the step: forces of its rows, with those of the end; where all of them act at the start, along the
 * rows of there. */
static void remember(tl_bodies *s, int32_t k, const tl_joint_row *end, const double *late)
{
    const tl_joint *j = tl_bodies_joint_at(s, k);
    tl_joint_memory *m = &s->joint.now[k];
    const int64_t first = 3 * (int64_t)s->joint.first[k];
    tl_vec3 force = {0, 0, 0}, torque = force;
    m->motor = 0;
    for (int r = 0; r < j->rows; r++) {
        const double impact = s->joint.impact.count ? s->joint.impact_lam[first + r] : 0;
        const double all = (s->joint.lam[first + r] + impact + late[first + r]) / s->dt;
        m->force[r] = s->joint.lam[first + r] / s->dt;
        if (j->law[r] == TL_ROW_MOTOR) m->motor = all * j->unit;
        const tl_joint_row *row = s->straight ? &s->joint.blocks.row[first + r] : &end[r];
        const tl_vec3 lever =
            s->straight ? tl_quat_rotate(s->before[j->a].q, j->at[0]) : tl_vec3_sub(m->at, s->body[j->a].x);
        tl_vec3 turn = tl_vec3_sub(row->turn_a, tl_vec3_cross(lever, row->push_a));
        force = tl_vec3_add_scaled(force, all, row->push_a);
        torque = tl_vec3_add_scaled(torque, all, turn);
    }
    m->strain = tl_joint_energy(j, s->body, m);
    m->on_a = force;
    m->torque_on_a = torque;
    m->carries = tl_vec3_norm(force);
    m->carries_turn = tl_vec3_norm(torque);
    const tl_joint_spec *spec = j->spec;
    if ((spec->breaks_at > 0 && m->carries > spec->breaks_at) ||
        (spec->breaks_turn > 0 && m->carries_turn > spec->breaks_turn))
        m->broken = 1;
}

talus_status tl_bodies_joints_end(tl_bodies *s, talus_error *err)
{
    const int32_t n = s->joint.now ? s->sim->joints.count : 0;
    if (!n) return TALUS_OK;
    tl_joint_blocks end;
    const int64_t rows = 3 * (int64_t)s->joint.first[n];
    double *late = s->joint.late = TL_TAKE_ZERO(s->arena, double, rows);
    double *before = TL_TAKE(s->arena, double, 6 * (int64_t)s->rigid->count);
    if (!late || !before || !tl_joint_blocks_take(s, s->joint.first[n], &end)) return no_memory(err);
    for (int32_t i = 0; i < s->rigid->count; i++) {
        tl_vec3_store(s->body[i].v, before + 6 * (int64_t)i);
        tl_vec3_store(s->body[i].w, before + 6 * (int64_t)i + 3);
    }
    for (int32_t k = 0; k < n; k++) {
        const tl_joint *j = tl_bodies_joint_at(s, k);
        tl_joint_memory *m = &s->joint.now[k];
        tl_joint_row row[TL_JOINT_ROWS];
        if (m->broken > 0) continue;
        double turn[2];
        m->position = tl_joint_measure(j, s->body, m, row, turn);
        memcpy(m->turn, turn, sizeof m->turn);
        m->at = tl_vec3_add(s->body[j->a].x, tl_quat_rotate(s->body[j->a].q, j->at[0]));
        const int64_t first = 3 * (int64_t)end.count;
        tl_joint_blocks_add(&end, j, row);
        for (int r = 0; r < j->rows; r++) {
            if (!is_held(s, k, r)) continue;
            /* after an impact limits may part; else what leads away from one is the rule's error */
            const bool parts = j->law[r] == TL_ROW_LIMIT && s->joint.struck && s->joint.struck[k];
            tl_joint_blocks_set(&end, first + r, parts ? tl_row_pushes : tl_row_held);
            if (tl_joint_leads(j, r)) end.bias[first + r] = -s->joint.ask[k].rate * j->unit;
        }
    }
    if (!s->straight) TL_TRY(fit_velocities(s, &end, late, err)); /* else velocities are chords, which lead away */
    s->joint.end = end;
    for (int32_t k = 0; k < n; k++) {
        if (s->joint.now[k].broken > 0) continue;
        if (!s->straight) s->joint.did[k] += late_work_of(s, k, before);
        remember(s, k, &end.row[3 * (int64_t)s->joint.first[k]], late);
    }
    return TALUS_OK;
}

void tl_bodies_joints_commit(const tl_bodies *s)
{
    if (!s->joint.now) return;
    for (int32_t k = 0; k < s->sim->joints.count; k++)
        s->joint.now[k].speed = tl_joint_speed(tl_bodies_joint_at(s, k), s->body);
    tl_joint_state *state = tl_state_find(&s->sim->state, &tl_joints_kind);
    memcpy(state->joint, s->joint.now, sizeof *state->joint * (size_t)state->count);
}
