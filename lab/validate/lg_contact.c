/* Contact of the local-global engine: V7 to V9, V11 to V14 of its spec, and two-way contact; numbers from there
 * unless said. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/validate/lg_world.h"
#include "model/lg/holds.h"

#define G 9.81
#define PI 3.14159265358979323846

/* ---- V7: a block on a slope ---- */

typedef struct slope {
    const char *about;
    double degrees, young, h;
    int cells;
    const char *model, *lg; /* material; inside of lg = { ... } */
    bool tets;
} slope;

typedef struct slid {
    double acceleration; /* over the last half of the way, m/s^2 */
    double speed;        /* in the end, m/s */
    double creep;        /* of the last step: certificate of friction, m/s */
    bool flagged;        /* whether the report says that friction has not ended */
} slid;

static double momentum_speed(const tl_lg_world *w, int axis)
{
    const tl_lg *lg = &w->sim->lg;
    double sum = 0, mass = 0;
    for (int32_t i = 0; i < lg->nodes; i++) {
        sum += lg->mass[i] * tl_lg_state_of(&w->sim->state)->v[3 * (int64_t)i + axis];
        mass += lg->mass[i];
    }
    return sum / mass;
}

static const tl_report_solve *solve_of(const tl_lg_world *w, const char *name)
{
    const tl_report *r = &w->sim->report;
    for (int k = 0; k < r->solves; k++)
        if (!strcmp(r->solve[k].name, name)) return &r->solve[k];
    return NULL;
}

#define CAREFUL "iterations = 10, inner = 5, cr_iterations = 24"

static talus_status slide(const slope *s, double mu, int frames, slid *out, talus_error *err)
{
    tl_lg_world w;
    double angle = s->degrees * 3.14159265358979323846 / 180;
    TL_TRY(tl_lg_world_open(
        &w, err,
        "gravity = {%.17g, 0, %.17g}, lg = { %s }, contacts = { { between = {'block', 'floor'}, friction = %.17g } }, "
        "bodies = { { name = 'floor', kind = 'static', shape = half_space { normal = {0, 0, 1} } }, { name = 'block', "
        "shape = box { size = {1, 1, 1}, center = {0, 0, 0.5} }, cells = {%d, %d, %d}, "
        "element = '%s', material = elastic { density = 1000, young = %g, poisson = 0.3, model = '%s' } } }",
        G * sin(angle), -G * cos(angle), s->lg, mu, s->cells, s->cells, s->cells, s->tets ? "tetrahedra" : "hexahedron",
        s->young, s->model));
    talus_status status = tl_lg_world_steps(&w, frames / 2, s->h, false, err);
    double half = momentum_speed(&w, 0);
    if (status == TALUS_OK) status = tl_lg_world_steps(&w, frames - frames / 2, s->h, false, err);
    out->speed = momentum_speed(&w, 0);
    out->acceleration = (out->speed - half) / ((frames - frames / 2) * s->h);
    if (status == TALUS_OK) {
        const tl_report_solve *friction = solve_of(&w, "friction");
        out->creep = friction->certificate;
        out->flagged = strcmp(friction->outcome, "converged") != 0;
    }
    tl_world_close(&w);
    return status;
}

/* At mu* - 0.001 the block slides as it must; at mu* + 0.001 it rests. */
static talus_status around_threshold(tl_case_log *log, const slope *s, talus_error *err)
{
    char quantity[120];
    slid out;
    double angle = s->degrees * 3.14159265358979323846 / 180, mu = tan(angle);
    TL_TRY(slide(s, mu - 0.001, 200, &out, err));
    snprintf(quantity, sizeof quantity, "%s: acceleration at mu* - 0.001, m/s^2", s->about);
    tl_case_relative(log, quantity, out.acceleration, G * cos(angle) * 0.001, 0.01);
    TL_TRY(slide(s, mu + 0.001, 200, &out, err));
    snprintf(quantity, sizeof quantity, "%s: speed at mu* + 0.001, m/s", s->about);
    tl_case_below(log, quantity, fabs(out.speed), 1e-6);
    return TALUS_OK;
}

