/* Contacts of one step: found, matched with those of the step before, written as a contact problem.
 *
 * Everything lives in the step's arena. A point acts at one place for both bodies, so that a pair exchanges momentum
 * and angular momentum to rounding, whatever the solver reached. Rows of a point: normal, then the two tangents of
 * tl_vec3_tangents. Which method solves the problem, and what becomes of its answer, is the step's. */
#ifndef TL_MODEL_RIGID_CONTACTS_H
#define TL_MODEL_RIGID_CONTACTS_H

#include "geom/collide/broad.h"
#include "model/rigid/joints.h"

typedef struct tl_rigid_point {
    int32_t a, b, axis;     /* bodies, a < b; of the pair, for tl_collide */
    tl_vec3 at;             /* world, at the start of the step, or half-way */
    tl_vec3 arm_a, arm_b;   /* from both centres of mass to there */
    tl_vec3 normal, t1, t2; /* normal: out of b into a */
    tl_vec3 at_a, at_b;     /* in both shapes' frames */
    tl_rigid_found found;
    double gap;  /* m, at the start of the step */
    double bend; /* m: by how much more the point opens within the step than its velocity says, as its bodies turn */
    double friction, restitution;
    double rolling, spinning; /* friction, m */
    bool carried;             /* a mark on a surface, see tl_touch */
    bool half;       /* its impulse acts half-way through the step, and its law is one for twice the mean velocity */
    bool fast;       /* half: was open at the start, and came fast */
    double slip[2];  /* half: slip of the start that is taken out, m/s */
    double early[3]; /* m/s: what the law adds to the velocity after the impulse, for that; 0 when not half */
} tl_rigid_point;

typedef struct tl_rigid_contacts {
    int32_t count;
    tl_rigid_point *point; /* [count] by pair, pairs sorted by (a, b) */
} tl_rigid_contacts;

/* Bodies of every point are there, a < b, pairs rise, normals have length one, places and gaps are numbers. For
 * checked builds, where detection hands the list on. */
talus_status tl_rigid_contacts_check(const tl_rigid_contacts *c, int32_t bodies, talus_error *err);

/* What detection looks at. */
typedef struct tl_rigid_view {
    const tl_rigid *rigid;
    const tl_scene *scene;
    const tl_motion *body;  /* [rigid->count] velocities as predicted */
    const tl_pose *pose;    /* [rigid->count] of the shapes' frames */
    const double *friction; /* [rigid->count] each one's own */
    const bool *absent;     /* [rigid->count] those that nothing touches here; NULL: none */
    double
        keep; /* m: pairs that moved less against each other since their points were found keep these; 0: none does */
    const tl_joints *joints; /* pairs that they hold do not touch, unless asked to; NULL: none */
} tl_rigid_view;

/* Pairs whose boxes come near each other within dt, sorted. */
talus_status tl_rigid_near(const tl_rigid_view *v, double dt, tl_arena *a, tl_near_pair **pair, int64_t *pairs,
                           talus_error *err);

/* Points that may touch within dt: gap <= 1 mm + dt (speed of the two surfaces towards each other). `past`: axes and
 * points of the last step. A pair whose bodies have moved and turned against each other by less than `keep` since
 * its points were found keeps them, moved with the bodies: places are right to `keep`, gaps to keep^2 over the
 * extent. Pairs that may roll do not: their place runs along the surface, and behind a place that lags a body at
 * rest starts to roll. */
talus_status tl_rigid_detect(const tl_rigid_view *v, double dt, const tl_rigid_state *past, tl_arena *a,
                             tl_rigid_contacts *out, talus_error *err);

/* A step from its start to where the first look let it end; [start->rigid->count]. */
typedef struct tl_rigid_way {
    const tl_rigid_view *start;
    const tl_pose *end;           /* of the shapes' frames */
    const double *v;              /* [6 count] velocities on the way */
    double dt;                    /* s */
    const bool *fast;             /* bodies that may have missed something */
    const tl_rigid_contacts *now; /* points of the first look */
    double slop;                  /* m: overlaps that do not matter */
} tl_rigid_way;

/* Points where bodies overlap at the end by more than the slop, and more than before: what a constraint at the start
 * of the step did not know. They are those of the moment when the overlap began, and come back as points of the
 * start, with the bend that makes them touch at that moment for the velocities, merged into `out` in order; from
 * [out->count]: number of the point in `now`, or -1; deeper: how much the worst pair goes deeper within the step, of
 * its smaller extent. */
