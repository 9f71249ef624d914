#include "step/accounts_flow.h"

#include <math.h>

#include "base/parallel.h"
#include "base/sum.h"

tl_flow_sums tl_accounts_faces(const tl_grid *g, const tl_faces *faces, double *const u[3], tl_vec3 gravity)
{
    const double pull[3] = {gravity.x, gravity.y, gravity.z};
    tl_blocks blocks = tl_blocks_of(g->cells);
    double kinetic[TL_BLOCKS_MAX], power[TL_BLOCKS_MAX];
    tl_flow_sums out = {0, 0};
    for (int a = 0; a < 3; a++) {
        const double *mass = faces->mass[a], *v = u[a];
#pragma omp parallel for schedule(static) if (g->cells >= TL_PARALLEL_MIN)
        for (int b = 0; b < blocks.count; b++) {
            double k[TL_LANES] = {0}, p[TL_LANES] = {0};
            const int64_t begin = tl_block_begin(blocks, b), end = tl_block_end(blocks, b);
            int64_t i = begin;
            for (; i + TL_LANES <= end; i += TL_LANES)
                for (int l = 0; l < TL_LANES; l++) {
                    double q = mass[i + l] * v[i + l];
                    p[l] += q;
                    k[l] += q * v[i + l];
                }
            for (; i < end; i++) {
                p[i % TL_LANES] += mass[i] * v[i];
                k[i % TL_LANES] += mass[i] * v[i] * v[i];
            }
            kinetic[b] = tl_lanes_total(k);
            power[b] = tl_lanes_total(p);
        }
        out.kinetic += 0.5 * tl_sum_ordered(blocks.count, kinetic);
        out.power += pull[a] * tl_sum_ordered(blocks.count, power);
    }
    return out;
}

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

tl_impulse tl_accounts_closed(const tl_grid *g, const tl_faces *faces, const tl_fractions *fractions)
{
    tl_blocks blocks = tl_blocks_of(g->cells);
    tl_impulse part[TL_BLOCKS_MAX], out = {{0, 0, 0}, {0, 0, 0}};
    for (int a = 0; a < 3; a++) {
        const double *open = fractions->open[a], *mass = faces->mass[a], *u = faces->u[a];
#pragma omp parallel for schedule(static) if (g->cells >= TL_PARALLEL_MIN)
        for (int b = 0; b < blocks.count; b++) {
            part[b] = (tl_impulse){{0, 0, 0}, {0, 0, 0}};
            for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
                double p[3] = {0, 0, 0};
                if (open[i] > 0 || !(mass[i] > 0)) continue;
                p[a] = mass[i] * u[i];
                tl_vec3 v = tl_vec3_load(p), at = tl_grid_face_centre(g, a, (int32_t)i);
                part[b].linear = tl_vec3_add(part[b].linear, v);
                part[b].angular = tl_vec3_add(part[b].angular, tl_vec3_cross(at, v));
            }
        }
        for (int b = 0; b < blocks.count; b++) {
            out.linear = tl_vec3_add(out.linear, part[b].linear);
            out.angular = tl_vec3_add(out.angular, part[b].angular);
        }
    }
    return out;
}

/* Of pressure and stress on what does not move freely: walls and static bodies by their part of each face, scripted bodies by their sums. */
static double account_walls(const tl_accounts_flow *x)
{
    const tl_system *y = x->coupled->system;
    const double impulse = y->c.dt * y->c.dx * y->c.dx * y->c.dx;
    tl_sim *sim = x->b->sim;
    tl_vec3 p = {0, 0, 0}, L = {0, 0, 0};
    double work = 0;
    for (int32_t f = 0; f < y->c.faces; f++) {
        double weight = x->fractions->fixed[y->axis[f]][y->id[f]], force[3] = {0, 0, 0};
        if (!(weight > 0) || y->c.y[f] == 0) continue;
        force[y->axis[f]] = weight * y->c.y[f] * impulse;
        tl_vec3 q = tl_vec3_load(force);
        p = tl_vec3_add(p, q);
        L = tl_vec3_add(L, tl_vec3_cross(tl_grid_face_centre(x->grid, y->axis[f], y->id[f]), q));
    }
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
    tl_accounts_energy(sim, x->coupled->friction ? TL_ENERGY_FRICTION : TL_ENERGY_CONTACT,
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
