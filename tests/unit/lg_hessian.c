/* The curvature that corrections use: against differences of forces, for all kinds of elements and materials. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/lg/hessian.h"
#include "rigid.h"

static talus_error err;

static double noise(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 - 0.5;
}

/* y = (M + he^2 curvature) x of body 0, from the values up to the diagonal. */
static void multiply(const tl_csr *H, const double *x, double *y)
{
    memset(y, 0, sizeof *y * (size_t)H->rows);
    for (int32_t i = 0; i < H->rows; i++)
        for (int64_t k = H->start[i]; k < H->start[i + 1] && H->col[k] <= i; k++) {
            y[i] += H->val[k] * x[H->col[k]];
            if (H->col[k] < i) y[H->col[k]] += H->val[k] * x[i];
        }
}

/* Largest relative error of H x against the change of forces, over directions. */
static double error_of(const tl_lg *lg, double he, double stretch, double pressure)
{
    const int64_t n = 3 * (int64_t)lg->nodes;
    double *q = test_calloc((size_t)n, sizeof *q), *x = test_calloc((size_t)n, sizeof *x),
           *y = test_calloc((size_t)n, sizeof *y), *at = test_calloc((size_t)n, sizeof *at),
           *r[2] = {test_calloc((size_t)n, sizeof *at), test_calloc((size_t)n, sizeof *at)},
           *force = test_calloc((size_t)lg->force_count, sizeof *force);
    uint64_t seed = 7;
    tl_lg_hessian *h;
    double worst = 0;
    CHECK_OK(tl_lg_hessian_create(&h, lg, &err));
    /* turned by a quarter, stretched along one axis, each node aside by a little */
    for (int64_t i = 0; i < lg->nodes; i++) {
        const double *from = lg->rest + 3 * i;
        q[3 * i] = -stretch * from[1] + 0.002 * noise(&seed);
        q[3 * i + 1] = from[0] + 0.002 * noise(&seed);
        q[3 * i + 2] = from[2] + 0.002 * noise(&seed);
    }
    tl_lg_hessian_press(h, 0, pressure);
    talus_status status = tl_lg_hessian_update(h, 0, he, q, 0, &err);
    assert_true(status == TALUS_OK || status == TALUS_NOT_DEFINITE); /* pressed: no factor, but the matrix stands */
    for (int d = 0; d < 4; d++) {
        double max = 0, off = 0, eps = 1e-6;
        for (int64_t i = 0; i < n; i++) x[i] = noise(&seed);
        multiply(tl_lg_hessian_matrix(h, 0), x, y);
        for (int s = 0; s < 2; s++) {
            for (int64_t i = 0; i < n; i++) at[i] = q[i] + (s ? -eps : eps) * x[i];
            (void)tl_lg_stress(lg, at, force);
            tl_lg_residual(lg, he, at, q, NULL, force, r[s]);
            tl_lg_press(lg, &pressure, he * he, at, r[s]);
        }
        for (int64_t i = 0; i < n; i++) {
            max = fmax(max, fabs(y[i]));
            off = fmax(off, fabs(y[i] - (r[1][i] - r[0][i]) / (2 * eps)));
        }
        worst = fmax(worst, off / max);
    }
    tl_lg_hessian_free(h);
    test_free(q), test_free(x), test_free(y), test_free(at), test_free(r[0]), test_free(r[1]), test_free(force);
    return worst;
}

static void is_the_slope_of_forces(void **state)
{
    (void)state;
    static const char *const models[] = {"arap", "corotated", "neo_hookean"};
    static const struct {
        const char *name, *body;
        double max; /* of hexahedra: what turns do to hourglass modes is left out */
    } kinds[] = {
        {"tetrahedra", "shape = box { size = {0.3, 0.1, 0.1} }, cells = {3, 1, 1}, element = 'tetrahedra'", 1e-6},
        {"hexahedra", "shape = box { size = {0.3, 0.1, 0.1} }, cells = {3, 1, 1}", 0.05},
        {"cloth", "shape = box { size = {0.3, 0.2, 0.002} }, cells = {3, 2, 1}, thickness = 0.002", 1e-6}};
    for (int k = 0; k < 9; k++) {
        rigid_case c = rigid_open(NULL,
                                  "engine = 'lg', bodies = { { name = 'soft', %s, material = elastic { density = 1000, "
                                  "young = 1e6, poisson = 0.35, model = '%s' } } }",
                                  kinds[k / 3].body, models[k % 3]);
        for (int s = 0; s < 2; s++) {
            double off = error_of(&c.sim->lg, 0.01, s ? 1.2 : 0.85, 0);
            printf("%s, %s, stretched %g: %.2g\n", kinds[k / 3].name, models[k % 3], s ? 1.2 : 0.85, off);
            CHECK_LE(off, kinds[k / 3].max);
        }
        rigid_close(&c);
    }
}

/* A closed surface under pressure: the whole slope. It counts: without it the matrix would be off by a hundredth and
 * more. */
static void knows_of_pressure(void **state)
{
    (void)state;
    static const char *const elements[] = {"tetrahedra", "hexahedron"};
    for (int k = 0; k < 2; k++) {
        rigid_case c =
            rigid_open(NULL,
                       "engine = 'lg', bodies = { { shape = box { size = {0.3, 0.1, 0.1} }, cells = {3, 1, 1}, "
                       "element = '%s', material = elastic { density = 1000, young = 1e6, poisson = 0.35, "
                       "model = 'arap' } } }",
                       elements[k]);
        const double plain = error_of(&c.sim->lg, 0.01, 1.2, 0);
        for (int s = 0; s < 2; s++) {
            const double off = error_of(&c.sim->lg, 0.01, 1.2, s ? 3e5 : -1e5);
            printf("%s under %g Pa: %.2g, without %.2g\n", elements[k], s ? 3e5 : -1e5, off, plain);
            assert_true(c.sim->lg.body[0].sealed);
            CHECK_LE(off, k ? 1.1 * plain : 1e-6);
        }
        rigid_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_the_slope_of_forces), cmocka_unit_test(knows_of_pressure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
