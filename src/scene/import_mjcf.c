/* MJCF, the part of it that describes mechanisms: bodies, geoms, joints, default classes, motors, closed loops. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scene/import.h"

#define RIGHT_ANGLE 1e-6 /* cosine of what counts as one */
#define SAME_PLACE 1e-9  /* m */

typedef struct reader {
    tl_import *m;
    double angle; /* rad per unit of the file's angles */
    const char *eulerseq, *meshdir;
    bool autolimits, from_geoms, never_geoms;
} reader;

/* ---- attributes, with default classes ---- */

static const char *class_of(const tl_xml *e)
{
    const char *own = tl_xml_get(e, "class");
    for (const tl_xml *b = e; b && !own; b = b->parent) own = tl_xml_get(b, "childclass");
    return own ? own : "main";
}

static tl_xml *find_default(tl_xml *from, const char *name)
{
    for (tl_xml *d = from ? tl_xml_child(from, "default") : NULL; d; d = tl_xml_again(d)) {
        const char *is = tl_xml_get(d, "class");
        if (!strcmp(is ? is : "main", name)) return d;
        tl_xml *inside = find_default(d, name); /* at most TL_XML_DEPTH deep */
        if (inside) return inside;
    }
    return NULL;
}

/* The element's own, else that of its class, else those of the classes around that one. */
static const char *get(const reader *r, const tl_xml *e, const char *name)
{
    const char *own = tl_xml_get(e, name);
    const tl_xml *d = own ? NULL : find_default((tl_xml *)r->m->root, class_of(e));
    for (; d && !own && !strcmp(d->name, "default"); d = d->parent) {
        const tl_xml *kind = tl_xml_child(d, e->name);
        if (kind) own = tl_xml_get(kind, name);
    }
    return own;
}

/* *count is 0 where it is not given. */
static talus_status numbers(const reader *r, const tl_xml *e, const char *name, int low, int high, double *out,
                            int *count)
{
    const char *text = get(r, e, name);
    int found = 0;
    if (text) TL_TRY(tl_import_parse(r->m, e, name, text, low, high, out, &found));
    if (count) *count = found;
    return TALUS_OK;
}

static talus_status number(const reader *r, const tl_xml *e, const char *name, double *out)
{
    return numbers(r, e, name, 1, 1, out, NULL);
}

/* A name of the file's, or one by its number. */
static talus_status name_of(const reader *r, const tl_xml *e, const char **out)
{
    *out = tl_xml_get(e, "name");
    if (*out && **out) return TALUS_OK;
    char *made = tl_arena_take(r->m->arena, strlen(e->name) + 16);
    if (!made) return TL_FAIL(r->m->err, TALUS_NO_MEMORY, "no memory for a robot");
    sprintf(made, "%s %d", e->name, e->number);
    *out = made;
    return TALUS_OK;
}

/* ---- places ---- */

/* Angles about axes that are named by letters: small ones turn with the body, capital ones do not. */
static tl_quat from_euler(const reader *r, const double v[3])
{
    tl_quat q = tl_quat_identity();
    for (int k = 0; k < 3; k++) {
        const char c = r->eulerseq[k];
        const double a = r->angle * v[k];
        const tl_quat turn = tl_quat_exp(
            (tl_vec3){c == 'x' || c == 'X' ? a : 0, c == 'y' || c == 'Y' ? a : 0, c == 'z' || c == 'Z' ? a : 0});
        q = c >= 'x' ? tl_quat_mul(q, turn) : tl_quat_mul(turn, q);
    }
    return tl_quat_normalize(q);
}

static talus_status from_axes(const reader *r, const tl_xml *e, const double v[6], tl_quat *out)
{
    const tl_vec3 x = tl_vec3_normalize(tl_vec3_load(v)), other = tl_vec3_load(v + 3);
    const tl_vec3 y = tl_vec3_normalize(tl_vec3_add_scaled(other, -tl_vec3_dot(x, other), x));
    if (!(tl_vec3_norm(x) > 0.5 && tl_vec3_norm(y) > 0.5))
        return tl_import_fail(r->m, e, "xyaxes of <%s> must be two directions", e->name);
    *out = tl_quat_from_mat3(tl_mat3_from_columns(x, y, tl_vec3_cross(x, y)));
    return TALUS_OK;
}

