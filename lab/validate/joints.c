/* Group "joints": places over long times, periods, energy and momentum, torques against inverse dynamics, limits, breaking,
 * loops that hold more than they need. References are computed here, by other means than those of the engine. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/validate/groups.h"
#include "lab/world.h"
#include "model/rigid/joints.h"

#define GRAVITY 9.81
#define PI 3.14159265358979323846
#define LINKS 3
#define ROD "shape = box { size = {0.05, 1, 0.05} }, mass = 1"
#define ROD_INERTIA ((1 + 0.0025) / 12) /* about its middle */
#define HEAD "return scene { talus = 1, engine = 'grid', duration = 1000, fps = 50, dt_max = 0.01, "

/* ---- what a world tells ---- */

static const tl_joint_memory *joint_of(const tl_world *w, int k)
{
    const tl_joint_state *s = tl_state_find(&w->sim->state, &tl_joints_kind);
    return &s->joint[k];
}

/* What is held is off by, m and rad. */
static void find_off(const tl_world *w, double *m, double *rad)
{
    for (int32_t k = 0; k < w->sim->joints.count; k++) {
        const tl_joint *j = &w->sim->joints.joint[k];
        tl_joint_row row[TL_JOINT_ROWS];
        double turn[2];
        tl_joint_measure(j, w->sim->state.rigid.body, joint_of(w, k), row, turn);
        for (int r = 0; r < j->rows; r++) {
            if (j->law[r] != TL_ROW_HOLD) continue;
            const bool turns = tl_vec3_norm2(row[r].push_a) == 0;
            double *max = turns ? rad : m;
            *max = fmax(*max, fabs(row[r].x) / (turns ? j->length : 1));
        }
    }
}

static double energy_of(const tl_world *w)
{
    const tl_report *r = &w->sim->report;
    return r->kinetic + r->potential + (isnan(r->elastic) ? 0 : r->elastic);
}

typedef struct watch {
    double m, rad;                         /* joints off by, at the most */
    double rise, least, most;              /* of the energy: in one step, and its range */
    double momentum, angular, unexplained; /* that nothing explains, the worst step's, kg m/s, kg m^2/s, J */
    int64_t missed, steps;
} watch;

/* Until t in steps of at most dt, looking at every one. */
static talus_status go(tl_world *w, double t, double dt, watch *see, talus_error *err)
{
    *see = (watch){.least = INFINITY, .most = -INFINITY};
    double last = NAN;
    while (w->sim->state.t < t - 1e-9) {
        TL_TRY(tl_sim_step(w->sim, fmin(dt, w->sim->engine->dt_wanted(w->sim)), t, err));
        const tl_report *r = &w->sim->report;
        const double now = energy_of(w);
        if (!isnan(last)) see->rise = fmax(see->rise, now - last);
        last = now;
        see->least = fmin(see->least, now);
        see->most = fmax(see->most, now);
        see->momentum = fmax(see->momentum, tl_vec3_norm(r->accounts.momentum_unexplained));
        see->angular = fmax(see->angular, tl_vec3_norm(r->accounts.angular_unexplained));
        see->unexplained = fmax(see->unexplained, fabs(r->accounts.energy_unexplained));
        see->missed += r->solve[0].certificate > r->solve[0].target;
        see->steps++;
        find_off(w, &see->m, &see->rad);
    }
    return TALUS_OK;
}

/* ---- long runs ---- */

static const char pendula[] = HEAD
    "bodies = { { name = 'a', " ROD ", at = {0.5, 0, 0}, rotation_deg = {0, 0, 90} }, { name = 'b', " ROD
    ", at = {1.5, 0, 0}, rotation_deg = {0, 0, 90} }, { name = 'c', " ROD
    ", at = {0.5, 0, 3}, rotation_deg = {0, 0, 90} } }, joints = { { kind = 'hinge', a = 'a', at = {0, 0, 0}, axis = "
    "{0, 0, 1} }, { kind = 'hinge', a = 'b', b = 'a', at = {1, 0, 0}, axis = {0, 0, 1} }, { kind = 'ball', a = "
    "'c', at = {0, 0, 3} } } }";

