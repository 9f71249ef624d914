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

/* Pieces, then bodies, as nodes of one graph; held [pieces + bodies] by root. */
typedef struct graph {
    int32_t pieces;
    const tl_piece_links *links;
    int32_t *up;
    uint8_t *held;
} graph;

static void hold(const graph *d, int32_t node) { d->held[root_of(d->up, node)] = 1; }

static void link(const graph *d, int32_t i, int32_t j)
{
    i = root_of(d->up, i);
    j = root_of(d->up, j);
    join(d->up, i, j);
    d->held[root_of(d->up, i)] = d->held[i] || d->held[j];
}

static bool is_fixed(const graph *d, int32_t body) { return body < 0 || !(d->links->inv_mass[body] > 0); }

static void link_wet(const graph *d, const tl_pieces *p, const tl_grid *g, double *const mass[3])
{
    const tl_covers *c = d->links->covers;
    for (int32_t b = 0; b < c->bodies; b++)
        for (int axis = 0; axis < 3; axis++)
            for (int64_t k = c->start[3 * (int64_t)b + axis]; k < c->start[3 * (int64_t)b + axis + 1]; k++) {
                if (!(c->weight[k] > 0) || !(mass[axis][c->face[k]] > 0)) continue;
                int32_t piece = tl_piece_of_face(p, g, axis, c->face[k]);
                if (piece == TL_NO_PIECE) continue;
                if (is_fixed(d, b))
                    hold(d, piece);
                else
                    link(d, piece, d->pieces + b);
            }
}

static void link_touched(const graph *d, const tl_pieces *p, const tl_grid *g, double *const mass[3])
{
    for (int64_t k = 0; k < d->links->touches; k++) {
        const tl_piece_touch *t = &d->links->touch[k];
        if (!(mass[t->axis][t->face] > 0)) continue;
        int32_t piece = tl_piece_of_face(p, g, t->axis, t->face);
        if (piece == TL_NO_PIECE) continue;
        if (is_fixed(d, t->body))
            hold(d, piece);
        else
            link(d, piece, d->pieces + t->body);
    }
}

static void link_pressed(const graph *d)
{
    for (int32_t k = 0; k < d->links->pairs; k++) {
        int32_t i = d->links->pair[2 * k], j = d->links->pair[2 * k + 1];
        if (!is_fixed(d, i) && !is_fixed(d, j))
            link(d, d->pieces + i, d->pieces + j);
        else if (!is_fixed(d, i) || !is_fixed(d, j))
            hold(d, d->pieces + (is_fixed(d, i) ? j : i));
    }
}

talus_status tl_pieces_find(tl_pieces *out, const tl_grid *g, const double *fill, double *const mass[3],
                            const tl_piece_links *links, tl_arena *a, talus_error *err)
{
    const int32_t exist = g->blocks * g->f.size;
    *out = (tl_pieces){.of = TL_TAKE(a, int32_t, g->cells)};
    if (!out->of) return no_memory(err);
    out->count = number_pieces(g, fill, out->of);
    const int32_t nodes = out->count + links->bodies;
    graph d = {out->count, links, TL_TAKE(a, int32_t, nodes), TL_TAKE_ZERO(a, uint8_t, nodes)};
    out->held = TL_TAKE(a, uint8_t, out->count);
    if (!d.up || !d.held || !out->held) return no_memory(err);
    for (int32_t k = 0; k < nodes; k++) d.up[k] = k;
    for (int axis = 0; axis < 3; axis++)
        for (int32_t i = 0; i < exist; i++) {
            if (!(links->fixed[axis][i] > 0) || !(mass[axis][i] > 0)) continue;
            int32_t k = tl_piece_of_face(out, g, axis, i);
            if (k != TL_NO_PIECE) hold(&d, k);
        }
    link_wet(&d, out, g, mass);
    link_touched(&d, out, g, mass);
    link_pressed(&d);
    for (int32_t k = 0; k < out->count; k++) out->held[k] = d.held[root_of(d.up, k)];
    return TALUS_OK;
}

typedef struct sums {
    double mass[3], owed[3];
} sums;

/* Blocks with faces of free pieces: these are few, and the others need not be asked face by face. */
static uint8_t *find_free_blocks(const tl_grid *g, const tl_pieces *p, tl_arena *a)
{
    uint8_t *own = TL_TAKE_ZERO(a, uint8_t, g->blocks + 1), *out = TL_TAKE(a, uint8_t, g->blocks);
    if (!own || !out) return NULL;
    for (int32_t b = 0; b < g->blocks; b++)
        for (int32_t i = b * g->f.size; i < (b + 1) * g->f.size; i++)
            own[b] |= p->of[i] != TL_NO_PIECE && !p->held[p->of[i]];
    for (int32_t b = 0; b < g->blocks; b++) {
        const int32_t *near = &g->near[b][TL_GRID_SELF];
        out[b] = own[b] | own[near[-9]] | own[near[-3]] | own[near[-1]];
    }
    return out;
}

