#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <talus/program.h>
#include <talus/run.h>
#include <unistd.h>

#include "commands.h"
#include "run.h"

#define GRACE_SECONDS 5   /* of processor time that a step has to hear of an interrupt */
#define GRACE_CLOCK 60    /* of the clock */
#define GRACE_RANKS 300   /* of the clock: several processes end the step that they are in */
#define LIVE_SECONDS 0.1  /* between two live lines */
#define PLAIN_SECONDS 10. /* of silence before a plain line that is not due */

static volatile sig_atomic_t together;           /* with other processes */
static volatile sig_atomic_t interrupted, begun; /* begun: the run has its folder and its first frame */

/* Processor time, since a machine with other work gives a step little of the clock's; and that of the clock, for
 * what sleeps. 0: none. */
static void give_grace(int processor, unsigned clock)
{
    struct itimerval t = {.it_value = {.tv_sec = processor}};
    setitimer(ITIMER_PROF, &t, NULL);
    alarm(clock);
}

/* The first leaves the step and saves; by SA_RESETHAND the second kills. While a scene is set up there is nothing to
 * save: that ends at once, however long the set-up would take. */
static void on_interrupt(int signal_number)
{
    static const char text[] = "talus run: interrupted before the first step\n";
    (void)signal_number;
    if (!begun) {
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(130);
    }
    interrupted = 1;
    talus_cancel(1);
    give_grace(together ? 0 : GRACE_SECONDS, together ? GRACE_RANKS : GRACE_CLOCK);
}

/* A library of others that does not come back: nothing of this step can be saved, and the last checkpoint is good. */
static void on_alarm(int signal_number)
{
    static const char text[] =
        "talus run: the step does not end; the last checkpoint is good, go on from it with --resume\n";
    (void)signal_number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(130);
}

void cli_catch_signals(void)
{
    struct sigaction a, hangup;
    memset(&a, 0, sizeof a);
    a.sa_handler = on_interrupt;
    a.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &a, NULL); /* nohup */
    together = cli_joined() > 1;
    if (together) sigaction(SIGUSR1, &a, NULL); /* the one that launchers pass on and leave time for */
    signal(SIGALRM, on_alarm);
    signal(SIGPROF, on_alarm);
    signal(SIGPIPE, SIG_IGN); /* a reader that has gone does not end a run, */
    signal(SIGXFSZ, SIG_IGN); /* and a file that may not grow is a message of ours */
}

/* ---- talk ---- */

void cli_end_line(cli_talk *t)
{
    if (t->line_open) fputc('\n', stderr);
    t->line_open = false;
}

void cli_print_left(double seconds, char *text, size_t room)
{
    if (seconds < 0)
        snprintf(text, room, "-");
    else if (seconds < 99.5)
        snprintf(text, room, "%.0f s", seconds);
    else if (seconds < 99.5 * 60)
        snprintf(text, room, "%.0f min", seconds / 60);
    else
        snprintf(text, room, "%.1f h", seconds / 3600);
}

static void print_progress(cli_talk *t, const talus_progress *p)
{
    const talus_report *r = p->report;
    char left[32], line[200];
    int iterations = 0;
    for (int i = 0; i < r->solves; i++) iterations += r->solve[i].iterations;
    cli_print_left(p->seconds_left, left, sizeof left);
    if (!strcmp(p->phase, "picture"))
        snprintf(line, sizeof line, "frame %lld/%lld  drawing", (long long)p->frame, (long long)p->frames);
    else
        snprintf(line, sizeof line, "frame %lld/%lld  t %.4g s  dt %.3g ms  iterations %d  contacts %lld  left %s",
                 (long long)p->frame, (long long)p->frames, r->time, 1e3 * r->dt, iterations, (long long)r->contacts,
                 left);
    if (t->live)
        cli_live_line(line);
    else
        fprintf(stderr, "%s\n", line);
    t->line_open = t->live;
}

