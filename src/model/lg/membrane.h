/* The 3x2 gradients of cloth: rotation, stretch and composition for eight triangles at a time. A membrane has no
 * inside, so singular values are >= 0. A triangle that has become a line, or a point, gets one of the possible
 * frames. */
#ifndef TL_MODEL_LG_MEMBRANE_H
#define TL_MODEL_LG_MEMBRANE_H

#include "model/lg/lanes.h"

typedef struct v8_mat32 {
    v8 m[3][2];
} v8_mat32;

/* F = R S: R has orthonormal columns, S = {xx, yy, xy} is symmetric. By a frame t1, t2 along the first column, in
 * which F is an upper triangular 2x2 matrix [a b; 0 c] with c >= 0, whose rotation is known in closed form. */
V8_INLINE void v8_polar32(const v8_mat32 *F, v8_mat32 *R, v8 S[3])
{
    v8 one = v8_all(1), zero = v8_all(0);
    v8 ax = F->m[0][0], ay = F->m[1][0], az = F->m[2][0], bx = F->m[0][1], by = F->m[1][1], bz = F->m[2][1];
    v8 aa = ax * ax + ay * ay + az * az, bb = bx * bx + by * by + bz * bz;
    m8 some = aa > 1e-200;
    v8 a = v8_sqrt(aa), inv = 1 / v8_select(some, a, one);
    v8 tx = v8_select(some, ax * inv, one), ty = v8_select(some, ay * inv, zero), tz = v8_select(some, az * inv, zero);
    /* across: the part of b that t1 does not have, or anything when there is none */
    v8 b = tx * bx + ty * by + tz * bz;
    v8 px = bx - b * tx, py = by - b * ty, pz = bz - b * tz;
    v8 again = px * tx + py * ty + pz * tz; /* what rounding left */
    px -= again * tx, py -= again * ty, pz -= again * tz;
    v8 pp = px * px + py * py + pz * pz;
    some = (pp > 1e-28 * bb) & (pp > 1e-200);
    v8 sign = v8_sign_of(one, tz), f = -1 / (sign + tz);
    px = v8_select(some, px, tx * ty * f), py = v8_select(some, py, sign + ty * ty * f), pz = v8_select(some, pz, -ty);
    inv = 1 / v8_sqrt(px * px + py * py + pz * pz);
    px *= inv, py *= inv, pz *= inv;
    v8 c = px * bx + py * by + pz * bz;
    a = tx * ax + ty * ay + tz * az;

    v8 sum = a + c, h = v8_sqrt(sum * sum + b * b);
    some = h > 1e-150;
    inv = 1 / v8_select(some, h, one);
    v8 co = v8_select(some, sum * inv, one), si = v8_select(some, -b * inv, zero);
    R->m[0][0] = co * tx + si * px, R->m[1][0] = co * ty + si * py, R->m[2][0] = co * tz + si * pz;
    R->m[0][1] = co * px - si * tx, R->m[1][1] = co * py - si * ty, R->m[2][1] = co * pz - si * tz;
    S[0] = co * a, S[1] = co * c - si * b, S[2] = -si * a;
}

V8_INLINE void v8_eigen2(const v8 S[3], v8 s[2])
{
    v8 mean = 0.5 * (S[0] + S[1]), d = 0.5 * (S[0] - S[1]), r = v8_sqrt(d * d + S[2] * S[2]);
    s[0] = mean + r;
    s[1] = mean - r;
}

/* R V diag(x) V^T, for the eigenvectors V of S and its eigenvalues s. */
V8_INLINE void v8_compose32(const v8_mat32 *R, const v8 S[3], const v8 s[2], const v8 x[2], v8_mat32 *out)
{
    v8 r = 0.5 * (s[0] - s[1]), mean = 0.5 * (x[0] + x[1]), half = 0.5 * (x[0] - x[1]);
    m8 some = r > 1e-100;
    v8 by = v8_select(some, half / v8_select(some, r, v8_all(1)), v8_all(0));
    v8 xx = mean + by * 0.5 * (S[0] - S[1]), yy = mean - by * 0.5 * (S[0] - S[1]), xy = by * S[2];
    for (int i = 0; i < 3; i++) {
        out->m[i][0] = R->m[i][0] * xx + R->m[i][1] * xy;
        out->m[i][1] = R->m[i][0] * xy + R->m[i][1] * yy;
    }
}

#endif
