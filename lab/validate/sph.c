/* SPH engine, solids: rest, friction, rolling, collisions. Numbers V6 to V17 are those of the method's validation
 * list (docs/sph.md); expectations are laws where there is one, else what a separate double-precision program gave. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "lab/validate/sph_fluid.h"
#include "lab/validate/sph_scene.h"

#define DEG (3.14159265358979 / 180)
#define SAY(...) (snprintf(text, sizeof text, __VA_ARGS__), text)
#define X_AXIS ((tl_vec3){1, 0, 0})
#define Y_AXIS ((tl_vec3){0, 1, 0})

/* ---- V6: a box at rest ---- */

static talus_status box_at_rest(tl_case_log *log, talus_error *err)
{
    sph_run r;
    TL_TRY(sph_run_begin(
        &r, 1e-3, err,
        "local mu = 0.5\n" SPH_HEAD "dt_max = 1e-3, sph = { spacing = 0.02, inset = 0 }, bodies = {\n" SPH_PLANK(
            "0.6") ", { shape = box { size = 0.16 }, density = 1000, at = {0, 0.10, 0}, friction = mu } } }"));
    talus_status status = sph_run_until(&r, 0.5, NULL, NULL, err);
    if (status == TALUS_OK) {
        const tl_motion *m = sph_body(&r, 1);
        tl_case_near(log, "gap, spacings", (m->x.y - 0.08) / SPH_H, 0.8161, 0.002);
        tl_case_below(log, "speed, m/s", tl_vec3_norm(m->v), 1e-3);
        tl_case_below(log, "speed along the plank, m/s", hypot(m->v.x, m->v.z), 1e-12);
        tl_case_below(log, "tilt, degrees", sph_tilt_deg(&r, 1, Y_AXIS), 0.01);
    }
    sph_run_end(&r);
    return status;
}

/* An overlap at the start is pushed out slowly, and the box ends where it would have anyway. */
static talus_status box_pushed_out(tl_case_log *log, talus_error *err)
{
    static const double gaps[] = {0.6, 0.3};
    for (int k = 0; k < 2; k++) {
        sph_run r;
        TL_TRY(sph_run_begin(
            &r, 1e-3, err,
            "local mu = 0.5\n" SPH_HEAD "dt_max = 1e-3, sph = { spacing = 0.02, inset = 0 }, bodies = {\n" SPH_PLANK(
                "0.6") ", { shape = box { size = 0.16 }, density = 1000, at = {0, %.17g, 0}, friction = mu } } }",
            0.08 + gaps[k] * SPH_H));
        talus_status status = sph_run_until(&r, 0.5, NULL, NULL, err);
        char text[64];
        snprintf(text, sizeof text, "gap after starting at %.1f, spacings", gaps[k]);
        if (status == TALUS_OK) tl_case_near(log, text, (sph_body(&r, 1)->x.y - 0.08) / SPH_H, 0.8161, 0.003);
        sph_run_end(&r);
        TL_TRY(status);
    }
    return TALUS_OK;
}

/* ---- V7, V8: slopes; gravity is tilted, not the plank ---- */

typedef struct slope {
    double angle_deg, yaw_deg, size; /* of the box, spacings */
    const char *friction;            /* Lua: what local mu is */
} slope;

/* The box starts where it rests. */
static talus_status slope_begin(sph_run *r, const slope *s, talus_error *err)
{
    double a = s->angle_deg * DEG, half = 0.5 * s->size * SPH_H;
    return sph_run_begin(
        r, 1e-3, err,
        "local mu = %s\n" SPH_HEAD "gravity = {%.17g, %.17g, 0}, dt_max = 1e-3, sph = { spacing = 0.02, inset = 0 }, "
        "bodies = {\n" SPH_PLANK(
            "1.6") ", { shape = box { size = %.17g }, density = 1000, at = {-0.5, %.17g, 0}, rotation_deg "
                   "= {0, %.17g, 0}, friction = mu } } }",
        s->friction, SPH_G * sin(a), -SPH_G * cos(a), 2 * half, half + 0.8161 * SPH_H, s->yaw_deg);
}

