/* Elastic bodies of a scene: meshes, anchors, handles. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "geom/tetmesh.h"
#include "geom/trimesh.h"
#include "model/lg/cells.h"
#include "model/lg/holds.h"
#include "model/lg/lg.h"
#include "model/lg/plan.h"

#define ON_SURFACE 1e-9    /* of its size: how near corners of a box are to its surface */
#define ANCHOR_WEIGHT 20.0 /* shear moduli times mean edge, per node: stiffer than what hangs on it */
#define NEARLY_VOLUME                                                                                                  \
    0.42 /* Poisson's ratio from which 8 rounds leave more than 3 % of a period. Measured at 0.3, 0.45, 0.49 */
#define ROUNDS_THERE 30   /* period of a cantilever of nu 0.45 within 1.5 % of Newton's, 8 % off at 0.49 */
#define ANCHOR_REACH 1e-9 /* of the body's size: nodes on the surface of an anchor are inside */

/* A part with the memory it stands on. */
typedef struct meshed {
    tl_vec3 *vertex;
    int32_t *element;
    tl_lg_anchor *anchor;
    int32_t *region;           /* [elements] of a file; NULL: none */
    double *stiffer, *heavier; /* [elements] NULL: none has a material of its own */
    bool *pressed;             /* [vertices] NULL: all */
    double edge;               /* mean, m */
} meshed;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for elastic bodies");
}

static bool is_elastic(const tl_scene *s, const tl_body *b)
{
    return b->material >= 0 && s->materials[b->material].kind == TL_MATERIAL_ELASTIC;
}

static talus_status body_failure(const tl_body *b, talus_status status, const char *why, talus_error *err)
{
    if (!b->where.file) return TL_FAIL(err, status, "body \"%.60s\": %.300s", b->name, why);
    return TL_FAIL(err, status, "%.120s:%d: body \"%.60s\": %.300s", b->where.file, b->where.line, b->name, why);
}

/* ---- meshes ---- */

static bool is_box(const tl_shape_tree *t, int node, tl_box3 b)
{
    double size = tl_vec3_norm(tl_vec3_sub(b.hi, b.lo));
    for (int k = 0; k < 8; k++) {
        tl_vec3 corner = {k & 1 ? b.hi.x : b.lo.x, k & 2 ? b.hi.y : b.lo.y, k & 4 ? b.hi.z : b.lo.z};
        if (!(fabs(tl_shape_distance(t, node, corner)) <= ON_SURFACE * size)) return false;
    }
    return tl_shape_distance(t, node, tl_vec3_scale(0.5, tl_vec3_add(b.lo, b.hi))) < 0;
}

static void take_mesh(const tl_lg_mesh *mesh, tl_lg_part *p, meshed *m)
{
    p->vertices = mesh->vertices;
    p->elements = mesh->elements;
    m->vertex = mesh->vertex;
    m->element = mesh->element;
}

