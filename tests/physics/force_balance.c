/* Forces by source, as the library shows them, are all there is: in every step and for every body that moves freely
 *
 *     change of momentum = dt (weight + contacts + what flows + joints + what holds it + what code pushes + corrections)
 *
 * and contact points add up to the contacts' force. Of balls the same for torques. All engines; what remains is rounding,
 * of elastic bodies what their solves leave. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/sim.h>

#include "check.h"

#define BODIES_MAX 24
#define GRAVITY 9.81

static talus_error err;

typedef struct balance_of {
    const char *text;
    double dt;
    int steps, skip;         /* of the first `skip` momenta are not judged */
    int joints, joint[4][2]; /* bodies, -1: the world */
    int handle;              /* the body that the first handle holds; -1: none */
    int ball;                /* a free one; -1: none */
    double radius;
    double tolerance; /* of weight times dt */
} balance_of;

static talus_view view_of(talus_sim *sim, const char *name)
{
    talus_view v;
    CHECK_OK(talus_sim_view(sim, name, &v, &err));
    return v;
}

static const double *row_of(const talus_view *v, int64_t i)
{
    const double *row = talus_view_row(v, i);
    assert_non_null(row);
    return row;
}

static void add(double to[3], double scale, const double *v)
{
    for (int c = 0; c < 3; c++) to[c] += scale * v[c];
}

/* Momenta and masses of all bodies: of elastic ones, of their nodes. Returns how many bodies there are. */
static int measure(talus_sim *sim, double p[][3], double *mass)
{
    const talus_view m = view_of(sim, "bodies.mass"), v = view_of(sim, "bodies.velocity"),
                     node = view_of(sim, "nodes.momentum"), of = view_of(sim, "nodes.scene_body"),
                     kg = view_of(sim, "nodes.mass");
    assert_true(m.count <= BODIES_MAX);
    for (int i = 0; i < m.count; i++) {
        mass[i] = *row_of(&m, i);
        for (int c = 0; c < 3; c++) p[i][c] = mass[i] * row_of(&v, i)[c];
    }
    for (int64_t k = node.count - 1; k >= 0; k--) { /* what tables show of elastic bodies is counted by nodes */
        const int b = *(const int32_t *)talus_view_row(&of, k);
        p[b][0] = p[b][1] = p[b][2] = mass[b] = 0;
    }
    for (int64_t k = 0; k < node.count; k++) {
        const int b = *(const int32_t *)talus_view_row(&of, k);
        mass[b] += *row_of(&kg, k);
        add(p[b], 1, row_of(&node, k));
    }
    return (int)m.count;
}

/* Of all sources but weight, as views have them. */
static void sum_forces(talus_sim *sim, const balance_of *w, int bodies, double f[][3])
{
    static const char *const sources[] = {"bodies.force", "bodies.liquid_force", "bodies.sand_force", "bodies.push",
                                          "bodies.correction_force"};
    memset(f, 0, sizeof *f * (size_t)bodies);
    for (size_t s = 0; s < sizeof sources / sizeof *sources; s++) {
        const talus_view v = view_of(sim, sources[s]);
        for (int i = 0; i < bodies; i++) add(f[i], 1, row_of(&v, i));
    }
    const talus_view push = view_of(sim, "nodes.push"), of = view_of(sim, "nodes.scene_body");
    for (int64_t k = 0; k < push.count; k++) add(f[*(const int32_t *)talus_view_row(&of, k)], 1, row_of(&push, k));
    const talus_view joint = view_of(sim, "joints.force");
    assert_int_equal(joint.count, w->joints);
    for (int k = 0; k < w->joints; k++)
        for (int e = 0; e < 2; e++)
            if (w->joint[k][e] >= 0) add(f[w->joint[k][e]], e ? -1 : 1, row_of(&joint, k));
    const talus_view hold = view_of(sim, "holds.force"), kind = view_of(sim, "holds.kind"),
                     number = view_of(sim, "holds.number");
    for (int64_t k = 0; k < hold.count; k++) {
        const bool anchor = *(const int32_t *)talus_view_row(&kind, k) == 0;
        add(f[anchor ? *(const int32_t *)talus_view_row(&number, k) : w->handle], 1, row_of(&hold, k));
    }
}

