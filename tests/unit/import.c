/* Robots from files: what URDF and MJCF say is what the scene has, and what is wrong is told with its line. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "scene/import.h"
#include "scene/load.h"
#include "tempdir.h"

static talus_error err;

typedef struct told {
    int errors, notes;
    char all[4000], first[400];
} told;

static void hear(void *user, const char *file, int line, bool note, const char *text)
{
    told *t = user;
    const char *slash = strrchr(file, '/');
    const size_t n = strlen(t->all);
    snprintf(t->all + n, sizeof t->all - n, "%s:%d: %s\n", slash ? slash + 1 : file, line, text);
    *(note ? &t->notes : &t->errors) += 1;
}

/* A scene beside the robots of the tests. */
static tl_scene *load(const char *before, const char *inside, told *t)
{
    char text[2000];
    snprintf(text, sizeof text, "%s return scene { talus = 1, engine = 'grid', duration = 1, %s }", before, inside);
    tl_load_options o = {.problem = hear, .problem_user = t};
    tl_scene *s;
    *t = (told){0};
    CHECK_OK(tl_scene_load_text(&s, TL_SOURCE_DIR "/tests/robots/test.lua", text, strlen(text), &o, &err));
    return s;
}

static const tl_body *body(const tl_scene *s, const char *name)
{
    for (int i = 0; i < s->body_count; i++)
        if (!strcmp(s->bodies[i].name, name)) return &s->bodies[i];
    return NULL;
}

static const tl_joint_spec *joint(const tl_scene *s, const char *name)
{
    for (int i = 0; i < s->joint_count; i++)
        if (!strcmp(s->joints[i].name, name)) return &s->joints[i];
    return NULL;
}

static void check_vec(tl_vec3 v, double x, double y, double z)
{
    CHECK_NEAR(v.x, x, 1e-12);
    CHECK_NEAR(v.y, y, 1e-12);
    CHECK_NEAR(v.z, z, 1e-12);
}

static void pendulum(void **state)
{
    (void)state;
    told t;
    tl_scene *s = load("", "import { file = 'pendulum.urdf', at = {1, 0, 0}, prefix = 'a ' }", &t);
    assert_int_equal(t.notes, 0);
    assert_int_equal(s->body_count, 1);
    assert_int_equal(s->joint_count, 1);
    const tl_body *rod = body(s, "a rod");
    const tl_joint_spec *pivot = joint(s, "a pivot");
    assert_non_null(rod);
    assert_non_null(pivot);
    CHECK_NEAR(rod->mass, 2, 0);
    check_vec(rod->center_of_mass, 0, 0, -0.5);
    check_vec(rod->inertia, 1.0 / 6, 1.0 / 6, 0.0004);
    check_vec(rod->at, 1, 2, 0); /* z of the file is up */
    check_vec(rod->colour, 0.5, 0.5, 0.6);
    assert_int_equal(pivot->kind, TL_JOINT_HINGE);
    assert_int_equal(pivot->body[1], -1);
    check_vec(pivot->at, 1, 2, 0);
    check_vec(pivot->axis, 0, 0, -1); /* y of the file */
    assert_int_equal(pivot->limited, false);
    const tl_box3 box = tl_shape_bounds(s->shapes, rod->shape);
    CHECK_NEAR(box.lo.z, -1, 1e-12);
    CHECK_NEAR(box.hi.z, 0, 1e-12);
    CHECK_NEAR(box.hi.x, 0.02, 1e-12);
    tl_scene_free(s);
}

/* Axes as they are, and a rotation of the whole. */
static void axes_and_rotation(void **state)
{
    (void)state;
    told t;
    tl_scene *s = load("", "import { file = 'pendulum.urdf', up = 'y', rotation_deg = {0, 0, 90} }", &t);
    check_vec(joint(s, "pivot")->at, 0, 0, 2);
    check_vec(joint(s, "pivot")->axis, -1, 0, 0);
    tl_scene_free(s);
}