static const slope block5 = {"5^3 cells", 10, 1e8, 0.01, 5, "arap", CAREFUL, false};

talus_status tl_lg_case_slides(tl_case_log *log, talus_error *err)
{
    slope s = block5;
    slid out;
    TL_TRY(around_threshold(log, &s, err));
    TL_TRY(slide(&s, 0.1, 100, &out, err));
    tl_case_relative(log, "5^3 cells: acceleration at mu 0.1, m/s^2", out.acceleration, 0.7374, 1e-3);
    s.cells = 3;
    s.about = "3^3 cells";
    return around_threshold(log, &s, err);
}

talus_status tl_lg_case_slides_more(tl_case_log *log, talus_error *err)
{
    slope s = block5;
    slid out;
    s.degrees = 20, s.about = "20 degrees";
    TL_TRY(around_threshold(log, &s, err));
    s = block5, s.h = 0.005, s.about = "h = 5 ms";
    TL_TRY(around_threshold(log, &s, err));
    s = block5, s.model = "neo_hookean", s.about = "Neo-Hookean";
    TL_TRY(around_threshold(log, &s, err));
    /* it slips while the first shock runs through, then friction slows it down as it must */
    s = block5, s.young = 1e6, s.lg = CAREFUL ", time = 'euler'"; /* which ends the ringing of the shock */
    double mu = tan(10 * 3.14159265358979323846 / 180);
    TL_TRY(slide(&s, mu + 0.001, 200, &out, err));
    tl_case_relative(log, "E = 1e6: deceleration at mu* + 0.001, m/s^2", -out.acceleration, G * cos(atan(mu)) * 0.001,
                     0.03);
    s = block5, s.cells = 8;
    TL_TRY(slide(&s, mu - 0.001, 200, &out, err));
    tl_case_relative(log, "8^3 cells: acceleration at mu* - 0.001, m/s^2", out.acceleration, 9.66e-3, 0.01);
    TL_TRY(slide(&s, mu + 0.001, 200, &out, err));
    tl_case_below(log, "8^3 cells: speed at mu* + 0.001, m/s", fabs(out.speed), 1e-6);
    return TALUS_OK;
}

talus_status tl_lg_case_slides_published(tl_case_log *log, talus_error *err)
{
    slope s = block5;
    slid out;
    s.tets = true; /* as published */
    s.lg = "corrections = 0, iterations = 10, inner = 1, cr_iterations = 24, contact_form = 'symmetric', "
           "project_friction = false";
    TL_TRY(slide(&s, 0.1, 200, &out, err));
    tl_case_relative(log, "symmetric, compliance: acceleration at mu 0.1, m/s^2", out.acceleration, 0.7374, 1e-3);
    TL_TRY(slide(&s, 0.18, 200, &out, err));
    tl_case_above(log, "symmetric, compliance: it creeps at mu 0.18, m/s", out.speed, 1e-4);
    tl_case_above(log, "and the report says so", out.flagged, 0.5);
    s.lg = "corrections = 0, iterations = 10, inner = 1, cr_iterations = 24, contact_form = 'symmetric', "
           "project_friction = false, "
           "contact_law = 'minimum', preconditioner = 'mass'";
    TL_TRY(slide(&s, 0.1, 200, &out, err));
    tl_case_below(log, "symmetric, minimum map, mass: sticks at mu 0.1, m/s^2", fabs(out.acceleration), 1e-3);
    return TALUS_OK;
}

talus_status tl_lg_case_printed(tl_case_log *log, talus_error *err)
{
    slope s = block5;
    slid out;
    s.lg = CAREFUL ", corrections = 0, contact_law = 'minimum-printed'";
    TL_TRY(slide(&s, 0.1, 100, &out, err));
    tl_case_below(log, "speed after 1 s at mu 0.1 with the extra factor, m/s", fabs(out.speed), 1e-2);
    return TALUS_OK;
}

