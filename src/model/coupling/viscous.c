#include "model/coupling/viscous.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "model/coupling/liquid.h"

/* Open part of a sample's cube from which on it is divided by. An edge just inside of a wall that passes the middle of a
 * face should hold the liquid there without slip; it does so up to twice this part of a cell. */
#define OPEN_LEAST 0.01
/* Open part of a face's cube below which its centre is in the solid. On the surface it is held without: across a wall by
 * the pressure of the cell behind it, along one by the edge behind it. */
#define HELD (0.5 - 1e-6)
#define ROW_MAX 32 /* faces around two cells and four edges, at most 28 */
#define SCHUR 5.0  /* (G^T C^-1 G)^-1 over dt eta: BULK + 4/3 in the open; 1.5 to 6 differ by a tenth */
/* Bulk viscosity over eta. Where nothing is compressed it does nothing, and the answer is the same with any; but stress
 * without a trace leaves cells at a surface free to swell, which pressure alone would have to hold: 450 iterations without,
 * 63 to 92 with (32^3, eta dt / (rho dx^2) of 5e3 to 5e5). 0.7, 3, 6: 90, 51, 45 at 16^3. */
#define BULK 5.0
#define SETTLE 3    /* rounds of bodies: the first is all that bodies apart from each other need */
#define LIQUID 1e-9 /* filling of a cell that has a viscosity of its own */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the stress of a viscous liquid");
}

/* ---- samples ---- */

static void cells_around(const tl_grid *g, int axis, int32_t id, int32_t out[4])
{
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    out[0] = id;
    out[1] = tl_grid_step(g, id, i, -1);
    out[2] = tl_grid_step(g, id, j, -1);
    out[3] = tl_grid_step(g, out[1], j, -1);
}

/* Whether the solid that is nearest to a place lets liquid slip. */
static bool slips_at(const tl_viscosity *v, const tl_grid *g, int32_t cell, tl_vec3 x)
{
    int32_t which;
    tl_vec3 n;
    tl_solids_distance(v->solids, tl_grid_block_of(g, cell), x, &which, &n);
    return which >= 0 ? v->slips[which] : which == TL_SOLID_WALL && v->walls_slip;
}

static tl_vec3 edge_centre(const tl_grid *g, int axis, int32_t id)
{
    double x[3], half = 0.5 * g->f.dx;
    tl_vec3_store(tl_grid_centre(g, id), x);
    x[(axis + 1) % 3] -= half;
    x[(axis + 2) % 3] -= half;
    return tl_vec3_load(x);
}

/* In layers, shear stress is what goes on through an edge: the harmonic mean, of cells with liquid of their own; around
 * solids those that are continued. */
static double edge_viscosity(const tl_viscosity *v, const tl_active *active, const int32_t cell[4])
{
    double over = 0, sum = 0;
    int own = 0, any = 0;
    for (int k = 0; k < 4; k++) {
        if (active->number[cell[k]] < 0) continue;
        any++;
        sum += v->eta[cell[k]];
        if (!(v->fill[cell[k]] > LIQUID)) continue;
        if (!(v->eta[cell[k]] > 0)) return 0;
        own++;
        over += 1 / v->eta[cell[k]];
    }
    return own ? own / over : any ? sum / any : 0;
}

static bool touches_active(const tl_grid *g, const tl_active *active, int axis, int32_t id)
{
    return active->number[id] >= 0 || active->number[tl_grid_step(g, id, axis, -1)] >= 0;
}

static bool edge_is_on(const tl_viscosity *v, const tl_grid *g, const tl_active *active, const tl_fractions *f,
                       int axis, int32_t id)
{
    int face_axis[4];
    int32_t face[4], cell[4];
    bool open = false;
    tl_edge_faces(g, axis, id, face_axis, face);
    for (int k = 0; k < 4; k++) {
        bool is_open = f->open[face_axis[k]][face[k]] > 0;
        if (is_open && !touches_active(g, active, face_axis[k], face[k])) return false;
        open |= is_open;
    }
    if (!open) return false;
    cells_around(g, axis, id, cell);
    if (!(edge_viscosity(v, active, cell) > 0)) return false;
    return !(v->solid_edge[axis][id] > 0) || !slips_at(v, g, id, edge_centre(g, axis, id));
}

/* Of the open cells around an edge, the part with an unknown. */
static double liquid_share(const tl_active *active, const tl_fractions *f, const int32_t cell[4])
{
    double liquid = 0, all = 0;
    int there = 0;
    for (int k = 0; k < 4; k++) {
        double open = 1 - f->solid_cell[cell[k]];
        bool on = active->number[cell[k]] >= 0;
        there += on;
        all += open;
        liquid += on ? open : 0;
    }
    return all > OPEN_LEAST && liquid > 0 ? liquid / all : 0.25 * there;
}

