/* Triangle meshes: plain arrays, files, checks, mass properties.
 *
 * Triangles are counter-clockwise seen from outside. Readers take OBJ, PLY (ascii, binary little and big
 * endian) and STL (ascii, binary); polygons are cut into triangles. Readers trust nothing: sizes are checked
 * against the file's length before memory is taken, indices against the vertex count, and a wrong file gives a
 * message with file and line (or byte). */
#ifndef TL_GEOM_TRIMESH_H
#define TL_GEOM_TRIMESH_H

#include <stddef.h>

#include "geom/shape.h"

typedef struct tl_trimesh {
    int32_t vertices, triangles;
    tl_vec3 *vertex;        /* [vertices] */
    int32_t (*triangle)[3]; /* [triangles] */
} tl_trimesh;

talus_status tl_trimesh_create(tl_trimesh *m, int32_t vertices, int32_t triangles, talus_error *err);
void tl_trimesh_free(tl_trimesh *m); /* leaves {0} */
talus_status tl_trimesh_copy(tl_trimesh *m, const tl_trimesh *from, talus_error *err);
/* Vertices that no triangle uses are left out, the others keep their order. */
talus_status tl_trimesh_drop_unused(tl_trimesh *m, talus_error *err);
tl_box3 tl_trimesh_bounds(const tl_trimesh *m);

/* The format goes by the name's ending, else by the content. */
talus_status tl_trimesh_read(tl_trimesh *m, const char *path, talus_error *err);
/* The same from memory, for tests and fuzzing; `name` is shown in messages. STL is welded: its triangles do
 * not share vertices in the file. OBJ groups, materials, normals and texture coordinates are passed over. */
talus_status tl_trimesh_read_obj(tl_trimesh *m, const char *name, const char *data, size_t bytes, talus_error *err);
talus_status tl_trimesh_read_ply(tl_trimesh *m, const char *name, const char *data, size_t bytes, talus_error *err);
talus_status tl_trimesh_read_stl(tl_trimesh *m, const char *name, const char *data, size_t bytes, talus_error *err);
/* .obj and .ply (binary) keep every bit; .stl (binary) rounds to float. The file is complete or absent. */
talus_status tl_trimesh_write(const tl_trimesh *m, const char *path, talus_error *err);

/* Merge vertices at the same place (exactly, or within `distance`); drops triangles that vanish. */
talus_status tl_trimesh_weld(tl_trimesh *m, double distance, talus_error *err);

typedef struct tl_trimesh_report {
    int32_t components;        /* connected by edges */
    int32_t open_edges;        /* used by one triangle */
    int32_t nonmanifold_edges; /* used by three or more */
    int32_t flipped_edges;     /* both neighbours run the same way along it */
    int32_t nonmanifold_vertices;
    int32_t degenerate;         /* zero-area or repeated vertex */
    int32_t duplicate;          /* same three vertices */
    int32_t self_intersections; /* pairs of triangles that cut each other */
    int32_t unused_vertices;
    bool inverted; /* closed, but the volume is negative: normals point inwards */
    bool closed;   /* no open, non-manifold or flipped edge */
    tl_box3 bounds;
    double area, volume;
} tl_trimesh_report;
talus_status tl_trimesh_check(const tl_trimesh *m, tl_trimesh_report *out, talus_error *err);
/* One plain sentence per problem ("12 open edges: the surface has holes"); returns how many, at most `max`. */
int tl_trimesh_explain(const tl_trimesh_report *r, int max, char (*line)[160]);

tl_mass tl_trimesh_mass(const tl_trimesh *m); /* exact for a closed polyhedron, density 1 */

#endif
