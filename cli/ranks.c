/* How many processes of this program were started together, as the environment says: talus asks no library of MPI for
 * that, so that one process never loads one. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/cluster.h>
#include <talus/program.h>
#include <unistd.h>

#include "commands.h"

#ifndef CLI_LIBRARY_FOLDER
#define CLI_LIBRARY_FOLDER "lib"
#endif

#define RANKS_MAX 10000000

/* A whole number in [0, RANKS_MAX], or -1. */
static int number(const char *name)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text) return -1;
    long value = strtol(text, &end, 10);
    return *end || value < 0 || value > RANKS_MAX ? -1 : (int)value;
}

/* The innermost launcher first: mpirun inside a step of Slurm sets the first, and sees all of the step's variables. Not
 * SLURM_NTASKS: batch scripts have it around single processes too. */
int cli_ranks(const char **starter)
{
    static const struct {
        const char *size, *starter;
    } known[] = {{"OMPI_COMM_WORLD_SIZE", "mpirun"}, {"PMI_SIZE", "mpirun"}, {"SLURM_STEP_NUM_TASKS", "srun"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        int size = number(known[i].size);
        *starter = known[i].starter;
        if (size > 0) return size;
    }
    *starter = "mpirun";
    /* PMIx tells the size to its library alone: a rank above the first knows of those before it */
    int rank = number("PMIX_RANK");
    return rank > 0 ? rank + 1 : 1;
}

/* Which of them this one is, where each knows how many there are: for who talks before they have met. */
static int rank_here(void)
{
    static const char *const known[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (number(known[i]) >= 0) return number(known[i]);
    return 0;
}

static int joined, process; /* processes, 0: alone; which this is */
static int spoken = -1;     /* stderr, while it is silent */

bool cli_is_first(void) { return process == 0; }
int cli_joined(void) { return joined; }

/* All processes read the same words: one says what is wrong with them. */
static void hush(void)
{
    const int nowhere = rank_here() > 0 ? open("/dev/null", O_WRONLY) : -1;
    if (nowhere < 0) return;
    fflush(stderr);
    spoken = dup(STDERR_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

static void speak(void)
{
    fflush(stderr);
    if (spoken < 0) return;
    dup2(spoken, STDERR_FILENO);
    close(spoken);
    spoken = -1;
}

/* Beside the program, or where an installation has it. */
static bool find_library(char *path, size_t room)
{
    char folder[3000];
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[n > 0 ? n : 0] = 0;
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    static const char *const at[] = {"", "/../lib", "/../" CLI_LIBRARY_FOLDER};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        snprintf(path, room, "%s%s/libtalus-cluster.so", folder, at[i]);
        if (cli_is_file(path)) return true;
    }
    return false;
}

/* Threads of a process that shares a machine with others: unless somebody says how many, or gives it cores of its
 * own, its part of them. */
static void share_cores(void)
{
    int here = number("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (here < 1) here = number("MPI_LOCALNRANKS");
    if (here < 1) here = number("SLURM_NTASKS_PER_NODE");
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    if (here < 2 || getenv("OMP_NUM_THREADS") || talus_threads() < all) return;
    talus_threads_set(all / here > 1 ? (int)(all / here) : 1);
}

int cli_meet_ranks(const char *command, bool together)
{
    const char *starter;
    char library[4096];
    const int ranks = cli_ranks(&starter);
    if (ranks < 2) return 0;
    hush();
    if (!find_library(library, sizeof library))
        fprintf(stderr,
                "talus %s: started by %s with %d processes, but this talus was built without clusters: "
                "./dev build --cluster\n",
                command, starter, ranks);
    else if (!together)
        fprintf(stderr, "talus %s: runs in one process, and %s started %d; talus run takes several\n", command, starter,
                ranks);
    else
        return 0;
    return 2;
}

int cli_join_ranks(const char *command)
{
    const char *starter;
    char library[4096];
    talus_error err;
    speak();
    if (cli_ranks(&starter) < 2 || !find_library(library, sizeof library)) return 0;
    if (talus_cluster_begin(library, &process, &joined, &err) != TALUS_OK) {
        fprintf(stderr, "talus %s: %s\n", command, err.message);
        return 2;
    }
    share_cores();
    return 0;
}

/* The first process tells how it went: a launcher ends all as soon as one of the others says that it failed. */
int cli_leave_ranks(int status)
{
    if (!joined) return status;
    talus_cluster_end();
    return process == 0 ? status : 0;
}
