/* What the files of this kind share while a scheme runs; not meant for others. */
#ifndef TL_SOLVE_COUPLED_WORK_H
#define TL_SOLVE_COUPLED_WORK_H

#include "math/anderson.h"
#include "solve/coupled/method.h"
#include "solve/viscous/method.h"

#define TL_COUPLED_BLOCKS 4
#define TL_COUPLED_INNER 0.3 /* of the scheme's tolerance: target of a block */
#define TL_COUPLED_CONE_SWEEPS                                                                                         \
    20 /* of staggered projections [grid-granular spec 10]; with mixing they do what 40 would */
/* Of what contacts close with: slips are measured against at least that, or bodies at rest would never do. */
#define TL_COUPLED_REST 0.1
#define TL_COUPLED_LAMBDA_DIAGONAL 6.0 /* of normal forces among pressures: like a cell's */

typedef talus_status tl_coupled_block(tl_coupled *c, tl_scheme_report *out, talus_error *err);

struct tl_scheme {
    const char *name, *help;
    bool cones; /* has a block for them */
    int sweeps; /* 1: once, whatever is left */
    tl_coupled_block *block[TL_COUPLED_BLOCKS];
};

typedef struct tl_coupled_work {
    int64_t all;                    /* cells of all parts */
    int32_t n, m, bodies;           /* cells, blocks of contacts and joints, bodies with walls */
    int32_t points;                 /* of the blocks: contacts; joints come after them */
    double *x, *x0, *b;             /* [n + m] solver's unknowns, before, right side; x0 has room for copies */
    double *g;                      /* [n] */
    double *diag;                   /* [n + m] of E */
    double *scale;                  /* [m] impulse per unit of the solver's unknown */
    double *r, *dv;                 /* [6 bodies] */
    double *sums;                   /* [6 bodies] of several parts */
    int32_t *nb[TL_PRESSURE_SIDES]; /* [n] neighbours behind normal forces, where there are several parts */
    int32_t moving;                 /* free bodies that touch the field or another body */
    int32_t *mover;                 /* [moving] */
    double *root;                   /* [bodies][10] of per_u M^-1: 3x3 of rotation, translation */
    double *base, *q;               /* [6 bodies], [3m] of contact blocks */
    double *l, *dl;                 /* [3m] */
    double *no_friction;            /* [m] zeros; of joints as they are */
    tl_contact_bodies free_bodies;
    tl_contact contact;
    tl_pairs pairs;
    tl_pressure alone, with_normals;
    tl_pressure_plan *plan_alone, *plan_with_normals;
    double b_pressure, b_normal, b_tangent, b_joint; /* largest that a block found without its own forces */
    double free_pressure, free_normal;               /* the same before any force */
    double free_viscous;                             /* m/s */
    tl_viscous_plan *plan_viscous;
    double *viscous_b, *viscous_x, *viscous_y; /* [faces + others + cells] */
    double dp, ds;                             /* largest change of the last blocks */
    tl_anderson mixing;                        /* of sweeps */
    double *went;                              /* [n + m] in the solver's units: what the sweep began with */
    double *began, *ended;   /* [mixing.all] without cones: what the sweep began with, and what came out */
    double *u_free, *u_last; /* [faces] with cones: before any force, after the last sweep */
    bool started;            /* p is worth starting from */
    bool held;               /* p and s of the start do not act yet: their block brings them in */
    bool pressure_last;      /* of the blocks: the next sweep depends on it */
} tl_coupled_work;

/* Several parts: fields are in parts, bodies and contacts the same in all. */
static inline const tl_comm *tl_coupled_comm(const tl_coupled *c)
{
    return c->pressure.space ? c->pressure.space->comm : NULL;
}
static inline double tl_coupled_max(const tl_coupled *c, double mine) { return tl_comm_max(tl_coupled_comm(c), mine); }
/* What dp [n], with room for copies, does to velocities. */
static inline void tl_coupled_push(const tl_coupled *c, double *dp)
{
    tl_pressure_refresh(&c->pressure, dp);
    c->push(c->ctx, dp);
}

/* bodies.c: the part of bodies and normal forces in the Hessian */
void tl_coupled_find_bodies(tl_coupled *c);                             /* diagonal, scales, bodies that move */
void tl_coupled_push_contacts(tl_coupled *c, const double *dl);         /* v += M^-1 J^T dl */
void tl_coupled_add_alone(const void *ctx, const double *x, double *y); /* y += E x of the field alone */
void tl_coupled_add_with_normals(const void *ctx, const double *x, double *y);
void tl_coupled_gather(const void *ctx, const double *x, double *r); /* E = U U^T: r = U^T x */
void tl_coupled_scatter(const void *ctx, const double *r, double *y);
void tl_coupled_gather_alone(const void *ctx, const double *x, double *r); /* the same of the field alone */
void tl_coupled_scatter_alone(const void *ctx, const double *r, double *y);
/* out = L t or L^T t of a body, L L^T = per_u M^-1 */
void tl_coupled_through_root(const tl_coupled_work *w, int32_t b, bool transposed, const double *t, double out[6]);
double tl_coupled_largest_row(const double *u, int32_t m, int first, int last);
/* The box of block j, which is a joint's. */
static inline const tl_contact_box *tl_coupled_box(const tl_coupled *c, int32_t j)
{
    return &c->contact.box[j - c->work->points];
}

/* blocks.c */
tl_coupled_block tl_coupled_pressure, tl_coupled_pressure_normal, tl_coupled_stress, tl_coupled_pressure_stress,
    tl_coupled_contact, tl_coupled_normal, tl_coupled_tangent; /* joints are part of the first two */
void tl_coupled_clip_tangent(tl_coupled *c);    /* friction that the normal forces of the end do not carry */
double tl_coupled_changed(const tl_coupled *c); /* largest change of p and s in the last blocks, over the largest p */

/* viscous.c: pressure and viscous stress at once */
talus_status tl_coupled_viscous_begin(tl_coupled *c, talus_error *err);
talus_status tl_coupled_run_viscous(tl_coupled *c, tl_scheme_report *out, talus_error *err);
double tl_coupled_viscous_error(const tl_coupled *c);

/* mix.c: where the next sweep begins */
talus_status tl_coupled_mix_cones_begin(tl_coupled *c, talus_error *err);
void tl_coupled_mix_cones(tl_coupled *c, int sweep);
double tl_coupled_moved(tl_coupled *c); /* what the sweep changed of u, over what all forces have */
talus_status tl_coupled_mix_begin(tl_coupled *c, const tl_scheme *s, talus_error *err);
void tl_coupled_mix_state(const tl_coupled *c, double *out);
void tl_coupled_mix(tl_coupled *c);

/* certify.c */
talus_status tl_coupled_certify(tl_coupled *c, tl_coupled_certificate *out, talus_error *err);

#endif
