#include "model/grid/pieces.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for pieces of liquid");
}

static int32_t root_of(int32_t *up, int32_t i)
{
    while (up[i] != i) {
        up[i] = up[up[i]];
        i = up[i];
    }
    return i;
}

static void join(int32_t *up, int32_t i, int32_t j)
{
    i = root_of(up, i);
    j = root_of(up, j);
    up[i > j ? i : j] = i < j ? i : j;
}

/* The root of a piece is its first cell. A cell that has its number holds -2 - number until all have theirs. */
static int32_t number_pieces(const tl_grid *g, const double *fill, int32_t *of)
{
    const int32_t exist = g->blocks * g->f.size;
    int32_t count = 0;
    for (int64_t i = 0; i < g->cells; i++) of[i] = i < exist && fill[i] > 0 ? (int32_t)i : TL_NO_PIECE;
    for (int32_t i = 0; i < exist; i++)
        for (int axis = 0; axis < 3 && of[i] != TL_NO_PIECE; axis++) {
            int32_t below = tl_grid_step(g, i, axis, -1);
            if (of[below] != TL_NO_PIECE) join(of, i, below);
        }
    for (int32_t i = 0; i < exist; i++)
        if (of[i] != TL_NO_PIECE) of[i] = root_of(of, i);
    for (int32_t i = 0; i < exist; i++)
        if (of[i] != TL_NO_PIECE) of[i] = of[i] == i ? -2 - count++ : of[of[i]];
    for (int32_t i = 0; i < exist; i++)
        if (of[i] != TL_NO_PIECE) of[i] = -2 - of[i];
    return count;
}

talus_status tl_pieces_find(tl_pieces *out, const tl_grid *g, const double *fill, double *const mass[3],
                            double *const held[3], tl_arena *a, talus_error *err)
{
    const int32_t exist = g->blocks * g->f.size;
    *out = (tl_pieces){.of = TL_TAKE(a, int32_t, g->cells)};
    if (!out->of) return no_memory(err);
    out->count = number_pieces(g, fill, out->of);
    if (!(out->held = TL_TAKE_ZERO(a, uint8_t, out->count))) return no_memory(err);
    for (int axis = 0; axis < 3; axis++)
        for (int32_t i = 0; i < exist; i++) {
            if (!(held[axis][i] > 0) || !(mass[axis][i] > 0)) continue;
            int32_t k = tl_piece_of_face(out, g, axis, i);
            if (k != TL_NO_PIECE) out->held[k] = 1;
        }
    return TALUS_OK;
}

typedef struct sums {
    double mass[3], owed[3];
} sums;

static void add_up(const tl_grid *g, const tl_pieces *p, const tl_repay *r, sums *all)
{
    const int32_t exist = g->blocks * g->f.size;
    for (int axis = 0; axis < 3; axis++)
        for (int32_t i = 0; i < exist; i++) {
            double m = r->mass[axis][i], owed = r->owed[axis][i];
            if (m == 0 && owed == 0) continue;
            int32_t k = tl_piece_of_face(p, g, axis, i);
            if (k == TL_NO_PIECE) continue;
            all[k].mass[axis] += m;
            all[k].owed[axis] += owed;
        }
}

talus_status tl_faces_repay(const tl_grid *g, const tl_pieces *p, tl_repay *r, double *const u[3], tl_arena *a,
                            talus_error *err)
{
    const int32_t exist = g->blocks * g->f.size;
    size_t mark = tl_arena_mark(a);
    sums *all = TL_TAKE_ZERO(a, sums, p->count);
    if (!all) return no_memory(err);
    r->fixed = r->turned = (tl_vec3){0, 0, 0};
    add_up(g, p, r, all);
    for (int axis = 0; axis < 3; axis++)
        for (int32_t i = 0; i < exist; i++) {
            if (r->mass[axis][i] == 0 && r->owed[axis][i] == 0) continue;
            int32_t k = tl_piece_of_face(p, g, axis, i);
            if (k != TL_NO_PIECE && !p->held[k]) {
                if (all[k].mass[axis] > 0) u[axis][i] += all[k].owed[axis] / all[k].mass[axis];
                continue;
            }
            double q[3] = {0, 0, 0};
            q[axis] = -r->owed[axis][i];
            tl_vec3 impulse = tl_vec3_load(q);
            r->fixed = tl_vec3_add(r->fixed, impulse);
            r->turned = tl_vec3_add(r->turned, tl_vec3_cross(tl_grid_face_centre(g, axis, i), impulse));
        }
    tl_arena_release(a, mark);
    return TALUS_OK;
}
