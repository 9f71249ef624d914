#include "geom/collide/collide.h"
#include "geom/minmax.h"

/* Squared distance of two contacts: of their places, and of their normals over the size of the patch, so that the
 * far side of a hollow (opposite normals) is farther than anything on this side. */
static double apart(const tl_touch *a, const tl_touch *b, double size2)
{
    return tl_vec3_norm2(tl_vec3_sub(a->at, b->at)) + size2 * tl_vec3_norm2(tl_vec3_sub(a->normal, b->normal));
}

/* The deepest, then again and again the one farthest from all kept so far. A later point must be better by a
 * thousandth, so that equals do not change places; points far from touching count less. */
int tl_touches_reduce(int count, tl_touch *touch, int max)
{
    if (max > TL_TOUCHES_MAX) max = TL_TOUCHES_MAX;
    if (count <= max) return count;
    if (max <= 0) return 0;
    tl_vec3 lo = touch[0].at, hi = lo;
    for (int i = 1; i < count; i++) {
        lo = tl_vec3_min(lo, touch[i].at);
        hi = tl_vec3_max(hi, touch[i].at);
    }
    double size2 = tl_vec3_norm2(tl_vec3_sub(hi, lo)), size = sqrt(size2);

    int pick[TL_TOUCHES_MAX] = {0}, kept = 1;
    for (int i = 1; i < count; i++)
        if (touch[i].gap < touch[pick[0]].gap - 1e-5 * size) pick[0] = i;
    double deepest = touch[pick[0]].gap;
    for (; kept < max; kept++) {
        double best = 0;
        for (int i = 0; i < count; i++) {
            double open = 1 + tl_max(0, touch[i].gap - deepest) / (0.02 * size + 1e-300),
                   least = INFINITY; /* 0.02: chosen */
            for (int k = 0; k < kept; k++) least = tl_min(least, apart(&touch[i], &touch[pick[k]], size2));
            if (least > 1.001 * best * open) {
                best = least / open;
                pick[kept] = i;
            }
        }
        if (best <= 0) break; /* the rest are copies */
    }

    /* in their old order */
    int out = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < kept; k++)
            if (pick[k] == i) {
                touch[out++] = touch[i];
                break;
            }
    return out;
}
