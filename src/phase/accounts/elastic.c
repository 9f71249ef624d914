#include "phase/elastic/trial.h"

#include <string.h>

#include "phase/accounts/accounts.h"
#include "phase/grid/wet.h"

/* Walls, static and scripted bodies through contacts of elastic nodes; work of scripted ones and of friction. */
static void account_contacts(tl_elastic_trial *s, double *scripted, double *friction)
{
    tl_vec3 p = {0, 0, 0}, L = {0, 0, 0};
    tl_fem_rows_velocity(&s->rows, s->v, s->v_rigid, s->u);
    for (int32_t c = 0; c < s->rows.contacts; c++) {
        const double *lam = s->lam + 3 * (int64_t)c, *u = s->u + 3 * (int64_t)c;
        const tl_fem_link *l = &s->rows.link[c];
        const bool half =
            c >= s->rows.soft && s->bodies->contacts.point[c - s->rows.soft].half; /* the law's is twice */
        *friction += (half ? 0.5 : 1) * (lam[1] * u[1] + lam[2] * u[2]);
        if (c >= s->rows.soft) continue;
        const tl_lg_contact *k = &s->contacts.contact[c];
        if (k->b.node[0] >= 0 || k->rigid >= 0) continue;
        tl_vec3 push = tl_fem_link_force(l, lam);
        p = tl_vec3_add(p, push);
        for (int i = 0; i < l->nodes; i++)
            L = tl_vec3_add_scaled(L, l->weight[i], tl_vec3_cross(tl_vec3_load(s->x + 3 * (int64_t)l->node[i]), push));
        *scripted += tl_vec3_dot(push, k->drag);
    }
    tl_accounts_fixed(s->sim, p, L);
}

/* What holds nodes: h m g + forces asked for + h f + J^T lam and the reaction make m (v_end - v_t). Returns the work
 * of all that moves held nodes. */
static double account_held(tl_elastic_trial *s, const double *pushed)
{
    const tl_lg_state *now = s->now;
    tl_vec3 p = {0, 0, 0}, L = {0, 0, 0};
    double work = 0;
    for (int32_t k = 0; k < s->lg->anchors; k++) {
        const tl_lg_anchor *a = &s->lg->anchor[k];
        const int64_t i = 3 * (int64_t)a->vertex;
        const double mass = s->lg->mass[a->vertex];
        tl_vec3 R = {0, 0, 0};
        if (tl_elastic_leads(s, k)) {
            R = tl_vec3_scale(mass, tl_vec3_sub(tl_vec3_load(s->v_end + i), tl_vec3_load(now->v + i)));
            R = tl_vec3_add_scaled(R, -s->h * mass, s->scene->gravity);
            R = tl_vec3_add_scaled(R, -s->h, tl_vec3_load(s->force + i));
            R = tl_vec3_sub(tl_vec3_sub(R, tl_vec3_load(pushed + i)), s->asked[k]);
            work += tl_vec3_dot(R, tl_vec3_load(s->v + i));
        } else if (!s->fem->is_held[k] && s->fem->place[a->vertex] >= 0) {
            R = tl_vec3_scale(s->h * a->weight, tl_vec3_sub(s->spring[k], tl_vec3_load(s->x + i)));
        }
        s->reaction[k] = R;
        p = tl_vec3_add(p, R);
        L = tl_vec3_add(L, tl_vec3_cross(tl_vec3_load(s->x + i), R));
    }
    tl_accounts_fixed(s->sim, p, L);
    return work;
}

/* The weight of liquid inside of cells, which one pressure per cell leaves out: on account of what holds the liquid. */
static void account_offset(const tl_elastic_trial *s)
{
    tl_vec3 p = {0, 0, 0}, L = {0, 0, 0};
    for (int32_t i = 0; i < s->lg->nodes; i++) {
        tl_vec3 push = tl_vec3_load(s->offset + 3 * (int64_t)i);
        p = tl_vec3_add(p, push);
        L = tl_vec3_add(L, tl_vec3_cross(tl_vec3_load(s->x + 3 * (int64_t)i), push));
    }
    tl_accounts_fixed(s->sim, p, L);
}

/* Where momentum and energy of nodes and of rigid bodies went. Levers are those of x, where stresses are: these have
 * no moment there. */
