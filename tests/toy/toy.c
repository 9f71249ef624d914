/* The smallest engine: a point that falls on a floor at y = 0 and bounces, without loss. It is what
 * docs/architecture.md builds step by step: this folder and one line in scene/engines.def are all that it takes to
 * have it in scenes, checkpoints, views, frames and reports. */
#include <math.h>

#include "base/alloc.h"
#include "phase/accounts/accounts.h"

#define MASS 2.0
#define LONGEST 0.01 /* s */

/* ---- what it remembers ---- */

typedef struct toy_point {
    tl_vec3 x, v;
} toy_point;

typedef struct toy_state {
    int64_t points;
    toy_point *point;
} toy_state;

static int parts(void *section, tl_state_part *out)
{
    toy_state *s = section;
    out[0] = (tl_state_part){"toy/point", TL_NUMBER_F64, 6, sizeof(toy_point), 0, &s->points, (void **)&s->point, NULL};
    return 1;
}

static void free_section(void *section) { tl_free(((toy_state *)section)->point); }

static talus_status check(const void *section, const tl_scene *scene, int32_t bodies, const char *path,
                          talus_error *err)
{
    (void)scene;
    (void)bodies;
    const toy_state *s = section;
    if (s->point->x.y >= 0) return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the point is at %g m, below the floor", path, s->point->x.y);
}

static const tl_state_kind kind = {"toy", sizeof(toy_state), parts, free_section, check, NULL};

/* ---- what others see of it ---- */

static tl_rows points(const tl_sim *sim)
{
    const toy_state *s = tl_state_find(&sim->state, &kind);
    return (tl_rows){s->point, sizeof *s->point, s->points};
}

static const tl_view views[] = {
    {"points.position", TL_NUMBER_F64, 3, offsetof(toy_point, x), points, NULL},
    {"points.velocity", TL_NUMBER_F64, 3, offsetof(toy_point, v), points, NULL},
};

static talus_status measure(tl_sim *sim, tl_totals *t, talus_error *err)
{
    (void)err;
    const toy_state *s = tl_state_find(&sim->state, &kind);
    tl_totals_add_point(t, MASS, s->point->x, s->point->v, sim->scene->gravity);
    return TALUS_OK;
}

/* ---- the step ---- */

static talus_status begin(tl_sim *sim, talus_error *err)
{
    toy_state *s = tl_state_add(&sim->state, &kind);
    for (int i = 0; i < sim->scene->body_count; i++)
        if (sim->scene->bodies[i].kind != TL_BODY_STATIC)
            return TL_FAIL(err, TALUS_BAD_INPUT, "engine \"toy\" has a floor and no other bodies");
    TL_TRY(tl_rigid_create(&sim->rigid, sim->scene, err));
    TL_TRY(tl_rigid_state_begin(&sim->state.rigid, &sim->rigid, sim->scene, err));
    if (!s || !(s->point = TL_NEW_ZERO(toy_point, 1))) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a point");
    s->points = 1;
    s->point->x.y = 1;
    return TALUS_OK;
}

static void end(tl_sim *sim) { (void)sim; }

static double dt_wanted(const tl_sim *sim)
{
    (void)sim;
    return LONGEST;
}

/* Free fall is exact; a bounce turns the velocity round at the moment it happens. */
static toy_point fly(toy_point p, double g, double dt)
{
    while (dt > 0) {
        double root = sqrt(p.v.y * p.v.y + 2 * g * p.x.y), lands = (p.v.y + root) / g, time = fmin(dt, lands);
        p.x.y += time * (p.v.y - 0.5 * g * time);
        p.v.y -= g * time;
        dt -= time;
        if (time == lands) p.x.y = 0, p.v.y = -p.v.y;
    }
    return p;
}

static talus_status step(tl_sim *sim, double dt, bool *again, talus_error *err)
{
    toy_state *s = tl_state_find(&sim->state, &kind);
    double g = -sim->scene->gravity.y;
    toy_point now = *s->point, next = fly(now, g, dt);
    if (!(g > 0)) return TL_FAIL(err, TALUS_BAD_INPUT, "engine \"toy\" needs gravity along -y, got %g", -g);
    tl_totals t = {0};
    tl_totals_add_point(&t, MASS, next.x, next.v, sim->scene->gravity);
    sim->report = (tl_report){.kinetic = t.kinetic,
                              .potential = t.potential,
                              .momentum = t.momentum,
                              .angular_momentum = t.angular,
                              .particles = 1,
                              .fastest = tl_vec3_norm(next.v)};
    tl_accounts_fixed(sim, (tl_vec3){0, MASS * (next.v.y - now.v.y + g * dt), 0}, (tl_vec3){0, 0, 0});
    TL_TRY(tl_accounts_end(sim, dt, sim->state.rigid.body, again, err));
    *s->point = next;
    return TALUS_OK;
}

extern const tl_engine_entry tl_engine_toy; /* in scene/engines.def */
const tl_engine_entry tl_engine_toy = {begin, end, dt_wanted, step, measure, NULL, views, 2, NULL};
