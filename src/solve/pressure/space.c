#include "solve/pressure/space.h"

#include <string.h>

#include "base/alloc.h"

talus_status tl_pressure_space_plan(tl_pressure_space *s, int32_t n, talus_error *err)
{
    const tl_halo_source red = {n, s->copies[TL_RED], s->part, s->index};
    const tl_halo_source black = {n, s->copies[TL_BLACK], s->part + red.halo, s->index + red.halo};
    TL_TRY(tl_comm_plan(s->comm, &red, &s->plan[TL_RED], err));
    return tl_comm_plan(s->comm, &black, &s->plan[TL_BLACK], err);
}

void tl_pressure_refresh(const tl_pressure *p, double *x)
{
    if (!p->space) return;
    x[p->none] = 0;
    tl_pressure_get_both(p->space, sizeof *x, x, p->none);
}

/* ---- what borders must be ---- */

/* A cell as its owner has it. */
typedef struct row {
    float c[TL_PRESSURE_SIDES];
    int32_t part[TL_PRESSURE_SIDES], index[TL_PRESSURE_SIDES];
} row;

static row row_of(const tl_pressure *p, int32_t i)
{
    const tl_pressure_space *s = p->space;
    row r;
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        const int32_t j = p->nb[k][i], copy = j - p->none - 1;
        r.c[k] = p->c[k][i];
        r.part[k] = copy >= 0 ? s->part[copy] : s->comm->part;
        r.index[k] = copy >= 0 ? s->index[copy] : j;
    }
    return r;
}

/* True when side k of a cell is inside its cube of one owner. */
static bool inside(const tl_pressure *p, int32_t i, int k)
{
    const int32_t mask = (1 << p->space->together) - 1, at = p->ijk[i][k / 2] & mask;
    return k & 1 ? at != mask : at != 0;
}

static talus_status check_order(const tl_pressure *p, talus_error *err)
{
    const tl_pressure_space *s = p->space;
    if ((int64_t)p->none < (int64_t)p->n + p->extras)
        return TL_FAIL(err, TALUS_BAD_INPUT, "a zero at %d, within %d cells and %d more unknowns", p->none, p->n,
                       p->extras);
    for (int32_t h = 0; h < tl_pressure_copies(s); h++) {
        const bool first = h == 0 || h == s->copies[TL_RED];
        if (s->part[h] == s->comm->part)
            return TL_FAIL(err, TALUS_BAD_INPUT, "copy %d is of a cell of the same part", h);
        if (!first && (s->part[h] < s->part[h - 1] || (s->part[h] == s->part[h - 1] && s->index[h] <= s->index[h - 1])))
            return TL_FAIL(err, TALUS_BAD_INPUT, "copy %d of cell %d of part %d is not in order", h, s->index[h],
                           s->part[h]);
    }
    return TALUS_OK;
}

static talus_status check_copies(const tl_pressure *p, const row *all, talus_error *err)
{
    for (int32_t i = 0; i < p->n; i++)
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
            const int32_t h = p->nb[k][i] - p->none - 1;
            if (h < 0) continue;
            const row *r = &all[p->none + 1 + h];
            if (r->part[k ^ 1] != p->space->comm->part || r->index[k ^ 1] != i || r->c[k ^ 1] != p->c[k][i])
                return TL_FAIL(err, TALUS_BAD_INPUT, "cell %d and cell %d of part %d do not see each other alike", i,
                               p->space->index[h], p->space->part[h]);
            if (inside(p, i, k))
                return TL_FAIL(err, TALUS_BAD_INPUT, "cell %d and cell %d of part %d share a cube of %d cells", i,
                               p->space->index[h], p->space->part[h], 1 << p->space->together);
        }
    return TALUS_OK;
}

talus_status tl_pressure_check_borders(const tl_pressure *p, talus_error *err)
{
    const tl_comm *c = p->space->comm;
    row *all = TL_NEW_ZERO(row, (int64_t)p->none + 1 + tl_pressure_copies(p->space));
    talus_status status = all ? check_order(p, err) : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to look at borders");
    status = tl_comm_agree(c, status, err);
    if (status == TALUS_OK) {
        for (int32_t i = 0; i < p->n; i++) all[i] = row_of(p, i);
        tl_pressure_get_both(p->space, sizeof *all, all, p->none);
        status = tl_comm_agree(c, check_copies(p, all, err), err);
    }
    tl_free(all);
    return status;
}