/* The rotation that turns z along a direction by the shortest arc. */
static tl_quat z_along(tl_vec3 d)
{
    d = tl_vec3_normalize(d);
    if (d.z < -1 + 1e-12) return (tl_quat){0, 1, 0, 0};
    return tl_quat_normalize((tl_quat){1 + d.z, -d.y, d.x, 0});
}

static talus_status read_pose(const reader *r, const tl_xml *e, tl_pose *out)
{
    double v[6] = {0}, at[3] = {0, 0, 0};
    int n;
    out->rotation = tl_quat_identity();
    TL_TRY(numbers(r, e, "pos", 3, 3, at, NULL));
    out->at = tl_vec3_load(at);
    TL_TRY(numbers(r, e, "quat", 4, 4, v, &n));
    if (n && !(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3] > 1e-18))
        return tl_import_fail(r->m, e, "quat of <%s> must not be zero", e->name);
    if (n) out->rotation = tl_quat_normalize((tl_quat){v[0], v[1], v[2], v[3]});
    TL_TRY(numbers(r, e, "axisangle", 4, 4, v, &n));
    if (n && !(tl_vec3_norm(tl_vec3_load(v)) > 1e-9))
        return tl_import_fail(r->m, e, "the axis of <%s> must not be zero", e->name);
    if (n) out->rotation = tl_quat_from_axis_angle(tl_vec3_normalize(tl_vec3_load(v)), r->angle * v[3]);
    TL_TRY(numbers(r, e, "euler", 3, 3, v, &n));
    if (n) out->rotation = from_euler(r, v);
    TL_TRY(numbers(r, e, "xyaxes", 6, 6, v, &n));
    if (n) TL_TRY(from_axes(r, e, v, &out->rotation));
    TL_TRY(numbers(r, e, "zaxis", 3, 3, v, &n));
    if (n) out->rotation = z_along(tl_vec3_load(v));
    return TALUS_OK;
}

/* ---- geoms ---- */

static talus_status mesh_of(const reader *r, const tl_xml *e, tl_import_shape *s)
{
    const char *name = get(r, e, "mesh"), *is, *file = NULL;
    const tl_xml *mesh = NULL;
    if (!name) return tl_import_fail(r->m, e, "a <geom> of type mesh must have an attribute mesh");
    for (const tl_xml *a = tl_xml_child(r->m->root, "asset"); a && !file; a = tl_xml_again(a))
        for (mesh = tl_xml_child(a, "mesh"); mesh; mesh = tl_xml_again(mesh)) {
            file = tl_xml_get(mesh, "file");
            is = tl_xml_get(mesh, "name");
            if (file && is && !strcmp(is, name)) break;
            file = NULL;
        }
    if (!file) return tl_import_fail(r->m, e, "there is no mesh \"%.80s\" with a file in <asset>", name);
    double scale[3] = {1, 1, 1};
    TL_TRY(numbers(r, mesh, "scale", 3, 3, scale, NULL));
    s->size = tl_vec3_load(scale);
    const size_t room = strlen(r->meshdir) + strlen(file) + 2;
    char *path = tl_arena_take(r->m->arena, room);
    if (!path) return TL_FAIL(r->m->err, TALUS_NO_MEMORY, "no memory for a robot");
    snprintf(path, room, "%s%s%s", r->meshdir, *r->meshdir ? "/" : "", file);
    s->file = path;
    return TALUS_OK;
}

static talus_status read_type(const reader *r, const tl_xml *e, tl_import_kind *kind)
{
    static const char *const names[] = {"box", "sphere", "capsule", "cylinder", "mesh", "plane"}; /* by kind */
    const char *type = get(r, e, "type");
    *kind = get(r, e, "mesh") ? TL_IMPORT_MESH : TL_IMPORT_SPHERE;
    for (int k = 0; k < 6 && type; k++)
        if (!strcmp(type, names[k])) {
            *kind = (tl_import_kind)k;
            return TALUS_OK;
        }
    if (!type) return TALUS_OK;
    return tl_import_fail(r->m, e,
                          "the type of a geom is one of plane, sphere, capsule, cylinder, box, mesh, got "
                          "\"%.40s\"",
                          type);
}

