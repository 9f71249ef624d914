/* The innermost loops of the neighbour search: which candidates are nearer than 2h, and kernel values of those.
 *
 * Coordinates are in units of 2h / 2^22, relative to the corner of the cell that is looked at; they and their
 * differences are exact. scan.c is plain C, scan_avx512.c does the same with compress-stores where the machine has
 * them. */
#ifndef TL_MODEL_SPH_SCAN_H
#define TL_MODEL_SPH_SCAN_H

#include "model/sph/sph.h"

#define TL_SPH_LANES 16
#define TL_SPH_FAR 1e9f /* coordinate of the filling up to whole lanes */

/* Room of count + TL_SPH_LANES each; the last lanes are filled up with TL_SPH_FAR by tl_sph_candidates_end. */
typedef struct tl_sph_candidates {
    int32_t count;
    float *at[3];
    int32_t *j; /* who: place in the sorted arrays it came from */
} tl_sph_candidates;

static inline void tl_sph_candidates_end(tl_sph_candidates *c)
{
    for (int32_t k = c->count; k % TL_SPH_LANES; k++) c->at[0][k] = c->at[1][k] = c->at[2][k] = TL_SPH_FAR, c->j[k] = 0;
}

/* Candidates nearer than 2h; `found` [count + TL_SPH_LANES] gets their places, rising. */
int32_t tl_sph_scan_count(const tl_sph_candidates *c, const float x[3]);
int32_t tl_sph_scan(const tl_sph_candidates *c, const float x[3], int32_t *found);

/* Gradients and sums of what was found. */
typedef struct tl_sph_sums {
    double w;    /* h^3 sum W */
    double g[3]; /* h^4 sum grad W */
    double g2;   /* h^8 sum |grad W|^2 */
} tl_sph_sums;

/* pair [n], j as in the candidates. The sums are added to. found [n + TL_SPH_LANES] is written beyond n. */
void tl_sph_scan_pairs(const tl_sph_candidates *c, const float x[3], int32_t n, int32_t *found, tl_sph_pair *pair,
                       tl_sph_sums *sums);
/* What is known of the fluid neighbours of one particle. */
typedef struct tl_sph_links {
    tl_sph_link *link;
    int32_t *neighbour;
    float *weight; /* h^3 W: the same bits whichever side a pair is seen from */
} tl_sph_links;
/* The same in whole numbers, [n] each. The sums are those of the whole numbers. Links are little-endian 64 bits. */
void tl_sph_scan_links(const tl_sph_candidates *c, const float x[3], int32_t n, int32_t *found, tl_sph_links out,
                       tl_sph_sums *sums);

#endif
