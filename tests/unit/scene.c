#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/timer.h"
#include "scene/load.h"
#include "scene/schema.h"
#include "solve/boxqp/method.h"
#include "solve/cone/method.h"
#include "solve/contact/method.h"
#include "solve/coupled/method.h"
#include "solve/fixedpoint/method.h"
#include "solve/linear/method.h"
#include "solve/precond/precond.h"
#include "solve/pressure/method.h"
#include "tempdir.h"

static talus_error err;

typedef struct told {
    int errors, notes;
    char first[400];
    int first_line;
} told;

static void hear(void *user, const char *file, int line, bool note, const char *text)
{
    told *t = user;
    (void)file;
    if (note)
        t->notes++;
    else
        t->errors++;
    if (!note && t->errors == 1) {
        snprintf(t->first, sizeof t->first, "%s", text);
        t->first_line = line;
    }
}

static tl_scene *load_with(const char *text, const tl_load_options *o)
{
    tl_scene *s;
    CHECK_OK(tl_scene_load_text(&s, "test.lua", text, strlen(text), o, &err));
    return s;
}
static tl_scene *load(const char *text) { return load_with(text, NULL); }

static void check_vec(tl_vec3 v, double x, double y, double z)
{
    CHECK_NEAR(v.x, x, 1e-15 + 1e-15 * fabs(x));
    CHECK_NEAR(v.y, y, 1e-15 + 1e-15 * fabs(y));
    CHECK_NEAR(v.z, z, 1e-15 + 1e-15 * fabs(z));
}

/* The example of the design, read as it stands there. */
static void example_has_its_values(void **state)
{
    (void)state;
    tl_scene *s = load(
        "local sand = granular { density = 1600, friction_angle_deg = 30 }\n"
        "return scene {\n"
        "  talus = 1, engine = 'grid', duration = 2.0, fps = 50, gravity = {0, -9.81, 0},\n"
        "  grid = { cells = {64, 32, 16}, cell = 1/64, cfl = 2, periodic = {false, false, true}, origin = {1, 2, 3} "
        "},\n"
        "  fill = { { material = sand, shape = hemisphere { center = {1.5, 2, 3.1}, radius = 0.2 } } },\n"
        "  bodies = {\n"
        "    { name = 'board', shape = box { size = {0.3, 0.03, 0.2} }, at = {1.5, 2.4, 3.1}, density = 500, friction "
        "= 0.25 },\n"
        "    { name = 'drum', shape = torus { radius = 0.3, tube = 0.05 }, at = {1, 2, 3},\n"
        "      motion = function(t) return { rotation_rad = {0, 0, 1.5*t} } end },\n"
        "  },\n"
        "  solver = { scheme = 't-f-p-n', stress = 'staggered', cone = 'pyramid', tolerance = 1e-5,\n"
        "             pressure = { method = 'cg-mic', iterations = 70 }, friction = 'jcsp' "
        "},\n"
        "}\n");
    assert_int_equal(s->version, 1);
    assert_int_equal(s->engine, TL_ENGINE_GRID);
    CHECK_NEAR(s->duration, 2, 0);
    CHECK_NEAR(s->fps, 50, 0);
    check_vec(s->gravity, 0, -9.81, 0);
    assert_int_equal(s->seed, 1);
    assert_int_equal(s->grid.cells[0] * 10000 + s->grid.cells[1] * 100 + s->grid.cells[2], 643216);
    CHECK_NEAR(s->grid.cell, 1.0 / 64, 0);
    assert_false(s->grid.periodic[0]);
    assert_true(s->grid.periodic[2]);
    assert_true(s->domain.bounded);
    check_vec(s->domain.box.lo, 1, 2, 3);
    check_vec(s->domain.box.hi, 2, 2.5, 3.25);
    assert_int_equal(s->domain.wall[3], TL_WALL_CLOSED);

    assert_int_equal(s->material_count, 1);
    assert_int_equal(s->materials[0].kind, TL_MATERIAL_GRANULAR);
    CHECK_NEAR(s->materials[0].density, 1600, 0);
    CHECK_NEAR(s->materials[0].friction_angle_deg, 30, 0);
    CHECK_NEAR(s->materials[0].opacity, 1, 0);
    assert_int_equal(s->fill_count, 1);
    assert_int_equal(s->fills[0].material, 0);
    assert_int_equal(s->fills[0].where.line, 5);
    CHECK_NEAR(tl_shape_distance(s->shapes, s->fills[0].shape, (tl_vec3){1.5, 2.3, 3.1}), 0.1, 1e-12);

    assert_int_equal(s->body_count, 2);
    const tl_body *b = &s->bodies[0];
    assert_string_equal(b->name, "board");
    assert_int_equal(b->kind, TL_BODY_FREE);
    assert_int_equal(b->material, -1);
    assert_int_equal(b->motion, TL_NO_FUNCTION);
    assert_int_equal(b->friction.function, TL_NO_FUNCTION);
    CHECK_NEAR(b->friction.value[0], 0.25, 0);
    CHECK_NEAR(b->density, 500, 0);
    CHECK_NEAR(b->mass, 0, 0);
    check_vec(b->at, 1.5, 2.4, 3.1);
    CHECK_NEAR(b->rotation.w, 1, 0);
    tl_box3 bounds = tl_shape_bounds(s->shapes, b->shape);
    CHECK_NEAR(bounds.hi.x, 0.15, 1e-12); /* sizes are full edges */
    assert_int_equal(b->where.line, 7);
    assert_int_equal(s->bodies[1].kind, TL_BODY_KINEMATIC);
    assert_int_equal(s->function_count, 1);

    assert_string_equal(s->solver.scheme, "t-f-p-n");
    assert_int_equal(s->solver.stress, TL_STRESS_STAGGERED);
    assert_int_equal(s->solver.cone, TL_CONE_PYRAMID);
    CHECK_NEAR(s->solver.tolerance, 1e-5, 0);
    assert_string_equal(s->solver.pressure.method, "cg-mic");
    assert_int_equal(s->solver.pressure.iterations, 70);
    assert_string_equal(s->solver.friction.method, "jcsp"); /* a bare text is the method */
    assert_string_equal(s->solver.contact.method, "");
    assert_int_equal(s->solver.on_unconverged, TL_UNCONVERGED_ACCEPT);
    assert_false(s->camera.given);
    assert_int_equal(s->render.width, 1280);
    assert_true(s->output.frames);
    tl_scene_free(s);
}

