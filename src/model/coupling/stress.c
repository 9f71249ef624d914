#include "model/coupling/stress.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "solve/cone/problem.h"

/* Loops run over pieces of one length, whatever the number of threads: an entry is in the vector part or in the
 * remainder of a loop for all. */
enum { PIECE = 512, WORTH_TWO_THREADS = TL_PARALLEL_MIN / 8 };
#define FOR_PIECES(n, call)                                                                                            \
    do {                                                                                                               \
        const int32_t items = (n);                                                                                     \
        _Pragma("omp parallel for schedule(static) if (items >= WORTH_TWO_THREADS)") for (int32_t from = 0;            \
                                                                                          from < items; from += PIECE) \
        {                                                                                                              \
            int32_t to = items - from < PIECE ? items : from + PIECE;                                                  \
            call;                                                                                                      \
        }                                                                                                              \
    } while (0)

/* ---- D and its adjoint ---- */

/* d of cells: diagonal components times the liquid fraction, and shears. */
static void spread_cells(const tl_stress *t, const double *restrict s, int32_t from, int32_t to)
{
    const double *restrict w = t->diagonal, *restrict v = t->shear, x = t->only[0], z = t->only[2];
    double *restrict d = t->d;
    if (t->staggered) {
        for (int32_t i = from; i < to; i++) {
            double xx = x * s[2 * i], zz = z * s[2 * i + 1];
            d[6 * i] = w[i] * xx;
            d[6 * i + 1] = -w[i] * (xx + zz);
            d[6 * i + 2] = w[i] * zz;
        }
        return;
    }
    for (int32_t i = from; i < to; i++) {
        const double *g = s + TL_STRESS_GROUP * (int64_t)i;
        double xx = x * g[TL_S_XX], zz = z * g[TL_S_ZZ];
        d[6 * i] = w[i] * xx;
        d[6 * i + 1] = -w[i] * (xx + zz);
        d[6 * i + 2] = w[i] * zz;
        d[6 * i + 3] = v[i] * g[TL_S_YZ];
        d[6 * i + 4] = v[i] * g[TL_S_XZ];
        d[6 * i + 5] = v[i] * g[TL_S_XY];
    }
}

static void spread_edges(const tl_stress *t, int32_t from, int32_t to)
{
    const double *restrict w = t->weight, *restrict d = t->d;
    const int32_t *restrict c0 = t->edge_cell[0], *restrict c1 = t->edge_cell[1], *restrict c2 = t->edge_cell[2],
                            *restrict c3 = t->edge_cell[3];
    double *restrict e = t->e;
    for (int32_t k = from; k < to; k++) e[k] = 0.25 * w[k] * ((d[c0[k]] + d[c1[k]]) + (d[c2[k]] + d[c3[k]]));
}

static void own_edges(const tl_stress *t, const double *restrict s, int32_t from, int32_t to)
{
    const double *restrict w = t->weight, *restrict own = s + 2 * (int64_t)t->cells;
    double *restrict e = t->e;
    for (int32_t k = from; k < to; k++) e[k] = w[k] * own[k];
}

/* y = D s of faces */
static void sum_faces(const tl_stress *t, double per_dx, double *restrict y, int32_t from, int32_t to)
{
    const double *restrict d = t->d, *restrict e = t->e;
    const int32_t *restrict l = t->face_cell[0], *restrict h = t->face_cell[1];
    const int32_t *restrict e0 = t->face_edge[0], *restrict e1 = t->face_edge[1], *restrict e2 = t->face_edge[2],
                            *restrict e3 = t->face_edge[3];
    for (int32_t f = from; f < to; f++)
        y[f] = -per_dx * ((d[h[f]] - d[l[f]]) + ((e[e0[f]] - e[e1[f]]) + (e[e2[f]] - e[e3[f]])));
}

