/* The entries of the table in method.c. */
#ifndef TL_SOLVE_CONTACT_METHODS_H
#define TL_SOLVE_CONTACT_METHODS_H

#include "solve/contact/method.h"

extern const tl_contact_method tl_contact_newton_shift, tl_contact_newton_convex, tl_contact_apgd_shift,
    tl_contact_apgd_convex, tl_contact_admm, tl_contact_pgs, tl_contact_pgs_momentum, tl_contact_pgs_pyramid,
    tl_contact_staggered;

#endif