static void arm(void **state)
{
    (void)state;
    told t;
    tl_scene *s = load("local r = import { file = 'arm.urdf', fixed_base = true, up = 'y', density = 500 }\n"
                       "r.joint.joint2.motor = { position = function(t) return t end, max = r.effort.joint2 }\n",
                       "bodies = r.bodies, joints = r.joints", &t);
    assert_int_equal(s->body_count, 8); /* the tool is a frame */
    assert_int_equal(s->joint_count, 7);
    assert_int_equal(body(s, "base")->kind, TL_BODY_STATIC);
    check_vec(body(s, "link6")->at, 0, 0, 0.1 + 5 * 0.2);
    CHECK_NEAR(body(s, "link3")->mass, 2.2, 1e-12);
    CHECK_NEAR(joint(s, "joint2")->motor.max, 90, 0);
    assert_int_equal(joint(s, "joint1")->motor.kind, TL_MOTOR_POSITION); /* its damper */
    CHECK_NEAR(joint(s, "joint1")->motor.damping, 0.5, 0);
    CHECK_NEAR(joint(s, "joint1")->motor.stiffness, 0, 0);
    CHECK_NEAR(joint(s, "joint5")->friction, 0.1, 0);
    assert_int_equal(joint(s, "joint5")->motor.kind, TL_MOTOR_NONE);
    CHECK_NEAR(joint(s, "joint4")->limits[0], -2.5, 0);
    /* the finger hangs on link 6 through the tool, turned, and starts at its limit */
    const tl_joint_spec *grip = joint(s, "grip");
    assert_string_equal(grip->b, "link6");
    check_vec(grip->axis, 1, 0, 0);
    check_vec(body(s, "finger")->at, 0.01, 0, 0.1 + 6 * 0.2 - 0.05);
    CHECK_NEAR(grip->limits[0], 0, 1e-15);
    CHECK_NEAR(grip->limits[1], 0.04, 1e-15);
    CHECK_NEAR(body(s, "finger")->density, 500, 0);
    assert_non_null(strstr(t.all, "\"grip\" starts at 0.01"));
    assert_non_null(strstr(t.all, "<transmission> is not understood and left out; also in line"));
    assert_non_null(strstr(t.all, "arm.urdf:"));
    assert_non_null(strstr(t.all, "<gazebo> is not understood"));
    assert_int_equal(t.notes, 3);
    tl_scene_free(s);
}

static void car(void **state)
{
    (void)state;
    told t;
    tl_scene *s = load("", "import { file = 'car.urdf', up = 'y' }", &t);
    assert_int_equal(s->body_count, 5); /* the footprint is where the chassis is, which moves */
    assert_int_equal(s->joint_count, 4);
    assert_int_equal(body(s, "chassis")->kind, TL_BODY_FREE);
    check_vec(body(s, "chassis")->at, 0, 0, 0.15);
    check_vec(body(s, "rear_right")->at, -0.3, -0.25, 0.1);
    const tl_box3 box = tl_shape_bounds(s->shapes, body(s, "rear_right")->shape);
    CHECK_NEAR(box.hi.y, 0.03, 1e-9); /* its axle is y */
    CHECK_NEAR(box.hi.x, 0.1, 1e-9);
    assert_string_equal(joint(s, "wheel_rr")->b, "chassis");
    tl_scene_free(s);
    s = load("",
             "import { file = 'car.urdf', prefix = '1 ' }, import { file = 'car.urdf', prefix = '2 ', at = {3, 0, 0} },"
             "bodies = { { name = 'floor', kind = 'static', shape = plane {} } }",
             &t);
    assert_int_equal(s->body_count, 11);
    assert_int_equal(s->joint_count, 8);
    tl_scene_free(s);
}

static void gears(void **state)
{
    (void)state;
    told t;
    tl_scene *s = load("", "import { file = 'gears.urdf', fixed_base = true, up = 'y' }", &t);
    assert_int_equal(s->joint_count, 4);
    const tl_joint_spec *g = joint(s, "follow follows");
    assert_non_null(g);
    assert_int_equal(g->kind, TL_JOINT_GEAR);
    assert_string_equal(g->a, "large");
    assert_string_equal(g->b, "small");
    CHECK_NEAR(g->ratio, -0.5, 0);
    assert_null(joint(s, "far follows")); /* on a wheel that turns */
    assert_non_null(strstr(t.all, "gears.urdf:10: \"far follows\" is left out"));
    tl_scene_free(s);
}

