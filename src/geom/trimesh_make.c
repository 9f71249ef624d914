#include "geom/trimesh_make.h"

#include <string.h>

#include "base/alloc.h"

static void set(tl_trimesh *m, int32_t t, int32_t a, int32_t b, int32_t c)
{
    m->triangle[t][0] = a;
    m->triangle[t][1] = b;
    m->triangle[t][2] = c;
}

static const double golden = 1.618033988749895;
static const int8_t icosahedron[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                          {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                          {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                          {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};

/* Every triangle gets its three edge points; the weld makes neighbours share them (equal bits: the sum commutes). */
static talus_status split(tl_trimesh *m, double radius, talus_error *err)
{
    tl_trimesh fine;
    TL_TRY(tl_trimesh_create(&fine, m->vertices + 3 * m->triangles, 4 * m->triangles, err));
    memcpy(fine.vertex, m->vertex, sizeof *m->vertex * (size_t)m->vertices);
    for (int32_t t = 0; t < m->triangles; t++) {
        int32_t *v = m->triangle[t], e[3];
        for (int k = 0; k < 3; k++) {
            tl_vec3 middle = tl_vec3_add(m->vertex[v[k]], m->vertex[v[(k + 1) % 3]]);
            e[k] = m->vertices + 3 * t + k;
            fine.vertex[e[k]] = tl_vec3_scale(radius, tl_vec3_normalize(middle));
        }
        set(&fine, 4 * t, v[0], e[0], e[2]);
        set(&fine, 4 * t + 1, v[1], e[1], e[0]);
        set(&fine, 4 * t + 2, v[2], e[2], e[1]);
        set(&fine, 4 * t + 3, e[0], e[1], e[2]);
    }
    tl_trimesh_free(m);
    *m = fine;
    return tl_trimesh_weld(m, 0, err);
}

talus_status tl_trimesh_icosphere(tl_trimesh *m, double radius, int level, talus_error *err)
{
    *m = (tl_trimesh){0};
    if (!(radius > 0) || level < 0 || level > 9)
        return TL_FAIL(err, TALUS_BAD_INPUT, "an icosphere needs a radius > 0 and a level in 0..9, got %g and %d",
                       radius, level);
    TL_TRY(tl_trimesh_create(m, 12, 20, err));
    for (int i = 0; i < 12; i++) { /* three golden rectangles, each in a plane of two axes */
        double a = i % 4 < 2 ? golden : -golden, b = i % 2 == 0 ? -1 : 1;
        double x[3];
        x[(i / 4 + 2) % 3] = 0;
        x[i / 4] = b;
        x[(i / 4 + 1) % 3] = a;
        m->vertex[i] = tl_vec3_scale(radius, tl_vec3_normalize(tl_vec3_load(x)));
    }
    for (int t = 0; t < 20; t++) set(m, t, icosahedron[t][0], icosahedron[t][1], icosahedron[t][2]);
    talus_status status = TALUS_OK;
    for (int k = 0; k < level && status == TALUS_OK; k++) status = split(m, radius, err);
    if (status != TALUS_OK) tl_trimesh_free(m);
    return status;
}

talus_status tl_trimesh_box(tl_trimesh *m, tl_vec3 size, int cells, talus_error *err)
{
    *m = (tl_trimesh){0};
    if (!(size.x > 0 && size.y > 0 && size.z > 0) || cells < 1 || cells > 4096)
        return TL_FAIL(err, TALUS_BAD_INPUT, "a box needs edges > 0 and 1..4096 cells, got (%g, %g, %g) and %d", size.x,
                       size.y, size.z, cells);
    int n = cells + 1;
    TL_TRY(tl_trimesh_create(m, 6 * n * n, 12 * cells * cells, err));
    int32_t t = 0;
    for (int face = 0; face < 6; face++) {
        int axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3, first = face * n * n;
        double side = face % 2 ? 0.5 : -0.5;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double x[3];
                x[axis] = side;
                x[u] = (double)i / cells - 0.5;
                x[v] = (double)j / cells - 0.5;
                m->vertex[first + i * n + j] = tl_vec3_mul(size, tl_vec3_load(x));
            }
        for (int i = 0; i < cells; i++)
            for (int j = 0; j < cells; j++) {
                int32_t a = first + i * n + j, b = a + n, c = b + 1, d = a + 1; /* (u, v, axis) is right-handed */
                if (side > 0) {
                    set(m, t++, a, b, c);
                    set(m, t++, a, c, d);
                } else {
                    set(m, t++, a, c, b);
                    set(m, t++, a, d, c);
                }
            }
    }
    talus_status status = tl_trimesh_weld(m, 0, err);
    if (status != TALUS_OK) tl_trimesh_free(m);
    return status;
}
