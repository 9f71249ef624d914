/* Regular meshes of boxes: what the papers' bars and cloths are made of. Arrays are the caller's to free. */
#ifndef TL_MODEL_LG_CELLS_H
#define TL_MODEL_LG_CELLS_H

#include "model/lg/lg.h"

typedef struct tl_lg_mesh {
    int32_t vertices, elements;
    tl_vec3 *vertex;
    int32_t *element; /* [elements][corners] */
} tl_lg_mesh;

/* cells[0] x cells[1] x cells[2] cells of six tetrahedra around the diagonal from the lowest to the highest corner;
 * vertices x first. */
talus_status tl_lg_bar(tl_box3 box, const int cells[3], tl_lg_mesh *out, talus_error *err);
/* The same cells as hexahedra of eight corners. */
talus_status tl_lg_blocks(tl_box3 box, const int cells[3], tl_lg_mesh *out, talus_error *err);
/* A hexahedron as the six tetrahedra of tl_lg_bar. */
void tl_lg_split_cell(const int32_t corner[8], int32_t tet[6][4]);
/* The middle plane across axis `flat`, nu x nv squares (along the two axes that follow it) of four triangles with a
 * vertex in the middle. Normals point along the flat axis. */
talus_status tl_lg_sheet(tl_box3 box, int flat, int nu, int nv, tl_lg_mesh *out, talus_error *err);
/* m^3; of a triangle its area times the thickness. */
double tl_lg_element_volume(const tl_lg_part *p, int32_t element);

#endif
