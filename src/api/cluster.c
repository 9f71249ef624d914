#include <dlfcn.h>
#include <string.h>
#include <talus/cluster.h>

#include "api/need.h"
#include "api/scene.h"
#include "base/comm.h"
#include "model/parts_model.h"
#include "phase/sim.h"

static void *library_of;

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
    if (tl_comm_joined()) return TL_FAIL(err, TALUS_BAD_INPUT, "a process joins others once");
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
    tl_comm_join(comm);
    library_of = opened;
    if (process) *process = comm->part;
    if (processes) *processes = comm->parts;
    return TALUS_OK;
}

void talus_cluster_end(void)
{
    void (*end)(void);
    if (tl_comm_joined() && find(library_of, "tl_cluster_end", (void *)&end)) end();
    tl_comm_join(NULL);
}

talus_status talus_cluster_plan(const talus_scene *scene, int processes, talus_cluster_cost *out, talus_error *err)
{
    TL_NEED(scene);
    TL_NEED(out);
    const tl_network net = tl_network_good();
    const tl_scene *s = scene->scene;
    tl_parts_plan p;
    *out = (talus_cluster_cost){0};
    if (processes < 1 || processes > TL_COMM_PARTS_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "processes must be 1 to %d, got %d", TL_COMM_PARTS_MAX, processes);
    if (processes > 1) TL_TRY(tl_sim_refuse_parts(s, processes, err));
    TL_TRY(tl_parts_plan_make(s, processes, &p, err));
    if (!(p.particles <= INT32_MAX))
        return TL_FAIL(err, TALUS_UNSUPPORTED, "%.3g particles: their numbers end at 2^31", p.particles);
    const tl_parts_model m = tl_parts_model_of(&net, processes, p.most_cells, false);
    *out = (talus_cluster_cost){.particles = p.particles,
                                .cells = p.cells,
                                .most_particles = p.most_particles,
                                .most_cells = p.most_cells,
                                .blocks = p.most_blocks,
                                .halo_blocks = p.halo_blocks,
                                .imbalance = p.imbalance,
                                .bytes = p.bytes,
                                .bytes_first = p.bytes_first,
                                .bytes_start = p.bytes_start,
                                .seconds_per_step = m.step,
                                .efficiency = m.step_alone / m.step / p.imbalance};
    return TALUS_OK;
}
