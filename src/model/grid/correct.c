#include "model/grid/correct.h"

#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "model/grid/bystanders.h"
#include "model/grid/owners.h"
#include "model/grid/transfer.h"

#define FURTHEST 0.2       /* of the spacing, per sweep: chosen, keeps neighbours neighbours */
#define SOFT 0.1           /* over spacing^2, in the denominator of [Macklin2013 eq. 11] */
#define SUPPORT 2          /* spacings */
#define LATTICE_3D 1.00983 /* sum of the kernel over a lattice of one spacing: what a particle at rest has */
#define LATTICE_2D 1.01461
#define LAYER_3D                                                                                                       \
    0.190898 /* share of it that the layer one spacing away has: what a wall half a spacing away stands for */
#define LAYER_2D 0.210785
#define WALL_STEPS 64
#define CROWD_MAX 2048 /* neighbours of a cell that are looked at; ten times as many as at rest */
#define FAR 100.0f     /* cells: where the empty places of the last vector are */
#define LANES 16

/* Sums over neighbours run in lanes; written out, since compilers keep the lanes of a simd reduction in memory and
 * add them up one by one. */
typedef float lanes __attribute__((vector_size(4 * LANES)));
typedef int32_t lane_bits __attribute__((vector_size(4 * LANES)));

/* All particles, sorted by cell. Lengths in cells, places from the corner of their block, in float: 1e-6 of a cell
 * is enough for a direction. */
typedef struct crowd {
    const tl_grid *g;
    const tl_particles *p;
    tl_bystander *others; /* of other parts: numbers in `order` from p->count on */
    int32_t *start;       /* [cells + 1] particles of each cell */
    int32_t *order;       /* [n] their numbers */
    float *x[3];          /* [n] */
    float *share;         /* [n] volume, of cells */
    float *lambda;        /* [n] cells^2 */
    tl_vec3 *shift;       /* [n] cells */
    float *wall[4];       /* [n] solids' part of the density, 1 = rest, and its gradient, per cell; NULL: no solids */
    float h, sigma;       /* support and factor of the kernel */
    double spacing;       /* cells */
    double beyond[WALL_STEPS + 1]; /* share of the kernel behind a plane at k / WALL_STEPS supports */
    double slope, power;           /* its derivative: -slope (1 - q^2)^power */
} crowd;

/* What surrounds one cell: places as seen from its block, padded with ones far away. */
typedef struct surroundings {
    int32_t count; /* a multiple of LANES */
    float x[3][CROWD_MAX + LANES], share[CROWD_MAX + LANES], lambda[CROWD_MAX + LANES];
    bool pushed; /* some lambda is below 0 */
} surroundings;

static inline lanes read_lanes(const float *from)
{
    lanes out;
    memcpy(&out, from, sizeof out);
    return out;
}

static inline lanes above_zero(lanes a) { return (lanes)((lane_bits)a & (a > 0)); }

static inline float sum_of(lanes a)
{
    typedef float eight __attribute__((vector_size(32)));
    typedef float four __attribute__((vector_size(16)));
    eight b = __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7) +
              __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15);
    four c = __builtin_shufflevector(b, b, 0, 1, 2, 3) + __builtin_shufflevector(b, b, 4, 5, 6, 7);
    return (c[0] + c[2]) + (c[1] + c[3]);
}

static inline void copy_lanes(float *restrict to, const float *restrict from, float plus)
{
    lanes moved = read_lanes(from) + plus;
    memcpy(to, &moved, sizeof moved);
}

/* Particles of `cells` cells in a row, seen from `from`. Whole vectors: what is too much, the next row or the
 * padding writes over. */
static inline void add_row(const crowd *c, int32_t cell, int32_t cells, const float from[3], bool pushes,
                           surroundings *s)
{
    int32_t first = c->start[cell], n = c->start[cell + cells] - first, at = s->count;
    if (n > CROWD_MAX - at) n = CROWD_MAX - at;
    for (int32_t i = 0; i < n; i += LANES) {
        for (int k = 0; k < 3; k++) copy_lanes(s->x[k] + at + i, c->x[k] + first + i, from[k]);
        copy_lanes(s->share + at + i, c->share + first + i, 0);
        if (pushes) copy_lanes(s->lambda + at + i, c->lambda + first + i, 0);
    }
    s->count += n;
}

