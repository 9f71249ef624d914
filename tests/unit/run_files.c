/* What a run writes, piece by piece: tables and how they are cut, VTK files byte by byte, run.json there and back,
 * checkpoints. */
#include <float.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/replace.h"
#include "check.h"
#include "io/checkpoint.h"
#include "io/csv_run.h"
#include "io/joint_table.h"
#include "io/run_json.h"
#include "io/vtk.h"
#include "io/vtk_rigid.h"
#include "rigid.h"
#include "run/folder.h"
#include "tempdir.h"

static talus_error err;
static char dir[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 64];

static int make_dir(void **state)
{
    (void)state;
    tl_tempdir_create(dir);
    snprintf(path, sizeof path, "%s/file", dir);
    return 0;
}
static int remove_dir(void **state)
{
    (void)state;
    tl_tempdir_remove(dir);
    return 0;
}

static char *contents(size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    char *text = TL_NEW_ZERO(char, size + 1);
    assert_int_equal(fread(text, 1, size, f), size);
    fclose(f);
    if (bytes) *bytes = size;
    return text;
}

static void expect_text(const char *expected)
{
    char *text = contents(NULL);
    assert_string_equal(text, expected);
    tl_free(text);
}

static void put(const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    fclose(f);
}

/* ---- tables ---- */

static void cells(void **state)
{
    (void)state;
    tl_csv c;
    CHECK_OK(tl_csv_open(&c, path, true, &err));
    tl_csv_text(&c, "step");
    tl_csv_text(&c, "a \"b\", c\nd");
    tl_csv_text(&c, "=1+1");
    tl_csv_text(&c, "@x,\x1b[2J");
    CHECK_OK(tl_csv_end_header(&c, &err));
    tl_csv_int(&c, INT64_MIN);
    tl_csv_text(&c, "");
    tl_csv_numbers(&c, 7, (const double[7]){0, -0.0, 1, 0.1, -1e300, NAN, -INFINITY});
    tl_csv_number(&c, 123456789012345678.0);
    CHECK_OK(tl_csv_end(&c, &err));
    CHECK_OK(tl_csv_sync(&c, &err));
    tl_csv_close(&c);
    expect_text(
        "step,\"a \"\"b\"\", "
        "c\\nd\",'=1+1,\"'@x,\\x1b[2J\"\n-9223372036854775808,,0,-0,1,0.10000000000000001,-1.0000000000000001e+300,nan,"
        "-inf,1.2345678901234568e+17\n");
}

/* 17 digits bring every double back. */
static void every_bit(void **state)
{
    (void)state;
    const double value[] = {1.0 / 3,           DBL_MIN,  DBL_TRUE_MIN, DBL_MAX, 0.1 + 0.2,
                            999999999999999.0, 1e15 + 1, -7,           5e-324};
    enum { count = sizeof value / sizeof value[0] };
    tl_csv c;
    CHECK_OK(tl_csv_open(&c, path, true, &err));
    tl_csv_numbers(&c, count, value);
    CHECK_OK(tl_csv_end(&c, &err));
    tl_csv_close(&c);
    char *text = contents(NULL), *at = text;
    for (int i = 0; i < count; i++, at++) {
        double back = strtod(at, &at);
        assert_memory_equal(&back, &value[i], sizeof back);
    }
    tl_free(text);
}

