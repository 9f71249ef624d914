/* Hostile and damaged files of tetrahedra, and memory that runs out: a clean status with a message, nothing left
 * behind. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "check.h"
#include "fuzz_tetmesh.h"
#include "tempdir.h"

static talus_error err;

#define MSH2 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define MSH4 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define NODES2 "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 0\n$EndNodes\n"
#define VTK "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define POINTS "POINTS 5 double\n0 0 0 1 0 0 0 1 0 0 0 1 1 1 0\n"

typedef struct bad_file {
    const char *text, *says;
} bad_file;

static const bad_file bad_msh[] = {
    {"", "f.msh:1: a gmsh file starts with $MeshFormat"},
    {"$Nodes\n", "starts with $MeshFormat"},
    {"$MeshFormat\n", "the file ends where the format's version should be"},
    {"$MeshFormat\n4 0 8\n$EndMeshFormat\n", "gmsh format 4; save it as 4.1 or 2.2"},
    {"$MeshFormat\n2.2 2 8\n$EndMeshFormat\n", "file type must be 0 (text) or 1 (binary), got 2"},
    {"$MeshFormat\n2.2 0 4\n$EndMeshFormat\n", "numbers must have 8 bytes, got 4"},
    {"$MeshFormat\n2.2 1 8\n", "the file ends inside a section"},
    {"$MeshFormat\n2.2 1 8\nabcd\n$EndMeshFormat\n", "byte order must be 1"},
    {"$MeshFormat\n2.2 0 8\n$End\n", "$EndMeshFormat should be here, got '$End'"},
    {MSH2, "no tetrahedra in it, nor any other element"},
    {MSH2 "hello\n", "f.msh:4: a section should start here, got 'hello'"},
    {MSH2 "$Comment\nnever ends\n", "section $Comment has no end"},
    {MSH2 "$Nodes\n1000000000\n1 0 0 0\n", "1000000000 nodes cannot be in the"},
    {MSH2 "$Nodes\n-1\n$EndNodes\n", "must be >= 0, got -1"},
    {MSH2 "$Nodes\n99999999999999999999999\n", "must be an integer"},
    {MSH2 "$Nodes\n1\n1 0 0 nan\n$EndNodes\n", "must be finite"},
    {MSH2 "$Nodes\n1\n1 0 0 1e99\n$EndNodes\n", "at most 1e+60"},
    {MSH2 "$Nodes\n1\n1 0 0 x\n$EndNodes\n", "f.msh:6: a coordinate must be a number, got 'x'"},
    {MSH2 "$Nodes\n2\n1 0 0 0\n$EndNodes\n", "must be an integer, got '$EndNodes'"},
    {MSH2 NODES2 NODES2, "a second section $Nodes"},
    {MSH2 NODES2 "$Elements\n1\n1 2 0 1 2 3\n$EndElements\n", "only 1 elements of other kinds (is it a surface mesh?)"},
    {MSH2 NODES2 "$Elements\n1\n1 4 0 1 2 3 9\n$EndElements\n",
     "f.msh:14: a tetrahedron names vertex 9, which is not in the file"},
    {MSH2 NODES2 "$Elements\n1\n1 4 0 1 2 3 3\n$EndElements\n", "names vertex 3 twice"},
    {MSH2 NODES2 "$Elements\n1\n1 4 0 1 2 3 5\n$EndElements\n", "a tetrahedron has no volume"},
    {MSH2 NODES2 "$Elements\n2\n1 4 0 1 2 3 4\n2 4 0 4 3 2 1\n$EndElements\n",
     "f.msh:15: a tetrahedron has the same vertices as an earlier one"},
    {MSH2 NODES2 "$Elements\n1\n1 11 0 1 2 3 4 5 6 7 8 9 10\n$EndElements\n", "higher order"},
    {MSH2 NODES2 "$Elements\n1\n1 4 -3 1 2 3 4\n$EndElements\n", "must be >= 0, got -3"},
    {MSH2 NODES2 "$Elements\n1\n1 777 0 1 2 3 4\n$EndElements\n", "element type 777 is not known"},
    {MSH2 NODES2 "$Elements\n2\n1 4 0 1 2 3 4\n$EndElements\n", "must be an integer, got '$EndElements'"},
    {MSH2 "$Nodes\n4\n1 0 0 0\n1 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n1\n1 4 0 1 1 3 4\n$EndElements\n",
     "two vertices have the number 1"},
    {MSH2 "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 0 0 2\n6 0 0 -1\n$EndNodes\n$Elements\n3\n1 4 0 1 2 3 4\n2 "
          "4 0 1 2 3 5\n3 4 0 1 2 3 6\n$EndElements\n",
     "belongs to three tetrahedra"},
    {MSH4 "$Nodes\n99999999 4 1 4\n", "99999999 blocks cannot be in"},
    {MSH4 "$Nodes\n1 4 1 4\n3 1 0 2\n1\n2\n0 0 0\n1 0 0\n$EndNodes\n", "2 nodes fewer than announced"},
    {MSH4 "$Nodes\n1 1 1 4\n3 1 0 2\n1\n2\n0 0 0\n1 0 0\n$EndNodes\n", "a block of 2 nodes, but only 1 are left"},
    {MSH4 "$Nodes\n1 1 1 4\n7 1 0 1\n1\n0 0 0\n$EndNodes\n", "dimension must be 0 to 3, got 7"},
};

static const bad_file bad_vtk[] = {
    {"", "f.vtk:1: a legacy VTK file starts with"},
    {"# vtk DataFile Version 3.0\n", "ends inside its header"},
    {"# vtk DataFile Version 3.0\nt\nXML\n", "ASCII or BINARY should be here, got 'XML'"},
    {"# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n", "come in an UNSTRUCTURED_GRID, this is 'POLYDATA'"},
    {VTK, "the file ends before CELL_TYPES"},
    {VTK "POINTS 99999999999 double\n0 0 0\n", "99999999999 points cannot be in"},
    {VTK "POINTS -1 double\n", "must be >= 0, got -1"},
    {VTK "POINTS 1 quaternion\n0 0 0\n",
     "a type of numbers (float, double, int, ...) should be here, got 'quaternion'"},
    {VTK POINTS POINTS, "a second POINTS"},
    {VTK POINTS "CELL_TYPES 1\n10\n", "CELL_TYPES before CELLS"},
    {VTK POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 2\n10 10\n", "2 cell types for 1 cells"},
    {VTK POINTS "CELLS 1 5\n4 0 1 2 8\nCELL_TYPES 1\n10\n", "names vertex 8, which is not in the file"},
    {VTK POINTS "CELLS 1 5\n4 0 1 2 -1\nCELL_TYPES 1\n10\n", "names vertex -1, which is not in the file"},
    {VTK POINTS "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n10\n", "a tetrahedron has 4 vertices, got 3"},
    {VTK POINTS "CELLS 1 5\n9 0 1 2 3\nCELL_TYPES 1\n10\n", "a cell of 9 vertices, where 4 are left"},
    {VTK POINTS "CELLS 1 5\n-4 0 1 2 3\nCELL_TYPES 1\n10\n", "a cell of -4 vertices"},
    {VTK POINTS "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n5\n", "only 1 elements of other kinds"},
    {VTK POINTS "CELLS 1 9999999\n4 0 1 2 3\nCELL_TYPES 1\n10\n", "9999999 entries of cells cannot be in"},
    {VTK POINTS "CELLS 2 4\nOFFSETS vtktypeint64\n3 7\nCONNECTIVITY vtktypeint64\n0 1 2 3\nCELL_TYPES 1\n10\n",
     "the first offset must be 0, got 3"},
    {VTK POINTS "CELLS 2 4\nOFFSETS vtktypeint64\n0 7\nCONNECTIVITY vtktypeint64\n0 1 2 3\nCELL_TYPES 1\n10\n",
     "a cell of 7 vertices, where 4 are left"},
    {VTK POINTS "CELLS 2 4\nOFFSETS vtktypeint64\n0 4\nCELL_TYPES 1\n10\n",
     "CONNECTIVITY should be here, got 'CELL_TYPES'"},
    {VTK POINTS "CELLS 1 11\n10 0 1 2 3 4 0 1 2 3 4\nCELL_TYPES 1\n24\n", "higher order"},
    {VTK "FIELD f 1\na 99999999 99999999 double\n", "cannot be in the rest of the file"},
    {VTK "VERTICES 1 2\n", "POINTS, CELLS or CELL_TYPES should be here, got 'VERTICES'"},
};

static void refuse(fuzz_reader read, const char *name, const bad_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tl_tetmesh m;
        int64_t live = tl_alloc_read().live_blocks;
        talus_status status = read(&m, name, files[i].text, strlen(files[i].text), NULL, &err);
        if (status != TALUS_BAD_INPUT && status != TALUS_UNSUPPORTED)
            fail_msg("%s %zu: %s", name, i, talus_status_name(status));
        if (!strstr(err.message, files[i].says))
            fail_msg("%s %zu: expected '%s', got '%s'", name, i, files[i].says, err.message);
        if (strncmp(err.message, name, strlen(name))) fail_msg("%s %zu: no file name: '%s'", name, i, err.message);
        assert_int_equal(tl_alloc_read().live_blocks, live);
    }
}

static void hostile_files(void **state)
{
    (void)state;
    refuse(tl_tetmesh_read_msh, "f.msh", bad_msh, sizeof bad_msh / sizeof bad_msh[0]);
    refuse(tl_tetmesh_read_vtk, "f.vtk", bad_vtk, sizeof bad_vtk / sizeof bad_vtk[0]);
}

/* ---- the fuzzer's corpus, as it is and damaged ---- */