/* Friction falls from 0.8 to 0.5 within 0.3 s, after 0.1 s of rest: the speed at the end tells when the box let go. */
static talus_status stick_slip_one(tl_case_log *log, const slope *s, talus_error *err)
{
    sph_run r;
    char text[80];
    TL_TRY(slope_begin(&r, s, err));
    talus_status status = sph_run_until(&r, 0.1, NULL, NULL, err);
    double x0 = status == TALUS_OK ? sph_body(&r, 1)->x.x : 0;
    if (status == TALUS_OK) status = sph_run_until(&r, 0.2, NULL, NULL, err);
    if (status == TALUS_OK) {
        snprintf(text, sizeof text, "drift while sticking, yaw %g, %gh; h/s", s->yaw_deg, s->size);
        tl_case_below(log, text, fabs(sph_body(&r, 1)->x.x - x0) / SPH_H / 0.1, 1e-3);
        status = sph_run_until(&r, 0.4, NULL, NULL, err);
    }
    if (status == TALUS_OK) {
        snprintf(text, sizeof text, "friction where it slips, yaw %g, %gh", s->yaw_deg, s->size);
        double v = fmax(0, sph_body(&r, 1)->v.x);
        tl_case_relative(log, text, 0.5 + sqrt(2 * v / (SPH_G * cos(s->angle_deg * DEG))), tan(30 * DEG), 0.025);
    }
    sph_run_end(&r);
    return status;
}

#define FALLING "function(t) return 0.8 - math.min(0.3, math.max(0, t - 0.1)) end"
static talus_status stick_slip(tl_case_log *log, talus_error *err)
{
    static const slope cases[] = {{30, 0, 8, FALLING}, {30, 17, 8, FALLING}, {30, 45, 12, FALLING}};
    for (int k = 0; k < 3; k++) TL_TRY(stick_slip_one(log, &cases[k], err));
    return TALUS_OK;
}

/* Effective friction from the speed gained between 0.05 s and 0.35 s. */
static talus_status sliding_friction(const slope *s, double *mu, talus_error *err)
{
    sph_run r;
    double a = s->angle_deg * DEG;
    TL_TRY(slope_begin(&r, s, err));
    talus_status status = sph_run_until(&r, 0.05, NULL, NULL, err);
    double v0 = status == TALUS_OK ? sph_body(&r, 1)->v.x : 0;
    if (status == TALUS_OK) status = sph_run_until(&r, 0.35, NULL, NULL, err);
    if (status == TALUS_OK) *mu = tan(a) - (sph_body(&r, 1)->v.x - v0) / 0.3 / (SPH_G * cos(a));
    sph_run_end(&r);
    return status;
}

static talus_status sliding(tl_case_log *log, talus_error *err)
{
    slope s = {30, 0, 8, "0.3"};
    double mu;
    TL_TRY(sliding_friction(&s, &mu, err));
    tl_case_relative(log, "friction of a sliding box", mu, 0.3, 0.015);
    return TALUS_OK;
}

static talus_status frictionless(tl_case_log *log, talus_error *err)
{
    static const double angles[] = {3, 6, 9}, yaws[] = {0, 17};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) {
            slope s = {angles[i], yaws[j], 8, "0"};
            double mu;
            char text[64];
            TL_TRY(sliding_friction(&s, &mu, err));
            snprintf(text, sizeof text, "friction at %g degrees, yaw %g", angles[i], yaws[j]);
            tl_case_near(log, text, mu, 0, 0.003);
        }
    return TALUS_OK;
}

/* Friction belongs to the pair: geometric mean, so a frictionless partner wins; an entry of `contacts` decides
 * instead. */
