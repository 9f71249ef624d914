/* Roots of the stiffness by elements: h^2 K = R^T R with a row per eigenvalue of each element's Hessian that is not
 * zero, per mode of a hexahedron that its centre does not see, and per direction of a spring. */
#include <math.h>

#include "base/alloc.h"
#include "math/eig3.h"
#include "model/elastic/fem.h"

#define LEAST 1e-12 /* of an element's largest eigenvalue: what is smaller counts as clamped to zero */

typedef struct rows {
    int64_t count, entries;
    tl_csr *out; /* NULL: only counted */
} rows;

/* One more row: node k gets the vector a[k], held ones nothing. */
static void add_row(rows *r, const tl_fem *f, int64_t count, const int32_t *node, const tl_vec3 *a)
{
    for (int64_t rank = 0; rank < count; rank++) {
        /* columns have to rise; elements have few nodes */
        int64_t k = -1;
        for (int64_t i = 0; i < count; i++) {
            int64_t below = 0;
            for (int64_t j = 0; j < count; j++) below += f->place[node[j]] < f->place[node[i]];
            if (below == rank) k = i;
        }
        if (k < 0 || f->place[node[k]] < 0) continue;
        const double v[3] = {a[k].x, a[k].y, a[k].z};
        for (int c = 0; c < 3; c++, r->entries++) {
            if (!r->out) continue;
            r->out->col[r->entries] = 3 * f->place[node[k]] + c;
            r->out->val[r->entries] = v[c];
        }
    }
    r->count++;
    if (r->out) r->out->start[r->count] = r->entries;
}

/* Nine eigenpairs of an element: values, and matrices E with amplitude <E, F>. */
static void eigen(const tl_stable_modes *m, double value[9], tl_mat3 E[9])
{
    tl_mat3 S, axes;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) S.m[i][k] = m->scale[i][k];
    tl_eig3(S, value, &axes);
    for (int k = 0; k < 9; k++) {
        tl_mat3 X = tl_mat3_zero();
        int i = (k + 1) % 3, j = (k + 2) % 3;
        if (k < 3) {
            for (int d = 0; d < 3; d++) X.m[d][d] = axes.m[d][k];
        } else {
            value[k] = k < 6 ? m->twist[k % 3] : m->flip[k % 3];
            X.m[i][j] = sqrt(0.5);
            X.m[j][i] = k < 6 ? -sqrt(0.5) : sqrt(0.5);
        }
        E[k] = tl_mat3_mul(tl_mat3_mul(m->U, X), tl_mat3_transpose(m->V));
    }
}

static void add_element(rows *r, const tl_fem *f, int32_t e, double h, const tl_stable_modes *m, tl_vec3 *a)
{
    const int64_t count = f->start[e + 1] - f->start[e];
    const int32_t *node = f->node + f->start[e];
    double value[9], max = 0;
    tl_mat3 E[9];
    eigen(m, value, E);
    for (int k = 0; k < 9; k++) max = fmax(max, value[k]);
    for (int k = 0; k < 9; k++) {
        if (!(value[k] > LEAST * max)) continue;
        double root = h * sqrt(f->volume[e] * value[k]);
        for (int64_t i = 0; i < count; i++)
            a[i] = tl_vec3_scale(root, tl_mat3_mul_vec(E[k], f->gradient[f->start[e] + i]));
        add_row(r, f, count, node, a);
    }
    const tl_fem_body *b = &f->body[f->owner[e]];
    for (int k = 0; k < 3 * TL_FEM_GLASS && b->hex; k++) {
        for (int64_t i = 0; i < count; i++) {
            double w = h * sqrt(b->glass[k / 3]) * tl_fem_glass_weight(k / 3, (int)i);
            a[i] = (tl_vec3){k % 3 == 0 ? w : 0, k % 3 == 1 ? w : 0, k % 3 == 2 ? w : 0};
        }
        add_row(r, f, count, node, a);
    }
}

static void add_all(rows *r, const tl_fem *f, int body, double h, const tl_stable_modes *modes, tl_vec3 *a)
{
    for (int32_t e = 0; e < f->elements; e++)
        if (f->owner[e] == body) add_element(r, f, e, h, &modes[e], a);
    const tl_fem_body *b = &f->body[body];
    for (int32_t i = b->node; i < b->node + b->nodes; i++)
        for (int c = 0; c < 3 && f->place[i] >= 0 && f->spring[i] > 0; c++) {
            double w = h * sqrt(f->spring[i]);
            a[0] = (tl_vec3){c == 0 ? w : 0, c == 1 ? w : 0, c == 2 ? w : 0};
            add_row(r, f, 1, &i, a);
        }
}

talus_status tl_fem_roots(const tl_fem *f, int body, double h, const tl_stable_modes *modes, tl_csr *out,
                          talus_error *err)
{
    int64_t max = 1;
    for (int32_t e = 0; e < f->elements; e++)
        max = f->start[e + 1] - f->start[e] > max ? f->start[e + 1] - f->start[e] : max;
    *out = (tl_csr){0};
    tl_vec3 *a = TL_NEW(tl_vec3, max);
    if (!a) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for roots of the stiffness");
    rows r = {0};
    add_all(&r, f, body, h, modes, a);
    talus_status status = tl_csr_create(out, (int32_t)r.count, 3 * f->body[body].unknown, r.entries, err);
    if (status == TALUS_OK) {
        r = (rows){.out = out};
        add_all(&r, f, body, h, modes, a);
    }
    tl_free(a);
    return status;
}
