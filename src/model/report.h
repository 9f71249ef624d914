/* What happened in one step: seconds per phase, solver outcomes with certificates, conserved quantities, counts.
 * Written by the step, read by the csv files, the live line and the API. Everything but the seconds is the same on a
 * rerun. */
#ifndef TL_MODEL_REPORT_H
#define TL_MODEL_REPORT_H

#include <stddef.h>

#include "base/work.h"
#include "math/vec.h"

#define TL_REPORT_PHASES 16
#define TL_REPORT_SOLVES 8

typedef struct tl_report_phase {
    const char *name; /* "detect", "solve contact": a literal; the list is the same in every step of a run */
    double seconds;
    double cpu; /* s of all threads; 0: the engine does not count it */
} tl_report_phase;

typedef struct tl_report_solve {
    const char *name;    /* "contact", "pressure" */
    const char *method;  /* in force */
    const char *outcome; /* tl_result_name */
    int iterations;
    double certificate; /* of the kind: its residual, outside of the method */
    double target;
    tl_work work;
} tl_report_solve;

/* What changed the energy E = kinetic + potential + elastic within a step, J; positive: E rose. Gravity is not in
 * the sum, it moves energy from potential to kinetic: its entry is the potential energy that was given up. */
typedef enum tl_energy {
    TL_ENERGY_GRAVITY,
    TL_ENERGY_FORCES,   /* asked for by the scene or from code: motors, pushes */
    TL_ENERGY_SCRIPTED, /* work of scripted bodies, handles and cables */
    TL_ENERGY_FRICTION, /* at contacts, and of sand */
    TL_ENERGY_CONTACT,  /* impacts of bodies and of liquid */
    TL_ENERGY_VISCOSITY,
    TL_ENERGY_TRANSFER,    /* between particles and grid */
    TL_ENERGY_CORRECTIONS, /* overlaps pushed out, crowds parted, speeds held */
    TL_ENERGY_TIME_STEP,   /* what the time integration itself does: falls in steps, damps what rings */
    TL_ENERGY_MATTER,      /* came with emitters, left with what escaped */
    TL_ENERGIES
} tl_energy;

/* Where momentum and energy of a step came from. NaN: the engine does not account for it; unexplained is what
 * remains after all that is. */
typedef struct tl_accounts {
    double mass, gyration;                             /* kg; m, of all matter about its centre of mass, at the start */
    tl_vec3 gravity, forces, fixed, matter;            /* N s: fixed: walls, static and scripted bodies */
    tl_vec3 angular;                                   /* N m s about the origin: of all these */
    tl_vec3 momentum_unexplained, angular_unexplained; /* kg m/s, kg m^2/s */
    double energy[TL_ENERGIES], energy_unexplained;    /* J */
    double held;                                       /* J: of the time step's, what joints that hold gave */
} tl_accounts;

typedef struct tl_report {
    int64_t step;
    double t, dt; /* at the end of the step; its length */
    int retries;  /* failed tries before it */
    int sweeps;   /* of the coupled solve; 0: the engine has none */
    int phases, solves;
    tl_report_phase phase[TL_REPORT_PHASES];
    tl_report_solve solve[TL_REPORT_SOLVES];
    double kinetic, potential, elastic; /* J */
    tl_vec3 momentum, angular_momentum; /* kg m/s; about the origin, kg m^2/s; of free bodies and all matter */
    int64_t contacts;                   /* points, open ones included */
    int64_t unknowns, nonzeros;         /* of liquid and solids as one matrix, where schemes write it out */
    int64_t touching;                   /* points with a force */
    double penetration;                 /* deepest overlap of two surfaces at the end of the step, m, >= 0 */
    double smallest;                    /* m, that it is judged by: smallest extent of a body; NAN without one */
    double force_balance;               /* see tl_contact_certificate; NAN without meaning */
    double liquid_volume;               /* m^3 that what flows takes up, */
    double particle_volume;             /* sum of its particles' own volumes, */
    double volume_error;                /* by what part it takes up more than it is due */
    double compression;                 /* SPH: mean of how much denser than at rest particles are; NAN elsewhere */
    int64_t particles, escaped;     /* particles that are there; particles that left and free bodies that are outside */
    int64_t bodies, bodies_escaped; /* free ones, elastic ones too; those of them that are outside of the domain */
    double fastest;                 /* m/s, of any body, particle or node */
    size_t peak_bytes;
    tl_accounts accounts;
} tl_report;

#endif
