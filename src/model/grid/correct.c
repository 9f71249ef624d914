#include "model/grid/correct.h"

#include "base/parallel.h"
#include "base/sum.h"
#include "model/grid/transfer.h"

#define FURTHEST 0.2   /* of the spacing, per sweep: chosen, keeps neighbours neighbours */
#define SOFT 0.1       /* over spacing^2, in the denominator of [Macklin2013 eq. 11] */
#define SUPPORT 2      /* spacings: the sum over a lattice of spacing s is then 1.0000 in 3D, 1.0009 in 2D */
#define CROWD_MAX 2048 /* neighbours of a cell that are looked at; ten times as many as at rest */
#define FAR 100.0f     /* cells: where the empty places of the last vector are */
#define LANES 16

/* All particles, sorted by cell. Lengths in cells, places from the corner of their block, in float: 1e-6 of a cell is enough for a direction. */
typedef struct crowd {
    const tl_grid *g;
    int32_t *start; /* [cells + 1] particles of each cell */
    int32_t *order; /* [n] their numbers */
    float *x[3];    /* [n] */
    float *share;   /* [n] volume, of cells */
    float *lambda;  /* [n] cells^2 */
    float h, sigma; /* support and factor of the kernel */
    double spacing; /* cells */
} crowd;

/* What surrounds one cell: places as seen from its block, padded with ones far away. */
typedef struct surroundings {
    int32_t count; /* a multiple of LANES */
    float x[3][CROWD_MAX + LANES], share[CROWD_MAX + LANES], lambda[CROWD_MAX + LANES];
    bool pushed; /* some lambda is not 0 */
} surroundings;

static void add_cell(const crowd *c, int32_t cell, const float from[3], bool pushes, surroundings *s)
{
    int32_t first = c->start[cell], n = c->start[cell + 1] - first;
    if (n > CROWD_MAX - s->count) n = CROWD_MAX - s->count;
    for (int32_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) s->x[k][s->count + i] = c->x[k][first + i] + from[k];
        s->share[s->count + i] = c->share[first + i];
        s->lambda[s->count + i] = pushes ? c->lambda[first + i] : 0;
        s->pushed |= s->lambda[s->count + i] != 0;
    }
    s->count += n;
}

/* The cells around one, its own first; each once, as short periodic axes repeat them. pushes: lambdas are known. */
static void look_around(const crowd *c, int32_t block, int32_t place, bool pushes, surroundings *s)
{
    const tl_grid *g = c->g;
    int32_t seen[27], n = 0;
    static const int order[3] = {0, -1, 1};
    s->count = 0;
    s->pushed = false;
    for (int k = 0; k < 27; k++) {
        const int by[3] = {order[k / 9], order[k / 3 % 3], order[k % 3]};
        int32_t at = 0, side = TL_GRID_SELF;
        static const int step[3] = {9, 3, 1};
        float from[3];
        for (int m = 0; m < 3; m++) {
            int32_t local = g->place[place][m] + by[m], e = g->f.edge[m], out = (local >= e) - (local < 0);
            at += (local - out * e) * g->f.stride[m];
            side += out * step[m];
            from[m] = (float)(out * e);
        }
        int32_t cell = g->near[block][side] * g->f.size + at;
        bool again = !tl_grid_exists(g, cell);
        for (int32_t j = 0; j < n; j++) again |= seen[j] == cell;
        if (again) continue;
        seen[n++] = cell;
        add_cell(c, cell, from, pushes, s);
    }
    for (; s->count % LANES; s->count++) {
        for (int m = 0; m < 3; m++) s->x[m][s->count] = FAR;
        s->share[s->count] = s->lambda[s->count] = 0;
    }
}

/* Cubic spline of support h: sigma (2 (1-q)^3 - 8 (1/2-q)^3), terms below 0 left out. */
static inline float kernel(float sigma, float a, float b) { return sigma * (2 * a * a * a - 8 * b * b * b); }
static inline float kernel_slope(float sigma, float h, float a, float b)
{
    return sigma / h * (24 * b * b - 6 * a * a);
}

