#include "geom/collide/pairs.h"

/* The point between a sphere and the point `on` of another surface, `gap` apart along the normal. */
static int one(tl_vec3 on, tl_vec3 normal, double gap, double margin, tl_touch *out)
{
    if (!(gap <= margin)) return 0;
    *out = (tl_touch){tl_vec3_add_scaled(on, 0.5 * gap, normal), normal, gap, false};
    return 1;
}

int tl_sphere_sphere(tl_vec3 a, double ra, tl_vec3 b, double rb, double margin, tl_touch *out)
{
    tl_vec3 d = tl_vec3_sub(a, b), normal = tl_vec3_normalize_or(d, (tl_vec3){0, 1, 0});
    return one(tl_vec3_add_scaled(b, rb, normal), normal, tl_vec3_norm(d) - ra - rb, margin, out);
}

int tl_sphere_half_space(tl_vec3 a, double ra, tl_vec3 at, tl_vec3 normal, double margin, tl_touch *out)
{
    double height = tl_vec3_dot(normal, tl_vec3_sub(a, at));
    return one(tl_vec3_add_scaled(a, -height, normal), normal, height - ra, margin, out);
}

int tl_sphere_box(tl_vec3 a, double ra, const tl_obox *b, double margin, tl_touch *out)
{
    double half[3], at[3], inside = -INFINITY;
    tl_vec3_store(b->half, half);
    tl_vec3 nearest = b->centre, d = tl_vec3_sub(a, b->centre);
    int face = 0;
    for (int i = 0; i < 3; i++) {
        at[i] = tl_vec3_dot(b->axis[i], d);
        double depth = fabs(at[i]) - half[i];
        if (depth > inside) {
            inside = depth;
            face = i;
        }
        nearest = tl_vec3_add_scaled(nearest, fmin(fmax(at[i], -half[i]), half[i]), b->axis[i]);
    }
    /* centre in the box: out through the nearest face */
    tl_vec3 out_of = tl_vec3_scale(copysign(1, at[face]), b->axis[face]);
    if (inside <= 0) return one(tl_vec3_add_scaled(a, -inside, out_of), out_of, inside - ra, margin, out);
    tl_vec3 away = tl_vec3_sub(a, nearest);
    return one(nearest, tl_vec3_normalize_or(away, out_of), tl_vec3_norm(away) - ra, margin, out);
}
