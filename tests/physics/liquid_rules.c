/* Rules of liquids on the grid whose numbers are chosen: each is switched off or changed, and what it is there for
 * goes wrong. */
#include "check.h"

#include <stdio.h>

#include "io/snapshot.h"
#include "lab/world.h"
#include "phase/accounts/accounts.h"
#include "phase/grid/grid.h"

static talus_error err;

#define SLAB "periodic = {false, false, true}"
#define WATER "material = liquid { density = 1000 }"

typedef struct run {
    tl_world w;
    tl_liquid_rules *rules;
} run;

static run open_run(const char *text)
{
    run r;
    CHECK_OK(tl_world_text(&r.w, text, NULL, &err));
    r.rules = &((tl_grid_data *)r.w.sim->engine_data)->flow.rules;
    return r;
}

static double root_mean_square(const run *r)
{
    return sqrt(2 * r->w.sim->report.kinetic / (1000 * r->w.sim->report.particle_volume));
}

typedef struct seen {
    double volume;      /* largest error of a step */
    double last;        /* the same at the end */
    double speed;       /* m/s, rms at the end */
    double early, late; /* J, largest kinetic energy of the first and the last two seconds */
    double rise;        /* J, of all energy above that of the first frame */
    int64_t sweeps, steps;
} seen;

static bool after_step(void *user, const tl_sim *sim)
{
    seen *out = user;
    out->last = fabs(sim->report.volume_error);
    out->volume = fmax(out->volume, out->last);
    out->sweeps += sim->report.sweeps;
    out->steps++;
    return false;
}

static seen look(run *r, double seconds)
{
    seen out = {0};
    double first = NAN;
    while (r->w.sim->state.t < seconds - 1e-9) {
        CHECK_OK(tl_sim_frame(r->w.sim, after_step, &out, &err));
        const double t = r->w.sim->state.t, k = r->w.sim->report.kinetic, e = k + r->w.sim->report.potential;
        if (t < 2) out.early = fmax(out.early, k);
        if (t > seconds - 2) out.late = fmax(out.late, k);
        if (isnan(first)) first = e;
        out.rise = fmax(out.rise, e - first);
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
        tl_world_close(&r.w);
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
        tl_world_close(&r.w);
    }
    print_message("log: volume within %.2g %%, without the rule %.2g %%\n", 100 * worst[0], 100 * worst[1]);
    CHECK_LE(worst[0], 0.001);
    assert_true(worst[1] > 0.005);
}

/* Energy that corrections and nothing else give, J: at most over its least so far. */
static double gained(run *r, double seconds)
{
    double sum = 0, least = 0, max = 0;
    while (r->w.sim->state.t < seconds - 1e-9) {
        CHECK_OK(tl_sim_step(r->w.sim, 0, 1, &err));
        const tl_accounts *a = &r->w.sim->report.accounts;
        sum += a->energy[TL_ENERGY_CORRECTIONS] + a->energy_unexplained;
        least = fmin(least, sum);
        max = fmax(max, sum - least);
    }
    return max;
}

/* A pool of particles that hold a fifth more than the space between them: parting them would lift it, and nothing
 * that flows pays for that. A light box that comes up in a pool loses more than crowds are lifted by: what
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
        tl_particles *p = &tl_grid_state_of(&r.w.sim->state)->particles;
        for (int64_t i = 0; i < p->count; i++) p->particle[i].volume *= 1.2;
        CHECK_OK(tl_accounts_begin(r.w.sim, &err));
        lifted[k] = gained(&r, 0.5);
        tl_world_close(&r.w);
    }
    run r =
        open_run(POOL ", bodies = { { shape = box { size = {0.25, 0.2, 1} }, at = {0.5, 0.2, 0}, density = 300 } } }");
    double box = gained(&r, 1);
    print_message("crowded pool: gained %.3g J, not paid for %.3g J; light box at %.2f m after 1 s: %.3g J\n",
                  lifted[0], lifted[1], r.w.sim->state.rigid.body[0].x.y, box);
    CHECK_LE(lifted[0], 0.02);
    assert_true(lifted[1] > 1);
    CHECK_LE(box, 0.08);
    tl_world_close(&r.w);
}

/* Water at a surface goes with the water below it: two layers far, where kernels reach it. On its own it falls in
 * every step, corrections lift it again, and waves grow. */
static const char *wave_text(char *text, size_t room, int fps)
{
    int at = snprintf(text, room,
                      "return scene { talus = 1, engine = 'grid', duration = 20, fps = %d, grid = { cells = {24, 24, "
                      "1}, cell = 1 / 24, " SLAB " }, fill = { { " WATER ", shape = extrude { height = 2, rotation_deg "
                      "= {90, 0, 0}, profile = { {0, 0}, {1, 0}",
                      fps);
    for (int k = 32; k >= 0; k--)
        at += snprintf(text + at, room - (size_t)at, ", {%.6f, %.6f}", k / 32.0,
                       -0.4 - 0.02 * cos(2 * 3.14159265358979 * k / 32));
    snprintf(text + at, room - (size_t)at, " } } } } }");
    return text;
}

