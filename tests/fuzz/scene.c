#include "fuzz_scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_scene(data, bytes);
    return 0;
}
