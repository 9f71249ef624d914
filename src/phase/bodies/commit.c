#include <math.h>
#include <string.h>

#include "model/rigid/motion.h"
#include "phase/bodies/bodies.h"

static const char *const phase_names[TL_BODIES_PHASES] = {"predict", "detect",     "assemble", "solve contact",
                                                          "move",    "look again", "bounce",   "stabilise"};

static void sum_forces(tl_bodies *s, const tl_rigid_contacts *c, const double *lam)
{
    for (int32_t k = 0; k < c->count; k++) {
        const tl_rigid_point *p = &c->point[k];
        tl_vec3 f = tl_rigid_point_force(p, lam + 3 * (int64_t)k, s->dt);
        tl_motion *a = &s->body[p->a], *b = &s->body[p->b];
        a->contact_force = tl_vec3_add(a->contact_force, f);
        b->contact_force = tl_vec3_sub(b->contact_force, f);
        a->contact_torque = tl_vec3_add(a->contact_torque, tl_vec3_cross(p->arm_a, f));
        b->contact_torque = tl_vec3_sub(b->contact_torque, tl_vec3_cross(p->arm_b, f));
    }
}

static void sum_contact_forces(tl_bodies *s)
{
    for (int32_t i = 0; i < s->rigid->count; i++)
        if (!s->resting || !s->resting[i]) s->body[i].contact_force = s->body[i].contact_torque = (tl_vec3){0, 0, 0};
    sum_forces(s, &s->contacts, s->lam);
    sum_forces(s, &s->half.stopped, s->half.lam);
    for (int32_t i = 0; i < s->rigid->count; i++)
        s->body[i].contact_torque =
            tl_vec3_add_scaled(s->body[i].contact_torque, 1 / s->dt, tl_vec3_load(s->levers + 3 * (int64_t)i));
    for (int32_t k = 0; k < s->resist.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[s->resist.point[k]];
        tl_vec3 turn = tl_vec3_scale(
            1 / s->dt, tl_rigid_resist_torque(&s->resist, &s->contacts, k, s->resist_lam + 3 * (int64_t)k));
        s->body[p->a].contact_torque = tl_vec3_add(s->body[p->a].contact_torque, turn);
        s->body[p->b].contact_torque = tl_vec3_sub(s->body[p->b].contact_torque, turn);
    }
}

/* A point of the step before whose bodies rest. */
static bool is_kept(const tl_bodies *s, const tl_rigid_memory *m)
{
    return s->resting && (s->resting[m->a] || s->resting[m->b]);
}

static tl_rigid_memory memory_of(const tl_bodies *s, const tl_rigid_point *p, const double *lam)
{
    return (tl_rigid_memory){.a = p->a,
                             .b = p->b,
                             .axis = p->axis,
                             .at_a = p->at_a,
                             .at_b = p->at_b,
                             .force = tl_rigid_point_force(p, lam, s->dt),
                             .normal = p->normal,
                             .gap = p->gap,
                             .found = p->found};
}

static bool comes_before(const tl_rigid_memory *m, const tl_rigid_point *p)
{
    return m->a < p->a || (m->a == p->a && m->b < p->b);
}

/* Points of the step and those of bodies that rest, in order. */
static int64_t remember_contacts(const tl_bodies *s)
{
    const tl_rigid_state *r = &s->sim->state.rigid;
    int64_t count = 0, old = 0;
    for (int32_t k = 0; k <= s->contacts.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        for (; s->resting && old < r->contacts; old++) {
            if (k < s->contacts.count && !comes_before(&r->contact[old], p)) break;
            if (is_kept(s, &r->contact[old])) s->memory[count++] = r->contact[old];
        }
        if (k == s->contacts.count) break;
        bool same = k > 0 && p[-1].a == p->a && p[-1].b == p->b;
        s->memory[count] = memory_of(s, p, s->lam + 3 * (int64_t)k);
        s->memory[count].point = same ? s->memory[count - 1].point + 1 : 0;
        count++;
    }
    return count;
}

/* What the report counts of bodies that rest. */
static void report_resting(const tl_bodies *s, tl_report *r)
{
    const tl_rigid_state *past = &s->sim->state.rigid;
    for (int64_t k = 0; s->resting && k < past->contacts; k++) {
        const tl_rigid_memory *m = &past->contact[k];
        if (!is_kept(s, m)) continue;
        r->contacts++;
        r->touching += tl_vec3_norm2(m->force) > 0;
        r->penetration = fmax(r->penetration, -m->gap);
    }
}

void tl_bodies_report(const tl_bodies *s, tl_report *r)
{
    r->force_balance = NAN;
    for (int k = 0; k < TL_BODIES_PHASES; k++)
        r->phase[r->phases++] = (tl_report_phase){phase_names[k], s->spent[k].seconds, s->spent[k].cpu};
    r->contacts = s->contacts.count;
    for (int32_t k = 0; k < s->contacts.count; k++) r->touching += s->lam[3 * (int64_t)k] > 0;
    r->penetration = s->penetration;
    report_resting(s, r);
    tl_bodies_measure(s, r);
}

void tl_bodies_measure(const tl_bodies *s, tl_report *r)
{
    tl_rigid_report_lost(s->sim, s->body, s->data->lost, r);
    tl_rigid_measures now = tl_rigid_measure(s->rigid, s->body, s->scene->gravity);
    r->kinetic = now.kinetic;
    r->potential = now.potential;
    r->momentum = now.momentum;
    r->angular_momentum = now.angular_momentum;
    r->fastest = now.fastest;
}

void tl_bodies_measure_nodes(const tl_bodies *s, const double *x, const double *v, const double *p, tl_report *r)
{
    double fastest2 = 0;
    for (int64_t i = 0; i < s->sim->lg.nodes; i++) {
        tl_vec3 at = tl_vec3_load(x + 3 * i), speed = tl_vec3_load(v + 3 * i), per_mass = tl_vec3_load(p + 3 * i);
        double m = s->sim->lg.mass[i];
        r->kinetic += 0.5 * m * tl_vec3_norm2(speed);
        r->potential -= m * tl_vec3_dot(s->scene->gravity, at);
        r->momentum = tl_vec3_add_scaled(r->momentum, m, per_mass);
        r->angular_momentum = tl_vec3_add_scaled(r->angular_momentum, m, tl_vec3_cross(at, per_mass));
        fastest2 = fmax(fastest2, tl_vec3_norm2(speed));
    }
    r->fastest = fmax(sqrt(fastest2), r->fastest);
}

void tl_bodies_commit(tl_bodies *s)
{
    sum_contact_forces(s);
    tl_bodies_commit_shown(s, remember_contacts(s), s->memory);
    tl_rigid_state *r = &s->sim->state.rigid;
    for (int32_t k = 0; k < s->half.stopped.count; k++) {
        const double *lam = s->half.lam + 3 * (int64_t)k;
        if (lam[0] > 0) r->impact[r->impacts++] = memory_of(s, &s->half.stopped.point[k], lam);
    }
}

void tl_bodies_commit_shown(tl_bodies *s, int64_t count, const tl_rigid_memory *contact)
{
    tl_rigid_state *r = &s->sim->state.rigid;
    r->contacts = count;
    r->impacts = 0;
    if (count) memcpy(r->contact, contact, sizeof *r->contact * (size_t)count);
    memcpy(r->body, s->body, sizeof *s->body * (size_t)s->rigid->scene_count);
    tl_bodies_joints_commit(s);
}