static void cuts(void **state)
{
    (void)state;
    static const char whole[] = "step,name\n1,a\n1,\"x\n9,y\"\n2,b\n10,c\n";
    const struct {
        const char *text;
        int64_t last, found;
        const char *left;
    } cases[] = {
        {whole, 10, 10, whole},
        {whole, 9, 2, "step,name\n1,a\n1,\"x\n9,y\"\n2,b\n"},
        {whole, 1, 1, "step,name\n1,a\n1,\"x\n9,y\"\n"}, /* the 9 is inside of a cell */
        {whole, 0, -1, "step,name\n"},
        {"step,name\n1,a\n2,", 5, 1, "step,name\n1,a\n"}, /* half a line */
        {"step,name\n1,a\n2,\"q\n", 5, 1, "step,name\n1,a\n"},
        {"step,na", 5, -1, ""},
        {"", 5, -1, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t found = 77;
        put(cases[i].text);
        CHECK_OK(tl_csv_cut(path, cases[i].last, &found, &err));
        assert_int_equal(found, cases[i].found);
        expect_text(cases[i].left);
    }
    remove(path);
    int64_t found = 77;
    CHECK_OK(tl_csv_cut(path, 3, &found, &err));
    assert_int_equal(found, -1);
}

/* Lines that cross the border between two reads. */
static void cuts_long_files(void **state)
{
    (void)state;
    tl_csv c;
    CHECK_OK(tl_csv_open(&c, path, true, &err));
    for (int i = 0; i < 20000; i++) {
        tl_csv_int(&c, i);
        tl_csv_text(&c, "a, line");
        CHECK_OK(tl_csv_end(&c, &err));
    }
    tl_csv_close(&c);
    for (int64_t last = 19999; last >= 0; last -= 1999) {
        int64_t found;
        CHECK_OK(tl_csv_cut(path, last, &found, &err));
        assert_int_equal(found, last);
    }
}

static void goes_on(void **state)
{
    (void)state;
    tl_csv c;
    put("step,x\n1,2\n3,"); /* killed inside of a line */
    CHECK_OK(tl_csv_open(&c, path, false, &err));
    tl_csv_text(&c, "step");
    tl_csv_text(&c, "x");
    CHECK_OK(tl_csv_end_header(&c, &err));
    tl_csv_int(&c, 2);
    tl_csv_int(&c, 5);
    CHECK_OK(tl_csv_end(&c, &err));
    tl_csv_text(&c, "step");
    tl_csv_text(&c, "other");
    assert_int_equal(tl_csv_end_header(&c, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "other columns"));
    tl_csv_close(&c);
    expect_text("step,x\n1,2\n2,5\n");
}

/* A file that may not grow: a message that names it, and whole lines only. */
static void full_table(void **state)
{
    (void)state;
    struct rlimit before, small;
    tl_csv c;
    CHECK_OK(tl_csv_open(&c, path, true, &err));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = (struct rlimit){100, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    talus_status status = TALUS_OK;
    for (int i = 0; i < 100 && status == TALUS_OK; i++) {
        tl_csv_int(&c, i);
        tl_csv_text(&c, "0123456789");
        status = tl_csv_end(&c, &err);
    }
    setrlimit(RLIMIT_FSIZE, &before);
    tl_csv_close(&c);
    assert_int_equal(status, TALUS_IO);
    assert_non_null(strstr(err.message, path));
    size_t bytes;
    char *text = contents(&bytes);
    assert_int_equal(bytes, 91); /* seven lines of 13 bytes */
    assert_int_equal(text[bytes - 1], '\n');
    tl_free(text);
}

/* ---- VTK ---- */

static uint64_t offset_of(const char *text, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "Name=\"%s\"", name);
    const char *at = strstr(text, key);
    assert_non_null(at);
    return strtoull(strstr(at, "offset=\"") + 8, NULL, 10);
}

static const char *appended(const char *text, const char *name, uint64_t *bytes)
{
    const char *at = strstr(text, "<AppendedData encoding=\"raw\">\n_") + 31 + offset_of(text, name);
    memcpy(bytes, at, 8);
    return at + 8;
}

static void vtk_bytes(void **state)
{
    (void)state;
    const float at[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const int32_t triangle[2][3] = {{0, 1, 2}, {0, 2, 3}};
    const double heat[2] = {0.5, -3};
    const int64_t id[4] = {7, 8, 9, INT64_MAX};
    const char *const name[] = {"one", "t&o"};
    tl_vtk_poly p = {.t = 0.25,
                     .points = 4,
                     .type = TL_NUMBER_F32,
                     .at = at,
                     .triangles = 2,
                     .triangle = triangle,
                     .point_arrays = 1,
                     .cell_arrays = 1,
                     .point = {{"id", TL_NUMBER_I64, 1, id}},
                     .cell = {{"heat", TL_NUMBER_F64, 1, heat}},
                     .names = 2,
                     .name = name};
    CHECK_OK(tl_vtk_write(path, &p, &err));
    char *text = contents(NULL);
    uint64_t bytes;
    const int32_t offsets[2] = {3, 6};
    assert_memory_equal(appended(text, "points", &bytes), at, sizeof at);
    assert_int_equal(bytes, sizeof at);
    assert_memory_equal(appended(text, "id", &bytes), id, sizeof id);
    assert_memory_equal(appended(text, "heat", &bytes), heat, sizeof heat);
    assert_memory_equal(appended(text, "connectivity", &bytes), triangle, sizeof triangle);
    assert_memory_equal(appended(text, "offsets", &bytes), offsets, sizeof offsets);
    assert_memory_equal(appended(text, "TimeValue", &bytes), &p.t, 8);
    assert_memory_equal(appended(text, "names", &bytes), "one\0t&o", 8);
    assert_int_equal(bytes, 8);
    tl_free(text);
}

static void vtk_list(void **state)
{
    (void)state;
    const char *const group[] = {"bodies", "contacts"};
    CHECK_OK(tl_vtk_write_list(path, 1, 50, 2, group, &err));
    expect_text("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                "byte_order=\"LittleEndian\">\n<Collection>\n"
                "<DataSet timestep=\"0\" part=\"0\" name=\"bodies\" file=\"frames/bodies-0000.vtp\"/>\n"
                "<DataSet timestep=\"0\" part=\"1\" name=\"contacts\" file=\"frames/contacts-0000.vtp\"/>\n"
                "<DataSet timestep=\"0.02\" part=\"0\" name=\"bodies\" file=\"frames/bodies-0001.vtp\"/>\n"
                "<DataSet timestep=\"0.02\" part=\"1\" name=\"contacts\" file=\"frames/contacts-0001.vtp\"/>\n"
                "</Collection>\n</VTKFile>\n");
}

/* Bodies of one shape share a surface; half-spaces have none. */
static void meshes_are_shared(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        "local b = box { size = 0.2 }",
        "bodies = { { kind = 'static', shape = plane { height = 0 } }, { shape = b, at = {0, 1, 0}, density = 1 },"
        "{ shape = b, at = {0, 2, 0}, density = 1 }, { shape = sphere { radius = 0.1 }, at = {0, 3, 0}, density = 1 } "
        "}");
    tl_body_meshes m;
    CHECK_OK(tl_body_meshes_create(&m, c.scene, &err));
    assert_int_equal(m.count, 2);
    assert_int_equal(m.of_body[0], -1);
    assert_int_equal(m.of_body[1], m.of_body[2]);
    assert_int_equal(m.mesh[m.of_body[1]].triangles, 12);
    assert_int_equal(m.mesh[m.of_body[3]].triangles, 1280);
    tl_body_meshes_free(&m);
    rigid_close(&c);
}

/* ---- run.json ---- */

static void json_there_and_back(void **state)
{
    (void)state;
    rigid_case c = rigid_open("", "bodies = { { shape = sphere { radius = 0.1 }, at = {0, 1, 0}, density = 1 } }");
    tl_run_record r = {.scene_file = "a \"folder\"\\with\ttabs/sc\xc3\xa9ne.lua",
                       .scene_hash = "0123456789abcdef",
                       .size = "paper",
                       .settings = 2,
                       .setting = {"a={1, 2}", "b=\"x\""},
                       .threads = 3,
                       .started = "2026-01-02T03:04:05Z",
                       .ended = "",
                       .resumed = 4,
                       .outcome = "failed",
                       .message = "bad \x01 byte \xff and half \xc3 of one",
                       .frames = 5,
                       .frames_wanted = 60,
                       .steps = 1234567890123,
                       .t = 0.1,
                       .seconds = 2.5,
                       .state_hash = "fedcba9876543210"},
                  back;
    CHECK_OK(tl_run_json_write(path, &r, c.scene, &err));
    CHECK_OK(tl_run_json_read(&back, path, &err));
    assert_string_equal(back.scene_file, r.scene_file);
    assert_string_equal(back.scene_hash, r.scene_hash);
    assert_string_equal(back.size, "paper");
    assert_int_equal(back.settings, 2);
    assert_string_equal(back.setting[0], "a={1, 2}");
    assert_string_equal(back.setting[1], "b=\"x\"");
    assert_string_equal(back.message, "bad \x01 byte \xef\xbf\xbd and half \xef\xbf\xbd of one");
    assert_string_equal(back.outcome, "failed");
    assert_int_equal(back.steps, 1234567890123);
    assert_int_equal(back.frames, 5);
    assert_int_equal(back.resumed, 4);
    assert_true(back.t == 0.1 && back.seconds == 2.5);
    tl_run_record_free(&back);
    rigid_close(&c);
}

static void json_of_others(void **state)
{
    (void)state;
    tl_run_record r;
    put(" {\"x\":[1,{\"outcome\":\"no\"},[]],\"outcome\" : "
        "\"\\u0041\\ud83d\\ude00\\n\\/\",\"frames\":7,\"null\":null,\"settings\":[]}");
    CHECK_OK(tl_run_json_read(&r, path, &err));
    assert_string_equal(r.outcome, "A\xf0\x9f\x98\x80\n/");
    assert_int_equal(r.frames, 7);
    tl_run_record_free(&r);
    const char *const bad[] = {"",
                               "{",
                               "[]",
                               "{\"a\"}",
                               "{\"a\":}",
                               "{\"a\":\"",
                               "{\"a\":\"\\",
                               "{\"a\":\"\\u12",
                               "{\"frames\":1e99}",
                               "{\"settings\":[1]}",
                               "{\"outcome\":3}",
                               "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put(bad[i]);
        if (tl_run_json_read(&r, path, &err) != TALUS_BAD_INPUT) fail_msg("accepted: %s", bad[i]);
    }
}

/* ---- checkpoints ---- */

static void checkpoint_there_and_back(void **state)
{
    (void)state;
    const char *scene = "bodies = { { kind = 'static', shape = plane { height = 0 } },"
                        "{ shape = box { size = 0.2 }, at = {0, 0.1, 0}, density = 500, velocity = {1, 0, 0} } }";
    rigid_case a = rigid_open("", "%s", scene), b = rigid_open("", "%s", scene);
    rigid_run(&a, 0.3);
    assert_true(a.sim->state.rigid.contacts > 0);
    CHECK_OK(tl_checkpoint_save(path, &a.sim->state, a.scene, "--set a=1", &err));
    CHECK_OK(tl_checkpoint_load(path, &b.sim->state, b.scene, b.sim->rigid.count, NULL, &err));
    assert_int_equal(tl_state_hash(&a.sim->state), tl_state_hash(&b.sim->state));
    /* and both go on alike */
    rigid_run(&a, 0.2);
    rigid_run(&b, 0.2);
    assert_int_equal(tl_state_hash(&a.sim->state), tl_state_hash(&b.sim->state));
    /* the same state gives the same bytes */
    CHECK_OK(tl_checkpoint_save(path, &a.sim->state, a.scene, NULL, &err));
    size_t first, second;
    char *x = contents(&first);
    CHECK_OK(tl_checkpoint_save(path, &b.sim->state, b.scene, NULL, &err));
    char *y = contents(&second);
    assert_int_equal(first, second);
    assert_memory_equal(x, y, first);
    tl_free(x);
    tl_free(y);
    rigid_close(&a);
    rigid_close(&b);
}

/* ---- folders ---- */

static void folders(void **state)
{
    (void)state;
    tl_folder f, g;
    char where[TL_PATH_ROOM];
    CHECK_OK(tl_folder_open(&f, path, "x", false, &err));
    assert_true(f.fresh);
    assert_int_equal(tl_folder_open(&g, path, "x", true, &err), TALUS_BAD_INPUT); /* locked */
    assert_non_null(strstr(err.message, "another run"));
    tl_folder_close(&f);
    static const char *const left[] = {
        "frames/bodies-0003.vtp", "frames/bodies-0004.vtp", "frames/contacts-10000.vtp",
        "frames/mine.vtp",        "images/frame-0004.png",  "frames/x.part-1-0",
        "run.json.part-7-1",      "frames/nodes-0005.vtp",  "frames/nodes-0006.vtp.part-1-0",
        "letter.part-1-0",        "run.json.part-x",        "run.json"};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        tl_folder_file(&f, left[i], where);
        fclose(fopen(where, "w"));
    }
    CHECK_OK(tl_folder_open(&f, path, "x", true, &err));
    CHECK_OK(tl_folder_clean(&f, 3, &err));
    const bool stays[] = {true, false, false, true, false, true, false, false, false, true, true, true};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        tl_folder_file(&f, left[i], where);
        assert_int_equal(access(where, F_OK) == 0, stays[i]);
        unlink(where);
    }
    static const char *const inside[] = {"frames", "images"};
    for (int i = 0; i < 2; i++) {
        tl_folder_file(&f, inside[i], where);
        rmdir(where);
    }
    tl_folder_close(&f);
    rmdir(path);
}

