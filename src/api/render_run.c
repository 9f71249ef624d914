#include <math.h>
#include <stdio.h>
#include <string.h>
#include <talus/program.h>
#include <talus/run.h>

#include "api/need.h"
#include "api/run_folder.h"
#include "base/alloc.h"
#include "io/vtk.h"
#include "render/mp4.h"
#include "render/png.h"
#include "render/render.h"
#include "render/scene_picture.h"
#include "run/clouds.h"
#include "run/folder.h"
#include "run/softs.h"

#define FILM_RATE_MIN 0.1
#define FILM_RATE_MAX 1000. /* frames per second that tl_mp4_begin takes */
#define ABOUT 100           /* pictures when nobody says how many */
#define SHEET 12            /* pictures on the contact sheet */

/* The work, and how far it is. */
typedef struct job {
    tl_run_folder run;
    const talus_render_options *o;
    tl_render_options r;
    tl_pose *poses;
    tl_softs softs;
    int64_t *chosen; /* [count] indices of frames in the table */
    int64_t count, done;
    char images[1200];
    tl_image sheet[SHEET];
    char label[SHEET][32];
    int on_sheet;
} job;

static int pass_progress(void *user, double share)
{
    const job *j = user;
    return j->o->progress ? j->o->progress(j->o->user, ((double)j->done + share) / (double)j->count) : 0;
}

static talus_status choose_frames(job *j, int every, int only, talus_error *err)
{
    int64_t frames = j->run.frames, stride = every > 0 ? every : (frames + ABOUT - 1) / ABOUT;
    j->chosen = TL_NEW(int64_t, frames);
    j->poses = TL_NEW(tl_pose, j->run.scene->body_count + 1);
    if (!j->chosen || !j->poses)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to draw %lld frames", (long long)frames);
    if (only >= 0) {
        j->count = 1;
        return tl_run_folder_find(&j->run, only, &j->chosen[0], err);
    }
    for (int64_t i = 0; i < frames; i++)
        if (i % stride == 0 || i == frames - 1) j->chosen[j->count++] = i;
    return TALUS_OK;
}

static talus_status read_frame(job *j, int64_t i, double *t, tl_clouds *clouds, talus_error *err)
{
    TL_TRY(tl_run_folder_read(&j->run, i, t, clouds, err));
    for (int b = 0; b < j->run.scene->body_count; b++) j->poses[b] = j->run.rows[b].pose;
    return TALUS_OK;
}

static talus_status begin_scene(job *j, tl_picture *p, tl_scene_picture_options *o, talus_error *err)
{
    if (j->run.lg.nodes) {
        TL_TRY(tl_softs_create(&j->softs, j->run.scene, &j->run.lg, err));
        o->softs = j->softs.count;
        o->soft = j->softs.soft;
    }
    return tl_picture_of_scene(p, j->run.scene, o, err);
}

/* One camera for the whole run, also when a single frame is drawn: pictures compare. */
static talus_status begin_picture(job *j, tl_picture *p, talus_error *err)
{
    tl_box3 frame = {{1, 1, 1}, {-1, -1, -1}};
    double t;
    int64_t frames = j->run.frames, stride = (frames + ABOUT - 1) / ABOUT;
    for (int64_t i = 0; i < frames && j->run.scene->body_count; i += stride) {
        TL_TRY(read_frame(j, i, &t, NULL, err));
        tl_scene_frame_add(&frame, j->run.scene, j->poses);
    }
    tl_scene_picture_options o = {
        .width = j->r.width, .height = j->r.height, .view = j->o->view, .poses = j->poses, .frame = &frame};
    tl_clouds clouds;
    TL_TRY(read_frame(j, j->chosen[0], &t, &clouds, err));
    o.clouds = clouds.clouds;
    o.cloud = clouds.cloud;
    talus_status status = begin_scene(j, p, &o, err);
    tl_clouds_free(&clouds);
    return status;
}

static talus_status write_picture(const job *j, const tl_image *image, const char *path, const char *frame,
                                  talus_error *err)
{
    char software[64];
    snprintf(software, sizeof software, "talus %s", talus_version());
    const tl_png_note notes[] = {{"Title", j->run.scene->file}, {"Software", software}, {"Frame", frame}, {NULL, NULL}};
    return tl_png_write(image, path, notes, err);
}

/* Keeps evenly spread pictures, small. */
static talus_status keep_for_sheet(job *j, const tl_image *image, int64_t number, double t, talus_error *err)
{
    int64_t wanted = j->count < SHEET ? j->count : SHEET;
    if (wanted < 2 || j->done * (wanted - 1) / (j->count - 1) < j->on_sheet) return TALUS_OK;
    int width = (j->r.width + 1) / 2, height = (j->r.height + 1) / 2;
    snprintf(j->label[j->on_sheet], sizeof j->label[0], "frame %lld, %.3g s", (long long)number, t);
    TL_TRY(tl_image_shrink(image, width, height, &j->sheet[j->on_sheet], err));
    j->on_sheet++;
    return TALUS_OK;
}

