#include "run/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define NAMES_MAX 10000 /* runs/NAME-2 to runs/NAME-9999 */

static const char *const parts[] = {"frames", "images", "checkpoints"};

void tl_folder_file(const tl_folder *f, const char *name, char out[TL_PATH_ROOM])
{
    snprintf(out, TL_PATH_ROOM, "%s/%.100s", f->path, name);
}

static talus_status cannot(const char *path, const char *what, talus_error *err)
{
    return TL_FAIL(err, TALUS_IO, "%.300s: cannot %s it: %s", path, what, strerror(errno));
}

/* One that may be there already. */
static talus_status make_folder(const char *path, talus_error *err)
{
    struct stat s;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &s) == 0 && S_ISDIR(s.st_mode))) return TALUS_OK;
    return cannot(path, "make", err);
}

/* frames/ and the like: a link would lead out of the run's folder. */
talus_status tl_folder_make_part(const char *path, talus_error *err)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && tl_file_is_folder(path))) return TALUS_OK;
    if (errno == EEXIST)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%.300s is %s: a run writes to a folder of its own there", path,
                       tl_file_is_link(path) ? "a link" : "not a folder");
    return cannot(path, "make", err);
}

/* With the folders above it. */
static talus_status make_folders(const char *path, talus_error *err)
{
    char part[TL_FOLDER_ROOM];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        TL_TRY(make_folder(part, err));
        *slash = '/';
    }
    return make_folder(part, err);
}

/* ---- which one ---- */

static void numbered(char out[TL_FOLDER_ROOM], const char *name, int k)
{
    if (k == 1)
        snprintf(out, TL_FOLDER_ROOM, "runs/%.200s", name);
    else
        snprintf(out, TL_FOLDER_ROOM, "runs/%.200s-%d", name, k);
}

/* The last that is there: numbers have no gaps but those that the user made. */
static bool find_last(char out[TL_FOLDER_ROOM], const char *name)
{
    char path[TL_FOLDER_ROOM];
    bool found = false;
    for (int k = 1, missing = 0; k < NAMES_MAX && missing < 10; k++) {
        numbered(path, name, k);
        missing = tl_file_is_folder(path) ? 0 : missing + 1;
        if (missing) continue;
        memcpy(out, path, sizeof path);
        found = true;
    }
    return found;
}

static talus_status choose(char out[TL_FOLDER_ROOM], const char *asked, const char *name, bool resume, talus_error *err)
{
    if (asked) {
        size_t length = strlen(asked);
        if (length == 0 || length >= TL_FOLDER_ROOM - 64)
            return TL_FAIL(err, TALUS_BAD_INPUT, "the name of the run's folder must have 1 to %d bytes, got %zu",
                           TL_FOLDER_ROOM - 65, length);
        snprintf(out, TL_FOLDER_ROOM, "%s", asked);
        while (length > 1 && out[length - 1] == '/') out[--length] = '\0';
        return make_folders(out, err);
    }
    if (resume && find_last(out, name)) return TALUS_OK;
    TL_TRY(make_folder("runs", err));
    for (int k = 1; k < NAMES_MAX; k++) {
        numbered(out, name, k);
        if (mkdir(out, 0777) == 0) return TALUS_OK;
        if (errno != EEXIST) return cannot(out, "make", err);
    }
    return TL_FAIL(err, TALUS_BAD_INPUT, "runs/%.200s to %.200s are all there: remove some, or name a folder with -o",
                   name, out);
}

/* ---- whose it is ---- */

static talus_status lock_folder(tl_folder *f, talus_error *err)
{
    f->lock = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->lock < 0) return cannot(f->path, "open", err);
    /* file systems that cannot lock are let off */
    if (flock(f->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT, "%s: another run is at work in this folder", f->path);
}

static const char *const ours[] = {"run.json",   "steps.csv",   "bodies.csv",    "holds.csv",
                                   "joints.csv", "history.csv", "checkpoint.h5", "run.pvd"};

static bool is_one_of(const char *name, size_t length, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == length && !strncmp(name, list[i], length)) return true;
    return false;
}
#define IS_ONE_OF(name, length, list) is_one_of((name), (length), (list), sizeof(list) / sizeof *(list))

/* Digits, at least one; returns what follows, NULL: none. */
static const char *skip_digits(const char *text)
{
    size_t n = strspn(text, "0123456789");
    return n ? text + n : NULL;
}

/* The number in GROUP-NNNN.ENDING of a file that runs write, which ends at `length`; -1: another file. */
static int64_t frame_of(const char *name, size_t length)
{
    static const struct {
        const char *group, *ending;
    } frames[] = {{"bodies-", ".vtp"}, {"contacts-", ".vtp"}, {"joints-", ".vtp"}, {"particles-", ".vtp"},
                  {"nodes-", ".vtp"},  {"frame-", ".png"},    {"frame-", ".h5"}};
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        size_t group = strlen(frames[i].group), ending = strlen(frames[i].ending);
        const char *end = strncmp(name, frames[i].group, group) ? NULL : skip_digits(name + group);
        if (!end || (size_t)(end - name) + ending != length || strncmp(end, frames[i].ending, ending)) continue;
        errno = 0;
        long long frame = strtoll(name + group, NULL, 10);
        return errno ? INT64_MAX : frame;
    }
    return -1;
}

