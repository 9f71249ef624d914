/* The step of the grid engine: liquid or sand, rigid and elastic bodies in one contact-aware solve. The algorithm is
 * that of [FM21 alg. 1] (spec grid-granular 4): particles to grid, one coupled solve for pressure, frictional stress and
 * contacts, grid to particles; with elastic bodies that of [Takahashi2022] (spec elasto-monolith 9), a Newton iteration
 * around such solves.
 *
 *     predict bodies          v* = v + dt (gravity, forces)
 *     particles to grid       emission, sorted particles, grid around them, face velocities
 *     add external forces     u* = u + dt gravity, continued into faces without matter
 *     classify domains        solids, open parts of faces, distance to the surface
 *     detect contacts         and pieces of liquid that hang together by them
 *     assemble                lists of cells and faces, operators. Rules: closed slivers, closed fringe, least mass, edges carry the load
 *     condition               rules: single grains stop at solids, faces hand over what goes with others
 *     pose problem            cones of sand (rule: rough solids), what the last step left, methods
 *     repeat                  until no fast body ends up inside of something that it was not told of
 *         assemble contacts
 *         run scheme          pressure, stress, contacts and joints: u1, v1
 *         move bodies         joints once more until bodies are where these hold them
 *       with elastic bodies: Newton around pressure, contacts, elastic and rigid solids as one (phase/grid/wet.h)
 *     select static stress    rule: what sand at rest goes on from
 *     stabilise, bounce
 *     fit                     velocities that joints allow where bodies are now
 *     extend velocities       u1 on faces beside what flows and beyond it, and not into solids
 *     part crowds             rule: what carries particles is u1 and the displacement that takes crowds apart
 *     keep momentum           what liquid carries is by momentum
 *     load bodies             forces that are told, on static ones too
 *     move particles          affine velocities from u1, places by what carries them, out of solids; once per frame particles that crowd part
 *     commit
 *
 * Rules are not in the paper's box: model/grid/rules.h has the table, with reason, switch and test of each. */
#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "model/grid/rules.h"
#include "phase/grid/trial.h"
#include "solve/least/method.h"

#define WARM_SHARE 0.98 /* of active cells with a pressure of the last step: fewer start from the coarse levels */
/* Of stress per sweep. With 8, 5 to 11 % of the steps of a collapse miss their target in 20 sweeps, with 16 1 to 5
 * %, for a tenth more time; 32 gain nothing. Where there is no stress to go on from, as in the first step of a run,
 * 16 miss it (5 times above in `sandbox`) and 32 just reach it. */
#define STRESS_ITERATIONS 16
#define COLD_ITERATIONS 64
#define COLD_SHARE 0.5      /* of the cells with a memory: fewer are a cold start */
#define FRAME_SLACK 1e-6    /* of a step: rounding of the frame's time */
#define PART_TOLERANCE 1e-2 /* crowds: what is left is there again in the next step */
#define PART_ITERATIONS 20

static tl_flow_sums sums_of(const tl_grid_trial *s, double *const u[3])
{
    return tl_faces_sums(&s->f.grid, &s->f.faces, u, s->scene->gravity);
}

/* ---- phases ---- */

