#include "solve/outcome.h"

const char *tl_result_name(tl_result r)
{
    switch (r) {
    case TL_CONVERGED: return "converged";
    case TL_OUT_OF_ITERATIONS: return "out of iterations";
    case TL_STALLED: return "stalled";
    case TL_BROKE_DOWN: return "broke down";
    case TL_BUDGET_SPENT: return "budget spent";
    case TL_NOT_APPLICABLE: return "not applicable";
    case TL_INFEASIBLE: return "infeasible";
    }
    return "unknown";
}
