/* Views: what frames hold can be read through them with the same numbers, in every engine; the table tells the truth
 * about every one of them; those that are computed mean what they say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/run.h>
#include <talus/sim.h>

#include "check.h"
#include "phase/sim.h"
#include "tempdir.h"

#define FRAMES 3
#define FPS 50

static talus_error err;

/* ---- a frame's file ---- */

typedef struct array {
    char name[64], type[16];
    int components;
    bool cells;
    int64_t bytes;
    const char *data;
} array;

typedef struct frame_file {
    char *text;
    const char *appended;
    const char *next;
} frame_file;

static frame_file open_frame(const char *folder, const char *group)
{
    char path[600];
    frame_file f = {0};
    snprintf(path, sizeof path, "%s/run/frames/%s-%04d.vtp", folder, group, FRAMES);
    FILE *in = fopen(path, "rb");
    if (!in) return f;
    fseek(in, 0, SEEK_END);
    long size = ftell(in);
    rewind(in);
    f.text = calloc((size_t)size + 1, 1);
    assert_int_equal(fread(f.text, 1, (size_t)size, in), size);
    fclose(in);
    static const char begin[] = "<AppendedData encoding=\"raw\">\n_";
    f.appended = strstr(f.text, begin) + strlen(begin);
    f.next = f.text;
    return f;
}

static bool next_array(frame_file *f, array *out)
{
    const char *at = strstr(f->next, "<DataArray "), *cells = strstr(f->text, "<CellData>");
    long long offset;
    if (!at || at > f->appended) return false;
    const char *components = strstr(at, "NumberOfComponents=\""), *end = strstr(at, "/>");
    *out = (array){.components = 1, .cells = at > cells && at < strstr(f->text, "</CellData>")};
    assert_int_equal(sscanf(at, "<DataArray type=\"%15[^\"]\" Name=\"%63[^\"]\"", out->type, out->name), 2);
    if (components && components < end) out->components = atoi(components + strlen("NumberOfComponents=\""));
    assert_int_equal(sscanf(strstr(at, "offset=\""), "offset=\"%lld", &offset), 1);
    memcpy(&out->bytes, f->appended + offset, 8);
    out->data = f->appended + offset + 8;
    f->next = end;
    return true;
}

static double number(const void *row, talus_type type, int k)
{
    switch (type) {
    case TALUS_FLOAT64: return ((const double *)row)[k];
    case TALUS_FLOAT32: return (double)((const float *)row)[k];
    case TALUS_INT32: return ((const int32_t *)row)[k];
    default: return (double)((const int64_t *)row)[k];
    }
}

/* Blocks of a file begin at any byte. */
static double file_number(const array *a, int64_t k)
{
    double d;
    float f;
    int32_t i;
    int64_t l;
    const char *data = (const char *)a->data;
    if (!strcmp(a->type, "Float64")) return memcpy(&d, data + 8 * k, sizeof d), d;
    if (!strcmp(a->type, "Float32")) return memcpy(&f, data + 4 * k, sizeof f), (double)f;
    if (!strcmp(a->type, "Int32")) return memcpy(&i, data + 4 * k, sizeof i), i;
    return memcpy(&l, data + 8 * k, sizeof l), (double)l;
}
static int64_t file_count(const array *a)
{
    const bool wide = !strcmp(a->type, "Float64") || !strcmp(a->type, "Int64");
    return a->bytes / (wide ? 8 : 4);
}

/* ---- views in the order of frames ---- */

static talus_view view_of(talus_sim *sim, const char *name)
{
    talus_view v;
    CHECK_OK(talus_sim_view(sim, name, &v, &err));
    return v;
}

static talus_view by_material, by_id; /* of the particles being sorted */

static int in_frames(const void *a, const void *b)
{
    const int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
    const double m = number(talus_view_row(&by_material, i), TALUS_INT32, 0),
                 n = number(talus_view_row(&by_material, j), TALUS_INT32, 0),
                 p = number(talus_view_row(&by_id, i), TALUS_INT32, 0),
                 q = number(talus_view_row(&by_id, j), TALUS_INT32, 0);
    return m != n ? (m > n) - (m < n) : (p > q) - (p < q);
}

