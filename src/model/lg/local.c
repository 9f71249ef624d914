/* The local step: eight elements at a time. */
#include <math.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "model/lg/bending.h"
#include "model/lg/hex.h"
#include "model/lg/lg.h"
#include "model/lg/membrane.h"
#include "model/lg/polar.h"
#include "model/lg/prox.h"

#define FEW 64 /* batches that one thread does alone */

/* ---- gathering and handing out ---- */

V8_INLINE v8 load(const double *lanes)
{
    v8 r;
    memcpy(&r, lanes, sizeof r);
    return r;
}
V8_INLINE void store(v8 x, double *lanes) { memcpy(lanes, &x, sizeof x); }

V8_INLINE v8 gather(const double *q, const int32_t *node)
{
    v8 r;
    for (int l = 0; l < 8; l++) r[l] = q[3 * (int64_t)node[l]];
    return r;
}

/* F = [x1-x0 x2-x0 x3-x0] B */
V8_INLINE void tet_gradient(const tl_lg_tets *t, const double *q, v8_mat3 *F)
{
    for (int i = 0; i < 3; i++) {
        v8 x0 = gather(q + i, t->node[0]), a = gather(q + i, t->node[1]) - x0, b = gather(q + i, t->node[2]) - x0,
           c = gather(q + i, t->node[3]) - x0;
        for (int j = 0; j < 3; j++) F->m[i][j] = a * load(t->B[j]) + b * load(t->B[3 + j]) + c * load(t->B[6 + j]);
    }
}

/* Forces of corners: k V D g_a. */
V8_INLINE void tet_forces(const tl_lg_tets *t, double k, const v8_mat3 *D, double *force)
{
    v8 w = k * load(t->V);
    for (int i = 0; i < 3; i++) {
        v8 d0 = w * D->m[i][0], d1 = w * D->m[i][1], d2 = w * D->m[i][2], sum = v8_all(0);
        for (int a = 0; a < 3; a++) {
            v8 f = d0 * load(t->B[3 * a]) + d1 * load(t->B[3 * a + 1]) + d2 * load(t->B[3 * a + 2]);
            store(f, force + 24 * (a + 1) + 8 * i);
            sum -= f;
        }
        store(sum, force + 8 * i);
    }
}

V8_INLINE void triangle_gradient(const tl_lg_triangles *t, const double *q, v8_mat32 *F)
{
    for (int i = 0; i < 3; i++) {
        v8 x0 = gather(q + i, t->node[0]), a = gather(q + i, t->node[1]) - x0, b = gather(q + i, t->node[2]) - x0;
        for (int j = 0; j < 2; j++) F->m[i][j] = a * load(t->B[j]) + b * load(t->B[2 + j]);
    }
}

V8_INLINE void triangle_forces(const tl_lg_triangles *t, double k, const v8_mat32 *D, double *force)
{
    v8 w = k * load(t->V);
    for (int i = 0; i < 3; i++) {
        v8 d0 = w * D->m[i][0], d1 = w * D->m[i][1];
        v8 f1 = d0 * load(t->B[0]) + d1 * load(t->B[1]), f2 = d0 * load(t->B[2]) + d1 * load(t->B[3]);
        store(f1, force + 24 + 8 * i);
        store(f2, force + 48 + 8 * i);
        store(-f1 - f2, force + 8 * i);
    }
}

/* ---- projections ---- */

/* p = argmin k/2 |p - F|^2 + psi(p); of ARAP the nearest rotation. */
V8_INLINE void project_tets(const tl_lg_material *m, tl_lg_model model, const v8_mat3 *F, v8_mat3 *p)
{
    v8_mat3 R;
    v8_polar(F, &R);
    if (model == TL_LG_ARAP) {
        *p = R;
        return;
    }
    v8_sym3 S = v8_stretch(&R, F);
    if (model == TL_LG_COROTATED) {
        v8 on_R, on_F;
        prox_corotated(m, 3, S.xx + S.yy + S.zz, &on_F, &on_R);
        for (int i = 0; i < 9; i++) p->m[i / 3][i % 3] = on_F * F->m[i / 3][i % 3] + on_R * R.m[i / 3][i % 3];
        return;
    }
    v8 s[3], x[3];
    v8_mat3 V;
    v8_eigen(S, s, &V);
    prox_neo_hookean(m, 3, s, x);
    v8_compose(&R, &V, x, p);
}

