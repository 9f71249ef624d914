/* The step of elastic bodies by finite elements, with rigid ones.
 *
 *     predict             v* = v + h (gravity, forces); where held nodes go; rigid bodies likewise
 *     detect              what may touch between x and x + h v*; forces of the last step
 *     repeat              until corrections of velocities are below the tolerance
 *         balance         g = M (v - v*) - h f(x + h v)
 *         factor          H = M + h^2 K(x) of each body (true Hessians; projected ones where these are not definite) and W = J H^-1 J^T, unless the last correction was much smaller than the one before
 *         touch           contact impulses lam for u = J (v - H^-1 g) + W lam + bias: Signorini and Coulomb, exactly (solve/flex)
 *         search          v += step H^-1 (-g + J^T lam), as long as the exact penalty falls
 *         look again      once it has converged: contacts that these positions show and the prediction did not
 *     move                rigid bodies fly with the velocities that contacts leave them
 *     commit
 *
 * Implicit Euler: x = x_t + h v. The midpoint rule is the same step with h/2 and extrapolated: v_end = 2 v - v_t; it
 * keeps linear and angular momentum to the tolerance and damps nothing, but has no answer to impacts, so bodies with a
 * contact in reach take Euler's step.
 *
 * The exact penalty: 1/2 |v - v*|_M^2 + elastic energy - friction impulses times slips + nu sum of closing beyond
 * the gap, nu = 1.1 times the largest normal impulse. Friction enters as a load: Coulomb's law has no potential. */
#include "phase/elastic/elastic.h"

#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "base/timer.h"
#include "model/rigid/motion.h"
#include "phase/accounts/accounts.h"
#include "phase/elastic/trial.h"
#include "phase/grid/grid.h"

#define RESIST_ROUNDS 20  /* of rolling friction; each gains about a factor of it over the radius */
#define CONTACT_TIGHT 0.1 /* of the tolerance: what solves of rolling friction may leave */

static const char *const phase_names[TL_ELASTIC_PHASES] = {"predict",    "detect",        "balance", "factor",
                                                           "compliance", "solve contact", "search",  "move"};

static talus_status begin_step(tl_elastic_trial *s, tl_sim *sim, tl_elastic_data *data, const tl_rigid_data *rigid,
                               double dt, talus_error *err)
{
    tl_bodies *bodies = TL_TAKE(&sim->arena, tl_bodies, 1);
    if (!bodies) return tl_elastic_no_memory(err);
    TL_TRY(tl_bodies_begin(bodies, sim, rigid, dt, err));
    bodies->resists = rigid->resists;
    bodies->flows = true; /* what joints do is settled with what bends */
    return tl_elastic_begin_trial(s, sim, data, bodies, dt, err);
}

/* ---- rolling and spinning friction ---- */

/* Torques between rigid bodies, from the points between them, with what elastic bodies push as given. Adds to the
 * work; v: velocities that follow. */
static talus_status find_torques(tl_elastic_trial *s, const double *pushed, double *lam, double *v, talus_error *err)
{
    tl_bodies *b = s->bodies;
    const size_t points = 3 * (size_t)b->contacts.count, more = 3 * (size_t)b->resist.count;
    tl_stop stop = {.tolerance = CONTACT_TIGHT * s->tolerance, .max_iterations = b->data->iterations};
    tl_options options = tl_options_default();
    options.history = b->sim->history;
    options.slow = b->pull;
    tl_contact_report solved;
    b->p.bodies.v_free = pushed;
    tl_contact_free_velocity(&b->p.bodies, b->p.bias, b->p.q);
    for (int round = 0; round < RESIST_ROUNDS; round++) {
        TL_TRY(tl_contact_solve(b->data->method, &b->p.problem, &options, &stop, lam, b->arena, &solved, err));
        const double certificate = solved.certificate.residual;
        TL_TRY(tl_sim_show(s->sim, (tl_shown){TL_SHOWN_CONTACT, &b->p.problem, lam, certificate, stop.tolerance}, err));
        s->work.products += solved.work.products;
        s->work.factorizations += solved.work.factorizations;
        s->contact_iterations += solved.outcome.iterations;
        memcpy(b->lam, lam, points * sizeof *lam);
        memcpy(b->resist_lam, lam + points, more * sizeof *lam);
        if (!(tl_bodies_update_resist(b) > stop.tolerance)) break;
    }
    tl_contact_velocities(&b->p.bodies, lam, v);
    b->p.bodies.v_free = b->v_free;
    return TALUS_OK;
}

/* Impulses of rolling and spinning friction act on rigid bodies like a force of the scene; their bounds follow the
 * normal impulses, which follow them. Repeated until velocities agree with those of the step: at once where elastic
 * bodies do not touch the rigid ones that roll. */
