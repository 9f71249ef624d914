#include "geom/collide/pairs.h"

int tl_box_half_space(const tl_obox *a, tl_vec3 at, tl_vec3 normal, double margin, tl_touch *out)
{
    double height = tl_vec3_dot(normal, tl_vec3_sub(a->centre, at));
    tl_vec3 edge[3] = {tl_vec3_scale(a->half.x, a->axis[0]), tl_vec3_scale(a->half.y, a->axis[1]),
                       tl_vec3_scale(a->half.z, a->axis[2])};
    double rise[3];
    for (int i = 0; i < 3; i++) rise[i] = tl_vec3_dot(normal, edge[i]);
    if (!(height - fabs(rise[0]) - fabs(rise[1]) - fabs(rise[2]) <= margin)) return 0;
    int count = 0;
    for (int corner = 0; corner < 8; corner++) {
        double gap = height;
        tl_vec3 p = a->centre;
        for (int i = 0; i < 3; i++) {
            double sign = corner >> i & 1 ? 1 : -1;
            gap += sign * rise[i];
            p = tl_vec3_add_scaled(p, sign, edge[i]);
        }
        if (gap <= margin) out[count++] = (tl_touch){tl_vec3_add_scaled(p, -0.5 * gap, normal), normal, gap, false};
    }
    return count;
}
