/* What both formats share: reading numbers, telling, and from links to bodies. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "scene/import.h"

/* ---- telling ---- */

talus_status tl_import_fail(tl_import *m, const tl_xml *e, const char *format, ...)
{
    char text[240];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    m->line = e->line;
    return TL_FAIL(m->err, TALUS_BAD_INPUT, "%s", text);
}

void tl_import_tell(tl_import *m, const tl_xml *e, const char *format, ...)
{
    if (m->note_count >= TL_IMPORT_NOTES) return;
    tl_import_note *n = &m->note[m->note_count++];
    va_list args;
    va_start(args, format);
    vsnprintf(n->text, sizeof n->text, format, args);
    va_end(args);
    n->line = e->line;
    if (m->note_count == TL_IMPORT_NOTES)
        snprintf(n->text, sizeof n->text, "more than %d kinds of things are not understood; the rest is not listed",
                 TL_IMPORT_NOTES);
}

/* Things of one name that nobody asked for are told together, at the first. */
static void tell_leftover(tl_import *m, const tl_xml *e, const char *what)
{
    char head[160], line[24];
    snprintf(head, sizeof head, "%s is not understood and left out", what);
    for (int i = 0; i < m->note_count; i++) {
        char *text = m->note[i].text;
        const size_t n = strlen(head), used = strlen(text);
        if (strncmp(text, head, n)) continue;
        snprintf(line, sizeof line, "%s%d", text[n] ? ", " : "; also in line ", e->line);
        if (used + strlen(line) + 8 < sizeof m->note[i].text)
            memcpy(text + used, line, strlen(line) + 1);
        else if (text[used - 1] != '.')
            memcpy(text + used, " ...", 5);
        return;
    }
    tl_import_tell(m, e, "%s", head);
}

static void leftovers_of(tl_import *m, const tl_xml *e)
{
    char what[2 * TL_XML_NAME + 32];
    if (!e->used) {
        snprintf(what, sizeof what, "<%s>", e->name);
        tell_leftover(m, e, what);
        return;
    }
    for (const tl_xml_attribute *a = e->attributes; a; a = a->next) {
        if (a->used) continue;
        snprintf(what, sizeof what, "attribute %s of <%s>", a->name, e->name);
        tell_leftover(m, e, what);
    }
    for (const tl_xml *c = e->child; c; c = c->next) leftovers_of(m, c); /* at most TL_XML_DEPTH deep */
}

/* What nobody asked for. */
static void tell_leftovers(tl_import *m) { leftovers_of(m, m->root); }

/* ---- reading ---- */

static bool is_number(const char *text, size_t n) { return n > 0 && n < 64 && strspn(text, "+-.0123456789eE") >= n; }

talus_status tl_import_parse(tl_import *m, const tl_xml *e, const char *name, const char *text, int low, int high,
                             double *out, int *count)
{
    int found = 0;
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        char *end = NULL;
        const double v = is_number(at, n) ? strtod(at, &end) : NAN;
        if (end != at + n || !isfinite(v) || fabs(v) > 1e15)
            return tl_import_fail(m, e, "attribute %s of <%s> must be numbers, got \"%.60s\"", name, e->name, text);
        if (found < high) out[found] = v;
        found++;
        at += n;
    }
    if (found < low || found > high)
        return tl_import_fail(m, e,
                              low == high ? "attribute %s of <%s> must have %d numbers, got %d"
                                          : "attribute %s of <%s> must have at least %d and not more than a few "
                                            "numbers, got %d",
                              name, e->name, low, found);
    if (count) *count = found;
    return TALUS_OK;
}

talus_status tl_import_add_link(tl_import *m, const tl_xml *e, const char *name, int *out)
{
    if (m->link_count >= TL_IMPORT_LINKS)
        return tl_import_fail(m, e, "the file has more than %d bodies", TL_IMPORT_LINKS);
    if (strlen(name) > 100) return tl_import_fail(m, e, "the name \"%.40s...\" is longer than 100 letters", name);
    if (tl_import_find_link(m, name) >= 0)
        return tl_import_fail(m, e, "there are two bodies with the name \"%s\"", name);
    tl_import_link *l = &m->link[m->link_count];
    *l = (tl_import_link){.from = e, .name = name, .parent = TL_IMPORT_WORLD, .joint = -1};
    l->in_parent = tl_import_at((tl_vec3){0, 0, 0});
    l->friction = l->rolling = l->spinning = l->colour[3] = -1;
    *out = m->link_count++;
    return TALUS_OK;
}