static const char one_body[] =
    "return scene { talus = 1, engine = 'lg', duration = 1, bodies = { { shape = sphere { radius = 1 }, %s } } }";

static tl_scene *body_scene(const char *keys)
{
    char text[2000];
    snprintf(text, sizeof text, one_body, keys);
    return load(text);
}

/* The x axis goes where a rotation takes it; each form of the same turn agrees. */
static void rotations_agree(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "density = 1, rotation_deg = {0, 0, 90}",
        "density = 1, rotation_rad = {0, 0, math.pi / 2}",
        "density = 1, rotation = {math.sqrt(0.5), 0, 0, math.sqrt(0.5)}",
        "density = 1, rotation = { axis = {0, 0, 3}, angle_deg = 90 }",
        "density = 1, rotation = { axis = {0, 0, 1}, angle_rad = math.pi / 2 }",
    };
    for (int i = 0; i < 5; i++) {
        tl_scene *s = body_scene(forms[i]);
        tl_vec3 x = tl_quat_rotate(s->bodies[0].rotation, (tl_vec3){1, 0, 0});
        CHECK_NEAR(x.x, 0, 1e-15);
        CHECK_NEAR(x.y, 1, 1e-15);
        tl_scene_free(s);
    }
    /* about x first, then y, axes of the world: z goes to -y, which y leaves */
    tl_scene *s = body_scene("density = 1, rotation_deg = {90, 90, 0}");
    tl_vec3 z = tl_quat_rotate(s->bodies[0].rotation, (tl_vec3){0, 0, 1});
    CHECK_NEAR(z.y, -1, 1e-15);
    tl_scene_free(s);
}

static void body_takes_what_its_material_has(void **state)
{
    (void)state;
    tl_scene *s = load("local m = solid { name = 'oak', density = 700, friction = 0.3, restitution = 0.2, colour = "
                       "'#336699', opacity = 0.5 }\n"
                       "local ball = sphere { radius = 1 }\n"
                       "return scene { talus = 1, engine = 'lg', duration = 1, bodies = {\n"
                       "  { shape = ball, material = m }, { shape = ball, material = m, density = 1, friction = 0.9, "
                       "colour = {1, 0, 0} },\n"
                       "  { shape = ball, mass = 3 }, { shape = plane {}, kind = 'static' } } }\n");
    const tl_body *b = s->bodies;
    CHECK_NEAR(b[0].density, 700, 0);
    CHECK_NEAR(b[0].friction.value[0], 0.3, 0);
    CHECK_NEAR(b[0].restitution, 0.2, 0);
    check_vec(b[0].colour, 0.2, 0.4, 0.6);
    CHECK_NEAR(b[0].opacity, 0.5, 0);
    CHECK_NEAR(b[1].density, 1, 0);
    CHECK_NEAR(b[1].friction.value[0], 0.9, 0);
    check_vec(b[1].colour, 1, 0, 0);
    CHECK_NEAR(b[2].mass, 3, 0);
    CHECK_NEAR(b[2].density, 0, 0);
    CHECK_NEAR(b[2].friction.value[0], 0.5, 0);
    assert_string_equal(b[2].name, "body 3");
    assert_int_equal(b[3].kind, TL_BODY_STATIC);
    tl_scene_free(s);
}

