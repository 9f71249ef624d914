/* Pressure solves on processes: the cases that threads pass (tests/support/pressure_cases.h). */
#include "cases.h"
#include "pressure_cases.h"

int main(void)
{
    int failed = 0;
    const tl_comm *c = cluster_start(tl_pressure_parts_case_count);
    if (!c) return 1;
    for (int k = 0; k < tl_pressure_parts_case_count; k++)
        failed += cluster_run(c, k + 1, tl_pressure_parts_cases[k].name, tl_pressure_parts_cases[k].run);
    tl_pressure_parts_free();
    tl_cluster_end();
    return failed > 0;
}
