/* What the grid engine shows of liquid and sand. */
#include <string.h>

#include "phase/grid/grid.h"

static tl_rows particles(const tl_sim *sim)
{
    const tl_grid_state *g = tl_grid_state_of(&sim->state);
    return (tl_rows){g ? g->particles.particle : NULL, sizeof(tl_particle), g ? g->particles.count : 0};
}
static tl_rows counted(const tl_sim *sim) { return (tl_rows){NULL, 0, particles(sim).count}; }
static tl_rows emitters(const tl_sim *sim)
{
    const tl_grid_state *g = tl_grid_state_of(&sim->state);
    return (tl_rows){g ? g->emitter : NULL, sizeof(tl_emitter_state), g ? g->emitters : 0};
}

/* The memory of the cell in which a particle is; -1: that cell had none. */
static int64_t memory_of(const tl_sim *sim, const tl_grid_state *g, const tl_particle *p)
{
    const tl_grid_frame *f = &((const tl_grid_data *)sim->engine_data)->flow.frame;
    tl_vec3 x = p->x;
    int32_t cell[3];
    if (!tl_particle_locate(f, &sim->scene->domain, &x, cell)) return -1;
    const int64_t key = (int64_t)tl_grid_key(f, cell);
    int64_t low = 0, high = g->memories;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (g->memory[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->memories && g->memory[low].key == key ? low : -1;
}

static void fill_pressures(const tl_sim *sim, void *out)
{
    const tl_grid_state *g = tl_grid_state_of(&sim->state);
    for (int64_t i = 0; g && i < g->particles.count; i++) {
        const int64_t k = memory_of(sim, g, &g->particles.particle[i]);
        ((double *)out)[i] = k < 0 ? 0 : g->memory[k].pressure;
    }
}

/* Tensions are positive: s - p, see model/coupling/stress.h. */
static void fill_stresses(const tl_sim *sim, void *out)
{
    const tl_grid_state *g = tl_grid_state_of(&sim->state);
    for (int64_t i = 0; g && i < g->particles.count; i++) {
        const int64_t k = memory_of(sim, g, &g->particles.particle[i]);
        const double p = k < 0 ? 0 : g->memory[k].pressure, none[5] = {0};
        const double *s = k >= 0 && k < g->stresses ? g->stress + 5 * k : none;
        const double yy = -s[TL_S_XX] - s[TL_S_ZZ];
        const double all[6] = {s[TL_S_XX] - p, yy - p, s[TL_S_ZZ] - p, s[TL_S_XY], s[TL_S_YZ], s[TL_S_XZ]};
        memcpy((double *)out + 6 * i, all, sizeof all);
    }
}

const tl_view tl_grid_views[TL_GRID_VIEWS] = {
    {"particles.position", TL_NUMBER_F64, 3, offsetof(tl_particle, x), particles, NULL},
    {"particles.velocity", TL_NUMBER_F64, 3, offsetof(tl_particle, v), particles, NULL},
    {"particles.gradient", TL_NUMBER_F64, 9, offsetof(tl_particle, C), particles, NULL},
    {"particles.volume", TL_NUMBER_F64, 1, offsetof(tl_particle, volume), particles, NULL},
    {"particles.pressure", TL_NUMBER_F64, 1, 0, counted, fill_pressures},
    {"particles.stress", TL_NUMBER_F64, 6, 0, counted, fill_stresses},
    {"particles.id", TL_NUMBER_I32, 1, offsetof(tl_particle, id), particles, NULL},
    {"particles.material", TL_NUMBER_I32, 1, offsetof(tl_particle, material), particles, NULL},
    {"emitters.owed", TL_NUMBER_F64, 1, offsetof(tl_emitter_state, owed), emitters, NULL},
    {"emitters.emitted", TL_NUMBER_F64, 1, offsetof(tl_emitter_state, emitted), emitters, NULL},
    {"emitters.refused", TL_NUMBER_F64, 1, offsetof(tl_emitter_state, refused), emitters, NULL},
};
