#include "io/vtk_rigid.h"

#include <string.h>

#include "base/alloc.h"
#include "geom/shape_node.h"
#include "geom/surface.h"
#include "geom/trimesh_make.h"
#include "io/vtk.h"
#include "model/rigid/joints.h"

/* Chosen: edges across a surface, fewer when bodies are many, so that a frame of a thousand stays below 30 MB; thin
 * parts get up to half as many more. */
static double cells_across(int bodies) { return fmax(8, fmin(32, 100 / sqrt(bodies))); }

#define CELLS_MAX 256
#define MANY 100     /* bodies from which spheres have 320 triangles instead of 1280 */
#define ROUNDING 0.1 /* of its smallest edge: a box rounded by less is shown with sharp edges */

/* ---- one surface per shape ---- */

static talus_status mesh_of_box(const tl_shape_node *n, tl_trimesh *out, talus_error *err)
{
    return tl_trimesh_box(out, tl_vec3_sub(n->box.hi, n->box.lo), 1, err);
}

static bool is_sharp_box(const tl_shape_node *n)
{
    tl_vec3 size = tl_vec3_sub(n->box.hi, n->box.lo);
    return n->op == OP_BOX && n->r <= ROUNDING * fmin(size.x, fmin(size.y, size.z));
}

static talus_status mesh_of_shape(const tl_shape_tree *t, int node, int bodies, tl_trimesh *out, talus_error *err)
{
    const tl_shape_node *n = &t->node[node];
    if (is_sharp_box(n)) return mesh_of_box(n, out, err);
    if (n->op == OP_SPHERE) return tl_trimesh_icosphere(out, n->r, bodies > MANY ? 2 : 3, err);
    tl_box3 b = tl_shape_bounds(t, node);
    double longest = tl_vec3_max_abs(tl_vec3_sub(b.hi, b.lo)), edge = longest / cells_across(bodies),
           feature = tl_shape_feature_size(t, node);
    if (feature > 0) edge = fmax(fmin(edge, feature / 1.5), edge / 1.5);
    talus_status status = tl_surface_march(t, node, edge, out, err);
    if (status == TALUS_BAD_INPUT && feature > 0 && feature < edge) /* thinner than the lattice all over */
        status = tl_surface_march(t, node, fmax(feature / 2, longest / CELLS_MAX), out, err);
    return status;
}

talus_status tl_body_meshes_create(tl_body_meshes *out, const tl_scene *s, talus_error *err)
{
    *out =
        (tl_body_meshes){.mesh = TL_NEW_ZERO(tl_trimesh, s->body_count + 1), .of_body = TL_NEW(int, s->body_count + 1)};
    int nodes = tl_shape_node_count(s->shapes);
    int *seen = TL_NEW(int, nodes + 1);
    talus_status status = TALUS_OK;
    if (!out->mesh || !out->of_body || !seen)
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the surfaces of %d bodies", s->body_count);
    for (int i = 0; i < nodes && status == TALUS_OK; i++) seen[i] = -1;
    for (int i = 0; i < s->body_count && status == TALUS_OK; i++) {
        int node = s->bodies[i].shape;
        out->of_body[i] = -1;
        bool soft = s->bodies[i].material >= 0 && s->materials[s->bodies[i].material].kind == TL_MATERIAL_ELASTIC;
        if (soft || !tl_shape_bounded(s->shapes, node)) continue;
        if (seen[node] < 0) {
            status = mesh_of_shape(s->shapes, node, s->body_count, &out->mesh[out->count], err);
            if (status == TALUS_OK) seen[node] = out->count++;
        }
        out->of_body[i] = seen[node];
    }
    tl_free(seen);
    if (status != TALUS_OK) tl_body_meshes_free(out);
    return status;
}

void tl_body_meshes_free(tl_body_meshes *m)
{
    for (int i = 0; i < m->count; i++) tl_trimesh_free(&m->mesh[i]);
    tl_free(m->mesh);
    tl_free(m->of_body);
    *m = (tl_body_meshes){0};
}

/* ---- bodies ---- */

