/* Pictures: what a scene looks like at its start, and what a shape looks like.
 *
 * The renderer is a small path tracer. The same input gives the same bytes, for any number of threads. */
#ifndef TALUS_RENDER_H
#define TALUS_RENDER_H

#include <talus/export.h>
#include <talus/scene.h>
#include <talus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct talus_render_options {
    int width, height; /* pixels; 0: the scene's, else 1280 x 720 */
    int samples;       /* rays per pixel; 0: the scene's, else 16 */
    const char *view;  /* talus_render_view; NULL: the scene's camera, else "corner" */
    int plain;         /* 1: no denoising */
    int sheet;         /* 1: six views on one contact sheet, each of width x height before it is shrunk */
    int turn;          /* frames of a film that goes around once at 25 per second; `output` is then an .mp4
                                         (needs the ffmpeg program) or a name with one % for numbered PNG files; 0: no film */
    const talus_scene_options *scene; /* how the scene is read; NULL: the defaults */
    /* Called now and then with the share that is done, 0 to 1. Not 0 stops: TALUS_INTERRUPTED. May be NULL. */
    int (*progress)(void *user, double done);
    void *user;
} talus_render_options;

TALUS_API talus_render_options talus_render_options_default(void);

/* Points of view by name, i = 0, 1, ... until NULL. */
TALUS_API const char *talus_render_view(int i);

/* input: a Lua file that returns a scene or a shape, or a triangle mesh (.obj, .ply, .stl). The picture goes to
 * `output`, a PNG, which is complete or absent; see `turn` for films. */
TALUS_API talus_status talus_render_file(const char *input, const char *output, const talus_render_options *options,
                                         talus_error *err);

#ifdef __cplusplus
}
#endif
#endif
