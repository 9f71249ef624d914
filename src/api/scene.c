#include "api/scene.h"
#include "model/rigid/freedom.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/need.h"
#include "base/alloc.h"
#include "model/lg/plan.h"
#include "model/rigid/freedom.h"
#include "scene/schema.h"

talus_scene_options talus_scene_options_default(void) { return (talus_scene_options){.size = "small"}; }

/* The reader tells notes by a bool. */
static void pass_problem(void *user, const char *file, int line, bool note, const char *text)
{
    const talus_scene_options *o = user;
    o->problem(o->problem_user, file, line, note, text);
}

talus_status tl_scene_options_from(const talus_scene_options *o, tl_load_options *out, talus_error *err)
{
    int size = tl_schema_word("small|paper", o->size ? o->size : "small");
    if (size < 0) return TL_FAIL(err, TALUS_BAD_INPUT, "size must be \"small\" or \"paper\", got \"%.60s\"", o->size);
    *out = (tl_load_options){
        .size = (tl_size)size,
        .setting_count = o->settings,
        .setting = o->setting,
        .shapes_folder = o->shapes_folder,
        .mesh_folder = o->mesh_folder,
        .problem = o->problem ? pass_problem : NULL,
        .problem_user = (void *)o,
        .print = o->print,
        .print_user = o->print_user,
        .driven = o->driven,
    };
    return TALUS_OK;
}

/* text: NULL for the file at `path`. */
static talus_status load(const char *path, const char *text, const talus_scene_options *options, talus_scene **out,
                         talus_error *err)
{
    talus_scene_options plain = talus_scene_options_default();
    tl_load_options o;
    *out = NULL;
    TL_TRY(tl_scene_options_from(options ? options : &plain, &o, err));
    talus_scene *s = TL_NEW_ZERO(talus_scene, 1);
    if (!s) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the scene");
    o.no_files = !path;
    talus_status status = text ? tl_scene_load_text(&s->scene, path ? path : "scene", text, strlen(text), &o, err)
                               : tl_scene_load(&s->scene, path, &o, err);
    if (status != TALUS_OK) {
        tl_free(s);
        return status;
    }
    *out = s;
    return TALUS_OK;
}

talus_status talus_scene_load(const char *path, const talus_scene_options *options, talus_scene **out, talus_error *err)
{
    TL_NEED(path);
    TL_NEED(out);
    return load(path, NULL, options, out, err);
}

talus_status talus_scene_load_text(const char *text, const char *name, const talus_scene_options *options,
                                   talus_scene **out, talus_error *err)
{
    TL_NEED(text);
    TL_NEED(out);
    return load(name, text, options, out, err);
}

void talus_scene_free(talus_scene *scene)
{
    if (!scene) return;
    tl_scene_free(scene->scene);
    tl_free(scene);
}

const char *talus_scene_title(const talus_scene *s)
{
    if (!s) return "";
    return s->scene->title;
}
const char *talus_scene_about(const talus_scene *s)
{
    if (!s) return "";
    return s->scene->about;
}
const char *talus_scene_figure(const talus_scene *s)
{
    if (!s) return "";
    return s->scene->figure;
}
double talus_scene_minutes(const talus_scene *s)
{
    if (!s) return 0;
    return s->scene->minutes;
}
double talus_scene_duration(const talus_scene *s)
{
    if (!s) return 0;
    return s->scene->duration;
}
double talus_scene_fps(const talus_scene *s)
{
    if (!s) return 0;
    return s->scene->fps;
}
const char *talus_scene_engine(const talus_scene *s)
{
    if (!s) return "";
    return tl_engine_name(s->scene->engine);
}

int talus_scene_count(const talus_scene *s, talus_scene_part part)
{
    if (!s) return 0;
    const tl_scene *t = s->scene;
    switch (part) {
    case TALUS_PART_BODIES: return t->body_count;
    case TALUS_PART_FILLS: return t->fill_count;
    case TALUS_PART_EMITTERS: return t->emitter_count;
    case TALUS_PART_MATERIALS: return t->material_count;
    case TALUS_PART_CONTACTS: return t->contact_count;
    case TALUS_PART_FUNCTIONS: return t->function_count;
    case TALUS_PART_SHAPES: return tl_shape_node_count(t->shapes);
    }
    return 0;
}

const char *talus_scene_body_name(const talus_scene *s, int body)
{
    if (!s) return "";
    return body >= 0 && body < s->scene->body_count ? s->scene->bodies[body].name : "";
}

static const char *material_line(const tl_scene *s, int i, char *text, int room)
{
    const tl_material *m = &s->materials[i];
    static const char *const kinds[] = {"granular", "liquid", "viscous", "elastic", "solid"};
    int n =
        snprintf(text, (size_t)room, "%s%s%s, %g kg/m^3", m->name, *m->name ? ": " : "", kinds[m->kind], m->density);
    if (n < room && m->kind == TL_MATERIAL_GRANULAR)
        snprintf(text + n, (size_t)(room - n), ", friction angle %g degrees", m->friction_angle_deg);
    if (n < room && m->kind == TL_MATERIAL_VISCOUS) snprintf(text + n, (size_t)(room - n), ", %g Pa s", m->viscosity);
    if (n < room && m->kind == TL_MATERIAL_ELASTIC)
        snprintf(text + n, (size_t)(room - n), ", E %g Pa, nu %g", m->young, m->poisson);
    return text;
}

