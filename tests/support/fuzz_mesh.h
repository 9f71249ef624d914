/* One input through a mesh reader: an error with a message, or a mesh that holds what it promises. */
#ifndef TL_TESTS_FUZZ_MESH_H
#define TL_TESTS_FUZZ_MESH_H

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "geom/mesh_reader.h"

typedef talus_status (*fuzz_reader)(tl_trimesh *, const char *, const char *, size_t, talus_error *);

static inline void fuzz_mesh(fuzz_reader read, const uint8_t *data, size_t bytes)
{
    char *copy = malloc(bytes ? bytes : 1); /* so that the sanitizer sees a byte too much */
    if (!copy) abort();
    if (bytes) memcpy(copy, data, bytes);
    int64_t live = tl_alloc_read().live_blocks;
    talus_error err = {TALUS_OK, ""};
    tl_trimesh m;
    talus_status status = read(&m, "input", copy, bytes, &err);
    free(copy);
    if (status == TALUS_OK) {
        for (int32_t i = 0; i < m.vertices; i++)
            if (!(tl_vec3_max_abs(m.vertex[i]) <= TL_MESH_COORDINATE_MAX)) abort();
        for (int32_t t = 0; t < m.triangles; t++)
            for (int k = 0; k < 3; k++)
                if (m.triangle[t][k] < 0 || m.triangle[t][k] >= m.vertices) abort();
        tl_trimesh_report report;
        if (m.triangles < 200 && tl_trimesh_check(&m, &report, &err) != TALUS_OK) abort();
    } else if (err.message[0] == '\0' || strchr(err.message, '\n') || m.vertex || m.triangle) {
        abort();
    }
    tl_trimesh_free(&m);
    if (tl_alloc_read().live_blocks != live) abort();
}

#endif
