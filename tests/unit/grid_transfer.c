/* Particles to faces and back: what must be kept, is kept. */
#include "check.h"

#include <string.h>

#include "base/random.h"
#include "grid.h"
#include "model/grid/state.h"

static talus_error err;

/* A lump of particles across blocks, with random velocities and gradients. */
static grid_case lump(const char *grid)
{
    grid_case c =
        grid_open("grid = { cells = {24, 24, 24}, cell = 0.1, %s }, domain = { friction = 0 }, fill = { { "
                  "material = water, shape = sphere { center = {1.2, 1.2, 1.2}, radius = 0.63 } }, { material "
                  "= heavy, shape = box { center = {0.15, 0.4, 2.25}, size = 0.3 } } }",
                  grid);
    tl_particles *p = &tl_grid_state_of(&c.state)->particles;
    for (int64_t i = 0; i < p->count; i++) {
        double r[12];
        for (int k = 0; k < 12; k++) r[k] = 2 * tl_random(7, (uint64_t)i, (uint64_t)k) - 1;
        p->particle[i].v = tl_vec3_load(r);
        for (int k = 0; k < 9; k++) p->particle[i].C.m[k / 3][k % 3] = 10 * r[3 + k];
    }
    assert_true(p->count > 8000);
    grid_sort(&c);
    return c;
}

/* Sums over faces against sums over particles; rounding of 1e4 terms. */
static void conserves(void **state)
{
    (void)state;
    grid_case c = lump("periodic = {false, false, false}");
    tl_particles_measure m;
    CHECK_OK(tl_particles_measures(&c.f, &c.sorted, c.rho, (tl_vec3){0, 0, 0}, &c.arena, &m, &err));
    CHECK_OK(tl_particles_to_grid(&c.g, &c.sorted, c.rho, 2, &c.arena, &c.faces, &err));
    double L[3] = {0}, P[3] = {0}, fill = 0, scale = m.mass * 1.2;
    for (int k = 0; k < 3; k++) {
        double mass = 0, volume = 0;
        for (int32_t i = 0; i < c.g.blocks * c.f.size; i++) {
            double w = c.faces.mass[k][i];
            if (!(w > 0)) continue;
            double at[3];
            tl_vec3_store(tl_grid_face_centre(&c.g, k, i), at);
            mass += w;
            volume += w / c.faces.rest[k][i];
            P[k] += w * c.faces.u[k][i];
            L[(k + 1) % 3] += at[(k + 2) % 3] * w * c.faces.u[k][i];
            L[(k + 2) % 3] -= at[(k + 1) % 3] * w * c.faces.u[k][i];
        }
        CHECK_REL(mass, m.mass, 1e-13);
        CHECK_REL(volume, m.volume, 1e-13);
    }
    for (int32_t i = 0; i < c.g.blocks * c.f.size; i++) fill += c.faces.fill[i];
    CHECK_REL(fill * 1e-3, m.volume, 1e-13);
    CHECK_NEAR(P[0], m.momentum.x, 1e-14 * m.mass);
    CHECK_NEAR(P[1], m.momentum.y, 1e-14 * m.mass);
    CHECK_NEAR(P[2], m.momentum.z, 1e-14 * m.mass);
    CHECK_NEAR(L[0], m.angular_momentum.x, 1e-13 * scale);
    CHECK_NEAR(L[1], m.angular_momentum.y, 1e-13 * scale);
    CHECK_NEAR(L[2], m.angular_momentum.z, 1e-13 * scale);
    /* without the affine part the test would not see a missing term */
    assert_true(tl_vec3_norm(m.angular_momentum) > 1e-6 * scale);
    grid_close(&c);
}

static double on_faces(const grid_case *c)
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        for (int32_t i = 0; i < c->g.blocks * c->f.size; i++)
            sum += 0.5 * c->faces.mass[k][i] * c->faces.u[k][i] * c->faces.u[k][i];
    return sum;
}

/* A face has the mean of what particles bring, and a particle the affine part of what faces around it have: neither
 * can have more energy than before, at its place (Jensen). */
