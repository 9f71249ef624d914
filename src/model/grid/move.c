/* The end of a step: particles move, and what the next one starts from. */
#include <math.h>

#include "base/comm.h"
#include "model/grid/correct.h"
#include "model/grid/flow.h"

#define SPREAD_SWEEPS 1

static talus_status no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to move particles"); }

/* How far the surface of any body moves in the step, m. */
static double farthest_travel(const tl_flow *f, const tl_motion *end)
{
    double max = f->soft ? f->soft->travel : 0;
    for (int32_t i = 0; i < f->rigid->scene_count; i++) {
        if (f->soft && f->soft->end->skin[i].lg) continue;
        double reach = f->rigid->body[i].reach, turn = tl_vec3_norm(tl_quat_difference(f->before[i].q, end[i].q));
        double d = tl_vec3_norm(tl_vec3_sub(end[i].x, f->before[i].x)) + (reach < INFINITY ? turn * reach : 0);
        max = fmax(max, d);
    }
    return max;
}

static void find_free_blocks(const tl_flow *f, uint8_t *free_block)
{
    const tl_grid *g = &f->grid;
    for (int32_t i = 0; f->pieces.of && !f->stress && tl_grid_owns(g, i); i++)
        free_block[tl_grid_block_of(g, i)] |= f->pieces.of[i] != TL_NO_PIECE && !f->pieces.held[f->pieces.of[i]];
}

talus_status tl_flow_carry(tl_flow *f, const tl_motion *end, tl_flow_carried *out, talus_error *err)
{
    const tl_grid *g = &f->grid;
    *out = (tl_flow_carried){.block = TL_TAKE(f->arena, tl_carried, g->owned),
                             .free_block = TL_TAKE_ZERO(f->arena, uint8_t, g->owned)};
    talus_status status = out->block && out->free_block ? TALUS_OK : no_memory(err);
    if (status == TALUS_OK)
        status = tl_solids_with_skins(&out->end, g, f->rigid, &f->scene->domain, end, f->soft ? f->soft->end : NULL,
                                      f->arena, err);
    TL_TRY(tl_comm_agree(g->comm, status, err));
    find_free_blocks(f, out->free_block);
    out->end.free_gives = true;
    out->end.before = f->soft ? f->soft->start : NULL;
    const tl_advection by = {
        f->moving, f->known, &out->end, f->solid_phi, farthest_travel(f, end), TL_GAP_CELLS * g->f.dx, f->dt};
    tl_particles_carry(g, f->faces.u, &by, f->set->density, out->free_block, out->block, &f->particles);
    for (int32_t b = 0; b < g->owned; b++) {
        out->taken.linear = tl_vec3_add(out->taken.linear, out->block[b].impulse);
        out->taken.angular = tl_vec3_add(out->taken.angular, out->block[b].turn);
    }
    tl_impulse_sum(g->comm, &out->taken);
    out->measured = tl_particle_sums_total(g->owned, &out->block->sums, sizeof *out->block, f->scene->gravity);
    tl_particles_measure_sum(g->comm, &out->measured);
    return TALUS_OK;
}

talus_status tl_flow_spread(tl_flow *f, tl_flow_carried *c, talus_error *err)
{
    const tl_spread spread = {SPREAD_SWEEPS, TL_GAP_CELLS * f->grid.f.dx, 1 / f->scene->fps};
    tl_correction moved;
    TL_TRY(tl_particles_spread(&f->set->frame, &c->end, &spread, &f->particles, f->arena, &moved, err));
    tl_particles_bound_affine(&f->grid, f->set->density, c->block, c->free_block, &f->particles);
    return tl_particles_measures(&f->set->frame, &f->particles, f->set->density, f->scene->gravity, f->arena,
                                 &c->measured, err);
}

void tl_flow_report(const tl_flow *f, const tl_particles_measure *m, const tl_grid_totals *totals,
                    const tl_emitter_state *emitter, double liquid_volume, tl_report *r)
{
    r->kinetic += m->kinetic;
    r->potential += m->potential;
    r->momentum = tl_vec3_add(r->momentum, m->momentum);
    r->angular_momentum = tl_vec3_add(r->angular_momentum, m->angular_momentum);
    r->fastest = fmax(r->fastest, m->fastest);
    r->particles = (int64_t)tl_comm_sum(f->grid.comm, (double)f->particles.count);
    r->escaped += (int64_t)totals->escaped;
    r->particle_volume = m->volume;
    r->liquid_volume = liquid_volume;
    double due = totals->initial_volume - totals->escaped_volume;
    for (int k = 0; k < f->scene->emitter_count; k++) due += emitter[k].emitted;
    r->volume_error = due > 0 ? liquid_volume / due - 1 : 0;
}

void tl_flow_tell(const tl_flow *f, const tl_grid_state *before, const tl_grid_totals *totals,
                  const tl_emitter_state *emitter, double t, const tl_log *log)
{
    for (int k = 0; k < f->scene->emitter_count; k++)
        if (emitter[k].refused > 0 && !(before->emitter[k].refused > 0))
            tl_log_write(log, 0,
                         "t = %.6g s: emitters[%d] finds no free place for what is due: it is blocked, or its rate is "
                         "more than its velocity carries away; what is refused is counted",
                         t, k + 1);
    if (totals->escaped > 0 && !(before->totals->escaped > 0))
        tl_log_write(log, 0, "t = %.6g s: the first particles left the domain, %.0f of them; steps.csv counts on", t,
                     totals->escaped);
}

talus_status tl_flow_reserve(const tl_flow *f, const tl_statics *q, tl_grid_state *to, talus_error *err)
{
    if (q->t) TL_TRY(tl_grid_state_reserve_rest(to, tl_system_rest_cells(&f->system, &f->grid), err));
    return tl_grid_state_reserve_memory(to, f->system.c.cells, f->stress != NULL, err);
}

void tl_flow_remember(const tl_flow *f, const tl_statics *q, tl_grid_state *to)
{
    if (f->stress) tl_stress_pack(&f->system.stress, q->s_next ? q->s_next : f->stress, f->five);
    tl_active_remember(&f->grid, &f->system.active, q->p_next ? q->p_next : f->p, f->five, to);
    tl_system_remember(&f->system, &f->grid, q->t, to);
}
