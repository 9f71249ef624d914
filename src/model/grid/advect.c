#include "model/grid/transfer.h"

#include <string.h>

#include "base/parallel.h"
#include "model/grid/eight.h"
#include "model/grid/stencil.h"

#define ROUNDING 1e-9 /* of a way: beyond what rounding makes of it */
#define PUSHES 4      /* a corner of three surfaces takes three */
#define MARCH_MAX                                                                                                      \
    100000 /* looks ahead on one way, of at least half a gap: steps are cut so that a particle crosses a few cells */

/* What points into the solid goes. */
static void stop(const tl_solids *s, int32_t which, tl_vec3 n, tl_particle *p)
{
    if (tl_solids_gives(s, which)) return;
    double into = tl_vec3_dot(tl_vec3_sub(p->v, tl_solids_velocity(s, which, p->x)), n);
    if (into < 0) p->v = tl_vec3_add_scaled(p->v, -into, n);
}

bool tl_particle_put_outside(const tl_solids *s, int32_t block, double gap, tl_particle *p, double *deepest)
{
    int pushes = 0;
    for (; pushes < PUSHES; pushes++) {
        int32_t which;
        tl_vec3 n;
        double d = tl_solids_distance(s, block, p->x, &which, &n);
        if (!(d < gap) || which == TL_SOLID_NONE) break;
        *deepest = fmax(*deepest, gap - d);
        p->x = tl_vec3_add_scaled(p->x, (gap - d) * (1 + 1e-12), n);
        stop(s, which, n, p);
    }
    if (pushes == PUSHES) p->C = (tl_mat3){{{0}}}; /* pinched: no room for a gradient */
    return pushes > 0;
}

/* Where a place beside an elastic surface is if that takes it along: what is thinner than its way of a step has passed
 * over particles that are now on its other side, or nearer to it. */
static tl_vec3 taken_along(const tl_solids *s, int32_t which, tl_vec3 from)
{
    const tl_skin *end = which >= 0 ? s->solid[which].skin : NULL;
    if (!s->before || !end) return from;
    const tl_skin_place q = tl_skin_nearest(&s->before->skin[which], from);
    tl_vec3 way = tl_vec3_scale(-1, q.at);
    for (int k = 0; k < 3; k++)
        way = tl_vec3_add_scaled(way, q.weight[k], tl_vec3_load(end->x + 3 * (int64_t)q.node[k]));
    return q.distance >= 0 && tl_vec3_norm(way) > q.distance ? tl_vec3_add(from, way) : from;
}

/* A straight way ends at the first surface it meets; what is left of it slides along. Solids are where they end: one
 * that has moved over the start puts it out first, on the side where it was, and the way leads from there to where
 * it was to end. True: something was met. */
static bool walk(const tl_solids *s, int32_t block, double gap, tl_vec3 way, tl_particle *p)
{
    tl_vec3 from = p->x, n = {0, 0, 0};
    int32_t which;
    double d = tl_solids_distance(s, block, from, &which, &n);
    const tl_vec3 along_with = taken_along(s, which, from);
    way = tl_vec3_add(way, tl_vec3_sub(from, along_with));
    from = along_with;
    if (s->before) d = tl_solids_distance(s, block, from, &which, &n);
    if (d < 0) {
        tl_particle out = *p;
        out.x = from;
        double deepest = 0;
        tl_particle_put_outside(s, block, gap, &out, &deepest);
        way = tl_vec3_add(way, tl_vec3_sub(from, out.x));
        from = out.x;
        d = tl_solids_distance(s, block, from, &which, &n);
    }
    /* each surface that is met turns the rest of the way along it; in a corner of three nothing is left */
    for (int turns = 0; turns < PUSHES; turns++) {
        double length = tl_vec3_norm(way), done = 0, into = 0;
        p->x = tl_vec3_add(from, way);
        if (d < 0 || !(length > 0)) return turns > 0;
        tl_vec3 along = tl_vec3_scale(1 / length, way);
        /* a distance cannot fall faster than the way goes: steps of its size miss nothing */
        for (int k = 0; done < length && !(d < gap && (into = tl_vec3_dot(along, n)) < 0); k++) {
            if (k == MARCH_MAX)
                return turns > 0; /* it goes where it was to end, out of the domain, and is counted there */
            done = fmin(length, done + fmax(d, 0.5 * gap));
            d = tl_solids_distance(s, block, tl_vec3_add_scaled(from, done, along), &which, &n);
        }
        if (done >= length) return turns > 0;
        from = p->x = tl_vec3_add_scaled(from, done, along);
        stop(s, which, n, p);
        way = tl_vec3_scale(length - done, tl_vec3_add_scaled(along, -into, n));
        /* the next surface, if another is as near: this one is a gap away from now on */
        from = tl_vec3_add_scaled(from, gap - d, n);
        d = tl_solids_distance(s, block, from, &which, &n);
    }
    p->x = from;
    return true;
}

