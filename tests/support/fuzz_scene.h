/* One input through the scene reader: a scene whose functions can be called, or problems with messages; nothing left
 * behind.
 *
 * The first byte chooses what is put around the rest, so that the fuzzer meets the inside of tables and constructors
 * soon. */
#ifndef TL_TESTS_FUZZ_SCENE_H
#define TL_TESTS_FUZZ_SCENE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "scene/load.h"

static const char *const fuzz_around[][2] = {
    {"", ""},
    {"return scene { talus = 1, engine = 'grid', duration = 1, grid = { cells = {4, 4, 4}, cell = 0.25 }, ", "}"},
    {"return scene { talus = 1, engine = 'sph', duration = 1, sph = { spacing = 0.1 }, bodies = { { shape = sphere { "
     "radius = 1 }, ",
     "} } }"},
    {"local s = ", " return scene { talus = 1, engine = 'lg', duration = 1, bodies = { { density = 1, shape = s } } }"},
    {"return scene { talus = 1, engine = 'lg', duration = 1, bodies = { { shape = box { size = 1 }, motion = "
     "function(t) ",
     " end } } }"},
    {"local m = ", " return scene { talus = 1, engine = 'grid', duration = 1, grid = { cells = {4, 4, 4}, cell = 0.25 "
                   "}, fill = { { material = m, shape = plane { height = 0.5 } } } }"},
};
#define FUZZ_AROUND ((int)(sizeof fuzz_around / sizeof *fuzz_around))

static void fuzz_problem(void *user, const char *file, int line, bool note, const char *text)
{
    int *errors = user;
    *errors += !note;
    if (!*text || strchr(text, '\n') || line < 0 || !*file) abort();
}

static inline void fuzz_scene(const uint8_t *data, size_t bytes)
{
    int kind = bytes && data[0] >= '0' && data[0] < '0' + FUZZ_AROUND ? data[0] - '0' : 0;
    size_t skip = bytes && data[0] >= '0' && data[0] < '0' + FUZZ_AROUND, head = strlen(fuzz_around[kind][0]),
           tail = strlen(fuzz_around[kind][1]);
    char *text = malloc(head + bytes + tail + 1);
    if (!text) abort();
    memcpy(text, fuzz_around[kind][0], head);
    if (bytes > skip) memcpy(text + head, data + skip, bytes - skip);
    memcpy(text + head + bytes - skip, fuzz_around[kind][1], tail + 1);

    int64_t live = tl_alloc_read().live_blocks;
    int errors = 0;
    talus_error err = {TALUS_OK, ""};
    tl_scene *s;
    tl_load_options o = {.no_files = true, .units = 100000, .problem = fuzz_problem, .problem_user = &errors};
    talus_status status = tl_scene_load_text(&s, "input", text, head + bytes - skip + tail, &o, &err);
    free(text);
    if ((status == TALUS_OK) != (errors == 0) ||
        (status != TALUS_OK && (s || status != TALUS_BAD_INPUT || !err.message[0])))
        abort();
    if (s) {
        for (int i = 0; i < s->body_count; i++) {
            double pose[7];
            if (s->bodies[i].shape < 0) abort();
            if (s->bodies[i].motion >= 0) tl_scene_evaluate(s, s->bodies[i].motion, 0.1, pose, 7, &err);
        }
        for (int i = 0; i < s->fill_count; i++)
            if (s->fills[i].material < 0 || s->fills[i].material >= s->material_count || s->fills[i].shape < 0) abort();
    }
    tl_scene_free(s);
    if (tl_alloc_read().live_blocks != live) abort();
}

#endif