static double worst_contact(talus_sim *sim, int bodies)
{
    double f[BODIES_MAX + 6][3] = {{0}}, worst = 0;
    const talus_view of = view_of(sim, "contacts.bodies"), force = view_of(sim, "contacts.force"),
                     all = view_of(sim, "bodies.force");
    for (int64_t k = 0; k < force.count; k++)
        for (int e = 0; e < 2; e++) add(f[((const int32_t *)talus_view_row(&of, k))[e]], e ? -1 : 1, row_of(&force, k));
    for (int i = 0; i < bodies; i++)
        for (int c = 0; c < 3; c++) worst = fmax(worst, fabs(f[i][c] - row_of(&all, i)[c]));
    return worst;
}

/* I (w1 - w0) of a ball less all torques, N m s. */
static double worst_turn(talus_sim *sim, const balance_of *w, double mass, const double before[3], double h)
{
    static const char *const sources[] = {"bodies.torque", "bodies.liquid_torque", "bodies.sand_torque",
                                          "bodies.push_torque", "bodies.correction_torque"};
    double torque[3] = {0}, worst = 0;
    for (size_t s = 0; s < sizeof sources / sizeof *sources; s++) {
        const talus_view v = view_of(sim, sources[s]);
        add(torque, 1, row_of(&v, w->ball));
    }
    const talus_view spin = view_of(sim, "bodies.spin");
    for (int c = 0; c < 3; c++)
        worst = fmax(
            worst, fabs(0.4 * mass * w->radius * w->radius * (row_of(&spin, w->ball)[c] - before[c]) - h * torque[c]));
    return worst;
}

static void balances(const balance_of *w)
{
    talus_scene *scene;
    talus_sim *sim;
    CHECK_OK(talus_scene_load_text(w->text, NULL, NULL, &scene, &err));
    CHECK_OK(talus_sim_create(scene, NULL, &sim, &err));
    const int64_t nodes = view_of(sim, "nodes.mass").count;
    double *push = calloc((size_t)(3 * nodes + 1), sizeof *push);
    for (int64_t k = 0; k < nodes; k++) push[3 * k] = 0.01, push[3 * k + 2] = 0.02;
    if (nodes) CHECK_OK(talus_sim_set_node_forces(sim, 0, nodes, push, &err));
    if (w->ball >= 0)
        CHECK_OK(talus_sim_set_force(sim, w->ball, (double[]){0.3, 0, 0.1}, (double[]){0.01, 0, 0.02}, &err));
    double worst = 0, contact = 0, turn = 0;
    for (int k = 0; k < w->steps; k++) {
        double p[2][BODIES_MAX][3], mass[BODIES_MAX], f[BODIES_MAX][3], spin[3] = {0}, weight = 0;
        const double t = talus_sim_time(sim);
        const int bodies = measure(sim, p[0], mass);
        const talus_view turning = view_of(sim, "bodies.spin");
        if (w->ball >= 0) memcpy(spin, row_of(&turning, w->ball), sizeof spin);
        CHECK_OK(talus_sim_step(sim, w->dt, &err));
        const double h = talus_sim_time(sim) - t;
        measure(sim, p[1], mass);
        sum_forces(sim, w, bodies, f);
        for (int i = 0; i < bodies; i++) weight = fmax(weight, mass[i] * GRAVITY);
        for (int i = 0; i < bodies && k >= w->skip; i++)
            for (int c = 0; c < 3 && mass[i] > 0; c++) {
                const double force = f[i][c] - (c == 1 ? mass[i] * GRAVITY : 0);
                const double scale = fmax(weight * h, fabs(p[1][i][c]));
                worst = fmax(worst, fabs(p[1][i][c] - p[0][i][c] - h * force) / scale);
            }
        contact = fmax(contact, worst_contact(sim, bodies) / weight);
        if (w->ball >= 0) turn = fmax(turn, worst_turn(sim, w, mass[w->ball], spin, h) / (weight * h * w->radius));
    }
    if (!(worst <= w->tolerance)) fail_msg("momentum: %.2e of weight is missing", worst);
    if (!(contact <= 1e-11)) fail_msg("contact points: %.2e of weight is missing", contact);
    if (!(turn <= 1e-11)) fail_msg("angular momentum: %.2e of weight times radius is missing", turn);
    free(push);
    talus_sim_free(sim);
    talus_scene_free(scene);
}

