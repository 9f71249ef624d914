#include "api/run_folder.h"
#include "io/joint_table.h"
#include "model/rigid/joints.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/scene.h"
#include "base/alloc.h"
#include "io/checkpoint.h"
#include "io/vtk.h"
#include "io/vtk_lg.h"
#include "phase/sim.h"

/* ---- the scene ---- */

static bool is_same(const tl_scene *s, const tl_run_record *r)
{
    char hash[24];
    snprintf(hash, sizeof hash, "%016" PRIx64, s->hash);
    return !*r->scene_hash || !strcmp(hash, r->scene_hash);
}

/* From the text in run.json, as if its file still lay where it did. *out NULL: that is not the scene that ran. */
static talus_status load_text(tl_scene **out, const tl_run_record *r, const tl_load_options *o, talus_error *err)
{
    char name[4400];
    tl_load_options quiet = *o;
    const char *slash = strrchr(r->scene_file, '/');
    *out = NULL;
    if (!*r->scene_text || !*r->scene_folder) return TALUS_OK;
    snprintf(name, sizeof name, "%.4095s/%.255s", r->scene_folder, slash ? slash + 1 : r->scene_file);
    quiet.problem = NULL; /* the file is next, and tells */
    quiet.print = NULL;
    talus_status status = tl_scene_load_text(out, name, r->scene_text, strlen(r->scene_text), &quiet, err);
    if (status == TALUS_NO_MEMORY || status == TALUS_OK) {
        if (!*out || is_same(*out, r)) return status;
        tl_scene_free(*out);
        *out = NULL;
    }
    return TALUS_OK;
}

static talus_status load_scene(tl_run_folder *f, const char *folder, const tl_run_record *r,
                               const talus_scene_options *where, talus_error *err)
{
    talus_scene_options o = where ? *where : talus_scene_options_default();
    tl_load_options load;
    char path[4400];
    if (!*r->scene_file) return TL_FAIL(err, TALUS_BAD_INPUT, "%s/run.json does not name a scene", folder);
    if (*r->size) o.size = r->size;
    o.settings = r->settings;
    o.setting = r->setting;
    TL_TRY(tl_scene_options_from(&o, &load, err));
    TL_TRY(load_text(&f->scene, r, &load, err));
    if (f->scene) return TALUS_OK;
    const char *slash = strrchr(r->scene_file, '/');
    snprintf(path, sizeof path, "%.4095s/%.255s", r->scene_folder, slash ? slash + 1 : r->scene_file);
    TL_TRY(tl_scene_load(&f->scene, *r->scene_folder ? path : r->scene_file, &load, err));
    if (is_same(f->scene, r)) return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT,
                   "%s or a file that it reads has changed since the run in %s was made; run it again", r->scene_file,
                   folder);
}

/* Meshing is the same on every run of a build, so nodes have the numbers that the run gave them. */
static talus_status mesh_elastic(tl_run_folder *f, talus_error *err)
{
    TL_TRY(tl_lg_from_scene(&f->lg, f->scene, NULL, err));
    if (f->lg.nodes == 0) return TALUS_OK;
    f->q = TL_NEW(double, 3 * (int64_t)f->lg.nodes + 1);
    f->v = TL_NEW(double, 3 * (int64_t)f->lg.nodes + 1);
    return f->q && f->v ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d elastic nodes", f->lg.nodes);
}

/* ---- which frames there are ---- */

/* N of GROUP-NNNN.ENDING; -1: another name. */
static int64_t number_of(const char *name, const char *group, const char *ending)
{
    size_t length = strlen(group);
    char *end;
    if (strncmp(name, group, length) || name[length] != '-' || name[length + 1] < '0' || name[length + 1] > '9')
        return -1;
    errno = 0;
    long long n = strtoll(name + length + 1, &end, 10);
    return !errno && *end == '.' && !strcmp(end + 1, ending) ? n : -1;
}

static int by_number(const void *a, const void *b)
{
    const tl_run_frame *p = a, *q = b;
    return (p->number > q->number) - (p->number < q->number);
}

static bool add_frame(tl_run_folder *f, int64_t *room, tl_run_frame frame)
{
    if (f->frames == *room) {
        int64_t larger = 2 * *room + 256;
        tl_run_frame *list = tl_realloc(f->frame, sizeof *list * (size_t)larger);
        if (!list) return false;
        f->frame = list;
        *room = larger;
    }
    f->frame[f->frames++] = frame;
    return true;
}

