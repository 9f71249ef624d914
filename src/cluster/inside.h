/* What the files of this folder share. */
#ifndef TL_CLUSTER_INSIDE_H
#define TL_CLUSTER_INSIDE_H

#include <petscsf.h>

#include "base/algebra.h"
#include "cluster/cluster.h"

#undef I /* complex.h, by way of PETSc */

/* What goes when the comm is released to a mark before it: the first member of plans and solvers. */
typedef struct cluster_thing cluster_thing;
struct cluster_thing {
    cluster_thing *older;
    void (*destroy)(cluster_thing *t);
};

void cluster_keep(cluster_thing *t, void (*destroy)(cluster_thing *t));
void cluster_must(int code); /* of MPI or PETSc: not 0 ends all processes */
MPI_Comm cluster_world(void);

extern const tl_algebra_ops cluster_algebra;

#endif
