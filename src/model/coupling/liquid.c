#include "model/coupling/liquid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "model/grid/owners.h"

#define FILLED_LEAST 0.01 /* W_L^u [grid-granular spec 3.3] */
#define DENSITY_LEAST 0.4 /* P over rho0 [grid-granular spec 3.4] */
#define DENSITY_MAX 1.5
#define SHARE_LEAST 0.02
#define CLOSED                                                                                                         \
    0.25 /* open part of a face of sand up to which it is the solid's; a floor on the grid leaves half of its faces open */
#define MASS_LEAST 0.01 /* of a full face: a cell beside an open one with less is at the surface, and has no pressure */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the coupled problem of a liquid");
}

/* ---- cells ---- */

/* Along an axis of one cell there is no way out. */
static bool has_open_face(const tl_liquid_domain *d, int32_t cell)
{
    for (int axis = 0; axis < 3; axis++) {
        int32_t next = tl_grid_step(d->grid, cell, axis, 1);
        if (next != cell && (d->fractions->open[axis][cell] > 0 || d->fractions->open[axis][next] > 0)) return true;
    }
    return false;
}

static double density_at(const tl_liquid_domain *d, int axis, int32_t id)
{
    double rho = d->faces->rest[axis] ? d->faces->rest[axis][id] : 0;
    return rho > 0 ? rho : d->faces->rho0;
}

/* An open side with nothing on it would take any impulse: sand beside it has no pressure. */
static bool has_empty_side(const tl_liquid_domain *d, int32_t cell)
{
    const double volume = d->grid->f.dx * d->grid->f.dx * d->grid->f.dx;
    for (int k = 0; k < 6; k++) {
        int axis = k / 2;
        int32_t next = tl_grid_step(d->grid, cell, axis, 1), id = k & 1 ? next : cell;
        double open = d->fractions->open[axis][id];
        if (next != cell && open > 0 && d->faces->mass[axis][id] < MASS_LEAST * open * density_at(d, axis, id) * volume)
            return true;
    }
    return false;
}

/* Of a piece that nothing holds; without matter, as in a body, not beside one that is held. */
static bool is_free(const tl_pieces *p, const tl_grid *g, int32_t cell)
{
    if (p->of[cell] != TL_NO_PIECE) return !p->held[p->of[cell]];
    for (int k = 0; k < 6; k++) {
        int32_t piece = p->of[tl_grid_step(g, cell, k / 2, k & 1 ? 1 : -1)];
        if (piece != TL_NO_PIECE && p->held[piece]) return false;
    }
    return true;
}

static bool is_active(const tl_liquid_domain *d, int32_t cell)
{
    bool there = d->granular ? d->granular->cell[cell] >= TL_ACTIVE_LIQUID &&
                                   d->faces->fill[cell] + d->fractions->solid_cell[cell] >= TL_ACTIVE_FILL
                             : d->phi[cell] < (d->binary ? 0 : -TL_SHALLOW * d->grid->f.dx);
    if (!there || !has_open_face(d, cell)) return false;
    const tl_pieces *pieces = d->granular ? d->loose : d->pieces;
    bool own_mass =
        (d->granular && d->density_rule == TL_DENSITY_CARRIED) || (pieces && is_free(pieces, d->grid, cell));
    return !own_mass || !has_empty_side(d, cell);
}

/* Own cells in the solver's order. */
static talus_status order_cells(tl_system *s, const tl_grid *g, tl_arena *a, talus_error *err)
{
    const int32_t n = s->c.cells;
    s->ijk = tl_arena_take(a, sizeof *s->ijk * (size_t)n);
    int32_t(*at)[3] = tl_arena_take(a, sizeof *at * (size_t)n), *order = TL_TAKE(a, int32_t, n);
    int32_t *cell = TL_TAKE(a, int32_t, n);
    if (!s->ijk || !at || !order || !cell) return no_memory(err);
    memcpy(cell, s->active.cell, sizeof *cell * (size_t)n);
    for (int32_t i = 0; i < n; i++) tl_grid_at(g, cell[i], at[i]);
    TL_TRY(tl_pressure_order(n, (const int32_t(*)[3])at, order, &s->red, a, err));
    for (int32_t i = 0; i < n; i++) {
        s->active.cell[i] = cell[order[i]];
        memcpy(s->ijk[i], at[order[i]], sizeof *at);
        s->active.number[s->active.cell[i]] = i;
    }
    return TALUS_OK;
}