static const char four_bar[] =
    "local A, B, C, D = {0, 0}, {0.3, 0}, {0.65, 0.6}, {1, 0}\n"
    "local function bar(name, p, q) local dx, dy = q[1] - p[1], q[2] - p[2] return { name = name, mass = 1, at = "
    "{(p[1] "
    "+ q[1]) / 2, (p[2] + q[2]) / 2, 0}, shape = capsule { from = {-dx / 2, -dy / 2, 0}, to = {dx / 2, dy / 2, 0}, "
    "radius = 0.02 } } end\n"
    "local function hinge(a, b, p) return { kind = 'hinge', a = a, b = b, at = {p[1], p[2], 0}, axis = {0, 0, 1} } "
    "end\n" HEAD
    "bodies = { bar('crank', A, B), bar('coupler', B, C), bar('rocker', C, D) }, joints = { hinge('crank', nil, A), "
    "hinge('coupler', 'crank', B), hinge('rocker', 'coupler', C), hinge('rocker', nil, D) } }";

/* Legs of given lengths, led; the platform of 50 kg moves in all six ways. */
static const char platform[] =
    "local low, high, bodies, joints = {}, {}, { { name = 'top', shape = cylinder { radius = 0.45, height = 0.04 }, at "
    "= "
    "{0, 1.06, 0}, mass = 50 } }, {}\n"
    "for k = 1, 6 do local i = (k - 1) // 2 local side = k % 2 == 1 and -12 or 12\n"
    "  local a = math.rad(120 * i + side) low[k] = {0.6 * math.cos(a), 0, 0.6 * math.sin(a)}\n"
    "  local b = math.rad(120 * i + (k % 2 == 1 and -48 or 48)) high[k] = {0.4 * math.cos(b), 1, 0.4 * math.sin(b)}\n"
    "end\n"
    "local function length(k, t) local s = math.min(1, t / 0.5) ^ 3 local x, y, z, w = 0.08 * s * math.sin(3 * t), "
    "0.06 * "
    "s * math.sin(2 * t), 0.05 * s * math.sin(4 * t), 0.25 * s * math.sin(2.5 * t) local c, n, h, b = math.cos(w), "
    "math.sin(w), high[k], low[k] local ex, ey, ez = x + c * h[1] + n * h[3] - b[1], y + h[2] - b[2], z - n * h[1] + c "
    "* "
    "h[3] - b[3] return math.sqrt(ex * ex + ey * ey + ez * ez) end\n"
    "for k = 1, 6 do local b, h = low[k], high[k] local d = {h[1] - b[1], h[2] - b[2], h[3] - b[3]} local n = "
    "math.sqrt(d[1] ^ 2 + d[2] ^ 2 + d[3] ^ 2) local e = {d[1] / n, d[2] / n, d[3] / n} local function on(s) return "
    "{b[1] "
    "+ s * e[1], b[2] + s * e[2], b[3] + s * e[3]} end\n"
    "  local function leg(from, to) local f = (to - from) / 2 return capsule { from = {-f * e[1], -f * e[2], -f * "
    "e[3]}, "
    "to = {f * e[1], f * e[2], f * e[3]}, radius = 0.02 }, on((from + to) / 2) end\n"
    "  local s, at = leg(0.05, 0.55 * n) bodies[#bodies + 1] = { name = 's' .. k, shape = s, at = at, mass = 2 }\n"
    "  s, at = leg(0.5 * n, n - 0.05) bodies[#bodies + 1] = { name = 'p' .. k, shape = s, at = at, mass = 1 }\n"
    "  local w = math.sqrt(e[1] ^ 2 + e[3] ^ 2) local u = {e[3] / w, 0, -e[1] / w} local v = {e[2] * u[3] - e[3] * "
    "u[2], "
    "e[3] * u[1] - e[1] * u[3], e[1] * u[2] - e[2] * u[1]}\n"
    "  joints[#joints + 1] = { kind = 'universal', a = 's' .. k, at = b, axis = u, axis_b = v }\n"
    "  joints[#joints + 1] = { kind = 'slider', a = 'p' .. k, b = 's' .. k, at = on(n / 2), axis = e, motor = { "
    "position "
    "= function(t) return length(k, t) - length(k, 0) end } }\n"
    "  joints[#joints + 1] = { kind = 'ball', a = 'p' .. k, b = 'top', at = h }\n"
    "end\n" HEAD "bodies = bodies, joints = joints }";

