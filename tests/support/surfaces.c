#include "surfaces.h"

#include <stdlib.h>

#include "base/alloc.h"

typedef struct use {
    int32_t low, high, forward, triangle;
} use;

static int compare(const void *a, const void *b)
{
    const use *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

static void measure(const tl_trimesh *m, tl_test_surface *s)
{
    int64_t thin = 0;
    for (int32_t t = 0; t < m->triangles; t++) {
        tl_vec3 p[3], e[3];
        for (int c = 0; c < 3; c++) p[c] = m->vertex[m->triangle[t][c]];
        for (int c = 0; c < 3; c++) {
            e[c] = tl_vec3_sub(p[(c + 1) % 3], p[c]);
            double length = tl_vec3_norm(e[c]);
            s->edge_mean += length;
            s->edge_min = fmin(s->edge_min, length);
            s->edge_max = fmax(s->edge_max, length);
        }
        double least = 180;
        for (int c = 0; c < 3; c++) {
            tl_vec3 u = e[c], v = tl_vec3_neg(e[(c + 2) % 3]);
            least = fmin(least, atan2(tl_vec3_norm(tl_vec3_cross(u, v)), tl_vec3_dot(u, v)) * 57.29577951308232);
        }
        thin += least < 15;
        s->angle_min_deg = fmin(s->angle_min_deg, least);
        s->area += 0.5 * tl_vec3_norm(tl_vec3_cross(e[0], e[1]));
        s->volume += tl_vec3_dot(p[0], tl_vec3_cross(p[1], p[2])) / 6;
    }
    s->edge_mean /= fmax(1, 3.0 * m->triangles);
    s->thin = (double)thin / fmax(1, m->triangles);
}

/* Around every vertex: as many triangles as one walk across edges meets. */
static void count_pinched(const tl_trimesh *m, const use *list, tl_test_surface *s)
{
    int32_t *across = TL_NEW(int32_t, 3 * (int64_t)m->triangles + 1), *degree = TL_NEW_ZERO(int32_t, m->vertices + 1),
            *some = TL_NEW(int32_t, m->vertices + 1);
    if (!across || !degree || !some) abort();
    for (int64_t i = 0; i + 1 < 3 * (int64_t)m->triangles; i += 2)
        for (int k = 0; k < 2; k++) {
            const int32_t *v = m->triangle[list[i + k].triangle];
            int32_t from = list[i + k].forward ? list[i + k].low : list[i + k].high;
            across[3 * list[i + k].triangle + (v[0] == from ? 0 : v[1] == from ? 1 : 2)] = list[i + 1 - k].triangle;
        }
    for (int32_t t = 0; t < m->triangles; t++)
        for (int c = 0; c < 3; c++) {
            degree[m->triangle[t][c]]++;
            some[m->triangle[t][c]] = t;
        }
    for (int32_t v = 0; v < m->vertices; v++) {
        s->unused += degree[v] == 0;
        if (!degree[v]) continue;
        int32_t t = some[v], walked = 0;
        do {
            const int32_t *c = m->triangle[t];
            t = across[3 * t + (c[0] == v ? 0 : c[1] == v ? 1 : 2)];
            walked++;
        } while (t != some[v] && walked <= degree[v]);
        s->pinched += walked != degree[v];
    }
    tl_free(across);
    tl_free(degree);
    tl_free(some);
}

tl_test_surface tl_test_surface_read(const tl_trimesh *m)
{
    tl_test_surface s = {.edge_min = INFINITY, .angle_min_deg = 180};
    int64_t n = 3 * (int64_t)m->triangles;
    use *list = TL_NEW(use, n + 1);
    if (!list) abort();
    for (int64_t i = 0; i < n; i++) {
        int32_t a = m->triangle[i / 3][i % 3], b = m->triangle[i / 3][(i + 1) % 3];
        s.repeated += a == b;
        list[i] = a < b ? (use){a, b, 1, (int32_t)(i / 3)} : (use){b, a, 0, (int32_t)(i / 3)};
    }
    qsort(list, (size_t)n, sizeof *list, compare);
    for (int64_t i = 0, j; i < n; i = j) {
        int forward = 0;
        for (j = i; j < n && list[j].low == list[i].low && list[j].high == list[i].high; j++)
            forward += list[j].forward;
        s.open += j - i == 1;
        s.crowded += j - i > 2;
        s.flipped += j - i == 2 && forward != 1;
    }
    measure(m, &s);
    if (!s.open && !s.crowded && !s.flipped) count_pinched(m, list, &s);
    tl_free(list);
    return s;
}
