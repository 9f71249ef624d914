#include "io/vtk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/replace.h"
#include "base/text.h"

static const char *const type_names[] = {
    [TL_NUMBER_F64] = "Float64", [TL_NUMBER_F32] = "Float32", [TL_NUMBER_I32] = "Int32", [TL_NUMBER_I64] = "Int64"};
static size_t bytes_of(tl_number n) { return n == TL_NUMBER_F64 || n == TL_NUMBER_I64 ? 8 : 4; }

/* ---- whole files of text and bytes ---- */

static talus_status write_failed(const tl_replace *r, talus_error *err)
{
    return TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", r->path, strerror(errno));
}

/* Open, let `body` write, close, rename. */
static talus_status write_file(const char *path, void (*body)(FILE *f, const void *what), const void *what,
                               talus_error *err)
{
    tl_replace r;
    TL_TRY(tl_replace_begin(&r, path, err));
    FILE *f = fopen(r.temp, "wb");
    talus_status status = f ? TALUS_OK : write_failed(&r, err);
    if (f) {
        tl_c_numbers point = tl_c_numbers_begin();
        body(f, what);
        tl_c_numbers_end(point);
        if (fflush(f) != 0 || ferror(f)) status = write_failed(&r, err);
        if (fclose(f) != 0 && status == TALUS_OK) status = write_failed(&r, err);
    }
    if (status == TALUS_OK) return tl_replace_commit(&r, err);
    tl_replace_discard(&r);
    return status;
}

/* ---- PolyData ---- */

/* The header names the place of each array in the appended bytes; both follow the same list. */
typedef enum source { SOURCE_DATA, SOURCE_COUNT_UP, SOURCE_TRIPLES, SOURCE_NAMES } source;
typedef struct block {
    const void *data;
    source from;
    int64_t items; /* SOURCE_COUNT_UP: 0 .. items-1; SOURCE_TRIPLES: 3, 6, ... */
    uint64_t bytes;
} block;
typedef struct layout {
    block block[3 * TL_VTK_ARRAYS + 8];
    int blocks;
    uint64_t offset;
} layout;

static void escape(FILE *f, const char *text)
{
    for (; *text; text++) switch (*text) {
        case '&': fputs("&amp;", f); break;
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '"': fputs("&quot;", f); break;
        default: fputc(*text, f);
        }
}

static uint64_t place(layout *l, block b)
{
    uint64_t at = l->offset;
    l->block[l->blocks++] = b;
    l->offset += sizeof(uint64_t) + b.bytes;
    return at;
}

static void put_array(FILE *f, layout *l, const char *name, tl_number type, int components, int64_t count,
                      const void *data)
{
    block b = {data, SOURCE_DATA, count, (uint64_t)count * (uint64_t)components * bytes_of(type)};
    fprintf(f, "<DataArray type=\"%s\" Name=\"", type_names[type]);
    escape(f, name);
    fprintf(f, "\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%" PRIu64 "\"/>\n", components, place(l, b));
}

static void put_made(FILE *f, layout *l, const char *name, source from, int64_t items)
{
    block b = {NULL, from, items, (uint64_t)items * 4};
    fprintf(f, "<DataArray type=\"Int32\" Name=\"%s\" format=\"appended\" offset=\"%" PRIu64 "\"/>\n", name,
            place(l, b));
}

static void put_field_data(FILE *f, layout *l, const tl_vtk_poly *p)
{
    block time = {&p->t, SOURCE_DATA, 1, 8};
    fprintf(f,
            "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"appended\" "
            "offset=\"%" PRIu64 "\"/>\n",
            place(l, time));
    if (p->name) {
        block names = {p->name, SOURCE_NAMES, p->names, 0};
        for (int64_t i = 0; i < p->names; i++) names.bytes += strlen(p->name[i]) + 1;
        fprintf(f,
                "<Array type=\"String\" Name=\"names\" NumberOfTuples=\"%" PRId64
                "\" format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
                p->names, place(l, names));
    }
    for (int i = 0; i < p->field_arrays; i++) {
        const tl_vtk_array *a = &p->field[i];
        block b = {a->data, SOURCE_DATA, p->field_count,
                   (uint64_t)p->field_count * (uint64_t)a->components * bytes_of(a->type)};
        fprintf(f,
                "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" NumberOfTuples=\"%" PRId64
                "\" format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
                type_names[a->type], a->name, a->components, p->field_count, place(l, b));
    }
    fprintf(f, "</FieldData>\n");
}

