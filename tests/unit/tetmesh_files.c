/* Tetrahedral mesh files: what is written comes back, and hand-made files of every kind are understood. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "geom/tetmesh.h"
#include "tempdir.h"

static talus_error err;
static char dir[TL_TEMPDIR_MAX];

static int make_dir(void **state)
{
    (void)state;
    tl_tempdir_create(dir);
    return 0;
}
static int remove_dir(void **state)
{
    (void)state;
    tl_tempdir_remove(dir);
    return 0;
}

static void written_files_come_back(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    tl_tetmesh m, back;
    CHECK_OK(tl_tetmesh_from_shape(t, tl_shape_torus(t, 0.35, 0.12, &err), 0.07, &m, &err));
    static const char *const endings[] = {".msh", ".vtk"};
    for (int i = 0; i < 2; i++) {
        char path[TL_TEMPDIR_MAX + 16];
        tl_tet_read_report r;
        snprintf(path, sizeof path, "%s/torus%s", dir, endings[i]);
        CHECK_OK(tl_tetmesh_write(&m, path, &err));
        assert_int_equal(tl_tempdir_files(dir), i + 1);
        CHECK_OK(tl_tetmesh_read_reported(&back, path, &r, &err));
        assert_int_equal(back.vertices, m.vertices);
        assert_int_equal(back.tets, m.tets);
        assert_memory_equal(back.vertex, m.vertex, sizeof *m.vertex * (size_t)m.vertices); /* 17 digits are exact */
        assert_memory_equal(back.tet, m.tet, sizeof *m.tet * (size_t)m.tets);
        assert_int_equal(r.turned + r.other_elements + r.unused_vertices, 0);
        tl_tetmesh_free(&back);
    }
    assert_int_equal(tl_tetmesh_write(&m, "torus.obj", &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, ".msh or .vtk"));
    char nowhere[TL_TEMPDIR_MAX + 32];
    snprintf(nowhere, sizeof nowhere, "%s/none/torus.msh", dir);
    assert_int_equal(tl_tetmesh_write(&m, nowhere, &err), TALUS_IO);
    assert_int_equal(tl_tetmesh_read(&back, nowhere, &err), TALUS_IO);
    tl_tetmesh_free(&m);
    tl_shape_tree_free(t);
}

/* ---- hand-made files: two tets, the second turned, a triangle, a vertex too many ---- */

static const double points[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}, {9, 9, 9}};

/* Bytes in either order. */
typedef struct bytes {
    char data[4096];
    size_t count;
    bool big;
} bytes;

static void put_text(bytes *b, const char *text)
{
    memcpy(b->data + b->count, text, strlen(text));
    b->count += strlen(text);
}
static void put_bits(bytes *b, uint64_t bits, int size)
{
    for (int i = 0; i < size; i++) b->data[b->count++] = (char)(bits >> (8 * (b->big ? size - 1 - i : i)));
}
static void put_int(bytes *b, int64_t v) { put_bits(b, (uint64_t)v, 4); }
static void put_long(bytes *b, int64_t v) { put_bits(b, (uint64_t)v, 8); }
static void put_double(bytes *b, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    put_bits(b, bits, 8);
}
static void put_float(bytes *b, double x)
{
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    put_bits(b, bits, 4);
}

static void check_two_tets(talus_status status, tl_tetmesh *m, const tl_tet_read_report *r, const char *what)
{
    if (status != TALUS_OK) fail_msg("%s: %s", what, err.message);
    if (m->vertices != 5 || m->tets != 2 || r->turned != 1 || r->other_elements != 1 || r->unused_vertices != 1)
        fail_msg("%s: %d vertices, %d tets, %d turned, %d other elements, %d unused", what, m->vertices, m->tets,
                 r->turned, r->other_elements, r->unused_vertices);
    for (int v = 0; v < 5; v++) assert_memory_equal(&m->vertex[v], points[v], sizeof points[v]);
    static const int32_t expected[2][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}};
    tl_tet_quality q;
    CHECK_OK(tl_tetmesh_quality(m, &q, &err));
    assert_int_equal(q.inverted, 0);
    CHECK_NEAR(q.volume, 0.5, 1e-15); /* 1/6 and 1/3 */
    assert_int_equal(q.boundary_triangles, 6);
    assert_memory_equal(m->tet[0], expected[0], sizeof expected[0]);
    tl_tetmesh_free(m);
}

