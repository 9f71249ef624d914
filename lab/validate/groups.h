/* The tables of cases, one per engine and topic. */
#ifndef TL_VALIDATE_GROUPS_H
#define TL_VALIDATE_GROUPS_H

#include "lab/validate/case.h"

extern const tl_case_group tl_cases_grid, tl_cases_sph, tl_cases_lg, tl_cases_elasto, tl_cases_joints;

#endif
