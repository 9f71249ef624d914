/* No key without a reader: whatever a scene of an engine may set, a simulation of it looks at.
 *
 * The scene is put into pages that may not be read. Each access ends in a signal, which writes down where it was,
 * opens the page for one instruction (the processor's trap flag) and closes it again. So the list of keys that an
 * engine reads is measured, and held against the schema. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <omp.h>

#include "check.h"
#include "phase/sim.h"
#include "scene/load.h"
#include "scene/schema.h"

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)

#define TRAP 0x100 /* trap flag of the processor */
#define PAGE 4096
#define ENOUGH 1000000 /* accesses to a page in a row that show nothing new: it stays open */

static char *pages; /* [bytes] closed while a simulation runs */
static size_t bytes;
static char *seen;      /* [bytes] */
static int quiet[64];   /* accesses to a page since it showed something new */
static char *opened[8]; /* pages to be closed after this instruction */
static int opened_count;

static void on_access(int number, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    char *at = info->si_addr;
    (void)number;
    if (at < pages || at >= pages + bytes) {
        signal(SIGSEGV, SIG_DFL);
        return;
    }
    const ptrdiff_t page = (at - pages) / PAGE;
    quiet[page] = seen[at - pages] ? quiet[page] + 1 : 0;
    seen[at - pages] = 1;
    mprotect(pages + page * PAGE, PAGE, PROT_READ | PROT_WRITE);
    if (quiet[page] > ENOUGH || opened_count == 8) return;
    opened[opened_count++] = pages + page * PAGE;
    u->uc_mcontext.gregs[REG_EFL] |= TRAP;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    (void)number, (void)info;
    u->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
    while (opened_count > 0) mprotect(opened[--opened_count], PAGE, PROT_NONE);
}

static void watch(void)
{
    struct sigaction access = {.sa_sigaction = on_access, .sa_flags = SA_SIGINFO},
                     trap = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &access, NULL);
    sigaction(SIGTRAP, &trap, NULL);
    mprotect(pages, bytes, PROT_NONE);
}

static void unwatch(void)
{
    signal(SIGSEGV, SIG_DFL);
    signal(SIGTRAP, SIG_DFL);
    mprotect(pages, bytes, PROT_READ | PROT_WRITE);
}

/* ---- what was read ---- */

#define KEYS_MAX 2048
typedef struct key_read {
    char path[96];
    bool read;
} key_read;
static key_read found[KEYS_MAX];
static int found_count;

static void note(const char *path, bool read)
{
    for (int i = 0; i < found_count; i++)
        if (!strcmp(found[i].path, path)) {
            found[i].read |= read;
            return;
        }
    snprintf(found[found_count].path, sizeof found->path, "%s", path);
    found[found_count++].read = read;
}

static bool was_read(const char *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (seen[from - pages + (ptrdiff_t)i]) return true;
    return false;
}

static size_t size_of(const tl_key *key)
{
    switch (key->type) {
    case TL_INTEGER:
    case TL_CHOICE:
    case TL_SHAPE:
    case TL_MATERIAL:
    case TL_POSE: return sizeof(int);
    case TL_BOOLEAN: return sizeof(bool);
    case TL_VEC3:
    case TL_SIZE3:
    case TL_COLOUR: return 3 * sizeof(double);
    case TL_INTEGER3: return 3 * sizeof(int);
    case TL_BOOLEAN3: return 3 * sizeof(bool);
    case TL_RANGE: return 2 * sizeof(double);
    case TL_NAMES2: return 2 * sizeof(char *);
    case TL_ROTATION:
    case TL_ANGLES_DEG:
    case TL_ANGLES_RAD: return 4 * sizeof(double);
    case TL_PATH: return sizeof(tl_cable_path);
    case TL_TIMED1:
    case TL_TIMED3: return sizeof(tl_timed);
    default: return sizeof(double);
    }
}

