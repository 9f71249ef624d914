/* Robots from files: URDF and a part of MJCF as links and joints, before they become bodies and joints of a scene.
 *
 * A reader of one format (import_urdf.c, import_mjcf.c) fills links, their connections to what they hang on, and
 * joints, in the frames of the file. import_model.c then does what both need: poses at the start, links that are
 * frames only, what cannot move, masses. Nothing here knows Lua; scene/import.c makes tables of the result.
 *
 * Whatever a reader asks an element for is marked as used; what is left over is what was not understood, and is
 * told with its lines. */
#ifndef TL_SCENE_IMPORT_H
#define TL_SCENE_IMPORT_H

#include "math/pose.h"
#include "scene/scene.h"
#include "scene/xml.h"

#define TL_IMPORT_LINKS 2000
#define TL_IMPORT_NOTES 60
#define TL_IMPORT_WORLD (-1) /* in place of a link: the frame of the file */

typedef enum tl_import_kind {
    TL_IMPORT_BOX,      /* size: full edges */
    TL_IMPORT_SPHERE,   /* size.x: radius */
    TL_IMPORT_CAPSULE,  /* around z; size.x: radius, size.z: length between the centres of its ends */
    TL_IMPORT_CYLINDER, /* around z; size.x: radius, size.z: height */
    TL_IMPORT_MESH,     /* size: factors on the file's lengths */
    TL_IMPORT_PLANE     /* everything below z = 0 */
} tl_import_kind;

typedef struct tl_import_shape {
    const tl_xml *from;
    tl_import_kind kind;
    tl_pose pose; /* in the link's frame */
    tl_vec3 size;
    const char *file;
    double density, mass; /* mass > 0 counts, else the density */
    struct tl_import_shape *next;
} tl_import_shape;

/* How a link hangs on its parent. */
typedef enum tl_import_hold { TL_IMPORT_FREE, TL_IMPORT_FIXED, TL_IMPORT_JOINT } tl_import_hold;

typedef struct tl_import_link {
    const tl_xml *from;
    const char *name;
    int parent; /* link, or TL_IMPORT_WORLD */
    tl_import_hold hold;
    int joint;         /* of TL_IMPORT_JOINT */
    tl_pose in_parent; /* at coordinate 0 */
    double mass, density;
    tl_vec3 centre;  /* of mass, link's frame */
    tl_mat3 inertia; /* about it, link's axes; all 0: that of the shape */
    tl_import_shape *shapes;
    int shape_count;
    double friction, rolling, spinning; /* negative: not given */
    double colour[4];                   /* colour[3] < 0: not given */
    /* resolved: */
    tl_pose pose; /* of the scene's world, at the start */
    int stands;   /* the link whose body this one is part of; TL_IMPORT_WORLD: none, it is a place of the world */
    bool still;   /* cannot move */
    int visit;    /* 0 not yet, 1 under way, 2 done */
} tl_import_link;

typedef struct tl_import_joint {
    const tl_xml *from;
    const char *name;
    tl_joint_kind kind;
    int a, b;             /* links; b may be the world */
    tl_vec3 at;           /* frame of a */
    tl_vec3 axis, axis_b; /* frame of a */
    double start;         /* coordinate at the start */
    bool limited;
    double limits[2];
    double friction;
    tl_motor_kind motor; /* of no force, or to position `target` */
    double target, stiffness, damping, max;
    double effort; /* largest force that the file gives; 0: none */
    int geared[2]; /* gear: the joints whose speeds it couples */
    double ratio;  /* of their speeds */
    bool dropped;  /* told, left out */
} tl_import_joint;

typedef struct tl_import_note {
    int line;
    char text[240];
} tl_import_note;

typedef struct tl_import {
    tl_arena *arena;
    const tl_xml *root;
    int elements;
    /* asked: */
    tl_pose pose; /* of the file's frame in the world */
    double density;
    bool fixed_base;
    /* found: */
    int link_count, joint_count, note_count;
    tl_import_link *link;   /* [TL_IMPORT_LINKS] */
    tl_import_joint *joint; /* [2 TL_IMPORT_LINKS] */
    tl_import_note *note;   /* [TL_IMPORT_NOTES] */
    int line;               /* of a failure */
    talus_error *err;
} tl_import;

/* Read a file's text: URDF when its root is <robot>, MJCF when it is <mujoco>. `m` has the arena and what is asked. On
 * failure m->line says where. */
talus_status tl_import_read(tl_import *m, const char *text, size_t bytes, talus_error *err);

/* ---- for the readers ---- */

talus_status tl_import_urdf(tl_import *m);
talus_status tl_import_mjcf(tl_import *m);

talus_status tl_import_fail(tl_import *m, const tl_xml *e, const char *format, ...) TL_PRINTF(3, 4);
void tl_import_tell(tl_import *m, const tl_xml *e, const char *format, ...) TL_PRINTF(3, 4); /* a note */

talus_status tl_import_add_link(tl_import *m, const tl_xml *e, const char *name, int *out);
talus_status tl_import_add_joint(tl_import *m, const tl_xml *e, const char *name, tl_joint_kind kind, int *out);
talus_status tl_import_add_shape(tl_import *m, tl_import_link *l, const tl_import_shape *s);
int tl_import_find_link(const tl_import *m, const char *name); /* -1: none */
int tl_import_find_joint(const tl_import *m, const char *name);

/* From `low` to `high` numbers out of `text`, which is attribute `name` of e. */
talus_status tl_import_parse(tl_import *m, const tl_xml *e, const char *name, const char *text, int low, int high,
                             double *out, int *count);

static inline tl_pose tl_import_at(tl_vec3 at) { return (tl_pose){at, {1, 0, 0, 0}}; }
static inline tl_pose tl_import_compose(const tl_pose *a, const tl_pose *b) /* b is in the frame a */
{
    return (tl_pose){tl_pose_apply(a, b->at), tl_quat_normalize(tl_quat_mul(a->rotation, b->rotation))};
}

#endif
