#define REAL double
#define KIND tl_cycle_double
#include "solve/pressure/cycle_impl.h"
