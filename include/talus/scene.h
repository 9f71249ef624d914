/* Scenes: read a file, get every problem explained, ask what is in it.
 *
 * A scene is a Lua file (docs/scene-reference.md). It runs in a sandbox: no files, no system, limits on work and
 * memory. A loaded scene is good: every value is checked, in SI units, defaults filled in. */
#ifndef TALUS_SCENE_H
#define TALUS_SCENE_H

#include <talus/export.h>
#include <talus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct talus_scene talus_scene;

/* One problem. line 0: not a place in a file (a setting). note 1: worth knowing, but the scene is good. */
typedef void (*talus_problem_fn)(void *user, const char *file, int line, int note, const char *text);

typedef struct talus_scene_options {
    const char *size; /* "small" or "paper": the variable `size` of the scene */
    int settings;
    const char *const *setting; /* "grid.cell=0.1", "bodies[2].density=500", "height=0.5" for a parameter */
    const char *shapes_folder;  /* where shape_file looks after the scene's own folder; NULL: nowhere else */
    const char *mesh_folder;    /* where mesh files may lie besides the scene's folder; NULL: nowhere else */
    talus_problem_fn problem;   /* every problem, in the order of the file; NULL: only the first, in err */
    void *problem_user;
    talus_log_fn print; /* what the scene prints; NULL: nowhere */
    void *print_user;
    int driven; /* 1: kinematic bodies may come without a motion, because the program moves them (talus_sim_set_pose) */
} talus_scene_options;

TALUS_API talus_scene_options talus_scene_options_default(void);

/* With any problem that is not a note: TALUS_BAD_INPUT, err holds the first one, *out is NULL. */
TALUS_API talus_status talus_scene_load(const char *path, const talus_scene_options *options, talus_scene **out,
                                        talus_error *err);
/* The same from a text. name: for messages, and its folder is where files are looked for ("." without a slash);
 * NULL: no files. */
TALUS_API talus_status talus_scene_load_text(const char *text, const char *name, const talus_scene_options *options,
                                             talus_scene **out, talus_error *err);
TALUS_API void talus_scene_free(talus_scene *scene);

/* What is in it. Texts live as long as the scene; "" when not given. */
TALUS_API const char *talus_scene_title(const talus_scene *scene);
TALUS_API const char *talus_scene_about(const talus_scene *scene);
TALUS_API const char *talus_scene_figure(const talus_scene *scene);
TALUS_API double talus_scene_minutes(const talus_scene *scene); /* expected on two cores; 0: not said */
TALUS_API const char *talus_scene_engine(const talus_scene *scene);
TALUS_API double talus_scene_duration(const talus_scene *scene);
TALUS_API double talus_scene_fps(const talus_scene *scene);
typedef enum talus_scene_part {
    TALUS_PART_BODIES,
    TALUS_PART_FILLS,
    TALUS_PART_EMITTERS,
    TALUS_PART_MATERIALS,
    TALUS_PART_CONTACTS,
    TALUS_PART_FUNCTIONS,
    TALUS_PART_SHAPES
} talus_scene_part;
TALUS_API int talus_scene_count(const talus_scene *scene, talus_scene_part part);
TALUS_API const char *talus_scene_body_name(const talus_scene *scene, int body);
/* One line on an aspect of the scene ("grid 64 x 64 x 64 cells of 15.6 mm"), i = 0, 1, ... until it returns 0. */
TALUS_API int talus_scene_summary(const talus_scene *scene, int i, char *text, int room);

/* The page docs/scene-reference.md, from the same table that reads scenes. */
TALUS_API void talus_scene_reference(void (*write)(void *user, const char *text), void *user);

#ifdef __cplusplus
}
#endif
#endif
