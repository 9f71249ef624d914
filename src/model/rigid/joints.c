#include "model/rigid/joints.h"

#include <math.h>

#include "base/alloc.h"

static const tl_motion world = {.q = {1, 0, 0, 0}};

static const tl_motion *motion_of(const tl_motion *body, int32_t i) { return i < 0 ? &world : &body[i]; }

/* ---- made from the scene ---- */

static double gyration(const tl_rigid *r, int32_t i)
{
    if (i < 0 || r->body[i].kind != TL_BODY_FREE) return INFINITY;
    return sqrt(tl_mat3_trace(r->body[i].inertia) / (3 * r->body[i].mass));
}

static void add_rows(tl_joint *j, tl_row_law law, int count)
{
    for (int k = 0; k < count; k++) j->law[j->rows++] = law;
}

static bool turns_about_axis(int kind) { return kind == TL_JOINT_HINGE || kind == TL_JOINT_SCREW; }

static void list_rows(tl_joint *j)
{
    static const int holds[] = {
        [TL_JOINT_FIXED] = 6,    [TL_JOINT_BALL] = 3,      [TL_JOINT_HINGE] = 5,  [TL_JOINT_SLIDER] = 5,
        [TL_JOINT_CYLINDER] = 4, [TL_JOINT_UNIVERSAL] = 4, [TL_JOINT_PLANAR] = 3, [TL_JOINT_DISTANCE] = 1,
        [TL_JOINT_ROPE] = 0,     [TL_JOINT_SPRING] = 0,    [TL_JOINT_GEAR] = 1,   [TL_JOINT_SCREW] = 5};
    const tl_joint_spec *s = j->spec;
    add_rows(j, TL_ROW_HOLD, holds[s->kind]);
    add_rows(j, TL_ROW_LIMIT, s->kind == TL_JOINT_ROPE ? 1 : 0);
    add_rows(j, TL_ROW_SPRING, s->kind == TL_JOINT_SPRING ? 1 : 0);
    add_rows(j, TL_ROW_LIMIT, !s->limited ? 0 : s->kind == TL_JOINT_BALL ? 1 : 2);
    add_rows(j, TL_ROW_DRY, s->friction > 0 ? 1 : 0);
    add_rows(j, TL_ROW_MOTOR, s->motor.kind != TL_MOTOR_NONE ? 1 : 0);
}

static tl_vec3 inward(const tl_motion *m, tl_vec3 direction)
{
    return tl_quat_rotate(tl_quat_conjugate(m->q), direction);
}

/* A side's anchor in its own frame. */
static tl_vec3 anchor_of(const tl_rigid *r, const tl_motion *body, int32_t i, tl_vec3 at, const tl_joint_frame *frame)
{
    if (i < 0) return at;
    const tl_vec3 own = tl_vec3_sub(at, r->body[i].centre);
    if (!frame) return own;
    const tl_vec3 there = tl_vec3_add(body[i].x, tl_quat_rotate(body[i].q, own));
    return inward(&frame->at, tl_vec3_sub(there, frame->at.x));
}

static void make(tl_joint *j, const tl_joint_spec *s, const tl_rigid *r, const tl_motion *body, int32_t slot,
                 const tl_joint_frame *frame)
{
    const tl_joint_frame *soft[2] = {frame && frame[0].soft ? &frame[0] : NULL,
                                     frame && frame[1].soft ? &frame[1] : NULL};
    const tl_motion *m[2] = {soft[0] ? &soft[0]->at : motion_of(body, s->body[0]),
                             soft[1] ? &soft[1]->at : motion_of(body, s->body[1])};
    const tl_vec3 at[2] = {s->at_a, s->at_b};
    *j = (tl_joint){.spec = s,
                    .a = soft[0] ? slot : s->body[0],
                    .b = soft[1] ? slot + 1 : s->body[1],
                    .soft = {soft[0] != NULL, soft[1] != NULL}};
    tl_vec3 axis = tl_vec3_norm2(s->axis) > 0 ? s->axis : (tl_vec3){0, 0, 1}, first, second;
    for (int side = 0; side < 2; side++) {
        const tl_vec3 own = side && tl_vec3_norm2(s->axis_b) > 0 ? s->axis_b : axis;
        j->at[side] = anchor_of(r, body, s->body[side], at[side], soft[side]);
        tl_vec3_tangents(own, &first, &second);
        second = tl_vec3_cross(own, first);
        j->axis[side] = inward(m[side], own);
        j->first[side] = inward(m[side], first);
        j->second[side] = inward(m[side], second);
        j->still[side][0] = first;
        j->still[side][1] = second;
    }
    j->turn = tl_quat_mul(tl_quat_conjugate(m[1]->q), m[0]->q);
    j->length = fmin(soft[0] ? soft[0]->gyration : gyration(r, j->a), soft[1] ? soft[1]->gyration : gyration(r, j->b));
    j->unit = turns_about_axis(s->kind) ? j->length : 1;
    list_rows(j);
}

