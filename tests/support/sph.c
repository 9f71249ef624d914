#include "sph.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

#include "base/alloc.h"
#include "base/random.h"
#include "model/rigid/motion.h"
#include "model/sph/state.h"
#include "scene/load.h"

talus_status sph_try(sph_case *c, const char *lua, const char *text, const tl_sph_options *o, talus_error *err)
{
    static char all[1 << 15];
    *c = (sph_case){0};
    int n = snprintf(all, sizeof all, "%s\nreturn scene { talus = 1, engine = 'sph', duration = 1, fps = 100, %s }\n",
                     lua ? lua : "", text);
    tl_load_options lo = {.no_files = true};
    talus_status status = tl_scene_load_text(&c->scene, "case.lua", all, (size_t)n, &lo, err);
    if (status == TALUS_OK) status = tl_rigid_create(&c->rigid, c->scene, err);
    if (status == TALUS_OK) status = tl_rigid_state_begin(&c->motion, &c->rigid, c->scene, err);
    if (status == TALUS_OK) status = tl_sph_create(&c->sph, c->scene, &c->rigid, o, err);
    if (status == TALUS_OK) status = tl_sph_state_begin(&c->state, &c->sph, c->scene, err);
    if (status != TALUS_OK) {
        sph_close(c);
        return status;
    }
    int32_t bodies = c->rigid.count;
    c->body = TL_NEW_ZERO(tl_motion, bodies + 1);
    c->inv_mass = TL_NEW_ZERO(double, bodies + 1);
    c->friction = TL_NEW_ZERO(double, bodies + 1);
    c->inv_inertia = TL_NEW_ZERO(tl_mat3, bodies + 1);
    for (int32_t i = 0; i < bodies; i++) {
        bool wall = i >= c->rigid.scene_count;
        c->body[i] = wall ? (tl_motion){.q = tl_quat_identity()} : c->motion.body[i];
        c->friction[i] = wall ? c->scene->domain.friction : c->scene->bodies[i].friction.value[0];
    }
    return TALUS_OK;
}

sph_case sph_open(const char *lua, const char *text, const tl_sph_options *o)
{
    talus_error err;
    sph_case c;
    CHECK_OK(sph_try(&c, lua, text, o, &err));
    return c;
}

void sph_close(sph_case *c)
{
    tl_arena_free(&c->arena);
    tl_sph_state_free(&c->state);
    tl_sph_free(&c->sph);
    tl_rigid_state_free(&c->motion);
    tl_rigid_free(&c->rigid);
    tl_scene_free(c->scene);
    tl_free(c->body);
    tl_free(c->inv_mass);
    tl_free(c->friction);
    tl_free(c->inv_inertia);
    *c = (sph_case){0};
}

talus_status sph_try_step(sph_case *c, double dt, talus_error *err)
{
    tl_sph_step *s = &c->step;
    tl_arena_reset(&c->arena);
    for (int32_t i = 0; i < c->rigid.count; i++) {
        if (c->rigid.body[i].kind != TL_BODY_FREE) continue;
        c->inv_mass[i] = 1 / c->rigid.body[i].mass;
        c->inv_inertia[i] = tl_rigid_inverse_inertia(&c->rigid.body[i], c->body[i].q);
    }
    const tl_sph_bodies bodies = {&c->rigid, c->body, c->inv_mass, c->inv_inertia, c->friction};
    TL_TRY(tl_sph_begin(s, &c->sph, c->scene, &c->state, &bodies, dt, &c->arena, err));
    TL_TRY(tl_sph_neighbours(s, err));
    TL_TRY(tl_sph_contacts(s, err));
    TL_TRY(tl_sph_system(s, err));
    TL_TRY(tl_sph_problem(s, &c->problem, err));
    c->x = TL_TAKE_ZERO(&c->arena, double, c->problem.space->n);
    c->r = TL_TAKE_ZERO(&c->arena, double, c->problem.space->n);
    return c->x && c->r ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the test's vectors");
}

void sph_step(sph_case *c, double dt)
{
    talus_error err;
    CHECK_OK(sph_try_step(c, dt, &err));
}

static tl_vec3 random_vector(uint64_t seed, uint64_t id, double size)
{
    return (tl_vec3){size * (2 * tl_random(seed, id, 0) - 1), size * (2 * tl_random(seed, id, 1) - 1),
                     size * (2 * tl_random(seed, id, 2) - 1)};
}

void sph_shake(sph_case *c, uint64_t seed, double length, double speed)
{
    for (int64_t i = 0; i < c->state.count; i++) {
        tl_sph_particle *p = &c->state.particle[i];
        p->x = tl_vec3_add(p->x, random_vector(seed, (uint64_t)p->id, length));
        p->v = random_vector(seed + 1, (uint64_t)p->id, speed);
    }
    for (int32_t i = 0; i < c->rigid.scene_count; i++) {
        if (c->rigid.body[i].kind == TL_BODY_STATIC) continue;
        c->body[i].x = tl_vec3_add(c->body[i].x, random_vector(seed + 2, (uint64_t)i, length));
        c->body[i].q = tl_quat_mul(tl_quat_exp(random_vector(seed + 3, (uint64_t)i, 0.1)), c->body[i].q);
        c->body[i].v = random_vector(seed + 4, (uint64_t)i, speed);
        c->body[i].w = random_vector(seed + 5, (uint64_t)i, 10 * speed);
    }
}

void sph_random_x(sph_case *c, uint64_t seed, double pressure, double force)
{
    int64_t n = c->problem.space->n, pressures = c->step.fluid + c->step.contacts;
    for (int64_t i = 0; i < n; i++)
        c->x[i] = i < pressures ? pressure * tl_random(seed, (uint64_t)i, 0)
                                : force * (2 * tl_random(seed, (uint64_t)i, 0) - 1);
}
