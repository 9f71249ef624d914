#include "model/coupling/stress.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "solve/cone/problem.h"

/* ---- D and its adjoint ---- */

/* Three diagonal components of a cell, times its liquid fraction. */
static void weigh_diagonal(const tl_stress *t, const double *s)
{
    const int size = t->staggered ? 2 : TL_STRESS_GROUP, zz = t->staggered ? 1 : TL_S_ZZ;
#pragma omp parallel for schedule(static) if (t->cells >= TL_PARALLEL_MIN / 4)
    for (int32_t i = 0; i < t->cells; i++) {
        const double *g = s + size * (int64_t)i;
        double *d = t->d + 3 * (int64_t)i, w = t->cell[i], x = t->only[0] ? g[0] : 0, z = t->only[2] ? g[zz] : 0;
        d[0] = w * x;
        d[1] = -w * (x + z);
        d[2] = w * z;
    }
}

static bool acts(const tl_stress *t, int axis) { return t->only[(axis + 1) % 3] && t->only[(axis + 2) % 3]; }

static void weigh_shear(const tl_stress *t, const double *s)
{
    const double *own = s + 2 * (int64_t)t->cells;
#pragma omp parallel for schedule(static) if (t->edges >= TL_PARALLEL_MIN / 4)
    for (int32_t k = 0; k < t->edges; k++) {
        const tl_stress_edge *e = &t->edge[k];
        double sum = 0;
        if (t->staggered)
            sum = 4 * own[k];
        else
            for (int j = 0; j < 4; j++)
                if (e->cell[j] < t->cells) sum += s[TL_STRESS_GROUP * (int64_t)e->cell[j] + tl_stress_shear(e->axis)];
        t->e[k] = acts(t, e->axis) ? 0.25 * e->weight * sum : 0;
    }
}

void tl_stress_add_force(const tl_stress *t, const tl_coupling *c, const double *s, double *y)
{
    const double per_dx = 1 / c->dx;
    weigh_diagonal(t, s);
    weigh_shear(t, s);
#pragma omp parallel for schedule(static) if (t->faces >= TL_PARALLEL_MIN / 4)
    for (int32_t f = 0; f < t->faces; f++) {
        const int32_t *e = t->of_face[f];
        int a = t->axis[f];
        double d = t->d[3 * (int64_t)c->high[f] + a] - t->d[3 * (int64_t)c->low[f] + a];
        y[f] -= (d + (t->e[e[0]] - t->e[e[1]]) + (t->e[e[2]] - t->e[e[3]])) * per_dx;
    }
}

void tl_stress_force(const tl_stress *t, const tl_coupling *c, const double *s, double *y)
{
    memset(y, 0, sizeof *y * (size_t)t->faces);
    tl_stress_add_force(t, c, s, y);
}

/* What a unit of shear on an edge does, against y. */
static double edge_adjoint(const tl_stress *t, const tl_stress_edge *e, const double *y, double per_dx)
{
    double v[4];
    for (int k = 0; k < 4; k++) v[k] = e->face[k] < t->faces ? y[e->face[k]] : 0;
    return acts(t, e->axis) ? e->weight * ((v[0] - v[1]) + (v[2] - v[3])) * per_dx : 0;
}

static void diagonal_adjoint(const tl_stress *t, const tl_coupling *c, int32_t i, const double *y, double out[2])
{
    const int32_t *f = c->face + 6 * (int64_t)i;
    double w = t->cell[i] / c->dx, y_y = y[f[2]] - y[f[3]];
    /* -(s_i - s_(i-1)) on a face: its lower cell has a plus */
    out[0] = t->only[0] ? w * (y_y - (y[f[0]] - y[f[1]])) : 0;
    out[1] = t->only[2] ? w * (y_y - (y[f[4]] - y[f[5]])) : 0;
}

void tl_stress_adjoint(const tl_stress *t, const tl_coupling *c, const double *y, double *out)
{
    const double per_dx = 1 / c->dx;
    double *shear = t->staggered ? out + 2 * (int64_t)t->cells : t->e;
#pragma omp parallel for schedule(static) if (t->edges >= TL_PARALLEL_MIN / 4)
    for (int32_t k = 0; k < t->edges; k++) shear[k] = edge_adjoint(t, &t->edge[k], y, per_dx);
#pragma omp parallel for schedule(static) if (t->cells >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < t->cells; i++) {
        double d[2];
        diagonal_adjoint(t, c, i, y, d);
        if (t->staggered) {
            out[2 * (int64_t)i] = d[0];
            out[2 * (int64_t)i + 1] = d[1];
            continue;
        }
        double *g = out + TL_STRESS_GROUP * (int64_t)i;
        const int32_t *e = t->of_cell[i];
        g[TL_S_XX] = d[0];
        g[TL_S_ZZ] = d[1];
        for (int a = 0; a < 3; a++)
            g[tl_stress_shear(a)] =
                0.25 * ((t->e[e[4 * a]] + t->e[e[4 * a + 1]]) + (t->e[e[4 * a + 2]] + t->e[e[4 * a + 3]]));
    }
}