talus_status tl_viscous_edges(tl_edges *out, const tl_viscosity *v, const tl_grid *g, const tl_active *active,
                              const tl_fractions *f, tl_arena *a, talus_error *err)
{
    *out = (tl_edges){0};
    int32_t exist = (int32_t)((int64_t)g->blocks * g->f.size);
    for (int axis = 0; axis < 3; axis++) {
        int32_t *of = out->of[axis] = TL_TAKE(a, int32_t, g->cells);
        if (!of) return no_memory(err);
        memset(of, 0xff, sizeof *of * (size_t)g->cells);
        if (g->f.flat && axis != g->f.flat_axis) continue; /* shears with the axis of one cell are zero */
#pragma omp parallel for schedule(static) if (exist >= TL_PARALLEL_MIN / 8)
        for (int32_t i = 0; i < exist; i++) of[i] = edge_is_on(v, g, active, f, axis, i) ? 0 : -1;
        for (int32_t i = 0; i < exist; i++)
            if (of[i] == 0) of[i] = out->count++;
    }
    out->id = TL_TAKE(a, int32_t, out->count);
    out->axis = TL_TAKE(a, int8_t, out->count);
    out->weight = TL_TAKE(a, double, out->count);
    if (!out->id || !out->axis || !out->weight) return no_memory(err);
    for (int axis = 0; axis < 3; axis++)
        for (int32_t i = 0; i < exist; i++) {
            int32_t k = out->of[axis][i], cell[4];
            if (k < 0) continue;
            cells_around(g, axis, i, cell);
            out->id[k] = i;
            out->axis[k] = (int8_t)axis;
            out->weight[k] = liquid_share(active, f, cell);
        }
    return TALUS_OK;
}

static double cell_coefficient(const tl_viscosity *v, const tl_grid *g, const tl_fractions *f, int32_t cell)
{
    double open = 1 - f->solid_cell[cell];
    if (open < OPEN_LEAST) return 0; /* nothing but what pressure holds */
    if (open < 1 && slips_at(v, g, cell, tl_grid_centre(g, cell))) return 0;
    return v->eta[cell] / open;
}

/* Viscosity beside a face: of its cells with a pressure. */
static double face_viscosity(const tl_viscosity *v, const tl_system *y, int32_t f)
{
    const int32_t cell[2] = {y->c.low[f], y->c.high[f]};
    double sum = 0;
    int count = 0;
    for (int k = 0; k < 2; k++) {
        if (cell[k] >= y->c.cells) continue;
        sum += v->eta[y->active.cell[cell[k]]];
        count++;
    }
    return count ? sum / count : 0;
}

static talus_status find_holds(tl_viscous_stress *out, const tl_viscosity *v, const tl_grid *g, tl_arena *a,
                               talus_error *err)
{
    const tl_system *y = out->system;
    const tl_coupling *c = &y->c;
    out->holds = 0;
    out->hold_of = TL_TAKE(a, int32_t, c->faces);
    if (!out->hold_of) return no_memory(err);
    for (int32_t f = 0; f < c->faces; f++) {
        const bool inside = c->mobility[f] > 0 && c->fluid[f] < HELD && tl_grid_exists(g, y->id[f]);
        const bool held = inside && !v->open_slivers && face_viscosity(v, y, f) > 0 &&
                          !slips_at(v, g, y->id[f], tl_grid_face_centre(g, y->axis[f], y->id[f]));
        out->hold_of[f] = held ? out->holds++ : -1;
    }
    out->held = TL_TAKE(a, int32_t, out->holds);
    out->grip = TL_TAKE(a, double, out->holds);
    out->hold = TL_TAKE_ZERO(a, double, out->holds);
    out->h = TL_TAKE(a, double, out->holds);
    if (!out->held || !out->grip || !out->hold || !out->h) return no_memory(err);
    for (int32_t f = 0; f < c->faces; f++) {
        const int32_t k = out->hold_of[f];
        if (k < 0) continue;
        const double covered = 1 - c->fluid[f];
        out->held[k] = f;
        out->grip[k] = face_viscosity(v, y, f) / (OPEN_LEAST * c->dx * c->dx * covered * covered);
    }
    return TALUS_OK;
}

