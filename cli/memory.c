/* OpenBLAS maps a buffer per thread before main begins, and asks again for ever when the system refuses. So the
 * program tries the same first: functions in .preinit_array run before those of libraries. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUFFER ((size_t)128 << 20) /* bytes per thread, of Debian's build */
#define THREADS_MAX 64             /* of that build */

/* The first number of NAME=N,M; 0: not set. */
static long number_of(char **environment, const char *name)
{
    size_t length = strlen(name);
    for (; environment && *environment; environment++)
        if (!strncmp(*environment, name, length) && (*environment)[length] == '=')
            return strtol(*environment + length + 1, NULL, 10);
    return 0;
}

static void try_memory(int argc, char **argv, char **environment)
{
    static const char text[] = "talus: no memory: OpenBLAS needs 128 MB of address space per thread to start. Raise "
                               "the limit (ulimit -v), or set "
                               "OMP_NUM_THREADS=1\n";
    void *block[THREADS_MAX];
    long threads = number_of(environment, "OMP_NUM_THREADS");
    (void)argc, (void)argv;
    if (threads < 1) threads = sysconf(_SC_NPROCESSORS_ONLN);
    if (threads < 1) threads = 1;
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    long n = 0;
    bool good = true;
    for (; n <= threads && good; n++) { /* one more, for what follows */
        size_t bytes = n < threads ? BUFFER : BUFFER / 4;
        block[n % THREADS_MAX] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        good = block[n % THREADS_MAX] != MAP_FAILED;
        if (good && n == threads) munmap(block[n % THREADS_MAX], bytes);
    }
    for (long k = 0; k < n && k < threads; k++)
        if (block[k] != MAP_FAILED) munmap(block[k], BUFFER);
    if (good) return;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(1);
}

#if defined(__GNUC__) && defined(__ELF__) && !defined(__SANITIZE_ADDRESS__)
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = try_memory;
#else
void cli_try_memory(int argc, char **argv, char **environment);
void cli_try_memory(int argc, char **argv, char **environment) { try_memory(argc, argv, environment); }
#endif
