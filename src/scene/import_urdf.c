/* URDF: links with inertia and geometry, joints between them. Lengths in m, angles in rad, z up. */
#include <math.h>
#include <string.h>

#include "scene/import.h"

/* A child that must be there; NULL after a failure. */
static talus_status need(tl_import *m, const tl_xml *e, const char *name, tl_xml **out)
{
    *out = tl_xml_child(e, name);
    return *out ? TALUS_OK : tl_import_fail(m, e, "<%s> must have a <%s>", e->name, name);
}

static talus_status need_text(tl_import *m, const tl_xml *e, const char *name, const char **out)
{
    *out = tl_xml_get(e, name);
    return *out && **out ? TALUS_OK : tl_import_fail(m, e, "<%s> must have an attribute %s", e->name, name);
}

/* Numbers that keep what they are where the attribute is absent. */
static talus_status numbers(tl_import *m, const tl_xml *e, const char *name, int count, double *out)
{
    const char *text = tl_xml_get(e, name);
    return text ? tl_import_parse(m, e, name, text, count, count, out, NULL) : TALUS_OK;
}

static talus_status need_number(tl_import *m, const tl_xml *e, const char *name, double *out)
{
    const char *text;
    TL_TRY(need_text(m, e, name, &text));
    return tl_import_parse(m, e, name, text, 1, 1, out, NULL);
}

/* <origin xyz rpy>: turned about x, y, z of the frame around it, in that order. */
static talus_status read_origin(tl_import *m, const tl_xml *e, tl_pose *out)
{
    double xyz[3] = {0, 0, 0}, rpy[3] = {0, 0, 0};
    const tl_xml *o = tl_xml_child(e, "origin");
    if (o) TL_TRY(numbers(m, o, "xyz", 3, xyz));
    if (o) TL_TRY(numbers(m, o, "rpy", 3, rpy));
    const tl_quat x = tl_quat_exp((tl_vec3){rpy[0], 0, 0}), y = tl_quat_exp((tl_vec3){0, rpy[1], 0}),
                  z = tl_quat_exp((tl_vec3){0, 0, rpy[2]});
    *out = (tl_pose){tl_vec3_load(xyz), tl_quat_normalize(tl_quat_mul(z, tl_quat_mul(y, x)))};
    return TALUS_OK;
}

static talus_status read_inertial(tl_import *m, const tl_xml *e, tl_import_link *l)
{
    static const char *const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    double v[6] = {0};
    tl_xml *mass;
    tl_pose pose;
    TL_TRY(read_origin(m, e, &pose));
    TL_TRY(need(m, e, "mass", &mass));
    TL_TRY(need_number(m, mass, "value", &l->mass));
    if (l->mass < 0) return tl_import_fail(m, mass, "the mass of \"%s\" must be >= 0 kg, got %g", l->name, l->mass);
    const tl_xml *inertia = tl_xml_child(e, "inertia");
    for (int k = 0; k < 6 && inertia; k++) TL_TRY(numbers(m, inertia, names[k], 1, &v[k]));
    const tl_mat3 own = {{{v[0], v[3], v[4]}, {v[3], v[1], v[5]}, {v[4], v[5], v[2]}}};
    const tl_mat3 R = tl_quat_to_mat3(pose.rotation);
    l->centre = pose.at;
    l->inertia = tl_mat3_symmetric(tl_mat3_mul(R, tl_mat3_mul_t(own, R)));
    if (l->mass > 0 && !(tl_mat3_det(l->inertia) > 0))
        tl_import_tell(m, e, "\"%s\" has a mass and no moments of inertia: those of its shape are taken", l->name);
    if (!(tl_mat3_det(l->inertia) > 0)) l->inertia = tl_mat3_zero();
    return TALUS_OK;
}

