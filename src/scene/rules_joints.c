/* Rules of joints that need several keys, or the bodies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "scene/read.h"

#define APART 1e-6 /* m: what two anchors of one point may be apart at the start */
#define FAR 3.0    /* times a body's size: an anchor that is farther from both bodies is told */

static bool needs_axis(int kind)
{
    return kind == TL_JOINT_HINGE || kind == TL_JOINT_SLIDER || kind == TL_JOINT_CYLINDER ||
           kind == TL_JOINT_UNIVERSAL || kind == TL_JOINT_PLANAR || kind == TL_JOINT_GEAR || kind == TL_JOINT_SCREW;
}

static bool has_length(int kind)
{
    return kind == TL_JOINT_DISTANCE || kind == TL_JOINT_ROPE || kind == TL_JOINT_SPRING;
}

static bool has_coordinate(int kind)
{
    return kind == TL_JOINT_HINGE || kind == TL_JOINT_SLIDER || kind == TL_JOINT_CYLINDER || kind == TL_JOINT_SCREW;
}

void tl_rules_motor(tl_reader *r, const tl_seen *seen, tl_motor_spec *m)
{
    static const char *const ways[] = {"force", "speed", "position"};
    int count = 0;
    for (int k = 0; k < 3; k++) {
        if (!tl_seen_has(seen, ways[k])) continue;
        m->kind = TL_MOTOR_FORCE + k;
        count++;
    }
    if (count != 1)
        tl_read_problem(r, seen->where, "%s must have one of force, speed and position, got %s", seen->path,
                        count ? "several" : "none");
    if ((tl_seen_has(seen, "stiffness") || tl_seen_has(seen, "damping")) && m->kind != TL_MOTOR_POSITION)
        tl_read_problem(r, seen->where, "%s has gains, which are those of `position`", seen->path);
    if (tl_seen_has(seen, "max") && m->kind == TL_MOTOR_FORCE)
        tl_read_problem(r, tl_seen_where(r, seen, "max"), "%s.max is for `speed` and `position`; a force is what it is",
                        seen->path);
}

/* A key that a kind of joint does not read is a mistake of the scene. */
static void only_for(tl_reader *r, const tl_seen *seen, const char *key, bool fits, const char *kinds)
{
    if (tl_seen_has(seen, key) && !fits)
        tl_read_problem(r, tl_seen_where(r, seen, key), "%s.%s is for %s", seen->path, key, kinds);
}

static void check_axis(tl_reader *r, const tl_seen *seen, const char *key, tl_vec3 *axis)
{
    if (!tl_seen_good(seen, key)) return;
    const double length = tl_vec3_norm(*axis);
    if (!(length > 1e-9))
        tl_read_problem(r, tl_seen_where(r, seen, key), "%s.%s must not be zero, got {%g, %g, %g}", seen->path, key,
                        axis->x, axis->y, axis->z);
    else
        *axis = tl_vec3_scale(1 / length, *axis);
}

static void check_keys(tl_reader *r, const tl_seen *seen, const tl_joint_spec *j)
{
    const int k = j->kind;
    const bool free = has_coordinate(k), ball = k == TL_JOINT_BALL, spring = k == TL_JOINT_SPRING;
    only_for(r, seen, "axis", needs_axis(k) || ball,
             "hinges, sliders, cylinders, screws, universal joints, planes, gears and balls with limits");
    only_for(r, seen, "axis_b", k == TL_JOINT_UNIVERSAL || k == TL_JOINT_GEAR, "universal joints and gears");
    only_for(r, seen, "limits", free || ball, "hinges, sliders, cylinders, screws and balls");
    only_for(r, seen, "friction", free, "hinges, sliders, cylinders and screws");
    only_for(r, seen, "motor", free, "hinges, sliders, cylinders and screws");
    only_for(r, seen, "length", has_length(k), "distances, ropes and springs");
    only_for(r, seen, "stiffness", spring, "springs");
    only_for(r, seen, "damping", spring, "springs");
    only_for(r, seen, "compliance", !spring, "all joints but springs, which have a stiffness");
    only_for(r, seen, "breaks_torque", !has_length(k), "joints that hold how bodies turn");
    only_for(r, seen, "ratio", k == TL_JOINT_GEAR, "gears");
    only_for(r, seen, "pitch", k == TL_JOINT_SCREW, "screws");
    only_for(r, seen, "at", k != TL_JOINT_GEAR && !has_length(k), "joints of one point; this kind has at_a and at_b");
    only_for(r, seen, "at_a", k != TL_JOINT_GEAR, "joints with a place");
    only_for(r, seen, "at_b", k != TL_JOINT_GEAR, "joints with a place");
}

