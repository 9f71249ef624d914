#include "model/grid/fractions.h"

#include <string.h>

#include "base/parallel.h"
#include "model/grid/eighths.h"

#define LATTICE_MAX (19 * 19 * 19)
#define CELLS_MAX (10 * 10 * 10)
#define NEAR 0.8661 /* half the diagonal of a cell, in cells: no surface inside when the centre is further from it */
#define DEEP 3      /* cells: no unknown is that far inside a solid */
#define SNAP 1e-9   /* cells: a face within this of a surface that it lies in is behind it */
#define SHARP 0.95  /* mean slope of a distance across an eighth: a ball of four cells has 0.998, an edge 0.7 */
#define BATCH_TASKS 256 /* dense weights of this many (body, block) pairs at once, 16 kB each */

enum { OUTSIDE, INSIDE, CUT };

/* One body, or all static ones together, around one block. Lattice: corners of eighths, index 0 half a cell before
 * the block. */
typedef struct sampled {
    const tl_solids *s;
    const tl_grid *g;
    int32_t block, body; /* body -1: nearest of the static ones */
    double corner[3], h; /* of the block, m; dx/2 */
    int32_t lattice[3], cells[3];
    double at_corner[LATTICE_MAX]; /* NaN: not asked yet */
    uint8_t state[CELLS_MAX];      /* cells from -1 on */
    bool deep[CELLS_MAX];
    tl_eighths parts;
} sampled;

/* Weights of one solid in one block: of cells, then of the faces of each axis, then of the kernels of cells. */
enum { KERNEL = 4, WEIGHTS };
typedef struct weights {
    int32_t block, body;
    bool soft; /* of an elastic body: it is in no list of covers */
    double w[WEIGHTS][512];
    bool deep[512];
} weights;

static double distance_at(const sampled *q, double x, double y, double z)
{
    tl_vec3 p = {q->corner[0] + x * q->h, q->corner[1] + y * q->h, q->corner[2] + z * q->h};
    if (q->body >= 0) return tl_solid_distance(q->s, q->body, p, NULL);
    double least = INFINITY;
    for (int32_t i = q->s->start[q->block]; i < q->s->start[q->block + 1]; i++)
        if (q->s->solid[q->s->of[i]].kind == TL_BODY_STATIC)
            least = fmin(least, tl_solid_distance(q->s, q->s->of[i], p, NULL));
    return least;
}

static double corner_at(sampled *q, int32_t x, int32_t y, int32_t z)
{
    double *d = &q->at_corner[(x * q->lattice[1] + y) * q->lattice[2] + z];
    if (isnan(*d)) *d = distance_at(q, x - 1, y - 1, z - 1);
    return *d;
}

/* The plane with the mean value over the eighth: (2 centre + corners) / 3 is the mean of anything quadratic. Edges
 * have no plane, and their mean slope is less than one: there an eighth with all corners on one side is all on that
 * side. */
static double cut_eighth(sampled *q, int32_t x, int32_t y, int32_t z)
{
    double v[8], sum = 0, g[3] = {0, 0, 0}, least = INFINITY, max = -INFINITY;
    for (int k = 0; k < 8; k++) {
        v[k] = corner_at(q, x + (k >> 2), y + (k >> 1 & 1), z + (k & 1));
        sum += v[k];
        least = fmin(least, v[k]);
        max = fmax(max, v[k]);
    }
    for (int k = 0; k < 8; k++)
        for (int j = 0; j < 3; j++) g[j] += (k >> (2 - j) & 1 ? 0.25 : -0.25) * v[k];
    if (g[0] * g[0] + g[1] * g[1] + g[2] * g[2] < SHARP * SHARP * q->h * q->h) {
        if (max <= SNAP * 2 * q->h) return 1;
        if (least >= -SNAP * 2 * q->h) return 0;
    }
    double c = (2 * distance_at(q, x - 0.5, y - 0.5, z - 0.5) + 0.125 * sum) / 3;
    return tl_plane_in_cube(c, g);
}

