/* The loop of gripper.py in C: a soft gripper, driven step by step.
 *
 *     cc -std=c11 gripper.c $(pkg-config --cflags --libs talus) -o gripper && ./gripper [STEPS]   beside gripper.lua */
#include <stdio.h>
#include <stdlib.h>
#include <talus/program.h>
#include <talus/sim.h>

#define DT 0.005            /* s: one control step */
#define LENGTH (6 * 0.0165) /* m, of a cable at rest */
#define PULL 0.016          /* m */
#define LIFT 0.05           /* m */

static void check(talus_status status, const talus_error *err)
{
    if (status == TALUS_OK) return;
    fprintf(stderr, "gripper: %s\n", err->message);
    exit(1);
}

/* From 0 to 1 between two times. */
static double ramp(double t, double begin, double end)
{
    double x = (t - begin) / (end - begin);
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static double block_height(talus_sim *sim)
{
    talus_error err;
    talus_view at, body;
    double sum = 0;
    int count = 0;
    check(talus_sim_view(sim, "nodes.position", &at, &err), &err);
    check(talus_sim_view(sim, "nodes.body", &body, &err), &err);
    for (int64_t i = 0; i < at.count; i++) {
        if (*(const int32_t *)((const char *)body.data + (size_t)i * body.stride) != 0) continue;
        sum += ((const double *)((const char *)at.data + (size_t)i * at.stride))[1];
        count++;
    }
    return sum / count;
}

int main(int argc, char **argv)
{
    talus_program_start(argv);
    int steps = argc > 1 ? atoi(argv[1]) : 200;
    talus_error err;
    talus_scene *scene;
    talus_sim *sim;
    const char *setting[] = {"dt_max=0.005"};
    talus_scene_options o = talus_scene_options_default();
    o.driven = 1;
    o.settings = 1;
    o.setting = setting;
    check(talus_scene_load("gripper.lua", &o, &scene, &err), &err);
    check(talus_sim_create(scene, NULL, &sim, &err), &err);
    double height = 0;
    for (int k = 0; k < steps; k++) {
        double t = k * DT;
        for (int finger = 0; finger < 2; finger++) {
            double at[3] = {0, LIFT * ramp(t, 0.4, 0.9), 0};
            check(talus_sim_set_cable(sim, finger, LENGTH - PULL * ramp(t, 0, 0.4), &err), &err);
            check(talus_sim_set_handle(sim, finger, at, NULL, &err), &err);
        }
        check(talus_sim_step(sim, DT, &err), &err);
        height = block_height(sim);
    }
    printf("block at %.3f mm, state %016llx\n", 1000 * height, (unsigned long long)talus_sim_hash(sim));
    talus_sim_free(sim);
    talus_scene_free(scene);
    return 0;
}