static talus_status pair_friction(tl_case_log *log, talus_error *err)
{
    static const struct {
        double box, plank, expected;
        const char *contacts;
    } pairs[] = {{0.6, 0, 0, ""},
                 {0, 0.6, 0, ""},
                 {0.2, 0.45, 0.3, ""},
                 {0, 0.6, 0.25, "contacts = { { between = {'box', 'plank'}, friction = 0.25 } },"}};
    double a = 25 * DEG;
    for (int k = 0; k < 4; k++) {
        sph_run r;
        TL_TRY(sph_run_begin(&r, 1e-3, err,
                             "local mu = %g\n" SPH_HEAD
                             "gravity = {%.17g, %.17g, 0}, dt_max = 1e-3, sph = { spacing = 0.02, inset = 0 }, %s\n"
                             "bodies = {\n" SPH_PLANK(
                                 "1.6") ", { name = 'box', shape = box { size = 0.16 }, density = 1000, at = {-0.5, "
                                        "%.17g, 0}, friction = %g } } }",
                             pairs[k].plank, SPH_G * sin(a), -SPH_G * cos(a), pairs[k].contacts, 0.08 + 0.8161 * SPH_H,
                             pairs[k].box));
        talus_status status = sph_run_until(&r, 0.05, NULL, NULL, err);
        double v0 = status == TALUS_OK ? sph_body(&r, 1)->v.x : 0;
        if (status == TALUS_OK) status = sph_run_until(&r, 0.25, NULL, NULL, err);
        char text[64];
        snprintf(text, sizeof text, "box %g on plank %g%s", pairs[k].box, pairs[k].plank,
                 *pairs[k].contacts ? ", pair 0.25" : "");
        if (status == TALUS_OK)
            tl_case_near(log, text, tan(a) - (sph_body(&r, 1)->v.x - v0) / 0.2 / (SPH_G * cos(a)), pairs[k].expected,
                         fmax(0.003, 0.02 * pairs[k].expected));
        sph_run_end(&r);
        TL_TRY(status);
    }
    return TALUS_OK;
}

/* ---- V12, V13: towers ---- */

typedef struct rest_watch {
    double from; /* s */
    int bodies;
    double fastest; /* of any body, m/s */
} rest_watch;

static void watch_rest(void *user, const sph_run *r)
{
    rest_watch *w = user;
    if (r->sim->state.t < w->from) return;
    for (int i = 1; i <= w->bodies; i++) w->fastest = fmax(w->fastest, tl_vec3_norm(sph_body(r, i)->v));
}

/* `settings`: of sph, and the solver; "" the defaults. */
static talus_status mass_ratio_run(double mass, const char *sph, const char *solver, rest_watch *w, double *tilt,
                                   double *gap, talus_error *err)
{
    sph_run r;
    TL_TRY(sph_run_begin(
        &r, 1e-3, err,
        "local mu = 0.5\n" SPH_HEAD "dt_max = 1e-3, sph = { spacing = 0.02, inset = 0%s }, %s bodies = {\n" SPH_PLANK(
            "0.6") ", { shape = box { size = 0.2 }, mass = 1, at = {0, 0.1 + 0.0164, 0}, friction = mu }, {"
                   " shape = box { size = 0.2 }, mass = %g, at = {0, 0.3 + 0.0164 + 0.0152 + 0.04, 0}, "
                   "friction = mu } } }",
        sph, solver, mass));
    *w = (rest_watch){.from = 0.3, .bodies = 2};
    talus_status status = sph_run_until(&r, 0.6, watch_rest, w, err);
    if (status == TALUS_OK) {
        *tilt = fmax(sph_tilt_deg(&r, 1, Y_AXIS), sph_tilt_deg(&r, 2, Y_AXIS));
        *gap = (sph_body(&r, 2)->x.y - sph_body(&r, 1)->x.y - 0.2) / SPH_H;
    }
    sph_run_end(&r);
    return status;
}