/* Velocity at a place: from what was read around the block, or, further out, from the grid. */
static void sample(const tl_grid *g, int32_t block, const tl_halo_shape *h, const tl_face_halo *around,
                   double *const u[3], uint8_t *const known[3], tl_vec3 x, tl_vec3 *v)
{
    double s[3], out[3] = {v->x, v->y, v->z}, corner[8];
    tl_place_in_block(g, block, x, s);
    bool inside = true;
    for (int k = 0; k < 3; k++) inside &= s[k] >= -0.5 && s[k] < h->hi[k] + 0.5;
    if (!inside) {
        tl_grid_velocity(g, block, u, known, x, v);
        return;
    }
    for (int k = 0; k < 3; k++) {
        tl_corners q = tl_corners_of(h, s, k);
        if (tl_corner_values(h, &q, around, k, corner)) out[k] = tl_trilinear(corner, q.t, NULL);
    }
    *v = tl_vec3_load(out);
}

/* What one block's particles go through. */
typedef struct flow {
    const tl_grid *g;
    double *const *u;
    uint8_t *const *known;
    const tl_solids *end; /* NULL: none */
    const float *solid_phi;
    double near; /* m: how far solids may have come, and their gap */
    double gap, dt;
    const double *rho;      /* [materials] kg/m^3 */
    const uint8_t *bounded; /* [blocks] whose affine energy is asked for */
    tl_carried *carried;    /* [blocks]; NULL: nobody asks */
} flow;

/* No solid within reach of any cell of a block. */
static bool far_from_solids(const flow *f, int32_t b)
{
    if (!f->end || !f->solid_phi) return !f->end;
    const float *phi = f->solid_phi + (int64_t)b * f->g->f.size;
    int32_t near = 0;
    for (int32_t p = 0; p < f->g->f.size; p++) near += phi[p] < (float)f->end->reach;
    return near == 0;
}

static void advect(const flow *f, int32_t b, bool far, const tl_halo_shape *h, const tl_face_halo *around,
                   tl_particle *q, tl_advected *out)
{
    tl_vec3 v = q->v, from = q->x;
    sample(f->g, b, h, around, f->u, f->known, tl_vec3_add_scaled(from, 0.5 * f->dt, v), &v);
    tl_vec3 way = tl_vec3_scale(f->dt, v);
    double reach = tl_vec3_norm(way) + f->near;
    if (!f->end || (far && reach < f->end->reach) || !tl_solids_near(f->end, f->g, b, from, reach, f->solid_phi) ||
        tl_solids_walls_beyond(f->end, b, from, (1 + ROUNDING) * (tl_vec3_norm(way) + f->gap))) {
        q->x = tl_vec3_add(from, way);
        return;
    }
    tl_vec3 before = q->v;
    bool met = tl_vec3_norm2(way) > 0 && walk(f->end, b, f->gap, way, q);
    met |= tl_particle_put_outside(f->end, b, f->gap, q, &out->deepest);
    out->clipped += met;
    if (!met || !f->carried) return;
    tl_carried *to = &f->carried[b];
    tl_vec3 impulse = tl_vec3_scale(f->rho[q->material] * q->volume, tl_vec3_sub(q->v, before));
    to->impulse = tl_vec3_add(to->impulse, impulse);
    to->turn = tl_vec3_add(to->turn, tl_vec3_cross(q->x, impulse));
}

static double affine_energy(const tl_grid *g, int32_t b, const double *rho, const tl_particles *p)
{
    double sum = 0, arm[3][3];
    for (int32_t i = g->first[b]; i < g->first[b + 1]; i++) {
        const tl_particle *q = &p->particle[i];
        sum += 0.5 * rho[q->material] * q->volume * tl_particle_affine(&g->f, q, arm);
    }
    return sum;
}

static void bound_affine(const tl_grid *g, int32_t b, const double *rho, const tl_carried *carried, tl_particles *p)
{
    double now = affine_energy(g, b, rho, p);
    if (!(now > carried[b].affine)) return;
    double part = sqrt(carried[b].affine / now);
    for (int32_t i = g->first[b]; i < g->first[b + 1]; i++)
        for (int k = 0; k < 9; k++) p->particle[i].C.m[k / 3][k % 3] *= part;
}