V8_INLINE void project_triangles(const tl_lg_material *m, tl_lg_model model, const v8_mat32 *F, v8_mat32 *p)
{
    v8_mat32 R;
    v8 S[3];
    v8_polar32(F, &R, S);
    if (model == TL_LG_ARAP) {
        *p = R;
        return;
    }
    if (model == TL_LG_COROTATED) {
        v8 on_R, on_F;
        prox_corotated(m, 2, S[0] + S[1], &on_F, &on_R);
        for (int i = 0; i < 6; i++) p->m[i / 2][i % 2] = on_F * F->m[i / 2][i % 2] + on_R * R.m[i / 2][i % 2];
        return;
    }
    v8 s[2], x[2];
    v8_eigen2(S, s);
    prox_neo_hookean(m, 2, s, x);
    v8_compose32(&R, S, s, x, p);
}

/* ---- stresses ---- */

/* P = dpsi/dF; returns psi. */
V8_INLINE v8 stress_tets(const tl_lg_material *m, tl_lg_model model, const v8_mat3 *F, v8_mat3 *P)
{
    v8_mat3 R;
    v8_polar(F, &R);
    v8_sym3 S = v8_stretch(&R, F);
    if (model == TL_LG_NEO_HOOKEAN) {
        v8 s[3], dpsi[3];
        v8_mat3 V;
        v8_eigen(S, s, &V);
        v8 psi = stress_neo_hookean(m, 3, s, dpsi);
        v8_compose(&R, &V, dpsi, P);
        return psi;
    }
    v8 trace = S.xx + S.yy + S.zz - 3, d2 = v8_all(0);
    for (int i = 0; i < 9; i++) {
        v8 d = F->m[i / 3][i % 3] - R.m[i / 3][i % 3];
        d2 += d * d;
        P->m[i / 3][i % 3] = 2 * m->mu * d + m->lambda * trace * R.m[i / 3][i % 3];
    }
    return m->mu * d2 + 0.5 * m->lambda * trace * trace;
}

V8_INLINE v8 stress_triangles(const tl_lg_material *m, tl_lg_model model, const v8_mat32 *F, v8_mat32 *P)
{
    v8_mat32 R;
    v8 S[3];
    v8_polar32(F, &R, S);
    if (model == TL_LG_NEO_HOOKEAN) {
        v8 s[2], dpsi[2];
        v8_eigen2(S, s);
        v8 psi = stress_neo_hookean(m, 2, s, dpsi);
        v8_compose32(&R, S, s, dpsi, P);
        return psi;
    }
    v8 trace = S[0] + S[1] - 2, d2 = v8_all(0);
    for (int i = 0; i < 6; i++) {
        v8 d = F->m[i / 2][i % 2] - R.m[i / 2][i % 2];
        d2 += d * d;
        P->m[i / 2][i % 2] = 2 * m->mu * d + m->lambda * trace * R.m[i / 2][i % 2];
    }
    return m->mu * d2 + 0.5 * m->lambda * trace * trace;
}

/* ---- one batch ---- */

