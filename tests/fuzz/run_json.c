/* Any bytes as the record of a run. */
#include "io/run_json.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    talus_error err = {0};
    tl_run_record r;
    if (tl_run_json_read(&r, fuzz_file(data, size), &err) == TALUS_OK) tl_run_record_free(&r);
    return 0;
}