talus_status tl_import_add_joint(tl_import *m, const tl_xml *e, const char *name, tl_joint_kind kind, int *out)
{
    if (m->joint_count >= 2 * TL_IMPORT_LINKS)
        return tl_import_fail(m, e, "the file has more than %d joints", 2 * TL_IMPORT_LINKS);
    if (strlen(name) > 100) return tl_import_fail(m, e, "the name \"%.40s...\" is longer than 100 letters", name);
    if (tl_import_find_joint(m, name) >= 0)
        return tl_import_fail(m, e, "there are two joints with the name \"%s\"", name);
    m->joint[m->joint_count] = (tl_import_joint){.from = e, .name = name, .kind = kind, .b = TL_IMPORT_WORLD};
    *out = m->joint_count++;
    return TALUS_OK;
}

talus_status tl_import_add_shape(tl_import *m, tl_import_link *l, const tl_import_shape *s)
{
    tl_import_shape *kept = TL_TAKE(m->arena, tl_import_shape, 1), **end = &l->shapes;
    if (!kept) return TL_FAIL(m->err, TALUS_NO_MEMORY, "no memory for shapes");
    const tl_vec3 z = s->size;
    const bool length = s->kind == TL_IMPORT_CAPSULE || s->kind == TL_IMPORT_CYLINDER;
    if ((s->kind != TL_IMPORT_PLANE && !(z.x > 0)) || (length && !(z.z > 0)) ||
        (s->kind == TL_IMPORT_BOX && !(z.y > 0 && z.z > 0)))
        return tl_import_fail(m, s->from, "sizes of <%s> must be > 0", s->from->name);
    if (s->kind == TL_IMPORT_MESH && !(z.y > 0 && z.z > 0))
        return tl_import_fail(m, s->from, "factors on the lengths of a mesh must be > 0");
    *kept = *s;
    while (*end) end = &(*end)->next;
    *end = kept;
    l->shape_count++;
    return TALUS_OK;
}

int tl_import_find_link(const tl_import *m, const char *name)
{
    for (int i = 0; i < m->link_count; i++)
        if (!strcmp(m->link[i].name, name)) return i;
    return -1;
}

int tl_import_find_joint(const tl_import *m, const char *name)
{
    for (int i = 0; i < m->joint_count; i++)
        if (!strcmp(m->joint[i].name, name)) return i;
    return -1;
}

/* ---- poses ---- */

/* A joint that starts at a coordinate which is not 0 moves its link by that. */
static tl_pose moved_by(const tl_import_joint *j, double q)
{
    if (j->kind == TL_JOINT_SLIDER) return tl_import_at(tl_vec3_scale(q, j->axis));
    const tl_quat turn = tl_quat_from_axis_angle(j->axis, q);
    return (tl_pose){tl_vec3_sub(j->at, tl_quat_rotate(turn, j->at)), turn};
}

static talus_status place(tl_import *m, int i)
{
    tl_import_link *l = &m->link[i];
    if (l->visit == 2) return TALUS_OK;
    if (l->visit == 1) return tl_import_fail(m, l->from, "\"%s\" hangs on itself: its joints are a ring", l->name);
    l->visit = 1;
    tl_pose base = m->pose;
    bool still = true;
    if (l->parent != TL_IMPORT_WORLD) {
        TL_TRY(place(m, l->parent)); /* at most TL_IMPORT_LINKS deep */
        base = m->link[l->parent].pose;
        still = m->link[l->parent].still;
    }
    l->pose = tl_import_compose(&base, &l->in_parent);
    if (l->hold == TL_IMPORT_JOINT) {
        const tl_pose by = moved_by(&m->joint[l->joint], m->joint[l->joint].start);
        l->pose = tl_import_compose(&l->pose, &by);
    }
    l->still = l->hold == TL_IMPORT_FIXED && still;
    l->visit = 2;
    return TALUS_OK;
}

/* ---- links that are frames only ---- */

static bool is_frame(const tl_import_link *l) { return !l->shape_count && (l->still || !(l->mass > 0)); }

/* A root without mass that may fly: the first body that is fixed to it flies in its place. */
static int find_heir(const tl_import *m, int root)
{
    for (int i = 0; i < m->link_count; i++)
        if (m->link[i].parent == root && m->link[i].hold == TL_IMPORT_FIXED) {
            const int heir = is_frame(&m->link[i]) ? find_heir(m, i) : i;
            if (heir >= 0) return heir;
        }
    return -1;
}