static void sample_cell(sampled *q, int32_t x, int32_t y, int32_t z)
{
    int32_t cell = ((x + 1) * q->cells[1] + y + 1) * q->cells[2] + z + 1;
    double d = distance_at(q, 2 * x + 1, 2 * y + 1, 2 * z + 1), near = NEAR * 2 * q->h;
    q->state[cell] = d > near ? OUTSIDE : d < -near ? INSIDE : CUT;
    q->deep[cell] = d < -DEEP * 2 * q->h;
    for (int k = 0; k < 8; k++) {
        int32_t u = 2 * x + 1 + (k >> 2), v = 2 * y + 1 + (k >> 1 & 1), w = 2 * z + 1 + (k & 1);
        if (u < 0 || v < 0 || w < 0 || u >= q->parts.n[0] || v >= q->parts.n[1] || w >= q->parts.n[2]) continue;
        q->parts.part[(u * q->parts.n[1] + v) * q->parts.n[2] + w] =
            q->state[cell] == CUT ? cut_eighth(q, u, v, w) : q->state[cell];
    }
}

static void sample_block(sampled *q, const tl_solids *s, const tl_grid *g, int32_t block, int32_t body)
{
    q->s = s;
    q->g = g;
    q->block = block;
    q->body = body;
    q->h = 0.5 * g->f.dx;
    const double origin[3] = {g->f.origin.x, g->f.origin.y, g->f.origin.z};
    for (int k = 0; k < 3; k++) {
        q->corner[k] = origin[k] + g->corner[block][k] * g->f.dx;
        q->lattice[k] = 2 * g->f.edge[k] + 3;
        q->cells[k] = g->f.edge[k] + 2;
    }
    tl_eighths_begin(g, &q->parts);
    memset(q->at_corner, 0xff, sizeof q->at_corner); /* NaN */
    for (int32_t x = -1; x <= g->f.edge[0]; x++)
        for (int32_t y = -1; y <= g->f.edge[1]; y++)
            for (int32_t z = -1; z <= g->f.edge[2]; z++) sample_cell(q, x, y, z);
}

/* Covered part of the lower face of a cell: four squares. */
static double cut_face(sampled *q, const uint8_t at[3], int axis)
{
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        double v[4];
        for (int m = 0; m < 4; m++) {
            int32_t l[3];
            l[axis] = 2 * at[axis] + 1;
            l[i] = 2 * at[i] + 1 + (k >> 1) + (m >> 1);
            l[j] = 2 * at[j] + 1 + (k & 1) + (m & 1);
            v[m] = corner_at(q, l[0], l[1], l[2]);
        }
        double c = 0.25 * (v[0] + v[1] + v[2] + v[3]);
        const double g[2] = {0.5 * (v[2] + v[3] - v[0] - v[1]), 0.5 * (v[1] + v[3] - v[0] - v[2])};
        bool in_plane = fabs(c) + fabs(g[0]) + fabs(g[1]) < SNAP * 2 * q->h;
        sum += in_plane ? 1 : tl_plane_in_square(c, g);
    }
    return 0.25 * sum;
}

static double face_area(sampled *q, const uint8_t at[3], int axis)
{
    int32_t step[3] = {q->cells[1] * q->cells[2], q->cells[2], 1};
    int32_t cell = ((at[0] + 1) * q->cells[1] + at[1] + 1) * q->cells[2] + at[2] + 1;
    if (q->state[cell] != CUT) return q->state[cell];
    if (q->state[cell - step[axis]] != CUT) return q->state[cell - step[axis]];
    return cut_face(q, at, axis);
}

static void weigh(sampled *q, tl_weight_family family, weights *out)
{
    for (int32_t p = 0; p < q->g->f.size; p++) {
        const uint8_t *at = q->g->place[p];
        out->deep[p] = q->deep[((at[0] + 1) * q->cells[1] + at[1] + 1) * q->cells[2] + at[2] + 1];
        out->w[0][p] = tl_eighths_cell(&q->parts, at);
        out->w[KERNEL][p] = tl_eighths_kernel(&q->parts, at);
        for (int k = 0; k < 3; k++)
            out->w[1 + k][p] = family == TL_WEIGHT_AREA ? face_area(q, at, k) : tl_eighths_face(&q->parts, at, k);
    }
}

/* ---- elastic bodies ---- */

static double within(double part) { return part < SNAP ? 0 : part > 1 - SNAP ? 1 : part; }

