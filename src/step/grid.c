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
#include "model/coupling/statics.h"
#include "model/grid/rules.h"
#include "phase/accounts/flow.h"
#include "phase/grid/grid.h"
#include "phase/grid/wet.h"
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

enum phase { TO_GRID, DOMAINS, SYSTEM, SOLVE, EXTEND, MOVE, CORRECT, MEASURE, PHASES };
static const char *const phase_names[PHASES] = {"particles to grid", "domains",        "system",          "solve",
                                                "extend velocities", "move particles", "correct density", "measure"};

typedef struct grid_step {
    tl_bodies b;
    tl_flow f;
    tl_sim *sim;
    const tl_scene *scene;
    tl_grid_data *data;
    tl_arena *arena;
    /* particles to grid */
    tl_emitter_state *emitter; /* [emitters] */
    tl_grid_totals totals;
    /* assemble, pose problem, run scheme */
    int32_t recalled;   /* cells with a pressure of the last step */
    tl_statics statics; /* p_next NULL: not wanted */
    tl_friction friction;
    tl_cones cones;
    tl_coupled coupled;
    tl_scheme_report solved;
    /* after it */
    double *fluid; /* [6 bodies] force and torque */
    double *hits;  /* [6 bodies] of it, what single grains and drops do, N s and N m s */
    double *sand;  /* [6 bodies] of these, what cells with sand do */
    double liquid_volume;
    tl_particles_measure measured;
    tl_flow_account account;
    /* elastic bodies: NULL without */
    tl_elastic_trial *soft;
    tl_wet *wet;
    tl_spent spent[PHASES];
} grid_step;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of the grid engine");
}

static void lap(grid_step *s, enum phase phase) { tl_bodies_lap_to(&s->b, &s->spent[phase]); }

static tl_flow_sums sums_of(const grid_step *s, double *const u[3])
{
    return tl_faces_sums(&s->f.grid, &s->f.faces, u, s->scene->gravity);
}

/* ---- phases ---- */

static talus_status begin_step(grid_step *s, tl_sim *sim, double dt, talus_error *err)
{
    tl_grid_data *data = sim->engine_data;
    *s = (grid_step){.sim = sim, .scene = sim->scene, .data = data, .arena = &sim->arena};
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
    if (!s->fluid || !s->sand || !s->hits) return no_memory(err);
    if (!data->elastic) return TALUS_OK;
    s->soft = TL_TAKE(s->arena, tl_elastic_trial, 1);
    s->wet = TL_TAKE(s->arena, tl_wet, 1);
    if (!s->soft || !s->wet) return no_memory(err);
    return tl_elastic_begin_trial(s->soft, sim, data->elastic, &s->b, dt, err);
}

static talus_status predict_solids(grid_step *s, talus_error *err)
{
    TL_TRY(tl_bodies_predict(&s->b, err));
    if (!s->soft) return TALUS_OK;
    TL_TRY(tl_elastic_predict(s->soft, err));
    return tl_wet_begin(s->wet, s->soft, &s->f, err);
}

/* What the step really starts with, and what of its energy the faces have. */
static talus_status account_matter(grid_step *s, talus_error *err)
{
    tl_totals now = s->sim->flowing;
    if (s->scene->emitter_count || s->f.particles.count != tl_grid_state_of(&s->sim->state)->particles.count ||
        tl_grid_falls_around(s->scene))
        TL_TRY(tl_grid_totals_of(s->sim, &s->f.particles, &s->data->flow.frame, s->arena, &now, err));
    tl_accounts_matter(s->sim, &now);
    tl_accounts_to_grid(s->sim, &s->account, sums_of(s, s->f.faces.u), &now, s->f.dt);
    return TALUS_OK;
}

static talus_status particles_to_grid(grid_step *s, talus_error *err)
{
    tl_particles all;
    double lost = 0;
    if (!(s->emitter = TL_TAKE(s->arena, tl_emitter_state, s->scene->emitter_count))) return no_memory(err);
    TL_TRY(tl_flow_emit(&s->f, tl_grid_state_of(&s->sim->state), s->sim->state.t, s->emitter, &s->totals.next_id, &all,
                        err));
    TL_TRY(tl_particles_reserve(&s->data->spare, all.count, err));
    s->f.particles = s->data->spare;
    TL_TRY(tl_flow_to_grid(&s->f, &all, &lost, err));
    s->totals.escaped += (double)(all.count - s->f.particles.count);
    s->totals.escaped_volume += lost;
    return account_matter(s, err);
}

