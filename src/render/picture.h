/* What a picture is made of, as plain data: things with their looks, lights, a camera, a legend.
 *
 * A picture owns its arrays; the tl_picture_add_* functions copy what they are given. Lengths are metres,
 * y is up, colours are linear. Nothing here traces a ray (render.h) or knows scenes (scene_picture.h). */
#ifndef TL_RENDER_PICTURE_H
#define TL_RENDER_PICTURE_H

#include <stddef.h>

#include "geom/trimesh.h"
#include "render/colour.h"

/* How a surface looks: diffuse under a clear coat (index 1.5), or thin glass. Both sides of a sheet (cloth) look the
 * same. */
typedef struct tl_look {
    tl_colour colour; /* of diffuse light; of glass, its tint at one passage */
    float roughness;  /* of the coat, (0, 1); 1: no coat, plain matte */
    float opacity;    /* 1: solid. Below 1: thin glass that lets 1 - opacity of the light through, tinted, unbent */
} tl_look;
tl_look tl_look_matte(tl_colour colour);
tl_look tl_look_glossy(tl_colour colour, float roughness);
tl_look tl_look_glass(void);

/* Another colour where a distance, linear over each triangle, is negative: eyes, beaks. */
#define TL_PAINTS_MAX 16
typedef struct tl_picture_paint {
    float *distance; /* [vertices], m */
    tl_colour colour;
    float roughness; /* as in a look */
} tl_picture_paint;

/* A surface that is kept once and shown by any number of instances. */
typedef struct tl_picture_mesh {
    int32_t vertices, triangles;
    tl_vec3 *vertex;
    tl_vec3 *normal; /* per vertex, unit; NULL: flat triangles */
    int32_t (*triangle)[3];
    int32_t owner; /* whatever the maker knows it by; -1: nothing */
    float *value;  /* NULL or [vertices]: a field, coloured as the legend says, under all paint */
    int paints;
    tl_picture_paint paint[TL_PAINTS_MAX]; /* later ones lie over earlier ones */
} tl_picture_mesh;

typedef struct tl_picture_instance {
    int mesh;
    tl_mat3 linear; /* p -> linear p + at; invertible */
    tl_vec3 at;
    tl_look look;
    int32_t owner; /* whatever the maker knows it by; -1: nothing */
    bool hidden;   /* not drawn */
    bool aside;    /* drawn, but the automatic camera does not care for it */
} tl_picture_instance;

/* Particles. Colour by particle, by a field through a map, or the look's colour, in this order. */
typedef struct tl_picture_spheres {
    int32_t count;
    const tl_vec3 *at;
    double radius;
    const tl_colour *colour;  /* NULL or [count] */
    const float *value;       /* NULL or [count] */
    const tl_colour_map *map; /* NULL: the first one */
    float lo, hi;             /* values at the ends of the map */
    tl_look look;
} tl_picture_spheres;

typedef struct tl_picture_ground {
    bool present;
    double height;          /* m, where x and z are 0 */
    tl_vec3 normal;         /* unit, upward; all 0: straight up */
    tl_colour colour, line; /* line: of the grid */
    double cell;            /* edge of the grid, m; 0: plain */
    double fade;            /* distance from the centre of things at which the ground is all background; 0: automatic */
} tl_picture_ground;

typedef struct tl_picture_light {
    tl_vec3 sun;                      /* towards the sun, any length */
    tl_colour sun_irradiance;         /* on a surface that faces it */
    double sun_radius_deg;            /* angular radius: how soft shadows are */
    tl_colour zenith, horizon, nadir; /* radiance of the sky, by height of the direction */
} tl_picture_light;

typedef struct tl_picture_camera {
    bool automatic;      /* framed from the bounds, along `view` */
    tl_vec3 view;        /* automatic: from the centre of things towards the eye, any length */
    tl_vec3 eye, target; /* else */
    tl_vec3 up;
    double fov_deg; /* vertical */
    double zoom;    /* automatic: 1 fits everything with a margin, 2 is twice as near */
} tl_picture_camera;

typedef struct tl_picture_legend {
    bool present;
    char title[64]; /* "speed (m/s)" */
    const tl_colour_map *map;
    double lo, hi;
    bool follows; /* hi is the largest value of meshes, picture by picture */
} tl_picture_legend;

typedef struct tl_picture {
    int meshes, instances, clouds;
    tl_picture_mesh *mesh;
    tl_picture_instance *instance;
    tl_picture_spheres *cloud;
    tl_picture_ground ground;
    tl_picture_light light;
    tl_picture_camera camera;
    tl_colour top, bottom; /* background behind everything, at the upper and lower edge */
    bool bottom_is_ground; /* bottom := the lit ground, so that the horizon vanishes */
    tl_picture_legend legend;
    char caption[128]; /* lower left; "" for none */
    tl_box3 subject;   /* what the automatic camera frames; empty: everything that is not aside */
} tl_picture;

/* Studio defaults: bright ground, warm sun from the upper left, soft sky, automatic camera. */
void tl_picture_begin(tl_picture *p);
void tl_picture_free(tl_picture *p); /* leaves {0} */

/* Returns the mesh's number or -1 with a message. smooth_deg: vertex normals are averaged over triangles that meet
 * within this angle of each other (vertices on sharper edges are doubled); 0: flat; 180: all smooth. */
int tl_picture_add_mesh(tl_picture *p, const tl_trimesh *m, double smooth_deg, talus_error *err);
/* The same from arrays as they are; normal may be NULL. Indices are checked. */
int tl_picture_add_triangles(tl_picture *p, int32_t vertices, const tl_vec3 *vertex, const tl_vec3 *normal,
                             int32_t triangles, const int32_t (*triangle)[3], talus_error *err);
/* distance: one per vertex of p->mesh[mesh] (creases have doubled some). At most TL_PAINTS_MAX per mesh. */
talus_status tl_picture_add_paint(tl_picture *p, int mesh, const float *distance, tl_colour colour, float roughness,
                                  talus_error *err);
talus_status tl_picture_add_instance(tl_picture *p, int mesh, tl_mat3 linear, tl_vec3 at, tl_look look,
                                     talus_error *err);

/* Arrays are copied. Positions must be finite and the radius > 0. */
talus_status tl_picture_add_spheres(tl_picture *p, const tl_picture_spheres *s, talus_error *err);

void tl_picture_clear_clouds(tl_picture *p); /* without particles, as before the first */

/* An open-topped tank: its twelve edges, and four sheets of glass if wanted. The bottom is left to the ground. */
talus_status tl_picture_add_tank(tl_picture *p, tl_box3 inside, bool glass, talus_error *err);
/* A box as 12 flat triangles; the mesh's number or -1. */
int tl_picture_add_box(tl_picture *p, tl_box3 box, talus_error *err);

/* Bounds of all that is drawn; empty (lo > hi) when there is nothing. */
tl_box3 tl_picture_bounds(const tl_picture *p);
/* The subject's box, given or found; never empty. */
tl_box3 tl_picture_subject(const tl_picture *p);

/* The camera in force: as given, or framed so that the subject is inside the frame with a margin. */
typedef struct tl_lens {
    tl_vec3 eye, right, up, forward; /* orthonormal */
    double half_height;              /* tan(fov / 2) */
    double aspect;                   /* width / height */
} tl_lens;
tl_lens tl_lens_of(const tl_picture *p, int width, int height);
tl_vec3 tl_lens_ray(const tl_lens *c, double x, double y); /* x, y in [0,1] from the upper left corner; unit */

#endif