/* lambda of [Macklin2013]: how far to go along the gradient so that the density falls to rest; 0 below rest. */
static float lambda_of(const crowd *c, const surroundings *s, int32_t i, double *density)
{
    float x = c->x[0][i], y = c->x[1][i], z = c->x[2][i], h = c->h, sigma = c->sigma, per_h = 1 / h;
    float sum = 0, gx = 0, gy = 0, gz = 0, squares = 0;
#pragma omp simd reduction(+ : sum, gx, gy, gz, squares)
    for (int32_t k = 0; k < s->count; k++) {
        float dx = x - s->x[0][k], dy = y - s->x[1][k], dz = z - s->x[2][k];
        float r = sqrtf(dx * dx + dy * dy + dz * dz), q = r * per_h;
        float a = 1 - q > 0 ? 1 - q : 0, b = 0.5f - q > 0 ? 0.5f - q : 0;
        float g = s->share[k] * kernel_slope(sigma, h, a, b) / (r > 1e-9f ? r : 1e-9f);
        sum += s->share[k] * kernel(sigma, a, b);
        gx += g * dx;
        gy += g * dy;
        gz += g * dz;
        squares += g * g * (r * r);
    }
    *density = (double)sum;
    if (!(sum > 1)) return 0;
    float soft = (float)(SOFT / (c->spacing * c->spacing));
    return (1 - sum) / (gx * gx + gy * gy + gz * gz + squares + soft);
}

static tl_vec3 shift_of(const crowd *c, const surroundings *s, int32_t i)
{
    float x = c->x[0][i], y = c->x[1][i], z = c->x[2][i], h = c->h, sigma = c->sigma, per_h = 1 / h;
    float sx = 0, sy = 0, sz = 0, own = c->lambda[i];
#pragma omp simd reduction(+ : sx, sy, sz)
    for (int32_t k = 0; k < s->count; k++) {
        float dx = x - s->x[0][k], dy = y - s->x[1][k], dz = z - s->x[2][k];
        float r = sqrtf(dx * dx + dy * dy + dz * dz), q = r * per_h;
        float a = 1 - q > 0 ? 1 - q : 0, b = 0.5f - q > 0 ? 0.5f - q : 0;
        float g = (own + s->lambda[k]) * s->share[k] * kernel_slope(sigma, h, a, b) / (r > 1e-9f ? r : 1e-9f);
        sx += g * dx;
        sy += g * dy;
        sz += g * dz;
    }
    return (tl_vec3){(double)sx, (double)sy, (double)sz};
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
            if (c->start[cell] == c->start[cell + 1]) continue;
            look_around(c, b, p, false, &s);
            for (int32_t i = c->start[cell]; i < c->start[cell + 1]; i++) {
                double density;
                c->lambda[i] = lambda_of(c, &s, i, &density);
                worst = fmax(worst, density);
            }
        }
    }
    return worst;
}

/* Moves the particles themselves; the crowd keeps the places that this sweep began with. */
static double move(const crowd *c, const tl_solids *s, double gap, tl_particles *p)
{
    const tl_grid *g = c->g;
    double furthest = 0, most = FURTHEST * c->spacing;
#pragma omp parallel for schedule(dynamic) reduction(max : furthest) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) {
        surroundings around;
        int32_t there = s ? tl_grid_find(s->g, g->key[b]) : 0; /* where solids are listed */
        for (int32_t at = 0; at < g->f.size; at++) {
            int32_t cell = b * g->f.size + at;
            if (c->start[cell] == c->start[cell + 1]) continue;
            look_around(c, b, at, true, &around);
            for (int32_t i = c->start[cell]; i < c->start[cell + 1] && around.pushed; i++) {
                tl_vec3 way = shift_of(c, &around, i);
                double length = tl_vec3_norm(way), deepest = 0;
                if (!(length > 0)) continue;
                if (length > most) way = tl_vec3_scale(most / length, way);
                tl_particle *q = &p->particle[c->order[i]], out = *q;
                out.x = tl_vec3_add_scaled(q->x, g->f.dx, way);
                if (s) tl_particle_put_outside(s, there, gap, &out, &deepest);
                q->x = out.x;
                furthest = fmax(furthest, fmin(length, most));
            }
        }
    }
    return furthest * g->f.dx;
}

