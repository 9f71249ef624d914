#include "run/step_capture.h"

#include <string.h>

#include "base/alloc.h"
#include "io/hdf5_file.h"
#include "talus_version.h"

static talus_status put_doubles(tl_h5 *f, const char *name, int64_t count, const double *data, talus_error *err)
{
    return tl_h5_put_array(f, name, TL_H5_DOUBLE, count, data, err);
}

static talus_status put_ints(tl_h5 *f, const char *name, int64_t count, const int32_t *data, talus_error *err)
{
    return tl_h5_put_array(f, name, TL_H5_INT32, count, data, err);
}

static talus_status put_values(tl_h5 *f, const tl_grid_view *v, const char *note, talus_error *err)
{
    const tl_coupled_certificate *q = &v->solved->certificate;
    TL_TRY(tl_h5_put_text(f, "format", "talus step", err));
    TL_TRY(tl_h5_put_int(f, "version", 1, err));
    TL_TRY(tl_h5_put_text(f, "talus", TALUS_VERSION_STRING, err));
    if (note && *note) TL_TRY(tl_h5_put_text(f, "note", note, err));
    TL_TRY(tl_h5_put_text(f, "scheme", tl_scheme_name(v->solved->scheme), err));
    TL_TRY(tl_h5_put_number(f, "t", v->t, err));
    TL_TRY(tl_h5_put_number(f, "dt", v->flow->system.c.dt, err));
    TL_TRY(tl_h5_put_number(f, "dx", v->flow->system.c.dx, err));
    TL_TRY(tl_h5_put_number(f, "density", v->flow->system.density, err));
    TL_TRY(tl_h5_put_number(f, "tolerance", v->tolerance, err));
    TL_TRY(tl_h5_put_int(f, "unilateral", v->unilateral, err));
    TL_TRY(tl_h5_put_number(f, "error_pressure", q->pressure, err));
    TL_TRY(tl_h5_put_number(f, "error_normal", q->normal, err));
    return tl_h5_put_number(f, "error_tangent", q->tangent, err);
}

/* Scratch for one array at a time. */
typedef struct scratch {
    double *d;
    int32_t *i;
} scratch;

static talus_status put_cells(tl_h5 *f, const tl_grid_view *v, const scratch *s, talus_error *err)
{
    const tl_system *y = &v->flow->system;
    const int32_t n = y->c.cells;
    const double *of_grid[3] = {v->flow->phi, v->flow->faces.fill, v->flow->fractions.solid_cell};
    static const char *const names[3] = {"cells/phi", "cells/fill", "cells/solid"};
    TL_TRY(put_ints(f, "cells/ijk", 3 * (int64_t)n, n ? y->ijk[0] : s->i, err));
    for (int k = 0; k < 3; k++) {
        for (int32_t i = 0; i < n; i++) s->d[i] = of_grid[k][y->active.cell[i]];
        TL_TRY(put_doubles(f, names[k], n, s->d, err));
    }
    return put_doubles(f, "cells/p", n, v->flow->p, err);
}

static talus_status put_faces(tl_h5 *f, const tl_grid_view *v, const scratch *s, talus_error *err)
{
    const tl_system *y = &v->flow->system;
    const int64_t n = y->c.faces;
    TL_TRY(put_ints(f, "faces/low", n, y->c.low, err));
    TL_TRY(put_ints(f, "faces/high", n, y->c.high, err));
    for (int64_t i = 0; i < n; i++) s->i[i] = y->axis[i];
    TL_TRY(put_ints(f, "faces/axis", n, s->i, err));
    TL_TRY(put_doubles(f, "faces/open", n, y->c.fluid, err));
    TL_TRY(put_doubles(f, "faces/mobility", n, y->c.mobility, err));
    for (int64_t i = 0; i < n; i++) s->d[i] = v->flow->faces.u[y->axis[i]][y->id[i]];
    TL_TRY(put_doubles(f, "faces/u_star", n, s->d, err));
    return put_doubles(f, "faces/u", n, y->c.u, err);
}

static talus_status put_solids(tl_h5 *f, const tl_grid_view *v, const scratch *s, talus_error *err)
{
    const tl_rigid_solid *r = &v->flow->system.rigid;
    const tl_bodies *b = v->b;
    const int64_t n = r->rows, bodies = b->rigid->count;
    for (int64_t i = 0; i < n; i++) s->i[i] = r->row[i].face;
    TL_TRY(put_ints(f, "solids/face", n, s->i, err));
    for (int64_t i = 0; i < n; i++) s->i[i] = r->row[i].body;
    TL_TRY(put_ints(f, "solids/body", n, s->i, err));
    for (int64_t i = 0; i < n; i++) s->d[i] = r->row[i].weight;
    TL_TRY(put_doubles(f, "solids/weight", n, s->d, err));
    for (int64_t i = 0; i < n; i++) tl_vec3_store(r->row[i].turn, s->d + 3 * i);
    TL_TRY(put_doubles(f, "solids/turn", 3 * n, s->d, err));
    for (int64_t i = 0; i < bodies; i++) tl_vec3_store(b->before[i].x, s->d + 3 * i);
    TL_TRY(put_doubles(f, "bodies/centre", 3 * bodies, s->d, err));
    TL_TRY(put_doubles(f, "bodies/inv_mass", bodies, b->inv_mass, err));
    TL_TRY(put_doubles(f, "bodies/inv_inertia", 9 * bodies, b->inv_inertia, err));
    TL_TRY(put_doubles(f, "bodies/v_star", 6 * bodies, b->v_free, err));
    return put_doubles(f, "bodies/v", 6 * bodies, b->v, err);
}

