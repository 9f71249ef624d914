/* Rigid bodies and their contacts as VTK files.
 *
 * Bodies: one surface of all of them at their poses. A box is its twelve triangles, a sphere a fine polyhedron,
 * anything else is marched, once per shape; the many bodies of a large scene get coarser surfaces. Half-spaces have
 * none, nor have elastic bodies of the lg engine (io/vtk_lg.h). Cells carry `body` (index in the scene; `names` in the
 * field data), points `velocity`.
 *
 * Contacts: a cloud of the points of the last step with `normal` (out of the second body into the first), `force`
 * (on the first, N, mean over the step), `gap` (m, negative: overlap), `bodies` (two indices; those from the scene's
 * count on are the domain's walls).
 *
 * Joints: a cloud of the places of all of them with `force` on the first body and `torque` about the place (N, N m, mean
 * over the step), `coordinate` and `speed` (m or rad), `motor` (N or N m), `kind` (0 fixed, 1 ball, 2 hinge, ... as
 * docs/running.md lists them), `broken` (0 or 1) and `bodies` (two indices; -1: the world); `names` in the field data. */
#ifndef TL_IO_VTK_RIGID_H
#define TL_IO_VTK_RIGID_H

#include "geom/trimesh.h"
#include "model/contact_row.h"
#include "model/state.h"

typedef struct tl_body_meshes {
    int count;
    tl_trimesh *mesh; /* [count] one per shape, in its frame */
    int *of_body;     /* [scene's bodies] its mesh, -1: none */
} tl_body_meshes;

talus_status tl_body_meshes_create(tl_body_meshes *out, const tl_scene *s, talus_error *err);
void tl_body_meshes_free(tl_body_meshes *m); /* leaves {0} */

/* The surface of all bodies at their poses, as frames have it. */
typedef struct tl_body_surface {
    int64_t points, triangles;
    float (*at)[3], (*velocity)[3]; /* m, m/s */
    int32_t (*triangle)[3], *body;  /* points; [triangles] of the scene */
} tl_body_surface;
talus_status tl_body_surface_make(tl_body_surface *out, const tl_body_meshes *m, const tl_scene *scene,
                                  const tl_rigid *rigid, const tl_state *s, talus_error *err);
void tl_body_surface_free(tl_body_surface *f); /* leaves {0} */

talus_status tl_vtk_bodies(const char *path, const tl_body_meshes *m, const tl_scene *scene, const tl_rigid *rigid,
                           const tl_state *s, talus_error *err);
talus_status tl_vtk_joints(const char *path, const tl_scene *scene, const tl_state *s, talus_error *err);
talus_status tl_vtk_contacts(const char *path, double t, int64_t contacts, const tl_contact_row *row, talus_error *err);

#endif
