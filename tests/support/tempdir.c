#include "tempdir.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tl_tempdir_create(char path[TL_TEMPDIR_MAX])
{
    const char *base = getenv("TMPDIR");
    snprintf(path, TL_TEMPDIR_MAX - 6, "%s/talus-test-", base && *base ? base : "/tmp");
    size_t length = strlen(path);
    memset(path + length, 'X', 6); /* what mkdtemp replaces */
    path[length + 6] = '\0';
    if (!mkdtemp(path)) {
        perror(path);
        abort();
    }
}

/* Visits the files; removes them on request. */
static int visit(const char *path, int remove_them)
{
    int count = 0;
    DIR *d = opendir(path);
    if (!d) return 0;
    for (struct dirent *e; (e = readdir(d));) {
        char file[TL_TEMPDIR_MAX + 300];
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        count++;
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        if (remove_them && unlink(file) != 0) tl_tempdir_remove(file);
    }
    closedir(d);
    return count;
}

int tl_tempdir_files(const char *path) { return visit(path, 0); }

void tl_tempdir_remove(const char *path)
{
    visit(path, 1);
    rmdir(path);
}
