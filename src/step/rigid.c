/* The step of rigid bodies: the grid engine where nothing flows.
 *
 *     predict velocities      v* = v + dt (gravity, forces); scripted bodies get the velocity that leads to their pose
 *     rest                    islands at rest that nothing comes near keep everything (solver.contact.rest)
 *     detect contacts         points that may touch within dt
 *     half-way                islands that roll and slide without impacts: contacts and impulses half-way through the step
 *     match contacts          impulses of the last step, by position
 *     repeat                  until no fast body ends up inside of something that it was not told of
 *         assemble contacts   J, open gaps as bias: bodies land on each other, not inside
 *         solve contacts      v = v* + M^-1 J^T lam
 *         move bodies         place and rotation; again until joints are where they should be
 *         look again
 *     stabilise               overlaps deeper than the slop are pushed out: places only
 *     bound                   islands have at most the energy that they had: velocities only
 *     bounce                  restitution: velocities only, bodies have landed
 *     settle                  islands that did not move rest from now on
 *     fit                     velocities that joints allow where bodies are now, with the energy that is theirs
 *     commit
 *
 * Velocities never see an overlap and places never see a bounce, so neither adds energy to the other. */
#include "base/cancel.h"
#include "phase/accounts/accounts.h"
#include "phase/bodies/bodies.h"

#include <math.h>
#include <string.h>

#define RESIST_ROUNDS 20 /* each gains about a factor of the rolling friction over the radius */

typedef struct rigid_step {
    tl_bodies b;
    tl_contact_report solved;
    tl_outcome missed;      /* of impacts that were stopped half-way, or before the bounce, */
    double missed_residual; /* m/s: the worst that did not reach its target; 0: all did */
    bool whole; /* solves go to their target; before, large islands may stop where it is seen where bodies go, */
    bool early; /* and did */
} rigid_step;

static talus_status check_solved(const rigid_step *s, bool *again, talus_error *err)
{
    const tl_contact_report *r = &s->solved;
    if (!isfinite(r->certificate.residual)) {
        *again = true;
        return TL_FAIL(err, TALUS_NOT_DEFINITE, "contact method \"%s\" became NaN or infinite",
                       s->b.data->method->name);
    }
    return TALUS_OK;
}

/* A step may solve more than once: work adds up, the certificate is the last one's. */
static void add_work(tl_contact_report *r, const tl_contact_report *earlier)
{
    r->outcome.iterations += earlier->outcome.iterations;
    r->work.products += earlier->work.products;
    r->work.preconds += earlier->work.preconds;
    r->work.projections += earlier->work.projections;
    r->work.factorizations += earlier->work.factorizations;
    r->work.outer += earlier->work.outer;
    r->seconds += earlier->seconds;
}

/* Impulses of points and those of rolling and spinning friction, whose radii follow the normal forces: solved again
 * until they fit. What they are off by in the end counts like the residual. */
static talus_status solve_contacts(rigid_step *s, bool *again, talus_error *err)
{
    tl_bodies *b = &s->b;
    const size_t points = 3 * (size_t)b->contacts.count, resist = 3 * (size_t)b->resist.count,
                 joints = 3 * (size_t)b->joint.blocks.count, more = resist + joints;
    tl_stop stop = {.tolerance = b->tolerance, .max_iterations = b->data->iterations};
    tl_options options = tl_options_default();
    options.history = b->sim->history;
    options.aim = b->aim;
    options.slow = b->pull;
    s->early = false;
    options.early = s->whole ? NULL : &s->early;
    double *lam = b->lam, off = 0;
    if (more) {
        lam = TL_TAKE(b->arena, double, points + more);
        if (!lam) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for rolling friction and joints");
        if (points) memcpy(lam, b->lam, points * sizeof *lam);
        if (resist) memcpy(lam + points, b->resist_lam, resist * sizeof *lam);
        if (joints) memcpy(lam + points + resist, b->joint.lam, joints * sizeof *lam);
    }
    for (int round = 0; round < RESIST_ROUNDS; round++) {
        tl_contact_report before = s->solved;
        TL_TRY(tl_contact_solve(b->data->method, &b->p.problem, &options, &stop, lam, b->arena, &s->solved, err));
        const double certificate = s->solved.certificate.residual;
        TL_TRY(tl_sim_show(b->sim, (tl_shown){TL_SHOWN_CONTACT, &b->p.problem, lam, certificate, stop.tolerance}, err));
        add_work(&s->solved, &before);
        if (!more) break;
        if (points) memcpy(b->lam, lam, points * sizeof *lam);
        if (joints) memcpy(b->joint.lam, lam + points + resist, joints * sizeof *lam);
        if (!resist) break;
        memcpy(b->resist_lam, lam + points, resist * sizeof *lam);
        off = tl_bodies_update_resist(b);
        if (!(off > b->aim)) break;
    }
    if (off > b->tolerance) {
        s->solved.certificate.residual = fmax(s->solved.certificate.residual, off);
        if (s->solved.outcome.result == TL_CONVERGED) s->solved.outcome.result = TL_OUT_OF_ITERATIONS;
    }
    tl_contact_velocities(&b->p.bodies, lam, b->v);
    tl_bodies_lap(b, TL_BODIES_SOLVE);
    return s->early ? TALUS_OK : check_solved(s, again, err);
}

