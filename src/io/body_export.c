#include "io/body_export.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/replace.h"
#include "base/text.h"

/* What is written of a body: a mesh that follows its pose, or the surface of an elastic one, which is where it is. */
typedef struct piece {
    int32_t vertices, triangles;
    const tl_trimesh *mesh; /* NULL: elastic */
    const tl_lg_body *soft; /* NULL: a mesh */
} piece;

static piece piece_of(const tl_body_scene *s, int body)
{
    for (int b = 0; s->lg && b < s->lg->bodies; b++) {
        const tl_lg_body *soft = &s->lg->body[b];
        if (soft->body != body) continue;
        int32_t vertices = 0;
        for (int32_t i = soft->node; i < soft->node + soft->nodes; i++) vertices += s->rank[i] >= 0;
        return (piece){vertices, soft->triangles, NULL, soft};
    }
    const tl_trimesh *m = s->mesh->of_body[body] >= 0 ? &s->mesh->mesh[s->mesh->of_body[body]] : NULL;
    return m ? (piece){m->vertices, m->triangles, m, NULL} : (piece){0, 0, NULL, NULL};
}

/* Of the origin of the shape's frame. */
static tl_vec3 frame_velocity(const tl_body_scene *s, const tl_body_row *row, int body)
{
    tl_vec3 arm = tl_quat_rotate(row->pose.rotation, s->centre[body]);
    return tl_vec3_sub(row->velocity, tl_vec3_cross(row->spin, arm));
}

/* Calls `put` for each vertex of a body, in the order that triangles count them. */
static void each_vertex(FILE *f, const tl_body_scene *s, const tl_body_row *rows, int body,
                        void (*put)(FILE *f, tl_vec3 at, tl_vec3 v, int32_t id))
{
    piece p = piece_of(s, body);
    for (int32_t i = p.soft ? p.soft->node : 0; p.soft && i < p.soft->node + p.soft->nodes; i++)
        if (s->rank[i] >= 0) put(f, tl_vec3_load(s->q + 3 * (int64_t)i), tl_vec3_load(s->v + 3 * (int64_t)i), i);
    if (!p.mesh) return;
    tl_vec3 v = frame_velocity(s, &rows[body], body);
    for (int32_t k = 0; k < p.vertices; k++) {
        tl_vec3 at = tl_pose_apply(&rows[body].pose, p.mesh->vertex[k]);
        put(f, at, tl_vec3_add(v, tl_vec3_cross(rows[body].spin, tl_vec3_sub(at, rows[body].pose.at))), k);
    }
}

static void triangle_of(const tl_body_scene *s, const piece *p, int32_t k, int32_t out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = p->soft ? s->rank[s->lg->surface[p->soft->triangle + k][c]] : p->mesh->triangle[k][c];
}

/* ---- ply ---- */

static void ply_vertex(FILE *f, tl_vec3 at, tl_vec3 v, int32_t id)
{
    double place[3] = {at.x, at.y, at.z};
    float speed[3] = {(float)v.x, (float)v.y, (float)v.z};
    fwrite(place, sizeof place, 1, f);
    fwrite(speed, sizeof speed, 1, f);
    fwrite(&id, sizeof id, 1, f);
}

static void ply_faces(FILE *f, const tl_body_scene *s)
{
    int32_t first = 0;
    for (int32_t i = 0; i < s->scene->body_count; i++) {
        piece p = piece_of(s, i);
        for (int32_t k = 0; k < p.triangles; k++) {
            unsigned char three = 3;
            int32_t face[4] = {0, 0, 0, i};
            triangle_of(s, &p, k, face);
            for (int c = 0; c < 3; c++) face[c] += first;
            fwrite(&three, 1, 1, f);
            fwrite(face, sizeof face, 1, f);
        }
        first += p.vertices;
    }
}

/* Numbers as they lie in memory: little endian, like every machine that talus runs on. */
static void write_ply(FILE *f, const tl_body_scene *s, double t, const tl_body_row *rows)
{
    int64_t points = 0, triangles = 0;
    for (int i = 0; i < s->scene->body_count; i++) {
        piece p = piece_of(s, i);
        points += p.vertices, triangles += p.triangles;
    }
    fprintf(f,
            "ply\nformat binary_little_endian 1.0\ncomment talus, t = %.9g s, metres\nelement vertex %lld\n"
            "property double x\nproperty double y\nproperty double z\nproperty float vx\nproperty float vy\n"
            "property float vz\nproperty int id\nelement face %lld\nproperty list uchar int vertex_indices\n"
            "property int body\nend_header\n",
            t, (long long)points, (long long)triangles);
    for (int i = 0; i < s->scene->body_count; i++) each_vertex(f, s, rows, i, ply_vertex);
    ply_faces(f, s);
}