/* Cells of other parts that share a face with a cell of ours, whether that has a pressure or not: so the owner of a
 * face has it in its lists. */
static int32_t list_copies(const tl_grid *g, const uint8_t *on, int32_t *out)
{
    int32_t n = 0;
    for (int32_t i = tl_grid_owned_cells(g); tl_grid_exists(g, i); i++) {
        bool beside = false;
        for (int k = 0; k < 6 && on[i] && !beside; k++)
            beside = tl_grid_owns(g, tl_grid_step(g, i, k / 2, k & 1 ? 1 : -1));
        if (beside) out[n++] = i;
    }
    return n;
}

/* A copy, in the order of the owner's part and number. */
typedef struct copy {
    int32_t colour, part, index, cell;
} copy;

static int by_owner(const void *x, const void *y)
{
    const copy *a = x, *b = y;
    if (a->colour != b->colour) return a->colour < b->colour ? -1 : 1;
    if (a->part != b->part) return a->part < b->part ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Whose the copies are, and their numbers there: red ones first, as kind "pressure" wants them. */
static talus_status plan_copies(tl_system *s, const tl_grid *g, tl_arena *a, talus_error *err)
{
    const int32_t n = s->c.cells, copies = s->c.copies;
    int32_t *theirs = TL_TAKE(a, int32_t, g->cells), *part = TL_TAKE(a, int32_t, copies),
            *index = TL_TAKE(a, int32_t, copies), red = 0;
    copy *of = TL_TAKE(a, copy, copies);
    TL_TRY(tl_comm_agree(g->comm, theirs && part && index && of ? TALUS_OK : no_memory(err), err));
    memcpy(theirs, s->active.number, sizeof *theirs * (size_t)g->cells);
    tl_grid_refresh(g, sizeof *theirs, theirs);
    for (int32_t h = 0; h < copies; h++) {
        const int32_t cell = s->active.cell[n + 1 + h];
        int32_t at[3];
        tl_grid_at(g, cell, at);
        of[h] =
            (copy){(at[0] + at[1] + at[2]) & 1, g->halo_part[tl_grid_block_of(g, cell) - g->owned], theirs[cell], cell};
        red += !of[h].colour;
    }
    qsort(of, (size_t)copies, sizeof *of, by_owner);
    for (int32_t h = 0; h < copies; h++) {
        part[h] = of[h].part;
        index[h] = of[h].index;
        s->active.cell[n + 1 + h] = of[h].cell;
        s->active.number[of[h].cell] = n + 1 + h;
    }
    s->space = (tl_pressure_space){.comm = g->comm,
                                   .together = TL_GRID_EDGE_BITS + g->f.owners->shift,
                                   .copies = {red, copies - red},
                                   .part = part,
                                   .index = index};
    return tl_pressure_space_plan(&s->space, n, err);
}

static talus_status number_cells(tl_system *s, const tl_liquid_domain *d, tl_arena *a, talus_error *err)
{
    const tl_grid *g = d->grid;
    const int32_t own = tl_grid_owned_cells(g), exist = (int32_t)((int64_t)g->blocks * g->f.size);
    int32_t n = 0;
    s->active = (tl_active){.cell = TL_TAKE(a, int32_t, exist + 1), .number = TL_TAKE(a, int32_t, g->cells)};
    uint8_t *on = TL_TAKE(a, uint8_t, g->cells);
    TL_TRY(tl_comm_agree(g->comm, s->active.cell && s->active.number && on ? TALUS_OK : no_memory(err), err));
#pragma omp parallel for schedule(static) if (own >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < own; i++) on[i] = is_active(d, i);
    tl_grid_refresh(g, sizeof *on, on);
    for (int32_t i = 0; i < own; i++)
        if (on[i]) s->active.cell[n++] = i;
    memset(s->active.number, 0xff, sizeof *s->active.number * (size_t)g->cells);
    s->active.count = s->c.cells = n;
    s->all = (int64_t)tl_comm_sum(g->comm, n);
    s->c.copies = g->comm ? list_copies(g, on, s->active.cell + n + 1) : 0;
    TL_TRY(tl_comm_agree(g->comm, order_cells(s, g, a, err), err));
    return g->comm ? plan_copies(s, g, a, err) : TALUS_OK;
}

/* ---- faces ---- */

static int32_t number_face(tl_system *s, int32_t *low, int32_t *high, int axis, int32_t id)
{
    int32_t *f = &s->of[axis][id];
    if (*f < 0) {
        *f = s->c.faces++;
        s->id[*f] = id;
        s->axis[*f] = (int8_t)axis;
        low[*f] = high[*f] = s->c.cells;
    }
    return *f;
}

/* Faces of active cells, numbered as the cells of the grid come; of copies those at own cells of the grid; then those
 * that only an edge touches. */
static talus_status number_faces(tl_system *s, const tl_liquid_domain *d, const tl_edges *e, tl_arena *a,
                                 talus_error *err)
{
    const tl_grid *g = d->grid;
    const int32_t n = s->c.cells;
    const int64_t max = 6 * (int64_t)n + 4 * (int64_t)e->count + 6 * (int64_t)s->c.copies;
    int32_t *face = TL_TAKE(a, int32_t, max), *low = TL_TAKE(a, int32_t, max), *high = TL_TAKE(a, int32_t, max);
    s->id = TL_TAKE(a, int32_t, max);
    s->axis = TL_TAKE(a, int8_t, max);
    for (int axis = 0; axis < 3; axis++) s->of[axis] = TL_TAKE(a, int32_t, g->cells);
    if (!face || !low || !high || !s->id || !s->axis || !s->of[0] || !s->of[1] || !s->of[2]) return no_memory(err);
    for (int axis = 0; axis < 3; axis++) memset(s->of[axis], 0xff, sizeof **s->of * (size_t)g->cells);
    for (int32_t i = 0; i < n; i++)
        for (int k = 0; k < 6; k++) {
            int axis = k / 2;
            int32_t cell = s->active.cell[i], id = k & 1 ? tl_grid_step(g, cell, axis, 1) : cell;
            int32_t f = number_face(s, low, high, axis, id);
            *(k & 1 ? &low[f] : &high[f]) = i;
            face[6 * (int64_t)i + k] = f;
        }
    for (int32_t i = n + 1; i < n + 1 + s->c.copies; i++)
        for (int k = 0; k < 6; k++) {
            const int axis = k / 2;
            const int32_t cell = s->active.cell[i], next = tl_grid_step(g, cell, axis, k & 1 ? 1 : -1);
            if (!tl_grid_owns(g, next)) continue;
            const int32_t f = number_face(s, low, high, axis, k & 1 ? next : cell);
            *(k & 1 ? &low[f] : &high[f]) = i;
        }
    for (int32_t k = 0; k < e->count; k++) {
        int axis[4];
        int32_t id[4];
        tl_edge_faces(g, e->axis[k], e->id[k], axis, id);
        for (int j = 0; j < 4; j++)
            if (tl_grid_exists(g, id[j])) number_face(s, low, high, axis[j], id[j]);
    }
    s->c.face = face;
    s->c.low = low;
    s->c.high = high;
    return TALUS_OK;
}

/* Part of the way between the cells of a face that is liquid. */
static double liquid_part(const tl_system *s, const tl_liquid_domain *d, int32_t f)
{
    const int32_t n = s->c.cells;
    if (d->binary || (s->c.low[f] != n && s->c.high[f] != n)) return 1;
    int32_t above = s->id[f], below = tl_grid_step(d->grid, above, s->axis[f], -1);
    double inside = d->phi[s->c.low[f] != n ? below : above], outside = d->phi[s->c.low[f] != n ? above : below];
    /* a cell without a way out is deep, and has no pressure: all of the way to it is liquid */
    if (!(outside > -TL_SHALLOW * d->grid->f.dx)) return 1;
    return fmin(TL_THETA_MAX, fmax(TL_THETA_LEAST, inside / (inside - outside)));
}

/* Part of the hat kernel around a face's centre that lies where sand may be: in liquid cells, outside of solids. Two
 * cells along the axis, three across. */
static double kernel_share(const tl_liquid_domain *d, int axis, int32_t id)
{
    static const double across[3] = {0.125, 0.75, 0.125};
    const tl_grid *g = d->grid;
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        int32_t c = k ? tl_grid_step(g, id, axis, -1) : id;
        for (int m = 0; m < 3; m++) {
            int32_t row = m == 1 ? c : tl_grid_step(g, c, i, m - 1);
            for (int n = 0; n < 3; n++) {
                int32_t at = n == 1 ? row : tl_grid_step(g, row, j, n - 1);
                sum += 0.5 * across[m] * across[n] * d->granular->cell[at] * (1 - d->fractions->solid_cell[at]);
            }
        }
    }
    return sum;
}