/* ---- V8 ---- */

talus_status tl_lg_case_rests(tl_case_log *log, talus_error *err)
{
    tl_lg_world w;
    TL_TRY(tl_lg_world_open(
        &w, err,
        "gravity = {0, 0, -9.81}, lg = { " CAREFUL " }, bodies = { { name = 'floor', kind = 'static', shape = "
        "half_space { normal = {0, 0, 1} }, friction = 0.5 }, { name = 'block', shape = box { size = {1, 1, 1}, center "
        "= {0, 0, 0.502} }, cells = {4, 4, 4}, friction = 0.5, "
        "material = elastic { density = 1000, young = 1e8, poisson = 0.3, model = 'arap' } } }"));
    talus_status status = tl_lg_world_steps(&w, 200, 0.01, false, err);
    double weight = 1000 * G, mu = 1e8 / 2.6;
    const tl_motion *floor = &w.sim->state.rigid.body[0];
    tl_case_near(log, "normal force over weight", -floor->contact_force.z / weight, 1, 1e-6);
    tl_case_below(log, "penetration, m", w.sim->report.penetration, 1e-9);
    tl_case_relative(log, "sag of the centre, m", 0.5 - tl_lg_world_mean(&w, 2), 1000 * G / (3 * 2 * mu), 0.02);
    tl_case_below(log, "lateral speed, m/s", hypot(momentum_speed(&w, 0), momentum_speed(&w, 1)), 1e-8);
    tl_world_close(&w);
    return status;
}

/* ---- V11 ---- */

talus_status tl_lg_case_matrix_free(tl_case_log *log, talus_error *err)
{
    static const char *const ways[] = {"explicit", "matrix-free"};
    double end[2];
    for (int k = 0; k < 2; k++) {
        tl_lg_world w;
        TL_TRY(tl_lg_world_open(
            &w, err,
            "gravity = {%.17g, 0, %.17g}, lg = { " CAREFUL ", compliance = '%s' }, contacts = { { between = {'block', "
            "'floor'}, friction = 0.1 } }, "
            "bodies = { { name = 'floor', kind = 'static', shape = half_space { normal = {0, 0, 1} } }, { name = "
            "'block', shape = box { size = {1, 1, 1}, center = {0, 0, 0.5} }, cells = {5, 5, 5}, "
            "material = elastic { density = 1000, young = 1e8, poisson = 0.3, model = 'arap' } } }",
            G * sin(10 * 3.14159265358979323846 / 180), -G * cos(10 * 3.14159265358979323846 / 180), ways[k]));
        talus_status status = tl_lg_world_steps(&w, 50, 0.01, false, err);
        end[k] = tl_lg_world_mean(&w, 0);
        tl_world_close(&w);
        TL_TRY(status);
    }
    tl_case_above(log, "way down the slope, m", end[0], 0.05);
    tl_case_below(log, "difference of explicit and matrix-free, m", fabs(end[1] - end[0]), 1e-5);
    return TALUS_OK;
}

/* ---- V9: rows ---- */

/* The bar of V3, held by rows instead of anchors. */
static talus_status hang_on_rows(double compliance, double *tip, double *violation, talus_error *err)
{
    tl_lg_world w;
    TL_TRY(tl_lg_world_open(
        &w, err,
        "gravity = {9.81, 0, 0}, dt_max = 0.05, lg = { iterations = 40, precision = 'double', inner = 1, cr_iterations "
        "= 60 }, joins = { { body = 'bar', shape = box { size = {0.01, 1, 1} } } }, bodies = { { name = 'bar', shape = "
        "box { size = {1, 0.25, 0.25}, center = {0.5, 0.125, 0.125} }, cells = {8, 2, 2}, element = 'tetrahedra', "
        "material = elastic { density = 1000, young = 1e6, poisson = 0.3, model = 'corotated' } } }"));
    w.scene->joins[0].compliance = compliance;
    talus_status status = tl_lg_world_steps(&w, 400, 0.05, true, err);
    const tl_lg *lg = &w.sim->lg;
    double sum = 0;
    int count = 0;
    *violation = 0;
    for (int64_t i = 0; i < lg->nodes; i++) {
        const double *q = tl_lg_state_of(&w.sim->state)->q + 3 * i, *rest = lg->rest + 3 * i;
        if (rest[0] > 1 - 1e-9) sum += q[0] - rest[0], count++;
        for (int k = 0; k < 3 && rest[0] < 1e-9; k++) *violation = fmax(*violation, fabs(q[k] - rest[k]));
    }
    *tip = sum / count;
    tl_world_close(&w);
    return status;
}