/* Half lengths of the file to what the model has; with fromto the axis is between two points. */
static talus_status read_size(const reader *r, const tl_xml *e, tl_import_shape *s)
{
    double v[3] = {0, 0, 0}, ends[6];
    int n, line;
    if (s->kind == TL_IMPORT_MESH) return mesh_of(r, e, s);
    TL_TRY(numbers(r, e, "size", 1, 3, v, &n));
    TL_TRY(numbers(r, e, "fromto", 6, 6, ends, &line));
    s->size = (tl_vec3){v[0], 0, 2 * v[1]};
    if (s->kind == TL_IMPORT_BOX) s->size = (tl_vec3){2 * v[0], 2 * v[1], 2 * v[2]};
    if (!line) return TALUS_OK;
    const tl_vec3 from = tl_vec3_load(ends), to = tl_vec3_load(ends + 3), along = tl_vec3_sub(to, from);
    if (s->kind != TL_IMPORT_CAPSULE && s->kind != TL_IMPORT_CYLINDER && s->kind != TL_IMPORT_BOX)
        return tl_import_fail(r->m, e, "fromto is for capsules, cylinders and boxes");
    if (!(tl_vec3_norm(along) > 1e-12)) return tl_import_fail(r->m, e, "fromto must be two different points");
    s->pose = (tl_pose){tl_vec3_scale(0.5, tl_vec3_add(from, to)), z_along(along)};
    s->size.z = tl_vec3_norm(along);
    if (s->kind == TL_IMPORT_BOX) s->size.y = s->size.x;
    return TALUS_OK;
}

static talus_status read_surface(const reader *r, const tl_xml *e, tl_import_link *l)
{
    double friction[3] = {1, 0.005, 0.0001}, colour[4], act = 3; /* as MJCF has them where nothing is said */
    int n;
    TL_TRY(number(r, e, "condim", &act)); /* 4: spinning friction acts as well; 6: rolling too */
    TL_TRY(numbers(r, e, "friction", 1, 3, friction, NULL));
    if (l->friction >= 0 && l->friction != friction[0])
        tl_import_tell(r->m, e, "a body has one friction: that of this <geom> is left out");
    if (l->friction < 0) {
        l->friction = friction[0];
        l->spinning = act >= 4 ? friction[1] : -1;
        l->rolling = act >= 6 ? friction[2] : -1;
    }
    TL_TRY(numbers(r, e, "rgba", 4, 4, colour, &n));
    if (n && l->colour[3] < 0) memcpy(l->colour, colour, sizeof colour);
    return TALUS_OK;
}

/* Not for contact: it is drawn only, or stands for a body that has nothing else. */
static bool is_visual(const reader *r, const tl_xml *e)
{
    const char *a = get(r, e, "contype"), *b = get(r, e, "conaffinity");
    return a && b && !strcmp(a, "0") && !strcmp(b, "0");
}

static talus_status read_geom(const reader *r, const tl_xml *e, tl_import_link *l)
{
    tl_import_shape s = {.from = e, .density = r->m->density};
    tl_xml_get(e, "name");
    TL_TRY(read_type(r, e, &s.kind));
    TL_TRY(read_pose(r, e, &s.pose));
    TL_TRY(read_size(r, e, &s));
    TL_TRY(number(r, e, "density", &s.density));
    TL_TRY(number(r, e, "mass", &s.mass));
    if (s.mass < 0 || s.density < 0 || (s.mass == 0 && s.density == 0))
        return tl_import_fail(r->m, e, "a <geom> must have a mass or density > 0");
    TL_TRY(read_surface(r, e, l));
    return tl_import_add_shape(r->m, l, &s);
}

static talus_status read_geoms(const reader *r, const tl_xml *body, tl_import_link *l)
{
    int drawn = 0;
    for (const tl_xml *e = tl_xml_child(body, "geom"); e; e = tl_xml_again(e)) {
        drawn += is_visual(r, e);
        if (!is_visual(r, e)) TL_TRY(read_geom(r, e, l));
    }
    for (tl_xml *e = tl_xml_child(body, "geom"); e && drawn; e = tl_xml_again(e)) {
        if (!is_visual(r, e)) continue;
        if (l->shape_count)
            tl_xml_use_all(e);
        else
            TL_TRY(read_geom(r, e, l));
    }
    return TALUS_OK;
}

