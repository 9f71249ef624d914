/* Fills, emitters, and what becomes of particles that go astray. */
#include <string.h>

#include "check.h"

#include "base/alloc.h"
#include "grid.h"
#include "model/grid/correct.h"
#include "model/grid/emit.h"

static talus_error err;

/* Bodies and walls are cut out of fills; of two fills, the first has the place. */
static void cut_out(void **state)
{
    (void)state;
    grid_case c =
        grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { { material = water, shape = box { center = "
                  "{0.8, 0.5, 0.8}, size = {1.6, 1, 1.6} }, sampling = 'lattice' }, { material = heavy, shape = box { "
                  "center = {0.8, "
                  "0.8, 0.8}, size = {1.6, 1, 1.6} }, sampling = 'lattice' } }, bodies = { { shape = sphere { radius = "
                  "0.3 }, at = {0.8, "
                  "0.5, 0.8}, density = 500 } }");
    const tl_particles *p = &tl_grid_state_of(&c.state)->particles;
    double volume[2] = {0};
    for (int64_t i = 0; i < p->count; i++) {
        const tl_particle *q = &p->particle[i];
        assert_int_equal(q->id, i);
        assert_true(tl_vec3_norm(tl_vec3_sub(q->x, (tl_vec3){0.8, 0.5, 0.8})) >= 0.3);
        assert_true(q->material == (q->x.y > 1));
        volume[q->material] += q->volume;
    }
    double ball = 4.0 / 3 * 3.14159265358979 * 0.027;
    CHECK_REL(volume[0], 2.56 - ball, 3e-3); /* the ball's surface cuts cubes of 0.05 m */
    CHECK_REL(volume[1], 2.56 * 0.3, 1e-12);
    CHECK_REL(tl_grid_state_of(&c.state)->totals->initial_volume, volume[0] + volume[1], 1e-12);
    grid_close(&c);
}

typedef struct source {
    grid_case c;
    tl_emitter_state now[2];
    double next_id;
} source;

static void emit(source *s, double dt)
{
    grid_case *c = &s->c;
    tl_emission e[2];
    tl_emitter_state next[2];
    grid_sort(c);
    CHECK_OK(tl_solids_make(&c->solids, &c->g, &c->rigid, &c->scene->domain, c->state.rigid.body, &c->arena, &err));
    CHECK_OK(tl_emitters_read(c->scene, 0, e, &err));
    const tl_emitting step = {c->scene, &c->f, &c->solids, e, dt, NULL};
    CHECK_OK(
        tl_particles_emit(&step, s->now, next, &tl_grid_state_of(&c->state)->particles, &s->next_id, &c->arena, &err));
    memcpy(s->now, next, sizeof next);
}

/* Volume that came due is what there is, up to one particle; ids are new; nobody sits on another. */
static void emitters_pay(void **state)
{
    (void)state;
    source s = {.c = grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { { material = water, shape = box "
                               "{ center = {0.8, 0.2, "
                               "0.8}, size = {1.6, 0.4, 1.6} } } }, emitters = { { material = water, shape = box { "
                               "center = {0.8, 1.2, 0.8}, size = {0.4, 0.2, 0.4} }, velocity = {0, -1, 0}, rate = 0.05 "
                               "}, { material = water, shape = "
                               "box { center = {0.3, 0.5, 0.3}, size = 0.2 }, velocity = {0, 0, 0}, rate = 0.01 } }, "
                               "bodies = { { kind = 'static', shape = box { "
                               "size = 0.3 }, at = {0.3, 0.5, 0.3} } }")};
    int64_t before = tl_grid_state_of(&s.c.state)->particles.count;
    s.next_id = (double)before;
    double dt = 0.01, particle = 0.05 * 0.05 * 0.05;
    for (int k = 0; k < 20; k++) {
        emit(&s, dt);
        for (int64_t i = before; i < tl_grid_state_of(&s.c.state)->particles.count; i++)
            tl_grid_state_of(&s.c.state)->particles.particle[i].x.y -= dt;
    }
    double volume = 0;
    const tl_particles *p = &tl_grid_state_of(&s.c.state)->particles;
    for (int64_t i = before; i < p->count; i++) {
        volume += p->particle[i].volume;
        assert_int_equal(p->particle[i].id, i);
        CHECK_NEAR(p->particle[i].v.y, -1.0, 0);
    }
    CHECK_REL(s.now[0].due, 0.05 * 20 * dt, 1e-12);
    CHECK_REL(volume, s.now[0].emitted, 1e-12);
    CHECK_REL(s.now[0].emitted + s.now[0].owed + s.now[0].refused, s.now[0].due, 1e-12);
    CHECK_LE(s.now[0].owed, particle);
    CHECK_NEAR(s.now[0].refused, 0, 0);
    /* the other one is inside a solid: nothing comes, and that is counted */
    CHECK_NEAR(s.now[1].emitted, 0, 0);
    CHECK_REL(s.now[1].owed + s.now[1].refused, 0.01 * 20 * dt, 1e-12);

    /* a shape that is full takes no more; what it may owe is bounded */
    for (int k = 0; k < 3; k++) emit(&s, 10);
    assert_true(s.now[0].refused > 0);
    CHECK_REL(s.now[0].emitted + s.now[0].owed + s.now[0].refused, s.now[0].due, 1e-12);
    CHECK_LE(s.now[0].owed, 0.4 * 0.2 * 0.4 * (1 + 1e-9));
    grid_close(&s.c);
}

/* Particles that left through an open wall, are not numbers or are absurdly far: left out, with their volume. Closed
 * walls lose nobody. */
static void astray(void **state)
{
    (void)state;
    grid_case c = grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, domain = { y_max = 'open' }, fill = { { "
                            "material = water, shape = box { center = {0.8, 0.2, 0.8}, size = {1.6, 0.4, 1.6} } } }");
    tl_particle *p = tl_grid_state_of(&c.state)->particles.particle;
    int64_t n = tl_grid_state_of(&c.state)->particles.count;
    double lost = p[3].volume + p[5].volume + p[6].volume + p[8].volume;
    p[3].x.y = 2.5;  /* beyond the open side */
    p[4].x.y = 1.65; /* just outside: still looked after */
    p[5].x.x = NAN;
    p[6].x.z = 1e30;
    p[7].x.x = -0.9; /* through a closed wall: still there */
    p[8].x.y = -INFINITY;
    grid_derive(&c, TL_WEIGHT_VOLUME);
    assert_int_equal(c.sorted.count, n - 4);
    CHECK_REL(c.lost.volume, lost, 1e-12);
    for (int64_t i = 0; i < c.sorted.count; i++) assert_true(isfinite(c.sorted.particle[i].x.x));
    grid_close(&c);
}

/* Particles that solids caught are put outside, along with what they flew into; a thin plate stops a fast one. */
static void solids_stop_particles(void **state)
{
    (void)state;
    grid_case c =
        grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { { material = water, shape = box { center = "
                  "{0.8, 0.5, 0.8}, size = {1, 0.2, 1} } } }, bodies = { { kind = 'static', shape = box { size = {1.6, "
                  "0.02, 1.6} }, at = {0.8, 0.25, "
                  "0.8} } }");
    grid_derive(&c, TL_WEIGHT_VOLUME);
    for (int64_t i = 0; i < c.sorted.count; i++) {
        c.sorted.particle[i].v = (tl_vec3){i % 2 ? 20 : -20, -30, 0}; /* 3 cells down, 2 aside */
        c.sorted.particle[i].C = tl_mat3_zero();
    }
    CHECK_OK(tl_particles_to_grid(&c.g, &c.sorted, c.rho, 1, &c.arena, &c.faces, &err));
    double *u[3];
    for (int k = 0; k < 3; k++) {
        u[k] = TL_TAKE(&c.arena, double, c.g.cells);
        for (int64_t i = 0; i < c.g.cells; i++) u[k][i] = k == 1 ? -30 : 0;
    }
    double gap = 0.002;
    const tl_advection by = {u, NULL, &c.solids, c.solid_phi, 0, gap, 0.01};
    tl_advected a = tl_particles_advect(&c.g, &by, &c.sorted);
    assert_true(a.clipped > 1000);
    for (int64_t i = 0; i < c.sorted.count; i++) {
        const tl_particle *p = &c.sorted.particle[i];
        assert_true(p->x.y >= 0.26 + 0.99 * gap);
        if (p->x.y < 0.26 + gap + 1e-9) assert_true(p->v.y >= 0);
    }
    /* inside of a solid, whatever the reason: out again, at a corner too */
    tl_particle lost = {.x = {-0.05, -0.03, 1.64}, .v = {-1, -1, 1}};
    double deepest = 0;
    assert_true(tl_particle_put_outside(&c.solids, c.g.blocks, gap, &lost, &deepest));
    CHECK_NEAR(lost.x.x, gap, 1e-9);
    CHECK_NEAR(lost.x.y, gap, 1e-9);
    CHECK_NEAR(lost.x.z, 1.6 - gap, 1e-9);
    assert_true(lost.v.x >= 0 && lost.v.y >= 0 && lost.v.z <= 0);
    grid_close(&c);
}

/* No particles at all, one particle, and a body far away from everything. */
static void nearly_nothing(void **state)
{
    (void)state;
    grid_case c = grid_open(
        "grid = { cells = {16, 16, 16}, cell = 0.1 }, emitters = { { material = water, shape = box { center = {0.8, "
        "0.8, 0.8}, size = 0.2 }, velocity = {0, 0, 0}, rate = 0 } }, bodies = { { shape = sphere { radius = 0.2 }, at "
        "= {0.8, 0.8, 0.8}, density = 500 } }");
    grid_derive(&c, TL_WEIGHT_VOLUME);
    assert_int_equal(c.g.blocks, 0);
    assert_int_equal(c.active.count, 0);
    tl_correction moved;
    CHECK_OK(tl_particles_spread(&c.f, &c.solids, &(tl_spread){.sweeps = 2, .gap = 0.001}, &c.sorted, &c.arena, &moved,
                                 &err));
    tl_grid_to_particles(&c.g, c.faces.u, NULL, &c.sorted);
    CHECK_OK(tl_particles_reserve(&tl_grid_state_of(&c.state)->particles, 1, &err));
    tl_grid_state_of(&c.state)->particles.particle[0] =
        (tl_particle){.x = {0.01, 0.01, 0.01}, .v = {0, -1, 0}, .volume = 1e-4};
    tl_grid_state_of(&c.state)->particles.count = 1;
    c.state.rigid.body[0].x = (tl_vec3){1e6, 1e9, -1e6};
    grid_derive(&c, TL_WEIGHT_AREA);
    assert_int_equal(c.sorted.count, 1);
    assert_int_equal(c.active.count, 0); /* a drop is no liquid */
    assert_int_equal(c.fractions.covers.start[3], 0);
    CHECK_NEAR(c.faces.u[1][tl_grid_cell(&c.g, 0, 0, 0)], -1.0, 1e-15);
    grid_close(&c);
}

/* A random sampling evens out, its centre stays; a lattice at rest and a stretched one do not move. */
static void spreading(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const tl_vec3 middle = {1.2, 1.2, 1.2};
        grid_case c =
            grid_open("grid = { cells = {24, 24, 24}, cell = 0.1 }, fill = { { material = water, shape = box { "
                      "center = {1.2, 1.2, 1.2}, size = 0.8 }, sampling = '%s' } }",
                      k ? "lattice" : "jitter");
        tl_particles *p = &tl_grid_state_of(&c.state)->particles;
        tl_vec3 before = {0, 0, 0}, after = {0, 0, 0};
        for (int64_t i = 0; i < p->count; i++) {
            tl_vec3 *x = &p->particle[i].x;
            *x = tl_vec3_add_scaled(middle, k == 2 ? 1.1 : 1.0, tl_vec3_sub(*x, middle));
            if (k == 0) *x = tl_vec3_add(*x, (tl_vec3){0.01 * sin(7.0 * (double)i), 0.01 * sin(5.3 * (double)i), 0});
            before = tl_vec3_add_scaled(before, 1.0 / (double)p->count, *x);
        }
        tl_correction moved, rest;
        CHECK_OK(tl_particles_spread(&c.f, NULL, &(tl_spread){.sweeps = 4, .gap = 0}, p, &c.arena, &moved, &err));
        CHECK_OK(tl_particles_spread(&c.f, NULL, &(tl_spread){.sweeps = 1, .gap = 0}, p, &c.arena, &rest, &err));
        for (int64_t i = 0; i < p->count; i++)
            after = tl_vec3_add_scaled(after, 1.0 / (double)p->count, p->particle[i].x);
        CHECK_NEAR(tl_vec3_max_abs(tl_vec3_sub(after, before)), 0, 1e-4); /* of 0.05: long ways are cut on one side */
        if (k == 0) {
            assert_true(moved.worst > 1.2);
            CHECK_LE(rest.worst - 1, 0.5 * (moved.worst - 1));
        } else
            CHECK_LE(moved.furthest, k == 1 ? 1e-5 : 0); /* at rest to the rounding of floats */
        grid_close(&c);
    }
}

/* Sliding along one wall a particle comes to another, thin one: it stays on its side, also where three meet. */
static void corners_hold(void **state)
{
    (void)state;
    grid_case c =
        grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { { material = water, shape = box { center "
                  "= {0.8, 0.8, 0.8}, size = 0.4 } } }, bodies = { { kind = 'static', shape = box { size = 0.7 "
                  "} - box { size = 0.6 }, at = {0.8, 0.8, 0.8} } }");
    grid_derive(&c, TL_WEIGHT_VOLUME);
    double *u[3], gap = 0.002;
    for (int k = 0; k < 3; k++) {
        u[k] = TL_TAKE(&c.arena, double, c.g.cells);
        for (int64_t i = 0; i < c.g.cells; i++) u[k][i] = k == 0 ? 20 : k == 1 ? -15 : 0.05; /* 2 cells a step */
    }
    for (int step = 0; step < 4; step++) {
        for (int64_t i = 0; i < c.sorted.count; i++) c.sorted.particle[i].v = (tl_vec3){20, -15, 0.05};
        const tl_advection by = {u, NULL, &c.solids, c.solid_phi, 0, gap, 0.01};
        tl_particles_advect(&c.g, &by, &c.sorted);
        for (int64_t i = 0; i < c.sorted.count; i++) {
            tl_vec3 x = tl_vec3_sub(c.sorted.particle[i].x, (tl_vec3){0.8, 0.8, 0.8});
            assert_true(fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))) < 0.3);
        }
    }
    grid_close(&c);
}

/* A crowd on the floor is seen although there is nothing behind it, and parts. */
static void crowd_at_a_wall_parts(void **state)
{
    (void)state;
    grid_case c =
        grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { { material = water, shape = box { center "
                  "= {0.8, 0.2, 0.8}, size = {1.6, 0.4, 1.6} }, sampling = 'lattice' } }");
    grid_derive(&c, TL_WEIGHT_VOLUME);
    tl_correction moved;
    CHECK_OK(tl_particles_spread(&c.f, &c.solids, &(tl_spread){.sweeps = 1, .gap = 0.002}, &c.sorted, &c.arena, &moved,
                                 &err));
    CHECK_NEAR(moved.worst, 1,
               1e-2); /* a lattice that ends half a spacing from walls is at rest; its second layer has 0.0065 more */
    int64_t low[2] = {0, 0};
    for (int64_t i = 0; i < c.sorted.count; i++)
        if (c.sorted.particle[i].x.y < 0.1) c.sorted.particle[i].x.y *= 0.3;
    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < c.sorted.count; i++) low[k] += c.sorted.particle[i].x.y < 0.03;
        if (k == 0)
            CHECK_OK(tl_particles_spread(&c.f, &c.solids, &(tl_spread){.sweeps = 8, .gap = 0.002}, &c.sorted, &c.arena,
                                         &moved, &err));
    }
    assert_true(moved.worst > 1.3);
    assert_true(low[0] > 2 * 32 * 32 - 1 && low[1] < 0.75 * (double)low[0]);
    grid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cut_out),        cmocka_unit_test(emitters_pay),
                                       cmocka_unit_test(astray),         cmocka_unit_test(solids_stop_particles),
                                       cmocka_unit_test(nearly_nothing), cmocka_unit_test(spreading),
                                       cmocka_unit_test(corners_hold),   cmocka_unit_test(crowd_at_a_wall_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
