/* Accounts of the SPH step: kinetic energy between its phases, impulses of fixed bodies and walls. Friction and
 * impacts of bodies come out of one solve and are not told apart: both are in `contact`. Surface tension has an
 * energy that is not measured: what it does is unexplained. */
#ifndef TL_PHASE_ACCOUNTS_SPH_H
#define TL_PHASE_ACCOUNTS_SPH_H

#include "model/sph/sph.h"
#include "phase/accounts/accounts.h"

typedef struct tl_sph_account {
    double kinetic;  /* J, after the last phase */
    double fell;     /* J that gravity gave to velocities */
    tl_totals moved; /* at the end of the step, before stops */
} tl_sph_account;

/* before [bodies]: motions at the start. Each after the phase that it is named after. */
void tl_accounts_sph_pushed(tl_sim *sim, tl_sph_account *a, const tl_sph_step *f, const tl_motion *before);
void tl_accounts_sph_phase(tl_sim *sim, tl_sph_account *a, const tl_sph_step *f, const tl_motion *before,
                           tl_energy source);
void tl_accounts_sph_tension(tl_sph_account *a, const tl_sph_step *f, const tl_motion *before);
void tl_accounts_sph_solved(tl_sim *sim, tl_sph_account *a, const tl_sph_step *f, const tl_motion *before,
                            const double *x);
/* Joints, before the phase of the solve, which is then told what is left: b->v_free without them and contacts, b->v. */
void tl_accounts_sph_joined(tl_bodies *b, tl_sph_account *a);
/* Work of scripted bodies through viscosity; drag [bodies]: on them. Between tl_accounts_sph_pushed and the phase of
 * viscosity. */
void tl_accounts_sph_stirred(tl_sim *sim, tl_sph_account *a, const tl_sph_step *f, const tl_sph_force *drag);
/* Particles and bodies at the places of the end: before stops, after stops at bodies, after stops at walls. */
void tl_accounts_sph_moved(tl_sim *sim, tl_sph_account *a, const tl_sph_step *f, const tl_motion *body);
void tl_accounts_sph_stopped(tl_sim *sim, tl_sph_account *a, const tl_sph_step *f, const tl_motion *body,
                             const tl_sph_force *drag, bool at_walls);
void tl_accounts_sph_gone(tl_sim *sim, const tl_sph_step *f, const tl_sph_particle *p); /* a particle that leaves */

#endif