static void gmsh_text(void **state)
{
    (void)state;
    static const char two[] =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"a $Nodes b\"\n$EndPhysicalNames\n"
        "$Nodes\n6\n10 0 0 0\n20 1 0 0\n30 0 1 0\n40 0 0 1\n50 1 1 1\n60 9 9 9\n$EndNodes\n"
        "$Elements\n3\n1 2 2 0 1 10 20 30\n2 4 2 0 1 10 20 30 40\n3 4 3 0 1 7 20 30 50 40\n$EndElements\n";
    static const char four[] =
        "$MeshFormat\r\n4.1 0 8\r\n$EndMeshFormat\r\n$Entities\r\n0 0 0 1\r\n1 0 0 0 1 1 1 0 0\r\n$EndEntities\r\n"
        "$Nodes\n2 6 10 60\n2 1 1 3\n10\n20\n30\n0 0 0 .5 .5\n1 0 0 .5 .5\n0 1 0 .5 .5\n3 1 0 3\n40 50 60\n0 0 1\n1 1 "
        "1\n9 9 9\n$EndNodes\n"
        "$Elements\n2 3 1 3\n2 1 2 1\n1 10 20 30\n3 1 4 2\n2 10 20 30 40\n3 20 30 50 40\n$EndElements\n";
    const char *const files[] = {two, four};
    for (int i = 0; i < 2; i++) {
        tl_tetmesh m;
        tl_tet_read_report r;
        check_two_tets(tl_tetmesh_read_msh(&m, "hand.msh", files[i], strlen(files[i]), &r, &err), &m, &r,
                       i ? "4.1" : "2.2");
    }
}

static void gmsh_binary(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        tl_tetmesh m;
        tl_tet_read_report r;
        bytes b = {.big = big};
        put_text(&b, "$MeshFormat\n2.2 1 8\n"), put_int(&b, 1), put_text(&b, "\n$EndMeshFormat\n$Nodes\n6\n");
        for (int v = 0; v < 6; v++) {
            put_int(&b, 10 * (v + 1));
            for (int k = 0; k < 3; k++) put_double(&b, points[v][k]);
        }
        put_text(&b, "\n$EndNodes\n$Elements\n3\n");
        static const int elements[] = {2,  1,  2, 1, 0, 0,  10, 20, 30, /* triangles */ 4, 2, 2, 2, 0, 0, 10, 20,
                                       30, 40, 3, 0, 0, 20, 30, 50, 40};
        for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) put_int(&b, elements[i]);
        put_text(&b, "\n$EndElements\n");
        check_two_tets(tl_tetmesh_read_msh(&m, "hand.msh", b.data, b.count, &r, &err), &m, &r, "2.2 binary");

        b.count = 0;
        put_text(&b, "$MeshFormat\n4.1 1 8\n"), put_int(&b, 1), put_text(&b, "\n$EndMeshFormat\n$Nodes\n");
        put_long(&b, 1), put_long(&b, 6), put_long(&b, 10), put_long(&b, 60);
        put_int(&b, 3), put_int(&b, 1), put_int(&b, 0), put_long(&b, 6);
        for (int v = 0; v < 6; v++) put_long(&b, 10 * (v + 1));
        for (int v = 0; v < 6; v++)
            for (int k = 0; k < 3; k++) put_double(&b, points[v][k]);
        put_text(&b, "\n$EndNodes\n$Elements\n");
        put_long(&b, 2), put_long(&b, 3), put_long(&b, 1), put_long(&b, 3);
        put_int(&b, 2), put_int(&b, 1), put_int(&b, 2), put_long(&b, 1), put_long(&b, 1), put_long(&b, 10),
            put_long(&b, 20), put_long(&b, 30);
        put_int(&b, 3), put_int(&b, 1), put_int(&b, 4), put_long(&b, 2);
        static const int tets[] = {2, 10, 20, 30, 40, 3, 20, 30, 50, 40};
        for (size_t i = 0; i < sizeof tets / sizeof tets[0]; i++) put_long(&b, tets[i]);
        put_text(&b, "\n$EndElements\n");
        check_two_tets(tl_tetmesh_read_msh(&m, "hand.msh", b.data, b.count, &r, &err), &m, &r, "4.1 binary");
    }
}

/* Two tetrahedra, the regions of a file that tells them. */
static void check_regions(talus_status status, tl_tetmesh *m, int first, int second, const char *what)
{
    if (status != TALUS_OK) fail_msg("%s: %s", what, err.message);
    if (!m->region || m->tets != 2 || m->region[0] != first || m->region[1] != second)
        fail_msg("%s: %d tets of regions %d, %d; not %d, %d", what, m->tets, m->region ? m->region[0] : -1,
                 m->region && m->tets > 1 ? m->region[1] : -1, first, second);
    tl_tetmesh_free(m);
}

