#include "lab/bench/gen_boxqp.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"

void tl_boxqp_case_free(tl_boxqp_case *c)
{
    tl_csr_free(&c->A);
    tl_free(c->b);
    tl_free(c->lo);
    tl_free(c->hi);
    tl_free(c->diag);
    tl_free(c->x0);
    *c = (tl_boxqp_case){0};
}

static talus_status take_vectors(tl_boxqp_case *c, int64_t n, talus_error *err)
{
    c->space = tl_space_local(n);
    double **vectors[] = {&c->b, &c->lo, &c->hi, &c->diag, &c->x0};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = TL_NEW(double, n);
        if (!*vectors[k]) {
            tl_boxqp_case_free(c);
            return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a problem of %lld unknowns", (long long)n);
        }
    }
    return TALUS_OK;
}

static void finish(tl_boxqp_case *c)
{
    tl_csr_diagonal(&c->A, c->diag);
    c->qp =
        (tl_boxqp){.space = &c->space, .A = tl_linop_csr(&c->A), .b = c->b, .lo = c->lo, .hi = c->hi, .diag = c->diag};
}

/* ---- wall separation ---- */

#define DENSITY 1000.0
#define GRAVITY 9.81
#define TIME_STEP 0.005
#define RADIUS 0.45    /* of the container, in a unit cube */
#define THETA_MIN 0.01 /* least liquid share of a surface link [spec section 3] */
#define OPEN_MIN 1e-6  /* faces less open than this are closed */

typedef struct world {
    int n;
    double dx;
    uint64_t seed;
} world;

/* Signed distance to the container's wall, negative inside. */
static double wall(const double p[3])
{
    double x = p[0] - 0.5, y = p[1] - 0.5, z = p[2] - 0.5;
    return sqrt(x * x + y * y + z * z) - RADIUS;
}

/* Negative in the liquid: a pool below a wavy surface, a layer above another one. */
static double liquid(const double p[3])
{
    double wave = 0.02 * sin(17 * p[0] + 3) * cos(13 * p[2]);
    double pool = p[1] - (0.27 + wave), roof = (0.74 + 1.5 * wave) - p[1];
    return pool < roof ? pool : roof;
}

/* Velocity component `axis`: free fall of ten steps plus the curl of a few random waves (m/s). */
static double velocity(const world *w, int axis, const double p[3])
{
    double u = axis == 1 ? -GRAVITY * 10 * TIME_STEP : 0;
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    for (uint64_t k = 0; k < 6; k++) {
        /* curl of A cos(k.x + phase): -(k x A) sin(k.x + phase) */
        double wave[3], amp[3], phase = 6.28 * tl_random(w->seed, k, 6), dot = 0;
        for (uint64_t d = 0; d < 3; d++) {
            wave[d] = 14 * (tl_random(w->seed, k, d) - 0.5);
            amp[d] = 0.12 * (tl_random(w->seed, k, 3 + d) - 0.5);
            dot += wave[d] * p[d];
        }
        u -= (wave[b] * amp[c] - wave[c] * amp[b]) * sin(dot + phase);
    }
    return u;
}

/* Open share of a face: 8 x 8 samples of a ramp one sample wide, exact for axis-aligned walls. */
static double open_area(const world *w, int axis, const double centre[3])
{
    double far = wall(centre);
    if (far < -w->dx) return 1;
    if (far > w->dx) return 0;
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    double sub = w->dx / 8, open = 0;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            double p[3] = {centre[0], centre[1], centre[2]};
            p[b] += (i - 3.5) * sub;
            p[c] += (j - 3.5) * sub;
            double inside = 0.5 - wall(p) / sub;
            open += inside < 0 ? 0 : inside > 1 ? 1 : inside;
        }
    open /= 64;
    return open < OPEN_MIN ? 0 : open;
}

static void cell_centre(const world *w, int x, int y, int z, double p[3])
{
    p[0] = (x + 0.5) * w->dx;
    p[1] = (y + 0.5) * w->dx;
    p[2] = (z + 0.5) * w->dx;
}

typedef struct row {
    double diag, side[6], b; /* sides in the order -x -y -z +z +y +x, that of rising columns */
    bool used;
} row;

static const int side_axis[6] = {0, 1, 2, 2, 1, 0}, side_sign[6] = {-1, -1, -1, 1, 1, 1};

/* Coefficients of one cell; side[k] is 0 where there is no neighbour unknown. */
static row make_row(const world *w, int x, int y, int z)
{
    row r = {0};
    double centre[3];
    cell_centre(w, x, y, z, centre);
    double here = liquid(centre);
    if (here >= 0) return r;
    double unit = TIME_STEP / (DENSITY * w->dx * w->dx);
    for (int k = 0; k < 6; k++) {
        double face[3] = {centre[0], centre[1], centre[2]}, other[3] = {centre[0], centre[1], centre[2]};
        face[side_axis[k]] += 0.5 * side_sign[k] * w->dx;
        other[side_axis[k]] += side_sign[k] * w->dx;
        double open = open_area(w, side_axis[k], face);
        if (open == 0) continue;
        double there = liquid(other), theta = there < 0 ? 1 : here / (here - there);
        double coefficient = unit * open / (theta < THETA_MIN ? THETA_MIN : theta);
        r.diag += coefficient;
        if (there < 0) r.side[k] = -coefficient;
        r.b -= side_sign[k] * open * velocity(w, side_axis[k], face) / w->dx;
    }
    r.used = r.diag > 0;
    return r;
}

