/* talus beside other rigid-body engines, on the same scenes in steps of 10 ms: what is asked for, what comes out,
 * processor time of a step. Every engine runs with its own defaults, on one thread. */
#include "lab/bench/peers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/timer.h"
#include "lab/bench/table.h"
#include "lab/world.h"
#include "math/quat.h"
#include "phase/rigid/rigid.h"

#define DT 0.01
#define G 9.81
#define DENSITY 1000.0
#define PI 3.14159265358979323846

/* ---- talus as one of them ---- */

typedef struct world {
    tl_world in;
    char text[1 << 16];
} world;

static bool always(void) { return true; }

static size_t write_body(const tl_peer_body *b, char *out, size_t room)
{
    const double *s = b->size;
    char shape[120];
    if (b->shape == TL_PEER_BOX)
        snprintf(shape, sizeof shape, "box { size = {%.9g, %.9g, %.9g} }", s[0], s[1], s[2]);
    else if (b->shape == TL_PEER_BALL)
        snprintf(shape, sizeof shape, "sphere { radius = %.9g }", s[0]);
    else
        snprintf(shape, sizeof shape, "cylinder { radius = %.9g, height = %.9g }", s[0], s[1]);
    return (size_t)snprintf(out, room,
                            "B { shape = %s, mass = %.9g, at = {%.12g, %.12g, %.12g}, rotation = {%.12g, %.12g, %.12g, "
                            "%.12g}, velocity = {%g, %g, %g}, spin_rad_per_s = {%g, %g, %g} }\n",
                            shape, b->mass, b->x[0], b->x[1], b->x[2], b->q[0], b->q[1], b->q[2], b->q[3], b->v[0],
                            b->v[1], b->v[2], b->w[0], b->w[1], b->w[2]);
}

static size_t write_scene(const tl_peer_scene *s, char *out, size_t room)
{
    size_t n = (size_t)snprintf(out, room,
                                "local list = {}\nlocal function B(b) b.friction = %g b.restitution = %g "
                                "b.name = 'b' .. #list list[#list + 1] = b end\n",
                                s->friction, s->restitution);
    for (int i = 0; i < s->count; i++) n += write_body(&s->body[i], out + n, room - n);
    if (s->ground)
        n += (size_t)snprintf(out + n, room - n,
                              "B { kind = 'static', shape = half_space { normal = {0, 0, 1}, point = {0, 0, 0} } }\n");
    if (s->bin > 0)
        n += (size_t)snprintf(
            out + n, room - n,
            "for _, n in ipairs { {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0} } do B { kind = 'static', "
            "shape = half_space { normal = n, point = {%g * n[1], %g * n[2], 0} } } end\n",
            -s->bin, -s->bin);
    n += (size_t)snprintf(out + n, room - n, "local held = {}\n");
    for (int k = 0; k < s->joints; k++) {
        const tl_peer_joint *j = &s->joint[k];
        char other[40] = "";
        if (j->b >= 0) snprintf(other, sizeof other, "b = list[%d].name, ", j->b + 1);
        n += (size_t)snprintf(out + n, room - n,
                              "held[%d] = { kind = '%s', a = list[%d].name, %sat = {%.12g, %.12g, %.12g}", k + 1,
                              j->hinge ? "hinge" : "ball", j->a + 1, other, j->at[0], j->at[1], j->at[2]);
        if (j->hinge)
            n += (size_t)snprintf(out + n, room - n, ", axis = {%g, %g, %g}", j->axis[0], j->axis[1], j->axis[2]);
        n += (size_t)snprintf(out + n, room - n, " }\n");
    }
    n += (size_t)snprintf(
        out + n, room - n,
        "return scene { talus = 1, engine = 'grid', duration = 100, fps = 100, dt_max = %g, gravity = "
        "{%.12g, %.12g, %.12g}, solver = { contact = { impacts = 'sequence' } }, bodies = list, joints = "
        "held }\n",
        s->dt, s->gravity[0], s->gravity[1], s->gravity[2]);
    return n;
}

static void talus_close(void *world_)
{
    world *w = world_;
    tl_world_close(&w->in);
    tl_free(w);
}

