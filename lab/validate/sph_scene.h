/* Scenes for the SPH cases: short Lua texts with numbers put in, run step by step. Shared by the files of this
 * group. */
#ifndef TL_VALIDATE_SPH_SCENE_H
#define TL_VALIDATE_SPH_SCENE_H

#include "lab/validate/case.h"
#include "phase/sim.h"

#define SPH_H 0.02 /* m, spacing of all cases unless they say otherwise */
#define SPH_G 9.81

typedef struct sph_run {
    tl_scene *scene;
    tl_sim *sim;
    double dt;
} sph_run;

/* `text`: a scene, with printf's conversions for the numbers after it. dt: length of steps, s; 0: the engine's. */
talus_status sph_run_begin(sph_run *r, double dt, talus_error *err, const char *text, ...)
    __attribute__((format(printf, 4, 5)));
void sph_run_end(sph_run *r);
/* Goes on until t; `each` (may be NULL) is called after every step. */
talus_status sph_run_until(sph_run *r, double t, void (*each)(void *user, const sph_run *r), void *user,
                           talus_error *err);

static inline const tl_motion *sph_body(const sph_run *r, int i) { return &r->sim->state.rigid.body[i]; }
double sph_tilt_deg(const sph_run *r, int body, tl_vec3 axis); /* of the axis of the body's frame from where it was */

/* Something like it begins every scene of solids: spacing, no inset, and a static plank whose upper face is y = 0. */
#define SPH_HEAD "return scene { talus = 1, engine = 'sph', duration = 100, fps = 10, "
#define SPH_PLANK(half_length)                                                                                         \
    "{ name = 'plank', kind = 'static', shape = box { size = {" half_length                                            \
    ", 0.08, 0.48} }, at = {0, -0.04, 0}, friction = mu }"

#endif
