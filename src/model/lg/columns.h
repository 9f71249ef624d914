/* Columns of A^-1 at nodes that touch, kept from step to step.
 *
 * The explicit compliance of contacts is A^-1 between the nodes that touch. Nodes come back: a column is solved for (three at once) when its node is first
 * asked for, and later steps only gather. Values depend on the node alone, not on what was asked before, so a run that is resumed finds the same bits.
 * Columns belong to one h; beyond a limit of memory those that are not in use are dropped. */
#ifndef TL_MODEL_LG_COLUMNS_H
#define TL_MODEL_LG_COLUMNS_H

#include "model/lg/solver.h"

typedef struct tl_lg_columns tl_lg_columns;

talus_status tl_lg_columns_create(tl_lg_columns **out, const tl_lg *lg, talus_error *err);
void tl_lg_columns_free(tl_lg_columns *c);

/* B = A^-1 between nodes [count][count], exactly symmetric; nodes rising. s: a solver that is up to date. Of solvers in single
 * precision columns have 1e-6. */
talus_status tl_lg_columns_between(tl_lg_columns *c, const tl_lg_solver *s, tl_lg_precision p, double h, int32_t count,
                                   const int32_t *node, double *B, tl_arena *a, talus_error *err);

#endif