void tl_stress_form(const tl_stress *t, double *Q)
{
    tl_cone_stress_form(Q);
    if (t->only[0] && t->only[2]) return;
    Q[TL_STRESS_GROUP * TL_S_XX + TL_S_ZZ] = Q[TL_STRESS_GROUP * TL_S_ZZ + TL_S_XX] = 0;
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
            int32_t e = t->of_cell[i][4 * a];
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
            int32_t e = t->of_cell[i][4 * a];
            if (e < t->edges) s[2 * (int64_t)t->cells + e] = g[tl_stress_shear(a)];
        }
    }
}

/* ---- velocities ---- */

void tl_stress_gradient(const tl_stress *t, const tl_coupling *c, double *g)
{
    tl_coupling_blend(c, c->y);
    tl_stress_adjoint(t, c, c->y, g);
#pragma omp parallel for schedule(static) if (t->n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < t->n; i++) g[i] = -g[i];
}

void tl_stress_push(const tl_stress *t, tl_coupling *c, const double *ds)
{
    tl_stress_force(t, c, ds, c->y);
    tl_coupling_push(c, c->y);
}

void tl_stress_product(const tl_stress *t, const tl_coupling *c, const double *x, double *y)
{
    const double volume = c->dx * c->dx * c->dx, dt = c->dt;
    tl_stress_force(t, c, x, c->y);
    if (c->solid.n) {
        c->solid.gather(&c->solid, c->y, c->r);
        c->solid.inverse_mass(&c->solid, c->r, c->dv);
        for (int64_t k = 0; k < c->solid.n; k++) c->dv[k] *= volume * dt;
    }
#pragma omp parallel for schedule(static) if (t->faces >= TL_PARALLEL_MIN / 2)
    for (int32_t f = 0; f < t->faces; f++) c->y[f] *= dt * c->fluid[f] * c->mobility[f];
    if (c->solid.n) c->solid.sample(&c->solid, c->dv, c->y);
    tl_stress_adjoint(t, c, c->y, y);
}

/* ---- bounds ---- */

/* y [faces] = |D| of ones, then what acts back on cells: |D|^T (H y + solids). */
void tl_stress_bounds(const tl_stress *t, const tl_coupling *c, double *scratch, double *L)
{
    const double per_dx = 1 / c->dx, volume = c->dx * c->dx * c->dx;
    double *y = c->y, *z = scratch;
    /* two components at cells reach the face of axis y, one the others; an edge has up to four cells, a quarter each */
    for (int32_t k = 0; k < t->edges; k++) {
        const tl_stress_edge *e = &t->edge[k];
        int cells = 0;
        for (int j = 0; j < 4; j++) cells += e->cell[j] < t->cells;
        t->e[k] = acts(t, e->axis) ? 0.25 * cells * e->weight : 0;
    }
    for (int32_t f = 0; f < t->faces; f++) {
        const int32_t *e = t->of_face[f];
        double low = c->low[f] < t->cells ? t->cell[c->low[f]] : 0,
               high = c->high[f] < t->cells ? t->cell[c->high[f]] : 0;
        double diagonal = (t->axis[f] == 1 ? 2 : 1) * (low + high);
        y[f] = (diagonal + (t->e[e[0]] + t->e[e[1]]) + (t->e[e[2]] + t->e[e[3]])) * per_dx;
        z[f] = 0;
    }
    if (c->solid.n) c->solid.spread(&c->solid, y, z);
    for (int32_t f = 0; f < t->faces; f++) y[f] = c->dt * (c->fluid[f] * c->mobility[f] * y[f] + volume * z[f]);
    for (int32_t k = 0; k < t->edges; k++) {
        const tl_stress_edge *e = &t->edge[k];
        double sum = 0;
        for (int j = 0; j < 4; j++) sum += e->face[j] < t->faces ? y[e->face[j]] : 0;
        t->e[k] = acts(t, e->axis) ? e->weight * sum * per_dx : 0;
    }
    for (int32_t i = 0; i < t->cells; i++) {
        const int32_t *f = c->face + 6 * (int64_t)i, *e = t->of_cell[i];
        double w = t->cell[i] * per_dx, y_y = y[f[2]] + y[f[3]], most = 0;
        double xx = w * (y_y + y[f[0]] + y[f[1]]), zz = w * (y_y + y[f[4]] + y[f[5]]);
        /* Q^-1 of the Frobenius form: a half for shears; (2 x - z) / 3 for the two diagonal ones */
        most = (2 * fmax(xx, zz) + fmin(xx, zz)) / 3;
        for (int a = 0; a < 3; a++) {
            double shear = 0;
            for (int k = 0; k < 4; k++) shear += 0.25 * t->e[e[4 * a + k]];
            most = fmax(most, 0.5 * shear);
        }
        L[i] = most;
    }
}
