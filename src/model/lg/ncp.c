#include "model/lg/ncp.h"

#include <math.h>

#define DRAG_MAX 1e3 /* times the minimum map's: Fischer-Burmeister's is negative for |f| > 2 mu N at rest */

/* 1 - a / sqrt(a^2 + b^2), D the root. */
static double one_less(double a, double b, double D) { return a > 0 ? b * b / (D * (D + a)) : (D - a) / D; }

static tl_ncp fischer_burmeister(double gap, double force, double r)
{
    double f = r * force, D = hypot(gap, f);
    if (!(D > 0)) return (tl_ncp){0, 1 - sqrt(0.5), (1 - sqrt(0.5)) * r};
    double value = gap + f > 0 ? 2 * gap * f / (gap + f + D) : gap + f - D;
    return (tl_ncp){value, one_less(gap, f, D), one_less(f, gap, D) * r};
}

tl_ncp tl_ncp_normal(tl_ncp_kind kind, double gap, double force, double r)
{
    if (kind == TL_NCP_FISCHER_BURMEISTER) return fischer_burmeister(gap, force, r);
    return gap <= r * force ? (tl_ncp){gap, 1, 0} : (tl_ncp){r * force, 0, r};
}

double tl_ncp_drag(tl_ncp_kind kind, double u, double force, double max, double r)
{
    double room = r * (max - force), least = u <= room ? 0 : (u - room) / max;
    if (kind == TL_NCP_MINIMUM) return least;
    if (kind == TL_NCP_PRINTED) return r * least;
    double D = hypot(u, room), above, below;
    if (!(D > 0)) return 0;
    if (room >= 0) {
        above = u * u / (D + room);
        below = r * force + 2 * u * room / (u + room + D);
    } else {
        above = D - room;
        below = u + r * max - D;
    }
    if (!(above > 0)) return 0;
    double bound = DRAG_MAX * (u + fmax(0, -room)) / max;
    return below > 0 ? fmin(r * above / below, bound) : bound;
}