static void weigh_samples(tl_viscous_stress *out, const tl_viscosity *v, const tl_grid *g, const tl_fractions *f)
{
    const tl_system *y = out->system;
    const tl_stress *t = &y->stress;
    for (int32_t i = 0; i < t->cells; i++) out->cell[i] = cell_coefficient(v, g, f, y->active.cell[i]);
    for (int32_t k = 0; k < t->edges; k++) {
        int32_t cell[4], id = y->edges.id[k];
        cells_around(g, y->edges.axis[k], id, cell);
        double open = fmax(OPEN_LEAST, 1 - v->solid_edge[y->edges.axis[k]][id]);
        out->edge[k] = edge_viscosity(v, &y->active, cell) / (open * t->weight[k]);
    }
    for (int32_t i = 0; i < t->cells; i++) {
        double open = 1 - f->solid_cell[y->active.cell[i]];
        out->eta[i] = v->eta[y->active.cell[i]] / (open < OPEN_LEAST ? 1 : open);
        out->bulk[i] = BULK * y->c.dt * out->eta[i];
    }
    const double third = 1.0 / 3;
    const bool x = t->only[0], z = t->only[2];
    out->form[0][0] = !x ? 0 : !z ? 0.5 : 2 * third;
    out->form[1][1] = !z ? 0 : !x ? 0.5 : 2 * third;
    out->form[0][1] = out->form[1][0] = x && z ? -third : 0;
}

/* ---- bodies ---- */

/* L L^T = A, lower; columns of axes that do not turn are zero. */
static void root_of(const double *A, double *L)
{
    memset(L, 0, 9 * sizeof *L);
    for (int j = 0; j < 3; j++) {
        double d = A[4 * j];
        for (int k = 0; k < j; k++) d -= L[3 * j + k] * L[3 * j + k];
        if (!(d > 1e-14 * fabs(A[4 * j])) || !(d > 0)) continue;
        L[4 * j] = sqrt(d);
        for (int i = j + 1; i < 3; i++) {
            double sum = A[3 * i + j];
            for (int k = 0; k < j; k++) sum -= L[3 * i + k] * L[3 * j + k];
            L[3 * i + j] = sum / L[4 * j];
        }
    }
}

void tl_viscous_through_root(const tl_viscous_stress *v, bool transposed, const double *in, double *out)
{
    const tl_rigid_solid *r = &v->system->rigid;
    for (int32_t b = 0; b < r->bodies; b++) {
        const double *L = v->root + 9 * (int64_t)b, *x = in + 6 * (int64_t)b, m = sqrt(r->inv_mass[b]);
        double *y = out + 6 * (int64_t)b;
        const double turn[3] = {x[3], x[4], x[5]};
        for (int k = 0; k < 3; k++) {
            y[k] = m * x[k];
            y[3 + k] = 0;
            for (int j = 0; j < 3; j++) y[3 + k] += (transposed ? L[3 * j + k] : L[3 * k + j]) * turn[j];
        }
    }
}

/* ---- products ---- */

static double volume_of(const tl_coupling *c) { return c->dx * c->dx * c->dx; }

/* s = 2 N e of all samples; may be in place */
static void stress_of(const tl_viscous_stress *v, const double *e, double *s)
{
    const tl_stress *t = &v->system->stress;
#pragma omp parallel for schedule(static) if (t->cells >= TL_PARALLEL_MIN / 2)
    for (int32_t i = 0; i < t->cells; i++) {
        double xx = e[2 * i], zz = e[2 * i + 1], n = 2 * v->cell[i];
        s[2 * i] = n * (v->form[0][0] * xx + v->form[0][1] * zz);
        s[2 * i + 1] = n * (v->form[1][0] * xx + v->form[1][1] * zz);
    }
    const int64_t first = 2 * (int64_t)t->cells;
#pragma omp parallel for schedule(static) if (t->edges >= TL_PARALLEL_MIN)
    for (int32_t k = 0; k < t->edges; k++) s[first + k] = v->edge[k] * e[first + k];
}

void tl_viscous_forces(const tl_viscous_stress *v, const double *u, const double *y)
{
    const tl_coupling *c = &v->system->c;
    for (int32_t k = 0; k < v->holds; k++) v->h[k] = v->grip[k] * ((u ? u[v->held[k]] : 0) - y[v->held[k]]);
    tl_stress_adjoint(&v->system->stress, c, y, v->e);
    stress_of(v, v->e, v->e);
}

void tl_viscous_on_solids(const tl_viscous_stress *v)
{
    tl_stress_force(&v->system->stress, &v->system->c, v->e, v->force);
    for (int32_t k = 0; k < v->holds; k++) v->force[v->held[k]] -= v->h[k];
}

