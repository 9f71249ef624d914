/* One input through a reader of tetrahedra: an error with a message, or a mesh that holds what tetmesh.h promises. */
#ifndef TL_TESTS_FUZZ_TETMESH_H
#define TL_TESTS_FUZZ_TETMESH_H

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "geom/mesh_reader.h"
#include "geom/tetmesh.h"

typedef talus_status (*fuzz_reader)(tl_tetmesh *, const char *, const char *, size_t, tl_tet_read_report *,
                                    talus_error *);

static inline void fuzz_tetmesh(fuzz_reader read, const uint8_t *data, size_t bytes)
{
    char *copy = malloc(bytes ? bytes : 1); /* so that the sanitizer sees a byte too much */
    if (!copy) abort();
    if (bytes) memcpy(copy, data, bytes);
    int64_t live = tl_alloc_read().live_blocks;
    talus_error err = {TALUS_OK, ""};
    tl_tetmesh m;
    tl_tet_read_report report;
    talus_status status = read(&m, "input", copy, bytes, &report, &err);
    free(copy);
    if (status == TALUS_OK) {
        for (int32_t i = 0; i < m.vertices; i++)
            if (!(tl_vec3_max_abs(m.vertex[i]) <= TL_MESH_COORDINATE_MAX)) abort();
        for (int32_t t = 0; t < m.tets; t++)
            for (int k = 0; k < 4; k++)
                if (m.tet[t][k] < 0 || m.tet[t][k] >= m.vertices) abort();
        tl_tet_quality q;
        if (tl_tetmesh_quality(&m, &q, &err) != TALUS_OK || q.inverted || q.unused_vertices) abort();
    } else if (err.message[0] == '\0' || strchr(err.message, '\n') || m.vertex || m.tet) {
        abort();
    }
    tl_tetmesh_free(&m);
    if (tl_alloc_read().live_blocks != live) abort();
}

#endif
