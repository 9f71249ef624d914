/* Rigid bodies in contact: the gallery's scenes, run with each contact method and held against their targets. Steps of
 * 10 ms on one thread; milliseconds are processor time of a whole step, detection included. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/timer.h"
#include "lab/bench/table.h"
#include "lab/world.h"
#include "model/rigid/contacts.h"
#include "model/rigid/motion.h"
#include "phase/rigid/rigid.h"
#include "solve/contact/method.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* most checks expect nothing, most cases are quick */

#define DT 0.01
#define SECONDS_MAX 3600.0  /* of one run; a longer one is cut off, and says so */
#define AT_REST 1e-8        /* J per body */
#define SLIDES 1e-4         /* m/s after one second: this speed is sliding, not creep */
#define BALANCE_WANTED 1e-3 /* of the products that are reported for rabbits */
#define PRODUCTS 200        /* of a timing; the best of so many counts: */
#define PRODUCT_ROUNDS 20
#define COLD_ITERATIONS 2000 /* more than any method needs from zero forces */
#define GROWTH_MAX 1.05      /* exponent of the time of a product in the number of bodies */
#define SETTINGS_MAX 4
#define CHECKS_MAX 7

/* What is measured in a run. Small is good. */
typedef enum quantity {
    NOTHING,
    SAG_MM,           /* deepest drop of any body, along gravity */
    DRIFT_MM,         /* farthest move of any body, across it */
    DEEPEST_PERCENT,  /* overlap at any time, of the smallest extent of any body */
    LEFT_MM,          /* overlap at the end */
    ACCELERATION,     /* largest of any body in any step, m/s^2 */
    CREEP_UM_PER_S,   /* displacement of the last body over the time */
    SLIDE_ERROR,      /* its mean acceleration against `expected`, m/s^2 */
    SLIDE_PERCENT,    /* the same, relative */
    NORMALS_RELATIVE, /* sum of normal forces against `expected`, N */
    ROLL_PERCENT,     /* |v - w R| / |v| of the last body; `expected`: R, m */
    SPIN_RELATIVE,    /* change of angular momentum about the centre of mass */
    KINETIC_RELATIVE, /* change of kinetic energy */
    MOMENTUM_RELATIVE,
    ENERGY_RISE_RELATIVE, /* the same, of the energy itself */
    ENERGY_RISE,          /* largest rise of the total energy in a step, of what the run spends */
    LOST_PERCENT_PER_S,   /* of the energy */
    TILT_DEGREES,         /* largest change of the angle between the last body's y and the vertical */
    REST_JOULE,           /* largest kinetic energy per body in the last second */
    MEAN_MS,
    MEDIAN_MS,
    FIRST_MS,
    US_PER_PRODUCT, /* time of one product with W at the end of the run, nothing else */
    STEP_PRODUCTS,  /* mean of the run */
    COLD_PRODUCTS,  /* of one solve from zero forces at the end of the run, at a force balance of BALANCE_WANTED */
    QUANTITIES
} quantity;

static const char *const quantity_names[QUANTITIES] = {"",
                                                       "sag mm",
                                                       "drift mm",
                                                       "overlap %",
                                                       "left inside mm",
                                                       "acceleration m/s2",
                                                       "creep um/s",
                                                       "error m/s2",
                                                       "error %",
                                                       "normals error",
                                                       "slip %",
                                                       "spin change",
                                                       "energy change",
                                                       "momentum change",
                                                       "energy rise of itself",
                                                       "energy rise",
                                                       "energy lost %/s",
                                                       "tilt degrees",
                                                       "rest J/body",
                                                       "mean ms",
                                                       "median ms",
                                                       "first ms",
                                                       "us per product",
                                                       "products per step",
                                                       "cold products"};

typedef struct check {
    quantity what;
    double limit;    /* 0: only reported */
    double expected; /* where the quantity is a difference */
} check;

typedef struct rigid_case {
    const char *name, *scene;
    const char *setting[SETTINGS_MAX];
    double seconds;
    check checks[CHECKS_MAX];
    bool slow; /* takes minutes: only run when asked for */
} rigid_case;

