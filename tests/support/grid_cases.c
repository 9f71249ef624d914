#include "grid_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "grid.h"
#include "model/grid/emit.h"
#include "model/grid/extrapolate.h"
#include "model/grid/owners.h"
#include "model/grid/pieces.h"
#include "together.h"

/* ---- C8: cuts ---- */

/* Cubes of a ball, or of a slab and a drop: weights as particles fall. */
static int64_t make_cubes(const tl_owners *o, int shape, int32_t edge, tl_cube *out)
{
    int64_t n = 0;
    for (int32_t x = 0; x < edge; x++)
        for (int32_t y = 0; y < edge; y++)
            for (int32_t z = 0; z < edge; z++) {
                const double c[3] = {(x + 0.5) / edge - 0.5, (y + 0.5) / edge - 0.5, (z + 0.5) / edge - 0.5};
                const bool in = shape ? z < edge / 3 || (x < edge / 4 && z < edge / 2)
                                      : c[0] * c[0] + c[1] * c[1] + c[2] * c[2] < 0.25;
                const int32_t block[3] = {x - edge / 2, y + 3, z};
                if (in)
                    out[n++] = (tl_cube){tl_owners_number(o, block), 4096 - (int64_t)((x * 7 + y * 3 + z) % 5) * 300};
            }
    return n;
}

static const char *cuts(const tl_comm *c)
{
    tl_arena a = {0};
    tl_owners *o;
    tl_cut cut, again;
    GOOD(tl_owners_make(&o, c, &err));
    if (!o) return c->parts == 1 ? NULL : "no owners";
    for (int shape = 0; shape < 2; shape++) {
        tl_arena_reset(&a);
        tl_cube *all = TL_TAKE(&a, tl_cube, 16 * 16 * 16), *mine = TL_TAKE(&a, tl_cube, 16 * 16 * 16);
        const int64_t n = make_cubes(o, shape, 16, all);
        int64_t count = 0, own = 0, total = 0;
        /* whoever knows of a cube: here everyone of some, in any order, some in two entries */
        for (int64_t i = n - 1; i >= 0; i--)
            if (i * 7919 % c->parts == c->part) {
                mine[count++] = (tl_cube){all[i].number, all[i].weight - 100};
                mine[count++] = (tl_cube){all[i].number, 100};
            }
        GOOD(tl_owners_cut(o, count / 2 * 2 < count ? count : count, mine, &a, &cut, &err));
        int64_t splitter[TL_COMM_PARTS_MAX + 1];
        memcpy(splitter, o->splitter, sizeof *splitter * (size_t)(c->parts + 1));
        /* every block has one owner, and that is where its range says */
        for (int32_t p = 0; p < c->parts; p++)
            if (splitter[p] > splitter[p + 1]) return "ranges of parts do not rise";
        for (int64_t i = 0; i < n; i++) {
            total += all[i].weight;
            if (all[i].number >= splitter[c->part] && all[i].number < splitter[c->part + 1]) own += all[i].weight;
        }
        if (cut.total != total || (int64_t)tl_comm_sum(c, (double)own) != total) return "weights are lost";
        if ((int64_t)tl_comm_max(c, (double)own) != cut.most) return "the heaviest part is another one";
        const double each = (double)cut.cubes / c->parts, most = each >= 30 ? 1.05 : each >= 12 ? 1.1 : 2;
        if (!(cut.imbalance <= most)) SAY("%g cubes per part: imbalance %g", each, cut.imbalance);
        /* a function of counts alone: told by another part */
        GOOD(tl_owners_cut(o, c->part == c->parts - 1 ? n : 0, all, &a, &again, &err));
        if (memcmp(splitter, o->splitter, sizeof *splitter * (size_t)(c->parts + 1)))
            return "the same counts, another cut";
        GOOD(tl_owners_weigh(o, c->part == 0 ? n : 0, all, &a, &again, &err));
        if (again.most != cut.most || again.total != cut.total) return "weighed, the cut is another one";
    }
    tl_arena_free(&a);
    tl_owners_free(o);
    return NULL;
}

