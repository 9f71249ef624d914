/* Pressure on elastic surfaces: against Lame's thick sphere, Laplace's law of a balloon and of a bulged strip;
 * momentum, spin, energy. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/lg/whole.h"
#include "rigid.h"
#include "scene/load.h"
#include "tempdir.h"

static talus_error err;

/* Volume inside of the surface of body 0, m^3. */
static double volume(const rigid_case *c)
{
    const tl_lg *lg = &c->sim->lg;
    double sum = 0;
    for (int32_t t = 0; t < lg->surface_triangles; t++) {
        tl_vec3 x[3];
        for (int k = 0; k < 3; k++)
            x[k] = tl_vec3_load(tl_lg_state_of(&c->sim->state)->q + 3 * (int64_t)lg->surface[t][k]);
        sum += tl_vec3_dot(x[0], tl_vec3_cross(x[1], x[2])) / 6;
    }
    return sum;
}

/* Mean of the radial displacement of nodes that are at that radius at rest. */
static double radial(const rigid_case *c, double radius)
{
    const tl_lg *lg = &c->sim->lg;
    double sum = 0;
    int count = 0;
    for (int64_t i = 0; i < lg->nodes; i++) {
        const tl_vec3 x = tl_vec3_load(lg->rest + 3 * i), q = tl_vec3_load(tl_lg_state_of(&c->sim->state)->q + 3 * i);
        if (fabs(tl_vec3_norm(x) - radius) > 0.01 * radius) continue;
        sum += tl_vec3_dot(tl_vec3_sub(q, x), x) / tl_vec3_norm(x);
        count++;
    }
    assert_true(count > 50);
    return sum / count;
}

/* Lame: pressure p in the cavity, or P from outside, both times a^3 or b^3 over b^3 - a^3. */
static void thick_spheres_widen(void **state)
{
    (void)state;
    const double a = 0.1, b = 0.2, E = 1e6, p = 500;
    for (int k = 0; k < 4; k++) {
        const double nu = k % 2 ? 0.2 : 0.3, d = pow(b, 3) - pow(a, 3);
        rigid_case c = rigid_open(
            NULL,
            "engine = 'lg', gravity = {0, 0, 0}, lg = { time = 'static' }, bodies = { { shape = subtract { "
            "sphere { radius = %g }, sphere { radius = %g } }, edge = 0.02, pressure = %g, pressure_in = %s, "
            "anchor = sphere { radius = 1 }, anchor_weight = 1e-3, material = elastic { density = 1000, young "
            "= %g, poisson = %g } } }",
            b, a, -p, k < 2 ? "sphere { radius = 0.15 }" : "shell { sphere { radius = 0.2 }, thickness = 0.05 }", E,
            nu);
        assert_true(c.sim->lg.body[0].sealed);
        rigid_step(&c, 0.01);
        for (int side = 0; side < 2; side++) {
            const double r = side ? b : a, around = (1 - 2 * nu) * r / E,
                         exact = k < 2 ? p * pow(a, 3) / d * (around + (1 + nu) * pow(b, 3) / (2 * E * r * r))
                                       : -p * pow(b, 3) / d * (around + (1 + nu) * pow(a, 3) / (2 * E * r * r));
            const double got = radial(&c, r);
            printf("pressed from %s, nu %g: %s wall moves %.4g um, %.4f of Lame's\n", k < 2 ? "inside" : "outside", nu,
                   side ? "outer" : "inner", 1e6 * got, got / exact);
            CHECK_NEAR(got / exact, 1, 0.03);
        }
        CHECK_LE(c.sim->report.solve[0].certificate, 1e-8);
        rigid_close(&c);
    }
}

/* An octahedron whose faces are cut into n^2 triangles, blown up to a sphere. */
static void write_sphere(const char *path, int n, double radius, bool inwards)
{
    FILE *f = fopen(path, "w");
    const int side = 2 * n + 1;
    int *number = test_calloc((size_t)(side * side * side), sizeof *number), count = 0;
    assert_non_null(f);
    for (int k = 0; k < side * side * side; k++) {
        const int x = k % side - n, y = k / side % side - n, z = k / side / side - n;
        if (abs(x) + abs(y) + abs(z) != n) continue;
        const double by = radius / sqrt((double)(x * x + y * y + z * z));
        fprintf(f, "v %.17g %.17g %.17g\n", by * x, by * y, by * z);
        number[k] = ++count;
    }
    for (int o = 0; o < 8; o++)
        for (int i = 0; i <= n; i++)
            for (int j = 0; i + j <= n; j++)
                for (int down = 0; down < 2; down++) {
                    const int m = down ? n + 1 : n - 1, to = down ? -1 : 1,
                              at[3] = {i + down, j + down, m - i - j - 2 * down};
                    int corner[3];
                    if (at[2] < down) continue;
                    for (int e = 0; e < 3; e++) {
                        int x[3] = {at[0], at[1], at[2]};
                        x[e] += to;
                        for (int d = 0; d < 3; d++) x[d] = (o >> d & 1 ? -x[d] : x[d]) + n;
                        corner[e] = number[x[0] + side * (x[1] + side * x[2])];
                    }
                    const bool turn = (__builtin_popcount((unsigned)o) % 2 != 0) ^ inwards;
                    fprintf(f, "f %d %d %d\n", corner[0], corner[turn ? 2 : 1], corner[turn ? 1 : 2]);
                }
    test_free(number);
    fclose(f);
}

