/* Pieces of liquid that hang together, and momentum that faces were given and particles did not get.
 *
 * A piece is a set of cells with matter that share faces. Pieces that touch a wall or another fixed solid are held:
 * pressure carries their weight. So are those that hang together with something fixed by bodies: water in a vessel that
 * stands, or floats. The others are free, and only free bodies act on them.
 *
 * In a held piece a solve moves the liquid inside of the surface, which is what is level at rest, while particles
 * weigh what their kernels put on faces, and faces beside the liquid go with their neighbours. What the momentum of
 * the particles then lacks is on account of what holds the piece. Free pieces are solved with the particles' own
 * mass: nothing but rounding is lacking there, and it is paid back as one velocity of the piece. */
#ifndef TL_MODEL_GRID_PIECES_H
#define TL_MODEL_GRID_PIECES_H

#include "model/grid/fractions.h"
#include "model/grid/grid.h"

#define TL_NO_PIECE (-1)

typedef struct tl_pieces {
    int32_t count;
    int32_t *of;   /* [cells] number, in the order of first cells; TL_NO_PIECE: nothing there */
    uint8_t *held; /* [count] */
    /* several parts, which all have the same pieces and numbers: those with cells in more than one */
    int32_t shared;
    int32_t *shared_of; /* [shared] rising */
} tl_pieces;

typedef struct tl_piece_touch {
    int32_t body, axis, face;
} tl_piece_touch;

typedef struct tl_piece_links {
    double *const *fixed;    /* [3][cells] part of a face that walls and static bodies cover */
    const tl_covers *covers; /* of bodies that move */
    int32_t bodies;
    const double *inv_mass; /* [bodies] 0: fixed, or scripted */
    int32_t pairs;
    int32_t *pair; /* [pairs][2] bodies that press against each other, or that joints hold; -1: the world */
    int64_t touches;
    tl_piece_touch *touch; /* [touches] faces that elastic bodies cover */
} tl_piece_links;

/* fill [cells] > 0: matter. mass [3][cells] kg. */
talus_status tl_pieces_find(tl_pieces *out, const tl_grid *g, const double *fill, double *const mass[3],
                            const tl_piece_links *links, tl_arena *a, talus_error *err);

/* A face belongs to the piece of either of its cells. */
static inline int32_t tl_piece_of_face(const tl_pieces *p, const tl_grid *g, int axis, int32_t face)
{
    if (!tl_grid_exists(g, face)) return TL_NO_PIECE;
    if (p->of[face] != TL_NO_PIECE) return p->of[face];
    int32_t below = tl_grid_step(g, face, axis, -1);
    return tl_grid_exists(g, below) ? p->of[below] : TL_NO_PIECE;
}

static inline bool tl_pieces_any_free(const tl_pieces *p)
{
    for (int32_t k = 0; k < p->count; k++)
        if (!p->held[k]) return true;
    return false;
}

static inline bool tl_face_is_free(const tl_pieces *p, const tl_grid *g, int axis, int32_t face)
{
    int32_t k = tl_piece_of_face(p, g, axis, face);
    return k != TL_NO_PIECE && !p->held[k];
}

typedef struct tl_repay {
    double *const *mass;   /* [3][cells] kg */
    double *const *due;    /* [3][cells] N s that faces are to have; what mass and velocity lack of it is owed */
    tl_vec3 fixed, turned; /* out: N s on matter by fixed solids, and its moment about the origin */
} tl_repay;

talus_status tl_faces_repay(const tl_grid *g, const tl_pieces *p, tl_repay *r, double *const u[3], tl_arena *a,
                            talus_error *err);

#endif
