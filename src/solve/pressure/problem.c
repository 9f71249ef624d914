#include "solve/pressure/problem.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/radix.h"
#include "base/sum.h"
#include "solve/pressure/key.h"
#include "solve/pressure/space.h"

/* ---- order and neighbours ---- */

static talus_status check_reach(int32_t n, const int32_t (*ijk)[3], talus_error *err)
{
    for (int32_t i = 0; i < n; i++)
        for (int a = 0; a < 3; a++)
            if (ijk[i][a] < -TL_KEY_REACH + 1 || ijk[i][a] >= TL_KEY_REACH - 1)
                return TL_FAIL(err, TALUS_BAD_INPUT, "cell %d: coordinate %d must lie within +-%d", i, ijk[i][a],
                               TL_KEY_REACH - 2);
    return TALUS_OK;
}

talus_status tl_pressure_order(int32_t n, const int32_t (*ijk)[3], int32_t *order, int32_t *red, tl_arena *a,
                               talus_error *err)
{
    TL_TRY(check_reach(n, ijk, err));
    TL_TRY(tl_arena_reserve(a, 2 * TL_ARENA_ROOM(uint64_t, n) + TL_ARENA_ROOM(int32_t, n), err));
    size_t mark = tl_arena_mark(a);
    uint64_t *key = TL_TAKE(a, uint64_t, n), *spare = TL_TAKE(a, uint64_t, n);
    int32_t *spare_order = TL_TAKE(a, int32_t, n);
    *red = 0;
    for (int32_t i = 0; i < n; i++) {
        key[i] = tl_cell_key(ijk[i][0], ijk[i][1], ijk[i][2]);
        order[i] = i;
        *red += !tl_cell_colour(ijk[i][0], ijk[i][1], ijk[i][2]);
    }
    tl_radix_sort(n, key, order, spare, spare_order);
    talus_status status = TALUS_OK;
    for (int32_t i = 1; i < n && status == TALUS_OK; i++)
        if (key[i] == key[i - 1])
            status = TL_FAIL(err, TALUS_BAD_INPUT, "cell (%d, %d, %d) is in the list twice", ijk[order[i]][0],
                             ijk[order[i]][1], ijk[order[i]][2]);
    tl_arena_release(a, mark);
    return status;
}

static uint64_t key_at(const int32_t c[3]) { return tl_cell_key(c[0], c[1], c[2]); }

