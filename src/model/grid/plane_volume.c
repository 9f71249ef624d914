#include "model/grid/fractions.h"

/* Part of the unit cube where m.y < alpha, 0 <= m1 <= m2 <= m3, sum 1, alpha <= 1/2. Piecewise cubic
 * [Scardovelli2000]. */
static double below(double m1, double m2, double m3, double alpha)
{
    double m12 = m1 + m2;
    if (alpha < m1) return alpha * alpha * alpha / (6 * m1 * m2 * m3);
    if (alpha < m2) return (alpha * (alpha - m1) + m1 * m1 / 3) / (2 * m2 * m3);
    double ends = m1 > 0 ? m1 * m1 * (m1 - 3 * alpha) + m2 * m2 * (m2 - 3 * alpha) : 0;
    if (alpha < m12 && alpha < m3) return (alpha * alpha * (3 * m12 - alpha) + ends) / (6 * m1 * m2 * m3);
    if (m3 < m12) return (alpha * alpha * (3 - 2 * alpha) + ends + m3 * m3 * (m3 - 3 * alpha)) / (6 * m1 * m2 * m3);
    return (2 * alpha - m12) / (2 * m3);
}

#define ALIGNED 1e-9 /* a slope this much smaller than the others is 0: the cubic pieces divide by it */

static double in_cube(double c, double a, double b, double d)
{
    double m1 = fabs(a), m2 = fabs(b), m3 = fabs(d), t;
    if (m1 > m2) t = m1, m1 = m2, m2 = t;
    if (m2 > m3) t = m2, m2 = m3, m3 = t;
    if (m1 > m2) t = m1, m1 = m2, m2 = t;
    double sum = m1 + m2 + m3, alpha = 0.5 * sum - c;
    if (alpha <= 0) return sum > 0 || c > 0 ? 0 : c < 0 ? 1 : 0.5;
    if (alpha >= sum) return 1;
    double s = 1 / sum;
    m1 *= s, m2 *= s, alpha *= s;
    if (m1 < ALIGNED) m1 = 0;
    if (m2 < ALIGNED) m2 = 0;
    m3 = 1 - m1 - m2;
    return alpha > 0.5 ? 1 - below(m1, m2, m3, 1 - alpha) : below(m1, m2, m3, alpha);
}

double tl_plane_in_cube(double c, const double g[3]) { return in_cube(c, g[0], g[1], g[2]); }
double tl_plane_in_square(double c, const double g[2]) { return in_cube(c, g[0], g[1], 0); }
