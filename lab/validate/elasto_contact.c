/* Elastic and rigid bodies on each other: weights, ratios of mass and stiffness, momentum of collisions, Hertz. */
#include <math.h>
#include <stdio.h>

#include "lab/validate/elasto.h"
#include "lab/validate/lg_world.h"

#define GRAVITY 9.81
#define PI 3.14159265358979323846

static const tl_motion *body_of(const tl_lg_world *w, int i) { return &w->sim->state.rigid.body[i]; }

static talus_status run(tl_lg_world *w, int steps, double dt, talus_error *err)
{
    for (int k = 0; k < steps; k++) TL_TRY(tl_sim_step(w->sim, dt, INFINITY, err));
    return TALUS_OK;
}

#define FLOOR "{ name = 'floor', kind = 'static', shape = plane {}, friction = 0.5 }"

/* What stands on the floor, lower and upper, as Lua; their masses. */
static talus_status stand(tl_case_log *log, const char *name, const char *lower, const char *upper, double m_lower,
                          double m_upper, int steps, talus_error *err)
{
    tl_lg_world w;
    char text[160];
    TL_TRY(tl_lg_world_open(&w, err, "engine = 'grid', bodies = { " FLOOR ", %s, %s }", lower, upper));
    talus_status status = run(&w, steps, 0.01, err);
    if (status == TALUS_OK) {
        double on_floor = -body_of(&w, 0)->contact_force.y, on_upper = body_of(&w, 2)->contact_force.y;
        snprintf(text, sizeof text, "%s: force on the upper one, of its weight", name);
        tl_case_near(log, text, on_upper / (m_upper * GRAVITY), 1, 1e-6);
        snprintf(text, sizeof text, "%s: force on the floor, of both weights", name);
        tl_case_near(log, text, on_floor / ((m_lower + m_upper) * GRAVITY), 1, 1e-6);
        snprintf(text, sizeof text, "%s: fastest, m/s", name);
        tl_case_below(log, text, w.sim->report.fastest, 1e-6);
    }
    tl_world_close(&w);
    return status;
}

#define SOFT_BOX(name, size, at, cells, density, young)                                                                \
    "{ name = '" name "', shape = box { size = " size " }, at = " at ", cells = " cells                                \
    ", friction = 0.5, material = elastic { density = " density ", young = " young ", poisson = 0.3 } }"
#define HARD_BOX(name, size, at, density)                                                                              \
    "{ name = '" name "', shape = box { size = " size " }, at = " at ", density = " density ", friction = 0.5 }"

talus_status tl_elasto_weights(tl_case_log *log, talus_error *err)
{
    TL_TRY(stand(log, "rigid on elastic", SOFT_BOX("a", "0.2", "{0, 0.1, 0}", "{3, 3, 3}", "1000", "1e6"),
                 HARD_BOX("b", "0.1", "{0.01, 0.25, 0.02}", "1000"), 8, 1, 300, err));
    TL_TRY(stand(log, "elastic on rigid", HARD_BOX("a", "0.2", "{0, 0.1, 0}", "1000"),
                 SOFT_BOX("b", "0.1", "{0.01, 0.25, 0.02}", "{2, 2, 2}", "1000", "1e6"), 8, 1, 300, err));
    return stand(log, "elastic on elastic", SOFT_BOX("a", "0.2", "{0, 0.1, 0}", "{3, 3, 3}", "1000", "1e6"),
                 SOFT_BOX("b", "0.1", "{0.01, 0.25, 0.02}", "{2, 2, 2}", "1000", "1e6"), 8, 1, 300, err);
}