talus_status tl_lg_case_rows(tl_case_log *log, talus_error *err)
{
    double tip, violation;
    TL_TRY(hang_on_rows(0, &tip, &violation, err));
    tl_case_below(log, "violation of rows without compliance, m", violation, 1e-12);
    tl_case_near(log, "tip, m: that of V3", tip, 4.72993e-3, 1e-6);
    TL_TRY(hang_on_rows(1e-5, &tip, &violation, err));
    tl_case_near(log, "tip of a bar on rows of 1e-5 m/N, m: that of anchors", tip, 5.56119644e-3, 1e-9);
    return TALUS_OK;
}

/* ---- V12 ---- */

static double fastest_node(const tl_lg_world *w)
{
    double max = 0;
    for (int32_t i = 0; i < w->sim->lg.nodes; i++)
        max = fmax(max, tl_vec3_norm(tl_vec3_load(tl_lg_state_of(&w->sim->state)->v + 3 * (int64_t)i)));
    return max;
}

/* Deepest node in two rollers along z through (+-0.21, 0), m. */
static double depth_in_rollers(const tl_lg_world *w)
{
    double deepest = 0;
    for (int64_t i = 0; i < w->sim->lg.nodes; i++) {
        const double *q = tl_lg_state_of(&w->sim->state)->q + 3 * i;
        deepest = fmax(deepest, 0.12 - hypot(fabs(q[0]) - 0.21, q[1]));
    }
    return deepest;
}

/* Largest distance between two nodes at opposite ends of an axis, over the diameter. */
static double roundness(const tl_lg_world *w)
{
    double max = 0, centre[3];
    for (int k = 0; k < 3; k++) centre[k] = tl_lg_world_mean(w, k);
    for (int64_t i = 0; i < w->sim->lg.nodes; i++) {
        const double *q = tl_lg_state_of(&w->sim->state)->q + 3 * i, *rest = w->sim->lg.rest + 3 * i;
        if (hypot(hypot(rest[0], rest[1] - 0.2), rest[2]) < 0.149) continue;
        max = fmax(max, fabs(hypot(hypot(q[0] - centre[0], q[1] - centre[1]), q[2] - centre[2]) / 0.15 - 1));
    }
    return max;
}

