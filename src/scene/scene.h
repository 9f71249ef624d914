/* What the user asked for: a scene as plain data, validated, in SI units, defaults filled in.
 *
 * Reading (scene/load.h) fills this from a Lua file through the schema (scene/schema.h); afterwards nothing here
 * changes. Motions, forces, friction and emission may be functions of time: they stay in Lua behind handles and are
 * read by tl_scene_evaluate, once per step. What a value means is written in the schema's help texts, and so in
 * docs/scene-reference.md; comments here say what that page does not.
 *
 * Engines, models and the renderer take their numbers from here and nowhere else. */
#ifndef TL_SCENE_SCENE_H
#define TL_SCENE_SCENE_H

#include "base/arena.h"
#include "geom/shape.h"
#include "math/quat.h"

#define TL_SCENE_VERSION 1 /* a scene states it: talus = 1 */

#define TL_ENGINE(NAME, name) TL_ENGINE_##NAME,
typedef enum tl_engine {
#include "scene/engines.def"
    TL_ENGINES
} tl_engine;
#undef TL_ENGINE
const char *tl_engine_name(tl_engine e); /* as in scenes */
typedef enum tl_size { TL_SIZE_SMALL, TL_SIZE_PAPER } tl_size;

/* Where in the user's files something was written, for messages. file: owned by the scene. */
typedef struct tl_where {
    const char *file;
    int line;
} tl_where;

/* A number or vector that may be a function of time. function < 0: constant, in value (a number in value[0]). */
#define TL_NO_FUNCTION (-1)
typedef struct tl_timed {
    int function;
    double value[3];
} tl_timed;

typedef enum tl_material_kind {
    TL_MATERIAL_GRANULAR,
    TL_MATERIAL_LIQUID,
    TL_MATERIAL_VISCOUS,
    TL_MATERIAL_ELASTIC,
    TL_MATERIAL_SOLID
} tl_material_kind;
typedef enum tl_elastic_model {
    TL_ELASTIC_STABLE_NEO_HOOKEAN, /* grid engine */
    TL_ELASTIC_NEO_HOOKEAN,        /* lg engine: ln J form */
    TL_ELASTIC_ARAP,
    TL_ELASTIC_COROTATED,
    TL_ELASTIC_STABLE_NEO_HOOKEAN_NOLOG /* grid engine, for comparison */
} tl_elastic_model;

/* Fields that a kind does not have are 0. */
/* Friction of sand on a plane, from its angle: sine (Mohr's circle, and the slope that heaps keep) or tangent (a
 * layer slips at that slope). */
typedef enum tl_angle_meaning { TL_ANGLE_CONE, TL_ANGLE_SLOPE } tl_angle_meaning;

typedef struct tl_material {
    tl_where where;
    const char *name; /* "" when the scene gives none */
    tl_material_kind kind;
    double density;            /* kg/m^3, > 0 */
    double friction_angle_deg; /* granular: internal friction */
    int angle_means;           /* tl_angle_meaning of it */
    double dynamic_friction_angle_deg, grain_size,
        inertial_number;    /* granular, mu(I): 0: as measured; m, 0: one friction for all rates; I0 */
    double cohesion;        /* granular: Pa */
    double viscosity;       /* Pa s */
    double surface_tension; /* N/m */
    double young, poisson;  /* Pa, - */
    tl_elastic_model model;
    double damping;                             /* elastic, s: viscous stress over that of the strain, per rate */
    tl_timed friction;                          /* elastic, solid: Coulomb coefficient, see tl_scene_pair */
    double restitution;                         /* elastic, solid */
    double rolling_friction, spinning_friction; /* solid, m */
    tl_vec3 colour;                             /* sRGB, each in [0,1] */
    double opacity;
} tl_material;

typedef enum tl_scene_sampling { TL_SCENE_LATTICE, TL_SCENE_JITTER, TL_SCENE_BLUE_NOISE } tl_scene_sampling;

typedef struct tl_fill {
    tl_where where;
    int material, shape; /* material index, shape node in world coordinates */
    tl_vec3 velocity;
    double spacing; /* m between particles; 0: the engine's own */
    tl_scene_sampling sampling;
} tl_fill;