static talus_status mesh_cloth(const tl_scene *s, const tl_body *b, tl_lg_part *p, meshed *m, talus_error *err)
{
    tl_box3 box = tl_shape_bounds(s->shapes, b->shape);
    p->kind = TL_LG_CLOTH;
    p->thickness = b->thickness;
    p->bending = b->bending == TL_BENDING_HINGE ? TL_LG_HINGE : b->bending == TL_BENDING_RING ? TL_LG_RING : TL_LG_LIMP;
    p->stiffness = b->bending_stiffness;
    tl_trimesh surface;
    bool from_file;
    TL_TRY(tl_shape_triangles(s->shapes, b->shape, &surface, &from_file, err));
    if (from_file) {
        m->vertex = surface.vertex;
        m->element = (int32_t *)surface.triangle;
        TL_TRY(tl_trimesh_drop_unused(&surface, err));
        p->vertices = surface.vertices;
        p->elements = surface.triangles;
        return TALUS_OK;
    }
    if (!is_box(s->shapes, b->shape, box))
        return body_failure(b, TALUS_BAD_INPUT, "a cloth's shape must be a flat box, a sheet or a mesh", err);
    double size[3] = {box.hi.x - box.lo.x, box.hi.y - box.lo.y, box.hi.z - box.lo.z};
    int flat = size[0] <= size[1] && size[0] <= size[2] ? 0
               : size[1] <= size[2]                     ? 1
                                                        : 2,
        u = (flat + 1) % 3, v = (flat + 2) % 3;
    if (!b->cells[u] != !b->cells[v])
        return body_failure(b, TALUS_BAD_INPUT, "a cloth's cells must be given along both of its edges", err);
    double edge = b->edge > 0 ? b->edge : fmin(size[u], size[v]) / 20; /* chosen: a coarse sheet unless asked */
    int nu = b->cells[u] ? b->cells[u] : (int)fmax(1, ceil(size[u] / edge)),
        nv = b->cells[v] ? b->cells[v] : (int)fmax(1, ceil(size[v] / edge));
    if ((double)nu * nv > 1e7) return body_failure(b, TALUS_BAD_INPUT, "more than 1e7 squares of cloth", err);
    tl_lg_mesh mesh;
    TL_TRY(tl_lg_sheet(box, flat, nu, nv, &mesh, err));
    take_mesh(&mesh, p, m);
    return TALUS_OK;
}

static talus_status mesh_solid(const tl_scene *s, const tl_body *b, tl_lg_part *p, meshed *m, talus_error *err)
{
    p->kind = TL_LG_TETS;
    if (b->cells[0] || b->cells[1] || b->cells[2]) {
        tl_box3 box = tl_shape_bounds(s->shapes, b->shape);
        if (!is_box(s->shapes, b->shape, box)) return body_failure(b, TALUS_BAD_INPUT, "cells are for boxes", err);
        if (!b->cells[0] || !b->cells[1] || !b->cells[2])
            return body_failure(b, TALUS_BAD_INPUT, "cells must be >= 1 along x, y and z", err);
        if ((double)b->cells[0] * b->cells[1] * b->cells[2] > 1e7)
            return body_failure(b, TALUS_BAD_INPUT, "more than 1e7 cells", err);
        /* finite elements of the grid engine make hexahedra of these cells themselves (model/elastic/fem.h) */
        const bool tets = b->element == 1 || s->engine == TL_ENGINE_GRID;
        tl_lg_mesh mesh;
        TL_TRY((tets ? tl_lg_bar : tl_lg_blocks)(box, b->cells, &mesh, err));
        take_mesh(&mesh, p, m);
        if (!tets) p->kind = TL_LG_HEXES;
        return TALUS_OK;
    }
    tl_tetmesh mesh = {0};
    talus_error why = {0};
    bool from_file = false;
    talus_status status = b->edge > 0 ? TALUS_OK : tl_shape_tets(s->shapes, b->shape, &mesh, &from_file, &why);
    if (status == TALUS_OK && !from_file) {
        double edge = b->edge > 0 ? b->edge : tl_lg_default_edge(s, b);
        status = tl_tetmesh_from_shape(s->shapes, b->shape, edge, &mesh, &why);
    }
    if (status != TALUS_OK) return body_failure(b, status, why.message, err);
    p->vertices = mesh.vertices;
    p->elements = mesh.tets;
    m->vertex = mesh.vertex;
    m->element = (int32_t *)mesh.tet;
    m->region = mesh.region;
    return TALUS_OK;
}

/* ---- regions ---- */

/* Energies are Young's modulus times a function of the strain and Poisson's ratio: a region has factors of its own. */
static talus_status give_region(const tl_scene *s, const tl_body *b, const tl_region *g, const tl_lg_part *p, meshed *m,
                                talus_error *err)
{
    const tl_material *mine = &s->materials[b->material], *its = &s->materials[g->material];
    char why[200];
    int32_t found = 0;
    if (its->model != mine->model || its->poisson != mine->poisson) {
        snprintf(why, sizeof why, "region %d must have the body's elastic model and its Poisson's ratio %g, got %g",
                 g->number, mine->poisson, its->poisson);
        return body_failure(b, TALUS_BAD_INPUT, why, err);
    }
    for (int32_t e = 0; e < p->elements && m->region; e++) {
        if (m->region[e] != g->number) continue;
        m->stiffer[e] = its->young / mine->young;
        m->heavier[e] = its->density / p->density;
        found++;
    }
    if (found) return TALUS_OK;
    snprintf(why, sizeof why, "region %d has none of its elements; %s", g->number,
             m->region ? "its file has other numbers" : "its shape is not a mesh of tetrahedra, or `edge` was given");
    return body_failure(b, TALUS_BAD_INPUT, why, err);
}