static talus_status squeeze(tl_case_log *log, const char *local, bool guarded_only, talus_error *err)
{
    tl_lg_world w;
    TL_TRY(tl_lg_world_open(
        &w, err,
        "gravity = {0, -9.81, 0}, lg = { corrections = 0, iterations = 5, inner = 3, local_step = '%s' }, contacts = { "
        "{ between = "
        "{'ball', 'left'}, friction = 0.5 }, { between = {'ball', 'right'}, friction = 0.5 } }, bodies = {\n"
        "{ name = 'ball', shape = sphere { radius = 0.15 }, at = {0, 0.2, 0}, edge = 0.025, material = elastic { "
        "density = 1000, young = 1e4, poisson = 0.4, model = 'neo_hookean' } },\n"
        "{ name = 'left', shape = cylinder { radius = 0.12, height = 1 }:rotate({90, 0, 0}), at = {-0.21, 0, 0}, "
        "motion = function(t) return { rotation_rad = {0, 0, -6 * t} } end },\n"
        "{ name = 'right', shape = cylinder { radius = 0.12, height = 1 }:rotate({90, 0, 0}), at = {0.21, 0, 0}, "
        "motion = function(t) return { rotation_rad = {0, 0, 6 * t} } end } }",
        local));
    talus_status status = TALUS_OK;
    int passed = 0;
    double deepest = 0, fastest = 0;
    for (int frame = 1; frame <= 80 && status == TALUS_OK; frame++) {
        status = tl_lg_world_steps(&w, 1, 0.01, false, err);
        if (!passed && tl_lg_world_mean(&w, 1) < -0.12) passed = frame;
        if (passed) continue; /* from here on it falls */
        deepest = fmax(deepest, depth_in_rollers(&w));
        fastest = fmax(fastest, fastest_node(&w));
    }
    if (!guarded_only) {
        tl_case_near(log, "frame in which the centre is below the rollers", passed, 40, 20);
        tl_case_below(log, "deepest node in a roller, m", deepest, 1e-2);
        tl_case_below(log, "its shape in the end: radius off by, relative", roundness(&w), 0.15);
    }
    tl_case_below(log, guarded_only ? "fastest node by quasi-Newton with its line search, m/s" : "fastest node, m/s",
                  fastest, 10);
    tl_world_close(&w);
    return status;
}

talus_status tl_lg_case_ball(tl_case_log *log, talus_error *err)
{
    TL_TRY(squeeze(log, "exact", false, err));
    return squeeze(log, "newton", true, err);
}

/* ---- V14 ---- */

talus_status tl_lg_case_cloth(tl_case_log *log, talus_error *err)
{
    tl_lg_world w;
    TL_TRY(tl_lg_world_open(
        &w, err,
        "gravity = {0, 0, -9.81}, lg = { iterations = 5, inner = 2, cr_iterations = 10 }, bodies = { { name = 'box', "
        "kind = 'static', shape = box { size = {0.82, 0.82, 0.2}, center = {0, 0, -0.1} }, friction = 0.3 },\n"
        "{ name = 'cloth', shape = box { size = {1, 1, 0.001}, center = {0, 0, 0.002} }, cells = {70, 70, 1}, "
        "thickness "
        "= 0.001, friction = 0.3, material = elastic { density = 1000, young = 1e5, poisson = 0.3, model = 'arap' } } "
        "}"));
    talus_status status = TALUS_OK;
    double deepest = 0, gap = 0;
    int64_t contacts = 0;
    for (int frame = 0; frame < 30 && status == TALUS_OK; frame++) {
        status = tl_lg_world_steps(&w, 1, 0.01, false, err);
        contacts = w.sim->report.contacts > contacts ? w.sim->report.contacts : contacts;
        gap = fmax(gap, w.sim->report.penetration);
        for (int64_t i = 0; i < w.sim->lg.nodes; i++) {
            const double *q = tl_lg_state_of(&w.sim->state)->q + 3 * i;
            deepest = fmax(deepest, fmin(fmin(0.41 - fabs(q[0]), 0.41 - fabs(q[1])), fmin(-q[2], q[2] + 0.2)));
        }
    }
    tl_case_above(log, "rows", 3 * (double)contacts, 15000);
    tl_case_below(log, "deepest node in the box over 30 frames, m", deepest, 5e-4);
    tl_case_below(log, "deepest that its lower side is, m", gap, 5e-4);
    tl_world_close(&w);
    return status;
}

/* ---- two-way contact ---- */

#define SOFT "material = elastic { density = 1000, young = 1e6, poisson = 0.3, model = 'arap' }"