/* Whether rows of a view are numbers first .. of the file's array, rounded as the file has them. */
static bool holds_rows(talus_sim *sim, const talus_view *v, const char *name, const array *a, int64_t first)
{
    const bool sorted = !strncmp(name, "particles.", 10), negative = !strcmp(name, "samples.body");
    int64_t *order = calloc((size_t)v->count + 1, sizeof *order);
    bool same = v->components == a->components || !strcmp(a->name, "connectivity");
    for (int64_t i = 0; i < v->count; i++) order[i] = i;
    by_material = view_of(sim, "particles.material"), by_id = view_of(sim, "particles.id");
    if (sorted) qsort(order, (size_t)v->count, sizeof *order, in_frames);
    for (int64_t i = 0; i < v->count && same; i++)
        for (int k = 0; k < v->components; k++) {
            double want = number(talus_view_row(v, order[i]), v->type, k);
            if (negative) want = -1 - want;
            if (!strcmp(a->type, "Float32")) want = (double)(float)want;
            const double there = file_number(a, first + v->components * i + k);
            same &= memcmp(&there, &want, sizeof want) == 0;
        }
    free(order);
    return same;
}

/* Whether the array is what one view has, or particles and samples one after the other. */
static bool is_shown(talus_sim *sim, const char *key, const array *a, const char *group)
{
    talus_view_info info;
    const bool samples = !strcmp(group, "particles") && view_of(sim, "samples.position").count > 0;
    int64_t found = 0, parts = 0;
    for (int i = 0; talus_view_info_at(i, &info); i++) {
        if (strcmp(info.frame, key)) continue;
        const talus_view v = view_of(sim, info.name);
        const int64_t numbers = v.count * v.components;
        if (!samples && numbers == file_count(a) && holds_rows(sim, &v, info.name, a, 0)) return true;
        if (!samples) continue;
        if (!holds_rows(sim, &v, info.name, a, found)) return false;
        found += numbers, parts++;
    }
    if (!samples) return false;
    for (; found < file_count(a); found++)
        if (parts == 2 || file_number(a, found) != 0) return false; /* samples have no pressure and no volume */
    return true;
}

static int compare_group(talus_sim *sim, const char *folder, const char *group)
{
    frame_file f = open_frame(folder, group);
    array a;
    int arrays = 0;
    const bool cloud = !strcmp(group, "contacts") || !strcmp(group, "particles");
    while (f.text && next_array(&f, &a)) {
        char key[128];
        if (!strcmp(a.name, "offsets") || (cloud && !strcmp(a.name, "connectivity"))) continue; /* of the format */
        if (!strcmp(a.name, "TimeValue")) {
            assert_true(file_number(&a, 0) == talus_sim_time(sim));
            continue;
        }
        snprintf(key, sizeof key, "%s: %s", group, a.name);
        if (!is_shown(sim, key, &a, group)) fail_msg("no view has the numbers of frames/%s", key);
        arrays++;
    }
    free(f.text);
    return arrays;
}

/* The scene as a run with frames, and as a simulation that goes as far, or takes the state at its end: what flows parts
 * crowds at frames, which only a run has. Returns how many arrays were compared. */
static int compare_with(const char *text, bool flows)
{
    char folder[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 30], run[TL_TEMPDIR_MAX + 20];
    talus_scene *scene;
    talus_sim *sim;
    talus_run_result result;
    tl_tempdir_create(folder);
    snprintf(path, sizeof path, "%s/scene.lua", folder);
    snprintf(run, sizeof run, "%s/run", folder);
    FILE *f = fopen(path, "w");
    assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
    talus_run_options o = talus_run_options_default();
    o.folder = run;
    o.frames = FRAMES;
    o.no_pictures = 1;
    CHECK_OK(talus_run(path, &o, &result, &err));
    CHECK_OK(talus_scene_load(path, NULL, &scene, &err));
    CHECK_OK(talus_sim_create(scene, NULL, &sim, &err));
    for (int i = 1; i <= FRAMES && !flows; i++) CHECK_OK(talus_sim_advance(sim, (double)i / FPS, &err));
    snprintf(path, sizeof path, "%s/run/checkpoint.h5", folder);
    if (flows) CHECK_OK(talus_sim_restore(sim, path, &err));
    int arrays = 0;
    static const char *const groups[] = {"bodies", "contacts", "particles", "nodes"};
    for (int g = 0; g < 4; g++) arrays += compare_group(sim, folder, groups[g]);
    talus_sim_free(sim);
    talus_scene_free(scene);
    tl_tempdir_remove(folder);
    return arrays;
}

