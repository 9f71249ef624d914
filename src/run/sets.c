#include "run/sets.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/vtk.h"

#define PLACES ".position"

int tl_sets(const tl_sim *sim, char out[TL_SETS_MAX][32])
{
    int n = 0;
    for (int i = 0; i < sim->engine->view_count && n < TL_SETS_MAX; i++) {
        const char *name = sim->engine->views[i].name, *dot = strchr(name, '.');
        if (!dot || strcmp(dot, PLACES) || !strncmp(name, "particles.", 10)) continue; /* run/clouds.h writes those */
        snprintf(out[n++], sizeof out[0], "%.*s", (int)(dot - name), name);
    }
    return n;
}

talus_status tl_set_write(const char *path, const tl_sim *sim, const char *set, talus_error *err)
{
    tl_vtk_poly p = {.t = sim->state.t, .type = TL_NUMBER_F64};
    void *data[TL_VTK_ARRAYS + 1] = {0};
    int packed = 0;
    bool enough = true;
    for (int i = 0; i < sim->engine->view_count && packed < TL_VTK_ARRAYS; i++) {
        const tl_view *v = &sim->engine->views[i];
        size_t length = strlen(set);
        if (strncmp(v->name, set, length) || v->name[length] != '.') continue;
        data[packed] = tl_sim_pack(sim, v);
        enough &= data[packed] != NULL;
        p.points = tl_sim_rows(sim, v->name).count;
        if (!strcmp(v->name + length, PLACES))
            p.at = data[packed];
        else
            p.point[p.point_arrays++] = (tl_vtk_array){v->name + length + 1, v->type, v->width, data[packed]};
        packed++;
    }
    talus_status status =
        enough ? tl_vtk_write(path, &p, err) : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a frame of %.30s", set);
    for (int i = 0; i < packed; i++) tl_free(data[i]);
    return status;
}
