#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <talus/program.h>
#include <talus/run.h>
#include <unistd.h>

#include "commands.h"

#define SETTINGS_MAX 64

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

/* One live line on a terminal, nothing elsewhere. */
static int show_progress(void *user, double done)
{
    if (*(const int *)user) fprintf(stderr, "\rrendering %3.0f %%%s", 100 * done, done < 1 ? "" : "\n");
    return interrupted;
}

static void print_problem(void *user, const char *file, int line, int note, const char *text)
{
    if (note) return;
    ++*(int *)user;
    if (line > 0)
        fprintf(stderr, "%s:%d: %s\n", cli_plain(file), line, text);
    else
        fprintf(stderr, "%s: %s\n", cli_plain(file), text);
}

static void print_help(const cli_option *options)
{
    printf(
        "Usage: talus render SCENE|SHAPE|MESH|RUN [options]\n\n"
        "Draws the first state of a scene, a shape (a Lua file that returns one), a triangle mesh (.obj, .ply, .stl),\n"
        "or the frames of a run, given its folder. Scenes and shapes that come with talus go by name: tower, rabbit.\n"
        "Prints the name of the picture. Pictures of a run go to RUN/images: frame-0001.png, ..., sheet.png, and\n"
        "film.mp4 when the ffmpeg program is there and both sides are even.\n\n");
    cli_print_options(options);
    printf("\nViews:");
    for (int i = 0; talus_render_view(i); i++) printf(" %s", talus_render_view(i));
    printf(" (front looks from +z)\n\nExamples:\n"
           "  talus render stack -o stack.png\n"
           "  talus render rabbit --view front --width 640 --height 360 --samples 16\n"
           "  talus render duck --sheet --width 320 --height 180 -o views.png\n"
           "  talus render duck --turn 12 --width 320 --height 180 -o duck.mp4\n"
           "  talus render runs/stack --every 100 --width 320 --height 180\n");
}

/* A file; else a shape of the library, or a scene of talus' own, by name. */
static bool find_input(const char *word, char *path, size_t room)
{
    char folder[1024];
    if (!strpbrk(word, "/.") && !cli_is_file(word) && cli_scenes_folder("shapes", folder, sizeof folder)) {
        snprintf(path, room, "%s/%s.lua", folder, word);
        if (cli_is_file(path)) return true;
    }
    return cli_find_scene(word, path, room);
}

/* scenes/tower/tower.lua gives tower.png (a film: tower.mp4), in the current folder. */
static void default_output(const char *input, bool film, char *out, size_t room)
{
    const char *name = strrchr(input, '/');
    name = name ? name + 1 : input;
    const char *dot = strrchr(name, '.');
    snprintf(out, room, film ? "%.*s.mp4" : "%.*s.png", (int)(dot && dot > name ? dot - name : (long)strlen(name)),
             name);
}

static bool is_run(const char *word)
{
    char path[1200];
    return snprintf(path, sizeof path, "%s/run.json", word) < (int)sizeof path && cli_is_file(path);
}

/* The status of the program after `done`; problems of the scene have been told. */
static int finish(talus_status done, const char *input, int problems, int live, const talus_error *err)
{
    if (done == TALUS_OK) return 0;
    if (problems)
        fprintf(stderr, "%s: %d problem%s\n", cli_plain(input), problems, problems == 1 ? "" : "s");
    else
        fprintf(stderr, "%stalus render: %s\n", done == TALUS_INTERRUPTED && live ? "\n" : "", err->message);
    return done == TALUS_INTERRUPTED ? 130 : done == TALUS_BAD_INPUT ? 2 : 1;
}

/* Prints the picture that shows most of the run. */
static int render_run(const char *folder, int every, int only, const talus_render_options *o, const int *problems)
{
    char path[1300];
    talus_error err = {0};
    talus_status done = talus_render_run(folder, every, only, o, &err);
    if (done == TALUS_OK) {
        snprintf(path, sizeof path, "%s/images/sheet.png", folder);
        if (only >= 0) snprintf(path, sizeof path, "%s/images/frame-%04d.png", folder, only);
        printf("%s\n", cli_plain(path));
    }
    return finish(done, folder, *problems, *(const int *)o->user, &err);
}

