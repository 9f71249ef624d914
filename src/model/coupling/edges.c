#include "model/coupling/edges.h"

#include <string.h>

#include "base/parallel.h"

#define WALL_SHARE 0.1 /* mean W_S^p around an edge from which it counts as at a wall [grid-granular spec 3.6] */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the stress of granular material");
}

static void cells_around(const tl_grid *g, int axis, int32_t id, int32_t out[4])
{
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    out[0] = id;
    out[1] = tl_grid_step(g, id, i, -1);
    out[2] = tl_grid_step(g, id, j, -1);
    out[3] = tl_grid_step(g, out[1], j, -1);
}

void tl_edge_faces(const tl_grid *g, int axis, int32_t id, int face_axis[4], int32_t face_id[4])
{
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    face_axis[0] = face_axis[1] = i;
    face_axis[2] = face_axis[3] = j;
    face_id[0] = face_id[2] = id;
    face_id[1] = tl_grid_step(g, id, j, -1);
    face_id[3] = tl_grid_step(g, id, i, -1);
}

static bool touches_open_face(const tl_grid *g, const tl_fractions *f, int axis, int32_t id)
{
    int face_axis[4];
    int32_t face[4];
    tl_edge_faces(g, axis, id, face_axis, face);
    for (int k = 0; k < 4; k++)
        if (f->open[face_axis[k]][face[k]] > 0) return true;
    return false;
}

static bool is_on(const tl_edge_domain *d, int axis, int32_t id)
{
    if (d->staggered) return tl_active_edge(d->grid, d->fill, d->liquid, d->fractions, axis, id);
    if (!(d->liquid->edge[axis][id] > 0)) return false;
    int32_t cell[4], idle = 0;
    double solid = 0;
    cells_around(d->grid, axis, id, cell);
    for (int k = 0; k < 4; k++) {
        idle += d->active->number[cell[k]] < 0;
        solid += 0.25 * d->fractions->solid_cell[cell[k]];
    }
    if (idle == 4 || !touches_open_face(d->grid, d->fractions, axis, id)) return false;
    return idle == 0 || d->rule == TL_EDGE_INACTIVE_ZERO || d->rule == TL_EDGE_LOAD ||
           (d->rule == TL_EDGE_WALL && (idle == 1 || solid >= WALL_SHARE));
}

static int with_unknown(const tl_grid *g, const tl_active *active, int axis, int32_t id)
{
    int32_t cell[4];
    int there = 0;
    cells_around(g, axis, id, cell);
    for (int k = 0; k < 4; k++) there += active->number[cell[k]] >= 0;
    return there;
}

talus_status tl_edges_find(tl_edges *out, const tl_edge_domain *d, tl_arena *a, talus_error *err)
{
    const tl_grid *g = d->grid;
    const bool load = d->rule == TL_EDGE_LOAD && !d->staggered;
    *out = (tl_edges){0};
    int32_t exist = (int32_t)((int64_t)g->blocks * g->f.size), count = 0;
    for (int axis = 0; axis < 3; axis++) {
        int32_t *of = out->of[axis] = TL_TAKE(a, int32_t, g->cells);
        if (!of) return no_memory(err);
        memset(of, 0xff, sizeof *of * (size_t)g->cells);
        if (g->f.flat && axis != g->f.flat_axis) continue; /* shears with the axis of one cell are zero */
#pragma omp parallel for schedule(static) if (exist >= TL_PARALLEL_MIN / 8)
        for (int32_t i = 0; i < exist; i++) of[i] = is_on(d, axis, i) ? 0 : -1;
        for (int32_t i = 0; i < exist; i++)
            if (of[i] == 0) of[i] = count++;
    }
    out->count = count;
    out->id = TL_TAKE(a, int32_t, count);
    out->axis = TL_TAKE(a, int8_t, count);
    out->weight = TL_TAKE(a, double, count);
    if (!out->id || !out->axis || !out->weight) return no_memory(err);
    for (int axis = 0; axis < 3; axis++)
#pragma omp parallel for schedule(static) if (exist >= TL_PARALLEL_MIN)
        for (int32_t i = 0; i < exist; i++) {
            int32_t k = out->of[axis][i];
            if (k < 0) continue;
            out->id[k] = i;
            out->axis[k] = (int8_t)axis;
            out->weight[k] = load ? 4.0 / with_unknown(g, d->active, axis, i) : d->liquid->edge[axis][i];
        }
    return TALUS_OK;
}

/* ---- lists ---- */

static int32_t or_none(int32_t number, int32_t none) { return number < 0 ? none : number; }

