#include "model/grid/levelset.h"

#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"
#include "base/sum.h"
#include "model/grid/sides.h"

/* The gap below something round of radius R is h high at sqrt(2 R h) from where it touches. The last cell with its
 * centre outside is where h = dx / 2: from there the gap goes on for sqrt(R / dx) cells, 4 of them for what is 32
 * cells across. Below larger ones the rest is air: of 128 cells across, four cells a side that are an eighth high at
 * most. */
#define WEDGE_CELLS 4
tl_surface_rules tl_surface_rules_default(void)
{
    return (tl_surface_rules){.crowds = true, .sides = true, .wedge_cells = WEDGE_CELLS};
}

double tl_depth_of_fill(double f)
{
    if (!(f > 0)) return -1;
    if (f >= 1) return 1;
    return f > 0.5 ? 1 - sqrt(2 * (1 - f)) : sqrt(2 * f) - 1;
}

double tl_fill_of_depth(double d)
{
    if (d <= -1 || d >= 1) return d > 0;
    return d > 0 ? 1 - 0.5 * (1 - d) * (1 - d) : 0.5 * (1 + d) * (1 + d);
}

#define EXTEND                                                                                                         \
    1.25 /* cells into solids: a face whose cube is not all solid has its centre at most 1.23 - 0.5 cells inside */
#define SURFACE_NOISE                                                                                                  \
    0.1 /* of a full cell: fillings fluctuate by half of that, and at a surface only what is too much counts */
#define LEAST_TOLD 0.5   /* of the kernel outside of solids: below, crowds are not looked for */
#define LEAST_CLEAR 0.05 /* of the kernel outside of solids: below, a filling says nothing */

/* The eight cells around a place, and their trilinear weights; only cells whose centre is outside of solids count.
 * Sum of weights. */
static double cells_outside(const tl_grid *g, int32_t block, const float *solid_phi, tl_vec3 x, int32_t id[8],
                            double w[8])
{
    const double at[3] = {x.x, x.y, x.z};
    int32_t low[3];
    double t[3], sum = 0;
    for (int k = 0; k < 3; k++) {
        double s = tl_grid_scaled(&g->f, at[k], k) - 0.5, down = floor(s);
        low[k] = (int32_t)down;
        t[k] = s - down;
    }
    for (int c = 0; c < 8; c++) {
        const int32_t at_corner[3] = {low[0] + (c >> 2), low[1] + (c >> 1 & 1), low[2] + (c & 1)};
        id[c] = tl_grid_cell_near(g, block, at_corner);
        w[c] = (c & 4 ? t[0] : 1 - t[0]) * (c & 2 ? t[1] : 1 - t[1]) * (c & 1 ? t[2] : 1 - t[2]);
        if (!tl_grid_exists(g, id[c]) || solid_phi[id[c]] < 0) w[c] = 0;
        sum += w[c];
    }
    return sum;
}

/* Whether a surface is not along the grid. */
#define ALONG 0.999
static bool is_slanted(tl_vec3 n) { return fmax(fabs(n.x), fmax(fabs(n.y), fabs(n.z))) < ALONG; }

/* A place's mirror image outside of solids, in corners again. slanted: set where any surface on the way is. */
static tl_vec3 image_outside(const tl_solids *s, int32_t block, tl_vec3 x, bool *slanted)
{
    int32_t which;
    tl_vec3 n;
    double d = -1;
    for (int k = 0; k < 3 && d < 0; k++) {
        d = tl_solids_distance(s, block, x, &which, &n);
        if (d < 0) x = tl_vec3_add_scaled(x, -2 * d, n);
        *slanted |= is_slanted(n);
    }
    return x;
}

/* What the kernels of particles put into a cell whose centre is in a solid goes back to where its mirror image in
 * the surface is (in corners again), and so does what a full pool would have put there. Sums over cells stay.
 * slanted: whether any surface on the way is. */
