/* The public mesh functions, and gmsh as a separate program: a real one when it is installed, and stand-ins that
 * fail in every way. */
#include <talus/mesh.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/timer.h"
#include "check.h"
#include "geom/tetmesh.h"
#include "geom/trimesh.h"
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

static const char *figure(const talus_mesh *m, const char *wanted)
{
    const char *name, *value;
    for (int i = 0; talus_mesh_figure(m, i, &name, &value); i++)
        if (!strcmp(name, wanted)) return value;
    fail_msg("no figure '%s'", wanted);
    return "";
}

static const char *path_of(const char *name)
{
    static char path[TL_TEMPDIR_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void shapes_to_meshes(void **state)
{
    (void)state;
    talus_mesh_options o = talus_mesh_options_default();
    talus_mesh *m;
    int vertices, elements;
    o.edge = 0.1;
    CHECK_OK(talus_mesh_from_shape("sphere { radius = 0.5 }", &o, &m, &err));
    assert_int_equal(talus_mesh_kind_of(m), TALUS_MESH_SURFACE);
    assert_string_equal(figure(m, "edge"), "0.1 m");
    assert_string_equal(figure(m, "closed"), "yes");
    const double *x = talus_mesh_vertices(m, &vertices);
    const int *t = talus_mesh_elements(m, &elements);
    for (int v = 0; v < vertices; v++) CHECK_NEAR(tl_vec3_norm(tl_vec3_load(x + 3 * v)), 0.5, 1e-6); /* on the sphere */
    for (int i = 0; i < 3 * elements; i++) assert_in_range(t[i], 0, vertices - 1);
    CHECK_OK(talus_mesh_write(m, path_of("ball.ply"), &err));
    talus_mesh_free(m);

    o.kind = TALUS_MESH_TETS;
    o.edge = 0;
    CHECK_OK(talus_mesh_from_shape("box { size = {1, 0.5, 0.5} }", &o, &m, &err));
    assert_non_null(strstr(figure(m, "edge"), "(suggested)"));
    CHECK_NEAR(strtod(figure(m, "volume"), NULL), 0.25, 0.0025);
    assert_string_equal(figure(m, "inverted"), "0");
    (void)talus_mesh_elements(m, &elements);
    assert_int_equal(atoi(figure(m, "tetrahedra")), elements);
    assert_null(talus_mesh_note(m, 0));
    CHECK_OK(talus_mesh_write(m, path_of("box.vtk"), &err));
    assert_int_equal(talus_mesh_write(m, path_of("box.stl"), &err), TALUS_BAD_INPUT);
    talus_mesh_free(m);

    o.edge = 0.18; /* thin for this lattice: said, not hidden */
    CHECK_OK(talus_mesh_from_shape("shell { sphere { radius = 0.5 }, thickness = 0.2 }", &o, &m, &err));
    assert_non_null(talus_mesh_note(m, 0));
    talus_mesh_free(m);
}

static void shapes_by_name_and_file(void **state)
{
    (void)state;
    talus_mesh_options o = talus_mesh_options_default();
    talus_mesh *m;
    FILE *f = fopen(path_of("egg.lua"), "w");
    fputs("-- an egg\nreturn ellipsoid { radii = {0.3, 0.4, 0.3} }\n", f);
    fclose(f);
    o.edge = 0.1;
    assert_int_equal(talus_mesh_from_shape("egg", &o, &m, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "no folder of shapes"));
    o.shapes_folder = dir;
    CHECK_OK(talus_mesh_from_shape("egg", &o, &m, &err));
    talus_mesh_free(m);
    CHECK_OK(talus_mesh_from_shape(path_of("egg.lua"), &o, &m, &err));
    talus_mesh_free(m);
    assert_int_equal(talus_mesh_from_shape("duck", &o, &m, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "no shape 'duck'"));
    assert_null(m);
}

static void wrong_requests(void **state)
{
    (void)state;
    talus_mesh_options o = talus_mesh_options_default();
    talus_mesh *m;
    static const struct {
        const char *shape, *says;
    } bad[] = {{"spher { radius = 1 }", "sphere"},
               {"sphere { radius = -1 }", "-1"},
               {"half_space { normal = {0, 1, 0} }", "unbounded"},
               {"", "shape"},
               {"sphere {", "shape:1"},
               {"7", "shape"},
               {"os.exit(1)", "os"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        err.message[0] = '\0';
        assert_int_equal(talus_mesh_from_shape(bad[i].shape, &o, &m, &err), TALUS_BAD_INPUT);
        if (!strstr(err.message, bad[i].says)) fail_msg("'%s': %s", bad[i].shape, err.message);
        assert_null(m);
    }
    o.edge = -1;
    assert_int_equal(talus_mesh_from_shape("sphere { radius = 1 }", &o, &m, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "got -1"));
    o.edge = 0;
    o.mesher = "magic";
    assert_int_equal(talus_mesh_from_shape("sphere { radius = 1 }", &o, &m, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "\"magic\""));
    assert_int_equal(talus_mesh_read("a.txt", &m, &err), TALUS_BAD_INPUT);
    assert_int_equal(talus_mesh_read(path_of("none.obj"), &m, &err), TALUS_IO);
    assert_int_equal(talus_mesh_is_file("a.STL"), 1);
    assert_int_equal(talus_mesh_is_file("sphere { radius = 1 }"), 0);
}

/* Surface -> tets -> boundary -> tets again, through files; an open surface is explained and refused. */
static void files_to_meshes(void **state)
{
    (void)state;
    talus_mesh_options o = talus_mesh_options_default();
    talus_mesh *ball, *tets, *back, *again;
    o.edge = 0.1;
    CHECK_OK(talus_mesh_from_shape("sphere { radius = 0.5 }", &o, &ball, &err));
    CHECK_OK(talus_mesh_write(ball, path_of("ball.stl"), &err));
    talus_mesh_free(ball);
    CHECK_OK(talus_mesh_read(path_of("ball.stl"), &ball, &err));
    assert_string_equal(figure(ball, "closed"), "yes"); /* welded */
    o.kind = TALUS_MESH_TETS;
    CHECK_OK(talus_mesh_again(ball, &o, &tets, &err));
    CHECK_NEAR(strtod(figure(tets, "volume"), NULL), strtod(figure(ball, "volume"), NULL), 0.01 * 0.52);
    CHECK_OK(talus_mesh_write(tets, path_of("ball.msh"), &err));
    CHECK_OK(talus_mesh_read(path_of("ball.msh"), &back, &err));
    assert_string_equal(figure(back, "tetrahedra"), figure(tets, "tetrahedra"));
    o.edge = 0;
    CHECK_OK(talus_mesh_again(back, &o, &again, &err)); /* as they are */
    assert_string_equal(figure(again, "tetrahedra"), figure(tets, "tetrahedra"));
    talus_mesh_free(again);
    o.edge = 0.2;
    CHECK_OK(talus_mesh_again(back, &o, &again, &err));
    assert_true(atoi(figure(again, "tetrahedra")) < atoi(figure(tets, "tetrahedra")) / 4);
    talus_mesh_free(again);
    o.kind = TALUS_MESH_SURFACE;
    o.edge = 0;
    CHECK_OK(talus_mesh_again(back, &o, &again, &err)); /* the boundary */
    assert_string_equal(figure(again, "triangles"), figure(back, "boundary triangles"));
    talus_mesh_free(again);
    talus_mesh_free(back);
    talus_mesh_free(tets);
    talus_mesh_free(ball);

    FILE *f = fopen(path_of("open.obj"), "w");
    fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", f);
    fclose(f);
    CHECK_OK(talus_mesh_read(path_of("open.obj"), &ball, &err));
    assert_string_equal(figure(ball, "closed"), "no");
    assert_non_null(strstr(talus_mesh_note(ball, 0), "open edges"));
    assert_int_equal(talus_mesh_again(ball, &o, &again, &err), TALUS_BAD_INPUT);
    assert_null(again);
    talus_mesh_free(ball);
}

/* ---- gmsh ---- */

static void cube(tl_trimesh *m)
{
    static const int32_t triangles[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                             {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    CHECK_OK(tl_trimesh_create(m, 8, 12, &err));
    for (int v = 0; v < 8; v++) m->vertex[v] = (tl_vec3){v & 1, v >> 1 & 1, v >> 2};
    memcpy(m->triangle, triangles, sizeof triangles);
}

/* A program called gmsh that does this. Found first on PATH. */
static void pretend(const char *script)
{
    FILE *f = fopen(path_of("gmsh"), "w");
    fprintf(f, "#!/bin/sh\n%s\n", script);
    fclose(f);
    chmod(path_of("gmsh"), 0700);
}

static void gmsh_stand_ins(void **state)
{
    (void)state;
    char before[4096], with[8192];
    snprintf(before, sizeof before, "%s", getenv("PATH"));
    snprintf(with, sizeof with, "%s:%s", dir, before);
    tl_trimesh surface;
    tl_tetmesh m;
    cube(&surface);

    /* none */
    setenv("PATH", dir, 1);
    assert_int_equal(tl_tetmesh_gmsh(&surface, 0.5, 5, &m, &err), TALUS_UNSUPPORTED);
    assert_non_null(strstr(err.message, "Debian package gmsh"));

    setenv("PATH", with, 1);
    static const struct {
        const char *script, *says;
    } bad[] = {{"echo 'Error   : no luck today' >&2\nexit 3", "gmsh failed with status 3: Error   : no luck today"},
               {"exit 1", "it said nothing"},
               {"exit 0", "gmsh wrote no mesh"},
               {"kill -9 $$", "ended by signal 9"},
               {"echo '$MeshFormat' > \"$4\"", "tets.msh"},
               {"sleep 60 & sleep 60", "took more than 0.3 s"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pretend(bad[i].script);
        double begin = tl_seconds();
        talus_status status = tl_tetmesh_gmsh(&surface, 0.5, 0.3, &m, &err);
        if (status == TALUS_OK || !strstr(err.message, bad[i].says)) fail_msg("'%s': %s", bad[i].script, err.message);
        assert_null(m.tet);
        CHECK_LE(tl_seconds() - begin, 10); /* not the minute that the last one asks for */
    }

    /* one that works sees the surface, the size and a place to write to */
    pretend("[ \"$1 $3\" = \"-3 -o\" ] || exit 9\n"
            "d=$(dirname \"$2\")\ngrep -q 'Volume(1)' \"$2\" || exit 8\n[ $(grep -c ' 2 2 0 1 ' \"$d/surface.msh\") = "
            "12 ] || exit 7\n"
            "printf '$MeshFormat\\n2.2 0 8\\n$EndMeshFormat\\n$Nodes\\n4\\n1 0 0 0\\n2 1 0 0\\n3 0 1 0\\n4 0 0 "
            "1\\n$EndNodes\\n"
            "$Elements\\n1\\n1 4 0 1 2 3 4\\n$EndElements\\n' > \"$4\"");
    CHECK_OK(tl_tetmesh_gmsh(&surface, 0.5, 30, &m, &err));
    assert_int_equal(m.tets, 1);
    tl_tetmesh_free(&m);
    setenv("PATH", before, 1);
    tl_trimesh_free(&surface);
}

/* With gmsh installed, tets of a cube; without, the message that says how to get it. */
static void gmsh_itself(void **state)
{
    (void)state;
    tl_trimesh surface;
    tl_tetmesh m;
    cube(&surface);
    talus_status status = tl_tetmesh_gmsh(&surface, 0.3, 60, &m, &err);
    if (status == TALUS_UNSUPPORTED) {
        assert_non_null(strstr(err.message, "install the Debian package gmsh"));
        assert_non_null(strstr(err.message, "--mesher lattice"));
    } else {
        tl_tet_quality q;
        CHECK_OK(status);
        CHECK_OK(tl_tetmesh_quality(&m, &q, &err));
        CHECK_REL(q.volume, 1.0, 1e-9);
        tl_tetmesh_free(&m);
    }
    tl_trimesh_free(&surface);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shapes_to_meshes, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(shapes_by_name_and_file, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(wrong_requests, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(files_to_meshes, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(gmsh_stand_ins, make_dir, remove_dir),
        cmocka_unit_test(gmsh_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