void tl_stress_force(const tl_stress *t, const tl_coupling *c, const double *s, double *y)
{
    const double per_dx = 1 / c->dx;
    FOR_PIECES(t->cells, spread_cells(t, s, from, to));
    if (t->staggered)
        FOR_PIECES(t->edges, own_edges(t, s, from, to));
    else
        FOR_PIECES(t->edges, spread_edges(t, from, to));
    FOR_PIECES(t->faces, sum_faces(t, per_dx, y, from, to));
}

void tl_stress_add_force(const tl_stress *t, const tl_coupling *c, const double *s, double *y)
{
    tl_stress_force(t, c, s, t->y);
    for (int32_t f = 0; f < t->faces; f++) y[f] += t->y[f];
}

/* e of edges: what a unit of shear on each does, against y */
static void meet_edges(const tl_stress *t, double per_dx, double *restrict to_e, int32_t from, int32_t to)
{
    const double *restrict w = t->weight, *restrict y = t->y;
    const int32_t *restrict f0 = t->edge_face[0], *restrict f1 = t->edge_face[1], *restrict f2 = t->edge_face[2],
                            *restrict f3 = t->edge_face[3];
    for (int32_t k = from; k < to; k++) to_e[k] = per_dx * w[k] * ((y[f0[k]] - y[f1[k]]) + (y[f2[k]] - y[f3[k]]));
}

/* -(s_i - s_(i-1)) on a face: its lower cell has a plus */
static void meet_cells(const tl_stress *t, double per_dx, int stride, int zz, double *restrict out, int32_t from,
                       int32_t to)
{
    const double *restrict w = t->diagonal, *restrict y = t->y, x = t->only[0], z = t->only[2];
    const int32_t *restrict f0 = t->cell_face[0], *restrict f1 = t->cell_face[1], *restrict f2 = t->cell_face[2],
                            *restrict f3 = t->cell_face[3], *restrict f4 = t->cell_face[4],
                            *restrict f5 = t->cell_face[5];
    for (int32_t i = from; i < to; i++) {
        double v = per_dx * w[i], y_y = y[f2[i]] - y[f3[i]];
        out[stride * (int64_t)i] = x * v * (y_y - (y[f0[i]] - y[f1[i]]));
        out[stride * (int64_t)i + zz] = z * v * (y_y - (y[f4[i]] - y[f5[i]]));
    }
}

static void meet_shears(const tl_stress *t, int axis, double *restrict out, int32_t from, int32_t to)
{
    const double *restrict e = t->e, *restrict v = t->shear;
    const int32_t *restrict e0 = t->cell_edge[4 * axis], *restrict e1 = t->cell_edge[4 * axis + 1],
                            *restrict e2 = t->cell_edge[4 * axis + 2], *restrict e3 = t->cell_edge[4 * axis + 3];
    const int at = tl_stress_shear(axis);
    for (int32_t i = from; i < to; i++)
        out[TL_STRESS_GROUP * (int64_t)i + at] = 0.25 * v[i] * ((e[e0[i]] + e[e1[i]]) + (e[e2[i]] + e[e3[i]]));
}

/* out = D^T t->y */
static void adjoint_of_y(const tl_stress *t, const tl_coupling *c, double *out)
{
    const double per_dx = 1 / c->dx;
    double *e = t->staggered ? out + 2 * (int64_t)t->cells : t->e;
    const int stride = t->staggered ? 2 : TL_STRESS_GROUP, zz = t->staggered ? 1 : TL_S_ZZ;
    FOR_PIECES(t->edges, meet_edges(t, per_dx, e, from, to));
    FOR_PIECES(t->cells, {
        meet_cells(t, per_dx, stride, zz, out, from, to);
        for (int axis = 0; axis < 3 && !t->staggered; axis++) meet_shears(t, axis, out, from, to);
    });
}

void tl_stress_adjoint(const tl_stress *t, const tl_coupling *c, const double *y, double *out)
{
    memcpy(t->y, y, sizeof *y * (size_t)t->faces);
    adjoint_of_y(t, c, out);
}

