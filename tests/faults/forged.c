/* Checkpoints with a good seal and a good hash whose numbers were made to be read: every index is held against its
 * bounds, and what is accepted can be stepped. Values of every array are replaced by bad ones, the file is written
 * as talus writes it, and loaded again. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "base/cancel.h"
#include "base/random.h"
#include "check.h"
#include "io/checkpoint.h"
#include "model/grid/state.h"
#include "model/sph/state.h"
#include "phase/sim.h"
#include "scene/load.h"
#include "tempdir.h"

static const char *const scenes[] = {
    /* liquid with a body and a tap */
    "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {6, 6, 6}, cell = 0.1 },"
    " fill = { { material = liquid { density = 1000 }, shape = box { size = {0.5, 0.2, 0.5}, center = {0.3, 0.1, 0.3} "
    "} } },"
    " emitters = { { material = liquid { density = 1000 }, shape = box { size = 0.2, center = {0.3, 0.45, 0.3} }, "
    "velocity = {0, -1, 0}, rate = 1e-3 } },"
    " bodies = { { shape = sphere { radius = 0.1 }, density = 500, at = {0.3, 0.25, 0.3} } } }",
    /* sand */
    "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {6, 6, 6}, cell = 0.1 },"
    " fill = { { material = granular { density = 1600, friction_angle_deg = 30 }, shape = box { size = 0.3, center = "
    "{0.3, 0.15, 0.3} } } } }",
    /* particles with bodies that touch */
    "return scene { talus = 1, engine = 'sph', duration = 1, fps = 50, sph = { spacing = 0.1 }, domain = { min = {0, "
    "0, 0}, max = {1, 1, 1} },"
    " fill = { { material = liquid { density = 1000 }, shape = box { size = {0.9, 0.3, 0.4}, center = {0.5, 0.2, 0.7} "
    "} } },"
    " emitters = { { material = liquid { density = 1000 }, shape = box { size = 0.3, center = {0.7, 0.7, 0.6} }, "
    "velocity = {0, -1, 0}, rate = 1e-2 } },"
    " bodies = { { kind = 'static', shape = plane { height = 0 } }, { shape = box { size = 0.3 }, density = 500, at = "
    "{0.3, 0.15, 0.25} } } }",
    /* elastic on rigid */
    "return scene { talus = 1, engine = 'lg', duration = 1, fps = 50, bodies = { { kind = 'static', shape = plane { "
    "height = 0 } },"
    " { shape = box { size = 0.4 }, cells = {2, 2, 2}, at = {0, 0.2, 0}, material = elastic { density = 1000, young = "
    "1e5, poisson = 0.3 } } } }",
    /* rigid */
    "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, bodies = { { kind = 'static', shape = plane { "
    "height = 0 } },"
    " { shape = box { size = 0.2 }, at = {0, 0.1, 0}, density = 500 }, { shape = cone { radius = 0.1, height = 0.2 }, "
    "at = {0.05, 0.2, 0}, density = 500 } } }",
};
#define SCENES ((int)(sizeof scenes / sizeof scenes[0]))

static const double bad_doubles[] = {1e300, -1e300, 0, -1, 1e-300, 1e15, 0.5, 2147483648.0, -1e9};
static const int32_t bad_ints[] = {-1, INT32_MAX, INT32_MIN, 65536, 1, 0, 12345678};
static const int64_t bad_longs[] = {-1, INT64_MAX, INT64_MIN, (int64_t)1 << 40, 1, 0, INT32_MAX};
#define ANY_OF(list, n) list[(n) % (sizeof list / sizeof *list)]

#define SECONDS 2   /* of processor time that two steps of a forged state may take */
static int endless; /* steps that had to be cancelled */

static void on_timer(int signal_number)
{
    (void)signal_number;
    endless++;
    tl_cancel_set(true);
}

static void set_timer(int seconds)
{
    struct itimerval t = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_VIRTUAL, &t, NULL);
    tl_cancel_set(false);
}

static char dir[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 64];

typedef struct pair {
    tl_scene *scene;
    tl_sim *from, *to;
} pair;

static pair open_pair(int which)
{
    talus_error err = {0};
    pair p;
    CHECK_OK(tl_scene_load_text(&p.scene, "forged", scenes[which], strlen(scenes[which]), NULL, &err));
    CHECK_OK(tl_sim_create(&p.from, p.scene, NULL, &err));
    CHECK_OK(tl_sim_create(&p.to, p.scene, NULL, &err));
    for (int i = 0; i < 3; i++) CHECK_OK(tl_sim_step(p.from, 0, INFINITY, &err));
    return p;
}
static void close_pair(pair *p)
{
    tl_sim_free(p->from);
    tl_sim_free(p->to);
    tl_scene_free(p->scene);
}