/* Targets: docs/rigid.md. g (sin b - mu cos b): 2.5483 at 40 degrees, 1.60884 at 35; m g cos b of the block:
 * 88.171696 N. The brick has 16 kg, so 78.48 N move it. */
/* clang-format off */
static const rigid_case cases[] = {
    {"slope 26", "block-on-slope", {"angle=26"}, 2, {{ACCELERATION, 1e-6}, {NORMALS_RELATIVE, 1e-6, 88.17169594}}},
    {"slope 40 azimuth 0", "brick-incline", {"angle=40"}, 1, {{SLIDE_ERROR, 1e-3, 2.5483}}},
    {"slope 40 azimuth 15", "brick-incline", {"angle=40", "azimuth=15"}, 1, {{SLIDE_ERROR, 1e-3, 2.5483}}},
    {"slope 40 azimuth 45", "brick-incline", {"angle=40", "azimuth=45"}, 1, {{SLIDE_ERROR, 1e-3, 2.5483}}},
    {"slide 35 axis", "brick-incline", {"angle=35"}, 1, {{SLIDE_PERCENT, 0.5, 1.60884}}},
    {"slide 35 diagonal", "brick-incline", {"angle=35", "azimuth=45"}, 1, {{SLIDE_PERCENT, 0.5, 1.60884}}},
    {"creep 50 % axis", "brick-incline", {"angle=0", "push=39.24"}, 10, {{CREEP_UM_PER_S, 0.1}}},
    {"creep 50 % diagonal", "brick-incline", {"angle=0", "push=39.24", "azimuth=45"}, 10, {{CREEP_UM_PER_S, 0.1}}},
    {"creep 90 % diagonal", "brick-incline", {"angle=0", "push=70.632", "azimuth=45"}, 10, {{CREEP_UM_PER_S, 0.1}}},
    {"stack 10", "stack", {"n=10"}, 10, {{SAG_MM, 1}, {DRIFT_MM}, {DEEPEST_PERCENT, 1}}},
    {"stack 30", "stack", {"n=30"}, 10, {{SAG_MM, 1}, {DRIFT_MM}, {DEEPEST_PERCENT, 1}}},
    {"1 kg under 1000 kg", "mass-ratio", {"n=2", "ratio=1000"}, 5, {{SAG_MM, 1}, {DEEPEST_PERCENT, 1}}},
    {"tower 1 to 10000 kg", "mass-ratio", {"n=5"}, 5, {{SAG_MM, 1}, {DEEPEST_PERCENT, 1}}},
    {"cards 1", "card-house", {"levels=1"}, 5, {{SAG_MM, 1}, {DEEPEST_PERCENT, 1}}},
    {"cards 2", "card-house", {"levels=2"}, 5, {{SAG_MM, 1}, {DEEPEST_PERCENT, 1}}},
    {"cards 5", "card-house", {"levels=5"}, 5, {{SAG_MM, 1}, {DEEPEST_PERCENT, 1}}},
    {"arch", "arch", {"n=15"}, 5, {{SAG_MM, 1}, {DEEPEST_PERCENT, 1}}},
    {"pyramid 210", "pyramid", {"rows=20"}, 5, {{SAG_MM, 1}, {DRIFT_MM, 1}, {DEEPEST_PERCENT, 1}, {MEDIAN_MS, 5}, {FIRST_MS, 60}}},
    {"pile 512", "pile-512", {"edge=8"}, 4, {{MEDIAN_MS, 8}, {DEEPEST_PERCENT, 1}, {REST_JOULE, AT_REST}}},
    {"tumbling 128", "tumbling-pile", {"n=128"}, 5, {{MEAN_MS, 20}, {REST_JOULE, AT_REST}, {LEFT_MM, 0.1}, {DEEPEST_PERCENT, 1}, {ENERGY_RISE, 1e-4}}},
    {"roll", "rolling-ball", {"speed=3"}, 2, {{ROLL_PERCENT, 0.5, 0.1}}},
    {"roll down", "rolling-ball", {"speed=0", "angle=20"}, 2, {{ROLL_PERCENT, 0.5, 0.1}}},
    {"rolling friction 5", "rolling-ball", {"speed=0", "angle=5", "rolling=0.002"}, 1, {{SLIDE_PERCENT, 1, 0.4711}, {ROLL_PERCENT, 0.5, 0.1}}},
    {"rolling friction 1.1", "rolling-ball", {"speed=0", "angle=1.1", "rolling=0.002"}, 2, {{CREEP_UM_PER_S, 0.1}}},
    {"top", "top", {NULL}, 2, {{TILT_DEGREES, 0.1}, {LOST_PERCENT_PER_S, 5}, {ENERGY_RISE_RELATIVE, 1e-9}}},
    {"Euler's disk", "euler-disk", {NULL}, 2, {{TILT_DEGREES, 0.1}, {LOST_PERCENT_PER_S, 5}, {ENERGY_RISE_RELATIVE, 1e-9}}},
    {"free rotation", "gyroscope", {NULL}, 100, {{SPIN_RELATIVE, 1e-6}, {KINETIC_RELATIVE, 1e-3}}},
    {"collision", "collision", {NULL}, 0.6, {{MOMENTUM_RELATIVE, 1e-12}}},
#define RABBITS(n) {"rabbits " #n, "rabbits-in-bowl", {"n=" #n}, 6, {{REST_JOULE, AT_REST}, {DEEPEST_PERCENT, 1}, {LEFT_MM}, {MEAN_MS}, {US_PER_PRODUCT}, {STEP_PRODUCTS}, {COLD_PRODUCTS}}, true}
    RABBITS(125), RABBITS(250), RABBITS(500), RABBITS(1000),
};
/* clang-format on */
#define CASES ((int)(sizeof cases / sizeof *cases))

