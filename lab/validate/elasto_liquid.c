/* Elastic bodies in liquid: volume and energy of a full tank, Archimedes, momentum, a gate that holds still water. */
#include <math.h>

#include "lab/validate/elasto.h"
#include "lab/world.h"

#define GRAVITY 9.81
#define SCENE "return scene { talus = 1, engine = 'grid', duration = 10, fps = 100, "
#define WATER "material = liquid { density = 1000 }, "

static double surface_flow(const tl_lg *lg, const double *x, const double *v)
{
    double sum = 0;
    for (int32_t t = 0; t < lg->surface_triangles; t++) {
        tl_vec3 at[3], mean = {0, 0, 0};
        for (int k = 0; k < 3; k++) {
            at[k] = tl_vec3_load(x + 3 * (int64_t)lg->surface[t][k]);
            mean = tl_vec3_add_scaled(mean, 1.0 / 3, tl_vec3_load(v + 3 * (int64_t)lg->surface[t][k]));
        }
        tl_vec3 area = tl_vec3_scale(0.5, tl_vec3_cross(tl_vec3_sub(at[1], at[0]), tl_vec3_sub(at[2], at[0])));
        sum += tl_vec3_dot(area, mean);
    }
    return sum;
}

/* V13: water all around, no room to give way: the body keeps its volume, and nothing gains energy. */
talus_status tl_elasto_v13(tl_case_log *log, talus_error *err)
{
    tl_world w;
    TL_TRY(tl_world_open(&w, err,
                         SCENE
                         "gravity = {0, 0, 0}, grid = { cells = {10, 10, 10}, cell = 0.1 }, fill = { { " WATER
                         "shape = box { size = 1, center = {0.5, 0.5, 0.5} } } }, solver = { tolerance = 1e-10, "
                         "pressure = 'cg-multigrid' }, bodies = { { shape = box { size = {0.33, 0.4, 0.35} }, at = "
                         "{0.52, 0.47, 0.49}, cells = {3, 4, 3}, velocity = {1, 0.3, -0.2}, material = elastic { "
                         "density = 900, young = 1e5, poisson = 0.3 } } } }"));
    const tl_lg *lg = &w.sim->lg;
    tl_lg_state *now = tl_lg_state_of(&w.sim->state);
    double before[3 * 200], speed = 1.06;
    talus_status status = lg->nodes <= 200 ? TALUS_OK : TL_FAIL(err, TALUS_BAD_INPUT, "more nodes than expected");
    for (int64_t k = 0; k < 3 * (int64_t)lg->nodes && status == TALUS_OK; k++) before[k] = now->q[k];
    double energy = 0.5 * lg->body[0].mass * speed * speed;
    if (status == TALUS_OK) status = tl_sim_step(w.sim, 0.01, INFINITY, err);
    if (status == TALUS_OK) {
        const tl_report *r = &w.sim->report;
        tl_case_below(log, "rate of the body's volume, of its own, 1/s",
                      fabs(surface_flow(lg, before, now->v)) / lg->body[0].volume, 1e-10);
        tl_case_below(log, "what the outflow misses, of what pressure undoes", r->solve[0].certificate, 1e-9);
        tl_case_below(log, "kinetic and elastic energy, of that of the start", (r->kinetic + r->elastic) / energy, 1);
    }
    tl_world_close(&w);
    return status;
}

/* V14: three cells wide, as heavy as water: it stays. */
static talus_status neutral(tl_case_log *log, const char *weights, talus_error *err)
{
    tl_world w;
    TL_TRY(tl_world_open(&w, err,
                         SCENE "gravity = {0, -9.81, 0}, grid = { cells = {10, 10, 10}, cell = 0.1 }, fill = { { " WATER
                               "shape = plane { height = 0.8 } } }, solver = { weights = '%s' }, bodies = { { shape = "
                               "box { size = 0.3 }, at = {0.52, 0.43, 0.47}, cells = {3, 3, 3}, material = elastic { "
                               "density = 1000, young = 1e9, poisson = 0.3 } } } }",
                         weights));
    talus_status status = tl_sim_step(w.sim, 0.01, INFINITY, err);
    if (status == TALUS_OK)
        tl_case_below(log, weights, tl_vec3_norm(w.sim->state.rigid.body[0].v) / (0.01 * GRAVITY), 1e-3);
    tl_world_close(&w);
    return status;
}

talus_status tl_elasto_v14(tl_case_log *log, talus_error *err)
{
    TL_TRY(neutral(log, "area", err));
    return neutral(log, "volume", err);
}

