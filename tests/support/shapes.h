/* One shape of every kind, and some combined ones, for tests that must hold for all of them. */
#ifndef TL_TESTS_SHAPES_H
#define TL_TESTS_SHAPES_H

#include "geom/shape.h"

#define TL_TEST_SHAPES_MAX 40

typedef struct tl_test_shapes {
    tl_shape_tree *tree;
    int count;
    struct {
        const char *name;
        int node;
        bool outside_exact, inside_exact, smooth; /* smooth: no sharp edges */
    } shape[TL_TEST_SHAPES_MAX];
} tl_test_shapes;

/* All fit in a cube of edge 3 around the origin and have features of at least 0.15. Stops the program when a maker
 * refuses. */
tl_test_shapes tl_test_shapes_make(void);

/* Thirty blended parts: a walking animal, 2 m long. */
int tl_test_shapes_animal(tl_shape_tree *t);

#endif