static talus_status put_contacts(tl_h5 *f, const tl_grid_view *v, const scratch *s, talus_error *err)
{
    const tl_bodies *b = v->b;
    const tl_csr *J = &b->p.J;
    const int64_t m = b->contacts.count;
    const tl_rigid_point *p = b->contacts.point;
    if (!m) return TALUS_OK;
    for (int64_t i = 0; i < m; i++) s->i[i] = p[i].a;
    TL_TRY(put_ints(f, "contacts/a", m, s->i, err));
    for (int64_t i = 0; i < m; i++) s->i[i] = p[i].b;
    TL_TRY(put_ints(f, "contacts/b", m, s->i, err));
    for (int64_t i = 0; i < m; i++) tl_vec3_store(p[i].at, s->d + 3 * i);
    TL_TRY(put_doubles(f, "contacts/at", 3 * m, s->d, err));
    for (int64_t i = 0; i < m; i++) tl_vec3_store(p[i].normal, s->d + 3 * i);
    TL_TRY(put_doubles(f, "contacts/normal", 3 * m, s->d, err));
    TL_TRY(put_doubles(f, "contacts/friction", m, b->p.problem.mu, err));
    TL_TRY(put_doubles(f, "contacts/bias", 3 * m, b->p.bias, err));
    TL_TRY(tl_h5_put_array(f, "J/start", TL_H5_INT64, 3 * m + 1, J->start, err));
    TL_TRY(put_ints(f, "J/col", J->start[3 * m], J->col, err));
    TL_TRY(put_doubles(f, "J/val", J->start[3 * m], J->val, err));
    for (int64_t i = 0; i < m; i++) s->d[i] = b->lam[3 * i];
    TL_TRY(put_doubles(f, "contacts/lambda", m, s->d, err));
    for (int64_t i = 0; i < m; i++) memcpy(s->d + 2 * i, b->lam + 3 * i + 1, 2 * sizeof *s->d);
    return put_doubles(f, "contacts/z", 2 * m, s->d, err);
}

/* What a checker needs of the stress: weights and cones of cells, edges with what is around them, and the answer. */
static talus_status put_stress(tl_h5 *f, const tl_grid_view *v, const scratch *s, talus_error *err)
{
    const tl_friction *k = v->friction;
    if (!k) return TALUS_OK;
    const tl_stress *t = k->stress;
    const int64_t n = t->edges;
    TL_TRY(tl_h5_put_int(f, "staggered", t->staggered, err));
    TL_TRY(tl_h5_put_int(f, "flat_axis", v->flow->grid.f.flat ? v->flow->grid.f.flat_axis : -1, err));
    TL_TRY(tl_h5_put_number(f, "error_stress", v->solved->certificate.stress, err));
    TL_TRY(put_doubles(f, "cells/weight", t->cells, t->cell, err));
    TL_TRY(put_doubles(f, "cells/shear", t->cells, t->shear, err));
    TL_TRY(put_doubles(f, "cells/alpha", t->cells, k->alpha, err));
    for (int64_t i = 0; i < n; i++) s->i[i] = t->edge_axis[i];
    TL_TRY(put_ints(f, "edges/axis", n, s->i, err));
    TL_TRY(put_doubles(f, "edges/weight", n, t->weight, err));
    for (int64_t i = 0; i < 4 * n; i++) s->i[i] = tl_stress_edge_at(t, (int32_t)(i / 4)).cell[i % 4];
    TL_TRY(put_ints(f, "edges/cells", 4 * n, s->i, err));
    for (int64_t i = 0; i < 4 * n; i++) s->i[i] = tl_stress_edge_at(t, (int32_t)(i / 4)).face[i % 4];
    TL_TRY(put_ints(f, "edges/faces", 4 * n, s->i, err));
    return put_doubles(f, "stress", t->n, k->s, err);
}

static talus_status put_all(tl_h5 *f, const tl_grid_view *v, const char *note, const scratch *s, talus_error *err)
{
    TL_TRY(put_values(f, v, note, err));
    TL_TRY(put_cells(f, v, s, err));
    TL_TRY(put_faces(f, v, s, err));
    TL_TRY(put_solids(f, v, s, err));
    TL_TRY(put_stress(f, v, s, err));
    return put_contacts(f, v, s, err);
}

talus_status tl_step_capture(const char *path, const tl_grid_view *v, const char *note, talus_error *err)
{
    const tl_system *y = &v->flow->system;
    const tl_bodies *b = v->b;
    int64_t max = y->c.faces + 4 * (int64_t)y->stress.edges +
                  3 * ((int64_t)y->rigid.rows + b->contacts.count + b->rigid->count) + 1;
    scratch s = {TL_NEW(double, max), TL_NEW(int32_t, max)};
    tl_h5 *f = NULL;
    talus_status status = s.d && s.i ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to capture a step");
    if (status == TALUS_OK) status = tl_h5_create(&f, path, err);
    if (status == TALUS_OK) status = put_all(f, v, note, &s, err);
    if (status == TALUS_OK)
        status = tl_h5_commit(f, err);
    else
        tl_h5_discard(f);
    tl_free(s.d);
    tl_free(s.i);
    return status;
}