static talus_status read_inertial(const reader *r, const tl_xml *e, tl_import_link *l)
{
    double v[6] = {0};
    int full, diagonal;
    tl_pose pose;
    TL_TRY(read_pose(r, e, &pose));
    TL_TRY(number(r, e, "mass", &l->mass));
    if (!(l->mass > 0)) return tl_import_fail(r->m, e, "<inertial> must have a mass > 0 kg, got %g", l->mass);
    TL_TRY(numbers(r, e, "diaginertia", 3, 3, v, &diagonal));
    TL_TRY(numbers(r, e, "fullinertia", 6, 6, v, &full));
    if (!full && !diagonal) return tl_import_fail(r->m, e, "<inertial> must have diaginertia or fullinertia");
    const tl_mat3 own = {{{v[0], v[3], v[4]}, {v[3], v[1], v[5]}, {v[4], v[5], v[2]}}};
    const tl_mat3 R = tl_quat_to_mat3(pose.rotation);
    l->centre = pose.at;
    l->inertia = tl_mat3_symmetric(tl_mat3_mul(R, tl_mat3_mul_t(own, R)));
    return TALUS_OK;
}

/* ---- joints ---- */

#define JOINTS 3 /* of one body that become one */
typedef struct freedom {
    const tl_xml *from;
    bool slides, ball;
    tl_vec3 at, axis;
} freedom;

static bool is_true(const char *text, bool otherwise) { return text ? !strcmp(text, "true") : otherwise; }

static talus_status read_range(const reader *r, const tl_xml *e, bool slides, tl_import_joint *j)
{
    const char *limited = get(r, e, "limited");
    double range[2];
    int n;
    TL_TRY(numbers(r, e, "range", 2, 2, range, &n));
    if (!n || !is_true(limited && strcmp(limited, "auto") ? limited : NULL, r->autolimits)) return TALUS_OK;
    if (range[0] > range[1])
        return tl_import_fail(r->m, e, "range must be {low, high} with low <= high, got %g and %g", range[0], range[1]);
    j->limited = true;
    for (int k = 0; k < 2; k++) j->limits[k] = slides ? range[k] : r->angle * range[k];
    j->start = fmin(fmax(0, j->limits[0]), j->limits[1]);
    if (j->start != 0)
        tl_import_tell(r->m, e, "joint \"%s\" starts at %g, because 0 is not inside of its range", j->name, j->start);
    return TALUS_OK;
}

/* What a hinge or slide has besides its axis. */
static talus_status read_passive(const reader *r, const tl_xml *e, bool slides, tl_import_joint *j)
{
    double reference = 0;
    TL_TRY(read_range(r, e, slides, j));
    TL_TRY(number(r, e, "frictionloss", &j->friction));
    TL_TRY(number(r, e, "damping", &j->damping));
    TL_TRY(number(r, e, "stiffness", &j->stiffness));
    TL_TRY(number(r, e, "springref", &reference));
    if (j->friction < 0 || j->damping < 0 || j->stiffness < 0)
        return tl_import_fail(r->m, e, "frictionloss, damping and stiffness of <joint> must be >= 0");
    j->target = (slides ? 1 : r->angle) * reference - j->start;
    if (j->damping > 0 || j->stiffness > 0) j->motor = TL_MOTOR_POSITION;
    return TALUS_OK;
}

static talus_status read_freedom(const reader *r, const tl_xml *e, freedom *f)
{
    static const char *const types[] = {"hinge", "slide", "ball"};
    const char *type = get(r, e, "type");
    double at[3] = {0, 0, 0}, axis[3] = {0, 0, 1};
    int k = 0;
    while (type && k < 3 && strcmp(type, types[k])) k++;
    if (k == 3)
        return tl_import_fail(r->m, e,
                              "the type of a joint is one of hinge, slide, ball and, alone, free, got \"%.40s\"", type);
    TL_TRY(numbers(r, e, "pos", 3, 3, at, NULL));
    TL_TRY(numbers(r, e, "axis", 3, 3, axis, NULL));
    *f = (freedom){e, k == 1, k == 2, tl_vec3_load(at), tl_vec3_normalize(tl_vec3_load(axis))};
    if (!(tl_vec3_norm(f->axis) > 0.5)) return tl_import_fail(r->m, e, "the axis of <joint> must not be zero");
    return TALUS_OK;
}

static bool across(const freedom *f, const freedom *g) { return fabs(tl_vec3_dot(f->axis, g->axis)) < RIGHT_ANGLE; }
static bool together(const freedom *f, const freedom *g)
{
    return tl_vec3_norm(tl_vec3_sub(f->at, g->at)) < SAME_PLACE;
}

