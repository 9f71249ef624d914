/* One-point hexahedra on a lattice of equal cells, eight at a time. Inside of local.c.
 *
 * F is that of the cell's centre. What it does not see are four modes per direction, in which corners move by the
 * products xy, yz, zx and xyz of their coordinates, signs of these over eight being gamma. They are orthogonal to all
 * linear fields on a lattice, so gamma . x is the same however the cell is turned, and
 *
 *     1/2 sum over modes m, axes c of stiffness[m][c] ((R axis_c) . (gamma_m . x))^2,     R: rotation of F
 *
 * is the energy of bending (modes ab along a or b: E), of twist (along the third axis: G) and of xyz that a beam has
 * which is one cell thick: 14.84 mm against theory's 14.87 with one cell across, where six tetrahedra give 3.3.
 * There is no volume of corners that could lock. R depends on F: its part of the force is R [y] with K y = tau, see
 * hex_hourglass. */
#ifndef TL_MODEL_LG_HEX_H
#define TL_MODEL_LG_HEX_H

#include "model/lg/lg.h"
#include "model/lg/polar.h"

#define HEX_TURN_LEAST                                                                                                 \
    1e-3 /* det of K = tr S - S, 8 at rest: below, a cell is flat and has no rotation that could follow */

/* Coordinates of corners, F, and gamma . x of the four modes. */
typedef struct v8_hex {
    v8_mat3 F;
    v8 mode[4][3];
} v8_hex;

/* From x [8] of corners, bit 0, 1, 2 of a corner: its side along x, y, z. */
V8_INLINE void hex_sums(const v8 *x, v8 edge[3], v8 mode[4])
{
    v8 a01 = x[1] - x[0], a23 = x[3] - x[2], a45 = x[5] - x[4], a67 = x[7] - x[6];
    v8 s01 = x[1] + x[0], s23 = x[3] + x[2], s45 = x[5] + x[4], s67 = x[7] + x[6];
    edge[0] = 0.25 * (a01 + a23 + a45 + a67);
    edge[1] = 0.25 * (s23 - s01 + s67 - s45);
    edge[2] = 0.25 * (s45 + s67 - s01 - s23);
    mode[0] = 0.125 * (a23 - a01 + a67 - a45); /* xy */
    mode[1] = 0.125 * (s01 - s23 - s45 + s67); /* yz */
    mode[2] = 0.125 * (a45 + a67 - a01 - a23); /* zx */
    mode[3] = 0.125 * (a01 - a23 - a45 + a67); /* xyz */
}

/* M: forces are M times gradients, N m; mode [4][3]: forces of modes, N. */
V8_INLINE void hex_forces(const tl_lg_lattice *g, const v8_mat3 *M, v8 mode[4][3], double *force)
{
    for (int i = 0; i < 3; i++) {
        v8 f[3];
        for (int j = 0; j < 3; j++)
            f[j] = 0.25 * (M->m[i][0] * g->B[3 * j] + M->m[i][1] * g->B[3 * j + 1] + M->m[i][2] * g->B[3 * j + 2]);
        for (int a = 0; a < 8; a++) {
            double x = a & 1 ? 1 : -1, y = a & 2 ? 1 : -1, z = a & 4 ? 1 : -1;
            v8 at = x * f[0] + y * f[1] + z * f[2] +
                    0.125 * (x * y * mode[0][i] + y * z * mode[1][i] + z * x * mode[2][i] + x * y * z * mode[3][i]);
            memcpy(force + 24 * a + 8 * i, &at, sizeof at);
        }
    }
}

/* Energy of the modes; their forces replace gamma . x, and the part of R goes onto M. */
V8_INLINE v8 hex_hourglass(const tl_lg_lattice *g, v8_hex *h, v8_mat3 *M)
{
    v8_mat3 R;
    v8_polar(&h->F, &R);
    v8_sym3 S = v8_stretch(&R, &h->F);
    v8 T[3][3], energy = v8_all(0), tau[3] = {v8_all(0), v8_all(0), v8_all(0)};
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            T[i][c] = R.m[i][0] * g->axis[c] + R.m[i][1] * g->axis[3 + c] + R.m[i][2] * g->axis[6 + c];
    for (int m = 0; m < 4; m++) {
        v8 t[3], f[3];
        for (int c = 0; c < 3; c++) {
            t[c] = T[0][c] * h->mode[m][0] + T[1][c] * h->mode[m][1] + T[2][c] * h->mode[m][2];
            f[c] = g->stiffness[m][c] * t[c];
            energy += 0.5 * f[c] * t[c];
        }
        for (int c = 0; c < 3; c++) tau[c] -= t[(c + 1) % 3] * f[(c + 2) % 3] - t[(c + 2) % 3] * f[(c + 1) % 3];
        for (int i = 0; i < 3; i++) h->mode[m][i] = -(T[i][0] * f[0] + T[i][1] * f[1] + T[i][2] * f[2]);
    }
    /* d energy / dF = R [y] with (tr S - S) y = tau, tau in the rest frame */
    v8 b[3], trace = S.xx + S.yy + S.zz;
    for (int i = 0; i < 3; i++)
        b[i] = g->axis[3 * i] * tau[0] + g->axis[3 * i + 1] * tau[1] + g->axis[3 * i + 2] * tau[2];
    v8 kxx = trace - S.xx, kyy = trace - S.yy, kzz = trace - S.zz, kxy = -S.xy, kxz = -S.xz, kyz = -S.yz;
    v8 cxx = kyy * kzz - kyz * kyz, cxy = kxz * kyz - kxy * kzz, cxz = kxy * kyz - kxz * kyy;
    v8 cyy = kxx * kzz - kxz * kxz, cyz = kxy * kxz - kxx * kyz, czz = kxx * kyy - kxy * kxy;
    v8 det = kxx * cxx + kxy * cxy + kxz * cxz;
    v8 inverse = v8_select(det > HEX_TURN_LEAST, 1 / det, v8_all(0));
    v8 y0 = inverse * (cxx * b[0] + cxy * b[1] + cxz * b[2]), y1 = inverse * (cxy * b[0] + cyy * b[1] + cyz * b[2]),
       y2 = inverse * (cxz * b[0] + cyz * b[1] + czz * b[2]);
    for (int i = 0; i < 3; i++) {
        M->m[i][0] -= R.m[i][1] * y2 - R.m[i][2] * y1;
        M->m[i][1] -= R.m[i][2] * y0 - R.m[i][0] * y2;
        M->m[i][2] -= R.m[i][0] * y1 - R.m[i][1] * y0;
    }
    return energy;
}

#endif
