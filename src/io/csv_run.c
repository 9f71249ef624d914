#include "io/csv_run.h"

#include "model/rigid/joints.h"

#include <stdio.h>

static void names(tl_csv *c, int count, const char *const *name)
{
    for (int i = 0; i < count; i++) tl_csv_text(c, name[i]);
}
#define NAMES(c, ...)                                                                                                  \
    do {                                                                                                               \
        static const char *const names_[] = {__VA_ARGS__};                                                             \
        names((c), (int)(sizeof names_ / sizeof names_[0]), names_);                                                   \
    } while (0)

/* "contact" and "_method", "seconds_" and "solve contact": words joined by '_'. */
static void joined(tl_csv *c, const char *left, const char *right)
{
    char text[96];
    snprintf(text, sizeof text, "%s%s", left, right);
    for (char *p = text; *p; p++)
        if (*p == ' ') *p = '_';
    tl_csv_text(c, text);
}

static void vector(tl_csv *c, tl_vec3 v) { tl_csv_numbers(c, 3, (const double[3]){v.x, v.y, v.z}); }

/* ---- steps ---- */

static void account_names(tl_csv *c)
{
    static const char *const vectors[] = {"impulse_gravity", "impulse_forces", "impulse_fixed", "impulse_matter"};
    static const char *const axes[] = {"_x_N_s", "_y_N_s", "_z_N_s"};
    NAMES(c, "mass_kg", "gyration_m");
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
        for (int a = 0; a < 3; a++) joined(c, vectors[k], axes[a]);
    NAMES(c, "angular_impulse_x_N_m_s", "angular_impulse_y_N_m_s", "angular_impulse_z_N_m_s",
          "momentum_unexplained_x_kg_m_s", "momentum_unexplained_y_kg_m_s", "momentum_unexplained_z_kg_m_s",
          "angular_unexplained_x_kg_m2_s", "angular_unexplained_y_kg_m2_s", "angular_unexplained_z_kg_m2_s",
          "energy_gravity_J", "energy_forces_J", "energy_scripted_J", "energy_friction_J", "energy_contact_J",
          "energy_viscosity_J", "energy_transfer_J", "energy_corrections_J", "energy_time_step_J", "energy_matter_J",
          "energy_unexplained_J");
}

static void account_cells(tl_csv *c, const tl_accounts *a)
{
    const tl_vec3 vectors[] = {
        a->gravity, a->forces, a->fixed, a->matter, a->angular, a->momentum_unexplained, a->angular_unexplained};
    tl_csv_numbers(c, 2, (const double[2]){a->mass, a->gyration});
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) vector(c, vectors[k]);
    tl_csv_numbers(c, TL_ENERGIES, a->energy);
    tl_csv_number(c, a->energy_unexplained);
}

talus_status tl_csv_steps_header(tl_csv *c, const tl_report *r, talus_error *err)
{
    NAMES(c, "step", "t_s", "dt_s", "retries");
    for (int i = 0; i < r->solves; i++) {
        static const char *const what[] = {"_method",         "_outcome",     "_iterations", "_products",
                                           "_factorizations", "_certificate", "_target"};
        for (size_t k = 0; k < sizeof what / sizeof what[0]; k++) joined(c, r->solve[i].name, what[k]);
    }
    NAMES(c, "kinetic_J", "potential_J", "elastic_J", "momentum_x_kg_m_s", "momentum_y_kg_m_s", "momentum_z_kg_m_s",
          "angular_momentum_x_kg_m2_s", "angular_momentum_y_kg_m2_s", "angular_momentum_z_kg_m2_s", "contacts",
          "touching", "penetration_m", "smallest_extent_m", "force_balance", "liquid_volume_m3", "particle_volume_m3",
          "volume_error", "compression", "particles", "escaped", "bodies", "bodies_escaped", "fastest_m_s",
          "peak_bytes");
    account_names(c);
    for (int i = 0; i < r->phases; i++) joined(c, "seconds_", r->phase[i].name);
    return tl_csv_end_header(c, err);
}