static void put_cells(FILE *f, layout *l, const tl_vtk_poly *p)
{
    if (p->triangle) {
        fprintf(f, "<Polys>\n");
        put_array(f, l, "connectivity", TL_NUMBER_I32, 1, 3 * p->triangles, p->triangle);
        put_made(f, l, "offsets", SOURCE_TRIPLES, p->triangles);
        fprintf(f, "</Polys>\n");
        return;
    }
    fprintf(f, "<Verts>\n");
    put_made(f, l, "connectivity", SOURCE_COUNT_UP, p->points);
    put_array(f, l, "offsets", TL_NUMBER_I64, 1, p->points > 0, &p->points);
    fprintf(f, "</Verts>\n");
}

static void put_block(FILE *f, const block *b)
{
    fwrite(&b->bytes, sizeof b->bytes, 1, f);
    if (b->from == SOURCE_DATA && b->bytes) fwrite(b->data, 1, (size_t)b->bytes, f);
    for (int64_t i = 0; i < b->items && (b->from == SOURCE_COUNT_UP || b->from == SOURCE_TRIPLES); i++) {
        int32_t value = (int32_t)(b->from == SOURCE_COUNT_UP ? i : 3 * (i + 1));
        fwrite(&value, sizeof value, 1, f);
    }
    for (int64_t i = 0; i < b->items && b->from == SOURCE_NAMES; i++) {
        const char *name = ((const char *const *)b->data)[i];
        fwrite(name, 1, strlen(name) + 1, f);
    }
}

static void put_poly(FILE *f, const void *what)
{
    const tl_vtk_poly *p = what;
    layout l = {.blocks = 0};
    fprintf(f, "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
               "header_type=\"UInt64\">\n<PolyData>\n");
    put_field_data(f, &l, p);
    fprintf(f, "<Piece NumberOfPoints=\"%" PRId64 "\" NumberOfVerts=\"%d\" NumberOfPolys=\"%" PRId64 "\">\n", p->points,
            !p->triangle && p->points > 0, p->triangle ? p->triangles : 0);
    fprintf(f, "<PointData>\n");
    for (int i = 0; i < p->point_arrays; i++)
        put_array(f, &l, p->point[i].name, p->point[i].type, p->point[i].components, p->points, p->point[i].data);
    fprintf(f, "</PointData>\n<CellData>\n");
    for (int i = 0; i < p->cell_arrays; i++)
        put_array(f, &l, p->cell[i].name, p->cell[i].type, p->cell[i].components, p->triangles, p->cell[i].data);
    fprintf(f, "</CellData>\n<Points>\n");
    put_array(f, &l, "points", p->type, 3, p->points, p->at);
    fprintf(f, "</Points>\n");
    put_cells(f, &l, p);
    fprintf(f, "</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
    for (int i = 0; i < l.blocks; i++) put_block(f, &l.block[i]);
    fprintf(f, "\n</AppendedData>\n</VTKFile>\n");
}

talus_status tl_vtk_write(const char *path, const tl_vtk_poly *p, talus_error *err)
{
    if (p->points > INT32_MAX || p->triangles > INT32_MAX / 3)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "%s: %" PRId64 " points and %" PRId64 " triangles are too many for one file", path, p->points,
                       p->triangles);
    return write_file(path, put_poly, p, err);
}

/* ---- the list ---- */

typedef struct list {
    int64_t frames;
    double fps;
    int groups;
    const char *const *group;
} list;

void tl_frame_path(char *out, size_t room, const char *folder, const char *group, int64_t frame, const char *ending)
{
    snprintf(out, room, "%s/%s-%04" PRId64 ".%s", folder, group, frame, ending);
}

static void put_list(FILE *f, const void *what)
{
    const list *l = what;
    char path[256];
    fprintf(f, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n"
               "<Collection>\n");
    for (int64_t frame = 0; frame <= l->frames; frame++)
        for (int g = 0; g < l->groups; g++) {
            tl_frame_path(path, sizeof path, "frames", l->group[g], frame, "vtp");
            fprintf(f, "<DataSet timestep=\"%.17g\" part=\"%d\" name=\"%s\" file=\"%s\"/>\n", (double)frame / l->fps, g,
                    l->group[g], path);
        }
    fprintf(f, "</Collection>\n</VTKFile>\n");
}

talus_status tl_vtk_write_list(const char *path, int64_t frames, double fps, int groups, const char *const *group,
                               talus_error *err)
{
    list l = {frames, fps, groups, group};
    return write_file(path, put_list, &l, err);
}
