/* Surfaces of liquids from particles: closed, as large as what they stand for, the same for any number of threads. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "render/liquid_surface.h"

static talus_error err;

#define EDGE 20 /* particles along the edge of a cube of 1 m */

static tl_vec3 *cube(int32_t *count)
{
    tl_vec3 *at = malloc(sizeof *at * EDGE * EDGE * EDGE);
    *count = 0;
    for (int i = 0; i < EDGE * EDGE * EDGE; i++)
        at[(*count)++] =
            (tl_vec3){(i / EDGE / EDGE + 0.5) / EDGE, (i / EDGE % EDGE + 0.5) / EDGE, (i % EDGE + 0.5) / EDGE};
    return at;
}

static double volume_of(const tl_trimesh *m)
{
    double sum = 0;
    for (int32_t i = 0; i < m->triangles; i++) {
        const int32_t *t = m->triangle[i];
        sum += tl_vec3_dot(m->vertex[t[0]], tl_vec3_cross(m->vertex[t[1]], m->vertex[t[2]])) / 6;
    }
    return sum;
}

static void a_cube_of_particles_has_its_volume(void **state)
{
    (void)state;
    int32_t count;
    tl_vec3 *at = cube(&count);
    const tl_box3 wide = {{-1, -1, -1}, {2, 2, 2}}, tight = {{0, 0, 0}, {1, 1, 1}}, elsewhere = {{3, 3, 3}, {4, 4, 4}};
    tl_trimesh m;
    CHECK_OK(tl_liquid_surface(count, at, 1.0 / EDGE, wide, &m, &err));
    CHECK_REL(volume_of(&m), 1.0, 0.08); /* sides may be a quarter of a spacing off */
    tl_trimesh_free(&m);
    CHECK_OK(tl_liquid_surface(count, at, 1.0 / EDGE, tight, &m, &err));
    for (int32_t i = 0; i < m.vertices; i++)
        assert_true(m.vertex[i].y >= 0 && m.vertex[i].y <= 1 && m.vertex[i].x >= 0 && m.vertex[i].z <= 1);
    tl_trimesh_free(&m);
    CHECK_OK(tl_liquid_surface(count, at, 1.0 / EDGE, elsewhere, &m, &err));
    assert_int_equal(m.triangles, 0);
    tl_trimesh_free(&m);
    free(at);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    int32_t count;
    int before = tl_threads();
    tl_vec3 *at = cube(&count);
    const tl_box3 wide = {{-1, -1, -1}, {2, 2, 2}};
    tl_trimesh m[2];
    for (int k = 0; k < 2; k++) {
        tl_threads_set(k + 1);
        CHECK_OK(tl_liquid_surface(count, at, 1.0 / EDGE, wide, &m[k], &err));
    }
    tl_threads_set(before);
    assert_int_equal(m[0].vertices, m[1].vertices);
    assert_memory_equal(m[0].vertex, m[1].vertex, sizeof *m[0].vertex * (size_t)m[0].vertices);
    for (int k = 0; k < 2; k++) tl_trimesh_free(&m[k]);
    free(at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_cube_of_particles_has_its_volume),
                                       cmocka_unit_test(threads_do_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
