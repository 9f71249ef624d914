/* Several processes, started by mpirun or srun, as one run: each calls talus_cluster_begin and then talus_run with the
 * same scene and options. The first process writes the folder (docs/cluster.md). */
#ifndef TALUS_CLUSTER_H
#define TALUS_CLUSTER_H

#include <stdint.h>
#include <talus/export.h>
#include <talus/scene.h>
#include <talus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Once per process, which must be one of several. library: libtalus-cluster.so, which only builds for clusters have,
 * by its path. process counts from 0; both may be NULL. */
TALUS_API talus_status talus_cluster_begin(const char *library, int *process, int *processes, talus_error *err);
/* What a scene would cost in so many processes, from the shapes of its fills alone: no particle is made, so that
 * scenes beyond this machine can be planned on it. Bodies are not cut out. Refused: what would be refused there. */
typedef struct talus_cluster_cost {
    double particles, cells;           /* of all; cells of the grid with matter */
    double most_particles, most_cells; /* of the process with the most, which the rest is about: */
    int64_t blocks, halo_blocks;       /* its blocks of 8^3 cells, and copies of others' */
    double imbalance;                  /* most over mean */
    double bytes;                      /* in a step */
    double bytes_first;                /* of the first process besides, at frames and checkpoints, which it collects */
    double bytes_start;                /* of the first process while it starts: it makes all particles */
    double seconds_per_step, efficiency; /* by the model of docs/cluster.md, one core each; over one process's */
} talus_cluster_cost;
TALUS_API talus_status talus_cluster_plan(const talus_scene *scene, int processes, talus_cluster_cost *out,
                                          talus_error *err);

/* Waits for the others. */
TALUS_API void talus_cluster_end(void);

#ifdef __cplusplus
}
#endif
#endif