talus_status tl_gen_wall_separation(tl_boxqp_case *c, int cells, uint64_t seed, talus_error *err)
{
    *c = (tl_boxqp_case){0};
    if (cells < 8 || cells > 1000)
        return TL_FAIL(err, TALUS_BAD_INPUT, "wall separation needs 8 to 1000 cells per edge, got %d", cells);
    world w = {cells, 1.0 / cells, seed};
    int64_t total = (int64_t)cells * cells * cells;
    row *rows = TL_NEW(row, total);
    int32_t *number = TL_NEW(int32_t, total);
    talus_status status = rows && number ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d^3 cells", cells);
    if (status == TALUS_OK) {
#pragma omp parallel for schedule(dynamic, 1)
        for (int x = 0; x < cells; x++)
            for (int y = 0; y < cells; y++)
                for (int z = 0; z < cells; z++) rows[((int64_t)x * cells + y) * cells + z] = make_row(&w, x, y, z);
        int32_t n = 0;
        int64_t nonzeros = 0;
        for (int64_t i = 0; i < total; i++) {
            number[i] = rows[i].used ? n++ : -1;
            if (!rows[i].used) continue;
            nonzeros++;
            for (int k = 0; k < 6; k++) nonzeros += rows[i].side[k] != 0;
        }
        status = tl_csr_create(&c->A, n, n, nonzeros, err);
        if (status == TALUS_OK) status = take_vectors(c, n, err);
    }
    if (status == TALUS_OK) {
        const int64_t stride[6] = {-(int64_t)cells * cells, -cells, -1, 1, cells, (int64_t)cells * cells};
        int64_t out = 0;
        for (int64_t i = 0; i < total; i++) {
            if (!rows[i].used) continue;
            int32_t at = number[i];
            for (int k = 0; k < 7; k++) {
                if (k == 3) {
                    c->A.col[out] = at;
                    c->A.val[out++] = rows[i].diag;
                    continue;
                }
                int side = k < 3 ? k : k - 1;
                if (rows[i].side[side] == 0) continue;
                c->A.col[out] = number[i + stride[side]];
                c->A.val[out++] = rows[i].side[side];
            }
            c->A.start[at + 1] = out;
            c->b[at] = rows[i].b;
            c->lo[at] = 0;
            c->hi[at] = INFINITY;
            c->x0[at] = 1; /* Pa; a small positive pressure, so that no method starts on all bounds at once */
        }
        finish(c);
    }
    tl_free(rows);
    tl_free(number);
    if (status != TALUS_OK) tl_boxqp_case_free(c);
    return status;
}

/* ---- random ---- */

/* A <- H A H for the Householder reflection H = 1 - 2 v v' with unit v. */
static void reflect(int n, double *A, const double *v, double *Av)
{
    double vAv = 0;
    for (int i = 0; i < n; i++) {
        Av[i] = 0;
        for (int j = 0; j < n; j++) Av[i] += A[i * n + j] * v[j];
        vAv += v[i] * Av[i];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A[i * n + j] += 4 * vAv * v[i] * v[j] - 2 * (v[i] * Av[j] + Av[i] * v[j]);
}

talus_status tl_gen_random_boxqp(tl_boxqp_case *c, int n, double condition, int rank, uint64_t seed, talus_error *err)
{
    *c = (tl_boxqp_case){0};
    if (n < 1 || n > 4000 || !(condition >= 1) || rank < 1 || rank > n)
        return TL_FAIL(err, TALUS_BAD_INPUT, "random box QP: n %d (1 to 4000), condition %g (>= 1), rank %d (1 to n)",
                       n, condition, rank);
    double *dense = TL_NEW_ZERO(double, (int64_t)n *n), *v = TL_NEW(double, n), *Av = TL_NEW(double, n);
    talus_status status =
        dense && v && Av ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a %d x %d matrix", n, n);
    if (status == TALUS_OK) status = tl_csr_create(&c->A, n, n, (int64_t)n * n, err);
    if (status == TALUS_OK) status = take_vectors(c, n, err);
    if (status == TALUS_OK) {
        for (int i = 0; i < rank; i++) {
            double t = rank > 1 ? i / (double)(rank - 1) : 0;
            dense[i * n + i] = pow(condition, -t);
        }
        for (uint64_t k = 0; k < 8; k++) { /* eight reflections mix every pair of axes */
            double length = 0;
            for (int i = 0; i < n; i++) v[i] = tl_random_normal(seed, k + 1, (uint64_t)i), length += v[i] * v[i];
            for (int i = 0; i < n; i++) v[i] /= sqrt(length);
            reflect(n, dense, v, Av);
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                c->A.col[(int64_t)i * n + j] = j;
                c->A.val[(int64_t)i * n + j] = 0.5 * (dense[i * n + j] + dense[j * n + i]);
            }
            c->A.start[i + 1] = (int64_t)(i + 1) * n;
        }
        /* b = A x_free for a random x_free, boxes around the origin that cut some of it off */
        for (int i = 0; i < n; i++) {
            v[i] = tl_random_normal(seed, 100, (uint64_t)i);
            double size = 0.2 + 1.3 * tl_random(seed, 101, (uint64_t)i);
            c->lo[i] = -size;
            c->hi[i] = size * (0.5 + tl_random(seed, 102, (uint64_t)i));
            c->x0[i] = 0;
        }
        tl_csr_mul(&c->A, v, c->b);
        finish(c);
    }
    tl_free(dense);
    tl_free(v);
    tl_free(Av);
    if (status != TALUS_OK) tl_boxqp_case_free(c);
    return status;
}
