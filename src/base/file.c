#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* errno when something is there, but not a regular file. No call above gives it for a file. */
#define NOT_A_FILE EMEDIUMTYPE

const char *tl_file_reason(void)
{
    if (errno == NOT_A_FILE) return "it is not a regular file";
    return errno == ELOOP ? "it is a link, which is not followed here" : strerror(errno);
}

/* The descriptor itself when it is of a regular file; else it is closed. */
static int keep_file(int fd)
{
    struct stat s;
    if (fd < 0 || (fstat(fd, &s) == 0 && S_ISREG(s.st_mode))) return fd;
    close(fd);
    errno = S_ISDIR(s.st_mode) ? EISDIR : NOT_A_FILE;
    return -1;
}

FILE *tl_file_reader(const char *path)
{
    int fd =
        keep_file(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)); /* a pipe without a writer does not wait */
    FILE *f = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (fd >= 0 && !f) close(fd);
    return f;
}

int tl_file_open(const char *path, int flags)
{
    int fd = keep_file(open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666));
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), why = errno;
    close(fd);
    errno = why;
    return higher;
}

bool tl_file_is_folder(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

bool tl_file_is_link(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && S_ISLNK(s.st_mode);
}
