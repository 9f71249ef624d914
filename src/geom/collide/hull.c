#include "geom/collide/hull.h"

#include "geom/collide/pairs.h"
#include "geom/minmax.h"

#define FLAT 1e-6        /* of the size: vertices so near to a plane lie in it, and may stand out of a convex body */
#define POINTS 8         /* kept of one contact, as of boxes */
#define CLIPPED 40       /* corners of a clipped face: each plane adds one at most */
#define FACE_MARGIN 2e-3 /* of the extent: an edge-edge axis must separate this much better than the best face */
#define HYSTERESIS 4e-3  /* of the extent: last step's face may be this much worse and stays */
#define BESIDE 1e-5      /* of the extent: side planes of the clipping are moved out by this */

/* ---- from a mesh ---- */

static int find_vertex(const tl_hull *h, tl_vec3 p, double near)
{
    for (int k = 0; k < h->vertices; k++)
        if (tl_vec3_norm(tl_vec3_sub(h->vertex[k], p)) < near) return k;
    return -1;
}

/* All vertices in the plane of face f, around its normal; corners on a straight line are left out. */
static bool add_corners(tl_hull *h, int f, double near)
{
    tl_vec3 u, v, middle = {0, 0, 0};
    int count = 0, in[TL_HULL_VERTICES];
    double angle[TL_HULL_VERTICES];
    tl_vec3_tangents(h->normal[f], &u, &v);
    if (tl_vec3_dot(tl_vec3_cross(u, v), h->normal[f]) < 0) v = tl_vec3_neg(v);
    for (int k = 0; k < h->vertices; k++)
        if (fabs(tl_vec3_dot(h->normal[f], h->vertex[k]) - h->offset[f]) < near) {
            in[count++] = k;
            middle = tl_vec3_add(middle, h->vertex[k]);
        }
    if (count < 3) return false;
    middle = tl_vec3_scale(1.0 / count, middle);
    for (int i = 0; i < count; i++) {
        tl_vec3 d = tl_vec3_sub(h->vertex[in[i]], middle);
        angle[i] = atan2(tl_vec3_dot(v, d), tl_vec3_dot(u, d));
        for (int k = i; k > 0 && angle[k] < angle[k - 1]; k--) {
            double a = angle[k];
            int n = in[k];
            angle[k] = angle[k - 1], in[k] = in[k - 1];
            angle[k - 1] = a, in[k - 1] = n;
        }
    }
    h->corners[f] = 0;
    for (int i = 0; i < count; i++) {
        tl_vec3 a = h->vertex[in[(i + count - 1) % count]], b = h->vertex[in[i]], c = h->vertex[in[(i + 1) % count]];
        tl_vec3 out = tl_vec3_cross(tl_vec3_sub(b, a), tl_vec3_sub(c, b));
        if (tl_vec3_norm(out) < near * (tl_vec3_norm(tl_vec3_sub(c, a)))) continue;
        if (h->corners[f] == TL_HULL_CORNERS) return false;
        h->corner[f][h->corners[f]++] = (uint8_t)in[i];
    }
    return h->corners[f] >= 3;
}

/* Every side of a face is one of exactly two. */
static bool add_edges(tl_hull *h)
{
    int half = 0;
    h->edges = 0;
    for (int f = 0; f < h->faces; f++)
        for (int k = 0; k < h->corners[f]; k++) {
            uint8_t a = h->corner[f][k], b = h->corner[f][(k + 1) % h->corners[f]];
            bool known = false;
            for (int e = 0; e < h->edges && !known; e++)
                if (h->edge[e][0] == b && h->edge[e][1] == a) {
                    h->sides[e][1] = (uint8_t)f;
                    known = true;
                    half--;
                }
            if (known) continue;
            if (h->edges == TL_HULL_EDGES) return false;
            h->edge[h->edges][0] = a, h->edge[h->edges][1] = b;
            h->sides[h->edges][0] = h->sides[h->edges][1] = (uint8_t)f;
            h->edges++;
            half++;
        }
    return half == 0;
}

bool tl_hull_of_mesh(const tl_trimesh *m, tl_hull *h)
{
    tl_box3 box = tl_trimesh_bounds(m);
    double size = tl_vec3_norm(tl_vec3_sub(box.hi, box.lo)), near = FLAT * size;
    *h = (tl_hull){0};
    for (int32_t k = 0; k < m->vertices; k++) {
        if (find_vertex(h, m->vertex[k], near) >= 0) continue;
        if (h->vertices == TL_HULL_VERTICES) return false;
        h->vertex[h->vertices++] = m->vertex[k];
    }
    for (int32_t t = 0; t < m->triangles; t++) {
        tl_vec3 a = m->vertex[m->triangle[t][0]], b = m->vertex[m->triangle[t][1]], c = m->vertex[m->triangle[t][2]];
        tl_vec3 n = tl_vec3_cross(tl_vec3_sub(b, a), tl_vec3_sub(c, a));
        if (tl_vec3_norm(n) < near * near) return false;
        n = tl_vec3_normalize(n);
        double d = tl_vec3_dot(n, a);
        bool known = false;
        for (int f = 0; f < h->faces; f++)
            known |= tl_vec3_dot(h->normal[f], n) > 1 - 1e-9 && fabs(h->offset[f] - d) < near;
        if (known) continue;
        if (h->faces == TL_HULL_FACES) return false;
        for (int k = 0; k < h->vertices; k++)
            if (tl_vec3_dot(n, h->vertex[k]) > d + near) return false; /* a hollow */
        h->normal[h->faces] = n;
        h->offset[h->faces++] = d;
    }
    for (int f = 0; f < h->faces; f++)
        if (!add_corners(h, f, near)) return false;
    return h->faces >= 4 && add_edges(h);
}

