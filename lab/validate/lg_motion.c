/* The local-global engine between contacts: beams and sheets at rest and in motion, spin, rebound. Closed forms, and
 * the tables of lg-motion. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/validate/lg_world.h"
#include "model/lg/whole.h"

#define PI 3.14159265358979323846
#define CHORDS 2000 /* of the elastica under its own weight */

/* Mean displacement of nodes whose rest place has x = 1. */
static tl_vec3 tip(const tl_lg_world *w)
{
    const tl_lg *lg = &w->sim->lg;
    tl_vec3 sum = {0, 0, 0};
    int count = 0;
    for (int64_t i = 0; i < lg->nodes; i++) {
        if (lg->rest[3 * i] < 1 - 1e-9) continue;
        sum = tl_vec3_add(
            sum, tl_vec3_sub(tl_vec3_load(tl_lg_state_of(&w->sim->state)->q + 3 * i), tl_vec3_load(lg->rest + 3 * i)));
        count++;
    }
    return tl_vec3_scale(1.0 / count, sum);
}

/* A bar of 1 m along x, clamped at x = 0. */
static talus_status open_bar(tl_lg_world *w, const char *more, double thick, const int cells[3], double young,
                             double nu, const char *model, talus_error *err)
{
    return tl_lg_world_open(
        w, err,
        "%s bodies = { { name = 'bar', shape = box { size = {1, %g, %g}, center = {0.5, 0, 0} }, cells = {%d, %d, %d}, "
        "anchor = box { size = {1e-4, 1, 1} }, anchor_weight = 1e8, material = elastic { density = 1000, young = %g, "
        "poisson "
        "= %g, model = '%s' } } }",
        more, thick, thick, cells[0], cells[1], cells[2], young, nu, model);
}

/* ---- static steps ---- */

/* The bars of V3 and V4, which an independent Newton solver gave numbers for. */
talus_status tl_lg_case_static(tl_case_log *log, talus_error *err)
{
    static const char *const models[] = {"arap", "corotated", "neo_hookean"};
    static const double hangs[] = {6.37678e-3, 4.72993e-3, 4.75348e-3},
                        bends[] = {-3.60879e-2, -2.580279e-2, -2.584402e-2};
    for (int k = 0; k < 6; k++) {
        tl_lg_world w;
        TL_TRY(tl_lg_world_open(
            &w, err,
            "gravity = %s, lg = { time = 'static' }, bodies = { { shape = box { size = {1, 0.25, 0.25}, center = {0.5, "
            "0.125, 0.125} }, cells = {8, 2, 2}, element = 'tetrahedra', anchor = box { size = {0.01, 1, 1} }, "
            "anchor_weight = 1e8, material = elastic { density = 1000, young = 1e6, poisson = 0.3, model = '%s' } } }",
            k < 3 ? "{9.81, 0, 0}" : "{0, 0, -1.962}", models[k % 3]));
        talus_status status = tl_lg_world_steps(&w, 1, 0.01, false, err);
        tl_vec3 end = tip(&w);
        tl_case_below(log, "forces left over, of those that act", w.sim->report.solve[0].certificate, 1e-8);
        tl_world_close(&w);
        TL_TRY(status);
        if (k < 3)
            tl_case_near(log, "hanging bar: mean displacement of the tip, m", end.x, hangs[k], 1e-7);
        else
            tl_case_near(log, "cantilever: mean height of the tip, m", end.z, bends[k - 3], 1e-6);
    }
    return TALUS_OK;
}

/* Timoshenko's tip, with shear of a square section: 5/6. At a Poisson's ratio of 0.49 a clamped end in three
 * dimensions takes off 4 to 5 %. */
