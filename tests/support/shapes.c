#include "shapes.h"

#include <stdio.h>
#include <stdlib.h>

#include "math/quat.h"

static talus_error err;

static int made(int node)
{
    if (node >= 0) return node;
    fprintf(stderr, "shape: %s\n", err.message);
    abort();
}

static int at(tl_shape_tree *t, int node, double x, double y, double z)
{
    return made(tl_shape_place(t, node, (tl_vec3){x, y, z}, (double[]){1, 0, 0, 0}, 1, &err));
}

static int turned(tl_shape_tree *t, int node, double x, double y, double z, double scale)
{
    tl_quat q = tl_quat_exp((tl_vec3){x, y, z});
    return made(tl_shape_place(t, node, (tl_vec3){0.05, -0.1, 0.08}, (double[]){q.w, q.x, q.y, q.z}, scale, &err));
}

int tl_test_shapes_animal(tl_shape_tree *t)
{
    int part[30], n = 0;
    part[n++] = made(tl_shape_ellipsoid(t, (tl_vec3){0.6, 0.32, 0.3}, &err)); /* body */
    part[n++] = at(t, made(tl_shape_sphere(t, 0.3, &err)), -0.4, 0.02, 0);
    part[n++] = at(t, made(tl_shape_sphere(t, 0.29, &err)), 0.35, 0.05, 0);
    part[n++] = made(tl_shape_capsule(t, (tl_vec3){0.5, 0.1, 0}, (tl_vec3){0.8, 0.5, 0}, 0.18, 0.14, &err)); /* neck */
    part[n++] = at(t, made(tl_shape_ellipsoid(t, (tl_vec3){0.22, 0.16, 0.15}, &err)), 0.88, 0.58, 0);
    part[n++] = made(tl_shape_capsule(t, (tl_vec3){0.95, 0.55, 0}, (tl_vec3){1.1, 0.5, 0}, 0.1, 0.07, &err));
    for (int side = -1; side <= 1; side += 2) {
        double z = 0.17 * side;
        part[n++] = made(tl_shape_capsule(t, (tl_vec3){0.82, 0.68, 0.08 * side}, (tl_vec3){0.76, 0.86, 0.13 * side},
                                          0.05, 0.03, &err));
        for (int leg = -1; leg <= 1; leg += 2) {
            double x = 0.42 * leg;
            part[n++] =
                made(tl_shape_capsule(t, (tl_vec3){x, -0.1, z}, (tl_vec3){x + 0.05, -0.4, z}, 0.13, 0.09, &err));
            part[n++] =
                made(tl_shape_capsule(t, (tl_vec3){x + 0.05, -0.4, z}, (tl_vec3){x - 0.02, -0.7, z}, 0.09, 0.07, &err));
            part[n++] = made(
                tl_shape_capsule(t, (tl_vec3){x - 0.02, -0.7, z}, (tl_vec3){x + 0.08, -0.74, z}, 0.07, 0.06, &err));
        }
    }
    for (int k = 0; n < 30; k++) { /* tail */
        double x = -0.62 - 0.035 * k, y = 0.15 + 0.004 * k * k;
        part[n++] = at(t, made(tl_shape_sphere(t, 0.08 - 0.003 * k, &err)), x, y, 0);
    }
    return made(tl_shape_smooth_union(t, n, part, 0.08, &err));
}

