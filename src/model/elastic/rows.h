/* Contacts of elastic and rigid bodies, and joints of these, in one contact problem: rows J over velocities of nodes
 * and bodies.
 *
 * u = J v + bias in m/s with impulses in N s, as solve/flex and tl_contact want it. Contacts come from detection
 * (model/lg/contact.h for elastic surfaces, model/rigid/contacts.h between rigid bodies). A gap that is open may
 * close within the step; of an overlap a fifth goes per step, measured at the start of the step, so that Newton
 * iterations do not compound it. A point acts at one place for both sides. */
#ifndef TL_MODEL_ELASTIC_ROWS_H
#define TL_MODEL_ELASTIC_ROWS_H

#include "model/elastic/fem.h"
#include "model/lg/contact.h"

/* Relative velocity: sum of weight times node velocity + point of body[0] - point of body[1]. */
typedef struct tl_fem_link {
    int32_t nodes, node[8]; /* of tl_lg */
    double weight[8];
    int32_t body[2]; /* of tl_rigid; < 0: none */
    tl_vec3 lever[2], axis[3];
    double bias[3]; /* m/s */
} tl_fem_link;

typedef struct tl_fem_rows {
    const tl_fem *fem;
    int32_t blocks;               /* contacts, then joints */
    int32_t contacts, soft;       /* the first `soft` are those of tl_lg_contacts, the others between rigid bodies */
    tl_fem_link *link;            /* [contacts] */
    double *mu;                   /* [blocks] */
    const tl_joint_blocks *joint; /* [blocks - contacts]; their bias may change between solves */
    int32_t rigid;                /* bodies of tl_rigid */
    const double *inv_mass, *inv_inertia;
} tl_fem_rows;

typedef struct tl_fem_rows_of {
    const tl_fem *fem;
    double h;
    const double *from; /* [nodes][3] positions at the start of the step */
    const tl_lg_contacts *soft;
    int32_t rigid;                        /* bodies of tl_rigid */
    const tl_motion *body;                /* [rigid] at the start of the step */
    const double *bias;                   /* [3 hard] m/s: of contacts between rigid bodies */
    const double *inv_mass, *inv_inertia; /* [rigid], [rigid][9] */
    const tl_rigid_contacts *hard;
    const tl_joint_blocks *joint;
} tl_fem_rows_of;

talus_status tl_fem_rows_make(tl_fem_rows *out, const tl_fem_rows_of *from, tl_arena *a, talus_error *err);

/* u [3 blocks] = J v + bias; v [nodes][3], v_rigid [rigid][6]. */
void tl_fem_rows_velocity(const tl_fem_rows *r, const double *v, const double *v_rigid, double *u);
/* J^T lam added to impulses of nodes [nodes][3] and of bodies [rigid][6] (NULL: not wanted). */
void tl_fem_rows_push(const tl_fem_rows *r, const double *lam, double *nodes, double *bodies);
/* The rows of blocks pick [count] over unknowns, and the transpose: J [3 count][n + 6 rigid], first [bodies + 1]
 * unknown of each elastic body, then n, of all of them. Held nodes and fixed bodies have no columns. In the arena. */
talus_status tl_fem_rows_matrix(const tl_fem_rows *r, int32_t count, const int32_t *pick, const int64_t *first,
                                tl_csr *J, tl_csr *Jt, tl_arena *a, talus_error *err);

/* World force of a contact on its first side, from its three rows. */
static inline tl_vec3 tl_fem_link_force(const tl_fem_link *l, const double x[3])
{
    tl_vec3 f = tl_vec3_add_scaled(tl_vec3_scale(x[0], l->axis[0]), x[1], l->axis[1]);
    return tl_vec3_add_scaled(f, x[2], l->axis[2]);
}

#endif