/* ---- one run ---- */

typedef struct run {
    const talus_bench_options *o;
    tl_world w;
    tl_vec3 *start; /* [bodies] */
    double *ms;     /* [steps] */
    int steps, steps_room, free_bodies;
    bool cut;                                  /* SECONDS_MAX was not enough, or a step failed */
    double extent;                             /* smallest of a free body */
    double first_ms, detect, solve, all;       /* s over the run; first before sorting */
    double iterations, products;               /* sums */
    double residual, deepest, left;            /* largest; largest; last */
    double balance;                            /* last that has a meaning */
    int64_t contacts;                          /* most */
    double acceleration;                       /* largest */
    double kinetic0, kinetic, energy0, energy; /* first and last */
    double rise;
    double tilt0, tilt; /* of the last body's y from the vertical, degrees: first, largest change */
    double rest;        /* largest kinetic energy in the last second */
    tl_vec3 momentum0, angular0;
} run;

static talus_status open_scene(run *r, const char *name, const char *const *setting, const char *method,
                               talus_error *err)
{
    char way[64];
    const char *settings[SETTINGS_MAX + 1];
    int n = 0;
    snprintf(way, sizeof way, "solver.contact.method=%s", method);
    while (n < SETTINGS_MAX && setting[n]) settings[n] = setting[n], n++;
    settings[n++] = way;
    tl_load_options o = {.size = TL_SIZE_PAPER, .setting_count = n, .setting = settings};
    return tl_world_gallery(&r->w, r->o->scenes, name, &o, err);
}

static talus_status run_begin(run *r, const char *name, const char *const *setting, const char *method, double seconds,
                              talus_error *err)
{
    TL_TRY(open_scene(r, name, setting, method, err));
    int64_t n = r->w.sim->state.rigid.count;
    r->steps_room = (int)(seconds / fmin(DT, r->w.scene->dt_max > 0 ? r->w.scene->dt_max : DT) + 0.5) * 4 + 8;
    r->start = TL_NEW(tl_vec3, n);
    r->ms = TL_NEW(double, r->steps_room);
    if (!r->start || !r->ms) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a run of %d steps", r->steps_room);
    r->extent = INFINITY;
    r->balance = NAN;
    for (int64_t i = 0; i < n; i++) {
        const tl_rigid_body *b = &r->w.sim->rigid.body[i];
        r->start[i] = r->w.sim->state.rigid.body[i].x;
        if (b->kind != TL_BODY_FREE) continue;
        r->free_bodies++;
        r->extent = fmin(r->extent, b->extent);
    }
    return TALUS_OK;
}

