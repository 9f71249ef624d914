#include "base/alloc.h"
#include "geom/minmax.h"
#include "geom/surface_parts.h"

#define RING_MAX 48 /* neighbours; vertices with more keep theirs */

/* Triangles around each vertex as linked corners: corner 3 t + c, next in its vertex's list. */
typedef struct net {
    tl_march_mesh *m;
    int32_t *head; /* [vertices], -1 none; -2 vertex gone */
    int32_t *next; /* [3 triangles] */
    double longest2;
    double same2; /* sharp vertices nearer than this (squared) are one */
} net;

static int32_t *corner_at(const net *n, int32_t corner) { return &n->m->triangle[corner / 3][corner % 3]; }
static bool gone(const net *n, int32_t t) { return n->m->triangle[t][0] < 0; }

static void link_corner(net *n, int32_t corner)
{
    int32_t v = *corner_at(n, corner);
    n->next[corner] = n->head[v];
    n->head[v] = corner;
}

static void unlink_corner(net *n, int32_t corner)
{
    int32_t *p = &n->head[*corner_at(n, corner)];
    while (*p != corner) p = &n->next[*p];
    *p = n->next[corner];
}

static void move_corner(net *n, int32_t corner, int32_t to)
{
    unlink_corner(n, corner);
    *corner_at(n, corner) = to;
    link_corner(n, corner);
}

static int32_t corner_of(const net *n, int32_t t, int32_t v)
{
    const int32_t *c = n->m->triangle[t];
    return 3 * t + (c[0] == v ? 0 : c[1] == v ? 1 : 2);
}

/* The triangle that runs from a to b, or -1. */
static int32_t triangle_along(const net *n, int32_t a, int32_t b)
{
    for (int32_t c = n->head[a]; c >= 0; c = n->next[c]) {
        const int32_t *v = n->m->triangle[c / 3];
        if (v[(c % 3 + 1) % 3] == b) return c / 3;
    }
    return -1;
}

static int32_t apex(const net *n, int32_t t, int32_t a, int32_t b)
{
    const int32_t *v = n->m->triangle[t];
    return v[0] != a && v[0] != b ? v[0] : v[1] != a && v[1] != b ? v[1] : v[2];
}

/* Neighbours: in a closed manifold each follows v in exactly one triangle. RING_MAX + 1 when more than fit. */
static int ring(const net *n, int32_t v, int32_t out[RING_MAX])
{
    int count = 0;
    for (int32_t c = n->head[v]; c >= 0; c = n->next[c]) {
        if (count == RING_MAX) return RING_MAX + 1;
        out[count++] = n->m->triangle[c / 3][(c % 3 + 1) % 3];
    }
    return count;
}

static bool holds(int count, const int32_t *list, int32_t v)
{
    for (int i = 0; i < count; i++)
        if (list[i] == v) return true;
    return false;
}

/* ---- measures ---- */

static tl_vec3 area_normal(const net *n, int32_t a, int32_t b, int32_t c)
{
    const tl_vec3 *p = n->m->vertex;
    return tl_vec3_cross(tl_vec3_sub(p[b], p[a]), tl_vec3_sub(p[c], p[a]));
}

static double length2(const net *n, int32_t a, int32_t b)
{
    return tl_vec3_norm2(tl_vec3_sub(n->m->vertex[a], n->m->vertex[b]));
}

/* 1 for equal sides, 0 for no area. */
static double quality(const net *n, int32_t a, int32_t b, int32_t c)
{
    double sides = length2(n, a, b) + length2(n, b, c) + length2(n, c, a);
    return sides > 0 ? 3.4641016151377544 * tl_vec3_norm(area_normal(n, a, b, c)) / sides : 0;
}

/* Least cosine between the triangle and the surface at its smooth corners; among these, between themselves too: a
 * triangle across a sharp edge is as bad as one that stands on end. */
static double fit(const net *n, int32_t a, int32_t b, int32_t c)
{
    tl_vec3 N = tl_vec3_normalize(area_normal(n, a, b, c));
    int32_t v[3] = {a, b, c};
    double least = 1;
    for (int i = 0; i < 3; i++) {
        if (n->m->sharp[v[i]] != TL_MARCH_SMOOTH) continue;
        least = tl_min(least, tl_vec3_dot(N, n->m->normal[v[i]]));
        for (int j = 0; j < i; j++)
            if (n->m->sharp[v[j]] == TL_MARCH_SMOOTH)
                least = tl_min(least, tl_vec3_dot(n->m->normal[v[i]], n->m->normal[v[j]]));
    }
    return least;
}