/* First cell in [from, to) whose key is at least `key`. */
static int32_t find(const int32_t (*ijk)[3], int32_t from, int32_t to, uint64_t key)
{
    while (from < to) {
        int32_t mid = from + (to - from) / 2;
        if (key_at(ijk[mid]) < key)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

talus_status tl_pressure_neighbours(int32_t n, int32_t red, const int32_t (*ijk)[3], const int32_t period[3],
                                    int32_t *const nb[TL_PRESSURE_SIDES], talus_error *err)
{
    TL_TRY(check_reach(n, ijk, err));
    for (int32_t i = 1; i < n; i++)
        if (key_at(ijk[i]) <= key_at(ijk[i - 1]) || (i == red && !tl_cell_colour(ijk[i][0], ijk[i][1], ijk[i][2])))
            return TL_FAIL(err, TALUS_BAD_INPUT, "cell %d is not in the order of tl_pressure_order", i);

    /* cells of a colour in rising order look for neighbours in rising order: one walk through the other colour per
     * side */
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        int axis = k / 2;
        int32_t at = red;
        for (int32_t i = 0; i < n; i++) {
            int32_t begin = i < red ? red : 0, end = i < red ? n : red;
            if (i == 0 || i == red) at = begin;
            int32_t c[3] = {ijk[i][0], ijk[i][1], ijk[i][2]}, length = period[axis];
            c[axis] += k & 1 ? 1 : -1;
            nb[k][i] = n;
            if (length == 1) continue;
            if (length > 0 && (c[axis] < 0 || c[axis] >= length)) {
                c[axis] += c[axis] < 0 ? length : -length;
                int32_t j = find(ijk, begin, end, key_at(c));
                if (j < end && key_at(ijk[j]) == key_at(c)) nb[k][i] = j;
                continue;
            }
            uint64_t want = key_at(c);
            while (at < end && key_at(ijk[at]) < want) at++;
            if (at < end && key_at(ijk[at]) == want) nb[k][i] = at;
        }
    }
    return TALUS_OK;
}

/* ---- what a problem must be ---- */

/* 0: a cell of this part, -1: none, 1: a copy. */
static int kind_of(const tl_pressure *p, int32_t j) { return j == p->none ? -1 : j > p->none; }

static bool is_red(const tl_pressure *p, int32_t j)
{
    return kind_of(p, j) > 0 ? j - p->none - 1 < p->space->copies[TL_RED] : j < p->red;
}

static talus_status check_row(const tl_pressure *p, int32_t i, talus_error *err)
{
    const int32_t *at = p->ijk[i], copies = tl_pressure_copies(p->space);
    if (tl_cell_colour(at[0], at[1], at[2]) != (i >= p->red))
        return TL_FAIL(err, TALUS_BAD_INPUT, "cell %d at (%d, %d, %d) is not where its colour belongs", i, at[0], at[1],
                       at[2]);
    double sum = p->dir[i], size = sum;
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        int32_t j = p->nb[k][i];
        float c = p->c[k][i];
        if (j < 0 || (j >= p->n && j < p->none) || j > p->none + copies)
            return TL_FAIL(err, TALUS_BAD_INPUT, "cell %d: neighbour %d of %d cells", i, j, p->n);
        if (!(c >= 0) || !isfinite(c)) return TL_FAIL(err, TALUS_BAD_INPUT, "cell %d: coupling %g on side %d", i, c, k);
        const int kind = kind_of(p, j);
        if (kind < 0 && c != 0) return TL_FAIL(err, TALUS_BAD_INPUT, "cell %d: coupling %g to no neighbour", i, c);
        if (kind >= 0 && is_red(p, j) == (i < p->red))
            return TL_FAIL(err, TALUS_BAD_INPUT, "cell %d: neighbour %d has the same colour", i, j);
        if (kind == 0 && (p->nb[k ^ 1][j] != i || p->c[k ^ 1][j] != c))
            return TL_FAIL(err, TALUS_BAD_INPUT, "cells %d and %d do not see each other alike", i, j);
        sum += c;
        size += c;
    }
    if (!(p->dir[i] >= 0) || !isfinite(p->dir[i]) || !(p->ar[i] >= 0))
        return TL_FAIL(err, TALUS_BAD_INPUT, "cell %d: Dirichlet coupling %g through area %g", i, p->dir[i], p->ar[i]);
    /* couplings are floats, and d may be made before the last of them, dir, is rounded to one: by half a unit in its last
     * place at the most, the rest to the rounding of a sum in double */
    if (!(p->d[i] > 0) || fabs(p->d[i] - sum) > 1e-12 * size + 0x1p-24 * p->dir[i])
        return TL_FAIL(err, TALUS_BAD_INPUT, "cell %d: diagonal %g, couplings sum to %g", i, p->d[i], sum);
    return TALUS_OK;
}

static talus_status check_own_rows(const tl_pressure *p, talus_error *err)
{
    if (p->n < 0 || p->red < 0 || p->red > p->n || p->extras < 0 || p->none < p->n)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%d cells, %d of them red, %d more unknowns, missing neighbours are %d",
                       p->n, p->red, p->extras, p->none);
    if (p->extras > 0 && (!p->extra.add || !p->extra.diag))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%d appended unknowns without operator or diagonal", p->extras);
    TL_TRY(check_reach(p->n, p->ijk, err));
    for (int32_t i = 0; i < p->n; i++) TL_TRY(check_row(p, i, err));
    for (int32_t i = 0; i < p->extras; i++)
        if (!(p->extra.diag[i] > 0) || !isfinite(p->extra.diag[i]))
            return TL_FAIL(err, TALUS_BAD_INPUT, "appended unknown %d: diagonal %g", i, p->extra.diag[i]);
    return TALUS_OK;
}