static talus_status long_run(tl_case_log *log, const char *name, const char *text, double seconds, bool keeps,
                             talus_error *err)
{
    tl_world w;
    watch see;
    char what[120];
    TL_TRY(tl_world_text(&w, text, NULL, err));
    talus_status status = go(&w, seconds, 0.01, &see, err);
    if (status == TALUS_OK) {
        snprintf(what, sizeof what, "%s, %.0f s: joints off by, m", name, seconds);
        tl_case_below(log, what, see.m, 1e-6);
        snprintf(what, sizeof what, "%s: joints off by, rad", name);
        tl_case_below(log, what, see.rad, 1e-6);
        snprintf(what, sizeof what, "%s: solves that missed", name);
        tl_case_below(log, what, (double)see.missed, 0);
        snprintf(what, sizeof what, "%s: momentum that nothing explains in a step, kg m/s", name);
        tl_case_below(log, what, see.momentum, 1e-9);
        snprintf(what, sizeof what, "%s: angular momentum, kg m^2/s", name);
        tl_case_below(log, what, see.angular, 1e-9);
    }
    if (status == TALUS_OK && keeps) {
        snprintf(what, sizeof what, "%s: energy rises in a step by, J", name);
        tl_case_below(log, what, see.rise, 1e-9);
        snprintf(what, sizeof what, "%s: range of the energy, J", name);
        tl_case_below(log, what, see.most - see.least, 1e-6);
    }
    tl_world_close(&w);
    return status;
}

static talus_status drift(tl_case_log *log, talus_error *err)
{
    TL_TRY(long_run(log, "pendula", pendula, 100, true, err));
    TL_TRY(long_run(log, "four-bar", four_bar, 100, true, err));
    return long_run(log, "Stewart platform", platform, 100, false, err);
}

/* ---- planar chains of rods, by Newton and Euler ---- */

/* Angles of rods from the x axis, rates and accelerations -> torques at their hinges. */
static void inverse_dynamics(int n, const double *angle, const double *w, const double *a, double *torque)
{
    double px[LINKS + 1] = {0}, py[LINKS + 1] = {0}, ax = 0, ay = GRAVITY; /* ends; acceleration less gravity */
    double cx[LINKS], cy[LINKS], fx[LINKS], fy[LINKS];
    for (int k = 0; k < n; k++) {
        const double c = cos(angle[k]), s = sin(angle[k]);
        const double bx = -a[k] * s - w[k] * w[k] * c, by = a[k] * c - w[k] * w[k] * s; /* per length along the rod */
        cx[k] = px[k] + 0.5 * c, cy[k] = py[k] + 0.5 * s;
        fx[k] = ax + 0.5 * bx, fy[k] = ay + 0.5 * by;
        px[k + 1] = px[k] + c, py[k + 1] = py[k] + s;
        ax += bx, ay += by;
    }
    for (int k = 0; k < n; k++) {
        torque[k] = 0;
        for (int i = k; i < n; i++) torque[k] += ROD_INERTIA * a[i] + (cx[i] - px[k]) * fy[i] - (cy[i] - py[k]) * fx[i];
    }
}

