/* The local-global engine: V1 to V6, V9, V10 of its spec; numbers from there unless said. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "math/svd3.h"
#include "model/lg/cells.h"
#include "model/lg/solver.h"
#include "scene/load.h"
#include "step/sim.h"
#include "validate/case.h"

#define TEXT_MOST 4000

typedef struct world {
    tl_scene *scene;
    tl_sim *sim;
} world;

static void close_world(world *w)
{
    tl_sim_free(w->sim);
    tl_scene_free(w->scene);
    *w = (world){0};
}

/* `format` is what stands between the braces of scene { ... } after engine, duration, fps. */
static talus_status open_world(world *w, talus_error *err, const char *format, ...) TL_PRINTF(3, 4);
static talus_status open_world(world *w, talus_error *err, const char *format, ...)
{
    char inner[TEXT_MOST], text[TEXT_MOST + 200];
    va_list args;
    va_start(args, format);
    vsnprintf(inner, sizeof inner, format, args);
    va_end(args);
    int bytes =
        snprintf(text, sizeof text, "return scene { talus = 1, engine = 'lg', duration = 100, fps = 100, %s }", inner);
    *w = (world){0};
    TL_TRY(tl_scene_load_text(&w->scene, "case", text, (size_t)bytes, &(tl_load_options){.no_files = true}, err));
    talus_status status = tl_sim_create(&w->sim, w->scene, NULL, err);
    if (status != TALUS_OK) close_world(w);
    return status;
}

static talus_status steps(world *w, int count, double dt, bool at_rest, talus_error *err)
{
    for (int k = 0; k < count; k++) {
        TL_TRY(tl_sim_step(w->sim, dt, INFINITY, err));
        if (at_rest) memset(w->sim->state.lg.v, 0, sizeof(double) * 3 * (size_t)w->sim->lg.nodes);
    }
    return TALUS_OK;
}

static double mean_of(const world *w, int axis)
{
    const tl_lg *lg = &w->sim->lg;
    double sum = 0, mass = 0;
    for (int32_t i = 0; i < lg->nodes; i++) {
        sum += lg->mass[i] * w->sim->state.lg.q[3 * (int64_t)i + axis];
        mass += lg->mass[i];
    }
    return sum / mass;
}

/* Mean displacement along `axis` of nodes whose rest place has x = 1. */
static double tip(const world *w, int axis)
{
    const tl_lg *lg = &w->sim->lg;
    double sum = 0;
    int count = 0;
    for (int64_t i = 0; i < lg->nodes; i++)
        if (lg->rest[3 * i] > 1 - 1e-9) {
            sum += w->sim->state.lg.q[3 * i + axis] - lg->rest[3 * i + axis];
            count++;
        }
    return sum / count;
}

/* ---- V1 ---- */

static talus_status falls(tl_case_log *log, talus_error *err)
{
    static const char *const models[] = {"arap", "corotated", "neo_hookean"};
    for (int k = 0; k < 3; k++) {
        world w;
        TL_TRY(open_world(&w, err,
                          "gravity = {0, 0, -9.81}, lg = { iterations = 5 }, bodies = { { shape = box { size = {1, "
                          "0.5, 0.5}, center = {0.5, "
                          "0.25, 0.25} }, cells = {4, 2, 2}, "
                          "material = elastic { density = 1000, young = 1e6, poisson = 0.3, model = '%s' } } }",
                          models[k]));
        talus_status status = steps(&w, 100, 0.01, false, err);
        const tl_lg *lg = &w.sim->lg;
        double deformed = 0, fell = -9.81 * 0.01 * 0.01 * 100 * 101 / 2;
        for (int64_t i = 0; i < 3 * (int64_t)lg->nodes; i++)
            deformed = fmax(deformed, fabs(w.sim->state.lg.q[i] - lg->rest[i] - (i % 3 == 2 ? fell : 0)));
        tl_case_near(log, "height of the centre of mass, m", mean_of(&w, 2), 0.25 + fell, 1e-9);
        tl_case_below(log, "deformation, m", deformed, 1e-9);
        close_world(&w);
        TL_TRY(status);
    }
    return TALUS_OK;
}

/* ---- V3, V4, V5: a bar held at x = 0 ---- */

#define BAR                                                                                                            \
    "bodies = { { shape = box { size = {1, 0.25, 0.25}, center = {0.5, 0.125, 0.125} }, cells = {8, 2, 2}, anchor = "  \
    "box { size = {0.01, 1, 1} }, "                                                                                    \
    "anchor_weight = %g, material = elastic { density = 1000, young = 1e6, poisson = 0.3, model = '%s' } } }"

static talus_status rest_bar(double out[3], const char *gravity, const char *local, double weight, const char *model,
                             talus_error *err)
{
    world w;
    TL_TRY(open_world(&w, err, "gravity = %s, dt_max = 0.05, lg = { iterations = 40, local_step = '%s' }, " BAR,
                      gravity, local, weight, model));
    talus_status status = steps(&w, 400, 0.05, true, err);
    for (int k = 0; k < 3; k++) out[k] = tip(&w, k);
    close_world(&w);
    return status;
}

static talus_status hangs(tl_case_log *log, talus_error *err)
{
    static const char *const models[] = {"arap", "corotated", "neo_hookean"};
    static const double expected[] = {6.37678e-3, 4.72993e-3, 4.75348e-3};
    for (int k = 0; k < 3; k++) {
        double at[3];
        TL_TRY(rest_bar(at, "{9.81, 0, 0}", "exact", 1e8, models[k], err));
        tl_case_near(log, "mean displacement of the tip, m", at[0], expected[k], 1e-7);
    }
    return TALUS_OK;
}

static talus_status bends(tl_case_log *log, talus_error *err)
{
    static const char *const models[] = {"arap", "corotated", "neo_hookean"};
    static const double expected[] = {-3.60879e-2, -2.580279e-2, -2.584402e-2};
    for (int k = 0; k < 3; k++) {
        double at[3];
        TL_TRY(rest_bar(at, "{0, 0, -1.962}", "exact", 1e8, models[k], err));
        tl_case_near(log, "mean height of the tip, m", at[2], expected[k], 1e-6);
    }
    return TALUS_OK;
}

static talus_status softens(tl_case_log *log, talus_error *err)
{
    double at[3];
    TL_TRY(rest_bar(at, "{9.81, 0, 0}", "prox", 1e8, "neo_hookean", err));
    tl_case_near(log, "tip of the bar that is not Neo-Hookean, m", at[0], 8.4799e-3, 1e-6);
    return TALUS_OK;
}

static const tl_case cases[] = {
    {"V1", "a bar falls freely and does not deform", true, falls},
    {"V3", "a hanging bar: three materials against an independent Newton solver", true, hangs},
    {"V4", "the same bar as a cantilever", true, bends},
    {"V5", "the local step that is printed is another material", true, softens},
    {NULL, NULL, false, NULL},
};
const tl_case_group tl_cases_lg = {"lg", cases};