/* What others keep in folders that are called as ours is not a run, and links lead nowhere. */
static void folders_of_others(void **state)
{
    (void)state;
    tl_folder f;
    char where[TL_PATH_ROOM], away[TL_TEMPDIR_MAX + 64], victim[TL_TEMPDIR_MAX + 80];
    static const char *const parts[] = {"frames", "images", "checkpoints"};
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(f.path, sizeof f.path, "%s", path);
    for (int i = 0; i < 3; i++) {
        tl_folder_file(&f, parts[i], where);
        assert_int_equal(mkdir(where, 0777), 0);
    }
    CHECK_OK(tl_folder_open(&f, path, "x", false, &err)); /* empty ones are what a killed run leaves */
    tl_folder_close(&f);
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s/frame-0001.png", parts[i]);
        tl_folder_file(&f, name, where);
        fclose(fopen(where, "w"));
        for (int resume = 0; resume < 2; resume++) {
            assert_int_equal(tl_folder_open(&f, path, "x", resume, &err), TALUS_BAD_INPUT);
            assert_non_null(strstr(err.message, parts[i]));
        }
        unlink(where);
    }
    snprintf(away, sizeof away, "%s/away", dir);
    snprintf(victim, sizeof victim, "%s/bodies-0009.vtp", away);
    assert_int_equal(mkdir(away, 0777), 0);
    fclose(fopen(victim, "w"));
    tl_folder_file(&f, "frames", where);
    rmdir(where);
    assert_int_equal(symlink(away, where), 0);
    assert_int_equal(tl_folder_open(&f, path, "x", false, &err), TALUS_BAD_INPUT);
    tl_folder_file(&f, "run.json", where);
    fclose(fopen(where, "w"));
    assert_int_equal(tl_folder_open(&f, path, "x", true, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "a link"));
    assert_int_equal(tl_folder_clean(&f, 0, &err), TALUS_BAD_INPUT);
    assert_int_equal(access(victim, F_OK), 0);

    /* a table that is a link, and one that is a pipe */
    tl_csv c;
    int64_t found;
    tl_folder_file(&f, "steps.csv", where);
    assert_int_equal(symlink(victim, where), 0);
    assert_int_equal(tl_csv_cut(where, 1, &found, &err), TALUS_IO);
    assert_int_equal(tl_csv_open(&c, where, true, &err), TALUS_IO);
    unlink(where);
    assert_int_equal(mkfifo(where, 0666), 0);
    assert_int_equal(tl_csv_cut(where, 1, &found, &err), TALUS_IO);
    assert_int_equal(tl_csv_open(&c, where, false, &err), TALUS_IO);
    tl_run_record r;
    assert_int_equal(tl_run_json_read(&r, where, &err), TALUS_IO); /* and does not wait for a writer */
    assert_non_null(strstr(err.message, "not a regular file"));
    tl_replace t;
    assert_int_equal(tl_replace_begin(&t, where, &err), TALUS_IO);
    assert_int_equal(tl_replace_begin(&t, "/dev/null", &err), TALUS_IO);
    static const char *const left[] = {"steps.csv", "run.json", "frames"};
    for (int i = 0; i < 3; i++) {
        tl_folder_file(&f, left[i], where);
        unlink(where);
    }
    for (int i = 1; i < 3; i++) {
        tl_folder_file(&f, parts[i], where);
        rmdir(where);
    }
    unlink(victim);
    rmdir(away);
    rmdir(path);
}

