#include "model/coupling/soft.h"

#include <math.h>
#include <string.h>

#include "base/radix.h"

#define FIT_NODES 12 /* for a spin; where more are within a cell, every second, third, ... */
#define ROW_MAX (FIT_NODES + 6)
#define FIT_MAX 512   /* nodes that are looked at */
#define FLAT 1e-9     /* of the largest moment: nodes on a line have no spin about it */
#define NOTHING 1e-14 /* of a face: a row below is rounding */

/* What one node does to one cell, or face. */
typedef struct entry {
    int32_t cell, node;
    tl_vec3 weight; /* 1/m */
} entry;

typedef struct builder {
    const tl_soft_domain *d;
    tl_soft *out; /* of TO_CELLS */
    enum { TO_CELLS, TO_FACES, TO_AXES } rows;
    int64_t count, room; /* entries */
    entry *of;           /* NULL: counted alone */
    /* nodes of the body at hand by cells of its box */
    const tl_skin *skin;
    int32_t *first, *node;
} builder;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for elastic bodies in a liquid");
}

static double get(tl_vec3 p, int k) { return k == 0 ? p.x : k == 1 ? p.y : p.z; }
static tl_vec3 unit(int k) { return (tl_vec3){k == 0, k == 1, k == 2}; }

static void add(builder *b, int32_t cell, int32_t node, tl_vec3 weight)
{
    if (b->of) {
        TL_ASSERT(b->count < b->room);
        b->of[b->count] = (entry){cell, node, weight};
    }
    b->count++;
}

/* Whether what is around a cell is held: in the solid, what is beside it. */
static bool is_held(const tl_soft_domain *d, int32_t cell)
{
    const tl_pieces *p = d->pieces;
    if (!p) return true;
    if (p->of[cell] != TL_NO_PIECE) return p->held[p->of[cell]];
    for (int k = 0; k < 6; k++) {
        int32_t piece = p->of[tl_grid_step(d->grid, cell, k / 2, k & 1 ? 1 : -1)];
        if (piece != TL_NO_PIECE && p->held[piece]) return true;
    }
    return false;
}

/* The same of a cell's faces: those of one axis alone are a row of their own, where these are wanted. */
static void add_axis(builder *b, int32_t cell, int axis, int32_t node, tl_vec3 weight)
{
    add(b, b->rows == TO_AXES ? 3 * cell + axis : cell, node, weight);
}

static void load(double *offset, int32_t node, tl_vec3 force)
{
    double *f = offset + 3 * (int64_t)node;
    tl_vec3_store(tl_vec3_add(tl_vec3_load(f), force), f);
}

/* ---- pieces ---- */

static void press_pieces(builder *b)
{
    const tl_soft_domain *d = b->d;
    const tl_clip *c = b->skin->clip;
    const int32_t(*surface)[3] = (const int32_t(*)[3])b->skin->lg->surface + b->skin->lg->body[b->skin->body].triangle;
    const double dx = d->grid->f.dx, per = 1 / (dx * dx * dx);
    for (int64_t i = 0; i < c->pieces; i++) {
        const tl_clip_piece *q = &c->piece[i];
        int32_t id = tl_grid_cell(d->grid, q->cube[0] >> 1, q->cube[1] >> 1, q->cube[2] >> 1);
        int32_t cell = d->system->active.number[id];
        if (cell < 0) continue;
        tl_vec3 off = tl_vec3_sub(q->centre, tl_grid_centre(d->grid, id));
        double head = b->of && b->out && is_held(d, id) ? d->system->density * tl_vec3_dot(d->gravity, off) : 0;
        for (int k = 0; k < 3; k++) {
            int32_t node = surface[q->triangle][k];
            tl_vec3 push = tl_vec3_scale(-per * q->weight[k], q->area);
            for (int axis = 0; axis < 3 && b->rows == TO_AXES; axis++)
                add_axis(b, cell, axis, node, tl_vec3_scale(get(push, axis), unit(axis)));
            if (b->rows == TO_CELLS) add(b, cell, node, push);
            if (b->of && b->out) load(b->out->offset, node, tl_vec3_scale(-head * q->weight[k], q->area));
        }
    }
}

/* ---- faces ---- */

static void cell_of_place(const tl_clip *c, tl_vec3 p, int32_t out[3])
{
    for (int k = 0; k < 3; k++) {
        int32_t at = (int32_t)floor((get(p, k) - get(c->origin, k)) / (2 * c->h)) - c->lo[k];
        out[k] = at < 0 ? 0 : at >= c->n[k] ? c->n[k] - 1 : at;
    }
}