static talus_status begin_step(tl_grid_trial *s, tl_sim *sim, double dt, talus_error *err)
{
    tl_grid_data *data = sim->engine_data;
    *s = (tl_grid_trial){.sim = sim, .scene = sim->scene, .data = data, .arena = &sim->arena};
    TL_TRY(tl_bodies_begin(&s->b, sim, &data->rigid, dt, err));
    s->b.flows = true;
    s->totals = *tl_grid_state_of(&sim->state)->totals;
    s->fluid = TL_TAKE_ZERO(s->arena, double, 6 * (int64_t)sim->rigid.count);
    s->sand = TL_TAKE_ZERO(s->arena, double, 6 * (int64_t)sim->rigid.count);
    s->hits = TL_TAKE_ZERO(s->arena, double, 6 * (int64_t)sim->rigid.count);
    s->f = (tl_flow){.scene = sim->scene,
                     .set = &data->flow,
                     .arena = s->arena,
                     .dt = dt,
                     .rigid = &sim->rigid,
                     .before = s->b.before,
                     .inv_mass = s->b.inv_mass,
                     .inv_inertia = s->b.inv_inertia,
                     .friction = s->b.friction,
                     .v_free = s->b.v_free,
                     .v = s->b.v};
    if (!s->fluid || !s->sand || !s->hits) return tl_grid_no_memory(err);
    if (!data->elastic) return TALUS_OK;
    s->soft = TL_TAKE(s->arena, tl_elastic_trial, 1);
    s->wet = TL_TAKE(s->arena, tl_wet, 1);
    if (!s->soft || !s->wet) return tl_grid_no_memory(err);
    return tl_elastic_begin_trial(s->soft, sim, data->elastic, &s->b, dt, err);
}

static talus_status predict_solids(tl_grid_trial *s, talus_error *err)
{
    TL_TRY(tl_bodies_predict(&s->b, err));
    if (!s->soft) return TALUS_OK;
    TL_TRY(tl_elastic_predict(s->soft, err));
    return tl_wet_begin(s->wet, s->soft, &s->f, err);
}

/* What the step really starts with, and what of its energy the faces have. */
static talus_status account_matter(tl_grid_trial *s, bool lost, talus_error *err)
{
    tl_totals now = s->sim->flowing;
    if (s->scene->emitter_count || lost || tl_grid_falls_around(s->scene))
        TL_TRY(tl_grid_totals_of(s->sim, &s->f.particles, &s->data->flow.frame, s->arena, &now, err));
    tl_accounts_matter(s->sim, &now);
    tl_accounts_to_grid(s->sim, &s->account, sums_of(s, s->f.faces.u), &now, s->f.dt);
    return TALUS_OK;
}

static talus_status particles_to_grid(tl_grid_trial *s, talus_error *err)
{
    tl_particles all;
    tl_lost lost;
    s->emitter = TL_TAKE(s->arena, tl_emitter_state, s->scene->emitter_count);
    TL_TRY_ALL(s->sim, s->emitter ? TALUS_OK : tl_grid_no_memory(err));
    TL_TRY(tl_flow_emit(&s->f, tl_grid_state_of(&s->sim->state), s->sim->state.t, s->emitter, &s->totals.next_id, &all,
                        err));
    TL_TRY(tl_flow_migrate(&s->f, tl_grid_state_of(&s->sim->state), &all, err));
    TL_TRY_ALL(s->sim, tl_particles_reserve(&s->data->spare, all.count, err));
    s->f.particles = s->data->spare;
    TL_TRY(tl_flow_to_grid(&s->f, &all, &lost, err));
    const double gone = tl_comm_sum(s->sim->comm, (double)lost.count);
    s->totals.escaped += gone;
    s->totals.escaped_volume += tl_comm_sum(s->sim->comm, lost.volume);
    return account_matter(s, gone > 0, err);
}

static talus_status add_external_forces(tl_grid_trial *s, talus_error *err)
{
    TL_TRY(tl_flow_fall(&s->f, err));
    tl_accounts_fall(&s->account, sums_of(s, s->f.faces.u));
    tl_grid_lap(s, TL_GRID_TO_GRID);
    return TALUS_OK;
}

static talus_status detect_contacts(tl_grid_trial *s, talus_error *err)
{
    tl_grid_lap(s, TL_GRID_DOMAINS);
    if (s->soft) {
        TL_TRY(tl_elastic_detect(s->soft, err));
        TL_TRY(tl_wet_link(s->wet, err));
    } else {
        TL_TRY_ALL(s->sim, tl_bodies_detect(&s->b, err));
        TL_TRY_ALL(s->sim, tl_bodies_match(&s->b, err));
    }
    TL_TRY(tl_flow_find_pieces(&s->f, &s->b.contacts, s->b.lam, &s->b.joint.stop, err));
    tl_grid_lap(s, TL_GRID_DOMAINS);
    return TALUS_OK;
}

