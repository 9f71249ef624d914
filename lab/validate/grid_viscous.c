/* Viscous liquid on the grid: V9, V10, V11 and V20 of spec elasto-monolith, and whole runs. Where a case is about one
 * solve, it takes the coupled problem of a step, sets velocities of its own and solves it again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/validate/grid_cases.h"
#include "lab/world.h"
#include "phase/grid/grid.h"

#define PI 3.14159265358979323846

typedef struct viscous_case {
    int across;  /* axis of the shear */
    int along;   /* axis of the flow */
    double push; /* m/s per solve, along */
    int solves;
    double tolerance; /* of a solve */
    double (*start)(double x);
    double (*expect)(double x, double dx);
    double error, amplitude; /* out: largest, m/s; of the start's form */
} viscous_case;

static double coordinate(tl_vec3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

/* What a case changes of a step that goes on afterwards. */
typedef struct kept {
    const tl_system *system;
    double *p, *copy[4];
    size_t bytes[4];
} kept;

static void fields_of(const kept *k, double *out[4])
{
    out[0] = k->system->c.u, out[1] = k->system->c.v, out[2] = k->p, out[3] = k->system->viscous.s;
}

static talus_status keep(const tl_grid_view *view, kept *k, talus_error *err)
{
    const tl_system *y = &view->flow->system;
    double *from[4];
    *k = (kept){.system = y, .p = view->flow->p};
    fields_of(k, from);
    const int64_t n[4] = {y->c.faces, y->c.solid.n, y->c.cells, y->stress.n};
    for (int i = 0; i < 4; i++) {
        if (!(k->copy[i] = TL_TAKE(view->b->arena, double, n[i])))
            return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for velocities");
        k->bytes[i] = sizeof(double) * (size_t)n[i];
        memcpy(k->copy[i], from[i], k->bytes[i]);
    }
    return TALUS_OK;
}

static void give_back(const kept *k)
{
    double *to[4];
    fields_of(k, to);
    for (int i = 0; i < 4; i++) memcpy(to[i], k->copy[i], k->bytes[i]);
}

static talus_status solve_again(const tl_grid_view *view, double tolerance, talus_error *err)
{
    tl_coupled again = *view->coupled;
    tl_scheme_report report;
    again.tolerance = tolerance;
    again.warm = false;
    memset(view->flow->p, 0, sizeof *view->flow->p * (size_t)view->flow->system.c.cells);
    return tl_scheme_run(&again, &report, err);
}

/* Shear flow between plates: faces along, `solves` times. */
static talus_status shear(void *user, const tl_shown *shown, talus_error *err)
{
    viscous_case *k = user;
    if (shown->kind != TL_SHOWN_STEP) return TALUS_OK;
    const tl_grid_view *view = shown->problem;
    const tl_system *y = &view->flow->system;
    const tl_coupling *c = &y->c;
    const tl_grid *g = &view->flow->grid;
    kept before;
    TL_TRY(keep(view, &before, err));
    for (int32_t f = 0; f < c->faces; f++) {
        double x = coordinate(tl_grid_face_centre(g, y->axis[f], y->id[f]), k->across);
        c->u[f] = y->axis[f] == k->along && c->fluid[f] > 0 ? k->start(x) : 0;
    }
    for (int n = 0; n < k->solves; n++) {
        for (int32_t f = 0; f < c->faces; f++) c->u[f] += y->axis[f] == k->along && c->fluid[f] > 0 ? k->push : 0;
        TL_TRY(solve_again(view, k->tolerance, err));
    }
    double with = 0, all = 0;
    for (int32_t f = 0; f < c->faces; f++) {
        if (!(c->fluid[f] > 0)) continue;
        double x = coordinate(tl_grid_face_centre(g, y->axis[f], y->id[f]), k->across);
        double u = y->axis[f] == k->along ? k->expect(x, c->dx) : 0;
        k->error = fmax(k->error, fabs(c->u[f] - u));
        with += y->axis[f] == k->along ? c->u[f] * sin(PI * x) : 0;
        all += y->axis[f] == k->along ? sin(PI * x) * sin(PI * x) : 0;
    }
    k->amplitude = with / all;
    give_back(&before);
    return TALUS_OK;
}

static talus_status between_plates(viscous_case *k, int cells, double eta, double dt, talus_error *err)
{
    tl_world r;
    bool p[3];
    for (int a = 0; a < 3; a++) p[a] = a != k->across;
    TL_TRY(tl_world_open(&r, err,
                         "return scene { talus = 1, engine = 'grid', duration = 1, fps = 1, gravity = {0, 0, 0},"
                         " dt_max = %.17g, grid = { cells = {%d, %d, %d}, cell = %.17g, periodic = {%s, %s, %s} },"
                         " fill = { { material = viscous { density = 1000, viscosity = %.17g }, sampling = 'lattice',"
                         " shape = box { size = 1, center = {0.5, 0.5, 0.5} } } } }",
                         dt, cells, cells, cells, 1.0 / cells, p[0] ? "true" : "false", p[1] ? "true" : "false",
                         p[2] ? "true" : "false", eta));
    r.sim->look = shear;
    r.sim->look_user = k;
    talus_status status = tl_world_steps(&r, 1, dt, err);
    tl_world_close(&r);
    return status;
}

static double nothing(double x) { return 0 * x; }
static double sine(double x) { return sin(PI * x); }
static double any(double x, double dx) { return 0 * x * dx; }
/* g / (2 nu) x (1 - x) + g dx^2 / (8 nu), with g / nu = 1 */
static double parabola(double x, double dx) { return 0.5 * x * (1 - x) + 0.125 * dx * dx; }

talus_status tl_case_grid_poiseuille(tl_case_log *log, talus_error *err)
{
    /* nu dt = 1e4 m^2, so that the third solve is steady to 1e-15 */
    const double dt = 0.01, nu = 1e6;
    for (int across = 0; across < 3; across++)
        for (int turn = 1; turn < 3; turn++) {
            viscous_case k = {.across = across,
                              .along = (across + turn) % 3,
                              .push = nu * dt,
                              .solves = 3,
                              .tolerance = 1e-12,
                              .start = nothing,
                              .expect = parabola};
            char name[96];
            TL_TRY(between_plates(&k, 8, 1000 * nu, dt, err));
            snprintf(name, sizeof name, "flow along %c between plates across %c, off x (1 - x) / 2 + h^2 / 8",
                     "xyz"[k.along], "xyz"[across]);
            tl_case_below(log, name, k.error, 1e-9);
        }
    return TALUS_OK;
}

talus_status tl_case_grid_decay(tl_case_log *log, talus_error *err)
{
    static const double expected[] = {2.13e-2, 5.30e-3, 1.32e-3};
    for (int i = 0; i < 2; i++)
        for (int across = 0; across < 3; across++) {
            viscous_case k = {.across = across,
                              .along = (across + 1) % 3,
                              .solves = 10,
                              .tolerance = 1e-10,
                              .start = sine,
                              .expect = any};
            char name[96];
            TL_TRY(between_plates(&k, 8 << i, 2000, 0.01, err));
            snprintf(name, sizeof name, "sin(pi %c), nu = 2, over (1 + dt nu pi^2)^-10, less 1, %d cells",
                     "xyz"[across], 8 << i);
            tl_case_near(log, name, k.amplitude * pow(1 + 0.02 * PI * PI, 10) - 1, expected[i], 5e-5);
        }
    return TALUS_OK;
}

/* ---- V11: liquid and solid move together ---- */

typedef struct together {
    tl_vec3 v, w, about;
    double changed; /* out, m/s */
} together;

static talus_status move_together(void *user, const tl_shown *shown, talus_error *err)
{
    together *k = user;
    if (shown->kind != TL_SHOWN_STEP) return TALUS_OK;
    const tl_grid_view *view = shown->problem;
    const tl_system *y = &view->flow->system;
    const tl_coupling *c = &y->c;
    double *u = TL_TAKE(view->b->arena, double, c->faces), *v = view->flow->v_free, v_free[6];
    kept before;
    TL_TRY(keep(view, &before, err));
    memcpy(v_free, v, sizeof v_free);
    if (!u) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for velocities");
    for (int32_t f = 0; f < c->faces; f++) {
        tl_vec3 x = tl_grid_face_centre(&view->flow->grid, y->axis[f], y->id[f]);
        c->u[f] = u[f] = coordinate(tl_vec3_add(k->v, tl_vec3_cross(k->w, tl_vec3_sub(x, k->about))), y->axis[f]);
    }
    tl_vec3 centre = tl_vec3_add(k->v, tl_vec3_cross(k->w, tl_vec3_sub(view->flow->before[0].x, k->about)));
    tl_vec3_store(centre, v);
    tl_vec3_store(k->w, v + 3);
    TL_TRY(solve_again(view, 1e-12, err));
    for (int32_t f = 0; f < c->faces; f++)
        if (c->fluid[f] > 0) k->changed = fmax(k->changed, fabs(c->u[f] - u[f]));
    k->changed = fmax(k->changed, tl_vec3_norm(tl_vec3_sub(tl_vec3_load(c->v), centre)));
    memcpy(v, v_free, sizeof v_free);
    give_back(&before);
    return TALUS_OK;
}

talus_status tl_case_grid_together(tl_case_log *log, talus_error *err)
{
    static const double etas[] = {1, 100, 1e5};
    for (int i = 0; i < 3; i++)
        for (int turns = 0; turns < 2; turns++) {
            tl_world r;
            together k = {.v = {0.95, -0.3, 0.2}, .about = {0.5, 0.5, 0.5}};
            if (turns) k.w = (tl_vec3){0.4, 1, -0.7};
            TL_TRY(tl_world_open(
                &r, err,
                "return scene { talus = 1, engine = 'grid', duration = 1, fps = 20, gravity = {0, 0, 0},"
                " dt_max = 0.01, grid = { cells = {10, 10, 10}, cell = 0.1 },"
                " domain = { x_min = 'open', x_max = 'open', y_min = 'open', y_max = 'open', z_min = 'open', z_max = "
                "'open' },"
                " bodies = { { shape = box { size = {0.31, 0.27, 0.33} }, at = {0.63, 0.47, 0.52}, rotation_deg = {10, "
                "25, 40}, density = 700 } },"
                " fill = { { material = viscous { density = 1000, viscosity = %g }, shape = sphere { radius = 0.33,"
                " center = {0.45, 0.5, 0.5} } } } }",
                etas[i]));
            r.sim->look = move_together;
            r.sim->look_user = &k;
            talus_status status = tl_world_steps(&r, 1, 0.01, err);
            tl_world_close(&r);
            TL_TRY(status);
            char name[96];
            snprintf(name, sizeof name, "%s at 1 m/s, eta %g: largest change, m/s",
                     turns ? "translation and rotation" : "translation", etas[i]);
            tl_case_below(log, name, k.changed, 1e-8);
        }
    return TALUS_OK;
}

/* ---- V20: momentum of a free blob and a solid ---- */

talus_status tl_case_grid_free_blob(tl_case_log *log, talus_error *err)
{
    static const double etas[] = {0.1, 100, 1e5};
    for (int i = 0; i < 3; i++) {
        tl_world r;
        TL_TRY(tl_world_open(
            &r, err,
            "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, gravity = {0, 0, 0},"
            " grid = { cells = {20, 16, 16}, cell = 0.1 },"
            " domain = { x_min = 'open', x_max = 'open', y_min = 'open', y_max = 'open', z_min = 'open', z_max = "
            "'open' },"
            " bodies = { { shape = box { size = {0.41, 0.37, 0.33} }, at = {1.05, 0.87, 0.82}, rotation_deg = {10, 25,"
            " 40}, density = 700, velocity = {-1, 0.5, 0.2}, spin_rad_per_s = {2, -1, 3} } },"
            " fill = { { material = viscous { density = 1000, viscosity = %g }, velocity = {1, 0.3, -0.2},"
            " shape = sphere { radius = 0.37, center = {0.65, 0.8, 0.8} } },"
            " { material = viscous { density = 800, viscosity = 3 }, velocity = {-0.6, -0.4, 0.5},"
            " shape = sphere { radius = 0.3, center = {1.4, 0.75, 0.85} } } } }",
            etas[i]));
        talus_status status = TALUS_OK;
        tl_vec3 lost = {0, 0, 0};
        double energy = INFINITY, gain = 0, scale = 0;
        for (int step = 0; step < 20 && status == TALUS_OK; step++) {
            status = tl_world_steps(&r, 1, 0, err);
            const tl_accounts *a = &r.sim->accounts;
            lost = tl_vec3_add(lost, a->momentum_unexplained);
            if (step == 0) scale = sqrt(2 * a->mass * r.sim->report.kinetic);
            gain = fmax(gain, r.sim->report.kinetic - energy);
            energy = r.sim->report.kinetic;
        }
        tl_world_close(&r);
        TL_TRY(status);
        char name[96];
        snprintf(name, sizeof name, "momentum of liquids and body, eta %g, lost in 20 steps over sqrt(2 m E)", etas[i]);
        tl_case_below(log, name, tl_vec3_norm(lost) / scale, 1e-12);
        snprintf(name, sizeof name, "largest rise of their energy in a step, eta %g, J", etas[i]);
        tl_case_below(log, name, gain, 1e-9);
    }
    return TALUS_OK;
}

/* ---- a ball sinks in a tube ---- */

/* Drag on a ball on the axis of a tube over that without walls, part: of the radii. [Haberman1958] */
static double tube_factor(double part)
{
    const double p3 = part * part * part, p5 = p3 * part * part;
    return (1 - 0.75857 * p5) / (1 - 2.1050 * part + 2.0865 * p3 - 1.7068 * p5 + 0.72603 * p5 * part);
}

static talus_status sink(tl_case_log *log, int across, talus_error *err)
{
    /* off the corners of cells by parts that have nothing to do with each other */
    const double radius = 0.1, eta = 1000, cell = 2 * radius / across, off[3] = {0.3, 0.7, 0.15};
    const int half = 3 * across / 2 + 2, high = 4 * across + 4;
    tl_world r;
    TL_TRY(tl_world_open(
        &r, err,
        "return scene { talus = 1, engine = 'grid', duration = 1, fps = 100, grid = { cells = {%d, %d, %d}, cell = "
        "%.17g, origin = {%.17g, %.17g, %.17g} }, bodies = { { shape = sphere { radius = 0.1 }, at = {0, 0.5, 0}, "
        "density "
        "= 2000 }, { kind = 'static', shape = subtract { box { size = {3, 4, 3}, center = {0, 2, 0} }, cylinder { "
        "radius = 0.3, height = 4, center = {0, 2, 0} } } }, { kind = 'static', shape = box { size = {4, 1, 4}, center "
        "= {0, -0.5, 0} } } }, fill = { { material = viscous { density = 1000, viscosity = %g }, shape = cylinder { "
        "radius = 0.3, height = 0.8, center = {0, 0.4, 0} } } } }",
        2 * half, high, 2 * half, cell, (off[0] - half) * cell, (off[1] - 2) * cell, (off[2] - half) * cell, eta));
    talus_status status = tl_world_steps(&r, 4, 0.01, err);
    double speed = -r.sim->state.rigid.body[0].v.y;
    tl_world_close(&r);
    TL_TRY(status);
    const double alone = 2.0 / 9 * 1000 * 9.81 * radius * radius / eta;
    char name[96];
    snprintf(name, sizeof name, "speed of a ball %d cells thick, over that of Stokes with the tube's correction",
             across);
    tl_case_relative(log, name, speed * tube_factor(1.0 / 3) / alone, 1, 0.05);
    return TALUS_OK;
}

talus_status tl_case_grid_stokes(tl_case_log *log, talus_error *err)
{
    static const int across[] = {6, 8, 12};
    for (int i = 0; i < 3; i++) TL_TRY(sink(log, across[i], err));
    return TALUS_OK;
}

/* ---- a round drop of fixed volume spreads: r ~ t^(1/8) [Huppert1982] ---- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Radius that holds all but half a percent of the particles. */
static talus_status front_of(tl_world *r, double *out, talus_error *err)
{
    const tl_particles *p = &tl_grid_state_of(&r->sim->state)->particles;
    double *at = tl_alloc(sizeof *at * (size_t)p->count);
    if (!at) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for radii");
    for (int64_t i = 0; i < p->count; i++) at[i] = hypot(p->particle[i].x.x, p->particle[i].x.z);
    qsort(at, (size_t)p->count, sizeof *at, by_value);
    *out = at[(int64_t)(0.995 * (double)p->count)];
    tl_free(at);
    return TALUS_OK;
}

static talus_status spread(tl_case_log *log, tl_world *r, talus_error *err)
{
    double sum[4] = {0};
    int n = 0;
    for (int k = 0; k <= 8; k++, n++) {
        double t = 0.6 * pow(10, k / 8.0), front = NAN;
        TL_TRY(tl_world_until(r, t, 0, err));
        TL_TRY(front_of(r, &front, err));
        sum[0] += log10(t), sum[1] += log10(front);
        sum[2] += log10(t) * log10(t), sum[3] += log10(t) * log10(front);
    }
    tl_case_relative(log, "exponent of the front of a drop, from 0.6 to 6 s",
                     (n * sum[3] - sum[0] * sum[1]) / (n * sum[2] - sum[0] * sum[0]), 0.125, 0.1);
    tl_case_near(log, "its volume", r->sim->report.volume_error, 0, 0.01);
    return TALUS_OK;
}

talus_status tl_case_grid_drop(tl_case_log *log, talus_error *err)
{
    tl_world r;
    TL_TRY(tl_world_open(&r, err,
                         "return scene { talus = 1, engine = 'grid', duration = 6, fps = 25, grid = { cells = {28, 20, "
                         "28}, cell = 0.01, origin = {0, -0.02, 0} }, domain = { liquid_slip = true },"
                         " bodies = { { kind = 'static', shape = box { size = {4, 0.02, 4}, center = {0, -0.01, 0} } } "
                         "}, fill = { { material = viscous { density = 1000, viscosity = 100 }, shape = cylinder { "
                         "radius = 0.12, height = 0.12, center = {0, 0.06, 0} } } } }"));
    talus_status status = spread(log, &r, err);
    tl_world_close(&r);
    return status;
}