static talus_status add_external_forces(grid_step *s, talus_error *err)
{
    TL_TRY(tl_flow_fall(&s->f, err));
    tl_accounts_fall(&s->account, sums_of(s, s->f.faces.u));
    lap(s, TO_GRID);
    return TALUS_OK;
}

static talus_status detect_contacts(grid_step *s, talus_error *err)
{
    lap(s, DOMAINS);
    if (s->soft) {
        TL_TRY(tl_elastic_detect(s->soft, err));
        TL_TRY(tl_wet_link(s->wet, err));
    } else {
        TL_TRY(tl_bodies_detect(&s->b, err));
        TL_TRY(tl_bodies_match(&s->b, err));
    }
    TL_TRY(tl_flow_find_pieces(&s->f, &s->b.contacts, s->b.lam, &s->b.joint.stop, err));
    lap(s, DOMAINS);
    return TALUS_OK;
}

static talus_status assemble(grid_step *s, talus_error *err)
{
    TL_TRY(tl_flow_assemble(&s->f, tl_grid_state_of(&s->sim->state), &s->recalled, err)); /* changes no velocity */
    return s->soft ? tl_wet_assemble(s->wet, err) : TALUS_OK;
}

static talus_status condition(grid_step *s, talus_error *err)
{
    const size_t n = 6 * (size_t)s->sim->rigid.count;
    tl_grain_account got;
    if (!(s->b.v_asked = TL_TAKE(s->arena, double, n))) return no_memory(err);
    memcpy(s->b.v_asked, s->b.v_free, sizeof(double) * n);
    TL_TRY(tl_rule_single_grains(&s->f, s->hits, &got, err));
    tl_accounts_fixed(s->sim, got.fixed, got.turned);
    if (s->soft) TL_TRY(tl_wet_take_grains(s->wet, s->b.v_asked, err));
    TL_TRY(tl_rule_hand_over(&s->f, err));
    tl_accounts_stopped(s->sim, &s->account, s->f.stress ? TL_ENERGY_FRICTION : TL_ENERGY_CONTACT, got.given,
                        sums_of(s, s->f.faces.u));
    lap(s, SYSTEM);
    return TALUS_OK;
}

/* Sand: the block of stress, from the stress of the last step. */
static talus_status prepare_friction(grid_step *s, bool cold, talus_error *err)
{
    const int iterations = s->scene->solver.friction.iterations;
    TL_TRY(tl_flow_friction(&s->f, s->data->friction->rule ? &s->data->parts : NULL, &s->friction, err));
    TL_TRY(tl_flow_refuse_mixture(&s->f, s->sim->state.t, err));
    s->cones = tl_friction_cones(&s->friction);
    s->cones.method = s->data->friction;
    s->cones.iterations = iterations > 0 ? iterations : cold ? COLD_ITERATIONS : STRESS_ITERATIONS;
    return tl_cones_begin(&s->cones, s->f.p, s->arena, err);
}