static void never_gains_energy(void **state)
{
    (void)state;
    grid_case c = lump("periodic = {false, false, false}");
    tl_particles_measure before, after;
    uint8_t *known[3];
    CHECK_OK(tl_particles_measures(&c.f, &c.sorted, c.rho, (tl_vec3){0, 0, 0}, &c.arena, &before, &err));
    CHECK_OK(tl_particles_to_grid(&c.g, &c.sorted, c.rho, 2, &c.arena, &c.faces, &err));
    double faces = on_faces(&c);
    for (int k = 0; k < 3; k++) {
        known[k] = TL_TAKE_ZERO(&c.arena, uint8_t, c.g.cells);
        for (int64_t i = 0; i < c.g.cells; i++) known[k][i] = c.faces.mass[k][i] > 0;
    }
    tl_grid_to_particles(&c.g, c.faces.u, known, &c.sorted);
    CHECK_OK(tl_particles_measures(&c.f, &c.sorted, c.rho, (tl_vec3){0, 0, 0}, &c.arena, &after, &err));
    assert_true(faces < before.kinetic);
    assert_true(after.kinetic < faces);
    assert_true(after.kinetic > 0.01 * before.kinetic);
    grid_close(&c);
}

static tl_vec3 affine(tl_vec3 x)
{
    return (tl_vec3){0.3 + 2 * x.x - x.y + 0.5 * x.z, -1 + x.x + 0.7 * x.y - 3 * x.z,
                     0.1 - 0.2 * x.x + x.y - 2.7 * x.z};
}

/* An affine field on the particles is that field on the faces, and comes back with its gradient. */
static void keeps_affine_fields(void **state)
{
    (void)state;
    grid_case c = lump("periodic = {false, false, false}");
    const tl_mat3 A = {{{2, -1, 0.5}, {1, 0.7, -3}, {-0.2, 1, -2.7}}};
    for (int64_t i = 0; i < c.sorted.count; i++) {
        c.sorted.particle[i].v = affine(c.sorted.particle[i].x);
        c.sorted.particle[i].C = A;
    }
    CHECK_OK(tl_particles_to_grid(&c.g, &c.sorted, c.rho, 2, &c.arena, &c.faces, &err));
    for (int64_t i = 0; i < c.sorted.count; i++) c.sorted.particle[i].C = tl_mat3_zero();
    uint8_t *known[3];
    for (int k = 0; k < 3; k++) {
        known[k] = TL_TAKE_ZERO(&c.arena, uint8_t, c.g.cells);
        for (int64_t i = 0; i < c.g.cells; i++) known[k][i] = c.faces.mass[k][i] > 0;
    }
    tl_grid_to_particles(&c.g, c.faces.u, known, &c.sorted);
    double worst_v = 0, worst_c = 0;
    for (int64_t i = 0; i < c.sorted.count; i++) {
        const tl_particle *p = &c.sorted.particle[i];
        worst_v = fmax(worst_v, tl_vec3_max_abs(tl_vec3_sub(p->v, affine(p->x))));
        worst_c = fmax(worst_c, tl_mat3_max_abs(tl_mat3_sub(p->C, A)));
    }
    CHECK_LE(worst_v, 1e-13);
    CHECK_LE(worst_c, 1e-11); /* differences of velocities of 10 m/s over 0.1 m, faces of little mass */
    grid_close(&c);
}