/* 1 / (P W_L^u). Dividing the face's own mass by W_F W_L^u makes sand an eighth too light in the rows at floors and
 * surfaces, whose kernels reach beyond: a layer then slips with 2.01 and 2.48 m/s^2 where it should with 2.548 (V9). */
static double granular_mobility(const tl_system *s, const tl_liquid_domain *d, int axis, int32_t id, double rho)
{
    if (d->density_rule == TL_DENSITY_CARRIED || (d->loose && tl_face_is_free(d->loose, d->grid, axis, id))) {
        double full = d->fractions->open[axis][id] * d->grid->f.dx * d->grid->f.dx * d->grid->f.dx;
        return full / fmax(MASS_LEAST * rho * full, s->carry.mass[axis][id]);
    }
    double filled = fmax(FILLED_LEAST, d->granular->face[axis][id]), share = 1;
    if (d->density_rule == TL_DENSITY_CONST) return 1 / (filled * rho);
    if (d->density_rule == TL_DENSITY_KERNEL) share = fmax(SHARE_LEAST, kernel_share(d, axis, id));
    if (d->density_rule == TL_DENSITY_SHARE) share = d->fractions->open[axis][id] * filled;
    double dx = d->grid->f.dx, P = d->faces->mass[axis][id] / (dx * dx * dx * share);
    return 1 / (filled * fmin(DENSITY_MAX * rho, fmax(DENSITY_LEAST * rho, P)));
}

