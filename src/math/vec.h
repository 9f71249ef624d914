/* Vectors of three and 3x3 matrices in double, passed by value and inlined.
 *
 * Matrices are row-major: m[row][column]. Lengths are plain square roots of sums of squares: entries
 * beyond 1e150 overflow and below 1e-150 vanish. Decompositions that must survive such entries are
 * in math/svd3.h and math/eig3.h; rotations as quaternions in math/quat.h. */
#ifndef TL_MATH_VEC_H
#define TL_MATH_VEC_H

#include <math.h>
#include <stdbool.h>

typedef struct tl_vec3 {
    double x, y, z;
} tl_vec3;

typedef struct tl_mat3 {
    double m[3][3];
} tl_mat3;

/* ---- vectors ---- */

static inline tl_vec3 tl_vec3_make(double x, double y, double z) { return (tl_vec3){x, y, z}; }
static inline tl_vec3 tl_vec3_load(const double *p) { return (tl_vec3){p[0], p[1], p[2]}; }
static inline void tl_vec3_store(tl_vec3 a, double *p)
{
    p[0] = a.x;
    p[1] = a.y;
    p[2] = a.z;
}

static inline tl_vec3 tl_vec3_add(tl_vec3 a, tl_vec3 b) { return (tl_vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline tl_vec3 tl_vec3_sub(tl_vec3 a, tl_vec3 b) { return (tl_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline tl_vec3 tl_vec3_neg(tl_vec3 a) { return (tl_vec3){-a.x, -a.y, -a.z}; }
static inline tl_vec3 tl_vec3_scale(double s, tl_vec3 a) { return (tl_vec3){s * a.x, s * a.y, s * a.z}; }

/* a + s b */
static inline tl_vec3 tl_vec3_add_scaled(tl_vec3 a, double s, tl_vec3 b)
{
    return (tl_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

/* Entry by entry: product, smaller, larger. */
static inline tl_vec3 tl_vec3_mul(tl_vec3 a, tl_vec3 b) { return (tl_vec3){a.x * b.x, a.y * b.y, a.z * b.z}; }
static inline tl_vec3 tl_vec3_min(tl_vec3 a, tl_vec3 b)
{
    return (tl_vec3){a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
}
static inline tl_vec3 tl_vec3_max(tl_vec3 a, tl_vec3 b)
{
    return (tl_vec3){a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
}

static inline double tl_vec3_dot(tl_vec3 a, tl_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline double tl_vec3_norm2(tl_vec3 a) { return tl_vec3_dot(a, a); }
static inline double tl_vec3_norm(tl_vec3 a) { return sqrt(tl_vec3_dot(a, a)); }
static inline double tl_vec3_max_abs(tl_vec3 a) { return fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z))); }

static inline tl_vec3 tl_vec3_cross(tl_vec3 a, tl_vec3 b)
{
    return (tl_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* a / |a|, or `otherwise` when |a| is zero, infinite or NaN. */
static inline tl_vec3 tl_vec3_normalize_or(tl_vec3 a, tl_vec3 otherwise)
{
    double length = tl_vec3_norm(a);
    return length > 0 && length < INFINITY ? tl_vec3_scale(1 / length, a) : otherwise;
}

/* a / |a|; the zero vector stays zero. */
static inline tl_vec3 tl_vec3_normalize(tl_vec3 a) { return tl_vec3_normalize_or(a, (tl_vec3){0, 0, 0}); }

/* t1, t2 with (n, t1, t2) orthonormal and right-handed, for a unit n. No direction is singular; the
 * frame is continuous in n on each of the half spheres n.z >= +0 and n.z <= -0, and jumps between
 * them (no frame is continuous on the whole sphere). [Duff17] */
static inline void tl_vec3_tangents(tl_vec3 n, tl_vec3 *t1, tl_vec3 *t2)
{
    double sign = copysign(1.0, n.z);
    double a = -1 / (sign + n.z), b = n.x * n.y * a;
    *t1 = (tl_vec3){1 + sign * n.x * n.x * a, sign * b, -sign * n.x};
    *t2 = (tl_vec3){b, sign + n.y * n.y * a, -n.y};
}

/* ---- matrices ---- */

static inline tl_mat3 tl_mat3_zero(void) { return (tl_mat3){{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}}; }
static inline tl_mat3 tl_mat3_diagonal(double a, double b, double c)
{
    return (tl_mat3){{{a, 0, 0}, {0, b, 0}, {0, 0, c}}};
}
static inline tl_mat3 tl_mat3_identity(void) { return tl_mat3_diagonal(1, 1, 1); }

static inline tl_mat3 tl_mat3_from_rows(tl_vec3 a, tl_vec3 b, tl_vec3 c)
{
    return (tl_mat3){{{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}}};
}
static inline tl_mat3 tl_mat3_from_columns(tl_vec3 a, tl_vec3 b, tl_vec3 c)
{
    return (tl_mat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}
static inline tl_vec3 tl_mat3_row(tl_mat3 A, int i) { return (tl_vec3){A.m[i][0], A.m[i][1], A.m[i][2]}; }
static inline tl_vec3 tl_mat3_column(tl_mat3 A, int j) { return (tl_vec3){A.m[0][j], A.m[1][j], A.m[2][j]}; }

static inline tl_mat3 tl_mat3_add(tl_mat3 A, tl_mat3 B)
{
    tl_mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C.m[i][j] = A.m[i][j] + B.m[i][j];
    return C;
}
static inline tl_mat3 tl_mat3_sub(tl_mat3 A, tl_mat3 B)
{
    tl_mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C.m[i][j] = A.m[i][j] - B.m[i][j];
    return C;
}
static inline tl_mat3 tl_mat3_scale(double s, tl_mat3 A)
{
    tl_mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C.m[i][j] = s * A.m[i][j];
    return C;
}

/* A + s B */
static inline tl_mat3 tl_mat3_add_scaled(tl_mat3 A, double s, tl_mat3 B)
{
    tl_mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C.m[i][j] = A.m[i][j] + s * B.m[i][j];
    return C;
}

static inline tl_mat3 tl_mat3_transpose(tl_mat3 A)
{
    tl_mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C.m[i][j] = A.m[j][i];
    return C;
}

static inline tl_vec3 tl_mat3_mul_vec(tl_mat3 A, tl_vec3 x)
{
    return (tl_vec3){A.m[0][0] * x.x + A.m[0][1] * x.y + A.m[0][2] * x.z,
                     A.m[1][0] * x.x + A.m[1][1] * x.y + A.m[1][2] * x.z,
                     A.m[2][0] * x.x + A.m[2][1] * x.y + A.m[2][2] * x.z};
}

/* A^T x */
static inline tl_vec3 tl_mat3_tmul_vec(tl_mat3 A, tl_vec3 x)
{
    return (tl_vec3){A.m[0][0] * x.x + A.m[1][0] * x.y + A.m[2][0] * x.z,
                     A.m[0][1] * x.x + A.m[1][1] * x.y + A.m[2][1] * x.z,
                     A.m[0][2] * x.x + A.m[1][2] * x.y + A.m[2][2] * x.z};
}

static inline tl_mat3 tl_mat3_mul(tl_mat3 A, tl_mat3 B)
{
    tl_mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C.m[i][j] = A.m[i][0] * B.m[0][j] + A.m[i][1] * B.m[1][j] + A.m[i][2] * B.m[2][j];
    return C;
}

/* A^T B */
static inline tl_mat3 tl_mat3_tmul(tl_mat3 A, tl_mat3 B)
{
    tl_mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C.m[i][j] = A.m[0][i] * B.m[0][j] + A.m[1][i] * B.m[1][j] + A.m[2][i] * B.m[2][j];
    return C;
}

/* A B^T */
static inline tl_mat3 tl_mat3_mul_t(tl_mat3 A, tl_mat3 B)
{
    tl_mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C.m[i][j] = A.m[i][0] * B.m[j][0] + A.m[i][1] * B.m[j][1] + A.m[i][2] * B.m[j][2];
    return C;
}

/* a b^T */
static inline tl_mat3 tl_mat3_outer(tl_vec3 a, tl_vec3 b)
{
    return tl_mat3_from_rows(tl_vec3_scale(a.x, b), tl_vec3_scale(a.y, b), tl_vec3_scale(a.z, b));
}

/* [a]: [a] b = a x b. */
static inline tl_mat3 tl_mat3_skew(tl_vec3 a) { return (tl_mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}}; }

/* (A + A^T) / 2 */
static inline tl_mat3 tl_mat3_symmetric(tl_mat3 A)
{
    tl_mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C.m[i][j] = 0.5 * (A.m[i][j] + A.m[j][i]);
    return C;
}

static inline double tl_mat3_trace(tl_mat3 A) { return A.m[0][0] + A.m[1][1] + A.m[2][2]; }

/* Sum of A_ij B_ij. */
static inline double tl_mat3_dot(tl_mat3 A, tl_mat3 B)
{
    double s = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) s += A.m[i][j] * B.m[i][j];
    return s;
}
static inline double tl_mat3_norm(tl_mat3 A) { return sqrt(tl_mat3_dot(A, A)); } /* Frobenius */

static inline double tl_mat3_max_abs(tl_mat3 A)
{
    return fmax(tl_vec3_max_abs(tl_mat3_row(A, 0)),
                fmax(tl_vec3_max_abs(tl_mat3_row(A, 1)), tl_vec3_max_abs(tl_mat3_row(A, 2))));
}

/* det(A) A^-T: rows are cross products of rows of A; defined for singular A. */
static inline tl_mat3 tl_mat3_cofactor(tl_mat3 A)
{
    tl_vec3 a = tl_mat3_row(A, 0), b = tl_mat3_row(A, 1), c = tl_mat3_row(A, 2);
    return tl_mat3_from_rows(tl_vec3_cross(b, c), tl_vec3_cross(c, a), tl_vec3_cross(a, b));
}

static inline double tl_mat3_det(tl_mat3 A)
{
    return tl_vec3_dot(tl_mat3_row(A, 0), tl_vec3_cross(tl_mat3_row(A, 1), tl_mat3_row(A, 2)));
}

/* Returns false and leaves *inverse zero when 1/det is not a finite number (det zero, so small that
 * it is lost, or NaN). No test of conditioning: an almost singular A has a large, inexact inverse. */
static inline bool tl_mat3_inverse(tl_mat3 A, tl_mat3 *inverse)
{
    tl_mat3 C = tl_mat3_cofactor(A);
    double scale = 1 / tl_vec3_dot(tl_mat3_row(A, 0), tl_mat3_row(C, 0));
    if (!(fabs(scale) < INFINITY)) {
        *inverse = tl_mat3_zero();
        return false;
    }
    *inverse = tl_mat3_scale(scale, tl_mat3_transpose(C));
    return true;
}

#endif