static talus_status talus_open(void **out, const tl_peer_scene *s, talus_error *err)
{
    world *w = TL_NEW_ZERO(world, 1);
    if (!w) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a world of %d bodies", s->count);
    write_scene(s, w->text, sizeof w->text);
    talus_status status = tl_world_text(&w->in, w->text, NULL, err);
    if (status != TALUS_OK)
        talus_close(w);
    else
        *out = w;
    return status;
}

/* A step of 10 ms as the user counts it: talus may cut it where bodies are fast. */
static talus_status talus_step(void *world_, talus_error *err)
{
    world *w = world_;
    double end = w->in.sim->state.t + w->in.scene->dt_max;
    while (w->in.sim->state.t < end - 1e-9) TL_TRY(tl_sim_step(w->in.sim, end - w->in.sim->state.t, end, err));
    return TALUS_OK;
}

static void talus_read(void *world_, int body, double x[3], double v[3])
{
    const tl_motion *m = &((world *)world_)->in.sim->state.rigid.body[body];
    x[0] = m->x.x, x[1] = m->x.y, x[2] = m->x.z;
    v[0] = m->v.x, v[1] = m->v.y, v[2] = m->v.z;
}

static void talus_turn(void *world_, int body, double q[4])
{
    const tl_quat *r = &((world *)world_)->in.sim->state.rigid.body[body].q;
    q[0] = r->w, q[1] = r->x, q[2] = r->y, q[3] = r->z;
}

const tl_peer tl_peer_talus = {"talus", "", true, always, talus_open, talus_step, talus_read, talus_turn, talus_close};

/* ---- scenes ---- */

static tl_peer_scene scene; /* of the current row */

static void begin(double angle, double friction)
{
    scene = (tl_peer_scene){.dt = DT, .friction = friction, .ground = true};
    scene.gravity[0] = G * sin(angle), scene.gravity[2] = -G * cos(angle);
}

static tl_peer_body *add(tl_peer_shape shape, double a, double b, double c, double x, double y, double z)
{
    double volume = shape == TL_PEER_BOX ? a * b * c : shape == TL_PEER_BALL ? 4 * PI / 3 * a * a * a : PI * a * a * b;
    tl_peer_body *o = &scene.body[scene.count++];
    *o = (tl_peer_body){shape, {a, b, c}, DENSITY * volume, {x, y, z}, {1, 0, 0, 0}, {0}, {0}};
    return o;
}

typedef struct result {
    double value, ms;
} result;

/* The largest of all steps, of `seconds`. */
static talus_status watch(const tl_peer *p, double seconds, double (*measure)(const tl_peer *, void *, double),
                          result *out, talus_error *err)
{
    void *w;
    TL_TRY(p->open(&w, &scene, err));
    talus_status status = TALUS_OK;
    const int steps = (int)(seconds / DT + 0.5);
    *out = (result){0, 0};
    for (int k = 0; k < steps && status == TALUS_OK; k++) {
        const double began = tl_cpu_seconds();
        status = p->step(w, err);
        out->ms += 1e3 * (tl_cpu_seconds() - began) / steps;
        const double now = fabs(measure(p, w, (k + 1) * DT));
        if (!(now <= out->value)) out->value = now;
    }
    p->close(w);
    return status;
}

/* Steps of `seconds`; where: [count][3] at the start. */
static talus_status run(const tl_peer *p, double seconds, double (*measure)(const tl_peer *, void *, double),
                        result *out, talus_error *err)
{
    void *w;
    TL_TRY(p->open(&w, &scene, err));
    talus_status status = TALUS_OK;
    int steps = (int)(seconds / DT + 0.5);
    double began = tl_cpu_seconds();
    for (int k = 0; k < steps && status == TALUS_OK; k++) status = p->step(w, err);
    out->ms = 1e3 * (tl_cpu_seconds() - began) / steps;
    out->value = measure(p, w, seconds);
    p->close(w);
    return status;
}

static double moved(const tl_peer *p, void *w, int body, int axis)
{
    double x[3], v[3];
    p->read(w, body, x, v);
    return x[axis] - scene.body[body].x[axis];
}