static void four_bar(void **state)
{
    (void)state;
    told t;
    tl_scene *s = load("", "import { file = 'fourbar.xml', up = 'y', at = {0, 0, 1} }", &t);
    assert_int_equal(s->body_count, 4);
    assert_int_equal(s->joint_count, 4);
    assert_int_equal(body(s, "floor")->kind, TL_BODY_STATIC);
    CHECK_NEAR(body(s, "coupler")->density, 500, 0);
    check_vec(body(s, "coupler")->colour, 0.8, 0.4, 0.2);
    CHECK_NEAR(body(s, "coupler")->friction.value[0], 1, 0);
    check_vec(body(s, "coupler")->at, 0, 0, 1.3);
    const tl_joint_spec *loop = joint(s, "loop");
    assert_int_equal(loop->kind, TL_JOINT_BALL);
    check_vec(loop->at, 0.8, 0, 1.3);
    check_vec(joint(s, "rock")->axis, 0, 1, 0);
    assert_int_equal(joint(s, "rock")->body[1], -1);
    assert_int_equal(joint(s, "drive")->motor.kind, TL_MOTOR_FORCE);
    CHECK_NEAR(joint(s, "knee")->motor.damping, 0.01, 0);
    assert_non_null(strstr(t.all, "<light>"));
    assert_non_null(strstr(t.all, "<option>"));
    assert_non_null(strstr(t.all, "attribute ctrlrange of <motor>"));
    assert_non_null(strstr(t.all, "its damping and stiffness are left out"));
    tl_scene_free(s);
}

static void walker(void **state)
{
    (void)state;
    told t;
    tl_scene *s = load("", "import { file = 'walker.xml', up = 'y' }", &t);
    assert_int_equal(s->body_count, 6);
    assert_int_equal(s->joint_count, 5);
    const tl_body *trunk = body(s, "trunk"), *shin = body(s, "shin");
    check_vec(trunk->inertia, 0.1, 0.2, 0.25);
    check_vec(trunk->inertia_products, 0.01, 0, 0);
    CHECK_NEAR(trunk->friction.value[0], 0.7, 0);
    CHECK_NEAR(trunk->rotation.z, sin(0.25 * 3.14159265358979), 1e-12);
    check_vec(body(s, "hip")->at, 0, 0.2, 1);
    const double pi = 3.14159265358979323846, ball = 2000 * 4 * pi / 3 * 0.05 * 0.05 * 0.05, mass = 0.4 + ball;
    CHECK_NEAR(shin->mass, mass, 1e-12);
    check_vec(shin->center_of_mass, 0, 0, -0.15 * ball / mass);
    const double cap = 0.2 + 4 * 0.03 / 3; /* volume over that of its section */
    const double spin =
        0.4 * (0.2 / cap * 0.03 * 0.03 / 2 + (1 - 0.2 / cap) * 0.4 * 0.03 * 0.03) + ball * 0.4 * 0.05 * 0.05;
    CHECK_NEAR(shin->inertia.z, spin, 1e-14);
    assert_int_equal(joint(s, "neck")->kind, TL_JOINT_BALL);
    assert_int_equal(joint(s, "foot fixed")->kind, TL_JOINT_FIXED);
    const tl_joint_spec *knee = joint(s, "knee");
    CHECK_NEAR(knee->limits[1], 120 * pi / 180, 1e-12);
    CHECK_NEAR(knee->friction, 0.1, 0);
    CHECK_NEAR(knee->motor.stiffness, 50, 0);
    CHECK_NEAR(knee->motor.damping, 2.2, 1e-12);
    CHECK_NEAR(knee->motor.max, 30, 0);
    int universal = 0, cylinder = 0;
    for (int i = 0; i < s->joint_count; i++) {
        universal += s->joints[i].kind == TL_JOINT_UNIVERSAL;
        cylinder += s->joints[i].kind == TL_JOINT_CYLINDER;
    }
    assert_int_equal(universal, 1);
    assert_int_equal(cylinder, 1);
    assert_non_null(strstr(t.all, "joint \"neck\" cannot be driven"));
    tl_scene_free(s);
}

/* ---- broken files ---- */

#define R                                                                                                              \
    "<robot name='r'>\n<link name='a'><collision><geometry><sphere radius='1'/></geometry></collision></link>\n"       \
    "<link name='b'><collision><geometry><sphere radius='1'/></geometry></collision></link>\n"
