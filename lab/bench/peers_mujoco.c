/* MuJoCo (libmujoco-dev): its Newton solver on elliptic cones, contact softness as it comes. It has no coefficient
 * of restitution. */
#include "lab/bench/peers.h"

#if defined __has_include
#if __has_include(<mujoco/mujoco.h>)
#define HAVE_MUJOCO
#endif
#endif

#ifdef HAVE_MUJOCO
#include <dlfcn.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* clang-format off */
#define FUNCTIONS(X) X(mj_version) X(mj_defaultVFS) X(mj_makeEmptyFileVFS) X(mj_deleteVFS) X(mj_loadXML) X(mj_makeData) X(mj_step) \
    X(mj_deleteData) X(mj_deleteModel) X(mj_objectVelocity)
/* clang-format on */

#define DECLARE(name) __typeof__(name) *name;
static struct {
    FUNCTIONS(DECLARE)
} mj;

typedef struct world {
    bool tree; /* joints: places are those of bodies, not of free joints */
    mjModel *model;
    mjData *data;
    mjVFS files;
    char text[1 << 16];
} world;

static bool load(void)
{
    void *lib = dlopen("libmujoco.so", RTLD_NOW | RTLD_LOCAL), *at;
    if (!lib) return false;
#define FIND(name)                                                                                                     \
    if (!(at = dlsym(lib, #name))) return false;                                                                       \
    memcpy(&mj.name, &at, sizeof at);
    FUNCTIONS(FIND)
    return mj.mj_version() == mjVERSION_HEADER;
}

static size_t write_shape(const tl_peer_body *b, double friction, char *out, size_t room)
{
    const double turn[4] = TL_PEER_TURN, *s = b->size;
    char shape[160];
    if (b->shape == TL_PEER_BOX)
        snprintf(shape, sizeof shape, "type='box' size='%.9g %.9g %.9g'", s[0] / 2, s[1] / 2, s[2] / 2);
    else if (b->shape == TL_PEER_BALL)
        snprintf(shape, sizeof shape, "type='sphere' size='%.9g'", s[0]);
    else
        snprintf(shape, sizeof shape, "type='cylinder' size='%.9g %.9g' quat='%.9g %.9g %.9g %.9g'", s[0], s[1] / 2,
                 turn[0], turn[1], turn[2], turn[3]);
    return (size_t)snprintf(out, room, "<geom %s mass='%.9g' friction='%g 0 0'/>", shape, b->mass, friction);
}

static size_t write_body(const tl_peer_body *b, double friction, char *out, size_t room)
{
    size_t n = (size_t)snprintf(out, room, "<body pos='%.12g %.12g %.12g' quat='%.12g %.12g %.12g %.12g'><freejoint/>",
                                b->x[0], b->x[1], b->x[2], b->q[0], b->q[1], b->q[2], b->q[3]);
    n += write_shape(b, friction, out + n, room - n);
    return n + (size_t)snprintf(out + n, room - n, "</body>\n");
}

/* Bodies that joints hold to `parent`, with all that hangs on them: its own coordinates, which cannot drift. Bodies must
 * be held in their order. */
static size_t write_tree(const tl_peer_scene *s, int parent, char *out, size_t room)
{
    size_t n = 0;
    for (int k = 0; k < s->joints; k++) {
        const tl_peer_joint *j = &s->joint[k];
        const double none[3] = {0, 0, 0}, *from = parent < 0 ? none : s->body[parent].x, *x = s->body[j->a].x;
        if (j->b != parent) continue;
        n += (size_t)snprintf(out + n, room - n,
                              "<body name='b%d' pos='%.12g %.12g %.12g'><joint type='%s' pos='%.12g "
                              "%.12g %.12g' axis='%g %g %g'/>",
                              j->a, x[0] - from[0], x[1] - from[1], x[2] - from[2], j->hinge ? "hinge" : "ball",
                              j->at[0] - x[0], j->at[1] - x[1], j->at[2] - x[2], j->hinge ? j->axis[0] : 0,
                              j->hinge ? j->axis[1] : 0, j->hinge ? j->axis[2] : 1);
        n += write_shape(&s->body[j->a], s->friction, out + n, room - n);
        n += write_tree(s, j->a, out + n, room - n);
        n += (size_t)snprintf(out + n, room - n, "</body>\n");
    }
    return n;
}

static void write_scene(const tl_peer_scene *s, char *out, size_t room)
{
    size_t n =
        (size_t)snprintf(out, room,
                         "<mujoco><option timestep='%g' gravity='%.12g %.12g %.12g' cone='elliptic' solver='Newton'/>"
                         "<size nconmax='%d' njmax='%d'/><worldbody>\n",
                         s->dt, s->gravity[0], s->gravity[1], s->gravity[2], 12 * s->count + 20, 36 * s->count + 60);
    if (s->ground)
        n += (size_t)snprintf(out + n, room - n, "<geom type='plane' size='0 0 1' friction='%g 0 0'/>\n", s->friction);
    for (int k = 0; k < 4 && s->bin > 0; k++) {
        double x = k == 0 ? -1 : k == 1 ? 1 : 0, y = k == 2 ? -1 : k == 3 ? 1 : 0;
        n += (size_t)snprintf(out + n, room - n,
                              "<geom type='plane' size='0 0 1' pos='%g %g 0' zaxis='%g %g 0' friction='%g 0 0'/>\n",
                              x * s->bin, y * s->bin, -x, -y, s->friction);
    }
    if (s->joints)
        n += write_tree(s, -1, out + n, room - n);
    else
        for (int i = 0; i < s->count; i++) n += write_body(&s->body[i], s->friction, out + n, room - n);
    snprintf(out + n, room - n, "</worldbody></mujoco>");
}

static void close_world(void *world_)
{
    world *w = world_;
    if (w->data) mj.mj_deleteData(w->data);
    if (w->model) mj.mj_deleteModel(w->model);
    tl_free(w);
}

static talus_status open_world(void **out, const tl_peer_scene *s, talus_error *err)
{
    world *w = TL_NEW_ZERO(world, 1);
    if (!w) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a world of %d bodies", s->count);
    char why[300] = "";
    write_scene(s, w->text, sizeof w->text);
    mj.mj_defaultVFS(&w->files);
    mj.mj_makeEmptyFileVFS(&w->files, "scene.xml", (int)strlen(w->text));
    memcpy(w->files.filedata[0], w->text, strlen(w->text));
    w->model = mj.mj_loadXML("scene.xml", &w->files, why, sizeof why);
    mj.mj_deleteVFS(&w->files);
    if (w->model) w->data = mj.mj_makeData(w->model);
    if (!w->data) {
        close_world(w);
        return TL_FAIL(err, TALUS_BAD_INPUT, "MuJoCo does not take the scene: %.250s", why);
    }
    w->tree = s->joints > 0;
    for (int i = 0; i < s->count && !w->tree; i++)
        for (int k = 0; k < 3; k++) {
            w->data->qvel[6 * i + k] = s->body[i].v[k];
            w->data->qvel[6 * i + 3 + k] = s->body[i].w[k]; /* in the body's frame: scenes with a spin start unturned */
        }
    *out = w;
    return TALUS_OK;
}

static talus_status step(void *world_, talus_error *err)
{
    world *w = world_;
    (void)err;
    mj.mj_step(w->model, w->data);
    return TALUS_OK;
}

static void read(void *world_, int body, double x[3], double v[3])
{
    const world *w = world_;
    if (w->tree) {
        double both[6]; /* of bodies as of the last look at places, which is before the step */
        mj.mj_objectVelocity(w->model, w->data, mjOBJ_BODY, body + 1, both, 0);
        memcpy(x, w->data->xpos + 3 * (body + 1), 3 * sizeof *x);
        memcpy(v, both + 3, 3 * sizeof *v);
        return;
    }
    memcpy(x, w->data->qpos + 7 * body, 3 * sizeof *x);
    memcpy(v, w->data->qvel + 6 * body, 3 * sizeof *v);
}

static void turn(void *world_, int body, double q[4])
{
    const world *w = world_;
    memcpy(q, w->tree ? w->data->xquat + 4 * (body + 1) : w->data->qpos + 7 * body + 3, 4 * sizeof *q);
}

const tl_peer tl_peer_mujoco = {"MuJoCo", "libmujoco-dev", false, load, open_world, step, read, turn, close_world};
#else
static bool load(void) { return false; }
const tl_peer tl_peer_mujoco = {.name = "MuJoCo", .package = "libmujoco-dev", .load = load};
#endif
