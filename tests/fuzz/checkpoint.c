/* Any bytes as a checkpoint, with the seal that they ought to have: what is behind it has to hold as well. */
#include <string.h>

#include "fuzz_file.h"
#include "io/checkpoint.h"
#include "io/seal.h"
#include "phase/sim.h"
#include "scene/load.h"

static const char text[] = "return scene { talus = 1, engine = 'grid', duration = 1, bodies = { { kind = 'static', "
                           "shape = plane { height = 0 } },"
                           " { shape = box { size = 0.2 }, at = {0, 0.1, 0}, density = 500 } } }";

/* HDF5 itself leaks what it had made of a file that it then refuses ("infinite loop closing library" when the
 * program ends). */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tl_scene *scene;
    static tl_sim *sim;
    talus_error err = {0};
    if (!scene && (tl_scene_load_text(&scene, "fuzz", text, strlen(text), NULL, &err) != TALUS_OK ||
                   tl_sim_create(&sim, scene, NULL, &err) != TALUS_OK))
        abort();
    const char *path = fuzz_file(data, size);
    (void)tl_seal_write(path, path, &err);
    (void)tl_checkpoint_load(path, &sim->state, scene, sim->rigid.count, NULL, &err);
    return 0;
}