/* Nodes of the surface by cells. */
static talus_status sort_nodes(builder *b, tl_arena *a, talus_error *err)
{
    const tl_clip *c = b->skin->clip;
    const tl_lg_skin *skin = &b->skin->lg->skin;
    const tl_lg_skin_body *s = &skin->body[b->skin->body];
    const int64_t cells = (int64_t)c->n[0] * c->n[1] * c->n[2];
    b->first = TL_TAKE_ZERO(a, int32_t, cells + 2);
    b->node = TL_TAKE(a, int32_t, s->nodes + 1);
    if (!b->first || !b->node) return no_memory(err);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = s->node; i < s->node + s->nodes; i++) {
            int32_t at[3];
            cell_of_place(c, tl_vec3_load(b->skin->x + 3 * (int64_t)skin->node[i]), at);
            int64_t cell = ((int64_t)at[0] * c->n[1] + at[1]) * c->n[2] + at[2];
            if (pass)
                b->node[b->first[cell + 1]++] = skin->node[i];
            else
                b->first[cell + 2]++;
        }
        for (int64_t k = 1; k <= cells && !pass; k++) b->first[k + 1] += b->first[k];
    }
    return TALUS_OK;
}

/* The spin of a few nodes about their middle: w = I^-1 sum r x v. */
typedef struct spin {
    int count;
    int32_t node[FIT_NODES + 3];
    tl_vec3 r[FIT_NODES + 3];
    tl_mat3 inverse; /* of I */
    bool known;
} spin;

static int nodes_near(const builder *b, tl_vec3 p, int32_t out[FIT_MAX])
{
    const tl_clip *c = b->skin->clip;
    const double reach = 2 * c->h;
    int32_t at[3];
    int count = 0;
    cell_of_place(c, p, at);
    for (int k = 0; k < 27; k++) {
        int32_t x = at[0] + k / 9 - 1, y = at[1] + k / 3 % 3 - 1, z = at[2] + k % 3 - 1;
        if (x < 0 || y < 0 || z < 0 || x >= c->n[0] || y >= c->n[1] || z >= c->n[2]) continue;
        int64_t cell = ((int64_t)x * c->n[1] + y) * c->n[2] + z;
        for (int32_t i = b->first[cell]; i < b->first[cell + 1] && count < FIT_MAX; i++) {
            tl_vec3 q = tl_vec3_load(b->skin->x + 3 * (int64_t)b->node[i]);
            if (tl_vec3_norm2(tl_vec3_sub(q, p)) <= reach * reach) out[count++] = b->node[i];
        }
    }
    return count;
}

static void put_node(spin *s, int32_t node)
{
    for (int k = 0; k < s->count; k++)
        if (s->node[k] == node) return;
    s->node[s->count++] = node;
}

static spin fit_spin(const builder *b, const tl_skin_place *q)
{
    spin s = {.count = 0};
    int32_t near[FIT_MAX];
    int count = nodes_near(b, q->at, near), stride = (count + FIT_NODES - 1) / FIT_NODES;
    for (int k = 0; k < 3; k++) put_node(&s, q->node[k]);
    for (int k = 0; k < count; k += stride) put_node(&s, near[k]);
    tl_vec3 middle = {0, 0, 0};
    for (int k = 0; k < s.count; k++)
        middle = tl_vec3_add_scaled(middle, 1.0 / s.count, tl_vec3_load(b->skin->x + 3 * (int64_t)s.node[k]));
    tl_mat3 I = tl_mat3_zero();
    for (int k = 0; k < s.count; k++) {
        tl_vec3 r = s.r[k] = tl_vec3_sub(tl_vec3_load(b->skin->x + 3 * (int64_t)s.node[k]), middle);
        I = tl_mat3_add(I, tl_mat3_sub(tl_mat3_scale(tl_vec3_norm2(r), tl_mat3_identity()), tl_mat3_outer(r, r)));
    }
    double size = tl_mat3_trace(I);
    s.known = tl_mat3_det(I) > FLAT * size * size * size && tl_mat3_inverse(I, &s.inverse);
    return s;
}

/* A row over nodes, of one face: weight times the velocity at the nearest place, and the spin over a lever. */
typedef struct row {
    int count;
    int32_t node[ROW_MAX];
    tl_vec3 weight[ROW_MAX];
} row;

