#include "phase/accounts/flow.h"

#include <math.h>

void tl_accounts_to_grid(tl_sim *sim, tl_flow_account *f, tl_flow_sums now, const tl_totals *particles, double dt)
{
    tl_accounts_energy(sim, TL_ENERGY_TRANSFER, now.kinetic - particles->kinetic);
    *f = (tl_flow_account){
        .kinetic = now.kinetic, .potential = particles->potential, .start = particles->kinetic, .dt = dt};
}

void tl_accounts_fall(tl_flow_account *f, tl_flow_sums now)
{
    f->fell = now.kinetic - f->kinetic;
    f->kinetic = now.kinetic;
}

void tl_accounts_stopped(tl_sim *sim, tl_flow_account *f, tl_energy source, double given, tl_flow_sums now)
{
    tl_accounts_energy(sim, source, now.kinetic - f->kinetic + given);
    f->kinetic = now.kinetic;
}

/* Of pressure and stress on what does not move freely: walls and static bodies by their part of each face, scripted
 * bodies by their sums. */
static double account_walls(const tl_accounts_flow *x)
{
    const tl_system *y = x->system;
    const double impulse = y->c.dt * y->c.dx * y->c.dx * y->c.dx;
    tl_sim *sim = x->b->sim;
    tl_vec3 p = {0, 0, 0}, L = {0, 0, 0};
    double work = 0;
    for (int32_t f = 0; f < y->c.faces; f++) {
        double weight = x->fractions->fixed[y->axis[f]][y->id[f]], force[3] = {0, 0, 0};
        if (!(weight > 0) || y->c.y[f] == 0 || (y->c.owned && !y->c.owned[f])) continue;
        force[y->axis[f]] = weight * y->c.y[f] * impulse;
        tl_vec3 q = tl_vec3_load(force);
        p = tl_vec3_add(p, q);
        L = tl_vec3_add(L, tl_vec3_cross(tl_grid_face_centre(x->grid, y->axis[f], y->id[f]), q));
    }
    tl_impulse all = {p, L};
    tl_impulse_sum(sim->comm, &all);
    p = all.linear, L = all.angular;
    for (int32_t i = 0; i < sim->rigid.scene_count; i++) {
        if (sim->rigid.body[i].kind != TL_BODY_KINEMATIC) continue;
        const double *f = x->fluid + 6 * (int64_t)i, *v = x->b->v_free + 6 * (int64_t)i;
        tl_vec3 q = tl_vec3_scale(-y->c.dt, tl_vec3_load(f)), turn = tl_vec3_scale(-y->c.dt, tl_vec3_load(f + 3));
        p = tl_vec3_add(p, q);
        L = tl_vec3_add(L, tl_vec3_add(turn, tl_vec3_cross(x->b->before[i].x, q)));
        work += tl_vec3_dot(q, tl_vec3_load(v)) + tl_vec3_dot(turn, tl_vec3_load(v + 3));
    }
    tl_accounts_fixed(sim, p, L);
    return work;
}

void tl_accounts_solved(const tl_accounts_flow *x, tl_flow_account *f, tl_flow_sums now)
{
    tl_sim *sim = x->b->sim;
    double scripted = account_walls(x);
    tl_accounts_energy(sim, TL_ENERGY_SCRIPTED, scripted);
    tl_accounts_energy(sim,
                       x->system->viscous.s  ? TL_ENERGY_VISCOSITY
                       : x->system->stress.n ? TL_ENERGY_FRICTION
                                             : TL_ENERGY_CONTACT,
                       now.kinetic - f->kinetic + x->b->account.others - scripted);
    f->kinetic = now.kinetic;
}

double tl_accounts_lost(const tl_accounts_flow *x, const tl_flow_account *f, tl_flow_sums by)
{
    const tl_sim *sim = x->b->sim;
    tl_totals before = {0}, after = {0};
    double given = 0;
    tl_totals_add_bodies(&before, sim, x->b->before);
    tl_totals_add_bodies(&after, sim, x->b->body);
    for (int32_t i = 0; i < sim->rigid.scene_count; i++) {
        if (sim->rigid.body[i].kind != TL_BODY_KINEMATIC) continue;
        const double *force = x->fluid + 6 * (int64_t)i, *v = x->b->v_free + 6 * (int64_t)i;
        for (int k = 0; k < 6; k++) given -= f->dt * force[k] * v[k];
    }
    static const tl_energy from[] = {TL_ENERGY_FORCES, TL_ENERGY_SCRIPTED};
    for (int k = 0; k < 2; k++) given += isnan(sim->accounts.energy[from[k]]) ? 0 : sim->accounts.energy[from[k]];
    double bodies = after.kinetic + after.potential - before.kinetic - before.potential;
    return fmax(0, given - bodies - (by.kinetic - f->start - f->dt * by.power));
}

void tl_accounts_carried(tl_sim *sim, tl_flow_account *f, tl_flow_sums by, tl_flow_sums all)
{
    tl_accounts_energy(sim, TL_ENERGY_TIME_STEP, f->fell - f->dt * by.power);
    tl_accounts_energy(sim, TL_ENERGY_CORRECTIONS, -f->dt * (all.power - by.power));
    f->climbed = -f->dt * all.power;
}

void tl_accounts_to_particles(tl_sim *sim, tl_flow_account *f, double kinetic, double potential)
{
    tl_accounts_energy(sim, TL_ENERGY_TRANSFER, kinetic - f->kinetic);
    tl_accounts_energy(sim, TL_ENERGY_CORRECTIONS, potential - f->potential - f->climbed);
    f->kinetic = kinetic;
    f->potential = potential;
}

void tl_accounts_spread(tl_sim *sim, const tl_flow_account *f, double kinetic, double potential)
{
    tl_accounts_energy(sim, TL_ENERGY_CORRECTIONS, kinetic - f->kinetic + potential - f->potential);
}