static talus_status give_regions(const tl_scene *s, const tl_body *b, tl_lg_part *p, meshed *m, talus_error *err)
{
    int mine = 0;
    for (int i = 0; i < s->region_count; i++) mine += !strcmp(s->regions[i].body, b->name);
    if (!mine) return TALUS_OK;
    m->stiffer = TL_NEW(double, p->elements);
    m->heavier = TL_NEW(double, p->elements);
    if (!m->stiffer || !m->heavier) return no_memory(err);
    for (int32_t e = 0; e < p->elements; e++) m->stiffer[e] = m->heavier[e] = 1;
    for (int i = 0; i < s->region_count; i++)
        if (!strcmp(s->regions[i].body, b->name)) TL_TRY(give_region(s, b, &s->regions[i], p, m, err));
    p->stiffer = m->stiffer;
    p->heavier = m->heavier;
    return TALUS_OK;
}

static double mean_edge(const tl_lg_part *p, const meshed *m)
{
    int c = p->kind == TL_LG_TETS ? 4 : p->kind == TL_LG_CLOTH ? 3 : 8;
    double sum = 0;
    for (int32_t e = 0; e < p->elements; e++)
        sum +=
            tl_vec3_norm(tl_vec3_sub(m->vertex[m->element[(int64_t)c * e]], m->vertex[m->element[(int64_t)c * e + 1]]));
    return p->elements ? sum / p->elements : 0;
}

/* ---- anchors ---- */

/* Of bodies with one name the first is meant: copies come after it (scene/own.h). */
static bool is_named(const tl_scene *s, const tl_body *b, const char *name)
{
    if (strcmp(name, b->name)) return false;
    for (const tl_body *before = s->bodies; before < b; before++)
        if (!strcmp(before->name, name)) return false;
    return true;
}

static talus_status hold(const tl_scene *s, const tl_body *b, const tl_pose *pose, int elastic, int bodies,
                         tl_lg_part *p, meshed *m, talus_error *err)
{
    const tl_material *mat = &s->materials[b->material];
    double weight = ANCHOR_WEIGHT * mat->young / (2 * (1 + mat->poisson)) * m->edge;
    if (p->kind == TL_LG_CLOTH) weight *= b->thickness / m->edge;
    tl_box3 box = tl_shape_bounds(s->shapes, b->shape);
    double reach = ANCHOR_REACH * tl_vec3_norm(tl_vec3_sub(box.hi, box.lo));
    m->anchor = TL_NEW(tl_lg_anchor, (int64_t)p->vertices * (1 + s->handle_count) + 1);
    if (!m->anchor) return no_memory(err);
    p->anchor = m->anchor;
    for (int32_t v = 0; v < p->vertices && b->anchor >= 0; v++)
        if (tl_shape_distance(s->shapes, b->anchor, m->vertex[v]) <= reach)
            m->anchor[p->anchors++] =
                (tl_lg_anchor){v, elastic, b->anchor_weight > 0 ? b->anchor_weight : weight, m->vertex[v]};
    if (b->anchor >= 0 && p->anchors == 0)
        return body_failure(b, TALUS_BAD_INPUT,
                            "its anchor holds none of its nodes; an anchor's shape is in the body's own frame", err);
    for (int h = 0; h < s->handle_count; h++) {
        const tl_handle *handle = &s->handles[h];
        if (!is_named(s, b, handle->body)) continue;
        int32_t before = p->anchors;
        for (int32_t v = 0; v < p->vertices; v++) {
            tl_vec3 world = tl_pose_apply(pose, m->vertex[v]);
            if (tl_shape_distance(s->shapes, handle->shape, world) <= reach)
                m->anchor[p->anchors++] = (tl_lg_anchor){v, bodies + h, handle->weight > 0 ? handle->weight : weight,
                                                         tl_vec3_sub(world, handle->at)};
        }
        if (p->anchors == before) return body_failure(b, TALUS_BAD_INPUT, "a handle holds none of its nodes", err);
    }
    return TALUS_OK;
}

