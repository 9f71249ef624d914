/* What a run of a simulation will cost, from what there is and from steps that are made for the purpose and undone. */
#include <math.h>
#include <stdlib.h>

#include "api/need.h"
#include "api/sim_own.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/timer.h"
#include "model/grid/particles.h"
#include "phase/grid/grid.h"

#define TRIALS 2 /* steps: the first has nothing to start from */

static int by_key(const void *a, const void *b)
{
    const uint64_t i = *(const uint64_t *)a, j = *(const uint64_t *)b;
    return (i > j) - (i < j);
}

/* Cells of the grid that hold a particle. */
static talus_status count_cells(const tl_sim *sim, int64_t *out, talus_error *err)
{
    const tl_grid_state *g = tl_grid_state_of(&sim->state);
    *out = 0;
    if (!g || !g->particles.count) return TALUS_OK;
    const tl_grid_frame *f = &((const tl_grid_data *)sim->engine_data)->flow.frame;
    uint64_t *key = TL_NEW(uint64_t, g->particles.count);
    int64_t n = 0;
    if (!key) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to count cells");
    for (int64_t i = 0; i < g->particles.count; i++) {
        tl_vec3 x = g->particles.particle[i].x;
        int32_t cell[3];
        if (tl_particle_locate(f, &sim->scene->domain, &x, cell)) key[n++] = tl_grid_key(f, cell);
    }
    qsort(key, (size_t)n, sizeof *key, by_key);
    for (int64_t i = 0; i < n; i++) *out += i == 0 || key[i] != key[i - 1];
    tl_free(key);
    return TALUS_OK;
}

/* Steps with the clock; what the last one took counts. Interrupted: it takes at least so long. */
static talus_status try_steps(talus_sim *s, talus_cost *out, talus_error *err)
{
    talus_error why;
    for (int i = 0; i < TRIALS; i++) {
        const double begin = tl_seconds(), t = s->sim->state.t;
        const talus_status status = tl_sim_step(s->sim, 0, INFINITY, &why);
        out->seconds_per_step = tl_seconds() - begin;
        out->at_least = status == TALUS_INTERRUPTED;
        if (out->at_least) return TALUS_OK;
        if (status != TALUS_OK) return TL_FAIL(err, status, "%s", why.message);
        out->dt = s->sim->state.t - t;
    }
    return TALUS_OK;
}

talus_status talus_sim_cost(talus_sim *s, talus_cost *out, talus_error *err)
{
    TL_NEED_SIM(s);
    TL_NEED(out);
    TL_TRY(tl_need_outside(s, __func__, err));
    *out = (talus_cost){
        .particles = tl_sim_rows(s->sim, "particles.position").count,
        .nodes = s->sim->lg.nodes,
        .elements = tl_lg_element_count(&s->sim->lg),
        .bodies = s->scene->body_count,
        .dt = fmin(s->scene->dt_max > 0 ? s->scene->dt_max : 1 / s->scene->fps, s->sim->engine->dt_wanted(s->sim))};
    TL_TRY(count_cells(s->sim, &out->cells, err));
    const tl_report report = s->sim->report;
    tl_state kept = {0};
    TL_TRY(tl_state_copy(&kept, &s->sim->state, err));
    const atomic_bool *before = tl_cancel_watch(&s->stop);
    const talus_status status = try_steps(s, out, err);
    tl_cancel_watch(before);
    out->bytes = s->sim->arena.high_water + 2 * talus_sim_bytes(s);
    tl_state_free(&s->sim->state);
    s->sim->state = kept;
    s->sim->report = report;
    s->generation++;
    out->steps = ceil(fmax(0, s->scene->duration - kept.t) / out->dt * (1 - 1e-12));
    out->seconds = out->steps * out->seconds_per_step;
    return status;
}