static row face_row(const builder *b, int axis, tl_vec3 centre, double weight, tl_vec3 moment)
{
    row r = {.count = 0};
    tl_skin_place q = tl_skin_nearest(b->skin, centre);
    if (isnan(q.distance)) return r;
    for (int k = 0; k < 3; k++) {
        r.node[r.count] = q.node[k];
        r.weight[r.count++] = tl_vec3_scale(weight * q.weight[k], unit(axis));
    }
    tl_vec3 lever = tl_vec3_sub(tl_vec3_scale(weight, tl_vec3_sub(centre, q.at)), moment);
    spin s = fit_spin(b, &q);
    if (!s.known) return r;
    tl_vec3 t = tl_mat3_mul_vec(s.inverse, tl_vec3_cross(lever, unit(axis)));
    for (int k = 0; k < s.count; k++) {
        r.node[r.count] = s.node[k];
        r.weight[r.count++] = tl_vec3_cross(t, s.r[k]);
    }
    return r;
}

/* Part of what elastic bodies cover together that is this one's. */
static double share_of(const builder *b, int axis, const int32_t cell[3], int32_t id)
{
    const tl_soft_domain *d = b->d;
    double own = tl_skin_weight(b->skin->clip, d->fractions->family, axis, cell), all = 0;
    for (int32_t k = 0; k < d->skins->count; k++)
        if (d->skins->skin[k].lg) all += tl_skin_weight(d->skins->skin[k].clip, d->fractions->family, axis, cell);
    return own > 0 ? own / all * d->fractions->soft[axis][id] : 0;
}

/* Density times the part of the way across a face that is liquid at rest; 0: no liquid on one side of a closed one. */
static double face_density(const tl_system *s, int32_t f)
{
    if (s->mobility[f] > 0) return 1 / s->mobility[f];
    return s->c.low[f] < s->c.cells && s->c.high[f] < s->c.cells ? s->density : 0;
}

static void couple_face(builder *b, int axis, const int32_t cell[3], int64_t at)
{
    const tl_soft_domain *d = b->d;
    const tl_clip *c = b->skin->clip;
    const bool whole = b->rows == TO_FACES || (b->rows == TO_CELLS && d->form == TL_SOFT_COMPLEMENT);
    int32_t id = tl_grid_cell(d->grid, cell[0], cell[1], cell[2]), f = d->system->of[axis][id];
    if (!tl_grid_exists(d->grid, id) || f < 0) return;
    double W = b->rows == TO_AXES ? 0 : share_of(b, axis, cell, id), S = whole ? 0 : c->area[axis][at],
           dx = d->grid->f.dx;
    tl_vec3 M = whole ? (tl_vec3){0, 0, 0} : c->moment[axis][at];
    if (fabs(W - S) < NOTHING && tl_vec3_max_abs(M) < NOTHING * dx) return;
    if (!b->of) {
        b->count += 2 * ROW_MAX;
        return;
    }
    row r = face_row(b, axis, tl_grid_face_centre(d->grid, axis, id), W - S, M);
    for (int k = 0; k < r.count && b->rows == TO_FACES; k++) add(b, f, r.node[k], r.weight[k]);
    if (b->rows == TO_FACES) return;
    const tl_coupling *y = &d->system->c;
    double head = b->out && is_held(d, id) ? dx * dx * dx * face_density(d->system, f) * get(d->gravity, axis) : 0;
    for (int k = 0; k < r.count; k++) {
        if (y->high[f] < y->cells) add_axis(b, y->high[f], axis, r.node[k], tl_vec3_scale(-1 / dx, r.weight[k]));
        if (y->low[f] < y->cells) add_axis(b, y->low[f], axis, r.node[k], tl_vec3_scale(1 / dx, r.weight[k]));
        if (b->out) load(b->out->offset, r.node[k], tl_vec3_scale(head, r.weight[k]));
    }
}

static void couple_faces(builder *b)
{
    const tl_clip *c = b->skin->clip;
    int64_t at = 0;
    for (int32_t x = 0; x < c->n[0]; x++)
        for (int32_t y = 0; y < c->n[1]; y++)
            for (int32_t z = 0; z < c->n[2]; z++, at++)
                for (int axis = 0; axis < 3; axis++) {
                    const int32_t cell[3] = {c->lo[0] + x, c->lo[1] + y, c->lo[2] + z};
                    couple_face(b, axis, cell, at);
                }
}

/* ---- the matrix ---- */