talus_status tl_joints_create(tl_joints *out, const tl_scene *s, const tl_rigid *r, const tl_rigid_state *state,
                              const tl_joint_frame *frame, talus_error *err)
{
    *out = (tl_joints){.count = s->joint_count, .frames = frame ? 2 * s->joint_count : 0};
    if (!s->joint_count) return TALUS_OK;
    out->joint = TL_NEW_ZERO(tl_joint, s->joint_count);
    if (!out->joint) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d joints", s->joint_count);
    for (int i = 0; i < s->joint_count; i++)
        make(&out->joint[i], &s->joints[i], r, state->body, r->count + 2 * i, frame ? frame + 2 * (int64_t)i : NULL);
    return TALUS_OK;
}

void tl_joints_free(tl_joints *j)
{
    tl_free(j->joint);
    *j = (tl_joints){0};
}

/* ---- state ---- */

static int parts(void *section, tl_state_part *out)
{
    tl_joint_state *s = section;
    out[0] = (tl_state_part){"joints/motion",
                             TL_NUMBER_F64,
                             (int)(sizeof(tl_joint_memory) / sizeof(double)),
                             sizeof(tl_joint_memory),
                             0,
                             &s->count,
                             (void **)&s->joint,
                             NULL};
    return 1;
}

static void free_state(void *section)
{
    tl_joint_state *s = section;
    tl_free(s->joint);
    *s = (tl_joint_state){0};
}

static talus_status check(const void *section, const tl_scene *scene, int32_t bodies, const char *path,
                          talus_error *err)
{
    const tl_joint_state *s = section;
    (void)bodies;
    if (s->count != scene->joint_count)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%.200s has %lld joints, the scene %d", path, (long long)s->count,
                       scene->joint_count);
    return TALUS_OK;
}

const tl_state_kind tl_joints_kind = {"joints", sizeof(tl_joint_state), parts, free_state, check, NULL};

talus_status tl_joint_state_begin(tl_joint_state *out, const tl_joints *j, talus_error *err)
{
    out->count = j->count;
    out->joint = TL_NEW_ZERO(tl_joint_memory, j->count);
    if (!out->joint) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the state of %d joints", (int)j->count);
    return TALUS_OK;
}

/* ---- rows ---- */

typedef struct place {
    const tl_motion *m[2];
    tl_vec3 at[2];                        /* world */
    tl_vec3 axis[2], first[2], second[2]; /* world */
    tl_joint_row *row;                    /* the next one */
} place;

static void add_linear(place *p, tl_vec3 direction, tl_vec3 at, double x)
{
    const tl_vec3 back = tl_vec3_neg(direction);
    *p->row++ = (tl_joint_row){direction, tl_vec3_cross(tl_vec3_sub(at, p->m[0]->x), direction), back,
                               tl_vec3_cross(tl_vec3_sub(at, p->m[1]->x), back), x};
}

static void add_angular(place *p, double length, tl_vec3 direction, double x)
{
    const tl_vec3 d = tl_vec3_scale(length, direction), none = {0, 0, 0};
    *p->row++ = (tl_joint_row){none, d, none, tl_vec3_neg(d), length * x};
}

/* One point of both. Places half-way are apart by the square of the step: the middle is the same for both. */
static void hold_point(place *p)
{
    const tl_vec3 c = tl_vec3_scale(0.5, tl_vec3_add(p->at[0], p->at[1])), d = tl_vec3_sub(p->at[0], p->at[1]);
    add_linear(p, (tl_vec3){1, 0, 0}, c, d.x);
    add_linear(p, (tl_vec3){0, 1, 0}, c, d.y);
    add_linear(p, (tl_vec3){0, 0, 1}, c, d.z);
}

