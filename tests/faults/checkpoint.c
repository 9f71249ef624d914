/* Checkpoints that are cut, altered, of another scene, or say what cannot be; memory that runs out. A clean status
 * each time, and the state as it was. */
#include "io/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "check.h"
#include "io/csv_run.h"
#include "io/hdf5_file.h"
#include "io/run_json.h"
#include "io/vtk_rigid.h"
#include "rigid.h"
#include "tempdir.h"

static talus_error err;
static char dir[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 64];
static rigid_case a, b; /* b loads what a saved */

static const char scene_text[] = "bodies = { { kind = 'static', shape = plane { height = 0 } },"
                                 "{ shape = box { size = 0.2 }, at = {0, 0.1, 0}, density = 500 },"
                                 "{ shape = box { size = 0.2 }, at = {0.05, 0.3, 0}, density = 500 } }";

static int begin(void **state)
{
    (void)state;
    tl_tempdir_create(dir);
    snprintf(path, sizeof path, "%s/checkpoint.h5", dir);
    a = rigid_open("", "%s", scene_text);
    b = rigid_open("", "%s", scene_text);
    rigid_run(&a, 0.1);
    return 0;
}
static int end(void **state)
{
    (void)state;
    rigid_close(&a);
    rigid_close(&b);
    tl_tempdir_remove(dir);
    return 0;
}

static talus_status save(void) { return tl_checkpoint_save(path, &a.sim->state, a.scene, "--set x=1", &err); }
static talus_status load(void)
{
    return tl_checkpoint_load(path, &b.sim->state, b.scene, b.sim->rigid.count, NULL, &err);
}

/* Loads what is in `path` and expects a refusal that leaves b alone. */
static void refused(const char *what, size_t where, const char *says)
{
    uint64_t before = tl_state_hash(&b.sim->state);
    int64_t live = tl_alloc_read().live_blocks;
    err.message[0] = '\0';
    talus_status status = load();
    if (status == TALUS_OK) fail_msg("%s at %zu: accepted", what, where);
    if (status == TALUS_NO_MEMORY) fail_msg("%s at %zu: asked for too much: %s", what, where, err.message);
    if (!err.message[0] || (says && !strstr(err.message, says)))
        fail_msg("%s at %zu: says '%s'", what, where, err.message);
    assert_int_equal(tl_state_hash(&b.sim->state), before);
    assert_int_equal(tl_alloc_read().live_blocks, live);
}