/* Joints of one body that are one joint of talus; -1: there is none such. `main`: whose coordinate that is. */
static int combine(const freedom *f, int n, int *main)
{
    *main = 0;
    if (n == 1) return f->ball ? TL_JOINT_BALL : f->slides ? TL_JOINT_SLIDER : TL_JOINT_HINGE;
    int slides = 0, hinge = 0;
    for (int k = 0; k < n; k++) {
        if (f[k].ball) return -1;
        slides += f[k].slides;
        if (!f[k].slides) hinge = k;
    }
    const int other = n == 2 ? 1 - hinge : hinge == 0 ? 1 : 0, third = 3 - hinge - other;
    *main = hinge;
    if (n == 2 && slides == 0) return across(f, f + 1) && together(f, f + 1) ? TL_JOINT_UNIVERSAL : -1;
    if (n == 2 && slides == 1) {
        *main = other;
        const tl_vec3 off = tl_vec3_cross(f[0].axis, f[1].axis);
        return tl_vec3_norm(off) < RIGHT_ANGLE ? TL_JOINT_CYLINDER : -1;
    }
    if (n == 3 && slides == 2)
        return across(&f[hinge], &f[other]) && across(&f[hinge], &f[third]) && across(&f[other], &f[third])
                   ? TL_JOINT_PLANAR
                   : -1;
    if (n == 3 && slides == 0)
        return across(f, f + 1) && across(f + 1, f + 2) && across(f, f + 2) && together(f, f + 1) && together(f, f + 2)
                   ? TL_JOINT_BALL
                   : -1;
    return -1;
}

static talus_status add_combined(const reader *r, const freedom *f, int n, int link)
{
    tl_import *m = r->m;
    const char *name;
    int main, i;
    const int kind = combine(f, n, &main);
    if (kind < 0)
        return tl_import_fail(m, f[1].from,
                              "the joints of body \"%s\" are no joint of talus: one hinge, slide or ball; "
                              "a hinge and a slide along one axis; two or three hinges at right angles "
                              "through one point; two slides and a hinge at right angles",
                              m->link[link].name);
    TL_TRY(name_of(r, f[main].from, &name));
    TL_TRY(tl_import_add_joint(m, f[main].from, name, (tl_joint_kind)kind, &i));
    tl_import_joint *j = &m->joint[i];
    j->a = link;
    j->b = m->link[link].parent;
    j->at = f[main].at;
    j->axis = f[main].axis;
    if (kind == TL_JOINT_UNIVERSAL) j->axis = f[1].axis, j->axis_b = f[0].axis; /* the first one is the parent's */
    m->link[link].joint = i;
    m->link[link].hold = TL_IMPORT_JOINT;
    const bool coordinate = kind == TL_JOINT_HINGE || kind == TL_JOINT_SLIDER || kind == TL_JOINT_CYLINDER;
    if (coordinate) TL_TRY(read_passive(r, j->from, f[main].slides, j));
    if (n > 1)
        tl_import_tell(m, f[0].from, "%d joints of body \"%s\" become one; limits and dampers of %s are left out", n,
                       m->link[link].name, coordinate ? "the others" : "all");
    for (int k = 0; k < n && n > 1; k++) tl_xml_use_all((tl_xml *)f[k].from);
    return TALUS_OK;
}

static talus_status read_joints(const reader *r, const tl_xml *body, int link)
{
    tl_import_link *l = &r->m->link[link];
    freedom f[JOINTS];
    int n = 0;
    const tl_xml *free = tl_xml_child(body, "freejoint");
    for (const tl_xml *e = tl_xml_child(body, "joint"); e; e = tl_xml_again(e)) {
        const char *type = get(r, e, "type");
        if (type && !strcmp(type, "free")) {
            free = e;
            continue;
        }
        if (n == JOINTS) return tl_import_fail(r->m, e, "body \"%s\" has more than %d joints", l->name, JOINTS);
        TL_TRY(read_freedom(r, e, &f[n++]));
    }
    if (free && n) return tl_import_fail(r->m, free, "body \"%s\" is free and has joints", l->name);
    if (free && l->parent != TL_IMPORT_WORLD)
        return tl_import_fail(r->m, free, "body \"%s\" is free and hangs on another body", l->name);
    if (free) tl_xml_get(free, "name");
    l->hold = free && !r->m->fixed_base ? TL_IMPORT_FREE : TL_IMPORT_FIXED;
    return n ? add_combined(r, f, n, link) : TALUS_OK;
}