/* Cells along an axis from one before a place to one after it: pieces in one block each, none twice (short periodic
 * axes repeat). */
typedef struct piece {
    int32_t side, first, count; /* block: -1, 0, 1; place in it */
} piece;
static int pieces_of(const tl_grid *g, int axis, int32_t at, piece out[3])
{
    int32_t e = g->f.edge[axis], ring = g->f.periodic[axis] ? g->f.count[axis] : INT32_MAX;
    if (ring < 3) {
        out[0] = (piece){0, 0, e};
        out[1] = (piece){1, 0, ring - e}; /* two blocks of one cell */
        return ring > e ? 2 : 1;
    }
    int n = 0;
    int32_t lo = at > 0 ? at - 1 : 0, hi = at < e - 1 ? at + 1 : e - 1;
    out[n++] = (piece){0, lo, hi - lo + 1};
    if (at == 0) out[n++] = (piece){-1, e - 1, 1};
    if (at == e - 1) out[n++] = (piece){1, 0, 1};
    return n;
}

/* All that is in the 27 cells around one. pushes: lambdas are known. */
static void look_around(const crowd *c, int32_t block, int32_t place, bool pushes, surroundings *s)
{
    const tl_grid *g = c->g;
    const uint8_t *at = g->place[place];
    piece x[3], y[3], z[3];
    int nx = pieces_of(g, 0, at[0], x), ny = pieces_of(g, 1, at[1], y), nz = pieces_of(g, 2, at[2], z);
    s->count = 0;
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++)
            for (int k = 0; k < nz; k++) {
                int32_t b = g->near[block][TL_GRID_SELF + 9 * x[i].side + 3 * y[j].side + z[k].side];
                const float from[3] = {(float)(x[i].side * g->f.edge[0]), (float)(y[j].side * g->f.edge[1]),
                                       (float)(z[k].side * g->f.edge[2])};
                if (b == g->blocks) continue;
                for (int32_t p = x[i].first; p < x[i].first + x[i].count; p++)
                    for (int32_t q = y[j].first; q < y[j].first + y[j].count; q++) {
                        int32_t cell = b * g->f.size + p * g->f.stride[0] + q * g->f.stride[1] + z[k].first;
                        add_row(c, cell, z[k].count, from, pushes, s);
                    }
            }
    for (; s->count % LANES; s->count++) {
        for (int m = 0; m < 3; m++) s->x[m][s->count] = FAR;
        s->share[s->count] = s->lambda[s->count] = 0;
    }
    lane_bits some = {0};
    for (int32_t k = 0; pushes && k < s->count; k += LANES) some |= read_lanes(s->lambda + k) < 0;
    s->pushed = false;
    for (int k = 0; k < LANES; k++) s->pushed |= some[k] != 0;
}

static bool is_ours(const crowd *c, int32_t i) { return c->order[i] < c->p->count; }

/* A cell with particles of ours. */
static bool has_ours(const crowd *c, int32_t cell)
{
    bool any = false;
    for (int32_t i = c->start[cell]; i < c->start[cell + 1] && !any; i++) any = is_ours(c, i);
    return any;
}

/* Solids are full of particles at rest: each is a half-space behind its nearest place, and where two meet the union
 * counts as if they were at right angles. Without this a crowd near a wall has no neighbours behind and is never
 * seen: the lowest half cell of a pool then fills up by a fifth. */
static void add_walls(const crowd *c, const tl_solids *s, int32_t block, tl_vec3 x, int32_t i)
{
    tl_solid_plane plane[TL_SOLID_PLANES];
    double dx = c->g->f.dx, h = (double)c->h * dx, clear = 1, gradient[3] = {0, 0, 0};
    int n = tl_solids_planes(s, block, x, h, plane);
    for (int k = 0; k < n; k++) {
        double q = fmax(plane[k].distance / h, 0), at = q * WALL_STEPS;
        int low = (int)at;
        double share = c->beyond[low] + (at - low) * (c->beyond[low + (low < WALL_STEPS)] - c->beyond[low]);
        double steep = -c->slope * pow(1 - q * q, c->power) / (double)c->h, rest = 1 - share;
        const double normal[3] = {plane[k].normal.x, plane[k].normal.y, plane[k].normal.z};
        for (int m = 0; m < 3; m++) gradient[m] = gradient[m] * rest + steep * clear * normal[m];
        clear *= rest;
    }
    c->wall[0][i] = (float)(1 - clear);
    for (int m = 0; m < 3; m++) c->wall[1 + m][i] = m == c->g->f.flat_axis ? 0 : (float)gradient[m];
}