void tl_particles_bound_affine(const tl_grid *g, const double *rho, const tl_carried *carried, const uint8_t *bounded,
                               tl_particles *p)
{
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->owned; b++)
        if (bounded[b] && g->first[b] < g->first[b + 1]) bound_affine(g, b, rho, carried, p);
}

/* ---- eight particles at once ----
 *
 * What follows is tl_to_particle, sample and tl_particle_sums_add for eight particles in vectors. Those beside faces
 * that are not known, outside of the neighbourhood, or near a solid are marked and done one by one. */
#define LANES TL_EIGHT
typedef tl_eight lanes;
typedef tl_eight_whole whole;
typedef double two __attribute__((vector_size(16)));
typedef double four __attribute__((vector_size(32)));

typedef struct batch {
    int count; /* the others repeat the last one, without mass */
    lanes x[3], v[3], C[3][3];
    lanes volume, mass;
} batch;

/* Places on the two lattices along each axis, that of its own faces and that of the others': number of the lower one
 * in the halo, and how far behind it. */
typedef struct places {
    whole low[3][2];
    lanes t[3][2];
} places;

/* bad: -1 in lanes outside of the neighbourhood, which are read at its corner. */
static inline places places_of(const tl_grid *g, int32_t b, const tl_halo_shape *h, const lanes x[3], whole *bad)
{
    const double origin[3] = {g->f.origin.x, g->f.origin.y, g->f.origin.z};
    places out;
    whole off = {0};
    for (int k = 0; k < 3; k++) {
        lanes s = (x[k] - origin[k]) * g->f.per_dx - (double)g->corner[b][k];
        for (int half = 0; half < 2; half++) {
            lanes from = half ? s + 0.5 : s + 1; /* as counted in the halo, which begins one cell before the block */
            off |= ~((from >= 0) & (from < (double)(h->hi[k] + 1)));
            whole low = __builtin_convertvector(from, whole);
            out.low[k][half] = low;
            out.t[k][half] = from - __builtin_convertvector(low, lanes);
        }
    }
    for (int k = 0; k < 3; k++)
        for (int half = 0; half < 2; half++) out.low[k][half] &= ~off;
    *bad |= off;
    return out;
}

/* Values of eight places and of the ones behind them: neighbours in memory, read as one. */
static inline void gather(const double *u, const int64_t at[LANES], lanes out[2])
{
    two pair[LANES];
    for (int l = 0; l < LANES; l++) memcpy(&pair[l], u + at[l], sizeof pair[l]);
#define FOUR(a, b) __builtin_shufflevector(pair[a], pair[b], 0, 1, 2, 3)
    const four a = FOUR(0, 1), b = FOUR(2, 3), c = FOUR(4, 5), d = FOUR(6, 7);
#undef FOUR
    const lanes low = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7),
                high = __builtin_shufflevector(c, d, 0, 1, 2, 3, 4, 5, 6, 7);
    out[0] = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
    out[1] = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
}

/* Values around each particle on the faces of an axis; bad: where some are not known. */
static inline void corners_of(const tl_halo_shape *h, const tl_face_halo *around, const places *q, int axis,
                              lanes out[8], whole *bad)
{
    const whole lowest = q->low[0][axis != 0] * h->sx + q->low[1][axis != 1] * h->sy + q->low[2][axis != 2];
    const uint8_t *full = around->full[axis];
    const double *u = around->u[axis];
    int64_t at[LANES];
    memcpy(at, &lowest, sizeof at);
    uint8_t all = 1;
    for (int l = 0; l < LANES; l++) all &= full[at[l]];
    for (int l = 0; l < LANES && !all; l++) (*bad)[l] |= (int64_t)full[at[l]] - 1;
    for (int k = 0; k < 4; k++) gather(u + (k >> 1) * h->sx + (k & 1) * h->sy, at, &out[2 * k]);
}

