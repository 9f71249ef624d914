#include "model/grid/pieces.h"

#include "base/comm.h"

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

/* ---- several parts ---- */

typedef struct edge {
    int32_t i, j;
} edge;

/* All parts' edges, to all. */
static talus_status gather_edges(const tl_comm *c, int64_t count, const edge *mine, int64_t *all, edge **out,
                                 tl_arena *a, talus_error *err)
{
    int64_t bytes[TL_COMM_PARTS_MAX], own = count * (int64_t)sizeof *mine, sum = 0;
    tl_comm_share(c, sizeof own, &own, bytes);
    for (int32_t p = 0; p < c->parts; p++) sum += bytes[p];
    *all = sum / (int64_t)sizeof *mine;
    *out = TL_TAKE(a, edge, *all);
    TL_TRY(tl_comm_agree(c, *out ? TALUS_OK : no_memory(err), err));
    tl_comm_gather(c, bytes, mine, *out);
    return TALUS_OK;
}

/* A cell of the halo is of one piece here and of one with its owner: these are the same. first [parts + 1]: where the
 * numbers of each part begin. */
static talus_status find_borders(const tl_grid *g, const int32_t *of, const int32_t *first, int64_t *count, edge **out,
                                 tl_arena *a, talus_error *err)
{
    const int32_t own = tl_grid_owned_cells(g), exist = g->blocks * g->f.size;
    int32_t *theirs = TL_TAKE(a, int32_t, g->cells);
    talus_status status = (*out = TL_TAKE(a, edge, exist - own + 1)) && theirs ? TALUS_OK : no_memory(err);
    TL_TRY(tl_comm_agree(g->comm, status, err));
    for (int32_t i = 0; i < own; i++) theirs[i] = of[i];
    tl_grid_refresh(g, sizeof *theirs, theirs);
    *count = 0;
    for (int32_t i = own; i < exist; i++) {
        if (of[i] == TL_NO_PIECE) continue;
        const int32_t part = g->halo_part[i / g->f.size - g->owned];
        const edge e = {first[g->comm->part] + of[i], first[part] + theirs[i]}, *last = *out + *count - 1;
        if (!*count || last->i != e.i || last->j != e.j) (*out)[(*count)++] = e;
    }
    return TALUS_OK;
}

/* Pieces of all parts together get numbers that all know; `of` has the part's own so far. */
static talus_status join_parts(tl_pieces *out, const tl_grid *g, tl_arena *a, talus_error *err)
{
    const tl_comm *c = g->comm;
    const int32_t exist = g->blocks * g->f.size;
    int32_t first[TL_COMM_PARTS_MAX + 1] = {0};
    tl_comm_share(c, sizeof *first, &out->count, first + 1);
    for (int32_t p = 0; p < c->parts; p++) first[p + 1] += first[p];
    const int32_t all = first[c->parts];
    int32_t *up = TL_TAKE(a, int32_t, all);
    uint8_t *shared = TL_TAKE_ZERO(a, uint8_t, all);
    out->shared_of = TL_TAKE(a, int32_t, all);
    TL_TRY(tl_comm_agree(c, up && shared && out->shared_of ? TALUS_OK : no_memory(err), err));
    int64_t count, edges;
    edge *mine, *e;
    TL_TRY(find_borders(g, out->of, first, &count, &mine, a, err));
    TL_TRY(gather_edges(c, count, mine, &edges, &e, a, err));
    for (int32_t k = 0; k < all; k++) up[k] = k;
    for (int64_t k = 0; k < edges; k++) join(up, e[k].i, e[k].j);
    for (int64_t k = 0; k < edges; k++) shared[root_of(up, e[k].i)] = 1;
    for (int32_t k = 0; k < all; k++) up[k] = root_of(up, k);
    out->count = out->shared = 0;
    for (int32_t k = 0; k < all; k++) {
        if (up[k] == k && shared[k]) out->shared_of[out->shared++] = out->count;
        up[k] = up[k] == k ? out->count++ : up[up[k]];
    }
    for (int32_t i = 0; i < exist; i++)
        if (out->of[i] != TL_NO_PIECE) out->of[i] = up[first[c->part] + out->of[i]];
    return TALUS_OK;
}

/* ---- what holds them ---- */

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

#define HELD (-1) /* in place of an edge's other end */

/* What any part found of the graph, all know. */
static talus_status share_graph(const graph *d, const tl_comm *c, int32_t nodes, tl_arena *a, talus_error *err)
{
    edge *mine = TL_TAKE(a, edge, 2 * (int64_t)nodes), *e;
    TL_TRY(tl_comm_agree(c, mine ? TALUS_OK : no_memory(err), err));
    int64_t count = 0, edges;
    for (int32_t k = 0; k < nodes; k++) {
        const int32_t root = root_of(d->up, k);
        if (root != k) mine[count++] = (edge){k, root};
        if (root == k && d->held[k]) mine[count++] = (edge){k, HELD};
    }
    TL_TRY(gather_edges(c, count, mine, &edges, &e, a, err));
    for (int64_t k = 0; k < edges; k++) {
        if (e[k].j == HELD)
            hold(d, e[k].i);
        else
            link(d, e[k].i, e[k].j);
    }
    return TALUS_OK;
}

