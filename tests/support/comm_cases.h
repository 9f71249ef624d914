/* What any implementation of base/comm.h must do: cases that run on threads (tests/unit/comm.c) and on processes of
 * mpirun (tests/cluster). Each is called by every part and returns what is wrong there, or NULL. */
#ifndef TL_TESTS_COMM_CASES_H
#define TL_TESTS_COMM_CASES_H

#include "base/comm.h"

typedef struct tl_comm_case {
    const char *name;
    const char *(*run)(const tl_comm *c);
} tl_comm_case;

extern const tl_comm_case tl_comm_cases[];
extern const int tl_comm_case_count;

#endif