/* A point of a on a line or plane of b, where it is. */
static void hold_along(place *p, tl_vec3 direction)
{
    add_linear(p, direction, p->at[0], tl_vec3_dot(direction, tl_vec3_sub(p->at[0], p->at[1])));
}

static void hold_square(const tl_joint *j, place *p, tl_vec3 of_b) /* at right angles to a's axis */
{
    add_angular(p, j->length, tl_vec3_cross(p->axis[0], of_b), tl_vec3_dot(p->axis[0], of_b));
}

static void hold_axis(const tl_joint *j, place *p)
{
    hold_square(j, p, p->first[1]);
    hold_square(j, p, p->second[1]);
}

static void hold_turn(const tl_joint *j, place *p)
{
    const tl_vec3 off = tl_quat_difference(tl_quat_mul(p->m[1]->q, j->turn), p->m[0]->q);
    add_angular(p, j->length, (tl_vec3){1, 0, 0}, off.x);
    add_angular(p, j->length, (tl_vec3){0, 1, 0}, off.y);
    add_angular(p, j->length, (tl_vec3){0, 0, 1}, off.z);
}

/* The turn that is nearest to the last one and looks like `raw`. */
static double count_turns(double raw, double last)
{
    const double turn = 2 * acos(-1.0), off = raw - last;
    return last + off - turn * floor(off / turn + 0.5);
}

static double angle_between(tl_vec3 of, tl_vec3 first, tl_vec3 second)
{
    return atan2(tl_vec3_dot(of, second), tl_vec3_dot(of, first));
}

static void find_turns(const tl_joint *j, const place *p, const tl_joint_memory *m, double turn[2])
{
    const bool gear = j->spec->kind == TL_JOINT_GEAR;
    turn[0] = turn[1] = 0;
    for (int side = 0; side < (gear ? 2 : 1); side++) {
        const tl_vec3 first = gear ? j->still[side][0] : p->first[1], second = gear ? j->still[side][1] : p->second[1];
        turn[side] = count_turns(angle_between(p->first[side], first, second), m->turn[side]);
    }
}

/* Distances, ropes and springs: along the line between the points. */
static double add_length(const tl_joint *j, place *p)
{
    const tl_vec3 d = tl_vec3_sub(p->at[0], p->at[1]), up = {0, 1, 0};
    const double length = tl_vec3_norm(d), more = length - j->spec->length;
    const tl_vec3 along = tl_vec3_normalize_or(d, up);
    if (j->spec->kind == TL_JOINT_ROPE)
        add_linear(p, tl_vec3_neg(along), p->at[0], -more);
    else
        add_linear(p, along, p->at[0], more);
    return length;
}

static void add_gear(const tl_joint *j, place *p, const double turn[2])
{
    const double ratio = j->spec->ratio;
    const tl_vec3 none = {0, 0, 0};
    *p->row++ = (tl_joint_row){none, tl_vec3_scale(j->length, p->axis[0]), none,
                               tl_vec3_scale(-j->length * ratio, p->axis[1]), j->length * (turn[0] - ratio * turn[1])};
}

static void add_screw(const tl_joint *j, place *p, double turn)
{
    const double per_rad = j->spec->pitch / (2 * acos(-1.0));
    hold_along(p, p->axis[1]);
    tl_joint_row *row = p->row - 1;
    row->turn_a = tl_vec3_add_scaled(row->turn_a, -per_rad, p->axis[1]);
    row->turn_b = tl_vec3_add_scaled(row->turn_b, per_rad, p->axis[1]);
    row->x -= per_rad * turn;
}