static inline lanes trilinear(const lanes u[8], const lanes t[3], lanes gradient[3])
{
    lanes z[4], dz[4];
    for (int k = 0; k < 4; k++) {
        dz[k] = u[2 * k + 1] - u[2 * k];
        z[k] = u[2 * k] + t[2] * dz[k];
    }
    lanes d0 = z[1] - z[0], d1 = z[3] - z[2];
    lanes y0 = z[0] + t[1] * d0, y1 = z[2] + t[1] * d1;
    if (gradient) {
        lanes e0 = dz[0] + t[1] * (dz[1] - dz[0]), e1 = dz[2] + t[1] * (dz[3] - dz[2]);
        gradient[0] = y1 - y0;
        gradient[1] = d0 + t[0] * (d1 - d0);
        gradient[2] = e0 + t[0] * (e1 - e0);
    }
    return y0 + t[0] * (y1 - y0);
}

static inline void read_batch(const tl_particle *p, int count, const double *rho, batch *out)
{
    out->count = count;
    for (int l = 0; l < LANES; l++) {
        const tl_particle *q = &p[l < count ? l : count - 1];
        out->x[0][l] = q->x.x, out->x[1][l] = q->x.y, out->x[2][l] = q->x.z;
        out->v[0][l] = q->v.x, out->v[1][l] = q->v.y, out->v[2][l] = q->v.z;
        out->volume[l] = l < count ? q->volume : 0;
        out->mass[l] = l < count ? rho[q->material] * q->volume : 0;
    }
}

/* Particles that are not in `but`. */
static inline void write_batch(const batch *in, whole but, tl_particle *p)
{
    lanes first[LANES] = {in->x[0], in->x[1], in->x[2], in->v[0], in->v[1], in->v[2], in->C[0][0], in->C[0][1]};
    lanes rest[LANES] = {in->C[0][2], in->C[1][0], in->C[1][1], in->C[1][2],
                         in->C[2][0], in->C[2][1], in->C[2][2], in->volume};
    tl_eight_turn(first);
    tl_eight_turn(rest);
    for (int l = 0; l < in->count; l++) {
        if (but[l]) continue;
        memcpy(&p[l], &first[l], sizeof first[l]);
        memcpy((char *)&p[l] + sizeof first[l], &rest[l], sizeof rest[l]);
    }
}

static inline void velocities_of(const tl_grid *g, int32_t b, const tl_halo_shape *h, const tl_face_halo *around,
                                 batch *q, whole *bad)
{
    places at = places_of(g, b, h, q->x, bad);
    for (int k = 0; k < 3; k++) {
        lanes corner[8], t[3] = {at.t[0][k != 0], at.t[1][k != 1], at.t[2][k != 2]};
        corners_of(h, around, &at, k, corner, bad);
        q->v[k] = trilinear(corner, t, q->C[k]);
        for (int j = 0; j < 3; j++) q->C[k][j] = j == g->f.flat_axis ? (lanes){0} : q->C[k][j] * g->f.per_dx;
    }
}

/* Velocities half a step on. */
static inline void sample_ahead(const flow *f, int32_t b, const tl_halo_shape *h, const tl_face_halo *around,
                                const batch *q, lanes v[3], whole *bad)
{
    lanes x[3];
    for (int k = 0; k < 3; k++) x[k] = q->x[k] + 0.5 * f->dt * q->v[k];
    places at = places_of(f->g, b, h, x, bad);
    for (int k = 0; k < 3; k++) {
        lanes corner[8], t[3] = {at.t[0][k != 0], at.t[1][k != 1], at.t[2][k != 2]};
        corners_of(h, around, &at, k, corner, bad);
        v[k] = trilinear(corner, t, NULL);
    }
}

static inline lanes larger(lanes a, lanes b)
{
    whole more = ~(b <= a);
    return (lanes)(((whole)b & more) | ((whole)a & ~more));
}

/* Ways that may meet a solid: exact for walls; by distances of the start's cell near bodies. */
static inline whole meets_solid(const flow *f, int32_t b, bool far, const batch *q, const lanes v[3])
{
    const tl_solids *s = f->end;
    const double lo[3] = {s->box.lo.x, s->box.lo.y, s->box.lo.z}, hi[3] = {s->box.hi.x, s->box.hi.y, s->box.hi.z};
    lanes way2 = f->dt * f->dt * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), least = (lanes){0} + s->reach;
    const double room = s->reach - f->near;
    whole out = {0};
    if (far) return room > 0 ? ~(way2 < room * room) : ~out;
    if (s->start[b] < s->start[b + 1]) {
        for (int l = 0; l < LANES; l++) {
            tl_vec3 x = {q->x[0][l], q->x[1][l], q->x[2][l]};
            out[l] = tl_solids_near(s, f->g, b, x, sqrt(way2[l]) + f->near, f->solid_phi) ? -1 : 0;
        }
        return out;
    }
    /* a straight way between two places away from the walls of a box is away from them all along */
    for (int k = 0; k < 3; k++) {
        const lanes to = q->x[k] + f->dt * v[k], low = -larger(-q->x[k], -to), high = larger(q->x[k], to);
        if (s->wall[2 * k]) least = -larger(-least, lo[k] - low);
        if (s->wall[2 * k + 1]) least = -larger(-least, high - hi[k]);
    }
    const double free = s->reach * (1 - ROUNDING) - f->gap;
    return ~((least * (1 - ROUNDING) > f->gap) & (way2 < free * free) & (free > 0 ? ~out : out));
}