/* ---- one part beside several ---- */

typedef struct both {
    tl_owners *owners;
    grid_case one, part;
} both;

static const char *open_both(const tl_comm *c, const char *text, both *b)
{
    GOOD(tl_owners_make(&b->owners, c, &err));
    GOOD(grid_try_open(&b->one, NULL, text, &err));
    GOOD(grid_try_open(&b->part, b->owners, text, &err));
    return NULL;
}

static void close_both(both *b)
{
    grid_close(&b->one);
    grid_close(&b->part);
    tl_owners_free(b->owners);
}

static tl_particles *particles_of(grid_case *c) { return &tl_grid_state_of(&c->state)->particles; }

/* Own blocks are some of those of one part, all parts have all of them, and the halo is those beside. */
static const char *same_blocks(const tl_comm *c, const both *b)
{
    const tl_grid *g = &b->part.g, *all = &b->one.g;
    GOOD(tl_grid_check(g, &err));
    if ((int32_t)tl_comm_sum(c, g->owned) != all->blocks)
        SAY("%d blocks of all parts, not %d", (int)tl_comm_sum(c, g->owned), all->blocks);
    for (int32_t k = 0; k < g->blocks; k++) {
        const int32_t there = tl_grid_find(all, g->key[k]);
        if (there == all->blocks) return "a block that one part has not";
        const int32_t part = tl_owners_part_of_key(b->owners, (uint64_t)g->key[k] << TL_GRID_PLACE_BITS);
        if (part != (k < g->owned ? c->part : g->halo_part[k - g->owned])) return "a block of another owner";
        for (int m = 0; m < 27 && k < g->owned; m++)
            if ((all->near[there][m] == all->blocks) != (g->near[k][m] == g->blocks))
                return "a neighbour is not in the halo";
    }
    return NULL;
}

/* Values of own cells are those of one part, to `tol` of the largest; those of the halo their owners', bit for bit. */
static const char *same_field(const both *b, const char *name, const double *one, const double *part, double tol)
{
    const tl_grid *g = &b->part.g, *all = &b->one.g;
    const int64_t exist = (int64_t)g->blocks * g->f.size;
    double largest = 0, off = 0;
    for (int64_t i = 0; i < all->cells; i++)
        if (isfinite(one[i])) largest = fmax(largest, fabs(one[i]));
    for (int32_t k = 0; k < g->owned; k++) {
        const int32_t there = tl_grid_find(all, g->key[k]);
        for (int32_t p = 0; p < g->f.size; p++) {
            const double x = part[k * g->f.size + p], y = one[there * all->f.size + p];
            if (x != y && !(fabs(x - y) <= off)) off = fabs(x - y);
        }
    }
    double *copy = TL_NEW(double, g->cells);
    memcpy(copy, part, sizeof *copy * (size_t)g->cells);
    tl_grid_refresh(g, sizeof *copy, copy);
    const bool same = !memcmp(copy, part, sizeof *copy * (size_t)exist);
    tl_free(copy);
    if (!(off <= tol * largest)) SAY("%s: off by %g of %g", name, off, largest);
    if (!same) SAY("%s: the halo has not its owners' values", name);
    return NULL;
}

static const char *same_bytes(const both *b, const char *name, const uint8_t *one, const uint8_t *part)
{
    double *x = TL_NEW(double, b->one.g.cells), *y = TL_NEW(double, b->part.g.cells);
    for (int64_t i = 0; i < b->one.g.cells; i++) x[i] = one[i];
    for (int64_t i = 0; i < b->part.g.cells; i++) y[i] = part[i];
    const char *w = same_field(b, name, x, y, 0);
    tl_free(x);
    tl_free(y);
    return w;
}

static const char *same_floats(const both *b, const char *name, const float *one, const float *part)
{
    double *x = TL_NEW(double, b->one.g.cells), *y = TL_NEW(double, b->part.g.cells);
    for (int64_t i = 0; i < b->one.g.cells; i++) x[i] = (double)one[i];
    for (int64_t i = 0; i < b->part.g.cells; i++) y[i] = (double)part[i];
    const char *w = same_field(b, name, x, y, 0);
    tl_free(x);
    tl_free(y);
    return w;
}

