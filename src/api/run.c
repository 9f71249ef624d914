#include <stdio.h>
#include <talus/run.h>

#include "api/need.h"
#include "api/scene.h"
#include "api/sim.h"
#include "base/comm.h"
#include "io/run_json.h"
#include "run/folder.h"
#include "run/run.h"
#include "run/verdict.h"

talus_run_options talus_run_options_default(void) { return (talus_run_options){0}; }

static int pass_progress(void *user, const tl_run_progress *p)
{
    const talus_run_options *o = user;
    talus_report report;
    tl_report_to_public(p->report, &report);
    talus_progress out = {.frame = p->frame,
                          .frames = p->frames,
                          .report = &report,
                          .seconds = p->seconds,
                          .seconds_left = p->seconds_left,
                          .phase = p->phase};
    return o->progress(o->user, &out);
}

talus_status talus_run(const char *path, const talus_run_options *options, talus_run_result *result, talus_error *err)
{
    TL_NEED(path);
    talus_run_options o = options ? *options : talus_run_options_default();
    talus_scene_options plain = talus_scene_options_default();
    const talus_scene_options *so = o.scene ? o.scene : &plain;
    talus_run_result own;
    if (!result) result = &own;
    *result = (talus_run_result){0};
    if (o.frames < 0) return TL_FAIL(err, TALUS_BAD_INPUT, "frames must be >= 0, got %d", o.frames);

    tl_load_options load;
    tl_scene *scene;
    const tl_comm *comm = tl_comm_joined();
    TL_TRY(tl_scene_options_from(so, &load, err));
    TL_TRY(tl_comm_agree(comm, tl_scene_load(&scene, path, &load, err), err));
    tl_run_options ro = {.folder = o.folder,
                         .frames = o.frames,
                         .resume = o.resume != 0,
                         .history = o.history != 0,
                         .no_pictures = o.no_pictures != 0,
                         .capture = o.capture,
                         .size = so->size,
                         .settings = so->settings,
                         .setting = so->setting,
                         .progress = o.progress ? pass_progress : NULL,
                         .user = &o,
                         .log = {tl_comm_alone(comm) || comm->part == 0 ? o.log : NULL, o.user, 2},
                         .comm = comm};
    talus_status status = tl_run(scene, &ro, result, err);
    tl_scene_free(scene);
    return status;
}

talus_status talus_run_verdict(const char *folder, talus_verdict *out, talus_error *err)
{
    TL_NEED(folder);
    TL_NEED(out);
    char path[TL_PATH_ROOM];
    tl_run_record record;
    *out = (talus_verdict){0};
    if (snprintf(path, sizeof path, "%s/run.json", folder) >= TL_PATH_ROOM - 16)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the path '%.60s...' is too long", folder);
    TL_TRY(tl_run_json_read(&record, path, err));
    tl_accept_spec accept = record.accept;
    bool open = record.open_walls;
    tl_run_record_free(&record);
    snprintf(path, sizeof path, "%s/steps.csv", folder);
    return tl_verdict_reckon(path, &accept, open, out, err);
}
