/* gmsh reads the surface as a discrete one, keeps its triangles and fills it. It runs in a folder of its own, with
 * no shell between. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "base/timer.h"
#include "geom/tetmesh.h"

extern char **environ;

enum { PATH_ROOM = 1024 };

typedef struct folder {
    char path[PATH_ROOM];
} folder;

static const char *const files[] = {"surface.msh", "volume.geo", "tets.msh", "talk.txt"};

static void file_in(const folder *f, const char *name, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%.900s/%s", f->path, name);
}

static talus_status make_folder(folder *f, talus_error *err)
{
    const char *base = getenv("TMPDIR");
    snprintf(f->path, sizeof f->path, "%.900s/talus-gmsh-XXXXXX", base && *base ? base : "/tmp");
    if (mkdtemp(f->path)) return TALUS_OK;
    return TL_FAIL(err, TALUS_IO, "%.300s: cannot make a folder for gmsh: %s", f->path, strerror(errno));
}

static void remove_folder(const folder *f)
{
    char path[PATH_ROOM];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        file_in(f, files[i], path);
        unlink(path);
    }
    rmdir(f->path);
}

/* Triangles in gmsh's format 2.2, which keeps doubles; a volume with them as its hull. They belong to no physical group
 * (tag 0): where there is one, gmsh saves nothing else. */
static talus_status write_input(const folder *f, const tl_trimesh *s, talus_error *err)
{
    char path[PATH_ROOM];
    file_in(f, "surface.msh", path);
    FILE *out = fopen(path, "w");
    if (!out) return TL_FAIL(err, TALUS_IO, "%.300s: cannot write it: %s", path, strerror(errno));
    tl_c_numbers numbers = tl_c_numbers_begin();
    fprintf(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", s->vertices);
    for (int32_t v = 0; v < s->vertices; v++)
        fprintf(out, "%d %.17g %.17g %.17g\n", v + 1, s->vertex[v].x, s->vertex[v].y, s->vertex[v].z);
    fprintf(out, "$EndNodes\n$Elements\n%d\n", s->triangles);
    for (int32_t t = 0; t < s->triangles; t++)
        fprintf(out, "%d 2 2 0 1 %d %d %d\n", t + 1, s->triangle[t][0] + 1, s->triangle[t][1] + 1,
                s->triangle[t][2] + 1);
    fprintf(out, "$EndElements\n");
    tl_c_numbers_end(numbers);
    bool failed = ferror(out);
    failed |= fclose(out) != 0;
    file_in(f, "volume.geo", path);
    out = fopen(path, "w");
    if (out) {
        fprintf(out, "Merge \"surface.msh\";\nSurface Loop(1) = {1};\nVolume(1) = {1};\n");
        failed |= fclose(out) != 0;
    }
    return failed || !out ? TL_FAIL(err, TALUS_IO, "%.300s: cannot write gmsh's input", f->path) : TALUS_OK;
}

/* The last thing that gmsh said, on one line. */
static void last_words(const folder *f, char *text, size_t room)
{
    char path[PATH_ROOM];
    file_in(f, "talk.txt", path);
    FILE *in = fopen(path, "r");
    size_t n = 0;
    if (in) {
        if (fseek(in, -(long)(room - 1), SEEK_END) != 0) rewind(in);
        n = fread(text, 1, room - 1, in);
        fclose(in);
    }
    text[n] = '\0';
    while (n > 0 && (unsigned char)text[n - 1] <= ' ') text[--n] = '\0';
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
}

static talus_status start(const folder *f, double edge, pid_t *child, talus_error *err)
{
    char geo[PATH_ROOM], out[PATH_ROOM], talk[PATH_ROOM], size[32];
    file_in(f, "volume.geo", geo);
    file_in(f, "tets.msh", out);
    file_in(f, "talk.txt", talk);
    tl_c_numbers numbers = tl_c_numbers_begin();
    snprintf(size, sizeof size, "%.9g", edge);
    tl_c_numbers_end(numbers);
    char *const argv[] = {"gmsh",   "-3", geo,   "-o", out,  "-format", "msh41",
                          "-clmax", size, "-nt", "1",  "-v", "2",       NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, talk, O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP); /* so that its own children end with it */
    int why = posix_spawnp(child, "gmsh", &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (why == 0) return TALUS_OK;
    if (why == ENOENT || why == EACCES)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "there is no program gmsh on PATH: install the Debian package gmsh, or use the built-in mesher "
                       "(--mesher lattice)");
    return TL_FAIL(err, TALUS_IO, "cannot start gmsh: %s", strerror(why));
}

static talus_status wait_for(const folder *f, pid_t child, double seconds, talus_error *err)
{
    double begin = tl_seconds();
    char said[300];
    int status = 0;
    for (pid_t done = 0; done == 0;) {
        done = waitpid(child, &status, WNOHANG);
        if (done < 0 && errno == EINTR) done = 0;
        if (done < 0) return TL_FAIL(err, TALUS_IO, "lost track of gmsh: %s", strerror(errno));
        if (done == 0 && tl_seconds() - begin > seconds) {
            kill(-child, SIGKILL);
            waitpid(child, &status, 0);
            return TL_FAIL(err, TALUS_IO, "gmsh was ended: it took more than %g s", seconds);
        }
        if (done == 0) nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return TALUS_OK;
    last_words(f, said, sizeof said);
    if (WIFSIGNALED(status)) return TL_FAIL(err, TALUS_IO, "gmsh was ended by signal %d: %s", WTERMSIG(status), said);
    return TL_FAIL(err, TALUS_IO, "gmsh failed with status %d: %s", WEXITSTATUS(status),
                   *said ? said : "it said nothing");
}

static talus_status run(const folder *f, const tl_trimesh *surface, double edge, double seconds, tl_tetmesh *out,
                        talus_error *err)
{
    pid_t child;
    char path[PATH_ROOM];
    TL_TRY(write_input(f, surface, err));
    TL_TRY(start(f, edge, &child, err));
    TL_TRY(wait_for(f, child, seconds, err));
    file_in(f, "tets.msh", path);
    if (access(path, R_OK) != 0) {
        char said[300];
        last_words(f, said, sizeof said);
        return TL_FAIL(err, TALUS_IO, "gmsh wrote no mesh: %s", *said ? said : "it said nothing");
    }
    return tl_tetmesh_read(out, path, err);
}

talus_status tl_tetmesh_gmsh(const tl_trimesh *surface, double edge, double seconds, tl_tetmesh *out, talus_error *err)
{
    folder f;
    *out = (tl_tetmesh){0};
    if (!(edge > 0 && edge < INFINITY)) return TL_FAIL(err, TALUS_BAD_INPUT, "edge must be positive, got %g", edge);
    TL_TRY(make_folder(&f, err));
    talus_status status = run(&f, surface, edge, seconds, out, err);
    remove_folder(&f);
    return status;
}