void tl_rules_joint(tl_reader *r, const tl_seen *seen, tl_joint_spec *j)
{
    j->has_at = tl_seen_has(seen, "at");
    j->has_at_a = tl_seen_has(seen, "at_a");
    j->has_at_b = tl_seen_has(seen, "at_b");
    j->limited = tl_seen_good(seen, "limits");
    j->body[0] = j->body[1] = -1;
    if (!tl_seen_good(seen, "kind")) return;
    check_keys(r, seen, j);
    check_axis(r, seen, "axis", &j->axis);
    check_axis(r, seen, "axis_b", &j->axis_b);
    const bool axis = tl_seen_has(seen, "axis");
    if (!axis && (needs_axis(j->kind) || (j->kind == TL_JOINT_BALL && j->limited)))
        tl_read_problem(r, seen->where, "%s.axis is missing", seen->path);
    if (j->kind == TL_JOINT_GEAR && !tl_seen_has(seen, "axis_b")) j->axis_b = j->axis;
    if (j->kind == TL_JOINT_UNIVERSAL && !tl_seen_has(seen, "axis_b"))
        tl_read_problem(r, seen->where, "%s.axis_b is missing", seen->path);
    if (j->kind == TL_JOINT_UNIVERSAL && fabs(tl_vec3_dot(j->axis, j->axis_b)) > 1e-6)
        tl_read_problem(r, tl_seen_where(r, seen, "axis_b"), "%s.axis_b must be at right angles to axis", seen->path);
    if (j->kind == TL_JOINT_BALL && j->limited && !(j->limits[0] == 0 && j->limits[1] > 0 && j->limits[1] < 3.14))
        tl_read_problem(r, tl_seen_where(r, seen, "limits"),
                        "%s.limits of a ball must be {0, angle} with an angle below 3.14 rad, got {%g, %g}", seen->path,
                        j->limits[0], j->limits[1]);
    if (has_coordinate(j->kind) && j->limited && !(j->limits[0] <= 0 && j->limits[1] >= 0))
        tl_read_problem(r, tl_seen_where(r, seen, "limits"), "%s.limits must hold 0, where it starts, got {%g, %g}",
                        seen->path, j->limits[0], j->limits[1]);
    if (j->kind == TL_JOINT_SPRING && !(j->stiffness > 0 || j->damping > 0))
        tl_read_problem(r, seen->where, "%s is a spring without stiffness or damping", seen->path);
    if (j->kind == TL_JOINT_GEAR && j->ratio == 0)
        tl_read_problem(r, tl_seen_where(r, seen, "ratio"), "%s.ratio must not be 0", seen->path);
    if (has_length(j->kind) && j->length < 0 && j->length != -1)
        tl_read_problem(r, tl_seen_where(r, seen, "length"), "%s.length must be >= 0, or -1, got %g", seen->path,
                        j->length);
    if (!has_length(j->kind) && j->kind != TL_JOINT_FIXED && j->kind != TL_JOINT_GEAR && !j->has_at && !j->has_at_a)
        tl_read_problem(r, seen->where, "%s.at is missing: where is it?", seen->path);
    if (j->has_at && (j->has_at_a || j->has_at_b))
        tl_read_problem(r, tl_seen_where(r, seen, "at"), "%s has `at` and also at_a or at_b; give one of them",
                        seen->path);
}

/* ---- with the bodies ---- */

