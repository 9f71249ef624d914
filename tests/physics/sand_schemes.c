/* The story of table 7 of [FM21]: a bed of sand carries a board, the board a block. Schemes that solve together keep
 * all in place; those that solve once sink or push bodies into each other, and say so. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "lab/world.h"

#define CELL 0.05

static talus_error err;

typedef struct story {
    double sunk, speed; /* of the board: m, m/s downwards at the end */
    double overlap;     /* deepest of bodies, m */
    double volume;      /* error at the end */
    double contact;     /* mean of certificates of steps with contacts */
    int missed, steps;  /* steps whose contacts are not solved, as reported; all with contacts */
} story;

static void after_step(const tl_report *r, story *s)
{
    s->overlap = fmax(s->overlap, r->penetration);
    for (int i = 0; i < r->solves && r->contacts > 0; i++)
        if (!strcmp(r->solve[i].name, "contact")) {
            s->contact += r->solve[i].certificate;
            s->missed += strcmp(r->solve[i].outcome, "converged") != 0;
            s->steps++;
        }
}

/* Half a second. A vertical slab: the board is a third of the width, so that sand could flow up beside it. */
static story tell(const char *scheme)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, dt_max = 0.01,"
        " grid = { cells = {24, 20, 1}, cell = 0.05, periodic = {false, false, true} },"
        " fill = { { material = granular { density = 1600, friction_angle_deg = 35 },"
        "   shape = box { size = {1.2, 0.4, 0.05}, center = {0.6, 0.2, 0.025} } } },"
        " bodies = { { name = 'board', shape = box { size = {0.4, 0.15, 0.05} }, at = {0.6, 0.475, 0.025}, density = "
        "500 },"
        "   { name = 'block', shape = box { size = {0.2, 0.2, 0.05} }, at = {0.6, 0.65, 0.025}, density = 1500 } },"
        " solver = { scheme = '%s', tolerance = 1e-3 } }",
        scheme);
    tl_world w;
    story s = {0};
    CHECK_OK(tl_world_text(&w, text, NULL, &err));
    tl_sim *sim = w.sim;
    double begin = sim->state.rigid.body[0].x.y;
    while (sim->state.t < 0.5 - 1e-9) {
        CHECK_OK(tl_sim_step(sim, 0, 0.5, &err));
        after_step(&sim->report, &s);
    }
    s.sunk = begin - sim->state.rigid.body[0].x.y;
    s.speed = -sim->state.rigid.body[0].v.y;
    s.volume = sim->report.volume_error;
    s.contact /= s.steps ? s.steps : 1;
    tl_world_close(&w);
    return s;
}

/* The board settles by less than half a cell while the bed beside it takes its share of the load. */
static void together(void **state)
{
    (void)state;
    static const char *const schemes[3] = {"t-f-pn", "t-f-p-n", "f-p-c"};
    for (int k = 0; k < 3; k++) {
        story s = tell(schemes[k]);
        CHECK_LE(s.sunk, 0.5 * CELL);
        CHECK_LE(s.speed, 0.02);
        CHECK_LE(s.overlap, 0.02 * CELL);
        CHECK_NEAR(s.volume, 0, 0.01);
    }
}

/* Pressure and stress do not feel the block, and the contact that comes after pushes the board into them. */
static void sand_first_sinks(void **state)
{
    (void)state;
    story s = tell("pf-c");
    assert_true(s.sunk > 1.5 * CELL);
    assert_true(s.speed > 0.1);
    assert_true(s.volume < -0.005); /* crowds part again in every step, which hides more than half of what is lost */
}

/* Sand pushes the board into the block that contact had already dealt with: told in every step, which halves its
 * time step again and again. */
static void contact_first_is_told(void **state)
{
    (void)state;
    story s = tell("c-pf");
    assert_int_equal(s.missed, s.steps);
    assert_true(s.contact > 0.2);
    assert_true(s.steps > 2 * 50);
    assert_true(s.overlap > 0.01 * CELL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(together), cmocka_unit_test(sand_first_sinks),
                                       cmocka_unit_test(contact_first_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
