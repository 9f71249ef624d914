#include "model/lg/cells.h"

#include <string.h>

#include "base/alloc.h"

static talus_status take(tl_lg_mesh *m, int64_t vertices, int64_t elements, int corners, talus_error *err)
{
    *m = (tl_lg_mesh){(int32_t)vertices, (int32_t)elements, TL_NEW(tl_vec3, vertices),
                      TL_NEW(int32_t, corners * elements)};
    if (m->vertex && m->element) return TALUS_OK;
    tl_free(m->vertex);
    tl_free(m->element);
    *m = (tl_lg_mesh){0};
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a mesh of %lld elements", (long long)elements);
}

/* from corner 000 to corner 111 along the edges, in each order of axes; even ones first */
static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};

static void place_lattice(tl_box3 box, const int cells[3], tl_vec3 *vertex)
{
    tl_vec3 size = tl_vec3_sub(box.hi, box.lo);
    int32_t v = 0;
    for (int k = 0; k <= cells[2]; k++)
        for (int j = 0; j <= cells[1]; j++)
            for (int i = 0; i <= cells[0]; i++)
                vertex[v++] = (tl_vec3){box.lo.x + size.x * i / cells[0], box.lo.y + size.y * j / cells[1],
                                        box.lo.z + size.z * k / cells[2]};
}

talus_status tl_lg_bar(tl_box3 box, const int cells[3], tl_lg_mesh *out, talus_error *err)
{
    int64_t nx = cells[0], ny = cells[1], nz = cells[2];
    const int64_t stride[3] = {1, nx + 1, (nx + 1) * (ny + 1)};
    TL_TRY(take(out, (nx + 1) * (ny + 1) * (nz + 1), 6 * nx * ny * nz, 4, err));
    place_lattice(box, cells, out->vertex);
    int32_t *e = out->element;
    for (int64_t k = 0; k < nz; k++)
        for (int64_t j = 0; j < ny; j++)
            for (int64_t i = 0; i < nx; i++)
                for (int o = 0; o < 6; o++, e += 4) {
                    int64_t at = i + j * stride[1] + k * stride[2];
                    for (int c = 0; c < 4; c++) {
                        e[c] = (int32_t)at;
                        if (c < 3) at += stride[order[o][c]];
                    }
                    if (o >= 3) { /* odd: turned */
                        int32_t t = e[1];
                        e[1] = e[2];
                        e[2] = t;
                    }
                }
    return TALUS_OK;
}

talus_status tl_lg_sheet(tl_box3 box, int flat, int nu, int nv, tl_lg_mesh *out, talus_error *err)
{
    int u = (flat + 1) % 3, v = (flat + 2) % 3;
    const double lo[3] = {box.lo.x, box.lo.y, box.lo.z}, hi[3] = {box.hi.x, box.hi.y, box.hi.z};
    int64_t lattice = (int64_t)(nu + 1) * (nv + 1);
    TL_TRY(take(out, lattice + (int64_t)nu * nv, 4 * (int64_t)nu * nv, 3, err));
    for (int64_t k = 0; k < out->vertices; k++) {
        bool middle = k >= lattice;
        int64_t m = middle ? k - lattice : k, row = middle ? nu : nu + 1;
        double at[3];
        at[flat] = 0.5 * (lo[flat] + hi[flat]);
        at[u] = lo[u] + (hi[u] - lo[u]) * ((double)(m % row) + (middle ? 0.5 : 0)) / nu;
        at[v] = lo[v] + (hi[v] - lo[v]) * ((double)(m / row) + (middle ? 0.5 : 0)) / nv;
        out->vertex[k] = (tl_vec3){at[0], at[1], at[2]};
    }
    int32_t *e = out->element;
    for (int32_t j = 0; j < nv; j++)
        for (int32_t i = 0; i < nu; i++) {
            int32_t a = j * (nu + 1) + i, around[5] = {a, a + 1, a + nu + 2, a + nu + 1, a};
            for (int k = 0; k < 4; k++, e += 3) {
                e[0] = around[k];
                e[1] = around[k + 1];
                e[2] = (int32_t)lattice + j * nu + i;
            }
        }
    return TALUS_OK;
}

talus_status tl_lg_blocks(tl_box3 box, const int cells[3], tl_lg_mesh *out, talus_error *err)
{
    int64_t nx = cells[0], ny = cells[1], nz = cells[2];
    const int64_t stride[3] = {1, nx + 1, (nx + 1) * (ny + 1)};
    TL_TRY(take(out, (nx + 1) * (ny + 1) * (nz + 1), nx * ny * nz, 8, err));
    place_lattice(box, cells, out->vertex);
    int32_t *e = out->element;
    for (int64_t k = 0; k < nz; k++)
        for (int64_t j = 0; j < ny; j++)
            for (int64_t i = 0; i < nx; i++)
                for (int c = 0; c < 8; c++)
                    *e++ = (int32_t)((i + (c & 1)) + (j + (c >> 1 & 1)) * stride[1] + (k + (c >> 2)) * stride[2]);
    return TALUS_OK;
}

void tl_lg_split_cell(const int32_t corner[8], int32_t tet[6][4])
{
    for (int o = 0; o < 6; o++) {
        int at = 0;
        for (int c = 0; c < 4; c++) {
            tet[o][c] = corner[at];
            if (c < 3) at += 1 << order[o][c];
        }
        if (o >= 3) { /* odd: turned */
            int32_t t = tet[o][1];
            tet[o][1] = tet[o][2];
            tet[o][2] = t;
        }
    }
}

double tl_lg_element_volume(const tl_lg_part *p, int32_t element)
{
    int c = p->kind == TL_LG_TETS ? 4 : p->kind == TL_LG_CLOTH ? 3 : 8;
    const int32_t *e = p->element + (int64_t)c * element;
    tl_vec3 a = tl_vec3_sub(p->vertex[e[1]], p->vertex[e[0]]), b = tl_vec3_sub(p->vertex[e[2]], p->vertex[e[0]]);
    if (c == 3) return 0.5 * tl_vec3_norm(tl_vec3_cross(a, b)) * p->thickness;
    if (c == 8) return tl_vec3_dot(tl_vec3_cross(a, b), tl_vec3_sub(p->vertex[e[4]], p->vertex[e[0]]));
    return tl_vec3_dot(tl_vec3_cross(a, b), tl_vec3_sub(p->vertex[e[3]], p->vertex[e[0]])) / 6;
}
