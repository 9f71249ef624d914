/* Cell by cell: what the candidates carry is gathered into a small array first, then every pair is 8 bytes of a
 * stream and one read near by. */
#include "model/sph/sweeps.h"

#include <omp.h>

#include "model/sph/lanes.h"
#include "model/sph/link_sums.h"

#define PARALLEL_CELLS 300

/* Whole lines of 64 bytes, two at a time: rows are short, and a call costs more than the bytes too many. */
static inline void copy_lines(float *to, const float *from, int32_t n)
{
    for (int32_t k = 0; k < n; k += 32) {
        tl_f16 a = tl_f16_load(from + k), b = tl_f16_load(from + k + 16);
        tl_f16_store(to + k, a);
        tl_f16_store(to + k + 16, b);
    }
}

void tl_sph_push_fluid(tl_sph_step *s)
{
    const float unit = (float)TL_SPH_G_UNIT, scale = (float)(-s->dt * s->sph->h * s->sph->h);
    const float *p = s->p;
#pragma omp parallel for schedule(static) if (s->cells >= PARALLEL_CELLS)
    for (int32_t c = 0; c < s->cells; c++) {
        const tl_sph_cell *cell = &s->cell[c];
        float *near = (float *)(s->gathered + (size_t)omp_get_thread_num() * (size_t)(s->candidates + TL_SPH_ROOM));
        for (int row = 0, n = 0; row < 9; n += cell->length[row++])
            copy_lines(near + n, p + cell->row[row], cell->length[row]);
        for (int32_t i = cell->first; i < cell->first + cell->count; i++) {
            tl_f4 sum = tl_sph_sum_numbers(s->link + s->start[i], s->link + s->start[i + 1], near), g;
            memcpy(&g, s->sum_g[i], sizeof g);
            tl_f4 a = scale * s->inv_m[i] * (unit * sum + p[i] * g);
            a[3] = 0;
            memcpy(s->a[i], &a, sizeof a);
        }
    }
}

void tl_sph_fluid_residual(tl_sph_step *s, double *r)
{
    const float unit = (float)TL_SPH_G_UNIT;
    double rate = s->dt / s->sph->h;
#pragma omp parallel for schedule(static) if (s->cells >= PARALLEL_CELLS)
    for (int32_t c = 0; c < s->cells; c++) {
        const tl_sph_cell *cell = &s->cell[c];
        tl_f4 *near = (tl_f4 *)(s->gathered + (size_t)omp_get_thread_num() * (size_t)(s->candidates + TL_SPH_ROOM));
        for (int row = 0, n = 0; row < 9; n += cell->length[row++])
            copy_lines((float *)(near + n), s->a[cell->row[row]], 4 * cell->length[row]);
        for (int32_t i = cell->first; i < cell->first + cell->count; i++) {
            tl_f4 sum = tl_sph_sum_vectors(s->link + s->start[i], s->link + s->start[i + 1], near);
            const float *g = s->sum_g[i], *a = s->a[i];
            float own = a[0] * g[0] + a[1] * g[1] + a[2] * g[2];
            r[i] = s->Verr[i] - rate * (double)(own - unit * (sum[0] + sum[1] + sum[2]));
        }
    }
}
