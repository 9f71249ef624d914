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
#include "phase/bodies/joint_rows.h"

static talus_status no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for joints"); }

static int32_t root_of(int32_t *root, int32_t i)
{
    for (; root[i] != i; i = root[i]) root[i] = root[root[i]];
    return i;
}

/* ---- begin ---- */

static talus_status ask_motor(tl_bodies *s, int32_t k, talus_error *err)
{
    const tl_joint *j = tl_bodies_joint_at(s, k);
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

bool tl_joint_blocks_take(tl_bodies *s, int32_t blocks, tl_joint_blocks *out)
{
    const int64_t rows = 3 * (int64_t)blocks;
    *out = (tl_joint_blocks){.body = (int32_t(*)[2])TL_TAKE(s->arena, int32_t, 2 * (int64_t)blocks),
                             .row = TL_TAKE(s->arena, tl_joint_row, rows),
                             .box = TL_TAKE(s->arena, tl_contact_box, blocks),
                             .bias = TL_TAKE(s->arena, double, rows)};
    return out->body && out->row && out->box && out->bias;
}

void tl_joint_blocks_add(tl_joint_blocks *b, const tl_joint *j, const tl_joint_row *row)
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

void tl_joint_blocks_set(tl_joint_blocks *b, int64_t at, tl_row_law_out law)
{
    tl_contact_box *box = &b->box[at / 3];
    box->lo[at % 3] = law.lo;
    box->hi[at % 3] = law.hi;
    box->give[at % 3] = law.give;
    b->bias[at] = law.bias;
}

/* What joints hold together, by a root among its free bodies: mass and its first and second moments. */
static void weigh_mechanisms(tl_bodies *s)
{
    int32_t *root = s->joint.root;
    for (int32_t i = 0; i < s->rigid->count; i++) root[i] = i, s->joint.whole[i] = (tl_joint_mass){0};
    for (int32_t k = 0; k < s->sim->joints.count; k++) {
        const tl_joint *j = tl_bodies_joint_at(s, k);
        if (s->joint.now[k].broken > 0 || !tl_bodies_is_free(s, j->a) || !tl_bodies_is_free(s, j->b)) continue;
        const int32_t a = root_of(root, j->a), b = root_of(root, j->b);
        root[a < b ? b : a] = a < b ? a : b;
    }
    for (int32_t i = 0; i < s->rigid->count; i++) {
        const tl_rigid_body *b = &s->rigid->body[i];
        tl_joint_mass *all = &s->joint.whole[root_of(root, i)];
        if (!tl_bodies_is_free(s, i)) continue;
        all->mass += b->mass;
        all->first = tl_vec3_add_scaled(all->first, b->mass, s->before[i].x);
        all->second += b->mass * tl_vec3_norm2(s->before[i].x) + 0.5 * tl_mat3_trace(b->inertia);
    }
}

/* Rows of the start, for what is stopped there: approaches, and velocities that joints forbid. */
static void hold_start(tl_bodies *s, int32_t k, const tl_joint_row *row)
{
    const tl_joint *j = tl_bodies_joint_at(s, k);
    const int64_t first = 3 * (int64_t)s->joint.stop.count;
    tl_joint_blocks_add(&s->joint.stop, j, row);
    for (int r = 0; r < j->rows; r++) {
        if (tl_joint_holds_start(j, r)) tl_joint_blocks_set(&s->joint.stop, first + r, tl_row_held);
        if (s->joint.taut[TL_JOINT_ROWS * (int64_t)k + r])
            tl_joint_blocks_set(&s->joint.stop, first + r, tl_row_pushes);
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
        if (!(s->joint.now[k].broken > 0)) blocks += blocks_of(tl_bodies_joint_at(s, k));
    }
    s->joint.first[n] = blocks;
    weigh_mechanisms(s);
    s->joint.lam = TL_TAKE_ZERO(s->arena, double, 3 * (int64_t)blocks);
    if (!s->joint.lam || !tl_joint_blocks_take(s, blocks, &s->joint.stop)) return no_memory(err);
    for (int32_t k = 0; k < n; k++) {
        tl_joint_row row[TL_JOINT_ROWS];
        double turn[2];
        if (s->joint.now[k].broken > 0) continue;
        tl_joint_measure(tl_bodies_joint_at(s, k), s->before, &s->joint.now[k], row, turn);
        for (int r = 0; r < tl_bodies_joint_at(s, k)->rows; r++) {
            s->joint.start[TL_JOINT_ROWS * (int64_t)k + r] = row[r].x;
            s->joint.lam[3 * (int64_t)s->joint.first[k] + r] = s->joint.now[k].force[r] * s->dt;
            s->joint.taut[TL_JOINT_ROWS * (int64_t)k + r] =
                tl_bodies_joint_at(s, k)->law[r] == TL_ROW_LIMIT && s->joint.now[k].force[r] > 0 &&
                row[r].x <= TL_JOINT_TAUT * tl_bodies_joint_at(s, k)->length;
        }
        hold_start(s, k, row);
        TL_TRY(ask_motor(s, k, err));
    }
    return TALUS_OK;
}

bool tl_bodies_joints_forbid(const tl_bodies *s, const double *v)
{
    for (int32_t k = 0; s->joint.now && k < s->sim->joints.count; k++) {
        const tl_joint *j = tl_bodies_joint_at(s, k);
        const bool scripted = !tl_bodies_is_free(s, j->a) || (j->b >= 0 && !tl_bodies_is_free(s, j->b));
        if (s->joint.first[k] == s->joint.first[k + 1] || !tl_bodies_joint_is_half(s, j)) continue;
        const int32_t other = tl_bodies_is_free(s, j->a) ? j->b : j->a;
        if (scripted && s->rigid->body[other].kind == TL_BODY_KINEMATIC) continue;
        for (int r = 0; r < j->rows; r++) {
            const tl_joint_row *row = &s->joint.stop.row[3 * (int64_t)s->joint.first[k] + r];
            if (tl_joint_holds_start(j, r) && fabs(tl_joint_row_speed(j, row, v)) > s->tolerance) return true;
        }
    }
    return false;
}

/* ---- how hard motors and springs push ---- */

/* N: of a row that drives, as it is asked now or as it was in the last step; 0 for all others. */
static double drive_of(const tl_bodies *s, int32_t k, int r)
{
    const tl_joint *j = tl_bodies_joint_at(s, k);
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
    const tl_joint *j = tl_bodies_joint_at(s, k);
    const int32_t i = tl_bodies_is_free(s, j->a) ? j->a : j->b;
    if (!tl_bodies_is_free(s, i)) return 0; /* between elastic bodies */
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
        for (int r = 0; r < tl_bodies_joint_at(s, k)->rows; r++) force = fmax(force, drive_of(s, k, r));
        if (force > 0) max = fmax(max, moved_by(s, k) * force);
    }
    return max;
}