talus_status tl_lg_case_beam(tl_case_log *log, talus_error *err)
{
    const double young = 1e7, thick = 0.1, g = 0.981, area = thick * thick, load = 1000 * area * g;
    for (int n = 0; n < 2; n++)
        for (int across = 1; across <= 4; across *= 2) {
            const double nu = n ? 0.49 : 0.3, shear = young / (2 * (1 + nu)) * area * 5 / 6;
            const double exact = load / (8 * young * pow(thick, 4) / 12) + load / (2 * shear);
            tl_lg_world w;
            char name[100];
            TL_TRY(open_bar(&w, "gravity = {0, 0, -0.981}, lg = { time = 'static' },", thick,
                            (const int[3]){10 * across, across, across}, young, nu, "neo_hookean", err));
            talus_status status = tl_lg_world_steps(&w, 1, 0.01, false, err);
            tl_vec3 end = tip(&w);
            tl_world_close(&w);
            TL_TRY(status);
            snprintf(name, sizeof name, "nu %g, %d across: tip over Timoshenko's", nu, across);
            tl_case_near(log, name, -end.z / exact, 1, n ? 0.10 : 0.05);
            snprintf(name, sizeof name, "nu %g, %d across: sideways, of the deflection", nu, across);
            tl_case_below(log, name, fabs(end.y / end.z), 0.01);
        }
    return TALUS_OK;
}

/* Tip load with P L^2 / E I = 1, 5, 10: deflections of the inextensible elastica [Bisshopp1945]. Masses are put
 * where the load is. */
talus_status tl_lg_case_elastica(tl_case_log *log, talus_error *err)
{
    static const double load[3] = {1, 5, 10}, down[3] = {0.30172, 0.71379, 0.81061},
                        back[3] = {0.05643, 0.38763, 0.55500};
    const double young = 1e6, thick = 0.05, EI = young * pow(thick, 4) / 12;
    for (int k = 0; k < 3; k++) {
        tl_lg_world w;
        char name[100];
        TL_TRY(open_bar(&w, "gravity = {0, 0, -1}, lg = { time = 'static' },", thick, (const int[3]){40, 2, 2}, young,
                        0.3, "neo_hookean", err));
        tl_lg *lg = &w.sim->lg;
        int32_t ends = 0;
        for (int64_t i = 0; i < lg->nodes; i++) ends += lg->rest[3 * i] > 1 - 1e-9;
        for (int64_t i = 0; i < lg->nodes; i++)
            lg->mass[i] = lg->rest[3 * i] > 1 - 1e-9 ? load[k] * EI / ends : 1e-6 * EI;
        talus_status status = tl_lg_world_steps(&w, 1, 0.01, false, err);
        tl_vec3 end = tip(&w);
        tl_world_close(&w);
        TL_TRY(status);
        snprintf(name, sizeof name, "P L^2 / E I = %g: tip falls by, of L", load[k]);
        tl_case_relative(log, name, -end.z, down[k], 0.03);
        snprintf(name, sizeof name, "P L^2 / E I = %g: tip comes back by, of L", load[k]);
        tl_case_near(log, name, -end.x, back[k], 0.03 * down[k]);
    }
    return TALUS_OK;
}

/* ---- sheets ---- */

/* Curvature at the free end of theta'' = -weight (1 - s) cos theta that starts level with this curvature; how far
 * the end has come. */
static double shoot(double weight, double curvature, double *down)
{
    const double h = 1.0 / CHORDS;
    double turned = 0, bent = curvature;
    *down = 0;
    for (int i = 0; i < CHORDS; i++) { /* midpoint rule */
        double middle = turned + 0.5 * h * bent, slope = bent - 0.5 * h * weight * (1 - i * h) * cos(turned);
        *down += h * sin(middle);
        turned += h * slope;
        bent -= h * weight * (1 - (i + 0.5) * h) * cos(middle);
    }
    return bent;
}

static double heavy_strip(double weight)
{
    double low = 0, high = weight, down = 0;
    for (int k = 0; k < 60; k++) {
        double middle = 0.5 * (low + high);
        if (shoot(weight, middle, &down) > 0)
            high = middle;
        else
            low = middle;
    }
    return down;
}