static bool mirror(const tl_grid *g, const tl_solids *s, const float *solid_phi, int32_t cell, int32_t id[8],
                   double w[8], bool *slanted)
{
    const int32_t block = cell / g->f.size;
    *slanted = false;
    const tl_vec3 x = image_outside(s, block, tl_grid_centre(g, cell), slanted);
    double sum = cells_outside(g, block, solid_phi, x, id, w);
    for (int c = 0; c < 8; c++) w[c] /= sum;
    return sum > 1e-6;
}

/* A film on a wall along the grid then fills its cell as much as it is thick, wherever in the cell its particles
 * are. At slanted solids that says how much there is, and not how high it stands: left out with `along`. In the
 * order of cells: no two threads write. Cells left out. */
static int32_t fold(const tl_grid *g, const tl_solids *s, const float *solid_phi, bool along, double *fill,
                    double *clear)
{
    int32_t left = 0;
    for (int32_t cell = 0; cell < g->blocks * g->f.size; cell++) {
        int32_t id[8];
        double w[8];
        bool slanted;
        if (!((double)solid_phi[cell] < 0) || !(clear[cell] > 0) || (double)solid_phi[cell] < -g->f.dx) continue;
        if (!mirror(g, s, solid_phi, cell, id, w, &slanted)) continue;
        if (along && slanted) {
            left++;
            continue;
        }
        for (int c = 0; c < 8; c++)
            if (w[c] > 0) {
                fill[id[c]] += w[c] * fill[cell];
                clear[id[c]] += w[c] * clear[cell];
            }
        fill[cell] = clear[cell] = 0;
    }
    return left;
}

/* What thin parts keep apart: first taken out, then, as `fold` does it, put where its own liquid is. */
static void take_sides(const tl_sides *all, double *fill, double *clear)
{
    for (int32_t i = 0; i < all->count; i++) {
        fill[all->side[i].cell] -= all->side[i].fill;
        clear[all->side[i].cell] -= all->side[i].clear;
    }
}

static void give_sides(const tl_filled *from, const tl_sides *all, bool slanted, double *fill, double *clear)
{
    const tl_grid *g = from->grid;
    for (int32_t i = 0; i < all->count; i++) {
        const tl_side *q = &all->side[i];
        const int32_t block = tl_grid_block_of(g, q->cell);
        int32_t id[8];
        double w[8], sum = 0;
        bool any = false;
        if (is_slanted(q->normal) != slanted) continue;
        cells_outside(g, block, from->solid_phi, image_outside(from->solids, block, q->image, &any), id, w);
        for (int c = 0; c < 8; c++) {
            if (!(w[c] > 0)) continue;
            if (!tl_side_is_beyond(q, tl_vec3_sub(tl_grid_centre(g, id[c]), tl_grid_centre(g, q->cell)))) w[c] = 0;
            sum += w[c];
        }
        if (!(sum > 1e-6)) { /* nowhere to go */
            id[0] = q->cell;
            w[0] = sum = 1;
            for (int c = 1; c < 8; c++) w[c] = 0;
        }
        for (int c = 0; c < 8; c++)
            if (w[c] > 0) {
                fill[id[c]] += w[c] / sum * q->fill;
                clear[id[c]] += w[c] / sum * q->clear;
            }
    }
}

static void from_fill(const tl_grid *g, int32_t b, const double *fill, const double *clear, const tl_fillings *all,
                      double *phi, double *excess)
{
    for (int32_t cell = b * g->f.size; cell < (b + 1) * g->f.size; cell++) {
        phi[cell] = g->f.dx;
        if (fill[cell] > 0 && clear[cell] > LEAST_CLEAR)
            phi[cell] = -g->f.dx * tl_depth_of_fill(fill[cell] / clear[cell]);
        if (excess)
            excess[cell] =
                all->fill[cell] > 0 && all->room[cell] > LEAST_TOLD ? all->fill[cell] / all->room[cell] - 1 : 0;
    }
}