static void solve_cells(tl_csv *c, const tl_report_solve *s)
{
    tl_csv_text(c, s->method ? s->method : "");
    tl_csv_text(c, s->outcome ? s->outcome : "");
    tl_csv_int(c, s->iterations);
    tl_csv_int(c, s->work.products);
    tl_csv_int(c, s->work.factorizations);
    tl_csv_number(c, s->certificate);
    tl_csv_number(c, s->target);
}

talus_status tl_csv_steps_row(tl_csv *c, const tl_report *r, talus_error *err)
{
    tl_csv_int(c, r->step);
    tl_csv_number(c, r->t);
    tl_csv_number(c, r->dt);
    tl_csv_int(c, r->retries);
    for (int i = 0; i < r->solves; i++) solve_cells(c, &r->solve[i]);
    tl_csv_numbers(c, 3, (const double[3]){r->kinetic, r->potential, r->elastic});
    vector(c, r->momentum);
    vector(c, r->angular_momentum);
    tl_csv_int(c, r->contacts);
    tl_csv_int(c, r->touching);
    tl_csv_numbers(c, 7,
                   (const double[7]){r->penetration, r->smallest, r->force_balance, r->liquid_volume,
                                     r->particle_volume, r->volume_error, r->compression});
    tl_csv_int(c, r->particles);
    tl_csv_int(c, r->escaped);
    tl_csv_int(c, r->bodies);
    tl_csv_int(c, r->bodies_escaped);
    tl_csv_number(c, r->fastest);
    tl_csv_int(c, (int64_t)r->peak_bytes);
    account_cells(c, &r->accounts);
    for (int i = 0; i < r->phases; i++) {
        char text[32];
        snprintf(text, sizeof text, "%lld.%06lld", (long long)r->phase[i].seconds,
                 (long long)(1e6 * (r->phase[i].seconds - (double)(long long)r->phase[i].seconds)));
        tl_csv_text(c, text);
    }
    return tl_csv_end(c, err);
}

/* ---- bodies ---- */

talus_status tl_csv_bodies_header(tl_csv *c, talus_error *err)
{
    NAMES(c, "frame", "t_s", "body", "name", "x_m", "y_m", "z_m", "rotation_w", "rotation_x", "rotation_y",
          "rotation_z", "velocity_x_m_s", "velocity_y_m_s", "velocity_z_m_s", "spin_x_rad_s", "spin_y_rad_s",
          "spin_z_rad_s", "contact_force_x_N", "contact_force_y_N", "contact_force_z_N", "contact_torque_x_N_m",
          "contact_torque_y_N_m", "contact_torque_z_N_m", "fluid_force_x_N", "fluid_force_y_N", "fluid_force_z_N",
          "fluid_torque_x_N_m", "fluid_torque_y_N_m", "fluid_torque_z_N_m", "mean_contact_force_x_N",
          "mean_contact_force_y_N", "mean_contact_force_z_N", "mean_contact_torque_x_N_m", "mean_contact_torque_y_N_m",
          "mean_contact_torque_z_N_m", "mean_fluid_force_x_N", "mean_fluid_force_y_N", "mean_fluid_force_z_N",
          "mean_fluid_torque_x_N_m", "mean_fluid_torque_y_N_m", "mean_fluid_torque_z_N_m");
    return tl_csv_end_header(c, err);
}

talus_status tl_csv_bodies_rows(tl_csv *c, const tl_scene *scene, const tl_rigid *rigid, const tl_state *s,
                                talus_error *err)
{
    for (int i = 0; i < scene->body_count; i++) {
        const tl_motion *m = &s->rigid.body[i];
        tl_pose pose = tl_rigid_pose(&rigid->body[i], m);
        tl_vec3 vectors[] = {m->v,
                             m->w,
                             m->contact_force,
                             m->contact_torque,
                             m->fluid_force,
                             m->fluid_torque,
                             m->mean_contact_force,
                             m->mean_contact_torque,
                             m->mean_fluid_force,
                             m->mean_fluid_torque};
        tl_csv_int(c, s->frame);
        tl_csv_number(c, s->t);
        tl_csv_int(c, i);
        tl_csv_text(c, scene->bodies[i].name);
        vector(c, pose.at);
        tl_csv_numbers(c, 4, (const double[4]){pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z});
        for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) vector(c, vectors[k]);
        TL_TRY(tl_csv_end(c, err));
    }
    return TALUS_OK;
}