/* Accelerations of two rods that nothing drives. */
static void accelerations(const double *angle, const double *w, double *a)
{
    double rest[2], first[2], second[2], zero[2] = {0, 0}, one[2] = {1, 0}, two[2] = {0, 1};
    inverse_dynamics(2, angle, w, zero, rest);
    inverse_dynamics(2, angle, w, one, first);
    inverse_dynamics(2, angle, w, two, second);
    for (int k = 0; k < 2; k++) first[k] -= rest[k], second[k] -= rest[k];
    const double det = first[0] * second[1] - second[0] * first[1];
    a[0] = -(rest[0] * second[1] - second[0] * rest[1]) / det;
    a[1] = -(first[0] * rest[1] - rest[0] * first[1]) / det;
}

/* y: two angles, two rates. */
static void slope(const double *y, double *out)
{
    out[0] = y[2], out[1] = y[3];
    accelerations(y, y + 2, out + 2);
}

static void runge_kutta(double *y, double h)
{
    double k[4][4], at[4];
    static const double ahead[] = {0, 0.5, 0.5, 1};
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < 4; i++) at[i] = y[i] + (s ? ahead[s] * h * k[s - 1][i] : 0);
        slope(at, k[s]);
    }
    for (int i = 0; i < 4; i++) y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

static talus_status first_second(tl_case_log *log, double start_deg, talus_error *err)
{
    tl_world w;
    watch see;
    char what[120];
    const double a = start_deg * PI / 180;
    double y[4] = {a, a, 0, 0}, worst = 0;
    TL_TRY(tl_world_open(&w, err,
                         "local c, s = math.cos(%.17g), math.sin(%.17g)\n" HEAD "bodies = { { name = 'a', " ROD
                         ", at = {0.5 * c, 0.5 * s, 0}, rotation_deg = {0, 0, %.17g} }, { name = 'b', " ROD
                         ", at = {1.5 * c, 1.5 * s, 0}, rotation_deg = {0, 0, %.17g} } }, joints = { { kind = 'hinge', "
                         "a = 'a', at = {0, 0, 0}, axis = {0, 0, 1} }, { kind = 'hinge', a = 'b', b = 'a', at = {c, s, "
                         "0}, axis = {0, 0, 1} } } }",
                         a, a, start_deg - 90, start_deg - 90));
    talus_status status = TALUS_OK;
    for (int k = 1; k <= 20 && status == TALUS_OK; k++) {
        status = go(&w, 0.05 * k, 0.01, &see, err);
        for (int i = 0; i < 500; i++) runge_kutta(y, 1e-4);
        const tl_vec3 x = w.sim->state.rigid.body[1].x;
        worst = fmax(worst, hypot(x.x - cos(y[0]) - 0.5 * cos(y[1]), x.y - sin(y[0]) - 0.5 * sin(y[1])));
    }
    snprintf(what, sizeof what, "double pendulum from %g degrees: worst in its first second, m", start_deg);
    if (status == TALUS_OK) tl_case_below(log, what, worst, 1e-4);
    tl_world_close(&w);
    return status;
}

/* A rod let go at an angle from its rest: its period is that of the elliptic integral. */
static talus_status period(tl_case_log *log, double start_deg, double step, talus_error *err)
{
    tl_world w;
    char what[120];
    const double a = (start_deg - 90) * PI / 180;
    TL_TRY(
        tl_world_open(&w, err,
                      "local c, s = math.cos(%.17g), math.sin(%.17g)\n" HEAD "bodies = { { name = 'a', " ROD
                      ", at = {0.5 * c, 0.5 * s, 0}, rotation_deg = {0, 0, %.17g} } }, joints = { { kind = 'hinge', a "
                      "= 'a', at = {0, 0, 0}, axis = {0, 0, 1} } } }",
                      a, a, start_deg - 180));
    double first = NAN, last = NAN, was = 0;
    int turns = 0;
    talus_status status = TALUS_OK;
    while (turns < 6 && w.sim->state.t < 60 && status == TALUS_OK) {
        status = tl_sim_step(w.sim, fmin(step, w.sim->engine->dt_wanted(w.sim)), INFINITY, err);
        const double x = w.sim->state.rigid.body[0].x.x, t = w.sim->state.t, dt = w.sim->report.dt;
        if (was > 0 && x <= 0) last = t - dt * x / (x - was), first = turns++ ? first : last;
        was = x;
    }
    const double k = sin(0.5 * start_deg * PI / 180), inertia = ROD_INERTIA + 0.25;
    double mean = 1, other = sqrt(1 - k * k); /* the quarter period is pi / 2 over their mean */
    for (int i = 0; i < 12; i++) {
        const double both = 0.5 * (mean + other);
        other = sqrt(mean * other);
        mean = both;
    }
    const double exact = 2 * PI / mean * sqrt(inertia / (GRAVITY * 0.5));
    const double swing = step * sqrt(GRAVITY * 0.5 / inertia); /* rad of a small swing in a step */
    snprintf(what, sizeof what, "pendulum from %g degrees, steps of %g ms: period, s", start_deg, 1e3 * step);
    if (status == TALUS_OK && start_deg < 10) /* small ones are not cut: the rule's error, to a fifth of it */
        tl_case_near(log, what, (last - first) / (turns - 1), exact * (1 + swing * swing / 12),
                     exact * swing * swing / 60);
    else if (status == TALUS_OK)
        tl_case_relative(log, what, (last - first) / (turns - 1), exact, 1e-4);
    tl_world_close(&w);
    return status;
}

