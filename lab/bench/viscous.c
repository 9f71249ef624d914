/* Pressure and viscous stress as one: iterations against viscosity and grid. A ball of the liquid above a pool of it, in
 * a box to which it sticks: the second step of a run, in which everything is met for the first time. */
#include <math.h>
#include <string.h>

#include "lab/bench/table.h"
#include "lab/world.h"

#define DT 0.01
#define LARGEST 64 /* cells per edge, unless asked for more */

static talus_status one(tl_table *t, int cells, double kappa, talus_error *err)
{
    tl_world w;
    const double dx = 1.0 / cells, eta = kappa * 1000 * dx * dx / DT;
    TL_TRY(tl_world_open(&w, err,
                         "return scene { talus = 1, engine = 'grid', duration = 1, fps = 100, dt_max = %.17g,"
                         " grid = { cells = {%d, %d, %d}, cell = %.17g }, fill = { { material = viscous { density = "
                         "1000, viscosity = %.17g }, shape = union { box { size = {1, 0.5, 1}, center = {0.5, 0.25, "
                         "0.5} }, sphere { radius = 0.2, center = {0.5, 0.72, 0.5} } } } } }",
                         DT, cells, cells, cells, dx, eta));
    talus_status status = tl_world_steps(&w, 2, DT, err);
    if (status == TALUS_OK) {
        const tl_report *r = &w.sim->report;
        double solve = 0;
        for (int k = 0; k < r->phases; k++) solve += !strcmp(r->phase[k].name, "solve") ? r->phase[k].cpu : 0;
        tl_table_cell(t, "%d", cells);
        tl_table_cell(t, "%.0e", kappa);
        tl_table_cell(t, "%d", r->solve[0].iterations);
        tl_table_cell(t, "%.1e", r->solve[0].certificate);
        tl_table_cell(t, "%.1e", r->solve[2].certificate);
        tl_table_cell(t, "%.2f", solve);
        tl_table_send(t, TALUS_ROW_DATA);
    }
    tl_world_close(&w);
    return status;
}

static talus_status run(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const names[] = {"cells",  "eta dt / (rho dx^2)", "iterations", "pressure",
                                        "stress", "processor s",         NULL};
    tl_table_header(t, names);
    for (int cells = 16; cells <= (o->size > 0 ? o->size : LARGEST) && !t->stopped; cells *= 2)
        for (int k = -2; k <= 6 && !t->stopped; k += 2) TL_TRY(one(t, cells, pow(10, k), err));
    return TALUS_OK;
}

extern const tl_bench tl_bench_viscous;
const tl_bench tl_bench_viscous = {
    "viscous", "pressure and viscous stress as one: iterations from --size 16 up, eta dt / (rho dx^2) of 1e-2 to 1e6",
    run};
