#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/build.h>

#include "api/need.h"
#include "api/scene.h"
#include "base/alloc.h"
#include "base/text.h"

struct talus_build {
    char *text; /* grows by a line per call */
    size_t bytes, room;
    char *whole; /* talus_build_text: text and its last line */
    int shapes, materials, bodies, contacts, fills;
    talus_error err; /* the first thing that was wrong */
};

/* ---- text ---- */

static void wrong(talus_build *b, talus_status status, const char *format, ...) TL_PRINTF(3, 4);
static void wrong(talus_build *b, talus_status status, const char *format, ...)
{
    if (b->err.status != TALUS_OK) return;
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    TL_FAIL(&b->err, status, "%s", text);
}

static bool room_for(talus_build *b, size_t more)
{
    if (b->bytes + more < b->room) return true;
    size_t room = 2 * b->room + more + 4096;
    char *larger = tl_realloc(b->text, room);
    if (!larger) {
        wrong(b, TALUS_NO_MEMORY, "no memory for a scene of %zu bytes", room);
        return false;
    }
    b->text = larger;
    b->room = room;
    return true;
}

/* For functions that return an index: -1. */
static int missing(talus_build *b, const char *function)
{
    if (b) wrong(b, TALUS_BAD_INPUT, "%s: an argument is NULL", function);
    return -1;
}

static void add(talus_build *b, const char *format, ...) TL_PRINTF(2, 3);
static void add(talus_build *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n >= 0 && room_for(b, (size_t)n + 1)) {
        vsnprintf(b->text + b->bytes, (size_t)n + 1, format, again);
        b->bytes += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

/* All bits of it; what is not finite as Lua can say it, for the rules to find. */
static void add_number(talus_build *b, double v)
{
    if (isnan(v))
        add(b, "0/0");
    else if (isinf(v))
        add(b, v > 0 ? "1/0" : "-1/0");
    else if (v == rint(v) && fabs(v) < 1e15)
        add(b, "%.0f", v);
    else {
        tl_c_numbers c = tl_c_numbers_begin();
        add(b, "%.17g", v);
        tl_c_numbers_end(c);
    }
}

static void add_numbers(talus_build *b, int count, const double *v)
{
    add(b, "{");
    for (int i = 0; i < count; i++) {
        if (i) add(b, ", ");
        add_number(b, v[i]);
    }
    add(b, "}");
}

static void add_text(talus_build *b, const char *text)
{
    add(b, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c == '"' || c == '\\')
            add(b, "\\%03d", c);
        else
            add(b, "%c", c);
    }
    add(b, "\"");
}

/* ---- keys of an entry ---- */

static void number_key(talus_build *b, const char *key, double v)
{
    if (v == TALUS_NOT_GIVEN) return;
    add(b, "%s = ", key);
    add_number(b, v);
    add(b, ", ");
}

static void numbers_key(talus_build *b, const char *key, int count, const double *v)
{
    add(b, "%s = ", key);
    add_numbers(b, count, v);
    add(b, ", ");
}

static void text_key(talus_build *b, const char *key, const char *text)
{
    if (!text) return;
    add(b, "%s = ", key);
    add_text(b, text);
    add(b, ", ");
}

static void end_entry(talus_build *b, const char *keys) { add(b, "%s }\n", keys ? keys : ""); }

static bool is_zero(int count, const double *v)
{
    for (int i = 0; i < count; i++)
        if (v[i] != 0) return false;
    return true;
}

/* ---- begin and end ---- */

static const char head[] = "local s, m, b, c, f = {}, {}, {}, {}, {}\n"
                           "local t = { talus = 1, engine = \"grid\", bodies = b }\n";

talus_build *talus_build_create(void)
{
    talus_build *b = TL_NEW_ZERO(talus_build, 1);
    if (!b) return NULL;
    add(b, "%s", head);
    if (b->err.status == TALUS_OK) return b;
    talus_build_free(b);
    return NULL;
}

void talus_build_free(talus_build *b)
{
    if (!b) return;
    tl_free(b->text);
    tl_free(b->whole);
    tl_free(b);
}

const char *talus_build_text(talus_build *b)
{
    if (!b) return NULL;
    static const char tail[] = "return scene(t)\n";
    tl_free(b->whole);
    b->whole = TL_NEW(char, b->bytes + sizeof tail);
    if (!b->whole) return "";
    memcpy(b->whole, b->text, b->bytes);
    memcpy(b->whole + b->bytes, tail, sizeof tail);
    return b->whole;
}