/* ---- what holds elastic bodies ---- */

talus_status tl_csv_holds_header(tl_csv *c, talus_error *err)
{
    NAMES(c, "frame", "t_s", "kind", "number", "body", "x_m", "y_m", "z_m", "force_x_N", "force_y_N", "force_z_N",
          "torque_x_N_m", "torque_y_N_m", "torque_z_N_m", "tension_N");
    return tl_csv_end_header(c, err);
}

talus_status tl_csv_holds_rows(tl_csv *c, const tl_scene *scene, const tl_lg *lg, const tl_lg_hold *hold,
                               const tl_state *s, talus_error *err)
{
    static const char *const kinds[] = {"anchor", "handle", "cable", "join"};
    for (int32_t i = 0; i < tl_lg_hold_count(lg, scene); i++) {
        const tl_lg_hold *h = &hold[i];
        if (h->kind == TL_LG_ANCHORED && scene->bodies[h->number].anchor < 0) continue;
        tl_csv_int(c, s->frame);
        tl_csv_number(c, s->t);
        tl_csv_text(c, kinds[h->kind]);
        tl_csv_int(c, h->number);
        tl_csv_text(c, h->kind == TL_LG_ANCHORED ? scene->bodies[h->number].name
                       : h->kind == TL_LG_LED    ? scene->handles[h->number].body
                       : h->kind == TL_LG_PULLED ? scene->cables[h->number].body
                                                 : scene->joins[h->number].body);
        vector(c, h->at);
        vector(c, h->force);
        vector(c, h->torque);
        tl_csv_number(c, h->tension);
        TL_TRY(tl_csv_end(c, err));
    }
    return TALUS_OK;
}

/* ---- joints ---- */

talus_status tl_csv_joints_header(tl_csv *c, talus_error *err)
{
    NAMES(c, "frame", "t_s", "joint", "name", "x_m", "y_m", "z_m", "coordinate", "speed", "force_x_N", "force_y_N",
          "force_z_N", "torque_x_N_m", "torque_y_N_m", "torque_z_N_m", "motor", "broken");
    return tl_csv_end_header(c, err);
}

talus_status tl_csv_joints_rows(tl_csv *c, const tl_scene *scene, const tl_state *s, talus_error *err)
{
    const tl_joint_state *joints = tl_state_find(s, &tl_joints_kind);
    for (int64_t i = 0; joints && i < joints->count; i++) {
        const tl_joint_memory *j = &joints->joint[i];
        tl_csv_int(c, s->frame);
        tl_csv_number(c, s->t);
        tl_csv_int(c, i);
        tl_csv_text(c, scene->joints[i].name);
        vector(c, j->at);
        tl_csv_number(c, j->position);
        tl_csv_number(c, j->speed);
        vector(c, j->on_a);
        vector(c, j->torque_on_a);
        tl_csv_number(c, j->motor);
        tl_csv_int(c, j->broken > 0);
        TL_TRY(tl_csv_end(c, err));
    }
    return TALUS_OK;
}

/* ---- iteration curves ---- */

talus_status tl_csv_history_header(tl_csv *c, talus_error *err)
{
    NAMES(c, "step", "solver", "iteration", "products", "residual");
    return tl_csv_end_header(c, err);
}

talus_status tl_csv_history_rows(tl_csv *c, const tl_report *r, const tl_history *history, talus_error *err)
{
    for (int i = 0; i < r->solves; i++)
        for (int k = 0; k < history[i].count; k++) {
            tl_csv_int(c, r->step);
            tl_csv_text(c, r->solve[i].name);
            tl_csv_int(c, k + 1);
            tl_csv_int(c, history[i].products[k]);
            tl_csv_number(c, history[i].residual[k]);
            TL_TRY(tl_csv_end(c, err));
        }
    return TALUS_OK;
}