static talus_status assemble(tl_grid_trial *s, talus_error *err)
{
    TL_TRY(tl_flow_assemble(&s->f, tl_grid_state_of(&s->sim->state), &s->recalled, err)); /* changes no velocity */
    return s->soft ? tl_wet_assemble(s->wet, err) : TALUS_OK;
}

static talus_status condition(tl_grid_trial *s, talus_error *err)
{
    const size_t n = 6 * (size_t)s->sim->rigid.count;
    tl_grain_account got;
    TL_TRY_ALL(s->sim, (s->b.v_asked = TL_TAKE(s->arena, double, n)) ? TALUS_OK : tl_grid_no_memory(err));
    memcpy(s->b.v_asked, s->b.v_free, sizeof(double) * n);
    TL_TRY(tl_rule_single_grains(&s->f, s->hits, &got, err));
    tl_accounts_fixed(s->sim, got.fixed, got.turned);
    if (s->soft) TL_TRY(tl_wet_take_grains(s->wet, s->b.v_asked, err));
    if (s->soft) s->soft->riders = &s->f.riders;
    TL_TRY(tl_rule_hand_over(&s->f, err));
    tl_accounts_stopped(s->sim, &s->account, s->f.stress ? TL_ENERGY_FRICTION : TL_ENERGY_CONTACT, got.given,
                        sums_of(s, s->f.faces.u));
    tl_grid_lap(s, TL_GRID_SYSTEM);
    return TALUS_OK;
}

/* Sand: the block of stress, from the stress of the last step. */
static talus_status prepare_friction(tl_grid_trial *s, bool cold, talus_error *err)
{
    const int iterations = s->scene->solver.friction.iterations;
    TL_TRY(tl_flow_friction(&s->f, s->data->friction->rule ? &s->data->parts : NULL, &s->friction, err));
    TL_TRY(tl_flow_refuse_mixture(&s->f, s->sim->state.t, err));
    s->cones = tl_friction_cones(&s->friction);
    s->cones.method = s->data->friction;
    s->cones.iterations = iterations > 0 ? iterations : cold ? COLD_ITERATIONS : STRESS_ITERATIONS;
    return tl_cones_begin(&s->cones, s->f.p, s->arena, err);
}

static talus_status pose_problem(tl_grid_trial *s, talus_error *err)
{
    tl_flow *f = &s->f;
    const bool cold = s->recalled < (f->stress ? COLD_SHARE : WARM_SHARE) * (double)f->system.all || s->recalled == 0;
    if (f->stress) TL_TRY(prepare_friction(s, cold, err));
    const bool unilateral = tl_pressure_method_bounded(s->data->method);
    if (s->soft) {
        const tl_wet_options o = {s->data->dual,
                                  s->data->method,
                                  unilateral,
                                  !cold,
                                  f->stress ? &s->friction : NULL,
                                  f->stress ? &s->cones : NULL};
        TL_TRY(tl_wet_pose(s->wet, &o, err));
        tl_grid_lap(s, TL_GRID_SYSTEM);
        return TALUS_OK;
    }
    tl_coupled *c = &s->coupled;
    TL_TRY(tl_system_coupled(c, &f->system, f->p, f->stress ? &s->cones : NULL, unilateral, s->arena, err));
    c->scheme = s->data->scheme;
    c->pressure_method = s->data->method;
    c->pressure_iterations = s->scene->solver.pressure.iterations;
    c->contact_method = s->data->rigid.method;
    c->contact_iterations = s->data->rigid.iterations;
    c->contact_tolerance = s->b.tolerance;
    c->warm = !cold;
    c->plain_sweeps = !s->data->flow.rules.mix;
    c->tolerance = s->scene->solver.tolerance;
    c->sweeps = s->scene->solver.sweeps;
    c->history = s->sim->history;
    tl_grid_lap(s, TL_GRID_SYSTEM);
    return TALUS_OK;
}