/* ---- the problem ---- */

/* How much faster a row gets by an impulse of 1 N s, 1/kg. */
static double row_gain(const tl_bodies *s, int32_t i, tl_vec3 push, tl_vec3 turn)
{
    if (!tl_bodies_is_free(s, i)) return 0;
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
    if (!tl_joint_blocks_take(s, s->joint.first[n], &s->joint.blocks)) return no_memory(err);
    if (!s->joint.speed) s->joint.speed = TL_TAKE(s->arena, double, 3 * (int64_t)s->joint.first[n]);
    if (!s->joint.speed) return no_memory(err);
    for (int32_t k = 0; k < n; k++) {
        const tl_joint *j = tl_bodies_joint_at(s, k);
        tl_joint_row row[TL_JOINT_ROWS];
        double turn[2];
        if (s->joint.now[k].broken > 0) continue;
        tl_joint_measure(j, s->act, &s->joint.now[k], row, turn);
        const int64_t first = 3 * (int64_t)s->joint.blocks.count;
        const bool half = tl_bodies_joint_is_half(s, j);
        tl_joint_blocks_add(&s->joint.blocks, j, row);
        for (int r = 0; r < j->rows; r++) {
            bool *mean = &s->joint.mean[TL_JOINT_ROWS * (int64_t)k + r];
            *mean = (half || s->straight) && !j->soft[0] && !j->soft[1] && is_resolved(s, j, r, &row[r]);
            const double speed = speed_before(s, j, &row[r], half, *mean);
            const tl_row_ask ask = {
                s->dt,          half, *mean, s->joint.start[TL_JOINT_ROWS * (int64_t)k + r], half || *mean ? speed : 0,
                s->joint.ask[k]};
            s->joint.speed[first + r] = speed;
            tl_joint_blocks_set(&s->joint.blocks, first + r, tl_joint_law(j, r, &ask));
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