double tl_skin_weight(const tl_clip *c, tl_weight_family family, int axis, const int32_t cell[3])
{
    const int64_t at = tl_clip_cell(c, cell);
    if (at >= 0 && c->sealed[axis] && c->sealed[axis][at]) return 1;
    if (family == TL_WEIGHT_AREA) return at < 0 ? 0 : within(c->area[axis][at]);
    double sum = 0;
    for (int k = 0; k < 8; k++) {
        int32_t cube[3] = {2 * cell[0] + (k >> 2), 2 * cell[1] + (k >> 1 & 1), 2 * cell[2] + (k & 1)};
        cube[axis]--;
        sum += 0.125 * within(tl_clip_cube(c, cube[0], cube[1], cube[2]));
    }
    return within(sum);
}

static void skin_eighths(const tl_grid *g, const tl_clip *c, int32_t block, tl_eighths *out)
{
    const int32_t *corner = g->corner[block];
    tl_eighths_begin(g, out);
    for (int32_t x = 0, i = 0; x < out->n[0]; x++)
        for (int32_t y = 0; y < out->n[1]; y++)
            for (int32_t z = 0; z < out->n[2]; z++)
                out->part[i++] =
                    within(tl_clip_cube(c, 2 * corner[0] + x - 1, 2 * corner[1] + y - 1, 2 * corner[2] + z - 1));
}

/* Weights of a cut surface in a block. */
static void weigh_skin(const tl_grid *g, const tl_clip *c, int32_t block, tl_weight_family family, weights *out)
{
    tl_eighths parts;
    const int32_t *corner = g->corner[block];
    skin_eighths(g, c, block, &parts);
    for (int32_t p = 0; p < g->f.size; p++) {
        const uint8_t *at = g->place[p];
        int32_t cell[3];
        for (int k = 0; k < 3; k++) cell[k] = corner[k] + at[k];
        out->w[0][p] = tl_eighths_cell(&parts, at);
        out->w[KERNEL][p] = tl_eighths_kernel(&parts, at);
        for (int k = 0; k < 3; k++) out->w[1 + k][p] = tl_skin_weight(c, family, k, cell);
    }
}

/* ---- walls ---- */

static double clean(double f) { return f < SNAP ? 0 : f > 1 - SNAP ? 1 : f; }

/* Part of [from, from + length] along an axis that lies beyond closed walls. */
static double beyond(const tl_solids *s, int axis, double from, double length)
{
    const double lo[3] = {s->box.lo.x, s->box.lo.y, s->box.lo.z}, hi[3] = {s->box.hi.x, s->box.hi.y, s->box.hi.z};
    double f = 0;
    if (s->wall[2 * axis]) f += clean((lo[axis] - from) / length);
    if (s->wall[2 * axis + 1]) f += clean((from + length - hi[axis]) / length);
    return fmin(f, 1);
}

/* What walls add to w: exact, a box of dx around each place is cut by planes along axes. False: none near. */
static bool add_walls(const tl_solids *s, const tl_grid *g, int32_t block, tl_weight_family family, double (*w)[512])
{
    double part[3][18]; /* of halves of cells, as in tl_eighths */
    bool plane[3][9];   /* a face of that axis, first to last, is in or behind a wall */
    bool any = false;
    double h = 0.5 * g->f.dx;
    const double origin[3] = {g->f.origin.x, g->f.origin.y, g->f.origin.z};
    const double lo[3] = {s->box.lo.x, s->box.lo.y, s->box.lo.z}, hi[3] = {s->box.hi.x, s->box.hi.y, s->box.hi.z};
    for (int k = 0; k < 3; k++) {
        double corner = origin[k] + g->corner[block][k] * g->f.dx;
        for (int32_t i = 0; i < 2 * g->f.edge[k] + 2; i++) {
            part[k][i] = beyond(s, k, corner + (i - 1) * h, h);
            any |= part[k][i] > 0;
        }
        for (int32_t i = 0; i < g->f.edge[k]; i++) {
            double x = corner + 2 * i * h, slack = SNAP * 2 * h;
            plane[k][i] = (s->wall[2 * k] && x <= lo[k] + slack) || (s->wall[2 * k + 1] && x >= hi[k] - slack);
            any |= plane[k][i];
        }
    }
    if (!any) return false;
    for (int32_t p = 0; p < g->f.size; p++)
        for (int m = 0; m < 4; m++) { /* m: 0 cell, 1.. face */
            double clear = 1;
            for (int k = 0; k < 3; k++) {
                int32_t at = g->place[p][k], first = 2 * at + (k != m - 1);
                if (k == m - 1 && family == TL_WEIGHT_AREA)
                    clear *= !plane[k][at];
                else
                    clear *= 1 - 0.5 * (part[k][first] + part[k][first + 1]);
            }
            double full = w[m][p] + 1 - clear;
            w[m][p] = full < 1 ? full : 1;
        }
    for (int32_t p = 0; p < g->f.size; p++) {
        double clear = 1;
        for (int k = 0; k < 3; k++) {
            const double *half = &part[k][2 * g->place[p][k]];
            clear *= 1 - 0.125 * (half[0] + half[3]) - 0.375 * (half[1] + half[2]);
        }
        double full = w[KERNEL][p] + 1 - clear;
        w[KERNEL][p] = full < 1 ? full : 1;
    }
    return true;
}

