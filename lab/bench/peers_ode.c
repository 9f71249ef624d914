/* ODE (libode-dev): the exact step up to 40 bodies, its quick one of 20 sweeps above. */
#include "lab/bench/peers.h"

#if defined __has_include
#if __has_include(<ode/ode.h>)
#define HAVE_ODE
#endif
#endif

#ifdef HAVE_ODE
#include <dlfcn.h>
#include <ode/ode.h>
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"

#define EXACT_BODIES 40
#define POINTS 8 /* of a pair */

/* clang-format off */
#define FUNCTIONS(X) X(dInitODE2) X(dWorldCreate) X(dWorldDestroy) X(dWorldSetGravity) X(dWorldStep) X(dWorldQuickStep) \
    X(dSimpleSpaceCreate) X(dHashSpaceCreate) X(dSpaceDestroy) X(dSpaceCollide) X(dJointGroupCreate) X(dJointGroupEmpty) X(dJointGroupDestroy) \
    X(dJointCreateContact) X(dJointAttach) X(dBodyCreate) X(dBodySetMass) X(dBodySetPosition) X(dBodySetQuaternion) \
    X(dBodySetLinearVel) X(dBodySetAngularVel) X(dBodyGetPosition) X(dBodyGetLinearVel) X(dCreateBox) X(dCreateSphere) \
    X(dCreateCylinder) X(dCreatePlane) X(dGeomSetBody) X(dGeomGetBody) X(dGeomSetOffsetQuaternion) X(dMassSetBoxTotal) \
    X(dMassSetSphereTotal) X(dMassSetCylinderTotal) X(dCollide) X(dSetMessageHandler) \
    X(dBodyGetQuaternion) X(dJointCreateBall) X(dJointCreateHinge) X(dJointSetBallAnchor) X(dJointSetHingeAnchor) \
    X(dJointSetHingeAxis) X(dAreConnectedExcluding)
/* clang-format on */

#define DECLARE(name) __typeof__(name) *name;
static struct {
    FUNCTIONS(DECLARE)
} ode;

typedef struct world {
    dWorldID world;
    dSpaceID space;
    dJointGroupID joints;
    dBodyID body[TL_PEER_BODIES];
    double dt, friction, restitution;
    int count;
} world;

/* Its exact step tells of pivots that it could not take, on the terminal. */
static void quiet(int number, const char *message, va_list args) { (void)number, (void)message, (void)args; }