static void pairs_follow_the_rule(void **state)
{
    (void)state;
    tl_scene *s =
        load("local ball = sphere { radius = 1 }\n"
             "local ice, steel = preset 'ice', preset 'steel'\n"
             "return scene { talus = 1, engine = 'lg', duration = 1, bodies = {\n"
             "  { name = 'a', shape = ball, density = 1, friction = 0.4, restitution = 0.1 }, { name = 'b', shape = "
             "ball, density = 1, friction = 0.9, restitution = 0.3 },\n"
             "  { name = 'c', shape = ball, material = ice }, { name = 'd', shape = ball, material = steel } },\n"
             "  contacts = { { between = {'steel', 'ice'}, friction = 0.02 }, { between = {'walls', 'a'}, restitution "
             "= 1 }, { between = {'c', 'd'}, restitution = 0.7 } } }\n");
    double mu, e;
    tl_scene_pair(s, 0, 1, (double[]){0.4, 0.9}, &mu, &e);
    CHECK_NEAR(mu, 0.6, 1e-15);
    CHECK_NEAR(e, 0.3, 0);
    tl_scene_pair(s, 3, 2, (double[]){0.6, 0.05}, &mu, &e);
    CHECK_NEAR(mu, 0.02, 0);
    CHECK_NEAR(e, 0.7, 0); /* a later entry by body name adds to one by material */
    tl_scene_pair(s, 0, -1, (double[]){0.4, 0}, &mu, &e);
    CHECK_NEAR(mu, 0, 0); /* the frictionless one wins */
    CHECK_NEAR(e, 1, 0);
    tl_scene_free(s);
}

static void functions_of_time(void **state)
{
    (void)state;
    tl_scene *s = body_scene("at = {1, 2, 3}, rotation_deg = {0, 0, 90}, friction = function(t) return 0.1 + t end, "
                             "motion = function(t) return { at = {t, 0, 0} } end");
    double pose[7], mu = -1;
    CHECK_OK(tl_scene_evaluate(s, s->bodies[0].motion, 0.25, pose, 7, &err));
    CHECK_NEAR(pose[0], 0.25, 0);
    CHECK_NEAR(pose[1], 0, 0);
    CHECK_NEAR(pose[3], sqrt(0.5), 1e-15); /* left out: as the body has it */
    CHECK_NEAR(pose[6], sqrt(0.5), 1e-15);
    CHECK_OK(tl_scene_timed(s, &s->bodies[0].friction, 0.5, &mu, 1, &err));
    CHECK_NEAR(mu, 0.6, 1e-15);
    CHECK_OK(tl_scene_timed(s, &s->bodies[0].force, 0.5, pose, 3, &err));
    CHECK_NEAR(pose[1], 0, 0);
    /* wrong number of values, no such function */
    assert_int_equal(tl_scene_evaluate(s, s->bodies[0].motion, 0, pose, 3, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_scene_evaluate(s, 99, 0, pose, 3, &err), TALUS_BAD_INPUT);
    /* out of range later than the check looked: the place, the key and the time */
    assert_int_equal(tl_scene_timed(s, &s->bodies[0].friction, 500, &mu, 1, &err), TALUS_BAD_INPUT);
    assert_string_equal(err.message, "test.lua:1: bodies[1].friction(500) must be from 0 to 100, got 500.1");
    CHECK_NEAR(mu, 0.6, 1e-15);
    /* and good again afterwards */
    CHECK_OK(tl_scene_timed(s, &s->bodies[0].friction, 0, &mu, 1, &err));
    CHECK_NEAR(mu, 0.1, 1e-15);
    tl_scene_free(s);
}

/* A function that goes wrong only at late times is stopped by its limits, again and again. */
static void late_functions_are_stopped(void **state)
{
    (void)state;
    tl_scene *s = body_scene("motion = function(t) while t > 5 do end return {} end");
    double pose[7];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tl_scene_evaluate(s, 0, 6, pose, 7, &err), TALUS_BAD_INPUT);
        assert_non_null(strstr(err.message, "bodies[1].motion(6): the script did not end"));
        CHECK_OK(tl_scene_evaluate(s, 0, 1, pose, 7, &err));
    }
    tl_scene_free(s);
}

