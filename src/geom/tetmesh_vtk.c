/* Legacy VTK files: a header of four lines, then keywords with counts, each followed by its numbers. Versions up to
 * 4 write CELLS as (count, vertices...) per cell, version 5 as two arrays, OFFSETS and CONNECTIVITY. Bytes are big
 * endian. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "geom/tetmesh_reader.h"

enum { CELL_TET = 10, CELL_TET_QUADRATIC = 24 };

typedef struct reading {
    tl_source in;
    tl_tet_builder mesh;
    bool binary, points_seen, cells_seen, arrays; /* arrays: OFFSETS and CONNECTIVITY */
    int64_t cells, entries;
    tl_source cell, offset, connectivity; /* where each one's numbers start */
    tl_number offset_type, connectivity_type;
    bool types_seen, regions; /* regions: their numbers were found */
} reading;

static talus_status wrong(const reading *r, const char *what, tl_word got, talus_error *err)
{
    char shown[TL_WORD_SHOWN];
    return TL_FAIL(err, TALUS_BAD_INPUT, "%s: %s should be here, got '%s'", TL_AT(tl_source_place(&r->in)), what,
                   tl_word_show(got, shown));
}

static talus_status next_word(reading *r, const char *what, tl_word *w, talus_error *err)
{
    if (tl_scan_any(&r->in.scan, w)) return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the file ends where %s should be", TL_AT(tl_source_place(&r->in)), what);
}

static talus_status expect(reading *r, const char *word, talus_error *err)
{
    tl_word w;
    TL_TRY(next_word(r, word, &w, err));
    return tl_word_is_like(w, word) ? TALUS_OK : wrong(r, word, w, err);
}

static talus_status read_type(reading *r, tl_number *type, talus_error *err)
{
    static const struct {
        const char *name;
        tl_number type;
    } types[] = {{"float", TL_FLOAT32},
                 {"double", TL_FLOAT64},
                 {"int", TL_INT32},
                 {"unsigned_int", TL_UINT32},
                 {"long", TL_INT64},
                 {"unsigned_long", TL_UINT64},
                 {"vtktypeint64", TL_INT64},
                 {"vtktypeint32", TL_INT32},
                 {"vtkIdType", TL_INT32},
                 {"short", TL_INT16},
                 {"unsigned_short", TL_UINT16},
                 {"char", TL_INT8},
                 {"unsigned_char", TL_UINT8},
                 {"vtktypeuint64", TL_UINT64}};
    tl_word w;
    TL_TRY(next_word(r, "a type of numbers", &w, err));
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (tl_word_is_like(w, types[i].name)) {
            *type = types[i].type;
            return TALUS_OK;
        }
    return wrong(r, "a type of numbers (float, double, int, ...)", w, err);
}

/* From keywords to numbers and back. */
static void begin_numbers(reading *r)
{
    tl_scan_line(&r->in.scan);
    r->in.binary = r->binary;
}
static void end_numbers(reading *r) { r->in.binary = false; }

static talus_status skip_numbers(reading *r, tl_number type, int64_t count, const char *what, talus_error *err)
{
    begin_numbers(r);
    talus_status status = tl_source_skip(&r->in, type, count, what, err);
    end_numbers(r);
    return status;
}

static talus_status read_count(reading *r, const char *what, int64_t *count, talus_error *err)
{
    TL_TRY(tl_source_integer(&r->in, TL_INT64, what, count, err));
    if (*count < 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the number of %s must be >= 0, got %lld",
                       TL_AT(tl_source_place(&r->in)), what, (long long)*count);
    return TALUS_OK;
}

/* ---- keywords ---- */

static talus_status read_points(reading *r, talus_error *err)
{
    int64_t count;
    tl_number type = TL_FLOAT64;
    if (r->points_seen) return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a second POINTS", TL_AT(tl_source_place(&r->in)));
    r->points_seen = true;
    TL_TRY(read_count(r, "points", &count, err));
    TL_TRY(read_type(r, &type, err));
    begin_numbers(r);
    TL_TRY(tl_source_fits(&r->in, count, 3 * tl_number_bytes(type), "points", err));
    for (int64_t i = 0; i < count; i++) {
        double x[3];
        tl_place where = tl_source_place(&r->in);
        for (int k = 0; k < 3; k++) TL_TRY(tl_source_real(&r->in, type, "a coordinate", &x[k], err));
        TL_TRY(tl_tet_add_vertex(&r->mesh, i, tl_vec3_load(x), where, err));
    }
    end_numbers(r);
    return TALUS_OK;
}