/* v->force [faces] = G q + dt (what viscosity does to solids), per volume */
static void force_of(const tl_viscous_stress *v, const double *q)
{
    const tl_coupling *c = &v->system->c;
    tl_viscous_on_solids(v);
    tl_coupling_gradient(c, q, c->y);
#pragma omp parallel for schedule(static) if (c->faces >= TL_PARALLEL_MIN)
    for (int32_t f = 0; f < c->faces; f++) v->force[f] = c->y[f] + c->dt * v->force[f];
}

/* W_F u + J R z in c->y */
static void blend_of(const tl_viscous_stress *v, const double *u, const double *z)
{
    const tl_coupling *c = &v->system->c;
#pragma omp parallel for schedule(static) if (c->faces >= TL_PARALLEL_MIN)
    for (int32_t f = 0; f < c->faces; f++) c->y[f] = c->fluid[f] * u[f];
    if (!c->solid.n) return;
    tl_viscous_through_root(v, false, z, v->z);
    c->solid.sample(&c->solid, v->z, c->y);
}

static void product(const void *ctx, const double *x, double *out)
{
    const tl_viscous_stress *v = ctx;
    const tl_coupling *c = &v->system->c;
    const int64_t solids = c->solid.n;
    const double *z = x + c->faces, *q = z + solids;
    double *oz = out + c->faces, *oq = oz + solids;
    blend_of(v, x, z);
    tl_coupling_adjoint(c, c->y, oq);
    tl_viscous_forces(v, x, c->y);
#pragma omp parallel for schedule(static) if (c->cells >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < c->cells; i++) v->q[i] = q[i] + v->bulk[i] * oq[i];
    force_of(v, v->q);
#pragma omp parallel for schedule(static) if (c->faces >= TL_PARALLEL_MIN)
    for (int32_t f = 0; f < c->faces; f++)
        out[f] = c->mobility[f] > 0 ? c->fluid[f] * (x[f] / c->mobility[f] + v->force[f]) : 0;
    for (int32_t k = 0; k < v->holds; k++) out[v->held[k]] += c->dt * v->h[k];
    if (!solids) return;
    c->solid.gather(&c->solid, v->force, v->z);
    tl_viscous_through_root(v, true, v->z, oz);
    for (int64_t k = 0; k < solids; k++) oz[k] += z[k] / volume_of(c);
}

/* ---- what a solve reads and writes ---- */

void tl_viscous_begin(const void *ctx)
{
    const tl_viscous_stress *v = ctx;
    memcpy(v->base, v->system->c.u, sizeof *v->base * (size_t)v->system->c.faces);
    memset(v->s, 0, sizeof *v->s * (size_t)v->system->stress.n);
    memset(v->hold, 0, sizeof *v->hold * (size_t)v->holds);
}

void tl_viscous_renew(const tl_viscous_stress *v)
{
    memcpy(v->s, v->e, sizeof *v->s * (size_t)v->system->stress.n);
    memcpy(v->hold, v->h, sizeof *v->hold * (size_t)v->holds);
}

void tl_viscous_balance(const tl_viscous_stress *v, double *out)
{
    const tl_coupling *c = &v->system->c;
    tl_viscous_on_solids(v);
    tl_coupling_gradient(c, v->p, c->y);
#pragma omp parallel for schedule(static) if (c->faces >= TL_PARALLEL_MIN)
    for (int32_t f = 0; f < c->faces; f++) {
        double mass = c->mobility[f] > 0 ? c->fluid[f] / c->mobility[f] : 0;
        out[f] = mass * (c->u[f] - v->base[f]) + c->dt * c->fluid[f] * (c->y[f] + v->force[f]);
    }
    for (int32_t k = 0; k < v->holds; k++) out[v->held[k]] += c->dt * v->h[k];
}

/* Right side of an increment, at the velocities as they are. Bodies have the forces of s and p in them. */
static void residual(const void *ctx, double *b)
{
    const tl_viscous_stress *v = ctx;
    const tl_system *y = v->system;
    const tl_coupling *c = &y->c;
    const int64_t solids = c->solid.n;
    double *bz = b + c->faces, *bq = bz + solids;
    tl_coupling_blend(c, c->y);
    tl_coupling_adjoint(c, c->y, bq);
    for (int32_t i = 0; i < c->cells; i++) bq[i] = -bq[i];
    tl_viscous_forces(v, c->u, c->y);
    tl_viscous_balance(v, b);
    for (int64_t k = 0; k < y->stress.n; k++) v->e[k] -= v->s[k];
    for (int32_t k = 0; k < v->holds; k++) v->h[k] -= v->hold[k];
    for (int32_t i = 0; i < c->cells; i++) v->q[i] = -v->bulk[i] * bq[i];
    force_of(v, v->q); /* leaves the gradient in c->y */
    for (int32_t f = 0; f < c->faces; f++) b[f] = c->mobility[f] > 0 ? -b[f] - c->fluid[f] * c->y[f] : 0;
    if (!solids) return;
    c->solid.gather(&c->solid, v->force, v->z);
    tl_viscous_through_root(v, true, v->z, bz);
    for (int64_t k = 0; k < solids; k++) bz[k] = -bz[k];
}

