#include "run/run.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/replace.h"
#include "base/timer.h"
#include "io/checkpoint.h"
#include "io/csv_run.h"
#include "io/run_json.h"
#include "io/vtk.h"
#include "io/vtk_lg.h"
#include "io/vtk_rigid.h"
#include "math/blas.h"
#include "run/captures.h"
#include "run/clouds.h"
#include "run/folder.h"
#include "run/picture.h"
#include "run/sets.h"
#include "run/verdict.h"
#include "talus_version.h"

#define SAVE_SECONDS 1     /* frames are put on the disk and a checkpoint is made at most this often, and at the end */
#define LIST_SECONDS 2     /* run.pvd names all frames anew: at most this often, and at the end */
#define CURVE_MAX 16384    /* iterations of one step that --history keeps */
#define SETTINGS_TEXT 4000 /* bytes of "--size paper --set a=1 ..." in a checkpoint */

#define GROUPS_MAX (5 + TL_SETS_MAX) /* bodies, contacts, joints, particles, nodes, and what else an engine shows */

typedef struct run {
    const tl_scene *scene;
    const tl_run_options *o;
    const tl_comm *comm; /* NULL: one process */
    bool first;          /* this process has the files of the run */
    tl_sim *sim;
    tl_folder folder;
    int64_t frames; /* wanted */
    tl_csv steps, bodies, holds, joints, history;
    bool steps_begun; /* its header is written or compared */
    tl_history curve[TL_REPORT_SOLVES];
    tl_body_meshes meshes;
    tl_run_record record, before; /* before: of the run that is resumed */
    char scene_folder[PATH_MAX];
    char settings[SETTINGS_TEXT], started[32], ended[32], scene_hash[20], state_hash[20];
    tl_captures captures;
    double began, t_began; /* of this process */
    double listed, saved;  /* when run.pvd was written; when the last checkpoint was */
    int64_t saved_step;    /* of that checkpoint; -1: none yet */
    int64_t drawn;         /* frame of the last picture, -1: none */
    char picture[TL_PATH_ROOM];
    talus_verdict verdict;
    bool interrupted;
    talus_status failed; /* an observer's, inside of a frame */
    talus_error why;
} run;

/* What the first process does alone; a failure is everybody's. */
#define TRY_FIRST(r, expr) TL_TRY(tl_comm_agree((r)->comm, (r)->first ? (expr) : TALUS_OK, err))

/* What the first process decides, by a clock or by what is in its folder. */
static bool as_first(const run *r, bool wanted) { return tl_comm_max(r->comm, r->first && wanted) > 0; }
/* Whoever is asked to stop: all do. */
static bool agree_stop(run *r) { return r->interrupted = tl_comm_max(r->comm, r->interrupted) > 0; }

static void now(char out[32])
{
    time_t t = time(NULL);
    struct tm parts;
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &parts));
}

static void print_hash(uint64_t hash, char out[20]) { snprintf(out, 20, "%016" PRIx64, hash); }

static void path_of(const run *r, const char *name, char out[TL_PATH_ROOM]) { tl_folder_file(&r->folder, name, out); }

static void frame_path(const run *r, const char *part, const char *group, const char *ending, char out[TL_PATH_ROOM])
{
    char folder[TL_PATH_ROOM];
    path_of(r, part, folder);
    tl_frame_path(out, TL_PATH_ROOM, folder, group, r->sim->state.frame, ending);
}

/* ---- telling how far it is ---- */

static void tell(run *r, const char *phase)
{
    if (!r->o->progress) return;
    const tl_state *s = &r->sim->state;
    double seconds = tl_seconds() - r->began, done = s->t - r->t_began, end = (double)r->frames / r->scene->fps;
    tl_run_progress p = {.frame = s->frame,
                         .frames = r->frames,
                         .report = &r->sim->report,
                         .seconds = seconds,
                         .seconds_left = done > 0 ? seconds * fmax(0, end - s->t) / done : -1,
                         .phase = phase};
    if (r->o->progress(r->o->user, &p)) r->interrupted = true;
}

static int tell_picture(void *user, double done)
{
    (void)done;
    run *r = user;
    tell(r, "picture");
    return r->interrupted;
}

