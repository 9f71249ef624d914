#include "phase/accounts/lg.h"

#include <math.h>

#include "base/sum.h"

talus_status tl_accounts_lg_begin(tl_sim *sim, const tl_vec3 *target, tl_arena *a, double *elastic, talus_error *err)
{
    const tl_lg *lg = &sim->lg;
    const double *q = tl_lg_state_of(&sim->state)->q;
    size_t mark = tl_arena_mark(a);
    tl_pose *handle = TL_TAKE(a, tl_pose, lg->handles + 1);
    tl_vec3 *before = TL_TAKE(a, tl_vec3, lg->anchors + 1);
    if (!handle || !before) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the accounts of elastic bodies");
    TL_TRY(tl_lg_handle_poses(lg, sim->scene, sim->state.t, handle, err));
    tl_lg_lead(tl_lg_state_of(&sim->state), false, handle);
    tl_lg_targets(lg, handle, before);
    double held = tl_lg_linear_energy(lg, q, before);
    *elastic = tl_lg_stress(lg, q, NULL) + held;
    tl_accounts_start_elastic(sim, *elastic);
    tl_accounts_energy(sim, TL_ENERGY_SCRIPTED, tl_lg_linear_energy(lg, q, target) - held);
    tl_arena_release(a, mark);
    return TALUS_OK;
}

/* Walls, static and scripted bodies through contacts of elastic nodes; work of scripted ones and of friction. */
static void account_contacts(tl_sim *sim, const tl_accounts_lg *x, double *scripted, double *friction)
{
    const tl_lg_rows *r = &x->touch->rows;
    tl_vec3 p = {0, 0, 0}, L = {0, 0, 0};
    *scripted = *friction = 0;
    for (int32_t c = 0; c < r->contacts; c++) {
        const double *f = x->touch->force + 3 * (int64_t)c, *slip = x->touch->value + 3 * (int64_t)c;
        *friction += f[1] * slip[1] + f[2] * slip[2];
        if (c >= r->soft) continue;
        const tl_lg_contact *k = &x->contacts->contact[c];
        if (k->b.node[0] >= 0 || k->rigid >= 0) continue;
        const tl_lg_link *link = &r->link[c];
        tl_vec3 push =
            tl_vec3_add_scaled(tl_vec3_scale(x->h, tl_lg_link_force(link, f)), x->touch->landed[c], link->axis[0]);
        p = tl_vec3_add(p, push);
        for (int32_t i = 0; i < link->nodes; i++)
            L = tl_vec3_add_scaled(L, link->weight[i],
                                   tl_vec3_cross(tl_vec3_load(x->q1 + 3 * (int64_t)r->node[link->node[i]]), push));
        *scripted += tl_vec3_dot(push, k->drag);
    }
    tl_accounts_fixed(sim, p, L);
}

/* Handles pull at anchors. */
static void account_anchors(tl_sim *sim, const tl_accounts_lg *x)
{
    tl_vec3 p = {0, 0, 0}, L = {0, 0, 0};
    for (int32_t k = 0; k < x->lg->anchors; k++) {
        const tl_lg_anchor *a = &x->lg->anchor[k];
        int64_t i = 3 * (int64_t)a->vertex;
        tl_vec3 pull = tl_vec3_scale(x->h * a->weight, tl_vec3_sub(x->target[k], tl_vec3_load(x->q1 + i)));
        p = tl_vec3_add(p, pull);
        L = tl_vec3_add(L, tl_vec3_cross(tl_vec3_load(x->q1 + i), pull));
    }
    tl_accounts_fixed(sim, p, L);
}

void tl_accounts_lg_damped(tl_sim *sim, const double *held, const double *q)
{
    tl_vec3 p = {0, 0, 0}, L = {0, 0, 0};
    for (int64_t i = 0; i < sim->lg.nodes; i++) {
        tl_vec3 pull = tl_vec3_load(held + 3 * i);
        p = tl_vec3_add(p, pull);
        L = tl_vec3_add(L, tl_vec3_cross(tl_vec3_load(q + 3 * i), pull));
    }
    tl_accounts_fixed(sim, p, L);
}

