/* Four simulations in four threads of one program: each gives the bits that it gives alone. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <talus/scene.h>
#include <talus/sim.h>

#include "check.h"

#define HEAD "return scene { talus = 1, duration = 1, fps = 50, dt_max = 0.01, "
static const char *const scenes[] = {
    HEAD "engine = 'grid', grid = { cells = {8, 8, 8}, cell = 0.1 }, fill = { { material = liquid { density = 1000 }, "
         "shape = box { size = {0.4, 0.5, 0.8}, center = {0.2, 0.25, 0.4} } } }, bodies = { { shape = box { size = 0.2 "
         "}, density = 500, at = {0.55, 0.3, 0.4} } } }",
    HEAD "engine = 'sph', sph = { spacing = 0.08 }, domain = { min = {0, 0, 0}, max = {0.8, 0.8, 0.8} }, fill = { { "
         "material = liquid { density = 1000 }, shape = box { size = 0.4, center = {0.25, 0.25, 0.25} } } } }",
    HEAD "engine = 'lg', bodies = { { kind = 'static', shape = plane {} }, { shape = box { size = 0.4 }, cells = {3, "
         "3, 3}, at = {0, 0.25, 0}, velocity = {1, -1, 0}, material = elastic { density = 1000, young = 1e5, poisson = "
         "0.3 } } } }",
    HEAD "engine = 'grid', bodies = { { kind = 'static', shape = plane {} }, { shape = box { size = 0.4 }, cells = {2, "
         "2, 2}, at = {0, 0.25, 0}, velocity = {0, -1, 0}, material = elastic { density = 1000, young = 1e6, poisson = "
         "0.3 } }, { shape = box { size = 0.2 }, at = {0.05, 0.6, 0}, density = 700 } } }",
    HEAD "engine = 'grid', grid = { cells = {8, 8, 8}, cell = 0.1 }, fill = { { material = granular { density = 1600, "
         "friction_angle_deg = 30 }, shape = box { size = {0.3, 0.4, 0.3}, center = {0.4, 0.2, 0.4} } } } }",
};
#define SCENES ((int)(sizeof scenes / sizeof scenes[0]))

typedef struct job {
    const char *text;
    int steps;
    uint64_t hash;
    talus_status status;
    talus_error err;
} job;

static void *work(void *user)
{
    job *j = user;
    talus_scene *scene = NULL;
    talus_sim *sim = NULL;
    j->status = talus_scene_load_text(j->text, "four.lua", NULL, &scene, &j->err);
    if (j->status == TALUS_OK) j->status = talus_sim_create(scene, NULL, &sim, &j->err);
    for (int i = 0; i < j->steps && j->status == TALUS_OK; i++) j->status = talus_sim_step(sim, 0.01, &j->err);
    if (j->status == TALUS_OK) j->hash = talus_sim_hash(sim);
    talus_sim_free(sim);
    talus_scene_free(scene);
    return NULL;
}

static void each_as_alone(void **state)
{
    (void)state;
    uint64_t alone[SCENES];
    for (int k = 0; k < SCENES; k++) {
        job j = {.text = scenes[k], .steps = 8};
        work(&j);
        if (j.status != TALUS_OK) fail_msg("scene %d: %s", k, j.err.message);
        alone[k] = j.hash;
    }
    for (int round = 0; round < 2 * SCENES; round++) {
        pthread_t thread[4];
        job j[4];
        int which[4];
        for (int k = 0; k < 4; k++) { /* four different ones, then the same one four times */
            which[k] = round < SCENES ? (round + k) % SCENES : round - SCENES;
            j[k] = (job){.text = scenes[which[k]], .steps = 8};
            assert_int_equal(pthread_create(&thread[k], NULL, work, &j[k]), 0);
        }
        for (int k = 0; k < 4; k++) assert_int_equal(pthread_join(thread[k], NULL), 0);
        for (int k = 0; k < 4; k++) {
            if (j[k].status != TALUS_OK) fail_msg("scene %d beside others: %s", which[k], j[k].err.message);
            if (j[k].hash != alone[which[k]]) fail_msg("scene %d has other bits beside others", which[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_as_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
