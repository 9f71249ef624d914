#include "lab/validate/lg_world.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MOST 4000

void tl_lg_world_close(tl_lg_world *w)
{
    tl_sim_free(w->sim);
    tl_scene_free(w->scene);
    *w = (tl_lg_world){0};
}

talus_status tl_lg_world_open(tl_lg_world *w, talus_error *err, const char *format, ...)
{
    char inner[TEXT_MOST], text[TEXT_MOST + 200];
    va_list args;
    va_start(args, format);
    vsnprintf(inner, sizeof inner, format, args);
    va_end(args);
    int bytes =
        snprintf(text, sizeof text, "return scene { talus = 1, engine = 'lg', duration = 100, fps = 100, %s }", inner);
    *w = (tl_lg_world){0};
    TL_TRY(tl_scene_load_text(&w->scene, "case", text, (size_t)bytes, &(tl_load_options){.no_files = true}, err));
    talus_status status = tl_sim_create(&w->sim, w->scene, NULL, err);
    if (status != TALUS_OK) tl_lg_world_close(w);
    return status;
}

talus_status tl_lg_world_steps(tl_lg_world *w, int count, double dt, bool at_rest, talus_error *err)
{
    for (int k = 0; k < count; k++) {
        TL_TRY(tl_sim_step(w->sim, dt, INFINITY, err));
        if (at_rest) memset(w->sim->state.lg.v, 0, sizeof(double) * 3 * (size_t)w->sim->lg.nodes);
    }
    return TALUS_OK;
}

double tl_lg_world_mean(const tl_lg_world *w, int axis)
{
    const tl_lg *lg = &w->sim->lg;
    double sum = 0, mass = 0;
    for (int32_t i = 0; i < lg->nodes; i++) {
        sum += lg->mass[i] * w->sim->state.lg.q[3 * (int64_t)i + axis];
        mass += lg->mass[i];
    }
    return sum / mass;
}
