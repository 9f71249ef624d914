#include <stdio.h>
#include <talus/run.h>

#include "commands.h"

void cli_print_verdict(const talus_verdict *v)
{
    for (int k = 0; k < v->lines; k++) {
        const talus_verdict_line *l = &v->line[k];
        printf("%-12s %s\n", l->name, l->text);
        if (*l->remedy) printf("%-12s more than %.3g %%; what helps: %s\n", "", 100 * l->limit, l->remedy);
    }
}

static void name_bad(const talus_verdict *v, char *out, size_t room)
{
    int n = 0;
    out[0] = '\0';
    for (int k = 0; k < v->lines; k++)
        if ((v->line[k].bad || v->line[k].refused) && (size_t)n < room)
            n += snprintf(out + n, room - (size_t)n, "%s%s", n ? ", " : "", v->line[k].name);
}

static void print_help(const cli_option *options)
{
    printf(
        "Usage: talus report RUN [--text]\n\n"
        "How good the answer of a run is, finished or not: solves that missed their targets, momentum and energy that\n"
        "nothing explains, volume, penetration, what escaped; and what to change. RUN is the folder of a run.\n\n");
    cli_print_options(options);
    printf(
        "\nExit status: 0 good or with a warning on the last line, 1 worse than the scene's `accept`, 2 wrong usage.\n"
        "\nExample:\n  talus report runs/tower --text\n");
}

int cli_report(int argc, char **argv)
{
    const char *folder = NULL, *text = NULL;
    const cli_option options[] = {{"--text", NULL, "plain lines on stdout; the only form so far", &text},
                                  {NULL, NULL, NULL, NULL}};
    bool help = false;
    int status = cli_read_options(argc, argv, options, 1, &folder, &help);
    if (status) return status;
    if (help || !folder) {
        print_help(options);
        return help ? 0 : 2;
    }
    talus_verdict v;
    talus_error err = {0};
    if (talus_run_verdict(folder, &v, &err) != TALUS_OK) {
        fprintf(stderr, "talus report: %s\n", err.message);
        return 2;
    }
    printf("run          %s (%lld steps, t = %.6g s)\n", cli_plain(folder), (long long)v.steps, v.time);
    if (!v.lines) printf("%-12s no step yet\n", "verdict");
    cli_print_verdict(&v);
    return cli_end_verdict("report", &v, false);
}

int cli_end_verdict(const char *command, const talus_verdict *v, bool quiet)
{
    char bad[200];
    fflush(stdout);
    name_bad(v, bad, sizeof bad);
    if (v->refused)
        fprintf(stderr, "talus %s: worse than the scene accepts: %s\n", command, bad);
    else if (v->bad && !quiet)
        fprintf(stderr, "talus %s: warning: do not trust this answer: %s\n", command, bad);
    return v->refused ? 1 : 0;
}
