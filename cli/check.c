#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <talus/cluster.h>
#include <talus/program.h>
#include <talus/scene.h>
#include <talus/sim.h>
#include <unistd.h>

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

#define TRIAL_SECONDS 3 /* longest that trial steps may take before the estimate says "more than" */

static void on_alarm(int signal)
{
    (void)signal;
    talus_cancel(1); /* NOLINT(bugprone-signal-handler): made for handlers, it stores one atomic number */
}

static void print_time(double seconds)
{
    if (seconds < 100)
        printf("%.2g s", seconds);
    else if (seconds < 6000)
        printf("%.0f minutes", seconds / 60);
    else
        printf("%.1f hours", seconds / 3600);
}

static void print_counts(const talus_cost *c)
{
    const char *comma = "  ";
    const struct {
        int64_t count;
        const char *name;
    } list[] = {
        {c->particles, "particles"}, {c->cells, "cells with matter"}, {c->nodes, "nodes"}, {c->elements, "elements"}};
    for (int i = 0; i < 4; i++)
        if (list[i].count) printf("%s%lld %s", comma, (long long)list[i].count, list[i].name), comma = ", ";
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%sabout %.0f MB of memory\n", comma, (double)used.ru_maxrss / 1024);
}

/* Trial steps tell what the run will cost. Nothing is said where they fail: the run says why. */
static void print_cost(talus_sim *sim)
{
    talus_cost c;
    signal(SIGALRM, on_alarm);
    alarm(TRIAL_SECONDS);
    talus_status status = talus_sim_cost(sim, &c, NULL);
    alarm(0);
    talus_cancel(0);
    if (status != TALUS_OK) return;
    print_counts(&c);
    printf("  %s", c.at_least ? "more than " : "about ");
    print_time(c.seconds);
    printf(" on %d threads here: %.0f steps of %.3g s, %s%.2g s each as it begins\n", talus_threads(), c.steps, c.dt,
           c.at_least ? "more than " : "", c.seconds_per_step);
}

/* What `talus run` would say before its first step, by doing the same. `summary`: path to tell what is in it; NULL:
 * not. */
static int check_start(const talus_scene *scene, const char *summary)
{
    talus_sim *sim;
    talus_error err = {0};
    talus_sim_options o = {.log = print_text};
    if (talus_sim_create(scene, &o, &sim, &err) != TALUS_OK) {
        fprintf(stderr, "talus check: %s\n", err.message);
        return 2;
    }
    if (summary) {
        print_summary(scene, summary);
        fflush(stdout);
        print_cost(sim);
    }
    talus_sim_free(sim);
    return 0;
}

static void print_bytes(const char *what, double bytes)
{
    printf("  %s %.3g %s\n", what, bytes < 1e9 ? bytes / 1e6 : bytes / 1e9, bytes < 1e9 ? "MB" : "GB");
}

#define WORTH_BLOCKS 200 /* of a process: with fewer its copies of others' cost more than threads would */

/* By the shapes of fills alone: a scene that is larger than this machine is not set up. */
static int check_ranks(const talus_scene *scene, const char *path, int ranks, bool quiet)
{
    talus_cluster_cost c;
    talus_error err;
    if (talus_cluster_plan(scene, ranks, &c, &err) != TALUS_OK) {
        fprintf(stderr, "talus check: %s\n", err.message);
        return 2;
    }
    if (quiet) return 0;
    print_summary(scene, path);
    printf("  about %.3g particles in %.3g cells, among %d processes: most over mean %.3g\n", c.particles, c.cells,
           ranks, c.imbalance);
    printf("  the largest: %.3g particles, %lld blocks of 8^3 cells, copies of %lld blocks of others\n",
           c.most_particles, (long long)c.blocks, (long long)c.halo_blocks);
    print_bytes("memory: of each process in a step up to", c.bytes);
    print_bytes("of the first while it makes all particles", c.bytes_start);
    print_bytes("of the first besides, for frames and checkpoints,", c.bytes_first);
    printf("  by the model about %.2g s a step with one core each, efficiency %.2f\n", c.seconds_per_step,
           c.efficiency);
    if (c.blocks < WORTH_BLOCKS && ranks > 1)
        printf("  fewer than %d blocks for a process: threads are the better use of cores\n", WORTH_BLOCKS);
    return 0;
}

int cli_check(int argc, char **argv)
{
    const char *size = "small", *several = NULL, *reference = NULL, *views = NULL, *quiet = NULL, *unused = NULL,
               *path = NULL;
    const char *setting[SETTINGS_MAX];
    int settings;
    bool help = false;
    const cli_option options[] = {
        {"--set", "KEY=VALUE", "change a key or a parameter of the scene; may be repeated", &unused},
        {"--size", "small|paper", "the scene's variable `size`", &size},
        {"--ranks", "N", "what it costs in N processes of a cluster (docs/cluster.md)", &several},
        {"--reference", NULL, "print the reference of the scene language, as Markdown", &reference},
        {"--views", NULL, "print the list of views of the library, as Markdown", &views},
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
               "up\nas 'talus run' would. Two steps that are undone tell what a run will cost. Exit status: 0 good, 2 "
               "not.\n\n");
        cli_print_options(options);
        return 0;
    }
    if (reference) {
        talus_scene_reference(print_page, NULL);
        return 0;
    }
    if (views) {
        talus_view_reference(print_page, NULL);
        return 0;
    }
    int ranks = 0;
    if (several && !cli_integer("--ranks", several, 1, 4096, &ranks)) return 2;
    if (!path) {
        fprintf(stderr, "talus check: which scene?\nSee 'talus check --help'.\n");
        return 2;
    }

    char folder[4096], scene_path[4096];
    if (cli_find_scene(path, scene_path, sizeof scene_path))
        path = scene_path;
    else if (!strpbrk(path, "/."))
        return cli_no_scene("check", path);
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
    status = ranks ? check_ranks(scene, path, ranks, quiet != NULL) : check_start(scene, quiet ? NULL : path);
    talus_scene_free(scene);
    return status;
}