/* Balance of bodies, given all else: what a body gets is what the liquid gives, to rounding, also where the solve left
 * something. Bodies that share samples go on from each other. */
static void settle_bodies(const tl_viscous_stress *v, const double *b, double *x, double *scratch)
{
    const tl_coupling *c = &v->system->c;
    const int64_t solids = c->solid.n;
    for (int round = 0; round < SETTLE && solids; round++) {
        product(v, x, scratch);
        for (int64_t k = 0; k < solids; k += 6)
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 6; j++)
                    x[c->faces + k + i] +=
                        v->solid[6 * k + 6 * i + j] * (b[c->faces + k + j] - scratch[c->faces + k + j]);
    }
}

/* Velocities, stress and pressure with the increment x of the right side b. scratch: as long. */
static void take(const void *ctx, const double *b, double *x, double *scratch, double *p)
{
    const tl_viscous_stress *v = ctx;
    const tl_system *y = v->system;
    const tl_coupling *c = &y->c;
    settle_bodies(v, b, x, scratch);
    const double *q = x + c->faces + c->solid.n, *bq = b + c->faces + c->solid.n;
    blend_of(v, x, x + c->faces);
    tl_coupling_adjoint(c, c->y, v->q);
    /* what the bulk viscosity resists of the divergence that is left acts as a pressure, on liquid and bodies alike */
    for (int32_t i = 0; i < c->cells; i++) p[i] += (q[i] + v->bulk[i] * (v->q[i] - bq[i])) / c->dt;
    for (int32_t f = 0; f < c->faces; f++) c->u[f] += x[f];
    tl_viscous_through_root(v, false, x + c->faces, v->z);
    for (int64_t k = 0; k < c->solid.n; k++) c->v[k] += v->z[k];
    tl_coupling_blend(c, c->y);
    tl_viscous_forces(v, c->u, c->y);
    tl_viscous_renew(v);
}

static void unbalanced(const void *ctx, double *largest, double *error)
{
    const tl_viscous_stress *v = ctx;
    const tl_system *y = v->system;
    tl_coupling_blend(&y->c, y->c.y);
    tl_viscous_forces(v, y->c.u, y->c.y);
    tl_viscous_judge(v, largest, error);
}

void tl_viscous_judge(const tl_viscous_stress *v, double *largest, double *error)
{
    const tl_coupling *c = &v->system->c;
    double most = 0, wrong = 0;
    tl_viscous_balance(v, v->left);
    for (int32_t f = 0; f < c->faces; f++) {
        if (!(v->diagonal[f] > 0)) continue;
        double miss = fabs(v->left[f]) / v->diagonal[f];
        most = fmax(most, fabs(c->dt * c->fluid[f] * v->force[f]) / v->diagonal[f]);
        wrong = miss > wrong || isnan(miss) ? miss : wrong;
    }
    *largest = most;
    *error = wrong;
}

/* ---- rows of K ---- */

/* Strains xx - yy, zz - yy of a cell, by its six faces: times 1 / dx. */
static const double cell_rows[6][2] = {{-1, 0}, {1, 0}, {1, 1}, {-1, -1}, {0, -1}, {0, 1}};
static const double edge_rows[4] = {1, -1, 1, -1};

typedef struct row {
    int n;
    int32_t col[ROW_MAX];
    double val[ROW_MAX];
} row;

static void add(row *r, int32_t col, double val)
{
    int i = 0;
    while (i < r->n && r->col[i] < col) i++;
    if (i == r->n || r->col[i] != col) {
        TL_ASSERT(r->n < ROW_MAX);
        for (int k = r->n++; k > i; k--) r->col[k] = r->col[k - 1], r->val[k] = r->val[k - 1];
        r->col[i] = col;
        r->val[i] = 0;
    }
    r->val[i] += val;
}