/* A cell with no air around it is a cell deep, however its filling fluctuates. Fractions of cells outside of solids
 * do not see the difference; what is extended into solids does. */
static void settle(const tl_grid *g, int32_t b, const double *raw, const float *solid_phi, double *phi, double *excess,
                   uint8_t *deep)
{
    int32_t id[TL_GRID_HALO_MAX], n = tl_grid_halo(g, b, id);
    int32_t sx = (g->f.edge[1] + 2) * (g->f.edge[2] + 2), sy = g->f.edge[2] + 2;
    uint8_t air[TL_GRID_HALO_MAX], by_z[TL_GRID_HALO_MAX];
    for (int32_t i = 0; i < n; i++)
        air[i] = !tl_grid_exists(g, id[i]) || (raw[id[i]] >= 0 && !(solid_phi && solid_phi[id[i]] < 0));
    /* along z, y and x in turn: 27 cells in six looks */
    for (int32_t i = 1; i < n - 1; i++) by_z[i] = air[i - 1] | air[i] | air[i + 1];
    for (int32_t i = sy + 1; i < n - sy - 1; i++) air[i] = by_z[i - sy] | by_z[i] | by_z[i + sy];
    for (int32_t p = 0; p < g->f.size; p++) {
        const uint8_t *at = g->place[p], *here = &air[(at[0] + 1) * sx + (at[1] + 1) * sy + at[2] + 1];
        const bool any = here[-sx] | here[0] | here[sx];
        int32_t cell = b * g->f.size + p;
        phi[cell] = any ? raw[cell] : -g->f.dx;
        deep[cell] = !any;
        if (any && excess) excess[cell] = excess[cell] > SURFACE_NOISE ? excess[cell] - SURFACE_NOISE : 0;
    }
}

/* ---- where a surface meets slanted and curved solids ----
 *
 * Ratios of fillings are depths where solids lie along the grid. Elsewhere the surface near the solid is a plane:
 * its slope is that of the cells around that no solid cuts and, as one more of them, that of a level surface; its
 * place is where the kernel over the liquid outside of the solid holds what the cell holds. A surface that is
 * extended along the normal of a slanted wall instead meets it at a right angle, and water in a bowl climbs for
 * ever. */

#define PLAIN 0.95     /* cells: readings nearer to the clamp say nothing about a slope */
#define LOOK 2         /* cells around */
#define LEAST_OPEN 0.3 /* of the kernel: with less, a cell's own filling does not place its surface */

typedef struct contact {
    const tl_grid *g;
    const tl_solids *s;
    const float *solid_phi;
    const double *phi;    /* [cells] settled */
    const uint8_t *plain; /* [cells] 1: a reading that no slanted solid disturbs */
    tl_vec3 up;           /* unit; 0: no gravity */
    double off;
} contact;

typedef struct plane {
    double at; /* m, at the cell's centre */
    double slope[3];
    int count;
} plane;