void tl_body_surface_free(tl_body_surface *f)
{
    tl_free(f->at);
    tl_free(f->velocity);
    tl_free(f->triangle);
    tl_free(f->body);
    *f = (tl_body_surface){0};
}

static void store(tl_vec3 v, float out[3]) { out[0] = (float)v.x, out[1] = (float)v.y, out[2] = (float)v.z; }

static void add_body(tl_body_surface *f, const tl_trimesh *m, const tl_rigid_body *b, const tl_motion *motion,
                     int32_t body)
{
    tl_pose pose = tl_rigid_pose(b, motion);
    tl_mat3 R = tl_quat_to_mat3(pose.rotation);
    for (int32_t i = 0; i < m->vertices; i++) {
        tl_vec3 p = tl_vec3_add(pose.at, tl_mat3_mul_vec(R, m->vertex[i]));
        store(p, f->at[f->points + i]);
        store(tl_vec3_add(motion->v, tl_vec3_cross(motion->w, tl_vec3_sub(p, motion->x))), f->velocity[f->points + i]);
    }
    for (int32_t i = 0; i < m->triangles; i++) {
        for (int k = 0; k < 3; k++) f->triangle[f->triangles + i][k] = (int32_t)f->points + m->triangle[i][k];
        f->body[f->triangles + i] = body;
    }
    f->points += m->vertices;
    f->triangles += m->triangles;
}

static talus_status take_room(tl_body_surface *f, const tl_body_meshes *m, const tl_scene *scene, talus_error *err)
{
    int64_t points = 0, triangles = 0;
    for (int i = 0; i < scene->body_count; i++)
        if (m->of_body[i] >= 0) {
            points += m->mesh[m->of_body[i]].vertices;
            triangles += m->mesh[m->of_body[i]].triangles;
        }
    f->at = tl_alloc(sizeof *f->at * (size_t)(points + 1));
    f->velocity = tl_alloc(sizeof *f->velocity * (size_t)(points + 1));
    f->triangle = tl_alloc(sizeof *f->triangle * (size_t)(triangles + 1));
    f->body = tl_alloc(sizeof *f->body * (size_t)(triangles + 1));
    if (f->at && f->velocity && f->triangle && f->body) return TALUS_OK;
    tl_body_surface_free(f);
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a frame of %lld triangles", (long long)triangles);
}

talus_status tl_body_surface_make(tl_body_surface *out, const tl_body_meshes *m, const tl_scene *scene,
                                  const tl_rigid *rigid, const tl_state *s, talus_error *err)
{
    *out = (tl_body_surface){0};
    TL_TRY(take_room(out, m, scene, err));
    for (int i = 0; i < scene->body_count; i++)
        if (m->of_body[i] >= 0) add_body(out, &m->mesh[m->of_body[i]], &rigid->body[i], &s->rigid.body[i], (int32_t)i);
    return TALUS_OK;
}

talus_status tl_vtk_bodies(const char *path, const tl_body_meshes *m, const tl_scene *scene, const tl_rigid *rigid,
                           const tl_state *s, talus_error *err)
{
    tl_body_surface f;
    const char **name = tl_alloc(sizeof *name * (size_t)(scene->body_count + 1));
    if (!name) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a frame of %d bodies", scene->body_count);
    talus_status status = tl_body_surface_make(&f, m, scene, rigid, s, err);
    if (status == TALUS_OK) {
        for (int i = 0; i < scene->body_count; i++) name[i] = scene->bodies[i].name;
        tl_vtk_poly p = {.t = s->t,
                         .points = f.points,
                         .type = TL_NUMBER_F32,
                         .at = f.at,
                         .triangles = f.triangles,
                         .triangle = (const int32_t(*)[3])f.triangle,
                         .point_arrays = 1,
                         .cell_arrays = 1,
                         .point = {{"velocity", TL_NUMBER_F32, 3, f.velocity}},
                         .cell = {{"body", TL_NUMBER_I32, 1, f.body}},
                         .names = scene->body_count,
                         .name = scene->body_count ? name : NULL};
        status = tl_vtk_write(path, &p, err);
    }
    tl_body_surface_free(&f);
    tl_free(name);
    return status;
}

