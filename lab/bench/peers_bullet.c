/* Bullet (libbullet-dev), by a module in C++ that is built where it is installed: sequential impulses, 10
 * iterations, nothing sleeps. */
#include "lab/bench/peers.h"

#include <dlfcn.h>
#include <string.h>

#ifdef TALUS_BULLET
static struct {
    void *(*open)(const double gravity[3], double dt, double friction, double restitution);
    void (*plane)(void *world, const double normal[3], double at);
    void (*body)(void *world, int shape, const double size[3], double mass, const double x[3], const double q[4],
                 const double v[3], const double turn[3]);
    void (*step)(void *world);
    void (*join)(void *world, int hinge, int a, int b, const double at[3], const double axis[3]);
    void (*read)(void *world, int body, double x[3], double v[3]);
    void (*turn)(void *world, int body, double q[4]);
    void (*close)(void *world);
} bullet;

static bool find(void *lib, const char *name, void *into)
{
    void *at = dlsym(lib, name);
    memcpy(into, &at, sizeof at);
    return at;
}

static bool load(void)
{
    void *lib = dlopen(TALUS_BULLET, RTLD_NOW | RTLD_LOCAL);
    return lib && find(lib, "talus_bullet_open", &bullet.open) && find(lib, "talus_bullet_plane", &bullet.plane) &&
           find(lib, "talus_bullet_body", &bullet.body) && find(lib, "talus_bullet_step", &bullet.step) &&
           find(lib, "talus_bullet_read", &bullet.read) && find(lib, "talus_bullet_join", &bullet.join) &&
           find(lib, "talus_bullet_turn", &bullet.turn) && find(lib, "talus_bullet_close", &bullet.close);
}

static talus_status open_world(void **out, const tl_peer_scene *s, talus_error *err)
{
    (void)err;
    void *w = *out = bullet.open(s->gravity, s->dt, s->friction, s->restitution);
    if (s->ground) bullet.plane(w, (const double[3]){0, 0, 1}, 0);
    for (int k = 0; k < 4 && s->bin > 0; k++)
        bullet.plane(w, (const double[3]){k == 0 ? 1 : k == 1 ? -1 : 0, k == 2 ? 1 : k == 3 ? -1 : 0, 0}, -s->bin);
    for (int i = 0; i < s->count; i++) {
        const tl_peer_body *b = &s->body[i];
        bullet.body(w, (int)b->shape, b->size, b->mass, b->x, b->q, b->v, b->w);
    }
    for (int k = 0; k < s->joints; k++)
        bullet.join(w, s->joint[k].hinge, s->joint[k].a, s->joint[k].b, s->joint[k].at, s->joint[k].axis);
    return TALUS_OK;
}

static talus_status step(void *world, talus_error *err)
{
    (void)err;
    bullet.step(world);
    return TALUS_OK;
}

static void read(void *world, int body, double x[3], double v[3]) { bullet.read(world, body, x, v); }
static void turn(void *world, int body, double q[4]) { bullet.turn(world, body, q); }
static void close_world(void *world) { bullet.close(world); }

const tl_peer tl_peer_bullet = {"Bullet", "libbullet-dev", true, load, open_world, step, read, turn, close_world};
#else
static bool load(void) { return false; }
const tl_peer tl_peer_bullet = {.name = "Bullet", .package = "libbullet-dev", .load = load};
#endif
