/* Routes of elastic contact: against the indefinite system (V12), condition numbers and what an incomplete factor
 * costs (V18). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "base/sum.h"
#include "lab/validate/elasto.h"
#include "lab/validate/lg_world.h"
#include "phase/elastic/trial.h"
#include "solve/flex/inside.h"

/* ---- V12 ---- */

/* [H J^T; J 0] (dv, -lam) = (-g, -c) in the order of rows: H comes first, so no pivot vanishes. */
static talus_status whole_system(const tl_flex *p, double *dv, double *lam, talus_error *err)
{
    const tl_csr *H = p->part[0].H, *J = p->J;
    const int32_t n = H->rows, m = J->rows, all = n + m;
    int64_t count = 0, room = 2 * H->start[n] + 2 * J->start[m] + all;
    int32_t *row = TL_NEW(int32_t, room), *col = TL_NEW(int32_t, room);
    double *val = TL_NEW(double, room), *x = TL_NEW(double, all);
    tl_csr K = {0};
    tl_factor *f = NULL;
    tl_factor_options options = {.kind = TL_FACTOR_LDLT, .order = TL_ORDER_NATURAL};
    talus_status status = row && col && val && x ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a case");
    for (int32_t i = 0; i < n && status == TALUS_OK; i++)
        for (int64_t k = H->start[i]; k < H->start[i + 1] && H->col[k] <= i; k++) {
            row[count] = i, col[count] = H->col[k], val[count++] = H->val[k];
            if (H->col[k] < i) row[count] = H->col[k], col[count] = i, val[count++] = H->val[k];
        }
    for (int32_t i = 0; i < m && status == TALUS_OK; i++) {
        for (int64_t k = J->start[i]; k < J->start[i + 1]; k++) {
            if (J->val[k] == 0) continue;
            row[count] = n + i, col[count] = J->col[k], val[count++] = J->val[k];
            row[count] = J->col[k], col[count] = n + i, val[count++] = J->val[k];
        }
        row[count] = col[count] = n + i, val[count++] = 0;
    }
    if (status == TALUS_OK) status = tl_csr_from_triplets(&K, all, all, count, row, col, val, err);
    if (status == TALUS_OK) status = tl_factor_create(&f, &options, err);
    if (status == TALUS_OK) status = tl_factor_update(f, &K, err);
    if (status == TALUS_OK) {
        for (int32_t i = 0; i < all; i++) x[i] = i < n ? -p->g[i] : -p->c[i - n];
        status = tl_factor_solve(f, 1, x, x, err);
        memcpy(dv, x, sizeof *x * (size_t)n);
        for (int32_t i = 0; i < m; i++) lam[i] = -x[n + i];
    }
    tl_factor_free(f);
    tl_csr_free(&K);
    tl_free(row), tl_free(col), tl_free(val), tl_free(x);
    return status;
}

static double farthest(int64_t n, const double *a, const double *b)
{
    double max = 0;
    for (int64_t i = 0; i < n; i++) max = fmax(max, fabs(a[i] - b[i]));
    return max / tl_max_abs(n, b);
}

