#include "model/grid/sides.h"

#include <math.h>
#include <string.h>

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the two sides of thin solids");
}

/* Whether a sheet lies within a cell's width of a centre, along the way to its nearest place. skin: which body's. */
static bool meet_sheet(const tl_filled *from, int32_t cell, int32_t *skin, tl_side *out)
{
    const tl_grid *g = from->grid;
    const tl_solids *s = from->solids;
    const double dx = g->f.dx;
    const int32_t block = tl_grid_block_of(g, cell);
    tl_vec3 n = {0, 0, 0}, m, x = tl_grid_centre(g, cell);
    double near = dx;
    *skin = -1;
    for (int32_t i = s->start[block]; i < s->start[block + 1]; i++) {
        if (!s->solid[s->of[i]].skin) continue;
        const double d = tl_solid_distance(s, s->of[i], x, &m);
        if (d >= near) continue;
        near = d;
        n = m;
        *skin = s->of[i];
    }
    if (*skin < 0 || near <= -dx) return false;
    const double past = tl_solid_distance(s, *skin, tl_vec3_add_scaled(x, -dx, n), &m), far = dx - past;
    if (!(past > 0) || !(tl_vec3_dot(n, m) < 0) || !(far > near)) return false;
    *out = (tl_side){
        .cell = cell, .normal = n, .image = tl_vec3_add_scaled(x, -2 * far, n), .middle = -0.5 * (near + far)};
    return tl_solid_distance(s, *skin, tl_vec3_add_scaled(x, out->middle, n), NULL) < 0;
}

/* How the open part of the kernel is shared: by halves of cells, whose sides are those of their centres. */
static double share_beyond(const tl_filled *from, const tl_clip *c, const tl_side *q)
{
    static const double w[4] = {0.125, 0.375, 0.375, 0.125};
    const double h = 0.5 * from->grid->f.dx;
    double own = 0, beyond = 0;
    int32_t at[3];
    tl_grid_at(from->grid, q->cell, at);
    for (int k = 0; k < 64; k++) {
        const int i[3] = {k >> 4, k >> 2 & 3, k & 3};
        const tl_vec3 off = {(i[0] - 1.5) * h, (i[1] - 1.5) * h, (i[2] - 1.5) * h};
        const double part = tl_clip_cube(c, 2 * at[0] + i[0] - 1, 2 * at[1] + i[1] - 1, 2 * at[2] + i[2] - 1),
                     open = w[i[0]] * w[i[1]] * w[i[2]] * (1 - fmin(1, fmax(0, part)));
        *(tl_side_is_beyond(q, off) ? &beyond : &own) += open;
    }
    return beyond > 0 ? beyond / (own + beyond) : 0;
}

/* Blocks that an elastic body reaches. */
static bool has_skin(const tl_solids *s, int32_t b)
{
    for (int32_t i = s->start[b]; i < s->start[b + 1]; i++)
        if (s->solid[s->of[i]].skin) return true;
    return false;
}

/* Cells of one block; those of its sides that are found go behind `to`, which has room for a block's. */
static int32_t sides_of(const tl_filled *from, const double *clear, int32_t b, tl_side *to)
{
    const tl_grid *g = from->grid;
    int32_t found = 0;
    for (int32_t cell = b * g->f.size; cell < (b + 1) * g->f.size; cell++) {
        tl_side q;
        int32_t skin;
        if (!((double)from->solid_phi[cell] < g->f.dx) || !(clear[cell] > 0) || !meet_sheet(from, cell, &skin, &q))
            continue;
        q.clear = clear[cell] * share_beyond(from, from->solids->solid[skin].skin->clip, &q);
        if (q.clear > 0) to[found++] = q;
    }
    return found;
}

/* What particles put into the kernels' parts beyond. In the order of particles. */
static void fill_beyond(const tl_filled *from, const int32_t *of, const uint8_t *near, tl_sides *out)
{
    const tl_grid *g = from->grid;
    const double per_cell = 1 / (g->f.dx * g->f.dx * g->f.dx);
    for (int32_t b = 0; b < g->blocks; b++) {
        if (!near[b]) continue;
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++) {
            const tl_particle *p = &from->particles->particle[i];
            const double at[3] = {p->x.x, p->x.y, p->x.z};
            int32_t low[3];
            double t[3];
            for (int k = 0; k < 3; k++) {
                const double s = tl_grid_scaled(&g->f, at[k], k) - 0.5, down = floor(s);
                low[k] = (int32_t)down;
                t[k] = s - down;
            }
            for (int c = 0; c < 8; c++) {
                const int32_t corner[3] = {low[0] + (c >> 2), low[1] + (c >> 1 & 1), low[2] + (c & 1)};
                const int32_t id = tl_grid_cell_near(g, b, corner);
                if (!tl_grid_exists(g, id) || of[id] < 0) continue;
                tl_side *q = &out->side[of[id]];
                if (!tl_side_is_beyond(q, tl_vec3_sub(p->x, tl_grid_centre(g, id)))) continue;
                q->fill += (c & 4 ? t[0] : 1 - t[0]) * (c & 2 ? t[1] : 1 - t[1]) * (c & 1 ? t[2] : 1 - t[2]) *
                           p->volume * per_cell;
            }
        }
    }
}

talus_status tl_sides_find(const tl_filled *from, const double *clear, tl_arena *a, tl_sides *out, talus_error *err)
{
    const tl_grid *g = from->grid;
    const tl_solids *s = from->solids;
    int32_t bent = 0;
    *out = (tl_sides){0};
    if (!s || !from->particles) return TALUS_OK;
    int32_t *list = TL_TAKE(a, int32_t, g->blocks + 1), *count = TL_TAKE(a, int32_t, g->blocks + 1);
    if (!list || !count) return no_memory(err);
    for (int32_t b = 0; b < g->blocks; b++)
        if (has_skin(s, b)) list[bent++] = b;
    if (bent == 0) return TALUS_OK;
    tl_side *all = TL_TAKE(a, tl_side, (int64_t)bent * g->f.size);
    int32_t *of = TL_TAKE(a, int32_t, g->cells);
    uint8_t *near = TL_TAKE_ZERO(a, uint8_t, g->blocks + 1);
    if (!all || !of || !near) return no_memory(err);
#pragma omp parallel for schedule(dynamic) if (bent > 1)
    for (int32_t k = 0; k < bent; k++) count[k] = sides_of(from, clear, list[k], all + (int64_t)k * g->f.size);
    memset(of, 0xff, sizeof *of * (size_t)g->cells); /* -1 */
    out->side = all;
    for (int32_t k = 0; k < bent; k++) {
        for (int32_t i = 0; i < count[k]; i++) {
            of[all[(int64_t)k * g->f.size + i].cell] = out->count;
            all[out->count++] = all[(int64_t)k * g->f.size + i];
        }
        for (int j = 0; j < 27 && count[k] > 0; j++) near[g->near[list[k]][j]] = 1;
    }
    fill_beyond(from, of, near, out);
    return TALUS_OK;
}
