/* Accounts of what flows on the grid: sums over faces between the phases of a step, and what pressure and stress did to
 * walls.
 *
 * Energies are those of the particles' mass on faces, m u^2 / 2. Faces have the mean of what particles bring, and
 * particles the affine part of what faces around them have: a transfer takes energy both ways (Jensen), but for the
 * affine velocities, which weigh more between faces than on them when particles have moved. Losses of the solve are
 * impacts of liquid, or friction of sand; what is lost by extending velocities and where particles stop at walls is
 * theirs, too. Time step: what gravity gives to velocities in one go, less its work along the ways that faces go.
 * Corrections: what particles are lifted beyond that, by parting crowds and by ways that are not those of the faces.
 * Both are errors of places, which lift what sank by mistake before; crowds are parted only as far as the flow lost
 * energy otherwise. */
#ifndef TL_PHASE_ACCOUNTS_FLOW_H
#define TL_PHASE_ACCOUNTS_FLOW_H

#include "model/coupling/liquid.h"
#include "model/grid/sums.h"
#include "phase/accounts/accounts.h"

typedef struct tl_flow_account {
    double kinetic;   /* J, after the last phase */
    double potential; /* J, of particles */
    double fell;      /* J that gravity gave to velocities */
    double climbed;   /* J of potential energy, by the velocities that carry particles */
    double start;     /* J of particles' motion, when the step began */
    double dt;
} tl_flow_account;

/* What the solve of a step knows, face forces in system->c.y; fluid [6 bodies] N, N m on bodies. */
typedef struct tl_accounts_flow {
    const tl_grid *grid;
    const tl_fractions *fractions;
    const tl_system *system;
    const tl_bodies *b;
    const double *fluid;
} tl_accounts_flow;

/* In this order. */
void tl_accounts_to_grid(tl_sim *sim, tl_flow_account *f, tl_flow_sums now, const tl_totals *particles, double dt);
void tl_accounts_fall(tl_flow_account *f, tl_flow_sums now); /* gravity */
/* Grains and drops stopped before the solve; given: J that free bodies got. */
void tl_accounts_stopped(tl_sim *sim, tl_flow_account *f, tl_energy source, double given, tl_flow_sums now);
void tl_accounts_solved(const tl_accounts_flow *x, tl_flow_account *f, tl_flow_sums now); /* after tl_accounts_bodies */
/* J that water and bodies lost so far in the step, velocities being `by`; 0 where they gained. */
double tl_accounts_lost(const tl_accounts_flow *x, const tl_flow_account *f, tl_flow_sums by);
/* by: velocities that particles take on; all: those that carry them, crowds parting included. */
void tl_accounts_carried(tl_sim *sim, tl_flow_account *f, tl_flow_sums by, tl_flow_sums all);
void tl_accounts_to_particles(tl_sim *sim, tl_flow_account *f, double kinetic, double potential);
void tl_accounts_spread(tl_sim *sim, const tl_flow_account *f, double kinetic,
                        double potential); /* crowds of a frame */

#endif
