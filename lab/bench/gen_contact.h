/* Contact problems with known answers: axis-aligned boxes resting on each other and on the ground
 * y = 0, one time step of gravity. Contacts are the four corners of every rectangle in which a top
 * face meets a bottom face (side faces carry none: with them the sum of normals is not unique).
 *
 * At rest the normals of a level add up to the weight above it times dt, which gives the sums:
 *     stack of 30 cubes of 8 kg       m g dt (30 31)/2        = 364.932 N s   (g 9.81, dt 0.01 in all)
 *     stack of 1, 10, ... 1e4 kg      54321 g dt              = 5328.8901
 *     wall of 5 rows of 4 bricks      4 m g dt (5 6)/2        = 23.544
 *     the same, top row x1000                                   7863.696
 *     wall of 10 rows of 8            8 m g dt (10 11)/2      = 172.656 */
#ifndef TL_BENCH_GEN_CONTACT_H
#define TL_BENCH_GEN_CONTACT_H

#include "solve/contact/problem.h"

typedef struct tl_gen_box {
    double center[3], size[3]; /* m, full edges */
    double mass;               /* kg, uniform; 0 = fixed */
} tl_gen_box;

/* A problem with all that it points to. */
typedef struct tl_gen_contact {
    tl_contact problem;
    tl_space space;
    tl_contact_bodies bodies;
    tl_contact_assembled data;
    tl_csr J;
    double *inv_mass, *inv_inertia, *v_free, *mu; /* what problem and bodies point to */
} tl_gen_contact;

/* gravity in m/s^2 (tilt it for an incline), dt in s; mu for all contacts. The struct must not move
 * while the problem is in use. Cost: boxes^2 pairs are looked at. */
talus_status tl_gen_contact_boxes(tl_gen_contact *g, int32_t count, const tl_gen_box *box, double mu,
                                  const double gravity[3], double dt, talus_error *err);

/* Cubes of 0.2 m on top of each other, mass[i] from the ground up; gravity 9.81 down, dt 0.01. */
talus_status tl_gen_contact_stack(tl_gen_contact *g, int32_t count, const double *mass, double mu, talus_error *err);

/* Running bond: bricks of 0.2 x 0.1 x 0.1 m and 4 kg, `bricks` in each of `rows` rows, every other row shifted
 * by half a brick, so that an end brick has its centre above the support edge. Masses of the top row
 * times top_scale; gravity 9.81 down, dt 0.01. */
talus_status tl_gen_contact_wall(tl_gen_contact *g, int32_t rows, int32_t bricks, double top_scale, double mu,
                                 talus_error *err);

void tl_gen_contact_free(tl_gen_contact *g); /* leaves {0}; {0} is fine */

#endif
