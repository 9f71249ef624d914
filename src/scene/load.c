#include "scene/load.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "scene/read.h"

#define READ_UNITS 20000000 /* reading what the script made: 100 000 bodies take half of it */

void tl_scene_free(tl_scene *s)
{
    if (!s) return;
    if (s->lua) {
        pthread_mutex_destroy(&s->lua->one);
        tl_sandbox_free(s->lua->box);
        tl_free(s->lua->functions);
        tl_free(s->lua);
    }
    tl_shape_tree_free(s->shapes);
    tl_arena_free(&s->arena);
    tl_free(s);
}

/* Does an entry name this pair of bodies? */
static bool names_pair(const tl_scene *s, const tl_contact_pair *p, int a, int b)
{
    const char *names[2][2] = {{"walls", ""}, {"walls", ""}};
    int body[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        if (body[k] < 0) continue;
        const tl_body *o = &s->bodies[body[k]];
        names[k][0] = o->name;
        if (o->material >= 0) names[k][1] = s->materials[o->material].name;
    }
    bool fits = false;
    for (int k = 0; k < 2; k++) { /* between[0] is the one, between[1] the other, or the other way round */
        const char *first = p->between[k], *second = p->between[1 - k];
        fits |= (!strcmp(first, names[0][0]) || !strcmp(first, names[0][1])) &&
                (!strcmp(second, names[1][0]) || !strcmp(second, names[1][1]));
    }
    return fits;
}

void tl_scene_pair(const tl_scene *s, int a, int b, const double own_friction[2], double *friction, double *restitution)
{
    double one = a < 0 ? s->domain.restitution : s->bodies[a].restitution,
           other = b < 0 ? s->domain.restitution : s->bodies[b].restitution;
    *friction = sqrt(own_friction[0] * own_friction[1]);
    *restitution = one > other ? one : other;
    for (int i = 0; i < s->contact_count; i++) {
        const tl_contact_pair *p = &s->contacts[i];
        if (!names_pair(s, p, a, b)) continue;
        if (p->friction >= 0) *friction = p->friction;
        if (p->restitution >= 0) *restitution = p->restitution;
    }
}

bool tl_scene_turning(const tl_scene *s)
{
    bool any = s->domain.rolling_friction > 0 || s->domain.spinning_friction > 0;
    for (int i = 0; i < s->body_count; i++)
        any |= s->bodies[i].rolling_friction > 0 || s->bodies[i].spinning_friction > 0;
    for (int i = 0; i < s->contact_count; i++)
        any |= s->contacts[i].rolling_friction > 0 || s->contacts[i].spinning_friction > 0;
    return any;
}

void tl_scene_pair_turning(const tl_scene *s, int a, int b, double *rolling, double *spinning)
{
    const tl_domain_spec *d = &s->domain;
    *rolling = fmax(a < 0 ? d->rolling_friction : s->bodies[a].rolling_friction,
                    b < 0 ? d->rolling_friction : s->bodies[b].rolling_friction);
    *spinning = fmax(a < 0 ? d->spinning_friction : s->bodies[a].spinning_friction,
                     b < 0 ? d->spinning_friction : s->bodies[b].spinning_friction);
    for (int i = 0; i < s->contact_count; i++) {
        const tl_contact_pair *p = &s->contacts[i];
        if (!names_pair(s, p, a, b)) continue;
        if (p->rolling_friction >= 0) *rolling = p->rolling_friction;
        if (p->spinning_friction >= 0) *spinning = p->spinning_friction;
    }
}

/* ---- one file ---- */

static bool failed(tl_reader *r, int status)
{
    char reason[320];
    tl_sandbox *box = r->box;
    bool limit = box->spent || box->full || box->long_text;
    if (r->status != TALUS_OK) lua_error(r->L); /* memory of ours: nothing to tell about the file */
    if (status == LUA_ERRMEM && box->starved && !limit) tl_reader_starved(r);
    int file = box->chunk >= 0 && box->chunk < r->source_count ? box->chunk : 0;
    tl_read_failure(r, (tl_where){r->sources[file].file, box->line > 0 ? box->line : 1}, "%s",
                    tl_sandbox_reason(box, reason, sizeof reason));
    lua_pop(r->L, 1);
    return false;
}

int tl_reader_add_source(tl_reader *r, const char *file, const char *text, size_t bytes)
{
    talus_error err = {0};
    if (r->source_count == r->source_room) {
        int room = r->source_room ? 2 * r->source_room : 8;
        tl_source *fresh = tl_realloc(r->sources, (size_t)room * sizeof *fresh);
        if (!fresh) tl_reader_starved(r);
        r->sources = fresh;
        r->source_room = room;
    }
    tl_source *s = &r->sources[r->source_count];
    file = tl_reader_text(r, file);
    r->scene->hash = tl_hash(r->scene->hash, text, bytes);
    tl_source_create(s, file, text, bytes, &err);
    tl_free(r->held);
    r->held = NULL;
    if (err.status != TALUS_OK) {
        if (err.status == TALUS_NO_MEMORY) tl_reader_starved(r);
        tl_read_problem(r, (tl_where){file, 1}, "%s", err.message);
        return -1;
    }
    return r->source_count++;
}