#define BATCH(name, type, mat, gradient, forces, project, entries, columns)                                            \
    V8_INLINE void name##_batch(const tl_lg_material *m, tl_lg_model model, const type *t, const double *q, double *u, \
                                double *force)                                                                         \
    {                                                                                                                  \
        mat F, p;                                                                                                      \
        gradient(t, q, &F);                                                                                            \
        if (m->scheme == TL_LG_ADMM) {                                                                                 \
            mat moved;                                                                                                 \
            for (int i = 0; i < entries; i++)                                                                          \
                moved.m[i / columns][i % columns] = F.m[i / columns][i % columns] + load(u + 8 * i);                   \
            project(m, model, &moved, &p);                                                                             \
            for (int i = 0; i < entries; i++) {                                                                        \
                v8 left = moved.m[i / columns][i % columns] - p.m[i / columns][i % columns];                           \
                store(left, u + 8 * i);                                                                                \
                p.m[i / columns][i % columns] -= left + F.m[i / columns][i % columns];                                 \
            }                                                                                                          \
        } else {                                                                                                       \
            project(m, model, &F, &p);                                                                                 \
            for (int i = 0; i < entries; i++) p.m[i / columns][i % columns] -= F.m[i / columns][i % columns];          \
        }                                                                                                              \
        forces(t, m->k, &p, force);                                                                                    \
    }
BATCH(tets, tl_lg_tets, v8_mat3, tet_gradient, tet_forces, project_tets, 9, 3)
BATCH(triangles, tl_lg_triangles, v8_mat32, triangle_gradient, triangle_forces, project_triangles, 6, 2)

#define STRESS(name, type, mat, gradient, forces, stress)                                                              \
    V8_INLINE double name##_stress_batch(const tl_lg_material *m, tl_lg_model model, const type *t, const double *q,   \
                                         double *force)                                                                \
    {                                                                                                                  \
        mat F, P;                                                                                                      \
        gradient(t, q, &F);                                                                                            \
        v8 energy = load(t->V) * stress(m, model, &F, &P);                                                             \
        if (force) forces(t, -1, &P, force);                                                                           \
        return ((energy[0] + energy[4]) + (energy[2] + energy[6])) +                                                   \
               ((energy[1] + energy[5]) + (energy[3] + energy[7]));                                                    \
    }
STRESS(tets, tl_lg_tets, v8_mat3, tet_gradient, tet_forces, stress_tets)
STRESS(triangles, tl_lg_triangles, v8_mat32, triangle_gradient, triangle_forces, stress_triangles)

/* ---- hexahedra ---- */

V8_INLINE void hex_gradient(const tl_lg_lattice *g, const tl_lg_hexes *t, const double *q, v8_hex *h)
{
    for (int i = 0; i < 3; i++) {
        v8 x[8], edge[3], mode[4];
        for (int a = 0; a < 8; a++) x[a] = gather(q + i, t->node[a]);
        hex_sums(x, edge, mode);
        for (int m = 0; m < 4; m++) h->mode[m][i] = mode[m];
        for (int j = 0; j < 3; j++) h->F.m[i][j] = edge[0] * g->B[j] + edge[1] * g->B[3 + j] + edge[2] * g->B[6 + j];
    }
}

V8_INLINE double sum_lanes(v8 x) { return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); }

V8_INLINE void hexes_batch(const tl_lg_body *b, tl_lg_model model, const tl_lg_hexes *t, const double *q, double *u,
                           double *force)
{
    const tl_lg_material *m = &b->material;
    v8_hex h;
    v8_mat3 p, moved;
    hex_gradient(&b->lattice, t, q, &h);
    moved = h.F;
    if (m->scheme == TL_LG_ADMM)
        for (int i = 0; i < 9; i++) moved.m[i / 3][i % 3] += load(u + 8 * i);
    project_tets(m, model, &moved, &p);
    for (int i = 0; i < 9; i++) {
        v8 left = moved.m[i / 3][i % 3] - p.m[i / 3][i % 3], off = p.m[i / 3][i % 3] - h.F.m[i / 3][i % 3];
        if (m->scheme == TL_LG_ADMM) {
            store(left, u + 8 * i);
            off -= left;
        }
        p.m[i / 3][i % 3] = m->k * b->lattice.volume * off;
    }
    (void)hex_hourglass(&b->lattice, &h, &p);
    hex_forces(&b->lattice, &p, h.mode, force);
}