/* ---- one block, all of its solids ---- */

static void fix_block(const tl_solids *s, const tl_grid *g, int32_t b, tl_fractions *out)
{
    double w[WEIGHTS][512] = {{0}};
    bool bodies = false;
    for (int32_t i = s->start[b]; i < s->start[b + 1]; i++) bodies |= s->solid[s->of[i]].kind == TL_BODY_STATIC;
    if (bodies) {
        sampled q;
        weights one;
        sample_block(&q, s, g, b, -1);
        weigh(&q, out->family, &one);
        memcpy(w, one.w, sizeof w);
    }
    add_walls(s, g, b, out->family, w);
    for (int32_t p = 0; p < g->f.size; p++) {
        out->solid_cell[b * g->f.size + p] = w[0][p];
        out->solid_kernel[b * g->f.size + p] = w[KERNEL][p];
        for (int k = 0; k < 3; k++) out->fixed[k][b * g->f.size + p] = w[1 + k][p];
    }
}

static void open_block(const tl_grid *g, int32_t b, tl_fractions *out)
{
    for (int32_t i = b * g->f.size; i < (b + 1) * g->f.size; i++) {
        out->solid_cell[i] = out->solid_kernel[i] = 0;
        for (int k = 0; k < 3; k++) {
            out->open[k][i] = 1;
            out->fixed[k][i] = 0;
            if (out->soft[k]) out->soft[k][i] = 0;
        }
    }
}

/* Sum to one: what is open is what nobody covers; too much cover is scaled back, and next to none open is closed. */
static void share_block(const tl_grid *g, int32_t b, int32_t count, weights *of, tl_fractions *out)
{
    for (int32_t p = 0; p < g->f.size; p++) {
        int32_t cell = b * g->f.size + p;
        for (int k = 0; k < 3; k++)
            if (out->soft[k]) out->soft[k][cell] = 0;
        double full = out->solid_cell[cell];
        for (int32_t i = 0; i < count; i++) full += of[i].w[0][p];
        out->solid_cell[cell] = full < 1 ? full : 1;
        full = out->solid_kernel[cell];
        for (int32_t i = 0; i < count; i++) full += of[i].w[KERNEL][p];
        out->solid_kernel[cell] = full < 1 ? full : 1;
        for (int k = 0; k < 3; k++) {
            double sum = out->fixed[k][cell];
            for (int32_t i = 0; i < count; i++) sum += of[i].w[1 + k][p];
            bool closed = !(1 - sum >= TL_OPEN_FLOOR);
            out->open[k][cell] = closed ? 0 : 1 - sum;
            if (closed) out->fixed[k][cell] /= sum;
            for (int32_t i = 0; i < count && closed; i++) of[i].w[1 + k][p] /= sum;
            for (int32_t i = 0; i < count && out->soft[k]; i++)
                if (of[i].soft) out->soft[k][cell] += of[i].w[1 + k][p];
        }
    }
}

/* ---- lists ---- */

typedef struct cover {
    int32_t row, face; /* 3 body + axis */
    double weight;
} cover;

typedef struct chunk {
    struct chunk *next;
    int64_t count;
    cover *of;
} chunk;