/* To the process that shows all runs of a sweep. When it has gone, this one saves and ends. */
static int send_progress(cli_talk *t, const talus_progress *p)
{
    cli_share share = {p->frame, p->frames};
    if (p->seconds - t->last < LIVE_SECONDS) return interrupted;
    t->last = p->seconds;
    return write(t->progress_to, &share, sizeof share) < 0 || interrupted;
}

/* A terminal gets a line that lives; elsewhere a line per tenth of the frames, and one after a long silence. */
static int show_progress(void *user, const talus_progress *p)
{
    cli_talk *t = user;
    begun = 1;
    if (!strcmp(p->phase, "save")) give_grace(0, 0); /* takes as long as it takes */
    if (t->progress_to) return send_progress(t, p);
    bool frame = !strcmp(p->phase, "frame"), picture = !strcmp(p->phase, "picture");
    int64_t tenth = p->frames > 0 ? 10 * p->frame / p->frames : 10;
    bool due = t->live ? p->seconds - t->last >= LIVE_SECONDS || (frame && p->frame == p->frames)
                       : (frame && tenth > t->tenth) || (!picture && p->seconds - t->last >= PLAIN_SECONDS);
    if (due && !t->quiet) {
        print_progress(t, p);
        t->last = p->seconds;
        t->tenth = tenth;
    }
    return interrupted;
}

static void show_log(void *user, int level, const char *message)
{
    cli_talk *t = user;
    if (t->quiet || level > 1) return;
    cli_end_line(t);
    fprintf(stderr, "talus run: %s%s\n", level == 0 ? "warning: " : "", message);
}

static void show_problem(void *user, const char *file, int line, int note, const char *text)
{
    cli_talk *t = user;
    if (note) return;
    t->problems++;
    if (line > 0)
        fprintf(stderr, "%s:%d: %s\n", cli_plain(file), line, text);
    else
        fprintf(stderr, "%s: %s\n", cli_plain(file), text);
}

/* ---- one run ---- */

/* A word as a shell would need it. */
static void print_word(FILE *f, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:%@";
    if (*word && !word[strspn(word, plain)]) {
        fputs(word, f);
        return;
    }
    if (strcmp(word, cli_plain(word))) { /* control characters: the quotes of bash and zsh that know escapes */
        fputs("$'", f);
        for (; *word; word++)
            if ((unsigned char)*word < 0x20 || (unsigned char)*word >= 0x7f)
                fprintf(f, "\\x%02x", (unsigned char)*word);
            else
                fprintf(f, strchr("'\\", *word) ? "\\%c" : "%c", *word);
        fputc('\'', f);
        return;
    }
    fputc('\'', f);
    for (; *word; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, f);
    fputc('\'', f);
}

static void print_resume(const char *scene, const talus_run_options *o, const char *folder)
{
    fputs("go on with: talus run ", stderr);
    print_word(stderr, scene);
    fputs(" --resume -o ", stderr);
    print_word(stderr, folder);
    if (o->frames) fprintf(stderr, " --frames %d", o->frames);
    if (strcmp(o->scene->size, "small")) fprintf(stderr, " --size %s", o->scene->size);
    for (int i = 0; i < o->scene->settings; i++) {
        fputs(" --set ", stderr);
        print_word(stderr, o->scene->setting[i]);
    }
    fputs(o->history ? " --history" : "", stderr);
    fputs(o->no_pictures ? " --no-pictures\n" : "\n", stderr);
}

