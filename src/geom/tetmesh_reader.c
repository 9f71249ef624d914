#include "geom/tetmesh_reader.h"

#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "geom/tetmesh_repair.h"

/* ---- numbers ---- */

int tl_number_bytes(tl_number type)
{
    static const int bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return bytes[type];
}

tl_place tl_source_place(const tl_source *s)
{
    return (tl_place){s->scan.name, s->binary || s->had_bytes ? 0 : s->scan.line, s->scan.at - s->begin};
}

static talus_status ends(const tl_source *s, const char *what, talus_error *err)
{
    return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the file ends where %s should be", TL_AT(tl_source_place(s)), what);
}

static talus_status take_bits(tl_source *s, int bytes, const char *what, uint64_t *bits, talus_error *err)
{
    if (tl_source_left(s) < bytes) return ends(s, what, err);
    const unsigned char *p = (const unsigned char *)s->scan.at;
    *bits = 0;
    s->had_bytes = true;
    for (int i = 0; i < bytes; i++) *bits |= (uint64_t)p[s->big_endian ? bytes - 1 - i : i] << (8 * i);
    s->scan.at += bytes;
    return TALUS_OK;
}

talus_status tl_source_integer(tl_source *s, tl_number type, const char *what, int64_t *out, talus_error *err)
{
    if (!s->binary) {
        tl_word w;
        return tl_scan_any(&s->scan, &w) ? tl_scan_integer(&s->scan, w, what, out, err) : ends(s, what, err);
    }
    if (type >= TL_FLOAT32)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: %s must be an integer, but is stored as a real number",
                       TL_AT(tl_source_place(s)), what);
    uint64_t bits = 0;
    int bytes = tl_number_bytes(type), shift = 64 - 8 * bytes;
    TL_TRY(take_bits(s, bytes, what, &bits, err));
    bool is_signed = type == TL_INT8 || type == TL_INT16 || type == TL_INT32 || type == TL_INT64;
    if (!is_signed && bits > INT64_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: %s is too large", TL_AT(tl_source_place(s)), what);
    *out = is_signed ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
    return TALUS_OK;
}

talus_status tl_source_real(tl_source *s, tl_number type, const char *what, double *out, talus_error *err)
{
    if (!s->binary) {
        tl_word w;
        return tl_scan_any(&s->scan, &w) ? tl_scan_number(&s->scan, w, what, out, err) : ends(s, what, err);
    }
    if (type < TL_FLOAT32) {
        int64_t integer;
        TL_TRY(tl_source_integer(s, type, what, &integer, err));
        *out = (double)integer;
        return TALUS_OK;
    }
    uint64_t bits = 0;
    TL_TRY(take_bits(s, tl_number_bytes(type), what, &bits, err));
    if (type == TL_FLOAT32) {
        uint32_t half = (uint32_t)bits;
        float f;
        memcpy(&f, &half, sizeof f);
        *out = f;
    } else {
        memcpy(out, &bits, sizeof bits);
    }
    return TALUS_OK;
}

talus_status tl_source_fits(const tl_source *s, int64_t count, int64_t bytes, const char *what, talus_error *err)
{
    int64_t room = s->binary ? tl_source_left(s) / bytes
                             : (tl_source_left(s) + 1) / 2; /* text: a digit and a blank each, but for the last */
    if (count < 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the number of %s must be >= 0, got %lld", TL_AT(tl_source_place(s)),
                       what, (long long)count);
    if (count > room)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: %lld %s cannot be in the %lld bytes that are left of the file",
                       TL_AT(tl_source_place(s)), (long long)count, what, (long long)tl_source_left(s));
    return TALUS_OK;
}

talus_status tl_source_count(tl_source *s, tl_number type, int64_t bytes, const char *what, int64_t *out,
                             talus_error *err)
{
    TL_TRY(tl_source_integer(s, type, what, out, err));
    return tl_source_fits(s, *out, bytes, what, err);
}

talus_status tl_source_skip(tl_source *s, tl_number type, int64_t count, const char *what, talus_error *err)
{
    TL_TRY(tl_source_fits(s, count, tl_number_bytes(type), what, err));
    if (s->binary) {
        s->had_bytes = true;
        s->scan.at += count * tl_number_bytes(type);
        return TALUS_OK;
    }
    tl_word w;
    for (int64_t i = 0; i < count; i++)
        if (!tl_scan_any(&s->scan, &w)) return ends(s, what, err);
    return TALUS_OK;
}

/* ---- building ---- */

static bool grow(void **items, size_t size, int64_t room)
{
    void *more = tl_realloc(*items, size * (size_t)room);
    if (more) *items = more;
    return more != NULL;
}

static talus_status refuse(tl_place where, talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "%s: no memory for a larger mesh", TL_AT(where));
}

