/* gmsh files: sections "$Name ... $EndName". In binary files the sections that hold numbers are bytes between the
 * two lines. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "geom/tetmesh_reader.h"

/* A volume of the geometry, of version 4.1. */
typedef struct volume {
    int64_t entity, group; /* the first physical one it is in */
} volume;

typedef struct reading {
    tl_source in;
    tl_tet_builder mesh;
    volume *volume; /* [volumes] with a physical group, rising entity */
    int64_t volumes;
    bool version4, binary, big_endian, entities_seen, nodes_seen, elements_seen;
} reading;

/* Nodes of an element type; 0 for types not known here. */
static int64_t nodes_of(int64_t type)
{
    static const uint8_t nodes[] = {0, 2,  3,  4,  4, 8,  6,  5,  3,  6,  9, 10, 27, 18, 14, 1,
                                    8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,  6,  20, 35, 56};
    return type > 0 && type < (int64_t)sizeof nodes ? nodes[type] : type == 92 ? 64 : type == 93 ? 125 : 0;
}

enum { TYPE_TET = 4 };

static talus_status check_type(const reading *r, int64_t type, talus_error *err)
{
    if (type == 11 || type == 29 || type == 30 || type == 31)
        return TL_FAIL(
            err, TALUS_UNSUPPORTED,
            "%s: tetrahedra of higher order (element type %lld); save the mesh with straight ones (gmsh -order 1)",
            TL_AT(tl_source_place(&r->in)), (long long)type);
    if (!nodes_of(type))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: element type %lld is not known", TL_AT(tl_source_place(&r->in)),
                       (long long)type);
    return TALUS_OK;
}

/* ---- sections ---- */

/* Into the numbers of a section: bytes start behind the line's end. */
static talus_status open_section(reading *r, talus_error *err)
{
    bool more = tl_scan_line(&r->in.scan);
    if (!more)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the file ends inside a section", TL_AT(tl_source_place(&r->in)));
    r->in.binary = r->binary;
    r->in.big_endian = r->big_endian;
    return TALUS_OK;
}

static talus_status close_section(reading *r, const char *end, talus_error *err)
{
    tl_word w;
    char shown[TL_WORD_SHOWN];
    tl_place where = tl_source_place(&r->in);
    r->in.binary = false;
    if (!tl_scan_any(&r->in.scan, &w))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the file ends before %s", TL_AT(where), end);
    if (!tl_word_is(w, end))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: %s should be here, got '%s'", TL_AT(where), end,
                       tl_word_show(w, shown));
    return TALUS_OK;
}

/* Past the end of a section whose content does not matter. */
static talus_status skip_section(reading *r, tl_word section, talus_error *err)
{
    char shown[TL_WORD_SHOWN];
    tl_scan *s = &r->in.scan;
    for (const char *p = s->at; s->end - p >= section.length + 3; p++) {
        p = memchr(p, '$', (size_t)(s->end - p));
        if (!p || s->end - p < section.length + 3) break;
        if (memcmp(p, "$End", 4) || memcmp(p + 4, section.at + 1, (size_t)section.length - 1)) continue;
        while (s->at < p) /* counts the lines */
            if (!tl_scan_line(s) || s->at > p) break;
        s->at = p + section.length + 3;
        return TALUS_OK;
    }
    return TL_FAIL(err, TALUS_BAD_INPUT, "%s: section %s has no end", TL_AT(tl_source_place(&r->in)),
                   tl_word_show(section, shown));
}

static talus_status read_format(reading *r, talus_error *err)
{
    double version;
    int64_t binary, size, one;
    tl_place where = tl_source_place(&r->in);
    TL_TRY(tl_source_real(&r->in, TL_FLOAT64, "the format's version", &version, err));
    TL_TRY(tl_source_integer(&r->in, TL_INT32, "the file type (0 text, 1 binary)", &binary, err));
    TL_TRY(tl_source_integer(&r->in, TL_INT32, "the size of numbers", &size, err));
    if (version != 2.2 && version != 4.1)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "%s: gmsh format %g; save it as 4.1 or 2.2 (gmsh -format msh41)",
                       TL_AT(where), version);
    if (binary != 0 && binary != 1)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the file type must be 0 (text) or 1 (binary), got %lld", TL_AT(where),
                       (long long)binary);
    if (size != 8)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "%s: numbers must have 8 bytes, got %lld", TL_AT(where),
                       (long long)size);
    r->version4 = version == 4.1;
    if (binary) {
        r->binary = true;
        TL_TRY(open_section(r, err));
        TL_TRY(tl_source_integer(&r->in, TL_INT32, "the number 1 that shows the byte order", &one, err));
        r->big_endian = one == 0x01000000;
        if (one != 1 && !r->big_endian)
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the number that shows the byte order must be 1, got %lld",
                           TL_AT(tl_source_place(&r->in)), (long long)one);
    }
    return close_section(r, "$EndMeshFormat", err);
}