/* Direct sum over particles, one face at a time, wrapped along periodic axes. */
static void dense_reference(const grid_case *c, int axis, int32_t face, double *mass, double *momentum)
{
    double at[3];
    tl_vec3_store(tl_grid_face_centre(&c->g, axis, face), at);
    *mass = *momentum = 0;
    for (int64_t i = 0; i < c->sorted.count; i++) {
        const tl_particle *p = &c->sorted.particle[i];
        const double x[3] = {p->x.x, p->x.y, p->x.z}, v[3] = {p->v.x, p->v.y, p->v.z};
        double images[3][3], w[3][3];
        for (int k = 0; k < 3; k++)
            for (int m = 0; m < 3; m++) {
                double length = c->f.count[k] * c->f.dx;
                images[k][m] = at[k] - x[k] + (m - 1) * length;
                w[k][m] = m == 1 || c->f.periodic[k] ? fmax(0, 1 - fabs(images[k][m]) / c->f.dx) : 0;
            }
        for (int m = 0; m < 27; m++) {
            double weight = w[0][m / 9] * w[1][m / 3 % 3] * w[2][m % 3] * c->rho[p->material] * p->volume;
            if (!(weight > 0)) continue;
            *mass += weight;
            *momentum += weight * (v[axis] + p->C.m[axis][0] * images[0][m / 9] +
                                   p->C.m[axis][1] * images[1][m / 3 % 3] + p->C.m[axis][2] * images[2][m % 3]);
        }
    }
}

static void agrees(grid_case *c)
{
    CHECK_OK(tl_particles_to_grid(&c->g, &c->sorted, c->rho, 2, &c->arena, &c->faces, &err));
    int checked = 0;
    for (int32_t i = 0; i < c->g.blocks * c->f.size; i += 7) {
        int axis = i % 3;
        double mass, momentum;
        if (c->faces.fill[i] == 0 && i % 5) continue; /* some without matter too */
        dense_reference(c, axis, i, &mass, &momentum);
        CHECK_NEAR(c->faces.mass[axis][i], mass, 1e-12);
        if (mass > 1e-9) CHECK_NEAR(c->faces.u[axis][i] * mass, momentum, 1e-12);
        checked += mass > 0;
        if (checked > 400) break;
    }
    assert_true(checked > 100);
}

static void sparse_is_dense(void **state)
{
    (void)state;
    const char *grids[] = {"periodic = {false, false, false}", "periodic = {true, true, true}",
                           "cells = {24, 22, 26}, periodic = {true, true, true}"};
    for (int k = 0; k < 3; k++) {
        grid_case c = lump(grids[k]);
        /* rings of 3 blocks of 8, of 11 blocks of 2, of 13 blocks of 2 */
        agrees(&c);
        grid_close(&c);
    }
}

/* The 2D mode: a slab of one cell is its own neighbour, so a face has all of its column's mass. */
static void slab(void **state)
{
    (void)state;
    grid_case c = grid_open("grid = { cells = {20, 20, 1}, cell = 0.1, periodic = {false, false, true} }, fill = { { "
                            "material = water, shape = box { center = {1, 0.5, 0.05}, size = {2, 1, 0.1} }, sampling = "
                            "'lattice' } }");
    assert_int_equal(tl_grid_state_of(&c.state)->particles.count, 40 * 20);
    grid_sort(&c);
    assert_int_equal(c.f.size, 64);
    CHECK_OK(tl_particles_to_grid(&c.g, &c.sorted, c.rho, 1, &c.arena, &c.faces, &err));
    int32_t cell = tl_grid_cell(&c.g, 9, 5, 0);
    assert_int_equal(tl_grid_step(&c.g, cell, 2, 1), cell);
    assert_int_equal(tl_grid_step(&c.g, cell, 2, -1), cell);
    CHECK_REL(c.faces.fill[cell], 1.0, 1e-13);
    for (int k = 0; k < 3; k++) CHECK_REL(c.faces.mass[k][cell], 1.0, 1e-13); /* 1000 kg/m^3 in (0.1 m)^3 */
    grid_close(&c);
}

