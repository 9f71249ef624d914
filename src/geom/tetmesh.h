/* Tetrahedral meshes: a lattice mesher on signed distance, files, quality. Tets are positively oriented: det(b-a, c-a, d-a) > 0. */
#ifndef TL_GEOM_TETMESH_H
#define TL_GEOM_TETMESH_H

#include "geom/trimesh.h"

typedef struct tl_tetmesh {
    int32_t vertices, tets;
    tl_vec3 *vertex;
    int32_t (*tet)[4];
} tl_tetmesh;

talus_status tl_tetmesh_create(tl_tetmesh *m, int32_t vertices, int32_t tets, talus_error *err);
void tl_tetmesh_free(tl_tetmesh *m);

/* Isosurface stuffing style on a body-centred cubic lattice [Labelle2007]. Sharp edges are rounded at the lattice's scale; the report says by how much. */
talus_status tl_tetmesh_from_shape(const tl_shape_tree *t, int node, double edge, tl_tetmesh *out, talus_error *err);

talus_status tl_tetmesh_read(tl_tetmesh *m, const char *path, talus_error *err); /* .msh (gmsh 2.2 and 4.1, ascii and binary), .vtk (legacy, ascii and binary) */
talus_status tl_tetmesh_read_msh(tl_tetmesh *m, const char *name, const char *data, size_t bytes, talus_error *err);
talus_status tl_tetmesh_read_vtk(tl_tetmesh *m, const char *name, const char *data, size_t bytes, talus_error *err);
talus_status tl_tetmesh_write(const tl_tetmesh *m, const char *path, talus_error *err);  /* .msh 4.1 ascii or .vtk legacy binary */

typedef struct tl_tet_quality {
    double volume, smallest_volume;
    double dihedral_min_deg, dihedral_max_deg;
    double edge_mean, edge_min, edge_max;
    int32_t inverted;          /* volume <= 0 */
    int32_t components, boundary_triangles, unused_vertices;
} tl_tet_quality;
talus_status tl_tetmesh_quality(const tl_tetmesh *m, tl_tet_quality *out, talus_error *err);
talus_status tl_tetmesh_boundary(const tl_tetmesh *m, tl_trimesh *out, int32_t *vertex_of, talus_error *err); /* vertex_of[out vertex] = tet vertex; may be NULL */

#endif