/* "package://robot/meshes/a.stl" lies below the file's own folder: meshes/a.stl. */
static talus_status mesh_name(tl_import *m, const tl_xml *e, const char **name)
{
    static const char scheme[] = "package://";
    TL_TRY(need_text(m, e, "filename", name));
    if (strncmp(*name, scheme, sizeof scheme - 1))
        return strstr(*name, "://") ? tl_import_fail(m, e, "mesh files are named by a path, got \"%.60s\"", *name)
                                    : TALUS_OK;
    const char *rest = strchr(*name + sizeof scheme - 1, '/');
    if (!rest || !rest[1]) return tl_import_fail(m, e, "no file is named by \"%.60s\"", *name);
    *name = rest + 1;
    return TALUS_OK;
}

static talus_status read_round(tl_import *m, const tl_xml *e, tl_import_shape *s)
{
    TL_TRY(need_number(m, e, "radius", &s->size.x));
    return s->kind == TL_IMPORT_SPHERE ? TALUS_OK : need_number(m, e, "length", &s->size.z);
}

static talus_status read_geometry(tl_import *m, const tl_xml *around, tl_import_link *l)
{
    static const char *const names[] = {"box", "sphere", "capsule", "cylinder", "mesh"}; /* by tl_import_kind */
    tl_import_shape s = {.density = m->density};
    double size[3] = {1, 1, 1};
    tl_xml *geometry, *e = NULL;
    TL_TRY(read_origin(m, around, &s.pose));
    TL_TRY(need(m, around, "geometry", &geometry));
    for (int k = 0; k < 5 && !e; k++) {
        e = tl_xml_child(geometry, names[k]);
        s.kind = (tl_import_kind)k;
    }
    if (!e) return tl_import_fail(m, geometry, "<geometry> must have a box, sphere, capsule, cylinder or mesh");
    s.from = e;
    if (s.kind == TL_IMPORT_BOX && !tl_xml_get(e, "size"))
        return tl_import_fail(m, e, "<box> must have an attribute size");
    if (s.kind == TL_IMPORT_BOX) TL_TRY(numbers(m, e, "size", 3, size));
    if (s.kind == TL_IMPORT_MESH) TL_TRY(numbers(m, e, "scale", 3, size));
    if (s.kind == TL_IMPORT_MESH) TL_TRY(mesh_name(m, e, &s.file));
    s.size = tl_vec3_load(size);
    if (s.kind != TL_IMPORT_BOX && s.kind != TL_IMPORT_MESH) TL_TRY(read_round(m, e, &s));
    return tl_import_add_shape(m, l, &s);
}

/* Of the first visual: <material><color rgba/></material>, or one that the robot has by name. */
static talus_status read_colour(tl_import *m, const tl_xml *visual, tl_import_link *l)
{
    const tl_xml *material = tl_xml_child(visual, "material");
    if (!material) return TALUS_OK;
    const char *name = tl_xml_get(material, "name"), *other;
    const tl_xml *colour = tl_xml_child(material, "color");
    for (const tl_xml *e = tl_xml_child(m->root, "material"); e && !colour; e = tl_xml_again(e))
        if (name && (other = tl_xml_get(e, "name")) && !strcmp(other, name)) colour = tl_xml_child(e, "color");
    return colour && l->colour[3] < 0 ? numbers(m, colour, "rgba", 4, l->colour) : TALUS_OK;
}

static talus_status read_link(tl_import *m, const tl_xml *e)
{
    const char *name;
    int i;
    TL_TRY(need_text(m, e, "name", &name));
    TL_TRY(tl_import_add_link(m, e, name, &i));
    tl_import_link *l = &m->link[i];
    l->hold = m->fixed_base || !strcmp(name, "world") ? TL_IMPORT_FIXED : TL_IMPORT_FREE; /* until a joint holds it */
    const tl_xml *inertial = tl_xml_child(e, "inertial");
    if (inertial) TL_TRY(read_inertial(m, inertial, l));
    for (const tl_xml *c = tl_xml_child(e, "collision"); c; c = tl_xml_again(c)) {
        tl_xml_get(c, "name");
        TL_TRY(read_geometry(m, c, l));
    }
    const bool solid = l->shape_count > 0;
    for (tl_xml *v = tl_xml_child(e, "visual"); v; v = tl_xml_again(v)) {
        TL_TRY(read_colour(m, v, l));
        if (solid)
            tl_xml_use_all(v); /* what touches is drawn */
        else
            TL_TRY(read_geometry(m, v, l));
        tl_xml_get(v, "name");
    }
    return TALUS_OK;
}

