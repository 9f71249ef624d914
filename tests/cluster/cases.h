/* Test cases on processes of mpirun: every process runs every case, the first one prints what TAP readers count. */
#ifndef TL_TESTS_CLUSTER_CASES_H
#define TL_TESTS_CLUSTER_CASES_H

#include <stdio.h>

#include "cluster/cluster.h"

/* What is wrong on this process, or NULL. */
typedef const char *(*cluster_case)(const tl_comm *c);

static inline const tl_comm *cluster_start(int cases)
{
    const tl_comm *c = NULL;
    const char *why = tl_cluster_begin(&c);
    if (why) printf("1..1\nnot ok 1 - %s\n", why);
    if (c && c->part == 0) printf("1..%d\n", cases);
    return c;
}

/* Returns 1 when it failed anywhere. */
static inline int cluster_run(const tl_comm *c, int number, const char *name, cluster_case run)
{
    talus_error err = {TALUS_OK, ""};
    const char *wrong = run(c);
    talus_status mine =
        wrong ? TL_FAIL(&err, TALUS_BAD_INPUT, "part %d of %d: %s", c->part, c->parts, wrong) : TALUS_OK;
    talus_status all = tl_comm_agree(c, mine, &err);
    if (c->part == 0 && all) printf("%s\n", err.message);
    if (c->part == 0) printf("%sok %d - %s, %d processes\n", all ? "not " : "", number, name, c->parts);
    fflush(stdout);
    return all != TALUS_OK;
}

#endif