int cli_run_one(const char *scene, const talus_run_options *o, cli_talk *t)
{
    talus_run_result r;
    talus_error err = {0};
    t->last = 0;
    t->tenth = -1;
    begun = 0;
    talus_status status = talus_run(scene, o, &r, &err);
    cli_end_line(t);
    if (!cli_is_first()) return 0;
    if (status == TALUS_OK) {
        printf("run      %s (%lld frames, %lld steps, state %016llx)\n", cli_plain(r.folder), (long long)r.frames,
               (long long)r.steps, (unsigned long long)r.hash);
        if (r.picture[0]) printf("picture  %s\n", cli_plain(r.picture));
        cli_print_verdict(&r.verdict);
        return cli_end_verdict("run", &r.verdict, t->quiet);
    }
    if (status == TALUS_INTERRUPTED) {
        if (!t->quiet) fprintf(stderr, "talus run: %s\n", err.message);
        if (!t->quiet && r.folder[0]) print_resume(scene, o, r.folder);
        return 130;
    }
    if (t->problems)
        fprintf(stderr, "%s: %d problem%s\n", cli_plain(scene), t->problems, t->problems == 1 ? "" : "s");
    else
        fprintf(stderr, "talus run: %s\n", err.message);
    return (status == TALUS_BAD_INPUT || status == TALUS_UNSUPPORTED) && !r.steps ? 2 : 1;
}

/* ---- the command ---- */

static void print_help(const cli_option *options)
{
    printf("Usage: talus run SCENE [options]\n\n"
           "Runs a scene: a file, or one that comes with talus by name (talus scenes). Leaves a folder with run.json,\n"
           "steps.csv, bodies.csv, frames for ParaView (open run.pvd), a checkpoint and a picture of the last frame.\n"
           "Without -o that is runs/NAME, or runs/NAME-2 and so on. A folder that holds something is not "
           "overwritten.\n\n");
    cli_print_options(options);
    printf(
        "\nCtrl-C leaves the step, saves and says how to go on; twice ends at once, and --resume still works.\n"
        "A sweep runs every combination of its values, or samples of its ranges, in a folder each in DIR "
        "(runs/NAME-sweep-KEY),\n"
        "several at a time, also after one that fails; DIR/sweep.csv has a row for each. --resume goes on with what is "
        "not\nfinished. Its exit status is the number of variants that failed, 101 for more than 100.\n"
        "It ends with a verdict: how good the answer is, and what to change where it is not (talus report RUN).\n"
        "Exit status: 0 good, 1 the run failed or its verdict is worse than the scene's `accept`, 2 wrong usage or bad "
        "scene, 130 interrupted.\n\nExamples:\n"
        "  talus run stack\n"
        "  talus run stack -o out --frames 50 --set dt_max=0.005\n"
        "  talus run stack -o out --resume --set dt_max=0.005\n"
        "  talus run block-on-slope --sweep angle=20:30:5 --sweep friction=0.3,0.6 --columns "
        "block.x_m,max:fastest_m_s\n"
        "  talus run block-on-slope --sweep angle=20:30 --sample latin:12 --jobs 2\n"
        "  talus run stack -o out --capture contact@20 && talus bench solvers --problem out/contact-20.h5\n");
}

/* What only a sweep reads. */
typedef struct sweep_words {
    const char *sample, *seed, *jobs, *columns, *value[CLI_AXES_MAX];
    int values;
} sweep_words;

static int start_sweep(const sweep_words *w, cli_sweep *s, cli_talk *t)
{
    cli_plan *plan = malloc(sizeof *plan);
    int status = 2;
    s->jobs = talus_threads();
    s->plan = plan;
    s->columns = w->columns;
    if (!plan) return 1;
    bool good = cli_plan_read(plan, w->values, w->value, w->sample, w->seed) &&
                (!w->columns || cli_check_columns(w->columns)) &&
                (!w->jobs || cli_integer("--jobs", w->jobs, 1, CLI_JOBS_MAX, &s->jobs));
    if (s->jobs > CLI_JOBS_MAX) s->jobs = CLI_JOBS_MAX;
    if (good) status = cli_run_sweep(s, t);
    cli_plan_free(plan);
    free(plan);
    return status;
}

/* An option that says something about a sweep, without one. */
static bool lonely(const sweep_words *w)
{
    const char *word = w->sample    ? "--sample"
                       : w->seed    ? "--seed"
                       : w->jobs    ? "--jobs"
                       : w->columns ? "--columns"
                                    : NULL;
    if (!word || w->values) return false;
    fprintf(stderr, "talus run: %s needs a --sweep\n", word);
    return true;
}

