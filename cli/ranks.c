/* How many processes of this program were started together, as the environment says: talus asks no library of MPI for
 * that, so that one process never loads one. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"

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

int cli_refuse_ranks(const char *command)
{
    const char *starter;
    int ranks = cli_ranks(&starter);
    if (ranks < 2) return 0;
    fprintf(stderr,
            "talus %s: started by %s with %d processes, but this talus was built without clusters: "
            "./dev build --cluster\n"
            "(and not even that runs whole scenes yet: start one process, which uses the cores of its machine)\n",
            command, starter, ranks);
    return 2;
}