static rigid_case open_balloon(const char *folder, double thickness, const char *more)
{
    char path[600], text[1200];
    rigid_case c = {0};
    FILE *f;
    snprintf(path, sizeof path, "%s/scene.lua", folder);
    int bytes =
        snprintf(text, sizeof text,
                 "return scene { talus = 1, engine = 'lg', duration = 10, fps = 100, bodies = { { shape = sheet "
                 "{ file = 'ball.obj' }, thickness = %g, bending = 'none', material = elastic { density = 1000, "
                 "young = 1e6, poisson = 0.3, model = 'neo_hookean', damping = 2e-3 }, %s\n",
                 thickness, more);
    f = fopen(path, "w");
    assert_non_null(f);
    fwrite(text, 1, (size_t)bytes, f);
    fclose(f);
    CHECK_OK(tl_scene_load(&c.scene, path, &(tl_load_options){0}, &err));
    CHECK_OK(tl_sim_create(&c.sim, c.scene, NULL, &err));
    return c;
}

/* p = 2 T / R with the tension T per length of now: that of the energy of a sheet, stretched by s both ways, over s.
 * A file whose triangles look inwards is blown up as well. */
static void balloons_obey_laplace(void **state)
{
    (void)state;
    const double R = 0.1, t = 1e-3, E = 1e6, nu = 0.3, mu = E / (2 * (1 + nu)), lambda = E * nu / (1 - nu * nu);
    for (int k = 0; k < 4; k++) {
        const double s = k < 2 ? 1.05 : 1.25, P = mu * s - (mu - lambda * log(s * s)) / s, p = 2 * t * P / (s * s * R);
        char folder[TL_TEMPDIR_MAX], path[300], more[400];
        tl_tempdir_create(folder);
        snprintf(path, sizeof path, "%s/ball.obj", folder);
        write_sphere(path, 8, R, k % 2);
        snprintf(more, sizeof more,
                 "velocity = {0, 1, 0}, spin_rad_per_s = {0, 0, 3}, pressure = function(t) return %.17g * math.min(1, "
                 "t / 0.1) "
                 "end } }, gravity = {0, 0, 0} }",
                 p);
        rigid_case c = open_balloon(folder, t, more);
        const double rest = fabs(volume(&c));
        assert_true(c.sim->lg.body[0].sealed && c.sim->lg.body[0].inside_out == (k % 2 == 1));
        const tl_lg_body *body = &c.sim->lg.body[0];
        double spin = 0, work = 0, worst = 0, lost = 0;
        for (int i = 0; i < 40; i++) {
            rigid_step(&c, 0.01);
            if (i == 0) spin = c.sim->report.angular_momentum.z; /* its centre flies along y: about that */
            work += c.sim->accounts.energy[TL_ENERGY_FORCES];
            worst = fmax(worst, fabs(c.sim->accounts.energy_unexplained));
            lost = fmax(lost, tl_vec3_norm(c.sim->accounts.momentum_unexplained));
        }
        const tl_lg_whole now =
            tl_lg_whole_of(&c.sim->lg, body, tl_lg_state_of(&c.sim->state)->q, tl_lg_state_of(&c.sim->state)->v);
        const double got = cbrt(fabs(volume(&c)) / rest);
        printf("balloon under %.4g Pa: stretched %.5f, Laplace %.5f; work %.4g J, unexplained %.1g J; speed 1 + %.1g, "
               "angular momentum %.9f of that at the start, momentum off by %.1g kg m/s\n",
               p, got, s, work, worst, now.v.y - 1, c.sim->report.angular_momentum.z / spin, lost);
        CHECK_NEAR((got - 1) / (s - 1), 1, 0.03);
        CHECK_LE(worst, 1e-6 * work);
        CHECK_LE(lost, 1e-7 * now.mass); /* what the solve leaves */
        CHECK_NEAR(now.v.y, 1, 1e-6);
        CHECK_NEAR(c.sim->report.angular_momentum.z / spin, 1, 1e-6);
        rigid_close(&c);
        tl_tempdir_remove(folder);
    }
}

