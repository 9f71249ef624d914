/* Several processes, started by mpirun or srun, as one run: each calls talus_cluster_begin and then talus_run with the
 * same scene and options. The first process writes the folder (docs/cluster.md). */
#ifndef TALUS_CLUSTER_H
#define TALUS_CLUSTER_H

#include <talus/export.h>
#include <talus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Once per process, which must be one of several. library: libtalus-cluster.so, which only builds for clusters have,
 * by its path. process counts from 0; both may be NULL. */
TALUS_API talus_status talus_cluster_begin(const char *library, int *process, int *processes, talus_error *err);
/* Waits for the others. */
TALUS_API void talus_cluster_end(void);

#ifdef __cplusplus
}
#endif
#endif