static talus_status read_point(reading *r, tl_vec3 *x, talus_error *err)
{
    TL_TRY(tl_source_real(&r->in, TL_FLOAT64, "a coordinate", &x->x, err));
    TL_TRY(tl_source_real(&r->in, TL_FLOAT64, "a coordinate", &x->y, err));
    return tl_source_real(&r->in, TL_FLOAT64, "a coordinate", &x->z, err);
}

/* One element's node numbers; only tets are kept. */
static talus_status read_element(reading *r, int64_t type, tl_number number, int64_t region, talus_error *err)
{
    tl_place where = tl_source_place(&r->in);
    int64_t tag[4];
    if (type != TYPE_TET) {
        r->mesh.other_elements++;
        return tl_source_skip(&r->in, number, nodes_of(type), "an element's nodes", err);
    }
    for (int i = 0; i < 4; i++) TL_TRY(tl_source_integer(&r->in, number, "a tetrahedron's node", &tag[i], err));
    return tl_tet_add(&r->mesh, tag, region, where, err);
}

/* ---- version 2.2 ---- */

/* A count on a line of its own, text in binary files too. */
static talus_status read_count2(reading *r, int64_t bytes, const char *what, int64_t *count, talus_error *err)
{
    TL_TRY(tl_source_integer(&r->in, TL_INT32, what, count, err));
    if (r->binary) TL_TRY(open_section(r, err));
    return tl_source_fits(&r->in, *count, bytes, what, err);
}

static talus_status read_nodes2(reading *r, talus_error *err)
{
    int64_t count, tag;
    TL_TRY(read_count2(r, 28, "nodes", &count, err));
    for (int64_t i = 0; i < count; i++) {
        tl_vec3 x;
        tl_place where = tl_source_place(&r->in);
        TL_TRY(tl_source_integer(&r->in, TL_INT32, "a node's number", &tag, err));
        TL_TRY(read_point(r, &x, err));
        TL_TRY(tl_tet_add_vertex(&r->mesh, tag, x, where, err));
    }
    return close_section(r, "$EndNodes", err);
}

/* Tags of an element: physical group, entity, and what else there may be. */
static talus_status read_tags2(reading *r, int64_t count, int64_t *region, talus_error *err)
{
    int64_t read = 0;
    for (*region = 0; read < count && read < 2 && *region == 0; read++)
        TL_TRY(tl_source_integer(&r->in, TL_INT32, "an element's tag", region, err));
    return tl_source_skip(&r->in, TL_INT32, count - read, "element tags", err);
}

static talus_status read_elements2(reading *r, talus_error *err)
{
    int64_t count;
    TL_TRY(read_count2(r, 4, "elements", &count, err));
    while (count > 0) {
        /* text: number type tags; binary: type elements-that-follow tags, then each with its number */
        int64_t head[3], many = 1;
        for (int i = 0; i < 3; i++)
            TL_TRY(tl_source_integer(&r->in, TL_INT32, "the head of an element", &head[i], err));
        int64_t type = r->binary ? head[0] : head[1];
        if (r->binary) many = head[1];
        TL_TRY(check_type(r, type, err));
        if (many < 1 || many > count)
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a group of %lld elements, where 1 to %lld can follow",
                           TL_AT(tl_source_place(&r->in)), (long long)many, (long long)count);
        for (int64_t i = 0; i < many; i++) {
            if (r->binary) TL_TRY(tl_source_skip(&r->in, TL_INT32, 1, "an element's number", err));
            int64_t region;
            TL_TRY(read_tags2(r, head[2], &region, err));
            TL_TRY(read_element(r, type, TL_INT32, region, err));
        }
        count -= many;
    }
    return close_section(r, "$EndElements", err);
}

