/* The cubic spline kernel, support 2h, in double: the reference for the vectorised pair loops.
 *
 *     W(r) = s [(2-q)^3 - 4 (1-q)^3],   q = r/h,   s = 1/(4 pi h^3),   second term for q < 1 only
 *     grad_i W_ij = W'(r) (x_i - x_j)/r = tl_sph_slope(r) (x_i - x_j) */
#ifndef TL_MODEL_SPH_KERNEL_H
#define TL_MODEL_SPH_KERNEL_H

#define TL_SPH_PI 3.14159265358979323846

typedef struct tl_sph_kernel {
    double h, s; /* m; 1/(4 pi h^3) */
} tl_sph_kernel;

static inline tl_sph_kernel tl_sph_kernel_of(double h) { return (tl_sph_kernel){h, 1 / (4 * TL_SPH_PI * h * h * h)}; }

static inline double tl_sph_w(tl_sph_kernel k, double r)
{
    double q = r / k.h, a = 2 - q, b = 1 - q;
    if (a <= 0) return 0;
    return b > 0 ? k.s * (a * a * a - 4 * b * b * b) : k.s * a * a * a;
}

/* W'(r)/r; 0 at r = 0, where the direction is not known. */
static inline double tl_sph_slope(tl_sph_kernel k, double r)
{
    double q = r / k.h, a = 2 - q, b = 1 - q;
    if (a <= 0 || r <= 0) return 0;
    double d = b > 0 ? a * a - 4 * b * b : a * a;
    return -3 * k.s / k.h * d / r;
}

#endif
