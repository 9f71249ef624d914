/* Time integration of elastic nodes. A step solves
 *
 *     q = q^ + he v,    v = v^ + he a(q)        so    M (q - q~) = he^2 forces(q),    q~ = q^ + he v^ + he^2 g
 *
 *                he       q^                      v^
 *     euler      h        q_n                     v_n
 *     bdf2       2h/3     (4 q_n - q_n-1)/3       (4 v_n - v_n-1)/3           of second order, L-stable
 *     static     long     q_n                     0                           and v_n+1 = 0: what forces balance
 *
 * and the like for steps of different lengths. The first step goes on from a history of free flight (and of spin), so
 * free fall is exact from the start. What a force changes at once is not m v but
 *
 *     p = ((1 + 2w) v_n+1 - w v_n) / (1 + w),    w = h / length of the step before           (3 v_n+1 - v_n) / 2
 *
 * per mass: p_n+1 - p_n = h a. It is what momentum is counted with.
 *
 * Two laws hold for p that positions alone do not give:
 *     land      A point that touches does not leave the surface in the same step: normal speed at most 0, or restitution times the speed of the impact. Stopping at a
 *               surface within a step takes up to 9/4 of the impulse that stops a mass, as only he^2 = 4/9 h^2 of a force moves it, and the rest would throw it back
 *               with 5/4 of its speed. Impulses along the normals, at most as large as those of the contacts, take that out; the history of such points becomes one of the same speed.
 *     spin      Forces of a step turn nothing about q_n+1, but p_n does not point along q_n+1 - q_n: angular momentum changes by the sum of (q_n+1 - q_n) x m p_n, which a
 *               turning of the velocities about the centre of mass gives back. */
#ifndef TL_PHASE_LG_TIME_H
#define TL_PHASE_LG_TIME_H

#include "model/lg/whole.h"
#include "phase/lg/contact.h"

typedef enum tl_lg_times { TL_LG_BDF2, TL_LG_EULER, TL_LG_STATIC } tl_lg_times; /* in the order of the scene's choice */

typedef struct tl_lg_time {
    bool second; /* bdf2 */
    bool rests;  /* static */
    double h, he;
    double ratio;        /* w */
    double *q_hat;       /* [3 nodes] */
    double *p;           /* [3 nodes] at the start of the step */
    double *q_was;       /* [3 nodes] the history that the next step will find: q_n, but of what has landed */
    double *v_was;       /* [3 nodes] */
    double *push;        /* [3 nodes] m/s: what landing and spin add to p */
    double largest_turn; /* rad/s that was given back to a body */
} tl_lg_time;

/* reach, s: he of static steps. */
talus_status tl_lg_time_begin(tl_lg_time *t, const tl_lg *lg, const tl_lg_state *now, tl_lg_times kind, double reach,
                              double h, tl_arena *arena, talus_error *err);
/* q~; a [3 nodes]: accelerations by gravity and by forces on bodies. */
void tl_lg_time_predict(tl_lg_time *t, const tl_lg *lg, const tl_lg_state *now, const double *a, double *q_tilde);
/* v from positions q. */
void tl_lg_time_velocities(const tl_lg_time *t, const tl_lg *lg, const double *q, double *v);
/* Velocities of what touches, see above; free bodies take part: `body` is at the end of the step, `before` at its
 * start. */
void tl_lg_time_land(tl_lg_time *t, const tl_lg_touch *touch, const tl_lg_contacts *contacts, const double *q,
                     const tl_motion *before, tl_motion *body, double *v);
/* Angular momentum of bodies that nothing holds. `held` [bodies]: anchored. `touched` [bodies]: something acts on
 * it. */
void tl_lg_time_spin(tl_lg_time *t, const tl_lg *lg, const tl_lg_state *now, const bool *held, const bool *touched,
                     const double *q, double *v);
/* How many times too long a swing of `angle` radians per step comes out: |z| and arg z of what a step multiplies it
 * with. BDF2 has (3 z^2 - 4 z + 1) / (2 z^2) = i angle, Euler (z - 1) / z = i angle. `kept`: amplitude that a period
 * leaves, of 1. */
double tl_lg_time_stretch(const tl_lg_time *t, double angle, double *data);
/* p at the end of the step, of node k / 3. */
static inline double tl_lg_time_momentum(const tl_lg_time *t, const double *v, int64_t k)
{
    if (!t->second) return v[k];
    double w = t->ratio;
    return ((1 + 2 * w) * v[k] - w * t->v_was[k]) / (1 + w);
}

#endif