static unsigned char *read_bytes(size_t *size)
{
    FILE *f = fopen(path, "rb");
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *bytes = TL_NEW(unsigned char, *size);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

static void write_bytes(const unsigned char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void damaged_files(void **state)
{
    (void)state;
    CHECK_OK(save());
    size_t size;
    unsigned char *good = read_bytes(&size), *bad = TL_NEW(unsigned char, size);
    for (size_t cut = 0; cut < size; cut += 1 + size / 200) {
        write_bytes(good, cut);
        refused("cut", cut, NULL);
    }
    for (size_t at = 0; at < size; at += 1 + size / 400) {
        memcpy(bad, good, size);
        bad[at] ^= (unsigned char)(1u << (tl_random_bits(1, at, 0) % 8));
        write_bytes(bad, size);
        refused("flip", at, NULL);
    }
    write_bytes(good, size);
    CHECK_OK(load());
    assert_int_equal(tl_state_hash(&a.sim->state), tl_state_hash(&b.sim->state));
    tl_free(good);
    tl_free(bad);
}

static void other_scenes(void **state)
{
    (void)state;
    rigid_case c = rigid_open("", "bodies = { { shape = sphere { radius = 0.1 }, at = {0, 1, 0}, density = 1 } }");
    CHECK_OK(tl_checkpoint_save(path, &c.sim->state, c.scene, "--set x=1", &err));
    refused("another scene", 0, "another scene");
    assert_non_null(strstr(err.message, "--set x=1"));
    /* the hash is right and the counts are not */
    c.scene->hash = b.scene->hash;
    CHECK_OK(tl_checkpoint_save(path, &c.sim->state, c.scene, NULL, &err));
    refused("another count", 0, "bodies/motion has 1 items, expected 3");
    rigid_close(&c);
    remove(path);
    refused("no file", 0, path);
}

/* States that no run leaves, in files that are whole. */
static void impossible_states(void **state)
{
    (void)state;
    tl_state *s = &a.sim->state;
    tl_motion *m = &s->rigid.body[1];
    tl_rigid_memory *c = s->rigid.contact;
    assert_true(s->rigid.contacts > 0);
    double t = s->t;
    tl_motion motion = *m;
    tl_rigid_memory memory = *c;

    m->v.y = NAN;
    CHECK_OK(save());
    refused("NaN", 0, "must be finite");
    *m = motion;
    m->q.w += 0.1;
    CHECK_OK(save());
    refused("rotation", 0, "must be 1");
    *m = motion;
    s->t = -1;
    CHECK_OK(save());
    refused("time", 0, "cannot be");
    s->t = t;
    const int32_t pairs[][2] = {{-1, 1}, {0, 0}, {2, 1}, {0, 3}, {0, INT32_MAX}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        c->a = pairs[i][0];
        c->b = pairs[i][1];
        CHECK_OK(save());
        refused("pair", i, "is between bodies");
    }
    *c = memory;
    CHECK_OK(save());
    CHECK_OK(load());
}

/* Files by other hands: no seal, and any content. */
static void put_file(const char *format, int64_t version, int64_t motions, int64_t points)
{
    tl_h5 *f;
    char hash[24];
    double zero[256] = {0};
    int32_t ids[64] = {0};
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)b.scene->hash);
    CHECK_OK(tl_h5_create(&f, path, &err));
    CHECK_OK(tl_h5_put_text(f, "format", format, &err));
    CHECK_OK(tl_h5_put_int(f, "version", version, &err));
    CHECK_OK(tl_h5_put_text(f, "scene_hash", hash, &err));
    CHECK_OK(tl_h5_put_text(f, "blas_core", "x", &err));
    CHECK_OK(tl_h5_put_text(f, "compiler", "x", &err));
    CHECK_OK(tl_h5_put_number(f, "t", 0, &err));
    CHECK_OK(tl_h5_put_int(f, "step", 0, &err));
    CHECK_OK(tl_h5_put_int(f, "frame", 0, &err));
    CHECK_OK(tl_h5_put_number(f, "dt_next", 0, &err));
    CHECK_OK(tl_h5_put_array(f, "bodies/motion", TL_H5_DOUBLE, motions, zero, &err));
    CHECK_OK(tl_h5_put_array(f, "contacts/bodies", TL_H5_INT32, 8, ids, &err));
    CHECK_OK(tl_h5_put_array(f, "contacts/points", TL_H5_DOUBLE, points, zero, &err));
    CHECK_OK(tl_h5_put_array(f, "contacts/impact_bodies", TL_H5_INT32, 0, ids, &err));
    CHECK_OK(tl_h5_put_array(f, "contacts/impacts", TL_H5_DOUBLE, 0, zero, &err));
    CHECK_OK(tl_h5_put_array(f, "driven/bodies", TL_H5_INT32, 3, ids, &err));
    CHECK_OK(tl_h5_put_array(f, "driven/settings", TL_H5_INT32, 0, ids, &err));
    CHECK_OK(tl_h5_put_array(f, "driven/values", TL_H5_DOUBLE, 0, zero, &err));
    CHECK_OK(tl_h5_commit(f, &err));
}

