/* Tetrahedral meshes: a lattice mesher on signed distance, files, quality, and gmsh as a separate process when it
 * is there. Tets are positively oriented: det(b-a, c-a, d-a) > 0. Simulation data on the vertices belongs to the
 * models. */
#ifndef TL_GEOM_TETMESH_H
#define TL_GEOM_TETMESH_H

#include <stddef.h>

#include "geom/trimesh.h"

typedef struct tl_tetmesh {
    int32_t vertices, tets;
    tl_vec3 *vertex;
    int32_t (*tet)[4];
    int32_t *region; /* [tets] as a file numbers them; NULL: all one */
} tl_tetmesh;

talus_status tl_tetmesh_create(tl_tetmesh *m, int32_t vertices, int32_t tets, talus_error *err);
void tl_tetmesh_free(tl_tetmesh *m); /* leaves {0} */

/* ---- the lattice mesher ---- */

/* A signed distance, negative inside: at(ctx, p) is pure, callable from any thread, and its absolute value is at
 * most the distance to the zero set. NaN counts as outside. */
typedef struct tl_field {
    double (*at)(const void *ctx, tl_vec3 p);
    const void *ctx;
} tl_field;

typedef struct tl_lattice_report {
    int32_t warped;         /* lattice vertices moved onto the surface */
    int32_t cuts;           /* vertices where lattice edges cross the surface */
    int32_t split_vertices; /* copies made where parts of the mesh touched in a point or an edge only */
    int32_t removed_tets;   /* taken away where the boundary still was no manifold: the lattice is too coarse there */
    double off_surface;     /* m; largest |distance| at a boundary triangle's centre: how much sharp edges lost */
} tl_lattice_report;

/* Isosurface stuffing on a body-centred cubic lattice [Labelle2007]: cubes of edge length `edge`, so lattice edges
 * of edge and 0.866 edge.
 *
 * Whatever the shape:
 *   - every tet is positively oriented, and its dihedral angles lie between 10.5 and 165 degrees (measured, on
 *     22e6 tets of noise at the lattice's scale: 10.8 to 164.6; tests/unit/tetmesh_stuff.c repeats some of it);
 *   - the mesh is conforming; each boundary edge has two boundary triangles and the triangles at each boundary
 *     vertex form one fan;
 *   - same bits for any thread count.
 *
 * Boundary vertices lie on the surface to 1e-9 edge. Sharp edges are cut off at the lattice's scale (off_surface
 * says by how much), and parts thinner than the lattice come out ragged, in pieces, or not at all: compare edge with
 * tl_shape_feature_size, and look at `components` of the quality. A shape of which nothing is left is refused.
 *
 * Visits only the lattice near and inside the shape. Cost: one distance per lattice vertex within an edge or two of
 * the surface, some six per crossing edge. `report` may be NULL. */
talus_status tl_tetmesh_from_field(tl_field f, tl_box3 bounds, double edge, tl_tetmesh *out, tl_lattice_report *report,
                                   talus_error *err);
talus_status tl_tetmesh_from_shape(const tl_shape_tree *t, int node, double edge, tl_tetmesh *out, talus_error *err);
talus_status tl_tetmesh_from_shape_reported(const tl_shape_tree *t, int node, double edge, tl_tetmesh *out,
                                            tl_lattice_report *report, talus_error *err);
/* An edge at which the mesh's volume is within 1 % of the shape's and its boundary needs no repair, found by
 * trying, unless that takes more than some two million tets. NaN for an unbounded shape. Costs about as much as one
 * to three meshes and a million distances. */
double tl_tetmesh_suggested_edge(const tl_shape_tree *t, int node);

/* ---- topology and quality ---- */

/* neighbour[tet][i]: the tet across the face opposite of vertex i, or -1. Refuses a face that three or more tets
 * use. */
talus_status tl_tetmesh_neighbours(const tl_tetmesh *m, int32_t (*neighbour)[4], talus_error *err);

typedef struct tl_tet_quality {
    double volume, smallest_volume;
    double dihedral_min_deg, dihedral_max_deg;
    double edge_mean, edge_min, edge_max;
    int32_t inverted;   /* volume <= 0 */
    int32_t components; /* connected by faces */
    int32_t boundary_triangles, unused_vertices;
} tl_tet_quality;
talus_status tl_tetmesh_quality(const tl_tetmesh *m, tl_tet_quality *out, talus_error *err);
/* Triangles of one tet only, counter-clockwise from outside, with the vertices they use in ascending order.
 * vertex_of [m->vertices]: vertex_of[out vertex] = tet vertex; may be NULL. */
talus_status tl_tetmesh_boundary(const tl_tetmesh *m, tl_trimesh *out, int32_t *vertex_of, talus_error *err);

/* ---- files ---- */

/* .msh (gmsh 2.2 and 4.1, ascii and binary) and .vtk (legacy unstructured grid, ascii and binary). Tets of all
 * entities are read; other elements and vertices that no tet uses are left out. Nothing in a file is trusted:
 * counts are checked against its length before memory is taken, indices against the vertices. A tet of negative
 * orientation is turned, one of no volume, with a repeated vertex or given twice is an error.
 *
 * Regions: of .msh the first physical group of a tet, or its entity where it has none; of .vtk the cell data
 * "region", "material", "CellEntityIds" or "gmsh:physical", whichever is first. */
typedef struct tl_tet_read_report {
    int32_t turned;         /* tets that were negatively oriented */
    int32_t other_elements; /* points, lines, triangles, hexahedra, ... */
    int32_t unused_vertices;
} tl_tet_read_report;
talus_status tl_tetmesh_read(tl_tetmesh *m, const char *path, talus_error *err);
talus_status tl_tetmesh_read_reported(tl_tetmesh *m, const char *path, tl_tet_read_report *report, talus_error *err);
/* The same from memory, for tests and fuzzing; `name` is shown in messages, `report` may be NULL. */
talus_status tl_tetmesh_read_msh(tl_tetmesh *m, const char *name, const char *data, size_t bytes,
                                 tl_tet_read_report *report, talus_error *err);
talus_status tl_tetmesh_read_vtk(tl_tetmesh *m, const char *name, const char *data, size_t bytes,
                                 tl_tet_read_report *report, talus_error *err);
talus_status tl_tetmesh_write(const tl_tetmesh *m, const char *path,
                              talus_error *err); /* .msh 4.1 ascii or .vtk legacy binary */

/* ---- gmsh ---- */

/* Tets inside a closed surface by the program `gmsh` from PATH, in a process of its own that is ended after `seconds`.
 * TALUS_UNSUPPORTED when there is no gmsh. */
talus_status tl_tetmesh_gmsh(const tl_trimesh *surface, double edge, double seconds, tl_tetmesh *out, talus_error *err);

#endif
