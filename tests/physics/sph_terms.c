/* Viscosity and surface tension of SPH in seconds: the flow between plates that starts, and a brick of liquid
 * that its tension draws together. talus validate sph P1 and P2 are the long form. */
#include "check.h"

#include <math.h>

#include "model/sph/state.h"
#include "rigid.h"

#define PI 3.141592653589793

/* Flow that starts between plates y = -+W/2, at time t from rest. */
static double starting_flow(double y, double t, double W, double nu, double drive)
{
    double u = drive / (2 * nu) * (0.25 * W * W - y * y);
    for (int k = 0; k < 30; k++) {
        double m = (2 * k + 1) * PI;
        u -= drive * W * W / nu * (k % 2 ? -4 : 4) / (m * m * m) * cos(m * y / W) * exp(-m * m * nu * t / (W * W));
    }
    return u;
}

/* Mean velocity over the law's in the middle of a slab that is free at its sides and ends, after `t` of the time in
 * which the flow builds up. */
static double flow_over_law(int rows, double time_scale, double t)
{
    const double h = 0.01, W = rows * h, nu = W * W / (PI * PI * time_scale), drive = 0.2;
    rigid_case c = rigid_open(
        "local h = 0.01",
        "engine = 'sph', dt_max = %g, gravity = {%g, 0, 0}, sph = { spacing = h },\n"
        "bodies = { { kind = 'static', shape = box { size = {40 * h, 4 * h, 18 * h} }, at = {0, %.17g, 0} },\n"
        "  { kind = 'static', shape = box { size = {40 * h, 4 * h, 18 * h} }, at = {0, %.17g, 0} } },\n"
        "fill = { { material = viscous { density = 1000, viscosity = %.17g }, sampling = 'lattice',\n"
        "  shape = box { size = {22 * h, %d * h, 12 * h} } } }",
        0.04 * time_scale, drive, -0.5 * W - 2 * h, 0.5 * W + 2 * h, 1000 * nu, rows);
    talus_error err;
    while (c.sim->state.t < t * time_scale - 1e-9) CHECK_OK(tl_sim_step(c.sim, 0, t * time_scale, &err));
    const tl_sph_state *f = tl_sph_state_of(&c.sim->state);
    double flow = 0, law = 0, middle = 0;
    for (int64_t i = 0; i < f->count; i++) middle += f->particle[i].x.x / (double)f->count;
    for (int64_t i = 0; i < f->count; i++) {
        const tl_sph_particle *p = &f->particle[i];
        if (fabs(p->x.x - middle) > 5 * h || fabs(p->x.z) > 3 * h) continue;
        flow += p->v.x;
        law += starting_flow(p->x.y, c.sim->state.t, W, nu, drive);
    }
    rigid_close(&c);
    return flow / law;
}

static void viscosity_holds_a_flow_between_plates(void **state)
{
    (void)state;
    double thin = flow_over_law(9, 0.1, 1), thick = flow_over_law(9, 0.05, 1), late = flow_over_law(9, 0.1, 2);
    CHECK_NEAR(thin, 1, 0.01); /* 0.9955, 0.9960 and 0.9974 */
    CHECK_NEAR(thick, 1, 0.01);
    CHECK_NEAR(late, 1, 0.01);
}

/* How fast tension draws a brick of n x m x m spacings together, over the law.
 *
 * The virial of a surface sigma on a body at rest, of which pressure takes the same in all directions:
 * d/dt sum m (x v_x - y v_y) = -sigma (n_y^2 - n_x^2 over the surface) = -2 sigma b (a - b) for a brick a x b x b. */
static double pull_over_law(double tension, int n, int m)
{
    const double h = 0.01, a = n * h, b = m * h, dt = 5e-4;
    rigid_case c = rigid_open("local h = 0.01",
                              "engine = 'sph', dt_max = %g, gravity = {0, 0, 0}, sph = { spacing = h },\n"
                              "fill = { { material = liquid { density = 1000, surface_tension = %g },\n"
                              "  sampling = 'lattice', shape = box { size = {%d * h, %d * h, %d * h} } } }",
                              dt, tension, n, m, m);
    for (int i = 0; i < 4; i++) rigid_step(&c, dt);
    const tl_sph_state *f = tl_sph_state_of(&c.sim->state);
    tl_vec3 momentum = {0, 0, 0};
    double virial = 0, mass = 1000 * a * b * b / (double)f->count;
    for (int64_t i = 0; i < f->count; i++) {
        tl_vec3 x = f->particle[i].x, v = f->particle[i].v;
        momentum = tl_vec3_add(momentum, v);
        virial += mass * (x.x * v.x - 0.5 * (x.y * v.y + x.z * v.z));
    }
    CHECK_LE(tl_vec3_norm(momentum) / (double)f->count, 1e-9); /* m/s: tension moves nothing as a whole */
    double law = -2 * tension * b * (a - b) * c.sim->state.t;
    rigid_close(&c);
    return virial / (tension > 0 ? law : 1);
}

static void tension_draws_a_brick_together(void **state)
{
    (void)state;
    CHECK_NEAR(pull_over_law(0, 10, 5), 0, 1e-12);
    /* Cohesion and flattening together pull 2.5 to 2.7 times as hard as sigma says, whatever sigma and size: a miss of
     * the model on lattices, held here so that no term changes unseen. */
    for (int n = 10; n <= 15; n += 5)
        for (double tension = 0.07; tension < 8; tension *= 10) CHECK_NEAR(pull_over_law(tension, n, 5), 2.52, 0.05);
    CHECK_NEAR(pull_over_law(0.7, 15, 7), 2.63, 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(viscosity_holds_a_flow_between_plates),
        cmocka_unit_test(tension_draws_a_brick_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