static talus_status check_solved(const tl_grid_trial *s, bool *again, talus_error *err)
{
    const tl_coupled_certificate *c = &s->solved.certificate;
    if (!isfinite(c->pressure) || !isfinite(c->normal) || !isfinite(c->tangent) || !isfinite(c->stress) ||
        !isfinite(c->joint)) {
        *again = true;
        return TL_FAIL(err, TALUS_NOT_DEFINITE, "velocities became NaN or infinite in scheme \"%s\"",
                       tl_scheme_name(s->solved.scheme));
    }
    return TALUS_OK;
}

/* Reruns (second looks) go on from the pressure that is there. */
static talus_status run_scheme(tl_grid_trial *s, bool *again, talus_error *err)
{
    double *lam;
    tl_system_load(&s->f.system, s->f.faces.u);
    tl_scheme_report earlier = s->solved;
    TL_TRY_ALL(s->sim, tl_bodies_join_impulses(&s->b, &lam, err));
    tl_system_contacts(&s->coupled, &s->b.p, lam);
    TL_TRY(tl_scheme_run(&s->coupled, &s->solved, err));
    tl_bodies_part_impulses(&s->b, lam);
    memcpy(s->b.v, s->coupled.v, sizeof *s->b.v * 6 * (size_t)s->b.rigid->count);
    s->coupled.warm = true;
    tl_scheme_report_add(&s->solved, &earlier);
    tl_grid_lap(s, TL_GRID_SOLVE);
    return check_solved(s, again, err);
}

/* Liquid and rigid bodies: until no fast body ends up inside of something that it was not told of. */
static talus_status solve_rigid(tl_grid_trial *s, bool *again, talus_error *err)
{
    bool more = true;
    for (int looks = 0; more; looks++) {
        TL_TRY_ALL(s->sim, tl_bodies_assemble(&s->b, err));
        TL_TRY(run_scheme(s, again, err));
        TL_TRY_ALL(s->sim, tl_bodies_move(&s->b, again, err));
        TL_TRY_ALL(s->sim, tl_bodies_joints_settle(&s->b, again, err));
        TL_TRY_ALL(s->sim, tl_bodies_look_again(&s->b, looks, &more, again, err));
    }
    return TALUS_OK;
}

/* What forces and contacts did to bodies. */
static void account_bodies(tl_grid_trial *s)
{
    if (!s->soft) {
        tl_accounts_bodies(&s->b);
        return;
    }
    tl_totals now = {0};
    tl_elastic_account(s->soft);
    tl_accounts_before_bounce(&s->b);
    tl_totals_add_bodies(&now, s->sim, s->b.body);
    s->b.account.potential = now.potential;
    s->b.account.others = 0; /* told with the nodes' */
    tl_accounts_energy(s->sim, TL_ENERGY_CORRECTIONS, 0);
}

static talus_status show_problem(tl_grid_trial *s, talus_error *err)
{
    if (s->soft) return TALUS_OK;
    const bool sand = s->f.stress != NULL;
    const tl_grid_view view = {.t = s->sim->state.t,
                               .flow = &s->f,
                               .b = &s->b,
                               .friction = sand ? &s->friction : NULL,
                               .cones = sand ? &s->cones : NULL,
                               .tolerance = s->scene->solver.tolerance,
                               .unilateral = s->coupled.pressure.unilateral,
                               .coupled = &s->coupled,
                               .solved = &s->solved};
    return tl_sim_show(s->sim, (tl_shown){TL_SHOWN_STEP, &view, NULL, NAN, view.tolerance}, err);
}