/* Remembers where the cells are; what they are comes with CELL_TYPES. */
static talus_status read_cells(reading *r, talus_error *err)
{
    if (r->cells_seen) return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a second CELLS", TL_AT(tl_source_place(&r->in)));
    r->cells_seen = true;
    TL_TRY(read_count(r, "cells", &r->cells, err));
    TL_TRY(read_count(r, "entries of cells", &r->entries, err));
    tl_scan before = r->in.scan;
    tl_word w;
    if (tl_scan_any(&r->in.scan, &w) && tl_word_is_like(w, "OFFSETS")) {
        r->arrays = true;
        TL_TRY(read_type(r, &r->offset_type, err));
        r->offset = r->in;
        TL_TRY(skip_numbers(r, r->offset_type, r->cells, "offsets of cells", err));
        if (r->cells > 0) r->cells--; /* one offset more than cells */
        TL_TRY(expect(r, "CONNECTIVITY", err));
        TL_TRY(read_type(r, &r->connectivity_type, err));
        r->connectivity = r->in;
        return skip_numbers(r, r->connectivity_type, r->entries, "vertices of cells", err);
    }
    r->in.scan = before;
    r->cell = r->in;
    return skip_numbers(r, TL_INT32, r->entries, "entries of cells", err);
}

/* The next cell's vertex count, from whichever layout; the source that its vertices follow in. */
static talus_status open_cell(reading *r, tl_source *cell, tl_source *offset, int64_t *from, int64_t *entries,
                              int64_t *vertices, talus_error *err)
{
    if (r->arrays) {
        int64_t to;
        TL_TRY(tl_source_integer(offset, r->offset_type, "a cell's offset", &to, err));
        *vertices = to - *from;
        *from = to;
    } else {
        TL_TRY(tl_source_integer(cell, TL_INT32, "a cell's number of vertices", vertices, err));
        --*entries;
    }
    if (*vertices < 0 || *vertices > *entries)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a cell of %lld vertices, where %lld are left",
                       TL_AT(tl_source_place(r->arrays ? offset : cell)), (long long)*vertices, (long long)*entries);
    *entries -= *vertices;
    return TALUS_OK;
}

/* Walks through types and cells side by side. */
static talus_status read_cell_types(reading *r, talus_error *err)
{
    int64_t count, from = 0, entries = r->entries;
    if (!r->cells_seen)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: CELL_TYPES before CELLS", TL_AT(tl_source_place(&r->in)));
    TL_TRY(read_count(r, "cell types", &count, err));
    if (count != r->cells)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: %lld cell types for %lld cells", TL_AT(tl_source_place(&r->in)),
                       (long long)count, (long long)r->cells);
    reading at = *r; /* cells start behind their keyword's line */
    at.in = r->arrays ? r->connectivity : r->cell;
    begin_numbers(&at);
    tl_source cell = at.in, offset = {0};
    tl_number number = r->arrays ? r->connectivity_type : TL_INT32;
    if (r->arrays) {
        at.in = r->offset;
        begin_numbers(&at);
        offset = at.in;
        if (count > 0) TL_TRY(tl_source_integer(&offset, r->offset_type, "a cell's offset", &from, err));
        if (from != 0)
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the first offset must be 0, got %lld",
                           TL_AT(tl_source_place(&offset)), (long long)from);
    }
    begin_numbers(r);
    TL_TRY(tl_source_fits(&r->in, count, 4, "cell types", err));
    for (int64_t i = 0; i < count; i++) {
        int64_t type, vertices, tag[4];
        TL_TRY(tl_source_integer(&r->in, TL_INT32, "a cell type", &type, err));
        tl_place where = tl_source_place(&cell);
        TL_TRY(open_cell(r, &cell, &offset, &from, &entries, &vertices, err));
        if (type == CELL_TET_QUADRATIC)
            return TL_FAIL(err, TALUS_UNSUPPORTED,
                           "%s: tetrahedra of higher order (cell type 24); save the mesh with straight ones",
                           TL_AT(where));
        if (type != CELL_TET) {
            r->mesh.other_elements++;
            TL_TRY(tl_source_skip(&cell, number, vertices, "a cell's vertices", err));
            continue;
        }
        if (vertices != 4)
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a tetrahedron has 4 vertices, got %lld", TL_AT(where),
                           (long long)vertices);
        for (int k = 0; k < 4; k++) TL_TRY(tl_source_integer(&cell, number, "a tetrahedron's vertex", &tag[k], err));
        TL_TRY(
            tl_tet_add(&r->mesh, tag, i, where,
                       err)); /* in place of its region the cell's number, by which read_cell_data finds the region */
    }
    end_numbers(r);
    return TALUS_OK;
}

