#include "api/run_folder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/scene.h"
#include "base/alloc.h"
#include "io/vtk.h"
#include "io/vtk_lg.h"

static talus_status load_scene(tl_run_folder *f, const char *folder, const tl_run_record *r,
                               const talus_scene_options *where, talus_error *err)
{
    talus_scene_options o = where ? *where : talus_scene_options_default();
    tl_load_options load;
    char hash[24];
    if (!*r->scene_file) return TL_FAIL(err, TALUS_BAD_INPUT, "%s/run.json does not name a scene", folder);
    if (*r->size) o.size = r->size;
    o.settings = r->settings;
    o.setting = r->setting;
    TL_TRY(tl_scene_options_from(&o, &load, err));
    TL_TRY(tl_scene_load(&f->scene, r->scene_file, &load, err));
    snprintf(hash, sizeof hash, "%016" PRIx64, f->scene->hash);
    if (*r->scene_hash && strcmp(hash, r->scene_hash))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s has changed since the run in %s was made; run it again", r->scene_file,
                       folder);
    return TALUS_OK;
}

/* Meshing is the same on every run of a build, so nodes have the numbers that the run gave them. */
static talus_status mesh_elastic(tl_run_folder *f, talus_error *err)
{
    if (f->scene->engine != TL_ENGINE_LG) return TALUS_OK;
    TL_TRY(tl_lg_from_scene(&f->lg, f->scene, NULL, err));
    f->q = TL_NEW(double, 3 * (int64_t)f->lg.nodes + 1);
    f->v = TL_NEW(double, 3 * (int64_t)f->lg.nodes + 1);
    return f->q && f->v ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d elastic nodes", f->lg.nodes);
}

talus_status tl_run_folder_nodes(tl_run_folder *f, int64_t frame, talus_error *err)
{
    char path[1200], frames[1120];
    if (f->lg.nodes == 0) return TALUS_OK;
    snprintf(frames, sizeof frames, "%s/frames", f->folder);
    tl_frame_path(path, sizeof path, frames, "nodes", frame, "vtp");
    return tl_vtk_nodes_read(path, f->lg.nodes, f->q, f->v, err);
}

static talus_status open_all(tl_run_folder *f, const char *folder, const tl_run_record *r,
                             const talus_scene_options *where, talus_error *err)
{
    char path[1200];
    TL_TRY(load_scene(f, folder, r, where, err));
    f->rows = TL_NEW(tl_body_row, f->scene->body_count + 1);
    if (!f->rows) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to read %s", folder);
    snprintf(path, sizeof path, "%s/bodies.csv", folder);
    TL_TRY(tl_body_table_open(&f->table, path, f->scene->body_count, err));
    if (tl_body_table_frames(f->table) == 0) return TL_FAIL(err, TALUS_BAD_INPUT, "%s has no frame yet", folder);
    snprintf(f->folder, sizeof f->folder, "%s", folder);
    return mesh_elastic(f, err);
}

talus_status tl_run_folder_open(tl_run_folder *out, const char *folder, const talus_scene_options *where,
                                talus_error *err)
{
    char path[1200];
    tl_run_record r = {0};
    *out = (tl_run_folder){0};
    if (snprintf(path, sizeof path, "%s/run.json", folder) >= 1100)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the path '%.60s...' is too long", folder);
    TL_TRY(tl_run_json_read(&r, path, err));
    talus_status status = open_all(out, folder, &r, where, err);
    tl_run_record_free(&r);
    if (status != TALUS_OK) tl_run_folder_close(out);
    return status;
}

void tl_run_folder_close(tl_run_folder *f)
{
    tl_body_table_close(f->table);
    tl_free(f->rows);
    tl_lg_free(&f->lg);
    tl_free(f->q);
    tl_free(f->v);
    tl_scene_free(f->scene);
    *f = (tl_run_folder){0};
}

talus_status tl_make_folder(const char *path, talus_error *err)
{
    struct stat s;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &s) == 0 && S_ISDIR(s.st_mode))) return TALUS_OK;
    return TL_FAIL(err, TALUS_IO, "cannot make the folder %s: %s", path, strerror(errno));
}
