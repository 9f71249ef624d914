#include "model/grid/transfer.h"

#include "base/parallel.h"
#include "model/grid/stencil.h"

#define PUSHES 4 /* a corner of three surfaces takes three */
#define MARCH_MOST                                                                                                     \
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
    bool was = false;
    for (int k = 0; k < PUSHES; k++) {
        int32_t which;
        tl_vec3 n;
        double d = tl_solids_distance(s, block, p->x, &which, &n);
        if (!(d < gap) || which == TL_SOLID_NONE) break;
        *deepest = fmax(*deepest, gap - d);
        was = true;
        p->x = tl_vec3_add_scaled(p->x, (gap - d) * (1 + 1e-12), n);
        stop(s, which, n, p);
    }
    return was;
}

/* A straight way ends at the first surface it meets; what is left of it slides along. Solids are where they end: one that has moved over the
 * start puts it out first, on the side where it was, and the way leads from there to where it was to end. True: something was met. */
static bool walk(const tl_solids *s, int32_t block, double gap, tl_vec3 way, tl_particle *p)
{
    tl_vec3 from = p->x, n = {0, 0, 0};
    int32_t which;
    double d = tl_solids_distance(s, block, from, &which, &n);
    if (d < 0) {
        tl_particle out = *p;
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
            if (k == MARCH_MOST)
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
    tl_stopped *stopped;    /* [blocks]; NULL: nobody asks */
} flow;

/* No solid within reach of any cell of a block. */
static bool far_from_solids(const flow *f, int32_t b)
{
    if (!f->end || !f->solid_phi) return !f->end;
    float least = INFINITY;
    for (int32_t p = 0; p < f->g->f.size; p++) least = fminf(least, f->solid_phi[b * f->g->f.size + p]);
    return least >= (float)f->end->reach;
}

static void advect(const flow *f, int32_t b, bool far, const tl_halo_shape *h, const tl_face_halo *around,
                   tl_particle *q, tl_advected *out)
{
    tl_vec3 v = q->v, from = q->x;
    sample(f->g, b, h, around, f->u, f->known, tl_vec3_add_scaled(from, 0.5 * f->dt, v), &v);
    tl_vec3 way = tl_vec3_scale(f->dt, v);
    double reach = tl_vec3_norm(way) + f->near;
    if (!f->end || (far && reach < f->end->reach) || !tl_solids_near(f->end, f->g, b, from, reach, f->solid_phi)) {
        q->x = tl_vec3_add(from, way);
        return;
    }
    tl_vec3 before = q->v;
    bool met = tl_vec3_norm2(way) > 0 && walk(f->end, b, f->gap, way, q);
    met |= tl_particle_put_outside(f->end, b, f->gap, q, &out->deepest);
    out->clipped += met;
    if (!met || !f->stopped) return;
    tl_stopped *to = &f->stopped[b];
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

void tl_particles_bound_affine(const tl_grid *g, const double *rho, const tl_stopped *stopped, const uint8_t *bounded,
                               tl_particles *p)
{
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) {
        if (!bounded[b] || g->first[b] == g->first[b + 1]) continue;
        double now = affine_energy(g, b, rho, p);
        if (!(now > stopped[b].affine)) continue;
        double part = sqrt(stopped[b].affine / now);
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++)
            for (int k = 0; k < 9; k++) p->particle[i].C.m[k / 3][k % 3] *= part;
    }
}

/* u: what particles take velocities from; NULL: they keep theirs. */
static tl_advected carry(const flow *f, double *const *u, tl_particles *p)
{
    const tl_grid *g = f->g;
    double deepest = 0;
    int64_t clipped = 0;
    tl_halo_shape h = tl_halo_shape_of(g);
#pragma omp parallel for schedule(dynamic) reduction(max : deepest) reduction(+ : clipped) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) {
        if (f->stopped) f->stopped[b] = (tl_stopped){{0, 0, 0}, {0, 0, 0}, 0};
        if (g->first[b] == g->first[b + 1]) continue;
        tl_face_halo around;
        tl_advected mine = {0};
        if (u) tl_face_halo_read(g, b, u, f->known, &around);
        for (int32_t i = g->first[b]; i < g->first[b + 1] && u; i++) tl_to_particle(g, b, &h, &around, &p->particle[i]);
        if (f->stopped && f->bounded[b]) f->stopped[b].affine = affine_energy(g, b, f->rho, p);
        tl_face_halo_read(g, b, f->u, f->known, &around);
        bool far = far_from_solids(f, b);
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++) advect(f, b, far, &h, &around, &p->particle[i], &mine);
        deepest = fmax(deepest, mine.deepest);
        clipped += mine.clipped;
    }
    return (tl_advected){clipped, deepest};
}

tl_advected tl_particles_advect(const tl_grid *g, double *const u[3], uint8_t *const known[3], const tl_solids *end,
                                const float *solid_phi, double travel, double gap, double dt, tl_particles *p)
{
    double half = 0.87 * g->f.dx; /* half a cell's diagonal */
    const flow f = {g, u, known, end, solid_phi, travel + gap + half, gap, dt, NULL, NULL, NULL};
    return carry(&f, NULL, p);
}

tl_advected tl_particles_carry(const tl_grid *g, double *const u[3], double *const by[3], uint8_t *const known[3],
                               const tl_solids *end, const float *solid_phi, double travel, double gap, double dt,
                               const double *rho, const uint8_t *bounded, tl_stopped *stopped, tl_particles *p)
{
    double half = 0.87 * g->f.dx;
    const flow f = {g, by, known, end, solid_phi, travel + gap + half, gap, dt, rho, bounded, stopped};
    return carry(&f, u, p);
}
