/* Made-up pressure problems for tests and benchmarks; every one is a function of its parameters alone. A unit cube
 * of cells^3 cells; cut faces carry their open area, free surfaces are second order (ghost fluid, theta >= 0.01), so
 * couplings range from 1e-6 to 100. Velocities are random divergence-free waves plus what the case says. */
#ifndef TL_BENCH_GEN_PRESSURE_H
#define TL_BENCH_GEN_PRESSURE_H

#include "solve/pressure/problem.h"

typedef enum tl_pressure_scene {
    TL_SCENE_SPHERE, /* liquid at the bottom and on the roof of a ball-shaped container, falling [FM21 fig. 4] */
    TL_SCENE_DAM,    /* a column of liquid with bubbles in a box, and droplets in its air */
    TL_SCENE_TANK,   /* a box, three quarters full, with four boxes and four balls in it */
    TL_SCENE_CAVITY, /* a ball full of liquid: singular without bounds */
    TL_SCENE_PLATES, /* a tank cut by two upright plates 2.1 cells thick, one of them with a gap at the floor */
    /* liquid in the upper part of a ball, all of it in free fall; only the walls below the middle catch some */
    TL_SCENE_FALL,
    TL_SCENES
} tl_pressure_scene;

const char *tl_pressure_scene_name(tl_pressure_scene s);

/* A rigid body in the liquid: U = J'G for its six degrees of freedom, on the cells that it touches. */
typedef struct tl_pressure_body {
    int32_t count;
    int32_t *cell;     /* [count] rising */
    double (*u)[6];    /* [count] */
    double inverse[6]; /* 1 / (mass and inertia), in cells of liquid */
} tl_pressure_body;

/* A problem that owns its arrays. */
typedef struct tl_pressure_case {
    tl_pressure p;
    int32_t (*ijk)[3];
    int32_t *nb[TL_PRESSURE_SIDES];
    float *c[TL_PRESSURE_SIDES], *dir, *ar;
    double *d, *b;
    int bodies;
    tl_pressure_body *body;
} tl_pressure_case;

/* cells: 8 to 400 per edge. density > 0 (TL_SCENE_TANK only): the 8 solids move freely, 0.5 to 2 times this density
 * of the liquid's. */
talus_status tl_gen_pressure(tl_pressure_case *c, tl_pressure_scene scene, int cells, uint64_t seed, double density,
                             talus_error *err);
void tl_pressure_case_free(tl_pressure_case *c);

#endif
