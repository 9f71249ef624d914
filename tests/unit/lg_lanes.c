/* Lanes of the local step against scalar code: logarithms, rotations, stretches, proximal maps. */
#include "check.h"

#include "base/random.h"
#include "model/lg/membrane.h"
#include "model/lg/polar.h"
#include "model/lg/prox.h"

/* Eight matrices of one sort: 0 near rotations, 1 any, 2 reflections, 3 rank 2, 4 rank 1, 5 zero, 6 tiny rows, 7
 * tiny, 8 large, 9 double singular values. */
#define SORTS 10
static v8_mat3 sample(int sort, uint64_t id)
{
    v8_mat3 F;
    for (int l = 0; l < 8; l++) {
        tl_mat3 A;
        for (int k = 0; k < 9; k++) A.m[k / 3][k % 3] = tl_random_normal(11, id * 8 + (uint64_t)l, (uint64_t)k);
        if (sort == 0 || sort == 9) {
            tl_mat3 R;
            tl_polar3(A, &R, NULL);
            if (sort == 0)
                A = tl_mat3_add_scaled(R, 0.05, A);
            else
                A = tl_mat3_mul(R, tl_mat3_diagonal(l & 1 ? 2 : 1, 1, l & 2 ? 1 : 2));
        }
        if (sort == 2 && tl_mat3_det(A) > 0) A = tl_mat3_scale(-1, A);
        if (sort == 3 || sort == 4)
            for (int i = 0; i < 3; i++) {
                A.m[2][i] = 0.3 * A.m[0][i] - 0.7 * A.m[1][i];
                if (sort == 4) A.m[1][i] = 2 * A.m[0][i], A.m[2][i] = -A.m[0][i];
            }
        if (sort == 5) A = tl_mat3_zero();
        for (int i = 0; i < 3 && sort == 6; i++) A.m[1][i] *= 1e-7;
        if (sort == 7) A = tl_mat3_scale(1e-80, A);
        if (sort == 8) A = tl_mat3_scale(1e12, A);
        for (int k = 0; k < 9; k++) F.m[k / 3][k % 3][l] = A.m[k / 3][k % 3];
    }
    return F;
}

static void logarithms(void **state)
{
    (void)state;
    for (int k = 0; k < 20000; k++) {
        v8 x;
        for (int l = 0; l < 8; l++)
            x[l] = exp(1400 * (tl_random(3, (uint64_t)k, (uint64_t)l) - 0.5) * (k % 2 ? 1 : 1e-3));
        v8 y = v8_log(x);
        for (int l = 0; l < 8; l++)
            CHECK_NEAR(y[l], log(x[l]), 4e-16 * fabs(log(x[l])) + 3e-17); /* two units, near 1 absolute */
    }
}

/* The rotation is one, and no rotation is nearer: tr(R^T F) is the sum of the signed singular values. */
static void rotations(void **state)
{
    (void)state;
    for (int sort = 0; sort < SORTS; sort++)
        for (uint64_t k = 0; k < 2000; k++) {
            v8_mat3 F = sample(sort, k), R;
            v8_polar(&F, &R);
            for (int l = 0; l < 8; l++) {
                tl_mat3 f = v8_lane(&F, l), r = v8_lane(&R, l), U, V;
                double s[3], size = tl_mat3_norm(f);
                tl_svd3(f, &U, s, &V);
                CHECK_LE(tl_mat3_norm(tl_mat3_sub(tl_mat3_tmul(r, r), tl_mat3_identity())), 1e-14);
                CHECK_NEAR(tl_mat3_det(r), 1, 1e-14);
                CHECK_NEAR(tl_mat3_dot(r, f), s[0] + s[1] + s[2], 3e-14 * size);
                /* the rotation itself, where it is well defined */
                if (s[1] + s[2] > 0.01 * s[0]) CHECK_LE(tl_mat3_norm(tl_mat3_sub(r, tl_mat3_mul_t(U, V))), 3e-13);
            }
        }
}

static void stretches(void **state)
{
    (void)state;
    for (int sort = 0; sort < SORTS; sort++)
        for (uint64_t k = 0; k < 1000; k++) {
            v8_mat3 F = sample(sort, k), R, V, back;
            v8 s[3];
            v8_polar(&F, &R);
            v8_eigen(v8_stretch(&R, &F), s, &V);
            v8_compose(&R, &V, s, &back);
            for (int l = 0; l < 8; l++) {
                tl_mat3 f = v8_lane(&F, l), v = v8_lane(&V, l);
                /* symmetric to the error of R: 3e-13 in the worst of these */
                CHECK_LE(tl_mat3_norm(tl_mat3_sub(f, v8_lane(&back, l))), 1e-12 * tl_mat3_norm(f));
                CHECK_LE(tl_mat3_norm(tl_mat3_sub(tl_mat3_tmul(v, v), tl_mat3_identity())), 2e-14);
            }
        }
}