static talus_status draw_frame(job *j, tl_picture *p, tl_mp4 *film, talus_error *err)
{
    char path[1300], number_text[24];
    double t = 0;
    int64_t number = j->run.frame[j->chosen[j->done]].number;
    tl_clouds clouds;
    TL_TRY(read_frame(j, j->chosen[j->done], &t, &clouds, err));
    if (j->softs.count) tl_softs_pose(&j->softs, j->run.q);
    tl_picture_pose_bodies(p, j->run.scene, j->poses);
    tl_picture_show_joints(p, j->run.broken);
    tl_picture_pose_softs(p, j->softs.count, j->softs.soft);
    talus_status set = TALUS_OK; /* the first are there */
    if (j->done > 0) set = tl_picture_set_clouds(p, j->run.scene, clouds.clouds, clouds.cloud, err);
    tl_clouds_free(&clouds);
    TL_TRY(set);
    snprintf(p->caption, sizeof p->caption, "%.3f s", t);
    snprintf(number_text, sizeof number_text, "%lld", (long long)number);
    tl_frame_path(path, sizeof path, j->images, "frame", number, "png");
    tl_image image = {0};
    talus_status status = tl_render(p, &j->r, &image, err);
    if (status == TALUS_OK) status = write_picture(j, &image, path, number_text, err);
    if (status == TALUS_OK && film) status = tl_mp4_frame(film, &image, err);
    if (status == TALUS_OK) status = keep_for_sheet(j, &image, number, t, err);
    tl_image_free(&image);
    return status;
}

static talus_status write_sheet(job *j, talus_error *err)
{
    char path[1300];
    const char *labels[SHEET];
    tl_image sheet = {0};
    for (int i = 0; i < j->on_sheet; i++) labels[i] = j->label[i];
    snprintf(path, sizeof path, "%s/sheet.png", j->images);
    TL_TRY(tl_image_contact_sheet(j->on_sheet, j->sheet, labels, j->on_sheet < 4 ? j->on_sheet : 4,
                                  (j->r.width + 1) / 2, &sheet, err));
    talus_status status = write_picture(j, &sheet, path, "sheet", err);
    tl_image_free(&sheet);
    return status;
}

/* A film in real time, as far as films go so slow or so fast; none without ffmpeg, for a single picture or for odd
 * sizes. */
static talus_status begin_film(const job *j, tl_mp4 **film, talus_error *err)
{
    char path[1300];
    *film = NULL;
    if (j->count < 2 || j->r.width % 2 || j->r.height % 2 || !tl_mp4_available()) return TALUS_OK;
    int64_t apart = j->run.frame[j->chosen[1]].number - j->run.frame[j->chosen[0]].number;
    snprintf(path, sizeof path, "%s/film.mp4", j->images);
    double rate = fmin(fmax(j->run.scene->fps / (double)apart, FILM_RATE_MIN), FILM_RATE_MAX);
    return tl_mp4_begin(film, path, j->r.width, j->r.height, rate, err);
}

static talus_status draw_all(job *j, talus_error *err)
{
    tl_picture p = {0};
    tl_mp4 *film = NULL;
    talus_status status = begin_picture(j, &p, err);
    if (status == TALUS_OK) status = begin_film(j, &film, err);
    for (; j->done < j->count && status == TALUS_OK; j->done++) status = draw_frame(j, &p, film, err);
    if (status == TALUS_OK && film)
        status = tl_mp4_end(film, err);
    else
        tl_mp4_discard(film);
    if (status == TALUS_OK && j->on_sheet > 1) status = write_sheet(j, err);
    tl_picture_free(&p);
    return status;
}

static talus_status take_sizes(job *j, talus_error *err)
{
    const tl_render_spec *s = &j->run.scene->render;
    j->r.width = j->o->width ? j->o->width : s->width;
    j->r.height = j->o->height ? j->o->height : s->height;
    j->r.samples = j->o->samples ? j->o->samples : s->samples;
    if (j->r.width >= 1 && j->r.height >= 1 && j->r.width <= TL_IMAGE_SIDE_MAX && j->r.height <= TL_IMAGE_SIDE_MAX)
        return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT, "an image of %d x %d pixels: each side must be from 1 to %d", j->r.width,
                   j->r.height, TL_IMAGE_SIDE_MAX);
}

talus_status talus_render_run(const char *folder, int every, int only, const talus_render_options *options,
                              talus_error *err)
{
    TL_NEED(folder);
    talus_error own = {0};
    if (!err) err = &own;
    talus_render_options plain = talus_render_options_default();
    job *j = TL_NEW_ZERO(job, 1);
    if (!j) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to draw %s", folder);
    j->o = options ? options : &plain;
    j->r = tl_render_options_default();
    j->r.denoise = !j->o->plain;
    j->r.progress = pass_progress;
    j->r.user = j;
    talus_status status = TALUS_OK;
    if (j->o->sheet || j->o->turn)
        status = TL_FAIL(err, TALUS_BAD_INPUT, "a run has its own contact sheet and film; no sheet and no turn");
    if (status == TALUS_OK) status = tl_run_folder_open(&j->run, folder, j->o->scene, err);
    if (status == TALUS_OK) status = take_sizes(j, err);
    if (status == TALUS_OK) status = choose_frames(j, every, only, err);
    snprintf(j->images, sizeof j->images, "%s/images", folder);
    if (status == TALUS_OK) status = tl_folder_make_part(j->images, err);
    if (status == TALUS_OK) status = draw_all(j, err);
    for (int i = 0; i < SHEET; i++) tl_image_free(&j->sheet[i]);
    tl_free(j->chosen);
    tl_free(j->poses);
    tl_softs_free(&j->softs);
    tl_run_folder_close(&j->run);
    tl_free(j);
    return status;
}