static void regions_of_files(void **state)
{
    (void)state;
    tl_tetmesh m;
    static const char two[] =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
        "$Nodes\n5\n10 0 0 0\n20 1 0 0\n30 0 1 0\n40 0 0 1\n50 1 1 1\n$EndNodes\n"
        "$Elements\n3\n1 2 2 3 1 10 20 30\n2 4 2 7 1 10 20 30 40\n3 4 3 0 9 4 20 30 50 40\n$EndElements\n";
    check_regions(tl_tetmesh_read_msh(&m, "two.msh", two, strlen(two), NULL, &err), &m, 7, 9, "2.2: group, entity");
    static const char four[] =
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n1 1 0 2\n4 0 0 0 1 8\n3 0 0 0 1 1 1 0 2 4 4\n"
        "12 0 0 0 1 1 1 2 5 6 2 -1 2\n11 0 0 0 1 1 1 0 0\n$EndEntities\n"
        "$Nodes\n1 5 10 50\n3 11 0 5\n10 20 30 40 50\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n$EndNodes\n"
        "$Elements\n2 2 1 2\n3 11 4 1\n1 10 20 30 40\n3 12 4 1\n2 20 30 50 40\n$EndElements\n";
    check_regions(tl_tetmesh_read_msh(&m, "four.msh", four, strlen(four), NULL, &err), &m, 11, 5, "4.1: entity, group");
    static const char head[] = "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                               "POINTS 5 double\n0 0 0 1 0 0 0 1 0 0 0 1 1 1 1\n"
                               "CELLS 3 14\n4 0 1 2 3\n3 0 1 2\n4 1 2 4 3\nCELL_TYPES 3\n10\n5\n10\n";
    static const struct {
        const char *data, *what;
        int first, second;
    } tails[] = {
        {"", "nothing", 0, 0},
        {"POINT_DATA 5\nSCALARS region int 1\nLOOKUP_TABLE default\n1 2 3 4 5\n", "of points", 0, 0},
        {"CELL_DATA 3\nSCALARS region int 1\nLOOKUP_TABLE default\n4 5 6\n", "scalars", 4, 6},
        {"CELL_DATA 3\nSCALARS heat double\nLOOKUP_TABLE default\n.5 1 2\nSCALARS CellEntityIds int\n"
         "LOOKUP_TABLE default\n4 5 6\n",
         "the second of two", 4, 6},
        {"CELL_DATA 3\nFIELD f 2\nheat 2 3 float\n1 2 3 4 5 6\nmaterial 1 3 double\n3 2 1\n", "a field", 3, 1},
        {"CELL_DATA 3\nVECTORS u float\n1 2 3 4 5 6 7 8 9\n", "what is not understood", 0, 0},
    };
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        char file[1024];
        snprintf(file, sizeof file, "%s%s", head, tails[i].data);
        check_regions(tl_tetmesh_read_vtk(&m, "x.vtk", file, strlen(file), NULL, &err), &m, tails[i].first,
                      tails[i].second, tails[i].what);
    }
    char file[1024];
    snprintf(file, sizeof file, "%sCELL_DATA 3\nSCALARS region int\nLOOKUP_TABLE default\n4 x 6\n", head);
    assert_int_equal(tl_tetmesh_read_vtk(&m, "x.vtk", file, strlen(file), NULL, &err), TALUS_BAD_INPUT);
    snprintf(file, sizeof file, "%sCELL_DATA 3\nSCALARS region long\nLOOKUP_TABLE default\n4 5 99999999999\n", head);
    assert_int_equal(tl_tetmesh_read_vtk(&m, "x.vtk", file, strlen(file), NULL, &err), TALUS_BAD_INPUT);
}

