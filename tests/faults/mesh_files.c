/* Mesh files: what fuzzing found, cut and changed files, refused memory. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "check.h"
#include "fuzz_mesh.h"
#include "geom/mesh_distance.h"
#include "meshes.h"
#include "tempdir.h"

static talus_error err;

static const struct {
    const char *folder;
    fuzz_reader read;
} kinds[3] = {{"obj", tl_trimesh_read_obj}, {"ply", tl_trimesh_read_ply}, {"stl", tl_trimesh_read_stl}};

/* Calls fn with each file of a kind's corpus; returns how many there were. */
static int each_file(int kind, void (*fn)(fuzz_reader read, const uint8_t *data, size_t bytes))
{
    static uint8_t data[1 << 16];
    char folder[1024], path[2048];
    int files = 0;
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", TL_SOURCE_DIR, kinds[kind].folder);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        size_t bytes = fread(data, 1, sizeof data, f);
        fclose(f);
        assert_true(bytes < sizeof data);
        fn(kinds[kind].read, data, bytes);
        files++;
    }
    closedir(dir);
    return files;
}

static void corpus_is_read(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) assert_true(each_file(kind, fuzz_mesh) >= 5);
}

static void cut_and_change(fuzz_reader read, const uint8_t *data, size_t bytes)
{
    static uint8_t copy[1 << 16];
    if (bytes > 2000) return;
    for (size_t n = 0; n < bytes; n++) fuzz_mesh(read, data, n);
    for (uint64_t k = 0; k < 500; k++) {
        memcpy(copy, data, bytes);
        for (uint64_t j = 0; j < 1 + k % 3 && bytes > 0; j++)
            copy[tl_random_bits(1, k, 2 * j) % bytes] = (uint8_t)tl_random_bits(1, k, 2 * j + 1);
        fuzz_mesh(read, copy, bytes);
    }
}

static void cut_and_changed_files(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) each_file(kind, cut_and_change);
}

/* ---- memory ---- */

static char folder[TL_TEMPDIR_MAX], path[3][TL_TEMPDIR_MAX + 16];
static const char concave[] = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nf 1 2 3 4 5 6\n";

static talus_status read_obj(void)
{
    tl_trimesh m;
    talus_status status = tl_trimesh_read(&m, path[0], &err);
    tl_trimesh_free(&m);
    return status;
}
static talus_status read_ply(void)
{
    tl_trimesh m;
    talus_status status = tl_trimesh_read(&m, path[1], &err);
    tl_trimesh_free(&m);
    return status;
}
static talus_status read_stl(void)
{
    tl_trimesh m;
    talus_status status = tl_trimesh_read(&m, path[2], &err);
    tl_trimesh_free(&m);
    return status;
}
static talus_status read_polygon(void)
{
    tl_trimesh m;
    talus_status status = tl_trimesh_read_obj(&m, "a", concave, sizeof concave - 1, &err);
    tl_trimesh_free(&m);
    return status;
}

static tl_trimesh ball;

static talus_status check(void)
{
    tl_trimesh_report r;
    return tl_trimesh_check(&ball, &r, &err);
}
static talus_status write(void) { return tl_trimesh_write(&ball, path[1], &err); }
static talus_status distance(void)
{
    tl_mesh_distance *d;
    talus_status status = tl_mesh_distance_create(&d, &ball, &err);
    if (status != TALUS_OK) assert_null(d);
    tl_mesh_distance_free(d);
    return status;
}
static talus_status make(void)
{
    tl_trimesh m[4] = {{0}};
    talus_status status = tl_trimesh_icosphere(&m[0], 1, 1, &err);
    if (status == TALUS_OK) status = tl_trimesh_box(&m[1], tl_vec3_make(1, 1, 1), 2, &err);
    if (status == TALUS_OK) status = tl_test_mesh_torus(&m[2], 2, 1, 5, 5, &err);
    if (status == TALUS_OK) status = tl_test_mesh_sheet(&m[3], 2, 1, 5, 5, &err);
    if (status == TALUS_OK) status = tl_test_mesh_append(&m[0], &m[1], &err);
    for (int i = 0; i < 4; i++) tl_trimesh_free(&m[i]);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static talus_status (*const operations[])(void) = {read_obj, read_ply, read_stl, read_polygon,
                                                       check,    write,    distance, make};
    static const char *const names[3] = {"m.obj", "m.ply", "m.stl"};
    tl_tempdir_create(folder);
    CHECK_OK(tl_trimesh_icosphere(&ball, 1, 2, &err));
    for (int i = 0; i < 3; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", folder, names[i]);
        CHECK_OK(tl_trimesh_write(&ball, path[i], &err));
    }
    for (size_t t = 0; t < sizeof operations / sizeof operations[0]; t++) {
        int64_t before = tl_alloc_read().live_blocks, k = 1;
        for (int delivered = 1; delivered; k++) {
            tl_alloc_fail_at(k);
            talus_status status = operations[t]();
            delivered = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            assert_int_equal(status, delivered ? TALUS_NO_MEMORY : TALUS_OK);
            assert_int_equal(tl_alloc_read().live_blocks, before);
            assert_int_equal(tl_tempdir_files(folder), 3);
        }
        assert_true(k > 3);
    }
    tl_trimesh_free(&ball);
    tl_tempdir_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corpus_is_read),
        cmocka_unit_test(cut_and_changed_files),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