/* V20: nothing holds them. */
talus_status tl_elasto_v20(tl_case_log *log, talus_error *err)
{
    tl_world w;
    TL_TRY(tl_world_open(&w, err,
                         SCENE
                         "gravity = {0, 0, 0}, grid = { cells = {16, 16, 16}, cell = 0.1 }, domain = { x_min = "
                         "'open', x_max = 'open', y_min = 'open', y_max = 'open', z_min = 'open', z_max = 'open' "
                         "}, fill = { { " WATER "shape = box { size = 0.8, center = {0.8, 0.8, 0.8} }, velocity = "
                         "{-0.2, 0.1, 0.3} } }, bodies = { { shape = box { size = 0.3 }, at = {0.82, 0.83, 0.87}, "
                         "cells = {3, 3, 3}, velocity = {1, 0.3, -0.5}, spin_rad_per_s = {1, 2, 3}, material = "
                         "elastic { density = 500, young = 1e5, poisson = 0.3 } } } }"));
    talus_status status = tl_sim_step(w.sim, 0.01, INFINITY, err);
    const tl_vec3 first = w.sim->report.momentum;
    double scale = sqrt(2 * w.sim->report.kinetic * w.sim->start.mass), lost = 0, energy = w.sim->report.kinetic;
    for (int k = 0; k < 10 && status == TALUS_OK; k++) {
        status = tl_sim_step(w.sim, 0.01, INFINITY, err);
        lost = fmax(lost, tl_vec3_norm(tl_vec3_sub(w.sim->report.momentum, first)));
    }
    if (status == TALUS_OK) {
        tl_case_below(log, "momentum lost in 10 steps, of what moves", lost / scale, 1e-12);
        tl_case_below(log, "kinetic and elastic energy, of that of the start",
                      (w.sim->report.kinetic + w.sim->report.elastic) / energy, 1);
    }
    tl_world_close(&w);
    return status;
}

/* Still water beside an upright plate that is held at its foot: tip by Timoshenko's beam, with the depth that is left
 * when the plate has bent. E' = E: poisson is 0. */
talus_status tl_elasto_gate(tl_case_log *log, talus_error *err)
{
    const double E = 2e7, t = 0.1, L = 0.5, wide = 0.4;
    tl_world w;
    TL_TRY(tl_world_open(&w, err,
                         SCENE
                         "gravity = {0, -9.81, 0}, grid = { cells = {16, 12, 4}, cell = 0.05 }, domain = { "
                         "friction = 0 }, fill = { { " WATER "shape = box { size = {0.4, 0.4, 0.2}, center = {0.2, "
                         "0.2, 0.1} } } }, bodies = { { shape = box { size = {0.1, 0.5, 0.2} }, at = {0.45, 0.25, "
                         "0.1}, cells = {4, 20, 4}, friction = 0, anchor = box { center = {0, -0.25, 0}, size = "
                         "{1, 0.01, 1} }, material = elastic { density = 1000, young = %g, poisson = 0, damping = "
                         "0.01 } } } }",
                         E));
    talus_status status = tl_world_until(&w, 1, 0, err);
    if (status == TALUS_OK) {
        const tl_lg *lg = &w.sim->lg;
        const double *q = tl_lg_state_of(&w.sim->state)->q;
        double tip = 0, mean = 0;
        int tips = 0, sides = 0;
        for (int32_t i = 0; i < lg->nodes; i++) {
            const double *x = lg->rest + 3 * (int64_t)i, moved = q[3 * (int64_t)i] - x[0];
            if (x[1] > L - 1e-9) tip += moved, tips++;
            if (x[0] < 0.4 + 1e-9 && x[1] < wide + 1e-9) mean += moved, sides++;
        }
        tip /= tips;
        const double H = 0.4 * wide / (wide + mean / sides), load = 1000 * GRAVITY * H, EI = E * t * t * t / 12,
                     shear = load * H * H / 6 / (5.0 / 6 * E / 2 * t);
        double theory = load * pow(H, 4) / (30 * EI) + load * pow(H, 3) / (24 * EI) * (L - H) + shear;
        tl_case_relative(log, "tip of a gate, two cells thick, over that of theory", tip / theory, 1, 0.05);
        tl_case_below(log, "still moves, m/s", w.sim->report.fastest, 0.05);
        tl_case_near(log, "volume of the water, error", w.sim->report.volume_error, 0, 0.01);
    }
    tl_world_close(&w);
    return status;
}
