#include "render/mp4.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/replace.h"

extern char **environ;

struct tl_mp4 {
    tl_replace file;
    pid_t child;
    int frames, talk; /* socket to ffmpeg; pipe from its stderr */
    int width, height;
};

/* The program in PATH; false when there is none. */
static bool find_program(const char *name, char *out, size_t room)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        int length = snprintf(out, room, "%.*s/%s", (int)n, n ? path : ".", name);
        if (length > 0 && (size_t)length < room && access(out, X_OK) == 0) return true;
        path += n + (path[n] == ':');
    }
    return false;
}

bool tl_mp4_available(void)
{
    char path[4096];
    return find_program("ffmpeg", path, sizeof path);
}

static int spawn(tl_mp4 *f, const char *program, int in, int talk, double fps)
{
    char size[32], rate[32];
    snprintf(size, sizeof size, "%dx%d", f->width, f->height);
    snprintf(rate, sizeof rate, "%ld/1000", lround(1000 * fps));
    char *argv[] = {"ffmpeg",    "-y",         "-nostdin", "-loglevel", "error",      "-f", "rawvideo", "-pix_fmt",
                    "rgb24",     "-s",         size,       "-r",        rate,         "-i", "pipe:0",   "-an",
                    "-c:v",      "libx264",    "-preset",  "medium",    "-crf",       "18", "-pix_fmt", "yuv420p",
                    "-movflags", "+faststart", "-f",       "mp4",       f->file.temp, NULL};
    posix_spawn_file_actions_t a;
    int why = posix_spawn_file_actions_init(&a);
    if (why) return why;
    why = posix_spawn_file_actions_adddup2(&a, in, 0);
    if (!why) why = posix_spawn_file_actions_addopen(&a, 1, "/dev/null", O_WRONLY, 0);
    if (!why) why = posix_spawn_file_actions_adddup2(&a, talk, 2);
    if (!why) why = posix_spawn(&f->child, program, &a, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&a);
    return why;
}

/* Sockets and pipes that other children do not inherit. */
static int open_ends(int frames[2], int talk[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, frames) != 0) return errno;
    if (pipe(talk) != 0) {
        int why = errno;
        close(frames[0]);
        close(frames[1]);
        return why;
    }
    for (int i = 0; i < 2; i++) fcntl(frames[i], F_SETFD, FD_CLOEXEC), fcntl(talk[i], F_SETFD, FD_CLOEXEC);
    fcntl(talk[1], F_SETFL, O_NONBLOCK); /* much talk is lost rather than waited for */
    fcntl(talk[0], F_SETFL, O_NONBLOCK);
    return 0;
}

static talus_status start(tl_mp4 *f, const char *program, double fps, talus_error *err)
{
    int frames[2], talk[2];
    int why = open_ends(frames, talk);
    if (!why) {
        why = spawn(f, program, frames[0], talk[1], fps);
        close(frames[0]);
        close(talk[1]);
        if (why) close(frames[1]), close(talk[0]);
    }
    if (why) return TL_FAIL(err, TALUS_IO, "%s: cannot start %s: %s", f->file.path, program, strerror(why));
    f->frames = frames[1];
    f->talk = talk[0];
    return TALUS_OK;
}

talus_status tl_mp4_begin(tl_mp4 **out, const char *path, int width, int height, double fps, talus_error *err)
{
    *out = NULL;
    if (width < 2 || height < 2 || width > TL_IMAGE_SIDE_MAX || height > TL_IMAGE_SIDE_MAX || width % 2 || height % 2)
        return TL_FAIL(err, TALUS_BAD_INPUT, "a film of %d x %d pixels: sides must be even, from 2 to %d", width,
                       height, TL_IMAGE_SIDE_MAX);
    if (!(fps >= 0.1 && fps <= 1000))
        return TL_FAIL(err, TALUS_BAD_INPUT, "frames per second must be from 0.1 to 1000, got %g", fps);
    char program[4096];
    if (!find_program("ffmpeg", program, sizeof program))
        return TL_FAIL(err, TALUS_UNSUPPORTED, "no ffmpeg in PATH, so %s is not written; on Debian: apt install ffmpeg",
                       path);
    tl_mp4 *f = TL_NEW_ZERO(tl_mp4, 1);
    if (!f) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write %s", path);
    f->width = width;
    f->height = height;
    talus_status status = tl_replace_begin(&f->file, path, err);
    if (status == TALUS_OK) status = start(f, program, fps, err);
    if (status != TALUS_OK) {
        tl_replace_discard(&f->file);
        tl_free(f);
        return status;
    }
    *out = f;
    return TALUS_OK;
}

talus_status tl_mp4_frame(tl_mp4 *f, const tl_image *m, talus_error *err)
{
    if (m->width != f->width || m->height != f->height)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s: a frame of %d x %d pixels in a film of %d x %d", f->file.path,
                       m->width, m->height, f->width, f->height);
    const char *p = (const char *)m->rgb;
    size_t left = 3 * (size_t)m->width * (size_t)m->height;
    while (left > 0) {
        ssize_t n = send(f->frames, p, left, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return TL_FAIL(err, TALUS_IO, "%s: ffmpeg stopped listening: %s", f->file.path, strerror(errno));
        p += n;
        left -= (size_t)n;
    }
    return TALUS_OK;
}

/* First line that ffmpeg said. */
static void hear(int talk, char *text, size_t room)
{
    ssize_t n = read(talk, text, room - 1);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
}

static int wait_for(pid_t child)
{
    int code;
    while (waitpid(child, &code, 0) < 0)
        if (errno != EINTR) return -1;
    return code;
}

talus_status tl_mp4_end(tl_mp4 *f, talus_error *err)
{
    char said[160];
    close(f->frames);
    int code = wait_for(f->child);
    hear(f->talk, said, sizeof said);
    close(f->talk);
    talus_status status;
    if (code == 0) {
        status = tl_replace_commit(&f->file, err);
    } else {
        status = TL_FAIL(err, TALUS_IO, "%s: ffmpeg failed (%s %d)%s%s", f->file.path,
                         WIFSIGNALED(code) ? "signal" : "exit status",
                         WIFSIGNALED(code) ? WTERMSIG(code) : WEXITSTATUS(code), said[0] ? ": " : "", said);
        tl_replace_discard(&f->file);
    }
    tl_free(f);
    return status;
}

void tl_mp4_discard(tl_mp4 *f)
{
    if (!f) return;
    kill(f->child, SIGKILL);
    close(f->frames);
    close(f->talk);
    (void)wait_for(f->child);
    tl_replace_discard(&f->file);
    tl_free(f);
}
