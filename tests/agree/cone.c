/* All methods of the cone kind on the same problems, with checks that use nothing of src/solve. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/random.h"
#include "check.h"
#include "lab/bench/gen_cone.h"
#include "solve/cone/method.h"

static talus_error err;

/* Problem k of 40: sizes 2 and 5, condition 1e1 to 1e4, tight and loose, singular, pinned and huge mixed. */
static tl_gen_cone_spec spec_of(int k)
{
    static const double tightness[5] = {0.7, 0.1, 3, 0.3, 1.2};
    int size = k % 2 ? 5 : 2, groups = (k % 10 < 4 ? 6 : 16) * (size == 2 ? 2 : 1) + k / 4;
    return (tl_gen_cone_spec){.seed = 1000 + (uint64_t)k,
                              .size = size,
                              .groups = groups,
                              .condition = pow(10, 1 + k / 2 % 4),
                              .null_modes = k % 3 == 2 ? groups / 2 : 0,
                              .tightness = tightness[k % 5],
                              .pinned = k % 4 == 1 ? 7 : 0,
                              .huge = k % 7 > 3 ? 9 : 0};
}

/* Largest KKT residual over groups, written out: grad = 0 inside, grad = -theta Q x with theta >= 0 on
 * the rim, relative to max|b|. Groups within `rim` of their radius may be either. */
static double kkt(const tl_gen_cone *g, const double *x, double rim)
{
    int m = g->problem.size;
    double worst = 0, scale = 0;
    for (int64_t i = 0; i < g->space.n; i++) scale = fmax(scale, fabs(g->b[i]));
    for (int64_t k = 0; k < g->space.n / m; k++) {
        double grad[5], Qx[5], length2 = 0, along = 0, free = 0, bound = 0;
        if (g->radius[k] == 0) continue;
        for (int i = 0; i < m; i++) {
            int64_t row = k * m + i;
            grad[i] = -g->b[row];
            for (int64_t e = g->A.start[row]; e < g->A.start[row + 1]; e++) grad[i] += g->A.val[e] * x[g->A.col[e]];
            Qx[i] = 0;
            for (int j = 0; j < m; j++) Qx[i] += g->problem.Q[i * m + j] * x[k * m + j];
            length2 += Qx[i] * x[k * m + i];
            along += grad[i] * x[k * m + i];
        }
        double theta = -along / length2;
        for (int i = 0; i < m; i++) {
            free = fmax(free, fabs(grad[i]));
            bound = fmax(bound, fabs(grad[i] + theta * Qx[i]));
        }
        bool on_rim = sqrt(length2) > (1 - rim) * g->radius[k];
        worst = fmax(worst, on_rim && theta > 0 ? fmin(free, bound) : free);
    }
    return worst / scale;
}

static double energy_of(const tl_gen_cone *g, const double *x)
{
    double e = 0;
    for (int64_t i = 0; i < g->space.n; i++) {
        double Ax = 0;
        for (int64_t k = g->A.start[i]; k < g->A.start[i + 1]; k++) Ax += g->A.val[k] * x[g->A.col[k]];
        e += x[i] * (0.5 * Ax - g->b[i]);
    }
    return e;
}

/* Plain projected gradient with the safe step 1/(|A| |Q^-1|), many steps: slow, simple, independent.
 * In the metric of Q, so that radial scaling is its exact projection. */
static double reference_energy(const tl_gen_cone *g, double norm, int steps)
{
    int m = g->problem.size;
    int64_t n = g->space.n;
    double *x = TL_NEW_ZERO(double, n), *grad = TL_NEW(double, n);
    for (int s = 0; s < steps; s++) {
        for (int64_t i = 0; i < n; i++) {
            grad[i] = -g->b[i];
            for (int64_t k = g->A.start[i]; k < g->A.start[i + 1]; k++) grad[i] += g->A.val[k] * x[g->A.col[k]];
        }
        for (int64_t k = 0; k < n / m; k++) {
            double *xg = x + k * m, *d = grad + k * m, length = 0;
            if (m == 5) { /* Q^-1 of the stress form */
                double xx = (2 * d[0] - d[4]) / 3, zz = (2 * d[4] - d[0]) / 3;
                for (int i = 1; i < 4; i++) d[i] /= 2;
                d[0] = xx, d[4] = zz;
            }
            for (int i = 0; i < m; i++) xg[i] -= d[i] / norm;
            for (int i = 0; i < m; i++)
                for (int j = 0; j < m; j++) length += xg[i] * g->problem.Q[i * m + j] * xg[j];
            length = sqrt(length);
            for (int i = 0; i < m && length > g->radius[k]; i++) xg[i] *= g->radius[k] / length;
        }
    }
    double e = energy_of(g, x);
    tl_free(x);
    tl_free(grad);
    return e;
}

