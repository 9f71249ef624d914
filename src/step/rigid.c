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
 *         move bodies         place and rotation
 *         look again
 *     stabilise               overlaps deeper than the slop are pushed out: places only
 *     bound                   islands have at most the energy that they had: velocities only
 *     bounce                  restitution: velocities only, bodies have landed
 *     settle                  islands that did not move rest from now on
 *     commit
 *
 * Velocities never see an overlap and places never see a bounce, so neither adds energy to the other. */
#include "base/cancel.h"
#include "step/accounts.h"
#include "step/bodies.h"

#include <math.h>
#include <string.h>

#define RESIST_ROUNDS 20 /* each gains about a factor of the rolling friction over the radius */

typedef struct rigid_step {
    tl_bodies b;
    tl_contact_report solved;
    bool whole; /* solves go to their target; before, large islands may stop where it is seen where bodies go, */
    bool early; /* and did */
} rigid_step;

/* A solver that misses its target is the scene's to judge. */
static talus_status judge(const rigid_step *s, bool *again, talus_error *err)
{
    const tl_contact_report *r = &s->solved;
    tl_unconverged policy = s->b.scene->solver.on_unconverged;
    if (!isfinite(r->certificate.residual)) {
        *again = true;
        return TL_FAIL(err, TALUS_NOT_DEFINITE, "contact method \"%s\" left the numbers", s->b.kept->method->name);
    }
    if (r->outcome.result == TL_CONVERGED || policy == TL_UNCONVERGED_ACCEPT) return TALUS_OK;
    *again = policy == TL_UNCONVERGED_SHRINK_DT;
    return TL_FAIL(err, TALUS_NOT_DEFINITE, "contact method \"%s\": %s, residual %.3g m/s, wanted %.3g m/s",
                   s->b.kept->method->name, tl_result_name(r->outcome.result), r->certificate.residual, s->b.tolerance);
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

/* Impulses of points and those of rolling and spinning friction, whose radii follow the normal forces: solved again until they fit. What they are off by in the end counts like
 * the residual. */
static talus_status solve_contacts(rigid_step *s, bool *again, talus_error *err)
{
    tl_bodies *b = &s->b;
    const size_t points = 3 * (size_t)b->contacts.count, more = 3 * (size_t)b->resist.count;
    tl_stop stop = {.tolerance = b->tolerance, .max_iterations = b->kept->iterations};
    tl_options options = tl_options_default();
    options.aim = b->aim;
    s->early = false;
    options.early = s->whole ? NULL : &s->early;
    double *lam = b->lam, off = 0;
    if (more) {
        lam = TL_TAKE(b->arena, double, points + more);
        if (!lam) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for rolling friction");
        memcpy(lam, b->lam, points * sizeof *lam);
        memcpy(lam + points, b->resist_lam, more * sizeof *lam);
    }
    for (int round = 0; round < RESIST_ROUNDS; round++) {
        tl_contact_report before = s->solved;
        TL_TRY(tl_contact_solve(b->kept->method, &b->p.problem, &options, &stop, lam, b->arena, b->sim->history,
                                &s->solved, err));
        add_work(&s->solved, &before);
        if (!more) break;
        memcpy(b->lam, lam, points * sizeof *lam);
        memcpy(b->resist_lam, lam + points, more * sizeof *lam);
        off = tl_bodies_update_resist(b);
        if (!(off > b->aim)) break;
    }
    if (off > b->tolerance) {
        s->solved.certificate.residual = fmax(s->solved.certificate.residual, off);
        if (s->solved.outcome.result == TL_CONVERGED) s->solved.outcome.result = TL_OUT_OF_ITERATIONS;
    }
    tl_contact_velocities(&b->p.bodies, lam, b->v);
    tl_bodies_lap(b, TL_BODIES_SOLVE);
    return s->early ? TALUS_OK : judge(s, again, err);
}

static talus_status halfway(rigid_step *s, bool *again, talus_error *err)
{
    bool any;
    TL_TRY(tl_bodies_halfway(&s->b, &s->solved, &any, err));
    return any ? judge(s, again, err) : TALUS_OK;
}

static talus_status bounce(rigid_step *s, bool *again, talus_error *err)
{
    bool any;
    tl_contact_report before = s->solved;
    TL_TRY(tl_bodies_bounce(&s->b, &s->solved, &any, err));
    if (!any) return TALUS_OK;
    add_work(&s->solved, &before);
    return judge(s, again, err);
}

static void fill_report(const rigid_step *s)
{
    tl_report *r = &s->b.sim->report;
    *r = (tl_report){.solves = 1};
    tl_bodies_report(&s->b, r);
    const tl_contact_report *c = &s->solved;
    r->solve[0] = (tl_report_solve){"contact",
                                    s->b.kept->method->name,
                                    tl_result_name(c->outcome.result),
                                    c->outcome.iterations,
                                    c->certificate.residual,
                                    s->b.tolerance,
                                    c->work};
    r->solve[0].work.history = NULL;
    r->force_balance = c->certificate.balance;
}

talus_status tl_rigid_step(tl_sim *sim, const tl_rigid_kept *kept, double dt, bool *again, talus_error *err)
{
    rigid_step s = {.solved = {.work = {0}}};
    tl_bodies *b = &s.b;
    *again = false;
    TL_TRY(tl_bodies_begin(b, sim, kept, dt, err));
    b->resists = kept->resists;
    TL_TRY(tl_bodies_predict(b, err));
    if (sim->scene->solver.contact.rest) TL_TRY(tl_bodies_rest(b, err));
    TL_TRY(tl_bodies_detect(b, err));
    TL_TRY(halfway(&s, again, err));
    bool more = true;
    for (int looks = 0; more; looks++) {
        for (bool once_more = true; once_more;) {
            TL_TRY(tl_bodies_assemble(b, err));
            TL_TRY(solve_contacts(&s, again, err));
            TL_TRY(tl_bodies_halfway_check(b, &s.solved, &once_more, err));
        }
        TL_TRY(tl_bodies_move(b, again, err));
        TL_TRY(tl_bodies_look_again(b, looks, &more, again, err));
        if (!more && s.early) s.whole = more = true, looks--; /* all contacts are known now */
    }
    TL_TRY(tl_accounts_bodies(b, err));
    TL_TRY(tl_bodies_make_room(b, err));
    TL_TRY(tl_bodies_stabilise(b, err));
    if (sim->scene->solver.contact.bound) TL_TRY(tl_bodies_bound(b, err));
    tl_accounts_push(b);
    TL_TRY(bounce(&s, again, err));
    TL_TRY(tl_cancel_check(err));
    if (b->resting) TL_TRY(tl_bodies_settle(b, s.solved.outcome.result == TL_CONVERGED, err));
    tl_accounts_bounce(b);
    fill_report(&s);
    TL_TRY(tl_accounts_end(sim, dt, b->body, again, err));
    tl_rigid_tell_turning(sim, kept, dt);
    tl_bodies_commit(b);
    return TALUS_OK;
}