static int compare(const char *text) { return compare_with(text, strstr(text, "fill = ") != NULL); }

#define HEAD(engine) "return scene { talus = 1, engine = '" engine "', duration = 1, fps = 50, dt_max = 0.01, "

static void frames_of_rigid_bodies(void **state)
{
    (void)state;
    assert_int_equal(
        compare(HEAD("grid") "bodies = { { shape = plane {}, kind = 'static' }, { shape = box { size = 0.2 "
                             "}, at = {0, 0.1, 0}, density = 500 }, { shape = sphere { radius = 0.1 }, at = "
                             "{0, 0.301, 0}, density = 500 } } }"),
        4 + 5);
}

static void frames_of_liquid_on_the_grid(void **state)
{
    (void)state;
    assert_int_equal(
        compare(
            HEAD("grid") "grid = { cells = {10, 10, 10}, cell = 0.1 }, fill = { { material = liquid { density = 1000 "
                         "}, shape = box "
                         "{ size = {0.5, 0.5, 1}, center = {0.25, 0.25, 0.5} } } }, bodies = { { shape = box { size "
                         "= 0.2 }, at = {0.5, 0.7, 0.5}, density = 500 } } }"),
        4 + 5 + 6);
}

static void frames_of_sand(void **state)
{
    (void)state;
    assert_int_equal(
        compare(HEAD("grid") "grid = { cells = {10, 10, 10}, cell = 0.1 }, fill = { { material = granular { density = "
                             "1600, friction_angle_deg = 30 }, shape = box { size = {1, 0.4, 1}, center = {0.5, 0.2, "
                             "0.5} } } }, bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.52, 0.5}, density = "
                             "1500 } } }"),
        4 + 5 + 6);
}

static void frames_of_particles(void **state)
{
    (void)state;
    assert_int_equal(
        compare(HEAD("sph") "sph = { spacing = 0.05, surface_particles = true }, domain = { min = {0, 0, 0}, max = {1, "
                            "1, 1} }, fill = { { material = liquid { density = 1000 }, shape = box { size = {0.4, 0.3, "
                            "0.4}, center = "
                            "{0.3, 0.15, 0.3} } } }, bodies = { { shape = box { size = 0.2 }, at = {0.7, 0.11, 0.7}, "
                            "density = 500 } } }"),
        4 + 5 + 6);
}

#define BAR                                                                                                            \
    "{ name = 'bar', shape = box { size = {0.4, 0.1, 0.1} }, at = {0, 0.3, 0}, cells = {8, 2, 2}, material = elastic " \
    "{ density = 1000, young = 1e5, poisson = 0.3 }, anchor = box { size = {0.01, 1, 1}, center = {-0.2, 0, 0} } }"

static void frames_of_elastic_bodies(void **state)
{
    (void)state;
    assert_int_equal(compare(HEAD("grid") "bodies = { " BAR ", { shape = plane {}, kind = 'static' } } }"),
                     4 + 5 + 6 + 6);
    assert_int_equal(
        compare(HEAD("lg") "bodies = { " BAR ", { shape = plane {}, kind = 'static' }, { shape = box { size = {0.2, "
                           "0.001, 0.2} }, at = {1, 0.01, 0}, edge = 0.05, thickness = 0.001, material = elastic { "
                           "density = 200, young = 1e4, poisson = 0.3 } } }, handles = { { body = 'bar', shape = box { "
                           "size = {0.01, 1, 1}, center = {0.2, 0.3, 0} } } }, cables = { { body = 'bar', points = { "
                           "{-0.1, 0.3, 0}, {0.1, 0.3, 0} } } } }"),
        4 + 5 + 6 + 6);
}

/* ---- the table ---- */

static const tl_view *find(const tl_view *list, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(list[i].name, name)) return &list[i];
    return NULL;
}

