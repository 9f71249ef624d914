#include "model/grid/solids.h"

#include <string.h>

#include "base/parallel.h"

#define REACH_CELLS 5 /* CFL 3, half a cell's diagonal, and some */

static double get(tl_vec3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }
static void set(tl_vec3 *v, int k, double x) { *(k == 0 ? &v->x : k == 1 ? &v->y : &v->z) = x; }

/* The image of p that is nearest to a body's box; along the slab's axis of the 2D mode, in the middle of the body:
 * bodies are prisms there. */
static tl_vec3 image(const tl_grid_frame *f, const tl_solid *b, tl_vec3 p)
{
    for (int k = 0; k < 3; k++) {
        double length = f->count[k] * f->dx;
        bool finite = isfinite(get(b->bounds.lo, k)) && isfinite(get(b->bounds.hi, k));
        if (k == f->flat_axis)
            set(&p, k, finite ? 0.5 * (get(b->bounds.lo, k) + get(b->bounds.hi, k)) : get(f->origin, k) + 0.5 * length);
        else if (f->periodic[k] && finite) {
            double middle = 0.5 * (get(b->bounds.lo, k) + get(b->bounds.hi, k)), off = get(p, k) - middle;
            set(&p, k, get(p, k) - length * round(off / length));
        }
    }
    return p;
}

double tl_solid_distance(const tl_solids *s, int32_t body, tl_vec3 p, tl_vec3 *normal)
{
    const tl_solid *b = &s->solid[body];
    if (b->skin) {
        tl_skin_place at = tl_skin_nearest(b->skin, p);
        if (normal) *normal = at.normal;
        return at.distance;
    }
    tl_vec3 local = tl_pose_to_local(&b->pose, image(s->f, b, p)), n;
    double d = tl_collider_distance(b->collider, local, normal ? &n : NULL);
    if (normal) {
        *normal = tl_quat_rotate(b->pose.rotation, n);
        if (s->f->flat_axis >= 0) {
            set(normal, s->f->flat_axis, 0);
            *normal = tl_vec3_normalize_or(*normal, (tl_vec3){s->f->flat_axis == 0, s->f->flat_axis != 0, 0});
        }
    }
    return d;
}