/* Plane through what is read around a cell, on its side of the solid. */
static plane fit_plane(const contact *q, int32_t cell)
{
    const tl_grid *g = q->g;
    const double dx = g->f.dx, up[3] = {q->up.x, q->up.y, q->up.z};
    int32_t which, c[3], b = cell / g->f.size;
    tl_vec3 n, centre = tl_grid_centre(g, cell);
    double d = tl_solids_distance(q->s, b, centre, &which, &n);
    double m = 0, mean[3] = {0}, phi = 0, A[3][3] = {{0}}, r[3] = {0};
    double weight[125], from[125][3], value[125];
    int count = 0;
    plane out = {.count = 0};
    tl_grid_at(g, cell, c);
    for (int x = -LOOK; x <= LOOK; x++)
        for (int y = -LOOK; y <= LOOK; y++)
            for (int z = -LOOK; z <= LOOK; z++) {
                const int off[3] = {x, y, z};
                if (g->f.flat_axis >= 0 && off[g->f.flat_axis]) continue;
                int32_t j = tl_grid_cell(g, c[0] + x, c[1] + y, c[2] + z);
                if (!tl_grid_exists(g, j) || !q->plain[j] || fabs(q->phi[j]) > PLAIN * dx) continue;
                /* beyond the surface's plane is another room */
                if (which != TL_SOLID_NONE && d + dx * (x * n.x + y * n.y + z * n.z) < 0) continue;
                double w = 1.0 / (0.5 + x * x + y * y + z * z);
                weight[count] = w;
                value[count] = q->phi[j] / dx;
                for (int k = 0; k < 3; k++) from[count][k] = off[k];
                m += w;
                phi += w * value[count];
                for (int k = 0; k < 3; k++) mean[k] += w * off[k];
                count++;
            }
    if (!count) return out;
    for (int k = 0; k < 3; k++) mean[k] /= m;
    phi /= m;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            double e = from[i][k] - mean[k];
            r[k] += weight[i] * e * (value[i] - phi);
            for (int l = 0; l < 3; l++) A[k][l] += weight[i] * e * (from[i][l] - mean[l]);
        }
    for (int k = 0; k < 3; k++) {
        A[k][k] += 1;
        r[k] += up[k];
    }
    /* A is positive definite */
    for (int k = 0; k < 3; k++)
        for (int l = k + 1; l < 3; l++) {
            double f = A[l][k] / A[k][k];
            for (int i = k; i < 3; i++) A[l][i] -= f * A[k][i];
            r[l] -= f * r[k];
        }
    for (int k = 2; k >= 0; k--) {
        double sum = r[k];
        for (int l = k + 1; l < 3; l++) sum -= A[k][l] * out.slope[l];
        out.slope[k] = sum / A[k][k];
    }
    out.at = phi - out.slope[0] * mean[0] - out.slope[1] * mean[1] - out.slope[2] * mean[2];
    out.at *= dx;
    out.count = count;
    return out;
}

/* Half cells of a kernel: what is open in each, times the kernel. */
typedef struct halves {
    int count;
    double weight[64], at[64][3]; /* in cells, from the centre */
} halves;

static void open_halves(const contact *q, int32_t cell, halves *out)
{
    const tl_grid *g = q->g;
    const double h = 0.5 * g->f.dx;
    int32_t which, b = cell / g->f.size;
    tl_vec3 n, c = tl_grid_centre(g, cell);
    out->count = 0;
    for (int i = 0; i < 64; i++) {
        const int j[3] = {i >> 4, i >> 2 & 3, i & 3};
        double at[3], w = 1;
        bool again = false;
        for (int k = 0; k < 3; k++) {
            at[k] = 0.5 * j[k] - 0.75;
            if (k == g->f.flat_axis) {
                again |= j[k] > 0;
                at[k] = 0;
            } else
                w *= 0.5 * (1 - fabs(at[k]));
        }
        if (again) continue;
        tl_vec3 x = {c.x + at[0] * g->f.dx, c.y + at[1] * g->f.dx, c.z + at[2] * g->f.dx};
        double d = tl_solids_distance(q->s, b, x, &which, &n);
        const double slope[3] = {n.x, n.y, n.z};
        double open = d > 0.867 * h ? 1 : d < -0.867 * h ? 0 : 1 - tl_plane_in_cube(d / h, slope);
        if (!(open > 0)) continue;
        out->weight[out->count] = w * open;
        memcpy(out->at[out->count++], at, sizeof at);
    }
}

/* Filling of the open part of a kernel below the plane phi = at + slope x, in cells. */
static double filling_below(const halves *o, double at, const double slope[3])
{
    double sum = 0;
    const double half[3] = {0.5 * slope[0], 0.5 * slope[1], 0.5 * slope[2]};
    for (int i = 0; i < o->count; i++) {
        double c = at + slope[0] * o->at[i][0] + slope[1] * o->at[i][1] + slope[2] * o->at[i][2];
        sum += o->weight[i] * tl_plane_in_cube(c, half);
    }
    return sum;
}