/* A free piece has no weight to balance, so that noise of the particles' mass on faces drives nothing, and with that
 * mass the solve keeps their momentum and energy. A face with next to nothing on it would take any impulse. */
static double liquid_mobility(const tl_system *s, const tl_liquid_domain *d, int32_t f, double rho)
{
    int axis = s->axis[f];
    if (!d->pieces || !tl_face_is_free(d->pieces, d->grid, axis, s->id[f])) return 1 / (rho * liquid_part(s, d, f));
    double full = s->fluid[f] * d->grid->f.dx * d->grid->f.dx * d->grid->f.dx;
    return full / fmax(MASS_LEAST * rho * full, s->carry.mass[axis][s->id[f]]);
}

static talus_status weigh_faces(tl_system *s, const tl_liquid_domain *d, tl_arena *a, talus_error *err)
{
    const int32_t faces = s->c.faces;
    s->fluid = TL_TAKE(a, double, faces);
    s->mobility = TL_TAKE(a, double, faces);
    if (!s->fluid || !s->mobility) return no_memory(err);
#pragma omp parallel for schedule(static) if (faces >= TL_PARALLEL_MIN)
    for (int32_t f = 0; f < faces; f++) {
        int axis = s->axis[f];
        double rho = density_at(d, axis, s->id[f]);
        s->fluid[f] = d->fractions->open[axis][s->id[f]];
        s->mobility[f] = !(s->fluid[f] > 0) ? 0
                         : d->granular      ? granular_mobility(s, d, axis, s->id[f], rho)
                                            : liquid_mobility(s, d, f, rho);
    }
    s->c.fluid = s->fluid;
    s->c.mobility = s->mobility;
    return TALUS_OK;
}

