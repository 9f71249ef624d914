/* Elastic bodies by finite elements (engine "grid"): closed forms, friction, rest, recovery. Numbers V... are those
 * of the specification. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "lab/validate/elasto.h"
#include "lab/validate/groups.h"
#include "lab/validate/lg_world.h"

#define GRAVITY 9.81
#define DEGREE (3.14159265358979323846 / 180)

#define SOFT "elastic { density = %g, young = %g, poisson = %g }"

/* ---- the beam of the paper ---- */

static talus_status beam(tl_case_log *log, const char *model, const double tip[3], double kinetic, talus_error *err)
{
    tl_lg_world w;
    TL_TRY(tl_lg_world_open(
        &w, err,
        "engine = 'grid', dt_max = 0.02, fem = { elements = 'tets' }, solver = { contact = { tolerance = 1e-9 } "
        "}, bodies = { { name = 'beam', shape = box { size = {1, 0.1875, 0.1875}, center = {0.5, "
        "0.09375, 0.09375} }, cells = {16, 3, 3}, material = elastic { density = 500, young = 1e4, "
        "poisson = 0.49, model = '%s' }, anchor = box { size = {0.01, 1, 1} } } }",
        model));
    talus_status status = TALUS_OK;
    for (int k = 0; k < 10 && status == TALUS_OK; k++) status = tl_sim_step(w.sim, 0.02, INFINITY, err);
    if (status == TALUS_OK) {
        const tl_lg *lg = &w.sim->lg;
        int32_t corner = 0;
        for (int32_t i = 0; i < lg->nodes; i++) {
            const double *x = lg->rest + 3 * (int64_t)i;
            if (x[0] > 1 - 1e-9 && x[1] > 0.1875 - 1e-9 && x[2] > 0.1875 - 1e-9) corner = i;
        }
        for (int k = 0; k < 3; k++) {
            char name[64];
            snprintf(name, sizeof name, "%s: tip %c, m", model, "xyz"[k]);
            tl_case_near(log, name, tl_lg_state_of(&w.sim->state)->q[3 * (int64_t)corner + k], tip[k], 2e-7);
        }
        tl_case_near(log, "kinetic energy, J", w.sim->report.kinetic, kinetic, 1e-5);
    }
    tl_world_close(&w);
    return status;
}

static talus_status v4(tl_case_log *log, talus_error *err)
{
    TL_TRY(beam(log, "stable_neo_hookean", (const double[]){1.0060304, -0.0349202, 0.1842584}, 23.282310, err));
    return beam(log, "stable_neo_hookean_nolog", (const double[]){1.0060044, -0.0348954, 0.1842711}, 23.338688, err);
}

/* ---- a block on a plane ---- */

static double normal_sum(const tl_lg_world *w)
{
    double sum = 0;
    for (int64_t k = 0; k < tl_lg_state_of(&w->sim->state)->contacts; k++) {
        const tl_lg_memory *m = &tl_lg_state_of(&w->sim->state)->contact[k];
        sum += m->force[0] * m->normal[0] + m->force[1] * m->normal[1] + m->force[2] * m->normal[2];
    }
    return sum;
}

static double least_gap(const tl_lg_world *w)
{
    double least = INFINITY;
    for (int64_t k = 0; k < tl_lg_state_of(&w->sim->state)->contacts; k++)
        least = fmin(least, tl_lg_state_of(&w->sim->state)->contact[k].gap);
    return least;
}

#define BLOCK                                                                                                          \
    "{ name = 'floor', kind = 'static', shape = plane {}, friction = %s }, { name = 'block', shape = box { size = "    \
    "0.2 "                                                                                                             \
    "}, at = {0, %g, 0}, cells = {2, 2, 2}, friction = %s, material = " SOFT " }"

static talus_status v15(tl_case_log *log, talus_error *err)
{
    tl_lg_world w;
    TL_TRY(tl_lg_world_open(&w, err, "engine = 'grid', bodies = { " BLOCK " }", "0.5", 0.1, "0.5", 1000.0, 1e5, 0.4));
    talus_status status = TALUS_OK;
    for (int k = 0; k < 200 && status == TALUS_OK; k++) status = tl_sim_step(w.sim, 0.01, INFINITY, err);
    if (status == TALUS_OK) {
        tl_case_relative(log, "sum of normal forces, N", normal_sum(&w), 8 * GRAVITY, 1e-6);
        tl_case_above(log, "least gap, m", least_gap(&w), -1e-8);
        tl_case_below(log, "fastest node at rest, m/s", w.sim->report.fastest, 1e-6);
    }
    tl_world_close(&w);
    return status;
}

/* Mean acceleration along a slope between 1 and 1.5 s, and the speed after 4 s, gravity turned by `angle` towards
 * `azimuth`. For half a second it sticks, so that it has settled when friction becomes mu. */
