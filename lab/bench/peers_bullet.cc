// Bullet behind five functions that C can call: the one file here in C++, as Bullet has no other interface. A module of its own, built where
// libbullet-dev and a compiler for C++ are, and loaded by peers_bullet.c when the table is made.
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <vector>

namespace {
struct world {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broad;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld dynamics{&dispatcher, &broad, &solver, &configuration};
    std::vector<btCollisionShape *> shapes;
    std::vector<btRigidBody *> bodies;
    std::vector<btTypedConstraint *> joints;
    double dt, friction, restitution;
    int fixed = 0;
};

// Coefficients of a pair are products there.
btRigidBody *add_body(world *w, btCollisionShape *shape, double mass, const btTransform &at)
{
    btVector3 inertia(0, 0, 0);
    if (mass > 0) shape->calculateLocalInertia(btScalar(mass), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(btScalar(mass), nullptr, shape, inertia);
    info.m_startWorldTransform = at;
    info.m_friction = btScalar(std::sqrt(w->friction));
    info.m_restitution = btScalar(std::sqrt(w->restitution));
    auto *body = new btRigidBody(info);
    body->setActivationState(DISABLE_DEACTIVATION); // nothing sleeps
    w->shapes.push_back(shape);
    w->bodies.push_back(body);
    w->dynamics.addRigidBody(body);
    return body;
}

btVector3 vector(const double *x) { return btVector3(btScalar(x[0]), btScalar(x[1]), btScalar(x[2])); }
} // namespace

extern "C" void *talus_bullet_open(const double gravity[3], double dt, double friction, double restitution)
{
    auto *w = new world;
    w->dt = dt, w->friction = friction, w->restitution = restitution;
    w->dynamics.setGravity(vector(gravity));
    return w;
}

extern "C" void talus_bullet_plane(void *world_, const double normal[3], double at)
{
    auto *w = static_cast<world *>(world_);
    add_body(w, new btStaticPlaneShape(vector(normal), btScalar(at)), 0, btTransform::getIdentity());
    w->fixed++;
}

// shape: 0 box, 1 ball, 2 cylinder along y, sizes as in peers.h; planes come before bodies.
extern "C" void talus_bullet_body(void *world_, int shape, const double size[3], double mass, const double x[3], const double q[4],
                                  const double v[3], const double turn[3])
{
    auto *w = static_cast<world *>(world_);
    btCollisionShape *s;
    if (shape == 0)
        s = new btBoxShape(vector(size) * btScalar(0.5));
    else if (shape == 1)
        s = new btSphereShape(btScalar(size[0]));
    else
        s = new btCylinderShape(btVector3(btScalar(size[0]), btScalar(size[1] / 2), btScalar(size[0])));
    const btQuaternion rotation{btScalar(q[1]), btScalar(q[2]), btScalar(q[3]), btScalar(q[0])};
    const btTransform at{rotation, vector(x)};
    btRigidBody *body = add_body(w, s, mass, at);
    body->setLinearVelocity(vector(v));
    body->setAngularVelocity(vector(turn));
}

// Bodies are not turned yet; b -1: the world. What a joint holds together does not touch.
extern "C" void talus_bullet_join(void *world_, int hinge, int a, int b, const double at[3], const double axis[3])
{
    auto *w = static_cast<world *>(world_);
    btRigidBody *of[2] = {w->bodies[size_t(w->fixed + a)], b < 0 ? nullptr : w->bodies[size_t(w->fixed + b)]};
    const btVector3 in_a = vector(at) - of[0]->getCenterOfMassPosition(), along = vector(axis);
    btTypedConstraint *made;
    if (of[1]) {
        const btVector3 in_b = vector(at) - of[1]->getCenterOfMassPosition();
        if (hinge)
            made = new btHingeConstraint(*of[0], *of[1], in_a, in_b, along, along);
        else
            made = new btPoint2PointConstraint(*of[0], *of[1], in_a, in_b);
    } else if (hinge)
        made = new btHingeConstraint(*of[0], in_a, along);
    else
        made = new btPoint2PointConstraint(*of[0], in_a);
    w->joints.push_back(made);
    w->dynamics.addConstraint(made, true);
}

extern "C" void talus_bullet_turn(void *world_, int body, double q[4])
{
    auto *w = static_cast<world *>(world_);
    const btQuaternion r = w->bodies[size_t(w->fixed + body)]->getOrientation();
    q[0] = r.w(), q[1] = r.x(), q[2] = r.y(), q[3] = r.z();
}

extern "C" void talus_bullet_step(void *world_)
{
    auto *w = static_cast<world *>(world_);
    w->dynamics.stepSimulation(btScalar(w->dt), 0); // one step of just this length
}

extern "C" void talus_bullet_read(void *world_, int body, double x[3], double v[3])
{
    auto *w = static_cast<world *>(world_);
    const btRigidBody *b = w->bodies[size_t(w->fixed + body)];
    for (int k = 0; k < 3; k++) x[k] = b->getCenterOfMassPosition()[k], v[k] = b->getLinearVelocity()[k];
}

extern "C" void talus_bullet_close(void *world_)
{
    auto *w = static_cast<world *>(world_);
    for (auto *j : w->joints) {
        w->dynamics.removeConstraint(j);
        delete j;
    }
    for (auto *b : w->bodies) {
        w->dynamics.removeRigidBody(b);
        delete b;
    }
    for (auto *s : w->shapes) delete s;
    delete w;
}