static void add_up(const tl_grid *g, const tl_pieces *p, const tl_repay *r, const uint8_t *some, double *const u[3],
                   sums *all)
{
    for (int axis = 0; axis < 3; axis++)
        for (int32_t b = 0; b < g->blocks; b++)
            for (int32_t i = b * g->f.size; i < (b + 1) * g->f.size && some[b]; i++) {
                double m = r->mass[axis][i], owed = r->due[axis][i] - m * u[axis][i];
                if (m == 0 && owed == 0) continue;
                int32_t k = tl_piece_of_face(p, g, axis, i);
                if (k == TL_NO_PIECE) continue;
                all[k].mass[axis] += m;
                all[k].owed[axis] += owed;
            }
}

typedef struct impulses {
    tl_vec3 fixed, turned;
} impulses;

/* Faces of a block without free pieces: whole rows, sums along z kept apart until the end. */
static impulses repay_held(const tl_grid *g, const tl_repay *r, int32_t b, double *const u[3])
{
    const int32_t *e = g->f.edge;
    double fixed[3], turned[3] = {0, 0, 0};
    for (int axis = 0; axis < 3; axis++) {
        const tl_vec3 corner = tl_grid_face_centre(g, axis, b * g->f.size);
        double sum[TL_GRID_EDGE] = {0}, by_x[TL_GRID_EDGE] = {0}, by_y[TL_GRID_EDGE] = {0}, first[3] = {0, 0, 0};
        int32_t i = b * g->f.size;
        for (int32_t row = 0; row < e[0] * e[1]; row++, i += e[2]) {
            const double *m = r->mass[axis] + i, *due = r->due[axis] + i, *v = u[axis] + i;
            const double x = corner.x + row / e[1] * g->f.dx, y = corner.y + row % e[1] * g->f.dx;
            for (int32_t z = 0; z < e[2]; z++) {
                const double q = m[z] * v[z] - due[z];
                sum[z] += q;
                by_x[z] += x * q;
                by_y[z] += y * q;
            }
        }
        fixed[axis] = 0;
        for (int32_t z = 0; z < e[2]; z++) {
            fixed[axis] += sum[z];
            first[0] += by_x[z];
            first[1] += by_y[z];
            first[2] += (corner.z + z * g->f.dx) * sum[z];
        }
        const int next = (axis + 1) % 3, last = (axis + 2) % 3;
        turned[next] += first[last];
        turned[last] -= first[next];
    }
    return (impulses){tl_vec3_load(fixed), tl_vec3_load(turned)};
}

/* Faces of a block with some. all: sums of free pieces. */
static impulses repay_block(const tl_grid *g, const tl_pieces *p, const tl_repay *r, const sums *all, int32_t b,
                            double *const u[3])
{
    impulses out = {{0, 0, 0}, {0, 0, 0}};
    for (int axis = 0; axis < 3; axis++)
        for (int32_t i = b * g->f.size; i < (b + 1) * g->f.size; i++) {
            const double m = r->mass[axis][i], owed = r->due[axis][i] - m * u[axis][i];
            if (m == 0 && owed == 0) continue;
            int32_t k = tl_piece_of_face(p, g, axis, i);
            if (k != TL_NO_PIECE && !p->held[k]) {
                if (all[k].mass[axis] > 0) u[axis][i] += all[k].owed[axis] / all[k].mass[axis];
                continue;
            }
            double q[3] = {0, 0, 0};
            q[axis] = -owed;
            tl_vec3 impulse = tl_vec3_load(q);
            out.fixed = tl_vec3_add(out.fixed, impulse);
            out.turned = tl_vec3_add(out.turned, tl_vec3_cross(tl_grid_face_centre(g, axis, i), impulse));
        }
    return out;
}

talus_status tl_faces_repay(const tl_grid *g, const tl_pieces *p, tl_repay *r, double *const u[3], tl_arena *a,
                            talus_error *err)
{
    size_t mark = tl_arena_mark(a);
    const bool any = tl_pieces_any_free(p);
    sums *all = any ? TL_TAKE_ZERO(a, sums, p->count) : NULL;
    impulses *part = TL_TAKE(a, impulses, g->blocks);
    const uint8_t *some = any ? find_free_blocks(g, p, a) : NULL;
    if ((any && (!all || !some)) || !part) return no_memory(err);
    r->fixed = r->turned = (tl_vec3){0, 0, 0};
    if (any) add_up(g, p, r, some, u, all);
#pragma omp parallel for schedule(static) if (g->blocks > 64)
    for (int32_t b = 0; b < g->blocks; b++)
        part[b] = any && some[b] ? repay_block(g, p, r, all, b, u) : repay_held(g, r, b, u);
    for (int32_t b = 0; b < g->blocks; b++) {
        r->fixed = tl_vec3_add(r->fixed, part[b].fixed);
        r->turned = tl_vec3_add(r->turned, part[b].turned);
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}