/* Bodies by finite elements: how many nodes there will be, and how long that takes. */
static int elastic_line(const tl_scene *s, char *text, int room)
{
    double nodes = 0, seconds, edge = INFINITY, step = s->dt_max > 0 ? fmin(s->dt_max, 1 / s->fps) : 1 / s->fps;
    if (s->engine != TL_ENGINE_GRID) return 0;
    for (int b = 0; b < s->body_count; b++) {
        const tl_body *body = &s->bodies[b];
        double its = tl_lg_expected_nodes(s, body);
        nodes += its;
        if (its > 0 && !body->cells[0]) edge = fmin(edge, body->edge > 0 ? body->edge : tl_lg_default_edge(s, body));
    }
    if (!(nodes > 0)) return 0;
    seconds = tl_lg_expected_seconds(s);
    int n = snprintf(text, (size_t)room, "finite elements: about %.2g nodes", nodes);
    if (isfinite(edge) && n < room) n += snprintf(text + n, (size_t)(room - n), ", edges from %.3g m", edge);
    if (n < room)
        snprintf(text + n, (size_t)(room - n), "; some %.2g s of processor time per step, %.2g minutes in all", seconds,
                 seconds * ceil(s->duration / step) / 60);
    return 1;
}

#define MECHANISMS 20 /* lines */

/* What joints leave free, a line for each mechanism, at most MECHANISMS. */
static int mechanism_line(const tl_scene *s, int k, char *text, int room)
{
    tl_arena a = {0};
    tl_mechanism *list;
    int32_t count = 0;
    int there = k >= 0 && k < MECHANISMS && tl_mechanisms_find(s, &list, &count, &a, NULL) == TALUS_OK && k < count;
    if (there) {
        const tl_mechanism *m = &list[k];
        int n = snprintf(text, (size_t)room, "mechanism of \"%.40s\": %d free bodies, %d joints",
                         s->joints[m->joint].name, (int)m->bodies, (int)m->joints);
        if (m->free >= 0 && n < room)
            n += snprintf(text + n, (size_t)(room - n), ", %d degrees of freedom", (int)m->free);
        if (m->over && n < room)
            snprintf(text + n, (size_t)(room - n), "; %d of %d rows hold what others hold, first in \"%.40s\"",
                     (int)m->over, (int)m->rows, s->joints[m->by].name);
    }
    tl_arena_free(&a);
    return there;
}

int talus_scene_summary(const talus_scene *scene, int i, char *text, int room)
{
    if (!scene || !text || room < 1) return 0;
    const tl_scene *s = scene->scene;
    int kinds[3] = {0, 0, 0};
    for (int b = 0; b < s->body_count; b++) kinds[s->bodies[b].kind]++;
    switch (i) {
    case 0:
        snprintf(text, (size_t)room, "engine %s, %g s at %g frames per second, gravity {%g, %g, %g} m/s^2",
                 talus_scene_engine(scene), s->duration, s->fps, s->gravity.x, s->gravity.y, s->gravity.z);
        return 1;
    case 1:
        if (s->engine == TL_ENGINE_GRID && !s->grid.cells[0])
            snprintf(text, (size_t)room, "bodies alone, no grid");
        else if (s->engine == TL_ENGINE_GRID)
            snprintf(text, (size_t)room, "grid of %d x %d x %d cells of %g m", s->grid.cells[0], s->grid.cells[1],
                     s->grid.cells[2], s->grid.cell);
        else if (s->engine == TL_ENGINE_SPH)
            snprintf(text, (size_t)room, "particles %g m apart", s->sph.spacing);
        else
            snprintf(text, (size_t)room, "%d local-global rounds per step", s->lg.iterations);
        return 1;
    case 2:
        snprintf(text, (size_t)room, "%d bodies: %d free, %d kinematic, %d static", s->body_count, kinds[TL_BODY_FREE],
                 kinds[TL_BODY_KINEMATIC], kinds[TL_BODY_STATIC]);
        return 1;
    case 3:
        snprintf(text, (size_t)room, "%d fills, %d emitters, %d pairs, %d functions of time, %d shape nodes",
                 s->fill_count, s->emitter_count, s->contact_count, s->function_count, tl_shape_node_count(s->shapes));
        return 1;
    default: break;
    }
    if (i - 4 < s->material_count && i <= 20) {
        material_line(s, i - 4, text, room);
        return 1;
    }
    int past = s->material_count < 17 ? 4 + s->material_count : 21;
    if (s->joint_count) return mechanism_line(s, i - past, text, room);
    return i == past && elastic_line(s, text, room);
}

void talus_scene_reference(void (*write)(void *user, const char *text), void *user)
{
    if (!write) return;
    tl_schema_page(write, user);
}