/* What the next step starts from, where sand is at rest. */
static talus_status select_static_stress(tl_grid_trial *s, talus_error *err)
{
    if (!s->f.stress || !s->data->flow.statics) return TALUS_OK;
    TL_TRY(tl_flow_statics(&s->f, &s->friction, tl_grid_state_of(&s->sim->state), s->totals.statics > 0, &s->statics,
                           err));
    size_t mark = tl_arena_mark(s->arena);
    tl_statics *q = &s->statics;
    TL_TRY(tl_statics_pose(q, s->arena, err));
    if (q->wanted) {
        tl_least_report found;
        TL_TRY(tl_least_ascend(&q->least, &q->stop, q->moves, q->a, q->b, s->arena, &found, err));
        tl_statics_take(q, &found);
    }
    tl_arena_release(s->arena, mark);
    s->totals.statics = s->statics.on;
    tl_grid_lap(s, TL_GRID_SOLVE);
    return TALUS_OK;
}

static talus_status bounce(tl_grid_trial *s, bool *again, talus_error *err)
{
    bool any;
    tl_contact_report solved;
    TL_TRY(tl_bodies_bounce(&s->b, &solved, &any, err));
    if (!any || isfinite(solved.certificate.residual)) return TALUS_OK;
    *again = true;
    return TL_FAIL(err, TALUS_NOT_DEFINITE, "contact method \"%s\" became NaN or infinite in a bounce",
                   s->b.data->method->name);
}

/* What the solve did to bodies and walls. */
static tl_accounts_flow solution_of(const tl_grid_trial *s)
{
    return (tl_accounts_flow){&s->f.grid, &s->f.fractions, &s->f.system, &s->b, s->fluid};
}

/* Velocities of the solve on all faces. Of liquids faces inside of walls belong to what walls do: these are
 * accounted for once momentum is kept. */
static talus_status extend_velocities(tl_grid_trial *s, talus_error *err)
{
    tl_impulse held;
    tl_stress_solid_forces(&s->f.system.stress, &s->f.system.c, s->f.p, tl_flow_stress(&s->f), s->fluid);
    if (s->soft) TL_TRY(tl_wet_end(s->wet, s->fluid, err));
    TL_TRY(tl_flow_store(&s->f, err));
    TL_TRY(tl_rule_land_riders(&s->f, err));
    const tl_accounts_flow solved = solution_of(s);
    if (s->f.stress) tl_accounts_solved(&solved, &s->account, sums_of(s, s->f.faces.u));
    TL_TRY(tl_flow_extend(&s->f, &held, err));
    if (s->f.stress) tl_accounts_fixed(s->sim, held.linear, held.angular);
    return TALUS_OK;
}

/* Parting a crowd lifts what is above it: in all by no more than what the flow has lost so far, so that corrections
 * never take its energy above where it began. With what a step loses alone, waves grow: crowds of one half of a
 * period part in the other. */
static double paid_part(tl_grid_trial *s, double *const way[3])
{
    const tl_accounts_flow solved = solution_of(s);
    const double work = -sums_of(s, way).power;
    const double taken = s->soft ? s->wet->gain : 0;
    const double lost = s->totals.lost + tl_accounts_lost(&solved, &s->account, sums_of(s, s->f.faces.u)) - taken;
    const double part = s->data->flow.rules.pay && work > fmax(lost, 0) ? fmax(lost, 0) / work : 1;
    s->totals.lost = lost - part * work;
    return part;
}