V8_INLINE double hexes_stress_batch(const tl_lg_body *b, tl_lg_model model, const tl_lg_hexes *t, const double *q,
                                    double *force)
{
    v8_hex h;
    v8_mat3 P;
    hex_gradient(&b->lattice, t, q, &h);
    v8 energy = b->lattice.volume * stress_tets(&b->material, model, &h.F, &P);
    for (int i = 0; i < 9; i++) P.m[i / 3][i % 3] *= -b->lattice.volume;
    energy += hex_hourglass(&b->lattice, &h, &P);
    if (force) hex_forces(&b->lattice, &P, h.mode, force);
    return sum_lanes(v8_select(load(t->V) > 0, energy, v8_all(0)));
}

static double hexes_stress(const tl_lg_body *b, const tl_lg_hexes *t, const double *q, double *force)
{
    switch (b->material.model) {
    case TL_LG_ARAP: return hexes_stress_batch(b, TL_LG_ARAP, t, q, force);
    case TL_LG_COROTATED: return hexes_stress_batch(b, TL_LG_COROTATED, t, q, force);
    default: return hexes_stress_batch(b, TL_LG_NEO_HOOKEAN, t, q, force);
    }
}

static void hexes_local(const tl_lg_body *b, const tl_lg_hexes *t, const double *q, double *u, double *force)
{
    if (b->material.scheme == TL_LG_NEWTON) {
        (void)hexes_stress(b, t, q, force);
        return;
    }
    switch (b->material.model) {
    case TL_LG_ARAP: hexes_batch(b, TL_LG_ARAP, t, q, u, force); break;
    case TL_LG_COROTATED: hexes_batch(b, TL_LG_COROTATED, t, q, u, force); break;
    case TL_LG_NEO_HOOKEAN: hexes_batch(b, TL_LG_NEO_HOOKEAN, t, q, u, force); break;
    }
}

