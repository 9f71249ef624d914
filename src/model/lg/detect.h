/* Inside of detection: detect.c asks for every part, detect_shape.c finds elastic surfaces against shapes,
 * detect_skin.c against each other. contact.h says what a contact is. */
#ifndef TL_MODEL_LG_DETECT_H
#define TL_MODEL_LG_DETECT_H

#include "model/lg/contact.h"

/* The list as it grows; old lists stay in the arena, all together take twice the last one. */
typedef struct tl_lg_found {
    tl_arena *a;
    int32_t count, room;
    tl_lg_contact *contact;
} tl_lg_found;

talus_status tl_lg_found_add(tl_lg_found *f, const tl_lg_contact *c, talus_error *err);

/* How far beyond its own motion a surface looks, m. */
double tl_lg_slack(const tl_lg_view *v, int body);
/* How far from its nodes the surface is: half the thickness of a cloth, 0 for solids, m. */
double tl_lg_half(const tl_lg *lg, int body);
/* A joint holds the elastic body to that one of tl_rigid, and they do not touch. */
bool tl_lg_is_jointed(const tl_lg_view *v, int body, int32_t other);
/* Friction and restitution between an elastic body and a body of tl_rigid. */
double tl_lg_pair_friction(const tl_lg_view *v, int elastic, int32_t other, double *restitution);

static inline tl_vec3 tl_lg_at(const double *q, int32_t node) { return tl_vec3_load(q + 3 * (int64_t)node); }
/* All that a surface sweeps within the step. */
tl_box3 tl_lg_swept(const tl_lg_view *v, int body);
static inline tl_box3 tl_lg_grown(tl_box3 b, double by)
{
    tl_vec3 d = {by, by, by};
    return (tl_box3){tl_vec3_sub(b.lo, d), tl_vec3_add(b.hi, d)};
}
static inline bool tl_lg_apart(const tl_box3 *a, const tl_box3 *b)
{
    return a->lo.x > b->hi.x || b->lo.x > a->hi.x || a->lo.y > b->hi.y || b->lo.y > a->hi.y || a->lo.z > b->hi.z ||
           b->lo.z > a->hi.z;
}

/* Elastic bodies against one obstacle at a time. Scratch for the largest body is taken once. */
typedef struct tl_lg_scratch {
    struct tl_lg_probe *probe;
    struct tl_lg_place *place;
} tl_lg_scratch;
talus_status tl_lg_scratch_take(tl_lg_scratch *out, const tl_lg *lg, tl_arena *a, talus_error *err);
/* swept: box of the obstacle over the step. */
talus_status tl_lg_detect_shape(const tl_lg_view *v, const tl_lg_scratch *scratch, int body, int32_t obstacle,
                                const tl_box3 *swept, tl_lg_found *f, talus_error *err);

/* m: how deep a surface is in the shape where nodes are at v->to, between nodes as well. */
double tl_lg_depth_in_shape(const tl_lg_view *v, const tl_lg_scratch *scratch, int body, int32_t obstacle,
                            const tl_box3 *swept);

/* Elastic bodies against each other and, where the scene asks for it, themselves. box [bodies]: swept, with margins. */
talus_status tl_lg_detect_skins(const tl_lg_view *v, const tl_box3 *box, tl_lg_found *f, talus_error *err);

/* Where the surfaces of contact c have to be at the end of the step, m along the normal: overlaps leave slowly. A
 * cloth that folds into its own thickness would be thrown apart. */
double tl_lg_leaves_slowly(const tl_lg_view *v, const tl_lg_contact *c);

/* Contacts for edges that are more than `depth` inside of other solids where nodes are at v->to = v->from, whatever
 * else was found. */
talus_status tl_lg_pierced(const tl_lg_view *v, double depth, tl_lg_found *out, talus_error *err);

/* Box of nodes where they are from v->from to v->to. */
tl_box3 tl_lg_box_of(const tl_lg_view *v, const int32_t *node, int count);

/* Such boxes of bodies and of the trees over their triangles, the latter as they are needed. */
typedef struct tl_lg_trees {
    tl_box3 *box;   /* [skin.boxes] */
    tl_box3 *whole; /* [bodies] */
    bool *fitted;   /* [bodies] */
} tl_lg_trees;
talus_status tl_lg_plant_trees(tl_lg_trees *t, const tl_lg_view *v, tl_arena *a, talus_error *err);
/* Whether surfaces of bodies i and k, or of one that touches itself, may meet; k's tree is there then. */
bool tl_lg_may_cross(tl_lg_trees *t, const tl_lg_view *v, int i, int k);

/* Weights of the place of triangle x that is nearest to p. */
void tl_lg_nearest_place(tl_vec3 p, const tl_vec3 x[3], double w[3]);

#endif