/* Fills and emitters end at the domain, unbounded ones too. */
static void fills_are_cut_off_at_the_domain(void **state)
{
    (void)state;
    tl_scene *s =
        load("local w = preset 'water'\n"
             "return scene { talus = 1, engine = 'grid', duration = 1, grid = { cells = {8, 8, 8}, cell = 0.25 },\n"
             "  fill = { { material = w, shape = half_space { normal = {1, 0, 0}, point = {0.5, 0, 0} } },\n"
             "           { material = w, shape = box { size = 10 } }, { material = w, shape = sphere { radius = 0.5, "
             "center = {1, 1, 1} } } },\n"
             "  emitters = { { material = w, rate = 1, shape = plane { height = 0.25 } } } }\n");
    const double volume[4] = {0.5 * 2 * 2, 8, 4 * 3.14159265358979 / 3 * 0.125, 0.25 * 2 * 2};
    for (int i = 0; i < 4; i++) {
        int shape = i < 3 ? s->fills[i].shape : s->emitters[0].shape;
        tl_mass mass;
        assert_true(tl_shape_bounded(s->shapes, shape));
        CHECK_OK(tl_shape_mass(s->shapes, shape, 96, &mass, &err));
        CHECK_NEAR(mass.volume, volume[i], 1e-3 * volume[i]);
    }
    tl_scene_free(s);
}

static void settings_change_keys_and_parameters(void **state)
{
    (void)state;
    static const char text[] =
        "local p = params { height = 0.3, wet = false, name = 'x', v = {1, 2, 3} }\n"
        "local m = solid { density = 10 }\n"
        "return scene { talus = 1, engine = 'lg', duration = 1, title = p.name .. tostring(p.wet), bodies = {\n"
        "  { name = 'a', shape = box { size = 1 }, material = m, at = {0, p.height, p.v[3]} }, { shape = box { size = "
        "1 }, density = 1 } } }\n";
    const char *set[] = {"height=0.5",
                         "wet=true",
                         "name=12",
                         "v={4,5,6}",
                         "duration=3",
                         "bodies[2].density=7",
                         "bodies.a.friction=0.125",
                         "bodies[1].material.density=20",
                         "solver.tolerance=1e-6",
                         "bodies.a.at[1]=9",
                         "gravity={0, 0, -1}"};
    tl_load_options o = {.setting_count = 11, .setting = set};
    tl_scene *s = load_with(text, &o), *plain = load(text);
    assert_string_equal(plain->title, "xfalse");
    assert_string_equal(s->title, "12true");
    check_vec(plain->bodies[0].at, 0, 0.3, 3);
    check_vec(s->bodies[0].at, 9, 0.5, 6);
    CHECK_NEAR(s->duration, 3, 0);
    CHECK_NEAR(s->bodies[1].density, 7, 0);
    CHECK_NEAR(s->bodies[0].friction.value[0], 0.125, 0);
    CHECK_NEAR(s->bodies[0].density, 20, 0);
    CHECK_NEAR(s->solver.tolerance, 1e-6, 0);
    check_vec(s->gravity, 0, 0, -1);
    assert_true(s->hash != plain->hash);
    tl_scene_free(s);
    tl_scene_free(plain);

    /* of one that two bodies share, the other stays */
    const char *one[] = {"bodies[1].velocity[2]=5"};
    s = load_with("local v = {1, 2, 3}\nlocal b = sphere { radius = 1 }\n"
                  "return scene { talus = 1, engine = 'lg', duration = 1, bodies = {\n"
                  "  { shape = b, density = 1, velocity = v }, { shape = b, density = 1, velocity = v } } }\n",
                  &(tl_load_options){.setting_count = 1, .setting = one});
    check_vec(s->bodies[0].velocity, 1, 5, 3);
    check_vec(s->bodies[1].velocity, 1, 2, 3);
    tl_scene_free(s);
}

static void size_is_a_variable(void **state)
{
    (void)state;
    static const char text[] = "return scene { talus = 1, engine = 'lg', duration = size == 'paper' and 2 or 1, bodies "
                               "= { { shape = box { size = 1 }, density = 1 } } }";
    tl_load_options o = {.size = TL_SIZE_PAPER};
    tl_scene *small = load(text), *paper = load_with(text, &o);
    CHECK_NEAR(small->duration, 1, 0);
    CHECK_NEAR(paper->duration, 2, 0);
    tl_scene_free(small);
    tl_scene_free(paper);
}

