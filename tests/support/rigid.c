#include "rigid.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "scene/load.h"

static const char *const defaults[][2] = {
    {"talus", "1"}, {"engine", "'grid'"}, {"duration", "100"}, {"fps", "100"}, {"dt_max", "0.01"}};

static size_t write_scene(char *out, size_t room, const char *lua, const char *text)
{
    size_t n = (size_t)snprintf(out, room, "%s\nreturn scene { %s", lua ? lua : "", text);
    for (int k = 0; k < 5; k++)
        if (!strstr(text, defaults[k][0]))
            n += (size_t)snprintf(out + n, room - n, ", %s = %s", defaults[k][0], defaults[k][1]);
    n += (size_t)snprintf(out + n, room - n, " }\n");
    return n;
}

talus_status rigid_try(rigid_case *c, const tl_log *log, const char *lua, const char *text, talus_error *err)
{
    static char all[1 << 16];
    *c = (rigid_case){0};
    size_t bytes = write_scene(all, sizeof all, lua, text);
    tl_load_options o = {.no_files = true};
    TL_TRY(tl_scene_load_text(&c->scene, "case.lua", all, bytes, &o, err));
    talus_status status = tl_sim_create(&c->sim, c->scene, log, err);
    if (status != TALUS_OK) rigid_close(c);
    return status;
}

rigid_case rigid_open(const char *lua, const char *text, ...)
{
    static char filled[1 << 15];
    talus_error err;
    rigid_case c;
    va_list args;
    va_start(args, text);
    vsnprintf(filled, sizeof filled, text, args);
    va_end(args);
    CHECK_OK(rigid_try(&c, NULL, lua, filled, &err));
    return c;
}

void rigid_close(rigid_case *c)
{
    tl_sim_free(c->sim);
    tl_scene_free(c->scene);
    *c = (rigid_case){0};
}

void rigid_step(rigid_case *c, double dt)
{
    talus_error err;
    CHECK_OK(tl_sim_step(c->sim, dt, INFINITY, &err));
}

void rigid_run(rigid_case *c, double seconds)
{
    double until = c->sim->state.t + seconds;
    talus_error err;
    while (c->sim->state.t < until) CHECK_OK(tl_sim_step(c->sim, 0.01, until, &err));
}

const tl_motion *rigid_body(const rigid_case *c, const char *name)
{
    for (int i = 0; i < c->scene->body_count; i++)
        if (!strcmp(c->scene->bodies[i].name, name)) return &c->sim->state.rigid.body[i];
    fail_msg("no body \"%s\"", name);
    return NULL;
}

double rigid_normal_sum(const rigid_case *c)
{
    const tl_rigid_state *r = &c->sim->state.rigid;
    double sum = 0;
    for (int64_t k = 0; k < r->contacts; k++) sum += tl_vec3_dot(r->contact[k].force, r->contact[k].normal);
    return sum;
}
