/* Faces that go with others: they have matter on them, and no force of their own.
 *
 * Solids cover some, single grains beside the pile have others, and stress reaches some that no pressure holds. After
 * the solve such a face takes the mean velocity of its known neighbours, layer by layer (tl_extrapolate). So its mass
 * and momentum belong to these neighbours from the start: the same layers, read backwards.
 *
 *     M_f = m_f + sum over faces c that go with f of (share of f in the mean) M_c
 *
 * With M in the mobility, W_F dx^3 / M, the impulse that the solve gives to a face is what the particles around it
 * get, and momentum of sand and bodies is kept to rounding; the floor under sand at rest carries its weight. Of a
 * liquid only faces that free bodies cover go with others, in pieces that nothing holds (pieces.h). A layer slips
 * with the same acceleration in every row, those beside floor and surface too, whose kernels reach beyond. */
#ifndef TL_MODEL_COUPLING_CARRY_H
#define TL_MODEL_COUPLING_CARRY_H

#include "model/coupling/coupling.h"
#include "model/grid/extrapolate.h"
#include "model/grid/fractions.h"
#include "model/grid/pieces.h"
#include "model/grid/transfer.h"

typedef struct tl_carry {
    uint8_t *known[3]; /* [cells] 1: a velocity of its own; k + 1: the mean of earlier layers; 0: nothing there */
    double *mass[3];   /* [cells] M, kg; of faces with a velocity of their own */
    int32_t *face[3];  /* own faces with mass that go with others, by layer, furthest first */
    int32_t begin[3][TL_EXTRAPOLATE_LAYERS + 2]; /* those with known = k are begin[k] .. begin[k - 1] of these */
} tl_carry;

/* pieces: of a liquid; NULL: sand. Of several parts collective, like all that follows. */
talus_status tl_carry_find(tl_carry *out, const tl_grid *g, const tl_faces *faces, const tl_fractions *fractions,
                           const tl_face_lists *lists, const tl_pieces *pieces, tl_arena *a, talus_error *err);

/* Faces that go with others take their mean: after the solve. */
void tl_carry_follow(const tl_carry *c, const tl_grid *g, double *const u[3]);

/* Velocities that hold the momentum of what goes with a face too. */
talus_status tl_carry_velocities(const tl_carry *c, const tl_grid *g, tl_faces *faces, tl_arena *a, talus_error *err);

/* Impulses of faces [3][cells], spoilt: each goes to whom its face's mass belongs. */
void tl_carry_impulses(const tl_carry *c, const tl_grid *g, tl_faces *faces, double *const impulse[3]);

#endif