/* A solve that others follow in the step: a miss stays one. */
static void keep_missed(rigid_step *s, const tl_contact_report *r)
{
    if (r->outcome.result == TL_CONVERGED || !(r->certificate.residual > s->missed_residual)) return;
    s->missed = r->outcome;
    s->missed_residual = r->certificate.residual;
}

static talus_status halfway(rigid_step *s, bool *again, talus_error *err)
{
    bool any;
    TL_TRY(tl_bodies_halfway(&s->b, &s->solved, &any, err));
    if (!any) return TALUS_OK;
    keep_missed(s, &s->solved);
    return check_solved(s, again, err);
}

static talus_status bounce(rigid_step *s, bool *again, talus_error *err)
{
    bool any;
    tl_contact_report before = s->solved;
    TL_TRY(tl_bodies_bounce(&s->b, &s->solved, &any, err));
    if (!any) return TALUS_OK;
    keep_missed(s, &before);
    add_work(&s->solved, &before);
    return check_solved(s, again, err);
}

static void fill_report(const rigid_step *s)
{
    tl_report *r = &s->b.sim->report;
    *r = (tl_report){.solves = 1, .compression = NAN};
    tl_bodies_report(&s->b, r);
    const tl_contact_report *c = &s->solved;
    const double off = s->b.joint.missed;
    const bool missed = s->missed_residual > 0 && c->outcome.result == TL_CONVERGED;
    r->solve[0] = (tl_report_solve){"contact",
                                    s->b.data->method->name,
                                    tl_result_name(missed ? s->missed.result
                                                   : off > s->b.tolerance && c->outcome.result == TL_CONVERGED
                                                       ? TL_STALLED
                                                       : c->outcome.result),
                                    c->outcome.iterations,
                                    fmax(fmax(c->certificate.residual, off), s->missed_residual),
                                    s->b.tolerance,
                                    c->work};
    r->solve[0].work.history = NULL;
    r->force_balance = c->certificate.balance;
}

/* Joints say where bodies end up: solved until they do. */
static talus_status solve_and_move(rigid_step *s, bool *again, talus_error *err)
{
    tl_bodies *b = &s->b;
    bool place = true;
    for (int round = 0; place; round++) {
        for (bool once_more = true; once_more;) {
            TL_TRY(tl_bodies_assemble(b, err));
            TL_TRY(solve_contacts(s, again, err));
            TL_TRY(tl_bodies_halfway_check(b, &s->solved, &once_more, err));
        }
        TL_TRY(tl_bodies_move(b, again, err));
        tl_bodies_joints_place(b, round, &place);
    }
    return TALUS_OK;
}

talus_status tl_rigid_step(tl_sim *sim, const tl_rigid_data *data, double dt, bool *again, talus_error *err)
{
    rigid_step s = {.solved = {.work = {0}}};
    tl_bodies *b = &s.b;
    *again = false;
    TL_TRY(tl_bodies_begin(b, sim, data, dt, err));
    b->resists = data->resists;
    TL_TRY(tl_bodies_predict(b, err));
    if (sim->scene->solver.contact.rest) TL_TRY(tl_bodies_rest(b, err));
    TL_TRY(tl_bodies_detect(b, err));
    TL_TRY(halfway(&s, again, err));
    bool more = true;
    for (int looks = 0; more; looks++) {
        TL_TRY(solve_and_move(&s, again, err));
        TL_TRY(tl_bodies_look_again(b, looks, &more, again, err));
        if (!more && s.early) s.whole = more = true, looks--; /* all contacts are known now */
    }
    TL_TRY(tl_bodies_joints_work(b, err));
    tl_accounts_bodies(b);
    TL_TRY(tl_bodies_make_room(b, err));
    TL_TRY(tl_bodies_stabilise(b, err));
    if (sim->scene->solver.contact.bound) TL_TRY(tl_bodies_bound(b, false, err));
    tl_accounts_push(b);
    TL_TRY(bounce(&s, again, err));
    TL_TRY(tl_cancel_check(err));
    if (b->resting) TL_TRY(tl_bodies_settle(b, s.solved.outcome.result == TL_CONVERGED, err));
    tl_accounts_bounce(b);
    TL_TRY(tl_bodies_joints_end(b, err));
    if (sim->scene->solver.contact.bound) TL_TRY(tl_bodies_bound(b, true, err));
    tl_accounts_fit(b);
    TL_TRY(tl_bodies_find_depth(b, err));
    fill_report(&s);
    TL_TRY(tl_sim_judge(sim, again, err));
    TL_TRY(tl_accounts_end(sim, dt, b->body, again, err));
    tl_rigid_tell_turning(sim, data, dt);
    tl_bodies_commit(b);
    return TALUS_OK;
}
