/* Elastic surfaces cut along the grid, and what they do to a liquid: V5 to V8 of the specification, exchange of
 * momentum, and thin parts. */
#include "model/coupling/soft.h"

#include <string.h>

#include "check.h"
#include "grid.h"

static talus_error err;

/* ---- the cut alone ---- */

typedef struct surface {
    int vertices, triangles;
    double x[3 * 200];
    int32_t t[400][3];
} surface;

static surface box_surface(tl_vec3 lo, tl_vec3 size, tl_mat3 R)
{
    static const int32_t t[12][3] = {{0, 1, 3}, {0, 3, 2}, {4, 6, 7}, {4, 7, 5}, {0, 4, 5}, {0, 5, 1},
                                     {2, 3, 7}, {2, 7, 6}, {0, 2, 6}, {0, 6, 4}, {1, 5, 7}, {1, 7, 3}};
    surface s = {.vertices = 8, .triangles = 12};
    tl_vec3 half = tl_vec3_scale(0.5, size), middle = tl_vec3_add(lo, half);
    for (int i = 0; i < 8; i++) {
        tl_vec3 r = {i >> 2 ? half.x : -half.x, i >> 1 & 1 ? half.y : -half.y, i & 1 ? half.z : -half.z};
        tl_vec3_store(tl_vec3_add(middle, tl_mat3_mul_vec(R, r)), s.x + 3 * i);
    }
    memcpy(s.t, t, sizeof t);
    return s;
}

static int middle_of(surface *s, int a, int b, double radius, tl_vec3 c)
{
    tl_vec3 m = tl_vec3_scale(0.5, tl_vec3_add(tl_vec3_load(s->x + 3 * a), tl_vec3_load(s->x + 3 * b)));
    m = tl_vec3_add_scaled(c, radius, tl_vec3_normalize(tl_vec3_sub(m, c)));
    for (int i = 0; i < s->vertices; i++)
        if (tl_vec3_norm(tl_vec3_sub(tl_vec3_load(s->x + 3 * i), m)) < 1e-9) return i;
    tl_vec3_store(m, s->x + 3 * s->vertices);
    return s->vertices++;
}