bool tl_reader_run(tl_reader *r, const char *file, const char *text, size_t bytes)
{
    lua_State *L = r->L;
    talus_error err = {0};
    const int number = tl_reader_add_source(r, file, text, bytes);
    if (number < 0) return false;
    tl_source *s = &r->sources[number];

    /* The text as it is, for Lua's own messages; then with the marks. */
    int status = tl_sandbox_load(r->box, s->text, s->bytes, number);
    if (status != LUA_OK) return failed(r, status);
    lua_pop(L, 1);
    int line = 1;
    if (tl_source_mark(s, number, &line, &err) != TALUS_OK) {
        if (err.status == TALUS_NO_MEMORY) tl_reader_starved(r);
        tl_read_problem(r, (tl_where){s->file, line}, "%s", err.message);
        return false;
    }
    lua_pushinteger(L, number);
    lua_pushcclosure(L, tl_read_mark, 1);
    tl_sandbox_define(r->box, s->mark);
    status = tl_sandbox_load(r->box, s->marked, s->marked_bytes, number);
    if (status != LUA_OK) return failed(r, status);
    status = tl_sandbox_call(r->box, 0, 1);
    return status == LUA_OK || failed(r, status);
}

/* ---- the scene ---- */

typedef struct job {
    tl_reader *reader;
    const char *text;
    size_t bytes;
} job;

/* The last line with text on it: where a file returns its result. */
static int last_line(const tl_source *s)
{
    int line = 1, last = 1;
    for (size_t i = 0; i < s->bytes; i++) {
        if (s->text[i] == '\n') line++;
        if ((unsigned char)s->text[i] > ' ') last = line;
    }
    return last;
}

static void read_result(tl_reader *r)
{
    lua_State *L = r->L;
    tl_scene *s = r->scene;
    r->where.line = last_line(&r->sources[0]);
    int root = tl_build_shape_of(L, -1);
    if (r->options->shape_only || (r->options->shape_too && root != -2)) {
        char got[96];
        s->root = root;
        if (s->root == -2)
            tl_read_problem(r, r->where, "the file must return a shape, got %s",
                            tl_read_describe(L, -1, got, sizeof got));
        else
            tl_settings_unused(r);
        return;
    }
    if (lua_type(L, -1) != LUA_TTABLE) {
        char got[96];
        tl_read_problem(r, r->where, "the file must return scene { ... }, got %s",
                        tl_read_describe(L, -1, got, sizeof got));
        return;
    }
    tl_sandbox_allow(r->box, READ_UNITS);
    tl_settings_apply(r, lua_gettop(L));
    tl_read_table(r, tl_schema_find("scene"), -1, s, "", r->where);
}

static int load_protected(lua_State *L)
{
    job *j = lua_touserdata(L, 1);
    tl_reader *r = j->reader;
    tl_scene *s = r->scene;
    lua_settop(L, 0);
    tl_build_open(r);
    tl_sandbox_allow(r->box, r->options->units ? r->options->units : TL_LOAD_UNITS);
    for (int i = 0; i < r->setting_count; i++) {
        long long seed;
        int end = 0;
        if (sscanf(r->settings[i].text, "seed=%lld%n", &seed, &end) == 1 && !r->settings[i].text[end])
            r->box->random_seed = (uint64_t)seed;
    }
    if (!tl_reader_run(r, s->file, j->text, j->bytes)) return 0;
    read_result(r);
    s->material_count = r->material_count;
    s->materials = tl_reader_take(r, (size_t)r->material_count * sizeof *s->materials);
    if (r->material_count) memcpy(s->materials, r->materials, (size_t)r->material_count * sizeof *s->materials);
    s->paint_count = r->paint_count;
    s->paints = tl_reader_take(r, (size_t)r->paint_count * sizeof *s->paints);
    if (r->paint_count) memcpy(s->paints, r->paints, (size_t)r->paint_count * sizeof *s->paints);
    tl_sandbox_seal(r->box);
    if (s->duration > 0) tl_functions_check(r);
    return 0;
}

static void tell(const tl_reader *r, talus_error *err)
{
    const tl_load_options *o = r->options;
    bool first = true;
    for (int i = 0; i < r->problem_count; i++) {
        const tl_problem *p = &r->problems[i];
        char text[450];
        snprintf(text, sizeof text, p->alike ? "%s (and %d more like this)" : "%s", p->text, p->alike);
        if (o->problem) o->problem(o->problem_user, p->where.file, p->where.line, p->note, text);
        if (p->note || !first) continue;
        first = false;
        if (p->where.line > 0)
            TL_FAIL(err, TALUS_BAD_INPUT, "%s:%d: %s", p->where.file, p->where.line, text);
        else
            TL_FAIL(err, TALUS_BAD_INPUT, "%s: %s", p->where.file, text);
    }
    if (o->problem && r->problem_dropped) {
        char text[64];
        snprintf(text, sizeof text, "and %d more problems", r->problem_dropped);
        o->problem(o->problem_user, r->scene->file, 0, false, text);
    }
}

