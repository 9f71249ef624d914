/* A state as bytes in memory, for programs that go back often: what a checkpoint holds, without a file. Good for the
 * same build of the library and the same scene; checked like a checkpoint when it is read. */
#ifndef TL_IO_SNAPSHOT_H
#define TL_IO_SNAPSHOT_H

#include "model/driven.h"
#include "model/state.h"

size_t tl_snapshot_bytes(const tl_state *s);
/* out: room for tl_snapshot_bytes. */
void tl_snapshot_write(const tl_state *s, const tl_scene *scene, void *out);
/* On failure the state is as it was. bodies: of tl_rigid, walls included. */
talus_status tl_snapshot_read(const void *data, size_t bytes, tl_state *s, const tl_scene *scene, int32_t bodies,
                              talus_error *err);
/* What code had changed when it was made. *out is to be freed by tl_driven_kind.free whatever is returned. */
talus_status tl_snapshot_driven(const void *data, size_t bytes, const tl_scene *scene, tl_driven *out,
                                talus_error *err);

#endif