talus_status tl_elasto_ratios(tl_case_log *log, talus_error *err)
{
    TL_TRY(stand(log, "1000 kg rigid on 1 kg elastic", SOFT_BOX("a", "0.1", "{0, 0.05, 0}", "{3, 3, 3}", "1000", "1e9"),
                 HARD_BOX("b", "0.5", "{0, 0.35, 0}", "8000"), 1, 1000, 300, err));
    TL_TRY(stand(log, "1000 kg elastic on 1 kg rigid", HARD_BOX("a", "0.1", "{0, 0.05, 0}", "1000"),
                 SOFT_BOX("b", "0.5", "{0, 0.35, 0}", "{4, 4, 4}", "8000", "1e9"), 1, 1000, 300, err));
    TL_TRY(stand(log, "1e9 Pa on 1e5 Pa", SOFT_BOX("a", "0.2", "{0, 0.1, 0}", "{3, 3, 3}", "1000", "1e5"),
                 SOFT_BOX("b", "0.1", "{0, 0.25, 0}", "{2, 2, 2}", "1000", "1e9"), 8, 1, 400, err));
    return stand(log, "1e5 Pa on 1e9 Pa", SOFT_BOX("a", "0.2", "{0, 0.1, 0}", "{3, 3, 3}", "1000", "1e9"),
                 SOFT_BOX("b", "0.1", "{0, 0.25, 0}", "{2, 2, 2}", "1000", "1e5"), 8, 1, 400, err);
}

/* Two bodies meet off centre without gravity. */
static talus_status collide(tl_case_log *log, const char *name, const char *a, const char *b, talus_error *err)
{
    tl_lg_world w;
    char text[160];
    TL_TRY(tl_lg_world_open(&w, err, "engine = 'grid', gravity = {0, 0, 0}, bodies = { %s, %s }", a, b));
    talus_status status = run(&w, 1, 0.01, err);
    tl_vec3 P = w.sim->report.momentum, L = w.sim->report.angular_momentum;
    double energy = w.sim->report.kinetic + w.sim->report.elastic, rise = 0, touched = 0, unit = 0.1 * tl_vec3_norm(P);
    /* momentum that passes between the two */
    for (int k = 0; k < 60 && status == TALUS_OK; k++) {
        status = run(&w, 1, 0.01, err);
        double now = w.sim->report.kinetic + w.sim->report.elastic;
        rise = fmax(rise, now - energy);
        touched = fmax(touched, (double)w.sim->report.touching);
        energy = now;
    }
    if (status == TALUS_OK) {
        snprintf(text, sizeof text, "%s: touching points", name);
        tl_case_above(log, text, touched, 1);
        snprintf(text, sizeof text, "%s: change of linear momentum, kg m/s", name);
        tl_case_below(log, text, tl_vec3_norm(tl_vec3_sub(w.sim->report.momentum, P)), 1e-9);
        snprintf(text, sizeof text, "%s: change of angular momentum, of momentum times 0.1 m", name);
        tl_case_below(log, text, tl_vec3_norm(tl_vec3_sub(w.sim->report.angular_momentum, L)) / unit, 1);
        snprintf(text, sizeof text, "%s: largest rise of energy, J", name);
        tl_case_below(log, text, rise, 1e-6);
    }
    tl_world_close(&w);
    return status;
}

talus_status tl_elasto_collisions(tl_case_log *log, talus_error *err)
{
    const char *soft =
        "{ name = 'a', shape = box { size = 0.2 }, at = {-0.3, 0, 0}, rotation_deg = {10, 20, 30}, cells = "
        "{4, 4, 4}, velocity = {2, 0, 0}, material = elastic { density = 1000, young = 1e5, poisson = 0.4 } }";
    TL_TRY(collide(
        log, "elastic and elastic", soft,
        "{ name = 'b', shape = box { size = 0.2 }, at = {0.1, 0.05, 0.03}, cells = {3, 3, 3}, material = elastic "
        "{ density = 2000, young = 1e6, poisson = 0.3 } }",
        err));
    return collide(log, "elastic and rigid", soft,
                   "{ name = 'b', shape = box { size = 0.2 }, at = {0.1, 0.05, 0.03}, density = 500 }", err);
}

/* A ball pressed onto a plane without friction, which is half of two balls: F = 4/3 E / (1 - nu^2) sqrt(R) d^(3/2).
 * The cap opposite is held and led. */
