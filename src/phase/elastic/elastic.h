/* The step of elastic bodies by finite elements, with rigid ones: the grid engine where nothing flows and something
 * bends. */
#ifndef TL_PHASE_ELASTIC_ELASTIC_H
#define TL_PHASE_ELASTIC_ELASTIC_H

#include "model/elastic/fem.h"
#include "phase/rigid/rigid.h"

/* Decided once. Factors and matrices are made anew in every step: nothing here changes a result. */
typedef struct tl_elastic_data {
    tl_fem fem;
    tl_factor **factor;                /* [bodies] analysed once; "schur-last": whenever other nodes touch */
    tl_factor **drag;                  /* [bodies] of the same with what a viscous liquid adds; NULL: there is none */
    const struct tl_flex_route *route; /* how velocities and impulses are found */
    bool schur;                        /* by one of the two that write the compliance out */
    struct tl_flex_data *flex;         /* its matrices */
    int64_t *first;                    /* [bodies + 1] unknown of each body */
    double *mass;                      /* [unknowns] kg */
    tl_csr *roots;                     /* [bodies] of stiffness, for routes that want them */
    int32_t *order, *perm;             /* [unknowns] "schur-last": order without contacts, and in force */
    bool midpoint;
    bool damps;   /* some body does */
    double noise; /* J: energies are not known better */
} tl_elastic_data;

bool tl_scene_bends(const tl_scene *s); /* has an elastic body */

/* Elastic bodies of the scene and their first state; bodies of tl_rigid must be there. *out is NULL after a failure. */
talus_status tl_elastic_begin(tl_sim *sim, tl_elastic_data **out, talus_error *err);
void tl_elastic_end(tl_elastic_data *k); /* NULL is fine */

/* One try; see tl_engine_entry. */
talus_status tl_elastic_step(tl_sim *sim, tl_elastic_data *data, const tl_rigid_data *rigid, double dt, bool *again,
                             talus_error *err);

#endif