static bool load(void)
{
    static bool ready;
    void *lib = dlopen("libode.so.8", RTLD_NOW | RTLD_LOCAL), *at;
    if (!lib) return false;
#define FIND(name)                                                                                                     \
    if (!(at = dlsym(lib, #name))) return false;                                                                       \
    memcpy(&ode.name, &at, sizeof at);
    FUNCTIONS(FIND)
    ode.dSetMessageHandler(quiet);
    if (!ready) ode.dInitODE2(0);
    ready = true;
    return true;
}

static void near(void *data, dGeomID a, dGeomID b)
{
    world *w = data;
    dContact c[POINTS];
    memset(c, 0, sizeof c);
    const dBodyID of[2] = {ode.dGeomGetBody(a), ode.dGeomGetBody(b)};
    if (of[0] && of[1] && ode.dAreConnectedExcluding(of[0], of[1], dJointTypeContact)) return;
    int count = ode.dCollide(a, b, POINTS, &c[0].geom, sizeof c[0]);
    for (int k = 0; k < count; k++) {
        c[k].surface.mode = dContactApprox1 | (w->restitution > 0 ? dContactBounce : 0);
        c[k].surface.mu = w->friction;
        c[k].surface.bounce = w->restitution;
        ode.dJointAttach(ode.dJointCreateContact(w->world, w->joints, &c[k]), ode.dGeomGetBody(a), ode.dGeomGetBody(b));
    }
}

static void add(world *w, const tl_peer_body *b, dBodyID *out)
{
    const double *s = b->size, turn[4] = TL_PEER_TURN;
    dMass m;
    dBodyID body = *out = ode.dBodyCreate(w->world);
    dGeomID g = b->shape == TL_PEER_BOX    ? ode.dCreateBox(w->space, s[0], s[1], s[2])
                : b->shape == TL_PEER_BALL ? ode.dCreateSphere(w->space, s[0])
                                           : ode.dCreateCylinder(w->space, s[0], s[1]);
    if (b->shape == TL_PEER_BOX)
        ode.dMassSetBoxTotal(&m, b->mass, s[0], s[1], s[2]);
    else if (b->shape == TL_PEER_BALL)
        ode.dMassSetSphereTotal(&m, b->mass, s[0]);
    else
        ode.dMassSetCylinderTotal(&m, b->mass, 2, s[0], s[1]);
    ode.dBodySetMass(body, &m);
    ode.dGeomSetBody(g, body);
    if (b->shape == TL_PEER_CYLINDER) ode.dGeomSetOffsetQuaternion(g, turn);
    ode.dBodySetPosition(body, b->x[0], b->x[1], b->x[2]);
    ode.dBodySetQuaternion(body, b->q);
    ode.dBodySetLinearVel(body, b->v[0], b->v[1], b->v[2]);
    ode.dBodySetAngularVel(body, b->w[0], b->w[1], b->w[2]);
}

/* Joints stay until the world goes. */
static void join(world *w, const tl_peer_joint *j)
{
    const dJointID made = j->hinge ? ode.dJointCreateHinge(w->world, NULL) : ode.dJointCreateBall(w->world, NULL);
    ode.dJointAttach(made, w->body[j->a], j->b < 0 ? NULL : w->body[j->b]);
    if (!j->hinge) {
        ode.dJointSetBallAnchor(made, j->at[0], j->at[1], j->at[2]);
        return;
    }
    ode.dJointSetHingeAnchor(made, j->at[0], j->at[1], j->at[2]);
    ode.dJointSetHingeAxis(made, j->axis[0], j->axis[1], j->axis[2]);
}

static talus_status open_world(void **out, const tl_peer_scene *s, talus_error *err)
{
    world *w = TL_NEW_ZERO(world, 1);
    if (!w) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a world of %d bodies", s->count);
    *w = (world){.dt = s->dt, .friction = s->friction, .restitution = s->restitution, .count = s->count};
    w->world = ode.dWorldCreate();
    w->space = ode.dHashSpaceCreate(NULL);
    w->joints = ode.dJointGroupCreate(0);
    ode.dWorldSetGravity(w->world, s->gravity[0], s->gravity[1], s->gravity[2]);
    if (s->ground) ode.dCreatePlane(w->space, 0, 0, 1, 0);
    for (int k = 0; k < 4 && s->bin > 0; k++)
        ode.dCreatePlane(w->space, k == 0 ? 1 : k == 1 ? -1 : 0, k == 2 ? 1 : k == 3 ? -1 : 0, 0, -s->bin);
    for (int i = 0; i < s->count; i++) add(w, &s->body[i], &w->body[i]);
    for (int k = 0; k < s->joints; k++) join(w, &s->joint[k]);
    *out = w;
    return TALUS_OK;
}

static talus_status step(void *world_, talus_error *err)
{
    world *w = world_;
    (void)err;
    ode.dSpaceCollide(w->space, w, near);
    if (w->count <= EXACT_BODIES)
        ode.dWorldStep(w->world, w->dt);
    else
        ode.dWorldQuickStep(w->world, w->dt);
    ode.dJointGroupEmpty(w->joints);
    return TALUS_OK;
}

static void read(void *world_, int body, double x[3], double v[3])
{
    const world *w = world_;
    memcpy(x, ode.dBodyGetPosition(w->body[body]), 3 * sizeof *x);
    memcpy(v, ode.dBodyGetLinearVel(w->body[body]), 3 * sizeof *v);
}

static void turn(void *world_, int body, double q[4])
{
    const world *w = world_;
    memcpy(q, ode.dBodyGetQuaternion(w->body[body]), 4 * sizeof *q);
}

static void close_world(void *world_)
{
    world *w = world_;
    ode.dJointGroupDestroy(w->joints);
    ode.dSpaceDestroy(w->space);
    ode.dWorldDestroy(w->world);
    tl_free(w);
}

const tl_peer tl_peer_ode = {"ODE", "libode-dev", true, load, open_world, step, read, turn, close_world};
#else
static bool load(void) { return false; }
const tl_peer tl_peer_ode = {.name = "ODE", .package = "libode-dev", .load = load};
#endif