/* ---- run.json ---- */

/* Collective for its hash; written by the first. */
static talus_status write_own_record(run *r, const char *outcome, const char *message, talus_error *err)
{
    char path[TL_PATH_ROOM];
    tl_run_record *d = &r->record;
    const tl_state *s = &r->sim->state;
    print_hash(tl_sim_hash(r->sim), r->state_hash);
    if (!r->first) return TALUS_OK;
    d->outcome = outcome;
    d->message = message;
    d->frames = s->frame;
    d->steps = s->step;
    d->t = s->t;
    d->seconds = r->before.seconds + tl_seconds() - r->began;
    if (strcmp(outcome, "running")) {
        now(r->ended);
        path_of(r, "steps.csv", path);
        TL_TRY(tl_verdict_reckon(path, &r->scene->accept, r->record.open_walls, &r->verdict, err));
        d->verdict = &r->verdict;
    }
    path_of(r, "run.json", path);
    return tl_run_json_write(path, d, r->scene, err);
}

static talus_status write_record(run *r, const char *outcome, const char *message, talus_error *err)
{
    return tl_comm_agree(r->comm, write_own_record(r, outcome, message, err), err);
}

/* So that pictures can be made later from any folder. "" when the scene did not come from a file. */
static void find_scene_folder(run *r)
{
    char path[PATH_MAX];
    r->scene_folder[0] = '\0';
    if (!r->scene->file || !realpath(r->scene->file, path)) return;
    *strrchr(path, '/') = '\0';
    snprintf(r->scene_folder, sizeof r->scene_folder, "%s", *path ? path : "/");
}

static bool has_open_wall(const tl_domain_spec *d)
{
    bool any = false;
    for (int k = 0; k < 6; k++) any |= d->bounded && d->wall[k] == TL_WALL_OPEN;
    return any;
}

static void begin_record(run *r)
{
    const tl_run_options *o = r->o;
    bool again = !r->folder.fresh;
    print_hash(r->scene->hash, r->scene_hash);
    now(r->started);
    find_scene_folder(r);
    r->record = (tl_run_record){.scene_file = r->scene->file ? r->scene->file : "",
                                .scene_hash = r->scene_hash,
                                .scene_folder = r->scene_folder,
                                .size = o->size ? o->size : "small",
                                .settings = o->settings < TL_RUN_SETTINGS_MAX ? o->settings : TL_RUN_SETTINGS_MAX,
                                .threads = tl_threads(),
                                .processes = r->comm ? r->comm->parts : 1,
                                .started = again && *r->before.started ? r->before.started : r->started,
                                .ended = r->ended,
                                .resumed = again ? r->before.resumed + 1 : 0,
                                .frames_wanted = r->frames,
                                .open_walls = has_open_wall(&r->scene->domain),
                                .state_hash = r->state_hash};
    for (int i = 0; i < r->record.settings; i++) r->record.setting[i] = o->setting[i];
}

static void list_settings(run *r)
{
    size_t used = 0;
    if (r->o->size && strcmp(r->o->size, "small"))
        used = (size_t)snprintf(r->settings, sizeof r->settings, "--size %s", r->o->size);
    for (int i = 0; i < r->o->settings && used < sizeof r->settings; i++)
        used += (size_t)snprintf(r->settings + used, sizeof r->settings - used, "%s--set %s", used ? " " : "",
                                 r->o->setting[i]);
}

/* ---- what is written after a step ---- */

static talus_status write_step(run *r, talus_error *err)
{
    const tl_report *report = &r->sim->report;
    if (!r->steps_begun) {
        TL_TRY(tl_csv_steps_header(&r->steps, report, err));
        if (r->sim->history) TL_TRY(tl_csv_history_header(&r->history, err));
        r->steps_begun = true;
    }
    TL_TRY(tl_csv_steps_row(&r->steps, report, err));
    if (!r->sim->history) return TALUS_OK;
    TL_TRY(tl_csv_history_rows(&r->history, report, r->sim->history, err));
    for (int i = 0; i < TL_REPORT_SOLVES; i++) r->sim->history[i].count = 0;
    return TALUS_OK;
}