/* Surface of a cell by its own filling and a slope; false: there is too little room, or no slope. */
static bool read_own(const contact *q, int32_t cell, double fill, const double slope[3], double *out)
{
    halves o;
    double open = 0, lo = -1, hi = 1;
    open_halves(q, cell, &o);
    for (int i = 0; i < o.count; i++) open += o.weight[i];
    if (open < LEAST_OPEN || !(slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2] > 0.25)) return false;
    for (int k = 0; k < 30; k++) {
        double mid = 0.5 * (lo + hi);
        *(filling_below(&o, mid, slope) > fill ? &lo : &hi) = mid;
    }
    *out = q->g->f.dx * 0.5 * (lo + hi);
    return true;
}

static void read_contacts(const contact *q, int32_t b, const uint8_t *slanted, const double *fill, double *phi)
{
    const tl_grid *g = q->g;
    memcpy(phi + (int64_t)b * g->f.size, q->phi + (int64_t)b * g->f.size, sizeof *phi * (size_t)g->f.size);
    if (!tl_solids_touch(q->s, g, b)) return;
    for (int32_t cell = b * g->f.size; cell < (b + 1) * g->f.size; cell++) {
        if (slanted[cell] != 2 || q->solid_phi[cell] < q->off) continue;
        plane p = fit_plane(q, cell);
        double value;
        const double level[3] = {q->up.x, q->up.y, q->up.z};
        if (read_own(q, cell, fill[cell], p.count ? p.slope : level, &value))
            phi[cell] = value;
        else if (p.count)
            phi[cell] = fmax(-g->f.dx, fmin(g->f.dx, p.at));
    }
}

/* Trilinear value at x from cells whose centre is outside of solids; false: there is none. */
static bool value_outside(const tl_grid *g, int32_t block, const double *phi, const float *solid_phi, tl_vec3 x,
                          double *out)
{
    int32_t id[8];
    double w[8], sum = 0, weight = cells_outside(g, block, solid_phi, x, id, w);
    if (!(weight > 1e-6)) return false;
    for (int c = 0; c < 8; c++)
        if (w[c] > 0) sum += w[c] * phi[id[c]];
    *out = sum / weight;
    return true;
}

/* Mean over the cells beside that are outside of solids; false: there is none. */
static bool value_beside(const tl_grid *g, const double *phi, const float *solid_phi, int32_t cell, double off,
                         double *out)
{
    double sum = 0;
    int count = 0;
    for (int k = 0; k < 6; k++) {
        int32_t at = tl_grid_step(g, cell, k / 2, k & 1 ? 1 : -1);
        if (!tl_grid_exists(g, at) || solid_phi[at] < off) continue;
        sum += phi[at];
        count++;
    }
    if (count) *out = sum / count;
    return count > 0;
}

/* Into solids, one cell deep: the value at the nearest place outside; where a body stands on another that may be
 * inside of the other, and the value is that of the cells beside; INFINITY where these are in solids too. `from` is
 * the field before any extension. */
static void extend(const tl_grid *g, int32_t b, const double *from, const tl_solids *s, const float *solid_phi,
                   double off, const contact *q, double *phi)
{
    memcpy(phi + (int64_t)b * g->f.size, from + (int64_t)b * g->f.size, sizeof *phi * (size_t)g->f.size);
    if (!tl_solids_touch(s, g, b)) return;
    for (int32_t p = 0; p < g->f.size; p++) {
        int32_t cell = b * g->f.size + p, which;
        double value;
        if (solid_phi[cell] >= off) continue;
        phi[cell] = g->f.dx;
        if (solid_phi[cell] < -EXTEND * g->f.dx) continue;
        tl_vec3 n, x = tl_grid_centre(g, cell);
        double d = tl_solids_distance(s, b, x, &which, &n);
        phi[cell] = value_outside(g, b, from, solid_phi, tl_vec3_add_scaled(x, off - d, n), &value) ||
                            value_beside(g, from, solid_phi, cell, off, &value)
                        ? value
                        : INFINITY;
        if (!q || !is_slanted(n)) continue;
        plane here = fit_plane(q, cell);
        if (here.count) phi[cell] = fmax(-g->f.dx, fmin(g->f.dx, here.at));
    }
}