static talus_status mass_ratio(tl_case_log *log, talus_error *err)
{
    rest_watch w;
    double tilt, gap;
    char text[64];
    static const double mass[] = {1000, 200};
    for (int k = 0; k < 2; k++) {
        TL_TRY(mass_ratio_run(mass[k], "", "", &w, &tilt, &gap, err));
        tl_case_below(log, SAY("%g:1, defaults, fastest after 0.3 s, m/s", mass[k]), w.fastest, 3e-4);
        tl_case_below(log, SAY("%g:1, tilt, degrees", mass[k]), tilt, 0.01);
        tl_case_near(log, SAY("%g:1, gap, spacings", mass[k]), gap, 0.757, 0.01);
    }
    /* from zero in every step, and overlaps leave at 0.5 m/s, as where the numbers come from */
    static const char listed[] = ", warm_start = false, push_out = 0.5";
    TL_TRY(mass_ratio_run(1000, listed,
                          "solver = { pressure = { method = 'nncg', tolerance = 1e-3, iterations = 100 } },", &w, &tilt,
                          &gap, err));
    tl_case_below(log, "1000:1, as listed, fastest after 0.3 s, m/s", w.fastest, 3e-4);
    TL_TRY(mass_ratio_run(1000, listed,
                          "solver = { pressure = { method = 'jacobi', tolerance = 1e-3, iterations = 100 } },", &w,
                          &tilt, &gap, err));
    tl_case_above(log, "the same with plain Jacobi: still bounces, m/s", w.fastest, 0.1);
    return TALUS_OK;
}

static talus_status stack_of_eight(tl_case_log *log, talus_error *err)
{
    sph_run r;
    TL_TRY(sph_run_begin(
        &r, 1e-3, err,
        "local mu = 0.5\nlocal cubes = { " SPH_PLANK(
            "0.6") " }\nfor i = 1, 8 do cubes[i + 1] = { shape = box { size = 0.1 }, density = 1000, "
                   "at = {0, 0.05 + 0.0162 + (i - 1) * (0.1 + 0.01514), 0}, friction = mu } end\n" SPH_HEAD
                   "dt_max = 1e-3, sph = { spacing = 0.02, inset = 0, iterations_least = 20 }, solver = { pressure = { "
                   "method = 'nncg', "
                   "iterations = 20 } }, bodies = cubes }"));
    rest_watch w = {.from = 0.5, .bodies = 8};
    talus_status status = sph_run_until(&r, 1.5, watch_rest, &w, err);
    if (status == TALUS_OK) {
        double worst = 0, tilt = 0;
        for (int i = 1; i <= 8; i++) tilt = fmax(tilt, sph_tilt_deg(&r, i, Y_AXIS));
        for (int i = 1; i < 8; i++)
            worst = fmax(worst, fabs((sph_body(&r, i + 1)->x.y - sph_body(&r, i)->x.y - 0.1) / SPH_H - 0.757));
        tl_case_below(log, "gaps between cubes against 0.757 h, spacings", worst, 0.002);
        tl_case_near(log, "gap of the lowest, spacings", (sph_body(&r, 1)->x.y - 0.05) / SPH_H, 0.809, 0.01);
        tl_case_below(log, "tilt, degrees", tilt, 0.01);
        tl_case_below(log, "fastest, m/s", w.fastest, 3e-3);
    }
    sph_run_end(&r);
    return status;
}

/* ---- V14: two boards that lean on each other ---- */

/* Boards of 20h by 2h, 20 degrees from the vertical, their upper inner edges 0.757 h apart. They settle at 20.3
 * degrees: tan(phi)/2 - t/(2L) is 0.1346 there and 0.1365 at 20.45. How far their centres sink in so many seconds
 * after 0.3, m. */
static talus_status leaning(double mu, double seconds, double *fell, talus_error *err)
{
    sph_run r;
    const double length = 20 * SPH_H, thick = 2 * SPH_H, phi = 20 * DEG;
    /* centre of a board whose lowest edge is 0.8 h above the plank and whose nearest corner is 0.38 h from the
     * middle plane */
    double y = 0.5 * (length * cos(phi) + thick * sin(phi)) + 0.8 * SPH_H;
    double x = 0.5 * (length * sin(phi) + thick * cos(phi)) + 0.38 * SPH_H;
    TL_TRY(sph_run_begin(
        &r, 1e-3, err,
        "local mu = %.17g\n" SPH_HEAD
        "dt_max = 1e-3, sph = { spacing = 0.02, inset = 0, iterations_least = 20 }, bodies = {\n" SPH_PLANK(
            "1.2") ", { shape = box { size = {%.17g, %.17g, 0.2} }, density = 1000, at = {%.17g, %.17g, 0}, "
                   "rotation_deg = {0, "
                   "0, 20}, friction = mu }, { shape = box { size = {%.17g, %.17g, 0.2} }, density = 1000, at = "
                   "{%.17g, "
                   "%.17g, 0}, rotation_deg = {0, 0, -20}, friction = mu } } }",
        mu, thick, length, x, y, thick, length, -x, y));
    talus_status status = sph_run_until(&r, 0.3, NULL, NULL, err);
    double y0 = status == TALUS_OK ? sph_body(&r, 1)->x.y : 0;
    if (status == TALUS_OK) status = sph_run_until(&r, 0.3 + seconds, NULL, NULL, err);
    if (status == TALUS_OK) *fell = y0 - sph_body(&r, 1)->x.y;
    sph_run_end(&r);
    return status;
}