static bool after_step(void *user, const tl_sim *sim)
{
    (void)sim;
    run *r = user;
    r->failed = tl_comm_agree(r->comm, r->first ? write_step(r, &r->why) : TALUS_OK, &r->why);
    if (r->failed == TALUS_OK) tell(r, "step");
    return r->failed != TALUS_OK || agree_stop(r);
}

/* ---- what is written at a frame ---- */

static bool has_particles(const run *r) { return tl_clouds_expected(r->scene); }

static talus_status write_particles(run *r, talus_error *err)
{
    char path[TL_PATH_ROOM];
    tl_clouds c;
    frame_path(r, "frames", "particles", "vtp", path);
    TL_TRY(tl_clouds_gather(&c, r->sim, r->scene->sph.surface_particles, err));
    talus_status status = r->first ? tl_clouds_write(path, &c, r->sim->state.t, err) : TALUS_OK;
    tl_clouds_free(&c);
    return status;
}

static talus_status write_contacts(run *r, const char *path, talus_error *err)
{
    int64_t count = tl_sim_contacts(r->sim, NULL);
    tl_contact_row *row = tl_alloc(sizeof *row * (size_t)(count + 1));
    if (!row) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a frame of %lld contacts", (long long)count);
    tl_sim_contacts(r->sim, row);
    talus_status status = tl_vtk_contacts(path, r->sim->state.t, count, row, err);
    tl_free(row);
    return status;
}

static bool has_nodes(const run *r) { return r->sim->lg.nodes > 0; }

static const tl_lg_hold *holds_of(const run *r) { return tl_lg_state_of(&r->sim->state)->hold; }

/* Whether something holds elastic bodies. */
static bool has_holds(const run *r)
{
    const tl_scene *s = r->scene;
    bool any = s->handle_count + s->cable_count + s->join_count > 0;
    for (int b = 0; b < r->sim->lg.bodies; b++) any |= s->bodies[r->sim->lg.body[b].body].anchor >= 0;
    return has_nodes(r) && any && s->output.bodies;
}

static bool has_joints(const run *r) { return r->scene->joint_count > 0 && r->scene->output.bodies; }

static talus_status write_sets(run *r, talus_error *err)
{
    char path[TL_PATH_ROOM], set[TL_SETS_MAX][32];
    int sets = tl_sets(r->sim, set);
    for (int i = 0; i < sets; i++) {
        frame_path(r, "frames", set[i], "vtp", path);
        TL_TRY(tl_set_write(path, r->sim, set[i], err));
    }
    return TALUS_OK;
}

/* But for particles, which all processes have. */
static talus_status write_frame(run *r, talus_error *err)
{
    char path[TL_PATH_ROOM];
    if (r->scene->output.frames) {
        frame_path(r, "frames", "bodies", "vtp", path);
        TL_TRY(tl_vtk_bodies(path, &r->meshes, r->scene, &r->sim->rigid, &r->sim->state, err));
        frame_path(r, "frames", "contacts", "vtp", path);
        TL_TRY(write_contacts(r, path, err));
        frame_path(r, "frames", "joints", "vtp", path);
        if (r->scene->joint_count) TL_TRY(tl_vtk_joints(path, r->scene, &r->sim->state, err));
        if (has_nodes(r)) {
            frame_path(r, "frames", "nodes", "vtp", path);
            TL_TRY(tl_vtk_nodes(path, r->scene, &r->sim->lg, holds_of(r), r->sim->state.t,
                                tl_sim_rows(r->sim, "nodes.position").data, tl_sim_rows(r->sim, "nodes.velocity").data,
                                err));
        }
        TL_TRY(write_sets(r, err));
    }
    if (r->scene->output.bodies) TL_TRY(tl_csv_bodies_rows(&r->bodies, r->scene, &r->sim->rigid, &r->sim->state, err));
    if (has_holds(r) && r->sim->state.frame > 0)
        TL_TRY(tl_csv_holds_rows(&r->holds, r->scene, &r->sim->lg, holds_of(r), &r->sim->state, err));
    if (has_joints(r)) TL_TRY(tl_csv_joints_rows(&r->joints, r->scene, &r->sim->state, err));
    return TALUS_OK;
}