static void add_holds(const tl_joint *j, place *p, const double turn[2])
{
    switch ((tl_joint_kind)j->spec->kind) {
    case TL_JOINT_FIXED:
        hold_point(p);
        hold_turn(j, p);
        break;
    case TL_JOINT_BALL: hold_point(p); break;
    case TL_JOINT_HINGE:
        hold_point(p);
        hold_axis(j, p);
        break;
    case TL_JOINT_UNIVERSAL:
        hold_point(p);
        hold_square(j, p, p->axis[1]);
        break;
    case TL_JOINT_PLANAR:
        hold_along(p, p->axis[1]);
        hold_axis(j, p);
        break;
    case TL_JOINT_SLIDER:
    case TL_JOINT_CYLINDER:
    case TL_JOINT_SCREW:
        hold_along(p, p->first[1]);
        hold_along(p, p->second[1]);
        if (j->spec->kind == TL_JOINT_SLIDER)
            hold_turn(j, p);
        else
            hold_axis(j, p);
        if (j->spec->kind == TL_JOINT_SCREW) add_screw(j, p, turn[0]);
        break;
    case TL_JOINT_DISTANCE:
    case TL_JOINT_ROPE:
    case TL_JOINT_SPRING: add_length(j, p); break;
    case TL_JOINT_GEAR: add_gear(j, p, turn); break;
    }
}

/* Along or about the axis, `way` 1 or -1, with x = way (coordinate - zero). */
static void add_free(const tl_joint *j, place *p, double way, double coordinate, double zero)
{
    const tl_vec3 axis = tl_vec3_scale(way, p->axis[1]);
    const double x = way * (coordinate - zero);
    if (turns_about_axis(j->spec->kind))
        add_angular(p, j->length, axis, x);
    else
        add_linear(p, axis, p->at[0], x);
}

static double swing(const place *p)
{
    return atan2(tl_vec3_norm(tl_vec3_cross(p->axis[1], p->axis[0])), tl_vec3_dot(p->axis[0], p->axis[1]));
}

/* A ball's axis leaves the cone about that of b by turning about what is at right angles to both. */
static void add_cone(const tl_joint *j, place *p)
{
    const tl_vec3 about = tl_vec3_normalize_or(tl_vec3_cross(p->axis[1], p->axis[0]), p->first[1]);
    add_angular(p, j->length, tl_vec3_neg(about), j->spec->limits[1] - swing(p));
}

static double coordinate_of(const tl_joint *j, const place *p, const double turn[2])
{
    const tl_vec3 d = tl_vec3_sub(p->at[0], p->at[1]);
    switch ((tl_joint_kind)j->spec->kind) {
    case TL_JOINT_HINGE:
    case TL_JOINT_SCREW:
    case TL_JOINT_GEAR: return turn[0];
    case TL_JOINT_SLIDER:
    case TL_JOINT_CYLINDER: return tl_vec3_dot(p->axis[1], d);
    case TL_JOINT_DISTANCE:
    case TL_JOINT_ROPE:
    case TL_JOINT_SPRING: return tl_vec3_norm(d);
    case TL_JOINT_BALL: return swing(p);
    default: return 0;
    }
}

static place find_place(const tl_joint *j, const tl_motion *body)
{
    place p = {.m = {motion_of(body, j->a), motion_of(body, j->b)}};
    for (int side = 0; side < 2; side++) {
        const tl_quat q = p.m[side]->q;
        p.at[side] = tl_vec3_add(p.m[side]->x, tl_quat_rotate(q, j->at[side]));
        p.axis[side] = tl_quat_rotate(q, j->axis[side]);
        p.first[side] = tl_quat_rotate(q, j->first[side]);
        p.second[side] = tl_quat_rotate(q, j->second[side]);
    }
    return p;
}

/* Velocity of a point that moves with m. */
static tl_vec3 velocity_at(const tl_motion *m, tl_vec3 at)
{
    return tl_vec3_add(m->v, tl_vec3_cross(m->w, tl_vec3_sub(at, m->x)));
}

double tl_joint_speed(const tl_joint *j, const tl_motion *body)
{
    const place p = find_place(j, body);
    const tl_vec3 turns = tl_vec3_sub(p.m[0]->w, p.m[1]->w), d = tl_vec3_sub(p.at[0], p.at[1]);
    switch ((tl_joint_kind)j->spec->kind) {
    case TL_JOINT_HINGE:
    case TL_JOINT_SCREW: return tl_vec3_dot(p.axis[1], turns);
    case TL_JOINT_GEAR: return tl_vec3_dot(p.axis[0], p.m[0]->w);
    case TL_JOINT_SLIDER:
    case TL_JOINT_CYLINDER:
        return tl_vec3_dot(p.axis[1], tl_vec3_sub(velocity_at(p.m[0], p.at[0]), velocity_at(p.m[1], p.at[0])));
    case TL_JOINT_DISTANCE:
    case TL_JOINT_ROPE:
    case TL_JOINT_SPRING:
        return tl_vec3_dot(tl_vec3_normalize(d),
                           tl_vec3_sub(velocity_at(p.m[0], p.at[0]), velocity_at(p.m[1], p.at[1])));
    default: return 0;
    }
}

