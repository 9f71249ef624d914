/* What pressure solves in several parts must do, on threads (tests/agree/pressure_parts.c) and on processes of mpirun
 * (tests/cluster): each case is called by every part and returns what is wrong there, or NULL. */
#ifndef TL_TESTS_PRESSURE_CASES_H
#define TL_TESTS_PRESSURE_CASES_H

#include "base/comm.h"

typedef struct tl_pressure_parts_case {
    const char *name;
    const char *(*run)(const tl_comm *c);
} tl_pressure_parts_case;

extern const tl_pressure_parts_case tl_pressure_parts_cases[];
extern const int tl_pressure_parts_case_count;
extern int tl_pressure_parts_cells; /* per edge of the larger problems: 64, which takes threads that take turns long */
void tl_pressure_parts_free(void);  /* problems that were kept; of the process */

#endif
