/* Finite elements of the elastic bodies of engine "grid": what is constant during a run, forces and matrices at given
 * positions.
 *
 * Nodes, masses, anchors and surfaces are those of tl_lg (model/lg/lg.h), which both engines share. An element is a
 * list of nodes with rest gradients b_a and a volume: F = sum_a x_a b_a^T, one evaluation of the energy each. Three
 * kinds:
 *
 *     tets       one per tetrahedron, 4 nodes. Locks in bending and near poisson = 0.5
 *     hex        one per cell of a box of regular cells, 8 nodes: F at its centre, and a constant stiffness against the twelve modes that the centre does not see
 *                [Flanagan1981]. Neither locks in bending nor near 0.5, with a single cell across already
 *     smoothed   one per edge of the mesh: the mean of F over the tetrahedra around it, a sixth of each [Liu2009]. Hardly locks; matrices are twice
 *                as dense
 *
 * Held nodes (anchors without a weight, handles) are no unknowns: their rows and columns are left out. The pattern
 * of a body's matrix never changes, so one symbolic analysis serves the whole run. Sums over elements of a node run
 * in a fixed order, whatever the threads. */
#ifndef TL_MODEL_ELASTIC_FEM_H
#define TL_MODEL_ELASTIC_FEM_H

#include "model/elastic/material.h"
#include "model/lg/lg.h"

typedef enum tl_fem_kind { TL_FEM_TETS, TL_FEM_SMOOTHED, TL_FEM_HEX } tl_fem_kind;

/* What a body is to be made of. */
typedef struct tl_fem_part {
    tl_stable law;
    tl_fem_kind kind;
    double young, poisson; /* Pa, - */
    double damping;        /* s, see tl_fem_rate */
    int cells[3];          /* hex: of the box; its nodes are those of tl_lg_bar */
} tl_fem_part;

#define TL_FEM_GLASS 4 /* modes of a hex, each in three directions: xy, yz, zx, xyz */

typedef struct tl_fem_body {
    tl_stable law;
    double damping; /* s */
    double lame[2]; /* Pa: lambda, mu, for damping */
    bool hex;
    double glass[TL_FEM_GLASS]; /* N/m, of sums over corners times +-1/8; 0 but for hexes */
    int32_t node, nodes;        /* of tl_lg: first, count */
    int32_t unknown;            /* nodes that are not held */
    tl_csr A; /* [3 unknown][3 unknown] pattern of M + h^2 K, blocks of 3x3; values by tl_fem_matrix */
} tl_fem_body;

typedef struct tl_fem {
    const tl_lg *lg; /* not owned */
    int32_t bodies, elements;
    tl_fem_body *body;
    int64_t *start;      /* [elements + 1] into node, gradient */
    int32_t *node;       /* of tl_lg */
    tl_vec3 *gradient;   /* 1/m */
    double *volume;      /* [elements] m^3 */
    int32_t *owner;      /* [elements] body */
    int64_t *slot_start; /* [elements + 1] into slot */
    int32_t *slot; /* [a][b] of an element: number of node b's block in the row of node a; -1: one of them is held */
    int64_t *pull_start; /* [nodes + 1] into pull */
    int32_t (*pull)[2];  /* elements of a node: element, which of its nodes */
    int32_t *place;      /* [nodes] number among its body's unknown nodes; -1: held */
    double *spring;      /* [nodes] N/m: weights of anchors that are springs */
    int32_t held;        /* nodes */
    bool *is_held;       /* [anchors] of tl_lg: this anchor holds its node */
} tl_fem;

/* part [bodies]; soft [anchors]: this anchor is a spring, NULL: none is. Keeps lg. */
talus_status tl_fem_create(tl_fem *out, const tl_lg *lg, const tl_fem_part *part, const bool *soft, talus_error *err);
void tl_fem_free(tl_fem *f); /* leaves {0} */
/* Masses of nodes as cells share them out, an eighth to each corner, in place of tetrahedra. */
void tl_fem_lump(tl_lg *lg, int body, const int cells[3]);

/* Where bodies that damp come from: viscous stress is `damping` seconds times Hooke's law of the rate of Green's strain
 * E = (F^T F - 1) / 2 (Kelvin and Voigt),
 *
 *     P = F S,  S = damping / h (lambda tr(dE) + 2 mu dE),  dE = E(x) - E(from)
 *
 * the derivative of an energy S : dE / 2, which no turn of the body changes. A mode of angular frequency w falls as
 * exp(-damping w^2 t / 2). */
typedef struct tl_fem_rate {
    const double *from; /* [nodes][3] */
    const double *h;    /* [bodies] s */
} tl_fem_rate;

/* Forces of elements on all nodes at x, N, [nodes][3] (NULL: not wanted); returns the energy, J. rate NULL: elastic
 * ones alone; else with those of damping, and their energy. scratch: tl_fem_scratch doubles. */
double tl_fem_forces(const tl_fem *f, const double *x, const tl_fem_rate *rate, double *force, double *scratch);
static inline int64_t tl_fem_scratch(const tl_fem *f) { return 22 * (int64_t)f->elements + 1; }
/* Projected Hessians of all elements at x, for tl_fem_matrix. modes [elements] */
void tl_fem_modes(const tl_fem *f, const double *x, bool project, tl_stable_modes *modes);
/* Rows of M + h^2 (K + springs) of one body, damping included, up to the diagonal blocks, which is what tl_factor
 * reads; values beyond are zero. */
void tl_fem_matrix(const tl_fem *f, int body, double h, const tl_stable_modes *modes, tl_csr *A);
/* Roots R of a body's stiffness from Hessians that are projected: h^2 (K + springs) = R^T R. On the heap. roots.c */
talus_status tl_fem_roots(const tl_fem *f, int body, double h, const tl_stable_modes *modes, tl_csr *out,
                          talus_error *err);
/* Of corner c in mode m of a hex. */
double tl_fem_glass_weight(int m, int c);

#endif