static double slide_mm(const tl_peer *p, void *w, double t) { return (void)t, 1e3 * moved(p, w, 0, 0); }
static double creep_um(const tl_peer *p, void *w, double t) { return 1e6 * moved(p, w, 0, 0) / t; }
static double sag_mm(const tl_peer *p, void *w, double t) { return (void)t, -1e3 * moved(p, w, scene.count - 1, 2); }
static double speed_percent(const tl_peer *p, void *w, double t)
{
    double x[3], v[3];
    (void)t;
    p->read(w, 0, x, v);
    return 100 * (v[0] / scene.body[0].v[0] - 1);
}
static double last_speed(const tl_peer *p, void *w, double t)
{
    double x[3], v[3];
    (void)t;
    p->read(w, scene.count - 1, x, v);
    return v[0];
}
static double rms_mm(const tl_peer *p, void *w, double t)
{
    double x[3], v[3], sum = 0;
    (void)t;
    for (int i = 0; i < scene.count; i++) {
        p->read(w, i, x, v);
        sum += v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    }
    return 1e3 * sqrt(sum / scene.count);
}

/* Angle from which on a brick slides, by halving: one that has gone 2 mm in a second does. */
static talus_status threshold(const tl_peer *p, result *out, talus_error *err)
{
    double low = 15, high = 40, ms = 0;
    for (int k = 0; k < 11; k++) {
        double angle = (low + high) / 2;
        begin(angle * PI / 180, 0.5);
        add(TL_PEER_BOX, 0.2, 0.2, 0.1, 0, 0, 0.05);
        TL_TRY(run(p, 1, slide_mm, out, err));
        ms += out->ms / 11;
        *(out->value > 2 ? &high : &low) = angle;
    }
    *out = (result){100 * (tan((low + high) / 2 * PI / 180) / 0.5 - 1), ms};
    return TALUS_OK;
}

static talus_status creep(const tl_peer *p, result *out, talus_error *err)
{
    begin(atan(0.25), 0.5);
    add(TL_PEER_BOX, 0.2, 0.2, 0.1, 0, 0, 0.05);
    return run(p, 5, creep_um, out, err);
}

static talus_status stack(const tl_peer *p, result *out, talus_error *err)
{
    begin(0, 0.5);
    for (int i = 0; i < 10; i++) add(TL_PEER_BOX, 0.2, 0.2, 0.2, 0, 0, 0.1 + 0.2 * i);
    return run(p, 5, sag_mm, out, err);
}

static talus_status ratio(const tl_peer *p, result *out, talus_error *err)
{
    begin(0, 0.5);
    add(TL_PEER_BOX, 0.1, 0.1, 0.1, 0, 0, 0.05);
    add(TL_PEER_BOX, 0.2, 0.2, 0.2, 0, 0, 0.2)->mass = 1000;
    return run(p, 5, sag_mm, out, err);
}

/* Two cards that lean at 25 degrees; they stand down to mu = 0.223. */
static talus_status cards(const tl_peer *p, result *out, talus_error *err)
{
    const double a = 25 * PI / 180, length = 1, thick = 0.02;
    begin(0, 0.5);
    for (int side = -1; side <= 1; side += 2) {
        tl_peer_body *b = add(TL_PEER_BOX, thick, 0.6, length, side * (length * sin(a) + thick * cos(a)) / 2, 0,
                              (length * cos(a) + thick * sin(a)) / 2);
        b->q[0] = cos(a / 2), b->q[2] = -side * sin(a / 2);
    }
    return run(p, 3, sag_mm, out, err);
}

static talus_status wheel(const tl_peer *p, result *out, talus_error *err)
{
    begin(0, 0.5);
    tl_peer_body *b = add(TL_PEER_CYLINDER, 0.1, 0.05, 0, 0, 0, 0.1);
    b->v[0] = 2, b->w[1] = 20;
    return run(p, 2, speed_percent, out, err);
}

static talus_status cradle(const tl_peer *p, result *out, talus_error *err)
{
    scene = (tl_peer_scene){.dt = DT, .restitution = 1};
    for (int i = 0; i < 5; i++) add(TL_PEER_BALL, 0.05, 0, 0, 0.1 * i + (i == 0 ? -0.05 : 0), 0, 0);
    scene.body[0].v[0] = 1;
    return run(p, 0.3, last_speed, out, err);
}

