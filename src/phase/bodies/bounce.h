/* What the parts of a bounce share (bounce.c, bounce_energy.c). */
#ifndef TL_PHASE_BODIES_BOUNCE_H
#define TL_PHASE_BODIES_BOUNCE_H

#include "phase/bodies/bodies.h"

#define TL_BOUNCE_BEYOND 2.0 /* times the line from stopped to parted, where all points of an island bounce alike */

typedef struct tl_bounce_island {
    double e;                    /* largest restitution of its impacts; 0: none */
    bool alike;                  /* all points that push bounce with e */
    double before;               /* energy of the start and work done on it since, J */
    double rubbed;               /* J: what friction did until bodies have stopped; 0 or less */
    double rub_slope, rub_curve; /* and does along the line, s rub_slope + s^2 rub_curve */
    double stopped;              /* with velocities that only stop, places of the end */
    double slope, curve; /* along the line: energy less work of scripted bodies = stopped + s slope + s^2 curve */
    double longest;      /* how far the line may be followed */
    double share;
} tl_bounce_island;

typedef struct tl_bounce {
    tl_bodies *s;
    int32_t *root;          /* [count] island of a free body */
    tl_bounce_island *part; /* [count] by root */
    double *e;              /* [contacts] restitution of points in impact, else 0 */
    double *speed;          /* [contacts] of their impacts, negative */
    double *gap;            /* [contacts] at the end */
    int32_t *from;          /* [points] numbers in s->contacts */
    double *v;              /* [6 count] landed */
    double *stop, *back;    /* [3 points] impulses of the two problems */
    double *v_stop, *v_back;
    tl_joint_blocks joints;
    int32_t *joint; /* [blocks] whose row it is */
    tl_rigid_problem p;
    int64_t points;
} tl_bounce;

static inline int32_t tl_bounce_root(int32_t *root, int32_t i)
{
    for (; root[i] != i; i = root[i]) root[i] = root[root[i]];
    return i;
}

static inline int32_t tl_bounce_island_of(const tl_bounce *b, const tl_rigid_point *p)
{
    return tl_bounce_root(b->root, tl_bodies_is_free(b->s, p->a) ? p->a : p->b);
}

static inline tl_bounce_island *tl_bounce_island_of_joint(const tl_bounce *b, const tl_joint *j)
{
    return &b->part[tl_bounce_root(b->root, tl_bodies_is_free(b->s, j->a) ? j->a : j->b)];
}

/* Energies of islands: what they had and what was done to their bodies on the way; what rows of joints did, and do in
 * the impact; work of scripted bodies and of friction, and how far cones let the line go on. */
void tl_bounce_add_bodies(tl_bounce *b, const double *v_before);
void tl_bounce_add_rows(tl_bounce *b);
void tl_bounce_add_points(tl_bounce *b);
/* Where the energy is as it should be, within [0, longest]: never more than there was. */
void tl_bounce_choose(tl_bounce_island *p);

#endif