static void collect(const tl_context *c, const char *object, tl_engine engine, const char *path)
{
    for (int i = 0; i < c->key_count; i++) {
        const tl_key *key = &c->keys[i];
        char name[96];
        if (key->engines && !(key->engines >> engine & 1)) continue;
        snprintf(name, sizeof name, "%s%s%s", path, *path ? "." : "", key->name);
        const char *field = object + key->offset;
        if (key->type == TL_TABLE) {
            collect(key->inside, field, engine, name);
        } else if (key->type == TL_LIST) {
            const char *list = *(const char *const *)(const void *)field;
            const int count = *(const int *)(const void *)(object + key->count_offset);
            for (int k = 0; k < count; k++) collect(key->inside, list + (size_t)k * key->inside->size, engine, name);
        } else {
            note(name, was_read(field, size_of(key)));
        }
    }
}

static void *move_to_pages(char **next, void *from, size_t size)
{
    char *to = *next;
    if (size) memcpy(to, from, size);
    *next += (size + PAGE - 1) / PAGE * PAGE;
    return to;
}

/* Steps of a scene with its numbers in closed pages; what was read is added to `found`. */
static void run(tl_engine engine, const char *text, int steps)
{
    talus_error err;
    tl_scene *scene;
    tl_sim *sim;
    tl_load_options o = {.no_files = true};
    CHECK_OK(tl_scene_load_text(&scene, "case.lua", text, strlen(text), &o, &err));
    bytes = sizeof quiet / sizeof *quiet * PAGE;
    memset(quiet, 0, sizeof quiet);
    opened_count = 0;
    pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    seen = calloc(bytes, 1);
    char *next = pages;
    tl_scene *s = move_to_pages(&next, scene, sizeof *scene);
#define MOVE(list, count) s->list = move_to_pages(&next, s->list, sizeof *s->list * (size_t)s->count)
    MOVE(bodies, body_count);
    MOVE(fills, fill_count);
    MOVE(emitters, emitter_count);
    MOVE(materials, material_count);
    MOVE(contacts, contact_count);
    MOVE(handles, handle_count);
    MOVE(cables, cable_count);
    MOVE(joins, join_count);
    MOVE(regions, region_count);
    MOVE(joints, joint_count);
    assert_true(next < pages + bytes);
    watch();
    talus_status status = tl_sim_create(&sim, s, NULL, &err);
    for (int k = 0; k < steps && status == TALUS_OK; k++) status = tl_sim_frame(sim, NULL, NULL, &err);
    unwatch();
    CHECK_OK(status);
    collect(tl_schema_find("scene"), (char *)s, engine, "");
    static const char *const kinds[] = {"granular", "liquid", "viscous", "elastic", "solid"};
    for (int m = 0; m < s->material_count; m++)
        collect(tl_schema_find(kinds[s->materials[m].kind]), (char *)&s->materials[m], engine,
                kinds[s->materials[m].kind]);
    tl_sim_free(sim);
    tl_scene_free(scene);
    munmap(pages, bytes);
    free(seen);
}

/* Not read by steps, and why. A name ends a path or is one of its tables. */
static const struct {
    const char *name, *reader;
} elsewhere[] = {
    {"talus", "when a scene is read"},
    {"title", "lists of scenes"},
    {"about", "lists of scenes"},
    {"figure", "lists of scenes"},
    {"minutes", "lists of scenes"},
    {"output", "files of a run"},
    {"accept", "the verdict"},
    {"camera", "pictures"},
    {"render", "pictures"},
    {"colour", "pictures"},
    {"opacity", "pictures"},
    {"surface_particles", "frames"},
    {"name", "messages, and contacts when a scene is read"},
    {"solid", "bodies take what they do not state from it when a scene is read"},
    {"elastic.density", "the same"},
    {"elastic.friction", "the same"},
    {"elastic.restitution", "the same"},
    {"sph.inset", "one load with sph.gamma, model/sph/sample.c"},
    {"solver.parts.loose", "one load with its neighbour, phase/grid/begin.c"},
    {"solver.parts.line_search", "the same"},
    {"joints.a", "rules of joints, when a scene is read"},
    {"joints.b", "the same"},
    {"joints.at", "the same"},
    {"sph.fit", "where parts of a body are far apart, phase/sph/fit.c"},
};