/* Entries by row, then node, each once: three columns per node. */
static talus_status make_matrix(const builder *b, int32_t rows, int32_t nodes, tl_csr *m, tl_arena *a, talus_error *err)
{
    const int64_t n = b->count;
    uint64_t *key = TL_TAKE(a, uint64_t, 2 * n + 1);
    int32_t *order = TL_TAKE(a, int32_t, 2 * n + 1);
    *m = (tl_csr){rows, 3 * nodes, TL_TAKE_ZERO(a, int64_t, (int64_t)rows + 1), TL_TAKE(a, int32_t, 3 * n + 1),
                  TL_TAKE(a, double, 3 * n + 1)};
    if (!key || !order || !m->start || !m->col || !m->val) return no_memory(err);
    for (int64_t i = 0; i < n; i++) {
        key[i] = (uint64_t)b->of[i].cell << 32 | (uint32_t)b->of[i].node;
        order[i] = (int32_t)i;
    }
    tl_radix_sort(n, key, order, key + n, order + n);
    int64_t at = -3;
    for (int64_t i = 0; i < n; i++) {
        const entry *e = &b->of[order[i]];
        if (i == 0 || key[i] != key[i - 1]) {
            at += 3;
            for (int k = 0; k < 3; k++) m->col[at + k] = 3 * e->node + k, m->val[at + k] = 0;
            m->start[e->cell + 1] += 3;
        }
        for (int k = 0; k < 3; k++) m->val[at + k] += get(e->weight, k);
    }
    for (int32_t i = 0; i < rows; i++) m->start[i + 1] += m->start[i];
    return TALUS_OK;
}

talus_status tl_soft_transpose(tl_csr *T, const tl_csr *A, tl_arena *a, talus_error *err)
{
    const int64_t n = A->start[A->rows];
    int64_t *start = TL_TAKE_ZERO(a, int64_t, (int64_t)A->cols + 2);
    *T = (tl_csr){A->cols, A->rows, start, TL_TAKE(a, int32_t, n + 1), TL_TAKE(a, double, n + 1)};
    if (!start || !T->col || !T->val) return no_memory(err);
    for (int64_t k = 0; k < n; k++) start[A->col[k] + 2]++;
    for (int32_t j = 0; j < A->cols; j++) start[j + 2] += start[j + 1];
    /* start[j + 1] runs along row j and ends where the next begins */
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            int64_t at = start[A->col[k] + 1]++;
            T->col[at] = i;
            T->val[at] = A->val[k];
        }
    return TALUS_OK;
}

static talus_status run(builder *b, tl_arena *a, talus_error *err)
{
    for (int32_t k = 0; k < b->d->skins->count; k++) {
        b->skin = &b->d->skins->skin[k];
        if (!b->skin->lg) continue;
        size_t mark = tl_arena_mark(a);
        TL_TRY(sort_nodes(b, a, err));
        const bool all = b->rows == TO_AXES;
        if (all || (b->out && b->d->form != TL_SOFT_COMPLEMENT)) press_pieces(b);
        if (all || !b->out || b->d->form != TL_SOFT_CUT) couple_faces(b);
        tl_arena_release(a, mark);
    }
    return TALUS_OK;
}

static int32_t nodes_of(const tl_skins *s)
{
    int32_t nodes = 0;
    for (int32_t k = 0; k < s->count; k++)
        if (s->skin[k].lg) nodes = s->skin[k].lg->nodes;
    return nodes;
}

talus_status tl_soft_build(tl_soft *out, const tl_soft_domain *d, tl_arena *a, talus_error *err)
{
    *out = (tl_soft){.nodes = nodes_of(d->skins)};
    out->offset = TL_TAKE_ZERO(a, double, 3 * (int64_t)out->nodes + 1);
    if (!out->offset) return no_memory(err);
    builder b = {.d = d, .out = out};
    TL_TRY(run(&b, a, err)); /* counts, at most */
    b.room = b.count;
    b.count = 0;
    if (!(b.of = TL_TAKE(a, entry, b.room + 1))) return no_memory(err);
    TL_TRY(run(&b, a, err));
    if (d->plain) memset(out->offset, 0, sizeof *out->offset * 3 * (size_t)out->nodes);
    TL_TRY(make_matrix(&b, d->system->c.cells, out->nodes, &out->Ft, a, err));
    return tl_soft_transpose(&out->F, &out->Ft, a, err);
}

static talus_status build_rows(builder *b, int32_t rows, tl_csr *out, tl_arena *a, talus_error *err)
{
    TL_TRY(run(b, a, err)); /* counts, at most */
    b->room = b->count;
    b->count = 0;
    if (!(b->of = TL_TAKE(a, entry, b->room + 1))) return no_memory(err);
    TL_TRY(run(b, a, err));
    return make_matrix(b, rows, nodes_of(b->d->skins), out, a, err);
}

talus_status tl_soft_faces(tl_csr *J, const tl_soft_domain *d, tl_arena *a, talus_error *err)
{
    builder b = {.d = d, .rows = TO_FACES};
    return build_rows(&b, d->system->c.faces, J, a, err);
}

talus_status tl_soft_surface(tl_csr *C, const tl_soft_domain *d, tl_arena *a, talus_error *err)
{
    builder b = {.d = d, .rows = TO_AXES};
    return build_rows(&b, 3 * d->system->c.cells, C, a, err);
}
