/* docs/scene-reference.md, from the schema. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scene/schema.h"

typedef struct page {
    void (*write)(void *user, const char *text);
    void *user;
} page;

static void put(const page *p, const char *format, ...) TL_PRINTF(2, 3);
static void put(const page *p, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p->write(p->user, text);
}

static const char intro[] =
    "# Scene reference\n"
    "\n"
    "Made by `talus check --reference` from the table that reads scenes; the two cannot differ.\n"
    "\n"
    "A scene is a Lua 5.4 file that returns a table. `talus check SCENE` tells every mistake in it with file and "
    "line.\n"
    "\n"
    "```lua\n"
    "local sand = granular { density = 1600, friction_angle_deg = 30 }      -- or: preset \"dry sand\"\n"
    "return scene {\n"
    "  talus = 1, engine = \"grid\", duration = 2.0, fps = 50,\n"
    "  grid   = { cells = {64, 64, 64}, cell = 1/64 },\n"
    "  fill   = { { material = sand, shape = hemisphere { center = {0.5, 0, 0.5}, radius = 0.2 } } },\n"
    "  bodies = {\n"
    "    { name = \"board\", shape = box { size = {0.3, 0.03, 0.3} }, at = {0.5, 0.4, 0.5}, density = 500, friction = "
    "0.5 },\n"
    "    { name = \"drum\", shape = torus { radius = 0.3, tube = 0.05 }, at = {0.5, 0.5, 0.5},\n"
    "      motion = function(t) return { rotation_rad = {0, 0, 1.5*t} } end },\n"
    "  },\n"
    "}\n"
    "```\n"
    "\n"
    "Units are SI; a unit other than SI is in the key's name. Sizes are full edges. Coordinates are right-handed, y is "
    "up.\n"
    "\n"
    "## What a scene can use\n"
    "\n"
    "- Lua itself: loops, functions, tables, `assert`, `error`, `ipairs`, `pairs` (keys in order), `print`, "
    "`tonumber`, `tostring`, `type`;\n"
    "  `math` (with `math.random` while the file is read; the same numbers each time, `math.randomseed(n)` for "
    "others), `table.insert`,\n"
    "  `remove`, `concat`, `sort` (stable), `unpack`, and `string.byte`, `char`, `format`, `len`, `lower`, `rep`, "
    "`reverse`, `sub`, `upper`.\n"
    "  There is no way to files or the system, no `load`, `pcall`, metatables, coroutines, patterns or `...`.\n"
    "- `size`: `\"small\"` or `\"paper\"`, from `--size`. `\"small\"` runs in minutes, `\"paper\"` at the resolution "
    "of the paper.\n"
    "- `params { height = 0.3, wet = false }` declares parameters and returns their values; `--set height=0.5` changes "
    "one.\n"
    "  `--set` also reaches every key: `--set grid.cell=0.02`, `--set bodies[2].density=800`, `--set "
    "bodies.board.friction=0.1`,\n"
    "  `--set fill[1].material.friction_angle_deg=25`.\n"
    "- `shape_file \"duck\"`: what `duck.lua` in the scene's folder, or else in talus' `scenes/shapes`, returns.\n"
    "- `import { file = \"robot.urdf\" }`: bodies and joints of a robot's file, see below.\n"
    "- Helpers for many bodies. `body` is a body, or a function `(i, at)` that returns one; `at` of the body is added "
    "to each place, and\n"
    "  names get a number:\n"
    "  - `grid_of { count = {4, 3, 2}, spacing = 0.1, at = {0, 0, 0}, body = {...} }`\n"
    "  - `stack_of { count = 10, step = 0.1, at = {0, 0, 0}, turn_deg = 5, body = {...} }` upwards, or along a vector "
    "`step`\n"
    "  - `ring_of { count = 12, radius = 0.5, at = {0, 0, 0}, start_deg = 0, body = {...} }` around y, each turned to "
    "face outwards\n"
    "  - `join { list, list, ... }`: one list of them all\n"
    "- `move(shape, {x, y, z})`, `rotate(shape, {x, y, z})` (degrees, or any form of a rotation), `scale(shape, 2)` or "
    "`scale(shape, {x, y, z})`\n"
    "  (then distances are lower bounds), `mirror(shape, \"x\")` (the shape and its mirror image). Also as `shape:move "
    "{x, y, z}`.\n"
    "- `paint(shape, colour)`, `paint(shape, region, colour)`: for pictures only. The surface of the shape, or what of "
    "it "
    "lies in the region, gets a\n"
    "  colour, or `{ colour, gloss = 0.5, opacity = 1 }`; later paint lies over earlier paint. It moves with the shape "
    "and "
    "stays in unions. A body's\n"
    "  own `colour` replaces what is painted all over.\n"
    "\n"
    "## Functions of time\n"
    "\n"
    "Where a key takes one, `function(t) return ... end` gives the value at time `t` in seconds. The answer may depend "
    "on `t` alone: after the\n"
    "file is read, globals cannot be written and `math.random` is refused, and `talus check` calls each function at 16 "
    "times in two orders and\n"
    "refuses it when an answer differs. A step reads it once, at its start.\n"
    "\n"
    "## Rotations and colours\n"
    "\n"
    "| form | meaning |\n"
    "|---|---|\n"
    "| `rotation = {w, x, y, z}` | unit quaternion |\n"
    "| `rotation = { axis = {x, y, z}, angle_deg = a }` | turn about an axis; or `angle_rad` |\n"
    "| `rotation_deg = {x, y, z}` | turn about x, then about y, then about z, axes of the world |\n"
    "| `rotation_rad = {x, y, z}` | the same in radians |\n"
    "| `colour = \"#c9a66b\"` or `{0.79, 0.65, 0.42}` | sRGB, 0 to 1 |\n"
    "\n"
    "## Limits\n"
    "\n"
    "A file has at most 1 MB, a script 10 million units of work (one per Lua instruction and per 8 bytes taken), 64 "
    "MB, texts of 4 kB and calls\n"
    "nested 150 deep; one call of a function of time has 200 000 units. Meshes are read from the scene's folder or "
    "below.\n";

static const char *type_name(const tl_key *k, char *text, size_t room)
{
    static const char *const names[] = {
        [TL_NUMBER] = "number",
        [TL_INTEGER] = "whole number",
        [TL_SEED] = "whole number",
        [TL_BOOLEAN] = "true or false",
        [TL_TEXT] = "text",
        [TL_CHOICE] = "word",
        [TL_WORD] = "word",
        [TL_VEC3] = "{x, y, z}",
        [TL_SIZE3] = "number or {x, y, z}",
        [TL_INTEGER3] = "{x, y, z}, whole",
        [TL_BOOLEAN3] = "{x, y, z}, true or false",
        [TL_RANGE] = "{low, high}",
        [TL_NAMES2] = "{name, name}",
        [TL_ROTATION] = "rotation",
        [TL_ANGLES_DEG] = "{x, y, z}",
        [TL_ANGLES_RAD] = "{x, y, z}",
        [TL_COLOUR] = "colour",
        [TL_SHAPE] = "shape",
        [TL_SHAPES] = "shapes",
        [TL_PROFILE] = "list of {a, b}",
        [TL_PATH] = "list of {x, y, z}",
        [TL_MATERIAL] = "material",
        [TL_TIMED1] = "number or function",
        [TL_TIMED3] = "{x, y, z} or function",
        [TL_POSE] = "function",
        [TL_TABLE] = "table",
        [TL_LIST] = "list",
    };
    if (k->inside)
        snprintf(text, room, "%s: [%s](#%s)", names[k->type], k->inside->name, k->inside->name);
    else
        snprintf(text, room, "%s", names[k->type]);
    for (char *c = strchr(text, '#'); c && *c; c++) /* anchors have no spaces */
        if (*c == ' ') *c = '-';
    return text;
}

