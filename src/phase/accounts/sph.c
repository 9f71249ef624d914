#include "phase/accounts/sph.h"

#include <math.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "model/rigid/motion.h"

static const tl_vec3 nothing = {0, 0, 0};

static bool is_free(const tl_sph_step *f, int32_t i) { return f->rigid->body[i].kind == TL_BODY_FREE; }

static double kinetic(const tl_sph_step *f, const tl_motion *before)
{
    tl_blocks blocks = tl_blocks_of(f->fluid);
    double part[TL_BLOCKS_MAX];
    const double V0 = f->sph->V0;
#pragma omp parallel for schedule(static) if (f->fluid >= TL_PARALLEL_MIN / 8)
    for (int b = 0; b < blocks.count; b++) {
        part[b] = 0;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++)
            part[b] += 0.5 * V0 * f->scene->materials[f->particle[i].material].density * tl_vec3_norm2(f->v[i]);
    }
    double sum = tl_sum_ordered(blocks.count, part);
    for (int32_t i = 0; i < f->rigid->scene_count; i++) {
        const tl_rigid_body *b = &f->rigid->body[i];
        if (!is_free(f, i)) continue;
        tl_vec3 w = f->body_w[i];
        sum += 0.5 *
               (b->mass * tl_vec3_norm2(f->body_v[i]) + tl_vec3_dot(w, tl_rigid_angular_momentum(b, before[i].q, w)));
    }
    return sum;
}

void tl_accounts_sph_pushed(tl_sim *sim, tl_sph_account *a, const tl_sph_step *f, const tl_motion *before)
{
    tl_vec3 impulse = nothing, angular = nothing, fall = tl_vec3_scale(f->dt, f->scene->gravity);
    double work = 0;
    for (int32_t i = 0; i < f->rigid->scene_count; i++) {
        const tl_rigid_body *b = &f->rigid->body[i];
        const tl_motion *m = &before[i];
        if (!is_free(f, i)) continue;
        tl_vec3 p = tl_vec3_scale(b->mass, tl_vec3_sub(tl_vec3_sub(f->body_v[i], m->v), fall));
        tl_vec3 L = tl_rigid_angular_momentum(b, m->q, tl_vec3_sub(f->body_w[i], m->w));
        impulse = tl_vec3_add(impulse, p);
        angular = tl_vec3_add(angular, tl_vec3_add(L, tl_vec3_cross(m->x, p)));
        work +=
            0.5 * (tl_vec3_dot(p, tl_vec3_add(m->v, f->body_v[i])) + tl_vec3_dot(L, tl_vec3_add(m->w, f->body_w[i])));
    }
    tl_accounts_forces(sim, impulse, angular);
    tl_accounts_energy(sim, TL_ENERGY_FORCES, work);
    a->kinetic = kinetic(f, before);
    a->fell = a->kinetic - sim->start.kinetic - work;
}

void tl_accounts_sph_phase(tl_sim *sim, tl_sph_account *a, const tl_sph_step *f, const tl_motion *before,
                           tl_energy source)
{
    double now = kinetic(f, before);
    tl_accounts_energy(sim, source, now - a->kinetic);
    a->kinetic = now;
}

void tl_accounts_sph_stirred(tl_sim *sim, tl_sph_account *a, const tl_sph_step *f, const tl_sph_force *drag)
{
    double work = 0;
    for (int32_t i = 0; i < f->rigid->scene_count; i++)
        if (f->rigid->body[i].kind == TL_BODY_KINEMATIC)
            work -= f->dt * (tl_vec3_dot(drag[i].force, f->body_v[i]) + tl_vec3_dot(drag[i].torque, f->body_w[i]));
    tl_accounts_energy(sim, TL_ENERGY_SCRIPTED, work);
    a->kinetic += work;
}

void tl_accounts_sph_tension(tl_sph_account *a, const tl_sph_step *f, const tl_motion *before)
{
    a->kinetic = kinetic(f, before);
}

void tl_accounts_sph_solved(tl_sim *sim, tl_sph_account *a, const tl_sph_step *f, const tl_motion *before,
                            const double *x)
{
    double work = 0, now = kinetic(f, before);
    for (int32_t i = 0; i < f->rigid->scene_count; i++) {
        if (f->rigid->body[i].kind != TL_BODY_KINEMATIC) continue;
        tl_vec3 p = tl_vec3_add(f->contact_force[i].force, f->fluid_force[i].force);
        tl_vec3 L = tl_vec3_add(f->contact_force[i].torque, f->fluid_force[i].torque);
        work -= f->dt * (tl_vec3_dot(p, f->body_v[i]) + tl_vec3_dot(L, f->body_w[i]));
    }
    tl_accounts_energy(sim, TL_ENERGY_SCRIPTED, work);
    double gained = now - a->kinetic - work, pushed = fmin(fmax(0, gained), tl_sph_push_work(f, x));
    tl_accounts_energy(sim, TL_ENERGY_CORRECTIONS, pushed);
    tl_accounts_energy(sim, TL_ENERGY_CONTACT, gained - pushed);
    a->kinetic = now;
}

/* Impulses work with the mean of the velocities before and after. Of that, what a motor or joint friction does with the
 * velocity of the end is its own; the rest is the step's, as is what holds: places are where that leads. */