/* ---- C9: particles ---- */

#define LUMPS                                                                                                          \
    "grid = { cells = {48, 32, 32}, cell = 0.1, %s }, domain = { friction = 0 }, fill = { { material = water, shape "  \
    "= "                                                                                                               \
    "sphere { center = {1.2, 1.2, 1.2}, radius = 0.63 } }, { material = heavy, shape = box { center = {3.15, 1.4, "    \
    "2.25}, size = 0.6 } } }"

/* A stir of all and a shake of each, up to three cells in a step; blocks come and go. */
static void stir(grid_case *c, int step)
{
    tl_particles *p = particles_of(c);
    for (int64_t i = 0; i < p->count; i++) {
        tl_particle *q = &p->particle[i];
        double r[12];
        for (int k = 0; k < 12; k++) r[k] = 2 * tl_random(7 + (uint64_t)step, (uint64_t)q->id, (uint64_t)k) - 1;
        const tl_vec3 x = {q->x.x - 2.4, q->x.y - 1.6, q->x.z - 1.6};
        q->x.x += 0.12 * (r[0] - 0.5 * x.y - 0.5 * x.x);
        q->x.y += 0.12 * (r[1] + 0.5 * x.x - 0.5 * x.y);
        q->x.z += 0.12 * (r[2] - x.z);
        q->v = tl_vec3_load(r + 3);
        for (int k = 0; k < 9; k++) q->C.m[k / 3][k % 3] = 10 * r[3 + k];
    }
}

static const char *check_particles(const tl_comm *c, both *b)
{
    const tl_particles *p = &b->part.sorted, *all = &b->one.sorted;
    double sums[4] = {0, 0, 0, 0}, right[4] = {0, 0, 0, 0};
    for (int64_t i = 0; i < p->count; i++) {
        tl_vec3 x = p->particle[i].x;
        int32_t cell[3];
        if (!tl_particle_locate(&b->part.f, &b->part.scene->domain, &x, cell)) return "a particle is nowhere";
        if (tl_owners_part_of_key(b->owners, tl_grid_key(&b->part.f, cell)) != c->part)
            return "a particle of another part";
        sums[0]++;
        sums[1] += p->particle[i].id;
        sums[2] += (double)p->particle[i].id * p->particle[i].id;
    }
    for (int64_t i = 0; i < all->count; i++) {
        right[0]++;
        right[1] += all->particle[i].id;
        right[2] += (double)all->particle[i].id * all->particle[i].id;
    }
    tl_comm_reduce(c, TL_REDUCE_SUM, 3, sums);
    if (memcmp(sums, right, 3 * sizeof *sums)) SAY("%.0f particles of %.0f, or others", sums[0], right[0]);
    return NULL;
}

/* What faces have, all parts together, is what particles have. */
static const char *check_sums(const tl_comm *c, both *b)
{
    const tl_grid *g = &b->part.g;
    const tl_faces *f = &b->part.faces;
    tl_particles_measure m;
    double sums[6] = {0}, volume = 0, fill = 0;
    GOOD(tl_particles_measures(&b->part.f, &b->part.sorted, b->part.rho, (tl_vec3){0, 0, 0}, &b->part.arena, &m, &err));
    for (int k = 0; k < 3; k++)
        for (int32_t i = 0; i < tl_grid_owned_cells(g); i++) {
            sums[k] += f->mass[k][i];
            sums[3 + k] += f->mass[k][i] * f->u[k][i];
        }
    for (int32_t i = 0; i < tl_grid_owned_cells(g); i++) fill += f->fill[i];
    volume = fill * g->f.dx * g->f.dx * g->f.dx;
    const double parts[5] = {m.mass, m.volume, m.momentum.x, m.momentum.y, m.momentum.z};
    tl_comm_reduce(c, TL_REDUCE_SUM, 6, sums);
    volume = tl_comm_sum(c, volume);
    if (!(fabs(volume - parts[1]) <= 1e-13 * parts[1])) SAY("volume %g of %g", volume, parts[1]);
    for (int k = 0; k < 3; k++) {
        if (!(fabs(sums[k] - parts[0]) <= 1e-13 * parts[0])) SAY("mass %.17g of %.17g", sums[k], parts[0]);
        if (!(fabs(sums[3 + k] - parts[2 + k]) <= 1e-13 * parts[0])) return "momentum";
    }
    return NULL;
}