static const char *range_text(const tl_key *k, char *text, size_t room)
{
    const tl_range *a = &k->range;
    const double far = 1e15;
    *text = 0;
    if (k->words) {
        char word[64];
        for (int i = 0; tl_schema_word_at(k->words, i, word, sizeof word); i++) {
            size_t n = strlen(text);
            snprintf(text + n, room - n, "%s`%s`", i ? ", " : "", word);
        }
    } else if (a->low > -far && a->high < far) {
        snprintf(text, room, a->low == a->high ? "%g" : a->above ? "> %g, <= %g" : "%g to %g", a->low, a->high);
    } else if (a->low > -far) {
        snprintf(text, room, "%s %g", a->above ? ">" : ">=", a->low);
    }
    return text;
}

static void put_keys(const page *p, const tl_context *c)
{
    put(p, "\n| key | type | unit | allowed | default | meaning |\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < c->key_count; i++) {
        const tl_key *k = &c->keys[i];
        char type[96], range[512], fallback[64] = "", engine[64] = "";
        if (!k->fallback)
            snprintf(fallback, sizeof fallback, "must be given");
        else if (*k->fallback)
            snprintf(fallback, sizeof fallback, "`%s`", k->fallback);
        for (int e = 0; e < TL_ENGINES; e++)
            if (k->engines & 1u << e)
                snprintf(engine + strlen(engine), sizeof engine - strlen(engine), "%s`%s`", *engine ? ", " : " Engine ",
                         tl_engine_name((tl_engine)e));
        put(p, "| `%s` | %s | %s | %s | %s | %s%s%s |\n", k->name, type_name(k, type, sizeof type), k->unit,
            range_text(k, range, sizeof range), fallback, k->help, *engine ? "." : "", *engine ? engine : "");
    }
}