static void foreign_files(void **state)
{
    (void)state;
    int64_t motion = sizeof(tl_motion) / sizeof(double),
            point = (sizeof(tl_rigid_memory) - offsetof(tl_rigid_memory, at_a)) / sizeof(double);
    put_file("talus problem", 2, 3 * motion, 2 * point);
    refused("format", 0, "not a checkpoint");
    put_file("talus checkpoint", 1, 3 * motion, 2 * point);
    refused("version", 0, "version 1");
    put_file("talus checkpoint", 2, 3 * motion + 1, 2 * point);
    refused("ragged", 0, "not a multiple");
    put_file("talus checkpoint", 2, 3 * motion, 3 * point); /* two pairs, three points */
    refused("counts", 0, "contacts/points has");
    put_file("talus checkpoint", 2, 3 * motion, 2 * point);
    refused("zeros", 0, "must be 1");
}

/* Every writer and reader of a run, with the k-th allocation refused. */
static talus_status write_vtk(void)
{
    tl_body_meshes m;
    char file[TL_TEMPDIR_MAX + 64];
    snprintf(file, sizeof file, "%s/bodies.vtp", dir);
    talus_status status = tl_body_meshes_create(&m, a.scene, &err);
    if (status == TALUS_OK) status = tl_vtk_bodies(file, &m, a.scene, &a.sim->rigid, &a.sim->state, &err);
    tl_contact_row row[64];
    assert_true(tl_sim_contacts(a.sim, NULL) <= 64);
    if (status == TALUS_OK) status = tl_vtk_contacts(file, a.sim->state.t, tl_sim_contacts(a.sim, row), row, &err);
    tl_body_meshes_free(&m);
    return status;
}

static talus_status write_csv(void)
{
    tl_csv c;
    char file[TL_TEMPDIR_MAX + 64];
    snprintf(file, sizeof file, "%s/table.csv", dir);
    talus_status status = tl_csv_open(&c, file, true, &err);
    if (status == TALUS_OK) status = tl_csv_steps_header(&c, &a.sim->report, &err);
    if (status == TALUS_OK) status = tl_csv_steps_row(&c, &a.sim->report, &err);
    tl_csv_close(&c);
    if (status == TALUS_OK) status = tl_csv_open(&c, file, false, &err);
    if (status == TALUS_OK) status = tl_csv_steps_header(&c, &a.sim->report, &err);
    tl_csv_close(&c);
    int64_t found;
    return status == TALUS_OK ? tl_csv_cut(file, 1, &found, &err) : status;
}

static talus_status write_json(void)
{
    tl_run_record r = {.scene_file = path, .outcome = "running"}, back = {0};
    char file[TL_TEMPDIR_MAX + 64];
    snprintf(file, sizeof file, "%s/run.json", dir);
    talus_status status = tl_run_json_write(file, &r, a.scene, &err);
    if (status == TALUS_OK) status = tl_run_json_read(&back, file, &err);
    tl_run_record_free(&back);
    return status;
}

static void memory_runs_out(void **state)
{
    (void)state;
    talus_status (*const work[])(void) = {save, load, write_vtk, write_csv, write_json};
    for (size_t w = 0; w < sizeof work / sizeof work[0]; w++) {
        CHECK_OK(save());
        CHECK_OK(work[w]());
        int files = tl_tempdir_files(dir), failures = 0;
        int64_t live = tl_alloc_read().live_blocks;
        uint64_t before = tl_state_hash(&b.sim->state);
        for (int64_t k = 1;; k++) {
            tl_alloc_fail_at(k);
            talus_status s = work[w]();
            int delivered = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            assert_int_equal(tl_alloc_read().live_blocks, live);
            assert_int_equal(tl_tempdir_files(dir), files);
            assert_int_equal(tl_state_hash(&b.sim->state), before);
            if (!delivered) {
                assert_int_equal(s, TALUS_OK);
                break;
            }
            failures++;
            if (s != TALUS_NO_MEMORY)
                fail_msg("task %zu, allocation %d: status %d, %s", w, (int)k, (int)s, err.message);
        }
        assert_true(failures >= 2);
        CHECK_OK(load());
    }
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        EACH(damaged_files), EACH(other_scenes), EACH(impossible_states), EACH(foreign_files), EACH(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
