/* Meshes: surfaces and tetrahedra of shapes and of mesh files, with figures that say how good they are.
 *
 *     talus_mesh *m;
 *     talus_mesh_options o = talus_mesh_options_default();
 *     o.kind = TALUS_MESH_TETS;
 *     talus_mesh_from_shape("torus { ring_radius = 0.3, tube_radius = 0.1 }", &o, &m, &err);
 *     talus_mesh_write(m, "torus.vtk", &err);
 *     talus_mesh_free(m); */
#ifndef TALUS_MESH_H
#define TALUS_MESH_H

#include <talus/export.h>
#include <talus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct talus_mesh talus_mesh;

typedef enum talus_mesh_kind {
    TALUS_MESH_SURFACE, /* closed, oriented triangles; files .obj .ply .stl */
    TALUS_MESH_TETS     /* files .msh (gmsh 2.2 and 4.1) .vtk (legacy) */
} talus_mesh_kind;

typedef struct talus_mesh_options {
    talus_mesh_kind kind;
    double edge;               /* m; 0: chosen so that the volume is within 1 % */
    const char *mesher;        /* of tets: "lattice" (built in) or "gmsh" (a separate program) */
    double gmsh_seconds;       /* gmsh is ended after this */
    const char *shapes_folder; /* where shapes are found by name: NAME.lua; NULL: nowhere */
    int settings;              /* parameters of a shape file: "height=0.5" */
    const char *const *setting;
} talus_mesh_options;

TALUS_API talus_mesh_options talus_mesh_options_default(void);

/* `shape` is an expression as in scenes ("sphere { radius = 0.5 }"), the name of a shape in shapes_folder, or a
 * path that ends with .lua. */
TALUS_API talus_status talus_mesh_from_shape(const char *shape, const talus_mesh_options *options, talus_mesh **out,
                                             talus_error *err);

/* A mesh file of either kind, as it is: wrong surfaces (open, inverted, ...) are read, and explained in the notes. */
TALUS_API talus_status talus_mesh_read(const char *path, talus_mesh **out, talus_error *err);
/* 1 when the name ends like a mesh file's. */
TALUS_API int talus_mesh_is_file(const char *path);

/* A new mesh of what `m` encloses. Surface of tets without an edge: their boundary. Refuses a surface that encloses
 * nothing. */
TALUS_API talus_status talus_mesh_again(const talus_mesh *m, const talus_mesh_options *options, talus_mesh **out,
                                        talus_error *err);

TALUS_API void talus_mesh_free(talus_mesh *m);

/* Format by the name's ending. The second only says whether a mesh of this kind could be written so. */
TALUS_API talus_status talus_mesh_write(const talus_mesh *m, const char *path, talus_error *err);
TALUS_API talus_status talus_mesh_writable(talus_mesh_kind kind, const char *path, talus_error *err);

/* What is known about it, one figure per i = 0, 1, ... until 0 is returned: "volume", "0.5236 m^3 (-0.3 % against
 * the shape's)". Texts live as long as the mesh. */
TALUS_API int talus_mesh_figure(const talus_mesh *m, int i, const char **name, const char **value);
/* What a user should know, one sentence per i; NULL at the end. */
TALUS_API const char *talus_mesh_note(const talus_mesh *m, int i);

/* The arrays, valid until the mesh is freed. vertex: x y z each; element: 3 (triangles) or 4 (tets) vertices each. */
TALUS_API talus_mesh_kind talus_mesh_kind_of(const talus_mesh *m);
TALUS_API const double *talus_mesh_vertices(const talus_mesh *m, int *count);
TALUS_API const int *talus_mesh_elements(const talus_mesh *m, int *count);

#ifdef __cplusplus
}
#endif
#endif
