#include <stdio.h>
#include <talus/run.h>

#include "commands.h"

static void print_problem(void *user, const char *file, int line, int note, const char *text)
{
    if (note) return;
    ++*(int *)user;
    fprintf(stderr, "%s:%d: %s\n", cli_plain(file), line, text);
}

static void print_help(const cli_option *options)
{
    printf("Usage: talus export RUN [options]\n\n"
           "Writes the surfaces of all bodies at their places, one file per frame (bodies-0001.ply, ...), for other\n"
           "programs. ply: velocities and ids at vertices, body index at faces; obj: an object per body, named; vtk: "
           ".vtp with\n"
           "velocities and body index. Prints the folder.\n\n");
    cli_print_options(options);
    printf("\nExamples:\n"
           "  talus export runs/stack\n"
           "  talus export runs/stack --format obj --frame 20 -o for-blender\n");
}

int cli_export(int argc, char **argv)
{
    const char *format = "ply", *frame = NULL, *output = NULL, *folder = NULL;
    const cli_option options[] = {
        {"--format", "ply|obj|vtk", "of the files (ply)", &format},
        {"--frame", "N", "this frame alone", &frame},
        {"-o", "FOLDER", "where the files go (RUN/export)", &output},
        {NULL, NULL, NULL, NULL},
    };
    bool help = false;
    int status = cli_read_options(argc, argv, options, 1, &folder, &help);
    if (status) return status;
    if (help || !folder) {
        print_help(options);
        return help ? 0 : 2;
    }
    int only = -1, problems = 0;
    if (frame && !cli_integer("--frame", frame, 0, 1000000000, &only)) return 2;
    char made[1200], shapes[1024];
    snprintf(made, sizeof made, "%s/export", folder);
    if (!output) output = made;
    talus_scene_options s = talus_scene_options_default();
    if (cli_scenes_folder("shapes", shapes, sizeof shapes)) s.shapes_folder = shapes;
    s.problem = print_problem;
    s.problem_user = &problems;
    talus_error err = {0};
    talus_status done = talus_export(folder, format, only, output, &s, &err);
    if (done == TALUS_OK) {
        printf("%s\n", cli_plain(output));
        return 0;
    }
    if (!problems) fprintf(stderr, "talus export: %s\n", err.message);
    return done == TALUS_BAD_INPUT ? 2 : 1;
}