static const char *check_faces(const tl_comm *c, both *b)
{
    GOOD(tl_particles_to_grid(&b->one.g, &b->one.sorted, b->one.rho, 2, &b->one.arena, &b->one.faces, &err));
    GOOD(tl_particles_to_grid(&b->part.g, &b->part.sorted, b->part.rho, 2, &b->part.arena, &b->part.faces, &err));
    TRY(c, same_blocks(c, b));
    for (int k = 0; k < 3; k++) {
        TRY(b->owners->comm, same_field(b, "mass", b->one.faces.mass[k], b->part.faces.mass[k], 1e-13));
        TRY(b->owners->comm, same_field(b, "rest", b->one.faces.rest[k], b->part.faces.rest[k], 1e-13));
        /* a velocity is a quotient: as exact as what is on the face */
        for (int64_t i = 0; i < b->one.g.cells; i++) b->one.faces.u[k][i] *= b->one.faces.mass[k][i];
        double *p = TL_NEW(double, b->part.g.cells);
        for (int64_t i = 0; i < b->part.g.cells; i++) p[i] = b->part.faces.u[k][i] * b->part.faces.mass[k][i];
        const char *w = same_field(b, "momentum", b->one.faces.u[k], p, 1e-13);
        tl_free(p);
        TRY(c, w);
    }
    TRY(b->owners->comm, same_field(b, "fill", b->one.faces.fill, b->part.faces.fill, 1e-13));
    return check_sums(c, b);
}

/* As a step does: the state of the next one is what was sorted. */
static talus_status commit(grid_case *c, talus_error *err)
{
    tl_particles *p = particles_of(c);
    TL_TRY(tl_particles_reserve(p, c->sorted.count, err));
    p->count = c->sorted.count;
    if (p->count) memcpy(p->particle, c->sorted.particle, sizeof *p->particle * (size_t)p->count);
    return TALUS_OK;
}

static const char *stirred(const tl_comm *c, const char *grid, int steps)
{
    char text[1000];
    both b;
    snprintf(text, sizeof text, LUMPS, grid);
    TRY(c, open_both(c, text, &b));
    const int mark = tl_comm_mark(c);
    for (int k = 0; k < steps; k++) {
        tl_comm_release(c, mark);
        GOOD(grid_try_sort(&b.one, &err));
        GOOD(grid_try_sort(&b.part, &err));
        if (k % 10 == 0) {
            TRY(c, check_particles(c, &b));
            TRY(c, check_faces(c, &b));
        }
        GOOD(tl_comm_agree(c, commit(&b.part, &err), &err));
        stir(&b.one, k);
        stir(&b.part, k);
    }
    tl_comm_release(c, mark);
    close_both(&b);
    return NULL;
}

static const char *particles(const tl_comm *c) { return stirred(c, "periodic = {false, false, false}", 21); }
static const char *around(const tl_comm *c) { return stirred(c, "periodic = {true, false, true}", 11); }

/* ---- C10: what is derived ---- */

#define POOL                                                                                                           \
    "grid = { cells = {40, 16, 24}, cell = 0.1 }, domain = { friction = 0 }, bodies = { { name = 'ball', density = "   \
    "500, shape = sphere { radius = 0.5 }, at = {2.05, 0.8, 1.3}, velocity = {1, 0, 0} }, { name = 'wedge', kind = "   \
    "'static', shape = box { size = {1, 1.8, 1} }, at = {0.6, 0.8, 0.1}, rotation_deg = {0, 30, 0} } }, fill = { { "   \
    "material = water, shape = box { center = {2, 0.8, 0.635}, size = {4, 1.6, 1.27} } }, { material = water, shape "  \
    "= sphere { "                                                                                                      \
    "center = {3, 1, 2.1}, radius = 0.24 } } }"