static void account_row(tl_bodies *b, const tl_joint *j, int32_t k, int r, double *all)
{
    const int64_t at = 3 * (int64_t)b->joint.first[k] + r;
    const tl_joint_row *row = &b->joint.blocks.row[at];
    const double lam = b->joint.lam[at], end = tl_joint_row_speed(j, row, b->v),
                 work = 0.5 * lam * (tl_joint_row_speed(j, row, b->v_free) + end);
    const bool drives = j->law[r] == TL_ROW_MOTOR || j->law[r] == TL_ROW_DRY,
               stops = j->law[r] == TL_ROW_LIMIT && !tl_bodies_joint_holds(b, k, r);
    const double own = drives ? lam * end : stops ? work : 0;
    if (drives) tl_accounts_energy(b->sim, j->law[r] == TL_ROW_MOTOR ? TL_ENERGY_FORCES : TL_ENERGY_FRICTION, own);
    if (stops) tl_accounts_energy(b->sim, TL_ENERGY_CONTACT, own);
    tl_accounts_energy(b->sim, TL_ENERGY_TIME_STEP, work - own);
    *all += work;
}

void tl_accounts_sph_joined(tl_bodies *b, tl_sph_account *a)
{
    tl_vec3 impulse = nothing, angular = nothing;
    double all = 0, scripted = 0, damped = 0;
    if (!b->joint.now) return;
    for (int32_t k = 0; k < b->sim->joints.count; k++) {
        const tl_joint *j = &b->sim->joints.joint[k];
        if (b->joint.first[k] == b->joint.first[k + 1]) continue;
        for (int r = 0; r < j->rows; r++) {
            const int64_t at = 3 * (int64_t)b->joint.first[k] + r;
            account_row(b, j, k, r, &all);
            scripted -=
                tl_accounts_row(b, &b->joint.blocks, at, b->joint.lam[at], b->before, b->v_free, &impulse, &angular);
        }
        damped += tl_bodies_joint_damped(b, k);
    }
    tl_accounts_energy(b->sim, TL_ENERGY_VISCOSITY, -damped);
    tl_accounts_energy(b->sim, TL_ENERGY_TIME_STEP, damped);
    tl_accounts_energy(b->sim, TL_ENERGY_SCRIPTED, scripted);
    tl_accounts_fixed(b->sim, impulse, angular);
    a->kinetic += all + scripted;
}

/* Of particles and bodies where they are now. */
static tl_totals totals(const tl_sim *sim, const tl_sph_step *f, const tl_motion *body)
{
    tl_blocks blocks = tl_blocks_of(f->fluid);
    tl_totals part[TL_BLOCKS_MAX], sum = {0};
    const double V0 = f->sph->V0;
    const tl_vec3 g = f->scene->gravity;
#pragma omp parallel for schedule(static) if (f->fluid >= TL_PARALLEL_MIN / 8)
    for (int b = 0; b < blocks.count; b++) {
        part[b] = (tl_totals){0};
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            const tl_sph_particle *p = &f->particle[i];
            tl_totals_add_point(&part[b], V0 * f->scene->materials[p->material].density, p->x, p->v, g);
        }
    }
    for (int b = 0; b < blocks.count; b++) tl_totals_add(&sum, 1, &part[b]);
    tl_totals_add_bodies(&sum, sim, body);
    return sum;
}

void tl_accounts_sph_moved(tl_sim *sim, tl_sph_account *a, const tl_sph_step *f, const tl_motion *body)
{
    a->moved = totals(sim, f, body);
    tl_accounts_energy(sim, TL_ENERGY_TIME_STEP,
                       a->fell + a->moved.potential - sim->start.potential + a->moved.elastic - sim->start.elastic +
                           a->moved.kinetic - a->kinetic);
}

void tl_accounts_sph_stopped(tl_sim *sim, tl_sph_account *a, const tl_sph_step *f, const tl_motion *body,
                             const tl_sph_force *drag, bool at_walls)
{
    tl_totals now = totals(sim, f, body);
    tl_accounts_energy(sim, TL_ENERGY_CONTACT, now.kinetic - a->moved.kinetic);
    tl_accounts_energy(sim, TL_ENERGY_CORRECTIONS, now.potential - a->moved.potential);
    if (at_walls) {
        tl_accounts_fixed(sim, tl_vec3_sub(now.momentum, a->moved.momentum),
                          tl_vec3_sub(now.angular, a->moved.angular));
    } else {
        for (int32_t i = 0; i < f->rigid->count; i++) {
            if (is_free(f, i)) continue;
            bool wall = i >= f->rigid->scene_count;
            tl_vec3 p = f->contact_force[i].force, L = f->contact_force[i].torque;
            p = tl_vec3_add(p, wall ? f->fluid_force[i].force : body[i].fluid_force);
            L = tl_vec3_add(L, wall ? f->fluid_force[i].torque : body[i].fluid_torque);
            if (wall && drag) p = tl_vec3_add(p, drag[i].force), L = tl_vec3_add(L, drag[i].torque);
            L = tl_vec3_add(L, tl_vec3_cross(f->bodies.motion[i].x, p));
            tl_accounts_fixed(sim, tl_vec3_scale(-f->dt, p), tl_vec3_scale(-f->dt, L));
        }
        tl_accounts_fixed(sim, nothing, nothing);
    }
    a->moved = now;
}

void tl_accounts_sph_gone(tl_sim *sim, const tl_sph_step *f, const tl_sph_particle *p)
{
    tl_totals one = {0};
    tl_accounts *a = &sim->accounts;
    tl_totals_add_point(&one, f->sph->V0 * f->scene->materials[p->material].density, p->x, p->v, f->scene->gravity);
    a->matter = tl_vec3_sub(a->matter, one.momentum);
    a->angular = tl_vec3_sub(a->angular, one.angular);
    tl_accounts_energy(sim, TL_ENERGY_MATTER, -one.kinetic - one.potential);
    sim->came.potential -= one.potential;
}
