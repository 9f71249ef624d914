/* Any bytes as a captured problem, with the seal that they ought to have. */
#include "io/capture.h"
#include "fuzz_file.h"
#include "io/seal.h"

/* HDF5 itself leaks what it had made of a file that it then refuses ("infinite loop closing library" when the
 * program ends). */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    talus_error err = {0};
    tl_captured *c;
    const char *path = fuzz_file(data, size);
    (void)tl_seal_write(path, path, &err);
    if (tl_capture_load(path, &c, &err) == TALUS_OK) tl_captured_free(c);
    return 0;
}