static talus_status pour(const tl_peer *p, result *out, talus_error *err)
{
    begin(0, 0.5);
    scene.bin = 0.3;
    uint32_t seed = 7;
    for (int i = 0; i < 96; i++) {
        double r[4];
        for (int k = 0; k < 4; k++) r[k] = (double)((seed = seed * 1664525u + 1013904223u) >> 8) / (1 << 24);
        tl_peer_body *b =
            add((tl_peer_shape)(i % 3), i % 3 == TL_PEER_BOX ? 0.05 + 0.04 * r[0] : 0.03 + 0.015 * r[0],
                0.05 + 0.03 * r[1], 0.07, (i % 4 - 1.5) * 0.14, (i / 4 % 4 - 1.5) * 0.14, 0.1 + 0.14 * (i / 16));
        double turn = PI * r[2];
        b->q[0] = cos(turn / 2), b->q[1 + i % 2] = sin(turn / 2);
    }
    return run(p, 3, rms_mm, out, err);
}

/* ---- joints ---- */

static tl_peer_joint *join(int a, int b, double x, double y, double z)
{
    tl_peer_joint *j = &scene.joint[scene.joints++];
    *j = (tl_peer_joint){.a = a, .b = b, .at = {x, y, z}};
    return j;
}

static void place_of(const tl_peer *p, void *w, int body, const double at[3], double out[3])
{
    if (body < 0) {
        memcpy(out, at, 3 * sizeof *out);
        return;
    }
    double x[3], v[3], q[4];
    p->read(w, body, x, v);
    p->turn(w, body, q);
    const tl_vec3 r = tl_quat_rotate((tl_quat){q[0], q[1], q[2], q[3]},
                                     tl_vec3_sub(tl_vec3_load(at), tl_vec3_load(scene.body[body].x)));
    tl_vec3_store(tl_vec3_add(tl_vec3_load(x), r), out);
}

/* How far the places that a joint holds together are apart, the worst of all. */
static double apart_mm(const tl_peer *p, void *w, double t)
{
    double worst = 0;
    (void)t;
    for (int k = 0; k < scene.joints; k++) {
        double a[3], b[3];
        place_of(p, w, scene.joint[k].a, scene.joint[k].at, a);
        place_of(p, w, scene.joint[k].b, scene.joint[k].at, b);
        worst = fmax(worst, 1e3 * tl_vec3_norm(tl_vec3_sub(tl_vec3_load(a), tl_vec3_load(b))));
    }
    return worst;
}

/* A rod of 1 kg and 1 m, on a hinge at its end that is the origin, from horizontal. */
static void hang_rod(void)
{
    scene = (tl_peer_scene){.dt = DT, .friction = 0.5};
    scene.gravity[2] = -G;
    add(TL_PEER_BOX, 1, 0.05, 0.05, 0.5, 0, 0)->mass = 1;
    tl_peer_joint *j = join(0, -1, 0, 0, 0);
    j->hinge = true, j->axis[1] = 1;
}

/* Of the fall to the lowest place: its centre goes about the hinge. */
static double energy_percent(const tl_peer *p, void *w, double t)
{
    double x[3], v[3];
    const double inertia = (1 + 0.0025) / 12, fall = G * 0.5;
    (void)t;
    p->read(w, 0, x, v);
    return 100 / fall * (0.5 * (1 + inertia / 0.25) * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + G * x[2]);
}

static talus_status rod_off(const tl_peer *p, result *out, talus_error *err)
{
    hang_rod();
    return watch(p, 10, apart_mm, out, err);
}

static talus_status rod_energy(const tl_peer *p, result *out, talus_error *err)
{
    hang_rod();
    return run(p, 10, energy_percent, out, err);
}

/* Ten rods on balls, from horizontal. */
static talus_status chain_off(const tl_peer *p, result *out, talus_error *err)
{
    scene = (tl_peer_scene){.dt = DT, .friction = 0.5};
    scene.gravity[2] = -G;
    for (int i = 0; i < 10; i++) {
        add(TL_PEER_BOX, 0.18, 0.03, 0.03, 0.2 * i + 0.1, 0, 0);
        join(i, i - 1, 0.2 * i, 0, 0);
    }
    return watch(p, 3, apart_mm, out, err);
}

