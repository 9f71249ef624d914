#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <talus/program.h>
#include <talus/scene.h>
#include <unistd.h>

#include "commands.h"

#define SCENES_MAX 256
#define PATH_ROOM 4096

typedef struct entry {
    char name[64], path[PATH_ROOM];
} entry;

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

bool cli_scenes_folder(const char *below, char *path, size_t room)
{
    char program[PATH_ROOM];
    const char *given = getenv("TALUS_SCENES");
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    char *slash = strrchr(program, '/');
    if (slash) *slash = 0;
    /* as the user says; beside the build folder of a clone; where an installation has them */
    for (int i = 0; i < 3; i++) {
        if (i == 0 && !given) continue;
        snprintf(path, room, "%.3000s%s%s%s", i == 0 ? given : program,
                 i == 0   ? ""
                 : i == 1 ? "/../scenes"
                          : "/../share/talus/scenes",
                 *below ? "/" : "", below);
        if (is_folder(path)) return true;
    }
    return false;
}

bool cli_is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

bool cli_find_scene(const char *word, char *path, size_t room)
{
    char folder[1024];
    snprintf(path, room, "%s", word);
    if (cli_is_file(path)) return true;
    if (strpbrk(word, "/.") || !cli_scenes_folder("", folder, sizeof folder)) return false;
    snprintf(path, room, "%s/%s/%s.lua", folder, word, word);
    if (cli_is_file(path)) return true;
    snprintf(path, room, "%s/%s.lua", folder, word);
    return cli_is_file(path);
}

static int by_name(const void *a, const void *b) { return strcmp(((const entry *)a)->name, ((const entry *)b)->name); }

/* scenes/NAME.lua and scenes/NAME/NAME.lua */
static int find_scenes(const char *folder, entry *list)
{
    DIR *dir = opendir(folder);
    int n = 0;
    if (!dir) return 0;
    for (struct dirent *d; (d = readdir(dir)) && n < SCENES_MAX;) {
        entry *e = &list[n];
        size_t length = strlen(d->d_name);
        if (d->d_name[0] == '.' || length >= sizeof e->name || strlen(folder) + 2 * length + 8 > sizeof e->path)
            continue;
        bool file = length > 4 && !strcmp(d->d_name + length - 4, ".lua");
        snprintf(e->name, sizeof e->name, "%.*s", (int)(file ? length - 4 : length), d->d_name);
        if (file)
            snprintf(e->path, sizeof e->path, "%.3800s/%s.lua", folder, e->name);
        else
            snprintf(e->path, sizeof e->path, "%.3800s/%s/%s.lua", folder, e->name, e->name);
        if (access(e->path, R_OK) == 0) n++;
    }
    closedir(dir);
    qsort(list, (size_t)n, sizeof *list, by_name);
    return n;
}

static talus_scene *load(const entry *e, const char *shapes)
{
    talus_error err;
    talus_scene *scene;
    talus_scene_options o = talus_scene_options_default();
    o.shapes_folder = shapes;
    if (talus_scene_load(e->path, &o, &scene, &err) == TALUS_OK) return scene;
    fprintf(stderr, "talus scenes: %s\n", err.message);
    return NULL;
}

static void print_minutes(const talus_scene *s, char *text, size_t room)
{
    if (talus_scene_minutes(s) > 0)
        snprintf(text, room, "%g", talus_scene_minutes(s));
    else
        snprintf(text, room, "-");
}

static int longest_name(const entry *list, int n)
{
    size_t longest = 4;
    for (int i = 0; i < n; i++)
        if (strlen(list[i].name) > longest) longest = strlen(list[i].name);
    return (int)longest;
}

static int list_all(const entry *list, int n, const char *shapes)
{
    const int width = longest_name(list, n);
    int bad = 0;
    printf("%-*s  minutes  what it shows [figure that it reproduces]\n", width, "name");
    for (int i = 0; i < n; i++) {
        talus_scene *s = load(&list[i], shapes);
        if (!s) {
            bad++;
            continue;
        }
        char minutes[32];
        print_minutes(s, minutes, sizeof minutes);
        printf("%-*s  %7s  %s", width, cli_plain(list[i].name), minutes,
               cli_plain(*talus_scene_about(s) ? talus_scene_about(s) : talus_scene_title(s)));
        if (*talus_scene_figure(s)) printf(" [%s]", cli_plain(talus_scene_figure(s)));
        putchar('\n');
        talus_scene_free(s);
    }
    return bad ? 1 : 0;
}

static int show_one(const entry *e, const char *shapes)
{
    talus_scene *s = load(e, shapes);
    if (!s) return 2;
    char line[256];
    printf("%s: %s\n  %s\n  file %s\n", cli_plain(e->name), cli_plain(talus_scene_title(s)),
           cli_plain(talus_scene_about(s)), cli_plain(e->path));
    if (*talus_scene_figure(s)) printf("  figure %s\n", cli_plain(talus_scene_figure(s)));
    if (talus_scene_minutes(s) > 0) printf("  about %g minutes on two cores\n", talus_scene_minutes(s));
    for (int i = 0; talus_scene_summary(s, i, line, sizeof line); i++) printf("  %s\n", cli_plain(line));
    talus_scene_free(s);
    return 0;
}

static void tell_near(const char *word, const entry *list, int n)
{
    const char *names[SCENES_MAX + 1] = {0};
    for (int i = 0; i < n; i++) names[i] = list[i].name;
    const char *near = talus_nearest_name(word, names);
    if (near) fprintf(stderr, "; did you mean '%s'?", near);
    fprintf(stderr, "%s 'talus scenes' lists them\n", near ? "" : ";");
}

int cli_no_scene(const char *command, const char *word)
{
    static entry list[SCENES_MAX];
    char folder[PATH_ROOM];
    bool own = cli_scenes_folder("", folder, sizeof folder);
    fprintf(stderr, "talus %s: no file '%s', and no scene of that name", command, cli_plain(word));
    tell_near(word, list, own ? find_scenes(folder, list) : 0);
    return 2;
}

int cli_scenes(int argc, char **argv)
{
    const char *word = NULL;
    bool help = false;
    const cli_option options[] = {{NULL, NULL, NULL, NULL}};
    int status = cli_read_options(argc, argv, options, 1, &word, &help);
    if (status) return status;
    if (help) {
        printf("Usage: talus scenes [NAME]\n\nThe scenes that come with talus: what each shows, which figure, expected "
               "minutes on two cores.\n"
               "TALUS_SCENES names another folder of scenes.\n");
        return 0;
    }
    static entry list[SCENES_MAX];
    char folder[PATH_ROOM], shapes[PATH_ROOM];
    if (!cli_scenes_folder("", folder, sizeof folder)) {
        fprintf(stderr, "talus scenes: found no folder of scenes; TALUS_SCENES can name one\n");
        return 1;
    }
    bool has_shapes = cli_scenes_folder("shapes", shapes, sizeof shapes);
    int n = find_scenes(folder, list);
    if (!word) return list_all(list, n, has_shapes ? shapes : NULL);
    for (int i = 0; i < n; i++)
        if (!strcmp(list[i].name, word)) return show_one(&list[i], has_shapes ? shapes : NULL);
    fprintf(stderr, "talus scenes: no scene '%s'", cli_plain(word));
    tell_near(word, list, n);
    return 2;
}