static bool is_due(int64_t frame, int every) { return every > 0 && frame % every == 0; }

/* Frames and tables first: they may be ahead of the checkpoint, never behind. */
static talus_status save_state(run *r, bool keep, const tl_state *state, const tl_checkpoint_cut *cut, talus_error *err)
{
    char path[TL_PATH_ROOM];
    TL_TRY(tl_replace_sync(r->folder.path, err));
    TL_TRY(tl_csv_sync(&r->steps, err));
    TL_TRY(tl_csv_sync(&r->bodies, err));
    TL_TRY(tl_csv_sync(&r->holds, err));
    TL_TRY(tl_csv_sync(&r->joints, err));
    TL_TRY(tl_csv_sync(&r->history, err));
    if (keep) {
        frame_path(r, "checkpoints", "frame", "h5", path);
        TL_TRY(tl_checkpoint_save_cut(path, state, r->scene, r->settings, cut, err));
    }
    path_of(r, "checkpoint.h5", path);
    return tl_checkpoint_save_cut(path, state, r->scene, r->settings, cut, err);
}

static talus_status save_parts(run *r, bool keep, talus_error *err)
{
    tl_state whole;
    const int64_t length = tl_cut_length(r->comm->parts);
    tl_checkpoint_cut cut = {r->comm->parts, length, TL_NEW_ZERO(int64_t, length)};
    talus_status status = tl_comm_agree(
        r->comm, cut.number ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a checkpoint"), err);
    if (status == TALUS_OK) {
        status = tl_sim_collect(r->sim, &whole, cut.number, err);
        if (status == TALUS_OK) {
            if (r->first) status = save_state(r, keep, &whole, &cut, err);
            status = tl_comm_agree(r->comm, status, err);
            tl_state_free(&whole);
        }
    }
    tl_free(cut.number);
    return status;
}

static talus_status save(run *r, bool keep, talus_error *err)
{
    TL_TRY(r->comm ? save_parts(r, keep, err) : save_state(r, keep, &r->sim->state, NULL, err));
    r->saved = tl_seconds();
    r->saved_step = r->sim->state.step;
    return TALUS_OK;
}

/* Fast frames share a checkpoint: what a killed run loses is a second of it. */
static talus_status save_if_due(run *r, talus_error *err)
{
    const bool keep = is_due(r->sim->state.frame, r->scene->output.checkpoint_every);
    const bool last = r->sim->state.frame >= r->frames || r->interrupted;
    const bool soon = r->saved_step >= 0 && !keep && !last && tl_seconds() - r->saved < SAVE_SECONDS;
    if (as_first(r, soon)) return TALUS_OK;
    return save(r, keep, err);
}

static talus_status write_list(run *r, talus_error *err)
{
    char path[TL_PATH_ROOM], set[TL_SETS_MAX][32];
    const char *group[GROUPS_MAX] = {"bodies", "contacts"};
    int groups = 2, sets = tl_sets(r->sim, set);
    if (!r->scene->output.frames) return TALUS_OK;
    if (r->scene->joint_count) group[groups++] = "joints";
    if (has_particles(r)) group[groups++] = "particles";
    if (has_nodes(r)) group[groups++] = "nodes";
    for (int i = 0; i < sets; i++) group[groups++] = set[i];
    path_of(r, "run.pvd", path);
    r->listed = tl_seconds();
    return tl_vtk_write_list(path, r->sim->state.frame, r->scene->fps, groups, group, err);
}

static talus_status draw(run *r, talus_error *err)
{
    frame_path(r, "images", "frame", "png", r->picture);
    if (r->drawn == r->sim->state.frame) return TALUS_OK;
    const talus_status status = tl_run_picture(r->sim, r->picture, tell_picture, r, err);
    agree_stop(r);
    if (status == TALUS_OK) r->drawn = r->sim->state.frame;
    return status;
}

static talus_status draw_if_due(run *r, talus_error *err)
{
    bool due = is_due(r->sim->state.frame, r->scene->output.images_every) && !r->o->no_pictures;
    return due && !r->interrupted ? draw(r, err) : TALUS_OK;
}

/* The picture comes last, because it takes longest: a run that is resumed at this frame draws it then. */
static talus_status reach_frame(run *r, talus_error *err)
{
    tl_replace_later(true);
    talus_status written = r->first ? write_frame(r, err) : TALUS_OK;
    written = tl_comm_agree(r->comm, written, err);
    if (written == TALUS_OK && r->scene->output.frames && has_particles(r))
        written = tl_comm_agree(r->comm, write_particles(r, err), err);
    tl_replace_later(false);
    TL_TRY(written);
    TL_TRY(save_if_due(r, err));
    tell(r, "frame");
    agree_stop(r);
    TRY_FIRST(r, tl_seconds() - r->listed > LIST_SECONDS ? write_list(r, err) : TALUS_OK);
    return draw_if_due(r, err);
}

/* ---- begin ---- */

static talus_status wrong_scene(const run *r, talus_error *err)
{
    return TL_FAIL(err, TALUS_BAD_INPUT,
                   "%.200s is the run of another scene, or its files or settings have changed: it was made from %.200s "
                   "(hash %.20s, now %s)",
                   r->folder.path, r->before.scene_file, r->before.scene_hash, r->scene_hash);
}

/* Cut a table back to the checkpoint. It must reach that far. */
static talus_status cut_table(run *r, const char *name, int64_t last, bool has_rows, talus_error *err)
{
    char path[TL_PATH_ROOM];
    int64_t found;
    path_of(r, name, path);
    TL_TRY(tl_csv_cut(path, last, &found, err));
    if (!has_rows || found == last) return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT,
                   "%s ends at %" PRId64 ", before the checkpoint's %" PRId64
                   ": it was changed since, the run cannot go on",
                   path, found, last);
}

