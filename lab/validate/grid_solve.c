/* V6: bounded solves against an interior point method that shares nothing with them. V11: a system that went through
 * a file. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/capture.h"
#include "lab/bench/gen_boxqp.h"
#include "lab/validate/grid_cases.h"
#include "lab/validate/still.h"
#include "solve/boxqp/method.h"

#define N 40

/* ---- V6 ---- */

/* K x = r by Cholesky, in place; K [N][N] is overwritten. */
static void solve_dense(double K[N][N], double *r)
{
    for (int j = 0; j < N; j++) {
        for (int k = 0; k < j; k++) K[j][j] -= K[j][k] * K[j][k];
        K[j][j] = sqrt(K[j][j]);
        for (int i = j + 1; i < N; i++) {
            for (int k = 0; k < j; k++) K[i][j] -= K[i][k] * K[j][k];
            K[i][j] /= K[j][j];
        }
    }
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < i; k++) r[i] -= K[i][k] * r[k];
        r[i] /= K[i][i];
    }
    for (int i = N - 1; i >= 0; i--) {
        for (int k = i + 1; k < N; k++) r[i] -= K[k][i] * r[k];
        r[i] /= K[i][i];
    }
}

/* Primal-dual path following: z, w > 0 multiply x - lo and hi - x; each step halves or better what they miss by. */
static void interior_point(const tl_boxqp_case *c, double *x)
{
    double A[N][N] = {{0}}, K[N][N], z[N], w[N], dx[N];
    for (int i = 0; i < N; i++)
        for (int64_t k = c->A.start[i]; k < c->A.start[i + 1]; k++) A[i][c->A.col[k]] = c->A.val[k];
    for (int i = 0; i < N; i++) {
        x[i] = 0.5 * (c->lo[i] + c->hi[i]);
        z[i] = w[i] = 1;
    }
    for (int step = 0; step < 80; step++) {
        double mu = 0, longest = 1;
        for (int i = 0; i < N; i++) mu += (z[i] * (x[i] - c->lo[i]) + w[i] * (c->hi[i] - x[i])) / (2 * N);
        mu *= 0.1;
        memcpy(K, A, sizeof K);
        for (int i = 0; i < N; i++) {
            double s = x[i] - c->lo[i], t = c->hi[i] - x[i];
            dx[i] = c->b[i] + mu / s - mu / t;
            for (int k = 0; k < N; k++) dx[i] -= A[i][k] * x[k];
            K[i][i] += z[i] / s + w[i] / t;
        }
        solve_dense(K, dx);
        for (int i = 0; i < N; i++) {
            double s = x[i] - c->lo[i], t = c->hi[i] - x[i];
            double dz = mu / s - z[i] - z[i] / s * dx[i], dw = mu / t - w[i] + w[i] / t * dx[i];
            if (dx[i] < 0) longest = fmin(longest, -0.995 * s / dx[i]);
            if (dx[i] > 0) longest = fmin(longest, 0.995 * t / dx[i]);
            if (dz < 0) longest = fmin(longest, -0.995 * z[i] / dz);
            if (dw < 0) longest = fmin(longest, -0.995 * w[i] / dw);
        }
        for (int i = 0; i < N; i++) {
            double s = x[i] - c->lo[i], t = c->hi[i] - x[i];
            double dz = mu / s - z[i] - z[i] / s * dx[i], dw = mu / t - w[i] + w[i] / t * dx[i];
            x[i] += longest * dx[i];
            z[i] += longest * dz;
            w[i] += longest * dw;
        }
        if (mu < 1e-15) break;
    }
}

talus_status tl_case_grid_v6(tl_case_log *log, talus_error *err)
{
    static const char *const names[] = {"mprgp", "mprgp-original"};
    tl_arena a = {0};
    talus_status status = TALUS_OK;
    for (int m = 0; m < 2 && status == TALUS_OK; m++) {
        double worst = 0, active = 0;
        for (int i = 0; i < 40 && status == TALUS_OK; i++) {
            tl_boxqp_case c;
            double x[N], size = 0;
            status = tl_gen_random_boxqp(&c, N, 100, N, (uint64_t)i + 1, err);
            if (status != TALUS_OK) break;
            interior_point(&c, x);
            tl_options o = tl_options_default();
            tl_boxqp_report r;
            status = tl_boxqp_solve(tl_boxqp_method_find(names[m]), &c.qp, &o, &(tl_stop){1e-12, 0, 100000}, c.x0, &a,
                                    &r, err);
            for (int k = 0; k < N; k++) size = fmax(size, fabs(x[k]));
            for (int k = 0; k < N; k++) {
                worst = fmax(worst, fabs(c.x0[k] - x[k]) / size);
                active += c.x0[k] == c.lo[k] || c.x0[k] == c.hi[k];
            }
            tl_boxqp_case_free(&c);
        }
        char name[80];
        snprintf(name, sizeof name, "%s against an interior point, worst x of 40, relative", names[m]);
        if (status == TALUS_OK) tl_case_below(log, name, worst, 1e-8);
        snprintf(name, sizeof name, "%s: share of unknowns at a bound", names[m]);
        if (status == TALUS_OK) tl_case_above(log, name, active / (40 * N), 0.1);
    }
    tl_arena_free(&a);
    return status;
}