/* Falls, slides, rolls, bounces, comes to rest. */
static void rigid_bodies(void **state)
{
    (void)state;
    balances(&(balance_of){
        .text = "local b = { { kind = 'static', shape = plane {}, friction = 0.4 },\n"
                "  { shape = sphere { radius = 0.1 }, density = 2000, at = {0.05, 0.4, 0}, restitution = 0.5,\n"
                "    friction = 0.3, velocity = {1, 0, 0}, spin_rad_per_s = {0, 0, 5} } }\n"
                "for i = 1, 8 do b[#b + 1] = { shape = box { size = {0.2, 0.1 + 0.01 * i, 0.15} }, density = 700,\n"
                "  at = {0.03 * (i % 3), 0.22 * i, 0.3 + 0.02 * (i % 2)}, rotation_deg = {3 * i, 7 * i, 5 * i},\n"
                "  friction = 0.4, restitution = i % 2 * 0.4 } end\n"
                "return scene { talus = 1, engine = 'grid', duration = 9, dt_max = 0.01, bodies = b }",
        .dt = 0.01,
        .steps = 160,
        .handle = -1,
        .ball = 1,
        .radius = 0.1,
        .tolerance = 1e-11});
}

static void jointed_bodies(void **state)
{
    (void)state;
    balances(&(balance_of){
        .text = "return scene { talus = 1, engine = 'grid', duration = 9, dt_max = 0.01, bodies = {\n"
                "  { name = 'a', shape = box { size = {0.4, 0.1, 0.1} }, density = 700, at = {0.2, 1, 0} },\n"
                "  { name = 'b', shape = box { size = {0.4, 0.1, 0.1} }, density = 700, at = {0.65, 1, 0} },\n"
                "  { name = 'c', shape = box { size = 0.1 }, density = 300, at = {2, 1, 0} },\n"
                "  { kind = 'static', shape = plane { height = 0.3 }, friction = 0.4 } },\n"
                "  joints = { { kind = 'hinge', a = 'a', at = {0, 1, 0}, axis = {0, 0, 1} },\n"
                "    { kind = 'ball', a = 'b', b = 'a', at = {0.425, 1, 0} },\n"
                "    { kind = 'hinge', a = 'c', at = {1.8, 1, 0}, axis = {0, 0, 1}, motor = { speed = 2 } } } }",
        .dt = 0.01,
        .steps = 120,
        .joints = 3,
        .joint = {{0, -1}, {1, 0}, {2, -1}},
        .handle = -1,
        .ball = -1,
        .tolerance = 1e-11});
}

#define POOL(material)                                                                                                 \
    "return scene { talus = 1, engine = 'grid', duration = 9, dt_max = 0.01, grid = { cells = {10, 12, 10}, cell = "   \
    "0.06 },\n"                                                                                                        \
    "  fill = { { material = " material ", shape = box { size = {0.6, 0.3, 0.6}, center = {0.3, 0.15, 0.3} } } },\n"   \
    "  bodies = { { shape = box { size = {0.2, 0.15, 0.2} }, density = 600, at = {0.3, 0.4, 0.3}, friction = 0.4 },\n" \
    "    { shape = sphere { radius = 0.08 }, density = 3000, at = {0.45, 0.5, 0.3}, friction = 0.4 } } }"

/* Drops and grains that hit bodies one by one are part of what flows. */
static void bodies_in_liquid(void **state)
{
    (void)state;
    balances(&(balance_of){.text = POOL("liquid { density = 1000 }"),
                           .dt = 0.01,
                           .steps = 28,
                           .handle = -1,
                           .ball = 1,
                           .radius = 0.08,
                           .tolerance = 1e-11});
}

static void bodies_in_sand(void **state)
{
    (void)state;
    balances(&(balance_of){.text = POOL("preset 'dry sand'"),
                           .dt = 0.01,
                           .steps = 28,
                           .handle = -1,
                           .ball = 1,
                           .radius = 0.08,
                           .tolerance = 1e-11});
}