int cli_render(int argc, char **argv)
{
    const char *output = NULL, *width = NULL, *height = NULL, *samples = NULL, *threads = NULL, *plain = NULL,
               *quiet = NULL, *sheet = NULL, *turn = NULL, *frame = NULL, *every = NULL, *unused = NULL, *word = NULL,
               *setting[SETTINGS_MAX];
    talus_scene_options s = talus_scene_options_default();
    talus_render_options o = talus_render_options_default();
    const cli_option options[] = {
        {"-o", "FILE.png", "where the picture goes (NAME.png here)", &output},
        {"--width", "N", "pixels (the scene's, else 1280)", &width},
        {"--height", "N", "pixels (the scene's, else 720)", &height},
        {"--samples", "N", "rays per pixel (the scene's, else 16)", &samples},
        {"--view", "NAME", "point of view (the scene's camera, else corner)", &o.view},
        {"--sheet", NULL, "six views on one contact sheet", &sheet},
        {"--turn", "N", "N frames around it: to an .mp4 (needs ffmpeg), or to pictures named like turn-%.png", &turn},
        {"--frame", "N", "a run: this frame alone", &frame},
        {"--every", "N", "a run: one of N frames (about 100 in all)", &every},
        {"--size", "small|paper", "the scene's variable `size`", &s.size},
        {"--set", "KEY=VALUE", "change a key or a parameter of the scene; may be repeated", &unused},
        {"--plain", NULL, "leave the noise in", &plain},
        {"--threads", "N", "threads (all cores); the picture does not depend on it", &threads},
        {"--quiet", NULL, "no progress on stderr", &quiet},
        {NULL, NULL, NULL, NULL},
    };
    int settings;
    argc = cli_take_settings(argc, argv, SETTINGS_MAX, setting, &settings);
    if (argc < 0) return 2;
    bool help = false;
    int status = cli_read_options(argc, argv, options, 1, &word, &help);
    if (status) return status;
    if (help || !word) {
        print_help(options);
        return help ? 0 : 2;
    }
    int count, stride = 0, only = -1;
    if (frame && !cli_integer("--frame", frame, 0, 1000000000, &only)) return 2;
    if (every && !cli_integer("--every", every, 1, 1000000000, &stride)) return 2;
    if (width && !cli_integer("--width", width, 1, 16384, &o.width)) return 2;
    if (height && !cli_integer("--height", height, 1, 16384, &o.height)) return 2;
    if (samples && !cli_integer("--samples", samples, 1, 65536, &o.samples)) return 2;
    if (turn && !cli_integer("--turn", turn, 2, 9999, &o.turn)) return 2;
    o.sheet = sheet != NULL;
    if (threads) {
        if (!cli_integer("--threads", threads, 1, 1024, &count)) return 2;
        talus_threads_set(count);
    }
    char shapes[1024], input[2200], made[300];
    if (cli_scenes_folder("shapes", shapes, sizeof shapes)) s.shapes_folder = shapes;
    bool run = is_run(word);
    if ((frame || every) && !run) {
        fprintf(stderr, "talus render: --frame and --every are for the folder of a run; '%s' is none\n",
                cli_plain(word));
        return 2;
    }
    if (run && (output || settings)) {
        fprintf(stderr, "talus render: a run has its settings, and its pictures go to %s/images\n", cli_plain(word));
        return 2;
    }
    if (!run && !find_input(word, input, sizeof input)) {
        fprintf(stderr, "talus render: no file '%s', and no shape or scene of that name\n", cli_plain(word));
        return 2;
    }
    if (!output && !run) {
        default_output(input, o.turn > 0, made, sizeof made);
        output = made;
    }
    s.settings = settings;
    s.setting = setting;
    int problems = 0;
    s.problem = print_problem;
    s.problem_user = &problems;
    o.scene = &s;
    o.plain = plain != NULL;
    int live = !quiet && isatty(STDERR_FILENO);
    o.progress = show_progress;
    o.user = &live;
    signal(SIGINT, on_interrupt);
    if (run) return render_run(word, stride, only, &o, &problems);
    talus_error err = {0};
    talus_status done = talus_render_file(input, output, &o, &err);
    if (done == TALUS_OK) printf("%s\n", cli_plain(output));
    return finish(done, input, problems, live, &err);
}