static void forty_random_problems(void **state)
{
    (void)state;
    tl_arena a = {0};
    tl_options o = tl_options_default();
    int references = 0;
    for (int k = 0; k < 40; k++) {
        tl_gen_cone g;
        tl_gen_cone_spec spec = spec_of(k);
        CHECK_OK(tl_gen_cone_random(&g, &spec, &err));
        double *x = TL_NEW(double, g.space.n), energy[8];
        for (int i = 0; i < tl_cone_method_count(); i++) {
            const tl_cone_method *m = tl_cone_method_at(i);
            tl_cone_report r;
            memset(x, 0, sizeof *x * (size_t)g.space.n);
            CHECK_OK(tl_cone_solve(m, &g.problem, &o,
                                   &(tl_stop){.tolerance = 1e-8, .max_products = m->feasible ? 100000 : 10000}, x, &a,
                                   &r, &err));
            energy[i] = r.certificate.energy;
            CHECK_REL(r.certificate.energy, energy_of(&g, x), 1e-10);
            if (!m->feasible) {
                print_message("%2d  %d x %d, condition %g, tightness %g, null %d: %s %s, gap %.1e |E|, violation %.1e, "
                              "%lld products\n",
                              k, spec.groups, spec.size, spec.condition, spec.tightness, spec.null_modes, m->name,
                              tl_result_name(r.outcome.result), r.certificate.relative_gap,
                              r.certificate.relative_violation, (long long)r.work.products);
                continue;
            }
            assert_int_equal(r.outcome.result, TL_CONVERGED);
            CHECK_LE(r.certificate.relative_gap, 1e-8);
            CHECK_LE(r.certificate.relative_violation, 1e-12);
            /* two gaps of 1e-8 |E| bound the difference of energies */
            CHECK_REL(energy[i], energy[0], 2e-8);

            /* tighter, where KKT is a sharper judge than E: gap 1e-12 |E| leaves gradients of about its root */
            CHECK_OK(tl_cone_solve(m, &g.problem, &o, &(tl_stop){.tolerance = 1e-12, .max_products = 100000}, x, &a, &r,
                                   &err));
            CHECK_LE(r.certificate.relative_gap, 1e-11);
            CHECK_LE(kkt(&g, x, 1e-6), 1e-4);
        }
        if (g.space.n <= 100 && spec.condition <= 100) {
            references++;
            /* the step is safe: eigenvalues of A end at condition, those of Q begin at 1 */
            double lowest = reference_energy(&g, spec.condition, 10000);
            CHECK_LE(energy[0] - lowest, 1e-8 * fabs(lowest));
            CHECK_LE(lowest - energy[0], 1e-6 * fabs(lowest)); /* what the slow reference may lack */
        }
        tl_free(x);
        tl_gen_cone_free(&g);
    }
    assert_true(references >= 4);
    tl_arena_free(&a);
}

static void stacked_blocks_and_sand(void **state)
{
    (void)state;
    tl_arena a = {0};
    tl_options o = tl_options_default();
    for (int k = 0; k < 3; k++) {
        tl_gen_cone g;
        tl_gen_cone_blocks_spec blocks = {.columns = 4,
                                          .levels = 5,
                                          .tilt_deg = k ? 35 : 15,
                                          .azimuth_deg = 20,
                                          .friction = 0.5,
                                          .side_press = 0.5,
                                          .mass_spread = 1,
                                          .seed = 4};
        if (k < 2)
            CHECK_OK(tl_gen_cone_blocks(&g, &blocks, &err));
        else
            CHECK_OK(tl_gen_cone_stress(&g, 6, 8, 6, 2, &err));
        double *x = TL_NEW(double, g.space.n), first = 0;
        for (int i = 0; i < tl_cone_method_count(); i++) {
            const tl_cone_method *m = tl_cone_method_at(i);
            tl_cone_report r;
            memset(x, 0, sizeof *x * (size_t)g.space.n);
            tl_stop stop = {.tolerance = 1e-8, .max_products = m->feasible ? 20000 : 4000};
            CHECK_OK(tl_cone_solve(m, &g.problem, &o, &stop, x, &a, &r, &err));
            print_message("%s: %s %s, gap %.1e |E|, violation %.1e, %lld products\n", k < 2 ? "blocks" : "sand box",
                          m->name, tl_result_name(r.outcome.result), r.certificate.relative_gap,
                          r.certificate.relative_violation, (long long)r.work.products);
            if (i == 0) first = r.certificate.energy;
            if (!m->feasible) continue;
            CHECK_LE(r.certificate.relative_gap, 1e-8);
            CHECK_LE(r.certificate.relative_violation, 1e-12);
            CHECK_REL(r.certificate.energy, first, 2e-8);
            /* friction cannot take more energy than there is */
            if (k < 2) CHECK_LE(-(g.kinetic + r.certificate.energy), 1e-8 * g.kinetic);
        }
        tl_free(x);
        tl_gen_cone_free(&g);
    }
    tl_arena_free(&a);
}

int main(void)
{
    tl_threads_set(1); /* rows are short here: waking a second thread costs more than it gives */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forty_random_problems),
        cmocka_unit_test(stacked_blocks_and_sand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
