#include "check.h"

#include "phase/rigid/rigid.h"
#include "rigid.h"

/* Second order while bodies touch: tops, disks, coins and balls that roll, against their closed forms. Energy never
 * rises in any of them, and is kept where nothing takes it. */

#define G 9.81

static const double degree = 0.017453292519943295;

typedef struct course {
    double lost, rise; /* of the energy: at the end, and most in one step */
    double tilt;       /* largest difference from that of the start, degrees */
    double off;        /* from the place that `where` tells, m */
} course;

static double tilt_of(const tl_motion *m) { return acos(fmin(1, tl_quat_rotate(m->q, (tl_vec3){0, 1, 0}).y)) / degree; }

typedef tl_vec3 place_at(const void *what, double t);

static course follow(rigid_case *c, double seconds, double dt, place_at *where, const void *what)
{
    course out = {0};
    double first = NAN, last = NAN, tilt = tilt_of(rigid_body(c, "b"));
    while (c->sim->state.t < seconds - 1e-9) {
        rigid_step(c, fmin(dt, tl_rigid_dt_wanted(c->sim)));
        const tl_motion *m = rigid_body(c, "b");
        double now = c->sim->report.kinetic + c->sim->report.potential;
        if (isnan(first)) first = now;
        if (now > last) out.rise = fmax(out.rise, (now - last) / fabs(last));
        last = now;
        out.tilt = fmax(out.tilt, fabs(tilt_of(m) - tilt));
        if (where) {
            tl_vec3 d = tl_vec3_sub(m->x, where(what, c->sim->state.t));
            out.off = fmax(out.off, hypot(d.x, d.z));
        }
    }
    out.lost = 1 - last / first;
    CHECK_LE(out.rise, 1e-9);
    return out;
}

/* A heavy symmetric top on its tip, in slow steady precession: I1 p^2 cos - I3 s p + m g l = 0 with moments about
 * the tip. A cone, spin in rad/s about its axis. */
static void tops_keep_their_tilt(void **state)
{
    (void)state;
    static const struct {
        double radius, height, spin, tilt, dt;
    } top[] = {{0.05, 0.1, 200, 20, 2e-3},
               {0.05, 0.1, 200, 20, 1e-3},
               {0.08, 0.06, 60, 30, 4e-3},
               {0.06, 0.06, 150, 10, 2e-3}};
    for (size_t k = 0; k < sizeof top / sizeof *top; k++) {
        double r = top[k].radius, h = top[k].height, a = top[k].tilt * degree, l = 0.75 * h;
        double I3 = 0.3 * r * r, I1 = 0.15 * r * r + 0.6 * h * h;
        double p = (I3 * top[k].spin - sqrt(I3 * I3 * top[k].spin * top[k].spin - 4 * I1 * cos(a) * G * l)) /
                   (2 * I1 * cos(a));
        tl_vec3 axis = {-sin(a), cos(a), 0}, w = tl_vec3_scale(top[k].spin - p * cos(a), axis);
        w.y += p;
        tl_vec3 v = tl_vec3_cross(w, tl_vec3_scale(l, axis));
        rigid_case c = rigid_open(
            NULL,
            "bodies = { { kind = 'static', shape = half_space {}, friction = 1 }, { name = 'b', shape = cone { radius "
            "= %g, height = %g, rotation_deg = {180, 0, 0} }, density = 1000, friction = 1, at = {%.17g, %.17g, 0}, "
            "rotation = { axis = {0, 0, 1}, angle_deg = %.17g }, velocity = {%.17g, %.17g, %.17g}, spin_rad_per_s = "
            "{%.17g, %.17g, %.17g} } }",
            r, h, 0.5 * h * axis.x, 0.5 * h * axis.y, top[k].tilt, v.x, v.y, v.z, w.x, w.y, w.z);
        course x = follow(&c, 2, top[k].dt, NULL, NULL);
        CHECK_LE(x.tilt, 0.1);
        CHECK_NEAR(x.lost, 0, 1e-4);
        rigid_close(&c);
    }
}

/* A disk that rolls around, its centre on a circle of radius x, its axis leaning by `lean` from the vertical: steady
 * motion from the balance of moments. */
typedef struct disk {
    double radius, height, lean, path; /* of the places of contact, m */
    double rate, x, up;                /* rad/s about the vertical; of the centre */
    tl_vec3 spin;
} disk;

static void make_disk(disk *d)
{
    double a = d->lean * degree, half = 0.5 * d->height, R = d->radius;
    double k = 0.25 * R * R + d->height * d->height / 12, k3 = 0.5 * R * R;
    double rx = -cos(a), ry = sin(a), ex = sin(a), ey = cos(a); /* from the contact to the middle of the face; axis */
    double dx = R * rx + half * ex, roll;
    d->x = d->path + dx;
    d->up = R * ry + half * ey;
    roll = (sin(a) * half - d->x) / R;
    d->rate = sqrt(-dx * G / (d->up * d->x - k * sin(a) * rx - k3 * roll * ex));
    d->spin = (tl_vec3){d->rate * (sin(a) * rx + roll * ex), d->rate * (sin(a) * ry + roll * ey), 0};
}

