#include <stdio.h>
#include <string.h>
#include <talus/mesh.h>
#include <talus/program.h>

#include "commands.h"

#define SETTINGS_MAX 64

static void print_help(const cli_option *options)
{
    printf("Usage: talus mesh SHAPE|FILE --surface|--tet [--edge H] [-o FILE]\n\n"
           "A mesh of a shape, or of what a mesh file encloses, and figures that say how good it is.\n"
           "SHAPE: an expression as in scenes, the name of a shape in scenes/shapes, or a file that ends with .lua\n"
           "FILE:  a surface (.obj .ply .stl) or tetrahedra (.msh .vtk); alone, it is only checked\n\nOptions:\n");
    cli_print_options(options);
    printf("\nDihedral angles are those between two faces of a tetrahedron: the built-in mesher keeps them between 10\n"
           "and 165 degrees for any shape. It cuts sharp edges off at the size of the lattice; 'off the surface'\n"
           "says by how much.\n"
           "\nExamples:\n"
           "  talus mesh 'sphere { radius = 0.5 }' --tet -o ball.vtk\n"
           "  talus mesh rabbit --surface --edge 0.01 -o rabbit.ply\n"
           "  talus mesh scan.stl\n"
           "  talus mesh scan.stl --tet --mesher gmsh -o scan.msh\n");
}

static int fail(const talus_error *err)
{
    fprintf(stderr, "talus mesh: %s\n", err->message);
    return err->status == TALUS_BAD_INPUT ? 2 : 1;
}

static void print_mesh(const talus_mesh *m, const char *title)
{
    const char *name, *value, *note;
    printf("%s\n", cli_plain(title));
    for (int i = 0; talus_mesh_figure(m, i, &name, &value); i++) printf("  %-20s %s\n", name, value);
    for (int i = 0; (note = talus_mesh_note(m, i)); i++) printf("  note: %s\n", cli_plain(note));
}

static int finish(const talus_mesh *m, const char *path)
{
    talus_error err = {0};
    if (!path) return 0;
    if (talus_mesh_write(m, path, &err) != TALUS_OK) return fail(&err);
    fprintf(stderr, "wrote %s\n", cli_plain(path));
    return 0;
}

/* A file: what it is; then, when asked for, a mesh of it. */
static int mesh_of_file(const char *what, bool make, const talus_mesh_options *o, const char *path)
{
    talus_error err = {0};
    talus_mesh *given, *made;
    if (talus_mesh_read(what, &given, &err) != TALUS_OK) return fail(&err);
    print_mesh(given, what);
    int result = 0;
    if (!make) {
        result = finish(given, path);
    } else if (talus_mesh_again(given, o, &made, &err) != TALUS_OK) {
        result = fail(&err);
    } else {
        print_mesh(made, o->kind == TALUS_MESH_TETS ? "tetrahedra" : "surface");
        result = finish(made, path);
        talus_mesh_free(made);
    }
    talus_mesh_free(given);
    return result;
}

static int mesh_of_shape(const char *what, const talus_mesh_options *o, const char *path)
{
    talus_error err = {0};
    talus_mesh *m;
    if (talus_mesh_from_shape(what, o, &m, &err) != TALUS_OK) return fail(&err);
    print_mesh(m, what);
    int result = finish(m, path);
    talus_mesh_free(m);
    return result;
}

int cli_mesh(int argc, char **argv)
{
    const char *surface = NULL, *tet = NULL, *edge = NULL, *path = NULL, *threads = NULL, *what = NULL,
               *setting[SETTINGS_MAX], *ignored = NULL;
    talus_mesh_options o = talus_mesh_options_default();
    const cli_option options[] = {
        {"--surface", NULL, "triangles", &surface},
        {"--tet", NULL, "tetrahedra", &tet},
        {"--edge", "H", "length of edges, m (without: one at which the volume is within 1 %)", &edge},
        {"-o", "FILE", ".obj .ply .stl for surfaces, .msh .vtk for tetrahedra (without: figures only)", &path},
        {"--mesher", "NAME", "of tetrahedra: lattice (built in) or gmsh (a program of its own)", &o.mesher},
        {"--set", "KEY=VALUE", "a parameter of a shape file; may be repeated", &ignored},
        {"--threads", "N", "threads (all cores); results do not depend on it", &threads},
        {0},
    };
    bool help = false;
    argc = cli_take_settings(argc, argv, SETTINGS_MAX, setting, &o.settings);
    if (argc < 0) return 2;
    o.setting = setting;
    int status = cli_read_options(argc, argv, options, 1, &what, &help), count;
    if (status) return status;
    if (help || !what) {
        print_help(options);
        return help ? 0 : 2;
    }
    if (surface && tet) {
        fprintf(stderr, "talus mesh: --surface or --tet, not both\n");
        return 2;
    }
    bool is_file = talus_mesh_is_file(what);
    if (!surface && !tet && !is_file) {
        fprintf(stderr, "talus mesh: say what to make of '%s': --surface or --tet\n", cli_plain(what));
        return 2;
    }
    if (is_file && o.settings) {
        fprintf(stderr, "talus mesh: --set %s: a mesh file has no parameters\n", cli_plain(setting[0]));
        return 2;
    }
    if (edge && !cli_number("--edge", edge, 1e-9, 1e9, &o.edge)) return 2;
    if (threads) {
        if (!cli_integer("--threads", threads, 1, 1024, &count)) return 2;
        talus_threads_set(count);
    }
    o.kind = tet ? TALUS_MESH_TETS : TALUS_MESH_SURFACE;
    talus_error err = {0};
    if (path && (surface || tet) && talus_mesh_writable(o.kind, path, &err) != TALUS_OK) return fail(&err);
    char shapes[4096];
    if (cli_scenes_folder("shapes", shapes, sizeof shapes)) o.shapes_folder = shapes;
    return is_file ? mesh_of_file(what, surface || tet, &o, path) : mesh_of_shape(what, &o, path);
}