static void find_walls(const crowd *c, const tl_solids *s)
{
    const tl_grid *g = c->g;
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) {
        int32_t there = tl_grid_find(s->g, g->key[b]);
        bool near = !tl_grid_exists(s->g, there * g->f.size) || tl_solids_touch(s, s->g, there);
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++) {
            for (int k = 0; k < 4; k++) c->wall[k][i] = 0;
            const int64_t other = c->order[i] - c->p->count;
            if (near) add_walls(c, s, there, other < 0 ? c->p->particle[c->order[i]].x : c->others[other].x, i);
        }
    }
}

/* Kernel sigma (1 - q^2)^3, q = r / h: no roots, and smooth; its gradient is -6 sigma / h^2 (1 - q^2)^2 times the way
 * between the two.
 *
 * lambda of [Macklin2013]: how far to go along the gradient so that the density falls to rest; 0 below rest. */
static float lambda_of(const crowd *c, const surroundings *s, int32_t i, double *density)
{
    const float x = c->x[0][i], y = c->x[1][i], z = c->x[2][i], per_h2 = 1 / (c->h * c->h);
    lanes sums = {0}, sum_x = {0}, sum_y = {0}, sum_z = {0}, sum_g = {0};
    for (int32_t k = 0; k < s->count; k += LANES) {
        lanes dx = x - read_lanes(s->x[0] + k), dy = y - read_lanes(s->x[1] + k), dz = z - read_lanes(s->x[2] + k);
        lanes r2 = dx * dx + dy * dy + dz * dz, a = above_zero(1 - r2 * per_h2);
        lanes g = read_lanes(s->share + k) * a * a;
        sums += g * a;
        sum_x += g * dx;
        sum_y += g * dy;
        sum_z += g * dz;
        sum_g += g * g * r2;
    }
    float slope = 6 * c->sigma * per_h2, soft = (float)(SOFT / (c->spacing * c->spacing));
    float sum = c->sigma * sum_of(sums);
    if (c->wall[0]) sum += c->wall[0][i];
    *density = (double)sum;
    if (!(sum > 1)) return 0;
    float gx = slope * sum_of(sum_x), gy = slope * sum_of(sum_y), gz = slope * sum_of(sum_z), squares = sum_of(sum_g);
    if (c->wall[0]) gx -= c->wall[1][i], gy -= c->wall[2][i], gz -= c->wall[3][i];
    return (1 - sum) / (gx * gx + gy * gy + gz * gz + slope * slope * squares + soft);
}

static tl_vec3 shift_of(const crowd *c, const surroundings *s, int32_t i)
{
    const float x = c->x[0][i], y = c->x[1][i], z = c->x[2][i], per_h2 = 1 / (c->h * c->h), own = c->lambda[i];
    lanes sum_x = {0}, sum_y = {0}, sum_z = {0};
    for (int32_t k = 0; k < s->count; k += LANES) {
        lanes dx = x - read_lanes(s->x[0] + k), dy = y - read_lanes(s->x[1] + k), dz = z - read_lanes(s->x[2] + k);
        lanes a = above_zero(1 - (dx * dx + dy * dy + dz * dz) * per_h2);
        lanes g = (own + read_lanes(s->lambda + k)) * read_lanes(s->share + k) * a * a;
        sum_x += g * dx;
        sum_y += g * dy;
        sum_z += g * dz;
    }
    double slope = -6 * (double)(c->sigma * per_h2);
    tl_vec3 way = {slope * (double)sum_of(sum_x), slope * (double)sum_of(sum_y), slope * (double)sum_of(sum_z)};
    if (!c->wall[0]) return way;
    return tl_vec3_add_scaled(way, (double)own,
                              (tl_vec3){(double)c->wall[1][i], (double)c->wall[2][i], (double)c->wall[3][i]});
}