/* Joins to the world, to static and to scripted bodies: what no other side takes. */
static void account_rows(tl_sim *sim, const tl_accounts_lg *x)
{
    const tl_lg_rows *r = &x->touch->rows;
    tl_vec3 p = {0, 0, 0}, L = {0, 0, 0};
    for (int32_t b = 0; b < r->bilateral.count; b++) {
        const tl_lg_bilateral *row = &r->bilateral.row[b];
        if (row->body >= 0) continue;
        double pull = x->h * x->touch->force[3 * (int64_t)r->contacts + b];
        for (int32_t k = row->first; k < row->first + row->count; k++) {
            const tl_lg_term *t = &r->bilateral.term[k];
            p = tl_vec3_add_scaled(p, pull, t->along);
            L = tl_vec3_add_scaled(L, pull, tl_vec3_cross(tl_vec3_load(x->q1 + 3 * (int64_t)t->node), t->along));
        }
    }
    tl_accounts_fixed(sim, p, L);
}

/* Of cables and joins: what they pull along. Of contacts that overlapped at the start: what pushing them apart gave. */
static talus_status row_work(const tl_accounts_lg *x, tl_arena *a, double *pulled, double *parted, talus_error *err)
{
    const tl_lg_rows *r = &x->touch->rows;
    size_t mark = tl_arena_mark(a);
    *pulled = *parted = 0;
    if (!r->rows) return TALUS_OK;
    double *before = TL_TAKE(a, double, r->rows), *after = TL_TAKE(a, double, r->rows);
    double *still = TL_TAKE_ZERO(a, double, 6 * (int64_t)r->bodies + 1);
    if (!before || !after || !still)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the accounts of elastic bodies");
    tl_lg_rows_values(r, x->q0, still, before);
    tl_lg_rows_values(r, x->q1, x->touch->body_moved, after);
    for (int64_t k = 3 * (int64_t)r->contacts; k < r->rows; k++) *pulled += x->touch->force[k] * (after[k] - before[k]);
    for (int64_t k = 0; k < 3 * (int64_t)r->contacts; k += 3)
        if (before[k] < 0) *parted += fmax(0, x->touch->force[k] * (fmin(0, after[k]) - before[k]));
    tl_arena_release(a, mark);
    return TALUS_OK;
}

/* Momentum is p of the step's own history; gravity and forces act where nodes end up. */
static void start_from(tl_sim *sim, const tl_accounts_lg *x)
{
    const tl_vec3 fall = tl_vec3_scale(x->h, sim->scene->gravity);
    const tl_lg_state *now = tl_lg_state_of(&sim->state);
    tl_vec3 impulse = {0, 0, 0}, turn = {0, 0, 0};
    double work = 0;
    for (int64_t i = 0; i < x->lg->nodes; i++) {
        const double m = x->lg->mass[i];
        tl_vec3 q = tl_vec3_load(x->q0 + 3 * i), moved = tl_vec3_sub(tl_vec3_load(x->q1 + 3 * i), q);
        tl_vec3 p = {x->p0[3 * i] - tl_lg_state_momentum(now, 3 * i),
                     x->p0[3 * i + 1] - tl_lg_state_momentum(now, 3 * i + 1),
                     x->p0[3 * i + 2] - tl_lg_state_momentum(now, 3 * i + 2)};
        sim->start.momentum = tl_vec3_add_scaled(sim->start.momentum, m, p);
        sim->start.angular = tl_vec3_add_scaled(sim->start.angular, m, tl_vec3_cross(q, p));
        sim->accounts.angular = tl_vec3_add_scaled(sim->accounts.angular, m, tl_vec3_cross(moved, fall));
        tl_vec3 push = tl_vec3_scale(m, tl_vec3_sub(tl_vec3_scale(x->h, tl_vec3_load(x->accel + 3 * i)), fall));
        impulse = tl_vec3_add(impulse, push);
        turn = tl_vec3_add(turn, tl_vec3_cross(tl_vec3_load(x->q1 + 3 * i), push));
        work += tl_vec3_dot(push, moved) / x->h;
    }
    tl_accounts_forces(sim, impulse, turn);
    tl_accounts_energy(sim, TL_ENERGY_FORCES, work);
}

