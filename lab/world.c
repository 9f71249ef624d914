#include "lab/world.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define ON_TIME 1e-9 /* of a time: what is closer is there */

static const tl_load_options alone = {.no_files = true};

void tl_world_close(tl_world *w)
{
    tl_sim_free(w->sim);
    tl_scene_free(w->scene);
    *w = (tl_world){0};
}

talus_status tl_world_begin(tl_world *w, const tl_log *log, talus_error *err)
{
    talus_status status = tl_sim_create(&w->sim, w->scene, log, err);
    if (status != TALUS_OK) tl_world_close(w);
    return status;
}

talus_status tl_world_text(tl_world *w, const char *text, const tl_load_options *load, talus_error *err)
{
    *w = (tl_world){0};
    TL_TRY(tl_scene_load_text(&w->scene, "case.lua", text, strlen(text), load ? load : &alone, err));
    return tl_world_begin(w, NULL, err);
}

talus_status tl_world_open(tl_world *w, talus_error *err, const char *format, ...)
{
    va_list args, again;
    *w = (tl_world){0};
    va_start(args, format);
    va_copy(again, args);
    int bytes = vsnprintf(NULL, 0, format, args);
    char *text = TL_NEW(char, (int64_t)bytes + 1);
    if (text) vsnprintf(text, (size_t)bytes + 1, format, again);
    va_end(again);
    va_end(args);
    talus_status status = text ? tl_world_text(w, text, NULL, err)
                               : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a scene of %d bytes", bytes);
    tl_free(text);
    return status;
}

talus_status tl_world_gallery(tl_world *w, const char *scenes, const char *name, const tl_load_options *load,
                              talus_error *err)
{
    char path[1300], shapes[1100];
    tl_load_options here = load ? *load : (tl_load_options){0};
    *w = (tl_world){0};
    if (!scenes) return TL_FAIL(err, TALUS_BAD_INPUT, "this table needs the folder of talus' scenes");
    snprintf(path, sizeof path, "%.1000s/%.80s/%.80s.lua", scenes, name, name);
    snprintf(shapes, sizeof shapes, "%.1000s/shapes", scenes);
    here.shapes_folder = shapes;
    TL_TRY(tl_scene_load(&w->scene, path, &here, err));
    return tl_world_begin(w, NULL, err);
}

talus_status tl_world_until(tl_world *w, double t, double dt, talus_error *err)
{
    while (w->sim->state.t < t * (1 - ON_TIME)) TL_TRY(tl_sim_step(w->sim, dt, t, err));
    return TALUS_OK;
}

talus_status tl_world_steps(tl_world *w, int count, double dt, talus_error *err)
{
    for (int k = 0; k < count; k++) TL_TRY(tl_sim_step(w->sim, dt, INFINITY, err));
    return TALUS_OK;
}

talus_status tl_world_frames(tl_world *w, int64_t until, talus_error *err)
{
    while (w->sim->state.frame < until) TL_TRY(tl_sim_frame(w->sim, NULL, NULL, err));
    return TALUS_OK;
}