static void helpers_place_bodies(void **state)
{
    (void)state;
    tl_scene *s = load("local b = { name = 'b', shape = box { size = 1 }, density = 1, at = {0, 0.5, 0} }\n"
                       "return scene { talus = 1, engine = 'lg', duration = 1, bodies = join {\n"
                       "  grid_of { count = {2, 1, 2}, spacing = {1, 2, 3}, at = {10, 0, 0}, body = b },\n"
                       "  ring_of { count = 4, radius = 2, body = function(i, at) return { name = 'r' .. i, shape = "
                       "sphere { radius = i }, density = i, at = at } end },\n"
                       "  stack_of { count = 3, step = 0.5, turn_deg = 30, body = { name = 's', shape = box { size = 1 "
                       "}, density = 1 } } } }\n");
    assert_int_equal(s->body_count, 11);
    check_vec(s->bodies[0].at, 10, 0.5, 0);
    check_vec(s->bodies[3].at, 11, 0.5, 3);
    assert_string_equal(s->bodies[3].name, "b 4");
    CHECK_NEAR(s->bodies[5].at.x, 0, 1e-15);
    CHECK_NEAR(s->bodies[5].at.z, -2, 1e-15);
    CHECK_NEAR(s->bodies[7].density, 4, 0);
    CHECK_NEAR(s->bodies[10].at.y, 1, 0);
    tl_vec3 x = tl_quat_rotate(s->bodies[10].rotation, (tl_vec3){1, 0, 0});
    CHECK_NEAR(x.x, 0.5, 1e-15); /* 60 degrees about y */
    CHECK_NEAR(x.z, -sqrt(0.75), 1e-15);
    tl_scene_free(s);
}

static void shapes_are_where_they_were_put(void **state)
{
    (void)state;
    tl_scene *s = load("local a = box { size = {2, 1, 1} }:rotate {0, 0, 90}:move {5, 0, 0}\n"
                       "local b = sphere { radius = 1 } - sphere { radius = 0.5 }\n"
                       "local c = mirror(sphere { radius = 0.5, center = {2, 0, 0} }, 'x')\n"
                       "local d = scale(sphere { radius = 1 }, 3)\n"
                       "local list = {}\n"
                       "for i, shape in ipairs { a, b, c, d } do list[i] = { shape = shape, density = 1 } end\n"
                       "return scene { talus = 1, engine = 'lg', duration = 1, bodies = list }\n");
    CHECK_NEAR(tl_shape_distance(s->shapes, s->bodies[0].shape, (tl_vec3){5, 1.5, 0}), 0.5, 1e-12);
    CHECK_NEAR(tl_shape_distance(s->shapes, s->bodies[1].shape, (tl_vec3){0.75, 0, 0}), -0.25, 1e-12);
    CHECK_NEAR(tl_shape_distance(s->shapes, s->bodies[2].shape, (tl_vec3){-3, 0, 0}), 0.5, 1e-12);
    CHECK_NEAR(tl_shape_distance(s->shapes, s->bodies[3].shape, (tl_vec3){0, 4, 0}), 1, 1e-12);
    tl_scene_free(s);
}

/* Same text, same scene, whatever Lua's hash seed and addresses are: order of pairs, random numbers, sorting. */
static void reading_repeats(void **state)
{
    (void)state;
    static const char text[] = "local list, t = {}, {}\n"
                               "for i = 1, 50 do t['k' .. i * 37 % 101] = math.random() end\n"
                               "for k, v in pairs(t) do list[#list + 1] = { name = k, shape = sphere { radius = 1 + v "
                               "}, density = math.random(10), at = {v, 0, 0} } end\n"
                               "table.sort(list, function(a, b) return a.density < b.density end)\n"
                               "return scene { talus = 1, engine = 'lg', duration = 1, title = tostring({}) .. "
                               "tostring(print), bodies = list }\n";
    tl_scene *a = load(text);
    for (int k = 0; k < 5; k++) {
        tl_scene *b = load(text);
        assert_string_equal(a->title, "tablefunction");
        for (int i = 0; i < a->body_count; i++) {
            assert_string_equal(a->bodies[i].name, b->bodies[i].name);
            assert_memory_equal(&a->bodies[i].at, &b->bodies[i].at, sizeof(tl_vec3));
            assert_true(i == 0 || a->bodies[i - 1].density <= a->bodies[i].density);
        }
        tl_scene_free(b);
    }
    tl_scene_free(a);
}

