#include "model/coupling/rigid_solid.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"

#define BLOCK 2048 /* rows per partial sum of a gather */

static void sample(const tl_coupled_solid *solid, const double *v, double *y)
{
    const tl_rigid_solid *s = solid->ctx;
#pragma omp parallel for schedule(static) if (s->rows >= TL_PARALLEL_MIN / 4)
    for (int32_t k = 0; k < s->touched; k++) {
        int32_t f = s->touch[k];
        double sum = 0;
        for (int32_t i = s->first[f]; i < s->first[f + 1]; i++) {
            const tl_solid_row *r = &s->row[s->by_face[i]];
            const double *t = v + 6 * (int64_t)r->body;
            sum += r->weight * t[r->axis] + (r->turn.x * t[3] + r->turn.y * t[4] + r->turn.z * t[5]);
        }
        y[f] += sum;
    }
}

static void gather_block(const tl_solid_row *row, int32_t count, const double *y, double out[6])
{
    memset(out, 0, 6 * sizeof *out);
    for (int32_t i = 0; i < count; i++) {
        const tl_solid_row *r = &row[i];
        double f = y[r->face];
        out[r->axis] += r->weight * f;
        out[3] += r->turn.x * f;
        out[4] += r->turn.y * f;
        out[5] += r->turn.z * f;
    }
}

static void add_up_parts(const tl_rigid_solid *s, double *r)
{
    for (int32_t k = 0; k < s->shared; k++)
        memcpy(s->sums + 6 * (int64_t)k, r + 6 * (int64_t)s->shared_of[k], 6 * sizeof *r);
    tl_comm_sums(s->comm, 6 * (int64_t)s->shared, s->sums);
    for (int32_t k = 0; k < s->shared; k++)
        memcpy(r + 6 * (int64_t)s->shared_of[k], s->sums + 6 * (int64_t)k, 6 * sizeof *r);
}