static talus_status press(double edge, double depth, double *force, double *contacts, talus_error *err)
{
    tl_lg_world w;
    TL_TRY(tl_lg_world_open(
        &w, err,
        "engine = 'grid', dt_max = 1, gravity = {0, 0, 0}, bodies = { { name = 'floor', kind = 'static', "
        "shape = plane {}, friction = 0 }, { name = 'ball', shape = sphere { radius = 1 }, at = {0, 1, "
        "0}, edge = %g, friction = 0, material = elastic { density = 1000, young = 1e6, poisson = 0.3 } } "
        "}, handles = { { body = 'ball', shape = box { size = {9, 1.2, 9}, center = {0, 2, 0} }, motion = "
        "function(t) return { at = {0, -%g * math.min(t, 4) / 4, 0} } end } }",
        edge, depth));
    talus_status status = run(&w, 10, 1, err);
    *force = -body_of(&w, 0)->contact_force.y;
    *contacts = (double)w.sim->report.touching;
    tl_world_close(&w);
    return status;
}

/* Two balls of different meshes, their far caps led towards each other by depth each: the same force as one on a
 * plane. */
static talus_status press_two(double edge, double depth, double *force, double *contacts, talus_error *err)
{
    tl_lg_world w;
    TL_TRY(tl_lg_world_open(
        &w, err,
        "engine = 'grid', dt_max = 1, gravity = {0, 0, 0}, bodies = { { name = 'low', shape = sphere { radius = 1 }, "
        "at = {0, -1, 0}, rotation_deg = {0, 35, 0}, edge "
        "= %g, friction = 0, material = elastic { density = 1000, young = 1e6, poisson = 0.3 } }, { name = 'high', "
        "shape = sphere { radius = 1 }, at = {0, 1, 0}, "
        "edge = %g, friction = 0, material = elastic { density = 1000, young = 1e6, poisson = 0.3 } } }, handles = { { "
        "body = 'high', shape = box { size = {9, 1.2, "
        "9}, center = {0, 2, 0} }, motion = function(t) return { at = {0, -%g * math.min(t, 4) / 4, 0} } end }, { body "
        "= 'low', shape = box { size = {9, 1.2, 9}, "
        "center = {0, -2, 0} }, motion = function(t) return { at = {0, %g * math.min(t, 4) / 4, 0} } end } }",
        edge, edge, depth, depth));
    talus_status status = run(&w, 10, 1, err);
    *force = fabs(body_of(&w, 1)->contact_force.y);
    *contacts = (double)w.sim->report.touching;
    tl_world_close(&w);
    return status;
}

talus_status tl_elasto_hertz(tl_case_log *log, talus_error *err)
{
    static const double edges[] = {0.3, 0.2, 0.14};
    for (int k = 0; k < 3; k++) {
        double force = 0, contacts = 0, depth = 0.06, exact = 4.0 / 3 * 1e6 / (1 - 0.09) * pow(depth, 1.5);
        char text[120];
        TL_TRY(press(edges[k], depth, &force, &contacts, err));
        snprintf(text, sizeof text, "edge %g R, pressed by %g R, %g points: force over Hertz's", edges[k], depth,
                 contacts);
        tl_case_near(log, text, force / exact, 1, k == 2 ? 0.05 : 1);
        TL_TRY(press_two(edges[k], depth, &force, &contacts, err));
        snprintf(text, sizeof text, "two balls, edge %g R, %g points: force over Hertz's", edges[k], contacts);
        tl_case_near(log, text, force / exact, 1, k == 2 ? 0.05 : 1);
    }
    return TALUS_OK;
}

/* ---- self contact ---- */

/* A block with a slot: its upper arm is led down by more than the slot is high. Returns how far upper inner nodes
 * are below lower ones, m. */