talus_status tl_lg_case_rigid(tl_case_log *log, talus_error *err)
{
    tl_lg_world w;
    TL_TRY(tl_lg_world_open(
        &w, err,
        "gravity = {0, 0, -9.81}, lg = { " CAREFUL
        " }, bodies = { { name = 'floor', kind = 'static', shape = half_space "
        "{ normal = {0, 0, 1} }, friction = 0.5 }, { name = 'soft', shape = box { size = {1, 1, 0.5}, center = {0, 0, "
        "0.25} }, cells = {5, 5, 3}, friction = 0.5, " SOFT " }, { name = 'box', shape = box { size = {0.5, 0.5, 0.5} "
        "}, at = {0.03, 0.02, 0.752}, density = 500, friction = 0.5 } }"));
    talus_status status = tl_lg_world_steps(&w, 400, 0.01, false, err);
    const tl_motion *body = w.sim->state.rigid.body;
    double weight = 62.5 * G;
    tl_case_near(log, "force on the rigid box over its weight", body[2].contact_force.z / weight, 1, 1e-6);
    tl_case_near(log, "force on the floor over all weights", -body[0].contact_force.z / (weight + 500 * G), 1, 1e-6);
    tl_case_below(log, "speed of the box, m/s", tl_vec3_norm(body[2].v), 1e-5);
    tl_world_close(&w);
    TL_TRY(status);
    /* a box hits a block that floats: what one loses the other gets */
    TL_TRY(tl_lg_world_open(
        &w, err,
        "gravity = {0, 0, 0}, lg = { " CAREFUL
        " }, bodies = { { name = 'soft', shape = box { size = {1, 1, 0.5}, center "
        "= {0, 0, 0.25} }, cells = {5, 5, 3}, friction = 0.5, " SOFT " }, { name = 'box', shape = box { size = {0.5, "
        "0.5, 0.5} }, at = {0.2, 0.1, 0.77}, density = 500, velocity = {0.5, 0, -1}, spin_rad_per_s = {1, 2, 0.5}, "
        "friction = 0.5 } }"));
    status = tl_lg_world_steps(&w, 1, 0.01, false, err);
    tl_vec3 p = w.sim->report.momentum, L = w.sim->report.angular_momentum;
    double off = 0, turned = 0, pushed = 0;
    for (int k = 0; k < 60 && status == TALUS_OK; k++) {
        status = tl_lg_world_steps(&w, 1, 0.01, false, err);
        off = fmax(off, tl_vec3_norm(tl_vec3_sub(w.sim->report.momentum, p)));
        turned = fmax(turned, tl_vec3_norm(tl_vec3_sub(w.sim->report.angular_momentum, L)));
        pushed = fmax(pushed, tl_vec3_norm(w.sim->state.rigid.body[1].contact_force));
    }
    tl_case_above(log, "largest force of the impact, N", pushed, 100);
    tl_case_below(log, "change of momentum, relative", off / tl_vec3_norm(p), 1e-9);
    /* forces act on both at the place of the start of the step: off by what surfaces move meanwhile */
    tl_case_below(log, "change of angular momentum, relative", turned / tl_vec3_norm(L), 0.05);
    tl_world_close(&w);
    return status;
}

/* A block on a block that stands on an anchored base, gravity turned by an angle. */
static talus_status soft_on_soft(double degrees, double mu, double young, slid *out, double *share, talus_error *err)
{
    tl_lg_world w;
    double angle = degrees * 3.14159265358979323846 / 180;
    TL_TRY(tl_lg_world_open(
        &w, err,
        "gravity = {%.17g, 0, %.17g}, lg = { " CAREFUL
        ", time = '%s' }, contacts = { { between = {'lower', 'upper'}, friction = "
        "%.17g } }, bodies = { { name = 'lower', shape = box { size = {2, 2, 0.5}, center = {0, 0, -0.25} }, cells = "
        "{6, 6, "
        "2}, anchor = half_space { normal = {0, 0, 1}, point = {0, 0, -0.49} }, material = elastic { density = 1000, "
        "young = %g, poisson = 0.3, model = 'arap' } },\n"
        "{ name = 'upper', shape = box { size = {0.5, 0.5, 0.5}, center = {-0.02, 0.03, 0.2501} }, cells = {4, 4, 4}, "
        "material = elastic { density = 1000, young = %g, poisson = 0.3, model = 'arap' } } }",
        G * sin(angle), -G * cos(angle), young < 1e7 ? "euler" : "bdf2", mu, young, young)); /* soft ones ring on */
    talus_status status = TALUS_OK;
    double speed[2] = {0}, mass = 125;
    for (int half = 0; half < 2 && status == TALUS_OK; half++) {
        status = tl_lg_world_steps(&w, 100, 0.01, false, err);
        speed[half] = w.sim->state.rigid.body[1].v.x;
    }
    out->speed = speed[1];
    out->acceleration = speed[1] - speed[0];
    *share = w.sim->state.rigid.body[1].contact_force.z / (mass * G * cos(angle));
    tl_world_close(&w);
    return status;
}

