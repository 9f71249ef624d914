/* Rigid bodies: what does not change during a run, what does, and the contacts of one step.
 *
 * Three structs, three lifetimes. tl_rigid is made from the scene and constant. tl_rigid_state is all that is needed to
 * go on bit for bit. tl_rigid_contacts belongs to one step. A body's pose is that of its shape's frame in scenes and
 * output; dynamics use the centre of mass, which need not be the frame's origin. The domain's closed walls are
 * half-spaces, bodies numbered after the scene's.
 *
 * Friction and restitution of a pair: tl_scene_pair. Methods that solve the contact problem are not named here
 * (src/step does). */
#ifndef TL_MODEL_RIGID_H
#define TL_MODEL_RIGID_H

#include "geom/collide/collide.h"
#include "scene/scene.h"
#include "solve/contact/problem.h"

typedef struct tl_rigid_body {
    tl_body_kind kind;
    const tl_collider *collider; /* shared by bodies of one shape */
    double mass;                 /* kg; of what does not move freely: infinite, here 0 */
    tl_vec3 centre;              /* of mass, in the shape's frame; of what does not move freely: the frame's origin */
    tl_mat3 inertia;             /* about the centre of mass, shape's frame, kg m^2; 0 like the mass */
    tl_mat3 inverse;             /* of the inertia; 0 for what does not move freely */
    bool elastic;                /* its nodes are what moves: it carries no momentum here */
    double reach;                /* largest distance of its surface from the centre of mass, m */
    double extent;               /* smallest extent, m */
    tl_collider_round round;     /* turning about which axis does not move its surface */
    tl_vec3 axis;                /* that axis, shape's frame, unit; of a body that is not round: zero */
    tl_vec3 top;   /* axis of an inertia with two equal moments, shape's frame, unit; zero: it has three */
    double across; /* kg m^2: those two; of a body without such an axis 0 */
    double along;  /* kg m^2: about the axis */
} tl_rigid_body;

typedef struct tl_rigid {
    int32_t count;       /* the scene's bodies, then walls */
    int32_t scene_count; /* the scene's bodies */
    tl_rigid_body *body; /* [count] */
    int32_t colliders;
    tl_collider **collider; /* [colliders] owned */
    tl_shape_tree *walls;   /* shapes of the walls; owned */
    tl_shape_tree *prisms;  /* boxes of a slab, made deeper; owned. NULL: none */
} tl_rigid;

/* Motion of one body. All doubles: saved and hashed as plain numbers. */
typedef struct tl_motion {
    tl_vec3 x;      /* centre of mass */
    tl_quat q;      /* rotation of the shape's frame */
    tl_vec3 v;      /* of the centre of mass */
    tl_vec3 w;      /* angular velocity, world frame */
    tl_vec3 force;  /* set by the caller through the API, until changed: N at the centre of mass */
    tl_vec3 torque; /* N m, world frame */
    tl_vec3 contact_force, contact_torque; /* mean over the last step, about the centre of mass: output only */
    tl_vec3 fluid_force, fluid_torque;     /* same, from what flows */
    tl_vec3 sand_force, sand_torque;       /* of that, what sand does; the rest is liquid's */
    /* of rules that keep energy and rest, which no contact and no joint has (bound.c, rest.c): output only */
    tl_vec3 correction_force, correction_torque;
    tl_vec3 mean_contact_force, mean_contact_torque; /* the same four as means over the frame so far: output only */
    tl_vec3 mean_fluid_force, mean_fluid_torque;
    tl_pose goal; /* kinematic without a motion of the scene's: the shape's frame at the end of the next step */
} tl_motion;

/* How detection found a point: what a pair that hardly moved since then keeps. All doubles. */
typedef struct tl_rigid_found {
    double margin;  /* m: everything nearer than this was found; 0: not to be kept */
    double gap;     /* m, then */
    double carried; /* 1 or 0, see tl_touch */
    tl_vec3 normal; /* in b's frame */
    tl_quat turn;   /* from a's frame to b's, then; both places are the same point of the world */
} tl_rigid_found;

/* A contact point that the next step starts from. */
typedef struct tl_rigid_memory {
    int32_t a, b;       /* bodies, a < b */
    int32_t axis;       /* of the pair, for tl_collide */
    int32_t point;      /* within the pair */
    tl_vec3 at_a, at_b; /* the point in both shapes' frames */
    tl_vec3 force;      /* on a, world frame, N: mean over the last step */
    tl_vec3 normal;     /* out of b into a */
    double gap;         /* m, at the start of the step */
    tl_rigid_found found;
} tl_rigid_memory;

typedef struct tl_rigid_state {
    int64_t count; /* bodies, walls not */
    tl_motion *body;
    int64_t contacts, contact_room;
    tl_rigid_memory *contact; /* [contacts] sorted by (a, b, point) */
    /* Impacts that were stopped at the start of the last step, before the forces of `contact`: shown, nothing starts
     * from them. */
    int64_t impacts, impact_room;
    tl_rigid_memory *impact;
} tl_rigid_state;

talus_status tl_rigid_create(tl_rigid *out, const tl_scene *s, talus_error *err);
void tl_rigid_free(tl_rigid *r); /* leaves {0} */
/* Motions at t = 0. */
talus_status tl_rigid_state_begin(tl_rigid_state *out, const tl_rigid *r, const tl_scene *s, talus_error *err);
void tl_rigid_state_free(tl_rigid_state *s);
/* Room for so many contacts; contents stay. On failure nothing has changed. */
talus_status tl_rigid_contacts_reserve(tl_rigid_state *s, int64_t count, int64_t impacts, talus_error *err);

static inline tl_pose tl_rigid_pose(const tl_rigid_body *b, const tl_motion *m) /* of the shape's frame */
{
    return (tl_pose){tl_vec3_sub(m->x, tl_quat_rotate(m->q, b->centre)), m->q};
}

/* Angular speed with which its surface moves, rad/s: a wheel that turns about its axle stays where it is. */
static inline double tl_rigid_turn(const tl_rigid_body *b, const tl_motion *m)
{
    if (b->round == TL_ROUND_BALL) return 0;
    return b->round == TL_ROUND_AXIS ? tl_vec3_norm(tl_vec3_cross(m->w, tl_quat_rotate(m->q, b->axis)))
                                     : tl_vec3_norm(m->w);
}

#endif