static talus_status compare(tl_case_log *log, tl_elastic_trial *s, tl_arena *a, talus_error *err)
{
    static const char *const routes[] = {"ucg", "g-scaled", "g-matfree", "nf"};
    tl_flex p = s->flex;
    p.law = TL_FLEX_STICKY;
    const int64_t n = tl_flex_size(&p), m = 3 * (int64_t)p.contacts;
    double *dv = TL_TAKE_ZERO(a, double, n), *lam = TL_TAKE_ZERO(a, double, m), *exact = TL_TAKE_ZERO(a, double, n),
           *impulse = TL_TAKE_ZERO(a, double, m);
    if (!dv || !lam || !exact || !impulse) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a case");
    tl_csr roots = {0};
    TL_TRY(whole_system(&p, exact, impulse, err));
    TL_TRY(tl_fem_roots(s->fem, 0, s->he[0], s->modes, &roots, err));
    s->part[0].roots = &roots;
    talus_status status = TALUS_OK;
    for (int k = 0; k < 4 && status == TALUS_OK; k++) {
        tl_flex_data *kept;
        tl_flex_solver solver;
        tl_flex_report r;
        char text[120];
        status = tl_flex_data_create(&kept, err);
        memset(lam, 0, sizeof *lam * (size_t)m);
        const tl_stop stop = {.tolerance = 1e-12, .max_iterations = 600};
        if (status == TALUS_OK) status = tl_flex_begin(&solver, tl_flex_route_find(routes[k]), kept, &p, a, err);
        if (status == TALUS_OK) status = tl_flex_solve(&solver, true, true, &stop, lam, dv, &r, err);
        if (status == TALUS_OK) {
            snprintf(text, sizeof text, "%s: velocities against the indefinite system, relative", routes[k]);
            tl_case_below(log, text, farthest(n, dv, exact), 1e-9);
            snprintf(text, sizeof text, "%s: impulses, relative", routes[k]);
            tl_case_below(log, text, farthest(m, lam, impulse), 1e-9);
        }
        tl_flex_data_free(kept);
    }
    tl_csr_free(&roots);
    return status;
}

talus_status tl_elasto_v12(tl_case_log *log, talus_error *err)
{
    tl_lg_world w;
    TL_TRY(tl_lg_world_open(&w, err,
                            "engine = 'grid', gravity = {1, -9.81, 0}, fem = { elements = 'tets' }, bodies = { { name "
                            "= 'floor', kind = 'static', shape = plane {}, "
                            "friction = 0.9 }, { name = 'block', shape = box { size = 0.2 }, at = {0, 0.1, 0}, cells = "
                            "{3, 3, 3}, friction = 0.9, material = elastic { "
                            "density = 500, young = 1e4, poisson = 0.45 } } }"));
    tl_elastic_trial s;
    tl_arena arena = {0};
    talus_status status = TALUS_OK;
    for (int k = 0; k < 3 && status == TALUS_OK; k++) status = tl_sim_step(w.sim, 0.01, INFINITY, err);
    if (status == TALUS_OK) status = tl_elastic_first(w.sim, 0.01, &s, err);
    if (status == TALUS_OK) status = compare(log, &s, &arena, err);
    tl_arena_free(&arena);
    tl_world_close(&w);
    return status;
}

/* ---- V18 ---- */

#define POWERS 400

/* Largest eigenvalue by powers of A (both triangles), or of its inverse by a factor. */
static talus_status largest(const tl_csr *A, tl_factor *f, double *out, talus_error *err)
{
    const int32_t n = A->rows;
    double *x = TL_NEW(double, n), *y = TL_NEW(double, n);
    talus_status status = x && y ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a case");
    for (int32_t i = 0; i < n && status == TALUS_OK; i++) x[i] = tl_random(7, (uint64_t)i, 0) - 0.5;
    for (int k = 0; k < POWERS && status == TALUS_OK; k++) {
        if (f)
            status = tl_factor_solve(f, 1, x, y, err);
        else
            tl_csr_mul(A, x, y);
        *out = sqrt(tl_dot(n, y, y) / tl_dot(n, x, x));
        double scale = 1 / sqrt(tl_dot(n, y, y));
        for (int32_t i = 0; i < n; i++) x[i] = scale * y[i];
    }
    tl_free(x), tl_free(y);
    return status;
}

static talus_status condition(const tl_csr *A, double *out, talus_error *err)
{
    tl_factor_options options = tl_factor_options_default();
    tl_factor *f = NULL;
    double max = 0, least = 0;
    talus_status status = tl_factor_create(&f, &options, err);
    if (status == TALUS_OK) status = tl_factor_update(f, A, err);
    if (status == TALUS_OK) status = largest(A, NULL, &max, err);
    if (status == TALUS_OK) status = largest(A, f, &least, err);
    *out = max * least;
    tl_factor_free(f);
    return status;
}