#define GOOD_FIT 0.8 /* cosine; coarse triangles on a sphere of two edges' radius reach 0.9 */

/* ---- removing short edges ---- */

/* v may go along the edge to w: corners stay, sharp vertices slide along their edge. Two that were found at the same
 * place become one. */
static bool may_slide(const net *n, int32_t v, int32_t w)
{
    const uint8_t *sharp = n->m->sharp;
    if (sharp[v] == TL_MARCH_SMOOTH) return true;
    if (sharp[w] < sharp[v]) return false;
    if (length2(n, v, w) < n->same2) return true;
    if (sharp[v] == TL_MARCH_CORNER) return false;
    int32_t s = triangle_along(n, v, w), t = triangle_along(n, w, v);
    const int32_t *a = n->m->triangle[s], *b = n->m->triangle[t];
    tl_vec3 p = area_normal(n, a[0], a[1], a[2]), q = area_normal(n, b[0], b[1], b[2]);
    return tl_vec3_dot(p, q) < 0.9 * tl_vec3_norm(p) * tl_vec3_norm(q);
}

static bool is_triangle(const net *n, int32_t a, int32_t b, int32_t c)
{
    int32_t s = triangle_along(n, a, b), t = triangle_along(n, b, a);
    return (s >= 0 && apex(n, s, a, b) == c) || (t >= 0 && apex(n, t, a, b) == c);
}

/* v and w have two neighbours in common, those of their two triangles, which keep at least three neighbours; and the
 * pair does not close a tetrahedron with them. */
static bool keeps_manifold(const net *n, int32_t v, int32_t w, int count, const int32_t *around)
{
    int32_t other[RING_MAX], far_ring[RING_MAX], shared[2];
    int others = ring(n, w, other), common = 0;
    if (count + others - 4 > RING_MAX) return false;
    for (int i = 0; i < count; i++) {
        if (!holds(others, other, around[i])) continue;
        if (common == 2 || ring(n, around[i], far_ring) <= 3) return false;
        shared[common++] = around[i];
    }
    return common == 2 && !(is_triangle(n, v, shared[0], shared[1]) && is_triangle(n, w, shared[0], shared[1]));
}

static bool collapse_is_good(const net *n, int32_t v, int32_t w)
{
    double old_fit = 1, old_quality = 1, new_fit = 1, new_quality = 1;
    for (int32_t c = n->head[v]; c >= 0; c = n->next[c]) {
        const int32_t *t = n->m->triangle[c / 3];
        int32_t a = t[(c % 3 + 1) % 3], b = t[(c % 3 + 2) % 3];
        if (a == w || b == w) continue;
        if (length2(n, w, a) > tl_max(n->longest2, 1.1 * length2(n, v, a))) return false;
        new_quality = tl_min(new_quality, quality(n, w, a, b));
        new_fit = tl_min(new_fit, fit(n, w, a, b));
        if (!(new_fit > 0)) return false;
    }
    if (new_fit >= GOOD_FIT && new_quality >= 0.3) return true;
    for (int32_t c = n->head[v]; c >= 0; c = n->next[c]) { /* not good, but no worse than before? */
        const int32_t *t = n->m->triangle[c / 3];
        old_fit = tl_min(old_fit, fit(n, t[0], t[1], t[2]));
        old_quality = tl_min(old_quality, quality(n, t[0], t[1], t[2]));
    }
    return new_fit >= tl_min(GOOD_FIT, old_fit) && new_quality >= tl_min(0.3, old_quality);
}

static void collapse(net *n, int32_t v, int32_t w)
{
    for (int32_t c = n->head[v], next; c >= 0; c = next) {
        next = n->next[c];
        int32_t t = c / 3, *corner = n->m->triangle[t];
        if (corner[0] == w || corner[1] == w || corner[2] == w) {
            for (int k = 0; k < 3; k++) unlink_corner(n, 3 * t + k);
            corner[0] = -1;
        } else {
            move_corner(n, c, w);
        }
    }
    n->head[v] = -2;
}