static const char *check_derived(both *b)
{
    const grid_case *one = &b->one, *part = &b->part;
    TRY(b->owners->comm, same_floats(b, "solid_phi", one->solid_phi, part->solid_phi));
    TRY(b->owners->comm, same_field(b, "solid_cell", one->fractions.solid_cell, part->fractions.solid_cell, 0));
    TRY(b->owners->comm, same_field(b, "solid_kernel", one->fractions.solid_kernel, part->fractions.solid_kernel, 0));
    TRY(b->owners->comm, same_field(b, "phi", one->phi, part->phi, 1e-12));
    TRY(b->owners->comm, same_field(b, "full", one->full.fill, part->full.fill, 1e-12));
    TRY(b->owners->comm, same_field(b, "room", one->full.room, part->full.room, 1e-12));
    for (int k = 0; k < 3; k++) {
        TRY(b->owners->comm, same_field(b, "open", one->fractions.open[k], part->fractions.open[k], 0));
        TRY(b->owners->comm, same_field(b, "fixed", one->fractions.fixed[k], part->fractions.fixed[k], 0));
    }
    return NULL;
}

/* Faces that bodies cover: the same, and each of own ones once in all parts. */
static const char *check_covers(const tl_comm *c, const both *b)
{
    const tl_covers *x = &b->one.fractions.covers, *y = &b->part.fractions.covers;
    double count = 0, sum = 0, all = 0;
    for (int64_t i = 0; i < x->start[3 * x->bodies]; i++) all += x->weight[i];
    for (int64_t i = 0; i < y->start[3 * y->bodies]; i++)
        if (tl_grid_owns(&b->part.g, y->face[i])) count++, sum += y->weight[i];
    count = tl_comm_sum(c, count);
    sum = tl_comm_sum(c, sum);
    if (count != (double)x->start[3 * x->bodies])
        SAY("%g covered faces, not %lld", count, (long long)x->start[3 * x->bodies]);
    return fabs(sum - all) <= 1e-12 * all ? NULL : "covered parts of faces";
}

static const char *extended(both *b)
{
    grid_case *of[2] = {&b->one, &b->part};
    uint8_t *known[2][3];
    for (int w = 0; w < 2; w++) {
        tl_grid *g = &of[w]->g;
        for (int k = 0; k < 3; k++) {
            known[w][k] = TL_TAKE(&of[w]->arena, uint8_t, g->cells);
            for (int64_t i = 0; i < g->cells; i++) known[w][k][i] = of[w]->faces.mass[k][i] > 0;
        }
        GOOD(tl_extrapolate(g, TL_EXTRAPOLATE_LAYERS, of[w]->faces.u, known[w], &of[w]->arena, &err));
        const tl_covered covered = {&of[w]->solids, of[w]->fractions.open, 0.499, NULL};
        GOOD(tl_clip_inflow(g, &covered, known[w], of[w]->faces.u, &of[w]->arena, &err));
    }
    for (int k = 0; k < 3; k++) {
        TRY(b->owners->comm, same_bytes(b, "known", known[0][k], known[1][k]));
        TRY(b->owners->comm, same_field(b, "u", b->one.faces.u[k], b->part.faces.u[k], 1e-12));
    }
    return NULL;
}

