/* Whole steps in several parts, against one part: cases for threads (tests/agree/step_parts.c) and for processes of
 * mpirun (tests/cluster). */
#ifndef TL_TESTS_STEP_CASES_H
#define TL_TESTS_STEP_CASES_H

#include "comm_cases.h"

extern const tl_comm_case tl_step_cases[];
extern const int tl_step_case_count;

#endif