talus_status tl_lg_case_soft(tl_case_log *log, talus_error *err)
{
    slid out;
    double share, mu = tan(10 * 3.14159265358979323846 / 180);
    TL_TRY(soft_on_soft(0, 0.5, 1e6, &out, &share, err));
    tl_case_near(log, "force on the upper block over its weight", share, 1, 1e-6);
    TL_TRY(soft_on_soft(10, 0.99 * mu, 1e8, &out, &share, err));
    tl_case_relative(log, "acceleration at 0.99 mu*, m/s^2", out.acceleration,
                     0.01 * mu * G * cos(10 * 3.14159265358979323846 / 180), 0.05);
    TL_TRY(soft_on_soft(10, 1.01 * mu, 1e8, &out, &share, err));
    tl_case_below(log, "speed at 1.01 mu*, m/s", fabs(out.speed), 1e-6);
    return TALUS_OK;
}

/* ---- a ball between two plates ---- */

/* N, where each plate has come `depth` into a ball of radius R: Hertz, less what the opposite plate lifts
 * [Tatara1991]; Hertz alone, for a half space, is 12 % less at R / 20. */
static double squeezed(double depth, double R, double young, double poisson)
{
    double low = 0, high = 100 * young * R * R;
    for (int k = 0; k < 200; k++) {
        const double F = 0.5 * (low + high), w = 1 - poisson * poisson, a = cbrt(0.75 * w * R * F / young),
                     far = hypot(a, 2 * R), lift = 2 * (1 + poisson) * R * R / (far * far * far) + w / far;
        if (a * a / R - lift * F / (PI * young) < depth)
            low = F;
        else
            high = F;
    }
    return low;
}

talus_status tl_lg_case_hertz(tl_case_log *log, talus_error *err)
{
    static const struct {
        double edge, depth;
    } balls[] = {{0.02, 0.005}, {0.014, 0.005}};
    for (int k = 0; k < 2; k++) {
        tl_lg_world w;
        char name[100];
        TL_TRY(tl_lg_world_open(
            &w, err,
            "gravity = {0, 0, 0}, bodies = { { name = 'ball', shape = sphere { radius = 0.1 }, edge = %g, friction = "
            "0, material = elastic { density = 1000, young = 1e6, poisson = 0.3, model = 'neo_hookean' } }, { name = "
            "'lower', kind = 'static', shape = box { size = {1, 1, 0.2}, center = {0, 0, -0.2} }, friction = 0 }, { "
            "name = 'upper', kind = 'kinematic', shape = box { size = {1, 1, 0.2}, center = {0, 0, 0.2} }, friction = "
            "0, motion = function(t) local s = math.min(1, t / 0.5) return { at = {0, 0, %g * s * s * (3 - 2 * s)} } "
            "end } }",
            balls[k].edge, -2 * balls[k].depth));
        talus_status status = tl_lg_world_steps(&w, 65, 0.01, false, err);
        const double force = w.sim->state.rigid.body[2].contact_force.z;
        tl_world_close(&w);
        TL_TRY(status);
        snprintf(name, sizeof name, "edge %g m, plates %g m in: force over theory's", balls[k].edge, balls[k].depth);
        tl_case_near(log, name, force / squeezed(balls[k].depth, 0.1, 1e6, 0.3), 1, 0.05);
    }
    return TALUS_OK;
}

