/* Many runs: a process per variant, some at a time, one display, one table at the end. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <talus/program.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "run.h"

#define LIVE_SECONDS 0.2

typedef struct job {
    pid_t process;
    int variant, pipe;
    FILE *out, *err; /* what the process prints, shown when it has ended */
    cli_share share;
    double begun;
} job;

typedef struct crew {
    const cli_sweep *sweep;
    cli_talk *talk;
    char parent[512];
    job job[CLI_JOBS_MAX];
    int jobs, next, ended, failed; /* at work, variant to start next, ended, of these failed */
    cli_ending *ending;            /* [variants] */
    double begun, last;
} crew;

static volatile sig_atomic_t stop_signals;

static void on_stop(int number)
{
    (void)number;
    stop_signals++;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the process of a variant ---- */

/* Does not return. The process has used nothing of the library before. */
static void work(const crew *c, const job *j, const char *folder)
{
    const cli_sweep *s = c->sweep;
    talus_run_options o = *s->run;
    talus_scene_options so = *s->run->scene;
    const char *setting[CLI_SETTINGS_MAX + CLI_AXES_MAX];
    char added[CLI_AXES_MAX][CLI_SETTING_ROOM];
    memcpy(setting, so.setting, sizeof *setting * (size_t)so.settings);
    for (int i = 0; i < s->plan->axes; i++) {
        cli_plan_setting(s->plan, j->variant, i, added[i], sizeof added[i]);
        setting[so.settings++] = added[i];
    }
    cli_talk t = {.quiet = c->talk->quiet, .progress_to = j->pipe};
    so.setting = setting;
    so.problem_user = so.print_user = &t;
    o.scene = &so;
    o.folder = folder;
    o.user = &t;
    dup2(fileno(j->out), STDOUT_FILENO);
    dup2(fileno(j->err), STDERR_FILENO);
    int threads = s->threads ? s->threads : talus_threads() / s->jobs;
    talus_threads_set(threads > 1 ? threads : 1);
    int code = cli_run_one(s->scene, &o, &t);
    fflush(NULL);
    _exit(code);
}

static void folder_of(const crew *c, int variant, char *out, size_t room)
{
    int n = snprintf(out, room, "%s/", c->parent);
    cli_plan_name(c->sweep->plan, variant, out + n, room - (size_t)n);
}

static void close_job(job *j)
{
    if (j->pipe > 0) close(j->pipe);
    if (j->out) fclose(j->out);
    if (j->err) fclose(j->err);
}

/* Signals wait while a process is made, so that each meets the right handler. */
static bool start(crew *c)
{
    char folder[1024];
    int ends[2] = {0};
    sigset_t held, before;
    job j = {.variant = c->next, .out = tmpfile(), .err = tmpfile(), .begun = now()};
    bool good = j.out && j.err && pipe(ends) == 0;
    folder_of(c, j.variant, folder, sizeof folder);
    fflush(NULL);
    sigemptyset(&held);
    sigaddset(&held, SIGINT), sigaddset(&held, SIGTERM), sigaddset(&held, SIGHUP);
    sigprocmask(SIG_BLOCK, &held, &before);
    j.process = good ? fork() : -1;
    if (j.process == 0) {
        close(ends[0]);
        for (int i = 0; i < c->jobs; i++) close(c->job[i].pipe);
        j.pipe = ends[1];
        cli_catch_signals();
        sigprocmask(SIG_SETMASK, &before, NULL);
        work(c, &j, folder);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    j.pipe = ends[0];
    if (ends[1]) close(ends[1]);
    if (j.process < 0) {
        fprintf(stderr, "talus run: cannot start a process: %s\n", strerror(errno));
        close_job(&j);
        return false;
    }
    c->job[c->jobs++] = j;
    c->next++;
    return true;
}

/* ---- one display ---- */

static double share_of(const job *j)
{
    return j->share.frames > 0 ? (double)j->share.frame / (double)j->share.frames : 0;
}

static void show_live(crew *c)
{
    char line[256], left[32], name[64];
    double done = c->ended, spent = now() - c->begun;
    if (!c->talk->live || spent - c->last < LIVE_SECONDS) return;
    c->last = spent;
    for (int i = 0; i < c->jobs; i++) done += share_of(&c->job[i]);
    cli_print_left(done > 0 ? spent * (c->sweep->plan->variants - done) / done : -1, left, sizeof left);
    int n = snprintf(line, sizeof line, "%d/%d done, %d failed, left %s", c->ended, c->sweep->plan->variants, c->failed,
                     left);
    for (int i = 0; i < c->jobs && n < 60; i++) {
        cli_plan_name(c->sweep->plan, c->job[i].variant, name, sizeof name);
        n += snprintf(line + n, sizeof line - (size_t)n, "  %.24s %.0f %%", name, 100 * share_of(&c->job[i]));
    }
    cli_live_line(line);
    c->talk->line_open = true;
}

static void show_file(FILE *from, FILE *to)
{
    char text[4096];
    rewind(from);
    for (size_t n; (n = fread(text, 1, sizeof text, from)) > 0;) fwrite(text, 1, n, to);
    fflush(to);
}

static void end_job(crew *c, int i, int status)
{
    job *j = &c->job[i];
    char name[256];
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    cli_plan_name(c->sweep->plan, j->variant, name, sizeof name);
    c->ending[j->variant] = (cli_ending){code, now() - j->begun};
    c->ended++;
    c->failed += code != 0 && code != 130;
    cli_end_line(c->talk);
    if (!c->talk->quiet) fprintf(stderr, "%d of %d: %s\n", j->variant + 1, c->sweep->plan->variants, cli_plain(name));
    if (WIFSIGNALED(status)) fprintf(stderr, "talus run: ended by signal %d\n", WTERMSIG(status));
    show_file(j->err, stderr);
    show_file(j->out, stdout);
    close_job(j);
    *j = c->job[--c->jobs];
}

/* Progress, and the end of processes: their end of the pipe closes then. */
static void listen(crew *c)
{
    struct pollfd ends[CLI_JOBS_MAX];
    for (int i = 0; i < c->jobs; i++) ends[i] = (struct pollfd){.fd = c->job[i].pipe, .events = POLLIN};
    if (poll(ends, (nfds_t)c->jobs, 1000) <= 0) return;
    for (int i = c->jobs - 1; i >= 0; i--) {
        if (!ends[i].revents) continue;
        cli_share share;
        int status;
        if (read(c->job[i].pipe, &share, sizeof share) == (ssize_t)sizeof share) {
            c->job[i].share = share;
            continue;
        }
        while (waitpid(c->job[i].process, &status, 0) < 0 && errno == EINTR) {
        }
        end_job(c, i, status);
    }
}

/* ---- all ---- */

static void default_parent(const cli_sweep *s, char *out, size_t room)
{
    const char *slash = strrchr(s->scene, '/'), *name = slash ? slash + 1 : s->scene, *dot = strrchr(name, '.');
    int n = snprintf(out, room, "runs/%.*s-sweep", (int)(dot && dot > name ? dot - name : (long)strlen(name)), name);
    for (int i = 0; i < s->plan->axes && (size_t)n < room - 1; i++)
        n += snprintf(out + n, room - (size_t)n, "-%s", s->plan->axis[i].key);
}

/* The first signal lets processes save; the next ends them at once. */
static void run_all(crew *c)
{
    int heard = 0;
    while (c->jobs || (c->next < c->sweep->plan->variants && !stop_signals)) {
        while (!stop_signals && c->jobs < c->sweep->jobs && c->next < c->sweep->plan->variants)
            if (!start(c)) {
                if (!c->jobs) return;
                break;
            }
        if (heard < stop_signals) {
            heard = stop_signals;
            for (int i = 0; i < c->jobs; i++) kill(c->job[i].process, SIGTERM);
        }
        show_live(c);
        if (c->jobs) listen(c);
    }
}

static void catch_stops(void)
{
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = on_stop;
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
    sigaction(SIGHUP, &a, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int cli_run_sweep(const cli_sweep *s, cli_talk *t)
{
    int variants = s->plan->variants;
    crew *c = calloc(1, sizeof *c);
    if (c) c->ending = calloc((size_t)variants, sizeof *c->ending);
    if (!c || !c->ending) {
        fprintf(stderr, "talus run: no memory for %d variants\n", variants);
        free(c);
        return 1;
    }
    c->sweep = s, c->talk = t, c->begun = now(), c->last = -LIVE_SECONDS; /* at once: runs may take less */
    for (int i = 0; i < variants; i++) c->ending[i].code = -1;
    if (s->run->folder)
        snprintf(c->parent, sizeof c->parent, "%.500s", s->run->folder);
    else
        default_parent(s, c->parent, sizeof c->parent);
    catch_stops();
    run_all(c);
    cli_end_line(t);
    bool written = cli_write_table(s, c->parent, c->ending);
    if (written) printf("table    %s/sweep.csv\n", cli_plain(c->parent));
    int failed = c->failed, missing = variants - c->ended;
    for (int i = 0; i < variants; i++) missing += c->ending[i].code == 130;
    if (failed) fprintf(stderr, "talus run: %d of %d values failed\n", failed, variants);
    if (missing)
        fprintf(stderr, "talus run: %d of %d variants are not finished; the same command with --resume goes on\n",
                missing, variants);
    free(c->ending);
    free(c);
    return missing ? 130 : failed ? (failed > 100 ? 101 : failed) : !written;
}