static talus_status resist(tl_elastic_trial *s, bool *again, talus_error *err)
{
    tl_bodies *b = s->bodies;
    const int64_t n = 6 * (int64_t)s->sim->rigid.count, points = 3 * (int64_t)b->contacts.count,
                  plain = points + 3 * (int64_t)b->resist.count, joints = 3 * (int64_t)b->joint.blocks.count,
                  rows = plain + joints;
    if (!b->resist.count) return TALUS_OK;
    double *fell = TL_TAKE(s->arena, double, n), *turned = TL_TAKE_ZERO(s->arena, double, n),
           *pushed = TL_TAKE(s->arena, double, n), *v = TL_TAKE(s->arena, double, n),
           *lam = TL_TAKE_ZERO(s->arena, double, rows + 1), off = INFINITY;
    if (!fell || !turned || !pushed || !v || !lam) return tl_elastic_no_memory(err);
    memcpy(fell, b->v_free, sizeof *fell * (size_t)n);
    for (int round = 0; round < RESIST_ROUNDS && off > s->tolerance; round++) {
        /* without torques, points between rigid bodies and joints */
        memset(lam, 0, sizeof *lam * (size_t)rows);
        if (points) memcpy(lam, s->lam + 3 * (int64_t)s->rows.soft, sizeof *lam * (size_t)points);
        if (joints) memcpy(lam + plain, s->lam + 3 * (int64_t)s->rows.contacts, sizeof *lam * (size_t)joints);
        b->p.bodies.v_free = s->v_rigid;
        tl_contact_velocities(&b->p.bodies, lam, v);
        for (int64_t i = 0; i < n; i++) pushed[i] = 2 * s->v_rigid[i] - v[i] - turned[i];
        if (points) memcpy(lam, s->lam + 3 * (int64_t)s->rows.soft, sizeof *lam * (size_t)points);
        memcpy(lam + points, b->resist_lam, sizeof *lam * (size_t)(plain - points));
        TL_TRY(find_torques(s, pushed, lam, v, err));
        off = 0;
        for (int64_t i = 0; i < n; i++) {
            double reach = i % 6 < 3 ? 1 : s->sim->rigid.body[i / 6].reach;
            if (s->bodies->inv_mass[i / 6] > 0) off = fmax(off, reach * fabs(v[i] - s->v_rigid[i]));
        }
        if (!(off > s->tolerance)) break;
        memset(lam, 0, sizeof *lam * (size_t)points);
        memset(lam + plain, 0, sizeof *lam * (size_t)joints);
        b->p.bodies.v_free = pushed;
        tl_contact_velocities(&b->p.bodies, lam, v);
        b->p.bodies.v_free = b->v_free;
        for (int64_t i = 0; i < n; i++) {
            turned[i] = v[i] - pushed[i];
            b->v_free[i] = fell[i] + turned[i];
        }
        TL_TRY(tl_elastic_newton(s, s->tolerance, again, err));
    }
    memcpy(b->v_free, fell, sizeof *fell * (size_t)n);
    s->contact = fmax(s->contact, off > s->tolerance ? off : 0);
    s->converged &= off <= s->tolerance;
    return TALUS_OK;
}

/* ---- move, measure, commit ---- */

/* Overlaps of rigid bodies are pushed out: what that costs. */
static talus_status stabilise(tl_elastic_trial *s, talus_error *err)
{
    tl_totals before = {0}, after = {0};
    tl_totals_add_bodies(&before, s->sim, s->bodies->body);
    TL_TRY(tl_bodies_stabilise(s->bodies, err));
    tl_totals_add_bodies(&after, s->sim, s->bodies->body);
    tl_accounts_energy(s->sim, TL_ENERGY_CORRECTIONS,
                       after.potential + after.kinetic - before.potential - before.kinetic);
    return TALUS_OK;
}

/* Restitution between rigid bodies, as in scenes without elastic ones: velocities only, they have landed. */
static talus_status bounce(tl_elastic_trial *s, talus_error *err)
{
    tl_bodies *b = s->bodies;
    tl_contact_report solved;
    bool any;
    tl_accounts_before_bounce(b);
    TL_TRY(tl_bodies_bounce(b, &solved, &any, err));
    if (!any) return TALUS_OK;
    tl_accounts_bounce(b);
    s->contact = fmax(s->contact, solved.certificate.residual);
    s->work.products += solved.work.products;
    s->work.factorizations += solved.work.factorizations;
    s->work.projections += solved.work.projections;
    s->contact_iterations += solved.outcome.iterations;
    return TALUS_OK;
}

/* The last solves of a step, with torques. */
static talus_status solve_again(tl_elastic_trial *s, bool *again, talus_error *err)
{
    TL_TRY(tl_elastic_newton(s, s->tolerance, again, err));
    return resist(s, again, err);
}