/* What pressure acts on, where a scene asks for a part. */
static talus_status find_pressed(const tl_scene *s, const tl_body *b, tl_lg_part *p, meshed *m, talus_error *err)
{
    if (b->pressure_in < 0) return TALUS_OK;
    const tl_box3 box = tl_shape_bounds(s->shapes, b->shape);
    const double reach = ANCHOR_REACH * tl_vec3_norm(tl_vec3_sub(box.hi, box.lo));
    m->pressed = TL_NEW(bool, p->vertices + 1);
    if (!m->pressed) return no_memory(err);
    for (int32_t v = 0; v < p->vertices; v++)
        m->pressed[v] = tl_shape_distance(s->shapes, b->pressure_in, m->vertex[v]) <= reach;
    p->pressed = m->pressed;
    return TALUS_OK;
}

/* ---- the whole ---- */

static tl_lg_model model_of(const tl_material *m)
{
    return m->model == TL_ELASTIC_ARAP        ? TL_LG_ARAP
           : m->model == TL_ELASTIC_COROTATED ? TL_LG_COROTATED
                                              : TL_LG_NEO_HOOKEAN;
}

static tl_lg_scheme scheme_of(const tl_scene *s, tl_lg_model model)
{
    if (s->engine != TL_ENGINE_LG) return TL_LG_PROJECTIVE; /* no duals: elements are solved elsewhere */
    if (s->lg.local == TL_LG_LOCAL_NEWTON) return TL_LG_NEWTON;
    if (s->lg.local == TL_LG_LOCAL_PROX) return TL_LG_PROX;
    return model == TL_LG_ARAP ? TL_LG_PROJECTIVE : TL_LG_ADMM;
}

static talus_status add_part(const tl_scene *s, int body, int elastic, int bodies, tl_lg_part *p, meshed *m,
                             const tl_log *log, talus_error *err)
{
    const tl_body *b = &s->bodies[body];
    const tl_material *mat = &s->materials[b->material];
    *p = (tl_lg_part){.name = b->name,
                      .body = body,
                      .model = model_of(mat),
                      .young = mat->young,
                      .poisson = mat->poisson,
                      .density = b->density,
                      .velocity = b->velocity,
                      .spin = b->spin};
    p->scheme = scheme_of(s, p->model);
    if (log && s->engine == TL_ENGINE_LG && mat->model == TL_ELASTIC_STABLE_NEO_HOOKEAN)
        tl_log_write(log, 1, "body \"%s\": engine \"lg\" takes neo_hookean, the ln J form, for stable_neo_hookean",
                     b->name);
    if (log && b->thickness <= 0 && mat->poisson > NEARLY_VOLUME && p->scheme == TL_LG_ADMM &&
        s->lg.iterations < ROUNDS_THERE)
        tl_log_write(log, 0,
                     "body \"%s\": at a Poisson's ratio of %g rounds find forces slowly while something touches it; %d "
                     "are few, take "
                     "lg.iterations = %d",
                     b->name, mat->poisson, s->lg.iterations, ROUNDS_THERE);
    TL_TRY((b->thickness > 0 ? mesh_cloth : mesh_solid)(s, b, p, m, err));
    p->vertex = m->vertex;
    p->element = m->element;
    TL_TRY(give_regions(s, b, p, m, err));
    m->edge = mean_edge(p, m);
    TL_TRY(find_pressed(s, b, p, m, err));
    tl_pose pose = {b->at, tl_quat_normalize(b->rotation)};
    if (b->kind == TL_BODY_KINEMATIC && b->motion != TL_NO_FUNCTION) {
        double x[7];
        TL_TRY(tl_scene_evaluate(s, b->motion, 0, x, 7, err));
        pose = (tl_pose){{x[0], x[1], x[2]}, tl_quat_normalize((tl_quat){x[3], x[4], x[5], x[6]})};
    }
    p->rotation = pose.rotation;
    TL_TRY(hold(s, b, &pose, elastic, bodies, p, m, err));
    if (b->mass > 0) { /* spread over the mesh's own volume */
        double volume = 0;
        for (int32_t e = 0; e < p->elements; e++)
            volume += tl_lg_element_volume(p, e) * (m->heavier ? m->heavier[e] : 1);
        p->density = b->mass / volume;
    }
    for (int32_t v = 0; v < p->vertices; v++) m->vertex[v] = tl_pose_apply(&pose, m->vertex[v]);
    return TALUS_OK;
}