/* A tower of 600 blocks, each with tables, text and maths of its own: under a second, with room to spare. */
static void tower_of_600_is_quick(void **state)
{
    (void)state;
    static const char text[] =
        "local list = {}\n"
        "for i = 1, 600 do\n"
        "  local a = i * 0.3\n"
        "  list[i] = { name = string.format('block %d', i), shape = box { size = {0.1, 0.05, 0.2}, round = 0.002 },\n"
        "    at = {math.cos(a), i * 0.05, math.sin(a)}, rotation_deg = {0, 10 * i, 0}, density = 500 + i % 3, friction "
        "= 0.5,\n"
        "    colour = {0.5 + 0.4 * math.sin(a), 0.5, 0.5} }\n"
        "end\n"
        "return scene { talus = 1, engine = 'lg', duration = 1, bodies = list }\n";
    double start = tl_cpu_seconds();
    tl_scene *s = load(text);
    double took = tl_cpu_seconds() - start;
    assert_int_equal(s->body_count, 600);
    CHECK_LE(took, 1.0);
    tl_scene_free(s);
}

static void friction_on_sand_is_noted(void **state)
{
    (void)state;
    told t = {0};
    tl_load_options o = {.problem = hear, .problem_user = &t};
    tl_scene *s = load_with(
        "return scene { talus = 1, engine = 'grid', duration = 1, grid = { cells = {8, 8, 8}, cell = 0.1 },\n"
        "  fill = { { material = preset 'dry sand', shape = box { size = 0.2, center = {0.4, 0.4, 0.4} } } },\n"
        "  bodies = { { shape = box { size = 0.1 }, at = {0.4, 0.7, 0.4}, density = 1, friction = 0.3 } } }\n",
        &o);
    assert_int_equal(t.notes, 1);
    assert_int_equal(t.errors, 0);
    tl_scene_free(s);
}

/* Meshes and shape files: below the scene's folder, links followed before the decision. */
static void files_stay_in_their_folder(void **state)
{
    (void)state;
    char folder[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 64], inside[TL_TEMPDIR_MAX + 64];
    tl_tempdir_create(folder);
    static const struct {
        const char *name, *text;
    } files[] = {
        {"tetra.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"},
        {"ball.lua", "return sphere { radius = 0.5 }"},
        {"cycle.lua", "return shape_file 'cycle'"},
        {"good.lua", "local b = shape_file 'ball' assert(b == shape_file 'ball')\n"
                     "return scene { talus = 1, engine = 'lg', duration = 1, bodies = { { shape = mesh { file = "
                     "'tetra.obj', scale = 2 }, density = 1 }, { shape = b, density = 1 } } }"},
        {"bad.lua", "\n\nreturn scene { talus = 1, engine = 'lg', duration = 1, bodies = { { shape = shape_file "
                    "'cycle', density = 1 } } }"},
        {"link.lua", "return scene { talus = 1, engine = 'lg', duration = 1, bodies = { { shape = mesh { file = "
                     "'passwd' }, density = 1 } } }"},
        {"many.lua",
         "local b = {} for k = 1, 100 do b[k] = { shape = mesh { file = 'tetra.obj', scale = k }, density = "
         "1, at = {200 * k, 0, 0} } end return scene { talus = 1, engine = 'lg', duration = 1, bodies = b }"},
    };
    for (int i = 0; i < 7; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        fputs(files[i].text, f);
        fclose(f);
    }
    tl_scene *s;
    snprintf(path, sizeof path, "%s/good.lua", folder);
    CHECK_OK(tl_scene_load(&s, path, NULL, &err));
    tl_box3 box = tl_shape_bounds(s->shapes, s->bodies[0].shape);
    CHECK_NEAR(box.hi.x, 2, 1e-12);
    CHECK_NEAR(tl_shape_distance(s->shapes, s->bodies[1].shape, (tl_vec3){1, 0, 0}), 0.5, 1e-12);
    tl_scene_free(s);

    /* one file, prepared once, in shapes of their own: the limit of 64 counts files */
    snprintf(path, sizeof path, "%s/many.lua", folder);
    CHECK_OK(tl_scene_load(&s, path, NULL, &err));
    for (int i = 0; i < 100; i++) CHECK_NEAR(tl_shape_bounds(s->shapes, s->bodies[i].shape).hi.x, i + 1, 1e-12);
    tl_scene_free(s);

    snprintf(path, sizeof path, "%s/bad.lua", folder);
    assert_int_equal(tl_scene_load(&s, path, NULL, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "cycle.lua:1: shape_file: 'cycle' reads itself"));

    snprintf(inside, sizeof inside, "%s/passwd", folder);
    assert_int_equal(symlink("/etc/passwd", inside), 0);
    snprintf(path, sizeof path, "%s/link.lua", folder);
    assert_int_equal(tl_scene_load(&s, path, NULL, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "link.lua:1: mesh: "));
    assert_non_null(strstr(err.message, "lies outside of the folder"));

    /* a file that is a shape, and one that is not there */
    snprintf(path, sizeof path, "%s/ball.lua", folder);
    tl_load_options shape = {.shape_only = true};
    CHECK_OK(tl_scene_load(&s, path, &shape, &err));
    CHECK_NEAR(tl_shape_distance(s->shapes, s->root, (tl_vec3){0, 2, 0}), 1.5, 1e-12);
    tl_scene_free(s);
    assert_int_equal(tl_scene_load(&s, "no/such/scene.lua", NULL, &err), TALUS_IO);
    tl_tempdir_remove(folder);
}