static size_t read_file(const char *path, uint8_t *data, size_t room)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t bytes = fread(data, 1, room, f);
    fclose(f);
    return bytes;
}

/* Every start of the file, and every byte replaced a few times. */
static void damage(fuzz_reader read, const uint8_t *data, size_t bytes)
{
    static uint8_t copy[8192];
    for (size_t cut = 0; cut < bytes; cut++) fuzz_tetmesh(read, data, cut);
    for (size_t at = 0; at < bytes; at++)
        for (uint64_t k = 0; k < 2; k++) {
            memcpy(copy, data, bytes);
            copy[at] = k == 0 && at % 2 ? (uint8_t)(at % 4 == 1 ? 0 : 255) : (uint8_t)tl_random_bits(1, at, k);
            fuzz_tetmesh(read, copy, bytes);
        }
}

static void corpus_of(const char *folder, fuzz_reader read)
{
    char path[1024];
    static uint8_t data[8192];
    int count = 0;
    snprintf(path, sizeof path, "%s/%s", TL_SOURCE_DIR "/tests/fuzz/corpus", folder);
    DIR *d = opendir(path);
    if (!d) fail_msg("%s: no such folder", path);
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s/%s", TL_SOURCE_DIR "/tests/fuzz/corpus", folder, e->d_name);
        size_t bytes = read_file(path, data, sizeof data);
        fuzz_tetmesh(read, data, bytes);
        damage(read, data, bytes);
        count++;
    }
    closedir(d);
    assert_true(count >= 4);
}

