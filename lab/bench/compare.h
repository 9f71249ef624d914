/* One problem, every method of its kind: same start, same target, same preconditioner, rows to a table. The certificate
 * in each row is computed outside of the method. */
#ifndef TL_BENCH_COMPARE_H
#define TL_BENCH_COMPARE_H

#include "base/arena.h"
#include "lab/bench/table.h"
#include "solve/boxqp/problem.h"
#include "solve/cone/problem.h"
#include "solve/contact/problem.h"
#include "solve/fixedpoint/problem.h"
#include "solve/linear/problem.h"

typedef struct tl_compare {
    const talus_bench_options *o;
    tl_table *t;
    tl_arena arena;
    int repeats; /* timed repetitions of a row that does not take long */
    int lines;   /* rows sent so far */
} tl_compare;

/* x0 NULL starts from zero. */
talus_status tl_compare_linear(tl_compare *c, const char *title, const tl_linear *p, const double *x0,
                               talus_error *err);
talus_status tl_compare_boxqp(tl_compare *c, const char *title, const tl_boxqp *p, const double *x0, talus_error *err);
talus_status tl_compare_cone(tl_compare *c, const char *title, const tl_cone *p, const double *x0, talus_error *err);
talus_status tl_compare_contact(tl_compare *c, const char *title, const tl_contact *p, const double *x0,
                                talus_error *err);
talus_status tl_compare_fixedpoint(tl_compare *c, const char *title, const tl_fixedpoint *p, talus_error *err);

/* The target of a kind unless the options say otherwise. */
#define TL_COMPARE_TOLERANCE 1e-5 /* [FM21 sec. 5]: residuals between 1e-3 and 1e-5 */

#endif
