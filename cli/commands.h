/* The subcommands of the talus program. Each takes its own arguments (argv[0] is its name) and
 * returns the exit status: 0 good, 1 failed, 2 wrong usage, 130 interrupted. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <talus/run.h>

typedef struct cli_command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} cli_command;

int cli_bench(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_mesh(int argc, char **argv);
int cli_render(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_scenes(int argc, char **argv);
int cli_validate(int argc, char **argv);

/* A text from outside as it may appear on a terminal: a path, a title, a word of the command line. Valid until eight
 * more calls. */
const char *cli_plain(const char *text);

/* A line on stderr in place of the one before, cut or filled up to the width of the terminal: it never wraps. */
void cli_live_line(const char *text);

/* Options that take a value: "--size 64" and "--size=64". */
typedef struct cli_option {
    const char *name;  /* "--size" */
    const char *value; /* "N", shown in the help; NULL for a switch */
    const char *help;
    const char **text; /* where the value goes; for a switch, non-NULL means given */
} cli_option;

/* Processes of this program that mpirun or srun started together (1: alone), and which of the two it was. */
int cli_ranks(const char **starter);
/* Before a command reads its words. 0: one process, or several of a build for clusters, and `together`: a command that
 * takes several. Else the exit status, after a message on stderr: nothing is read or written then. */
int cli_meet_ranks(const char *command, bool together);
/* Once the words are good: meets the others, if there are any. 0, or the exit status after a message. */
int cli_join_ranks(const char *command);
int cli_joined(void); /* how many have met; 0: alone */
bool cli_is_first(void);
int cli_leave_ranks(int status);

/* Read options and positional words (at most `words_max`). Returns 0, or 2 after a message on stderr; sets
 * *help when --help was given. Options end with a NULL name. */
int cli_read_options(int argc, char **argv, const cli_option *options, int words_max, const char **words, bool *help);
void cli_print_options(const cli_option *options);

/* Numbers from option text; a wrong one is a message on stderr and false. */
bool cli_integer(const char *name, const char *text, long least, long max, int *out);
bool cli_number(const char *name, const char *text, double least, double max, double *out);

/* Take every "--set KEY=VALUE", or every one of another option with a value, out of argv. Returns the new argc, or -1
 * after a message on stderr. */
int cli_take_repeated(int argc, char **argv, const char *option, int max, const char **out, int *count);
int cli_take_settings(int argc, char **argv, int max, const char **setting, int *settings);

/* The folder of talus' own scenes, or one below it; false when it is not found. */
bool cli_scenes_folder(const char *below, char *path, size_t room);
/* A file as it is; else a scene of talus' own, by name. */
bool cli_find_scene(const char *word, char *path, size_t room);
/* Says that it was not found, and which scene has the nearest name. Returns the exit status. */
int cli_no_scene(const char *command, const char *word);
bool cli_is_file(const char *path);

/* A verdict's lines on stdout; then, when it is bad, the last line on stderr and the exit status. */
void cli_print_verdict(const talus_verdict *v);
int cli_end_verdict(const char *command, const talus_verdict *v, bool quiet);

#endif
