/* Joints in a step: rows where impulses act, places at the end, velocities that fit them.
 *
 * Rows are part of the contact problem (tl_bodies_assemble). What they ask for is said in places: x = 0, or x >= 0, at
 * the end of the step. A row is linear, bodies turn; so after the move x is measured, and what the row was off by is
 * added to where it seemed to start, until all places are right. Impulses act at one place for both sides whatever the
 * round, so momentum and angular momentum do not notice.
 *
 * Velocities of the end then lead away from what is held, by the square of the step half-way and by the step
 * otherwise: an impulse where bodies are takes that out, which only takes energy. Places and velocities together are
 * symmetric in time where impulses act half-way, but not free of error in the energy: what an island of joints has
 * more or less than its motors, springs, friction and limits account for is taken from, or given to, its velocities by
 * one factor, which keeps what is held. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "model/rigid/motion.h"
#include "phase/accounts/accounts.h"
#include "phase/bodies/bodies.h"

#define PLACE 1e-10 /* of a joint's length (gyration of its lighter body): what places may be off by, */
#define ROUNDS 8    /* and so many tries; each gains about the angle that bodies turn by, */
#define GAINS 0.5   /* at least this: else contacts are in the way, and the best try so far is the answer */
#define TAUT 1e-6   /* of that length: nearer limits that pushed in the last step still hold */
#define AIM 1e-3    /* of the least tolerance: what velocities at the end may be off by */

static talus_status no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for joints"); }

static bool is_free(const tl_bodies *s, int32_t i) { return i >= 0 && s->rigid->body[i].kind == TL_BODY_FREE; }

static const tl_joint *joint_at(const tl_bodies *s, int32_t k) { return &s->sim->joints.joint[k]; }

static bool is_half(const tl_bodies *s, const tl_joint *j)
{
    return s->half.any && s->half.on[is_free(s, j->a) ? j->a : j->b];
}

static int32_t root_of(int32_t *root, int32_t i)
{
    for (; root[i] != i; i = root[i]) root[i] = root[root[i]];
    return i;
}

/* ---- begin ---- */

static talus_status ask_motor(tl_bodies *s, int32_t k, talus_error *err)
{
    const tl_joint *j = joint_at(s, k);
    const tl_joint_memory *m = &s->joint.now[k];
    const tl_motor_spec *motor = &j->spec->motor;
    const double t = s->sim->state.t;
    tl_motor_ask *ask = &s->joint.ask[k];
    *ask = (tl_motor_ask){0};
    if (motor->kind == TL_MOTOR_NONE) return TALUS_OK;
    if (m->driven > 0) {
        ask->value = m->target;
        return TALUS_OK;
    }
    /* forces as others: at the start of the step */
    if (motor->kind == TL_MOTOR_FORCE) return tl_scene_timed(s->scene, &motor->force, t, &ask->value, 1, err);
    const tl_timed *f = motor->kind == TL_MOTOR_SPEED ? &motor->speed : &motor->position;
    TL_TRY(tl_scene_timed(s->scene, f, t + s->dt, &ask->value, 1, err));
    if (motor->kind == TL_MOTOR_SPEED || f->function == TL_NO_FUNCTION) return TALUS_OK;
    double before, after;
    TL_TRY(tl_scene_timed(s->scene, f, t + 0.5 * s->dt, &before, 1, err));
    TL_TRY(tl_scene_timed(s->scene, f, t + 1.5 * s->dt, &after, 1, err));
    ask->rate = (after - before) / s->dt;
    return TALUS_OK;
}

static int32_t blocks_of(const tl_joint *j) { return (j->rows + 2) / 3; }

static bool take_blocks(tl_bodies *s, int32_t blocks, tl_joint_blocks *out)
{
    const int64_t rows = 3 * (int64_t)blocks;
    *out = (tl_joint_blocks){.body = (int32_t(*)[2])TL_TAKE(s->arena, int32_t, 2 * (int64_t)blocks),
                             .row = TL_TAKE(s->arena, tl_joint_row, rows),
                             .box = TL_TAKE(s->arena, tl_contact_box, blocks),
                             .bias = TL_TAKE(s->arena, double, rows)};
    return out->body && out->row && out->box && out->bias;
}