static double find_lambdas(crowd *c)
{
    const tl_grid *g = c->g;
    double worst = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : worst) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) {
        surroundings s;
        for (int32_t p = 0; p < g->f.size; p++) {
            int32_t cell = b * g->f.size + p;
            if (!has_ours(c, cell)) continue;
            look_around(c, b, p, false, &s);
            for (int32_t i = c->start[cell]; i < c->start[cell + 1]; i++) {
                double density;
                if (!is_ours(c, i)) continue;
                c->lambda[i] = lambda_of(c, &s, i, &density);
                worst = fmax(worst, density);
            }
        }
    }
    return worst;
}

/* Particles crowd where the flow strains them, and part no faster than that: part of a cell's shifts that its strain
 * allows. */
static double strained_part(const crowd *c, int32_t cell, const tl_spread *how)
{
    double strain = 0, furthest = 0;
    for (int32_t i = c->start[cell]; i < c->start[cell + 1]; i++) {
        if (is_ours(c, i)) {
            const tl_mat3 *C = &c->p->particle[c->order[i]].C;
            for (int k = 0; k < 9; k++) strain += C->m[k / 3][k % 3] * C->m[k / 3][k % 3];
        } else {
            strain += c->others[c->order[i] - c->p->count].strain2;
        }
        furthest = fmax(furthest, tl_vec3_norm(c->shift[i]));
    }
    strain = sqrt(strain / (c->start[cell + 1] - c->start[cell]));
    double max = how->strained * strain * c->spacing;
    return how->strained > 0 && furthest > max ? max / furthest : 1;
}

/* Moves the particles themselves; the crowd keeps the places that this sweep began with. */
static double move(const crowd *c, const tl_solids *s, const tl_spread *how, tl_particles *p)
{
    const tl_grid *g = c->g;
    double furthest = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : furthest) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) {
        surroundings around;
        int32_t there = s ? tl_grid_find(s->g, g->key[b]) : 0; /* where solids are listed */
        const bool near = s && (!tl_grid_exists(s->g, there * g->f.size) || tl_solids_touch(s, s->g, there));
        for (int32_t at = 0; at < g->f.size; at++) {
            int32_t cell = b * g->f.size + at;
            if (!has_ours(c, cell)) continue;
            look_around(c, b, at, true, &around);
            if (!around.pushed) continue;
            tl_vec3 mean = {0, 0, 0};
            double share = 0;
            for (int32_t i = c->start[cell]; i < c->start[cell + 1]; i++) {
                c->shift[i] = shift_of(c, &around, i);
                double max = FURTHEST * c->spacing, length = tl_vec3_norm(c->shift[i]);
                if (length > max) c->shift[i] = tl_vec3_scale(max / length, c->shift[i]);
                furthest = fmax(furthest, fmin(length, max));
                mean = tl_vec3_add_scaled(mean, (double)c->share[i], c->shift[i]);
                share += (double)c->share[i];
            }
            mean = tl_vec3_scale(1 / share, mean);
            double part = strained_part(c, cell, how);
            for (int32_t i = c->start[cell]; i < c->start[cell + 1]; i++) {
                if (!is_ours(c, i)) continue;
                tl_vec3 way = tl_vec3_scale(part, tl_vec3_sub(c->shift[i], mean));
                double deepest = 0;
                tl_particle *q = &p->particle[c->order[i]], out = *q;
                out.x = tl_vec3_add_scaled(q->x, g->f.dx, way);
                if (near) tl_particle_put_outside(s, there, how->gap, &out, &deepest);
                q->x = out.x;
            }
        }
    }
    return furthest * g->f.dx;
}

/* Cells of all, those of other parts behind ours. */
static talus_status find_cells(const tl_grid_frame *f, const tl_bystanders *others, const tl_particles *p, uint64_t *of,
                               talus_error *err)
{
    const tl_domain_spec nowhere = {0};
    if (!of) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to spread %lld particles", (long long)p->count);
    for (int64_t i = 0; i < p->count + others->count; i++) {
        tl_vec3 x = i < p->count ? p->particle[i].x : others->of[i - p->count].x;
        int32_t cell[3];
        of[i] = tl_particle_locate(f, &nowhere, &x, cell) ? tl_grid_key(f, cell) : UINT64_MAX;
    }
    return TALUS_OK;
}

