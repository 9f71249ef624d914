#include "model/grid/grains.h"

#include "model/grid/stencil.h"

/* Change of a grain's velocity by friction in the step, d above the solid. One that lands has its whole fall to lose; one that is near, and is not to
 * land yet, presses with its weight. */
static tl_vec3 friction(const tl_grains *s, int32_t which, tl_vec3 n, double d, const tl_particle *p)
{
    tl_vec3 v = tl_vec3_sub(tl_vec3_add(p->v, s->push), tl_solids_velocity(s->solids, which, p->x));
    double into = -tl_vec3_dot(v, n);
    tl_vec3 slip = tl_vec3_add_scaled(v, into, n);
    if (d - into * s->dt > s->gap) into = fmin(into, -tl_vec3_dot(s->push, n));
    double speed = tl_vec3_norm(slip), most = s->alpha[p->material] / sqrt(2) * into;
    if (!(into > 0) || !(speed > 0)) return (tl_vec3){0, 0, 0};
    return tl_vec3_scale(-fmin(1, most / speed), slip);
}

static void add(const tl_grid *g, const int32_t *id, const tl_halo_shape *h, int32_t block, const tl_particle *p,
                double m, tl_vec3 dv, tl_faces *faces)
{
    double place[3], d[3];
    tl_place_in_block(g, block, p->x, place);
    tl_vec3_store(dv, d);
    for (int a = 0; a < 3; a++) {
        tl_corners q = tl_corners_of(h, place, a);
        for (int k = 0; k < 8; k++) {
            int32_t at = id[q.at + (k >> 2) * h->sx + (k >> 1 & 1) * h->sy + (k & 1)];
            double w = (k & 4 ? q.t[0] : 1 - q.t[0]) * (k & 2 ? q.t[1] : 1 - q.t[1]) * (k & 1 ? q.t[2] : 1 - q.t[2]);
            if (faces->mass[a][at] > 0) faces->u[a][at] += w * m * d[a] / faces->mass[a][at];
        }
    }
}

static int32_t place_of(const tl_grid *g, int32_t block, tl_vec3 x)
{
    const double at[3] = {x.x, x.y, x.z};
    int32_t place = 0;
    for (int k = 0; k < 3; k++) {
        int32_t c = (int32_t)floor(tl_grid_scaled(&g->f, at[k], k)) - g->corner[block][k];
        place += (c < 0 ? 0 : c >= g->f.edge[k] ? g->f.edge[k] - 1 : c) * g->f.stride[k];
    }
    return place;
}

/* Few grains are alone: one thread, in their order. */
int64_t tl_grains_stop(const tl_grid *g, const tl_grains *s, const tl_particles *p, tl_faces *faces)
{
    tl_halo_shape h = tl_halo_shape_of(g);
    int64_t stopped = 0;
    for (int32_t b = 0; b < g->blocks; b++) {
        int32_t id[TL_GRID_HALO_MAX];
        bool read = false;
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++) {
            const tl_particle *q = &p->particle[i];
            if (!(s->alpha[q->material] > 0) || s->number[b * g->f.size + place_of(g, b, q->x)] >= 0) continue;
            if (!tl_solids_near(s->solids, g, b, q->x, s->touch + 0.87 * g->f.dx, s->solid_phi)) continue;
            int32_t which;
            tl_vec3 n;
            double d = tl_solids_distance(s->solids, b, q->x, &which, &n);
            if (!(d < s->touch) || which == TL_SOLID_NONE) continue;
            if (!read) tl_grid_halo(g, b, id);
            read = true;
            add(g, id, &h, b, q, s->rho[q->material] * q->volume, friction(s, which, n, d, q), faces);
            stopped++;
        }
    }
    return stopped;
}
