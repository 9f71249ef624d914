/* Elastic bodies in sand: a sheet that sags under its load, a wheel that sinks less when it is softer. */
#include <math.h>

#include "lab/validate/elasto.h"
#include "lab/world.h"

#define GRAVITY 9.81
#define SCENE "return scene { talus = 1, engine = 'grid', duration = 10, fps = 50, gravity = {0, -9.81, 0}, "
#define SAND "material = granular { density = 1600, friction_angle_deg = 30 }, "

/* m: sag in the middle of a sheet, held at two sides, below 0.1 m of sand between smooth walls, `cells` across and
 * `elements` along it. load: of the weight. */
static talus_status sheet(int cells, int elements, double *sag, double *load, double *calm, talus_error *err)
{
    tl_world w;
    TL_TRY(tl_world_open(&w, err,
                         SCENE
                         "grid = { cells = {%d, %d, %d}, cell = %.17g }, domain = { friction = 0, sand_friction = "
                         "'own' }, fill = { { " SAND "shape = box { size = {0.4, 0.1, 0.2}, center = {0.2, 0.25, 0.1} "
                         "} } }, bodies = { { shape = box { size = {0.4, 0.05, 0.2} }, at = {0.2, 0.175, 0.1}, "
                         "friction = 0, cells = {%d, %d, %d}, anchor = subtract { box { size = 1 }, box { size = "
                         "{0.3999, 2, 2} } }, material = elastic { density = 1000, young = 1e7, poisson = 0, damping = "
                         "0.01 } } } }",
                         cells, cells, cells / 2, 0.4 / cells, elements, elements / 8, elements / 4));
    talus_status status = tl_world_until(&w, 0.8, 0, err);
    if (status == TALUS_OK) {
        const tl_lg *lg = &w.sim->lg;
        const double *q = tl_lg_state_of(&w.sim->state)->q;
        int middle = 0;
        *sag = 0;
        for (int32_t i = 0; i < lg->nodes; i++) {
            const double *x = lg->rest + 3 * (int64_t)i;
            if (fabs(x[0] - 0.2) < 1e-9) *sag += x[1] - q[3 * (int64_t)i + 1], middle++;
        }
        *sag /= middle;
        *load = -w.sim->state.rigid.body[0].sand_force.y / (1600 * GRAVITY * 0.4 * 0.1 * 0.2);
        *calm = w.sim->report.fastest;
    }
    tl_world_close(&w);
    return status;
}

talus_status tl_elasto_sand_sheet(tl_case_log *log, talus_error *err)
{
    double coarse, fine, load, calm;
    TL_TRY(sheet(16, 32, &fine, &load, &calm, err));
    tl_case_near(log, "load of a sheet, of the weight of the sand, 16 cells", load, 1, 1e-3);
    TL_TRY(sheet(8, 16, &coarse, &load, &calm, err));
    tl_case_near(log, "load of a sheet, of the weight of the sand, 8 cells", load, 1, 1e-3);
    tl_case_relative(log, "sag of it, over that of half the cells and elements", coarse / fine, 1, 0.05);
    tl_case_below(log, "fastest, m/s", calm, 1e-3);
    return TALUS_OK;
}

/* m: lowest point of a tyre below a bed of 0.15 m, with a load of 300 N. */
static talus_status wheel(double young, double *sinkage, talus_error *err)
{
    tl_world w;
    TL_TRY(tl_world_open(&w, err,
                         SCENE
                         "grid = { cells = {24, 18, 12}, cell = 0.025 }, fill = { { " SAND
                         "shape = box { size = {0.6, 0.15, 0.3}, center = {0.3, 0.075, 0.15} } } }, bodies = { { "
                         "shape = cylinder { radius = 0.12, height = 0.1 }, at = {0.3, 0.275, 0.15}, "
                         "rotation_deg = {90, 0, 0}, friction = 0.6, edge = 0.035, force = {0, -300, 0}, material "
                         "= elastic { density = 1100, young = %g, poisson = 0.45, damping = 0.02 } } } }",
                         young));
    talus_status status = tl_world_until(&w, 0.3, 0, err);
    double lowest = INFINITY;
    for (int32_t i = 0; i < w.sim->lg.nodes; i++)
        lowest = fmin(lowest, tl_lg_state_of(&w.sim->state)->q[3 * (int64_t)i + 1]);
    *sinkage = 0.15 - lowest;
    tl_world_close(&w);
    return status;
}

talus_status tl_elasto_sand_wheel(tl_case_log *log, talus_error *err)
{
    double soft, stiff;
    TL_TRY(wheel(1e5, &soft, err));
    TL_TRY(wheel(1e7, &stiff, err));
    tl_case_below(log, "sinkage of a tyre of 1e5 Pa, of that of 1e7 Pa", soft / stiff, 0.95);
    return TALUS_OK;
}
