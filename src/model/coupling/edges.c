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

static bool is_on(const tl_grid *g, const tl_active *active, const double *fill, const tl_liquid *l,
                  const tl_fractions *f, bool staggered, tl_edge_rule rule, int axis, int32_t id)
{
    if (staggered) return tl_active_edge(g, fill, l, f, axis, id);
    if (!(l->edge[axis][id] > 0)) return false;
    int32_t cell[4], idle = 0;
    double solid = 0;
    cells_around(g, axis, id, cell);
    for (int k = 0; k < 4; k++) {
        idle += active->number[cell[k]] < 0;
        solid += 0.25 * f->solid_cell[cell[k]];
    }
    if (idle == 4 || !touches_open_face(g, f, axis, id)) return false;
    return idle == 0 || rule == TL_EDGE_INACTIVE_ZERO || (rule == TL_EDGE_WALL && (idle == 1 || solid >= WALL_SHARE));
}

talus_status tl_edges_find(tl_edges *out, const tl_grid *g, const tl_active *active, const double *fill,
                           const tl_liquid *liquid, const tl_fractions *f, bool staggered, tl_edge_rule rule,
                           tl_arena *a, talus_error *err)
{
    *out = (tl_edges){0};
    int32_t exist = (int32_t)((int64_t)g->blocks * g->f.size), count = 0;
    for (int axis = 0; axis < 3; axis++) {
        int32_t *of = out->of[axis] = TL_TAKE(a, int32_t, g->cells);
        if (!of) return no_memory(err);
        memset(of, 0xff, sizeof *of * (size_t)g->cells);
        if (g->f.flat && axis != g->f.flat_axis) continue; /* shears with the axis of one cell are zero */
#pragma omp parallel for schedule(static) if (exist >= TL_PARALLEL_MIN / 8)
        for (int32_t i = 0; i < exist; i++)
            of[i] = is_on(g, active, fill, liquid, f, staggered, rule, axis, i) ? 0 : -1;
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
            out->weight[k] = liquid->edge[axis][i];
        }
    return TALUS_OK;
}

/* ---- lists ---- */

static int32_t or_none(int32_t number, int32_t none) { return number < 0 ? none : number; }

static void link_edges(tl_stress *t, const tl_edges *e, const tl_grid *g, const tl_active *active, int32_t *const of[3])
{
#pragma omp parallel for schedule(static) if (e->count >= TL_PARALLEL_MIN / 4)
    for (int32_t k = 0; k < e->count; k++) {
        tl_stress_edge *to = &t->edge[k];
        int32_t cell[4], face[4];
        int face_axis[4];
        *to = (tl_stress_edge){.weight = e->weight[k], .axis = e->axis[k]};
        cells_around(g, e->axis[k], e->id[k], cell);
        tl_edge_faces(g, e->axis[k], e->id[k], face_axis, face);
        for (int j = 0; j < 4; j++) {
            to->cell[j] = or_none(active->number[cell[j]], t->cells);
            to->face[j] = or_none(of[face_axis[j]][face[j]], t->faces);
        }
    }
}

static void link_cells(tl_stress *t, const tl_edges *e, const tl_grid *g, const tl_active *active)
{
#pragma omp parallel for schedule(static) if (t->cells >= TL_PARALLEL_MIN / 4)
    for (int32_t k = 0; k < t->cells; k++)
        for (int axis = 0; axis < 3; axis++) {
            int i = (axis + 1) % 3, j = (axis + 2) % 3;
            int32_t id = active->cell[k], next = tl_grid_step(g, id, i, 1);
            const int32_t around[4] = {id, next, tl_grid_step(g, id, j, 1), tl_grid_step(g, next, j, 1)};
            for (int m = 0; m < 4; m++) t->of_cell[k][4 * axis + m] = or_none(e->of[axis][around[m]], t->edges);
        }
}

static void link_faces(tl_stress *t, const tl_edges *e, const tl_grid *g, const int32_t *face_id)
{
#pragma omp parallel for schedule(static) if (t->faces >= TL_PARALLEL_MIN / 4)
    for (int32_t f = 0; f < t->faces; f++) {
        int a = t->axis[f], b = (a + 1) % 3, c = (a + 2) % 3;
        int32_t id = face_id[f];
        t->of_face[f][0] = or_none(e->of[c][tl_grid_step(g, id, b, 1)], t->edges);
        t->of_face[f][1] = or_none(e->of[c][id], t->edges);
        t->of_face[f][2] = or_none(e->of[b][tl_grid_step(g, id, c, 1)], t->edges);
        t->of_face[f][3] = or_none(e->of[b][id], t->edges);
    }
}

talus_status tl_stress_build(tl_stress *out, const tl_edges *e, const tl_grid *g, const tl_active *active,
                             const tl_liquid *liquid, const tl_coupling *c, int32_t *const of[3],
                             const int32_t *face_id, int8_t *face_axis, bool staggered, tl_arena *a, talus_error *err)
{
    *out =
        (tl_stress){.staggered = staggered, .cells = c->cells, .edges = e->count, .faces = c->faces, .axis = face_axis};
    out->n = staggered ? 2 * (int64_t)c->cells + e->count : TL_STRESS_GROUP * (int64_t)c->cells;
    for (int k = 0; k < 3; k++) out->only[k] = !g->f.flat || k != g->f.flat_axis;
    double *cell = TL_TAKE(a, double, c->cells);
    out->edge = TL_TAKE(a, tl_stress_edge, e->count);
    out->of_cell = tl_arena_take(a, sizeof *out->of_cell * (size_t)c->cells);
    out->of_face = tl_arena_take(a, sizeof *out->of_face * (size_t)c->faces);
    out->e = TL_TAKE_ZERO(a, double, (int64_t)e->count + 1);
    out->d = TL_TAKE_ZERO(a, double, 3 * ((int64_t)c->cells + 1));
    if (!cell || !out->edge || !out->of_cell || !out->of_face || !out->e || !out->d) return no_memory(err);
    for (int32_t i = 0; i < c->cells; i++) cell[i] = liquid->cell[active->cell[i]];
    out->cell = cell;
    link_edges(out, e, g, active, of);
    link_cells(out, e, g, active);
    link_faces(out, e, g, face_id);
    return TALUS_OK;
}
