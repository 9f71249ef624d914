/* Columns of A^-1 at nodes that touch, kept from step to step.
 *
 * The explicit compliance of contacts is A^-1 between the nodes that touch. Nodes come back: a column is solved for
 * (three at once) when its node is first asked for, and later steps only gather. Values depend on the node alone,
 * not on what was asked before, so a run that is resumed finds the same bits. Columns belong to one h; beyond a
 * limit of memory those that are not in use are dropped. */
#ifndef TL_MODEL_LG_COLUMNS_H
#define TL_MODEL_LG_COLUMNS_H

#include "model/lg/solver.h"

typedef struct tl_lg_columns tl_lg_columns;

talus_status tl_lg_columns_create(tl_lg_columns **out, const tl_lg *lg, talus_error *err);
void tl_lg_columns_free(tl_lg_columns *c);

/* Solves for what is missing of `node` [count]. s: a solver that is up to date, for h. room [2][lg nodes][3]: the
 * first half must be zero, and is so afterwards. */
talus_status tl_lg_columns_ready(tl_lg_columns *c, const tl_lg_solver *s, tl_lg_precision p, double h, int32_t count,
                                 const int32_t *node, double *room, talus_error *err);
/* A^-1 between two nodes of one body that are ready, from the lower one's column: symmetric to the last bit. */
double tl_lg_columns_at(const tl_lg_columns *c, int32_t i, int32_t j);

#endif
