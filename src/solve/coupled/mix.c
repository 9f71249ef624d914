/* Where the next sweep begins: with what the last ones point at. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "solve/coupled/work.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a coupled solve");
}

/* Pressures, normal forces, and all rows of joints. */
static void in_solver_units(const tl_coupled *c, double *x)
{
    const tl_coupled_work *w = c->work;
    memcpy(x, c->p, sizeof *x * (size_t)w->n);
    for (int32_t j = 0; j < w->points; j++) x[w->n + j] = c->lam[3 * (int64_t)j] / w->scale[j];
    double *joint = x + w->n + w->points;
    for (int32_t j = w->points; j < w->m; j++)
        for (int k = 0; k < 3; k++) *joint++ = c->lam[3 * (int64_t)j + k] / w->scale[j];
}

static int64_t mixed_unknowns(const tl_coupled_work *w)
{
    return (int64_t)w->n + w->points + 3 * ((int64_t)w->m - w->points);
}

static void go_to_joints(tl_coupled *c, const double *to)
{
    tl_coupled_work *w = c->work;
    for (int32_t j = w->points; j < w->m; j++) {
        const tl_contact_box *box = tl_coupled_box(c, j);
        for (int k = 0; k < 3; k++) {
            double *l = c->lam + 3 * (int64_t)j + k, next = tl_contact_clamp(*to++, box->lo[k], box->hi[k]);
            w->dl[3 * (int64_t)j + k] = next - *l;
            *l = next;
        }
    }
}

/* Staggered projections settle slowly where few cells carry a front, because pressure and stress push the same faces
 * there: the next sweep begins with what the last ones point at. Stress and friction follow from pressures and
 * normal forces in the sweep itself. */
void tl_coupled_mix_cones(tl_coupled *c, int sweep)
{
    tl_coupled_work *w = c->work;
    const int64_t all = mixed_unknowns(w), bounded = (int64_t)w->n + w->points;
    in_solver_units(c, w->x0);
    if (sweep == 1) {
        memcpy(w->went, w->x0, sizeof *w->went * (size_t)all);
        return;
    }
    tl_anderson_next(&w->mixing, w->went, w->x0, w->went);
    for (int64_t i = 0; i < all; i++) {
        if (i < bounded) w->went[i] = fmax(w->went[i], 0);
        w->x0[i] = w->went[i] - w->x0[i];
    }
    memcpy(c->p, w->went, sizeof *c->p * (size_t)w->n);
    tl_coupled_push(c, w->x0);
    if (!w->m) return;
    memset(w->dl, 0, sizeof *w->dl * 3 * (size_t)w->m);
    for (int32_t j = 0; j < w->points; j++) {
        w->dl[3 * (int64_t)j] = w->scale[j] * w->x0[w->n + j];
        c->lam[3 * (int64_t)j] = w->scale[j] * w->went[w->n + j];
    }
    for (int64_t k = bounded; k < all; k++) w->x0[k] = w->scale[w->points + (k - bounded) / 3] * w->went[k];
    go_to_joints(c, w->x0 + bounded);
    tl_coupled_push_contacts(c, w->dl);
}

/* Without cones: what the next sweep depends on, and contact forces with it. Pressures, where these come last; else
 * what contacts do to bodies, which is unique where their forces are not, as root of an energy. */
void tl_coupled_mix_state(const tl_coupled *c, double *out)
{
    const tl_coupled_work *w = c->work;
    const tl_csr *J = c->bodies.J;
    if (w->pressure_last) {
        memcpy(out, c->p, sizeof *out * (size_t)w->n);
        return;
    }
    memset(w->r, 0, sizeof *w->r * 6 * (size_t)w->bodies);
    for (int32_t i = 0; i < J->rows; i++)
        for (int64_t k = J->start[i]; k < J->start[i + 1]; k++) w->r[J->col[k]] += J->val[k] * c->lam[i];
    for (int32_t k = 0; k < w->moving; k++)
        tl_coupled_through_root(w, w->mover[k], true, w->r + 6 * (int64_t)w->mover[k], out + 6 * (int64_t)k);
    memcpy(out + w->mixing.n, c->lam, sizeof *out * 3 * (size_t)w->m);
    memcpy(out + w->mixing.n + 3 * (int64_t)w->m, c->p, sizeof *out * (size_t)w->n);
}

static void go_to_pressure(tl_coupled *c, const double *to)
{
    tl_coupled_work *w = c->work;
    for (int32_t i = 0; i < w->n; i++) {
        double p = c->pressure.unilateral ? fmax(to[i], 0) : to[i];
        w->x0[i] = p - c->p[i];
        c->p[i] = p;
    }
    tl_coupled_push(c, w->x0);
}