talus_status tl_lg_from_scene(tl_lg *out, const tl_scene *s, const tl_log *log, talus_error *err)
{
    int count = 0, made = 0;
    *out = (tl_lg){0};
    for (int i = 0; i < s->body_count; i++) count += is_elastic(s, &s->bodies[i]);
    tl_lg_part *part = TL_NEW_ZERO(tl_lg_part, count + 1);
    meshed *mesh = TL_NEW_ZERO(meshed, count + 1);
    talus_status status = part && mesh ? TALUS_OK : no_memory(err);
    for (int i = 0; i < s->body_count && status == TALUS_OK; i++) {
        if (!is_elastic(s, &s->bodies[i])) continue;
        status = add_part(s, i, made, count, &part[made], &mesh[made], log, err);
        made++;
    }
    if (status == TALUS_OK) status = tl_lg_create(out, count, part, count + s->handle_count, err);
    if (status == TALUS_OK) {
        status = tl_lg_holds_create(&out->holds, out, s, err);
        if (status != TALUS_OK) tl_lg_free(out);
    }
    for (int k = 0; k < made; k++) {
        tl_free(mesh[k].vertex);
        tl_free(mesh[k].element);
        tl_free(mesh[k].anchor);
        tl_free(mesh[k].region);
        tl_free(mesh[k].stiffer);
        tl_free(mesh[k].heavier);
        tl_free(mesh[k].pressed);
    }
    tl_free(part);
    tl_free(mesh);
    return status;
}

talus_status tl_lg_handle_poses(const tl_lg *lg, const tl_scene *s, double t, tl_pose *out, talus_error *err)
{
    for (int k = 0; k < lg->bodies + s->handle_count; k++) {
        const tl_body *b = k < lg->bodies ? &s->bodies[lg->body[k].body] : NULL;
        const tl_handle *h = b ? NULL : &s->handles[k - lg->bodies];
        int motion = b ? (b->kind == TL_BODY_KINEMATIC ? b->motion : TL_NO_FUNCTION) : h->motion;
        out[k] = b ? (tl_pose){b->at, tl_quat_normalize(b->rotation)} : (tl_pose){h->at, tl_quat_identity()};
        if (motion == TL_NO_FUNCTION) continue;
        double x[7];
        TL_TRY(tl_scene_evaluate(s, motion, t, x, 7, err));
        out[k] = (tl_pose){{x[0], x[1], x[2]}, tl_quat_normalize((tl_quat){x[3], x[4], x[5], x[6]})};
    }
    return TALUS_OK;
}

void tl_lg_lead(const tl_lg_state *now, bool end, tl_pose *pose)
{
    for (int64_t k = 0; k < now->handles; k++) {
        const double *x = now->led + 14 * k + (end ? 7 : 0);
        const tl_quat q = {x[3], x[4], x[5], x[6]};
        if (tl_quat_norm2(q) > 0) pose[k] = (tl_pose){{x[0], x[1], x[2]}, q};
    }
}

void tl_lg_led(tl_lg_state *s)
{
    for (int64_t k = 0; k < s->handles; k++) memcpy(s->led + 14 * k, s->led + 14 * k + 7, 7 * sizeof *s->led);
}