static void vtk_text_and_binary(void **state)
{
    (void)state;
    tl_tetmesh m;
    tl_tet_read_report r;
    static const char old[] =
        "# vtk DataFile Version 2.0\nany title: POINTS CELLS\nASCII\nDATASET UNSTRUCTURED_GRID\n"
        "FIELD FieldData 1\nTIME 1 2 double\n0.25 1\nPOINTS 6 float\n0 0 0  1 0 0  0 1 0\n0 0 1  1 1 1\n9 9 9\n"
        "CELLS 3 14\n4 0 1 2 3\n3 0 1 2\n4 1 2 4 3\nCELL_TYPES 3\n10\n5\n10\nPOINT_DATA 6\nSCALARS u float\n";
    static const char recent[] = "# vtk DataFile Version 5.1\nvtk output\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 6 "
                                 "double\n0 0 0 1 0 0 0 1 0 0 0 1 1 1 1 9 9 9\n"
                                 "METADATA\nINFORMATION 0\n\nCELLS 4 11\nOFFSETS vtktypeint64\n0 4 7 11\nCONNECTIVITY "
                                 "vtktypeint64\n0 1 2 3 0 1 2 1 2 4 3\n"
                                 "CELL_TYPES 3\n10 5 10\n";
    check_two_tets(tl_tetmesh_read_vtk(&m, "hand.vtk", old, strlen(old), &r, &err), &m, &r, "2.0");
    check_two_tets(tl_tetmesh_read_vtk(&m, "hand.vtk", recent, strlen(recent), &r, &err), &m, &r, "5.1");

    static const int cells[] = {4, 0, 1, 2, 3, 3, 0, 1, 2, 4, 1, 2, 4, 3};
    bytes b = {.big = true};
    put_text(&b, "# vtk DataFile Version 3.0\n\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 6 float\n");
    for (int v = 0; v < 6; v++)
        for (int k = 0; k < 3; k++) put_float(&b, points[v][k]);
    put_text(&b, "\nCELLS 3 14\n");
    for (int i = 0; i < 14; i++) put_int(&b, cells[i]);
    put_text(&b, "\nCELL_TYPES 3\n"), put_int(&b, 10), put_int(&b, 5), put_int(&b, 10);
    check_two_tets(tl_tetmesh_read_vtk(&m, "hand.vtk", b.data, b.count, &r, &err), &m, &r, "3.0 binary");

    b.count = 0;
    put_text(&b,
             "# vtk DataFile Version 5.1\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\nTIME 1 1 double\n"),
        put_double(&b, 3.5);
    put_text(&b, "\nPOINTS 6 double\n");
    for (int v = 0; v < 6; v++)
        for (int k = 0; k < 3; k++) put_double(&b, points[v][k]);
    put_text(&b, "\nMETADATA\nINFORMATION 0\n\nCELLS 4 11\nOFFSETS vtktypeint64\n");
    put_long(&b, 0), put_long(&b, 4), put_long(&b, 7), put_long(&b, 11);
    put_text(&b, "\nCONNECTIVITY vtktypeint64\n");
    for (int i = 0; i < 14; i++)
        if (i != 0 && i != 5 && i != 9) put_long(&b, cells[i]);
    put_text(&b, "\nCELL_TYPES 3\n"), put_int(&b, 10), put_int(&b, 5), put_int(&b, 10);
    check_two_tets(tl_tetmesh_read_vtk(&m, "hand.vtk", b.data, b.count, &r, &err), &m, &r, "5.1 binary");
}

/* One tet by hand: every figure. */
static void quality_of_one_tet(void **state)
{
    (void)state;
    tl_tetmesh m;
    CHECK_OK(tl_tetmesh_create(&m, 5, 1, &err));
    for (int v = 0; v < 5; v++) m.vertex[v] = tl_vec3_load(points[v]);
    for (int i = 0; i < 4; i++) m.tet[0][i] = i;
    tl_tet_quality q;
    CHECK_OK(tl_tetmesh_quality(&m, &q, &err));
    CHECK_NEAR(q.volume, 1.0 / 6, 1e-16);
    CHECK_NEAR(q.smallest_volume, 1.0 / 6, 1e-16);
    CHECK_NEAR(q.dihedral_min_deg, acos(1 / sqrt(3)) * 180 / M_PI,
               1e-12); /* between the slanted face and a coordinate plane */
    CHECK_NEAR(q.dihedral_max_deg, 90, 1e-12);
    CHECK_NEAR(q.edge_min, 1, 0);
    CHECK_NEAR(q.edge_max, sqrt(2), 1e-15);
    CHECK_NEAR(q.edge_mean, (3 + 3 * sqrt(2)) / 6, 1e-15);
    assert_int_equal(q.inverted, 0);
    assert_int_equal(q.components, 1);
    assert_int_equal(q.boundary_triangles, 4);
    assert_int_equal(q.unused_vertices, 1);
    m.tet[0][0] = 1, m.tet[0][1] = 0;
    CHECK_OK(tl_tetmesh_quality(&m, &q, &err));
    assert_int_equal(q.inverted, 1);
    tl_tetmesh_free(&m);
    assert_int_equal(tl_tetmesh_quality(&m, &q, &err), TALUS_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(written_files_come_back, make_dir, remove_dir),
        cmocka_unit_test(gmsh_text),
        cmocka_unit_test(gmsh_binary),
        cmocka_unit_test(regions_of_files),
        cmocka_unit_test(vtk_text_and_binary),
        cmocka_unit_test(quality_of_one_tet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