/* ---- version 4.1 ---- */

static talus_status read_heads(reading *r, tl_number type, int count, int64_t *head, const char *what, talus_error *err)
{
    for (int i = 0; i < count; i++) TL_TRY(tl_source_integer(&r->in, type, what, &head[i], err));
    return TALUS_OK;
}

/* tag, box (a point: place), physical groups, and what bounds it (not of a point). *group: its first; 0: none. */
static talus_status read_entity(reading *r, bool is_point, int64_t *tag, int64_t *group, talus_error *err)
{
    int64_t count, read = 0;
    TL_TRY(tl_source_integer(&r->in, TL_INT32, "an entity's number", tag, err));
    TL_TRY(tl_source_skip(&r->in, TL_FLOAT64, is_point ? 3 : 6, "an entity's box", err));
    TL_TRY(tl_source_count(&r->in, TL_UINT64, 4, "physical groups", &count, err));
    for (*group = 0; read < count && read < 1; read++)
        TL_TRY(tl_source_integer(&r->in, TL_INT32, "a physical group", group, err));
    TL_TRY(tl_source_skip(&r->in, TL_INT32, count - read, "physical groups", err));
    if (is_point) return TALUS_OK;
    TL_TRY(tl_source_count(&r->in, TL_UINT64, 4, "entities around an entity", &count, err));
    return tl_source_skip(&r->in, TL_INT32, count, "entities around an entity", err);
}

static int by_entity(const void *a, const void *b)
{
    const volume *p = a, *q = b;
    return (p->entity > q->entity) - (p->entity < q->entity);
}

/* Keeps which physical groups volumes are in. */
static talus_status read_entities(reading *r, talus_error *err)
{
    int64_t counts[4], tag, group;
    if (r->binary) TL_TRY(open_section(r, err));
    TL_TRY(read_heads(r, TL_UINT64, 4, counts, "the head of entities", err));
    for (int k = 0; k < 4; k++) TL_TRY(tl_source_fits(&r->in, counts[k], k ? 68 : 36, "entities", err));
    r->volume = TL_NEW(volume, counts[3] + 1);
    if (!r->volume) return TL_FAIL(err, TALUS_NO_MEMORY, "%s: no memory for its entities", r->mesh.name);
    for (int k = 0; k < 4; k++)
        for (int64_t i = 0; i < counts[k]; i++) {
            TL_TRY(read_entity(r, k == 0, &tag, &group, err));
            if (k == 3 && group) r->volume[r->volumes++] = (volume){tag, group};
        }
    qsort(r->volume, (size_t)r->volumes, sizeof *r->volume, by_entity);
    return close_section(r, "$EndEntities", err);
}

static int64_t region_of(const reading *r, int64_t entity)
{
    const volume want = {entity, 0}, *found = NULL;
    if (r->volumes) found = bsearch(&want, r->volume, (size_t)r->volumes, sizeof want, by_entity);
    return found ? found->group : entity;
}

/* All tags of a block come before its coordinates: read them side by side. */
static talus_status read_node_block(reading *r, int64_t *left, talus_error *err)
{
    int64_t head[3], count, tag;
    TL_TRY(read_heads(r, TL_INT32, 3, head, "the head of a block of nodes", err));
    TL_TRY(tl_source_count(&r->in, TL_UINT64, 32, "nodes in a block", &count, err));
    if (head[0] < 0 || head[0] > 3)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: an entity's dimension must be 0 to 3, got %lld",
                       TL_AT(tl_source_place(&r->in)), (long long)head[0]);
    if (count > *left)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a block of %lld nodes, but only %lld are left of those announced",
                       TL_AT(tl_source_place(&r->in)), (long long)count, (long long)*left);
    *left -= count;
    tl_source tags = r->in;
    TL_TRY(tl_source_skip(&r->in, TL_UINT64, count, "node numbers", err));
    for (int64_t i = 0; i < count; i++) {
        tl_vec3 x;
        tl_place where = tl_source_place(&r->in);
        TL_TRY(tl_source_integer(&tags, TL_UINT64, "a node's number", &tag, err));
        TL_TRY(read_point(r, &x, err));
        if (head[2]) TL_TRY(tl_source_skip(&r->in, TL_FLOAT64, head[0], "a node's parameters", err));
        TL_TRY(tl_tet_add_vertex(&r->mesh, tag, x, where, err));
    }
    return TALUS_OK;
}