/* One number of one part. */
static void spoil(tl_state_part *part, uint64_t random)
{
    int64_t i = (int64_t)(random % (uint64_t)*part->count);
    char *at = (char *)*part->data + (size_t)i * part->stride + part->offset;
    int k = (int)((random >> 20) % (uint64_t)part->width);
    random >>= 32;
    switch (part->type) {
    case TL_NUMBER_F64: ((double *)at)[k] = ANY_OF(bad_doubles, random); break;
    case TL_NUMBER_F32: ((float *)at)[k] = (float)ANY_OF(bad_doubles, random); break;
    case TL_NUMBER_I32: ((int32_t *)at)[k] = ANY_OF(bad_ints, random); break;
    case TL_NUMBER_I64: ((int64_t *)at)[k] = ANY_OF(bad_longs, random); break;
    }
}

static void spoil_times(tl_state *s, uint64_t random)
{
    double bad = ANY_OF(bad_doubles, random / 4);
    switch (random % 4) {
    case 0: s->t = bad; break;
    case 1: s->dt_next = bad; break;
    case 2: s->step = ANY_OF(bad_longs, random / 4); break;
    case 3: s->frame = ANY_OF(bad_longs, random / 4); break;
    }
}

/* Loaded or refused; what is loaded makes two steps, or says why not. */
static bool try_it(pair *p, const tl_state *forged)
{
    talus_error err = {0};
    if (tl_checkpoint_save(path, forged, p->scene, NULL, &err) != TALUS_OK) return false;
    uint64_t before = tl_state_hash(&p->to->state);
    if (tl_checkpoint_load(path, &p->to->state, p->scene, p->to->rigid.count, NULL, &err) != TALUS_OK) {
        assert_true(tl_state_hash(&p->to->state) == before);
        return false;
    }
    set_timer(SECONDS);
    for (int i = 0; i < 2; i++)
        if (tl_sim_step(p->to, 1e-3, INFINITY, &err) != TALUS_OK) break;
    set_timer(0);
    return true;
}

static void forged_values(void **state)
{
    (void)state;
    for (int w = 0; w < SCENES; w++) {
        pair p = open_pair(w);
        int accepted = 0;
        tl_state forged = {0};
        talus_error err = {0};
        const int tries = 60;
        for (int n = 0; n < tries; n++) {
            tl_state_part part[TL_STATE_PARTS_MAX];
            uint64_t random = tl_random_bits(7, (uint64_t)w, (uint64_t)n);
            CHECK_OK(tl_state_copy(&forged, &p.from->state, &err));
            int parts = tl_state_parts(&forged, part), k = n % (parts + 1);
            if (k == parts)
                spoil_times(&forged, random);
            else if (*part[k].count == 0)
                continue;
            else
                spoil(&part[k], random);
            accepted += try_it(&p, &forged);
        }
        if (accepted == 0 || accepted == tries)
            fail_msg("scene %d: %d of %d accepted: the test has lost its teeth", w, accepted, tries);
        tl_state_free(&forged);
        close_pair(&p);
    }
    if (endless) fail_msg("%d steps did not end within %d s", endless, SECONDS);
}

/* The attacks of the report: indices of materials and ids beyond their arrays. */
static void indices_beyond_arrays(void **state)
{
    (void)state;
    for (int w = 0; w < 3; w++) {
        pair p = open_pair(w);
        tl_grid_state *g = tl_grid_state_of(&p.from->state);
        tl_sph_state *s = tl_sph_state_of(&p.from->state);
        int32_t *tag = g ? &g->particles.particle[1].id : &s->particle[1].id;
        static const int32_t bad[] = {-1, 1 << 30, INT32_MIN, INT32_MAX};
        for (int k = 0; k < 2; k++)
            for (int n = 0; n < 4; n++) {
                int32_t good = tag[k];
                tag[k] = bad[n];
                if (try_it(&p, &p.from->state)) fail_msg("scene %d: tag %d of %d is accepted", w, k, (int)bad[n]);
                tag[k] = good;
            }
        const int32_t none[] = {p.scene->material_count, p.scene->material_count + 1, 100000}; /* just beyond, too */
        for (int n = 0; n < 3; n++) {
            int32_t good = tag[1];
            tag[1] = none[n];
            if (try_it(&p, &p.from->state)) fail_msg("scene %d: material %d is accepted", w, (int)none[n]);
            tag[1] = good;
        }
        int32_t good = tag[0]; /* an id that another particle has */
        tag[0] = g ? g->particles.particle[0].id : s->particle[0].id;
        assert_false(try_it(&p, &p.from->state));
        tag[0] = good;
        if (!try_it(&p, &p.from->state)) fail_msg("scene %d: the good one is refused", w);
        close_pair(&p);
    }
    pair p = open_pair(1); /* stress for fewer cells than pressure has */
    tl_grid_state_of(&p.from->state)->stresses = tl_grid_state_of(&p.from->state)->memories - 1;
    assert_false(try_it(&p, &p.from->state));
    tl_grid_state_of(&p.from->state)->stresses++;
    assert_true(try_it(&p, &p.from->state));
    close_pair(&p);
}

static int make_dir(void **state)
{
    (void)state;
    tl_tempdir_create(dir);
    signal(SIGVTALRM, on_timer);
    snprintf(path, sizeof path, "%s/forged.h5", dir);
    return 0;
}
static int remove_dir(void **state)
{
    (void)state;
    remove(path);
    tl_tempdir_remove(dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(indices_beyond_arrays), cmocka_unit_test(forged_values)};
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
