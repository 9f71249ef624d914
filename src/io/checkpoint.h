/* A whole state in one HDF5 file, complete or absent: what a run goes on from, bit for bit.
 *
 * Arrays are those of tl_state_parts under their names, items in a row ("bodies/motion": count x width numbers).
 * Attributes: format, version, talus, compiler, blas_core, scene_file, scene_hash, settings, t, step, frame,
 * dt_next, state_hash (hashes as hexadecimal text). Of a run of several processes also the attribute `processes` and
 * the array "processes/cut". */
#ifndef TL_IO_CHECKPOINT_H
#define TL_IO_CHECKPOINT_H

#include "base/log.h"
#include "model/driven.h"
#include "model/state.h"

/* settings: how the scene was read, for the message when another one is found at loading; NULL: not known. */
talus_status tl_checkpoint_save(const char *path, const tl_state *s, const tl_scene *scene, const char *settings,
                                talus_error *err);

/* Of a run of several parts, with how it was cut among them: numbers that its engine knows (phase/sim.h). */
typedef struct tl_checkpoint_cut {
    int64_t parts, count; /* parts 1, count 0: of one */
    int64_t *number;      /* [count] */
} tl_checkpoint_cut;
talus_status tl_checkpoint_save_cut(const char *path, const tl_state *s, const tl_scene *scene, const char *settings,
                                    const tl_checkpoint_cut *cut, talus_error *err);
/* out->number [room] has it when it fits; out->count tells how long it is. */
talus_status tl_checkpoint_read_cut(const char *path, int64_t room, tl_checkpoint_cut *out, talus_error *err);

/* Into a state that was begun from the same scene; `bodies` is tl_rigid.count, walls included. Refused: a damaged
 * file, another format, another scene or other settings (by hash), other counts of what is fixed, values that are
 * not finite, indices out of range, a state whose hash differs. The state is touched only when all is good. Another
 * build or other BLAS kernels (then bits may differ) are a warning in `log`, which may be NULL. */
talus_status tl_checkpoint_load(const char *path, tl_state *s, const tl_scene *scene, int32_t bodies, const tl_log *log,
                                talus_error *err);
/* What code had changed when it was saved (model/driven.h): to be applied to the scene before the state is loaded. *out
 * is to be freed by tl_driven_kind.free whatever is returned. */
talus_status tl_checkpoint_driven(const char *path, const tl_scene *scene, tl_driven *out, talus_error *err);

/* What a state that came from outside must hold: times, rotations of unit length, every index within its bounds. */
talus_status tl_checkpoint_check(const tl_state *s, const tl_scene *scene, int32_t bodies, const char *path,
                                 talus_error *err);

#endif