static talus_status slide(double mu, double angle, double azimuth, double *acceleration, double *speed,
                          talus_error *err)
{
    char friction[100];
    snprintf(friction, sizeof friction, "function(t) return t < 0.495 and 2 or %.17g end", mu);
    tl_lg_world w;
    double down = GRAVITY * cos(angle * DEGREE), along = GRAVITY * sin(angle * DEGREE), c = cos(azimuth * DEGREE),
           s = sin(azimuth * DEGREE), before = 0;
    TL_TRY(tl_lg_world_open(&w, err, "engine = 'grid', gravity = {%.17g, %.17g, %.17g}, bodies = { " BLOCK " }",
                            along * c, -down, along * s, friction, 0.1, friction, 1000.0, 1e6, 0.3));
    talus_status status = TALUS_OK;
    for (int k = 0; k < 400 && status == TALUS_OK; k++) {
        status = tl_sim_step(w.sim, 0.01, INFINITY, err);
        const tl_motion *m = &w.sim->state.rigid.body[1];
        double v = m->v.x * c + m->v.z * s;
        if (k == 99) before = v;
        if (k == 149) *acceleration = (v - before) / 0.5;
        *speed = hypot(m->v.x, m->v.z);
    }
    tl_world_close(&w);
    return status;
}

static talus_status v16(tl_case_log *log, talus_error *err)
{
    static const double cases[][2] = {{0.5, 26}, {0.5, 27}, {0.5, 35}, {0.3, 45}};
    for (int k = 0; k < 4; k++) {
        double a = 0, v = 0, mu = cases[k][0], angle = cases[k][1] * DEGREE,
               expected = fmax(0, GRAVITY * (sin(angle) - mu * cos(angle)));
        char name[80];
        TL_TRY(slide(mu, cases[k][1], k == 2 ? 22.5 : k == 3 ? 45 : 0, &a, &v, err));
        snprintf(name, sizeof name, "mu %g, %g degrees: acceleration, m/s^2", mu, cases[k][1]);
        tl_case_near(log, name, a, expected, 1e-3);
    }
    return TALUS_OK;
}

/* Just below and just above the angle of friction, in three directions. */
static talus_status threshold(tl_case_log *log, talus_error *err)
{
    static const double azimuths[] = {0, 22.5, 45};
    for (int k = 0; k < 3; k++)
        for (int above = 0; above < 2; above++) {
            double a = 0, v = 0, mu = 0.5, tangent = mu * (above ? 1.001 : 0.999), angle = atan(tangent) / DEGREE;
            char name[100];
            TL_TRY(slide(mu, angle, azimuths[k], &a, &v, err));
            snprintf(name, sizeof name, "azimuth %g, 0.1 %% %s the threshold: %s", azimuths[k],
                     above ? "above" : "below", above ? "acceleration, m/s^2" : "speed after 4 s, m/s");
            if (above)
                tl_case_near(log, name, a, GRAVITY * (sin(angle * DEGREE) - mu * cos(angle * DEGREE)), 1e-3);
            else
                tl_case_below(log, name, v, 1e-6);
            if (above) tl_case_above(log, "it slides, m/s^2", a, 2e-3);
        }
    return TALUS_OK;
}

static talus_status v17(tl_case_log *log, talus_error *err)
{
    static const char *const elements[] = {"tets", "smoothed"};
    for (int e = 0; e < 2; e++) {
        tl_lg_world w;
        TL_TRY(tl_lg_world_open(&w, err, "engine = 'grid', fem = { elements = '%s' }, bodies = { " BLOCK " }",
                                elements[e], "0.5", 0.4, "0.5", 1000.0, 1e5, 0.4));
        talus_status status = TALUS_OK;
        double last = INFINITY, first = 0, rise = 0, deepest = 0;
        for (int k = 0; k < 150 && status == TALUS_OK; k++) {
            status = tl_sim_step(w.sim, 0.01, INFINITY, err);
            const tl_report *r = &w.sim->report;
            double now = r->kinetic + r->potential + r->elastic;
            if (k == 0) first = fabs(now);
            rise = fmax(rise, now - last);
            deepest = fmax(deepest, r->penetration);
            last = now;
        }
        if (status == TALUS_OK) {
            tl_case_below(log, "penetration, m", deepest, 1e-8);
            tl_case_below(log, "largest rise of energy, of the first", rise / first, 1e-8);
        }
        tl_world_close(&w);
        TL_TRY(status);
    }
    return TALUS_OK;
}

/* ---- collapsed ---- */

static double least_volume(const tl_lg_world *w)
{
    const tl_lg *lg = &w->sim->lg;
    double least = INFINITY;
    for (int32_t b = 0; b < lg->tet_batches; b++)
        for (int l = 0; l < TL_LG_LANES; l++) {
            const tl_lg_tets *t = &lg->tets[b];
            if (!(t->V[l] > 0)) continue;
            tl_vec3 x[4];
            for (int k = 0; k < 4; k++)
                x[k] = tl_vec3_load(tl_lg_state_of(&w->sim->state)->q + 3 * (int64_t)t->node[k][l]);
            double volume =
                tl_vec3_dot(tl_vec3_cross(tl_vec3_sub(x[1], x[0]), tl_vec3_sub(x[2], x[0])), tl_vec3_sub(x[3], x[0])) /
                6;
            least = fmin(least, volume / t->V[l]);
        }
    return least;
}