/* The files as they were when the checkpoint was made. */
static talus_status cut_files(run *r, const tl_state *s, talus_error *err)
{
    TL_TRY(tl_folder_clean(&r->folder, s->frame, err));
    TL_TRY(cut_table(r, "steps.csv", s->step, s->step > 0, err));
    TL_TRY(cut_table(r, "history.csv", s->step, false, err));
    TL_TRY(cut_table(r, "holds.csv", s->frame, has_holds(r) && s->frame > 0, err));
    TL_TRY(cut_table(r, "joints.csv", s->frame, has_joints(r), err));
    return cut_table(r, "bodies.csv", s->frame, r->scene->output.bodies && r->scene->body_count > 0, err);
}

static void tell_processes(const run *r, int64_t saved, int goes_on)
{
    if (saved != goes_on)
        tl_log_write(&r->o->log, 1,
                     "%s was saved by %" PRId64 " process%s and goes on in %d: last bits will differ from then on",
                     r->folder.path, saved, saved == 1 ? "" : "es", goes_on);
}

/* The checkpoint's state, into `s`, and the files. `cut`: as of tl_checkpoint_read_cut, with room for count numbers.
 * *there: false when there is none. */
static talus_status restore(run *r, tl_state *s, tl_checkpoint_cut *cut, bool *there, talus_error *err)
{
    char path[TL_PATH_ROOM];
    path_of(r, "checkpoint.h5", path);
    *there = access(path, F_OK) == 0;
    if (!*there) {
        if (*r->before.scene_hash && strcmp(r->before.scene_hash, r->scene_hash)) return wrong_scene(r, err);
        return tl_folder_clean(&r->folder, -1, err);
    }
    TL_TRY(tl_checkpoint_read_cut(path, cut->count, cut, err));
    tell_processes(r, cut->parts, r->comm ? r->comm->parts : 1);
    TL_TRY(tl_checkpoint_load(path, s, r->scene, r->sim->rigid.count, &r->o->log, err));
    if (!strcmp(r->before.outcome, "finished") && s->frame >= r->frames) return TALUS_OK; /* left as it is */
    return cut_files(r, s, err);
}