static talus_status periods(tl_case_log *log, talus_error *err)
{
    TL_TRY(period(log, 5, 0.01, err));
    TL_TRY(period(log, 5, 0.005, err));
    TL_TRY(period(log, 90, 0.01, err));
    TL_TRY(period(log, 170, 0.01, err));
    TL_TRY(first_second(log, 0, err));
    TL_TRY(first_second(log, -33, err));
    return first_second(log, 60, err);
}

/* ---- motors ---- */

/* Three rods led along sines; the torque that a motor reports is its mean over the step. */
static void led(double t, double *angle, double *w, double *a)
{
    static const double size[] = {0.5, 0.4, -0.3}, rate[] = {3, 2, 4};
    double sum[3] = {0, 0, 0};
    for (int k = 0; k < LINKS; k++) {
        sum[0] += size[k] * sin(rate[k] * t);
        sum[1] += size[k] * rate[k] * cos(rate[k] * t);
        sum[2] -= size[k] * rate[k] * rate[k] * sin(rate[k] * t);
        angle[k] = sum[0], w[k] = sum[1], a[k] = sum[2];
    }
}

static void mean_torque(double t, double dt, double *out)
{
    static const double weight[] = {1.0 / 6, 4.0 / 6, 1.0 / 6};
    double angle[LINKS], w[LINKS], a[LINKS], torque[LINKS];
    memset(out, 0, LINKS * sizeof *out);
    for (int k = 0; k < 3; k++) {
        led(t + 0.5 * k * dt, angle, w, a);
        inverse_dynamics(LINKS, angle, w, a, torque);
        for (int i = 0; i < LINKS; i++) out[i] += weight[k] * torque[i];
    }
}

static talus_status led_arm(double dt, double *worst, double *most, talus_error *err)
{
    tl_world w;
    TL_TRY(tl_world_open(
        &w, err,
        "local b, j, s, r = {}, {}, {0.5, 0.4, -0.3}, {3, 2, 4}\nfor k = 1, 3 do b[k] = { name = 'r' .. k, " ROD
        ", at = {k - 0.5, 0, 0}, rotation_deg = {0, 0, -90} } j[k] = { kind = 'hinge', a = 'r' .. k, b = k > 1 and 'r' "
        ".. "
        "(k - 1) or nil, at = {k - 1, 0, 0}, axis = {0, 0, 1}, motor = { position = function(t) return s[k] * "
        "math.sin(r[k] * t) end } } b[k].velocity = {0, 0, 0} end\n"
        "local up, w = 0, 0 for k = 1, 3 do w = w + s[k] * r[k] b[k].velocity = {0, up + 0.5 * w, 0} "
        "b[k].spin_rad_per_s "
        "= {0, 0, w} up = up + w end\n" HEAD "bodies = b, joints = j }"));
    talus_status status = TALUS_OK;
    *worst = *most = 0;
    for (int k = 0; k < (int)(0.2 / dt + 0.5) && status == TALUS_OK; k++) {
        const double t = w.sim->state.t;
        double torque[LINKS];
        status = tl_sim_step(w.sim, dt, INFINITY, err);
        mean_torque(t, w.sim->state.t - t, torque);
        for (int i = 0; i < LINKS && k > 2; i++) {
            *worst = fmax(*worst, fabs(joint_of(&w, i)->motor - torque[i]));
            *most = fmax(*most, fabs(torque[i]));
        }
    }
    tl_world_close(&w);
    return status;
}