talus_status tl_pieces_find(tl_pieces *out, const tl_grid *g, const double *fill, double *const mass[3],
                            const tl_piece_links *links, tl_arena *a, talus_error *err)
{
    const int32_t exist = tl_grid_owned_cells(g);
    *out = (tl_pieces){.of = TL_TAKE(a, int32_t, g->cells)};
    TL_TRY(tl_comm_agree(g->comm, out->of ? TALUS_OK : no_memory(err), err));
    out->count = number_pieces(g, fill, out->of);
    if (g->comm) TL_TRY(join_parts(out, g, a, err));
    const int32_t nodes = out->count + links->bodies;
    graph d = {out->count, links, TL_TAKE(a, int32_t, nodes), TL_TAKE_ZERO(a, uint8_t, nodes)};
    out->held = TL_TAKE(a, uint8_t, out->count);
    TL_TRY(tl_comm_agree(g->comm, d.up && d.held && out->held ? TALUS_OK : no_memory(err), err));
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
    if (g->comm) TL_TRY(share_graph(&d, g->comm, nodes, a, err));
    for (int32_t k = 0; k < out->count; k++) out->held[k] = d.held[root_of(d.up, k)];
    return TALUS_OK;
}

typedef struct sums {
    double mass[3], owed[3];
} sums;

/* Blocks with faces of free pieces: these are few, and the others need not be asked face by face. */
static uint8_t *find_free_blocks(const tl_grid *g, const tl_pieces *p, tl_arena *a)
{
    uint8_t *own = TL_TAKE_ZERO(a, uint8_t, g->blocks + 1), *out = TL_TAKE(a, uint8_t, g->owned);
    if (!own || !out) return NULL;
    for (int32_t b = 0; b < g->blocks; b++)
        for (int32_t i = b * g->f.size; i < (b + 1) * g->f.size; i++)
            own[b] |= p->of[i] != TL_NO_PIECE && !p->held[p->of[i]];
    for (int32_t b = 0; b < g->owned; b++) {
        const int32_t *near = &g->near[b][TL_GRID_SELF];
        out[b] = own[b] | own[near[-9]] | own[near[-3]] | own[near[-1]];
    }
    return out;
}

static void add_up(const tl_grid *g, const tl_pieces *p, const tl_repay *r, const uint8_t *some, double *const u[3],
                   sums *all)
{
    for (int axis = 0; axis < 3; axis++)
        for (int32_t b = 0; b < g->owned; b++)
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

#define AT_ONCE (TL_COMM_VALUES_MAX / 6)
_Static_assert(sizeof(sums) == 6 * sizeof(double), "sums of a piece are six numbers in a row");

/* Of free pieces in more than one part. */
static talus_status add_up_parts(const tl_comm *c, const tl_pieces *p, sums *all, tl_arena *a, talus_error *err)
{
    sums *of = TL_TAKE(a, sums, p->shared);
    TL_TRY(tl_comm_agree(c, of ? TALUS_OK : no_memory(err), err));
    int32_t n = 0;
    for (int32_t k = 0; k < p->shared; k++)
        if (!p->held[p->shared_of[k]]) of[n++] = all[p->shared_of[k]];
    for (int32_t k = 0; k < n; k += AT_ONCE)
        tl_comm_reduce(c, TL_REDUCE_SUM, 6 * (n - k < AT_ONCE ? n - k : AT_ONCE), (double *)&of[k]);
    n = 0;
    for (int32_t k = 0; k < p->shared; k++)
        if (!p->held[p->shared_of[k]]) all[p->shared_of[k]] = of[n++];
    return TALUS_OK;
}

talus_status tl_faces_repay(const tl_grid *g, const tl_pieces *p, tl_repay *r, double *const u[3], tl_arena *a,
                            talus_error *err)
{
    size_t mark = tl_arena_mark(a);
    const bool any = tl_pieces_any_free(p);
    sums *all = any ? TL_TAKE_ZERO(a, sums, p->count) : NULL;
    impulses *part = TL_TAKE(a, impulses, g->owned), here = {{0, 0, 0}, {0, 0, 0}};
    const uint8_t *some = any ? find_free_blocks(g, p, a) : NULL;
    const bool good = (!any || (all && some)) && part;
    TL_TRY(tl_comm_agree(g->comm, good ? TALUS_OK : no_memory(err), err));
    if (any) add_up(g, p, r, some, u, all);
    if (any && g->comm) TL_TRY(add_up_parts(g->comm, p, all, a, err));
#pragma omp parallel for schedule(static) if (g->blocks > 64)
    for (int32_t b = 0; b < g->owned; b++)
        part[b] = any && some[b] ? repay_block(g, p, r, all, b, u) : repay_held(g, r, b, u);
    for (int32_t b = 0; b < g->owned; b++) {
        here.fixed = tl_vec3_add(here.fixed, part[b].fixed);
        here.turned = tl_vec3_add(here.turned, part[b].turned);
    }
    if (any) tl_grid_refresh3(g, u);
    double all6[6];
    tl_vec3_store(here.fixed, all6);
    tl_vec3_store(here.turned, all6 + 3);
    tl_comm_reduce(g->comm, TL_REDUCE_SUM, 6, all6);
    r->fixed = tl_vec3_load(all6);
    r->turned = tl_vec3_load(all6 + 3);
    tl_arena_release(a, mark);
    return TALUS_OK;
}