/* ---- bodies ---- */

static talus_status hold_fixed(const reader *r, const tl_xml *e, int link)
{
    tl_import *m = r->m;
    int i;
    char *name = tl_arena_take(m->arena, strlen(m->link[link].name) + 8);
    if (!name) return TL_FAIL(m->err, TALUS_NO_MEMORY, "no memory for a robot");
    sprintf(name, "%s fixed", m->link[link].name);
    TL_TRY(tl_import_add_joint(m, e, name, TL_JOINT_FIXED, &i));
    m->joint[i].a = link;
    m->joint[i].b = m->link[link].parent;
    m->link[link].joint = i;
    return TALUS_OK;
}

static talus_status read_body(const reader *r, const tl_xml *e, int parent)
{
    const char *name;
    int i;
    TL_TRY(name_of(r, e, &name));
    TL_TRY(tl_import_add_link(r->m, e, name, &i));
    tl_import_link *l = &r->m->link[i];
    l->parent = parent;
    tl_xml_get(e, "childclass");
    TL_TRY(read_pose(r, e, &l->in_parent));
    TL_TRY(read_geoms(r, e, l));
    const tl_xml *inertial = tl_xml_child(e, "inertial");
    if (inertial && !r->from_geoms) TL_TRY(read_inertial(r, inertial, l));
    if (!inertial && r->never_geoms) return tl_import_fail(r->m, e, "body \"%s\" must have an <inertial>", name);
    TL_TRY(read_joints(r, e, i));
    if (l->hold == TL_IMPORT_FIXED && parent != TL_IMPORT_WORLD) TL_TRY(hold_fixed(r, e, i));
    for (const tl_xml *b = tl_xml_child(e, "body"); b; b = tl_xml_again(b))
        TL_TRY(read_body(r, b, i)); /* at most TL_XML_DEPTH deep */
    return TALUS_OK;
}

/* Geoms of the world are bodies that cannot move. */
static talus_status read_world(const reader *r, const tl_xml *world)
{
    for (const tl_xml *e = tl_xml_child(world, "geom"); e; e = tl_xml_again(e)) {
        const char *name;
        int i;
        TL_TRY(name_of(r, e, &name));
        TL_TRY(tl_import_add_link(r->m, e, name, &i));
        r->m->link[i].hold = TL_IMPORT_FIXED;
        TL_TRY(read_geom(r, e, &r->m->link[i]));
    }
    for (const tl_xml *b = tl_xml_child(world, "body"); b; b = tl_xml_again(b))
        TL_TRY(read_body(r, b, TL_IMPORT_WORLD));
    return TALUS_OK;
}

/* ---- motors ---- */

/* Force gear u for `motor`; gear kp (u - gear q) - gear^2 kv v for `position`; gear kv (u - gear v) for `velocity`. */
static talus_status read_gains(const reader *r, const tl_xml *e, tl_import_joint *j)
{
    const bool position = !strcmp(e->name, "position"), motor = !strcmp(e->name, "motor");
    double gear[6] = {1}, kp = 1, kv = position || motor ? 0 : 1, range[2] = {0, 0};
    int n;
    TL_TRY(numbers(r, e, "gear", 1, 6, gear, NULL));
    TL_TRY(numbers(r, e, "forcerange", 2, 2, range, &n));
    if (position) TL_TRY(number(r, e, "kp", &kp));
    if (!motor) TL_TRY(number(r, e, "kv", &kv));
    if (kp < 0 || kv < 0) return tl_import_fail(r->m, e, "gains of <%s> must be >= 0", e->name);
    const double max = fmax(fabs(range[0]), fabs(range[1])) * fabs(gear[0]), square = gear[0] * gear[0];
    j->effort = max;
    if (motor) {
        if (j->motor != TL_MOTOR_NONE)
            tl_import_tell(r->m, j->from, "joint \"%s\" has a motor: its damping and stiffness are left out", j->name);
        j->motor = TL_MOTOR_FORCE;
        return TALUS_OK;
    }
    if (j->stiffness > 0) tl_import_tell(r->m, j->from, "joint \"%s\" has a motor: its stiffness is left out", j->name);
    j->motor = TL_MOTOR_POSITION;
    j->stiffness = position ? square * kp : 0;
    j->damping += square * kv;
    j->target = -j->start;
    j->max = max;
    return TALUS_OK;
}

