#include "io/joint_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 2048 /* longer lines are no rows of ours: names are of 200 letters at most, numbers of 24 */

/* Frame and joint of a row, and whether it is broken: the first, the third and the last number. */
static bool read_row(const char *line, int64_t *frame, int64_t *joint, bool *broken)
{
    char *end;
    const char *last = strrchr(line, ',');
    errno = 0;
    *frame = strtoll(line, &end, 10);
    if (end == line || *end != ',') return false;
    const char *third = strchr(end + 1, ',');
    if (!third || !last || errno) return false;
    *joint = strtoll(third + 1, &end, 10);
    if (end == third + 1 || *end != ',' || errno) return false;
    *broken = last[1] == '1';
    return last[1] == '0' || last[1] == '1';
}

talus_status tl_joint_table_read(const char *path, int joints, int64_t *broke, talus_error *err)
{
    char line[LINE];
    for (int k = 0; k < joints; k++) broke[k] = INT64_MAX;
    FILE *f = fopen(path, "r");
    if (!f) return errno == ENOENT ? TALUS_OK : TL_FAIL(err, TALUS_IO, "cannot read %s: %s", path, strerror(errno));
    while (fgets(line, sizeof line, f)) {
        int64_t frame, joint;
        bool broken;
        if (!strchr(line, '\n') || !read_row(line, &frame, &joint, &broken)) continue; /* the header, too */
        if (broken && joint >= 0 && joint < joints && frame < broke[joint]) broke[joint] = frame;
    }
    const bool bad = ferror(f);
    fclose(f);
    return bad ? TL_FAIL(err, TALUS_IO, "cannot read %s", path) : TALUS_OK;
}