/* 10 kg on three links of 1 g, at rest. */
static talus_status light_links(const tl_peer *p, result *out, talus_error *err)
{
    scene = (tl_peer_scene){.dt = DT, .friction = 0.5};
    scene.gravity[2] = -G;
    for (int i = 0; i < 3; i++) {
        add(TL_PEER_BOX, 0.03, 0.03, 0.18, 0, 0, -0.2 * i - 0.1)->mass = 0.001;
        join(i, i - 1, 0, 0, -0.2 * i);
    }
    add(TL_PEER_BOX, 0.2, 0.2, 0.2, 0, 0, -0.7)->mass = 10;
    join(3, 2, 0, 0, -0.6);
    return watch(p, 3, apart_mm, out, err);
}

typedef struct row {
    const char *name, *right;
    talus_status (*go)(const tl_peer *p, result *out, talus_error *err);
    bool bounces; /* needs a coefficient of restitution */
} row;

static const row rows[] = {
    {"slide: threshold of mu 0.5, error %", "0", threshold, false},
    {"creep at half of it, um/s", "0", creep, false},
    {"stack of 10: sag mm", "0", stack, false},
    {"1000 kg on 1 kg: sag mm", "0", ratio, false},
    {"two leaning cards: sag mm", "0", cards, false},
    {"wheel 2 m/s, 2 s: change %", "0", wheel, false},
    {"cradle: speed of the last", "1", cradle, true},
    {"pour of 96, 3 s: speed mm/s", "0", pour, false},
    {"rod on a hinge, 10 s: joint off mm", "0", rod_off, false},
    {"rod on a hinge, 10 s: energy %", "0", rod_energy, false},
    {"chain of ten on balls, 3 s: off mm", "0", chain_off, false},
    {"10 kg on links of 1 g, 3 s: off mm", "0", light_links, false},
};

static talus_status run_peers(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const tl_peer *const peers[] = {&tl_peer_talus, &tl_peer_bullet, &tl_peer_ode, &tl_peer_mujoco};
    enum { PEERS = sizeof peers / sizeof *peers };
    bool there[PEERS];
    if (o->problem && !strcmp(o->problem, "dam")) return tl_peers_dam(o, t, err);
    tl_threads_set(1);
    tl_table_cell(t, "scene");
    tl_table_cell(t, "right");
    for (int k = 0; k < PEERS; k++) {
        there[k] = peers[k]->load();
        if (!there[k])
            tl_table_line(t, TALUS_ROW_NOTE, "%s is not here: install %s and build again", peers[k]->name,
                          peers[k]->package);
        else
            tl_table_cell(t, "%s", peers[k]->name);
    }
    for (int k = 0; k < PEERS; k++)
        if (there[k]) tl_table_cell(t, "%s ms", peers[k]->name);
    tl_table_send(t, TALUS_ROW_HEADER);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !t->stopped; i++) {
        if (o->problem && !strstr(rows[i].name, o->problem)) continue;
        result out[PEERS];
        tl_table_cell(t, "%s", rows[i].name);
        tl_table_cell(t, "%s", rows[i].right);
        for (int k = 0; k < PEERS; k++) {
            bool skip = rows[i].bounces && !peers[k]->bounces;
            out[k] = (result){NAN, NAN};
            if (there[k] && !skip) TL_TRY(rows[i].go(peers[k], &out[k], err));
            if (there[k]) tl_table_cell(t, skip ? "-" : "%.3g", out[k].value);
        }
        for (int k = 0; k < PEERS; k++)
            if (there[k]) tl_table_cell(t, isnan(out[k].ms) ? "-" : "%.3f", out[k].ms);
        tl_table_send(t, TALUS_ROW_DATA);
    }
    tl_table_line(
        t, TALUS_ROW_NOTE,
        "Steps of 10 ms, one thread, processor time. Bullet: sequential impulses, nothing sleeps. ODE: dWorldStep to "
        "40 bodies, dWorldQuickStep above.");
    return TALUS_OK;
}

const tl_bench tl_bench_peers = {
    "peers",
    "rigid bodies beside Bullet, ODE and MuJoCo, where they are installed; --problem dam: water beside Mantaflow",
    run_peers};
