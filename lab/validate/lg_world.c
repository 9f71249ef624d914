#include "lab/validate/lg_world.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 4000

talus_status tl_lg_world_open(tl_lg_world *w, talus_error *err, const char *format, ...)
{
    char inner[TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(inner, sizeof inner, format, args);
    va_end(args);
    return tl_world_open(w, err, "return scene { talus = 1, engine = 'lg', duration = 100, fps = 100, %s }", inner);
}

talus_status tl_lg_world_steps(tl_lg_world *w, int count, double dt, bool at_rest, talus_error *err)
{
    for (int k = 0; k < count; k++) {
        TL_TRY(tl_sim_step(w->sim, dt, INFINITY, err));
        if (at_rest) memset(tl_lg_state_of(&w->sim->state)->v, 0, sizeof(double) * 3 * (size_t)w->sim->lg.nodes);
    }
    return TALUS_OK;
}

double tl_lg_world_mean(const tl_lg_world *w, int axis)
{
    const tl_lg *lg = &w->sim->lg;
    double sum = 0, mass = 0;
    for (int32_t i = 0; i < lg->nodes; i++) {
        sum += lg->mass[i] * tl_lg_state_of(&w->sim->state)->q[3 * (int64_t)i + axis];
        mass += lg->mass[i];
    }
    return sum / mass;
}