static talus_status leaning_boards(tl_case_log *log, talus_error *err)
{
    double fell;
    TL_TRY(leaning(0.14, 0.7, &fell, err));
    tl_case_below(log, "friction 0.14: sinks, m/s", fabs(fell) / 0.7, 3e-6);
    TL_TRY(leaning(0.135, 0.7, &fell, err));
    tl_case_above(log, "friction 0.135: fell, m", fell, 0.01);
    TL_TRY(leaning(0.13, 0.7, &fell, err));
    tl_case_above(log, "friction 0.13: fell, m", fell, 0.1);
    return TALUS_OK;
}

/* ---- V16: a ball on a slope ---- */

typedef struct roll_watch {
    double turned; /* rad */
} roll_watch;

static void watch_roll(void *user, const sph_run *r)
{
    ((roll_watch *)user)->turned -= r->sim->report.dt * sph_body(r, 1)->w.z;
}

/* From rest for 0.5 s. *a: speed over time; *roll: way over turns times radius. */
static talus_status ball(double radius, double mu, const char *rotation, double *a, double *roll, talus_error *err)
{
    sph_run r;
    roll_watch w = {0};
    TL_TRY(sph_run_begin(
        &r, 1e-3, err,
        "local mu = %.17g\n" SPH_HEAD
        "gravity = {%.17g, %.17g, 0}, dt_max = 1e-3, sph = { spacing = 0.02, inset = 0 }, "
        "bodies = {\n" SPH_PLANK("1.6") ", { shape = sphere { radius = %.17g }, density = 1000, at = {-0.6, "
                                        "%.17g, 0}, rotation_deg = %s, friction = mu } } }",
        mu, SPH_G * sin(20 * DEG), -SPH_G * cos(20 * DEG), radius, radius + 0.76 * SPH_H, rotation));
    talus_status status = sph_run_until(&r, 0.5, watch_roll, &w, err);
    if (status == TALUS_OK) {
        const tl_motion *m = sph_body(&r, 1);
        *a = m->v.x / 0.5;
        *roll = (m->x.x + 0.6) / (w.turned * radius);
    }
    sph_run_end(&r);
    return status;
}

/* The mean of several ways that the ball's frame lies in; its samples do not turn with it. */
static talus_status mean_ball(double radius, double mu, double *a, double *roll, talus_error *err)
{
    static const char *const rotations[] = {"{0, 0, 0}", "{90, 0, 0}", "{0, 90, 0}", "{30, 20, 10}", "{45, 0, 0}"};
    *a = *roll = 0;
    for (int k = 0; k < 5; k++) {
        double one, way;
        TL_TRY(ball(radius, mu, rotations[k], &one, &way, err));
        *a += one / 5;
        *roll += way / 5;
    }
    return TALUS_OK;
}

/* Law: 5/7 g sin. The 2.24 and 2.31 m/s2 that this case is known for were had with samples that turn with the ball:
 * corners of a polygon. */