/* Adds a joint's rows; all that is not said stays unused. */
static void add_blocks(tl_joint_blocks *b, const tl_joint *j, const tl_joint_row *row)
{
    const int32_t first = b->count;
    b->count += blocks_of(j);
    for (int32_t k = first; k < b->count; k++) {
        b->body[k][0] = j->a;
        b->body[k][1] = j->b;
        b->box[k] = (tl_contact_box){{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        for (int i = 0; i < 3; i++) {
            const int at = 3 * (k - first) + i;
            b->row[3 * (int64_t)k + i] = at < j->rows ? row[at] : (tl_joint_row){.x = 0};
            b->bias[3 * (int64_t)k + i] = 0;
        }
    }
}

static void set_row(tl_joint_blocks *b, int64_t at, tl_row_law_out law)
{
    tl_contact_box *box = &b->box[at / 3];
    box->lo[at % 3] = law.lo;
    box->hi[at % 3] = law.hi;
    box->give[at % 3] = law.give;
    b->bias[at] = law.bias;
}

static const tl_row_law_out held = {-INFINITY, INFINITY, 0, 0}, pushes = {0, INFINITY, 0, 0};

/* What joints hold together, by a root among its free bodies: mass and its first and second moments. */
static void weigh_mechanisms(tl_bodies *s)
{
    int32_t *root = s->joint.root;
    for (int32_t i = 0; i < s->rigid->count; i++) root[i] = i, s->joint.whole[i] = (tl_joint_mass){0};
    for (int32_t k = 0; k < s->sim->joints.count; k++) {
        const tl_joint *j = joint_at(s, k);
        if (s->joint.now[k].broken > 0 || !is_free(s, j->a) || !is_free(s, j->b)) continue;
        const int32_t a = root_of(root, j->a), b = root_of(root, j->b);
        root[a < b ? b : a] = a < b ? a : b;
    }
    for (int32_t i = 0; i < s->rigid->count; i++) {
        const tl_rigid_body *b = &s->rigid->body[i];
        tl_joint_mass *all = &s->joint.whole[root_of(root, i)];
        if (!is_free(s, i)) continue;
        all->mass += b->mass;
        all->first = tl_vec3_add_scaled(all->first, b->mass, s->before[i].x);
        all->second += b->mass * tl_vec3_norm2(s->before[i].x) + 0.5 * tl_mat3_trace(b->inertia);
    }
}

static bool holds_start(const tl_joint *j, int r) { return j->law[r] == TL_ROW_HOLD && !(j->spec->compliance > 0); }

/* Rows of the start, for what is stopped there: approaches, and velocities that joints forbid. */
static void hold_start(tl_bodies *s, int32_t k, const tl_joint_row *row)
{
    const tl_joint *j = joint_at(s, k);
    const int64_t first = 3 * (int64_t)s->joint.stop.count;
    add_blocks(&s->joint.stop, j, row);
    for (int r = 0; r < j->rows; r++) {
        if (holds_start(j, r)) set_row(&s->joint.stop, first + r, held);
        if (s->joint.taut[TL_JOINT_ROWS * (int64_t)k + r]) set_row(&s->joint.stop, first + r, pushes);
    }
}

talus_status tl_bodies_joints_begin(tl_bodies *s, talus_error *err)
{
    const int32_t n = s->sim->joints.count;
    if (!n) return TALUS_OK;
    const tl_joint_state *state = tl_state_find(&s->sim->state, &tl_joints_kind);
    int32_t blocks = 0;
    s->joint.now = TL_TAKE(s->arena, tl_joint_memory, n);
    s->joint.ask = TL_TAKE(s->arena, tl_motor_ask, n);
    s->joint.first = TL_TAKE(s->arena, int32_t, n + 1);
    s->joint.start = TL_TAKE_ZERO(s->arena, double, TL_JOINT_ROWS *(int64_t)n);
    s->joint.used = TL_TAKE(s->arena, double, TL_JOINT_ROWS *(int64_t)n);
    s->joint.best = TL_TAKE(s->arena, double, TL_JOINT_ROWS *(int64_t)n);
    s->joint.taut = TL_TAKE_ZERO(s->arena, bool, TL_JOINT_ROWS *(int64_t)n);
    s->joint.mean = TL_TAKE_ZERO(s->arena, bool, TL_JOINT_ROWS *(int64_t)n);
    s->joint.root = TL_TAKE(s->arena, int32_t, s->rigid->count);
    s->joint.whole = TL_TAKE(s->arena, tl_joint_mass, s->rigid->count);
    if (!s->joint.now || !s->joint.ask || !s->joint.first || !s->joint.start || !s->joint.used || !s->joint.best ||
        !s->joint.taut || !s->joint.mean || !s->joint.root || !s->joint.whole)
        return no_memory(err);
    memcpy(s->joint.now, state->joint, sizeof *s->joint.now * (size_t)n);
    for (int32_t k = 0; k < n; k++) {
        s->joint.first[k] = blocks;
        if (!(s->joint.now[k].broken > 0)) blocks += blocks_of(joint_at(s, k));
    }
    s->joint.first[n] = blocks;
    weigh_mechanisms(s);
    s->joint.lam = TL_TAKE_ZERO(s->arena, double, 3 * (int64_t)blocks);
    if (!s->joint.lam || !take_blocks(s, blocks, &s->joint.stop)) return no_memory(err);
    for (int32_t k = 0; k < n; k++) {
        tl_joint_row row[TL_JOINT_ROWS];
        double turn[2];
        if (s->joint.now[k].broken > 0) continue;
        tl_joint_measure(joint_at(s, k), s->before, &s->joint.now[k], row, turn);
        for (int r = 0; r < joint_at(s, k)->rows; r++) {
            s->joint.start[TL_JOINT_ROWS * (int64_t)k + r] = row[r].x;
            s->joint.lam[3 * (int64_t)s->joint.first[k] + r] = s->joint.now[k].force[r] * s->dt;
            s->joint.taut[TL_JOINT_ROWS * (int64_t)k + r] = joint_at(s, k)->law[r] == TL_ROW_LIMIT &&
                                                            s->joint.now[k].force[r] > 0 &&
                                                            row[r].x <= TAUT * joint_at(s, k)->length;
        }
        hold_start(s, k, row);
        TL_TRY(ask_motor(s, k, err));
    }
    return TALUS_OK;
}

bool tl_bodies_joints_forbid(const tl_bodies *s, const double *v)
{
    for (int32_t k = 0; s->joint.now && k < s->sim->joints.count; k++) {
        const tl_joint *j = joint_at(s, k);
        const bool scripted = !is_free(s, j->a) || (j->b >= 0 && !is_free(s, j->b));
        if (s->joint.first[k] == s->joint.first[k + 1] || !is_half(s, j)) continue;
        const int32_t other = is_free(s, j->a) ? j->b : j->a;
        if (scripted && s->rigid->body[other].kind == TL_BODY_KINEMATIC) continue;
        for (int r = 0; r < j->rows; r++) {
            const tl_joint_row *row = &s->joint.stop.row[3 * (int64_t)s->joint.first[k] + r];
            if (holds_start(j, r) && fabs(tl_joint_row_speed(j, row, v)) > s->tolerance) return true;
        }
    }
    return false;
}

/* ---- how hard motors and springs push ---- */

/* N: of a row that drives, as it is asked now or as it was in the last step; 0 for all others. */
static double drive_of(const tl_bodies *s, int32_t k, int r)
{
    const tl_joint *j = joint_at(s, k);
    const tl_motor_spec *m = &j->spec->motor;
    const double x = s->joint.start[TL_JOINT_ROWS * (int64_t)k + r], last = fabs(s->joint.now[k].force[r]);
    if (j->law[r] == TL_ROW_SPRING) return fmax(last, j->spec->stiffness * fabs(x));
    if (j->law[r] != TL_ROW_MOTOR) return 0;
    const tl_motor_ask *ask = &s->joint.ask[k];
    if (m->kind == TL_MOTOR_FORCE) return fabs(ask->value) / j->unit;
    const double off = fabs(x - ask->value * j->unit) / (j->unit * j->unit);
    const double gains = m->kind == TL_MOTOR_POSITION ? m->stiffness * off + m->damping * fabs(ask->rate) / j->unit : 0;
    return fmax(last, m->max > 0 ? fmin(gains, m->max / j->unit) : gains);
}

/* m/s that a force of 1 N of the motor's row gives to all that it moves; for torques, at its radius about the joint. */
static double moved_by(const tl_bodies *s, int32_t k)
{
    const tl_joint *j = joint_at(s, k);
    const int32_t i = is_free(s, j->a) ? j->a : j->b;
    const tl_joint_mass *all = &s->joint.whole[root_of(s->joint.root, i)];
    if (j->unit == 1) return s->dt / all->mass;
    const tl_vec3 at = tl_vec3_add(s->before[j->a].x, tl_quat_rotate(s->before[j->a].q, j->at[0]));
    const double second = all->second - 2 * tl_vec3_dot(at, all->first) + all->mass * tl_vec3_norm2(at);
    return s->dt * j->unit / sqrt(fmax(all->mass * second, 0) + DBL_MIN);
}

double tl_bodies_joints_pull(const tl_bodies *s)
{
    double max = 0;
    for (int32_t k = 0; s->joint.now && k < s->sim->joints.count; k++) {
        if (s->joint.now[k].broken > 0) continue;
        double force = 0;
        for (int r = 0; r < joint_at(s, k)->rows; r++) force = fmax(force, drive_of(s, k, r));
        if (force > 0) max = fmax(max, moved_by(s, k) * force);
    }
    return max;
}

/* ---- the problem ---- */

/* How much faster a row gets by an impulse of 1 N s, 1/kg. */
static double row_gain(const tl_bodies *s, int32_t i, tl_vec3 push, tl_vec3 turn)
{
    if (!is_free(s, i)) return 0;
    tl_mat3 inverse;
    memcpy(inverse.m, s->inv_inertia + 9 * (int64_t)i, sizeof inverse.m);
    return s->inv_mass[i] * tl_vec3_norm2(push) + tl_vec3_dot(turn, tl_mat3_mul_vec(inverse, turn));
}

/* What gives, gives slowly: dt^2 / (compliance mass) is at most 1. Half-way all springs count as such; where velocities
 * are chords, those that with their dampers change a velocity by at most as much as there is of it. */
static bool is_resolved(const tl_bodies *s, const tl_joint *j, int r, const tl_joint_row *row)
{
    const bool spring = s->straight && j->law[r] == TL_ROW_SPRING;
    if (!spring && (j->law[r] != TL_ROW_HOLD || !(j->spec->compliance > 0))) return false;
    const double gain = row_gain(s, j->a, row->push_a, row->turn_a) + row_gain(s, j->b, row->push_b, row->turn_b);
    if (spring) return s->dt * gain * (s->dt * j->spec->stiffness + j->spec->damping) <= 1;
    return s->dt * s->dt * gain <= tl_joint_compliance(j, r);
}

/* Of a row, before impulses act: half-way, at the end of the last step where velocities are chords, else none. */
static double speed_before(const tl_bodies *s, const tl_joint *j, const tl_joint_row *row, bool half, bool mean)
{
    if (!mean || half) return tl_joint_row_speed(j, row, half ? s->half.early : s->v_free);
    const tl_motion *a = &s->before[j->a], *b = j->b >= 0 ? &s->before[j->b] : NULL;
    double u = tl_vec3_dot(row->push_a, a->v) + tl_vec3_dot(row->turn_a, a->w);
    if (b) u += tl_vec3_dot(row->push_b, b->v) + tl_vec3_dot(row->turn_b, b->w);
    return u;
}

talus_status tl_bodies_joints_assemble(tl_bodies *s, talus_error *err)
{
    const int32_t n = s->joint.now ? s->sim->joints.count : 0;
    s->joint.blocks = (tl_joint_blocks){0};
    if (!n) return TALUS_OK;
    if (!take_blocks(s, s->joint.first[n], &s->joint.blocks)) return no_memory(err);
    if (!s->joint.speed) s->joint.speed = TL_TAKE(s->arena, double, 3 * (int64_t)s->joint.first[n]);
    if (!s->joint.speed) return no_memory(err);
    for (int32_t k = 0; k < n; k++) {
        const tl_joint *j = joint_at(s, k);
        tl_joint_row row[TL_JOINT_ROWS];
        double turn[2];
        if (s->joint.now[k].broken > 0) continue;
        tl_joint_measure(j, s->act, &s->joint.now[k], row, turn);
        const int64_t first = 3 * (int64_t)s->joint.blocks.count;
        const bool half = is_half(s, j);
        add_blocks(&s->joint.blocks, j, row);
        for (int r = 0; r < j->rows; r++) {
            bool *mean = &s->joint.mean[TL_JOINT_ROWS * (int64_t)k + r];
            *mean = (half || s->straight) && is_resolved(s, j, r, &row[r]);
            const double speed = speed_before(s, j, &row[r], half, *mean);
            const tl_row_ask ask = {
                s->dt,          half, *mean, s->joint.start[TL_JOINT_ROWS * (int64_t)k + r], half || *mean ? speed : 0,
                s->joint.ask[k]};
            s->joint.speed[first + r] = speed;
            set_row(&s->joint.blocks, first + r, tl_joint_law(j, r, &ask));
        }
    }
    return TALUS_OK;
}

talus_status tl_bodies_join_impulses(tl_bodies *s, double **lam, talus_error *err)
{
    const size_t points = 3 * (size_t)s->contacts.count, joints = 3 * (size_t)s->joint.blocks.count;
    *lam = s->lam;
    if (!joints) return TALUS_OK;
    if (!(*lam = TL_TAKE(s->arena, double, points + joints))) return no_memory(err);
    if (points) memcpy(*lam, s->lam, points * sizeof **lam);
    memcpy(*lam + points, s->joint.lam, joints * sizeof **lam);
    return TALUS_OK;
}

void tl_bodies_part_impulses(tl_bodies *s, const double *lam)
{
    const size_t points = 3 * (size_t)s->contacts.count, joints = 3 * (size_t)s->joint.blocks.count;
    if (!joints) return;
    if (points) memcpy(s->lam, lam, points * sizeof *lam);
    memcpy(s->joint.lam, lam + points, joints * sizeof *lam);
}

/* ---- places ---- */

/* What a row says of x at the end, and what x is there; returns what counts as off. */
static double place_row(tl_bodies *s, int32_t k, int r, double x)
{
    const tl_joint *j = joint_at(s, k);
    const int64_t at = 3 * (int64_t)s->joint.first[k] + r;
    const tl_joint_row *row = &s->joint.blocks.row[at];
    const tl_contact_box *box = &s->joint.blocks.box[at / 3];
    const double lam = s->joint.lam[at], u = tl_joint_row_speed(j, row, s->v);
    const double moves = is_half(s, j) ? 0.5 * (s->joint.speed[at] + u) : u;
    double *start = &s->joint.start[TL_JOINT_ROWS * (int64_t)k + r], says = *start + s->dt * moves;
    if (tl_joint_leads(j, r)) {
        const bool strained = !(lam > box->lo[at % 3] && lam < box->hi[at % 3]);
        *start += x - says;
        return strained ? 0 : fabs(x - s->joint.ask[k].value * j->unit);
    }
    if (j->law[r] == TL_ROW_HOLD && !s->joint.mean[TL_JOINT_ROWS * (int64_t)k + r]) {
        *start += x - says;
        return fabs(x - says);
    }
    if (j->law[r] != TL_ROW_LIMIT) return 0;
    *start += x - says;
    return lam > 0 ? fabs(x) : fmax(0, -x);
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

void tl_bodies_joints_place(tl_bodies *s, int round, bool *again)
{
    const int32_t n = s->joint.now ? s->sim->joints.count : 0;
    bool right = true;
    *again = false;
    s->joint.off = s->joint.missed = 0;
    if (!n) return;
    memcpy(s->joint.used, s->joint.start, sizeof *s->joint.start * TL_JOINT_ROWS * (size_t)n);
    for (int32_t k = 0; k < n; k++) {
        const tl_joint *j = joint_at(s, k);
        tl_joint_row row[TL_JOINT_ROWS];
        double turn[2], off = 0;
        if (s->joint.now[k].broken > 0) continue;
        tl_joint_measure(j, s->body, &s->joint.now[k], row, turn);
        for (int r = 0; r < j->rows; r++) off = fmax(off, place_row(s, k, r, row[r].x));
        s->joint.off = fmax(s->joint.off, off);
        if (!(off <= PLACE * j->length)) right = false, s->joint.missed = fmax(s->joint.missed, off / s->dt);
    }
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
    const tl_joint *j = joint_at(s, k);
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
        if (!is_free(s, i)) continue;
        tl_mat3 inverse = tl_rigid_inverse_inertia(&s->rigid->body[i], s->body[i].q);
        memcpy(inv_inertia + 9 * (int64_t)i, inverse.m, sizeof inverse.m);
    }
}

/* ---- impacts at the end ---- */

/* What a row may do in an impact, beyond what it did in the step: what holds, holds; limits that touch push; friction
 * and motors have what is left of their bounds; springs and gains have no time. */
static tl_row_law_out impact_law(const tl_bodies *s, int32_t k, int r, double x)
{
    const tl_joint *j = joint_at(s, k);
    const int64_t at = 3 * (int64_t)s->joint.first[k] + r;
    const tl_contact_box *box = &s->joint.blocks.box[at / 3];
    const double lam = s->joint.lam[at];
    const tl_row_law_out left = {box->lo[at % 3] - lam, box->hi[at % 3] - lam, 0, 0}, none = {0, 0, 0, 0};
    if (holds_start(j, r)) return held;
    if (j->law[r] == TL_ROW_LIMIT) return lam > 0 || x <= TAUT * j->length ? pushes : none;
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
    if (!take_blocks(s, s->joint.first[n], out)) return no_memory(err);
    for (int32_t k = 0; k < n; k++) {
        tl_joint_row row[TL_JOINT_ROWS];
        double turn[2];
        if (s->joint.first[k] == s->joint.first[k + 1]) continue;
        tl_joint_measure(joint_at(s, k), s->body, &s->joint.now[k], row, turn);
        const int64_t first = 3 * (int64_t)out->count;
        add_blocks(out, joint_at(s, k), row);
        for (int r = 0; r < joint_at(s, k)->rows; r++) set_row(out, first + r, impact_law(s, k, r, row[r].x));
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
        if (!is_free(s, i) || (s->resting && s->resting[i])) continue;
        s->body[i].v = tl_vec3_load(s->v + 6 * (int64_t)i);
        s->body[i].w = tl_vec3_load(s->v + 6 * (int64_t)i + 3);
    }
    return TALUS_OK;
}

bool tl_bodies_joint_holds(const tl_bodies *s, int32_t k, int r)
{
    const tl_joint *j = joint_at(s, k);
    if (j->law[r] == TL_ROW_HOLD) return !(j->spec->compliance > 0);
    return j->law[r] == TL_ROW_LIMIT && s->joint.taut[TL_JOINT_ROWS * (int64_t)k + r];
}

double tl_bodies_joint_damped(const tl_bodies *s, int32_t k)
{
    const tl_joint *j = joint_at(s, k);
    double sum = 0;
    for (int r = 0; r < j->rows; r++) {
        if (j->law[r] != TL_ROW_SPRING) continue;
        const int64_t at = 3 * (int64_t)s->joint.first[k] + r;
        const double u = tl_joint_row_speed(j, &s->joint.blocks.row[at], s->v),
                     m = is_half(s, j) || s->joint.mean[TL_JOINT_ROWS * (int64_t)k + r] ? 0.5 * (s->joint.speed[at] + u)
                                                                                        : u;
        sum += s->dt * j->spec->damping * m * m;
    }
    return sum;
}

/* Gives and takes energy half-way without a loss: a spring, or what gives slowly. */
static bool is_elastic(const tl_bodies *s, int32_t k, int r)
{
    const tl_joint *j = joint_at(s, k);
    return (j->law[r] == TL_ROW_SPRING && is_half(s, j)) || s->joint.mean[TL_JOINT_ROWS * (int64_t)k + r];
}

/* What the others gave to bodies where impulses act, J. Half-way, springs give what they have less and dampers did not
 * take: what the row's straight line is off by is the time step's error. */
static double work_of(const tl_bodies *s, int32_t k)
{
    const tl_joint *j = joint_at(s, k);
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
    return is_half(s, j) ? sum - tl_bodies_joint_damped(s, k) : sum;
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
    const tl_joint *j = joint_at(s, k);
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
    const tl_joint *j = joint_at(s, k);
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
    if (!late || !before || !take_blocks(s, s->joint.first[n], &end)) return no_memory(err);
    for (int32_t i = 0; i < s->rigid->count; i++) {
        tl_vec3_store(s->body[i].v, before + 6 * (int64_t)i);
        tl_vec3_store(s->body[i].w, before + 6 * (int64_t)i + 3);
    }
    for (int32_t k = 0; k < n; k++) {
        const tl_joint *j = joint_at(s, k);
        tl_joint_memory *m = &s->joint.now[k];
        tl_joint_row row[TL_JOINT_ROWS];
        if (m->broken > 0) continue;
        double turn[2];
        m->position = tl_joint_measure(j, s->body, m, row, turn);
        memcpy(m->turn, turn, sizeof m->turn);
        m->at = tl_vec3_add(s->body[j->a].x, tl_quat_rotate(s->body[j->a].q, j->at[0]));
        const int64_t first = 3 * (int64_t)end.count;
        add_blocks(&end, j, row);
        for (int r = 0; r < j->rows; r++) {
            if (!is_held(s, k, r)) continue;
            /* after an impact limits may part; else what leads away from one is the rule's error */
            const bool parts = j->law[r] == TL_ROW_LIMIT && s->joint.struck && s->joint.struck[k];
            set_row(&end, first + r, parts ? pushes : held);
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
    for (int32_t k = 0; k < s->sim->joints.count; k++) s->joint.now[k].speed = tl_joint_speed(joint_at(s, k), s->body);
    tl_joint_state *state = tl_state_find(&s->sim->state, &tl_joints_kind);
    memcpy(state->joint, s->joint.now, sizeof *state->joint * (size_t)state->count);
}