static talus_status pose_problem(grid_step *s, talus_error *err)
{
    tl_flow *f = &s->f;
    const bool cold = s->recalled < (f->stress ? COLD_SHARE : WARM_SHARE) * f->system.c.cells || s->recalled == 0;
    if (f->stress) TL_TRY(prepare_friction(s, cold, err));
    const bool unilateral = tl_pressure_method_bounded(s->data->method);
    if (s->soft) {
        const tl_wet_options o = {s->data->dual, s->data->method, unilateral, !cold};
        TL_TRY(tl_wet_pose(s->wet, &o, err));
        lap(s, SYSTEM);
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
    lap(s, SYSTEM);
    return TALUS_OK;
}

static talus_status check_solved(const grid_step *s, bool *again, talus_error *err)
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
static talus_status run_scheme(grid_step *s, bool *again, talus_error *err)
{
    double *lam;
    tl_system_load(&s->f.system, s->f.faces.u);
    tl_scheme_report earlier = s->solved;
    TL_TRY(tl_bodies_join_impulses(&s->b, &lam, err));
    tl_system_contacts(&s->coupled, &s->b.p, lam);
    TL_TRY(tl_scheme_run(&s->coupled, &s->solved, err));
    tl_bodies_part_impulses(&s->b, lam);
    memcpy(s->b.v, s->coupled.v, sizeof *s->b.v * 6 * (size_t)s->b.rigid->count);
    s->coupled.warm = true;
    tl_scheme_report_add(&s->solved, &earlier);
    lap(s, SOLVE);
    return check_solved(s, again, err);
}

/* Liquid and rigid bodies: until no fast body ends up inside of something that it was not told of. */
static talus_status solve_rigid(grid_step *s, bool *again, talus_error *err)
{
    bool more = true;
    for (int looks = 0; more; looks++) {
        TL_TRY(tl_bodies_assemble(&s->b, err));
        TL_TRY(run_scheme(s, again, err));
        TL_TRY(tl_bodies_move(&s->b, again, err));
        TL_TRY(tl_bodies_joints_settle(&s->b, again, err));
        TL_TRY(tl_bodies_look_again(&s->b, looks, &more, again, err));
    }
    return TALUS_OK;
}

/* Elastic bodies: Newton until velocities are in balance; as long as second looks find contacts that were not seen. */
static talus_status solve_elastic(grid_step *s, bool *again, talus_error *err)
{
    tl_elastic_trial *e = s->soft;
    for (bool more = true, end = false; more || !end; e->looks += more) {
        end |= !more || e->looks == TL_ELASTIC_LOOKS;
        TL_TRY(tl_elastic_newton(e, end ? e->tolerance : TL_ELASTIC_EARLY_LOOK * e->tolerance, again, err));
        more = false;
        if (e->looks < TL_ELASTIC_LOOKS) TL_TRY(tl_elastic_look_again(e, &more, err));
    }
    memcpy(s->b.v, e->v_rigid, sizeof *s->b.v * 6 * (size_t)s->b.rigid->count);
    if (s->b.contacts.count)
        memcpy(s->b.lam, e->lam + 3 * (int64_t)e->rows.soft, 3 * sizeof *s->b.lam * (size_t)s->b.contacts.count);
    TL_TRY(tl_bodies_move(&s->b, again, err));
    tl_elastic_end_nodes(e);
    lap(s, SOLVE);
    if (isfinite(s->wet->solved.certificate.pressure)) return TALUS_OK;
    *again = true;
    return TL_FAIL(err, TALUS_NOT_DEFINITE, "velocities became NaN or infinite in scheme \"%s\"",
                   tl_dual_scheme_name(s->data->dual));
}

/* What forces and contacts did to bodies. */
static void account_bodies(grid_step *s)
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

static talus_status show_problem(grid_step *s, talus_error *err)
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
static talus_status select_static_stress(grid_step *s, talus_error *err)
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
    lap(s, SOLVE);
    return TALUS_OK;
}

static talus_status bounce(grid_step *s, bool *again, talus_error *err)
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
static tl_accounts_flow solution_of(const grid_step *s)
{
    return (tl_accounts_flow){&s->f.grid, &s->f.fractions, &s->f.system, &s->b, s->fluid};
}

/* Velocities of the solve on all faces. Of liquids faces inside of walls belong to what walls do: these are
 * accounted for once momentum is kept. */
static talus_status extend_velocities(grid_step *s, talus_error *err)
{
    tl_impulse held;
    tl_stress_solid_forces(&s->f.system.stress, &s->f.system.c, s->f.p, tl_flow_stress(&s->f), s->fluid);
    if (s->soft) TL_TRY(tl_wet_end(s->wet, s->fluid, err));
    TL_TRY(tl_flow_store(&s->f, err));
    const tl_accounts_flow solved = solution_of(s);
    if (s->f.stress) tl_accounts_solved(&solved, &s->account, sums_of(s, s->f.faces.u));
    TL_TRY(tl_flow_extend(&s->f, &held, err));
    if (s->f.stress) tl_accounts_fixed(s->sim, held.linear, held.angular);
    return TALUS_OK;
}

/* Parting a crowd lifts what is above it: in all by no more than what the flow has lost so far, so that corrections
 * never take its energy above where it began. With what a step loses alone, waves grow: crowds of one half of a
 * period part in the other. */
static double paid_part(grid_step *s, double *const way[3])
{
    const tl_accounts_flow solved = solution_of(s);
    const double work = -sums_of(s, way).power;
    const double taken = s->soft ? s->wet->gain : 0;
    const double lost = s->totals.lost + tl_accounts_lost(&solved, &s->account, sums_of(s, s->f.faces.u)) - taken;
    const double part = s->data->flow.rules.pay && work > lost ? lost / work : 1;
    s->totals.lost = lost - part * work;
    return part;
}

