/* Processes of MPI as parts of one run (base/comm.h). In a library of its own, libtalus-cluster.so, which only
 * `./dev build --cluster` makes: nothing else of talus knows MPI or PETSc. Calls nothing of talus. */
#ifndef TL_CLUSTER_CLUSTER_H
#define TL_CLUSTER_CLUSTER_H

#include <talus/export.h>

#include "base/comm.h"

/* Joins the other processes that mpirun or srun started; *out is valid until the end. Why not, as a sentence that
 * stays; NULL: good. Once per process. */
TALUS_API const char *tl_cluster_begin(const tl_comm **out);
TALUS_API void tl_cluster_end(void);

#endif