/* A strip that hangs by its own weight, held over one square. */
talus_status tl_lg_case_strip(tl_case_log *log, talus_error *err)
{
    static const char *const ways[] = {"hinge", "ring"};
    static const double weights[] = {2, 10}; /* of the strip, times L^2 over bending stiffness */
    for (int k = 0; k < 8; k++) {
        const int n = k & 1 ? 24 : 12, across = n / 4;
        const double h = 1.0 / n, weight = weights[k / 4], thick = 0.002;
        tl_lg_world w;
        char name[100];
        TL_TRY(tl_lg_world_open(&w, err,
                                "gravity = {0, 0, -10}, lg = { time = 'static' }, bodies = { { name = 'strip', shape = "
                                "box { size = {%.17g, "
                                "%.17g, %g}, center = {%.17g, 0, 0} }, cells = {%d, %d, 1}, thickness = %g, bending = "
                                "'%s', bending_stiffness "
                                "= %.17g, anchor = box { size = {2, 1, 1}, center = {%.17g, 0, 0} }, anchor_weight = "
                                "1e6, material = elastic { "
                                "density = 1000, young = 1e9, poisson = 0.3, model = 'corotated' } } }",
                                1 + h, across * h, thick, 0.5 * (1 - h), n + 1, across, thick, ways[k / 2 % 2],
                                1000 * thick * 10 / weight, -1 + 1e-3 * h));
        talus_status status = tl_lg_world_steps(&w, 1, 0.01, false, err);
        tl_vec3 end = tip(&w);
        tl_world_close(&w);
        TL_TRY(status);
        snprintf(name, sizeof name, "%s, %d squares, weight %g: end of the strip, of L below", ways[k / 2 % 2], n,
                 weight);
        tl_case_relative(log, name, -end.z, heavy_strip(weight), 0.05);
    }
    return TALUS_OK;
}

/* A square plate, clamped all around: 0.00126532 q a^4 / B in its middle [Timoshenko1959]. */
talus_status tl_lg_case_plate(tl_case_log *log, talus_error *err)
{
    static const char *const ways[] = {"hinge", "ring"};
    for (int k = 0; k < 4; k++) {
        const int n = k & 1 ? 32 : 24;
        const double h = 1.0 / n, rim = 1 - 1e-3 * h, bends = 1e9 * 1e-6 / (12 * 0.91), exact = 0.00126532 * 10 / bends;
        tl_lg_world w;
        char name[100];
        TL_TRY(tl_lg_world_open(
            &w, err,
            "gravity = {0, 0, -1}, lg = { time = 'static' }, bodies = { { name = 'plate', shape = box { size = {%.17g, "
            "%.17g, 0.01} }, cells = {%d, %d, 1}, thickness = 0.01, bending = '%s', bending_stiffness = %.17g, anchor "
            "= "
            "union { box { size = {4, 4, 1}, center = {0, %.17g, 0} }, box { size = {4, 4, 1}, center = {0, %.17g, 0} "
            "}, "
            "box { size = {4, 4, 1}, center = {%.17g, 0, 0} }, box { size = {4, 4, 1}, center = {%.17g, 0, 0} } }, "
            "anchor_weight = 1e7, material = elastic { density = 1000, young = 1e9, poisson = 0.3, model = 'corotated' "
            "} } }",
            1 + 2 * h, 1 + 2 * h, n + 2, n + 2, ways[k / 2], bends, 0.5 * rim + 2, -0.5 * rim - 2, 0.5 * rim + 2,
            -0.5 * rim - 2));
        talus_status status = tl_lg_world_steps(&w, 1, 0.01, false, err);
        double deepest = 0;
        for (int64_t i = 0; i < w.sim->lg.nodes; i++)
            deepest = fmax(deepest, -tl_lg_state_of(&w.sim->state)->q[3 * i + 2]);
        tl_world_close(&w);
        TL_TRY(status);
        snprintf(name, sizeof name, "%s, %d squares: middle of the plate over theory's", ways[k / 2], n);
        tl_case_near(log, name, deepest / exact, 1, 0.05);
    }
    return TALUS_OK;
}

/* ---- motion ---- */

