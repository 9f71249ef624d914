#include <math.h>

#include "base/alloc.h"
#include "base/timer.h"
#include "lab/bench/lg.h"
#include "model/lg/solver.h"

#define REPEATS 20
#define STREAM 16777216 /* doubles: 128 MB, beyond every cache */

/* Bytes read per second by one pass over memory on all cores, best of three. */
static double stream_speed(void)
{
    double *x = TL_NEW(double, STREAM), best = INFINITY, keep = 0;
    if (!x) return NAN;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < STREAM; i++) x[i] = 1e-9 * (double)i;
    for (int k = 0; k < 3; k++) {
        double begin = tl_seconds(), part[64] = {0};
#pragma omp parallel for schedule(static)
        for (int b = 0; b < 64; b++) {
            double s[8] = {0};
            for (int64_t i = b * (STREAM / 64); i < (b + 1) * (STREAM / 64); i += 8)
                for (int l = 0; l < 8; l++) s[l] += x[i + l];
            for (int l = 0; l < 8; l++) part[b] += s[l];
        }
        best = fmin(best, tl_seconds() - begin);
        for (int b = 0; b < 64; b++) keep += part[b];
    }
    tl_free(x);
    return keep > 0 ? 8.0 * STREAM / best : NAN;
}

void tl_bench_lg_bounds_header(tl_table *t)
{
    static const char *const header[] = {"case", "elements",  "ms local", "M/s per core", "factor MB", "ms per solve",
                                         "GB/s", "of memory", NULL};
    tl_table_line(t, TALUS_ROW_NOTE,
                  "what bounds the phases: decompositions of the local step per second and core; bytes of the float "
                  "factor, read twice per solve, against "
                  "the memory's %.1f GB/s",
                  1e-9 * stream_speed());
    tl_table_header(t, header);
}

talus_status tl_bench_lg_bounds(const char *name, tl_sim *sim, tl_table *t, talus_error *err)
{
    const tl_lg *lg = &sim->lg;
    int64_t n = 3 * (int64_t)lg->nodes, elements = 0;
    for (int32_t b = 0; b < lg->tet_batches; b++)
        for (int l = 0; l < TL_LG_LANES; l++) elements += lg->tets[b].V[l] > 0;
    for (int32_t b = 0; b < lg->triangle_batches; b++)
        for (int l = 0; l < TL_LG_LANES; l++) elements += lg->triangles[b].V[l] > 0;
    tl_lg_solver *s = NULL;
    double *r = TL_NEW_ZERO(double, n), *x = TL_NEW(double, n), *force = TL_NEW(double, lg->force_count),
           *u = TL_NEW_ZERO(double, TL_LG_LANES * lg->dual_rows + 1);
    talus_status status = r && x && force && u ? tl_lg_solver_create(&s, lg, TL_LG_FACTOR, TL_LG_FLOAT, err)
                                               : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a benchmark");
    if (status == TALUS_OK) status = tl_lg_solver_update(s, TL_BENCH_LG_DT, err);
    if (status == TALUS_OK) {
        double wall = INFINITY, cpu = INFINITY, solve = INFINITY;
        for (int64_t i = 0; i < n; i++) r[i] = 1e-3 * (double)(i % 7);
        for (int k = 0; k < REPEATS; k++) {
            double begin = tl_seconds(), begin_cpu = tl_cpu_seconds();
            tl_lg_local(lg, tl_lg_state_of(&sim->state)->q, u, force);
            wall = fmin(wall, tl_seconds() - begin);
            cpu = fmin(cpu, tl_cpu_seconds() - begin_cpu);
            begin = tl_seconds();
            tl_lg_solve(s, TL_LG_FLOAT, r, x);
            solve = fmin(solve, tl_seconds() - begin);
        }
        double bytes = (double)tl_lg_solver_about(s).bytes, speed = 2 * bytes / solve;
        tl_table_cell(t, "%s", name);
        tl_table_cell(t, "%lld", (long long)elements);
        tl_table_cell(t, "%.2f", 1e3 * wall);
        tl_table_cell(t, "%.1f", 1e-6 * (double)elements / cpu);
        tl_table_cell(t, "%.2f", 1e-6 * bytes);
        tl_table_cell(t, "%.2f", 1e3 * solve);
        tl_table_cell(t, "%.1f", 1e-9 * speed);
        tl_table_cell(t, "%.0f %%", 100 * speed / stream_speed());
        tl_table_send(t, TALUS_ROW_DATA);
    }
    tl_lg_solver_free(s);
    tl_free(r);
    tl_free(x);
    tl_free(force);
    tl_free(u);
    return status;
}
