/* The grid and whole steps in several processes: the cases that threads pass, on MPI and PETSc. */
#include "cases.h"
#include "grid_cases.h"
#include "step_cases.h"

int main(void)
{
    int failed = 0;
    const tl_comm *c = cluster_start(tl_grid_case_count + tl_step_case_count);
    if (!c) return 1;
    for (int k = 0; k < tl_grid_case_count; k++)
        failed += cluster_run(c, k + 1, tl_grid_cases[k].name, tl_grid_cases[k].run);
    for (int k = 0; k < tl_step_case_count; k++)
        failed += cluster_run(c, tl_grid_case_count + k + 1, tl_step_cases[k].name, tl_step_cases[k].run);
    tl_cluster_end();
    return failed > 0;
}