#define J(type, more) "<joint name='j' type='" type "'><parent link='a'/><child link='b'/>" more "</joint>\n</robot>"
#define M(inside) "<mujoco>\n<worldbody>\n<body name='a'>" inside "</body>\n</worldbody>\n</mujoco>"
#define G "<geom size='1'/>"

static const struct {
    const char *text;
    int line;
    const char *message;
} broken[] = {
    {"", 1, "empty"},
    {"hello", 1, "not XML"},
    {"<a>\n<b>\n</a>", 3, "</a> ends <b> of line 2"},
    {"<a>\n<b></b>", 2, "<a> of line 1 does not end"},
    {"<a/>\n<b/>", 2, "stands after the end"},
    {"<a/>\ntext", 2, "text after"},
    {"</a>", 1, "never began"},
    {"<a b=c/>", 1, "in quotes"},
    {"<a b/>", 1, "must have a value"},
    {"<a b='1'c='2'/>", 1, "space before"},
    {"<a b='1' b='2'/>", 1, "twice"},
    {"<a b='1", 1, "does not end"},
    {"<a b='<'/>", 1, "has a <"},
    {"<a b='&bomb;'/>", 1, "entity"},
    {"<!DOCTYPE a [<!ENTITY x 'y'>]><a/>", 1, "DOCTYPE"},
    {"<!-- never", 1, "a comment does not end"},
    {"<1/>", 1, "begin with a letter"},
    {"<sdf/>", 1, "must begin with <robot>"},
    {"<robot/>", 1, "no bodies"},
    {"<robot>\n<link/></robot>", 2, "an attribute name"},
    {"<robot><link name='a'/>\n<link name='a'/></robot>", 2, "two bodies"},
    {"<robot><link name='a'/></robot>", 1, "neither mass nor geometry; is it the base?"},
    {"<robot><link name='a'>\n<collision/></link></robot>", 2, "must have a <geometry>"},
    {"<robot><link name='a'><collision>\n<geometry/></collision></link></robot>", 2, "a box, sphere"},
    {"<robot><link name='a'><collision><geometry>\n<box/></geometry></collision></link></robot>", 2, "attribute size"},
    {"<robot><link name='a'><collision><geometry>\n<box size='1 1'/></geometry></collision></link></robot>", 2,
     "3 numbers, got 2"},
    {"<robot><link name='a'><collision><geometry>\n<box size='1 x 1'/></geometry></collision></link></robot>", 2,
     "must be numbers"},
    {"<robot><link name='a'><collision><geometry>\n<box size='1 nan 1'/></geometry></collision></link></robot>", 2,
     "must be numbers"},
    {"<robot><link name='a'><collision><geometry>\n<sphere radius='0'/></geometry></collision></link></robot>", 2,
     "> 0"},
    {"<robot><link name='a'><collision><geometry>\n<mesh "
     "filename='http://x/a.stl'/></geometry></collision></link></robot>",
     2, "named by a path"},
    {"<robot><link name='a'><inertial>\n<mass value='-1'/></inertial></link></robot>", 2, ">= 0 kg"},
    {"<robot><link name='a'><inertial>\n</inertial></link></robot>", 1, "must have a <mass>"},
    {R J("hinge", ""), 4, "the type of a joint is one of"},
    {R J("revolute", ""), 4, "must have a <limit>"},
    {R J("revolute", "<limit lower='1' upper='0'/>"), 4, "lower <= upper"},
    {R J("continuous", "<axis xyz='0 0 0'/>"), 4, "must not be zero"},
    {R J("continuous", "<dynamics damping='-1'/>"), 4, ">= 0"},
    {R J("continuous", "<mimic joint='k'/>"), 4, "no joint \"k\""},
    {R "<joint name='j' type='fixed'><parent link='c'/><child link='b'/></joint></robot>", 4, "no link \"c\""},
    {R "<joint name='j' type='fixed'><child link='b'/></joint></robot>", 4, "must have a <parent>"},
    {R "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>\n"
       "<joint name='k' type='fixed'><parent link='a'/><child link='b'/></joint></robot>",
     5, "child of two"},
    {R "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>\n"
       "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint></robot>",
     2, "a ring"},
    {M("<freejoint/>"), 3, "neither mass nor geometry"},
    {M(G "\n<joint type='screw'/>"), 4, "the type of a joint is one of"},
    {M(G "\n<joint axis='0 0 0'/>"), 4, "must not be zero"},
    {M(G "\n<joint range='2 1'/>"), 4, "low <= high"},
    {M(G "<joint type='ball'/>\n<joint type='ball'/>"), 4, "no joint of talus"},
    {M(G "\n<freejoint/><joint/>"), 4, "free and has joints"},
    {M(G "<body name='b'>" G "\n<freejoint/></body>"), 4, "hangs on another"},
    {M("\n<geom type='ellipsoid' size='1 1 1'/>"), 4, "the type of a geom is one of"},
    {M("\n<geom type='mesh' mesh='m'/>"), 4, "no mesh \"m\""},
    {M("\n<geom type='plane'/><joint/>"), 4, "has no end"},
    {M("\n<geom type='capsule' size='1' fromto='0 0 0 0 0 0'/>"), 4, "two different points"},
    {M("\n<geom size='1' quat='0 0 0 0'/>"), 4, "quat"},
    {M("\n<inertial mass='1'/>" G), 4, "diaginertia or fullinertia"},
    {"<mujoco>\n<include file='a.xml'/></mujoco>", 2, "<include> is not read"},
    {"<mujoco>\n<compiler angle='turns'/></mujoco>", 2, "degree or radian"},
    {"<mujoco>\n<compiler eulerseq='xyw'/></mujoco>", 2, "eulerseq"},
    {"<mujoco><worldbody><body>" G "</body></worldbody>\n<actuator>\n<motor joint='j'/></actuator></mujoco>", 3,
     "to drive"},
    {"<mujoco><worldbody><body>" G
     "</body></worldbody><equality>\n<connect body1='b' anchor='0 0 0'/></equality></mujoco>",
     2, "no body \"b\""},
};

