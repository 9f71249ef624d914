/* Elastic bodies for pictures: surfaces with smooth normals, whatever the state.
 *
 * A body that was meshed from a shape is drawn as the shape's own fine surface, which is tied to the tetrahedra and
 * bends with them; so eyes and edges are as sharp as in the shape's portrait. Boxes of regular cells and cloth show
 * their own triangles. Topology stays over a run: a film makes surfaces once and then only moves them. */
#ifndef TL_RUN_SOFTS_H
#define TL_RUN_SOFTS_H

#include "model/lg/lg.h"
#include "render/scene_picture.h"

typedef struct tl_softs {
    int count;
    tl_scene_soft *soft; /* [count] for tl_scene_picture_options */
    struct tl_soft_skin *skin;
    const tl_lg *lg;
    tl_mat3 *turn;  /* [nodes] cofactor of the deformation around a node */
    double *strain; /* [nodes][2] sum of strain times volume, of volumes; NULL: not shown */
} tl_softs;

/* The surfaces at the start. *out is to be freed whatever is returned. */
talus_status tl_softs_create(tl_softs *out, const tl_scene *s, const tl_lg *lg, talus_error *err);
void tl_softs_pose(tl_softs *f, const double *q); /* q [nodes][3] */
void tl_softs_free(tl_softs *f);                  /* leaves {0} */

#endif