typedef struct lane_sums {
    lanes mass, volume, kinetic, second, first[3], p[3], L[3], fastest2;
} lane_sums;

/* Of the lanes in `who`. */
static inline void add_batch(const tl_grid_frame *f, const batch *q, whole who, lane_sums *sum)
{
    const double origin[3] = {f->origin.x, f->origin.y, f->origin.z}, dx2 = f->dx * f->dx;
    lanes spin = {0}, arm[3][3], m = (lanes)((whole)q->mass & who);
    for (int b = 0; b < 3; b++) {
        lanes s = (q->x[b] - origin[b]) * f->per_dx,
              low = __builtin_convertvector(__builtin_convertvector(s, whole), lanes);
        lanes t = s - low; /* below the origin, up to a whole cell less: the same moments */
        t = (lanes)((whole)t & ~(t < 0)) + (lanes)((whole)(t + 1) & (t < 0));
        lanes half = t + 0.5;
        half -= (lanes)((whole)((lanes){0} + 1) & (t >= 0.5));
        lanes own = t * (1 - t) * dx2, other = half * (1 - half) * dx2;
        for (int axis = 0; axis < 3; axis++) {
            arm[axis][b] = (axis == b ? own : other) * q->C[axis][b];
            spin += arm[axis][b] * q->C[axis][b];
        }
    }
    lanes v2 = (lanes)((whole)(q->v[0] * q->v[0] + q->v[1] * q->v[1] + q->v[2] * q->v[2]) & who);
    sum->mass += m;
    sum->volume += (lanes)((whole)q->volume & who);
    sum->kinetic += 0.5 * m * (v2 + spin);
    sum->second += m * (q->x[0] * q->x[0] + q->x[1] * q->x[1] + q->x[2] * q->x[2]);
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        sum->first[k] += m * q->x[k];
        sum->p[k] += m * q->v[k];
        sum->L[k] += m * (q->x[i] * q->v[j] - q->x[j] * q->v[i] + arm[j][i] - arm[i][j]);
    }
    sum->fastest2 = larger(sum->fastest2, v2);
}

static double total(lanes a) { return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7])); }

static void add_lanes(const lane_sums *from, tl_particle_sums *to)
{
    to->mass += total(from->mass);
    to->volume += total(from->volume);
    to->kinetic += total(from->kinetic);
    to->second += total(from->second);
    for (int k = 0; k < 3; k++) {
        to->first[k] += total(from->first[k]);
        to->p[k] += total(from->p[k]);
        to->L[k] += total(from->L[k]);
    }
    for (int l = 0; l < LANES; l++)
        if (!(from->fastest2[l] <= to->fastest2)) to->fastest2 = from->fastest2[l];
}

/* ---- a block ---- */

/* Neighbourhoods of a block, and where its particles' sums go. */
typedef struct block_flow {
    int32_t b;
    bool far;
    tl_halo_shape h;
    tl_face_halo u, by; /* what particles take velocities from, and what carries them */
    lane_sums sums;
} block_flow;

/* Up to eight particles of a block. */
static void carry_batch(const flow *f, block_flow *a, tl_particle *p, int count, tl_particle_sums *sums,
                        tl_advected *out)
{
    batch q;
    lanes ahead[3];
    whole lost = {0}, alone = {0};
    read_batch(p, count, f->rho, &q);
    velocities_of(f->g, a->b, &a->h, &a->u, &q, &lost);
    sample_ahead(f, a->b, &a->h, &a->by, &q, ahead, &alone);
    alone |= lost;
    if (f->end) alone |= meets_solid(f, a->b, a->far, &q, ahead);
    for (int k = 0; k < 3; k++) q.x[k] += (lanes)((whole)(f->dt * ahead[k]) & ~alone);
    write_batch(&q, lost, p);
    for (int l = 0; l < count; l++) {
        if (!alone[l]) continue;
        if (lost[l]) tl_to_particle(f->g, a->b, &a->h, &a->u, &p[l]);
        advect(f, a->b, a->far, &a->h, &a->by, &p[l], out);
        tl_particle_sums_add(&f->g->f, &p[l], f->rho[p[l].material], sums);
    }
    add_batch(&f->g->f, &q, ~alone, &a->sums);
}