int cli_run(int argc, char **argv)
{
    const char *frames = NULL, *threads = NULL, *resume = NULL, *history = NULL, *quiet = NULL, *no_pictures = NULL,
               *unused = NULL, *word = NULL, *setting[CLI_SETTINGS_MAX];
    sweep_words w = {0};
    talus_scene_options so = talus_scene_options_default();
    talus_run_options o = talus_run_options_default();
    const cli_option options[] = {
        {"-o", "DIR", "the run's folder (runs/NAME)", &o.folder},
        {"--frames", "N", "how many (the scene's duration)", &frames},
        {"--threads", "N", "threads (all cores); results do not depend on it", &threads},
        {"--size", "small|paper", "the scene's variable `size`", &so.size},
        {"--set", "KEY=VALUE", "change a key or a parameter of the scene; may be repeated", &unused},
        {"--sweep", "KEY=A,B,C", "one run per value, or KEY=FROM:TO[:STEP]; may be repeated: all combinations",
         &unused},
        {"--sample", "random:N|latin:N", "N samples of the ranges of a sweep instead of all values", &w.sample},
        {"--seed", "N", "of the samples (1)", &w.seed},
        {"--jobs", "N", "runs of a sweep at a time, each in a process (as many as cores)", &w.jobs},
        {"--columns", "A,max:B,BODY.C", "what sweep.csv has: last, min:, max:, mean: of steps.csv, bodies.csv",
         &w.columns},
        {"--resume", NULL, "go on from the folder's checkpoint; the result is the same, bit for bit", &resume},
        {"--history", NULL, "keep every solver's iteration curve, in history.csv", &history},
        {"--capture", "KIND@STEP",
         "write this problem of a step to DIR/KIND-STEP.h5: step, pressure, stress, contact, fixedpoint, rounds; "
         "several with commas",
         &o.capture},
        {"--no-pictures", NULL, "draw nothing", &no_pictures},
        {"--quiet", NULL, "no talk on stderr", &quiet},
        {NULL, NULL, NULL, NULL},
    };
    bool help = false;
    int status;
    argc = cli_take_settings(argc, argv, CLI_SETTINGS_MAX, setting, &so.settings);
    if (argc >= 0) argc = cli_take_repeated(argc, argv, "--sweep", CLI_AXES_MAX, w.value, &w.values);
    if (argc < 0) return 2;
    if ((status = cli_read_options(argc, argv, options, 1, &word, &help))) return status;
    if (help || !word) {
        print_help(options);
        return help ? 0 : 2;
    }
    int count = 0;
    if (lonely(&w)) return 2;
    if (frames && !cli_integer("--frames", frames, 1, 100000000, &o.frames)) return 2;
    if (threads && !cli_integer("--threads", threads, 1, 1024, &count)) return 2;
    if (threads) talus_threads_set(count);
    char shapes[1024], scene[2200];
    if (cli_scenes_folder("shapes", shapes, sizeof shapes)) so.shapes_folder = shapes;
    if (!cli_find_scene(word, scene, sizeof scene)) return cli_no_scene("run", word);
    if (w.values && cli_ranks(&unused) > 1) {
        fprintf(stderr, "talus run: a sweep runs its variants in processes of its own: start one\n");
        return 2;
    }
    if ((status = cli_join_ranks("run"))) return status;
    if (threads) talus_threads_set(count);
    cli_talk t = {.quiet = quiet || !cli_is_first(), .live = !quiet && cli_is_first() && isatty(STDERR_FILENO)};
    so.setting = setting;
    so.problem = show_problem;
    so.problem_user = &t;
    so.print = show_log;
    so.print_user = &t;
    o.scene = &so;
    o.resume = resume != NULL;
    o.history = history != NULL;
    o.no_pictures = no_pictures != NULL;
    o.progress = show_progress;
    o.log = show_log;
    o.user = &t;
    cli_sweep s = {.scene = scene, .run = &o, .threads = count};
    if (w.values) return start_sweep(&w, &s, &t);
    cli_catch_signals();
    return cli_run_one(scene, &o, &t);
}