static talus_status torques(tl_case_log *log, talus_error *err)
{
    double worst[2], most;
    TL_TRY(led_arm(1e-3, &worst[0], &most, err));
    TL_TRY(led_arm(2.5e-4, &worst[1], &most, err));
    tl_case_below(log, "arm of three hinges: torque off by in steps of 1 ms, of the largest", worst[0] / most, 1e-6);
    tl_case_below(log, "the same in steps of 0.25 ms", worst[1] / most, 1e-7);
    tl_case_above(log, "order of the error", log2(worst[0] / worst[1]) / 2, 1.7);
    return TALUS_OK;
}

static talus_status holding(tl_case_log *log, talus_error *err)
{
    tl_world w;
    watch see;
    TL_TRY(
        tl_world_open(&w, err, "%s",
                      "local b, j = {}, {}\nfor k = 1, 6 do b[k] = { name = 'l' .. k, shape = box { size = {0.3, "
                      "0.05, 0.05} }, mass = 1, at = {0.3 * k - 0.15, 0, 0} } j[k] = { kind = 'hinge', a = 'l' .. k, "
                      "b = k > 1 and 'l' .. (k - 1) or nil, at = {0.3 * (k - 1), 0, 0}, axis = k % 2 == 1 and {0, 0, "
                      "1} or {0, 1, 0}, motor = { position = 0 } } end b[7] = { name = 'load', shape = box { size = "
                      "0.2 }, mass = 100, at = {1.9, 0, 0} } j[7] = { kind = 'fixed', a = 'load', b = 'l6' }\n" HEAD
                      "bodies = b, joints = j }"));
    talus_status status = go(&w, 5, 0.01, &see, err);
    if (status == TALUS_OK) {
        const double moment = GRAVITY * (100 * 1.9 + 6 * 0.9);
        tl_case_below(log, "arm of six hinges with 100 times a link's mass: fastest, m/s", w.sim->report.fastest, 1e-9);
        tl_case_relative(log, "torque of the first hinge, N m", fabs(joint_of(&w, 0)->motor), moment, 1e-6);
        tl_case_below(log, "solves that missed", (double)see.missed, 0);
    }
    tl_world_close(&w);
    return status;
}

/* ---- limits, breaking, loops ---- */

static talus_status limits(tl_case_log *log, talus_error *err)
{
    tl_world w;
    watch see;
    TL_TRY(tl_world_open(&w, err,
                         HEAD "bodies = { { name = 'a', " ROD
                              ", at = {0.5, 0, 0}, rotation_deg = {0, 0, 90} } }, joints "
                              "= { { kind = 'hinge', a = 'a', at = {0, 0, 0}, axis = {0, 0, 1}, limits = {-0.5, 0.5} } "
                              "} }"));
    talus_status status = go(&w, 3, 0.01, &see, err);
    if (status == TALUS_OK) {
        tl_case_near(log, "rod on its limit, rad", joint_of(&w, 0)->position, -0.5, 1e-6);
        tl_case_below(log, "energy rises in a step by, J", see.rise, 1e-9);
    }
    tl_world_close(&w);
    for (int k = 0; k < 2 && status == TALUS_OK; k++) {
        const double part = k ? 1 - 1e-6 : 1 + 1e-6;
        status =
            tl_world_open(&w, err,
                          HEAD "bodies = { { name = 'a', shape = sphere { radius = 0.1 }, mass = 1 } }, joints = { "
                               "{ kind = 'rope', a = 'a', at_b = {0, 1, 0}, breaks_at = %.17g } } }",
                          GRAVITY * part);
        if (status == TALUS_OK) status = go(&w, 0.5, 0.01, &see, err);
        if (status == TALUS_OK)
            tl_case_near(log, k ? "rope that bears 1e-6 less than its weight: broken" : "1e-6 more: broken",
                         joint_of(&w, 0)->broken, k, 0);
        tl_world_close(&w);
    }
    return status;
}