tl_hull tl_hull_of_box(const tl_obox *b)
{
    static const uint8_t around[4] = {0, 1, 3, 2};
    tl_hull h = {.vertices = 8, .faces = 6};
    const double half[3] = {b->half.x, b->half.y, b->half.z};
    double side = tl_vec3_dot(tl_vec3_cross(b->axis[0], b->axis[1]), b->axis[2]);
    for (int k = 0; k < 8; k++) {
        h.vertex[k] = b->centre;
        for (int i = 0; i < 3; i++)
            h.vertex[k] = tl_vec3_add_scaled(h.vertex[k], k >> i & 1 ? half[i] : -half[i], b->axis[i]);
    }
    for (int f = 0; f < 6; f++) {
        int i = f / 2, up = f % 2, j = (i + 1) % 3, l = (i + 2) % 3;
        h.normal[f] = tl_vec3_scale(up ? 1 : -1, b->axis[i]);
        h.offset[f] = tl_vec3_dot(h.normal[f], b->centre) + half[i];
        h.corners[f] = 4;
        for (int k = 0; k < 4; k++) {
            int c = around[(up == (side > 0)) ? k : 3 - k];
            h.corner[f][k] = (uint8_t)(up << i | (c & 1) << j | (c >> 1) << l);
        }
    }
    add_edges(&h);
    return h;
}

tl_hull tl_hull_placed(const tl_hull *h, tl_mat3 R, tl_vec3 at)
{
    tl_hull out = *h;
    for (int k = 0; k < h->vertices; k++) out.vertex[k] = tl_vec3_add(at, tl_mat3_mul_vec(R, h->vertex[k]));
    for (int f = 0; f < h->faces; f++) {
        out.normal[f] = tl_mat3_mul_vec(R, h->normal[f]);
        out.offset[f] = h->offset[f] + tl_vec3_dot(out.normal[f], at);
    }
    return out;
}

/* ---- separating axes ---- */

/* How far b lies outside of face f of a. */
static double beyond(const tl_hull *a, int f, const tl_hull *b)
{
    double least = INFINITY;
    for (int k = 0; k < b->vertices; k++) least = tl_min(least, tl_vec3_dot(a->normal[f], b->vertex[k]));
    return least - a->offset[f];
}

/* The largest separation along the common normal of two edges, where the two can be what is nearest: their arcs on
 * the sphere of normals cross. */
static double edges_apart(const tl_hull *a, const tl_hull *b)
{
    double max = -INFINITY;
    for (int i = 0; i < a->edges; i++) {
        tl_vec3 p = a->vertex[a->edge[i][0]], u = tl_vec3_sub(a->vertex[a->edge[i][1]], p);
        tl_vec3 A = a->normal[a->sides[i][0]], B = a->normal[a->sides[i][1]];
        for (int j = 0; j < b->edges; j++) {
            tl_vec3 q = b->vertex[b->edge[j][0]], v = tl_vec3_sub(b->vertex[b->edge[j][1]], q);
            tl_vec3 C = tl_vec3_neg(b->normal[b->sides[j][0]]), D = tl_vec3_neg(b->normal[b->sides[j][1]]);
            double cu = tl_vec3_dot(C, u), du = tl_vec3_dot(D, u), av = tl_vec3_dot(A, v), bv = tl_vec3_dot(B, v);
            /* the edges' directions are the normals of the planes of their arcs */
            if (!(cu * du < 0 && av * bv < 0 &&
                  cu * bv * (tl_vec3_dot(tl_vec3_cross(A, B), u) > 0 ? 1 : -1) *
                          (tl_vec3_dot(tl_vec3_cross(C, D), v) > 0 ? 1 : -1) >
                      0))
                continue;
            tl_vec3 n = tl_vec3_cross(u, v);
            double length = tl_vec3_norm(n);
            if (length < 1e-6 * tl_vec3_norm(u) * tl_vec3_norm(v)) continue;
            n = tl_vec3_scale((tl_vec3_dot(n, tl_vec3_add(A, B)) < 0 ? -1 : 1) / length, n); /* out of a */
            max = tl_max(max, tl_vec3_dot(n, tl_vec3_sub(q, p)));
        }
    }
    return max;
}

