#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/program.h>

#include "commands.h"

const char *cli_plain(const char *text)
{
    static char room[8][4600];
    static int next;
    char *out = room[next++ % 8];
    talus_plain_text(text, out, (int)sizeof room[0]);
    return out;
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

void cli_print_options(const cli_option *options)
{
    for (; options->name; options++) {
        char left[40];
        snprintf(left, sizeof left, "%s %s", options->name, options->value ? options->value : "");
        printf("  %-22s %s\n", left, options->help);
    }
    printf("  %-22s %s\n", "--help", "this text");
}

bool cli_integer(const char *name, const char *text, long least, long most, int *out)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (*text && !*end && !errno && v >= least && v <= most && v <= INT_MAX) {
        *out = (int)v;
        return true;
    }
    fprintf(stderr, "talus: %s must be a whole number from %ld to %ld, got '%s'\n", name, least, most, cli_plain(text));
    return false;
}

bool cli_number(const char *name, const char *text, double least, double most, double *out)
{
    char *end;
    double v = strtod(text, &end);
    if (*text && !*end && v >= least && v <= most) {
        *out = v;
        return true;
    }
    fprintf(stderr, "talus: %s must be a number from %g to %g, got '%s'\n", name, least, most, cli_plain(text));
    return false;
}