/* One compiled function per material. */
#define PER_MODEL(name, type)                                                                                          \
    static void name##_local(const tl_lg_material *m, const type *t, const double *q, double *u, double *force)        \
    {                                                                                                                  \
        if (m->scheme == TL_LG_NEWTON) {                                                                               \
            switch (m->model) {                                                                                        \
            case TL_LG_ARAP: (void)name##_stress_batch(m, TL_LG_ARAP, t, q, force); break;                             \
            case TL_LG_COROTATED: (void)name##_stress_batch(m, TL_LG_COROTATED, t, q, force); break;                   \
            case TL_LG_NEO_HOOKEAN: (void)name##_stress_batch(m, TL_LG_NEO_HOOKEAN, t, q, force); break;               \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        switch (m->model) {                                                                                            \
        case TL_LG_ARAP: name##_batch(m, TL_LG_ARAP, t, q, u, force); break;                                           \
        case TL_LG_COROTATED: name##_batch(m, TL_LG_COROTATED, t, q, u, force); break;                                 \
        case TL_LG_NEO_HOOKEAN: name##_batch(m, TL_LG_NEO_HOOKEAN, t, q, u, force); break;                             \
        }                                                                                                              \
    }                                                                                                                  \
    static double name##_stress(const tl_lg_material *m, const type *t, const double *q, double *force)                \
    {                                                                                                                  \
        switch (m->model) {                                                                                            \
        case TL_LG_ARAP: return name##_stress_batch(m, TL_LG_ARAP, t, q, force);                                       \
        case TL_LG_COROTATED: return name##_stress_batch(m, TL_LG_COROTATED, t, q, force);                             \
        default: return name##_stress_batch(m, TL_LG_NEO_HOOKEAN, t, q, force);                                        \
        }                                                                                                              \
    }
PER_MODEL(tets, tl_lg_tets)
PER_MODEL(triangles, tl_lg_triangles)

/* ---- all of them ---- */

static double *duals_of(const tl_lg_body *b, int32_t batch, int entries, double *u)
{
    return b->dual_row < 0 ? NULL : u + TL_LG_LANES * (b->dual_row + (int64_t)entries * (batch - b->batch));
}

/* Hinges that are bent at rest; their energy beyond that of K. */
static double hinges(const tl_lg *lg, const double *q, double *force)
{
    if (lg->hinges == 0) return 0;
    double *out = force ? force + 96 * (int64_t)lg->tet_batches + 72 * (int64_t)lg->triangle_batches +
                              192 * (int64_t)lg->hex_batches
                        : NULL;
    tl_blocks blocks = tl_blocks_of(lg->hinges);
    double part[TL_BLOCKS_MAX];
#pragma omp parallel for schedule(static)
    for (int i = 0; i < blocks.count; i++) {
        part[i] = 0;
        for (int64_t k = tl_block_begin(blocks, i); k < tl_block_end(blocks, i); k++) {
            const tl_lg_hinge *h = &lg->hinge[k];
            tl_vec3 x[4], f[4];
            for (int a = 0; a < 4; a++) x[a] = tl_vec3_load(q + 3 * (int64_t)h->node[a]);
            part[i] += tl_lg_hinge_force(h, x, out ? f : NULL);
            for (int a = 0; a < 4 && out; a++) {
                double *at = out + 96 * (k / 8) + 24 * a + k % 8;
                at[0] = f[a].x, at[8] = f[a].y, at[16] = f[a].z;
            }
        }
    }
    return tl_sum_ordered(blocks.count, part);
}

void tl_lg_local(const tl_lg *lg, const double *q, double *u, double *force)
{
    int32_t flat = lg->tet_batches + lg->triangle_batches, batches = flat + lg->hex_batches;
    double *hexes = force + 96 * (int64_t)lg->tet_batches + 72 * (int64_t)lg->triangle_batches;
#pragma omp parallel for schedule(static) if (batches > FEW)
    for (int32_t k = 0; k < batches; k++) {
        if (k >= flat) {
            int32_t t = k - flat;
            const tl_lg_body *b = &lg->body[lg->hex_body[t]];
            hexes_local(b, &lg->hexes[t], q, duals_of(b, t, 9, u), hexes + 192 * (int64_t)t);
        } else if (k < lg->tet_batches) {
            const tl_lg_body *b = &lg->body[lg->tet_body[k]];
            tets_local(&b->material, &lg->tets[k], q, duals_of(b, k, 9, u), force + 96 * (int64_t)k);
        } else {
            int32_t t = k - lg->tet_batches;
            const tl_lg_body *b = &lg->body[lg->triangle_body[t]];
            triangles_local(&b->material, &lg->triangles[t], q, duals_of(b, t, 6, u),
                            force + 96 * (int64_t)lg->tet_batches + 72 * (int64_t)t);
        }
    }
    (void)hinges(lg, q, force);
}

double tl_lg_stress(const tl_lg *lg, const double *q, double *force)
{
    int32_t flat = lg->tet_batches + lg->triangle_batches, batches = flat + lg->hex_batches;
    double *hexes = force ? force + 96 * (int64_t)lg->tet_batches + 72 * (int64_t)lg->triangle_batches : NULL;
    tl_blocks blocks = tl_blocks_of(8 * (int64_t)batches); /* of elements */
    double part[TL_BLOCKS_MAX];
#pragma omp parallel for schedule(static) if (batches > FEW)
    for (int i = 0; i < blocks.count; i++) {
        part[i] = 0;
        for (int64_t k = tl_block_begin(blocks, i) / 8; k < tl_block_end(blocks, i) / 8; k++) {
            int64_t t = k - lg->tet_batches;
            if (k >= flat) {
                t = k - flat;
                part[i] += hexes_stress(&lg->body[lg->hex_body[t]], &lg->hexes[t], q, hexes ? hexes + 192 * t : NULL);
                continue;
            }
            double *out = !force ? NULL : force + 96 * (t < 0 ? k : lg->tet_batches) + (t < 0 ? 0 : 72 * t);
            part[i] += t < 0 ? tets_stress(&lg->body[lg->tet_body[k]].material, &lg->tets[k], q, out)
                             : triangles_stress(&lg->body[lg->triangle_body[t]].material, &lg->triangles[t], q, out);
        }
    }
    return tl_sum_ordered(blocks.count, part) + hinges(lg, q, force);
}

static void put_duals(const v8_mat3 *P, double k, double *u)
{
    for (int i = 0; i < 9; i++) store(P->m[i / 3][i % 3] / k, u + 8 * i);
}

static void duals_of_batch(const tl_lg *lg, const tl_lg_body *b, int32_t batch, const double *q, double *u)
{
    const tl_lg_material *m = &b->material;
    v8_mat3 P;
    if (b->kind == TL_LG_CLOTH) {
        v8_mat32 F, P2;
        triangle_gradient(&lg->triangles[batch], q, &F);
        (void)(m->model == TL_LG_COROTATED ? stress_triangles(m, TL_LG_COROTATED, &F, &P2)
                                           : stress_triangles(m, TL_LG_NEO_HOOKEAN, &F, &P2));
        for (int i = 0; i < 6; i++) store(P2.m[i / 2][i % 2] / m->k, u + 8 * i);
        return;
    }
    v8_hex h;
    if (b->kind == TL_LG_HEXES)
        hex_gradient(&b->lattice, &lg->hexes[batch], q, &h);
    else
        tet_gradient(&lg->tets[batch], q, &h.F);
    (void)(m->model == TL_LG_COROTATED ? stress_tets(m, TL_LG_COROTATED, &h.F, &P)
                                       : stress_tets(m, TL_LG_NEO_HOOKEAN, &h.F, &P));
    put_duals(&P, m->k, u);
}

void tl_lg_set_duals(const tl_lg *lg, const double *q, const bool *of, double *u)
{
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        if (!of[b] || body->dual_row < 0) continue;
        const int entries = body->kind == TL_LG_CLOTH ? 6 : 9;
#pragma omp parallel for schedule(static) if (body->batches > FEW)
        for (int32_t k = body->batch; k < body->batch + body->batches; k++)
            duals_of_batch(lg, body, k, q, duals_of(body, k, entries, u));
    }
}

