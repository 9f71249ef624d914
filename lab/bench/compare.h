/* One problem, every method of its kind: same start, same target, same preconditioner, rows to a table. The certificate
 * in each row is computed outside of the method. */
#ifndef TL_BENCH_COMPARE_H
#define TL_BENCH_COMPARE_H

#include "base/arena.h"
#include "io/capture.h"
#include "lab/bench/table.h"

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
talus_status tl_compare_pressure(tl_compare *c, const char *title, const tl_pressure *p, const double *x0,
                                 talus_error *err);
talus_status tl_compare_fixedpoint(tl_compare *c, const char *title, const tl_fixedpoint *p, const double *x0,
                                   talus_error *err);

talus_status tl_compare_flex(tl_compare *c, const char *title, const tl_flex *p, const double *x0, talus_error *err);

/* Certificate of the answer that a captured problem has with it; NAN: none. */
talus_status tl_compare_answer(const tl_captured *p, double *out, tl_arena *a, talus_error *err);

/* The target of a kind unless the options say otherwise. */
#define TL_COMPARE_TOLERANCE 1e-5 /* [FM21 sec. 5]: residuals between 1e-3 and 1e-5 */

#endif