/* Another number of processes than wrote it: each takes what it now owns. */
static talus_status deal(run *r, tl_state *whole, tl_checkpoint_cut *cut, talus_error *err)
{
    int64_t told[2] = {cut->parts, cut->count};
    tl_comm_tell(r->comm, sizeof told, told);
    const bool same = told[0] == r->comm->parts && told[1] == tl_cut_length(r->comm->parts);
    if (same) tl_comm_tell(r->comm, (int64_t)sizeof *cut->number * told[1], cut->number);
    return tl_sim_deal(r->sim, whole, same ? cut->number : NULL, err);
}

static talus_status restore_parts(run *r, bool *there, talus_error *err)
{
    const int64_t length = tl_cut_length(r->comm->parts);
    tl_checkpoint_cut cut = {1, length, TL_NEW_ZERO(int64_t, length)};
    tl_state whole = {0};
    talus_status status =
        cut.number ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for how a run is cut among processes");
    if (status == TALUS_OK && r->first) {
        status = tl_state_like(&whole, &r->sim->state, err);
        if (status == TALUS_OK) status = restore(r, &whole, &cut, there, err);
    }
    status = tl_comm_agree(r->comm, status, err);
    *there = as_first(r, *there);
    if (status == TALUS_OK && *there) status = deal(r, &whole, &cut, err);
    tl_free(cut.number);
    tl_state_free(&whole);
    return status;
}

static talus_status open_tables(run *r, bool first, talus_error *err)
{
    char path[TL_PATH_ROOM];
    path_of(r, "steps.csv", path);
    TL_TRY(tl_csv_open(&r->steps, path, first, err));
    if (r->scene->output.bodies) {
        path_of(r, "bodies.csv", path);
        TL_TRY(tl_csv_open(&r->bodies, path, first, err));
        TL_TRY(tl_csv_bodies_header(&r->bodies, err));
    }
    if (has_holds(r)) {
        path_of(r, "holds.csv", path);
        TL_TRY(tl_csv_open(&r->holds, path, first, err));
        TL_TRY(tl_csv_holds_header(&r->holds, err));
    }
    if (has_joints(r)) {
        path_of(r, "joints.csv", path);
        TL_TRY(tl_csv_open(&r->joints, path, first, err));
        TL_TRY(tl_csv_joints_header(&r->joints, err));
    }
    if (!r->o->history && !r->scene->output.history) return TALUS_OK;
    for (int i = 0; i < TL_REPORT_SOLVES; i++) {
        r->curve[i] = (tl_history){CURVE_MAX, 0, TL_NEW(double, CURVE_MAX), TL_NEW(int64_t, CURVE_MAX)};
        if (!r->curve[i].residual || !r->curve[i].products)
            return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the solvers' iteration curves");
    }
    r->sim->history = r->curve;
    path_of(r, "history.csv", path);
    return tl_csv_open(&r->history, path, first, err);
}

/* "scenes/tower/tower.lua" gives "tower". */
static void name_of(const char *file, char out[128])
{
    const char *slash = file ? strrchr(file, '/') : NULL, *name = slash ? slash + 1 : file ? file : "scene";
    const char *dot = strrchr(name, '.');
    snprintf(out, 128, "%.*s", (int)(dot && dot > name ? dot - name : (long)strnlen(name, 120)), name);
}

/* A simulation that is looked at; empty: its state is to be read. */
static talus_status make_sim(run *r, bool empty, talus_error *err)
{
    tl_sim *sim;
    TL_TRY(r->comm ? tl_sim_create_part(&sim, r->scene, r->comm, &r->o->log, err)
           : empty ? tl_sim_create_empty(&sim, r->scene, &r->o->log, err)
                   : tl_sim_create(&sim, r->scene, &r->o->log, err));
    tl_sim_free(r->sim);
    r->sim = sim;
    r->captures.sim = sim;
    if (!r->captures.count) return TALUS_OK;
    sim->look = tl_captures_look;
    sim->look_user = &r->captures;
    return TALUS_OK;
}

static talus_status open_folder(run *r, talus_error *err)
{
    char path[TL_PATH_ROOM], name[128];
    name_of(r->scene->file, name);
    TL_TRY(tl_folder_open(&r->folder, r->o->folder, name, r->o->resume, err));
    path_of(r, "run.json", path);
    return r->folder.fresh ? TALUS_OK : tl_run_json_read(&r->before, path, err);
}

