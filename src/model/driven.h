/* What code changed of a simulation while it ran: bodies that were added and removed, gravity, friction, rates of
 * emitters, numbers of materials. Part of the state, since results depend on it; whoever restores a state applies it
 * to the scene of its simulation (scene/own.h) first. */
#ifndef TL_MODEL_DRIVEN_H
#define TL_MODEL_DRIVEN_H

#include "model/state.h"

typedef enum tl_setting_kind {
    TL_SET_GRAVITY,  /* value: vector; index 0 */
    TL_SET_FRICTION, /* of a body */
    TL_SET_RATE,     /* of an emitter, m^3/s */
    TL_SET_MATERIAL, /* of a material; key: number of the key in the schema of its kind */
    TL_SETTING_KINDS
} tl_setting_kind;

/* 4 int32, 3 doubles: saved and hashed as plain numbers. */
typedef struct tl_setting {
    int32_t kind, index, key, zero;
    double value[3];
} tl_setting;

typedef struct tl_driven {
    int64_t bodies;
    int32_t *origin; /* [bodies] the body of the scene as it was read that each one is, or is a copy of */
    int64_t settings, room;
    tl_setting *setting; /* [settings] ascending by kind, index, key */
} tl_driven;

/* Its section of a state; there in every simulation. */
extern const tl_state_kind tl_driven_kind;
static inline tl_driven *tl_driven_of(const tl_state *s) { return tl_state_find(s, &tl_driven_kind); }

/* Nothing driven yet: every body is its own. */
talus_status tl_driven_begin(tl_driven *out, int32_t bodies, talus_error *err);
/* Replaces what was set before; value NULL: takes it back. On failure nothing has changed. */
talus_status tl_driven_set(tl_driven *d, tl_setting_kind kind, int32_t index, int32_t key, const double value[3],
                           talus_error *err);

#endif
