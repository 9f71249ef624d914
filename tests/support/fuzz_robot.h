/* One input through the XML reader and the readers of robots: links and joints that name each other, or a message with
 * a line of the file. */
#ifndef TL_TESTS_FUZZ_ROBOT_H
#define TL_TESTS_FUZZ_ROBOT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "scene/import.h"

static inline void fuzz_robot(const uint8_t *data, size_t bytes)
{
    const int64_t live = tl_alloc_read().live_blocks;
    int lines = 1;
    for (size_t i = 0; i < bytes; i++) lines += data[i] == '\n';
    tl_arena arena = {0};
    talus_error err = {TALUS_OK, ""};
    tl_import m = {.arena = &arena, .pose = {{0, 0, 0}, {1, 0, 0, 0}}, .density = 1000};
    const talus_status status = tl_import_read(&m, (const char *)data, bytes, &err);
    if (status == TALUS_OK) {
        for (int i = 0; i < m.link_count; i++) {
            const tl_import_link *l = &m.link[i];
            if (!l->name || l->stands >= m.link_count || l->parent >= m.link_count) abort();
            if (!(fabs(tl_quat_norm2(l->pose.rotation) - 1) < 1e-9)) abort();
            if (l->stands == i && !l->still && !(l->mass > 0 || l->density > 0)) abort();
            if (l->stands == i && !l->shape_count) abort();
        }
        for (int i = 0; i < m.joint_count; i++)
            if (!m.joint[i].name || m.joint[i].a < 0 || m.joint[i].a >= m.link_count || m.joint[i].b >= m.link_count)
                abort();
    } else if (status != TALUS_BAD_INPUT || !err.message[0] || m.line < 1 || m.line > lines) {
        abort();
    }
    tl_arena_free(&arena);
    if (tl_alloc_read().live_blocks != live) abort();
}

#endif