/* Lines of entries, whatever is around them in the text. */
static void lines_are_right(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *body;
    } cases[] = {
        {3, "{ shape = sphere { radius = 1 },\n\n mass = -1 }"},
        {2, "{ shape = sphere { radius = 1 }, -- mass = 1,\n mass = -1 }"},
        {5, "{ --[[ a\n { mass = 2 }\n ]] shape = sphere { radius = 1 },\n name = [[\n]], mass = -1 }"},
        {3, "{ shape = sphere { radius = 1 }, name = 'a\\\n{', \n mass = -1 }"},
        {4, "{ shape = sphere { radius = 1 }, force = function(t) local mass, x = 1, 2; if x then\n mass = 3 end\n "
            "return { mass, x, 1 } end,\n mass = -1 }"},
        {2, "{ shape = sphere { radius = 1 },\n ['mass'] = -1 }"},
        {3, "{ shape = sphere { radius = 1 },\n at = { 1, 2, (function(a, b) return a end)(1, 2) },\n mass = -1; }"},
        {1, "{ mass = -1, shape = sphere { radius = 0x10 - 1e-1 } }"},
    };
    for (int i = 0; i < 8; i++) {
        char text[2000];
        told t = {0};
        tl_load_options o = {.problem = hear, .problem_user = &t};
        tl_scene *s;
        snprintf(text, sizeof text,
                 "local body = %s return scene { talus = 1, engine = 'lg', duration = 1, bodies = { body } }",
                 cases[i].body);
        assert_int_equal(tl_scene_load_text(&s, "lines.lua", text, strlen(text), &o, &err), TALUS_BAD_INPUT);
        assert_int_equal(t.errors, 1);
        assert_string_equal(t.first, "bodies[1].mass must be > 0 kg, got -1");
        assert_int_equal(t.first_line, cases[i].line);
    }
}

/* Rigid bodies alone need no grid: the world is then a box of its own, or has none. */
static void rigid_scenes_need_no_grid(void **state)
{
    (void)state;
    tl_scene *s = load("return scene { talus = 1, engine = 'grid', duration = 1,\n"
                       "  bodies = { { shape = sphere { radius = 0.1 }, density = 500 } } }");
    assert_false(s->domain.bounded);
    assert_int_equal(s->grid.cells[0], 0);
    assert_string_equal(s->solver.contact.method, "");
    assert_true(s->solver.contact.slop == 0);
    tl_scene_free(s);

    s = load("return scene { talus = 1, engine = 'grid', duration = 1,\n"
             "  domain = { min = {-1, 0, -2}, max = {1, 3, 2}, y_max = 'open', friction = 0.3 },\n"
             "  solver = { contact = { method = 'pgs', tolerance = 1e-6, iterations = 40, slop = 1e-4 } },\n"
             "  bodies = { { shape = sphere { radius = 0.1 }, density = 500 } } }");
    assert_true(s->domain.bounded);
    check_vec(s->domain.box.lo, -1, 0, -2);
    check_vec(s->domain.box.hi, 1, 3, 2);
    assert_int_equal(s->domain.wall[3], TL_WALL_OPEN);
    assert_string_equal(s->solver.contact.method, "pgs");
    assert_true(s->solver.contact.tolerance == 1e-6 && s->solver.contact.slop == 1e-4);
    assert_int_equal(s->solver.contact.iterations, 40);
    tl_scene_free(s);

    s = load("return scene { talus = 1, engine = 'grid', duration = 1, solver = { contact = 'admm' },\n"
             "  grid = { cells = {8, 4, 8}, cell = 0.25 }, bodies = { { shape = sphere { radius = 0.1 }, density = 500 "
             "} } }");
    assert_true(s->domain.bounded);
    check_vec(s->domain.box.hi, 2, 1, 2);
    assert_string_equal(s->solver.contact.method, "admm");
    tl_scene_free(s);
}