static talus_status take_crowd(const tl_grid_frame *f, const tl_particles *p, const tl_bystanders *others, bool solids,
                               tl_arena *a, tl_grid *g, crowd *c, talus_error *err)
{
    const tl_domain_spec nowhere = {0};
    int64_t n = p->count + others->count, kept;
    uint64_t *key = TL_TAKE(a, uint64_t, n);
    bool good = key != NULL;
    *c = (crowd){.g = g, .p = p, .others = others->of};
    good &= (c->order = TL_TAKE(a, int32_t, n)) != NULL;
    good &= (c->shift = TL_TAKE(a, tl_vec3, n)) != NULL;
    float **field[9] = {&c->x[0],    &c->x[1],    &c->x[2],    &c->share,  &c->lambda,
                        &c->wall[0], &c->wall[1], &c->wall[2], &c->wall[3]};
    for (int k = 0; k < (solids ? 9 : 5); k++) {
        *field[k] = TL_TAKE(a, float, n + LANES);
        if (*field[k]) memset(*field[k] + n, 0, sizeof(float) * LANES); /* read by whole vectors, not used */
        good &= *field[k] != NULL;
    }
    if (!good) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to spread %lld particles", (long long)n);
    if (others->count) {
        uint64_t *of = TL_TAKE(a, uint64_t, n);
        TL_TRY(find_cells(f, others, p, of, err));
        TL_TRY(tl_keys_order(f, n, of, key, c->order, &kept, a, err));
    } else {
        TL_TRY(tl_particles_order(f, &nowhere, p, key, c->order, &kept, a, err));
    }
    TL_TRY(tl_grid_build(g, f, kept, key, a, err));
    c->start = TL_TAKE(a, int32_t, g->cells + 1);
    if (!c->start) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to spread %lld particles", (long long)n);
    int32_t at = 0;
    for (int64_t i = 0; i <= g->cells; i++) {
        c->start[i] = at;
        if (i >= (int64_t)g->blocks * f->size) continue;
        uint64_t here = tl_grid_key_of(g, (int32_t)i);
        while (at < kept && key[at] == here) at++;
    }
    return TALUS_OK;
}

/* Places of all particles from their blocks, wrapped like their cells; the slab's axis of the 2D mode does not
 * count. */
static void read_places(crowd *c)
{
    const tl_grid *g = c->g;
    double per_cell = 1 / (g->f.dx * g->f.dx * g->f.dx);
#pragma omp parallel for schedule(static) if (g->blocks > 8)
    for (int32_t b = 0; b < g->blocks; b++)
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++) {
            const int32_t of = c->order[i];
            const int64_t other = of - c->p->count;
            const bool ours = is_ours(c, i);
            const double volume = ours ? c->p->particle[of].volume : c->others[other].volume;
            double x[3];
            tl_vec3_store(ours ? c->p->particle[of].x : c->others[other].x, x);
            for (int k = 0; k < 3; k++) {
                double s = tl_grid_scaled(&g->f, x[k], k) - g->corner[b][k];
                if (g->f.periodic[k]) s -= g->f.count[k] * floor(s / g->f.count[k]);
                c->x[k][i] = k == g->f.flat_axis ? 0 : (float)s;
            }
            c->share[i] = (float)(volume * per_cell);
        }
}

/* The kernel's integral over a plane at q supports falls like (1 - q^2)^4 (2D: over a line, ^3.5), by Simpson's rule
 * from the outside in. Scaled so that a lattice that ends half a spacing from a plane is at rest. */
static void choose_walls(crowd *c, bool flat)
{
    c->power = flat ? 3.5 : 4;
    c->beyond[WALL_STEPS] = 0;
    for (int k = WALL_STEPS - 1; k >= 0; k--) {
        double f[3];
        for (int m = 0; m < 3; m++) {
            double q = (k + 0.5 * m) / WALL_STEPS;
            f[m] = pow(fmax(1 - q * q, 0), c->power);
        }
        c->beyond[k] = c->beyond[k + 1] + (f[0] + 4 * f[1] + f[2]) / (6 * WALL_STEPS);
    }
    c->slope = (flat ? LAYER_2D : LAYER_3D) / c->beyond[WALL_STEPS / (2 * SUPPORT)];
    for (int k = 0; k <= WALL_STEPS; k++) c->beyond[k] *= c->slope;
}

