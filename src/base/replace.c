#ifdef __linux__
#define _GNU_SOURCE /* syncfs */
#endif
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

static void forget(tl_replace *r)
{
    tl_free(r->path);
    tl_free(r->temp);
    *r = (tl_replace){0};
}

/* A name that nobody uses; mode 0666 so that the umask decides, as for any output. */
static talus_status claim(tl_replace *r, size_t room, talus_error *err)
{
    for (int k = 0; k < 1000; k++) {
        snprintf(r->temp, room, "%s.part-%ld-%d", r->path, (long)getpid(), k);
        int fd = open(r->temp, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
        if (fd >= 0) {
            close(fd);
            return TALUS_OK;
        }
        if (errno != EEXIST) break;
    }
    return TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", r->path, strerror(errno));
}

/* A pipe or a device of that name would be gone after the rename. */
static bool is_other_thing(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && !S_ISREG(s.st_mode);
}

talus_status tl_replace_begin(tl_replace *r, const char *path, talus_error *err)
{
    *r = (tl_replace){0};
    if (is_other_thing(path))
        return TL_FAIL(err, TALUS_IO, "%s: cannot write it: it is there and not a regular file", path);
    size_t length = strlen(path), room = length + 48; /* ".part-", a process id, a number */
    *r = (tl_replace){TL_NEW(char, length + 1), TL_NEW(char, room)};
    if (!r->path || !r->temp) {
        forget(r);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write %s", path);
    }
    memcpy(r->path, path, length + 1);
    talus_status status = claim(r, room, err);
    if (status != TALUS_OK) forget(r);
    return status;
}

static _Thread_local bool is_later;

void tl_replace_later(bool later) { is_later = later; }

talus_status tl_replace_sync(const char *path, talus_error *err)
{
    int failed = 0;
#ifdef __linux__
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    failed = fd < 0 || syncfs(fd) != 0;
    const int why = errno;
    if (fd >= 0) close(fd);
    errno = why;
#else
    sync();
#endif
    return failed ? TL_FAIL(err, TALUS_IO, "%s: cannot sync its disk: %s", path, strerror(errno)) : TALUS_OK;
}

static int sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0) return -1;
    int result = fsync(fd), why = errno;
    close(fd);
    errno = why;
    return result;
}

/* The rename itself must survive a power cut. File systems that refuse to sync a folder are let off. */
static void sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash) slash[slash == path] = '\0';
    (void)sync_path(slash ? path : ".", O_RDONLY | O_DIRECTORY);
}

talus_status tl_replace_commit(tl_replace *r, talus_error *err)
{
    talus_status status = TALUS_OK;
    if (!is_later && sync_path(r->temp, O_RDWR) != 0)
        status = TL_FAIL(err, TALUS_IO, "%s: cannot sync it: %s", r->path, strerror(errno));
    else if (rename(r->temp, r->path) != 0)
        status = TL_FAIL(err, TALUS_IO, "%s: cannot rename %s to it: %s", r->path, r->temp, strerror(errno));
    if (status != TALUS_OK)
        unlink(r->temp);
    else if (!is_later)
        sync_folder(r->path);
    forget(r);
    return status;
}

void tl_replace_discard(tl_replace *r)
{
    if (r->temp) unlink(r->temp);
    forget(r);
}