void tl_elastic_account(tl_elastic_trial *s)
{
    const tl_lg_state *now = s->now;
    const int64_t n = 3 * (int64_t)s->lg->nodes;
    double *pushed = s->dv, scripted = 0, friction = 0, asked = 0, work = 0, damped = 0, stressed = 0, viscous = 0;
    tl_vec3 impulse = {0, 0, 0}, angular = {0, 0, 0};
    memset(pushed, 0, sizeof *pushed * (size_t)n);
    tl_fem_rows_push(&s->rows, s->lam, pushed, NULL);
    for (int64_t k = 0; k < n && s->load; k++) pushed[k] += s->load[k] + s->follow[k] + s->offset[k] + s->grains[k];
    double held = tl_elastic_springs(s, now->q, s->source, NULL),
           led = tl_elastic_springs(s, now->q, s->target, NULL) - held;
    const double start = tl_fem_forces(s->fem, now->q, NULL, NULL, s->scratch) + held;
    tl_accounts_start_elastic(s->sim, start);
    tl_elastic_positions(s, s->v, s->x);
    tl_fem_forces(s->fem, s->x, NULL, s->force, s->scratch);
    for (int64_t k = 0; k < n && s->data->damps; k++) viscous -= s->h * s->force[k] * s->v[k];
    if (s->data->damps) tl_fem_forces(s->fem, s->x, &s->rate, s->force, s->scratch);
    for (int64_t k = 0; k < n && s->data->damps; k++) viscous += s->h * s->force[k] * s->v[k];
    tl_elastic_springs(s, s->x, s->spring, s->force);
    const double g[3] = {s->scene->gravity.x, s->scene->gravity.y, s->scene->gravity.z};
    for (int64_t k = 0; k < n; k++) {
        double m = s->lg->mass[k / 3], dv = s->v_end[k] - now->v[k], middle = 0.5 * (s->v_end[k] + now->v[k]);
        damped += m * dv * (middle - s->v[k]);
        stressed += s->h * s->force[k] * s->v[k];
        work += pushed[k] * s->v[k];
    }
    for (int32_t i = 0; i < s->lg->nodes; i++) {
        if (s->fem->place[i] < 0) continue;
        double push[3];
        for (int c = 0; c < 3; c++) {
            int64_t k = 3 * (int64_t)i + c;
            push[c] = s->lg->mass[i] * (s->v_star[k] - now->v[k] - s->h * g[c]) -
                      (s->offset ? s->offset[k] + s->grains[k] : 0);
            asked += push[c] * s->v[k];
        }
        impulse = tl_vec3_add(impulse, tl_vec3_load(push));
        angular = tl_vec3_add(angular, tl_vec3_cross(tl_vec3_load(s->x + 3 * (int64_t)i), tl_vec3_load(push)));
    }
    for (int32_t k = 0; k < s->lg->anchors; k++) {
        const int64_t i = 3 * (int64_t)s->lg->anchor[k].vertex;
        impulse = tl_vec3_add(impulse, s->asked[k]);
        angular = tl_vec3_add(angular, tl_vec3_cross(tl_vec3_load(s->x + i), s->asked[k]));
        asked += tl_vec3_dot(s->asked[k], tl_vec3_load(s->v + i));
    }
    tl_accounts_forces(s->sim, impulse, angular);
    tl_accounts_energy(s->sim, TL_ENERGY_FORCES, asked);
    account_contacts(s, &scripted, &friction);
    tl_accounts_energy(s->sim, TL_ENERGY_SCRIPTED, account_held(s, pushed) + led);
    for (int64_t k = 0; k < n && s->grains; k++) work -= s->grains[k] * s->v[k]; /* told where particles stop */
    if (s->offset) account_offset(s);
    double frames, given = tl_accounts_rigid_in_lg(s->bodies, &scripted, &frames);
    if (s->bodies->resist.count) friction += tl_accounts_resist(s->bodies, &scripted);
    tl_accounts_energy(s->sim, TL_ENERGY_TIME_STEP, damped + s->energy - start - led + stressed - viscous);
    tl_accounts_energy(s->sim, TL_ENERGY_VISCOSITY, viscous);
    tl_accounts_energy(s->sim, TL_ENERGY_SCRIPTED, scripted);
    tl_accounts_energy(s->sim, TL_ENERGY_FRICTION, friction);
    /* what sand or a viscous liquid gives to solids is what it loses there, where step/grid.c tells the rest of it */
    const bool viscous_liquid = s->wet && s->wet->viscous.ctx;
    tl_accounts_energy(s->sim,
                       s->sandy         ? TL_ENERGY_FRICTION
                       : viscous_liquid ? TL_ENERGY_VISCOSITY
                                        : TL_ENERGY_CONTACT,
                       work + given - scripted - friction);
}