/* ---- capstan ---- */

/* A belt over half of a drum is pulled by one end, slowly, until all of it slides: tensions of its ends differ by
 * e^(mu pi). Handles lead the ends down before one of them pulls. */
talus_status tl_lg_case_capstan(tl_case_log *log, talus_error *err)
{
    static const struct {
        const char *about;
        double young, mu;
        int cells;
        bool solid;
    } belts[] = {{"cloth of 1e7 Pa, mu 0.3", 1e7, 0.3, 60, false},
                 {"cloth of 1e6 Pa, mu 0.5", 1e6, 0.5, 40, false},
                 {"solid of 1e7 Pa, mu 0.2", 1e7, 0.2, 48, true}};
    for (size_t k = 0; k < sizeof belts / sizeof *belts; k++) {
        const double half = 0.3, R = 0.1005;
        tl_lg_world w;
        char name[100], handles[2][900];
        for (int e = 0; e < 2; e++)
            snprintf(
                handles[e], sizeof handles[e],
                "{ body = 'belt', shape = box { size = {%g, 9, 9}, center = {%g, 0, 0} }, at = {%g, 0, 0}, motion = "
                "function(t) local a = math.min(2 * t, 1) local phi = 0.5 * math.pi * a local rest = %g - %g * phi + "
                "0.002 * a + %g * math.max(0, t - 0.6) return { at = { %d * (%g * math.sin(phi) + rest * "
                "math.cos(phi)), 0, %g * math.cos(phi) - rest * math.sin(phi) - %g }, rotation_rad = {0, %d * phi, "
                "0} } end }",
                1.2 * 2 * half / belts[k].cells, e ? half : -half, e ? half : -half, half, R, e ? 0.05 : 0, e ? 1 : -1,
                R, R, R, e ? 1 : -1);
        TL_TRY(tl_lg_world_open(
            &w, err,
            "gravity = {0, 0, 0}, contacts = { { between = {'belt', 'drum'}, friction = %g } }, bodies = { { name = "
            "'belt', shape = box { size = {%g, 0.03, 0.001} }, cells = {%d, 2, 1}, thickness = %g, material = elastic "
            "{ "
            "density = 1000, young = %g, poisson = 0.3, model = 'neo_hookean' } }, { name = 'drum', kind = 'static', "
            "shape = cylinder { radius = 0.1, height = 1 }, at = {0, 0, %g} } }, handles = { %s, %s }",
            belts[k].mu, 2 * half, belts[k].cells, belts[k].solid ? 0 : 0.001, belts[k].young, -R, handles[0],
            handles[1]));
        double low = INFINITY, high = 0, left = 0;
        talus_status status = tl_lg_world_steps(&w, 110, 0.01, false, err);
        for (int i = 0; i < 40 && status == TALUS_OK; i++) {
            status = tl_lg_world_steps(&w, 1, 0.01, false, err);
            const tl_lg_hold *hold = tl_lg_state_of(&w.sim->state)->hold + w.sim->lg.bodies;
            const double ratio = hold[1].force.z / hold[0].force.z / exp(belts[k].mu * PI);
            low = fmin(low, ratio), high = fmax(high, ratio);
            left = fmax(left, w.sim->report.solve[0].certificate);
        }
        tl_world_close(&w);
        TL_TRY(status);
        snprintf(name, sizeof name, "%s: tensions over e^(mu pi), least of 40 steps", belts[k].about);
        tl_case_near(log, name, low, 1, 0.02);
        snprintf(name, sizeof name, "%s: the same, most", belts[k].about);
        tl_case_near(log, name, high, 1, 0.02);
        snprintf(name, sizeof name, "%s: forces left over in the worst step", belts[k].about);
        tl_case_below(log, name, left, 0.05);
    }
    return TALUS_OK;
}
