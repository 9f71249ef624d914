/* Sums, messages and halos between processes: the cases that threads pass, on MPI and PETSc. */
#include "cases.h"
#include "comm_cases.h"

int main(void)
{
    int failed = 0;
    const tl_comm *c = cluster_start(tl_comm_case_count);
    if (!c) return 1;
    for (int k = 0; k < tl_comm_case_count; k++)
        failed += cluster_run(c, k + 1, tl_comm_cases[k].name, tl_comm_cases[k].run);
    tl_cluster_end();
    return failed > 0;
}
