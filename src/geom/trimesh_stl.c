#include "geom/mesh_reader.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

#define HEADER 80
#define RECORD 50 /* normal, three vertices, two bytes */

static uint32_t load32(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

static double load_float(const char *p)
{
    uint32_t bits = load32(p);
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static talus_status read_binary(tl_mesh_builder *b, const char *name, const char *data, size_t bytes, talus_error *err)
{
    if (bytes < HEADER + 4)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "%s: neither an ascii STL (no 'solid') nor a binary one (%zu bytes, at least %d needed)", name,
                       bytes, HEADER + 4);
    uint32_t count = load32(data + HEADER);
    if (count > (bytes - HEADER - 4) / RECORD)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: byte %d: %u triangles need %llu bytes, but the file has %zu", name,
                       HEADER, count, (unsigned long long)count * RECORD + HEADER + 4, bytes);
    if (count > INT32_MAX / 3)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: %u triangles are more than a mesh holds", name, count);
    for (uint32_t t = 0; t < count; t++) {
        const char *record = data + HEADER + 4 + (size_t)t * RECORD;
        tl_place where = {name, 0, record - data};
        for (int k = 0; k < 3; k++) {
            const char *v = record + 12 + 12 * k;
            TL_TRY(
                tl_mesh_add_vertex(b, tl_vec3_make(load_float(v), load_float(v + 4), load_float(v + 8)), where, err));
            TL_TRY(tl_mesh_add_corner(b, 3 * (int64_t)t + k, where, err));
        }
        TL_TRY(tl_mesh_end_polygon(b, where, err));
    }
    return TALUS_OK;
}

static talus_status read_ascii_vertex(tl_mesh_builder *b, tl_scan *s, talus_error *err)
{
    static const char *const axis[3] = {"x of a vertex", "y of a vertex", "z of a vertex"};
    tl_place where = tl_scan_place(s);
    double x[3];
    for (int k = 0; k < 3; k++) {
        tl_word w;
        if (!tl_scan_any(s, &w))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%lld: a vertex needs three numbers, got %d", s->name,
                           (long long)where.line, k);
        TL_TRY(tl_scan_number(s, w, axis[k], &x[k], err));
    }
    TL_TRY(tl_mesh_add_vertex(b, tl_vec3_load(x), where, err));
    return tl_mesh_add_corner(b, b->mesh.vertices - 1, where, err);
}

/* Only what matters is asked for: `vertex` three or more times between `facet` and `endfacet`. Normals are the
 * triangle's own. */
static talus_status read_ascii(tl_mesh_builder *b, tl_scan s, talus_error *err)
{
    bool inside = false, ended = false;
    tl_word w;
    if (!tl_scan_any(&s, &w)) return TALUS_OK;
    tl_scan_line(&s); /* "solid" and a free name */
    while (tl_scan_any(&s, &w)) {
        char text[TL_WORD_SHOWN];
        if (!inside && (tl_word_is_like(w, "solid") || tl_word_is_like(w, "endsolid"))) {
            ended = tl_word_is_like(w, "endsolid");
            if (!tl_scan_line(&s)) break;
        } else if (!inside && tl_word_is_like(w, "facet")) {
            inside = true;
            ended = false;
        } else if (inside && tl_word_is_like(w, "normal")) {
            for (int k = 0; k < 3; k++) (void)tl_scan_any(&s, &w);
        } else if (inside && tl_word_is_like(w, "vertex")) {
            TL_TRY(read_ascii_vertex(b, &s, err));
        } else if (inside && tl_word_is_like(w, "endfacet")) {
            inside = false;
            TL_TRY(tl_mesh_end_polygon(b, tl_scan_place(&s), err));
        } else if (!inside ||
                   !(tl_word_is_like(w, "outer") || tl_word_is_like(w, "loop") || tl_word_is_like(w, "endloop"))) {
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%lld: '%s' does not belong %s", s.name, (long long)s.line,
                           tl_word_show(w, text), inside ? "into a facet" : "between facets");
        }
    }
    if (inside || !ended)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%lld: the file ends inside a %s", s.name, (long long)s.line,
                       inside ? "facet" : "solid");
    return TALUS_OK;
}

/* Many binary files start with "solid" too. Their length gives them away, or a zero byte: the count has one
 * below 2^24 triangles. */
static bool is_ascii(const char *data, size_t bytes)
{
    if (bytes >= HEADER + 4 && (uint64_t)load32(data + HEADER) * RECORD + HEADER + 4 == bytes) return false;
    tl_scan s = {"", data, data + bytes, 1};
    tl_word w;
    return tl_scan_any(&s, &w) && tl_word_is_like(w, "solid") &&
           !memchr(data, 0, bytes < HEADER + 4 ? bytes : HEADER + 4);
}

talus_status tl_trimesh_read_stl(tl_trimesh *m, const char *name, const char *data, size_t bytes, talus_error *err)
{
    tl_mesh_builder b = {0};
    talus_status status;
    if (bytes > 0 && is_ascii(data, bytes)) {
        tl_c_numbers numbers = tl_c_numbers_begin();
        status = read_ascii(&b, (tl_scan){name, data, data + bytes, 1}, err);
        tl_c_numbers_end(numbers);
    } else {
        status = read_binary(&b, name, data, bytes, err);
    }
    TL_TRY(tl_mesh_finish(&b, status, m));
    status = tl_trimesh_weld(m, 0, err); /* every triangle has vertices of its own in the file */
    if (status != TALUS_OK) tl_trimesh_free(m);
    return status;
}
