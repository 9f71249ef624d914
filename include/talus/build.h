/* Scenes without a file: put together by calls, checked by the same rules as files.
 *
 *     talus_build *b = talus_build_create();
 *     talus_build_number(b, "duration", 2);
 *     int brick = talus_build_box(b, (double[]){0.4, 0.1, 0.4});
 *     talus_body_spec body = talus_body_spec_default();
 *     body.shape = brick, body.density = 700;
 *     talus_build_body(b, &body);
 *     talus_status status = talus_build_finish(b, NULL, &scene, &err);
 *
 * Calls do not fail one by one: what was wrong with any of them is told by talus_build_finish, with the words that a
 * file would get ("bodies[3].density must be > 0, got -2"). Behind it is a scene file that grows by a line per call;
 * talus_build_text shows it. Keys and their units are those of docs/scene-reference.md. */
#ifndef TALUS_BUILD_H
#define TALUS_BUILD_H

#include <math.h>
#include <talus/export.h>
#include <talus/scene.h>
#include <talus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct talus_build talus_build;

TALUS_API talus_build *talus_build_create(void); /* engine "grid", nothing in it; NULL: no memory */
TALUS_API void talus_build_free(talus_build *build);
/* The scene so far. More may be added afterwards, for another one. Kinematic bodies need no motion:
 * talus_sim_set_pose moves them. */
TALUS_API talus_status talus_build_finish(talus_build *build, const talus_scene_options *options, talus_scene **out,
                                          talus_error *err);
/* The same as a scene file, for `talus run`; valid until the next call. Lines of messages count here. */
TALUS_API const char *talus_build_text(talus_build *build);

/* ---- keys of the scene: "engine", "gravity", "dt_max", "domain.friction", "solver.contact.method", ... ---- */

TALUS_API void talus_build_number(talus_build *build, const char *key, double value);
TALUS_API void talus_build_numbers(talus_build *build, const char *key, int count, const double *value);
TALUS_API void talus_build_flag(talus_build *build, const char *key, int value);
TALUS_API void talus_build_word(talus_build *build, const char *key, const char *value);

/* ---- shapes: each call gives a number to use below, -1 when something was wrong ---- */

TALUS_API int talus_build_box(talus_build *build, const double size[3]);
TALUS_API int talus_build_sphere(talus_build *build, double radius);
TALUS_API int talus_build_capsule(talus_build *build, const double from[3], const double to[3], double radius);
TALUS_API int talus_build_cylinder(talus_build *build, double radius, double height); /* around y */
TALUS_API int talus_build_plane(talus_build *build, double height);                   /* everything below it */
TALUS_API int talus_build_half_space(talus_build *build, const double normal[3], const double point[3]);
TALUS_API int talus_build_mesh(talus_build *build, const char *path, double scale); /* closed: .obj, .ply, .stl */
TALUS_API int talus_build_union(talus_build *build, int count, const int *shapes);
TALUS_API int talus_build_intersect(talus_build *build, int count, const int *shapes);
TALUS_API int talus_build_subtract(talus_build *build, int count, const int *shapes); /* the first without the others */
/* Turned (w x y z; NULL: not), then moved. */
TALUS_API int talus_build_place(talus_build *build, int shape, const double at[3], const double rotation[4]);
/* Any other, in the scene language: "torus { radius = 0.2, tube = 0.05 }". */
TALUS_API int talus_build_shape(talus_build *build, const char *text);

/* ---- things ---- */

#define TALUS_NOT_GIVEN (-HUGE_VAL) /* the scene's default, or the material's */

typedef struct talus_material_spec {
    const char *kind; /* "solid", "granular", "liquid", "viscous", "elastic" */
    const char *name; /* NULL: none */
    double density;   /* the numbers: TALUS_NOT_GIVEN unless set */
    double friction, restitution, friction_angle_deg, viscosity, surface_tension, young, poisson, opacity;
    double rolling_friction, spinning_friction; /* m; solid */
    const char *colour;                         /* "#c9a66b"; NULL: the kind's */
    const char *keys;                           /* more, in the scene language: "model = 'arap'"; NULL: none */
} talus_material_spec;
TALUS_API talus_material_spec talus_material_spec_default(void);
TALUS_API int talus_build_material(talus_build *build, const talus_material_spec *material);
TALUS_API int talus_build_preset(talus_build *build, const char *name); /* "dry sand", ... */

typedef struct talus_body_spec {
    const char *name;                           /* NULL: "body 3" */
    const char *kind;                           /* "free", "kinematic", "static" */
    int shape;                                  /* must be set */
    int material;                               /* -1: none */
    double at[3], rotation[4];                  /* of the shape's frame; w x y z */
    double velocity[3], spin[3];                /* free bodies: of the centre of mass, rad/s */
    double density, mass;                       /* a free body needs one of them, or a material */
    double friction, restitution;               /* TALUS_NOT_GIVEN: the material's, else 0.5 and 0 */
    double rolling_friction, spinning_friction; /* m: torque over normal force; the same, else 0 */
    const char *colour;                         /* NULL: a colour is chosen */
    const char *keys; /* more, in the scene language: "force = function(t) return {0, t, 0} end" */
} talus_body_spec;
TALUS_API talus_body_spec talus_body_spec_default(void);
TALUS_API int talus_build_body(talus_build *build, const talus_body_spec *body); /* its index in the simulation */

/* Friction and bounce of one pair: names of materials or bodies, or "walls". TALUS_NOT_GIVEN leaves a value to the
 * rule. */
TALUS_API void talus_build_contact(talus_build *build, const char *one, const char *other, double friction,
                                   double restitution);
/* The same with friction against rolling and spinning, m. */
typedef struct talus_pair_spec {
    const char *one, *other; /* must be set */
    double friction, restitution, rolling_friction, spinning_friction;
} talus_pair_spec;
TALUS_API talus_pair_spec talus_pair_spec_default(void);
TALUS_API void talus_build_pair(talus_build *build, const talus_pair_spec *pair);
TALUS_API void talus_build_fill(talus_build *build, int material, int shape, const double velocity[3]);
/* The box that holds the world, for engines without a grid. */
TALUS_API void talus_build_domain(talus_build *build, const double min[3], const double max[3]);

#ifdef __cplusplus
}
#endif
#endif
