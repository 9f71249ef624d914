/* The methods of this kind; solve.c holds the table. Each file's paragraph is in docs/methods.md. */
#ifndef TL_SOLVE_CONE_METHODS_H
#define TL_SOLVE_CONE_METHODS_H

#include "solve/cone/method.h"

extern const tl_cone_method tl_cone_apgd, tl_cone_pgs, tl_cone_auglag_ipn;

/* By parts (parts.c), an array that ends with a name of NULL. */
extern const tl_cone_method tl_cone_by_parts[];

#endif