static int64_t count_covers(const tl_grid *g, const weights *w)
{
    int64_t n = 0;
    if (w->soft) return 0;
    for (int k = 0; k < 3; k++)
        for (int32_t p = 0; p < g->f.size; p++) n += w->w[1 + k][p] > 0 && !w->deep[p];
    return n;
}

static void write_covers(const tl_grid *g, const weights *w, cover *out)
{
    if (w->soft) return;
    for (int k = 0; k < 3; k++)
        for (int32_t p = 0; p < g->f.size; p++)
            if (w->w[1 + k][p] > 0 && !w->deep[p])
                *out++ = (cover){3 * w->body + k, w->block * g->f.size + p, w->w[1 + k][p]};
}

static talus_status keep_covers(const tl_grid *g, int32_t tasks, const weights *w, tl_arena *a, chunk ***end,
                                talus_error *err)
{
    int64_t at[BATCH_TASKS + 1], total = 0;
    for (int32_t first = 0; first < tasks; first += BATCH_TASKS) {
        int32_t n = tasks - first < BATCH_TASKS ? tasks - first : BATCH_TASKS;
        total = 0;
        for (int32_t i = 0; i < n; i++) {
            at[i] = total;
            total += count_covers(g, &w[first + i]);
        }
        chunk *c = TL_TAKE(a, chunk, 1);
        cover *of = TL_TAKE(a, cover, total);
        if (!c || !of) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld covered faces", (long long)total);
#pragma omp parallel for schedule(static) if (n > 8)
        for (int32_t i = 0; i < n; i++) write_covers(g, &w[first + i], of + at[i]);
        *c = (chunk){NULL, total, of};
        **end = c;
        *end = &c->next;
    }
    return TALUS_OK;
}

static talus_status list_covers(const chunk *first, int32_t bodies, tl_arena *a, tl_covers *out, talus_error *err)
{
    *out = (tl_covers){.bodies = bodies, .start = TL_TAKE_ZERO(a, int64_t, 3 * (int64_t)bodies + 2)};
    if (!out->start) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for covered faces of %d bodies", (int)bodies);
    int64_t *start = out->start, total = 0;
    for (const chunk *c = first; c; c = c->next) {
        total += c->count;
        for (int64_t i = 0; i < c->count; i++) start[c->of[i].row + 2]++;
    }
    out->face = TL_TAKE(a, int32_t, total);
    out->weight = TL_TAKE(a, double, total);
    if (!out->face || !out->weight)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld covered faces", (long long)total);
    /* start[r + 1] runs along row r and ends where the next begins */
    for (int32_t r = 0; r < 3 * bodies; r++) start[r + 2] += start[r + 1];
    for (const chunk *c = first; c; c = c->next)
        for (int64_t i = 0; i < c->count; i++) {
            int64_t at = start[c->of[i].row + 1]++;
            out->face[at] = c->of[i].face;
            out->weight[at] = c->of[i].weight;
        }
    return TALUS_OK;
}

static int32_t moving_in(const tl_solids *s, int32_t block)
{
    int32_t n = 0;
    for (int32_t i = s->start[block]; i < s->start[block + 1]; i++) n += s->solid[s->of[i]].kind != TL_BODY_STATIC;
    return n;
}

/* Blocks first .. last with their bodies' tasks: weights, then shares. task_of: first task of each of these blocks. */
static void weigh_blocks(const tl_solids *s, const tl_grid *g, int32_t first, int32_t last, const int32_t *task_of,
                         weights *task, tl_fractions *out)
{
#pragma omp parallel for schedule(dynamic) if (last - first > 1)
    for (int32_t b = first; b < last; b++) {
        if (!tl_solids_touch(s, g, b)) {
            open_block(g, b, out);
            continue;
        }
        fix_block(s, g, b, out);
        int32_t n = 0;
        weights *mine = task + task_of[b - first];
        for (int32_t i = s->start[b]; i < s->start[b + 1]; i++) {
            int32_t body = s->of[i];
            if (s->solid[body].kind == TL_BODY_STATIC) continue;
            const tl_skin *skin = s->solid[body].skin;
            if (skin) {
                weigh_skin(g, skin->clip, b, out->family, &mine[n]);
            } else {
                sampled q;
                sample_block(&q, s, g, b, body);
                weigh(&q, out->family, &mine[n]);
            }
            mine[n].soft = skin != NULL;
            mine[n].block = b;
            mine[n++].body = body;
        }
        share_block(g, b, n, mine, out);
    }
}