/* Frames by the names of their files, sorted. A folder that is not there has none. */
static talus_status list_files(tl_run_folder *f, const char *part, const char *group, const char *ending,
                               talus_error *err)
{
    char path[1200];
    int64_t room = 0;
    snprintf(path, sizeof path, "%s/%s", f->folder, part);
    DIR *dir = opendir(path);
    bool good = true;
    for (struct dirent *d; dir && good && (d = readdir(dir));) {
        int64_t n = number_of(d->d_name, group, ending);
        if (n >= 0) good = add_frame(f, &room, (tl_run_frame){.number = n, .row = -1});
    }
    if (dir) closedir(dir);
    if (!good) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to read %s", path);
    if (f->frames) qsort(f->frame, (size_t)f->frames, sizeof *f->frame, by_number);
    return TALUS_OK;
}

static void frame_file(const tl_run_folder *f, const char *group, int64_t number, char out[1300])
{
    char frames[1120];
    snprintf(frames, sizeof frames, "%s/frames", f->folder);
    tl_frame_path(out, 1300, frames, group, number, "vtp");
}

static bool has_file(const tl_run_folder *f, const char *group, int64_t number)
{
    char path[1300];
    frame_file(f, group, number, path);
    return access(path, F_OK) == 0;
}

/* Leaves the frames for which everything that moves in this scene was written. */
static void keep_whole_frames(tl_run_folder *f)
{
    int64_t kept = 0, row = 0, rows = f->table ? tl_body_table_frames(f->table) : 0;
    for (int64_t i = 0; i < f->frames; i++) {
        int64_t n = f->frame[i].number;
        while (row < rows && tl_body_table_frame(f->table, row) < n) row++;
        bool placed = row < rows && tl_body_table_frame(f->table, row) == n;
        if (f->scene->body_count && !placed) continue;
        if (tl_clouds_expected(f->scene) && !has_file(f, "particles", n)) continue;
        if (f->lg.nodes && !has_file(f, "nodes", n)) continue;
        f->frame[kept++] = (tl_run_frame){.number = n, .row = placed ? row : -1};
    }
    f->frames = kept;
}

static talus_status open_table(tl_run_folder *f, talus_error *err)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/bodies.csv", f->folder);
    if (!f->scene->body_count || access(path, F_OK) != 0) return TALUS_OK;
    return tl_body_table_open(&f->table, path, f->scene->body_count, err);
}

static talus_status list_frames(tl_run_folder *f, talus_error *err)
{
    TL_TRY(open_table(f, err));
    int64_t room = 0, rows = f->table ? tl_body_table_frames(f->table) : 0;
    for (int64_t i = 0; i < rows; i++)
        if (!add_frame(f, &room, (tl_run_frame){.number = tl_body_table_frame(f->table, i)}))
            return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %" PRId64 " frames", rows);
    if (!f->table) TL_TRY(list_files(f, "frames", f->lg.nodes ? "nodes" : "particles", "vtp", err));
    keep_whole_frames(f);
    return TALUS_OK;
}

static talus_status open_joints(tl_run_folder *f, talus_error *err)
{
    char path[1200];
    f->broke = TL_NEW(int64_t, f->scene->joint_count + 1);
    f->broken = TL_NEW_ZERO(bool, f->scene->joint_count + 1);
    if (!f->broke || !f->broken) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d joints", f->scene->joint_count);
    snprintf(path, sizeof path, "%s/joints.csv", f->folder);
    return tl_joint_table_read(path, f->scene->joint_count, f->broke, err);
}

/* ---- checkpoints instead ---- */

static talus_status load_state(tl_run_folder *f, const tl_run_frame *frame, talus_error *err)
{
    char path[1300], folder[1200];
    snprintf(folder, sizeof folder, "%s/checkpoints", f->folder);
    tl_frame_path(path, sizeof path, folder, "frame", frame->number, "h5");
    if (frame->last) snprintf(path, sizeof path, "%s/checkpoint.h5", f->folder);
    return tl_checkpoint_load(path, &f->sim->state, f->scene, f->sim->rigid.count, NULL, err);
}