/* ---- V11 ---- */

static const char *const tank =
    "return scene { talus = 1, engine = 'grid', duration = 1, grid = { cells = {8, 12, 6}, cell = 0.1 },"
    " bodies = { { name = 'post', kind = 'static', shape = cylinder { radius = 0.17, height = 2 }, at = {0.43, 0.3, "
    "0.31} } } }";

static double wavy(tl_vec3 x) { return x.y - 0.7 - 0.13 * sin(6 * x.x) * cos(4 * x.z); }

/* The solved system as a boxqp problem. lo of zeros, b from the velocities before the solve. */
static talus_status write_system(const tl_still *s, const char *path, tl_arena *a, talus_error *err)
{
    const tl_coupling *c = &s->system.c;
    tl_csr rows;
    double *b = TL_TAKE(a, double, c->cells), *lo = TL_TAKE_ZERO(a, double, c->cells);
    double *hi = TL_TAKE(a, double, c->cells);
    if (!b || !lo || !hi) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a case");
    TL_TRY(tl_coupling_rows(c, &rows, a, err));
    tl_system_load(&s->system, s->faces.u);
    tl_coupling_pressure_gradient(c, b);
    for (int32_t i = 0; i < c->cells; i++) {
        b[i] = -b[i];
        hi[i] = INFINITY;
    }
    tl_space space = tl_space_local(c->cells);
    tl_boxqp qp = {.space = &space, .A = tl_linop_csr(&rows), .b = b, .lo = lo, .hi = hi};
    tl_capture_info info = {.note = "validate grid V11", .tolerance = s->tolerance, .solution = s->p};
    return tl_capture_boxqp(path, &qp, &info, err);
}

/* Largest difference of the velocities that p gives from u1, over those before the solve. */
static double velocity_error(tl_still *s, const double *p, const double *u1)
{
    tl_coupling *c = &s->system.c;
    double max = 0, size = 0;
    tl_system_load(&s->system, s->faces.u);
    for (int32_t f = 0; f < c->faces; f++) size = fmax(size, fabs(c->u[f]));
    tl_coupling_push_pressure(c, p);
    for (int32_t f = 0; f < c->faces; f++) max = fmax(max, fabs(c->u[f] - u1[f]));
    return max / size;
}

static talus_status through_file(tl_case_log *log, tl_still *s, const char *path, talus_error *err)
{
    tl_arena *a = &s->sim->arena;
    s->phi = wavy;
    s->tolerance = 1e-13;
    TL_TRY(tl_still_solve(s, err));
    const tl_coupling *c = &s->system.c;
    double *u1 = TL_TAKE(a, double, c->faces), *x = TL_TAKE_ZERO(a, double, c->cells);
    if (!u1 || !x) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a case");
    memcpy(u1, c->u, sizeof *u1 * (size_t)c->faces);
    TL_TRY(write_system(s, path, a, err));
    tl_captured *read;
    TL_TRY(tl_capture_load(path, &read, err));
    bool there = read->kind == TL_KIND_BOXQP && read->solution && read->space.n == c->cells;
    tl_case_above(log, "unknowns read back", there ? c->cells : 0, 100);
    talus_status status = TALUS_OK;
    if (there) {
        tl_case_below(log, "velocities from the solution in the file, relative", velocity_error(s, read->solution, u1),
                      1e-12);
        tl_options o = tl_options_default();
        tl_boxqp_report r;
        status = tl_precond_create(&o.precond, tl_precond_find("mic"), &read->A, err);
        if (status == TALUS_OK)
            status = tl_boxqp_solve(tl_boxqp_method_find("mprgp"), &read->boxqp, &o, &(tl_stop){1e-14, 0, 10000}, x, a,
                                    &r, err);
        tl_precond_free(o.precond);
        if (status == TALUS_OK)
            tl_case_below(log, "velocities from the file's system solved again by mprgp, relative",
                          velocity_error(s, x, u1), 1e-12);
    }
    tl_captured_free(read);
    return status;
}

talus_status tl_case_grid_v11(tl_case_log *log, talus_error *err)
{
    char folder[1024], path[1100];
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.900s/talus-v11-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder))
        return TL_FAIL(err, TALUS_IO, "%.300s: cannot make a folder for a case: %s", folder, strerror(errno));
    snprintf(path, sizeof path, "%s/system.h5", folder);
    tl_still s;
    talus_status status = tl_still_begin(&s, tank, err);
    if (status == TALUS_OK) status = through_file(log, &s, path, err);
    tl_still_end(&s);
    unlink(path);
    rmdir(folder);
    return status;
}