/* Near slanted solids the surface is read from what is around, and a cell there may hold more than it has room for
 * and still lie above it: as air it has no pressure, and a film that runs up a round wall gathers in it without end
 * (five times its room, and 6 % of the water, after 0.6 s of `sphere-roof`). So the surface is at least as high as
 * what the cell holds, mirrored in the solid, says. At rest that is never higher than what is read: by 0.001 cells
 * at most in bowls, tilted boxes and around obstacles, 2D and 3D. */
static void fill_crowds(const tl_grid *g, int32_t b, const float *solid_phi, const tl_fillings *full, double *phi)
{
    for (int32_t cell = b * g->f.size; cell < (b + 1) * g->f.size; cell++)
        if (!(solid_phi[cell] < 0) && full->fill[cell] > 0.5 * full->room[cell])
            phi[cell] = fmin(phi[cell], -g->f.dx * tl_depth_of_fill(full->fill[cell] / full->room[cell]));
}

/* Mean over the cells beyond open faces that have a value; INFINITY: there is none. */
static double value_beyond(const tl_grid *g, const tl_fractions *f, const double *phi, int32_t cell)
{
    double sum = 0;
    int count = 0;
    for (int k = 0; k < 6; k++) {
        int32_t next = tl_grid_step(g, cell, k / 2, k & 1 ? 1 : -1), face = k & 1 ? next : cell;
        if (next == cell || !(f->open[k / 2][face] > 0) || !(phi[next] < INFINITY)) continue;
        sum += phi[next];
        count++;
    }
    return count ? sum / count : INFINITY;
}

/* The gap between a ball and the floor that it stands on narrows to nothing, and the centres of its cells are all in
 * solids: from cell to cell through what is open. As air, such a cell would have no pressure, and a pool would run
 * into it for ever. */
static talus_status fill_wedges(const tl_grid *g, const tl_fractions *f, int cells, tl_arena *a, double *phi,
                                talus_error *err)
{
    const int32_t exist = g->blocks * g->f.size;
    int32_t count = 0, found = 1;
    for (int32_t i = 0; i < exist; i++) count += !(phi[i] < INFINITY);
    int32_t *cell = TL_TAKE(a, int32_t, count + 1);
    double *value = TL_TAKE(a, double, count + 1);
    if (!cell || !value) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a distance on %d cells", (int)exist);
    count = 0;
    for (int32_t i = 0; i < exist; i++)
        if (!(phi[i] < INFINITY)) cell[count++] = i;
    for (int pass = 0; pass < cells && found; pass++) {
        found = 0;
        for (int32_t i = 0; i < count; i++)
            value[i] = phi[cell[i]] < INFINITY ? phi[cell[i]] : value_beyond(g, f, phi, cell[i]);
        for (int32_t i = 0; i < count; i++) {
            found += !(phi[cell[i]] < INFINITY) && value[i] < INFINITY;
            phi[cell[i]] = value[i];
        }
    }
    for (int32_t i = 0; i < count; i++) phi[cell[i]] = fmin(g->f.dx, phi[cell[i]]);
    return TALUS_OK;
}

static bool is_cut(double solid) { return solid > 1e-9 && solid < 1 - 1e-9; }

