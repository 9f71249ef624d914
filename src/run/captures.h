/* Problems of a run that are written to files as they are solved: "pressure@12,contact@12". What a step has not got is
 * told with the reason.
 *
 *     step        all that is coupled in a step on the grid, for checkers that trust nothing of ours (run/step_capture.h)
 *     pressure    of liquid or sand on the grid, at the other blocks' answers        kind "pressure"
 *     stress      of sand on the grid, at the final pressure                         kind "cone"
 *     contact     of rigid bodies, in every engine that solves it as such            kind "contact"
 *                 where elastic bodies touch or bend: a correction of them all      kind "flex"
 *     fixedpoint  of the SPH engine, written down                                    kind "fixedpoint"
 *     rounds      of the local-global engine: A x = r                                kind "linear"
 *
 * A kind that a step solves several times has a file for each of the first TL_CAPTURES_EACH: KIND-STEP.h5,
 * KIND-STEP-2.h5, ... */
#ifndef TL_RUN_CAPTURES_H
#define TL_RUN_CAPTURES_H

#include "phase/sim.h"

#define TL_CAPTURES_MAX 32
#define TL_CAPTURES_EACH 8
#define TL_CAPTURES_KINDS 6

typedef struct tl_capture_wish {
    int kind; /* in the list above */
    int64_t step;
    int64_t tried; /* the try of the step that the next numbers are of */
    int met, written;
    char why[200]; /* not written */
} tl_capture_wish;

typedef struct tl_captures {
    const tl_sim *sim;
    const char *folder;
    tl_log log;
    int count;
    tl_capture_wish wish[TL_CAPTURES_MAX];
} tl_captures;

/* Wishes from text; NULL: none. Bad input names the word. */
talus_status tl_captures_read(tl_captures *c, const char *text, talus_error *err);
talus_status tl_captures_look(void *captures, const tl_shown *shown, talus_error *err); /* sim->look */
/* Tells what was written and what was not, after the run. */
void tl_captures_tell(tl_captures *c);

#endif
