#include "io/body_export.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/replace.h"
#include "base/text.h"

static const tl_trimesh *mesh_of(const tl_body_scene *s, int body)
{
    return s->mesh->of_body[body] >= 0 ? &s->mesh->mesh[s->mesh->of_body[body]] : NULL;
}

static void count(const tl_body_scene *s, int64_t *points, int64_t *triangles)
{
    *points = *triangles = 0;
    for (int i = 0; i < s->scene->body_count; i++) {
        const tl_trimesh *m = mesh_of(s, i);
        if (m) *points += m->vertices, *triangles += m->triangles;
    }
}

/* Of the origin of the shape's frame. */
static tl_vec3 frame_velocity(const tl_body_scene *s, const tl_body_row *row, int body)
{
    tl_vec3 arm = tl_quat_rotate(row->pose.rotation, s->centre[body]);
    return tl_vec3_sub(row->velocity, tl_vec3_cross(row->spin, arm));
}

/* ---- ply ---- */

static void ply_vertices(FILE *f, const tl_body_scene *s, const tl_body_row *rows)
{
    for (int i = 0; i < s->scene->body_count; i++) {
        const tl_trimesh *m = mesh_of(s, i);
        tl_vec3 v = frame_velocity(s, &rows[i], i);
        for (int32_t k = 0; m && k < m->vertices; k++) {
            tl_vec3 p = tl_pose_apply(&rows[i].pose, m->vertex[k]);
            tl_vec3 u = tl_vec3_add(v, tl_vec3_cross(rows[i].spin, tl_vec3_sub(p, rows[i].pose.at)));
            double at[3] = {p.x, p.y, p.z};
            float speed[3] = {(float)u.x, (float)u.y, (float)u.z};
            fwrite(at, sizeof at, 1, f);
            fwrite(speed, sizeof speed, 1, f);
        }
    }
}

static void ply_faces(FILE *f, const tl_body_scene *s)
{
    int32_t first = 0;
    for (int32_t i = 0; i < s->scene->body_count; i++) {
        const tl_trimesh *m = mesh_of(s, i);
        for (int32_t k = 0; m && k < m->triangles; k++) {
            unsigned char three = 3;
            int32_t face[4] = {first + m->triangle[k][0], first + m->triangle[k][1], first + m->triangle[k][2], i};
            fwrite(&three, 1, 1, f);
            fwrite(face, sizeof face, 1, f);
        }
        if (m) first += m->vertices;
    }
}

/* Numbers as they lie in memory: little endian, like every machine that talus runs on. */
static void write_ply(FILE *f, const tl_body_scene *s, double t, const tl_body_row *rows)
{
    int64_t points, triangles;
    count(s, &points, &triangles);
    fprintf(f,
            "ply\nformat binary_little_endian 1.0\ncomment talus, t = %.9g s, metres\nelement vertex %lld\n"
            "property double x\nproperty double y\nproperty double z\nproperty float vx\nproperty float vy\n"
            "property float vz\nelement face %lld\nproperty list uchar int vertex_indices\nproperty int body\n"
            "end_header\n",
            t, (long long)points, (long long)triangles);
    ply_vertices(f, s, rows);
    ply_faces(f, s);
}

/* ---- obj ---- */

/* Names of objects end at a blank in most readers. */
static void put_name(FILE *f, const char *name)
{
    for (; *name; name++) fputc(*name > ' ' ? *name : '_', f);
}

static void write_obj(FILE *f, const tl_body_scene *s, double t, const tl_body_row *rows)
{
    int32_t first = 1;
    fprintf(f, "# talus, t = %.9g s, metres\n", t);
    for (int i = 0; i < s->scene->body_count; i++) {
        const tl_trimesh *m = mesh_of(s, i);
        if (!m) continue;
        fputs("o ", f);
        put_name(f, s->scene->bodies[i].name);
        fputc('\n', f);
        for (int32_t k = 0; k < m->vertices; k++) {
            tl_vec3 p = tl_pose_apply(&rows[i].pose, m->vertex[k]);
            fprintf(f, "v %.17g %.17g %.17g\n", p.x, p.y, p.z);
        }
        for (int32_t k = 0; k < m->triangles; k++)
            fprintf(f, "f %d %d %d\n", first + m->triangle[k][0], first + m->triangle[k][1], first + m->triangle[k][2]);
        first += m->vertices;
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
