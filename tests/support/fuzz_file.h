/* A fuzz input as a file that readers can open by its path. */
#ifndef TL_TEST_FUZZ_FILE_H
#define TL_TEST_FUZZ_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[] = "/tmp/talus-fuzz-XXXXXX";
    static int fd = -1;
    if (fd < 0) {
        fd = mkstemp(path);
        if (fd < 0) abort();
    }
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size) abort();
    return path;
}

#endif