static void surfaces_go_along(void **state)
{
    (void)state;
    char text[4096];
    double grown[3];
    for (int k = 0; k < 3; k++) {
        run r = open_run(wave_text(text, sizeof text, 50));
        if (k == 1) r.rules->surround_layers = 0;
        if (k == 2) r.rules->kernel_reach = 0;
        seen s = look(&r, 5);
        grown[k] = s.late / s.early;
        tl_world_close(&r.w);
    }
    print_message("wave: kinetic energy %.2f of its start, without layers %.2f, without reach %.2f\n", grown[0],
                  grown[1], grown[2]);
    CHECK_LE(grown[0], 1);
    assert_true(grown[1] > 1.2 && grown[2] > 1.2);
}

/* Steps of a quarter of sqrt(dx / g): in longer ones waves gain energy. */
static void steps_resolve_waves(void **state)
{
    (void)state;
    char text[4096];
    double rise[2];
    for (int k = 0; k < 2; k++) {
        run r = open_run(wave_text(text, sizeof text, 10));
        if (k) r.rules->gravity_step = 1;
        seen s = look(&r, 6);
        rise[k] = s.rise / s.early;
        tl_world_close(&r.w);
    }
    print_message("wave: energy rises by %.2g of its motion, in longer steps by %.2g\n", rise[0], rise[1]);
    CHECK_LE(rise[0], 1e-3);
    assert_true(rise[1] > 0.01);
}

/* A drop that flies over a pool does not set its step, and flies as it does in shorter ones. */
static void drops_go_further(void **state)
{
    (void)state;
    const double v = 6, seconds = 0.2, height = 0.15 + v * seconds - 0.5 * 9.81 * seconds * seconds;
    double top[2] = {0, 0}, volume[2];
    int64_t steps[2];
    for (int k = 0; k < 2; k++) {
        run r = open_run("return scene { talus = 1, engine = 'grid', duration = 1, fps = 10, grid = { cells = {30, "
                         "150, 1}, cell = 0.01, " SLAB " }, fill = { { " WATER ", shape = box { size = {2, 0.1, 2}, "
                         "center = {0.15, 0.05, 0} } }, { " WATER ", velocity = {0, 6, 0}, shape = box { size = "
                         "{0.005, 0.005, 2}, center = {0.1525, 0.15, 0} } } } }");
        if (k) r.rules->drop_way = 1;
        seen s = look(&r, seconds);
        steps[k] = s.steps;
        volume[k] = s.volume;
        const tl_particles *p = &tl_grid_state_of(&r.w.sim->state)->particles;
        for (int64_t i = 0; i < p->count; i++) top[k] = fmax(top[k], p->particle[i].x.y);
        tl_world_close(&r.w);
    }
    print_message("drop: %lld steps, by the same rule as the liquid %lld; %.4f and %.4f m high, should be %.4f\n",
                  (long long)steps[0], (long long)steps[1], top[0], top[1], height);
    assert_true(1.3 * (double)steps[0] < (double)steps[1]);
    for (int k = 0; k < 2; k++) {
        CHECK_LE(fabs(top[k] - height), 0.01);
        CHECK_LE(volume[k], 0.01);
    }
}

/* Faces whose centre is in a solid go with their neighbours. */
#define BOWL                                                                                                           \
    "return scene { talus = 1, engine = 'grid', duration = 2, fps = 50, grid = { cells = {20, 20, 1}, cell = "         \
    "0.05, " SLAB " }, fill = { { " WATER                                                                              \
    ", shape = intersect { cylinder { radius = 0.42, height = 2, rotation_deg = {90, 0, "                              \
    "0}, center = {0.5, 0.5, 0} }, box { size = {2, 0.45, 2}, center = {0.5, 0.225, 0} } } } }, bodies = { { kind = "  \
    "'static', shape = subtract { box { size = {1.2, 1.2, 1}, center = {0, -0.1, 0} }, cylinder { radius = 0.42, "     \
    "height = 2, rotation_deg = {90, 0, 0} } }, at = {0.5, 0.5, 0} } } }"
static void slivers_go_along(void **state)
{
    (void)state;
    double speed[3];
    for (int k = 0; k < 3; k++) {
        run r = open_run(BOWL);
        if (k) r.rules->closed = 0.25 * (k - 1);
        speed[k] = look(&r, 1).speed;
        tl_world_close(&r.w);
    }
    print_message("bowl: %.2g mm/s, without the rule %.2g mm/s, with a quarter %.2g mm/s\n", 1e3 * speed[0],
                  1e3 * speed[1], 1e3 * speed[2]);
    CHECK_LE(speed[0], 1e-3);
    assert_true(speed[1] > 5e-3 && speed[2] > 5e-3);
}

