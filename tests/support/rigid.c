#include "rigid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "check.h"
#include "phase/lg/step.h"
#include "saved.h"

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
    return tl_world_begin(c, log, err);
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

void rigid_close(rigid_case *c) { tl_world_close(c); }

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

int32_t rigid_number(const rigid_case *c, const char *name)
{
    return (int32_t)(rigid_body(c, name) - c->sim->state.rigid.body);
}

const tl_joint_memory *rigid_joint(const rigid_case *c, int k)
{
    const tl_joint_state *s = tl_state_find(&c->sim->state, &tl_joints_kind);
    return &s->joint[k];
}

/* Bodies, and behind them frames of elastic ones as joints see them; owned. */
static tl_motion *motions_of(const rigid_case *c)
{
    const tl_sim *sim = c->sim;
    const size_t count = (size_t)sim->rigid.count;
    tl_motion *m = calloc(count + (size_t)sim->joints.frames, sizeof *m);
    assert_non_null(m);
    memcpy(m, sim->state.rigid.body, sizeof *m * (size_t)sim->rigid.scene_count);
    if (!sim->joints.frames) return m;
    const tl_lg_grips *grips = &((const tl_lg_data *)sim->engine_data)->grips;
    for (int32_t i = 0; i < grips->count; i++) {
        const tl_lg_grip *g = &grips->grip[i];
        const tl_lg_grasp now = tl_lg_grip_at(g, tl_lg_state_of(&sim->state)->q);
        m[count + 2 * (size_t)g->joint + (size_t)g->side] = (tl_motion){.x = now.x, .q = now.q};
    }
    return m;
}

double rigid_joints_off(const rigid_case *c)
{
    tl_motion *body = motions_of(c);
    double max = 0;
    for (int32_t k = 0; k < c->sim->joints.count; k++) {
        const tl_joint *j = &c->sim->joints.joint[k];
        tl_joint_row row[TL_JOINT_ROWS];
        double turn[2];
        if (rigid_joint(c, k)->broken > 0) continue;
        tl_joint_measure(j, body, rigid_joint(c, k), row, turn);
        for (int r = 0; r < j->rows; r++) {
            if (j->law[r] == TL_ROW_HOLD && !(j->spec->compliance > 0)) max = fmax(max, fabs(row[r].x));
            if (j->law[r] == TL_ROW_LIMIT) max = fmax(max, -row[r].x);
        }
    }
    free(body);
    return max;
}

void rigid_threads_and_saves(rigid_case (*open)(void), int more)
{
    uint64_t hash[2];
    const int before = tl_threads();
    for (int threads = 1; threads <= 2; threads++) {
        tl_threads_set(threads);
        rigid_case c = open();
        check_saved_goes_on(c.sim, c.scene, 15, 0.01);
        for (int i = 0; i < more; i++) rigid_step(&c, 0.01);
        hash[threads - 1] = tl_state_hash(&c.sim->state);
        rigid_close(&c);
    }
    tl_threads_set(before);
    assert_true(hash[0] == hash[1]);
}

double rigid_normal_sum(const rigid_case *c)
{
    const tl_rigid_state *r = &c->sim->state.rigid;
    double sum = 0;
    for (int64_t k = 0; k < r->contacts; k++) sum += tl_vec3_dot(r->contact[k].force, r->contact[k].normal);
    return sum;
}