/* Time from the first turn of the tip to the third, and what of the swing is left then. */
static talus_status swing(tl_lg_world *w, double *period, double *kept, talus_error *err)
{
    double before = 0, z0 = 0, extreme[3] = {0}, when[3] = {0};
    int found = 0;
    for (int k = 0; k < 600 && found < 3; k++) {
        TL_TRY(tl_sim_step(w->sim, 0.01, INFINITY, err));
        double z = tip(w).z, v = z - z0;
        if (k > 0 && v * before < 0) {
            when[found] = 0.01 * (k + 0.5 - v / (v - before)); /* where the speed crosses zero */
            extreme[found++] = z0;
        }
        before = v;
        z0 = z;
    }
    double middle = 0.25 * (extreme[0] + 2 * extreme[1] + extreme[2]);
    *period = when[2] - when[0];
    *kept = (extreme[2] - middle) / (extreme[0] - middle);
    return TALUS_OK;
}

/* First bending frequency less 0.6 % for shear and rotation at L/h = 10 [Han1999]; what a period leaves of the
 * swing. 10 ms, defaults. At 1e9 Pa a period is 5.6 steps: as much too long as the step's warning says. */
talus_status tl_lg_case_rings(tl_case_log *log, talus_error *err)
{
    static const double young[] = {1e6, 1e7, 1e9};
    for (int e = 0; e < 3; e++) {
        const double exact = 2 * PI / (1.8751041 * 1.8751041 * sqrt(young[e] * 0.01 / 12 / 1000)) / 0.994;
        tl_lg_world w;
        char more[80], name[100];
        snprintf(more, sizeof more, "gravity = {0, 0, %g},", -0.0981 * young[e] / 1e7);
        TL_TRY(open_bar(&w, more, 0.1, (const int[3]){40, 4, 4}, young[e], 0.3, "neo_hookean", err));
        double period, kept;
        talus_status status = swing(&w, &period, &kept, err);
        tl_world_close(&w);
        TL_TRY(status);
        snprintf(name, sizeof name, "E %g: period over theory's", young[e]);
        tl_case_near(log, name, period / exact, e == 2 ? 1.23 : 1, e == 2 ? 0.08 : 0.03);
        snprintf(name, sizeof name, "E %g: amplitude left after a period", young[e]);
        tl_case_near(log, name, kept, e == 2 ? 0.5 : 1, e == 2 ? 0.2 : 0.03);
    }
    return TALUS_OK;
}

/* Kelvin and Voigt: a swing of angular frequency w falls as exp(-damping w^2 t / 2), with w of its own period. */
talus_status tl_lg_case_damped(tl_case_log *log, talus_error *err)
{
    static const struct {
        double young, damping;
        const char *model;
    } bars[] = {{1e7, 0.005, "neo_hookean"}, {1e7, 0.02, "arap"}, {1e6, 0.05, "corotated"}};
    for (int k = 0; k < 3; k++) {
        double period, kept[2];
        for (int damps = 0; damps < 2; damps++) {
            tl_lg_world w;
            TL_TRY(tl_lg_world_open(&w, err,
                                    "gravity = {0, 0, %g}, bodies = { { name = 'bar', shape = box { size = {1, 0.1, "
                                    "0.1}, center = {0.5, 0, 0} }, cells = {20, 2, 2}, anchor = box { size = {1e-4, 1, "
                                    "1} }, material = elastic { density = 1000, young = %g, poisson = 0.3, damping = "
                                    "%g, model = '%s' } } }",
                                    -0.0981 * bars[k].young / 1e7, bars[k].young, damps * bars[k].damping,
                                    bars[k].model));
            talus_status status = swing(&w, &period, &kept[damps], err);
            tl_world_close(&w);
            TL_TRY(status);
        }
        char name[100];
        const double fell = log1p(kept[0] / kept[1] - 1), rate = 2 * PI * PI * bars[k].damping / (period * period);
        snprintf(name, sizeof name, "E %g, %s, damping %g s: rate over theory's", bars[k].young, bars[k].model,
                 bars[k].damping);
        tl_case_near(log, name, fell / (rate * period), 1, 0.05);
    }
    return TALUS_OK;
}

/* The same bar bound to the world by joins, which are rows. By rounds alone (lg.corrections = 0) the period is 1.48
 * of theory's at 1e8 Pa, and up to half of the forces of a step are left over. */
