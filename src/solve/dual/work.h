/* What the files of this kind share while a scheme runs; not meant for others. */
#ifndef TL_SOLVE_DUAL_WORK_H
#define TL_SOLVE_DUAL_WORK_H

#include "math/anderson.h"
#include "solve/dual/method.h"
#include "solve/viscous/method.h"

#define TL_DUAL_BLOCKS 3
#define TL_DUAL_INNER 0.3           /* of the tolerance: target of a pressure solve */
#define TL_DUAL_NORMAL_DIAGONAL 6.0 /* of normal forces among pressures: like a cell's */

typedef talus_status tl_dual_block(tl_dual_solver *s, tl_dual_report *out, talus_error *err);

struct tl_dual_scheme {
    const char *name, *help;
    bool cones;     /* has a block for them */
    bool projected; /* needs stiffness without negative eigenvalues */
    bool uzawa;     /* viscous: velocities inside of products for pressures */
    int sweeps;     /* 1: once, whatever is left */
    tl_dual_block *block[TL_DUAL_BLOCKS];
};

typedef struct tl_dual_work {
    int32_t cells, contacts;
    int64_t n;              /* velocities of solids */
    double *p, *lam, *dv;   /* the caller's */
    double *x, *x0, *b;     /* [cells + contacts] */
    double *gap;            /* [cells] net outflow, 1/s */
    double *r, *w, *D;      /* [n] push, velocities, diagonal of H */
    double *u;              /* [3 contacts] */
    double *load;           /* [n] impulse Z p */
    double *share;          /* [cells] diagonal of Y^T diag(H)^-1 Y in the units of S */
    float *dir, *own;       /* [cells] of S with it; it */
    double *d;              /* [cells] */
    double *scale, *normal; /* [contacts] impulse per unit of the solver's unknown; diagonals */
    /* modes: inner matrices, as Cholesky factors; of rigid bodies roots of inverse masses */
    int32_t columns, columns_max; /* in use now; of all solids that move */
    int32_t *part;                /* [columns / 6] parts, then rigid bodies */
    double *inner;                /* [columns / 6][36] */
    tl_pressure problem[2];       /* alone, with normal forces */
    tl_pressure_plan *plan[2];
    double b_pressure; /* 1/s, largest that pressure had to undo */
    double dp, ds;     /* Pa, of the last blocks */
    tl_anderson mixing;
    double *went; /* [cells + contacts] what a sweep of sand began with */
    /* of a viscous liquid */
    tl_viscous viscous;
    tl_viscous_plan *plan_viscous;
    double *viscous_b, *viscous_x; /* [faces + n + cells] */
    double *rest, *step;           /* [n] N s, m/s */
    double most_rest;              /* N s */
    struct tl_flex_cg *cg;
    double *began, *ended; /* [n + 3 contacts] of a sweep; NULL: nothing is mixed (mix.c) */
    bool fresh;            /* H has not been used in a contact block */
    bool joined;           /* the matrix of joint.c is that of H */
    int32_t *row;          /* [cells + contacts] of it */
    double *of_rigid;      /* [cells + contacts] what its diagonal has of rigid bodies */
    int64_t joint;         /* its unknowns */
    talus_status failed;
    talus_error why;
} tl_dual_work;

/* blocks.c */
tl_dual_block tl_dual_pressure, tl_dual_pressure_normal, tl_dual_contact;
/* dv of p and lam; the load of p */
talus_status tl_dual_settle(tl_dual_solver *s, talus_error *err);
double tl_dual_noise(const tl_dual_solver *s);      /* 1/s: an outflow below has nothing in it but rounding */
void tl_dual_outflow(tl_dual_solver *s, double *g); /* net outflow of cells at u and dv */
talus_status tl_dual_certify(tl_dual_solver *s, tl_dual_certificate *out, talus_error *err);

/* x0: pressures and normal forces as they are; b = A x0 - gradient, gap and u at them. And the answer in x taken. */
void tl_dual_pose(tl_dual_solver *s, int32_t normals);
talus_status tl_dual_take(tl_dual_solver *s, int32_t normals, talus_error *err);
double tl_dual_gradient(const tl_dual_solver *s, int32_t i);   /* of an unknown at p, lam and dv as they were posed */
double tl_dual_left(const tl_dual_solver *s, int32_t normals); /* what is left of it, as the certificate measures */

/* joint.c, ways.c: for comparison */
talus_status tl_dual_joint_begin(tl_dual_solver *s, talus_error *err); /* room, and the order of rows */
tl_dual_block tl_dual_by_g, tl_dual_by_g_scaled, tl_dual_by_z1z2, tl_dual_by_ucg, tl_dual_by_ica;
/* cones.c */
tl_dual_block tl_dual_stress;
talus_status tl_dual_sweep_cones(tl_dual_solver *s, tl_dual_report *out, talus_error *err);

/* dual.c */
talus_status tl_dual_run_block(tl_dual_solver *s, tl_dual_block *block, tl_dual_report *out, talus_error *err);
/* viscous.c */
tl_dual_block tl_dual_viscous_stress;
talus_status tl_dual_viscous_begin(tl_dual_solver *s, talus_error *err); /* room */
talus_status tl_dual_viscous_plan(tl_dual_solver *s, talus_error *err);  /* after the first tl_dual_fit */
void tl_dual_viscous_start(tl_dual_solver *s);
double tl_dual_viscous_error(tl_dual_solver *s);

/* mix.c */
talus_status tl_dual_mix_begin(tl_dual_solver *s, talus_error *err); /* room */
talus_status tl_dual_mix_start(tl_dual_solver *s, talus_error *err); /* of a solve */
void tl_dual_mix_end(tl_dual_solver *s);                             /* of a sweep */
void tl_dual_mix(tl_dual_solver *s);                                 /* lam of the next start */

/* hessian.c: what solids add to the matrix of the pressure */
void tl_dual_fit(tl_dual_solver *s); /* H is new */
void tl_dual_add_alone(const void *ctx, const double *x, double *y);
void tl_dual_add_with_normals(const void *ctx, const double *x, double *y);
void tl_dual_gather_alone(const void *ctx, const double *x, double *r);
void tl_dual_gather(const void *ctx, const double *x, double *r);
void tl_dual_scatter_alone(const void *ctx, const double *r, double *y);
void tl_dual_scatter(const void *ctx, const double *r, double *y);

#endif
