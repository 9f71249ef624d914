/* Accounts of what flows on the grid: sums over faces between the phases of a step, and what pressure and stress did to walls.
 *
 * Energies are those of the particles' mass on faces, m u^2 / 2. Faces have the mean of what particles bring, and particles the affine part of what faces around them have: a transfer takes energy both ways (Jensen), but for the affine
 * velocities, which weigh more between faces than on them when particles have moved. Losses of the solve are impacts of liquid, or friction of sand; what is lost by extending velocities and where particles stop at walls is theirs, too.
 * Time step: what gravity gives to velocities in one go, less its work along the ways that faces go. Corrections: what particles are lifted beyond that, by parting crowds and by ways that are not those of the faces.
 * Both are errors of places, which lift what sank by mistake before; crowds are parted only as far as the flow lost energy otherwise. */
#ifndef TL_STEP_ACCOUNTS_FLOW_H
#define TL_STEP_ACCOUNTS_FLOW_H

#include "model/grid/fractions.h"
#include "model/grid/transfer.h"
#include "step/accounts.h"
#include "step/scheme.h"

typedef struct tl_flow_sums {
    double kinetic; /* J */
    double power;   /* W of gravity */
} tl_flow_sums;

/* In fixed order. */
tl_flow_sums tl_accounts_faces(const tl_grid *g, const tl_faces *faces, double *const u[3], tl_vec3 gravity);

typedef struct tl_flow_account {
    double kinetic;   /* J, after the last phase */
    double potential; /* J, of particles */
    double fell;      /* J that gravity gave to velocities */
    double climbed;   /* J of potential energy, by the velocities that carry particles */
    double start;     /* J of particles' motion, when the step began */
    double dt;
} tl_flow_account;

typedef struct tl_impulse {
    tl_vec3 linear, angular; /* N s; N m s about the origin */
} tl_impulse;
/* Momentum of matter on faces inside of solids: what becomes of it between two calls is theirs. */
tl_impulse tl_accounts_closed(const tl_grid *g, const tl_faces *faces, const tl_fractions *fractions);

/* What the solve of a step knows, face forces in coupled->system->c.y; fluid [6 bodies] N, N m on bodies. */
typedef struct tl_accounts_flow {
    const tl_grid *grid;
    const tl_fractions *fractions;
    const tl_coupled *coupled;
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