static void broken_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        tl_arena arena = {0};
        tl_import m = {.arena = &arena, .pose = {{0, 0, 0}, {1, 0, 0, 0}}, .density = 1000};
        talus_error why = {0};
        const talus_status status = tl_import_read(&m, broken[i].text, strlen(broken[i].text), &why);
        if (status != TALUS_BAD_INPUT || m.line != broken[i].line || !strstr(why.message, broken[i].message))
            fail_msg("%s\ngave status %d, line %d: %s\nnot line %d: %s", broken[i].text, status, m.line, why.message,
                     broken[i].line, broken[i].message);
        tl_arena_free(&arena);
    }
}

/* What only the scene can find: told with the robot's file and line. */
static void problems_of_scenes(void **state)
{
    (void)state;
    char folder[TL_TEMPDIR_MAX], path[400], text[400];
    static const struct {
        const char *robot, *message;
    } cases[] = {
        {"<robot><link name='a'>\n<collision><geometry>\n<mesh "
         "filename='../x.obj'/></geometry></collision></link></robot>",
         "r.urdf:3: mesh: "},
        {"<robot><link name='a'>\n<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='-1'/></inertial>\n"
         "<collision><geometry><sphere radius='1'/></geometry></collision></link></robot>",
         ""},
        {"<robot>\n<oops</robot>", "r.urdf:2: "},
        {"<robot>\n<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='9'/></inertial>"
         "<collision><geometry><sphere radius='1'/></geometry></collision></link></robot>",
         "r.urdf:2: bodies[1].inertia is of no matter"},
    };
    tl_tempdir_create(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        told t = {0};
        tl_load_options o = {.problem = hear, .problem_user = &t};
        tl_scene *s;
        snprintf(path, sizeof path, "%s/r.urdf", folder);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(cases[i].robot, f);
        fclose(f);
        snprintf(path, sizeof path, "%s/s.lua", folder);
        snprintf(text, sizeof text,
                 "return scene { import { file = 'r.urdf' }, talus = 1, engine = 'grid', duration = 1 }");
        tl_scene_load_text(&s, path, text, strlen(text), &o, &err);
        if (!strstr(t.all, cases[i].message)) fail_msg("%s\ntold\n%snot %s", cases[i].robot, t.all, cases[i].message);
        tl_scene_free(s);
    }
    tl_tempdir_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum),
        cmocka_unit_test(axes_and_rotation),
        cmocka_unit_test(arm),
        cmocka_unit_test(car),
        cmocka_unit_test(gears),
        cmocka_unit_test(four_bar),
        cmocka_unit_test(walker),
        cmocka_unit_test(broken_files),
        cmocka_unit_test(problems_of_scenes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