static talus_status read_actuators(const reader *r, const tl_xml *all)
{
    static const char *const names[] = {"motor", "position", "velocity"};
    bool *driven = TL_TAKE_ZERO(r->m->arena, bool, r->m->joint_count + 1);
    if (!driven) return TL_FAIL(r->m->err, TALUS_NO_MEMORY, "no memory for a robot");
    for (int k = 0; k < 3; k++)
        for (tl_xml *e = tl_xml_child(all, names[k]); e; e = tl_xml_again(e)) {
            const char *joint = get(r, e, "joint");
            tl_xml_get(e, "name");
            if (!joint) {
                tl_import_tell(r->m, e, "<%s> drives no joint and is left out", e->name);
                tl_xml_use_all(e);
                continue;
            }
            const int i = tl_import_find_joint(r->m, joint);
            if (i < 0) return tl_import_fail(r->m, e, "there is no joint \"%.80s\" to drive", joint);
            const int kind = r->m->joint[i].kind;
            const bool fits = kind == TL_JOINT_HINGE || kind == TL_JOINT_SLIDER || kind == TL_JOINT_CYLINDER;
            if (!fits || driven[i]) {
                tl_import_tell(r->m, e,
                               fits ? "joint \"%s\" has a motor already: this one is left out"
                                    : "joint \"%s\" cannot be driven: its motor is left out",
                               joint);
                tl_xml_use_all(e);
                continue;
            }
            driven[i] = true;
            TL_TRY(read_gains(r, e, &r->m->joint[i]));
        }
    return TALUS_OK;
}

/* ---- closed loops ---- */

static talus_status read_ends(const reader *r, const tl_xml *e, int body[2])
{
    static const char *const names[] = {"body1", "body2"};
    for (int k = 0; k < 2; k++) {
        const char *name = tl_xml_get(e, names[k]);
        body[k] = TL_IMPORT_WORLD;
        if (!name && k == 1) return TALUS_OK;
        if (!name) return tl_import_fail(r->m, e, "<%s> must have an attribute body1", e->name);
        body[k] = tl_import_find_link(r->m, name);
        if (body[k] < 0) return tl_import_fail(r->m, e, "there is no body \"%.80s\"", name);
    }
    return TALUS_OK;
}

static talus_status read_loop(const reader *r, const tl_xml *e, tl_joint_kind kind)
{
    const char *name;
    int body[2] = {TL_IMPORT_WORLD, TL_IMPORT_WORLD}, i, n = 0;
    double at[3] = {0, 0, 0};
    TL_TRY(name_of(r, e, &name));
    TL_TRY(read_ends(r, e, body));
    if (kind == TL_JOINT_BALL) TL_TRY(numbers(r, e, "anchor", 3, 3, at, &n));
    if (kind == TL_JOINT_BALL && !n) return tl_import_fail(r->m, e, "<connect> must have an anchor");
    if (body[0] == body[1]) return tl_import_fail(r->m, e, "<%s> holds a body to itself", e->name);
    TL_TRY(tl_import_add_joint(r->m, e, name, kind, &i));
    r->m->joint[i].a = body[0];
    r->m->joint[i].b = body[1];
    r->m->joint[i].at = tl_vec3_load(at);
    return TALUS_OK;
}

/* <joint joint1 joint2 polycoef="c0 c1">: q1 = c0 + c1 q2. */
static talus_status read_follow(const reader *r, const tl_xml *e)
{
    static const char *const names[] = {"joint1", "joint2"};
    double poly[5] = {0, 1, 0, 0, 0};
    const char *name;
    int joint[2], i;
    TL_TRY(name_of(r, e, &name));
    TL_TRY(numbers(r, e, "polycoef", 1, 5, poly, NULL));
    for (int k = 0; k < 2; k++) {
        const char *is = tl_xml_get(e, names[k]);
        joint[k] = is ? tl_import_find_joint(r->m, is) : -1;
        if (joint[k] < 0) return tl_import_fail(r->m, e, "there is no joint \"%.80s\" to follow", is ? is : "");
    }
    if (poly[0] != 0 || poly[1] == 0 || poly[2] != 0 || poly[3] != 0 || poly[4] != 0 || joint[0] == joint[1]) {
        tl_import_tell(r->m, e, "\"%s\" is left out: joints follow each other by one factor", name);
        return TALUS_OK;
    }
    TL_TRY(tl_import_add_joint(r->m, e, name, TL_JOINT_GEAR, &i));
    tl_import_joint *g = &r->m->joint[i];
    memcpy(g->geared, joint, sizeof joint);
    g->a = r->m->joint[joint[0]].a;
    g->b = r->m->joint[joint[1]].a;
    g->ratio = poly[1];
    return TALUS_OK;
}