static void run_end(run *r)
{
    tl_world_close(&r->w);
    tl_free(r->start);
    tl_free(r->ms);
}

static double phase_seconds(const tl_report *p, const char *begins)
{
    double sum = 0;
    for (int i = 0; i < p->phases; i++)
        if (!strncmp(p->phase[i].name, begins, strlen(begins))) sum += p->phase[i].seconds;
    return sum;
}

static void keep_report(run *r, double ms, double until)
{
    const tl_report *p = &r->w.sim->report;
    double energy = p->kinetic + p->potential;
    if (!r->steps) {
        r->first_ms = ms;
        r->kinetic0 = p->kinetic;
        r->energy0 = energy;
        r->momentum0 = p->momentum;
        r->angular0 = p->angular_momentum;
    } else {
        r->rise = fmax(r->rise, energy - r->energy);
    }
    const tl_rigid_state *s = &r->w.sim->state.rigid;
    double up = tl_quat_rotate(s->body[s->count - 1].q, (tl_vec3){0, 1, 0}).y,
           tilt = 57.29577951308232 * acos(fmax(-1, fmin(1, up)));
    if (!r->steps) r->tilt0 = tilt;
    r->tilt = fmax(r->tilt, fabs(tilt - r->tilt0));
    r->kinetic = p->kinetic;
    r->energy = energy;
    if (p->t > until - 1) r->rest = fmax(r->rest, p->kinetic);
    r->contacts = p->contacts > r->contacts ? p->contacts : r->contacts;
    r->deepest = fmax(r->deepest, p->penetration);
    r->left = p->penetration;
    if (p->force_balance == p->force_balance) r->balance = p->force_balance;
    for (int i = 0; i < p->solves; i++) {
        if (strcmp(p->solve[i].name, "contact")) continue;
        r->iterations += p->solve[i].iterations;
        r->products += (double)p->solve[i].work.products;
        r->residual = fmax(r->residual, p->solve[i].certificate);
    }
    double all = phase_seconds(p, ""); /* by the clock: only their shares of the processor time count */
    if (all > 0) {
        r->detect += 1e-3 * ms * phase_seconds(p, "detect") / all;
        r->solve += 1e-3 * ms * phase_seconds(p, "solve") / all;
    }
    r->all += 1e-3 * ms;
    r->ms[r->steps++] = ms;
}

/* Largest acceleration of any body, against the velocities that are kept in `before`. */
static void keep_acceleration(run *r, tl_vec3 *before)
{
    const tl_rigid_state *s = &r->w.sim->state.rigid;
    for (int64_t i = 0; i < s->count; i++) {
        double a = tl_vec3_norm(tl_vec3_sub(s->body[i].v, before[i])) / r->w.sim->report.dt;
        r->acceleration = fmax(r->acceleration, a);
        before[i] = s->body[i].v;
    }
}

static talus_status run_steps(run *r, tl_table *t, double seconds, talus_error *err)
{
    const tl_rigid_state *s = &r->w.sim->state.rigid;
    double began = tl_cpu_seconds();
    tl_vec3 *before = TL_NEW(tl_vec3, s->count);
    if (!before) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld velocities", (long long)s->count);
    for (int64_t i = 0; i < s->count; i++) before[i] = s->body[i].v;
    while (r->w.sim->state.t < seconds && !r->cut && !t->stopped) {
        double start = tl_cpu_seconds();
        talus_error why = {0};
        if (tl_sim_step(r->w.sim, DT, seconds, &why) != TALUS_OK) {
            tl_table_line(t, TALUS_ROW_NOTE, "t = %g s: %.400s", r->w.sim->state.t, why.message);
            r->cut = true;
            break;
        }
        double now = tl_cpu_seconds();
        keep_report(r, 1e3 * (now - start), seconds);
        keep_acceleration(r, before);
        r->cut = now - began > SECONDS_MAX || r->steps == r->steps_room;
    }
    tl_free(before);
    return TALUS_OK;
}