/* ---- faces that are a solid's ---- */

/* Solids take over the open part of the faces with `mine` [3][cells] set, each by its share: in all exactly one, or
 * an impulse would get lost. What is open leaves only the rounding of a cover that is next to none. */
static talus_status give_to_solids(tl_fractions *f, const tl_grid *g, uint8_t *const mine[3], tl_arena *a,
                                   talus_error *err)
{
    const int64_t exist = (int64_t)g->blocks * g->f.size;
    const tl_covers *c = &f->covers;
    double *covered = TL_TAKE(a, double, g->cells);
    if (!covered) return no_memory(err);
    for (int axis = 0; axis < 3; axis++) {
        memcpy(covered, f->fixed[axis], sizeof *covered * (size_t)exist);
        for (int64_t i = 0; i < exist && f->soft[axis]; i++) covered[i] += f->soft[axis][i];
        for (int32_t b = 0; b < c->bodies; b++)
            for (int64_t k = c->start[3 * (int64_t)b + axis]; k < c->start[3 * (int64_t)b + axis + 1]; k++)
                covered[c->face[k]] += c->weight[k];
        for (int32_t b = 0; b < c->bodies; b++)
            for (int64_t k = c->start[3 * (int64_t)b + axis]; k < c->start[3 * (int64_t)b + axis + 1]; k++)
                if (mine[axis][c->face[k]]) c->weight[k] /= covered[c->face[k]];
        for (int64_t i = 0; i < exist; i++) {
            if (!mine[axis][i]) continue;
            f->fixed[axis][i] /= covered[i];
            if (f->soft[axis]) f->soft[axis][i] /= covered[i];
            f->open[axis][i] = 0;
        }
    }
    return TALUS_OK;
}

static talus_status close_slivers(const tl_liquid_domain *d, tl_arena *a, talus_error *err)
{
    const int64_t exist = (int64_t)d->grid->blocks * d->grid->f.size;
    size_t mark = tl_arena_mark(a);
    uint8_t *mine[3];
    for (int axis = 0; axis < 3; axis++) {
        if (!(mine[axis] = TL_TAKE_ZERO(a, uint8_t, d->grid->cells))) return no_memory(err);
        const double *open = d->fractions->open[axis];
        for (int64_t i = 0; i < exist; i++) mine[axis][i] = open[i] > 0 && open[i] <= CLOSED;
    }
    TL_TRY(give_to_solids(d->fractions, d->grid, mine, a, err));
    tl_arena_release(a, mark);
    return TALUS_OK;
}

static talus_status close_fringe(const tl_system *s, const tl_liquid_domain *d, tl_arena *a, talus_error *err)
{
    const tl_coupling *c = &s->c;
    size_t mark = tl_arena_mark(a);
    uint8_t *mine[3];
    for (int axis = 0; axis < 3; axis++)
        if (!(mine[axis] = TL_TAKE_ZERO(a, uint8_t, d->grid->cells))) return no_memory(err);
    for (int32_t f = 0; f < c->faces; f++) {
        double open = d->fractions->open[s->axis[f]][s->id[f]];
        mine[s->axis[f]][s->id[f]] = c->low[f] == c->cells && c->high[f] == c->cells && open > 0 && open < 1;
    }
    TL_TRY(give_to_solids(d->fractions, d->grid, mine, a, err));
    tl_arena_release(a, mark);
    return TALUS_OK;
}

