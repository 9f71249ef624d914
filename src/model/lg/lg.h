/* Elastic bodies of the local-global engine: what does not change during a run.
 *
 * Implicit Euler with step h minimises over node positions q
 *
 *     g(q) = 1/(2 h^2) |q - qtil|_M^2 + sum_e V_e psi(F_e(q)) + 1/2 sum_bend k |c.q|^2 + 1/2 sum_anchor w |q - t|^2
 *
 * with lumped masses. Rounds of a local step (all elements on their own) and a global step with the constant scalar
 * matrix
 *
 *     A = M + h^2 (sum_e w_e G^T G + K),     K: bending and anchors
 *
 * lead to the minimiser. Everything here works with increments: the local step gives r = -h^2 "gradient of the
 * quadratic model", the global step adds A^-1 r to q. So rounding is relative to the increment, r of a projective body
 * is the gradient of g itself, and an inexact A^-1 (float, Jacobi) changes the way, not the goal.
 *
 * The material decides what a local step is (specs of the engine, section 1.2):
 *     projective  ARAP: p = R(F), w = 2 mu V
 *     admm        corotational, Neo-Hookean: p = prox(F + u), u += F - p, w = (2 mu + lambda) V; duals u live in the state
 *     newton      quasi-Newton: p = F - (V/w) P(F), with a line search on g
 *     prox        p = prox(F): NOT the material it names but one in series with springs; for comparison only
 *
 * Nodes of all bodies share one numbering: bodies one after the other, nodes of a body in the order of elimination
 * (METIS, postordered), so that solves need no permutation and subtrees are ranges. Elements are stored in batches
 * of 8 of one body, structure of arrays, for lanes. Contact is left to contact*.h; solving with A to solver.h; who
 * runs the rounds is src/step/lg.c. */
#ifndef TL_MODEL_LG_H
#define TL_MODEL_LG_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/log.h"
#include "math/csr.h"
#include "math/factor.h"
#include "math/pose.h"
#include "model/lg/skin.h"
#include "model/lg/state.h"
#include "scene/scene.h"

#define TL_LG_LANES 8

typedef enum tl_lg_kind { TL_LG_TETS, TL_LG_CLOTH, TL_LG_HEXES } tl_lg_kind;
typedef enum tl_lg_model { TL_LG_ARAP, TL_LG_COROTATED, TL_LG_NEO_HOOKEAN } tl_lg_model;
typedef enum tl_lg_scheme { TL_LG_PROJECTIVE, TL_LG_ADMM, TL_LG_NEWTON, TL_LG_PROX } tl_lg_scheme;
typedef enum tl_lg_bending { TL_LG_HINGE, TL_LG_RING, TL_LG_LIMP } tl_lg_bending;

/* Energy of one body. mu, lambda in Pa (cloth: lambda of plane stress); k = w / V, Pa. */
typedef struct tl_lg_material {
    tl_lg_model model;
    tl_lg_scheme scheme;
    double mu, lambda, k;
} tl_lg_material;

/* ---- what is asked for ---- */

/* Node `vertex` of a part is drawn to pose(handle) applied to `local`. */
typedef struct tl_lg_anchor {
    int32_t vertex; /* of the part; after creation: the node */
    int32_t handle;
    double weight; /* N/m */
    tl_vec3 local; /* m */
} tl_lg_anchor;

/* One elastic body as a mesh in world coordinates: rest shape and first positions. */
typedef struct tl_lg_part {
    const char *name;
    int32_t body; /* of the scene, -1: none */
    tl_lg_kind kind;
    int32_t vertices, elements;
    const tl_vec3 *vertex;
    const int32_t
        *element; /* [elements][4, 3 or 8]; of hexahedra: bits of the corner's number are its sides along x, y, z */
    tl_lg_model model;
    tl_lg_scheme scheme;
    double young, poisson, density;
    const double *stiffer, *heavier; /* [elements] factors on young and density; NULL: 1. Tetrahedra */
    double weight;                   /* factor on w, 0: 1 */
    double thickness;                /* m, cloth */
    tl_lg_bending bending;
    double stiffness; /* of bending, N m; < 0: Young thickness^3 / (12 (1 - poisson^2)) */
    tl_vec3 velocity, spin;
    tl_quat rotation; /* of the shape's frame; all 0: none */
    int32_t anchors;
    const tl_lg_anchor *anchor;
    const bool *pressed; /* [vertices] pressure acts on triangles between these; NULL: on all */
} tl_lg_part;