/* ---- what came out ---- */

static double sum_of_normals(const run *r)
{
    const tl_rigid_state *s = &r->w.sim->state.rigid;
    double sum = 0;
    for (int64_t i = 0; i < s->contacts; i++) sum += tl_vec3_dot(s->contact[i].force, s->contact[i].normal);
    return sum;
}

static double moved_mm(const run *r, bool along)
{
    const tl_rigid_state *s = &r->w.sim->state.rigid;
    tl_vec3 down = tl_vec3_scale(1 / tl_vec3_norm(r->w.scene->gravity), r->w.scene->gravity);
    double max = 0;
    for (int64_t i = 0; i < s->count; i++) {
        tl_vec3 d = tl_vec3_sub(s->body[i].x, r->start[i]);
        double drop = tl_vec3_dot(d, down);
        max = fmax(max, along ? drop : tl_vec3_norm(tl_vec3_add_scaled(d, -drop, down)));
    }
    return 1e3 * max;
}

/* The contact problem of a step from the last state, v_free [6 bodies] zero or what gravity gives. Lives in the
 * simulation's arena. */
static bool last_problem(run *r, bool gravity, tl_rigid_problem *out)
{
    tl_sim *sim = r->w.sim;
    const tl_rigid *g = &sim->rigid;
    tl_arena *a = &sim->arena;
    talus_error err;
    tl_arena_reset(a);
    tl_motion *body = TL_TAKE(a, tl_motion, g->count);
    tl_pose *pose = TL_TAKE(a, tl_pose, g->count);
    double *v_free = TL_TAKE_ZERO(a, double, 6 * (int64_t)g->count), *friction = TL_TAKE_ZERO(a, double, g->count),
           *inv_mass = TL_TAKE_ZERO(a, double, g->count), *inv_inertia = TL_TAKE_ZERO(a, double, 9 * (int64_t)g->count);
    if (!body || !pose || !v_free || !friction || !inv_mass || !inv_inertia) return false;
    tl_rigid_begin_bodies(g, sim->state.rigid.body, body, pose);
    for (int32_t i = 0; i < g->count; i++) {
        if (i < g->scene_count && tl_scene_timed(r->w.scene, &r->w.scene->bodies[i].friction, sim->state.t,
                                                 &friction[i], 1, &err) != TALUS_OK)
            return false;
        if (g->body[i].kind != TL_BODY_FREE) continue;
        tl_mat3 inverse = tl_rigid_inverse_inertia(&g->body[i], body[i].q);
        inv_mass[i] = 1 / g->body[i].mass;
        memcpy(inv_inertia + 9 * (int64_t)i, inverse.m, 9 * sizeof(double));
        if (gravity) tl_vec3_store(tl_vec3_scale(DT, r->w.scene->gravity), v_free + 6 * (int64_t)i);
    }
    tl_rigid_view view = {g, r->w.scene, body, pose, friction, NULL, 0, NULL};
    const tl_contact_bodies bodies = {g->count, inv_mass, inv_inertia, NULL, v_free};
    tl_rigid_contacts *c = TL_TAKE(a, tl_rigid_contacts, 1);
    return c && tl_rigid_detect(&view, DT, &sim->state.rigid, a, c, &err) == TALUS_OK &&
           tl_rigid_problem_build(out, &bodies, c, NULL, NULL, DT, a, &err) == TALUS_OK;
}