static tl_advected carry_block(const flow *f, int32_t b, double *const *u, tl_particles *p)
{
    const tl_grid *g = f->g;
    const int32_t first = g->first[b], end = g->first[b + 1];
    block_flow a;
    a.b = b;
    a.far = far_from_solids(f, b);
    a.h = tl_halo_shape_of(g);
    a.sums = (lane_sums){0};
    tl_advected out = {0};
    tl_particle_sums sums = {0};
    int32_t id[TL_GRID_HALO_MAX];
    tl_grid_halo(g, b, id);
    tl_face_halo_read(g, id, u, f->known, &a.u);
    memcpy(a.by.known, a.u.known, sizeof a.u.known);
    memcpy(a.by.full, a.u.full, sizeof a.u.full);
    tl_face_halo_values(g, id, f->u, &a.by);
    if (f->bounded[b]) {
        for (int32_t i = first; i < end; i++) tl_to_particle(g, b, &a.h, &a.u, &p->particle[i]);
        f->carried[b].affine = affine_energy(g, b, f->rho, p);
        for (int32_t i = first; i < end; i++) advect(f, b, a.far, &a.h, &a.by, &p->particle[i], &out);
        bound_affine(g, b, f->rho, f->carried, p);
        for (int32_t i = first; i < end; i++)
            tl_particle_sums_add(&g->f, &p->particle[i], f->rho[p->particle[i].material], &sums);
    } else {
        for (int32_t i = first; i < end; i += LANES) {
            int count = end - i < LANES ? end - i : LANES;
            tl_eight_ahead(&p->particle[i]);
            carry_batch(f, &a, &p->particle[i], count, &sums, &out);
        }
        add_lanes(&a.sums, &sums);
    }
    f->carried[b].sums = sums;
    return out;
}

static tl_advected advect_block(const flow *f, int32_t b, tl_particles *p)
{
    tl_halo_shape h = tl_halo_shape_of(f->g);
    bool far = far_from_solids(f, b);
    tl_face_halo around;
    tl_advected out = {0};
    int32_t id[TL_GRID_HALO_MAX];
    tl_grid_halo(f->g, b, id);
    tl_face_halo_read(f->g, id, f->u, f->known, &around);
    for (int32_t i = f->g->first[b]; i < f->g->first[b + 1]; i++) advect(f, b, far, &h, &around, &p->particle[i], &out);
    return out;
}

/* u: what particles take velocities from; NULL: they keep theirs. */
static tl_advected carry(const flow *f, double *const *u, tl_particles *p)
{
    const tl_grid *g = f->g;
    double deepest = 0;
    int64_t clipped = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : deepest) reduction(+ : clipped) if (g->blocks > 1)
    for (int32_t b = 0; b < g->owned; b++) {
        if (f->carried) f->carried[b] = (tl_carried){.affine = 0};
        if (g->first[b] == g->first[b + 1]) continue;
        tl_advected mine = u ? carry_block(f, b, u, p) : advect_block(f, b, p);
        deepest = fmax(deepest, mine.deepest);
        clipped += mine.clipped;
    }
    return (tl_advected){clipped, deepest};
}

static flow flow_of(const tl_grid *g, const tl_advection *by)
{
    const double half = 0.87 * g->f.dx; /* half a cell's diagonal */
    return (flow){.g = g,
                  .u = by->u,
                  .known = by->known,
                  .end = by->end,
                  .solid_phi = by->solid_phi,
                  .near = by->travel + by->gap + half,
                  .gap = by->gap,
                  .dt = by->dt};
}

tl_advected tl_particles_advect(const tl_grid *g, const tl_advection *by, tl_particles *p)
{
    const flow f = flow_of(g, by);
    return carry(&f, NULL, p);
}

tl_advected tl_particles_carry(const tl_grid *g, double *const u[3], const tl_advection *by, const double *rho,
                               const uint8_t *bounded, tl_carried *carried, tl_particles *p)
{
    flow f = flow_of(g, by);
    f.rho = rho, f.bounded = bounded, f.carried = carried;
    return carry(&f, u, p);
}
