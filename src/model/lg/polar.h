/* Rotations and stretches of eight 3x3 matrices at a time, without branches but for lanes that are nearly singular.
 *
 * The rotation nearest to F is the largest eigenvector of a 4x4 matrix K(F) as a quaternion [Horn87]; its
 * eigenvalue, s0 + s1 + s2 in signed singular values, is the largest root of a quartic, found by Newton from above
 * [Theobald05]. Inverted F need no case of their own. Where the eigenvalue is nearly double (s1 + s2 below 1e-3 s0)
 * lanes go to the scalar SVD. F = R S with S symmetric; a few Jacobi sweeps give S = V diag(s) V^T, so F = (R V)
 * diag(s) V^T with the signs of math/svd3.h, not sorted. Accuracy: 1e-13 in R (tests/unit/lg_lanes.c). */
#ifndef TL_MODEL_LG_POLAR_H
#define TL_MODEL_LG_POLAR_H

#include "math/svd3.h"
#include "model/lg/lanes.h"

#define POLAR_NEWTON 60 /* double roots converge by halves */
#define POLAR_GAP 1e-2  /* product of the gaps between eigenvalues, of lambda^3: below, the scalar SVD */
#define JACOBI_SWEEPS 10
#define JACOBI_OFF 1e-32 /* squared, of |S|^2 */

typedef struct v8_mat3 {
    v8 m[3][3];
} v8_mat3;
typedef struct v8_sym3 {
    v8 xx, yy, zz, xy, xz, yz;
} v8_sym3;

static inline tl_mat3 v8_lane(const v8_mat3 *F, int l)
{
    tl_mat3 A;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A.m[i][j] = F->m[i][j][l];
    return A;
}

V8_INLINE v8 polar_minor(v8 a, v8 b, v8 c, v8 d) { return a * d - b * c; }

/* R [3][3]: the nearest rotations. */
V8_INLINE void v8_polar(const v8_mat3 *F, v8_mat3 *R)
{
    const v8 f00 = F->m[0][0], f01 = F->m[0][1], f02 = F->m[0][2], f10 = F->m[1][0], f11 = F->m[1][1], f12 = F->m[1][2],
             f20 = F->m[2][0], f21 = F->m[2][1], f22 = F->m[2][2];
    /* the quartic x^4 - 2 n x^2 - 8 det x + n^2 - 4 |cof|^2 */
    v8 n = f00 * f00 + f01 * f01 + f02 * f02 + f10 * f10 + f11 * f11 + f12 * f12 + f20 * f20 + f21 * f21 + f22 * f22;
    v8 c00 = f11 * f22 - f12 * f21, c01 = f12 * f20 - f10 * f22, c02 = f10 * f21 - f11 * f20;
    v8 c10 = f02 * f21 - f01 * f22, c11 = f00 * f22 - f02 * f20, c12 = f01 * f20 - f00 * f21;
    v8 c20 = f01 * f12 - f02 * f11, c21 = f02 * f10 - f00 * f12, c22 = f00 * f11 - f01 * f10;
    v8 det = f00 * c00 + f01 * c01 + f02 * c02;
    v8 cof2 = c00 * c00 + c01 * c01 + c02 * c02 + c10 * c10 + c11 * c11 + c12 * c12 + c20 * c20 + c21 * c21 + c22 * c22;
    v8 q2 = -2 * n, q1 = -8 * det, q0 = n * n - 4 * cof2;
    v8 x = v8_sqrt(3 * n);
    for (int k = 0; k < POLAR_NEWTON; k++) {
        v8 xx = x * x, value = (xx + q2) * xx + q1 * x + q0, slope = (4 * xx + 2 * q2) * x + q1;
        v8 step = value / slope;
        step = v8_select(step > 0, step, v8_all(0)); /* rounding at the root, and 0/0 */
        x -= step;
        if (!v8_any(step > 4e-16 * x)) break;
    }
    /* adjugate of x - K */
    v8 a00 = x - f00 - f11 - f22, a01 = f12 - f21, a02 = f20 - f02, a03 = f01 - f10;
    v8 a11 = x - f00 + f11 + f22, a12 = -f01 - f10, a13 = -f02 - f20;
    v8 a22 = x + f00 - f11 + f22, a23 = -f12 - f21, a33 = x + f00 + f11 - f22;
    v8 s0 = polar_minor(a00, a01, a01, a11), s1 = polar_minor(a00, a02, a01, a12), s2 = polar_minor(a00, a03, a01, a13),
       s3 = polar_minor(a01, a02, a11, a12), s4 = polar_minor(a01, a03, a11, a13), s5 = polar_minor(a02, a03, a12, a13);
    v8 d5 = polar_minor(a22, a23, a23, a33), d4 = polar_minor(a12, a13, a23, a33), d3 = polar_minor(a12, a13, a22, a23),
       d2 = polar_minor(a02, a03, a23, a33), d1 = polar_minor(a02, a03, a22, a23);
    v8 b00 = a11 * d5 - a12 * d4 + a13 * d3, b01 = -a01 * d5 + a02 * d4 - a03 * d3;
    v8 b02 = a13 * s5 - a23 * s4 + a33 * s3, b03 = -a12 * s5 + a22 * s4 - a23 * s3;
    v8 b11 = a00 * d5 - a02 * d2 + a03 * d1, b12 = -a03 * s5 + a23 * s2 - a33 * s1,
       b13 = a02 * s5 - a22 * s2 + a23 * s1;
    v8 b22 = a03 * s4 - a13 * s2 + a33 * s0, b23 = -a02 * s4 + a12 * s2 - a23 * s0,
       b33 = a02 * s3 - a12 * s1 + a22 * s0;
    /* its column with the largest diagonal */
    v8 w = b00, i = b01, j = b02, k = b03, best = b00;
    m8 m = b11 > best;
    w = v8_select(m, b01, w), i = v8_select(m, b11, i), j = v8_select(m, b12, j), k = v8_select(m, b13, k);
    best = v8_max(best, b11);
    m = b22 > best;
    w = v8_select(m, b02, w), i = v8_select(m, b12, i), j = v8_select(m, b22, j), k = v8_select(m, b23, k);
    best = v8_max(best, b22);
    m = b33 > best;
    w = v8_select(m, b03, w), i = v8_select(m, b13, i), j = v8_select(m, b23, j), k = v8_select(m, b33, k);
    v8 gaps = b00 + b11 + b22 + b33;
    m8 good =
        (gaps > POLAR_GAP * x * x * x) & (x > 1e-30) & (x < 1e30); /* false for NaN; squares of gaps must be numbers */
    v8 t = 2 / (w * w + i * i + j * j + k * k);
    R->m[0][0] = 1 - t * (j * j + k * k), R->m[0][1] = t * (i * j - w * k), R->m[0][2] = t * (i * k + w * j);
    R->m[1][0] = t * (i * j + w * k), R->m[1][1] = 1 - t * (i * i + k * k), R->m[1][2] = t * (j * k - w * i);
    R->m[2][0] = t * (i * k - w * j), R->m[2][1] = t * (j * k + w * i), R->m[2][2] = 1 - t * (i * i + j * j);
    if (!v8_any(~good)) return;
    for (int l = 0; l < 8; l++) {
        if (good[l]) continue;
        tl_mat3 exact;
        tl_polar3(v8_lane(F, l), &exact, NULL);
        for (int r = 0; r < 9; r++) R->m[r / 3][r % 3][l] = exact.m[r / 3][r % 3];
    }
}