/* Products of one solve from zero forces, at the loosest target that gives the wanted force balance. */
static double cold_products(run *r, const char *method)
{
    tl_rigid_problem p;
    if (!last_problem(r, true, &p)) return NAN;
    tl_arena *a = &r->w.sim->arena;
    double *lam = TL_TAKE(a, double, p.space.n);
    tl_options options = tl_options_default();
    for (double tolerance = 3e-3; lam && tolerance > 1e-7; tolerance *= 0.5) {
        talus_error err;
        tl_contact_report solved;
        tl_stop stop = {.tolerance = tolerance, .max_iterations = COLD_ITERATIONS};
        memset(lam, 0, sizeof *lam * (size_t)p.space.n);
        if (tl_contact_solve(tl_contact_method_find(method), &p.problem, &options, &stop, lam, a, &solved, &err) !=
            TALUS_OK)
            break;
        if (solved.certificate.balance <= BALANCE_WANTED) return (double)solved.work.products;
    }
    return NAN;
}

/* W = J M^-1 J^T of the last state's contacts, by itself. */
static double product_us(run *r)
{
    tl_rigid_problem p;
    if (!last_problem(r, false, &p)) return NAN;
    tl_arena *a = &r->w.sim->arena;
    double *x = TL_TAKE_ZERO(a, double, p.space.n), *y = TL_TAKE(a, double, p.space.n), best = 1;
    if (!x || !y) return NAN;
    for (int64_t k = 0; k < p.space.n; k += 3) x[k] = 1;
    for (int round = 0; round < PRODUCT_ROUNDS; round++) {
        double start = tl_cpu_seconds();
        for (int k = 0; k < PRODUCTS; k++) tl_linop_apply(&p.problem.W, &p.space, x, y, NULL);
        best = fmin(best, (tl_cpu_seconds() - start) / PRODUCTS);
    }
    return 1e6 * best;
}

static double measure(run *r, const char *method, const check *c, const tl_timing *timing)
{
    const tl_rigid_state *s = &r->w.sim->state.rigid;
    const tl_motion *last = &s->body[s->count - 1];
    tl_vec3 moved = tl_vec3_sub(last->x, r->start[s->count - 1]);
    double t = r->w.sim->state.t, g = tl_vec3_norm(r->w.scene->gravity);
    switch (c->what) {
    case SAG_MM: return moved_mm(r, true);
    case DRIFT_MM: return moved_mm(r, false);
    case DEEPEST_PERCENT: return 100 * r->deepest / r->extent;
    case LEFT_MM: return 1e3 * r->left;
    case ACCELERATION: return r->acceleration;
    case CREEP_UM_PER_S: return 1e6 * tl_vec3_norm(moved) / t;
    case SLIDE_ERROR: return fabs(tl_vec3_norm(last->v) / t - c->expected);
    case SLIDE_PERCENT: return 100 * fabs(tl_vec3_norm(last->v) / t / c->expected - 1);
    case NORMALS_RELATIVE: return fabs(sum_of_normals(r) / c->expected - 1);
    case ROLL_PERCENT: return 100 * fabs(1 - tl_vec3_norm(last->w) * c->expected / tl_vec3_norm(last->v));
    case SPIN_RELATIVE:
        return tl_vec3_norm(tl_vec3_sub(r->w.sim->report.angular_momentum, r->angular0)) / tl_vec3_norm(r->angular0);
    case KINETIC_RELATIVE: return fabs(r->kinetic / r->kinetic0 - 1);
    case MOMENTUM_RELATIVE:
        return tl_vec3_norm(tl_vec3_sub(r->w.sim->report.momentum, r->momentum0)) / tl_vec3_norm(r->momentum0);
    case ENERGY_RISE: return g > 0 ? r->rise / (r->energy0 - r->energy) : NAN;
    case ENERGY_RISE_RELATIVE: return r->rise / fabs(r->energy0);
    case LOST_PERCENT_PER_S: return 100 * (1 - r->energy / r->energy0) / t;
    case TILT_DEGREES: return r->tilt;
    case REST_JOULE: return r->rest / r->free_bodies;
    case MEAN_MS: return 1e3 * r->all / r->steps;
    case MEDIAN_MS: return timing->median;
    case FIRST_MS: return r->first_ms;
    case US_PER_PRODUCT: return product_us(r);
    case COLD_PRODUCTS: return cold_products(r, method);
    case STEP_PRODUCTS: return r->products / r->steps;
    default: return NAN;
    }
}

