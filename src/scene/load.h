/* Reading a scene: file or text in, validated tl_scene out, every problem reported with its place. */
#ifndef TL_SCENE_LOAD_H
#define TL_SCENE_LOAD_H

#include "scene/scene.h"

#define TL_LOAD_UNITS 10000000 /* instructions and eights of bytes; 600 blocks take half a million */

/* One problem of the file. line 0: not a place in a file (a --set). note: worth knowing, but the scene is good. */
typedef void (*tl_problem_fn)(void *user, const char *file, int line, bool note, const char *text);

typedef struct tl_load_options {
    tl_size size;
    int setting_count;
    const char *const *setting; /* "grid.cell=0.1", "bodies[2].density=500", "height=0.5" */
    const char *shapes_folder;  /* where shape_file looks after the scene's own folder; may be NULL */
    const char *mesh_folder;    /* where mesh files may be besides the scene's folder; may be NULL */
    bool shape_only;            /* the file returns a shape, not a scene: tl_scene.root */
    bool shape_too;             /* the file may return either */
    bool no_files;              /* text from nowhere: no shape or mesh files */
    bool driven;                /* kinematic bodies need no motion: the program moves them */
    int64_t units;              /* work that the script may do; 0: TL_LOAD_UNITS */
    tl_problem_fn problem;      /* may be NULL: only the first problem is told, in err */
    void *problem_user;
    talus_log_fn print; /* the script's print() */
    void *print_user;
} tl_load_options;

/* Problems are told in the order of the file. With any that is not a note: bad input, err holds the first, *out is
 * NULL. */
talus_status tl_scene_load(tl_scene **out, const char *path, const tl_load_options *o, talus_error *err);
talus_status tl_scene_load_text(tl_scene **out, const char *name, const char *text, size_t bytes,
                                const tl_load_options *o, talus_error *err);

#endif
