/* The grid and what is on it in several parts, against one part: cases for threads (tests/unit/grid_parts.c) and for
 * processes of mpirun (tests/cluster). */
#ifndef TL_TESTS_GRID_CASES_H
#define TL_TESTS_GRID_CASES_H

#include "comm_cases.h"

extern const tl_comm_case tl_grid_cases[];
extern const int tl_grid_case_count;

#endif