static talus_status open_beam(tl_lg_world *w, const char *route, double tolerance, talus_error *err)
{
    return tl_lg_world_open(w, err,
                            "engine = 'grid', dt_max = 0.02, fem = { elements = 'tets', iterations = 200 }, solver = { "
                            "elastic = '%s', contact = { tolerance = %g } }, bodies "
                            "= { { name = 'beam', shape = box { size = {1, 0.1875, 0.1875}, center = {0.5, 0.09375, "
                            "0.09375} }, cells = {16, 3, 3}, material = elastic { "
                            "density = 500, young = 1e4, poisson = 0.49 }, anchor = box { size = {0.01, 1, 1} } } }",
                            route, tolerance);
}

static talus_status conditions(tl_case_log *log, tl_elastic_trial *s, talus_error *err)
{
    static const char *const routes[] = {"g", "g-scaled"};
    static const double expected[] = {1e3, 3.6e2};
    tl_arena arena = {0};
    tl_csr H = {0};
    double kappa = 0, *dv = TL_NEW_ZERO(double, tl_flex_size(&s->flex) + 1), none = 0;
    talus_status status =
        dv ? tl_flex_whole(&H, s->flex.part[0].H, NULL, 0, err) : TL_FAIL(err, TALUS_NO_MEMORY, "no memory");
    if (status == TALUS_OK) status = condition(&H, &kappa, err);
    if (status == TALUS_OK) tl_case_relative(log, "condition of H", kappa, 8e2, 0.5);
    for (int k = 0; k < 2 && status == TALUS_OK; k++) {
        tl_flex_data *kept;
        tl_flex_solver solver;
        tl_flex_report r;
        status = tl_flex_data_create(&kept, err);
        if (status == TALUS_OK)
            status = tl_flex_begin(&solver, tl_flex_route_find(routes[k]), kept, &s->flex, &arena, err);
        if (status == TALUS_OK)
            status = tl_flex_solve(&solver, true, false, &(tl_stop){.tolerance = 1e-6}, &none, dv, &r, err);
        if (status == TALUS_OK) status = condition(&kept->roots[0].A, &kappa, err);
        if (status == TALUS_OK)
            tl_case_relative(log, k ? "condition of the scaled system of g" : "condition of the system of g", kappa,
                             expected[k], 0.5);
        tl_flex_data_free(kept);
    }
    tl_csr_free(&H);
    tl_free(dv);
    tl_arena_free(&arena);
    return status;
}

talus_status tl_elasto_v18(tl_case_log *log, talus_error *err)
{
    tl_lg_world w;
    tl_elastic_trial s;
    TL_TRY(open_beam(&w, "schur", 1e-9, err));
    talus_status status = TALUS_OK;
    for (int k = 0; k < 10 && status == TALUS_OK; k++) status = tl_sim_step(w.sim, 0.02, INFINITY, err);
    if (status == TALUS_OK) status = tl_elastic_first(w.sim, 0.02, &s, err);
    if (status == TALUS_OK) status = conditions(log, &s, err);
    tl_world_close(&w);
    double its[2] = {0, 0};
    for (int k = 0; k < 2 && status == TALUS_OK; k++) { /* of 1 m/s: 1e-4 */
        status = open_beam(&w, k ? "ic" : "g-matfree", 1e-4, err);
        if (status != TALUS_OK) break;
        for (int i = 0; i < 10 && status == TALUS_OK; i++) status = tl_sim_step(w.sim, 0.02, INFINITY, err);
        its[k] = w.sim->report.solve[0].iterations;
        tl_world_close(&w);
    }
    if (status == TALUS_OK) {
        tl_case_near(log, "corrections of the tenth step to 1e-4 m/s, projected Hessian", its[0], 6, 3);
        /* 33 over 6 in the prototype, whose rows have another order */
        tl_case_above(log, "the same with an incomplete factor in its place, over that", its[1] / its[0], 5);
    }
    return status;
}