/* NAME.part-PID-K, where NAME is a file that runs write: half of one, after a kill. */
static bool is_part(const char *name)
{
    static const char mark[] = ".part-";
    static const char *const pictures[] = {"sheet.png", "film.mp4"};
    const char *at = strstr(name, mark), *end = at ? skip_digits(at + strlen(mark)) : NULL;
    if (!end || *end != '-' || !(end = skip_digits(end + 1)) || *end) return false;
    size_t length = (size_t)(at - name);
    const char *step = strncmp(name, "step-", 5) ? NULL : skip_digits(name + 5);
    return IS_ONE_OF(name, length, ours) || IS_ONE_OF(name, length, pictures) || frame_of(name, length) >= 0 ||
           (step && step + 3 == at && !strncmp(step, ".h5", 3));
}

/* Whether frames/, images/ or checkpoints/ holds anything but halves of files of ours. What is no folder of our own
 * does. */
static bool holds_anything(const tl_folder *f, const char *part)
{
    char path[TL_PATH_ROOM];
    tl_folder_file(f, part, path);
    DIR *dir = tl_file_is_folder(path) ? opendir(path) : NULL;
    bool any = !dir;
    for (struct dirent *d; dir && !any && (d = readdir(dir));)
        any = strcmp(d->d_name, ".") && strcmp(d->d_name, "..") && !is_part(d->d_name);
    if (dir) closedir(dir);
    return any;
}

/* Names a file that no run writes, when there is one; counts what a run may have left. */
static talus_status look_inside(const tl_folder *f, int *files, char foreign[64], talus_error *err)
{
    DIR *dir = opendir(f->path);
    *files = 0;
    foreign[0] = '\0';
    if (!dir) return cannot(f->path, "read", err);
    for (struct dirent *d; (d = readdir(dir));) {
        if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..") || is_part(d->d_name)) continue;
        size_t length = strlen(d->d_name);
        bool known = IS_ONE_OF(d->d_name, length, ours), part = IS_ONE_OF(d->d_name, length, parts);
        *files += known;
        if (part ? holds_anything(f, d->d_name) : !known) snprintf(foreign, 64, part ? "%.60s/" : "%.63s", d->d_name);
    }
    closedir(dir);
    return TALUS_OK;
}

static talus_status check_owner(tl_folder *f, bool resume, talus_error *err)
{
    char foreign[64], record[TL_PATH_ROOM];
    int files;
    TL_TRY(look_inside(f, &files, foreign, err));
    tl_folder_file(f, "run.json", record);
    bool is_run = access(record, F_OK) == 0;
    f->fresh = !is_run;
    if (resume ? is_run : !files && !foreign[0] && !is_run) return TALUS_OK;
    if (is_run)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "%s holds a run already: go on with it by --resume, or name another folder with -o", f->path);
    if (!files && !foreign[0]) return TALUS_OK; /* killed before it wrote anything */
    return TL_FAIL(err, TALUS_BAD_INPUT,
                   "%s holds other files (%s): it is not the folder of a run, name another with -o", f->path,
                   foreign[0] ? foreign : "tables without a run.json");
}

talus_status tl_folder_open(tl_folder *f, const char *asked, const char *name, bool resume, talus_error *err)
{
    *f = (tl_folder){.lock = -1};
    TL_TRY(choose(f->path, asked, name, resume, err));
    talus_status status = lock_folder(f, err);
    if (status == TALUS_OK) status = check_owner(f, resume, err);
    for (int i = 0; i < 2 && status == TALUS_OK; i++) {
        char path[TL_PATH_ROOM];
        tl_folder_file(f, parts[i], path);
        status = tl_folder_make_part(path, err);
    }
    if (status != TALUS_OK) tl_folder_close(f);
    return status;
}

void tl_folder_close(tl_folder *f)
{
    if (f->lock >= 0) close(f->lock);
    f->lock = -1;
}

/* ---- what is taken away ---- */

/* By names alone, and only where the folder itself is ours: nothing behind a link is touched. */
static talus_status clean_one(const char *folder, int64_t frame, talus_error *err)
{
    if (tl_file_is_link(folder))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%.300s is a link: nothing is removed there", folder);
    DIR *dir = opendir(folder);
    if (!dir) return errno == ENOENT ? TALUS_OK : cannot(folder, "read", err);
    talus_status status = TALUS_OK;
    for (struct dirent *d; status == TALUS_OK && (d = readdir(dir));) {
        if (!is_part(d->d_name) && frame_of(d->d_name, strlen(d->d_name)) <= frame) continue;
        char path[TL_PATH_ROOM + 300];
        snprintf(path, sizeof path, "%s/%.255s", folder, d->d_name);
        if (unlink(path) != 0 && errno != ENOENT) status = cannot(path, "remove", err);
    }
    closedir(dir);
    return status;
}

talus_status tl_folder_clean(const tl_folder *f, int64_t frame, talus_error *err)
{
    TL_TRY(clean_one(f->path, INT64_MAX, err)); /* halves of files only */
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char path[TL_PATH_ROOM];
        tl_folder_file(f, parts[i], path);
        TL_TRY(clean_one(path, frame, err));
    }
    return TALUS_OK;
}
