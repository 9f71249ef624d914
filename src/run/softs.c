#include "run/softs.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "math/svd3.h"
#include "model/lg/place.h"

#define SOLID_CREASE 40 /* degrees: sharper edges of a solid's rest shape show as edges */
#define CLOTH_CREASE 180
#define PORTRAIT 360 /* pixels: how fine a shape's surface is; about 90 triangles along it */

typedef struct tl_soft_skin {
    int body; /* of lg */
    int32_t vertices;
    tl_vec3 *rest;     /* body frame */
    tl_vec3 *straight; /* normals at rest, world frame; NULL: from the triangles */
    tl_lg_point *tie;  /* [vertices] */
    int32_t (*triangle)[3];
    int32_t triangles;
    tl_vec3 *at, *normal; /* now */
    float *value;         /* strain; NULL: not shown */
} tl_soft_skin;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to draw elastic bodies");
}

static talus_status start_pose(const tl_scene *s, const tl_body *b, tl_pose *out, talus_error *err)
{
    double x[7];
    *out = (tl_pose){b->at, tl_quat_normalize(b->rotation)};
    if (b->kind != TL_BODY_KINEMATIC || b->motion == TL_NO_FUNCTION) return TALUS_OK;
    TL_TRY(tl_scene_evaluate(s, b->motion, 0, x, 7, err));
    *out = (tl_pose){{x[0], x[1], x[2]}, tl_quat_normalize((tl_quat){x[3], x[4], x[5], x[6]})};
    return TALUS_OK;
}

static talus_status take_room(tl_soft_skin *k, const tl_picture_mesh *m, talus_error *err)
{
    k->vertices = m->vertices;
    k->triangles = m->triangles;
    k->rest = TL_NEW(tl_vec3, m->vertices);
    k->tie = TL_NEW(tl_lg_point, m->vertices);
    k->at = TL_NEW(tl_vec3, m->vertices);
    k->normal = TL_NEW(tl_vec3, m->vertices);
    k->triangle = tl_alloc(sizeof *k->triangle * (size_t)m->triangles);
    if (!k->rest || !k->tie || !k->at || !k->normal || !k->triangle) return no_memory(err);
    memcpy(k->triangle, m->triangle, sizeof *k->triangle * (size_t)m->triangles);
    return TALUS_OK;
}

/* The shape's own surface, tied to elements. */
static talus_status tie_fine(tl_soft_skin *k, const tl_lg *lg, const tl_picture_mesh *m, const tl_pose *pose,
                             talus_error *err)
{
    tl_lg_finder *finder;
    TL_TRY(take_room(k, m, err));
    k->straight = TL_NEW(tl_vec3, m->vertices);
    if (!k->straight) return no_memory(err);
    TL_TRY(tl_lg_finder_create(&finder, lg, k->body, err));
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < k->vertices; i++) {
        k->rest[i] = m->vertex[i];
        k->straight[i] = tl_quat_rotate(pose->rotation, m->normal[i]);
        tl_lg_find(finder, tl_pose_apply(pose, m->vertex[i]), &k->tie[i]);
    }
    tl_lg_finder_free(finder);
    return TALUS_OK;
}

/* The body's own triangles, split at edges of the rest shape. Split vertices come in the order of those they were
 * made from. */
static talus_status tie_own(tl_soft_skin *k, const tl_lg *lg, const tl_pose *pose, talus_error *err)
{
    const tl_lg_body *b = &lg->body[k->body];
    tl_picture p = {0};
    tl_trimesh m = {b->nodes, b->triangles, TL_NEW(tl_vec3, b->nodes),
                    tl_alloc(sizeof(int32_t[3]) * (size_t)b->triangles)};
    talus_status status = m.vertex && m.triangle ? TALUS_OK : no_memory(err);
    if (status == TALUS_OK) {
        for (int32_t i = 0; i < b->nodes; i++) m.vertex[i] = tl_vec3_load(lg->rest + 3 * (int64_t)(b->node + i));
        for (int32_t t = 0; t < b->triangles; t++)
            for (int c = 0; c < 3; c++) m.triangle[t][c] = lg->surface[b->triangle + t][c] - b->node;
        tl_picture_begin(&p);
        if (tl_picture_add_mesh(&p, &m, b->kind == TL_LG_CLOTH ? CLOTH_CREASE : SOLID_CREASE, err) < 0)
            status = err->status;
    }
    if (status == TALUS_OK) status = take_room(k, &p.mesh[0], err);
    for (int32_t i = 0, from = 0; i < k->vertices && status == TALUS_OK; i++) {
        tl_vec3 at = p.mesh[0].vertex[i];
        while (memcmp(&m.vertex[from], &at, sizeof at) != 0) from++;
        k->tie[i] = (tl_lg_point){{b->node + from, -1, -1, -1}, {1, 0, 0, 0}};
        k->rest[i] = tl_quat_rotate(tl_quat_conjugate(pose->rotation), tl_vec3_sub(at, pose->at));
    }
    tl_picture_free(&p);
    tl_free(m.vertex);
    tl_free(m.triangle);
    return status;
}