/* ---- joints ---- */

static talus_status read_limits(tl_import *m, const tl_xml *e, const char *type, tl_import_joint *j)
{
    const tl_xml *limit = tl_xml_child(e, "limit");
    const bool bounded = !strcmp(type, "revolute") || !strcmp(type, "prismatic");
    if (!limit)
        return bounded ? tl_import_fail(m, e, "joint \"%s\" is %s and must have a <limit>", j->name, type) : TALUS_OK;
    double velocity = 0;
    TL_TRY(numbers(m, limit, "effort", 1, &j->effort));
    TL_TRY(numbers(m, limit, "velocity", 1, &velocity)); /* of its motors, which URDF does not have */
    TL_TRY(numbers(m, limit, "lower", 1, &j->limits[0]));
    TL_TRY(numbers(m, limit, "upper", 1, &j->limits[1]));
    if (!bounded) return TALUS_OK;
    if (j->limits[0] > j->limits[1])
        return tl_import_fail(m, limit, "limits of \"%s\" must be lower <= upper, got %g and %g", j->name, j->limits[0],
                              j->limits[1]);
    j->limited = true;
    j->start = fmin(fmax(0, j->limits[0]), j->limits[1]);
    if (j->start != 0)
        tl_import_tell(m, limit, "joint \"%s\" starts at %g, because 0 is not inside of its limits", j->name, j->start);
    return TALUS_OK;
}

static talus_status read_dynamics(tl_import *m, const tl_xml *e, tl_import_joint *j)
{
    const tl_xml *d = tl_xml_child(e, "dynamics");
    if (!d) return TALUS_OK;
    TL_TRY(numbers(m, d, "friction", 1, &j->friction));
    TL_TRY(numbers(m, d, "damping", 1, &j->damping));
    if (j->friction < 0 || j->damping < 0)
        return tl_import_fail(m, d, "friction and damping of \"%s\" must be >= 0, got %g and %g", j->name, j->friction,
                              j->damping);
    if (j->damping > 0) j->motor = TL_MOTOR_POSITION; /* without stiffness: a damper */
    return TALUS_OK;
}

static talus_status read_ends(tl_import *m, const tl_xml *e, int *parent, int *child)
{
    static const char *const names[] = {"parent", "child"};
    int *const out[] = {parent, child};
    for (int k = 0; k < 2; k++) {
        tl_xml *end;
        const char *name;
        TL_TRY(need(m, e, names[k], &end));
        TL_TRY(need_text(m, end, "link", &name));
        *out[k] = tl_import_find_link(m, name);
        if (*out[k] < 0) return tl_import_fail(m, end, "there is no link \"%.80s\"", name);
    }
    const tl_import_link *l = &m->link[*child];
    if (l->joint >= 0 || l->parent != TL_IMPORT_WORLD)
        return tl_import_fail(m, e, "link \"%s\" is the child of two joints", l->name);
    if (*parent == *child) return tl_import_fail(m, e, "a joint holds \"%s\" to itself", l->name);
    return TALUS_OK;
}

static talus_status read_axis(tl_import *m, const tl_xml *e, tl_import_joint *j)
{
    double axis[3] = {1, 0, 0};
    const tl_xml *a = tl_xml_child(e, "axis");
    if (a) TL_TRY(numbers(m, a, "xyz", 3, axis));
    j->axis = tl_vec3_load(axis);
    const double length = tl_vec3_norm(j->axis);
    if (!(length > 1e-9)) return tl_import_fail(m, a ? a : e, "the axis of joint \"%s\" must not be zero", j->name);
    j->axis = tl_vec3_scale(1 / length, j->axis);
    return TALUS_OK;
}

