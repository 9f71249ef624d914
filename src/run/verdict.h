/* The verdict of a run: how good its answer is, in a few plain lines, from steps.csv alone.
 *
 * Nothing is remembered between steps: the table is read once at the end, so a run that was killed and resumed, or
 * is still going, is judged by the same rows as one that went straight through. The limits, the way each line is
 * reckoned and what to change are one table in verdict.c; docs/running.md explains them. */
#ifndef TL_RUN_VERDICT_H
#define TL_RUN_VERDICT_H

#include <talus/run.h>

#include "scene/scene.h"

/* `accept`: limits of the scene; those that are 0 are talus' own, and no refusal follows from them. `open`: the
 * domain has an open wall, and what escapes is judged by the scene's limit alone. A table without rows has no lines. */
talus_status tl_verdict_reckon(const char *steps_csv, const tl_accept_spec *accept, bool open, talus_verdict *out,
                               talus_error *err);

#endif