talus_status tl_pressure_check_rows(const tl_pressure *p, talus_error *err)
{
    TL_TRY(tl_comm_agree(tl_pressure_comm(p->space), check_own_rows(p, err), err));
    return p->space ? tl_pressure_check_borders(p, err) : TALUS_OK;
}

static talus_status check_right_side(const tl_pressure *p, talus_error *err)
{
    for (int32_t i = 0; i < p->n + p->extras; i++)
        if (!isfinite(p->b[i])) return TL_FAIL(err, TALUS_BAD_INPUT, "unknown %d: right-hand side %g", i, p->b[i]);
    return TALUS_OK;
}

talus_status tl_pressure_check(const tl_pressure *p, talus_error *err)
{
    TL_TRY(tl_pressure_check_rows(p, err));
    return tl_comm_agree(tl_pressure_comm(p->space), check_right_side(p, err), err);
}

/* ---- product and certificate ---- */

void tl_pressure_product(const tl_pressure *p, const double *x, double *y)
{
    int32_t n = p->n, none = p->none;
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN / 2)
    for (int32_t i = 0; i < n; i++) {
        double s = p->d[i] * x[i];
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
            int32_t j = p->nb[k][i];
            if (j != none) s = fma(-(double)p->c[k][i], x[j], s);
        }
        y[i] = s;
    }
    for (int32_t i = n; i < n + p->extras; i++) y[i] = 0;
    if (p->extra.add) p->extra.add(p->extra.ctx, x, y);
}

/* Appended unknowns are the same on all parts: the first one counts them. */
static double own_dot(const tl_pressure *p, const double *x, const double *y)
{
    const tl_comm *c = tl_pressure_comm(p->space);
    return tl_dot(tl_comm_alone(c) || c->part == 0 ? (int64_t)p->n + p->extras : p->n, x, y);
}

talus_status tl_pressure_certify(const tl_pressure *p, const double *x, tl_pressure_certificate *out, tl_arena *a,
                                 talus_error *err)
{
    const tl_comm *c = tl_pressure_comm(p->space);
    const int64_t all = (int64_t)p->n + p->extras, length = p->space ? tl_pressure_length(p) : 0;
    TL_TRY(tl_comm_reserve(c, a, TL_ARENA_ROOM(double, all) + TL_ARENA_ROOM(double, length), err));
    size_t mark = tl_arena_mark(a);
    double *g = TL_TAKE(a, double, all);
    if (p->space) {
        double *with_copies = TL_TAKE(a, double, length);
        if (all) memcpy(with_copies, x, sizeof *x * (size_t)all);
        tl_pressure_refresh(p, with_copies);
        x = with_copies;
    }
    tl_pressure_product(p, x, g);

    double max = 0, scale = 0, outside = 0;
    for (int64_t i = 0; i < all; i++) {
        bool bounded = p->unilateral || i >= p->n;
        double e = g[i] - p->b[i], size = fabs(p->b[i]), below = bounded ? -x[i] : 0;
        e = bounded && x[i] <= 0 && e > 0 ? 0 : fabs(e);
        max = e > max || isnan(e) ? (isnan(e) ? INFINITY : e) : max;
        scale = size > scale || isnan(size) ? (isnan(size) ? INFINITY : size) : scale;
        outside = below > outside || isnan(below) ? (isnan(below) ? INFINITY : below) : outside;
    }
    static const tl_reduce op[] = {TL_REDUCE_SUM, TL_REDUCE_SUM, TL_REDUCE_MAX, TL_REDUCE_MAX, TL_REDUCE_MAX};
    double value[] = {own_dot(p, x, g), own_dot(p, x, p->b), max, scale, outside};
    tl_comm_reduce_each(c, 5, op, value);
    out->energy = 0.5 * value[0] - value[1];
    out->optimality = !isfinite(value[3]) ? INFINITY : value[2] / (value[3] > 0 ? value[3] : 1);
    out->violation = value[4];
    tl_arena_release(a, mark);
    return TALUS_OK;
}