static talus_status stand(tl_import *m, int i)
{
    tl_import_link *l = &m->link[i];
    if (l->visit == 3) return TALUS_OK;
    l->visit = 3;
    l->stands = i;
    if (l->parent != TL_IMPORT_WORLD) TL_TRY(stand(m, l->parent));
    if (!is_frame(l)) return TALUS_OK;
    const int above = l->parent == TL_IMPORT_WORLD ? TL_IMPORT_WORLD : m->link[l->parent].stands;
    if (l->hold == TL_IMPORT_FIXED) {
        l->stands = above;
        return TALUS_OK;
    }
    const int heir = l->hold == TL_IMPORT_FREE ? find_heir(m, i) : -1;
    if (heir < 0)
        return tl_import_fail(m, l->from, "\"%s\" can move and has neither mass nor geometry%s", l->name,
                              l->hold == TL_IMPORT_FREE && !m->fixed_base ? "; is it the base? fixed_base = true" : "");
    l->stands = heir;
    m->link[heir].hold = TL_IMPORT_FREE;
    return TALUS_OK;
}

/* ---- masses ---- */

static double volume_of(const tl_import_shape *s)
{
    const double pi = 3.14159265358979323846, r = s->size.x, h = s->size.z;
    switch (s->kind) {
    case TL_IMPORT_BOX: return s->size.x * s->size.y * s->size.z;
    case TL_IMPORT_SPHERE: return 4 * pi / 3 * r * r * r;
    case TL_IMPORT_CAPSULE: return pi * r * r * (h + 4 * r / 3);
    case TL_IMPORT_CYLINDER: return pi * r * r * h;
    default: return 0;
    }
}

