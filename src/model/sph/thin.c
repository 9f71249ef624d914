#include "model/sph/thin.h"

#include "model/sph/cells.h"

/* Samples by how crowded they are; the most crowded is on top. Sums only fall, so entries are brought up to date
 * when they come up. */
typedef struct crowd {
    tl_sph_kernel kernel;
    tl_sph_sorted sorted;
    int32_t *order; /* sample that comes k-th by cells; below, samples are these k */
    const tl_vec3 *at;
    bool *gone;
    double *sum;   /* of W over what is left, now */
    int32_t *heap; /* largest key first */
    double *key;   /* [sample] sum when it was last looked at */
    int32_t size;
} crowd;

/* Equal ones by number, so that the result does not depend on the heap. */
static bool before(const crowd *c, int32_t a, int32_t b)
{
    return c->key[a] != c->key[b] ? c->key[a] > c->key[b] : a < b;
}

static void sift_down(crowd *c, int32_t i)
{
    int32_t moved = c->heap[i];
    for (int32_t child; (child = 2 * i + 1) < c->size; i = child) {
        if (child + 1 < c->size && before(c, c->heap[child + 1], c->heap[child])) child++;
        if (!before(c, c->heap[child], moved)) break;
        c->heap[i] = c->heap[child];
    }
    c->heap[i] = moved;
}

/* factor 0: sums up what is around sample k; else adds factor W of it to all around. */
static double visit(crowd *c, int32_t k, double factor)
{
    const tl_sph_cells *t = &c->sorted.cells;
    tl_vec3 x = c->at[c->order[k]];
    int32_t lo[3], hi[3];
    double sum = 0;
    for (int d = 0; d < 3; d++) tl_sph_cells_around(t, d, c->sorted.cell[d][k], &lo[d], &hi[d]);
    for (int32_t z = lo[2]; z <= hi[2]; z++)
        for (int32_t y = lo[1]; y <= hi[1]; y++) {
            int64_t row = ((int64_t)z * t->n[1] + y) * t->n[0];
            for (int32_t j = t->start[row + lo[0]]; j < t->start[row + hi[0] + 1]; j++) {
                double w = tl_sph_w(c->kernel, tl_vec3_norm(tl_vec3_sub(x, c->at[c->order[j]])));
                sum += w;
                c->sum[j] += factor * w;
            }
        }
    return sum;
}

static void take_away(crowd *c, double max, int32_t keep)
{
    while (c->size > keep) {
        int32_t k = c->heap[0];
        if (c->key[k] > c->sum[k]) {
            c->key[k] = c->sum[k];
            sift_down(c, 0);
            continue;
        }
        if (c->sum[k] <= max) return;
        visit(c, k, -1);
        c->gone[c->order[k]] = true;
        c->heap[0] = c->heap[--c->size];
        sift_down(c, 0);
    }
}

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for surface particles");
}

talus_status tl_sph_thin(tl_points *p, double h, double max, int32_t keep, tl_arena *a, talus_error *err)
{
    int32_t n = p->count, bad = -1, left = 0;
    size_t mark = tl_arena_mark(a);
    crowd c = {.kernel = tl_sph_kernel_of(h), .at = p->at, .size = n};
    c.order = TL_TAKE(a, int32_t, n);
    c.gone = TL_TAKE_ZERO(a, bool, n);
    c.sum = TL_TAKE_ZERO(a, double, n);
    c.key = TL_TAKE(a, double, n);
    c.heap = TL_TAKE(a, int32_t, n);
    if (!c.order || !c.gone || !c.sum || !c.key || !c.heap) return no_memory(err);
    const tl_sph_places places = {n, p->at, sizeof *p->at};
    TL_TRY(tl_sph_sort(&c.sorted, &places, h, c.order, &bad, a, err));
    if (bad >= 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "its surface is too far from its origin for sph.spacing %g m", h);
    for (int32_t k = 0; k < n; k++) {
        c.sum[k] = c.key[k] = visit(&c, k, 0);
        c.heap[k] = k;
    }
    for (int32_t k = n / 2; k-- > 0;) sift_down(&c, k);
    take_away(&c, max / (h * h * h), keep);
    for (int32_t i = 0; i < n; i++) {
        if (c.gone[i]) continue;
        p->at[left] = p->at[i];
        if (p->normal) p->normal[left] = p->normal[i];
        left++;
    }
    p->count = left;
    tl_arena_release(a, mark);
    return TALUS_OK;
}
