/* Cell by cell: what the candidates carry is gathered into a small array first, then every pair is 8 bytes of the stream and one read
 * near by. Both sweeps are bound by the stream of pairs. */
#include "model/sph/sweeps.h"

#include <omp.h>
#include <string.h>

#define PARALLEL_CELLS 300

typedef float f4 __attribute__((vector_size(16)));
typedef int32_t i4 __attribute__((vector_size(16)));
typedef int16_t s4 __attribute__((vector_size(8)));

/* Three components of the gradient; the fourth, the place, is not to be used. */
static inline f4 link_vector(const tl_sph_link *l)
{
    s4 v;
    memcpy(&v, l, sizeof v);
    return __builtin_convertvector(__builtin_convertvector(v, i4), f4);
}

void tl_sph_push_fluid(tl_sph_step *s)
{
    const float unit = (float)TL_SPH_G_UNIT, scale = (float)(-s->dt * s->sph->h * s->sph->h);
    const float *p = s->p;
#pragma omp parallel for schedule(static) if (s->cells >= PARALLEL_CELLS)
    for (int32_t c = 0; c < s->cells; c++) {
        const tl_sph_cell *cell = &s->cell[c];
        float *near = (float *)(s->gathered + (size_t)omp_get_thread_num() * (size_t)s->candidates);
        for (int row = 0, n = 0; row < 9; n += cell->length[row++])
            memcpy(near + n, p + cell->row[row], sizeof *near * (size_t)cell->length[row]);
        for (int32_t i = cell->first; i < cell->first + cell->count; i++) {
            const tl_sph_link *l = s->link + s->start[i], *end = s->link + s->start[i + 1];
            f4 sum[4] = {{0}, {0}, {0}, {0}};
            for (; l + 4 <= end; l += 4)
                for (int k = 0; k < 4; k++) sum[k] += near[l[k].place] * link_vector(&l[k]);
            for (; l < end; l++) sum[0] += near[l->place] * link_vector(l);
            f4 g, all = unit * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
            memcpy(&g, s->sum_g[i], sizeof g);
            f4 a = scale * s->inv_m[i] * (all + p[i] * g);
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
        f4 *near = (f4 *)(s->gathered + (size_t)omp_get_thread_num() * (size_t)s->candidates);
        for (int row = 0, n = 0; row < 9; n += cell->length[row++])
            memcpy(near + n, s->a + cell->row[row], sizeof *near * (size_t)cell->length[row]);
        for (int32_t i = cell->first; i < cell->first + cell->count; i++) {
            const tl_sph_link *l = s->link + s->start[i], *end = s->link + s->start[i + 1];
            f4 sum[4] = {{0}, {0}, {0}, {0}};
            for (; l + 4 <= end; l += 4)
                for (int k = 0; k < 4; k++) sum[k] += near[l[k].place] * link_vector(&l[k]);
            for (; l < end; l++) sum[0] += near[l->place] * link_vector(l);
            f4 all = unit * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
            const float *g = s->sum_g[i], *a = s->a[i];
            float own = a[0] * g[0] + a[1] * g[1] + a[2] * g[2];
            r[i] = s->Verr[i] - rate * (double)(own - (all[0] + all[1] + all[2]));
        }
    }
}