static talus_status read_type(tl_import *m, const tl_xml *e, const char **type, int *kind)
{
    static const struct {
        const char *type;
        int kind;
    } known[] = {{"fixed", TL_JOINT_FIXED},      {"revolute", TL_JOINT_HINGE}, {"continuous", TL_JOINT_HINGE},
                 {"prismatic", TL_JOINT_SLIDER}, {"planar", TL_JOINT_PLANAR},  {"floating", -1}};
    TL_TRY(need_text(m, e, "type", type));
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (!strcmp(known[k].type, *type)) {
            *kind = known[k].kind;
            return TALUS_OK;
        }
    return tl_import_fail(m, e,
                          "the type of a joint is one of fixed, revolute, continuous, prismatic, planar, floating, got "
                          "\"%.40s\"",
                          *type);
}

static talus_status read_joint(tl_import *m, const tl_xml *e)
{
    const char *name, *type;
    int parent, child, kind = -1, i;
    TL_TRY(need_text(m, e, "name", &name));
    TL_TRY(read_type(m, e, &type, &kind));
    TL_TRY(read_ends(m, e, &parent, &child));
    tl_import_link *l = &m->link[child];
    l->parent = parent;
    TL_TRY(read_origin(m, e, &l->in_parent));
    l->hold = kind < 0 ? TL_IMPORT_FREE : kind == TL_JOINT_FIXED ? TL_IMPORT_FIXED : TL_IMPORT_JOINT;
    if (kind < 0) return TALUS_OK;
    TL_TRY(tl_import_add_joint(m, e, name, (tl_joint_kind)kind, &i));
    tl_import_joint *j = &m->joint[i];
    j->a = child;
    j->b = parent;
    l->joint = i;
    if (kind == TL_JOINT_FIXED) return TALUS_OK;
    TL_TRY(read_axis(m, e, j));
    if (kind == TL_JOINT_PLANAR) return TALUS_OK;
    TL_TRY(read_limits(m, e, type, j));
    return read_dynamics(m, e, j);
}

/* <mimic joint multiplier offset>: a gear. The joint that follows starts where the other says. */
static talus_status read_mimic(tl_import *m, const tl_xml *e)
{
    const tl_xml *mimic = tl_xml_child(e, "mimic");
    const char *name, *other;
    double multiplier = 1, offset = 0;
    if (!mimic) return TALUS_OK;
    TL_TRY(need_text(m, mimic, "joint", &other));
    TL_TRY(numbers(m, mimic, "multiplier", 1, &multiplier));
    TL_TRY(numbers(m, mimic, "offset", 1, &offset));
    name = tl_xml_get(e, "name");
    const int follower = tl_import_find_joint(m, name), leader = tl_import_find_joint(m, other);
    if (leader < 0) return tl_import_fail(m, mimic, "there is no joint \"%.80s\" to follow", other);
    if (follower < 0 || follower == leader || multiplier == 0)
        return tl_import_fail(m, mimic, "joint \"%.80s\" cannot follow \"%.80s\" by %g", name, other, multiplier);
    char *gear = tl_arena_take(m->arena, strlen(name) + 12);
    if (!gear) return TL_FAIL(m->err, TALUS_NO_MEMORY, "no memory for a robot");
    memcpy(gear, name, strlen(name) + 1);
    strcat(gear, " follows");
    int i;
    TL_TRY(tl_import_add_joint(m, mimic, gear, TL_JOINT_GEAR, &i));
    tl_import_joint *g = &m->joint[i];
    g->geared[0] = follower;
    g->geared[1] = leader;
    g->a = m->joint[follower].a;
    g->b = m->joint[leader].a;
    g->ratio = multiplier;
    m->joint[follower].start = multiplier * m->joint[leader].start + offset;
    return TALUS_OK;
}

talus_status tl_import_urdf(tl_import *m)
{
    tl_xml_get(m->root, "name");
    for (tl_xml *e = tl_xml_child(m->root, "material"); e; e = tl_xml_again(e)) tl_xml_use_all(e);
    for (const tl_xml *e = tl_xml_child(m->root, "link"); e; e = tl_xml_again(e)) TL_TRY(read_link(m, e));
    for (const tl_xml *e = tl_xml_child(m->root, "joint"); e; e = tl_xml_again(e)) TL_TRY(read_joint(m, e));
    for (const tl_xml *e = tl_xml_child(m->root, "joint"); e; e = tl_xml_again(e)) TL_TRY(read_mimic(m, e));
    return TALUS_OK;
}