typedef struct tl_emitter {
    tl_where where;
    int material, shape;
    tl_timed velocity; /* vector */
    tl_timed rate;     /* m^3/s */
    double start, stop;
    double spacing;
} tl_emitter;

typedef enum tl_mixture { TL_MIXTURE_NONE, TL_MIXTURE_MUD } tl_mixture;

/* What limits the shear of sand along a solid: the sand's own friction, or that of the solid where it is less. */
typedef enum tl_sand_friction { TL_SAND_FRICTION_MATERIAL, TL_SAND_FRICTION_OWN } tl_sand_friction;

typedef enum tl_body_kind { TL_BODY_FREE, TL_BODY_KINEMATIC, TL_BODY_STATIC } tl_body_kind;

/* World point of a point p of the shape: at + rotation p rotation*. The shape's origin need not be its centre of
 * mass. */
typedef struct tl_body {
    tl_where where;
    const char *name; /* unique; "body 3" when the scene gives none */
    tl_body_kind kind;
    int shape;    /* node, body frame */
    int material; /* elastic or solid; -1: none, the body's own density and friction hold */
    tl_vec3 at;
    tl_quat rotation;
    tl_vec3 velocity, spin; /* m/s at the centre of mass; rad/s, world frame */
    double density, mass;   /* exactly one is > 0 for a free body; both may be 0 otherwise */
    /* In place of those of the shape, body frame; has_inertia, has_center: given. */
    tl_vec3 center_of_mass;
    tl_vec3 inertia, inertia_products; /* kg m^2 about the centre of mass: xx, yy, zz; xy, xz, yz of the matrix */
    bool has_inertia, has_center;
    tl_timed friction;
    int sand_friction; /* tl_sand_friction */
    bool liquid_slip;  /* viscous liquid slips along it */
    double restitution;
    double rolling_friction, spinning_friction; /* m */
    int motion;             /* pose function (7 numbers: at, then rotation w x y z), or TL_NO_FUNCTION */
    tl_timed force, torque; /* N at the centre of mass, N m; world frame */
    tl_timed pressure;      /* Pa, elastic: along the normals of its surface */
    int pressure_in;        /* shape, body frame: of that part alone; < 0: of all */
    tl_vec3 colour;
    double opacity;
    int anchor;  /* elastic bodies: nodes inside of this shape (body frame) follow the pose; -1: none */
    double edge; /* elastic bodies: wanted edge of the tetrahedra, m; 0: from the shape's feature size */
    /* elastic bodies; cloth only in the lg engine: */
    int cells[3];             /* of a box: regular cells; all 0: meshed by edge */
    int element;              /* of cells: 0 hexahedra, 1 tetrahedra */
    double thickness;         /* m; > 0: a cloth, the middle plane of a flat box */
    int bending;              /* tl_bending_kind */
    double bending_stiffness; /* N m; negative: from the material and the thickness */
    double anchor_weight;     /* N/m per node; 0: 20 mu times the mean edge */
    bool self_contact;
} tl_body;

typedef enum tl_bending_kind { TL_BENDING_HINGE, TL_BENDING_RING, TL_BENDING_NONE } tl_bending_kind;

/* Nodes of an elastic body that are led by a pose of their own. */
typedef struct tl_handle {
    tl_where where;
    const char *body; /* name */
    int shape;        /* which nodes: those inside, world coordinates at the start */
    tl_vec3 at;       /* what the motion's rotation turns about, at the start */
    int motion;       /* pose function, or TL_NO_FUNCTION: held where they are */
    double weight;    /* N/m per node; 0: 20 mu times the mean edge */
} tl_handle;

/* A line through an elastic body whose length is given: sum of the distances between its points. */
typedef struct tl_cable_path {
    int count;   /* >= 2 */
    tl_vec3 *at; /* world coordinates at the start */
} tl_cable_path;
typedef struct tl_cable {
    tl_where where;
    const char *body; /* name */
    tl_cable_path path;
    tl_timed length;   /* m; negative: as long as at the start */
    double compliance; /* m/N */
    bool two_sided;    /* pushes as well */
} tl_cable;