/* ---- points ---- */

/* What of face g of b lies over face f of a. */
static int clip(const tl_hull *a, int f, const tl_hull *b, int g, double grow, tl_vec3 out[CLIPPED])
{
    tl_vec3 other[CLIPPED], *from = out, *to = other;
    int count = b->corners[g];
    for (int k = 0; k < count; k++) out[k] = b->vertex[b->corner[g][k]];
    for (int k = 0; k < a->corners[f] && count; k++) {
        tl_vec3 p = a->vertex[a->corner[f][k]], q = a->vertex[a->corner[f][(k + 1) % a->corners[f]]];
        tl_vec3 side = tl_vec3_normalize(tl_vec3_cross(tl_vec3_sub(q, p), a->normal[f]));
        double limit = tl_vec3_dot(side, p) + grow;
        int kept = 0;
        for (int i = 0; i < count && kept < CLIPPED - 1; i++) {
            tl_vec3 x = from[i], y = from[(i + 1) % count];
            double dx = tl_vec3_dot(side, x) - limit, dy = tl_vec3_dot(side, y) - limit;
            if (dx <= 0) to[kept++] = x;
            if ((dx < 0 && dy > 0) || (dx > 0 && dy < 0))
                to[kept++] = tl_vec3_add_scaled(x, dx / (dx - dy), tl_vec3_sub(y, x));
        }
        count = kept;
        tl_vec3 *swap = from;
        from = to, to = swap;
    }
    if (from != out)
        for (int k = 0; k < count; k++) out[k] = from[k];
    return count;
}

/* Points of the face that separates; normals out of the second body into the first. `flip`: the face is the first
 * one's. */
static int face_points(const tl_hull *a, int f, const tl_hull *b, double grow, double margin, bool flip, tl_touch *out)
{
    int g = 0, count = 0;
    tl_vec3 p[CLIPPED];
    for (int k = 1; k < b->faces; k++)
        if (tl_vec3_dot(b->normal[k], a->normal[f]) < tl_vec3_dot(b->normal[g], a->normal[f]) - 1e-9) g = k;
    int corners = clip(a, f, b, g, grow, p);
    tl_touch all[CLIPPED];
    for (int k = 0; k < corners; k++) {
        double gap = tl_vec3_dot(a->normal[f], p[k]) - a->offset[f];
        bool known = gap > margin;
        for (int i = 0; i < count && !known; i++)
            known =
                tl_vec3_norm(tl_vec3_sub(tl_vec3_add_scaled(p[k], -0.5 * gap, a->normal[f]), all[i].at)) < 10 * grow;
        if (known) continue;
        all[count++] = (tl_touch){.at = tl_vec3_add_scaled(p[k], -0.5 * gap, a->normal[f]),
                                  .normal = flip ? tl_vec3_neg(a->normal[f]) : a->normal[f],
                                  .gap = gap};
    }
    count = tl_touches_reduce(count, all, POINTS);
    for (int k = 0; k < count; k++) out[k] = all[k];
    return count;
}

int tl_hull_hull(const tl_hull *a, const tl_hull *b, double extent, double margin, int32_t *axis,
                 tl_touch out[TL_TOUCHES_MAX])
{
    const tl_hull *h[2] = {a, b};
    double face_margin = FACE_MARGIN * extent, stay = HYSTERESIS * extent;
    double best = -INFINITY;
    int box = 0, face = 0;
    for (int s = 0; s < 2; s++)
        for (int f = 0; f < h[s]->faces; f++) {
            double d = beyond(h[s], f, h[1 - s]);
            if (d > margin) return 0;
            if (*axis == 1 + f + s * TL_HULL_FACES) d += stay; /* last step's face may be a little worse */
            if (d > best + 1e-9 * extent) best = d, box = s, face = f;
        }
    double true_best = beyond(h[box], face, h[1 - box]);
    double edges = edges_apart(a, b);
    if (edges > margin) return 0;
    if (edges > true_best + face_margin) return -1;
    double grow = BESIDE * extent;
    int count = face_points(h[box], face, h[1 - box], grow, margin, box == 0, out);
    if (count == 0) return -1;
    *axis = 1 + face + box * TL_HULL_FACES;
    return count;
}

int tl_hull_half_space(const tl_hull *a, tl_vec3 at, tl_vec3 normal, double margin, tl_touch out[TL_TOUCHES_MAX])
{
    int count = 0;
    for (int k = 0; k < a->vertices; k++) {
        double gap = tl_vec3_dot(normal, tl_vec3_sub(a->vertex[k], at));
        if (gap <= margin)
            out[count++] = (tl_touch){tl_vec3_add_scaled(a->vertex[k], -0.5 * gap, normal), normal, gap, false};
    }
    return tl_touches_reduce(count, out, POINTS);
}