talus_status tl_solid_fractions(const tl_grid *g, const tl_solids *s, tl_weight_family family, tl_arena *a,
                                tl_fractions *out, talus_error *err)
{
    *out = (tl_fractions){
        .family = family, .solid_cell = TL_TAKE(a, double, g->cells), .solid_kernel = TL_TAKE(a, double, g->cells)};
    bool good = out->solid_cell != NULL && out->solid_kernel != NULL;
    for (int k = 0; k < 3; k++) {
        good &= (out->open[k] = TL_TAKE(a, double, g->cells)) != NULL;
        good &= (out->fixed[k] = TL_TAKE(a, double, g->cells)) != NULL;
    }
    bool bends = false;
    for (int32_t k = 0; k < s->count; k++) bends |= s->solid[k].skin != NULL;
    for (int k = 0; k < 3 && bends; k++) good &= (out->soft[k] = TL_TAKE(a, double, g->cells)) != NULL;
    int32_t max = BATCH_TASKS;
    for (int32_t b = 0; b < g->blocks; b++) max = moving_in(s, b) > max ? moving_in(s, b) : max;
    bool moving = false;
    for (int32_t k = 0; k < s->count; k++) moving |= s->solid[k].kind != TL_BODY_STATIC;
    weights *task = TL_TAKE(a, weights, moving ? max : 0);
    int32_t *task_of = TL_TAKE(a, int32_t, g->blocks + 1);
    if (!good || !task || !task_of)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for solid fractions of %lld cells", (long long)g->cells);

    chunk *chunks = NULL, **end = &chunks;
    for (int32_t first = 0, last; first < g->blocks; first = last) {
        int32_t tasks = 0;
        for (last = first; last < g->blocks && tasks + moving_in(s, last) <= max; last++) {
            task_of[last - first] = tasks;
            tasks += moving_in(s, last);
        }
        weigh_blocks(s, g, first, last, task_of, task, out);
        TL_TRY(keep_covers(g, tasks, task, a, &end, err));
    }
    open_block(g, g->blocks, out); /* the ghost */
    return list_covers(chunks, s->count, a, &out->covers, err);
}

/* ---- edges ---- */

static void add_edges(const tl_grid *g, int32_t block, const tl_eighths *parts, double *const out[3])
{
    for (int32_t p = 0; p < g->f.size; p++)
        for (int k = 0; k < 3; k++) out[k][block * g->f.size + p] += tl_eighths_edge(parts, g->place[p], k);
}

static void add_wall_edges(const tl_solids *s, const tl_grid *g, int32_t block, double *const out[3])
{
    const double h = 0.5 * g->f.dx, origin[3] = {g->f.origin.x, g->f.origin.y, g->f.origin.z};
    for (int32_t p = 0; p < g->f.size; p++)
        for (int m = 0; m < 3; m++) {
            double clear = 1;
            for (int k = 0; k < 3; k++) {
                int32_t first = 2 * (g->corner[block][k] + g->place[p][k]) - (k != m);
                clear *= 1 - beyond(s, k, origin[k] + first * h, 2 * h);
            }
            double full = out[m][block * g->f.size + p] + 1 - clear;
            out[m][block * g->f.size + p] = full < SNAP ? 0 : fmin(full, 1);
        }
}

talus_status tl_solid_edges(const tl_grid *g, const tl_solids *s, tl_arena *a, double *out[3], talus_error *err)
{
    for (int k = 0; k < 3; k++)
        if (!(out[k] = TL_TAKE_ZERO(a, double, g->cells)))
            return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for solid fractions of edges");
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) {
        if (!tl_solids_touch(s, g, b)) continue;
        for (int32_t i = s->start[b]; i < s->start[b + 1]; i++) {
            const tl_skin *skin = s->solid[s->of[i]].skin;
            sampled q;
            if (skin)
                skin_eighths(g, skin->clip, b, &q.parts);
            else
                sample_block(&q, s, g, b, s->of[i]);
            add_edges(g, b, &q.parts, out);
        }
        add_wall_edges(s, g, b, out);
    }
    return TALUS_OK;
}
