/* Rotations as unit quaternions w + xi + yj + zk, acting as v -> q v q*.
 *
 * A rotation vector is axis times angle in radians; exp and log convert exactly, without a small
 * angle where they lose digits. Products drift from unit length by rounding: normalise once per step. */
#ifndef TL_MATH_QUAT_H
#define TL_MATH_QUAT_H

#include "math/vec.h"

typedef struct tl_quat {
    double w, x, y, z;
} tl_quat;

static inline tl_quat tl_quat_identity(void) { return (tl_quat){1, 0, 0, 0}; }

/* First b, then a. */
static inline tl_quat tl_quat_mul(tl_quat a, tl_quat b)
{
    return (tl_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

/* The inverse of a unit quaternion. */
static inline tl_quat tl_quat_conjugate(tl_quat q) { return (tl_quat){q.w, -q.x, -q.y, -q.z}; }

static inline double tl_quat_norm2(tl_quat q) { return q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z; }

/* The inverse of any quaternion but zero. */
static inline tl_quat tl_quat_inverse(tl_quat q)
{
    double s = 1 / tl_quat_norm2(q);
    return (tl_quat){s * q.w, -s * q.x, -s * q.y, -s * q.z};
}

/* Unit length, same sign; zero, infinite and NaN become the identity. */
static inline tl_quat tl_quat_normalize(tl_quat q)
{
    double length = sqrt(tl_quat_norm2(q));
    if (!(length > 0 && length < INFINITY)) return tl_quat_identity();
    double s = 1 / length;
    return (tl_quat){s * q.w, s * q.x, s * q.y, s * q.z};
}

/* q v q* for a unit q. */
static inline tl_vec3 tl_quat_rotate(tl_quat q, tl_vec3 v)
{
    tl_vec3 r = {q.x, q.y, q.z};
    tl_vec3 t = tl_vec3_scale(2, tl_vec3_cross(r, v));
    return tl_vec3_add(tl_vec3_add_scaled(v, q.w, t), tl_vec3_cross(r, t));
}

static inline tl_mat3 tl_quat_to_mat3(tl_quat q)
{
    double x = q.x, y = q.y, z = q.z, w = q.w;
    return (tl_mat3){{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                      {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                      {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

/* From a rotation matrix, w >= 0. The largest of the four entries is taken from the diagonal and
 * divides the others, so no angle is singular; rounding in R is averaged out, not amplified. */
static inline tl_quat tl_quat_from_mat3(tl_mat3 R)
{
    double a = R.m[0][0], b = R.m[1][1], c = R.m[2][2];
    double x = R.m[2][1] - R.m[1][2], y = R.m[0][2] - R.m[2][0], z = R.m[1][0] - R.m[0][1];
    double xy = R.m[1][0] + R.m[0][1], yz = R.m[2][1] + R.m[1][2], zx = R.m[0][2] + R.m[2][0];
    tl_quat q;
    if (a + b + c >= fmax(a, fmax(b, c)))
        q = (tl_quat){1 + a + b + c, x, y, z};
    else if (a >= fmax(b, c))
        q = (tl_quat){x, 1 + a - b - c, xy, zx};
    else if (b >= c)
        q = (tl_quat){y, xy, 1 - a + b - c, yz};
    else
        q = (tl_quat){z, zx, yz, 1 - a - b + c};
    if (q.w < 0) q = (tl_quat){-q.w, -q.x, -q.y, -q.z};
    return tl_quat_normalize(q);
}

/* sin(x)/x, 1 at 0. */
static inline double tl_sinc(double x) { return fabs(x) < 1e-8 ? 1 : sin(x) / x; } /* 1 - x^2/6 rounds to 1 there */

/* Rotation by |v| radians about v; exact for any |v|, identity for 0. The pose after time dt at
 * constant angular velocity omega (world frame) is exp(dt omega) q. */
static inline tl_quat tl_quat_exp(tl_vec3 v)
{
    double half = 0.5 * tl_vec3_norm(v), s = 0.5 * tl_sinc(half);
    return (tl_quat){cos(half), s * v.x, s * v.y, s * v.z};
}

/* axis: unit. */
static inline tl_quat tl_quat_from_axis_angle(tl_vec3 axis, double radians)
{
    double s = sin(0.5 * radians);
    return (tl_quat){cos(0.5 * radians), s * axis.x, s * axis.y, s * axis.z};
}

/* The rotation vector of smallest length, in [0, pi]; inverse of tl_quat_exp there. q and -q give the
 * same, except at exactly half a turn, where the axis may be either of two. */
static inline tl_vec3 tl_quat_log(tl_quat q)
{
    tl_vec3 r = {q.x, q.y, q.z};
    double w = fabs(q.w), s = tl_vec3_norm(r);
    double factor = s > 1e-150 ? 2 * atan2(s, w) / s : 2; /* below, |r| is lost and w is 1 */
    return tl_vec3_scale(q.w < 0 ? -factor : factor, r);
}

/* The rotation vector v (world frame) with `to` = exp(v) `from`. */
static inline tl_vec3 tl_quat_difference(tl_quat from, tl_quat to)
{
    return tl_quat_log(tl_quat_mul(to, tl_quat_conjugate(from)));
}

#endif