/* Cells whose kernel a slanted solid cuts: 1; with air around: 2. plain: the others, outside of solids. */
static void mark_slanted(const contact *q, int32_t b, const double *solid_cell, const double *raw, uint8_t *slanted,
                         uint8_t *plain)
{
    const tl_grid *g = q->g;
    int32_t id[TL_GRID_HALO_MAX], n = tl_grid_halo(g, b, id);
    int32_t sx = (g->f.edge[1] + 2) * (g->f.edge[2] + 2), sy = g->f.edge[2] + 2;
    bool any = false;
    for (int32_t i = 0; i < n; i++) any |= is_cut(solid_cell[id[i]]);
    for (int32_t p = 0; p < g->f.size; p++) {
        const uint8_t *at = g->place[p];
        int32_t cell = b * g->f.size + p, which, here = (at[0] + 1) * sx + (at[1] + 1) * sy + at[2] + 1;
        slanted[cell] = 0;
        plain[cell] = q->solid_phi[cell] >= 0;
        if (!any || q->solid_phi[cell] > 1.74 * g->f.dx) continue;
        bool cut = false, air = false;
        for (int k = 0; k < 27; k++) {
            int32_t j = id[here + (k / 9 - 1) * sx + (k / 3 % 3 - 1) * sy + k % 3 - 1];
            cut |= is_cut(solid_cell[j]);
            air |= !tl_grid_exists(g, j) || (raw[j] >= 0 && !(q->solid_phi[j] < 0));
        }
        if (!cut) continue;
        tl_vec3 normal;
        tl_solids_distance(q->s, b, tl_grid_centre(g, cell), &which, &normal);
        if (which == TL_SOLID_NONE || !is_slanted(normal)) continue;
        slanted[cell] = air ? 2 : 1;
        plain[cell] = 0;
    }
}

static talus_status no_memory(const tl_grid *g, talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a distance on %lld cells", (long long)g->cells);
}

static void refresh2(const tl_grid *g, double *x, double *y)
{
    tl_grid_refresh(g, sizeof *x, x);
    tl_grid_refresh(g, sizeof *y, y);
}