/* A balloon of 100 Pa over atmosphere that falls on the floor, and a stone on it. */
static void balloons_touch(void **state)
{
    (void)state;
    char folder[TL_TEMPDIR_MAX], path[300];
    tl_tempdir_create(folder);
    snprintf(path, sizeof path, "%s/ball.obj", folder);
    write_sphere(path, 6, 0.1, false);
    rigid_case c = open_balloon(
        folder, 1e-3,
        "at = {0, 0.101, 0}, pressure = 1000, friction = 0.5 }, { kind = 'static', shape = plane {}, friction "
        "= 0.5 }, { shape = box { size = {0.1, 0.02, 0.1} }, at = {0, 0.225, 0}, density = 1000 } } }");
    double gained = 0, lost = 0, max = 0, depth = 0;
    for (int i = 0; i < 40; i++) {
        rigid_step(&c, 0.01);
        gained += fmax(0, c.sim->accounts.energy_unexplained);
        lost = fmax(lost, tl_vec3_norm(c.sim->accounts.momentum_unexplained));
        max = fmax(max, c.sim->report.solve[0].certificate);
        depth = fmax(depth, c.sim->report.penetration);
    }
    printf("stone on a balloon: %.2g J gained, momentum off by %.2g kg m/s, forces left over %.2g, %.2g m deep\n",
           gained, lost, max, depth);
    CHECK_LE(gained, 1e-4);
    CHECK_LE(lost, 1e-9);
    CHECK_LE(max, 1e-3);
    assert_true(c.sim->state.rigid.body[2].x.y > 0.15);
    rigid_close(&c);
    tl_tempdir_remove(folder);
}

/* A free sheet is accelerated by p / (density thickness) along its normal, wherever that turns: work is what it
 * gains. */
static void sheets_are_blown_away(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        rigid_case c =
            rigid_open(NULL,
                       "engine = 'lg', gravity = {0, 0, 0}, bodies = { { name = 'sail', shape = box { size = "
                       "{0.4, 0.002, 0.3} }, cells = {6, 1, 4}, thickness = 0.002, rotation_deg = {0, 0, %g}, "
                       "pressure = function(t) return 50 * t end, material = elastic { density = 500, young = "
                       "1e6, poisson = 0.3 } } }",
                       k ? 90. : 0.);
        double work = 0, off = 0;
        assert_false(c.sim->lg.body[0].sealed);
        for (int i = 0; i < 50; i++) {
            rigid_step(&c, 0.01);
            work += c.sim->accounts.energy[TL_ENERGY_FORCES];
            off = fmax(off, fabs(c.sim->accounts.energy_unexplained));
            CHECK_LE(tl_vec3_norm(c.sim->accounts.momentum_unexplained), 1e-12);
        }
        const tl_motion *m = rigid_body(&c, "sail");
        const double speed = 0.5 * 50 * 0.25 / (500 * 0.002), along = k ? -m->v.x : m->v.y;
        printf("sheet: %.5f m/s, p t^2 / (2 density thickness) = %.5f; work %.5f J, kinetic %.5f J, unexplained %.1g\n",
               along, speed, work, c.sim->report.kinetic, off);
        CHECK_NEAR(along / speed, 1, 0.02); /* forces are those of the ends of steps */
        CHECK_NEAR(work / (0.5 * 0.12 * along * along), 1, 0.03);
        CHECK_LE(off, 1e-6);
        rigid_close(&c);
    }
}

/* A long strip, held along two edges, becomes an arc: T = p r, with r from its height. Its middle row, far from the
 * ends. */
static void strips_bulge(void **state)
{
    (void)state;
    const double half = 0.1, t = 1e-3, E = 1e6, p = 800;
    rigid_case c =
        rigid_open(NULL,
                   "engine = 'lg', gravity = {0, 0, 0}, lg = { time = 'static' }, bodies = { { shape = box { size = "
                   "{0.2, 0.001, 0.6} }, cells = {16, 1, 24}, thickness = %g, bending = 'none', pressure = %g, "
                   "anchor = union { box { size = {1e-3, 1, 1}, center = {-0.1, 0, 0} }, box { size = {1e-3, 1, "
                   "1}, center = {0.1, 0, 0} } }, anchor_weight = 1e6, material = elastic { density = 1000, "
                   "young = %g, poisson = 0, model = 'corotated' } } }",
                   t, p, E);
    rigid_step(&c, 0.01);
    double high = 0;
    for (int64_t i = 0; i < c.sim->lg.nodes; i++)
        if (fabs(c.sim->lg.rest[3 * i]) < 1e-6 && fabs(c.sim->lg.rest[3 * i + 2]) < 1e-6)
            high = tl_lg_state_of(&c.sim->state)->q[3 * i + 1];
    /* arc of half angle f: r = half / sin f, stretch f / sin f, T = E t (stretch - 1) = p r */
    double low = 1e-6, top = 3;
    for (int k = 0; k < 100; k++) {
        const double f = 0.5 * (low + top);
        if (E * t * (f / sin(f) - 1) > p * half / sin(f))
            top = f;
        else
            low = f;
    }
    const double exact = half / sin(low) * (1 - cos(low));
    printf("strip: rises by %.5f m, arc %.5f; forces left over %.2g\n", high, exact,
           c.sim->report.solve[0].certificate);
    CHECK_NEAR(high / exact, 1, 0.03);
    CHECK_LE(c.sim->report.solve[0].certificate, 1e-8);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(thick_spheres_widen), cmocka_unit_test(balloons_obey_laplace),
                                       cmocka_unit_test(balloons_touch), cmocka_unit_test(sheets_are_blown_away),
                                       cmocka_unit_test(strips_bulge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