/* Up to the next empty line. */
static void skip_metadata(reading *r)
{
    tl_word w;
    while (tl_scan_line(&r->in.scan) && tl_scan_word(&r->in.scan, &w)) continue;
}

/* ---- regions ---- */

static bool names_regions(tl_word w)
{
    static const char *const names[] = {"region", "material", "CellEntityIds", "gmsh:physical"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (tl_word_is_like(w, names[i])) return true;
    return false;
}

/* One number per cell; tetrahedra, which are in the order of their cells, take theirs. */
static talus_status take_regions(reading *r, tl_number type, talus_error *err)
{
    int64_t next = 0;
    r->regions = true;
    begin_numbers(r);
    TL_TRY(tl_source_fits(&r->in, r->cells, tl_number_bytes(type), "regions", err));
    for (int64_t i = 0; i < r->cells; i++) {
        int64_t region;
        double real;
        if (type == TL_FLOAT32 || type == TL_FLOAT64) {
            TL_TRY(tl_source_real(&r->in, type, "a region", &real, err));
            if (!(fabs(real) <= INT32_MAX))
                return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a region must be a number up to %d, got %g",
                               TL_AT(tl_source_place(&r->in)), INT32_MAX, real);
            region = (int64_t)real;
        } else
            TL_TRY(tl_source_integer(&r->in, type, "a region", &region, err));
        if (next < r->mesh.tets && r->mesh.tet[next].region == i) r->mesh.tet[next++].region = region;
    }
    end_numbers(r);
    return TALUS_OK;
}

/* FIELD name arrays, then for each: name components tuples type, numbers. */
static talus_status read_field(reading *r, talus_error *err)
{
    int64_t arrays, components, tuples;
    tl_number type = TL_FLOAT64;
    tl_word w;
    TL_TRY(next_word(r, "a field's name", &w, err));
    TL_TRY(read_count(r, "arrays of a field", &arrays, err));
    for (int64_t i = 0; i < arrays; i++) {
        TL_TRY(next_word(r, "an array's name", &w, err));
        TL_TRY(read_count(r, "components", &components, err));
        TL_TRY(read_count(r, "tuples", &tuples, err));
        TL_TRY(read_type(r, &type, err));
        if (components > 0 && tuples > tl_source_left(&r->in) / components)
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a field of %lld x %lld numbers cannot be in the rest of the file",
                           TL_AT(tl_source_place(&r->in)), (long long)components, (long long)tuples);
        bool tells = !r->regions && names_regions(w) && components == 1 && tuples == r->cells && r->types_seen;
        TL_TRY(tells ? take_regions(r, type, err)
                     : skip_numbers(r, type, components * tuples, "numbers of a field", err));
    }
    return TALUS_OK;
}

/* SCALARS name type [components], LOOKUP_TABLE name, numbers. */
static talus_status read_scalars(reading *r, talus_error *err)
{
    tl_word name, w;
    tl_number type = TL_FLOAT64;
    TL_TRY(next_word(r, "the name of cell data", &name, err));
    TL_TRY(read_type(r, &type, err));
    bool one = !tl_scan_word(&r->in.scan, &w) || tl_word_is(w, "1"); /* what is on the same line */
    if (!one) return wrong(r, "one component of cell data", w, err);
    TL_TRY(expect(r, "LOOKUP_TABLE", err));
    TL_TRY(next_word(r, "the name of a table of colours", &w, err));
    if (names_regions(name)) return take_regions(r, type, err);
    return skip_numbers(r, type, r->cells, "cell data", err);
}

