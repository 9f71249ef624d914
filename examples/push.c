/* How hard must one push before a brick slides? Coulomb says mu m g, in every direction.
 *
 * Uses the installed headers and library only:
 *     cc -std=c11 push.c $(pkg-config --cflags --libs talus) -lm -o push && ./push */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <talus/build.h>
#include <talus/sim.h>

#define FRICTION 0.5
#define GRAVITY 9.81

static void check(talus_status status, const talus_error *err)
{
    if (status == TALUS_OK) return;
    fprintf(stderr, "push: %s\n", err->message);
    exit(1);
}

/* A brick of 0.4 x 0.1 x 0.4 m on the ground. */
static talus_scene *make_scene(void)
{
    talus_error err;
    talus_scene *scene;
    talus_build *b = talus_build_create();
    if (!b) exit(1);
    talus_build_number(b, "duration", 1);
    talus_build_numbers(b, "gravity", 3, (double[]){0, -GRAVITY, 0});
    talus_build_number(b, "dt_max", 0.01);

    talus_body_spec ground = talus_body_spec_default();
    ground.kind = "static";
    ground.shape = talus_build_plane(b, 0);
    ground.friction = FRICTION;
    talus_build_body(b, &ground);

    talus_body_spec brick = talus_body_spec_default();
    brick.name = "brick";
    brick.shape = talus_build_box(b, (double[]){0.4, 0.1, 0.4});
    brick.at[1] = 0.05;
    brick.density = 700;
    brick.friction = FRICTION;
    talus_build_body(b, &brick);

    check(talus_build_finish(b, NULL, &scene, &err), &err);
    talus_build_free(b);
    return scene;
}

/* Metres that the brick moves in half a second under a constant push at an angle from x. */
static double distance(const talus_scene *scene, double force, double angle)
{
    talus_error err;
    talus_sim *sim;
    talus_view at;
    check(talus_sim_create(scene, NULL, &sim, &err), &err);
    int brick = talus_sim_body(sim, "brick");
    const double push[3] = {force * cos(angle), 0, force * sin(angle)};
    check(talus_sim_set_force(sim, brick, push, NULL, &err), &err);
    while (talus_sim_time(sim) < 0.5) check(talus_sim_step(sim, 0.01, &err), &err);

    check(talus_sim_view(sim, "bodies.position", &at, &err), &err);
    const double *x = talus_view_row(&at, brick); /* a view points into the simulation */
    double moved = hypot(x[0], x[2]);
    talus_sim_free(sim);
    return moved;
}

static double threshold(const talus_scene *scene, double weight, double angle)
{
    double rests = 0, slides = 2 * weight;
    while (slides - rests > 1e-4 * weight) {
        double middle = 0.5 * (rests + slides);
        if (distance(scene, middle, angle) > 1e-4)
            slides = middle;
        else
            rests = middle;
    }
    return 0.5 * (rests + slides);
}

int main(void)
{
    const double degree = 3.14159265358979323846 / 180;
    talus_scene *scene = make_scene();
    double weight = 700 * 0.4 * 0.1 * 0.4 * GRAVITY, worst = 0;
    printf("a brick of %.2f N, friction %.2f: it should slide at %.2f N\n", weight, FRICTION, FRICTION * weight);
    for (int angle = 0; angle <= 45; angle += 15) {
        double measured = threshold(scene, weight, angle * degree), off = measured / (FRICTION * weight) - 1;
        printf("pushed at %2d degrees it slides at %.2f N (%+.2f %%)\n", angle, measured, 100 * off);
        worst = fmax(worst, fabs(off));
    }
    talus_scene_free(scene);
    return worst < 0.005 ? 0 : 1;
}