/* 320 triangles: an icosahedron, halved twice. */
static surface ball_surface(tl_vec3 c, double radius)
{
    static const int32_t t[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                     {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                     {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                     {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    const double g = 0.5 * (1 + sqrt(5));
    const double v[12][3] = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                             {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
    surface s = {.vertices = 12, .triangles = 20};
    for (int i = 0; i < 12; i++)
        tl_vec3_store(tl_vec3_add_scaled(c, radius, tl_vec3_normalize(tl_vec3_load(v[i]))), s.x + 3 * i);
    memcpy(s.t, t, sizeof t);
    for (int round = 0; round < 2; round++) {
        surface old = s;
        s.triangles = 0;
        for (int k = 0; k < old.triangles; k++) {
            int a = old.t[k][0], b = old.t[k][1], d = old.t[k][2];
            int ab = middle_of(&s, a, b, radius, c), bd = middle_of(&s, b, d, radius, c),
                da = middle_of(&s, d, a, radius, c);
            const int32_t four[4][3] = {{a, ab, da}, {b, bd, ab}, {d, da, bd}, {ab, bd, da}};
            memcpy(s.t[s.triangles], four, sizeof four);
            s.triangles += 4;
        }
    }
    return s;
}

static double volume_of(const surface *s)
{
    double sum = 0;
    for (int k = 0; k < s->triangles; k++) {
        tl_vec3 a = tl_vec3_load(s->x + 3 * s->t[k][0]), b = tl_vec3_load(s->x + 3 * s->t[k][1]),
                c = tl_vec3_load(s->x + 3 * s->t[k][2]);
        sum += tl_vec3_dot(a, tl_vec3_cross(b, c)) / 6;
    }
    return sum;
}

static tl_clip clip_of(const surface *s, double h, tl_arena *a)
{
    tl_clip c;
    CHECK_OK(tl_clip_surface(&c, (tl_vec3){0, 0, 0}, h, s->triangles, (const int32_t(*)[3])s->t, s->x, a, &err));
    return c;
}

/* Upward force of p = 1 - x_axis over that of the volume: plain, and with the offset. */
static void lift(const surface *s, double h, int axis, double *plain, double *offset)
{
    tl_arena a = {0};
    tl_clip c = clip_of(s, h, &a);
    *plain = *offset = 0;
    for (int64_t i = 0; i < c.pieces; i++) {
        const tl_clip_piece *q = &c.piece[i];
        const double area[3] = {q->area.x, q->area.y, q->area.z}, at[3] = {q->centre.x, q->centre.y, q->centre.z};
        double centre = ((q->cube[axis] >> 1) + 0.5) * h;
        *plain -= (1 - centre) * area[axis];
        *offset -= (1 - centre) * area[axis] - (at[axis] - centre) * area[axis];
    }
    *plain /= volume_of(s);
    *offset /= volume_of(s);
    tl_arena_free(&a);
}

/* V7, V8 */
static void buoyancy(void **state)
{
    (void)state;
    double plain, offset;
    surface ball = ball_surface((tl_vec3){0.5, 0.507, 0.493}, 0.31);
    assert_int_equal(ball.triangles, 320);
    lift(&ball, 0.1, 1, &plain, &offset);
    CHECK_NEAR(plain, 0.98560, 5e-6);
    CHECK_NEAR(offset, 1, 1e-12);
    static const double ratio[3] = {1.2, 1.08108, 1.33333};
    surface box = box_surface((tl_vec3){0.2, 0.3, 0.4}, (tl_vec3){0.5, 0.37, 0.3}, tl_mat3_identity());
    for (int axis = 0; axis < 3; axis++) {
        lift(&box, 0.1, axis, &plain, &offset);
        CHECK_NEAR(plain, ratio[axis], 5e-6);
        CHECK_NEAR(offset, 1, 1e-12);
    }
}

static void check_closure(const surface *s, double h)
{
    tl_arena a = {0};
    tl_clip c = clip_of(s, h, &a);
    tl_vec3 sum = {0, 0, 0};
    double volume = 0, low = 0, high = 0;
    for (int64_t i = 0; i < c.pieces; i++) sum = tl_vec3_add(sum, c.piece[i].area);
    const int64_t cells = (int64_t)c.n[0] * c.n[1] * c.n[2];
    for (int64_t i = 0; i < 8 * cells; i++) volume += c.volume[i] * h * h * h / 8;
    for (int axis = 0; axis < 3; axis++)
        for (int64_t i = 0; i < cells; i++) low = fmin(low, c.area[axis][i]), high = fmax(high, c.area[axis][i]);
    CHECK_LE(tl_vec3_max_abs(sum), 1e-13);
    CHECK_NEAR(volume, volume_of(s), 1e-13);
    CHECK_LE(-low, 1e-13);
    CHECK_LE(high, 1 + 1e-13);
    tl_arena_free(&a);
}

/* V5, of the geometry */
static void closure(void **state)
{
    (void)state;
    tl_mat3 R = tl_mat3_from_rows((tl_vec3){0.36, 0.48, -0.8}, (tl_vec3){-0.8, 0.6, 0}, (tl_vec3){0.48, 0.64, 0.6});
    surface some[] = {ball_surface((tl_vec3){0.5, 0.507, 0.493}, 0.31),
                      box_surface((tl_vec3){0.2, 0.3, 0.4}, (tl_vec3){0.5, 0.4, 0.3}, tl_mat3_identity()),
                      box_surface((tl_vec3){0.2, 0.3, 0.4}, (tl_vec3){0.5, 0.37, 0.3}, R),
                      box_surface((tl_vec3){-0.3, -0.2, 0.4}, (tl_vec3){0.5, 0.02, 0.3}, R),
                      box_surface((tl_vec3){0.2, 0.2, 0.477}, (tl_vec3){0.6, 0.6, 0.02}, tl_mat3_identity())};
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        check_closure(&some[k], 0.1);
        check_closure(&some[k], 0.037);
    }
}

/* V6: a sheet inside of one layer of cells is not felt; the seal finds it, whole and nothing else. */
static void thin_sheet(void **state)
{
    (void)state;
    tl_arena a = {0};
    surface sheet = box_surface((tl_vec3){0.2, 0.2, 0.477}, (tl_vec3){0.6, 0.6, 0.02}, tl_mat3_identity());
    tl_clip c = clip_of(&sheet, 0.1, &a);
    double force = 0, least;
    for (int64_t i = 0; i < c.pieces; i++) force += (1 - ((c.piece[i].cube[1] >> 1) + 0.5) * 0.1) * c.piece[i].area.z;
    CHECK_LE(fabs(force), 1e-15);
    CHECK_OK(tl_clip_seal(&c, sheet.triangles, (const int32_t(*)[3])sheet.t, sheet.x, &least, &a, &err));
    CHECK_NEAR(least, 0.2, 1e-9);
    int count[3] = {0, 0, 0};
    for (int axis = 0; axis < 3; axis++)
        for (int64_t i = 0; i < (int64_t)c.n[0] * c.n[1] * c.n[2]; i++) count[axis] += c.sealed[axis][i];
    assert_int_equal(count[0] + count[1], 0);
    assert_int_equal(count[2], 36); /* between the centres below and above it */
    surface thick = box_surface((tl_vec3){0.2, 0.2, 0.4}, (tl_vec3){0.6, 0.6, 0.23}, tl_mat3_identity()),
            ball = ball_surface((tl_vec3){0.5, 0.5, 0.5}, 0.31);
    const surface *both[] = {&thick, &ball};
    for (int k = 0; k < 2; k++) {
        c = clip_of(both[k], 0.1, &a);
        CHECK_OK(tl_clip_seal(&c, both[k]->triangles, (const int32_t(*)[3])both[k]->t, both[k]->x, &least, &a, &err));
        assert_true(isinf(least));
    }
    tl_arena_free(&a);
}

/* ---- in a liquid ---- */

typedef struct tank {
    grid_case c;
    tl_lg lg;
    tl_lg_state nodes;
    tl_skins skins;
    tl_solids solids;
    tl_fractions fractions;
    tl_system system;
    tl_soft soft;
} tank;

static void fill_tank(tank *t, tl_weight_family family, tl_soft_form form, const char *body)
{
    tl_log log = {0};
    t->c =
        grid_open("grid = { cells = {10, 10, 10}, cell = 0.1 }, fill = { { material = water, shape = plane { height "
                  "= 0.9 } } }, bodies = { { material = elastic { density = 1000, young = 1e5, poisson = 0.3 }, %s } }",
                  body);
    tl_arena *a = &t->c.arena;
    CHECK_OK(tl_lg_from_scene(&t->lg, t->c.scene, &log, &err));
    CHECK_OK(tl_lg_state_begin(&t->nodes, &t->lg, &err));
    grid_derive(&t->c, family);
    CHECK_OK(tl_skins_make(&t->skins, &t->lg, 1, t->nodes.q, t->nodes.v, a, &err));
    CHECK_OK(tl_skins_clip(&t->skins, t->c.f.origin, t->c.f.dx, a, &err));
    CHECK_OK(tl_solids_with_skins(&t->solids, &t->c.g, &t->c.rigid, &t->c.scene->domain, t->c.state.rigid.body,
                                  &t->skins, a, &err));
    CHECK_OK(tl_solid_fractions(&t->c.g, &t->solids, family, a, &t->fractions, &err));
    tl_vec3 centre[16] = {{0, 0, 0}};
    double none[16 * 9] = {0};
    tl_liquid_domain d = {.grid = &t->c.g,
                          .faces = &t->c.faces,
                          .fractions = &t->fractions,
                          .phi = t->c.phi,
                          .bodies = t->c.rigid.count,
                          .centre = centre,
                          .inv_mass = none,
                          .inv_inertia = none};
    CHECK_OK(tl_liquid_system(&t->system, &d, 0.01, a, &err));
    const tl_soft_domain s = {.skins = &t->skins,
                              .grid = &t->c.g,
                              .fractions = &t->fractions,
                              .system = &t->system,
                              .gravity = {0, -9.81, 0},
                              .form = form};
    CHECK_OK(tl_soft_build(&t->soft, &s, a, &err));
}

static void empty_tank(tank *t)
{
    tl_lg_free(&t->lg);
    tl_lg_state_kind.free(&t->nodes);
    grid_close(&t->c);
}

/* Largest outflow, times h, of cells beside no wall, where all goes with v + w x r. */
static double outflow(tank *t, tl_vec3 v, tl_vec3 w)
{
    const tl_coupling *c = &t->system.c;
    double *node = TL_TAKE(&t->c.arena, double, 3 * (int64_t)t->lg.nodes), *g = TL_TAKE(&t->c.arena, double, c->cells),
           max = 0;
    for (int32_t i = 0; i < t->lg.nodes; i++)
        tl_vec3_store(tl_vec3_add(v, tl_vec3_cross(w, tl_vec3_load(t->nodes.q + 3 * (int64_t)i))),
                      node + 3 * (int64_t)i);
    for (int32_t f = 0; f < c->faces; f++) {
        double u[3];
        tl_vec3_store(
            tl_vec3_add(v, tl_vec3_cross(w, tl_grid_face_centre(&t->c.g, t->system.axis[f], t->system.id[f]))), u);
        c->y[f] = c->fluid[f] * u[t->system.axis[f]];
    }
    tl_coupling_adjoint(c, c->y, g);
    for (int32_t i = 0; i < c->cells; i++) g[i] = -g[i];
    tl_csr_mul_add(&t->soft.Ft, 1, node, g);
    for (int32_t i = 0; i < c->cells; i++) {
        bool wall = false;
        for (int k = 0; k < 6; k++) {
            int32_t f = c->face[6 * (int64_t)i + k];
            wall |= t->fractions.fixed[t->system.axis[f]][t->system.id[f]] > 0;
        }
        if (!wall) max = fmax(max, c->dx * fabs(g[i]));
    }
    return max;
}

/* Force and moment of pressures a + b.x, with or without the offset. */
static void load_of(tank *t, double a, tl_vec3 b, bool offset, tl_vec3 *force, tl_vec3 *moment)
{
    const tl_coupling *c = &t->system.c;
    double *p = TL_TAKE(&t->c.arena, double, c->cells), *f = TL_TAKE(&t->c.arena, double, 3 * (int64_t)t->lg.nodes),
           volume = c->dx * c->dx * c->dx;
    for (int32_t i = 0; i < c->cells; i++) p[i] = a + tl_vec3_dot(b, tl_grid_centre(&t->c.g, t->system.active.cell[i]));
    tl_csr_mul(&t->soft.F, p, f);
    *force = *moment = (tl_vec3){0, 0, 0};
    for (int32_t i = 0; i < t->lg.nodes; i++) {
        tl_vec3 q = tl_vec3_scale(volume, tl_vec3_load(f + 3 * (int64_t)i));
        if (offset) q = tl_vec3_add(q, tl_vec3_load(t->soft.offset + 3 * (int64_t)i));
        *force = tl_vec3_add(*force, q);
        *moment = tl_vec3_add(*moment, tl_vec3_cross(tl_vec3_load(t->nodes.q + 3 * (int64_t)i), q));
    }
}

static const char *const bodies[] = {
    "shape = box { size = {0.3, 0.3, 0.3} }, at = {0.52, 0.43, 0.47}, cells = {3, 3, 3}",
    "shape = box { size = {0.4, 0.3, 0.3} }, at = {0.5, 0.45, 0.45}, cells = {3, 2, 2}",
    "shape = box { size = {0.35, 0.3, 0.25} }, at = {0.5, 0.42, 0.51}, cells = {4, 3, 3}, rotation_deg = {20, 35, 10}",
    "shape = sphere { radius = 0.2 }, at = {0.48, 0.45, 0.51}, edge = 0.1",
};

/* V5, and what keeps momentum: all that moves as one lets nothing flow, uniform pressure pushes and turns nothing. */
static void check_motions(tank *t, tl_soft_form form, bool askew)
{
    tl_vec3 force, moment;
    CHECK_LE(outflow(t, (tl_vec3){1, -0.7, 0.4}, (tl_vec3){0, 0, 0}), 1e-13);
    double turned = outflow(t, (tl_vec3){0, 0, 0}, (tl_vec3){0.6, 1, -0.8});
    if (form != TL_SOFT_CUT) CHECK_LE(turned, 1e-13);
    if (form == TL_SOFT_CUT && askew) assert_true(turned > 1e-3);
    load_of(t, 1, (tl_vec3){0, 0, 0}, false, &force, &moment);
    CHECK_LE(tl_vec3_max_abs(force), 1e-13);
    if (form != TL_SOFT_CUT) CHECK_LE(tl_vec3_max_abs(moment), 1e-13);
}

/* Archimedes, with the offset, by both weights. */
static void check_lift(tank *t, tl_weight_family family, bool on_planes)
{
    tl_vec3 force, moment;
    double volume = 0;
    for (int32_t b = 0; b < t->lg.bodies; b++) volume += t->lg.body[b].volume;
    const double weight = 9810 * volume;
    load_of(t, 9810, (tl_vec3){0, -9810, 0}, true, &force, &moment);
    CHECK_NEAR(force.x / weight, 0, 1e-11);
    CHECK_NEAR(force.y / weight, 1, 1e-11);
    CHECK_NEAR(force.z / weight, 0, 1e-11);
    load_of(t, 9810, (tl_vec3){0, -9810, 0}, false, &force, &moment);
    if (family == TL_WEIGHT_VOLUME) CHECK_NEAR(force.y / weight, 1, 1e-11);
    if (family == TL_WEIGHT_AREA && on_planes) CHECK_NEAR(force.y / weight, 4.0 / 3, 1e-9);
}

static void in_liquid(void **state)
{
    (void)state;
    static const struct {
        tl_weight_family family;
        tl_soft_form form;
        int body;
    } cases[] = {{TL_WEIGHT_AREA, TL_SOFT_HYBRID, 0},     {TL_WEIGHT_AREA, TL_SOFT_HYBRID, 1},
                 {TL_WEIGHT_AREA, TL_SOFT_HYBRID, 2},     {TL_WEIGHT_AREA, TL_SOFT_HYBRID, 3},
                 {TL_WEIGHT_VOLUME, TL_SOFT_HYBRID, 2},   {TL_WEIGHT_AREA, TL_SOFT_CUT, 2},
                 {TL_WEIGHT_AREA, TL_SOFT_COMPLEMENT, 2}, {TL_WEIGHT_VOLUME, TL_SOFT_COMPLEMENT, 2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tank t = {0};
        fill_tank(&t, cases[k].family, cases[k].form, bodies[cases[k].body]);
        check_motions(&t, cases[k].form, cases[k].body == 2);
        if (cases[k].form == TL_SOFT_HYBRID) check_lift(&t, cases[k].family, cases[k].body == 1);
        empty_tank(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(buoyancy), cmocka_unit_test(closure),
                                       cmocka_unit_test(thin_sheet), cmocka_unit_test(in_liquid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