/* The edge no longer reads this face, nor the face the edge. */
static void drop_face(tl_stress *t, int32_t k, int side)
{
    int32_t f = t->edge_face[side][k];
    t->edge_face[side][k] = t->faces;
    for (int j = 0; j < 4 && f < t->faces; j++)
        if (t->face_edge[j][f] == k) t->face_edge[j][f] = t->edges;
}

/* An open face without a pressure goes with its neighbours (carry.h), that across the edge among them: the two do
 * not slide past each other, and the shear between them does no work. */
static void drop_followers(tl_system *s)
{
    const tl_coupling *c = &s->c;
    tl_stress *t = &s->stress;
    for (int32_t k = 0; k < t->edges; k++)
        for (int pair = 0; pair < 4; pair += 2) {
            bool follows = false;
            for (int j = pair; j < pair + 2; j++) {
                int32_t f = t->edge_face[j][k];
                follows |= f < t->faces && c->low[f] == c->cells && c->high[f] == c->cells && s->fluid[f] > 0;
            }
            for (int j = pair; j < pair + 2 && follows; j++) drop_face(t, k, j);
        }
}

/* ---- solids ---- */

/* From the centre of a body to a face, to the nearest image along periodic axes. */
static tl_vec3 lever(const tl_grid *g, tl_vec3 at, tl_vec3 centre)
{
    double r[3];
    tl_vec3_store(tl_vec3_sub(at, centre), r);
    for (int k = 0; k < 3; k++) {
        double length = g->f.count[k] * g->f.dx;
        if (g->f.periodic[k]) r[k] -= length * round(r[k] / length);
        if (k == g->f.flat_axis) r[k] = 0;
    }
    return tl_vec3_load(r);
}

/* Faces that sums go over: each is in the lists of the part that has the cell at whose lower end it lies. */
static talus_status find_owned(tl_system *s, const tl_grid *g, tl_arena *a, talus_error *err)
{
    if (!g->comm) return TALUS_OK;
    uint8_t *owned = TL_TAKE(a, uint8_t, s->c.faces);
    if (!owned) return no_memory(err);
    for (int32_t f = 0; f < s->c.faces; f++) owned[f] = tl_grid_owns(g, s->id[f]);
    s->c.owned = owned;
    return TALUS_OK;
}

/* Rows of a body on faces of the lists, own ones or the others. */
static int32_t place_body(const tl_system *s, const tl_liquid_domain *d, int32_t b, bool own, tl_solid_row *row)
{
    const tl_covers *c = &d->fractions->covers;
    int32_t rows = 0;
    for (int axis = 0; axis < 3; axis++)
        for (int64_t k = c->start[3 * (int64_t)b + axis]; k < c->start[3 * (int64_t)b + axis + 1]; k++) {
            int32_t f = s->of[axis][c->face[k]];
            if (f < 0 || tl_grid_owns(d->grid, c->face[k]) != own) continue;
            tl_vec3 r = lever(d->grid, tl_grid_face_centre(d->grid, axis, c->face[k]), d->centre[b]);
            row[rows++] = (tl_solid_row){f, b, axis, c->weight[k], tl_solid_turn(c->weight[k], axis, r)};
        }
    return rows;
}

static talus_status place_bodies(tl_system *s, const tl_liquid_domain *d, tl_arena *a, talus_error *err)
{
    const tl_covers *c = &d->fractions->covers;
    int64_t max = c->bodies ? c->start[3 * (int64_t)c->bodies] : 0;
    tl_solid_row *row = TL_TAKE(a, tl_solid_row, max);
    int32_t *own = TL_TAKE_ZERO(a, int32_t, d->bodies), rows = 0;
    if (!row || !own) return no_memory(err);
    for (int32_t b = 0; b < c->bodies; b++) {
        rows += own[b] = place_body(s, d, b, true, row + rows);
        if (d->grid->comm) rows += place_body(s, d, b, false, row + rows);
    }
    s->rigid = (tl_rigid_solid){.comm = d->grid->comm,
                                .bodies = d->bodies,
                                .faces = s->c.faces,
                                .rows = rows,
                                .row = row,
                                .body_own = own,
                                .inv_mass = d->inv_mass,
                                .inv_inertia = d->inv_inertia};
    return TALUS_OK;
}

