/* Water and free bodies in free space: nothing else acts, so that momentum is kept by the whole step, to rounding,
 * and energy never rises. */
#include "check.h"

#include "lab/world.h"

static talus_error err;

typedef struct meeting {
    const char *name, *fill, *bodies, *more;
    int cells; /* per metre */
    double seconds;
} meeting;

#define WATER "material = water, "

static const meeting meetings[] = {
    {"ball through a ball of water", "{ " WATER "shape = sphere { radius = 0.25, center = {0.55, 0.5, 0.5} } }",
     "{ shape = sphere { radius = 0.12 }, at = {0.25, 0.5, 0.5}, velocity = {2, 0, 0}, density = 1500 }", "", 20, 0.15},
    {"block of water on a plate",
     "{ " WATER "shape = box { size = {0.3, 0.2, 0.3}, center = {0.5, 0.5, 0.5} }, velocity = {0, -1.1, 0} }",
     "{ shape = box { size = {0.6, 0.12, 0.6} }, at = {0.5, 0.3, 0.5}, density = 1500 }", "", 20, 0.2},
    {"the same along z, finer, other units of speed",
     "{ " WATER "shape = box { size = {0.3, 0.3, 0.2}, center = {0.5, 0.5, 0.5} }, velocity = {0, 0, -11} }",
     "{ shape = box { size = {0.6, 0.6, 0.12} }, at = {0.5, 0.5, 0.3}, density = 1500 }", "", 28, 0.02},
    {"plate thinner than a cell",
     "{ " WATER "shape = box { size = {0.3, 0.2, 0.3}, center = {0.5, 0.5, 0.5} }, velocity = {0, -1.1, 0} }",
     "{ shape = box { size = {0.6, 0.03, 0.6} }, at = {0.5, 0.3, 0.5}, density = 1500 }", "", 20, 0.25},
    {"light cube askew",
     "{ " WATER "shape = box { size = 0.3, center = {0.5, 0.62, 0.5} }, velocity = {0.3, -2, 0.1} }",
     "{ shape = box { size = 0.25 }, at = {0.45, 0.3, 0.5}, density = 400, rotation_deg = {20, 30, 10} }", "", 20, 0.2},
    {"spinning box in water",
     "{ " WATER "shape = sphere { radius = 0.3, center = {0.5, 0.5, 0.5} }, velocity = {0.5, 0, 0} }",
     "{ shape = box { size = {0.3, 0.15, 0.15} }, at = {0.5, 0.5, 0.5}, density = 2000, velocity = {0.5, 0, 0}, "
     "spin_rad_per_s = {0, 3, 15} }",
     "", 16, 0.2},
    {"jet on a light ball",
     "{ " WATER "shape = box { size = {0.12, 0.6, 0.12}, center = {0.5, 0.6, 0.5} }, velocity = {0, -3, 0} }",
     "{ shape = sphere { radius = 0.13 }, at = {0.53, 0.15, 0.5}, density = 300 }", "", 20, 0.2},
    {"drops on a plate",
     "{ " WATER "shape = sphere { radius = 0.03, center = {0.4, 0.5, 0.5} }, velocity = {0, -2, 0} }, { " WATER
     "shape = sphere { radius = 0.03, center = {0.62, 0.6, 0.41} }, velocity = {0.2, -2, 0} }",
     "{ shape = box { size = {0.6, 0.12, 0.6} }, at = {0.5, 0.3, 0.5}, density = 100 }", "", 20, 0.3},
    {"two bodies and water between", "{ " WATER "shape = sphere { radius = 0.2, center = {0.5, 0.5, 0.5} } }",
     "{ shape = sphere { radius = 0.1 }, at = {0.19, 0.5, 0.5}, velocity = {2, 0, 0}, density = 900 }, { shape = box { "
     "size = 0.2 }, at = {0.82, 0.55, 0.5}, velocity = {-1.5, 0, 0}, density = 1500 }",
     "", 20, 0.2},
    {"short steps", "{ " WATER "shape = sphere { radius = 0.2, center = {0.5, 0.6, 0.5} }, velocity = {0, -1, 0.2} }",
     "{ shape = sphere { radius = 0.15 }, at = {0.5, 0.22, 0.5}, density = 8000 }", "dt_max = 0.002, ", 16, 0.15},
};

static tl_world open_case(const meeting *m)
{
    tl_world w;
    CHECK_OK(tl_world_open(
        &w, &err,
        "local water = liquid { density = 1000 }\n"
        "return scene { talus = 1, engine = 'grid', duration = 10, fps = 100, gravity = {0, 0, 0}, %s"
        "grid = { cells = {%d, %d, %d}, cell = 1 / %d, origin = {-1, -1, -1} }, domain = { x_min = 'open', "
        "x_max = 'open', "
        "y_min = 'open', y_max = 'open', z_min = 'open', z_max = 'open' }, fill = { %s }, bodies = { %s } }",
        m->more, 3 * m->cells, 3 * m->cells, 3 * m->cells, m->cells, m->fill, m->bodies));
    return w;
}

/* The scale of momentum is that of what moves, not of the sum, which may be nothing. */
static void meet(const meeting *m)
{
    tl_world w = open_case(m);
    tl_sim *sim = w.sim;
    CHECK_OK(tl_sim_frame(sim, NULL, NULL, &err));
    const tl_report first = sim->report;
    const double scale = sqrt(2 * first.kinetic * sim->start.mass);
    double energy = first.kinetic, rise = 0, lost = 0;
    while (sim->state.t < m->seconds - 1e-9) {
        CHECK_OK(tl_sim_frame(sim, NULL, NULL, &err));
        rise = fmax(rise, sim->report.kinetic - energy);
        energy = sim->report.kinetic;
        lost = fmax(lost, tl_vec3_norm(tl_vec3_sub(sim->report.momentum, first.momentum)));
    }
    print_message("%s: momentum %.1e, energy rises by %.1e of %.3g J, %.3f left, angular momentum off by %.1e\n",
                  m->name, lost / scale, rise / first.kinetic, first.kinetic, energy / first.kinetic,
                  tl_vec3_norm(tl_vec3_sub(sim->report.angular_momentum, first.angular_momentum)) / scale);
    assert_int_equal(sim->report.escaped, 0);
    CHECK_LE(lost / scale, 1e-12);
    CHECK_LE(rise / first.kinetic, 1e-12);
    tl_world_close(&w);
}

static void whole_steps_keep_momentum(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof meetings / sizeof *meetings; k++) meet(&meetings[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_steps_keep_momentum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