static talus_status close_slot(bool asked, double *overlap, double *touching, talus_error *err)
{
    tl_lg_world w;
    TL_TRY(
        tl_lg_world_open(&w, err,
                         "engine = 'grid', dt_max = 0.02, gravity = {0, 0, 0}, bodies = { { name = 'fork', shape = "
                         "subtract { box { size = {1, 0.5, 0.3} }, box { size = {0.8, "
                         "0.1, 1}, center = {0.2, 0, 0} } }, edge = 0.1, self_contact = %s, friction = 0.3, anchor = "
                         "box { size = {0.12, 9, 9}, center = {-0.5, 0, 0} }, "
                         "material = elastic { density = 1000, young = 1e5, poisson = 0.3 } } }, handles = { { body = "
                         "'fork', shape = box { size = {0.15, 0.15, 9}, center = "
                         "{0.5, 0.25, 0} }, motion = function(t) return { at = {0, -0.2 * math.min(t, 1), 0} } end } }",
                         asked ? "true" : "false"));
    talus_status status = TALUS_OK;
    *touching = 0;
    for (int k = 0; k < 60 && status == TALUS_OK; k++) {
        status = run(&w, 1, 0.02, err);
        *touching = fmax(*touching, (double)w.sim->report.touching);
    }
    const tl_lg *lg = &w.sim->lg;
    double upper = INFINITY, lower = -INFINITY;
    for (int32_t i = 0; i < lg->nodes; i++) { /* walls of the slot near its open end */
        const double *rest = lg->rest + 3 * (int64_t)i;
        if (rest[0] < 0.35 || fabs(rest[1]) > 0.06) continue;
        double y = tl_lg_state_of(&w.sim->state)->q[3 * (int64_t)i + 1];
        if (rest[1] > 0)
            upper = fmin(upper, y);
        else
            lower = fmax(lower, y);
    }
    *overlap = lower - upper;
    tl_world_close(&w);
    return status;
}

talus_status tl_elasto_self(tl_case_log *log, talus_error *err)
{
    double with = 0, without = 0, touching = 0, none = 0;
    TL_TRY(close_slot(true, &with, &touching, err));
    TL_TRY(close_slot(false, &without, &none, err));
    tl_case_above(log, "arms that touch themselves: points", touching, 1);
    tl_case_below(log, "arms that touch themselves: overlap, m", with, 5e-3);
    tl_case_above(log, "not asked for: overlap, m", without, 0.03);
    return TALUS_OK;
}

/* ---- any stiffness ---- */

/* A block falls on its corner: energy, momentum told, steps that miss. */
static talus_status fall(tl_case_log *log, double young, double poisson, const char *elements, talus_error *err)
{
    tl_lg_world w;
    char text[160];
    TL_TRY(tl_lg_world_open(&w, err,
                            "engine = 'grid', fem = { elements = '%s' }, bodies = { " FLOOR
                            ", { name = 'block', shape = box { size = 0.2 }, at = {0, 0.25, 0}, rotation_deg = {20, "
                            "0, 30}, cells = {3, 3, 3}, friction = 0.5, material = elastic { density = 1000, young = "
                            "%g, poisson = %g } } }",
                            elements, young, poisson));
    talus_status status = TALUS_OK;
    double last = INFINITY, first = 0, rise = 0, deepest = 0, missed = 0;
    for (int k = 0; k < 60 && status == TALUS_OK; k++) {
        status = tl_sim_step(w.sim, 0.01, INFINITY, err);
        const tl_report *r = &w.sim->report;
        double now = r->kinetic + r->potential + r->elastic;
        if (k == 0) first = fabs(now);
        rise = fmax(rise, now - last);
        deepest = fmax(deepest, r->penetration);
        missed += r->solve[0].certificate > r->solve[0].target;
        last = now;
    }
    if (status == TALUS_OK) {
        snprintf(text, sizeof text, "%.0e Pa, nu %g, %s: largest rise of energy, of the first", young, poisson,
                 elements);
        tl_case_below(log, text, rise / first, 1e-6);
        snprintf(text, sizeof text, "%.0e Pa, nu %g, %s: penetration, m", young, poisson, elements);
        tl_case_below(log, text, deepest, 1e-6);
        snprintf(text, sizeof text, "%.0e Pa, nu %g, %s: steps of 60 that missed", young, poisson, elements);
        tl_case_below(log, text, missed, 1);
    }
    tl_world_close(&w);
    return status;
}

talus_status tl_elasto_range(tl_case_log *log, talus_error *err)
{
    for (int k = 3; k <= 10; k++) TL_TRY(fall(log, pow(10, k), 0.3, "auto", err));
    TL_TRY(fall(log, 1e5, 0.49, "auto", err));
    return fall(log, 1e5, 0.49, "smoothed", err);
}
