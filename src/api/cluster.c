#include "api/cluster.h"

#include <dlfcn.h>
#include <string.h>
#include <talus/cluster.h>

#include "api/need.h"

static const tl_comm *joined;
static void *library_of;

const tl_comm *tl_cluster_joined(void) { return joined; }

/* A function of the library; ISO C has no conversion from a pointer to data. */
static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

talus_status talus_cluster_begin(const char *library, int *process, int *processes, talus_error *err)
{
    TL_NEED(library);
    const char *(*begin)(const tl_comm **out);
    if (joined) return TL_FAIL(err, TALUS_BAD_INPUT, "a process joins others once");
    void *opened = dlopen(library, RTLD_NOW | RTLD_GLOBAL); /* Open MPI's own parts look for its symbols */
    if (!opened) {
        const char *why = dlerror();
        return TL_FAIL(err, TALUS_UNSUPPORTED, "no library for clusters: %.300s", why ? why : library);
    }
    if (!find(opened, "tl_cluster_begin", (void *)&begin)) {
        dlclose(opened);
        return TL_FAIL(err, TALUS_UNSUPPORTED, "%.300s is no library for clusters", library);
    }
    const tl_comm *comm;
    const char *why = begin(&comm); /* from here on it stays */
    if (why) return TL_FAIL(err, TALUS_UNSUPPORTED, "%s", why);
    joined = comm;
    library_of = opened;
    if (process) *process = comm->part;
    if (processes) *processes = comm->parts;
    return TALUS_OK;
}

void talus_cluster_end(void)
{
    void (*end)(void);
    if (joined && find(library_of, "tl_cluster_end", (void *)&end)) end();
    joined = NULL;
}