static talus_status take_crowd(const tl_grid_frame *f, const tl_particles *p, tl_arena *a, tl_grid *g, crowd *c,
                               talus_error *err)
{
    const tl_domain_spec nowhere = {0};
    int64_t n = p->count, kept;
    uint64_t *key = TL_TAKE(a, uint64_t, n);
    bool good = key != NULL;
    *c = (crowd){.g = g};
    good &= (c->order = TL_TAKE(a, int32_t, n)) != NULL;
    for (int k = 0; k < 3; k++) good &= (c->x[k] = TL_TAKE(a, float, n)) != NULL;
    good &= (c->share = TL_TAKE(a, float, n)) != NULL;
    good &= (c->lambda = TL_TAKE(a, float, n)) != NULL;
    if (!good) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to spread %lld particles", (long long)n);
    TL_TRY(tl_particles_order(f, &nowhere, p, key, c->order, &kept, a, err));
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

/* Places of all particles from their blocks, wrapped like their cells; the slab's axis of the 2D mode does not count. */
static void read_places(crowd *c, const tl_particles *p)
{
    const tl_grid *g = c->g;
    double per_cell = 1 / (g->f.dx * g->f.dx * g->f.dx);
#pragma omp parallel for schedule(static) if (g->blocks > 8)
    for (int32_t b = 0; b < g->blocks; b++)
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++) {
            const tl_particle *q = &p->particle[c->order[i]];
            const double x[3] = {q->x.x, q->x.y, q->x.z};
            for (int k = 0; k < 3; k++) {
                double s = tl_grid_scaled(&g->f, x[k], k) - g->corner[b][k];
                if (g->f.periodic[k]) s -= g->f.count[k] * floor(s / g->f.count[k]);
                c->x[k][i] = k == g->f.flat_axis ? 0 : (float)s;
            }
            c->share[i] = (float)(q->volume * per_cell);
        }
}

/* Kernel for the mean volume; neighbours are looked for one cell around, so its support is at most that. */
static talus_status choose_kernel(crowd *c, tl_arena *a, talus_error *err)
{
    const tl_grid *g = c->g;
    int32_t n = g->first[g->blocks];
    size_t mark = tl_arena_mark(a);
    double *part = TL_TAKE(a, double, g->blocks), pi = 3.14159265358979323846;
    if (!part) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a sum over blocks");
    for (int32_t b = 0; b < g->blocks; b++) {
        part[b] = 0;
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++) part[b] += (double)c->share[i];
    }
    double mean = tl_sum(g->blocks, part) / (n ? n : 1);
    bool flat = g->f.flat_axis >= 0;
    c->spacing = fmin(flat ? sqrt(mean) : cbrt(mean), 1.0 / SUPPORT);
    double h = SUPPORT * c->spacing;
    c->h = (float)h;
    c->sigma = (float)(flat ? 40 / (7 * pi * h * h) : 8 / (pi * h * h * h));
    tl_arena_release(a, mark);
    return TALUS_OK;
}

talus_status tl_particles_spread(const tl_grid_frame *f, const tl_solids *s, int sweeps, double gap, tl_particles *p,
                                 tl_arena *a, tl_correction *out, talus_error *err)
{
    *out = (tl_correction){0};
    if (!p->count || sweeps <= 0) return TALUS_OK;
    size_t mark = tl_arena_mark(a);
    tl_grid g;
    crowd c;
    TL_TRY(take_crowd(f, p, a, &g, &c, err));
    for (int k = 0; k < sweeps; k++) {
        read_places(&c, p);
        if (k == 0) TL_TRY(choose_kernel(&c, a, err));
        double worst = find_lambdas(&c);
        if (k == 0) out->worst = worst;
        out->furthest += move(&c, s, gap, p);
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}