/* One array of cell data, or the heading of all of it; false: what follows tells nothing. */
static talus_status read_cell_array(reading *r, bool *of_cells, bool *more, talus_error *err)
{
    tl_word w;
    int64_t count = 0;
    *more = tl_scan_any(&r->in.scan, &w);
    if (!*more) return TALUS_OK;
    if (tl_word_is_like(w, "CELL_DATA")) {
        TL_TRY(read_count(r, "data of cells", &count, err));
        *of_cells = *more = count == r->cells;
    } else if (*of_cells && tl_word_is_like(w, "SCALARS"))
        return read_scalars(r, err);
    else if (*of_cells && tl_word_is_like(w, "FIELD"))
        return read_field(r, err);
    else if (tl_word_is_like(w, "METADATA"))
        skip_metadata(r);
    else
        *more = false;
    return TALUS_OK;
}

/* The cell data that tells regions, when it comes before anything that is not understood here: a mesh without is a
 * mesh. */
static talus_status read_cell_data(reading *r, talus_error *err)
{
    bool of_cells = false, more = true;
    talus_error why = {0};
    talus_status status = TALUS_OK;
    while (more && !r->regions && status == TALUS_OK) status = read_cell_array(r, &of_cells, &more, &why);
    if (status != TALUS_OK && r->regions) return TL_FAIL(err, status, "%s", why.message);
    for (int64_t t = 0; t < r->mesh.tets && !r->regions; t++) r->mesh.tet[t].region = 0;
    return TALUS_OK;
}

/* ---- the whole ---- */

static talus_status read_header(reading *r, talus_error *err)
{
    static const char magic[] = "# vtk DataFile Version";
    tl_word w;
    if (tl_source_left(&r->in) < (int64_t)strlen(magic) || memcmp(r->in.scan.at, magic, strlen(magic)))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a legacy VTK file starts with '%s'", TL_AT(tl_source_place(&r->in)),
                       magic);
    if (!tl_scan_line(&r->in.scan) || !tl_scan_line(&r->in.scan))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the file ends inside its header", TL_AT(tl_source_place(&r->in)));
    TL_TRY(next_word(r, "ASCII or BINARY", &w, err));
    r->binary = tl_word_is_like(w, "BINARY");
    r->in.big_endian = true;
    if (!r->binary && !tl_word_is_like(w, "ASCII")) return wrong(r, "ASCII or BINARY", w, err);
    TL_TRY(expect(r, "DATASET", err));
    TL_TRY(next_word(r, "UNSTRUCTURED_GRID", &w, err));
    if (tl_word_is_like(w, "UNSTRUCTURED_GRID")) return TALUS_OK;
    char shown[TL_WORD_SHOWN];
    return TL_FAIL(err, TALUS_BAD_INPUT, "%s: tetrahedra come in an UNSTRUCTURED_GRID, this is '%s'",
                   TL_AT(tl_source_place(&r->in)), tl_word_show(w, shown));
}

static talus_status read_keywords(reading *r, talus_error *err)
{
    tl_word w;
    TL_TRY(read_header(r, err));
    while (tl_scan_any(&r->in.scan, &w)) {
        if (tl_word_is_like(w, "POINTS"))
            TL_TRY(read_points(r, err));
        else if (tl_word_is_like(w, "CELLS"))
            TL_TRY(read_cells(r, err));
        else if (tl_word_is_like(w, "CELL_TYPES")) {
            TL_TRY(read_cell_types(r, err));
            r->types_seen = true;
            return read_cell_data(r, err);
        } else if (tl_word_is_like(w, "FIELD"))
            TL_TRY(read_field(r, err));
        else if (tl_word_is_like(w, "METADATA"))
            skip_metadata(r);
        else
            return wrong(r, "POINTS, CELLS or CELL_TYPES", w, err);
    }
    return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the file ends before CELL_TYPES", TL_AT(tl_source_place(&r->in)));
}

talus_status tl_tetmesh_read_vtk(tl_tetmesh *m, const char *name, const char *data, size_t bytes,
                                 tl_tet_read_report *report, talus_error *err)
{
    reading r = {.in = {.scan = {name, data, data + bytes, 1}, .begin = data}, .mesh = {.name = name}};
    tl_c_numbers numbers = tl_c_numbers_begin();
    talus_status status = read_keywords(&r, err);
    tl_c_numbers_end(numbers);
    return tl_tet_finish(&r.mesh, status, m, report, err);
}