void tl_stress_form(const tl_stress *t, double *Q)
{
    tl_cone_stress_form(Q);
    if (t->only[0] && t->only[2]) return;
    Q[TL_STRESS_GROUP * TL_S_XX + TL_S_ZZ] = Q[TL_STRESS_GROUP * TL_S_ZZ + TL_S_XX] = 0;
}

/* out += what normal stress in cut cells does to solids with velocities v, against them */
static void add_cut_cells(const tl_stress *t, const tl_coupling *c, const double *v, double scale, double *out)
{
    if (!c->solid.sample_cells) return;
    const double *e = c->solid.e;
    c->solid.sample_cells(&c->solid, v, c->solid.e);
    for (int32_t i = 0; i < t->cells; i++) {
        double *g = out + TL_STRESS_GROUP * (int64_t)i, w = scale * t->diagonal[i], y = e[3 * i + 1];
        if (t->only[0]) g[TL_S_XX] += w * (e[3 * i] - y);
        if (t->only[2]) g[TL_S_ZZ] += w * (e[3 * i + 2] - y);
    }
}

/* ---- memories ---- */

void tl_stress_pack(const tl_stress *t, const double *s, double *five)
{
    if (!t->staggered) {
        memcpy(five, s, sizeof *s * (size_t)t->n);
        return;
    }
    for (int32_t i = 0; i < t->cells; i++) {
        double *g = five + TL_STRESS_GROUP * (int64_t)i;
        g[TL_S_XX] = s[2 * (int64_t)i];
        g[TL_S_ZZ] = s[2 * (int64_t)i + 1];
        for (int a = 0; a < 3; a++) {
            int32_t e = t->cell_edge[4 * a][i];
            g[tl_stress_shear(a)] = e < t->edges ? s[2 * (int64_t)t->cells + e] : 0;
        }
    }
}

void tl_stress_unpack(const tl_stress *t, const double *five, double *s)
{
    if (!t->staggered) {
        memcpy(s, five, sizeof *s * (size_t)t->n);
        return;
    }
    memset(s, 0, sizeof *s * (size_t)t->n);
    for (int32_t i = 0; i < t->cells; i++) {
        const double *g = five + TL_STRESS_GROUP * (int64_t)i;
        s[2 * (int64_t)i] = g[TL_S_XX];
        s[2 * (int64_t)i + 1] = g[TL_S_ZZ];
        for (int a = 0; a < 3; a++) {
            int32_t e = t->cell_edge[4 * a][i];
            if (e < t->edges) s[2 * (int64_t)t->cells + e] = g[tl_stress_shear(a)];
        }
    }
}

/* ---- velocities ---- */

void tl_stress_gradient(const tl_stress *t, const tl_coupling *c, double *g)
{
    tl_coupling_blend(c, c->y);
    tl_stress_adjoint(t, c, c->y, g);
    add_cut_cells(t, c, c->v, 1, g);
#pragma omp parallel for schedule(static) if (t->n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < t->n; i++) g[i] = -g[i];
}

void tl_stress_push(const tl_stress *t, tl_coupling *c, const double *ds)
{
    tl_stress_force(t, c, ds, c->y);
    tl_coupling_push(c, c->y);
}

static void weigh_faces(const tl_stress *t, const tl_coupling *c, int32_t from, int32_t to)
{
    const double dt = c->dt, *restrict fluid = c->fluid, *restrict mobility = c->mobility;
    double *restrict y = t->y;
    for (int32_t f = from; f < to; f++) y[f] = y[f] * (dt * fluid[f] * mobility[f]);
}

void tl_stress_product(const tl_stress *t, const tl_coupling *c, const double *x, double *y)
{
    const double volume_dt = c->dx * c->dx * c->dx * c->dt;
    tl_stress_force(t, c, x, t->y);
    if (c->solid.n) {
        c->solid.gather(&c->solid, t->y, c->r);
        if (c->solid.gather_cells) c->solid.gather_cells(&c->solid, t->d, c->r);
        c->solid.inverse_mass(&c->solid, c->r, c->dv);
        for (int64_t k = 0; k < c->solid.n; k++) c->dv[k] *= volume_dt;
    }
    FOR_PIECES(t->faces, weigh_faces(t, c, from, to));
    if (c->solid.n) c->solid.sample(&c->solid, c->dv, t->y);
    adjoint_of_y(t, c, y);
    if (c->solid.n) add_cut_cells(t, c, c->dv, 1, y);
}