/* Uniform motion carries particles exactly, through every kind of border. */
static void advects(void **state)
{
    (void)state;
    grid_case c = lump("periodic = {true, true, true}");
    const tl_vec3 v = {1.3, -0.7, 2.1};
    for (int64_t i = 0; i < c.sorted.count; i++) {
        c.sorted.particle[i].v = v;
        c.sorted.particle[i].C = tl_mat3_zero();
    }
    CHECK_OK(tl_particles_to_grid(&c.g, &c.sorted, c.rho, 2, &c.arena, &c.faces, &err));
    uint8_t *known[3];
    for (int k = 0; k < 3; k++) {
        known[k] = TL_TAKE_ZERO(&c.arena, uint8_t, c.g.cells);
        for (int64_t i = 0; i < c.g.cells; i++) known[k][i] = c.faces.mass[k][i] > 0;
    }
    tl_vec3 *before = TL_TAKE(&c.arena, tl_vec3, c.sorted.count);
    for (int64_t i = 0; i < c.sorted.count; i++) before[i] = c.sorted.particle[i].x;
    double dt = 0.12; /* 2.5 cells */
    tl_grid_to_particles(&c.g, c.faces.u, known, &c.sorted);
    const tl_advection by = {.u = c.faces.u, .known = known, .dt = dt};
    tl_particles_advect(&c.g, &by, &c.sorted);
    double worst = 0;
    for (int64_t i = 0; i < c.sorted.count; i++)
        worst = fmax(
            worst, tl_vec3_max_abs(tl_vec3_sub(tl_vec3_sub(c.sorted.particle[i].x, before[i]), tl_vec3_scale(dt, v))));
    CHECK_LE(worst, 1e-13);
    grid_close(&c);
}

/* What steps call, one pass with eight particles at a time, is what its parts are: velocities, gradients and places of
 * a field that is not affine. */
static void one_pass_is_its_parts(void **state)
{
    (void)state;
    grid_case c = lump("periodic = {true, true, true}");
    CHECK_OK(tl_particles_to_grid(&c.g, &c.sorted, c.rho, 2, &c.arena, &c.faces, &err));
    uint8_t *known[3];
    for (int k = 0; k < 3; k++) {
        known[k] = TL_TAKE_ZERO(&c.arena, uint8_t, c.g.cells);
        for (int64_t i = 0; i < c.g.cells; i++) known[k][i] = c.faces.mass[k][i] > 0;
    }
    const double dt = 0.02;
    tl_particles other = c.sorted;
    other.particle = TL_TAKE(&c.arena, tl_particle, c.sorted.count);
    memcpy(other.particle, c.sorted.particle, sizeof *other.particle * (size_t)c.sorted.count);
    tl_grid_to_particles(&c.g, c.faces.u, known, &c.sorted);
    const tl_advection by = {.u = c.faces.u, .known = known, .dt = dt};
    tl_particles_advect(&c.g, &by, &c.sorted);
    uint8_t *bounded = TL_TAKE_ZERO(&c.arena, uint8_t, c.g.blocks + 1);
    tl_carried *carried = TL_TAKE_ZERO(&c.arena, tl_carried, c.g.blocks + 1);
    tl_particles_carry(&c.g, c.faces.u, &by, c.rho, bounded, carried, &other);
    double worst_x = 0, worst_v = 0, worst_c = 0, curved = 0;
    for (int64_t i = 0; i < other.count; i++) {
        const tl_particle *p = &c.sorted.particle[i], *q = &other.particle[i];
        worst_x = fmax(worst_x, tl_vec3_max_abs(tl_vec3_sub(p->x, q->x)));
        worst_v = fmax(worst_v, tl_vec3_max_abs(tl_vec3_sub(p->v, q->v)));
        worst_c = fmax(worst_c, tl_mat3_max_abs(tl_mat3_sub(p->C, q->C)));
        curved = fmax(curved, tl_mat3_max_abs(tl_mat3_sub(p->C, c.sorted.particle[0].C)));
    }
    CHECK_LE(worst_x, 1e-13);
    CHECK_LE(worst_v, 1e-13);
    CHECK_LE(worst_c, 1e-11);
    assert_true(curved > 1); /* an affine field would not tell which corner a difference is of */
    grid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conserves),
        cmocka_unit_test(never_gains_energy),
        cmocka_unit_test(keeps_affine_fields),
        cmocka_unit_test(sparse_is_dense),
        cmocka_unit_test(slab),
        cmocka_unit_test(advects),
        cmocka_unit_test(one_pass_is_its_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
