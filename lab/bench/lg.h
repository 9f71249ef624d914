/* Parts of the table "lg". */
#ifndef TL_BENCH_LG_H
#define TL_BENCH_LG_H

#include "lab/bench/table.h"
#include "model/state.h"
#include "phase/sim.h"

#define TL_BENCH_LG_DT 0.01 /* s, as in [Zeng2025] */

/* Scenes with contact: time by phase beside table 3 of [Zeng2025], penetration and real-time factor. */
talus_status tl_bench_lg_scenes(const talus_bench_options *o, tl_table *t, talus_error *err);
/* Memory of the inverse factor of these scenes, beside table 2. */
talus_status tl_bench_lg_scene_sizes(const talus_bench_options *o, tl_table *t, talus_error *err);
/* One row of it. */
talus_status tl_bench_lg_size(const char *name, const char *bending, tl_sim *sim, double paper, tl_table *t,
                              talus_error *err);
/* What bounds the phases of a simulation that was just opened: bytes of the factor that a solve moves per second,
 * decompositions per second and core. */
talus_status tl_bench_lg_bounds(const char *name, tl_sim *sim, tl_table *t, talus_error *err);
void tl_bench_lg_bounds_header(tl_table *t);

/* What a step makes least, J: inertia with respect to `start` and elastic energy `elastic`. */
double tl_bench_lg_energy(const tl_sim *sim, const tl_state *start, const double *q, double elastic);
/* Newton's method for the same step, without contact and gravity: energies after as many steps as `rounds` says,
 * ascending. Products with the true Hessian by differences of forces, conjugate gradients preconditioned by A, a
 * line search on the energy. */
talus_status tl_bench_lg_newton(tl_sim *sim, const tl_state *start, int counts, const int *rounds, double *energy,
                                talus_error *err);

#endif