static void bodies_in_sph(void **state)
{
    (void)state;
    balances(&(balance_of){
        .text = "return scene { talus = 1, engine = 'sph', duration = 9, dt_max = 0.005, sph = { spacing = 0.06 },\n"
                "  domain = { min = {0, 0, 0}, max = {0.6, 1, 0.6} },\n"
                "  fill = { { material = liquid { density = 1000 },\n"
                "    shape = box { size = {0.6, 0.3, 0.6}, center = {0.3, 0.15, 0.3} } } },\n"
                "  bodies = { { shape = box { size = {0.2, 0.15, 0.2} }, density = 600, at = {0.3, 0.4, 0.3} },\n"
                "    { shape = sphere { radius = 0.08 }, density = 3000, at = {0.45, 0.5, 0.3} } } }",
        .dt = 0.005,
        .steps = 40,
        .handle = -1,
        .ball = 1,
        .radius = 0.08,
        .tolerance = 1e-11});
}

#define SOFT(engine, options)                                                                                          \
    "local rubber = elastic { density = 1000, young = 2e5, poisson = 0.3, damping = 0.01 }\n"                          \
    "return scene { talus = 1, engine = '" engine "', duration = 9, dt_max = 0.01, " options "\n"                      \
    "  bodies = { { kind = 'static', shape = plane {}, friction = 0.4 },\n"                                            \
    "    { shape = box { size = {0.2, 0.2, 0.2} }, cells = {2, 2, 2}, at = {0, 0.12, 0}, material = rubber,\n"         \
    "      friction = 0.4, velocity = {0.5, 0, 0} },\n"                                                                \
    "    { name = 'hang', shape = box { size = {0.1, 0.2, 0.1} }, cells = {2, 4, 2}, at = {1, 1, 0},\n"                \
    "      material = rubber },\n"                                                                                     \
    "    { shape = box { size = {0.2, 0.1, 0.1} }, cells = {4, 2, 2}, at = {2, 1, 0}, material = rubber,\n"            \
    "      anchor = box { size = {0.01, 1, 1}, center = {-0.1, 0, 0} } },\n"                                           \
    "    { shape = sphere { radius = 0.08 }, density = 800, at = {0, 0.4, 0}, friction = 0.4 } },\n"                   \
    "  handles = { { body = 'hang', shape = box { size = {1, 0.01, 1}, center = {1, 1.1, 0} },\n"                      \
    "    motion = function(t) return { at = {0, 0.05 * math.sin(9 * t), 0} } end } } }"

/* Elastic bodies: what their solves may leave, 1e-6 of the fastest speed, a tenth of dt g to some m/s here. */
static void elastic_bodies(void **state)
{
    (void)state;
    balances(&(balance_of){.text = SOFT("grid", "fem = { integrator = 'euler' },"),
                           .dt = 0.01,
                           .steps = 50,
                           .handle = 2,
                           .ball = -1,
                           .tolerance = 1e-5});
    balances(
        &(balance_of){.text = SOFT("grid", ""), .dt = 0.01, .steps = 50, .handle = 2, .ball = -1, .tolerance = 1e-5});
}

static void local_global_bodies(void **state)
{
    (void)state;
    balances(&(balance_of){.text = SOFT("lg", "lg = { time = 'euler' },"),
                           .dt = 0.01,
                           .steps = 50,
                           .handle = 2,
                           .ball = -1,
                           .tolerance = 1e-7});
    /* of second order the first step begins a history of its own */
    balances(&(balance_of){
        .text = SOFT("lg", ""), .dt = 0.01, .steps = 50, .skip = 1, .handle = 2, .ball = -1, .tolerance = 1e-7});
}

static void elastic_bodies_in_liquid(void **state)
{
    (void)state;
    balances(&(balance_of){
        .text = "return scene { talus = 1, engine = 'grid', duration = 9, dt_max = 0.01,\n"
                "  grid = { cells = {10, 12, 10}, cell = 0.06 },\n"
                "  fill = { { material = liquid { density = 1000 },\n"
                "    shape = box { size = {0.6, 0.3, 0.6}, center = {0.3, 0.15, 0.3} } } },\n"
                "  bodies = { { shape = sphere { radius = 0.08 }, density = 3000, at = {0.45, 0.5, 0.45} },\n"
                "    { name = 'hang', shape = box { size = {0.12, 0.3, 0.12} }, cells = {1, 3, 1},\n"
                "      at = {0.42, 0.4, 0.15}, material = elastic { density = 1000, young = 2e5, poisson = 0.3 } } },\n"
                "  handles = { { body = 'hang', shape = box { size = {1, 0.01, 1}, center = {0.42, 0.55, 0.15} } } } }",
        .dt = 0.01,
        .steps = 26,
        .handle = 1,
        .ball = -1,
        .tolerance = 1e-7});
}