static bool is_elsewhere(const char *path)
{
    for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++) {
        const size_t n = strlen(elsewhere[k].name), all = strlen(path);
        const bool ends =
            all >= n && !strcmp(path + all - n, elsewhere[k].name) && (all == n || path[all - n - 1] == '.');
        if (ends || (!strncmp(path, elsewhere[k].name, n) && path[n] == '.')) return true;
    }
    return false;
}

static void show(const char *engine)
{
    int unread = 0;
    for (int i = 0; i < found_count; i++)
        if (!found[i].read && !is_elsewhere(found[i].path)) {
            print_error("engine \"%s\" takes %s and never looks at it\n", engine, found[i].path);
            unread++;
        }
    assert_true(found_count > 100);
    found_count = 0;
    assert_int_equal(unread, 0);
}

#define HEAD "return scene { talus = 1, duration = 1, fps = 50, "

#define SAND "granular { density = 1600, friction_angle_deg = 30 }"

/* A body that says how its mass is spread. */
#define GIVEN "mass = 1, inertia = {2e-3, 2e-3, 2e-3}, inertia_products = {1e-5, 0, 0}, center_of_mass = {0, 1e-3, 0}"

static void grid_engine(void **state)
{
    (void)state;
    run(TL_ENGINE_GRID,
        HEAD "engine = 'grid', domain = { min = {-1, 0, -1}, max = {2, 2, 2} }, bodies = {"
             "{ shape = box { size = 0.1 }, at = {0, 0.05, 0}, density = 1000 }, { shape = box { size = 0.1 }, at = "
             "{0, 1, 0}, " GIVEN " },"
             "{ name = 'x', shape = sphere { radius = 0.1 }, at = {0.5, 0.11, 0}, velocity = {1, -3, 0}, restitution = "
             "0.5, material = solid { density = 100 }, rolling_friction = 1e-3 },"
             "{ shape = box { size = 0.1 }, motion = function(t) return { at = {1, 1 + t, 0} } end } },"
             "contacts = { { between = {'x', 'walls'}, friction = 0.5, restitution = 0.5, rolling_friction = 1e-3, "
             "spinning_friction = 1e-3 } } }",
        2);
    run(TL_ENGINE_GRID,
        HEAD "engine = 'grid', bodies = { { kind = 'static', shape = plane {} }, { shape = box { size = 0.1 }, at = "
             "{0, 0.2, 0}, density = 1000 },"
             "{ name = 'e', shape = box { size = 0.1 }, cells = {2, 2, 2}, at = {0, 0.051, 0}, material = elastic { "
             "young = 1e5, poisson = 0.3, density = 1000 }, anchor = box { size = 0.02 }, self_contact = true },"
             "{ name = 'm', shape = sphere { radius = 0.1 }, edge = 0.08, at = {1, 0.1, 0}, material = elastic { young "
             "= 1e5, poisson = 0.3, density = 1000 } } },"
             "handles = { { body = 'e', shape = box { size = {0.1, 0.1, 0.01}, center = {0, 0.05, 0.05} }, motion = "
             "function(t) return { at = {0, t, 0} } end } }, solver = { elastic = 'admm' } }",
        1);
    run(TL_ENGINE_GRID,
        HEAD
        "engine = 'grid', grid = { cells = {6, 6, 6}, cell = 0.1 }, fill = { { material = liquid { density = 1000 }, "
        "shape = plane { height = 0.4 } } }, bodies = { { shape = box { size = 0.2 }, cells = {1, 1, 1}, at = {0.3, "
        "0.2, 0.3}, material = elastic { young = 1e5, poisson = 0.3, density = 1000 } } } }",
        1);
    run(TL_ENGINE_GRID,
        HEAD
        "engine = 'grid', bodies = { { name = 'a', shape = box { size = 0.1 }, density = 1000 }, { name = 'b', shape = "
        "box { size = 0.1 }, at = {0.1, 0, 0}, density = 1000 }, { name = 'c', shape = box { size = 0.1 }, at = {0.4, "
        "0, 0}, density = 1000 }, { name = 'd', shape = box { size = 0.1 }, at = {0.6, 0, 0}, density = 1000 } },"
        "joints = { { kind = 'hinge', a = 'a', at = {-0.1, 0, 0}, axis = {0, 0, 1}, limits = {-1, 1}, friction = 0.01, "
        "breaks_at = 1e4, breaks_torque = 1e4, motor = { position = 1, stiffness = 1, damping = 1, max = 1 } },"
        "{ kind = 'slider', a = 'b', b = 'a', at = {0.1, 0, 0}, axis = {1, 0, 0}, collide = true, motor = { speed = "
        "function(t) return t end } }, { kind = 'spring', a = 'c', b = 'b', stiffness = 10, damping = 1, length = 0.1 "
        "}, { kind = 'screw', a = 'd', at_a = {0, 0, 0}, axis = {1, 0, 0}, pitch = 0.1, compliance = 1e-6, motor = { "
        "force = 1 } }, { kind = 'gear', a = 'd', b = 'c', axis = {1, 0, 0}, axis_b = {1, 0, 0}, ratio = 2 } } }",
        1);
    static const char *const fills[] = {"liquid { density = 1000 }",
                                        "granular { density = 1600, friction_angle_deg = 30, grain_size = 1e-3 }", SAND,
                                        SAND, "viscous { density = 1000, viscosity = 1 }"};
    static const char *const more[] = {
        "", "", ", solver = { stress = 'staggered', friction = { method = 'jcsp', precond = 'ssor' } }", "", ""};
    for (int k = 0; k < 5; k++) {
        char text[2048];
        snprintf(text, sizeof text,
                 HEAD "engine = 'grid', grid = { cells = {12, 10, 1}, cell = 0.05, periodic = {false, false, true} },"
                      "fill = { { material = %s, shape = box { size = {0.2, 0.3, 1}, center = {0.1, 0.15, 0} } } },"
                      "emitters = { { material = %s, shape = box { size = {0.1, 0.05, 1}, center = {0.4, 0.4, 0} }, "
                      "rate = 0.01, velocity = {0, -1, 0} } },"
                      "bodies = { { shape = box { size = 0.1 }, at = {0.4, 0.06, 0}, density = 500, force = "
                      "function(t) return {0.1, 0, 0} end } }%s }",
                 fills[k],
                 k >= 3 ? fills[0]
                 : k    ? SAND
                        : fills[0],
                 more[k]);
        run(TL_ENGINE_GRID, text, 1);
    }
    show("grid");
}

