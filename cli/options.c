#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <talus/program.h>
#include <unistd.h>

#include "commands.h"

const char *cli_plain(const char *text)
{
    static char room[8][4600];
    static int next;
    char *out = room[next++ % 8];
    talus_plain_text(text, out, (int)sizeof room[0]);
    return out;
}

#define WIDTH_UNKNOWN 80 /* of a terminal that does not say */

void cli_live_line(const char *text)
{
    struct winsize size;
    const char *said = getenv("COLUMNS");
    int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : said ? atoi(said) : 0;
    if (width < 2) width = WIDTH_UNKNOWN;
    fprintf(stderr, "\r%-*.*s", width - 1, width - 1, text); /* the last column would wrap */
}

#define OPTIONS_MAX 32

static const cli_option *find(const cli_option *options, const char *word, size_t length)
{
    for (; options->name; options++)
        if (strlen(options->name) == length && !strncmp(options->name, word, length)) return options;
    return NULL;
}

static int unknown_option(const char *command, const char *word, const cli_option *options)
{
    const char *names[OPTIONS_MAX + 1] = {0};
    for (int i = 0; options[i].name && i < OPTIONS_MAX; i++) names[i] = options[i].name;
    const char *near = talus_nearest_name(word, names);
    fprintf(stderr, "talus %s: no option '%s'", command, cli_plain(word));
    if (near) fprintf(stderr, "; did you mean '%s'?", near);
    fprintf(stderr, "\nSee 'talus %s --help'.\n", command);
    return 2;
}

int cli_read_options(int argc, char **argv, const cli_option *options, int words_max, const char **words, bool *help)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
            *help = true;
            continue;
        }
        if (word[0] != '-') {
            if (count == words_max) {
                fprintf(stderr, "talus %s: unexpected '%s'\nSee 'talus %s --help'.\n", argv[0], cli_plain(word),
                        argv[0]);
                return 2;
            }
            words[count++] = word;
            continue;
        }
        const char *equals = strchr(word, '=');
        const cli_option *o = find(options, word, equals ? (size_t)(equals - word) : strlen(word));
        if (!o) return unknown_option(argv[0], word, options);
        if (!o->value && equals) {
            fprintf(stderr, "talus %s: %s takes no value\n", argv[0], o->name);
            return 2;
        }
        if (o->value && !equals && i + 1 == argc) {
            fprintf(stderr, "talus %s: %s needs a value (%s)\n", argv[0], o->name, o->value);
            return 2;
        }
        *o->text = !o->value ? o->name : equals ? equals + 1 : argv[++i];
    }
    return 0;
}

int cli_take_repeated(int argc, char **argv, const char *option, int max, const char **out, int *count)
{
    size_t length = strlen(option);
    int kept = 1;
    *count = 0;
    for (int i = 1; i < argc; i++) {
        const char *value = NULL;
        if (!strncmp(argv[i], option, length) && argv[i][length] == '=') value = argv[i] + length + 1;
        if (!strcmp(argv[i], option) && i + 1 < argc) value = argv[++i];
        if (!value) {
            argv[kept++] = argv[i];
            continue;
        }
        if (*count == max) {
            fprintf(stderr, "talus %s: at most %d %s\n", argv[0], max, option);
            return -1;
        }
        out[(*count)++] = value;
    }
    return kept;
}

int cli_take_settings(int argc, char **argv, int max, const char **setting, int *settings)
{
    return cli_take_repeated(argc, argv, "--set", max, setting, settings);
}

void cli_print_options(const cli_option *options)
{
    for (; options->name; options++) {
        char left[40];
        snprintf(left, sizeof left, "%s %s", options->name, options->value ? options->value : "");
        printf("  %-22s %s\n", left, options->help);
    }
    printf("  %-22s %s\n", "--help", "this text");
}

bool cli_integer(const char *name, const char *text, long least, long max, int *out)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (*text && !*end && !errno && v >= least && v <= max && v <= INT_MAX) {
        *out = (int)v;
        return true;
    }
    fprintf(stderr, "talus: %s must be a whole number from %ld to %ld, got '%s'\n", name, least, max, cli_plain(text));
    return false;
}

bool cli_number(const char *name, const char *text, double least, double max, double *out)
{
    char *end;
    double v = strtod(text, &end);
    if (*text && !*end && v >= least && v <= max) {
        *out = v;
        return true;
    }
    fprintf(stderr, "talus: %s must be a number from %g to %g, got '%s'\n", name, least, max, cli_plain(text));
    return false;
}