/* Nodes of an elastic body that are bound to places of the world, of a moving frame or of another elastic body. */
/* Tetrahedra of a file that have a material of their own. */
typedef struct tl_region {
    tl_where where;
    const char *body; /* name */
    int number;       /* as the file has it */
    int material;
} tl_region;

typedef struct tl_join {
    tl_where where;
    const char *body;  /* name */
    int shape;         /* which nodes: those inside, world coordinates at the start */
    const char *to;    /* name of the elastic body on the other side; "": a frame, which `motion` leads */
    tl_vec3 at;        /* what the motion's rotation turns about, at the start */
    int motion;        /* pose function, or TL_NO_FUNCTION: the frame rests */
    double compliance; /* m/N of each node */
} tl_join;

typedef enum tl_joint_kind {
    TL_JOINT_FIXED,
    TL_JOINT_BALL,
    TL_JOINT_HINGE,
    TL_JOINT_SLIDER,
    TL_JOINT_CYLINDER,
    TL_JOINT_UNIVERSAL,
    TL_JOINT_PLANAR,
    TL_JOINT_DISTANCE,
    TL_JOINT_ROPE,
    TL_JOINT_SPRING,
    TL_JOINT_GEAR,
    TL_JOINT_SCREW
} tl_joint_kind;
typedef enum tl_motor_kind { TL_MOTOR_NONE, TL_MOTOR_FORCE, TL_MOTOR_SPEED, TL_MOTOR_POSITION } tl_motor_kind;

/* What drives a joint along its free coordinate: m and N, or rad and N m. */
typedef struct tl_motor_spec {
    tl_where where;
    int kind; /* tl_motor_kind: which of the three was given */
    tl_timed force, speed, position;
    double stiffness, damping; /* gains of position; both 0: it is where it should be, exactly */
    double max;                /* force or torque; 0: whatever it takes */
} tl_motor_spec;

/* Two rigid bodies, or one and the world. Frames are those of the poses at the start. */
typedef struct tl_joint_spec {
    tl_where where;
    const char *name; /* unique; "joint 3" when the scene gives none */
    int kind;         /* tl_joint_kind */
    const char *a, *b;
    int body[2]; /* numbers of a and b; -1: the world */
    tl_vec3 at, at_a, at_b;
    bool has_at, has_at_a, has_at_b;
    tl_vec3 axis, axis_b; /* world, at the start; zero: none */
    double limits[2];     /* of the coordinate that is free, from the start's; equal: none */
    bool limited;
    double friction;               /* N or N m */
    double compliance;             /* m/N and, about axes, rad/(N m) */
    double breaks_at, breaks_turn; /* N, N m; 0: never */
    double length;                 /* m: distance, rope, spring; negative: as at the start */
    double stiffness, damping;     /* N/m, N s/m: spring */
    double ratio;                  /* gear: turns of a per turn of b */
    double pitch;                  /* screw: m per turn */
    double grip; /* m: of elastic bodies, how far around the anchor nodes are held; 0: by their size */
    bool collide;
    tl_motor_spec motor;
} tl_joint_spec;

/* Friction and restitution of one pair of materials or bodies, where the rule of tl_scene_pair is not wanted. */
typedef struct tl_contact_pair {
    tl_where where;
    const char *between[2];                     /* name of a material or a body; "walls" for the domain's */
    double friction, restitution;               /* negative: left to the rule */
    double rolling_friction, spinning_friction; /* m; same */
} tl_contact_pair;

/* Rigid bodies alone need none: cells and cell are then 0. */
typedef struct tl_grid_spec {
    int cells[3];
    double cell; /* m, edge of a cell */
    tl_vec3 origin;
    double cfl;
    bool correct_density; /* particles that crowd part */
    int mixture;          /* tl_mixture */
    bool periodic[3];
} tl_grid_spec;

/* The box that holds the world: the grid's, where there is a grid. */
typedef struct tl_domain_spec {
    bool bounded; /* false: no box */
    tl_box3 box;
    int wall[6]; /* tl_wall of x_min, x_max, y_min, y_max, z_min, z_max */
    double friction, restitution;
    double rolling_friction, spinning_friction; /* m */
    int sand_friction;                          /* tl_sand_friction */
    bool liquid_slip;                           /* viscous liquid slips along walls */
} tl_domain_spec;
typedef enum tl_wall { TL_WALL_CLOSED, TL_WALL_OPEN } tl_wall;

