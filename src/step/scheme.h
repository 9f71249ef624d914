/* Schemes: orders of block solves for what flows, bodies and their contacts, all of one coupled problem.
 *
 *     pressure   0 <= p   _|_  g_p = -G^T (W_F u + J v)   >= 0
 *     stress     s minimises the energy over |s|_F <= alpha p at frozen p (granular material)
 *     contact    0 <= lam _|_  g_l = B_n^T v + gap / dt   >= 0,   z minimises the energy over |z_j| <= eta_j lam_j at frozen lam
 *
 * Blocks work on velocities as they are and push increments, so any order may follow any other, and a scheme's answer is certified on the
 * whole problem at the final velocities, whatever its last block was. [FM21 sec. 4.3, 5.3]
 *
 *     p-c     pressure, then contact, once: the liquid does not know what contacts do to its walls
 *     c-p     contact, then pressure, once
 *     t-pn    tangential forces, then pressure and normal forces together, until still
 *     t-p-n   tangential forces, pressure, normal forces in turn, until still
 *     p-tn    pressure; contacts with their friction as one; in turn, until still
 *     tn-pn   contacts with their friction as one; pressure and normal forces as one; in turn, until still
 *
 *     pf-c, c-pf, t-f-pn, t-f-p-n    the same with frictional stress f: one more block before the pressure's; the first two repeat it and the pressure until still
 *     f-p-c   stress, pressure, contacts with their friction, until still. Normal forces and friction of bodies that lie on several points in turn settle slowly, or never
 *
 * A scheme with nothing in contact is one pressure solve, or stress and pressure in turn. */
#ifndef TL_STEP_SCHEME_H
#define TL_STEP_SCHEME_H

#include "model/coupling/liquid.h"
#include "solve/pressure/method.h"
#include "step/bodies.h"
#include "step/friction.h"

typedef struct tl_scheme tl_scheme;

int tl_scheme_count(void);
const tl_scheme *tl_scheme_at(int i);
const tl_scheme *tl_scheme_find(const char *name); /* NULL when unknown */
const char *tl_scheme_name(const tl_scheme *s);
bool tl_scheme_granular(const tl_scheme *s); /* has a block for stress */

/* How well an answer solves the whole problem, from the velocities of the end alone. Zero is exact; a block without unknowns is exact.
 * Each block is measured against its own b: the largest entry of what it has to undo, before any force or given the other blocks'
 * answers, whichever is more. One |b| for both would measure the pressure against what a heavy body on the floor needs, which is larger by
 * sqrt(6 m / (rho dx^3)) in the scaled unknowns; and b before any force alone is 0 for liquid that falls together with its vessel. */
typedef struct tl_coupled_certificate {
    double pressure; /* max |min(d p, g_p)| / max |b_p|, d: diagonal of the Hessian */
    double normal;   /* the same of lam */
    double stress;   /* gap of s at frozen p over its energy, or how far outside of its cones, over the largest */
    double
        tangent; /* gap of z at frozen lam over its energy, or a tenth of what the normal forces' friction could do */
} tl_coupled_certificate;

typedef struct tl_scheme_report {
    const tl_scheme *scheme;
    tl_result result;
    int sweeps;
    tl_coupled_certificate certificate;
    double change; /* of p, s in the last sweep, over the largest p */
    double
        moved; /* sand: of velocities in the last sweep, over what all forces did to them; root mean square by mass */
    double
        settled; /* sand: what stops the sweeps once contacts are solved, in tolerances' terms; INFINITY without sand */
    int pressure_iterations, stress_iterations, contact_iterations; /* sums over sweeps */
    tl_work pressure_work, stress_work, contact_work;
    const char *pressure_method;
    double pressure_seconds, stress_seconds, contact_seconds;
} tl_scheme_report;

/* One coupled problem. The caller fills the first part; velocities of `system` (u) and of bodies (b->v_free) are those without
 * pressure and contact. */
typedef struct tl_coupled {
    tl_system *system;
    tl_bodies *b;            /* contacts assembled; lam: start in, answer out, N s */
    double *p;               /* [cells] Pa: start in, answer out */
    tl_friction *friction;   /* NULL: nothing granular. s: start in, answer out */
    const tl_scheme *scheme; /* NULL: chosen from the masses */
    const tl_pressure_method *method;
    bool warm; /* p is worth starting from */
    bool unilateral;
    bool plain_sweeps;       /* those of a liquid with contacts are not mixed, for comparison */
    double tolerance;        /* of the certificate */
    int sweeps;              /* at most; 0: the scheme's own */
    int pressure_iterations; /* at most per solve; 0: the method's own */
    tl_history *history;     /* [2] of pressure and contact, or NULL */
    /* kept between blocks */
    struct tl_coupled_work *work;
} tl_coupled;

/* Velocities end in system->c.u and in b->v. */
talus_status tl_scheme_run(tl_coupled *c, tl_scheme_report *out, talus_error *err);

/* Crowds part: the displacement d [faces], m, that takes `part` of `excess` [cells] (volume over that of a cell) out of each cell and
 * through the liquid to its surface, or the other way where it is negative; solids stay where they are. After tl_scheme_run.
 * [Kugelstadt2019] */
talus_status tl_coupled_part(tl_coupled *c, const double *excess, double part, double *d, talus_error *err);

/* Force density K x of pressure and stress, N/m^3: y [faces]. */
void tl_coupled_face_forces(const tl_coupled *c, double *y);
/* Forces and torques (about the centres of mass) of pressure and stress on all bodies, N and N m: f [6 bodies]. */
void tl_coupled_fluid_forces(const tl_coupled *c, double *f);

#endif