/* Pieces: as many, the same are held, and what is paid back is the same. */
static const char *pieces(const tl_comm *c, both *b)
{
    grid_case *of[2] = {&b->one, &b->part};
    tl_pieces found[2];
    tl_repay r[2];
    const double inv_mass[3] = {0.01, 0, 0};
    for (int w = 0; w < 2; w++) {
        grid_case *x = of[w];
        tl_piece_links links = {
            .fixed = x->fractions.fixed, .covers = &x->fractions.covers, .bodies = 3, .inv_mass = inv_mass};
        double *due[3];
        GOOD(tl_pieces_find(&found[w], &x->g, x->faces.fill, x->faces.mass, &links, &x->arena, &err));
        for (int k = 0; k < 3; k++) {
            due[k] = TL_TAKE(&x->arena, double, x->g.cells);
            for (int64_t i = 0; i < x->g.cells; i++)
                due[k][i] = 1.5 * x->faces.mass[k][i] * x->faces.u[k][i] + 0.1 * x->faces.mass[k][i];
        }
        r[w] = (tl_repay){.mass = x->faces.mass, .due = due};
        GOOD(tl_faces_repay(&x->g, &found[w], &r[w], x->faces.u, &x->arena, &err));
    }
    if (found[0].count != found[1].count) SAY("%d pieces, not %d", found[1].count, found[0].count);
    int held[2] = {0, 0};
    for (int w = 0; w < 2; w++)
        for (int32_t k = 0; k < found[w].count; k++) held[w] += found[w].held[k];
    if (held[0] != held[1]) SAY("%d pieces held, not %d", held[1], held[0]);
    const tl_grid *g = &b->part.g, *all = &b->one.g;
    for (int32_t i = 0; i < g->blocks * g->f.size; i++) {
        const int32_t block = tl_grid_block_of(g, i),
                      there = tl_grid_find(all, g->key[block]) * g->f.size + i - block * g->f.size;
        const int32_t x = found[0].of[there], y = found[1].of[i];
        if ((x == TL_NO_PIECE) != (y == TL_NO_PIECE)) return "a cell with a piece here and none there";
        if (x != TL_NO_PIECE && found[0].held[x] != found[1].held[y]) return "a piece that is held is not";
    }
    for (int k = 0; k < 3; k++)
        TRY(b->owners->comm, same_field(b, "repaid", b->one.faces.u[k], b->part.faces.u[k], 1e-12));
    if (!(tl_vec3_norm(tl_vec3_sub(r[0].fixed, r[1].fixed)) <= 1e-12 * tl_vec3_norm(r[0].fixed)))
        return "repaid by walls";
    (void)c;
    return NULL;
}

static const char *derived_scene(const tl_comm *c, const char *text)
{
    both b;
    TRY(c, open_both(c, text, &b));
    const int mark = tl_comm_mark(c);
    for (int k = 0; k < 2; k++) {
        tl_comm_release(c, mark);
        for (int w = 0; w < 2; w++) {
            tl_particles *p = particles_of(w ? &b.part : &b.one);
            for (int64_t i = 0; i < p->count; i++) {
                tl_particle *q = &p->particle[i];
                q->v = (tl_vec3){sin(3 * q->x.y), cos(2 * q->x.z), sin(q->x.x + q->x.z)};
                q->x.x += 0.02 * k * q->v.x;
            }
            (w ? &b.part : &b.one)->state.rigid.body[0].x.x += 0.14 * k;
        }
        GOOD(grid_try_derive(&b.one, k % 2 ? TL_WEIGHT_VOLUME : TL_WEIGHT_AREA, &err));
        GOOD(grid_try_derive(&b.part, k % 2 ? TL_WEIGHT_VOLUME : TL_WEIGHT_AREA, &err));
        TRY(c, same_blocks(c, &b));
        TRY(c, check_derived(&b));
        TRY(c, check_covers(c, &b));
        TRY(c, extended(&b));
        TRY(c, pieces(c, &b));
        GOOD(tl_comm_agree(c, commit(&b.part, &err), &err));
    }
    tl_comm_release(c, mark);
    close_both(&b);
    return NULL;
}

static const char *derived(const tl_comm *c) { return derived_scene(c, POOL); }

const tl_comm_case tl_grid_cases[] = {
    {"cuts are even, a function of counts alone, and every block has one owner", cuts},
    {"particles that cross parts are all there, and what they put on faces", particles},
    {"... around periodic axes", around},
    {"distances, fractions, surface, velocities beyond, pieces: halos are their owners' to the bit", derived},
};
const int tl_grid_case_count = sizeof tl_grid_cases / sizeof tl_grid_cases[0];