static double cell_pair(const tl_viscous_stress *v, int m, int k)
{
    const double *a = cell_rows[m], *b = cell_rows[k];
    return a[0] * (v->form[0][0] * b[0] + v->form[0][1] * b[1]) + a[1] * (v->form[1][0] * b[0] + v->form[1][1] * b[1]);
}

static void add_cell(const tl_viscous_stress *v, int32_t f, int32_t cell, row *r)
{
    const tl_coupling *c = &v->system->c;
    const int32_t *face = c->face + 6 * (int64_t)cell;
    const double scale = c->fluid[f] / (c->dx * c->dx), shear = 2 * c->dt * v->cell[cell], bulk = v->bulk[cell];
    for (int m = 0; m < 6; m++)
        for (int k = 0; k < 6 && face[m] == f; k++) {
            double pair = shear * cell_pair(v, m, k) + (m % 2 == k % 2 ? bulk : -bulk);
            if (c->mobility[face[k]] > 0) add(r, face[k], scale * c->fluid[face[k]] * pair);
        }
}

static void add_edge(const tl_viscous_stress *v, int32_t f, int32_t edge, row *r)
{
    const tl_coupling *c = &v->system->c;
    const tl_stress *t = &v->system->stress;
    const double w = t->weight[edge] / c->dx, scale = c->dt * v->edge[edge] * w * w * c->fluid[f];
    for (int m = 0; m < 4; m++)
        for (int k = 0; k < 4 && t->edge_face[m][edge] == f; k++) {
            int32_t g = t->edge_face[k][edge];
            if (g < t->faces && c->mobility[g] > 0) add(r, g, scale * edge_rows[m] * edge_rows[k] * c->fluid[g]);
        }
}

static void add_hold(const tl_viscous_stress *v, int32_t f, row *r)
{
    const double covered = 1 - v->system->c.fluid[f];
    add(r, f, v->system->c.dt * v->grip[v->hold_of[f]] * covered * covered);
}

static void make_row(const tl_viscous_stress *v, int32_t f, row *r)
{
    const tl_coupling *c = &v->system->c;
    const tl_stress *t = &v->system->stress;
    r->n = 0;
    if (!(c->mobility[f] > 0)) return;
    add(r, f, c->fluid[f] / c->mobility[f]);
    if (v->hold_of[f] >= 0) add_hold(v, f, r);
    if (c->low[f] < c->cells) add_cell(v, f, c->low[f], r);
    if (c->high[f] < c->cells && c->high[f] != c->low[f]) add_cell(v, f, c->high[f], r);
    for (int k = 0; k < 4; k++) {
        int32_t edge = t->face_edge[k][f];
        bool again = false;
        for (int j = 0; j < k; j++) again |= t->face_edge[j][f] == edge;
        if (edge < t->edges && !again) add_edge(v, f, edge, r);
    }
}

static talus_status make_rows(const tl_viscous_stress *v, tl_csr *K, tl_arena *a, talus_error *err)
{
    const int32_t n = v->system->c.faces;
    *K = (tl_csr){.rows = n, .cols = n, .start = TL_TAKE_ZERO(a, int64_t, (int64_t)n + 1)};
    if (!K->start) return no_memory(err);
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN / 8)
    for (int32_t f = 0; f < n; f++) {
        row r;
        make_row(v, f, &r);
        K->start[f + 1] = r.n;
    }
    for (int32_t f = 0; f < n; f++) K->start[f + 1] += K->start[f];
    K->col = TL_TAKE(a, int32_t, K->start[n]);
    K->val = TL_TAKE(a, double, K->start[n]);
    if (!K->col || !K->val) return no_memory(err);
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN / 8)
    for (int32_t f = 0; f < n; f++) {
        row r;
        make_row(v, f, &r);
        memcpy(K->col + K->start[f], r.col, sizeof *r.col * (size_t)r.n);
        memcpy(K->val + K->start[f], r.val, sizeof *r.val * (size_t)r.n);
        for (int k = 0; k < r.n; k++)
            if (r.col[k] == f) v->diagonal[f] = r.val[k];
    }
    return TALUS_OK;
}

/* ---- blocks of bodies ---- */

/* K += n g g^T of one sample, g [6]: its strain by a body's velocities. */
static void add_square(double n, const double *g, const double *h, double *K)
{
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) K[6 * i + j] += n * g[i] * h[j];
}

static void add_body_row(const tl_solid_row *r, double scale, double g[6])
{
    g[r->axis] += scale * r->weight;
    g[3] += scale * r->turn.x;
    g[4] += scale * r->turn.y;
    g[5] += scale * r->turn.z;
}