static tl_vec3 disk_at(const void *what, double t)
{
    const disk *d = what;
    return (tl_vec3){d->x * cos(d->rate * t), d->up, -d->x * sin(d->rate * t)};
}

static course roll_disk(disk d, double seconds, double dt)
{
    make_disk(&d);
    rigid_case c =
        rigid_open(NULL,
                   "bodies = { { kind = 'static', shape = half_space {}, friction = 1 }, { name = 'b', shape = "
                   "cylinder { radius = %g, height = %g }, density = 8000, friction = 1, at = {%.17g, %.17g, 0}, "
                   "rotation = { axis = "
                   "{0, 0, 1}, angle_deg = %.17g }, velocity = {0, 0, %.17g}, spin_rad_per_s = {%.17g, %.17g, 0} } }",
                   d.radius, d.height, d.x, d.up, -d.lean, -d.rate * d.x, d.spin.x, d.spin.y);
    course out = follow(&c, seconds, dt, disk_at, &d);
    rigid_close(&c);
    return out;
}

static void disks_roll_on(void **state)
{
    (void)state;
    static const disk euler[] = {{0.05, 0.005, 20, 0, 0, 0, 0, {0, 0, 0}},
                                 {0.05, 0.02, 20, 0, 0, 0, 0, {0, 0, 0}},
                                 {0.1, 0.01, 10, 0, 0, 0, 0, {0, 0, 0}}};
    for (int k = 0; k < 3; k++) {
        disk d = euler[k];
        d.path = d.radius * cos(d.lean * degree) - 0.5 * d.height * sin(d.lean * degree); /* the centre stays */
        course x = roll_disk(d, 1, 1e-3);
        CHECK_LE(x.lost, 0.01);
        CHECK_LE(x.tilt, 0.5);
    }
    /* a coin, in two steps: the error falls with the square of the step */
    disk coin = {0.05, 0.002, 60, 0.3, 0, 0, 0, {0, 0, 0}};
    double coarse = roll_disk(coin, 2, 2e-3).off, fine = roll_disk(coin, 2, 1e-3).off;
    CHECK_LE(coarse, 5e-4);
    CHECK_LE(fine, 0.3 * coarse);
}

/* A ball on a turntable goes around in a circle at 2/7 of its rate, wherever it began. */
static tl_vec3 on_turntable(const void *what, double t)
{
    double o = *(const double *)what * 2 / 7;
    return (tl_vec3){0.3 + 0.1 * sin(o * t) / o, 0.05, -0.1 * (1 - cos(o * t)) / o};
}

static void balls_roll(void **state)
{
    (void)state;
    const double rate = 3;
    rigid_case c = rigid_open(
        NULL,
        "bodies = { { kind = 'kinematic', shape = cylinder { radius = 3, height = 1 }, friction = 1, motion = "
        "function(t) return { at = {0, -0.5, 0}, rotation = { axis = {0, 1, 0}, angle_deg = %.17g * t } } end }, "
        "{ name = 'b', shape = sphere { radius = 0.05 }, density = 1000, friction = 1, at = {0.3, 0.05, 0}, velocity = "
        "{0.1, 0, 0}, spin_rad_per_s = {%.17g, 0, -2} } }",
        rate / degree, rate * 0.3 / 0.05);
    double off = 0;
    while (c.sim->state.t < 5) {
        rigid_step(&c, 0.01);
        tl_vec3 d = tl_vec3_sub(rigid_body(&c, "b")->x, on_turntable(&rate, c.sim->state.t));
        off = fmax(off, hypot(d.x, d.z));
    }
    CHECK_LE(off, 5e-4); /* of a circle of 0.117 m */
    rigid_close(&c);

    /* in a bowl: energy of the swing, 13 % of the depth of the bowl, kept to 1 % in 5 s */
    c = rigid_open(
        NULL,
        "bodies = { { kind = 'static', shape = subtract { box { size = {1.4, 0.7, 1.4}, center = {0, -0.35, 0} }, "
        "sphere { radius = 0.5 } }, friction = 1 }, { name = 'b', shape = sphere { radius = 0.05 }, density "
        "= 1000, friction = 1, at = {%.17g, %.17g, 0} } }",
        0.45 * sin(0.5), -0.45 * cos(0.5));
    course x = follow(&c, 5, 0.01, NULL, NULL);
    CHECK_NEAR(x.lost * cos(0.5) / (1 - cos(0.5)), 0, 1e-2);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tops_keep_their_tilt),
        cmocka_unit_test(disks_roll_on),
        cmocka_unit_test(balls_roll),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