/* Kernel for the mean volume; neighbours are looked for one cell around, so its support is at most that. */
static talus_status choose_kernel(crowd *c, const tl_comm *comm, tl_arena *a, talus_error *err)
{
    const tl_grid *g = c->g;
    size_t mark = tl_arena_mark(a);
    double *part = TL_TAKE(a, double, g->blocks), pi = 3.14159265358979323846;
    int32_t n = 0;
    talus_status status = part ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a sum over blocks");
    TL_TRY(tl_comm_agree(comm, status, err));
    for (int32_t b = 0; b < g->blocks; b++) {
        part[b] = 0;
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++)
            if (is_ours(c, i)) part[b] += (double)c->share[i], n++;
    }
    const double all = tl_comm_sum(comm, n);
    double mean = tl_comm_sum(comm, tl_sum(g->blocks, part)) / (all > 0 ? all : 1);
    bool flat = g->f.flat_axis >= 0;
    c->spacing = fmin(flat ? sqrt(mean) : cbrt(mean), 1.0 / SUPPORT);
    double h = SUPPORT * c->spacing;
    c->h = (float)h;
    c->sigma = (float)(flat ? 4 / (pi * h * h) / LATTICE_2D : 315 / (64 * pi * h * h * h) / LATTICE_3D);
    tl_arena_release(a, mark);
    choose_walls(c, flat);
    return TALUS_OK;
}

/* Lambdas of others, by those who have them. */
static talus_status bring_lambdas(crowd *c, const tl_bystanders *others, tl_arena *a, talus_error *err)
{
    const int64_t own = c->p->count, all = own + others->count;
    const int32_t known = c->g->first[c->g->blocks];
    size_t mark = tl_arena_mark(a);
    float *of = TL_TAKE(a, float, all); /* by number */
    talus_status status = of ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to spread particles");
    TL_TRY(tl_comm_agree(others->comm, status, err));
    for (int64_t i = 0; i < all; i++) of[i] = 0;
    for (int32_t i = 0; i < known; i++)
        if (is_ours(c, i)) of[c->order[i]] = c->lambda[i];
    TL_TRY(tl_bystanders_bring(others, of, of + own, a, err));
    for (int32_t i = 0; i < known; i++)
        if (!is_ours(c, i)) c->lambda[i] = of[c->order[i]];
    tl_arena_release(a, mark);
    return TALUS_OK;
}

static talus_status spread(const tl_grid_frame *f, const tl_solids *s, const tl_spread *how, tl_bystanders *others,
                           tl_particles *p, tl_arena *a, tl_correction *out, talus_error *err)
{
    tl_grid g;
    crowd c;
    const tl_comm *comm = others->comm;
    TL_TRY(tl_comm_agree(comm, take_crowd(f, p, others, s != NULL, a, &g, &c, err), err));
    for (int k = 0; k < how->sweeps; k++) {
        read_places(&c);
        if (k == 0) TL_TRY(choose_kernel(&c, comm, a, err));
        if (s) find_walls(&c, s);
        double worst = find_lambdas(&c);
        if (comm) TL_TRY(bring_lambdas(&c, others, a, err));
        if (k == 0) out->worst = worst;
        out->furthest += move(&c, s, how, p);
    }
    return TALUS_OK;
}

talus_status tl_particles_spread(const tl_grid_frame *f, const tl_solids *s, const tl_spread *how, tl_particles *p,
                                 tl_arena *a, tl_correction *out, talus_error *err)
{
    *out = (tl_correction){0};
    tl_grid_frame alone = *f;
    alone.owners = NULL;
    tl_bystanders others = {.comm = tl_frame_comm(f)};
    if ((!p->count && !others.comm) || how->sweeps <= 0) return TALUS_OK;
    if (!others.comm) {
        size_t mark = tl_arena_mark(a);
        TL_TRY(spread(&alone, s, how, &others, p, a, out, err));
        tl_arena_release(a, mark);
        return TALUS_OK;
    }
    tl_spread once = *how;
    once.sweeps = 1;
    for (int k = 0; k < how->sweeps; k++) { /* others move, too */
        size_t mark = tl_arena_mark(a);
        tl_correction now = {0};
        TL_TRY(tl_bystanders_find(&others, f, p, a, err));
        TL_TRY(spread(&alone, s, &once, &others, p, a, &now, err));
        tl_arena_release(a, mark);
        if (k == 0) out->worst = tl_comm_max(others.comm, now.worst);
        out->furthest += tl_comm_max(others.comm, now.furthest);
    }
    return TALUS_OK;
}