/* ---- contacts ---- */

talus_status tl_vtk_contacts(const char *path, double t, int64_t contacts, const tl_contact_row *row, talus_error *err)
{
    size_t count = (size_t)contacts;
    double(*value)[10] = tl_alloc(sizeof *value * (count + 1)); /* at, normal, force, gap: each array in a row */
    int32_t(*pair)[2] = tl_alloc(sizeof *pair * (count + 1));
    talus_status status = TALUS_OK;
    if (!value || !pair) status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a frame of %zu contacts", count);
    if (status == TALUS_OK) {
        double *at = value[0], *normal = at + 3 * count, *force = normal + 3 * count, *gap = force + 3 * count;
        for (size_t i = 0; i < count; i++) {
            tl_vec3_store(row[i].at, at + 3 * i);
            tl_vec3_store(row[i].normal, normal + 3 * i);
            tl_vec3_store(row[i].force, force + 3 * i);
            gap[i] = row[i].gap;
            memcpy(pair[i], row[i].body, sizeof pair[i]);
        }
        tl_vtk_poly p = {.t = t,
                         .points = contacts,
                         .type = TL_NUMBER_F64,
                         .at = at,
                         .point_arrays = 4,
                         .point = {{"normal", TL_NUMBER_F64, 3, normal},
                                   {"force", TL_NUMBER_F64, 3, force},
                                   {"gap", TL_NUMBER_F64, 1, gap},
                                   {"bodies", TL_NUMBER_I32, 2, pair}}};
        status = tl_vtk_write(path, &p, err);
    }
    tl_free(value);
    tl_free(pair);
    return status;
}

/* ---- joints ---- */

talus_status tl_vtk_joints(const char *path, const tl_scene *scene, const tl_state *s, talus_error *err)
{
    const tl_joint_state *joints = tl_state_find(s, &tl_joints_kind);
    const size_t count = (size_t)scene->joint_count;
    double(*value)[12] = tl_alloc(sizeof *value * (count + 1)); /* each array in a row */
    int32_t(*word)[4] = tl_alloc(sizeof *word * (count + 1));
    const char **name = tl_alloc(sizeof *name * (count + 1));
    talus_status status = TALUS_OK;
    if (!value || !word || !name) status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a frame of %zu joints", count);
    if (status == TALUS_OK) {
        double *at = value[0], *force = at + 3 * count, *torque = force + 3 * count, *along = torque + 3 * count,
               *speed = along + count, *motor = speed + count;
        int32_t *kind = word[0], *broken = kind + count, *pair = broken + count;
        for (size_t k = 0; k < count; k++) {
            const tl_joint_memory *m = &joints->joint[k];
            tl_vec3_store(m->at, at + 3 * k);
            tl_vec3_store(m->on_a, force + 3 * k);
            tl_vec3_store(m->torque_on_a, torque + 3 * k);
            along[k] = m->position, speed[k] = m->speed, motor[k] = m->motor;
            kind[k] = scene->joints[k].kind, broken[k] = m->broken > 0;
            memcpy(pair + 2 * k, scene->joints[k].body, 2 * sizeof *pair);
            name[k] = scene->joints[k].name;
        }
        tl_vtk_poly p = {.t = s->t,
                         .points = (int64_t)count,
                         .type = TL_NUMBER_F64,
                         .at = at,
                         .point_arrays = 8,
                         .point = {{"force", TL_NUMBER_F64, 3, force},
                                   {"torque", TL_NUMBER_F64, 3, torque},
                                   {"coordinate", TL_NUMBER_F64, 1, along},
                                   {"speed", TL_NUMBER_F64, 1, speed},
                                   {"motor", TL_NUMBER_F64, 1, motor},
                                   {"kind", TL_NUMBER_I32, 1, kind},
                                   {"broken", TL_NUMBER_I32, 1, broken},
                                   {"bodies", TL_NUMBER_I32, 2, pair}},
                         .names = (int64_t)count,
                         .name = name};
        status = tl_vtk_write(path, &p, err);
    }
    tl_free(value);
    tl_free(word);
    tl_free(name);
    return status;
}
