#include "geom/collide/general.h"

static const tl_vec3 up = {0, 1, 0}; /* where there is no gradient, some direction */

static double sphere(const tl_collider *c, tl_vec3 p, tl_vec3 *gradient)
{
    tl_vec3 r = tl_vec3_sub(p, c->centre);
    if (gradient) *gradient = tl_vec3_normalize_or(r, up);
    return tl_vec3_norm(r) - c->radius;
}

static double half_space(const tl_collider *c, tl_vec3 p, tl_vec3 *gradient)
{
    tl_vec3 n = tl_mat3_column(c->axes, 0);
    if (gradient) *gradient = n;
    return tl_vec3_dot(n, tl_vec3_sub(p, c->centre));
}

static double box(const tl_collider *c, tl_vec3 p, tl_vec3 *gradient)
{
    tl_vec3 r = tl_vec3_sub(p, c->centre);
    double at[3], over[3], outside = 0, n[3] = {0, 0, 0}, d;
    const double half[3] = {c->half.x, c->half.y, c->half.z};
    int nearest = 0;
    for (int k = 0; k < 3; k++) {
        at[k] = tl_vec3_dot(tl_mat3_column(c->axes, k), r);
        over[k] = fabs(at[k]) - half[k];
        if (over[k] > over[nearest]) nearest = k;
        if (over[k] > 0) outside += over[k] * over[k];
    }
    if (outside > 0) {
        d = sqrt(outside);
        for (int k = 0; k < 3; k++) n[k] = over[k] > 0 ? copysign(over[k] / d, at[k]) : 0;
    } else {
        d = over[nearest];
        n[nearest] = copysign(1, at[nearest]);
    }
    if (gradient) *gradient = tl_mat3_mul_vec(c->axes, tl_vec3_load(n));
    return d;
}

double tl_collider_distance(const tl_collider *c, tl_vec3 p, tl_vec3 *gradient)
{
    switch (c->kind) {
    case TL_COLLIDER_SPHERE: return sphere(c, p, gradient);
    case TL_COLLIDER_BOX: return box(c, p, gradient);
    case TL_COLLIDER_HALF_SPACE: return half_space(c, p, gradient);
    case TL_COLLIDER_GENERAL: break;
    }
    double d = tl_field_at(&c->field->field, p, gradient);
    if (gradient) *gradient = tl_vec3_normalize_or(*gradient, up);
    return d;
}