static void sph_engine(void **state)
{
    (void)state;
    run(TL_ENGINE_SPH,
        HEAD "engine = 'sph', sph = { spacing = 0.04 }, domain = { min = {0, 0, 0}, max = {0.4, 0.4, 0.2} },"
             "fill = { { material = viscous { density = 1000, viscosity = 1, surface_tension = 0.01 }, shape = box { "
             "size = {0.15, 0.15, 0.2}, center = {0.075, 0.075, 0.1} } } },"
             "emitters = { { material = liquid { density = 1000 }, shape = box { size = {0.1, 0.025, 0.1}, center = "
             "{0.3, 0.35, 0.1} }, rate = 0.05, velocity = {0, -1, 0} } },"
             "bodies = { { shape = box { size = 0.1 }, at = {0.3, 0.05, 0.1}, density = 500, force = {1, 0, 0} }, { "
             "shape = box { size = 0.05 }, at = {0.1, 0.25, 0.1}, " GIVEN " },"
             "{ name = 'y', shape = box { size = 0.1 }, at = {0.3, 0.15, 0.1}, material = solid { density = 100 } },"
             "{ shape = box { size = 0.05 }, motion = function(t) return { at = {0.1, 0.3, 0.1} } end } },"
             "contacts = { { between = {'y', 'walls'}, friction = 0.1, restitution = 0 } } }",
        1);
    show("sph");
}