static void go_to_contacts(tl_coupled *c, const double *to)
{
    tl_coupled_work *w = c->work;
    for (int32_t j = 0; j < w->points; j++) {
        double *l = c->lam + 3 * (int64_t)j, normal = fmax(to[3 * (int64_t)j], 0);
        double t[2] = {to[3 * (int64_t)j + 1], to[3 * (int64_t)j + 2]};
        tl_project_disc(c->contact.mu[j] * normal, t);
        const double next[3] = {normal, t[0], t[1]};
        for (int k = 0; k < 3; k++) {
            w->dl[3 * (int64_t)j + k] = next[k] - l[k];
            l[k] = next[k];
        }
    }
    go_to_joints(c, to + 3 * (int64_t)w->points);
    tl_coupled_push_contacts(c, w->dl);
}

/* Pressures and contacts in turn leave a part of the error in every sweep that is near one in heaps, where bodies
 * hold some of the field between them: the next sweep begins with what the last ones point at. Pressures are mixed
 * like the contact forces that they belong to, so that their solve has little left to do. */
void tl_coupled_mix(tl_coupled *c)
{
    tl_coupled_work *w = c->work;
    tl_coupled_mix_state(c, w->ended);
    tl_anderson_next(&w->mixing, w->began, w->ended, w->began);
    if (!w->pressure_last) go_to_contacts(c, w->began + w->mixing.n);
    go_to_pressure(c, w->began + (w->pressure_last ? 0 : w->mixing.n + 3 * (int64_t)w->m));
    tl_coupled_mix_state(c, w->began);
}

/* sum of mass (a - b)^2 */
static double distance2(const tl_coupled *c, const double *a, const double *b)
{
    double part[TL_BLOCKS_MAX];
    tl_blocks blocks = tl_blocks_of(c->faces);
#pragma omp parallel for schedule(static) if (c->faces >= TL_PARALLEL_MIN)
    for (int i = 0; i < blocks.count; i++) {
        part[i] = 0;
        for (int64_t f = tl_block_begin(blocks, i); f < tl_block_end(blocks, i); f++)
            part[i] += c->mass[f] * (a[f] - b[f]) * (a[f] - b[f]);
    }
    return tl_sum_ordered(blocks.count, part);
}

double tl_coupled_moved(tl_coupled *c)
{
    tl_coupled_work *w = c->work;
    double all = distance2(c, c->u, w->u_free), last = distance2(c, c->u, w->u_last);
    memcpy(w->u_last, c->u, sizeof *c->u * (size_t)c->faces);
    return all > 0 ? sqrt(last / all) : 0;
}

talus_status tl_coupled_mix_cones_begin(tl_coupled *c, talus_error *err)
{
    tl_coupled_work *w = c->work;
    TL_TRY(tl_comm_agree(tl_coupled_comm(c), tl_anderson_begin(&w->mixing, mixed_unknowns(w), c->arena, err), err));
    tl_anderson_in_parts(&w->mixing, tl_coupled_comm(c), w->n);
    w->u_free = TL_TAKE(c->arena, double, c->faces);
    w->u_last = TL_TAKE(c->arena, double, c->faces);
    if (!w->u_free || !w->u_last) return no_memory(err);
    memcpy(w->u_free, c->u, sizeof *c->u * (size_t)c->faces);
    memcpy(w->u_last, c->u, sizeof *c->u * (size_t)c->faces);
    return TALUS_OK;
}

talus_status tl_coupled_mix_begin(tl_coupled *c, const tl_scheme *s, talus_error *err)
{
    tl_coupled_work *w = c->work;
    int last = 0;
    while (last + 1 < TL_COUPLED_BLOCKS && s->block[last + 1]) last++;
    w->pressure_last = s->block[last] == tl_coupled_pressure_normal;
    const int64_t decide = w->pressure_last ? w->n : 6 * (int64_t)w->moving;
    const int64_t carried = w->pressure_last ? 0 : 3 * (int64_t)w->m + w->n;
    w->began = TL_TAKE(c->arena, double, decide + carried);
    w->ended = TL_TAKE(c->arena, double, decide + carried);
    talus_status status = w->began && w->ended ? TALUS_OK : no_memory(err);
    if (status == TALUS_OK) status = tl_anderson_begin_carrying(&w->mixing, decide, carried, c->arena, err);
    if (w->pressure_last) tl_anderson_in_parts(&w->mixing, tl_coupled_comm(c), w->n);
    return tl_comm_agree(tl_coupled_comm(c), status, err);
}