static talus_status rolling_ball(tl_case_log *log, talus_error *err)
{
    double a6, a12, slide, roll;
    const double law = 5.0 / 7 * SPH_G * sin(20 * DEG);
    TL_TRY(mean_ball(6 * SPH_H, 0.5, &a6, &roll, err));
    tl_case_near(log, "R = 6h: way over turns times radius", roll, 1, 0.005);
    tl_case_relative(log, "R = 6h: acceleration, m/s2", a6, law, 0.06);
    TL_TRY(mean_ball(12 * SPH_H, 0.5, &a12, &roll, err));
    tl_case_near(log, "R = 12h: way over turns times radius", roll, 1, 0.005);
    tl_case_relative(log, "R = 12h: acceleration, m/s2", a12, law, 0.04);
    TL_TRY(ball(6 * SPH_H, 0.05, "{0, 0, 0}", &slide, &roll, err));
    tl_case_relative(log, "friction 0.05, slides: acceleration, m/s2", slide,
                     SPH_G * (sin(20 * DEG) - 0.05 * cos(20 * DEG)), 0.04);
    return TALUS_OK;
}

/* ---- P5: rolling on a level floor, defaults ---- */

static talus_status roll_level(tl_case_log *log, const char *what, const char *shape, double radius, talus_error *err)
{
    sph_run r;
    char label[80];
    TL_TRY(sph_run_begin(
        &r, 2e-3, err,
        SPH_HEAD "dt_max = 2e-3, sph = { spacing = 0.02 }, bodies = {\n{ kind = 'static', shape = box { size = "
                 "{1.6, 0.1, 0.6} }, at = {0, -0.05, 0}, friction = 0.5 }, { shape = %s, density = 1000, at = "
                 "{-0.3, %.17g, 0}, velocity = {0.5, 0, 0}, spin_rad_per_s = {0, 0, %.17g}, friction = 0.5 } } }",
        shape, radius, -0.5 / radius));
    talus_status status = sph_run_until(&r, 1, NULL, NULL, err);
    if (status == TALUS_OK) {
        const tl_motion *m = sph_body(&r, 1);
        snprintf(label, sizeof label, "%s: speed after 1 s over that before", what);
        tl_case_near(log, label, m->v.x / 0.5, 1, 0.02);
        snprintf(label, sizeof label, "%s: speed over spin and radius", what);
        tl_case_near(log, label, -m->v.x / (m->w.z * radius), 1, 0.005);
    }
    sph_run_end(&r);
    return status;
}

static talus_status rolling_level(tl_case_log *log, talus_error *err)
{
    TL_TRY(roll_level(log, "ball of 6 h", "sphere { radius = 0.12 }", 0.12, err));
    TL_TRY(roll_level(log, "ball of 12 h", "sphere { radius = 0.24 }", 0.24, err));
    TL_TRY(roll_level(log, "ball of 3 h", "sphere { radius = 0.06 }", 0.06, err));
    return roll_level(log, "wheel of 6 h", "cylinder { radius = 0.12, height = 0.12 }:rotate {90, 0, 0}", 0.12, err);
}

/* ---- V17: a collision in free space ---- */

typedef struct momenta {
    tl_vec3 p, L;
    double kinetic, rise; /* rise: largest of the kinetic energy between steps, of the first */
} momenta;

static void watch_momenta(void *user, const sph_run *r)
{
    momenta *m = user;
    const tl_report *now = &r->sim->report;
    if (m->kinetic > 0) m->rise = fmax(m->rise, now->kinetic / m->kinetic - 1);
    *m = (momenta){now->momentum, now->angular_momentum, now->kinetic, m->rise};
}