/* ---- forces ---- */

void tl_stress_face_forces(const tl_stress *t, const tl_coupling *c, const double *p, const double *s, double *y)
{
    tl_coupling_gradient(c, p, y);
    if (!s) return;
    tl_stress_add_force(t, c, s, y);
    for (int32_t k = 0; k < t->holds; k++) y[t->held[k]] -= t->hold[k];
}

void tl_stress_solid_forces(const tl_stress *t, const tl_coupling *c, const double *p, const double *s, double *f)
{
    tl_stress_face_forces(t, c, p, s, c->y);
    c->solid.gather(&c->solid, c->y, f);
    for (int64_t i = 0; i < c->solid.n; i++) f[i] *= -(c->dx * c->dx * c->dx);
}

/* ---- bounds ---- */

/* y [faces] = |D| of ones, then what acts back on cells: |D|^T (H y + solids). */
void tl_stress_bounds(const tl_stress *t, const tl_coupling *c, double *scratch, double *L)
{
    const double per_dx = 1 / c->dx, volume = c->dx * c->dx * c->dx;
    double *y = c->y, *z = scratch;
    /* two components at cells reach the face of axis y, one the others; an edge has up to four cells, a quarter each */
    for (int32_t k = 0; k < t->edges; k++) {
        const tl_stress_edge e = tl_stress_edge_at(t, k);
        double cells = 0;
        for (int j = 0; j < 4; j++) cells += e.cell[j] < t->cells ? t->shear[e.cell[j]] : 0;
        t->e[k] = 0.25 * cells * e.weight;
    }
    for (int32_t f = 0; f < t->faces; f++) {
        double low = c->low[f] < t->cells ? t->diagonal[c->low[f]] : 0,
               high = c->high[f] < t->cells ? t->diagonal[c->high[f]] : 0;
        double diagonal = (t->axis[f] == 1 ? 2 : 1) * (low + high);
        double shear = 0;
        for (int k = 0; k < 4; k++) shear += t->e[t->face_edge[k][f]];
        y[f] = (diagonal + shear) * per_dx;
        z[f] = 0;
    }
    if (c->solid.n) c->solid.spread(&c->solid, y, z);
    for (int32_t f = 0; f < t->faces; f++) y[f] = c->dt * (c->fluid[f] * c->mobility[f] * y[f] + volume * z[f]);
    for (int32_t k = 0; k < t->edges; k++) {
        const tl_stress_edge e = tl_stress_edge_at(t, k);
        double sum = 0;
        for (int j = 0; j < 4; j++) sum += e.face[j] < t->faces ? y[e.face[j]] : 0;
        t->e[k] = e.weight * sum * per_dx;
    }
    for (int32_t i = 0; i < t->cells; i++) {
        const int32_t *f = c->face + 6 * (int64_t)i;
        double w = t->diagonal[i] * per_dx, y_y = y[f[2]] + y[f[3]], max = 0;
        double xx = w * (y_y + y[f[0]] + y[f[1]]), zz = w * (y_y + y[f[4]] + y[f[5]]);
        /* Q^-1 of the Frobenius form: a half for shears; (2 x - z) / 3 for the two diagonal ones */
        max = (2 * fmax(xx, zz) + fmin(xx, zz)) / 3;
        for (int a = 0; a < 3; a++) {
            double shear = 0;
            for (int k = 0; k < 4; k++) shear += 0.25 * t->shear[i] * t->e[t->cell_edge[4 * a + k][i]];
            max = fmax(max, 0.5 * shear);
        }
        L[i] = max;
    }
}