static void lg_engine(void **state)
{
    (void)state;
    run(TL_ENGINE_LG,
        HEAD
        "engine = 'lg', bodies = { { name = 'a', shape = box { size = 0.1 }, density = 1000 }, { name = 'b', shape = "
        "box { size = 0.1 }, at = {0.1, 0, 0}, cells = {1, 1, 1}, material = elastic { young = 1e5, poisson = 0.3, "
        "density = 1000 } }, { name = 'c', shape = box { size = 0.1 }, at = {0.4, 0, 0}, density = 1000 }, { name = "
        "'d', "
        "shape = box { size = 0.1 }, at = {0.6, 0, 0}, density = 1000 } },"
        "joints = { { kind = 'hinge', a = 'a', at = {-0.1, 0, 0}, axis = {0, 0, 1}, limits = {-1, 1}, friction = 0.01, "
        "breaks_at = 1e4, breaks_torque = 1e4, motor = { position = 1, stiffness = 1, damping = 1, max = 1 } },"
        "{ kind = 'slider', a = 'b', b = 'a', at = {0.1, 0, 0}, axis = {1, 0, 0}, grip = 0.2, motor = { speed = "
        "function(t) return t end } }, { kind = 'spring', a = 'c', b = 'b', stiffness = 10, damping = 1, length = 0.1 "
        "}, { kind = 'screw', a = 'd', at_a = {0, 0, 0}, axis = {1, 0, 0}, pitch = 0.1, compliance = 1e-6, motor = { "
        "force = 1 } }, { kind = 'gear', a = 'd', b = 'c', axis = {1, 0, 0}, axis_b = {1, 0, 0}, ratio = 2 } } }",
        1);
    run(TL_ENGINE_LG,
        HEAD
        "engine = 'lg', domain = { min = {-1, 0, -1}, max = {3, 2, 1} }, bodies = {"
        "{ shape = box { size = 0.1 }, at = {-0.8, 0.5, 0}, " GIVEN
        " }, { shape = box { size = 0.1 }, at = {0, 0.2, 0}, density = 1000, force = {1, 0, 0} }, { shape = box { size "
        "= "
        "0.1 }, motion = function(t) return { at = {-0.5, 1 + t, 0} } end },"
        "{ name = 'e', shape = box { size = 0.1 }, cells = {2, 2, 2}, at = {0, 0.05, 0}, material = elastic { young = "
        "1e5, poisson = 0.3, density = 1000 }, anchor = box { size = 0.02 }, self_contact = true },"
        "{ name = 'm', shape = sphere { radius = 0.1 }, edge = 0.08, at = {1, 0.1, 0}, material = elastic { young = "
        "1e5, poisson = 0.3, density = 1000 } },"
        "{ name = 'c', shape = box { size = {0.4, 0.01, 0.4} }, thickness = 1e-3, at = {2, 0.1, 0}, pressure = 10, "
        "pressure_in = box { size = 1 }, material = elastic { young = 1e5, poisson = 0.3, density = 1000 } } },"
        "handles = { { body = 'e', shape = box { size = {0.1, 0.1, 0.01}, center = {0, 0.05, 0.05} }, motion = "
        "function(t) return { at = {0, t, 0} } end } },"
        "cables = { { body = 'e', points = { {0, 0.02, 0}, {0, 0.08, 0} } } }, joins = { { body = 'm', shape = box { "
        "size = 0.2, center = {1, 0.2, 0} } } }, contacts = { { between = {'e', 'walls'}, friction = 0.1, restitution "
        "= 0.1 } } }",
        2);
    run(TL_ENGINE_LG,
        HEAD "engine = 'lg', lg = { global_step = 'jacobi', chebyshev = 0.9 }, bodies = { { shape = box { size = 0.1 "
             "}, cells = {2, 2, 2},"
             "material = elastic { young = 1e5, poisson = 0.3, density = 1000 } } } }",
        1);
    show("lg");
}

int main(void)
{
    omp_set_num_threads(1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(grid_engine), cmocka_unit_test(sph_engine),
                                       cmocka_unit_test(lg_engine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void) { return 0; }
#endif
