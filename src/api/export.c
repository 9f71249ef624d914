#include <stdio.h>
#include <string.h>
#include <talus/run.h>

#include "api/need.h"
#include "api/run_folder.h"
#include "base/alloc.h"
#include "base/text.h"
#include "io/body_export.h"
#include "io/vtk.h"
#include "io/vtk_lg.h"
#include "run/clouds.h"

#define MASS_CELLS                                                                                                     \
    32 /* of the lattice that finds the centre of mass of an odd shape: velocities need it to a percent */

static talus_status find_format(const char *name, const tl_body_format **out, talus_error *err)
{
    char list[80] = "";
    for (int i = 0; (*out = tl_body_format_at(i)); i++) {
        if (!strcmp((*out)->name, name)) return TALUS_OK;
        snprintf(list + strlen(list), sizeof list - strlen(list), i ? ", %s" : "%s", (*out)->name);
    }
    return TL_FAIL(err, TALUS_BAD_INPUT, "no format '%.40s'; there are %s", name, list);
}

/* Centres of mass of what spins freely; scripted bodies go by their frame's origin. */
static talus_status find_centres(const tl_scene *s, tl_vec3 *centre, talus_error *err)
{
    for (int i = 0; i < s->body_count; i++) {
        tl_mass mass;
        centre[i] = (tl_vec3){0, 0, 0};
        int twin = 0;
        while (s->bodies[twin].shape != s->bodies[i].shape || s->bodies[twin].kind != s->bodies[i].kind) twin++;
        if (s->bodies[i].has_center) {
            centre[i] = s->bodies[i].center_of_mass;
        } else if (twin < i && !s->bodies[twin].has_center) {
            centre[i] = centre[twin];
        } else if (s->bodies[i].kind == TL_BODY_FREE) {
            TL_TRY(tl_shape_mass(s->shapes, s->bodies[i].shape, MASS_CELLS, &mass, err));
            centre[i] = mass.center;
        }
    }
    return TALUS_OK;
}

/* Surface nodes of each body, counted from 0; others -1. */
static void rank_nodes(const tl_lg *lg, int32_t *rank)
{
    for (int32_t i = 0; i < lg->nodes; i++) rank[i] = -1;
    for (int32_t t = 0; t < lg->surface_triangles; t++)
        for (int c = 0; c < 3; c++) rank[lg->surface[t][c]] = 0;
    for (int b = 0; b < lg->bodies; b++)
        for (int32_t i = lg->body[b].node, next = 0; i < lg->body[b].node + lg->body[b].nodes; i++)
            if (rank[i] == 0) rank[i] = next++;
}

static talus_status export_particles(const tl_clouds *c, const tl_body_format *format, int64_t number, double t,
                                     const char *output, talus_error *err)
{
    char path[1300];
    if (!c->count) return TALUS_OK;
    tl_frame_path(path, sizeof path, output, "particles", number, format->ending);
    if (!strcmp(format->name, "ply")) return tl_clouds_write_ply(path, c, err);
    return strcmp(format->name, "obj") ? tl_clouds_write(path, c, t, err) : tl_clouds_write_obj(path, c, err);
}

/* Files of VTK hold bodies and nodes apart, as those of a run do. */
static talus_status export_nodes(const tl_run_folder *f, const tl_body_format *format, int64_t number, double t,
                                 const char *output, talus_error *err)
{
    char path[1300];
    if (strcmp(format->name, "vtk") != 0 || !f->lg.nodes) return TALUS_OK;
    tl_frame_path(path, sizeof path, output, "nodes", number, format->ending);
    return tl_vtk_nodes(path, f->scene, &f->lg, NULL, t, f->q, f->v, err);
}

static talus_status export_frame(tl_run_folder *f, const tl_body_format *format, const tl_body_scene *s, int64_t i,
                                 const char *output, talus_error *err)
{
    char path[1300];
    int64_t number = f->frame[i].number;
    double t = 0;
    tl_clouds clouds;
    TL_TRY(tl_run_folder_read(f, i, &t, &clouds, err));
    tl_frame_path(path, sizeof path, output, "bodies", number, format->ending);
    talus_status status = f->scene->body_count ? format->write(path, s, t, f->rows, err) : TALUS_OK;
    if (status == TALUS_OK) status = export_particles(&clouds, format, number, t, output, err);
    if (status == TALUS_OK) status = export_nodes(f, format, number, t, output, err);
    tl_clouds_free(&clouds);
    return status;
}

static talus_status export_frames(tl_run_folder *f, const tl_body_format *format, const tl_body_scene *s, int only,
                                  const char *output, talus_error *err)
{
    int64_t first = 0, end = f->frames;
    if (only >= 0) {
        TL_TRY(tl_run_folder_find(f, only, &first, err));
        end = first + 1;
    }
    for (int64_t i = first; i < end; i++) TL_TRY(export_frame(f, format, s, i, output, err));
    return TALUS_OK;
}

talus_status talus_export(const char *folder, const char *format, int frame, const char *output,
                          const talus_scene_options *scene, talus_error *err)
{
    TL_NEED(folder);
    TL_NEED(format);
    TL_NEED(output);
    const tl_body_format *how;
    tl_run_folder f;
    tl_body_meshes meshes = {0};
    TL_TRY(find_format(format, &how, err));
    TL_TRY(tl_run_folder_open(&f, folder, scene, err));
    tl_vec3 *centre = TL_NEW(tl_vec3, f.scene->body_count + 1);
    int32_t *rank = TL_NEW(int32_t, f.lg.nodes + 1);
    talus_status status = centre && rank ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to export %s", folder);
    if (status == TALUS_OK) status = find_centres(f.scene, centre, err);
    if (status == TALUS_OK) status = tl_body_meshes_create(&meshes, f.scene, err);
    if (status == TALUS_OK) status = tl_make_folder(output, err);
    if (status == TALUS_OK) {
        tl_body_scene s = {f.scene, &meshes, centre, &f.lg, f.q, f.v, rank};
        rank_nodes(&f.lg, rank);
        status = export_frames(&f, how, &s, frame, output, err);
    }
    tl_body_meshes_free(&meshes);
    tl_free(centre);
    tl_free(rank);
    tl_run_folder_close(&f);
    return status;
}