/* ---- the solver's matrix ---- */

static talus_status write_matrix(tl_system *s, tl_arena *a, talus_error *err)
{
    const tl_coupling *c = &s->c;
    const int32_t n = c->cells;
    bool room = true;
    for (int k = 0; k < 6; k++) {
        s->nb[k] = TL_TAKE(a, int32_t, n);
        s->coef[k] = TL_TAKE(a, float, n);
        room = room && s->nb[k] && s->coef[k];
    }
    s->dir = TL_TAKE(a, float, n);
    s->ar = TL_TAKE(a, float, n);
    s->d = TL_TAKE(a, double, n);
    if (!room || !s->dir || !s->ar || !s->d) return no_memory(err);
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < n; i++) {
        double sum = 0, dir = 0, area = 0;
        for (int k = 0; k < 6; k++) {
            int32_t f = c->face[6 * (int64_t)i + k], other = k & 1 ? c->high[f] : c->low[f];
            float h = (float)(s->density * c->fluid[f] * c->mobility[f]);
            if (other == i || other == n) {
                if (other == n) dir += (double)h, area += h > 0 ? c->fluid[f] : 0;
                other = n;
                h = 0;
            }
            s->nb[k][i] = other;
            s->coef[k][i] = h;
            sum += (double)h;
        }
        s->dir[i] = (float)dir;
        s->ar[i] = (float)area;
        s->d[i] = sum + (double)s->dir[i];
    }
    return TALUS_OK;
}

tl_pressure tl_system_pressure(const tl_system *s)
{
    tl_pressure p = {.space = s->space.comm ? &s->space : NULL,
                     .n = s->c.cells,
                     .none = s->c.cells,
                     .red = s->red,
                     .ijk = (const int32_t(*)[3])s->ijk,
                     .dir = s->dir,
                     .ar = s->ar,
                     .d = s->d};
    for (int k = 0; k < 6; k++) {
        p.nb[k] = s->nb[k];
        p.c[k] = s->coef[k];
    }
    return p;
}

talus_status tl_liquid_system(tl_system *out, const tl_liquid_domain *d, double dt, tl_arena *a, talus_error *err)
{
    *out = (tl_system){.density = d->faces->rho0};
    out->c.dx = d->grid->f.dx;
    out->c.dt = dt;
    tl_edges edges = {0};
    const bool sand = d->granular && d->faces->mass[0];
    if (sand && !d->open_slivers) TL_TRY(close_slivers(d, a, err));
    TL_TRY(number_cells(out, d, a, err));
    tl_edge_domain where = {.grid = d->grid,
                            .active = &out->active,
                            .fill = d->faces->fill,
                            .liquid = d->granular,
                            .fractions = d->fractions,
                            .staggered = d->staggered,
                            .rule = d->edge_rule};
    if (d->granular) TL_TRY(tl_edges_find(&edges, &where, a, err));
    if (d->viscosity) TL_TRY(tl_viscous_edges(&edges, d->viscosity, d->grid, &out->active, d->fractions, a, err));
    TL_TRY(number_faces(out, d, &edges, a, err));
    const tl_face_lists lists = {&out->c, out->of, out->id, out->axis};
    if (sand) {
        if (!d->open_fringe) TL_TRY(close_fringe(out, d, a, err));
        TL_TRY(tl_carry_find(&out->carry, d->grid, d->faces, d->fractions, &lists, NULL, a, err));
    }
    if (!d->granular && d->pieces && tl_pieces_any_free(d->pieces))
        TL_TRY(tl_carry_find(&out->carry, d->grid, d->faces, d->fractions, &lists, d->pieces, a, err));
    if (d->viscosity) where.staggered = true;
    if (d->granular || d->viscosity) TL_TRY(tl_stress_build(&out->stress, &edges, &where, &lists, a, err));
    out->edges = edges;
    TL_TRY(weigh_faces(out, d, a, err));
    if (sand || (d->granular && d->edge_rule == TL_EDGE_LOAD && !d->staggered)) drop_followers(out);
    const tl_comm *comm = d->grid->comm;
    TL_TRY(tl_comm_agree(comm, find_owned(out, d->grid, a, err), err));
    TL_TRY(tl_comm_agree(comm, place_bodies(out, d, a, err), err));
    TL_TRY(tl_rigid_solid_build(&out->rigid, a, err));
    out->c.solid = tl_rigid_solid_view(&out->rigid);
    TL_TRY(tl_body_cells_build(&out->wet, &out->c, &out->rigid, a, err));
    TL_TRY(write_matrix(out, a, err));
    TL_TRY(tl_comm_agree(comm, tl_coupling_make_room(&out->c, a, err), err));
    if (!d->viscosity) return TALUS_OK;
    TL_TRY(tl_viscous_stress_make(&out->viscous, d->viscosity, d->grid, d->fractions, out, a, err));
    out->stress.holds = out->viscous.holds;
    out->stress.held = out->viscous.held;
    out->stress.hold = out->viscous.hold;
    return TALUS_OK;
}

