/* A breaking dam in talus and in Mantaflow, as Blender runs it without a window: processor time of a frame, on one
 * thread, everybody's defaults. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parallel.h"
#include "base/timer.h"
#include "lab/bench/peers.h"
#include "lab/world.h"

extern char **environ;

#define FIRST 12 /* frames until the water has met the far wall */
#define LAST 17

/* Every bake begins at the start; z is up. 8 particles per cell, CFL 4, one to four steps per frame: its defaults.
 * Nothing is meshed. */
static const char script[] =
    "import bpy, shutil, sys, tempfile, time\n"
    "cells, last = (int(a) for a in sys.argv[sys.argv.index('--') + 1:])\n"
    "for o in list(bpy.data.objects): bpy.data.objects.remove(o)\n"
    "def cube(size, at):\n"
    "    bpy.ops.mesh.primitive_cube_add(size=1, location=at)\n"
    "    o = bpy.context.object\n"
    "    o.scale = size\n"
    "    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)\n"
    "    return o, o.modifiers.new('fluid', 'FLUID')\n"
    "box, domain = cube((1, 1, 1), (0.5, 0.5, 0.5))\n"
    "water, flow = cube((0.4, 1, 0.6), (0.2, 0.5, 0.3))\n"
    "scene = bpy.context.scene\n"
    "scene.render.fps, scene.gravity, scene.frame_end = 24, (0, 0, -9.81), last\n"
    "flow.fluid_type = 'FLOW'\n"
    "flow.flow_settings.flow_type, flow.flow_settings.flow_behavior = 'LIQUID', 'GEOMETRY'\n"
    "domain.fluid_type = 'DOMAIN'\n"
    "d = domain.domain_settings\n"
    "d.domain_type, d.resolution_max, d.use_mesh, d.cache_type = 'LIQUID', cells, False, 'ALL'\n"
    "d.cache_frame_start = 1\n"
    "bpy.context.view_layer.objects.active = box\n"
    "d.cache_directory, d.cache_frame_end = tempfile.mkdtemp(), last\n"
    "began = time.process_time()\n"
    "bpy.ops.fluid.bake_all()\n"
    "print('mantaflow', time.process_time() - began)\n"
    "shutil.rmtree(d.cache_directory, ignore_errors=True)\n";

/* Processor seconds up to two frames. */
typedef struct spent {
    bool there;
    double first, last;
} spent;

static bool read_answer(int from, double *out)
{
    char line[512];
    bool there = false;
    FILE *in = fdopen(from, "r");
    while (in && fgets(line, sizeof line, in)) there |= sscanf(line, "mantaflow %lf", out) == 1;
    if (in)
        fclose(in);
    else
        close(from);
    return there;
}

/* there: there is a blender. */
static talus_status run_mantaflow(int cells, int frames, double *out, bool *there, talus_error *err)
{
    char size[16], last[16];
    snprintf(size, sizeof size, "%d", cells);
    snprintf(last, sizeof last, "%d", frames);
    char *const argv[] = {"blender", "-b", "--factory-startup", "-t", "1", "--python-expr", (char *)script, "--", size,
                          last,      NULL};
    int ends[2], status;
    pid_t child;
    *there = false;
    if (pipe(ends) != 0) return TL_FAIL(err, TALUS_IO, "no pipe to blender: %s", strerror(errno));
    posix_spawn_file_actions_t a;
    posix_spawn_file_actions_init(&a);
    posix_spawn_file_actions_addopen(&a, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&a, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&a, ends[1], 1);
    posix_spawn_file_actions_addclose(&a, ends[0]);
    int why = posix_spawnp(&child, "blender", &a, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&a);
    close(ends[1]);
    if (why) {
        close(ends[0]);
        return why == ENOENT || why == EACCES ? TALUS_OK
                                              : TL_FAIL(err, TALUS_IO, "cannot start blender: %s", strerror(why));
    }
    *there = read_answer(ends[0], out);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return *there ? TALUS_OK : TL_FAIL(err, TALUS_IO, "blender ran and told no times");
}

static talus_status run_talus(const talus_bench_options *o, int cells, spent *out, talus_error *err)
{
    char size[32];
    const char *setting = size;
    snprintf(size, sizeof size, "cells=%d", cells);
    tl_load_options load = {.setting_count = 1, .setting = &setting};
    tl_world w;
    TL_TRY(tl_world_gallery(&w, o->scenes, "dam-break", &load, err));
    double began = tl_cpu_seconds();
    talus_status status = tl_world_frames(&w, FIRST, err);
    out->first = tl_cpu_seconds() - began;
    if (status == TALUS_OK) status = tl_world_frames(&w, LAST, err);
    out->last = tl_cpu_seconds() - began;
    out->there = true;
    tl_world_close(&w);
    return status;
}

talus_status tl_peers_dam(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const columns[] = {
        "dam break", "cells", "CPU s, frames 1 to 12", "CPU s per frame, 13 to 17", "frame over talus'", NULL};
    const int cells = o->size ? o->size : 64;
    spent of[2] = {{0}, {0}};
    static const char *const name[2] = {"talus", "Mantaflow"};
    tl_threads_set(1);
    TL_TRY(run_talus(o, cells, &of[0], err));
    TL_TRY(run_mantaflow(cells, FIRST, &of[1].first, &of[1].there, err));
    if (of[1].there) TL_TRY(run_mantaflow(cells, LAST, &of[1].last, &of[1].there, err));
    tl_table_header(t, columns);
    for (int k = 0; k < 2; k++) {
        if (!of[k].there) continue;
        double frame = (of[k].last - of[k].first) / (LAST - FIRST);
        tl_table_cell(t, "%s", name[k]);
        tl_table_cell(t, "%d^3", cells);
        tl_table_cell(t, "%.2f", of[k].first);
        tl_table_cell(t, "%.3f", frame);
        tl_table_cell(t, "%.2f", frame / ((of[0].last - of[0].first) / (LAST - FIRST)));
        tl_table_send(t, TALUS_ROW_DATA);
    }
    if (!of[1].there)
        tl_table_line(t, TALUS_ROW_NOTE, "Mantaflow is not here: install Debian's package blender to compare");
    tl_table_line(
        t, TALUS_ROW_NOTE,
        "One thread, 24 frames per second, 8 particles per cell, own defaults: talus goes at most 2 cells and "
        "a quarter of sqrt(dx / g) per step, Mantaflow 4 cells and at most four steps per frame.");
    return TALUS_OK;
}