/* Pressure pushes where surfaces end up; its work is that of the straight way there. */
static talus_status account_pressure(tl_sim *sim, const tl_accounts_lg *x, tl_arena *a, double *work, talus_error *err)
{
    const size_t mark = tl_arena_mark(a);
    tl_vec3 impulse = {0, 0, 0}, turn = {0, 0, 0};
    *work = 0;
    if (!x->pressure) return TALUS_OK;
    double *push = TL_TAKE_ZERO(a, double, 3 * (int64_t)x->lg->nodes);
    if (!push) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the accounts of elastic bodies");
    tl_lg_press(x->lg, x->pressure, x->h, x->q1, push);
    for (int64_t i = 0; i < x->lg->nodes; i++) {
        impulse = tl_vec3_add(impulse, tl_vec3_load(push + 3 * i));
        turn = tl_vec3_add(turn, tl_vec3_cross(tl_vec3_load(x->q1 + 3 * i), tl_vec3_load(push + 3 * i)));
    }
    *work = tl_lg_press_work(x->lg, x->pressure, x->q0, x->q1);
    tl_accounts_forces(sim, impulse, turn);
    tl_accounts_energy(sim, TL_ENERGY_FORCES, *work);
    tl_arena_release(a, mark);
    return TALUS_OK;
}

talus_status tl_accounts_lg_end(tl_sim *sim, const tl_accounts_lg *x, tl_arena *a, talus_error *err)
{
    double damped = 0, forces = 0, pushed = 0, pressed, scripted, friction, pulled, parted, he2 = x->he * x->he;
    start_from(sim, x);
    TL_TRY(account_pressure(sim, x, a, &pressed, err));
    for (int32_t i = 0; i < x->lg->nodes; i++)
        for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++) {
            double d = x->q1[k] - x->q0[k], m = x->lg->mass[i], gain = (x->q1[k] - x->qtil[k]) / he2;
            damped += m * (0.5 * (x->v1[k] * x->v1[k] - x->v0[k] * x->v0[k]) - (gain + x->accel[k]) * d);
            forces += (x->r[k] / he2 + m * gain) * d;
            if (x->touch->rows.rows) pushed += x->touch->rows.force[k] * d;
        }
    account_contacts(sim, x, &scripted, &friction);
    account_anchors(sim, x);
    account_rows(sim, x);
    TL_TRY(row_work(x, a, &pulled, &parted, err));
    double handles = sim->accounts.energy[TL_ENERGY_SCRIPTED], joined = 0,
           given = tl_accounts_rigid_in_lg(x->b, &scripted, &joined);
    tl_accounts_energy(sim, TL_ENERGY_TIME_STEP,
                       x->landed - x->viscous + damped + x->elastic - x->elastic0 - handles + forces - pushed - joined -
                           pressed);
    tl_accounts_energy(sim, TL_ENERGY_SCRIPTED, scripted + pulled);
    tl_accounts_energy(sim, TL_ENERGY_FRICTION, friction);
    tl_accounts_energy(sim, TL_ENERGY_VISCOSITY, x->viscous);
    tl_accounts_energy(sim, TL_ENERGY_CONTACT, pushed + given - scripted - pulled - friction - x->landed - parted);
    tl_accounts_energy(sim, TL_ENERGY_CORRECTIONS, parted);
    return TALUS_OK;
}