void tl_system_load(const tl_system *s, double *const u[3])
{
#pragma omp parallel for schedule(static) if (s->c.faces >= TL_PARALLEL_MIN)
    for (int32_t f = 0; f < s->c.faces; f++) s->c.u[f] = u[s->axis[f]][s->id[f]];
}

void tl_system_store(const tl_system *s, double *const u[3])
{
#pragma omp parallel for schedule(static) if (s->c.faces >= TL_PARALLEL_MIN)
    for (int32_t f = 0; f < s->c.faces; f++) u[s->axis[f]][s->id[f]] = s->c.u[f];
}

/* ---- memory of faces ---- */

static bool has_face(const tl_system *s, int32_t id)
{
    return s->of[0][id] >= 0 || s->of[1][id] >= 0 || s->of[2][id] >= 0;
}

/* Ids rise with keys. */
void tl_system_recall(const tl_system *s, const tl_grid *g, const tl_grid_state *past, double *t)
{
    int64_t at = 0;
    for (int32_t i = 0; tl_grid_owns(g, i); i++) {
        if (!has_face(s, i)) continue;
        int64_t key = (int64_t)tl_grid_key_of(g, i);
        while (at < past->rests && past->rest[at].key < key) at++;
        bool there = at < past->rests && past->rest[at].key == key;
        for (int k = 0; k < 3; k++)
            if (s->of[k][i] >= 0) t[s->of[k][i]] = there ? past->rest[at].t[k] : 0;
    }
    for (int32_t f = 0; f < s->c.faces; f++)
        if (!tl_grid_owns(g, s->id[f])) t[f] = 0;
}

int64_t tl_system_rest_cells(const tl_system *s, const tl_grid *g)
{
    int64_t count = 0;
    for (int32_t i = 0; tl_grid_owns(g, i); i++) count += has_face(s, i);
    return count;
}

void tl_system_remember(const tl_system *s, const tl_grid *g, const double *t, tl_grid_state *to)
{
    to->rests = 0;
    for (int32_t i = 0; t && tl_grid_owns(g, i); i++) {
        if (!has_face(s, i)) continue;
        TL_ASSERT(to->rests < to->rest_room);
        tl_rest_memory *m = &to->rest[to->rests++];
        m->key = (int64_t)tl_grid_key_of(g, i);
        for (int k = 0; k < 3; k++) m->t[k] = s->of[k][i] >= 0 ? t[s->of[k][i]] : 0;
    }
}