typedef struct tl_sph_spec {
    double spacing;         /* m between particles */
    double gamma;           /* rest volume of surface samples */
    double inset;           /* in spacings; negative: 0.5 with liquid, 0.4 without */
    double viscosity;       /* of the method: rate, in sqrt(g/h) per second */
    double grain_viscosity; /* of fourth order, the same */
    double arrangement;     /* times its stress that is taken away */
    double relaxation;
    double push_out; /* m/s; 0: tl_sph_push_out */
    double cfl;      /* in spacings */
    bool warm_start;
    int friction; /* 0 implicit, 1 explicit */
    double worst; /* tolerances; 0: the means alone decide */
    double quiet; /* sqrt(g h): noise that solves may leave in still liquid; 0: the tolerance alone decides */
    bool fit;     /* fills to solids: phase/sph/fit.c */
    int iterations_least;
    bool surface_particles;
} tl_sph_spec;

typedef enum tl_lg_local_spec { TL_LG_LOCAL_EXACT, TL_LG_LOCAL_NEWTON, TL_LG_LOCAL_PROX } tl_lg_local_spec;

typedef struct tl_lg_spec {
    int iterations;   /* local-global rounds per step */
    double budget;    /* ms per step; 0: none */
    int mixing;       /* 0 anderson, 1 none */
    int time;         /* 0 bdf2, 1 euler */
    int corrections;  /* Newton, after the rounds */
    int inner;        /* contact steps per round */
    int local;        /* tl_lg_local_spec */
    int global;       /* 0 factor, 1 inverse, 2 jacobi */
    int precision;    /* 0 float, 1 double: of increments */
    double chebyshev; /* spectral radius that the jacobi method assumes; 0: plain */
    int ncp;          /* 0 Fischer-Burmeister, 1 minimum, 2 minimum as printed */
    int form;         /* 0 exact, 1 symmetric */
    int scale;        /* of forces in the contact laws: 0 compliance, 1 mass */
    int compliance;   /* 0 auto, 1 explicit, 2 matrix-free */
    int cr;           /* conjugate residual iterations per contact step */
    bool project;     /* friction onto its disc when its law is linearised */
    bool guard;       /* surfaces never pass through each other on the way of a step */
} tl_lg_spec;

typedef enum tl_elements { TL_ELEMENTS_AUTO, TL_ELEMENTS_SMOOTHED, TL_ELEMENTS_TETS } tl_elements;
/* Finite elements of elastic bodies in the grid engine. */
typedef struct tl_fem_spec {
    int integrator; /* 0 implicit Euler, 1 midpoint */
    int elements;   /* tl_elements */
    int iterations; /* Newton corrections per step at most; 0: 40 */
} tl_fem_spec;

/* A solver method as scenes name it. Empty words: the scheme's own choice. */
typedef struct tl_method_spec {
    const char *method, *precond;
    double tolerance; /* 0: the solver's */
    int iterations;   /* 0: the method's */
} tl_method_spec;

typedef enum tl_impacts { TL_IMPACTS_TOGETHER, TL_IMPACTS_SEQUENCE } tl_impacts;

/* Contacts of solids. */
typedef struct tl_contact_spec {
    const char *method; /* "": the step's own choice */
    double tolerance;   /* m/s; 0: follows the speeds */
    int iterations;     /* 0: the method's */
    double slop;        /* m; 0: from the bodies */
    double touch;       /* of the slop */
    double keep;        /* of the slop */
    tl_impacts impacts;
    bool bound; /* islands make no energy */
    bool rest;  /* islands at rest are left alone */
} tl_contact_spec;

/* How stress is solved by parts; see solve/cone/parts.h. */
typedef struct tl_parts_spec {
    double pyramid, loose, damping, penalty, stiffen;
    bool keep, line_search, as_energy;
    int newton;
} tl_parts_spec;