/* About its own centre and axes, of mass 1. */
static tl_mat3 inertia_of(const tl_import_shape *s)
{
    const double x = s->size.x, y = s->size.y, z = s->size.z, r = x, h = z;
    if (s->kind == TL_IMPORT_BOX)
        return tl_mat3_diagonal((y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12);
    if (s->kind == TL_IMPORT_SPHERE) return tl_mat3_diagonal(0.4 * r * r, 0.4 * r * r, 0.4 * r * r);
    const double tube = s->kind == TL_IMPORT_CAPSULE ? h / (h + 4 * r / 3) : 1, ends = 1 - tube;
    const double across = tube * (3 * r * r + h * h) / 12 + ends * (0.4 * r * r + h * h / 4 + 3 * h * r / 8);
    return tl_mat3_diagonal(across, across, tube * r * r / 2 + ends * 0.4 * r * r);
}

/* Inertia of a mass that is `d` away. */
static tl_mat3 inertia_away(double mass, tl_vec3 d)
{
    const double d2 = tl_vec3_norm2(d);
    return tl_mat3_add_scaled(tl_mat3_scale(mass, tl_mat3_diagonal(d2, d2, d2)), -mass, tl_mat3_outer(d, d));
}

static double mass_of(const tl_import_shape *s) { return s->mass > 0 ? s->mass : s->density * volume_of(s); }

/* Several shapes: masses add, also where they overlap. */
static void add_masses(tl_import_link *l)
{
    tl_vec3 moment = {0, 0, 0};
    for (const tl_import_shape *s = l->shapes; s; s = s->next) {
        l->mass += mass_of(s);
        moment = tl_vec3_add_scaled(moment, mass_of(s), s->pose.at);
    }
    l->centre = tl_vec3_scale(1 / l->mass, moment);
    l->inertia = tl_mat3_zero();
    for (const tl_import_shape *s = l->shapes; s; s = s->next) {
        const tl_mat3 R = tl_quat_to_mat3(s->pose.rotation);
        const tl_mat3 own = tl_mat3_mul(R, tl_mat3_mul_t(inertia_of(s), R));
        l->inertia = tl_mat3_add_scaled(l->inertia, mass_of(s), own);
        l->inertia = tl_mat3_add(l->inertia, inertia_away(mass_of(s), tl_vec3_sub(s->pose.at, l->centre)));
    }
}

static talus_status weigh(tl_import *m, tl_import_link *l)
{
    bool even = true, mesh = false;
    for (const tl_import_shape *s = l->shapes; s; s = s->next) {
        if (s->kind == TL_IMPORT_PLANE && !l->still)
            return tl_import_fail(m, s->from, "a plane has no end, and \"%s\" can move", l->name);
        even &= !(s->mass > 0) && s->density == l->shapes->density;
        mesh |= s->kind == TL_IMPORT_MESH;
    }
    if (l->still || l->mass > 0 || !l->shape_count) return TALUS_OK;
    if (l->shape_count == 1 && l->shapes->mass > 0)
        l->mass = l->shapes->mass;
    else if (l->shape_count == 1 || (mesh && even))
        l->density = l->shapes->density;
    else if (mesh)
        return tl_import_fail(m, l->from,
                              "\"%s\" has a mesh among shapes of different mass or density; it needs an "
                              "<inertial>",
                              l->name);
    else
        add_masses(l);
    return TALUS_OK;
}

/* A mass without geometry: a ball of the same mean moment of inertia. */
static talus_status give_ball(tl_import *m, tl_import_link *l)
{
    const double mean = tl_mat3_trace(l->inertia) / 3, r = sqrt(2.5 * mean / l->mass);
    if (l->still || l->shape_count || !(l->mass > 0)) return TALUS_OK;
    if (!(r > 0)) return tl_import_fail(m, l->from, "\"%s\" has a mass but neither inertia nor geometry", l->name);
    tl_import_shape ball = {
        .from = l->from, .kind = TL_IMPORT_SPHERE, .pose = tl_import_at(l->centre), .size = {r, r, r}};
    tl_import_tell(m, l->from, "\"%s\" has a mass and no geometry: a ball of radius %.3g m stands for it", l->name, r);
    return tl_import_add_shape(m, l, &ball);
}

/* ---- gears ---- */

/* Speeds of a gear count against the world: what both joints hang on must not turn. */
static bool turns(const tl_import *m, int link)
{
    for (int i = link; i != TL_IMPORT_WORLD && !m->link[i].still; i = m->link[i].parent) {
        const tl_import_link *l = &m->link[i];
        const bool slides = l->hold == TL_IMPORT_JOINT && m->joint[l->joint].kind == TL_JOINT_SLIDER;
        if (l->hold != TL_IMPORT_FIXED && !slides) return true;
    }
    return false;
}

static void check_gear(tl_import *m, tl_import_joint *g)
{
    for (int k = 0; k < 2; k++) {
        const tl_import_joint *j = &m->joint[g->geared[k]];
        if (j->kind == TL_JOINT_HINGE && !turns(m, j->b)) continue;
        g->dropped = true;
        tl_import_tell(m, g->from,
                       "\"%s\" is left out: joints follow each other as gears do where both are hinges on something "
                       "that does not turn, and \"%s\" is not",
                       g->name, j->name);
        return;
    }
}

/* ---- all ---- */

static talus_status resolve(tl_import *m)
{
    for (int i = 0; i < m->link_count; i++) TL_TRY(place(m, i));
    for (int i = 0; i < m->link_count; i++) TL_TRY(weigh(m, &m->link[i]));
    for (int i = 0; i < m->link_count; i++) TL_TRY(stand(m, i));
    for (int i = 0; i < m->link_count; i++) TL_TRY(give_ball(m, &m->link[i]));
    for (int i = 0; i < m->joint_count; i++)
        if (m->joint[i].kind == TL_JOINT_GEAR) check_gear(m, &m->joint[i]);
    return TALUS_OK;
}

static void count_elements(const tl_xml *e, int *count)
{
    ++*count;
    for (const tl_xml *c = e->child; c; c = c->next) count_elements(c, count);
}

static talus_status read_robot(tl_import *m, const char *text, size_t bytes)
{
    tl_xml *root;
    TL_TRY(tl_xml_parse(&root, text, bytes, m->arena, &m->line, m->err));
    m->root = root;
    root->used = true;
    count_elements(root, &m->elements);
    m->link = TL_TAKE_ZERO(m->arena, tl_import_link, TL_IMPORT_LINKS);
    m->joint = TL_TAKE_ZERO(m->arena, tl_import_joint, 2 * TL_IMPORT_LINKS);
    m->note = TL_TAKE_ZERO(m->arena, tl_import_note, TL_IMPORT_NOTES);
    if (!m->link || !m->joint || !m->note) return TL_FAIL(m->err, TALUS_NO_MEMORY, "no memory for a robot");
    const bool urdf = !strcmp(root->name, "robot");
    if (!urdf && strcmp(root->name, "mujoco"))
        return tl_import_fail(m, root, "the file must begin with <robot> (URDF) or <mujoco> (MJCF), got <%s>",
                              root->name);
    TL_TRY(urdf ? tl_import_urdf(m) : tl_import_mjcf(m));
    if (!m->link_count) return tl_import_fail(m, root, "the file has no bodies");
    TL_TRY(resolve(m));
    tell_leftovers(m);
    return TALUS_OK;
}

talus_status tl_import_read(tl_import *m, const char *text, size_t bytes, talus_error *err)
{
    talus_error own = {0};
    tl_c_numbers numbers = tl_c_numbers_begin();
    m->err = err ? err : &own;
    m->line = 1;
    talus_status status = read_robot(m, text, bytes);
    tl_c_numbers_end(numbers);
    return status;
}
