#include "geom/mesh_reader.h"

#include <string.h>

#include "base/text.h"

#define ELEMENTS_MAX 32
#define PROPERTIES_MAX 256 /* of all elements; scans with spherical harmonics have some 60 */

typedef enum type { INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64, NO_TYPE } type;
static const char *const type_names[][2] = {{"char", "int8"},     {"uchar", "uint8"},   {"short", "int16"},
                                            {"ushort", "uint16"}, {"int", "int32"},     {"uint", "uint32"},
                                            {"float", "float32"}, {"double", "float64"}};
static const int type_bytes[] = {1, 1, 2, 2, 4, 4, 4, 8};

typedef enum role { SKIPPED, X, Y, Z, INDICES } role;

typedef struct property {
    type count, value; /* count is NO_TYPE unless a list */
    role role;
} property;

typedef struct element {
    int64_t items, line;
    int first, properties;
    bool vertex, face;
} element;

typedef struct header {
    enum { ASCII, LITTLE, BIG } format;
    element element[ELEMENTS_MAX];
    property property[PROPERTIES_MAX];
    int elements, properties;
} header;

/* ---- header ---- */

static type type_of(tl_word w)
{
    for (int t = 0; t < NO_TYPE; t++)
        if (tl_word_is(w, type_names[t][0]) || tl_word_is(w, type_names[t][1])) return (type)t;
    return NO_TYPE;
}

static talus_status bad(const tl_scan *s, tl_word w, const char *what, talus_error *err)
{
    char text[TL_WORD_SHOWN];
    return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%lld: %s, got '%s'", s->name, (long long)s->line, what,
                   tl_word_show(w, text));
}

static talus_status read_element(header *h, tl_scan *s, talus_error *err)
{
    tl_word w = {s->at, 0};
    if (h->elements == ELEMENTS_MAX) return bad(s, w, "more than 32 elements", err);
    element *e = &h->element[h->elements++];
    *e = (element){.line = s->line, .first = h->properties};
    if (!tl_scan_word(s, &w)) return bad(s, w, "an element needs a name", err);
    e->vertex = tl_word_is(w, "vertex");
    e->face = tl_word_is(w, "face");
    for (element *o = h->element; o < e; o++)
        if ((e->vertex && o->vertex) || (e->face && o->face)) return bad(s, w, "an element stands twice", err);
    if (tl_word_is(w, "tristrips")) return bad(s, w, "triangle strips are not read: save the mesh with faces", err);
    w.length = 0;
    tl_scan_word(s, &w);
    TL_TRY(tl_scan_integer(s, w, "the count of an element", &e->items, err));
    if (e->items < 0 || e->items > INT32_MAX) return bad(s, w, "the count of an element must be in 0..2147483647", err);
    return TALUS_OK;
}

static talus_status read_property(header *h, tl_scan *s, talus_error *err)
{
    tl_word w = {s->at, 0};
    if (h->elements == 0) return bad(s, w, "a property before the first element", err);
    if (h->properties == PROPERTIES_MAX) return bad(s, w, "more than 256 properties", err);
    element *e = &h->element[h->elements - 1];
    property *p = &h->property[h->properties++];
    *p = (property){.count = NO_TYPE};
    e->properties++;
    tl_scan_word(s, &w);
    if (tl_word_is(w, "list")) {
        w.length = 0;
        tl_scan_word(s, &w);
        p->count = type_of(w);
        if (p->count >= FLOAT32) return bad(s, w, "the count of a list must be of an integer type", err);
        w.length = 0;
        tl_scan_word(s, &w);
    }
    p->value = type_of(w);
    if (p->value == NO_TYPE)
        return bad(s, w, "a property needs a type (char, uchar, short, ushort, int, uint, float, double)", err);
    if (!tl_scan_word(s, &w)) return bad(s, w, "a property needs a name", err);
    bool list = p->count != NO_TYPE;
    if (e->vertex && !list)
        p->role = tl_word_is(w, "x") ? X : tl_word_is(w, "y") ? Y : tl_word_is(w, "z") ? Z : SKIPPED;
    if (e->face && list && (tl_word_is(w, "vertex_indices") || tl_word_is(w, "vertex_index"))) p->role = INDICES;
    for (int i = e->first; i < h->properties - 1; i++)
        if (p->role != SKIPPED && h->property[i].role == p->role) return bad(s, w, "a property stands twice", err);
    return TALUS_OK;
}

