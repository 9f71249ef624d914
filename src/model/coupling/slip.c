#include "model/coupling/slip.h"

#include <math.h>

double tl_slip_at(const tl_slip *s, int32_t block, tl_vec3 x)
{
    int32_t which;
    tl_vec3 n;
    tl_solids_distance(s->solids, block, x, &which, &n);
    return which >= 0 ? s->friction[which] : which == TL_SOLID_WALL ? s->walls : -1;
}

static tl_vec3 edge_centre(const tl_grid *g, int axis, int32_t id)
{
    double x[3], half = 0.5 * g->f.dx;
    tl_vec3_store(tl_grid_centre(g, id), x);
    x[(axis + 1) % 3] -= half;
    x[(axis + 2) % 3] -= half;
    return tl_vec3_load(x);
}

/* The cell beyond the only open face of a cell; -1: none is open, or several. */
static int32_t beyond(const tl_slip *s, const tl_stress *t, int32_t cell, int *across)
{
    int32_t found = -1;
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2 && t->only[axis]; side++) {
            int32_t next = tl_grid_step(s->grid, cell, axis, 1);
            if (!(s->fractions->open[axis][side ? next : cell] > 0)) continue;
            if (found >= 0) return -1;
            *across = axis;
            found = side ? next : tl_grid_step(s->grid, cell, axis, -1);
        }
    return found;
}

/* Where the surface lies between the centres of a cell in the solid and the one beyond. */
static double surface_between(const tl_slip *s, int32_t cell, int32_t next)
{
    double solid = s->fractions->solid_cell[cell] + s->fractions->solid_cell[next];
    return fmin(1, fmax(0, solid - 0.5));
}

/* A solid is on one side of the edge, and sand on the other. */
static bool is_at_wall(const tl_slip *s, int axis, int32_t id)
{
    int of[4];
    int32_t face[4];
    tl_edge_faces(s->grid, axis, id, of, face);
    for (int k = 0; k < 4; k += 2)
        if ((s->fractions->open[of[k]][face[k]] > 0) != (s->fractions->open[of[k + 1]][face[k + 1]] > 0)) return true;
    return false;
}

/* The edge no longer reads this cell, nor the cell the edge. */
static void part_with(tl_stress *t, int32_t edge, int side, int32_t cell)
{
    const int axis = t->edge_axis[edge];
    t->edge_cell[side][edge] = 6 * t->cells + 3 + axis;
    for (int m = 0; m < 4; m++)
        if (t->cell_edge[4 * axis + m][cell] == edge) t->cell_edge[4 * axis + m][cell] = t->edges;
}

static void bind_edge(tl_stress *t, int32_t k, double mu, const uint8_t *inside, const double *alpha)
{
    int there = 0, in_solid = 0;
    double own = 0;
    for (int j = 0; j < 4; j++) {
        int32_t cell = t->edge_cell[j][k] / 6;
        if (cell >= t->cells) continue;
        there++;
        in_solid += inside[cell];
        own += alpha[cell] / sqrt(2);
    }
    if (!(t->weight[k] > 0) || !there) return;
    if (!in_solid) {
        own /= there;
        t->weight[k] *= mu < own ? mu / own : 1;
        return;
    }
    for (int j = 0; j < 4; j++) {
        int32_t cell = t->edge_cell[j][k] / 6;
        if (cell < t->cells && !inside[cell]) part_with(t, k, j, cell);
    }
    t->weight[k] = 4.0 / in_solid;
}

talus_status tl_slip_apply(const tl_slip *s, tl_system *system, double *alpha, tl_slip_cells *out, tl_arena *a,
                           talus_error *err)
{
    tl_stress *t = &system->stress;
    bool any = s->walls >= 0;
    for (int32_t i = 0; i < s->solids->count; i++) any |= s->friction[i] >= 0;
    *out = (tl_slip_cells){0};
    if (!any) return TALUS_OK;
    *out = (tl_slip_cells){TL_TAKE(a, int32_t, t->cells), TL_TAKE_ZERO(a, double, t->cells),
                           TL_TAKE_ZERO(a, double, TL_STRESS_GROUP *(int64_t)t->cells)};
    size_t mark = tl_arena_mark(a);
    uint8_t *inside = TL_TAKE_ZERO(a, uint8_t, t->cells);
    double *mu = TL_TAKE(a, double, t->cells);
    if (!out->beside || !out->part || !out->normal || !inside || !mu)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the friction of solids against sand");
    for (int32_t i = 0; i < t->cells; i++) {
        int axis;
        int32_t cell = system->active.cell[i], next = beyond(s, t, cell, &axis);
        out->beside[i] = i;
        if (next < 0) continue;
        mu[i] = tl_slip_at(s, cell / s->grid->f.size, tl_grid_centre(s->grid, cell));
        inside[i] = mu[i] >= 0;
        if (!inside[i] || system->active.number[next] < 0) continue;
        out->beside[i] = system->active.number[next];
        out->part[i] = surface_between(s, cell, next);
        double *n = out->normal + TL_STRESS_GROUP * (int64_t)i;
        n[TL_S_XX] = axis == 0 ? t->only[0] : axis == 1 ? -t->only[0] : 0;
        n[TL_S_ZZ] = axis == 2 ? t->only[2] : axis == 1 ? -t->only[2] : 0;
    }
    for (int32_t k = 0; k < t->edges; k++) {
        int32_t id = system->edges.id[k];
        if (!is_at_wall(s, t->edge_axis[k], id)) continue;
        double own = tl_slip_at(s, id / s->grid->f.size, edge_centre(s->grid, t->edge_axis[k], id));
        if (own >= 0) bind_edge(t, k, own, inside, alpha);
    }
    for (int32_t i = 0; i < t->cells; i++)
        if (inside[i]) {
            alpha[i] = fmin(alpha[i], sqrt(2) * mu[i]);
            t->diagonal[i] = 0;
        }
    tl_arena_release(a, mark);
    return TALUS_OK;
}