static talus_status part_crowds(tl_grid_trial *s, talus_error *err)
{
    tl_crowds crowds;
    TL_TRY(tl_rule_find_crowds(&s->f, &crowds, err));
    if (crowds.any) {
        const tl_pressure_options options = tl_pressure_options_default();
        const tl_stop stop = {.tolerance = PART_TOLERANCE, .max_iterations = PART_ITERATIONS};
        tl_pressure_report report;
        TL_TRY(tl_pressure_solve(tl_pressure_method_find("cg-multigrid"), &crowds.problem, &options, &stop, crowds.x,
                                 s->arena, &report, err));
    }
    TL_TRY(tl_rule_part_crowds(&s->f, &crowds, err));
    TL_TRY(tl_rule_carry(&s->f, &crowds, paid_part(s, crowds.way), err));
    tl_accounts_carried(s->sim, &s->account, sums_of(s, s->f.faces.u), sums_of(s, s->f.moving));
    return TALUS_OK;
}

static talus_status keep_momentum(tl_grid_trial *s, talus_error *err)
{
    tl_repay r;
    if (s->f.stress) return TALUS_OK;
    const tl_accounts_flow solved = solution_of(s);
    TL_TRY(tl_flow_keep_momentum(&s->f, &r, err));
    tl_accounts_fixed(s->sim, r.fixed, r.turned);
    tl_accounts_solved(&solved, &s->account, sums_of(s, s->f.faces.u));
    return TALUS_OK;
}

/* Steps that reach the next frame, or go beyond: for who steps without frames that is every step. */
static bool ends_frame(const tl_grid_trial *s)
{
    const tl_state *now = &s->sim->state;
    return now->t + s->f.dt * (1 + FRAME_SLACK) >= (double)(now->frame + 1) / s->scene->fps;
}

static talus_status move_particles(tl_grid_trial *s, talus_error *err)
{
    tl_flow_carried c;
    TL_TRY(tl_flow_carry(&s->f, s->b.body, &c, err));
    tl_accounts_fixed(s->sim, c.taken.linear, c.taken.angular);
    tl_grid_lap(s, TL_GRID_MOVE);
    tl_accounts_to_particles(s->sim, &s->account, c.measured.kinetic, c.measured.potential);
    tl_grid_lap(s, TL_GRID_MEASURE);
    if (s->scene->grid.correct_density && ends_frame(s)) {
        TL_TRY(tl_flow_spread(&s->f, &c, err));
        tl_grid_lap(s, TL_GRID_CORRECT);
        tl_accounts_spread(s->sim, &s->account, c.measured.kinetic, c.measured.potential);
    }
    s->measured = c.measured;
    return TALUS_OK;
}

static talus_status judge_particles(const tl_grid_trial *s, bool *again, talus_error *err)
{
    if (isfinite(s->measured.kinetic) && isfinite(s->measured.potential)) return TALUS_OK;
    *again = true;
    return TL_FAIL(err, TALUS_NOT_DEFINITE, "particles became NaN or infinite while they moved");
}

/* Room for what commit writes. */
static talus_status make_room(tl_grid_trial *s, talus_error *err)
{
    TL_TRY(tl_bodies_make_room(&s->b, err));
    if (s->soft) TL_TRY(tl_grid_end_elastic(s, err));
    return tl_flow_reserve(&s->f, &s->statics, tl_grid_state_of(&s->sim->state), err);
}

static void commit(tl_grid_trial *s)
{
    tl_grid_state *g = tl_grid_state_of(&s->sim->state);
    for (int32_t i = 0; i < s->sim->rigid.scene_count; i++) {
        s->b.body[i].fluid_force = tl_vec3_load(s->fluid + 6 * (int64_t)i);
        s->b.body[i].fluid_torque = tl_vec3_load(s->fluid + 6 * (int64_t)i + 3);
        s->b.body[i].sand_force = tl_vec3_load(s->sand + 6 * (int64_t)i);
        s->b.body[i].sand_torque = tl_vec3_load(s->sand + 6 * (int64_t)i + 3);
    }
    tl_bodies_commit(&s->b);
    if (s->soft) tl_elastic_commit(s->soft);
    s->data->spare = g->particles; /* they change places */
    s->data->spare.count = 0;
    g->particles = s->f.particles;
    tl_flow_remember(&s->f, &s->statics, g);
    for (int k = 0; k < s->scene->emitter_count; k++) g->emitter[k] = s->emitter[k];
    s->totals.measured = 1;
    s->totals.particles = s->measured;
    s->totals.flow = s->f.stress ? s->measured.fastest : tl_flow_fastest_cell(&s->f);
    *g->totals = s->totals;
}