/* What an engine offers is in the table with its type and shape, and the table names that engine. */
static void check_against(const char *engine, const tl_view *list, int count)
{
    talus_view_info info = {0};
    for (int k = 0; k < count; k++) {
        int i = 0;
        while (talus_view_info_at(i, &info) && strcmp(info.name, list[k].name)) i++;
        assert_string_equal(info.name, list[k].name);
        assert_int_equal(info.components, list[k].width);
        assert_int_equal(info.type, list[k].type);
        if (!strstr(info.engines, engine)) fail_msg("%s: the table says %s", info.name, info.engines);
    }
}

static void the_table_is_true(void **state)
{
    (void)state;
    static const char *const engines[] = {"grid", "sph", "lg"};
    talus_view_info info;
    for (int e = 0; e < 3; e++) check_against(engines[e], tl_engine_at(e)->views, tl_engine_at(e)->view_count);
    check_against("lg", tl_elastic_views, tl_elastic_view_count);
    for (int i = 0; talus_view_info_at(i, &info); i++) {
        assert_string_equal(info.name, talus_sim_view_name(i));
        for (int e = 0; e < 3 && strcmp(info.engines, "all"); e++) /* and names no other */
            if (strstr(info.engines, engines[e]) && !find(tl_elastic_views, tl_elastic_view_count, info.name) &&
                strncmp(info.name, "bodies.", 7) && strncmp(info.name, "liquid_surface.", 15) &&
                strncmp(info.name, "samples.", 8))
                assert_non_null(find(tl_engine_at(e)->views, tl_engine_at(e)->view_count, info.name));
    }
    assert_int_equal(talus_view_info_at(-1, &info), 0);
    assert_int_equal(talus_view_info_at(0, NULL), 0);
}

/* ---- what is computed ---- */

static talus_sim *open_sim(const char *text, talus_scene **scene)
{
    talus_sim *sim;
    CHECK_OK(talus_scene_load_text(text, NULL, NULL, scene, &err));
    CHECK_OK(talus_sim_create(*scene, NULL, &sim, &err));
    return sim;
}

/* A bar that hangs: the stress of its cells carries the weight below them, and volumes add up. */
static void stress_carries_the_weight(void **state)
{
    (void)state;
    static const char *const engines[] = {"grid", "lg"};
    for (int e = 0; e < 2; e++) {
        char text[900];
        talus_scene *scene;
        snprintf(text, sizeof text,
                 "return scene { talus = 1, engine = '%s', duration = 1, dt_max = 0.02, %s bodies = { { shape = box { "
                 "size = {0.1, 0.4, 0.1} }, cells = {2, 8, 2}, material = elastic { density = 1000, young = 1e6, "
                 "poisson = 0, damping = 0.02 }, anchor = box { size = {1, 0.01, 1}, center = {0, 0.2, 0} } } } }",
                 engines[e], e ? "lg = { time = 'euler' }," : "fem = { elements = 'tets' },");
        talus_sim *sim = open_sim(text, &scene);
        CHECK_OK(talus_sim_advance(sim, 0.6, &err));
        talus_view stress = view_of(sim, "elements.stress"), volume = view_of(sim, "elements.volume"),
                   nodes = view_of(sim, "elements.nodes"), at = view_of(sim, "nodes.position"),
                   strain = view_of(sim, "elements.strain");
        double whole = 0, carried = 0;
        for (int64_t i = 0; i < volume.count; i++) {
            const int32_t *n = talus_view_row(&nodes, i);
            double y = 0;
            int corners = 0;
            for (; corners < 8 && n[corners] >= 0; corners++) y += ((const double *)talus_view_row(&at, n[corners]))[1];
            const double V = *(const double *)talus_view_row(&volume, i);
            whole += V;
            carried += V * ((const double *)talus_view_row(&stress, i))[1];
            assert_true(((const double *)talus_view_row(&strain, i))[1] > (y / corners < -0.1 ? -1e-3 : 0));
        }
        CHECK_REL(whole, 0.1 * 0.4 * 0.1, 1e-9);
        /* sum of V s_yy = integral of rho g (distance from the lower end) = rho g A L^2 / 2, as virtual work says */
        CHECK_REL(carried, 1000 * 9.81 * 0.01 * 0.4 * 0.4 / 2, 0.07); /* lumped masses: half a cell of 8 at the top */
        talus_sim_free(sim);
        talus_scene_free(scene);
    }
}