double tl_joint_measure(const tl_joint *j, const tl_motion *body, const tl_joint_memory *m,
                        tl_joint_row row[TL_JOINT_ROWS], double turn[2])
{
    const tl_joint_spec *s = j->spec;
    place p = find_place(j, body);
    p.row = row;
    find_turns(j, &p, m, turn);
    const double coordinate = coordinate_of(j, &p, turn);
    add_holds(j, &p, turn);
    if (s->limited && s->kind == TL_JOINT_BALL) add_cone(j, &p);
    if (s->limited && s->kind != TL_JOINT_BALL) {
        add_free(j, &p, 1, coordinate, s->limits[0]);
        add_free(j, &p, -1, coordinate, s->limits[1]);
    }
    if (s->friction > 0) add_free(j, &p, 1, coordinate, 0);
    if (s->motor.kind != TL_MOTOR_NONE) add_free(j, &p, 1, coordinate, 0);
    TL_ASSERT(p.row - row == j->rows);
    return coordinate;
}

static double speed_of(const tl_joint_row *row, int32_t body_a, int32_t body_b, const double *v)
{
    const double *a = v + 6 * (int64_t)body_a, *b = v + 6 * (int64_t)body_b;
    double u = tl_vec3_dot(row->push_a, tl_vec3_load(a)) + tl_vec3_dot(row->turn_a, tl_vec3_load(a + 3));
    if (body_b >= 0) u += tl_vec3_dot(row->push_b, tl_vec3_load(b)) + tl_vec3_dot(row->turn_b, tl_vec3_load(b + 3));
    return u;
}

double tl_joint_row_speed(const tl_joint *j, const tl_joint_row *row, const double *v)
{
    return speed_of(row, j->a, j->b, v);
}

double tl_joint_block_speed(const tl_joint_blocks *j, int64_t k, const double *v)
{
    return speed_of(&j->row[k], j->body[k / 3][0], j->body[k / 3][1], v);
}

bool tl_joints_part(const tl_joints *j, int32_t a, int32_t b)
{
    for (int32_t k = 0; k < j->count; k++) {
        const tl_joint_spec *s = j->joint[k].spec;
        if (!s->collide && ((s->body[0] == a && s->body[1] == b) || (s->body[0] == b && s->body[1] == a))) return true;
    }
    return false;
}

/* ---- laws ---- */

/* Of a row that holds: what makes it metres. */
static double row_length(const tl_joint *j, int row)
{
    static const int linear[] = {
        [TL_JOINT_FIXED] = 3,    [TL_JOINT_BALL] = 3,      [TL_JOINT_HINGE] = 3,  [TL_JOINT_SLIDER] = 2,
        [TL_JOINT_CYLINDER] = 2, [TL_JOINT_UNIVERSAL] = 3, [TL_JOINT_PLANAR] = 1, [TL_JOINT_DISTANCE] = 1,
        [TL_JOINT_ROPE] = 1,     [TL_JOINT_SPRING] = 1,    [TL_JOINT_GEAR] = 0,   [TL_JOINT_SCREW] = 2};
    const bool screw = j->spec->kind == TL_JOINT_SCREW && row == 4;
    return row < linear[j->spec->kind] || screw ? 1 : j->length;
}

double tl_joint_compliance(const tl_joint *j, int row)
{
    const double length = row_length(j, row);
    return j->spec->compliance * length * length;
}

double tl_joint_row_energy(const tl_joint *j, int row, double x)
{
    if (j->law[row] == TL_ROW_SPRING) return 0.5 * j->spec->stiffness * x * x;
    if (j->law[row] != TL_ROW_HOLD || !(j->spec->compliance > 0)) return 0;
    return 0.5 * x * x / tl_joint_compliance(j, row);
}