talus_status tl_rigid_detect_again(const tl_rigid_way *w, tl_arena *a, tl_rigid_contacts *out, int32_t **from,
                                   double *deeper, talus_error *err);

/* Deepest overlap of two shapes at `end` [count], one of them free, m: as tl_collide finds it there, not what a solve
 * thinks. now: points of the start, NULL where none were looked for. Pairs that cannot be the deepest by their gaps
 * and how far they went since are not looked at: bodies at rest cost one pair. */
talus_status tl_rigid_depth(const tl_rigid_view *start, const tl_pose *end, const tl_rigid_contacts *now, tl_arena *a,
                            double *depth, talus_error *err);

/* Pairs of `start` with a body of half [count] set, looked at where `v` has them half-way through the step; their
 * points take the place of those of the start, whose gaps they keep. Other points stay. from [out->count]: the point
 * of `start` that it is, or the nearest one of its pair. */
talus_status tl_rigid_detect_half(const tl_rigid_view *v, double dt, const bool *half, const tl_rigid_contacts *start,
                                  tl_arena *a, tl_rigid_contacts *out, int32_t **from, talus_error *err);

/* Impulses to start from, lam [3 count] N s: those of the old points of the pair, each to the nearest new one in
 * either body's frame. */
void tl_rigid_match(const tl_rigid *r, const tl_rigid_contacts *c, const tl_rigid_state *past, double dt, double *lam);

/* Rolling and spinning friction: a torque at a point, at most a length times its normal force. As blocks of the
 * contact problem, after those of the points: velocities about the tangents, or twice that about the normal over
 * sqrt 2, times a length that makes them m/s; see tl_contact on resistances. */
typedef struct tl_rigid_resist {
    int32_t count;
    int32_t *point; /* [count] in the step's contacts */
    bool *spins;    /* [count] about the normal; else about the tangents */
    double *length; /* [count] m */
    double *radius; /* [count] N s: what the impulse may be, length times the force less the length above */
} tl_rigid_resist;

talus_status tl_rigid_find_resist(const tl_rigid *r, const tl_rigid_contacts *c, tl_arena *a, tl_rigid_resist *out,
                                  talus_error *err);
/* Radii from impulses of the points, lam [3 points]. Returns the largest change, as a velocity of its block, m/s; p:
 * the problem of the radii so far, NULL at first. */
struct tl_rigid_problem;
double tl_rigid_set_resist(tl_rigid_resist *s, const tl_rigid_contacts *c, const double *lam,
                           const struct tl_rigid_problem *p);
/* Torque of block k on body a of its point, N m s. */
tl_vec3 tl_rigid_resist_torque(const tl_rigid_resist *s, const tl_rigid_contacts *c, int32_t k, const double lam[3]);

/* The problem as data. bias [3 count]: what is added to J v_free, m/s. */
typedef struct tl_rigid_problem {
    tl_space space;
    tl_csr J;
    tl_contact_bodies bodies;
    tl_contact_operator W;
    tl_contact problem;
    double *q, *bias; /* [3 count] */
    double *mu;       /* [count] */
} tl_rigid_problem;

/* bodies: all but J, which is made here; bias is that of open gaps. resist, joints: NULL for none; joints are the last
 * blocks. `out` must stay where it is. */
talus_status tl_rigid_problem_build(tl_rigid_problem *out, const tl_contact_bodies *bodies, const tl_rigid_contacts *c,
                                    const tl_rigid_resist *resist, const tl_joint_blocks *joints, double dt,
                                    tl_arena *a, talus_error *err);

/* What a point may close within a step, m. Of overlaps nothing: they push no velocity. */
static inline double tl_rigid_point_room(const tl_rigid_point *p) { return (p->gap > 0 ? p->gap : 0) + p->bend; }

/* Velocity of a where the point is, seen from b, and its normal part. v [6 count]. */
tl_vec3 tl_rigid_point_velocity(const tl_rigid_point *p, const double *v);
double tl_rigid_point_speed(const tl_rigid_point *p, const double *v);

/* World force on a, N. */
static inline tl_vec3 tl_rigid_point_force(const tl_rigid_point *p, const double lam[3], double dt)
{
    tl_vec3 f = tl_vec3_add_scaled(tl_vec3_scale(lam[0], p->normal), lam[1], p->t1);
    return tl_vec3_scale(1 / dt, tl_vec3_add_scaled(f, lam[2], p->t2));
}

#endif
