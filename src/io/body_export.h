/* Surfaces of bodies for other programs: one file per frame with everything in it.
 *
 *   ply  binary; vertices with vx vy vz (m/s) and id (of an elastic body its node, of others the vertex of their mesh), faces with body (its index)
 *   obj  one object per body, named; the format has no place for velocities
 *   vtk  .vtp, see io/vtk_rigid.h; elastic bodies are in files of their own, io/vtk_lg.h
 *
 * Elastic bodies are written as their own triangles, where the frame has them; nodes inside of a solid are left out. */
#ifndef TL_IO_BODY_EXPORT_H
#define TL_IO_BODY_EXPORT_H

#include "io/body_table.h"
#include "io/vtk_rigid.h"
#include "model/lg/lg.h"

typedef struct tl_body_scene {
    const tl_scene *scene;
    const tl_body_meshes *mesh;
    const tl_vec3 *centre; /* [bodies] of mass, in the shape's frame */
    const tl_lg *lg;       /* elastic bodies, may have none */
    const double *q, *v;   /* [nodes][3] of the frame */
    const int32_t *rank;   /* [nodes] number of a node among the surface nodes of its body; -1: inside */
} tl_body_scene;

typedef struct tl_body_format {
    const char *name, *ending; /* "vtk", "vtp" */
    talus_status (*write)(const char *path, const tl_body_scene *s, double t, const tl_body_row *rows,
                          talus_error *err);
} tl_body_format;

const tl_body_format *tl_body_format_at(int i); /* i = 0, 1, ... until NULL */

#endif
