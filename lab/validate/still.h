/* One coupled solve on a given geometry, without particles: the place of the surface is a formula, velocities before
 * the solve are uniform. What the cases of the grid engine measure operators and schemes with. */
#ifndef TL_VALIDATE_STILL_H
#define TL_VALIDATE_STILL_H

#include "phase/grid/grid.h"

typedef struct tl_still {
    tl_scene *scene;
    tl_sim *sim;
    tl_rigid_data *data;
    /* asked for; zeros are the defaults of tl_still_begin */
    double dt;
    double (*phi)(tl_vec3 at); /* m, negative in liquid; NULL: none anywhere */
    double density;            /* of the liquid */
    tl_vec3 u;                 /* before gravity, of liquid and of free bodies */
    double neutral;            /* > 0: body 0 weighs this times what it displaces */
    double alpha;              /* > 0: sand of this cone, with its own density on every face; set family to volume */
    int stress_iterations;     /* per sweep */
    bool staggered;            /* arrangement of stress; needs parts */
    tl_edge_rule edge_rule;
    const char *parts;        /* method of solve/cone/parts.h; NULL: the cone by apgd */
    tl_parts_options options; /* of parts */
    tl_weight_family family;
    const char *scheme, *method;
    double tolerance;
    int sweeps;
    /* what came out */
    tl_bodies b;
    tl_grid grid;
    tl_faces faces;
    tl_solids solids;
    tl_fractions fractions;
    double *level; /* [grid cells] */
    tl_system system;
    tl_liquid liquid; /* of sand */
    double *stress;   /* [system.stress.n] Pa */
    tl_friction friction;
    tl_cones cones; /* of it */
    tl_coupled coupled;
    tl_scheme_report report;
    double *p;     /* [cells] Pa */
    double *fluid; /* [6 bodies] N, N m */
} tl_still;

/* The scene's text: bodies, grid, domain. No fills. */
talus_status tl_still_begin(tl_still *s, const char *text, talus_error *err);
void tl_still_end(tl_still *s);

talus_status tl_still_assemble(tl_still *s, talus_error *err); /* up to the operators; velocities are loaded */
talus_status tl_still_solve(tl_still *s, talus_error *err);    /* both */

/* Pressure of the cell that holds a point; NAN where there is none. */
double tl_still_pressure(const tl_still *s, tl_vec3 at);
/* Largest difference of face velocities from `u` over open faces, m/s. */
double tl_still_motion(const tl_still *s, tl_vec3 u);

#endif