static void add_body_hold(const tl_viscous_stress *v, const tl_solid_row *r, double *K)
{
    const int32_t k = v->hold_of[r->face];
    double g[6] = {0};
    if (k < 0) return;
    add_body_row(r, 1, g);
    add_square(v->system->c.dt * v->grip[k], g, g, K);
}

/* of [faces]: row of the body, -1: none. A sample counts at the first of its faces that the body is on. */
static void add_body_cell(const tl_viscous_stress *v, const int32_t *of, int32_t at, int32_t cell, double *K)
{
    const tl_coupling *c = &v->system->c;
    double g[2][6] = {{0}}, h[2][6] = {{0}}, all[6] = {0};
    if (cell >= c->cells) return;
    for (int m = 0; m < 6; m++) {
        int32_t k = of[c->face[6 * (int64_t)cell + m]];
        if (k < 0) continue;
        if (k < at) return;
        for (int i = 0; i < 2; i++) add_body_row(&v->system->rigid.row[k], cell_rows[m][i] / c->dx, g[i]);
        add_body_row(&v->system->rigid.row[k], (m % 2 ? 1 : -1) / c->dx, all);
    }
    add_square(v->bulk[cell], all, all, K);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 6; j++) h[i][j] = v->form[i][0] * g[0][j] + v->form[i][1] * g[1][j];
    for (int i = 0; i < 2; i++) add_square(2 * c->dt * v->cell[cell], g[i], h[i], K);
}

static void add_body_edge(const tl_viscous_stress *v, const int32_t *of, int32_t at, int32_t edge, double *K)
{
    const tl_stress *t = &v->system->stress;
    double g[6] = {0};
    if (edge >= t->edges) return;
    for (int m = 0; m < 4; m++) {
        int32_t f = t->edge_face[m][edge], k = f < t->faces ? of[f] : -1;
        if (k < 0) continue;
        if (k < at) return;
        add_body_row(&v->system->rigid.row[k], edge_rows[m] * t->weight[edge] / v->system->c.dx, g);
    }
    add_square(v->system->c.dt * v->edge[edge], g, g, K);
}

/* B = inverse of a positive definite A [6][6], by Gauss and Jordan; pivots are at least those of the mass. */
static void invert(double A[36], double *B)
{
    memset(B, 0, 36 * sizeof *B);
    for (int i = 0; i < 6; i++) B[7 * i] = 1;
    for (int p = 0; p < 6; p++) {
        double over = 1 / A[7 * p];
        for (int j = 0; j < 6; j++) A[6 * p + j] *= over, B[6 * p + j] *= over;
        for (int i = 0; i < 6; i++) {
            double m = A[6 * i + p];
            if (i == p || m == 0) continue;
            for (int j = 0; j < 6; j++) A[6 * i + j] -= m * A[6 * p + j], B[6 * i + j] -= m * B[6 * p + j];
        }
    }
}

/* (1 / dx^3 + R^T K R)^-1 of a body. */
static void finish_block(const tl_viscous_stress *v, int32_t b, const double *K, double *out)
{
    const tl_rigid_solid *r = &v->system->rigid;
    const double *L = v->root + 9 * (int64_t)b, m = sqrt(r->inv_mass[b]);
    double R[36] = {0}, KR[36], A[36];
    for (int i = 0; i < 3; i++) {
        R[7 * i] = m;
        for (int j = 0; j < 3; j++) R[6 * (3 + i) + 3 + j] = L[3 * i + j];
    }
    for (int i = 0; i < 36; i++) {
        KR[i] = 0;
        for (int k = 0; k < 6; k++) KR[i] += K[6 * (i / 6) + k] * R[6 * k + i % 6];
    }
    for (int i = 0; i < 36; i++) {
        A[i] = i % 7 == 0 ? 1 / volume_of(&v->system->c) : 0;
        for (int k = 0; k < 6; k++) A[i] += R[6 * k + i / 6] * KR[6 * k + i % 6];
    }
    invert(A, out);
}

