/* Contact laws as equations: Fischer-Burmeister and minimum map of one contact, normal and tangential, with what Newton
 * needs of them.
 *
 * Normal, 0 <= gap _|_ force >= 0 with a scale r (m/N) that makes r force a length: value = 0, linearised
 *
 *     slope_gap d(gap) + slope_force d(force) = -value
 *
 * Friction, |f| <= most = mu N against the slip: slip speed = -drag f with drag >= 0 from speed u, |f| and r
 * (m/s/N); at a solution drag is 0 (stick) or u / most (slide). Evaluated without cancellation: near a solution both
 * functions are differences of almost equal numbers. [Zeng2025 app. B, with (51) and (57) corrected] */
#ifndef TL_MODEL_LG_NCP_H
#define TL_MODEL_LG_NCP_H

typedef enum tl_ncp_kind {
    TL_NCP_FISCHER_BURMEISTER,
    TL_NCP_MINIMUM,
    /* the minimum map with the factor r that [Zeng2025 (51)] prints: sticks whatever mu; for comparison */
    TL_NCP_PRINTED
} tl_ncp_kind;

typedef struct tl_ncp {
    double value;       /* m */
    double slope_gap;   /* in [0, 2] */
    double slope_force; /* m/N, in [0, 2 r] */
} tl_ncp;

tl_ncp tl_ncp_normal(tl_ncp_kind kind, double gap, double force, double r);
/* most > 0, force = |f| >= 0, u >= 0. Never negative, never beyond 1000 times the minimum map's. */
double tl_ncp_drag(tl_ncp_kind kind, double u, double force, double max, double r);

#endif