/* Those that were kept, and the last, which may lie between two frames. */
static talus_status list_checkpoints(tl_run_folder *f, talus_error *err)
{
    char path[1200];
    tl_free(f->frame);
    f->frame = NULL;
    f->frames = 0;
    TL_TRY(tl_sim_create_empty(&f->sim, f->scene, NULL, err));
    TL_TRY(list_files(f, "checkpoints", "frame", "h5", err));
    snprintf(path, sizeof path, "%s/checkpoint.h5", f->folder);
    if (access(path, F_OK) != 0) return TALUS_OK;
    TL_TRY(load_state(f, &(tl_run_frame){.last = true}, err));
    tl_run_frame *list = tl_realloc(f->frame, sizeof *list * (size_t)(f->frames + 1));
    if (!list) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to read %s", path);
    f->frame = list;
    int64_t number = f->sim->state.frame;
    while (f->frames && f->frame[f->frames - 1].number >= number) f->frames--;
    f->frame[f->frames++] = (tl_run_frame){.number = number, .row = -1, .last = true};
    return TALUS_OK;
}

static void copy_state(tl_run_folder *f)
{
    const tl_state *s = &f->sim->state;
    for (int b = 0; b < f->scene->body_count; b++)
        f->rows[b] = (tl_body_row){.pose = tl_rigid_pose(&f->sim->rigid.body[b], &s->rigid.body[b]),
                                   .velocity = s->rigid.body[b].v,
                                   .spin = s->rigid.body[b].w};
    const tl_joint_state *joints = f->scene->joint_count ? tl_state_find(s, &tl_joints_kind) : NULL;
    for (int64_t k = 0; joints && k < joints->count; k++) f->broken[k] = joints->joint[k].broken > 0;
    if (!f->lg.nodes) return;
    memcpy(f->q, tl_sim_rows(f->sim, "nodes.position").data, sizeof *f->q * 3 * (size_t)f->lg.nodes);
    memcpy(f->v, tl_sim_rows(f->sim, "nodes.velocity").data, sizeof *f->v * 3 * (size_t)f->lg.nodes);
}

/* ---- the whole ---- */

talus_status tl_run_folder_read(tl_run_folder *f, int64_t i, double *t, tl_clouds *clouds, talus_error *err)
{
    char path[1300];
    const tl_run_frame *frame = &f->frame[i];
    if (clouds) *clouds = (tl_clouds){0};
    if (f->sim) {
        TL_TRY(load_state(f, frame, err));
        *t = f->sim->state.t;
        copy_state(f);
        return clouds ? tl_clouds_gather(clouds, f->sim, false, err) : TALUS_OK;
    }
    *t = (double)frame->number / f->scene->fps;
    for (int k = 0; k < f->scene->joint_count; k++) f->broken[k] = f->broke[k] <= frame->number;
    if (frame->row >= 0) TL_TRY(tl_body_table_read(f->table, frame->row, t, f->rows, err));
    if (f->lg.nodes) {
        frame_file(f, "nodes", frame->number, path);
        TL_TRY(tl_vtk_nodes_read(path, f->lg.nodes, f->q, f->v, err));
    }
    frame_file(f, "particles", frame->number, path);
    return clouds ? tl_clouds_read(clouds, path, f->scene, err) : TALUS_OK;
}

talus_status tl_run_folder_find(const tl_run_folder *f, int64_t number, int64_t *out, talus_error *err)
{
    for (*out = 0; *out < f->frames; ++*out)
        if (f->frame[*out].number == number) return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT, "there is no frame %" PRId64 "; the last is %" PRId64, number,
                   f->frame[f->frames - 1].number);
}

static talus_status open_all(tl_run_folder *f, const char *folder, const tl_run_record *r,
                             const talus_scene_options *where, talus_error *err)
{
    snprintf(f->folder, sizeof f->folder, "%s", folder);
    TL_TRY(load_scene(f, folder, r, where, err));
    f->rows = TL_NEW(tl_body_row, f->scene->body_count + 1);
    if (!f->rows) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to read %s", folder);
    TL_TRY(mesh_elastic(f, err));
    TL_TRY(open_joints(f, err));
    TL_TRY(list_frames(f, err));
    if (f->frames == 0) TL_TRY(list_checkpoints(f, err));
    return f->frames ? TALUS_OK : TL_FAIL(err, TALUS_BAD_INPUT, "%s has no frame yet", folder);
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
    tl_sim_free(f->sim);
    tl_free(f->frame);
    tl_free(f->rows);
    tl_lg_free(&f->lg);
    tl_free(f->q);
    tl_free(f->v);
    tl_free(f->broke);
    tl_free(f->broken);
    tl_scene_free(f->scene);
    *f = (tl_run_folder){0};
}

talus_status tl_make_folder(const char *path, talus_error *err)
{
    struct stat s;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &s) == 0 && S_ISDIR(s.st_mode))) return TALUS_OK;
    return TL_FAIL(err, TALUS_IO, "cannot make the folder %s: %s", path, strerror(errno));
}
