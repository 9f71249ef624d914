#include "geom/mesh_reader.h"

#include <string.h>

#include "base/text.h"

/* Statements without meaning for a triangle mesh; anything else unknown says that the file is no OBJ. */
static const char *const passed_over[] = {
    "vt",     "vn",         "vp",        "g",      "o",     "s",    "mg",   "l",     "p",        "usemtl",
    "mtllib", "usemap",     "maplib",    "cstype", "deg",   "bmat", "step", "curv",  "curv2",    "surf",
    "parm",   "trim",       "hole",      "scrv",   "sp",    "end",  "con",  "bevel", "c_interp", "d_interp",
    "lod",    "shadow_obj", "trace_obj", "ctech",  "stech", "call", "csh",
};

static talus_status read_vertex(tl_mesh_builder *b, tl_scan *s, talus_error *err)
{
    static const char *const axis[3] = {"x of a vertex", "y of a vertex", "z of a vertex"};
    double x[3];
    for (int k = 0; k < 3; k++) {
        tl_word w;
        if (!tl_scan_word(s, &w))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%lld: a vertex needs three numbers, got %d", s->name,
                           (long long)s->line, k);
        TL_TRY(tl_scan_number(s, w, axis[k], &x[k], err));
    }
    return tl_mesh_add_vertex(b, tl_vec3_load(x), tl_scan_place(s), err); /* a weight or a colour may follow */
}

/* seen: vertices above this line, for negative numbers. */
static talus_status read_face(tl_mesh_builder *b, tl_scan *s, int32_t seen, talus_error *err)
{
    tl_word w;
    while (tl_scan_word(s, &w)) {
        if (*w.at == '#') break;
        const char *slash = memchr(w.at, '/', (size_t)w.length); /* vertex/texture/normal */
        if (slash) w.length = slash - w.at;
        int64_t i;
        TL_TRY(tl_scan_integer(s, w, "a face's vertex", &i, err));
        if (i == 0 || i > b->mesh.vertices || i < -(int64_t)seen)
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "%s:%lld: a face names vertex %lld, but there are %d in the file, %d of them above", s->name,
                           (long long)s->line, (long long)i, b->mesh.vertices, seen);
        TL_TRY(tl_mesh_add_corner(b, i > 0 ? i - 1 : seen + i, tl_scan_place(s), err));
    }
    return tl_mesh_end_polygon(b, tl_scan_place(s), err);
}

static bool is_passed_over(tl_word w)
{
    for (size_t i = 0; i < sizeof passed_over / sizeof passed_over[0]; i++)
        if (tl_word_is(w, passed_over[i])) return true;
    return *w.at == '#';
}

/* Vertices first, then faces: a face may name a vertex that stands below it. */
static talus_status pass(tl_mesh_builder *b, tl_scan s, bool faces, talus_error *err)
{
    int32_t seen = 0;
    if (s.at == s.end) return TALUS_OK;
    do {
        tl_word w;
        if (!tl_scan_word(&s, &w)) continue;
        bool vertex = tl_word_is(w, "v"), face = tl_word_is(w, "f") || tl_word_is(w, "fo");
        if (vertex && !faces) TL_TRY(read_vertex(b, &s, err));
        seen += vertex;
        if (face && faces) TL_TRY(read_face(b, &s, seen, err));
        if (!vertex && !face && !faces && !is_passed_over(w)) {
            char text[TL_WORD_SHOWN];
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%lld: '%s' is no statement of an OBJ file", s.name,
                           (long long)s.line, tl_word_show(w, text));
        }
        while (*w.at != '#' && tl_scan_word(&s, &w)) {
            /* to the end, also of a statement that goes on in the next line */
        }
    } while (tl_scan_line(&s));
    return TALUS_OK;
}

talus_status tl_trimesh_read_obj(tl_trimesh *m, const char *name, const char *data, size_t bytes, talus_error *err)
{
    tl_mesh_builder b = {0};
    tl_scan s = {name, data, data + bytes, 1};
    tl_c_numbers numbers = tl_c_numbers_begin();
    talus_status status = pass(&b, s, false, err);
    if (status == TALUS_OK) status = pass(&b, s, true, err);
    if (status == TALUS_OK && b.mesh.vertices == 0) status = TL_FAIL(err, TALUS_BAD_INPUT, "%s: no vertex in it", name);
    tl_c_numbers_end(numbers);
    return tl_mesh_finish(&b, status, m);
}
