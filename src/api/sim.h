/* A step's report as the public functions give it. */
#ifndef TL_API_SIM_H
#define TL_API_SIM_H

#include <talus/sim.h>

#include "model/report.h"

void tl_report_to_public(const tl_report *r, talus_report *out);

#endif
