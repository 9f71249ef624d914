#include "render/liquid_surface.h"

#include <math.h>

#include "base/alloc.h"
#include "geom/surface.h"

#define REACH 2.4       /* of the kernel, in spacings: less shows single particles, more rounds off what is sharp */
#define RADIUS 0.75     /* of a particle, in spacings: a flat pool then ends half a spacing above its last layer */
#define EDGE 0.8        /* of the lattice, in spacings */
#define PLACES_MAX 48e6 /* four floats each */
#define INSET 0.1       /* from the sides of the box, in spacings: beside the glass, not in it */
#define SLABS 32        /* what threads share; more than threads, few enough that each may look at every particle */

typedef struct field {
    int n[3];
    double edge;
    tl_vec3 origin;
    float *weight, *mean[3]; /* [n0 n1 n2] z fastest; the mean is taken from the place itself */
} field;

static bool holds(tl_box3 b, tl_vec3 x)
{
    return x.x >= b.lo.x && x.x <= b.hi.x && x.y >= b.lo.y && x.y <= b.hi.y && x.z >= b.lo.z && x.z <= b.hi.z;
}

static tl_box3 box_of(int32_t count, const tl_vec3 *at, tl_box3 within)
{
    tl_box3 b = {within.hi, within.lo};
    for (int32_t i = 0; i < count; i++) {
        if (!holds(within, at[i])) continue;
        b.lo = tl_vec3_min(b.lo, at[i]);
        b.hi = tl_vec3_max(b.hi, at[i]);
    }
    return b;
}

static double clamp(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }

/* Flat along the sides of the box. */
static tl_vec3 held(tl_box3 b, double inset, tl_vec3 x)
{
    return (tl_vec3){clamp(x.x, b.lo.x + inset, b.hi.x - inset), clamp(x.y, b.lo.y + inset, b.hi.y - inset),
                     clamp(x.z, b.lo.z + inset, b.hi.z - inset)};
}

/* Places first .. last along x. */
static void splat(const field *f, int first, int last, const tl_vec3 *x, double reach)
{
    const double from[3] = {(x->x - f->origin.x) / f->edge, (x->y - f->origin.y) / f->edge,
                            (x->z - f->origin.z) / f->edge};
    int lo[3], hi[3];
    for (int k = 0; k < 3; k++) {
        lo[k] = (int)fmax(ceil(from[k] - reach), k ? 0 : first);
        hi[k] = (int)fmin(floor(from[k] + reach), k ? f->n[k] - 1 : last);
    }
    const float per_reach = (float)(1 / (reach * reach));
    for (int i = lo[0]; i <= hi[0]; i++)
        for (int j = lo[1]; j <= hi[1]; j++) {
            float dx = (float)(from[0] - i), dy = (float)(from[1] - j), across = dx * dx + dy * dy;
            int64_t row = ((int64_t)i * f->n[1] + j) * f->n[2];
            for (int k = lo[2]; k <= hi[2]; k++) {
                float dz = (float)(from[2] - k), a = 1 - (across + dz * dz) * per_reach, w = a > 0 ? a * a * a : 0;
                f->weight[row + k] += w;
                f->mean[0][row + k] += w * dx;
                f->mean[1][row + k] += w * dy;
                f->mean[2][row + k] += w * dz;
            }
        }
}

/* Distances, written over the weights. */
static void finish(const field *f, int64_t from, int64_t to, float radius, float reach)
{
    for (int64_t i = from; i < to; i++) {
        float w = f->weight[i];
        if (!(w > 1e-6f)) {
            f->weight[i] = reach;
            continue;
        }
        float x = f->mean[0][i] / w, y = f->mean[1][i] / w, z = f->mean[2][i] / w;
        f->weight[i] = sqrtf(x * x + y * y + z * z) - radius;
    }
}

static talus_status march(field *f, int32_t count, const tl_vec3 *at, tl_box3 within, double spacing, tl_trimesh *out,
                          talus_error *err)
{
    const double reach = REACH * spacing / f->edge;
    const int64_t row = (int64_t)f->n[1] * f->n[2];
#pragma omp parallel for schedule(dynamic)
    for (int s = 0; s < SLABS; s++) {
        int first = (int)((int64_t)f->n[0] * s / SLABS), last = (int)((int64_t)f->n[0] * (s + 1) / SLABS) - 1;
        double lo = f->origin.x + (first - reach) * f->edge, hi = f->origin.x + (last + reach) * f->edge;
        for (int32_t i = 0; i < count && first <= last; i++)
            if (at[i].x >= lo && at[i].x <= hi && holds(within, at[i])) splat(f, first, last, &at[i], reach);
        finish(f, first * row, (last + 1) * row, (float)(RADIUS * spacing / f->edge), (float)reach);
    }
    TL_TRY(tl_surface_march_field(f->n[0], f->n[1], f->n[2], f->weight, f->origin, f->edge, out, err));
    for (int32_t i = 0; i < out->vertices; i++) out->vertex[i] = held(within, INSET * spacing, out->vertex[i]);
    return TALUS_OK;
}

talus_status tl_liquid_surface(int32_t count, const tl_vec3 *at, double spacing, tl_box3 box, tl_trimesh *out,
                               talus_error *err)
{
    *out = (tl_trimesh){0};
    tl_box3 b = box_of(count, at, box);
    if (!(b.lo.x <= b.hi.x)) return TALUS_OK;
    const double margin = (REACH + 1) * spacing;
    const double size[3] = {b.hi.x - b.lo.x + 2 * margin, b.hi.y - b.lo.y + 2 * margin, b.hi.z - b.lo.z + 2 * margin};
    field f = {.edge = EDGE * spacing, .origin = tl_vec3_sub(b.lo, (tl_vec3){margin, margin, margin})};
    f.edge = fmax(f.edge, cbrt(size[0] * size[1] * size[2] / PLACES_MAX));
    int64_t places = 1;
    for (int k = 0; k < 3; k++) {
        f.n[k] = (int)ceil(size[k] / f.edge) + 1;
        places *= f.n[k];
    }
    float *memory = tl_alloc_zero(sizeof *memory * 4 * (size_t)places);
    if (!memory) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the surface of %d particles", (int)count);
    f.weight = memory;
    for (int k = 0; k < 3; k++) f.mean[k] = memory + (k + 1) * places;
    talus_status status = march(&f, count, at, box, spacing, out, err);
    tl_free(memory);
    return status;
}