/* Rules of sand beyond its equations: docs/grid.md says what each is for. */
typedef struct tl_rules_spec {
    bool closed_slivers, closed_fringe, single_grains;
} tl_rules_spec;

typedef enum tl_unconverged { TL_UNCONVERGED_ACCEPT, TL_UNCONVERGED_SHRINK_DT, TL_UNCONVERGED_FAIL } tl_unconverged;

/* Words of tl_solver_spec, in the order of the schema. AUTO: what the rest of the scene asks for. */
typedef enum tl_stress_place { TL_STRESS_COLOCATED, TL_STRESS_STAGGERED } tl_stress_place;
typedef enum tl_edges_word {
    TL_EDGES_AUTO,
    TL_EDGES_LOAD,
    TL_EDGES_WALL,
    TL_EDGES_STRICT,
    TL_EDGES_INACTIVE_ZERO
} tl_edges_word;
typedef enum tl_densities_word {
    TL_DENSITIES_AUTO,
    TL_DENSITIES_CARRIED,
    TL_DENSITIES_KERNEL,
    TL_DENSITIES_SHARE,
    TL_DENSITIES_CONST,
    TL_DENSITIES_MASS
} tl_densities_word;
typedef enum tl_static_stress { TL_STATICS_AUTO, TL_STATICS_LEAST_ENERGY, TL_STATICS_NONE } tl_static_stress;
typedef enum tl_weights_word { TL_WEIGHTS_AUTO, TL_WEIGHTS_AREA, TL_WEIGHTS_VOLUME } tl_weights_word;
typedef enum tl_surface_word { TL_SURFACE_FRACTIONAL, TL_SURFACE_BINARY } tl_surface_word;
typedef enum tl_cone_word { TL_CONE_EXACT, TL_CONE_PYRAMID } tl_cone_word;
typedef enum tl_soft_form { TL_SOFT_HYBRID, TL_SOFT_CUT, TL_SOFT_COMPLEMENT } tl_soft_form;

typedef struct tl_solver_spec {
    const char *scheme; /* "" : the engine's default */
    tl_stress_place stress;
    tl_edges_word edges;            /* of stress next to cells without an unknown */
    tl_densities_word density;      /* of granular faces */
    tl_static_stress static_stress; /* of sand at rest */
    tl_weights_word weights;        /* of faces */
    tl_surface_word surface;        /* of liquids */
    tl_cone_word cone;
    tl_soft_form coupling; /* of elastic bodies and liquid */
    bool seal, offset;     /* of these: thin parts are tight; hydrostatic differences inside of cells */
    bool follow;           /* and pressure turns with the surface within a step */
    double tolerance;
    int sweeps; /* 0: the scheme's */
    tl_unconverged on_unconverged;
    bool guard; /* steps that make energy from nothing are not accepted */
    tl_method_spec pressure, friction, elastic;
    tl_parts_spec parts;
    tl_rules_spec rules;
    tl_contact_spec contact;
} tl_solver_spec;

typedef struct tl_output_spec {
    bool frames, bodies, history;
    int checkpoint_every; /* frames; 0: only the latest */
    int images_every;     /* frames; 0: only the last */
} tl_output_spec;

/* What a verdict may be at worst, as shares; 0: not said. See run/verdict.h. */
typedef struct tl_accept_spec {
    double missed, momentum, energy, volume, penetration, escaped;
} tl_accept_spec;

typedef struct tl_camera {
    bool given; /* false: frame the scene */
    tl_vec3 eye, target, up;
    double fov_deg; /* vertical */
} tl_camera;

typedef enum tl_colour_by {
    TL_COLOUR_MATERIAL,
    TL_COLOUR_SPEED,
    TL_COLOUR_PRESSURE,
    TL_COLOUR_DENSITY,
    TL_COLOUR_BODY,
    TL_COLOUR_STRAIN /* of elastic bodies: largest change of a length, over the length */
} tl_colour_by;
typedef enum tl_liquid_look { TL_LIQUID_SURFACE, TL_LIQUID_PARTICLES } tl_liquid_look;
typedef enum tl_wall_look { TL_LOOK_NONE, TL_LOOK_GLASS, TL_LOOK_FRAME } tl_wall_look;