/* ---- rows ---- */

static const char *const columns[] = {"scene",      "method",    "measured", "limit",   "pass",      "contacts",
                                      "iterations", "residual",  "balance",  "mean ms", "median ms", "worst ms",
                                      "first ms",   "detect ms", "solve ms", NULL};

typedef struct tally {
    int passed, failed;
    int products;        /* scenes whose products were timed: logarithms of their bodies x and times y */
    double x, y, xx, xy; /* sums of */
} tally;

static void verdict(tl_table *t, tally *n, const char *name, const char *method, const char *what, double value,
                    double limit, bool cut)
{
    bool good = value <= limit && !cut;
    tl_table_cell(t, "%s: %s", name, what);
    tl_table_cell(t, "%s", method);
    tl_table_cell(t, "%.4g", value);
    if (limit > 0)
        tl_table_cell(t, "%g", limit);
    else
        tl_table_cell(t, "-");
    tl_table_cell(t, "%s", cut ? "cut off" : limit > 0 ? good ? "yes" : "NO" : "-");
    if (limit > 0) *(good ? &n->passed : &n->failed) += 1;
}

static void count_product(tally *n, int bodies, double us)
{
    double x = log(bodies), y = log(us);
    n->products++;
    n->x += x;
    n->y += y;
    n->xx += x * x;
    n->xy += x * y;
}

/* Exponent of the time of a product in the number of bodies, by least squares. */
static void send_growth(tl_table *t, tally *n, const char *method)
{
    if (n->products < 2) return;
    double k = n->products, growth = (k * n->xy - n->x * n->y) / (k * n->xx - n->x * n->x);
    verdict(t, n, "rabbits", method, "growth of a product n^", growth, GROWTH_MAX, false);
    tl_table_send(t, TALUS_ROW_DATA);
}

static void send_rows(tl_table *t, tally *n, run *r, const rigid_case *c, const char *method)
{
    if (!r->steps) return;
    double steps = r->steps, worst = 0;
    for (int i = 0; i < r->steps; i++) worst = fmax(worst, r->ms[i]);
    tl_timing timing = tl_timing_of(r->steps, r->ms);
    for (int i = 0; i < CHECKS_MAX && c->checks[i].what; i++) {
        const check *k = &c->checks[i];
        double value = measure(r, method, k, &timing);
        if (k->what == US_PER_PRODUCT) count_product(n, r->free_bodies, value);
        verdict(t, n, c->name, method, quantity_names[k->what], value, k->limit, r->cut);
        if (i == 0) { /* what the run itself was like */
            tl_table_cell(t, "%lld", (long long)r->contacts);
            tl_table_cell(t, "%.1f", r->iterations / steps);
            tl_table_cell(t, "%.1e", r->residual);
            tl_table_cell(t, "%.1e", r->balance);
            tl_table_cell(t, "%.3f", 1e3 * r->all / steps);
            tl_table_cell(t, "%.3f", timing.median);
            tl_table_cell(t, "%.3f", worst);
            tl_table_cell(t, "%.3f", r->first_ms);
            tl_table_cell(t, "%.3f", 1e3 * r->detect / steps);
            tl_table_cell(t, "%.3f", 1e3 * r->solve / steps);
        }
        tl_table_send(t, TALUS_ROW_DATA);
    }
}

static talus_status one_case(const talus_bench_options *o, tl_table *t, tally *n, const rigid_case *c,
                             const char *method, talus_error *err)
{
    run r = {.o = o};
    talus_status status = run_begin(&r, c->scene, c->setting, method, c->seconds, err);
    if (status == TALUS_OK) status = run_steps(&r, t, c->seconds, err);
    if (status == TALUS_OK) send_rows(t, n, &r, c, method);
    run_end(&r);
    return status;
}

