/* The same scene in talus and in other rigid-body engines: plain data, and what an engine has to do with it.
 *
 * z is up, the ground is z = 0. Cylinders have their axis along y of their frame. Engines are opened with what they
 * do by default; their libraries are loaded when the table is asked for and are not needed otherwise. */
#ifndef TL_BENCH_PEERS_H
#define TL_BENCH_PEERS_H

#include <stdbool.h>

#include "base/status.h"
#include "lab/bench/table.h"

typedef enum tl_peer_shape { TL_PEER_BOX, TL_PEER_BALL, TL_PEER_CYLINDER } tl_peer_shape;

typedef struct tl_peer_body {
    tl_peer_shape shape;
    double size[3]; /* m: edges; radius; radius and height */
    double mass;    /* kg */
    double x[3], q[4], v[3], w[3];
} tl_peer_body;

/* A ball, or a hinge about `axis`, at a place of the world; b -1: the world. Bodies are not turned at the start, and
 * those that a joint holds do not touch. Joints of a are trees: b is held already, or the world. */
typedef struct tl_peer_joint {
    bool hinge;
    int a, b;
    double at[3], axis[3];
} tl_peer_joint;

#define TL_PEER_BODIES 128
#define TL_PEER_JOINTS 32
typedef struct tl_peer_scene {
    double dt, gravity[3], friction, restitution;
    double bin; /* m: half width of a bin with four walls; 0: none */
    bool ground;
    int count;
    tl_peer_body body[TL_PEER_BODIES];
    int joints;
    tl_peer_joint joint[TL_PEER_JOINTS];
} tl_peer_scene;

typedef struct tl_peer {
    const char *name, *package; /* of Debian, to be named where it is missing */
    bool bounces;               /* has a coefficient of restitution */
    bool (*load)(void);         /* false: not built with it, or not installed */
    talus_status (*open)(void **world, const tl_peer_scene *s, talus_error *err);
    talus_status (*step)(void *world, talus_error *err);
    void (*read)(void *world, int body, double x[3], double v[3]);
    void (*turn)(void *world, int body, double q[4]);
    void (*close)(void *world);
} tl_peer;

/* Liquid: talus beside Mantaflow, where Blender is installed. */
talus_status tl_peers_dam(const talus_bench_options *o, tl_table *t, talus_error *err);

extern const tl_peer tl_peer_talus, tl_peer_bullet, tl_peer_ode, tl_peer_mujoco;

/* q = a quarter turn about x: from our axis of a cylinder, y, to theirs, z. */
#define TL_PEER_TURN                                                                                                   \
    {                                                                                                                  \
        0.70710678118654757, -0.70710678118654757, 0, 0                                                                \
    }

#endif
