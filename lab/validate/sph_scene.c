#include "lab/validate/sph_scene.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "lab/world.h"

#define TEXT_ROOM 8192

talus_status sph_run_begin(sph_run *r, double dt, talus_error *err, const char *text, ...)
{
    char lua[TEXT_ROOM];
    va_list args;
    *r = (sph_run){.dt = dt};
    va_start(args, text);
    vsnprintf(lua, sizeof lua, text, args);
    va_end(args);
    tl_world w;
    TL_TRY(tl_world_text(&w, lua, NULL, err));
    *r = (sph_run){w.scene, w.sim, dt};
    return TALUS_OK;
}

void sph_run_end(sph_run *r)
{
    tl_world_close(&(tl_world){r->scene, r->sim});
    *r = (sph_run){0};
}

talus_status sph_run_until(sph_run *r, double t, void (*each)(void *user, const sph_run *r), void *user,
                           talus_error *err)
{
    while (r->sim->state.t < t) {
        TL_TRY(tl_sim_step(r->sim, r->dt, t, err));
        if (each) each(user, r);
    }
    return TALUS_OK;
}

double sph_tilt_deg(const sph_run *r, int body, tl_vec3 axis)
{
    tl_vec3 was = tl_quat_rotate(tl_quat_normalize(r->scene->bodies[body].rotation), axis);
    tl_vec3 is = tl_quat_rotate(sph_body(r, body)->q, axis);
    return atan2(tl_vec3_norm(tl_vec3_cross(was, is)), tl_vec3_dot(was, is)) * 180 / 3.14159265358979;
}