static inline double wall_distance(const tl_solids *s, tl_vec3 p, tl_vec3 *normal)
{
    const double d[6] = {p.x - s->box.lo.x, s->box.hi.x - p.x, p.y - s->box.lo.y,
                         s->box.hi.y - p.y, p.z - s->box.lo.z, s->box.hi.z - p.z};
    static const tl_vec3 side[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    double least = INFINITY;
    int nearest = -1;
    for (int k = 0; k < 6; k++) {
        if (!s->wall[k] || d[k] >= least) continue;
        least = d[k];
        nearest = k;
    }
    if (nearest >= 0) *normal = side[nearest];
    return least;
}

double tl_solids_distance(const tl_solids *s, int32_t block, tl_vec3 p, int32_t *which, tl_vec3 *normal)
{
    tl_vec3 n = {0, 0, 0};
    double least = wall_distance(s, p, &n);
    *which = least < s->reach ? TL_SOLID_WALL : TL_SOLID_NONE;
    *normal = n;
    bool listed = block < s->blocks;
    int32_t from = listed ? s->start[block] : 0, to = listed ? s->start[block + 1] : s->count;
    for (int32_t i = from; i < to; i++) {
        int32_t body = listed ? s->of[i] : i;
        double d = tl_solid_distance(s, body, p, &n);
        if (d >= least) continue;
        least = d;
        *which = body;
        *normal = n;
    }
    return *which == TL_SOLID_NONE ? fmax(least, s->reach) : least;
}

int tl_solids_planes(const tl_solids *s, int32_t block, tl_vec3 p, double far, tl_solid_plane out[TL_SOLID_PLANES])
{
    int n = 0;
    for (int k = 0; k < 6; k++) {
        if (!s->wall[k]) continue;
        double d = k % 2 ? get(s->box.hi, k / 2) - get(p, k / 2) : get(p, k / 2) - get(s->box.lo, k / 2);
        if (d >= far) continue;
        out[n] = (tl_solid_plane){d, {0, 0, 0}};
        set(&out[n++].normal, k / 2, k % 2 ? -1 : 1);
    }
    bool listed = block < s->blocks;
    int32_t from = listed ? s->start[block] : 0, to = listed ? s->start[block + 1] : s->count;
    for (int32_t i = from; i < to && n < TL_SOLID_PLANES; i++) {
        out[n].distance = tl_solid_distance(s, listed ? s->of[i] : i, p, &out[n].normal);
        n += out[n].distance < far;
    }
    return n;
}

int32_t tl_solids_nearest_fixed(const tl_solids *s, int32_t block, tl_vec3 p)
{
    tl_vec3 n;
    double least = wall_distance(s, p, &n);
    int32_t which = least < s->reach ? TL_SOLID_WALL : TL_SOLID_NONE;
    for (int32_t i = s->start[block]; i < s->start[block + 1]; i++) {
        if (s->solid[s->of[i]].kind != TL_BODY_STATIC) continue;
        double d = tl_solid_distance(s, s->of[i], p, NULL);
        if (d >= least) continue;
        least = d;
        which = s->of[i];
    }
    return which;
}

tl_vec3 tl_solids_arm(const tl_solids *s, int32_t which, tl_vec3 p)
{
    const tl_solid *b = &s->solid[which];
    return tl_vec3_sub(image(s->f, b, p), b->x);
}

tl_vec3 tl_solids_velocity(const tl_solids *s, int32_t which, tl_vec3 p)
{
    if (which < 0) return (tl_vec3){0, 0, 0};
    const tl_solid *b = &s->solid[which];
    if (b->skin) return tl_skin_velocity(b->skin, p);
    return tl_vec3_add(b->v, tl_vec3_cross(b->w, tl_solids_arm(s, which, p)));
}

/* Whether a body may come within `far` of any point of a block. */
static bool reaches(const tl_solids *s, const tl_grid *g, int32_t body, int32_t block, double far)
{
    double h = g->f.dx, diagonal = 0;
    tl_vec3 middle;
    for (int k = 0; k < 3; k++) {
        set(&middle, k, get(g->f.origin, k) + (g->corner[block][k] + 0.5 * g->f.edge[k]) * h);
        diagonal += (double)g->f.edge[k] * g->f.edge[k];
    }
    return tl_solid_distance(s, body, middle, NULL) < far + 0.5 * h * sqrt(diagonal);
}

/* Blocks within a body's box, grown by the reach: ranges of block coordinates; false: more than the grid has, look
 * at all. */
static bool block_range(const tl_solids *s, const tl_grid *g, const tl_solid *b, int32_t lo[3], int32_t hi[3])
{
    double max = 1;
    for (int k = 0; k < 3; k++) {
        double edge = g->f.edge[k] * g->f.dx, from = get(b->bounds.lo, k) - s->reach,
               to = get(b->bounds.hi, k) + s->reach;
        from = floor((from - get(g->f.origin, k)) / edge);
        to = floor((to - get(g->f.origin, k)) / edge);
        if (g->f.periodic[k]) { /* each block once */
            int32_t ring = g->f.count[k] / g->f.edge[k];
            if (!(to - from + 1 < ring)) from = 0, to = ring - 1;
        }
        from = fmax(from, -TL_GRID_BIAS), to = fmin(to, TL_GRID_BIAS - 1); /* beyond that are no blocks */
        max *= fmax(0, to - from + 1);
        if (!(max < g->blocks)) return false;
        if (max == 0) from = 0, to = -1;
        lo[k] = (int32_t)from;
        hi[k] = (int32_t)to;
    }
    return true;
}

/* Blocks that a body reaches: counted, or written behind those that are. */
static void list_body(tl_solids *s, const tl_grid *g, int32_t body, int32_t *count, bool write)
{
    int32_t lo[3], hi[3];
    bool few = block_range(s, g, &s->solid[body], lo, hi);
    int64_t total = few ? (int64_t)(hi[0] - lo[0] + 1) * (hi[1] - lo[1] + 1) * (hi[2] - lo[2] + 1) : g->blocks;
    for (int64_t i = 0; i < total; i++) {
        int32_t b = (int32_t)i;
        if (few) {
            int64_t nz = hi[2] - lo[2] + 1, ny = hi[1] - lo[1] + 1;
            int32_t c[3] = {lo[0] + (int32_t)(i / nz / ny), lo[1] + (int32_t)(i / nz % ny), lo[2] + (int32_t)(i % nz)};
            b = tl_grid_cell(g, c[0] * g->f.edge[0], c[1] * g->f.edge[1], c[2] * g->f.edge[2]) / g->f.size;
            if (b == g->blocks) continue;
        }
        if (!reaches(s, g, body, b, s->reach)) continue;
        if (write) s->of[s->start[b] + count[b]] = body;
        count[b]++;
    }
}

/* An elastic body by its surface: it moves freely, whatever holds some of its nodes. */
static void wear_skin(tl_solid *b, const tl_skin *skin)
{
    b->skin = skin;
    b->kind = TL_BODY_FREE;
    b->bounds = tl_skin_bounds(skin);
}

talus_status tl_solids_make(tl_solids *out, const tl_grid *g, const tl_rigid *r, const tl_domain_spec *domain,
                            const tl_motion *motion, tl_arena *a, talus_error *err)
{
    return tl_solids_with_skins(out, g, r, domain, motion, NULL, a, err);
}

talus_status tl_solids_with_skins(tl_solids *out, const tl_grid *g, const tl_rigid *r, const tl_domain_spec *domain,
                                  const tl_motion *motion, const tl_skins *skins, tl_arena *a, talus_error *err)
{
    *out =
        (tl_solids){.g = g, .f = &g->f, .count = r->scene_count, .blocks = g->blocks, .reach = REACH_CELLS * g->f.dx};
    out->box = domain->box;
    for (int k = 0; k < 6; k++)
        out->wall[k] = domain->bounded && domain->wall[k] == TL_WALL_CLOSED && !g->f.periodic[k / 2];
    out->solid = TL_TAKE(a, tl_solid, r->scene_count);
    out->start = TL_TAKE_ZERO(a, int32_t, g->blocks + 1);
    int32_t *count = TL_TAKE_ZERO(a, int32_t, g->blocks + 1);
    if (!out->solid || !out->start || !count) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for solids on the grid");
    for (int32_t k = 0; k < r->scene_count; k++) {
        const tl_rigid_body *b = &r->body[k];
        tl_pose pose = tl_rigid_pose(b, &motion[k]);
        out->solid[k] = (tl_solid){.kind = b->kind,
                                   .collider = b->collider,
                                   .pose = pose,
                                   .x = motion[k].x,
                                   .v = motion[k].v,
                                   .w = motion[k].w,
                                   .bounds = tl_collider_bounds(b->collider, &pose),
                                   .extent = b->extent};
        if (skins && skins->skin[k].lg) wear_skin(&out->solid[k], &skins->skin[k]);
        list_body(out, g, k, count, false);
    }
    int64_t total = 0;
    for (int32_t b = 0; b < g->blocks; b++) {
        out->start[b] = (int32_t)total;
        total += count[b];
    }
    out->start[g->blocks] = (int32_t)total;
    out->of = TL_TAKE(a, int32_t, total);
    if (!out->of) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for solids on the grid");
    memset(count, 0, sizeof *count * (size_t)(g->blocks + 1));
    for (int32_t k = 0; k < r->scene_count; k++) list_body(out, g, k, count, true);
    return TALUS_OK;
}

/* Whether any closed wall is within the reach of a block. */
static bool wall_near(const tl_solids *s, const tl_grid *g, int32_t b)
{
    for (int k = 0; k < 3; k++) {
        double from = get(g->f.origin, k) + g->corner[b][k] * g->f.dx, to = from + g->f.edge[k] * g->f.dx;
        if (s->wall[2 * k] && from - get(s->box.lo, k) < s->reach) return true;
        if (s->wall[2 * k + 1] && get(s->box.hi, k) - to < s->reach) return true;
    }
    return false;
}

bool tl_solids_walls_beyond(const tl_solids *s, int32_t block, tl_vec3 p, double far)
{
    tl_vec3 n;
    return s->start[block] == s->start[block + 1] && far < s->reach && wall_distance(s, p, &n) > far;
}

bool tl_solids_touch(const tl_solids *s, const tl_grid *g, int32_t b)
{
    return s->start[b] < s->start[b + 1] || wall_near(s, g, b);
}

/* Distances to walls alone: the least of three that depend on one coordinate each. */
static void wall_field(const tl_solids *s, const tl_grid *g, int32_t b, float *phi)
{
    double least[3][TL_GRID_EDGE];
    for (int k = 0; k < 3; k++)
        for (int32_t i = 0; i < g->f.edge[k]; i++) {
            double x = get(g->f.origin, k) + (g->corner[b][k] + i + 0.5) * g->f.dx, d = s->reach;
            if (s->wall[2 * k] && x - get(s->box.lo, k) < d) d = x - get(s->box.lo, k);
            if (s->wall[2 * k + 1] && get(s->box.hi, k) - x < d) d = get(s->box.hi, k) - x;
            least[k][i] = d < -s->reach ? -s->reach : d;
        }
    for (int32_t p = 0; p < g->f.size; p++) {
        const double *at[3] = {&least[0][g->place[p][0]], &least[1][g->place[p][1]], &least[2][g->place[p][2]]};
        double d = *at[0] < *at[1] ? *at[0] : *at[1];
        phi[b * g->f.size + p] = (float)(d < *at[2] ? d : *at[2]);
    }
}

/* Cells: nearer is on the surface, and counts as inside. Where solids touch flush, a wall on its floor, the distance is
 * zero in the middle of what is solid: cells with their centre there would be air that liquid beside the seam falls
 * into. */
#define ON_SURFACE 1e-6

void tl_solids_field(const tl_solids *s, const tl_grid *g, float *phi)
{
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b <= g->blocks; b++) {
        bool near = b < g->blocks && tl_solids_touch(s, g, b);
        if (near && s->start[b] == s->start[b + 1]) {
            wall_field(s, g, b, phi);
            continue;
        }
        for (int32_t p = 0; p < g->f.size; p++) {
            int32_t cell = b * g->f.size + p, which;
            tl_vec3 n;
            double d = s->reach;
            if (near) {
                d = tl_solids_distance(s, b, tl_grid_centre(g, cell), &which, &n);
                d = d < -s->reach ? -s->reach : d > s->reach ? s->reach : d;
                if (fabs(d) < ON_SURFACE * g->f.dx) d = -ON_SURFACE * g->f.dx;
            }
            phi[cell] = (float)d;
        }
    }
}