static talus_status recover(tl_case_log *log, const char *name, const char *elements, int steps, double poisson,
                            bool random, talus_error *err)
{
    tl_lg_world w;
    TL_TRY(tl_lg_world_open(&w, err,
                            "engine = 'grid', dt_max = 0.02, fem = { elements = '%s' }, gravity = {0, 0, 0}, bodies = "
                            "{ { name = 'cube', shape = box { size = 1 }, "
                            "cells = {2, 2, 2}, material = " SOFT " } }",
                            elements, 1000.0, 1e4, poisson));
    talus_status status = TALUS_OK;
    for (int64_t i = 0; i < 3 * (int64_t)w.sim->lg.nodes; i++) {
        double noise = 2 * tl_random(19, (uint64_t)i, 0) - 1;
        tl_lg_state_of(&w.sim->state)->q[i] = random ? noise : 0.01 * w.sim->lg.rest[i] + 0.001 * noise;
    }
    for (int k = 0; k < steps && status == TALUS_OK; k++) status = tl_sim_step(w.sim, 0.02, INFINITY, err);
    if (status == TALUS_OK) {
        char text[120];
        snprintf(text, sizeof text, "%s, %s, nu %g: least volume of a tetrahedron, of its rest", name, elements,
                 poisson);
        tl_case_above(log, text, least_volume(&w), 0.9);
    }
    tl_world_close(&w);
    return status;
}

static talus_status v19(tl_case_log *log, talus_error *err)
{
    static const char *const elements[] = {"tets", "smoothed"};
    for (int e = 0; e < 2; e++) {
        TL_TRY(recover(log, "collapsed to a point", elements[e], e ? 400 : 200, 0.3, false, err));
        TL_TRY(recover(log, "collapsed to a point", elements[e], e ? 400 : 200, 0.45, false, err));
        TL_TRY(recover(log, "random places", elements[e], 400, 0.3, true, err));
    }
    return TALUS_OK;
}

static const tl_case cases[] = {
    {"V4", "beam of 16 x 3 x 3 cells after 10 steps: tip and kinetic energy of the prototype", true, v4},
    {"V12", "routes against the indefinite system", true, tl_elasto_v12},
    {"V13", "a body that moves in a full tank keeps its volume; energy falls", true, tl_elasto_v13},
    {"V14", "a neutral body of three cells stays: acceleration over g, by both weights", true, tl_elasto_v14},
    {"V15", "a block rests on a plane: weight, gap, no jitter", true, v15},
    {"V16", "a block on inclines: g (sin - mu cos)", true, v16},
    {"threshold", "0.1 % below and above the angle of friction, three directions", true, threshold},
    {"V17", "a dropped block: no penetration, energy never rises", true, v17},
    {"V18", "condition numbers of routes, and what an incomplete factor costs", true, tl_elasto_v18},
    {"V19", "a cube of a hundredth of its size, and one with random nodes, recover", true, v19},
    {"V20", "water and an elastic body in free space keep their momentum", true, tl_elasto_v20},
    {"sand-sheet", "an elastic sheet under sand: load and sag", false, tl_elasto_sand_sheet},
    {"sand-wheel", "a tyre on sand sinks less when it is softer", false, tl_elasto_sand_wheel},
    {"gate", "an elastic gate that holds still water: deflection of theory", false, tl_elasto_gate},
    {"cantilever", "tip of a beam, L/h = 10, three meshes: Timoshenko", false, tl_elasto_cantilever},
    {"frequency", "first bending frequency and what a period leaves", false, tl_elasto_frequency},
    {"elastica", "large deflections under a tip load", false, tl_elasto_elastica},
    {"damping", "waves and bending fade as damping w^2 / 2, turning does not", true, tl_elasto_damping},
    {"spin", "a spinning cube keeps its momenta", true, tl_elasto_spin},
    {"weights", "rigid and elastic blocks on each other", true, tl_elasto_weights},
    {"ratios", "1000 to 1 in mass, 1e4 to 1 in stiffness, at rest", true, tl_elasto_ratios},
    {"collisions", "momentum and energy of bodies that meet", true, tl_elasto_collisions},
    {"hertz", "a ball pressed onto a plane, and two balls onto each other", false, tl_elasto_hertz},
    {"self", "arms of one body that meet", true, tl_elasto_self},
    {"range", "Young's modulus from 1e3 to 1e10 Pa, Poisson's ratio to 0.49: a drop", false, tl_elasto_range},
    {NULL, NULL, false, NULL},
};
const tl_case_group tl_cases_elasto = {"elasto", cases};
