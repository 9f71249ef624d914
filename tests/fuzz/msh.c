#include "fuzz_tetmesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_tetmesh(tl_tetmesh_read_msh, data, bytes);
    return 0;
}