talus_status tl_tet_add_vertex(tl_tet_builder *b, int64_t tag, tl_vec3 x, tl_place where, talus_error *err)
{
    if (!(fabs(x.x) <= TL_MESH_COORDINATE_MAX && fabs(x.y) <= TL_MESH_COORDINATE_MAX &&
          fabs(x.z) <= TL_MESH_COORDINATE_MAX))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: coordinates must be finite and at most %g, got (%g, %g, %g)",
                       TL_AT(where), TL_MESH_COORDINATE_MAX, x.x, x.y, x.z);
    if (b->vertices == INT32_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a mesh holds at most %d vertices", TL_AT(where), INT32_MAX);
    if (b->vertices == b->vertex_room) {
        int64_t room = b->vertex_room < 64 ? 64 : b->vertex_room + b->vertex_room / 2;
        void *vertex = b->vertex, *tags = b->tag;
        bool grown = grow(&vertex, sizeof *b->vertex, room) && grow(&tags, sizeof *b->tag, room);
        b->vertex = vertex, b->tag = tags;
        if (!grown) return refuse(where, err);
        b->vertex_room = room;
    }
    b->vertex[b->vertices] = x;
    b->tag[b->vertices++] = tag;
    return TALUS_OK;
}

talus_status tl_tet_add(tl_tet_builder *b, const int64_t tag[4], int64_t region, tl_place where, talus_error *err)
{
    if (b->tets == INT32_MAX / 4)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a mesh holds at most %d tetrahedra", TL_AT(where), INT32_MAX / 4);
    if (b->tets == b->tet_room) {
        int64_t room = b->tet_room < 64 ? 64 : b->tet_room + b->tet_room / 2;
        void *tet = b->tet;
        if (!grow(&tet, sizeof *b->tet, room)) return refuse(where, err);
        b->tet = tet;
        b->tet_room = room;
    }
    tl_tet_entry *e = &b->tet[b->tets++];
    memcpy(e->tag, tag, sizeof e->tag);
    e->region = region;
    e->where = where.line > 0 ? where.line : where.byte;
    b->binary = where.line == 0;
    return TALUS_OK;
}

/* ---- checking ---- */

static tl_place place_of(const tl_tet_builder *b, int64_t tet)
{
    int64_t where = b->tet[tet].where;
    return (tl_place){b->name, b->binary ? 0 : where, where};
}

/* Tags in ascending order, each with its vertex. */
typedef struct tag_table {
    int64_t count;
    uint64_t *tag, *spare_tag;
    int32_t *vertex, *spare_vertex;
} tag_table;

static void free_tags(tag_table *t)
{
    tl_free(t->tag);
    tl_free(t->spare_tag);
    tl_free(t->vertex);
    tl_free(t->spare_vertex);
}

static talus_status sort_tags(const tl_tet_builder *b, tag_table *t, talus_error *err)
{
    int64_t n = t->count = b->vertices;
    *t = (tag_table){n, TL_NEW(uint64_t, n), TL_NEW(uint64_t, n), TL_NEW(int32_t, n), TL_NEW(int32_t, n)};
    if (!t->tag || !t->spare_tag || !t->vertex || !t->spare_vertex)
        return TL_FAIL(err, TALUS_NO_MEMORY, "%s: no memory to number %lld vertices", b->name, (long long)n);
    for (int64_t i = 0; i < n; i++) {
        t->tag[i] = (uint64_t)b->tag[i];
        t->vertex[i] = (int32_t)i;
    }
    tl_radix_sort(n, t->tag, t->vertex, t->spare_tag, t->spare_vertex);
    for (int64_t i = 0; i + 1 < n; i++)
        if (t->tag[i] == t->tag[i + 1])
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: two vertices have the number %lld", b->name,
                           (long long)(int64_t)t->tag[i]);
    return TALUS_OK;
}

static int32_t find_tag(const tag_table *t, int64_t tag)
{
    int64_t lo = 0, hi = t->count;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        if (t->tag[middle] < (uint64_t)tag)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < t->count && t->tag[lo] == (uint64_t)tag ? t->vertex[lo] : -1;
}

/* Vertex numbers of the file become ours; unused vertices are left out, the others keep their order. */
static talus_status connect(const tl_tet_builder *b, const tag_table *tags, tl_tetmesh *m, tl_tet_read_report *report,
                            talus_error *err)
{
    int32_t *number = TL_NEW_ZERO(int32_t, b->vertices), kept = 0;
    if (!number)
        return TL_FAIL(err, TALUS_NO_MEMORY, "%s: no memory to number %lld vertices", b->name, (long long)b->vertices);
    talus_status status = TALUS_OK;
    for (int64_t t = 0; t < b->tets && status == TALUS_OK; t++)
        for (int i = 0; i < 4 && status == TALUS_OK; i++) {
            int64_t tag = b->tet[t].tag[i];
            int32_t v = find_tag(tags, tag);
            if (v < 0)
                status = TL_FAIL(err, TALUS_BAD_INPUT, "%s: a tetrahedron names vertex %lld, which is not in the file",
                                 TL_AT(place_of(b, t)), (long long)tag);
            for (int k = 0; k < i && status == TALUS_OK; k++)
                if (m->tet[t][k] == v)
                    status = TL_FAIL(err, TALUS_BAD_INPUT, "%s: a tetrahedron names vertex %lld twice",
                                     TL_AT(place_of(b, t)), (long long)tag);
            if (status == TALUS_OK) number[m->tet[t][i] = v] = 1;
        }
    for (int32_t v = 0; v < b->vertices && status == TALUS_OK; v++)
        if (number[v]) {
            m->vertex[kept] = b->vertex[v];
            number[v] = kept++;
        }
    for (int64_t t = 0; t < b->tets && status == TALUS_OK; t++)
        for (int i = 0; i < 4; i++) m->tet[t][i] = number[m->tet[t][i]];
    report->unused_vertices = m->vertices - kept;
    m->vertices = kept;
    tl_free(number);
    return status;
}