static talus_status begin_folder(run *r, bool *resumed, talus_error *err)
{
    *resumed = false;
    TRY_FIRST(r, open_folder(r, err));
    begin_record(r);
    tl_checkpoint_cut none = {.parts = 1};
    if (r->o->resume)
        TL_TRY(r->comm ? restore_parts(r, resumed, err) : restore(r, &r->sim->state, &none, resumed, err));
    if (!r->o->resume || *resumed) return TALUS_OK;
    tl_log_write(&r->o->log, 1, "%s has no checkpoint yet: the run begins at the start", r->folder.path);
    return r->comm ? TALUS_OK : make_sim(r, false, err); /* with its fills */
}

/* ---- the whole ---- */

/* A step that failed has left the state as it was. */
static talus_status save_what_is_good(run *r, talus_status status, talus_error *err)
{
    talus_error why = *err, ignored;
    (void)save(r, false, &ignored);
    *err = why;
    return status;
}

static talus_status play(run *r, bool resumed, talus_error *err)
{
    char path[TL_PATH_ROOM];
    tl_state *s = &r->sim->state;
    path_of(r, "checkpoints", path);
    TRY_FIRST(r, r->scene->output.checkpoint_every > 0 ? tl_folder_make_part(path, err) : TALUS_OK);
    TL_TRY(write_record(r, "running", "", err));
    TRY_FIRST(r, open_tables(r, !resumed, err));
    TRY_FIRST(r, r->scene->output.frames ? tl_body_meshes_create(&r->meshes, r->scene, err) : TALUS_OK);
    r->began = r->listed = tl_seconds();
    r->t_began = s->t;
    bool between = s->t != (double)s->frame / r->scene->fps;
    if (!resumed) TL_TRY(reach_frame(r, err));
    if (resumed && !between) TL_TRY(draw_if_due(r, err));
    while (s->frame < r->frames && !r->interrupted) {
        talus_status status = tl_sim_frame(r->sim, after_step, r, err);
        if (r->failed != TALUS_OK) return TL_FAIL(err, r->failed, "%s", r->why.message);
        r->interrupted |= status == TALUS_INTERRUPTED; /* inside of a step too: then the state is as before it */
        if (status == TALUS_INTERRUPTED) {
            tell(r, "save");
            return save(r, false, err);
        }
        if (status != TALUS_OK) return save_what_is_good(r, status, err);
        TL_TRY(reach_frame(r, err));
    }
    if (r->saved_step != s->step) TL_TRY(save(r, false, err)); /* the frame was told, and somebody asked to stop */
    TRY_FIRST(r, write_list(r, err));
    return r->interrupted || r->o->no_pictures ? TALUS_OK : draw(r, err);
}

static talus_status interrupted(run *r, talus_error *err)
{
    const tl_state *s = &r->sim->state;
    talus_error ignored;
    tell(r, "save");
    if (r->first) (void)write_list(r, &ignored);
    (void)write_record(r, "interrupted", "", &ignored);
    return TL_FAIL(err, TALUS_INTERRUPTED, "interrupted at frame %" PRId64 " of %" PRId64 ", t = %.6g s; all is saved",
                   s->frame, r->frames, s->t);
}

static talus_status run_all(run *r, talus_run_result *result, talus_error *err)
{
    bool resumed;
    TL_TRY(begin_folder(r, &resumed, err));
    const tl_state *s = &r->sim->state;
    snprintf(result->folder, sizeof result->folder, "%s", r->folder.path);
    if (as_first(r, resumed && !strcmp(r->before.outcome, "finished") && s->frame >= r->frames)) {
        if (!r->first) return TALUS_OK;
        tl_log_write(&r->o->log, 1, "%s is finished: %" PRId64 " frames", r->folder.path, s->frame);
        frame_path(r, "images", "frame", "png", r->picture);
        if (access(r->picture, F_OK) != 0) r->picture[0] = '\0';
        char path[TL_PATH_ROOM];
        path_of(r, "steps.csv", path);
        return tl_verdict_reckon(path, &r->scene->accept, r->record.open_walls, &r->verdict, err);
    }
    talus_status status = play(r, resumed, err);
    if (status == TALUS_INTERRUPTED || (status == TALUS_OK && r->interrupted)) return interrupted(r, err);
    if (status == TALUS_OK) return write_record(r, "finished", "", err);
    talus_error own = err ? *err : (talus_error){.message = ""}, ignored;
    (void)write_record(r, "failed", own.message, &ignored);
    return status;
}