double tl_joint_energy(const tl_joint *j, const tl_motion *body, const tl_joint_memory *m)
{
    tl_joint_row row[TL_JOINT_ROWS];
    double turn[2], sum = 0;
    if (j->spec->kind != TL_JOINT_SPRING && !(j->spec->compliance > 0)) return 0;
    tl_joint_measure(j, body, m, row, turn);
    for (int r = 0; r < j->rows; r++) sum += tl_joint_row_energy(j, r, row[r].x);
    return sum;
}

bool tl_joint_leads(const tl_joint *j, int row)
{
    const tl_motor_spec *m = &j->spec->motor;
    return j->law[row] == TL_ROW_MOTOR && m->kind == TL_MOTOR_POSITION && m->stiffness == 0 && m->damping == 0;
}

static tl_row_law_out motor_law(const tl_joint *j, const tl_row_ask *ask)
{
    const tl_motor_spec *m = &j->spec->motor;
    const double dt = ask->dt, unit = j->unit, max = m->max > 0 ? m->max * dt / unit : INFINITY;
    if (m->kind == TL_MOTOR_FORCE) {
        const double push = ask->motor.value * dt / unit;
        return (tl_row_law_out){push, push, 0, 0};
    }
    if (m->kind == TL_MOTOR_SPEED) return (tl_row_law_out){-max, max, 0, -ask->motor.value * unit};
    const double off = ask->start - ask->motor.value * unit;
    if (m->stiffness == 0 && m->damping == 0)
        return (tl_row_law_out){-max, max, 0, ask->half ? ask->speed + 2 * off / dt : off / dt};
    /* the error at the end of the step counts, as it follows from the velocity then */
    const double k = m->stiffness / (unit * unit), c = m->damping / (unit * unit);
    const double ahead = ask->half ? 0.5 * dt * ask->speed : 0, s = dt * (c + (ask->half ? 0.5 : 1) * dt * k);
    return (tl_row_law_out){-max, max, 1 / s, dt * (k * (off + ahead) - c * ask->motor.rate * unit) / s};
}

/* Where velocities are chords: x at the end, now and at the start of the last step count with 1/4, 1/2, 1/4, speeds of
 * before and after with 1/2. With steps of one length that is the trapezoidal rule, which keeps a swing's energy. */
static tl_row_law_out chord_law(double stiffness, double damping, const tl_row_ask *ask)
{
    const double dt = ask->dt, bend = 0.25 * dt * dt * stiffness, drag = 0.5 * dt * damping;
    return (tl_row_law_out){-INFINITY, INFINITY, 1 / (bend + drag),
                            (dt * stiffness * ask->start - (bend - drag) * ask->speed) / (bend + drag)};
}

tl_row_law_out tl_joint_law(const tl_joint *j, int row, const tl_row_ask *ask)
{
    const tl_joint_spec *s = j->spec;
    const double dt = ask->dt, close = ask->half ? ask->speed + 2 * ask->start / dt : ask->start / dt;
    if (ask->mean && !ask->half) {
        const bool spring = j->law[row] == TL_ROW_SPRING;
        return chord_law(spring ? s->stiffness : 1 / tl_joint_compliance(j, row), spring ? s->damping : 0, ask);
    }
    switch (j->law[row]) {
    case TL_ROW_HOLD: {
        const double gives = tl_joint_compliance(j, row) / (dt * dt);
        if (ask->mean && ask->half)
            return (tl_row_law_out){-INFINITY, INFINITY, 4 * gives, ask->speed + 4 * ask->start / dt};
        return (tl_row_law_out){-INFINITY, INFINITY, (ask->half ? 2 : 1) * gives, close};
    }
    case TL_ROW_LIMIT: return (tl_row_law_out){0, INFINITY, 0, close};
    case TL_ROW_DRY: return (tl_row_law_out){-s->friction * dt / j->unit, s->friction * dt / j->unit, 0, 0};
    case TL_ROW_MOTOR: return motor_law(j, ask);
    case TL_ROW_SPRING: {
        const double k = s->stiffness, c = s->damping,
                     give = ask->half ? 0.5 * dt * (0.5 * dt * k + c) : dt * (dt * k + c);
        return (tl_row_law_out){-INFINITY, INFINITY, 1 / give,
                                (ask->half ? ask->speed : 0) + dt * k * ask->start / give};
    }
    default: return (tl_row_law_out){0, 0, 0, 0};
    }
}