tl_test_shapes tl_test_shapes_make(void)
{
    tl_test_shapes s = {.tree = tl_shape_tree_create()};
    tl_shape_tree *t = s.tree;
    if (!t) abort();
#define PUT(title, maker, out, in, soft)                                                                               \
    do {                                                                                                               \
        int node_ = made(maker);                                                                                       \
        if (s.count == TL_TEST_SHAPES_MAX) abort();                                                                    \
        s.shape[s.count].name = title;                                                                                 \
        s.shape[s.count].node = node_;                                                                                 \
        s.shape[s.count].outside_exact = out;                                                                          \
        s.shape[s.count].inside_exact = in;                                                                            \
        s.shape[s.count++].smooth = soft;                                                                              \
    } while (0)

    const double bowl[][2] = {{0, -0.6},  {0.5, -0.55}, {0.95, 0.1},  {1.0, 0.5},
                              {0.8, 0.5}, {0.72, 0.1},  {0.4, -0.32}, {0, -0.4}};
    const double ring[][2] = {{0.6, -0.3}, {1.1, -0.2}, {0.9, 0.35}};
    double star[10][2];
    for (int k = 0; k < 10; k++) {
        double r = k % 2 ? 0.5 : 1.1, angle = 0.6283185307179586 * k + 0.1;
        star[k][0] = r * cos(angle);
        star[k][1] = r * sin(angle);
    }

    PUT("box", tl_shape_box(t, (tl_vec3){1.2, 0.7, 2.1}, 0, &err), true, true, false);
    int box = s.shape[0].node;
    PUT("rounded box", tl_shape_box(t, (tl_vec3){1.2, 0.7, 2.1}, 0.2, &err), true, true, true);
    PUT("sphere", tl_shape_sphere(t, 0.8, &err), true, true, true);
    int sphere = s.shape[2].node;
    PUT("ellipsoid", tl_shape_ellipsoid(t, (tl_vec3){1.1, 0.5, 0.8}, &err), true, true, true);
    PUT("oblate ellipsoid", tl_shape_ellipsoid(t, (tl_vec3){1.1, 0.3, 1.1}, &err), true, true, true);
    PUT("prolate ellipsoid", tl_shape_ellipsoid(t, (tl_vec3){0.3, 1.2, 0.3}, &err), true, true, true);
    PUT("hemisphere", tl_shape_hemisphere(t, 0.9, &err), true, true, false);
    PUT("cylinder", tl_shape_cylinder(t, 0.6, 1.5, 0, &err), true, true, false);
    PUT("rounded cylinder", tl_shape_cylinder(t, 0.6, 1.5, 0.25, &err), true, true, true);
    PUT("capsule", tl_shape_capsule(t, (tl_vec3){-0.5, 0.2, 0.1}, (tl_vec3){0.6, -0.4, 0.3}, 0.4, 0.4, &err), true,
        true, true);
    PUT("round cone", tl_shape_capsule(t, (tl_vec3){-0.5, 0.2, 0.1}, (tl_vec3){0.6, -0.4, 0.3}, 0.6, 0.25, &err), true,
        true, true);
    PUT("swallowed capsule", tl_shape_capsule(t, (tl_vec3){0, 0, 0.1}, (tl_vec3){0.2, 0, 0.1}, 0.3, 0.7, &err), true,
        true, true);
    PUT("cone", tl_shape_cone(t, 0.9, 0, 1.2, &err), true, true, false);
    PUT("hanging cone", tl_shape_cone(t, 0, 0.9, 1.2, &err), true, true, false);
    PUT("frustum", tl_shape_cone(t, 0.9, 0.4, 1.2, &err), true, true, false);
    PUT("torus", tl_shape_torus(t, 0.8, 0.3, &err), true, true, true);
    int torus = s.shape[s.count - 1].node;
    PUT("bowl", tl_shape_revolve(t, 8, bowl, &err), true, true, false);
    PUT("triangular ring", tl_shape_revolve(t, 3, ring, &err), true, true, false);
    PUT("star", tl_shape_extrude(t, 10, (const double(*)[2])star, 0.6, &err), true, true, false);

    PUT("union", tl_shape_union(t, 2, (int[]){box, sphere}, &err), true, false, false);
    PUT("intersection", tl_shape_intersect(t, 2, (int[]){box, sphere}, &err), false, true, false);
    int drill = made(tl_shape_cylinder(t, 0.3, 3, 0, &err));
    PUT("difference", tl_shape_subtract(t, sphere, 2, (int[]){at(t, drill, -0.2, 0, 0), at(t, box, 0.95, 0, 0)}, &err),
        false, true, false);
    int far_sphere = at(t, sphere, 0.7, 0.2, 0.1);
    PUT("smooth union", tl_shape_smooth_union(t, 3, (int[]){sphere, far_sphere, torus}, 0.3, &err), false, false,
        false);
    PUT("smooth difference", tl_shape_smooth_subtract(t, sphere, far_sphere, 0.2, &err), false, false, false);
    PUT("shell", tl_shape_shell(t, sphere, 0.2, &err), true, true, true);
    int hollow = made(tl_shape_shell(t, box, 0.15, &err));
    PUT("open shell", tl_shape_subtract(t, hollow, 1, (int[]){at(t, sphere, 0, 0.8, 0)}, &err), false, false, false);
    PUT("grown box", tl_shape_offset(t, box, 0.2, &err), true, true, true);
    PUT("shrunk torus", tl_shape_offset(t, torus, -0.1, &err), true, true, true);
    PUT("turned bowl", turned(t, s.shape[16].node, 0.3, -0.8, 0.5, 0.9), true, true, false);
    PUT("stretched torus", tl_shape_stretch(t, torus, (tl_vec3){1.2, 1.6, 0.7}, &err), false, false, true);
    PUT("mirrored cone", tl_shape_mirror(t, turned(t, s.shape[10].node, 0, 0.4, 1, 1), 0, &err), true, false, false);
    int rows[27], n = 0, small = made(tl_shape_box(t, (tl_vec3){0.4, 0.35, 0.4}, 0, &err));
    for (int k = 0; k < 27; k++) rows[n++] = at(t, small, 0.6 * (k % 3 - 1), 0.6 * (k / 3 % 3 - 1), 0.6 * (k / 9 - 1));
    PUT("rows of boxes", tl_shape_union(t, n, rows, &err), true, true, false);
    PUT("holes", tl_shape_subtract(t, box, n, rows, &err), false, true, false);
    PUT("animal", tl_test_shapes_animal(t), false, false, true);
    return s;
}