/* ---- obj ---- */

static void obj_vertex(FILE *f, tl_vec3 at, tl_vec3 v, int32_t id)
{
    (void)v, (void)id;
    fprintf(f, "v %.17g %.17g %.17g\n", at.x, at.y, at.z);
}

/* Names of objects end at a blank in most readers. */
static void put_name(FILE *f, const char *name)
{
    for (; *name; name++) fputc(*name > ' ' && *name < 0x7f ? *name : '_', f);
}

static void write_obj(FILE *f, const tl_body_scene *s, double t, const tl_body_row *rows)
{
    int32_t first = 1;
    fprintf(f, "# talus, t = %.9g s, metres\n", t);
    for (int i = 0; i < s->scene->body_count; i++) {
        piece p = piece_of(s, i);
        if (!p.triangles) continue;
        fputs("o ", f);
        put_name(f, s->scene->bodies[i].name);
        fputc('\n', f);
        each_vertex(f, s, rows, i, obj_vertex);
        for (int32_t k = 0; k < p.triangles; k++) {
            int32_t face[3];
            triangle_of(s, &p, k, face);
            fprintf(f, "f %d %d %d\n", first + face[0], first + face[1], first + face[2]);
        }
        first += p.vertices;
    }
}

static talus_status to_file(const char *path, void (*write)(FILE *, const tl_body_scene *, double, const tl_body_row *),
                            const tl_body_scene *s, double t, const tl_body_row *rows, talus_error *err)
{
    tl_replace r;
    TL_TRY(tl_replace_begin(&r, path, err));
    FILE *f = fopen(r.temp, "wb");
    bool good = f != NULL;
    int why = errno;
    if (f) {
        tl_c_numbers numbers = tl_c_numbers_begin();
        write(f, s, t, rows);
        tl_c_numbers_end(numbers);
        if (ferror(f)) good = false, why = errno;
        if (fclose(f) != 0 && good) good = false, why = errno;
    }
    if (good) return tl_replace_commit(&r, err);
    tl_replace_discard(&r);
    return TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", path, strerror(why));
}

static talus_status ply(const char *path, const tl_body_scene *s, double t, const tl_body_row *rows, talus_error *err)
{
    return to_file(path, write_ply, s, t, rows, err);
}

static talus_status obj(const char *path, const tl_body_scene *s, double t, const tl_body_row *rows, talus_error *err)
{
    return to_file(path, write_obj, s, t, rows, err);
}

/* ---- vtk: a state with the frames' origins for centres ---- */

static talus_status vtk(const char *path, const tl_body_scene *s, double t, const tl_body_row *rows, talus_error *err)
{
    int bodies = s->scene->body_count;
    tl_rigid rigid = {.count = bodies, .scene_count = bodies, .body = TL_NEW_ZERO(tl_rigid_body, bodies + 1)};
    tl_state state = {.t = t, .rigid = {.count = bodies, .body = TL_NEW_ZERO(tl_motion, bodies + 1)}};
    talus_status status = TALUS_OK;
    if (!rigid.body || !state.rigid.body) status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write %s", path);
    for (int i = 0; i < bodies && status == TALUS_OK; i++)
        state.rigid.body[i] = (tl_motion){
            .x = rows[i].pose.at, .q = rows[i].pose.rotation, .v = frame_velocity(s, &rows[i], i), .w = rows[i].spin};
    if (status == TALUS_OK) status = tl_vtk_bodies(path, s->mesh, s->scene, &rigid, &state, err);
    tl_free(rigid.body);
    tl_free(state.rigid.body);
    return status;
}

const tl_body_format *tl_body_format_at(int i)
{
    static const tl_body_format formats[] = {{"ply", "ply", ply}, {"obj", "obj", obj}, {"vtk", "vtp", vtk}};
    return i >= 0 && i < (int)(sizeof formats / sizeof formats[0]) ? &formats[i] : NULL;
}
