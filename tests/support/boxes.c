#include "boxes.h"

tl_obox box_at(tl_vec3 size, tl_vec3 at, tl_quat q)
{
    tl_mat3 R = tl_quat_to_mat3(q);
    return (tl_obox){at, tl_vec3_scale(0.5, size), {tl_mat3_column(R, 0), tl_mat3_column(R, 1), tl_mat3_column(R, 2)}};
}

tl_vec3 box_corner(const tl_obox *b, int c)
{
    tl_vec3 p = tl_vec3_add_scaled(b->centre, c & 1 ? b->half.x : -b->half.x, b->axis[0]);
    p = tl_vec3_add_scaled(p, c & 2 ? b->half.y : -b->half.y, b->axis[1]);
    return tl_vec3_add_scaled(p, c & 4 ? b->half.z : -b->half.z, b->axis[2]);
}

double box_half(const tl_obox *b, int i) { return i == 0 ? b->half.x : i == 1 ? b->half.y : b->half.z; }

double box_separation(const tl_obox *a, const tl_obox *b)
{
    tl_vec3 axis[15];
    int count = 0;
    for (int i = 0; i < 3; i++) {
        axis[count++] = a->axis[i];
        axis[count++] = b->axis[i];
        for (int j = 0; j < 3; j++) axis[count++] = tl_vec3_cross(a->axis[i], b->axis[j]);
    }
    double best = -INFINITY;
    for (int k = 0; k < count; k++) {
        double length = tl_vec3_norm(axis[k]), lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
        if (length < 1e-6) continue;
        for (int c = 0; c < 8; c++) {
            double x[2] = {tl_vec3_dot(axis[k], box_corner(a, c)) / length,
                           tl_vec3_dot(axis[k], box_corner(b, c)) / length};
            for (int s = 0; s < 2; s++) {
                lo[s] = fmin(lo[s], x[s]);
                hi[s] = fmax(hi[s], x[s]);
            }
        }
        best = fmax(best, fmax(lo[0] - hi[1], lo[1] - hi[0]));
    }
    return best;
}
