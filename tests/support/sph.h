/* SPH models without a time step: a scene, its particles, and everything of one step up to the problem. */
#ifndef TL_TESTS_SPH_H
#define TL_TESTS_SPH_H

#include "model/sph/sph.h"

typedef struct sph_case {
    tl_scene *scene;
    tl_rigid rigid;
    tl_rigid_state motion;
    tl_sph sph;
    tl_sph_state state;
    tl_motion *body;
    double *inv_mass, *friction;
    tl_mat3 *inv_inertia;
    tl_arena arena;
    tl_sph_step step;
    tl_fixedpoint problem;
    double *x, *r; /* [problem.space->n] */
} sph_case;

/* The scene is `return scene { engine = 'sph', duration, fps, text }` after `lua`. */
talus_status sph_try(sph_case *c, const char *lua, const char *text, const tl_sph_options *o, talus_error *err);
sph_case sph_open(const char *lua, const char *text, const tl_sph_options *o);
void sph_close(sph_case *c);

/* begin to system, then the problem; friction of bodies is the scene's at t = 0. */
talus_status sph_try_step(sph_case *c, double dt, talus_error *err);
void sph_step(sph_case *c, double dt);
/* Moves particles and bodies a little, gives all of them velocities; the same for the same seed. */
void sph_shake(sph_case *c, uint64_t seed, double length, double speed);
void sph_random_x(sph_case *c, uint64_t seed, double pressure, double force);

#endif
