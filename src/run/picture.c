#include "run/picture.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "render/png.h"
#include "render/render.h"
#include "render/scene_picture.h"
#include "run/clouds.h"
#include "run/softs.h"
#include "talus_version.h"

static talus_status draw(const tl_sim *sim, const tl_clouds *clouds, const tl_pose *poses, const bool *broken,
                         const tl_render_options *r, tl_image *out, talus_error *err)
{
    tl_picture p = {0};
    tl_softs f = {0};
    talus_status status = tl_softs_create(&f, sim->scene, &sim->lg, err);
    if (status == TALUS_OK) tl_softs_pose(&f, tl_sim_rows(sim, "nodes.position").data);
    tl_scene_picture_options o = {.width = r->width,
                                  .height = r->height,
                                  .poses = poses,
                                  .clouds = clouds->clouds,
                                  .cloud = clouds->cloud,
                                  .softs = f.count,
                                  .soft = f.soft,
                                  .broken = broken};
    if (status == TALUS_OK) status = tl_picture_of_scene(&p, sim->scene, &o, err);
    if (status == TALUS_OK) status = tl_render(&p, r, out, err);
    tl_picture_free(&p);
    tl_softs_free(&f);
    return status;
}

static talus_status draw_clouds(const tl_sim *sim, const tl_clouds *clouds, const char *path,
                                int (*progress)(void *user, double done), void *user, talus_error *err)
{
    const tl_scene *s = sim->scene;
    tl_render_options r = tl_render_options_default();
    r.width = s->render.width;
    r.height = s->render.height;
    r.samples = s->render.samples;
    r.progress = progress;
    r.user = user;

    tl_pose *poses = TL_NEW(tl_pose, s->body_count + 1);
    bool *broken = TL_NEW_ZERO(bool, s->joint_count + 1);
    if (!poses || !broken) {
        tl_free(poses);
        tl_free(broken);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to draw %d bodies", s->body_count);
    }
    const tl_joint_state *joints = sim->joints.count ? tl_state_find(&sim->state, &tl_joints_kind) : NULL;
    for (int k = 0; joints && k < sim->joints.count; k++) broken[k] = joints->joint[k].broken > 0;
    for (int i = 0; i < s->body_count; i++) poses[i] = tl_rigid_pose(&sim->rigid.body[i], &sim->state.rigid.body[i]);
    tl_image image = {0};
    talus_status status = draw(sim, clouds, poses, broken, &r, &image, err);

    char frame[32], time[40];
    snprintf(frame, sizeof frame, "%" PRId64, sim->state.frame);
    snprintf(time, sizeof time, "%.6g s", sim->state.t);
    const tl_png_note notes[] = {{"Title", *s->title ? s->title : "talus"},
                                 {"Software", "talus " TALUS_VERSION_STRING},
                                 {"Frame", frame},
                                 {"Time", time},
                                 {NULL, NULL}};
    if (status == TALUS_OK) status = tl_png_write(&image, path, notes, err);
    tl_image_free(&image);
    tl_free(poses);
    tl_free(broken);
    return status;
}

talus_status tl_run_picture(const tl_sim *sim, const char *path, int (*progress)(void *user, double done), void *user,
                            talus_error *err)
{
    tl_clouds clouds;
    TL_TRY(tl_clouds_gather(&clouds, sim, false, err));
    talus_status status = tl_sim_tells(sim) ? draw_clouds(sim, &clouds, path, progress, user, err) : TALUS_OK;
    tl_clouds_free(&clouds);
    return tl_comm_agree(sim->comm, status, err);
}