/* Does the brick slide when gravity is tilted so that its pull is `load` times what friction can hold? */
static talus_status slides(const talus_bench_options *o, tl_table *t, const char *method, const char *azimuth,
                           double load, bool *yes, talus_error *err)
{
    char angle[64];
    snprintf(angle, sizeof angle, "angle=%.15g", atan(0.5 * load) * 180 / 3.14159265358979323846);
    const char *setting[SETTINGS_MAX] = {angle, azimuth};
    run r = {.o = o};
    talus_status status = run_begin(&r, "brick-incline", setting, method, 1, err);
    if (status == TALUS_OK) status = run_steps(&r, t, 1, err);
    if (status == TALUS_OK) *yes = tl_vec3_norm(r.w.sim->state.rigid.body[r.w.sim->state.rigid.count - 1].v) > SLIDES;
    run_end(&r);
    return status;
}

static talus_status threshold(const talus_bench_options *o, tl_table *t, tally *n, const char *name,
                              const char *azimuth, const char *method, talus_error *err)
{
    double low = 0.8, high = 1.2;
    for (int i = 0; i < 12 && !t->stopped; i++) {
        bool yes = false;
        double middle = 0.5 * (low + high);
        TL_TRY(slides(o, t, method, azimuth, middle, &yes, err));
        *(yes ? &high : &low) = middle;
    }
    verdict(t, n, name, method, "error %", 100 * fabs(0.5 * (low + high) - 1), 0.5, false);
    tl_table_send(t, TALUS_ROW_DATA);
    return TALUS_OK;
}

static bool wanted(const talus_bench_options *o, const char *name, bool slow)
{
    return o->problem ? strstr(name, o->problem) != NULL : !slow;
}

static talus_status all_cases(const talus_bench_options *o, tl_table *t, tally *n, const char *method, talus_error *err)
{
    static const char *const thresholds[][2] = {
        {"threshold axis", "azimuth=0"}, {"threshold 22.5", "azimuth=22.5"}, {"threshold diagonal", "azimuth=45"}};
    tl_table_line(t, TALUS_ROW_TITLE, "rigid bodies, %s, steps of 10 ms, one thread", method);
    tl_table_header(t, columns);
    for (int i = 0; i < 3 && !t->stopped; i++)
        if (wanted(o, thresholds[i][0], false))
            TL_TRY(threshold(o, t, n, thresholds[i][0], thresholds[i][1], method, err));
    for (int i = 0; i < CASES && !t->stopped; i++)
        if (wanted(o, cases[i].name, cases[i].slow)) TL_TRY(one_case(o, t, n, &cases[i], method, err));
    send_growth(t, n, method);
    n->products = 0;
    n->x = n->y = n->xx = n->xy = 0;
    return TALUS_OK;
}

static talus_status run_rigid(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    if (!o->scenes) return TL_FAIL(err, TALUS_BAD_INPUT, "the table 'rigid' needs the folder of talus' scenes");
    int threads = tl_threads(), methods = 0;
    tally n = {0};
    talus_status status = TALUS_OK;
    tl_threads_set(1);
    for (int i = 0; tl_contact_method_at(i) && status == TALUS_OK && !t->stopped; i++) {
        const char *name = tl_contact_method_at(i)->name;
        if (o->method ? !strstr(name, o->method) : i > 0 && !o->all) continue;
        methods++;
        status = all_cases(o, t, &n, name, err);
    }
    tl_threads_set(threads);
    if (status != TALUS_OK) return status;
    if (!methods) return TL_FAIL(err, TALUS_BAD_INPUT, "no contact method has '%s' in its name", o->method);
    tl_table_line(
        t, TALUS_ROW_NOTE,
        "%d within their limits, %d not. residual m/s: largest of all steps; balance: last step; ms: processor time",
        n.passed, n.failed);
    return TALUS_OK;
}

const tl_bench tl_bench_rigid = {
    "rigid", "rigid bodies in contact: accuracy and cost of each method on the gallery's scenes", run_rigid};