static talus_status read_format(header *h, tl_scan *s, talus_error *err)
{
    tl_word w = {s->at, 0};
    tl_scan_word(s, &w);
    if (tl_word_is(w, "ascii"))
        h->format = ASCII;
    else if (tl_word_is(w, "binary_little_endian"))
        h->format = LITTLE;
    else if (tl_word_is(w, "binary_big_endian"))
        h->format = BIG;
    else
        return bad(s, w, "the format must be ascii, binary_little_endian or binary_big_endian", err);
    w.length = 0;
    tl_scan_word(s, &w);
    return tl_word_is(w, "1.0") ? TALUS_OK : bad(s, w, "the version of the format must be 1.0", err);
}

static bool has(const header *h, const element *e, role r)
{
    for (int i = 0; i < e->properties; i++)
        if (h->property[e->first + i].role == r) return true;
    return false;
}

static talus_status check_header(const header *h, const tl_scan *s, talus_error *err)
{
    bool vertices = false;
    for (const element *e = h->element; e < h->element + h->elements; e++) {
        vertices = vertices || e->vertex;
        if (e->vertex && !(has(h, e, X) && has(h, e, Y) && has(h, e, Z)))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%lld: the vertices need the properties x, y and z", s->name,
                           (long long)e->line);
        if (e->face && e->items > 0 && !has(h, e, INDICES))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%lld: the faces need a list vertex_indices", s->name,
                           (long long)e->line);
    }
    return vertices ? TALUS_OK : TL_FAIL(err, TALUS_BAD_INPUT, "%s: no element 'vertex' in the header", s->name);
}

static talus_status read_header(header *h, tl_scan *s, talus_error *err)
{
    tl_word w = {s->at, 0};
    bool format = false;
    if (!tl_scan_word(s, &w) || !tl_word_is(w, "ply")) return bad(s, w, "a PLY file starts with 'ply'", err);
    while (tl_scan_line(s)) {
        if (!tl_scan_word(s, &w) || tl_word_is(w, "comment") || tl_word_is(w, "obj_info")) continue;
        if (tl_word_is(w, "end_header")) {
            if (!format) return bad(s, w, "a header needs its format", err);
            tl_scan_line(s);
            return check_header(h, s, err);
        }
        if (tl_word_is(w, "format")) {
            TL_TRY(read_format(h, s, err));
            format = true;
        } else if (tl_word_is(w, "element")) {
            TL_TRY(read_element(h, s, err));
        } else if (tl_word_is(w, "property")) {
            TL_TRY(read_property(h, s, err));
        } else {
            return bad(s, w, "a header line is format, comment, element, property or end_header", err);
        }
    }
    return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%lld: the header has no end_header", s->name, (long long)s->line);
}

/* ---- items ---- */

typedef struct body {
    const header *h;
    tl_scan s;
    const char *start; /* of the file */
} body;

static tl_place place(const body *b)
{
    return (tl_place){b->s.name, b->h->format == ASCII ? b->s.line : 0, b->s.at - b->start};
}

static double decode(const char *p, type t, bool big)
{
    uint64_t bits = 0;
    int n = type_bytes[t];
    for (int i = 0; i < n; i++) bits = bits << 8 | (unsigned char)p[big ? i : n - 1 - i];
    uint32_t bits32 = (uint32_t)bits;
    float f;
    double d;
    switch (t) {
    case INT8: return (double)(int8_t)bits;
    case INT16: return (double)(int16_t)bits;
    case INT32: return (double)(int32_t)bits;
    case FLOAT32: memcpy(&f, &bits32, sizeof f); return (double)f;
    case FLOAT64: memcpy(&d, &bits, sizeof d); return d;
    default: return (double)bits;
    }
}

static talus_status read_value(body *b, type t, const char *what, double *out, talus_error *err)
{
    if (b->h->format == ASCII) {
        tl_word w;
        if (!tl_scan_any(&b->s, &w))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the file ends before %s", TL_AT(place(b)), what);
        return tl_scan_number(&b->s, w, what, out, err);
    }
    if (b->s.end - b->s.at < type_bytes[t])
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the file ends before %s", TL_AT(place(b)), what);
    *out = decode(b->s.at, t, b->h->format == BIG);
    b->s.at += type_bytes[t];
    return TALUS_OK;
}

