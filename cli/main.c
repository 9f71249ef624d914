#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <talus/program.h>
#include <unistd.h>

#include "commands.h"

static const cli_command commands[] = {
    {"bench", "compare solver methods, measure kernels, reproduce tables", cli_bench},
    {"check", "read a scene and explain every problem in it", cli_check},
    {"export", "write the bodies of a run as ply, obj or vtk files", cli_export},
    {"mesh", "surfaces and tetrahedra of shapes and mesh files, with quality figures", cli_mesh},
    {"render", "draw a scene, a shape, or the frames of a run", cli_render},
    {"report", "how good the answer of a run is, and what to change", cli_report},
    {"run", "run a scene: frames, tables, checkpoint, picture", cli_run},
    {"scenes", "the scenes that come with talus", cli_scenes},
    {"validate", "run the physics cases: measured, expected, tolerance", cli_validate},
};
#define COMMANDS ((int)(sizeof commands / sizeof commands[0]))

static void print_help(void)
{
    printf("talus %s: granular material, liquid, rigid and elastic solids with real friction\n\n"
           "Usage: talus COMMAND [options]\n\nCommands:\n",
           talus_version());
    for (int i = 0; i < COMMANDS; i++) printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    printf("\n  talus COMMAND --help    what a command does and takes\n"
           "  talus --version         version, compiler, BLAS kernels, threads\n\n"
           "Results go to stdout and files, talk to stderr. Exit status: 0 good, 1 failed, 2 wrong usage, 130 "
           "interrupted.\n");
}

/* A program that is started with one of these closed would open a table there, and print into it. */
static void reserve_descriptors(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) != fd) _exit(1);
}

/* A result that could not be written is a failure: a full disk, a reader that has gone. */
static int close_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    fprintf(stderr, "talus: cannot write to standard output: %s\n", strerror(errno));
    return status ? status : 1;
}

static int run_command(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help();
        return argc < 2 ? 2 : 0;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("talus %s (%s, BLAS kernels %s, %d threads)\n", talus_version(), talus_compiler(), talus_blas_core(),
               talus_threads());
        return 0;
    }
    const char *names[COMMANDS + 1] = {0};
    for (int i = 0; i < COMMANDS; i++) {
        if (!strcmp(argv[1], commands[i].name)) {
            const int refused =
                cli_meet_ranks(commands[i].name, commands[i].run == cli_run || commands[i].run == cli_bench);
            return refused ? refused : cli_leave_ranks(commands[i].run(argc - 1, argv + 1));
        }
        names[i] = commands[i].name;
    }
    const char *near = talus_nearest_name(argv[1], names);
    fprintf(stderr, "talus: no command '%s'", cli_plain(argv[1]));
    if (near) fprintf(stderr, "; did you mean '%s'?", near);
    fprintf(stderr, "\nSee 'talus --help'.\n");
    return 2;
}

int main(int argc, char **argv)
{
    reserve_descriptors();
    talus_program_start(argv);
    return close_output(run_command(argc, argv));
}
