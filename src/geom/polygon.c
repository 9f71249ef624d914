#include "geom/polygon.h"

#include "geom/minmax.h"

static double cross(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool between(const double a[2], const double b[2], const double p[2])
{
    return p[0] >= tl_min(a[0], b[0]) && p[0] <= tl_max(a[0], b[0]) && p[1] >= tl_min(a[1], b[1]) &&
           p[1] <= tl_max(a[1], b[1]);
}

/* Segments ab and cd share a point. */
static bool meet(const double a[2], const double b[2], const double c[2], const double d[2])
{
    double p = cross(a, b, c), q = cross(a, b, d), r = cross(c, d, a), s = cross(c, d, b);
    if (((p > 0 && q < 0) || (p < 0 && q > 0)) && ((r > 0 && s < 0) || (r < 0 && s > 0))) return true;
    return (p == 0 && between(a, b, c)) || (q == 0 && between(a, b, d)) || (r == 0 && between(c, d, a)) ||
           (s == 0 && between(c, d, b));
}

double tl_polygon_area(int n, const double (*v)[2])
{
    double twice = 0;
    for (int i = 0; i < n; i++) {
        const double *a = v[i], *b = v[(i + 1) % n];
        twice += (a[0] - v[0][0]) * (b[1] - v[0][1]) - (b[0] - v[0][0]) * (a[1] - v[0][1]);
    }
    return 0.5 * twice;
}

talus_status tl_polygon_check(int n, const double (*v)[2], bool lathe, const char *what, talus_error *err)
{
    if (n < 3 || n > TL_POLYGON_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: profile must have 3 to %d points, got %d", what, TL_POLYGON_MAX, n);
    for (int i = 0; i < n; i++) {
        const double *a = v[i], *b = v[(i + 1) % n];
        if (!(fabs(a[0]) <= 1e9 && fabs(a[1]) <= 1e9))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: profile[%d] must be within 1e9 m, got (%g, %g)", what, i + 1,
                           a[0], a[1]);
        if (lathe && a[0] < 0)
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: profile[%d] must have a radius >= 0, got %g", what, i + 1, a[0]);
        if (a[0] == b[0] && a[1] == b[1])
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: profile[%d] and profile[%d] must differ, both are (%g, %g)", what,
                           i + 1, (i + 1) % n + 1, a[0], a[1]);
    }
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            const double *a = v[i], *b = v[(i + 1) % n], *c = v[j], *d = v[(j + 1) % n];
            bool bad;
            if (j == i + 1 || (i == 0 && j == n - 1)) { /* neighbours share a point; they must not fold back */
                const double *p = j == i + 1 ? a : c, *q = j == i + 1 ? b : a, *r = j == i + 1 ? d : b;
                bad = cross(p, q, r) == 0 && (p[0] - q[0]) * (r[0] - q[0]) + (p[1] - q[1]) * (r[1] - q[1]) > 0;
            } else {
                bad = meet(a, b, c, d);
            }
            if (bad)
                return TL_FAIL(err, TALUS_BAD_INPUT,
                               "%s: profile must not cross or touch itself, but the edges that start at profile[%d] "
                               "and profile[%d] meet",
                               what, i + 1, j + 1);
        }
    if (tl_polygon_area(n, v) == 0) return TL_FAIL(err, TALUS_BAD_INPUT, "%s: profile has no area", what);
    return TALUS_OK;
}

double tl_polygon_distance(int n, const double (*v)[2], bool lathe, double x, double y, double *g)
{
    double best = INFINITY, best_x = 0, best_y = 0;
    int nearest = 0;
    bool inside = false;
    const double *a = v[n - 1];
    for (int i = 0; i < n; i++) {
        const double *b = v[i];
        double ex = b[0] - a[0], ey = b[1] - a[1], wx = x - a[0], wy = y - a[1];
        bool wall = !lathe || a[0] > 0 || b[0] > 0; /* an edge on the axis is none */
        if (wall && (a[1] > y) != (b[1] > y) && (wx * ey < wy * ex) == (ey > 0)) inside = !inside;
        if (wall) {
            double s = tl_min(tl_max((wx * ex + wy * ey) / (ex * ex + ey * ey), 0), 1);
            double dx = wx - s * ex, dy = wy - s * ey, d2 = dx * dx + dy * dy;
            if (d2 < best) {
                best = d2;
                best_x = dx;
                best_y = dy;
                nearest = i;
            }
        }
        a = b;
    }
    double d = sqrt(best), sign = inside ? -1 : 1;
    if (g) {
        if (d > 1e-13 * (fabs(x) + fabs(y))) {
            g[0] = sign * best_x / d;
            g[1] = sign * best_y / d;
        } else { /* on the boundary: the edge's outward normal */
            const double *p = v[nearest ? nearest - 1 : n - 1], *q = v[nearest];
            double ex = q[0] - p[0], ey = q[1] - p[1], length = sqrt(ex * ex + ey * ey);
            g[0] = ey / length;
            g[1] = -ex / length;
        }
    }
    return sign * d;
}

double tl_polygon_thickness(int n, const double (*v)[2], bool lathe)
{
    double thinnest = INFINITY;
    for (int i = 0; i < n; i++) {
        const double *a = v[i], *b = v[(i + 1) % n];
        if (lathe && a[0] == 0 && b[0] == 0) continue;
        double ex = b[0] - a[0], ey = b[1] - a[1], length = sqrt(ex * ex + ey * ey);
        double nx = -ey / length, ny = ex / length, mx = 0.5 * (a[0] + b[0]), my = 0.5 * (a[1] + b[1]);
        for (int j = 0; j < n; j++) {
            const double *c = v[j], *d = v[(j + 1) % n];
            if (j == i) continue;
            /* m + t n = c + s (d - c) */
            double fx = d[0] - c[0], fy = d[1] - c[1], det = fx * ny - fy * nx;
            if (det == 0) continue;
            double s = ((mx - c[0]) * ny - (my - c[1]) * nx) / det, t = ((mx - c[0]) * fy - (my - c[1]) * fx) / det;
            if (!(s >= 0 && s <= 1 && t > 0)) continue;
            if (lathe && c[0] == 0 && d[0] == 0) t *= 2; /* the axis: the other side is as far again */
            if (t < thinnest) thinnest = t;
        }
    }
    return thinnest;
}