talus_status talus_build_finish(talus_build *b, const talus_scene_options *options, talus_scene **out, talus_error *err)
{
    TL_NEED(b);
    TL_NEED(out);
    *out = NULL;
    if (b->err.status != TALUS_OK) return TL_FAIL(err, b->err.status, "%s", b->err.message);
    talus_scene_options o = options ? *options : talus_scene_options_default();
    o.driven = 1;
    o.mesh_folder = "/"; /* where talus_build_mesh counts paths from */
    const char *text = talus_build_text(b);
    if (!*text) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the scene's text");
    return talus_scene_load_text(text, "scene", &o, out, err);
}

/* ---- keys of the scene ---- */

/* "solver.contact.method" becomes t.solver.contact.method = , with the tables on the way. False: not a path. */
static bool begin_key(talus_build *b, const char *key)
{
    size_t at = 0, n;
    do {
        n = strspn(key + at, "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (n == 0 || (key[at] >= '0' && key[at] <= '9') || (key[at + n] && key[at + n] != '.')) {
            wrong(b, TALUS_BAD_INPUT, "'%.100s' is not a key of a scene; keys are like \"solver.contact.method\"", key);
            return false;
        }
        at += n;
        if (key[at]) add(b, "t.%.*s = t.%.*s or {} ", (int)at, key, (int)at, key);
    } while (key[at++]);
    add(b, "t.%s = ", key);
    return true;
}

void talus_build_number(talus_build *b, const char *key, double value)
{
    if (!b || !key) {
        missing(b, __func__);
        return;
    }
    if (!begin_key(b, key)) return;
    add_number(b, value);
    add(b, "\n");
}

void talus_build_numbers(talus_build *b, const char *key, int count, const double *value)
{
    if (!b || !key || !value) {
        missing(b, __func__);
        return;
    }
    if (!begin_key(b, key)) return;
    add_numbers(b, count, value);
    add(b, "\n");
}

void talus_build_flag(talus_build *b, const char *key, int value)
{
    if (!b || !key) {
        missing(b, __func__);
        return;
    }
    if (begin_key(b, key)) add(b, value ? "true\n" : "false\n");
}

void talus_build_word(talus_build *b, const char *key, const char *value)
{
    if (!b || !key || !value) {
        missing(b, __func__);
        return;
    }
    if (!begin_key(b, key)) return;
    add_text(b, value);
    add(b, "\n");
}

/* ---- shapes ---- */

static int begin_shape(talus_build *b, const char *word)
{
    add(b, "s[%d] = %s { ", b->shapes + 1, word);
    return b->shapes++;
}

static bool is_shape(talus_build *b, int shape, const char *of)
{
    if (shape >= 0 && shape < b->shapes) return true;
    wrong(b, TALUS_BAD_INPUT, "%s: %d is not a shape; %d have been made", of, shape, b->shapes);
    return false;
}

int talus_build_box(talus_build *b, const double size[3])
{
    if (!b || !size) return missing(b, __func__);
    int i = begin_shape(b, "box");
    numbers_key(b, "size", 3, size);
    end_entry(b, NULL);
    return i;
}

int talus_build_sphere(talus_build *b, double radius)
{
    if (!b) return -1;
    int i = begin_shape(b, "sphere");
    number_key(b, "radius", radius);
    end_entry(b, NULL);
    return i;
}

int talus_build_capsule(talus_build *b, const double from[3], const double to[3], double radius)
{
    if (!b || !from || !to) return missing(b, __func__);
    int i = begin_shape(b, "capsule");
    numbers_key(b, "from", 3, from);
    numbers_key(b, "to", 3, to);
    number_key(b, "radius", radius);
    end_entry(b, NULL);
    return i;
}

int talus_build_cylinder(talus_build *b, double radius, double height)
{
    if (!b) return -1;
    int i = begin_shape(b, "cylinder");
    number_key(b, "radius", radius);
    number_key(b, "height", height);
    end_entry(b, NULL);
    return i;
}

int talus_build_plane(talus_build *b, double height)
{
    if (!b) return -1;
    int i = begin_shape(b, "plane");
    number_key(b, "height", height);
    end_entry(b, NULL);
    return i;
}