static talus_status collide(double dt, double *linear, double *angular, double *rise, talus_error *err)
{
    sph_run r;
    TL_TRY(sph_run_begin(
        &r, dt, err,
        SPH_HEAD
        "gravity = {0, 0, 0}, dt_max = %g, sph = { spacing = 0.02, inset = 0 }, bodies = {\n"
        "{ shape = box { size = {0.16, 0.1, 0.12} }, density = 1000, velocity = {1, 0, 0}, "
        "spin_rad_per_s = {1, 2, 3} },\n"
        "{ shape = box { size = {0.1, 0.2, 0.12} }, density = 700, at = {0.2, 0.03, 0.02}, velocity = {-1, 0, "
        "0} },\n"
        "{ shape = sphere { radius = 0.08 }, density = 1000, at = {0, -0.22, 0.02}, velocity = {0, 1, 0} } } }",
        dt));
    momenta first = {0}, last = {0};
    double scale = 0, turning = 0;
    for (int i = 0; i < 3; i++) {
        const tl_motion *m = sph_body(&r, i);
        scale += r.sim->rigid.body[i].mass * tl_vec3_norm(m->v);
        turning += r.sim->rigid.body[i].mass * tl_vec3_norm(m->v) * 0.1;
    }
    talus_status status = sph_run_until(&r, dt, watch_momenta, &first, err);
    last = first;
    if (status == TALUS_OK) status = sph_run_until(&r, 0.3, watch_momenta, &last, err);
    *linear = tl_vec3_norm(tl_vec3_sub(last.p, first.p)) / scale;
    *angular = tl_vec3_norm(tl_vec3_sub(last.L, first.L)) / turning;
    *rise = last.rise;
    sph_run_end(&r);
    return status;
}

static talus_status collision(tl_case_log *log, talus_error *err)
{
    double linear, coarse, fine, rise;
    TL_TRY(collide(1e-3, &linear, &coarse, &rise, err));
    tl_case_below(log, "linear momentum, relative change", linear, 1e-13);
    tl_case_below(log, "angular momentum, relative change at 1 ms", coarse, 2e-4);
    tl_case_below(log, "kinetic energy, largest relative rise in a step", rise, 1e-5);
    TL_TRY(collide(0.5e-3, &linear, &fine, &rise, err));
    tl_case_below(log, "angular momentum, relative change at 0.5 ms", fine, 1.2e-4);
    return TALUS_OK;
}

/* clang-format off */
static const tl_case cases[] = {
    {"V6", "box at rest on a plank, from a gap of one spacing", true, box_at_rest},
    {"V6b", "overlaps at the start are pushed out slowly", true, box_pushed_out},
    {"V7", "30 degrees, falling friction: slips at tan 30, does not creep before", true, stick_slip},
    {"V7b", "sliding friction", true, sliding},
    {"V7c", "friction belongs to the pair", true, pair_friction},
    {"V8", "no friction, no locking of the samples", false, frictionless},
    {"V9", "pillars of liquid at rest: weight on the floor, pressures, no leak", false, sph_pillar},
    {"V10", "iterations of Jacobi over NNCG on the same settled systems", false, sph_ratios},
    {"V11", "floating cubes sampled on their surface", false, sph_floating},
    {"V11b", "floating cubes of 15 and 7.5 spacings with defaults against Archimedes", false, sph_draught},
    {"V12", "a ton on a kilogram", false, mass_ratio},
    {"V13", "stack of eight cubes, 20 iterations", false, stack_of_eight},
    {"V14", "two boards leaning: stand above tan(phi)/2 - t/(2L)", false, leaning_boards},
    {"V15", "thrust of water on a block", false, sph_thrust},
    {"V16", "ball on 20 degrees: rolls, or slides", false, rolling_ball},
    {"V17", "collision in free space: momentum, energy", true, collision},
    {"P1", "plane Poiseuille flow that starts, 13 and 26 spacings across", false, sph_poiseuille},
    {"P2", "surface tension: cube and brick become balls", false, sph_drop},
    {"P3", "sloshing, 25 x 12.5 spacings: half period at three steps", false, sph_sloshing},
    {"P4", "water on a held box of 8 spacings, three ways to lie: mean, frames, steps", false, sph_held_box},
    {"P6", "standing wave in a tank of 12, 24 and 48 spacings: half period", false, sph_standing_wave},
    {"P7", "still water of 10 x 10 x 10 spacings: speeds after 2 s", false, sph_still},
    {"P8", "drag of a ball in a cavity at Re 1", false, sph_drag},
    {"P9", "decaying shear between plates: order in the spacing", false, sph_order},
    {"P5", "balls and a wheel roll on a level floor for 1 s, defaults", true, rolling_level},
    {NULL, NULL, false, NULL},
};
/* clang-format on */
const tl_case_group tl_cases_sph = {"sph", cases};
