#include "base/parallel.h"

#include <omp.h>

int tl_threads(void) { return omp_get_max_threads(); }
void tl_threads_set(int count) { omp_set_num_threads(count < 1 ? 1 : count); }