talus_status tl_lg_case_joined(tl_case_log *log, talus_error *err)
{
    static const double young[] = {1e7, 1e8};
    for (int e = 0; e < 2; e++) {
        const double exact = 2 * PI / (1.8751041 * 1.8751041 * sqrt(young[e] * 0.01 / 12 / 1000)) / 0.994;
        tl_lg_world w;
        char name[100];
        TL_TRY(tl_lg_world_open(&w, err,
                                "gravity = {0, 0, %g}, joins = { { body = 'bar', shape = box { size = {1e-4, 1, 1} } } "
                                "}, bodies = { { name = "
                                "'bar', shape = box { size = {1, 0.1, 0.1}, center = {0.5, 0, 0} }, cells = {20, 2, "
                                "2}, material = elastic { "
                                "density = 1000, young = %g, poisson = 0.3, model = 'neo_hookean' } } }",
                                -0.0981 * young[e] / 1e7, young[e]));
        double period, kept;
        talus_status status = swing(&w, &period, &kept, err);
        double left = w.sim->report.solve[0].certificate;
        tl_world_close(&w);
        TL_TRY(status);
        snprintf(name, sizeof name, "joined, E %g: period over theory's", young[e]);
        tl_case_near(log, name, period / exact, 1, 0.035);
        snprintf(name, sizeof name, "joined, E %g: forces of the last step that are left over", young[e]);
        tl_case_below(log, name, left, 1e-4);
    }
    return TALUS_OK;
}

/* A cube that spins freely, 10 ms: angular momentum is kept. */
talus_status tl_lg_case_spins(tl_case_log *log, talus_error *err)
{
    static const double spin[] = {10, 30};
    for (int k = 0; k < 2; k++) {
        tl_lg_world w;
        TL_TRY(tl_lg_world_open(
            &w, err,
            "gravity = {0, 0, 0}, bodies = { { name = 'cube', shape = box { size = 0.2 }, cells = {4, 4, "
            "4}, spin_rad_per_s = {0, %g, 0}, material = elastic { density = 1000, young = 1e6, "
            "poisson = 0.3, model = 'neo_hookean' } } }",
            spin[k]));
        const tl_lg *lg = &w.sim->lg;
        tl_vec3 first =
            tl_lg_whole_of(lg, lg->body, tl_lg_state_of(&w.sim->state)->q, tl_lg_state_of(&w.sim->state)->v).L;
        talus_status status = tl_lg_world_steps(&w, 100, 0.01, false, err);
        double left =
            tl_lg_whole_of(lg, lg->body, tl_lg_state_of(&w.sim->state)->q, tl_lg_state_of(&w.sim->state)->v).L.y /
            first.y;
        tl_world_close(&w);
        TL_TRY(status);
        tl_case_near(log, "angular momentum after 1 s, of the first", left, 1, 0.01);
    }
    return TALUS_OK;
}

/* A rubber ball that falls by 1 m: speed after over before. The loss is that of the steps: 10 and 2.5 ms. */
talus_status tl_lg_case_bounces(tl_case_log *log, talus_error *err)
{
    for (int k = 0; k < 2; k++) {
        const double dt = k ? 0.0025 : 0.01;
        tl_lg_world w;
        TL_TRY(tl_lg_world_open(
            &w, err,
            "gravity = {0, 0, -9.81}, bodies = { { name = 'floor', kind = 'static', shape = half_space "
            "{ normal = {0, 0, 1} } }, { name = 'ball', shape = sphere { radius = 0.1 }, at = {0, 0, "
            "1.1}, edge = 0.04, material = elastic { density = 1000, young = 1e6, poisson = 0.4, model "
            "= 'neo_hookean' } } }"));
        talus_status status = TALUS_OK;
        double max = 0, lowest = 1e9;
        for (int i = 0; i < (int)(0.9 / dt) && status == TALUS_OK; i++) {
            status = tl_sim_step(w.sim, dt, INFINITY, err);
            double z = tl_lg_world_mean(&w, 2);
            if (z < lowest) lowest = z, max = 0;
            max = fmax(max, z - 0.1);
        }
        tl_world_close(&w);
        TL_TRY(status);
        tl_case_above(log, k ? "2.5 ms: speed of the rebound, of the impact's" : "10 ms: the same", sqrt(max),
                      k ? 0.8 : 0.6);
    }
    return TALUS_OK;
}
