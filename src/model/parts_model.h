/* What several processes cost: seconds of a pressure solve and of a liquid step by a simple model of a network, and a
 * first cut of a scene among them. For plans before a run (talus check --ranks) and beside measurements (talus bench
 * cluster). Constants: docs/cluster.md. */
#ifndef TL_MODEL_PARTS_MODEL_H
#define TL_MODEL_PARTS_MODEL_H

#include "base/status.h"
#include "model/grid/grid.h"
#include "scene/scene.h"

/* A message to k others with B bytes takes latency + (k - 1) overhead + B / bandwidth. */
typedef struct tl_network {
    double latency, overhead; /* s */
    double bandwidth;         /* bytes/s of a process */
} tl_network;
tl_network tl_network_good(void);

typedef struct tl_parts_model {
    int whole;                      /* first level that all processes have all of */
    double solve, step;             /* s, one process's; of one core */
    double solve_alone, step_alone; /* s of as many cells in one process: efficiency is one over the other */
} tl_parts_model;

/* cells: with a pressure, per process. collected: among at most 64 processes the levels that all have would be worked
 * on, as is planned for many; false: as it is. */
tl_parts_model tl_parts_model_of(const tl_network *net, int64_t processes, double cells, bool collected);

/* A scene cut among processes, from the shapes of its fills alone: no particle is made. Bodies are not cut out. */
typedef struct tl_parts_plan {
    int shift;               /* cubes of 2^shift blocks stay together */
    double particles, cells; /* of all; cells with matter */
    int64_t blocks;          /* with matter */
    /* of the process with the most particles */
    double most_particles, most_cells;
    int64_t most_blocks, halo_blocks; /* blocks that are there for it: with those around matter; copies of others' */
    double imbalance;
    double bytes;                    /* of it, in a step */
    double bytes_first, bytes_start; /* of the first one: besides, at a checkpoint; while it makes all particles */
} tl_parts_plan;

talus_status tl_parts_plan_make(const tl_scene *s, int processes, tl_parts_plan *out, talus_error *err);

#endif