static talus_status make_skin(tl_soft_skin *k, const tl_scene *s, const tl_lg *lg, talus_error *err)
{
    const tl_lg_body *b = &lg->body[k->body];
    const tl_body *body = &s->bodies[b->body];
    tl_pose pose;
    TL_TRY(start_pose(s, body, &pose, err));
    if (b->kind == TL_LG_CLOTH || body->cells[0]) return tie_own(k, lg, &pose, err);
    tl_picture p = {0};
    tl_scene_picture_options o = {.width = PORTRAIT * 4 / 3, .height = PORTRAIT};
    talus_status status = tl_picture_of_shape(&p, s, body->shape, &o, err);
    if (status == TALUS_OK)
        status =
            p.meshes > 0 && p.mesh[0].normal ? tie_fine(k, lg, &p.mesh[0], &pose, err) : tie_own(k, lg, &pose, err);
    tl_picture_free(&p);
    return status;
}

talus_status tl_softs_create(tl_softs *out, const tl_scene *s, const tl_lg *lg, talus_error *err)
{
    talus_error own = {0};
    if (!err) err = &own;
    *out = (tl_softs){.lg = lg};
    out->soft = TL_NEW_ZERO(tl_scene_soft, lg->bodies + 1);
    out->skin = TL_NEW_ZERO(tl_soft_skin, lg->bodies + 1);
    out->turn = TL_NEW(tl_mat3, lg->nodes + 1);
    bool strain = s->render.colour_by == TL_COLOUR_STRAIN;
    if (strain) out->strain = TL_NEW(double, 2 * (int64_t)lg->nodes + 1);
    if (!out->soft || !out->skin || !out->turn || (strain && !out->strain)) return no_memory(err);
    for (int b = 0; b < lg->bodies; b++) {
        tl_soft_skin *k = &out->skin[b];
        k->body = b;
        out->count++;
        TL_TRY(make_skin(k, s, lg, err));
        if (strain && !(k->value = TL_NEW_ZERO(float, k->vertices + 1))) return no_memory(err);
        out->soft[b] = (tl_scene_soft){.body = lg->body[b].body,
                                       .vertices = k->vertices,
                                       .triangles = k->triangles,
                                       .at = k->at,
                                       .normal = k->normal,
                                       .rest = k->rest,
                                       .value = k->value,
                                       .triangle = (const int32_t(*)[3])k->triangle};
    }
    tl_softs_pose(out, lg->rest);
    return TALUS_OK;
}

void tl_softs_free(tl_softs *f)
{
    for (int b = 0; b < f->count; b++) {
        tl_soft_skin *k = &f->skin[b];
        void *const blocks[] = {k->rest, k->straight, k->tie, k->triangle, k->at, k->normal, k->value};
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) tl_free(blocks[i]);
    }
    tl_free(f->soft);
    tl_free(f->skin);
    tl_free(f->turn);
    tl_free(f->strain);
    *f = (tl_softs){0};
}

/* ---- a state ---- */