static void gather(const tl_coupled_solid *solid, const double *y, double *r)
{
    const tl_rigid_solid *s = solid->ctx;
    for (int32_t b = 0; b < s->bodies; b++) {
        int32_t begin = s->body_first[b], end = begin + s->body_own[b], blocks = (end - begin + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(static) if (blocks > 4)
        for (int32_t k = 0; k < blocks; k++) {
            int32_t from = begin + k * BLOCK, to = from + BLOCK < end ? from + BLOCK : end;
            gather_block(s->row + from, to - from, y, s->blocks + 6 * (int64_t)k);
        }
        double *out = r + 6 * (int64_t)b;
        memset(out, 0, 6 * sizeof *out);
        for (int32_t k = 0; k < blocks; k++)
            for (int c = 0; c < 6; c++) out[c] += s->blocks[6 * (int64_t)k + c];
    }
    if (s->comm) add_up_parts(s, r);
}

static void inverse_mass(const tl_coupled_solid *solid, const double *r, double *v)
{
    const tl_rigid_solid *s = solid->ctx;
    for (int32_t b = 0; b < s->bodies; b++) {
        const double *I = s->inv_inertia + 9 * (int64_t)b, *f = r + 6 * (int64_t)b;
        double *o = v + 6 * (int64_t)b, t[3] = {f[3], f[4], f[5]};
        for (int k = 0; k < 3; k++) {
            o[k] = s->inv_mass[b] * f[k];
            o[3 + k] = I[3 * k] * t[0] + I[3 * k + 1] * t[1] + I[3 * k + 2] * t[2];
        }
    }
}

static void spread(const tl_coupled_solid *solid, const double *y, double *out)
{
    const tl_rigid_solid *s = solid->ctx;
    for (int32_t b = 0; b < s->bodies; b++) {
        if (!(s->inv_mass[b] > 0)) continue;
        double r[3] = {0, 0, 0}, t[3] = {0, 0, 0}, w[3] = {0, 0, 0};
        const double *I = s->inv_inertia + 9 * (int64_t)b;
        for (int32_t i = s->body_first[b]; i < s->body_first[b + 1]; i++) {
            const tl_solid_row *row = &s->row[i];
            double f = y[row->face];
            r[row->axis] += row->weight * f;
            t[0] += fabs(row->turn.x) * f;
            t[1] += fabs(row->turn.y) * f;
            t[2] += fabs(row->turn.z) * f;
        }
        for (int k = 0; k < 3; k++)
            w[k] = fabs(I[3 * k]) * t[0] + fabs(I[3 * k + 1]) * t[1] + fabs(I[3 * k + 2]) * t[2];
        for (int32_t i = s->body_first[b]; i < s->body_first[b + 1]; i++) {
            const tl_solid_row *row = &s->row[i];
            out[row->face] += row->weight * s->inv_mass[b] * r[row->axis] + fabs(row->turn.x) * w[0] +
                              fabs(row->turn.y) * w[1] + fabs(row->turn.z) * w[2];
        }
    }
}

tl_coupled_solid tl_rigid_solid_view(const tl_rigid_solid *s)
{
    return (tl_coupled_solid){.n = 6 * (int64_t)s->bodies,
                              .sample = sample,
                              .gather = gather,
                              .inverse_mass = inverse_mass,
                              .spread = spread,
                              .ctx = s};
}

/* A counting sort keeps the order of bodies on a face. */
static void sort_by_face(tl_rigid_solid *s)
{
    for (int32_t i = 0; i < s->rows; i++) s->first[s->row[i].face + 1]++;
    for (int32_t f = 0; f < s->faces; f++) {
        if (s->first[f + 1]) s->touch[s->touched++] = f;
        s->first[f + 1] += s->first[f];
    }
    for (int32_t i = 0; i < s->rows; i++) s->by_face[s->first[s->row[i].face]++] = i;
    for (int32_t f = s->faces; f > 0; f--) s->first[f] = s->first[f - 1];
    s->first[0] = 0;
}

/* Bodies that any part has rows of. */
static talus_status find_shared(tl_rigid_solid *s, tl_arena *a, talus_error *err)
{
    uint8_t *any = TL_TAKE(a, uint8_t, s->bodies);
    s->shared_of = TL_TAKE(a, int32_t, s->bodies);
    s->sums = TL_TAKE(a, double, 6 * (int64_t)s->bodies);
    talus_status status = any && s->shared_of && s->sums
                              ? TALUS_OK
                              : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d bodies", (int)s->bodies);
    TL_TRY(tl_comm_agree(s->comm, status, err));
    for (int32_t b = 0; b < s->bodies; b++) any[b] = s->body_first[b + 1] > s->body_first[b];
    TL_TRY(tl_comm_any(s->comm, s->bodies, any, a, err));
    for (int32_t b = 0; b < s->bodies; b++)
        if (any[b]) s->shared_of[s->shared++] = b;
    return TALUS_OK;
}

talus_status tl_rigid_solid_build(tl_rigid_solid *s, tl_arena *a, talus_error *err)
{
    s->body_first = TL_TAKE_ZERO(a, int32_t, (int64_t)s->bodies + 1);
    s->by_face = TL_TAKE(a, int32_t, s->rows);
    s->first = TL_TAKE_ZERO(a, int32_t, (int64_t)s->faces + 1);
    s->touch = TL_TAKE(a, int32_t, s->rows);
    s->blocks = TL_TAKE(a, double, 6 * ((int64_t)s->rows / BLOCK + 1));
    const bool good = s->body_first && s->by_face && s->first && s->touch && s->blocks;
    talus_status status =
        good ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d faces of solids", (int)s->rows);
    TL_TRY(tl_comm_agree(s->comm, status, err));
    for (int32_t i = 0; i < s->rows; i++) s->body_first[s->row[i].body + 1]++;
    for (int32_t b = 0; b < s->bodies; b++) s->body_first[b + 1] += s->body_first[b];
    sort_by_face(s);
    return s->comm ? find_shared(s, a, err) : TALUS_OK;
}