int talus_build_half_space(talus_build *b, const double normal[3], const double point[3])
{
    if (!b || !normal || !point) return missing(b, __func__);
    int i = begin_shape(b, "half_space");
    numbers_key(b, "normal", 3, normal);
    numbers_key(b, "point", 3, point);
    end_entry(b, NULL);
    return i;
}

int talus_build_mesh(talus_build *b, const char *path, double scale)
{
    if (!b || !path) return missing(b, __func__);
    char full[PATH_MAX];
    if (!realpath(path, full)) {
        wrong(b, TALUS_IO, "cannot read %.200s: %s", path, strerror(errno));
        return -1;
    }
    int i = begin_shape(b, "mesh");
    text_key(b, "file", full + 1);
    number_key(b, "scale", scale);
    end_entry(b, NULL);
    return i;
}

static int combine(talus_build *b, const char *word, int count, const int *shapes)
{
    for (int i = 0; i < count; i++)
        if (!is_shape(b, shapes[i], word)) return -1;
    int made = begin_shape(b, word);
    for (int i = 0; i < count; i++) add(b, "s[%d], ", shapes[i] + 1);
    end_entry(b, NULL);
    return made;
}

int talus_build_union(talus_build *b, int count, const int *shapes)
{
    if (!b || !shapes || count < 0) return missing(b, __func__);
    return combine(b, "union", count, shapes);
}
int talus_build_intersect(talus_build *b, int count, const int *shapes)
{
    if (!b || !shapes || count < 0) return missing(b, __func__);
    return combine(b, "intersect", count, shapes);
}
int talus_build_subtract(talus_build *b, int count, const int *shapes)
{
    if (!b || !shapes || count < 0) return missing(b, __func__);
    return combine(b, "subtract", count, shapes);
}

int talus_build_place(talus_build *b, int shape, const double at[3], const double rotation[4])
{
    if (!b) return -1;
    if (!is_shape(b, shape, "place")) return -1;
    add(b, "s[%d] = s[%d]", b->shapes + 1, shape + 1);
    if (rotation) {
        add(b, ":rotate(");
        add_numbers(b, 4, rotation);
        add(b, ")");
    }
    add(b, ":move(");
    add_numbers(b, 3, at);
    add(b, ")\n");
    return b->shapes++;
}

int talus_build_shape(talus_build *b, const char *text)
{
    if (!b || !text) return missing(b, __func__);
    add(b, "s[%d] = %s\n", b->shapes + 1, text);
    return b->shapes++;
}

/* ---- things ---- */

talus_material_spec talus_material_spec_default(void)
{
    double no = TALUS_NOT_GIVEN;
    return (talus_material_spec){.kind = "solid",
                                 .density = no,
                                 .friction = no,
                                 .restitution = no,
                                 .rolling_friction = no,
                                 .spinning_friction = no,
                                 .friction_angle_deg = no,
                                 .viscosity = no,
                                 .surface_tension = no,
                                 .young = no,
                                 .poisson = no,
                                 .opacity = no};
}

int talus_build_material(talus_build *b, const talus_material_spec *m)
{
    if (!b || !m) return missing(b, __func__);
    static const char *const kinds[] = {"solid", "granular", "liquid", "viscous", "elastic", NULL};
    int k = 0;
    while (kinds[k] && strcmp(kinds[k], m->kind)) k++;
    if (!kinds[k]) {
        const char *near = tl_text_nearest(m->kind, kinds);
        wrong(b, TALUS_BAD_INPUT, "no kind of material '%.60s'%s%s%s", m->kind, near ? "; did you mean '" : "",
              near ? near : "", near ? "'?" : "");
        return -1;
    }
    add(b, "m[%d] = %s { ", b->materials + 1, m->kind);
    text_key(b, "name", m->name);
    number_key(b, "density", m->density);
    number_key(b, "friction", m->friction);
    number_key(b, "restitution", m->restitution);
    number_key(b, "rolling_friction", m->rolling_friction);
    number_key(b, "spinning_friction", m->spinning_friction);
    number_key(b, "friction_angle_deg", m->friction_angle_deg);
    number_key(b, "viscosity", m->viscosity);
    number_key(b, "surface_tension", m->surface_tension);
    number_key(b, "young", m->young);
    number_key(b, "poisson", m->poisson);
    number_key(b, "opacity", m->opacity);
    text_key(b, "colour", m->colour);
    end_entry(b, m->keys);
    return b->materials++;
}