static void membranes(void **state)
{
    (void)state;
    for (int sort = 0; sort < SORTS; sort++)
        for (uint64_t k = 0; k < 1000; k++) {
            v8_mat3 A = sample(sort, k);
            v8_mat32 F, R, back;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 2; j++) F.m[i][j] = A.m[i][j];
            v8 S[3], s[2];
            v8_polar32(&F, &R, S);
            v8_eigen2(S, s);
            v8_compose32(&R, S, s, s, &back);
            for (int l = 0; l < 8; l++) {
                double rr[3] = {0, 0, 0}, ff = 0, off = 0;
                for (int i = 0; i < 3; i++) {
                    rr[0] += R.m[i][0][l] * R.m[i][0][l], rr[1] += R.m[i][1][l] * R.m[i][1][l];
                    rr[2] += R.m[i][0][l] * R.m[i][1][l];
                    for (int j = 0; j < 2; j++) {
                        ff += F.m[i][j][l] * F.m[i][j][l];
                        off += pow(F.m[i][j][l] - back.m[i][j][l], 2);
                    }
                }
                CHECK_NEAR(rr[0], 1, 1e-14);
                CHECK_NEAR(rr[1], 1, 1e-14);
                CHECK_NEAR(rr[2], 0, 1e-13);
                CHECK_LE(sqrt(off), 1e-14 * sqrt(ff));
                CHECK_LE(-s[1][l], 1e-14 * sqrt(ff)); /* no inside, no sign */
            }
        }
}

static double neo_hookean(const tl_lg_material *m, int d, const double *s, const double *x)
{
    double L = 0, v = 0;
    for (int i = 0; i < d; i++) {
        L += log(x[i]);
        v += 0.5 * m->k * (x[i] - s[i]) * (x[i] - s[i]) + 0.5 * m->mu * x[i] * x[i];
    }
    return v - m->mu * L + 0.5 * m->lambda * L * L;
}

/* x is where the gradient vanishes, and lanes and scalar code agree on the minimum. */
static void proximal_maps(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (int k = 0; k < 4000; k++) {
            double nu = (double[]){0, 0.3, 0.45, 0.49}[k % 4], mu = 1 / (2 * (1 + nu)),
                   la = nu / ((1 + nu) * (1 - 2 * nu));
            tl_lg_material m = {TL_LG_NEO_HOOKEAN, TL_LG_ADMM, mu, la, (2 * mu + la) * (k % 3 ? 1 : 3)};
            v8 s[3], x[3];
            double wide = k % 5 ? 0.3 : 3; /* gentle, and far out: inverted, flat, stretched several times */
            for (int i = 0; i < 3; i++)
                for (int l = 0; l < 8; l++)
                    s[i][l] = 1 + wide * tl_random_normal(5, (uint64_t)(8 * k + l), (uint64_t)i);
            prox_neo_hookean(&m, d, s, x);
            for (int l = 0; l < 8; l++) {
                double from[3], to[3], other[3], L = 0;
                for (int i = 0; i < d; i++) from[i] = s[i][l], to[i] = x[i][l], L += log(to[i]);
                tl_lg_prox_neo_hookean(&m, d, from, other);
                for (int i = 0; i < d; i++) {
                    double terms = m.k * fabs(to[i] - from[i]) + mu * to[i] + (mu + la * fabs(L)) / to[i];
                    double g = m.k * (to[i] - from[i]) + mu * to[i] - (mu - la * L) / to[i];
                    assert_true(to[i] > 0);
                    CHECK_LE(fabs(g),
                             1e-8 * terms); /* at double roots, where steps stop at the rounding of the value */
                }
                /* psi is not convex for large J: in the far cases the two may stop in different minima */
                if (wide < 1)
                    CHECK_NEAR(neo_hookean(&m, d, from, to), neo_hookean(&m, d, from, other), 1e-12 * (1 + m.k));
            }
        }
}

static void stresses_are_gradients(void **state)
{
    (void)state;
    tl_lg_material m = {TL_LG_NEO_HOOKEAN, TL_LG_ADMM, 0.4, 0.7, 1.5};
    for (int k = 0; k < 200; k++) {
        v8 s[3], d[3], ignored[3];
        for (int i = 0; i < 3; i++)
            for (int l = 0; l < 8; l++) s[i][l] = 0.3 + 1.5 * tl_random(6, (uint64_t)(8 * k + l), (uint64_t)i);
        (void)stress_neo_hookean(&m, 3, s, d);
        for (int i = 0; i < 3; i++) {
            v8 up[3] = {s[0], s[1], s[2]}, down[3] = {s[0], s[1], s[2]};
            up[i] += 1e-5, down[i] -= 1e-5;
            v8 slope = (stress_neo_hookean(&m, 3, up, ignored) - stress_neo_hookean(&m, 3, down, ignored)) / 2e-5;
            for (int l = 0; l < 8; l++)
                CHECK_NEAR(slope[l], d[i][l], 1e-6 * (1 + fabs(d[i][l]))); /* h^2 of the third derivative, at s = 0.3 */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms), cmocka_unit_test(rotations),     cmocka_unit_test(stretches),
        cmocka_unit_test(membranes),  cmocka_unit_test(proximal_maps), cmocka_unit_test(stresses_are_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