/* How many entries a list says it has; each needs room in what is left of the file. */
static talus_status read_count(body *b, const property *p, int64_t *count, talus_error *err)
{
    double value;
    TL_TRY(read_value(b, p->count, "the length of a list", &value, err));
    int64_t entry = b->h->format == ASCII ? 1 : type_bytes[p->value], left = b->s.end - b->s.at;
    if (!(value >= 0 && value <= (double)(left / entry) && value == floor(value)))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a list cannot have %g entries: %lld bytes are left", TL_AT(place(b)),
                       value, (long long)left);
    *count = (int64_t)value;
    return TALUS_OK;
}

static talus_status skip(body *b, const property *p, int64_t count, talus_error *err)
{
    if (b->h->format != ASCII) { /* what is left was checked for lists, and is checked for values */
        if (b->s.end - b->s.at < type_bytes[p->value] * count) {
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the file ends before a property", TL_AT(place(b)));
        }
        b->s.at += type_bytes[p->value] * count;
        return TALUS_OK;
    }
    tl_word w;
    for (int64_t i = 0; i < count; i++)
        if (!tl_scan_any(&b->s, &w))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%lld: the file ends before a property", b->s.name,
                           (long long)b->s.line);
    return TALUS_OK;
}

static talus_status read_indices(body *b, tl_mesh_builder *m, const property *p, int64_t count, talus_error *err)
{
    for (int64_t i = 0; i < count; i++) {
        double value;
        TL_TRY(read_value(b, p->value, "a vertex of a face", &value, err));
        if (!(value == floor(value) && fabs(value) < 1e18))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a vertex of a face must be an integer, got %g", TL_AT(place(b)),
                           value);
        TL_TRY(tl_mesh_add_corner(m, (int64_t)value, place(b), err));
    }
    return tl_mesh_end_polygon(m, place(b), err);
}

/* m is NULL where the element is only passed over. */
static talus_status read_items(body *b, const element *e, tl_mesh_builder *m, talus_error *err)
{
    static const char *const axis[] = {"", "x of a vertex", "y of a vertex", "z of a vertex"};
    if (e->properties == 0) return TALUS_OK;
    if (e->items > b->s.end - b->s.at) /* an item takes a byte at least */
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: %lld items are promised, but only %lld bytes are left",
                       TL_AT(place(b)), (long long)e->items, (long long)(b->s.end - b->s.at));
    for (int64_t i = 0; i < e->items; i++) {
        double x[4] = {0, 0, 0, 0};
        for (const property *p = &b->h->property[e->first]; p < &b->h->property[e->first + e->properties]; p++) {
            int64_t count = 1;
            if (p->count != NO_TYPE) TL_TRY(read_count(b, p, &count, err));
            if (m && p->role == INDICES)
                TL_TRY(read_indices(b, m, p, count, err));
            else if (m && p->role != SKIPPED)
                TL_TRY(read_value(b, p->value, axis[p->role], &x[p->role], err));
            else
                TL_TRY(skip(b, p, count, err));
        }
        if (m && e->vertex) TL_TRY(tl_mesh_add_vertex(m, tl_vec3_load(x + 1), place(b), err));
    }
    return TALUS_OK;
}

/* In file order; faces that stand above the vertices are read when these are known. */
static talus_status read_body(body *b, tl_mesh_builder *m, talus_error *err)
{
    const element *waiting = NULL;
    tl_scan waiting_at = b->s;
    bool vertices = false;
    for (const element *e = b->h->element; e < b->h->element + b->h->elements; e++) {
        if (e->face && !vertices) {
            waiting = e;
            waiting_at = b->s;
        }
        TL_TRY(read_items(b, e, e->vertex || (e->face && vertices) ? m : NULL, err));
        vertices = vertices || e->vertex;
    }
    if (!waiting) return TALUS_OK;
    b->s = waiting_at;
    return read_items(b, waiting, m, err);
}

talus_status tl_trimesh_read_ply(tl_trimesh *m, const char *name, const char *data, size_t bytes, talus_error *err)
{
    header h = {0};
    tl_mesh_builder builder = {0};
    body b = {&h, {name, data, data + bytes, 1}, data};
    tl_c_numbers numbers = tl_c_numbers_begin();
    talus_status status = read_header(&h, &b.s, err);
    if (status == TALUS_OK) status = read_body(&b, &builder, err);
    tl_c_numbers_end(numbers);
    return tl_mesh_finish(&builder, status, m);
}