/* Mean over the elements around each node of V cof(F), which turns areas and so normals. */
static void turn_nodes(tl_softs *f, const tl_lg_body *b, const double *q)
{
    const tl_lg *lg = f->lg;
    for (int32_t i = b->node; i < b->node + b->nodes; i++) f->turn[i] = tl_mat3_zero();
    for (int32_t e = b->batch; e < b->batch + b->batches; e++)
        for (int l = 0; l < TL_LG_LANES; l++) {
            const tl_lg_tets *t = &lg->tets[e];
            if (!(t->V[l] > 0)) continue;
            tl_vec3 x0 = tl_vec3_load(q + 3 * (int64_t)t->node[0][l]);
            tl_vec3 row[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, col[3];
            for (int k = 0; k < 3; k++) {
                tl_vec3 d = tl_vec3_sub(tl_vec3_load(q + 3 * (int64_t)t->node[k + 1][l]), x0);
                for (int j = 0; j < 3; j++)
                    row[j] = tl_vec3_add_scaled(row[j], t->B[3 * k + j][l], d); /* columns of F */
            }
            for (int j = 0; j < 3; j++) col[j] = tl_vec3_cross(row[(j + 1) % 3], row[(j + 2) % 3]);
            for (int c = 0; c < 4; c++)
                for (int j = 0; j < 3; j++) {
                    tl_mat3 *m = &f->turn[t->node[c][l]];
                    m->m[0][j] += t->V[l] * col[j].x;
                    m->m[1][j] += t->V[l] * col[j].y;
                    m->m[2][j] += t->V[l] * col[j].z;
                }
        }
}

static void bend_normals(tl_softs *f, tl_soft_skin *k, const double *q)
{
    turn_nodes(f, &f->lg->body[k->body], q);
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < k->vertices; i++) {
        tl_vec3 n = {0, 0, 0};
        for (int c = 0; c < 4 && k->tie[i].node[c] >= 0; c++) {
            const tl_mat3 *m = &f->turn[k->tie[i].node[c]];
            n = tl_vec3_add_scaled(n, k->tie[i].weight[c], tl_mat3_mul_vec(*m, k->straight[i]));
        }
        k->normal[i] = tl_vec3_normalize_or(n, k->straight[i]);
    }
}

static void average_normals(tl_soft_skin *k)
{
    for (int32_t i = 0; i < k->vertices; i++) k->normal[i] = (tl_vec3){0, 0, 0};
    for (int32_t t = 0; t < k->triangles; t++) {
        const int32_t *v = k->triangle[t];
        tl_vec3 n = tl_vec3_cross(tl_vec3_sub(k->at[v[1]], k->at[v[0]]), tl_vec3_sub(k->at[v[2]], k->at[v[0]]));
        for (int c = 0; c < 3; c++) k->normal[v[c]] = tl_vec3_add(k->normal[v[c]], n);
    }
    for (int32_t i = 0; i < k->vertices; i++) k->normal[i] = tl_vec3_normalize_or(k->normal[i], (tl_vec3){0, 1, 0});
}

/* Largest |stretch - 1| of each tetrahedron, to its nodes by volume. */
static void strain_nodes(tl_softs *f, const double *q)
{
    const tl_lg *lg = f->lg;
    memset(f->strain, 0, 2 * sizeof *f->strain * (size_t)lg->nodes);
    for (int32_t e = 0; e < lg->tet_batches; e++)
        for (int l = 0; l < TL_LG_LANES; l++) {
            const tl_lg_tets *t = &lg->tets[e];
            if (!(t->V[l] > 0)) continue;
            tl_vec3 x0 = tl_vec3_load(q + 3 * (int64_t)t->node[0][l]);
            tl_mat3 F = tl_mat3_zero(), U, V;
            double s[3], max = 0;
            for (int k = 0; k < 3; k++) {
                tl_vec3 d = tl_vec3_sub(tl_vec3_load(q + 3 * (int64_t)t->node[k + 1][l]), x0);
                tl_vec3 B = {t->B[3 * k][l], t->B[3 * k + 1][l], t->B[3 * k + 2][l]};
                F = tl_mat3_add(F, tl_mat3_outer(d, B));
            }
            tl_svd3(F, &U, s, &V);
            for (int k = 0; k < 3; k++) max = fmax(max, fabs(s[k] - 1));
            for (int c = 0; c < 4; c++) {
                double *sum = f->strain + 2 * (int64_t)t->node[c][l];
                sum[0] += t->V[l] * max;
                sum[1] += t->V[l];
            }
        }
}

static void strain_skin(const tl_softs *f, tl_soft_skin *k)
{
    for (int32_t i = 0; i < k->vertices; i++) {
        double value = 0;
        for (int c = 0; c < 4 && k->tie[i].node[c] >= 0; c++) {
            const double *sum = f->strain + 2 * (int64_t)k->tie[i].node[c];
            if (sum[1] > 0) value += k->tie[i].weight[c] * sum[0] / sum[1];
        }
        k->value[i] = (float)fmax(value, 0);
    }
}

void tl_softs_pose(tl_softs *f, const double *q)
{
    if (f->strain) strain_nodes(f, q);
    for (int b = 0; b < f->count; b++) {
        tl_soft_skin *k = &f->skin[b];
        for (int32_t i = 0; i < k->vertices; i++) k->at[i] = tl_lg_point_at(&k->tie[i], q);
        if (k->straight)
            bend_normals(f, k, q);
        else
            average_normals(k);
        if (k->value) strain_skin(f, k);
    }
}
