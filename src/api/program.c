#include <stdlib.h>
#include <unistd.h>

#include <talus/program.h>

#include "base/parallel.h"
#include "base/text.h"
#include "math/blas.h"
#include "talus_version.h"

/* Rounds that a waiting libgomp thread spins before it sleeps. Its default is about 300 000 when
 * threads do not outnumber cores, and another busy process then makes two threads up to 20 times slower
 * than one; 2000 (a few microseconds) keeps back-to-back loops fast. */
#define SPIN_COUNT "2000"

int talus_abi(void) { return TALUS_ABI; }
const char *talus_version(void) { return TALUS_VERSION_STRING; }
const char *talus_compiler(void) { return TALUS_COMPILER_STRING; }
const char *talus_blas_core(void) { return tl_blas_core(); }
int talus_threads(void) { return tl_threads(); }
void talus_threads_set(int count) { tl_threads_set(count); }
void talus_plain_text(const char *text, char *out, int room)
{
    if (out && room > 0) tl_text_quote(out, (size_t)room, text ? text : "");
}
const char *talus_nearest_name(const char *word, const char *const *names)
{
    if (!word || !names) return NULL;
    return tl_text_nearest(word, names);
}

void talus_program_start(char **argv)
{
    if (!argv) return;
    if (getenv("TALUS_STARTED")) return;
    const char *core = tl_blas_better_core();
    int spins = !getenv("GOMP_SPINCOUNT") && !getenv("OMP_WAIT_POLICY");
    if (!core && !spins) return;
    if (core) setenv("OPENBLAS_CORETYPE", core, 1);
    if (spins) setenv("GOMP_SPINCOUNT", SPIN_COUNT, 1);
    setenv("TALUS_STARTED", "1", 1); /* whatever happens, start anew only once */
    execv("/proc/self/exe", argv);
    /* no /proc: run as we are */
}