/* ---- one by one, for whoever looks ---- */

V8_INLINE void stress_solid(const tl_lg_material *m, const v8_mat3 *F, v8_mat3 *P)
{
    switch (m->model) {
    case TL_LG_ARAP: (void)stress_tets(m, TL_LG_ARAP, F, P); break;
    case TL_LG_COROTATED: (void)stress_tets(m, TL_LG_COROTATED, F, P); break;
    case TL_LG_NEO_HOOKEAN: (void)stress_tets(m, TL_LG_NEO_HOOKEAN, F, P); break;
    }
}

V8_INLINE void stress_cloth(const tl_lg_material *m, const v8_mat32 *F, v8_mat32 *P)
{
    switch (m->model) {
    case TL_LG_ARAP: (void)stress_triangles(m, TL_LG_ARAP, F, P); break;
    case TL_LG_COROTATED: (void)stress_triangles(m, TL_LG_COROTATED, F, P); break;
    case TL_LG_NEO_HOOKEAN: (void)stress_triangles(m, TL_LG_NEO_HOOKEAN, F, P); break;
    }
}

/* Two columns of lane l and the unit normal of what they span. */
static tl_mat3 lane_of_cloth(const v8_mat32 *A, int l, tl_vec3 third)
{
    tl_vec3 column[2];
    for (int j = 0; j < 2; j++) column[j] = (tl_vec3){A->m[0][j][l], A->m[1][j][l], A->m[2][j][l]};
    return tl_mat3_from_columns(column[0], column[1], third);
}