/* Crowds of less than a tenth part as fast as the flow strains them: else noise of the sampling keeps a pool moving. */
static void rest_is_left_alone(void **state)
{
    (void)state;
    double speed[2];
    for (int k = 0; k < 2; k++) {
        run r = open_run("return scene { talus = 1, engine = 'grid', duration = 2, fps = 50, grid = { cells = {20, 20, "
                         "1}, cell = 0.05, " SLAB " }, fill = { { " WATER ", shape = box { size = {2, 0.613, 2}, "
                         "center = {0.5, 0.3065, 0} } } } }");
        if (k) r.rules->strains = INFINITY;
        speed[k] = look(&r, 2).speed;
        tl_world_close(&r.w);
    }
    print_message("pool: %.2g mm/s, without the rule %.2g mm/s\n", 1e3 * speed[0], 1e3 * speed[1]);
    CHECK_LE(speed[0], 1e-4);
    assert_true(speed[1] > 2 * speed[0]);
}

/* Work of one step, and whether its solves reached their targets. */
typedef struct step_work {
    int sweeps, iterations;
    bool met;
} step_work;

static step_work step_from(run *r, const void *snapshot, size_t bytes, bool mix)
{
    tl_sim *sim = r->w.sim;
    r->rules->mix = mix;
    CHECK_OK(tl_snapshot_read(snapshot, bytes, &sim->state, r->w.scene, sim->rigid.count, &err));
    CHECK_OK(tl_sim_step(sim, 0.02, 1, &err));
    step_work out = {.sweeps = sim->report.sweeps, .met = true};
    for (int i = 0; i < sim->report.solves; i++) {
        out.iterations += sim->report.solve[i].iterations;
        out.met &= sim->report.solve[i].certificate <= sim->report.solve[i].target;
    }
    return out;
}

/* Sweeps of pressure and contacts are mixed: a dam over a heap of boxes takes fewer. A heap is chaotic, and so is the
 * number of sweeps of a run: every step is made both ways from the same state. Sweeps are compared where both reach
 * their targets, since those that miss are as many as are allowed; iterations of the solves in all steps. Ratios of
 * six heaps (depths of water in steps of 1 cm): 0.57 to 0.73 and 0.54 to 0.74, a tenth from each other, so that the
 * mean of three is known to 6 %. */
static void mixing_saves_sweeps(void **state)
{
    (void)state;
    int64_t sweeps[2] = {0, 0}, iterations[2] = {0, 0}, missed[2] = {0, 0}, steps = 0;
    for (int heap = 0; heap < 3; heap++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "local b = {}\nfor i = 0, 5 do b[#b + 1] = { shape = box { size = {0.15, 0.15, 1} }, at = {0.3 + 0.16 "
                 "* (i %% 3) + 0.05 * (i // 3), 0.075 + 0.15 * (i // 3), 0}, density = 600, friction = 0.3 } end\n"
                 "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {32, 24, 1}, "
                 "cell = 1 / 32, " SLAB " }, fill = { { " WATER ", shape = box { size = {0.2, %g, 2}, center = {0.1, "
                 "0.3, 0} } } }, bodies = b }",
                 0.6 + 0.01 * heap);
        run r = open_run(text);
        for (; r.w.sim->state.t < 0.5 - 1e-9; steps++) {
            const size_t bytes = tl_snapshot_bytes(&r.w.sim->state);
            void *snapshot = test_malloc(bytes);
            tl_snapshot_write(&r.w.sim->state, r.w.scene, snapshot);
            step_work w[2];
            for (int k = 1; k >= 0; k--) w[k] = step_from(&r, snapshot, bytes, !k);
            for (int k = 0; k < 2; k++) {
                if (w[0].met && w[1].met) sweeps[k] += w[k].sweeps;
                iterations[k] += w[k].iterations;
                missed[k] += !w[k].met;
            }
            test_free(snapshot);
        }
        tl_world_close(&r.w);
    }
    print_message("heaps: %lld sweeps, not mixed %lld; iterations %lld, %lld; of %lld steps %lld and %lld miss\n",
                  (long long)sweeps[0], (long long)sweeps[1], (long long)iterations[0], (long long)iterations[1],
                  (long long)steps, (long long)missed[0], (long long)missed[1]);
    assert_true(1.2 * (double)sweeps[0] < (double)sweeps[1]);
    assert_true(1.2 * (double)iterations[0] < (double)iterations[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowds_at_round_walls),    cmocka_unit_test(gaps),
        cmocka_unit_test(corrections_are_paid_for), cmocka_unit_test(surfaces_go_along),
        cmocka_unit_test(steps_resolve_waves),      cmocka_unit_test(slivers_go_along),
        cmocka_unit_test(rest_is_left_alone),       cmocka_unit_test(mixing_saves_sweeps),
        cmocka_unit_test(drops_go_further)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