static void fuzzed_files(void **state)
{
    (void)state;
    corpus_of("msh", tl_tetmesh_read_msh);
    corpus_of("vtk", tl_tetmesh_read_vtk);
}

/* ---- memory ---- */

typedef talus_status (*action)(const void *ctx);

static void sweep(action act, const void *ctx, const char *what)
{
    int64_t live = tl_alloc_read().live_blocks;
    int failures = 0;
    for (int64_t k = 1;; k++) {
        tl_alloc_fail_at(k);
        err.message[0] = '\0';
        talus_status status = act(ctx);
        bool happened = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        if (tl_alloc_read().live_blocks != live)
            fail_msg("%s, allocation %lld refused: memory was lost", what, (long long)k);
        if (!happened) {
            if (status != TALUS_OK) fail_msg("%s: %s", what, err.message);
            break;
        }
        if (status != TALUS_NO_MEMORY || !err.message[0])
            fail_msg("%s, allocation %lld refused: status %d '%s'", what, (long long)k, (int)status, err.message);
        failures++;
    }
    assert_true(failures > 3);
}

static double dumbbell_at(const void *ctx, tl_vec3 p) /* two balls that touch: a vertex is split */
{
    (void)ctx;
    return fmin(tl_vec3_norm(tl_vec3_sub(p, (tl_vec3){-0.3, 0, 0})),
                tl_vec3_norm(tl_vec3_sub(p, (tl_vec3){0.3, 0, 0}))) -
           0.3;
}

static talus_status mesh_and_measure(const void *ctx)
{
    tl_tetmesh m;
    tl_trimesh boundary;
    tl_lattice_report r;
    tl_tet_quality q;
    tl_box3 box = {{-0.6, -0.3, -0.3}, {0.6, 0.3, 0.3}};
    TL_TRY(tl_tetmesh_from_field((tl_field){dumbbell_at, NULL}, box, *(const double *)ctx, &m, &r, &err));
    talus_status status = tl_tetmesh_quality(&m, &q, &err);
    if (status == TALUS_OK) status = tl_tetmesh_boundary(&m, &boundary, NULL, &err);
    if (status == TALUS_OK) tl_trimesh_free(&boundary);
    tl_tetmesh_free(&m);
    return status;
}

typedef struct text_file {
    fuzz_reader read;
    const char *text;
} text_file;

static talus_status read_it(const void *ctx)
{
    const text_file *f = ctx;
    tl_tetmesh m;
    talus_status status = f->read(&m, "f", f->text, strlen(f->text), NULL, &err);
    tl_tetmesh_free(&m);
    return status;
}

static talus_status write_it(const void *path)
{
    tl_tetmesh m;
    text_file f = {tl_tetmesh_read_msh, MSH2 NODES2 "$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n"};
    TL_TRY(f.read(&m, "f", f.text, strlen(f.text), NULL, &err));
    talus_status status = tl_tetmesh_write(&m, path, &err);
    tl_tetmesh_free(&m);
    if (status == TALUS_OK) status = tl_tetmesh_read(&m, path, &err);
    tl_tetmesh_free(&m);
    return status;
}

static void refused_memory(void **state)
{
    (void)state;
    double edge = 0.15;
    sweep(mesh_and_measure, &edge, "meshing");
    text_file msh = {tl_tetmesh_read_msh, MSH2 NODES2 "$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n"};
    text_file vtk = {tl_tetmesh_read_vtk, VTK POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n"};
    sweep(read_it, &msh, "reading msh");
    sweep(read_it, &vtk, "reading vtk");
    char dir[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 16];
    tl_tempdir_create(dir);
    snprintf(path, sizeof path, "%s/m.vtk", dir);
    sweep(write_it, path, "writing vtk");
    assert_int_equal(tl_tempdir_files(dir), 1);
    tl_tempdir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hostile_files), cmocka_unit_test(fuzzed_files),
                                       cmocka_unit_test(refused_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