typedef struct tl_render_spec {
    int width, height, samples;
    tl_vec3 background;
    bool ground;
    double ground_height;
    tl_vec3 ground_colour;
    tl_colour_by colour_by;
    double range[2]; /* of the coloured field; equal: from the data */
    tl_wall_look walls;
    tl_vec3 light;          /* direction towards the main light */
    double particle_radius; /* m; 0: from the spacing */
    tl_liquid_look liquid;  /* where colours show materials */
    bool joints;            /* draw them */
} tl_render_spec;

/* Colour of a part of a shape, for pictures: the surface of `node` inside `region` (same frame; -1: all of it). Later
 * ones lie over earlier ones. Shapes made of painted shapes have their own entries. */
typedef struct tl_paint {
    int node, region;
    tl_vec3 colour; /* sRGB */
    double gloss;   /* 0 matte .. 1 mirror-like */
    double opacity; /* below 1: glass */
} tl_paint;

typedef struct tl_scene_lua tl_scene_lua; /* the functions of time, in their sandbox */

typedef struct tl_scene {
    const char *file, *title, *about, *figure;
    double minutes; /* expected on two cores; 0: not said */
    int version;
    tl_engine engine;
    tl_size size;
    double duration, fps;
    tl_vec3 gravity;
    int64_t seed;
    double dt_max, dt_min; /* s; dt_max 0: one frame */

    tl_shape_tree *shapes;
    int root; /* of a file that returns a shape, see scene/load.h; else -1 */
    int material_count, fill_count, emitter_count, body_count, contact_count, function_count;
    tl_material *materials; /* [material_count] also those that nothing uses */
    tl_fill *fills;
    tl_emitter *emitters;
    tl_body *bodies;
    tl_contact_pair *contacts;
    int handle_count;
    tl_handle *handles;
    int cable_count, join_count;
    tl_cable *cables;
    tl_join *joins;
    int region_count;
    tl_region *regions;
    int joint_count;
    tl_joint_spec *joints;
    int paint_count;
    tl_paint *paints;

    tl_grid_spec grid;
    tl_domain_spec domain;
    tl_sph_spec sph;
    tl_lg_spec lg;
    tl_fem_spec fem;
    tl_solver_spec solver;
    tl_output_spec output;
    tl_accept_spec accept;
    tl_camera camera;
    tl_render_spec render;

    const char *text; /* of the scene's own file, as it was read */
    uint64_t hash;    /* of every Lua file read, every setting, and the size */
    tl_arena arena;   /* texts and arrays above */
    tl_scene_lua *lua;
} tl_scene;

#define TL_STEPS_MAX 1e10 /* of a run, and */
#define TL_FRAMES_MAX 1e8 /* frames of one: what would need more is refused */

void tl_scene_free(tl_scene *s); /* NULL is fine */

/* A function of time: 1 number, 3, or a pose of 7 (`count` is what its key asks for, else bad input).
 * Threads wait for each other. A Lua error, a result of the wrong form, out of its key's range, NaN or infinite is bad
 * input with file:line, the key and the time; `out` is then unchanged. */
talus_status tl_scene_evaluate(const tl_scene *s, int function, double t, double *out, int count, talus_error *err);
/* The value at t of something that may be constant. */
talus_status tl_scene_timed(const tl_scene *s, const tl_timed *v, double t, double *out, int count, talus_error *err);

/* Friction and restitution between two bodies (indices; -1 is the domain's walls), given each one's own. The last
 * entry of `contacts` that names the pair decides; else friction is the geometric mean (equal values stay, a
 * frictionless one wins) and restitution the larger of the two. */
void tl_scene_pair(const tl_scene *s, int a, int b, const double own_friction[2], double *friction,
                   double *restitution);

/* Rolling and spinning friction of a pair, m: torques that resist at a contact, over its normal force. The last
 * entry of `contacts` that names the pair decides, else the larger of the two. tl_scene_turning: is there any in
 * this scene? */
void tl_scene_pair_turning(const tl_scene *s, int a, int b, double *rolling, double *spinning);
bool tl_scene_turning(const tl_scene *s);

#endif
