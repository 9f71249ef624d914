#include "model/grid/grains_inside.h"

static void add_rider(const tl_grains *s, int32_t which, const tl_particle *p, int32_t i, int32_t block, tl_vec3 dv)
{
    const tl_skin_place q = tl_skin_nearest(s->solids->solid[which].skin, p->x);
    TL_ASSERT(s->riders->count < s->riders->room);
    tl_rider *r = &s->riders->of[s->riders->count++];
    *r = (tl_rider){.particle = i,
                    .block = block,
                    .body = which,
                    .normal = q.normal,
                    .mass = s->rho[p->material] * p->volume,
                    .friction = friction_of(s, which, p),
                    .v = tl_vec3_add(p->v, s->push),
                    .expected = dv};
    for (int k = 0; k < 3; k++) r->node[k] = q.node[k], r->weight[k] = q.weight[k];
}

/* The solid that a grain touches acts on it. */
static bool touch(const tl_grains *s, const tl_grid *g, int32_t block, const tl_particle *p, int32_t i, tl_vec3 *dv)
{
    *dv = (tl_vec3){0, 0, 0};
    if (!tl_solids_near(s->solids, g, block, p->x, s->touch + 0.87 * g->f.dx, s->solid_phi)) return false;
    int32_t which;
    tl_vec3 n;
    double d = tl_solids_distance(s->solids, block, p->x, &which, &n);
    if (!(d < s->touch) || which == TL_SOLID_NONE || (!s->alpha && !is_free(s, which))) return false;
    *dv = impulse(s, which, n, p);
    if (rides(s, which)) add_rider(s, which, p, i, block, *dv);
    return true;
}

/* Few grains are alone: one thread, in their order. */
int64_t tl_grains_stop(const tl_grid *g, const tl_grains *s, const tl_particles *p, tl_faces *faces)
{
    tl_halo_shape h = tl_halo_shape_of(g);
    int64_t stopped = 0;
    for (int32_t b = 0; b < g->blocks; b++) {
        if (g->first[b] == g->first[b + 1]) continue;
        if (!s->alpha && s->solids->start[b] == s->solids->start[b + 1]) continue;
        int32_t id[TL_GRID_HALO_MAX];
        tl_grid_halo(g, b, id);
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++) {
            const tl_particle *q = &p->particle[i];
            if (s->alpha && !(s->alpha[q->material] > 0)) continue;
            double place[3];
            tl_place_in_block(g, b, q->x, place);
            int32_t cell = cell_of(g, &h, place);
            if (s->number[id[cell]] >= 0) continue;
            tl_vec3 dv;
            bool touches = touch(s, g, b, q, i, &dv);
            if (touches || (s->alpha && beside_pressure(s, &h, id, cell)))
                add(g, id, &h, place, q, s->rho[q->material] * q->volume, dv, faces);
            stopped += touches;
        }
    }
    return stopped;
}

void tl_grains_land(const tl_grid *g, const tl_riders *r, const tl_particles *p, double *const impulse[3])
{
    const tl_halo_shape h = tl_halo_shape_of(g);
    int32_t id[TL_GRID_HALO_MAX], block = -1;
    for (int64_t i = 0; i < r->count; i++) {
        const tl_rider *q = &r->of[i];
        double place[3], d[3];
        if (q->block != block) tl_grid_halo(g, block = q->block, id);
        tl_place_in_block(g, q->block, p->particle[q->particle].x, place);
        tl_vec3_store(tl_vec3_scale(q->mass, tl_vec3_sub(q->got, q->expected)), d);
        for (int a = 0; a < 3; a++) {
            const tl_corners c = tl_corners_of(&h, place, a);
            for (int k = 0; k < 8; k++) {
                const double w =
                    (k & 4 ? c.t[0] : 1 - c.t[0]) * (k & 2 ? c.t[1] : 1 - c.t[1]) * (k & 1 ? c.t[2] : 1 - c.t[2]);
                impulse[a][id[c.at + (k >> 2) * h.sx + (k >> 1 & 1) * h.sy + (k & 1)]] += w * d[a];
            }
        }
    }
}