int talus_build_preset(talus_build *b, const char *name)
{
    if (!b || !name) return missing(b, __func__);
    add(b, "m[%d] = preset ", b->materials + 1);
    add_text(b, name);
    add(b, "\n");
    return b->materials++;
}

static bool is_material(talus_build *b, int material, const char *of)
{
    if (material >= 0 && material < b->materials) return true;
    wrong(b, TALUS_BAD_INPUT, "%s: %d is not a material; %d have been made", of, material, b->materials);
    return false;
}

talus_body_spec talus_body_spec_default(void)
{
    double no = TALUS_NOT_GIVEN;
    return (talus_body_spec){.kind = "free",
                             .shape = -1,
                             .material = -1,
                             .rotation = {1, 0, 0, 0},
                             .density = no,
                             .mass = no,
                             .friction = no,
                             .restitution = no,
                             .rolling_friction = no,
                             .spinning_friction = no};
}

int talus_build_body(talus_build *b, const talus_body_spec *body)
{
    if (!b || !body) return missing(b, __func__);
    static const double upright[4] = {1, 0, 0, 0};
    char name[32];
    snprintf(name, sizeof name, "bodies[%d]", b->bodies + 1);
    if (!is_shape(b, body->shape, name) || (body->material != -1 && !is_material(b, body->material, name))) return -1;
    add(b, "b[%d] = { shape = s[%d], ", b->bodies + 1, body->shape + 1);
    text_key(b, "name", body->name);
    text_key(b, "kind", body->kind);
    if (body->material >= 0) add(b, "material = m[%d], ", body->material + 1);
    if (!is_zero(3, body->at)) numbers_key(b, "at", 3, body->at);
    if (memcmp(body->rotation, upright, sizeof upright)) numbers_key(b, "rotation", 4, body->rotation);
    if (!is_zero(3, body->velocity)) numbers_key(b, "velocity", 3, body->velocity);
    if (!is_zero(3, body->spin)) numbers_key(b, "spin_rad_per_s", 3, body->spin);
    number_key(b, "density", body->density);
    number_key(b, "mass", body->mass);
    number_key(b, "friction", body->friction);
    number_key(b, "restitution", body->restitution);
    number_key(b, "rolling_friction", body->rolling_friction);
    number_key(b, "spinning_friction", body->spinning_friction);
    text_key(b, "colour", body->colour);
    end_entry(b, body->keys);
    return b->bodies++;
}

talus_pair_spec talus_pair_spec_default(void)
{
    double no = TALUS_NOT_GIVEN;
    return (talus_pair_spec){.friction = no, .restitution = no, .rolling_friction = no, .spinning_friction = no};
}

void talus_build_pair(talus_build *b, const talus_pair_spec *pair)
{
    if (!b || !pair || !pair->one || !pair->other) {
        missing(b, __func__);
        return;
    }
    if (b->contacts == 0) add(b, "t.contacts = c\n");
    add(b, "c[%d] = { between = {", ++b->contacts);
    add_text(b, pair->one);
    add(b, ", ");
    add_text(b, pair->other);
    add(b, "}, ");
    number_key(b, "friction", pair->friction);
    number_key(b, "restitution", pair->restitution);
    number_key(b, "rolling_friction", pair->rolling_friction);
    number_key(b, "spinning_friction", pair->spinning_friction);
    end_entry(b, NULL);
}

void talus_build_contact(talus_build *b, const char *one, const char *other, double friction, double restitution)
{
    talus_pair_spec pair = talus_pair_spec_default();
    pair.one = one, pair.other = other, pair.friction = friction, pair.restitution = restitution;
    talus_build_pair(b, &pair);
}

void talus_build_fill(talus_build *b, int material, int shape, const double velocity[3])
{
    if (!b) return;
    char name[32];
    snprintf(name, sizeof name, "fill[%d]", b->fills + 1);
    if (!is_material(b, material, name) || !is_shape(b, shape, name)) return;
    if (b->fills == 0) add(b, "t.fill = f\n");
    add(b, "f[%d] = { material = m[%d], shape = s[%d], ", ++b->fills, material + 1, shape + 1);
    if (velocity) numbers_key(b, "velocity", 3, velocity);
    end_entry(b, NULL);
}

void talus_build_domain(talus_build *b, const double min[3], const double max[3])
{
    if (!b || !min || !max) {
        missing(b, __func__);
        return;
    }
    talus_build_numbers(b, "domain.min", 3, min);
    talus_build_numbers(b, "domain.max", 3, max);
}