static void put_presets(const page *p)
{
    static const char *const kinds[] = {"granular", "liquid", "viscous", "elastic", "solid"};
    put(p, "\n### Presets\n\n`preset \"water\"` is a material with values from the literature "
           "([references](references.md)):\n\n"
           "| name | kind | values | source |\n|---|---|---|---|\n");
    for (int i = 0; tl_preset_at(i); i++) {
        const tl_material *m = &tl_preset_at(i)->material;
        char values[200];
        int n = snprintf(values, sizeof values, "%g kg/m^3", m->density);
        if (m->kind == TL_MATERIAL_GRANULAR)
            n += snprintf(values + n, sizeof values - (size_t)n, ", %g degrees", m->friction_angle_deg);
        if (m->kind == TL_MATERIAL_VISCOUS)
            n += snprintf(values + n, sizeof values - (size_t)n, ", %g Pa s", m->viscosity);
        if (m->surface_tension > 0)
            n += snprintf(values + n, sizeof values - (size_t)n, ", %g N/m", m->surface_tension);
        if (m->kind == TL_MATERIAL_ELASTIC)
            n += snprintf(values + n, sizeof values - (size_t)n, ", E %g Pa, Poisson %g", m->young, m->poisson);
        if (m->kind >= TL_MATERIAL_ELASTIC)
            n += snprintf(values + n, sizeof values - (size_t)n, ", friction %g, restitution %g", m->friction.value[0],
                          m->restitution);
        put(p, "| `%s` | %s | %s | %s |\n", tl_preset_at(i)->name, kinds[m->kind], values, tl_preset_at(i)->source);
    }
}

void tl_schema_page(void (*write)(void *user, const char *text), void *user)
{
    page p = {write, user};
    write(user, intro);
    put(&p, "\n## Tables\n");
    bool shapes = false;
    for (int i = 0; tl_schema_at(i); i++) {
        const tl_context *c = tl_schema_at(i);
        if (!strcmp(c->name, "granular"))
            put(&p,
                "\n## Materials\n\nMade once, used by fills, emitters and bodies: `local sand = granular { ... }`.\n");
        if (!shapes && c->size == sizeof(tl_shape_args)) {
            shapes = true;
            put_presets(&p);
            put(&p, "\n## Shapes\n\nA shape is made by one of these, and can be used any number of times. Primitives "
                    "have their centre at the origin and y as\n"
                    "their axis; `center` and the rotations place them.\n");
        }
        put(&p, "\n### %s\n\n%s\n", c->name, c->help);
        if (c->example) put(&p, "\n    %s\n", c->example);
        put_keys(&p, c);
    }
}