static int find_body(tl_reader *r, const tl_scene *s, const tl_joint_spec *j, int i, const char *key, const char *name)
{
    if (!*name) return -1;
    for (int b = 0; b < s->body_count; b++) {
        if (strcmp(s->bodies[b].name, name)) continue;
        const int m = s->bodies[b].material;
        if (m >= 0 && r->materials[m].kind == TL_MATERIAL_ELASTIC && s->engine != TL_ENGINE_LG)
            tl_read_problem(r, j->where,
                            "joints[%d].%s must be rigid, \"%.60s\" is elastic: joints hold elastic bodies in engine "
                            "\"lg\"",
                            i + 1, key, name);
        return b;
    }
    const char **names = tl_reader_take(r, (size_t)(s->body_count + 1) * sizeof *names);
    for (int b = 0; b < s->body_count; b++) names[b] = s->bodies[b].name;
    const char *near = tl_text_nearest(name, names);
    tl_read_problem(r, j->where, "joints[%d].%s must name a body, got \"%.60s\"%s%s%s", i + 1, key, name,
                    near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return -1;
}

static tl_vec3 to_world(const tl_scene *s, int body, tl_vec3 p)
{
    if (body < 0) return p;
    const tl_body *b = &s->bodies[body];
    return tl_vec3_add(b->at, tl_quat_rotate(tl_quat_normalize(b->rotation), p));
}

static tl_vec3 from_world(const tl_scene *s, int body, tl_vec3 p)
{
    if (body < 0) return p;
    const tl_body *b = &s->bodies[body];
    return tl_quat_rotate(tl_quat_conjugate(tl_quat_normalize(b->rotation)), tl_vec3_sub(p, b->at));
}

/* Both anchors in their bodies' frames, whichever way they were given. */
static void set_anchors(tl_reader *r, const tl_scene *s, tl_joint_spec *j, int i)
{
    const bool two = has_length(j->kind);
    if (two && j->body[1] < 0 && !j->has_at_b)
        tl_read_problem(r, j->where, "joints[%d].at_b is missing: where in the world does it end?", i + 1);
    if (two || (j->has_at_a && j->has_at_b)) {
        const double apart =
            tl_vec3_norm(tl_vec3_sub(to_world(s, j->body[0], j->at_a), to_world(s, j->body[1], j->at_b)));
        if (!two && j->kind != TL_JOINT_SLIDER && j->kind != TL_JOINT_CYLINDER && j->kind != TL_JOINT_PLANAR &&
            apart > APART)
            tl_read_problem(r, j->where, "joints[%d]: at_a and at_b are one point, but lie %.3g m apart at the start",
                            i + 1, apart);
        if (j->kind == TL_JOINT_ROPE && j->length >= 0 && apart > j->length * (1 + 1e-9))
            tl_read_problem(r, j->where, "joints[%d].length must be at least the %.6g m between its ends, got %g",
                            i + 1, apart, j->length);
        if (j->kind == TL_JOINT_DISTANCE && j->length >= 0 && fabs(apart - j->length) > APART)
            tl_read_problem(r, j->where, "joints[%d].length must be the %.9g m between its points at the start, got %g",
                            i + 1, apart, j->length);
        if (j->length < 0) j->length = apart;
        if ((j->kind == TL_JOINT_DISTANCE || j->kind == TL_JOINT_ROPE) && !(j->length > APART))
            tl_read_problem(r, j->where,
                            "joints[%d] has no length, %.3g m between its points: it has no direction; for one point "
                            "of both use a ball",
                            i + 1, j->length);
        return;
    }
    if (!j->has_at) j->at = to_world(s, j->has_at_b ? j->body[1] : j->body[0], j->has_at_b ? j->at_b : j->at_a);
    j->at_a = from_world(s, j->body[0], j->at);
    j->at_b = from_world(s, j->body[1], j->at);
}

static bool is_far(const tl_scene *s, int body, tl_vec3 local)
{
    if (body < 0 || s->bodies[body].shape < 0 || !tl_shape_bounded(s->shapes, s->bodies[body].shape)) return body >= 0;
    const tl_box3 box = tl_shape_bounds(s->shapes, s->bodies[body].shape);
    const tl_vec3 middle = tl_vec3_scale(0.5, tl_vec3_add(box.lo, box.hi));
    return tl_vec3_norm(tl_vec3_sub(local, middle)) > FAR * tl_vec3_norm(tl_vec3_sub(box.hi, box.lo));
}

static bool is_free(const tl_scene *s, int body) { return body >= 0 && s->bodies[body].kind == TL_BODY_FREE; }

static void check_bodies(tl_reader *r, const tl_scene *s, tl_joint_spec *j, int i)
{
    if (j->body[0] < 0 || (*j->b && j->body[1] < 0)) return; /* told */
    if (j->body[0] == j->body[1]) {
        tl_read_problem(r, j->where, "joints[%d] holds \"%.60s\" to itself", i + 1, j->a);
        return;
    }
    if (!is_free(s, j->body[0]) && !is_free(s, j->body[1])) {
        tl_read_problem(r, j->where, "joints[%d] holds \"%.60s\" to %s%.60s%s, and neither can move freely", i + 1,
                        j->a, *j->b ? "\"" : "the world", j->b, *j->b ? "\"" : "");
        return;
    }
    if (j->kind == TL_JOINT_GEAR) {
        if (j->body[1] < 0) tl_read_problem(r, j->where, "joints[%d] is a gear and needs two bodies", i + 1);
        return;
    }
    set_anchors(r, s, j, i);
    if (is_far(s, j->body[0], j->at_a) && (j->body[1] < 0 || is_far(s, j->body[1], j->at_b)))
        tl_read_note(r, j->where, "joints[%d] (%s) lies far from what it holds", i + 1, j->name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const tl_joint_spec *const *)a)->name, (*(const tl_joint_spec *const *)b)->name);
}

void tl_rules_joints(tl_reader *r, tl_scene *s)
{
    if (!s->joint_count) return;
    const tl_joint_spec **sorted = tl_reader_take(r, (size_t)s->joint_count * sizeof *sorted);
    for (int i = 0; i < s->joint_count; i++) {
        tl_joint_spec *j = &s->joints[i];
        char text[32];
        snprintf(text, sizeof text, "joint %d", i + 1);
        if (!*j->name) j->name = tl_reader_text(r, text);
        sorted[i] = j;
        j->body[0] = find_body(r, s, j, i, "a", j->a);
        j->body[1] = find_body(r, s, j, i, "b", j->b);
        check_bodies(r, s, j, i);
    }
    qsort(sorted, (size_t)s->joint_count, sizeof *sorted, by_name);
    for (int i = 1; i < s->joint_count; i++)
        if (!strcmp(sorted[i]->name, sorted[i - 1]->name))
            tl_read_problem(r, sorted[i]->where, "joints[%d].name must be unique, got \"%s\" again",
                            (int)(sorted[i] - s->joints) + 1, sorted[i]->name);
}
