#include "lab/validate.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <talus/program.h>

#include "commands.h"

#define CASES_MAX 512

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static int print_row(void *user, const talus_check_row *r)
{
    char expected[64];
    if (isinf(r->expected))
        snprintf(expected, sizeof expected, "%s %.6g", r->expected < 0 ? "at most" : "at least", r->tolerance);
    else
        snprintf(expected, sizeof expected, "%.8g +- %.2g", r->expected, r->tolerance);
    ++*(int *)user;
    printf("%-6s %-6s %-44s %16.9g  %-28s %s\n", r->group, r->name, r->quantity, r->measured, expected,
           r->passed ? "pass" : "FAIL");
    fflush(stdout);
    return interrupted;
}

static void print_help(const cli_option *options)
{
    printf("Usage: talus validate [GROUP [CASE]] [options]\n\n"
           "Runs the numbered physics cases and prints what was measured beside what is expected. Without a name, all\n"
           "of them. Exit status 1 when one misses.\n\n");
    cli_print_options(options);
    printf("\nCases:\n");
    for (int i = 0; talus_validate_name(i); i++)
        printf("  %-6s %-6s %s%s\n", talus_validate_group(i), talus_validate_name(i), talus_validate_about(i),
               talus_validate_quick(i) ? "" : " (long)");
}

static bool wanted(int i, const char *const *word, bool quick)
{
    if (word[0] && strcmp(word[0], talus_validate_group(i))) return false;
    if (word[1] && strcmp(word[1], talus_validate_name(i))) return false;
    return !quick || talus_validate_quick(i);
}

/* Groups and cases, the nearest to the word that fits nothing. */
static int no_case(const char *const *word)
{
    const char *names[CASES_MAX + 1] = {0};
    bool group = false; /* is known: the case is not */
    for (int i = 0; talus_validate_name(i); i++) group = group || !strcmp(word[0], talus_validate_group(i));
    for (int i = 0, n = 0; talus_validate_name(i) && n < CASES_MAX; i++)
        if (!group || !strcmp(word[0], talus_validate_group(i)))
            names[n++] = group ? talus_validate_name(i) : talus_validate_group(i);
    const char *near = group && !word[1] ? NULL : talus_nearest_name(word[group], names);
    fprintf(stderr, "talus validate: no case '%s%s%s'", cli_plain(word[0]), word[1] ? " " : "",
            word[1] ? cli_plain(word[1]) : "");
    if (near) fprintf(stderr, "; did you mean '%s'?", near);
    fprintf(stderr, "%s 'talus validate --help' lists them\n", near ? "" : ";");
    return 2;
}

int cli_validate(int argc, char **argv)
{
    const char *quick = NULL, *threads = NULL, *word[2] = {NULL, NULL};
    const cli_option options[] = {
        {"--quick", NULL, "only cases that take a few seconds", &quick},
        {"--threads", "N", "threads (all cores); results do not depend on it", &threads},
        {0},
    };
    bool help = false;
    int status = cli_read_options(argc, argv, options, 2, word, &help);
    if (status) return status;
    if (help) {
        print_help(options);
        return 0;
    }
    int count;
    if (threads) {
        if (!cli_integer("--threads", threads, 1, 1024, &count)) return 2;
        talus_threads_set(count);
    }
    signal(SIGINT, on_interrupt);
    int cases = 0, rows = 0, missed = 0, broken = 0;
    for (int i = 0; talus_validate_name(i) && !interrupted; i++) {
        if (!wanted(i, word, quick != NULL)) continue;
        int failed = 0;
        talus_error err = {0};
        talus_status done = talus_validate_run(i, print_row, &rows, &failed, &err);
        cases++;
        missed += failed;
        if (done == TALUS_OK || done == TALUS_INTERRUPTED) continue;
        broken++;
        fprintf(stderr, "talus validate: %s %s: %s\n", talus_validate_group(i), talus_validate_name(i), err.message);
    }
    if (interrupted) return 130;
    if (!cases) return no_case(word);
    printf("%d cases, %d numbers, %d missed%s\n", cases, rows, missed, broken ? ", some cases could not run" : "");
    return missed || broken ? 1 : 0;
}
