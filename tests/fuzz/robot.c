#include "fuzz_robot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_robot(data, bytes);
    return 0;
}