/* One Jacobi rotation of rows p and q: app, aqq their diagonal, apq to be made zero, the third row's apr, aqr;
 * columns of V. */
V8_INLINE void jacobi_rotate(v8 *app, v8 *aqq, v8 *apq, v8 *apr, v8 *aqr, v8 *vp, v8 *vq)
{
    v8 d = *aqq - *app, twice = 2 * *apq, root = v8_sqrt(d * d + twice * twice);
    v8 t = twice / (d + v8_sign_of(root, d) + v8_sign_of(v8_all(1e-300), d));
    v8 c = 1 / v8_sqrt(1 + t * t), s = t * c;
    *app -= t * *apq;
    *aqq += t * *apq;
    *apq = v8_all(0);
    v8 pr = *apr, qr = *aqr;
    *apr = c * pr - s * qr;
    *aqr = s * pr + c * qr;
    for (int i = 0; i < 3; i++) {
        v8 p = vp[3 * i], q = vq[3 * i];
        vp[3 * i] = c * p - s * q;
        vq[3 * i] = s * p + c * q;
    }
}

/* S = V diag(s) V^T. */
V8_INLINE void v8_eigen(v8_sym3 S, v8 s[3], v8_mat3 *V)
{
    v8 one = v8_all(1), zero = v8_all(0);
    *V = (v8_mat3){{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}}};
    v8 size = S.xx * S.xx + S.yy * S.yy + S.zz * S.zz + 2 * (S.xy * S.xy + S.xz * S.xz + S.yz * S.yz);
    v8 *v = &V->m[0][0];
    for (int k = 0; k < JACOBI_SWEEPS; k++) {
        v8 off = S.xy * S.xy + S.xz * S.xz + S.yz * S.yz;
        if (!v8_any(off > JACOBI_OFF * size)) break;
        jacobi_rotate(&S.xx, &S.yy, &S.xy, &S.xz, &S.yz, v, v + 1);
        jacobi_rotate(&S.xx, &S.zz, &S.xz, &S.xy, &S.yz, v, v + 2);
        jacobi_rotate(&S.yy, &S.zz, &S.yz, &S.xy, &S.xz, v + 1, v + 2);
    }
    s[0] = S.xx, s[1] = S.yy, s[2] = S.zz;
}

/* Symmetric part of R^T F. */
V8_INLINE v8_sym3 v8_stretch(const v8_mat3 *R, const v8_mat3 *F)
{
#define DOT(i, j) (R->m[0][i] * F->m[0][j] + R->m[1][i] * F->m[1][j] + R->m[2][i] * F->m[2][j])
    v8_sym3 S = {DOT(0, 0),
                 DOT(1, 1),
                 DOT(2, 2),
                 0.5 * (DOT(0, 1) + DOT(1, 0)),
                 0.5 * (DOT(0, 2) + DOT(2, 0)),
                 0.5 * (DOT(1, 2) + DOT(2, 1))};
#undef DOT
    return S;
}

/* R V diag(x) V^T */
V8_INLINE void v8_compose(const v8_mat3 *R, const v8_mat3 *V, const v8 x[3], v8_mat3 *out)
{
#define ENTRY(i, j) (V->m[i][0] * x[0] * V->m[j][0] + V->m[i][1] * x[1] * V->m[j][1] + V->m[i][2] * x[2] * V->m[j][2])
    v8 xx = ENTRY(0, 0), yy = ENTRY(1, 1), zz = ENTRY(2, 2), xy = ENTRY(0, 1), xz = ENTRY(0, 2), yz = ENTRY(1, 2);
#undef ENTRY
    for (int i = 0; i < 3; i++) {
        v8 a = R->m[i][0], b = R->m[i][1], c = R->m[i][2];
        out->m[i][0] = a * xx + b * xy + c * xz;
        out->m[i][1] = a * xy + b * yy + c * yz;
        out->m[i][2] = a * xz + b * yz + c * zz;
    }
}

#endif