static void collapse_pass(net *n, double shortest)
{
    for (int32_t v = 0; v < n->m->vertices; v++) {
        int32_t around[RING_MAX];
        if (n->head[v] < 0) continue;
        int count = ring(n, v, around);
        if (count > RING_MAX) continue;
        for (int i = 1; i < count; i++) { /* nearest first */
            int32_t w = around[i];
            int j = i;
            for (; j > 0 && length2(n, v, around[j - 1]) > length2(n, v, w); j--) around[j] = around[j - 1];
            around[j] = w;
        }
        for (int i = 0; i < count && length2(n, v, around[i]) < shortest * shortest; i++) {
            int32_t w = around[i];
            if (!may_slide(n, v, w) || !keeps_manifold(n, v, w, count, around) || !collapse_is_good(n, v, w)) continue;
            collapse(n, v, w);
            break;
        }
    }
}

/* ---- flipping edges ---- */

/* Edge a b between the triangles s = (a b c) and t = (b a d) becomes c d. */
static void flip(net *n, int32_t s, int32_t t, int32_t a, int32_t b, int32_t c, int32_t d)
{
    move_corner(n, corner_of(n, s, b), d); /* (a d c) */
    move_corner(n, corner_of(n, t, a), c); /* (b c d) */
}

/* On a sharp edge that two neighbouring patches cross, their sharp vertices become neighbours [Kobbelt2001]. */
static void join_sharp(net *n)
{
    const tl_march_mesh *m = n->m;
    for (int32_t s = 0; s < m->triangles; s++)
        for (int k = 0; k < 3; k++) {
            int32_t a = m->triangle[s][k], b = m->triangle[s][(k + 1) % 3], c = m->triangle[s][(k + 2) % 3];
            if (m->sharp[c] == TL_MARCH_SMOOTH || m->sharp[a] != TL_MARCH_SMOOTH || m->sharp[b] != TL_MARCH_SMOOTH)
                continue;
            if (tl_vec3_dot(m->normal[a], m->normal[b]) >= 0.9) continue;
            int32_t t = triangle_along(n, b, a), d = apex(n, t, a, b);
            if (m->sharp[d] == TL_MARCH_SMOOTH || triangle_along(n, c, d) >= 0 || triangle_along(n, d, c) >= 0)
                continue;
            flip(n, s, t, a, b, c, d);
            break;
        }
}

static void flip_pass(net *n)
{
    const tl_march_mesh *m = n->m;
    int32_t around[RING_MAX];
    for (int32_t s = 0; s < m->triangles; s++)
        for (int k = 0; k < 3 && !gone(n, s); k++) {
            int32_t a = m->triangle[s][k], b = m->triangle[s][(k + 1) % 3], c = m->triangle[s][(k + 2) % 3];
            int32_t t = triangle_along(n, b, a), d = apex(n, t, a, b);
            double now = tl_min(quality(n, a, b, c), quality(n, b, a, d)),
                   then = tl_min(quality(n, a, d, c), quality(n, b, c, d));
            if (!(then > 1.05 * now) || length2(n, c, d) > n->longest2) continue;
            /* not across a fold: both sides must agree, and the new triangles with the surface */
            tl_vec3 p = area_normal(n, a, b, c), q = area_normal(n, b, a, d), x = area_normal(n, a, d, c),
                    y = area_normal(n, b, c, d);
            bool edge = m->sharp[a] != TL_MARCH_SMOOTH && m->sharp[b] != TL_MARCH_SMOOTH;
            if (edge && tl_vec3_dot(p, q) < 0.9 * tl_vec3_norm(p) * tl_vec3_norm(q)) continue;
            if (tl_vec3_dot(x, y) < 0.7 * tl_vec3_norm(x) * tl_vec3_norm(y)) continue;
            double old_fit = tl_min(fit(n, a, b, c), fit(n, b, a, d)),
                   new_fit = tl_min(fit(n, a, d, c), fit(n, b, c, d));
            if (!(new_fit >= tl_min(GOOD_FIT, old_fit) && new_fit > 0)) continue;
            if (ring(n, a, around) <= 3 || ring(n, b, around) <= 3) continue;
            if (triangle_along(n, c, d) >= 0 || triangle_along(n, d, c) >= 0) continue;
            flip(n, s, t, a, b, c, d);
            break;
        }
}

/* ---- moving vertices ---- */

static void measure_around(const net *n, int32_t v, double *least_fit, double *least_quality)
{
    *least_fit = *least_quality = 1;
    for (int32_t c = n->head[v]; c >= 0; c = n->next[c]) {
        const int32_t *t = n->m->triangle[c / 3];
        *least_fit = tl_min(*least_fit, fit(n, t[0], t[1], t[2]));
        *least_quality = tl_min(*least_quality, quality(n, t[0], t[1], t[2]));
    }
}