/* Volumes below this share of the longest edge's cube are rounding, not shape. */
#define VOLUME_LEAST 1e-14

static talus_status orient(const tl_tet_builder *b, tl_tetmesh *m, tl_tet_read_report *report, talus_error *err)
{
    for (int32_t t = 0; t < m->tets; t++) {
        tl_vec3 p[4];
        double longest = 0;
        for (int i = 0; i < 4; i++) {
            p[i] = m->vertex[m->tet[t][i]];
            for (int k = 0; k < i; k++) longest = fmax(longest, tl_vec3_norm(tl_vec3_sub(p[i], p[k])));
        }
        double volume = tl_tet_volume(p);
        if (!(fabs(volume) > VOLUME_LEAST * longest * longest * longest))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a tetrahedron has no volume (%g m^3 with edges up to %g m)",
                           TL_AT(place_of(b, t)), volume, longest);
        if (volume < 0) {
            int32_t swap = m->tet[t][2];
            m->tet[t][2] = m->tet[t][3], m->tet[t][3] = swap;
            report->turned++;
        }
    }
    return TALUS_OK;
}

static talus_status check_faces(const tl_tet_builder *b, const tl_tetmesh *m, talus_error *err)
{
    talus_error why = {0};
    int32_t(*neighbour)[4] = tl_alloc(sizeof *neighbour * (size_t)m->tets);
    if (!neighbour) return TL_FAIL(err, TALUS_NO_MEMORY, "%s: no memory to check %d tetrahedra", b->name, m->tets);
    talus_status status = tl_tetmesh_neighbours(m, neighbour, &why);
    if (status != TALUS_OK) status = TL_FAIL(err, status, "%s: %s", b->name, why.message);
    for (int32_t t = 0; t < m->tets && status == TALUS_OK; t++) /* two tets with two faces in common are one */
        if (neighbour[t][0] >= 0 && neighbour[t][0] == neighbour[t][1])
            status = TL_FAIL(err, TALUS_BAD_INPUT, "%s: a tetrahedron has the same vertices as an earlier one",
                             TL_AT(place_of(b, t > neighbour[t][0] ? t : neighbour[t][0])));
    tl_free(neighbour);
    return status;
}

static talus_status keep_regions(const tl_tet_builder *b, tl_tetmesh *m, talus_error *err)
{
    m->region = TL_NEW(int32_t, m->tets);
    if (!m->region) return TL_FAIL(err, TALUS_NO_MEMORY, "%s: no memory for %d tetrahedra", b->name, m->tets);
    for (int32_t t = 0; t < m->tets; t++) {
        int64_t region = b->tet[t].region;
        if (region < INT32_MIN || region > INT32_MAX)
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a tetrahedron's region must be from %d to %d, got %lld",
                           TL_AT(place_of(b, t)), INT32_MIN, INT32_MAX, (long long)region);
        m->region[t] = (int32_t)region;
    }
    return TALUS_OK;
}

static talus_status finish(tl_tet_builder *b, tl_tetmesh *out, tl_tet_read_report *report, talus_error *err)
{
    if (b->tets == 0) {
        if (b->other_elements == 0)
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: no tetrahedra in it, nor any other element", b->name);
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "%s: no tetrahedra in it, only %lld elements of other kinds (is it a surface mesh?)", b->name,
                       (long long)b->other_elements);
    }
    report->other_elements = (int32_t)(b->other_elements < INT32_MAX ? b->other_elements : INT32_MAX);
    TL_TRY(tl_tetmesh_create(out, (int32_t)b->vertices, (int32_t)b->tets, err));
    tag_table tags = {0};
    talus_status status = sort_tags(b, &tags, err);
    if (status == TALUS_OK) status = connect(b, &tags, out, report, err);
    free_tags(&tags);
    TL_TRY(status);
    TL_TRY(orient(b, out, report, err));
    TL_TRY(check_faces(b, out, err));
    return keep_regions(b, out, err);
}

talus_status tl_tet_finish(tl_tet_builder *b, talus_status status, tl_tetmesh *out, tl_tet_read_report *report,
                           talus_error *err)
{
    tl_tet_read_report unread;
    if (!report) report = &unread;
    *report = (tl_tet_read_report){0};
    *out = (tl_tetmesh){0};
    if (status == TALUS_OK) status = finish(b, out, report, err);
    if (status != TALUS_OK) tl_tetmesh_free(out);
    tl_free(b->vertex);
    tl_free(b->tag);
    tl_free(b->tet);
    return status;
}