/* ---- what there is ---- */

/* A point: up to four nodes of one body with weights; node[k] < 0 ends the list. */
typedef struct tl_lg_point {
    int32_t node[4];
    double weight[4];
} tl_lg_point;

typedef struct tl_lg_holds tl_lg_holds; /* cables and joins: holds.h */

/* Equal cells of hexahedra: see hex.h. */
typedef struct tl_lg_lattice {
    double B[9];            /* inverse of the matrix of a cell's edges, row-major */
    double axis[9];         /* columns: directions of these edges, orthonormal */
    double stiffness[4][3]; /* N/m, of modes xy, yz, zx, xyz along them */
    double volume;
} tl_lg_lattice;

typedef struct tl_lg_body {
    char name[64];
    int32_t body; /* of the scene, -1: none */
    tl_lg_kind kind;
    tl_lg_material material;
    int32_t node, nodes;         /* first, count */
    int32_t batch, batches;      /* of lg->tets, lg->triangles or lg->hexes, by kind */
    tl_lg_lattice lattice;       /* hexahedra */
    int32_t triangle, triangles; /* of lg->surface */
    int64_t dual_row;            /* first lane row of its duals; < 0: none */
    double density, thickness, mass, volume;
    tl_quat start;       /* rotation of the shape's frame at rest */
    int32_t load, loads; /* of lg->loaded */
    bool sealed;         /* what pressure acts on has no rim: it adds no momentum */
    bool inside_out;     /* a closed cloth whose triangles look inwards */
} tl_lg_body;

/* Eight tetrahedra of one body; V times how much stiffer one is than its body's material. Lanes without an element
 * have V = 0, B of a unit tet, and the nodes of lane 0. */
typedef struct tl_lg_tets {
    int32_t node[4][TL_LG_LANES];
    double
        B[9]
         [TL_LG_LANES]; /* inverse of the edge matrix, row-major: F = [x1-x0 x2-x0 x3-x0] B, gradients are rows of B */
    double V[TL_LG_LANES]; /* m^3 */
} tl_lg_tets;

/* Eight triangles; F is 3x2 in a rest frame of the triangle. */
typedef struct tl_lg_triangles {
    int32_t node[3][TL_LG_LANES];
    int32_t unused[TL_LG_LANES];
    double B[4][TL_LG_LANES]; /* inverse of the 2x2 edge matrix */
    double V[TL_LG_LANES];    /* area times thickness, m^3 */
} tl_lg_triangles;

/* Eight hexahedra of one body's lattice. */
typedef struct tl_lg_hexes {
    int32_t node[8][TL_LG_LANES];
    double V[TL_LG_LANES]; /* m^3; 0: no cell */
} tl_lg_hexes;

/* A hinge of cloth that is bent at rest: energy 1/2 weight |c.x - beta n|^2 with n the mean of its triangles' unit
 * normals, normalised. K has 1/2 weight |c.x|^2 of it; what is left is a local force. */
typedef struct tl_lg_hinge {
    int32_t node[4]; /* ends of the edge, the two corners opposite of it */
    double c[4];
    double weight, beta; /* beta: 2 sin(half the angle), signed */
} tl_lg_hinge;

typedef struct tl_lg {
    int32_t bodies, nodes, handles;
    tl_lg_body *body;
    double *rest, *mass; /* [nodes][3] m; [nodes] kg */
    double *start_v;     /* [nodes][3] m/s at t = 0 */
    int32_t *node_of;    /* [nodes] vertex (bodies' parts one after the other) -> node */
    int32_t *owner;      /* [nodes] body */
    int32_t tet_batches, triangle_batches, hex_batches;
    tl_lg_tets *tets;
    tl_lg_triangles *triangles;
    tl_lg_hexes *hexes;
    int32_t *tet_body, *triangle_body, *hex_body; /* [batches] */
    int64_t dual_rows;
    /* Force of element corners to nodes: entries of node i are pull[start[i] ..]: place of its x component in the
     * array of element forces, y and z are one and two lane rows on. */
    int64_t *pull_start; /* [nodes + 1] */
    int32_t *pull;
    int64_t
        /* doubles in the array of element forces; those of hinges come last, in batches of 8 like tetrahedra */
        force_count;
    int32_t hinges;
    tl_lg_hinge *hinge; /* [hinges] bent at rest */
    tl_csr K;           /* [nodes][nodes] bending, without anchors, N/m; both triangles */
    int32_t anchors;
    tl_lg_anchor *anchor;  /* [anchors] by node */
    double *anchor_weight; /* [nodes] sum of anchor weights, N/m */
    int32_t surface_triangles;
    int32_t (*surface)[3]; /* nodes, outward; cloth: its triangles */
    int32_t (*loaded)[3];  /* nodes of triangles that pressure acts on, see pressure.h */
    tl_lg_skin skin;
    /* Pattern of A of each body, values by tl_lg_matrix. */
    tl_csr *pattern;    /* [bodies] local numbering */
    tl_lg_holds *holds; /* NULL: no scene made this */
} tl_lg;

