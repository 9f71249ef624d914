/* Accounts of a step: what gave and took momentum and energy, and what nothing explains.
 *
 * At the start of a try the totals of the state are measured. Phases of a step add what they know of: impulses of
 * walls, static and scripted bodies, work of forces, losses. At the end, before the state is written, the change of the
 * totals less everything that was added is what nothing explains. Friction, impacts, viscosity and transfers can only
 * take energy: what one of them adds in a step is moved to the unexplained.
 *
 * The guard belongs here because it needs the accounts: a step in which energy or speed rises beyond anything that
 * could have caused it is not accepted. */
#ifndef TL_PHASE_ACCOUNTS_ACCOUNTS_H
#define TL_PHASE_ACCOUNTS_ACCOUNTS_H

#include "phase/bodies/bodies.h"

void tl_totals_add(tl_totals *t, double sign, const tl_totals *other);
void tl_totals_add_point(tl_totals *t, double m, tl_vec3 x, tl_vec3 v, tl_vec3 gravity);
void tl_totals_add_bodies(tl_totals *t, const tl_sim *sim, const tl_motion *body);

/* Totals of the state, and empty accounts: every source NaN until a phase adds to it. */
talus_status tl_accounts_begin(tl_sim *sim, talus_error *err);

/* A source that the engine accounts for; the first call ends its NaN. */
void tl_accounts_energy(tl_sim *sim, tl_energy source, double joules);
void tl_accounts_fixed(tl_sim *sim, tl_vec3 impulse, tl_vec3 angular);  /* on matter, by what does not move freely */
void tl_accounts_forces(tl_sim *sim, tl_vec3 impulse, tl_vec3 angular); /* asked for */
/* Particles came or went: what the step really starts from. `now`: totals of particles alone, as tl_grid_totals_of
 * has them. */
void tl_accounts_matter(tl_sim *sim, const tl_totals *now);

/* Elastic energy at the start: of nodes, which the step has measured, and of joints. */
void tl_accounts_start_elastic(tl_sim *sim, double nodes);

/* Bodies whose velocities are in b->v: forces, contacts, scripted bodies, flight. After the last tl_bodies_move. */
void tl_accounts_bodies(tl_bodies *b);
void tl_accounts_push(tl_bodies *b);          /* after tl_bodies_stabilise */
void tl_accounts_before_bounce(tl_bodies *b); /* where tl_accounts_bodies is not called */
void tl_accounts_bounce(tl_bodies *b);        /* after tl_bodies_bounce */
void tl_accounts_fit(tl_bodies *b);           /* after tl_bodies_joints_end and what follows from it */

/* Impulse and angular impulse of row `at` of joint blocks, whose multiplier is lam, on free bodies at x. What it does to
 * a scripted one is returned, J, for velocities v. */
double tl_accounts_row(const tl_bodies *b, const tl_joint_blocks *j, int64_t at, double lam, const tl_motion *x,
                       const double *v, tl_vec3 *impulse, tl_vec3 *angular);
void tl_accounts_broken(tl_bodies *b); /* what springs had that broke in this step */

/* What rolling and spinning friction does: turns fixed bodies, and takes energy, which is returned, J. Work of
 * scripted ones is added to `scripted`. */
double tl_accounts_resist(const tl_bodies *b, double *scripted);

/* Free rigid bodies among elastic ones: forces, flight, joints, hard contacts with what is fixed (their work is added
 * to `scripted`). Returns what contacts gave to them, J. */
double tl_accounts_rigid_in_lg(tl_bodies *b, double *scripted, double *frames);

/* What one source gave and others took in the same step is nothing. */
void tl_accounts_settle(tl_accounts *a, tl_energy source);
/* What holds makes no energy: what it adds in a step, and nothing takes, is explained by nothing. Returns that. */
double tl_accounts_judge_held(tl_accounts *a);

/* After sim->report has the totals of the end, before commit: fills sim->report.accounts. */
talus_status tl_accounts_end(tl_sim *sim, double dt, const tl_motion *body, bool *again, talus_error *err);

#endif
