#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "scene/read.h"

talus_status tl_file_resolve(const char *folder, const char *name, char *path, size_t room, talus_error *err)
{
    char joined[PATH_MAX], base[PATH_MAX], full[PATH_MAX];
    if (snprintf(joined, sizeof joined, "%s/%s", folder, name) >= (int)sizeof joined)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the path is too long");
    if (!realpath(folder, base))
        return TL_FAIL(err, TALUS_IO, "cannot read the folder %s: %s", folder, strerror(errno));
    if (!realpath(joined, full)) return TL_FAIL(err, TALUS_IO, "cannot read %s: %s", joined, strerror(errno));
    size_t n = strlen(base);
    if (n == 1) n = 0; /* the root folder */
    if (strncmp(full, base, n) || full[n] != '/')
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s lies outside of the folder %s", joined, folder);
    if (strlen(full) + 1 > room) return TL_FAIL(err, TALUS_BAD_INPUT, "the path is too long");
    memcpy(path, full, strlen(full) + 1);
    return TALUS_OK;
}

talus_status tl_file_read(const char *path, char **text, size_t *bytes, talus_error *err)
{
    *text = NULL;
    FILE *f = tl_file_reader(path);
    if (!f) return TL_FAIL(err, TALUS_IO, "cannot read %s: %s", path, tl_file_reason());
    char *block = tl_alloc(TL_SOURCE_BYTES + 1);
    size_t n = block ? fread(block, 1, TL_SOURCE_BYTES + 1, f) : 0;
    int failed = block && ferror(f) ? errno : 0;
    fclose(f);
    if (block && !failed && n <= TL_SOURCE_BYTES) {
        *text = block;
        *bytes = n;
        return TALUS_OK;
    }
    tl_free(block);
    if (!block) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to read %s", path);
    if (failed) return TL_FAIL(err, TALUS_IO, "cannot read %s: %s", path, strerror(failed));
    return TL_FAIL(err, TALUS_BAD_INPUT, "%s has more than %zu bytes, which no scene needs", path, TL_SOURCE_BYTES);
}