/* Water at rest: the pressure of particles is that of their depth, within a cell. Sand: stress has it too. */
static void pressure_is_that_of_the_depth(void **state)
{
    (void)state;
    for (int sand = 0; sand < 2; sand++) {
        char text[700];
        talus_scene *scene;
        snprintf(text, sizeof text,
                 "return scene { talus = 1, engine = 'grid', duration = 1, dt_max = 0.01, grid = { cells = {8, 10, 8}, "
                 "cell = 0.1, periodic = {true, false, true} }, fill = { { material = %s { density = 1500 %s }, shape "
                 "= box { size = {0.8, 0.5, 0.8}, "
                 "center = {0.4, 0.25, 0.4} } } } }",
                 sand ? "granular" : "liquid", sand ? ", friction_angle_deg = 30" : "");
        talus_sim *sim = open_sim(text, &scene);
        CHECK_OK(talus_sim_advance(sim, 0.1, &err));
        talus_view p = view_of(sim, "particles.pressure"), s = view_of(sim, "particles.stress"),
                   x = view_of(sim, "particles.position");
        double mean = 0, load = 0, depth = 0, across = 0;
        for (int64_t i = 0; i < p.count; i++) {
            const double *stress = talus_view_row(&s, i), *pressure = talus_view_row(&p, i),
                         *at = talus_view_row(&x, i);
            CHECK_NEAR(stress[0] + stress[1] + stress[2], -3 * *pressure, 1e-9 * (1 + *pressure));
            mean += *pressure / (double)p.count, depth += (0.5 - at[1]) / (double)p.count;
            load -= stress[1] / (double)p.count, across -= stress[0] / (double)p.count;
        }
        CHECK_REL(load, 1500 * 9.81 * depth, sand ? 0.05 : 2e-3); /* sand: the last half cell at the surface */
        if (!sand) CHECK_REL(mean, load, 1e-9);
        /* thrust over load of sand at rest: between what it has when walls give way, and that of a liquid */
        if (sand) assert_true(across > load / 3 && across < 0.95 * load);
        talus_sim_free(sim);
        talus_scene_free(scene);
    }
}

/* The surface of a pool is closed and holds its volume. */
static void surface_of_a_pool(void **state)
{
    (void)state;
    talus_scene *scene;
    talus_sim *sim = open_sim(
        "return scene { talus = 1, engine = 'sph', duration = 1, sph = { spacing = 0.04 }, domain "
        "= { min = {0, 0, 0}, max = {1, 1, 1} }, fill = { { material = liquid { density = 1000 }, shape = box { "
        "size = {0.6, 0.4, 0.6}, center = {0.4, 0.3, 0.4} } } } }",
        &scene);
    talus_view x = view_of(sim, "liquid_surface.position"), t = view_of(sim, "liquid_surface.triangle"),
               m = view_of(sim, "liquid_surface.material");
    double volume = 0;
    assert_true(x.count > 100 && m.count == t.count);
    for (int64_t i = 0; i < t.count; i++) {
        const int32_t *n = talus_view_row(&t, i);
        const double *a = talus_view_row(&x, n[0]), *b = talus_view_row(&x, n[1]), *c = talus_view_row(&x, n[2]);
        assert_int_equal(*(const int32_t *)talus_view_row(&m, i), 0);
        volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                   a[2] * (b[0] * c[1] - b[1] * c[0])) /
                  6;
    }
    CHECK_REL(volume, 0.6 * 0.4 * 0.6, 0.1);
    const uint64_t before = talus_sim_generation(sim);
    CHECK_OK(talus_sim_step(sim, 0, &err));
    assert_true(talus_sim_generation(sim) > before);
    assert_true(view_of(sim, "energy.kinetic").count == 1);
    assert_true(*(const double *)view_of(sim, "energy.kinetic").data > 0);
    assert_null(talus_view_row(&x, -1));
    assert_null(talus_view_row(NULL, 0));
    talus_sim_free(sim);
    talus_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_rigid_bodies),
        cmocka_unit_test(frames_of_liquid_on_the_grid),
        cmocka_unit_test(frames_of_sand),
        cmocka_unit_test(frames_of_particles),
        cmocka_unit_test(frames_of_elastic_bodies),
        cmocka_unit_test(the_table_is_true),
        cmocka_unit_test(stress_carries_the_weight),
        cmocka_unit_test(pressure_is_that_of_the_depth),
        cmocka_unit_test(surface_of_a_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