/* Every method that a scene can name is one that the solvers have. */
static void method_names_exist(void **state)
{
    (void)state;
    char word[64];
    const char *words = tl_schema_key(tl_schema_find("pressure"), "method")->words;
    for (int i = 0; tl_schema_word_at(words, i, word, sizeof word); i++)
        if (!tl_pressure_method_find(word) && !tl_boxqp_method_find(word) && !tl_fixedpoint_method_find(word))
            fail_msg("no method for pressure \"%s\"", word);
    for (int i = 0; tl_schema_word_at(TL_LIQUID_PRESSURE_WORDS, i, word, sizeof word); i++)
        if (!tl_pressure_method_find(word)) fail_msg("no method for the pressure of liquids \"%s\"", word);
    for (int i = 0; tl_schema_word_at(TL_SPH_PRESSURE_WORDS, i, word, sizeof word); i++)
        if (!tl_fixedpoint_method_find(word)) fail_msg("no method for engine sph \"%s\"", word);
    for (int i = 0; tl_schema_word_at(TL_LIQUID_SCHEME_WORDS, i, word, sizeof word); i++)
        if (!tl_scheme_find(word)) fail_msg("no scheme \"%s\"", word);
    for (int i = 0; tl_schema_word_at(TL_SAND_SCHEME_WORDS, i, word, sizeof word); i++)
        if (!tl_scheme_find(word) || !strchr(word, 'f')) fail_msg("no scheme \"%s\"", word);
    words = tl_schema_key(tl_schema_find("friction"), "method")->words;
    for (int i = 0; tl_schema_word_at(words, i, word, sizeof word); i++) {
        const tl_cone_method *method = tl_cone_method_find(word);
        if (!method) fail_msg("no cone method \"%s\"", word);
        if (tl_schema_word(TL_COLOCATED_WORDS, word) < 0) fail_msg("\"%s\" is nothing for colocated stress", word);
        assert_int_equal(tl_schema_word(TL_STAGGERED_WORDS, word) >= 0, method->rule != NULL);
    }
    words = tl_schema_key(tl_schema_find("contact method"), "method")->words;
    for (int i = 0; tl_schema_word_at(words, i, word, sizeof word); i++)
        if (!tl_contact_method_find(word)) fail_msg("no contact method \"%s\"", word);
    for (int i = 0; tl_contact_method_at(i); i++)
        if (tl_schema_word(words, tl_contact_method_at(i)->name) < 0)
            fail_msg("scenes cannot name the contact method \"%s\"", tl_contact_method_at(i)->name);
    words = tl_schema_key(tl_schema_find("friction"), "precond")->words;
    for (int i = 0; tl_schema_word_at(words, i, word, sizeof word); i++)
        if (!tl_precond_find(word)) fail_msg("no preconditioner \"%s\"", word);
}

/* The table is sound: defaults are in range, words are words, help is there. */
static void schema_is_sound(void **state)
{
    (void)state;
    for (int i = 0; tl_schema_at(i); i++) {
        const tl_context *c = tl_schema_at(i);
        assert_true(c->key_count > 0 && c->key_count <= 64);
        for (int k = 0; k < c->key_count; k++) {
            const tl_key *key = &c->keys[k];
            assert_true(strlen(key->help) > 0);
            assert_true(key->offset < c->size);
            if (key->type == TL_CHOICE || key->type == TL_WORD) {
                assert_non_null(key->words);
                if (key->fallback && *key->fallback) assert_true(tl_schema_word(key->words, key->fallback) >= 0);
            }
            if (key->type == TL_NUMBER && key->fallback && *key->fallback) {
                double v = strtod(key->fallback, NULL);
                if (v < key->range.low || v > key->range.high)
                    fail_msg("%s.%s: default %s is out of range", c->name, key->name, key->fallback);
            }
            if (key->type == TL_TABLE || key->type == TL_LIST) assert_non_null(key->inside);
            for (int m = 0; m < k; m++) assert_string_not_equal(key->name, c->keys[m].name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_has_its_values),
        cmocka_unit_test(rotations_agree),
        cmocka_unit_test(body_takes_what_its_material_has),
        cmocka_unit_test(pairs_follow_the_rule),
        cmocka_unit_test(functions_of_time),
        cmocka_unit_test(late_functions_are_stopped),
        cmocka_unit_test(fills_are_cut_off_at_the_domain),
        cmocka_unit_test(settings_change_keys_and_parameters),
        cmocka_unit_test(size_is_a_variable),
        cmocka_unit_test(helpers_place_bodies),
        cmocka_unit_test(shapes_are_where_they_were_put),
        cmocka_unit_test(reading_repeats),
        cmocka_unit_test(tower_of_600_is_quick),
        cmocka_unit_test(friction_on_sand_is_noted),
        cmocka_unit_test(files_stay_in_their_folder),
        cmocka_unit_test(lines_are_right),
        cmocka_unit_test(rigid_scenes_need_no_grid),
        cmocka_unit_test(method_names_exist),
        cmocka_unit_test(schema_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
