#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/replace.h"
#include "base/text.h"
#include "geom/mesh_reader.h"
#include "geom/tetmesh.h"

/* ---- reading ---- */

talus_status tl_tetmesh_read_reported(tl_tetmesh *m, const char *path, tl_tet_read_report *report, talus_error *err)
{
    static const char vtk[] = "# vtk DataFile";
    char *data = NULL;
    size_t bytes = 0;
    *m = (tl_tetmesh){0};
    TL_TRY(tl_mesh_load(path, &data, &bytes, err));
    bool is_vtk = bytes >= strlen(vtk) && !memcmp(data, vtk, strlen(vtk));
    bool is_msh = bytes > 0 && *data == '$';
    const char *ending = strrchr(path, '.');
    if (!is_vtk && !is_msh && ending) {
        is_vtk = !strcasecmp(ending, ".vtk");
        is_msh = !strcasecmp(ending, ".msh");
    }
    talus_status status =
        is_vtk   ? tl_tetmesh_read_vtk(m, path, data, bytes, report, err)
        : is_msh ? tl_tetmesh_read_msh(m, path, data, bytes, report, err)
                 : TL_FAIL(err, TALUS_BAD_INPUT, "%s: neither a gmsh (.msh) nor a legacy VTK (.vtk) file", path);
    tl_free(data);
    return status;
}

talus_status tl_tetmesh_read(tl_tetmesh *m, const char *path, talus_error *err)
{
    return tl_tetmesh_read_reported(m, path, NULL, err);
}

/* ---- writing ---- */

static void write_msh(const tl_tetmesh *m, FILE *f)
{
    fprintf(f, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 %d 1 %d\n3 1 0 %d\n", m->vertices, m->vertices,
            m->vertices);
    for (int64_t v = 1; v <= m->vertices; v++) fprintf(f, "%lld\n", (long long)v);
    for (int32_t v = 0; v < m->vertices; v++)
        fprintf(f, "%.17g %.17g %.17g\n", m->vertex[v].x, m->vertex[v].y, m->vertex[v].z);
    fprintf(f, "$EndNodes\n$Elements\n1 %d 1 %d\n3 1 4 %d\n", m->tets, m->tets, m->tets);
    for (int32_t t = 0; t < m->tets; t++) {
        const int32_t *v = m->tet[t];
        fprintf(f, "%lld %lld %lld %lld %lld\n", t + 1LL, v[0] + 1LL, v[1] + 1LL, v[2] + 1LL, v[3] + 1LL);
    }
    fprintf(f, "$EndElements\n");
}

static void put_big(FILE *f, uint64_t bits, int bytes)
{
    unsigned char item[8];
    for (int i = 0; i < bytes; i++) item[i] = (unsigned char)(bits >> (8 * (bytes - 1 - i)));
    fwrite(item, (size_t)bytes, 1, f);
}

static void write_vtk(const tl_tetmesh *m, FILE *f)
{
    fprintf(f, "# vtk DataFile Version 3.0\ntetrahedra by talus\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS %d double\n",
            m->vertices);
    for (int32_t v = 0; v < m->vertices; v++) {
        double x[3];
        tl_vec3_store(m->vertex[v], x);
        for (int k = 0; k < 3; k++) {
            uint64_t bits;
            memcpy(&bits, &x[k], sizeof bits);
            put_big(f, bits, 8);
        }
    }
    fprintf(f, "\nCELLS %d %lld\n", m->tets, 5LL * m->tets);
    for (int32_t t = 0; t < m->tets; t++) {
        put_big(f, 4, 4);
        for (int k = 0; k < 4; k++) put_big(f, (uint32_t)m->tet[t][k], 4);
    }
    fprintf(f, "\nCELL_TYPES %d\n", m->tets);
    for (int32_t t = 0; t < m->tets; t++) put_big(f, 10, 4);
    fputc('\n', f);
}

typedef void (*writer)(const tl_tetmesh *, FILE *);

static talus_status write_to(const tl_tetmesh *m, const char *path, const char *temp, writer write, talus_error *err)
{
    FILE *f = fopen(temp, "wb");
    if (!f) return TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", path, strerror(errno));
    errno = 0;
    write(m, f);
    bool failed = ferror(f);
    int why = errno;
    if (fclose(f) != 0) {
        failed = true;
        why = errno;
    }
    return failed ? TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", path, strerror(why)) : TALUS_OK;
}

talus_status tl_tetmesh_write(const tl_tetmesh *m, const char *path, talus_error *err)
{
    const char *ending = strrchr(path, '.');
    writer write = ending && !strcasecmp(ending, ".msh")   ? write_msh
                   : ending && !strcasecmp(ending, ".vtk") ? write_vtk
                                                           : NULL;
    if (!write)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: the name of a tetrahedral mesh must end with .msh or .vtk", path);
    tl_replace r;
    TL_TRY(tl_replace_begin(&r, path, err));
    tl_c_numbers numbers = tl_c_numbers_begin();
    talus_status status = write_to(m, path, r.temp, write, err);
    tl_c_numbers_end(numbers);
    if (status == TALUS_OK) return tl_replace_commit(&r, err);
    tl_replace_discard(&r);
    return status;
}
