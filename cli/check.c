#include <stdio.h>
#include <string.h>
#include <talus/program.h>
#include <talus/scene.h>
#include <talus/sim.h>

#include "commands.h"

#define SETTINGS_MAX 64

static void print_problem(void *user, const char *file, int line, int note, const char *text)
{
    int *count = user;
    count[note]++;
    if (line > 0)
        fprintf(stderr, "%s:%d: %s%s\n", cli_plain(file), line, note ? "note: " : "", text);
    else
        fprintf(stderr, "%s: %s%s\n", cli_plain(file), note ? "note: " : "", text);
}

static void print_text(void *user, int level, const char *message)
{
    (void)user;
    (void)level;
    fprintf(stderr, "%s\n", message);
}

static void print_page(void *user, const char *text)
{
    (void)user;
    fputs(text, stdout);
}

static void print_summary(const talus_scene *scene, const char *path)
{
    char line[256];
    printf("%s is good%s%s\n", cli_plain(path), *talus_scene_title(scene) ? ": " : "",
           cli_plain(talus_scene_title(scene)));
    for (int i = 0; talus_scene_summary(scene, i, line, sizeof line); i++) printf("  %s\n", cli_plain(line));
}

int cli_take_settings(int argc, char **argv, int most, const char **setting, int *settings)
{
    int kept = 1;
    *settings = 0;
    for (int i = 1; i < argc; i++) {
        const char *value = NULL;
        if (!strncmp(argv[i], "--set=", 6)) value = argv[i] + 6;
        if (!strcmp(argv[i], "--set") && i + 1 < argc) value = argv[++i];
        if (!value) {
            argv[kept++] = argv[i];
            continue;
        }
        if (*settings == most) {
            fprintf(stderr, "talus %s: at most %d --set\n", argv[0], most);
            return -1;
        }
        setting[(*settings)++] = value;
    }
    return kept;
}

/* What `talus run` would say before its first step, by doing the same. */
static int check_start(const talus_scene *scene)
{
    talus_sim *sim;
    talus_error err = {0};
    talus_sim_options o = {.log = print_text};
    if (talus_sim_create(scene, &o, &sim, &err) != TALUS_OK) {
        fprintf(stderr, "talus check: %s\n", err.message);
        return 2;
    }
    talus_sim_free(sim);
    return 0;
}

int cli_check(int argc, char **argv)
{
    const char *size = "small", *reference = NULL, *quiet = NULL, *unused = NULL, *path = NULL;
    const char *setting[SETTINGS_MAX];
    int settings;
    bool help = false;
    const cli_option options[] = {
        {"--set", "KEY=VALUE", "change a key or a parameter of the scene; may be repeated", &unused},
        {"--size", "small|paper", "the scene's variable `size`", &size},
        {"--reference", NULL, "print the reference of the scene language, as Markdown", &reference},
        {"--quiet", NULL, "print nothing when the scene is good", &quiet},
        {NULL, NULL, NULL, NULL},
    };
    argc = cli_take_settings(argc, argv, SETTINGS_MAX, setting, &settings);
    if (argc < 0) return 2;
    int status = cli_read_options(argc, argv, options, 1, &path, &help);
    if (status) return status;
    if (help) {
        printf("Usage: talus check SCENE [options]\n\nReads a scene, tells every problem in it with file and line, and "
               "sets it "
               "up\nas 'talus run' would, without a step. Exit status: 0 good, 2 not.\n\n");
        cli_print_options(options);
        return 0;
    }
    if (reference) {
        talus_scene_reference(print_page, NULL);
        return 0;
    }
    if (!path) {
        fprintf(stderr, "talus check: which scene?\nSee 'talus check --help'.\n");
        return 2;
    }

    char folder[4096];
    int count[2] = {0, 0};
    talus_error err;
    talus_scene *scene;
    talus_scene_options o = talus_scene_options_default();
    o.size = size;
    o.settings = settings;
    o.setting = setting;
    o.problem = print_problem;
    o.problem_user = count;
    o.print = print_text;
    if (cli_scenes_folder("shapes", folder, sizeof folder)) o.shapes_folder = folder;
    if (talus_scene_load(path, &o, &scene, &err) != TALUS_OK) {
        if (!count[0]) fprintf(stderr, "talus check: %s\n", err.message);
        if (count[0]) fprintf(stderr, "%s: %d problem%s\n", cli_plain(path), count[0], count[0] == 1 ? "" : "s");
        return 2;
    }
    status = check_start(scene);
    if (!quiet && !status) print_summary(scene, path);
    talus_scene_free(scene);
    return status;
}