/* A rope that breaks, as films read it back: from its frame on, with a name that has a comma; a run without joints and
 * half a row say nothing. */
static void joints_that_broke(void **state)
{
    (void)state;
    int64_t broke[3];
    CHECK_OK(tl_joint_table_read(path, 3, broke, &err));
    assert_true(broke[0] == INT64_MAX && broke[2] == INT64_MAX);
    rigid_case c = rigid_open(
        NULL,
        "bodies = { { name = 'a', shape = box { size = {1, 1, 1} }, density = 1, at = {0, 0, 0} } }, joints = { { "
        "name = 'a,\"b\"', kind = 'ball', a = 'a', at = {0, 0, 0} }, { name = 'c', kind = 'rope', a = 'a', at_a = "
        "{0, 0, 0}, at_b = {0, 1, 0}, breaks_at = 1e-6 } }");
    tl_csv t;
    CHECK_OK(tl_csv_open(&t, path, true, &err));
    CHECK_OK(tl_csv_joints_header(&t, &err));
    tl_joint_state *joints = tl_state_find(&c.sim->state, &tl_joints_kind);
    for (int frame = 0; frame < 4; frame++) {
        c.sim->state.frame = frame;
        joints->joint[1].broken = frame > 1;
        CHECK_OK(tl_csv_joints_rows(&t, c.scene, &c.sim->state, &err));
    }
    tl_csv_close(&t);
    FILE *f = fopen(path, "a");
    fputs("3,0,0,half,1,1", f);
    fclose(f);
    CHECK_OK(tl_joint_table_read(path, 3, broke, &err));
    assert_true(broke[0] == INT64_MAX && broke[1] == 2 && broke[2] == INT64_MAX);
    rigid_close(&c);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)
    const struct CMUnitTest tests[] = {
        EACH(joints_that_broke),
        EACH(cells),
        EACH(every_bit),
        EACH(cuts),
        EACH(cuts_long_files),
        EACH(goes_on),
        EACH(full_table),
        EACH(vtk_bytes),
        EACH(vtk_list),
        EACH(meshes_are_shared),
        EACH(json_there_and_back),
        EACH(json_of_others),
        EACH(checkpoint_there_and_back),
        EACH(folders),
        EACH(folders_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
