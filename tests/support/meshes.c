#include "meshes.h"

#include <string.h>

#include "base/alloc.h"

#define TWO_PI 6.283185307179586

static void set(tl_trimesh *m, int32_t t, int32_t a, int32_t b, int32_t c)
{
    m->triangle[t][0] = a;
    m->triangle[t][1] = b;
    m->triangle[t][2] = c;
}

talus_status tl_test_mesh_torus(tl_trimesh *m, double ring_radius, double tube_radius, int around, int across,
                                talus_error *err)
{
    *m = (tl_trimesh){0};
    if (!(tube_radius > 0 && ring_radius > tube_radius) || around < 3 || across < 3 ||
        (int64_t)around * across > 100000000)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "a torus needs ring radius > tube radius > 0 and 3 or more cells both ways, got %g, %g, %d, %d",
                       ring_radius, tube_radius, around, across);
    TL_TRY(tl_trimesh_create(m, around * across, 2 * around * across, err));
    int32_t t = 0;
    for (int i = 0; i < around; i++)
        for (int j = 0; j < across; j++) {
            double phi = TWO_PI * i / around, theta = TWO_PI * j / across, r = ring_radius + tube_radius * cos(theta);
            m->vertex[i * across + j] = tl_vec3_make(r * cos(phi), tube_radius * sin(theta), -r * sin(phi));
            int32_t next_i = (i + 1) % around, next_j = (j + 1) % across;
            int32_t a = i * across + j, b = next_i * across + j, c = next_i * across + next_j, d = i * across + next_j;
            set(m, t++, a, b, c);
            set(m, t++, a, c, d);
        }
    return TALUS_OK;
}

talus_status tl_test_mesh_sheet(tl_trimesh *m, double size_x, double size_z, int nx, int nz, talus_error *err)
{
    *m = (tl_trimesh){0};
    if (!(size_x > 0 && size_z > 0) || nx < 1 || nz < 1 || (int64_t)nx * nz > 100000000)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "a sheet needs edges > 0 and 1 or more cells both ways, got %g, %g, %d, %d", size_x, size_z, nx,
                       nz);
    TL_TRY(tl_trimesh_create(m, (nx + 1) * (nz + 1), 2 * nx * nz, err));
    int32_t t = 0;
    for (int i = 0; i <= nx; i++)
        for (int k = 0; k <= nz; k++)
            m->vertex[i * (nz + 1) + k] =
                tl_vec3_make(size_x * ((double)i / nx - 0.5), 0, size_z * ((double)k / nz - 0.5));
    for (int i = 0; i < nx; i++)
        for (int k = 0; k < nz; k++) {
            int32_t a = i * (nz + 1) + k, b = a + nz + 1, c = b + 1, d = a + 1;
            set(m, t++, a, c, b);
            set(m, t++, a, d, c);
        }
    return TALUS_OK;
}

void tl_test_mesh_flip(tl_trimesh *m)
{
    for (int32_t t = 0; t < m->triangles; t++) set(m, t, m->triangle[t][0], m->triangle[t][2], m->triangle[t][1]);
}

void tl_test_mesh_transform(tl_trimesh *m, tl_mat3 linear, tl_vec3 at)
{
    for (int32_t i = 0; i < m->vertices; i++) m->vertex[i] = tl_vec3_add(tl_mat3_mul_vec(linear, m->vertex[i]), at);
    if (tl_mat3_det(linear) < 0) tl_test_mesh_flip(m);
}

talus_status tl_test_mesh_append(tl_trimesh *m, const tl_trimesh *more, talus_error *err)
{
    tl_trimesh both;
    if (more->vertices > INT32_MAX - m->vertices || more->triangles > INT32_MAX - m->triangles)
        return TL_FAIL(err, TALUS_BAD_INPUT, "two meshes of %d and %d triangles are too much for one", m->triangles,
                       more->triangles);
    TL_TRY(tl_trimesh_create(&both, m->vertices + more->vertices, m->triangles + more->triangles, err));
    for (int32_t i = 0; i < both.vertices; i++)
        both.vertex[i] = i < m->vertices ? m->vertex[i] : more->vertex[i - m->vertices];
    for (int32_t t = 0; t < both.triangles; t++)
        for (int k = 0; k < 3; k++)
            both.triangle[t][k] =
                t < m->triangles ? m->triangle[t][k] : more->triangle[t - m->triangles][k] + m->vertices;
    tl_trimesh_free(m);
    *m = both;
    return TALUS_OK;
}