static talus_status load(tl_reader *r, const char *text, size_t bytes, talus_error *err)
{
    tl_scene *s = r->scene;
    job j = {r, text, bytes};
    lua_State *L = r->L = r->box->L;
    r->box->user = r;
    r->box->print = r->options->print;
    r->box->print_user = r->options->print_user;
    lua_pushcfunction(L, load_protected);
    lua_pushlightuserdata(L, &j);
    int status = tl_sandbox_call(r->box, 1, 0);
    if (status != LUA_OK && r->status == TALUS_OK) { /* outside of the script: while its result was read */
        bool limit = r->box->spent || r->box->full || r->box->long_text;
        if (status == LUA_ERRMEM && !limit) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the scene");
        char reason[320];
        tl_where end = {s->file, r->where.line};
        if (r->box->spent)
            tl_read_failure(r, end, "the scene has more tables or more problems than are read");
        else
            tl_read_failure(r, end, "%s", tl_sandbox_reason(r->box, reason, sizeof reason));
    }
    if (r->status != TALUS_OK) return r->status;
    lua_settop(L, 0);
    r->box->user = NULL;
    r->box->print = NULL;
    tl_read_sort_problems(r);
    tell(r, err);
    if (r->error_count) return TALUS_BAD_INPUT;
    if (s->function_count) {
        lua_gc(L, LUA_GCCOLLECT); /* the tables that were read are not needed any more */
    } else {
        tl_sandbox_free(s->lua->box);
        s->lua->box = NULL;
    }
    return TALUS_OK;
}

/* A copy that lives as long as the scene; NULL: no memory. */
static char *keep_text(tl_scene *s, const char *text, size_t bytes)
{
    char *copy = tl_arena_take(&s->arena, bytes + 1);
    if (!copy) return NULL;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return copy;
}

static talus_status prepare(tl_scene *s, tl_reader *r, const char *name, const tl_load_options *o, talus_error *err)
{
    s->file = keep_text(s, name, strlen(name));
    s->root = -1;
    s->size = o->size;
    s->hash = tl_hash(TL_HASH_START, &o->size, sizeof o->size);
    s->shapes = tl_shape_tree_create();
    s->lua = TL_NEW_ZERO(tl_scene_lua, 1);
    if (s->lua) pthread_mutex_init(&s->lua->one, NULL);
    r->problems = TL_NEW_ZERO(tl_problem, TL_PROBLEMS_MAX);
    r->problem_room = TL_PROBLEMS_MAX;
    r->settings = TL_NEW_ZERO(tl_setting, o->setting_count + 1);
    if (!s->file || !s->shapes || !s->lua || !r->problems || !r->settings)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the scene");
    for (r->setting_count = 0; r->setting_count < o->setting_count; r->setting_count++) {
        r->settings[r->setting_count].text = o->setting[r->setting_count];
        s->hash = tl_hash(s->hash, o->setting[r->setting_count], strlen(o->setting[r->setting_count]) + 1);
    }
    TL_TRY(tl_sandbox_create(&s->lua->box, err));
    r->box = s->lua->box;
    r->where = (tl_where){s->file, 1};
    return TALUS_OK;
}

talus_status tl_scene_load_text(tl_scene **out, const char *name, const char *text, size_t bytes,
                                const tl_load_options *o, talus_error *err)
{
    static const tl_load_options plain = {0};
    *out = NULL;
    tl_scene *s = TL_NEW_ZERO(tl_scene, 1);
    if (!s) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the scene");
    tl_reader r = {.scene = s, .options = o ? o : &plain, .err = err};
    talus_status status = prepare(s, &r, name, r.options, err);
    if (status == TALUS_OK && !(s->text = keep_text(s, text, bytes)))
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the scene");
    if (status == TALUS_OK) status = load(&r, text, bytes, err);

    for (int i = 0; i < r.source_count; i++) tl_source_free(&r.sources[i]);
    tl_free(r.sources);
    tl_free(r.problems);
    tl_free(r.settings);
    tl_free(r.materials);
    tl_free(r.paints);
    tl_free(r.costs);
    tl_free(r.held);
    tl_arena_free(&r.imports);
    if (status != TALUS_OK) {
        tl_scene_free(s);
        return status;
    }
    *out = s;
    return TALUS_OK;
}

talus_status tl_scene_load(tl_scene **out, const char *path, const tl_load_options *o, talus_error *err)
{
    *out = NULL;
    char *text;
    size_t bytes = 0;
    TL_TRY(tl_file_read(path, &text, &bytes, err));
    talus_status status = tl_scene_load_text(out, path, text, bytes, o, err);
    tl_free(text);
    return status;
}
