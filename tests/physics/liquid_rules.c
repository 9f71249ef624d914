/* Rules of liquids on the grid whose numbers are chosen: each is switched off or changed, and what it is there for goes wrong. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "scene/load.h"
#include "step/accounts.h"
#include "step/grid.h"
#include "step/sim.h"

static talus_error err;

#define SLAB "periodic = {false, false, true}"
#define WATER "material = liquid { density = 1000 }"

typedef struct run {
    tl_scene *scene;
    tl_sim *sim;
    tl_liquid_rules *rules;
} run;

static run open_run(const char *text)
{
    run r;
    tl_load_options o = {.no_files = true};
    CHECK_OK(tl_scene_load_text(&r.scene, "case.lua", text, strlen(text), &o, &err));
    CHECK_OK(tl_sim_create(&r.sim, r.scene, NULL, &err));
    r.rules = &((tl_grid_kept *)r.sim->own)->rules;
    return r;
}

static void close_run(run *r)
{
    tl_sim_free(r->sim);
    tl_scene_free(r->scene);
}

static double root_mean_square(const run *r)
{
    return sqrt(2 * r->sim->report.kinetic / (1000 * r->sim->report.particle_volume));
}

typedef struct seen {
    double volume;      /* largest error of a step */
    double last;        /* the same at the end */
    double speed;       /* m/s, rms at the end */
    double early, late; /* J, largest kinetic energy of the first and the last second */
} seen;

static seen look(run *r, double seconds)
{
    seen out = {0, 0, 0, 0, 0};
    while (r->sim->state.t < seconds - 1e-9) {
        CHECK_OK(tl_sim_step(r->sim, 0, 1, &err));
        out.last = fabs(r->sim->report.volume_error);
        out.volume = fmax(out.volume, out.last);
        if (r->sim->state.t < 1) out.early = fmax(out.early, r->sim->report.kinetic);
        if (r->sim->state.t > seconds - 1) out.late = fmax(out.late, r->sim->report.kinetic);
    }
    out.speed = root_mean_square(r);
    return out;
}

/* Water at the roof of a ball falls and runs up its sides: cells at the wall that it gathers in are not air. */
#define BALL                                                                                                           \
    "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {16, 16, 16}, cell = 1 / "    \
    "16 }, fill = { { " WATER ", shape = intersect { sphere { radius = 0.42, center = {0.5, 0.5, 0.5} }, box { size "  \
    "= {2, 1, 2}, center = {0.5, 1.05, 0.5} } } } }, bodies = { { kind = 'static', shape = subtract { box { size = "   \
    "1.2 }, sphere { radius = 0.42 } }, at = {0.5, 0.5, 0.5} } } }"
static void crowds_at_round_walls(void **state)
{
    (void)state;
    double last[2];
    for (int k = 0; k < 2; k++) {
        run r = open_run(BALL);
        r.rules->surface.crowds = !k;
        last[k] = look(&r, 0.6).last;
        close_run(&r);
    }
    print_message("ball: volume %.2g %% low after 0.6 s, without the rule %.2g %%\n", 100 * last[0], 100 * last[1]);
    CHECK_LE(last[0], 0.02);
    assert_true(last[1] > 0.04);
}

/* The gap below a log on the floor. */
#define LOG                                                                                                            \
    "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {30, 12, 1}, cell = "         \
    "0.04, " SLAB " }, fill = { { " WATER                                                                              \
    ", shape = box { size = {2, 0.25, 2}, center = {0.6, 0.125, 0} } } }, bodies = { { "                               \
    "kind = 'static', shape = cylinder { radius = 0.09, height = 1 }:rotate { 90, 0, 0 }, at = {0.7, 0.09, 0} } } }"
static void gaps(void **state)
{
    (void)state;
    double worst[2];
    for (int k = 0; k < 2; k++) {
        run r = open_run(LOG);
        if (k) r.rules->surface.wedge_cells = 0;
        worst[k] = look(&r, 1).volume;
        close_run(&r);
    }
    print_message("log: volume within %.2g %%, without the rule %.2g %%\n", 100 * worst[0], 100 * worst[1]);
    CHECK_LE(worst[0], 0.005);
    assert_true(worst[1] > 0.01);
}

/* Energy that corrections and nothing else give, J: at most over its least so far. */
static double gained(run *r, double seconds)
{
    double sum = 0, least = 0, most = 0;
    while (r->sim->state.t < seconds - 1e-9) {
        CHECK_OK(tl_sim_step(r->sim, 0, 1, &err));
        const tl_accounts *a = &r->sim->report.accounts;
        sum += a->energy[TL_ENERGY_CORRECTIONS] + a->energy_unexplained;
        least = fmin(least, sum);
        most = fmax(most, sum - least);
    }
    return most;
}

/* A pool of particles that hold a fifth more than the space between them: parting them would lift it, and nothing that flows pays for that. A light box that comes up in a pool loses more than crowds are lifted by: what
 * corrections give is less than a hundredth of what is in play (8 J; 19 % of it before). */
#define POOL                                                                                                           \
    "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {24, 24, 1}, cell = 1 / "     \
    "24, " SLAB " }, fill = { { " WATER ", shape = box { size = {2, 0.6, 2}, center = {0.5, 0.3, 0} } } }"
static void corrections_are_paid_for(void **state)
{
    (void)state;
    double lifted[2];
    for (int k = 0; k < 2; k++) {
        run r = open_run(POOL " }");
        r.rules->pay = !k;
        tl_particles *p = &r.sim->state.grid.particles;
        for (int64_t i = 0; i < p->count; i++) p->particle[i].volume *= 1.2;
        CHECK_OK(tl_accounts_begin(r.sim, &err));
        lifted[k] = gained(&r, 0.5);
        close_run(&r);
    }
    run r =
        open_run(POOL ", bodies = { { shape = box { size = {0.25, 0.2, 1} }, at = {0.5, 0.2, 0}, density = 300 } } }");
    double box = gained(&r, 1);
    print_message("crowded pool: gained %.3g J, not paid for %.3g J; light box at %.2f m after 1 s: %.3g J\n",
                  lifted[0], lifted[1], r.sim->state.rigid.body[0].x.y, box);
    CHECK_LE(lifted[0], 0.02);
    assert_true(lifted[1] > 1);
    CHECK_LE(box, 0.08);
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(crowds_at_round_walls), cmocka_unit_test(gaps),
                                       cmocka_unit_test(corrections_are_paid_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