static talus_status read_element_block(reading *r, int64_t *left, talus_error *err)
{
    int64_t head[3], count;
    TL_TRY(read_heads(r, TL_INT32, 3, head, "the head of a block of elements", err));
    TL_TRY(check_type(r, head[2], err));
    TL_TRY(tl_source_count(&r->in, TL_UINT64, 8 * (1 + nodes_of(head[2])), "elements in a block", &count, err));
    if (count > *left)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a block of %lld elements, but only %lld are left of those announced",
                       TL_AT(tl_source_place(&r->in)), (long long)count, (long long)*left);
    *left -= count;
    int64_t region = region_of(r, head[1]);
    for (int64_t i = 0; i < count; i++) {
        TL_TRY(tl_source_skip(&r->in, TL_UINT64, 1, "an element's number", err));
        TL_TRY(read_element(r, head[2], TL_UINT64, region, err));
    }
    return TALUS_OK;
}

static talus_status read_blocks(reading *r, const char *what,
                                talus_status (*block)(reading *, int64_t *, talus_error *), const char *end,
                                talus_error *err)
{
    int64_t head[4];
    if (r->binary) TL_TRY(open_section(r, err));
    TL_TRY(read_heads(r, TL_UINT64, 4, head, what, err));
    TL_TRY(tl_source_fits(&r->in, head[0], 20, "blocks", err));
    TL_TRY(tl_source_fits(&r->in, head[1], 16, what, err));
    for (int64_t i = 0; i < head[0]; i++) TL_TRY(block(r, &head[1], err));
    if (head[1] != 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: %lld %s fewer than announced", TL_AT(tl_source_place(&r->in)),
                       (long long)head[1], what);
    return close_section(r, end, err);
}

/* ---- the whole ---- */

static talus_status once(const reading *r, bool *seen, const char *section, talus_error *err)
{
    if (*seen) return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a second section %s", TL_AT(tl_source_place(&r->in)), section);
    *seen = true;
    return TALUS_OK;
}

static talus_status read_sections(reading *r, talus_error *err)
{
    tl_word w;
    char shown[TL_WORD_SHOWN];
    if (!tl_scan_any(&r->in.scan, &w) || !tl_word_is(w, "$MeshFormat"))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a gmsh file starts with $MeshFormat", TL_AT(tl_source_place(&r->in)));
    TL_TRY(read_format(r, err));
    while (tl_scan_any(&r->in.scan, &w)) {
        if (w.length < 2 || *w.at != '$' || (w.length > 4 && !memcmp(w.at, "$End", 4)))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a section should start here, got '%s'",
                           TL_AT(tl_source_place(&r->in)), tl_word_show(w, shown));
        if (tl_word_is(w, "$Entities") && r->version4) {
            TL_TRY(once(r, &r->entities_seen, "$Entities", err));
            TL_TRY(read_entities(r, err));
        } else if (tl_word_is(w, "$Nodes")) {
            TL_TRY(once(r, &r->nodes_seen, "$Nodes", err));
            TL_TRY(r->version4 ? read_blocks(r, "nodes", read_node_block, "$EndNodes", err) : read_nodes2(r, err));
        } else if (tl_word_is(w, "$Elements")) {
            TL_TRY(once(r, &r->elements_seen, "$Elements", err));
            TL_TRY(r->version4 ? read_blocks(r, "elements", read_element_block, "$EndElements", err)
                               : read_elements2(r, err));
        } else {
            TL_TRY(skip_section(r, w, err));
        }
    }
    return TALUS_OK;
}

talus_status tl_tetmesh_read_msh(tl_tetmesh *m, const char *name, const char *data, size_t bytes,
                                 tl_tet_read_report *report, talus_error *err)
{
    reading r = {.in = {.scan = {name, data, data + bytes, 1}, .begin = data}, .mesh = {.name = name}};
    tl_c_numbers numbers = tl_c_numbers_begin();
    talus_status status = read_sections(&r, err);
    tl_c_numbers_end(numbers);
    tl_free(r.volume);
    return tl_tet_finish(&r.mesh, status, m, report, err);
}
