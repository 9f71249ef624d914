/* Elastic and rigid bodies on each other: weights, ratios of mass and stiffness, momentum of collisions, Hertz. */
#include <math.h>
#include <stdio.h>

#include "validate/elasto.h"
#include "validate/lg_world.h"

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
    tl_lg_world_close(&w);
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
    tl_lg_world_close(&w);
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

/* A ball pressed onto a plane without friction, which is half of two balls: F = 4/3 E / (1 - nu^2) sqrt(R) d^(3/2). The cap opposite is held and led. */
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
    tl_lg_world_close(&w);
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
    }
    return TALUS_OK;
}
