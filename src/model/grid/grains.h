/* Single grains: contact with solids, and no gradient.
 *
 * Thin fronts and stray grains are in cells without a pressure, so no stress holds them and a floor would be ice to
 * them. A grain there whose centre is nearer to a solid than its radius, half a spacing, is a point in contact: what
 * goes into the solid is taken away, and friction takes up to sin(angle) times that from what slides, the same limit at
 * which a layer of the material slips on a floor [grid-granular spec 3.6, 6.13].
 *
 * It loses its affine velocity, and so does a grain beside cells with a pressure: faces on one side of it belong to the
 * floor or go with the pile, so its gradient is the one between these at rest and itself, and a grain that leaves would
 * be carried on by v = C x, faster with every cell.
 *
 * Elastic surfaces give way at once: a grain that is heavier than the sheet on which it lies would push it down by
 * g dt in every step, and the sheet would lift none of it. Such grains ride: they are points of the elastic problem
 * (phase/elastic/riders.c), which says where they go. Until then they meet the surface as it moves.
 *
 * Drops of liquids are such points too where they touch free bodies, without friction: no pressure hands their
 * momentum over. */
#ifndef TL_MODEL_GRID_GRAINS_H
#define TL_MODEL_GRID_GRAINS_H

#include "model/grid/transfer.h"

/* What grains in contact get and give. */
typedef struct tl_grain_account {
    double given;          /* J of free bodies' motion, by grains */
    tl_vec3 fixed, turned; /* N s on grains by what does not move freely, and its moment about the origin */
} tl_grain_account;

/* A grain on an elastic surface. */
typedef struct tl_rider {
    int32_t particle, block, body;
    int32_t node[3];
    double weight[3]; /* of the nodes: the nearest place */
    tl_vec3 normal;   /* outward */
    double mass;      /* kg */
    double friction;  /* coefficient */
    tl_vec3 v;        /* m/s, with the step's forces, without the surface */
    tl_vec3 expected; /* m/s that the surface changes of it, as it was at the start: on faces already */
    tl_vec3 got;      /* m/s that it changes: by the elastic problem */
    double pressed;   /* N s along the normal, as of the last correction: what friction goes by */
} tl_rider;

typedef struct tl_riders {
    int64_t count, room;
    tl_rider *of; /* in the order of particles */
} tl_riders;

typedef struct tl_grains {
    const double *alpha;     /* [materials] sqrt 2 sin(angle); 0: a liquid. NULL: liquids alone, against free bodies */
    const double *rho;       /* [materials] kg/m^3 */
    const int32_t *number;   /* [cells] < 0: no pressure there */
    const tl_solids *solids; /* at the start of the step */
    const float *solid_phi;  /* tl_solids_field of them */
    double touch;            /* m: nearer than that to a solid is in contact */
    const double *friction; /* [bodies] against sand, where less than its own; negative: the material's. NULL: of all */
    double walls;           /* the same of the domain's walls */
    /* [bodies], of the scene: what grains give to free ones goes into body_v [6 bodies] at once, so that the next
     * grain meets a body that has been hit. NULL: no body is free */
    const double *inv_mass, *inv_inertia;
    double *body_v;
    double *
        load; /* [6 bodies] out, added to: N s on bodies, free or not, and N m s about their centres; NULL: not wanted */
    tl_riders
        *riders; /* out: what touches elastic bodies, where there is room for all; NULL: these are as free bodies */
    tl_grain_account *account; /* out, added to; NULL: not wanted */
    tl_vec3 push;              /* velocity that forces add in the step, m/s: already in u */
} tl_grains;

/* Changes the face velocities that such grains have a part in, and those of free bodies they touch: impulses are
 * equal and opposite. Returns how many touch a solid. */
int64_t tl_grains_stop(const tl_grid *g, const tl_grains *s, const tl_particles *p, tl_faces *faces);

/* The same with several parts, without riders. Collective. */
talus_status tl_grains_stop_parts(const tl_grid *g, const tl_grains *s, const tl_particles *p, tl_faces *faces,
                                  tl_arena *a, talus_error *err);

/* N s that faces get when riders go where they are said to; impulse [3][cells], added to. */
void tl_grains_land(const tl_grid *g, const tl_riders *r, const tl_particles *p, double *const impulse[3]);

#endif