/* Smooth vertices go towards the middle of their neighbours and back to the surface, where that makes the worst
 * triangle better. */
static void relax_pass(net *n, const tl_march_source *s)
{
    tl_march_mesh *m = n->m;
    for (int32_t v = 0; v < m->vertices; v++) {
        if (n->head[v] < 0 || m->sharp[v] != TL_MARCH_SMOOTH) continue;
        double old_fit, old_quality, new_fit, new_quality;
        measure_around(n, v, &old_fit, &old_quality);
        if (old_quality > 0.85) continue; /* good enough: angles of 45 degrees */
        tl_vec3 p = m->vertex[v], normal = m->normal[v], mean = {0, 0, 0};
        int count = 0;
        for (int32_t c = n->head[v]; c >= 0; c = n->next[c], count++)
            mean = tl_vec3_add(mean, m->vertex[m->triangle[c / 3][(c % 3 + 1) % 3]]);
        tl_vec3 step = tl_vec3_sub(tl_vec3_scale(1.0 / count, mean), p);
        step = tl_vec3_add_scaled(step, -tl_vec3_dot(step, normal), normal);
        m->vertex[v] = s->project(s, tl_vec3_add(p, step));
        m->normal[v] = s->normal(s, m->vertex[v]);
        measure_around(n, v, &new_fit, &new_quality);
        bool on = tl_vec3_norm(tl_vec3_sub(m->vertex[v], s->project(s, m->vertex[v]))) < 1e-9 * s->cell;
        if (on && new_quality > old_quality && new_fit >= tl_min(GOOD_FIT, old_fit)) continue;
        m->vertex[v] = p;
        m->normal[v] = normal;
    }
}

/* ---- the whole ---- */

/* Drop what is gone; vertices keep their order. */
static void compact(net *n)
{
    tl_march_mesh *m = n->m;
    int32_t vertices = 0, triangles = 0;
    for (int32_t v = 0; v < m->vertices; v++) {
        if (n->head[v] < 0) continue;
        m->vertex[vertices] = m->vertex[v];
        m->normal[vertices] = m->normal[v];
        m->sharp[vertices] = m->sharp[v];
        n->head[v] = vertices++;
    }
    for (int32_t t = 0; t < m->triangles; t++) {
        if (gone(n, t)) continue;
        for (int c = 0; c < 3; c++) m->triangle[triangles][c] = n->head[m->triangle[t][c]];
        triangles++;
    }
    m->vertices = vertices;
    m->triangles = triangles;
}

/* Means of the triangles' normals, weighted by area. */
static void guess_normals(net *n)
{
    tl_march_mesh *m = n->m;
    for (int32_t v = 0; v < m->vertices; v++) {
        tl_vec3 sum = {0, 0, 0};
        for (int32_t c = n->head[v]; c >= 0; c = n->next[c]) {
            const int32_t *t = m->triangle[c / 3];
            sum = tl_vec3_add(sum, area_normal(n, t[0], t[1], t[2]));
        }
        m->normal[v] = tl_vec3_normalize_or(sum, (tl_vec3){0, 1, 0});
    }
}

talus_status tl_march_improve(tl_march_mesh *m, const tl_march_source *s, double shortest, double longest,
                              talus_error *err)
{
    net n = {.m = m, .longest2 = longest * longest, .same2 = 0.01 * shortest * shortest};
    n.head = TL_NEW(int32_t, m->vertices + 1);
    n.next = TL_NEW(int32_t, 3 * (int64_t)m->triangles + 1);
    if (!n.head || !n.next) {
        tl_free(n.head);
        tl_free(n.next);
        return TL_FAIL(err, TALUS_NO_MEMORY, "surface: no memory to improve %d triangles", m->triangles);
    }
    for (int32_t v = 0; v < m->vertices; v++) n.head[v] = -1;
    for (int32_t c = 0; c < 3 * m->triangles; c++) link_corner(&n, c);
    if (!s->normal) guess_normals(&n);

    join_sharp(&n);
    const double fraction[] = {0.3, 0.6, 1, 1}; /* the shortest first, so that long thin triangles do not spread */
    for (int pass = 0; pass < 4; pass++) {
        collapse_pass(&n, fraction[pass] * shortest);
        flip_pass(&n);
        if (s->normal && pass >= 1) relax_pass(&n, s);
    }
    compact(&n);
    tl_free(n.head);
    tl_free(n.next);
    return TALUS_OK;
}
