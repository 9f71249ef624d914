#include "fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_mesh(tl_trimesh_read_obj, data, bytes);
    return 0;
}
