/* The car of scenes/car: the slope that friction allows, rolling without slip below it, and the circle of its steering.
 *
 * The slope is a direction of gravity. All four wheels are driven, so that the limit is tan(slope) = friction however
 * the load is shared; speeds rise by 0.02 m/s^2, less than what half a percent of the limit leaves. */
#include "check.h"

#include "phase/sim.h"
#include "scene/load.h"

typedef struct car {
    tl_scene *scene;
    tl_sim *sim;
    int32_t chassis;
} car;

static talus_error err;

static car open_car(int count, const char *const *setting)
{
    const tl_load_options o = {.setting_count = count, .setting = setting};
    car c = {0};
    CHECK_OK(tl_scene_load(&c.scene, TL_SOURCE_DIR "/scenes/car/car.lua", &o, &err));
    CHECK_OK(tl_sim_create(&c.sim, c.scene, NULL, &err));
    c.chassis = 1;
    return c;
}

static void close_car(car *c)
{
    tl_sim_free(c->sim);
    tl_scene_free(c->scene);
}

static void run(car *c, double seconds)
{
    for (int k = 0; k < (int)(seconds * 50 + 0.5); k++) CHECK_OK(tl_sim_frame(c->sim, NULL, NULL, &err));
}

/* Velocity of a point of the chassis, given in its frame. */
static tl_vec3 velocity_at(const car *c, tl_vec3 local)
{
    const tl_motion *m = &c->sim->state.rigid.body[c->chassis];
    const tl_pose pose = tl_rigid_pose(&c->sim->rigid.body[c->chassis], m);
    return tl_vec3_add(m->v, tl_vec3_cross(m->w, tl_vec3_sub(tl_pose_apply(&pose, local), m->x)));
}

static double forward(const car *c) { return velocity_at(c, (tl_vec3){0, 0, 0}).x; }

static car on_slope(const char *tilt)
{
    const char *const setting[] = {tilt, "slope_deg=0", "speed=0.02", "rise=1", "dt_max=0.01"};
    return open_car(5, setting);
}

/* Half a percent below the slope that friction allows it climbs with the speed of its wheels. */
static void climbs_what_friction_allows(void **state)
{
    (void)state;
    car c = on_slope("tilt=0.796");
    run(&c, 3);
    CHECK_NEAR(forward(&c), 0.02, 0.02 * 0.01);
    close_car(&c);
}

/* Half a percent above it slides down, as fast as what friction cannot hold makes it. */
static void slides_on_more(void **state)
{
    (void)state;
    car c = on_slope("tilt=0.804");
    run(&c, 1.5);
    const double before = forward(&c), expected = -9.81 * 0.004 / sqrt(1 + 0.804 * 0.804);
    run(&c, 1);
    CHECK_LE(forward(&c), 0);
    CHECK_NEAR(forward(&c) - before, expected, 0.1 * fabs(expected));
    close_car(&c);
}

static void steers_its_circle(void **state)
{
    (void)state;
    const char *const setting[] = {"steer_deg=20", "slope_deg=0", "speed=0.5", "rise=0.5"};
    car c = open_car(4, setting);
    const double radius = 1.2 / tan(20 * 3.14159265358979323846 / 180);
    run(&c, 1);
    for (int k = 0; k < 3; k++) {
        run(&c, 0.2);
        const tl_motion *m = &c.sim->state.rigid.body[c.chassis];
        const tl_vec3 rear = velocity_at(&c, (tl_vec3){-0.6, 0, 0});
        const tl_vec3 along = tl_quat_rotate(m->q, (tl_vec3){1, 0, 0});
        CHECK_NEAR(tl_vec3_norm(rear), 0.5, 0.005);
        CHECK_NEAR(tl_vec3_norm(rear) / m->w.y, radius, 0.01 * radius);         /* to the left: about +y */
        CHECK_LE(tl_vec3_norm(tl_vec3_cross(rear, along)), 0.005 * 0.5 + 1e-3); /* no sideways slip */
    }
    close_car(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(climbs_what_friction_allows), cmocka_unit_test(slides_on_more),
                                       cmocka_unit_test(steers_its_circle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
