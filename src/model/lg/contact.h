/* Contacts of elastic nodes: what detection hands to the step, one list per step.
 *
 * A contact joins an elastic point (a node, or a place of a triangle) with another elastic point, with a free rigid
 * body, or with an obstacle whose motion is given. Its rows act along `normal` and the two tangents of
 * tl_vec3_tangents:
 *
 *     gap(q)  = normal . (a(q) - b) - offset,    b: where the other side will be at the end of the step
 *     slip(q) = tangents of (a(q) - a(q_t)) - (b - b(q_t))
 *
 * with b moving by h `drag` for a given motion. 0 <= gap _|_ force >= 0; |friction| <= mu force, against the slip.
 * Finding contacts is detect.c, the equations and their solution are the step's. */
#ifndef TL_MODEL_LG_CONTACT_H
#define TL_MODEL_LG_CONTACT_H

#include "model/lg/solver.h"
#include "model/rigid/contacts.h"

typedef struct tl_lg_contact {
    tl_lg_point a;                    /* the elastic point that touches */
    tl_lg_point b;                    /* elastic point on the other side; node[0] < 0: none */
    int32_t rigid;                    /* the other side is this free body of tl_rigid; -1: no */
    int32_t body_a;                   /* of the scene, for tables */
    int32_t body_b;                   /* of tl_rigid (walls come after the scene's), for tables */
    int32_t point, obstacle, feature; /* who they are in the next step: tl_lg_memory */
    tl_vec3 at;                       /* on the other side's surface, at the start of the step, m */
    tl_vec3 normal;                   /* out of the other side */
    tl_vec3 drag;                     /* mean velocity of the given motion at `at`, m/s; 0 for b and rigid */
    double
        /* m: gap is normal.(a - b) - offset for b, else normal.a - offset with given motions done and free bodies
         * not moved */
        offset;
    double mu, restitution;
} tl_lg_contact;

typedef struct tl_lg_contacts {
    int32_t count;
    tl_lg_contact *contact; /* [count] in a fixed order, whatever the threads */
    int32_t shapes;         /* the first of them: against shapes; the others are between elastic bodies */
    double margin;          /* m: how far the search looked */
} tl_lg_contacts;

/* What the next step starts from; force: on the elastic point, N. */
static inline tl_lg_memory tl_lg_memory_of(const tl_lg_contact *k, tl_vec3 force, double gap)
{
    return (tl_lg_memory){.point = k->point,
                          .obstacle = k->obstacle,
                          .feature = k->feature,
                          .body = k->body_a,
                          .other = k->body_b,
                          .force = {force.x, force.y, force.z},
                          .normal = {k->normal.x, k->normal.y, k->normal.z},
                          .at = {k->at.x, k->at.y, k->at.z},
                          .gap = gap};
}

/* What detection looks at. */
typedef struct tl_lg_view {
    const tl_lg *lg;
    const tl_rigid *rigid;
    const tl_scene *scene;
    const double *from, *to; /* [nodes][3] q_t and where nodes would go without contacts */
    const tl_motion *body;   /* [rigid->count] free bodies: predicted velocities */
    const tl_pose *before,
        *after;              /* [rigid->count] shapes' frames at both ends of the step; of free bodies as predicted */
    const double *friction;  /* [rigid->count] each one's own */
    const double *length;    /* [cables] m, that code set; < 0: the scene's; NULL: of all */
    const double *start;     /* [nodes][3] where `from` is later in the step: nodes at its start. NULL: from */
    const tl_joints *joints; /* pairs of rigid bodies that they hold do not touch; NULL: none */
    bool solids_again;       /* a second look is one at elastic bodies against each other too, where they ended up */
    double h;
} tl_lg_view;

/* Everything that may touch within the step: obstacles (any shape, static, kinematic, free, walls), other elastic
 * bodies, and the body itself where the scene asks for it. Lives in the arena. */
talus_status tl_lg_detect(const tl_lg_view *v, tl_arena *a, tl_lg_contacts *out, talus_error *err);

/* Contacts for other positions v->to of the same step: those of `have` and what else is close to a shape, other
 * places of the same edges and triangles included. origin [more->count]: which of `have` it is, -1 for a new one.
 * `changed`: there are new ones. */
talus_status tl_lg_detect_again(const tl_lg_view *v, const tl_lg_contacts *have, tl_arena *a, tl_lg_contacts *more,
                                int32_t **origin, bool *changed, talus_error *err);

/* Planes of shapes are found where nodes would go, and deep inside the nearest way out need not be the one they
 * came: a point that starts outside of the shape but behind such a plane gets the plane that separates them at the
 * start instead. Else it would be pushed through the shape. */
void tl_lg_mend_planes(const tl_lg_view *v, tl_lg_contacts *contacts);

/* Edges of elastic surfaces that pass through triangles of others, or of their own body where it touches itself,
 * with nodes at v->to = v->from; m: how far the deepest is through. Looks at all surfaces, not at the contacts that
 * were found. */
talus_status tl_lg_crossings(const tl_lg_view *v, tl_arena *a, int64_t *count, double *depth, talus_error *err);

/* m: deepest point of elastic surfaces in shapes, between their nodes as well, and through each other, with nodes at
 * v->to = v->from and shapes at v->after. */
talus_status tl_lg_depth(const tl_lg_view *v, tl_arena *a, double *depth, talus_error *err);

/* Elastic surfaces that would meet along straight ways from v->from to v->to, each where they are nearest when they
 * do; what touches at v->from already is left out, and what is inside of a solid. solids: also those between two
 * solids. */
talus_status tl_lg_impacts(const tl_lg_view *v, bool solids, tl_arena *a, tl_lg_contacts *out, talus_error *err);
#define TL_LG_ON_THE_WAY 3 /* `feature` of these */

/* Points between rigid bodies, of which at least one is free; elastic bodies' own entries in tl_rigid are left out.
 * view: what was looked at. */
talus_status tl_lg_detect_rigid(const tl_lg_view *v, const tl_rigid_state *past, tl_arena *a, tl_rigid_view *view,
                                tl_rigid_contacts *out, talus_error *err);

#endif