static talus_status read_equality(const reader *r, const tl_xml *all)
{
    for (const tl_xml *e = tl_xml_child(all, "connect"); e; e = tl_xml_again(e)) TL_TRY(read_loop(r, e, TL_JOINT_BALL));
    for (const tl_xml *e = tl_xml_child(all, "weld"); e; e = tl_xml_again(e)) TL_TRY(read_loop(r, e, TL_JOINT_FIXED));
    for (const tl_xml *e = tl_xml_child(all, "joint"); e; e = tl_xml_again(e)) TL_TRY(read_follow(r, e));
    return TALUS_OK;
}

/* ---- the file ---- */

static talus_status read_compiler(reader *r, const tl_xml *e)
{
    const char *angle = tl_xml_get(e, "angle"), *seq = tl_xml_get(e, "eulerseq"), *dir = tl_xml_get(e, "meshdir"),
               *limits = tl_xml_get(e, "autolimits"), *geoms = tl_xml_get(e, "inertiafromgeom"),
               *coordinate = tl_xml_get(e, "coordinate");
    if (angle && strcmp(angle, "degree") && strcmp(angle, "radian"))
        return tl_import_fail(r->m, e, "angle must be degree or radian, got \"%.40s\"", angle);
    if (angle && !strcmp(angle, "radian")) r->angle = 1;
    if (seq && (strlen(seq) != 3 || strspn(seq, "xyzXYZ") != 3))
        return tl_import_fail(r->m, e, "eulerseq must be three of x, y, z, X, Y, Z, got \"%.40s\"", seq);
    if (seq) r->eulerseq = seq;
    if (dir) r->meshdir = dir;
    if (coordinate && strcmp(coordinate, "local"))
        return tl_import_fail(r->m, e, "coordinates must be local, got \"%.40s\"", coordinate);
    r->autolimits = is_true(limits, r->autolimits);
    if (geoms) r->from_geoms = !strcmp(geoms, "true"), r->never_geoms = !strcmp(geoms, "false");
    return TALUS_OK;
}

/* Elements whose defaults are asked for; those of other elements are told. */
static void use_defaults(const tl_xml *around)
{
    static const char *const names[] = {"geom", "joint", "motor", "position", "velocity", "mesh"};
    for (const tl_xml *d = tl_xml_child(around, "default"); d; d = tl_xml_again(d)) {
        tl_xml_get(d, "class");
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) tl_xml_child(d, names[k]);
        use_defaults(d); /* at most TL_XML_DEPTH deep */
    }
}

talus_status tl_import_mjcf(tl_import *m)
{
    reader r = {.m = m, .angle = 3.14159265358979323846 / 180, .eulerseq = "xyz", .meshdir = "", .autolimits = true};
    const tl_xml *root = m->root, *include = tl_xml_child(root, "include");
    tl_xml_get(root, "model");
    if (include) return tl_import_fail(m, include, "<include> is not read: put everything into one file");
    for (const tl_xml *e = tl_xml_child(root, "compiler"); e; e = tl_xml_again(e)) TL_TRY(read_compiler(&r, e));
    use_defaults(root);
    for (const tl_xml *e = tl_xml_child(root, "worldbody"); e; e = tl_xml_again(e)) TL_TRY(read_world(&r, e));
    for (const tl_xml *e = tl_xml_child(root, "actuator"); e; e = tl_xml_again(e)) TL_TRY(read_actuators(&r, e));
    for (const tl_xml *e = tl_xml_child(root, "equality"); e; e = tl_xml_again(e)) TL_TRY(read_equality(&r, e));
    return TALUS_OK;
}
