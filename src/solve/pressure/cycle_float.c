#define REAL float
#define KIND tl_cycle_float
#include "solve/pressure/cycle_impl.h"
