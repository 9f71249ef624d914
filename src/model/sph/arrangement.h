/* The stress of arrangement, taken away.
 *
 * Pairs that push each other with (p_i + p_j) grad W carry, besides the pressure, a shear stress that depends on how
 * neighbours happen to lie: 2 to 10 % of the pressure. A lattice that is sheared resists as rubber would, with 0.02 to
 * 0.1 times the pressure, although a liquid at rest carries no shear. Surface waves are then up to 5 % too fast as soon
 * as particles are quiet (noise melts the arrangement, and hides it), and a ball that has stopped is still held.
 *
 *     S_i = - 1/2 sum_j V0 (p_i + p_j) grad W_ij (x_i - x_j)      its pressure part is p_i where particles are even
 *     T_i = `sph.arrangement` times the part of -S_i without trace, averaged over neighbours three times
 *     f_i = - V0 sum_j V0 (T_i + T_j) grad W_ij                   what is added: minus the divergence of T
 *
 * with the pressures of the last step, for no longer than that step was: in a blow they are impulses over its length.
 * Averaged, because the stress of single particles is what holds them apart; that of a neighbourhood is what a flow
 * feels. Where liquid flows, neighbours change and nothing is taken away (QUIET in the source).
 *
 * 1.25 is measured, not derived: half periods of waves 50 h long over the law's are 0.965 to 0.980 with 1, 0.976 to
 * 0.990 with 1.15, 0.993 to 1.001 with 1.25, 0.991 to 0.999 with 1.3 (lattice and jitter, steps of 4, 1, 0.5 ms); of 96
 * h 0.996 with 1.15, 1.008 with 1.25. What is left with 1 falls with the spacing.
 *
 * Firm solids (sph.h) count as liquid that goes on behind their surface (layers.h) with mirrored pressure and stress:
 * their samples are one layer and say nothing of it. They feel the opposite force where the surface is nearest. Beside
 * other solids liquid carries up to twice the pressure, and no stress is taken away.
 *
 * Linear momentum is kept to rounding, angular momentum to the order of the sums: pairs are not central. The work is of
 * either sign, as that of the stress that it takes away; the accounts have it with that of pressures. */
#ifndef TL_MODEL_SPH_ARRANGEMENT_H
#define TL_MODEL_SPH_ARRANGEMENT_H

#include "model/sph/sph.h"

/* Changes the velocities of liquid and free bodies. last_dt, s: of the step before. `on` [rigid->count]: mean force on
 * each body in the step, N and N m about its centre; on the arena. Read after tl_sph_contacts, before tl_sph_system. */
talus_status tl_sph_take_stress(tl_sph_step *s, double last_dt, tl_sph_force **on, talus_error *err);

#endif
