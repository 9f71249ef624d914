/* How hard does sand push back? A plate goes down into a box of sand at constant speed, and its force is read from the
 * view of forces by source; then it goes back up to where it was, by a state that was kept in memory.
 *
 *     cc -std=c11 plate.c $(pkg-config --cflags --libs talus) -lm -o plate && ./plate */
#include <stdio.h>
#include <stdlib.h>
#include <talus/sim.h>

static const char text[] =
    "return scene { talus = 1, engine = 'grid', duration = 1, dt_max = 0.01,\n"
    "  grid = { cells = {8, 7, 8}, cell = 0.06 },\n"
    "  fill = { { material = preset 'dry sand', shape = box { size = {1, 0.24, 1}, center = {0.24, 0.12, 0.24} } } },\n"
    "  bodies = { { name = 'plate', kind = 'kinematic', shape = box { size = {0.18, 0.1, 0.18} },\n"
    "               at = {0.24, 0.295, 0.24} } } }";

static talus_error err;

static void check(talus_status status)
{
    if (status == TALUS_OK) return;
    fprintf(stderr, "plate: %s\n", err.message);
    exit(1);
}

/* Upward force of the sand on the plate, N. */
static double force_of(talus_sim *sim, int plate)
{
    talus_view force;
    check(talus_sim_view(sim, "bodies.sand_force", &force, &err));
    return ((const double *)talus_view_row(&force, plate))[1];
}

/* Depth of the plate's lower side at time t, m. */
static double depth_at(double t) { return -0.005 + 0.3 * t; }

int main(void)
{
    talus_scene *scene;
    talus_sim *sim;
    talus_scene_options options = talus_scene_options_default();
    options.driven = 1; /* the plate's motion is ours */
    check(talus_scene_load_text(text, NULL, &options, &scene, &err));
    check(talus_sim_create(scene, NULL, &sim, &err));
    const int plate = talus_sim_body(sim, "plate");
    const size_t bytes = talus_sim_bytes(sim);
    void *start = malloc(bytes);
    if (!start) return 1;
    check(talus_sim_save_bytes(sim, start, bytes, &err));

    double least = 0, most = 0;
    printf("depth (m)  force (N)\n");
    for (int step = 1; step <= 20; step++) {
        const double t = 0.01 * step, at[3] = {0.24, 0.29 - depth_at(t), 0.24};
        check(talus_sim_set_pose(sim, plate, at, NULL, &err));
        check(talus_sim_advance(sim, t, &err));
        const double force = force_of(sim, plate);
        if (step % 5 == 0) printf("%9.3f  %9.1f\n", depth_at(t), force);
        if (step == 5) least = force;
        if (step == 20) most = force;
    }
    check(talus_sim_restore_bytes(sim, start, bytes, &err));
    printf("back at t = %g s: %.1f N\n", talus_sim_time(sim), force_of(sim, plate));
    free(start);
    talus_sim_free(sim);
    talus_scene_free(scene);
    return most > 2 * least && most > 100 ? 0 : 1; /* deeper is harder */
}