static talus_status part_crowds(grid_step *s, talus_error *err)
{
    tl_crowds crowds;
    TL_TRY(tl_rule_find_crowds(&s->f, &crowds, err));
    if (crowds.problem.n) {
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

static talus_status keep_momentum(grid_step *s, talus_error *err)
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
static bool ends_frame(const grid_step *s)
{
    const tl_state *now = &s->sim->state;
    return now->t + s->f.dt * (1 + FRAME_SLACK) >= (double)(now->frame + 1) / s->scene->fps;
}

static talus_status move_particles(grid_step *s, talus_error *err)
{
    tl_flow_carried c;
    TL_TRY(tl_flow_carry(&s->f, s->b.body, &c, err));
    tl_accounts_fixed(s->sim, c.taken.linear, c.taken.angular);
    lap(s, MOVE);
    tl_accounts_to_particles(s->sim, &s->account, c.measured.kinetic, c.measured.potential);
    lap(s, MEASURE);
    if (s->scene->grid.correct_density && ends_frame(s)) {
        TL_TRY(tl_flow_spread(&s->f, &c, err));
        lap(s, CORRECT);
        tl_accounts_spread(s->sim, &s->account, c.measured.kinetic, c.measured.potential);
    }
    s->measured = c.measured;
    return TALUS_OK;
}

static void add_hits(const grid_step *s, double *to)
{
    for (int64_t k = 0; k < 6 * (int64_t)s->sim->rigid.count; k++) to[k] += s->hits[k] / s->f.dt;
}

/* Forces of what flows, on static bodies too, and the part of them that sand has: where a cell holds some of it, all of
 * its pressure and stress. Where there is sand at all, single grains are sand. */
static talus_status load_bodies(grid_step *s, talus_error *err)
{
    tl_rule_load_static_bodies(&s->f, s->fluid);
    add_hits(s, s->fluid);
    if (!s->data->flow.alpha) return TALUS_OK;
    if (!s->data->flow.liquid_too) {
        memcpy(s->sand, s->fluid, 6 * sizeof *s->sand * (size_t)s->sim->rigid.count);
        return TALUS_OK;
    }
    tl_flow sand = s->f;
    const int32_t cells = s->f.system.c.cells;
    double *p = TL_TAKE(s->arena, double, cells);
    if (!p) return no_memory(err);
    for (int32_t i = 0; i < cells; i++) p[i] = s->friction.own[i] > 0 ? s->f.p[i] : 0;
    sand.p = p;
    tl_stress_solid_forces(&s->f.system.stress, &s->f.system.c, p, s->f.stress, s->sand);
    tl_rule_load_static_bodies(&sand, s->sand);
    add_hits(s, s->sand);
    return TALUS_OK;
}

static talus_status judge_particles(const grid_step *s, bool *again, talus_error *err)
{
    if (isfinite(s->measured.kinetic) && isfinite(s->measured.potential)) return TALUS_OK;
    *again = true;
    return TL_FAIL(err, TALUS_NOT_DEFINITE, "particles became NaN or infinite while they moved");
}

/* Contacts for the next step, how deep bodies are in each other, and where tables show them. */
static talus_status end_elastic(grid_step *s, talus_error *err)
{
    tl_elastic_trial *e = s->soft;
    const tl_pose *end;
    TL_TRY(tl_elastic_remember(e, err));
    TL_TRY(tl_bodies_poses(&s->b, &end, err));
    e->view.from = e->view.to = e->x_end;
    e->view.before = e->view.after = end;
    TL_TRY(tl_lg_depth(&e->view, s->arena, &e->depth, err));
    tl_elastic_place_bodies(e);
    return TALUS_OK;
}

/* Room for what commit writes. */
static talus_status make_room(grid_step *s, talus_error *err)
{
    TL_TRY(tl_bodies_make_room(&s->b, err));
    if (s->soft) TL_TRY(end_elastic(s, err));
    return tl_flow_reserve(&s->f, &s->statics, tl_grid_state_of(&s->sim->state), err);
}

static tl_report_solve told(const char *name, const char *method, int iterations, double certificate, double target,
                            tl_work work)
{
    const char *outcome = tl_result_name(certificate <= target ? TL_CONVERGED : TL_OUT_OF_ITERATIONS);
    return (tl_report_solve){name, method, outcome, iterations, certificate, target, work};
}

/* Of sand: solved, or settled; the lesser of the two stops the sweeps and judges them. What is selected at rest acts
 * in the next step, so that this is a finding and no target to be missed. */
static void report_solves(const grid_step *s, tl_report *r)
{
    const tl_scheme_report *c = &s->solved;
    const tl_coupled_certificate *q = &c->certificate;
    const double target = s->scene->solver.tolerance, off = s->b.joint.missed / s->b.tolerance;
    const double joint = fmax(q->joint, off > 1 ? off * target : 0), contact = fmax(fmax(q->normal, q->tangent), joint);
    r->solve[r->solves++] = told("pressure", c->pressure_method, c->pressure_iterations, fmin(q->pressure, c->settled),
                                 target, c->pressure_work);
    r->solve[r->solves++] =
        told("contact", tl_scheme_name(c->scheme), c->contact_iterations, contact, target, c->contact_work);
    if (s->f.stress)
        r->solve[r->solves++] = told("stress", s->data->friction->name, c->stress_iterations,
                                     fmin(q->stress, c->settled), target, c->stress_work);
    if (s->f.system.viscous.s)
        r->solve[r->solves++] =
            told("stress", c->pressure_method, c->stress_iterations, q->stress, target, c->stress_work);
    if (!s->statics.t) return;
    r->solve[r->solves] =
        told("static_stress", "least-energy", s->statics.evaluations, s->statics.distance, 1, (tl_work){0});
    r->solve[r->solves++].outcome = tl_result_name(TL_CONVERGED);
}

static void report_elastic(const grid_step *s, tl_report *r)
{
    const tl_elastic_trial *e = s->soft;
    const tl_dual_report *d = &s->wet->solved;
    r->elastic = e->energy;
    r->sweeps = d->sweeps;
    r->solve[r->solves++] = told("pressure", tl_pressure_method_name(s->data->method), d->pressure_iterations,
                                 d->certificate.pressure, s->scene->solver.tolerance, d->pressure_work);
    r->solve[r->solves] =
        (tl_report_solve){.name = "elastic",
                          .method = tl_dual_scheme_name(s->data->dual),
                          .outcome = tl_result_name(e->converged ? TL_CONVERGED : TL_OUT_OF_ITERATIONS),
                          .iterations = e->iterations,
                          .certificate = e->correction,
                          .target = e->tolerance,
                          .work = {.factorizations = e->factors, .products = e->iterations}};
    r->solves++;
    tl_bodies_measure_nodes(&s->b, e->x_end, e->v_end, e->v_end, r);
    tl_elastic_report_contacts(e, r);
}

static void fill_report(grid_step *s)
{
    tl_report *r = &s->sim->report;
    *r = (tl_report){.sweeps = s->solved.sweeps, .compression = NAN};
    tl_bodies_report(&s->b, r);
    for (int k = 0; k < PHASES; k++)
        r->phase[r->phases++] = (tl_report_phase){phase_names[k], s->spent[k].seconds, s->spent[k].cpu};
    if (s->soft)
        report_elastic(s, r);
    else
        report_solves(s, r);
    tl_flow_report(&s->f, &s->measured, &s->totals, s->emitter, s->liquid_volume, r);
}

static void commit(grid_step *s)
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
    grid_step s;
    TL_TRY(begin_step(&s, sim, dt, err));
    TL_TRY(predict_solids(&s, err));
    TL_TRY(particles_to_grid(&s, err));
    TL_TRY(add_external_forces(&s, err));
    TL_TRY(tl_flow_classify(&s.f, err)); /* domains */
    TL_TRY(tl_cancel_check(err));
    TL_TRY(detect_contacts(&s, err));
    TL_TRY(assemble(&s, err));
    TL_TRY(condition(&s, err));
    TL_TRY(pose_problem(&s, err));
    TL_TRY(s.soft ? solve_elastic(&s, again, err) : solve_rigid(&s, again, err));
    TL_TRY(show_problem(&s, err));
    TL_TRY(tl_flow_find_pressed(&s.f, &s.liquid_volume, err));
    TL_TRY(select_static_stress(&s, err));
    TL_TRY(tl_bodies_joints_work(&s.b, err));
    account_bodies(&s);
    TL_TRY(tl_bodies_stabilise(&s.b, err));
    tl_accounts_push(&s.b);
    TL_TRY(bounce(&s, again, err));
    tl_accounts_bounce(&s.b);
    TL_TRY(tl_bodies_joints_end(&s.b, err));
    tl_accounts_fit(&s.b);
    TL_TRY(tl_bodies_find_depth(&s.b, err));
    TL_TRY(extend_velocities(&s, err));
    TL_TRY(part_crowds(&s, err));
    TL_TRY(keep_momentum(&s, err));
    TL_TRY(load_bodies(&s, err));
    lap(&s, EXTEND);
    TL_TRY(tl_cancel_check(err));
    TL_TRY(move_particles(&s, err));
    TL_TRY(judge_particles(&s, again, err));
    TL_TRY(make_room(&s, err));
    TL_TRY(tl_cancel_check(err));
    lap(&s, MEASURE);
    fill_report(&s);
    TL_TRY(tl_sim_judge(sim, again, err));
    TL_TRY(tl_accounts_end(sim, dt, s.b.body, again, err));
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
const tl_engine_entry tl_engine_grid = {tl_grid_begin,   tl_grid_end, tl_grid_dt_wanted, step,
                                        tl_grid_measure, NULL,        tl_grid_views,     TL_GRID_VIEWS};
