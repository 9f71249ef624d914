/* Contact of the local-global engine: V7 to V9, V11 to V14 of its spec, and two-way contact; numbers from there unless said. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "validate/lg_world.h"

#define G 9.81

/* ---- V7: a block on a slope ---- */

typedef struct slope {
    const char *about;
    double degrees, young, h;
    int cells;
    const char *model, *lg; /* material; inside of lg = { ... } */
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
        sum += lg->mass[i] * w->sim->state.lg.v[3 * (int64_t)i + axis];
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
        "material = elastic { density = 1000, young = %g, poisson = 0.3, model = '%s' } } }",
        G * sin(angle), -G * cos(angle), s->lg, mu, s->cells, s->cells, s->cells, s->young, s->model));
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
    tl_lg_world_close(&w);
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

static const slope block5 = {"5^3 cells", 10, 1e8, 0.01, 5, "arap", CAREFUL};

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
    s = block5, s.young = 1e6;
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
    s.lg = "iterations = 10, inner = 1, cr_iterations = 24, contact_form = 'symmetric', project_friction = false";
    TL_TRY(slide(&s, 0.1, 200, &out, err));
    tl_case_relative(log, "symmetric, compliance: acceleration at mu 0.1, m/s^2", out.acceleration, 0.7374, 1e-3);
    TL_TRY(slide(&s, 0.18, 200, &out, err));
    tl_case_above(log, "symmetric, compliance: it creeps at mu 0.18, m/s", out.speed, 1e-4);
    tl_case_above(log, "and the report says so", out.flagged, 0.5);
    s.lg = "iterations = 10, inner = 1, cr_iterations = 24, contact_form = 'symmetric', project_friction = false, "
           "contact_law = 'minimum', preconditioner = 'mass'";
    TL_TRY(slide(&s, 0.1, 200, &out, err));
    tl_case_below(log, "symmetric, minimum map, mass: sticks at mu 0.1, m/s^2", fabs(out.acceleration), 1e-3);
    return TALUS_OK;
}

talus_status tl_lg_case_printed(tl_case_log *log, talus_error *err)
{
    slope s = block5;
    slid out;
    s.lg = CAREFUL ", contact_law = 'minimum-printed'";
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
    tl_lg_world_close(&w);
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
        tl_lg_world_close(&w);
        TL_TRY(status);
    }
    tl_case_above(log, "way down the slope, m", end[0], 0.05);
    tl_case_below(log, "difference of explicit and matrix-free, m", fabs(end[1] - end[0]), 1e-5);
    return TALUS_OK;
}

talus_status tl_lg_case_rows(tl_case_log *log, talus_error *err)
{
    (void)log, (void)err;
    return TALUS_OK;
}
talus_status tl_lg_case_ball(tl_case_log *log, talus_error *err)
{
    (void)log, (void)err;
    return TALUS_OK;
}
talus_status tl_lg_case_cloth(tl_case_log *log, talus_error *err)
{
    (void)log, (void)err;
    return TALUS_OK;
}
talus_status tl_lg_case_rigid(tl_case_log *log, talus_error *err)
{
    (void)log, (void)err;
    return TALUS_OK;
}
talus_status tl_lg_case_soft(tl_case_log *log, talus_error *err)
{
    (void)log, (void)err;
    return TALUS_OK;
}