static void close_all(run *r)
{
    tl_csv_close(&r->steps);
    tl_csv_close(&r->bodies);
    tl_csv_close(&r->holds);
    tl_csv_close(&r->joints);
    tl_csv_close(&r->history);
    for (int i = 0; i < TL_REPORT_SOLVES; i++) {
        tl_free(r->curve[i].residual);
        tl_free(r->curve[i].products);
    }
    tl_body_meshes_free(&r->meshes);
    tl_run_record_free(&r->before);
    tl_sim_free(r->sim);
    tl_folder_close(&r->folder);
}

/* All processes must do the same. */
static talus_status check_alike(const run *r, talus_error *err)
{
    static const char build[] = TALUS_VERSION_STRING " " TALUS_COMPILER_STRING;
    const tl_run_options *o = r->o;
    const int64_t asked[] = {r->frames, o->resume, o->no_pictures, o->history, TL_REPORT_PHASES};
    const uint64_t mine[3] = {
        tl_hash(tl_hash(TL_HASH_START, build, sizeof build), tl_blas_core(), strlen(tl_blas_core())), r->scene->hash,
        tl_hash(TL_HASH_START, asked, sizeof asked)};
    static const char *const what[] = {"build of talus or kind of processor", "scene, or settings of it", "options"};
    uint64_t all[3 * TL_COMM_PARTS_MAX];
    if (o->capture) return TL_FAIL(err, TALUS_UNSUPPORTED, "--capture runs in one process, not in %d", r->comm->parts);
    tl_comm_share(r->comm, sizeof mine, mine, all);
    for (int32_t p = 1; p < r->comm->parts; p++)
        for (int k = 0; k < 3; k++)
            if (all[3 * p + k] != all[k])
                return TL_FAIL(err, TALUS_BAD_INPUT, "process %d has another %s than process 0", (int)p, what[k]);
    return TALUS_OK;
}

talus_status tl_run(const tl_scene *scene, const tl_run_options *o, talus_run_result *result, talus_error *err)
{
    run r = {.scene = scene,
             .o = o,
             .frames = o->frames > 0 ? o->frames : (int64_t)ceil(scene->duration * scene->fps * (1 - 1e-12)),
             .folder.lock = -1,
             .steps = TL_CSV_CLOSED,
             .bodies = TL_CSV_CLOSED,
             .holds = TL_CSV_CLOSED,
             .joints = TL_CSV_CLOSED,
             .history = TL_CSV_CLOSED,
             .before = {.scene_hash = "", .outcome = "", .started = "", .scene_file = ""},
             .drawn = -1,
             .saved_step = -1};
    talus_error own;
    if (!err) err = &own;
    *result = (talus_run_result){0};
    r.comm = tl_comm_alone(o->comm) ? NULL : o->comm;
    r.first = !r.comm || r.comm->part == 0;
    if (r.comm) TL_TRY(check_alike(&r, err));
    r.began = tl_seconds();
    list_settings(&r);
    r.captures = (tl_captures){.folder = r.folder.path, .log = o->log};
    TL_TRY(tl_captures_read(&r.captures, o->capture, err));
    TL_TRY(make_sim(&r, o->resume, err));
    talus_status status = run_all(&r, result, err);
    result->frames = r.sim->state.frame;
    result->steps = r.sim->state.step;
    result->verdict = r.verdict;
    if (status == TALUS_OK) tl_captures_tell(&r.captures);
    result->hash = tl_sim_hash(r.sim);
    snprintf(result->picture, sizeof result->picture, "%s", status == TALUS_OK ? r.picture : "");
    close_all(&r);
    return status;
}