static talus_status step_flow(tl_sim *sim, double dt, bool *again, talus_error *err)
{
    tl_grid_trial s;
    TL_TRY_ALL(sim, begin_step(&s, sim, dt, err));
    TL_TRY_ALL(sim, predict_solids(&s, err));
    TL_TRY(particles_to_grid(&s, err));
    TL_TRY(add_external_forces(&s, err));
    TL_TRY(tl_flow_classify(&s.f, err)); /* domains */
    TL_TRY(tl_cancel_check(err));
    TL_TRY(detect_contacts(&s, err));
    TL_TRY_ALL(sim, assemble(&s, err));
    TL_TRY_ALL(sim, condition(&s, err));
    TL_TRY_ALL(sim, pose_problem(&s, err));
    TL_TRY(s.soft ? tl_grid_solve_elastic(&s, again, err) : solve_rigid(&s, again, err));
    TL_TRY(show_problem(&s, err));
    TL_TRY(tl_flow_find_pressed(&s.f, &s.liquid_volume, err));
    TL_TRY(select_static_stress(&s, err));
    TL_TRY_ALL(sim, tl_bodies_joints_work(&s.b, err));
    account_bodies(&s);
    TL_TRY_ALL(sim, tl_bodies_stabilise(&s.b, err));
    tl_accounts_push(&s.b);
    TL_TRY_ALL(sim, bounce(&s, again, err));
    tl_accounts_bounce(&s.b);
    TL_TRY_ALL(sim, tl_bodies_joints_end(&s.b, err));
    tl_accounts_fit(&s.b);
    TL_TRY_ALL(sim, tl_bodies_find_depth(&s.b, err));
    TL_TRY(extend_velocities(&s, err));
    TL_TRY(part_crowds(&s, err));
    TL_TRY(keep_momentum(&s, err));
    TL_TRY_ALL(sim, tl_grid_load_bodies(&s, err));
    tl_grid_lap(&s, TL_GRID_EXTEND);
    TL_TRY(tl_cancel_check(err));
    TL_TRY(move_particles(&s, err));
    TL_TRY(judge_particles(&s, again, err));
    TL_TRY_ALL(sim, make_room(&s, err));
    TL_TRY(tl_cancel_check(err));
    tl_grid_lap(&s, TL_GRID_MEASURE);
    tl_grid_fill_report(&s);
    TL_TRY_ALL(sim, tl_sim_judge(sim, again, err));
    TL_TRY_ALL(sim, tl_accounts_end(sim, dt, s.b.body, again, err));
    tl_flow_tell(&s.f, tl_grid_state_of(&sim->state), &s.totals, s.emitter, sim->state.t + dt, &sim->log);
    commit(&s);
    return TALUS_OK;
}

static talus_status step(tl_sim *sim, double dt, bool *again, talus_error *err)
{
    tl_grid_data *data = sim->engine_data;
    *again = false;
    if (data->elastic && !data->flows) return tl_elastic_step(sim, data->elastic, &data->rigid, dt, again, err);
    return data->flows ? step_flow(sim, dt, again, err) : tl_rigid_step(sim, &data->rigid, dt, again, err);
}

extern const tl_engine_entry tl_engine_grid; /* in scene/engines.def */
const tl_engine_entry tl_engine_grid = {tl_grid_begin, tl_grid_end,   tl_grid_dt_wanted, step,          tl_grid_measure,
                                        NULL,          tl_grid_views, TL_GRID_VIEWS,     &tl_grid_parts};
