/* What a talus_sim is: the simulation, its own copy of the scene, and what the public functions keep beside it. */
#ifndef TL_API_SIM_OWN_H
#define TL_API_SIM_OWN_H

#include <stdatomic.h>
#include <sys/types.h>
#include <talus/sim.h>

#include "phase/sim.h"

typedef struct tl_looked tl_looked; /* api/views.c: arrays that were made for views */

struct talus_sim {
    tl_sim *sim;
    tl_scene *scene;        /* what sim runs: the simulation's own (scene/own.h) */
    const tl_scene *source; /* as it was read; not owned */
    uint64_t generation;
    tl_looked *looked;
    pid_t process; /* that made it */
    atomic_bool stop;
    bool inside;                  /* a callback of it is being called */
    bool dying;                   /* that callback freed it: it goes once the call in progress has ended */
    atomic_uintptr_t user_thread; /* in a call of it: api/sim.c; 0: none */
    talus_step_fn before, after;
    void *user;
};

/* In use by this thread, until `tl_sim_unuse`; {NULL}: by a call further out. */
typedef struct tl_use {
    talus_sim *sim;
} tl_use;
/* A simulation may be used by the process that made it, since threads of loops do not come along with fork, and waiting
 * for them would be for ever; and by one thread at a time. Callbacks of a step find it in use by their own thread. */
talus_status tl_sim_use(tl_use *out, const talus_sim *s, const char *function, talus_error *err);
void tl_sim_unuse(tl_use *u); /* may free it, when a callback asked for that */
/* Not from a callback of its own: what would change the simulation under the feet of the step. */
talus_status tl_need_outside(const talus_sim *s, const char *function, talus_error *err);
/* First in a public function, which uses the simulation until it returns, wherever it does. */
#define TL_NEED_SIM(s)                                                                                                 \
    TL_NEED(s);                                                                                                        \
    __attribute__((cleanup(tl_sim_unuse))) tl_use use_ = {NULL};                                                       \
    TL_TRY(tl_sim_use(&use_, s, __func__, err))

talus_status tl_looked_create(tl_looked **out, talus_error *err);
void tl_looked_free(tl_looked *l);   /* NULL is fine */
void tl_looked_forget(tl_looked *l); /* surfaces of bodies that are others now */

/* ---- api/rebuild.c: a simulation made anew around its state ---- */

struct tl_driven;
/* The scene as it was read with these bodies and settings. */
talus_status tl_sim_scene_for(const talus_sim *s, const struct tl_driven *driven, tl_scene **out, talus_error *err);
/* An elastic body that begins, and how. */
typedef struct tl_arrival {
    int32_t body;           /* of the new scene */
    tl_pose place;          /* of the shape's frame */
    tl_vec3 velocity, spin; /* of the centre of mass, m/s; rad/s */
} tl_arrival;
/* A fresh simulation of `scene`, which it then owns, takes the place of the one in `s`, with its state: `from` [bodies
 * of the new] is the body of now that each of the new ones goes on from, -1: it begins; NULL: the same bodies.
 * arrival: NULL: no elastic one begins. On failure nothing has changed and `scene` is freed. */
talus_status tl_sim_replace(talus_sim *s, tl_scene *scene, const struct tl_driven *driven, const int32_t *from,
                            const tl_arrival *arrival, talus_error *err);
/* For a state that is to be restored: a fresh simulation with the bodies and materials that it was made with, and its
 * scene. Both NULL: the one that is there will do. */
talus_status tl_sim_match(const talus_sim *s, const struct tl_driven *driven, tl_sim **out, tl_scene **scene,
                          talus_error *err);
void tl_sim_take_over(talus_sim *s, tl_sim *fresh, tl_scene *scene);
/* What is driven, written into the simulation's scene: gravity, friction, rates. */
void tl_sim_apply(talus_sim *s);

#endif