static talus_status loops(tl_case_log *log, talus_error *err)
{
    tl_world w;
    watch see;
    TL_TRY(tl_world_open(
        &w, err, "%s",
        "local b, j = { { name = 'top', shape = box { size = {1, 0.05, 1} }, mass = 20, at = {0, 1, 0} } }, {}\nfor k "
        "= "
        "1, 4 do b[k + 1] = { name = 'l' .. k, " ROD
        ", at = {k < 3 and 0.4 or -0.4, 0.475, k % 2 == 0 and 0.4 or -0.4} } "
        "j[k] = { kind = 'fixed', a = 'top', b = 'l' .. k } j[k + 4] = { kind = 'fixed', a = 'l' .. k } end\n" HEAD
        "bodies = b, joints = j }"));
    talus_status status = go(&w, 2, 0.01, &see, err);
    if (status == TALUS_OK) {
        double up = 0;
        for (int k = 4; k < 8; k++) up += joint_of(&w, k)->on_a.y;
        tl_case_relative(log, "table on four welded legs: they carry, N", up, 24 * GRAVITY, 1e-6);
        tl_case_below(log, "force balance", w.sim->report.force_balance, 1e-6);
        tl_case_below(log, "solves that missed", (double)see.missed, 0);
    }
    tl_world_close(&w);
    TL_TRY(status);
    TL_TRY(tl_world_open(&w, err,
                         HEAD
                         "bodies = { { name = 'door', shape = box { size = {1, 2, 0.05} }, mass = 20, at = {0.5, 1, "
                         "0} }, { name = 'ball', shape = sphere { radius = 0.1 }, mass = 5, at = {0.8, 0.9, 0.5}, "
                         "velocity = {0, 0, -3}, restitution = 0.5, friction = 0.3 } }, joints = { { kind = "
                         "'hinge', a = 'door', at = {0, 0.3, 0}, axis = {0, 1, 0} }, { kind = 'hinge', a = 'door', "
                         "at = {0, 1.7, 0}, axis = {0, 1, 0} } } }"));
    status = go(&w, 2, 0.01, &see, err);
    if (status == TALUS_OK) {
        tl_case_above(log, "door on two hinges that a ball hits: turned by, rad", fabs(joint_of(&w, 0)->position), 0.1);
        tl_case_below(log, "joints off by, m", see.m, 1e-6);
        tl_case_below(log, "angular momentum that nothing explains in a step, kg m^2/s", see.angular, 1e-9);
        tl_case_below(log, "energy rises in a step by, J", see.rise, 1e-6);
        tl_case_below(log, "solves that missed", (double)see.missed, 0);
    }
    tl_world_close(&w);
    return status;
}

static const tl_case cases[] = {
    {"drift", "pendula, a four-bar loop and a Stewart platform over 100 s at 10 ms: joint errors below 1e-6", false,
     drift},
    {"periods", "a pendulum's period (elliptic integral), a double pendulum's first second (Runge-Kutta)", true,
     periods},
    {"torques", "motors of an arm that is led: mean torques of Newton and Euler's inverse dynamics", false, torques},
    {"holding", "an arm of six hinges holds 100 times a link's mass still", true, holding},
    {"limits", "limits and breaking forces are those stated to 1e-6", true, limits},
    {"loops", "redundant joints: a table on welded legs, a door on two hinges that a ball hits", true, loops},
    {NULL, NULL, false, NULL},
};

const tl_case_group tl_cases_joints = {"joints", cases};