static talus_status make_blocks(const tl_viscous_stress *v, tl_arena *a, talus_error *err)
{
    const tl_system *y = v->system;
    const tl_rigid_solid *r = &y->rigid;
    size_t mark = tl_arena_mark(a);
    int32_t *of = TL_TAKE(a, int32_t, y->c.faces);
    if (!of) return no_memory(err);
    memset(of, 0xff, sizeof *of * (size_t)y->c.faces);
    for (int32_t b = 0; b < r->bodies; b++) {
        double K[36] = {0};
        const int32_t from = r->body_first[b], to = r->inv_mass[b] > 0 ? r->body_first[b + 1] : from;
        for (int32_t k = from; k < to; k++) of[r->row[k].face] = k;
        for (int32_t k = from; k < to; k++) {
            int32_t f = r->row[k].face;
            add_body_hold(v, &r->row[k], K);
            add_body_cell(v, of, k, y->c.low[f], K);
            if (y->c.high[f] != y->c.low[f]) add_body_cell(v, of, k, y->c.high[f], K);
            for (int j = 0; j < 4; j++) add_body_edge(v, of, k, y->stress.face_edge[j][f], K);
        }
        for (int32_t k = from; k < to; k++) of[r->row[k].face] = -1;
        finish_block(v, b, K, v->solid + 36 * (int64_t)b);
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}

/* ---- together ---- */

talus_status tl_viscous_stress_make(tl_viscous_stress *out, const tl_viscosity *v, const tl_grid *g,
                                    const tl_fractions *f, const tl_system *y, tl_arena *a, talus_error *err)
{
    const int32_t bodies = y->rigid.bodies;
    *out = (tl_viscous_stress){.system = y,
                               .cell = TL_TAKE(a, double, y->c.cells),
                               .eta = TL_TAKE(a, double, y->c.cells),
                               .bulk = TL_TAKE(a, double, y->c.cells),
                               .q = TL_TAKE(a, double, y->c.cells),
                               .edge = TL_TAKE(a, double, y->stress.edges),
                               .s = TL_TAKE_ZERO(a, double, y->stress.n),
                               .e = TL_TAKE(a, double, y->stress.n),
                               .base = TL_TAKE(a, double, y->c.faces),
                               .diagonal = TL_TAKE_ZERO(a, double, y->c.faces),
                               .left = TL_TAKE(a, double, y->c.faces),
                               .force = TL_TAKE(a, double, y->c.faces),
                               .root = TL_TAKE(a, double, 9 * (int64_t)bodies),
                               .z = TL_TAKE(a, double, y->c.solid.n),
                               .solid = TL_TAKE(a, double, 36 * (int64_t)bodies),
                               .ijk = tl_arena_take(a, sizeof *out->ijk * (size_t)y->c.faces)};
    if (!out->base || !out->diagonal || !out->left || !out->cell || !out->eta || !out->bulk || !out->q || !out->edge ||
        !out->s || !out->e || !out->force || !out->root || !out->z || !out->solid || !out->ijk)
        return no_memory(err);
    weigh_samples(out, v, g, f);
    TL_TRY(find_holds(out, v, g, a, err));
    for (int32_t b = 0; b < bodies; b++) root_of(y->rigid.inv_inertia + 9 * (int64_t)b, out->root + 9 * (int64_t)b);
    for (int32_t k = 0; k < y->c.faces; k++) {
        out->ijk[k][0] = out->ijk[k][1] = out->ijk[k][2] = 0;
        if (tl_grid_exists(g, y->id[k])) tl_grid_at(g, y->id[k], out->ijk[k]);
    }
    for (int k = 0; k < 3; k++) out->period[k] = g->f.periodic[k] ? g->f.count[k] : 0;
    return TALUS_OK;
}

talus_status tl_viscous_problem(tl_viscous *out, tl_viscous_stress *v, tl_arena *a, talus_error *err)
{
    const tl_system *y = v->system;
    const tl_coupling *c = &y->c;
    double *give = TL_TAKE(a, double, c->cells);
    if (!give) return no_memory(err);
    for (int32_t i = 0; i < c->cells; i++) give[i] = SCHUR * c->dt * v->eta[i];
    *out = (tl_viscous){.faces = c->faces,
                        .cells = c->cells,
                        .axis = y->axis,
                        .ijk = (const int32_t(*)[3])v->ijk,
                        .period = v->period,
                        .solid = v->solid,
                        .pressure = tl_system_pressure(y),
                        .per_pressure = y->density * c->dx * c->dx,
                        .give = give};
    TL_TRY(make_blocks(v, a, err));
    return make_rows(v, &out->K, a, err);
}

talus_status tl_viscous_coupled(tl_coupled_viscous *out, tl_viscous_stress *v, const double *p, tl_arena *a,
                                talus_error *err)
{
    v->p = p;
    const tl_coupling *c = &v->system->c;
    *out = (tl_coupled_viscous){
        .begin = tl_viscous_begin, .residual = residual, .take = take, .unbalanced = unbalanced, .ctx = v};
    TL_TRY(tl_viscous_problem(&out->problem, v, a, err));
    out->problem.others = c->solid.n;
    out->problem.product = product;
    out->problem.ctx = v;
    return TALUS_OK;
}