/* A block that hangs from a handle, or from its own anchor, weighs what it weighs: held nodes and springs, on Earth and
 * on the Moon. What pushes a held node up is not borne. Clones and restored simulations read the same. */
static void load_cells(void **state)
{
    (void)state;
    static const char *const cells[] = {
        "} }, handles = { { body = 'block', shape = box { size = {1, 0.01, 1}, center = {0, 0.1, 0} } } }",
        "} }, handles = { { body = 'block', shape = box { size = {1, 0.01, 1}, center = {0, 0.1, 0} }, weight = 1e4 } "
        "}",
        ", anchor = box { size = {1, 0.01, 1}, center = {0, 0.1, 0} } } }"};
    static const char *const engines[] = {"engine = 'grid', fem = { integrator = 'euler' }",
                                          "engine = 'lg', lg = { time = 'euler' }"};
    for (int k = 0; k < 6; k++) {
        char text[1000];
        talus_scene *scene;
        talus_sim *sim, *twin;
        snprintf(text, sizeof text,
                 "return scene { talus = 1, %s, duration = 9, dt_max = 0.02, bodies = { { name = 'block',\n"
                 "  shape = box { size = {0.1, 0.2, 0.1} }, cells = {2, 4, 2},\n"
                 "  material = elastic { density = 1100, young = 2e5, poisson = 0.3, damping = 0.02 } %s }",
                 engines[k / 3], cells[k % 3]);
        CHECK_OK(talus_scene_load_text(text, NULL, NULL, &scene, &err));
        CHECK_OK(talus_sim_create(scene, NULL, &sim, &err));
        const int64_t cell = k % 3 < 2, count = view_of(sim, "nodes.mass").count;
        const talus_view kind = view_of(sim, "holds.kind"), at = view_of(sim, "nodes.position");
        assert_int_equal(*(const int32_t *)talus_view_row(&kind, cell), cell);
        double mass = 0, push[3] = {0, 0.7, 0};
        int64_t held = 0;
        for (int64_t i = 0; i < count; i++) {
            const talus_view m = view_of(sim, "nodes.mass");
            mass += *row_of(&m, i);
            if (row_of(&at, i)[1] > row_of(&at, held)[1]) held = i;
        }
        for (int place = 0; place < 3; place++) {
            const double g = place ? 1.62 : 9.81, weight = mass * g - (place == 2 ? push[1] : 0);
            CHECK_OK(talus_sim_set_gravity(sim, (double[]){0, -g, 0}, &err));
            if (place == 2) CHECK_OK(talus_sim_set_node_forces(sim, held, 1, push, &err));
            CHECK_OK(talus_sim_advance(sim, talus_sim_time(sim) + 4, &err));
            const talus_view force = view_of(sim, "holds.force");
            if (fabs(row_of(&force, cell)[1] / weight - 1) > 1e-6)
                fail_msg("cell %d reads %.9g N of %.9g", k, row_of(&force, cell)[1], weight);
        }
        CHECK_OK(talus_sim_clone(sim, &twin, &err));
        const talus_view force = view_of(sim, "holds.force"), same = view_of(twin, "holds.force");
        assert_memory_equal(row_of(&force, cell), row_of(&same, cell), 3 * sizeof(double));
        talus_sim_free(twin);
        talus_sim_free(sim);
        talus_scene_free(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_bodies),        cmocka_unit_test(jointed_bodies),
        cmocka_unit_test(bodies_in_liquid),    cmocka_unit_test(bodies_in_sand),
        cmocka_unit_test(bodies_in_sph),       cmocka_unit_test(elastic_bodies),
        cmocka_unit_test(local_global_bodies), cmocka_unit_test(elastic_bodies_in_liquid),
        cmocka_unit_test(load_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