static void link_edges(tl_stress *t, const tl_edges *e, const tl_grid *g, const tl_active *active, int32_t *const of[3])
{
#pragma omp parallel for schedule(static) if (e->count >= TL_PARALLEL_MIN / 4)
    for (int32_t k = 0; k < e->count; k++) {
        int32_t cell[4], face[4];
        int face_axis[4];
        cells_around(g, e->axis[k], e->id[k], cell);
        tl_edge_faces(g, e->axis[k], e->id[k], face_axis, face);
        for (int j = 0; j < 4; j++) {
            t->edge_cell[j][k] = 6 * or_none(active->number[cell[j]], t->cells) + 3 + e->axis[k];
            t->edge_face[j][k] = or_none(of[face_axis[j]][face[j]], t->faces);
        }
    }
}

static void link_cells(tl_stress *t, const tl_edges *e, const tl_grid *g, const tl_active *active, const tl_coupling *c)
{
#pragma omp parallel for schedule(static) if (t->cells >= TL_PARALLEL_MIN / 4)
    for (int32_t k = 0; k < t->cells; k++) {
        for (int m = 0; m < 6; m++) t->cell_face[m][k] = c->face[6 * (int64_t)k + m];
        for (int axis = 0; axis < 3; axis++) {
            int i = (axis + 1) % 3, j = (axis + 2) % 3;
            int32_t id = active->cell[k], next = tl_grid_step(g, id, i, 1);
            const int32_t around[4] = {id, next, tl_grid_step(g, id, j, 1), tl_grid_step(g, next, j, 1)};
            for (int m = 0; m < 4; m++) t->cell_edge[4 * axis + m][k] = or_none(e->of[axis][around[m]], t->edges);
        }
    }
}

static void link_faces(tl_stress *t, const tl_edges *e, const tl_grid *g, const tl_coupling *c, const int32_t *face_id)
{
#pragma omp parallel for schedule(static) if (t->faces >= TL_PARALLEL_MIN / 4)
    for (int32_t f = 0; f < t->faces; f++) {
        int a = t->axis[f], next = (a + 1) % 3, last = (a + 2) % 3;
        int32_t id = face_id[f];
        t->face_cell[0][f] = 6 * c->low[f] + a;
        t->face_cell[1][f] = 6 * c->high[f] + a;
        t->face_edge[0][f] = or_none(e->of[last][tl_grid_step(g, id, next, 1)], t->edges);
        t->face_edge[1][f] = or_none(e->of[last][id], t->edges);
        t->face_edge[2][f] = or_none(e->of[next][tl_grid_step(g, id, last, 1)], t->edges);
        t->face_edge[3][f] = or_none(e->of[next][id], t->edges);
    }
}

static bool take_lists(int32_t **lists, int count, int32_t n, tl_arena *a)
{
    for (int k = 0; k < count; k++)
        if (!(lists[k] = TL_TAKE(a, int32_t, n))) return false;
    return true;
}

talus_status tl_stress_build(tl_stress *out, const tl_edges *e, const tl_edge_domain *d, const tl_face_lists *lists,
                             tl_arena *a, talus_error *err)
{
    const tl_grid *g = d->grid;
    const tl_coupling *c = lists->c;
    *out = (tl_stress){
        .staggered = d->staggered, .cells = c->cells, .edges = e->count, .faces = c->faces, .axis = lists->axis};
    out->n = d->staggered ? 2 * (int64_t)c->cells + e->count : TL_STRESS_GROUP * (int64_t)c->cells;
    for (int k = 0; k < 3; k++) out->only[k] = !g->f.flat || k != g->f.flat_axis;
    double *cell = TL_TAKE(a, double, c->cells), *shear = TL_TAKE(a, double, c->cells);
    out->diagonal = TL_TAKE(a, double, c->cells);
    out->weight = e->weight;
    out->edge_axis = e->axis;
    out->e = TL_TAKE_ZERO(a, double, (int64_t)e->count + 1);
    out->d = TL_TAKE_ZERO(a, double, 6 * ((int64_t)c->cells + 1));
    out->y = TL_TAKE_ZERO(a, double, (int64_t)c->faces + 1);
    if (!cell || !shear || !out->diagonal || !out->e || !out->d || !out->y ||
        !take_lists(out->edge_cell, 4, e->count, a) || !take_lists(out->edge_face, 4, e->count, a) ||
        !take_lists(out->cell_edge, 12, c->cells, a) || !take_lists(out->cell_face, 6, c->cells, a) ||
        !take_lists(out->face_cell, 2, c->faces, a) || !take_lists(out->face_edge, 4, c->faces, a))
        return no_memory(err);
    for (int32_t i = 0; i < c->cells; i++) {
        out->diagonal[i] = cell[i] = d->liquid ? d->liquid->cell[d->active->cell[i]] : 1;
        shear[i] = d->rule == TL_EDGE_LOAD ? cell[i] : 1;
    }
    out->cell = cell;
    out->shear = shear;
    link_edges(out, e, g, d->active, lists->of);
    link_cells(out, e, g, d->active, c);
    link_faces(out, e, g, c, lists->id);
    return TALUS_OK;
}
