#include "io/vtk_lg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/vtk.h"

/* Those that hold nodes: kind and number, then place, force, torque and tension. */
static int64_t list_holds(const tl_scene *scene, const tl_lg *lg, const tl_lg_hold *hold, int32_t *what, double *value)
{
    const int32_t all = hold ? tl_lg_hold_count(lg, scene) : 0;
    for (int32_t i = 0; i < all; i++) {
        const tl_lg_hold *h = &hold[i];
        what[i] = (int32_t)h->kind;
        what[all + i] = h->number;
        tl_vec3_store(h->at, value + 3 * (int64_t)i);
        tl_vec3_store(h->force, value + 3 * (int64_t)(all + i));
        tl_vec3_store(h->torque, value + 3 * (int64_t)(2 * all + i));
        value[9 * (int64_t)all + i] = h->tension;
    }
    return all;
}

talus_status tl_vtk_nodes(const char *path, const tl_scene *scene, const tl_lg *lg, const tl_lg_hold *hold, double t,
                          const double *q, const double *v, talus_error *err)
{
    const int64_t max = hold ? tl_lg_hold_count(lg, scene) : 0;
    int32_t *what = TL_NEW(int32_t, 2 * max + 1);
    double *value = TL_NEW(double, 10 * max + 1);
    int32_t *body = TL_NEW(int32_t, lg->surface_triangles + 1);
    int32_t *id = TL_NEW(int32_t, lg->nodes + 1), *owner = TL_NEW(int32_t, lg->nodes + 1);
    const char **name = TL_NEW(const char *, scene->body_count + 1);
    talus_status status = TALUS_OK;
    if (!body || !id || !owner || !name || !what || !value)
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a frame of %d triangles", lg->surface_triangles);
    if (status == TALUS_OK) {
        for (int i = 0; i < scene->body_count; i++) name[i] = scene->bodies[i].name;
        for (int b = 0; b < lg->bodies; b++)
            for (int32_t k = 0; k < lg->body[b].triangles; k++) body[lg->body[b].triangle + k] = lg->body[b].body;
        for (int32_t i = 0; i < lg->nodes; i++) id[i] = i, owner[i] = lg->body[lg->owner[i]].body;
        const int64_t holds = list_holds(scene, lg, hold, what, value);
        tl_vtk_poly p = {.t = t,
                         .field_count = holds,
                         .field_arrays = holds ? 6 : 0,
                         .field = {{"holds_kind", TL_NUMBER_I32, 1, what},
                                   {"holds_number", TL_NUMBER_I32, 1, what + holds},
                                   {"holds_position", TL_NUMBER_F64, 3, value},
                                   {"holds_force", TL_NUMBER_F64, 3, value + 3 * holds},
                                   {"holds_torque", TL_NUMBER_F64, 3, value + 6 * holds},
                                   {"holds_tension", TL_NUMBER_F64, 1, value + 9 * holds}},
                         .points = lg->nodes,
                         .type = TL_NUMBER_F64,
                         .at = q,
                         .triangles = lg->surface_triangles,
                         .triangle = (const int32_t(*)[3])lg->surface,
                         .point_arrays = 3,
                         .cell_arrays = 1,
                         .point = {{"velocity", TL_NUMBER_F64, 3, v},
                                   {"id", TL_NUMBER_I32, 1, id},
                                   {"body", TL_NUMBER_I32, 1, owner}},
                         .cell = {{"body", TL_NUMBER_I32, 1, body}},
                         .names = scene->body_count,
                         .name = name};
        status = tl_vtk_write(path, &p, err);
    }
    tl_free(what);
    tl_free(value);
    tl_free(body);
    tl_free(id);
    tl_free(owner);
    tl_free(name);
    return status;
}

/* ---- reading what was written above ---- */

#define HEADER 8192 /* bytes: the text before the numbers is below 3000, names of bodies are among the numbers */

/* Three doubles per node from the appended block of the array of this name. */
static bool read_block(FILE *f, const char *header, long data, const char *name, int32_t nodes, double *out)
{
    char key[128];
    uint64_t offset, bytes;
    snprintf(key, sizeof key, "Name=\"%s\" NumberOfComponents=\"3\" format=\"appended\" offset=\"", name);
    const char *at = strstr(header, key);
    return at && sscanf(at + strlen(key), "%" SCNu64, &offset) == 1 && fseek(f, data + (long)offset, SEEK_SET) == 0 &&
           fread(&bytes, sizeof bytes, 1, f) == 1 && bytes == 24 * (uint64_t)nodes &&
           fread(out, 24, (size_t)nodes, f) == (size_t)nodes;
}

talus_status tl_vtk_nodes_read(const char *path, int32_t nodes, double *q, double *v, talus_error *err)
{
    static const char begin[] = "<AppendedData encoding=\"raw\">\n_";
    FILE *f = tl_file_reader(path);
    if (!f) return TL_FAIL(err, TALUS_IO, "cannot read %.300s: %s", path, tl_file_reason());
    char *header = tl_alloc(HEADER + 1);
    size_t n = header ? fread(header, 1, HEADER, f) : 0;
    talus_status status = TALUS_OK;
    if (!header) {
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory to read %.300s", path);
    } else {
        for (size_t i = 0; i < n; i++)
            if (!header[i]) header[i] = ' '; /* numbers behind the text */
        header[n] = 0;
        const char *data = strstr(header, begin);
        long start = data ? (long)(data - header + (ptrdiff_t)strlen(begin)) : 0;
        if (!data || !read_block(f, header, start, "points", nodes, q) ||
            (v && !read_block(f, header, start, "velocity", nodes, v)))
            status = TL_FAIL(err, TALUS_BAD_INPUT, "%.300s does not hold the %d nodes of this scene", path, nodes);
    }
    tl_free(header);
    fclose(f);
    return status;
}