/* All parts must have positive rest volumes. Refuses, with name and number: elements of no or negative volume, nodes
 * of no element and no anchor, indices out of range. */
talus_status tl_lg_create(tl_lg *out, int parts, const tl_lg_part *part, int32_t handles, talus_error *err);
void tl_lg_free(tl_lg *lg); /* leaves {0} */

/* The elastic bodies of a scene. Handles: one per anchored body (its pose), then those of the scene. */
talus_status tl_lg_from_scene(tl_lg *out, const tl_scene *s, const tl_log *log, talus_error *err);
/* Poses of all handles at time t. */
talus_status tl_lg_handle_poses(const tl_lg *lg, const tl_scene *s, double t, tl_pose *out, talus_error *err);
/* Of these, what code leads: where it is when the next step begins or ends. tl_lg_led: that step has been made. */
void tl_lg_lead(const tl_lg_state *now, bool end, tl_pose *pose);
void tl_lg_led(tl_lg_state *s);

talus_status tl_lg_state_begin(tl_lg_state *out, const tl_lg *lg, talus_error *err);

/* ---- operators of a step ---- */

/* Where anchors pull to: t [anchors] */
void tl_lg_targets(const tl_lg *lg, const tl_pose *handle, tl_vec3 *target);

/* Local step at q: element forces w (p - u - F) times gradients, in `force` [force_count]; duals u (dual_rows, or
 * NULL without) are updated in place. `begin`: the first of a step. */
void tl_lg_local(const tl_lg *lg, const double *q, double *u, double *force);
/* True forces -V P(F) times gradients, elastic energy of all elements (NAN never: beyond compression to 5 %
 * logarithms go on linearly). force may be NULL. */
double tl_lg_stress(const tl_lg *lg, const double *q, double *force);
/* One element as users see it: the map from rest to now and the first Piola stress of its body's law there. Of cloth
 * both are in a frame of the triangle at rest, whose third axis goes to the unit normal. */
typedef struct tl_lg_element {
    int32_t node[8]; /* -1: it has fewer */
    int32_t body;    /* of lg */
    double volume;   /* m^3 at rest */
    double stiffer;  /* factor on the law of its body, which P has */
    tl_mat3 F, P;
} tl_lg_element;
int64_t tl_lg_element_count(const tl_lg *lg);
/* All of them: tetrahedra, cloth, hexahedra, numbered from 0 on. */
void tl_lg_each_element(const tl_lg *lg, const double *q, void (*visit)(void *user, int64_t i, const tl_lg_element *e),
                        void *user);
/* Duals u of the bodies marked in `of` [bodies] that are solved by ADMM become those of an ended solve at q: stress
 * over k. */
void tl_lg_set_duals(const tl_lg *lg, const double *q, const bool *of, double *u);
/* r = M (qtil - q) + h^2 (sum of element forces - K q + anchors) [nodes][3] */
void tl_lg_residual(const tl_lg *lg, double h, const double *q, const double *qtil, const tl_vec3 *target,
                    const double *force, double *r);
/* r += scale times the forces of pressures [bodies] at q, Pa, NULL: none. They push every loaded triangle along its
 * normal, a third at each corner. */
void tl_lg_press(const tl_lg *lg, const double *pressure, double scale, const double *q, double *r);
/* Their work on the straight way from one place to another, J, exactly: pressure times the change of volume of what
 * is sealed. */
double tl_lg_press_work(const tl_lg *lg, const double *pressure, const double *from, const double *to);
/* Energy of bending and anchors, J. */
double tl_lg_linear_energy(const tl_lg *lg, const double *q, const tl_vec3 *target);

#endif