/* Velocities that joints allow where bodies are now, with the energy that is theirs where nothing elastic touches. */
static talus_status fit(tl_elastic_trial *s, talus_error *err)
{
    tl_bodies *b = s->bodies;
    if (!b->joint.now) return TALUS_OK;
    if (!(b->half.given = TL_TAKE_ZERO(s->arena, double, s->sim->rigid.count))) return tl_elastic_no_memory(err);
    tl_accounts_before_bounce(b);
    TL_TRY(tl_bodies_joints_end(b, err));
    tl_elastic_give(s, b->half.given);
    if (s->scene->solver.contact.bound) TL_TRY(tl_bodies_bound(b, true, err));
    tl_accounts_fit(b);
    return TALUS_OK;
}

static talus_status move(tl_elastic_trial *s, bool *again, talus_error *err)
{
    tl_bodies *b = s->bodies;
    TL_TRY(tl_elastic_place_joints(s, solve_again, again, err));
    tl_elastic_hand_over(s);
    TL_TRY(tl_bodies_move(b, again, err));
    TL_TRY(tl_bodies_make_room(b, err));
    TL_TRY(tl_bodies_joints_work(b, err));
    tl_elastic_end_nodes(s);
    tl_elastic_account(s);
    TL_TRY(stabilise(s, err));
    TL_TRY(bounce(s, err));
    TL_TRY(fit(s, err));
    TL_TRY(tl_elastic_remember(s, err));
    const tl_pose *end;
    TL_TRY(tl_bodies_poses(b, &end, err));
    s->view.from = s->view.to = s->x_end;
    s->view.before = s->view.after = end;
    TL_TRY(tl_lg_depth(&s->view, s->arena, &s->depth, err));
    TL_TRY(tl_bodies_find_depth(b, err));
    tl_elastic_lap(s, TL_ELASTIC_MOVE);
    return TALUS_OK;
}

static void fill_report(const tl_elastic_trial *s)
{
    tl_report *r = &s->sim->report;
    *r = (tl_report){
        .phases = TL_ELASTIC_PHASES, .solves = 1, .force_balance = NAN, .compression = NAN, .elastic = s->energy};
    for (int k = 0; k < TL_ELASTIC_PHASES; k++)
        r->phase[k] = (tl_report_phase){.name = phase_names[k], .seconds = s->seconds[k]};
    r->solve[0] = (tl_report_solve){.name = "elastic",
                                    .method = s->data->route->name,
                                    .outcome = tl_result_name(s->converged ? TL_CONVERGED : TL_OUT_OF_ITERATIONS),
                                    .iterations = s->iterations,
                                    .certificate = s->correction,
                                    .target = s->tolerance,
                                    .work = {.factorizations = s->factors, .products = s->iterations}};
    tl_bodies_measure(s->bodies, r);
    tl_bodies_measure_nodes(s->bodies, s->x_end, s->v_end, s->v_end, r);
    tl_elastic_report_contacts(s, r);
}

static void commit(tl_elastic_trial *s)
{
    tl_bodies_commit(s->bodies);
    tl_elastic_commit(s);
}

talus_status tl_elastic_step(tl_sim *sim, tl_elastic_data *data, const tl_rigid_data *rigid, double dt, bool *again,
                             talus_error *err)
{
    tl_elastic_trial s;
    *again = false;
    TL_TRY(begin_step(&s, sim, data, rigid, dt, err));
    TL_TRY(tl_bodies_predict(s.bodies, err));
    TL_TRY(tl_elastic_predict(&s, err));
    TL_TRY(tl_elastic_detect(&s, err));
    for (bool more = true, end = false; more || !end; s.looks += more) {
        end |= !more || s.looks == TL_ELASTIC_LOOKS;
        TL_TRY(tl_elastic_newton(&s, end ? s.tolerance : TL_ELASTIC_EARLY_LOOK * s.tolerance, again, err));
        more = false;
        if (s.looks < TL_ELASTIC_LOOKS) TL_TRY(tl_elastic_look_again(&s, &more, err));
    }
    TL_TRY(resist(&s, again, err));
    TL_TRY(move(&s, again, err));
    TL_TRY(tl_cancel_check(err));
    tl_elastic_place_bodies(&s);
    fill_report(&s);
    TL_TRY(tl_sim_judge(sim, again, err));
    TL_TRY(tl_accounts_end(sim, dt, s.bodies->body, again, err));
    commit(&s);
    return TALUS_OK;
}

talus_status tl_elastic_first(tl_sim *sim, double dt, tl_elastic_trial *s, talus_error *err)
{
    tl_grid_data *data = sim->engine_data;
    bool again;
    tl_arena_reset(&sim->arena);
    TL_TRY(begin_step(s, sim, data->elastic, &data->rigid, dt, err));
    TL_TRY(tl_bodies_predict(s->bodies, err));
    TL_TRY(tl_elastic_predict(s, err));
    TL_TRY(tl_elastic_detect(s, err));
    return tl_elastic_first_correction(s, &again, err);
}