static void cloth_stress(const tl_lg_material *m, const tl_lg_triangles *t, const double *q, int l, tl_lg_element *e)
{
    const tl_vec3 none = {0, 0, 0};
    v8_mat32 F, P;
    triangle_gradient(t, q, &F);
    stress_cloth(m, &F, &P);
    tl_mat3 flat = lane_of_cloth(&F, l, none);
    tl_vec3 normal = tl_vec3_cross(tl_mat3_column(flat, 0), tl_mat3_column(flat, 1));
    e->F = lane_of_cloth(&F, l, tl_vec3_normalize_or(normal, none));
    e->P = lane_of_cloth(&P, l, none);
    e->volume = t->V[l];
}

static void solid_stress(const tl_lg *lg, const tl_lg_body *b, int32_t batch, const double *q, int l, tl_lg_element *e)
{
    v8_mat3 P;
    v8_hex h;
    e->volume = b->lattice.volume;
    if (b->kind == TL_LG_HEXES) {
        hex_gradient(&b->lattice, &lg->hexes[batch], q, &h);
    } else {
        const tl_lg_tets *t = &lg->tets[batch];
        tl_mat3 B;
        tet_gradient(t, q, &h.F);
        for (int i = 0; i < 9; i++) B.m[i / 3][i % 3] = t->B[i][l];
        e->volume = 1 / (6 * fabs(tl_mat3_det(B)));
        e->stiffer = t->V[l] / e->volume;
    }
    stress_solid(&b->material, &h.F, &P);
    e->F = v8_lane(&h.F, l);
    e->P = tl_mat3_scale(e->stiffer, v8_lane(&P, l));
}

int64_t tl_lg_element_count(const tl_lg *lg)
{
    int64_t n = 0;
    for (int l = 0; l < TL_LG_LANES; l++) {
        for (int32_t k = 0; k < lg->tet_batches; k++) n += lg->tets[k].V[l] > 0;
        for (int32_t k = 0; k < lg->triangle_batches; k++) n += lg->triangles[k].V[l] > 0;
        for (int32_t k = 0; k < lg->hex_batches; k++) n += lg->hexes[k].V[l] > 0;
    }
    return n;
}

void tl_lg_each_element(const tl_lg *lg, const double *q, void (*visit)(void *user, int64_t i, const tl_lg_element *e),
                        void *user)
{
    const int32_t flat = lg->tet_batches + lg->triangle_batches, batches = flat + lg->hex_batches;
    int64_t count = 0;
    for (int32_t k = 0; k < batches; k++)
        for (int l = 0; l < TL_LG_LANES; l++) {
            const int32_t t = k < lg->tet_batches ? k : k < flat ? k - lg->tet_batches : k - flat;
            const bool tet = k < lg->tet_batches, cloth = !tet && k < flat;
            const double V = tet ? lg->tets[t].V[l] : cloth ? lg->triangles[t].V[l] : lg->hexes[t].V[l];
            if (!(V > 0)) continue;
            tl_lg_element e = {.node = {-1, -1, -1, -1, -1, -1, -1, -1}, .stiffer = 1};
            const int corners = tet ? 4 : cloth ? 3 : 8;
            e.body = tet ? lg->tet_body[t] : cloth ? lg->triangle_body[t] : lg->hex_body[t];
            for (int c = 0; c < corners; c++)
                e.node[c] = tet     ? lg->tets[t].node[c][l]
                            : cloth ? lg->triangles[t].node[c][l]
                                    : lg->hexes[t].node[c][l];
            if (cloth)
                cloth_stress(&lg->body[e.body].material, &lg->triangles[t], q, l, &e);
            else
                solid_stress(lg, &lg->body[e.body], t, q, l, &e);
            visit(user, count++, &e);
        }
}
