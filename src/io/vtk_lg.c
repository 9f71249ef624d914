#include "io/vtk_lg.h"

#include "base/alloc.h"
#include "io/vtk.h"

talus_status tl_vtk_nodes(const char *path, const tl_scene *scene, const tl_lg *lg, const tl_state *s, talus_error *err)
{
    int32_t *body = TL_NEW(int32_t, lg->surface_triangles + 1);
    const char **name = TL_NEW(const char *, scene->body_count + 1);
    talus_status status = TALUS_OK;
    if (!body || !name)
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a frame of %d triangles", lg->surface_triangles);
    if (status == TALUS_OK) {
        for (int i = 0; i < scene->body_count; i++) name[i] = scene->bodies[i].name;
        for (int b = 0; b < lg->bodies; b++)
            for (int32_t t = 0; t < lg->body[b].triangles; t++) body[lg->body[b].triangle + t] = lg->body[b].body;
        tl_vtk_poly p = {.t = s->t,
                         .points = s->lg.nodes,
                         .type = TL_NUMBER_F64,
                         .at = s->lg.q,
                         .triangles = lg->surface_triangles,
                         .triangle = (const int32_t(*)[3])lg->surface,
                         .point_arrays = 1,
                         .cell_arrays = 1,
                         .point = {{"velocity", TL_NUMBER_F64, 3, s->lg.v}},
                         .cell = {{"body", TL_NUMBER_I32, 1, body}},
                         .names = scene->body_count,
                         .name = name};
        status = tl_vtk_write(path, &p, err);
    }
    tl_free(body);
    tl_free(name);
    return status;
}