talus_status tl_liquid_distance(const tl_filled *from, const tl_surface_rules *rules, tl_arena *a, double *phi,
                                double *excess, tl_fillings *full, talus_error *err)
{
    const tl_grid *g = from->grid;
    const tl_solids *s = from->solids;
    const tl_fractions *f = from->fractions;
    const float *solid_phi = from->solid_phi;
    const double *fill = from->fill, off = 0.5 * from->spacing;
    const tl_vec3 *up = from->up;
    const tl_surface_rules usual = tl_surface_rules_default();
    if (!rules) rules = &usual;
    const int64_t ghost = (int64_t)g->blocks * g->f.size;
    *full =
        (tl_fillings){TL_TAKE(a, double, g->cells), TL_TAKE(a, double, g->cells), TL_TAKE_ZERO(a, uint8_t, g->cells)};
    size_t mark = tl_arena_mark(a);
    double *raw = TL_TAKE(a, double, g->cells), *settled = s ? TL_TAKE(a, double, g->cells) : phi;
    uint8_t *slanted = s && up ? TL_TAKE(a, uint8_t, g->cells) : NULL,
            *plain = s && up ? TL_TAKE(a, uint8_t, g->cells) : NULL;
    double *read = s && up ? TL_TAKE(a, double, g->cells) : NULL;
    const bool good =
        full->fill && full->room && full->deep && raw && settled && (!(s && up) || (slanted && plain && read));
    TL_TRY(tl_comm_agree(g->comm, good ? TALUS_OK : no_memory(g, err), err));
    memcpy(full->fill, fill, sizeof *fill * (size_t)ghost);
    for (int64_t i = 0; i < ghost; i++) full->room[i] = s ? 1 - f->solid_kernel[i] : 1;
    for (int64_t i = ghost; i < g->cells; i++) full->fill[i] = full->room[i] = 0;
    double *folded = full->fill, *clear = full->room;
    tl_sides sides = {0};
    TL_TRY(tl_comm_agree(g->comm, rules->sides ? tl_sides_find(from, clear, a, &sides, err) : TALUS_OK, err));
    take_sides(&sides, folded, clear);
    int32_t left = s ? fold(g, s, solid_phi, up != NULL, folded, clear) : 0;
    if (up && sides.count > 0)
        left++;
    else
        give_sides(from, &sides, true, folded, clear);
    give_sides(from, &sides, false, folded, clear);
    refresh2(g, folded, clear);
    if (tl_comm_max(g->comm, left) > 0) {
        folded = TL_TAKE(a, double, g->cells), clear = TL_TAKE(a, double, g->cells);
        TL_TRY(tl_comm_agree(g->comm, folded && clear ? TALUS_OK : no_memory(g, err), err));
        memcpy(folded, full->fill, sizeof *fill * (size_t)g->cells);
        memcpy(clear, full->room, sizeof *fill * (size_t)g->cells);
        fold(g, s, solid_phi, false, full->fill, full->room);
        if (up) give_sides(from, &sides, true, full->fill, full->room);
        refresh2(g, full->fill, full->room);
    }
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) from_fill(g, b, folded, clear, full, raw, excess);
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) settle(g, b, raw, s ? solid_phi : NULL, settled, excess, full->deep);
    contact q = {g, s, solid_phi, settled, plain, up ? *up : (tl_vec3){0, 0, 0}, off};
    if (read) {
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
        for (int32_t b = 0; b < g->blocks; b++) mark_slanted(&q, b, f->solid_cell, raw, slanted, plain);
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
        for (int32_t b = 0; b < g->blocks; b++) read_contacts(&q, b, slanted, fill, read);
    }
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++)
        if (s) extend(g, b, read ? read : settled, s, solid_phi, off, read ? &q : NULL, phi);
    if (folded != full->fill && rules->crowds) {
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
        for (int32_t b = 0; b < g->blocks; b++) fill_crowds(g, b, solid_phi, full, phi);
    }
    for (int32_t p = 0; p < g->f.size; p++) phi[(int64_t)g->blocks * g->f.size + p] = g->f.dx;
    tl_grid_refresh(g, sizeof *phi, phi);
    if (s) {
        TL_TRY(tl_comm_agree(g->comm, fill_wedges(g, f, rules->wedge_cells, a, phi, err), err));
        tl_grid_refresh(g, sizeof *phi, phi);
    }
    for (int32_t p = 0; p < g->f.size; p++) {
        if (excess) excess[(int64_t)g->blocks * g->f.size + p] = 0;
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}

/* Of one cell that is not known to be full: fillings fluctuate, and cutting them at full would read low by what they
 * fluctuate. */
static double room_taken(double fill, double room)
{
    double turned = 2 * (1 + SURFACE_NOISE) * room - fill;
    return fmin(fill, fmax(room, turned));
}

talus_status tl_liquid_volume(const tl_grid *g, const tl_fillings *full, const uint8_t *pressed, tl_arena *a,
                              double *out, talus_error *err)
{
    size_t mark = tl_arena_mark(a);
    double *part = TL_TAKE(a, double, g->owned);
    TL_TRY(tl_comm_agree(g->comm, part ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a sum over blocks"),
                         err));
#pragma omp parallel for schedule(static) if (g->blocks > 64)
    for (int32_t b = 0; b < g->owned; b++) {
        double sum = 0;
        for (int32_t i = b * g->f.size; i < (b + 1) * g->f.size; i++) {
            bool kept = full->deep[i] && (!pressed || pressed[i]);
            sum += kept ? full->room[i] : room_taken(full->fill[i], full->room[i]);
        }
        part[b] = sum;
    }
    *out = tl_comm_sum(g->comm, tl_sum(g->owned, part)) * g->f.dx * g->f.dx * g->f.dx;
    tl_arena_release(a, mark);
    return TALUS_OK;
}
